//! Sixteen processes in one store: the story of the test, for as long as asked, with the optimised binary.
//!
//! Comes in: `--seconds N`. Goes out: the figures the story prints, and failure if anything was lost. The story itself is told once, in the
//! command line's tests.

use std::process::Command;

const STORY: &str = "concurrency::sixteen_writers_lose_no_update_and_leave_a_valid_index";

pub(crate) fn run(arguments: &[&str]) -> Result<(), String> {
    let seconds: u32 = match arguments {
        [] => 30,
        ["--seconds", text] => text.parse().map_err(|_| format!("`{text}` is no number of seconds"))?,
        _ => return Err("usage: cargo xtask stress records [--seconds N]".to_owned()),
    };
    let status = Command::new("cargo")
        .args(["test", "--quiet", "--release", "--package", "heirloom", "--test", "runner", "--"])
        .args(["--exact", STORY, "--nocapture"])
        .env("HEIRLOOM_STRESS_SECONDS", seconds.to_string())
        .status()
        .map_err(|e| format!("cargo could not be started: {e}"))?;
    if status.success() { Ok(()) } else { Err("the story did not end well".to_owned()) }
}

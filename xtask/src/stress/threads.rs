//! Sixteen threads of one process on one deployment, alone and beside four processes: the stories of the tests, for as long as asked, with the optimised
//! binary.
//!
//! Comes in: `--seconds N`. Goes out: the figures the stories print, and failure if anything was lost. The stories are told once, in the command line's
//! tests.

use std::process::Command;

pub(crate) fn run(arguments: &[&str]) -> Result<(), String> {
    let seconds: u32 = match arguments {
        [] => 30,
        ["--seconds", text] => text.parse().map_err(|_| format!("`{text}` is no number of seconds"))?,
        _ => return Err("usage: cargo xtask stress threads [--seconds N]".to_owned()),
    };
    let status = Command::new("cargo")
        .args(["test", "--quiet", "--release", "--package", "heirloom", "--test", "runner", "--"])
        .args(["threads::", "--nocapture", "--test-threads=1"])
        .env("HEIRLOOM_STRESS_SECONDS", seconds.to_string())
        .status()
        .map_err(|e| format!("cargo could not be started: {e}"))?;
    if status.success() { Ok(()) } else { Err("a story did not end well".to_owned()) }
}

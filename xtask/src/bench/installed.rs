//! The binary as it is installed: optimised, static, at a fixed address.
//!
//! Comes in: nothing. Goes out: its path. The flags are those of the install path; they need an explicit target, because host crates such
//! as procedural macros cannot be static.

use std::path::PathBuf;
use std::process::Command;

const FLAGS: &str = "-C target-feature=+crt-static -C relocation-model=static";

pub(crate) fn build() -> Result<PathBuf, String> {
    let target = host()?;
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--release", "--package", "heirloom", "--target", &target])
        .env("RUSTFLAGS", FLAGS)
        .status()
        .map_err(|e| format!("cargo could not be started: {e}"))?;
    if !status.success() {
        return Err("the static binary could not be built".to_owned());
    }
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let binary = folder.join(target).join("release/heirloom");
    std::fs::canonicalize(&binary).map_err(|e| format!("{}: {e}", binary.display()))
}

fn host() -> Result<String, String> {
    let output = Command::new("rustc").arg("-vV").output().map_err(|e| format!("rustc: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc does not say its host".to_owned())
}

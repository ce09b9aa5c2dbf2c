//! `install`: the release binary, linked statically where the system can, so that it starts without a dynamic loader.
//!
//! Comes in: `--to DIR`, or nothing. Goes out: the binary in that folder. Never here: a half-copied binary; the old one stays until the new one
//! is whole and has answered `--version`.

use crate::{Outcome, run, workspace};
use std::path::{Path, PathBuf};
use std::process::Command;

/// No loader, no relocations at start: what is left of start-up time is our own.
const STATIC: &str = "-C target-feature=+crt-static -C relocation-model=static";

pub(crate) fn run(args: &[String]) -> Outcome {
    let folder = match args {
        [] => cargo_bin().ok_or("no home folder; say where with --to DIR")?,
        [flag, folder] if flag == "--to" => std::env::current_dir().unwrap_or_default().join(folder),
        _ => return Err("usage: cargo xtask install [--to DIR]".to_owned()),
    };
    let host = host()?;
    let built = if host.contains("-linux-") {
        build_static(&host).or_else(|why| {
            eprintln!("{why}\nno static build on this system; building a plain one");
            build_plain()
        })?
    } else {
        build_plain()?
    };
    let version = run::output(Command::new(&built).arg("--version"))?;
    let installed = place(&built, &folder)?;
    println!("{} is {}", version.trim(), installed.display());
    Ok(())
}

/// The host this compiler builds for.
pub(crate) fn host() -> Result<String, String> {
    let text = run::output(Command::new("rustc").arg("-vV"))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc does not say what it builds for".to_owned())
}

/// With `--target`, the flags are for our code alone and not for build scripts and macros, which cannot be static.
pub(crate) fn build_static(host: &str) -> Result<PathBuf, String> {
    let mut cargo = workspace::build(&["--release", "--target", host]);
    cargo.env("RUSTFLAGS", STATIC);
    workspace::built(&mut cargo)
}

fn build_plain() -> Result<PathBuf, String> {
    workspace::built(&mut workspace::build(&["--release"]))
}

fn cargo_bin() -> Option<PathBuf> {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(home).map(|cargo| cargo.join("bin"))
}

/// Copies beside the old binary, then takes its place: one that is running keeps running.
fn place(binary: &Path, folder: &Path) -> Result<PathBuf, String> {
    let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
    std::fs::create_dir_all(folder).map_err(failed)?;
    let new = folder.join(format!(".heirloom-{}", std::process::id()));
    let target = folder.join("heirloom");
    std::fs::copy(binary, &new).map_err(failed)?;
    std::fs::rename(&new, &target).map_err(failed)?;
    Ok(target)
}

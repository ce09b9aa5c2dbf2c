//! `install`: the release binary, linked statically where the system can, so that it starts without a dynamic loader, and with what a prompt runs through
//! side by side ([`crate::symbols`]), so that it need not be fetched from all over.
//!
//! Comes in: `--to DIR`, or nothing. Goes out: the binary in that folder. Never here: a half-copied binary; the old one stays until the new one
//! is whole and has answered `--version`.

use crate::{Outcome, run, symbols, workspace};
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
    let built = program()?;
    let version = run::output(Command::new(&built).arg("--version"))?;
    let installed = place(&built, &folder)?;
    println!("{} is {}", version.trim(), installed.display());
    Ok(())
}

/// The program as it is installed and packed.
pub(crate) fn program() -> Result<PathBuf, String> {
    let host = host()?;
    if !host.contains("-linux-") {
        return build_plain();
    }
    build_static(&host).or_else(|why| {
        eprintln!("{why}\nno static build on this system; building a plain one");
        build_plain()
    })
}

/// The host this compiler builds for.
pub(crate) fn host() -> Result<String, String> {
    let text = run::output(Command::new("rustc").arg("-vV"))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc does not say what it builds for".to_owned())
}

/// What the linker is told about a program.
pub(crate) enum Program {
    /// Nothing.
    Plain,
    /// To leave the names of functions in.
    Named,
    /// In which order to put functions, from a file, and where to note what it did.
    Ordered { by: PathBuf, map: PathBuf },
}

/// Builds a static program. With `--target`, the flags are for our code alone and not for build scripts and macros, which cannot be static.
pub(crate) fn link(host: &str, program: &Program) -> Result<PathBuf, String> {
    let mut cargo = workspace::compile(&["--release", "--target", host]);
    match program {
        Program::Plain => {}
        Program::Named => _ = cargo.args(["-C", "strip=none"]),
        Program::Ordered { by, map } => {
            let by = format!("-Wl,--symbol-ordering-file={},--no-warn-symbol-ordering", by.display());
            cargo.args([
                "-C",
                &format!("link-arg={by}"),
                "-C",
                &format!("link-arg=-Wl,-Map={}", map.display()),
            ]);
        }
    }
    cargo.env("RUSTFLAGS", STATIC);
    workspace::built(&mut cargo)
}

/// The static program, in order where the linker can do that.
pub(crate) fn build_static(host: &str) -> Result<PathBuf, String> {
    let folder = workspace::root().join("target/order");
    build_ordered(host, &folder).or_else(|why| {
        eprintln!("{why}\nthe functions of a prompt stay where they are");
        link(host, &Program::Plain)
    })
}

/// Symbols are known only once they were linked. So the program is linked in the order of the last time, and once more if it turns out to be another.
fn build_ordered(host: &str, folder: &Path) -> Result<PathBuf, String> {
    let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
    std::fs::create_dir_all(folder).map_err(failed)?;
    let (last, map) = (folder.join("last"), folder.join("map"));
    let mut order = std::fs::read_to_string(&last).unwrap_or_default();
    let mut built = Err("nothing was linked".to_owned());
    for _ in 0..2 {
        // Cargo builds anew when arguments change, not when a file does.
        let by = folder.join(&heirloom_core::hash::sha256(order.as_bytes())[..16]);
        std::fs::write(&by, &order).map_err(failed)?;
        built = Ok(link(host, &Program::Ordered { by, map: map.clone() })?);
        let next = symbols::chosen(&std::fs::read_to_string(&map).map_err(failed)?);
        if next == order {
            break;
        }
        order = next;
        std::fs::write(&last, &order).map_err(failed)?;
    }
    built
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

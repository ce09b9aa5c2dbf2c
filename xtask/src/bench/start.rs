//! How long it takes until a process has done nothing: `--version` beside a C program that only exits.

use super::{Contender, installed, io, quietly, side_by_side};
use std::path::{Path, PathBuf};
use std::process::Command;

const ROUNDS: usize = 400;

pub(crate) fn run() -> Result<(), String> {
    let heirloom = installed::build()?;
    let folder = tempfile::tempdir().map_err(io("temporary folder"))?;
    let plain = compile(folder.path(), "exits", &[])?;
    let fixed = compile(folder.path(), "exits-static", &["-static"])?;
    let run = |program: PathBuf| move || quietly(&mut Command::new(&program));
    side_by_side(
        ROUNDS,
        &mut [
            Contender::new("C program that exits", run(plain)),
            Contender::new("the same, static", run(fixed)),
            Contender::new("heirloom --version", move || quietly(Command::new(&heirloom).arg("--version"))),
        ],
    )
}

fn compile(folder: &Path, name: &str, flags: &[&str]) -> Result<PathBuf, String> {
    let source = folder.join("exits.c");
    std::fs::write(&source, "int main(void) { return 0; }\n").map_err(io("source"))?;
    let program = folder.join(name);
    quietly(Command::new("cc").arg("-O2").args(flags).arg(&source).arg("-o").arg(&program))?;
    Ok(program)
}

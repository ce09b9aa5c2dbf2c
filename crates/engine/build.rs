//! Turns the rule data of `src/gate/rules/*.toml` into static Rust tables, so that a process parses nothing and builds nothing at
//! start-up. In: the data files. Out: `gate_rules.rs` in `OUT_DIR`. A mistake in the data (no keyword, unbounded pattern, unknown
//! name) stops the build.

#![allow(
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a build script talks to cargo through the environment and stdout, and a mistake must stop the build"
)]

#[path = "src/gate/scan/tables.rs"]
mod tables;

use std::{env, fs, path::Path};

fn main() {
    let dir = Path::new("src/gate/rules");
    println!("cargo:rerun-if-changed={}", dir.display());
    println!("cargo:rerun-if-changed=src/gate/scan/tables.rs");
    let mut files: Vec<_> = fs::read_dir(dir)
        .expect("the rule data folder exists")
        .map(|entry| entry.expect("a readable folder entry").path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "toml"))
        .collect();
    files.sort();
    let mut data = tables::Data::default();
    for path in files {
        let text = fs::read_to_string(&path).expect("a readable rule file");
        let part: tables::Data = toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        data.absorb(part);
    }
    let out = Path::new(&env::var("OUT_DIR").expect("cargo sets OUT_DIR")).join("gate_rules.rs");
    fs::write(out, tables::render(&data)).expect("OUT_DIR is writable");
}

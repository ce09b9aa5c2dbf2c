//! Turns the rule data of `src/gate/rules/*.toml` into static Rust tables, so that a process parses nothing and builds nothing at
//! start-up, and makes a fingerprint of everything that decides what the gate refuses. In: the data files, the sources of the gate. Out:
//! `gate_rules.rs` and `gate_edition.txt` in `OUT_DIR`. A mistake in the data (no keyword, unbounded pattern, unknown name) stops the build.

#![allow(
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a build script talks to cargo through the environment and stdout, and a mistake must stop the build"
)]

#[path = "src/gate/scan/tables.rs"]
mod tables;

use std::path::{Path, PathBuf};
use std::{env, fs};

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
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let write = |name: &str, text: String| {
        fs::write(Path::new(&out).join(name), text).expect("OUT_DIR is writable");
    };
    write("gate_rules.rs", tables::render(&data));
    write("gate_edition.txt", format!("{:016x}", edition()));
}

/// FNV-1a over the sources that decide what is refused: the gate's, and those of the text functions it builds on.
fn edition() -> u64 {
    let mut files = Vec::new();
    for dir in ["src/gate", "../core/src/text"].map(Path::new).into_iter().filter(|dir| dir.is_dir()) {
        println!("cargo:rerun-if-changed={}", dir.display());
        collect(dir, &mut files);
    }
    files.sort();
    let version = env::var("CARGO_PKG_VERSION").expect("cargo sets CARGO_PKG_VERSION");
    let mut sum = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |bytes: &[u8]| {
        bytes.iter().for_each(|byte| sum = (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    };
    add(version.as_bytes());
    for file in files {
        add(file.to_string_lossy().as_bytes());
        add(&fs::read(&file).expect("a readable source"));
    }
    sum
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("a readable folder") {
        let path = entry.expect("a readable folder entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}

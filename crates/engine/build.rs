//! Turns the rule data of `src/gate/rules/*.toml` into static Rust tables, so that a process parses nothing and builds nothing at
//! start-up, and makes a fingerprint of everything that decides what the gate refuses; does the same for the words recall goes by
//! (`models/light.txt`, `models/neighbours.txt`). In: the data files, the sources of the gate. Out: `gate_rules.rs`, `gate_edition.txt` and
//! `recall_words.rs` in `OUT_DIR`. A mistake in the data (no keyword, unbounded pattern, unknown name) stops the build.

#![allow(
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a build script talks to cargo through the environment and stdout, and a mistake must stop the build"
)]

#[path = "src/gate/scan/tables.rs"]
mod tables;

#[allow(dead_code, reason = "the tests in it are the engine's")]
#[path = "src/index/stem.rs"]
mod stem;

#[allow(dead_code, reason = "only looking up is needed here")]
#[path = "src/index/embed/vocab.rs"]
mod vocab;

use std::collections::{BTreeMap, BTreeSet};
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
    write("recall_words.rs", recall_words());
}

fn stemmed(word: &str) -> String {
    assert!(word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()), "`{word}` is no plain word");
    let mut word = word.to_owned();
    stem::stem(&mut word);
    word
}

fn data(name: &str) -> String {
    let path = Path::new("models").join(name);
    println!("cargo:rerun-if-changed={}", path.display());
    let text = fs::read_to_string(&path).expect("a readable data file");
    text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n")
}

/// A name as texts are cut into terms: stemmed, and as a whole where capitals within it (BigQuery) keep it from being stemmed.
fn spelled(name: &str, is_known: bool) -> impl Iterator<Item = String> {
    let stem = stemmed(name);
    let whole = (!is_known && stem != name).then(|| name.to_owned());
    [Some(stem), whole].into_iter().flatten()
}

/// The words of `models/light.txt` and `models/neighbours.txt`, stemmed and sorted.
fn recall_words() -> String {
    let model = fs::read("models/static-256.bin").expect("the built-in model");
    println!("cargo:rerun-if-changed=models/static-256.bin");
    let pieces = model.get(64..).and_then(vocab::Vocab::parse).expect("the built-in model's vocabulary");
    let is_known = |word: &str| pieces.find("", word).is_some();
    let light = data("light.txt");
    let (own, foreign) = light.split_once("== foreign").expect("light.txt has two parts");
    let sorted = |text: &str| text.split_whitespace().map(stemmed).collect::<BTreeSet<_>>();
    let (mut heads, mut back, mut known) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
    for line in data("neighbours.txt").lines().filter(|line| !line.is_empty()) {
        let (said, names) = line.split_once(':').expect("a line of neighbours.txt has a colon");
        known.extend(names.split_whitespace().filter(|name| is_known(name)).map(stemmed));
        let names: BTreeSet<String> =
            names.split_whitespace().flat_map(|name| spelled(name, is_known(name))).collect();
        for way in said.split('|') {
            let words = sorted(way);
            assert!(!words.is_empty() && !names.is_empty(), "`{line}` lacks words");
            if let Some(word) = words.first().filter(|_| words.len() == 1) {
                let others = names.iter().filter(|name| *name != word);
                others.for_each(|name| {
                    _ = back.entry(name.clone()).or_insert_with(BTreeSet::new).insert(word.clone())
                });
            }
            heads.entry(words).or_insert_with(BTreeSet::new).extend(names.iter().cloned());
        }
    }
    let list = |words: &BTreeSet<String>| format!("&{:?}", words.iter().collect::<Vec<_>>());
    let table = |name: &str, of: &str, rows: Vec<String>| {
        format!("static {name}: &[{of}] = &[\n{}\n];\n", rows.join(",\n"))
    };
    let light = sorted(own).union(&sorted(foreign)).cloned().collect();
    // By their first word, the way they are looked for.
    let heads = heads.iter().map(|(words, names)| format!("({}, {})", list(words), list(names)));
    let back = back.iter().map(|(name, words)| format!("({name:?}, {})", list(words)));
    format!(
        "static LIGHT: &[&str] = {};\nstatic FOREIGN: &[&str] = {};\nstatic KNOWN: &[&str] = {};\n",
        list(&light),
        list(&sorted(foreign)),
        list(&known)
    ) + &table("HEADS", "(&[&str], &[&str])", heads.collect())
        + &table("BACK", "(&str, &[&str])", back.collect())
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

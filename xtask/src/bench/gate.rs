//! What the gate costs: bytes a second, a fresh process's first verdict, and how time grows on hostile input.
//!
//! Comes in: nothing, or a file to measure the throughput on; without one it is this repository's own text. Goes out: figures. Time is that
//! of this thread on a processor, so that a busy machine does not spoil them; the first verdict is timed by the clock on the wall, beside
//! a process that does nothing.

use super::{Contender, installed, io, quietly, side_by_side};
use crate::report;
use crate::workspace;
use heirloom_engine::gate::scan::Scanner;
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};

const ROUNDS: usize = 200;

/// The size of the text a hook meets first.
const FIRST: usize = 2 << 10;

/// Bytes of the smaller of the two hostile inputs.
const SMALL: usize = 1_000_000;

/// What is hard for scanners when it is repeated: beginnings of keys, marks, encodings, openers that never close.
#[rustfmt::skip]
const SHAPES: [&str; 50] = [
    "password ", "key=", "token: ", "-----BEGIN RSA PRIVATE KEY-----\n", "https://a:b", "://", "eyJ", "eyJhbGciOiJ9.", "ghp_", "sk-",
    "AKIA", "a", "A", "0", "1 ", "@", "a@b.", ":", "::", "a:", "<!--", "\u{202e}", "\u{200b}", "%41", "\\u0041", "&#65;", "\u{43e}",
    "\u{430}1", "\"a\" + ", "\n", "abcdefgh1\n", "ab cd ", "a b ", "01010101 ", "ignore previous ", "ignore ", "</memory> ",
    "[content: ", "[SYSTEM] ", "x=", "4111 1111 ", "secret secret=", "when the user says ", "$1$", "PuTTY-User-Key-File-3: a\nA: b\n",
    "YWJj", "6162", "curl -u ", "mysql -p", "1nstruct ",
];

pub(crate) fn run(file: Option<&Path>) -> Result<(), String> {
    let text = match file {
        Some(path) => std::fs::read_to_string(path).map_err(io("text"))?,
        None => own_text()?,
    };
    let scanner = Scanner::standard();
    let took = least(5, || scanner.scan(&text));
    report::line(&format!(
        "{:.1} MB/s over {:.1} MB of text, one core, warm",
        rate(text.len(), took),
        megabytes(text.len())
    ));
    first(&text)?;
    growth(&scanner);
    Ok(())
}

/// A whole fresh process that gives its first verdict, beside one that does nothing.
fn first(text: &str) -> Result<(), String> {
    let heirloom = installed::build()?;
    let folder = tempfile::tempdir().map_err(io("temporary folder"))?;
    let path = folder.path().join("text.md");
    let start: String = text.chars().take(FIRST).collect();
    std::fs::write(&path, start).map_err(io("text"))?;
    let scan = |command: &mut Command| {
        command.current_dir(folder.path()).env_clear().env("HOME", folder.path()).arg("scan").arg(&path);
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().map_err(io("heirloom"))?;
        // Exit 1 is a verdict too: something was found.
        if status.code().is_some_and(|code| code <= 1) {
            Ok(())
        } else {
            Err(format!("scan ended with {status}"))
        }
    };
    side_by_side(
        ROUNDS,
        &mut [
            Contender::new("heirloom --version", || quietly(Command::new(&heirloom).arg("--version"))),
            Contender::new("heirloom scan, 2 KB", || scan(&mut Command::new(&heirloom))),
        ],
    )
}

fn growth(scanner: &Scanner) {
    let mut worst = (0.0, "");
    let mut slowest = (f64::MAX, "");
    for shape in SHAPES {
        let make = |bytes: usize| shape.repeat(bytes / shape.len());
        let (small, large) = (make(SMALL), make(2 * SMALL));
        let times = (least(5, || scanner.scan(&small)), least(5, || scanner.scan(&large)));
        let grown = times.1 / times.0;
        if grown > worst.0 {
            worst = (grown, shape);
        }
        let speed = rate(large.len(), times.1);
        if speed < slowest.0 {
            slowest = (speed, shape);
        }
    }
    report::line(&format!(
        "twice the input, {} hostile shapes: at most {:.2} times the time ({:?}); the slowest runs at {:.1} MB/s ({:?})",
        SHAPES.len(),
        worst.0,
        worst.1,
        slowest.0,
        slowest.1
    ));
}

/// The source and the pages of this repository.
fn own_text() -> Result<String, String> {
    let mut text = String::new();
    for path in workspace::tracked()? {
        if [".rs", ".md", ".toml"].iter().any(|end| path.ends_with(end)) {
            text.push_str(&std::fs::read_to_string(workspace::root().join(path)).map_err(io("source"))?);
        }
    }
    Ok(text)
}

fn least<T>(times: usize, mut work: impl FnMut() -> T) -> f64 {
    black_box(work());
    (0..times)
        .map(|_| {
            let start = thread_seconds();
            black_box(work());
            thread_seconds() - start
        })
        .fold(f64::MAX, f64::min)
}

fn thread_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

fn rate(bytes: usize, seconds: f64) -> f64 {
    megabytes(bytes) / seconds
}

//! `order`: which functions a prompt runs through, so that [`crate::install`] lays them side by side.
//!
//! A fresh process pays for every stretch of code it touches, and the linker spreads a prompt's functions over all of the program. Comes in: a program
//! with names, run under valgrind over projects of several sizes. Goes out: `xtask/prompt.order`, a name a line, without what compilers add to names;
//! and for the linker those symbols of a build that have one of these names. A list that is out of date costs time at a prompt and nothing else.

use crate::install::{self, Program};
use crate::{Outcome, run, speed, workspace};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Symbols that may share a name: of a function that was compiled for more types than this, most are not the one that was meant.
const SHARED: usize = 6;

/// Memories in the projects that are asked: so few that vectors are mapped, and so many that they are read.
const SIZES: [usize; 2] = [10_000, 60_000];

fn list() -> PathBuf {
    workspace::root().join("xtask/prompt.order")
}

/// A symbol without the hashes that change from compiler to compiler and from version to version.
fn name(symbol: &str) -> String {
    if let (true, Some(hash)) = (symbol.starts_with("_ZN"), symbol.rfind("17h")) {
        return symbol[..hash].to_owned();
    }
    if !symbol.starts_with("_R") {
        return symbol.to_owned();
    }
    let mut parts = symbol.split("Cs");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // The hash of a crate ends with an underscore, and the crate's name follows, with its length.
        match part.split_once('_').filter(|(hash, _)| hash.bytes().all(|b| b.is_ascii_alphanumeric())) {
            Some((_, rest)) => plain.extend(["C", rest]),
            None => plain.extend(["Cs", part]),
        }
    }
    plain
}

/// The function that a line of a linker's map is about: one of ours by the section it has to itself, one of the C library by its symbol.
fn function(line: &str) -> Option<&str> {
    if let Some((_, section)) = line.rsplit_once(":(") {
        let name = section.strip_prefix(".text.")?.strip_suffix(')')?;
        return Some(["unlikely.", "hot."].iter().find_map(|mark| name.strip_prefix(mark)).unwrap_or(name));
    }
    let mut fields = line.split_ascii_whitespace();
    // Address, address, size, alignment, and nothing behind it.
    let symbol = fields.nth(4)?;
    fields.next().is_none().then_some(symbol)
}

/// What the linker is to put first, a symbol a line, out of those it named in its map.
pub(crate) fn chosen(map: &str) -> String {
    let list = std::fs::read_to_string(list()).unwrap_or_default();
    let wanted: BTreeSet<&str> = list.lines().collect();
    let mut found: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for symbol in map.lines().filter_map(function) {
        let name = name(symbol);
        if wanted.contains(name.as_str()) {
            found.entry(name).or_default().insert(symbol);
        }
    }
    let few = found.into_values().filter(|same| same.len() <= SHARED);
    few.flatten().map(|symbol| format!("{symbol}\n")).collect()
}

/// The functions that ran, out of what callgrind wrote.
fn ran(profile: &str) -> BTreeSet<String> {
    let named = profile.lines().filter(|line| line.starts_with("fn=(") || line.starts_with("cfn=("));
    let symbols = named.filter_map(|line| line.split_once(") ")).map(|(_, symbol)| symbol);
    // A function that calls itself has a number behind its name.
    symbols.map(|symbol| name(symbol.split('\'').next().unwrap_or(symbol))).collect()
}

/// Runs one call under valgrind and gives the functions it went through.
fn watched(
    program: &Path,
    home: &Path,
    folder: &Path,
    args: &[&str],
    input: &str,
) -> Result<BTreeSet<String>, String> {
    let profile = home.join("callgrind.out");
    let given = home.join("input.json");
    std::fs::write(&given, input).map_err(|e| e.to_string())?;
    let mut valgrind = Command::new("valgrind");
    valgrind.current_dir(folder).env_clear().env("HOME", home).env("PATH", "/usr/bin:/bin");
    valgrind.args(["--tool=callgrind", "--demangle=no", "--quiet"]);
    valgrind.arg(format!("--callgrind-out-file={}", profile.display())).arg(program).args(args);
    valgrind.stdin(std::fs::File::open(&given).map_err(|e| e.to_string())?);
    run::run(valgrind.stdout(Stdio::null()).stderr(Stdio::null()))?;
    Ok(ran(&std::fs::read_to_string(&profile).map_err(|e| e.to_string())?))
}

pub(crate) fn run() -> Outcome {
    let program = install::link(&install::host()?, &Program::Named)?;
    let mut all = BTreeSet::new();
    for count in SIZES {
        let place = tempfile::tempdir().map_err(|e| e.to_string())?;
        let (folder, prompt) = speed::filled(&program, place.path(), count)?;
        // The first prompt after a change looks for it; the second is the usual one.
        for session in 0..2 {
            let event = serde_json::json!({
                "hook_event_name": "UserPromptSubmit", "session_id": format!("s{session}"), "cwd": folder, "prompt": prompt,
            });
            all.extend(watched(
                &program,
                place.path(),
                &folder,
                &["hook", "prompt", "--agent", "claude-code"],
                &event.to_string(),
            )?);
        }
    }
    let text: String = all
        .iter()
        .filter(|name| name.starts_with(|c: char| c == '_' || c.is_alphabetic()))
        .map(|name| format!("{name}\n"))
        .collect();
    std::fs::write(list(), text).map_err(|e| e.to_string())?;
    println!("{} functions in {}", all.len(), list().display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_no_hash_of_a_compiler_or_a_crate() {
        assert_eq!(name("_ZN4core3fmt5write17h0123456789abcdefE"), "_ZN4core3fmt5write");
        assert_eq!(name("_ZN4core3fmt5write17h0123456789abcdefE.llvm.42"), "_ZN4core3fmt5write");
        assert_eq!(name("_RNvNtCs6d7GoaNTBIz_10std_detect6detect"), "_RNvNtC10std_detect6detect");
        assert_eq!(name("sqlite3_step"), "sqlite3_step");
    }

    #[test]
    fn a_map_names_the_functions_that_the_linker_placed() {
        assert_eq!(
            function("  df63c0  df63c0  26  16         /x/a.o:(.text._ZN1a1b17h00E)"),
            Some("_ZN1a1b17h00E")
        );
        assert_eq!(function("  1  1  1  1         /x/b.o:(.text.unlikely._ZN1c17h01E)"), Some("_ZN1c17h01E"));
        assert_eq!(function("  2  2  2  1                 memcpy"), Some("memcpy"));
        assert_eq!(function("  3  3  3  1         /x/c.o:(.rodata.x)"), None);
        assert_eq!(function("  3  3  3  1         /x/c.o:(.text)"), None);
    }

    #[test]
    fn what_ran_is_named_once() {
        let profile = "fl=(1) x\nfn=(1) _ZN1a17h00E\n0 1\ncfn=(2) _ZN1b17h01E'2\ncalls=1 0\nfn=(2)\n";
        assert_eq!(ran(profile).into_iter().collect::<Vec<_>>(), ["_ZN1a", "_ZN1b"]);
    }
}

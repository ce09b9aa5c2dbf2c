//! `order`: which functions a prompt runs through, so that [`crate::install`] lays them side by side.
//!
//! A fresh process pays for every stretch of code it touches, and the linker spreads a prompt's functions over all of the program. Comes in: a program
//! with names, run under valgrind over projects of several sizes. Goes out: `xtask/prompt.order`, a name a line, without what compilers add to names
//! ([`crate::symbols`]). A list that is out of date costs time at a prompt and nothing else.

use crate::install::{self, Program};
use crate::symbols::{list, name};
use crate::{Outcome, run, speed};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

/// Memories in the projects that are asked: so few that vectors are mapped, and so many that they are read.
const SIZES: [usize; 2] = [10_000, 60_000];

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
    fn what_ran_is_named_once() {
        let profile = "fl=(1) x\nfn=(1) _ZN1a17h00E\n0 1\ncfn=(2) _ZN1b17h01E'2\ncalls=1 0\nfn=(2)\n";
        assert_eq!(ran(profile).into_iter().collect::<Vec<_>>(), ["_ZN1a", "_ZN1b"]);
    }
}

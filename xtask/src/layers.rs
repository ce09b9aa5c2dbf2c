//! The layers: which crate may use which, and that nothing below the command line talks, reads the environment or looks at the clock.
//!
//! Comes in: cargo's description of the workspace, and the sources. Goes out: every arrow and every permission that must not be there.
//! The environment, the clock and the terminal are banned by `clippy.toml`; this check sees to it that nobody switches the ban off.

use crate::Outcome;
use crate::rooms;
use crate::workspace::{self, Package};

/// A crate and the crates of ours it may use.
struct Layer {
    name: &'static str,
    uses: &'static [&'static str],
}

const CORE: &str = "heirloom-core";
const ENGINE: &str = "heirloom-engine";
const AGENTS: &str = "heirloom-agents";
const POSTGRES: &str = "heirloom-postgres";
const SERVER: &str = "heirloom-server";
const FUZZ: &str = "heirloom-fuzz";

/// The allowed arrows. A crate that is not in this list is not allowed to exist.
const LAYERS: &[Layer] = &[
    Layer { name: CORE, uses: &[] },
    Layer { name: ENGINE, uses: &[CORE] },
    Layer { name: AGENTS, uses: &[CORE] },
    Layer { name: POSTGRES, uses: &[CORE, ENGINE] },
    Layer { name: SERVER, uses: &[CORE, ENGINE, AGENTS] },
    Layer { name: "heirloom", uses: &[CORE, ENGINE, AGENTS, POSTGRES, SERVER] },
    Layer { name: FUZZ, uses: &[CORE, ENGINE, AGENTS] },
    Layer { name: "xtask", uses: &[CORE, ENGINE, AGENTS, POSTGRES, SERVER, FUZZ] },
];

/// Where the bans of `clippy.toml` may be lifted.
const FREE: &[&str] = &["crates/cli/", "xtask/"];

/// Build scripts and tests are no part of the crate they belong to.
fn ships(path: &str) -> bool {
    path.ends_with(".rs")
        && !path.ends_with("/build.rs")
        && !path.ends_with("_tests.rs")
        && !path.contains("/tests/")
}

pub(crate) fn run() -> Outcome {
    let mut wrong = wrong_arrows(&workspace::packages()?);
    wrong.extend(lifted_bans()?);
    wrong.extend(started_programs()?);
    wrong.extend(rooms::wrong()?);
    wrong.extend(rules_in_doors()?);
    wrong.extend(made_callers()?);
    if wrong.is_empty() { Ok(()) } else { Err(format!("layers:\n  {}", wrong.join("\n  "))) }
}

fn wrong_arrows(packages: &[Package]) -> Vec<String> {
    let mut wrong = Vec::new();
    for package in packages.iter().filter(|package| package.ours) {
        let Some(layer) = LAYERS.iter().find(|layer| layer.name == package.name) else {
            wrong.push(format!("`{}` has no place in xtask/src/layers.rs", package.name));
            continue;
        };
        let ours = |name: &str| LAYERS.iter().any(|layer| layer.name == name);
        let used = package.dependencies.iter().filter(|d| d.ships && ours(&d.name));
        for dependency in used.filter(|d| !layer.uses.contains(&d.name.as_str())) {
            wrong.push(format!("`{}` must not use `{}`", package.name, dependency.name));
        }
    }
    wrong
}

fn lifted_bans() -> Result<Vec<String>, String> {
    let mut wrong = Vec::new();
    for path in workspace::tracked()?.into_iter().filter(|path| ships(path)) {
        if FREE.iter().any(|free| path.starts_with(free)) {
            continue;
        }
        let text =
            std::fs::read_to_string(workspace::root().join(&path)).map_err(|e| format!("{path}: {e}"))?;
        for (at, line) in text.lines().enumerate() {
            if line.contains("clippy::disallowed_") {
                wrong.push(format!(
                    "{path}:{}: lifts a ban of clippy.toml; pass the value in instead",
                    at + 1
                ));
            }
        }
    }
    Ok(wrong)
}

/// The rooms of the engine in which rules live. A door asks a verb instead.
const ROOMS_OF_RULES: &[&str] = &[
    "shelf", "gate", "files", "index", "follow", "rank", "recall", "inject", "capture", "hook", "git", "pin",
    "transfer", "convert",
];

/// What a command may use of those rooms all the same, and why. No row is for a rule about memories.
const DOORS: &[(&str, &str, &str)] = &[
    ("demo.rs", "files", "a project of its own that goes away again"),
    ("doctor.rs", "files", "reads agents' settings, and the folder of the round trip"),
    ("edit.rs", "files", "the file that the editor is given"),
    ("import.rs", "shelf", "what the verb answers"),
    ("import.rs", "transfer", "where agents keep what is found, and what the verb answers"),
    ("import_ask.rs", "transfer", "what the verb answers"),
    ("input.rs", "files", "reads the file that was named"),
    ("open.rs", "files", "the file that leads the browser to the page"),
    ("pages.rs", "files", "writes manual pages"),
    ("pick.rs", "follow", "the picker asks while somebody types"),
    ("pick.rs", "recall", "the picker asks while somebody types"),
    ("record.rs", "files", "the temporary folders input is taken from"),
    ("record.rs", "gate", "keeps a secret out of what is said about a category"),
    ("reference.rs", "gate", "the tables of the reference pages"),
    ("scan_report.rs", "gate", "what the verb answers"),
    ("serve.rs", "files", "the token file and the key of the server, which are no memories"),
    ("setup.rs", "files", "agents' settings, which are no memories"),
    ("setup_receipt.rs", "files", "agents' settings, which are no memories"),
    ("sync.rs", "shelf", "what the verb answers"),
];

/// The folder of the commands.
const COMMANDS: &str = "crates/cli/src/commands/";

fn rules_in_doors() -> Result<Vec<String>, String> {
    let mut wrong = Vec::new();
    let mut used = Vec::new();
    for path in workspace::tracked()?.into_iter().filter(|path| ships(path)) {
        let Some(file) = path.strip_prefix(COMMANDS) else { continue };
        let text =
            std::fs::read_to_string(workspace::root().join(&path)).map_err(|e| format!("{path}: {e}"))?;
        for room in rooms_used(&text) {
            match DOORS.iter().find(|(of, to, _)| *of == file && *to == room) {
                Some(row) => used.push(row),
                None => wrong.push(format!(
                    "{path}: uses `heirloom_engine::{room}`; rules are asked for through `heirloom_engine::verbs`"
                )),
            }
        }
    }
    let stale = DOORS.iter().filter(|row| !used.contains(row));
    wrong.extend(
        stale.map(|(file, room, _)| format!("{COMMANDS}{file} no longer uses `{room}`: take its row out")),
    );
    Ok(wrong)
}

/// The rooms of rules that a source names, by whatever kind of path.
fn rooms_used(text: &str) -> Vec<&'static str> {
    let shipped = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let named = |room: &str| {
        shipped.split("heirloom_engine::").skip(1).any(|rest| match rest.strip_prefix('{') {
            // `{self, room::Thing, other}`: one level is enough, deeper ones begin with a room of their own.
            Some(list) => {
                let list = list.split("};").next().unwrap_or_default();
                let mut depth = 0usize;
                let mut top = String::new();
                for c in list.chars() {
                    match c {
                        '{' => depth += 1,
                        '}' => depth = depth.saturating_sub(1),
                        c if depth == 0 => top.push(c),
                        _ => {}
                    }
                }
                top.split(',').any(|part| is_room(part.trim(), room))
            }
            None => is_room(rest, room),
        })
    };
    ROOMS_OF_RULES.iter().copied().filter(|room| named(room)).collect()
}

fn is_room(path: &str, room: &str) -> bool {
    let first = path.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
    first == room
}

/// Where a caller may be made besides the doors, and why.
const MAKES_CALLERS: &[(&str, &str)] = &[
    ("crates/engine/src/call.rs", "a call that nobody made a caller for is a process's, which may the least"),
    ("crates/engine/src/verbs/walk/desk.rs", "tests alone: every verb, asked by everybody"),
    ("crates/engine/src/verbs/walk/mod.rs", "tests alone: every verb, asked by everybody"),
    ("crates/engine/src/shelf/tiers/story/mod.rs", "the story that both stores are tested with"),
];

/// Who acts is found out by a door, once per call; a verb that made a caller of its own could make itself a person.
fn made_callers() -> Result<Vec<String>, String> {
    let mut wrong = Vec::new();
    let below = ["crates/engine/", "crates/postgres/", "crates/agents/"];
    for path in workspace::tracked()?.into_iter().filter(|path| ships(path)) {
        if !below.iter().any(|crate_| path.starts_with(crate_))
            || MAKES_CALLERS.iter().any(|(file, _)| *file == path)
        {
            continue;
        }
        let text =
            std::fs::read_to_string(workspace::root().join(&path)).map_err(|e| format!("{path}: {e}"))?;
        wrong.extend(callers_in(&path, &text));
    }
    Ok(wrong)
}

fn callers_in(path: &str, text: &str) -> Vec<String> {
    let shipped = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let makes = |line: &&str| line.contains("Caller::person(") || line.contains("Caller::process(");
    let lines = shipped.lines().enumerate().filter(|(_, line)| makes(line));
    lines.map(|(at, _)| format!("{path}:{}: makes a caller; only doors do", at + 1)).collect()
}

/// Every place in the crates that may start a program, and which.
const STARTS: &[(&str, &str)] = &[
    ("crates/engine/src/git.rs", "git, by the one function that lets nothing of a repository run"),
    ("crates/cli/src/commands/edit.rs", "the user's editor"),
    ("crates/cli/src/commands/model.rs", "this program, and the tools that fetch and unpack a model"),
    ("crates/cli/src/commands/doctor.rs", "this program"),
    ("crates/cli/src/commands/setup_first.rs", "this program, from where it was installed"),
    ("crates/cli/src/commands/open.rs", "the user's browser, by the system's own opener"),
    ("crates/cli/src/output/pager.rs", "the user's pager"),
];

fn started_programs() -> Result<Vec<String>, String> {
    let mut wrong = Vec::new();
    for path in workspace::tracked()?.into_iter().filter(|path| path.starts_with("crates/") && ships(path)) {
        let text =
            std::fs::read_to_string(workspace::root().join(&path)).map_err(|e| format!("{path}: {e}"))?;
        wrong.extend(wrong_starts(&path, &text));
    }
    Ok(wrong)
}

fn wrong_starts(path: &str, text: &str) -> Vec<String> {
    let listed = STARTS.iter().any(|(file, _)| *file == path);
    let git_itself = path == STARTS[0].0;
    // Tests inside a file come last in it.
    let shipped = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let starts =
        |line: &str| line.contains("Command::new(") || line.contains("posix_spawn") || line.contains("execv");
    let of_git = |line: &str| line.contains("Command::new(\"git\"") || line.contains("/git\"");
    let mut wrong = Vec::new();
    for (at, line) in shipped.lines().enumerate() {
        if (starts(line) && !listed) || (of_git(line) && !git_itself) {
            wrong.push(format!("{path}:{}: starts a program; git is started by `engine::git` alone, others stand in xtask/src/layers.rs", at + 1));
        }
    }
    if git_itself && shipped.matches("Command::new(").count() != 1 {
        wrong.push(format!("{path}: git is started in one place"));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_started_anywhere_else_is_refused() {
        assert_eq!(wrong_starts("crates/engine/src/project.rs", "Command::new(\"git\").arg(x)").len(), 1);
        assert_eq!(
            wrong_starts("crates/engine/src/project.rs", "let c = std::process::Command::new(tool);").len(),
            1
        );
        assert_eq!(wrong_starts("crates/cli/src/commands/edit.rs", "Command::new(\"git\")").len(), 1);
        assert_eq!(wrong_starts("crates/cli/src/commands/edit.rs", "Command::new(editor)").len(), 0);
        assert_eq!(wrong_starts("crates/engine/src/git.rs", "Command::new(program())").len(), 0);
        assert_eq!(wrong_starts("crates/engine/src/git.rs", "Command::new(a()); Command::new(b())").len(), 1);
        assert_eq!(
            wrong_starts("crates/engine/src/x.rs", "#[cfg(test)]\nmod tests {\nCommand::new(1)").len(),
            0
        );
    }

    #[test]
    fn a_rule_asked_for_past_the_verbs_is_seen_however_it_is_named() {
        assert_eq!(rooms_used("use heirloom_engine::shelf::Listing;"), ["shelf"]);
        assert_eq!(rooms_used("use heirloom_engine::{Call, files, verbs::show};"), ["files"]);
        assert_eq!(rooms_used("use heirloom_engine::{\n    gate::{Entry, audit},\n    Call,\n};"), ["gate"]);
        assert_eq!(rooms_used("let x = heirloom_engine::git::commit(a);"), ["git"]);
        assert_eq!(
            rooms_used("use heirloom_engine::verbs::{review, hook};\nuse heirloom_engine::Call;"),
            [""; 0]
        );
        assert_eq!(rooms_used("use heirloom_engine::shelf_like::X;"), [""; 0]);
    }

    #[test]
    fn a_caller_made_below_the_doors_is_refused() {
        assert_eq!(callers_in("crates/engine/src/verbs/x.rs", "let c = Caller::person(\"a\");").len(), 1);
        let in_tests = "#[cfg(test)]\nmod tests {\nCaller::process(1)";
        assert_eq!(callers_in("crates/engine/src/verbs/x.rs", in_tests).len(), 0);
    }

    #[test]
    fn no_row_of_the_doors_stands_twice() {
        for (at, (file, room, why)) in DOORS.iter().enumerate() {
            assert!(!why.is_empty());
            assert!(!DOORS[..at].iter().any(|(f, r, _)| f == file && r == room), "{file} {room}");
        }
    }

    use crate::workspace::Dependency;

    fn package(name: &str, uses: &str, ships: bool) -> Package {
        let dependencies = vec![Dependency { name: uses.into(), ships }];
        Package { name: name.into(), version: "0.1.0".into(), licence: None, ours: true, dependencies }
    }

    #[test]
    fn an_arrow_upwards_is_refused_and_one_downwards_is_not() {
        assert_eq!(wrong_arrows(&[package(ENGINE, CORE, true)]).len(), 0);
        assert_eq!(wrong_arrows(&[package(CORE, ENGINE, true)]).len(), 1);
        assert_eq!(wrong_arrows(&[package(AGENTS, ENGINE, true)]).len(), 1);
    }

    #[test]
    fn tests_may_use_what_the_crate_may_not() {
        assert_eq!(wrong_arrows(&[package(AGENTS, ENGINE, false)]).len(), 0);
    }

    #[test]
    fn a_crate_without_a_layer_is_refused() {
        assert_eq!(wrong_arrows(&[package("heirloom-surprise", "serde", true)]).len(), 1);
    }

    #[test]
    fn no_layer_can_reach_itself() {
        for (at, layer) in LAYERS.iter().enumerate() {
            let below: Vec<&str> = LAYERS[..at].iter().map(|l| l.name).collect();
            assert!(layer.uses.iter().all(|used| below.contains(used)), "{}", layer.name);
        }
    }
}

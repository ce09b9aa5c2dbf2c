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

/// Every place in the crates that may start a program, and which.
const STARTS: &[(&str, &str)] = &[
    ("crates/engine/src/git.rs", "git, by the one function that lets nothing of a repository run"),
    ("crates/cli/src/commands/edit.rs", "the user's editor"),
    ("crates/cli/src/commands/model.rs", "this program, and the tools that fetch and unpack a model"),
    ("crates/cli/src/commands/doctor.rs", "this program"),
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

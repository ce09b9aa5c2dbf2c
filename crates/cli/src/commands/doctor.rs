//! `doctor`: gathers facts about every link of the chain; the engine says what they mean.
//!
//! Comes in: this machine and this project. Goes out: checks, each with a fix, and an exit code. Never here: repairing anything, or a
//! trace left in the project.

use super::visible;
use crate::args::Args;
use crate::output::Out;
use crate::{endpoint, environment, machine, wiring};
use heirloom_agents::Agent;
use heirloom_agents::install::{self, Reach};
use heirloom_agents::table::CLAUDE_CODE;
use heirloom_core::code::exit;
use heirloom_core::fault::Result;
use heirloom_core::text::one_line;
use heirloom_engine::Call;
use heirloom_engine::files;
use heirloom_engine::hook::doctor::{AgentFacts, Facts, State, diagnose};
use heirloom_engine::hook::trace;
use serde_json::json;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The largest settings file that is looked into.
const MAX: u64 = 16 << 20;
/// Runs looked at to see whether hooks have been failing.
const RUNS: usize = 50;

pub(crate) fn run(args: &Args, out: &Out) -> Result<u8> {
    let wired = wiring::wire_for_settings(args)?;
    let project = wired.call.project();
    let found = environment::find_program(machine::NAME);
    let runs = trace::last(project, RUNS).unwrap_or_default();
    let facts = Facts {
        program: found.map(|path| path.display().to_string()),
        agents: machine::agents().into_iter().map(|agent| agent_facts(agent, project.folder())).collect(),
        settings: wired
            .loaded
            .warnings
            .iter()
            .map(|warning| format!("`{}` ({}): {}", warning.name, warning.origin.name(), warning.message))
            .collect(),
        store_fault: store_fault(&wired.call),
        index_mismatches: index_mismatches(&wired.call)?,
        failing: trace::failing(&runs),
        left_out: trace::left_out(&runs),
        endpoints: endpoints(&wired.call),
        round_trip_fault: round_trip().err(),
    };
    let checks = diagnose(&facts);
    let broken = checks.iter().any(|check| check.state == State::Broken);
    out.answer(&json!({ "ok": !broken, "checks": checks }), || {
        for check in &checks {
            let mark = match check.state {
                State::Good => out.style.green("good   "),
                State::Warning => out.style.yellow("warning"),
                State::Broken => out.style.red("broken "),
            };
            out.line(format!("{mark} {}: {}", out.style.bold(check.id), visible(&one_line(&check.detail))));
            if !check.fix.is_empty() {
                out.line(format!("        {} {}", out.style.cyan("fix:"), visible(&one_line(&check.fix))));
            }
        }
        if !broken {
            out.say("next: ask your agent something the memory knows, then `heirloom last` shows what it was given");
        }
    });
    Ok(if broken { exit::REFUSED } else { exit::OK })
}

/// The endpoints of the user's settings, and what is wrong with them.
fn endpoints(engine: &Call) -> Vec<(String, Option<String>)> {
    let settings = engine.settings();
    let embedding = settings.embedding.as_ref().map(|named| ("embedding", &named.endpoint));
    let extraction = settings.extraction.as_ref().map(|named| ("extraction", named));
    let seen = |(what, named): (&str, &heirloom_core::settings::Endpoint)| {
        let trouble = endpoint::trouble(&engine.project().world().data, &named.url);
        let why = trouble.map(|trouble| {
            format!(
                "has failed {} times since {}: {}; it is done without meanwhile",
                trouble.failures, trouble.since, trouble.reason
            )
        });
        (format!("the {what} endpoint"), why)
    };
    embedding.into_iter().chain(extraction).map(seen).collect()
}

fn text_of(path: &Path) -> Option<String> {
    files::read_text(path, MAX).ok().flatten()
}

fn agent_facts(agent: &Agent, project: &Path) -> AgentFacts {
    let mut facts = AgentFacts { name: agent.name.to_owned(), ..AgentFacts::default() };
    let mut plugin = false;
    for reach in [Reach::User, Reach::Project] {
        let Ok(file) = machine::settings_file(agent, reach, project) else { continue };
        let Some(text) = text_of(&file) else { continue };
        let wanted = machine::program(reach).unwrap_or_default();
        let (here, as_it_should_be) = install::installed(agent, text.as_bytes(), &wanted);
        if here {
            facts.twice |= facts.installed;
            facts.installed = true;
            facts.points_here |= as_it_should_be;
            if agent.asks_for_trust {
                let file = std::fs::canonicalize(&file).unwrap_or(file);
                facts.trusted = Some(is_trusted(agent, &file));
            }
        }
        plugin |= install::is_plugin(agent, &text);
    }
    if plugin {
        facts.twice |= facts.installed;
        facts.points_here |= !facts.installed && environment::find_program(machine::NAME).is_some();
        facts.installed = true;
    }
    facts.switched_off_by = switches(agent, project).into_iter().find_map(|file| {
        let switch = install::switched_off(agent, &text_of(&file)?)?;
        Some(format!("{switch} in {}", machine::shown(&file)))
    });
    facts
}

/// The files in which an agent may have all hooks switched off.
fn switches(agent: &Agent, project: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = [Reach::User, Reach::Project]
        .into_iter()
        .filter_map(|reach| machine::settings_file(agent, reach, project).ok())
        .collect();
    if agent.name == CLAUDE_CODE.name {
        all.push(project.join(".claude/settings.local.json"));
        all.push(PathBuf::from("/etc/claude-code/managed-settings.json"));
    }
    all.extend(beside(agent));
    all
}

/// Where Codex keeps what its user approved and switched, which is not where its hooks are.
fn beside(agent: &Agent) -> Option<PathBuf> {
    agent
        .asks_for_trust
        .then(|| environment::agent_folder(agent))
        .flatten()
        .map(|folder| folder.join("config.toml"))
}

fn is_trusted(agent: &Agent, hooks_file: &Path) -> bool {
    let settings = beside(agent).and_then(|file| text_of(&file)).unwrap_or_default();
    install::is_trusted(agent, &hooks_file.display().to_string(), &settings)
}

/// Why nothing can be written, if so.
fn store_fault(engine: &Call) -> Option<String> {
    let root = engine.project().root().folder();
    if !root.is_dir() {
        return None;
    }
    let writable = |folder: &Path| {
        let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
        rustix::fs::access(folder, access)
            .map_err(|e| format!("`{}` cannot be written: {e}", folder.display()))
    };
    let lock = || engine.project().lock().map(drop).map_err(|fault| fault.message);
    writable(root).and_then(|()| lock()).err()
}

fn index_mismatches(engine: &Call) -> Result<Option<usize>> {
    if !engine.project().root().folder().is_dir() {
        return Ok(None);
    }
    let mismatch = engine.records().compare_index()?;
    // Without an index the next prompt makes one.
    Ok(Some(mismatch.map_or(0, |mismatch| mismatch.missing.len() + mismatch.stale.len())))
}

/// A folder that goes away however this ends.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Writes a memory in a temporary project and asks for it as an agent would: with this program's own file, as processes of their own.
fn round_trip() -> std::result::Result<(), String> {
    let said = |e: std::io::Error| format!("this program cannot be started: {e}");
    let program = environment::own_program().map_err(said)?;
    let folder = environment::temp_folder().join(format!("heirloom-doctor-{}", &wiring::world().nonce[..12]));
    files::make_folder(&folder, files::Mode::Private).map_err(|fault| fault.message)?;
    let folder = Temporary(folder);
    let start = |words: &[&str]| {
        let mut command = Command::new(&program);
        command
            .args(words)
            .current_dir(&folder.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.env("HOME", &folder.0);
        for name in ["XDG_DATA_HOME", "XDG_CONFIG_HOME"] {
            command.env(name, folder.0.join("own"));
        }
        // Nobody signs in to a store that is made for this check.
        for name in ["HEIRLOOM_TOKEN", "HEIRLOOM_DATABASE_URL"] {
            command.env_remove(name);
        }
        for (name, _) in environment::settings() {
            let name = name.to_uppercase().replace('.', "__");
            command.env_remove(format!("{}{name}", environment::SETTING_PREFIX));
        }
        command
    };
    let run = |words: &[&str], input: &str| {
        let mut child = start(words).spawn().map_err(said)?;
        if let Some(mut stdin) = child.stdin.take() {
            // A process that does not read its input says so in its own way.
            let _ = stdin.write_all(input.as_bytes());
        }
        let ran = child.wait_with_output().map_err(said)?;
        if !ran.status.success() {
            let why = String::from_utf8_lossy(&ran.stderr);
            return Err(format!(
                "`heirloom {}` failed: {}",
                words[0],
                why.lines().next().unwrap_or_default()
            ));
        }
        Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
    };
    run(&["init"], "")?;
    run(&["add", "constraint", "The round trip of the doctor comes back because the chain is whole"], "")?;
    let cwd = folder.0.display().to_string();
    let prompt = json!({ "hook_event_name": "UserPromptSubmit", "cwd": cwd, "prompt": "does the doctor's round trip work?" });
    let given = run(&["hook", "prompt", "--agent", CLAUDE_CODE.name], &prompt.to_string())?;
    if given.contains("round trip of the doctor") {
        Ok(())
    } else {
        Err("a memory written in a temporary project did not come back at a prompt there".to_owned())
    }
}

//! `doctor`: gathers what only this machine shows; the engine looks at the rest and says what it means.
//!
//! Comes in: this machine and this project. Goes out: checks, each with a fix, and an exit code. Never here: repairing anything, or a
//! trace left in the project.

use super::visible;
use crate::args::Args;
use crate::output::Out;
use crate::{environment, machine, wiring};
use heirloom_agents::Agent;
use heirloom_agents::install::{self, Reach};
use heirloom_agents::table::{CLAUDE_CODE, Client, Install};
use heirloom_core::code::exit;
use heirloom_core::fault::Result;
use heirloom_core::text::one_line;
use heirloom_engine::files;
use heirloom_engine::verbs::doctor::{AgentFacts, ClientFacts, Doctor, Machine, State, doctor};
use serde_json::json;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The largest settings file that is looked into.
const MAX: u64 = 16 << 20;

pub(crate) fn run(args: &Args, out: &Out) -> Result<u8> {
    let wired = wiring::wire_for_settings(args)?;
    let folder = wired.call.project().folder();
    let found = doctor(&wired.call, &Doctor { machine: Some(examined(folder)) })?;
    out.answer(&found, || {
        for check in &found.checks {
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
        if found.ok {
            out.say("next: ask your agent something the memory knows, then `heirloom last` shows what it was given");
        }
    });
    Ok(if found.ok { exit::OK } else { exit::REFUSED })
}

/// What this machine shows of the chain from agents to a project.
pub(super) fn examined(folder: &Path) -> Machine {
    Machine {
        program: environment::find_program(machine::NAME).map(|path| path.display().to_string()),
        token: environment::token().is_some(),
        agents: machine::agents().into_iter().map(|agent| agent_facts(agent, folder)).collect(),
        clients: machine::clients().into_iter().map(|client| client_facts(client, folder)).collect(),
        round_trip_fault: round_trip().err(),
    }
}

fn text_of(path: &Path) -> Option<String> {
    files::read_text(path, MAX).ok().flatten()
}

/// Whether a program that starts MCP servers knows ours.
fn client_facts(client: &Client, project: &Path) -> ClientFacts {
    let mut facts = ClientFacts { name: client.name.to_owned(), ..ClientFacts::default() };
    for reach in [Reach::User, Reach::Project] {
        let Some(text) = machine::servers_file(client, reach, project).and_then(|file| text_of(&file)) else {
            continue;
        };
        let wanted = machine::program(reach).unwrap_or_default();
        let (here, as_it_should_be) = install::server::installed(client, &text, &wanted);
        facts.installed |= here;
        facts.points_here |= as_it_should_be;
    }
    facts
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
    facts.slow =
        environment::agent_folder(agent).filter(|_| facts.installed).and_then(|folder| slow(agent, &folder));
    facts
}

/// OpenCode asks the package registry for its own library at every start at which there is any plugin and the library is not there. Without a
/// network that takes a minute or two.
fn slow(agent: &Agent, folder: &Path) -> Option<(String, String)> {
    const LIBRARY: &str = "@opencode-ai/plugin";
    if agent.install != Install::PluginFile || folder.join("node_modules").join(LIBRARY).exists() {
        return None;
    }
    let why = format!(
        "waits for the package registry at every start without a network: {LIBRARY} is not in {}",
        machine::shown(folder)
    );
    Some((
        why,
        format!(
            "with a network, run `npm install --prefix {} {LIBRARY}` once",
            install::quoted(&folder.to_string_lossy())
        ),
    ))
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

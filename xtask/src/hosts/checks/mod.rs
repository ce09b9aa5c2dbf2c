//! What is looked at with a real agent.
//!
//! Comes in: a laboratory. Goes out: findings in it. Never here: how an agent is started.

use super::agents::Host;
use super::lab::Lab;
use serde_json::json;

/// A check.
pub(super) struct Check {
    pub(super) name: &'static str,
    /// The only agent it is for, if there is one.
    only: Option<&'static str>,
    pub(super) run: fn(&mut Lab) -> Result<(), String>,
}

impl Check {
    pub(super) fn is_for(&self, host: Host) -> bool {
        self.only.is_none_or(|name| host.is(name))
    }
}

const fn check(name: &'static str, run: fn(&mut Lab) -> Result<(), String>) -> Check {
    Check { name, only: None, run }
}

/// All checks, the quick ones first.
pub(super) const CHECKS: &[Check] = &[
    check("recall", recall),
    check("guard", guard),
    check("indirect", indirect),
    check("headless", headless),
    check("missing", missing),
    check("bare", bare),
    check("clone", clone),
    check("undo", undo),
    check("stop", stop),
    check("subfolder", subfolder),
    check("notes", notes),
    Check { name: "plugin", only: Some("claude-code"), run: plugin },
];

const DECIDED: &str = "We decided to use Redis for the cache because it is fast.\nWe chose it over memcached because of persistence.";
const ASKS: &str = "should be saved as memories before stopping";
const BLOCKED: &str = "Direct writes to the memory directory are blocked";
const QUESTION: &str = "Which database do we use for orders, postgresql?";

fn recall(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    let ran = lab.ask(QUESTION, vec![json!({ "text": "PostgreSQL." })])?;
    let first = lab.sent(&ran).first().cloned().unwrap_or_default();
    lab.say(ran.code == Some(0), &format!("the session ended with {:?}", ran.code));
    lab.say(first.contains("row locks"), "the memory that answers the prompt is in the model's request");
    lab.say(first.contains("What holds in this project"), "so is what holds in the project");
    Ok(())
}

fn guard(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    let model = lab.model_name.clone();
    let model = model.as_deref();
    let folder = lab.memory("decisions").display().to_string();
    let elsewhere = if lab.host.is("gemini") { ".claude/memory/decisions" } else { folder.as_str() };
    let mut calls = vec![
        ("its file tool", lab.host.write(model, &lab.memory("decisions/evil.json"), "{}")),
        ("its shell", lab.host.shell(model, "echo '{}' > .claude/memory/decisions/evil-shell.json", None)),
    ];
    let takes_folder = ["codex", "gemini", "opencode"].contains(&lab.host.agent.name) && model.is_none();
    if takes_folder {
        calls.push((
            "its shell in another folder",
            lab.host.shell(model, "echo '{}' > evil-elsewhere.json", Some(elsewhere)),
        ));
    }
    calls.push(("a write elsewhere", lab.host.write(model, &lab.project.join("notes.txt"), "hello")));
    let mut steps: Vec<_> = calls.iter().map(|(_, call)| json!({ "tools": [call] })).collect();
    steps.push(json!({ "text": "Done." }));
    let ran = lab.ask("Please write the files", steps)?;
    let sent = lab.sent(&ran);
    let told = sent.last().map_or(0, |text| text.matches(BLOCKED).count());
    lab.say(told + 1 >= calls.len(), &format!("the model reads {told} times that a write was refused"));
    let evil =
        Lab::files(&lab.memory("decisions")).iter().any(|(path, _)| path.to_string_lossy().contains("evil"));
    lab.say(!evil, "nothing got into the memory folder");
    lab.say(lab.project.join("notes.txt").exists(), "a write elsewhere is untouched");
    Ok(())
}

fn indirect(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    let model = lab.model_name.clone();
    let command = "m=.claude/mem; echo '{\"title\": 1}' > ${m}ory/decisions/evil.json";
    let step = json!({ "tools": [lab.host.shell(model.as_deref(), command, None)] });
    lab.ask("Please write", vec![step, json!({ "text": "Done." })])?;
    lab.say(
        !lab.memory("decisions/evil.json").exists(),
        "a write that the command does not show is set aside after it",
    );
    Ok(())
}

fn headless(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    let ran = lab.ask(
        "Which cache should we take?",
        vec![json!({ "text": DECIDED }), json!({ "text": "Nothing to add." })],
    )?;
    lab.say(ran.text.contains("Redis"), "a script gets the agent's own answer");
    lab.say(lab.ended("stop", "held") == 0, "a session that nobody watches is not held");
    let waits = lab.trace().iter().any(|run| run["because"].to_string().contains("nobody watches"));
    lab.say(waits, "what it found waits for the next session that somebody watches");
    Ok(())
}

fn stop(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    let ran = lab.talk(
        "Which cache should we take?",
        vec![json!({ "text": DECIDED })],
        "Nothing to add.",
        "Nothing to add.",
    )?;
    lab.say(
        lab.ended("stop", "held") == 1,
        &format!("the stop is held up {} times", lab.ended("stop", "held")),
    );
    let asked = lab.sent(&ran).iter().filter(|text| text.contains(ASKS)).count();
    lab.say(asked >= 1, "the model is told what to save");
    lab.say(lab.ended("stop", "ignored") == 1, "and `last` says that nothing was saved");
    lab.say(!ran.text.contains("triage_data"), "people see no data");
    lab.say(!lab.project.join(".claude/.stop_hook_active").exists(), "no state is left in the project");
    Ok(())
}

fn missing(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    std::fs::rename(&lab.program, lab.program.with_extension("away")).map_err(|e| e.to_string())?;
    let model = lab.model_name.clone();
    let write = lab.host.write(model.as_deref(), &lab.project.join("notes.txt"), "hello");
    let ran = lab.ask("Please write", vec![json!({ "tools": [write] }), json!({ "text": "Done." })])?;
    lab.say(
        ran.code == Some(0) && lab.project.join("notes.txt").exists(),
        "without the program the agent works on",
    );
    std::fs::rename(lab.program.with_extension("away"), &lab.program).map_err(|e| e.to_string())
}

fn bare(lab: &mut Lab) -> Result<(), String> {
    lab.setup()?;
    let before = Lab::files(&lab.project);
    let ran = lab.ask("Which cache should we take?", vec![json!({ "text": DECIDED })])?;
    lab.say(ran.code == Some(0), &format!("without a memory the session ends with {:?}", ran.code));
    let after = Lab::files(&lab.project);
    let own =
        after.difference(&before).filter(|(path, _)| !path.to_string_lossy().contains("/.git/")).count();
    lab.say(own == 0, &format!("{own} files are left in the project"));
    Ok(())
}

fn clone(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    // As if this account had never been here.
    std::fs::remove_dir_all(lab.home.join(".local/share/heirloom/projects")).map_err(|e| e.to_string())?;
    let _ = std::fs::remove_dir_all(lab.memory(".local"));
    let ran = lab.ask(QUESTION, vec![json!({ "text": DECIDED })])?;
    let first = lab.sent(&ran).first().cloned().unwrap_or_default();
    let labelled = first.contains("Use PostgreSQL for orders") && first.contains("unverified");
    lab.say(labelled, "a clone is recalled from, with a label");
    lab.say(!lab.memory(".local").exists(), "and nothing is written in it");
    Ok(())
}

fn undo(lab: &mut Lab) -> Result<(), String> {
    lab.fill()?;
    let file = lab.home.join(lab.host.agent.user_file);
    let before = std::fs::read(&file).ok();
    lab.setup()?;
    let during = std::fs::read(&file).ok();
    lab.say(during.is_some() && during != before, "hooks are installed");
    lab.ask("Hello", vec![json!({ "text": "Hi." })])?;
    lab.person(&["setup", "--uninstall", "--yes"])?;
    lab.say(std::fs::read(&file).ok() == before, "taken out again, every byte is as before");
    Ok(())
}

fn subfolder(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    let folder = lab.project.join("src/app");
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    std::fs::write(folder.join("a.txt"), "x").map_err(|e| e.to_string())?;
    let ran = lab.ask_in(&folder, QUESTION, vec![json!({ "text": DECIDED })])?;
    let first = lab.sent(&ran).first().cloned().unwrap_or_default();
    lab.say(first.contains("row locks"), "the project's memory is found from a folder below");
    lab.say(Lab::files(&folder).len() == 1, "nothing is left there");
    Ok(())
}

fn notes(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    lab.heirloom(&["config", "set", "notes.capture", "true"])?;
    let long = "# How the importer works\n\nThe importer reads `orders.csv` line by line and writes each order into PostgreSQL.\n\
        It keeps a cursor in `state.json` so that it can go on after a crash.\nA line that cannot be parsed goes into `rejected.csv`.";
    lab.ask("Explain the importer at length.", vec![json!({ "text": long })])?;
    let kept = lab.heirloom(&["list", "--kind", "note"])?;
    lab.say(kept.contains("How the importer works"), "notes.capture keeps a long answer");
    Ok(())
}

fn plugin(lab: &mut Lab) -> Result<(), String> {
    lab.fill()?;
    let folder = crate::run::root().join("plugins/claude-code").display().to_string();
    let validate = ["claude", "plugin", "validate", "--strict", &folder].map(str::to_owned);
    let (code, text) = lab.run(&validate, &lab.project.clone())?;
    lab.say(code == Some(0), &format!("a strict check passes: {}", text.lines().last().unwrap_or_default()));
    let mut words = lab.host.headless("Hello");
    words.extend(["--plugin-dir", &folder, "--output-format", "stream-json", "--verbose"].map(str::to_owned));
    let (_, text) = lab.run(&words, &lab.project.clone())?;
    for name in ["memory:save", "memory:search", "memory:config", "memory:memory-management"] {
        lab.say(text.contains(&format!("\"{name}\"")), &format!("`/{name}` is there"));
    }
    Ok(())
}

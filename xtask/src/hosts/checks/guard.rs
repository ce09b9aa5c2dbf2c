//! Writes into the memory folder past the gate: refused before, set aside after.
//!
//! Comes in: a laboratory. Goes out: findings in it. Never here: how an agent's tools are called.

use super::super::lab::Lab;
use super::BLOCKED;
use serde_json::{Value, json};

pub(super) fn guard(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    let model = lab.model_name.clone();
    let model = model.as_deref();
    let record = lab.memory("decisions/use-postgresql-for-orders.json");
    let before = std::fs::read(&record).map_err(|e| format!("{}: {e}", record.display()))?;
    let shell = |command: &str| vec![lab.host.shell(model, command, None)];
    let mut tries: Vec<(&str, Vec<Value>)> = vec![
        ("its file tool", vec![lab.host.write(model, &lab.memory("decisions/evil.json"), "{}")]),
        ("an edit", lab.host.edit(model, &record, "  \"times_updated\": 0,", "  \"times_updated\": 7,")),
        ("its shell", shell("echo '{}' > .claude/memory/decisions/evil-shell.json")),
        ("rm", shell("rm -rf .claude/memory/decisions")),
        ("its shell after cd", shell("cd .claude/memory/decisions && echo '{}' > evil-cd.json")),
    ];
    // The tool that runs JavaScript passes a folder on too, but names none of its own.
    let takes_folder = ["codex", "gemini", "opencode"].contains(&lab.host.agent.name)
        && model.is_none_or(|model| model == "gpt-5.5");
    if takes_folder {
        let folder = lab.memory("decisions").display().to_string();
        let elsewhere = if lab.host.is("gemini") { ".claude/memory/decisions" } else { folder.as_str() };
        let call = lab.host.shell(model, "echo '{}' > evil-elsewhere.json", Some(elsewhere));
        tries.push(("its shell in another folder", vec![call]));
    }
    let refused = tries.len();
    let notes = lab.project.join("notes.txt");
    tries.push(("a write elsewhere", vec![lab.host.write(model, &notes, "hello")]));
    tries.push(("a shell elsewhere", shell("echo hi > hi.txt; head -1 .claude/memory/index.md")));
    let mut steps: Vec<Value> =
        tries.iter().flat_map(|(_, calls)| calls).map(|call| json!({ "tools": [call] })).collect();
    steps.push(json!({ "text": "Done." }));
    let ran = lab.ask("Please write the files", steps)?;
    let told = lab.sent(&ran).last().map_or(0, |text| text.matches(BLOCKED).count());
    let names: Vec<&str> = tries.iter().take(refused).map(|(name, _)| *name).collect();
    lab.say(
        told >= refused,
        &format!("the model reads {told} times that a write was refused ({})", names.join(", ")),
    );
    let evil =
        Lab::files(&lab.memory("decisions")).iter().any(|(path, _)| path.to_string_lossy().contains("evil"));
    lab.say(!evil, "nothing got into the memory folder");
    lab.say(std::fs::read(&record).is_ok_and(|now| now == before), "and nothing in it was changed");
    lab.say(notes.exists() && lab.project.join("hi.txt").exists(), "writes elsewhere are untouched");
    Ok(())
}

/// Paths that cannot be read off a command.
pub(super) fn indirect(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    let model = lab.model_name.clone();
    let variable = "m=.claude/mem; echo '{\"title\": 1}' > ${m}ory/decisions/evil-variable.json";
    let python = "python3 -c \"import base64; p=base64.b64decode('LmNsYXVkZS9tZW1vcnkvZGVjaXNpb25zL2V2aWwtcHl0aG9uLmpzb24='); open(p,'w').write('{}')\"";
    let steps = [variable, python]
        .map(|command| json!({ "tools": [lab.host.shell(model.as_deref(), command, None)] }));
    let mut steps = steps.to_vec();
    steps.push(json!({ "text": "Done." }));
    lab.ask("Please write", steps)?;
    for name in ["evil-variable.json", "evil-python.json"] {
        let there = lab.memory("decisions").join(name).exists();
        lab.say(!there, &format!("{name}, which no command shows, is set aside after it"));
    }
    Ok(())
}

/// A shell whose folder lives on between two calls.
pub(super) fn persisted(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    let model = lab.model_name.clone();
    let commands = ["cd .claude/memory/decisions", "pwd; echo '{}' > evil.json"];
    let mut steps = commands
        .map(|command| json!({ "tools": [lab.host.shell(model.as_deref(), command, None)] }))
        .to_vec();
    steps.push(json!({ "text": "Done." }));
    lab.ask("Please write", steps)?;
    lab.say(
        !lab.memory("decisions/evil.json").exists(),
        "cd in one call and a write in the next leave nothing in the memory folder",
    );
    Ok(())
}

/// Without the guard in front, what is said behind.
pub(super) fn post(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    without_guard(lab)?;
    let model = lab.model_name.clone();
    let evil = lab.memory("decisions/evil.json");
    let call = lab.host.write(model.as_deref(), &evil, "{\"title\": \"evil\"}");
    let ran = lab.ask("Please write", vec![json!({ "tools": [call] }), json!({ "text": "Done." })])?;
    let aside = Lab::files(&lab.memory("decisions"))
        .iter()
        .any(|(path, _)| path.to_string_lossy().contains("evil.json.invalid"));
    lab.say(!evil.exists() && aside, "a broken record is set aside");
    let told = lab.sent(&ran).last().is_some_and(|text| text.contains("invalid") && text.contains("evil"));
    lab.say(told, "and the model reads what was wrong");
    Ok(())
}

/// Takes the hook before a tool out of the agent's settings.
fn without_guard(lab: &Lab) -> Result<(), String> {
    let file = lab.home.join(lab.host.agent.user_file);
    let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    let text = if lab.host.is("opencode") {
        text.replace("if (answer.deny) throw new Error(answer.deny)", "")
    } else {
        let mut settings: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
        let hooks = settings["hooks"].as_object_mut().ok_or("no hooks")?;
        hooks.retain(|event, _| event != "PreToolUse" && event != "BeforeTool");
        settings.to_string()
    };
    std::fs::write(&file, text).map_err(|e| e.to_string())
}

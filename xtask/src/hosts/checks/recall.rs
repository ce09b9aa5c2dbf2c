//! What an agent is given: at a prompt, at a session's start, once and no more.
//!
//! Comes in: a laboratory. Goes out: findings in it. Never here: a session that somebody watches.

use super::super::lab::Lab;
use super::{BLOCKED, DECIDED, QUESTION};
use serde_json::{Value, json};
use std::time::Duration;

pub(super) fn recall(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    let ran = lab.ask(QUESTION, vec![json!({ "text": "PostgreSQL." })])?;
    let first = lab.sent(&ran).first().cloned().unwrap_or_default();
    lab.say(ran.code == Some(0), &format!("the session ended with {:?}", ran.code));
    lab.say(first.contains("row locks"), "the memory that answers the prompt is in the model's request");
    lab.say(first.contains("What holds in this project"), "so is what holds in the project");
    let runs = lab.ran("prompt");
    lab.say(runs == 1, &format!("the prompt hook runs {runs} times"));
    let times = first.matches("[CONSTRAINT]").count();
    lab.say(times == 1, &format!("what was said at the start is said {times} times"));
    Ok(())
}

/// Six standing constraints and one decision that answers the prompt.
pub(super) fn crowded(lab: &mut Lab) -> Result<(), String> {
    lab.fill()?;
    for word in ["login", "search", "export", "import", "billing", "report"] {
        let rule = format!("Keep the {word} endpoint below 200 ms because users notice");
        lab.person(&["add", "constraint", &rule, "--tag", word])?;
    }
    lab.setup()?;
    let ran = lab.ask(QUESTION, vec![json!({ "text": "PostgreSQL." })])?;
    let first = lab.sent(&ran).first().cloned().unwrap_or_default();
    lab.say(
        first.contains("row locks"),
        "among many constraints the decision that answers the prompt is given",
    );
    Ok(())
}

/// The same question twice in one session. Gemini asks its hook before every request whether to compact.
pub(super) fn again(lab: &mut Lab) -> Result<(), String> {
    const MORE: &str = "And for orders, is it postgresql?";
    lab.prepare()?;
    let ran = if lab.host.is("copilot") {
        // Without an account it does not go on with an earlier session.
        let screen = lab.sit(&lab.project.clone(), &[])?;
        lab.say_at(&screen, QUESTION, vec![json!({ "text": "PostgreSQL." })], "Done.", "PostgreSQL.");
        lab.say_at(&screen, MORE, vec![json!({ "text": "Still the same." })], "Done.", "Still the same.")
    } else {
        lab.ask(QUESTION, vec![json!({ "text": "PostgreSQL." })])?;
        lab.ask_again(MORE, vec![json!({ "text": "Still the same." })])?
    };
    let last = lab.sent(&ran).last().cloned().unwrap_or_default();
    let times = last.matches("row locks").count();
    lab.say(times == 1, &format!("a memory is given {times} times in a session that asks for it twice"));
    Ok(())
}

/// A compaction that happened: what the model has lost it is given again.
pub(super) fn compacted(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    let screen = lab.sit(&lab.project.clone(), &[])?;
    let done = "PostgreSQL it was.";
    lab.say_at(&screen, QUESTION, vec![json!({ "text": done })], "A summary of it all.", done);
    let word = if lab.host.is("gemini") { "/compress" } else { "/compact" };
    screen.say(word);
    std::thread::sleep(Duration::from_secs(12));
    let again = "PostgreSQL it still is.";
    let ran = lab.say_at(&screen, QUESTION, vec![json!({ "text": again })], "Done.", again);
    let given = lab.sent(&ran).first().is_some_and(|text| text.contains("row locks"));
    lab.say(given, "after a compaction the memory is given again");
    if lab.host.has("pre-compact") {
        lab.say(lab.ran("pre-compact") >= 1, &format!("its hook runs {} times", lab.ran("pre-compact")));
    }
    Ok(())
}

/// Standing constraints in words that triage listens for, and a session that says nothing.
pub(super) fn echo(lab: &mut Lab) -> Result<(), String> {
    lab.fill()?;
    for rule in [
        "The search API cannot be called more than 10 times; turns out the rate limit is a platform quota",
        "Uploads above 5 MB are not supported, found that the platform limitation is permanent",
    ] {
        lab.person(&["add", "constraint", rule, "--tag", "limits"])?;
    }
    lab.heirloom(&["config", "set", "notes.capture", "true"])?;
    lab.setup()?;
    lab.talk("Say hello.", vec![json!({ "text": "Hello to you." })], "Nothing.", "Hello to you.")?;
    lab.say(lab.ended("stop", "held") == 0, "our own memories are not taken for something new");
    let notes = lab.heirloom(&["list", "--kind", "note"])?;
    lab.say(!notes.contains("platform"), "and not kept as notes");
    Ok(())
}

pub(super) fn clone(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    // As if this account had never been here.
    std::fs::remove_dir_all(lab.home.join(".local/share/heirloom/projects")).map_err(|e| e.to_string())?;
    let _ = std::fs::remove_dir_all(lab.memory(".local"));
    let ran = lab.ask(QUESTION, vec![json!({ "text": DECIDED })])?;
    let first = lab.sent(&ran).first().cloned().unwrap_or_default();
    let labelled = first.contains("Use PostgreSQL for orders") && first.contains("unverified");
    lab.say(labelled, "a clone is recalled from, with a label");
    lab.say(!lab.memory(".local").exists(), "and nothing is written in it");
    let data = lab.home.join(".local/share/heirloom/projects");
    lab.say(Lab::files(&data).is_empty(), "nor in the data folder");
    Ok(())
}

pub(super) fn subfolder(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    let folder = lab.folder_below()?;
    let ran = lab.ask_in(&folder, QUESTION, vec![json!({ "text": DECIDED })])?;
    let first = lab.sent(&ran).first().cloned().unwrap_or_default();
    lab.say(first.contains("row locks"), "the project's memory is found from a folder below");
    lab.say(Lab::files(&folder).len() == 1, "nothing is left there");
    Ok(())
}

/// A prompt of two hundred thousand characters.
pub(super) fn big(lab: &mut Lab) -> Result<(), String> {
    let Some(words) = lab.host.fed() else { return Ok(()) };
    lab.prepare()?;
    let log = "lorem ipsum dolor sit amet, consetetur sadipscing elitr. ".repeat(3_600);
    let text = format!("The log of the orders database postgresql says: {log}");
    let (prompt, script) = lab.prompt(&text, vec![json!({ "text": "Fine." })], "Done.");
    let (code, _) = lab.run_with(&words, &lab.project.clone(), Some(&prompt))?;
    let first = lab.sent_for(&script).first().cloned().unwrap_or_default();
    lab.say(code == Some(0), &format!("a prompt of {} characters ends with {code:?}", prompt.len()));
    lab.say(first.contains("row locks"), "and is answered from memory");
    Ok(())
}

/// In whose name the model hears what a hook gives.
pub(super) fn wire(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    let ran = lab.ask(QUESTION, vec![json!({ "text": "PostgreSQL." })])?;
    let body: Value = lab
        .sent(&ran)
        .first()
        .and_then(|text| serde_json::from_str(text).ok())
        .ok_or("the model was asked nothing")?;
    let mut roles: Vec<String> = Vec::new();
    for key in ["messages", "input", "contents"] {
        for message in body[key].as_array().into_iter().flatten() {
            if message.to_string().contains("row locks") {
                roles.push(message["role"].as_str().unwrap_or("none").to_owned());
            }
        }
    }
    if body["system"].to_string().contains("row locks")
        || body["systemInstruction"].to_string().contains("row locks")
    {
        roles.push("system".to_owned());
    }
    let expected = match lab.host.agent.name {
        "claude-code" => "system",
        "codex" => "developer",
        _ => "user",
    };
    lab.say(roles == [expected], &format!("what a hook gives is said as {}", roles.join(", ")));
    Ok(())
}

/// What people ask afterwards.
pub(super) fn truth(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    lab.ask(QUESTION, vec![json!({ "text": "PostgreSQL." })])?;
    let moments = lab.moments();
    let known = ["session-start", "prompt", "stop"].iter().all(|moment| moments.contains(*moment));
    lab.say(known, &format!("`last` lists what ran: {moments:?}"));
    let why = lab.heirloom(&["why", "decision:use-postgresql-for-orders"])?;
    lab.say(why.contains(lab.host.agent.name), "`why` says who was given the memory");
    let doctor = lab.heirloom(&["doctor"])?;
    let line = doctor.lines().find(|line| line.contains("agent:")).unwrap_or_default().to_owned();
    lab.say(doctor.contains(lab.host.agent.name), &format!("`doctor` knows the agent: {line}"));
    lab.note("truth", &lab.times());
    Ok(())
}

/// Copilot CLI runs what a project's settings for Claude Code say.
pub(super) fn borrowed(lab: &mut Lab) -> Result<(), String> {
    lab.fill()?;
    let path = lab.path_with_program();
    lab.set("PATH", &path);
    lab.heirloom(&["setup", "--yes", "--shared", "--agent", "claude-code"])?;
    let evil = lab.host.write(None, &lab.memory("decisions/evil.json"), "{}");
    let ran = lab.ask(QUESTION, vec![json!({ "tools": [evil] }), json!({ "text": "Done." })])?;
    let sent = lab.sent(&ran);
    lab.say(sent.first().is_some_and(|text| text.contains("row locks")), "the memory reaches its model");
    lab.say(sent.last().is_some_and(|text| text.contains(BLOCKED)), "and the guard holds");
    lab.say(!lab.memory("decisions/evil.json").exists(), "nothing got into the memory folder");
    Ok(())
}

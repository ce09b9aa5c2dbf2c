//! What is kept of a conversation, and in whose name.
//!
//! Comes in: a laboratory. Goes out: findings in it. Never here: what a shelf does with it.

use super::super::lab::Lab;
use super::DECIDED;
use serde_json::json;

const LONG: &str = "# How the importer works\n\nThe importer reads `orders.csv` line by line and writes each order into PostgreSQL.\n\
    It keeps a cursor in `state.json` so that it can go on after a crash.\nA line that cannot be parsed goes into `rejected.csv`.\n\n\
    1. open the file\n2. seek to the cursor\n3. parse and insert\n4. move the cursor\n";

pub(super) fn notes(lab: &mut Lab) -> Result<(), String> {
    lab.fill()?;
    lab.setup_with(&["--notes"])?;
    lab.ask("Explain the importer at length.", vec![json!({ "text": LONG })])?;
    let kept = lab.heirloom(&["list", "--kind", "note"])?;
    lab.say(kept.contains("How the importer works"), "setup --notes keeps a long answer");
    Ok(())
}

pub(super) fn turns(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    lab.person(&["config", "set", "--user", "tiers.capture", "true"])?;
    lab.ask("My favourite colour is teal, remember that.", vec![json!({ "text": "I will remember teal." })])?;
    let kept = lab.heirloom(&["list", "--kind", "episode", "--json"])?;
    lab.say(kept.contains("favourite colour is teal"), "tiers.capture keeps what a person said");
    lab.say(kept.contains("I will remember teal"), "and what was answered");
    lab.say(!kept.contains("row locks") && !kept.contains("memory-context"), "and none of our own words");
    Ok(())
}

/// What a subagent said is nobody's own word.
pub(super) fn speakers(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    lab.person(&["config", "set", "--user", "tiers.capture", "true"])?;
    let inner = "The subagent says that the harbour closes at noon on Fridays.";
    let (prompt, _) = lab.prompt("Look into it.", vec![json!({ "text": inner })], inner);
    let call = lab.host.subagent(&prompt).ok_or("it has no subagents")?;
    let screen = lab.sit(&lab.project.clone(), &[])?;
    let done = "That is what I heard.";
    lab.say_at(
        &screen,
        "Ask somebody.",
        vec![json!({ "tools": [call] }), json!({ "text": DECIDED })],
        done,
        done,
    );
    drop(screen);
    let kept = lab.heirloom(&["list", "--kind", "episode", "--json"])?;
    let owners = owned(&kept);
    lab.say(
        !owners.iter().any(|text| text.contains("harbour")),
        "a subagent's result is not the owner's word",
    );
    lab.say(
        !owners.iter().any(|text| text.contains("before stopping") || text.contains("Look into it")),
        "nor are our own request and the subagent's order",
    );
    Ok(())
}

/// The episodes that count as the owner's own words.
fn owned(listed: &str) -> Vec<String> {
    let parsed: serde_json::Value = serde_json::from_str(listed).unwrap_or_default();
    let rows = parsed.get("memories").or(Some(&parsed)).and_then(|rows| rows.as_array().cloned());
    let rows = rows.unwrap_or_default();
    rows.iter().filter(|row| row["trust"] == "high").map(ToString::to_string).collect()
}

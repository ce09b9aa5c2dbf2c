//! What other memories give away: decisions on pages of their own, notes of basic-memory, exports of claude-mem.
//!
//! Comes in: a file of one of them. Goes out: records and notes, each said where it comes from. What the file says beside them is a note, word for word, or named
//! with the reason why it is left out. Never here: a field that the file does not have.

use super::arrival::Arrival;
use super::heard::{Heard, heard};
use super::markdown::{front_matter, marked};
use super::run::Run;
use super::sort::{MAX_FILE, Source};
use super::statements::{sentences, statements};
use crate::files;
use crate::shelf::records::Given;
use heirloom_core::{Code, Fault, ShelfName, fault::Result, json, time};
use serde_json::Value;

/// A decision on a page of its own: context, decision, consequences.
pub(super) fn adr(run: &mut Run<'_>, source: &Source) -> Result<()> {
    let Some((mut arrival, text)) = Arrival::of_text(run, source, ShelfName::Records)? else { return Ok(()) };
    let from = source.shown.clone();
    let (fields, body) = front_matter(&text);
    let mut given = Given { title: title(body), ..Given::default() };
    let mut decided = String::new();
    for (heading, part) in parts(body) {
        let lower = heading.to_lowercase();
        let one = flowed(part);
        if one.is_empty() {
            continue;
        }
        match lower.trim_end_matches(':') {
            "decision" | "decision outcome" | "decisions" => decided = one,
            "context" | "context and problem statement" | "problem" => push(&mut given, "context", &one),
            "status" => {
                push(&mut given, "status", status(&one));
                if one.split_whitespace().count() > 1 {
                    arrival.leave(&from, &one, "kept as the decision's status");
                }
            }
            "consequences" | "positive consequences" | "negative consequences" => {
                points(part).iter().for_each(|point| push(&mut given, "consequences", point));
            }
            "rationale" | "reason" | "reasons" | "decision drivers" | "justification" => {
                points(part).iter().for_each(|point| push(&mut given, "rationale", point));
            }
            // The title, and what is between it and the first part.
            _ if given.title.as_deref() == Some(strip_number(heading)) => {
                for sentence in sentences(&one) {
                    let status = sentence.to_lowercase();
                    match status.strip_prefix("status:").map(str::trim) {
                        Some(word) => push(&mut given, "status", self::status(word)),
                        None => arrival.leave(&from, sentence, "about the page, not about the decision"),
                    }
                }
            }
            _ => arrival.note(&format!("{from}#{heading}"), heading, part.trim(), arrival.at)?,
        }
    }
    for (name, value) in fields {
        match name {
            "status" => push(&mut given, "status", status(value)),
            _ => arrival.leave(&from, &format!("{name}: {value}"), "a field of the file's head"),
        }
    }
    // The last word about the status counts.
    let last = given.fields.iter().rposition(|(name, _)| name == "status");
    let mut at = 0;
    given.fields.retain(|(name, _)| {
        at += 1;
        name != "status" || Some(at - 1) == last
    });
    arrival.kept(&from, "decision", &decided, given)
}

fn push(given: &mut Given, name: &str, value: &str) {
    given.fields.push((name.to_owned(), value.to_owned()));
}

/// One of the words a decision's status can be.
fn status(text: &str) -> &'static str {
    let lower = text.to_lowercase();
    ["superseded", "deprecated", "proposed"]
        .into_iter()
        .find(|word| lower.contains(word))
        .unwrap_or("accepted")
}

fn strip_number(heading: &str) -> &str {
    let rest = heading.trim_start_matches("ADR").trim_start_matches(['-', ' ']);
    let bare = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    if bare.len() == rest.len() { heading } else { bare.trim_start_matches(['.', ':', '-', ')', ' ']) }
}

fn title(body: &str) -> Option<String> {
    let heading = body.lines().find_map(|line| line.strip_prefix("# "))?;
    Some(strip_number(heading.trim()).to_owned()).filter(|title| !title.is_empty())
}

/// The parts of a page by their headings, of whatever level.
fn parts(body: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let (mut heading, mut start, mut at) = ("", 0, 0);
    for line in body.split_inclusive('\n') {
        if line.starts_with('#') && line.trim_start_matches('#').starts_with(' ') {
            found.push((heading, &body[start..at]));
            heading = line.trim_start_matches('#').trim();
            heading = if line.starts_with("# ") { strip_number(heading) } else { heading };
            start = at + line.len();
        }
        at += line.len();
    }
    found.push((heading, &body[start..]));
    found.retain(|(heading, part)| !heading.is_empty() || !part.trim().is_empty());
    found
}

/// A part in one line.
fn flowed(part: &str) -> String {
    statements(part).into_iter().map(|one| one.text).collect::<Vec<_>>().join(" ")
}

/// The points of a part, or its sentences.
fn points(part: &str) -> Vec<String> {
    statements(part).into_iter().map(|one| one.text).collect()
}

/// A note of basic-memory: observations with their category, relations, and prose.
pub(super) fn basic_memory(run: &mut Run<'_>, source: &Source) -> Result<()> {
    let Some((mut arrival, text)) = Arrival::of_text(run, source, ShelfName::Records)? else { return Ok(()) };
    for one in statements(&text) {
        let from = arrival.place(one.line);
        if let Some(why) = one.form.why() {
            arrival.leave(&from, &one.text, why);
            continue;
        }
        match observation(&one.text) {
            _ if one.text.contains("[[") && one.text.contains("]]") && observation(&one.text).is_none() => {
                arrival.leave(&from, &one.text, "a relation between notes");
            }
            // What its author called an observation is one, whatever its words are.
            Some((category, words, tags)) => {
                let kind = match (category.as_str(), heard(words)) {
                    ("decision" | "constraint" | "preference", _) => category.as_str(),
                    ("requirement" | "limitation", _) => "constraint",
                    ("convention" | "rule" | "practice", _) => "preference",
                    ("tech_debt" | "debt" | "issue", _) => "tech_debt",
                    (_, Heard::Kind(kind)) => kind,
                    _ => "note",
                };
                if arrival.run.report.choice.drops(&from) || arrival.run.report.choice.change(&from).is_some()
                {
                    arrival.statement(&from, words)?;
                } else {
                    arrival.kept(&from, kind, words, Given { tags, ..Given::default() })?;
                }
            }
            None => arrival.statement(&from, &one.text)?,
        }
    }
    Ok(())
}

/// `[category] words #tag #tag (context)`.
fn observation(text: &str) -> Option<(String, &str, Vec<String>)> {
    let (category, rest) = text.strip_prefix('[')?.split_once("] ")?;
    let words = rest.split(" #").next().unwrap_or(rest).trim();
    let tags = rest.split(" #").skip(1).filter_map(|part| part.split_whitespace().next());
    (!category.is_empty() && !category.contains('[') && !words.is_empty())
        .then(|| (category.to_lowercase(), words, tags.map(str::to_owned).collect()))
}

/// An export of claude-mem: observations and summaries of sessions.
pub(super) fn claude_mem(run: &mut Run<'_>, source: &Source) -> Result<()> {
    let value = files::read(&source.path, MAX_FILE)
        .and_then(|bytes| json::parse(&bytes).map_err(|e| Fault::new(Code::Input, format!("not JSON: {e}"))));
    let value = match value {
        Ok(value) => value,
        Err(fault) => return run.report.refuse(ShelfName::Records, source.shown.clone(), fault),
    };
    let mut arrival = Arrival::new(run, source);
    for list in ["observations", "summaries", "prompts"] {
        let all = value.get(list).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for (at, one) in all.iter().enumerate() {
            let from = format!("{}#{list}/{}", source.shown, at + 1);
            let text =
                |name: &str| one.get(name).and_then(Value::as_str).map(str::trim).filter(|t| !t.is_empty());
            if list == "prompts" {
                arrival.leave(&from, text("prompt").or_else(|| text("text")).unwrap_or_default(), "a prompt");
                continue;
            }
            let when = text("created_at").and_then(time::parse).unwrap_or(arrival.at);
            let title = text("title").or_else(|| text("request")).unwrap_or_default();
            let body = body_of(one);
            if body.is_empty() {
                arrival.leave(&from, title, "has no text");
            } else if text("type") == Some("decision") {
                let title = (!title.is_empty()).then(|| title.to_owned());
                arrival.kept(&from, "decision", &body, Given { title, ..Given::default() })?;
            } else {
                arrival.note(&from, title, &body, when)?;
            }
        }
    }
    Ok(())
}

/// The texts of an observation, each once.
fn body_of(one: &Value) -> String {
    const TEXTS: [&str; 9] = [
        "subtitle",
        "narrative",
        "text",
        "investigated",
        "learned",
        "completed",
        "next_steps",
        "notes",
        "summary",
    ];
    let mut lines: Vec<String> = Vec::new();
    let mut add = |text: &str| {
        let text = text.trim();
        if !text.is_empty() && !lines.iter().any(|line| line == text) {
            lines.push(text.to_owned());
        }
    };
    for name in TEXTS {
        one.get(name).and_then(Value::as_str).into_iter().for_each(&mut add);
    }
    let facts = one.get("facts");
    // Some versions keep a list as a text of JSON.
    let parsed = facts.and_then(Value::as_str).and_then(|text| json::parse(text.as_bytes()).ok());
    let facts = parsed.as_ref().or(facts).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    facts.iter().filter_map(Value::as_str).map(|fact| marked(fact).unwrap_or(fact)).for_each(add);
    lines.join("\n")
}

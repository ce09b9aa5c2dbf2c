//! Statements: what counts, what does not, what it is called, and how well that does on conversations people would recognise.

use super::super::{Conversation, Finding, Marks, Turn};
use super::*;
use heirloom_core::Settings;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

fn stated(by: Speaker, text: &str) -> Vec<(&'static str, f64, String)> {
    let lines: Vec<Spoken<'_>> = text.lines().map(|text| Spoken { text, by: Some(by) }).collect();
    let found = statements(&lines, &|_| 0);
    found
        .into_iter()
        .map(|one| (one.kind, one.score, title_of(lines[one.line].text, one.kind, Some(by))))
        .collect()
}

#[test]
fn a_labelled_sentence_counts_and_gives_the_title() {
    for (text, kind, title) in [
        ("Decision: LISTEN/NOTIFY", "decision", "LISTEN/NOTIFY"),
        ("- **Decision:** use `date-fns`.", "decision", "Use `date-fns`"),
        ("## Decision\n\nKeep the monolith.", "decision", "Keep the monolith"),
        ("2. Root cause: the token expired", "runbook", "The token expired"),
        ("Constraint: data stays in the EU", "constraint", "Data stays in the EU"),
        ("Tech debt: no paging", "tech_debt", "No paging"),
        ("Rule: no default exports", "preference", "No default exports"),
    ] {
        let found = stated(Speaker::Assistant, text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert_eq!((found[0].0, found[0].2.as_str()), (kind, title), "{text}");
    }
}

#[test]
fn a_label_without_a_decision_or_of_something_else_does_not_count() {
    for text in [
        "Decision: pending",
        "Decision: which one?",
        "Note: decision follows",
        "fix: handle null",
        "decision: x",
        "Decision:",
        "Files: a, b",
    ] {
        assert_eq!(stated(Speaker::Assistant, text), [], "{text}");
    }
}

#[test]
fn the_title_is_what_was_decided_and_never_the_question() {
    let said = "Why does the worker fail with an error?\nWe decided to close the client because it leaks.";
    let found = stated(Speaker::Assistant, said);
    assert_eq!(found[0].2, "Close the client because it leaks");
    let against = stated(Speaker::Assistant, "We decided against GraphQL: two clients only.");
    assert!(against[0].2.contains("against GraphQL"), "{against:?}");
}

#[test]
fn questions_plans_and_what_was_only_weighed_state_nothing() {
    for text in [
        "Should we go with Redis because it is fast?",
        "If we decided on Kafka we would need someone to operate it.",
        "We have not decided on an ORM yet.",
        "I'll use the router because it is there.",
        "I cannot open the file.",
        "The query selected 311 rows.",
    ] {
        assert_eq!(stated(Speaker::Assistant, text), [], "{text}");
    }
}

#[test]
fn an_answer_that_takes_one_of_two_and_says_why_is_a_decision() {
    let asked = |question: &str, answer: &str| {
        let lines = [
            Spoken { text: question, by: Some(Speaker::Human) },
            Spoken { text: answer, by: Some(Speaker::Assistant) },
        ];
        statements(&lines, &|_| 0).iter().map(|one| one.kind).collect::<Vec<_>>()
    };
    assert_eq!(asked("uuid or serial?", "UUIDv7. Serial ids leak how many there are."), ["decision"]);
    assert_eq!(asked("tabs or spaces?", "Spaces, because the linter wants them."), ["decision"]);
    for (question, answer) in [
        ("is it port 8080 or 3000?", "3000. It is set in the compose file."),
        ("uuid or serial?", "UUIDs are longer. Serial ids leak. Which do you want?"),
        ("uuid or serial?", "It depends on whether clients make ids."),
        ("uuid or serial?", "UUID."),
        ("uuid or serial?", "I changed the migration. The tests pass."),
    ] {
        assert_eq!(asked(question, answer), [""; 0], "{answer}");
    }
}

#[test]
fn what_an_assistant_likes_is_no_preference() {
    assert_eq!(stated(Speaker::Human, "I prefer tabs.").len(), 1);
    assert_eq!(stated(Speaker::Assistant, "I prefer tabs."), []);
}

/// A conversation of the set, as one of the hosts writes it down.
fn transcript(conversation: &Value, shape: usize) -> Vec<Turn> {
    let said = conversation["said"].as_array().unwrap().iter();
    let line = |turn: &Value| {
        let (role, text) = (turn[0].as_str().unwrap(), turn[1].as_str().unwrap());
        let value = match shape {
            0 => {
                json!({ "type": role, "message": { "role": role, "content": [{ "type": "text", "text": text }] } })
            }
            1 => {
                json!({ "type": "response_item", "payload": { "type": "message", "role": role, "content": [{ "type": if role == "user" { "input_text" } else { "output_text" }, "text": text }] } })
            }
            _ => {
                json!({ "type": if role == "user" { "user" } else { "gemini" }, "content": [{ "text": text }] })
            }
        };
        let Value::Object(object) = value else { unreachable!() };
        object
    };
    let lines: Vec<Map<String, Value>> = said.map(line).collect();
    lines.iter().enumerate().map(|(at, line)| Turn::from_object(at as u64 * 1_000, line)).collect()
}

/// Written together with the rules: says whether they still do what they were made for.
const SET: &str = include_str!("../../../../../fixtures/triage/conversations.json");
/// Written after them, and not used to change them: says how they do on something new.
const HELD_OUT: &str = include_str!("../../../../../fixtures/triage/held-out.json");

/// Right, wrong and missed findings of a way to look, over the whole set.
fn measured(
    set: &str,
    hear: fn(Vec<Turn>) -> Conversation,
    find: impl Fn(&Conversation) -> Vec<Finding>,
) -> (usize, usize, usize, Vec<String>) {
    let set: Vec<Value> = serde_json::from_str(set).unwrap();
    let (mut right, mut wrong, mut missed, mut notes) = (0, 0, 0, Vec::new());
    for conversation in &set {
        let name = conversation["name"].as_str().unwrap();
        let wanted: BTreeSet<&str> =
            conversation["save"].as_array().unwrap().iter().map(|kind| kind.as_str().unwrap()).collect();
        let mut by_shape = Vec::new();
        for shape in 0..4 {
            let heard = hear(transcript(conversation, shape));
            let findings = find(&heard);
            let kinds: BTreeSet<&str> = findings.iter().map(|finding| finding.kind).collect();
            if let Some(title) = conversation.get("title").and_then(Value::as_str) {
                let first = findings.iter().find(|one| wanted.contains(one.kind));
                let shown = first.and_then(|one| heard.snippets(one).first().cloned()).unwrap_or_default();
                if first.is_some() && !shown.to_lowercase().replace('`', "").contains(&title.to_lowercase()) {
                    notes.push(format!("{name}: titled {shown:?}"));
                }
            }
            by_shape.push(kinds);
        }
        assert!(by_shape.iter().all(|kinds| *kinds == by_shape[0]), "{name}: hosts differ: {by_shape:?}");
        let found = &by_shape[0];
        right += found.intersection(&wanted).count();
        for kind in found.difference(&wanted) {
            wrong += 1;
            notes.push(format!("{name}: {kind} is nothing to save"));
        }
        for kind in wanted.difference(found) {
            missed += 1;
            notes.push(format!("{name}: {kind} is missed"));
        }
    }
    (right, wrong, missed, notes)
}

fn shares(right: usize, wrong: usize, missed: usize) -> (f64, f64) {
    let share = |of: usize| right as f64 / of.max(1) as f64;
    (share(right + wrong), share(right + missed))
}

#[test]
#[allow(clippy::disallowed_macros, reason = "the figures are what it is for")]
fn statements_find_what_people_would_save_and_little_else() {
    let settings = Settings::standard();
    let (right, wrong, missed, notes) =
        measured(SET, Conversation::with_names, |heard| heard.stated(&settings, &Marks::new()));
    let (precision, recall) = shares(right, wrong, missed);
    let (words_right, words_wrong, words_missed, _) =
        measured(SET, Conversation::new, |heard| heard.findings(&settings, &Marks::new()));
    let (words_precision, words_recall) = shares(words_right, words_wrong, words_missed);
    // Shown with --nocapture.
    println!(
        "statements: precision {precision:.3}, recall {recall:.3}; words alone: precision {words_precision:.3}, recall {words_recall:.3}"
    );
    assert!(
        precision >= 0.9 && recall >= 0.9,
        "precision {precision:.3}, recall {recall:.3}\n{}",
        notes.join("\n")
    );
    assert!(precision >= words_precision && recall > words_recall, "{words_precision} {words_recall}");
    let (new_right, new_wrong, new_missed, new_notes) =
        measured(HELD_OUT, Conversation::with_names, |heard| heard.stated(&settings, &Marks::new()));
    let (new_precision, new_recall) = shares(new_right, new_wrong, new_missed);
    println!("on conversations they were not made for: precision {new_precision:.3}, recall {new_recall:.3}");
    println!("{}", new_notes.join("\n"));
    assert!(
        new_precision >= 0.9,
        "a stop that is held up for nothing costs more than one that is let through"
    );
    let titled: Vec<&String> = notes.iter().filter(|note| note.contains("titled")).collect();
    assert!(titled.is_empty(), "{titled:?}");
}

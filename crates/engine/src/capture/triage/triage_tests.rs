//! Triage from turns to text.

use super::*;
use crate::gate::scan::{Class, Finding as Found, Level};
use heirloom_core::Settings;
use heirloom_core::settings::{Layer, Origin, load};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::io::Write as _;

fn turn(object: Value) -> Turn {
    Turn::from_object(0, object.as_object().unwrap())
}

fn talk(text: &str) -> Conversation {
    Conversation::new(vec![Turn::said(0, Speaker::Assistant, text)])
}

fn with(document: Value) -> Settings {
    load(&[Layer { origin: Origin::Project, document }]).settings
}

fn kinds(conversation: &Conversation, settings: &Settings) -> Vec<&'static str> {
    conversation.findings(settings, &Marks::new()).iter().map(|f| f.kind).collect()
}

const TWO_DECISIONS: &str = "We decided A because B\n\nWe chose C because D";

#[test]
fn flat_and_nested_shapes_say_the_same() {
    let flat = turn(json!({"type": "human", "content": TWO_DECISIONS}));
    assert_eq!(flat.speaker, Some(Speaker::Human));
    for same in [
        json!({"type": "user", "content": TWO_DECISIONS}),
        json!({"type": "user", "message": {"content": TWO_DECISIONS}}),
        json!({"type": "user", "message": {"content": [{"type": "text", "text": TWO_DECISIONS}]}}),
        json!({"type": "response_item", "payload": {"type": "message", "role": "user",
            "content": [{"type": "input_text", "text": TWO_DECISIONS}]}}),
    ] {
        assert_eq!(turn(same.clone()), flat, "{same}");
    }
}

#[test]
fn machine_output_is_neither_text_nor_exchange() {
    for silent in [
        json!({"type": "user", "message": {"content": [{"type": "tool_result", "content": TWO_DECISIONS}]}}),
        json!({"type": "user", "isMeta": true, "message": {"content": TWO_DECISIONS}}),
        json!({"type": "assistant", "isSidechain": true, "message": {"content": TWO_DECISIONS}}),
        json!({"type": "summary", "summary": TWO_DECISIONS}),
        json!({"type": 5}),
        json!({}),
    ] {
        assert_eq!(turn(silent.clone()), Turn::default(), "{silent}");
    }
}

#[test]
fn tools_are_counted_on_their_own_line_and_inside_a_message() {
    let own = turn(json!({"type": "tool_use", "name": "Read"}));
    let inside = turn(json!({"type": "assistant", "message": {"content": [
        {"type": "thinking", "thinking": "x"}, {"type": "tool_use", "name": "Read", "input": {}}]}}));
    assert_eq!(own, inside);
    assert_eq!(own.tools, ["Read"]);
    let call = turn(json!({"type": "response_item", "payload": {"type": "function_call", "name": "Read"}}));
    assert_eq!(call, own);
}

#[test]
fn scores_are_compared_unrounded() {
    let once = talk("We decided X");
    let at = |threshold: f64| {
        kinds(&once, &with(json!({"triage": {"thresholds": {"decision": threshold}}}))).contains(&"decision")
    };
    assert!(at(0.3 / 1.9));
    assert!(!at(0.15789473684210528));
}

#[test]
fn a_category_that_is_off_or_not_captured_is_not_reported() {
    let settings = Settings::standard();
    assert_eq!(kinds(&talk(TWO_DECISIONS), &settings), ["decision"]);
    for switch in ["enabled", "auto_capture"] {
        let settings = with(json!({"categories": {"decision": {switch: false}}}));
        assert!(kinds(&talk(TWO_DECISIONS), &settings).is_empty());
    }
}

#[test]
fn what_an_earlier_block_reported_is_not_scored_again() {
    let settings = Settings::standard();
    let turns = |more: &str| {
        Conversation::new(vec![
            Turn::said(0, Speaker::Human, TWO_DECISIONS),
            Turn { start: 60, tools: vec!["Read".into(); 12], ..Turn::default() },
            Turn::said(100, Speaker::Assistant, more),
        ])
    };
    let reported = Marks::from([("decision".to_owned(), 100), ("session_summary".to_owned(), 100)]);
    assert_eq!(kinds(&turns("fine"), &settings), ["decision", "session_summary"]);
    assert!(turns("fine").findings(&settings, &reported).is_empty());
    let again = turns(TWO_DECISIONS).findings(&settings, &reported);
    assert_eq!(again.iter().map(|f| f.kind).collect::<Vec<_>>(), ["decision"]);
    assert!((again[0].score - 1.0 / 1.9).abs() < 1e-12);
    // What was below its threshold then may still add up.
    let failing = Conversation::new(vec![
        Turn::said(0, Speaker::Human, "It failed, root cause X"),
        Turn::said(100, Speaker::Human, "\n\n\n\n\nIt failed, root cause Y"),
    ]);
    assert_eq!(failing.findings(&settings, &reported)[0].kind, "runbook");
}

#[test]
fn nothing_the_scanner_found_is_shown() {
    let secret = "hunter2hunter2";
    let mut conversation = talk(&format!("We decided {secret} because\nkey\nWe chose {secret} because"));
    let findings: Vec<Found> = conversation
        .text()
        .match_indices(secret)
        .map(|(at, _)| Found {
            class: Class::Secret,
            level: Level::Definite,
            rule: "test".into(),
            span: at..at + secret.len(),
        })
        .collect();
    conversation.redact(&findings);
    let settings = Settings::standard();
    let found = conversation.findings(&settings, &Marks::new());
    let file = context_text(&conversation, &found[0]);
    let pointers = [Pointer { finding: &found[0], context_file: None }];
    let text = reply_text(&conversation, &pointers, &settings, None);
    for shown in [&file, &text] {
        assert!(!shown.contains("hunter2"), "{shown}");
        assert!(shown.contains("[SECRET_REDACTED]"), "{shown}");
    }
}

#[test]
fn a_finding_over_several_lines_hides_every_one_of_them() {
    let mut conversation = talk("We decided a\nBEGIN\nmiddle\nEND because\nWe chose b because");
    let start = conversation.text().find("BEGIN").unwrap();
    let end = conversation.text().find(" because").unwrap();
    conversation.redact(&[Found {
        class: Class::Secret,
        level: Level::Definite,
        rule: "test".into(),
        span: start..end,
    }]);
    let found = conversation.findings(&Settings::standard(), &Marks::new());
    let file = context_text(&conversation, &found[0]);
    assert!(!file.contains("middle") && file.contains("We decided a\n[SECRET_REDACTED]\n"), "{file}");
}

#[test]
fn a_description_cannot_close_the_data_block() {
    let settings = with(json!({"categories": {"decision": {"description": "x </triage_data> y"}}}));
    let conversation = talk(TWO_DECISIONS);
    let found = conversation.findings(&settings, &Marks::new());
    let pointers = [Pointer { finding: &found[0], context_file: None }];
    let text = reply_text(&conversation, &pointers, &settings, None);
    assert_eq!(text.matches("</triage_data>").count(), 1);
    let block = text.split("<triage_data>").nth(1).unwrap().split("</triage_data>").next().unwrap();
    let data: Value = serde_json::from_str(block).unwrap();
    assert_eq!(data["categories"][0]["description"], "x </triage_data> y");
}

fn transcript(text: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text).unwrap();
    file
}

#[test]
fn the_window_is_the_last_objects_of_any_type() {
    let lines = "{\"type\":\"human\",\"content\":\"one\"}\nnot json\n[1]\n\n{\"type\":\"x\"}\n{\"type\":\"human\",\"content\":\"two\"}";
    let file = transcript(lines.as_bytes());
    let read = |count| tail::read(file.path(), count).unwrap();
    assert_eq!(read(1).turns.len(), 1);
    assert_eq!(read(2).turns[0], Turn { start: read(2).turns[0].start, ..Turn::default() });
    let all = read(10);
    assert_eq!(all.turns.len(), 3);
    assert_eq!((all.turns[0].start, all.size), (0, lines.len() as u64));
    assert_eq!(all.turns[2].texts, ["two"]);
    assert_eq!(&lines[all.turns[2].start as usize..][..7], "{\"type\"");
}

#[test]
fn half_a_surrogate_pair_or_a_stray_byte_does_not_cost_the_line() {
    let mut bytes = br#"{"type":"human","content":"cut \ud83d, whole \ud83d\ude80, slash \\ud83d"}"#.to_vec();
    bytes.extend_from_slice(b"\n{\"type\":\"human\",\"content\":\"\xff\"}\n");
    let turns = tail::read(transcript(&bytes).path(), 10).unwrap().turns;
    assert_eq!(turns[0].texts, ["cut \u{fffd}, whole \u{1f680}, slash \\ud83d"]);
    assert_eq!(turns[1].texts, ["\u{fffd}"]);
}

#[test]
fn a_line_too_long_to_hold_counts_and_says_nothing() {
    let mut text = "{\"type\":\"human\",\"content\":\"a\"}\n{\"type\":\"human\",\"content\":\"".to_owned();
    text.push_str(&"decided because ".repeat(400_000));
    text.push_str("\"}\n{\"type\":\"human\",\"content\":\"b\"}\n");
    let turns = tail::read(transcript(text.as_bytes()).path(), 2).unwrap().turns;
    assert_eq!((turns.len(), turns[0].texts.len(), turns[1].texts.len()), (2, 0, 1));
    assert_eq!(tail::read(transcript(text.as_bytes()).path(), 3).unwrap().turns[0].texts, ["a"]);
}

proptest! {
    #[test]
    fn reading_from_the_end_is_reading_everything(
        lines in proptest::collection::vec("[ -~]{0,20}|\\{\\}|\\{\"type\":\"human\",\"content\":\"[a-z]{0,9}\"\\}", 0..40),
        count in 1usize..50,
        ends in any::<bool>(),
    ) {
        let mut text = lines.join("\n");
        if ends { text.push('\n'); }
        let mut expected: Vec<Turn> = Vec::new();
        let mut at = 0;
        for line in text.split('\n') {
            if let Ok(Value::Object(object)) = serde_json::from_str(line) {
                expected.push(Turn::from_object(at, &object));
            }
            at += line.len() as u64 + 1;
        }
        let from = expected.len().saturating_sub(count);
        let read = tail::read(transcript(text.as_bytes()).path(), count).unwrap();
        prop_assert_eq!(&read.turns[..], &expected[from..]);
    }

    #[test]
    fn no_text_breaks_triage(text in ".{0,400}", threshold in 0.0f64..1.0) {
        let names = ["decision", "runbook", "constraint", "tech_debt", "preference", "session_summary"];
        let thresholds: serde_json::Map<String, Value> =
            names.iter().map(|n| ((*n).to_owned(), json!(threshold))).collect();
        let settings = with(json!({"triage": {"thresholds": thresholds}}));
        let conversation = talk(&text);
        for finding in conversation.findings(&settings, &Marks::new()) {
            prop_assert!(finding.score >= threshold && finding.score <= 1.0);
            let file = context_text(&conversation, &finding);
            prop_assert_eq!(file.matches("</transcript_data>").count(), 1);
        }
    }
}

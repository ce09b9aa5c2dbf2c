use super::*;
use crate::capture::capture_notes;
use heirloom_core::Settings;
use proptest::prelude::*;
use serde_json::json;

fn turns_of(text: &str) -> Vec<Turn> {
    Turns::new(text.as_bytes(), Limits::default()).collect()
}

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

fn texts(turns: &[Turn]) -> Vec<&str> {
    turns.iter().map(|turn| turn.text.as_str()).collect()
}

#[test]
fn a_claude_code_session_gives_its_messages_without_reasoning_or_machinery() {
    let at = "2025-06-01T08:30:00.000Z";
    let block = |id: &str, block: Value| {
        json!({"type": "assistant", "sessionId": "s-1", "timestamp": at, "uuid": "u",
            "message": {"role": "assistant", "id": id, "content": [block]}})
    };
    let text = lines(&[
        json!({"type": "summary", "summary": "x", "leafUuid": "y"}),
        json!({"type": "file-history-snapshot", "messageId": "m"}),
        json!({"type": "user", "sessionId": "s-1", "timestamp": at, "isMeta": true, "message": {"role": "user", "content": "caveat"}}),
        json!({"type": "user", "sessionId": "s-1", "timestamp": at, "message": {"role": "user", "content": "Fix the importer"}}),
        block("m1", json!({"type": "thinking", "thinking": "private\nthoughts", "signature": "x"})),
        block("m1", json!({"type": "redacted_thinking", "data": "x"})),
        block("m1", json!({"type": "text", "text": "I will look."})),
        block(
            "m1",
            json!({"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "/p/src/a.ts"}}),
        ),
        json!({"type": "user", "sessionId": "s-1", "timestamp": at,
            "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "a\nb"}]}}),
        json!({"type": "assistant", "sessionId": "s-1", "isSidechain": true, "timestamp": at,
            "message": {"role": "assistant", "content": [{"type": "text", "text": "sub\nagent"}]}}),
        block("m2", json!({"type": "text", "text": "Done.\nIt retries now."})),
        block("m2", json!({"type": "text", "text": "One more thing."})),
    ]);
    let turns = turns_of(&text);
    assert_eq!(
        texts(&turns),
        ["Fix the importer", "I will look.", "Done.\nIt retries now.\nOne more thing."]
    );
    assert_eq!(turns[1].files, ["/p/src/a.ts"]);
    assert!(turns.iter().all(|turn| turn.session.as_deref() == Some("s-1") && turn.at == time::parse(at)));
}

#[test]
fn older_descriptions_of_the_format_are_read_too() {
    let turns = turns_of(&lines(&[
        json!({"type": "human", "content": "Fix it"}),
        json!({"type": "assistant", "content": [{"type": "text", "text": "Done"}]}),
        json!({"type": "tool_use", "name": "Edit", "input": {"file_path": "a.ts"}}),
    ]));
    assert_eq!(texts(&turns), ["Fix it", "Done", ""]);
    assert_eq!((turns[0].role, turns[2].role), (Role::User, Role::Assistant));
    assert_eq!(turns[2].files, ["a.ts"]);
}

#[test]
fn a_codex_rollout_gives_its_messages_once() {
    let item = |payload: Value| json!({"timestamp": "2025-06-01T08:30:00.123Z", "type": "response_item", "payload": payload});
    let patch =
        "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n+y\n*** Add File: src/b.rs\n+z\n*** End Patch";
    let turns = turns_of(&lines(&[
        json!({"timestamp": "2025-06-01T08:29:00Z", "type": "session_meta", "payload": {"id": "c-1", "cwd": "/p"}}),
        item(
            json!({"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "rules"}]}),
        ),
        item(
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<environment_context>\n<cwd>/p</cwd>"}]}),
        ),
        item(
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fix it"}]}),
        ),
        json!({"timestamp": "2025-06-01T08:30:00Z", "type": "event_msg", "payload": {"type": "user_message", "message": "Fix it"}}),
        item(
            json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "private"}], "content": null}),
        ),
        item(json!({"type": "custom_tool_call", "name": "apply_patch", "input": patch, "call_id": "c"})),
        item(
            json!({"type": "function_call", "name": "shell", "arguments": "{\"command\":[\"ls\"]}", "call_id": "d"}),
        ),
        item(json!({"type": "function_call_output", "call_id": "d", "output": "a\nb"})),
        item(
            json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done\nand tested"}]}),
        ),
        json!({"timestamp": "2025-06-01T08:30:00Z", "type": "event_msg", "payload": {"type": "agent_message", "message": "Done\nand tested"}}),
    ]));
    assert_eq!(texts(&turns), ["Fix it", "", "Done\nand tested"]);
    assert_eq!(turns[1].files, ["src/a.rs", "src/b.rs"]);
    assert_eq!(turns[2].session.as_deref(), Some("c-1"));
    assert_eq!(turns[2].at, time::parse("2025-06-01T08:30:00.123Z"));
    let bare = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "old\nstyle"}]});
    assert_eq!(texts(&turns_of(&lines(&[bare]))), ["old\nstyle"]);
}

#[test]
fn broken_half_written_and_endless_lines_cost_only_themselves() {
    let good = json!({"type": "assistant", "message": {"content": "one\ntwo"}}).to_string();
    let long = json!({"type": "assistant", "message": {"content": "x".repeat(5000)}}).to_string();
    let text = format!("{{oops\n\n[1]\n{long}\n{good}\n{}", &good[..good.len() - 3]);
    let limits = Limits { line_bytes: 1000, total_bytes: 1 << 20 };
    let mut turns = Turns::new(text.as_bytes(), limits);
    assert_eq!(turns.by_ref().map(|turn| turn.text).collect::<Vec<_>>(), ["one\ntwo"]);
    assert_eq!((turns.left_out(), turns.cut_short()), (4, false));
    let endless = format!("{good}\n").repeat(100);
    let limits = Limits { line_bytes: 1000, total_bytes: 500 };
    let mut turns = Turns::new(std::io::BufReader::with_capacity(64, endless.as_bytes()), limits);
    let count = turns.by_ref().count();
    assert!(count > 0 && count < 100 && turns.cut_short());
}

#[test]
fn a_compressed_transcript_is_named_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rollout.jsonl.zst");
    std::fs::write(&path, [0x28, 0xb5, 0x2f, 0xfd, 0, 0]).unwrap();
    assert!(open(&path, Limits::default()).unwrap_err().next_step().contains("zstd"));
    assert!(open(folder.path(), Limits::default()).is_err());
    std::fs::write(&path, "{\"type\":\"user\",\"message\":{\"content\":\"hi\"}}\n").unwrap();
    assert_eq!(open(&path, Limits::default()).unwrap().count(), 1);
}

#[test]
fn the_end_of_a_transcript_can_be_read_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let say = |n: usize| json!({"type": "assistant", "message": {"content": format!("answer {n}")}});
    std::fs::write(&path, lines(&(0..100).map(say).collect::<Vec<_>>())).unwrap();
    let last: Vec<Turn> = open_tail(&path, 150, Limits::default()).unwrap().collect();
    assert_eq!(texts(&last), ["answer 98", "answer 99"]);
    assert_eq!(open_tail(&path, 1 << 20, Limits::default()).unwrap().count(), 100);
}

#[test]
fn only_assistant_messages_of_several_lines_become_drafts() {
    let say = |role: &str, text: &str, at: &str| json!({"type": role, "timestamp": at, "message": {"content": text}});
    let text = lines(&[
        say("user", "a question\nof two lines", "2025-06-01T08:00:00Z"),
        say("assistant", "one line", "2025-06-01T08:01:00Z"),
        say("assistant", "one line\n\n   \n", "2025-06-01T08:02:00Z"),
        say("assistant", "the storage layer\ncaches pages", "2025-06-01T08:03:00Z"),
        json!({"type": "assistant", "message": {"content": "no time\nof its own"}}),
        say("assistant", &"long\n".repeat(30_000), "2025-06-01T08:05:00Z"),
    ]);
    let rules = Settings::standard().notes;
    let now = time::parse("2026-01-01").unwrap();
    let found = capture_notes(turns_of(&text), &rules, now);
    assert_eq!((found.single_line, found.too_long, found.drafts.len()), (2, 1, 2));
    assert_eq!(found.drafts[0].applies_to.value(), "area:storage");
    assert_eq!(found.drafts[1].occurred_at.stored(), "2025-06-01T08:03:00Z");
    let last = found.clone().newest(1);
    assert_eq!(last.drafts[0], found.drafts[1]);
}

proptest! {
    #[test]
    fn no_transcript_makes_the_reader_panic(text in "(\\PC|\n){0,300}", key in "type|message|payload|content", inner in "\\PC{0,20}") {
        let _ = turns_of(&text);
        let mut line = json!({"type": "assistant", "message": {"content": [{"type": "text", "text": inner.clone()}]}});
        line[key.as_str()] = json!(inner);
        let _ = turns_of(&line.to_string());
        let mut line = json!({"type": "response_item", "payload": {"type": "message", "role": "assistant", "content": []}});
        line[key.as_str()] = json!([inner]);
        let _ = turns_of(&line.to_string());
    }
}

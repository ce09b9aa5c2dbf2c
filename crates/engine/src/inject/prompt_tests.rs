//! The block of a prompt: its labels, its budget, its fence.

use super::*;
use crate::project::{Project, World};
use crate::recall::title_tags::Hit;
use heirloom_core::{Kind, Memory, MemoryId, Scope, Settings, Source, Status, Trust};
use proptest::prelude::*;

fn call() -> Call {
    let world = World {
        now: "2026-01-10T09:00:00Z".parse().unwrap(),
        data: "/nonexistent/data".into(),
        nonce: "0".repeat(32),
        user: "tester".to_owned(),
    };
    let folder = std::path::Path::new("/nonexistent/project");
    Call::new(Project::new(folder, &folder.join(".claude/memory"), world), Settings::standard())
}

fn beside(title: &str, body: &str) -> Beside {
    let memory = Memory {
        id: MemoryId::new(&Kind::Note, "x"),
        kind: Kind::Note,
        title: title.to_owned(),
        body: body.to_owned(),
        tags: Vec::new(),
        applies_to: Vec::new(),
        scope: Scope::Global,
        owner: None,
        source: Source::AiInference,
        trust: Trust::Low,
        status: Status::Active,
        version: String::new(),
        occurred_at: Some("2026-01-10T09:00:00Z".to_owned()),
        created_at: None,
        updated_at: None,
        expires_at: None,
        content_hash: String::new(),
        confidence: None,
        path: Some(".claude/memory/notes/x.md".to_owned()),
        fields: serde_json::Map::new(),
    };
    Beside { memory, why: String::new(), cited: None }
}

fn hit() -> Hit {
    Hit {
        label: "DECISION".to_owned(),
        title: "Use PostgreSQL".to_owned(),
        path: ".claude/memory/decisions/p.json".to_owned(),
        tags: Vec::new(),
        score: 2,
        why: crate::recall::title_tags::Why::default(),
        cited: None,
    }
}

#[test]
fn with_nothing_but_records_it_is_exactly_their_block() {
    let call = call();
    let called = Called { records: vec![hit()], ..Called::default() };
    assert_eq!(prompt_block(&call, &called, 6_000), records_block(&call, &called.records, 6_000));
    assert_eq!(prompt_block(&call, &called, 10), "", "records keep to the budget like everything else");
    assert_eq!(prompt_block(&call, &Called::default(), 6_000), "");
}

#[test]
fn other_shelves_follow_in_sections_that_say_what_they_are() {
    let called = Called {
        records: vec![hit()],
        notes: vec![beside("The worker leaks", "The worker leaks\nRestart it nightly.")],
        lessons: vec![beside("Lost commits", "Use reflog.")],
        vault: "## Long-Term Memory Context\n\n### Canon\n- mission\n".to_owned(),
    };
    assert_eq!(
        prompt_block(&call(), &called, 6_000),
        "<memory-context source=\".claude/memory/\">\n\
         - [DECISION] Use PostgreSQL -> .claude/memory/decisions/p.json\n\
         Notes (what an assistant said here, word for word):\n\
         - (2026-01-10, trust low, ai_inference) The worker leaks: Restart it nightly. -> .claude/memory/notes/x.md\n\
         Lessons (what went wrong here and how it was fixed):\n\
         - (2026-01-10, trust low, ai_inference) Lost commits: Use reflog. -> .claude/memory/notes/x.md\n\
         ## Long-Term Memory Context\n\n### Canon\n- mission\n\
         </memory-context>\n"
    );
}

#[test]
fn what_finds_no_room_leaves_no_empty_fence() {
    let called = Called { notes: vec![beside("t", "b")], ..Called::default() };
    assert_eq!(prompt_block(&call(), &called, 80), "");
}

proptest! {
    #[test]
    fn no_text_leaves_the_fence_or_the_budget(
        texts in prop::collection::vec("(\\PC|\n|</memory-context>|<|&|\u{2028}){0,400}", 1..5),
        max in 60usize..2_000,
    ) {
        let called = Called {
            notes: texts.iter().map(|text| beside(text, text)).collect(),
            lessons: texts.iter().map(|text| beside("t", text)).collect(),
            ..Called::default()
        };
        let block = prompt_block(&call(), &called, max);
        prop_assert!(block.chars().count() <= max);
        prop_assert!(block.is_empty() || block.matches("</").count() == 1);
        let starts = ["<memory", "</memory", "Notes (", "Lessons (", "- ("];
        prop_assert!(block.split_inclusive('\n').all(|line| starts.iter().any(|start| line.starts_with(start))));
    }
}

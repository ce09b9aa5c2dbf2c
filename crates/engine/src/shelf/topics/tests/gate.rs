//! What may become a lesson.

use super::*;
use crate::gate::scan::seed::words::BLOCKED as PATTERNS;
use crate::shelf::{Listing, Shelf};
use heirloom_core::Code;

fn seed() -> Value {
    json!({ "gate": { "profile": "seed" } })
}

#[test]
fn under_seed_each_of_the_thirteen_patterns_is_refused_in_any_case_and_field() {
    let desk = Desk::new();
    let call = desk.engine_with(seed());
    let topics = Topics::new(&call);
    assert_eq!(PATTERNS.len(), 13);
    for pattern in PATTERNS {
        for text in [pattern.to_owned(), pattern.to_uppercase(), format!("about {pattern}x")] {
            for field in 0..5 {
                let mut entry = Lesson::new("2026-01-15".parse().unwrap(), "Plain");
                entry.problem = "plain".into();
                // A pattern that ends in a space is found inside a text, not at its trimmed end.
                let text = format!("{text} x");
                let slot = [
                    &mut entry.title,
                    &mut entry.context,
                    &mut entry.problem,
                    &mut entry.solution,
                    &mut entry.code,
                ];
                *slot.into_iter().nth(field).unwrap() = text.clone();
                let fault = topics.store("a", "b", entry, person()).expect_err(&text);
                assert_eq!(fault.code, Code::GateRefused);
                assert_eq!(fault.message, "Security violation: Cannot store sensitive data");
                assert!(fault.next_step().contains("location or method"));
            }
        }
    }
    assert_eq!(topics.list(&Listing::everything()).unwrap(), []);
    let mut clean = Lesson::new("2026-01-15".parse().unwrap(), "Plain");
    clean.problem = "nothing of note".into();
    topics.store("a", "b", clean, person()).unwrap();
}

#[test]
fn the_standard_profile_looks_for_secrets_not_for_words() {
    let desk = Desk::new();
    let call = desk.call();
    let topics = Topics::new(&call);
    let mut words = lesson("2026-01-15", "Primary key and keyboard");
    words.problem = "the token bucket of task-runner had no password field".into();
    topics.store("a", "b", words, person()).unwrap();
    let secret = format!("gh{}_{}", "p", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6");
    let mut leak = lesson("2026-01-15", &secret);
    leak.title = secret.clone();
    assert_eq!(topics.store("a", "b", leak, person()).unwrap_err().code, Code::GateRefused);
    assert!(topics.store(&secret, "b", lesson("2026-01-15", "x"), person()).is_err());
    let local = desk.path().join("project/.claude/memory/.local/audit.jsonl");
    let audit = read(&local).to_lowercase();
    assert!(!audit.contains(&secret[4..].to_lowercase()), "a refused title or name does not reach the audit");
}

#[test]
fn what_reached_a_file_without_the_gate_is_held_back_and_named() {
    let desk = Desk::new();
    let call = desk.call();
    let topics = Topics::new(&call);
    topics.store("git", "b", lesson("2026-01-15", "Rebase trouble"), person()).unwrap();
    let path = desk.topics_folder().join("git/b.md");
    let secret = format!("gh{}_{}", "p", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6");
    let text = format!("{}\n## 2026-01-16: Rebase leak\n**Problem:** {secret}\n---\n", read(&path));
    std::fs::write(&path, text).unwrap();
    let hits = topics.search("rebase", 10).unwrap();
    assert_eq!(hits.len(), 1);
    assert!(!topics.brief("rebase").unwrap().text.contains(&secret));
    assert_eq!(topics.load("git", None).unwrap().len(), 1);
    let problems = topics.verify().unwrap();
    assert!(
        problems.iter().any(|p| p.code == "GATE_REFUSED" && !p.message.contains(&secret)),
        "{problems:?}"
    );
}

#[test]
fn shape_is_checked_and_reserved_names_are_no_topics() {
    let desk = Desk::new();
    let call = desk.call();
    let topics = Topics::new(&call);
    let code = |topic: &str, subtopic: &str| {
        topics.store(topic, subtopic, lesson("2026-01-15", "x"), person()).unwrap_err().code
    };
    for topic in
        ["archive", "Archive", "index", "INDEX.md", "", " ", "../up", "a/b", ".hidden", "a\\b", "***"]
    {
        assert_eq!(code(topic, "x"), Code::Validation, "{topic}");
    }
    assert_eq!(code("git", "../../x"), Code::Validation);
    assert_eq!(code("git", "index"), Code::Validation);
    assert_eq!(code("git", &"x".repeat(200)), Code::Validation);
    let untitled = Lesson { title: " \n ".into(), ..lesson("2026-01-15", "x") };
    assert_eq!(topics.store("a", "b", untitled, person()).unwrap_err().get("field"), Some("title"));
    let empty = Lesson::new("2026-01-15".parse().unwrap(), "x");
    assert_eq!(topics.store("a", "b", empty, person()).unwrap_err().get("field"), Some("problem"));
    let done = topics.store("Build Tools", "Größe & CI", lesson("2026-01-15", "日本語"), person()).unwrap();
    assert!(done.id.as_str().starts_with("lesson:build-tools/größe-ci#2026-01-15-t-"), "{}", done.id);
    assert!(topics.get(&done.id).unwrap().is_some());
}

//! Notes through the command line: ids, subjects, twins without a time, files that do not validate, filters that fit nothing.

use crate::env::{Ran, TestEnv};
use serde_json::json;

const BAD: &str = "notes/550e8400-e29b-41d4-a716-446655440000.md";

fn ready() -> TestEnv {
    let env = TestEnv::new();
    env.run(&["init"]).ok();
    env
}

fn bad_note(env: &TestEnv, keywords: &str) {
    env.write(
        env.memory(BAD),
        format!(
            "---\nid: 550e8400-e29b-41d4-a716-446655440000\nsubject: Errors\nkeywords: {keywords}\napplies_to: global\n\
             occurred_at: 2025-01-15T10:30:00Z\n---\n\nAll errors are values here.\n"
        ),
    );
}

fn names_it(ran: &Ran) -> usize {
    ran.stderr.lines().filter(|line| line.contains(BAD) && line.contains("skipped")).count()
}

#[test]
fn a_note_that_does_not_validate_is_named_by_every_command_that_passes_it_over() {
    for strategy in ["title_tags", "hybrid"] {
        let env = ready();
        env.run(&["config", "set", "retrieval.match_strategy", strategy]).ok();
        bad_note(&env, "[]");
        for args in [
            &["list"][..],
            &["search", "errors"],
            &["search", "errors", "--json"],
            &["note", "list"],
            &["note", "session"],
            &["status"],
            &["review"],
            &["recall", "how are errors handled here"],
        ] {
            for _ in 0..2 {
                let ran = env.run(args).ok();
                let named = if args[0] == "recall" && strategy == "title_tags" {
                    names_it(&ran).max(1)
                } else {
                    names_it(&ran)
                };
                assert_eq!(named, 1, "{args:?} {strategy}: {ran:?}");
            }
        }
        let status = env.run(&["status", "--json"]).ok().json();
        assert_eq!(status["passed_over"][0]["code"], "VALIDATION_ERROR", "{status}");
        assert!(status["waiting_for_review"].as_u64().unwrap() >= 1);
        assert!(env.run(&["status"]).ok().stdout.contains(BAD));
        assert!(env.run(&["review"]).ok().stdout.contains(BAD));
        assert!(env.run(&["doctor"]).stdout.contains(BAD));
        bad_note(&env, "[errors]");
        let list = env.run(&["list"]).ok();
        assert!(names_it(&list) == 0 && list.stdout.contains("Errors"), "{list:?}");
        assert_eq!(names_it(&env.run(&["search", "errors"]).ok()), 0, "once it is right nobody names it");
    }
}

#[test]
fn a_file_that_is_no_note_at_all_is_named_too() {
    let env = ready();
    env.write(env.memory(BAD), "just words");
    assert_eq!(names_it(&env.run(&["list"]).ok()), 1);
    assert_eq!(names_it(&env.run(&["verify"])), 0, "verify has said it already");
}

#[test]
fn a_subject_is_one_line_however_it_is_given() {
    let env = ready();
    env.run(&["add", "note", "What we saw\nand what it meant", "--title", "two\nlines\r\nof it"]).ok();
    env.run(&["add", "note", "First\u{2028}part of a line\nand the rest of it"]).ok();
    let fields = json!({ "subject": "from\nfields", "keywords": ["k"], "applies_to": "global",
        "content": "A message that is long enough" });
    env.run_with(&["add", "note", "--from", "-"], fields.to_string().as_bytes()).ok();
    let turn = json!({ "type": "assistant", "timestamp": "2026-01-01T00:00:00Z",
        "content": "Carriage\rreturns in a line\nand a second one" });
    let file = env.scratch().join("t.jsonl");
    std::fs::write(&file, format!("{turn}\n")).unwrap();
    env.run(&["import", file.to_str().unwrap()]).ok();
    let listed = env.run(&["list", "--kind", "note", "--json"]).ok().items();
    let mut titles: Vec<&str> =
        listed.as_array().unwrap().iter().map(|m| m["title"].as_str().unwrap()).collect();
    titles.sort_unstable();
    assert_eq!(
        titles,
        ["Carriage returns in a line", "First part of a line", "from fields", "two lines of it"]
    );
    // A file with more is read and kept.
    let text = "---\nid: 6ba7b810-9dad-41d1-80b4-00c04fd430c8\nsubject: \"one\\ntwo\"\nkeywords: [k]\napplies_to: global\n\
        occurred_at: 2025-01-15T10:30:00Z\n---\n\nA message that is long enough\n";
    let path = env.write(env.memory("notes/6ba7b810-9dad-41d1-80b4-00c04fd430c8.md"), text);
    let note = env.run(&["show", "note:6ba7b810-9dad-41d1-80b4-00c04fd430c8", "--json"]).ok().json();
    assert_eq!(note["title"], "one\ntwo");
    assert_eq!(std::fs::read_to_string(path).unwrap(), text);
}

#[test]
fn an_answer_without_a_time_is_kept_once_however_many_stops_see_it() {
    let env = ready();
    env.at_terminal(&["config", "set", "notes.capture", "true"], "").ok();
    let answer = |text: &str| json!({ "type": "assistant", "content": text }).to_string();
    let file = env.scratch().join("t.jsonl");
    let one = answer("The queue worker was stuck.\nRestarting it helped.");
    let two = answer("The cache was cold.\nWarming it helped.");
    let stop = |lines: &[&String]| {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&file, text).unwrap();
        let event = json!({ "transcript_path": file, "session_id": "s", "cwd": env.project() });
        env.run_with(&["hook", "stop"], event.to_string().as_bytes());
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    stop(&[&one]);
    stop(&[&one]);
    stop(&[&one, &two, &one]);
    let notes = env.run(&["list", "--kind", "note", "--json"]).ok().items();
    assert_eq!(notes.as_array().unwrap().len(), 2, "{notes}");
    // What was forgotten does not come back with the next stop either.
    let id = notes[0]["id"].as_str().unwrap();
    env.at_terminal(&["forget", id, "--yes"], "").ok();
    stop(&[&one, &two]);
    assert_eq!(env.run(&["list", "--kind", "note", "--json"]).ok().items().as_array().unwrap().len(), 1);
}

#[test]
fn ids_are_random_and_a_message_is_still_kept_once() {
    let ids: Vec<String> = (0..2)
        .map(|_| {
            let env = ready();
            let args = [
                "add",
                "note",
                "The importer retries\nthree times",
                "--at",
                "2026-01-01T00:00:00Z",
                "--json",
            ];
            let id = env.run(&args).ok().json()["id"].as_str().unwrap().to_owned();
            let again = env.run(&args).ok().json();
            assert_eq!((&again["id"], &again["status"]), (&id.as_str().into(), &"already_there".into()));
            env.at_terminal(&["forget", &id, "--yes"], "").ok();
            env.run(&args).fails_with("ANTI_RESURRECTION_ERROR", 1);
            let marks = std::fs::read_to_string(env.memory("provenance.jsonl")).unwrap();
            assert!(!marks.contains(id.trim_start_matches("note:")), "{marks}");
            let names = std::fs::read_to_string(env.memory(".local/note-names")).unwrap();
            assert!(!names.contains(id.trim_start_matches("note:")), "{names}");
            id
        })
        .collect();
    assert_ne!(ids[0], ids[1]);
    let digits = ids[0].trim_start_matches("note:").as_bytes();
    assert_eq!(digits[14], b'4');
    assert!(b"89ab".contains(&digits[19]));
}

#[test]
fn tags_ignore_case_in_a_search_and_a_list_and_a_filter_that_fits_nothing_says_so() {
    let env = ready();
    env.run(&["add", "note", "The importer retries\nthree times", "--tag", "Importer"]).ok();
    for strategy in ["title_tags", "hybrid"] {
        env.run(&["config", "set", "retrieval.match_strategy", strategy]).ok();
        for tag in ["tag:importer", "tag:IMPORTER", "tag:Importer"] {
            assert_eq!(
                env.run(&["search", tag, "--json"]).ok().items().as_array().unwrap().len(),
                1,
                "{tag}"
            );
        }
        let nothing = env.run(&["search", "importer", "tag:nowhere"]).ok();
        assert!(nothing.stderr.contains("tag:nowhere"), "{nothing:?}");
    }
    for tag in ["importer", "IMPORTER", "Importer"] {
        assert_eq!(
            env.run(&["list", "--tag", tag, "--json"]).ok().items().as_array().unwrap().len(),
            1,
            "{tag}"
        );
    }
    let exact = env.run(&["note", "list", "--keyword", "importer"]).ok();
    assert!(exact.stdout.is_empty() && exact.stderr.contains("`Importer`"), "{exact:?}");
    let none = env.run(&["note", "list", "--keyword", "nowhere"]).ok();
    assert!(none.stderr.contains("no note has the keyword `nowhere`"), "{none:?}");
}

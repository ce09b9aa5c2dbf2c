//! Importing and exporting every native format.

use crate::env::TestEnv;
use crate::shelves::{asked, four, secret};
use serde_json::{Value, json};

fn shelf<'a>(report: &'a Value, name: &str) -> &'a Value {
    report["shelves"].as_array().unwrap().iter().find(|s| s["shelf"] == name).unwrap_or(&Value::Null)
}

fn new_on(report: &Value, name: &str) -> usize {
    shelf(report, name)["new"].as_array().map_or(0, Vec::len)
}

/// A folder of everything that can be imported, and some things that cannot.
fn treasure(env: &TestEnv) -> String {
    let at = |rest: &str| format!("../scratch/old/{rest}");
    let decision = |title: &str, extra: Value| {
        let mut document = json!({ "title": title, "category": "decision", "tags": ["x"], "created_at": "2025-01-01T00:00:00Z",
            "updated_at": "2025-02-01T00:00:00Z", "schema_version": "1.0", "record_status": "active",
            "content": { "status": "accepted", "context": "c", "decision": title, "rationale": ["r"] } });
        document.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        document.to_string()
    };
    env.write(at(".claude/memory/decisions/one.json"), decision("One", json!({})));
    env.write(
        at(".claude/memory/decisions/two.json"),
        decision("Two", json!({ "record_status": "archived" })),
    );
    env.write(
        at(".claude/memory/decisions/three.json"),
        decision("Three", json!({ "record_status": "retired" })),
    );
    env.write(at(".claude/memory/decisions/bad.json"), decision(&format!("Token {}", secret()), json!({})));
    env.write(at(".claude/memory/decisions/odd.json"), decision("Odd", json!({ "category": "poem" })));
    env.write(at(".claude/memory/index.md"), "# Memory Index\n");
    env.write(at(".claude/memory/.local/audit.jsonl"), "{}\n");
    let entries: String = (1..=12)
        .rev()
        .map(|day| {
            format!("## 2025-03-{day:02}: Day {day}\n**Problem:** p{day}\n**Solution:** s{day}\n---\n\n")
        })
        .collect();
    env.write(at("topics/git/rebase.md"), format!("# git\n\nsome words of my own\n\n{entries}"));
    env.write(at("topics/archive/git/2024.md"),
        "# old\n\n## 2024-05-01: Old one\n**Subtopic:** rebase\n**Solution:** s\n---\n\n## 2024-04-01: Gone\n**Subtopic:** rebase\n**Retired:** 2024-06-01 wrong\n**Solution:** s\n---\n");
    env.write(at("notes/550e8400-e29b-41d4-a716-446655440000.md"),
        "---\nid: 550e8400-e29b-41d4-a716-446655440000\nsubject: A note\nkeywords:\n  - note\napplies_to: global\noccurred_at: 2025-01-10T09:00:00Z\n---\n\nA message of\ntwo lines.\n");
    env.write(
        at("notes/broken.md"),
        "---\nid: nonsense\noccurred_at: 2025-01-10T09:00:00Z\n---\n\nbody text here\n",
    );
    env.write(at("vault.jsonl"),
        "{\"id\": \"aaaaaaaaaaaa\", \"version\": 2, \"tier\": \"canon\", \"scope\": \"shared\", \"text\": \"Calm software\"}\nnot json\n");
    let claude = [
        json!({ "type": "user", "sessionId": "s", "timestamp": "2025-04-01T10:00:00Z", "message": { "role": "user", "content": "please\nhelp" } }),
        json!({ "type": "assistant", "timestamp": "2025-04-01T10:00:05Z", "message": { "id": "m1", "role": "assistant",
            "content": [{ "type": "thinking", "thinking": "private thoughts\nof several lines" }, { "type": "text", "text": "Do this first.\nThen that." }] } }),
        json!({ "type": "assistant", "timestamp": "2025-04-01T10:00:09Z", "message": { "id": "m2", "role": "assistant",
            "content": [{ "type": "text", "text": "Done." }] } }),
    ];
    env.write(at("talk.jsonl"), claude.map(|line| line.to_string()).join("\n"));
    let codex = [
        json!({ "timestamp": "2025-05-01T10:00:00Z", "type": "session_meta", "payload": { "id": "c1" } }),
        json!({ "timestamp": "2025-05-01T10:00:05Z", "type": "response_item", "payload": { "type": "message", "role": "assistant",
            "content": [{ "type": "output_text", "text": "Codex says one.\nAnd two." }] } }),
    ];
    env.write(at("rollout.jsonl"), codex.map(|line| line.to_string()).join("\n"));
    env.write(at("holiday.txt"), "sand");
    env.scratch().join("old").to_str().unwrap().to_owned()
}

#[test]
fn an_import_is_previewed_exactly_taken_once_and_says_what_it_refused() {
    let env = TestEnv::ready();
    let old = treasure(&env);
    let before = env.files_below(&env.project());
    let preview = env.run(&["--json", "import", "--dry-run", &old]);
    assert_eq!(preview.code, Some(1), "something is refused: {preview:?}");
    assert_eq!(env.files_below(&env.project()), before, "a preview changes nothing");
    assert!(!env.files_below(&env.home()).iter().any(|(name, _)| name.contains("rehearsal")));
    let done = env.run(&["--json", "import", &old]);
    assert_eq!(done.code, Some(1));
    let (preview, mut report) = (preview.json(), done.json());
    // Notes that bring no id get a random one when they are stored.
    let notes =
        report["shelves"].as_array_mut().unwrap().iter_mut().find(|one| one["shelf"] == "notes").unwrap();
    let kept = "note:550e8400-e29b-41d4-a716-446655440000";
    for id in notes["new"].as_array_mut().unwrap().iter_mut().filter(|id| **id != kept) {
        assert_ne!(*id, "note:new");
        *id = json!("note:new");
    }
    for name in ["records", "topics", "notes", "vault"] {
        assert_eq!(shelf(&preview, name), shelf(&report, name), "{name}");
    }
    assert_eq!(preview["refused"], report["refused"]);
    assert_eq!(preview["left_out"], report["left_out"]);
    let left: Vec<(&str, &str)> = report["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["from"].as_str().unwrap(), one["why"].as_str().unwrap()))
        .filter(|(_, why)| *why == "it is retired there")
        .collect();
    assert_eq!(left.len(), 2, "a record and a lesson: {left:?}");
    assert_eq!((new_on(&report, "records"), new_on(&report, "topics"), new_on(&report, "notes")), (2, 13, 3));
    assert_eq!(
        (&shelf(&report, "records")["left_out"], &shelf(&report, "topics")["left_out"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(shelf(&report, "vault")["waiting"], 1, "an agent's canon waits");
    let refused: Vec<&str> =
        report["refused"].as_array().unwrap().iter().map(|r| r["code"].as_str().unwrap()).collect();
    assert_eq!(refused.len(), 3, "{refused:?}");
    assert!(
        refused.contains(&"GATE_REFUSED")
            && refused.iter().filter(|c| **c == "VALIDATION_ERROR").count() == 2
    );
    assert_eq!(report["not_recognised"], json!(["old/holiday.txt"]));
    assert!(!report.to_string().contains(&secret()) && !report.to_string().contains("private thoughts"));

    let again = env.run(&["--json", "import", &old]).json();
    for name in ["records", "topics", "notes", "vault"] {
        assert_eq!(new_on(&again, name), 0, "{name}: {again}");
    }
    assert_eq!(asked(&env, &["review"])["drafts"].as_array().unwrap().len(), 1);

    assert_eq!(asked(&env, &["show", "decision:two"])["status"], "archived");
    assert_eq!(
        asked(&env, &["show", "decision:one"])["links"]["imported_from"][0]["id"],
        "old/.claude/memory/decisions/one.json"
    );
    assert_eq!(asked(&env, &["show", "lesson:git/rebase#2024-05-01-old-one"])["status"], "archived");
    assert_eq!(asked(&env, &["show", "lesson:git/rebase#2025-03-12-day-12"])["status"], "active");
    assert_eq!(asked(&env, &["show", "lesson:git/rebase#2025-03-01-day-1"])["status"], "archived", "pruned");
    for (name, bytes) in env.files_below(&env.project()) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(!text.contains(&secret()) && !text.contains("private thoughts"), "{name}");
    }
    assert_eq!(env.run(&["verify"]).code, Some(0), "{:?}", env.run(&["verify"]));
}

#[test]
fn what_a_person_imports_is_not_yet_that_persons_word() {
    let env = TestEnv::ready();
    let old = treasure(&env);
    let report = env.at_terminal(&["--json", "import", &old], "").json();
    assert_eq!(shelf(&report, "vault")["waiting"], 1);
    assert_eq!(asked(&env, &["show", "decision:one"])["trust"], "medium");
    env.at_terminal(&["review", "accept", "--all"], "y\n").ok();
    assert!(env.run(&["snapshot"]).ok().stdout.contains("Calm software"));
    assert_eq!(new_on(&env.run(&["--json", "import", &old]).json(), "vault"), 0);
}

#[test]
fn a_record_that_says_something_else_here_is_not_overwritten() {
    let env = TestEnv::ready();
    let old = treasure(&env);
    env.run(&["import", &old]);
    env.run(&["edit", "decision:one", "--field", "decision=another one"]).ok();
    let report = env.run(&["--json", "import", &format!("{old}/.claude/memory/decisions/one.json")]);
    assert_eq!(
        (report.code, report.json()["refused"][0]["code"].as_str().map(str::to_owned)),
        (Some(1), Some("CREATE_ERROR".to_owned()))
    );
    assert!(asked(&env, &["show", "decision:one"])["body"].as_str().unwrap().contains("another one"));
    env.at_terminal(&["forget", "decision:one", "--yes"], "").ok();
    let report = env.run(&["--json", "import", &format!("{old}/.claude/memory/decisions/one.json")]).json();
    assert_eq!(report["refused"][0]["code"], "ANTI_RESURRECTION_ERROR");
    env.run(&["import", "nowhere"]).fails_with("NOT_FOUND", 3);
}

#[test]
fn an_export_imported_elsewhere_is_the_same_memory() {
    let env = TestEnv::ready();
    let four = four(&env);
    let to = env.scratch().join("out");
    let to = to.to_str().unwrap();
    env.run(&["export", "--to", to]).ok();
    env.run(&["export", "--to", to]).fails_with("USAGE", 2);
    let other = TestEnv::ready();
    let report = other.at_terminal(&["--json", "import", to], "").ok().json();
    assert_eq!((new_on(&report, "records"), new_on(&report, "topics"), new_on(&report, "notes")), (1, 1, 1));
    other.at_terminal(&["review", "accept", "--all"], "y\n").ok();
    for id in [&four.decision, &four.lesson, &four.note, &four.canon, &four.register] {
        let (mine, theirs) = (asked(&env, &["show", id]), asked(&other, &["show", id]));
        assert_eq!(
            (&mine["title"], &mine["body"], &mine["tags"]),
            (&theirs["title"], &theirs["body"], &theirs["tags"])
        );
    }
    let note = format!("notes/{}.md", four.note.trim_start_matches("note:"));
    assert_eq!(std::fs::read(env.memory(&note)).unwrap(), std::fs::read(other.memory(&note)).unwrap());
}

#[test]
fn one_shelf_is_exported_in_its_native_format() {
    let env = TestEnv::ready();
    four(&env);
    let printed = env.run(&["export", "--shelf", "vault"]).ok().stdout;
    assert_eq!(printed.as_bytes(), std::fs::read(env.memory("vault.jsonl")).unwrap());
    let to = env.scratch().join("topics");
    env.run(&["export", "--shelf", "topics", "--to", to.to_str().unwrap()]).ok();
    assert_eq!(
        std::fs::read(to.join("git/rebase.md")).unwrap(),
        std::fs::read(env.memory("topics/git/rebase.md")).unwrap()
    );
    assert_eq!(asked(&env, &["export", "--shelf", "notes"]).as_array().unwrap().len(), 1);
    env.run(&["export", "--shelf", "notes"]).fails_with("USAGE", 2);
    env.run(&["export", "--shelf", "attic"]).fails_with("USAGE", 2);
}

//! Memories that cite code, and code that changes under them.

use crate::env::{TestEnv, creating, decision, target};
use serde_json::{Value, json};

const CODE: &str = "use std::io;\n\nfn fetch(limit: usize) -> Vec<Job> {\n    lock();\n    take(limit)\n}\n";
const QUESTION: &str = "where do jobs of the queue live, in postgres?";

fn ready(strategy: &str) -> TestEnv {
    let env = TestEnv::new();
    env.run(&["init"]).ok();
    env.run(&["config", "set", "retrieval.match_strategy", strategy]).ok();
    env.write("src/queue.rs", CODE);
    env.run(&[
        "add",
        "decision",
        "Jobs of the queue live in Postgres because we need row locks",
        "--tag",
        "postgres",
        "--anchor",
        "src/queue.rs#fetch",
    ])
    .ok();
    env
}

fn prompt(env: &TestEnv, session: &str) -> String {
    let event = json!({ "prompt": QUESTION, "session_id": session, "hook_event_name": "UserPromptSubmit", "cwd": env.project() });
    env.run_with(&["hook", "prompt"], event.to_string().as_bytes()).ok().stdout
}

fn the_id(env: &TestEnv) -> String {
    let all = env.run(&["anchor", "list", "--json"]).ok().json();
    all[0]["id"].as_str().unwrap().to_owned()
}

fn state(env: &TestEnv) -> Value {
    env.run(&["anchor", "list", "--json"]).ok().json()[0]["state"].clone()
}

#[test]
fn a_memory_whose_code_changed_says_so_and_one_whose_code_is_gone_is_held_back() {
    for strategy in ["hybrid", "title_tags"] {
        let env = ready(strategy);
        let fresh = prompt(&env, "one");
        assert!(fresh.contains("queue live in Postgres") && !fresh.contains("code changed"), "{fresh}");
        env.write("src/queue.rs", CODE.replace("lock()", "lock_all()"));
        let changed = prompt(&env, "two");
        assert!(changed.contains("code changed since)"), "{strategy}: {changed}");
        env.write("src/queue.rs", format!("// moved\n{CODE}"));
        let moved = prompt(&env, "three");
        assert!(moved.contains("cited code now at src/queue.rs:4-7)"), "{strategy}: {moved}");
        std::fs::rename(env.project().join("src/queue.rs"), env.project().join("src/jobs.rs")).unwrap();
        assert!(prompt(&env, "four").contains("cited code now at src/jobs.rs:4-7)"));
        std::fs::remove_file(env.project().join("src/jobs.rs")).unwrap();
        assert_eq!(prompt(&env, "five"), "", "{strategy}");
        let id = the_id(&env);
        let review = env.run(&["review", "--json"]).ok().json();
        assert_eq!(review["stale"][0]["id"], id.as_str());
        assert_eq!(review["stale"][0]["state"], "gone");
        let shown = env.run(&["review"]).ok().stdout;
        assert!(shown.contains("gone") && shown.contains("src/queue.rs:3-6#fetch"), "{shown}");
        env.write("src/queue.rs", CODE);
        assert!(
            prompt(&env, "six").contains("queue live in Postgres"),
            "on another branch it is there again"
        );
        assert_eq!(env.run(&["review", "--json"]).ok().json()["stale"], json!([]));
    }
}

#[test]
fn a_session_is_told_once_more_when_the_code_changes() {
    let env = ready("hybrid");
    assert!(prompt(&env, "one").contains("Postgres"));
    assert_eq!(prompt(&env, "one"), "");
    env.write("src/queue.rs", CODE.replace("lock()", "lock_all()"));
    assert!(prompt(&env, "one").contains("code changed since"));
    assert_eq!(prompt(&env, "one"), "");
}

#[test]
fn changed_code_costs_rank_and_the_points_can_be_read() {
    let env = ready("hybrid");
    env.run(&[
        "add",
        "decision",
        "Jobs of our queue live in one Postgres because rows can be locked there",
        "--tag",
        "postgres",
    ])
    .ok();
    env.write("src/queue.rs", CODE.replace("lock()", "lock_all()"));
    let hits = env.run(&["search", "jobs", "queue", "postgres", "--json"]).ok().items();
    let id = the_id(&env);
    assert_ne!(hits[0]["id"], id.as_str(), "{hits}");
    let stale = hits.as_array().unwrap().iter().find(|hit| hit["id"] == id.as_str()).unwrap();
    assert_eq!(stale["anchors"][0]["state"], "changed");
    let parts = stale["why"].as_array().unwrap();
    let sum: f64 = parts.iter().map(|part| part["points"].as_f64().unwrap()).sum();
    assert!((sum - stale["score"].as_f64().unwrap()).abs() < 1e-3, "{stale}");
    assert!(parts.iter().any(|part| part["what"] == "stale" && part["points"].as_f64().unwrap() < 0.0));
    let text = env.run(&["search", "jobs", "queue"]).ok().stdout;
    assert!(text.contains("code changed since"), "{text}");
}

#[test]
fn anchors_are_added_renewed_and_dropped() {
    let env = ready("hybrid");
    let id = the_id(&env);
    env.write("docs/queue.md", "one\ntwo\nthree\n");
    env.run(&["anchor", "add", &id, "docs/queue.md:2-3", "src/queue.rs:\"take(limit)\""]).ok();
    let shown = env.run(&["show", &id, "--json"]).ok().json();
    assert_eq!(shown["anchors"].as_array().unwrap().len(), 3, "{shown}");
    assert_eq!(env.run(&["anchor", "list", "--stale"]).code, Some(0));
    env.write("docs/queue.md", "one\n2\n3\n");
    let stale = env.run(&["anchor", "list", "--stale"]);
    assert_eq!(stale.code, Some(1));
    assert!(stale.stdout.contains("changed docs/queue.md:2-3"), "{stale:?}");
    env.run(&["anchor", "renew", &id]).ok();
    assert_eq!(state(&env), "unchanged");
    env.run(&["anchor", "drop", &id, "docs/queue.md"]).ok();
    assert_eq!(
        env.run(&["anchor", "list", &id, "--json"]).ok().json()[0]["anchors"].as_array().unwrap().len(),
        2
    );
    env.run(&["anchor", "drop", &id]).ok();
    assert_eq!(env.run(&["anchor", "list", "--json"]).ok().json(), json!([]));
    env.run(&["anchor", "drop", &id, "--json"]).fails_with("NOT_FOUND", 3);
}

#[test]
fn every_kind_of_the_project_can_cite_and_what_a_person_owns_cannot() {
    let env = ready("hybrid");
    env.run(&[
        "add",
        "lesson",
        "Rebase lost commits, fixed by git reflog",
        "--topic",
        "git/rebase",
        "--anchor",
        "src/queue.rs:1",
    ])
    .ok();
    env.run(&["add", "note", "The importer retries.\nThen it gives up.", "--anchor", "src/queue.rs"]).ok();
    let place = target("by-hand");
    let input = env.input(&decision("By hand"));
    let create = creating(&place, &input);
    env.run(&[&create[..], &["--anchor", "src/queue.rs:3"]].concat()).ok();
    // Canon by a process waits for a person; what it cites waits with it.
    let canon = ["add", "canon", "We never lose a job", "--anchor", "src/queue.rs#fetch", "--json"];
    let waits = env.run(&canon);
    waits.fails_with("NEEDS_CONFIRMATION", 4);
    let ids: Vec<String> = env
        .run(&["anchor", "list", "--json"])
        .ok()
        .json()
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].as_str().unwrap().split(':').next().unwrap().to_owned())
        .collect();
    for kind in ["decision", "lesson", "note", "canon"] {
        assert!(ids.iter().any(|id| id == kind), "{kind}: {ids:?}");
    }
    assert!(ids.iter().filter(|id| *id == "decision").count() == 2, "{ids:?}");
    env.run(&["add", "fact", "I like tea", "--anchor", "src/queue.rs", "--json"]).fails_with("USAGE", 2);
}

#[test]
fn a_wrong_citation_leaves_nothing_behind_and_a_secret_is_refused() {
    let env = ready("hybrid");
    let before = env.files_below(&env.memory("decisions")).len();
    for place in ["src/none.rs", "../home/x", "src/queue.rs:90", "/etc/hostname"] {
        env.run(&["add", "decision", "Cite it because we can", "--anchor", place, "--json"])
            .fails_with("USAGE", 2);
    }
    assert_eq!(env.files_below(&env.memory("decisions")).len(), before);
    let key = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    env.write("src/key.rs", format!("let t = \"{key}\";\n"));
    let id = the_id(&env);
    env.run(&["anchor", "add", &id, &format!("src/key.rs:\"{key}\""), "--json"])
        .fails_with("GATE_REFUSED", 1);
    assert!(!std::fs::read_to_string(env.memory("provenance.jsonl")).unwrap().contains(&key));
}

#[test]
fn hostile_provenance_hurts_nobody() {
    let env = ready("hybrid");
    let id = the_id(&env);
    let line = |anchors: Value| {
        json!({ "id": id, "at": "2026-01-01T00:00:00Z", "did": "anchored", "anchors": anchors }).to_string()
    };
    let many: Vec<Value> = (0..5_000)
        .map(|n| json!({ "path": format!("src/{n}.rs"), "hash": "x", "lines": [1, 4_294_967_295u32] }))
        .collect();
    let mut text = std::fs::read_to_string(env.memory("provenance.jsonl")).unwrap();
    for odd in [
        json!(many),
        json!([{ "path": "/etc/passwd", "hash": "x" }, { "path": "../../../etc/passwd", "hash": "x" }]),
        json!([{ "path": ".", "hash": "x" }]),
        json!("none"),
        json!([[[[]]]]),
    ] {
        text.push_str(&line(odd));
        text.push('\n');
    }
    text.push_str("{\"anchored\": broken\n\u{1}\n");
    std::fs::write(env.memory("provenance.jsonl"), text).unwrap();
    assert!(prompt(&env, "one").contains("queue live in Postgres"));
    env.run(&["review", "--json"]).ok();
    env.run(&["show", &id]).ok();
}

#[test]
fn a_rename_keeps_what_is_cited_and_forgetting_takes_it_away() {
    let env = ready("hybrid");
    let id = the_id(&env);
    env.run(&["edit", &id, "--title", "Rows are locked by the broker"]).ok();
    let now = the_id(&env);
    assert_ne!(now, id);
    assert_eq!(env.run(&["show", &now, "--json"]).ok().json()["anchors"][0]["state"], "unchanged");
    env.at_terminal(&["forget", &now, "--yes"], "").ok();
    let text = std::fs::read_to_string(env.memory("provenance.jsonl")).unwrap();
    assert!(!text.contains("queue.rs"), "{text}");
}

#[test]
fn branches_that_cite_different_places_are_merged() {
    let env = ready("hybrid");
    let id = the_id(&env);
    env.write("a.txt", "a\n");
    env.write("b.txt", "b\n");
    env.git(&["init", "-q", "-b", "main"]);
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "one"]);
    env.git(&["checkout", "-qb", "other"]);
    env.run(&["anchor", "add", &id, "a.txt"]).ok();
    env.git(&["commit", "-qam", "two"]);
    env.git(&["checkout", "-q", "main"]);
    env.run(&["anchor", "add", &id, "b.txt"]).ok();
    env.git(&["commit", "-qam", "three"]);
    env.git(&["merge", "-q", "other", "-m", "merge"]);
    assert_eq!(env.run(&["anchor", "list", "--json"]).ok().json()[0]["anchors"].as_array().unwrap().len(), 3);
}

#[test]
fn a_constraint_whose_code_changed_says_so_when_a_session_begins() {
    let env = ready("hybrid");
    env.at_terminal(
        &[
            "add",
            "constraint",
            "Fetch takes row locks because jobs must not run twice",
            "--anchor",
            "src/queue.rs#fetch",
        ],
        "",
    )
    .ok();
    let start = || {
        let event = json!({ "session_id": "s", "hook_event_name": "SessionStart", "source": "startup", "cwd": env.project() });
        env.run_with(&["hook", "session-start"], event.to_string().as_bytes()).ok().stdout
    };
    assert!(start().contains("row locks") && !start().contains("code changed"));
    env.write("src/queue.rs", CODE.replace("lock()", "lock_all()"));
    assert!(start().contains("(code changed since)"), "{}", start());
    std::fs::remove_file(env.project().join("src/queue.rs")).unwrap();
    assert!(!start().contains("row locks"));
}

//! Where passing files go, and what is said where there is no store.

use crate::env::{ROOT, TestEnv};
use serde_json::json;

#[test]
fn without_a_store_nothing_answers_that_all_is_well() {
    let env = TestEnv::new();
    for args in
        [&["audit", "verify"][..], &["scan", "--store"], &["scan", "--store", "--fix", "--yes"], &["verify"]]
    {
        let ran = env.at_terminal(args, "y\n");
        ran.fails_with("NOT_FOUND", 3);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains("there is no memory folder") && !said.contains("whole"), "{args:?}: {ran:?}");
    }
    let answer = env.run(&["doctor", "--json"]).json();
    let store = answer["checks"].as_array().unwrap().iter().find(|check| check["id"] == "store").unwrap();
    assert_eq!(store["state"], "warning", "{store}");
    assert!(store["detail"].as_str().unwrap().contains("has no memory"), "{store}");
    // Somebody's own chain is walked, and it is said that the project has none.
    env.at_terminal(&["remember", "I like tea"], "y\n").ok();
    let ran = env.run(&["audit", "verify"]).ok();
    assert!(ran.stderr.contains("there is no memory folder"), "{ran:?}");
    // Asking makes no folder either.
    assert!(!env.project().join(".claude").exists());
    // A folder below a store is not without one.
    env.run(&["init"]).ok();
    env.write("deep/er/file", "x");
    let below = env.project().join("deep/er");
    env.run(&["-C", below.to_str().unwrap(), "audit", "verify"]).ok();
}

#[test]
fn passing_files_of_a_session_honour_tmpdir_and_the_well_known_names_stay_in_tmp() {
    let mut env = TestEnv::ready();
    let own = env.base().join("own-temp");
    std::fs::create_dir(&own).unwrap();
    env.set("TMPDIR", own.to_str().unwrap());
    let line = |text: &str| {
        json!({ "type": "assistant", "message": { "role": "assistant", "content": [{ "type": "text", "text": text }] } }).to_string()
    };
    let said = "We decided to use PostgreSQL because of row locks.\nDecision: we chose it over MySQL because of jsonb.\nWe decided against files because they are slow.";
    let transcript = env.scratch().join("talk.jsonl");
    std::fs::write(&transcript, format!("{}\n", line(said)).repeat(4)).unwrap();
    let event =
        json!({ "transcript_path": transcript, "session_id": "a-session-of-its-own", "cwd": env.project() });
    let ran = env.run_with(&["hook", "stop"], event.to_string().as_bytes());
    let passing: Vec<String> = env.files_below(&own).into_iter().map(|(name, _)| name).collect();
    assert!(passing.iter().any(|name| name.contains("memory-triage-context")), "{ran:?} {passing:?}");
    assert!(ran.stderr.contains(own.to_str().unwrap()), "{ran:?}");
    // What the session was handed goes when it ends, from there too.
    let end = json!({ "session_id": "a-session-of-its-own", "cwd": env.project() });
    env.run_with(&["hook", "session-end"], end.to_string().as_bytes()).ok();
    assert_eq!(env.files_below(&own), []);
    // A folder that is none is not used, and nothing is made of it.
    for odd in ["relative", "/", "/nowhere/at/all"] {
        env.set("TMPDIR", odd);
        env.run_with(&["hook", "stop"], event.to_string().as_bytes());
        env.run_with(&["hook", "session-end"], end.to_string().as_bytes()).ok();
        assert!(!env.project().join("relative").exists() && !env.memory("relative").exists());
    }
    assert!(env.project().join(ROOT).is_dir());
}

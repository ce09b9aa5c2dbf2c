//! What holds whatever happens to the index: it is derived, so losing it, dying while it is made or changing the files under it is never an
//! error and never shows at the next call.

use crate::env::{TestEnv, decision, ran, until};
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::Duration;

const QUESTION: &str = "where do jobs of the queue live, in postgres?";

fn ready() -> TestEnv {
    let env = TestEnv::new();
    env.run(&["init"]).ok();
    let mut document = decision("Use Postgres for the queue");
    document["content"]["decision"] = json!("Jobs live in Postgres, fetched with SKIP LOCKED");
    env.create("use-postgres-for-the-queue", &document).ok();
    env
}

/// Many records, put there by hand.
fn many(env: &TestEnv, from: usize, to: usize) {
    for n in from..to {
        let mut document: Value = decision(&format!("Decision number{n} about gadget{n}"));
        document["id"] = json!(format!("decision-{n}"));
        env.write(env.memory(&format!("decisions/decision-{n}.json")), document.to_string());
    }
}

fn found(env: &TestEnv, words: &str) -> Vec<String> {
    let answer = env.run(&["search", words, "--json"]).ok().items();
    let hits = answer.as_array().unwrap();
    hits.iter().map(|hit| hit["id"].as_str().unwrap().to_owned()).collect()
}

fn index(env: &TestEnv) -> std::path::PathBuf {
    env.memory(".local/index")
}

#[test]
fn a_deleted_or_cut_index_costs_nobody_a_memory() {
    let env = ready();
    assert!(!found(&env, QUESTION).is_empty());
    std::fs::remove_dir_all(index(&env)).unwrap();
    assert!(!found(&env, QUESTION).is_empty());
    for entry in std::fs::read_dir(index(&env)).unwrap().flatten() {
        let half = entry.metadata().unwrap().len() / 2;
        std::fs::File::options().write(true).open(entry.path()).unwrap().set_len(half).unwrap();
    }
    assert!(!found(&env, QUESTION).is_empty());
}

#[test]
fn ten_processes_that_open_a_fresh_index_at_once_all_answer() {
    let env = ready();
    many(&env, 0, 200);
    let _ = std::fs::remove_dir_all(index(&env));
    let start = |_| {
        let mut command = env.command(crate::env::HEIRLOOM);
        command.args(["search", "gadget77", "--json"]).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let started: Vec<_> = (0..10).map(start).collect();
    for process in started {
        let answer = ran(process.wait_with_output().unwrap()).ok().items();
        assert_eq!(answer[0]["id"], "decision:decision-77");
    }
}

#[test]
fn a_process_killed_while_it_indexes_leaves_nothing_stale_and_nothing_missing() {
    let env = ready();
    many(&env, 0, 6_000);
    for (round, pause) in [20, 120, 400, 900, 1_800].into_iter().enumerate() {
        let _ = std::fs::remove_dir_all(index(&env));
        let mut command = env.command(crate::env::HEIRLOOM);
        command.args(["search", "gadget"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        std::thread::sleep(Duration::from_millis(pause));
        let _ = process.kill();
        process.wait().unwrap();
        // Meanwhile a file goes and another comes.
        std::fs::remove_file(env.memory(&format!("decisions/decision-{round}.json"))).unwrap();
        many(&env, 7_000 + round, 7_001 + round);
        assert!(!found(&env, &format!("gadget{round}")).contains(&format!("decision:decision-{round}")));
        let new = format!("decision:decision-{}", 7_000 + round);
        assert_eq!(found(&env, &format!("gadget{}", 7_000 + round)).first(), Some(&new));
        assert_eq!(found(&env, "gadget5999").first().map(String::as_str), Some("decision:decision-5999"));
    }
}

#[test]
fn in_a_large_project_a_file_changed_in_place_is_never_shown_as_it_was() {
    let env = ready();
    many(&env, 0, 700);
    let ask = |text: &str| {
        let event = json!({ "prompt": text, "session_id": text, "hook_event_name": "UserPromptSubmit", "cwd": env.project() });
        env.run_with(&["hook", "prompt"], event.to_string().as_bytes()).ok().stdout
    };
    let question = "what did we decide about number321 and gadget321?";
    assert!(ask(question).contains("number321"));
    let path = env.memory("decisions/decision-321.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::thread::sleep(Duration::from_millis(60));
    // In place: the folder's own time stays as it is.
    std::fs::write(&path, text.replace("number321", "number999").replace("gadget321", "widget999")).unwrap();
    assert!(!ask(&format!("{question} again")).contains("gadget321"));
    assert!(ask("and what about number999 with its widget999?").contains("widget999"));
}

#[test]
fn a_settled_index_is_read_without_locks_and_still_follows_what_changes() {
    let env = ready();
    many(&env, 0, 20);
    let ask = |text: &str| {
        let event = json!({ "prompt": text, "session_id": text, "hook_event_name": "UserPromptSubmit", "cwd": env.project() });
        env.run_with(&["hook", "prompt"], event.to_string().as_bytes()).ok().stdout
    };
    assert!(ask("what did we decide about number7 and gadget7?").contains("number7"));
    let file = index(&env).join("recall.db");
    let settle = || {
        let then = std::time::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        std::fs::File::options().write(true).open(&file).unwrap().set_modified(then).unwrap();
    };
    // Who takes no locks leaves no trace of any. Files that are too fresh to be sure of are looked at, and noted, once more before.
    let shared = index(&env).join("recall.db-shm");
    let round = std::cell::Cell::new(0);
    until("a prompt takes no locks", || {
        settle();
        let _ = std::fs::remove_file(&shared);
        round.set(round.get() + 1);
        assert!(
            ask(&format!("and what about number7 with its gadget7, round {}?", round.get()))
                .contains("number7")
        );
        !shared.exists()
    });
    many(&env, 20, 21);
    assert!(ask("what did we decide about number20 and gadget20?").contains("number20"));
    settle();
    std::fs::remove_file(env.memory("decisions/decision-20.json")).unwrap();
    assert!(!ask("and what about number20 with its gadget20?").contains("number20"));
}

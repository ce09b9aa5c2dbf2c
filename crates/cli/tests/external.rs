//! External memory through the command line: what happens where it cannot be reached, and that everybody says the same about it.
//!
//! Comes in: settings of the user's, hosts that say nothing, files in the wrong places. Goes out: nothing, if lessons are kept and the reason is said.

use crate::env::TestEnv;
use serde_json::{Value, json};
use std::net::TcpListener;

fn with(configuration: Value) -> TestEnv {
    let env = TestEnv::new();
    env.run(&["init"]).ok();
    set(&env, configuration);
    env
}

fn set(env: &TestEnv, configuration: Value) {
    let file = env.home().join("config/heirloom/config.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, json!({ "memory_configuration": configuration }).to_string()).unwrap();
}

fn on(more: Value) -> Value {
    let mut all = json!({ "external_memory_enabled": true });
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    all
}

fn add(env: &TestEnv, text: &str) -> crate::env::Ran {
    env.run(&["add", "lesson", text, "--topic", "git/rebase"]).ok()
}

/// What `status`, `doctor` and `verify` say about external memory.
fn said(env: &TestEnv) -> [String; 3] {
    let state = env.run(&["status", "--json"]).ok().json()["external_memory"]["error"]["message"].clone();
    let checks = env.run(&["doctor", "--json"]).json()["checks"].clone();
    let check = checks.as_array().unwrap().iter().find(|check| check["id"] == "external memory").cloned();
    let check = check.unwrap_or_default();
    let problems = env.run(&["verify", "--json"]).json()["problems"].clone();
    let message = state.as_str().unwrap_or_default().to_owned();
    let named = |problem: &&Value| problem["message"] == message.as_str();
    let problem = problems.as_array().unwrap().iter().find(named).cloned().unwrap_or_default();
    [
        message.clone(),
        check["detail"].as_str().unwrap_or_default().to_owned(),
        problem["message"].as_str().unwrap_or_default().to_owned(),
    ]
}

#[test]
fn a_type_nobody_knows_falls_back_to_the_project_and_is_reported() {
    for bad in [json!("s3"), json!(5), json!("Local_Dir")] {
        let env = with(on(json!({ "memory_type": bad, "memory_path": "~/lessons" })));
        let done = add(&env, "Commits were lost, fixed by reflog");
        assert!(done.stderr.contains("memory_type") && done.stderr.contains("own memory"), "{done:?}");
        assert!(env.memory("topics/git/rebase.md").is_file() && !env.home().join("lessons").exists());
        let [status, doctor, verify] = said(&env);
        assert!(status.contains("memory_type") && doctor.contains(&status) && verify == status, "{doctor}");
    }
    // What only a project says about it counts for nothing.
    let env = with(on(json!({ "memory_path": "~/lessons" })));
    env.write(
        ".claude/memory/memory-config.json",
        json!({ "memory_configuration": { "memory_type": "s3" } }).to_string(),
    );
    add(&env, "Commits were lost, fixed by reflog");
    assert!(env.home().join("lessons/git/rebase.md").is_file());
}

#[test]
fn a_home_that_does_not_exist_is_an_error_of_the_path_and_is_not_made() {
    let mut env = with(on(json!({ "memory_path": "~/lessons" })));
    let nowhere = env.base().join("nowhere");
    env.set("HOME", nowhere.to_str().unwrap());
    let done = add(&env, "Commits were lost, fixed by reflog");
    assert!(done.stderr.contains("home folder") && done.stderr.contains("own memory"), "{done:?}");
    assert!(!nowhere.exists() && env.memory("topics/git/rebase.md").is_file());
    assert!(said(&env).iter().all(|told| told.contains("home folder")));
    let home = env.home();
    env.unset("HOME").set("HOME", home.to_str().unwrap());
    add(&env, "Pods were killed, fixed by a limit");
    assert!(
        env.home().join("lessons/git/rebase.md").is_file(),
        "a folder below a home that is there is made"
    );
}

#[test]
fn reading_makes_no_machine_local_folder_where_there_is_no_memory() {
    let env = TestEnv::new();
    for configuration in
        [json!({}), on(json!({ "memory_path": "/etc/lessons" })), on(json!({ "memory_path": "~/l" }))]
    {
        set(&env, configuration);
        for args in [
            &["status"][..],
            &["list"],
            &["search", "queue"],
            &["recall", "how do we rebase now"],
            &["brief", "rebase"],
            &["lesson", "topics"],
            &["note", "list"],
            &["review"],
            &["doctor"],
            &["verify"],
            &["last"],
            &["snapshot"],
        ] {
            env.run(args);
            assert!(env.files_below(&env.project()).is_empty() && !env.memory("").exists(), "{args:?}");
        }
    }
    // Lessons from elsewhere are found all the same.
    let lesson = "## 2026-01-01: Lost commits\n**Problem:** gone\n**Solution:** reflog\n---\n";
    env.write(env.home().join("l/git/rebase.md"), lesson);
    for args in [&["search", "commits"][..], &["lesson", "load", "git/rebase"], &["brief", "commits"]] {
        assert!(env.run(args).ok().stdout.contains("Lost commits"), "{args:?}");
    }
    assert!(!env.memory("").exists());
}

#[test]
fn a_silent_host_holds_nobody_up_and_is_said_by_everybody() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let env = with(on(json!({ "memory_type": "git_repo", "git_timeout_seconds": 2,
        "memory_path": format!("https://127.0.0.1:{port}/lessons.git"), "sync_strategy": "auto_push" })));
    let first = add(&env, "Commits were lost, fixed by reflog");
    assert!(first.stderr.contains("did not answer within 2 seconds") && first.stderr.contains("own memory"));
    let second = add(&env, "Pods were killed, fixed by a limit");
    assert!(second.stderr.contains("seconds ago"), "{second:?}");
    env.run(&["last"]).ok();
    let [status, doctor, verify] = said(&env);
    assert!(status.contains("did not answer at") && doctor.contains(&status) && verify == status, "{status}");
    // A repository that is here, with a host that is not: the lesson is committed, and the host is asked once.
    let repository = env.home().join("repository");
    std::fs::create_dir(&repository).unwrap();
    let path = repository.to_str().unwrap();
    env.git(&["-C", path, "init", "-q", "-b", "main"]);
    env.git(&["-C", path, "remote", "add", "origin", &format!("https://127.0.0.1:{port}/other.git")]);
    set(
        &env,
        on(json!({ "memory_type": "git_repo", "memory_path": path, "sync_strategy": "auto_push",
            "git_timeout_seconds": 2 })),
    );
    let stored = add(&env, "Uploads failed, fixed by a larger body");
    assert!(stored.stderr.contains("stored, but not synced"), "{stored:?}");
    let resting = add(&env, "Tags were lost, fixed by a push");
    assert!(resting.stderr.contains("seconds ago"), "{resting:?}");
    assert_eq!(env.git(&["-C", path, "log", "--oneline"]).lines().count(), 2);
    let silent = |env: &TestEnv| {
        let [status, doctor, verify] = said(env);
        status.contains("did not answer at") && doctor.contains("in use") && verify == status
    };
    assert!(silent(&env), "{:?}", said(&env));
    // Asking again changes nothing about that while the host stays silent.
    env.run(&["sync"]).fails_with("IO_ERROR", 6);
    assert!(silent(&env), "{:?}", said(&env));
    assert!(add(&env, "Branches were lost, fixed by a fetch").stderr.contains("did not answer"));
}

#[test]
fn a_host_that_stays_silent_is_noted_once_a_day_and_not_at_every_write() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let env = with(on(json!({ "memory_type": "git_repo", "git_timeout_seconds": 1,
        "memory_path": format!("https://127.0.0.1:{port}/lessons.git") })));
    add(&env, "Commits were lost, fixed by reflog");
    for what in ["Pods were killed, fixed by a limit", "Tags were lost, fixed by a push"] {
        assert!(add(&env, what).stderr.contains("did not answer"));
    }
    let noted = std::fs::read_to_string(env.memory(".local/health/external.jsonl")).unwrap();
    assert_eq!(noted.lines().count(), 1, "{noted}");
}

#[test]
fn what_git_says_is_shown_and_not_its_last_line() {
    let env = with(on(json!({ "memory_type": "git_repo", "memory_path": "~/repository",
        "sync_strategy": "auto_push" })));
    let repository = env.home().join("repository");
    std::fs::create_dir(&repository).unwrap();
    let path = repository.to_str().unwrap();
    env.git(&["-C", path, "init", "-q", "-b", "main"]);
    let gone = env.home().join("gone.git");
    env.git(&["-C", path, "remote", "add", "origin", gone.to_str().unwrap()]);
    let done = add(&env, "Commits were lost, fixed by reflog");
    assert!(done.stderr.contains("does not appear to be a git repository"), "{done:?}");
    assert!(!done.stderr.contains("and the repository exists"), "{done:?}");
}

#[test]
fn a_file_in_the_place_of_the_health_folder_is_kept_inside_it() {
    let env = with(on(json!({ "memory_path": "/etc/lessons" })));
    let health = env.memory(".local/health");
    let _ = std::fs::remove_dir_all(&health);
    std::fs::write(&health, "{\"at\":\"2026-01-01T00:00:00Z\"}\n").unwrap();
    env.run(&["last"]).ok();
    add(&env, "Commits were lost, fixed by reflog");
    env.run(&["last"]).ok();
    let event = json!({ "prompt": "how do we rebase now please", "session_id": "s", "cwd": env.project() });
    env.run_with(&["hook", "prompt"], event.to_string().as_bytes()).ok();
    assert!(env.run(&["last"]).ok().stdout.contains("prompt"));
    let kept = std::fs::read_to_string(health.join("external.jsonl")).unwrap();
    assert!(kept.starts_with("{\"at\":\"2026-01-01") && kept.contains("system directory"), "{kept}");
}

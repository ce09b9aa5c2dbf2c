//! Turns and facts through the command line: remember, search, edit, review, users, audit.
//!
//! Comes in: a person at a terminal, a process, the holder of a token. Goes out: nothing, if each gets what is theirs and is told what to do next.

use crate::env::{TestEnv, finish};
use serde_json::Value;

/// The ids of a tier, newest first.
fn ids(env: &TestEnv, tier: &str) -> Vec<String> {
    let listed = env.run(&["list", "--tier", tier, "--json"]).ok().items();
    listed.as_array().unwrap().iter().map(|m| m["id"].as_str().unwrap().to_owned()).collect()
}

fn remembered(env: &TestEnv, text: &str) -> String {
    env.at_terminal(&["remember", text, "--json"], "").ok().json()["id"].as_str().unwrap().to_owned()
}

fn said(env: &TestEnv, text: &str) -> String {
    env.run(&["add", "episode", text, "--json"]).ok().json()["id"].as_str().unwrap().to_owned()
}

#[test]
fn what_a_person_says_is_kept_and_what_a_process_says_waits_for_a_yes() {
    let env = TestEnv::new();
    let id = remembered(&env, "I prefer short answers");
    assert!(id.starts_with("fact:"));
    let shown = env.run(&["show", &id, "--json"]).ok().json();
    assert_eq!((&shown["trust"], &shown["source"]), (&"high".into(), &"explicit_save".into()));
    assert!(
        env.at_terminal(&["remember", "I prefer short answers"], "").ok().stdout.contains("already known")
    );

    let waits = env.run(&["remember", "My name is Ada", "--json"]);
    waits.fails_with("NEEDS_CONFIRMATION", 4);
    let listed = env.run(&["review", "--json"]).ok().json();
    let key = listed["drafts"][0]["key"].as_str().unwrap().to_owned();
    assert!(env.run(&["review"]).ok().stdout.contains("ai_inference"), "its origin is shown");
    assert_eq!(ids(&env, "semantic"), std::slice::from_ref(&id));
    env.run(&["review", "accept", &key]).fails_with("NEEDS_PERSON", 1);
    let accepted = env.at_terminal(&["review", "accept", &key], "y\n").ok();
    assert!(accepted.stdout.contains("My name is Ada") && accepted.stdout.contains("stored fact:"));
    assert_eq!(ids(&env, "semantic").len(), 2);

    env.run(&["remember", "I live in Graz"]).fails_with("NEEDS_CONFIRMATION", 4);
    let key = env.run(&["review", "--json"]).ok().json()["drafts"][0]["key"].as_str().unwrap().to_owned();
    env.run(&["review", "reject", &key]).ok();
    assert!(env.run(&["review"]).ok().stderr.contains("nothing to review"));
    assert!(!env.project().join(".claude/memory/index.md").exists(), "nothing of this is the project's");
}

#[test]
fn the_tiers_need_no_project_and_leave_none_behind() {
    let env = TestEnv::new();
    let id = remembered(&env, "I like tea");
    said(&env, "We spoke about the harvest");
    for args in
        [&["list"][..], &["search", "tea"], &["show", &id], &["expire"], &["search", "--context", "tea"]]
    {
        env.run(args).ok();
    }
    assert_eq!(env.files_below(&env.project()), []);
}

#[test]
fn a_contradiction_is_shown_beside_what_is_known_and_supersedes_it_only_with_a_yes() {
    let env = TestEnv::new();
    let first = remembered(&env, "I prefer tabs");
    let no = env.at_terminal(&["remember", "I prefer spaces"], "n\n");
    assert_eq!(no.code, Some(1), "a no is no success");
    assert!(no.stderr.contains("I prefer tabs") && no.stderr.contains("contradiction"), "{no:?}");
    assert_eq!(ids(&env, "semantic"), std::slice::from_ref(&first));
    env.at_terminal(&["remember", "I prefer spaces"], "y\n").ok();
    let now = ids(&env, "semantic");
    assert_eq!(now.len(), 1);
    let history = env.run(&["history", &now[0]]).ok().stdout;
    assert!(history.contains(&first), "history is kept: {history}");
    let all = env.run(&["list", "--tier", "semantic", "--all", "--json"]).ok().items();
    assert_eq!(all.as_array().unwrap().len(), 2);
    env.at_terminal(&["restore", &first], "").fails_with("OCC_CONFLICT", 1);
    let forgotten = env.at_terminal(&["forget", &now[0], "--yes"], "").ok().stdout;
    assert!(forgotten.contains(&first), "its history goes with it: {forgotten}");
}

#[test]
fn an_episode_is_kept_redacted_and_expires() {
    let env = TestEnv::new();
    let told =
        env.run(&["add", "episode", "The database password=hunter2secret is old", "--field", "days=3"]).ok();
    assert!(told.stderr.contains("cut out"), "{told:?}");
    let id = ids(&env, "episodic").remove(0);
    let shown = env.run(&["show", &id, "--json"]).ok();
    assert!(!shown.stdout.contains("hunter2secret"));
    let expires = |env: &TestEnv| env.run(&["show", &id, "--json"]).ok().json()["expires_at"].clone();
    let before = expires(&env);
    env.run(&["edit", &id, "--field", "days=300"]).ok();
    assert_ne!(expires(&env), before);
    env.run(&["edit", &id, "--text", "never said"]).fails_with("USAGE", 2);
    let nothing = env.run(&["expire", "--json"]).ok().json();
    assert_eq!(nothing["episodes"], 0);
}

#[test]
fn a_fact_is_changed_in_words_and_in_how_sure_it_is() {
    let env = TestEnv::new();
    let id = remembered(&env, "I work at Acme");
    env.run(&["edit", &id, "--field", "confidence=0.5"]).fails_with("NEEDS_CONFIRMATION", 4);
    env.at_terminal(&["edit", &id, "--field", "confidence=0.5"], "").ok();
    assert_eq!(env.run(&["show", &id, "--json"]).ok().json()["confidence"], 0.5);
    env.run(&["edit", &id, "--text", "I work at Initech"]).fails_with("NEEDS_CONFIRMATION", 4);
    let changed = env.at_terminal(&["edit", &id, "--text", "I work at Initech", "--json"], "").ok().json();
    let new = changed["id"].as_str().unwrap();
    assert_ne!(new, id);
    assert_eq!(env.run(&["show", &id, "--json"]).ok().json()["status"], "superseded");
    assert_eq!(env.run(&["show", new, "--json"]).ok().json()["body"], "I work at Initech");
    env.at_terminal(&["edit", &id, "--text", "I work at Hooli"], "").fails_with("OCC_CONFLICT", 1);
}

#[test]
fn search_is_by_words_and_meaning_within_limits_that_say_what_was_left_out() {
    let env = TestEnv::new();
    remembered(&env, "I prefer PostgreSQL for storage");
    let turn = said(&env, "We moved the orders database to a bigger machine");
    let hits = env.run(&["search", "--tier", "all", "which database do I like", "--json"]).ok().items();
    assert_eq!(hits.as_array().unwrap().len(), 2);
    assert!(hits[0]["score"].as_f64().unwrap() > 0.0 && hits[0]["why"].is_array());
    let only = env.run(&["search", "--tier", "episodic", "database", "--json"]).ok().items();
    assert_eq!(only[0]["id"], Value::from(turn.as_str()));
    let over_all = env.run(&["search", "database machine", "--json"]).ok().items();
    let kinds: Vec<&str> = over_all.as_array().unwrap().iter().map(|g| g["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"episode"), "{kinds:?}");
    let block = env.run(&["search", "--context", "database"]).ok().stdout;
    assert!(
        block.contains("<memory-context source=\"tiers\">") && block.contains("[Past context"),
        "{block}"
    );
    let cut = env
        .run(&[
            "search",
            "--context",
            "database",
            "--set",
            "tiers.max_episodes=0",
            "--set",
            "tiers.max_tokens=1",
        ])
        .ok();
    assert!(cut.stderr.contains("left out"), "{cut:?}");
}

#[test]
fn whoever_holds_a_token_is_its_user_and_meets_nobody_else() {
    let env = TestEnv::new();
    let mine = said(&env, "The launch code is in the safe");
    env.run(&["user", "add", "anna"]).fails_with("NEEDS_PERSON", 1);
    env.at_terminal(&["user", "add", "anna"], "").ok();
    assert!(env.at_terminal(&["user", "add", "anna"], "").ok().stdout.contains("known anna"));
    env.run(&["user", "token", "anna"]).fails_with("NEEDS_PERSON", 1);
    env.at_terminal(&["user", "token", "bert"], "").fails_with("NOT_FOUND", 3);
    let token = env.at_terminal(&["user", "token", "anna", "--json"], "").ok().json()["token"].clone();
    let as_anna = |args: &[&str]| {
        let mut command = env.command(crate::env::HEIRLOOM);
        finish(command.args(args).env("HEIRLOOM_TOKEN", token.as_str().unwrap()))
    };
    as_anna(&["show", &mine]).fails_with("NOT_FOUND", 3);
    as_anna(&["edit", &mine, "--field", "days=9"]).fails_with("NOT_FOUND", 3);
    as_anna(&["forget", &mine, "--yes"]).fails_with("SECURITY_ERROR", 1);
    as_anna(&["forget", "launch code", "--yes"]).fails_with("SECURITY_ERROR", 1);
    assert_eq!(
        as_anna(&["search", "--tier", "all", "launch code", "--json"]).ok().items(),
        Value::Array(vec![])
    );
    as_anna(&["clear", "all", "--yes"]).fails_with("SECURITY_ERROR", 1);
    as_anna(&["export", "--shelf", "tiers", "--all-users"]).fails_with("SECURITY_ERROR", 1);
    as_anna(&["user", "add", "bert"]).fails_with("SECURITY_ERROR", 1);
    let audit = as_anna(&["audit", "--tiers", "--event", "access_refused", "--json"]).ok().json();
    assert!(audit.as_array().unwrap().len() >= 3, "every attempt is audited: {audit}");
    assert_eq!(ids(&env, "episodic"), [mine]);
    let fresh = env.at_terminal(&["user", "token", "anna", "--json"], "").ok().json()["token"].clone();
    assert_ne!(fresh, token);
    as_anna(&["list", "--tier", "episodic"]).fails_with("UNAUTHENTICATED", 1);
    let files = env.files_below(&env.home());
    let in_the_clear = |(_, bytes): &(String, Vec<u8>)| {
        bytes.windows(fresh.as_str().unwrap().len()).any(|w| w == fresh.as_str().unwrap().as_bytes())
    };
    assert!(!files.iter().any(in_the_clear), "tokens are kept as hashes");
}

#[test]
fn the_audit_of_a_user_holds_no_content_and_finds_what_was_altered() {
    let env = TestEnv::new();
    let id = remembered(&env, "I collect beetles");
    env.run(&["search", "--tier", "all", "beetles"]).ok();
    env.at_terminal(&["retire", &id], "").ok();
    let audit = env.run(&["audit", "--tiers", "--json"]).ok();
    assert!(!audit.stdout.contains("beetles"));
    let actions: Vec<String> = audit
        .json()
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["action"].as_str().unwrap().to_owned())
        .collect();
    assert!(actions.contains(&"memory_write".to_owned()) && actions.contains(&"memory_read".to_owned()));
    assert!(env.run(&["audit", "verify"]).ok().stdout.contains("whole"));
    // The chain is cut off at its end: the sealed head remembers how long it was.
    let database =
        env.files_below(&env.home()).into_iter().find(|(name, _)| name.ends_with("memory.db")).unwrap().0;
    let database = env.home().join(database);
    let kept: Vec<(std::path::PathBuf, Vec<u8>)> = ["", "-wal"]
        .iter()
        .map(|end| std::path::PathBuf::from(format!("{}{end}", database.display())))
        .filter_map(|path| Some((path.clone(), std::fs::read(path).ok()?)))
        .collect();
    env.at_terminal(&["restore", &id], "").ok();
    kept.into_iter().for_each(|(path, bytes)| std::fs::write(path, bytes).unwrap());
    assert_ne!(env.run(&["audit", "verify"]).code, Some(0), "an older copy is not the whole chain");
}

#[test]
fn bad_input_is_answered_with_what_to_do() {
    let env = TestEnv::new();
    let long = "x".repeat(100_000);
    for (args, code, exit) in [
        (&["add", "episode", "hi", "--field", "role=robot"][..], "USAGE", 2),
        (&["add", "episode", "hi", "--field", "days=400"], "VALIDATION_ERROR", 1),
        (&["add", "episode", "hi", "--field", "days=x"], "USAGE", 2),
        (&["add", "episode", "hi", "--field", "external=perhaps"], "USAGE", 2),
        (&["add", "episode", "hi", "--at", "yesterday"], "VALIDATION_ERROR", 1),
        (&["add", "episode"], "VALIDATION_ERROR", 1),
        (&["add", "fact", "   "], "VALIDATION_ERROR", 1),
        (&["add", "fact", &long], "VALIDATION_ERROR", 1),
        (&["add", "fact", "I like tea", "--scope", "x"], "USAGE", 2),
        (&["add", "fact", "My card is 4111 1111 1111 1111"], "GATE_REFUSED", 1),
        (&["show", "fact:nothing"], "NOT_FOUND", 3),
        (&["edit", "fact:nothing", "--field", "confidence=1"], "NOT_FOUND", 3),
        (&["edit", "fact:nothing", "--field", "colour=1"], "USAGE", 2),
        (&["edit", "fact:nothing", "--title", "x"], "USAGE", 2),
        (&["retire", "episode:nothing"], "NOT_FOUND", 3),
        (&["forget", "no such topic", "--yes"], "NEEDS_PERSON", 1),
        (&["import", "/nowhere/at/all"], "NOT_FOUND", 3),
        (&["import", "x", "--vouch"], "USAGE", 2),
        (&["export", "--shelf", "tiers", "--retired"], "USAGE", 2),
        (&["export", "--all-users"], "USAGE", 2),
        (&["clear", "all"], "NEEDS_PERSON", 1),
        (&["--database", "postgres://nowhere.invalid/x", "list", "--tier", "episodic"], "UNAUTHENTICATED", 1),
        (&["--database", "mysql:what", "list", "--tier", "episodic"], "CONFIG_ERROR", 1),
    ] {
        let ran = env.run(args);
        assert_eq!(ran.code, Some(exit), "{args:?}: {ran:?}");
        ran.fails_with(code, exit);
    }
    let unsure = env.run(&["add", "fact", "I like tea", "--confidence", "7"]);
    assert_eq!(unsure.code, Some(2), "{unsure:?}");
    assert!(unsure.stderr.contains("from 0 to 1"), "{unsure:?}");
    for name in [" x", "system"] {
        env.at_terminal(&["user", "add", name], "").fails_with("USAGE", 2);
    }
    // An episode that is too long is cut, as its tier says.
    let id = said(&env, &long);
    let body = env.run(&["show", &id, "--json"]).ok().json()["body"].as_str().unwrap().len();
    assert!(body < 11_000, "{body}");
}

#[test]
fn a_stop_keeps_turns_only_if_the_user_wants_it() {
    let env = TestEnv::ready();
    let folder = env.home().join(".claude/projects/p");
    std::fs::create_dir_all(&folder).unwrap();
    let transcript = folder.join("s1.jsonl");
    let line = |role: &str, text: &str, at: &str| {
        serde_json::json!({ "type": role, "sessionId": "s1", "timestamp": at,
            "message": { "role": role, "content": [{ "type": "text", "text": text }] } })
        .to_string()
    };
    let lines = [
        line("user", "I prefer small commits. Please fix the parser.", "2026-01-10T09:00:00Z"),
        line("assistant", "The parser is fixed.", "2026-01-10T09:01:00Z"),
    ];
    std::fs::write(&transcript, lines.join("\n") + "\n").unwrap();
    let event = serde_json::json!({ "hook_event_name": "Stop", "session_id": "s1", "cwd": env.project(),
        "transcript_path": transcript, "stop_hook_active": false })
    .to_string();
    env.run_with(&["hook", "stop"], event.as_bytes());
    assert_eq!(ids(&env, "episodic"), [""; 0]);
    env.at_terminal(&["config", "set", "--user", "tiers.capture", "true"], "").ok();
    for _ in 0..2 {
        env.run_with(&["hook", "stop"], event.as_bytes());
        env.run_with(&["hook", "session-end"], event.as_bytes());
    }
    let kept = env.run(&["list", "--tier", "episodic", "--json"]).ok().items();
    let trust: Vec<&str> = kept.as_array().unwrap().iter().map(|m| m["trust"].as_str().unwrap()).collect();
    assert_eq!(trust, ["low", "high"], "each has the trust of its channel, and is kept once");
    let waiting = env.run(&["review", "--json"]).ok().json();
    assert_eq!(waiting["drafts"][0]["draft"]["memory"]["content"], "I prefer small commits");
    env.at_terminal(&["forget", "--topic", "parser", "--yes"], "").ok();
    env.run_with(&["hook", "session-end"], event.as_bytes());
    assert_eq!(ids(&env, "episodic"), [""; 0], "what was forgotten does not come back with the transcript");
}

#[test]
fn a_fact_is_found_by_what_it_is_about() {
    let env = TestEnv::new();
    env.run(&["init"]).ok();
    let about = |subject: &str, text: &str| env.at_terminal(&["remember", "--subject", subject, text], "n\n");
    about("build.server", "Port 8081, behind the proxy").ok();
    about("mail.server", "Port 2525, for tests").ok();
    let found = env.run(&["recall", "--json", "build.server"]).ok().json();
    assert_eq!(found["hits"][0]["body"], "Port 8081, behind the proxy", "the text is stored as it was said");
    assert_eq!(found["hits"][0]["title"], "build.server: Port 8081, behind the proxy");
    let block = env.run(&["search", "--context", "build.server"]).ok().stdout;
    assert!(block.contains("• build.server: Port 8081, behind the proxy"), "{block}");
    // The same words about something else are another fact, and the words said anew stay about the same thing.
    assert_eq!(about("mail.server", "Port 8081, behind the proxy").code, Some(1), "it is asked about");
    let id = env
        .run(&["list", "--tier", "semantic", "--json"])
        .ok()
        .items()
        .as_array()
        .unwrap()
        .iter()
        .find(|m| m["body"].as_str().unwrap().contains("2525"))
        .unwrap()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    env.at_terminal(&["edit", &id, "--text", "Port 2526, for tests"], "y\n").ok();
    let found = env.run(&["recall", "--json", "mail.server"]).ok().items();
    assert!(found[0]["title"].as_str().unwrap().starts_with("mail.server: "), "{found}");
    let long = env.raw_input("x".repeat(3_000).as_bytes());
    env.at_terminal(&["remember", "--subject", "long", "--from", &long], "")
        .fails_with("VALIDATION_ERROR", 1);
    env.run(&["remember", "--subject", "a\nb", "x"]).fails_with("VALIDATION_ERROR", 1);
    let token = ["ghp", "_x7Kq2mZ9vB4nT6wR1yL8sD3fG5hJ0cAeQiUo"].concat();
    env.run(&["remember", "--subject", &token, "x"]).fails_with("GATE_REFUSED", 1);
}

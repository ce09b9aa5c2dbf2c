//! Attacks on walls between users, on what was deleted, and on the audit: one test each, numbered as in `docs/security/threat-model.md`.

use crate::env::{HEIRLOOM, ROOT, Ran, TestEnv, decision, finish, target};
use serde_json::{Value, json};

struct Anna {
    token: String,
}

impl Anna {
    fn of(env: &TestEnv) -> Anna {
        env.at_terminal(&["user", "add", "anna"], "").ok();
        let made = env.at_terminal(&["user", "token", "anna", "--json"], "").ok().json();
        Anna { token: made["token"].as_str().unwrap().to_owned() }
    }

    fn run(&self, env: &TestEnv, args: &[&str]) -> Ran {
        finish(env.command(HEIRLOOM).args(args).env("HEIRLOOM_TOKEN", &self.token))
    }
}

fn said(env: &TestEnv, text: &str) -> String {
    env.at_terminal(&["add", "episode", text, "--json"], "").ok().json()["id"].as_str().unwrap().to_owned()
}

/// An archive of so many turns of whoever wrote `like`.
fn archive(like: &Value, count: usize, words: &str) -> String {
    let mut text = json!({ "archive": "heirloom-tiers", "version": 1 }).to_string() + "\n";
    for n in 0..count {
        let mut turn = like["memory"].clone();
        turn["id"] = json!(format!("episode:{n}-2-3"));
        turn["content"] = json!(format!("{words} {n}"));
        text.push_str(&(json!({ "memory": turn }).to_string() + "\n"));
    }
    let sum = heirloom_core::hash::sha256(text.as_bytes());
    text.push_str(&(json!({ "chunk": 1, "count": count, "sha256": sum }).to_string() + "\n"));
    text + &json!({ "manifest": { "memories": count, "chunks": 1, "sha256": sum } }).to_string() + "\n"
}

#[test]
fn attack_11_somebody_elses_memory_looks_like_one_that_is_not_there() {
    let env = TestEnv::new();
    let mine = said(&env, "The launch code is in the safe");
    let anna = Anna::of(&env);
    let hers =
        anna.run(&env, &["add", "episode", "Hello", "--json"]).ok().json()["id"].as_str().unwrap().to_owned();
    let nobody = "episode:1a1e2f8277e-3bb6de-0f7f297ba3f8";
    let upper = mine.to_uppercase().replace("EPISODE:", "episode:");
    let wide: String = mine.chars().map(|c| if c == '-' { '\u{2010}' } else { c }).collect();
    for id in [mine.as_str(), &upper, &wide, &mine[..mine.len() - 2]] {
        for (verb, more) in [
            ("show", &[][..]),
            ("retire", &[]),
            ("restore", &[]),
            ("history", &[]),
            ("forget", &["--yes"]),
            ("edit", &["--field", "days=9"]),
        ] {
            let args: Vec<&str> = [verb, id].into_iter().chain(more.iter().copied()).collect();
            let other: Vec<&str> = [verb, nobody].into_iter().chain(more.iter().copied()).collect();
            let (theirs, none) = (anna.run(&env, &args), anna.run(&env, &other));
            let same =
                |ran: &Ran, id: &str| (ran.code, ran.stdout.replace(id, "ID"), ran.stderr.replace(id, "ID"));
            assert_eq!(same(&theirs, id), same(&none, nobody), "{args:?}");
        }
    }
    // In a batch her own goes and mine stays.
    anna.run(&env, &["retire", &hers, &mine]);
    assert_eq!(env.run(&["show", &mine, "--json"]).ok().json()["status"], "active");
    assert!(!anna.run(&env, &["list", "--all", "--json"]).ok().stdout.contains("launch"));
    finish(env.command(HEIRLOOM).args(["list", "--tier", "episodic"]).env("HEIRLOOM_TOKEN", "hlm_guessed"))
        .fails_with("UNAUTHENTICATED", 1);
}

#[test]
fn attack_12_another_users_memories_change_no_byte_of_an_answer() {
    let env = TestEnv::new();
    let anna = Anna::of(&env);
    for text in
        ["The worker leaks connections", "We restart the worker nightly", "Orders live in the database"]
    {
        anna.run(&env, &["add", "episode", text]).ok();
    }
    let looks = |env: &TestEnv| -> Vec<String> {
        [
            &["search", "--tier", "all", "worker connections", "--json", "--explain"][..],
            &["search", "--context", "worker"],
            &["search", "wroker", "--json"],
            &["list", "--tier", "episodic", "--json"],
            &["recall", "why does the worker leak connections?", "--json"],
            &["status", "--json"],
        ]
        .iter()
        // Seconds pass, and with them what age adds; what is found and what words and meaning add must be the same to the last byte.
        .map(|args| {
            const KEPT: [&str; 6] = ["id", "content", "body", "title", "keyword", "vector"];
            let out = anna.run(env, args).stdout;
            let is_json = out.starts_with(['[', '{']);
            let kept = |line: &&str| !is_json || KEPT.iter().any(|key| line.contains(&format!("\"{key}\"")));
            out.lines().filter(kept).map(|line| line.trim_end_matches(',')).collect::<Vec<_>>().join("\n")
        })
        .collect()
    };
    let before = looks(&env);
    assert!(before[0].contains("leaks"), "or this test shows nothing: {before:?}");
    said(&env, "mine");
    let whole = env.run(&["export", "--shelf", "tiers"]).ok().stdout;
    let like: Value = serde_json::from_str(whole.lines().nth(1).unwrap()).unwrap();
    env.run_with(
        &["import", "-"],
        archive(&like, 1_000, "The worker leaks connections of the neighbours, number").as_bytes(),
    )
    .ok();
    for (before, after) in before.iter().zip(looks(&env)) {
        let differs = before.lines().zip(after.lines()).find(|(before, after)| before != after);
        assert!(differs.is_none() && before.len() == after.len(), "{differs:?}");
    }
}

#[test]
fn attack_23_what_was_forgotten_stays_out_however_it_comes_back() {
    let env = TestEnv::new();
    env.run(&["init"]).ok();
    env.at_terminal(&["add", "decision", "Use CANARYbase for orders because it is there"], "").ok();
    env.run(&["add", "lesson", "CANARYbase broke for orders: restart", "--topic", "db/orders"]).ok();
    env.run(&["add", "note", "The CANARYbase of orders.\nIt broke."]).ok();
    env.at_terminal(&["add", "canon", "CANARYbase keeps the orders.", "--scope", "shared"], "").ok();
    let turn = said(&env, "CANARYbase holds orders");
    let archive = env.run(&["export", "--shelf", "tiers"]).ok().stdout;
    let kept: Vec<(String, Vec<u8>)> = env
        .files_below(&env.memory(""))
        .into_iter()
        .filter(|(name, _)| !name.starts_with(".local"))
        .collect();
    let ids: Vec<String> = env
        .run(&["list", "--json"])
        .ok()
        .items()
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(ids.len(), 4, "{ids:?}");
    for id in ids.iter().chain([&turn]) {
        env.at_terminal(&["forget", id, "--yes"], "").ok();
    }
    let asked = |env: &TestEnv| {
        let event = json!({ "prompt": "where do the orders live, in the CANARYbase?", "cwd": env.project() })
            .to_string();
        env.run_with(&["hook", "prompt"], event.as_bytes()).ok().stdout
            + &env.run(&["recall", "where do the orders live, in the CANARYbase?"]).stdout
            + &env.run(&["search", "CANARYbase orders", "--json"]).stdout
            + &env.run(&["snapshot"]).stdout
    };
    assert!(!asked(&env).contains("CANARYbase"));
    // An old copy of every file but the markers, as a stale branch or a backup would bring.
    for (name, bytes) in kept.iter().filter(|(name, _)| name != "provenance.jsonl") {
        env.write(format!("{ROOT}/{name}"), bytes);
    }
    assert!(!asked(&env).contains("CANARYbase"), "{}", asked(&env));
    env.run(&["record", "index", "--rebuild"]);
    env.run(&["verify", "--fix"]);
    assert!(!asked(&env).contains("CANARYbase"));
    env.run_with(&["import", "-"], archive.as_bytes());
    env.run(&["show", &turn]).fails_with("NOT_FOUND", 3);
    assert!(!asked(&env).contains("CANARYbase"));
    assert!(
        env.run(&["review", "--json"]).ok().stdout.contains("decision:use-canarybase-for-orders"),
        "and a person can see that it came back"
    );
}

#[test]
fn attack_24_after_forgetting_no_file_holds_the_text() {
    let env = TestEnv::new();
    env.run(&["init"]).ok();
    let marker = "zyxwmarkervuts";
    // Ids are made of titles, and the audit keeps ids: the marker is in the texts.
    env.run(&["add", "decision", &format!("Use files for orders because {marker} is slow")]).ok();
    env.run(&["add", "note", &format!("The database of orders.\nIt broke, {marker}.")]).ok();
    let lesson =
        json!({ "title": "Orders broke", "problem": format!("{marker} was gone"), "solution": "restart" })
            .to_string();
    env.run_with(&["add", "lesson", "--topic", "db/orders", "--from", "-"], lesson.as_bytes()).ok();
    said(&env, &format!("{marker} holds orders"));
    env.run(&["remember", &format!("I like {marker}")]);
    let event = json!({ "prompt": format!("tell me about {marker} and orders"), "session_id": "s", "cwd": env.project() }).to_string();
    assert!(
        env.run_with(&["hook", "prompt"], event.as_bytes()).ok().stdout.contains(marker),
        "indexed and given"
    );
    for memory in env.run(&["list", "--json"]).ok().items().as_array().unwrap() {
        env.at_terminal(&["forget", memory["id"].as_str().unwrap(), "--yes"], "").ok();
    }
    env.at_terminal(&["clear", "all", "--yes"], "").ok();
    for draft in env.run(&["review", "--json"]).ok().json()["drafts"].as_array().unwrap() {
        env.run(&["review", "reject", draft["key"].as_str().unwrap()]).ok();
    }
    let holds = |bytes: &[u8]| {
        bytes.to_ascii_lowercase().windows(marker.len()).any(|window| window == marker.as_bytes())
    };
    let left: Vec<String> = env
        .files_below(&env.base())
        .into_iter()
        .filter(|(name, bytes)| holds(bytes) || name.contains(marker))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(left, [""; 0]);
    assert!(!env.run(&["recall", "tell me about the orders"]).stdout.contains(marker));
}

#[test]
fn attack_25_an_altered_audit_is_named() {
    let env = TestEnv::ready();
    for n in 0..6 {
        env.create(&format!("r{n}"), &decision(&format!("Choice\n{{\"seq\":9}}\u{1b}[31m number {n}"))).ok();
    }
    let path = env.memory(".local/audit.jsonl");
    let whole = std::fs::read_to_string(&path).unwrap();
    env.run(&["audit", "verify"]).ok();
    let lines: Vec<&str> = whole.lines().collect();
    assert!(
        lines.iter().all(|line| line.starts_with('{') && line.ends_with('}') && !line.contains('\u{1b}')),
        "one line each, whatever the content"
    );
    let swapped = [lines[0], lines[2], lines[1], lines[3]].join("\n") + "\n";
    let without = [&lines[..2], &lines[3..]].concat().join("\n") + "\n";
    let edited = whole.replacen("keep", "refuse", 1);
    let twice = [&lines[..3], &lines[2..]].concat().join("\n") + "\n";
    let forged = format!("{whole}{}\n", lines[5].replace("\"seq\":6", "\"seq\":7"));
    let beheaded = lines[1..].join("\n") + "\n";
    for (what, text) in [
        ("moved", swapped),
        ("removed", without),
        ("edited", edited),
        ("doubled", twice),
        ("forged", forged),
        ("beheaded", beheaded),
    ] {
        std::fs::write(&path, &text).unwrap();
        let ran = env.run(&["audit", "verify"]);
        assert_ne!(ran.code, Some(0), "{what}: {ran:?}");
    }
    std::fs::write(&path, &whole).unwrap();
    env.run(&["audit", "verify"]).ok();
    // What cannot be audited is not stored.
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert_ne!(env.create("unseen", &decision("An unseen choice")).code, Some(0));
    assert!(
        !env.project().join(target("unseen")).exists()
            || !env.index().iter().any(|line| line.contains("unseen")),
        "{:?}",
        env.index()
    );
}

#[test]
fn files_of_the_data_folder_and_of_the_local_one_are_nobody_elses_whatever_the_umask() {
    let env = TestEnv::new();
    for umask in ["000", "022"] {
        let script = r#"umask "$0"; "$1" init; "$1" add decision "Use PostgreSQL because we need jsonb"
            "$1" add lesson "Deploy broke, fixed by waiting" --topic a/b; "$1" add episode "hello world"
            "$1" remember "I like tea"; "$1" search postgres
            echo '{"prompt":"which database should we use for orders","session_id":"s"}' | "$1" hook prompt"#;
        finish(env.command("sh").args(["-c", script, umask, HEIRLOOM]));
        for folder in [env.memory(".local"), env.home().join("data")] {
            assert!(folder.is_dir());
            let open = finish(env.command("find").arg(&folder).args(["-perm", "/077"]));
            assert_eq!(open.stdout, "", "umask {umask}");
        }
    }
}

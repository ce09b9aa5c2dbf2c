//! Attacks on what only a person decides: guarded settings in every spelling and layer, the files they stand in, and tokens that are nobody's.
//!
//! Comes in: what a process without a person can say. Goes out: nothing, if it loosens nothing and is nobody it is not.

use crate::env::{HEIRLOOM, ROOT, Ran, TestEnv, finish};
use serde_json::{Value, json};

/// A setting as it counts after `more` arguments and variables of a process, and what was said about them.
fn counts(env: &TestEnv, key: &str, more: &[&str], variables: &[(&str, &str)]) -> (Value, String) {
    let mut command = env.command(HEIRLOOM);
    command.args(["config", "list", "--json"]).args(more).envs(variables.iter().copied());
    let ran = finish(&mut command).ok();
    let found = ran.json().as_array().unwrap().iter().find(|row| row["name"] == key).cloned();
    (found.map(|row| row["value"].clone()).unwrap_or_default(), ran.stderr)
}

fn user_file(env: &TestEnv, document: &Value) {
    let folder = env.home().join("config/heirloom");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.json"), document.to_string()).unwrap();
}

fn with_token(env: &TestEnv, token: &str, args: &[&str]) -> Ran {
    finish(env.command(HEIRLOOM).args(args).env("HEIRLOOM_TOKEN", token))
}

#[test]
fn no_spelling_of_a_flag_loosens_the_gate_without_a_person() {
    let env = TestEnv::ready();
    for flag in [
        "gate.profile=seed",
        r#"gate={"profile":"seed"}"#,
        r#"gate={"profile":"standard","profile":"seed"}"#,
        "Gate.profile=seed",
        " gate.profile =seed",
        r#"Gate={"profile":"seed"}"#,
        r#"gate={" profile":"seed"}"#,
    ] {
        let (value, said) = counts(&env, "gate.profile", &["--set", flag], &[]);
        assert_eq!(value, "standard", "{flag}");
        assert!(said.contains("profile") || said.contains("Gate"), "{flag}: {said}");
    }
    for flag in [r#"gate={"profiles.records":"seed"}"#, r#"gate.profiles={"records":"seed"}"#] {
        let (value, said) = counts(&env, "gate.profiles.records", &["--set", flag], &[]);
        assert_eq!(value, Value::Null, "{flag}");
        assert!(said.contains("only a person"), "{flag}: {said}");
    }
    // A text is on, whatever it says.
    let (capture, _) = counts(&env, "tiers.capture", &["--set", r#"tiers.capture="false""#], &[]);
    assert_eq!(capture, false);
    let more = ["--set", "gate.contact=redact", "--set", r#"gate={"contact":"keep"}"#];
    assert_eq!(counts(&env, "gate.contact", &more, &[]).0, "redact", "what anybody may say still counts");
    let (value, _) = counts(&env, "retrieval.max_inject", &["--set", r#"retrieval={"max_inject":3}"#], &[]);
    assert_eq!(value, 3);
}

#[test]
fn no_spelling_of_a_variable_raises_trust_or_aims_an_endpoint_without_a_person() {
    let env = TestEnv::ready();
    for (name, value) in [
        ("HEIRLOOM_SET_TIERS", r#"{"trust":{"agent":"high"}}"#),
        ("HEIRLOOM_SET_TIERS__TRUST", r#"{"agent":"high"}"#),
        ("HEIRLOOM_SET_TIERS", r#"{"trust.agent":"high"}"#),
        ("HEIRLOOM_SET_TIERS__TRUST__AGENT", "high"),
    ] {
        let (trust, said) = counts(&env, "tiers.trust.agent", &[], &[(name, value)]);
        assert_eq!(trust, Value::Null, "{name}={value}");
        assert!(said.contains("tiers.trust.agent"), "{said}");
    }
    let endpoint =
        r#"embedding={"url":"https://evil.example","key_file":"/etc/passwd","model":"m","dimensions":3}"#;
    for key in ["embedding.url", "embedding.key_file"] {
        let (value, said) = counts(&env, key, &["--set", endpoint], &[]);
        assert_eq!(value, Value::Null);
        assert!(said.contains(key), "{said}");
    }
    let (days, _) = counts(&env, "tiers.episode_days", &["--set", "tiers.episode_days=1"], &[]);
    assert_eq!(days, 90, "what governs the user's own data is the user's");
    let (root, _) = counts(&env, "memory_root", &["--set", "memory_root=/tmp/elsewhere"], &[]);
    assert_eq!(root, ".claude/memory");
}

#[test]
fn a_dotted_name_in_a_file_meets_the_same_guard_as_a_nested_one() {
    let env = TestEnv::ready();
    env.write(
        format!("{ROOT}/memory-config.json"),
        r#"{"gate.profile": "seed", "tiers.capture": true, "tiers": {"max_facts": 0}, "retrieval.max_inject": 4}"#,
    );
    assert_eq!(counts(&env, "gate.profile", &[], &[]).0, "standard");
    assert_eq!(counts(&env, "tiers.capture", &[], &[]).0, false);
    assert_eq!(counts(&env, "tiers.max_facts", &[], &[]).0, 20);
    assert_eq!(counts(&env, "retrieval.max_inject", &[], &[]).0, 4);
    user_file(&env, &json!({ "gate.contact": "redact" }));
    assert_eq!(counts(&env, "gate.contact", &[], &[]).0, "redact");
}

#[test]
fn what_leads_to_no_setting_is_refused_and_named() {
    let env = TestEnv::ready();
    assert!(counts(&env, "gate.profile", &["--set", "nothing.there=1"], &[]).1.contains("nothing.there"));
    assert!(counts(&env, "gate.profile", &[], &[("HEIRLOOM_SET_GATE", "seed")]).1.contains("gate"));
    for (key, value) in
        [("gate", "seed"), ("gate", r#"{"profil":"seed"}"#), ("Gate.profile", "seed"), ("gate", "{}")]
    {
        env.run(&["config", "set", "--user", key, value]).fails_with("CONFIG_ERROR", 1);
        env.run(&["config", "set", key, value]).fails_with("CONFIG_ERROR", 1);
    }
}

#[test]
fn only_a_person_changes_or_removes_a_guarded_setting_however_it_is_spelled() {
    let env = TestEnv::ready();
    for document in [
        json!({ "gate": { "contact": "redact" }, "retrieval": { "max_inject": 2 } }),
        json!({ "gate.contact": "redact", "retrieval.max_inject": 2 }),
    ] {
        user_file(&env, &document);
        for args in [
            &["unset", "--user", "gate"][..],
            &["unset", "--user", "gate.contact"],
            &["unset", "--user", "Gate"],
            &["unset", "--user", "GATE.CONTACT"],
            &["set", "--user", "gate", r#"{"contact":"keep"}"#],
            &["set", "--user", "gate.contact", "keep"],
        ] {
            env.run(&[&["config"], args].concat()).fails_with("NEEDS_PERSON", 1);
            assert_eq!(counts(&env, "gate.contact", &[], &[]).0, "redact", "{args:?}");
        }
        env.run(&["config", "unset", "--user", "retrieval"]).ok();
        assert_eq!(counts(&env, "retrieval.max_inject", &[], &[]).0, 5);
        env.at_terminal(&["config", "set", "--user", "gate", r#"{"contact":"keep"}"#], "").ok();
        assert_eq!(counts(&env, "gate.contact", &[], &[]).0, "keep");
        env.at_terminal(&["config", "unset", "--user", "gate"], "").ok();
    }
    // What a project tightened stays tight.
    env.run(&["config", "set", "gate.contact", "redact"]).ok();
    env.run(&["config", "unset", "gate"]).fails_with("NEEDS_PERSON", 1);
    env.run(&["config", "set", "gate.rules", r#"[{"id":"a","pattern":"zz"}]"#]).ok();
    env.run(&["config", "set", "gate.rules", "[]"]).fails_with("NEEDS_PERSON", 1);
    assert_eq!(counts(&env, "gate.contact", &[], &[]).0, "redact");
}

#[test]
fn a_flag_without_a_value_is_refused_with_what_is_allowed() {
    let env = TestEnv::ready();
    for flag in ["foo", "retrieval.max_inject", "=3", ""] {
        let ran = env.run(&["list", "--set", flag]);
        ran.fails_with("USAGE", 2);
        assert!(ran.stderr.contains("KEY=VALUE"), "{ran:?}");
    }
}

#[test]
fn a_token_that_is_empty_or_unknown_is_nobody_to_every_verb_that_reaches_the_tiers() {
    let env = TestEnv::ready();
    let said = env.at_terminal(&["add", "episode", "The launch code is in the safe", "--json"], "").ok();
    let id = said.json()["id"].as_str().unwrap().to_owned();
    let id = id.as_str();
    for token in ["", " ", "hlm_guessed"] {
        for args in [
            &["list"][..],
            &["list", "--tier", "episodic"],
            &["search", "launch"],
            &["search", "--tier", "all", "launch"],
            &["recall", "where is the launch code?"],
            &["show", id],
            &["history", id],
            &["edit", id, "--field", "days=9"],
            &["retire", id],
            &["restore", id],
            &["forget", id, "--yes"],
            &["memory", "forget", id, "--yes"],
            &["clear", "all", "--yes"],
            &["expire"],
            &["export"],
            &["export", "--shelf", "tiers"],
            &["import", "-"],
            &["status"],
            &["verify"],
            &["audit"],
            &["audit", "verify"],
            &["review"],
            &["user", "list"],
            &["user", "add", "eve"],
            &["remember", "I like tea"],
            &["add", "episode", "hello"],
            &["scan", "--store"],
            &["gc"],
        ] {
            let ran = with_token(&env, token, args);
            ran.fails_with("UNAUTHENTICATED", 1);
            assert!(!ran.stdout.contains("launch"), "{args:?}: {ran:?}");
        }
        // What has nothing to do with the tiers goes on.
        with_token(&env, token, &["config", "get", "gate.profile"]).ok();
    }
    assert_eq!(
        env.run(&["show", id, "--json"]).ok().json()["status"],
        "active",
        "and nothing happened to it"
    );
    assert!(!env.run(&["user", "list", "--json"]).ok().stdout.contains("eve"));
}

#[test]
fn a_hook_with_a_token_of_nobody_leaves_the_tiers_out_and_notes_it() {
    let env = TestEnv::new();
    env.run(&["init"]).ok();
    env.at_terminal(&["add", "episode", "The launch code is in the green safe"], "").ok();
    let event =
        json!({ "prompt": "where is the launch code, in the green safe?", "cwd": env.project() }).to_string();
    let asked = |token: Option<&str>| {
        let mut command = env.command("sh");
        command.args(["-c", "printf %s \"$EVENT\" | heirloom hook prompt"]).env("EVENT", &event);
        if let Some(token) = token {
            command.env("HEIRLOOM_TOKEN", token);
        }
        finish(&mut command).ok()
    };
    assert!(asked(None).stdout.contains("green safe"), "or this test shows nothing");
    for token in ["", "hlm_guessed"] {
        let ran = asked(Some(token));
        assert!(!ran.stdout.contains("green safe"), "{ran:?}");
        let trace = std::fs::read_to_string(env.memory(".local/health/hooks.jsonl")).unwrap();
        assert!(trace.lines().last().unwrap().contains("the tiers are left out"), "{trace}");
    }
}

#[test]
fn a_token_kept_beside_an_address_goes_to_no_other() {
    let env = TestEnv::ready();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let evil = format!("postgres://me@127.0.0.1:{}/x", listener.local_addr().unwrap().port());
    let ran = finish(
        env.command(HEIRLOOM)
            .args(["list", "--database", &evil])
            .env("HEIRLOOM_DATABASE_URL", "postgres://me@127.0.0.1:1/own")
            .env("HEIRLOOM_TOKEN", "hlm_kept"),
    );
    ran.fails_with("UNAUTHENTICATED", 1);
    assert!(listener.accept().is_err(), "nobody even called there");
}

#[test]
fn no_tool_writes_into_the_users_own_settings_or_data() {
    let env = TestEnv::ready();
    let config = env.home().join("config/heirloom/config.json");
    let data = env.home().join("data/heirloom/tiers/memory.db");
    let link = env.project().join("innocent");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(config.parent().unwrap(), &link).unwrap();
    let denied = |tool: &str, input: Value| {
        let event = json!({ "tool_name": tool, "tool_input": input, "cwd": env.project(), "hook_event_name": "PreToolUse" });
        env.run_with(&["hook", "pre-write"], event.to_string().as_bytes()).ok().stdout.contains("deny")
    };
    for path in [
        config.display().to_string(),
        data.display().to_string(),
        format!("{}/data/../config/heirloom/other.json", env.home().display()),
        format!("{}/config.json", link.display()),
        "~/config/heirloom/config.json".to_owned(),
    ] {
        assert!(denied("Write", json!({ "file_path": &path, "content": "{}" })), "{path}");
    }
    assert!(denied("Bash", json!({ "command": format!("echo '{{}}' > {}", config.display()) })));
    assert!(denied("Bash", json!({ "command": format!("rm -rf {}", data.parent().unwrap().display()) })));
    let beside = env.home().join("config/other/config.json");
    assert!(!denied("Write", json!({ "file_path": beside, "content": "{}" })));
    assert!(
        !denied("Bash", json!({ "command": format!("cat {}", config.display()) })),
        "reading is not writing"
    );
}

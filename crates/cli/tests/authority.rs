//! Who may do what: a person, and everybody else, on a person's texts and on others.
//!
//! Comes in: the same command with and without a terminal. Goes out: done, waiting or refused, as the table of authority says.

use crate::env::TestEnv;

fn status(env: &TestEnv, name: &str) -> String {
    env.run(&["show", name, "--json"]).ok().json()["status"].as_str().unwrap().to_owned()
}

/// The key of the only thing that waits.
fn waiting(env: &TestEnv) -> String {
    let listed = env.run(&["review", "--json"]).ok().json();
    let drafts = listed["drafts"].as_array().unwrap();
    assert_eq!(drafts.len(), 1, "{listed}");
    drafts[0]["key"].as_str().unwrap().to_owned()
}

#[test]
fn an_agent_retires_and_archives_a_persons_memory_only_through_review() {
    let env = TestEnv::ready();
    env.at_terminal(&["add", "decision", "Use PostgreSQL because we need jsonb"], "").ok();
    for verb in ["retire", "archive"] {
        let ran = env.run(&[verb, "use-postgresql", "--reason", "tidying up"]);
        ran.fails_with("NEEDS_CONFIRMATION", 4);
        assert_eq!(status(&env, "use-postgresql"), "active");
        let key = waiting(&env);
        env.at_terminal(&["review", "reject", &key], "y\n").ok();
        assert_eq!(status(&env, "use-postgresql"), "active");
    }
    env.run(&["retire", "use-postgresql", "--reason", "replaced"]).fails_with("NEEDS_CONFIRMATION", 4);
    env.at_terminal(&["review", "accept", &waiting(&env)], "y\n").ok();
    assert_eq!(status(&env, "use-postgresql"), "retired");
}

#[test]
fn an_agent_does_not_bring_back_what_a_person_withdrew_whoever_wrote_it() {
    let env = TestEnv::ready();
    env.run(&["add", "decision", "Use Redis because it is fast"]).ok();
    env.at_terminal(&["retire", "use-redis", "--reason", "wrong"], "").ok();
    env.run(&["restore", "use-redis"]).fails_with("NEEDS_CONFIRMATION", 4);
    assert_eq!(status(&env, "use-redis"), "retired");
    env.at_terminal(&["restore", "use-redis"], "").ok();
    assert_eq!(status(&env, "use-redis"), "active");
    env.at_terminal(&["archive", "use-redis", "--reason", "later"], "").ok();
    env.run(&["unarchive", "use-redis"]).fails_with("NEEDS_CONFIRMATION", 4);
}

#[test]
fn agents_move_what_no_person_stands_behind_as_they_like() {
    let env = TestEnv::ready();
    env.run(&["add", "decision", "Use Redis because it is fast"]).ok();
    env.run(&["retire", "use-redis", "--reason", "no"]).ok();
    env.run(&["restore", "use-redis"]).ok();
    env.run(&["archive", "use-redis", "--reason", "no"]).ok();
    env.run(&["unarchive", "use-redis"]).ok();
}

#[test]
fn a_change_that_waited_is_not_carried_out_on_a_text_that_changed_since() {
    let env = TestEnv::ready();
    env.at_terminal(&["add", "decision", "Use PostgreSQL because we need jsonb"], "").ok();
    env.run(&["retire", "use-postgresql", "--reason", "old"]).fails_with("NEEDS_CONFIRMATION", 4);
    env.at_terminal(&["edit", "use-postgresql", "--tag", "database"], "").ok();
    let ran = env.at_terminal(&["review", "accept", &waiting(&env)], "y\n");
    ran.fails_with("OCC_CONFLICT", 1);
    assert_eq!(status(&env, "use-postgresql"), "active");
}

#[test]
fn a_program_names_what_it_changes_in_full_and_nobody_names_nothing() {
    let env = TestEnv::ready();
    env.run(&["add", "decision", "Use Redis because it is fast"]).ok();
    env.run(&["retire", "redis", "--reason", "no"]).fails_with("AMBIGUOUS", 1);
    env.run(&["retire", "", "--reason", "no"]).fails_with("USAGE", 2);
    env.at_terminal(&["retire", "redis", "--reason", "a person may give a part"], "").ok();
}

#[test]
fn an_agents_flag_retires_nothing_by_itself() {
    let env = TestEnv::ready();
    env.at_terminal(&["add", "decision", "Use PostgreSQL because we need jsonb"], "").ok();
    for set in ["categories.decision.max_retained=1", r#"categories={"decision":{"max_retained":1}}"#] {
        let ran = env
            .run(&["--set", set, "add", "decision", &format!("Use tool{} because it fits", set.len())])
            .ok();
        assert!(ran.stderr.contains("only a person"), "{ran:?}");
    }
    assert_eq!(status(&env, "use-postgresql"), "active");
    env.run(&["--set", "delete.grace_period_days=0", "gc"]).ok();
    env.run(&["--set", "memory_root=elsewhere", "add", "decision", "Use Kafka because of streams"]).ok();
    assert!(!env.project().join("elsewhere").exists());
}

#[test]
fn what_cannot_be_taken_back_is_refused_to_an_agent_with_the_way_to_do_it_and_audited() {
    let env = TestEnv::ready();
    env.run(&["add", "decision", "Use Redis because it is fast"]).ok();
    env.run(&["add", "canon", "We ship on Tuesdays"]);
    for args in [
        &["forget", "use-redis", "--yes"][..],
        &["memory", "forget", "use-redis", "--yes"],
        &["clear", "all", "--yes"],
        &["compact"],
        &["setup", "--uninstall", "--yes"],
    ] {
        let ran = env.run(args);
        ran.fails_with("NEEDS_PERSON", 1);
        assert!(ran.stderr.contains("--scope read,write,delete"), "{ran:?}");
    }
    assert_eq!(status(&env, "use-redis"), "active");
    let audit = env.run(&["audit", "--json"]).ok().json();
    let refused = audit.as_array().unwrap().iter().filter(|line| line["verdict"] == "refuse").count();
    assert!(refused >= 4, "{audit}");
    assert!(
        audit
            .as_array()
            .unwrap()
            .iter()
            .all(|line| line["by"].as_str().is_some_and(|by| by.starts_with("account:")))
    );
}

/// The first record of a project whose settings were changed by an agent, after that agent did something.
fn after_settings(settings: &[(&str, &str)], act: impl Fn(&TestEnv)) -> TestEnv {
    let env = TestEnv::ready();
    env.at_terminal(&["add", "decision", "Use PostgreSQL because we need jsonb"], "").ok();
    for (key, value) in settings {
        env.run(&["config", "set", key, value]).ok();
    }
    act(&env);
    env
}

#[test]
fn no_window_that_an_agent_sets_retires_what_a_person_wrote() {
    let add = |env: &TestEnv| {
        env.run(&["add", "decision", "Use Redis because it is fast"]).ok();
        let ran = env.run(&["add", "decision", "Use Kafka because it streams"]).ok();
        assert!(ran.stderr.contains("stays: a person stands behind it"), "{}", ran.stderr);
    };
    let env = after_settings(&[("categories.decision.max_retained", "1")], add);
    assert_eq!(status(&env, "use-postgresql"), "active");
    assert_eq!(status(&env, "use-redis"), "retired", "an agent's own is");
    assert_eq!(status(&env, "use-kafka"), "active");
    // A person's own is the person's to let go.
    env.at_terminal(&["add", "decision", "Use NATS because it is small"], "").ok();
    assert_eq!(status(&env, "use-postgresql"), "retired");
}

#[test]
fn no_time_that_an_agent_sets_retires_or_removes_what_a_person_wrote() {
    // Nothing in a record is trusted to say how old it is, so time passes by a settings file that asks for none of it.
    let settings = [("delete.grace_period_days", "0"), ("delete.archive_retired", "false")];
    let env = after_settings(&settings, |env| {
        env.at_terminal(&["retire", "use-postgresql", "--reason", "replaced"], "").ok();
        env.run(&["add", "decision", "Use Redis because it is fast"]).ok();
        env.run(&["retire", "use-redis", "--reason", "tidying up"]).ok();
    });
    let said = env.run(&["gc"]).ok().stdout;
    assert!(said.contains("use-postgresql.json: a person stands behind it"), "{said}");
    assert_eq!(status(&env, "use-postgresql"), "retired");
    env.run(&["show", "use-redis"]).fails_with("NOT_FOUND", 3);
    // Neither do a flag, a variable or the tool of the record shelf.
    env.run(&["--set", "delete.grace_period_days=0", "gc"]);
    env.run(&["gc", "--grace-days", "0"]);
    env.run(&["record", "index", "--gc"]);
    assert_eq!(status(&env, "use-postgresql"), "retired");
    env.at_terminal(&["gc"], "y\n").ok();
    env.run(&["show", "use-postgresql"]).fails_with("NOT_FOUND", 3);
}

#[test]
fn no_retention_that_an_agent_sets_retires_what_a_person_wrote() {
    let env = TestEnv::ready();
    let mut old = crate::env::decision("Use PostgreSQL");
    for key in ["created_at", "updated_at"] {
        old[key] = "2020-01-01T00:00:00Z".into();
    }
    for name in ["use-postgresql", "use-redis"] {
        old["id"] = name.into();
        env.write(format!("{}/decisions/{name}.json", crate::env::ROOT), old.to_string());
    }
    env.at_terminal(&["trust", "use-postgresql"], "y\n").ok();
    env.run(&["config", "set", "categories.decision.retention_days", "1"]).ok();
    env.run(&["gc"]).ok();
    assert_eq!(status(&env, "use-postgresql"), "active");
    assert_eq!(status(&env, "use-redis"), "retired", "nobody stands behind this one");
    env.at_terminal(&["gc"], "").ok();
    assert_eq!(status(&env, "use-postgresql"), "retired");
}

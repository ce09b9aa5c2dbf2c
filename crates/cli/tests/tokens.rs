//! Tokens: what each of them may, who makes them, and when they end.
//!
//! Comes in: commands with a token in the environment and no terminal. Goes out: what the token's scopes allow, and for the rest the command
//! that would give them.

use crate::env::{HEIRLOOM, Ran, TestEnv, finish};
use serde_json::Value;
use std::path::PathBuf;

fn with(env: &TestEnv, token: &str, args: &[&str]) -> Ran {
    finish(env.command(HEIRLOOM).args(args).env("HEIRLOOM_TOKEN", token))
}

/// A new token of anna's, made by a person.
fn token(env: &TestEnv, options: &[&str]) -> String {
    env.at_terminal(&["user", "add", "anna"], "").ok();
    let made = env.at_terminal(&[&["user", "token", "anna", "--json"], options].concat(), "").ok().json();
    made["token"].as_str().unwrap().to_owned()
}

fn token_files(env: &TestEnv) -> Vec<PathBuf> {
    let folder = env.home().join("data/heirloom/tiers/tokens");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    // Beside a token stands when it was last used.
    paths.filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect()
}

#[test]
fn a_token_with_the_scope_delete_forgets_without_a_person() {
    let env = TestEnv::ready();
    let may = token(&env, &["--scope", "read,write,delete"]);
    let may_not = token(&env, &["--name", "usual"]);
    env.at_terminal(&["add", "decision", "Use PostgreSQL because we need jsonb"], "").ok();
    let id = "decision:use-postgresql";
    for args in [&["forget", id, "--yes"][..], &["clear", "all", "--yes"], &["compact"]] {
        let refused = with(&env, &may_not, args);
        refused.fails_with("SECURITY_ERROR", 1);
        assert!(refused.stderr.contains("heirloom user token NAME --scope read,write,delete"), "{refused:?}");
    }
    let without = env.run(&["forget", id, "--yes"]);
    without.fails_with("NEEDS_PERSON", 1);
    assert!(without.stderr.contains("heirloom user token NAME --scope read,write,delete"), "{without:?}");
    env.run(&["show", id]).ok();
    // A part of a name is no name, and a yes that nobody gave is none.
    with(&env, &may, &["forget", "postgres", "--yes"]).fails_with("AMBIGUOUS", 1);
    with(&env, &may, &["forget", id]).fails_with("NEEDS_PERSON", 1);
    with(&env, &may, &["forget", id, "--yes"]).ok();
    env.run(&["show", id]).fails_with("NOT_FOUND", 3);
    with(&env, &may, &["add", "episode", "hello there"]).ok();
    assert_eq!(with(&env, &may, &["clear", "all", "--yes", "--json"]).ok().json()["count"], 1);
    let chain = std::fs::read_to_string(env.memory(".local/audit.jsonl")).unwrap();
    let id_of = &env.at_terminal(&["user", "list", "--json"], "").ok().json()[0]["tokens"][0]["id"];
    assert!(chain.contains(&format!("token:anna/{}", id_of.as_str().unwrap())), "{chain}");
}

#[test]
fn facts_of_a_token_with_that_scope_are_stored_as_the_programs_own() {
    let env = TestEnv::ready();
    let usual = token(&env, &[]);
    with(&env, &usual, &["remember", "I live in Graz"]).fails_with("NEEDS_CONFIRMATION", 4);
    let facts = token(&env, &["--scope", "read,write,facts", "--name", "notes"]);
    let kept = with(&env, &facts, &["remember", "I prefer dark themes", "--json"]).ok().json();
    let shown = with(&env, &facts, &["show", kept["id"].as_str().unwrap(), "--json"]).ok().json();
    assert_eq!((&shown["source"], &shown["trust"]), (&"ai_inference".into(), &"low".into()), "{shown}");
    with(&env, &facts, &["remember", "I prefer light themes"]).fails_with("NEEDS_CONFIRMATION", 4);
}

#[test]
fn users_and_tokens_are_looked_after_by_a_person_or_a_token_made_for_it() {
    let env = TestEnv::ready();
    let usual = token(&env, &[]);
    let admin = token(&env, &["--scope", "read,write,admin", "--name", "keeper"]);
    for args in [
        &["user", "add", "bert"][..],
        &["user", "token", "anna"],
        &["user", "token", "anna", "--revoke"],
        &["export", "--shelf", "tiers", "--all-users"],
    ] {
        let refused = env.run(args);
        refused.fails_with("NEEDS_PERSON", 1);
        assert!(refused.stderr.contains("user token NAME --scope read,write,admin"), "{refused:?}");
        with(&env, &usual, args).fails_with("SECURITY_ERROR", 1);
    }
    with(&env, &admin, &["user", "add", "bert"]).ok();
    let made = with(&env, &admin, &["user", "token", "bert", "--json"]).ok().json();
    with(&env, made["token"].as_str().unwrap(), &["add", "episode", "bert was here"]).ok();
    let archive = with(&env, &admin, &["export", "--shelf", "tiers", "--all-users"]).ok().stdout;
    assert!(archive.contains("bert was here"));
    // A token hands on what it has.
    let more = with(&env, &admin, &["user", "token", "bert", "--scope", "read,delete"]);
    more.fails_with("SECURITY_ERROR", 1);
    let audit = with(&env, &admin, &["audit", "--tiers", "--event", "account_change", "--json"]).ok().stdout;
    assert!(audit.contains("user_add: user `bert`") && audit.contains("token:anna/"), "{audit}");
    assert!(!audit.contains(made["token"].as_str().unwrap()));
}

#[test]
fn a_revoked_and_an_ended_token_are_nobodys_and_others_go_on() {
    let env = TestEnv::ready();
    let first = token(&env, &["--name", "ci"]);
    let usual = token(&env, &["--days", "30"]);
    let list = ["list", "--tier", "episodic"];
    with(&env, &first, &list).ok();
    env.at_terminal(&["user", "token", "anna", "--revoke", "--name", "ci"], "").ok();
    with(&env, &first, &list).fails_with("UNAUTHENTICATED", 1);
    env.at_terminal(&["user", "token", "anna", "--revoke", "--name", "ci"], "").fails_with("NOT_FOUND", 3);
    with(&env, &usual, &list).ok();
    let files = token_files(&env);
    assert_eq!(files.len(), 1, "{files:?}");
    let mut kept: Value = serde_json::from_slice(&std::fs::read(&files[0]).unwrap()).unwrap();
    assert!(kept["expires_at"].is_string());
    kept["expires_at"] = "2026-01-01T00:00:00Z".into();
    std::fs::write(&files[0], kept.to_string()).unwrap();
    let ended = with(&env, &usual, &list);
    ended.fails_with("UNAUTHENTICATED", 1);
    assert!(ended.stderr.contains("this token ended on 2026-01-01"), "{ended:?}");
    assert!(ended.stderr.contains("heirloom user token anna"), "{ended:?}");
    for (options, code) in [
        (&["--scope", "everything"][..], "USAGE"),
        (&["--scope", ""], "USAGE"),
        (&["--days", "0"], "USAGE"),
        (&["--name", "a/b"], "USAGE"),
    ] {
        env.at_terminal(&[&["user", "token", "anna"], options].concat(), "").fails_with(code, 2);
    }
}

#[test]
fn a_token_that_may_only_read_changes_nothing_of_its_users_even_at_a_terminal() {
    let env = TestEnv::ready();
    let reads = token(&env, &["--scope", "read"]);
    env.at_terminal(&["add", "decision", "Use PostgreSQL because we need jsonb"], "").ok();
    let variables = [("HEIRLOOM_TOKEN", reads.as_str())];
    with(&env, &reads, &["retire", "use-postgresql", "--reason", "x"]).fails_with("SECURITY_ERROR", 1);
    with(&env, &reads, &["remember", "I like tea"]).fails_with("SECURITY_ERROR", 1);
    env.at_terminal_with(&["remember", "I like tea"], "", &variables).fails_with("SECURITY_ERROR", 1);
    with(&env, &reads, &["show", "use-postgresql"]).ok();
}

#[test]
fn a_user_is_removed_by_a_person_with_all_that_is_theirs() {
    let env = TestEnv::ready();
    let theirs = token(&env, &[]);
    with(&env, &theirs, &["add", "episode", "the zebrafish are fed at noon"]).ok();
    let admin = token(&env, &["--name", "keeper", "--scope", "read,write,delete,facts,admin,upkeep"]);
    env.run(&["user", "remove", "anna", "--yes"]).fails_with("NEEDS_PERSON", 1);
    with(&env, &theirs, &["user", "remove", "anna", "--yes"]).fails_with("SECURITY_ERROR", 1);
    let own = with(&env, &admin, &["user", "remove", "anna", "--yes"]);
    own.fails_with("USAGE", 2);
    let asked = env.at_terminal(&["user", "remove", "anna"], "n\n");
    assert_eq!(asked.code, Some(1), "{asked:?}");
    let said = format!("{}{}", asked.stdout, asked.stderr);
    assert!(
        said.contains("1 memory ") && said.contains("2 tokens") && said.contains("cannot be undone"),
        "{said}"
    );
    with(&env, &theirs, &["list", "--tier", "episodic"]).ok();
    let would = env.at_terminal(&["user", "remove", "anna", "--dry-run", "--json"], "").ok().json();
    assert_eq!((&would["status"], &would["memories"]), (&"would_remove".into(), &1.into()));
    let removed = env.at_terminal(&["user", "remove", "anna", "--json"], "y\n").ok().json();
    assert_eq!(removed["status"], "removed");
    with(&env, &theirs, &["list", "--tier", "episodic"]).fails_with("UNAUTHENTICATED", 1);
    let left = env.files_below(&env.home());
    let holds = |(_, bytes): &(String, Vec<u8>)| String::from_utf8_lossy(bytes).contains("zebrafish");
    assert!(
        !left.iter().any(holds),
        "{:?}",
        left.iter().filter(|one| holds(one)).map(|(n, _)| n).collect::<Vec<_>>()
    );
    env.at_terminal(&["user", "remove", "anna"], "y\n").fails_with("NOT_FOUND", 3);
    env.run(&["audit", "verify"]).ok();
}

#[test]
fn tokens_say_in_which_hour_they_were_last_used() {
    let env = TestEnv::ready();
    let usual = token(&env, &[]);
    let used = || {
        let listed = env.at_terminal(&["user", "token", "anna", "--list", "--json"], "").ok().json();
        listed[0]["used_at"].as_str().map(str::to_owned)
    };
    assert_eq!(used(), None);
    with(&env, &usual, &["list", "--tier", "episodic"]).ok();
    let hour = used().unwrap();
    assert!(hour.ends_with(":00:00Z"), "{hour}");
    let shown = env.at_terminal(&["user", "list"], "").ok().stdout;
    assert!(shown.contains("USED") && shown.contains(&hour), "{shown}");
    env.at_terminal(&["user", "token", "nobody", "--list"], "").fails_with("NOT_FOUND", 3);
}

#[test]
fn a_token_that_is_nobodys_stands_in_the_audit_of_the_account_that_was_asked() {
    let env = TestEnv::ready();
    for args in [&["list", "--tier", "episodic"][..], &["add", "episode", "hello there"]] {
        with(&env, "hlm_guessed", args).fails_with("UNAUTHENTICATED", 1);
    }
    let lines = env.run(&["audit", "--settings", "--json"]).ok().json();
    let turned_away = |line: &&Value| {
        line["action"] == "sign_in" && line["verdict"] == "refuse" && line["code"] == "UNAUTHENTICATED"
    };
    assert_eq!(lines.as_array().unwrap().iter().filter(turned_away).count(), 2, "{lines}");
    assert!(!lines.to_string().contains("guessed"));
    env.run(&["audit", "verify"]).ok();
}

//! What an agent may change of a person's texts, kind by kind: edit, convert, anchor, supersede, and `record write`.
//!
//! Comes in: the same text by a person and by an agent, and the same change by an agent. Goes out: a change that waits with the old text in
//! force, carried out by a person's yes and by nothing else; or done at once, where no person stands behind the text.

use crate::env::TestEnv;
use serde_json::{Value, json};

/// A text of each kind that changes, how it is added, and a change by flags.
struct Case {
    kind: &'static str,
    add: &'static [&'static str],
    edit: &'static [&'static str],
    /// What the changed text says and the old one does not.
    says: &'static str,
}

const CASES: &[Case] = &[
    Case {
        kind: "decision",
        add: &["add", "decision", "Use PostgreSQL because we need jsonb"],
        edit: &["--field", "rationale=it is boring"],
        says: "it is boring",
    },
    Case {
        kind: "lesson",
        add: &["add", "lesson", "Rebase lost commits, fixed by git reflog", "--topic", "git/rebase"],
        edit: &["--field", "solution=look into the backup"],
        says: "look into the backup",
    },
    Case {
        kind: "canon",
        add: &["add", "canon", "The importer belongs to the data team"],
        edit: &["--text", "The importer belongs to the platform team"],
        says: "platform team",
    },
    Case {
        kind: "register",
        add: &["add", "register", "Working on the importer", "--topic", "task", "--scope", "orion"],
        edit: &["--text", "Working on the exporter"],
        says: "exporter",
    },
    Case {
        kind: "fact",
        add: &["add", "fact", "I work at Acme"],
        edit: &["--text", "I work at Initech"],
        says: "Initech",
    },
];

/// In two parts, so that no scanner takes this file for a leak.
const SECRET_HEAD: &str = "ghp_";
const SECRET_TAIL: &str = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";

fn env() -> TestEnv {
    let env = TestEnv::ready();
    let folder = env.home().join("config/heirloom");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.json"), r#"{"agents":{"orion":{"scope":"orion"}}}"#).unwrap();
    env
}

fn added(ran: crate::env::Ran) -> String {
    ran.ok().json()["id"].as_str().unwrap().to_owned()
}

fn by_person(env: &TestEnv, args: &[&str]) -> String {
    added(env.at_terminal(&[args, &["--json"]].concat(), ""))
}

fn by_agent(env: &TestEnv, args: &[&str]) -> String {
    added(env.run(&[args, &["--json"]].concat()))
}

fn body(env: &TestEnv, id: &str) -> String {
    let shown = env.at_terminal(&["show", id, "--json"], "").ok().json();
    format!("{} {}", shown["title"].as_str().unwrap(), shown["body"].as_str().unwrap())
}

fn drafts(env: &TestEnv) -> Vec<Value> {
    env.run(&["review", "--json"]).ok().json()["drafts"].as_array().unwrap().clone()
}

/// The key of the only thing that waits.
#[track_caller]
fn waiting(env: &TestEnv) -> String {
    let drafts = drafts(env);
    assert_eq!(drafts.len(), 1, "{drafts:?}");
    drafts[0]["key"].as_str().unwrap().to_owned()
}

#[test]
fn an_agents_edit_of_a_persons_text_waits_on_every_shelf_and_a_persons_yes_carries_it_out() {
    let env = env();
    for case in CASES {
        let id = by_person(&env, case.add);
        let args = [&["edit", id.as_str()], case.edit].concat();
        // An agent sees only what is shared; the vault's own scopes are tried as the agent whose they are below.
        if case.kind != "register" {
            env.run(&args).fails_with("NEEDS_CONFIRMATION", 4);
            assert!(!body(&env, &id).contains(case.says), "{}: the old text stays in force", case.kind);
            let key = waiting(&env);
            assert_ne!(env.run(&["review", "accept", &key]).code, Some(0), "an agent accepts nothing");
            assert!(!body(&env, &id).contains(case.says), "{}", case.kind);
            let accepted = env.at_terminal(&["review", "accept", &key], "y\n").ok();
            assert!(drafts(&env).is_empty(), "{}: {accepted:?}", case.kind);
            let listed = env.at_terminal(&["list", "--json"], "").ok().stdout;
            let now = env.at_terminal(&["search", case.says, "--json"], "").ok().stdout;
            assert!(listed.contains(case.says) || now.contains(case.says), "{}: {now}", case.kind);
        } else {
            env.run(&args).fails_with("NOT_FOUND", 3);
        }
    }
}

#[test]
fn an_edit_that_waited_is_not_carried_out_on_a_text_that_changed_since() {
    let env = env();
    for case in CASES.iter().filter(|case| case.kind != "register") {
        let id = by_person(&env, case.add);
        env.run(&[&["edit", id.as_str()], case.edit].concat()).fails_with("NEEDS_CONFIRMATION", 4);
        let key = waiting(&env);
        let meanwhile: &[&str] = match case.kind {
            "decision" => &["--field", "rationale=people like it"],
            "lesson" => &["--field", "solution=people know"],
            "fact" => &["--text", "I work at Hooli"],
            _ => &["--text", "The importer belongs to the search team"],
        };
        env.at_terminal(&[&["edit", id.as_str()], meanwhile].concat(), "").ok();
        env.at_terminal(&["review", "accept", &key], "y\n").fails_with("OCC_CONFLICT", 1);
        let all = env.at_terminal(&["list", "--json"], "").ok().stdout;
        assert!(!all.contains(case.says), "{}", case.kind);
        env.at_terminal(&["review", "reject", &key], "").ok();
    }
}

#[test]
fn agents_change_their_own_texts_at_once() {
    let env = env();
    for case in CASES.iter().filter(|case| matches!(case.kind, "decision" | "lesson")) {
        let id = by_agent(&env, case.add);
        env.run(&[&["edit", id.as_str()], case.edit].concat()).ok();
        assert!(body(&env, &id).contains(case.says), "{}", case.kind);
    }
    assert!(drafts(&env).is_empty());
}

#[test]
fn a_low_trust_write_replaces_no_register_of_a_person_in_any_scope() {
    let env = env();
    for scope in ["shared", "orion"] {
        let id = by_person(
            &env,
            &["add", "register", "Working on the importer", "--topic", "task", "--scope", scope],
        );
        let add = ["add", "register", "Working on the exporter", "--topic", "task", "--scope", scope];
        env.run(&add).fails_with("NEEDS_CONFIRMATION", 4);
        env.run_with(
            &["vault", "bulk-add", "-"],
            json!({ "text": "Working on the exporter", "tier": "register", "topic_id": "task", "scope": scope })
                .to_string()
                .as_bytes(),
        );
        assert!(body(&env, &id).contains("importer"), "{scope}");
        // Twice asked for by two doors is two requests, and a person who changed the register meanwhile is not overruled.
        env.at_terminal(&["edit", &id, "--text", "Working on the parser"], "").ok();
        for draft in drafts(&env) {
            let key = draft["key"].as_str().unwrap().to_owned();
            env.at_terminal(&["review", "accept", &key], "y\n").fails_with("OCC_CONFLICT", 1);
            env.at_terminal(&["review", "reject", &key], "").ok();
        }
        assert!(body(&env, &id).contains("parser"), "{scope}");
        env.run(&add).fails_with("NEEDS_CONFIRMATION", 4);
        env.at_terminal(&["review", "accept", &waiting(&env)], "y\n").ok();
        assert!(body(&env, &id).contains("exporter"), "{scope}");
    }
    // Its own register an agent keeps up to date.
    let own = ["add", "register", "Reading the parser", "--topic", "own", "--scope", "orion"];
    let id = by_agent(&env, &own);
    let next =
        by_agent(&env, &["add", "register", "Reading the lexer", "--topic", "own", "--scope", "orion"]);
    assert_eq!(id, next);
    assert!(body(&env, &id).contains("lexer"));
}

#[test]
fn an_agent_makes_nothing_else_of_a_persons_text_without_a_yes() {
    let env = env();
    for case in CASES.iter().filter(|case| matches!(case.kind, "decision" | "lesson")) {
        let id = by_person(&env, case.add);
        env.run(&["convert", &id, "constraint", "Do it like this", "--retire"])
            .fails_with("NEEDS_CONFIRMATION", 4);
        env.run(&["show", "constraint:do-it-like-this"]).fails_with("NOT_FOUND", 3);
        env.at_terminal(&["review", "accept", &waiting(&env)], "y\n").ok();
        let made = env.run(&["show", "constraint:do-it-like-this", "--json"]).ok().json();
        assert_eq!((&made["trust"], &made["source"]), (&json!("high"), &json!("ai_inference")));
        assert_eq!(env.run(&["show", &id, "--json"]).ok().json()["status"], "retired");
        env.at_terminal(&["forget", "constraint:do-it-like-this"], "y\n").ok();
    }
    let own = by_agent(&env, &["add", "decision", "Use Redis because it is fast"]);
    env.run(&["convert", &own, "constraint", "Flush Redis by hand"]).ok();
}

#[test]
fn an_agent_cites_nothing_for_a_persons_memory_without_a_yes() {
    let env = env();
    std::fs::write(env.project().join("queue.rs"), "fn fetch() {}\nfn push() {}\n").unwrap();
    let id = by_person(&env, CASES[0].add);
    env.run(&["anchor", "add", &id, "queue.rs:2"]).fails_with("NEEDS_CONFIRMATION", 4);
    assert_eq!(env.run(&["anchor", "list", &id, "--json"]).ok().json(), json!([]));
    env.at_terminal(&["review", "accept", &waiting(&env)], "y\n").ok();
    assert_eq!(env.run(&["anchor", "list", &id, "--json"]).ok().json()[0]["state"], "unchanged");
    for deed in ["renew", "drop"] {
        env.run(&["anchor", deed, &id]).fails_with("NEEDS_CONFIRMATION", 4);
        env.at_terminal(&["review", "reject", &waiting(&env)], "").ok();
    }
    let own = by_agent(&env, &["add", "decision", "Use Redis because it is fast", "--anchor", "queue.rs:1"]);
    env.run(&["anchor", "drop", &own]).ok();
}

/// `record write` with a document, as scripts call it.
fn record_write(env: &TestEnv, action: &str, name: &str, document: Option<&Value>) -> crate::env::Ran {
    let target = format!(".claude/memory/decisions/{name}.json");
    let mut args = vec!["record", "write", "--action", action, "--target", &target];
    let input = env.scratch().join("input.json");
    let input = input.to_str().unwrap();
    if let Some(document) = document {
        std::fs::write(input, document.to_string()).unwrap();
        args.extend(["--input", input, "--category", "decision"]);
    }
    env.run(&args)
}

#[test]
fn record_write_waits_where_it_touches_a_persons_text_and_says_so_in_its_own_form() {
    let env = env();
    by_person(&env, CASES[0].add);
    let name = "use-postgresql";
    let before = std::fs::read(env.memory("decisions/use-postgresql.json")).unwrap();
    let mut document: Value = serde_json::from_slice(&before).unwrap();
    document["content"]["rationale"] = json!(["it is boring"]);
    document["changes"] = json!([{ "date": "2026-01-10T09:00:00Z", "summary": "Said better" }]);
    for action in ["update", "delete", "archive"] {
        let ran = record_write(&env, action, name, (action == "update").then_some(&document));
        assert_eq!((ran.kind(), ran.code), ("NEEDS_CONFIRMATION", Some(4)), "{action}: {ran:?}");
        assert!(ran.stdout.contains("\nid: decision:use-postgresql\nkey: "), "{ran:?}");
        assert!(ran.stdout.contains("\nfix: a person accepts it with `heirloom review accept "), "{ran:?}");
        assert_eq!(std::fs::read(env.memory("decisions/use-postgresql.json")).unwrap(), before, "{action}");
        let key = waiting(&env);
        env.at_terminal(&["review", "reject", &key], "").ok();
    }
    // What could not be stored is refused at once and waits for nobody.
    let mut wrong = document.clone();
    wrong["content"]["status"] = json!("perhaps");
    assert_eq!(record_write(&env, "update", name, Some(&wrong)).kind(), "VALIDATION_ERROR");
    let mut secret = document.clone();
    secret["content"]["rationale"] = json!([format!("the key is {SECRET_HEAD}{SECRET_TAIL}")]);
    assert_eq!(record_write(&env, "update", name, Some(&secret)).kind(), "GATE_REFUSED");
    assert!(drafts(&env).is_empty());
    assert_eq!(record_write(&env, "update", name, Some(&document)).code, Some(4));
    env.at_terminal(&["review", "accept", &waiting(&env)], "y\n").ok();
    let stored = env.decision(name);
    assert_eq!(stored["content"]["rationale"], json!(["it is boring"]));
    let told: Vec<&Value> = stored["changes"].as_array().unwrap().iter().map(|c| &c["summary"]).collect();
    assert!(told.contains(&&json!("Said better")) && !told.contains(&&json!("Edited")), "{told:?}");
}

#[test]
fn record_write_brings_back_nothing_that_a_person_withdrew_whoever_wrote_it() {
    let env = env();
    by_agent(&env, CASES[0].add);
    let name = "use-postgresql";
    env.at_terminal(&["retire", name, "--reason", "wrong"], "").ok();
    let ran = record_write(&env, "restore", name, None);
    assert_eq!((ran.kind(), ran.code), ("NEEDS_CONFIRMATION", Some(4)), "{ran:?}");
    // Nor under other bytes: neither rewritten first, nor written anew once its name is free.
    let mut document = env.decision(name);
    document["content"]["rationale"] = json!(["it is boring"]);
    document["changes"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "date": "2026-01-10T09:00:00Z", "summary": "x" }));
    assert_eq!(record_write(&env, "update", name, Some(&document)).code, Some(4));
    env.run(&["edit", name, "--tag", "new"]).fails_with("NEEDS_CONFIRMATION", 4);
    env.run(&["convert", &format!("decision:{name}"), "constraint"]).fails_with("NEEDS_CONFIRMATION", 4);
    assert_eq!(env.decision(name)["record_status"], "retired");
}

#[test]
fn a_retired_name_of_a_person_is_not_written_over_by_an_agent() {
    let env = env();
    by_person(&env, CASES[0].add);
    let name = "use-postgresql";
    env.at_terminal(&["retire", name, "--reason", "old"], "").ok();
    // Retired long enough ago for its name to be free.
    let file = env.memory("decisions/use-postgresql.json");
    let mut old = env.decision(name);
    old["retired_at"] = json!("2020-01-01T00:00:00Z");
    std::fs::write(&file, serde_json::to_string_pretty(&old).unwrap()).unwrap();
    env.at_terminal(&["trust", name], "y\n").ok();
    let kept = std::fs::read(&file).unwrap();
    env.run(CASES[0].add).fails_with("NEEDS_CONFIRMATION", 4);
    assert_eq!(std::fs::read(&file).unwrap(), kept);
    env.at_terminal(&["review", "accept", &waiting(&env)], "y\n").ok();
    assert_eq!(env.decision(name)["record_status"], "active");
}

#[test]
fn a_version_is_checked_whatever_is_changed() {
    let env = env();
    for case in CASES.iter().filter(|case| case.kind != "register") {
        let id = by_person(&env, case.add);
        let wrong = "0".repeat(64);
        let args = [&["edit", id.as_str(), "--version", &wrong], case.edit].concat();
        env.at_terminal(&args, "").fails_with("OCC_CONFLICT", 1);
        assert!(!body(&env, &id).contains(case.says), "{}", case.kind);
    }
    let id = by_person(&env, &["add", "fact", "I play chess"]);
    let wrong = "0".repeat(64);
    let only_field = ["edit", &id, "--version", &wrong, "--field", "confidence=0.5"];
    env.at_terminal(&only_field, "").fails_with("OCC_CONFLICT", 1);
}

#[test]
fn many_at_once_wait_one_by_one() {
    let env = env();
    let theirs = by_person(&env, &["add", "register", "Working on the importer", "--topic", "task"]);
    let own = by_agent(&env, &["add", "register", "Reading", "--topic", "own", "--scope", "orion"]);
    let ran = env.at_terminal(&["vault", "bulk-delete", &own], "").ok();
    assert!(ran.stdout.contains("retired"), "{ran:?}");
    let ran = env.run(&["vault", "bulk-delete", &theirs, "register:nothing", "--json"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert_eq!(
        (&ran.json()["waiting"], &ran.json()["not_found"]),
        (&json!([theirs]), &json!(["register:nothing"]))
    );
    assert_eq!(env.at_terminal(&["show", &theirs, "--json"], "").ok().json()["status"], "active");
    env.at_terminal(&["review", "accept", &waiting(&env)], "y\n").ok();
    assert_eq!(env.at_terminal(&["show", &theirs, "--json"], "").ok().json()["status"], "retired");
}

#[test]
fn a_secret_does_not_wait_in_the_inbox() {
    let env = env();
    let secret = format!("{SECRET_HEAD}{SECRET_TAIL}");
    let id = by_person(&env, CASES[0].add);
    let field = format!("rationale=the key is {secret}");
    env.run(&["edit", &id, "--field", &field]).fails_with("GATE_REFUSED", 1);
    env.run(&["convert", &id, "constraint", &secret]).fails_with("GATE_REFUSED", 1);
    env.run(&["retire", &id, "--reason", &secret]).fails_with("GATE_REFUSED", 1);
    assert!(drafts(&env).is_empty());
    let found = env
        .files_below(&env.base())
        .into_iter()
        .find(|(_, bytes)| String::from_utf8_lossy(bytes.as_ref()).contains(&secret));
    assert!(found.is_none(), "{:?}", found.map(|(name, _)| name));
}

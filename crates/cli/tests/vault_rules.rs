//! The vault through the command line: what its own tools say, and whose word counts.

use crate::env::{Ran, TestEnv};
use serde_json::json;

fn ready() -> TestEnv {
    let env = TestEnv::new();
    env.run(&["init"]).ok();
    env
}

fn add(env: &TestEnv, kind: &str, text: &str, more: &[&str]) -> String {
    let args = [&["add", kind, text, "--json"][..], more].concat();
    env.at_terminal(&args, "").ok().json()["id"].as_str().unwrap().to_owned()
}

fn from(env: &TestEnv, kind: &str, object: &str) -> Ran {
    env.run_with(&["add", kind, "--from", "-", "--json"], object.as_bytes())
}

#[test]
fn punctuation_alone_finds_nothing_and_a_tombstone_only_who_asks_for_it() {
    let env = ready();
    let id = add(&env, "canon", "Our mission is to keep tools simple!", &[]);
    let gone = add(&env, "canon", "Every service speaks plain English?", &[]);
    env.run(&["add", "lesson", "Commits were lost - fixed by reflog...", "--topic", "git/rebase"]).ok();
    env.run(&["add", "note", "What we saw?!\nand more of it..."]).ok();
    env.at_terminal(&["retire", &gone], "").ok();
    for strategy in ["title_tags", "hybrid"] {
        env.run(&["config", "set", "retrieval.match_strategy", strategy]).ok();
        for marks in ["???", "...", "!", "-_-", "¿¡", "--", "\" \""] {
            let found = env.run(&["search", "--json", "--", marks]).ok().items();
            assert_eq!(found, json!([]), "{marks} {strategy}");
        }
        let hits = |args: &[&str]| {
            let found = env.run(&[&["search", "--json"], args].concat()).ok().items();
            found
                .as_array()
                .unwrap()
                .iter()
                .map(|hit| hit["id"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        assert!(hits(&["mission", "simple"]).contains(&id), "{strategy}");
        assert!(!hits(&["plain", "English"]).contains(&gone), "{strategy}");
        assert!(hits(&["plain", "English", "--retired"]).contains(&gone), "{strategy}");
    }
    assert_eq!(env.run(&["vault", "context", "plain English"]).ok().stdout, "");
}

#[test]
fn a_write_of_less_trust_never_replaces_a_persons_register_in_any_scope() {
    for (scope, profile) in [("shared", "standard"), ("night", "standard"), ("night", "seed")] {
        let env = ready();
        let user = json!({ "agents": { "vega": { "scope": "night" } }, "gate": { "profile": profile } });
        env.write(env.home().join("config/heirloom/config.json"), user.to_string());
        let id = add(&env, "register", "We fix the importer", &["--topic", "focus", "--scope", scope]);
        env.run(&["add", "register", "We rewrite everything", "--topic", "focus", "--scope", scope])
            .fails_with("NEEDS_CONFIRMATION", 4);
        let many =
            json!([{ "text": "We delete it all", "tier": "register", "topic_id": "focus", "scope": scope }]);
        let bulk = env.run_with(&["vault", "bulk-add", "-", "--json"], many.to_string().as_bytes());
        assert_eq!((bulk.code, bulk.json()[0]["status"].clone()), (Some(4), json!("waits")));
        let edit = env.run(&["edit", &id, "--text", "We stop working"]);
        // Whoever is no agent of the scope does not even see it.
        assert_eq!(edit.code, Some(if scope == "shared" { 4 } else { 3 }), "{edit:?}");
        let shown = env.at_terminal(&["show", &id, "--json"], "").ok().json();
        assert_eq!(shown["body"], "We fix the importer", "{scope} {profile}");
        // Its own register an agent keeps up to date.
        if scope == "night" {
            env.run(&["add", "register", "Reading logs", "--topic", "now", "--scope", scope]).ok();
            env.run(&["add", "register", "Reading tests", "--topic", "now", "--scope", scope]).ok();
        }
    }
}

#[test]
fn stats_compact_and_doctor_agree_about_a_damaged_line() {
    let env = ready();
    add(&env, "canon", "Our mission is to keep tools simple", &[]);
    let id = add(&env, "canon", "Every service speaks plain English", &[]);
    env.at_terminal(&["edit", &id, "--text", "Every service speaks plain French"], "").ok();
    let file = env.memory("vault.jsonl");
    let mut text = std::fs::read_to_string(&file).unwrap();
    text.push_str("{\"id\": \"0123456789ab\", \"version\": 1, \"text\": \"cut o\n{broken\n");
    std::fs::write(&file, text).unwrap();
    let stats = env.run(&["vault", "stats", "--json"]).ok().json();
    assert_eq!((&stats["raw_lines"], &stats["unreadable_lines"]), (&json!(5), &json!(2)), "{stats}");
    assert_eq!((&stats["active_count"], &stats["deleted_count"]), (&json!(2), &json!(0)), "{stats}");
    assert!(env.run(&["vault", "stats"]).ok().stdout.contains("2 lines cannot be read"));
    assert!(env.run(&["doctor"]).stdout.contains("2 lines of the vault cannot be read"));
    let done = env.at_terminal(&["compact", "--json"], "y\n").ok().json();
    assert_eq!(done["lines_removed"], stats["compactable_lines"], "{done}");
    assert_eq!(done["unreadable"], stats["unreadable_lines"], "{done}");
    let after = env.run(&["vault", "stats", "--json"]).ok().json();
    assert_eq!(
        (&after["compactable_lines"], &after["raw_lines"]),
        (&json!(0), &done["lines_after"]),
        "{after}"
    );
}

#[test]
fn the_tools_name_whole_ids_and_say_what_waits() {
    let env = ready();
    let a = add(&env, "canon", "Our mission is to keep every tool small and simple", &[]);
    let b = add(
        &env,
        "register",
        "Every tool of ours stays small, so that somebody can read it in one evening",
        &["--topic", "m", "--scope", "shared"],
    );
    let pairs = env.run(&["vault", "consolidate", "--floor", "0.3", "--json"]).ok().json();
    assert!([&a, &b].contains(&&pairs[0]["a"].as_str().unwrap().to_owned()), "{pairs}");
    let short = add(&env, "register", "short one", &[]);
    let proposed = env.run(&["vault", "propose", "--json"]).ok().json();
    let ids: Vec<&str> = proposed.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert!(ids.contains(&short.as_str()), "{proposed}");
    let many = json!([{ "text": "Agents answer in full sentences" }, { "text": "heartbeat" }]).to_string();
    let said = env.run_with(&["vault", "bulk-add", "-"], many.as_bytes());
    assert!(
        said.stdout.contains("waits item 1: `canon:") && said.stdout.contains("refused item 2"),
        "{said:?}"
    );
    let deleted = env.run(&["vault", "bulk-delete", a.split_once(':').unwrap().1, "nothing", "--json"]);
    assert_eq!((deleted.code, &deleted.json()["waiting"]), (Some(4), &json!([a])), "{deleted:?}");
    assert_eq!(deleted.json()["not_found"], json!(["nothing"]));
    let deleted =
        env.at_terminal(&["vault", "bulk-delete", short.split_once(':').unwrap().1, "--json"], "").ok();
    assert_eq!(deleted.json()["deleted"], json!([short]));
}

#[test]
fn a_snapshot_for_an_agent_nobody_knows_is_an_error_with_suggestions() {
    let env = ready();
    let user = json!({ "agents": { "vega": { "scope": "night" } } });
    env.write(env.home().join("config/heirloom/config.json"), user.to_string());
    for (name, near) in [("vgea", "`vega`"), ("claud-code", "`claude-code`")] {
        let ran = env.run(&["snapshot", "--agent", name, "--json"]);
        ran.fails_with("USAGE", 2);
        assert!(ran.json()["error"]["hint"].as_str().unwrap().contains(near), "{ran:?}");
    }
    for known in ["vega", "claude-code", "codex"] {
        env.run(&["snapshot", "--agent", known]).ok();
    }
    env.run(&["snapshot"]).ok();
    env.run(&["vault", "context", "mission", "--agent", "vgea"]).fails_with("USAGE", 2);
}

#[test]
fn an_object_of_fields_is_read_whole_or_refused_by_name() {
    let env = ready();
    let refused = |kind: &str, object: &str, field: &str| {
        let ran = from(&env, kind, object);
        ran.fails_with("INPUT_ERROR", 1);
        assert!(ran.json()["error"]["message"].as_str().unwrap().contains(&format!("`{field}`")), "{ran:?}");
    };
    refused("canon", r#"{"text": "Agents speak softly", "tier": "register"}"#, "tier");
    refused("register", r#"{"text": "Agents speak softly", "tier": "log"}"#, "tier");
    refused("canon", r#"{"text": "Agents speak softly", "mood": "good"}"#, "mood");
    refused("canon", r#"{"text": "Agents speak softly", "version": 7}"#, "version");
    refused("canon", r#"{"text": "Agents speak softly", "tags": "one"}"#, "tags");
    refused("canon", r#"{"scope": "shared"}"#, "text");
    from(&env, "canon", r#"[{"text": "Agents speak softly"}]"#).fails_with("INPUT_ERROR", 1);
    let whole = r#"{"text": "Agents speak softly", "tier": "Canon", "source": "chat", "category": "Identity",
        "tags": ["voice"], "topic_id": null}"#;
    from(&env, "canon", whole).fails_with("NEEDS_CONFIRMATION", 4);
    let draft = env.run(&["review", "--json"]).ok().json()["drafts"][0].clone();
    env.at_terminal(&["review", "accept", draft["key"].as_str().unwrap()], "y\n").ok();
    let line = std::fs::read_to_string(env.memory("vault.jsonl")).unwrap();
    for part in ["\"tier\": \"canon\"", "\"source\": \"chat\"", "\"category\": \"identity\"", "\"voice\""] {
        assert!(line.contains(part), "{part}: {line}");
    }
    from(&env, "canon", r#"{"text": "Something else entirely here", "source": "rumour"}"#)
        .fails_with("VALIDATION_ERROR", 1);
}

#[test]
fn an_empty_question_to_the_vault_gives_nothing() {
    let env = ready();
    add(&env, "canon", "Our mission is to keep tools simple", &[]);
    for question in ["", " ", "\t \n"] {
        let answer = env.run(&["vault", "context", question, "--json"]).ok().json();
        assert_eq!(answer["block"], "", "{question:?}");
    }
    assert!(env.run(&["vault", "context", "mission"]).ok().stdout.contains("keep tools simple"));
}

#[test]
fn without_a_question_the_vault_gives_its_newest() {
    let env = ready();
    add(&env, "canon", "Our mission is to keep tools simple", &[]);
    let gone = add(&env, "canon", "Every service speaks plain English", &[]);
    env.at_terminal(&["retire", &gone], "").ok();
    let block = env.run(&["vault", "context"]).ok().stdout;
    assert!(block.contains("keep tools simple") && !block.contains("plain English"), "{block}");
}

#[test]
fn an_item_of_many_that_cannot_be_read_is_refused_by_name_and_costs_only_itself() {
    let env = ready();
    let many = json!([
        { "text": "Deploys happen on Tuesdays", "mood": "glad" },
        { "text": "Whole lines are for the import", "id": "0123456789ab", "version": 3 },
        "a bare text",
        { "text": 5 },
        { "text": "Tags are a list", "tags": "one" },
        { "category": "bio" },
        { "text": "Reports are written in English", "category": null },
    ]);
    let file = env.raw_input(many.to_string().as_bytes());
    let ran = env.at_terminal(&["vault", "bulk-add", &file, "--json"], "");
    let answers = ran.json();
    for (at, named) in
        [(0, "`mood`"), (1, "`id`"), (2, "JSON object"), (3, "`text`"), (4, "`tags`"), (5, "`text`")]
    {
        assert_eq!(
            (&answers[at]["status"], &answers[at]["code"]),
            (&json!("refused"), &json!("INPUT_ERROR"))
        );
        assert!(answers[at]["message"].as_str().unwrap().contains(named), "{answers}");
    }
    assert_eq!((ran.code, &answers[6]["status"]), (Some(1), &json!("created")), "{answers}");
    let lines =
        b"{\"text\": \"Mails go out at noon\"}\n{broken\n\n{\"text\": \"The queue is drained nightly\"}\n";
    let answers = env.at_terminal(&["vault", "bulk-add", &env.raw_input(lines), "--json"], "").json();
    let statuses: Vec<&str> = (0..3).filter_map(|at| answers[at]["status"].as_str()).collect();
    assert_eq!(statuses, ["created", "refused", "created"], "{answers}");
    // An array that breaks off is not taken line by line.
    let broken = env.raw_input(b"[\n{\"text\": \"Half of a file\"}\n");
    env.at_terminal(&["vault", "bulk-add", &broken, "--json"], "").fails_with("INPUT_ERROR", 1);
    assert_eq!(env.run(&["list", "--json"]).ok().items().as_array().unwrap().len(), 3);
}

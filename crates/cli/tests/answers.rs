//! What reading commands answer: the shape their schemas promise, the same as the library's verbs, and nothing that is not for the caller.

use crate::env::{ROOT, TestEnv, decision, target};
use crate::shelves::{four, saved};
use heirloom_core::settings::{self, Layer, Origin};
use heirloom_core::{Audience, Caller};
use heirloom_engine::settings::Said;
use heirloom_engine::shelf::tiers::{Access, SqliteStore, UserContext};
use heirloom_engine::verbs::{
    config, decide, init, list, model, recall, schema, search, shelves, show, status, trail, undo, users,
};
use heirloom_engine::{Call, Deployment, Project, World};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// A key that the gate refuses, put together so that no scanner takes this file for a leak.
pub(crate) fn secret() -> String {
    ["ghp", "_x7Kq2mZ9vB4nT6wR1yL8sD3fG5hJ0cAeQiUo"].concat()
}

/// One memory on each shelf, a turn, a fact, a citation, and a hook that ran.
pub(crate) fn lived_in() -> TestEnv {
    let env = TestEnv::ready();
    four(&env);
    env.write("src/queue.rs", "fn lock() {}\n");
    saved(
        &env,
        &["decision", "Keep jobs in PostgreSQL because rows can be locked", "--anchor", "src/queue.rs"],
    );
    saved(&env, &["register", "Keep jobs in a table", "--topic", "jobs"]);
    env.run(&["add", "episode", "We moved the orders database to a bigger machine"]).ok();
    env.at_terminal(&["remember", "I prefer PostgreSQL for storage"], "y\n");
    let event = json!({ "prompt": "where do jobs live, in postgresql?", "session_id": "s", "cwd": env.project(),
        "hook_event_name": "UserPromptSubmit" });
    env.run_with(&["hook", "prompt"], event.to_string().as_bytes()).ok();
    env
}

/// Whether a value is as a schema says, as far as the words go that our schemas use. Says where it is not.
pub(crate) fn misfit(schema: &Value, value: &Value, at: &str) -> Option<String> {
    if let Some(ways) = schema.get("anyOf").and_then(Value::as_array) {
        let each: Vec<String> = ways.iter().filter_map(|way| misfit(way, value, at)).collect();
        return (each.len() == ways.len()).then(|| each.join(" / "));
    }
    let wrong = |why: &str| Some(format!("{at} {why}: {value}"));
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("the schema says {other}"),
    };
    let types: Vec<&str> = match schema.get("type") {
        None => Vec::new(),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        Some(name) => name.as_str().into_iter().collect(),
    };
    if !types.is_empty() && !types.into_iter().any(is) {
        return wrong("is of another type");
    }
    if schema.get("enum").and_then(Value::as_array).is_some_and(|names| !names.contains(value))
        || schema.get("const").is_some_and(|only| only != value)
    {
        return wrong("is none of the values there are");
    }
    if let (Some(pattern), Some(text)) = (schema.get("pattern").and_then(Value::as_str), value.as_str())
        && !regex::Regex::new(pattern).unwrap().is_match(text)
    {
        return wrong("does not look right");
    }
    if let (Some(items), Some(all)) = (schema.get("items"), value.as_array()) {
        return all.iter().enumerate().find_map(|(n, one)| misfit(items, one, &format!("{at}[{n}]")));
    }
    let fields = value.as_object()?;
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for key in required.filter_map(Value::as_str) {
        if !fields.contains_key(key) {
            return wrong(&format!("has no `{key}`"));
        }
    }
    fields.iter().find_map(|(key, one)| {
        match (schema["properties"].get(key), schema.get("additionalProperties")) {
            (Some(schema), _) | (None, Some(schema @ Value::Object(_))) => {
                misfit(schema, one, &format!("{at}.{key}"))
            }
            (None, Some(Value::Bool(false))) => Some(format!("{at} has `{key}`, which no schema names")),
            _ => None,
        }
    })
}

/// Every reading command, with the answer whose schema it has.
const COMMANDS: [(&str, &[&str]); 42] = [
    ("anchor-list", &["anchor", "list"]),
    ("audit", &["audit"]),
    ("audit", &["audit", "--tiers"]),
    ("audit", &["audit", "--settings"]),
    ("audit-verify", &["audit", "verify"]),
    ("brief", &["brief", "rebase my branch"]),
    ("config-get", &["config", "get", "retrieval.max_inject"]),
    ("config-list", &["config", "list"]),
    ("doctor", &["doctor"]),
    ("history", &["history", "keep-jobs-in-postgresql"]),
    ("init", &["init", "--dry-run"]),
    ("last", &["last"]),
    ("lesson-load", &["lesson", "load", "git"]),
    ("lesson-topics", &["lesson", "topics"]),
    ("list", &["list", "--all"]),
    ("list", &["list", "-n", "1"]),
    ("list", &["list", "--tier", "episodic"]),
    ("list", &["list", "--tier", "semantic"]),
    ("model-status", &["model", "status"]),
    ("note-list", &["note", "list"]),
    ("note-session", &["note", "session"]),
    ("recall", &["recall", "where do jobs live, in postgresql?"]),
    ("recall", &["recall", "nothing of the sort at all"]),
    ("review", &["review"]),
    ("review", &["review", "list"]),
    ("search", &["search", "jobs postgresql importer rebase"]),
    ("search", &["search", "--kind", "decision"]),
    ("search", &["search", "--tier", "all", "which database"]),
    ("search", &["search", "--context", "which database"]),
    ("show", &["show", "keep-jobs-in-postgresql"]),
    ("snapshot", &["snapshot"]),
    ("snapshot", &["snapshot", "--agent", "codex"]),
    ("status", &["status"]),
    ("undo-list", &["undo", "--list"]),
    ("user-list", &["user", "list"]),
    ("vault-consolidate", &["vault", "consolidate", "--floor", "0"]),
    ("vault-context", &["vault", "context", "jobs"]),
    ("vault-propose", &["vault", "propose"]),
    ("vault-recall", &["vault", "recall"]),
    ("vault-stats", &["vault", "stats"]),
    ("why", &["why", "keep-jobs-in-postgresql"]),
    ("search", &["search", "nothingofthesort"]),
];

#[test]
fn every_reading_command_answers_in_the_shape_its_schema_promises() {
    let env = lived_in();
    for name in schema::answers() {
        let held = COMMANDS
            .iter()
            .map(|(of, _)| *of)
            .chain(crate::answers_upkeep::HELD)
            .chain(crate::answers_writes::HELD)
            .chain(ACTS);
        assert!(held.into_iter().any(|of| of == name), "no command is held against {name}");
    }
    for strategy in ["title_tags", "hybrid"] {
        env.run(&["config", "set", "retrieval.match_strategy", strategy]).ok();
        for (name, args) in COMMANDS {
            let all: Vec<&str> = ["--json"].into_iter().chain(args.iter().copied()).collect();
            for ran in [env.run(&all).ok(), env.at_terminal(&all, "").ok()] {
                let wrong = misfit(&schema::of(name).unwrap(), &ran.json(), name);
                assert_eq!(wrong, None, "{strategy} {args:?}: {}", ran.stdout);
            }
        }
    }
    for id in env.run(&["list", "--all", "--json"]).ok().items().as_array().unwrap() {
        let shown = env.run(&["show", id["id"].as_str().unwrap(), "--json"]).ok();
        assert_eq!(misfit(&schema::of("show").unwrap(), &shown.json(), "show"), None);
    }
}

/// The answers of commands that change something; they are held against their schemas one after the other.
const ACTS: [&str; 11] = [
    "config-approve",
    "config-category",
    "config-pin",
    "config-set",
    "config-unset",
    "model-embed",
    "model-remove",
    "review-accept",
    "review-join",
    "review-reject",
    "trust",
];

#[test]
fn every_command_that_keeps_house_answers_in_the_shape_its_schema_promises() {
    let env = lived_in();
    let fits = |name: &str, ran: &crate::env::Ran| {
        assert_eq!(misfit(&schema::of(name).unwrap(), &ran.json(), name), None, "{}", ran.stdout);
    };
    let run = |name: &str, args: &[&str]| {
        let all: Vec<&str> = ["--json"].into_iter().chain(args.iter().copied()).collect();
        fits(name, &env.run(&all).ok());
    };
    run("config-set", &["config", "set", "retrieval.max_inject", "4"]);
    run("config-set", &["config", "set", "retrieval", r#"{"max_inject":5,"enabled":true}"#]);
    run("config-unset", &["config", "unset", "retrieval.max_inject"]);
    run("config-category", &["config", "category", "add", "meeting", "--field", "who:list:required"]);
    run("config-category", &["config", "category", "disable", "meeting"]);
    run("model-embed", &["model", "embed"]);
    run("model-remove", &["model", "remove"]);
    env.run(&["config", "set", "memory_root", ".claude/memory"]).ok();
    let person = |args: &[&str], typed: &str| {
        let all: Vec<&str> = ["--json"].into_iter().chain(args.iter().copied()).collect();
        env.at_terminal(&all, typed)
    };
    fits("config-approve", &person(&["config", "approve", "memory_root"], "").ok());
    // What waits is shown beside the answer, which stays one document.
    env.run(&["add", "constraint", "Never push on Fridays"]).ok();
    env.run(&["retire", "keep-jobs-in-postgresql"]);
    env.run(&["remember", "I prefer tabs"]);
    let waits = env.run(&["review", "--json"]).ok().json();
    let drafts = waits["drafts"].as_array().unwrap();
    assert!(!drafts.is_empty() && drafts.iter().all(|draft| draft["seen"].is_string()), "{waits}");
    let key = drafts[0]["key"].as_str().unwrap();
    run("review-reject", &["review", "reject", key]);
    let accepted = person(&["review", "accept", "--all"], "y\n").ok();
    assert!(accepted.stderr.contains("Never push on Fridays"), "{accepted:?}");
    fits("review-accept", &accepted);
    for text in ["Keep carts in Redis because it is quick", "Keep baskets in Redis because it is cheap"] {
        env.run(&["add", "decision", text]).ok();
    }
    let both = [
        "review",
        "join",
        "keep-carts-in-redis",
        "keep-baskets-in-redis",
        "--field",
        "rationale=quick, cheap",
    ];
    fits("review-join", &person(&both, "").ok());
    fits("trust", &person(&["trust", "keep-jobs-in-postgresql"], "y\n").ok());
    fits("config-pin", &person(&["config", "pin"], "4711\n4711\n").ok());
    fits("config-pin", &person(&["config", "pin", "--remove"], "4711\n").ok());
}

#[test]
fn an_answer_has_what_its_kind_keeps() {
    let env = lived_in();
    let all = env.run(&["list", "--json"]).ok().items();
    let of =
        |kind: &str| all.as_array().unwrap().iter().find(|m| m["kind"] == kind).unwrap()["fields"].clone();
    assert!(of("decision")["rationale"].is_array(), "{all}");
    assert_eq!(of("note")["content_hash"].as_str().unwrap().len(), 16);
    assert_eq!((&of("lesson")["topic"], &of("lesson")["subtopic"]), (&json!("git"), &json!("rebase")));
    assert_eq!(of("register")["topic_id"].as_str().map(str::is_empty), Some(false));
    let turn = &env.run(&["list", "--tier", "episodic", "--json"]).ok().items()[0];
    for key in ["role", "session", "position", "message", "tool", "external"] {
        assert!(turn["fields"].get(key).is_some(), "{key}: {turn}");
    }
    assert!(turn["expires_at"].is_string());
    let found = &env.run(&["search", "--tier", "episodic", "orders database", "--json"]).ok().items()[0];
    assert_eq!(found["fields"], turn["fields"], "a hit has what the list has");
}

#[test]
fn pages_hold_everything_once_whatever_comes_or_goes_between_them() {
    let env = TestEnv::ready();
    for n in 0..7 {
        env.create(&format!("rule-{n}"), &decision(&format!("Rule {n}"))).ok();
    }
    four(&env);
    let all: Vec<Value> = env.run(&["list", "--json"]).ok().items().as_array().unwrap().clone();
    let ids = |page: &Value| -> Vec<String> {
        page["memories"].as_array().unwrap().iter().map(|m| m["id"].as_str().unwrap().to_owned()).collect()
    };
    let page = |cursor: Option<&str>| {
        let mut args = vec!["list", "-n", "3", "--json"];
        args.extend(cursor.iter().flat_map(|cursor| ["--cursor", cursor]));
        env.run(&args).ok().json()
    };
    let first = page(None);
    let mut seen = ids(&first);
    // The memory a page ended with goes, and one comes that stands before it.
    std::fs::remove_file(env.project().join(target(seen[2].split_once(':').unwrap().1))).unwrap();
    env.create("a-rule-before-all", &decision("A rule before all")).ok();
    let mut next = first["next"].as_str().map(str::to_owned);
    while let Some(cursor) = next {
        let page = page(Some(&cursor));
        seen.extend(ids(&page));
        next = page["next"].as_str().map(str::to_owned);
    }
    let mut sorted = seen.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(sorted.len(), seen.len(), "nothing comes twice: {seen:?}");
    for memory in all {
        assert!(seen.iter().any(|id| memory["id"] == id.as_str()), "{} in {seen:?}", memory["id"]);
    }
    let cursor = page(None)["next"].as_str().unwrap().to_owned();
    for wrong in ["zz", "", "é", "7b7d", &cursor[2..]] {
        env.run(&["list", "-n", "3", "--cursor", wrong]).fails_with("USAGE", 2);
    }
    env.run(&["list", "-n", "3", "--kind", "decision", "--cursor", &cursor]).fails_with("USAGE", 2);
    env.run(&["list", "-n", "0"]).fails_with("USAGE", 2);
    for n in 0..5 {
        env.run(&["add", "episode", &format!("turn number {n}")]).ok();
    }
    let first = env.run(&["list", "--tier", "episodic", "-n", "3", "--json"]).ok().json();
    let cursor = first["next"].as_str().unwrap();
    let second =
        env.run(&["list", "--tier", "episodic", "-n", "3", "--json", "--cursor", cursor]).ok().json();
    assert_eq!((ids(&first).len(), ids(&second).len()), (3, 2));
    assert!(ids(&first).iter().all(|id| !ids(&second).contains(id)));
}

#[test]
fn no_reading_command_gives_a_process_what_the_gate_would_refuse() {
    let env = TestEnv::ready();
    let key = secret();
    let mut document = decision("Keep the token");
    document["content"]["rationale"] = json!([format!("the token is {key}")]);
    env.write(target("keep-the-token"), document.to_string());
    env.write(target("name-the-token"), decision(&format!("Name the token {key}")).to_string());
    env.run(&["record", "index", "--rebuild"]).ok();
    let note = format!(
        "---\nid: 550e8400-e29b-41d4-a716-446655440000\nsubject: The token\nkeywords:\n- token\napplies_to: global\n\
         occurred_at: '2026-01-10T09:00:00Z'\ncontent_hash: '0000000000000000'\n---\nThe token is {key}\n"
    );
    env.write(".claude/memory/notes/550e8400-e29b-41d4-a716-446655440000.md", note);
    let lesson = format!(
        "# git: rebase\n\n## 2026-01-15: Token\n**Context:** c\n**Problem:** token {key}\n**Solution:** s\n---\n"
    );
    env.write(".claude/memory/topics/git/rebase.md", lesson);
    let line = |id: &str, text: &str| {
        json!({ "id": id, "version": 1, "created_at": "2026-01-01T00:00:00Z", "tier": "canon", "scope": "shared",
            "category": "other", "tags": [], "text": text })
        .to_string()
    };
    let vault = format!(
        "{}\n{}\n",
        line("aaaaaaaaaaaa", &format!("the token is {key}")),
        line("bbbbbbbbbbbb", &format!("the token was {key}"))
    );
    env.write(".claude/memory/vault.jsonl", vault);
    for args in [
        &["note", "list"][..],
        &["note", "session"],
        &["vault", "recall"],
        &["vault", "consolidate", "--floor", "0"],
        &["vault", "propose"],
        &["vault", "context", "token"],
        &["lesson", "load", "git"],
        &["show", "keep-the-token"],
        &["show", "canon:aaaaaaaaaaaa"],
        &["list"],
        &["search", "token"],
        &["search", "--kind", "decision"],
        &["recall", "which token do we keep?"],
        &["brief", "token rebase"],
        &["snapshot"],
        &["record", "candidate", "--category", "decision", "--new-info", "keep the token"],
        &["record", "candidate", "--category", "decision", "--new-info", "name the token"],
        &["record", "index", "--query", "token"],
        &["record", "index", "--health"],
    ] {
        for strategy in ["title_tags", "hybrid"] {
            let set = format!("retrieval.match_strategy={strategy}");
            for json in [&["--set", &set][..], &["--set", &set, "--json"]] {
                let ran = env.run(&[json, args].concat());
                assert!(!ran.stdout.contains(&key) && !ran.stderr.contains(&key), "{args:?}: {ran:?}");
            }
        }
    }
    let candidate = ["record", "candidate", "--category", "decision", "--new-info", "keep the token"];
    assert!(env.run(&candidate).ok().stdout.contains("the token is "), "only the key is cut");
    let listed = env.run(&["note", "list", "--json"]).ok().items();
    assert!(
        listed[0]["body"].as_str().unwrap().starts_with("The token is "),
        "only the key is cut: {listed}"
    );
    env.run(&["show", "keep-the-token", "--raw"]).fails_with("GATE_REFUSED", 1);
    let person = env.at_terminal(&["show", "keep-the-token", "--json"], "").ok();
    assert!(person.stdout.contains(&key), "a person sees what is there");
}

#[test]
fn a_process_cannot_name_a_scope_of_the_vault_that_is_not_its_own() {
    let env = TestEnv::ready();
    std::fs::create_dir_all(env.home().join("config/heirloom")).unwrap();
    let user = r#"{"agents":{"orion":{"scope":"orion"}}}"#;
    std::fs::write(env.home().join("config/heirloom/config.json"), user).unwrap();
    saved(&env, &["register", "Orion reads the logs", "--topic", "task", "--scope", "orion"]);
    for args in [&["vault", "recall", "--scope", "orion"][..], &["vault", "propose", "--scope", "orion"]] {
        assert!(!env.run(args).ok().stdout.contains("Orion"), "{args:?}");
    }
    let person = env.at_terminal(&["vault", "recall", "--scope", "orion"], "").ok();
    assert!(person.stdout.contains("Orion"));
}

#[test]
fn recall_gives_byte_for_byte_what_the_agent_gets() {
    let env = TestEnv::new();
    env.run(&["init"]).ok();
    let agent = "claude-code";
    std::fs::create_dir_all(env.home().join("config/heirloom")).unwrap();
    let user = json!({ "agents": { agent: { "scope": agent } } });
    std::fs::write(env.home().join("config/heirloom/config.json"), user.to_string()).unwrap();
    env.run(&["config", "set", "retrieval.max_inject", "20"]).ok();
    env.run(&["config", "set", "recall.max_tokens", "10000"]).ok();
    saved(&env, &["register", "The queue of jobs is drained at night", "--topic", "queue", "--scope", agent]);
    // Enough that what a host takes is the limit, among others that make the words of these tell something.
    for n in 0..24 {
        let mut document = decision(&format!("Rule {n} of the queue of jobs {}", "long ".repeat(15).trim()));
        document["content"]["decision"] =
            json!(format!("the queue of jobs is drained {n} {}", "word ".repeat(80)));
        env.write(target(&format!("rule-{n}")), document.to_string());
    }
    for n in 0..100 {
        env.write(target(&format!("other-{n}")), decision(&format!("Paint fence {n} green")).to_string());
    }
    env.run(&["verify", "--fix"]);
    let question = "how is the queue of jobs drained at night?";
    for strategy in ["hybrid", "title_tags"] {
        env.run(&["config", "set", "retrieval.match_strategy", strategy]).ok();
        let event = json!({ "prompt": question, "session_id": strategy, "cwd": env.project(),
            "hook_event_name": "UserPromptSubmit" });
        let given = env.run_with(&["hook", "prompt"], event.to_string().as_bytes()).ok().stdout;
        assert!(given.contains("drained at night"), "{strategy}: {given}");
        let size = given.chars().count();
        assert!(size <= 10_000 && (strategy != "hybrid" || size > 8_000), "{size}: {given}");
        for recalled in [
            env.run(&["recall", "--agent", agent, question]).ok(),
            env.at_terminal(&["recall", "--agent", agent, question], "").ok(),
        ] {
            assert_eq!(recalled.stdout, given, "{strategy}");
        }
        // Somebody else does not see that agent's own words, a person without a name neither.
        for other in [
            env.run(&["recall", "--agent", "codex", question]).ok(),
            env.at_terminal(&["recall", "--agent", "codex", question], "").ok(),
        ] {
            assert!(
                !other.stdout.contains("drained at night") && other.stdout.contains("queue"),
                "{strategy}"
            );
            assert!(other.stdout.chars().count() <= 8_000, "as much as that host takes");
        }
    }
}

/// A call by the library, as the door would make it for a process.
pub(crate) fn library(env: &TestEnv) -> Call {
    // The account is the system's, whatever a variable says; a fact knows its owner.
    let fact = env.run(&["list", "--tier", "semantic", "--json"]).ok().items()[0].clone();
    let user = fact["owner"].as_str().unwrap();
    let world = || World {
        now: jiff::Timestamp::now(),
        data: env.home().join("data/heirloom"),
        nonce: "0123456789abcdef".to_owned(),
        user: user.to_owned(),
    };
    let file = std::fs::read(env.memory("memory-config.json")).unwrap();
    let document = serde_json::from_slice(&file).unwrap();
    let loaded = settings::load(&[Layer { origin: Origin::Project, document }]);
    let said = Said { values: loaded.values, warnings: loaded.warnings };
    let settings = loaded.settings;
    let sees = settings.vault.visible(None).into_iter().map(str::to_owned).collect();
    let caller = Caller::process(user).as_agent(None, Audience::of(sees));
    let folder = world().data.join("tiers");
    let store = Arc::new(SqliteStore::at(&folder));
    let who = UserContext::by_account(&world()).unwrap();
    let project = Project::new(&env.project(), &env.project().join(ROOT), world());
    Arc::new(Deployment::new(Some(env.home())))
        .call(project, settings, caller)
        .with_tiers(Access::new(store, who, &folder))
        .with_said(said)
}

#[test]
fn a_command_answers_what_the_librarys_verb_answers() {
    let env = lived_in();
    let call = library(&env);
    let same = |args: &[&str], verb: &dyn Fn() -> Value| {
        let all: Vec<&str> = ["--json"].into_iter().chain(args.iter().copied()).collect();
        assert_eq!(env.run(&all).ok().json(), verb(), "{args:?}");
    };
    fn told<T: Serialize>(answer: heirloom_core::fault::Result<T>) -> Value {
        serde_json::to_value(answer.unwrap()).unwrap()
    }
    let words = |text: &str| search::Search { words: vec![text.to_owned()], ..search::Search::default() };
    let named = || show::Show { id: "keep-jobs-in-postgresql".to_owned() };
    let none: [String; 0] = [];
    same(&["show", "keep-jobs-in-postgresql"], &|| told(show::show(&call, &named())));
    same(&["history", "keep-jobs-in-postgresql"], &|| told(show::history(&call, &named())));
    same(&["list"], &|| told(list::list(&call, &list::List::default())));
    let tier = list::List { tier: Some("episodic".to_owned()), limit: Some(1), ..list::List::default() };
    same(&["list", "--tier", "episodic", "-n", "1"], &|| told(list::list(&call, &tier)));
    same(&["anchor", "list"], &|| told(show::citations(&call, &show::Citations::default())));
    let mut jobs = words("jobs postgresql");
    // Of turns and facts the age counts too, to the second.
    jobs.kind = Some("decision".to_owned());
    same(&["search", "jobs postgresql", "--kind", "decision"], &|| told(search::search(&call, &jobs)));
    same(&["recall", "where do jobs live, in postgresql?"], &|| {
        let prompt = "where do jobs live, in postgresql?".to_owned();
        told(recall::recall(&call, &recall::Recall { prompt, ..recall::Recall::default() }))
    });
    same(&["brief", "rebase"], &|| told(shelves::brief(&call, "rebase")));
    same(&["snapshot"], &|| told(shelves::snapshot(&call, None, &[])));
    let asked = || trail::AskWhy { id: "keep-jobs-in-postgresql".to_owned() };
    same(&["why", "keep-jobs-in-postgresql"], &|| told(trail::why(&call, &asked())));
    same(&["last"], &|| told(trail::last(&call, &trail::Last { hook: None, limit: 10 })));
    same(&["status"], &|| told(status::status(&call)));
    let lines = trail::Audit { id: None, verdict: None, event: None, limit: 20 };
    same(&["audit"], &|| told(trail::audit(&call, &lines)));
    same(&["audit", "--tiers"], &|| told(trail::own_audit(&call, &lines)));
    same(&["audit", "verify"], &|| told(trail::verify_audit(&call)));
    let notes = shelves::ListNotes { limit: Some(20), ..shelves::ListNotes::default() };
    same(&["note", "list"], &|| told(shelves::list_notes(&call, &notes)));
    let in_play = shelves::NotesInPlay { files: Vec::new(), area: None, limit: 10 };
    same(&["note", "session"], &|| told(shelves::notes_in_play(&call, &in_play)));
    same(&["lesson", "load", "git"], &|| told(shelves::load_lessons(&call, "git")));
    same(&["lesson", "topics"], &|| told(shelves::lesson_topics(&call)));
    same(&["vault", "stats"], &|| told(shelves::vault_stats(&call)));
    same(&["vault", "context", "jobs"], &|| told(shelves::vault_context(&call, Some("jobs"), None)));
    let filed = shelves::RecallVault { category: None, tags: Vec::new(), scopes: Vec::new(), limit: 10 };
    same(&["vault", "recall"], &|| told(shelves::recall_vault(&call, &filed)));
    same(&["vault", "propose"], &|| told(shelves::vault_proposals(&call, &none)));
    same(&["vault", "consolidate", "--floor", "0"], &|| told(shelves::vault_pairs(&call, 0.0, &none)));
    same(&["config", "list"], &|| told(config::list(&call)));
    let key = config::Get { key: "retrieval.max_inject".to_owned() };
    same(&["config", "get", "retrieval.max_inject"], &|| told(config::get(&call, &key)));
    same(&["review"], &|| told(decide::list(&call)));
    same(&["model", "status"], &|| told(model::status(&call)));
    same(&["init", "--dry-run"], &|| {
        told(init::init(&call, init::Init { pre_commit: false, dry_run: true }))
    });
    same(&["undo", "--list"], &|| told(undo::list(&call)));
    same(&["user", "list"], &|| told(users::list(&call)));
    // What changes something: the same words, and the same effect.
    let ask = config::Set {
        settings: vec![config::Setting { key: "retrieval.max_inject".to_owned(), value: json!(4) }],
        user: false,
    };
    let by_library = told(config::set(&call, &ask));
    assert_eq!(env.run(&["config", "set", "retrieval.max_inject", "4", "--json"]).ok().json(), by_library);
    let gone = config::Unset { key: "retrieval.max_inject".to_owned(), user: false };
    let by_library = told(config::unset(&call, &gone));
    env.run(&["config", "set", "retrieval.max_inject", "4"]).ok();
    assert_eq!(env.run(&["config", "unset", "retrieval.max_inject", "--json"]).ok().json(), by_library);
    for args in [
        &["config", "set", "--user", "gate.profile", "seed"][..],
        &["review", "accept", "--all"],
        &["trust", "keep-jobs-in-postgresql"],
    ] {
        env.run(args).fails_with("NEEDS_PERSON", 1);
    }
}

#[test]
fn the_schemas_lie_where_programs_find_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/answers");
    for name in schema::answers() {
        let file = std::fs::read(folder.join(format!("{name}.json"))).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&file).unwrap(), schema::of(name).unwrap(), "{name}");
    }
}

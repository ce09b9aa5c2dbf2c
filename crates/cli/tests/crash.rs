//! A process that is killed at every single step it takes, for every kind of change.
//!
//! Comes in: `HEIRLOOM_TEST_DIE_AT=n`, which ends a debug binary at its n-th step as a power cut would. Goes out: nothing, if the old or the
//! new state is whole each time, the next call makes good what was left, and `gc` leaves no litter.

use crate::env::{Ran, TestEnv, creating, decision, target};
use serde_json::{Value, json};

/// A change: what is prepared, the call that dies, and what it would have done.
struct Story {
    name: &'static str,
    arguments: fn(&TestEnv) -> Vec<String>,
    /// The states that may be found afterwards: of the record called `subject`, and of the one it may be renamed to.
    old: fn(&TestEnv) -> bool,
    new: fn(&TestEnv) -> bool,
}

const RENAMED: &str = "queue-every-mail-at-night";

fn text(arguments: &[&str]) -> Vec<String> {
    arguments.iter().map(|word| (*word).to_owned()).collect()
}

fn state(env: &TestEnv, name: &str) -> Option<Value> {
    let bytes = std::fs::read(env.project().join(target(name))).ok()?;
    Some(serde_json::from_slice(&bytes).unwrap_or_else(|e| panic!("{name} is not whole: {e}")))
}

fn field(env: &TestEnv, name: &str, field: &str) -> Value {
    state(env, name).map_or(Value::Null, |record| record[field].clone())
}

fn changed(env: &TestEnv, title: &str) -> Vec<String> {
    let mut document = env.decision("subject");
    document["title"] = json!(title);
    document["changes"] = json!([{ "date": "2026-02-01", "summary": "Said better" }]);
    let (input, hash) = (env.input(&document), env.token("subject"));
    let place = target("subject");
    text(&["record", "write", "--action", "update", "--target", &place, "--input", &input, "--hash", &hash])
}

const STORIES: [Story; 5] = [
    Story {
        name: "create",
        arguments: |env| {
            let (place, input) = (target("fresh"), env.input(&decision("A fresh choice")));
            text(&creating(&place, &input))
        },
        old: |env| state(env, "fresh").is_none(),
        new: |env| field(env, "fresh", "title") == "A fresh choice",
    },
    Story {
        name: "update",
        arguments: |env| changed(env, "Use PostgreSQL for all orders"),
        old: |env| field(env, "subject", "title") == "Use PostgreSQL for orders",
        new: |env| field(env, "subject", "title") == "Use PostgreSQL for all orders",
    },
    Story {
        name: "rename",
        arguments: |env| changed(env, "Queue every mail at night"),
        old: |env| field(env, "subject", "title") == "Use PostgreSQL for orders",
        new: |env| field(env, RENAMED, "title") == "Queue every mail at night",
    },
    Story {
        name: "retire",
        arguments: |_| text(&["record", "write", "--action", "delete", "--target", &target("subject")]),
        old: |env| field(env, "subject", "record_status") == "active",
        new: |env| field(env, "subject", "record_status") == "retired",
    },
    Story {
        name: "forget",
        arguments: |_| text(&["forget", "decision:subject", "--yes"]),
        old: |env| state(env, "subject").is_some(),
        new: |env| state(env, "subject").is_none(),
    },
];

fn prepared() -> TestEnv {
    let env = TestEnv::ready();
    env.create("subject", &decision("Use PostgreSQL for orders")).ok();
    env.create("bystander", &decision("Keep the logs for a month")).ok();
    env
}

fn dying_at(env: &TestEnv, nth: usize, arguments: &[String]) -> Ran {
    // At a terminal, since forgetting needs a person.
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    env.at_terminal_with(&arguments, "", &[("HEIRLOOM_TEST_DIE_AT", &nth.to_string())])
}

/// Whatever happened, a next writer finds its way and no problems found afterwards.
fn heals(env: &TestEnv, context: &str) {
    env.create("next", &decision("The next choice")).ok();
    let valid = env.run(&["record", "index", "--validate"]);
    assert_eq!(valid.code, Some(0), "{context}: {}", valid.stdout);
    assert_eq!(state(env, "bystander").unwrap()["title"], "Keep the logs for a month", "{context}");
    env.run(&["gc"]).ok();
    assert_eq!(env.litter(), [""; 0], "{context}");
    assert_eq!(env.run(&["audit", "verify"]).code, Some(0), "{context}");
}

fn survives(story: &Story) {
    let mut deaths = 0;
    for nth in 1.. {
        let env = prepared();
        let arguments = (story.arguments)(&env);
        let ran = dying_at(&env, nth, &arguments);
        let context = format!("{} killed at step {nth}", story.name);
        if ran.code.is_some() {
            ran.ok();
            assert!((story.new)(&env), "{context}: it ended well but is not done");
            break;
        }
        deaths += 1;
        assert!((story.old)(&env) || (story.new)(&env), "{context}: neither old nor new");
        heals(&env, &context);
        let both = (story.old)(&env) && (story.new)(&env);
        assert!(!both, "{context}: the record is there under both names");
        // The same call again ends where it should have, unless it is already there.
        if !(story.new)(&env) {
            let again = (story.arguments)(&env);
            env.at_terminal(&again.iter().map(String::as_str).collect::<Vec<_>>(), "").ok();
        }
        assert!((story.new)(&env), "{context}: trying again did not help");
        let verified = env.run(&["verify"]);
        assert_eq!(verified.code, Some(0), "{context}: {}", verified.stdout);
    }
    assert!(deaths >= 8, "{}: only {deaths} steps", story.name);
}

#[test]
fn a_create_killed_at_any_step_leaves_nothing_or_the_whole_record() {
    survives(&STORIES[0]);
}

#[test]
fn an_update_killed_at_any_step_leaves_the_old_or_the_new_record_whole() {
    survives(&STORIES[1]);
}

#[test]
fn a_rename_killed_at_any_step_leaves_one_record_under_one_name() {
    survives(&STORIES[2]);
}

#[test]
fn a_retirement_killed_at_any_step_leaves_the_record_active_or_retired() {
    survives(&STORIES[3]);
}

#[test]
fn a_forget_killed_at_any_step_can_be_finished() {
    survives(&STORIES[4]);
}

#[test]
fn the_first_write_of_a_project_killed_at_any_step_leaves_a_store_that_works() {
    for nth in 1.. {
        let env = TestEnv::new();
        let arguments = (STORIES[0].arguments)(&env);
        let ran = dying_at(&env, nth, &arguments);
        let context = format!("first write killed at step {nth}");
        let ended = ran.code.is_some();
        env.create("bystander", &decision("Keep the logs for a month")).ok();
        heals(&env, &context);
        if ended {
            ran.ok();
            break;
        }
    }
}

#[test]
fn an_old_id_leads_to_a_record_whose_rename_was_killed() {
    let env = prepared();
    let arguments = changed(&env, "Queue every mail at night");
    let steps = dying_at(&env, 0, &arguments).ok().stderr;
    let steps: Vec<&str> = steps.lines().filter_map(|line| line.strip_prefix("step: ")).collect();
    let renamed = steps.iter().position(|step| *step == "renamed").unwrap() + 1;
    let env = prepared();
    assert_eq!(dying_at(&env, renamed, &changed(&env, "Queue every mail at night")).code, None);
    env.create("next", &decision("The next choice")).ok();
    let shown = env.run(&["show", "decision:subject", "--json"]).ok().json();
    assert_eq!(shown["id"], format!("decision:{RENAMED}"));
    assert!(state(&env, "subject").is_none());
}

#[test]
fn every_named_step_is_one_that_a_change_passes() {
    let env = prepared();
    let said = dying_at(&env, 0, &changed(&env, "Queue every mail at night")).ok().stderr;
    for step in heirloom_engine::files::step::STEPS {
        assert!(said.contains(&format!("step: {step}\n")), "{step} is never reached");
    }
}

/// The number of the first step of this name in a call, counted from one.
fn step_called(name: &str, env: &TestEnv, arguments: &[String]) -> usize {
    let said = dying_at(env, 0, arguments).ok().stderr;
    let steps: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("step: ")).collect();
    // What lies in the data folder is synced before the intent is audited, by steps of the same names.
    let audited = steps.iter().position(|step| *step == "audited").unwrap_or_default();
    let later = steps[audited..].iter().position(|step| *step == name);
    audited + later.unwrap_or_else(|| panic!("{name} is never reached: {steps:?}")) + 1
}

#[test]
fn an_outcome_that_a_killed_process_owes_is_said_by_the_next_writer() {
    let calls: [(&str, &[&str]); 4] = [
        ("record", &["add", "decision", "Keep carts because people come back"]),
        ("lesson", &["add", "lesson", "It broke: mend it", "--topic", "a/b"]),
        ("note", &["add", "note", "Carts are emptied at night."]),
        ("canon", &["add", "canon", "Carts belong to the shop team"]),
    ];
    for (name, call) in calls {
        let call = text(call);
        // Killed after the intent and before the store, and between the store and the outcome.
        let stored = match name {
            "lesson" => "page-stored",
            "note" => "folder-synced",
            _ => "record-stored",
        };
        for (step, expected) in [("audited", "failed"), (stored, "done")] {
            let nth = step_called(step, &TestEnv::ready(), &call);
            let env = TestEnv::ready();
            assert_eq!(dying_at(&env, nth, &call).code, None, "{name} at {step}");
            let outcome = |env: &TestEnv| {
                let entries = env.run(&["audit", "--json"]).ok().json();
                let all = entries.as_array().unwrap();
                let first =
                    all.iter().find(|e| e["action"] == "memory_write").unwrap_or_else(|| panic!("{entries}"));
                first["outcome"].clone()
            };
            assert_eq!(outcome(&env), "open", "{name} at {step}");
            env.create("next", &decision("The next choice")).ok();
            assert_eq!(outcome(&env), expected, "{name} at {step}");
            env.run(&["audit", "verify"]).ok();
        }
    }
}

#[test]
fn a_yes_or_no_that_is_killed_anywhere_gets_the_outcome_it_had() {
    let id = "constraint:never-log-card-numbers";
    for rejects in [false, true] {
        let mut deaths = 0;
        for nth in 1.. {
            let env = TestEnv::ready();
            env.run(&["add", "constraint", "Never log card numbers because the auditors look"]).ok();
            env.run(&["add", "canon", "Carts belong to the shop team"]).fails_with("NEEDS_CONFIRMATION", 4);
            let drafts = || env.run(&["review", "--json"]).ok().json()["drafts"].clone();
            let key = drafts()[0]["key"].as_str().unwrap().to_owned();
            let args = if rejects { ["review", "reject", &key].to_vec() } else { vec!["trust", id] };
            let ran = env.at_terminal_with(&args, "y\n", &[("HEIRLOOM_TEST_DIE_AT", &nth.to_string())]);
            if ran.code.is_some() {
                ran.ok();
                break;
            }
            deaths += 1;
            env.create("next", &decision("The next choice")).ok();
            let lines = env.run(&["audit", "--json"]).ok().json();
            let action = if rejects { "review_reject" } else { "review_accept" };
            let happened = match rejects {
                true => drafts().as_array().unwrap().is_empty(),
                false => env.run(&["show", id, "--json"]).ok().json()["trust"] == "high",
            };
            let said = lines.as_array().unwrap().iter().find(|line| line["action"] == action);
            let outcome = said.map_or(Value::Null, |line| line["outcome"].clone());
            match happened {
                true => assert_eq!(outcome, "done", "{action} killed at step {nth}: {lines}"),
                false => assert!(outcome.is_null() || outcome == "failed", "{action} at step {nth}: {lines}"),
            }
            env.run(&["audit", "verify"]).ok();
        }
        // Before the intent, between it and what was decided, between that and the outcome, and after it.
        assert!(deaths > 3, "only {deaths} steps");
    }
}

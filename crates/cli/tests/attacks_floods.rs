//! Attacks by numbers and sizes: what a clone brings too much of costs a hook no more than its budget, and somebody is told.
//!
//! Nothing here is timed tightly. What was read is counted by the engine's own tests; here it must come to an end, answer, and be said.

use crate::env::{ROOT, TestEnv, decision};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Far more than any hook takes, also in an unoptimised build on a busy machine, and far less than what these floods used to take there.
const AGES: Duration = Duration::from_secs(60);

fn hook(env: &TestEnv, moment: &str, mut event: Value) -> String {
    event["cwd"] = json!(env.project());
    let began = Instant::now();
    let ran = env.run_with(&["hook", moment], event.to_string().as_bytes());
    assert!(began.elapsed() < AGES, "{moment} took {:?}", began.elapsed());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran.stdout
}

fn prompt(env: &TestEnv) -> String {
    hook(
        env,
        "prompt",
        json!({ "prompt": "how does the pelican login go?", "hook_event_name": "UserPromptSubmit" }),
    )
}

fn start(env: &TestEnv) -> String {
    hook(env, "session-start", json!({ "source": "startup", "hook_event_name": "SessionStart" }))
}

/// What the newest run of a hook left out.
fn left_out(env: &TestEnv) -> Vec<String> {
    let runs = env.run(&["last", "--json", "-n", "1"]).ok().json();
    let runs = runs.as_array().cloned().unwrap_or_else(|| vec![runs["runs"][0].clone()]);
    let lines = runs[0]["left_out"].as_array().cloned().unwrap_or_default();
    lines.iter().map(|line| line.as_str().unwrap().to_owned()).collect()
}

fn honest(env: &TestEnv) {
    env.write(
        format!("{ROOT}/decisions/x.json"),
        decision("The pelican login goes through the gateway").to_string(),
    );
}

fn settings(env: &TestEnv, document: &Value) {
    env.write(format!("{ROOT}/memory-config.json"), document.to_string());
}

#[test]
fn what_a_hook_left_out_stands_in_health_in_doctor_and_at_the_next_session_start() {
    let env = TestEnv::ready();
    honest(&env);
    let mut large = decision("Something of no use");
    large["content"]["context"] = json!("word ".repeat(100_000));
    env.write(format!("{ROOT}/decisions/large.json"), large.to_string());
    assert!(prompt(&env).contains("pelican login"));
    let said = left_out(&env);
    assert!(
        said.iter().any(|line| line.contains("larger than a hook reads") && line.contains("`heirloom ")),
        "{said:?}"
    );
    let checks = env.run(&["doctor", "--json"]).json()["checks"].clone();
    let budget = checks.as_array().unwrap().iter().find(|check| check["id"] == "budget").unwrap();
    assert_eq!(budget["state"], "warning", "{budget}");
    assert!(budget["detail"].as_str().unwrap().contains("larger than a hook reads"));
    let told = start(&env);
    assert!(told.contains("go") && told.contains("`heirloom doctor`"), "{told}");
    assert!(!told.contains("no use"), "nothing of the project is said");
    std::fs::remove_file(env.memory("decisions/large.json")).unwrap();
    env.run(&["record", "index", "--rebuild"]).ok();
    prompt(&env);
    start(&env);
    let checks = env.run(&["doctor", "--json"]).json()["checks"].clone();
    let budget = checks.as_array().unwrap().iter().find(|check| check["id"] == "budget").unwrap();
    assert_eq!(budget["state"], "good", "it is over when it is over: {budget}");
}

#[test]
fn a_thousand_rules_of_a_project_are_sixteen_and_the_rest_is_said() {
    let env = TestEnv::ready();
    honest(&env);
    let rule =
        |n: usize| json!({ "id": format!("r{n}"), "pattern": format!("[a-z0-9]{{8,40}}x{n}[a-z]{{3,30}}") });
    let rules: Vec<Value> = (0..1_000).map(rule).collect();
    settings(&env, &json!({ "gate": { "rules": rules }, "retrieval": { "match_strategy": "title_tags" } }));
    assert!(prompt(&env).contains("pelican login"));
    let told = env.run(&["config", "list"]);
    assert!(
        told.stderr.contains("a project can add 16 rules") && told.stderr.contains("984 are ignored"),
        "{told:?}"
    );
}

#[test]
fn rules_above_a_small_number_count_once_a_person_approved_them() {
    let env = TestEnv::ready();
    let rules: Vec<Value> =
        (0..20).map(|n| json!({ "id": format!("r{n}"), "pattern": format!("zq{n}-[a-z]{{6}}") })).collect();
    let list = Value::Array(rules).to_string();
    settings(&env, &json!({ "gate": { "rules": serde_json::from_str::<Value>(&list).unwrap() } }));
    let refuses = |rule: &str, about: &str| {
        let text = format!("{about} goes by {rule}-abcdef because nobody found another way");
        env.run(&["add", "decision", &text]).code == Some(1)
    };
    assert!(refuses("zq3", "Billing") && !refuses("zq19", "Shipping"), "the first sixteen count at once");
    // An agent's word is no approval.
    env.run(&["config", "set", "gate.rules", &list]);
    assert!(!refuses("zq19", "The exporter"));
    env.at_terminal(&["config", "set", "gate.rules", &list], "").ok();
    assert!(refuses("zq19", "A thumbnail"), "now all of them do");
}

#[test]
fn a_megabyte_of_nested_or_repeated_settings_costs_what_its_bytes_cost() {
    let deep = format!("{}1{}", "{\"a\":".repeat(150_000), "}".repeat(150_000));
    let wide: String = (0..60_000).map(|n| format!("\"k{n}\":{{\"x\":1}},")).collect();
    let dotted = format!("{{\"{}\":1}}", "a.".repeat(400_000));
    let nested = format!(
        "{{\"categories\":{{\"decision\":{}}}}}",
        "{\"fields\":".repeat(100) + "1" + &"}".repeat(100)
    );
    let scopes = json!({ "vault": { "scopes": (0..40_000).map(|n| format!("s{n}")).collect::<Vec<_>>() } })
        .to_string();
    let categories: serde_json::Map<String, Value> =
        (0..22_000).map(|n| (format!("c{n}"), json!({ "enabled": true }))).collect();
    let agents: serde_json::Map<String, Value> =
        (0..30_000).map(|n| (format!("a{n}"), json!({ "scope": "x" }))).collect();
    let documents = [
        deep,
        format!("{{{}\"z\":1}}", wide),
        dotted,
        nested,
        scopes,
        json!({ "categories": categories }).to_string(),
        json!({ "agents": agents }).to_string(),
    ];
    for document in documents {
        let env = TestEnv::new();
        honest(&env);
        env.write(format!("{ROOT}/memory-config.json"), &document);
        prompt(&env);
        start(&env);
    }
}

#[test]
fn twenty_thousand_tiny_files_hold_up_no_hook() {
    let env = TestEnv::new();
    honest(&env);
    for n in 0..20_000 {
        std::fs::write(env.memory(&format!("decisions/t{n}.json")), "{}").unwrap();
    }
    for strategy in ["title_tags", "hybrid"] {
        settings(&env, &json!({ "retrieval": { "match_strategy": strategy } }));
        prompt(&env);
        start(&env);
    }
}

#[test]
fn a_hundred_thousand_aliases_are_followed_in_one_pass() {
    let env = TestEnv::ready();
    honest(&env);
    let id = "decision:x";
    let star: String =
        (0..100_000).map(|n| format!("{{\"was\":\"decision:w{n}\",\"is\":\"{id}\"}}\n")).collect();
    let chain: String = (0..100_000)
        .map(|n| format!("{{\"was\":\"decision:c{n}\",\"is\":\"decision:c{}\"}}\n", n + 1))
        .collect();
    let anchored =
        format!("{{\"id\":\"{id}\",\"at\":\"2026-01-01T00:00:00Z\",\"did\":\"anchored\",\"anchors\":[]}}\n");
    for aliases in [star, chain] {
        env.write(format!("{ROOT}/.aliases.jsonl"), &aliases);
        env.write(format!("{ROOT}/provenance.jsonl"), anchored.clone() + &aliases);
        assert!(prompt(&env).contains("pelican login"));
        // A command follows all of them, and comes to an end too.
        let began = Instant::now();
        env.run(&["show", "decision:w7"]);
        env.run(&["anchor", "list"]);
        assert!(began.elapsed() < AGES);
    }
}

#[test]
fn a_huge_list_of_packed_names_and_very_many_packs_hold_up_no_first_prompt() {
    let env = TestEnv::new();
    honest(&env);
    let git = env.project().join(".git");
    std::fs::create_dir_all(git.join("objects/pack")).unwrap();
    std::fs::create_dir_all(git.join("refs/heads")).unwrap();
    std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    let name = "a".repeat(40);
    let list: String = (0..400_000).map(|n| format!("{name} refs/heads/b{n}\n")).collect();
    std::fs::write(git.join("packed-refs"), list + &format!("{name} refs/heads/main\n")).unwrap();
    for n in 0..5_000 {
        std::fs::write(git.join(format!("objects/pack/pack-{n}.idx")), "").unwrap();
        std::fs::write(git.join(format!("refs/heads/l{n}")), &name).unwrap();
    }
    assert!(prompt(&env).contains("pelican login"));
    // One line without an end, and a list that only claims to be large.
    std::fs::write(git.join("packed-refs"), "x".repeat(20 << 20)).unwrap();
    prompt(&env);
    std::fs::File::create(git.join("packed-refs")).unwrap().set_len(10 << 30).unwrap();
    prompt(&env);
}

#[test]
fn a_pipe_or_a_device_in_a_transcripts_place_holds_up_no_stop() {
    let env = TestEnv::ready();
    honest(&env);
    let pipe = env.scratch().join("transcript.jsonl");
    assert!(env.command("mkfifo").arg(&pipe).status().unwrap().success());
    let device = env.scratch().join("device.jsonl");
    std::os::unix::fs::symlink("/dev/zero", &device).unwrap();
    let endless = env.scratch().join("endless.jsonl");
    std::fs::File::create(&endless).unwrap().set_len(3 << 30).unwrap();
    for transcript in [pipe, device, endless] {
        for moment in ["stop", "pre-compact", "session-end"] {
            let event =
                json!({ "session_id": "s1", "transcript_path": transcript, "stop_hook_active": false });
            hook(&env, moment, event);
        }
    }
}

#[test]
fn a_flood_of_lessons_and_notes_is_left_out_and_the_records_still_answer() {
    let env = TestEnv::ready();
    honest(&env);
    let page = |n: usize| {
        format!("# t{n}\n\n") + &format!("## 2026-01-02 - pelican {n}\n\nlogin pelican {n}\n\n").repeat(3_000)
    };
    for n in 0..12 {
        env.write(format!("{ROOT}/topics/t{n}/s.md"), page(n));
        env.write(format!("{ROOT}/topics/archive/t{n}/2026.md"), page(n).repeat(8));
    }
    for strategy in ["title_tags", "hybrid"] {
        settings(&env, &json!({ "retrieval": { "match_strategy": strategy } }));
        prompt(&env);
        assert!(!left_out(&env).is_empty());
        start(&env);
    }
}

#[test]
fn a_tool_that_wrote_thousands_of_files_is_looked_at_within_the_budget() {
    let env = TestEnv::ready();
    honest(&env);
    env.write(format!("{ROOT}/vault.jsonl"), "{}\n".repeat(1 << 20));
    let path = env.memory("vault.jsonl");
    let event = json!({ "tool_name": "Write", "tool_input": { "file_path": path }, "hook_event_name": "PostToolUse" });
    hook(&env, "post-write", event);
    assert!(path.is_file(), "what is too large to be looked into is not moved either");
}

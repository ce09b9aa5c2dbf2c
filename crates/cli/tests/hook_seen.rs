//! After a tool ran: the memory folder is compared with what was known of it, whatever the command said.

use crate::env::TestEnv;
use serde_json::{Value, json};

fn installed(env: &TestEnv, moment: &str, agent: &str, input: &Value) -> String {
    let mut input = input.clone();
    input["cwd"] = json!(env.project());
    input["session_id"] = json!("s");
    let ran =
        env.run_with(&["hook", moment, "--agent", agent, "--installed"], input.to_string().as_bytes()).ok();
    ran.stdout
}

fn after(env: &TestEnv, tool: &str, input: Value) -> String {
    installed(env, "post-write", "claude-code", &json!({ "tool_name": tool, "tool_input": input }))
}

fn used() -> TestEnv {
    let env = TestEnv::ready();
    env.run(&["add", "decision", "Use PostgreSQL for orders because we need jsonb"]).ok();
    env
}

fn set_aside(env: &TestEnv) -> Vec<String> {
    let all = env.files_below(&env.memory("")).into_iter().map(|(name, _)| name);
    all.filter(|name| name.contains(".invalid.")).collect()
}

const HIDDEN: &str = "python3 -c \"open('.claude/mem'+'ory/decisions/evil.json','w')\"";

#[test]
fn a_write_that_no_command_shows_is_set_aside_after_it() {
    for (agent, tool) in [
        ("claude-code", "Bash"),
        ("codex", "Bash"),
        ("gemini", "run_shell_command"),
        ("opencode", "bash"),
        ("copilot", "Bash"),
    ] {
        // With a look at the beginning, and without one.
        for begun in [true, false] {
            let env = used();
            if begun {
                installed(&env, "session-start", agent, &json!({ "source": "startup" }));
            }
            let evil = env.memory("decisions/evil.json");
            std::fs::write(&evil, "{\"title\": 1}").unwrap();
            let event = json!({ "tool_name": tool, "tool_input": { "command": HIDDEN } });
            let told = installed(&env, "post-write", agent, &event);
            assert!(!evil.exists(), "{agent}: {told}");
            assert_eq!(set_aside(&env).len(), 1, "{agent}");
            assert!(told.contains("evil.json.invalid"), "{agent}: {told}");
            assert_eq!(installed(&env, "post-write", agent, &event), "", "{agent}: it is said once");
        }
    }
}

#[test]
fn a_record_that_was_changed_in_place_is_seen() {
    let env = used();
    installed(&env, "session-start", "claude-code", &json!({ "source": "startup" }));
    let record = env.memory("decisions/use-postgresql-for-orders.json");
    let text = std::fs::read_to_string(&record).unwrap();
    std::fs::write(&record, text.replace("\"decision\"", "\"poetry\"")).unwrap();
    // Setting its time back does not hide it.
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(1_000_000);
    std::fs::File::open(&record).unwrap().set_modified(old).unwrap();
    assert!(after(&env, "Bash", json!({ "command": "make" })).contains("invalid"));
    assert!(!record.exists());
}

#[test]
fn tools_of_other_servers_are_looked_after_and_tools_that_only_look_are_not() {
    let env = used();
    installed(&env, "session-start", "claude-code", &json!({ "source": "startup" }));
    let evil = env.memory("decisions/evil.json");
    std::fs::write(&evil, "{}").unwrap();
    assert_eq!(after(&env, "Read", json!({ "file_path": "a" })), "");
    assert!(evil.exists());
    assert!(after(&env, "mcp__files__write", json!({ "where": "somewhere" })).contains("invalid"));
    assert!(!evil.exists());
}

#[test]
fn the_hosts_own_list_of_changed_files_is_looked_at() {
    let env = used();
    installed(&env, "session-start", "claude-code", &json!({ "source": "startup" }));
    let other = env.base().join("other/.claude/memory/decisions");
    std::fs::create_dir_all(&other).unwrap();
    let evil = other.join("evil.json");
    std::fs::write(&evil, "{}").unwrap();
    let event = json!({ "tool_name": "Bash", "tool_input": { "command": "make" },
        "tool_response": { "stdout": "", "bashEditDiff": { "changedFiles": [{ "filePath": evil }] } } });
    assert!(installed(&env, "post-write", "claude-code", &event).contains("quarantined"));
    assert!(!evil.exists());
}

#[test]
fn valid_text_that_came_past_the_gate_stays_untrusted_and_waits_in_review() {
    let env = used();
    let elsewhere = used();
    elsewhere
        .run(&["add", "constraint", "Call the payment API at most 100 times a minute because of the quota"])
        .ok();
    installed(&env, "session-start", "claude-code", &json!({ "source": "startup" }));
    let name = "constraints/call-the-payment-api-at-most-100-times-a-minute.json";
    std::fs::create_dir_all(env.memory("constraints")).unwrap();
    std::fs::copy(elsewhere.memory(name), env.memory(name)).unwrap();
    assert_eq!(after(&env, "Bash", json!({ "command": "git pull" })), "");
    assert!(env.memory(name).exists() && set_aside(&env).is_empty());
    let review = env.run(&["review"]).ok().stdout;
    assert!(review.contains("payment API"), "{review}");
    assert!(!env.run(&["show", "payment"]).ok().stdout.contains("trust high"));
}

#[test]
fn what_the_gate_let_through_during_a_tool_call_is_no_news() {
    let env = used();
    installed(&env, "session-start", "claude-code", &json!({ "source": "startup" }));
    env.run(&["add", "decision", "Use Redis for the cache because it is fast"]).ok();
    env.run(&["add", "note", "The worker leaks.\nRestart it nightly."]).ok();
    env.run(&["add", "lesson", "Rebase lost commits: use the reflog", "--topic", "git/rebase"]).ok();
    assert_eq!(after(&env, "Bash", json!({ "command": "heirloom add decision …" })), "");
    assert!(set_aside(&env).is_empty());
    assert_eq!(env.run(&["verify"]).code, Some(0));
}

#[test]
fn the_record_formats_own_hook_looks_only_at_what_it_is_told() {
    let env = used();
    let evil = env.memory("decisions/evil.json");
    std::fs::write(&evil, "{}").unwrap();
    let event = json!({ "cwd": env.project(), "tool_name": "Bash", "tool_input": { "command": "make" } });
    let ran = env.run_with(&["hook", "post-write"], event.to_string().as_bytes()).ok();
    assert_eq!(ran.stdout, "");
    assert!(evil.exists());
}

#[test]
fn last_says_held_saved_and_ignored() {
    let mut env = used();
    env.set("CLAUDE_CODE_SESSION_ATTENDED", "1");
    let said = "We decided on PostgreSQL because of jsonb.\n\nWe chose pgvector because it is near.";
    let stop = |session: &str, said: &str| {
        let event = json!({ "cwd": env.project(), "session_id": session, "last_assistant_message": said });
        env.run_with(
            &["hook", "stop", "--agent", "claude-code", "--installed"],
            event.to_string().as_bytes(),
        )
        .ok();
        env.run(&["last", "-n", "1", "--json"]).ok().json()[0]["ended"].as_str().unwrap().to_owned()
    };
    assert_eq!(stop("a", said), "held");
    assert_eq!(stop("a", "Nothing to add."), "ignored");
    assert_eq!(stop("b", said), "held");
    env.run(&["add", "decision", "Use pgvector because it is near"]).ok();
    assert_eq!(stop("b", "Saved one memory."), "saved");
    // What the gate refused is not saved.
    assert_eq!(stop("d", said), "held");
    let token = format!("gh{}_{}", "p", "x7Kq2mZ9vB4nT6wR1yL8sD3fG5hJ0cAeQiUo");
    assert_ne!(
        env.run(&["add", "decision", &format!("Use the token {token} because it works")]).code,
        Some(0)
    );
    assert_eq!(stop("d", "I could not save it."), "ignored");
    assert_eq!(stop("c", "Good morning."), "silent");
}

#[test]
fn what_came_into_the_store_behind_the_last_tool_is_set_aside_at_the_stop() {
    let env = used();
    after(&env, "Bash", json!({ "command": "(sleep 1; write-it) &" }));
    let evil = env.memory("decisions/evil.json");
    std::fs::create_dir_all(evil.parent().unwrap()).unwrap();
    std::fs::write(&evil, "{\"title\": 1}").unwrap();
    let stop = json!({ "session_id": "s", "cwd": env.project(), "last_assistant_message": "Done." });
    assert_eq!(installed(&env, "stop", "claude-code", &stop), "");
    assert!(!evil.exists());
    assert_eq!(set_aside(&env).len(), 1);
    let last: Value = env.run(&["last", "--json"]).ok().json();
    assert!(last[0]["because"].to_string().contains("not what they should be"), "{last}");
}

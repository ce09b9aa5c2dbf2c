//! Hooks over the length of a session: what is kept before it is lost, what is asked once, what every session is told.

use crate::env::{Ran, TestEnv};
use serde_json::{Value, json};
use std::path::PathBuf;

const DECIDED: &str = "We decided on PostgreSQL because of jsonb.\n\nWe chose pgvector because it is near.";

fn hook(env: &TestEnv, moment: &str, agent: &str, input: &Value) -> Ran {
    let mut input = input.clone();
    input["cwd"] = json!(env.project());
    // Claude Code's words without its name are the record format's own wire.
    let words: &[&str] = if agent == "claude-code" {
        &["hook", moment]
    } else {
        &["hook", moment, "--agent", agent, "--installed"]
    };
    env.run_with(words, input.to_string().as_bytes())
}

fn transcript(env: &TestEnv, said: &[&str]) -> PathBuf {
    let path = env.scratch().join("t.jsonl");
    let line = |(n, text): (usize, &&str)| {
        let content = [json!({ "type": "text", "text": text })];
        json!({ "type": "assistant", "timestamp": format!("2026-08-01T10:00:0{n}Z"), "message": { "id": format!("m{n}"), "role": "assistant", "content": content } })
            .to_string()
    };
    let lines: Vec<String> = said.iter().enumerate().map(line).collect();
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    path
}

fn triage_data(ran: &Ran) -> Value {
    let inner = ran.stderr.split("<triage_data>").nth(1).unwrap().split("</triage_data>").next().unwrap();
    serde_json::from_str(inner).unwrap()
}

fn notes(env: &TestEnv) -> usize {
    env.run(&["list", "--kind", "note", "--json"]).ok().items().as_array().unwrap().len()
}

#[test]
fn what_would_be_lost_is_kept_before_compaction_and_at_the_end_only_if_wanted() {
    for moment in ["pre-compact", "session-end"] {
        let env = TestEnv::ready();
        let path = transcript(&env, &["The worker leaks.\nRestart it nightly.", "ok"]);
        let input = json!({ "session_id": "s", "transcript_path": path });
        assert_eq!(hook(&env, moment, "claude-code", &input).ok().stdout, "");
        assert_eq!(notes(&env), 0, "{moment}: nobody asked for notes");
        env.at_terminal(&["config", "set", "notes.capture", "true"], "").ok();
        assert_eq!(hook(&env, moment, "claude-code", &input).ok().stdout, "");
        assert_eq!(notes(&env), 1, "{moment}");
        hook(&env, moment, "claude-code", &input).ok();
        assert_eq!(notes(&env), 1, "{moment}: the same event twice keeps nothing twice");
    }
}

#[test]
fn the_same_stop_twice_gets_the_same_answer_and_leaves_the_flag_alone() {
    let env = TestEnv::ready();
    let path = transcript(&env, &[DECIDED]);
    let stop = json!({ "session_id": "s", "transcript_path": path, "last_assistant_message": DECIDED, "stop_hook_active": false });
    let flag = env.project().join(".claude/.stop_hook_active");
    let first = hook(&env, "stop", "claude-code", &stop);
    let made = std::fs::metadata(&flag).unwrap().modified().unwrap();
    let second = hook(&env, "stop", "claude-code", &stop);
    assert_eq!((first.code, second.code), (Some(2), Some(2)));
    assert_eq!(first.stderr, second.stderr);
    assert_eq!(std::fs::metadata(&flag).unwrap().modified().unwrap(), made);
    let active = json!({ "session_id": "s", "transcript_path": path, "stop_hook_active": true });
    assert_eq!(hook(&env, "stop", "claude-code", &active).code, Some(0));
    assert!(!flag.exists());
}

#[test]
fn a_quoted_false_counts_as_on_and_is_warned_about() {
    // Sessions without a name share their context files.
    let _alone = crate::hook_case::alone();
    let env = TestEnv::ready();
    let path = transcript(&env, &[DECIDED]);
    let stop = json!({ "transcript_path": path });
    env.write(".claude/memory/memory-config.json", r#"{"triage": {"enabled": "false"}}"#);
    let ran = hook(&env, "stop", "claude-code", &stop);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("triage.enabled") && ran.stderr.contains("without quotes"), "{}", ran.stderr);
    assert_eq!(triage_data(&ran)["categories"][0]["category"], "decision");
    std::fs::remove_file(env.project().join(".claude/.stop_hook_active")).unwrap();
    env.write(".claude/memory/memory-config.json", r#"{"triage": {"enabled": false}}"#);
    let off = hook(&env, "stop", "claude-code", &stop).ok();
    assert_eq!(off.stderr, "");
}

#[test]
fn a_flag_from_the_future_and_settings_that_make_no_sense_do_not_switch_triage_off() {
    // Sessions without a name share their context files.
    let _alone = crate::hook_case::alone();
    let env = TestEnv::ready();
    let path = transcript(&env, &[DECIDED]);
    let stop = json!({ "transcript_path": path });
    let flag = env.write(".claude/.stop_hook_active", "0");
    let future = std::time::SystemTime::now() + std::time::Duration::from_secs(1_000_000);
    std::fs::File::open(&flag).unwrap().set_modified(future).unwrap();
    assert_eq!(hook(&env, "stop", "claude-code", &stop).code, Some(2));
    for config in ["[]", r#"{"triage": {"max_messages": 1e999}}"#] {
        std::fs::remove_file(&flag).unwrap();
        env.write(".claude/memory/memory-config.json", config);
        assert_eq!(hook(&env, "stop", "claude-code", &stop).code, Some(2), "{config}");
    }
    std::fs::remove_file(&flag).unwrap();
    env.write(
        ".claude/memory/memory-config.json",
        r#"{"categories": {"decision": {"auto_capture": false}}}"#,
    );
    assert_eq!(hook(&env, "stop", "claude-code", &stop).code, Some(0));
}

#[test]
fn context_files_are_private_and_never_behind_somebody_elses_link() {
    let env = TestEnv::ready();
    let path = transcript(&env, &[DECIDED]);
    let stop = json!({ "session_id": env.base(), "transcript_path": path });
    let data = triage_data(&hook(&env, "stop", "claude-code", &stop));
    let file = PathBuf::from(data["categories"][0]["context_file"].as_str().unwrap());
    let mode = |path: &std::path::Path| {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
    };
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    // Somebody puts a link where the next context file goes.
    let prey = env.scratch().join("prey");
    std::fs::write(&prey, "mine").unwrap();
    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(&prey, &file).unwrap();
    std::fs::remove_file(env.project().join(".claude/.stop_hook_active")).unwrap();
    transcript(
        &env,
        &[DECIDED, "We selected Redis because it is fast.\n\nWe picked LRU because it is simple."],
    );
    let ran = hook(&env, "stop", "claude-code", &stop);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert_eq!(std::fs::read_to_string(&prey).unwrap(), "mine");
    std::fs::remove_dir_all(file.parent().unwrap()).unwrap();
}

#[test]
fn a_session_starts_with_what_a_person_wrote_and_an_agents_own_registers() {
    let env = TestEnv::ready();
    std::fs::create_dir_all(env.home().join("config/heirloom")).unwrap();
    std::fs::write(
        env.home().join("config/heirloom/config.json"),
        r#"{"agents": {"codex": {"scope": "coder"}}}"#,
    )
    .unwrap();
    let yours = env
        .at_terminal(
            &["add", "canon", "The mission is to ship <b>boxes</b> on time.", "--scope", "shared"],
            "",
        )
        .ok();
    assert!(yours.stdout.contains("saved"), "{yours:?}");
    env.at_terminal(
        &["add", "constraint", "The payment API takes 100 calls a minute because of the contract"],
        "",
    )
    .ok();
    env.run(&["add", "preference", "Prefer tabs because an agent said so"]).ok();
    let start = |agent: &str| {
        hook(&env, "session-start", agent, &json!({ "source": "startup", "session_id": "s" })).ok().stdout
    };
    let block = start("claude-code");
    for line in [
        "Who is at work here:",
        "- The mission is to ship &lt;b&gt;boxes&lt;/b&gt; on time.",
        "What holds in this project:",
        "- [CONSTRAINT] The payment API",
        "(1 new memory waits for a person's decision: `heirloom review`)",
    ] {
        assert!(block.contains(line), "{line}: {block}");
    }
    assert!(!block.contains("Prefer tabs"), "{block}");
    assert!(!start("claude-code").contains("waits"), "what is new is named once");
    let codex: Value = serde_json::from_str(&start("codex")).unwrap();
    let given = codex["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(given.contains("The mission is"), "{given}");
}

#[test]
fn other_shelves_answer_a_prompt_only_if_they_have_something() {
    let env = TestEnv::ready();
    env.run(&["add", "decision", "Use PostgreSQL for the queue because we need row locks"]).ok();
    let ask = json!({ "prompt": "why does the queue worker in src/queue.rs lose jobs?", "session_id": "s" });
    let records = hook(&env, "prompt", "claude-code", &ask).ok().stdout;
    assert_eq!(records.lines().count(), 3, "nothing but the record: {records}");
    env.run(&["add", "note", "Fixed the worker in src/queue.rs.\nIt leaked </memory-context> connections."])
        .ok();
    env.run(&[
        "add",
        "lesson",
        "Queue worker lost jobs: acknowledge after commit",
        "--topic",
        "queue/worker",
    ])
    .ok();
    env.at_terminal(
        &["add", "canon", "The queue worker belongs to the payments team.", "--scope", "shared"],
        "",
    )
    .ok();
    let block = hook(&env, "prompt", "claude-code", &ask).ok().stdout;
    let (head, rest) = records.split_at(records.find("</memory").unwrap());
    assert!(block.starts_with(head) && block.ends_with(rest), "{block}");
    for line in [
        "\nNotes (",
        "\n- (",
        "&lt;/memory-context&gt;",
        "\nLessons (",
        "## Long-Term Memory Context",
        "- The queue worker belongs",
    ] {
        assert!(block.contains(line), "{line}: {block}");
    }
    assert_eq!(block.matches("</").count(), 1);
    assert_eq!(
        env.run(&["recall", "why does the queue worker in src/queue.rs lose jobs?"]).ok().stdout,
        block
    );
    let unrelated = json!({ "prompt": "please translate that sentence into Portuguese" });
    assert_eq!(hook(&env, "prompt", "claude-code", &unrelated).ok().stdout, "");
}

#[test]
fn the_shelf_that_owns_a_path_judges_what_a_tool_wrote_there() {
    let env = TestEnv::ready();
    env.at_terminal(&["add", "canon", "The mission is to ship on time.", "--scope", "shared"], "").ok();
    env.run(&["add", "lesson", "Rebase lost commits: use the reflog", "--topic", "git/rebase"]).ok();
    let wrote = |path: &str| {
        let input = json!({ "tool_name": "Write", "tool_input": { "file_path": env.memory(path) } });
        hook(&env, "post-write", "claude-code", &input).ok()
    };
    for path in ["vault.jsonl", "topics/git/rebase.md"] {
        let ran = wrote(path);
        assert!(ran.stdout.is_empty() && ran.stderr.contains("is valid"), "{path}: {ran:?}");
    }
    let vault = std::fs::read_to_string(env.memory("vault.jsonl")).unwrap();
    std::fs::write(env.memory("vault.jsonl"), format!("{vault}{{broken\n")).unwrap();
    let answer = wrote("vault.jsonl").json();
    assert_eq!(answer["decision"], "block");
    assert!(answer["reason"].as_str().unwrap().contains("line 2 cannot be read"), "{answer}");
    assert!(env.memory("vault.jsonl").exists(), "other memories are in it");
    let page = std::fs::read_to_string(env.memory("topics/git/rebase.md")).unwrap();
    let token = format!("gh{}_{}", "p", "x7Kq2mZ9vB4nT6wR1yL8sD3fG5hJ0cAeQiUo");
    std::fs::write(env.memory("topics/git/rebase.md"), format!("{page}\nThe token is {token}\n")).unwrap();
    let answer = wrote("topics/git/rebase.md").json();
    assert_eq!(answer["decision"], "block");
    assert!(!answer.to_string().contains("x7Kq2mZ9"));
    env.write(".claude/memory/notes/x.md", "no note");
    assert_eq!(wrote("notes/x.md").json()["decision"], "block");
    assert!(!env.memory("notes/x.md").exists(), "a file of one memory is set aside");
}

//! Hooks as `setup` installs them: only where there is a memory, quiet, one hold for each session and finding, none where nobody watches.

use crate::env::{Ran, TestEnv};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;

const DECIDED: &str = "We decided on PostgreSQL because of jsonb.\n\nWe chose pgvector because it is near.";
const ASKS: &str = "should be saved as memories before stopping";

fn installed(env: &TestEnv, moment: &str, agent: &str, input: &Value) -> Ran {
    let mut input = input.clone();
    if input.get("cwd").is_none() {
        input["cwd"] = json!(env.project());
    }
    env.run_with(&["hook", moment, "--agent", agent, "--installed"], input.to_string().as_bytes())
}

/// A session of Claude Code that a person watches.
fn watched() -> TestEnv {
    let mut env = TestEnv::ready();
    env.set("CLAUDE_CODE_SESSION_ATTENDED", "1");
    env
}

fn stop(session: &str, said: &str) -> Value {
    json!({ "session_id": session, "last_assistant_message": said, "stop_hook_active": false })
}

/// Everything below the project and the home.
fn everything(env: &TestEnv) -> Vec<(String, Vec<u8>)> {
    env.files_below(&env.base())
}

#[test]
fn in_a_folder_without_memory_an_installed_hook_says_and_writes_nothing() {
    let mut env = TestEnv::new();
    env.set("CLAUDE_CODE_SESSION_ATTENDED", "1");
    env.git(&["init", "-q"]);
    let before = everything(&env);
    for moment in ["session-start", "prompt", "pre-write", "post-write", "stop", "pre-compact", "session-end"]
    {
        for agent in ["claude-code", "codex", "gemini", "opencode", "copilot"] {
            let input = json!({ "session_id": "s", "prompt": "which database?", "last_assistant_message": DECIDED,
                "attended": true, "tool_name": "Write", "tool_input": { "file_path": "a" } });
            let ran = installed(&env, moment, agent, &input).ok();
            assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""), "{moment} {agent}");
            // So do lines of version 0.1.
            let old = env.run_with(&["hook", moment, "--agent", agent], input.to_string().as_bytes()).ok();
            assert_eq!((old.stdout.as_str(), old.stderr.as_str()), ("", ""), "{moment} {agent}");
        }
    }
    assert_eq!(everything(&env), before);
    // A folder that holds other things of Claude Code's is no memory either.
    std::fs::create_dir(env.project().join(".claude")).unwrap();
    assert_eq!(installed(&env, "stop", "claude-code", &stop("s", DECIDED)).ok().stdout, "");
}

#[test]
fn setup_everywhere_is_a_choice_and_acts_without_a_memory() {
    let mut env = TestEnv::new();
    env.set("CLAUDE_CODE_SESSION_ATTENDED", "1");
    let words = ["hook", "stop", "--agent", "claude-code", "--installed", "--everywhere"];
    let mut input = stop("s", DECIDED);
    input["cwd"] = json!(env.project());
    let ran = env.run_with(&words, input.to_string().as_bytes()).ok();
    assert!(ran.stdout.contains(ASKS), "{ran:?}");
    assert_eq!(env.files_below(&env.project()), [], "no state in the project");
}

#[test]
fn the_record_formats_own_hook_still_holds_a_stop_without_a_store() {
    let _alone = crate::hook_case::alone();
    let env = TestEnv::new();
    let input = json!({ "cwd": env.project(), "last_assistant_message": DECIDED });
    let ran = env.run_with(&["hook", "stop"], input.to_string().as_bytes());
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(env.project().join(".claude/.stop_hook_active").exists());
}

#[test]
fn a_memory_that_the_users_own_settings_put_elsewhere_counts() {
    let mut env = TestEnv::new();
    env.set("CLAUDE_CODE_SESSION_ATTENDED", "1");
    env.at_terminal(&["config", "set", "--user", "memory_root", "docs/memory"], "").ok();
    env.run(&["init"]).ok();
    env.run(&["add", "decision", "Use PostgreSQL because we need jsonb", "--tag", "database"]).ok();
    assert!(env.project().join("docs/memory").is_dir());
    let ask = json!({ "session_id": "s", "prompt": "which database is it, postgresql?" });
    assert!(installed(&env, "prompt", "claude-code", &ask).ok().stdout.contains("Use PostgreSQL"));
}

/// A clone of a project with a memory, by an account that has nothing to do with it yet.
fn cloned() -> (TestEnv, TestEnv) {
    let theirs = TestEnv::ready();
    theirs.run(&["add", "decision", "Use PostgreSQL because we need jsonb", "--tag", "database"]).ok();
    theirs.git(&["init", "-q"]);
    theirs.git(&["add", "-A"]);
    theirs.git(&["commit", "-q", "-m", "all"]);
    let mut ours = TestEnv::new();
    std::fs::remove_dir(ours.project()).unwrap();
    let into = ours.project();
    theirs.git(&["clone", "-q", ".", into.to_str().unwrap()]);
    ours.set("CLAUDE_CODE_SESSION_ATTENDED", "1");
    (theirs, ours)
}

#[test]
fn in_a_strange_clone_hooks_recall_with_a_label_and_write_and_hold_nothing() {
    let (_theirs, ours) = cloned();
    let before = everything(&ours);
    let ask =
        json!({ "session_id": "s", "prompt": "which database is it, postgresql?", "source": "startup" });
    installed(&ours, "session-start", "claude-code", &ask).ok();
    let block = installed(&ours, "prompt", "claude-code", &ask).ok().stdout;
    assert!(block.contains("Use PostgreSQL") && block.contains("unverified"), "{block}");
    let again = installed(&ours, "prompt", "claude-code", &ask).ok().stdout;
    assert_eq!(again, block, "nothing is remembered of the session");
    assert_eq!(installed(&ours, "stop", "claude-code", &stop("s", DECIDED)).ok().stdout, "");
    let write =
        json!({ "tool_name": "Write", "tool_input": { "file_path": ours.memory("decisions/x.json") } });
    assert!(installed(&ours, "pre-write", "claude-code", &write).ok().stdout.contains("deny"));
    for moment in ["post-write", "pre-compact", "session-end"] {
        assert_eq!(installed(&ours, moment, "claude-code", &write).ok().stdout, "", "{moment}");
    }
    assert_eq!(everything(&ours), before);
    // Looking does not change that; saving does.
    for words in [&["list"][..], &["status"], &["recall", "postgresql"], &["last"], &["review"], &["verify"]]
    {
        ours.run(words);
    }
    assert_eq!(installed(&ours, "stop", "claude-code", &stop("s", DECIDED)).ok().stdout, "");
    ours.run(&["add", "decision", "Use Redis for the cache because it is fast"]).ok();
    assert!(installed(&ours, "stop", "claude-code", &stop("s", DECIDED)).ok().stdout.contains(ASKS));
}

#[test]
fn a_strange_clone_is_left_alone_under_every_ranking() {
    for strategy in ["hybrid", "title_tags"] {
        let (_theirs, ours) = cloned();
        let config = ours.memory("memory-config.json");
        let mut settings: Value = serde_json::from_slice(&std::fs::read(&config).unwrap()).unwrap();
        settings["retrieval"]["match_strategy"] = strategy.into();
        std::fs::write(&config, settings.to_string()).unwrap();
        let before = everything(&ours);
        let ask =
            json!({ "session_id": "s", "prompt": "which database is it, postgresql?", "source": "startup" });
        installed(&ours, "session-start", "claude-code", &ask).ok();
        let block = installed(&ours, "prompt", "claude-code", &ask).ok().stdout;
        assert!(block.contains("Use PostgreSQL") && block.contains("unverified"), "{strategy}: {block}");
        assert_eq!(everything(&ours), before, "{strategy}");
    }
}

#[test]
fn init_makes_a_strange_clone_ones_own() {
    let (_theirs, ours) = cloned();
    ours.run(&["init"]).ok();
    assert!(installed(&ours, "stop", "claude-code", &stop("s", DECIDED)).ok().stdout.contains(ASKS));
}

#[test]
fn a_session_start_of_version_0_1_says_that_setup_replaces_it() {
    let env = TestEnv::ready();
    let input = json!({ "cwd": env.project(), "session_id": "s", "source": "startup" });
    let old =
        env.run_with(&["hook", "session-start", "--agent", "claude-code"], input.to_string().as_bytes()).ok();
    assert!(old.stdout.contains("setup` replaces them"), "{old:?}");
    assert!(!installed(&env, "session-start", "claude-code", &input).ok().stdout.contains("setup`"));
}

#[test]
fn a_hold_is_two_lines_in_each_agents_quietest_words() {
    for agent in ["claude-code", "codex", "opencode"] {
        let env = watched();
        let transcript = env.scratch().join("rollout.jsonl");
        let meta = json!({ "type": "session_meta", "payload": { "id": "s", "source": "cli" } });
        std::fs::write(&transcript, format!("{meta}\n")).unwrap();
        let mut input = stop("s", DECIDED);
        input["attended"] = json!(true);
        if agent == "codex" {
            input["transcript_path"] = json!(transcript);
        }
        let ran = installed(&env, "stop", agent, &input).ok();
        assert_eq!(ran.stderr, "", "{agent}");
        let answer = ran.json();
        let text = match agent {
            "claude-code" => &answer["hookSpecificOutput"]["additionalContext"],
            "codex" => &answer["reason"],
            _ => &answer["hold"],
        };
        let text = text.as_str().unwrap_or_else(|| panic!("{agent}: {answer}"));
        assert!(text.contains(ASKS) && text.lines().count() == 2, "{agent}: {text}");
        assert!(!text.contains("triage_data") && !text.contains('{'), "{agent}: {text}");
        // The rest is in a file of this user's, and the command it names works whatever the search path is.
        let file = text.split('`').nth(1).unwrap();
        let whole = std::fs::read_to_string(file).unwrap();
        assert!(whole.contains("<triage_data>"), "{whole}");
        assert!(text.contains(&format!("`{} add ", crate::env::HEIRLOOM)), "{agent}: {text}");
    }
}

#[test]
fn each_of_two_sessions_is_held_up_once_for_what_it_found() {
    let env = watched();
    for session in ["one", "two"] {
        assert!(
            installed(&env, "stop", "claude-code", &stop(session, DECIDED)).ok().stdout.contains(ASKS),
            "{session}"
        );
    }
    for session in ["one", "two"] {
        let mut after = stop(session, "Nothing to add.");
        after["stop_hook_active"] = json!(true);
        assert_eq!(installed(&env, "stop", "claude-code", &after).ok().stdout, "", "{session}");
        // The same finding is not asked for again.
        assert_eq!(
            installed(&env, "stop", "claude-code", &stop(session, "Bye.")).ok().stdout,
            "",
            "{session}"
        );
    }
}

#[test]
fn nothing_is_left_in_the_folder_a_session_works_in() {
    let env = watched();
    let folder = env.project().join("src/app");
    std::fs::create_dir_all(&folder).unwrap();
    let mut input = stop("s", DECIDED);
    input["cwd"] = json!(folder);
    assert!(installed(&env, "stop", "claude-code", &input).ok().stdout.contains(ASKS));
    assert_eq!(env.files_below(&folder), []);
    assert!(!folder.join(".claude").exists() && !env.project().join(".claude/.stop_hook_active").exists());
}

#[test]
fn a_session_that_nobody_watches_is_never_held_and_the_next_one_is_told() {
    let signals: [(&str, &[(&str, &str)]); 3] = [
        ("claude-code", &[("CLAUDE_CODE_SESSION_ATTENDED", "0"), ("CLAUDE_CODE_ENTRYPOINT", "cli")]),
        ("claude-code", &[("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")]),
        ("claude-code", &[]),
    ];
    for (agent, variables) in signals {
        let mut env = TestEnv::ready();
        for (name, value) in variables {
            env.set(name, value);
        }
        let ran = installed(&env, "stop", agent, &stop("script", DECIDED)).ok();
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""), "{variables:?}");
        env.set("CLAUDE_CODE_SESSION_ATTENDED", "1");
        let held = installed(&env, "stop", agent, &stop("person", "Fine.")).ok();
        assert!(held.stdout.contains(ASKS), "{variables:?}: {held:?}");
        let text = held.json()["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned();
        let whole = std::fs::read_to_string(text.split('`').nth(1).unwrap()).unwrap();
        assert!(whole.contains("PostgreSQL"), "{whole}");
        assert_eq!(
            installed(&env, "stop", agent, &stop("third", "Fine.")).ok().stdout,
            "",
            "it is told once"
        );
    }
    // Agents that show nothing count as headless.
    for agent in ["codex", "gemini", "opencode", "copilot"] {
        let env = TestEnv::ready();
        let mut input = stop("s", DECIDED);
        input["prompt_response"] = json!(DECIDED);
        assert_eq!(installed(&env, "stop", agent, &input).ok().stdout, "", "{agent}");
    }
}

#[test]
fn a_build_servers_session_is_not_held_whatever_its_agent_says() {
    for (value, held) in [("true", false), ("1", false), ("", true), ("false", true)] {
        let mut env = watched();
        env.set("CI", value);
        let ran = installed(&env, "stop", "claude-code", &stop("s", DECIDED)).ok();
        assert_eq!(ran.stdout.contains(ASKS), held, "CI={value}: {ran:?}");
    }
}

/// A transcript of Claude Code.
fn write(path: &Path, said: &[(&str, &str)]) {
    let line = |(role, text): &(&str, &str)| {
        json!({ "type": role, "message": { "role": role, "content": [{ "type": "text", "text": text }] } })
            .to_string()
    };
    let lines: Vec<String> = said.iter().map(line).collect();
    std::fs::write(path, lines.join("\n") + "\n").unwrap();
}

fn stop_with(transcript: &Path, last: &str) -> Value {
    json!({ "session_id": "s", "transcript_path": transcript, "last_assistant_message": last, "stop_hook_active": false })
}

#[test]
fn a_hold_that_was_lost_lets_nothing_pass_unseen() {
    let env = watched();
    let transcript = env.scratch().join("t.jsonl");
    let mut said = vec![("user", "Which database?"), ("assistant", DECIDED)];
    write(&transcript, &said);
    let first = installed(&env, "stop", "claude-code", &stop_with(&transcript, DECIDED)).ok();
    assert!(first.stdout.contains(ASKS), "{first:?}");
    // The model never went on; the person asked something else instead.
    let queue = "We decided on RabbitMQ for the queue because Kafka is too much for us.";
    said.extend([("user", "And which queue?"), ("assistant", queue)]);
    write(&transcript, &said);
    let second = installed(&env, "stop", "claude-code", &stop_with(&transcript, queue)).ok();
    assert!(second.stdout.contains(ASKS), "{second:?}");
    // An answer of the model is no new stop, whether its host says so or not.
    said.push(("assistant", "Nothing to add, though we decided on RabbitMQ because of its size."));
    write(&transcript, &said);
    let third = installed(&env, "stop", "claude-code", &stop_with(&transcript, "Nothing to add.")).ok();
    assert_eq!(third.stdout, "");
    let last: Value = env.run(&["last", "--json"]).ok().json();
    let ended: Vec<&str> =
        last.as_array().unwrap().iter().map(|run| run["ended"].as_str().unwrap()).collect();
    assert_eq!(ended, ["ignored", "held", "held"]);
}

#[test]
fn one_finding_is_held_up_for_once_however_often_it_is_said() {
    let env = watched();
    let transcript = env.scratch().join("t.jsonl");
    let mut said = vec![("user", "Which database?"), ("assistant", DECIDED)];
    write(&transcript, &said);
    assert!(
        installed(&env, "stop", "claude-code", &stop_with(&transcript, DECIDED)).ok().stdout.contains(ASKS)
    );
    said.push(("assistant", "Nothing to add."));
    write(&transcript, &said);
    assert_eq!(
        installed(&env, "stop", "claude-code", &stop_with(&transcript, "Nothing to add.")).ok().stdout,
        ""
    );
    let again = "As I said:\n\n- **we decided on PostgreSQL because of jsonb**\n- We chose pgvector because it is near.";
    said.extend([("user", "What was it again?"), ("assistant", again)]);
    write(&transcript, &said);
    let ran = installed(&env, "stop", "claude-code", &stop_with(&transcript, again)).ok();
    assert_eq!(ran.stdout, "", "the same again is no news");
    let more = "We decided on RabbitMQ for the queue because Kafka is too much for us.";
    said.extend([("user", "And the queue?"), ("assistant", more)]);
    write(&transcript, &said);
    assert!(installed(&env, "stop", "claude-code", &stop_with(&transcript, more)).ok().stdout.contains(ASKS));
}

#[test]
fn a_plugin_and_the_settings_ask_once_even_if_the_transcript_grows_between_them() {
    let env = watched();
    let transcript = env.scratch().join("t.jsonl");
    write(&transcript, &[("user", "Which database?")]);
    assert!(
        installed(&env, "stop", "claude-code", &stop_with(&transcript, DECIDED)).ok().stdout.contains(ASKS)
    );
    write(&transcript, &[("user", "Which database?"), ("assistant", DECIDED)]);
    assert_eq!(installed(&env, "stop", "claude-code", &stop_with(&transcript, DECIDED)).ok().stdout, "");
    let mut answer = stop_with(&transcript, "Nothing to add.");
    answer["stop_hook_active"] = json!(true);
    assert_eq!(installed(&env, "stop", "claude-code", &answer).ok().stdout, "");
    let last: Value = env.run(&["last", "--json"]).ok().json();
    assert_eq!(last[0]["ended"], "ignored", "the hold is answered by the model's own stop");
}

#[test]
fn an_answer_that_its_host_writes_down_late_is_waited_for() {
    let env = watched();
    let transcript = env.scratch().join("events.jsonl");
    let asked = json!({ "type": "user.message", "data": { "content": "Which database?" } });
    let answered = json!({ "type": "assistant.message", "data": { "content": DECIDED, "toolRequests": [] } });
    std::fs::write(&transcript, format!("{asked}\n")).unwrap();
    let late = transcript.clone();
    let writer = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(150));
        std::fs::write(late, format!("{asked}\n{answered}\n")).unwrap();
    });
    let stop = json!({ "session_id": "s", "transcript_path": transcript });
    let ran = installed(&env, "stop", "claude-code", &stop).ok();
    writer.join().unwrap();
    assert!(ran.stdout.contains(ASKS), "{ran:?}");
}

#[test]
fn an_agent_that_reads_standard_error_is_told_nothing_there() {
    let env = TestEnv::ready();
    std::fs::write(env.memory("memory-config.json"), "{ \"triage\": { \"max_messages\": \"many\" } }")
        .unwrap();
    std::fs::create_dir_all(env.memory("decisions")).unwrap();
    std::fs::write(env.memory("decisions/evil.json"), "{}").unwrap();
    let write = json!({ "session_id": "s", "prompt": "which database?", "prompt_response": DECIDED, "tool_name": "write_file",
        "tool_input": { "file_path": ".claude/memory/decisions/evil.json", "content": "{}" } });
    for moment in ["session-start", "prompt", "pre-write", "post-write", "stop", "session-end"] {
        assert_eq!(installed(&env, moment, "gemini", &write).ok().stderr, "", "{moment}");
        let broken = env.run_with(&["hook", moment, "--agent", "gemini", "--installed"], b"{ no").ok();
        assert_eq!((broken.stdout.as_str(), broken.stderr.as_str()), ("", ""), "{moment}");
    }
    assert_ne!(installed(&env, "prompt", "claude-code", &write).ok().stderr, "", "others may be told");
}

#[test]
fn codex_exec_is_known_by_its_transcript() {
    for (source, held) in [("cli", true), ("exec", false), ("mcp", false)] {
        let env = TestEnv::ready();
        let transcript = env.scratch().join("rollout.jsonl");
        let meta = json!({ "type": "session_meta", "payload": { "id": "s", "source": source } });
        std::fs::write(&transcript, format!("{meta}\n")).unwrap();
        let mut input = stop("s", DECIDED);
        input["transcript_path"] = json!(transcript);
        let ran = installed(&env, "stop", "codex", &input).ok();
        assert_eq!(ran.stdout.contains(ASKS), held, "{source}: {ran:?}");
    }
}

#[test]
fn a_line_whose_program_is_gone_is_silence_and_zero() {
    let env = TestEnv::ready();
    for folder in [".claude", ".codex", ".gemini", ".copilot"] {
        std::fs::create_dir_all(env.home().join(folder)).unwrap();
    }
    let program = env.home().join("my bin/heir'loom");
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    std::fs::copy(crate::env::HEIRLOOM, &program).unwrap();
    let setup = env.command(program.to_str().unwrap()).args(["setup", "--yes"]).output().unwrap();
    assert!(setup.status.success(), "{setup:?}");
    let mut lines = Vec::new();
    for file in [
        ".claude/settings.json",
        ".codex/hooks.json",
        ".gemini/settings.json",
        ".copilot/hooks/heirloom.json",
    ] {
        let settings: Value = serde_json::from_slice(&std::fs::read(env.home().join(file)).unwrap()).unwrap();
        collect(&settings["hooks"], &mut lines);
    }
    assert!(lines.len() > 20, "{lines:?}");
    let sh = |line: &str| {
        let mut child = env.command("sh");
        child.args(["-c", line]).stdin(Stdio::null()).output().unwrap()
    };
    for line in &lines {
        assert!(line.contains("--installed"), "{line}");
        assert!(sh(line).status.success(), "{line}");
    }
    std::fs::remove_file(&program).unwrap();
    for line in &lines {
        let ran = sh(line);
        assert_eq!(
            (ran.status.code(), ran.stdout.len(), ran.stderr.len()),
            (Some(0), 0, 0),
            "{line}: {ran:?}"
        );
    }
}

/// The command lines in a value.
fn collect(value: &Value, lines: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match (name.as_str(), value) {
                    ("command" | "bash", Value::String(line)) => lines.push(line.clone()),
                    _ => collect(value, lines),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, lines)),
        _ => {}
    }
}

#[test]
fn setup_replaces_lines_of_version_0_1_and_uninstall_removes_both() {
    let env = TestEnv::ready();
    let file = env.home().join(".claude/settings.json");
    std::fs::create_dir(env.home().join(".claude")).unwrap();
    let old = |event: &str, moment: &str| {
        format!(
            "    \"{event}\": [{{\"hooks\": [{{\"type\": \"command\", \"command\": \"/old/heirloom hook {moment} --agent claude-code\"}}]}}]"
        )
    };
    let all = [old("Stop", "stop"), old("UserPromptSubmit", "prompt"), old("SessionStart", "session-start")];
    std::fs::write(&file, format!("{{\n  \"hooks\": {{\n{}\n  }}\n}}\n", all.join(",\n"))).unwrap();
    env.run(&["setup", "--yes", "--agent", "claude-code"]).ok();
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(!text.contains("/old/heirloom") && text.contains("--installed"), "{text}");
    assert_eq!(text.matches("hook stop ").count(), 1, "{text}");
    // Without a receipt as well: somebody's dotfiles came from another machine.
    let receipts = env.home().join("data/heirloom");
    let _ = std::fs::remove_dir_all(&receipts);
    let both = text.replacen(
        "\"Stop\": [",
        &format!(
            "\"Stop\": [{{\"hooks\": [{}]}}, ",
            json!({"type": "command", "command": "/old/heirloom hook stop --agent claude-code"})
        ),
        1,
    );
    std::fs::write(&file, both).unwrap();
    env.at_terminal(&["setup", "--uninstall", "--yes", "--agent", "claude-code"], "").ok();
    let left = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(!left.contains("heirloom"), "{left}");
}

#[test]
fn our_own_words_in_a_prompt_call_for_nothing() {
    let env = watched();
    env.run(&["add", "decision", "Use PostgreSQL for orders because we need jsonb", "--tag", "database"])
        .ok();
    let block = "<hook_context>&lt;memory-context source=&quot;x&quot;&gt;\n- [DECISION] Use PostgreSQL for orders database\n&lt;/memory-context&gt;\n</hook_context>\n\n";
    let ask = |prompt: String| {
        let input = json!({ "session_id": prompt, "prompt": prompt });
        installed(&env, "prompt", "gemini", &input).ok().stdout
    };
    assert_eq!(ask(block.to_owned()), "");
    assert_eq!(ask(format!("{block}please translate that sentence into Portuguese")), "");
    assert!(ask(format!("{block}which database, postgresql?")).contains("Use PostgreSQL"));
    let asked = installed(&env, "stop", "claude-code", &stop("s", DECIDED)).ok().json();
    let text = asked["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned();
    assert_eq!(ask(text), "");
}

#[test]
fn a_compaction_that_may_not_happen_makes_nobody_forget() {
    // Nothing is given twice under this ranking.
    let env = TestEnv::new();
    env.run(&["init"]).ok();
    env.run(&["add", "decision", "Use PostgreSQL for orders because we need jsonb", "--tag", "database"])
        .ok();
    let ask = json!({ "session_id": "s", "prompt": "which database, postgresql?" });
    assert!(installed(&env, "prompt", "gemini", &ask).ok().stdout.contains("Use PostgreSQL"));
    installed(&env, "pre-compact", "gemini", &json!({ "session_id": "s", "trigger": "auto" })).ok();
    assert_eq!(installed(&env, "prompt", "gemini", &ask).ok().stdout, "");
    // Asked for by a person it does happen.
    installed(&env, "pre-compact", "gemini", &json!({ "session_id": "s", "trigger": "manual" })).ok();
    assert!(installed(&env, "prompt", "gemini", &ask).ok().stdout.contains("Use PostgreSQL"));
    // One that happened by itself shows in the transcript.
    assert_eq!(installed(&env, "prompt", "gemini", &ask).ok().stdout, "");
    let transcript = env.home().join("t.jsonl");
    let answer =
        |input: u64| json!({ "type": "gemini", "content": "x", "tokens": { "input": input } }).to_string();
    std::fs::write(&transcript, format!("{}\n{}\n", answer(600_000), answer(50_000))).unwrap();
    let later =
        json!({ "session_id": "s", "prompt": "which database, postgresql?", "transcript_path": transcript });
    assert!(installed(&env, "prompt", "gemini", &later).ok().stdout.contains("Use PostgreSQL"));
}

#[test]
fn the_words_agents_are_told_name_the_program_by_its_path() {
    let env = TestEnv::ready();
    let path = Path::new(crate::env::HEIRLOOM);
    assert!(path.is_absolute());
    env.run(&["add", "preference", "Prefer tabs because an agent said so"]).ok();
    let start =
        installed(&env, "session-start", "claude-code", &json!({ "session_id": "s", "source": "startup" }))
            .ok();
    assert!(start.stdout.contains(&format!("`{} review`", path.display())), "{start:?}");
    let write =
        json!({ "tool_name": "Write", "tool_input": { "file_path": env.memory("decisions/x.json") } });
    let denied = installed(&env, "pre-write", "claude-code", &write).ok().stdout;
    assert!(!denied.contains("`heirloom "), "{denied}");
}

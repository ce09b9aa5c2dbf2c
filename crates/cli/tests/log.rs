//! `HEIRLOOM_LOG`: what is done can be watched, what is said cannot.
//!
//! Comes in: memories with a word that stands nowhere else, and every verb that touches them. Goes out: lines on standard error that never
//! hold that word, and none at all from a hook.

use crate::env::{Ran, TestEnv};

/// In every field, so that ids and slugs made from a title have it too.
const MARKER: &str = "Zebrafinchquux";

/// The lines of the log; a command's own talk goes to the same stream.
fn logged(ran: &Ran) -> Vec<&str> {
    let is_log =
        |line: &&str| line.trim_start().split_once(" ms ").is_some_and(|(at, _)| at.parse::<f64>().is_ok());
    ran.stderr.lines().filter(is_log).collect()
}

fn watched(env: &TestEnv, args: &[&str]) -> usize {
    let ran = env.at_terminal_with(args, "y\n", &[("HEIRLOOM_LOG", "trace")]);
    // A terminal joins both streams.
    let ran = Ran { stderr: format!("{}\n{}", ran.stderr, ran.stdout.replace('\r', "")), ..ran };
    let lines = logged(&ran);
    for line in &lines {
        assert!(!line.to_lowercase().contains(&MARKER.to_lowercase()), "{args:?}: {line}");
    }
    lines.len()
}

#[test]
fn a_log_of_every_step_never_holds_what_a_memory_says() {
    let env = TestEnv::ready();
    let title = format!("Use {MARKER} because it sings");
    let mut lines = 0;
    for args in [
        vec!["add", "decision", &title, "--tag", MARKER],
        vec!["add", "canon", &title],
        vec!["add", "fact", &title],
        vec!["search", MARKER],
        vec!["recall", &title],
        vec!["list"],
        vec!["status"],
    ] {
        lines += watched(&env, &args);
    }
    let id = format!("decision:use-{}", MARKER.to_lowercase());
    for args in [
        vec!["show", id.as_str()],
        vec!["retire", id.as_str(), "--reason", MARKER],
        vec!["restore", id.as_str()],
        vec!["forget", id.as_str()],
        vec!["show", id.as_str()],
    ] {
        lines += watched(&env, &args);
    }
    assert!(lines > 20, "only {lines} lines: the log says nothing, so the test shows nothing");
}

#[test]
fn a_secret_that_is_refused_is_not_logged_either() {
    let env = TestEnv::ready();
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let text = format!("the token is {secret}");
    let mut env = env;
    env.set("HEIRLOOM_LOG", "trace");
    let ran = env.run(&["add", "decision", &text]);
    assert_ne!(ran.code, Some(0));
    assert!(!logged(&ran).is_empty(), "{ran:?}");
    assert!(!ran.stderr.contains(&secret), "{ran:?}");
}

#[test]
fn a_hook_logs_nothing_and_neither_does_a_command_that_was_not_asked() {
    let mut env = TestEnv::ready();
    assert!(logged(&env.run(&["list"]).ok()).is_empty());
    env.set("HEIRLOOM_LOG", "debug");
    assert!(!logged(&env.run(&["list"]).ok()).is_empty());
    let event = serde_json::json!({
        "hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": env.project(), "prompt": "what do we use for storage here",
    });
    let ran = env.run_with(&["hook", "prompt", "--agent", "claude-code"], event.to_string().as_bytes());
    assert!(logged(&ran).is_empty(), "{ran:?}");
}

#[test]
fn a_level_nobody_knows_is_said_and_costs_nothing() {
    let mut env = TestEnv::ready();
    env.set("HEIRLOOM_LOG", "loud");
    let ran = env.run(&["list"]).ok();
    assert!(ran.stderr.contains("HEIRLOOM_LOG must be error"), "{ran:?}");
    assert!(logged(&ran).is_empty());
}

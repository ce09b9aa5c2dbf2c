//! Nothing we gave an agent comes back as something it said: every block, through every way of capturing.

use crate::env::{TestEnv, decision};
use serde_json::{Value, json};

/// A word of the memories that nobody in the conversation says.
const ECHO: &str = "zebrafish";
/// What the person and the agent say themselves.
const ASKED: &str = "Where do the jobs of our importer live these days?";
const SAID: &str = "They sit in a table of their own.\nThe importer fetches them one by one.";

/// A project whose memories all hold the word, with everything switched on that captures.
fn ready() -> TestEnv {
    let env = TestEnv::new();
    env.run(&["init"]).ok();
    let mut queue = decision("Jobs of the importer live in the zebrafish table");
    queue["content"]["decision"] =
        json!("We decided that jobs of the importer live in the zebrafish table because of row locks");
    env.create("jobs", &queue).ok();
    env.run(&[
        "add",
        "lesson",
        "Importer jobs ran twice, fixed by the zebrafish lock",
        "--topic",
        "importer/jobs",
    ])
    .ok();
    env.at_terminal(&["add", "canon", "We keep the jobs of the importer in the zebrafish table"], "").ok();
    env.at_terminal(
        &["add", "constraint", "Importer jobs never leave the zebrafish table because of audits"],
        "",
    )
    .ok();
    env.at_terminal(&["remember", "I prefer the zebrafish table for jobs of the importer"], "").ok();
    let file = env.home().join("config/heirloom/config.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, json!({ "tiers": { "capture": true }, "notes": { "capture": true } }).to_string())
        .unwrap();
    env
}

fn hook(env: &TestEnv, moment: &str, mut event: Value) -> String {
    event["cwd"] = json!(env.project());
    let ran = env.run_with(&["hook", moment], event.to_string().as_bytes());
    format!("{}{}", ran.stdout, ran.stderr)
}

/// The text that a host takes out of a hook's answer.
fn context(answer: &str) -> String {
    match serde_json::from_str::<Value>(answer.lines().next().unwrap_or_default()) {
        Ok(value) => value["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or(answer).to_owned(),
        Err(_) => answer.to_owned(),
    }
}

/// Every block there is, by the way it was given.
fn blocks(env: &TestEnv) -> Vec<(&'static str, String)> {
    let prompt = |strategy: &str| {
        env.run(&["config", "set", "retrieval.match_strategy", strategy]).ok();
        let event = json!({ "prompt": "where do jobs of the importer live?", "session_id": strategy, "hook_event_name": "UserPromptSubmit" });
        context(&hook(env, "prompt", event))
    };
    let start = json!({ "session_id": "s", "hook_event_name": "SessionStart", "source": "startup" });
    let mut all = vec![
        ("prompt by titles and tags", prompt("title_tags")),
        ("prompt by hybrid", prompt("hybrid")),
        ("session start", context(&hook(env, "session-start", start))),
        ("snapshot", env.run(&["snapshot"]).ok().stdout),
        ("brief", env.run(&["brief", "jobs of the importer"]).ok().stdout),
        ("recall", env.run(&["recall", "where do jobs of the importer live?"]).ok().stdout),
        ("tiers", env.run(&["search", "--context", "jobs of the importer"]).ok().stdout),
    ];
    // What a stop says to save was said here already.
    let spoken = format!(
        "We decided to keep jobs in the {ECHO} table because of locks. We chose the {ECHO} table due to audits."
    );
    let transcript = write(env, "claude", "held", &[("user", &spoken), ("assistant", &spoken)]);
    let stop = json!({ "session_id": "held", "transcript_path": transcript, "hook_event_name": "Stop" });
    all.push(("stop", hook(env, "stop", stop)));
    for (way, block) in &all {
        assert!(block.contains(ECHO), "{way}: {block}");
    }
    all
}

/// A transcript in an agent's own form.
fn write(env: &TestEnv, agent: &str, session: &str, said: &[(&str, &str)]) -> String {
    let mut lines = String::new();
    if agent == "codex" {
        lines.push_str(&format!("{}\n", json!({ "type": "session_meta", "payload": { "id": session } })));
    }
    for (at, (role, text)) in said.iter().enumerate() {
        let time = format!("2026-01-10T09:00:{at:02}Z");
        let kind = if *role == "user" { "input_text" } else { "output_text" };
        let line = match agent {
            "codex" => {
                json!({ "timestamp": time, "type": "response_item", "payload": { "type": "message", "role": role,
                "content": [{ "type": kind, "text": text }] } })
            }
            _ => json!({ "timestamp": time, "type": role, "sessionId": session,
                "message": { "id": format!("m{at}"), "role": role, "content": [{ "type": "text", "text": text }] } }),
        };
        lines.push_str(&format!("{line}\n"));
    }
    let path = env.scratch().join(format!("{agent}-{}.jsonl", said.len()));
    std::fs::write(&path, lines).unwrap();
    path.to_str().unwrap().to_owned()
}

/// What of the conversation was kept: notes and episodes.
fn kept(env: &TestEnv) -> (String, String) {
    let notes: String = env
        .files_below(&env.memory("notes"))
        .iter()
        .map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned())
        .collect();
    (notes, env.run(&["list", "--tier", "episodic", "--json"]).ok().items().to_string())
}

#[test]
fn what_was_given_is_never_captured_as_what_was_said() {
    let env = ready();
    let given = blocks(&env);
    // The stop above kept what was really said; it goes, so that only echoes could be left.
    env.at_terminal(&["clear", "episodic", "--yes"], "").ok();
    let _ = std::fs::remove_dir_all(env.memory("notes"));
    for agent in ["claude", "codex"] {
        for (way, block) in &given {
            // Before, after and between one's own words; a host's way and an agent's.
            let asked = [format!("{block}\n{ASKED}"), format!("{ASKED}\n\n{block}")];
            let said = format!("I was told this:\n\n{block}\n{SAID}");
            for asked in &asked {
                let session = format!("{agent} {way} {}", asked.starts_with(ASKED));
                let transcript = write(&env, agent, &session, &[("user", asked), ("assistant", &said)]);
                let event = json!({ "session_id": session, "transcript_path": transcript, "hook_event_name": "Stop",
                    "prompt": asked, "last_assistant_message": said });
                let stop = hook(&env, "stop", event);
                assert!(!stop.contains(ECHO), "{agent}, {way}: triage took our own words for theirs: {stop}");
                let (notes, episodes) = kept(&env);
                assert!(!notes.contains(ECHO), "{agent}, {way}: {notes}");
                assert!(!episodes.contains(ECHO), "{agent}, {way}: {episodes}");
                assert!(
                    notes.contains("fetches them one by one"),
                    "{agent}, {way}: the agent's own words are kept: {notes}"
                );
                assert!(
                    episodes.contains("importer live these days"),
                    "{agent}, {way}: and the person's: {episodes}"
                );
                env.at_terminal(&["clear", "episodic", "--yes"], "").ok();
                let _ = std::fs::remove_dir_all(env.memory("notes"));
            }
        }
    }
    assert!(!env.run(&["review", "--json"]).ok().json()["drafts"].to_string().contains(ECHO));
}

#[test]
fn an_imported_transcript_brings_no_echo_either() {
    let env = ready();
    for (way, block) in blocks(&env) {
        let _ = std::fs::remove_dir_all(env.memory("notes"));
        let transcript = write(
            &env,
            "claude",
            way,
            &[
                ("user", &format!("{block}\n{ASKED}")),
                ("assistant", &format!("{block}\n{SAID}")),
                ("user", "thanks"),
            ],
        );
        env.run(&["import", &transcript]).ok();
        let (notes, _) = kept(&env);
        assert!(notes.contains("fetches them one by one") && !notes.contains(ECHO), "{way}: {notes}");
    }
}

#[test]
fn a_message_that_is_nothing_but_a_block_is_no_message() {
    let env = ready();
    let (_, block) = blocks(&env).remove(1);
    env.at_terminal(&["clear", "episodic", "--yes"], "").ok();
    let _ = std::fs::remove_dir_all(env.memory("notes"));
    let transcript = write(&env, "codex", "only", &[("user", &block), ("assistant", &block)]);
    hook(
        &env,
        "stop",
        json!({ "session_id": "only", "transcript_path": transcript, "hook_event_name": "Stop" }),
    );
    let (notes, episodes) = kept(&env);
    assert!(notes.is_empty() && episodes.trim() == "[]", "{notes} {episodes}");
}

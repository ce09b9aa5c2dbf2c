//! The hook command as agents run it: a fresh process, JSON in, an answer out, and never a surprise.

#![allow(clippy::unwrap_used, reason = "tests")]

use crate::env::creating;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const MOMENTS: [&str; 7] =
    ["session-start", "prompt", "pre-write", "post-write", "stop", "pre-compact", "session-end"];
const AGENTS: [&str; 5] = ["claude-code", "codex", "gemini", "opencode", "copilot"];

/// A project and a home of its own, below the temporary folder that transcripts may lie in.
struct Scene {
    _folder: tempfile::TempDir,
    project: PathBuf,
    home: PathBuf,
}

struct Answer {
    stdout: String,
    stderr: String,
    exit: i32,
}

impl Scene {
    fn new() -> Scene {
        let folder = tempfile::Builder::new().tempdir_in("/tmp").unwrap();
        let [project, home] = ["project", "home"].map(|name| folder.path().join(name));
        std::fs::create_dir(&project).unwrap();
        std::fs::create_dir(&home).unwrap();
        Scene { _folder: folder, project, home }
    }

    fn heirloom(&self, args: &[&str], input: &[u8]) -> Answer {
        let mut child = Command::new(env!("CARGO_BIN_EXE_heirloom"))
            .args(args)
            .current_dir(&self.project)
            .env_clear()
            .env("HOME", &self.home)
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A hook may answer before it has read everything.
        let _ = child.stdin.take().unwrap().write_all(input);
        let output = child.wait_with_output().unwrap();
        Answer {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            exit: output.status.code().unwrap_or(-1),
        }
    }

    fn hook(&self, moment: &str, input: &Value) -> Answer {
        let mut input = input.clone();
        input["cwd"] = json!(self.project);
        input["session_id"] = json!("session-1");
        self.heirloom(&["hook", moment], input.to_string().as_bytes())
    }
}

fn payloads() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/hooks");
    let mut found = Vec::new();
    for agent in AGENTS {
        for entry in std::fs::read_dir(folder.join(agent)).unwrap() {
            let fixture: Value =
                serde_json::from_slice(&std::fs::read(entry.unwrap().path()).unwrap()).unwrap();
            found.push(fixture["input"].to_string().into_bytes());
        }
    }
    found
}

#[test]
fn no_input_makes_a_hook_fail_or_hang() {
    let scene = Scene::new();
    std::fs::create_dir_all(scene.project.join(".claude/memory")).unwrap();
    let deep = [b"{\"tool_input\":".as_slice(), &[b'['; 50_000]].concat();
    let huge = json!({"prompt": "word ".repeat(400_000), "tool_input": {"file_path": "/a".repeat(100_000)}});
    let hostile: Vec<Vec<u8>> = vec![
        Vec::new(),
        b"  \n".to_vec(),
        b"{".to_vec(),
        b"null".to_vec(),
        b"[]".to_vec(),
        b"\xff\xfe{}".to_vec(),
        b"{\"prompt\": \"\xff\xff\xff\xff\"}".to_vec(),
        deep,
        huge.to_string().into_bytes(),
    ];
    for moment in MOMENTS {
        for agent in AGENTS {
            for input in &hostile {
                let answer = scene.heirloom(&["hook", moment, "--agent", agent], input);
                assert_eq!(answer.exit, 0, "{moment} {agent}: {}", answer.stderr);
            }
        }
    }
    let unknown = scene.heirloom(&["hook", "tomorrow", "--agent", "somebody"], b"{}");
    assert_eq!(unknown.exit, 0);
}

#[test]
fn a_broken_payload_leaves_a_line_in_the_trace() {
    let scene = Scene::new();
    std::fs::create_dir_all(scene.project.join(".claude/memory")).unwrap();
    scene.heirloom(&["hook", "prompt"], b"{oops");
    let trace = scene.project.join(".claude/memory/.local/health/hooks.jsonl");
    let line: Value = serde_json::from_str(std::fs::read_to_string(trace).unwrap().trim()).unwrap();
    assert_eq!((&line["hook"], &line["ended"]), (&json!("prompt"), &json!("failed")));
}

#[test]
fn a_payload_cut_anywhere_is_silence() {
    let scene = Scene::new();
    for payload in payloads().into_iter().step_by(7) {
        let cut = &payload[..payload.len() / 2];
        for moment in ["prompt", "pre-write", "stop"] {
            let answer = scene.heirloom(&["hook", moment], cut);
            assert_eq!((answer.exit, answer.stdout.as_str()), (0, ""), "{moment}");
        }
    }
}

/// A payload with one thing wrong: cut, a byte that is no text, a field of another type, or nested far too deeply.
fn bent(payload: &[u8], at: usize, how: usize) -> Vec<u8> {
    let (head, tail) = payload.split_at(at);
    match how {
        0 => head.to_vec(),
        1 => [head, &[0xff], tail.get(1..).unwrap_or_default()].concat(),
        2 => [head, b"null", tail].concat(),
        _ => [head, &[b'['; 5_000], tail].concat(),
    }
}

#[test]
fn a_payload_bent_anywhere_never_gives_a_wrong_exit() {
    let scene = Scene::new();
    std::fs::create_dir_all(scene.project.join(".claude/memory")).unwrap();
    let mut draw = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (draw >> 33) as usize % below
    };
    for agent in AGENTS {
        for moment in MOMENTS {
            for payload in payloads().into_iter().skip(next(5)).step_by(9) {
                let input = bent(&payload, next(payload.len()), next(4));
                let answer = scene.heirloom(&["hook", moment, "--agent", agent], &input);
                let shown = String::from_utf8_lossy(&input);
                assert_eq!(answer.exit, 0, "{agent} {moment} {shown}");
                // Some agents take anything but JSON for a message to the user.
                let plain = agent == "claude-code" || answer.stdout.is_empty();
                assert!(
                    plain || serde_json::from_str::<Value>(&answer.stdout).is_ok(),
                    "{agent} {moment} {shown}"
                );
            }
        }
    }
}

#[test]
fn a_session_as_claude_code_runs_it() {
    let scene = Scene::new();
    assert_eq!(scene.heirloom(&["init"], b"").exit, 0);

    let start = scene.hook("session-start", &json!({"hook_event_name": "SessionStart", "source": "startup"}));
    assert_eq!((start.exit, start.stdout.as_str()), (0, ""));
    let ask =
        json!({"hook_event_name": "UserPromptSubmit", "prompt": "Which database did we choose, postgres?"});
    assert_eq!(scene.hook("prompt", &ask).stdout, "");

    let target = scene.project.join(".claude/memory/decisions/use-postgres.json");
    let write = json!({"hook_event_name": "PreToolUse", "tool_name": "Write",
        "tool_input": {"file_path": target, "content": "{}"}});
    let denied: Value = serde_json::from_str(&scene.hook("pre-write", &write).stdout).unwrap();
    assert_eq!(denied["hookSpecificOutput"]["permissionDecision"], "deny");
    assert_eq!(denied["hookSpecificOutput"]["hookEventName"], "PreToolUse");

    let transcript = scene.home.join("t.jsonl");
    let said = "We decided on PostgreSQL because of jsonb.\n\nWe chose pgvector because it is near.";
    let lines = [
        json!({"type": "user", "message": {"role": "user", "content": "Which database?"}}),
        json!({"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": said}]}}),
    ];
    std::fs::write(&transcript, lines.map(|line| line.to_string()).join("\n")).unwrap();
    let stop = json!({"hook_event_name": "Stop", "transcript_path": transcript, "stop_hook_active": false,
        "last_assistant_message": said});
    let held = scene.hook("stop", &stop);
    assert_eq!(held.exit, 2, "{}", held.stderr);
    let data = held.stderr.split("<triage_data>").nth(1).unwrap().split("</triage_data>").next().unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["categories"][0]["category"], "decision");
    let context = std::fs::read_to_string(data["categories"][0]["context_file"].as_str().unwrap()).unwrap();
    assert!(context.contains("We decided on PostgreSQL"));

    let draft = Path::new(data["draft_folder"].as_str().unwrap()).join(".memory-draft-decision-1.json");
    let record = json!({
        "schema_version": "1.0", "category": "decision", "id": "use-postgres", "title": "Use PostgreSQL for jsonb",
        "created_at": "2026-01-10T09:00:00Z", "updated_at": "2026-01-10T09:00:00Z", "tags": ["postgres", "database"],
        "content": {"status": "accepted", "context": "We need jsonb.", "decision": "PostgreSQL.", "rationale": ["jsonb"]},
    });
    std::fs::write(&draft, record.to_string()).unwrap();
    let saved =
        scene.heirloom(&creating(".claude/memory/decisions/use-postgres.json", draft.to_str().unwrap()), b"");
    assert_eq!(saved.exit, 0, "{}{}", saved.stdout, saved.stderr);

    let again = json!({"hook_event_name": "Stop", "transcript_path": transcript, "stop_hook_active": true});
    assert_eq!(scene.hook("stop", &again).exit, 0);
    let recalled = scene.hook("prompt", &ask);
    assert!(recalled.stdout.contains("- [DECISION] Use PostgreSQL for jsonb -> "), "{}", recalled.stdout);
}

#[test]
fn a_relative_write_is_seen_from_the_folder_the_tool_works_in() {
    let scene = Scene::new();
    std::fs::create_dir_all(scene.project.join(".claude/memory/decisions")).unwrap();
    let tools = [
        ("claude-code", "Bash", "cwd"),
        ("codex", "Bash", "workdir"),
        ("gemini", "run_shell_command", "dir_path"),
        ("opencode", "bash", "workdir"),
    ];
    let absolute = scene.project.join(".claude/memory/decisions").display().to_string();
    for (agent, tool, field) in tools {
        let blocked = |folder: Option<&str>, command: &str| {
            let mut input = json!({ "command": command });
            if let Some(folder) = folder {
                input[field] = json!(folder);
            }
            let event = json!({ "cwd": scene.project, "tool_name": tool, "tool_input": input });
            let args = ["hook", "pre-write", "--agent", agent];
            let answer = scene.heirloom(&args, event.to_string().as_bytes());
            (answer.stdout + &answer.stderr).contains("are blocked")
        };
        for folder in [".claude/memory/decisions", "./src/../.claude/memory", absolute.as_str()] {
            assert!(blocked(Some(folder), "echo '{}' > evil.json"), "{agent}: {folder}");
            assert!(!blocked(Some(folder), "cat evil.json"), "{agent}: {folder}");
        }
        assert!(blocked(Some(".claude"), "touch memory/evil.json"), "{agent}");
        assert!(!blocked(Some("src"), "echo '{}' > fine.json"), "{agent}");
        assert!(!blocked(None, "echo '{}' > fine.json"), "{agent}");
    }
}

#[test]
fn a_file_that_0_1_left_in_the_place_of_the_health_folder_stops_no_hook() {
    let env = crate::env::TestEnv::ready();
    let health = env.memory(".local/health");
    let _ = std::fs::remove_dir_all(&health);
    std::fs::write(&health, "{\"what\":\"external_memory\"}\n").unwrap();
    env.run(&["last"]).ok();
    env.run_with(&["hook", "prompt"], br#"{"prompt":"which database should we use","session_id":"s"}"#).ok();
    assert!(health.join("hooks.jsonl").is_file());
    let kept = std::fs::read_to_string(health.join("external.jsonl")).unwrap();
    assert!(kept.contains("external_memory"), "nothing is lost: {kept}");
}

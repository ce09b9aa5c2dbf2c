//! Payloads in, events out; hostile payloads in, silence out.

use super::*;
use crate::reply::{Answer, render};
use crate::table::AGENTS;
use proptest::prelude::*;
use serde_json::json;
use std::path::Path;

fn fixtures() -> Vec<(&'static Agent, String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/hooks");
    let mut found = Vec::new();
    for agent in AGENTS {
        for entry in std::fs::read_dir(folder.join(agent.name)).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("{}/{}", agent.name, path.file_name().unwrap().to_string_lossy());
            found.push((agent, name, serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap()));
        }
    }
    found
}

#[test]
fn every_payload_is_understood_as_it_says() {
    let fixtures = fixtures();
    assert!(fixtures.len() > 30);
    for (agent, name, fixture) in fixtures {
        let moment = Moment::named(fixture["moment"].as_str().unwrap()).unwrap();
        let heard = read(agent, moment, fixture["input"].to_string().as_bytes());
        match fixture["silence"].as_str() {
            Some(why) => match heard {
                Err(Silence::NotOurs(heard)) => assert_eq!(heard, why, "{name}"),
                other => panic!("{name}: {other:?}"),
            },
            None => assert_eq!(json!(heard.unwrap()), fixture["call"], "{name}"),
        }
    }
}

#[test]
fn a_session_that_gemini_takes_up_again_begins_without_what_hooks_had_given() {
    let resumed =
        json!({ "hook_event_name": "SessionStart", "session_id": "s", "cwd": "/p", "source": "resume" })
            .to_string();
    let afresh = |name: &str| {
        let agent = AGENTS.iter().find(|agent| agent.name == name).unwrap();
        match read(agent, Moment::SessionStart, resumed.as_bytes()).unwrap().event {
            Event::SessionStart { afresh } => afresh,
            other => panic!("{other:?}"),
        }
    };
    assert!(afresh("gemini"));
    assert!(!afresh("claude-code") && !afresh("codex"));
}

#[test]
fn every_agent_has_a_payload_for_each_of_its_hooks() {
    let fixtures = fixtures();
    for agent in AGENTS {
        for hook in agent.hooks {
            // The plugin passes no compaction on: OpenCode's hook for it is experimental.
            if agent.name == "opencode" && hook.moment == Moment::PreCompact {
                continue;
            }
            let has = fixtures.iter().any(|(of, _, fixture)| {
                of.name == agent.name && fixture["moment"].as_str() == Some(hook.moment.name())
            });
            assert!(has, "{} {}", agent.name, hook.moment.name());
        }
    }
}

#[test]
fn cursors_names_for_things_are_understood() {
    let cursor = &crate::table::CURSOR;
    let input = json!({ "conversation_id": "c", "hook_event_name": "beforeSubmitPrompt", "prompt": "hi", "workspace_roots": ["/p"] });
    let call = read(cursor, Moment::Prompt, input.to_string().as_bytes()).unwrap();
    assert_eq!((call.session.as_deref(), call.cwd), (Some("c"), Some(PathBuf::from("/p"))));
    let input = json!({ "hook_event_name": "preToolUse", "tool_name": "Shell", "tool_input": { "command": "touch a", "working_directory": "b" } });
    let call = read(cursor, Moment::PreWrite, input.to_string().as_bytes()).unwrap();
    assert_eq!(
        call.event,
        Event::PreWrite { targets: vec![Target::Command("touch a".into())], folder: Some("b".into()) }
    );
}

#[test]
fn after_a_tool_that_could_write_there_is_something_to_look_at() {
    let after = |input: Value| {
        read(AGENTS[0], Moment::PostWrite, input.to_string().as_bytes()).map(|call| call.event)
    };
    let nothing_named = Ok(Event::PostWrite { targets: Vec::new(), folder: None });
    assert_eq!(after(json!({ "tool_name": "mcp__files__put", "tool_input": { "x": 1 } })), nothing_named);
    assert_eq!(after(json!({ "tool_name": "NewTool" })), nothing_named);
    for name in ["Read", "Grep", "Glob", "WebFetch"] {
        assert!(after(json!({ "tool_name": name, "tool_input": { "path": "a" } })).is_err(), "{name}");
    }
    let changed = json!({ "tool_name": "Bash", "tool_input": { "command": "make" },
        "tool_response": { "bashEditDiff": { "changedFiles": ["a", { "filePath": "b" }, 7] } } });
    let targets = vec![Target::Command("make".into()), Target::Seen("a".into()), Target::Seen("b".into())];
    assert_eq!(after(changed), Ok(Event::PostWrite { targets, folder: None }));
}

#[test]
fn an_event_that_is_another_moments_is_silence() {
    let heard = read(AGENTS[0], Moment::Prompt, br#"{"hook_event_name": "Stop", "prompt": "x"}"#);
    assert_eq!(heard, Err(Silence::NotOurs("another event")));
}

#[test]
fn a_working_folder_of_the_wrong_type_is_silence_and_a_missing_one_is_not() {
    let read = |input: &str| read(AGENTS[0], Moment::Stop, input.as_bytes());
    assert!(matches!(read(r#"{"cwd": null}"#), Err(Silence::NotOurs(_))));
    assert!(matches!(read(r#"{"cwd": 5}"#), Err(Silence::NotOurs(_))));
    assert_eq!(read(r#"{"cwd": ""}"#).unwrap().cwd, None);
    assert_eq!(read("{}").unwrap().cwd, None);
}

#[test]
fn what_is_no_object_is_broken() {
    for input in ["[]", "null", "\"x\"", "{oops", "{\"a\":1}{", "\u{feff}x"] {
        assert!(
            matches!(read(AGENTS[0], Moment::Stop, input.as_bytes()), Err(Silence::Broken(_))),
            "{input}"
        );
    }
    for input in ["", " \n\t "] {
        assert_eq!(read(AGENTS[0], Moment::Stop, input.as_bytes()), Err(Silence::Empty));
    }
}

#[test]
fn deep_and_huge_payloads_are_refused_or_read_but_never_fatal() {
    let deep = format!("{{\"prompt\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(matches!(read(AGENTS[0], Moment::Prompt, deep.as_bytes()), Err(Silence::Broken(_))));
    let long = json!({"prompt": "word ".repeat(1_000_000)}).to_string();
    assert!(read(AGENTS[0], Moment::Prompt, long.as_bytes()).is_ok());
    let huge = vec![b'{'; INPUT_MAX + 1];
    assert!(matches!(read(AGENTS[0], Moment::Prompt, &huge), Err(Silence::Broken(_))));
}

proptest! {
    #[test]
    fn a_payload_cut_or_bent_anywhere_never_breaks_a_hook(
        pick in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<bool>(),
        moment in prop::sample::select(Moment::ALL.to_vec()),
    ) {
        let fixtures = fixtures();
        let (agent, _, fixture) = &fixtures[pick.index(fixtures.len())];
        let mut bytes = fixture["input"].to_string().into_bytes();
        let at = at.index(bytes.len());
        if cut { bytes.truncate(at) } else { bytes[at] = byte }
        let _ = read(agent, moment, &bytes);
    }

    #[test]
    fn any_bytes_are_silence_or_a_call(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for agent in AGENTS {
            for moment in Moment::ALL {
                let _ = read(agent, moment, &bytes);
            }
        }
    }

    #[test]
    fn any_answer_is_valid_json_or_plain_context(text in ".{1,200}") {
        for agent in AGENTS {
            for moment in Moment::ALL {
                for answer in [
                    Answer::Nothing, Answer::Context(text.clone()), Answer::Deny(text.clone()),
                    Answer::Undo(text.clone()), Answer::Hold(text.clone()), Answer::Suggest(text.clone()),
                ] {
                    let output = render(agent, moment, &answer);
                    prop_assert!(output.exit == 0 || (output.exit == 2 && output.stdout.is_empty()));
                    let plain = agent.name == "claude-code" && matches!(answer, Answer::Context(_));
                    if !output.stdout.is_empty() && !plain {
                        prop_assert!(serde_json::from_str::<serde_json::Value>(&output.stdout).unwrap().is_object());
                    }
                }
            }
        }
    }
}

#[test]
fn a_hundred_thousand_targets_are_told_apart_in_one_pass() {
    let patch: String = (0..100_000).map(|n| format!("*** Add File: f{n}\n")).collect();
    let input =
        serde_json::json!({ "tool_name": "apply_patch", "tool_input": { "command": patch, "input": patch } });
    let call = read(&crate::table::CODEX, Moment::PreWrite, input.to_string().as_bytes()).unwrap();
    let Event::PreWrite { targets, .. } = call.event else { panic!("another event") };
    assert_eq!(targets.len(), 100_000, "each is there once");
}

#[test]
fn the_folder_a_tool_works_in_is_heard_in_every_dialect() {
    let named = [
        ("claude-code", "Bash", "cwd"),
        ("codex", "Bash", "workdir"),
        ("gemini", "run_shell_command", "dir_path"),
        ("opencode", "bash", "workdir"),
        ("copilot", "Bash", "cwd"),
    ];
    assert_eq!(named.len(), AGENTS.len());
    for (agent, tool, field) in named {
        let agent = Agent::named(agent).unwrap();
        for moment in [Moment::PreWrite, Moment::PostWrite] {
            let folder_of = |value: Value| {
                let input = json!({ "cwd": "/p", "tool_name": tool, "tool_input": { "command": "touch a", field: value } });
                let call = read(agent, moment, input.to_string().as_bytes()).unwrap();
                match call.event {
                    Event::PreWrite { folder, .. } | Event::PostWrite { folder, .. } => folder,
                    other => panic!("{other:?}"),
                }
            };
            assert_eq!(folder_of(json!("deep/er")), Some(PathBuf::from("deep/er")), "{}", agent.name);
            // What names no folder is none, and never a reason to look at nothing.
            for none in [json!(""), json!(7), json!(null)] {
                assert_eq!(folder_of(none), None, "{}", agent.name);
            }
        }
    }
}

//! Answers in each agent's words, against the keys that agent's reference lists.

use super::*;
use crate::table::{AGENTS, CLAUDE_CODE, CODEX, GEMINI};
use serde_json::{Value, json};

fn said(agent: &Agent, moment: Moment, answer: Answer) -> Value {
    serde_json::from_str(&render(agent, moment, &answer).stdout).unwrap()
}

/// The keys each agent takes, top level and below `hookSpecificOutput`, by moment.
fn accepted(agent: &Agent, moment: Moment) -> (&'static [&'static str], &'static [&'static str]) {
    match (agent.dialect, moment) {
        (Dialect::Codex, Moment::SessionStart | Moment::Prompt) => {
            (&["hookSpecificOutput"], &["hookEventName", "additionalContext"])
        }
        (Dialect::Codex, Moment::PreWrite) => (
            &["hookSpecificOutput", "systemMessage"],
            &["hookEventName", "permissionDecision", "permissionDecisionReason"],
        ),
        (Dialect::Codex, _) => (&["decision", "reason", "systemMessage"], &[]),
        (Dialect::Gemini, _) => {
            (&["decision", "reason", "systemMessage", "hookSpecificOutput"], &["additionalContext"])
        }
        (Dialect::Copilot, Moment::SessionStart | Moment::Prompt) => (&["additionalContext"], &[]),
        (Dialect::Copilot, _) => (
            &["decision", "reason", "hookSpecificOutput"],
            &["hookEventName", "permissionDecision", "permissionDecisionReason"],
        ),
        (Dialect::OpenCode, _) => (&["context", "deny", "undo", "hold", "suggest"], &[]),
        (Dialect::Cursor, _) => {
            (&["additional_context", "permission", "user_message", "agent_message", "followup_message"], &[])
        }
        (Dialect::ClaudeCode, _) => (
            &["decision", "reason", "hookSpecificOutput"],
            &["hookEventName", "permissionDecision", "permissionDecisionReason", "additionalContext"],
        ),
    }
}

#[test]
fn no_answer_holds_a_key_its_agent_does_not_take() {
    for agent in AGENTS {
        for moment in Moment::ALL {
            for answer in [
                Answer::Context("x".into()),
                Answer::Deny("x".into()),
                Answer::Undo("x".into()),
                Answer::Hold("x".into()),
                Answer::Ask("x".into()),
                Answer::Suggest("x".into()),
            ] {
                let output = render(agent, moment, &answer);
                let Ok(Value::Object(object)) = serde_json::from_str(&output.stdout) else { continue };
                let (top, inner) = accepted(agent, moment);
                for (key, value) in &object {
                    assert!(top.contains(&key.as_str()), "{} {} {key}", agent.name, moment.name());
                    for key in value.as_object().into_iter().flat_map(|inner| inner.keys()) {
                        assert!(inner.contains(&key.as_str()), "{} {} {key}", agent.name, moment.name());
                    }
                }
            }
        }
    }
}

#[test]
fn claude_code_hears_the_event_name_and_a_held_stop_by_exit_code() {
    let denied = said(&CLAUDE_CODE, Moment::PreWrite, Answer::Deny("no".into()));
    assert_eq!(
        denied,
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
            "permissionDecisionReason": "no"}})
    );
    let undone = said(&CLAUDE_CODE, Moment::PostWrite, Answer::Undo("no".into()));
    assert_eq!((&undone["decision"], &undone["reason"]), (&json!("block"), &json!("no")));
    let held = render(&CLAUDE_CODE, Moment::Stop, &Answer::Hold("save".into()));
    assert_eq!(held, Output { stdout: String::new(), stderr: "save".into(), exit: 2 });
    let context = render(&CLAUDE_CODE, Moment::Prompt, &Answer::Context("<m>".into()));
    assert_eq!(context, Output { stdout: "<m>".into(), stderr: String::new(), exit: 0 });
    let soft = said(&CLAUDE_CODE, Moment::Stop, Answer::Suggest("save".into()));
    assert_eq!(soft, json!({"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "save"}}));
}

#[test]
fn codex_and_gemini_hear_a_held_stop_as_a_decision() {
    assert_eq!(
        said(&CODEX, Moment::Stop, Answer::Hold("save".into())),
        json!({"decision": "block", "reason": "save"})
    );
    assert_eq!(
        said(&GEMINI, Moment::Stop, Answer::Hold("save".into())),
        json!({"decision": "deny", "reason": "save"})
    );
}

#[test]
fn a_quiet_request_makes_every_agent_go_on_and_shows_no_error() {
    let asked = said(&CLAUDE_CODE, Moment::Stop, Answer::Ask("save".into()));
    assert_eq!(asked, json!({"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "save"}}));
    for agent in AGENTS {
        assert_eq!(render(agent, Moment::Stop, &Answer::Ask("save".into())).exit, 0, "{}", agent.name);
    }
}

#[test]
fn cursor_is_answered_in_the_words_of_its_package() {
    let cursor = &crate::table::CURSOR;
    assert_eq!(said(cursor, Moment::Prompt, Answer::Context("x".into())), json!({"additional_context": "x"}));
    assert_eq!(said(cursor, Moment::Stop, Answer::Ask("save".into())), json!({"followup_message": "save"}));
    let denied = said(cursor, Moment::PreWrite, Answer::Deny("no".into()));
    assert_eq!(denied["permission"], "deny");
    assert_eq!(render(cursor, Moment::Stop, &Answer::Suggest("x".into())), Output::default());
}

#[test]
fn an_answer_out_of_place_is_nothing() {
    for agent in AGENTS {
        assert_eq!(render(agent, Moment::Prompt, &Answer::Deny("x".into())), Output::default());
        assert_eq!(render(agent, Moment::SessionEnd, &Answer::Hold("x".into())), Output::default());
    }
}

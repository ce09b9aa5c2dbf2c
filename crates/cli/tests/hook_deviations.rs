//! Where the recorded hooks are wrong or unsafe, and what is done instead: one test for each such case.
//!
//! Comes in: the cases of hooks marked `differ`. Goes out: nothing, if each does what its `why` asks for. That none is left out is
//! checked in `deviations`.

use crate::case::Outcome;
use crate::deviations::run;
use crate::hook_case::Held;

const SHOWN: &str = "- [DECISION] Redis";

/// Checks that the stop is held up for the one decision in the transcript.
#[track_caller]
fn held(outcome: &Outcome) {
    assert_eq!(outcome.exit(), Some(2), "{}", outcome.stderr());
    let said = Held::read(&outcome.stderr());
    let kinds: Vec<&str> = said.categories().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["decision"]);
    assert!(outcome.after.contains_key(".claude/.stop_hook_active"));
}

/// Checks that the write is refused before it happens.
#[track_caller]
fn denied(outcome: &Outcome) {
    assert_eq!(outcome.exit(), Some(0), "{}", outcome.stderr());
    assert_eq!(outcome.json()["hookSpecificOutput"]["permissionDecision"], "deny");
    outcome.left_alone();
}

/// The lines inside the block that a prompt gets.
#[track_caller]
fn shown(outcome: &Outcome) -> Vec<String> {
    assert_eq!(outcome.exit(), Some(0), "{}", outcome.stderr());
    let text = outcome.stdout();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    assert_eq!(lines.pop().as_deref(), Some("</memory-context>"), "{text}");
    assert!(lines.remove(0).starts_with("<memory-context "), "{text}");
    lines
}

#[test]
fn a_staging_name_inside_a_memory_folder_is_refused() {
    denied(&run("guard-pending-name-in-memory-below-tmp"));
}

#[test]
fn a_write_through_a_link_in_the_memory_folder_is_refused() {
    denied(&run("guard-symlink-out-of-memory"));
}

#[test]
fn two_index_lines_for_one_file_are_shown_once() {
    let lines = shown(&run("retrieve-duplicate-lines-both-shown"));
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with(SHOWN), "{lines:?}");
}

#[test]
fn a_path_cannot_bring_a_tag_into_the_block() {
    let outcome = run("retrieve-path-not-escaped");
    assert_eq!(outcome.exit(), Some(0), "{}", outcome.stderr());
    assert!(!outcome.stdout().contains("<evil>"), "{}", outcome.stdout());
}

#[test]
fn a_prompt_called_prompt_is_read() {
    let lines = shown(&run("retrieve-prompt-field-named-prompt-ignored"));
    assert_eq!(lines.len(), 2, "{lines:?}");
}

#[test]
fn a_long_title_is_never_cut_inside_an_entity() {
    let lines = shown(&run("retrieve-sanitise-cut-after-escaping"));
    let title = lines[0].strip_prefix("- [DECISION] ").unwrap().split(" -> ").next().unwrap();
    assert!(title.starts_with("Redis aaa"), "{title}");
    let rest = title.replace("&lt;", "");
    assert!(!rest.contains(['&', '<']), "{title}");
}

#[test]
fn a_tag_cannot_close_the_block() {
    let lines = shown(&run("retrieve-sanitise-tags-not-escaped"));
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with(SHOWN) && !lines[0].contains('<'), "{lines:?}");
}

#[test]
fn a_kind_that_is_switched_off_holds_up_no_stop() {
    let outcome = run("triage-category-enabled-flag-not-read");
    assert_eq!(outcome.exit(), Some(0), "{}", outcome.stderr());
    assert!(Held::read(&outcome.stderr()).data.is_none());
    outcome.left_alone();
}

#[test]
fn settings_that_are_no_object_mean_defaults() {
    held(&run("triage-config-array-fails-open"));
}

#[test]
fn a_quoted_false_is_warned_about() {
    let outcome = run("triage-enabled-string-false-is-truthy");
    held(&outcome);
    assert!(outcome.stderr().contains("triage.enabled"), "{}", outcome.stderr());
}

#[test]
fn a_flag_from_the_future_lets_no_stop_through() {
    held(&run("triage-flag-future-mtime-allows"));
}

#[test]
fn an_infinite_number_of_messages_costs_only_itself() {
    let outcome = run("triage-max-messages-infinity-fails-open");
    held(&outcome);
    assert!(outcome.stderr().contains("max_messages"), "{}", outcome.stderr());
}

#[test]
fn text_below_message_content_is_read() {
    held(&run("triage-nested-message-content-ignored"));
}

#[test]
fn a_quotation_cannot_leave_the_block_of_a_context_file() {
    let outcome = run("triage-snippet-fake-context-close");
    held(&outcome);
    let text = String::from_utf8_lossy(&outcome.contexts["decision"].bytes).into_owned();
    assert_eq!(text.matches("</transcript_data>").count(), 1, "{text}");
    // What was said is still there, only its bracket is spelled out.
    assert!(text.contains("We decided ") && text.contains(" ignore the above"), "{text}");
}

#[test]
fn a_text_that_is_no_text_costs_only_its_block() {
    held(&run("triage-text-block-with-non-string-text-fails-open"));
}

#[test]
fn lines_of_type_user_are_read() {
    held(&run("triage-user-type-ignored"));
}

#[test]
fn a_record_whose_name_ends_in_capitals_is_judged_as_a_record() {
    let outcome = run("validate-uppercase-json-denied");
    assert_eq!(outcome.exit(), Some(0), "{}", outcome.stderr());
    let answer = &outcome.json()["hookSpecificOutput"];
    assert_eq!(answer["permissionDecision"], "deny");
    let reason = answer["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.contains("validation") && !reason.contains("non-JSON"), "{reason}");
    let aside = ".claude/memory/decisions/A.JSON.invalid.{EPOCH}";
    assert!(outcome.after.contains_key(aside), "{:?}", outcome.after.keys());
}

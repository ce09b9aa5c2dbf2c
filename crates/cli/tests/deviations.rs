//! Where the recorded tools are wrong or unsafe, and what is done instead: one test for each such case.
//!
//! Comes in: the cases of the record tools marked `differ`. Goes out: nothing, if each does what its `why` asks for. Those of the hooks
//! are in `hook_deviations`.

use crate::case::{Case, Outcome};
use serde_json::json;

const RECORD: &str = ".claude/memory/decisions/use-jwt.json";

/// Runs a case that is not to be copied.
pub(crate) fn run(name: &str) -> Outcome {
    let case = Case::named(name);
    assert!(case.differs(), "{name} is to be copied");
    case.run()
}

#[track_caller]
fn answered(outcome: &Outcome, status: &str) {
    assert_eq!(outcome.exit(), Some(0), "{}", outcome.stdout());
    assert_eq!(outcome.json()["status"], status);
}

#[test]
fn every_case_that_is_not_to_be_copied_has_its_test() {
    let tests = [include_str!("deviations.rs"), include_str!("hook_deviations.rs")];
    for entry in std::fs::read_dir(Case::folder()).unwrap() {
        let case = Case::read(&entry.unwrap().path());
        let told = tests.iter().any(|test| test.contains(&format!("run(\"{}\")", case.name)));
        assert_eq!(case.differs(), told, "{}", case.name);
    }
}

#[test]
fn the_first_save_in_a_fresh_project_is_told_to_create() {
    let outcome = run("candidate-index-missing-empty-store");
    assert_eq!(outcome.exit(), Some(0), "{}", outcome.stderr());
    assert_eq!(outcome.json()["pre_action"], "CREATE");
    assert_eq!(outcome.json()["candidate"], json!(null));
}

#[test]
fn a_bad_path_in_the_best_line_does_not_hide_a_good_second_one() {
    let outcome = run("candidate-invalid-best-does-not-fall-to-second");
    assert_eq!(outcome.json()["candidate"]["path"], ".claude/memory/tech-debt/ok.json");
    assert!(outcome.stderr().contains("a.txt"), "the bad line is named: {}", outcome.stderr());
}

#[test]
fn a_retired_record_left_in_the_index_is_no_candidate() {
    let outcome = run("candidate-retired-record-still-offered");
    assert_eq!(outcome.json()["candidate"], json!(null));
    assert_eq!(outcome.json()["pre_action"], "CREATE");
}

#[test]
fn when_the_last_active_record_goes_a_rebuild_empties_the_index() {
    let outcome = run("index-rebuild-nothing-active-leaves-old-index");
    assert_eq!(outcome.exit(), Some(0));
    assert_eq!(outcome.index(), [""; 0]);
    assert!(outcome.after.contains_key(".claude/memory/index.md"));
}

#[test]
fn a_title_with_an_arrow_matches_its_file() {
    assert_eq!(run("index-validate-arrow-in-title").exit(), Some(0));
}

#[test]
fn a_missing_index_is_made_from_the_files_not_created_empty() {
    let outcome = run("write-archive-index-missing");
    answered(&outcome, "archived");
    // The only record is archived now, so nothing is left to list and no file is needed for that.
    assert!(!outcome.after.contains_key(".claude/memory/index.md"));
}

#[test]
fn the_index_carries_project_relative_paths_whatever_the_target_looks_like() {
    let outcome = run("write-create-absolute-target");
    answered(&outcome, "created");
    assert_eq!(outcome.index().len(), 1);
    assert!(outcome.index()[0].contains(&format!(" -> {RECORD} ")), "{:?}", outcome.index());
}

#[test]
fn a_long_reason_is_cut_so_that_the_change_entry_stays_valid() {
    let outcome = run("write-delete-long-reason");
    answered(&outcome, "retired");
    let record = outcome.document(RECORD);
    let summary =
        record["changes"].as_array().unwrap().last().unwrap()["summary"].as_str().unwrap().to_owned();
    assert!(summary.starts_with("Retired: rrr") && summary.chars().count() <= 300);
    assert!(record["retired_reason"].as_str().unwrap().chars().count() <= 300);
}

#[test]
fn create_never_replaces_a_live_record_and_leaves_its_one_index_line() {
    run("write-existing-active-duplicate-index-line").refused("CREATE_ERROR");
    run("write-existing-active-overwritten").refused("CREATE_ERROR");
}

#[test]
fn create_never_replaces_an_archived_record() {
    run("write-existing-archived-overwritten").refused("CREATE_ERROR");
}

#[test]
fn create_never_replaces_a_file_it_cannot_read() {
    run("write-existing-corrupt-overwritten").refused("CREATE_ERROR");
}

#[test]
fn invisible_characters_are_taken_out_of_a_title_when_it_is_written() {
    let outcome = run("write-fix-title-zero-width-kept");
    answered(&outcome, "created");
    let record = outcome.document(RECORD);
    let title = record["title"].as_str().unwrap();
    assert!(!title.is_empty() && !title.chars().any(heirloom_core::text::is_invisible), "{title:?}");
    assert!(outcome.stderr().contains("[AUTO-FIX] title"));
}

#[test]
fn two_dots_inside_a_name_are_no_traversal() {
    answered(&run("write-input-double-dot-in-name"), "created");
}

#[test]
fn a_word_is_no_boolean_and_a_text_no_number() {
    let lax = run("write-lax-active-yes");
    lax.refused("VALIDATION_ERROR");
    assert!(lax.stdout().contains("field: content.active"));
    let text = run("write-lax-times-updated-string");
    text.refused("VALIDATION_ERROR");
    assert!(text.stdout().contains("field: times_updated"));
}

#[test]
fn an_empty_hash_is_a_mistake_not_consent_to_overwrite() {
    run("write-occ-empty-hash-is-none").refused("OCC_CONFLICT");
}

#[test]
fn a_target_outside_the_memory_folder_is_refused_before_anything_else() {
    run("write-path-bad-input-reported-before-path").refused("PATH_ERROR");
}

#[test]
fn a_retirement_date_in_the_future_does_not_block_a_name() {
    answered(&run("write-retired-future-blocked"), "created");
}

#[test]
fn a_capital_in_a_stored_tag_is_no_removal() {
    let outcome = run("write-tags-old-uppercase-seen-as-removed");
    answered(&outcome, "updated");
    assert_eq!(outcome.document(RECORD)["tags"], json!(["api", "auth"]));
}

#[test]
fn the_cut_to_twelve_tags_keeps_the_old_ones_first() {
    let outcome = run("write-tags-over-cap-from-below");
    answered(&outcome, "updated");
    let record = outcome.document(RECORD);
    let tags: Vec<&str> = record["tags"].as_array().unwrap().iter().filter_map(|tag| tag.as_str()).collect();
    assert_eq!(tags.len(), 12);
    assert!((0..=10).all(|n| tags.contains(&format!("t{n:02}").as_str())), "{tags:?}");
}

#[test]
fn a_new_record_has_been_updated_no_times_whatever_its_input_says() {
    let outcome = run("write-times-updated-from-input-kept");
    answered(&outcome, "created");
    assert_eq!(outcome.document(RECORD)["times_updated"], 0);
}

#[test]
fn a_record_without_a_title_is_refused() {
    let outcome = run("write-title-empty-accepted");
    outcome.refused("VALIDATION_ERROR");
    assert!(outcome.stdout().contains("field: title"));
}

#[test]
fn updating_an_archived_record_does_not_bring_it_into_the_index() {
    let outcome = run("write-update-archived-record-reappears-in-index");
    answered(&outcome, "updated");
    assert!(outcome.index().iter().all(|line| !line.contains(RECORD)), "{:?}", outcome.index());
    assert_eq!(outcome.document(RECORD)["record_status"], "archived");
}

#[test]
fn the_index_stays_sorted_after_an_update() {
    let outcome = run("write-update-index-not-resorted");
    answered(&outcome, "updated");
    let mut sorted = outcome.index();
    sorted.sort_by_key(|line| line.to_lowercase());
    assert_eq!(outcome.index(), sorted);
    assert!(sorted.len() > 1);
}

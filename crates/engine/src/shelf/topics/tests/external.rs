//! External folders: where lessons live, and what happens if they cannot.

use super::*;
use crate::shelf::{Listing, Shelf};

fn external(path: &str) -> Value {
    json!({ "memory_configuration": { "external_memory_enabled": true, "memory_path": path } })
}

#[test]
fn lessons_live_in_the_external_folder_when_it_is_on() {
    let desk = Desk::new();
    let call = desk.engine_with(external("~/lessons"));
    let topics = Topics::new(&call);
    let done = topics.store("git", "rebase", lesson("2026-01-15", "Lost"), person()).unwrap();
    assert_eq!(done.notes, Vec::<String>::new());
    assert!(desk.path().join("home/lessons/git/rebase.md").is_file());
    assert!(desk.path().join("home/lessons/index.md").is_file());
    assert!(!desk.topics_folder().exists());
    assert_eq!(topics.list(&Listing::active()).unwrap().len(), 1);
    assert_eq!(topics.fallback(), None);
}

#[test]
fn a_place_that_cannot_be_used_falls_back_to_the_project_and_is_logged_once() {
    let desk = Desk::new();
    for (path, says) in [("/etc/lessons", "system directory"), ("../x", "traversal"), ("/", "root directory")]
    {
        let call = desk.engine_with(external(path));
        let topics = Topics::new(&call);
        let done = topics.store("git", "rebase", lesson("2026-01-15", path), person()).unwrap();
        assert!(done.notes[0].contains(says), "{:?}", done.notes);
        assert!(done.path.unwrap().ends_with(".claude/memory/topics/git/rebase.md"));
        assert!(topics.get(&done.id).unwrap().is_some());
        assert!(topics.fallback().unwrap().message.contains(says));
        assert!(topics.verify().unwrap().iter().any(|p| p.message.contains(says)));
    }
    let health = read(&desk.path().join("project/.claude/memory/.local/health/external.jsonl"));
    assert_eq!(health.lines().count(), 3, "{health}");
    assert!(health.contains("Security violation: Cannot use root directory for memory storage"));
}

#[test]
fn two_projects_share_an_external_folder() {
    let desk = Desk::new();
    let other = Desk::new();
    let shared = desk.path().join("shared").display().to_string();
    let (here, there) = (desk.engine_with(external(&shared)), other.engine_with(external(&shared)));
    Topics::new(&here).store("a", "b", lesson("2026-01-01", "Mine"), person()).unwrap();
    Topics::new(&there).store("a", "b", lesson("2026-01-01", "Theirs"), person()).unwrap();
    let seen = Topics::new(&here).list(&Listing::active()).unwrap();
    assert_eq!(seen.len(), 2);
    let trust = |title: &str| seen.iter().find(|m| m.title == title).unwrap().trust;
    assert_eq!(trust("Mine"), heirloom_core::Trust::High);
    assert_eq!(trust("Theirs"), heirloom_core::Trust::Medium, "what others wrote is text found there");
}

#[test]
fn sync_moves_what_was_stored_at_home_meanwhile_after_showing_it() {
    let desk = Desk::new();
    let own = desk.call();
    Topics::new(&own).store("a", "b", lesson("2026-01-01", "Before"), person()).unwrap();
    let call = desk.engine_with(external("~/lessons"));
    let topics = Topics::new(&call);
    topics.store("a", "b", lesson("2026-01-02", "After"), person()).unwrap();
    let plan = topics.sync_plan().unwrap();
    assert_eq!(plan.bring, [".claude/memory/topics/a/b.md", ".claude/memory/topics/index.md"]);
    assert!(desk.topics_folder().join("a/b.md").exists(), "showing moves nothing");
    topics.store("a", "b", lesson("2026-01-03", "Later"), person()).unwrap();
    topics.sync(&plan).unwrap();
    let titles: Vec<String> = topics.list(&Listing::active()).unwrap().into_iter().map(|m| m.title).collect();
    assert_eq!(titles, ["Later", "After", "Before"]);
    assert!(!desk.topics_folder().join("a/b.md").exists());
    assert!(topics.sync_plan().unwrap().is_empty());
    assert_eq!(topics.problems().unwrap(), []);
}

#[test]
fn a_linked_topic_folder_leads_nowhere() {
    let desk = Desk::new();
    let call = desk.call();
    let outside = desk.path().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("x.md"), "## 2026-01-01: Foreign\n**Problem:** p\n---\n").unwrap();
    std::fs::create_dir_all(desk.topics_folder()).unwrap();
    std::os::unix::fs::symlink(&outside, desk.topics_folder().join("git")).unwrap();
    let topics = Topics::new(&call);
    assert_eq!(topics.list(&Listing::everything()).unwrap(), []);
    let fault = topics.store("git", "x", lesson("2026-01-02", "New"), person()).unwrap_err();
    assert_eq!(fault.code, heirloom_core::Code::Path);
    assert!(!read(&outside.join("x.md")).contains("New"));
}

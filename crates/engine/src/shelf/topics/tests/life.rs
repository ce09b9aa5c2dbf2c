//! The life of a lesson, the index, statistics, verify and repair.

use super::*;
use crate::shelf::{Listing, Shelf};
use heirloom_core::{Code, Trust};

fn three(desk: &Desk) -> Call {
    let call = desk.call();
    let topics = Topics::new(&call);
    for (date, title) in [("2026-01-13", "First"), ("2026-01-14", "Second"), ("2026-01-15", "Third")] {
        topics.store("git", "rebase", lesson(date, title), person()).unwrap();
    }
    call
}

#[test]
fn newest_comes_first_and_the_index_lists_the_file_once() {
    let desk = Desk::new();
    let call = three(&desk);
    let topics = Topics::new(&call);
    let titles: Vec<String> = topics.list(&Listing::active()).unwrap().into_iter().map(|m| m.title).collect();
    assert_eq!(titles, ["Third", "Second", "First"]);
    let index = desk.topics_folder().join("index.md");
    assert_eq!(read(&index), "# Memory Index\n\n## Topics\n\n### git\n- `rebase.md` - First\n");
    topics.store("git", "bisect", lesson("2026-01-15", "Halves"), person()).unwrap();
    topics.store("build", "cargo", lesson("2026-01-15", "Slow"), person()).unwrap();
    topics.store("zsh", "prompt", lesson("2026-01-15", "Odd"), person()).unwrap();
    assert_eq!(
        read(&index),
        "# Memory Index\n\n## Topics\n\n### build\n- `cargo.md` - Slow\n\n### git\n- `bisect.md` - Halves\n\
         - `rebase.md` - First\n\n### zsh\n- `prompt.md` - Odd\n"
    );
    let described = read(&index).replace("Slow", "all about our builds") + "\n## Notes\nmine\n";
    std::fs::write(&index, &described).unwrap();
    topics.store("build", "cargo", lesson("2026-01-16", "Slower"), person()).unwrap();
    assert_eq!(read(&index), described, "what people wrote there stays");
    assert_eq!(topics.verify().unwrap(), []);
}

#[test]
fn a_retired_lesson_waits_in_the_archive_and_comes_back_as_it_was() {
    let desk = Desk::new();
    let call = three(&desk);
    let topics = Topics::new(&call);
    let path = desk.topics_folder().join("git/rebase.md");
    let before = read(&path);
    let second = id("lesson:git/rebase#2026-01-14-second");
    let done = topics.retire(&second, "no longer\ntrue", person()).unwrap();
    assert_eq!(
        (done.status, done.path.as_deref()),
        ("retired", Some(".claude/memory/topics/archive/git/2026.md"))
    );
    assert!(!read(&path).contains("Second"));
    assert!(
        read(&desk.topics_folder().join("archive/git/2026.md"))
            .contains("**Retired:** 2026-01-20 no longer true\n")
    );
    let memory = topics.get(&second).unwrap().unwrap();
    assert_eq!((memory.status, memory.trust), (Status::Retired, Trust::High));
    assert_eq!(topics.retire(&second, "again", person()).unwrap().status, "already_retired");
    assert!(topics.search("second", 9).unwrap().is_empty(), "retired lessons are not recalled");
    let told = topics.history(&second).unwrap();
    assert!(told.iter().any(|c| c.summary.contains("no longer true")));
    assert!(told.iter().any(|c| c.summary.contains("memory_retire")));
    topics.restore(&second, person()).unwrap();
    assert_eq!(read(&path), before);
    assert!(!desk.topics_folder().join("archive").join("git/2026.md").exists());
    assert_eq!(topics.restore(&second, person()).unwrap_err().code, Code::Restore);
    assert_eq!(topics.get(&second).unwrap().unwrap().trust, Trust::High);
}

#[test]
fn archiving_and_unarchiving_mirror_retiring() {
    let desk = Desk::new();
    let call = three(&desk);
    let topics = Topics::new(&call);
    let first = id("lesson:git/rebase#2026-01-13-first");
    let before = read(&desk.topics_folder().join("git/rebase.md"));
    topics.archive(&first, "", person()).unwrap();
    assert_eq!(topics.get(&first).unwrap().unwrap().status, Status::Archived);
    assert_eq!(topics.archive(&first, "", person()).unwrap_err().code, Code::Archive);
    topics.retire(&first, "wrong", person()).unwrap();
    assert_eq!(topics.get(&first).unwrap().unwrap().status, Status::Retired);
    assert_eq!(topics.unarchive(&first, person()).unwrap_err().code, Code::Unarchive);
    topics.restore(&first, person()).unwrap();
    assert_eq!(read(&desk.topics_folder().join("git/rebase.md")), before);
}

#[test]
fn forgetting_leaves_no_text_anywhere() {
    let desk = Desk::new();
    let call = desk.call();
    let topics = Topics::new(&call);
    let unique = "Zanzibar";
    let done = topics.store("git", "rebase", lesson("2026-01-10", unique), person()).unwrap();
    topics.store("git", "rebase", lesson("2026-01-11", "Other"), person()).unwrap();
    topics.load("git", None).unwrap();
    // An interrupted move left a copy in the archive.
    let live = read(&desk.topics_folder().join("git/rebase.md"));
    topics.archive(&done.id, "", person()).unwrap();
    std::fs::write(desk.topics_folder().join("git/rebase.md"), live).unwrap();
    let gone = topics.forget(&done.id, person()).unwrap();
    assert!(gone.places.iter().any(|place| place == "access statistics"), "{:?}", gone.places);
    assert_eq!(topics.get(&done.id).unwrap(), None);
    assert_eq!(topics.forget(&done.id, person()).unwrap_err().code, Code::NotFound);
    let mut stack = vec![desk.path()];
    while let Some(folder) = stack.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            if entry.file_type().unwrap().is_dir() {
                stack.push(entry.path());
            } else {
                let bytes = std::fs::read(entry.path()).unwrap();
                assert!(!String::from_utf8_lossy(&bytes).contains(unique), "{}", entry.path().display());
            }
        }
    }
}

#[test]
fn an_edit_keeps_the_id_and_refuses_what_changed_meanwhile() {
    let desk = Desk::new();
    let call = three(&desk);
    let topics = Topics::new(&call);
    let second = id("lesson:git/rebase#2026-01-14-second");
    let version = topics.get(&second).unwrap().unwrap().version;
    topics.edit(&second, lesson("2026-01-14", "Second, better"), Some(&version), person()).unwrap();
    let memory = topics.get(&second).unwrap().unwrap();
    assert_eq!(memory.title, "Second, better");
    assert!(
        read(&desk.topics_folder().join("git/rebase.md"))
            .contains("## 2026-01-14: Second, better {#second}\n")
    );
    let stale = topics.edit(&second, lesson("2026-01-14", "Third"), Some(&version), person());
    assert_eq!(stale.unwrap_err().code, Code::OccConflict);
    let moved = topics.edit(&second, lesson("2026-01-15", "Third"), None, person());
    assert_eq!(moved.unwrap_err().code, Code::Validation);
}

#[test]
fn loading_counts_without_touching_a_committed_file() {
    let desk = Desk::new();
    let call = three(&desk);
    let topics = Topics::new(&call);
    let before = read(&desk.topics_folder().join("git/rebase.md"));
    for _ in 0..3 {
        assert_eq!(topics.load("git", Some("rebase")).unwrap().len(), 3);
    }
    let uses = topics.uses().unwrap();
    assert_eq!(uses["lesson:git/rebase#2026-01-13-first"].count, 3);
    assert_eq!(uses["lesson:git/rebase#2026-01-13-first"].last, "2026-01-20T12:00:00Z");
    assert_eq!(read(&desk.topics_folder().join("git/rebase.md")), before);
}

#[test]
fn counts_survive_being_added_up() {
    let desk = Desk::new();
    let call = desk.call();
    let local = call.project().local().unwrap().folder().to_owned();
    let access = crate::shelf::topics::access::Access::new(&local);
    let now = call.project().world().now;
    let ids = vec!["lesson:git/rebase#2026-01-13-first"; 2000];
    for _ in 0..3 {
        access.note(&ids, now).unwrap();
    }
    assert_eq!(access.read().unwrap()[ids[0]].count, 6000);
    assert!(std::fs::metadata(local.join("lesson-access.jsonl")).unwrap().len() < 256 << 10);
    assert!(access.forget(ids[0]).unwrap());
    assert_eq!(access.read().unwrap().len(), 0);
}

#[test]
fn verify_names_conflicts_bad_entries_twins_and_a_stale_index_and_repair_mends_them() {
    let desk = Desk::new();
    let call = three(&desk);
    let topics = Topics::new(&call);
    let folder = desk.topics_folder();
    std::fs::write(
        folder.join("git/hand.md"),
        "# x\n<<<<<<< HEAD\n## 2026-01-02: Mine\n**Problem:** a\n---\n\n=======\n## 2026-01-03: Theirs\n**Problem:** b\n---\n\
         >>>>>>> branch\n\n## 2026-01-01: Twin\n**Problem:** c\n---\n\n## 2026-01-01: Twin\n**Problem:** d\n---\n",
    )
    .unwrap();
    std::fs::write(folder.join("git/bad.md"), "## 2026-13-40: No such day\n\n## 2026-01-01: Hollow\n---\n")
        .unwrap();
    std::fs::write(folder.join("git/bytes.md"), b"\xff\xfe").unwrap();
    let says = |part: &str| {
        let problems = topics.verify().unwrap();
        problems.iter().any(|p| p.message.contains(part) && !p.fix.is_empty())
    };
    for part in [
        "conflict markers",
        "its date does not exist",
        "neither what went wrong",
        "name of another entry",
        "does not list",
        "not UTF-8",
    ] {
        assert!(says(part), "{part}: {:?}", topics.verify().unwrap());
    }
    std::fs::remove_file(folder.join("git/bytes.md")).unwrap();
    let done = topics.repair().unwrap();
    assert!(done.len() >= 3, "{done:?}");
    let text = read(&folder.join("git/hand.md"));
    assert!(text.contains("Mine") && text.contains("Theirs") && !text.contains("<<<"), "{text}");
    assert!(text.contains("Twin {#twin-2}"));
    for part in ["conflict marks", "name of another entry", "does not list"] {
        assert!(!says(part), "{part}");
    }
    assert_eq!(topics.repair().unwrap(), Vec::<String>::new());
}

#[test]
fn a_lesson_about_conflict_marks_is_no_conflict() {
    let desk = Desk::new();
    let call = desk.call();
    let topics = Topics::new(&call);
    let mut about = lesson("2026-01-15", "Conflicts");
    about.code = "```\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n```".into();
    let done = topics.store("git", "merge", about.clone(), person()).unwrap();
    assert_eq!(topics.verify().unwrap(), []);
    assert_eq!(topics.repair().unwrap(), Vec::<String>::new());
    assert!(topics.get(&done.id).unwrap().unwrap().body.contains(&about.code));
}

#[test]
fn a_forgotten_lesson_that_comes_back_is_not_recalled_and_one_stored_anew_is() {
    let desk = Desk::new();
    let call = three(&desk);
    let topics = Topics::new(&call);
    let second = id("lesson:git/rebase#2026-01-14-second");
    let path = desk.topics_folder().join("git/rebase.md");
    let before = read(&path);
    topics.forget(&second, person()).unwrap();
    std::fs::write(&path, before).unwrap();
    let call = desk.call();
    let topics = Topics::new(&call);
    let listed = topics.list(&Listing::everything()).unwrap();
    assert!(listed.len() == 2 && listed.iter().all(|memory| memory.id != second));
    assert!(topics.search("second", 10).unwrap().iter().all(|hit| hit.memory.id != second));
    assert!(topics.verify().unwrap().iter().any(|problem| problem.message.contains("was forgotten")));
    topics.forget(&second, person()).unwrap();
    topics.store("git", "rebase", lesson("2026-01-14", "Second"), person()).unwrap();
    assert_eq!(topics.list(&Listing::everything()).unwrap().len(), 3);
}

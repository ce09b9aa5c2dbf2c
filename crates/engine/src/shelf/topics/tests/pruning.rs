//! Pruning and the archive.

use super::*;
use crate::shelf::topics::page::Page;
use crate::shelf::{Listing, Shelf};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn day(n: usize) -> String {
    format!("2025-{:02}-{:02}", 1 + n / 28, 1 + n % 28)
}

#[test]
fn ten_entries_stay_and_the_eleventh_sends_the_oldest_to_its_year() {
    let desk = Desk::new();
    let call = desk.call();
    let topics = Topics::new(&call);
    for n in 0..10 {
        topics.store("git", "rebase", lesson(&day(n), &format!("Nr {n}")), person()).unwrap();
    }
    let archive = desk.topics_folder().join("archive/git/2025.md");
    assert!(!archive.exists());
    let done = topics.store("git", "rebase", lesson("2026-01-02", "Nr 10"), person()).unwrap();
    assert_eq!(done.notes, ["1 older entry moved to the archive"]);
    let live = Page::read(read(&desk.topics_folder().join("git/rebase.md")));
    assert_eq!(live.spots().len(), 10);
    assert_eq!(live.spots()[0].heading.title, "Nr 10");
    assert!(read(&archive).contains("## 2025-01-01: Nr 0\n**Subtopic:** rebase\n"));
    let old = topics.get(&id("lesson:git/rebase#2025-01-01-nr-0")).unwrap().unwrap();
    assert_eq!(old.status, Status::Archived);
    assert_eq!(old.trust, heirloom_core::Trust::High, "trust follows an entry into the archive");
}

/// Stores an entry into a file that is then exactly `size` bytes long.
fn file_of(size: usize) -> (Desk, usize) {
    let desk = Desk::new();
    let call = desk.call();
    let topics = Topics::new(&call);
    for n in 0..2 {
        topics.store("a", "b", lesson(&day(n), &format!("Nr {n}")), person()).unwrap();
    }
    let path = desk.topics_folder().join("a/b.md");
    let mut third = lesson("2025-03-01", "Third");
    third.solution = "x".into();
    let now = read(&path).len();
    let entry = third.write("third").len() + 1;
    third.solution = "x".repeat(size - now - entry + 1);
    topics.store("a", "b", third, person()).unwrap();
    let left = Page::read(read(&path)).spots().len();
    (desk, left)
}

#[test]
fn a_file_of_5120_bytes_fits_and_one_byte_more_does_not() {
    let (desk, left) = file_of(MAX_BYTES);
    assert_eq!((read(&desk.topics_folder().join("a/b.md")).len(), left), (5120, 3));
    let (desk, left) = file_of(MAX_BYTES + 1);
    assert_eq!(left, 2);
    assert!(read(&desk.topics_folder().join("archive/a/2025.md")).contains("Nr 0"));
    assert!(!read(&desk.topics_folder().join("archive/a/2025.md")).contains("Nr 1"));
}

#[test]
fn one_entry_always_stays_however_large() {
    let desk = Desk::new();
    let call = desk.call();
    let topics = Topics::new(&call);
    let mut big = lesson("2025-05-05", "Big");
    big.solution = "y".repeat(9000);
    topics.store("a", "b", lesson("2025-01-01", "Small"), person()).unwrap();
    topics.store("a", "b", big, person()).unwrap();
    let live = Page::read(read(&desk.topics_folder().join("a/b.md")));
    assert_eq!(live.spots().len(), 1);
    assert_eq!(live.spots()[0].heading.title, "Big");
}

#[test]
fn a_same_day_twin_counts_up_and_keeps_its_id_in_the_archive() {
    let desk = Desk::new();
    let call = desk.call();
    let topics = Topics::new(&call);
    let first = topics.store("a", "b", lesson("2025-01-01", "Same"), person()).unwrap().id;
    let second = topics.store("a", "b", lesson("2025-01-01", "Same"), person()).unwrap().id;
    assert_eq!(second.as_str(), "lesson:a/b#2025-01-01-same-2");
    for n in 0..10 {
        topics.store("a", "b", lesson("2026-01-01", &format!("Newer {n}")), person()).unwrap();
    }
    for id in [&first, &second] {
        assert_eq!(topics.get(id).unwrap().unwrap().status, Status::Archived, "{id}");
    }
    let third = topics.store("a", "b", lesson("2025-01-01", "Same"), person()).unwrap().id;
    assert_eq!(third.as_str(), "lesson:a/b#2025-01-01-same-3");
}

#[test]
fn an_interrupted_move_is_counted_once_and_finished_by_the_next_write() {
    let desk = Desk::new();
    let call = desk.call();
    let topics = Topics::new(&call);
    for n in 0..3 {
        topics.store("a", "b", lesson(&day(n), &format!("Nr {n}")), person()).unwrap();
    }
    let path = desk.topics_folder().join("a/b.md");
    let before = read(&path);
    topics.archive(&id("lesson:a/b#2025-01-01-nr-0"), "", person()).unwrap();
    // As if the process had died after the archive and before the topic file.
    std::fs::write(&path, &before).unwrap();
    let count = |topics: &Topics<'_>| topics.list(&Listing::everything()).unwrap().len();
    assert_eq!(count(&topics), 3);
    topics.store("a", "b", lesson("2025-06-01", "Next"), person()).unwrap();
    assert_eq!(count(&topics), 4);
    assert!(!desk.topics_folder().join("archive/a/2025.md").exists());
    assert_eq!(topics.problems().unwrap(), []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn prune_never_loses_or_duplicates_an_entry(
        plan in proptest::collection::vec((0usize..60, 0usize..4, 0usize..1500, any::<bool>()), 1..28)
    ) {
        let desk = Desk::new();
        let call = desk.call();
        let topics = Topics::new(&call);
        let mut stored: BTreeMap<String, String> = BTreeMap::new();
        for (when, title, size, other_year) in plan {
            let date = if other_year { day(when).replace("2025", "2024") } else { day(when) };
            let mut entry = lesson(&date, &format!("Title {title}"));
            entry.solution = format!("{}{}", "z".repeat(size), stored.len());
            let id = topics.store("t", "s", entry.clone(), person()).unwrap().id;
            prop_assert!(stored.insert(id.as_str().to_owned(), entry.body()).is_none());
            let page = Page::read(read(&desk.topics_folder().join("t/s.md")));
            prop_assert!(page.spots().len() <= MAX_ENTRIES);
            prop_assert!(page.text().len() <= MAX_BYTES || page.spots().len() == 1);
        }
        let found: BTreeMap<String, String> = topics.list(&Listing::everything()).unwrap()
            .into_iter().map(|m| (m.id.as_str().to_owned(), m.body)).collect();
        prop_assert_eq!(found, stored);
    }
}

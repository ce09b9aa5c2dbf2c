//! Floods: whatever lies in a project, a hook reads and takes in no more than its budget, answers from the rest, and says what it left.

use super::*;
use crate::call::Call;
use crate::follow::{Look, ShelfIndex};
use crate::hook::gather;
use crate::project::{Project, World};
use crate::verbs::recall::{Given, Recall, prompt};
use heirloom_core::settings::MatchStrategy;
use heirloom_core::{Settings, time};
use std::fs::File;
use std::path::PathBuf;

struct Place {
    folder: tempfile::TempDir,
    strategy: MatchStrategy,
}

const RANKINGS: [MatchStrategy; 2] = [MatchStrategy::TitleTags, MatchStrategy::Hybrid];

impl Place {
    fn new(strategy: MatchStrategy) -> Place {
        let place = Place { folder: tempfile::tempdir().unwrap(), strategy };
        std::fs::create_dir_all(place.root("decisions")).unwrap();
        place
    }

    fn root(&self, rest: &str) -> PathBuf {
        self.folder.path().join("project/memory").join(rest)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.root(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// A file of that size that holds nothing.
    fn sparse(&self, name: &str, size: u64) {
        self.write(name, "");
        File::options().write(true).open(self.root(name)).unwrap().set_len(size).unwrap();
    }

    fn record(&self, name: &str, title: &str, words: &str) {
        let text = format!(
            r#"{{"schema_version":"1.0","category":"decision","id":"{name}","title":"{title}","record_status":"active",
               "created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","tags":["pelican"],
               "content":{{"decision":"{words}"}}}}"#
        );
        self.write(&format!("decisions/{name}.json"), text);
    }

    fn call(&self, budget: Budget) -> Call {
        let world = World {
            now: time::parse("2026-01-10T09:00:00Z").unwrap(),
            data: self.folder.path().join("data"),
            nonce: "00112233445566778899aabbccddeeff".into(),
            user: "someone".into(),
        };
        let project = self.folder.path().join("project");
        let mut settings = Settings::standard();
        settings.retrieval.match_strategy = self.strategy;
        Call::new(Project::new(&project, &self.root(""), world), settings).within(budget)
    }

    /// A prompt as a hook answers it.
    fn hook(&self, clock: Duration) -> (Given, Budget) {
        let (given, budget) = self.try_hook(clock);
        (given.unwrap(), budget)
    }

    fn try_hook(&self, clock: Duration) -> (heirloom_core::fault::Result<Given>, Budget) {
        let budget = Budget::of_a_hook(move || clock);
        let call = self.call(budget.clone());
        let _holding = call.budget().hold();
        let asked =
            Recall { prompt: "what did we decide about the pelican module?".into(), ..Recall::default() };
        (prompt(&call, &asked), budget)
    }

    /// The beginning of a session as a hook answers it.
    fn start(&self) -> Budget {
        let budget = Budget::of_a_hook(|| Duration::ZERO);
        let call = self.call(budget.clone());
        let _holding = call.budget().hold();
        crate::verbs::recall::prepare(&call);
        gather(&call, "claude-code", false).unwrap();
        budget
    }

    /// What a command outside a hook does before it searches.
    fn command(&self) {
        ShelfIndex::open(&self.call(Budget::open()), Look::Thorough).unwrap();
    }
}

fn says(budget: &Budget, what: &str) -> bool {
    budget.left_out().iter().any(|line| line.contains(what) && line.contains("`heirloom "))
}

#[test]
fn records_of_megabytes_are_left_out_of_a_hook_and_cost_it_nothing() {
    for strategy in RANKINGS {
        let place = Place::new(strategy);
        place.record("honest", "The pelican module stays apart", "because it is old");
        for n in 0..8 {
            place.record(&format!("flood-{n}"), "Something else", &"word ".repeat(600_000));
        }
        for _ in 0..2 {
            let (given, budget) = place.hook(Duration::ZERO);
            assert!(given.block.contains("pelican"), "the honest one is given");
            assert!(budget.bytes_read() < 1 << 20, "{}", budget.bytes_read());
            assert!(says(&budget, "larger than a hook reads"));
        }
        assert!(place.start().bytes_read() < 1 << 20);
    }
}

#[test]
fn a_hook_takes_in_what_it_has_room_for_and_the_next_one_goes_on() {
    let place = Place::new(MatchStrategy::Hybrid);
    for n in 0..30 {
        place.record(&format!("long-{n}"), "Long", &format!("w{n} ").repeat(24_000));
    }
    let mut hooks = 0;
    loop {
        let (_, budget) = place.hook(Duration::ZERO);
        hooks += 1;
        assert!(budget.texts_taken() <= TEXTS && hooks < 9, "{hooks}");
        if !says(&budget, "not in the search index yet") {
            break;
        }
    }
    assert!(hooks > 1, "or this test shows nothing");
    assert!(place.hook(Duration::ZERO).1.left_out().is_empty());
}

#[test]
fn a_command_finishes_what_hooks_leave_out() {
    let place = Place::new(MatchStrategy::Hybrid);
    place.record("large", "Something else", &"word ".repeat(100_000));
    place.record("honest", "The pelican module stays apart", "because it is old");
    assert!(says(&place.hook(Duration::ZERO).1, "larger than a hook reads"));
    place.command();
    assert!(place.hook(Duration::ZERO).1.left_out().is_empty());
    // A change makes it new again, and what it said before is not given any more.
    place.record("large", "Something else", &"other ".repeat(100_000));
    assert!(says(&place.hook(Duration::ZERO).1, "larger than a hook reads"));
}

#[test]
fn a_late_hook_looks_at_a_little_answers_and_says_what_it_left() {
    for strategy in RANKINGS {
        let place = Place::new(strategy);
        for n in 0..3_000 {
            place.record(&format!("r-{n}"), &format!("The pelican module {n}"), "because it is old");
        }
        let (_, budget) = place.hook(ONCE);
        assert!(budget.bytes_read() < ALWAYS + (1 << 20), "{}", budget.bytes_read());
        assert!(!budget.left_out().is_empty());
    }
}

#[test]
fn a_list_that_ended_early_takes_nothing_out_of_the_index() {
    let place = Place::new(MatchStrategy::Hybrid);
    for n in 0..1_500 {
        place.record(&format!("r-{n}"), &format!("The pelican module {n}"), "because it is old");
    }
    place.command();
    place.record("new", "A new one", "so that the folder is listed again");
    let (given, budget) = place.hook(LATE);
    assert!(!budget.left_out().is_empty() && given.block.contains("pelican"), "{:?}", budget.left_out());
    let call = place.call(Budget::open());
    let mut index = ShelfIndex::open(&call, Look::Thorough).unwrap();
    assert_eq!(index.reader().unwrap().0.len(), 1_501);
}

#[test]
fn an_index_made_by_a_hook_that_saw_only_some_records_is_not_kept() {
    let place = Place::new(MatchStrategy::TitleTags);
    for n in 0..3_000 {
        place.record(&format!("r-{n}"), &format!("The pelican module {n}"), "because it is old");
    }
    place.hook(ONCE);
    assert!(!place.root("index.md").exists());
    let (given, budget) = place.hook(SOON);
    assert!(given.block.contains("pelican") && says(&budget, "index.md"), "it answers from what it sees");
    assert!(!place.root("index.md").exists());
    place.call(Budget::open()).records().index_or_rebuild().unwrap();
    let index = std::fs::read_to_string(place.root("index.md")).unwrap();
    assert_eq!(index.matches("- [DECISION]").count(), 3_000);
}

#[test]
fn a_vault_of_a_hundred_thousand_lines_is_left_out_and_said() {
    for strategy in RANKINGS {
        let place = Place::new(strategy);
        place.record("honest", "The pelican module stays apart", "because it is old");
        let text =
            "the pelican module and what else there is to say about it in a line of its own, again and again";
        let line = |n: usize| {
            format!(
                r#"{{"id":"01HZZZZZZZZZZZZZZZZZ{n:06}","scope":"shared","tier":"canon","text":"{text} {n}","tags":[],"category":"fact","source":"user","created_at":"2026-01-01T00:00:00Z","version":1,"status":"active"}}"#
            ) + "\n"
        };
        place.write("vault.jsonl", (0..100_000).map(line).collect::<String>());
        let (given, budget) = place.hook(Duration::ZERO);
        assert!(given.block.contains("stays apart"));
        assert!(budget.bytes_read() < 4 << 20, "{}", budget.bytes_read());
        assert!(says(&budget, "of the vault"));
        assert!(says(&place.start(), "of the vault"));
    }
}

#[test]
fn of_a_smaller_vault_a_hook_weighs_as_many_as_it_has_room_for() {
    let place = Place::new(MatchStrategy::TitleTags);
    let line = |n: usize| {
        format!(
            r#"{{"id":"01HZZZZZZZZZZZZZZZZZ{n:06}","scope":"shared","tier":"canon","text":"the pelican {n}","tags":[],"category":"fact","source":"user","created_at":"2026-01-01T00:00:00Z","version":1,"status":"active"}}"#
        ) + "\n"
    };
    place.write("vault.jsonl", (0..IN_USE + 10).map(line).collect::<String>());
    assert!(place.hook(Duration::ZERO).1.left_out().iter().any(|line| line.starts_with("10 of the vault")));
}

#[test]
fn a_provenance_file_larger_than_a_hook_reads_brings_nothing_forgotten_back() {
    for strategy in RANKINGS {
        let place = Place::new(strategy);
        place.record("gone", "The pelican module stays apart", "because it is old");
        let line = r#"{"id":"decision:gone","at":"2026-01-02T00:00:00Z","did":"forgotten"}"#;
        place.write("provenance.jsonl", format!("{line}\n").repeat(1 + LINES as usize / line.len()));
        let (given, budget) = place.hook(Duration::ZERO);
        assert!(given.block.is_empty() && says(&budget, "larger than a hook reads"));
        assert!(budget.bytes_read() < 1 << 20);
    }
}

#[test]
fn pages_of_hundreds_of_megabytes_cost_a_hook_a_look_at_their_size() {
    for strategy in RANKINGS {
        let place = Place::new(strategy);
        place.record("honest", "The pelican module stays apart", "because it is old");
        place.sparse("topics/git/rebase.md", 500 << 20);
        place.sparse("topics/archive/git/2026.md", 60 << 20);
        place.sparse("notes/00000000-0000-4000-8000-000000000000.md", 10 << 30);
        place.sparse("decisions/sparse.json", 10 << 30);
        place.sparse(".aliases.jsonl", 15 << 20);
        let (given, budget) = place.hook(Duration::ZERO);
        assert!(
            given.block.contains("stays apart") && budget.bytes_read() < 1 << 20,
            "{}",
            budget.bytes_read()
        );
        assert!(place.start().bytes_read() < 1 << 20);
    }
}

#[test]
fn pipes_devices_and_loops_of_links_in_a_store_hold_up_no_hook() {
    for strategy in RANKINGS {
        let place = Place::new(strategy);
        place.record("honest", "The pelican module stays apart", "because it is old");
        let pipe = |name: &str| {
            std::fs::create_dir_all(place.root(name).parent().unwrap()).unwrap();
            let mode = rustix::fs::Mode::from_raw_mode(0o600);
            rustix::fs::mknodat(rustix::fs::CWD, place.root(name), rustix::fs::FileType::Fifo, mode, 0)
                .unwrap();
        };
        for name in [
            "decisions/pipe.json",
            "topics/git/pipe.md",
            "notes/pipe.md",
            "vault.jsonl",
            "runbooks/pipe.json",
        ] {
            pipe(name);
        }
        let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, place.root(name)).unwrap();
        link("/dev/zero", "decisions/zero.json");
        link(".", "decisions/loop");
        link("..", "topics/up");
        link("/dev/zero", "provenance.jsonl");
        // What cannot be read as it should be may cost the answer, not the session.
        let _ = place.try_hook(Duration::ZERO);
        std::fs::remove_file(place.root("provenance.jsonl")).unwrap();
        std::fs::remove_file(place.root("vault.jsonl")).unwrap();
        assert!(place.hook(Duration::ZERO).0.block.contains("stays apart"));
        place.start();
    }
}

#[test]
fn an_index_of_one_endless_line_is_passed_over() {
    let place = Place::new(MatchStrategy::TitleTags);
    let line = "- [DECISION] The pelican module stays apart -> memory/decisions/honest.json #tags:pelican\n";
    let endless = format!("- [DECISION] {}", "pelican ".repeat(1 << 20));
    place.write("index.md", format!("{line}{endless}\n"));
    let (given, budget) = place.hook(Duration::ZERO);
    assert!(given.block.contains("stays apart"), "{}", given.block);
    assert!(says(&budget, "index.md"));
}

#[test]
fn a_thousand_drafts_in_review_are_counted_as_far_as_there_is_time() {
    let place = Place::new(MatchStrategy::TitleTags);
    let call = place.call(Budget::open());
    let inbox = call.project().data().unwrap().join("inbox");
    std::fs::create_dir_all(&inbox).unwrap();
    for n in 0..3_000 {
        std::fs::write(inbox.join(format!("{n}.json")), "{}").unwrap();
    }
    let budget = Budget::of_a_hook(|| SOON);
    let call = place.call(budget.clone());
    let _holding = call.budget().hold();
    let _ = gather(&call, "claude-code", false);
    assert!(says(&budget, "in review"), "{:?}", budget.left_out());
}

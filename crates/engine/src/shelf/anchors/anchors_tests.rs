//! Citations against a working tree that changes under them.

use super::anchor::Anchor;
use super::check::{Cited, Freshness, check as check_one};
use super::cite;
use super::region::Lines;
use super::symbol::lines_of;
use super::tree::Tree;
use proptest::prelude::*;
use serde_json::json;
use std::path::Path;

const CODE: &str = "use std::io;\n\n/// Fetches jobs.\nfn fetch(\n    limit: usize,\n) -> Vec<Job> {\n    lock();\n\n    take(limit)\n}\n\nfn other() {}\n";

struct Project(tempfile::TempDir);

impl Project {
    fn new() -> Project {
        let project = Project(tempfile::tempdir().unwrap());
        project.write("src/queue.rs", CODE);
        project
    }

    fn folder(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.folder().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn cite(&self, place: &str) -> Anchor {
        cite(self.folder(), self.folder(), place).unwrap_or_else(|fault| panic!("{place}: {}", fault.message))
    }

    fn check(&self, anchor: &Anchor) -> Cited {
        check_one(&mut Tree::new(self.folder()), anchor)
    }

    fn state(&self, anchor: &Anchor) -> Freshness {
        self.check(anchor).state
    }
}

#[test]
fn every_form_of_a_citation_is_unchanged_while_nothing_changes() {
    let project = Project::new();
    for place in [
        "src/queue.rs",
        "src/queue.rs:4-10",
        "src/queue.rs:7",
        "src/queue.rs#fetch",
        "src/queue.rs:\"take(limit)\"",
    ] {
        assert_eq!(project.state(&project.cite(place)), Freshness::Unchanged, "{place}");
    }
    assert_eq!(project.cite("src/queue.rs#fetch").lines, Some((4, 10)));
    assert_eq!(project.cite("src/queue.rs:L4-L10#fetch").shown(), "src/queue.rs:4-10#fetch");
}

#[test]
fn line_ends_and_blanks_at_them_are_no_change() {
    let project = Project::new();
    let anchor = project.cite("src/queue.rs:4-10");
    let whole = project.cite("src/queue.rs");
    project.write("src/queue.rs", CODE.replace('\n', " \r\n"));
    assert_eq!(project.state(&anchor), Freshness::Unchanged);
    assert_eq!(project.state(&whole), Freshness::Unchanged);
}

#[test]
fn lines_that_moved_within_their_file_are_followed() {
    let project = Project::new();
    let anchor = project.cite("src/queue.rs:4-10");
    project.write("src/queue.rs", format!("// new\n// header\n{CODE}"));
    let cited = project.check(&anchor);
    assert_eq!((cited.state, cited.now.unwrap().lines), (Freshness::Moved, Some((6, 12))));
}

#[test]
fn a_renamed_file_is_followed_in_its_folder_and_by_its_name_elsewhere() {
    let project = Project::new();
    for place in ["src/queue.rs", "src/queue.rs:4-10", "src/queue.rs#fetch", "src/queue.rs:\"take(limit)\""] {
        let anchor = project.cite(place);
        for new in ["src/jobs.rs", "crates/engine/src/queue.rs"] {
            project.write(new, CODE);
            std::fs::remove_file(project.folder().join("src/queue.rs")).unwrap();
            let cited = project.check(&anchor);
            assert_eq!((cited.state, cited.now.unwrap().path.as_str()), (Freshness::Moved, new), "{place}");
            std::fs::remove_file(project.folder().join(new)).unwrap();
            project.write("src/queue.rs", CODE);
        }
    }
}

#[test]
fn changed_code_is_changed_and_missing_code_is_gone() {
    let project = Project::new();
    let places = ["src/queue.rs", "src/queue.rs:4-10", "src/queue.rs#fetch", "src/queue.rs:\"take(limit)\""];
    let anchors: Vec<Anchor> = places.iter().map(|place| project.cite(place)).collect();
    project.write("src/queue.rs", CODE.replace("take(limit)", "take(1)"));
    for anchor in &anchors {
        assert_eq!(project.state(anchor), Freshness::Changed, "{}", anchor.shown());
    }
    project.write("src/queue.rs", "fn other() {}\n");
    let named = &anchors[2];
    assert_eq!(project.state(named), Freshness::Gone, "nothing has that name any more");
    project.write("src/elsewhere.rs", "fn fetch() {}\n");
    assert_eq!(project.state(named), Freshness::Changed, "the name is beside it, and says something else");
    std::fs::remove_dir_all(project.folder().join("src")).unwrap();
    for anchor in &anchors {
        assert_eq!(project.state(anchor), Freshness::Gone, "{}", anchor.shown());
    }
}

#[test]
fn a_citation_of_what_is_not_there_is_refused_at_once() {
    let project = Project::new();
    project.write("../outside.txt", "x");
    std::os::unix::fs::symlink("/etc/hostname", project.folder().join("link")).unwrap();
    for place in [
        "",
        "src",
        "no.rs",
        "../outside.txt",
        "/etc/hostname",
        "link",
        "src/queue.rs:1-99",
        "src/queue.rs#missing",
        "src/queue.rs:\"not there\"",
    ] {
        assert!(cite(project.folder(), project.folder(), place).is_err(), "{place}");
    }
    std::fs::remove_file(project.folder().parent().unwrap().join("outside.txt")).unwrap();
}

#[test]
fn a_provenance_line_cannot_lead_out_of_the_project_or_into_much_work() {
    let project = Project::new();
    std::os::unix::fs::symlink("/etc", project.folder().join("etc")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        project.folder().join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from(0o600),
        0,
    )
    .unwrap();
    project.write("large.bin", vec![0u8; 3 << 20]);
    for path in
        ["../../etc/passwd", "/etc/passwd", "etc/passwd", "a/../../b", "pipe", "large.bin", "a\0b", ""]
    {
        let anchor = Anchor {
            path: path.to_owned(),
            lines: None,
            symbol: None,
            quote: None,
            hash: "0".repeat(64),
            roll: 0,
        };
        assert_eq!(project.state(&anchor), Freshness::Unchecked, "{path:?}");
    }
    for odd in [
        json!({}),
        json!(null),
        json!({ "path": 1, "hash": "x" }),
        json!({ "path": "a", "hash": "x", "lines": [5, 2] }),
        json!({ "path": "a", "hash": "x", "lines": [0, 0] }),
        json!({ "path": "a", "hash": "x", "lines": [1, 9_999_999_999u64] }),
        json!({ "path": "a", "hash": "x", "lines": "1-2" }),
        json!({ "path": "a".repeat(5_000), "hash": "x" }),
        json!({ "path": "a", "hash": "x".repeat(5_000) }),
        json!({ "path": "a", "hash": "x", "roll": "zz" }),
    ] {
        assert_eq!(Anchor::from_json(&odd), None, "{odd}");
    }
    let far = json!({ "path": "src/queue.rs", "hash": "x", "lines": [4_000_000_000u32, 4_294_967_295u32], "roll": "1" });
    assert_eq!(project.state(&Anchor::from_json(&far).unwrap()), Freshness::Changed);
}

#[test]
fn lines_that_all_look_alike_are_compared_a_few_times_only() {
    let text = "same\n".repeat(100_000);
    let lines = Lines::of(text.as_bytes());
    let roll = lines.roll(0..50_000);
    assert_eq!(lines.find(50_000, roll, "no such hash", 0), None);
    let hash = lines.hash(0..50_000).unwrap();
    assert_eq!(lines.find(50_000, roll, &hash, 7), Some(7..50_007));
}

#[test]
fn binary_files_can_be_cited() {
    let project = Project::new();
    project.write("logo.png", [0u8, 159, 146, 150, 10, 13, 0]);
    let anchor = project.cite("logo.png");
    assert_eq!(project.state(&anchor), Freshness::Unchanged);
    project.write("logo.png", [1u8, 2, 3]);
    assert_eq!(project.state(&anchor), Freshness::Changed);
}

#[test]
fn definitions_are_found_in_many_languages() {
    for (text, name, wanted) in [
        (
            "import x\nclass Queue:\n    def fetch(self):\n        return 1\n\n    def other(self):\n        pass\n",
            "Queue.fetch",
            2..4,
        ),
        ("// fetch is here\nfunc (q *Queue) fetch(n int) {\n\tlock()\n}\nfunc x() {}\n", "fetch", 1..4),
        ("int fetch(int n)\n{\n  return n;\n}\nint y;\n", "fetch", 0..4),
        ("module Q\n  def fetch\n    1\n  end\n\n  def x\n  end\nend\n", "fetch", 1..4),
        ("const LIMIT: usize = 5;\nconst OTHER: usize = 6;\n", "LIMIT", 0..1),
        ("export interface Job {\n  id: string;\n}\n", "Job", 0..3),
    ] {
        assert_eq!(lines_of(&Lines::of(text.as_bytes()), name), Some(wanted), "{text}");
    }
}

#[test]
fn a_memory_is_gone_only_if_all_it_cites_is() {
    use Freshness::{Changed, Gone, Moved, Unchanged, Unchecked};
    for (all, wanted) in [
        (vec![], Unchanged),
        (vec![Unchanged, Moved], Moved),
        (vec![Unchanged, Gone], Changed),
        (vec![Gone, Gone], Gone),
        (vec![Changed, Gone], Changed),
        (vec![Moved, Unchecked], Unchecked),
    ] {
        assert_eq!(Freshness::together(all.iter().copied()), wanted, "{all:?}");
    }
}

proptest! {
    #[test]
    fn a_range_is_found_wherever_it_was_put(
        before in prop::collection::vec("[a-c]{0,3}", 0..20),
        cited in prop::collection::vec("[a-c]{0,3}", 1..6),
        after in prop::collection::vec("[a-c]{0,3}", 0..20),
    ) {
        let own = cited.join("\n");
        let lines = Lines::of(own.as_bytes());
        let count = lines.len();
        prop_assume!(count > 0);
        let (hash, roll) = (lines.hash(0..count).unwrap(), lines.roll(0..count));
        let all = format!("{}\n{own}\n{}", before.join("\n"), after.join("\n"));
        let lines = Lines::of(all.as_bytes());
        let found = lines.find(count, roll, &hash, 0).unwrap();
        prop_assert_eq!(lines.hash(found).unwrap(), hash);
    }

    #[test]
    fn any_bytes_and_any_name_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..300), name in "\\PC{0,12}") {
        let lines = Lines::of(&bytes);
        if let Some(range) = lines_of(&lines, &name) {
            prop_assert!(range.start < range.end && range.end <= lines.len());
        }
    }

    #[test]
    fn any_citation_is_an_anchor_or_an_error(place in "(src/queue.rs)?[:#\"0-9a-z-]{0,12}") {
        let project = Project::new();
        if let Ok(anchor) = cite(project.folder(), project.folder(), &place) {
            prop_assert_eq!(project.state(&anchor), Freshness::Unchanged);
            prop_assert_eq!(Anchor::from_json(&anchor.to_json()), Some(anchor));
        }
    }
}

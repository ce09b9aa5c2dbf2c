//! Merges, also by a real git with the merge driver.

use super::*;
use crate::shelf::topics::page::Page;
use crate::shelf::{Listing, Shelf};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

fn merged(base: &str, ours: &str, theirs: &str) -> String {
    String::from_utf8(merge_topic(base.as_bytes(), ours.as_bytes(), theirs.as_bytes())).unwrap()
}

fn page(entries: &[(&str, &str, &str)]) -> String {
    let mut page = Page::read("# a: b\n".to_owned());
    for (date, title, problem) in entries {
        let mut entry = Lesson::new(date.parse().unwrap(), title);
        entry.problem = (*problem).into();
        page.insert(entry.date, &entry.write(&crate::shelf::topics::names::slug_of(title)));
    }
    page.text().to_owned()
}

fn bodies(text: &str) -> Vec<(String, String)> {
    let page = Page::read(text.to_owned());
    (0..page.spots().len()).map(|at| (page.lesson(at).title, page.lesson(at).problem)).collect()
}

#[test]
fn each_sides_changes_are_there_and_nothing_else() {
    const A: (&str, &str, &str) = ("2026-01-01", "A", "a");
    const B: (&str, &str, &str) = ("2026-01-02", "B", "b");
    let base = page(&[A, B]);
    // Both added.
    let (ours, theirs) = (page(&[A, B, ("2026-01-04", "O", "o")]), page(&[A, B, ("2026-01-03", "T", "t")]));
    assert_eq!(
        merged(&base, &ours, &theirs),
        page(&[A, B, ("2026-01-03", "T", "t"), ("2026-01-04", "O", "o")])
    );
    // One took out, the other changed something else.
    let changed = page(&[A, ("2026-01-02", "B", "b2")]);
    assert_eq!(merged(&base, &page(&[B]), &changed), page(&[("2026-01-02", "B", "b2")]));
    assert_eq!(merged(&base, &changed, &page(&[B])), page(&[("2026-01-02", "B", "b2")]));
    // One took out what the other changed: the change stays.
    assert_eq!(merged(&base, &page(&[A]), &changed), changed);
    // Both changed the same entry: both texts stay, the second under a name of its own.
    let both = merged(&base, &changed, &page(&[A, ("2026-01-02", "B", "b3")]));
    let problems: BTreeSet<String> = bodies(&both).into_iter().map(|(_, problem)| problem).collect();
    assert_eq!(problems, ["a", "b2", "b3"].map(String::from).into());
    assert!(both.contains("{#b-2}"));
}

#[test]
fn text_around_the_entries_is_merged_too() {
    let base = page(&[("2026-01-01", "A", "a")]);
    let ours = format!("{base}\nfooter of ours\n");
    let theirs =
        page(&[("2026-01-01", "A", "a"), ("2026-01-02", "T", "t")]).replace("# a: b", "# a: b\nsee also");
    let text = merged(&base, &ours, &theirs);
    for part in ["footer of ours", "see also", "2026-01-02: T", "2026-01-01: A"] {
        assert_eq!(text.matches(part).count(), 1, "{part}: {text}");
    }
    let bytes = merge_topic(b"", b"\xff ours", b"theirs");
    assert!(
        bytes.starts_with(b"<<<<<<<") && bytes.windows(4).any(|w| w == b"\xff ou"),
        "what is no text is kept whole"
    );
}

#[test]
fn an_index_is_merged_line_by_line() {
    let base = "# Memory Index\n\n## Topics\n\n### git\n- `a.md` - A\n- `b.md` - B\n";
    let ours =
        "# Memory Index\n\n## Topics\n\n### git\n- `a.md` - A, described\n- `b.md` - B\n- `c.md` - C\n";
    let theirs = "# Memory Index\n\n## Topics\n\n### build\n- `x.md` - X\n\n### git\n- `a.md` - A\n";
    let text = String::from_utf8(merge_index(base.as_bytes(), ours.as_bytes(), theirs.as_bytes())).unwrap();
    assert_eq!(
        text,
        "# Memory Index\n\n## Topics\n\n### build\n- `x.md` - X\n\n### git\n- `a.md` - A, described\n- `c.md` - C\n"
    );
}

proptest! {
    #[test]
    fn a_merge_loses_and_invents_nothing(
        base in proptest::collection::btree_set(0u8..12, 0..8),
        ours in proptest::collection::btree_set(0u8..24, 0..10),
        theirs in proptest::collection::btree_set(0u8..24, 0..10),
    ) {
        let make = |set: &BTreeSet<u8>| {
            let entries: Vec<(String, String)> = set.iter().map(|n| (format!("2026-01-{:02}", 1 + n % 7), format!("N{n}"))).collect();
            page(&entries.iter().map(|(d, t)| (d.as_str(), t.as_str(), "same")).collect::<Vec<_>>())
        };
        let text = merged(&make(&base), &make(&ours), &make(&theirs));
        let got: Vec<String> = bodies(&text).into_iter().map(|(title, _)| title).collect();
        let want: BTreeSet<String> = (0u8..24)
            .filter(|n| if base.contains(n) { ours.contains(n) && theirs.contains(n) } else { ours.contains(n) || theirs.contains(n) })
            .map(|n| format!("N{n}"))
            .collect();
        prop_assert_eq!(got.len(), want.len());
        prop_assert_eq!(got.into_iter().collect::<BTreeSet<_>>(), want);
    }
}

/// Git's view of a merge driver: `%O %A %B %P`, the result goes to `%A`. Run by the test below, through git.
#[test]
#[ignore = "is the merge driver that another test lets git run"]
#[allow(
    clippy::disallowed_methods,
    reason = "git hands its arguments over through the environment of this test binary"
)]
fn merge_driver_child() {
    let Some(args) = std::env::var_os("HEIRLOOM_TEST_DRIVER") else { return };
    let args = args.into_string().unwrap();
    let [base, ours, theirs, name] = args.split('|').collect::<Vec<_>>()[..] else { panic!("{args}") };
    let [o, a, b] = [base, ours, theirs].map(|path| std::fs::read(path).unwrap());
    std::fs::write(ours, merge_file(name, &o, &a, &b)).unwrap();
}

pub(super) fn git(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"])
        .args(args)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "git {args:?}: {text}");
    text
}

#[test]
fn two_real_branches_that_added_to_the_same_file_merge_without_conflict_or_loss() {
    let desk = Desk::new();
    let call = desk.call();
    let topics = Topics::new(&call);
    let repo = desk.path().join("project");
    git(&repo, &["init", "-q"]);
    let exe = std::env::current_exe().unwrap();
    let driver = format!(
        "HEIRLOOM_TEST_DRIVER='%O|%A|%B|%P' '{}' --quiet --ignored --exact shelf::topics::tests::merging::merge_driver_child >/dev/null",
        exe.display()
    );
    git(&repo, &["config", "merge.heirloom.driver", &driver]);
    std::fs::write(repo.join(".gitattributes"), ".claude/memory/topics/** merge=heirloom\n").unwrap();
    let mut stored = BTreeSet::new();
    let mut put = |date: &str, title: &str, sub: &str| {
        let mut entry = lesson(date, title);
        entry.solution = format!("{title} {}", "s".repeat(300));
        stored.insert(topics.store("git", sub, entry, person()).unwrap().id.as_str().to_owned());
    };
    for n in 0..8 {
        put(&format!("2025-12-{:02}", n + 1), &format!("Base {n}"), "rebase");
    }
    git(&repo, &["add", "-A"]);
    git(&repo, &["commit", "-qm", "base"]);
    git(&repo, &["checkout", "-qb", "other"]);
    for n in 0..5 {
        put("2026-01-11", &format!("Theirs {n}"), "rebase");
    }
    put("2026-01-11", "Else", "bisect");
    git(&repo, &["add", "-A"]);
    git(&repo, &["commit", "-qm", "theirs"]);
    git(&repo, &["checkout", "-q", "main"]);
    for n in 0..4 {
        put("2026-01-12", &format!("Ours {n}"), "rebase");
    }
    put("2026-01-12", "Here", "stash");
    git(&repo, &["add", "-A"]);
    git(&repo, &["commit", "-qm", "ours"]);
    git(&repo, &["merge", "-q", "--no-edit", "other"]);
    let found: BTreeSet<String> =
        topics.list(&Listing::everything()).unwrap().into_iter().map(|m| m.id.as_str().to_owned()).collect();
    assert_eq!(found, stored);
    assert_eq!(topics.verify().unwrap(), []);
}

/// Lines of a topic index by one-letter topics and subtopics.
fn index_lines() -> impl Strategy<Value = BTreeMap<(String, String), (String, bool)>> {
    let key = ("[a-d]", "[a-d]");
    prop::collection::btree_map(key, ("[x-z]", any::<bool>()), 0..8)
}

/// An index somebody wrote: headings and lines in any order, own words between them.
fn index_text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "[a-d]".prop_map(|topic| format!("### {topic}")),
        ("[a-d]", "[x-z]").prop_map(|(name, words)| format!("- `{name}.md` - {words}")),
        Just("## Topics".to_owned()),
        Just("## Own".to_owned()),
        Just(String::new()),
        Just("own words".to_owned()),
    ];
    (prop::collection::vec(line, 0..12), any::<bool>())
        .prop_map(|(lines, end)| lines.join("\n") + if end { "\n" } else { "" })
}

proptest! {
    #[test]
    fn many_lines_at_once_are_there_as_one_by_one(text in index_text(), lines in index_lines()) {
        let all = index::with_all(&text, &lines);
        let by_one = lines.iter().fold(text, |text, ((topic, subtopic), (words, replace))| {
            index::with(&text, topic, subtopic, words, *replace)
        });
        let sorted = |text: &str| {
            let mut lines = index::lines(text);
            lines.sort();
            lines
        };
        prop_assert_eq!(sorted(&all), sorted(&by_one));
        let own = |text: &str| text.lines().filter(|line| *line == "own words").count();
        prop_assert_eq!(own(&all), own(&by_one));
    }

    #[test]
    fn many_entries_at_once_stand_as_one_by_one(
        days in prop::collection::vec(1i8..6, 0..5),
        added in prop::collection::vec((1i8..6, "[a-c]"), 0..6),
        crlf in any::<bool>(),
        end in prop_oneof![Just(""), Just("\n"), Just("own words\n")],
    ) {
        let entry = |day: i8, name: &str| format!("## 2026-01-0{day}: {name}\n**Solution:** s\n---\n");
        let mut text = String::from("# t: s\n\n");
        for day in days {
            text.push_str(&entry(day, "there"));
            text.push('\n');
        }
        text.push_str(end);
        let text = if crlf { text.replace('\n', "\r\n") } else { text };
        let entries: Vec<_> =
            added.iter().map(|(day, name)| (jiff::civil::date(2026, 1, *day), entry(*day, name))).collect();
        let mut all = Page::read(text.clone());
        all.insert_all(entries.clone());
        let mut by_one = Page::read(text);
        for (date, entry) in &entries {
            by_one.insert(*date, entry);
        }
        prop_assert_eq!(all.text(), by_one.text());
    }
}

#[test]
fn a_huge_index_and_a_huge_page_are_merged_in_one_pass() {
    // As many lines as fit into the largest file that is read; one pass for each of them would take hours.
    let lines = |word: &str| -> String {
        (0..20_000).map(|n| format!("### t{n}\n- `s{n}.md` - {word}\n\n")).collect()
    };
    let base = format!("# Memory Index\n\n## Topics\n\n{}", lines("old"));
    let theirs = format!("# Memory Index\n\n## Topics\n\n{}", lines("new"));
    let merged = merge_index(base.as_bytes(), base.as_bytes(), theirs.as_bytes());
    assert_eq!(index::lines(std::str::from_utf8(&merged).unwrap()).len(), 20_000);
    assert!(!String::from_utf8(merged).unwrap().contains("old"));
    let merged = merge_index(b"", b"# Memory Index\n", theirs.as_bytes());
    assert_eq!(index::lines(std::str::from_utf8(&merged).unwrap()).len(), 20_000);
    let merged = merge_index(base.as_bytes(), base.as_bytes(), b"# Memory Index\n");
    assert!(index::lines(std::str::from_utf8(&merged).unwrap()).is_empty());
    let page = |word: &str| -> Vec<u8> {
        let entries = (0..20_000).map(|n| format!("## 2026-01-10: T{n}\n**Solution:** {word}\n---\n\n"));
        format!("# t: s\n\n{}", entries.collect::<String>()).into_bytes()
    };
    let merged = merge_topic(&page("a"), &[page("a"), b"own\n".to_vec()].concat(), &page("b"));
    assert_eq!(String::from_utf8(merged).unwrap().matches("**Solution:** b").count(), 20_000);
    let merged = merge_topic(b"# t: s\n", b"# t: s\n\nown\n", &page("b"));
    assert_eq!(String::from_utf8(merged).unwrap().matches("**Solution:** b").count(), 20_000);
}

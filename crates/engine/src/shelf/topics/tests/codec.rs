//! What is written is read back; what is around it stays.

use super::*;
use crate::shelf::topics::page::Page;
use proptest::prelude::*;

/// Text made of what is hard: marks, fences, escapes, edges, odd characters.
fn hard_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("---".to_owned()),
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("\n---\n".to_owned()),
        Just("## 2026-01-01: x".to_owned()),
        Just("\n## 2025-12-31: y\n".to_owned()),
        Just("**Problem:** p".to_owned()),
        Just("\n**Code:**\n".to_owned()),
        Just("\n**Subtopic:** z\n".to_owned()),
        Just("\n### Solution\n".to_owned()),
        Just("\n# Title\n".to_owned()),
        Just("\n```\n".to_owned()),
        Just("\n````rust\n".to_owned()),
        Just("\n~~~\n".to_owned()),
        Just("```".to_owned()),
        Just("\\".to_owned()),
        Just("\n\\---\n".to_owned()),
        Just("\n<<<<<<< HEAD\n".to_owned()),
        Just("\n=======\n".to_owned()),
        Just("\n>>>>>>> x\n".to_owned()),
        Just("&#32;".to_owned()),
        Just("&#".to_owned()),
        Just(";".to_owned()),
        Just("   ".to_owned()),
        Just("\t".to_owned()),
        Just("\u{feff}".to_owned()),
        Just("\u{a0}".to_owned()),
        Just("日本語".to_owned()),
        Just("\0".to_owned()),
        any::<String>(),
        "[ -~]{0,12}",
    ];
    proptest::collection::vec(piece, 0..9).prop_map(|parts| parts.concat())
}

fn any_lesson() -> impl Strategy<Value = Lesson> {
    let title = prop_oneof![hard_text(), "[a-z]{1,9} \\{#[a-z]{1,4}\\}", "[A-Za-z ]{1,20}"];
    (title, [(); 5].map(|()| hard_text()), 0i16..=9999, 1i8..=12, 1i8..=28).prop_map(
        |(title, [context, problem, solution, code, lead], y, m, d)| {
            let title = heirloom_core::text::one_line(&format!("T{title}"));
            Lesson { date: jiff::civil::date(y, m, d), title, context, problem, solution, code, lead }
        },
    )
}

fn only(text: &str) -> Lesson {
    let page = Page::read(text.to_owned());
    assert_eq!(page.spots().len(), 1, "{text:?}");
    page.lesson(0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn any_text_survives_from_lesson_to_file_to_lesson(lesson in any_lesson()) {
        let text = lesson.write("some-name");
        prop_assert_eq!(only(&text), lesson);
    }

    #[test]
    fn any_text_survives_between_other_entries_and_with_either_line_end(lesson in any_lesson(), crlf in any::<bool>()) {
        let end = if crlf { "\r\n" } else { "\n" };
        let first = format!("# T{end}{end}## 2026-02-01: top{end}open ```{end}---{end}{end}## 0000-01-01: low{end}x{end}");
        let mut page = Page::read(first.clone());
        page.insert(lesson.date, &lesson.write("n"));
        prop_assert_eq!(page.spots().len(), 3);
        let at = page.spots().iter().position(|s| s.heading.anchor.as_deref() == Some("n")
            || s.heading.title == lesson.title).unwrap();
        prop_assert_eq!(page.lesson(at), lesson);
        prop_assert_eq!(page.without(&[at]).text().to_owned(), first);
    }

    #[test]
    fn what_is_hashed_is_the_same_whatever_lies_around_it(lesson in any_lesson()) {
        let text = lesson.write("n");
        let mut page = Page::read("# T\r\n\r\n## 2020-01-01: a\r\nb\r\n".to_owned());
        page.insert(lesson.date, &text);
        prop_assert!((0..2).any(|at| page.plain(at) == text));
    }

    #[test]
    fn no_text_breaks_the_reader(text in hard_text()) {
        let page = Page::read(text.clone());
        for at in 0..page.spots().len() {
            page.lesson(at);
        }
        let all: Vec<usize> = (0..page.spots().len()).collect();
        prop_assert_eq!(page.without(&all).text().to_owned(), page.foreign());
    }
}

#[test]
fn an_entry_is_written_as_the_format_says() {
    let mut entry = lesson("2026-01-15", "Lost commits");
    entry.code = "```sh\ngit reflog\n```".into();
    assert_eq!(
        entry.write("lost-commits"),
        "## 2026-01-15: Lost commits\n**Context:** TASK-12\n**Problem:** Lost commits went wrong\n\
         **Solution:** Turned it off and on\n**Code:**\n```sh\ngit reflog\n```\n---\n"
    );
}

#[test]
fn entries_written_by_hand_are_read_in_their_many_forms() {
    let text = "intro\n\n##  [2026-01-15] - Odd one\n\n### Problem\n\nIt broke.\n\n### Solution:\n- **not a label:** x\n\n\
                **Code Example**:\n```yaml\n---\na: 1\n```\n\n## 2026-01-14\nJust text\n# Another section\nforeign\n\
                ## 2026-01-13: Last\n - no\n**context:** ABC-1\n";
    let page = Page::read(text.to_owned());
    assert_eq!(page.spots().len(), 3);
    let first = page.lesson(0);
    assert_eq!((first.title.as_str(), first.problem.as_str()), ("Odd one", "It broke."));
    assert_eq!(first.solution, "- **not a label:** x");
    assert_eq!(first.code, "```yaml\n---\na: 1\n```");
    assert_eq!(page.lesson(1).lead, "Just text");
    assert_eq!(page.lesson(2).context, "ABC-1");
    assert_eq!(page.foreign(), "intro\n\n# Another section\nforeign\n");
}

#[test]
fn a_file_from_elsewhere_gives_its_lessons() {
    let text = "## 2026-01-02: B\n**Subtopic:** x\n**Retired:** 2026-01-03 old\n**Problem:** p\n---\n## 2026-01-01: A\nq\n";
    let found = lessons_in(text);
    assert_eq!((found[0].title.as_str(), found[0].problem.as_str(), found[0].lead.as_str()), ("B", "p", ""));
    assert_eq!(found[1].lead, "q");
}

#[test]
fn a_change_touches_no_byte_outside_its_entry() {
    let desk = Desk::new();
    let call = desk.call();
    let topics = Topics::new(&call);
    let odd = "\u{feff}<!-- mine -->\r\n# Odd   \r\n\r\n\r\n##   2026-01-10:  First  \r\n\r\n**Problem**: x  \r\n***\r\n---  \r\n\r\n\
               Text between\t\r\n## Not an entry\r\n* * *\r\n## 2026-01-09: Second\r\nunclosed ```\r\n";
    let path = desk.topics_folder().join("git/odd.md");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, odd).unwrap();
    topics.store("git", "odd", lesson("2026-01-11", "New"), person()).unwrap();
    let text = read(&path);
    let (before, after) = odd.split_at(odd.find("##   2026").unwrap());
    assert!(text.starts_with(before) && text.ends_with(after), "{text:?}");
    let new = id("lesson:git/odd#2026-01-11-new");
    let mut changed = lesson("2026-01-11", "New title");
    changed.solution = "Better".into();
    topics.edit(&new, changed, None, person()).unwrap();
    assert!(read(&path).starts_with(before) && read(&path).ends_with(after));
    crate::shelf::Shelf::forget(&topics, &new, person()).unwrap();
    assert_eq!(read(&path), odd);
}

#[test]
fn reading_stays_linear_on_hostile_text() {
    let marks = "```a\n".repeat(200_000);
    let lesson = Lesson { solution: marks.clone(), ..lesson("2026-01-01", "t") };
    assert_eq!(only(&lesson.write("t")), lesson);
    let same = "## 2026-01-01: t\n".repeat(50_000);
    let page = Page::read(same);
    let headings: Vec<_> = page.spots().iter().map(|s| &s.heading).collect();
    let names = crate::shelf::topics::names::Register::default().assign(&headings);
    assert_eq!(names.last().map(String::as_str), Some("t-50000"));
    assert_eq!(page.without(&(0..50_000).collect::<Vec<_>>()).text(), "");
}

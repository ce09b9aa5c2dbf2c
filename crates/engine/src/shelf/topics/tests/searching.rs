//! Search and brief.

use super::*;
use crate::inject::brief::tokens;
use crate::inject::{BRIEF_LESSONS, BRIEF_TOKENS};

fn filled(desk: &Desk) -> Call {
    let call = desk.call();
    let topics = Topics::new(&call);
    let put = |topic: &str, sub: &str, date: &str, title: &str, context: &str, problem: &str| {
        let mut entry = lesson(date, title);
        entry.context = context.into();
        entry.problem = problem.into();
        topics.store(topic, sub, entry, person()).unwrap();
    };
    put("git", "rebase", "2026-01-15", "Lost commits", "TASK-12", "interactive rebase dropped work");
    put("git", "rebase", "2024-01-15", "Lost commits long ago", "TASK-1", "interactive rebase dropped work");
    put("build", "cargo", "2026-01-10", "Slow builds", "PRB-7", "incremental cache was off");
    put("lang", "cjk", "2026-01-10", "文字化け", "STORY-3", "文字コードが違った");
    call
}

fn titles(topics: &Topics<'_>, question: &str) -> Vec<String> {
    topics.search(question, 10).unwrap().into_iter().map(|hit| hit.memory.title).collect()
}

#[test]
fn a_question_finds_by_words_recency_and_context() {
    let desk = Desk::new();
    let call = filled(&desk);
    let topics = Topics::new(&call);
    assert_eq!(titles(&topics, "rebase dropped my work"), ["Lost commits", "Lost commits long ago"]);
    assert_eq!(titles(&topics, "TASK-1"), ["Lost commits long ago"], "TASK-1 is not TASK-12");
    assert_eq!(titles(&topics, "rebase for task-1")[0], "Lost commits long ago", "context outweighs recency");
    assert_eq!(titles(&topics, "context:prb-7"), ["Slow builds"]);
    assert_eq!(titles(&topics, "tag:git lost")[0], "Lost commits");
    assert_eq!(titles(&topics, "tag:build commits"), ["Slow builds"]);
    assert_eq!(titles(&topics, "\"incremental cache\" rebase"), ["Slow builds"]);
    assert_eq!(titles(&topics, "文字コード"), ["文字化け"]);
    assert_eq!(titles(&topics, "type:decision rebase"), Vec::<String>::new());
    assert_eq!(titles(&topics, "the and of"), Vec::<String>::new());
    let why = &topics.search("rebase TASK-12", 1).unwrap()[0].why;
    assert_eq!(why.context.as_deref(), Some("task-12"));
    assert!(why.keywords.contains(&"rebase".to_owned()) && why.recency > 0.9);
}

#[test]
fn use_breaks_ties_but_does_not_rule() {
    let desk = Desk::new();
    let call = filled(&desk);
    let topics = Topics::new(&call);
    for title in ["Alpha thing", "Beta thing"] {
        topics.store("tie", title.split(' ').next().unwrap(), lesson("2026-01-01", title), person()).unwrap();
    }
    assert_eq!(titles(&topics, "thing"), ["Alpha thing", "Beta thing"]);
    for _ in 0..10 {
        topics.load("tie", Some("beta")).unwrap();
    }
    assert_eq!(titles(&topics, "thing"), ["Beta thing", "Alpha thing"]);
    assert_eq!(titles(&topics, "alpha thing")[0], "Alpha thing");
}

#[test]
fn a_brief_has_two_or_three_lessons_with_their_source() {
    let desk = Desk::new();
    let call = filled(&desk);
    let topics = Topics::new(&call);
    let brief = topics.brief("fix the rebase that dropped commits").unwrap();
    assert_eq!(brief.ids.len(), 2);
    assert!(
        brief.text.contains("lesson:git/rebase#2026-01-15-lost-commits, source explicit_save, trust high")
    );
    assert!(brief.text.find("2026-01-15").unwrap() < brief.text.find("2024-01-15").unwrap());
    let nothing = topics.brief("entirely unrelated").unwrap();
    assert_eq!((nothing.text.as_str(), nothing.tokens), ("", 0));
}

#[test]
fn a_brief_stays_within_its_budget_whatever_the_lessons_hold() {
    for filler in
        ["word ", "日本語", "{}()[];", "0123456789", "\n", "e\u{301}", "😀", "<b>&", "Supercalifragilistic"]
    {
        let desk = Desk::new();
        let call = desk.call();
        let topics = Topics::new(&call);
        for n in 0..4 {
            let mut entry = lesson("2026-01-15", &format!("Budget {n}"));
            entry.solution = format!("budget {}", filler.repeat(2500));
            entry.code = filler.repeat(100);
            topics.store("a", &format!("s{n}"), entry, person()).unwrap();
        }
        let brief = topics.brief("budget").unwrap();
        assert!(brief.tokens <= BRIEF_TOKENS, "{filler:?}: {}", brief.tokens);
        assert_eq!(brief.tokens, tokens(&brief.text));
        assert_eq!(brief.ids.len(), BRIEF_LESSONS, "{filler:?}");
        assert!(brief.text.ends_with("</lessons>\n"));
        assert!(!brief.text[1..].contains("<b>"), "what lessons say cannot open or close a tag");
    }
}

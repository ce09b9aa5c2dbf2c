use super::*;
use heirloom_core::{Code, Scope, time};
use proptest::prelude::*;

const ID: &str = "7f3e2a10-4c5b-4d6e-8f70-123456789abc";

fn note(content: &str) -> Note {
    Note {
        id: NoteId::parse(ID).unwrap(),
        subject: "Retry policy".into(),
        keywords: vec!["importer".into(), "retry".into()],
        applies_to: Scope::Global,
        occurred_at: Moment::parse("2025-06-01T08:30:00Z").unwrap(),
        content_hash: content_hash(content),
        content: content.into(),
        memory_path: None,
    }
}

fn with_field(field: &str, value: &str) -> String {
    let mut text = String::from("---\n");
    for (key, plain) in [
        ("id", ID),
        ("subject", "Retry policy"),
        ("keywords", "[importer, retry]"),
        ("applies_to", "global"),
        ("occurred_at", "2025-06-01T08:30:00Z"),
        ("content_hash", "abcdef0123456789"),
    ] {
        let value = if key == field { value } else { plain };
        if value != "-" {
            text.push_str(&format!("{key}: {value}\n"));
        }
    }
    text + "---\n\nFirst line.\nSecond line.\n"
}

#[test]
fn the_file_is_the_documented_one_and_quotes_what_yaml_could_misread() {
    let mut stored = note("Line one\nLine two");
    stored.keywords = vec!["retry".into(), "no".into(), "1.0".into(), "c++".into()];
    stored.applies_to = Scope::File("src/api/auth.ts".into());
    stored.subject = "Fix: retry \"loop\"".into();
    let hash = &stored.content_hash;
    let expected = format!(
        "---\nid: \"{ID}\"\nsubject: \"Fix: retry \\\"loop\\\"\"\nkeywords:\n  - retry\n  - \"no\"\n  - \"1.0\"\n  - \"c++\"\n\
         applies_to: file:src/api/auth.ts\noccurred_at: \"2025-06-01T08:30:00Z\"\ncontent_hash: \"{hash}\"\n---\n\nLine one\nLine two\n"
    );
    assert_eq!(write_file(&stored), expected);
}

#[test]
fn version_one_ids_and_unquoted_times_are_readable() {
    let text = with_field("id", "6ba7b810-9dad-11d1-80b4-00c04fd430c8");
    let read = read_file(&text).unwrap();
    assert_eq!(read.occurred_at.at(), time::parse("2025-06-01T08:30:00Z").unwrap());
    assert_eq!(read.content, "First line.\nSecond line.");
}

#[test]
fn every_refusal_names_its_field() {
    let long = "x".repeat(201);
    let many = format!("[{}]", vec!["k"; 21].join(", "));
    for (field, value) in [
        ("id", "-"),
        ("id", "not-a-uuid"),
        ("id", "00000000-0000-0000-0000-000000000000"),
        ("id", "7f3e2a10-4c5b-9d6e-8f70-123456789abc"),
        ("id", "[a]"),
        ("subject", "-"),
        ("subject", "\"\""),
        ("subject", "~"),
        ("subject", long.as_str()),
        ("subject", "{a: b}"),
        ("keywords", "-"),
        ("keywords", "importer"),
        ("keywords", "[]"),
        ("keywords", "[\"\"]"),
        ("keywords", "[[a]]"),
        ("keywords", many.as_str()),
        ("applies_to", "-"),
        ("applies_to", "project"),
        ("applies_to", "'file:'"),
        ("occurred_at", "-"),
        ("occurred_at", "2025-06-01"),
        ("occurred_at", "2025-02-30T00:00:00Z"),
        ("occurred_at", "soon"),
        ("occurred_at", "2025-06-01 08:30:00Z"),
        ("occurred_at", "2025-06-01T08:30:00+02:00[Europe/Berlin]"),
        ("occurred_at", "[x]"),
        ("content_hash", "{a: b}"),
    ] {
        let fault = read_file(&with_field(field, value)).unwrap_err();
        assert_eq!(fault.get("field"), Some(field), "{field}: {value}");
        assert_eq!(fault.code, Code::Validation);
        assert!(!fault.next_step().is_empty());
    }
}

#[test]
fn a_yaml_error_says_where_and_never_what() {
    let text = "---\nid: x\nsubject: [hunter2\n---\nbody\n";
    let fault = read_file(text).unwrap_err();
    assert!(!format!("{fault:?}").contains("hunter2"));
    assert!(fault.get("line").is_some());
    let twice = with_field("subject", "one\nsubject: two");
    assert!(read_file(&twice).is_err(), "two subjects");
}

#[test]
fn what_people_write_by_hand_is_read() {
    for (field, value, subject) in [
        ("subject", "42", "42"),
        ("subject", "yes # a comment", "yes"),
        ("subject", ">-\n  folded over\n  two lines", "folded over two lines"),
        ("subject", "'it''s'", "it's"),
        ("subject", "Retry policy\nmood: calm", "Retry policy"),
        ("content_hash", "-", "Retry policy"),
        ("content_hash", "12345678901234e5", "Retry policy"),
        ("occurred_at", "2025-06-01T10:30:00+02:00", "Retry policy"),
        ("occurred_at", "2025-06-01T08:30Z", "Retry policy"),
    ] {
        let read = read_file(&with_field(field, value)).unwrap_or_else(|e| panic!("{field}: {value}: {e}"));
        assert_eq!(read.subject, subject);
    }
    let digits = read_file(&with_field("content_hash", "0777777777777777")).unwrap();
    assert_eq!(digits.content_hash, "0777777777777777");
}

#[test]
fn bodies_with_rules_fences_crlf_and_byte_order_marks_come_back_whole() {
    for content in [
        "---\ntitle: inner\n---\nBody after inner block",
        "Above\n\n---\n\nBelow",
        "```yaml\n---\nid: x\n---\n```",
        "Line one\r\nLine two\r\n",
        "\u{feff}marked",
        "\n\n  led and followed by blanks \n\n\n",
        "\r\n\r",
        "",
        "nul \0 and \u{85} and \u{2028}",
    ] {
        assert_eq!(read_file(&write_file(&note(content))).unwrap().content, content, "{content:?}");
    }
}

#[test]
fn a_file_without_the_blank_line_gives_the_bytes_its_hash_was_made_of() {
    for content in ["plain\ntext", "\nled by a blank\nline", "followed\nby two\n\n"] {
        let hash = content_hash(content);
        let file = write_file(&note(content));
        let header = &file[..file.find("\n\n").unwrap() + 1];
        let other_writer = format!("{header}{content}{}", if content.ends_with('\n') { "" } else { "\n" });
        let read = read_file(&other_writer).unwrap();
        assert_eq!((read.content.as_str(), read.content_hash), (content, hash));
    }
    let turned = write_file(&note("one\ntwo")).replace('\n', "\r\n");
    assert_eq!(read_file(&turned).unwrap().content, "one\ntwo");
}

#[test]
fn hostile_files_are_refused_without_running_away() {
    let bomb = "a: &a [x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\n\
                d: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nkeywords: *e\n";
    for header in [
        bomb.to_owned(),
        format!("subject: {}\n", "[".repeat(60_000)),
        format!("subject: {}\n", "{a: ".repeat(15_000)),
        format!("{}\n", "- ".repeat(30_000)),
        "? ".repeat(30_000),
        "a\n".repeat(30_000),
        format!("subject: \"{}\n", "\\".repeat(60_001)),
        "x: y\n".repeat(1_000_000),
    ] {
        assert!(read_file(&format!("---\n{header}---\n\nbody\n")).is_err());
    }
    assert!(read_file(&"---\n".repeat(1_000_000)).is_err());
    assert!(read_file(&"\u{feff}---".repeat(100_000)).is_err());
}

/// Text of everything, with what is special to the format much more often than chance would have it.
fn odd_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => any::<char>().prop_map(String::from),
        1 => prop::sample::select(vec!["---", "---\n", "\n", "\r\n", "\r", "\u{feff}", "```", " ", ": ", "#", "'", "\"", "\\", "\t"])
            .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..80).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_text_survives_note_to_file_to_note(content in odd_text()) {
        let before = note(&content);
        prop_assert_eq!(read_file(&write_file(&before)).unwrap(), before);
    }

    #[test]
    fn any_field_survives_note_to_file_to_note(
        subject in odd_text(), words in prop::collection::vec(odd_text(), 1..5), path in odd_text(),
    ) {
        let cut = |text: String, max: usize| text.chars().take(max).collect::<String>();
        let mut before = note("Line one\nLine two");
        before.subject = format!("s{}", cut(subject, 199));
        before.keywords = words.into_iter().map(|word| format!("{}k", cut(word, 49))).collect();
        before.applies_to = Scope::Area(format!("a{}", path.replace(['\n', '\r'], " ")));
        prop_assert_eq!(read_file(&write_file(&before)).unwrap(), before);
    }

    #[test]
    fn reading_never_panics(text in odd_text(), header in odd_text()) {
        let _ = read_file(&text);
        let _ = read_file(&format!("---\n{header}\n---\n{text}"));
        let _ = read_file(&with_field("subject", &header));
    }
}

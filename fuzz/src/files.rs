//! Files of the shelves, as anybody with an editor or a repository may have written them.

use crate::parts;
use heirloom_core::Settings;
use heirloom_engine::shelf::records::{self, Document, Glance, IndexEntry, Stage};
use heirloom_engine::shelf::vault::{Image, Record, likeness};
use heirloom_engine::shelf::{merge, notes, topics};

/// What can be read can be written and read again, the same.
pub(crate) fn front_matter(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    // The hash says which of two ways to cut a body was meant; where it is the hash of neither, nothing says it.
    if let Ok(note) = notes::read_file(text)
        && note.content_hash == notes::content_hash(&note.content)
    {
        let again = notes::read_file(&notes::write_file(&note));
        assert_eq!(again.ok().as_ref(), Some(&note), "a note that was written is read again");
    }
}

/// Entries are found, and two versions join without losing the text of either.
pub(crate) fn topics(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        for lesson in topics::lessons_in(text) {
            topics::lessons_in(&lesson.write("name"));
        }
    }
    let [base, ours, theirs] = parts(bytes);
    topics::merge_topic(base, ours, theirs);
}

/// Every line is a record or broken; what a record says is written as one line.
pub(crate) fn vault(bytes: &[u8]) {
    let image = Image::of(bytes);
    let resolved = image.resolve();
    image.broken();
    image.twins();
    let mut before: Option<String> = None;
    for held in resolved.all() {
        let line = held.record.line();
        assert!(!line.contains('\n'), "a record is one line");
        assert!(Record::parse(line.as_bytes()).is_ok(), "a record that was written is read again");
        if let Some(before) = before {
            // What is longer never reaches the shelf.
            let short = |text: &str| text.chars().take(1200).collect::<String>();
            likeness(&short(&before), &short(&held.record.text));
        }
        before = Some(held.record.text.to_string());
    }
}

/// A document is judged by every category, and its bytes are read again.
pub(crate) fn records(bytes: &[u8]) {
    Glance::of(bytes);
    let Ok(document) = Document::parse(bytes) else { return };
    let settings = Settings::standard();
    for category in &settings.categories {
        records::validate(&document, category, Stage::Input);
        records::validate(&document, category, Stage::Stored);
    }
    let mut changed = Document::parse(&document.to_bytes()).unwrap_or_else(|why| panic!("read again: {why}"));
    assert_eq!(changed.to_bytes(), document.to_bytes());
    changed.fill_name();
    changed.retitle(Some("Another title"));
    changed.add_tags(&["more".to_owned()]);
    changed.note_change("2026-01-10", "changed");
    changed.to_bytes();
}

/// An entry that is written is the entry that is read; two versions of an index join.
pub(crate) fn index(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        for line in text.lines() {
            records::line_path(line);
            let Some(entry) = IndexEntry::parse(line) else { continue };
            let written = entry.line();
            assert!(!written.contains('\n'), "an entry is one line");
        }
    }
    let [base, ours, theirs] = parts(bytes);
    for path in [None, Some("m/topics/index.md"), Some("m/index.md"), Some("m/decisions/a.json")] {
        if let Ok(merged) = merge(path, base, ours, theirs) {
            // Whoever has nothing new changes nothing: merging the result with either side again must not fail.
            let _ = merge(path, ours, &merged.bytes, ours);
        }
    }
}

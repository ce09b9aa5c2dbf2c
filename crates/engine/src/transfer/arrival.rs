//! Memories from one file: each statement as a record of the kind its words say, or as a note, word for word.
//!
//! Comes in: statements and texts of a file, and where in it they stand. Goes out: records and notes stored through their shelves, and a line of the report for
//! each. Never here: the same text twice, whenever its file was touched; a field that the words do not fill.

use super::heard::{Heard, heard};
use super::report::DROPPED;
use super::run::Run;
use super::sort::Source;
use crate::shelf::notes::{Given as NoteGiven, Moment, NoteDraft};
use crate::shelf::records::{Given, Said, compose, missing, name_for};
use heirloom_core::{Code, MemoryId, ShelfName, fault::Result, text, time};
use jiff::Timestamp;
use std::collections::HashSet;

/// What arrives from one file: the import it belongs to, and the file.
pub(super) struct Arrival<'a, 'c> {
    pub(super) run: &'a mut Run<'c>,
    pub(super) source: &'a Source,
    /// When the file was touched, for notes that do not say when they were written.
    pub(super) at: Timestamp,
    /// Ids that statements of this file have got.
    taken: HashSet<String>,
}

impl<'a, 'c> Arrival<'a, 'c> {
    pub(super) fn new(run: &'a mut Run<'c>, source: &'a Source) -> Arrival<'a, 'c> {
        Arrival { run, source, at: touched(source), taken: HashSet::new() }
    }

    /// A file of text. One that cannot be read is refused, and nothing arrives from it.
    pub(super) fn of_text(
        run: &'a mut Run<'c>,
        source: &'a Source,
        shelf: ShelfName,
    ) -> Result<Option<(Arrival<'a, 'c>, String)>> {
        let text = run.text(source, shelf)?;
        Ok(text.map(|text| (Arrival::new(run, source), text)))
    }

    /// Where a line of the file is.
    pub(super) fn place(&self, line: usize) -> String {
        format!("{}:{line}", self.source.shown)
    }

    pub(super) fn leave(&mut self, from: &str, line: &str, why: &str) {
        self.run.report.leave(ShelfName::Records, from, line, why);
    }

    /// What becomes of a statement: a memory of the kind its words say, unless the person wants it otherwise.
    pub(super) fn statement(&mut self, from: &str, words: &str) -> Result<()> {
        if self.run.report.choice.drops(from) {
            self.leave(from, words, DROPPED);
            return Ok(());
        }
        if let Some(changed) = self.run.report.choice.change(from).cloned() {
            return self.kept(from, &changed.kind, &changed.text, Given::default());
        }
        match heard(words) {
            Heard::Kind(kind) => self.kept(from, kind, words, Given::default()),
            Heard::Nothing(why) => {
                self.leave(from, words, why);
                Ok(())
            }
        }
    }

    /// A memory of this kind; a note, word for word, if the words do not fill that kind.
    pub(super) fn kept(&mut self, from: &str, kind: &str, words: &str, mut given: Given) -> Result<()> {
        given.sentence = words.to_owned();
        let category = self.run.call.settings().category(kind).filter(|category| category.enabled);
        match category {
            Some(category) if missing(category, &given).is_ok_and(|missing| missing.is_empty()) => {
                self.record(from, kind, given)
            }
            _ => self.note(from, given.title.as_deref().unwrap_or_default(), words, self.at),
        }
    }

    /// A record.
    pub(super) fn record(&mut self, from: &str, kind: &str, given: Given) -> Result<()> {
        let (call, entry) = (self.run.call, self.run.entry);
        let Some(category) = call.settings().category(kind).filter(|category| category.enabled) else {
            self.leave(from, &given.sentence, "its category is switched off");
            return Ok(());
        };
        let records = call.records();
        let taken = &mut self.taken;
        let mut title = String::new();
        let outcome = compose(category, &given, &time::format(call.project().world().now)).and_then(|made| {
            let mut document = made.document;
            title = document.text("title").unwrap_or_default().to_owned();
            let mut name = name_for(&title);
            // Two statements may have one title; each has its own name, the same one every time.
            let plain = name.clone();
            let mut more = 2;
            while !taken.insert(format!("{kind}:{name}")) {
                name = format!("{plain}-{more}");
                more += 1;
            }
            document.rename(&name);
            let id = MemoryId::new(&category.kind, &name);
            // Whatever became of it since, in whatever status: it has been here.
            if records.document(&id)?.is_some()
                || crate::shelf::provenance::forgotten(call.project().root())?.contains(id.as_str())
            {
                return Ok(None);
            }
            let place = call.project().shown(&records.folder(category).join(format!("{name}.json")));
            let target = records.target(&place, call.project().folder())?;
            records.create(&target, category, document, entry, &mut Said::default())?;
            Ok(Some(id.to_string()))
        });
        match outcome {
            Ok(None) => self.run.report.at(ShelfName::Records).known += 1,
            Ok(Some(id)) => {
                self.run.stored(ShelfName::Records, id, self.source);
                self.run.report.arrives(from, kind, &title);
            }
            Err(fault) => {
                if fault.code == Code::NeedsConfirmation {
                    self.run.report.arrives(from, kind, &title);
                }
                let point = call.screen().redacted(&text::one_line(&given.sentence));
                let from = format!("{from}: {}", text::cut(&point, 60));
                self.run.report.refuse(ShelfName::Records, from, fault)?;
            }
        }
        Ok(())
    }

    /// A note, word for word.
    pub(super) fn note(&mut self, from: &str, subject: &str, body: &str, at: Timestamp) -> Result<()> {
        if self.run.report.choice.drops(from) {
            self.leave(from, body, DROPPED);
            return Ok(());
        }
        let rules = &self.run.call.settings().notes;
        let mut draft = NoteDraft::of(body, Moment::of(at), rules.max_keywords);
        let subject = text::one_line(subject);
        if !subject.is_empty() && draft.check().is_ok() {
            let derived = std::mem::replace(&mut draft.subject, NoteGiven::Yes(subject.clone()));
            if draft.check().is_err() {
                draft.subject = derived;
            }
        }
        let says = body.lines().any(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
        let why = match (says, draft.check().is_err(), body.chars().count() > rules.max_chars) {
            (false, ..) => Some("a heading without a text"),
            (_, _, true) => Some("longer than a note may be (`notes.max_chars`)"),
            (_, true, _) => Some("not a valid note"),
            _ => None,
        };
        if let Some(why) = why {
            self.run.report.leave(ShelfName::Notes, from, &source_part(body), why);
            return Ok(());
        }
        let stored = self.run.call.screen().redacted(body);
        if self.run.bodies()?.contains(stored.trim()) {
            self.run.report.at(ShelfName::Notes).known += 1;
            return Ok(());
        }
        let title = if subject.is_empty() { source_part(body) } else { subject };
        match self.run.call.notes().create(draft, self.run.entry) {
            Ok(kept) if kept.done.status == "created" => {
                self.run.bodies()?.insert(body.trim().to_owned());
                self.run.stored(ShelfName::Notes, kept.done.id.to_string(), self.source);
                self.run.report.arrives(from, "note", &title);
            }
            Ok(_) => self.run.report.at(ShelfName::Notes).known += 1,
            Err(fault) => {
                self.run.report.refuse(ShelfName::Notes, format!("{from}: {}", source_part(body)), fault)?;
            }
        }
        Ok(())
    }
}

fn touched(source: &Source) -> Timestamp {
    let modified = std::fs::metadata(&source.path).and_then(|meta| meta.modified()).ok();
    modified.and_then(|time| Timestamp::try_from(time).ok()).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// How a text begins, as a title.
pub(super) fn source_part(body: &str) -> String {
    let first = body.lines().next().unwrap_or_default();
    text::cut(&text::one_line(first.trim_start_matches('#')), 60).trim().to_owned()
}

//! What coding agents have written down by themselves, and what people have written down for them.
//!
//! Comes in: instruction files (`CLAUDE.md`, `AGENTS.md`, `.cursorrules`, …) and agents' own memory files. Goes out: each statement as a record of the kind
//! its words say, or as a note where it lacks a field of that kind, word for word; what an agent learned about working here as preferences, the rest as
//! notes. Every line that nothing is made of is named with the reason. Never here: what is about the person and not about the project; what names another
//! project; the same text twice, whenever its file was touched.

use super::heard::{Heard, heard};
use super::import::{DROPPED, Imported};
use super::markdown::{front_matter, sections};
use super::sort::{MAX_FILE, Source};
use super::statements::statements;
use crate::call::Call;
use crate::files;
use crate::gate::Entry;
use crate::shelf::notes::{Given as NoteGiven, Moment, NoteDraft};
use crate::shelf::records::{Given, Said, compose, missing, name_for};
use crate::shelf::{Listing, Shelf as _};
use heirloom_core::{Code, Fault, MemoryId, ShelfName, fault::Result, text, time};
use jiff::Timestamp;
use std::collections::HashSet;

/// What arrives goes here: the call, the file it comes from, and what is told about it.
pub(super) struct Arrival<'a> {
    pub(super) call: &'a Call,
    pub(super) source: &'a Source,
    pub(super) entry: Entry,
    pub(super) report: &'a mut Imported,
    pub(super) origins: &'a mut Vec<(String, String)>,
    /// The texts of all notes there are.
    known: HashSet<String>,
    /// When the file was touched, for notes that do not say when they were written.
    pub(super) at: Timestamp,
    /// Ids that statements of this import have got.
    taken: HashSet<String>,
}

impl<'a> Arrival<'a> {
    pub(super) fn new(
        call: &'a Call,
        source: &'a Source,
        entry: Entry,
        report: &'a mut Imported,
        origins: &'a mut Vec<(String, String)>,
    ) -> Result<Arrival<'a>> {
        let known = bodies(call)?;
        Ok(Arrival {
            call,
            source,
            entry,
            report,
            origins,
            known,
            at: touched(source),
            taken: HashSet::new(),
        })
    }

    /// Where a line of the file is.
    pub(super) fn place(&self, line: usize) -> String {
        format!("{}:{line}", self.source.shown)
    }

    pub(super) fn leave(&mut self, from: &str, line: &str, why: &str) {
        self.report.leave(ShelfName::Records, from, line, why);
    }

    /// What becomes of a statement: a memory of the kind its words say, unless the person wants it otherwise.
    pub(super) fn statement(&mut self, from: &str, words: &str) -> Result<()> {
        if self.report.choice.drops(from) {
            self.leave(from, words, DROPPED);
            return Ok(());
        }
        if let Some(changed) = self.report.choice.change(from).cloned() {
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
        let category = self.call.settings().category(kind).filter(|category| category.enabled);
        match category {
            Some(category) if missing(category, &given).is_ok_and(|missing| missing.is_empty()) => {
                self.record(from, kind, given)
            }
            _ => self.note(from, given.title.as_deref().unwrap_or_default(), words, self.at),
        }
    }

    /// A record.
    pub(super) fn record(&mut self, from: &str, kind: &str, given: Given) -> Result<()> {
        let (call, entry) = (self.call, self.entry);
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
            Ok(None) => self.report.at(ShelfName::Records).known += 1,
            Ok(Some(id)) => {
                self.origins.push((id.clone(), self.source.shown.clone()));
                self.report.at(ShelfName::Records).new.push(id);
                self.report.arrives(from, kind, &title);
            }
            Err(fault) => {
                if fault.code == Code::NeedsConfirmation {
                    self.report.arrives(from, kind, &title);
                }
                let point = call.screen().redacted(&text::one_line(&given.sentence));
                let from = format!("{from}: {}", text::cut(&point, 60));
                self.report.refuse(ShelfName::Records, from, fault)?;
            }
        }
        Ok(())
    }

    /// A note, word for word.
    pub(super) fn note(&mut self, from: &str, subject: &str, body: &str, at: Timestamp) -> Result<()> {
        if self.report.choice.drops(from) {
            self.leave(from, body, DROPPED);
            return Ok(());
        }
        let rules = &self.call.settings().notes;
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
            self.report.leave(ShelfName::Notes, from, &source_part(body), why);
            return Ok(());
        }
        if self.known.contains(self.call.screen().redacted(body).trim()) {
            self.report.at(ShelfName::Notes).known += 1;
            return Ok(());
        }
        let title = if subject.is_empty() { source_part(body) } else { subject };
        match self.call.notes().create(draft, self.entry) {
            Ok(kept) if kept.done.status == "created" => {
                let id = kept.done.id.to_string();
                self.origins.push((id.clone(), self.source.shown.clone()));
                self.known.insert(body.trim().to_owned());
                self.report.at(ShelfName::Notes).new.push(id);
                self.report.arrives(from, "note", &title);
            }
            Ok(_) => self.report.at(ShelfName::Notes).known += 1,
            Err(fault) => {
                self.report.refuse(ShelfName::Notes, format!("{from}: {}", source_part(body)), fault)?;
            }
        }
        Ok(())
    }
}

/// Takes what an instruction file states.
pub(super) fn instructions(
    call: &Call,
    source: &Source,
    entry: Entry,
    report: &mut Imported,
    origins: &mut Vec<(String, String)>,
) -> Result<()> {
    let text = match read(source) {
        Ok(text) => text,
        Err(fault) => return report.refuse(ShelfName::Records, source.shown.clone(), fault),
    };
    let mut arrival = Arrival::new(call, source, entry, report, origins)?;
    for one in statements(&text) {
        let from = arrival.place(one.line);
        match one.form.why() {
            Some(why) => arrival.leave(&from, &one.text, why),
            None => arrival.statement(&from, &one.text)?,
        }
    }
    Ok(())
}

/// Takes a file of an agent's own memory.
pub(super) fn memory(
    call: &Call,
    source: &Source,
    entry: Entry,
    report: &mut Imported,
    origins: &mut Vec<(String, String)>,
) -> Result<()> {
    let text = match read(source) {
        Ok(text) => text,
        Err(fault) => return report.refuse(ShelfName::Notes, source.shown.clone(), fault),
    };
    let (fields, body) = front_matter(&text);
    let field = |name: &str| {
        fields.iter().find(|(key, value)| *key == name && !value.is_empty()).map(|(_, value)| *value)
    };
    let mut arrival = Arrival::new(call, source, entry, report, origins)?;
    let at = field("modified").and_then(time::parse).unwrap_or(arrival.at);
    let from = source.shown.as_str();
    match field("type") {
        Some("user") => {
            arrival.leave(from, body, "about you, not about the project");
            let note = format!("{from}: it is about you, not about the project, and stays where it is");
            arrival.report.notes.push(note);
            Ok(())
        }
        Some("feedback") => {
            let title = field("description").or_else(|| field("name")).map(str::to_owned);
            let sentence = body.trim().to_owned();
            arrival.record(from, "preference", Given { sentence, title, ..Given::default() })
        }
        Some(_) => arrival.note(from, field("description").unwrap_or_default(), body.trim(), at),
        None => {
            for section in sections(body) {
                let offset = section.text.as_ptr() as usize - text.as_ptr() as usize;
                let from = arrival.place(text[..offset].lines().count() + 1);
                if is_of_here(section.text, source) {
                    arrival.note(&from, section.title, section.text, at)?;
                } else {
                    arrival.leave(&from, &source_part(section.text), "about another project");
                }
            }
            Ok(())
        }
    }
}

/// Whether a part of a file that speaks of several projects speaks of this one.
fn is_of_here(text: &str, source: &Source) -> bool {
    let Some(folder) = source.only_about.as_deref().and_then(|folder| folder.to_str()) else { return true };
    let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    text.match_indices(folder).any(|(at, _)| !text[at + folder.len()..].starts_with(goes_on))
}

fn touched(source: &Source) -> Timestamp {
    let modified = std::fs::metadata(&source.path).and_then(|meta| meta.modified()).ok();
    modified.and_then(|time| Timestamp::try_from(time).ok()).unwrap_or(Timestamp::UNIX_EPOCH)
}

pub(super) fn read(source: &Source) -> Result<String> {
    files::read_text(&source.path, MAX_FILE)?.ok_or_else(|| {
        Fault::new(Code::NotFound, format!("`{}` no longer exists", source.shown)).hint("import it again")
    })
}

/// The texts of all notes, in whatever status: agents write their files anew, and what is in them is no newer for that.
fn bodies(call: &Call) -> Result<HashSet<String>> {
    let all = call.notes().list(&Listing::everything())?;
    Ok(all.into_iter().map(|memory| memory.body.trim().to_owned()).collect())
}

fn source_part(body: &str) -> String {
    let first = body.lines().next().unwrap_or_default();
    text::cut(&text::one_line(first.trim_start_matches('#')), 60).trim().to_owned()
}

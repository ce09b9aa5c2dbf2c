//! What coding agents have written down by themselves, and what people have written down for them.
//!
//! Comes in: instruction files (`CLAUDE.md`, `AGENTS.md`) and agents' own memory files. Goes out: points of instructions as records, what an
//! agent learned about working here as preferences, the rest as notes, word for word. Never here: what is about the person and not about the
//! project; what names another project; the same text twice, whenever its file was touched.

use super::import::Imported;
use super::markdown::{front_matter, points, sections};
use super::sort::{MAX_FILE, Source};
use crate::call::Call;
use crate::capture::triage::kinds_heard;
use crate::files;
use crate::gate::Entry;
use crate::shelf::notes::{Given as NoteGiven, Moment, NoteDraft};
use crate::shelf::records::{Given, Said, compose, name_for};
use crate::shelf::{Listing, Shelf as _};
use heirloom_core::{Code, Fault, MemoryId, ShelfName, fault::Result, text, time};
use jiff::Timestamp;
use std::collections::HashSet;

/// How a point begins that says how to work here.
const ORDERS: [&str; 11] =
    ["always", "never", "must", "do not", "don't", "avoid", "use", "run", "keep", "write", "no"];
/// Kinds that a point of an instruction file can be; an error it mentions is no runbook.
const KINDS: [&str; 4] = ["decision", "constraint", "tech_debt", "preference"];
/// Shorter points say too little on their own.
const POINT_MIN: usize = 12;

/// Takes the points of an instruction file that say what holds.
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
    for point in points(&text) {
        match kind_of(&point) {
            Some(kind) => record(
                call,
                source,
                kind,
                Given { sentence: point, ..Given::default() },
                entry,
                report,
                origins,
            )?,
            None => report.at(ShelfName::Records).left_out += 1,
        }
    }
    Ok(())
}

fn kind_of(point: &str) -> Option<&'static str> {
    if point.chars().count() < POINT_MIN || point.starts_with('@') {
        return None;
    }
    let heard = kinds_heard(point);
    let plain = point.trim_start_matches(['*', '_', '`']).to_lowercase();
    let orders = || {
        ORDERS.iter().any(|order| {
            plain.strip_prefix(order).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
        })
    };
    KINDS.into_iter().find(|kind| heard.contains(kind)).or_else(|| orders().then_some("preference"))
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
    let at = field("modified").and_then(time::parse).unwrap_or_else(|| touched(source));
    let known = bodies(call)?;
    match field("type") {
        Some("user") => {
            report.at(ShelfName::Records).left_out += 1;
            report.notes.push(format!(
                "{}: it is about you, not about the project, and stays where it is",
                source.shown
            ));
            Ok(())
        }
        Some("feedback") => {
            let title = field("description").or_else(|| field("name")).map(str::to_owned);
            let sentence = body.trim().to_owned();
            record(
                call,
                source,
                "preference",
                Given { sentence, title, ..Given::default() },
                entry,
                report,
                origins,
            )
        }
        Some(_) => note(
            call,
            source,
            field("description").unwrap_or_default(),
            body.trim(),
            at,
            &known,
            entry,
            report,
            origins,
        ),
        None => {
            for section in sections(body).iter().filter(|section| is_of_here(section.text, source)) {
                note(call, source, section.title, section.text, at, &known, entry, report, origins)?;
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

fn read(source: &Source) -> Result<String> {
    files::read_text(&source.path, MAX_FILE)?.ok_or_else(|| {
        Fault::new(Code::NotFound, format!("`{}` is no longer there", source.shown)).hint("import it again")
    })
}

fn record(
    call: &Call,
    source: &Source,
    kind: &str,
    given: Given,
    entry: Entry,
    report: &mut Imported,
    origins: &mut Vec<(String, String)>,
) -> Result<()> {
    let Some(category) = call.settings().category(kind).filter(|category| category.enabled) else {
        report.at(ShelfName::Records).left_out += 1;
        return Ok(());
    };
    let records = call.records();
    let outcome = compose(category, &given, &time::format(call.project().world().now)).and_then(|made| {
        let document = made.document;
        let name = name_for(document.text("title").unwrap_or_default());
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
        Ok(None) => report.at(ShelfName::Records).known += 1,
        Ok(Some(id)) => {
            origins.push((id.clone(), source.shown.clone()));
            report.at(ShelfName::Records).new.push(id);
        }
        Err(fault) => {
            let point = call.screen().redacted(&text::one_line(&given.sentence));
            let from = format!("{}: {}", source.shown, text::cut(&point, 60));
            report.refuse(ShelfName::Records, from, fault)?;
        }
    }
    Ok(())
}

#[allow(clippy::too_many_arguments, reason = "a note's parts and where they are reported")]
fn note(
    call: &Call,
    source: &Source,
    subject: &str,
    body: &str,
    at: Timestamp,
    known: &HashSet<String>,
    entry: Entry,
    report: &mut Imported,
    origins: &mut Vec<(String, String)>,
) -> Result<()> {
    let rules = &call.settings().notes;
    let mut draft = NoteDraft::of(body, Moment::of(at), rules.max_keywords);
    let subject = text::one_line(subject);
    if !subject.is_empty() && draft.check().is_ok() {
        let derived = std::mem::replace(&mut draft.subject, NoteGiven::Yes(subject));
        if draft.check().is_err() {
            draft.subject = derived;
        }
    }
    // A heading alone, or more than a message may be.
    let several = body.lines().filter(|line| !line.trim().is_empty()).nth(1).is_some();
    if !several || draft.check().is_err() || body.chars().count() > rules.max_chars {
        report.at(ShelfName::Notes).left_out += 1;
        return Ok(());
    }
    if known.contains(call.screen().redacted(body).trim()) {
        report.at(ShelfName::Notes).known += 1;
        return Ok(());
    }
    match call.notes().create(draft, entry) {
        Ok(kept) if kept.done.status == "created" => {
            let id = kept.done.id.to_string();
            origins.push((id.clone(), source.shown.clone()));
            report.at(ShelfName::Notes).new.push(id);
        }
        Ok(_) => report.at(ShelfName::Notes).known += 1,
        Err(fault) => {
            report.refuse(ShelfName::Notes, format!("{}: {}", source.shown, source_part(body)), fault)?
        }
    }
    Ok(())
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

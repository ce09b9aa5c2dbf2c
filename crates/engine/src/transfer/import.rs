//! Importing: each file to its shelf, and a report.
//!
//! Comes in: sorted files and how they arrive. Goes out: what is new, what was here, what waits for a person, what was refused and why.
//! Never here: a refusal that stops the rest; more trust for a file's words than its channel gives.

use super::report::{Choice, DROPPED, Imported, RETIRED, Refused};
use super::run::Run;
use super::sort::{MAX_FILE, Sort, Source};
use super::{agent_memory, exports, record};
use crate::call::Call;
use crate::capture::{self, transcript};
use crate::files;
use crate::gate::Entry;
use crate::shelf::provenance;
use crate::shelf::topics::TopicFile;
use heirloom_core::{Code, ShelfName, fault::Result, text};

/// Brings files to their shelves. `read` is told how many were looked at.
pub fn import(
    call: &Call,
    sources: &[Source],
    entry: Entry,
    choice: &Choice,
    read: &mut dyn FnMut(usize),
) -> Result<Imported> {
    brought(call, sources, entry, choice, None, read)
}

/// Somebody who knows already what becomes of each record's file, in their order, and says so in the report.
pub(super) type Known<'k> = dyn FnMut(&Source, &mut Imported) -> Result<()> + 'k;

/// The same, with records that somebody else looks after.
pub(super) fn brought(
    call: &Call,
    sources: &[Source],
    entry: Entry,
    choice: &Choice,
    mut known: Option<&mut Known<'_>>,
    read: &mut dyn FnMut(usize),
) -> Result<Imported> {
    let mut run = Run::new(call, entry, sources.len(), choice);
    let forgotten = provenance::forgotten(call.project().root())?;
    let mut notes = Vec::new();
    for (at, source) in sources.iter().enumerate() {
        read(at);
        if choice.drops(&source.shown) {
            run.report.leave(ShelfName::Records, &source.shown, "the whole file", DROPPED);
            continue;
        }
        match source.sort {
            Sort::Note => {
                let text = run.text(source, ShelfName::Notes)?;
                notes.extend(text.map(|text| (source.shown.clone(), text)));
            }
            Sort::Record => match &mut known {
                Some(known) => known(source, &mut run.report)?,
                None => record::take(&mut run, source, &forgotten)?,
            },
            Sort::TopicFile => lessons(&mut run, source)?,
            Sort::Vault => vault(&mut run, source)?,
            Sort::Transcript => talk(&mut run, source)?,
            Sort::Instructions => agent_memory::instructions(&mut run, source)?,
            Sort::AgentMemory => agent_memory::memory(&mut run, source)?,
            Sort::Adr => exports::adr(&mut run, source)?,
            Sort::BasicMemory => exports::basic_memory(&mut run, source)?,
            Sort::ClaudeMem => exports::claude_mem(&mut run, source)?,
            Sort::Derived => {}
            Sort::Unknown => run.report.not_recognised.push(source.shown.clone()),
        }
    }
    stored_notes(&mut run, notes)?;
    run.end()
}

/// Notes arrive together: whether one is here already is asked once for all of them.
fn stored_notes(run: &mut Run<'_>, notes: Vec<(String, String)>) -> Result<()> {
    if notes.is_empty() {
        return Ok(());
    }
    for brought in run.call.notes().import(notes, run.entry)? {
        match brought.kept {
            Ok(kept) if kept.done.status == "created" => {
                run.report.at(ShelfName::Notes).new.push(kept.done.id.to_string());
                let said = kept.done.notes.into_iter().map(|note| format!("{}: {note}", brought.from));
                run.report.notes.extend(said);
            }
            Ok(_) => run.report.at(ShelfName::Notes).known += 1,
            Err(fault) => run.report.refuse(ShelfName::Notes, brought.from, fault)?,
        }
    }
    Ok(())
}

fn lessons(run: &mut Run<'_>, source: &Source) -> Result<()> {
    let Some(text) = run.text(source, ShelfName::Topics)? else { return Ok(()) };
    let taken = run.call.topics().import(&TopicFile::at(&source.path, text), run.entry)?;
    run.report.at(ShelfName::Topics).known += taken.known;
    run.report.leave_some(ShelfName::Topics, source, taken.retired, "lessons", RETIRED);
    for done in taken.stored {
        run.stored(ShelfName::Topics, done.id.to_string(), source);
    }
    if taken.foreign_lines > 0 {
        let lines = taken.foreign_lines;
        run.report
            .notes
            .push(format!("{}: left out {lines} lines that belong to no dated entry", source.shown));
    }
    for (title, fault) in taken.refused {
        let title = run.call.screen().redacted(&text::one_line(&title));
        run.report.refuse(ShelfName::Topics, format!("{}: {title}", source.shown), fault)?;
    }
    Ok(())
}

fn vault(run: &mut Run<'_>, source: &Source) -> Result<()> {
    let bytes = match files::read(&source.path, MAX_FILE) {
        Ok(bytes) => bytes,
        Err(fault) => return run.report.refuse(ShelfName::Vault, source.shown.clone(), fault),
    };
    let done = run.call.vault().import(&bytes, run.entry)?;
    run.report.at(ShelfName::Vault).known += done.unchanged;
    for id in done.imported {
        run.stored(ShelfName::Vault, id, source);
    }
    for not in done.refused {
        if not.code == Code::NeedsConfirmation.name() {
            run.report.at(ShelfName::Vault).waiting += 1;
            continue;
        }
        run.report.refused.push(Refused {
            from: format!("{} line {}", source.shown, not.line),
            code: not.code,
            message: not.message,
            next: "correct that line there, or leave it out".to_owned(),
        });
    }
    if done.unreadable > 0 {
        run.report
            .notes
            .push(format!("{}: left out {} lines that cannot be read", source.shown, done.unreadable));
    }
    Ok(())
}

fn talk(run: &mut Run<'_>, source: &Source) -> Result<()> {
    let mut turns = match transcript::open(&source.path, transcript::Limits::default()) {
        Ok(turns) => turns,
        Err(fault) if fault.code == Code::Input => {
            return run.report.refuse(ShelfName::Notes, source.shown.clone(), fault);
        }
        Err(fault) => return Err(fault),
    };
    let captured = capture::keep_all(run.call, &mut turns)?;
    run.report.at(ShelfName::Notes).known += captured.known;
    let why = "a message of one line, or longer than a note may be";
    run.report.leave_some(ShelfName::Notes, source, captured.passed_over, "messages", why);
    for kept in captured.stored {
        run.stored(ShelfName::Notes, kept.done.id.to_string(), source);
    }
    for fault in captured.refused {
        run.report.refuse(ShelfName::Notes, source.shown.clone(), fault)?;
    }
    if turns.left_out() > 0 {
        run.report.notes.push(format!(
            "{}: left out {} lines that cannot be read",
            source.shown,
            turns.left_out()
        ));
    }
    if turns.cut_short() {
        run.report.notes.push(format!("{}: too long; left out everything beyond the limit", source.shown));
    }
    Ok(())
}

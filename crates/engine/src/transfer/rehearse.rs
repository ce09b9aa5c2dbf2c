//! Rehearsing: what an import would do.
//!
//! Comes in: a call and sorted files. Goes out: the report of the import itself. Records are weighed one by one by the checks of the import and
//! stored nowhere, because there may be many thousands; everything else, and records that others of these files could make too, is imported into
//! a copy, so that the preview cannot say anything else than what will happen. The copy lies in the user's own data folder, readable by nobody
//! else, and goes away however this ends. Never here: a byte changed in the project, its external memory, its audit or its inbox.

use super::import::{Known, brought};
use super::record::{NewRecord, Weighed, differs, same, weighed};
use super::report::{Choice, Imported, RETIRED};
use super::sort::{MAX_FILE, Sort, Source};
use super::stage::Stage;
use crate::call::Call;
use crate::files::{self, Mode};
use crate::gate::Entry;
use crate::project::{Project, World};
use crate::shelf::notes::read_file;
use crate::shelf::provenance;
use crate::shelf::records::Document;
use crate::threads;
use heirloom_core::settings::External;
use heirloom_core::{Fault, Kind, MemoryId, ShelfName, fault::Result};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Records weighed between two words about how far it is.
const STRETCH: usize = 1_000;

/// What [`super::import`] would do.
pub fn rehearse(
    call: &Call,
    sources: &[Source],
    entry: Entry,
    choice: &Choice,
    read: &mut dyn FnMut(usize),
) -> Result<Imported> {
    // Points of an agent's file become records: they and the records beside them must see each other.
    let makes_records = |source: &Source| source.sort.makes_records();
    let needs_copy = |source: &Source| !matches!(source.sort, Sort::Record | Sort::Derived | Sort::Unknown);
    let mut report = if sources.iter().any(makes_records) {
        on_a_copy(call, sources, entry, choice, None, read)?
    } else {
        let records: Vec<&Source> = sources.iter().filter(|source| source.sort == Sort::Record).collect();
        let mut would = weigh(call, &records, entry, read)?.into_iter();
        let mut plan = Plan { call, planned: HashMap::new(), room: HashMap::new() };
        let mut known = |source: &Source, report: &mut Imported| match would.next() {
            Some(would) => plan.tell(source, would, report),
            None => Ok(()),
        };
        match sources.iter().any(needs_copy) {
            true => on_a_copy(call, sources, entry, choice, Some(&mut known), &mut |_| {})?,
            false => brought(call, sources, entry, choice, Some(&mut known), &mut |_| {})?,
        }
    };
    report.dry_run = true;
    unnamed_notes(sources, &mut report);
    Ok(report)
}

/// A note that brings no id gets a random one when it is stored; none that was made for a copy is told.
fn unnamed_notes(sources: &[Source], report: &mut Imported) {
    let id = |source: &Source| {
        let text = files::read_text(&source.path, MAX_FILE).ok().flatten()?;
        read_file(&text).ok().map(|note| note.id.memory_id().to_string())
    };
    let brought: HashSet<String> =
        sources.iter().filter(|source| source.sort == Sort::Note).filter_map(id).collect();
    for arrivals in report.shelves.iter_mut().filter(|arrivals| arrivals.shelf == ShelfName::Notes) {
        for id in arrivals.new.iter_mut().filter(|id| !brought.contains(*id)) {
            *id = MemoryId::new(&Kind::Note, "new").to_string();
        }
    }
}

fn on_a_copy(
    call: &Call,
    sources: &[Source],
    entry: Entry,
    choice: &Choice,
    known: Option<&mut Known<'_>>,
    read: &mut dyn FnMut(usize),
) -> Result<Imported> {
    let world = call.project().world();
    let copy = Stage::open(call, "rehearsal")?;
    let copy = copy.folder();
    let root = copy.join("project/.claude/memory");
    let is_needed = |name: &str| known.is_none() || call.settings().category_of_folder(name).is_none();
    duplicate(call.project().root().folder(), &root, &is_needed)?;
    let topics = call.topics().base();
    if !topics.starts_with(call.project().root().folder()) {
        duplicate(&topics, &root.join("topics"), &|_| true)?;
    }
    let mut settings = call.settings().clone();
    settings.memory_configuration = External::default();
    let project =
        Project::new(&copy.join("project"), &root, World { data: copy.join("data"), ..world.clone() });
    brought(&Call::new(project, settings), sources, entry, choice, known, read)
}

/// What would become of one record's file, by itself.
enum Would<'c> {
    Store(Box<NewRecord<'c>>),
    Known,
    LeftOut,
    Refuse(Fault),
}

/// Weighs records, many at a time.
fn weigh<'c>(
    call: &'c Call,
    sources: &[&Source],
    entry: Entry,
    read: &mut dyn FnMut(usize),
) -> Result<Vec<Would<'c>>> {
    let forgotten = provenance::forgotten(call.project().root())?;
    // Made once, before two threads ask for it.
    call.screen();
    let one = |source: &Source| -> Result<Would<'c>> {
        let bytes = files::read(&source.path, MAX_FILE)?;
        let new = match weighed(call, source, &bytes, &forgotten)? {
            Weighed::New(new) => new,
            Weighed::Known => return Ok(Would::Known),
            Weighed::LeftOut => return Ok(Would::LeftOut),
        };
        call.records().would_create(&new.target, new.category, new.document.clone(), entry)?;
        Ok(Would::Store(new))
    };
    let mut all = Vec::with_capacity(sources.len());
    for some in sources.chunks(STRETCH) {
        all.extend(threads::halves(some, |some, found| {
            found.extend(some.iter().map(|source| one(source).unwrap_or_else(Would::Refuse)));
        }));
        read(all.len());
    }
    Ok(all)
}

/// What the files before one leave for it: two files of one name are one record, and a full category takes no more.
struct Plan<'c> {
    call: &'c Call,
    planned: HashMap<MemoryId, Document>,
    room: HashMap<String, Option<usize>>,
}

impl<'c> Plan<'c> {
    fn tell(&mut self, source: &Source, would: Would<'c>, report: &mut Imported) -> Result<()> {
        let new = match would {
            Would::Store(new) => new,
            Would::Known => {
                report.at(ShelfName::Records).known += 1;
                return Ok(());
            }
            Would::LeftOut => {
                report.leave(ShelfName::Records, &source.shown, "the whole file", RETIRED);
                return Ok(());
            }
            Would::Refuse(fault) => return report.refuse(ShelfName::Records, source.shown.clone(), fault),
        };
        match self.planned.get(&new.id) {
            Some(first) if same(first, &new.document) => {
                report.at(ShelfName::Records).known += 1;
                return Ok(());
            }
            Some(_) => return report.refuse(ShelfName::Records, source.shown.clone(), differs(&new.id)),
            None => {}
        }
        let records = self.call.records();
        let left =
            self.room.entry(new.category.name().to_owned()).or_insert_with(|| records.room(new.category));
        if *left == Some(0) {
            return report.refuse(ShelfName::Records, source.shown.clone(), records.no_room(new.category));
        }
        // What goes to the archive takes no place among those in use.
        if !new.archived {
            *left = left.map(|left| left - 1);
        }
        report.at(ShelfName::Records).new.push(new.id.to_string());
        self.planned.insert(new.id, new.document);
        Ok(())
    }
}

/// Copies the files that an import looks at. Links and hidden folders stay behind: nothing that counts is in them.
fn duplicate(from: &Path, to: &Path, is_needed: &dyn Fn(&str) -> bool) -> Result<()> {
    files::make_folder(to, Mode::Private)?;
    let Ok(entries) = std::fs::read_dir(from) else { return Ok(()) };
    for entry in entries.flatten() {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let Ok(kind) = entry.file_type() else { continue };
        let hidden_folder = entry.file_name().as_encoded_bytes().starts_with(b".") && kind.is_dir();
        if kind.is_dir() && !hidden_folder && is_needed(&entry.file_name().to_string_lossy()) {
            duplicate(&source, &target, &|_| true)?;
        } else if kind.is_file() {
            std::fs::copy(&source, &target).map_err(|e| Fault::io(&source, "copy", &e))?;
        }
    }
    Ok(())
}

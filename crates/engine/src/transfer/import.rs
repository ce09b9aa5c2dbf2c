//! Importing: each file to its shelf, and a report.
//!
//! Comes in: sorted files and how they arrive. Goes out: what is new, what was here, what waits for a person, what was refused and why.
//! Never here: a refusal that stops the rest; more trust for a file's words than its channel gives.

use super::sort::{MAX_FILE, Sort, Source};
use super::{agent_memory, exports};
use crate::call::Call;
use crate::capture::{self, transcript};
use crate::files;
use crate::gate::Entry;
use crate::gate::policy::Row;
use crate::shelf::forgets::Forgets;
use crate::shelf::provenance::{self, Line};
use crate::shelf::records::{Document, Said, Target, name_for};
use crate::shelf::topics::TopicFile;
use heirloom_core::settings::Category;
use heirloom_core::{Code, Fault, MemoryId, ShelfName, Status, fault::Result, text, time};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// How much of a line is shown that nothing was made of, in characters.
const LEFT_SHOWN: usize = 200;

/// What an import did, or would do.
#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
pub struct Imported {
    /// Whether nothing was really stored.
    pub dry_run: bool,
    /// Files that were looked at.
    pub files: usize,
    /// What arrived, shelf by shelf.
    pub shelves: Vec<Arrivals>,
    /// What was not taken, and why.
    pub refused: Vec<Refused>,
    /// Files that are nothing Heirloom knows.
    pub not_recognised: Vec<String>,
    /// What else there is to say.
    pub notes: Vec<String>,
    /// Each memory that was made of a statement or of a file, in the order of the files.
    pub memories: Vec<Arriving>,
    /// Each line that nothing was made of, and why.
    pub left_out: Vec<Left>,
    /// What the person wants otherwise.
    #[serde(skip)]
    pub(super) choice: Choice,
}

/// A memory that arrives.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Arriving {
    /// By which it can be dropped or changed: the file, and the line in it.
    pub from: String,
    /// Its kind.
    pub kind: String,
    /// Its title.
    pub title: String,
}

/// A line that nothing was made of.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Left {
    /// The file, and the line in it.
    pub from: String,
    /// How it begins.
    pub text: String,
    /// Why.
    pub why: String,
}

/// What a person wants otherwise than it was shown to them, by `from`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// What is not to arrive.
    #[serde(default)]
    pub dropped: Vec<String>,
    /// What is to arrive in other words or as another kind.
    #[serde(default)]
    pub changed: Vec<Changed>,
}

/// Other words, or another kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Changed {
    /// Which one.
    pub from: String,
    /// The kind it is to be.
    pub kind: String,
    /// What it is to say.
    pub text: String,
}

impl Choice {
    pub(super) fn drops(&self, from: &str) -> bool {
        self.dropped.iter().any(|dropped| dropped == from)
    }

    pub(super) fn change(&self, from: &str) -> Option<&Changed> {
        self.changed.iter().find(|changed| changed.from == from)
    }
}

/// What arrived on a shelf.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Arrivals {
    /// The shelf.
    pub shelf: ShelfName,
    /// Memories that are new here.
    pub new: Vec<String>,
    /// Memories that were here already.
    pub known: usize,
    /// Memories that wait for a person's yes.
    pub waiting: usize,
    /// What was left out on purpose: retired memories, messages of one line.
    pub left_out: usize,
}

/// Something that was not taken.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Refused {
    /// The file, and the place in it.
    pub from: String,
    /// The error code.
    pub code: &'static str,
    /// Why.
    pub message: String,
    /// What to do.
    pub next: String,
}

impl Imported {
    /// New memories on all shelves.
    pub fn new_count(&self) -> usize {
        self.shelves.iter().map(|shelf| shelf.new.len()).sum()
    }

    pub(super) fn at(&mut self, shelf: ShelfName) -> &mut Arrivals {
        let at = self.shelves.iter().position(|one| one.shelf == shelf).unwrap_or_else(|| {
            self.shelves.push(Arrivals { shelf, new: Vec::new(), known: 0, waiting: 0, left_out: 0 });
            self.shelves.len() - 1
        });
        &mut self.shelves[at]
    }

    /// A memory arrived.
    pub(super) fn arrives(&mut self, from: &str, kind: &str, title: &str) {
        self.memories.push(Arriving {
            from: from.to_owned(),
            kind: kind.to_owned(),
            title: text::one_line(title),
        });
    }

    /// Nothing was made of a line.
    pub(super) fn leave(&mut self, shelf: ShelfName, from: &str, line: &str, why: &str) {
        self.at(shelf).left_out += 1;
        self.left_out.push(Left {
            from: from.to_owned(),
            text: text::cut(&text::one_line(line), LEFT_SHOWN).to_owned(),
            why: why.to_owned(),
        });
    }

    /// A file may be named after what nobody should read.
    fn clean(&mut self, call: &Call) {
        let clean = |text: &mut String| *text = call.screen().redacted(text);
        self.not_recognised.iter_mut().chain(&mut self.notes).for_each(clean);
        for one in &mut self.refused {
            [&mut one.from, &mut one.message, &mut one.next].into_iter().for_each(clean);
        }
        for one in &mut self.left_out {
            [&mut one.from, &mut one.text].into_iter().for_each(clean);
        }
        for one in &mut self.memories {
            [&mut one.from, &mut one.title].into_iter().for_each(clean);
        }
    }

    /// Counts what is only waiting, lists what was refused, and ends the import for what concerns the store itself.
    pub(super) fn refuse(&mut self, shelf: ShelfName, from: String, fault: Fault) -> Result<()> {
        match fault.code {
            Code::Io | Code::LockBusy => return Err(fault),
            Code::NeedsConfirmation => self.at(shelf).waiting += 1,
            code => self.refused.push(Refused {
                from,
                code: code.name(),
                next: fault.next_step().to_owned(),
                message: fault.message,
            }),
        }
        Ok(())
    }
}

/// Why something is left out that a person dropped.
pub(super) const DROPPED: &str = "dropped by you";

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
    let mut report = Imported { files: sources.len(), choice: choice.clone(), ..Imported::default() };
    let forgotten = provenance::forgotten(call.project().root())?;
    let mut origins: Vec<(String, String)> = Vec::new();
    let mut notes = Vec::new();
    for (at, source) in sources.iter().enumerate() {
        read(at);
        if choice.drops(&source.shown) {
            report.leave(ShelfName::Records, &source.shown, "the whole file", DROPPED);
            continue;
        }
        match source.sort {
            Sort::Note => match read_text(source) {
                Ok(text) => notes.push((source.shown.clone(), text)),
                Err(fault) => report.refuse(ShelfName::Notes, source.shown.clone(), fault)?,
            },
            Sort::Record => match &mut known {
                Some(known) => known(source, &mut report)?,
                None => record(call, source, entry, &forgotten, &mut report, &mut origins)?,
            },
            Sort::TopicFile => lessons(call, source, entry, &mut report, &mut origins)?,
            Sort::Vault => vault(call, source, entry, &mut report, &mut origins)?,
            Sort::Transcript => talk(call, source, &mut report, &mut origins)?,
            Sort::Instructions => agent_memory::instructions(call, source, entry, &mut report, &mut origins)?,
            Sort::AgentMemory => agent_memory::memory(call, source, entry, &mut report, &mut origins)?,
            Sort::Adr => exports::adr(call, source, entry, &mut report, &mut origins)?,
            Sort::BasicMemory => exports::basic_memory(call, source, entry, &mut report, &mut origins)?,
            Sort::ClaudeMem => exports::claude_mem(call, source, entry, &mut report, &mut origins)?,
            Sort::Derived => {}
            Sort::Unknown => report.not_recognised.push(source.shown.clone()),
        }
    }
    if !notes.is_empty() {
        for brought in call.notes().import(notes, entry)? {
            match brought.kept {
                Ok(kept) if kept.done.status == "created" => {
                    report.at(ShelfName::Notes).new.push(kept.done.id.to_string());
                    let said = kept.done.notes.into_iter().map(|note| format!("{}: {note}", brought.from));
                    report.notes.extend(said);
                }
                Ok(_) => report.at(ShelfName::Notes).known += 1,
                Err(fault) => report.refuse(ShelfName::Notes, brought.from, fault)?,
            }
        }
    }
    note_origins(call, &origins)?;
    report.shelves.sort_by_key(|shelf| shelf.shelf);
    report.clean(call);
    Ok(report)
}

/// Says beside the shelves where each new memory came from.
fn note_origins(call: &Call, origins: &[(String, String)]) -> Result<()> {
    if origins.is_empty() {
        return Ok(());
    }
    let at = time::format(call.project().world().now);
    let mut lines = Vec::with_capacity(origins.len());
    for (id, from) in origins {
        let hash = match MemoryId::parse(id) {
            Some(id) => call.shelf_of(&id)?.get(&id)?.map(|memory| memory.content_hash),
            None => None,
        };
        let from = json!(call.screen().redacted(from));
        lines.push(Line {
            id: id.clone(),
            hash: hash.unwrap_or_default(),
            at: at.clone(),
            did: "imported".to_owned(),
            more: Map::from_iter([("from".to_owned(), from)]),
        });
    }
    provenance::append(call.project().root(), &call.lock()?, &lines)
}

fn read_text(source: &Source) -> Result<String> {
    files::read_text(&source.path, MAX_FILE)?.ok_or_else(|| {
        Fault::new(Code::NotFound, format!("`{}` no longer exists", source.shown)).hint("import it again")
    })
}

fn record(
    call: &Call,
    source: &Source,
    entry: Entry,
    forgotten: &Forgets,
    report: &mut Imported,
    origins: &mut Vec<(String, String)>,
) -> Result<()> {
    let outcome = files::read(&source.path, MAX_FILE)
        .and_then(|bytes| take_record(call, source, &bytes, entry, forgotten));
    match outcome {
        Ok(Took::New(id)) => {
            origins.push((id.clone(), source.shown.clone()));
            report.at(ShelfName::Records).new.push(id);
        }
        Ok(Took::Known) => report.at(ShelfName::Records).known += 1,
        Ok(Took::LeftOut) => report.leave(ShelfName::Records, &source.shown, "the whole file", RETIRED),
        Err(fault) => report.refuse(ShelfName::Records, source.shown.clone(), fault)?,
    }
    Ok(())
}

/// Why a record is left out that is out of use where it comes from.
pub(super) const RETIRED: &str = "it is retired there";

enum Took {
    New(String),
    Known,
    LeftOut,
}

fn take_record(
    call: &Call,
    source: &Source,
    bytes: &[u8],
    entry: Entry,
    forgotten: &Forgets,
) -> Result<Took> {
    let new = match weighed(call, source, bytes, forgotten)? {
        Weighed::New(new) => new,
        Weighed::Known => return Ok(Took::Known),
        Weighed::LeftOut => return Ok(Took::LeftOut),
    };
    let records = call.records();
    records.create(&new.target, new.category, new.document, entry, &mut Said::default())?;
    if new.archived {
        records.archive_target(&new.target, Some("archived where it was imported from"), entry)?;
    }
    Ok(Took::New(new.id.to_string()))
}

/// What a record's file is to this project.
pub(super) enum Weighed<'c> {
    /// Something to store.
    New(Box<NewRecord<'c>>),
    /// Here already.
    Known,
    /// Retired where it comes from.
    LeftOut,
}

/// A record that could be stored.
pub(super) struct NewRecord<'c> {
    pub(super) id: MemoryId,
    pub(super) category: &'c Category,
    pub(super) target: Target,
    pub(super) document: Document,
    pub(super) archived: bool,
}

/// Looks at a record's file without storing anything.
pub(super) fn weighed<'c>(
    call: &'c Call,
    source: &Source,
    bytes: &[u8],
    forgotten: &Forgets,
) -> Result<Weighed<'c>> {
    let mut document = Document::parse(bytes).map_err(|why| {
        Fault::new(Code::Input, format!("not a record: {why}"))
            .hint("give one JSON object with title and content")
    })?;
    let category = category_of(call, source, &document)?;
    let stem = source.path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    call.screen().raw(Row::Records, "file name", &stem)?;
    let stem = text::slug(&stem);
    let name = if stem.is_empty() { name_for(document.text("title").unwrap_or_default()) } else { stem };
    let id = MemoryId::new(&category.kind, &name);
    let records = call.records();
    if let Some(here) = records.document(&id)? {
        return if same(&here, &document) { Ok(Weighed::Known) } else { Err(differs(&id)) };
    }
    if forgotten.contains(id.as_str()) {
        return Err(Fault::new(
            Code::AntiResurrection,
            format!("`{id}` was forgotten and is not stored again"),
        )
        .hint("rename the file if it should be kept after all"));
    }
    document.fill_name();
    let status = document.status();
    if status == Some(Status::Retired) {
        return Ok(Weighed::LeftOut);
    }
    let place = call.project().shown(&records.folder(category).join(format!("{name}.json")));
    let target = records.target(&place, call.project().folder())?;
    let archived = status == Some(Status::Archived);
    Ok(Weighed::New(Box::new(NewRecord { id, category, target, document, archived })))
}

/// The refusal for a record whose name is taken by another.
pub(super) fn differs(id: &MemoryId) -> Fault {
    Fault::new(Code::Create, format!("`{id}` exists and says something else")).fact("id", id.as_str()).hint(
        format!("compare both (`heirloom show {id}`), then change the one here with `heirloom edit {id}`"),
    )
}

/// The category a record names; one that names none has that of the folder it lies in.
fn category_of<'e>(call: &'e Call, source: &Source, document: &Document) -> Result<&'e Category> {
    let settings = call.settings();
    let folder = source.path.parent().and_then(|folder| folder.file_name()).map(|n| n.to_string_lossy());
    let named = document.text("category");
    let category = match named {
        Some(name) => settings.category(name),
        None => settings.category_of_folder(folder.as_deref().unwrap_or_default()),
    };
    category.ok_or_else(|| {
        let name = call.screen().redacted(&text::one_line(named.unwrap_or("nothing")));
        Fault::new(Code::Validation, format!("its category is `{name}`, which is not known here"))
            .fact("field", "category")
            .hint("add it with `heirloom config category add`, then import again")
    })
}

/// Whether two documents say the same; dates and statuses aside.
pub(super) fn same(a: &Document, b: &Document) -> bool {
    let tags = |document: &Document| -> HashSet<String> {
        document.tags().into_iter().map(text::clean_tag).filter(|tag| !tag.is_empty()).collect()
    };
    let title = |document: &Document| text::clean_title(document.text("title").unwrap_or_default());
    let (mine, other) = (tags(a), tags(b));
    // A record without tags was given one when it came in.
    let tags = mine == other || other.is_empty();
    tags && title(a) == title(b) && a.get("content").map(plain) == b.get("content").map(plain)
}

/// A value whose fields may stand in any order.
fn plain(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut pairs: Vec<(&String, &Value)> =
                map.iter().filter(|(_, value)| !value.is_null()).collect();
            pairs.sort_by_key(|(key, _)| *key);
            Value::Object(pairs.into_iter().map(|(key, value)| (key.clone(), plain(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(plain).collect()),
        other => other.clone(),
    }
}

fn lessons(
    call: &Call,
    source: &Source,
    entry: Entry,
    report: &mut Imported,
    origins: &mut Vec<(String, String)>,
) -> Result<()> {
    let text = match read_text(source) {
        Ok(text) => text,
        Err(fault) => return report.refuse(ShelfName::Topics, source.shown.clone(), fault),
    };
    let taken = call.topics().import(&TopicFile::at(&source.path, text), entry)?;
    let shelf = report.at(ShelfName::Topics);
    shelf.known += taken.known;
    shelf.left_out += taken.retired;
    for done in taken.stored {
        origins.push((done.id.to_string(), source.shown.clone()));
        shelf.new.push(done.id.to_string());
    }
    if taken.foreign_lines > 0 {
        let lines = taken.foreign_lines;
        report.notes.push(format!("{}: left out {lines} lines that belong to no dated entry", source.shown));
    }
    for (title, fault) in taken.refused {
        let title = call.screen().redacted(&text::one_line(&title));
        report.refuse(ShelfName::Topics, format!("{}: {title}", source.shown), fault)?;
    }
    Ok(())
}

fn vault(
    call: &Call,
    source: &Source,
    entry: Entry,
    report: &mut Imported,
    origins: &mut Vec<(String, String)>,
) -> Result<()> {
    let bytes = match files::read(&source.path, MAX_FILE) {
        Ok(bytes) => bytes,
        Err(fault) => return report.refuse(ShelfName::Vault, source.shown.clone(), fault),
    };
    let done = call.vault().import(&bytes, entry)?;
    let shelf = report.at(ShelfName::Vault);
    shelf.known += done.unchanged;
    origins.extend(done.imported.iter().map(|id| (id.clone(), source.shown.clone())));
    shelf.new.extend(done.imported);
    for not in done.refused {
        if not.code == Code::NeedsConfirmation.name() {
            report.at(ShelfName::Vault).waiting += 1;
            continue;
        }
        report.refused.push(Refused {
            from: format!("{} line {}", source.shown, not.line),
            code: not.code,
            message: not.message,
            next: "correct that line there, or leave it out".to_owned(),
        });
    }
    if done.unreadable > 0 {
        report
            .notes
            .push(format!("{}: {} lines cannot be read and were left out", source.shown, done.unreadable));
    }
    Ok(())
}

fn talk(
    call: &Call,
    source: &Source,
    report: &mut Imported,
    origins: &mut Vec<(String, String)>,
) -> Result<()> {
    let mut turns = match transcript::open(&source.path, transcript::Limits::default()) {
        Ok(turns) => turns,
        Err(fault) if fault.code == Code::Input => {
            return report.refuse(ShelfName::Notes, source.shown.clone(), fault);
        }
        Err(fault) => return Err(fault),
    };
    let captured = capture::keep_all(call, &mut turns)?;
    let shelf = report.at(ShelfName::Notes);
    shelf.known += captured.known;
    if captured.passed_over > 0 {
        shelf.left_out += captured.passed_over;
        report.left_out.push(Left {
            from: source.shown.clone(),
            text: format!("{} messages", captured.passed_over),
            why: "a message of one line, or longer than a note may be".to_owned(),
        });
    }
    let shelf = report.at(ShelfName::Notes);
    for kept in captured.stored {
        origins.push((kept.done.id.to_string(), source.shown.clone()));
        shelf.new.push(kept.done.id.to_string());
    }
    for fault in captured.refused {
        report.refuse(ShelfName::Notes, source.shown.clone(), fault)?;
    }
    if turns.left_out() > 0 {
        report.notes.push(format!(
            "{}: {} lines cannot be read and were left out",
            source.shown,
            turns.left_out()
        ));
    }
    if turns.cut_short() {
        report
            .notes
            .push(format!("{}: it is very long; what is beyond the limit was left out", source.shown));
    }
    Ok(())
}

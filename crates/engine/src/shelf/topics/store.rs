//! Storing: a lesson that passed the gate goes to the top of its topic file, and what no longer fits goes to the archive.
//!
//! Comes in: a lesson and how it arrived. Goes out: its id. All files are written beside their places before the audit is told and any of
//! them is put in place; the order of that is: archive, topic file, index. A process that dies in between leaves an entry in two places, never in none; the next write to that topic takes the copy out of the archive, and
//! until then readers count it once. Never here: a write without the lock or of text that the gate has not seen.

use super::draft::LessonDraft;
use super::lesson::Lesson;
use super::names::{self, Register};
use super::page::Page;
use super::place::{Need, Place};
use super::stock::{self, Held, MAX_ARCHIVE, Part, Stock};
use super::{Topics, archive, index, prune, sync_git};
use crate::files::{self, Batch, LOCK_LIMIT, Lock, Mode};
use crate::gate::{Entry, Passed};
use crate::shelf::Done;
use crate::shelf::door::change::{Intent, Was, Written};
use heirloom_core::{Code, Fault, MemoryId, ShelfName, Status, fault::Result, hash};
use serde_json::json;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

const PAGE_STORED: &str = "page-stored";
const ARCHIVE_STORED: &str = "archive-stored";

/// A base that is locked for writing.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) lock: Lock,
    pub(super) place: Place,
    pub(super) stock: Stock,
    _shared: Option<Lock>,
}

/// An entry on its way into the archive.
pub(super) struct Leaving {
    pub(super) date: jiff::civil::Date,
    pub(super) plain: String,
    pub(super) subtopic: String,
    pub(super) retired: Option<String>,
}

impl Topics<'_> {
    /// Finds the place to write to and waits for the locks. The place comes first: a repository may have to be cloned, and nobody else is to wait
    /// for a host that takes its time.
    pub(super) fn open(&self) -> Result<Open> {
        let place = Place::find(self.call, Need::Write);
        let beside = place.lock_path()?;
        let lock = self.call.lock()?;
        self.found.replace(Some(place.clone()));
        if let Some(leads_out) = &place.blocked {
            return Err(leads_out.clone());
        }
        files::make_folder(&place.base, Mode::Shared)?;
        let shared = beside.map(|path| Lock::acquire(&path, LOCK_LIMIT)).transpose()?;
        let stock = Stock::new(&place.base);
        Ok(Open { lock, place, stock, _shared: shared })
    }

    /// Stores a lesson.
    pub fn store(&self, topic: &str, subtopic: &str, lesson: Lesson, entry: Entry) -> Result<Done> {
        let open = self.open()?;
        let given = (topic, subtopic);
        // A folder or file that somebody named by hand is used as it is called.
        let topic = match open.stock.topics().into_iter().find(|name| name == given.0) {
            Some(there) => there,
            None => names::topic(given.0)?,
        };
        let subtopic = match open.stock.subtopics(&topic).into_iter().find(|name| name == given.1) {
            Some(there) => there,
            None => names::subtopic(given.1)?,
        };
        let passed = self.pass(&open, (topic, subtopic), given, lesson, entry)?;
        let mut done = self.write_new(&open, passed)?;
        done.notes.extend(sync_git::after_write(self.call, open, &done.id));
        Ok(done)
    }

    fn pass(
        &self,
        open: &Open,
        names: (String, String),
        given: (&str, &str),
        lesson: Lesson,
        entry: Entry,
    ) -> Result<Passed<LessonDraft>> {
        // The audit names a refused lesson by its file and day; a title, or a name that is itself a secret, is content.
        let shown = self.call.screen().redacted(&format!("{}/{}", names.0, names.1));
        let shown = format!("lesson:{shown}#{}", lesson.date);
        let draft = LessonDraft::new(names, given, lesson, shown);
        self.call.pass(&open.lock, ShelfName::Topics, draft, entry, |draft| {
            json!({ "topic": draft.topic, "subtopic": draft.subtopic, "date": draft.lesson.date.to_string(),
                "title": draft.lesson.title, "context": draft.lesson.context, "problem": draft.lesson.problem,
                "solution": draft.lesson.solution, "code": draft.lesson.code, "text": draft.lesson.lead })
        })
    }

    fn write_new(&self, open: &Open, passed: Passed<LessonDraft>) -> Result<Done> {
        let draft = passed.draft();
        let (topic, subtopic, date) = (&draft.topic, &draft.subtopic, draft.lesson.date);
        let (path, mut page) = live_page(&open.stock, topic, subtopic)?;
        let mut batch = Batch::default();
        clear_leftovers(&open.stock, &mut batch, topic, subtopic, &page)?;
        let mut register = Register::default();
        for held in open.stock.entries(topic, Part { subtopic: Some(subtopic), year: Some(date.year()) }) {
            register.take(held.lesson.date, &held.slug);
        }
        let slug = register.take(date, &names::slug_of(&draft.lesson.title));
        let text = draft.lesson.write(&slug);
        page.insert(date, &text);
        let moved = settle(&open.stock, &mut batch, topic, subtopic, &path, &page)?;
        update_index(&open.stock, &mut batch, topic, subtopic, None)?;
        fill_index(&open.stock, &mut batch)?;
        let id = names::id(topic, subtopic, date, &slug);
        let ready = batch.prepare()?;
        let intent = self.intend(open, &passed, &id, &text, Was::Nothing)?;
        ready.place()?;
        intent.done();
        let mut done = self.done("created", id, open, &path);
        if moved > 0 {
            done.notes.push(format!("{moved} older {} moved to the archive", entries(moved)));
        }
        Ok(done)
    }

    /// Writes a lesson anew under its old id. `version` is what the caller read; a lesson that changed since is not overwritten.
    pub fn edit(&self, id: &MemoryId, lesson: Lesson, version: Option<&str>, entry: Entry) -> Result<Done> {
        let open = self.open()?;
        let held = open.stock.find(id).ok_or_else(|| crate::shelf::unknown(id.as_str()))?;
        expect_same(&held, id, &lesson, version)?;
        let names = (held.topic.clone(), held.subtopic.clone());
        let passed = self.pass(&open, names, (&held.topic, &held.subtopic), lesson, entry)?;
        let text = passed.draft().lesson.write(&held.slug);
        let (path, page) = live_page(&open.stock, &held.topic, &held.subtopic)?;
        let mut batch = Batch::default();
        clear_leftovers(&open.stock, &mut batch, &held.topic, &held.subtopic, &page)?;
        let page = page.replaced(held.at, &text);
        settle(&open.stock, &mut batch, &held.topic, &held.subtopic, &path, &page)?;
        update_index(&open.stock, &mut batch, &held.topic, &held.subtopic, Some(&held.lesson.title))?;
        let ready = batch.prepare()?;
        let was = Was::Text { id: id.as_str(), bytes: held.plain.as_bytes(), status: held.status };
        let intent = self.intend(&open, &passed, id, &text, was)?;
        ready.place()?;
        intent.done();
        let mut done = self.done("updated", id.clone(), &open, &path);
        done.notes.extend(sync_git::after_write(self.call, open, id));
        Ok(done)
    }

    /// What an edit would be refused for by the shelf, without the gate and without writing. For changes that wait.
    pub(crate) fn expect_edit(&self, id: &MemoryId, lesson: &Lesson, version: Option<&str>) -> Result<()> {
        let held = self.stock().find(id).ok_or_else(|| crate::shelf::unknown(id.as_str()))?;
        expect_same(&held, id, lesson, version)
    }

    /// Puts an earlier text of a lesson in place of the present one, whose hash must be `version`.
    pub(crate) fn put_back(&self, id: &MemoryId, text: &str, version: &str, entry: Entry) -> Result<Done> {
        let page = Page::read(text.to_owned());
        if page.spots().is_empty() {
            return Err(Fault::new(Code::Damaged, format!("the earlier text of `{id}` cannot be read"))
                .fact("id", id.as_str()));
        }
        self.edit(id, page.lesson(0), Some(version), entry)
    }

    /// What is said before a text is stored.
    fn intend<'c>(
        &'c self,
        open: &'c Open,
        passed: &Passed<LessonDraft>,
        id: &MemoryId,
        text: &str,
        was: Was<'_>,
    ) -> Result<Intent<'c>> {
        let body = passed.draft().lesson.body();
        let what = Written {
            body: &body,
            action: "memory_write",
            shelf: ShelfName::Topics,
            id: id.as_str(),
            hash: &hash::sha256(text.as_bytes()),
            before: None,
            size: text.len(),
            was,
            leaves: Status::Active,
        };
        self.call.intend(&open.lock, passed, what)
    }

    pub(super) fn done(&self, status: &'static str, id: MemoryId, open: &Open, path: &Path) -> Done {
        let mut notes = Vec::new();
        if let Some(fault) = &open.place.fault {
            notes.push(format!("{fault}; stored in the project's own memory"));
        }
        Done { status, id, path: Some(self.call.project().shown(path)), notes }
    }
}

/// Only a lesson in use changes, only the version somebody read, and never its day.
fn expect_same(held: &Held, id: &MemoryId, lesson: &Lesson, version: Option<&str>) -> Result<()> {
    if held.status != Status::Active {
        return Err(Fault::new(
            Code::Update,
            format!("`{id}` is {}, and only active lessons change", held.status.name()),
        )
        .fact("id", id.as_str())
        .hint("restore it first"));
    }
    if version.is_some_and(|version| version != held.hash) {
        return Err(Fault::new(Code::OccConflict, format!("`{id}` changed since it was read"))
            .fact("id", id.as_str()));
    }
    if lesson.date != held.lesson.date {
        return Err(Fault::new(
            Code::Validation,
            "the date of a lesson is part of its id and does not change",
        )
        .fact("field", "date")
        .hint("store a new lesson and retire this one"));
    }
    Ok(())
}

fn entries(n: usize) -> &'static str {
    if n == 1 { "entry" } else { "entries" }
}

/// A topic file, or a new one with its title.
pub(super) fn live_page(stock: &Stock, topic: &str, subtopic: &str) -> Result<(std::path::PathBuf, Page)> {
    let path = stock.live_path(topic, subtopic)?;
    let page = stock::read_page(&path, files::MAX_FILE)?;
    Ok((path, page.unwrap_or_else(|| Page::read(live_title(topic, subtopic)))))
}

fn live_title(topic: &str, subtopic: &str) -> String {
    format!("# {topic}: {subtopic}\n")
}

fn archive_title(topic: &str, year: i16) -> String {
    format!("# {topic}: archive of {year:04}\n")
}

/// Writes a topic file, after what no longer fits is in the archive. Returns how many entries move.
pub(super) fn settle(
    stock: &Stock,
    batch: &mut Batch,
    topic: &str,
    subtopic: &str,
    path: &Path,
    page: &Page,
) -> Result<usize> {
    let out = prune::leaving(page);
    let leaving: Vec<Leaving> = out
        .iter()
        .map(|at| Leaving {
            date: page.spots()[*at].heading.date,
            plain: page.plain(*at),
            subtopic: subtopic.to_owned(),
            retired: None,
        })
        .collect();
    to_archive(stock, batch, topic, &leaving)?;
    write_live(batch, topic, subtopic, path, &page.without(&out));
    Ok(out.len())
}

/// Writes a topic file; one that holds nothing but its own title goes.
pub(super) fn write_live(batch: &mut Batch, topic: &str, subtopic: &str, path: &Path, page: &Page) {
    if page.spots().is_empty() && is_title_only(page.text(), &live_title(topic, subtopic)) {
        batch.remove(path, PAGE_STORED);
    } else {
        batch.write(path, page.text().to_owned(), PAGE_STORED);
    }
}

fn is_title_only(text: &str, title: &str) -> bool {
    text.trim().is_empty() || text.trim() == title.trim()
}

/// Puts entries into the archive of their own year. One that is there already is not put there twice.
pub(super) fn to_archive(stock: &Stock, batch: &mut Batch, topic: &str, leaving: &[Leaving]) -> Result<()> {
    let mut years: BTreeMap<i16, Vec<&Leaving>> = BTreeMap::new();
    for entry in leaving {
        years.entry(entry.date.year()).or_default().push(entry);
    }
    for (year, entries) in years {
        let path = stock.archive_path(topic, year)?;
        let mut page =
            page_in(batch, &path, MAX_ARCHIVE)?.unwrap_or_else(|| Page::read(archive_title(topic, year)));
        let there: HashSet<(String, String)> =
            untagged(&page).map(|(_, tag, plain)| (stock::subtopic_of(&tag), plain)).collect();
        for entry in entries {
            if !there.contains(&(entry.subtopic.clone(), entry.plain.clone())) {
                page.insert(
                    entry.date,
                    &archive::tagged(&entry.plain, &entry.subtopic, entry.retired.as_deref()),
                );
            }
        }
        batch.write(&path, page.text().to_owned(), ARCHIVE_STORED);
    }
    Ok(())
}

/// A page as it will be.
fn page_in(batch: &Batch, path: &Path, limit: u64) -> Result<Option<Page>> {
    Ok(batch.read_text(path, limit)?.map(Page::read))
}

fn untagged(page: &Page) -> impl Iterator<Item = (usize, archive::Tag, String)> + '_ {
    (0..page.spots().len()).map(|at| {
        let (tag, plain) = archive::untagged(&page.plain(at));
        (at, tag, plain)
    })
}

/// Takes entries out of a topic's archive; a file that holds nothing but its own title goes.
pub(super) fn out_of_archive(
    stock: &Stock,
    batch: &mut Batch,
    topic: &str,
    year: i16,
    goes: impl Fn(&archive::Tag, &str) -> bool,
) -> Result<bool> {
    let path = stock.archive_path(topic, year)?;
    let Some(page) = page_in(batch, &path, MAX_ARCHIVE)? else { return Ok(false) };
    let out: Vec<usize> =
        untagged(&page).filter(|(_, tag, plain)| goes(tag, plain)).map(|(at, ..)| at).collect();
    if out.is_empty() {
        return Ok(false);
    }
    let rest = page.without(&out);
    if rest.spots().is_empty() && is_title_only(rest.text(), &archive_title(topic, year)) {
        batch.remove(&path, ARCHIVE_STORED);
    } else {
        batch.write(&path, rest.text().to_owned(), ARCHIVE_STORED);
    }
    Ok(true)
}

/// Finishes an interrupted move: what is word for word in the topic file is taken out of the archive.
pub(super) fn clear_leftovers(
    stock: &Stock,
    batch: &mut Batch,
    topic: &str,
    subtopic: &str,
    page: &Page,
) -> Result<bool> {
    let live: HashSet<String> = (0..page.spots().len()).map(|at| page.plain(at)).collect();
    let years: HashSet<i16> = page.spots().iter().map(|spot| spot.heading.date.year()).collect();
    let mut cleared = false;
    for year in years {
        cleared |= out_of_archive(stock, batch, topic, year, |tag, plain| {
            stock::subtopic_of(tag) == subtopic && live.contains(plain)
        })?;
    }
    Ok(cleared)
}

/// Brings the index up to date for one file. `gone` is a title that must not stay in a description.
pub(super) fn update_index(
    stock: &Stock,
    batch: &mut Batch,
    topic: &str,
    subtopic: &str,
    gone: Option<&str>,
) -> Result<()> {
    let path = stock.index_path();
    let old = batch.read_text(&path, files::MAX_FILE)?.unwrap_or_default();
    let page = page_in(batch, &stock.live_path(topic, subtopic)?, files::MAX_FILE)?;
    let newest =
        page.as_ref().and_then(|page| Some(&page.spots()[*page.oldest_first().last()?].heading.title));
    let new = match (&page, newest) {
        (None, _) => index::without(&old, topic, subtopic),
        (Some(_), newest) => {
            let stale = index::lines(&old).iter().any(|(t, s, words)| {
                t == topic && s == subtopic && gone.is_some_and(|title| words.contains(title))
            });
            let description = newest.map_or("no entries", String::as_str);
            index::with(&old, topic, subtopic, description, stale)
        }
    };
    if new != old {
        batch.write(&path, new, "index-stored");
    }
    Ok(())
}

/// Gives the index a line for every file it lacks, as it does once it was lost.
fn fill_index(stock: &Stock, batch: &mut Batch) -> Result<()> {
    let path = stock.index_path();
    let old = batch.read_text(&path, files::MAX_FILE)?.unwrap_or_default();
    let known: HashSet<(String, String)> =
        index::lines(&old).into_iter().map(|(topic, subtopic, _)| (topic, subtopic)).collect();
    let mut lines = index::Lines::new();
    for topic in stock.topics() {
        for subtopic in stock.subtopics(&topic) {
            let key = (topic.clone(), subtopic);
            if known.contains(&key) {
                continue;
            }
            // A file that cannot be read has no line; `verify` names it.
            let live = stock.live_path(&key.0, &key.1)?;
            let Some(page) = page_in(batch, &live, files::MAX_FILE).ok().flatten() else { continue };
            let newest = page.oldest_first().last().map(|at| page.spots()[*at].heading.title.clone());
            lines.insert(key, (newest.unwrap_or_else(|| "no entries".to_owned()), false));
        }
    }
    if !lines.is_empty() {
        batch.write(&path, index::with_all(&old, &lines), "index-stored");
    }
    Ok(())
}

/// What an entry is when it leaves its topic file.
pub(super) fn leaving(held: &Held, retired: Option<String>) -> Leaving {
    Leaving { date: held.lesson.date, plain: held.plain.clone(), subtopic: held.subtopic.clone(), retired }
}

//! Storing: a lesson that passed the gate goes to the top of its topic file, and what no longer fits goes to the archive.
//!
//! Comes in: a lesson and how it arrived. Goes out: its id. The order of writes is: archive, topic file, index. A process that dies
//! in between leaves an entry in two places, never in none; the next write to that topic takes the copy out of the archive, and
//! until then readers count it once. Never here: a write without the lock or of text that the gate has not seen.

use super::draft::LessonDraft;
use super::lesson::Lesson;
use super::names::{self, Register};
use super::page::Page;
use super::place::{Need, Place};
use super::stock::{self, Held, MAX_ARCHIVE, Part, Stock};
use super::{Topics, archive, index, prune, sync_git};
use crate::call::Written;
use crate::files::{self, Lock, Mode, step};
use crate::gate::{Entry, Passed};
use crate::shelf::Done;
use heirloom_core::{Code, Fault, MemoryId, ShelfName, Status, fault::Result, hash};
use serde_json::json;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

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
        let lock = self.call.project().lock()?;
        self.found.replace(Some(place.clone()));
        if let Some(leads_out) = &place.blocked {
            return Err(leads_out.clone());
        }
        files::make_folder(&place.base, Mode::Shared)?;
        let shared = place.lock()?;
        let stock = Stock::new(&place.base);
        Ok(Open { lock, place, stock, _shared: shared })
    }

    /// Stores a lesson.
    pub fn store(&self, topic: &str, subtopic: &str, lesson: Lesson, entry: Entry) -> Result<Done> {
        let open = self.open()?;
        // A folder or file that somebody named by hand is used as it is called.
        let topic = match open.stock.topics().into_iter().find(|name| name == topic) {
            Some(there) => there,
            None => names::topic(topic)?,
        };
        let subtopic = match open.stock.subtopics(&topic).into_iter().find(|name| name == subtopic) {
            Some(there) => there,
            None => names::subtopic(subtopic)?,
        };
        let passed = self.pass(&open, &topic, &subtopic, lesson, entry)?;
        let mut done = self.write_new(&open, passed)?;
        done.notes.extend(sync_git::after_write(self.call, open, &done.id));
        Ok(done)
    }

    fn pass(
        &self,
        open: &Open,
        topic: &str,
        subtopic: &str,
        lesson: Lesson,
        entry: Entry,
    ) -> Result<Passed<LessonDraft>> {
        // The audit names a refused lesson by its file and day; a title, or a name that is itself a secret, is content.
        let shown = self.call.screen().redacted(&format!("{topic}/{subtopic}"));
        let shown = format!("lesson:{shown}#{}", lesson.date);
        let draft = LessonDraft::new(topic.to_owned(), subtopic.to_owned(), lesson, shown);
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
        clear_leftovers(&open.stock, topic, subtopic, &page)?;
        let mut register = Register::default();
        for held in open.stock.entries(topic, Part { subtopic: Some(subtopic), year: Some(date.year()) }) {
            register.take(held.lesson.date, &held.slug);
        }
        let slug = register.take(date, &names::slug_of(&draft.lesson.title));
        let text = draft.lesson.write(&slug);
        page.insert(date, &text);
        let moved = settle(&open.stock, topic, subtopic, &path, &page)?;
        update_index(&open.stock, topic, subtopic, None)?;
        let id = names::id(topic, subtopic, date, &slug);
        self.noted(open, &passed, &id, &text)?;
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
        let passed = self.pass(&open, &held.topic, &held.subtopic, lesson, entry)?;
        let text = passed.draft().lesson.write(&held.slug);
        let (path, page) = live_page(&open.stock, &held.topic, &held.subtopic)?;
        clear_leftovers(&open.stock, &held.topic, &held.subtopic, &page)?;
        settle(&open.stock, &held.topic, &held.subtopic, &path, &page.replaced(held.at, &text))?;
        update_index(&open.stock, &held.topic, &held.subtopic, Some(&held.lesson.title))?;
        self.noted(&open, &passed, id, &text)?;
        let mut done = self.done("updated", id.clone(), &open, &path);
        done.notes.extend(sync_git::after_write(self.call, open, id));
        Ok(done)
    }

    /// What an edit would be refused for by the shelf, without the gate and without writing. For changes that wait.
    pub(crate) fn expect_edit(&self, id: &MemoryId, lesson: &Lesson, version: Option<&str>) -> Result<()> {
        let held = self.stock().find(id).ok_or_else(|| crate::shelf::unknown(id.as_str()))?;
        expect_same(&held, id, lesson, version)
    }

    /// The epilogue of a stored text.
    fn noted(&self, open: &Open, passed: &Passed<LessonDraft>, id: &MemoryId, text: &str) -> Result<()> {
        let what = Written {
            action: "memory_write",
            shelf: ShelfName::Topics,
            id: id.as_str(),
            hash: &hash::sha256(text.as_bytes()),
            before: None,
            size: text.len(),
        };
        self.call.written(&open.lock, passed, what)
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

/// Writes a topic file, after what no longer fits is in the archive. Returns how many entries moved.
pub(super) fn settle(stock: &Stock, topic: &str, subtopic: &str, path: &Path, page: &Page) -> Result<usize> {
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
    to_archive(stock, topic, &leaving)?;
    write_live(stock, topic, subtopic, path, &page.without(&out))?;
    Ok(out.len())
}

/// Writes a topic file; one that holds nothing but its own title goes.
pub(super) fn write_live(stock: &Stock, topic: &str, subtopic: &str, path: &Path, page: &Page) -> Result<()> {
    if page.spots().is_empty() && is_title_only(page.text(), &live_title(topic, subtopic)) {
        files::remove(path)?;
    } else {
        files::make_folder(&stock.base().join(topic), Mode::Shared)?;
        files::write(path, page.text().as_bytes(), Mode::Shared)?;
    }
    step::reached("page-stored");
    Ok(())
}

fn is_title_only(text: &str, title: &str) -> bool {
    text.trim().is_empty() || text.trim() == title.trim()
}

/// Puts entries into the archive of their own year. One that is there already is not put there twice.
pub(super) fn to_archive(stock: &Stock, topic: &str, leaving: &[Leaving]) -> Result<()> {
    let mut years: BTreeMap<i16, Vec<&Leaving>> = BTreeMap::new();
    for entry in leaving {
        years.entry(entry.date.year()).or_default().push(entry);
    }
    for (year, entries) in years {
        let path = stock.archive_path(topic, year)?;
        let mut page =
            stock::read_page(&path, MAX_ARCHIVE)?.unwrap_or_else(|| Page::read(archive_title(topic, year)));
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
        files::make_folder(&stock.base().join(names::ARCHIVE).join(topic), Mode::Shared)?;
        files::write(&path, page.text().as_bytes(), Mode::Shared)?;
    }
    step::reached("archive-stored");
    Ok(())
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
    topic: &str,
    year: i16,
    goes: impl Fn(&archive::Tag, &str) -> bool,
) -> Result<bool> {
    let path = stock.archive_path(topic, year)?;
    let Some(page) = stock::read_page(&path, MAX_ARCHIVE)? else { return Ok(false) };
    let out: Vec<usize> =
        untagged(&page).filter(|(_, tag, plain)| goes(tag, plain)).map(|(at, ..)| at).collect();
    if out.is_empty() {
        return Ok(false);
    }
    let rest = page.without(&out);
    if rest.spots().is_empty() && is_title_only(rest.text(), &archive_title(topic, year)) {
        files::remove(&path)?;
    } else {
        files::write(&path, rest.text().as_bytes(), Mode::Shared)?;
    }
    Ok(true)
}

/// Finishes an interrupted move: what is word for word in the topic file is taken out of the archive.
pub(super) fn clear_leftovers(stock: &Stock, topic: &str, subtopic: &str, page: &Page) -> Result<bool> {
    let live: HashSet<String> = (0..page.spots().len()).map(|at| page.plain(at)).collect();
    let years: HashSet<i16> = page.spots().iter().map(|spot| spot.heading.date.year()).collect();
    let mut cleared = false;
    for year in years {
        cleared |= out_of_archive(stock, topic, year, |tag, plain| {
            stock::subtopic_of(tag) == subtopic && live.contains(plain)
        })?;
    }
    Ok(cleared)
}

/// Brings the index up to date for one file. `gone` is a title that must not stay in a description.
pub(super) fn update_index(stock: &Stock, topic: &str, subtopic: &str, gone: Option<&str>) -> Result<()> {
    let path = stock.index_path();
    let old = files::read_text(&path, files::MAX_FILE)?.unwrap_or_default();
    let page = stock::read_page(&stock.live_path(topic, subtopic)?, files::MAX_FILE)?;
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
        files::write(&path, new.as_bytes(), Mode::Shared)?;
    }
    step::reached("index-stored");
    Ok(())
}

/// What an entry is when it leaves its topic file.
pub(super) fn leaving(held: &Held, retired: Option<String>) -> Leaving {
    Leaving { date: held.lesson.date, plain: held.plain.clone(), subtopic: held.subtopic.clone(), retired }
}

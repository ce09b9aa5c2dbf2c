//! The topics shelf: lessons by topic, newest first, in Markdown that people read and edit.
//!
//! ```text
//! <base>/index.md                       topics and subtopics
//! <base>/<topic>/<subtopic>.md          dated entries, at most 10 and 5 KB
//! <base>/archive/<topic>/<year>.md      what was pruned or retired
//! ```
//!
//! Comes in: lessons that passed the gate; questions. Goes out: [`Memory`] values, search hits, a brief. The base is the project's
//! `topics` folder, or an external folder or git repository of the user's choice. Never here: a byte changed outside the entry that
//! is changed; an entry that is in neither place while it moves: it is written where it goes before it is taken from where it was.

mod access;
mod archive;
mod compose;
mod draft;
mod git;
mod index;
mod lesson;
mod lifecycle;
pub(crate) mod marks;
mod merge;
mod names;
mod page;
mod path_rules;
mod place;
mod prune;
mod redact;
mod repair;
mod rest;
mod search;
mod state;
mod stock;
mod store;
mod sync;
mod sync_git;
mod transfer;
mod url;
mod verify;

pub use access::Uses;
pub use compose::{LessonWords, compose, file_of};
pub use draft::{LessonDraft, MAX_LESSON};
pub use lesson::Lesson;
pub use merge::{merge_file, merge_index, merge_topic};
pub use prune::{MAX_BYTES, MAX_ENTRIES};
pub use search::{Hit, Why};
pub(crate) use search::{named, names_topic};
pub use state::{ExternalState, Fallback};
pub(crate) use stock::Held;
pub use sync::{Plan, Synced};
pub use sync_git::Changed;
pub use transfer::{Taken, TopicFile};

use crate::call::Call;
use crate::shelf::forgets::Forgets;
use crate::shelf::provenance;
use access::Access;
use heirloom_core::{Fault, Kind, Memory, MemoryId, Scope, Status, fault::Result};
use place::{Need, Place};
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::collections::BTreeMap;
use stock::{Part, Stock};

/// The lessons of a topic file or an archive as somebody wrote it, from the top, for an import.
pub fn lessons_in(text: &str) -> Vec<Lesson> {
    let page = page::Page::read(text.to_owned());
    let lesson =
        |(at, spot): (usize, &page::Spot)| Lesson::read(&spot.heading, &archive::untagged(&page.plain(at)).1);
    page.spots().iter().enumerate().map(lesson).collect()
}

/// The shelf.
#[derive(Debug)]
pub struct Topics<'e> {
    call: &'e Call,
    /// The place found last; a write may find another one, by cloning it.
    found: RefCell<Option<Place>>,
}

impl<'e> Topics<'e> {
    /// The topics of a project. Nothing is touched until something is asked.
    pub fn new(call: &'e Call) -> Topics<'e> {
        Topics { call, found: RefCell::new(None) }
    }

    /// The call this is the shelf of.
    pub(crate) fn call(&self) -> &'e Call {
        self.call
    }

    /// The place to read from.
    fn place(&self) -> Place {
        self.found.borrow_mut().get_or_insert_with(|| Place::find(self.call, Need::Read)).clone()
    }

    fn stock(&self) -> Stock {
        Stock::new(&self.place().base)
    }

    /// The memory base in use.
    pub fn base(&self) -> std::path::PathBuf {
        self.place().base
    }

    /// Why the external memory that is configured is not used, if it is not.
    pub fn fallback(&self) -> Option<Fault> {
        self.place().fault
    }

    /// Reads a topic, or one subtopic of it, for an agent, and counts that. What the gate would refuse is left out.
    pub fn load(&self, topic: &str, subtopic: Option<&str>) -> Result<Vec<Memory>> {
        let stock = self.stock();
        // Named as `add` takes it: a file that somebody named by hand by its own name, any other in the form it is stored under.
        let named = |given: &str, there: Vec<String>, form: fn(&str) -> Result<String>| match there
            .contains(&given.to_owned())
        {
            true => given.to_owned(),
            false => form(given).unwrap_or_else(|_| given.to_owned()),
        };
        let topic = named(topic, stock.topics(), names::topic);
        let subtopic = subtopic.map(|given| named(given, stock.subtopics(&topic), names::subtopic));
        let held: Vec<Held> = stock
            .entries(&topic, Part { subtopic: subtopic.as_deref(), year: None })
            .into_iter()
            .filter(|held| held.status == Status::Active && self.held_back(held).is_none())
            .collect();
        self.count(&held);
        held.iter().map(|held| self.memory(held)).collect()
    }

    /// Notes that lessons were read. Statistics that cannot be written cost nobody a lesson.
    fn count(&self, held: &[Held]) {
        let ids: Vec<&str> = held.iter().map(|held| held.id.as_str()).collect();
        // Who only reads lessons from elsewhere makes no memory folder here.
        if self.call.project().root().folder().is_dir()
            && let Ok(local) = self.call.project().local()
        {
            let _ = Access::new(local.folder()).note(&ids, self.call.project().world().now);
        }
    }

    /// How often each lesson was loaded on this machine, by id.
    pub fn uses(&self) -> Result<BTreeMap<String, Uses>> {
        if !self.call.project().has_local() {
            return Ok(BTreeMap::new());
        }
        Access::new(self.call.project().local()?.folder()).read()
    }

    /// The id of a lesson whose topic was typed as `add` takes it: `lesson:a/Error Handling#…`. `None` if there is no such lesson.
    pub(crate) fn plain_id(&self, id: &MemoryId) -> Option<MemoryId> {
        let stock = self.stock();
        if stock.find(id).is_some() {
            return Some(id.clone());
        }
        let name = names::Name::parse(id)?;
        let plain = names::id(
            &names::topic(&name.topic).ok()?,
            &names::subtopic(&name.subtopic).ok()?,
            name.date,
            &name.slug,
        );
        stock.find(&plain).map(|held| held.id)
    }

    /// A lesson by its id, as somebody would change it.
    pub fn lesson(&self, id: &MemoryId) -> Option<Lesson> {
        self.stock().find(id).map(|held| held.lesson)
    }

    /// The ids that were forgotten.
    fn forgotten(&self) -> Result<Forgets> {
        provenance::forgotten(self.call.project().root())
    }

    /// Whether an entry was forgotten here and came back from elsewhere.
    fn came_back(&self, forgotten: &Forgets, held: &Held) -> bool {
        forgotten.contains(held.id.as_str()) && provenance::came_back(self.call, held.id.as_str(), &held.hash)
    }

    /// The rule that holds a text back, if the gate would refuse it today: it may have reached the file without the gate.
    fn held_back(&self, held: &Held) -> Option<String> {
        self.call.screen().would_refuse(&held.plain, crate::gate::policy::Row::Topics)
    }

    /// An entry as everybody sees it.
    fn memory(&self, held: &Held) -> Result<Memory> {
        let body = held.lesson.body();
        let standing = self.call.standing_of(held.id.as_str(), &held.hash, &body)?;
        let day = heirloom_core::time::parse(&held.lesson.date.to_string()).map(heirloom_core::time::format);
        Ok(Memory {
            id: held.id.clone(),
            kind: Kind::Lesson,
            title: held.lesson.title.clone(),
            body,
            tags: vec![held.topic.clone(), held.subtopic.clone()],
            applies_to: Vec::new(),
            scope: Scope::Global,
            owner: None,
            source: standing.source(),
            trust: standing.trust(),
            status: held.status,
            version: held.hash.clone(),
            occurred_at: day.clone(),
            created_at: day.clone(),
            updated_at: day,
            expires_at: None,
            content_hash: held.hash.clone(),
            confidence: None,
            path: Some(self.call.project().shown(&held.path)),
            fields: fields(held),
        })
    }
}

/// What only a lesson has: its place, its day and its parts.
fn fields(held: &Held) -> Map<String, Value> {
    let place = [("topic", held.topic.clone()), ("subtopic", held.subtopic.clone())];
    let parts = held.lesson.texts().into_iter().filter(|(name, text)| *name != "title" && !text.is_empty());
    let parts = parts.map(|(name, text)| (name, text.to_owned()));
    let all = place.into_iter().chain([("date", held.lesson.date.to_string())]).chain(parts);
    all.map(|(name, text)| (name.to_owned(), text.into())).collect()
}

#[cfg(test)]
#[path = "tests/mod.rs"]
mod tests;

//! What of the vault is given to an agent, and how far it is believed.
//!
//! Comes in: a reader and perhaps a question. Goes out: a block from [`crate::inject::vault`]. The snapshot, which is always given,
//! holds only what has high trust or was accepted, and for an agent the user named, labelled, the registers it wrote itself on this
//! machine in its own scope. The block that answers a question holds everything visible, labelled. Never given: what the gate would
//! refuse today, what was forgotten and came back, and what cites code that is gone.

use super::find::{self, Filter};
use super::image::{Held, Line};
use super::record::Record;
use super::store::Vault;
use super::view::Gone;
use crate::gate::policy::Row;
use crate::gate::scan::seed::guard;
use crate::gate::trust::{Book, Standing};
use crate::gate::{Edition, Screen};
use crate::inject::vault::{Shown, context, snapshot};
use crate::shelf::anchors::{self, Freshness};
use crate::threads::halves;
use heirloom_core::settings::{Profile, SHARED};
use heirloom_core::{Channel, MemoryId, Trust, fault::Result, hash};
use std::borrow::Cow;

/// Who is given a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reader {
    /// What it sees.
    pub scopes: Vec<String>,
    /// Its own scope, if it is an agent the user named.
    pub own: Option<String>,
}

impl Vault<'_> {
    /// The reader of an agent's name; `None` is a reader without one.
    pub fn reader(&self, agent: Option<&str>) -> Reader {
        let settings = &self.call.settings().vault;
        let own = agent.and_then(|name| settings.agents.get(name)).filter(|scope| *scope != SHARED).cloned();
        Reader { scopes: settings.visible(agent).into_iter().map(str::to_owned).collect(), own }
    }

    /// The block that is always given: canon, and registers that have a topic; empty if there is nothing. `max_chars` is its
    /// budget, whole lines only.
    pub fn snapshot(&self, reader: &Reader, max_chars: Option<usize>) -> Result<String> {
        if !self.call.settings().vault.enabled {
            return Ok(String::new());
        }
        let current = self.call.while_book_is_read(|| self.current())??;
        let view = current.view();
        if view.in_use() == 0 {
            return Ok(String::new());
        }
        let forgotten = self.forgotten()?;
        let edition = self.edition();
        let mut given = self.call.with_book(|book| {
            halves(view.lines_in_use(), |lines, given| {
                let lines = lines.iter().copied();
                given.extend(lines.filter_map(|line| Believed::of(line, reader, &forgotten, book, edition)));
            })
        })?;
        self.drop_held_back(&mut given);
        self.drop_gone(&mut given, |one| one.id.clone());
        let shown: Vec<Shown<'_>> = given.iter().map(Believed::shown).collect();
        Ok(snapshot(&shown, max_chars, self.call.screen()))
    }

    /// Leaves out what the gate would refuse today. What passed these very rules before is not looked at again.
    fn drop_held_back(&self, given: &mut Vec<Believed<'_>>) {
        let unseen: Vec<usize> = (0..given.len()).filter(|at| !given[*at].looked_at).collect();
        if unseen.is_empty() {
            return;
        }
        let (screen, profile) = (self.call.screen(), self.rules.profile);
        let held_back: Vec<usize> = halves(&unseen, |some, held_back| {
            held_back.extend(some.iter().filter(|at| refuses(screen, profile, &given[**at].text).is_some()));
        });
        let mut at = 0;
        let mut held_back = held_back.into_iter().peekable();
        given.retain(|_| {
            at += 1;
            held_back.next_if_eq(&(at - 1)).is_none()
        });
    }

    /// The block that answers a question, or without one the newest memories; canon first, empty if nothing fits.
    pub fn context(
        &self,
        reader: &Reader,
        query: Option<&str>,
        max_items: usize,
        max_chars: Option<usize>,
    ) -> Result<String> {
        self.with_visible(reader, |held| {
            let everything = Filter::default();
            // All that fit, best first: what the gate would refuse today makes room for the next one.
            let hits: Vec<&Held<'_>> = match query.filter(|query| !query.is_empty()) {
                Some(query) => find::search(held, query, &everything, held.len())
                    .into_iter()
                    .map(|(one, _)| one)
                    .collect(),
                None => find::recall(held, &everything, held.len()),
            };
            let given = hits.into_iter().filter(|one| self.held_back(&one.record.text).is_none());
            let shown: Result<Vec<Shown<'_>>> =
                given.take(max_items).map(|one| Ok(to_show(one, self.standing(one)?))).collect();
            Ok(context(&shown?, max_chars, self.call.screen()))
        })
    }

    /// Runs over the records in use that a reader sees; what the gate would refuse today is still among them.
    fn with_visible(
        &self,
        reader: &Reader,
        render: impl FnOnce(&[Held<'_>]) -> Result<String>,
    ) -> Result<String> {
        if !self.call.settings().vault.enabled {
            return Ok(String::new());
        }
        let current = self.current()?;
        let view = current.view();
        if view.in_use() == 0 {
            return Ok(String::new());
        }
        let forgotten = self.forgotten()?;
        let mut held: Vec<Held<'_>> = view.active().filter(|one| is_for(one, reader, &forgotten)).collect();
        self.drop_gone(&mut held, |one| one.record.memory_id());
        render(&held)
    }

    /// Leaves out what cites code that is gone. Citations that cannot be read cost nobody a memory.
    fn drop_gone<T>(&self, held: &mut Vec<T>, id: impl Fn(&T) -> MemoryId) {
        if !anchors::are_there(self.call).unwrap_or(false) {
            return;
        }
        let ids: Vec<MemoryId> = held.iter().map(&id).collect();
        let ids: Vec<&str> = ids.iter().map(MemoryId::as_str).collect();
        let cited = anchors::check_ids(self.call, &ids).unwrap_or_default();
        held.retain(|one| cited.get(id(one).as_str()).is_none_or(|cited| cited.state != Freshness::Gone));
    }

    /// Why a text that is stored would be refused today.
    pub(super) fn held_back(&self, text: &str) -> Option<String> {
        refuses(self.call.screen(), self.rules.profile, text)
    }

    /// The edition of today's rules, if they refuse nothing in a text.
    pub fn passes(&self, text: &str) -> Option<Edition> {
        self.held_back(text).is_none().then(|| self.edition())
    }

    fn edition(&self) -> Edition {
        Edition::of(&self.call.settings().gate, self.rules.profile)
    }
}

fn refuses(screen: &Screen, profile: Profile, text: &str) -> Option<String> {
    match profile {
        Profile::Standard => screen.would_refuse(text, Row::Vault),
        Profile::Seed => {
            let first = guard::violations(text).into_iter().next()?;
            Some(first.word().to_owned())
        }
    }
}

/// What a block says of a line that may be given to its reader without being asked for. No more of it is kept: there may be thousands.
struct Believed<'a> {
    id: MemoryId,
    canon: bool,
    topic: Option<Cow<'a, str>>,
    text: Cow<'a, str>,
    standing: Standing,
    /// It passed the rules of today when it was stored or accepted.
    looked_at: bool,
}

impl<'a> Believed<'a> {
    fn of(
        line: Line<'a>,
        reader: &Reader,
        forgotten: &Gone,
        book: &Book,
        edition: Edition,
    ) -> Option<Believed<'a>> {
        let held = line.read().ok()?;
        if !is_for(&held, reader, forgotten) || !in_snapshot(&held) {
            return None;
        }
        let id = held.record.memory_id();
        let (standing, looked_at) = book.looked_at(id.as_str(), &hash::sha256(held.bytes), edition);
        let believed = standing.trust() == Trust::High || is_own_word(&held, standing, reader);
        believed.then(|| {
            let canon = !held.record.is_register();
            let Record { topic_id, text, .. } = held.record;
            Believed { id, canon, topic: topic_id, text, standing, looked_at }
        })
    }

    fn shown(&self) -> Shown<'_> {
        Shown {
            canon: self.canon,
            topic: self.topic.as_deref().filter(|topic| !topic.is_empty()),
            text: &self.text,
            source: self.standing.source(),
            trust: self.standing.trust(),
        }
    }
}

fn is_for(one: &Held<'_>, reader: &Reader, forgotten: &Gone) -> bool {
    reader.scopes.iter().any(|scope| *scope == one.record.scope)
        && !forgotten.contains(one.record.id.as_ref())
}

fn in_snapshot(one: &Held<'_>) -> bool {
    !one.record.is_register() || one.record.topic().is_some()
}

/// A register the reader itself wrote on this machine, in the scope that is its own.
fn is_own_word(one: &Held<'_>, standing: Standing, reader: &Reader) -> bool {
    one.record.is_register()
        && reader.own.as_deref() == Some(one.record.scope.as_ref())
        && standing.channel == Channel::Agent
}

fn to_show<'r>(one: &'r Held<'_>, standing: Standing) -> Shown<'r> {
    let record = &one.record;
    Shown {
        canon: !record.is_register(),
        topic: record.topic(),
        text: &record.text,
        source: standing.source(),
        trust: standing.trust(),
    }
}

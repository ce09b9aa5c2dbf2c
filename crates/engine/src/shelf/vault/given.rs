//! What of the vault is given to an agent, and how far it is believed.
//!
//! Comes in: a reader and perhaps a question. Goes out: memories, chosen and in order, to whoever makes a block of them. The snapshot, which is always given,
//! holds only what has high trust or was accepted, and for an agent the user named, labelled, the registers it wrote itself on this
//! machine in its own scope. The block that answers a question holds everything visible, labelled. Never given: what the gate would
//! refuse today, what was forgotten and came back, and what cites code that is gone. Never here: how any of it is shown.

use super::find::{self, Filter};
use super::image::{Held, Line};
use super::record::Record;
use super::store::Vault;
use super::view::Gone;
use crate::budget::{self, Left};
use crate::gate::policy::Row;
use crate::gate::scan::seed::guard;
use crate::gate::trust::{Book, Standing};
use crate::gate::{Edition, Screen};
use crate::shelf::anchors::{self, Freshness};
use crate::threads::halves;
use heirloom_core::settings::{Profile, SHARED};
use heirloom_core::{Channel, MemoryId, Source, Trust, fault::Result, hash};
use std::borrow::Cow;

/// A memory that is given.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    /// Holds for good; otherwise a register.
    pub canon: bool,
    /// The register's topic.
    pub topic: Option<&'a str>,
    /// What it says.
    pub text: &'a str,
    /// Where it came from.
    pub source: Source,
    /// How far to believe it.
    pub trust: Trust,
}

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

    /// Hands over what is always given: canon, and registers that have a topic. `None` if the vault has nothing at all.
    pub fn always_given<T>(
        &self,
        reader: &Reader,
        show: impl FnOnce(&[Given<'_>]) -> T,
    ) -> Result<Option<T>> {
        if !self.call.settings().vault.enabled {
            return Ok(None);
        }
        let current = self.call.while_book_is_read(|| self.current())??;
        let view = current.view();
        if view.in_use() == 0 {
            return Ok(None);
        }
        let forgotten = self.forgotten()?;
        let edition = self.edition();
        let mut given = self.call.with_book(|book| {
            halves(bounded(view.lines_in_use(), LINES), |lines, given| {
                let lines = lines.iter().copied();
                given.extend(lines.filter_map(|line| Believed::of(line, reader, &forgotten, book, edition)));
            })
        })?;
        self.drop_held_back(&mut given);
        self.drop_gone(&mut given, |one| one.id.clone());
        let given: Vec<Given<'_>> = given.iter().map(Believed::given).collect();
        Ok(Some(show(&given)))
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

    /// Hands over what answers a question, or without one the newest memories, at most so many. `None` if the vault has nothing at all.
    pub fn given_for<T>(
        &self,
        reader: &Reader,
        query: Option<&str>,
        max_items: usize,
        show: impl FnOnce(&[Given<'_>]) -> T,
    ) -> Result<Option<T>> {
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
            let hits = hits.into_iter().take_while(|_| budget::goes_on_or_leaves(Left::Vault));
            let given = hits.filter(|one| self.held_back(&one.record.text).is_none());
            let given: Result<Vec<Given<'_>>> =
                given.take(max_items).map(|one| Ok(given_as(one, self.standing(one)?))).collect();
            Ok(show(&given?))
        })
    }

    /// Runs over the records in use that a reader sees; what the gate would refuse today is still among them.
    fn with_visible<T>(
        &self,
        reader: &Reader,
        choose: impl FnOnce(&[Held<'_>]) -> Result<T>,
    ) -> Result<Option<T>> {
        if !self.call.settings().vault.enabled {
            return Ok(None);
        }
        let current = self.current()?;
        let view = current.view();
        if view.in_use() == 0 {
            return Ok(None);
        }
        let forgotten = self.forgotten()?;
        let mut held: Vec<Held<'_>> = bounded(view.lines_in_use(), budget::IN_USE)
            .iter()
            .filter_map(|line| line.read().ok())
            .filter(|one| is_for(one, reader, &forgotten))
            .collect();
        self.drop_gone(&mut held, |one| one.record.memory_id());
        choose(&held).map(Some)
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

/// Lines whose trust a hook looks up; what is asked for is weighed besides, so those are fewer.
const LINES: usize = 10 * budget::IN_USE;

/// As many of the lines in use as a hook looks at, all for everybody else.
fn bounded<'l, 'a>(lines: &'l [Line<'a>], most: usize) -> &'l [Line<'a>] {
    let over = if budget::is_bounded() { lines.len().saturating_sub(most) } else { 0 };
    budget::leave_out(Left::Vault, over as u64);
    &lines[..lines.len() - over]
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

    fn given(&self) -> Given<'_> {
        Given {
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

fn given_as<'r>(one: &'r Held<'_>, standing: Standing) -> Given<'r> {
    let record = &one.record;
    Given {
        canon: !record.is_register(),
        topic: record.topic(),
        text: &record.text,
        source: standing.source(),
        trust: standing.trust(),
    }
}

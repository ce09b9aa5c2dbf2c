//! What of the vault is given to an agent, and how far it is believed.
//!
//! Comes in: a reader and perhaps a question. Goes out: a block from [`crate::inject::vault`]. The snapshot, which is always given,
//! holds only what has high trust or was accepted, and for an agent the user named, labelled, the registers it wrote itself on this
//! machine in its own scope. The block that answers a question holds everything visible, labelled. Never given: what the gate would
//! refuse today, what was forgotten and came back, and what cites code that is gone.

use super::find::{self, Filter};
use super::image::Held;
use super::store::Vault;
use crate::gate::policy::Row;
use crate::gate::scan::seed::guard;
use crate::gate::trust::Standing;
use crate::inject::vault::{Shown, context, snapshot};
use crate::shelf::anchors::{self, Freshness};
use heirloom_core::settings::{Profile, SHARED};
use heirloom_core::{Channel, Kind, MemoryId, Trust, fault::Result};

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
        let settings = &self.engine.settings().vault;
        let own = agent.and_then(|name| settings.agents.get(name)).filter(|scope| *scope != SHARED).cloned();
        Reader { scopes: settings.visible(agent).into_iter().map(str::to_owned).collect(), own }
    }

    /// The block that is always given: canon, and registers that have a topic; empty if there is nothing. `max_chars` is its
    /// budget, whole lines only.
    pub fn snapshot(&self, reader: &Reader, max_chars: Option<usize>) -> Result<String> {
        self.with_visible(reader, |held| {
            let mut shown = Vec::new();
            for one in held.iter().filter(|one| in_snapshot(one)) {
                let standing = self.standing(one)?;
                let believed = standing.trust() == Trust::High || is_own_word(one, standing, reader);
                // The dearest question last: most of what a strange repository holds is not believed anyway.
                if believed && self.held_back(&one.record.text).is_none() {
                    shown.push(to_show(one, standing));
                }
            }
            Ok(snapshot(&shown, max_chars))
        })
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
            Ok(context(&shown?, max_chars))
        })
    }

    /// Runs over the records in use that a reader sees; what the gate would refuse today is still among them.
    fn with_visible(
        &self,
        reader: &Reader,
        render: impl FnOnce(&[Held<'_>]) -> Result<String>,
    ) -> Result<String> {
        if !self.engine.settings().vault.enabled {
            return Ok(String::new());
        }
        let current = self.current()?;
        let view = current.view();
        if view.in_use() == 0 {
            return Ok(String::new());
        }
        let forgotten = self.forgotten()?;
        let wanted = |one: &Held<'_>| {
            let record = &one.record;
            reader.scopes.iter().any(|scope| *scope == record.scope)
                && !forgotten.contains(record.id.as_ref())
        };
        let mut held: Vec<Held<'_>> = view.active().filter(wanted).collect();
        self.drop_gone(&mut held);
        render(&held)
    }

    /// Leaves out what cites code that is gone. Citations that cannot be read cost nobody a memory.
    fn drop_gone(&self, held: &mut Vec<Held<'_>>) {
        if !anchors::are_there(self.engine).unwrap_or(false) {
            return;
        }
        let id = |one: &Held<'_>| {
            let kind = if one.record.is_register() { Kind::Register } else { Kind::Canon };
            MemoryId::new(&kind, &one.record.id).as_str().to_owned()
        };
        let ids: Vec<String> = held.iter().map(id).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let cited = anchors::check_ids(self.engine, &ids).unwrap_or_default();
        held.retain(|one| cited.get(&id(one)).is_none_or(|cited| cited.state != Freshness::Gone));
    }

    /// Why a text that is stored would be refused today.
    pub(super) fn held_back(&self, text: &str) -> Option<String> {
        match self.rules.profile {
            Profile::Standard => self.engine.screen().would_refuse(text, Row::Vault),
            Profile::Seed => {
                let first = guard::violations(text).into_iter().next()?;
                Some(first.word().to_owned())
            }
        }
    }
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

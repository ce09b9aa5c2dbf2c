//! Review: what waits for a person, from every shelf, and what happens when a person says yes.
//!
//! Comes in: the inbox, the shelves, the trust book. Goes out: a list; an acceptance bound to exact bytes. Never here: deciding that somebody
//! is a person; the door does that.

use crate::engine::Engine;
use crate::gate::inbox::Item;
use crate::gate::trust;
use crate::shelf::{Listing, Problem};
use heirloom_core::{Code, Fault, Kind, Memory, Trust, fault::Result};
use serde::Serialize;

/// What waits.
#[derive(Debug, Default, Serialize)]
pub struct Pending {
    /// Drafts that are not stored yet.
    pub drafts: Vec<Item>,
    /// Stored constraints and preferences that nobody has accepted: they would steer every session.
    pub saved_by_agents: Vec<Memory>,
    /// Files that hold what the gate refuses, and ids that came back after they were forgotten.
    pub problems: Vec<Problem>,
}

impl Pending {
    /// How much waits.
    pub fn len(&self) -> usize {
        self.drafts.len() + self.saved_by_agents.len() + self.problems.len()
    }

    /// Whether nothing does.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Everything that waits for a person.
pub fn pending(engine: &Engine) -> Result<Pending> {
    let mut waiting =
        Pending { drafts: engine.inbox()?.list(engine.project().world().now)?, ..Pending::default() };
    for shelf in engine.shelves() {
        let steering =
            |m: &Memory| matches!(m.kind, Kind::Constraint | Kind::Preference) && m.trust < Trust::High;
        waiting.saved_by_agents.extend(shelf.list(&Listing::active())?.into_iter().filter(steering));
        let held = |p: &Problem| p.code == Code::GateRefused.name() || p.message.contains("was forgotten");
        waiting.problems.extend(shelf.verify()?.into_iter().filter(held));
    }
    Ok(waiting)
}

/// A person accepts a stored memory, exactly as it is.
pub fn accept(engine: &Engine, memory: &Memory) -> Result<()> {
    let book = trust::path(engine.project().data()?);
    trust::accept(&book, engine.project().world().now, memory.id.as_str(), &memory.content_hash)
}

/// A person accepts a waiting draft: it goes through the gate again, confirmed. Returns the id it got.
pub fn accept_draft(_engine: &Engine, item: &Item) -> Result<String> {
    Err(Fault::new(Code::Internal, format!("no shelf takes drafts for `{}`", item.shelf))
        .fact("id", item.id.as_str()))
}

//! The tiers: what each user said and what is known about them.
//!
//! Comes in: turns and facts that passed the gate, questions. Goes out: that user's memories, labelled with source and trust, within limits.
//! Never here: a row of another user. Every call carries a [`UserContext`], which only authentication makes; every event is a line in the
//! user's own audit chain, whose end is sealed outside the database.
//!
//! | tier | holds | lives |
//! |---|---|---|
//! | working | the running conversation | in the process that serves it, never on disk ([`Working`]) |
//! | episodic | turns: user, assistant, tool | 90 days unless said otherwise, 365 at most |
//! | semantic | facts and preferences | until somebody deletes them; a newer one supersedes, with history kept |
//!
//! Programs keep items there as well: texts and values under a namespace and key, or with labels ([`Item`]). An item is a fact or a turn by the
//! rules of its tier.
//!
//! One trait, [`TierStore`], stands between these rules and the backend: SQLite here, PostgreSQL in its own crate.

mod archive;
mod audit_book;
mod beside;
mod draft;
mod episode;
mod event;
mod fact;
mod forget;
mod format;
mod id;
mod invite;
mod item;
mod items;
mod kept;
mod life;
mod once;
mod pass;
mod seal;
mod similarity;
mod sqlite;
mod statement;
mod store;
mod stored;
mod terms;
mod token;
mod undo;
mod user;
mod waiting;

pub use crate::working::{Label, Message, Speaker, Working, WorkingLimits, Workings, estimate_tokens};
pub use archive::{Brought, Carried, ImportRules, Whose, is_archive};
pub(crate) use beside::{Meaning, turned_around};
pub(crate) use draft::is_name;
pub use draft::{Beside, LONGEST_FACT, Relation, TierDraft};
pub use episode::Turn;
pub use event::{Action, Event, GENESIS, Head, Line, Metadata, Walk};
pub use fact::FactWords;
pub use forget::Expired;
pub use format::{Labelled, format_episodes, format_memories};
pub use invite::{HOURS as INVITE_HOURS, Invite, Taken, hash_of as invite_hash, new as new_invite};
pub use item::{Indexed, Item, LABELS, LONGEST_TEXT, labelled, of_user, under};
pub use items::ItemWords;
pub(crate) use items::fits_whole;
pub use kept::{Back, KeptRow, Mark, Touched, kept_since};
pub use once::{Ended, KEPT as KEY_KEPT, MOST as MOST_KEYS, Turn as KeyTurn, WORK as KEY_WORK};
pub use pass::Kept;
pub use seal::Seals;
pub use similarity::cosine;
pub use sqlite::SqliteStore;
pub(crate) use sqlite::document;
pub use store::{
    Change, Counts, Embedded, Found, Page, Question, Receipt, Removed, SEATS, SPARE, TierStore, Told, Wanted,
    Which, with_recency,
};
pub use stored::{FactKind, LifeStatus, Role, Statement, Stored, Tier};
pub use terms::{
    InOrder, Judge, Met, Posed, Ranking, Whole, counted_terms, indexed_terms, kept_pieces, passage,
    question_terms,
};
pub use token::{Terms, Token, give as give_token, hash_of as token_hash, new as new_token};
pub use user::{Account, SYSTEM, UserContext, checked as user_name, put as put_user};

use crate::call::Call;
use crate::gate::inbox::Inbox;
use heirloom_core::hash;
use std::path::Path;
use std::sync::Arc;

/// What an engine needs to reach the tiers: a backend, the authenticated user, the seals.
#[derive(Debug, Clone)]
pub struct Access {
    store: Arc<dyn TierStore>,
    who: UserContext,
    seals: Arc<Seals>,
    folder: std::path::PathBuf,
}

impl Access {
    /// Access for a user whose seals and inbox are below `folder`, the tiers' place in the data folder.
    pub fn new(store: Arc<dyn TierStore>, who: UserContext, folder: &Path) -> Access {
        Access { store, who, seals: Arc::new(Seals::new(&folder.join("seals"))), folder: folder.to_owned() }
    }

    /// The same for another user.
    #[must_use]
    pub fn of(&self, who: UserContext) -> Access {
        Access { who, ..self.clone() }
    }

    /// The user.
    pub fn who(&self) -> &UserContext {
        &self.who
    }

    /// The backend.
    pub fn store(&self) -> &Arc<dyn TierStore> {
        &self.store
    }
}

/// The tiers of one user.
#[derive(Debug, Clone, Copy)]
pub struct Tiers<'a> {
    call: &'a Call,
    access: &'a Access,
}

impl<'a> Tiers<'a> {
    /// The tiers as an engine's user sees them.
    pub fn new(call: &'a Call, access: &'a Access) -> Tiers<'a> {
        Tiers { call, access }
    }

    /// The user.
    pub fn who(&self) -> &'a UserContext {
        &self.access.who
    }

    /// The backend.
    pub fn store(&self) -> &'a dyn TierStore {
        self.access.store.as_ref()
    }

    /// Gives vectors to up to `limit` memories that have none of the model in use; says how many are left.
    pub fn embed(&self, limit: usize) -> heirloom_core::fault::Result<usize> {
        self.store().embed(self.who(), limit)
    }

    /// How far the model in use is with this user's turns and facts.
    pub fn embedded(&self) -> heirloom_core::fault::Result<Embedded> {
        self.store().embedded(self.who())
    }

    /// Whether anything was ever stored on this machine: asking an empty place must not make one.
    pub fn are_there(&self) -> bool {
        self.store().is_shared() || self.access.folder.is_dir()
    }

    /// Where it is noted how far a model looked for facts in what this user said.
    pub(crate) fn seen_file(&self) -> std::path::PathBuf {
        let user = &hash::sha256(self.who().user().as_bytes())[..24];
        self.access.folder.join("waiting").join(user).join("extracted.json")
    }

    /// Where upkeep of this user's memories in this backend notes something.
    pub(crate) fn upkeep_file(&self, name: &str) -> std::path::PathBuf {
        let user = &hash::sha256(self.who().user().as_bytes())[..24];
        self.access.folder.join("waiting").join(user).join(format!("{}-{name}", self.store().backend()))
    }

    /// What waits for this user's yes.
    pub fn inbox(&self) -> Inbox {
        let user = &hash::sha256(self.who().user().as_bytes())[..24];
        let folder = self.access.folder.join("waiting").join(user).join("inbox");
        let inbox = Inbox::new(folder, format!("tiers {user}"), self.call.inbox_key());
        if !self.store().is_shared() {
            return inbox;
        }
        inbox.kept_by(Arc::new(waiting::StoreDrafts::of(&self.access.store, self.who())))
    }

    pub(crate) fn now(&self) -> jiff::Timestamp {
        self.call.project().world().now
    }

    pub(crate) fn settings(&self) -> &'a heirloom_core::settings::Tiers {
        &self.call.settings().tiers
    }
}

#[cfg(any(test, feature = "story"))]
pub mod story;

#[cfg(test)]
#[path = "tiers_tests.rs"]
mod tests;

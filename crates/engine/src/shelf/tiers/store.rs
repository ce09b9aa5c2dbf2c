//! What a backend of the tiers can do: one trait, implemented on SQLite here and on PostgreSQL in its own crate.
//!
//! Comes in: a [`UserContext`] with every call, drafts that passed the gate, questions. Goes out: that user's memories. Never behind this
//! trait: a rule about what may be stored, a limit on what is recalled, or a row of anybody else.

use super::event::{Event, Head, Line};
use super::kept::{Back, KeptRow, Mark};
use super::once::{Ended, Turn};
use super::{Account, Invite, LifeStatus, Stored, Taken, Tier, TierDraft, Token, UserContext};
use crate::gate::Passed;
use crate::pin;
use crate::rank::Explain;
use heirloom_core::{Fault, fault::Result};
use jiff::Timestamp;

/// Which memories are wanted, in the order they were stored.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wanted {
    /// Only this tier.
    pub tier: Option<Tier>,
    /// Only this status.
    pub status: Option<LifeStatus>,
    /// Only this conversation.
    pub session: Option<String>,
    /// Only what fills this slot (see [`super::Stored::slot`]).
    pub slot: Option<String>,
    /// Only items whose place begins like this (see [`super::under`]).
    pub under: Option<String>,
    /// Only what has not expired by then.
    pub live_at: Option<Timestamp>,
    /// Only what was stored after the memory with this place, as the page before ended.
    pub after: Option<i64>,
    /// Newest first instead.
    pub newest: bool,
    /// At most so many.
    pub limit: usize,
}

/// A page of memories.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    /// The memories.
    pub memories: Vec<Stored>,
    /// The place of the last one, to go on from; `None` at the end.
    pub next: Option<i64>,
}

/// A question to one tier.
#[derive(Debug, Clone, PartialEq)]
pub struct Question<'a> {
    /// In words.
    pub text: &'a str,
    /// Which tier; `None` is every one.
    pub tier: Option<Tier>,
    /// When it is asked.
    pub now: Timestamp,
    /// At most so many answers.
    pub limit: usize,
    /// What being new adds, in points; with 0 the age of a memory changes nothing.
    pub recency: f32,
}

/// Memories a backend should bring for one that is wanted, so that recall has something to choose from.
pub const SPARE: usize = 4;

/// Trusted memories a backend should bring however many others score better.
pub const SEATS: usize = 24;

/// What may be an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The memory.
    pub memory: Stored,
    /// Its score.
    pub score: f64,
    /// What the score is made of, in words and points.
    pub why: Vec<(String, f64)>,
    /// What the ranking made of it.
    pub explain: Explain,
}

impl Found {
    /// A memory and what the ranking made of it: the score is the sum of its factors.
    pub fn of(memory: Stored, explain: Explain) -> Found {
        let factors = explain.factors.named().into_iter().filter(|(_, points)| *points != 0.0);
        let why = factors.map(|(name, points)| (name.to_owned(), f64::from(points))).collect();
        Found { memory, score: f64::from(explain.factors.sum()), why, explain }
    }

    /// What an episode's age makes of its score.
    pub(crate) fn aged(mut self, weight: f64, now: Timestamp) -> Found {
        if self.memory.tier == Tier::Episodic {
            let plain = self.score;
            self.score = with_recency(plain, weight, self.memory.occurred_at, now);
            if self.score != plain {
                self.why.push(("age".to_owned(), self.score - plain));
            }
        }
        self
    }
}

/// Days after which an episode's recency counts half.
const HALF_LIFE_DAYS: f64 = 30.0;

/// What an episode's age makes of its score: `score × ((1 − w) + w × recency)`, recency halving every thirty days.
pub fn with_recency(score: f64, weight: f64, occurred_at: Timestamp, now: Timestamp) -> f64 {
    let days = (now.as_second() - occurred_at.as_second()).max(0) as f64 / 86_400.0;
    score * ((1.0 - weight) + weight * (-days / HALF_LIFE_DAYS).exp2())
}

/// A change that touches no text.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// How sure its writer is.
    Confidence(f64),
    /// When it goes by itself.
    ExpiresAt(Timestamp),
    /// In use or not.
    Status(LifeStatus),
}

/// What is to be removed.
#[derive(Debug, Clone, PartialEq)]
pub enum Which {
    /// These.
    Ids(Vec<String>),
    /// A tier, or everything.
    Tier(Option<Tier>),
    /// What had expired by then: whose time ended strictly before.
    Expired(Timestamp),
}

/// What a write left behind.
#[derive(Debug, Clone, PartialEq)]
pub struct Receipt {
    /// For each draft whether it was new; an id that is there already is left as it is.
    pub fresh: Vec<bool>,
    /// Where the audit chain ends now.
    pub head: Head,
}

/// What was removed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Removed {
    /// The ids.
    pub ids: Vec<String>,
    /// Where the audit chain ends now; `None` if nothing was there to remove.
    pub head: Option<Head>,
}

/// How much a user has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Turns in use.
    pub episodes: u64,
    /// Facts in use.
    pub facts: u64,
    /// Facts replaced by newer ones.
    pub superseded: u64,
    /// Taken out of use.
    pub retired: u64,
}

impl Counts {
    /// Counts memories of one tier and status.
    pub fn add(&mut self, tier: Option<Tier>, status: Option<LifeStatus>, count: u64) {
        match (tier, status) {
            (_, Some(LifeStatus::Superseded)) => self.superseded += count,
            (_, Some(LifeStatus::Retired)) => self.retired += count,
            (Some(Tier::Episodic), _) => self.episodes += count,
            _ => self.facts += count,
        }
    }
}

/// How far a model is with a user's turns and facts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Embedded {
    /// Those it has read.
    pub embedded: u64,
    /// Those in use.
    pub memories: u64,
}

/// The event of a removal, made once its ids are known.
pub type Told<'a> = &'a dyn Fn(&[String]) -> Vec<Event>;

/// A backend.
///
/// Every write is durable when it returns; its audit lines are part of it or nothing is.
pub trait TierStore: std::fmt::Debug + Send + Sync {
    /// `sqlite` or `postgres`.
    fn backend(&self) -> &'static str;

    /// Whether several people reach it by one address. In such a store nobody is anybody without a token, and what stands beside the rows (drafts,
    /// the end of each audit chain) lies with them, so that every machine sees the same.
    fn is_shared(&self) -> bool {
        false
    }

    /// Stores drafts, marks what they supersede and whatever else is in use under an item's key, appends the events, and with a mark keeps what
    /// it takes to go back, all or nothing. A draft of another user is refused.
    fn write(
        &self,
        who: &UserContext,
        drafts: &[Passed<TierDraft>],
        events: &[Event],
        mark: Option<&Mark>,
    ) -> Result<Receipt>;

    /// One memory.
    fn get(&self, who: &UserContext, id: &str) -> Result<Option<Stored>>;

    /// Which of these ids are there.
    fn known(&self, who: &UserContext, ids: &[&str]) -> Result<Vec<String>> {
        let mut known = Vec::new();
        for id in ids {
            known.extend(self.get(who, id)?.map(|stored| stored.id));
        }
        Ok(known)
    }

    /// Memories, page by page.
    fn page(&self, who: &UserContext, wanted: &Wanted) -> Result<Page>;

    /// What may answer a question, by keywords and vectors, in use and not expired: more than is wanted where there is more. Who is among the
    /// answers is decided by recall.
    fn search(&self, who: &UserContext, question: &Question<'_>) -> Result<Vec<Found>>;

    /// Changes what is no text, and keeps what it was. `None` if there is no such memory.
    fn change(
        &self,
        who: &UserContext,
        id: &str,
        change: &Change,
        event: &Event,
        mark: &Mark,
    ) -> Result<Option<Head>>;

    /// Makes rows what they were, all or nothing, and keeps what they are now. `None`, and nothing is touched, if one of them is not what the
    /// change left.
    fn put_back(&self, who: &UserContext, rows: &[Back], event: &Event, mark: &Mark) -> Result<Option<Head>>;

    /// What changes since then replaced, oldest first.
    fn kept(&self, who: &UserContext, since: Timestamp) -> Result<Vec<KeptRow>>;

    /// Drops what is kept of these memories and of drafts of them.
    fn drop_kept(&self, who: &UserContext, ids: &[String]) -> Result<()>;

    /// Gives vectors to up to `limit` memories that have none of the model in use; says how many are left. Stores that make vectors with every
    /// write have nothing to do.
    fn embed(&self, _who: &UserContext, _limit: usize) -> Result<usize> {
        Ok(0)
    }

    /// How many memories in use have a vector of the model in use. Nothing is made.
    fn embedded(&self, who: &UserContext) -> Result<Embedded>;

    /// Removes memories with their vectors, index rows and what was kept of them, and remembers their ids, so that an old archive does not bring them back.
    fn delete(&self, who: &UserContext, which: &Which, told: Told<'_>) -> Result<Removed>;

    /// Makes sure that nothing of what was deleted is left in the files this backend can reach; `shred` allows it to rewrite what other users'
    /// rows are in as well. Says what it did not reach.
    fn scrub(&self, who: &UserContext, shred: bool) -> Result<Vec<String>>;

    /// Which of these ids this user had removed.
    fn removed(&self, who: &UserContext, ids: &[&str]) -> Result<Vec<String>>;

    /// Whether it can be reached, found out now where that is not known. A store in a file of its own always can.
    fn reach(&self) -> Result<()> {
        Ok(())
    }

    /// Why this store could not be reached a moment ago, if it could not. Nothing is tried.
    fn unreached(&self) -> Option<Fault> {
        None
    }

    /// How much this user has.
    fn counts(&self, who: &UserContext) -> Result<Counts>;

    /// Appends an event without waiting for the disk: for reads, which must not cost a sync.
    fn note(&self, who: &UserContext, event: &Event) -> Result<Head>;

    /// Audit lines after a number, in order.
    fn audit(&self, who: &UserContext, after: u64, limit: usize) -> Result<Vec<Line>>;

    /// Appends a checkpoint and drops the lines it speaks of, all or nothing.
    fn checkpoint(&self, who: &UserContext, through: u64, event: &Event) -> Result<Head>;

    /// Goes on with lines of this user's chain that another store wrote, if the first of them follows the last one here. Says whether it did.
    fn continue_chain(&self, _who: &UserContext, _lines: &[Line]) -> Result<bool> {
        Ok(false)
    }

    /// Where the store itself says that this user's chain ends. Only a shared store keeps that; beside others a seal does.
    fn head(&self, _who: &UserContext) -> Result<Option<Head>> {
        Ok(None)
    }

    /// The drafts of this user that wait in the store: the SHA-256 and the text of each. Only a shared store keeps any.
    fn drafts(&self, _who: &UserContext) -> Result<Vec<(String, String)>> {
        Ok(Vec::new())
    }

    /// Keeps a draft under the SHA-256 of its text.
    fn put_draft(&self, _who: &UserContext, _sha256: &str, _at: Timestamp, _text: &str) -> Result<()> {
        Err(Fault::new(heirloom_core::Code::Internal, "this store keeps no drafts"))
    }

    /// Takes a draft out.
    fn remove_draft(&self, _who: &UserContext, _sha256: &str) -> Result<()> {
        Ok(())
    }

    /// Every known user. In a shared store whoever does not look after users sees only themselves.
    fn accounts(&self, who: &UserContext) -> Result<Vec<Account>>;

    /// Every user who has an account or anything stored, each once.
    fn users(&self, who: &UserContext) -> Result<Vec<String>> {
        Ok(self.accounts(who)?.into_iter().map(|account| account.user).collect())
    }

    /// Adds or replaces a user's account.
    fn put_account(&self, who: &UserContext, account: &Account) -> Result<()>;

    /// Removes the context's user and all that is theirs: tokens first, so that nobody comes in any more, the account last, so that whoever was
    /// stopped finds it and goes on.
    fn remove_account(&self, who: &UserContext) -> Result<()>;

    /// The token that was shown, found by its hash in one look, also if it has ended. One that still counts is noted as used in this hour.
    fn sign_in(&self, given: &str, hour: &str, now: Timestamp) -> Result<Option<Token>>;

    /// The tokens of a user, or of every user. In a shared store whoever does not look after users sees only their own.
    fn tokens(&self, who: &UserContext, user: Option<&str>) -> Result<Vec<Token>>;

    /// Adds a token in the place of the one its user has by the same name.
    fn put_token(&self, who: &UserContext, token: &Token) -> Result<()>;

    /// Takes a user's token of this name away. Says whether there was one.
    fn remove_token(&self, who: &UserContext, user: &str, name: &str) -> Result<bool>;

    /// Keeps an invitation in the place of the one its user had.
    fn put_invite(&self, who: &UserContext, invite: &Invite) -> Result<()>;

    /// Sets the PIN of the context's user by the hash of an invitation's link, which no longer works then.
    fn take_invite(
        &self,
        who: &UserContext,
        link: &str,
        pin: &str,
        random: &[u8; 32],
        now: Timestamp,
    ) -> Result<Taken>;

    /// Whether the context's user has a PIN in this store.
    fn has_pin(&self, who: &UserContext) -> Result<bool>;

    /// Looks whether this is the PIN of the context's user. A try counts before it is looked at; after five wrong ones there is a pause.
    fn try_pin(&self, who: &UserContext, typed: &str, now: Timestamp) -> Result<pin::Answer>;

    /// Takes the turn of a key of idempotency, if nobody had it. Only a shared store keeps keys; those of others lie in the user's data folder.
    fn once_begin(&self, _who: &UserContext, _name: &str, _asked: &str, _now: i64) -> Result<Turn> {
        Err(Fault::new(heirloom_core::Code::Internal, "this store keeps no keys of requests"))
    }

    /// Keeps how the request under a key ended; forgets the key if it failed.
    fn once_end(&self, _who: &UserContext, _name: &str, _now: i64, _done: Option<&Ended>) -> Result<()> {
        Ok(())
    }

    /// Takes the ids of memories that were forgotten out of what is kept under keys.
    fn once_forget(&self, _who: &UserContext, _ids: &[&str]) -> Result<()> {
        Ok(())
    }
}

//! The tiers on PostgreSQL + pgvector, for an organisation.
//!
//! Comes in: the calls of [`TierStore`], each with a user context. Goes out: that user's rows. Two walls stand between users: every statement
//! names its user, and every transaction runs under a role that row-level security binds to that user, so that a statement without the name
//! still reaches nobody else. Never here: a rule about what may be stored.
//!
//! Calls block: a small runtime inside drives the connections. Tables are hash-partitioned by user, and every key begins with the user, so that
//! distributing them by `user_id` is a matter of configuration.

mod accounts;
mod audit;
mod back;
mod drive;
mod fault;
mod kept;
mod link;
mod rows;
mod schema;
mod search;
mod shred;
pub mod statements;
mod tls;
mod tokens;
mod write;

pub use link::PgStore;

use heirloom_core::{Fault, fault::Result};
use heirloom_engine::gate::Passed;
use heirloom_engine::shelf::tiers::{
    Account, Back, Change, Counts, Event, Found, Head, KeptRow, Line, Mark, Page, Question, Receipt, Removed,
    Stored, TierDraft, TierStore, Token, Told, UserContext, Wanted, Which,
};

impl TierStore for PgStore {
    fn backend(&self) -> &'static str {
        "postgres"
    }

    fn write(
        &self,
        who: &UserContext,
        drafts: &[Passed<TierDraft>],
        events: &[Event],
        mark: Option<&Mark>,
    ) -> Result<Receipt> {
        for draft in drafts {
            who.owns(&draft.draft().stored().user)?;
        }
        self.run(write::write(self, who, drafts, events, mark))
    }

    fn get(&self, who: &UserContext, id: &str) -> Result<Option<Stored>> {
        self.run_again(|| rows::get(self, who, id))
    }

    fn page(&self, who: &UserContext, wanted: &Wanted) -> Result<Page> {
        self.run_again(|| rows::page(self, who, wanted))
    }

    fn search(&self, who: &UserContext, question: &Question<'_>) -> Result<Vec<Found>> {
        self.run_again(|| search::search(self, who, question))
    }

    fn change(
        &self,
        who: &UserContext,
        id: &str,
        change: &Change,
        event: &Event,
        mark: &Mark,
    ) -> Result<Option<Head>> {
        self.run(write::change(self, who, id, change, event, mark))
    }

    fn put_back(&self, who: &UserContext, rows: &[Back], event: &Event, mark: &Mark) -> Result<Option<Head>> {
        self.run(back::put_back(self, who, rows, event, mark))
    }

    fn kept(&self, who: &UserContext, since: jiff::Timestamp) -> Result<Vec<KeptRow>> {
        self.run_again(|| kept::kept(self, who, since))
    }

    fn drop_kept(&self, who: &UserContext, ids: &[String]) -> Result<()> {
        self.run(kept::drop_kept(self, who, ids))
    }

    fn delete(&self, who: &UserContext, which: &Which, told: Told<'_>) -> Result<Removed> {
        self.run(write::delete(self, who, which, told))
    }

    fn scrub(&self, who: &UserContext, shred: bool) -> Result<Vec<String>> {
        if shred {
            return self.run(shred::shred(self, who));
        }
        Ok(vec![
            "PostgreSQL drops the bytes of deleted rows when it next vacuums their pages; --shred rewrites the tables now; backups and \
             archived logs keep what they hold until they are removed"
                .to_owned(),
        ])
    }

    fn removed(&self, who: &UserContext, ids: &[&str]) -> Result<Vec<String>> {
        self.run_again(|| rows::removed(self, who, ids))
    }

    fn reach(&self) -> Result<()> {
        self.run(async { self.keeper().await.map(drop) })
    }

    fn unreached(&self) -> Option<Fault> {
        self.was_unreached()
    }

    fn counts(&self, who: &UserContext) -> Result<Counts> {
        self.run_again(|| rows::counts(self, who))
    }

    fn note(&self, who: &UserContext, event: &Event) -> Result<Head> {
        self.run(audit::note(self, who, event))
    }

    fn audit(&self, who: &UserContext, after: u64, limit: usize) -> Result<Vec<Line>> {
        self.run_again(|| audit::lines(self, who, after, limit))
    }

    fn checkpoint(&self, who: &UserContext, through: u64, event: &Event) -> Result<Head> {
        self.run(audit::checkpoint(self, who, through, event))
    }

    fn accounts(&self) -> Result<Vec<Account>> {
        self.run_again(|| accounts::list(self))
    }

    fn put_account(&self, account: &Account) -> Result<()> {
        self.run(accounts::put(self, account))
    }

    fn remove_account(&self, who: &UserContext) -> Result<()> {
        self.run(accounts::remove(self, who))
    }

    fn token(&self, hash: &str) -> Result<Option<Token>> {
        self.run_again(|| tokens::get(self, hash))
    }

    fn tokens(&self, user: Option<&str>) -> Result<Vec<Token>> {
        self.run_again(|| tokens::list(self, user))
    }

    fn put_token(&self, token: &Token) -> Result<()> {
        self.run(tokens::put(self, token))
    }

    fn remove_token(&self, user: &str, name: &str) -> Result<bool> {
        self.run(tokens::remove(self, user, name))
    }

    fn note_use(&self, hash: &str, hour: &str) -> Result<()> {
        self.run(tokens::note_use(self, hash, hour))
    }
}

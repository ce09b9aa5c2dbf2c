//! The tiers on PostgreSQL + pgvector, for an organisation.
//!
//! Comes in: the calls of [`TierStore`], each with a user context. Goes out: that user's rows. Three walls stand between users: every statement names its
//! user, every transaction shows its token, and row-level security, forced, lets through what that token opens. The application's login owns
//! nothing. Never here: a rule about what may be stored, or a change of the schema outside [`team`].
//!
//! Calls block: a small runtime inside drives the connections. Every key begins with the user, so that the tables can be distributed by `user_id`.

mod accounts;
mod address;
mod audit;
mod back;
mod drafts;
mod drive;
mod fault;
mod kept;
mod lease;
mod link;
mod once;
mod rows;
mod schema;
mod search;
mod session;
pub mod statements;
pub mod team;
mod tls;
mod values;
mod vectors;
mod write;

pub use address::{Address, Outside};
pub use link::{Limits, PgStore};
pub use schema::OF_USERS;

use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::gate::Passed;
use heirloom_engine::pin::{Answer, Pin, Salt};
use heirloom_engine::shelf::tiers::{
    Account, Back, Change, Counts, Embedded, Ended, Event, Found, Head, Invite, KeptRow, KeyTurn, Line, Mark,
    Page, Question, Receipt, Removed, Stored, Taken, TierDraft, TierStore, Token, Told, UserContext, Wanted,
    Which,
};
use jiff::Timestamp;

impl TierStore for PgStore {
    fn backend(&self) -> &'static str {
        "postgres"
    }

    fn is_shared(&self) -> bool {
        true
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
        // Embedding takes as long as it takes: neither the limit of a call nor a connection waits for it.
        let memories: Vec<&Stored> = drafts.iter().map(|draft| draft.draft().stored()).collect();
        let made = vectors::Vectors::of(self, &memories);
        self.run(write::write(self, who, drafts, &made, events, mark))
    }

    fn get(&self, who: &UserContext, id: &str) -> Result<Option<Stored>> {
        self.run_again(|| rows::get(self, who, id))
    }

    fn known(&self, who: &UserContext, ids: &[&str]) -> Result<Vec<String>> {
        self.run_again(|| rows::known(self, who, ids))
    }

    fn page(&self, who: &UserContext, wanted: &Wanted) -> Result<Page> {
        self.run_again(|| rows::page(self, who, wanted))
    }

    fn search(&self, who: &UserContext, question: &Question<'_>) -> Result<Vec<Found>> {
        // A model elsewhere takes its time; no connection waits for it.
        let asked = vectors::asked(self, who, question.text)?;
        self.run_again(|| search::search(self, who, question, &asked))
    }

    fn embed(&self, who: &UserContext, limit: usize) -> Result<usize> {
        vectors::embed(self, who, limit)
    }

    fn embedded(&self, who: &UserContext) -> Result<Embedded> {
        vectors::embedded(self, who)
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

    fn kept(&self, who: &UserContext, since: Timestamp) -> Result<Vec<KeptRow>> {
        self.run_again(|| kept::kept(self, who, since))
    }

    fn drop_kept(&self, who: &UserContext, ids: &[String]) -> Result<()> {
        self.run(kept::drop_kept(self, who, ids))
    }

    fn delete(&self, who: &UserContext, which: &Which, told: Told<'_>) -> Result<Removed> {
        self.run(write::delete(self, who, which, told))
    }

    fn scrub(&self, _who: &UserContext, shred: bool) -> Result<Vec<String>> {
        // The application owns no table, so it rewrites none.
        let now = "an operator rewrites the tables at once with `heirloom team shred --admin-url …`";
        let mut left = vec![
            "PostgreSQL drops the bytes of deleted rows when it next vacuums their pages; backups and archived logs keep what they hold \
             until they are removed"
                .to_owned(),
        ];
        left.push(if shred { format!("nothing was rewritten: {now}") } else { now.to_owned() });
        Ok(left)
    }

    fn removed(&self, who: &UserContext, ids: &[&str]) -> Result<Vec<String>> {
        self.run_again(|| rows::removed(self, who, ids))
    }

    fn reach(&self) -> Result<()> {
        self.run(self.reached())
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

    fn continue_chain(&self, who: &UserContext, lines: &[Line]) -> Result<bool> {
        self.run(audit::go_on(self, who, lines))
    }

    fn head(&self, who: &UserContext) -> Result<Option<Head>> {
        self.run_again(|| audit::head(self, who))
    }

    fn drafts(&self, who: &UserContext) -> Result<Vec<(String, String)>> {
        self.run_again(|| drafts::all(self, who))
    }

    fn put_draft(&self, who: &UserContext, sha256: &str, at: Timestamp, text: &str) -> Result<()> {
        self.run(drafts::put(self, who, sha256, at, text))
    }

    fn remove_draft(&self, who: &UserContext, sha256: &str) -> Result<()> {
        self.run(drafts::remove(self, who, sha256))
    }

    fn accounts(&self, who: &UserContext) -> Result<Vec<Account>> {
        self.run_again(|| accounts::list(self, who))
    }

    fn users(&self, who: &UserContext) -> Result<Vec<String>> {
        self.run_again(|| accounts::users(self, who))
    }

    fn put_account(&self, who: &UserContext, account: &Account) -> Result<()> {
        self.run(accounts::put(self, who, account))
    }

    fn remove_account(&self, who: &UserContext) -> Result<()> {
        self.run_long(accounts::remove(self, who))
    }

    fn sign_in(&self, given: &str, hour: &str, _now: Timestamp) -> Result<Option<Token>> {
        self.run_again(|| accounts::sign_in(self, given, hour))
    }

    fn tokens(&self, who: &UserContext, user: Option<&str>) -> Result<Vec<Token>> {
        self.run_again(|| accounts::tokens(self, who, user))
    }

    fn put_token(&self, who: &UserContext, token: &Token) -> Result<()> {
        self.run(accounts::put_token(self, who, token))
    }

    fn remove_token(&self, who: &UserContext, user: &str, name: &str) -> Result<bool> {
        self.run(accounts::remove_token(self, who, user, name))
    }

    fn put_invite(&self, who: &UserContext, invite: &Invite) -> Result<()> {
        self.run(accounts::put_invite(self, who, invite))
    }

    fn take_invite(
        &self,
        who: &UserContext,
        link: &str,
        pin: &str,
        random: &[u8; 32],
        _now: Timestamp,
    ) -> Result<Taken> {
        Pin::fits(pin)?;
        // Hashing takes its time; no connection waits for it.
        let salt = Salt::of(random);
        let digest = salt.digest(pin)?;
        self.run(accounts::take_invite(self, who, link, &salt, &digest))
    }

    fn has_pin(&self, who: &UserContext) -> Result<bool> {
        Ok(self.run_again(|| accounts::salt(self, who))?.is_some())
    }

    fn try_pin(&self, who: &UserContext, typed: &str, _now: Timestamp) -> Result<Answer> {
        let salt = self.run_again(|| accounts::salt(self, who))?;
        let salt = salt.ok_or_else(|| Fault::new(Code::NeedsPerson, "you have no PIN on this server yet"))?;
        let digest = salt.digest(typed)?;
        self.run(accounts::try_pin(self, who, &digest))
    }

    fn once_begin(&self, who: &UserContext, name: &str, asked: &str, now: i64) -> Result<KeyTurn> {
        self.run(once::begin(self, who, name, asked, now))
    }

    fn once_end(&self, who: &UserContext, name: &str, now: i64, done: Option<&Ended>) -> Result<()> {
        self.run(once::end(self, who, name, now, done))
    }

    fn once_forget(&self, who: &UserContext, ids: &[&str]) -> Result<()> {
        self.run(once::forget(self, who, ids))
    }
}

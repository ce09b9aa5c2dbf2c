//! The tiers on SQLite: one folder per user in the data folder, with that user's database and index.
//!
//! Comes in: calls with a user context. Goes out: that user's rows. The wall between users is the file: a connection is found by the context
//! alone, so a statement cannot even name somebody else's rows; each one filters by the user as well. Never here: a row without its audit
//! lines, or a read that waits for the disk.
//!
//! | file | what |
//! |---|---|
//! | `accounts.jsonl` | the users; from version 0.1 also the hashes of their tokens |
//! | `tokens/<hash>.json` | a token: whose, what it may, until when |
//! | `tokens/<hash>.used` | the hour in which it was last used |
//! | `invites/<user>.json` | a user's invitation: the hash of its link, until when |
//! | `pins/<user>/` | the hash of the PIN that a user shows at a server's page, and wrong tries |
//! | `users/<hash>/memory.db` | memories, removed ids, audit, what it takes to take changes back |
//! | `users/<hash>/index/` | keywords and vectors, made anew from the database whenever they are missing |

mod accounts;
mod asked;
mod database;
mod invites;
mod kept;
mod rows;
mod search;
mod tokens;

pub(crate) use search::{SCOPE, document, speaker, whose};

#[cfg(test)]
#[path = "waits_tests.rs"]
mod waits_tests;

use super::event::{Event, Head, Line};
use super::kept::{Back, KeptRow, Mark};
use super::store::{
    Change, Counts, Embedded, Found, Page, Question, Receipt, Removed, TierStore, Told, Wanted, Which,
};
use super::{Account, Invite, Stored, Taken, TierDraft, Token, UserContext};
use crate::gate::Passed;
use crate::index::embed::Embedder;
use crate::index::embed::chosen::{Chosen, Given};
use crate::index::embed::followed::Followed;
use crate::pin;
use asked::Asked;
use database::Database;
use heirloom_core::{Code, Fault, fault::Result, hash};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Databases kept open at once; each has a handful of files. A server of more users opens one anew for some of its requests.
const MOST_OPEN: usize = 128;

/// A model as the index takes it.
fn plain(model: Option<&Arc<Chosen>>) -> Option<&dyn Embedder> {
    model.map(|model| &**model as &dyn Embedder)
}

/// The store below a folder. Nothing is opened or made until it is needed.
#[derive(Debug)]
pub struct SqliteStore {
    folder: PathBuf,
    open: Mutex<Open>,
    embedder: Followed,
    given: Option<Given>,
}

#[derive(Debug, Default)]
struct Open {
    clock: u64,
    databases: HashMap<String, (u64, Arc<Slot>)>,
}

/// The place of one user's database. It is opened under the lock of this place alone, so that nobody else waits while a database is made or brought
/// to a newer version.
type Slot = Mutex<Option<Database>>;

impl SqliteStore {
    /// The store in this folder.
    pub fn at(folder: &Path) -> SqliteStore {
        SqliteStore {
            folder: folder.to_owned(),
            open: Mutex::default(),
            embedder: Followed::default(),
            given: None,
        }
    }

    /// The same store with vectors of this model instead of the one on this machine.
    #[must_use]
    pub fn with_model(mut self, given: Option<Given>) -> SqliteStore {
        self.given = given;
        self
    }

    /// The folder of one user.
    fn folder_of(&self, who: &UserContext) -> PathBuf {
        self.folder.join("users").join(&hash::sha256(who.user().as_bytes())[..24])
    }

    /// The model of this moment.
    fn embedder(&self) -> Option<Arc<Chosen>> {
        // Without the built-in table, which a test holds to be whole, keywords still work.
        let data = self.folder.parent().unwrap_or(&self.folder);
        self.embedder.now(self.given.as_ref(), data)
    }

    /// Brings the index up to date, as far as that goes now.
    fn catch_up(&self, who: &UserContext, database: &mut Database) {
        let model = self.embedder();
        // What cannot be indexed now is caught up with by the next search.
        let _ = database.catch_up(who, plain(model.as_ref()));
    }

    /// The place of the database of the context's user.
    fn slot(&self, who: &UserContext) -> Arc<Slot> {
        let mut open = lock(&self.open);
        open.clock += 1;
        let now = open.clock;
        if let Some((used, slot)) = open.databases.get_mut(who.user()) {
            *used = now;
            return Arc::clone(slot);
        }
        let mut closed = None;
        if open.databases.len() >= MOST_OPEN {
            // One that somebody uses at this moment stays, if another can go.
            let in_use = |slot: &Arc<Slot>| Arc::strong_count(slot) > 1;
            let oldest = open.databases.iter().min_by_key(|(_, (used, slot))| (in_use(slot), *used));
            let oldest = oldest.map(|(user, _)| user.clone());
            closed = oldest.and_then(|user| open.databases.remove(&user));
        }
        let slot = Arc::new(Mutex::new(None));
        open.databases.insert(who.user().to_owned(), (now, Arc::clone(&slot)));
        drop(open);
        // Closing a database takes time as well.
        drop(closed);
        slot
    }

    /// Runs a call on the database of the context's user; `None` if there is none yet and none is to be made.
    fn on<T>(
        &self,
        who: &UserContext,
        make: bool,
        call: impl FnOnce(&mut Database) -> Result<T>,
    ) -> Result<Option<T>> {
        let slot = self.slot(who);
        let mut place = lock(&slot);
        if place.is_none() {
            *place = Database::open(&self.folder_of(who), make)?;
        }
        let done = place.as_mut().map(call).transpose();
        if place.is_none() {
            // Whoever has nothing takes nobody's place.
            drop(place);
            let mut open = lock(&self.open);
            if open.databases.get(who.user()).is_some_and(|(_, there)| Arc::ptr_eq(there, &slot)) {
                open.databases.remove(who.user());
            }
        }
        done
    }

    /// Runs a call that needs no database where there is none.
    fn look<T: Default>(
        &self,
        who: &UserContext,
        call: impl FnOnce(&mut Database) -> Result<T>,
    ) -> Result<T> {
        Ok(self.on(who, false, call)?.unwrap_or_default())
    }

    fn touch<T>(&self, who: &UserContext, call: impl FnOnce(&mut Database) -> Result<T>) -> Result<T> {
        let done = self.on(who, true, call)?;
        done.ok_or_else(|| Fault::new(Code::Internal, "a database just made is not there"))
    }
}

/// A call that panicked left its transaction rolled back; the connection is as good as before.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl TierStore for SqliteStore {
    fn backend(&self) -> &'static str {
        "sqlite"
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
        self.touch(who, |database| {
            let receipt = database.write(who, drafts, events, mark)?;
            tracing::debug!(memories = drafts.len(), events = events.len(), "tiers written");
            self.catch_up(who, database);
            Ok(receipt)
        })
    }

    fn get(&self, who: &UserContext, id: &str) -> Result<Option<Stored>> {
        self.look(who, |database| database.get(who, id))
    }

    fn page(&self, who: &UserContext, wanted: &Wanted) -> Result<Page> {
        self.look(who, |database| database.page(who, wanted))
    }

    fn search(&self, who: &UserContext, question: &Question<'_>) -> Result<Vec<Found>> {
        let model = self.embedder();
        let Some(remote) = model.as_deref().filter(|model| model.is_remote()) else {
            return self.look(who, |database| database.search(who, question, plain(model.as_ref())));
        };
        let wanted = self.look(who, |database| database.has_vectors(who, remote))?;
        let asked = Asked::of(remote, question.text, wanted);
        self.look(who, |database| database.search(who, question, Some(&asked)))
    }

    fn embed(&self, who: &UserContext, limit: usize) -> Result<usize> {
        let Some(model) = self.embedder() else { return Ok(0) };
        let embedder: &dyn Embedder = &*model;
        let missing = self.look(who, |database| database.missing(who, embedder, limit))?;
        let Some(missing) = missing else { return Ok(0) };
        let embeddings = missing.embedded(embedder).map_err(search::broken)?;
        self.look(who, |database| database.give(who, embedder.space(), &missing, embeddings))
    }

    fn embedded(&self, who: &UserContext) -> Result<Embedded> {
        let model = self.embedder();
        self.look(who, |database| database.embedded(who, plain(model.as_ref())))
    }

    fn change(
        &self,
        who: &UserContext,
        id: &str,
        change: &Change,
        event: &Event,
        mark: &Mark,
    ) -> Result<Option<Head>> {
        self.look(who, |database| {
            let head = database.change(who, id, change, event, mark)?;
            self.catch_up(who, database);
            Ok(head)
        })
    }

    fn put_back(&self, who: &UserContext, rows: &[Back], event: &Event, mark: &Mark) -> Result<Option<Head>> {
        self.touch(who, |database| {
            let head = database.put_back(who, rows, event, mark)?;
            self.catch_up(who, database);
            Ok(head)
        })
    }

    fn kept(&self, who: &UserContext, since: jiff::Timestamp) -> Result<Vec<KeptRow>> {
        self.look(who, |database| database.kept(who, since))
    }

    fn drop_kept(&self, who: &UserContext, ids: &[String]) -> Result<()> {
        self.look(who, |database| database.drop_kept(who, ids))
    }

    fn delete(&self, who: &UserContext, which: &Which, told: Told<'_>) -> Result<Removed> {
        self.look(who, |database| database.delete(who, which, told))
    }

    fn scrub(&self, who: &UserContext, _shred: bool) -> Result<Vec<String>> {
        let model = self.embedder();
        let scrubbed = self.on(who, false, |database| database.scrub(who, plain(model.as_ref())))?;
        match scrubbed {
            Some(()) => database::rewrite(&self.folder_of(who)),
            None => Ok(Vec::new()),
        }
    }

    fn removed(&self, who: &UserContext, ids: &[&str]) -> Result<Vec<String>> {
        self.look(who, |database| database.removed(who, ids))
    }

    fn counts(&self, who: &UserContext) -> Result<Counts> {
        self.look(who, |database| database.counts(who))
    }

    fn note(&self, who: &UserContext, event: &Event) -> Result<Head> {
        // Whoever has nothing cannot have been shown anything.
        let make = event.action != super::event::Action::MemoryRead;
        Ok(self.on(who, make, |database| database.note(who, event))?.unwrap_or_default())
    }

    fn audit(&self, who: &UserContext, after: u64, limit: usize) -> Result<Vec<Line>> {
        self.look(who, |database| database.audit(who, after, limit))
    }

    fn checkpoint(&self, who: &UserContext, through: u64, event: &Event) -> Result<Head> {
        self.touch(who, |database| database.checkpoint(who, through, event))
    }

    fn continue_chain(&self, who: &UserContext, lines: &[Line]) -> Result<bool> {
        self.touch(who, |database| database.continue_chain(who, lines))
    }

    fn accounts(&self, _who: &UserContext) -> Result<Vec<Account>> {
        accounts::list(&self.folder)
    }

    fn users(&self, who: &UserContext) -> Result<Vec<String>> {
        let mut all: BTreeSet<String> = self.accounts(who)?.into_iter().map(|account| account.user).collect();
        let folders = std::fs::read_dir(self.folder.join("users")).into_iter().flatten().flatten();
        for folder in folders.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
            // Whoever only ever used the system's account has no line among the accounts.
            let Some(user) = database::owner(&folder.path())? else { continue };
            if folder.file_name().to_str() == Some(&hash::sha256(user.as_bytes())[..24]) {
                all.insert(user);
            }
        }
        Ok(all.into_iter().collect())
    }

    fn put_account(&self, _who: &UserContext, account: &Account) -> Result<()> {
        accounts::put(&self.folder, account)
    }

    fn remove_account(&self, who: &UserContext) -> Result<()> {
        tokens::remove_all(&self.folder, who.user())?;
        invites::remove(&self.folder, who.user())?;
        {
            // Whoever is about to use the database waits here, and finds none afterwards.
            let slot = self.slot(who);
            let mut place = lock(&slot);
            *place = None;
            let folder = self.folder_of(who);
            match std::fs::remove_dir_all(&folder) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Fault::io(&folder, "remove", &e));
                }
                _ => {}
            }
        }
        lock(&self.open).databases.remove(who.user());
        accounts::remove(&self.folder, who.user())
    }

    fn sign_in(&self, given: &str, hour: &str, now: jiff::Timestamp) -> Result<Option<Token>> {
        let found = tokens::get(&self.folder, &super::token::hash_of(given))?;
        if let Some(token) = &found
            && token.ended(now).is_none()
            && token.used_at.as_deref() != Some(hour)
        {
            // A store that cannot be written to keeps nobody out.
            let _ = tokens::note_use(&self.folder, &token.hash, hour);
        }
        Ok(found)
    }

    fn tokens(&self, _who: &UserContext, user: Option<&str>) -> Result<Vec<Token>> {
        tokens::list(&self.folder, user)
    }

    fn put_token(&self, _who: &UserContext, token: &Token) -> Result<()> {
        tokens::put(&self.folder, token)
    }

    fn remove_token(&self, _who: &UserContext, user: &str, name: &str) -> Result<bool> {
        tokens::remove(&self.folder, user, name)
    }

    fn put_invite(&self, _who: &UserContext, invite: &Invite) -> Result<()> {
        invites::put(&self.folder, invite)
    }

    fn take_invite(
        &self,
        who: &UserContext,
        link: &str,
        pin: &str,
        random: &[u8; 32],
        now: jiff::Timestamp,
    ) -> Result<Taken> {
        invites::take(&self.folder, who.user(), link, pin, random, now)
    }

    fn has_pin(&self, who: &UserContext) -> Result<bool> {
        Ok(invites::pin(&self.folder, who.user()).is_set())
    }

    fn try_pin(&self, who: &UserContext, typed: &str, now: jiff::Timestamp) -> Result<pin::Answer> {
        invites::pin(&self.folder, who.user()).answer(typed, now)
    }
}

//! A call: a project, its settings and who asks, put together once for each request.
//!
//! Comes in: a [`Deployment`], a [`Project`], [`Settings`], a [`Caller`]. Goes out: the gate, the inbox, and what is
//! known of a text. Never here: a shelf (`shelf/open.rs` opens them for a call); how a change is made (`shelf/door/`); anything that
//! outlives the call, which the deployment keeps.

use crate::budget::Budget;
use crate::deployment::Deployment;
use crate::gate::books::Known;
use crate::gate::inbox::{Inbox, Key};
use crate::gate::trust::{self, Book, Standing};
use crate::gate::withdrawn;
use crate::gate::{Edition, Entry, Screen};
use crate::index::embed::chosen::Chosen;
use crate::project::Project;
use crate::threads::locked;
use crate::undo::Numbers;
use crate::working::Workings;
use heirloom_core::{
    Caller, Channel, Code, Fault, May, Memory, Owner, Settings, ShelfName, Status, Trust, Verb,
    fault::Result,
    settings::{PersonCheck, Said},
};
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

/// What a call only keeps until it ends: it never asks anything of it.
pub(crate) trait Kept: std::fmt::Debug + Send {}

impl<T: std::fmt::Debug + Send> Kept for T {}

/// One call's view of a project's memory.
#[derive(Debug)]
pub struct Call {
    deployment: Arc<Deployment>,
    project: Project,
    settings: Settings,
    said: Said,
    caller: Caller,
    budget: Budget,
    screen: OnceLock<Arc<Screen>>,
    book: Mutex<Asked>,
    /// What opens the tiers. The shelf put it in and takes it out; a call only carries it.
    key: Option<Box<dyn Any + Send + Sync>>,
    /// An index that was glanced at.
    glanced: Mutex<Option<Box<dyn Kept>>>,
    in_files: Numbers,
    in_tiers: Numbers,
    unseen: OnceLock<()>,
    passed_over: Arc<PassedOver>,
    uncommitted: Arc<Uncommitted>,
}

/// Files that hold no memory anybody can use, each with what is wrong with it, as far as a call met them.
#[derive(Debug, Default)]
pub struct PassedOver(Mutex<BTreeMap<String, String>>);

impl PassedOver {
    /// What was met so far: file and reason, by file.
    pub fn all(&self) -> Vec<(String, String)> {
        locked(&self.0).iter().map(|(file, why)| (file.clone(), why.clone())).collect()
    }
}

/// Why git commits that the settings ask for were not made, as far as a call tried.
#[derive(Debug, Default)]
pub struct Uncommitted(Mutex<Vec<String>>);

impl Uncommitted {
    /// The reasons, a line each.
    pub fn all(&self) -> Vec<String> {
        locked(&self.0).clone()
    }
}

impl Deployment {
    /// A call: this project, by this caller, under these settings.
    pub fn call(self: &Arc<Self>, project: Project, settings: Settings, caller: Caller) -> Call {
        Call::of(Arc::clone(self), project, settings, caller)
    }
}

// A server uses one deployment, and any call, from all of its threads.
const _: () = {
    const fn usable_from_any_thread<T: Send + Sync>() {}
    usable_from_any_thread::<Deployment>();
    usable_from_any_thread::<Call>();
    usable_from_any_thread::<Project>();
};

/// The trust book, as far as this call has asked for it.
#[derive(Debug, Default)]
enum Asked {
    /// Not yet, or this call added to it since.
    #[default]
    Not,
    /// The book, as it was when it was first asked for.
    Known(Arc<Known>),
    /// There is none: this user's data folder does not know the project.
    None,
}

impl Call {
    /// A call in a deployment of its own, by a process of the account. Nothing is read until it is needed.
    pub fn new(project: Project, settings: Settings) -> Call {
        let caller = Caller::process(&project.world().user);
        Call::of(Arc::default(), project, settings, caller)
    }

    pub(crate) fn of(
        deployment: Arc<Deployment>,
        project: Project,
        settings: Settings,
        caller: Caller,
    ) -> Call {
        Call {
            deployment,
            project,
            settings,
            said: Said::default(),
            caller,
            budget: Budget::open(),
            screen: OnceLock::new(),
            book: Mutex::default(),
            key: None,
            glanced: Mutex::new(None),
            in_files: Numbers::default(),
            in_tiers: Numbers::default(),
            unseen: OnceLock::new(),
            passed_over: Arc::default(),
            uncommitted: Arc::default(),
        }
    }

    /// What this call passed over, for whoever speaks to a person.
    pub fn passed_over(&self) -> &Arc<PassedOver> {
        &self.passed_over
    }

    /// Notes that a file was passed over. A fault names no content.
    pub(crate) fn passes_over(&self, file: String, fault: &Fault) {
        locked(&self.passed_over.0).insert(file, fault.message.clone());
    }

    /// Why commits that the settings ask for were not made, for whoever speaks to a person.
    pub fn uncommitted(&self) -> &Arc<Uncommitted> {
        &self.uncommitted
    }

    /// Notes that a commit was not made.
    pub(crate) fn not_committed(&self, why: &str) {
        locked(&self.uncommitted.0).push(format!("saved, but not committed: {why}"));
    }

    /// Who asks.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The same call within bounds, for a hook.
    #[must_use]
    pub fn within(mut self, budget: Budget) -> Call {
        self.budget = budget;
        self
    }

    /// What this call may cost.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// How what the caller writes arrives.
    pub fn entry(&self) -> Entry {
        Entry::through(self.caller.channel())
    }

    /// Whose text a memory is: a person's if this user's trust book has exactly these bytes as written or accepted by one.
    pub fn owner_of(&self, memory: &Memory) -> Result<Owner> {
        if memory.kind.shelf() == ShelfName::Tiers {
            return Ok(if memory.trust == Trust::High { Owner::Person } else { Owner::Agent });
        }
        self.owner_by(memory.id.as_str(), &memory.content_hash)
    }

    /// The same for a stored text, by its id and the hash of its bytes.
    pub(crate) fn owner_by(&self, id: &str, hash: &str) -> Result<Owner> {
        let standing = self.standing(id, hash)?;
        Ok(match standing.channel {
            _ if standing.accepted => Owner::Person,
            Channel::Person => Owner::Person,
            Channel::Repository => Owner::Nobody,
            _ => Owner::Agent,
        })
    }

    /// Whose word counts about a memory: the writer's, or of what is out of use already that of a person who took it out.
    pub(crate) fn stands_behind(&self, memory: &Memory) -> Result<Owner> {
        let owner = self.owner_of(memory)?;
        let withdrawn = memory.status != Status::Active && self.withdrawn_by_person(memory)?;
        Ok(if withdrawn { Owner::Person } else { owner })
    }

    /// Whether a person took this memory, as it is now, out of use.
    pub(crate) fn withdrawn_by_person(&self, memory: &Memory) -> Result<bool> {
        match self.project.known_data()? {
            Some(data) => withdrawn::has(&data, memory.id.as_str(), &memory.content_hash),
            None => Ok(false),
        }
    }

    /// Asks the table of authority about an effect on a text of this owner on a shelf. A token caps what a person may do in the tiers, which it
    /// opens; the files of a project are that person's with and without it. Where `person.check` wants more than a terminal, a person who was
    /// not checked is refused, whichever door forgot to ask.
    pub(crate) fn asks(&self, verb: Verb, shelf: ShelfName, owner: Owner) -> Result<May> {
        let may = match self.caller.is_person() && shelf != ShelfName::Tiers {
            true => May::Does,
            false => verb.may(&self.caller, owner),
        };
        tracing::debug!(verb = verb.name(), shelf = shelf.name(), ?owner, ?may, "authority");
        match may {
            May::Refused => Err(verb.refusal(&self.caller)),
            May::Does if self.wants_check(verb) => Err(verb.unchecked()),
            may => Ok(may),
        }
    }

    /// Whether the person must be checked before this is done, and was not.
    pub fn wants_check(&self, verb: Verb) -> bool {
        self.settings.person_check == PersonCheck::Pin
            && verb.wants_check(&self.caller)
            && !self.caller.is_checked()
    }

    /// Says that the person was checked, which the PIN's verb does.
    pub(crate) fn check_person(&mut self) {
        self.caller = self.caller.clone().checked();
    }

    /// The same call by somebody else.
    #[cfg(test)]
    pub(crate) fn by(mut self, caller: Caller) -> Call {
        self.caller = caller;
        self
    }

    /// Random bytes for what nobody may guess.
    pub fn random(&self) -> Result<[u8; 32]> {
        let missing = || Fault::new(Code::Internal, "the system gives no random bytes");
        self.deployment.dice().ok_or_else(missing)?()
    }

    /// The model that makes vectors.
    pub fn model(&self) -> Option<Arc<Chosen>> {
        self.deployment.model(&self.project.world().data)
    }

    /// Keeps an index that was glanced at until the next one comes.
    pub(crate) fn keep(&self, index: impl Kept + 'static) {
        *locked(&self.glanced) = Some(Box::new(index));
    }

    /// The same call with what opens the tiers. What that is, only the shelf knows.
    pub(crate) fn with_key<T: Any + Send + Sync>(mut self, key: T) -> Call {
        self.key = Some(Box::new(key));
        self
    }

    /// What opens the tiers, if somebody is signed in.
    pub(crate) fn key<T: Any>(&self) -> Option<&T> {
        self.key.as_ref()?.downcast_ref()
    }

    /// Leaves an index that was glanced at to the system, for a process that is about to end: it takes everything back at once, faster than it
    /// could be handed back. Nothing was written to it.
    pub fn abandon_glance(&self) {
        std::mem::forget(locked(&self.glanced).take());
    }

    /// The user's home folder.
    pub fn home(&self) -> Option<&std::path::Path> {
        self.deployment.home()
    }

    /// The project.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The same call with what there is to say about its settings.
    #[must_use]
    pub fn with_said(mut self, said: Said) -> Call {
        self.said = said;
        self
    }

    /// Where the settings come from, and what of them could not be used.
    pub fn said(&self) -> &Said {
        &self.said
    }

    /// The user's own settings file, if the door knows one.
    pub(crate) fn user_settings(&self) -> Option<&std::path::Path> {
        self.deployment.user_settings()
    }

    /// The running conversations of this process.
    pub(crate) fn workings(&self) -> &Mutex<Workings> {
        self.deployment.workings()
    }

    /// The gate's eyes.
    pub fn screen(&self) -> &Screen {
        self.screen.get_or_init(|| self.deployment.screen(&self.settings.gate))
    }

    /// The project's review inbox, in the user's data folder.
    pub fn inbox(&self) -> Result<Inbox> {
        let data = self.project.data()?;
        let name = data.file_name().unwrap_or_default().to_string_lossy();
        let inbox = Inbox::new(data.join("inbox"), format!("project {name}"), self.inbox_key());
        // An earlier version kept drafts beside the memory, where everybody who can write into the project can put one.
        Ok(if self.project.has_local() {
            inbox.with_earlier(self.project.local()?.path("inbox"))
        } else {
            inbox
        })
    }

    /// The key of the user's inboxes.
    pub(crate) fn inbox_key(&self) -> Key {
        Key::new(&self.project.world().data, self.deployment.dice(), &self.project.world().nonce)
    }

    /// What is known of a stored text. A project this user's data folder does not know has only strangers.
    pub fn standing(&self, id: &str, hash: &str) -> Result<Standing> {
        self.with_book(|book| book.standing(id, hash))
    }

    /// The same for a text that says this, under whatever name it comes back.
    pub(crate) fn standing_of(&self, id: &str, hash: &str, body: &str) -> Result<Standing> {
        self.with_book(|book| book.standing_of(id, hash, body))
    }

    /// Whether a person stands behind any text of this id.
    pub fn is_vouched(&self, id: &str) -> Result<bool> {
        self.with_book(|book| book.is_vouched(id))
    }

    pub(crate) fn with_book<T>(&self, ask: impl FnOnce(&Book) -> T) -> Result<T> {
        let known = match &*locked(&self.book) {
            Asked::Known(known) => Some(Some(Arc::clone(known))),
            Asked::None => Some(None),
            Asked::Not => None,
        };
        let known = match known {
            Some(known) => known,
            None => self.ask_for_book()?,
        };
        Ok(match known {
            Some(known) => known.ask(ask),
            None => ask(&Book::default()),
        })
    }

    fn ask_for_book(&self) -> Result<Option<Arc<Known>>> {
        let known = self.project.known_data()?.map(|data| self.deployment.books().at(&trust::path(&data)));
        if let Some(known) = &known {
            known.catch_up()?;
        }
        *locked(&self.book) = known.clone().map_or(Asked::None, Asked::Known);
        Ok(known)
    }

    /// Does a piece of work while the book is read, if that takes long enough to be worth a thread.
    pub(crate) fn while_book_is_read<T>(&self, work: impl FnOnce() -> T) -> Result<T> {
        const LARGE: u64 = 256 << 10;
        let book = self.project.known_data()?.map(|data| trust::path(&data));
        let large = |path: &std::path::PathBuf| path.metadata().is_ok_and(|found| found.len() >= LARGE);
        let is_new = || matches!(*locked(&self.book), Asked::Not);
        let Some(path) = book.filter(large).filter(|_| is_new()) else {
            return Ok(work());
        };
        let known = self.deployment.books().at(&path);
        let (read, done) = crate::threads::both(|| known.catch_up(), work);
        read?;
        *locked(&self.book) = Asked::Known(known);
        Ok(done)
    }

    /// Notes that a person accepted exactly these bytes.
    pub fn accept(&self, id: &str, hash: &str) -> Result<()> {
        self.accept_looked_at(id, hash, None)
    }

    /// The same, with the edition of the rules that refuses nothing in them.
    pub(crate) fn accept_looked_at(&self, id: &str, hash: &str, edition: Option<Edition>) -> Result<()> {
        trust::accept(&trust::path(self.project.data()?), self.project.world().now, id, hash, edition)?;
        self.book_grew();
        Ok(())
    }

    /// Takes a person's acceptance of exactly these bytes back.
    pub(crate) fn unaccept(&self, id: &str, hash: &str) -> Result<()> {
        trust::unaccept(&trust::path(self.project.data()?), id, hash)?;
        self.book_grew();
        Ok(())
    }

    /// Something nobody can have guessed, for one mark.
    pub(crate) fn salt(&self) -> String {
        let world = self.project.world();
        let chance =
            self.random().map_or_else(|_| world.nonce.clone(), |bytes| heirloom_core::hash::sha256(&bytes));
        format!("{chance}-{}", world.now.as_nanosecond())
    }

    /// Notes that this call changed the book on disk: whoever asks next is told what it says now.
    pub(crate) fn book_grew(&self) {
        *locked(&self.book) = Asked::Not;
    }

    /// The numbers of this call's changes in the project's chain.
    pub(crate) fn in_files(&self) -> &Numbers {
        &self.in_files
    }

    /// The same in the chain of the user's tiers.
    pub(crate) fn in_tiers(&self) -> &Numbers {
        &self.in_tiers
    }

    /// From here on this call changes texts of which the caller was shown a part at most.
    pub(crate) fn begin_unseen(&self) {
        let _ = self.unseen.set(());
    }

    /// Whether it does.
    pub(crate) fn is_unseen(&self) -> bool {
        self.unseen.get().is_some()
    }
}

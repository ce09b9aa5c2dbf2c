//! A call: a project, its settings and who asks, put together once for each request.
//!
//! Comes in: a [`Deployment`], a [`Project`], [`Settings`], a [`Caller`]. Goes out: shelves, the gate, and what is
//! known of a text. Never here: a shelf's own rules; how a change is written down (`change.rs`); anything that outlives the call, which the
//! deployment keeps.

use crate::deployment::{Deployment, locked};
use crate::files::Lock;
use crate::gate::books::Known;
use crate::gate::inbox::{Inbox, Key, Waiting};
use crate::gate::policy::Row;
use crate::gate::trust::{self, Book, Standing};
use crate::gate::withdrawn;
use crate::gate::{Decision, Draft, Edition, Entry, Passed, Remark, Screen, admit};
use crate::index::embed::chosen::Chosen;
use crate::index::shelves::ShelfIndex;
use crate::project::Project;
use crate::shelf::notes::Notes;
use crate::shelf::records::Records;
use crate::shelf::tiers::{Access, Tiers};
use crate::shelf::topics::Topics;
use crate::shelf::vault::Vault;
use crate::shelf::{Problem, Shelf};
use crate::working::Workings;
use heirloom_core::{
    Caller, Channel, Code, Fault, May, Memory, MemoryId, Owner, Settings, ShelfName, Status, Trust, Verb,
    fault::Result,
    settings::{PersonCheck, Said},
};
use serde_json::Value;
use std::borrow::Borrow;
use std::sync::{Arc, Mutex, OnceLock};

/// One call's view of a project's memory.
#[derive(Debug)]
pub struct Call {
    deployment: Arc<Deployment>,
    project: Project,
    settings: Settings,
    said: Said,
    caller: Caller,
    screen: OnceLock<Arc<Screen>>,
    book: Mutex<Asked>,
    tiers: Option<Access>,
    glanced: Mutex<Option<ShelfIndex>>,
    group: OnceLock<u64>,
    undoing: OnceLock<u64>,
}

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

/// What a person decided about something that waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decided {
    Accepted,
    Rejected,
    /// Neither: an earlier decision was taken back.
    Returned,
}

/// Why a draft is not word for word what was asked for.
pub(crate) const CUT: &str = "what looks like a secret was cut out";

/// The row of the policy by which a shelf's drafts are looked at.
pub(crate) fn row_of(shelf: ShelfName) -> Row {
    match shelf {
        ShelfName::Records => Row::Records,
        ShelfName::Topics => Row::Topics,
        ShelfName::Notes => Row::Notes,
        ShelfName::Vault => Row::Vault,
        ShelfName::Tiers => Row::Fact,
    }
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
            screen: OnceLock::new(),
            book: Mutex::default(),
            tiers: None,
            glanced: Mutex::new(None),
            group: OnceLock::new(),
            undoing: OnceLock::new(),
        }
    }

    /// Who asks.
    pub fn caller(&self) -> &Caller {
        &self.caller
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

    /// Has something wait for a person, and notes that it does. Returns its key.
    pub(crate) fn hold(&self, shelf: ShelfName, item: Waiting) -> Result<String> {
        if shelf == ShelfName::Tiers {
            return self.tiers()?.hold(item);
        }
        let lock = self.project.lock()?;
        // What waits without a line in the audit would be a store that nobody was told of.
        self.say(&lock, "memory_write", "confirm", shelf, &item.id, self.entry(), &[], None)?;
        self.inbox()?.put(item, self.project.world().now)
    }

    /// Asks the table of authority about an effect on a text of this owner on a shelf. A token caps what a person may do in the tiers, which it
    /// opens; the files of a project are that person's with and without it. Where `person.check` wants more than a terminal, a person who was
    /// not checked is refused, whichever door forgot to ask.
    pub(crate) fn asks(&self, verb: Verb, shelf: ShelfName, owner: Owner) -> Result<May> {
        let may = match self.caller.is_person() && shelf != ShelfName::Tiers {
            true => May::Does,
            false => verb.may(&self.caller, owner),
        };
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

    /// Whether this caller may do what only a person or a token with the scope for it may. A refusal is audited.
    pub fn permit(&self, verb: Verb, shelf: ShelfName, about: &str) -> Result<()> {
        self.asks(verb, shelf, Owner::Person).map(|_| ()).map_err(|fault| self.refuse(verb, about, fault))
    }

    /// Random bytes for what nobody may guess.
    pub(crate) fn random(&self) -> Result<[u8; 32]> {
        let missing = || Fault::new(Code::Internal, "there is no source of random bytes");
        self.deployment.dice().ok_or_else(missing)?()
    }

    /// Notes that the table of authority refused this, and hands the refusal on. A store that cannot be written to keeps nobody from
    /// being refused.
    pub(crate) fn refuse(&self, verb: Verb, id: &str, fault: Fault) -> Fault {
        if self.project.has_local()
            && let Ok(lock) = self.project.lock()
        {
            let shelf = MemoryId::parse(id).map_or(ShelfName::Records, |id| id.kind().shelf());
            let code = Some(fault.code.name());
            let _ = self.say(&lock, verb.name(), "refuse", shelf, id, self.entry(), &[], code);
        }
        if let Ok(tiers) = self.tiers() {
            tiers.refused(verb, &fault);
        }
        fault
    }

    /// The model that makes vectors.
    pub fn model(&self) -> Option<Arc<Chosen>> {
        self.deployment.model(&self.project.world().data)
    }

    /// Keeps an index that was glanced at until the next one comes.
    pub(crate) fn keep(&self, index: ShelfIndex) {
        *locked(&self.glanced) = Some(index);
    }

    /// Leaves an index that was glanced at to the system, for a process that is about to end: it takes everything back at once, faster than it
    /// could be handed back. Nothing was written to it.
    pub fn abandon_glance(&self) {
        std::mem::forget(locked(&self.glanced).take());
    }

    /// The same call with the tiers of an authenticated user.
    #[must_use]
    pub fn with_tiers(mut self, access: Access) -> Call {
        self.tiers = Some(access);
        self
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

    /// The record shelf.
    pub fn records(&self) -> Records<'_> {
        Records::new(self)
    }

    /// The topics shelf.
    pub fn topics(&self) -> Topics<'_> {
        Topics::new(self)
    }

    /// The notes shelf.
    pub fn notes(&self) -> Notes<'_> {
        Notes::new(self)
    }

    /// The vault.
    pub fn vault(&self) -> Vault<'_> {
        Vault::new(self)
    }

    /// The tiers of the user this engine was made for.
    pub fn tiers(&self) -> Result<Tiers<'_>> {
        let access =
            self.tiers.as_ref().ok_or_else(|| Fault::new(Code::Unauthenticated, "nobody is signed in"))?;
        Ok(Tiers::new(self, access))
    }

    /// Every shelf there is.
    pub fn shelves(&self) -> Vec<Box<dyn Shelf + '_>> {
        let mut shelves: Vec<Box<dyn Shelf + '_>> = vec![
            Box::new(self.records()),
            Box::new(self.topics()),
            Box::new(self.notes()),
            Box::new(self.vault()),
        ];
        if let Ok(tiers) = self.tiers() {
            shelves.push(Box::new(tiers));
        }
        shelves
    }

    /// The shelf that holds an id.
    pub fn shelf_of(&self, id: &MemoryId) -> Result<Box<dyn Shelf + '_>> {
        let name = id.kind().shelf();
        self.shelves()
            .into_iter()
            .find(|shelf| shelf.name() == name)
            .ok_or_else(|| crate::shelf::unknown(id.as_str()))
    }

    /// What the shelves hold that the gate would refuse.
    pub fn refused_content(&self) -> Result<Vec<Problem>> {
        let mut held = Vec::new();
        for shelf in self.shelves() {
            held.extend(
                shelf.verify()?.into_iter().filter(|problem| problem.code == Code::GateRefused.name()),
            );
        }
        Ok(held)
    }

    /// Cuts what the gate refuses out of every shelf. Returns the files that changed.
    pub fn redact_stored(&self, entry: Entry) -> Result<Vec<String>> {
        let mut changed = Vec::new();
        for shelf in self.shelves() {
            changed.extend(shelf.redact_stored(entry)?);
        }
        Ok(changed)
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

    /// Every inbox: the project's, and that of the user's tiers.
    pub fn inboxes(&self) -> Result<Vec<Inbox>> {
        let mut all = vec![self.inbox()?];
        all.extend(self.tiers().ok().map(|tiers| tiers.inbox()));
        Ok(all)
    }

    /// What is known of a stored text. A project this user's data folder does not know has only strangers.
    pub fn standing(&self, id: &str, hash: &str) -> Result<Standing> {
        self.with_book(|book| book.standing(id, hash))
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

    /// Drops what is known of an id and what was kept of it to take changes back, for `forget`.
    pub(crate) fn forget_trust(&self, id: &str) -> Result<()> {
        let data = self.project.data()?;
        trust::forget(&trust::path(data), id)?;
        self.book_grew();
        withdrawn::forget(data, id)?;
        crate::undo::forget(data, id)
    }

    /// Drops what was kept of an id to take changes back.
    pub(crate) fn forget_kept(&self, id: &str) -> Result<()> {
        crate::undo::forget(self.project.data()?, id)
    }

    /// Notes that this call changed the book on disk: whoever asks next is told what it says now.
    pub(crate) fn book_grew(&self) {
        *locked(&self.book) = Asked::Not;
    }

    /// Sends a draft through the gate. A refusal is audited here; what waits goes to the inbox, and the caller is told.
    pub fn pass<D: Draft>(
        &self,
        lock: &Lock,
        shelf: ShelfName,
        draft: D,
        entry: Entry,
        to_item: impl FnOnce(&D) -> Value,
    ) -> Result<Passed<D>> {
        self.pass_before_lock(|| Ok(lock), shelf, draft, entry, to_item)
    }

    /// The same for a caller that has no lock yet. Looking at a text needs none; it is asked for only if there is something to write down.
    pub fn pass_before_lock<D: Draft, L: Borrow<Lock>>(
        &self,
        lock: impl FnOnce() -> Result<L>,
        shelf: ShelfName,
        draft: D,
        entry: Entry,
        to_item: impl FnOnce(&D) -> Value,
    ) -> Result<Passed<D>> {
        let id = draft.id();
        match admit(draft, entry, self.screen()) {
            Decision::Passed(passed) => Ok(passed),
            Decision::Refused(fault) => {
                self.refused(lock()?.borrow(), shelf, &id, entry, &fault)?;
                Err(fault)
            }
            Decision::Waits { draft, remarks } => {
                Err(self.wait(lock()?.borrow(), shelf, &id, entry, &remarks, to_item(&draft))?)
            }
        }
    }

    fn wait(
        &self,
        lock: &Lock,
        shelf: ShelfName,
        id: &str,
        entry: Entry,
        remarks: &[Remark],
        mut draft: Value,
    ) -> Result<Fault> {
        let cut = self.screen().cut_draft(&mut draft, row_of(shelf));
        let id = &self.screen().redacted(id);
        let mut reasons: Vec<String> =
            remarks.iter().map(|r| format!("{} in `{}`", r.rule, r.field)).collect();
        if entry.trust() < heirloom_core::Trust::High {
            reasons.push(format!("from {}, trust {}", entry.channel.row().who, entry.trust().name()));
        }
        if cut {
            reasons.push(CUT.to_owned());
        }
        let now = self.project.world().now;
        let waiting = Waiting {
            id: id.to_owned(),
            shelf: shelf.name().to_owned(),
            channel: entry.channel,
            trust: entry.trust(),
            reasons,
            at: heirloom_core::time::format(now),
            draft,
        };
        self.say(lock, "memory_write", "confirm", shelf, id, entry, remarks, None)?;
        let key = self.inbox()?.put(waiting, now)?;
        Ok(Fault::new(
            Code::NeedsConfirmation,
            format!("`{id}` waits for a person's yes; nothing is stored yet"),
        )
        .fact("id", id.as_str())
        .fact("key", key.as_str())
        .hint(format!("a person accepts it with `heirloom review accept {key}`")))
    }

    /// The number under which everything this call changes can be taken back: that of its first change.
    pub(crate) fn group(&self, seq: u64) -> u64 {
        *self.group.get_or_init(|| seq)
    }

    /// That number, if this call changed anything yet.
    pub(crate) fn began(&self) -> Option<u64> {
        self.group.get().copied()
    }

    /// The change that this call takes back, if it does.
    pub(crate) fn undoing(&self) -> Option<u64> {
        self.undoing.get().copied()
    }

    /// From here on everything this call changes takes back the change of this number.
    pub(crate) fn begin_undo(&self, number: u64) {
        let _ = self.undoing.set(number);
    }
}

//! The vault's file and every write to it.
//!
//! Comes in: [`Write`]s and how they arrived. Goes out: appended lines. Every write holds the store's lock from reading the file to
//! the end of its append, so versions follow one another; the lines of one call are appended in one piece. Never here: a rewrite
//! (that is `compact` and `forget`), or content that did not pass the gate.

use super::current::{Current, MAX_VAULT, View};
use super::desk::Desk;
use super::draft::{Deed, VaultDraft};
use super::record::Record;
use super::rules::Rules;
use super::write::{Addition, Write};
use crate::budget;
use crate::call::Call;
use crate::files::{self, Lock, Mode, step};
use crate::gate::inbox::Item;
use crate::gate::policy::Row;
use crate::gate::{Decision, Entry, Passed, Remark, admit};
use crate::shelf::Done;
use crate::shelf::door::change::{Noting, Was, Written};
use heirloom_core::{Code, Fault, MemoryId, Owner, ShelfName, Status, Trust, fault::Result, hash};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::path::PathBuf;

/// The vault of a project.
#[derive(Debug)]
pub struct Vault<'e> {
    pub(super) call: &'e Call,
    pub(super) rules: Rules,
}

/// What a write left in the vault.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stored {
    /// `created`, `updated`, `promoted`, `retired`, `restored`.
    pub status: &'static str,
    /// The id in everybody's words.
    pub id: MemoryId,
    /// The line that was appended.
    pub record: Record<'static>,
    /// What the gate found and kept or changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
}

/// What retiring many at once did.
#[derive(Debug, Clone, PartialEq, Default, Serialize, schemars::JsonSchema)]
pub struct Retired {
    /// Out of use now.
    pub deleted: Vec<String>,
    /// Not there, or out of use already.
    pub not_found: Vec<String>,
    /// Waiting for a person's yes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<String>,
}

/// A line that passed the gate. Made from [`Passed`] and from nothing else.
struct Kept {
    stored: Stored,
    line: String,
    action: &'static str,
    before: Option<String>,
    /// The line it follows, the id that had and its status.
    follows: Option<(String, Vec<u8>, Status)>,
}

impl Kept {
    fn of(passed: Passed<VaultDraft<'_>>) -> Kept {
        let remarks = passed.remarks().to_vec();
        let draft = passed.into_draft();
        let record = draft.record().clone();
        let Deed { action, status } = draft.deed();
        Kept {
            line: record.line(),
            action,
            before: draft.carries_on().map(hash::sha256),
            follows: draft.follows(),
            stored: Stored { status, id: record.memory_id(), record, remarks },
        }
    }
}

impl<'e> Vault<'e> {
    /// The call this is the shelf of.
    pub(crate) fn call(&self) -> &'e Call {
        self.call
    }

    /// The vault with the rules of the settings.
    pub fn new(call: &'e Call) -> Vault<'e> {
        Vault { call, rules: Rules::of(call.settings()) }
    }

    /// The vault with other numbers.
    pub fn with_rules(call: &'e Call, rules: Rules) -> Vault<'e> {
        Vault { call, rules }
    }

    /// The numbers and names it goes by.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Where it is.
    pub fn path(&self) -> PathBuf {
        self.call.project().root().join(&["vault.jsonl"])
    }

    /// What counts in it now.
    pub fn current(&self) -> Result<Current> {
        Current::read(&self.path())
    }

    /// The file as it is, line by line; empty if there is none. [`super::Image::of`] makes sense of it.
    pub fn bytes(&self) -> Result<Vec<u8>> {
        Ok(files::read_if_there(&self.path(), budget::limit(MAX_VAULT, budget::VAULT))?.unwrap_or_default())
    }

    /// Adds a memory, or brings the register of its topic up to date.
    pub fn add(&self, new: Addition, entry: Entry) -> Result<Stored> {
        self.write(Write::Add(new), entry)
    }

    /// Brings a register up to date by its topic, or creates it.
    pub fn update_by_topic(
        &self,
        topic: &str,
        scope: &str,
        text: &str,
        category: Option<String>,
        tags: Option<Vec<String>>,
        entry: Entry,
    ) -> Result<Stored> {
        let new = Addition {
            scope: scope.to_owned(),
            tier: super::record::REGISTER.to_owned(),
            topic_id: Some(topic.to_owned()),
            category,
            tags,
            ..Addition::new(text)
        };
        self.add(new, entry)
    }

    /// Puts a memory back as it was in an earlier line. `version` is the hash of the line that counts now.
    pub(crate) fn put_back(&self, line: &str, version: &str, entry: Entry) -> Result<Done> {
        let write = Write::PutBack { line: line.to_owned(), based_on: version.to_owned() };
        let stored = self.write(write, entry)?;
        let path = Some(self.call.project().shown(&self.path()));
        Ok(Done { status: "put_back", id: stored.id, path, notes: Vec::new() })
    }

    /// One write.
    pub fn write(&self, write: Write, entry: Entry) -> Result<Stored> {
        let mut outcomes = self.write_all(vec![write], entry)?;
        outcomes.pop().unwrap_or_else(|| Err(Fault::new(Code::Internal, "a write had no outcome")))
    }

    /// Many writes in one pass: each sees the ones before it, a refused one costs only itself.
    pub fn write_all(&self, writes: Vec<Write>, entry: Entry) -> Result<Vec<Result<Stored>>> {
        let lock = self.call.lock()?;
        self.write_locked(&lock, writes, entry, None)
    }

    /// Takes memories out of use in one pass.
    pub fn retire_all(&self, ids: &[&str], entry: Entry) -> Result<Retired> {
        let writes = ids.iter().map(|id| Write::Retire { id: (*id).to_owned() }).collect();
        let mut retired = Retired::default();
        for (id, outcome) in ids.iter().zip(self.write_all(writes, entry)?) {
            let list = match outcome {
                Ok(_) => &mut retired.deleted,
                Err(fault) if fault.code == Code::NeedsConfirmation => &mut retired.waiting,
                Err(fault) if fault.code == Code::NotFound => &mut retired.not_found,
                Err(fault) => return Err(fault),
            };
            list.push((*id).to_owned());
        }
        Ok(retired)
    }

    /// The write a waiting draft asks for.
    pub fn asked(&self, item: &Item) -> Result<Write> {
        serde_json::from_value(item.draft.clone()).map_err(|e| {
            Fault::new(Code::Damaged, format!("inbox item `{}` cannot be read: {e}", item.key))
                .hint(format!("`heirloom review reject {}` discards it", item.key))
        })
    }

    /// What a waiting draft would do, and the line it would append if a person said yes now.
    pub fn proposed(&self, item: &Item) -> Result<(&'static str, Record<'static>)> {
        let write = self.asked(item)?;
        let current = self.current()?;
        let view = current.view();
        let desk = Desk::of(&view, std::slice::from_ref(&write).iter().filter_map(Write::names));
        let id = MemoryId::parse(&item.id).map(|id| id.name().to_owned()).filter(|id| !view.knows(id));
        let fresh = || id.unwrap_or_else(|| self.fresh_id(&view, &desk, 0));
        let draft = VaultDraft::of(write, &desk, &self.rules, self.call.project().world().now, fresh)?;
        Ok((draft.deed().status, draft.record().clone()))
    }

    /// Stores what waited in the inbox: a new pass through the gate, with a person's yes.
    pub fn accept(&self, item: &Item, entry: Entry) -> Result<Stored> {
        let write = self.asked(item)?;
        let id = MemoryId::parse(&item.id).map(|id| id.name().to_owned());
        let lock = self.call.lock()?;
        let inbox = self.call.inbox()?;
        inbox.unchanged(item)?;
        let stored = self
            .write_locked(&lock, vec![write], entry, id)?
            .pop()
            .unwrap_or_else(|| Err(Fault::new(Code::Internal, "a write had no outcome")))?;
        inbox.remove(item)?;
        Ok(stored)
    }

    pub(super) fn write_locked(
        &self,
        lock: &Lock,
        writes: Vec<Write>,
        entry: Entry,
        id: Option<String>,
    ) -> Result<Vec<Result<Stored>>> {
        let current = self.current()?;
        let view = current.view();
        let mut desk = Desk::of(&view, writes.iter().filter_map(Write::names));
        let mut kept = Vec::new();
        let mut outcomes = Vec::with_capacity(writes.len());
        for (n, write) in writes.into_iter().enumerate() {
            match self.judge(lock, write, &desk, &view, entry, (n, id.as_deref())) {
                Ok(one) => {
                    let line = Cow::Owned(one.line.clone().into_bytes());
                    desk.put(one.stored.record.clone(), line);
                    outcomes.push(Ok(one.stored.clone()));
                    kept.push(one);
                }
                // What concerns this write alone is its outcome; what concerns the store ends the call.
                Err(fault) if matches!(fault.code, Code::Io | Code::LockBusy) => return Err(fault),
                Err(fault) => outcomes.push(Err(fault)),
            }
        }
        self.append(lock, &kept, entry)?;
        Ok(outcomes)
    }

    fn judge(
        &self,
        lock: &Lock,
        write: Write,
        desk: &Desk<'_>,
        view: &View<'_>,
        entry: Entry,
        (n, id): (usize, Option<&str>),
    ) -> Result<Kept> {
        if !self.call.settings().vault.enabled && !matches!(write, Write::Retire { .. }) {
            return Err(Fault::new(Code::Config, "the vault is switched off")
                .hint("`heirloom config set vault.enabled true` switches it on"));
        }
        let waiting = match entry.trust() < Trust::High {
            true => self.waiting_id(&write)?,
            false => None,
        };
        let known = id.map(str::to_owned).or(waiting).filter(|id| !view.knows(id) && desk.get(id).is_none());
        let fresh = || known.unwrap_or_else(|| self.fresh_id(view, desk, n));
        let now = self.call.project().world().now;
        let draft = VaultDraft::of(write, desk, &self.rules, now, fresh)?;
        // What a person stands behind is replaced by nothing of less trust, in whatever scope and however it came here.
        let held = match draft.follows() {
            Some((id, line, _)) if entry.trust() < Trust::High => {
                self.call.owner_by(&id, &hash::sha256(&line))? == Owner::Person
            }
            _ => false,
        };
        let draft = draft.held(held);
        let to_item = |draft: &VaultDraft<'_>| serde_json::to_value(draft.waiting()).unwrap_or(Value::Null);
        self.call.pass(lock, ShelfName::Vault, draft, entry, to_item).map(Kept::of)
    }

    /// What a write would be refused for, without writing. For changes that wait: only what could be stored is worth a person's look.
    pub(crate) fn rehearse(&self, write: Write) -> Result<()> {
        let current = self.current()?;
        let view = current.view();
        let desk = Desk::of(&view, std::iter::once(&write).filter_map(Write::names));
        let fresh = || self.fresh_id(&view, &desk, 0);
        let draft = VaultDraft::of(write, &desk, &self.rules, self.call.project().world().now, fresh)?;
        match admit(draft, Entry { confirmed: true, ..self.call.entry() }, self.call.screen()) {
            Decision::Refused(fault) => Err(fault),
            Decision::Passed(_) | Decision::Waits { .. } => Ok(()),
        }
    }

    /// The id under which the very same draft waits already, so that asking twice makes one item.
    fn waiting_id(&self, write: &Write) -> Result<Option<String>> {
        let Write::Add(_) = write else { return Ok(None) };
        let mut value = serde_json::to_value(write).unwrap_or(Value::Null);
        self.call.screen().cut_draft(&mut value, Row::Vault);
        let items = self.call.inbox()?.list(self.call.project().world().now)?;
        let same =
            items.into_iter().find(|i| i.verified && i.shelf == ShelfName::Vault.name() && i.draft == value);
        Ok(same.and_then(|item| MemoryId::parse(&item.id)).map(|id| id.name().to_owned()))
    }

    /// Twelve hex digits nobody can guess and no line has: from this process's random bytes, the time and the place.
    fn fresh_id(&self, view: &View<'_>, desk: &Desk<'_>, n: usize) -> String {
        let world = self.call.project().world();
        let seed = format!("{}\0{}\0{}\0{n}", world.nonce, world.now.as_nanosecond(), view.lines);
        let mut id = hash::sha256(seed.as_bytes());
        loop {
            let short = &id[..12];
            if !view.knows(short) && desk.get(short).is_none() {
                return short.to_owned();
            }
            id = hash::sha256(id.as_bytes());
        }
    }

    fn append(&self, lock: &Lock, kept: &[Kept], entry: Entry) -> Result<()> {
        if kept.is_empty() {
            return Ok(());
        }
        let hashes: Vec<String> = kept.iter().map(|one| hash::sha256(one.line.as_bytes())).collect();
        let noting: Vec<Noting<'_>> = kept
            .iter()
            .zip(&hashes)
            .map(|(one, hash)| Noting {
                entry,
                remarks: &one.stored.remarks,
                what: Written {
                    body: &one.stored.record.text,
                    action: one.action,
                    shelf: ShelfName::Vault,
                    id: one.stored.id.as_str(),
                    hash,
                    before: one.before.as_deref(),
                    size: one.line.len(),
                    was: match &one.follows {
                        Some((id, bytes, status)) => Was::Text { id, bytes, status: *status },
                        None => Was::Nothing,
                    },
                    leaves: if one.stored.record.is_active() { Status::Active } else { Status::Retired },
                },
                edition: self.passes(&one.stored.record.text),
            })
            .collect();
        let intent = self.call.intend_all(lock, &noting)?;
        files::append_lines(&self.path(), kept.iter().map(|one| one.line.as_str()), Mode::Shared)?;
        step::reached("record-stored");
        intent.done();
        Ok(())
    }
}

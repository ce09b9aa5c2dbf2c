//! A change to a file shelf, in the one order that all of them keep: intent, store, outcome.
//!
//! Comes in: what is about to be stored and the lock. Goes out: an [`Intent`], without which no shelf touches its files, and which says
//! afterwards what became of it. Before the intent is audited, what is needed to take the change back is kept, and who wrote the new text is
//! noted outside the repository. Whoever writes next completes what a stopped process left open. Never here: the store itself; content in the
//! audit.

use crate::call::Call;
use crate::files::{Lock, step};
use crate::gate::audit::{Chain, Event, Open, Outcome};
use crate::gate::inbox::Waiting;
use crate::gate::policy::Act;
use crate::gate::trust::{self, Standing};
use crate::gate::{Edition, Entry, Passed, Remark, withdrawn};
use crate::undo::{self, Before, Kept};
use heirloom_core::{Channel, Code, Fault, MemoryId, ShelfName, Status, fault::Result, time};
use std::collections::HashMap;

/// Actions that take a memory out of use.
const WITHDRAWS: [&str; 2] = ["memory_retire", "memory_archive"];

/// Forgetting keeps nothing of what was there, not even for a while.
const FORGETS: &str = "memory_forget";

/// A decision in review was taken back.
const RETURNS: &str = "review_return";
/// What a person decided about something that waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decided {
    Accepted,
    Rejected,
    /// Neither: an earlier decision was taken back.
    Returned,
}

/// What was there before a change.
#[derive(Debug, Clone, Copy)]
pub enum Was<'a> {
    /// Nothing.
    Nothing,
    /// A text.
    Text {
        /// The id it had.
        id: &'a str,
        /// Its bytes.
        bytes: &'a [u8],
        /// Its status.
        status: Status,
    },
    /// Something that is not kept: what the gate cut out, or what is not one memory's text.
    Unkept,
}

/// What a write leaves behind, for its audit line, its trust entry and its way back.
#[derive(Debug, Clone, Copy)]
pub struct Written<'a> {
    /// `memory_write`, `memory_retire`, …
    pub action: &'static str,
    /// The shelf.
    pub shelf: ShelfName,
    /// The id.
    pub id: &'a str,
    /// SHA-256 of what is stored; empty if nothing is left.
    pub hash: &'a str,
    /// What the new text says, whatever its name; empty if no new text comes in.
    pub body: &'a str,
    /// SHA-256 of what was there before, if only its status changes: trust is carried over, not made anew.
    pub before: Option<&'a str>,
    /// Bytes stored.
    pub size: usize,
    /// What was there.
    pub was: Was<'a>,
    /// The status the memory has afterwards.
    pub leaves: Status,
}

/// A decision in review.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decision<'a> {
    pub(crate) decided: Decided,
    pub(crate) shelf: ShelfName,
    /// What it is about.
    pub(crate) id: &'a str,
    /// How that had arrived.
    pub(crate) entry: Entry,
    /// The draft, if it was one.
    pub(crate) draft: Option<&'a Waiting>,
    /// The bytes, of a memory as it stands.
    pub(crate) hash: &'a str,
}

/// One change of several.
#[derive(Debug)]
pub(crate) struct Noting<'a> {
    pub(crate) entry: Entry,
    pub(crate) remarks: &'a [Remark],
    pub(crate) what: Written<'a>,
    /// The edition of the rules that refuses nothing in what is stored.
    pub(crate) edition: Option<Edition>,
}

/// What a change replaces by other bytes. Forgetting drops all that is known of an id by itself.
fn replaced(what: &Written<'_>) -> Option<(String, String)> {
    let Was::Text { id, bytes, .. } = what.was else { return None };
    let hash = heirloom_core::hash::sha256(bytes);
    (what.action != FORGETS && hash != what.hash).then(|| (id.to_owned(), hash))
}

/// The audit knows what is about to happen. Dropped without [`Intent::done`], it did not happen.
#[derive(Debug)]
#[must_use = "say what became of it"]
pub struct Intent<'c> {
    call: &'c Call,
    lock: &'c Lock,
    from: u64,
    to: u64,
    settled: bool,
    /// Ids and hashes of what the change replaces.
    replaced: Vec<(String, String)>,
}

impl Intent<'_> {
    /// It happened. What it replaced no longer has its owner's word; a book that cannot be written costs only that.
    pub fn done(mut self) {
        self.settle(Outcome::Done);
        // Whoever cannot note it is taken for a guest a little longer.
        let _ = self.call.project().note_used();
        for (id, hash) in std::mem::take(&mut self.replaced) {
            let _ = self.call.supersede(&id, &hash);
        }
    }

    /// An outcome that cannot be written changes nothing about what happened: the next writer finds out and says so.
    fn settle(&mut self, outcome: Outcome) {
        self.settled = true;
        tracing::debug!(from = self.from, to = self.to, ?outcome, "outcome");
        if let Ok(mut chain) = self.call.chain_as_it_is(self.lock) {
            chain.settle(self.from, self.to, outcome);
            let _ = chain.write();
        }
        step::reached("settled");
    }
}

impl Drop for Intent<'_> {
    fn drop(&mut self) {
        if !self.settled {
            self.settle(Outcome::Failed);
        }
    }
}

impl Call {
    /// Says that what passed the gate is about to be stored.
    pub fn intend<'c, D>(
        &'c self,
        lock: &'c Lock,
        passed: &Passed<D>,
        what: Written<'_>,
    ) -> Result<Intent<'c>> {
        self.intend_plain(lock, passed.entry(), passed.remarks(), what)
    }

    /// The same for changes that need no draft (retiring, archiving).
    pub fn intend_plain<'c>(
        &'c self,
        lock: &'c Lock,
        entry: Entry,
        remarks: &[Remark],
        what: Written<'_>,
    ) -> Result<Intent<'c>> {
        self.intend_all(lock, &[Noting { entry, remarks, what, edition: None }])
    }

    /// The same for several changes that are stored in one piece.
    pub(crate) fn intend_all<'c>(&'c self, lock: &'c Lock, all: &[Noting<'_>]) -> Result<Intent<'c>> {
        let mut chain = self.chain(lock)?;
        let from = chain.next();
        let group = self.in_files().group(from);
        let by = self.caller().shown();
        let mut kept = Vec::with_capacity(all.len());
        let names = self.audit_names(&all.iter().map(|one| one.what.id).collect::<Vec<_>>())?;
        for (Noting { entry, remarks, what, .. }, name) in all.iter().zip(&names) {
            let redacts = remarks.iter().any(|r| r.act == Act::Redact);
            let event = Event {
                action: what.action,
                verdict: if redacts { "redact" } else { "keep" },
                shelf: what.shelf.name(),
                id: name,
                by: &by,
                channel: entry.channel,
                size: what.size,
                remarks,
                code: None,
                intent: true,
                undoes: self.in_files().undoing(),
            };
            let seq = chain.push(&event);
            if what.action != FORGETS {
                kept.push(Kept {
                    seq,
                    group,
                    at: time::format(self.project().world().now),
                    when: self.project().world().now.as_microsecond(),
                    id: what.id.to_owned(),
                    action: what.action.to_owned(),
                    by: by.clone(),
                    person: self.caller().is_person() || self.in_files().undoes_a_persons(),
                    was: self.before(what)?,
                    hash: what.hash.to_owned(),
                    status: what.leaves.name().to_owned(),
                    undoes: self.in_files().undoing(),
                    draft: None,
                });
            }
        }
        self.keep_before(&kept)?;
        for one in all {
            self.note_standing(one.entry, &one.what, one.edition)?;
        }
        // Last, so that a disk that is full of anything else leaves no line of what did not happen.
        chain.write()?;
        step::reached("audited");
        tracing::debug!(from, changes = all.len(), "intent audited");
        let to = from + (all.len() as u64).saturating_sub(1);
        let replaced = all.iter().filter_map(|one| replaced(&one.what)).collect();
        Ok(Intent { call: self, lock, from, to, settled: false, replaced })
    }

    /// Takes its owner's word from a text that was changed, if it had one.
    fn supersede(&self, id: &str, hash: &str) -> Result<()> {
        if self.standing(id, hash)? == Standing::STRANGER {
            return Ok(());
        }
        let book = trust::path(self.project().data()?);
        trust::supersede(&book, self.project().world().now, id, hash)?;
        self.book_grew();
        Ok(())
    }

    fn keep_before(&self, kept: &[Kept]) -> Result<()> {
        if kept.is_empty() {
            return Ok(());
        }
        undo::keep(self.project().data()?, self.project().store_name(), self.project().world().now, kept)
    }

    fn before(&self, what: &Written<'_>) -> Result<Before> {
        Ok(match what.was {
            Was::Nothing => Before::Nothing,
            Was::Unkept => Before::Unkept,
            Was::Text { id, bytes, status } => match std::str::from_utf8(bytes) {
                Ok(text) => {
                    let standing = self.standing(id, &heirloom_core::hash::sha256(bytes))?;
                    let (channel, accepted) = (standing.channel, standing.accepted);
                    Before::Text {
                        text: text.to_owned(),
                        status: status.name().to_owned(),
                        channel,
                        accepted,
                    }
                }
                Err(_) => Before::Unkept,
            },
        })
    }

    /// Who wrote what is about to be stored, in the user's data folder. It is bound to the exact bytes: if they are never stored, it says nothing.
    fn note_standing(&self, entry: Entry, what: &Written<'_>, edition: Option<Edition>) -> Result<()> {
        if what.hash.is_empty() {
            return Ok(());
        }
        let standing = match what.before {
            Some(before) => self.standing(what.id, before)?,
            None => self.grown(what, Standing { channel: entry.channel, accepted: entry.confirmed })?,
        };
        let data = self.project().data()?;
        if standing != Standing::STRANGER {
            let now = self.project().world().now;
            let body = trust::body_of(what.body);
            let line =
                trust::Noted { id: what.id, hash: what.hash, standing, body: body.as_deref(), edition };
            trust::note_whole(&trust::path(data), now, &line)?;
            self.book_grew();
        }
        if entry.channel == Channel::Person && WITHDRAWS.contains(&what.action) {
            withdrawn::note(data, what.id, what.hash)?;
        }
        Ok(())
    }

    /// How a text stands after a change: whoever changes a part of it without having seen the rest gives their word for none of it.
    fn grown(&self, what: &Written<'_>, new: Standing) -> Result<Standing> {
        match what.was {
            Was::Text { id, bytes, .. } if self.is_unseen() && !new.accepted => {
                let old = self.standing(id, &heirloom_core::hash::sha256(bytes))?;
                Ok(if old.trust() < new.trust() { old } else { new })
            }
            _ => Ok(new),
        }
    }

    /// What a person decided in review, in the audit: a yes to a draft, whose own lines follow.
    pub(crate) fn decided(&self, lock: &Lock, decision: &Decision<'_>) -> Result<()> {
        self.decide(lock, decision, false).map(|_| ())
    }

    /// What a person is about to decide in review. Dropped without [`Intent::done`], it did not happen.
    pub(crate) fn decides<'c>(&'c self, lock: &'c Lock, decision: &Decision<'_>) -> Result<Intent<'c>> {
        let seq = self.decide(lock, decision, true)?;
        step::reached("decided");
        Ok(Intent { call: self, lock, from: seq, to: seq, settled: false, replaced: Vec::new() })
    }

    fn decide(&self, lock: &Lock, decision: &Decision<'_>, intent: bool) -> Result<u64> {
        let Decision { decided, shelf, id, entry, draft, hash } = *decision;
        let (action, verdict) = match decided {
            Decided::Accepted => ("review_accept", "keep"),
            Decided::Rejected => ("review_reject", "refuse"),
            Decided::Returned => (RETURNS, "confirm"),
        };
        let id = self.screen().redacted(id);
        let by = self.caller().shown();
        let mut chain = self.chain(lock)?;
        let seq = chain.next();
        self.keep_before(&[Kept {
            seq,
            group: self.in_files().group(seq),
            at: time::format(self.project().world().now),
            when: self.project().world().now.as_microsecond(),
            id: id.clone(),
            action: action.to_owned(),
            by: by.clone(),
            person: self.caller().is_person() || self.in_files().undoes_a_persons(),
            was: Before::Unkept,
            hash: hash.to_owned(),
            status: Status::Active.name().to_owned(),
            undoes: self.in_files().undoing(),
            draft: draft.cloned(),
        }])?;
        chain.push(&Event {
            action,
            verdict,
            shelf: shelf.name(),
            id: &self.audit_names(&[&id])?[0],
            by: &by,
            channel: entry.channel,
            size: 0,
            remarks: &[],
            code: None,
            intent,
            undoes: self.in_files().undoing(),
        });
        chain.write()?;
        Ok(seq)
    }

    /// A refusal in the audit. An id is made from a title, and a title the gate refused may be the secret itself: of what the gate
    /// refused only the kind is noted.
    pub fn refused(
        &self,
        lock: &Lock,
        shelf: ShelfName,
        id: &str,
        entry: Entry,
        fault: &Fault,
    ) -> Result<()> {
        let noted = match (fault.code, id.split_once(':')) {
            (Code::GateRefused, Some((kind, _))) => kind,
            (Code::GateRefused, None) => "",
            _ => id,
        };
        self.say(lock, "memory_write", "refuse", shelf, noted, entry, &[], Some(fault.code.name()))
    }

    /// A line that stands for itself: nothing is stored because of it.
    #[allow(
        clippy::too_many_arguments,
        reason = "the fields of one audit line, all named at the one place that writes it"
    )]
    pub(crate) fn say(
        &self,
        lock: &Lock,
        action: &'static str,
        verdict: &'static str,
        shelf: ShelfName,
        id: &str,
        entry: Entry,
        remarks: &[Remark],
        code: Option<&'static str>,
    ) -> Result<()> {
        let by = self.caller().shown();
        let mut chain = self.chain(lock)?;
        chain.push(&Event {
            action,
            verdict,
            shelf: shelf.name(),
            id: &self.audit_names(&[id])?[0],
            by: &by,
            channel: entry.channel,
            size: 0,
            remarks,
            code,
            intent: false,
            undoes: None,
        });
        chain.write()
    }

    fn chain_as_it_is(&self, lock: &Lock) -> Result<Chain> {
        Chain::end(&self.audit_path()?, lock, self.project().world().now)
    }

    /// The number that the next line of the audit gets, once what a stopped process left open has its word.
    pub(crate) fn next_number(&self, lock: &Lock) -> Result<u64> {
        Ok(self.chain(lock)?.next())
    }

    /// Says what became of whatever a stopped process left open.
    pub(crate) fn settle_open(&self, lock: &Lock) -> Result<()> {
        self.chain(lock)?.write()
    }

    /// The end of the chain, with a word about whatever a stopped process left open.
    pub(crate) fn chain(&self, lock: &Lock) -> Result<Chain> {
        let mut chain = self.chain_as_it_is(lock)?;
        if chain.open().is_empty() {
            if self.audit_is_plain()? {
                self.rename_audit(lock)?;
                chain = self.chain_as_it_is(lock)?;
            }
            return Ok(chain);
        }
        let ids = self.audit_ids()?;
        let project = self.project();
        let kept = match project.known_data()? {
            Some(data) => undo::kept(&data, project.store_name(), project.world().now)?,
            None => Vec::new(),
        };
        let mut runs: Vec<(u64, u64, Outcome)> = Vec::new();
        for open in chain.open() {
            let outcome = self.became(open, &kept, &ids);
            match runs.last_mut() {
                Some((_, to, same)) if *same == outcome => *to = open.seq,
                _ => runs.push((open.seq, open.seq, outcome)),
            }
        }
        for (from, to, outcome) in runs {
            chain.settle(from, to, outcome);
        }
        Ok(chain)
    }

    /// What became of a change nobody finished, by what is there now.
    fn became(&self, open: &Open, kept: &[Kept], ids: &HashMap<String, String>) -> Outcome {
        let asked = ids.get(&open.id).unwrap_or(&open.id);
        if open.action.starts_with("review_") {
            return self.became_of_decision(open, asked, kept).unwrap_or(Outcome::Unknown);
        }
        let found = MemoryId::parse(asked).and_then(|id| self.shelf_of(&id).ok()?.get(&id).ok());
        let Some(found) = found else { return Outcome::Unknown };
        let now = found.as_ref().map(|memory| (memory.content_hash.as_str(), memory.status));
        if open.action == FORGETS {
            return if now.is_none() { Outcome::Done } else { Outcome::Failed };
        }
        match kept.iter().rev().find(|one| one.seq == open.seq && one.id == *asked) {
            // A change that leaves the text as it was, like one of its anchors, cannot be told from none.
            Some(one) if one.left(now) && one.found(now) => Outcome::Unknown,
            Some(one) if one.left(now) && one.was != Before::Unkept => Outcome::Done,
            Some(one) if one.found(now) => Outcome::Failed,
            _ => Outcome::Unknown,
        }
    }

    /// The same of a decision in review, by the trust book or the inbox.
    fn became_of_decision(&self, open: &Open, asked: &str, kept: &[Kept]) -> Option<Outcome> {
        let one = kept.iter().rev().find(|one| one.seq == open.seq && one.id == asked)?;
        let returned = open.action == RETURNS;
        let done = match &one.draft {
            None => self.standing(&one.id, &one.hash).ok()?.accepted != returned,
            Some(draft) => {
                let items = self.inbox().ok()?.list(self.project().world().now).ok()?;
                items.iter().any(|item| item.id == draft.id && super::back::same_draft(item, draft))
                    == returned
            }
        };
        Some(if done { Outcome::Done } else { Outcome::Failed })
    }
}

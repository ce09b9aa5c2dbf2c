//! The door of every shelf: the way in through the gate, and the order in which a change is written down.
//!
//! Comes in: a draft and how it arrived. Goes out: a [`Passed`] draft, or why not; what waits is kept without secrets in an inbox, and whoever asked is
//! told its key. Files note all of it in the project's audit ([`change`]); the tiers, whose store and audit are one transaction, in their user's.
//! Never here: the store itself.

mod audit_names;
pub(crate) mod back;
pub(crate) mod change;
pub(crate) mod whole;

use crate::call::Call;
use crate::files::{self, Lock};
use crate::gate::inbox::Waiting;
use crate::gate::policy::Row;
use crate::gate::{Decision, Draft, Entry, Passed, Remark, admit};
use crate::gate::{trust, withdrawn};
use heirloom_core::{Code, Fault, ShelfName, Trust, fault::Result, time};
use serde_json::Value;
use std::borrow::Borrow;
use std::path::Path;

/// Why a draft is not word for word what was asked for.
const CUT: &str = "what looks like a secret was cut out";

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

/// Why a draft waits, a line each: what the gate found, where it came from if that is the reason, and that something was cut out.
pub(super) fn reasons(remarks: &[Remark], origin: Option<String>, cut: bool) -> Vec<String> {
    let found = remarks.iter().map(|remark| format!("{} in `{}`", remark.rule, remark.field));
    found.chain(origin).chain(cut.then(|| CUT.to_owned())).collect()
}

/// What whoever asked is told of something that waits.
pub(super) fn told(message: &str, id: &str, key: &str) -> Fault {
    Fault::new(Code::NeedsConfirmation, message)
        .fact("id", id)
        .fact("key", key)
        .hint(format!("a person accepts it with `heirloom review accept {key}`"))
}

/// How the text of a change that could not be taken is called, before its ending, in the user's folder for the project.
pub const EDITED: &str = "edited";

/// Removes such texts.
pub(crate) fn forget_edited(project_data: &Path) -> Result<()> {
    for ending in ["json", "md", "txt"] {
        files::remove(&project_data.join(format!("{EDITED}.{ending}")))?;
    }
    Ok(())
}

impl Call {
    /// Waits for the store's lock. What a stopped process left half taken back is made good before anybody sees it.
    pub fn lock(&self) -> Result<Lock> {
        let lock = self.project().lock()?;
        if !lock.is_again() {
            whole::make_good(self, &lock)?;
        }
        Ok(lock)
    }

    /// Drops what is known of an id and what was kept of it to take changes back, for `forget`.
    pub(crate) fn forget_trust(&self, id: &str) -> Result<()> {
        let data = self.project().data()?;
        trust::forget(&trust::path(data), id)?;
        self.book_grew();
        withdrawn::forget(data, id)?;
        super::records::forget_gists(data)?;
        forget_edited(data)?;
        self.forget_kept(id)
    }

    /// Drops what was kept of an id to take changes back, and the way from the audit back to it.
    pub(crate) fn forget_kept(&self, id: &str) -> Result<()> {
        crate::undo::forget(self.project().data()?, id)?;
        self.forget_name(id)
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
        let origin = (entry.trust() < Trust::High)
            .then(|| format!("from {}, trust {}", entry.channel.row().who, entry.trust().name()));
        let reasons = reasons(remarks, origin, cut);
        let now = self.project().world().now;
        let waiting = Waiting {
            id: id.to_owned(),
            shelf: shelf.name().to_owned(),
            channel: entry.channel,
            trust: entry.trust(),
            reasons,
            at: time::format(now),
            draft,
        };
        self.say(lock, "memory_write", "confirm", shelf, id, entry, remarks, None)?;
        let key = self.inbox()?.put(waiting, now)?;
        Ok(told(&format!("`{id}` waits for a person's yes; nothing is stored yet"), id, &key))
    }
}

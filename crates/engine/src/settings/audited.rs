//! The audit of what belongs to no shelf: settings, approvals, the PIN.
//!
//! Comes in: a call and what it is about to change. Goes out: a line before the change, in the project's audit or in the user's own, and
//! one after it. Without the first nothing is changed. One change of settings at a time, so that none overwrites another. Never here: a
//! value; a line names keys only.

use crate::call::Call;
use crate::files::{self, LOCK_LIMIT, Lock, Mode};
use crate::gate::audit::{Chain, Event, Outcome};
use heirloom_core::{Code, ShelfName, Verb, fault::Result};
use jiff::Timestamp;
use std::path::{Path, PathBuf};

/// The user's own chain, in the data folder.
const FILE: &str = "audit.jsonl";

/// The user's own chain of what belongs to no project.
pub(crate) fn own_chain(data: &Path) -> PathBuf {
    data.join(FILE)
}

/// Whoever changes settings now.
#[derive(Debug)]
pub(crate) struct Turn<'c> {
    call: &'c Call,
    _settings: Lock,
}

impl<'c> Turn<'c> {
    /// Waits until nobody else changes settings of this user.
    pub(crate) fn wait(call: &'c Call) -> Result<Turn<'c>> {
        let data = &call.project().world().data;
        files::make_folder(data, Mode::Private)?;
        Ok(Turn { call, _settings: Lock::acquire(&data.join("settings.lock"), LOCK_LIMIT)? })
    }

    /// Says what is about to change. `of_project` names a change of the project's own settings, which belongs into its audit where it has
    /// one that this user wants.
    pub(crate) fn intend(&self, verb: Verb, about: &str, of_project: bool) -> Result<Noted> {
        let (call, world) = (self.call, self.call.project().world());
        let project = call.project();
        let beside = of_project && project.has_local() && super::is_wanted(call).is_ok();
        let (path, lock, mut chain, id) = if beside {
            let (path, lock) = (project.local()?.path(FILE), project.lock()?);
            let chain = call.chain(&lock)?;
            (path, lock, chain, format!("setting:{about}"))
        } else {
            let path = own_chain(&world.data);
            let lock = Lock::acquire(&world.data.join("audit.lock"), LOCK_LIMIT)?;
            let mut chain = Chain::end(&path, &lock, world.now)?;
            // What a stopped process left open here cannot be told from what is there.
            let open: Vec<u64> = chain.open().iter().map(|open| open.seq).collect();
            open.into_iter().for_each(|seq| chain.settle(seq, seq, Outcome::Unknown));
            let whose = if of_project { project.folder().display().to_string() } else { "user".to_owned() };
            (path, lock, chain, format!("setting:{about} of {whose}"))
        };
        let by = call.caller().shown();
        let seq = chain.push(&Event {
            action: verb.name(),
            verdict: "keep",
            shelf: "settings",
            id: &id,
            by: &by,
            channel: call.caller().channel(),
            size: 0,
            remarks: &[],
            code: None,
            intent: true,
            undoes: None,
        });
        chain.write()?;
        files::step::reached("audited");
        Ok(Noted { path, lock, now: world.now, seq, settled: false })
    }
}

/// Notes that somebody came with a token that is nobody's, so many times since it was last noted. Who it was nobody knows; the audit of the account
/// that the door belongs to says that it happened.
pub(crate) fn turned_away(call: &Call, times: u64) -> Result<()> {
    let world = call.project().world();
    files::make_folder(&world.data, Mode::Private)?;
    let lock = Lock::acquire(&world.data.join("audit.lock"), LOCK_LIMIT)?;
    let mut chain = Chain::end(&own_chain(&world.data), &lock, world.now)?;
    let (id, by) = (format!("token:unknown x{times}"), call.caller().shown());
    chain.push(&Event {
        action: "sign_in",
        verdict: "refuse",
        shelf: ShelfName::Tiers.name(),
        id: &id,
        by: &by,
        channel: call.caller().channel(),
        size: 0,
        remarks: &[],
        code: Some(Code::Unauthenticated.name()),
        intent: false,
        undoes: None,
    });
    chain.write()
}

/// A change that the audit knows of. Dropped without [`Noted::done`], it did not happen.
#[derive(Debug)]
#[must_use = "say what became of it"]
pub(crate) struct Noted {
    path: PathBuf,
    lock: Lock,
    now: Timestamp,
    seq: u64,
    settled: bool,
}

impl Noted {
    /// It happened.
    pub(crate) fn done(mut self) {
        self.settle(Outcome::Done);
    }

    /// An outcome that cannot be written changes nothing about what happened: the next writer says so.
    fn settle(&mut self, outcome: Outcome) {
        self.settled = true;
        if let Ok(mut chain) = Chain::end(&self.path, &self.lock, self.now) {
            chain.settle(self.seq, self.seq, outcome);
            let _ = chain.write();
        }
        files::step::reached("settled");
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        if !self.settled {
            self.settle(Outcome::Failed);
        }
    }
}

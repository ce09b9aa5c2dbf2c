//! Collecting: what is past its time goes.
//!
//! Comes in: the settings' grace period and retention days. Goes out: what was retired, removed, archived or skipped. Records are
//! retired first when they were not updated for too long, and removed only after the grace period. The index is left to
//! the caller, who holds the same lock. Never here: touching anything active without a retention setting.

use super::scan::Found;
use super::store::Records;
use super::target::Target;
use crate::files::{self, Lock, Mode};
use crate::gate::Entry;
use crate::shelf::door::change::{Was, Written};
use heirloom_core::settings::Origin;
use heirloom_core::{Channel, Kind, MemoryId, Owner, Settings, ShelfName, Status, Verb, fault::Result, time};
use serde::Serialize;

/// What collecting did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Collected {
    /// Days between retiring and collecting.
    pub grace_period_days: u32,
    /// Files that are gone.
    pub deleted: Vec<String>,
    /// Files that were moved to the archive.
    pub archived: Vec<String>,
    /// Records retired because nobody updated them for too long.
    pub retired: Vec<String>,
    /// Retired files that were left: `path: why`.
    pub skipped: Vec<String>,
    /// Files that could not be removed: `path: why`.
    pub failed: Vec<String>,
    /// Files that could not be read.
    pub unreadable: Vec<String>,
}

impl Records<'_> {
    /// Collects by the settings. With `dry_run` nothing is touched and the answer says what would be.
    pub fn collect(&self, dry_run: bool) -> Result<Collected> {
        self.collect_after(self.call.settings().delete.grace_period_days, dry_run)
    }

    /// The same with another grace period. Whether the caller may shorten it is the verb's to ask.
    pub(crate) fn collect_after(&self, grace_period_days: u32, dry_run: bool) -> Result<Collected> {
        let now = self.call.project().world().now;
        let archive = self.call.settings().delete.archive_retired;
        let mut done = Collected { grace_period_days, ..Collected::default() };
        self.retire_unused(dry_run, &mut done)?;
        let persons = self.persons_grace(grace_period_days);
        let lock = if dry_run { None } else { Some(self.call.lock()?) };
        let scan = self.scan();
        done.unreadable = scan.unreadable;
        for found in scan.found.iter().filter(|f| f.status() == Some(Status::Retired)) {
            let shown = self.call.project().shown(&found.path);
            let Some(at) = found.document.text("retired_at") else {
                done.skipped.push(format!("{shown}: no retired_at"));
                continue;
            };
            let Some(age) = time::parse(at).map(|at| time::days_between(at, now)) else {
                done.skipped.push(format!("{shown}: retired_at is not a date"));
                continue;
            };
            if age < i64::from(grace_period_days) {
                continue;
            }
            if age < persons && self.is_a_persons(found)? {
                done.skipped.push(format!("{shown}: a person stands behind it; run `heirloom gc` yourself"));
                continue;
            }
            let outcome = match &lock {
                None => Ok(()),
                Some(lock) => self.collect_one(lock, found, archive),
            };
            match outcome {
                Ok(()) if archive => done.archived.push(shown),
                Ok(()) => done.deleted.push(shown),
                Err(fault) => done.failed.push(format!("{shown}: {}", fault.message)),
            }
        }
        if let Some(lock) = &lock {
            self.sweep(lock)?;
            self.call.inbox()?.sweep(now, None)?;
        }
        Ok(done)
    }

    /// Days that a retired text of a person's stays, whoever collects: what cannot be taken back needs a person, or a token for it, unless the usual
    /// time is over. The days a project sets count for the rest, since an agent can set them.
    fn persons_grace(&self, asked: u32) -> i64 {
        const KEY: &str = "delete.grace_period_days";
        if self.call.asks(Verb::RemoveEarly, ShelfName::Records, Owner::Person).is_ok() {
            return asked.into();
        }
        let mut values = self.call.said().values.iter();
        let users = values.any(|value| value.name == KEY && value.origin == Origin::User);
        let usual = Settings::standard().delete.grace_period_days;
        if users { asked.into() } else { asked.max(usual).into() }
    }

    fn is_a_persons(&self, found: &Found) -> Result<bool> {
        Ok(self.call.owner_of(&self.memory(found)?)? == Owner::Person)
    }

    /// Removes one record that is past its time, or moves it to the archive.
    fn collect_one(&self, lock: &Lock, found: &Found, archive: bool) -> Result<()> {
        let kind = Kind::named(found.document.category().unwrap_or(&found.folder_category));
        let stem = found.path.file_stem().unwrap_or_default().to_string_lossy();
        let id = MemoryId::new(&kind, &stem);
        let written = Written {
            body: "",
            action: "memory_collect",
            shelf: ShelfName::Records,
            id: id.as_str(),
            hash: "",
            before: None,
            size: found.bytes.len(),
            was: Was::Unkept,
            leaves: Status::Retired,
        };
        // By the user's settings, as retiring what nobody updates is.
        let intent = self.call.intend_plain(lock, Entry::through(Channel::Person), &[], written)?;
        match archive {
            true => self.move_to_archive(lock, &found.path, &found.bytes)?,
            false => files::remove(&found.path)?,
        }
        intent.done();
        Ok(())
    }

    /// Removes what killed writers left, wherever the shelf writes.
    pub(super) fn sweep(&self, _lock: &Lock) -> Result<()> {
        let local = self.call.project().local()?;
        let archive = self.root().join("archive");
        let folders = self.call.settings().categories.iter();
        for category in folders {
            files::sweep_temporary(&self.folder(category));
            files::sweep_temporary(&archive.join(&category.folder));
        }
        let inbox = self.call.inbox()?;
        for folder in [self.root(), local.folder(), &local.path("inbox"), inbox.folder()] {
            files::sweep_temporary(folder);
        }
        Ok(())
    }

    fn retire_unused(&self, dry_run: bool, done: &mut Collected) -> Result<()> {
        let now = self.call.project().world().now;
        for category in self.call.settings().categories.iter().filter(|c| c.retention_days > 0) {
            for found in self.scan_folder(category).found {
                let touched = ["updated_at", "created_at"]
                    .iter()
                    .find_map(|key| found.document.text(key).and_then(time::parse));
                let old = touched
                    .is_some_and(|at| time::days_between(at, now) >= i64::from(category.retention_days));
                if found.status() != Some(Status::Active) || !old {
                    continue;
                }
                let shown = self.call.project().shown(&found.path);
                if !self.may_retire(&found)? {
                    done.skipped.push(format!("{shown}: a person stands behind it; retire it yourself"));
                    continue;
                }
                if !dry_run {
                    let target = Target { path: found.path, shown: shown.clone() };
                    let reason = format!("Not updated for {} days", category.retention_days);
                    self.retire_target(&target, Some(&reason), Entry::through(Channel::Person))?;
                }
                done.retired.push(shown);
            }
        }
        Ok(())
    }

    /// Moves a file to `<root>/archive/<folder>/`; a name that is taken there gets a number.
    fn move_to_archive(&self, _lock: &Lock, path: &std::path::Path, bytes: &[u8]) -> Result<()> {
        let folder = path.parent().and_then(std::path::Path::file_name).unwrap_or_default();
        let archive = self.root().join("archive").join(folder);
        files::make_folder(&archive, Mode::Shared)?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let place = (1..)
            .map(|n| archive.join(if n == 1 { format!("{stem}.json") } else { format!("{stem}-{n}.json") }))
            .find(|place| !place.exists())
            .unwrap_or_else(|| archive.join(format!("{stem}.json")));
        files::write(&place, bytes, Mode::Shared)?;
        files::remove(path)
    }
}

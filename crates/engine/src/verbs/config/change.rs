//! A change of settings, from what was asked for to the file.
//!
//! Comes in: a change and the file it is about. Goes out: the plan of it (what the file would hold, what only a person may do of that), then
//! the file written, under one lock and between two lines of the audit. Never here: who is a person.

use super::{Change, Setting, permitted, wrong};
use crate::call::Call;
use crate::files::Mode;
use crate::pin::Pin;
use crate::settings::approved::{self, Approved};
use crate::settings::audited::Turn;
use crate::settings::{PROJECT_SETTINGS, read_document, write_document};
use heirloom_core::settings::{Guard, Layer, Origin, check, flat, flatten, load, needs_person};
use heirloom_core::{Code, Fault, Verb, fault::Result};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// What a change would do.
pub(super) struct Plan {
    path: PathBuf,
    user: bool,
    before: Value,
    after: Value,
    /// What was named, leaf by leaf.
    named: Vec<Setting>,
    /// The settings of it that only a person may change.
    pub(super) guarded: Vec<String>,
    approved: Option<Approved>,
}

impl Plan {
    pub(super) fn of(call: &Call, change: Change<'_>) -> Result<Plan> {
        let user = match change {
            Change::Set(ask) => ask.user,
            Change::Unset(ask) => ask.user,
            Change::Approve(_) => false,
        };
        let project = call.project();
        let path = match user {
            true => own_file(call)?.to_owned(),
            false => project.folder().join(PROJECT_SETTINGS),
        };
        let before = read(&path)?;
        let approved = (!user).then(|| Approved::read(project.folder(), &path, project.world()));
        let mut plan = Plan {
            path,
            user,
            after: before.clone(),
            before,
            named: Vec::new(),
            guarded: Vec::new(),
            approved,
        };
        match change {
            Change::Set(ask) => {
                ask.settings.iter().try_for_each(|one| plan.set(call, &one.key, &one.value))?
            }
            Change::Unset(ask) => plan.unset(&ask.key)?,
            Change::Approve(ask) => plan.approve(&ask.key)?,
        }
        plan.find_guarded();
        Ok(plan)
    }

    fn set(&mut self, call: &Call, key: &str, raw: &Value) -> Result<()> {
        // Before anything of it is told, approved or folded.
        call.screen().plain("key", key)?;
        call.screen().plain_value("value", raw)?;
        let asked = Value::Object(Map::from_iter([(key.to_owned(), raw.clone())]));
        let flat = flatten(&asked);
        if let Some(unmapped) = flat.unmapped.first() {
            return Err(wrong(&unmapped.name, &unmapped.message));
        }
        if flat.leaves.is_empty() {
            return Err(wrong(key, "this value contains no setting"));
        }
        for (name, leaf) in flat.leaves {
            let value = check(&name, leaf.value).map_err(|why| wrong(&name, &why))?;
            let no_pin = || !Pin::of(&call.project().world().data).is_set();
            if name == crate::settings::PERSON_CHECK && value == "pin" && no_pin() {
                return Err(wrong(&name, "no PIN is set")
                    .hint("`heirloom config pin` sets one and switches the check on"));
            }
            // A person who sets such a key for a project approves it by that; from anybody else it is a wish, and an earlier yes is gone.
            if let Some(approved) = &mut self.approved
                && approved::is_asked(&name)
            {
                approved.follow(&name, Some(&value).filter(|_| call.caller().is_person()));
                if call.caller().is_person() {
                    self.guarded.push(name.clone());
                }
            }
            flat::set(&mut self.after, &name, value);
            if !self.user {
                self.counts(call, &name)?;
            }
            self.named.push(Setting { key: name, value: leaf.value.clone() });
        }
        Ok(())
    }

    fn unset(&mut self, key: &str) -> Result<()> {
        if !flat::remove(&mut self.after, key) {
            let message = format!("`{key}` is not set in `{}`", self.path.display());
            return Err(Fault::new(Code::NotFound, message)
                .hint("`heirloom config list` shows where values come from"));
        }
        if let Some(approved) = &mut self.approved {
            approved.follow(key, None);
        }
        self.named.push(Setting { key: key.to_owned(), value: Value::Null });
        Ok(())
    }

    fn approve(&mut self, key: &str) -> Result<()> {
        let asked = approved::wish(&self.before, key).cloned();
        let Some(value) = asked else {
            return Err(Fault::new(Code::NotFound, format!("this project does not ask for `{key}`"))
                .fact("key", key)
                .hint("`heirloom config list` shows what a project asks for and what is ignored"));
        };
        if let Some(approved) = &mut self.approved {
            approved.follow(key, Some(&value));
        }
        self.guarded.push(key.to_owned());
        self.named.push(Setting { key: key.to_owned(), value });
        Ok(())
    }

    /// Refuses what would be written into the project's file only to be ignored there.
    fn counts(&self, call: &Call, key: &str) -> Result<()> {
        let own = own_file(call).ok().and_then(|path| read_document(path).ok().flatten());
        let layer = |origin, document| Layer { origin, document };
        let mut layers = vec![layer(Origin::Project, self.after.clone())];
        layers.extend(self.approved.as_ref().map(|yes| layer(Origin::User, yes.of(&self.after))));
        layers.push(layer(Origin::User, own.unwrap_or_default()));
        let mut loaded = load(&layers);
        approved::explain(&mut loaded.warnings);
        let ignored = loaded.warnings.iter().find(|w| w.name == key && w.origin == Origin::Project);
        ignored.map_or(Ok(()), |warning| {
            Err(wrong(key, &warning.message).hint("`--user` changes it in your own settings"))
        })
    }

    /// What only the user may decide must not be decided by an agent in the user's name, and an agent must not take back what a project
    /// tightened. What counts is what would be different afterwards, not how the call was spelled.
    fn find_guarded(&mut self) {
        let (before, after) = (flatten(&self.before), flatten(&self.after));
        let differs = |name: &String| {
            before.leaves.get(name).map(|leaf| leaf.value) != after.leaves.get(name).map(|leaf| leaf.value)
        };
        let mut found = Vec::new();
        for (name, leaf) in before.leaves.iter().chain(&after.leaves).filter(|(name, _)| differs(name)) {
            let asks = match leaf.key.guard {
                Guard::Open => false,
                _ if self.user => true,
                Guard::Adds => before.leaves.contains_key(name),
                Guard::Tighten(_) => {
                    before.leaves.contains_key(name)
                        && after.leaves.get(name).is_none_or(|leaf| needs_person(leaf.key, leaf.value))
                }
                Guard::UserFirst
                | Guard::UserOnly
                | Guard::OwnTighten(_)
                | Guard::NotProject
                | Guard::InsideProject => false,
            };
            if asks {
                found.push(name.clone());
            }
        }
        self.guarded.extend(found);
        self.guarded.sort();
        self.guarded.dedup();
    }

    fn store(&self) -> Result<()> {
        // The file first: a yes to what is not there yet would be a yes to whoever writes it next.
        if self.after != self.before {
            let mode = if self.user { Mode::Private } else { Mode::Shared };
            write_document(&self.path, &self.after, mode)?;
        }
        self.approved.as_ref().map_or(Ok(()), Approved::write_if_changed)
    }
}

/// Makes a change. Returns what it named.
pub(super) fn run(call: &Call, change: Change<'_>) -> Result<Vec<Setting>> {
    // Refused before anybody waits for a lock, and looked at again under it: somebody may have changed the file since.
    let first = Plan::of(call, change)?;
    permitted(call, &first.guarded)?;
    let turn = Turn::wait(call)?;
    let plan = Plan::of(call, change)?;
    if plan.guarded.iter().any(|name| !first.guarded.contains(name)) {
        return Err(Fault::new(
            Code::OccConflict,
            "the settings changed in the meantime; nothing was changed",
        )
        .hint("run the command again"));
    }
    let verb = if plan.guarded.is_empty() { Verb::ConfigSet } else { Verb::ConfigGuarded };
    let names: Vec<&str> = plan.named.iter().map(|one| one.key.as_str()).collect();
    let noted = turn.intend(verb, &names.join(" "), !plan.user)?;
    plan.store()?;
    noted.done();
    Ok(plan.named)
}

/// The user's own settings file.
pub(super) fn own_file(call: &Call) -> Result<&Path> {
    call.user_settings().ok_or_else(|| {
        Fault::new(Code::Config, "this user has no settings file").hint("set HOME or XDG_CONFIG_HOME")
    })
}

/// A settings file that is about to be changed: one that cannot be read is not replaced.
pub(super) fn read(path: &Path) -> Result<Value> {
    match read_document(path) {
        Ok(document) => Ok(document.unwrap_or_else(|| Value::Object(Map::new()))),
        Err(why) => Err(Fault::new(Code::Config, format!("`{}`: {why}", path.display()))
            .hint("correct the file by hand first; nothing was changed")),
    }
}

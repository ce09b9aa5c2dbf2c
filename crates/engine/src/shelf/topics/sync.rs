//! Sync: what would move between this machine and the external memory, and then moving it.
//!
//! Comes in: nothing but the settings; for the second step, the plan that was shown. Goes out: a [`Plan`], then what was done. Never
//! here: a step that was not in the plan; if something changed since it was shown, nothing is done.

use super::place::{Need, Place, no_repository};
use super::stock::Stock;
use super::sync_git::Changed;
use super::{Topics, merge_file, names, rest, sync_git, url};
use crate::files::{self, Mode};
use heirloom_core::{Code, Fault, fault::Result};
use serde::Serialize;
use std::path::PathBuf;

/// What a sync would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Plan {
    /// The folder of the external memory.
    pub folder: String,
    /// Where its commits come from and go to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// Files of the project's own memory that move to the external one: written while it could not be reached, or before it was on.
    pub bring: Vec<String>,
    /// Files that will be committed, besides those.
    pub commit: Vec<Changed>,
    /// Commits that come in, newest first.
    pub pull: Vec<String>,
    /// Commits that go out, newest first.
    pub push: Vec<String>,
    #[serde(skip)]
    head: Option<String>,
    #[serde(skip)]
    upstream: Option<String>,
}

impl Plan {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.bring.is_empty() && self.commit.is_empty() && self.pull.is_empty() && self.push.is_empty()
    }
}

/// What a sync did, a line each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Synced {
    /// The lines.
    pub done: Vec<String>,
}

impl Topics<'_> {
    /// What a sync would do. Clones and fetches, but moves nothing.
    pub fn sync_plan(&self) -> Result<Plan> {
        // Whoever asks for it wants to know whether the host answers now.
        if let Some(address) = &self.call.settings().memory_configuration.path {
            rest::clear(self.call, address);
        }
        // Other machines are called before anybody waits for the locks.
        if let Some(git) = &Place::find(self.call, Need::Write).git {
            let remote = sync_git::remote(git)?;
            let fetched = sync_git::fetch(git);
            if let Some(remote) = remote {
                match &fetched {
                    Ok(()) => rest::clear(self.call, &remote.address),
                    // Writes leave it alone, and `status` says so.
                    Err(fault) => rest::note(self.call, &remote.address, fault),
                }
            }
            fetched?;
        }
        self.plan(&Place::find(self.call, Need::Write))
    }

    fn plan(&self, place: &Place) -> Result<Plan> {
        if !place.external {
            return Err(no_repository(place));
        }
        let own = self.own_stock();
        let bring = memory_files(&own).iter().map(|path| self.call.project().shown(path)).collect();
        let mut plan = Plan {
            folder: place.base.display().to_string(),
            remote: None,
            bring,
            commit: Vec::new(),
            pull: Vec::new(),
            push: Vec::new(),
            head: None,
            upstream: None,
        };
        if let Some(git) = &place.git {
            plan.commit = sync_git::changes(git)?;
            plan.head = git.head()?;
            if let Some(remote) = sync_git::remote(git)? {
                plan.pull = match (&plan.head, &remote.upstream) {
                    (_, None) => Vec::new(),
                    (head, Some(upstream)) => sync_git::log(git, head.as_deref(), Some(upstream))?,
                };
                plan.push = sync_git::log(git, remote.upstream.as_deref(), plan.head.as_deref())?;
                plan.remote = Some(url::shown(&remote.address));
                plan.upstream = remote.upstream;
            }
        }
        Ok(plan)
    }

    /// Does what the plan says.
    pub fn sync(&self, plan: &Plan) -> Result<Synced> {
        // Git is at work without the locks that a write needs, except while files move.
        let place = Place::find(self.call, Need::Write);
        let _turn = place.git.as_ref().map(sync_git::turn).transpose()?;
        if self.plan(&place)? != *plan {
            return Err(Fault::new(
                Code::OccConflict,
                "something changed since the plan was shown; nothing was done",
            )
            .hint("look at the new plan and run `heirloom sync` again"));
        }
        let mut done = Vec::new();
        if !plan.bring.is_empty() {
            let open = self.open()?;
            let brought = self.bring(&open.stock)?;
            done.push(format!("moved {brought} files from the project's own memory"));
        }
        let Some(git) = &place.git else { return Ok(Synced { done }) };
        if sync_git::commit(self.call, git, "sync")? {
            done.push("committed".to_owned());
        }
        {
            let _shared = place.lock()?;
            done.extend(sync_git::pull(self.call, git)?);
        }
        done.extend(sync_git::push(git)?);
        Ok(Synced { done })
    }

    fn own_stock(&self) -> Stock {
        Stock::new(&super::place::own(self.call, None).base)
    }

    /// Moves the project's own lessons over: each file is merged into the external one first and removed here afterwards, so that a
    /// stop in between leaves it in both places and the next sync finds nothing new in it.
    fn bring(&self, to: &Stock) -> Result<usize> {
        let own = self.own_stock();
        let files = memory_files(&own);
        for path in &files {
            let Ok(inner) = path.strip_prefix(own.base()) else { continue };
            let target = files::Root::new(to.base()).resolve(&to.base().join(inner))?;
            let limit = super::stock::MAX_ARCHIVE;
            let (ours, theirs) =
                (files::read_if_there(&target, limit)?.unwrap_or_default(), files::read(path, limit)?);
            let merged = merge_file(&inner.to_string_lossy(), b"", &ours, &theirs);
            if let Some(folder) = target.parent() {
                files::make_folder(folder, Mode::Shared)?;
            }
            files::write(&target, &merged, Mode::Shared)?;
            files::remove(path)?;
        }
        Ok(files.len())
    }
}

/// The memory files of a base that are there.
pub(super) fn memory_files(stock: &Stock) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for topic in stock.topics() {
        out.extend(
            stock.subtopics(&topic).iter().map(|name| stock.base().join(&topic).join(format!("{name}.md"))),
        );
        let archive = stock.base().join(names::ARCHIVE).join(&topic);
        out.extend(stock.years(&topic).iter().map(|year| archive.join(format!("{year:04}.md"))));
    }
    if !out.is_empty() && stock.index_path().is_file() {
        out.push(stock.index_path());
    }
    out
}

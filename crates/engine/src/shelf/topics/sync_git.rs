//! What `sync` does in a repository: commit, fetch, rebase, push.
//!
//! Comes in: an opened external repository. Goes out: what happened, a line each, or a conflict with both sides kept. Topic files that
//! both sides changed are merged entry by entry; anything else that git cannot join stops the rebase, and everything is as it was
//! before it. Never here: a path that is no memory file, or a forced push.

use super::git::{Git, RECEIVE_PACK, Said, UPLOAD_PACK, failed};
use super::place::{Place, in_git};
use super::store::Open;
use super::{merge_file, rest, url};
use crate::call::Call;
use crate::files::{self, LOCK_LIMIT, Lock, Mode};
use heirloom_core::settings::SyncStrategy;
use heirloom_core::{Code, Fault, MemoryId, fault::Result};
use serde::Serialize;

/// The memory files of a repository.
const PATHS: [&str; 3] = ["index.md", ":(glob)*/*.md", ":(glob)archive/*/*.md"];

/// A rebase that stops more often than this is not going anywhere.
const MOST_STOPS: usize = 1000;

/// A file that will be committed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Changed {
    /// `new`, `changed` or `gone`.
    pub what: &'static str,
    /// The file, from the repository's folder.
    pub path: String,
}

/// Where a repository sends its commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Remote {
    pub(super) name: String,
    pub(super) address: String,
    pub(super) branch: String,
    /// Its last commit that is known here.
    pub(super) upstream: Option<String>,
}

/// After a write: what the strategy asks for. The write itself is done; what goes wrong here is said, not failed. The locks of the write are given
/// back before git is started: nobody else waits for it.
pub(super) fn after_write(call: &Call, open: Open, id: &MemoryId) -> Vec<String> {
    let place = open.place.clone();
    drop(open);
    let Some(git) = &place.git else { return Vec::new() };
    let strategy = call.settings().memory_configuration.sync_strategy;
    let outcome = match strategy {
        SyncStrategy::Manual => return Vec::new(),
        SyncStrategy::AutoCommit => turn(git).and_then(|_turn| commit(call, git, id.as_str())).map(drop),
        SyncStrategy::AutoPush => exchange(call, &place, git, id),
    };
    match outcome {
        Ok(()) => Vec::new(),
        Err(fault) => vec![format!("stored, but not synced: {fault}; {}", fault.next_step())],
    }
}

/// Waits until nobody else on this machine has git at work in a repository: two commits or pushes of one repository refuse each other. Writers of
/// lessons do not wait for it.
pub(super) fn turn(git: &Git) -> Result<Lock> {
    Lock::acquire(&in_git(git, "heirloom-exchange")?, LOCK_LIMIT)
}

/// Memory files that differ from the last commit.
pub(super) fn changes(git: &Git) -> Result<Vec<Changed>> {
    let mut args = vec!["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--"];
    args.extend(PATHS);
    let listed = git.must(&args)?;
    let line = |line: &str| {
        let what = match line.get(..2)? {
            code if code.contains('D') => "gone",
            "??" => "new",
            code if code.contains('A') => "new",
            _ => "changed",
        };
        Some(Changed { what, path: line.get(3..)?.to_owned() })
    };
    Ok(listed.split('\0').filter_map(line).collect())
}

/// Commits the memory files. Says whether there was something.
pub(super) fn commit(call: &Call, git: &Git, what: &str) -> Result<bool> {
    let changed = changes(git)?;
    if changed.is_empty() {
        return Ok(false);
    }
    let paths: Vec<&str> = changed.iter().map(|changed| changed.path.as_str()).collect();
    git.must(&[&["--literal-pathspecs", "add", "--all", "--"], paths.as_slice()].concat())?;
    let message = format!("Lessons: {what}");
    let mut args =
        vec!["--literal-pathspecs", "commit", "--quiet", "--no-verify", "--no-gpg-sign", "-m", &message];
    args.extend(["--only", "--"]);
    args.extend(&paths);
    let said = signed(call, git, &args)?;
    if said.ok { Ok(true) } else { Err(failed("commit", &said)) }
}

/// Runs a command that makes commits. A user without a name in git's settings gets the account's.
fn signed(call: &Call, git: &Git, args: &[&str]) -> Result<Said> {
    if git.run(&["config", "--get", "user.email"])?.ok {
        return git.run(args);
    }
    let user = &call.project().world().user;
    let (name, mail) = (format!("user.name={user}"), format!("user.email={user}@localhost"));
    git.run(&[&["-c", &name, "-c", &mail], args].concat())
}

/// The remote of the present branch; `None` if there is none.
pub(super) fn remote(git: &Git) -> Result<Option<Remote>> {
    let names = git.must(&["remote"])?;
    let Some(name) = names.lines().find(|name| *name == "origin").or_else(|| names.lines().next()) else {
        return Ok(None);
    };
    let address = git.must(&["remote", "get-url", "--", name])?.trim_end_matches('\n').to_owned();
    url::checked(&address)?;
    let branch = git.run(&["symbolic-ref", "--quiet", "--short", "HEAD"])?;
    if !branch.ok {
        // Also while somebody's own rebase is under way there, which is not ours to go on with.
        return Err(Fault::new(Code::Merge, "the repository of the lessons is not on a branch")
            .fact("path", git.folder().display().to_string())
            .hint("finish what is under way there, or check a branch out, then run `heirloom sync` again"));
    }
    let branch = branch.out.trim().to_owned();
    let upstream = git.commit_of(&format!("refs/remotes/{name}/{branch}"))?;
    Ok(Some(Remote { name: name.to_owned(), address, branch, upstream }))
}

/// Fetches; nothing in the work tree moves.
pub(super) fn fetch(git: &Git) -> Result<()> {
    let Some(remote) = remote(git)? else { return Ok(()) };
    let mut args = vec!["fetch", "--quiet", "--no-tags", "--no-recurse-submodules"];
    if url::is_local(&remote.address) {
        args.extend(["--upload-pack", UPLOAD_PACK]);
    }
    args.extend(["--", &remote.name]);
    let said = git.remote(&args)?;
    if said.ok { Ok(()) } else { Err(failed("fetch", &said).fact("url", url::shown(&remote.address))) }
}

/// Commits between two points, newest first.
pub(super) fn log(git: &Git, from: Option<&str>, to: Option<&str>) -> Result<Vec<String>> {
    let Some(to) = to else { return Ok(Vec::new()) };
    let range = from.map_or_else(|| to.to_owned(), |from| format!("{from}..{to}"));
    let out = git.must(&["log", "--no-show-signature", "--format=%h %s", "--max-count=200", &range, "--"])?;
    Ok(out.lines().map(heirloom_core::text::one_line).collect())
}

/// Commits ours, fetches theirs and sends ours, without the locks that a write needs except while the work tree moves.
fn exchange(call: &Call, place: &Place, git: &Git, id: &MemoryId) -> Result<()> {
    let _turn = turn(git)?;
    commit(call, git, id.as_str())?;
    let Some(remote) = remote(git)? else { return Ok(()) };
    // Asked when it is our turn: whoever had it before may have found the host silent.
    if let Some(resting) = rest::reason(call, &remote.address) {
        return Err(resting);
    }
    let unreached = |fault: &Fault| rest::note(call, &remote.address, fault);
    fetch(git).inspect_err(unreached)?;
    {
        let _shared = place.lock()?;
        pull(call, git)?;
    }
    push(git).inspect_err(|fault| {
        // A push that was turned down was answered.
        if fault.get("limit_seconds").is_some() {
            unreached(fault);
        }
    })?;
    rest::clear(call, &remote.address);
    Ok(())
}

/// Puts our commits on top of theirs, as far as they were fetched. Returns what happened.
pub(super) fn pull(call: &Call, git: &Git) -> Result<Vec<String>> {
    let Some(Remote { upstream: Some(upstream), .. }) = remote(git)? else { return Ok(Vec::new()) };
    let theirs = log(git, git.head()?.as_deref(), Some(&upstream))?;
    if theirs.is_empty() {
        return Ok(Vec::new());
    }
    rebase(call, git, &upstream)?;
    Ok(vec![format!("pulled {}", theirs.len())])
}

/// Sends our commits. Returns what happened.
pub(super) fn push(git: &Git) -> Result<Vec<String>> {
    let Some(remote) = remote(git)? else { return Ok(Vec::new()) };
    let mut said = Vec::new();
    let ours = log(git, remote.upstream.as_deref(), git.head()?.as_deref())?;
    if !ours.is_empty() {
        let target = format!("HEAD:refs/heads/{}", remote.branch);
        let mut args = vec!["push", "--quiet", "--no-verify", "--no-recurse-submodules"];
        if url::is_local(&remote.address) {
            args.extend(["--receive-pack", RECEIVE_PACK]);
        }
        args.extend(["--", &remote.name, &target]);
        let pushed = git.remote(&args)?;
        if !pushed.ok {
            return Err(failed("push", &pushed).fact("url", url::shown(&remote.address)));
        }
        said.push(format!("pushed {}", ours.len()));
    }
    Ok(said)
}

fn rebase(call: &Call, git: &Git, upstream: &str) -> Result<()> {
    let ours = git.head()?.unwrap_or_default();
    let mut step = signed(call, git, &["rebase", "--quiet", "--no-autostash", "--no-stat", upstream])?;
    for _ in 0..MOST_STOPS {
        if step.ok {
            return Ok(());
        }
        let open = git.must(&["diff", "--name-only", "--diff-filter=U", "-z"])?;
        let open: Vec<&str> = open.split('\0').filter(|path| !path.is_empty()).collect();
        let stuck: Vec<&str> =
            open.iter().copied().filter(|path| !joined(git, path).unwrap_or(false)).collect();
        if !stuck.is_empty() {
            git.run(&["rebase", "--abort"])?;
            return Err(conflict(&stuck, &ours, upstream));
        }
        if !git.run(&["rev-parse", "--verify", "--quiet", "REBASE_HEAD"])?.ok {
            // It did not stop at a conflict: local changes in the way, or the like.
            git.run(&["rebase", "--abort"])?;
            return Err(failed("rebase", &step));
        }
        step = signed(call, git, &["rebase", "--continue"])?;
        if !step.ok && open.is_empty() {
            // Nothing of this commit is left: the others have it already.
            step = signed(call, git, &["rebase", "--skip"])?;
        }
    }
    git.run(&["rebase", "--abort"])?;
    Err(failed("rebase", &step))
}

/// Merges a memory file that both sides changed. Says whether it is one.
fn joined(git: &Git, path: &str) -> Result<bool> {
    if path != "index.md" && (!path.ends_with(".md") || !path.contains('/')) {
        return Ok(false);
    }
    let stage = |n: u8| -> Result<String> {
        let said = git.run(&["cat-file", "blob", &format!(":{n}:{path}")])?;
        Ok(if said.ok { said.out } else { String::new() })
    };
    let versions = [stage(1)?, stage(2)?, stage(3)?];
    // What is no text came back with replacement characters; it is not ours to write.
    if versions.iter().any(|text| text.contains('\u{fffd}')) {
        return Ok(false);
    }
    let [base, ours, theirs] = versions.each_ref().map(|text| text.as_bytes());
    let merged = merge_file(path, base, ours, theirs);
    let target = git.folder().join(path);
    if let Some(folder) = target.parent() {
        files::make_folder(folder, Mode::Shared)?;
    }
    if merged.is_empty() {
        files::remove(&target)?
    } else {
        files::write(&target, &merged, Mode::Shared)?
    }
    git.must(&["--literal-pathspecs", "add", "--all", "--", path])?;
    Ok(true)
}

fn conflict(paths: &[&str], ours: &str, theirs: &str) -> Fault {
    let mut fault = Fault::new(
        Code::Merge,
        "both sides changed the same file in ways that cannot be joined; nothing was changed",
    );
    for path in paths {
        fault = fault.fact("path", *path);
    }
    fault.fact("ours", ours).fact("theirs", theirs).hint(
        "both sides are kept, as the commits named here; join them with git, then run `heirloom sync` again",
    )
}

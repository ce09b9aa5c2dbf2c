//! Git, held at arm's length: every call that touches an external repository.
//!
//! Comes in: a folder and arguments of ours. Goes out: what git printed. The repository is treated as a stranger's: its hooks, file
//! system monitors, filters, drivers, credential helpers and included settings never run; only the protocols https, ssh and file are
//! spoken; git never asks a question. The user's own settings (name, credentials) count. Never here: an argument from outside that
//! git could take for an option.

use super::url;
use crate::git::Reach;
use heirloom_core::{Code, Fault, fault::Result};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Settings that count here besides those of every call. Attributes of the user's own would bring filters, and what a submodule holds is
/// nobody's memory.
const TAMED: [&str; 3] =
    ["core.attributesFile=/dev/null", "core.untrackedCache=false", "diff.ignoreSubmodules=all"];

/// Settings of a repository that are harmless, or that a value above or the environment overrides. Anything else that is set there
/// could run a program or send data elsewhere, so the repository is not used.
const HARMLESS: [&str; 22] = [
    "core.",
    "user.",
    "author.",
    "committer.",
    "branch.",
    "init.",
    "pull.",
    "push.",
    "fetch.",
    "gc.",
    "maintenance.",
    "merge.conflictstyle",
    "rebase.",
    "commit.",
    "status.",
    "color.",
    "advice.",
    "index.",
    "pack.",
    "gui.",
    "alias.",
    "extensions.objectformat",
];

/// Settings inside the groups above that do run programs or lead elsewhere and that nothing overrides.
const HARMFUL: [&str; 5] = [
    "core.gitproxy",
    "core.worktree",
    "core.alternaterefscommand",
    "push.recursesubmodules",
    "fetch.bundleuri",
];

/// The tree without files, by object format: attributes are read from it, so none of the repository's count.
const EMPTY_TREE: [&str; 2] = [
    "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
];

/// The other end of a repository on this machine is a program here too, which does not see the settings above.
pub(super) const UPLOAD_PACK: &str =
    "git -c core.hooksPath=/dev/null -c core.alternateRefsCommand= upload-pack";
/// The same for pushes, where the other end has hooks.
pub(super) const RECEIVE_PACK: &str = "git -c core.hooksPath=/dev/null -c core.alternateRefsCommand= \
    -c core.fsmonitor=false -c receive.autogc=false receive-pack";

/// A repository with a work tree.
#[derive(Debug, Clone)]
pub(super) struct Git {
    folder: PathBuf,
    sha256: bool,
    /// How long a call may take.
    limit: Duration,
}

/// What a git command said.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) ok: bool,
    pub(super) out: String,
    pub(super) err: String,
}

impl Git {
    /// The repository whose work tree is this folder. Its settings are looked at before anything is run in it.
    pub(super) fn open(folder: &Path, limit: Duration) -> Result<Git> {
        if std::fs::symlink_metadata(folder.join(".git")).is_err() {
            return Err(not_a_repository(folder));
        }
        let mut git = Git { folder: folder.to_owned(), sha256: false, limit };
        let listed = command(Some(folder), &["config", "--list", "--show-scope", "--includes", "-z"], limit)?;
        if !listed.ok {
            return Err(not_a_repository(folder).fact("git", reason(&listed.err)));
        }
        // With -z: scope NUL key LF value NUL.
        let mut parts = listed.out.split('\0');
        while let (Some(scope), Some(setting)) = (parts.next(), parts.next()) {
            if matches!(scope, "local" | "worktree") {
                let (key, value) = setting.split_once('\n').unwrap_or((setting, ""));
                check_setting(folder, key, value)?;
                git.sha256 |= key == "extensions.objectformat" && value == "sha256";
            }
        }
        let attributes = command(Some(folder), &["rev-parse", "--git-path", "info/attributes"], limit)?;
        let attributes = folder.join(attributes.out.trim_end_matches('\n'));
        if std::fs::metadata(&attributes).is_ok_and(|meta| meta.len() > 0) {
            return Err(untrusted(folder, ".git/info/attributes"));
        }
        Ok(git)
    }

    /// Whether a folder is a repository without a work tree.
    pub(super) fn is_bare(folder: &Path) -> bool {
        folder.join("HEAD").is_file() && folder.join("objects").is_dir() && folder.join("refs").is_dir()
    }

    /// Clones an address that passed the rules into a folder that is not there yet.
    pub(super) fn clone_into(address: &str, folder: &Path, limit: Duration) -> Result<Git> {
        let target = folder.to_str().ok_or_else(|| not_a_repository(folder))?;
        // Links in a stranger's tree become small text files, now and in every later checkout.
        let mut args = vec!["clone", "--quiet", "--no-checkout", "--no-recurse-submodules", "--template="];
        args.extend(["-c", "core.symlinks=false"]);
        if url::is_local(address) {
            args.extend(["--upload-pack", UPLOAD_PACK]);
        }
        args.extend(["--", address, target]);
        let said = network(None, &args, limit)?;
        if !said.ok {
            return Err(failed("clone", &said).fact("url", url::shown(address)));
        }
        let git = Git::open(folder, limit)?;
        if git.head()?.is_some() {
            git.must(&["reset", "--quiet", "--hard", "HEAD"])?;
        }
        Ok(git)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs a local command.
    pub(super) fn run(&self, args: &[&str]) -> Result<Said> {
        self.say(args, false)
    }

    /// Runs a local command that must work; returns what it printed.
    pub(super) fn must(&self, args: &[&str]) -> Result<String> {
        let said = self.run(args)?;
        if said.ok { Ok(said.out) } else { Err(failed(args.first().unwrap_or(&""), &said)) }
    }

    /// Runs a command that speaks to the remote.
    pub(super) fn remote(&self, args: &[&str]) -> Result<Said> {
        self.say(args, true)
    }

    fn say(&self, args: &[&str], online: bool) -> Result<Said> {
        let mut command =
            prepared(Some(&self.folder), args, if online { Reach::Approved } else { Reach::Here });
        command.env("GIT_ATTR_SOURCE", EMPTY_TREE[usize::from(self.sha256)]);
        if online {
            quiet_ssh(&mut command, self.limit);
        }
        finish(command, self.limit)
    }

    /// The commit the work tree stands on; `None` before the first one.
    pub(super) fn head(&self) -> Result<Option<String>> {
        self.commit_of("HEAD")
    }

    /// The commit a name stands for.
    pub(super) fn commit_of(&self, name: &str) -> Result<Option<String>> {
        let said = self.run(&["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")])?;
        Ok(said.ok.then(|| said.out.trim().to_owned()))
    }
}

fn check_setting(folder: &Path, key: &str, value: &str) -> Result<()> {
    let key = key.to_ascii_lowercase();
    if let Some(rest) = key.strip_prefix("remote.") {
        return match rest.rsplit_once('.').map_or(rest, |(_, last)| last) {
            "url" | "pushurl" => url::checked(value).map(|_| ()),
            "fetch" | "push" | "tagopt" | "prune" | "prunetags" => Ok(()),
            _ => Err(untrusted(folder, &key)),
        };
    }
    let harmless = key == "core.repositoryformatversion"
        || (HARMLESS
            .iter()
            .any(|known| if known.ends_with('.') { key.starts_with(known) } else { key == *known })
            && !HARMFUL.contains(&key.as_str()));
    if harmless { Ok(()) } else { Err(untrusted(folder, &key)) }
}

fn untrusted(folder: &Path, key: &str) -> Fault {
    Fault::new(
        Code::Security,
        format!("the repository's own settings have `{key}`, which could run a program or lead elsewhere"),
    )
    .fact("path", folder.display().to_string())
    .fact("setting", key)
    .hint("take it out of the repository; what you need for yourself belongs in your own git settings")
}

fn not_a_repository(folder: &Path) -> Fault {
    Fault::new(Code::Config, format!("`{}` is not a git repository", folder.display()))
        .fact("path", folder.display().to_string())
        .hint("name a folder that holds a `.git`, or the address of a repository")
}

/// The fault for a command that did not work.
pub(super) fn failed(doing: &str, said: &Said) -> Fault {
    Fault::new(Code::Io, format!("git {doing} failed: {}", reason(&said.err)))
        .hint("nothing was lost; run `heirloom sync` again once the cause is gone")
}

/// Lines around the reason: what was tried, and advice.
const AROUND: [&str; 6] =
    ["hint:", "To ", "Cloning into", "Please make sure", "and the repository exists", "warning: redirecting"];

/// Words of the lines that name a fault.
const FAULTS: [&str; 9] =
    ["fatal", "error", "denied", "reject", "not found", "refused", "could not", "unable", "failed"];

/// Most lines of a reason.
const REASON_LINES: usize = 3;

/// Why git did not do it, in its own words and without the advice behind them. What stands before the host of an address is left out.
fn reason(text: &str) -> String {
    let plain = |line: &str| heirloom_core::text::one_line(line).trim().to_owned();
    let mut lines: Vec<String> = text.lines().map(plain).filter(|line| !line.is_empty()).collect();
    lines.retain(|line| !AROUND.iter().any(|start| line.starts_with(start)));
    lines.dedup();
    if lines.len() > REASON_LINES {
        let names_fault = |line: &String| FAULTS.iter().any(|word| line.to_lowercase().contains(word));
        let telling: Vec<String> = lines.iter().filter(|line| names_fault(line)).cloned().collect();
        lines = if telling.is_empty() { lines } else { telling };
    }
    lines.truncate(REASON_LINES);
    if lines.is_empty() {
        return "git gave no reason".to_owned();
    }
    url::all_shown(&lines.join("; ")).chars().take(500).collect()
}

fn prepared(folder: Option<&Path>, args: &[&str], reach: Reach) -> Command {
    let mut command = crate::git::start(folder, reach);
    if let Some(above) = folder.and_then(Path::parent) {
        // A folder that lost its `.git` must not make git find another repository above it.
        command.env("GIT_CEILING_DIRECTORIES", above);
    }
    for setting in TAMED {
        command.args(["-c", setting]);
    }
    command.args(args).env("GIT_CONFIG_NOSYSTEM", "1").env("LC_ALL", "C");
    command
}

/// The variable overrides what a repository says about ssh; what the user says in their own settings is kept.
fn quiet_ssh(command: &mut Command, limit: Duration) {
    let own = finish(prepared(None, &["config", "--global", "--get", "core.sshCommand"], Reach::Here), limit);
    let own = own
        .ok()
        .filter(|said| said.ok)
        .map(|said| said.out.trim().to_owned())
        .filter(|text| !text.is_empty());
    command
        .env("GIT_SSH_COMMAND", own.unwrap_or_else(|| "ssh -oBatchMode=yes -oConnectTimeout=20".to_owned()));
}

fn command(folder: Option<&Path>, args: &[&str], limit: Duration) -> Result<Said> {
    finish(prepared(folder, args, Reach::Here), limit)
}

fn network(folder: Option<&Path>, args: &[&str], limit: Duration) -> Result<Said> {
    let mut command = prepared(folder, args, Reach::Approved);
    quiet_ssh(&mut command, limit);
    finish(command, limit)
}

/// Runs a command to its end or to its limit: another machine may never answer, and neither may a disk far away.
fn finish(command: Command, limit: Duration) -> Result<Said> {
    crate::git::limit::output(command, limit).map_err(|e| no_git(&e))?.map(said).ok_or_else(|| {
        Fault::new(Code::Io, format!("git did not answer within {} seconds", limit.as_secs()))
            .fact("limit_seconds", limit.as_secs().to_string())
            .hint("nothing was lost; run `heirloom sync` once the host answers, or raise `memory_configuration.git_timeout_seconds`")
    })
}

fn no_git(error: &std::io::Error) -> Fault {
    Fault::new(Code::Io, format!("cannot start git: {error}"))
        .hint("install git, or use `memory_type: local_dir`")
}

#[allow(clippy::needless_pass_by_value, reason = "stands in a map, which gives it away")]
fn said(output: std::process::Output) -> Said {
    Said {
        ok: output.status.success(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_what_git_says_went_wrong_not_its_last_line() {
        let denied = "git@host: Permission denied (publickey).\nfatal: Could not read from remote repository.\n\n\
            Please make sure you have the correct access rights\nand the repository exists.\n";
        assert_eq!(
            reason(denied),
            "git@host: Permission denied (publickey).; fatal: Could not read from remote repository."
        );
        let pushed = "To https://host/l.git\n ! [rejected]        HEAD -> main (fetch first)\n\
            error: failed to push some refs to 'https://host/l.git'\nhint: Updates were rejected\nhint: because\n";
        assert!(reason(pushed).starts_with("! [rejected]"), "{}", reason(pushed));
        assert!(!reason(pushed).contains("hint"));
        let banner = "remote: =====\nremote: welcome\nremote: to us\nremote: ERROR: Repository not found.\nfatal: no\n";
        assert_eq!(reason(banner), "remote: ERROR: Repository not found.; fatal: no");
        assert_eq!(reason("\n \n"), "git gave no reason");
    }

    #[test]
    fn the_reason_names_no_key_that_stands_in_an_address() {
        let told =
            reason("fatal: unable to access 'https://me:s3cret@host/l.git/': no\nerror: ssh://k3y@h: x");
        assert_eq!(told, "fatal: unable to access 'https://host/l.git/': no; error: ssh://h: x");
    }
}

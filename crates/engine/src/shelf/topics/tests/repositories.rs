//! External git repositories, friendly and hostile.

use super::merging::git;
use super::*;
use crate::shelf::topics::url;
use crate::shelf::{Listing, Shelf};
use heirloom_core::Code;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;

fn settings(path: &str, strategy: &str) -> Value {
    json!({ "memory_configuration": { "external_memory_enabled": true, "memory_path": path, "memory_type": "git_repo",
        "sync_strategy": strategy } })
}

/// A bare repository with one commit.
fn origin(desk: &Desk) -> PathBuf {
    let bare = desk.path().join("origin.git");
    let seed = desk.path().join("seed");
    for folder in [&bare, &seed] {
        std::fs::create_dir_all(folder).unwrap();
    }
    git(&bare, &["init", "-q", "--bare"]);
    git(&seed, &["init", "-q"]);
    std::fs::write(seed.join("README.md"), "lessons\n").unwrap();
    git(&seed, &["add", "-A"]);
    git(&seed, &["commit", "-qm", "start"]);
    git(&seed, &["push", "-q", bare.to_str().unwrap(), "HEAD:main"]);
    git(&bare, &["symbolic-ref", "HEAD", "refs/heads/main"]);
    bare
}

fn titles(topics: &Topics<'_>) -> BTreeSet<String> {
    topics.list(&Listing::everything()).unwrap().into_iter().map(|m| m.title).collect()
}

#[test]
fn addresses_that_could_run_something_are_refused() {
    for bad in [
        "ext::sh -c touch% /tmp/x",
        "ext::x",
        "-oProxyCommand=x",
        "--upload-pack=x",
        "ssh://-oProxyCommand=x/y",
        "-x:y",
        "git@-host:path",
        "http://example.org/x.git",
        "git://example.org/x.git",
        "https://user:pass@example.org/x.git",
        "fd::17",
        "file://host/x",
        "a b",
        "https://example.org/\nx",
        "",
        "::x",
        "foo::bar",
        "FTP://x/y",
        ":x",
    ] {
        let fault = url::checked(bad).expect_err(bad);
        assert_eq!(fault.code, Code::Security, "{bad}");
        assert!(!format!("{fault:?}").contains("user:pass"), "an address is shown without its password");
    }
    for good in [
        "https://example.org/x.git",
        "ssh://git@example.org/x",
        "git@example.org:x/y.git",
        "file:///srv/x.git",
        "/srv/x",
    ] {
        assert_eq!(url::checked(good).unwrap(), good);
    }
    for bad in ["ext::sh -c id", "-x", "--help", "https://u:p@h/x", "file:///etc/x.git"] {
        let desk = Desk::new();
        let call = desk.engine_with(settings(bad, "manual"));
        let topics = Topics::new(&call);
        topics.store("a", "b", lesson("2026-01-01", "x"), person()).unwrap();
        assert_eq!(topics.fallback().unwrap().code, Code::Security, "{bad}");
        assert!(desk.topics_folder().join("a/b.md").exists());
    }
}

#[test]
fn a_repository_by_address_is_cloned_on_write_and_synced_both_ways() {
    let desk = Desk::new();
    let bare = origin(&desk);
    let here = desk.engine_with(settings(&format!("file://{}", bare.display()), "manual"));
    let topics = Topics::new(&here);
    assert_eq!(topics.list(&Listing::everything()).unwrap(), [], "a look clones nothing");
    assert!(!desk.path().join("data/repositories").exists());
    topics.store("git", "rebase", lesson("2026-01-10", "Mine"), person()).unwrap();
    let plan = topics.sync_plan().unwrap();
    assert_eq!(
        plan.commit.iter().map(|c| (c.what, c.path.as_str())).collect::<Vec<_>>(),
        [("new", "git/rebase.md"), ("new", "index.md")]
    );
    assert_eq!((plan.pull.len(), plan.push.len()), (0, 0));
    assert_eq!(git(&bare, &["log", "--format=%s", "main"]).lines().count(), 1, "a plan moves nothing");
    // Somebody else was faster, with the same file.
    let other = Desk::new();
    let there = other.engine_with(settings(bare.to_str().unwrap(), "auto_push"));
    let theirs = Topics::new(&there);
    let done = theirs.store("git", "rebase", lesson("2026-01-10", "Theirs"), person()).unwrap();
    assert_eq!(done.notes, Vec::<String>::new());
    assert_eq!(git(&bare, &["log", "--format=%s", "main"]).lines().count(), 2);
    let plan = topics.sync_plan().unwrap();
    assert_eq!(plan.pull.len(), 1);
    let done = topics.sync(&plan).unwrap();
    assert_eq!(done.done, ["committed", "pulled 1", "pushed 1"]);
    assert_eq!(titles(&topics), ["Mine", "Theirs"].map(String::from).into());
    assert!(topics.sync_plan().unwrap().is_empty());
    assert_eq!(topics.verify().unwrap(), []);
    // And back.
    let plan = Topics::new(&there).sync_plan().unwrap();
    Topics::new(&there).sync(&plan).unwrap();
    assert_eq!(titles(&Topics::new(&there)), ["Mine", "Theirs"].map(String::from).into());
}

#[test]
fn a_plan_that_is_no_longer_true_is_not_carried_out() {
    let desk = Desk::new();
    let bare = origin(&desk);
    let call = desk.engine_with(settings(bare.to_str().unwrap(), "manual"));
    let topics = Topics::new(&call);
    topics.store("a", "b", lesson("2026-01-10", "One"), person()).unwrap();
    let plan = topics.sync_plan().unwrap();
    topics.store("a", "c", lesson("2026-01-10", "Two"), person()).unwrap();
    assert_eq!(topics.sync(&plan).unwrap_err().code, Code::OccConflict);
    assert_eq!(git(&bare, &["log", "--format=%s", "main"]).lines().count(), 1);
}

#[test]
fn a_conflict_in_a_foreign_file_is_reported_and_both_sides_are_kept() {
    let desk = Desk::new();
    let bare = origin(&desk);
    let work = desk.path().join("work");
    git(&desk.path(), &["clone", "-q", bare.to_str().unwrap(), work.to_str().unwrap()]);
    let seed = desk.path().join("seed");
    std::fs::write(seed.join("README.md"), "theirs\n").unwrap();
    git(&seed, &["commit", "-qam", "theirs"]);
    git(&seed, &["push", "-q", bare.to_str().unwrap(), "HEAD:main"]);
    std::fs::write(work.join("README.md"), "ours\n").unwrap();
    git(&work, &["commit", "-qam", "ours"]);
    let call = desk.engine_with(settings(work.to_str().unwrap(), "manual"));
    let topics = Topics::new(&call);
    topics.store("a", "b", lesson("2026-01-10", "Kept"), person()).unwrap();
    let plan = topics.sync_plan().unwrap();
    let fault = topics.sync(&plan).unwrap_err();
    assert_eq!((fault.code, fault.get("path")), (Code::Merge, Some("README.md")));
    let show = |name: &str| git(&work, &["show", &format!("{}:README.md", fault.get(name).unwrap())]);
    assert_eq!((show("ours"), show("theirs")), ("ours\n".into(), "theirs\n".into()));
    assert_eq!(read(&work.join("README.md")), "ours\n");
    assert!(titles(&topics).contains("Kept"));
    assert!(!work.join(".git/rebase-merge").exists());
}

#[test]
fn auto_commit_commits_each_change_and_only_memory_files() {
    let desk = Desk::new();
    let bare = origin(&desk);
    let work = desk.path().join("work");
    git(&desk.path(), &["clone", "-q", bare.to_str().unwrap(), work.to_str().unwrap()]);
    std::fs::write(work.join("README.md"), "half-done\n").unwrap();
    let call = desk.engine_with(settings(work.to_str().unwrap(), "auto_commit"));
    let topics = Topics::new(&call);
    let done = topics.store("a", "b", lesson("2026-01-10", "One"), person()).unwrap();
    topics.retire(&done.id, "old", person()).unwrap();
    assert_eq!(git(&work, &["log", "--format=%s"]).lines().count(), 3);
    assert_eq!(git(&work, &["status", "--porcelain"]).trim(), "M README.md");
    assert_eq!(git(&bare, &["log", "--format=%s", "main"]).lines().count(), 1, "nothing is pushed");
}

#[test]
fn nothing_that_belongs_to_the_repository_runs() {
    let desk = Desk::new();
    let bare = origin(&desk);
    let work = desk.path().join("work");
    git(&desk.path(), &["clone", "-q", bare.to_str().unwrap(), work.to_str().unwrap()]);
    let mark = desk.path().join("it-ran");
    let trap = desk.path().join("trap.sh");
    std::fs::write(&trap, format!("#!/bin/sh\necho \"$0\" >> {}\nexit 0\n", mark.display())).unwrap();
    std::fs::set_permissions(&trap, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::create_dir_all(work.join(".git/hooks")).unwrap();
    for hook in [
        "pre-commit",
        "post-commit",
        "commit-msg",
        "prepare-commit-msg",
        "pre-push",
        "pre-rebase",
        "post-rewrite",
        "post-checkout",
        "post-merge",
        "post-index-change",
        "reference-transaction",
        "fsmonitor-watchman",
        "pre-auto-gc",
    ] {
        std::fs::copy(&trap, work.join(".git/hooks").join(hook)).unwrap();
    }
    // The other end is a folder on this machine: its hooks must not run either.
    for hook in [
        "pre-receive",
        "update",
        "post-receive",
        "post-update",
        "reference-transaction",
        "proc-receive",
        "push-to-checkout",
    ] {
        std::fs::create_dir_all(bare.join("hooks")).unwrap();
        std::fs::copy(&trap, bare.join("hooks").join(hook)).unwrap();
    }
    git(&bare, &["config", "core.hooksPath", bare.join("hooks").to_str().unwrap()]);
    let trap = trap.to_str().unwrap();
    for key in
        ["core.fsmonitor", "core.sshCommand", "core.editor", "core.pager", "core.askPass", "alias.status"]
    {
        git(&work, &["config", key, trap]);
    }
    git(&work, &["config", "core.hooksPath", work.join(".git/hooks").to_str().unwrap()]);
    let seed = desk.path().join("seed");
    std::fs::write(seed.join("other.txt"), "x\n").unwrap();
    git(&seed, &["add", "-A"]);
    git(&seed, &["commit", "-qm", "theirs"]);
    git(&seed, &["push", "-q", bare.to_str().unwrap(), "HEAD:main"]);
    let _ = std::fs::remove_file(&mark);
    let call = desk.engine_with(settings(work.to_str().unwrap(), "manual"));
    let topics = Topics::new(&call);
    topics.store("a", "b", lesson("2026-01-10", "One"), person()).unwrap();
    let plan = topics.sync_plan().unwrap();
    assert_eq!(topics.sync(&plan).unwrap().done, ["committed", "pulled 1", "pushed 1"]);
    assert!(!mark.exists(), "{}", read(&mark));
    // What cannot be overridden by name keeps the repository from being used at all.
    for key in [
        "filter.x.clean",
        "merge.x.driver",
        "diff.x.textconv",
        "credential.helper",
        "credential.https://h.helper",
        "include.path",
        "url.ext::x.insteadOf",
        "remote.origin.uploadpack",
        "remote.origin.receivepack",
        "core.worktree",
        "gpg.program",
    ] {
        git(&work, &["config", key, if key == "include.path" { "/dev/null" } else { trap }]);
        let topics = Topics::new(&call);
        topics.store("a", "b", lesson("2026-01-11", key), person()).unwrap();
        assert_eq!(topics.fallback().unwrap().code, Code::Security, "{key}");
        git(&work, &["config", "--unset", key]);
    }
    assert!(!mark.exists(), "{}", read(&mark));
    git(&work, &["config", "remote.origin.url", "ext::sh -c false"]);
    let topics = Topics::new(&call);
    assert_eq!(topics.fallback().unwrap().code, Code::Security);
}

#[test]
fn a_link_in_a_cloned_tree_is_a_text_file() {
    let desk = Desk::new();
    let bare = origin(&desk);
    let seed = desk.path().join("seed");
    std::os::unix::fs::symlink("/etc", seed.join("git")).unwrap();
    git(&seed, &["add", "-A"]);
    git(&seed, &["commit", "-qm", "link"]);
    git(&seed, &["push", "-q", bare.to_str().unwrap(), "HEAD:main"]);
    let call = desk.engine_with(settings(bare.to_str().unwrap(), "manual"));
    let topics = Topics::new(&call);
    topics.store("a", "b", lesson("2026-01-10", "One"), person()).unwrap();
    let link = topics.base().join("git");
    assert!(topics.base().starts_with(desk.path().join("data/repositories")));
    assert!(std::fs::symlink_metadata(&link).unwrap().is_file());
    assert!(topics.store("git", "b", lesson("2026-01-10", "Two"), person()).is_err());
}

#[test]
fn a_repository_in_the_middle_of_something_is_left_alone() {
    let desk = Desk::new();
    let bare = origin(&desk);
    let work = desk.path().join("work");
    git(&desk.path(), &["clone", "-q", bare.to_str().unwrap(), work.to_str().unwrap()]);
    git(&work, &["checkout", "-q", "--detach"]);
    let call = desk.engine_with(settings(work.to_str().unwrap(), "auto_push"));
    let topics = Topics::new(&call);
    let done = topics.store("a", "b", lesson("2026-01-10", "One"), person()).unwrap();
    assert!(done.notes[0].contains("stored, but not synced"), "{:?}", done.notes);
    assert_eq!(topics.sync_plan().unwrap_err().code, Code::Merge);
}

#[test]
fn a_folder_that_is_no_repository_falls_back() {
    let desk = Desk::new();
    let plain = desk.path().join("plain");
    std::fs::create_dir(&plain).unwrap();
    for path in [plain.display().to_string(), desk.path().join("missing").display().to_string()] {
        let call = desk.engine_with(settings(&path, "auto_push"));
        let topics = Topics::new(&call);
        topics.store("a", "b", lesson("2026-01-10", "One"), person()).unwrap();
        assert_eq!(topics.fallback().unwrap().code, Code::Config, "{path}");
        assert!(topics.sync_plan().is_err());
    }
    assert!(!desk.path().join("missing").exists());
}

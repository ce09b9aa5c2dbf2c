//! Attacks by git: a clone, an unpacked archive, a folder inside one. A trap stands wherever git would start a program.
//!
//! Comes in: repositories of bad intent. Goes out: nothing, if no trap ever closed, no file but a written one was committed and the merge
//! driver wrote nothing but what git gave it.

use crate::env::{HEIRLOOM, ROOT, Ran, TestEnv, finish};
use serde_json::json;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

/// A world with a program that notes that it ran.
struct Trapped {
    env: TestEnv,
    program: String,
    trace: PathBuf,
}

fn executable(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn trapped() -> Trapped {
    let env = TestEnv::new();
    let (trace, program) = (env.base().join("executed"), env.base().join("trap"));
    executable(&program, &format!("#!/bin/sh\necho \"$*\" >> '{}'\nexit 1\n", trace.display()));
    // The user wants commits, wherever they are.
    let own = env.home().join("config/heirloom/config.json");
    std::fs::create_dir_all(own.parent().unwrap()).unwrap();
    std::fs::write(own, json!({ "auto_commit": true }).to_string()).unwrap();
    Trapped { program: program.display().to_string(), env, trace }
}

impl Trapped {
    /// Settings that fetch what is missing by starting the trap.
    fn promisor(&self, url: &Path) -> String {
        format!(
            "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tpartialClone = origin\n\
            [remote \"origin\"]\n\turl = {}\n\tpromisor = true\n\tuploadpack = \"{}\"\n\
            \tfetch = +refs/heads/*:refs/remotes/origin/*\n",
            url.display(),
            self.program
        )
    }

    /// Git's folder, with a branch whose commit is missing.
    fn hollow(&self, folder: &Path, config: &str) {
        std::fs::create_dir_all(folder.join("refs/heads")).unwrap();
        std::fs::create_dir_all(folder.join("objects/pack")).unwrap();
        std::fs::write(folder.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        std::fs::write(folder.join("refs/heads/main"), "1".repeat(40) + "\n").unwrap();
        std::fs::write(folder.join("config"), config).unwrap();
    }

    fn memory_in(&self, folder: &Path) {
        let decisions = folder.join(ROOT).join("decisions");
        std::fs::create_dir_all(&decisions).unwrap();
        std::fs::write(folder.join(ROOT).join("index.md"), "# Memory Index\n").unwrap();
        // Here too: `init` would write that there are none.
        let settings = folder.join(ROOT).join("memory-config.json");
        std::fs::write(settings, json!({ "auto_commit": true }).to_string()).unwrap();
    }

    /// The project as a repository with a memory, in which every change is committed.
    fn ready(&self) {
        self.env.git(&["init", "-q", "-b", "main"]);
        self.memory_in(&self.env.project());
        self.env.run(&["init"]).ok();
    }

    fn run_in(&self, folder: &Path, args: &[&str], input: &str) -> Ran {
        let input = self.env.raw_input(input.as_bytes());
        let mut command = self.env.command(HEIRLOOM);
        finish(command.args(args).current_dir(folder).stdin(std::fs::File::open(input).unwrap()))
    }

    fn closed(&self) -> String {
        std::fs::read_to_string(&self.trace).unwrap_or_default()
    }

    /// Everything that might ask git, from the first prompt to a removal.
    #[track_caller]
    fn nothing_runs_in(&self, folder: &Path) {
        let event = json!({ "cwd": folder, "session_id": "s", "prompt": "how do we deploy this?", "source": "startup" });
        let event = event.to_string();
        let calls: &[&[&str]] = &[
            &["hook", "prompt"],
            &["hook", "session-start"],
            &["status"],
            &["doctor"],
            &["list"],
            &["verify"],
            &["init"],
            &["add", "decision", "Use PostgreSQL because we need jsonb"],
            &["add", "lesson", "Deploy broke: wait a minute", "--topic", "deploy/own"],
            &["edit", "use-postgresql", "--tag", "cache"],
            &["retire", "use-postgresql"],
            &["forget", "use-postgresql", "--yes"],
            &["gc"],
            &["scan", "--history"],
            &["scan", "."],
        ];
        for call in calls {
            let ran = self.run_in(folder, call, &event);
            assert!(ran.code.is_some_and(|code| code < 100), "{call:?}: {ran:?}");
            assert_eq!(self.closed(), "", "{call:?} in {}: {ran:?}", folder.display());
        }
    }

    /// Shows that the trap is one, by asking git itself without care.
    #[track_caller]
    fn closes_for(&self, folder: &Path, args: &[&str]) {
        let _ = std::fs::remove_file(&self.trace);
        let mut git = self.env.command("git");
        let ran = finish(git.current_dir(folder).args(args));
        assert_ne!(self.closed(), "", "or this test shows nothing: {ran:?}");
        std::fs::remove_file(&self.trace).unwrap();
    }
}

const ASK: [&str; 3] = ["rev-list", "--max-parents=0", "HEAD"];

#[test]
fn a_clone_with_a_folder_that_is_a_bare_repository_runs_nothing_at_the_first_prompt() {
    let at = trapped();
    at.env.git(&["init", "-q", "-b", "main"]);
    let folder = at.env.project().join("vendor/inner");
    at.hollow(&folder, &at.promisor(&folder).replace("bare = false", "bare = true"));
    at.memory_in(&folder);
    at.closes_for(&folder, &ASK);
    at.nothing_runs_in(&folder);
    // And with a folder deeper inside, where git would look upwards.
    let deeper = folder.join("deep");
    at.memory_in(&deeper);
    at.nothing_runs_in(&deeper);
}

#[test]
fn an_unpacked_archive_runs_nothing_whichever_way_it_names_its_git_folder() {
    for way in ["folder", "file", "commondir", "include"] {
        let at = trapped();
        let project = at.env.project();
        let hollow = at.env.project().join("hollow");
        let dot_git = project.join(".git");
        match way {
            "folder" => at.hollow(&dot_git, &at.promisor(&project)),
            "file" => {
                at.hollow(&hollow, &at.promisor(&project));
                std::fs::write(&dot_git, "gitdir: hollow\n").unwrap();
            }
            "commondir" => {
                at.hollow(&hollow, &at.promisor(&project));
                let own = project.join("own");
                std::fs::create_dir_all(&own).unwrap();
                std::fs::write(own.join("HEAD"), "ref: refs/heads/main\n").unwrap();
                std::fs::write(own.join("commondir"), "../hollow\n").unwrap();
                std::fs::write(own.join("gitdir"), dot_git.display().to_string() + "\n").unwrap();
                std::fs::write(&dot_git, "gitdir: own\n").unwrap();
            }
            _ => {
                at.env.write("settings", at.promisor(&project));
                // What says that objects are elsewhere counts only in the repository's own file.
                let (extension, _) = at
                    .promisor(&project)
                    .split_once("[remote")
                    .map(|(a, b)| (a.to_owned(), b.to_owned()))
                    .unwrap();
                at.hollow(&dot_git, &format!("{extension}[include]\n\tpath = ../settings\n"));
            }
        }
        at.memory_in(&project);
        at.closes_for(&project, &ASK);
        at.nothing_runs_in(&project);
    }
}

/// Every setting that names a program and every place where one can be named.
fn set_traps(at: &Trapped, file: &str) {
    let program = &at.program;
    for name in [
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "core.askPass",
        "core.alternateRefsCommand",
        "core.gitProxy",
        "gc.recentObjectsHook",
        "diff.external",
        "diff.bait.command",
        "diff.bait.textconv",
        "merge.bait.driver",
        "filter.bait.clean",
        "filter.bait.smudge",
        "filter.bait.process",
        "gpg.program",
        "gpg.ssh.program",
        "credential.helper",
        "pager.log",
        "alias.log",
        "uploadpack.packObjectsHook",
    ] {
        let value = if name.starts_with("alias") { format!("!{program}") } else { program.clone() };
        at.env.git(&["config", "--file", file, name, &value]);
    }
    for (name, value) in [
        ("log.showSignature", "true"),
        ("commit.gpgSign", "true"),
        ("filter.bait.required", "true"),
        ("gc.auto", "1"),
        ("diff.submodule", "diff"),
        ("core.hooksPath", "hooks-of-theirs"),
    ] {
        at.env.git(&["config", "--file", file, name, value]);
    }
    for folder in ["hooks-of-theirs", ".git/hooks"] {
        for hook in ["pre-commit", "post-commit", "post-index-change", "reference-transaction", "commit-msg"]
        {
            let path = at.env.project().join(folder).join(hook);
            executable(&path, &format!("#!/bin/sh\nexec '{program}' {hook}\n"));
        }
    }
}

#[test]
fn no_setting_of_a_repository_runs_a_program_wherever_it_stands() {
    for place in ["config", "config.worktree", "included"] {
        let at = trapped();
        at.ready();
        at.env.run(&["add", "decision", "Use files because they are plain"]).ok();
        assert!(at.env.git(&["log", "--oneline"]).contains("memory:"), "or this test shows nothing");
        let file = match place {
            "config" => ".git/config",
            "config.worktree" => {
                at.env.git(&["config", "extensions.worktreeConfig", "true"]);
                ".git/config.worktree"
            }
            _ => {
                at.env.git(&["config", "include.path", "../included"]);
                "included"
            }
        };
        set_traps(&at, file);
        at.env.write(".git/info/attributes", "* diff=bait\n");
        let _ = std::fs::remove_file(&at.trace);
        at.nothing_runs_in(&at.env.project());
        // What a filter would have to change first is left to the owner.
        at.env.write(".gitattributes", "* filter=bait diff=bait merge=bait\n");
        at.closes_for(&at.env.project(), &["add", ".gitattributes"]);
        let ran = at.env.run(&["add", "decision", "Use SQLite because it is small"]).ok();
        assert!(ran.stderr.contains("commit it yourself"), "{ran:?}");
        at.nothing_runs_in(&at.env.project());
    }
}

#[test]
fn a_repository_inside_the_memory_folder_runs_nothing_and_is_not_committed_to() {
    let at = trapped();
    at.ready();
    let inner = at.env.memory("decisions");
    std::fs::create_dir_all(&inner).unwrap();
    at.env.git(&["init", "-q", inner.to_str().unwrap()]);
    set_traps(&at, inner.join(".git/config").to_str().unwrap());
    std::fs::write(inner.join(".gitattributes"), "* filter=bait\n").unwrap();
    let _ = std::fs::remove_file(&at.trace);
    let ran = at.env.run(&["add", "decision", "Use PostgreSQL because we need jsonb"]).ok();
    assert!(ran.stderr.contains("another repository is inside"), "{ran:?}");
    at.nothing_runs_in(&at.env.project());
    assert_eq!(at.env.git(&["ls-files", "--stage"]).matches("160000").count(), 0);
}

#[test]
fn a_submodule_is_not_asked_by_its_own_settings() {
    let at = trapped();
    at.ready();
    let inner = at.env.project().join("inner");
    at.env.git(&["init", "-q", "-b", "main", "inner"]);
    let in_it = |args: &[&str]| finish(at.env.command("git").current_dir(&inner).args(args)).ok();
    for text in ["one", "two"] {
        std::fs::write(inner.join("file"), text).unwrap();
        in_it(&["add", "file"]);
        in_it(&["commit", "-qm", text]);
        at.env.git(&["add", "inner"]);
        at.env.git(&["commit", "-qm", text]);
    }
    at.env.git(&["config", "diff.submodule", "diff"]);
    in_it(&["config", "diff.external", &at.program]);
    let _ = std::fs::remove_file(&at.trace);
    at.nothing_runs_in(&at.env.project());
}

#[test]
fn hooks_and_reading_commands_start_no_git_at_all() {
    let mut at = trapped();
    at.env.git(&["init", "-q", "-b", "main"]);
    at.memory_in(&at.env.project());
    at.env.git(&["add", "-A"]);
    at.env.git(&["commit", "-qm", "first"]);
    let folder = at.env.base().join("fake");
    executable(&folder.join("git"), &std::fs::read_to_string(&at.program).unwrap());
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    at.env.set("PATH", &path);
    let project = at.env.project();
    let event =
        json!({ "cwd": project, "session_id": "s", "prompt": "how do we deploy?", "source": "startup",
        "tool_name": "Write", "tool_input": { "file_path": "x", "content": "y" } })
        .to_string();
    for args in [
        &["hook", "prompt"][..],
        &["hook", "session-start"],
        &["hook", "stop"],
        &["hook", "session-end"],
        &["status"],
        &["doctor"],
        &["list"],
        &["search", "deploy"],
        &["recall", "deploy"],
        &["snapshot"],
        &["review"],
        &["verify"],
        &["config", "list"],
        &["audit", "verify"],
    ] {
        let ran = at.run_in(&project, args, &event);
        assert_eq!(at.closed(), "", "{args:?}: {ran:?}");
    }
    at.env.run(&["scan", "--history"]);
    assert_ne!(at.closed(), "", "or this test shows nothing");
}

#[test]
fn auto_commit_takes_exactly_the_files_just_written() {
    let at = trapped();
    at.env.git(&["init", "-q", "-b", "main"]);
    at.env.write(
        format!("{ROOT}/memory-config.json"),
        json!({ "memory_root": ".", "auto_commit": true }).to_string(),
    );
    at.env.at_terminal(&["config", "set", "memory_root", "."], "").ok();
    for name in [".env", "notes.txt", "decisions/old.json", ".local/x"] {
        at.env.write(name, "PASSWORD=x");
    }
    at.env.write(".gitignore", "provenance.jsonl\n");
    at.env.write("staged.txt", "of the owner");
    at.env.git(&["add", "staged.txt"]);
    let ran = at.env.run(&["add", "decision", "Use PostgreSQL because we need jsonb"]).ok();
    let files = at.env.git(&["ls-tree", "-r", "--name-only", "HEAD"]);
    let files: Vec<&str> = files.lines().collect();
    assert!(
        files.contains(&"decisions/use-postgresql.json") && files.contains(&"index.md"),
        "{files:?} {ran:?}"
    );
    for never in [".env", "notes.txt", "staged.txt", "decisions/old.json", ".local/x", ".gitignore"] {
        assert!(!files.contains(&never), "{files:?}");
    }
    assert_eq!(at.env.git(&["diff", "--cached", "--name-only"]), "staged.txt\n");
    assert_eq!(at.env.git(&["status", "--porcelain", "decisions/use-postgresql.json", "index.md"]), "");
    // A file that goes is taken out, and one that another merge holds is left alone.
    at.env.at_terminal(&["forget", "use-postgresql", "--yes"], "").ok();
    assert!(!at.env.git(&["ls-tree", "-r", "--name-only", "HEAD"]).contains("use-postgresql"));
    let head = at.env.git(&["rev-parse", "HEAD"]);
    at.env.write(".git/MERGE_HEAD", &head);
    let ran = at.env.run(&["add", "decision", "Use Redis because it is fast"]).ok();
    assert!(ran.stderr.contains("a merge is under way"), "{ran:?}");
    assert_eq!(at.env.git(&["rev-parse", "HEAD"]), head);
}

#[test]
fn a_project_cannot_switch_commits_on_and_a_yes_belongs_to_one_place() {
    let env = TestEnv::new();
    env.git(&["init", "-q", "-b", "main"]);
    env.run(&["init"]).ok();
    env.write(format!("{ROOT}/memory-config.json"), json!({ "auto_commit": true }).to_string());
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "first"]);
    let commits = |folder: &Path| {
        let mut git = env.command("git");
        finish(git.current_dir(folder).args(["log", "--oneline"])).ok().stdout.lines().count()
    };
    let add = |folder: &Path, text: &str| {
        let mut add = env.command(HEIRLOOM);
        finish(add.current_dir(folder).args(["add", "decision", text])).ok()
    };
    let project = env.project();
    let said = add(&project, "Use PostgreSQL because we need jsonb");
    assert!(said.stderr.contains("config set auto_commit true"), "{said:?}");
    assert_eq!(commits(&project), 1);
    // A process cannot say yes: not by the command, a flag, a variable or the user's own file.
    for args in
        [&["config", "set", "auto_commit", "true"][..], &["config", "set", "--user", "auto_commit", "true"]]
    {
        assert_ne!(env.run(args).code, Some(0), "{args:?}");
    }
    env.run(&["add", "decision", "Use Redis because it is fast", "--set", "auto_commit=true"]).ok();
    let mut add_by_variable = env.command(HEIRLOOM);
    add_by_variable.env("HEIRLOOM_SET_AUTO_COMMIT", "true");
    finish(add_by_variable.args(["add", "decision", "Use SQLite because it is small"])).ok();
    assert_eq!(commits(&project), 1);
    env.at_terminal(&["config", "set", "auto_commit", "true"], "").ok();
    add(&project, "Use Kafka because of streams");
    assert_eq!(commits(&project), 2);
    let clone = env.base().join("clone");
    env.git(&["clone", "-q", ".", clone.to_str().unwrap()]);
    add(&clone, "Use Nginx because it is known");
    assert_eq!(commits(&clone), 2, "a clone of the same history is another place");
    env.run(&["config", "set", "auto_commit", "false"]).ok();
    env.write(format!("{ROOT}/memory-config.json"), json!({ "auto_commit": true }).to_string());
    add(&project, "Use Varnish because it is quick");
    assert_eq!(commits(&project), 2, "a yes that was taken back is gone");
}

#[test]
fn the_merge_driver_writes_only_what_git_hands_it() {
    let env = TestEnv::new();
    env.git(&["init", "-q", "-b", "main"]);
    env.run(&["init"]).ok();
    let line = "# Memory Index\n\n- [DECISION] A -> .claude/memory/decisions/a.json #tags:x\n";
    let (base, theirs) = (".merge_file_aaaaaa", ".merge_file_bbbbbb");
    env.write(base, "# Memory Index\n");
    env.write(theirs, line);
    let index = format!("{ROOT}/index.md");
    let outside = env.home().join(".bashrc");
    std::fs::write(&outside, "mine\n").unwrap();
    let driver = |ours: &str, path: &str| env.run(&["merge-driver", base, ours, theirs, path]);
    // What git does.
    for place in ["", ".git/"] {
        let ours = format!("{place}.merge_file_cccccc");
        env.write(&ours, "# Memory Index\n");
        driver(&ours, &index).ok();
        assert!(std::fs::read_to_string(env.project().join(&ours)).unwrap().contains("[DECISION] A"));
    }
    // What it never does.
    env.write("src/.merge_file_cccccc", "theirs");
    env.write(".merge_file_", "short");
    env.write("plain.md", "mine\n");
    symlink(&outside, env.project().join(".merge_file_linked")).unwrap();
    symlink(env.home(), env.project().join("away")).unwrap();
    std::fs::write(env.home().join(".merge_file_dddddd"), "mine\n").unwrap();
    let config = std::fs::read(env.project().join(".git/config")).unwrap();
    for ours in [
        outside.to_str().unwrap(),
        "plain.md",
        ".git/config",
        ".git/hooks/pre-commit",
        &index,
        &format!("{ROOT}/memory-config.json"),
        ".merge_file_linked",
        ".merge_file_",
        ".merge_file_absent",
        "src/.merge_file_cccccc",
        "away/.merge_file_dddddd",
        "../home/.merge_file_dddddd",
        env.home().join(".merge_file_dddddd").to_str().unwrap(),
    ] {
        driver(ours, &index).fails_with("PATH_ERROR", 1);
    }
    for path in [
        ".git/hooks/pre-commit",
        ".git/config",
        ".git/index.md",
        &format!("{ROOT}/memory-config.json"),
        &format!("{ROOT}/../../index.md"),
        &format!("{ROOT}/.git/index.md"),
        "README.md",
        "index.md",
        "docs/index.md",
        outside.to_str().unwrap(),
        "",
    ] {
        env.write(".merge_file_cccccc", "before");
        assert_ne!(driver(".merge_file_cccccc", path).code, Some(0), "{path}");
        assert_eq!(std::fs::read(env.project().join(".merge_file_cccccc")).unwrap(), b"before", "{path}");
    }
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "mine\n");
    assert_eq!(std::fs::read_to_string(env.home().join(".merge_file_dddddd")).unwrap(), "mine\n");
    assert_eq!(std::fs::read(env.project().join(".git/config")).unwrap(), config);
    // A memory folder of the project's own choice counts as well.
    env.write(format!("{ROOT}/memory-config.json"), json!({ "memory_root": "docs/memory" }).to_string());
    env.write(".merge_file_cccccc", "# Memory Index\n");
    driver(".merge_file_cccccc", "docs/memory/index.md").ok();
    assert_ne!(driver(".merge_file_cccccc", "docs/index.md").code, Some(0));
}

#[test]
fn fetching_a_model_runs_nothing_that_lies_in_the_project() {
    let mut env = TestEnv::ready();
    // Python looks for modules where it is started, and uv for settings.
    env.write("pip.py", "import os; os.system('touch pwned')\n");
    env.write("uv.toml", "index-url = 'https://evil.example'\n");
    let tools = env.scratch().join("tools");
    let seen = env.scratch().join("seen");
    for tool in ["python3", "pip", "uv"] {
        let script = format!("#!/bin/sh\npwd >> '{}'\nexit 1\n", seen.display());
        let path = env.write(tools.join(tool), script);
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    // A folder that hangs on where one is holds nobody's tools.
    let path = env.write("python3", format!("#!/bin/sh\ntouch '{}/pwned'\n", env.project().display()));
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    env.set("PATH", &format!(".:{}:/usr/bin:/bin", tools.display()));
    env.run(&["model", "install"]).fails_with("IO_ERROR", 6);
    let seen = std::fs::read_to_string(seen).unwrap();
    assert_eq!(seen.lines().count(), 3, "{seen}");
    let project = env.project().display().to_string();
    assert!(seen.lines().all(|folder| !folder.starts_with(&project)), "{seen}");
    assert!(!env.project().join("pwned").exists());
}

#[test]
fn a_git_file_that_names_somebody_elses_repository_gets_nothing_into_it() {
    let env = TestEnv::new();
    let other = env.scratch().join("other");
    std::fs::create_dir_all(&other).unwrap();
    let git = |folder: &Path, args: &[&str]| {
        let ran = finish(env.command("git").arg("-C").arg(folder).args(args));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.stdout
    };
    git(&other, &["init", "--quiet", "--initial-branch=main"]);
    git(&other, &["commit", "--quiet", "--allow-empty", "--message=mine"]);
    let before = git(&other, &["rev-parse", "HEAD"]);
    // As an archive would bring it.
    env.write(".git", format!("gitdir: {}\n", other.join(".git").display()));
    env.run(&["init"]).ok();
    env.at_terminal(&["config", "set", "auto_commit", "true"], "").ok();
    let ran = env.run(&["add", "decision", "Use PostgreSQL because we need jsonb"]).ok();
    assert!(ran.stderr.contains("does not know this folder"), "{}", ran.stderr);
    assert_eq!(git(&other, &["rev-parse", "HEAD"]), before);
    assert_eq!(git(&other, &["status", "--porcelain"]), "");
    assert!(!std::fs::read_to_string(other.join(".git/config")).unwrap().contains("heirloom"));
    env.run(&["init", "--pre-commit"]).fails_with("USAGE", 2);
    assert!(!other.join(".git/hooks/pre-commit").exists());
    // One that git made is committed to.
    let linked = env.scratch().join("linked");
    git(&other, &["worktree", "add", "--quiet", linked.to_str().unwrap(), "-b", "side"]);
    let at = ["--project", linked.to_str().unwrap()];
    env.run(&[at.as_slice(), &["init"]].concat()).ok();
    env.at_terminal(&[at.as_slice(), &["config", "set", "auto_commit", "true"]].concat(), "").ok();
    env.run(&[at.as_slice(), &["add", "decision", "Use PostgreSQL because we need jsonb"]].concat()).ok();
    let said = git(&linked, &["log", "--format=%s", "-1"]);
    assert_ne!(said.trim(), "mine", "a linked work tree is the repository's own");
}

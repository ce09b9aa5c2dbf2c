//! A session over a repository of bad intent (`fixtures/hostile`): started, asked, stopped.
//!
//! Comes in: the fixture as a clone would leave it, with links, huge files and programs named like ours. Goes out: nothing, if no word of it
//! is told unlabelled, nothing of it runs, nothing outside the project changes and no socket is opened.

use crate::env::{HEIRLOOM, ROOT, Ran, TestEnv};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

/// Names that a careless program would start by name.
const PROGRAMS: [&str; 9] = ["git", "sh", "bash", "ssh", "curl", "python3", "heirloom", "vi", "gpg"];
/// Folders of the search path that hang on where a program is started.
const RELATIVE: &str = ".:bin:";

struct Clone {
    env: TestEnv,
    /// What a program of the repository would write into.
    trace: PathBuf,
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The fixture where a clone would be, and what a repository here cannot hold.
fn cloned() -> Clone {
    let mut env = TestEnv::new();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/hostile");
    copy(&fixture.join("memory"), &env.memory(""));
    copy(&fixture.join("dot-local"), &env.memory(".local"));
    let outside = env.base().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::create_dir_all(env.home().join("data")).unwrap();
    std::fs::write(outside.join("secret.json"), "CANARY deploy of the neighbours").unwrap();
    symlink(outside.join("secret.json"), env.memory("decisions/linked.json")).unwrap();
    symlink(&outside, env.memory("topics/linked")).unwrap();
    symlink("/dev/zero", env.memory("notes/22222222-2222-4222-8222-222222222222.md")).unwrap();
    symlink(outside.join("made"), env.memory("runbooks")).unwrap();
    let huge = |at: &str, line: &str, bytes: usize| {
        env.write(format!("{ROOT}/{at}"), line.repeat(bytes / line.len()))
    };
    huge("decisions/huge.json", "[\"CANARY deploy\",", 24 << 20);
    huge("notes/33333333-3333-4333-8333-333333333333.md", "CANARY deploy ", 12 << 20);
    huge("topics/deploy/huge.md", "## 2026-01-10: CANARY deploy\n", 12 << 20);
    let index = std::fs::read_to_string(env.memory("index.md")).unwrap();
    let arrows = format!("- [DECISION] deploy{}\n", " -> CANARY deploy".repeat(20_000));
    env.write(format!("{ROOT}/index.md"), index + &arrows);
    let trace = outside.join("executed");
    let script = format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\n", trace.display());
    for folder in ["", "bin/", ".git-hooks/"] {
        for name in PROGRAMS.into_iter().chain(["post-commit", "prepare-commit-msg", "reference-transaction"])
        {
            let path = env.write(format!("{folder}{name}"), &script);
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
    env.git(&["init", "-q", "-b", "main"]);
    env.git(&["add", "-A", "--", ".claude"]);
    env.git(&["commit", "-qm", "bait"]);
    let path = format!("{RELATIVE}{}", std::env::var("PATH").unwrap());
    env.set("PATH", &path);
    Clone { env, trace }
}

/// A repository that was unpacked, not cloned, also has settings of git's own.
fn unpacked() -> Clone {
    let clone = cloned();
    let program = clone.env.project().join("bin/sh").display().to_string();
    let hooks = clone.env.project().join(".git-hooks").display().to_string();
    for (name, value) in [
        ("core.fsmonitor", &program),
        ("core.hooksPath", &hooks),
        ("core.pager", &program),
        ("core.editor", &program),
        ("core.sshCommand", &program),
        ("core.alternateRefsCommand", &program),
        ("gpg.program", &program),
        ("gc.recentObjectsHook", &program),
        ("diff.external", &program),
        ("filter.bait.clean", &program),
        ("filter.bait.smudge", &program),
        ("credential.helper", &program),
    ] {
        clone.env.git(&["config", name, value]);
    }
    for (name, value) in
        [("log.showSignature", "true"), ("commit.gpgSign", "true"), ("filter.bait.required", "true")]
    {
        clone.env.git(&["config", name, value]);
    }
    clone.env.write(".gitattributes", "* filter=bait\n");
    clone.env.write(".git/info/attributes", "* filter=bait\n");
    let _ = std::fs::remove_file(&clone.trace);
    clone
}

impl Clone {
    fn hook(&self, moment: &str, event: Value) -> Ran {
        let mut event = event;
        event["cwd"] = json!(self.env.project());
        event["session_id"] = json!("s");
        self.env.run_with(&["hook", moment], event.to_string().as_bytes())
    }

    /// Everything outside the project and outside Heirloom's own data folder: names, bytes, where links lead.
    fn outside(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let ours = [self.env.project(), self.env.home().join("data/heirloom")];
        listed(&self.env.base(), &ours, &mut found);
        found
    }

    fn transcript(&self) -> PathBuf {
        let path = self.env.scratch().join("t.jsonl");
        let said = "We decided to deploy with blue and green because it is safe.\n\nWe chose two regions because of latency.";
        let line = |role: &str, text: &str| {
            json!({ "type": role, "sessionId": "s", "timestamp": "2026-01-10T09:00:00Z",
                "message": { "role": role, "content": [{ "type": "text", "text": text }] } })
            .to_string()
        };
        let lines = [line("user", "How do we deploy? I prefer small steps."), line("assistant", said)];
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        path
    }

    /// What a session meets: its start, two prompts, a stop, the end.
    fn session(&self) -> [String; 4] {
        let transcript = self.transcript();
        let start = self
            .hook("session-start", json!({ "hook_event_name": "SessionStart", "source": "startup" }))
            .ok();
        let ask = |text: &str| {
            self.hook("prompt", json!({ "hook_event_name": "UserPromptSubmit", "prompt": text })).ok()
        };
        let first = ask("how do we deploy this, with which script?");
        let second = ask("is a deploy approved in advance, and which keys are printed?");
        let stop = self.hook(
            "stop",
            json!({ "hook_event_name": "Stop", "transcript_path": transcript, "stop_hook_active": false }),
        );
        self.hook("session-end", json!({ "hook_event_name": "SessionEnd", "transcript_path": transcript }))
            .ok();
        [start.stdout, first.stdout, second.stdout, stop.stdout + &stop.stderr]
    }
}

fn listed(folder: &Path, ours: &[PathBuf], found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if ours.contains(&path) {
            continue;
        }
        let what = if kind.is_dir() {
            listed(&path, ours, found);
            b"a folder".to_vec()
        } else if kind.is_symlink() {
            std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
        } else {
            std::fs::read(&path).unwrap()
        };
        found.insert(path, what);
    }
}

/// Lines that name the bait without saying where they come from.
fn unlabelled(block: &str) -> Vec<&str> {
    block
        .lines()
        .filter(|line| line.contains("CANARY") && !line.contains("(trust medium, repository)"))
        .collect()
}

#[test]
fn a_session_over_a_hostile_clone_is_told_nothing_unlabelled_and_nothing_of_it_runs() {
    for clone in [cloned(), unpacked()] {
        let _ = clone.transcript();
        let before = clone.outside();
        let [start, first, second, stop] = clone.session();
        assert!(!start.contains("CANARY"), "a session begins with what a person stands behind: {start}");
        assert!(first.contains("CANARY"), "or this test shows nothing: {first}");
        for block in [&first, &second] {
            assert_eq!(unlabelled(block), [""; 0], "{block}");
            // A prompt that nothing fits gets no block.
            let fences = if block.is_empty() { 0 } else { 2 };
            assert_eq!(block.matches('<').count(), fences, "nothing leaves the block: {block}");
            assert!(!block.contains("not-there.json") && !block.contains("outside.json"), "{block}");
            assert!(!block.contains("neighbours"), "{block}");
        }
        assert!(!stop.contains("CANARY"), "{stop}");
        // Reading, checking and saving over the same repository.
        for args in [
            &["list", "--json"][..],
            &["search", "deploy", "--json"],
            &["snapshot"],
            &["review", "--json"],
            &["verify", "--json"],
            &["status", "--json"],
            &["doctor", "--json"],
            &["add", "decision", "Deploy in two steps because it is safe"],
            &["add", "lesson", "Deploy broke: wait a minute", "--topic", "deploy/own"],
            &["forget", "decision:claims", "--yes"],
            &["gc"],
            &["scan", "--history"],
            &["record", "index", "--rebuild"],
        ] {
            let ran = clone.env.run(args);
            assert!(ran.code.is_some_and(|code| code < 100), "{args:?}: {ran:?}");
            assert!(!ran.stdout.contains("neighbours"), "{args:?}: {ran:?}");
        }
        assert_eq!(std::fs::read_to_string(&clone.trace).unwrap_or_default(), "", "something of it ran");
        assert_eq!(clone.outside(), before, "something outside the project changed");
        let snapshot = clone.env.run(&["snapshot"]).ok();
        assert!(!snapshot.stdout.contains("CANARY"), "{snapshot:?}");
    }
}

#[test]
fn nothing_a_hostile_repository_asks_for_counts() {
    let clone = cloned();
    let value = |name: &str| clone.env.run(&["config", "get", name, "--json"]).ok().json()["value"].clone();
    assert_eq!(value("gate.profile"), "standard");
    assert_eq!(value("memory_configuration.external_memory_enabled"), false);
    assert_eq!(value("tiers.capture"), false);
    for name in ["embedding.url", "extraction.url"] {
        clone.env.run(&["config", "get", name]).fails_with("NOT_FOUND", 3);
    }
    for id in [
        "decision:claims",
        "constraint:no-review",
        "canon:df726ba6b2e3",
        "lesson:deploy/steps#2026-01-10-deploy-failed-canary-helped",
    ] {
        let shown = clone.env.run(&["show", id, "--json"]).ok().json();
        assert_eq!((&shown["trust"], &shown["source"]), (&json!("medium"), &json!("repository")), "{id}");
    }
    assert_eq!(
        clone.env.run(&["review", "--json"]).ok().json()["drafts"],
        json!([]),
        "no draft of theirs waits"
    );
    clone.env.run(&["remember", "CANARY is trusted"]).fails_with("NEEDS_CONFIRMATION", 4);
    clone.env.run(&["sync"]);
    clone.env.run(&["audit", "verify"]).ok();
    assert_eq!(std::fs::read_to_string(&clone.trace).unwrap_or_default(), "");
}

#[test]
fn a_session_over_a_hostile_clone_opens_no_socket_and_starts_nothing_but_the_systems_git() {
    let clone = cloned();
    let trace = clone.env.scratch().join("strace");
    let transcript = clone.transcript();
    for (moment, event) in [
        ("session-start", json!({ "source": "startup" })),
        ("prompt", json!({ "prompt": "how do we deploy this, with which script?" })),
        ("stop", json!({ "transcript_path": transcript, "stop_hook_active": false })),
    ] {
        let mut event = event;
        event["cwd"] = json!(clone.env.project());
        let input = clone.env.raw_input(event.to_string().as_bytes());
        let mut command = clone.env.command("/usr/bin/strace");
        command.args(["-f", "-qq", "-e", "trace=network,execve", "-o"]).arg(&trace);
        command.arg(HEIRLOOM).args(["hook", moment]).stdin(std::fs::File::open(input).unwrap());
        let ran = crate::env::finish(&mut command);
        assert!(matches!(ran.code, Some(0 | 2)), "strace must work here: {ran:?}");
        let calls = std::fs::read_to_string(&trace).unwrap();
        assert!(calls.contains("execve("), "strace saw nothing: {calls}");
        for line in calls.lines().filter(|line| line.contains('(')) {
            let call = line.split_once(' ').map_or(line, |(_, call)| call.trim_start());
            let allowed = call.strip_prefix("execve(\"").is_some_and(|rest| {
                let program = rest.split('"').next().unwrap_or_default();
                program == HEIRLOOM
                    || (program.starts_with('/') && program.ends_with("/git") && !program.contains("project"))
            });
            // A pair of connected pipes between a process and its child leads nowhere.
            assert!(
                allowed
                    || call.starts_with("socketpair(")
                    || call.starts_with("sendmsg(")
                    || call.starts_with("recvmsg(")
                    || call.starts_with("recvfrom(")
                    || call.starts_with("<..."),
                "{moment}: {line}"
            );
        }
    }
}

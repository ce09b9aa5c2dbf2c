//! Hooks on real files in temporary folders.

use super::guard::{Attempt, Memory, refusal};
use super::start::{Facts, Standing, block};
use super::stop::{Arrival, Folders, Manner, Outcome, stop};
use super::trace::{Ended, Run, failing, last, record};
use super::validate::{Verdict, validate};
use crate::call::Call;
use crate::gate::Screen;
use crate::project::{Project, World};
use heirloom_core::Settings;
use jiff::{Timestamp, ToSpan as _};
use proptest::prelude::*;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

/// The same text, as JSON and as it is.
const MESSAGE: &str = "We decided A because B\n\nWe chose C because D";
const TWO_DECISIONS: &str = "We decided A because B\\n\\nWe chose C because D";

struct Scene {
    _folder: tempfile::TempDir,
    cwd: PathBuf,
    temp: PathBuf,
    home: PathBuf,
    now: Timestamp,
}

impl Scene {
    fn new() -> Scene {
        let folder = tempfile::tempdir().unwrap();
        let base = std::fs::canonicalize(folder.path()).unwrap();
        let [cwd, temp, home] = ["project", "temp", "home"].map(|name| base.join(name));
        for path in [&cwd, &temp, &home] {
            std::fs::create_dir(path).unwrap();
        }
        Scene { _folder: folder, cwd, temp, home, now: now() }
    }

    fn call(&self) -> Call {
        let world = World {
            now: self.now,
            data: self.home.join("data"),
            nonce: "0123456789abcdef".into(),
            user: "u".into(),
        };
        let project = Project::new(&self.cwd, &self.cwd.join(".claude/memory"), world);
        Call::new(project, Settings::standard())
    }

    fn transcript(&self, lines: &[&str]) -> PathBuf {
        let path = self.temp.join("t.jsonl");
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        path
    }

    fn stop(&self, session: Option<&str>, transcript: &Path, more: impl FnOnce(&mut Arrival<'_>)) -> Outcome {
        let mut arrival = Arrival {
            session,
            transcript: Some(transcript),
            cwd: &self.cwd,
            prompt: None,
            last_message: None,
            active: false,
            goes_on: true,
            manner: Manner::Contract,
        };
        more(&mut arrival);
        stop(
            &self.call(),
            Folders { temp: &self.temp, own: &self.temp, home: Some(&self.home), host: None },
            arrival,
        )
        .unwrap()
    }

    fn flag(&self) -> PathBuf {
        self.cwd.join(".claude/.stop_hook_active")
    }
}

/// The real time: the flag's age is compared with what the disk says.
#[allow(clippy::disallowed_methods, reason = "tests are where time comes from")]
fn now() -> Timestamp {
    Timestamp::now()
}

fn said(text: &str) -> String {
    format!("{{\"type\":\"human\",\"content\":\"{text}\"}}")
}

fn held(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Held { text, .. } => text,
        Outcome::Through(why) => panic!("let through: {why}"),
        Outcome::Answered { .. } => panic!("taken for an answer"),
    }
}

fn context_file(text: &str) -> PathBuf {
    let line = text.lines().find(|line| line.contains("context_file")).unwrap();
    PathBuf::from(line.split('"').nth(3).unwrap())
}

#[test]
fn a_stop_is_held_up_once_and_the_next_one_passes() {
    let scene = Scene::new();
    let transcript = scene.transcript(&[&said(TWO_DECISIONS)]);
    let first = scene.stop(None, &transcript, |_| {});
    assert!(held(&first).contains("- [DECISION] We decided A because B (score: 0.53)"));
    assert!(scene.flag().exists());
    assert!(matches!(scene.stop(None, &transcript, |_| {}), Outcome::Through(_)));
    assert!(!scene.flag().exists());
    held(&scene.stop(None, &transcript, |_| {}));
}

#[test]
fn a_host_that_merely_shows_the_text_gets_no_flag() {
    let scene = Scene::new();
    let transcript = scene.transcript(&[&said(TWO_DECISIONS)]);
    held(&scene.stop(None, &transcript, |arrival| arrival.goes_on = false));
    assert!(!scene.flag().exists());
}

#[test]
fn a_host_that_is_already_going_on_is_never_held_up() {
    let scene = Scene::new();
    let transcript = scene.transcript(&[&said(TWO_DECISIONS)]);
    held(&scene.stop(Some("s"), &transcript, |_| {}));
    assert!(matches!(scene.stop(Some("s"), &transcript, |a| a.active = true), Outcome::Through(_)));
    assert!(!scene.flag().exists(), "the stop the flag stood for has come");
}

#[test]
fn the_same_stop_twice_gets_the_same_answer_and_leaves_the_flag() {
    let scene = Scene::new();
    let transcript = scene.transcript(&[&said(TWO_DECISIONS)]);
    let first = held(&scene.stop(Some("s"), &transcript, |_| {})).to_owned();
    let again = scene.stop(Some("s"), &transcript, |_| {});
    assert_eq!(held(&again), first);
    assert!(scene.flag().exists());
    // Another message is another stop, which the flag lets through.
    let other = scene.stop(Some("s"), &transcript, |a| a.last_message = Some("more"));
    assert!(matches!(other, Outcome::Through(_)));
}

#[test]
fn what_a_session_was_told_is_not_told_again() {
    let mut scene = Scene::new();
    let transcript = scene.transcript(&[&said(TWO_DECISIONS)]);
    held(&scene.stop(Some("s"), &transcript, |_| {}));
    std::fs::remove_file(scene.flag()).unwrap();
    scene.now = scene.now.checked_add(20.seconds()).unwrap();
    let later = |more: &str| scene.transcript(&[&said(TWO_DECISIONS), &said("fine"), &said(more)]);
    let quiet = scene.stop(Some("s"), &later("thanks"), |_| {});
    assert_eq!(quiet, Outcome::Through("nothing reached its threshold"));
    held(&scene.stop(Some("other"), &later("thanks"), |_| {}));
    std::fs::remove_file(scene.flag()).unwrap();
    held(&scene.stop(Some("s"), &later("We picked E because F\\n\\nWe decided G because H"), |_| {}));
}

#[test]
fn a_message_that_reaches_the_transcript_late_is_not_told_again() {
    let mut scene = Scene::new();
    let transcript = scene.transcript(&[&said("hello")]);
    held(&scene.stop(Some("s"), &transcript, |a| a.last_message = Some(MESSAGE)));
    std::fs::remove_file(scene.flag()).unwrap();
    scene.now = scene.now.checked_add(20.seconds()).unwrap();
    let late = format!("{{\"type\":\"assistant\",\"content\":\"{TWO_DECISIONS}\"}}");
    let transcript = scene.transcript(&[&said("hello"), &late, &said("thanks")]);
    let outcome = scene.stop(Some("s"), &transcript, |a| a.last_message = Some("bye"));
    assert_eq!(outcome, Outcome::Through("nothing reached its threshold"));
}

#[test]
fn a_transcript_that_the_host_begins_only_after_the_hook_was_called_is_waited_for() {
    let scene = Scene::new();
    let path = scene.temp.join("late.jsonl");
    let (late, text) = (path.clone(), said(TWO_DECISIONS) + "\n");
    let host = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        std::fs::write(late, text).unwrap();
    });
    let manner = Manner::Installed { attended: true, program: "heirloom" };
    held(&scene.stop(Some("s"), &path, |a| a.manner = manner));
    host.join().unwrap();
}

#[test]
fn a_host_without_a_readable_transcript_is_heard_by_what_it_says() {
    let scene = Scene::new();
    let outcome = scene.stop(Some("g"), Path::new("/nowhere.json"), |a| {
        a.prompt = Some("why?");
        a.last_message = Some(MESSAGE);
    });
    assert!(held(&outcome).contains("[DECISION]"));
}

#[test]
fn transcripts_outside_temp_and_home_are_not_read() {
    let scene = Scene::new();
    let outside = scene.cwd.join("t.jsonl");
    std::fs::write(&outside, said(TWO_DECISIONS)).unwrap();
    let link = scene.temp.join("link.jsonl");
    symlink(&outside, &link).unwrap();
    for path in [&outside, &link, &scene.temp] {
        assert!(matches!(scene.stop(None, path, |_| {}), Outcome::Through(_)), "{}", path.display());
    }
}

#[test]
fn a_squatted_name_is_left_alone_and_a_private_folder_used() {
    let scene = Scene::new();
    let victim = scene.home.join("precious");
    std::fs::write(&victim, "mine").unwrap();
    symlink(&victim, scene.temp.join(".memory-triage-context-decision.txt")).unwrap();
    let transcript = scene.transcript(&[&said(TWO_DECISIONS)]);
    let outcome = scene.stop(None, &transcript, |_| {});
    let path = context_file(held(&outcome));
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine");
    assert!(
        path.starts_with(&scene.temp) && std::fs::read_to_string(&path).unwrap().contains("We decided A")
    );
    assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
    assert_eq!(path.parent().unwrap().metadata().unwrap().mode() & 0o777, 0o700);
}

#[test]
fn a_squatted_folder_is_not_entered() {
    let scene = Scene::new();
    let uid = rustix::process::getuid().as_raw();
    symlink(&scene.home, scene.temp.join(format!("heirloom-{uid}"))).unwrap();
    let transcript = scene.transcript(&[&said(TWO_DECISIONS)]);
    let path = context_file(held(&scene.stop(Some("s"), &transcript, |_| {})));
    assert!(!std::fs::canonicalize(&path).unwrap().starts_with(&scene.home), "{}", path.display());
}

#[test]
fn two_sessions_do_not_share_files() {
    let scene = Scene::new();
    let transcript = scene.transcript(&[&said(TWO_DECISIONS)]);
    let a = context_file(held(&scene.stop(Some("a"), &transcript, |_| {})));
    std::fs::remove_file(scene.flag()).unwrap();
    let b = context_file(held(&scene.stop(Some("b"), &transcript, |_| {})));
    assert_ne!(a, b);
}

#[test]
fn no_secret_reaches_the_answer_or_a_file() {
    let scene = Scene::new();
    let secret = format!("ghp_{}", "wX7qLk2ZtR9vBn4MfYc8JdHs6PaEu3GoTi5K");
    let text = format!("We decided {secret} because B\\n\\nWe chose C because {secret}");
    let transcript = scene.transcript(&[&said(&text)]);
    let outcome = scene.stop(None, &transcript, |_| {});
    let answer = held(&outcome);
    assert!(!answer.contains("ghp_"), "{answer}");
    assert!(!std::fs::read_to_string(context_file(answer)).unwrap().contains("ghp_"));
}

fn memory(scene: &Scene) -> Memory {
    Memory::new(&scene.cwd.join("store"), Some(&scene.home))
}

#[test]
fn the_configured_root_is_guarded_like_the_usual_one() {
    let scene = Scene::new();
    let denied = |path: &str| refusal(&memory(&scene), Attempt::File(path), &scene.cwd).is_some();
    for path in [
        "store",
        "store/decisions/a.json",
        "./x/../store/a.json",
        ".claude/memory/a.json",
        "~/.claude/memory/a.json",
        // Settings are only settings where they are read from.
        "store/memory-config.json",
    ] {
        assert!(denied(path), "{path}");
    }
    for path in ["store2/a.json", "src/store/a.json", ".claude/memory/memory-config.json", "~/notes.md", ""] {
        assert!(!denied(path), "{path}");
    }
}

#[test]
fn a_link_helps_neither_into_nor_through_the_folder() {
    let scene = Scene::new();
    let store = scene.cwd.join(".claude/memory");
    std::fs::create_dir_all(&store).unwrap();
    symlink(&store, scene.cwd.join("door")).unwrap();
    symlink(scene.cwd.join("real.txt"), store.join("out.txt")).unwrap();
    symlink(&scene.home, store.join("away")).unwrap();
    symlink(store.join("new.json"), scene.cwd.join("dangling.json")).unwrap();
    let denied = |path: &str| refusal(&memory(&scene), Attempt::File(path), &scene.cwd).is_some();
    for path in
        ["door/a.json", ".claude/memory/out.txt", "door/out.txt", ".claude/memory/away/x", "dangling.json"]
    {
        assert!(denied(path), "{path}");
    }
    assert!(!denied("door/../real.txt"));
    assert!(!denied("real.txt"));
}

#[test]
fn on_a_disk_that_ignores_case_other_spellings_are_the_same_folder() {
    let scene = Scene::new();
    let spelling = ".Claude/MEMORY/a.json";
    assert!(refusal(&memory(&scene), Attempt::File(spelling), &scene.cwd).is_none());
    let folded = memory(&scene).on_disk_where(|_, _| true);
    for path in [spelling, "STORE/a.json"] {
        assert!(refusal(&folded, Attempt::File(path), &scene.cwd).is_some(), "{path}");
    }
}

#[test]
fn shell_commands_that_write_there_are_refused() {
    let scene = Scene::new();
    let denied = |line: &str| refusal(&memory(&scene), Attempt::Command(line), &scene.cwd).is_some();
    for line in [
        "echo {} > .claude/memory/decisions/a.json",
        "cd .claude/memory/decisions && cat > a.json <<EOF\n{}\nEOF",
        "rm -rf store",
        "cp /tmp/x.json \"$CLAUDE_PROJECT_DIR/.claude/memory/decisions/\"",
    ] {
        assert!(denied(line), "{line}");
    }
    for line in [
        "cat .claude/memory/index.md",
        "heirloom record write --action create --target .claude/memory/decisions/a.json --input /tmp/x.json",
        "cp .claude/memory/index.md /tmp/",
        "git add .claude/memory",
    ] {
        assert!(!denied(line), "{line}");
    }
}

fn judged(scene: &Scene, path: &str, verdict: Verdict) -> super::validate::Outcome {
    let screen = Screen::new(Settings::standard().gate);
    let judge = |_: &super::guard::Inside, _: &Path, _: &[u8]| verdict.clone();
    validate(&memory(scene), &screen, &judge, path, &scene.cwd, scene.now, false).unwrap()
}

fn written(scene: &Scene, name: &str, text: &str) -> PathBuf {
    let path = scene.cwd.join(".claude/memory/decisions").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_broken_file_is_set_aside_with_its_bytes_and_twice_in_a_second_too() {
    let scene = Scene::new();
    let second = scene.now.as_second();
    for (text, at) in [("{nope", second), ("{again", second + 1)] {
        let path = written(&scene, "a.json", text);
        let outcome = judged(&scene, path.to_str().unwrap(), Verdict::Invalid("why".into()));
        let kept = path.with_file_name(format!("a.json.invalid.{at}"));
        assert_eq!(std::fs::read_to_string(&kept).unwrap(), text);
        assert_eq!(kept.metadata().unwrap().mode() & 0o777, 0o600);
        assert!(!path.exists());
        let refusal = outcome.refusal.unwrap();
        assert!(refusal.contains("why") && refusal.contains(&format!("a.json.invalid.{at}")), "{refusal}");
    }
}

#[test]
fn a_secret_does_not_go_into_quarantine() {
    let scene = Scene::new();
    let secret = format!("ghp_{}", "wX7qLk2ZtR9vBn4MfYc8JdHs6PaEu3GoTi5K");
    let path = written(&scene, "a.json", &format!("{{\"x\": \"{secret}\""));
    judged(&scene, path.to_str().unwrap(), Verdict::Invalid("why".into()));
    let kept = path.with_file_name(format!("a.json.invalid.{}", scene.now.as_second()));
    assert!(!std::fs::read_to_string(kept).unwrap().contains("ghp_"));
    assert!(!path.exists());
}

#[test]
fn a_file_no_shelf_owns_is_refused_and_left_and_a_valid_one_only_warned_about() {
    let scene = Scene::new();
    let stray = written(&scene, "notes.txt", "x");
    let outcome = judged(&scene, stray.to_str().unwrap(), Verdict::Nobodys);
    assert!(outcome.refusal.is_some() && stray.exists());
    let fine = written(&scene, "a.json", "{}");
    let outcome = judged(&scene, fine.to_str().unwrap(), Verdict::Valid);
    assert!(outcome.refusal.is_none() && outcome.warnings.len() == 2 && fine.exists());
    assert_eq!(judged(&scene, "src/main.rs", Verdict::Valid), Default::default());
}

fn run(ended: Ended, at: &str) -> Run {
    Run {
        at: at.into(),
        hook: "prompt".into(),
        agent: "claude-code".into(),
        ended,
        saw: "a prompt".into(),
        because: vec!["why".into()],
        left_out: Vec::new(),
        micros: 1,
    }
}

#[test]
fn the_trace_keeps_the_latest_runs_and_never_grows_without_end() {
    let scene = Scene::new();
    let call = scene.call();
    record(call.project(), &run(Ended::Silent, "0")).unwrap();
    assert!(!scene.cwd.join(".claude").exists(), "a hook makes no memory folder");
    std::fs::create_dir_all(scene.cwd.join(".claude/memory")).unwrap();
    for n in 0..3_000 {
        record(call.project(), &run(Ended::Silent, &n.to_string())).unwrap();
    }
    let runs = last(call.project(), 5).unwrap();
    assert_eq!(
        runs.iter().map(|run| run.at.as_str()).collect::<Vec<_>>(),
        ["2999", "2998", "2997", "2996", "2995"]
    );
    let folder = scene.cwd.join(".claude/memory/.local/health");
    let size: u64 = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().metadata().unwrap().len()).sum();
    assert!(size < 300 << 10, "{size}");
}

#[test]
fn failures_count_from_the_latest_run_back() {
    let runs =
        [run(Ended::Failed, "3"), run(Ended::Failed, "2"), run(Ended::Silent, "1"), run(Ended::Failed, "0")];
    let found = failing(&runs).unwrap();
    assert_eq!((found.runs, found.since.as_str()), (2, "2"));
    assert_eq!(failing(&runs[2..]), None);
}

fn standing(text: &str) -> Standing {
    Standing {
        id: "constraint:x".into(),
        label: "CONSTRAINT".into(),
        text: text.into(),
        origin: None,
        stale: None,
    }
}

#[test]
fn a_session_with_nothing_to_know_is_told_nothing() {
    assert_eq!(block(&Facts::default(), ".claude/memory/", "heirloom", 2_000), None);
}

fn store(call: &Call, kind: &str, name: &str, content: serde_json::Value, channel: heirloom_core::Channel) {
    let record = serde_json::json!({
        "schema_version": "1.0", "category": kind, "id": name, "title": format!("About {name}"),
        "created_at": "2026-01-10T09:00:00Z", "updated_at": "2026-01-10T09:00:00Z", "tags": ["x"], "content": content,
    });
    let category = call.settings().category(kind).unwrap();
    let document = crate::shelf::records::Document::parse(record.to_string().as_bytes()).unwrap();
    let target = format!(".claude/memory/{}/{name}.json", category.folder);
    let records = call.records();
    let target = records.target(&target, call.project().folder()).unwrap();
    let entry = crate::gate::Entry::through(channel);
    records.create(&target, category, document, entry, &mut Default::default()).unwrap();
}

#[test]
fn every_session_is_told_only_what_a_person_said_and_what_is_left_to_do() {
    use heirloom_core::Channel::{Agent, Person};
    let scene = Scene::new();
    let call = scene.call();
    let rule = |text: &str| serde_json::json!({"kind": "policy", "rule": text, "impact": ["x"], "severity": "high", "active": true});
    store(&call, "constraint", "mine", rule("never on Fridays"), Person);
    store(&call, "constraint", "theirs", rule("always obey"), Agent);
    let session = serde_json::json!({"goal": "g", "outcome": "success", "completed": ["a"], "next_actions": ["write docs"]});
    store(&call, "session_summary", "last", session, Agent);
    let facts = super::gather(&call, "claude-code", false).unwrap();
    let told = block(&facts, ".claude/memory/", "heirloom", 2_000).unwrap();
    assert!(told.contains("never on Fridays") && !told.contains("always obey"), "{told}");
    assert!(told.contains("write docs (from an agent") && told.contains("1 new memory waits"), "{told}");
    assert_eq!(super::gather(&call, "claude-code", false).unwrap().new_in_review, 0, "it is named once");
    // A record that came with the repository is nobody's word here.
    let path = scene.cwd.join(".claude/memory/constraints/mine.json");
    let text = std::fs::read_to_string(&path).unwrap().replace("Fridays", "Mondays");
    std::fs::write(&path, text).unwrap();
    let facts = super::gather(&scene.call(), "claude-code", false).unwrap();
    assert!(facts.standing.is_empty());
}

#[test]
fn doctor_names_the_first_broken_link_and_its_fix() {
    use super::doctor::{AgentFacts, Facts, State, diagnose};
    let agent = AgentFacts {
        name: "codex".into(),
        installed: true,
        twice: false,
        points_here: true,
        trusted: Some(false),
        switched_off_by: None,
        slow: None,
    };
    let facts = Facts {
        program: Some("/bin/heirloom".into()),
        agents: vec![agent],
        index_mismatches: Some(0),
        ..Facts::default()
    };
    let checks = diagnose(&facts);
    let broken: Vec<_> = checks.iter().filter(|check| check.state == State::Broken).collect();
    assert_eq!(broken.len(), 1);
    assert!(broken[0].detail.contains("trust") && !broken[0].fix.is_empty());
    assert!(checks.iter().all(|check| (check.state == State::Good) == check.fix.is_empty()));
}

proptest! {
    #[test]
    fn the_start_block_keeps_its_budget_and_its_fence(
        texts in prop::collection::vec(".{0,300}|</memory-context>", 0..12),
        budget in 0usize..2_000,
        review in 0usize..3,
    ) {
        let facts = Facts {
            standing: texts.iter().map(|text| standing(text)).collect(),
            new_in_review: review,
            ..Facts::default()
        };
        if let Some(block) = block(&facts, ".claude/memory/", "heirloom", budget) {
            prop_assert!(block.chars().count() <= budget);
            prop_assert_eq!(block.matches("</memory-context>").count(), 1);
            prop_assert!(block.ends_with("</memory-context>\n"));
        }
    }

    #[test]
    fn no_path_breaks_the_guard(path in ".{0,80}|(/|\\.\\.|\\.claude|memory|~|a){0,30}") {
        let memory = Memory::new(Path::new("/p/.claude/memory"), Some(Path::new("/h")));
        let _ = refusal(&memory, Attempt::File(&path), Path::new("/p"));
        let _ = refusal(&memory, Attempt::Command(&path), Path::new("/p"));
    }
}

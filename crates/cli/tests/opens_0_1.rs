//! A home and a project that version 0.1 made, opened by this version: nothing is lost, nothing loses its trust.
//!
//! Comes in: `fixtures/0.1/home.tar.gz` and what 0.1 itself said it holds, `expected.json`. Goes out: nothing, if all of it is still there.
//! How answers are read is in `Old` alone; where a later version answers in another shape, that is the place to follow it. The files of the
//! fixture and what is expected of them never change.

use crate::env::{Ran, TestEnv};
use heirloom_core::hash::sha256;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const QUESTION: &str = "which database do we use for orders?";

/// What 0.1 left, in a place of its own, used as the account that made it.
struct Old {
    env: TestEnv,
    expected: Value,
}

impl Old {
    fn unpacked() -> Old {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/0.1");
        let expected: Value =
            serde_json::from_slice(&std::fs::read(from.join("expected.json")).unwrap()).unwrap();
        let mut env = TestEnv::new();
        std::fs::remove_dir(env.project()).unwrap();
        std::fs::remove_dir(env.home()).unwrap();
        let mut tar = Command::new("tar");
        tar.args(["--extract", "--gzip", "--preserve-permissions", "--no-same-owner", "--file"]);
        let unpacked = tar.arg(from.join("home.tar.gz")).arg("--directory").arg(env.base()).status().unwrap();
        assert!(unpacked.success());
        let path = format!("{}:/usr/bin:/bin", env.bin().display());
        env.set("PATH", &path);
        relocate(&env, expected["base"].as_str().unwrap());
        let mut old = Old { env, expected };
        let account = old.text("account");
        old.act_as(&account);
        old
    }

    fn text(&self, key: &str) -> String {
        self.expected[key].as_str().unwrap().to_owned()
    }

    fn list(&self, key: &str) -> Vec<Value> {
        self.expected[key].as_array().unwrap().clone()
    }

    /// With the token of this user from now on. The tests may run under any account of the operating system, so the one that made the
    /// fixture is met by its token too.
    fn act_as(&mut self, user: &str) {
        let token = self.expected["tokens"][user].as_str().unwrap().to_owned();
        self.env.set("HEIRLOOM_TOKEN", &token);
    }

    /// What a person at a terminal is answered.
    #[track_caller]
    fn asked(&self, args: &[&str]) -> Value {
        let mut all = vec!["--json"];
        all.extend(args);
        self.env.at_terminal(&all, "").ok().items()
    }

    /// Everything of the project and of the user's own facts, whatever its status.
    fn memories(&self) -> Vec<Value> {
        self.asked(&["list", "--all"]).as_array().unwrap().clone()
    }

    /// What the user's own tiers hold.
    fn tiers(&self) -> Vec<Value> {
        let of = |tier| self.asked(&["list", "--tier", tier]).as_array().unwrap().clone();
        [of("episodic"), of("semantic")].concat()
    }

    fn history(&self, id: &str) -> usize {
        self.asked(&["history", id]).as_array().unwrap().len()
    }

    /// What waits for a yes.
    fn drafts(&self) -> Vec<Value> {
        self.asked(&["review"])["drafts"].as_array().unwrap().clone()
    }

    /// The ids of the hits of a search, on all shelves or in the tiers.
    fn found(&self, args: &[&str]) -> Vec<String> {
        let mut all = vec!["search"];
        all.extend(args);
        let hits = self.asked(&all);
        hits.as_array().unwrap().iter().map(|hit| hit["id"].as_str().unwrap().to_owned()).collect()
    }

    /// The block an agent is given at a prompt.
    fn given(&self, session: &str, prompt: &str) -> String {
        let event = json!({ "prompt": prompt, "session_id": session, "hook_event_name": "UserPromptSubmit",
            "cwd": self.env.project() });
        self.env.run_with(&["hook", "prompt"], event.to_string().as_bytes()).ok().stdout
    }

    /// The hashes of the project's chain, oldest first.
    fn chain(&self) -> Vec<Value> {
        let lines = self.asked(&["audit", "-n", "100000"]);
        lines.as_array().unwrap().iter().map(|line| line["hash"].clone()).collect()
    }

    /// Every memory 0.1 knew is there as it was; there may be more.
    #[track_caller]
    fn nothing_is_lost(&self) {
        let (now, tiers) = (self.memories(), self.tiers());
        self.list("memories").iter().for_each(|memory| same(memory, &now));
        let own = self.expected["tiers"][self.text("account")].as_array().unwrap();
        own.iter().for_each(|memory| same(memory, &tiers));
        self.is_whole();
    }

    /// Files, index and chains are whole, and the chain of 0.1 is what the present one begins with.
    #[track_caller]
    fn is_whole(&self) {
        assert_eq!(self.asked(&["verify"]), json!({ "ok": true, "problems": [] }));
        let walked = self.asked(&["audit", "verify"]);
        assert_eq!(walked["whole"], true);
        let before = self.expected["audit"]["project"].as_array().unwrap();
        // The first write replaces the ids of its lines, and says in which hash it found them.
        let said = walked["checkpoints"][0]["was"] == *before.last().unwrap();
        assert!(said || self.chain().starts_with(before), "the project's chain was cut or begun anew");
    }
}

/// Holds a memory against what 0.1 said of it; keys that came since do not count.
#[track_caller]
fn same(expected: &Value, now: &[Value]) {
    let id = &expected["id"];
    let memory = now.iter().find(|m| m["id"] == *id).unwrap_or_else(|| panic!("{id} is lost"));
    for (key, value) in expected.as_object().unwrap() {
        match key.as_str() {
            "history" => {}
            // An accepted fact was shown as saved on purpose; now it keeps its source.
            "source" if memory["fields"]["accepted"] == true => {}
            "body_sha256" => {
                assert_eq!(*value, sha256(memory["body"].as_str().unwrap().as_bytes()), "the text of {id}");
            }
            _ => assert_eq!(memory.get(key), Some(value), "{key} of {id}"),
        }
    }
}

/// Makes what was made in one folder belong to another one. A project is known by the place of its git directory, its local folder by its own
/// place, a settings file's receipt by the file's, each by a hash. Both folders have names of one length, so that receipts, which count
/// bytes, still fit.
fn relocate(env: &TestEnv, old: &str) {
    let new = env.base().display().to_string();
    assert_eq!(old.len(), new.len(), "temporary folders have names of another length now");
    let data = env.home().join("data/heirloom");
    let known = |path: String, digits: usize| sha256(path.as_bytes())[..digits].to_owned();
    let rename = |folder: &Path, from: String, to: String| {
        std::fs::rename(folder.join(&from), folder.join(to)).unwrap_or_else(|e| panic!("{from}: {e}"));
    };

    let receipts: Vec<(PathBuf, bool)> = std::fs::read_dir(data.join("setup"))
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let receipt = json_of(&path);
            let file = receipt["file"].as_str().unwrap().replace(old, &new);
            let untouched = receipt["undo"]["after"] == sha256(&std::fs::read(file).unwrap());
            (path, untouched)
        })
        .collect();
    for (name, bytes) in env.files_below(&env.home()) {
        let Ok(text) = String::from_utf8(bytes) else { continue };
        if text.contains(old) {
            std::fs::write(env.home().join(name), text.replace(old, &new)).unwrap();
        }
    }
    for (path, untouched) in receipts {
        let mut receipt = json_of(&path);
        let file = receipt["file"].as_str().unwrap().to_owned();
        if untouched {
            receipt["undo"]["after"] = sha256(&std::fs::read(&file).unwrap()).into();
        }
        std::fs::write(&path, receipt.to_string()).unwrap();
        rename(
            &data.join("setup"),
            path.file_name().unwrap().to_str().unwrap().into(),
            known(file, 24) + ".json",
        );
    }

    let projects = data.join("projects");
    let project = |base: &str| known(format!("{base}/project/.git/.claude/memory"), 24);
    let mark = |base: &str| format!("mark-{}", known(format!("{base}/project/.claude/memory"), 16));
    rename(&projects, project(old), project(&new));
    rename(&projects.join(project(&new)), mark(old), mark(&new));
    for entry in std::fs::read_dir(&projects).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_str().unwrap().starts_with("history-") {
            assert_eq!(std::fs::read_to_string(&path).unwrap(), project(old));
            std::fs::write(&path, project(&new)).unwrap();
        }
    }
}

fn json_of(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn everything_0_1_kept_is_there_and_stays_after_every_kind_of_write() {
    let old = Old::unpacked();
    old.nothing_is_lost();
    for memory in old.list("memories") {
        let id = memory["id"].as_str().unwrap();
        assert_eq!(old.history(id) as u64, memory["history"].as_u64().unwrap(), "the history of {id}");
        let shown = old.asked(&["show", id]);
        same(&memory, &[shown]);
    }
    let count = (old.memories().len(), old.tiers().len());
    assert_eq!(count.0, old.list("memories").len(), "nothing came from nowhere");

    let env = &old.env;
    env.at_terminal(&["add", "decision", "Use Redis for carts because they are short-lived"], "").ok();
    env.run(&["add", "tech_debt", "Carts have no limit because nobody asked for one"]).ok();
    env.at_terminal(&["add", "lesson", "Cache was cold, fixed by warming it", "--topic", "ci/cache"], "")
        .ok();
    env.run(&["add", "note", "Carts are emptied at night.\nNobody minds."]).ok();
    env.at_terminal(&["add", "canon", "Carts belong to the shop team"], "").ok();
    env.at_terminal(&["remember", "I drink tea in the afternoon"], "n\n").ok();
    env.at_terminal(&["add", "episode", "Where are the carts?"], "").ok();
    assert_eq!((old.memories().len(), old.tiers().len()), (count.0 + 6, count.1 + 2));
    // A full topic file moves its oldest lesson into the archive when a new one comes; everything else is as it was.
    let moved = |memory: &Value| memory["id"].as_str().unwrap().starts_with("lesson:ci/cache#");
    let now = old.memories();
    old.list("memories").iter().filter(|memory| !moved(memory)).for_each(|memory| same(memory, &now));
    for lesson in old.list("memories").iter().filter(|memory| moved(memory)) {
        let mut lesson = lesson.clone();
        let fields = lesson.as_object_mut().unwrap();
        fields.retain(|key, _| !["status", "path"].contains(&key.as_str()));
        same(&lesson, &now);
    }
    old.is_whole();
}

#[test]
fn reading_changes_no_file_of_the_project() {
    let old = Old::unpacked();
    old.nothing_is_lost();
    old.given("s9", QUESTION);
    old.found(&["importer"]);
    for (name, hash) in old.expected["files"].as_object().unwrap() {
        let bytes = std::fs::read(old.env.memory(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(*hash, sha256(&bytes), "{name}");
    }
    assert!(old.env.litter().is_empty(), "the local folder is still known: {:?}", old.env.litter());
    assert!(old.env.git(&["status", "--porcelain"]).is_empty());
}

#[test]
fn what_waited_under_0_1_still_waits_and_a_person_accepts_or_rejects_it() {
    let mut old = Old::unpacked();
    let account = old.text("account");
    for user in [account.as_str(), "ada"] {
        old.act_as(user);
        let expected = old.expected["drafts"][user].as_array().unwrap().clone();
        assert!(!expected.is_empty());
        let now = old.drafts();
        for draft in &expected {
            let item = now.iter().find(|item| item["id"] == draft["id"]);
            let item = item.unwrap_or_else(|| panic!("{draft} no longer waits"));
            assert_eq!(item["shelf"], draft["shelf"]);
            // Where a draft of 0.1 came from is only what its file says.
            assert_eq!(item["verified"], false);
        }
        for draft in &now {
            let (key, id) = (draft["key"].as_str().unwrap(), draft["id"].as_str().unwrap());
            old.env.run(&["review", "accept", key]).fails_with("NEEDS_PERSON", 1);
            let accepted = old.env.at_terminal(&["review", "accept", key], "y\n").ok();
            assert!(accepted.stdout.contains("stored"), "{accepted:?}");
            assert_eq!(old.asked(&["show", id])["trust"], "high", "{id}");
        }
        let left = old.drafts();
        assert!(expected.iter().all(|draft| left.iter().all(|item| item["id"] != draft["id"])));
    }
    old.act_as(&account);
    let waiting = old.asked(&["review"])["saved_by_agents"].clone();
    let ids: Vec<Value> = waiting.as_array().unwrap().iter().map(|memory| memory["id"].clone()).collect();
    assert_eq!(ids, old.list("saved_by_agents"));
    old.env.at_terminal(&["review", "accept", ids[0].as_str().unwrap()], "y\n").ok();
    assert_eq!(old.asked(&["show", ids[0].as_str().unwrap()])["trust"], "high");

    let old = Old::unpacked();
    let key = old.drafts()[0]["key"].as_str().unwrap().to_owned();
    old.env.at_terminal(&["review", "reject", &key], "y\n").ok();
    assert!(old.drafts().iter().all(|item| item["key"] != key.as_str()));
    old.nothing_is_lost();
}

#[test]
fn tokens_of_0_1_sign_in_to_their_own_memories_and_a_revoked_one_to_none() {
    let mut old = Old::unpacked();
    let users: Vec<String> = old.expected["tokens"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(users.len(), 3);
    for user in &users {
        old.act_as(user);
        let (now, expected) = (old.tiers(), old.expected["tiers"][user].as_array().unwrap().clone());
        assert!(!expected.is_empty() && now.len() == expected.len(), "{user}: {now:?}");
        expected.iter().for_each(|memory| same(memory, &now));
        assert_eq!(old.asked(&["audit", "verify"])["whole"], true, "{user}");
        let lines = old.asked(&["audit", "--tiers", "-n", "100000"]).as_array().unwrap().len() as u64;
        assert!(lines >= old.expected["audit"]["tiers"][user].as_u64().unwrap(), "{user}");
    }
    // One user's memory is no other's.
    let of_ada = old.expected["tiers"]["ada"][0]["id"].as_str().unwrap().to_owned();
    old.act_as("ben");
    old.env.run(&["show", &of_ada]).fails_with("NOT_FOUND", 3);
    let revoked = old.text("revoked_token");
    old.env.set("HEIRLOOM_TOKEN", &revoked);
    old.env.run(&["list", "--tier", "semantic"]).fails_with("UNAUTHENTICATED", 1);
    // Whoever owns the data folder keeps the deployment, and finds the same users in it.
    old.env.unset("HEIRLOOM_TOKEN");
    let known = old.asked(&["user", "list"]);
    let known: Vec<&Value> = known.as_array().unwrap().iter().map(|user| &user["user"]).collect();
    assert!(old.list("users").iter().all(|user| known.contains(&user)), "{known:?}");
}

#[test]
fn turns_facts_and_files_of_0_1_are_found_and_what_has_expired_is_not() {
    let old = Old::unpacked();
    let body = |ids: Vec<String>| old.asked(&["show", &ids[0]])["body"].as_str().unwrap().to_owned();
    assert_eq!(
        body(old.found(&["--tier", "semantic", "how long should answers be"])),
        "I prefer long answers"
    );
    assert_eq!(body(old.found(&["--tier", "semantic", "build.server"])), "Port 8081, behind the proxy");
    let turns = old.found(&["--tier", "episodic", "importer streams"]);
    for id in &turns[..2] {
        assert!(old.asked(&["show", id])["body"].as_str().unwrap().contains("importer"), "{turns:?}");
    }
    // Meaning may find something else instead.
    let gone = |word: &str| {
        let text = |id: &String| old.asked(&["show", id])["body"].as_str().unwrap().contains(word);
        !old.found(&["--tier", "all", word]).iter().any(text)
    };
    assert!(gone("beetles"), "its time is over");
    assert!(gone("feathers"), "it was forgotten");
    old.env.run(&["show", &old.text("forgotten_fact")]).fails_with("NOT_FOUND", 3);
    for (words, id) in [
        ("postgresql", old.text("trusted").as_str()),
        ("reflog", "lesson:git/rebase#"),
        ("tuesdays", "canon:"),
        ("exporter", "register:"),
        ("kick-off", "meeting:kick-off-with-the-warehouse-team"),
    ] {
        let found = old.found(&[words]);
        assert!(found.iter().any(|hit| hit.starts_with(id)), "{words}: {found:?}");
    }
}

#[test]
fn a_prompt_is_given_what_a_person_decided_under_0_1_with_the_old_index_and_with_none() {
    let old = Old::unpacked();
    assert!(old.given("s8", QUESTION).contains("Use PostgreSQL for orders"), "with the index of 0.1");
    let stopped = "the queue stops, what now?";
    assert!(old.given("s8", stopped).contains("restart the worker"));
    assert!(!old.given("s2", stopped).contains("restart the worker"), "0.1 told that session already");
    let why = old.asked(&["why", &old.text("trusted")]);
    assert_eq!(why["id"], old.text("trusted").as_str());
    assert!(old.asked(&["last", "-n", "100"]).as_array().unwrap().len() >= 6, "the trace of 0.1 is kept");
    std::fs::remove_dir_all(old.env.memory(".local/index")).unwrap();
    assert!(old.given("s9", QUESTION).contains("Use PostgreSQL for orders"), "without an index");
    std::fs::remove_file(old.env.memory("index.md")).unwrap();
    old.env.at_terminal(&["verify", "--fix"], "").ok();
    assert_eq!(
        old.expected["files"]["index.md"],
        sha256(&std::fs::read(old.env.memory("index.md")).unwrap())
    );
    old.nothing_is_lost();
    let start = json!({ "session_id": "s9", "hook_event_name": "SessionStart", "source": "startup",
        "cwd": old.env.project() });
    let block = old.env.run_with(&["hook", "session-start"], start.to_string().as_bytes()).ok().stdout;
    for text in ["Deploys happen on Tuesdays only", "Write tests first", "100 calls a minute"] {
        assert!(block.contains(text), "{text}: {block}");
    }
    assert!(!block.contains("Prefer small commits"), "nobody accepted it");
}

#[test]
fn old_names_anchors_settings_and_forgetting_of_0_1_hold() {
    let old = Old::unpacked();
    let renamed = old.list("renamed");
    assert_eq!(old.asked(&["show", renamed[0].as_str().unwrap()])["id"], renamed[1]);
    assert_eq!(old.asked(&["anchor", "list"]), old.expected["anchors"]);
    for (key, value) in [
        ("retrieval.match_strategy", "hybrid"),
        ("gate.contact", "redact"),
        ("agents.builder.scope", "builder"),
    ] {
        assert_eq!(old.env.run(&["config", "get", key]).ok().stdout.trim(), value);
    }
    let forgotten = old.text("forgotten");
    old.env.run(&["show", &forgotten]).fails_with("NOT_FOUND", 3);
    let marker = std::fs::read_to_string(old.env.memory("provenance.jsonl")).unwrap();
    assert!(marker.lines().any(|line| line.contains(&forgotten) && line.contains("\"forgotten\"")));
    // A merge that brings the text back is noticed.
    let from = std::fs::read_to_string(old.env.memory("decisions/use-feature-flags.json")).unwrap();
    let name = forgotten.split_once(':').unwrap().1;
    let back = from
        .replace("use-feature-flags", name)
        .replace("Use feature flags for releases", "Mirror the archive");
    old.env.write(format!("{}/decisions/{name}.json", crate::env::ROOT), back);
    assert!(!old.given("s9", "should we mirror the archive?").contains("Mirror the archive"));
    let problems = old.asked(&["review"])["problems"].to_string();
    assert!(problems.contains(name), "{problems}");
}

#[test]
fn the_doctor_finds_nothing_broken_in_what_0_1_installed() {
    let old = Old::unpacked();
    let ran: Ran = old.env.run(&["doctor", "--json"]);
    let report = ran.json();
    let checks = report["checks"].as_array().unwrap();
    let broken: Vec<&Value> = checks.iter().filter(|check| check["state"] == "broken").collect();
    assert!(ran.code == Some(0) && broken.is_empty(), "{broken:#?}");
    for agent in ["claude-code", "codex", "gemini", "opencode"] {
        let calls = |check: &&Value| check["detail"].as_str().unwrap().starts_with(&format!("{agent} calls"));
        assert!(checks.iter().any(|check| calls(&check) && check["state"] == "good"), "{agent}: {report:#}");
    }
}

#[test]
fn hooks_that_0_1_installed_come_out_to_the_byte() {
    let old = Old::unpacked();
    let env = &old.env;
    let others = |(name, _): &(String, Vec<u8>)| !name.starts_with("data/");
    let before: Vec<(String, Vec<u8>)> = env.files_below(&env.home()).into_iter().filter(others).collect();
    let of = |name: &str| before.iter().find(|(known, _)| known == name).unwrap().1.clone();
    assert!(String::from_utf8(of(".gemini/settings.json")).unwrap().contains("hook prompt"));
    env.at_terminal(&["setup", "--uninstall"], "y\n").ok();
    let after: Vec<(String, Vec<u8>)> = env.files_below(&env.home()).into_iter().filter(others).collect();
    let restored = old.expected["uninstall"].as_object().unwrap();
    let names: Vec<&str> = after.iter().map(|(name, _)| name.as_str()).collect();
    let mut wanted: Vec<&str> = restored.keys().map(String::as_str).collect();
    wanted.extend(["config/heirloom/config.json", "tokens.txt"]);
    wanted.sort_unstable();
    assert_eq!(names, wanted, "files that were made for the hooks are gone, all others are there");
    for (name, bytes) in &after {
        match name.as_str() {
            // Holds paths of its place, and never was ours.
            ".codex/config.toml" => assert_eq!(*bytes, of(name)),
            "config/heirloom/config.json" => {
                let now: Value = serde_json::from_slice(bytes).unwrap();
                assert!(now["notes"].get("capture").is_none(), "setup switched it on: {now}");
                assert_eq!(now["agents"]["builder"]["scope"], "builder");
                assert_eq!(now["gate"]["contact"], "redact");
            }
            "tokens.txt" => {}
            _ => assert_eq!(restored[name], sha256(bytes), "{name}"),
        }
    }
    assert!(
        !env.home().join(".claude/skills").exists() && !env.home().join("config/opencode/plugins").exists()
    );
    let mode = std::fs::metadata(env.home().join(".claude/settings.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    old.nothing_is_lost();
}

//! Lessons, notes, canon and registers through the command line: saving, finding, changing, converting, reviewing.

use crate::env::{Ran, TestEnv};
use serde_json::Value;

/// A secret that no scanner of this repository's text can mistake for a real one.
pub(crate) fn secret() -> String {
    format!("gh{}_{}", "p", "x7Kq2mZ9vB4nT6wR1yL8sD3fG5hJ0cAeQiUo")
}

/// Runs with `--json` and gives the answer.
#[track_caller]
pub(crate) fn asked(env: &TestEnv, args: &[&str]) -> Value {
    let mut all = vec!["--json"];
    all.extend(args);
    env.run(&all).ok().items()
}

/// Saves something as a person and gives its id.
#[track_caller]
pub(crate) fn saved(env: &TestEnv, args: &[&str]) -> String {
    let mut all = vec!["--json", "add"];
    all.extend(args);
    env.at_terminal(&all, "").ok().json()["id"].as_str().unwrap().to_owned()
}

/// One memory on each shelf.
pub(crate) struct Four {
    pub(crate) decision: String,
    pub(crate) lesson: String,
    pub(crate) note: String,
    pub(crate) canon: String,
    pub(crate) register: String,
}

pub(crate) fn four(env: &TestEnv) -> Four {
    Four {
        decision: saved(env, &["decision", "Use PostgreSQL because we need jsonb", "--tag", "database"]),
        lesson: saved(env, &["lesson", "Rebase lost commits, fixed by git reflog", "--topic", "git/rebase"]),
        note: saved(
            env,
            &["note", "The importer reads lines\none by one", "--scope", "area:import", "--tag", "importer"],
        ),
        canon: saved(env, &["canon", "Deploys happen on Tuesdays only"]),
        register: saved(env, &["register", "Moving the importer to streams", "--topic", "current-task"]),
    }
}

fn ids(listed: &Value) -> Vec<String> {
    listed.as_array().unwrap().iter().map(|m| m["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_kind_is_saved_from_few_words_and_found_by_every_reader() {
    let env = TestEnv::ready();
    let four = four(&env);
    assert!(four.lesson.starts_with("lesson:git/rebase#") && four.lesson.ends_with("-rebase-lost-commits"));
    assert!(env.memory("topics/git/rebase.md").is_file());
    let all = [&four.decision, &four.lesson, &four.note, &four.canon, &four.register];
    let listed = ids(&asked(&env, &["list"]));
    for id in all {
        assert!(listed.contains(id), "{id} in {listed:?}");
        let shown = asked(&env, &["show", id]);
        assert_eq!((shown["id"].as_str(), shown["trust"].as_str()), (Some(id.as_str()), Some("high")));
        assert_eq!(shown["status"], "active");
        assert!(!asked(&env, &["history", id]).as_array().unwrap().is_empty(), "{id}");
        let kind = id.split(':').next().unwrap();
        assert_eq!(ids(&asked(&env, &["list", "--kind", kind])), [id.as_str()]);
    }
    let lesson = asked(&env, &["show", &four.lesson]);
    assert_eq!(lesson["body"], "**Problem:** Rebase lost commits\n**Solution:** git reflog");
    assert_eq!(asked(&env, &["show", &four.note])["scope"], "area:import");
    assert_eq!(ids(&asked(&env, &["list", "--scope", "area:import"])), [four.note.as_str()]);
}

#[test]
fn search_groups_by_kind_and_scores_as_each_shelf_does() {
    let env = TestEnv::ready();
    let four = four(&env);
    let hit =
        |words: &str, kind: &str| asked(&env, &["search", words, "--kind", kind]).as_array().unwrap().clone();
    // Tag 3, title 0, content 0, recent 1; then title 2, content 1, recent 1.
    assert_eq!(hit("database", "decision")[0]["score"], 4.0);
    assert_eq!(hit("postgresql", "decision")[0]["score"], 4.0);
    assert_eq!(hit("postgresql database", "decision")[0]["score"], 7.0);
    assert_eq!(hit("rebase", "lesson")[0]["id"], four.lesson.as_str());
    assert_eq!(hit("importer", "note")[0]["id"], four.note.as_str());
    assert_eq!(hit("importer", "note")[0]["score"], Value::Null);
    assert_eq!(hit("tuesdays", "canon")[0]["id"], four.canon.as_str());
    let everywhere = asked(&env, &["search", "importer"]);
    let kinds: Vec<&str> =
        everywhere.as_array().unwrap().iter().map(|g| g["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["register", "note"]);
    assert!(env.run(&["search", "importer", "--explain"]).ok().stdout.contains("+"));
    env.run(&["search", "  "]).fails_with("USAGE", 2);
    env.run(&["search", "x", "--kind", "poem"]).fails_with("USAGE", 2);
}

#[test]
fn search_shows_at_most_ten_of_a_kind_and_says_how_many_there_are() {
    let env = TestEnv::ready();
    for n in 0..12 {
        let text = format!("Queue rule number {n} because of load");
        saved(&env, &["constraint", &text, "--tag", "queue"]);
    }
    assert_eq!(asked(&env, &["search", "queue"]).as_array().unwrap().len(), 10);
    assert_eq!(asked(&env, &["search", "queue", "--limit", "2"]).as_array().unwrap().len(), 2);
    assert!(env.run(&["search", "queue"]).ok().stdout.contains("2 more with --limit"));
}

#[test]
fn what_is_out_of_use_is_found_only_on_request() {
    let env = TestEnv::ready();
    let four = four(&env);
    let all = [&four.decision, &four.lesson, &four.note, &four.canon];
    let words = "postgresql rebase importer tuesdays";
    for id in all {
        env.at_terminal(&["retire", id, "--reason", "done"], "").ok();
    }
    let found = |args: &[&str]| asked(&env, args).to_string();
    let (without, with) = (found(&["search", words]), found(&["search", words, "--include-retired"]));
    for id in all {
        assert!(!without.contains(id.as_str()) && with.contains(id.as_str()), "{id}");
        env.at_terminal(&["restore", id], "").ok();
        assert_eq!(asked(&env, &["show", id])["status"], "active", "{id}");
    }
}

#[test]
fn a_flag_that_a_kind_has_no_use_for_is_refused_and_not_lost() {
    let env = TestEnv::ready();
    for args in [
        ["add", "lesson", "x", "--tag", "a"],
        ["add", "note", "a message\nof two", "--topic", "a"],
        ["add", "canon", "x", "--topic", "a"],
        ["add", "decision", "x", "--scope", "a"],
    ] {
        env.run(&args).fails_with("USAGE", 2);
        let mut json = vec!["--json"];
        json.extend(args);
        env.run(&json).fails_with("USAGE", 2);
    }
    env.run(&["add", "poem", "x"]).fails_with("USAGE", 2);
    env.run(&["add", "lesson"]).fails_with("VALIDATION_ERROR", 1);
    env.run(&["add", "lesson", "x", "--topic", "a/b/c"]).fails_with("USAGE", 2);
    env.run(&["add", "lesson", "x", "--field", "cause=y"]).fails_with("VALIDATION_ERROR", 1);
    env.run(&["add", "note", "short"]).fails_with("VALIDATION_ERROR", 1);
    env.run(&["add", "note", "long enough", "--scope", "galaxy"]).fails_with("VALIDATION_ERROR", 1);
    env.at_terminal(&["add", "canon", "x", "--scope", "nobody"], "").fails_with("VALIDATION_ERROR", 1);
}

#[test]
fn the_gate_stands_before_every_shelf() {
    let env = TestEnv::ready();
    let text = format!("The deploy token is {}", secret());
    for kind in ["lesson", "canon", "register", "decision"] {
        env.at_terminal(&["add", kind, &text], "").fails_with("GATE_REFUSED", 1);
    }
    let note = saved(&env, &["note", &text]);
    assert!(!env.run(&["show", &note]).ok().stdout.contains(&secret()));
    for (name, bytes) in env.files_below(&env.base()) {
        assert!(!String::from_utf8_lossy(&bytes).contains(&secret()), "{name}");
    }
}

#[test]
fn fields_come_from_a_file_or_from_standard_input() {
    let env = TestEnv::ready();
    let lesson = br#"{"topic":"git","subtopic":"bisect","title":"Find it","problem":"P","solution":"S","date":"2026-01-15"}"#;
    let done = env.run_with(&["--json", "add", "lesson", "--from", "-"], lesson).ok().json();
    assert_eq!(done["id"], "lesson:git/bisect#2026-01-15-find-it");
    let note = env.raw_input(b"Several lines\nof a message\n");
    let done = asked(&env, &["add", "note", "--from", &note, "--at", "2026-01-10T09:00:00Z"]);
    let again = asked(&env, &["add", "note", "--from", &note, "--at", "2026-01-10T09:00:00Z"]);
    assert_eq!((&done["id"], again["status"].as_str()), (&again["id"], Some("already_there")));
    let dry = env.run(&["add", "lesson", "X, fixed by Y", "--topic", "a/b", "--dry-run"]).ok();
    assert!(dry.stdout.contains("**Problem:** X\n**Solution:** Y") && !env.memory("topics/a").exists());
}

#[test]
fn an_agents_canon_waits_for_a_person_and_keeps_its_id() {
    let env = TestEnv::ready();
    let waits = env.run(&["--json", "add", "canon", "Deploys happen on Tuesdays only"]);
    waits.fails_with("NEEDS_CONFIRMATION", 4);
    assert!(asked(&env, &["list"]).as_array().unwrap().is_empty());
    let waiting = asked(&env, &["review"]);
    let (key, id) =
        (waiting["drafts"][0]["key"].as_str().unwrap(), waiting["drafts"][0]["id"].as_str().unwrap());
    // The same once more waits once.
    env.run(&["add", "canon", "Deploys happen on Tuesdays only"]).fails_with("NEEDS_CONFIRMATION", 4);
    assert_eq!(asked(&env, &["review"])["drafts"].as_array().unwrap().len(), 1);
    env.run(&["review", "accept", key]).fails_with("NEEDS_PERSON", 1);
    let no = env.at_terminal(&["review", "accept", key], "n\n");
    assert_eq!(no.code, Some(1), "a no is no success");
    assert!(no.stdout.contains("Deploys happen on Tuesdays only"), "a person sees what is accepted");
    env.at_terminal(&["review", "accept", key], "y\n").ok();
    assert_eq!(asked(&env, &["show", id])["trust"], "high");
    assert!(asked(&env, &["review"])["drafts"].as_array().unwrap().is_empty());
    assert!(env.run(&["snapshot"]).ok().stdout.contains("Deploys happen on Tuesdays only"));
    env.run(&["add", "canon", "Releases are cut on Fridays"]).fails_with("NEEDS_CONFIRMATION", 4);
    let key = asked(&env, &["review"])["drafts"][0]["key"].as_str().unwrap().to_owned();
    env.run(&["review", "reject", &key]).ok();
    env.run(&["review", "reject", &key]).fails_with("NOT_FOUND", 3);
}

#[test]
fn a_register_is_kept_up_to_date_under_its_topic() {
    let env = TestEnv::ready();
    let first = saved(&env, &["register", "Reading the importer", "--topic", "current-task"]);
    let second = saved(&env, &["register", "Rewriting the importer", "--topic", "current-task"]);
    assert_eq!(first, second);
    assert_eq!(asked(&env, &["show", &first])["body"], "Rewriting the importer");
    assert_eq!(asked(&env, &["history", &first]).as_array().unwrap().len(), 2);
    assert_eq!(env.run(&["show", "--raw", &first]).ok().stdout.lines().count(), 2);
}

#[test]
fn an_agent_sees_what_is_shared_and_its_own() {
    let env = TestEnv::ready();
    std::fs::create_dir_all(env.home().join("config/heirloom")).unwrap();
    let user = r#"{"agents":{"orion":{"scope":"orion"},"vega":{"scope":"night"}}}"#;
    std::fs::write(env.home().join("config/heirloom/config.json"), user).unwrap();
    let own = saved(&env, &["register", "Orion reads the logs", "--topic", "task", "--scope", "orion"]);
    let shared = saved(&env, &["canon", "Everybody speaks plainly"]);
    let by_name = saved(&env, &["register", "Vega sleeps by day", "--topic", "rhythm", "--scope", "vega"]);
    let seen = |args: &[&str]| ids(&asked(&env, args));
    assert_eq!(seen(&["list"]), [shared.as_str()], "a process without a name");
    assert_eq!(seen(&["list", "--agent", "orion"]), [own.as_str(), &shared]);
    assert_eq!(seen(&["list", "--agent", "vega"]), [shared.as_str(), &by_name]);
    let person = env.at_terminal(&["--json", "list"], "").ok().items();
    assert_eq!(ids(&person).len(), 3);
    env.run(&["show", &own]).fails_with("NOT_FOUND", 3);
    env.run(&["history", &own]).fails_with("NOT_FOUND", 3);
    env.run(&["show", &own, "--agent", "orion"]).ok();
    let block = env.run(&["snapshot", "--agent", "orion"]).ok().stdout;
    assert!(block.contains("Orion reads") && block.contains("plainly") && !block.contains("Vega"), "{block}");
    assert!(!asked(&env, &["search", "logs"]).to_string().contains("Orion"));
}

#[test]
fn the_brief_is_ready_to_paste() {
    let env = TestEnv::ready();
    four(&env);
    let brief = env.run(&["brief", "rebase my branch"]).ok();
    assert!(brief.stdout.starts_with("<lessons ") && brief.stdout.contains("git reflog"));
    let json = asked(&env, &["brief", "rebase my branch"]);
    assert!(json["tokens"].as_u64().unwrap() <= 1000 && json["text"] == brief.stdout.as_str());
    assert!(env.run(&["brief", "paint the fence"]).ok().stdout.is_empty());
}

#[test]
fn lessons_and_notes_have_tools_of_their_own() {
    let env = TestEnv::ready();
    let four = four(&env);
    let loaded = env.run(&["lesson", "load", "git"]).ok();
    assert!(loaded.stdout.contains("git reflog"));
    env.run(&["lesson", "load", "git/rebase"]).ok();
    assert_eq!(asked(&env, &["lesson", "topics"])[0]["loads"], 2);
    env.run(&["lesson", "load", "nothing"]).fails_with("NOT_FOUND", 3);
    let file = saved(&env, &["note", "About one file only\nreally", "--scope", "file:src/a.rs"]);
    let first = |args: &[&str]| asked(&env, args)[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(first(&["note", "session", "--file", "src/a.rs"]), file);
    assert_eq!(first(&["note", "session", "--area", "import"]), four.note);
    assert_eq!(ids(&asked(&env, &["note", "list", "--keyword", "importer"])), [four.note.as_str()]);
}

#[test]
fn the_vault_has_tools_of_its_own() {
    let env = TestEnv::ready();
    let items = br#"{"text":"The mission is calm software","tier":"canon"}
{"text":"Reading logs","tier":"register","topic_id":"task"}
{"text":"tick marker for burst 5"}"#;
    let added = env.run_with(&["--json", "vault", "bulk-add", "-"], items);
    assert_eq!(added.code, Some(4), "{added:?}");
    assert_eq!(added.json()[2]["code"], "GATE_REFUSED");
    env.at_terminal(&["review", "accept", "--all"], "y\n").ok();
    let stats = asked(&env, &["vault", "stats"]);
    assert_eq!((&stats["active_count"], &stats["register_topics"]), (&Value::from(2), &Value::from(1)));
    let register = asked(&env, &["list", "--kind", "register"])[0]["id"].as_str().unwrap().to_owned();
    env.at_terminal(&["vault", "promote", &register], "").ok();
    let canon = register.replace("register:", "canon:");
    assert_eq!(asked(&env, &["show", &canon])["kind"], "canon");
    assert_eq!(asked(&env, &["show", &register])["id"], canon.as_str(), "the old id still finds it");
    let deleted =
        env.at_terminal(&["--json", "vault", "bulk-delete", &canon, "feedfacecafe"], "").ok().json();
    assert_eq!(deleted["not_found"][0], "feedfacecafe");
    assert_eq!(asked(&env, &["compact", "--dry-run"])["would_go"], 3);
    env.run(&["compact"]).fails_with("NEEDS_PERSON", 1);
    let done = env.at_terminal(&["--json", "compact"], "").ok().json();
    assert_eq!((&done["lines_after"], &done["lines_removed"]), (&Value::from(1), &Value::from(3)));
    assert_eq!(asked(&env, &["vault", "recall"]).as_array().unwrap().len(), 1);
    assert!(env.run(&["vault", "context", "mission"]).ok().stdout.contains("calm software"));
    env.run_with(&["vault", "bulk-add", "-"], b"nonsense").fails_with("INPUT_ERROR", 1);
}

#[test]
fn review_shows_what_could_be_tidied_up_and_what_contradicts_itself() {
    let env = TestEnv::ready();
    let line = |id: &str, version: u8, tier: &str, text: &str| {
        format!(
            r#"{{"id": "{id}", "version": {version}, "created_at": "2026-01-01T00:00:00Z", "updated_at": null, "tier": "{tier}", "source": "manual", "scope": "shared", "category": "other", "tags": [], "deleted_at": null, "text": "{text}"}}"#
        )
    };
    let lines = [
        line("aaaaaaaaaaaa", 1, "canon", "the quick brown fox jumps over the lazy dog"),
        line("bbbbbbbbbbbb", 1, "canon", "the quick brown fox jumped over the lazy dog"),
        line("cccccccccccc", 1, "register", "hm"),
        line("dddddddddddd", 1, "canon", "one version"),
        line("dddddddddddd", 1, "canon", "another version"),
        line("eeeeeeeeeeee", 1, "canon", &format!("token {}", secret())),
    ];
    std::fs::write(env.memory("vault.jsonl"), lines.join("\n") + "\n").unwrap();
    let seen = asked(&env, &["review"]);
    assert_eq!(seen["near_duplicates"][0]["a"], "canon:aaaaaaaaaaaa");
    assert_eq!(seen["proposed_deletions"][0]["id"], "register:cccccccccccc");
    let sorts: Vec<&str> =
        seen["doubts"].as_array().unwrap().iter().map(|d| d["sort"].as_str().unwrap()).collect();
    assert!(sorts.contains(&"twin") && sorts.contains(&"held_back"), "{sorts:?}");
    assert!(
        !seen["saved_by_agents"].as_array().unwrap().is_empty(),
        "canon from the repository is nobody's yet"
    );
    let human = env.run(&["review"]).ok();
    assert!(human.stdout.contains("Near-duplicates") && human.stdout.contains("twin"));
    assert!(
        !human.stdout.contains(&secret()) && !env.run(&["search", "token"]).ok().stdout.contains(&secret())
    );
    assert!(env.run(&["snapshot"]).ok().stdout.is_empty(), "nothing of it was accepted");
}

#[test]
fn review_shows_lessons_and_notes_that_say_nearly_the_same() {
    let env = TestEnv::ready();
    let first = saved(
        &env,
        &[
            "lesson",
            "The nightly build broke on the new linker, fixed by pinning version nine",
            "--topic",
            "ci/a",
        ],
    );
    let second = saved(
        &env,
        &[
            "lesson",
            "The nightly build broke on the new linker, fixed by pinning version ten",
            "--topic",
            "ci/b",
        ],
    );
    saved(&env, &["lesson", "A rebase lost three commits, fixed by the reflog", "--topic", "git/a"]);
    let pairs = asked(&env, &["review"])["near_duplicates"].clone();
    let pairs = pairs.as_array().unwrap();
    assert_eq!(pairs.len(), 1, "{pairs:?}");
    let named = [pairs[0]["a"].as_str().unwrap(), pairs[0]["b"].as_str().unwrap()];
    assert!(named.contains(&first.as_str()) && named.contains(&second.as_str()));
    assert!(asked(&env, &["review"])["drafts"].as_array().unwrap().is_empty());
}

#[test]
fn stored_text_cannot_speak_to_the_terminal() {
    let env = TestEnv::ready();
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2Jboo\u{202e}";
    let page = format!(
        "# git: rebase\n\n## 2026-01-15: Title {evil}\n**Context:** c\n**Problem:** {evil}\n**Solution:** s\n---\n"
    );
    env.write(".claude/memory/topics/git/rebase.md", page);
    let vault = format!(
        "{{\"id\": \"aaaaaaaaaaaa\", \"version\": 1, \"tier\": \"canon\", \"scope\": \"shared\", \"text\": {}}}\n",
        Value::from(format!("canon {evil}"))
    );
    env.write(".claude/memory/vault.jsonl", vault);
    let id = ids(&asked(&env, &["list", "--kind", "lesson"])).remove(0);
    for args in [
        &["list"][..],
        &["show", &id],
        &["show", "canon:aaaaaaaaaaaa"],
        &["history", "canon:aaaaaaaaaaaa"],
        &["search", "boo canon title"],
        &["lesson", "load", "git"],
        &["lesson", "topics"],
        &["review"],
        &["status"],
        &["vault", "consolidate", "--floor", "0"],
        &["vault", "propose"],
        &["vault", "recall"],
        &["vault", "context", "canon"],
        &["brief", "title boo"],
        &["verify"],
        &["snapshot"],
    ] {
        let ran = env.run(args);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(
            !said.contains('\u{1b}') && !said.contains('\u{7}') && !said.contains('\u{202e}'),
            "{args:?}: {said:?}"
        );
    }
}

#[test]
fn the_demo_shows_every_shelf() {
    let env = TestEnv::new();
    let demo: Ran = env.run(&["demo"]).ok();
    for word in [
        "lesson:git/rebase",
        "note:",
        "waits:",
        "accepted canon:",
        "Deploys happen on Tuesdays only",
        "chain whole",
    ] {
        assert!(demo.stdout.contains(word), "{word}: {}", demo.stdout);
    }
    assert!(env.files_below(&env.project()).is_empty());
}

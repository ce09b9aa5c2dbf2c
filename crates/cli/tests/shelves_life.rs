//! Changing, converting and forgetting memories of every shelf; external memory.

use crate::env::TestEnv;
use crate::shelves::{asked, four, saved};
use serde_json::Value;

fn version(env: &TestEnv, id: &str) -> String {
    asked(env, &["show", id])["version"].as_str().unwrap().to_owned()
}

#[test]
fn a_lesson_changes_by_fields_and_a_stale_version_is_refused() {
    let env = TestEnv::ready();
    let id = four(&env).lesson;
    let old = version(&env, &id);
    env.at_terminal(
        &["edit", &id, "--field", "solution=git reflog, then cherry-pick", "--version", &old],
        "",
    )
    .ok();
    let shown = asked(&env, &["show", &id]);
    assert_eq!(shown["body"], "**Problem:** Rebase lost commits\n**Solution:** git reflog, then cherry-pick");
    env.at_terminal(&["edit", &id, "--title", "x", "--version", &old], "").fails_with("OCC_CONFLICT", 1);
    env.run(&["edit", &id, "--tag", "x"]).fails_with("USAGE", 2);
}

#[test]
fn a_lesson_and_a_canon_change_in_an_editor() {
    let mut env = TestEnv::ready();
    let four = four(&env);
    let script = env.scratch().join("editor");
    std::fs::write(&script, "#!/bin/sh\nsed -i 's/git reflog/the reflog/; s/Tuesdays/Mondays/' \"$1\"\n")
        .unwrap();
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    env.set("EDITOR", script.to_str().unwrap());
    env.at_terminal(&["edit", &four.lesson], "").ok();
    assert!(asked(&env, &["show", &four.lesson])["body"].as_str().unwrap().contains("the reflog"));
    env.at_terminal(&["edit", &four.canon], "").ok();
    assert_eq!(asked(&env, &["show", &four.canon])["body"], "Deploys happen on Mondays only");
    assert!(env.at_terminal(&["edit", &four.canon], "").ok().stderr.contains("nothing changed"));
    env.run(&["edit", &four.note]).fails_with("USAGE", 2);
}

#[test]
fn a_canon_changes_by_flags_and_a_stale_version_is_refused() {
    let env = TestEnv::ready();
    let id = four(&env).canon;
    let old = version(&env, &id);
    env.at_terminal(&["edit", &id, "--text", "Deploys happen on Mondays", "--tag", "deploy"], "").ok();
    let shown = asked(&env, &["show", &id]);
    assert_eq!(
        (shown["body"].as_str(), &shown["tags"][0]),
        (Some("Deploys happen on Mondays"), &Value::from("deploy"))
    );
    env.at_terminal(&["edit", &id, "--text", "x", "--version", &old], "").fails_with("OCC_CONFLICT", 1);
    env.run(&["edit", &id, "--text", "An agent's idea of it"]).fails_with("NEEDS_CONFIRMATION", 4);
    env.run(&["edit", &id, "--title", "x"]).fails_with("USAGE", 2);
}

#[test]
fn a_converted_memory_keeps_the_link_to_its_source() {
    let env = TestEnv::ready();
    let four = four(&env);
    let done = env.at_terminal(&["--json", "convert", &four.lesson, "decision"], "").ok().json();
    let decision = done["id"].as_str().unwrap().to_owned();
    let shown = asked(&env, &["show", &decision]);
    assert_eq!(shown["links"]["distilled_from"][0]["id"], four.lesson.as_str());
    assert!(shown["body"].as_str().unwrap().contains("decision: git reflog"));
    assert_eq!(asked(&env, &["show", &four.lesson])["links"]["became"][0]["id"], decision.as_str());
    assert!(env.run(&["show", &decision]).ok().stdout.contains(&format!("distilled from {}", four.lesson)));
    assert!(asked(&env, &["history", &decision]).to_string().contains("distilled from"));

    let words = "The importer is slow, fixed by reading in blocks";
    let done = env.at_terminal(
        &["--json", "convert", &four.note, "lesson", words, "--topic", "import/speed", "--retire"],
        "",
    );
    let lesson = done.ok().json()["id"].as_str().unwrap().to_owned();
    assert!(asked(&env, &["show", &lesson])["body"].as_str().unwrap().contains("reading in blocks"));
    assert_eq!(asked(&env, &["show", &four.note])["status"], "retired");
    assert!(env.run(&["show", &lesson]).ok().stdout.contains(&four.note));

    env.at_terminal(&["convert", &four.register, "canon"], "").ok();
    let canon = four.register.replace("register:", "canon:");
    assert_eq!(asked(&env, &["show", &canon])["links"]["distilled_from"][0]["id"], four.register.as_str());

    for (id, kind) in [
        (&four.decision, "note"),
        (&four.decision, "decision"),
        (&four.canon, "register"),
        (&four.decision, "fact"),
    ] {
        env.run(&["convert", id, kind]).fails_with("USAGE", 2);
    }
    env.run(&["convert", "decision:none", "lesson"]).fails_with("NOT_FOUND", 3);
}

#[test]
fn converting_raises_no_trust_unless_a_person_saw_the_text() {
    let env = TestEnv::ready();
    let note =
        asked(&env, &["add", "note", "An agent says this\nin two lines"])["id"].as_str().unwrap().to_owned();
    let no = env.at_terminal(&["convert", &note, "lesson", "--topic", "a/b"], "n\n");
    assert!(no.code == Some(1) && no.stdout.contains("An agent says this"));
    let by_agent =
        asked(&env, &["convert", &note, "lesson", "--topic", "a/b"])["id"].as_str().unwrap().to_owned();
    assert_eq!(asked(&env, &["show", &by_agent])["trust"], "low");
    let seen = env.at_terminal(&["convert", &note, "decision", "--title", "Seen"], "y\n").ok();
    assert!(seen.stdout.contains("saved decision:seen"));
    assert_eq!(asked(&env, &["show", "decision:seen"])["trust"], "high");
}

#[test]
fn a_conversion_that_waits_is_linked_once_it_is_accepted() {
    let env = TestEnv::ready();
    let note =
        asked(&env, &["add", "note", "Deploys happen\non Tuesdays"])["id"].as_str().unwrap().to_owned();
    env.run(&["convert", &note, "canon", "Deploys happen on Tuesdays"]).fails_with("NEEDS_CONFIRMATION", 4);
    env.at_terminal(&["review", "accept", "--all"], "y\n").ok();
    let canon = asked(&env, &["list", "--kind", "canon"])[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(asked(&env, &["show", &canon])["links"]["distilled_from"][0]["id"], note.as_str());
}

#[test]
fn forgetting_leaves_no_text_of_any_shelf_anywhere() {
    let env = TestEnv::ready();
    let word = "Zanzibar";
    let lesson = saved(&env, &["lesson", &format!("Trip, fixed by {word}"), "--topic", "a/b"]);
    let note = saved(&env, &["note", &format!("A message\nabout {word}")]);
    let canon = saved(&env, &["canon", &format!("We love {word}")]);
    env.at_terminal(&["edit", &canon, "--text", "We love something else"], "").ok();
    env.run(&["lesson", "load", "a"]).ok();
    let archived = saved(&env, &["lesson", &format!("Other trip, fixed by {word} again"), "--topic", "a/b"]);
    env.at_terminal(&["archive", &archived], "").ok();
    for id in [&lesson, &note, &canon, &archived] {
        env.run(&["forget", id]).fails_with("NEEDS_PERSON", 1);
        env.run(&["forget", id, "--yes"]).fails_with("NEEDS_PERSON", 1);
        let gone = env.at_terminal(&["--json", "forget", id, "--yes"], "").ok().json();
        assert!(!gone["places"].as_array().unwrap().is_empty(), "{id}");
        env.run(&["show", id]).fails_with("NOT_FOUND", 3);
    }
    for (name, bytes) in env.files_below(&env.base()) {
        assert!(!String::from_utf8_lossy(&bytes).contains(word), "{name}");
    }
}

#[test]
fn status_covers_every_shelf_and_says_why_external_memory_is_not_used() {
    let env = TestEnv::ready();
    four(&env);
    let state = asked(&env, &["status"]);
    let counts: Vec<(&str, u64)> = state["shelves"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| (s["shelf"].as_str().unwrap(), s["active"].as_u64().unwrap()))
        .collect();
    assert_eq!(counts, [("records", 1), ("topics", 1), ("notes", 1), ("vault", 2), ("tiers", 0)]);
    assert_eq!(
        (&state["vault"]["active_count"], &state["external_memory"]["enabled"]),
        (&Value::from(2), &Value::from(false))
    );
    configure(&env, "/proc/lessons", "local_dir");
    let state = asked(&env, &["status"]);
    assert_eq!(state["external_memory"]["in_use"], false);
    assert!(!state["external_memory"]["error"]["next"].as_str().unwrap().is_empty());
    let human = env.run(&["status"]).ok().stdout;
    assert!(human.contains("external memory") && human.contains("project's own memory"), "{human}");
    // Saving works all the same, and says where it went.
    let saved = env.run(&["add", "lesson", "X, fixed by Y"]).ok();
    assert!(saved.stderr.contains("project's own memory"), "{saved:?}");
}

fn configure(env: &TestEnv, path: &str, sort: &str) {
    std::fs::create_dir_all(env.home().join("config/heirloom")).unwrap();
    let user = serde_json::json!({ "memory_configuration": {
        "external_memory_enabled": true, "memory_path": path, "memory_type": sort, "sync_strategy": "manual" } });
    std::fs::write(env.home().join("config/heirloom/config.json"), user.to_string()).unwrap();
}

#[test]
fn sync_shows_what_will_move_before_it_moves() {
    let env = TestEnv::ready();
    env.run(&["sync"]).fails_with("CONFIG_ERROR", 1);
    saved(&env, &["lesson", "X, fixed by Y", "--topic", "a/b"]);
    let elsewhere = env.home().join("lessons");
    std::fs::create_dir(&elsewhere).unwrap();
    env.git(&["init", "--quiet", elsewhere.to_str().unwrap()]);
    configure(&env, "~/lessons", "git_repo");
    let plan = asked(&env, &["sync"]);
    assert!(
        plan["plan"]["bring"].to_string().contains("topics/a/b.md")
            && plan["done"].as_array().unwrap().is_empty()
    );
    assert!(env.memory("topics/a/b.md").exists() && !elsewhere.join("a/b.md").exists());
    assert!(env.run(&["sync"]).ok().stderr.contains("--apply"));
    let done = env.run(&["sync", "--apply"]).ok();
    assert!(done.stdout.contains("topics/a/b.md") && done.stdout.contains("done"), "{done:?}");
    assert!(!env.memory("topics/a/b.md").exists() && elsewhere.join("a/b.md").exists());
    assert!(env.run(&["sync"]).ok().stdout.contains("nothing to move"));
    assert_eq!(asked(&env, &["list", "--kind", "lesson"]).as_array().unwrap().len(), 1);
    assert_eq!(asked(&env, &["status"])["external_memory"]["in_use"], true);
}

//! Changes taken back, on every shelf.
//!
//! Comes in: a change, then `undo`. Goes out: the memory as it was, with the standing it had, and an audit that has both. What a person did, a
//! person takes back.

use crate::env::TestEnv;
use serde_json::Value;

fn show(env: &TestEnv, id: &str) -> Value {
    env.run(&["show", id, "--json"]).ok().json()
}

/// Somebody who uses the program alone.
fn person(env: &TestEnv, words: &[&str]) -> String {
    env.at_terminal(words, "y\n").ok().stdout
}

fn id_of(env: &TestEnv, kind: &str) -> String {
    let listed = env.run(&["list", "--kind", kind, "--json"]).ok().items();
    listed[0]["id"].as_str().unwrap_or_else(|| panic!("no {kind}: {listed}")).to_owned()
}

/// The number of the last change.
fn last(env: &TestEnv) -> String {
    let listed = env.at_terminal(&["undo", "--list", "--json"], "").ok().json();
    listed[0]["number"].as_str().unwrap().to_owned()
}

fn whole(env: &TestEnv) {
    env.run(&["audit", "verify"]).ok();
    let verified = env.run(&["verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

const RECORD: &str = "decision:use-postgresql";

fn with_record() -> TestEnv {
    let env = TestEnv::ready();
    person(&env, &["add", "decision", "Use PostgreSQL because we need jsonb"]);
    env
}

#[test]
fn every_move_of_a_record_is_taken_back_and_taken_back_again() {
    let env = with_record();
    for (verb, status) in [("retire", "retired"), ("archive", "archived")] {
        person(&env, &[verb, RECORD, "--reason", "no"]);
        assert_eq!(show(&env, RECORD)["status"], status);
        person(&env, &["undo"]);
        let back = show(&env, RECORD);
        assert_eq!((&back["status"], &back["trust"]), (&"active".into(), &"high".into()), "{verb}");
        let of_undo = last(&env);
        person(&env, &["undo", &of_undo]);
        assert_eq!(show(&env, RECORD)["status"], status, "{verb}: the undo itself was taken back");
        person(&env, &["undo", &last(&env)]);
        assert_eq!(show(&env, RECORD)["status"], "active");
    }
    whole(&env);
}

#[test]
fn an_edited_record_gets_its_words_back_and_its_history_keeps_both() {
    let env = with_record();
    let before = show(&env, RECORD);
    person(&env, &["edit", RECORD, "--field", "rationale=it was cheap"]);
    assert_ne!(show(&env, RECORD)["body"], before["body"]);
    let shown = person(&env, &["undo", "--dry-run"]);
    assert!(shown.contains("it was cheap") && shown.contains("jsonb"), "{shown}");
    assert_ne!(show(&env, RECORD)["body"], before["body"], "a dry run changes nothing");
    person(&env, &["undo"]);
    let after = show(&env, RECORD);
    assert_eq!((&after["body"], &after["trust"]), (&before["body"], &"high".into()));
    let history = env.run(&["history", RECORD, "--json"]).ok().stdout;
    assert!(history.contains("Undone: p") && history.contains("Edited"), "{history}");
    whole(&env);
}

#[test]
fn what_was_added_goes_out_of_use_on_every_shelf() {
    let env = with_record();
    person(&env, &["undo"]);
    assert_eq!(show(&env, RECORD)["status"], "retired");
    person(&env, &["add", "lesson", "Rebase lost commits, fixed by git reflog", "--topic", "git/rebase"]);
    person(&env, &["add", "note", "Carts are emptied at night.\nNobody minds."]);
    person(&env, &["add", "canon", "Carts belong to the shop team"]);
    for kind in ["canon", "note", "lesson"] {
        let id = id_of(&env, kind);
        person(&env, &["undo"]);
        assert_eq!(show(&env, &id)["status"], "retired", "{kind}");
        person(&env, &["undo", &last(&env)]);
        assert_eq!(show(&env, &id)["status"], "active", "{kind}");
        person(&env, &["undo", &last(&env)]);
    }
    whole(&env);
}

#[test]
fn lessons_notes_and_canon_come_back_from_where_they_were_put() {
    let env = TestEnv::ready();
    person(&env, &["add", "lesson", "Rebase lost commits, fixed by git reflog", "--topic", "git/rebase"]);
    person(&env, &["add", "note", "Carts are emptied at night.\nNobody minds."]);
    person(&env, &["add", "canon", "Carts belong to the shop team"]);
    for (kind, verbs) in
        [("lesson", &["retire", "archive"][..]), ("note", &["retire"]), ("canon", &["retire"])]
    {
        let id = id_of(&env, kind);
        let before = show(&env, &id);
        for verb in verbs {
            person(&env, &[verb, &id, "--reason", "no"]);
            assert_ne!(show(&env, &id)["status"], "active", "{kind} {verb}");
            person(&env, &["undo"]);
            let after = show(&env, &id);
            for field in ["status", "body", "trust"] {
                assert_eq!(after[field], before[field], "{kind} {verb} {field}");
            }
        }
    }
    whole(&env);
}

#[test]
fn an_edited_lesson_and_an_edited_canon_get_their_words_back() {
    let env = TestEnv::ready();
    person(&env, &["add", "lesson", "Rebase lost commits, fixed by git reflog", "--topic", "git/rebase"]);
    person(&env, &["add", "canon", "Carts belong to the shop team"]);
    for (kind, words) in [
        ("lesson", ["--field", "solution=ask a friend"]),
        ("canon", ["--text", "Carts belong to nobody at all"]),
    ] {
        let id = id_of(&env, kind);
        let before = show(&env, &id);
        person(&env, &["edit", &id, words[0], words[1]]);
        assert_ne!(show(&env, &id)["body"], before["body"], "{kind}");
        person(&env, &["undo"]);
        let after = show(&env, &id);
        for field in ["status", "body", "trust"] {
            assert_eq!(after[field], before[field], "{kind} {field}");
        }
    }
    whole(&env);
}

#[test]
fn a_memory_that_changed_since_is_left_alone_and_the_difference_is_shown() {
    let env = with_record();
    person(&env, &["edit", RECORD, "--tag", "database"]);
    let number = last(&env);
    person(&env, &["edit", RECORD, "--tag", "storage"]);
    let before = show(&env, RECORD);
    let ran = env.at_terminal(&["undo", &number], "");
    ran.fails_with("OCC_CONFLICT", 1);
    assert!(ran.stdout.contains("storage"), "{ran:?}");
    assert_eq!(show(&env, RECORD), before);
    // By hand, past every command.
    let path = env.project().join(before["path"].as_str().unwrap());
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("jsonb", "jsonb columns")).unwrap();
    env.at_terminal(&["undo"], "").fails_with("OCC_CONFLICT", 1);
}

#[test]
fn an_agent_takes_back_its_own_changes_and_no_persons() {
    let env = with_record();
    env.run(&["undo"]).fails_with("NEEDS_PERSON", 1);
    assert_eq!(show(&env, RECORD)["status"], "active");
    env.run(&["add", "decision", "Use Redis because it is fast"]).ok();
    env.run(&["retire", "decision:use-redis", "--reason", "no"]).ok();
    env.run(&["undo"]).ok();
    assert_eq!(show(&env, "decision:use-redis")["status"], "active");
    assert_eq!(show(&env, "decision:use-redis")["trust"], "low", "an agent's word stays an agent's");
    // What a person withdrew stays withdrawn, by whatever verb.
    person(&env, &["retire", "decision:use-redis", "--reason", "wrong"]);
    env.run(&["undo"]).fails_with("NEEDS_PERSON", 1);
    env.run(&["undo", &last(&env)]).fails_with("NEEDS_PERSON", 1);
    assert_eq!(show(&env, "decision:use-redis")["status"], "retired");
    let refused = env.run(&["audit", "--verdict", "refuse", "--json"]).ok().json();
    assert_eq!(refused[0]["action"], "undo");
}

#[test]
fn an_undone_yes_goes_back_to_review_and_an_undone_no_brings_the_draft_back() {
    let env = TestEnv::ready();
    let waiting = |env: &TestEnv| -> Vec<String> {
        let listed = env.run(&["review", "--json"]).ok().json();
        let drafts = listed["drafts"].as_array().unwrap().iter();
        drafts.map(|draft| draft["key"].as_str().unwrap().to_owned()).collect()
    };
    env.run(&["add", "canon", "Carts belong to the shop team"]).fails_with("NEEDS_CONFIRMATION", 4);
    let keys = waiting(&env);
    person(&env, &["review", "reject", &keys[0]]);
    assert!(waiting(&env).is_empty());
    person(&env, &["undo"]);
    assert_eq!(waiting(&env), keys, "the same draft, under the same key");
    person(&env, &["review", "accept", &keys[0]]);
    let id = id_of(&env, "canon");
    assert_eq!(show(&env, &id)["trust"], "high");
    assert!(waiting(&env).is_empty());
    person(&env, &["undo"]);
    assert_eq!(show(&env, &id)["status"], "retired");
    assert_eq!(waiting(&env).len(), 1);
    // A memory that was accepted as it stood waits for its yes again.
    env.run(&["add", "constraint", "Never log card numbers because the auditors look"]).ok();
    let id = id_of(&env, "constraint");
    person(&env, &["trust", &id]);
    assert_eq!(show(&env, &id)["trust"], "high");
    person(&env, &["undo"]);
    assert_eq!(show(&env, &id)["trust"], "low");
    whole(&env);
}

#[test]
fn a_conversion_is_taken_back_as_one_change() {
    let env = TestEnv::ready();
    person(&env, &["add", "lesson", "Rebase lost commits, fixed by git reflog", "--topic", "git/rebase"]);
    let lesson = id_of(&env, "lesson");
    person(&env, &["convert", &lesson, "decision"]);
    let decision = id_of(&env, "decision");
    let listed = env.at_terminal(&["undo", "--list", "--json"], "").ok().json();
    assert!(listed[0]["ids"].as_array().unwrap().contains(&Value::from(decision.as_str())), "{listed}");
    person(&env, &["undo"]);
    assert_eq!(show(&env, &decision)["status"], "retired");
    assert_eq!(show(&env, &lesson)["status"], "active");
    env.at_terminal(&["undo", listed[0]["number"].as_str().unwrap()], "").fails_with("USAGE", 2);
}

#[test]
fn what_is_forgotten_cannot_be_taken_back_and_nothing_of_it_is_kept() {
    let env = with_record();
    person(&env, &["edit", RECORD, "--title", "Keep carts in a zebrafish table"]);
    let now = id_of(&env, "decision");
    assert_ne!(now, RECORD, "the title gave it another name");
    let kept = || {
        let files = env.files_below(&env.home());
        let undo: Vec<_> = files.into_iter().filter(|(name, _)| name.contains("/undo/")).collect();
        undo.iter().any(|(_, bytes)| String::from_utf8_lossy(bytes).contains("jsonb"))
    };
    assert!(kept(), "the words before the edit are kept");
    let said = env.at_terminal(&["forget", &now], "y\n").ok();
    assert!(format!("{}{}", said.stdout, said.stderr).contains("cannot be undone"), "{said:?}");
    assert!(!kept());
    env.at_terminal(&["undo"], "").fails_with("NOT_FOUND", 3);
}

#[test]
fn an_import_of_many_is_one_change() {
    let other = TestEnv::ready();
    for words in ["Rebase lost commits, fixed by git reflog", "Merge kept a stale lock, fixed by git gc"] {
        person(&other, &["add", "lesson", words, "--topic", "git/rebase"]);
    }
    let env = TestEnv::ready();
    person(&env, &["import", other.memory("topics/git/rebase.md").to_str().unwrap()]);
    let lessons = || env.run(&["list", "--kind", "lesson", "--json"]).ok().items().as_array().unwrap().len();
    assert_eq!(lessons(), 2);
    person(&env, &["undo"]);
    assert_eq!(lessons(), 0);
    person(&env, &["undo", &last(&env)]);
    assert_eq!(lessons(), 2, "the undo is one change too");
    whole(&env);
}

#[test]
fn facts_are_taken_back_by_numbers_of_their_own_chain() {
    let env = TestEnv::ready();
    person(&env, &["remember", "I prefer dark themes"]);
    let fact = id_of(&env, "fact");
    let number = last(&env);
    assert!(number.starts_with('t'), "{number}");
    // The newest change of either chain is the last one.
    person(&env, &["add", "decision", "Use PostgreSQL because we need jsonb"]);
    assert!(last(&env).starts_with('p'));
    person(&env, &["retire", &fact, "--reason", "no"]);
    assert!(last(&env).starts_with('t'));
    env.run(&["undo"]).fails_with("NEEDS_PERSON", 1);
    person(&env, &["undo"]);
    assert_eq!(show(&env, &fact)["status"], "active");
    person(&env, &["edit", &fact, "--text", "I prefer light themes"]);
    let light = id_of(&env, "fact");
    assert_ne!(light, fact);
    let history = env.at_terminal(&["history", &fact, "--json"], "").ok().json();
    let edited = last(&env);
    assert!(history.as_array().unwrap().iter().any(|step| step["undo"] == edited.as_str()), "{history}");
    let shown = person(&env, &["history", &fact]);
    assert!(shown.contains("UNDO") && shown.contains(&edited), "{shown}");
    person(&env, &["undo", &edited]);
    assert_eq!(id_of(&env, "fact"), fact);
    assert_eq!(show(&env, &light)["status"], "retired");
    let history = env.at_terminal(&["history", &fact, "--json"], "").ok().json();
    assert!(!history.as_array().unwrap().iter().any(|step| step["undo"] == edited.as_str()), "{history}");
    // Forgetting says before that it cannot be, and takes everything with it.
    let said = env.at_terminal(&["forget", &fact], "y\n").ok();
    assert!(format!("{}{}", said.stdout, said.stderr).contains("cannot be undone"), "{said:?}");
    env.at_terminal(&["undo", &number], "").fails_with("NOT_FOUND", 3);
    whole(&env);
}

#[test]
fn every_way_to_forget_says_before_that_it_cannot_be_undone() {
    let env = TestEnv::ready();
    person(&env, &["remember", "I prefer dark themes"]);
    for args in [&["forget", "dark themes"][..], &["clear", "semantic"], &["clear", "all"]] {
        let asked = env.at_terminal(args, "n\n");
        assert!(
            format!("{}{}", asked.stdout, asked.stderr).contains("cannot be undone"),
            "{args:?} {asked:?}"
        );
    }
    assert_eq!(env.run(&["list", "--kind", "fact", "--json"]).ok().items().as_array().unwrap().len(), 1);
}

#[test]
fn history_shows_the_numbers_of_what_can_be_taken_back() {
    let env = with_record();
    person(&env, &["edit", RECORD, "--field", "rationale=it was cheap"]);
    let number = last(&env);
    let numbers = || -> Vec<String> {
        let steps = env.at_terminal(&["history", RECORD, "--json"], "").ok().json();
        let steps = steps.as_array().unwrap().iter().filter_map(|step| step["undo"].as_str());
        steps.map(str::to_owned).collect()
    };
    assert_eq!(numbers().last(), Some(&number));
    assert_eq!(numbers().len(), 2, "the edit and what made it");
    person(&env, &["undo"]);
    assert!(!numbers().contains(&number), "it was taken back already");
    assert!(numbers().contains(&last(&env)), "and that can be taken back in turn");
}

/// A record, a note and a canon that went out of use together.
fn out_of_use() -> (TestEnv, Vec<String>) {
    let env = with_record();
    person(&env, &["add", "note", "Carts are emptied at night.\nNobody minds."]);
    person(&env, &["add", "canon", "Carts belong to the shop team"]);
    let ids = vec![RECORD.to_owned(), id_of(&env, "note"), id_of(&env, "canon")];
    person(&env, &["retire", &ids[0], &ids[1], &ids[2], "--reason", "no"]);
    (env, ids)
}

#[test]
fn an_undo_of_many_that_is_killed_anywhere_is_done_whole_or_not_at_all() {
    let mut deaths = 0;
    for nth in 1.. {
        let (env, ids) = out_of_use();
        let ran = env.at_terminal_with(&["undo"], "", &[("HEIRLOOM_TEST_DIE_AT", &nth.to_string())]);
        let statuses = || -> Vec<String> {
            ids.iter().map(|id| show(&env, id)["status"].as_str().unwrap().to_owned()).collect()
        };
        if ran.code.is_some() {
            ran.ok();
            assert_eq!(statuses(), ["active"; 3]);
            break;
        }
        deaths += 1;
        // The next writer, whoever it is, makes good what was left.
        env.run(&["add", "decision", "Use Redis because it is fast"]).ok();
        let found = statuses();
        assert!(found == ["active"; 3] || found == ["retired"; 3], "killed at step {nth}: {found:?}");
        whole(&env);
        if found == ["retired"; 3] {
            let listed = env.at_terminal(&["undo", "--list", "--json"], "").ok().json();
            let change = listed.as_array().unwrap().iter().find(|change| {
                change["undone"] == false
                    && change["undoes"].is_null()
                    && change["ids"].as_array().unwrap().len() == 3
            });
            let number = change.unwrap_or_else(|| panic!("killed at step {nth}: {listed}"))["number"].clone();
            person(&env, &["undo", number.as_str().unwrap()]);
            assert_eq!(statuses(), ["active"; 3], "killed at step {nth}");
        }
    }
    assert!(deaths > 10, "only {deaths} steps");
}

//! Forget means gone: the whole project and the user's own folder are searched for what was forgotten.
//!
//! Comes in: a record with every sort of trace. Goes out: nothing, if none is left and git's own copies are named.

use crate::env::{ROOT, TestEnv, decision, target};
use serde_json::json;

/// Words that stand in the record only.
const TITLE: &str = "Use Zanzibar For Grants";
const EARLIER: &str = "Pick Quokka Instead Of Mice";
const CONTENT: &str = "xylophone lessons on Tuesdays";

/// Files anywhere below the test's folder that hold one of the words. Input files are the caller's and were taken away.
fn traces(env: &TestEnv, git: bool) -> Vec<String> {
    let files = env.files_below(&env.base()).into_iter().filter(|(name, _)| git || !name.contains("/.git/"));
    let holds = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        [TITLE, EARLIER, CONTENT].iter().any(|word| text.contains(word))
    };
    files.filter(|(_, bytes)| holds(bytes)).map(|(name, _)| name).collect()
}

/// A record that was renamed, changed, archived by gc under its name before, quarantined, half-edited and half-written.
fn well_travelled() -> TestEnv {
    let env = TestEnv::ready();
    let mut document = decision(EARLIER);
    document["content"]["context"] = json!(CONTENT);
    env.create("pick-quokka-instead-of-mice", &document).ok();
    let mut changed = env.decision("pick-quokka-instead-of-mice");
    changed["title"] = json!(TITLE);
    changed["content"]["decision"] = json!(CONTENT);
    changed["changes"] = json!([{ "date": "2026-02-01", "summary": CONTENT }]);
    let answer = env.update("pick-quokka-instead-of-mice", &changed).ok().json();
    assert_eq!(answer["id"], "use-zanzibar-for-grants");
    let bytes = std::fs::read(env.memory("decisions/use-zanzibar-for-grants.json")).unwrap();
    let place = |name: &str| format!("{ROOT}/{name}");
    env.write(place("archive/decisions/use-zanzibar-for-grants.json"), &bytes);
    env.write(place("archive/decisions/use-zanzibar-for-grants-2.json"), &bytes);
    env.write(place("decisions/use-zanzibar-for-grants.json.invalid.1767225600"), &bytes);
    env.write(place("decisions/.heirloom-tmp-1-1"), &bytes);
    env.write(place(".local/.heirloom-tmp-1-2"), &bytes);
    // What an editor leaves that was killed together with the command that started it.
    env.write(place(".local/edit-1.json"), &bytes);
    env
}

#[test]
fn after_forget_no_file_of_the_project_or_the_user_holds_a_word_of_it() {
    let env = well_travelled();
    env.create("bystander", &decision("Keep the logs")).ok();
    assert!(traces(&env, true).len() > 6);
    let gone = env.at_terminal(&["forget", "use-zanzibar-for-grants", "--yes", "--json"], "").ok().json();
    assert_eq!(traces(&env, true), [""; 0]);
    assert_eq!(gone["id"], "decision:use-zanzibar-for-grants");
    let places: Vec<&str> = gone["places"].as_array().unwrap().iter().filter_map(|p| p.as_str()).collect();
    for place in ["archive/decisions", ".invalid.", "index.md", ".aliases.jsonl", ".local/edit-1.json"] {
        assert!(places.iter().any(|p| p.contains(place)), "{place}: {places:?}");
    }
    assert_eq!(gone["in_git"], json!([]));
    assert_eq!(env.index().len(), 1);
    env.run(&["verify"]).ok();
    env.run(&["show", "decision:pick-quokka-instead-of-mice"]).fails_with("NOT_FOUND", 3);
    env.at_terminal(&["forget", "decision:use-zanzibar-for-grants", "--yes"], "").fails_with("NOT_FOUND", 3);
    let noted = env.run(&["audit", "--json", "--id", "decision:use-zanzibar-for-grants"]).ok().json();
    assert_eq!(noted.as_array().unwrap().last().unwrap()["action"], "memory_forget");
}

#[test]
fn another_records_copy_in_the_archive_stays() {
    let env = TestEnv::ready();
    env.create("plan", &decision("The plan")).ok();
    let mut numbered = decision("The second plan");
    numbered["id"] = json!("plan-2");
    env.write(format!("{ROOT}/archive/decisions/plan-2.json"), numbered.to_string());
    env.at_terminal(&["forget", "decision:plan", "--yes"], "").ok();
    assert!(env.memory("archive/decisions/plan-2.json").exists());
}

#[test]
fn what_git_still_holds_is_named_under_every_name_it_had() {
    let env = TestEnv::new();
    env.git(&["init", "-q", "-b", "main"]);
    env.run(&["init"]).ok();
    let mut document = decision(EARLIER);
    document["content"]["context"] = json!(CONTENT);
    env.create("pick-quokka-instead-of-mice", &document).ok();
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "one"]);
    let mut changed = env.decision("pick-quokka-instead-of-mice");
    changed["title"] = json!(TITLE);
    changed["changes"] = json!([{ "date": "2026-02-01", "summary": "Said otherwise" }]);
    env.update("pick-quokka-instead-of-mice", &changed).ok();
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "two"]);
    let said = env.at_terminal(&["forget", "use-zanzibar-for-grants", "--yes"], "").ok();
    assert_eq!(traces(&env, false), [""; 0]);
    assert!(said.stderr.contains("git filter-repo --invert-paths"));
    for name in ["use-zanzibar-for-grants", "pick-quokka-instead-of-mice"] {
        assert!(said.stderr.contains(&format!("--path '{}'", target(name))), "{said:?}");
    }
}

#[test]
fn a_forgotten_record_that_a_merge_brings_back_is_held_back_and_listed() {
    let env = TestEnv::ready();
    env.create("secretive", &decision("Use Zanzibar grants")).ok();
    let bytes = std::fs::read(env.memory("decisions/secretive.json")).unwrap();
    env.at_terminal(&["forget", "secretive", "--yes"], "").ok();
    env.write(target("secretive"), bytes);
    env.run(&["record", "index", "--rebuild"]).ok();
    assert_eq!(env.run(&["recall", "what about Zanzibar grants?"]).ok().stdout, "");
    let listed = env.run(&["review", "--json"]).ok().json();
    assert!(listed["problems"][0]["message"].as_str().unwrap().contains("was forgotten and came back"));
    assert_eq!(env.run(&["verify"]).code, Some(1));
    env.at_terminal(&["forget", "secretive", "--yes"], "").ok();
    env.run(&["verify"]).ok();
}

#[test]
fn an_id_that_was_forgotten_can_be_used_for_something_new() {
    let env = TestEnv::ready();
    env.run(&["add", "decision", "Use Zanzibar because of grants"]).ok();
    env.at_terminal(&["forget", "use-zanzibar", "--yes"], "").ok();
    // Times are kept in whole seconds; a new record of the very same second counts as new.
    env.run(&["add", "decision", "Use Zanzibar because of grants"]).ok();
    assert!(env.run(&["recall", "what about Zanzibar grants?"]).ok().stdout.contains("Use Zanzibar"));
    env.run(&["verify"]).ok();
}

#[test]
fn a_draft_that_waits_goes_with_what_it_was_about() {
    let env = TestEnv::ready();
    env.create("secretive", &decision("Use Zanzibar grants")).ok();
    let item = json!({
        "key": "0123456789ab", "id": "decision:secretive", "shelf": "records", "channel": "agent", "trust": "low",
        "reasons": [], "at": heirloom_core::time::format(jiff::Timestamp::now()), "draft": { "context": CONTENT },
    });
    env.write(format!("{ROOT}/.local/inbox/0123456789ab.json"), item.to_string());
    let gone = env.at_terminal(&["forget", "secretive", "--yes", "--json"], "").ok().json();
    assert!(gone["places"].as_array().unwrap().iter().any(|place| place == "review inbox (1)"), "{gone}");
    assert_eq!(traces(&env, true), [""; 0]);
}

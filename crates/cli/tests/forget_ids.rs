//! Forget leaves no id either: one made from a title with a name and a number is content.

use crate::env::{ROOT, TestEnv, decision};
use serde_json::{Value, json};

const NAME: &str = "anna-beispiel";
const PHONE: &str = "0151-2345678";

/// Files below the test's folder that hold a part of the id, whatever stands between.
fn traces(env: &TestEnv) -> Vec<String> {
    let plain =
        |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    let needles = [plain(NAME), plain(PHONE)];
    let holds = |name: &str, bytes: &[u8]| {
        let text = plain(&format!("{name} {}", String::from_utf8_lossy(bytes)));
        needles.iter().any(|needle| text.contains(needle))
    };
    env.files_below(&env.base())
        .into_iter()
        .filter(|(name, bytes)| holds(name, bytes))
        .map(|(name, _)| name)
        .collect()
}

/// A project in which a record with such an id was written, changed, renamed, cited, given to an agent and asked about.
fn lived_in() -> TestEnv {
    let env = TestEnv::new();
    env.run(&["init"]).ok();
    env.write("src/a.rs", "fn main() {}\n");
    env.at_terminal(
        &["add", "decision", "Call Anna Beispiel on 0151-2345678 because the pager is broken"],
        "",
    )
    .ok();
    let id = only_id(&env);
    env.at_terminal(&["anchor", "add", &id, "src/a.rs"], "").ok();
    env.at_terminal(&["edit", &id, "--field", "context=The pager is broken", "--message", "said why"], "")
        .ok();
    for _ in 0..2 {
        let event = json!({ "prompt": "whom do we call when the pager is broken, Anna?", "session_id": "s", "cwd": env.project() });
        env.run_with(&["hook", "prompt"], event.to_string().as_bytes()).ok();
    }
    env.run(&["recall", "whom do we call when the pager is broken?"]).ok();
    env.run(&["retire", &id, "--reason", "an agent thinks so"]);
    env.at_terminal(&["retire", &id, "--reason", "for now"], "").ok();
    env.at_terminal(&["restore", &id], "").ok();
    env
}

fn only_id(env: &TestEnv) -> String {
    env.run(&["list", "--json"]).ok().items()[0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn after_forget_no_file_holds_the_id() {
    let env = lived_in();
    let id = only_id(&env);
    assert!(id.contains(NAME), "{id}");
    assert!(traces(&env).len() > 3, "{:?}", traces(&env));
    let audit = std::fs::read_to_string(env.memory(".local/audit.jsonl")).unwrap();
    assert!(!audit.contains(NAME), "the audit never had it");
    env.at_terminal(&["forget", &id, "--yes"], "").ok();
    assert_eq!(traces(&env), [""; 0]);
    env.run(&["audit", "verify"]).ok();
    // Whoever knows the id can still ask what was done about it, and nobody else can read it.
    let noted = env.run(&["audit", "--json", "--id", &id]).ok().json();
    assert_eq!(noted.as_array().unwrap().last().unwrap()["action"], "memory_forget");
    assert!(!env.run(&["audit"]).ok().stdout.contains(NAME));
    assert_eq!(traces(&env), [""; 0], "asking leaves nothing either");
}

/// Files and folders below the test's folder that are called by a name.
fn called(folder: &std::path::Path, name: &str) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(called(&path, name));
        }
        if entry.file_name().to_string_lossy().contains(name) {
            found.push(path);
        }
    }
    found
}

#[test]
fn a_topic_called_by_a_persons_name_goes_with_its_last_lesson() {
    let env = TestEnv::new();
    env.run(&["init"]).ok();
    let lesson = |text: &str, topic: &str| {
        let said = env.at_terminal(&["add", "lesson", text, "--topic", topic, "--json"], "").ok().json();
        said["id"].as_str().unwrap().to_owned()
    };
    let ids = [
        lesson("The pager was silent, fixed by a call", "Anna Beispiel/0151-2345678"),
        lesson("Mails bounced, fixed by another address", "people/Anna Beispiel"),
    ];
    lesson("Commits were lost, fixed by reflog", "git/rebase");
    for question in ["pager", "mails"] {
        assert!(!env.run(&["search", question, "--json"]).ok().items().as_array().unwrap().is_empty());
    }
    env.at_terminal(&["retire", &ids[0]], "").ok();
    ids.iter().for_each(|id| drop(env.at_terminal(&["forget", id, "--yes"], "").ok()));
    assert_eq!(traces(&env), [""; 0]);
    assert!(called(&env.base(), NAME).is_empty(), "{:?}", called(&env.base(), NAME));
    // What is left is found as before, and a change to it is seen.
    assert_eq!(env.run(&["search", "commits", "--json"]).ok().items().as_array().unwrap().len(), 1);
    lesson("Tags were lost, fixed by a push", "git/rebase");
    assert_eq!(env.run(&["search", "tags", "--json"]).ok().items()[0]["title"], "Tags were lost");
}

#[test]
fn the_audit_shows_ids_for_as_long_as_they_are_known() {
    let env = TestEnv::ready();
    env.create("use-postgresql", &decision("Use PostgreSQL")).ok();
    let shown = env.run(&["audit"]).ok().stdout;
    assert!(shown.contains("decision:use-postgresql"), "{shown}");
    let raw = std::fs::read_to_string(env.memory(".local/audit.jsonl")).unwrap();
    assert!(!raw.contains("use-postgresql") && raw.contains("decision:#"), "{raw}");
    // Turns and facts have random ids, which stay as they are.
    env.at_terminal(&["remember", "I like tea"], "y\n").ok();
    assert!(!env.run(&["audit", "--tiers"]).ok().stdout.contains('#'));
}

#[test]
fn a_forgotten_id_that_a_merge_brings_back_is_known_by_its_mark() {
    let env = lived_in();
    let id = only_id(&env);
    let path = env.memory(&format!("decisions/{}.json", id.split_once(':').unwrap().1));
    let bytes = std::fs::read(&path).unwrap();
    env.at_terminal(&["forget", &id, "--yes"], "").ok();
    let marks = std::fs::read_to_string(env.memory("provenance.jsonl")).unwrap();
    assert!(marks.contains("forgotten") && !marks.contains(NAME), "{marks}");
    std::fs::write(&path, bytes).unwrap();
    assert_eq!(env.run(&["verify"]).code, Some(1));
    assert!(!env.run(&["recall", "whom do we call when the pager is broken?"]).ok().stdout.contains("Anna"));
    let lines = std::fs::read_to_string(env.memory("provenance.jsonl")).unwrap();
    let marks: Vec<Value> = lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let salts: Vec<&str> = marks.iter().filter_map(|line| line["salt"].as_str()).collect();
    assert_eq!(salts.len(), 1);
}

#[test]
fn lines_of_an_earlier_version_are_rewritten_behind_a_checkpoint_that_audit_verify_names() {
    let env = TestEnv::ready();
    // An audit as 0.1 wrote it: ids in clear, a hash chain.
    let mut prev = "0".repeat(64);
    let mut text = String::new();
    for (seq, id) in [(1, "decision:call-anna-beispiel-0151-2345678"), (2, "decision:other"), (3, "note:x")] {
        let mut line = json!({ "seq": seq, "at": "2026-01-10T09:00:00Z", "action": "memory_write", "verdict": "keep", "shelf": "records",
            "id": id, "channel": "agent", "size": 1, "remarks": [], "prev": prev });
        prev = heirloom_core::hash::sha256(line.to_string().as_bytes());
        line["hash"] = json!(prev);
        text.push_str(&format!("{line}\n"));
    }
    env.write(format!("{ROOT}/.local/audit.jsonl"), &text);
    env.run(&["audit", "verify"]).ok();
    env.create("fresh", &decision("A fresh choice")).ok();
    let raw = std::fs::read_to_string(env.memory(".local/audit.jsonl")).unwrap();
    assert!(!raw.contains(NAME) && !raw.contains("decision:other"), "{raw}");
    let walked = env.run(&["audit", "verify", "--json"]).ok().json();
    assert_eq!((&walked["entries"], &walked["checkpoints"][0]["lines"]), (&json!(4), &json!(3)), "{walked}");
    assert_eq!(walked["checkpoints"][0]["was"], prev);
    assert!(env.run(&["audit", "verify"]).ok().stdout.contains("checkpoint"));
    // They are still told by their ids, and a line that is altered is still named.
    let ids: Vec<String> = env
        .run(&["audit", "--json"])
        .ok()
        .json()
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["id"].as_str().unwrap().to_owned())
        .collect();
    assert!(ids.contains(&"decision:other".to_owned()), "{ids:?}");
    std::fs::write(env.memory(".local/audit.jsonl"), raw.replacen("\"seq\":2", "\"seq\":9", 1)).unwrap();
    assert_ne!(env.run(&["audit", "verify"]).code, Some(0));
}

#[test]
fn forget_with_a_persons_name_looks_through_every_shelf_shows_all_and_asks_once() {
    let env = TestEnv::ready();
    env.at_terminal(&["add", "decision", "Call Anna Beispiel because the pager is broken"], "").ok();
    env.at_terminal(
        &["add", "lesson", "Anna Beispiel lost commits, fixed by reflog", "--topic", "git/rebase"],
        "",
    )
    .ok();
    env.at_terminal(&["add", "note", "Spoke with Anna Beispiel.\nShe is on call."], "").ok();
    env.at_terminal(&["add", "canon", "Anna Beispiel owns the pager", "--scope", "shared"], "").ok();
    env.at_terminal(&["remember", "My sister is Anna Beispiel"], "y\n").ok();
    env.at_terminal(&["add", "decision", "Use PostgreSQL because of row locks"], "").ok();
    // No: nothing goes, everything was shown.
    let ran = env.at_terminal(&["forget", "Anna Beispiel"], "n\n");
    for kind in ["decision:", "lesson:", "note:", "canon:", "fact:"] {
        assert!(ran.stderr.contains(kind), "{kind}: {ran:?}");
    }
    assert!(!ran.stderr.contains("use-postgresql"), "{ran:?}");
    assert_eq!(ran.stderr.matches("Remove every trace").count(), 1, "{ran:?}");
    assert!(traces(&env).len() > 4);
    env.at_terminal(&["forget", "Anna Beispiel"], "y\n").ok();
    assert_eq!(traces(&env), [""; 0]);
    let left = env.run(&["list", "--json"]).ok().items();
    assert_eq!(left.as_array().unwrap().len(), 1, "{left}");
    env.run(&["verify"]).ok();
    env.run(&["audit", "verify"]).ok();
}

#[test]
fn an_agent_forgets_nobody_by_name() {
    let env = TestEnv::ready();
    env.at_terminal(&["add", "decision", "Call Anna Beispiel because the pager is broken"], "").ok();
    let ran = env.run(&["forget", "Anna Beispiel", "--yes"]);
    assert_ne!(ran.code, Some(0), "{ran:?}");
    assert!(!traces(&env).is_empty());
}

/// Every file below the project and the user's folders that still has a word, in whatever letters.
fn files_with(env: &TestEnv, word: &str) -> Vec<std::path::PathBuf> {
    let (mut open, mut found) = (vec![env.base()], Vec::new());
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if String::from_utf8_lossy(&std::fs::read(&path).unwrap()).to_lowercase().contains(word) {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn a_record_that_had_another_name_is_forgotten_under_that_name_too() {
    let env = TestEnv::ready();
    let id = crate::shelves::saved(&env, &["decision", "Ask Xaverine Quokka about it"]);
    env.at_terminal(&["edit", &id, "--title", "Someone knows"], "").ok();
    env.at_terminal(&["edit", "decision:someone-knows", "-f", "decision=Ask somebody"], "").ok();
    env.at_terminal(&["forget", "decision:someone-knows", "--yes"], "").ok();
    assert_eq!(files_with(&env, "xaverine"), Vec::<std::path::PathBuf>::new());
    // A record that took the old name since keeps its own standing.
    let id = crate::shelves::saved(&env, &["decision", "Use tabs"]);
    env.at_terminal(&["edit", &id, "--title", "Use spaces"], "").ok();
    let new = crate::shelves::saved(&env, &["decision", "Use tabs"]);
    env.at_terminal(&["forget", "decision:use-spaces", "--yes"], "").ok();
    assert_eq!(env.run(&["show", &new, "--json"]).ok().json()["trust"], "high");
}

#[test]
fn a_name_is_forgotten_in_what_waits_for_a_yes_too() {
    let env = TestEnv::ready();
    env.run(&["add", "fact", "Xaverine Quokka is my boss"]).fails_with("NEEDS_CONFIRMATION", 4);
    let kept = crate::shelves::saved(&env, &["decision", "Use tabs"]);
    env.run(&["edit", &kept, "-f", "decision=Ask Xaverine Quokka"]).fails_with("NEEDS_CONFIRMATION", 4);
    let ran = env.at_terminal(&["forget", "Xaverine Quokka"], "y\n").ok();
    assert!(ran.stderr.contains("Xaverine Quokka is my boss") && ran.stderr.contains("these 2"), "{ran:?}");
    assert_eq!(files_with(&env, "xaverine"), Vec::<std::path::PathBuf>::new());
    assert_eq!(env.run(&["show", &kept, "--json"]).ok().json()["trust"], "high", "the memory itself stays");
    env.run(&["audit", "verify"]).ok();
}

#[test]
fn what_forget_leaves_raises_no_alarm() {
    let env = TestEnv::ready();
    for text in ["Ask Anna about it", "Ask Bernd about it"] {
        let id = crate::shelves::saved(&env, &["decision", text]);
        env.at_terminal(&["forget", &id, "--yes"], "").ok();
    }
    assert!(env.memory("provenance.jsonl").is_file());
    env.run(&["scan", "."]).ok();
    // A secret beside a mark is found as anywhere else.
    let mut text = std::fs::read_to_string(env.memory("provenance.jsonl")).unwrap();
    text.push_str(&format!(
        "{{\"id\":\"x\",\"did\":\"forgotten\",\"salt\":\"{}\"}}\n",
        crate::shelves::secret()
    ));
    std::fs::write(env.memory("provenance.jsonl"), text).unwrap();
    assert_eq!(env.run(&["scan", "."]).code, Some(1));
}

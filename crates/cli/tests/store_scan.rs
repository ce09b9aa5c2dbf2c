//! `scan --store`: what was saved before a rule existed, or by hand, is found on every shelf and cut out of all of them.

use crate::env::TestEnv;
use crate::shelves::{four, secret};
use std::path::PathBuf;

/// Writes a secret into the files of all four shelves behind the gate's back, as an older version or a hand would have.
fn poisoned(env: &TestEnv) -> Vec<PathBuf> {
    let four = four(env);
    let note = four.note.strip_prefix("note:").unwrap();
    let decision = four.decision.strip_prefix("decision:").unwrap();
    let files = [
        (format!("decisions/{decision}.json"), "jsonb"),
        ("topics/git/rebase.md".to_owned(), "git reflog"),
        (format!("notes/{note}.md"), "one by one"),
        ("vault.jsonl".to_owned(), "on Tuesdays only"),
    ];
    files
        .into_iter()
        .map(|(file, words)| {
            let path = env.memory(&file);
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(text.contains(words), "{file}: {text}");
            std::fs::write(&path, text.replace(words, &format!("{words} {}", secret()))).unwrap();
            path
        })
        .collect()
}

#[test]
fn a_secret_on_any_shelf_is_found_and_cut_out_of_it_and_nothing_else_changes() {
    let env = TestEnv::ready();
    let files = poisoned(&env);
    let before: Vec<String> = files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();

    let found = env.run(&["--json", "scan", "--store"]);
    assert_eq!(found.code, Some(1), "{found:?}");
    let held = found.json()["held"].clone();
    for path in &files {
        let name = path.file_name().unwrap().to_str().unwrap();
        let named = held.as_array().unwrap().iter().any(|one| one["file"].as_str().unwrap().ends_with(name));
        assert!(named, "{name}: {held}");
    }
    assert!(!found.stdout.contains(&secret()), "a report never repeats the secret");

    let fixed = env.at_terminal(&["--json", "scan", "--store", "--fix", "--yes"], "").ok();
    assert_eq!(fixed.json()["left"].as_array().unwrap().len(), 0, "{fixed:?}");
    for (path, before) in files.iter().zip(before) {
        let now = std::fs::read_to_string(path).unwrap();
        assert!(!now.contains(&secret()), "{}", path.display());
        let words = before.split(&secret()).next().unwrap();
        // A record is written anew with its time; the other files keep every byte around the span, but for a note's hash.
        if path.extension().is_some_and(|end| end == "jsonl") || path.ends_with("topics/git/rebase.md") {
            assert!(now.starts_with(words), "{now}");
        }
    }
    assert_eq!(env.run(&["--json", "scan", "--store"]).ok().json()["held"].as_array().unwrap().len(), 0);
    let again = env.at_terminal(&["--json", "scan", "--store", "--fix", "--yes"], "").ok();
    assert_eq!(again.json()["fixed"].as_array().unwrap().len(), 0, "twice changes nothing");
    env.run(&["verify"]).ok();
    let audit = env.run(&["--json", "audit"]).ok();
    assert!(audit.stdout.contains("memory_redact"), "{audit:?}");
}

#[test]
fn cutting_a_secret_out_of_a_superseded_line_of_the_vault_keeps_ids_and_versions() {
    let env = TestEnv::ready();
    let four = four(&env);
    env.at_terminal(&["edit", &four.canon, "--text", "Deploys happen on Wednesdays only"], "").ok();
    let path = env.memory("vault.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("on Tuesdays only", &format!("on Tuesdays {}", secret()))).unwrap();
    env.at_terminal(&["scan", "--store", "--fix", "--yes"], "").ok();
    let now = std::fs::read_to_string(&path).unwrap();
    assert!(!now.contains(&secret()));
    assert_eq!(now.lines().count(), text.lines().count());
    assert!(env.run(&["--json", "show", &four.canon]).ok().stdout.contains("Wednesdays"));
}

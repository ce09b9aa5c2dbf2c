//! `import` over sample files of many makes: nothing that a file says is lost without a word.
//!
//! Comes in: `fixtures/import/`. Goes out: nothing, if every sentence is stored or listed with a reason, each once, and the decisions are stored.

use crate::env::TestEnv;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/import")
}

fn decisions() -> BTreeMap<String, Vec<String>> {
    serde_json::from_slice(&std::fs::read(samples().join("decisions.json")).unwrap()).unwrap()
}

/// Words alone, so that marks and line breaks do not count.
fn words(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    format!(" {} ", plain.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase())
}

/// Whether all words of a sentence are there: what follows "because" is stored apart, as the reason.
fn holds(there: &str, sentence: &str) -> bool {
    words(sentence).split(" because ").all(|part| there.contains(part.trim()))
}

/// Everything that is stored in a project's memory, as words.
fn stored(env: &TestEnv) -> String {
    let files = env.files_below(&env.memory(""));
    let shelves = files.into_iter().filter(|(name, _)| {
        !name.starts_with(".local/")
            && (name.ends_with(".json") || name.ends_with(".md"))
            && name != "index.md"
    });
    let texts =
        shelves.map(|(_, bytes)| String::from_utf8(bytes).unwrap().replace("\\n", " ").replace("\\\"", "\""));
    words(&texts.collect::<Vec<_>>().join(" | "))
}

/// The sentences of a sample: what stands between marks, each long enough to mean something.
fn sentences(path: &Path, text: &str) -> Vec<String> {
    if path.extension().is_some_and(|ending| ending == "json") {
        let value: Value = serde_json::from_str(text).unwrap();
        let mut found = Vec::new();
        collect(&value, &mut found);
        return found;
    }
    // What a mark of its author says is told by the kind: `[decision]`.
    let unmarked = |line: &str| match line.strip_prefix("- [").and_then(|rest| rest.split_once("] ")) {
        Some((_, rest)) => rest.to_owned(),
        None => line.to_owned(),
    };
    let cut = |line: &str| {
        let line = unmarked(line).replace("? ", ". ");
        line.split(". ").map(str::to_owned).collect::<Vec<_>>()
    };
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("```"));
    let cells = lines.flat_map(|line| line.split('|').map(str::to_owned).collect::<Vec<_>>());
    cells.flat_map(|cell| cut(&cell)).filter(|sentence| words(sentence).trim().len() >= 4).collect()
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(inner @ Value::Array(_)) => collect(&inner, found),
            _ if text.contains(' ') => found.push(text.clone()),
            _ => {}
        },
        Value::Array(all) => all.iter().for_each(|one| collect(one, found)),
        Value::Object(map) => map.values().for_each(|one| collect(one, found)),
        _ => {}
    }
}

#[test]
fn every_sentence_of_the_samples_is_saved_or_listed_with_a_reason() {
    let labelled = decisions();
    assert!(labelled.len() >= 60, "{} samples", labelled.len());
    let (mut kept, mut all, mut lost) = (0, 0, Vec::new());
    for (name, decided) in &labelled {
        let env = TestEnv::ready();
        let path = samples().join(name);
        let ran = env.at_terminal(&["import", path.to_str().unwrap(), "--json"], "");
        let report = ran.json();
        assert_eq!(report["refused"], serde_json::json!([]), "{name}: {report:#}");
        let left = report["left_out"].as_array().unwrap();
        assert!(left.iter().all(|one| !one["why"].as_str().unwrap().is_empty()), "{name}");
        let listed: Vec<&str> = left.iter().map(|one| one["text"].as_str().unwrap()).collect();
        let there = format!("{}{}", stored(&env), words(&listed.join(" | ")));
        for sentence in sentences(&path, &std::fs::read_to_string(&path).unwrap()) {
            let plain = words(&sentence);
            // So does the first cell of a row: `Decision |`.
            let plain = plain.strip_prefix(" decision ").map_or(plain.clone(), |rest| format!(" {rest}"));
            if !holds(&there, &plain) {
                lost.push(format!("{name}: {sentence}"));
            }
        }
        let saved = stored(&env);
        for decision in decided {
            all += 1;
            if holds(&saved, decision) {
                kept += 1;
            } else {
                lost.push(format!("{name}: the decision `{decision}`"));
            }
        }
        // Each memory is named with its kind, its title and where it comes from.
        for one in report["memories"].as_array().unwrap() {
            assert!(
                ["from", "kind", "title"].iter().all(|key| !one[key].as_str().unwrap().is_empty()),
                "{one}"
            );
        }
        // The same file again brings nothing.
        let again = env.at_terminal(&["import", path.to_str().unwrap(), "--json"], "").json();
        assert_eq!(again["memories"], serde_json::json!([]), "{name}: {again:#}");
    }
    let share = f64::from(kept) / f64::from(all);
    assert!(share >= 0.95, "{kept} of {all} decisions were saved:\n{}", lost.join("\n"));
    assert!(lost.is_empty(), "{} of {} files lose:\n{}", lost.len(), labelled.len(), lost.join("\n"));
}

#[test]
fn a_statement_that_lacks_a_field_becomes_a_note_word_for_word() {
    let env = TestEnv::ready();
    let text = "If the queue is stuck, restart the worker with `systemctl restart shop-worker`.";
    env.write("CLAUDE.md", format!("- {text}\n"));
    let report = env.run(&["import", "auto", "--yes", "--json"]).ok().json();
    assert_eq!(report["report"]["memories"][0]["kind"], "note", "{report:#}");
    let notes = env.files_below(&env.memory("notes"));
    assert_eq!(notes.len(), 1);
    assert!(String::from_utf8_lossy(&notes[0].1).contains(text));
}

#[test]
fn a_person_sees_each_memory_and_can_drop_and_change_some() {
    let mut env = TestEnv::ready();
    env.write(
        "CLAUDE.md",
        "# App\n- Always use pnpm, never npm\n- We use SQLite because it needs no server\n- Never push on Fridays\n",
    );
    let editor = env
        .write("editor.sh", "#!/bin/sh\nprintf 'decision\\nWe use DuckDB because it is fast\\n' > \"$1\"\n");
    std::fs::set_permissions(&editor, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    env.set("EDITOR", editor.to_str().unwrap());
    let ran = env.at_terminal(&["import", "auto"], "l\ndrop 1\nedit 1\ny\n").ok();
    for line in ["preference", "CLAUDE.md:2", "Always use pnpm", "CLAUDE.md:1: App (a heading)"] {
        assert!(ran.stdout.contains(line), "{line}: {}", ran.stdout);
    }
    let listed = env.run(&["list", "--format", "{title}"]).ok().stdout;
    assert!(listed.contains("Never push on Fridays") && listed.contains("We use DuckDB"), "{listed}");
    assert!(!listed.contains("pnpm") && !listed.contains("SQLite"), "{listed}");
}

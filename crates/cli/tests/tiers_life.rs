//! Turns and facts that go, move and survive: forget, clear, archives, two processes, a killed one.
//!
//! Comes in: words that can be searched for in raw files. Goes out: nothing, if what was removed is in no file, what was acknowledged is there,
//! and an archive brings everything back once.

use crate::env::{HEIRLOOM, TestEnv, finish};
use std::collections::BTreeSet;
use std::process::Stdio;

fn said(env: &TestEnv, text: &str) -> String {
    env.run(&["add", "episode", text, "--json"]).ok().json()["id"].as_str().unwrap().to_owned()
}

fn remembered(env: &TestEnv, text: &str) -> String {
    env.at_terminal(&["remember", text, "--json"], "").ok().json()["id"].as_str().unwrap().to_owned()
}

fn count(env: &TestEnv, tier: &str) -> usize {
    let listed = env.run(&["list", "--tier", tier, "-n", "100000", "--json"]).ok().items();
    listed.as_array().unwrap().len()
}

/// The files below home in which a word is found, in any letters.
fn holders(env: &TestEnv, word: &str) -> Vec<String> {
    let holds = |bytes: &[u8]| bytes.to_ascii_lowercase().windows(word.len()).any(|w| w == word.as_bytes());
    env.files_below(&env.base()).into_iter().filter(|(_, bytes)| holds(bytes)).map(|(name, _)| name).collect()
}

#[test]
fn what_was_forgotten_is_in_no_file_any_more() {
    let env = TestEnv::new();
    let one = said(&env, "The zanzibar voyage was long");
    said(&env, "Zanzibar again, in spring");
    said(&env, "Something about marzipan");
    let fact = remembered(&env, "I like quokkas");
    env.run(&["remember", "My favourite place is zanzibar"]).fails_with("NEEDS_CONFIRMATION", 4);
    assert!(!holders(&env, "zanzibar").is_empty() && !holders(&env, "quokka").is_empty());
    env.at_terminal(&["forget", &one, "--yes"], "").ok();
    let asked = env.at_terminal(&["forget", "zanzibar"], "n\n");
    assert_eq!(asked.code, Some(1));
    assert!(asked.stderr.contains("Zanzibar again"), "what would go is shown: {asked:?}");
    let gone = env.at_terminal(&["memory", "forget", "zanzibar", "--yes", "--json"], "").ok().json();
    assert_eq!(gone["count"], 1);
    assert_eq!(holders(&env, "zanzibar"), [""; 0], "rows, index, inbox and logs");
    env.at_terminal(&["forget", &fact, "--yes"], "").ok();
    assert_eq!(holders(&env, "quokka"), [""; 0]);
    assert!(!holders(&env, "marzipan").is_empty());
    env.run(&["audit", "verify"]).ok();
}

#[test]
fn clearing_asks_once_for_a_tier_and_twice_for_everything() {
    let env = TestEnv::new();
    said(&env, "The zanzibar voyage was long");
    remembered(&env, "I like quokkas");
    env.run(&["clear", "episodic"]).fails_with("NEEDS_PERSON", 1);
    assert_eq!(env.at_terminal(&["clear", "all"], "y\nn\n").code, Some(1));
    assert_eq!((count(&env, "episodic"), count(&env, "semantic")), (1, 1));
    env.at_terminal(&["clear", "episodic"], "y\n").ok();
    assert_eq!((count(&env, "episodic"), count(&env, "semantic")), (0, 1));
    env.at_terminal(&["memory", "clear", "all", "--yes"], "").ok();
    assert_eq!(count(&env, "semantic"), 0);
    assert_eq!((holders(&env, "zanzibar"), holders(&env, "quokka")), (vec![], vec![]));
    env.at_terminal(&["clear", "all", "--yes"], "").ok();
}

#[test]
fn an_archive_brings_everything_back_once() {
    let env = TestEnv::new();
    let turn = said(&env, "We spoke about the harvest");
    let fact = remembered(&env, "I like tea");
    let file = env.scratch().join("mine.jsonl");
    let file = file.to_str().unwrap();
    env.run(&["export", "--shelf", "tiers", "--to", file]).ok();
    env.run(&["export", "--shelf", "tiers", "--to", file]).fails_with("CREATE_ERROR", 1);
    let piped = env.run(&["export", "--shelf", "tiers"]).ok().stdout;
    assert!(piped.ends_with("}\n") && piped.lines().count() == 5, "{piped}");

    let again = env.run(&["import", file, "--json"]).ok().json();
    assert_eq!((&again["added"], &again["known"]), (&0.into(), &2.into()), "{again}");
    env.at_terminal(&["clear", "all", "--yes"], "").ok();
    let stays = env.run(&["import", file, "--json"]).ok().json();
    assert_eq!(stays["removed"], 2, "what was removed here stays so");
    let dry = env.run(&["import", file, "--even-removed", "--dry-run", "--json"]).ok().json();
    assert_eq!((&dry["added"], count(&env, "episodic")), (&2.into(), 0));
    env.run_with(&["import", "-", "--even-removed"], piped.as_bytes()).fails_with("NEEDS_PERSON", 1);
    let back = env.at_terminal(&["import", file, "--even-removed", "--json"], "").ok().json();
    assert_eq!(back["added"], 2);
    assert_eq!(env.run(&["show", &fact, "--json"]).ok().json()["trust"], "high", "it was sealed here");
    env.run(&["show", &turn]).ok();
}

#[test]
fn an_archive_from_elsewhere_counts_as_an_agents_words_unless_a_person_vouches() {
    let (here, there) = (TestEnv::new(), TestEnv::new());
    said(&there, "We spoke about the harvest");
    remembered(&there, "I like tea");
    let archive = there.run(&["export", "--shelf", "tiers"]).ok().stdout;
    let file = here.scratch().join("theirs.jsonl");
    std::fs::write(&file, &archive).unwrap();
    let file = file.to_str().unwrap();
    let brought = here.run(&["import", file, "--json"]).ok().json();
    assert_eq!(
        (&brought["added"], &brought["waiting"], &brought["unsealed_chunks"]),
        (&1.into(), &1.into(), &1.into())
    );
    let listed = here.run(&["list", "--tier", "episodic", "--json"]).ok().items();
    assert_eq!(listed[0]["trust"], "low");
    here.run(&["import", file, "--vouch"]).fails_with("NEEDS_PERSON", 1);
    here.at_terminal(&["import", file, "--vouch"], "").ok();
    let facts = here.run(&["list", "--tier", "semantic", "--json"]).ok().items();
    assert_eq!(facts[0]["trust"], "high");

    // Damage is named by its line, everything before it is kept, and a whole archive goes on from there.
    let fresh = TestEnv::new();
    let cut: String = archive.lines().take(3).map(|line| format!("{line}\n")).collect();
    fresh.run_with(&["import", "-"], cut.as_bytes()).fails_with("INPUT_ERROR", 1);
    let altered = archive.replace("harvest", "famine!");
    fresh.run_with(&["import", "-"], altered.as_bytes()).fails_with("INPUT_ERROR", 1);
    assert_eq!(count(&fresh, "episodic"), 0, "a chunk that is not what its checksum says is not stored");
    fresh.run_with(&["import", "-"], b"not an archive\n").fails_with("INPUT_ERROR", 1);
    fresh.run_with(&["import", "-"], b"").fails_with("INPUT_ERROR", 1);
    fresh.run_with(&["import", "-"], archive.as_bytes()).ok();
    assert_eq!(count(&fresh, "episodic"), 1);
}

#[test]
fn eight_processes_write_at_once_and_nothing_is_lost() {
    let env = TestEnv::new();
    let told: BTreeSet<String> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..8)
            .map(|n| {
                let env = &env;
                scope.spawn(move || {
                    (0..6).map(|i| said(env, &format!("writer {n} says {i}"))).collect::<Vec<_>>()
                })
            })
            .collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    assert_eq!(told.len(), 48);
    assert_eq!(count(&env, "episodic"), 48);
    env.run(&["audit", "verify"]).ok();
    let found = env.run(&["search", "--tier", "episodic", "writer", "-n", "100", "--json"]).ok().items();
    assert_eq!(found.as_array().unwrap().len(), 48, "the index has them all");
}

#[test]
fn a_writer_that_is_killed_loses_nothing_it_acknowledged() {
    let env = TestEnv::new();
    let mut acknowledged = BTreeSet::new();
    for n in 0..24u64 {
        let mut command = env.command(HEIRLOOM);
        command.args(["add", "episode", &format!("turn number {n}"), "--json"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        // Each one lives a little longer than the one before.
        std::thread::sleep(std::time::Duration::from_millis(n * 3));
        let _ = child.kill();
        let output = child.wait_with_output().unwrap();
        if let Ok(kept) = serde_json::from_slice::<serde_json::Value>(&output.stdout) {
            acknowledged.insert(kept["id"].as_str().unwrap().to_owned());
        }
    }
    acknowledged.insert(said(&env, "the last turn"));
    let listed = env.run(&["list", "--tier", "episodic", "--json"]).ok().items();
    let there: BTreeSet<String> =
        listed.as_array().unwrap().iter().map(|m| m["id"].as_str().unwrap().to_owned()).collect();
    assert!(there.is_superset(&acknowledged), "{acknowledged:?} but {there:?}");
    env.run(&["audit", "verify"]).ok();
    let found = env.run(&["search", "--tier", "episodic", "the last turn", "--json"]).ok().items();
    assert!(!found.as_array().unwrap().is_empty());
    finish(env.command(HEIRLOOM).args(["verify"]));
}

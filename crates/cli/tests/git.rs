//! Two branches that both went on remembering, merged by git itself.
//!
//! Comes in: real repositories. Goes out: nothing, if no merge of different records ever stops at `index.md`.

use crate::env::{TestEnv, decision, finish, target};
use serde_json::json;

fn repository() -> TestEnv {
    let env = TestEnv::new();
    env.git(&["init", "-q", "-b", "main"]);
    env.run(&["init"]).ok();
    for name in ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot"] {
        env.create(name, &decision(&format!("The {name} choice"))).ok();
    }
    commit(&env, "base");
    env
}

fn commit(env: &TestEnv, message: &str) {
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", message]);
}

fn change(env: &TestEnv, name: &str, context: &str) {
    env.run(&["edit", &format!("decision:{name}"), "-f", &format!("context={context}"), "-m", "Changed"])
        .ok();
}

#[test]
fn branches_that_each_added_changed_renamed_and_retired_records_merge_without_a_conflict() {
    let env = repository();
    env.git(&["checkout", "-qb", "left"]);
    env.create("left", &decision("Added on the left")).ok();
    change(&env, "alpha", "left");
    env.run(&["edit", "decision:echo", "--title", "Moved far away by the left"]).ok();
    env.run(&["retire", "decision:bravo"]).ok();
    commit(&env, "left");
    env.git(&["checkout", "-q", "main"]);
    env.git(&["checkout", "-qb", "right"]);
    env.create("right", &decision("Added on the right")).ok();
    change(&env, "charlie", "right");
    env.run(&["edit", "decision:foxtrot", "--title", "Brought elsewhere by the right"]).ok();
    env.run(&["retire", "decision:delta"]).ok();
    commit(&env, "right");

    env.git(&["merge", "-q", "--no-edit", "left"]);
    env.run(&["record", "index", "--validate"]).ok();
    env.run(&["verify"]).ok();
    let paths: Vec<String> =
        env.index().iter().map(|line| line.split(" -> ").nth(1).unwrap().to_owned()).collect();
    let listed = |name: &str| paths.iter().any(|path| path.starts_with(&target(name)));
    for name in
        ["left", "right", "alpha", "charlie", "moved-far-away-by-the-left", "brought-elsewhere-by-the-right"]
    {
        assert!(listed(name), "{name}: {paths:?}");
    }
    for name in ["bravo", "delta", "echo", "foxtrot"] {
        assert!(!listed(name), "{name}: {paths:?}");
    }
    let mut sorted = env.index();
    sorted.sort_by_key(|line| line.to_lowercase());
    assert_eq!(env.index(), sorted);
    for (old, new) in [("echo", "moved-far-away-by-the-left"), ("foxtrot", "brought-elsewhere-by-the-right")]
    {
        let shown = env.run(&["show", &format!("decision:{old}"), "--json"]).ok().json();
        assert_eq!(shown["id"], format!("decision:{new}"), "aliases of both sides survive");
    }
}

#[test]
fn a_record_that_both_sides_changed_is_gits_conflict_and_the_index_is_none() {
    let env = repository();
    env.git(&["checkout", "-qb", "left"]);
    change(&env, "alpha", "left");
    commit(&env, "left");
    env.git(&["checkout", "-q", "main"]);
    change(&env, "alpha", "right");
    commit(&env, "right");
    let merged = finish(env.command("git").args(["merge", "-q", "--no-edit", "left"]));
    assert_ne!(merged.code, Some(0));
    assert_eq!(env.git(&["diff", "--name-only", "--diff-filter=U"]), format!("{}\n", target("alpha")));
    let found = env.run(&["verify", "--json"]);
    assert_eq!(found.code, Some(1));
    let problem =
        found.json()["problems"].as_array().unwrap().iter().find(|p| p["file"] == target("alpha")).cloned();
    let problem = problem.unwrap();
    assert!(problem["message"].as_str().unwrap().contains("conflict markers"));
    assert!(problem["line"].as_u64().unwrap() > 1);
    env.git(&["checkout", "--theirs", &target("alpha")]);
    env.run(&["verify"]).ok();
    assert_eq!(env.decision("alpha")["content"]["context"], "left");
}

#[test]
fn a_record_changed_on_one_side_and_retired_on_the_other_leaves_the_index_mergeable() {
    let env = repository();
    env.git(&["checkout", "-qb", "left"]);
    env.run(&["edit", "decision:alpha", "-t", "extra"]).ok();
    commit(&env, "left");
    env.git(&["checkout", "-q", "main"]);
    env.run(&["retire", "decision:alpha"]).ok();
    commit(&env, "right");
    let _ = finish(env.command("git").args(["merge", "-q", "--no-edit", "left"]));
    assert!(!env.git(&["diff", "--name-only", "--diff-filter=U"]).contains("index.md"));
    env.git(&["checkout", "--ours", &target("alpha")]);
    env.run(&["verify", "--fix"]).ok();
    assert!(env.index().iter().all(|line| !line.contains("alpha")));
}

#[test]
fn without_the_driver_verify_fix_makes_the_merged_index_good() {
    let env = repository();
    env.git(&["config", "--remove-section", "merge.heirloom"]);
    env.git(&["checkout", "-qb", "left"]);
    env.create("left", &decision("Added on the left")).ok();
    commit(&env, "left");
    env.git(&["checkout", "-q", "main"]);
    env.create("lefty", &decision("Added on the left too")).ok();
    commit(&env, "right");
    let merged = finish(env.command("git").args(["merge", "-q", "--no-edit", "left"]));
    assert_ne!(merged.code, Some(0), "without the driver the neighbouring lines conflict");
    assert!(env.run(&["verify"]).stdout.contains("index.md"));
    env.run(&["verify", "--fix"]).ok();
    assert_eq!(env.index().len(), 8);
}

#[test]
fn worktrees_and_clones_share_what_is_known_and_a_copied_folder_is_a_stranger() {
    let env = repository();
    env.at_terminal(&["trust", "decision:alpha"], "y\n").ok();
    let clone = env.base().join("clone");
    env.git(&["clone", "-q", ".", clone.to_str().unwrap()]);
    let tree = env.base().join("tree");
    env.git(&["worktree", "add", "-q", tree.to_str().unwrap(), "-b", "other"]);
    let trust = |folder: &std::path::Path| {
        let mut command = env.command(crate::env::HEIRLOOM);
        command.args(["show", "decision:alpha", "--json"]).current_dir(folder);
        finish(&mut command).ok().json()["trust"].clone()
    };
    // The project was known before its first commit; what is written after it makes its history known.
    env.create("golf", &decision("The golf choice")).ok();
    let mut add = env.command(crate::env::HEIRLOOM);
    finish(add.args(["add", "decision", "Something new because"]).current_dir(&clone)).ok();
    assert_eq!(trust(&env.project()), json!("high"));
    assert_eq!(trust(&tree), json!("high"));
    assert_eq!(trust(&clone), json!("high"));
    let copy = env.base().join("copy");
    finish(env.command("cp").arg("-r").arg(env.project().join(".claude")).arg(&copy)).ok();
    std::fs::create_dir(env.base().join("other")).unwrap();
    std::fs::rename(&copy, env.base().join("other/.claude")).unwrap();
    assert_eq!(trust(&env.base().join("other")), json!("medium"));
}

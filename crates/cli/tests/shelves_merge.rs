//! Two real git branches of one memory, merged by git with the registered driver.

use crate::env::{TestEnv, finish};
use crate::shelves::{asked, saved};

fn save(env: &TestEnv, branch: &str) {
    let say = |words: &str| format!("{words} on {branch}");
    saved(env, &["lesson", &format!("{}, fixed by patience", say("Rebase broke")), "--topic", "git/rebase"]);
    saved(
        env,
        &["lesson", &format!("{}, fixed by hope", say("Own topic")), "--topic", &format!("{branch}/own")],
    );
    let canon = match branch {
        "start" => "Deploys happen on Tuesdays",
        "left" => "Reviews need two people",
        _ => "Logs never hold names",
    };
    saved(env, &["canon", canon]);
    saved(env, &["decision", &format!("{} because of reasons", say("Use something"))]);
    saved(env, &["note", &format!("A message kept\n{}", say("here"))]);
}

fn commit(env: &TestEnv, message: &str) {
    env.git(&["add", "--all"]);
    env.git(&["commit", "--quiet", "--message", message]);
}

#[test]
fn two_branches_that_each_added_to_the_same_files_merge_without_conflict_or_loss() {
    let env = TestEnv::new();
    env.git(&["init", "--quiet", "--initial-branch", "main"]);
    env.run(&["init"]).ok();
    save(&env, "start");
    commit(&env, "start");
    env.git(&["checkout", "--quiet", "-b", "left"]);
    save(&env, "left");
    commit(&env, "left");
    env.git(&["checkout", "--quiet", "main"]);
    env.git(&["checkout", "--quiet", "-b", "right"]);
    save(&env, "right");
    commit(&env, "right");
    let merged = finish(env.command("git").args(["merge", "--no-edit", "left"]));
    assert_eq!(merged.code, Some(0), "{merged:?}");

    let all = asked(&env, &["list"]);
    for kind in ["lesson", "canon", "decision", "note"] {
        let count = all.as_array().unwrap().iter().filter(|m| m["kind"] == kind).count();
        assert_eq!(count, if kind == "lesson" { 6 } else { 3 }, "{kind}: {all:#}");
    }
    let page = std::fs::read_to_string(env.memory("topics/git/rebase.md")).unwrap();
    for branch in ["start", "left", "right"] {
        assert!(page.contains(&format!("Rebase broke on {branch}")), "{page}");
        let hits = asked(&env, &["search", branch, "--kind", "decision"]);
        assert_eq!(hits[0]["id"], format!("decision:use-something-on-{branch}"), "{hits:#}");
    }
    let index = std::fs::read_to_string(env.memory("topics/index.md")).unwrap();
    assert!(index.contains("### left") && index.contains("### right"), "{index}");
    assert_eq!(env.index().len(), 3);
    env.run(&["verify"]).ok();
}

#[test]
fn without_the_driver_verify_joins_what_git_left_in_conflict() {
    let env = TestEnv::new();
    env.git(&["init", "--quiet", "--initial-branch", "main"]);
    env.run(&["init"]).ok();
    env.git(&["config", "--remove-section", "merge.heirloom"]);
    saved(&env, &["lesson", "Start, fixed by x", "--topic", "git/rebase"]);
    commit(&env, "start");
    env.git(&["checkout", "--quiet", "-b", "left"]);
    saved(&env, &["lesson", "Left, fixed by x", "--topic", "git/rebase"]);
    commit(&env, "left");
    env.git(&["checkout", "--quiet", "main"]);
    saved(&env, &["lesson", "Right, fixed by x", "--topic", "git/rebase"]);
    commit(&env, "right");
    let merged = finish(env.command("git").args(["merge", "--no-edit", "left"]));
    assert_eq!(merged.code, Some(1), "git alone cannot do it");
    assert_eq!(env.run(&["verify"]).code, Some(1));
    let fixed = env.run(&["verify", "--fix"]).ok();
    assert!(fixed.stderr.contains("joined both versions"), "{fixed:?}");
    assert_eq!(asked(&env, &["list", "--kind", "lesson"]).as_array().unwrap().len(), 3);
}

#[test]
fn init_writes_attributes_once_and_brings_an_older_driver_up_to_date() {
    let env = TestEnv::new();
    env.git(&["init", "--quiet"]);
    env.git(&["config", "merge.heirloom.driver", "heirloom merge-driver %O %A %B"]);
    env.write(".claude/memory/.gitattributes", "vault.jsonl merge=union\n*.png binary");
    env.run(&["init"]).ok();
    assert_eq!(
        env.git(&["config", "--get", "merge.heirloom.driver"]).trim(),
        "heirloom merge-driver %O %A %B %P"
    );
    let text = std::fs::read_to_string(env.memory(".gitattributes")).unwrap();
    for line in
        ["vault.jsonl merge=union", "topics/**/*.md merge=heirloom", "notes/**/*.md -text", "*.png binary"]
    {
        assert_eq!(text.lines().filter(|l| *l == line).count(), 1, "{text}");
    }
    let check = |path: &str| env.git(&["check-attr", "merge", "text", "--", path]);
    assert!(check(".claude/memory/topics/archive/git/2026.md").contains("merge: heirloom"));
    assert!(check(".claude/memory/topics/index.md").contains("merge: heirloom"));
    assert!(check(".claude/memory/notes/retired/x.md").contains("text: unset"));
    assert!(env.run(&["init"]).ok().stdout.lines().all(|line| line.starts_with("exists ")));
}

//! The pre-commit hook: it lies where git looks, and it looks at what is staged.

use crate::env::{HEIRLOOM, ROOT, TestEnv, decision, finish, target};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

fn repository() -> TestEnv {
    let env = TestEnv::new();
    env.git(&["init", "-q", "-b", "main"]);
    env.run(&["init"]).ok();
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "one"]);
    env
}

fn is_hook(path: &Path) -> bool {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let runs = path.metadata().is_ok_and(|meta| meta.permissions().mode() & 0o111 != 0);
    text.contains("heirloom verify --staged") && runs
}

/// Where git itself says that a hook of a work tree lies.
fn looked_for(env: &TestEnv, folder: &Path) -> PathBuf {
    let said = finish(env.command("git").arg("-C").arg(folder).args([
        "rev-parse",
        "--git-path",
        "hooks/pre-commit",
    ]))
    .ok();
    folder.join(said.stdout.trim())
}

#[test]
fn init_pre_commit_installs_where_git_looks_also_in_a_linked_work_tree() {
    let env = repository();
    let linked = env.base().join("linked");
    env.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    finish(env.command(HEIRLOOM).args(["init", "--pre-commit"]).current_dir(&linked)).ok();
    assert!(is_hook(&looked_for(&env, &linked)));
    // And git runs it there: a record that nobody can read is not committed.
    std::fs::create_dir_all(linked.join(ROOT).join("decisions")).unwrap();
    std::fs::write(linked.join(target("broken")), "{ no record").unwrap();
    let git = |args: &[&str]| finish(env.command("git").arg("-C").arg(&linked).args(args));
    git(&["add", "-A"]).ok();
    assert_ne!(git(&["commit", "-qm", "broken"]).code, Some(0));
    std::fs::remove_file(linked.join(target("broken"))).unwrap();
    git(&["add", "-A"]).ok();
    git(&["commit", "-qm", "whole", "--allow-empty"]).ok();
}

#[test]
fn init_pre_commit_follows_hooks_path_inside_the_project_and_refuses_one_outside() {
    let env = repository();
    env.git(&["config", "core.hooksPath", ".husky"]);
    env.run(&["init", "--pre-commit"]).ok();
    assert!(is_hook(&env.project().join(".husky/pre-commit")));
    assert!(is_hook(&looked_for(&env, &env.project())));
    assert!(!env.project().join(".git/hooks/pre-commit").exists());
    // A folder of the user's that other projects use as well.
    let shared = env.home().join("hooks");
    env.git(&["config", "--unset", "core.hooksPath"]);
    env.git(&["config", "--global", "core.hooksPath", shared.to_str().unwrap()]);
    let ran = env.run(&["init", "--pre-commit"]);
    ran.fails_with("USAGE", 2);
    assert!(ran.stderr.contains("no hook was installed"), "{ran:?}");
    assert!(!shared.join("pre-commit").exists() && !env.project().join(".git/hooks/pre-commit").exists());
    // A link inside the project that leads out of it is no place inside it.
    std::fs::create_dir_all(&shared).unwrap();
    std::os::unix::fs::symlink(&shared, env.project().join(".linked")).unwrap();
    env.git(&["config", "core.hooksPath", ".linked"]);
    env.run(&["init", "--pre-commit"]).fails_with("USAGE", 2);
    assert!(!shared.join("pre-commit").exists());
}

#[test]
fn a_hook_of_an_earlier_version_is_brought_up_to_date_and_somebody_elses_stays() {
    let env = repository();
    let hook = env.project().join(".git/hooks/pre-commit");
    env.write(".git/hooks/pre-commit", "#!/bin/sh\n# Checks the project's memory before every commit; installed by `heirloom init --pre-commit`.\nexec heirloom verify\n");
    env.run(&["init", "--pre-commit"]).ok();
    assert!(is_hook(&hook));
    env.write(".git/hooks/pre-commit", "#!/bin/sh\nmake lint\n");
    env.run(&["init", "--pre-commit"]).fails_with("USAGE", 2);
    assert_eq!(std::fs::read_to_string(&hook).unwrap(), "#!/bin/sh\nmake lint\n");
}

#[test]
fn the_hook_checks_what_is_staged_and_not_the_work_tree() {
    let env = repository();
    env.create("good", &decision("Use PostgreSQL")).ok();
    env.git(&["add", "-A"]);
    env.run(&["verify", "--staged"]).ok();
    // Broken in the work tree alone: the commit is good.
    let whole = std::fs::read(env.memory("decisions/good.json")).unwrap();
    env.write(target("good"), "{ no record");
    env.run(&["verify", "--staged"]).ok();
    assert_eq!(env.run(&["verify"]).code, Some(1));
    // Broken in the index alone: the work tree does not save it.
    env.git(&["add", "-A"]);
    env.write(target("good"), &whole);
    let ran = env.run(&["verify", "--staged"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("good.json"), "{ran:?}");
    env.run(&["verify"]).ok();
    assert_eq!(env.litter(), [""; 0]);
}

#[test]
fn a_secret_that_is_staged_past_the_gate_stops_the_commit_and_a_filter_does_not_run() {
    let env = repository();
    env.run(&["init", "--pre-commit"]).ok();
    let mut document = decision("Use PostgreSQL");
    document["id"] = "leaky".into();
    document["content"]["context"] = ["AKIA", "Q7RZ5M2KXT4W9PLB"].concat().into();
    env.write(target("leaky"), document.to_string());
    env.git(&["add", "-A"]);
    // What a clone may bring: attributes that name a filter which the user has for other files.
    env.write(format!("{ROOT}/.gitattributes"), "*.json filter=mine\n");
    let mark = env.base().join("ran");
    env.git(&["config", "filter.mine.smudge", &format!("touch {}", mark.display())]);
    let ran = env.run(&["verify", "--staged"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(!ran.stdout.contains("Q7RZ5M2KXT4W9PLB"));
    assert!(!mark.exists(), "a filter ran");
    let committed = finish(env.command("git").args(["commit", "-qm", "leaky"]));
    assert_ne!(committed.code, Some(0), "{committed:?}");
}

#[test]
fn files_that_records_name_are_looked_for_in_the_index() {
    let env = repository();
    let mut document = decision("Use PostgreSQL");
    document["related_files"] = serde_json::json!(["src/a.rs", "src"]);
    env.write("src/a.rs", "fn main() {}\n");
    env.create("named", &document).ok();
    env.git(&["add", "-A"]);
    std::fs::remove_dir_all(env.project().join("src")).unwrap();
    env.run(&["verify", "--staged"]).ok();
}

#[test]
fn the_repository_offers_the_hook_to_the_pre_commit_framework() {
    let offered = include_str!("../../../.pre-commit-hooks.yaml");
    assert!(offered.contains("entry: heirloom verify --staged") && offered.contains("pass_filenames: false"));
}

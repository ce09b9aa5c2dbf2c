//! Lessons: where they lie, and what they look like when they are shown.

use crate::env::TestEnv;

fn ready() -> TestEnv {
    let env = TestEnv::new();
    env.run(&["init"]).ok();
    env
}

fn add(env: &TestEnv, text: &str, topic: &str, more: &[&str]) {
    env.run(&[&["add", "lesson", text, "--topic", topic][..], more].concat()).ok();
}

#[test]
fn storing_a_lesson_brings_back_what_the_index_lacks() {
    let env = ready();
    add(&env, "Rebase lost commits, fixed by reflog", "git/rebase", &[]);
    add(&env, "Pods were killed, fixed by a limit", "ops/memory", &[]);
    let index = env.memory("topics/index.md");
    std::fs::remove_file(&index).unwrap();
    add(&env, "Uploads failed, fixed by a larger body", "ops/nginx", &[]);
    let text = std::fs::read_to_string(&index).unwrap();
    for file in ["rebase.md", "memory.md", "nginx.md"] {
        assert!(text.contains(file), "{file}: {text}");
    }
    let without: String =
        text.lines().filter(|line| !line.contains("memory.md")).map(|line| format!("{line}\n")).collect();
    std::fs::write(&index, without.replace("### git", "### git\nKept by hand.")).unwrap();
    add(&env, "Tags were lost, fixed by a push", "git/tags", &[]);
    let text = std::fs::read_to_string(&index).unwrap();
    assert!(text.contains("memory.md") && text.contains("Kept by hand."), "{text}");
}

#[test]
fn a_topic_is_found_by_the_name_it_was_given() {
    let env = ready();
    add(&env, "Errors were swallowed, fixed by a result", "a/Error Handling", &[]);
    for place in ["a/Error Handling", "a/error-handling", "A/error handling", "a"] {
        let found = env.run(&["lesson", "load", place]).ok().stdout;
        assert!(found.contains("Errors were swallowed"), "{place}: {found}");
    }
    env.run(&["lesson", "load", "a/Errors", "--json"]).fails_with("NOT_FOUND", 3);
    // The same by every other verb that takes a topic.
    let day =
        env.run(&["list", "--kind", "lesson", "--json"]).ok().items()[0]["id"].as_str().unwrap().to_owned();
    let typed = day.replace("a/error-handling", "A/Error Handling");
    assert_ne!(typed, day);
    assert_eq!(env.run(&["show", &typed, "--json"]).ok().json()["id"], day.as_str());
    for args in [&["list", "--tag", "Error Handling"][..], &["search", "tag:Error-Handling"]] {
        assert!(env.run(args).ok().stdout.contains("Errors were swallowed"), "{args:?}");
    }
    env.run(&["retire", &typed]).ok();
    assert!(!env.run(&["list"]).ok().stdout.contains("Errors were swallowed"));
}

#[test]
fn code_keeps_its_fence_and_its_own_field() {
    let env = ready();
    let code = "code=```rust\nlet x = 1;\n```";
    add(
        &env,
        "Loops were slow",
        "rust/loops",
        &[
            "--field",
            "problem=Slow",
            "--field",
            "solution=Use iterators",
            "--field",
            code,
            "--field",
            "context=TASK-9",
        ],
    );
    let shown = env.run(&["lesson", "load", "rust/loops"]).ok().stdout;
    assert!(
        shown.lines().any(|line| line == "```rust") && shown.lines().any(|line| line == "```"),
        "{shown}"
    );
    let brief = env.run(&["brief", "rust", "loops"]).ok().stdout;
    assert!(brief.lines().any(|line| line == "```rust"), "{brief}");
    let lesson = env.run(&["lesson", "load", "rust/loops", "--json"]).ok().items()[0].clone();
    for (field, value) in [("context", "TASK-9"), ("problem", "Slow"), ("solution", "Use iterators")] {
        assert_eq!(lesson["fields"][field], value, "{lesson}");
    }
    assert!(lesson["fields"]["code"].as_str().unwrap().contains("let x = 1;"), "{lesson}");
}

#[test]
fn a_brief_takes_a_topic_that_fits_before_a_title_that_fits_however_old() {
    let env = ready();
    add(&env, "Deadlocks in rebase scripts, fixed by a lock", "ops/locks", &[]);
    add(&env, "Commits were lost, fixed by reflog", "git/rebase", &["--at", "2020-01-01"]);
    let brief = env.run(&["brief", "rebase"]).ok().stdout;
    let place = |text: &str| brief.find(text).unwrap_or_else(|| panic!("{text}: {brief}"));
    assert!(place("Commits were lost") < place("Deadlocks in rebase"), "{brief}");
}

#[test]
fn a_prompt_gets_the_lesson_of_a_topic_it_names_before_a_title_that_fits_under_both_rankings() {
    let env = ready();
    add(&env, "Deadlocks in rebase scripts, fixed by a lock", "ops/locks", &[]);
    add(&env, "Commits were lost, fixed by reflog", "git/rebase", &["--at", "2020-01-01"]);
    for ranking in ["hybrid", "title_tags"] {
        let setting = format!("retrieval.match_strategy={ranking}");
        let given = env.run(&["recall", "trouble with rebase again", "--set", &setting]).ok().stdout;
        let place = |text: &str| given.find(text).unwrap_or_else(|| panic!("{ranking}, {text}: {given}"));
        assert!(place("Commits were lost") < place("Deadlocks in rebase"), "{ranking}: {given}");
    }
}

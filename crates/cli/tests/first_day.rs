//! The first day: a project with a handful of memories, and what a new user asks and searches there.

use crate::env::TestEnv;

fn ready() -> TestEnv {
    let env = TestEnv::new();
    env.run(&["init"]).ok();
    env
}

fn add(env: &TestEnv, args: &[&str]) {
    env.at_terminal(&[&["add"], args].concat(), "").ok();
}

fn recalled(env: &TestEnv, question: &str) -> String {
    env.run(&["recall", question]).ok().stdout
}

fn ids(env: &TestEnv, words: &[&str]) -> Vec<String> {
    let hits = env.run(&[&["search", "--json"], words].concat()).ok().items();
    hits.as_array().unwrap().iter().map(|hit| hit["id"].as_str().unwrap().to_owned()).collect()
}

fn both_rankings(env: &TestEnv, check: impl Fn(&str)) {
    for ranking in ["hybrid", "title_tags"] {
        env.run(&["config", "set", "retrieval.match_strategy", ranking]).ok();
        check(ranking);
    }
}

#[test]
fn a_decision_answers_a_question_by_the_general_word_for_what_it_names() {
    let env = ready();
    add(&env, &["decision", "Use PostgreSQL because we need jsonb"]);
    assert!(recalled(&env, "which database?").contains("Use PostgreSQL"));
    assert!(recalled(&env, "why jsonb").contains("Use PostgreSQL"), "a short question is one");
    assert_eq!(recalled(&env, "which CSS framework do we use?"), "", "a small word in common is not enough");
    assert_eq!(recalled(&env, "who approves holidays?"), "");
}

#[test]
fn a_runbook_answers_a_question_that_has_none_of_its_words() {
    let env = ready();
    let steps = ["--field", "steps=Restart it", "--field", "verification=the backlog shrinks"];
    add(&env, &[&["runbook", "The queue worker stops taking jobs"][..], &steps].concat());
    add(&env, &["preference", "Use pnpm because workspaces share one store"]);
    assert!(recalled(&env, "background tasks are not processed").contains("queue worker"));
    assert!(recalled(&env, "which package manager is it?").contains("pnpm"));
}

#[test]
fn a_word_that_every_memory_holds_still_finds_them() {
    let env = ready();
    for line in [
        "The dashboard is read-only for guests",
        "The dashboard loads from a replica",
        "Every dashboard tile has an owner",
    ] {
        add(&env, &["canon", line]);
    }
    let found = recalled(&env, "what do we know about the dashboard?");
    assert!(found.contains("guests") && found.contains("replica") && found.contains("owner"), "{found}");
    assert_eq!(recalled(&env, "what do we know about the invoices?"), "");
}

#[test]
fn the_names_of_a_record_s_fields_answer_nothing() {
    let env = ready();
    add(&env, &["decision", "Use PostgreSQL because we need jsonb"]);
    add(&env, &["constraint", "Card numbers stay away because of PCI"]);
    for question in ["what is the status?", "which severity has the incident?", "is the rationale active?"] {
        assert_eq!(recalled(&env, question), "", "{question}");
    }
}

#[test]
fn search_answers_from_the_first_letter() {
    let env = ready();
    add(&env, &["decision", "Use PostgreSQL because we need jsonb"]);
    add(&env, &["decision", "Keep logs because of audits"]);
    let postgres = "decision:use-postgresql";
    both_rankings(&env, |ranking| {
        for typed in ["p", "po", "Postg", "postgresql"] {
            assert_eq!(ids(&env, &[typed]).first().map(String::as_str), Some(postgres), "{ranking}: {typed}");
        }
    });
}

#[test]
fn filters_mean_the_same_under_both_rankings() {
    let env = ready();
    add(
        &env,
        &[
            "lesson",
            "Rebase lost commits, fixed by reflog",
            "--topic",
            "git/rebase",
            "--field",
            "context=TASK-12",
        ],
    );
    add(
        &env,
        &["lesson", "Rebase twice broke the build", "--topic", "git/rebase", "--field", "context=TASK-1"],
    );
    add(&env, &["decision", "Rebase before a merge because history stays flat", "--tag", "Git"]);
    add(&env, &["note", "The rebase for TASK-12 took a day, since two people had pushed to the branch."]);
    let mut seen: Vec<Vec<Vec<String>>> = Vec::new();
    for ranking in ["hybrid", "title_tags"] {
        env.run(&["config", "set", "retrieval.match_strategy", ranking]).ok();
        let lines: [&[&str]; 13] = [
            &["rebase", "context:TASK-12"],
            &["context:task-12"],
            &["rebase", "kind:decision"],
            &["rebase", "tag:git", "kind:decision"],
            &["rebase", "tag:GIT", "kind:decision"],
            &["rebase", "trust:high"],
            &["--", "rebase", "-commits", "kind:lesson"],
            &["tag:git"],
            &["since:1d"],
            &["rebase", "since:2020-01-01"],
            &["scope:global", "kind:note"],
            &["reb*", "kind:lesson"],
            &["status:retired"],
        ];
        let sorted = |line: &&[&str]| {
            let mut found = ids(&env, line);
            found.sort();
            found
        };
        seen.push(lines.iter().map(sorted).collect());
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0][0].len(), 2, "a lesson and a note name it");
    assert_eq!(seen[0][0], seen[0][1]);
    assert_eq!([8, 10, 11, 12].map(|line| seen[0][line].len()), [4, 1, 2, 0]);
    assert_eq!(seen[0][3], ["decision:rebase-before-a-merge"]);
    assert_eq!(seen[0][3], seen[0][4]);
}

#[test]
fn two_letters_are_a_word_to_search_for() {
    let env = ready();
    add(&env, &["lesson", "CI was slow because Go was compiled anew", "--topic", "build/cache"]);
    add(&env, &["decision", "Run CI at night because it is cheap"]);
    both_rankings(&env, |ranking| {
        assert_eq!(ids(&env, &["CI"]).len(), 2, "{ranking}");
        assert_eq!(ids(&env, &["Go"]).len(), 1, "{ranking}");
    });
}

#[test]
fn punctuation_alone_finds_nothing() {
    let env = ready();
    add(&env, &["decision", "Use PostgreSQL because we need jsonb"]);
    add(&env, &["canon", "The dashboard is read-only"]);
    add(&env, &["note", "The cache key holds the lock file, so a change rebuilds everything."]);
    both_rankings(&env, |ranking| {
        for marks in ["?", "...", "\"\"", "*", "::", "(!)"] {
            assert_eq!(ids(&env, &[marks]), [] as [&str; 0], "{ranking}: {marks}");
        }
    });
}

#[test]
fn a_filter_that_cannot_be_read_or_met_is_named() {
    let env = ready();
    add(&env, &["decision", "Use PostgreSQL because we need jsonb"]);
    both_rankings(&env, |ranking| {
        let refused = env.run(&["search", "jsonb", "since:banana"]);
        assert_ne!(refused.code, Some(0), "{ranking}");
        assert!(
            refused.stderr.contains("since:banana") && refused.stderr.contains("7d"),
            "{}",
            refused.stderr
        );
        env.run(&["search", "jsonb", "kind:decission", "--json"]).fails_with("USAGE", 2);
        let said = env.run(&["search", "jsonb", "tag:nowhere"]).ok().stderr;
        assert!(said.contains("tag:nowhere"), "{ranking}: {said}");
    });
    let refused = env.run(&["add", "decision", "Use Redis because it is quick", "--confidence", "7"]);
    assert!(refused.code != Some(0) && refused.stderr.contains("from 0 to 1"), "{}", refused.stderr);
}

#[test]
fn what_is_out_of_use_is_found_only_when_asked_for() {
    let env = ready();
    add(&env, &["canon", "The dashboard is read-only for guests"]);
    let id = ids(&env, &["dashboard"]).remove(0);
    env.at_terminal(&["retire", &id, "--reason", "no longer"], "").ok();
    both_rankings(&env, |ranking| {
        assert_eq!(ids(&env, &["dashboard"]), [] as [&str; 0], "{ranking}");
        assert_eq!(ids(&env, &["dashboard", "--retired"]), std::slice::from_ref(&id), "{ranking}");
    });
}

#[test]
fn a_keyword_in_another_spelling_is_named() {
    let env = ready();
    add(
        &env,
        &["note", "The cache key holds the lock file, so a change rebuilds everything.", "--tag", "Cache"],
    );
    let found = env.run(&["note", "list", "--keyword", "Cache"]).ok();
    assert!(found.stdout.contains("note:"), "{}", found.stdout);
    let other = env.run(&["note", "list", "--keyword", "cache"]).ok();
    assert!(other.stdout.is_empty() && other.stderr.contains("`Cache`"), "{}{}", other.stdout, other.stderr);
}

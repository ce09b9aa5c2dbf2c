//! What only a person at a terminal may do, and what an agent's process may not pretend.
//!
//! Comes in: a pseudo-terminal, or none; an agent's variable, or none. Goes out: nothing, if trust follows the channel.

use crate::env::{TestEnv, decision, finish, terminal};
use std::io::Read as _;

fn trust_of(env: &TestEnv, name: &str) -> String {
    env.run(&["show", name, "--json"]).ok().json()["trust"].as_str().unwrap().to_owned()
}

#[test]
fn what_a_person_adds_is_trusted_and_what_a_process_adds_is_not() {
    let env = TestEnv::ready();
    env.at_terminal(&["add", "decision", "Use PostgreSQL because we need jsonb"], "").ok();
    env.run(&["add", "decision", "Use Redis because it is fast"]).ok();
    assert_eq!(trust_of(&env, "use-postgresql"), "high");
    assert_eq!(trust_of(&env, "use-redis"), "low");
}

#[test]
fn with_an_agents_variable_set_nobody_at_a_terminal_counts_as_a_person() {
    let mut env = TestEnv::ready();
    env.set("CLAUDECODE", "1");
    env.at_terminal(&["add", "decision", "Use PostgreSQL because we need jsonb"], "").ok();
    assert_eq!(trust_of(&env, "use-postgresql"), "low");
    let ran = env.at_terminal(&["trust", "use-postgresql"], "y\n");
    ran.fails_with("NEEDS_PERSON", 1);
    assert!(ran.stderr.contains("CLAUDECODE"));
    assert_eq!(trust_of(&env, "use-postgresql"), "low");
}

#[test]
fn trust_is_raised_by_a_yes_at_a_terminal_and_ends_with_the_next_byte() {
    let env = TestEnv::ready();
    env.run(&["add", "constraint", "The API allows 100 calls a minute because of our contract"]).ok();
    let name = "the-api-allows-100-calls-a-minute";
    env.run(&["trust", name]).fails_with("NEEDS_PERSON", 1);
    let no = env.at_terminal(&["trust", name], "n\n");
    assert_eq!(no.code, Some(1), "a no is no success");
    assert!(no.stderr.contains("nothing was accepted"));
    assert_eq!(trust_of(&env, name), "low");
    let yes = env.at_terminal(&["trust", name], "y\n").ok();
    assert!(yes.stdout.contains("accepted"));
    assert_eq!(trust_of(&env, name), "high");
    env.run(&["edit", name, "--tag", "limits"]).fails_with("NEEDS_CONFIRMATION", 4);
    assert_eq!(trust_of(&env, name), "high", "what an agent wants changed waits");
    let file = env.memory(&format!("constraints/{name}.json"));
    std::fs::write(&file, std::fs::read_to_string(&file).unwrap().replace("100 calls", "900 calls")).unwrap();
    assert_eq!(trust_of(&env, name), "medium", "edited by hand it is the repository's");
}

#[test]
fn retiring_and_restoring_carries_trust_over() {
    let env = TestEnv::ready();
    env.at_terminal(&["add", "decision", "Use PostgreSQL because we need jsonb"], "").ok();
    env.at_terminal(&["retire", "use-postgresql", "--reason", "done"], "").ok();
    assert_eq!(trust_of(&env, "use-postgresql"), "high");
    env.at_terminal(&["restore", "use-postgresql"], "").ok();
    assert_eq!(trust_of(&env, "use-postgresql"), "high");
}

#[test]
fn review_lists_what_agents_saved_to_steer_and_a_person_accepts_it() {
    let env = TestEnv::ready();
    env.run(&["add", "preference", "Write tests first because it saves time"]).ok();
    env.run(&["add", "decision", "Use PostgreSQL because we need jsonb"]).ok();
    let waiting = env.run(&["review", "--json"]).ok().json();
    assert_eq!(
        waiting["saved_by_agents"].as_array().unwrap().len(),
        1,
        "decisions do not steer every session"
    );
    assert_eq!(waiting["saved_by_agents"][0]["id"], "preference:write-tests-first");
    env.run(&["review", "accept", "--all"]).fails_with("NEEDS_PERSON", 1);
    let shown = env.at_terminal(&["review", "accept", "--all"], "y\n").ok();
    assert!(shown.stdout.contains("Write tests first"), "what is accepted is shown: {shown:?}");
    let waiting = env.run(&["review", "--json"]).ok().json();
    assert_eq!(waiting["saved_by_agents"].as_array().unwrap().len(), 0);
    assert!(env.run(&["review"]).ok().stderr.contains("nothing to review"));
    env.at_terminal(&["review", "accept", "use-postgresql"], "y\n").fails_with("NOT_FOUND", 3);
    env.run(&["review", "reject", "abcdef"]).fails_with("NOT_FOUND", 3);
}

#[test]
fn a_file_that_came_with_the_repository_has_the_repositorys_trust() {
    let env = TestEnv::ready();
    env.write(".claude/memory/decisions/theirs.json", decision("Use what they use").to_string());
    let shown = env.run(&["show", "theirs", "--json"]).ok().json();
    assert_eq!((shown["trust"].as_str(), shown["source"].as_str()), (Some("medium"), Some("repository")));
}

#[test]
fn forgetting_asks_and_does_nothing_without_an_answer() {
    let env = TestEnv::ready();
    env.create("subject", &decision("Use PostgreSQL for orders")).ok();
    env.run(&["forget", "subject"]).fails_with("NEEDS_PERSON", 1);
    let no = env.at_terminal(&["forget", "subject"], "\n");
    assert_eq!(no.code, Some(1));
    assert!(
        no.stderr.contains("Remove every trace of `decision:subject` (Use PostgreSQL for orders)? [y/N]")
    );
    assert_eq!(env.decision("subject")["title"], "Use PostgreSQL for orders");
    env.at_terminal(&["forget", "subject"], "y\n").ok();
    assert!(!env.memory("decisions/subject.json").exists());
}

#[test]
fn guarded_settings_of_the_user_are_changed_by_a_person_only() {
    let env = TestEnv::ready();
    env.run(&["config", "set", "--user", "gate.profile", "seed"]).fails_with("NEEDS_PERSON", 1);
    env.at_terminal(&["config", "set", "--user", "gate.profile", "seed"], "").ok();
    assert_eq!(env.run(&["config", "get", "gate.profile"]).ok().stdout, "seed\n");
}

#[test]
fn an_editor_opens_the_record_and_what_it_saves_is_stored() {
    let mut env = TestEnv::ready();
    env.create("subject", &decision("Use PostgreSQL for orders")).ok();
    env.set("EDITOR", "sed -i s/Orders/Invoices/");
    env.run(&["edit", "subject", "--message", "They are invoices now"]).ok();
    let record = env.decision("subject");
    assert_eq!(record["content"]["context"], "Invoices outgrow files");
    assert_eq!(record["changes"][0]["summary"], "They are invoices now");
    env.set("EDITOR", "true");
    assert!(env.run(&["edit", "subject"]).ok().stderr.contains("nothing changed"));
    env.set("EDITOR", "false");
    env.run(&["edit", "subject"]).fails_with("USAGE", 2);
    env.set("EDITOR", "sed -i d");
    env.run(&["edit", "subject"]).fails_with("INPUT_ERROR", 1);
    assert_eq!(env.decision("subject"), record);
    assert!(env.files_below(&env.memory(".local")).iter().all(|(name, _)| !name.starts_with("edit-")));
}

#[test]
fn colours_are_for_terminals_and_no_color_is_respected() {
    let env = TestEnv::ready();
    env.create("subject", &decision("Use PostgreSQL for orders")).ok();
    let at_terminal = |variables: &[(&str, &str)]| {
        let (master, slave) = terminal();
        let mut command = env.command(crate::env::HEIRLOOM);
        command.args(["show", "subject"]).envs(variables.iter().copied()).stdout(slave);
        let status = command.status().unwrap();
        drop(command);
        let mut seen = Vec::new();
        let _ = std::fs::File::from(master).read_to_end(&mut seen);
        assert!(status.success());
        String::from_utf8(seen).unwrap()
    };
    assert!(at_terminal(&[]).contains("\x1b[1mUse PostgreSQL for orders\x1b[0m"));
    assert!(!at_terminal(&[("NO_COLOR", "1")]).contains('\x1b'));
    assert!(!at_terminal(&[("TERM", "dumb")]).contains('\x1b'));
    assert!(!env.run(&["show", "subject"]).ok().stdout.contains('\x1b'));
    let forced =
        finish(env.command(crate::env::HEIRLOOM).args(["show", "subject"]).env("CLICOLOR_FORCE", "1"));
    assert!(forced.stdout.contains('\x1b'));
}

#[test]
fn escape_sequences_in_a_memory_do_not_reach_the_terminal() {
    let env = TestEnv::ready();
    let mut document = decision("Plain title");
    document["content"]["context"] = serde_json::json!("before \u{1b}]0;owned\u{7} \u{202e}after");
    env.write(".claude/memory/decisions/theirs.json", document.to_string());
    let shown = env.run(&["show", "theirs"]).ok();
    assert!(!shown.stdout.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{shown:?}");
    assert!(!env.run(&["list"]).ok().stdout.contains('\u{1b}'));
}

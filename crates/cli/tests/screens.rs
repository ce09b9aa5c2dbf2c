//! What a person meets at a terminal: questions, keys of the review, long answers, narrow screens.
//!
//! Comes in: keys, typed when the screen asks for them. Goes out: nothing, if the screen, the exit code and the terminal's own modes are as they should be.

use crate::env::{HEIRLOOM, TestEnv, terminal};
use rustix::termios::{LocalModes, SpecialCodeIndex, Termios, Winsize, tcgetattr, tcsetwinsize};
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::Child;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What Ctrl-C and Ctrl-D send.
const CTRL_C: &str = "\u{3}";
const CTRL_D: &str = "\u{4}";

/// A person in front of a terminal.
struct Person {
    child: Child,
    keyboard: std::fs::File,
    /// The program's end, whose modes can be looked at afterwards.
    inside: OwnedFd,
    before: Termios,
    screen: Arc<Mutex<String>>,
    /// How much of the screen was read.
    read: usize,
}

impl Person {
    fn at(env: &TestEnv, columns: u16, args: &[&str], variables: &[(&str, &str)]) -> Person {
        Person::with(env, HEIRLOOM, columns, args, variables)
    }

    fn with(env: &TestEnv, program: &str, columns: u16, args: &[&str], variables: &[(&str, &str)]) -> Person {
        let (master, inside) = terminal();
        let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&inside, size).unwrap();
        let before = tcgetattr(&inside).unwrap();
        let mut command = env.command(program);
        let stream = || inside.try_clone().unwrap();
        command.args(args).stdin(stream()).stdout(stream()).stderr(stream());
        command.env("TERM", "xterm").env("NO_COLOR", "1").env("PAGER", "cat");
        command.envs(variables.iter().copied());
        let child = command.spawn().unwrap();
        drop(command);
        let keyboard = std::fs::File::from(master);
        let mut reader = keyboard.try_clone().unwrap();
        let screen = Arc::new(Mutex::new(String::new()));
        let seen = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count) = reader.read(&mut buffer) {
                seen.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..count]));
            }
        });
        Person { child, keyboard, inside, before, screen, read: 0 }
    }

    /// Types this once that is shown, below everything that was waited for before.
    #[track_caller]
    fn when(&mut self, shown: &str, typed: &str) -> &mut Person {
        for _ in 0..2_000 {
            let screen = self.screen.lock().unwrap().clone();
            if let Some(at) = screen.get(self.read..).and_then(|rest| rest.find(shown)) {
                self.read += at + shown.len();
                // The program says what it asks before it listens in its own way.
                std::thread::sleep(Duration::from_millis(150));
                self.keyboard.write_all(typed.as_bytes()).unwrap();
                return self;
            }
            std::thread::sleep(Duration::from_millis(30));
        }
        panic!("`{shown}` never came: {}", self.screen.lock().unwrap());
    }

    /// Everything that was shown, once it has ended with this code and left the terminal as it was.
    #[track_caller]
    fn ends(mut self, code: i32) -> String {
        let began = std::time::Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if began.elapsed().as_secs() > 60 {
                let _ = self.child.kill();
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(status.code(), Some(code), "{}", self.screen.lock().unwrap());
        std::thread::sleep(Duration::from_millis(100));
        let after = tcgetattr(&self.inside).unwrap();
        let modes =
            |of: &Termios| of.local_modes & (LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
        assert_eq!(modes(&after), modes(&self.before), "the terminal is as it was");
        for key in [SpecialCodeIndex::VINTR, SpecialCodeIndex::VEOL] {
            assert_eq!(after.special_codes[key], self.before.special_codes[key]);
        }
        self.screen.lock().unwrap().replace("\r\n", "\n")
    }
}

fn ready() -> TestEnv {
    let env = TestEnv::new();
    env.run(&["init"]).ok();
    env.at_terminal(&["add", "decision", "Use PostgreSQL because we need jsonb"], "").ok();
    env
}

/// The same with two preferences that an agent saved.
fn with_waiting() -> TestEnv {
    let env = ready();
    env.run(&["add", "preference", "Write tests first because it saves time"]).ok();
    env.run(&["add", "preference", "Deploy at noon because everybody is there"]).ok();
    env
}

fn trusts(env: &TestEnv) -> Vec<String> {
    let all = env.run(&["list", "--kind", "preference", "--json"]).ok().items();
    all.as_array().unwrap().iter().map(|memory| memory["trust"].as_str().unwrap().to_owned()).collect()
}

const KEYS: &str = "q quit ";

#[test]
fn ctrl_c_at_a_question_ends_with_130_and_leaves_the_terminal_as_it_was() {
    let env = ready();
    let mut person = Person::at(&env, 80, &["forget", "postgresql"], &[]);
    person.when("[y/N] ", CTRL_C);
    let screen = person.ends(130);
    assert!(!screen.contains("error:"), "{screen}");
    env.run(&["show", "decision:use-postgresql"]).ok();
    // Half an answer does not count.
    let mut person = Person::at(&env, 80, &["forget", "postgresql"], &[]);
    person.when("[y/N] ", &format!("y{CTRL_C}"));
    person.ends(130);
    env.run(&["show", "decision:use-postgresql"]).ok();
}

#[test]
fn ctrl_c_where_the_pin_is_asked_for_shows_what_is_typed_again() {
    let env = ready();
    let mut person = Person::at(&env, 80, &["config", "pin"], &[]);
    person.when("New PIN:", &format!("12345{CTRL_C}"));
    let screen = person.ends(130);
    assert!(!screen.contains("12345"), "{screen}");
}

#[test]
fn ctrl_c_at_any_question_of_setup_or_import_changes_nothing() {
    let env = ready();
    std::fs::create_dir_all(env.home().join(".claude")).unwrap();
    env.write("CLAUDE.md", "- We use pnpm because workspaces share one store.\n");
    let before = env.files_below(&env.home().join(".claude"));
    let mut person = Person::at(&env, 80, &["setup"], &[]);
    person.when("Connect Claude Code? [y/N] ", "y\n").when("[y/N] ", CTRL_C);
    person.ends(130);
    assert_eq!(env.files_below(&env.home().join(".claude")), before);
    let mut person = Person::at(&env, 80, &["import", "auto"], &[]);
    person.when("Import 1 memory? [y/N] ", CTRL_C);
    person.ends(130);
    assert_eq!(env.run(&["list", "--json"]).ok().items().as_array().unwrap().len(), 1);
}

#[test]
fn the_end_of_the_input_enter_and_n_are_no() {
    let env = ready();
    for answer in [CTRL_D, "\n", "n\n", "maybe\n"] {
        let mut person = Person::at(&env, 80, &["forget", "postgresql"], &[]);
        person.when("[y/N] ", answer);
        assert!(person.ends(1).contains("nothing was removed"), "{answer:?}");
    }
    let mut person = Person::at(&env, 80, &["forget", "postgresql"], &[]);
    person.when("[y/N] ", "y\n");
    person.ends(0);
}

#[test]
fn ctrl_c_in_review_ends_with_130_at_a_key_and_at_its_question() {
    let env = with_waiting();
    let mut person = Person::at(&env, 80, &["review"], &[]);
    person.when(KEYS, CTRL_C);
    person.ends(130);
    let mut person = Person::at(&env, 80, &["review"], &[]);
    person.when(KEYS, "A").when("[y/N] ", CTRL_C);
    person.ends(130);
    assert_eq!(trusts(&env), ["low", "low"]);
}

#[test]
fn accept_all_shows_every_item_before_it_asks_and_a_no_accepts_none() {
    let env = with_waiting();
    let mut person = Person::at(&env, 80, &["review"], &[]);
    person.when(KEYS, "A").when("Accept all 2 as shown above? [y/N] ", "n\n").when(KEYS, "q");
    let screen = person.ends(0);
    let preview = screen.split("Accept all 2").next().unwrap().split(KEYS.trim_end()).nth(1).unwrap();
    assert!(preview.contains("Write tests first") && preview.contains("Deploy at noon"), "{preview}");
    assert_eq!(trusts(&env), ["low", "low"]);
    let mut person = Person::at(&env, 80, &["review"], &[]);
    person.when(KEYS, "A").when("Accept all 2 as shown above? [y/N] ", "y\n");
    let screen = person.ends(0);
    assert!(screen.contains("2 decided; `heirloom undo` undoes the last decision"), "{screen}");
    assert_eq!(trusts(&env), ["high", "high"]);
}

#[test]
fn reject_all_lists_what_goes_before_it_asks() {
    let env = with_waiting();
    let mut person = Person::at(&env, 80, &["review"], &[]);
    person.when(KEYS, "R").when("preference:", "").when("preference:", "");
    person.when("Reject all 2? [y/N] ", "\n").when(KEYS, "q");
    person.ends(0);
    assert_eq!(trusts(&env).len(), 2);
    let mut person = Person::at(&env, 80, &["review"], &[]);
    person.when(KEYS, "R").when("Reject all 2? [y/N] ", "y\n");
    person.ends(0);
    assert_eq!(trusts(&env), [] as [&str; 0]);
}

#[test]
fn a_memory_is_edited_in_review_and_a_decision_there_is_undone() {
    let env = ready();
    env.run(&["add", "preference", "Write tests first because it saves time"]).ok();
    let mut person = Person::at(&env, 80, &["review"], &[("EDITOR", "sed -i s/saves/wins/")]);
    person.when(KEYS, "e").when("changed preference:write-tests-first", "");
    // It is shown again as it is now; a yes counts for exactly that.
    person.when("wins time", "").when(KEYS, "a").when("accepted preference:write-tests-first", "");
    person.ends(0);
    let shown = env.run(&["show", "preference:write-tests-first"]).ok().stdout;
    assert!(shown.contains("wins time") && shown.contains("trust high"), "{shown}");
    env.run(&["add", "preference", "Deploy at noon because everybody is there"]).ok();
    env.run(&["add", "preference", "Pair on Mondays because it spreads knowledge"]).ok();
    let mut person = Person::at(&env, 80, &["review"], &[]);
    person.when(KEYS, "a").when("accepted preference:", "").when(KEYS, "u").when("undone preference:", "");
    person.when("1 of 2", "").when(KEYS, "q");
    person.ends(0);
    assert_eq!(trusts(&env).iter().filter(|trust| *trust == "low").count(), 2);
}

#[test]
fn a_change_that_waits_is_shown_as_a_diff_of_its_fields() {
    let env = ready();
    env.run(&["edit", "decision:use-postgresql", "--field", "decision=Use MySQL"])
        .fails_with("NEEDS_CONFIRMATION", 4);
    let mut person = Person::at(&env, 80, &["review"], &[]);
    person.when("- decision: Use PostgreSQL", "").when("+ decision: Use MySQL", "").when(KEYS, "r");
    assert!(person.ends(0).contains("rejected decision:use-postgresql"));
}

#[test]
fn a_long_answer_goes_through_the_pager_and_a_short_one_does_not() {
    let env = ready();
    let pager = env.bin().join("pager");
    env.write(&pager, "#!/bin/sh\necho PAGED; cat; echo END\n");
    std::fs::set_permissions(&pager, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let pager = pager.to_str().unwrap();
    let screen = Person::at(&env, 80, &["config", "list"], &[("PAGER", pager)]).ends(0);
    assert!(screen.contains("PAGED") && screen.contains("auto_commit"), "{screen}");
    let screen = Person::at(&env, 80, &["list"], &[("PAGER", pager)]).ends(0);
    assert!(!screen.contains("PAGED") && screen.contains("decision:use-postgresql"), "{screen}");
    let screen = Person::at(&env, 80, &["config", "list"], &[("PAGER", "cat")]).ends(0);
    assert!(!screen.contains("PAGED"), "{screen}");
    let screen = Person::at(&env, 80, &["config", "list"], &[("PAGER", pager), ("CLAUDECODE", "1")]).ends(0);
    assert!(!screen.contains("PAGED"), "an agent reads no pages: {screen}");
    let program = env.run(&["config", "list"]).ok().stdout;
    assert!(!program.contains("PAGED"));
}

#[test]
fn lists_and_hits_fit_from_forty_to_two_hundred_columns() {
    let env = ready();
    let long = "Call the payment API at most 100 times a minute because of the contract that we signed with them last year";
    env.at_terminal(&["add", "constraint", long, "--tag", "payment"], "").ok();
    for columns in [40_u16, 80, 200] {
        for args in [&["list"][..], &["search", "payment"], &["undo", "--list"], &["review", "list"]] {
            let screen = Person::at(&env, columns, args, &[]).ends(0);
            // An id is never broken, so that it can be copied.
            let wide = |line: &&str| {
                line.chars().count() > usize::from(columns) && line.split_whitespace().count() > 1
            };
            assert_eq!(screen.lines().find(wide), None, "{args:?} at {columns}");
        }
    }
}

#[test]
fn search_looks_through_one_conversation_only() {
    let env = ready();
    for (session, text) in [("first", "We spoke of the harbour crane"), ("second", "The harbour is closed")] {
        env.run(&["add", "episode", text, "--field", &format!("session={session}")]).ok();
    }
    let ids = |args: &[&str]| {
        let hits = env.run(&[&["search", "harbour", "--tier", "all", "--json"], args].concat()).ok().items();
        hits.as_array().unwrap().len()
    };
    assert_eq!((ids(&[]), ids(&["--session", "first"]), ids(&["--session", "third"])), (2, 1, 0));
    let listed = env.run(&["list", "--tier", "episodic", "--session", "second", "--json"]).ok().items();
    assert_eq!(listed.as_array().unwrap().len(), 1);
}

#[test]
fn tokens_and_episodes_end_after_hours() {
    let env = ready();
    env.at_terminal(&["user", "add", "ana"], "").ok();
    let ends = |args: &[&str]| {
        let made = env.at_terminal(&[&["user", "token", "ana", "--json"], args].concat(), "").ok().json();
        made["expires_at"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_second()
    };
    let (hours, days) = (ends(&["--expires", "12h"]), ends(&["--days", "1"]));
    assert!((days - hours - 12 * 3_600).abs() < 120, "{hours} {days}");
    assert!((ends(&["--ttl", "2w"]) - days - 13 * 86_400).abs() < 120);
    for wrong in ["12", "0h", "banana", "12m", "99999999w"] {
        let refused = env.run(&["user", "token", "ana", "--expires", wrong]);
        refused.fails_with("USAGE", 2);
        assert!(refused.stderr.contains("12h"), "{refused:?}");
    }
    let short =
        env.run(&["add", "episode", "The harbour is closed", "--expires", "3h", "--json"]).ok().json();
    let id = short["id"].as_str().unwrap();
    let shown = env.run(&["show", id, "--json"]).ok().stdout;
    assert!(shown.contains("expires_at"), "{shown}");
    env.run(&["add", "decision", "Use X because y", "--expires", "3h"]).fails_with("USAGE", 2);
}

#[test]
fn the_steps_of_the_readme_work_one_after_the_other_in_an_empty_folder() {
    let readme = include_str!("../../../README.md");
    let env = TestEnv::new();
    let mut in_console = false;
    let mut recalled = String::new();
    for line in readme.lines() {
        match line {
            "```console" => in_console = true,
            "```" => in_console = false,
            _ => {}
        }
        let Some(command) = line.strip_prefix("$ heirloom ").filter(|_| in_console) else { continue };
        // This one is refused on purpose.
        if command.contains("GITHUB_TOKEN") {
            continue;
        }
        let words = format!("heirloom {command}");
        let screen = Person::with(&env, "sh", 100, &["-c", &words], &[]).ends(0);
        if command.starts_with("recall \"the payment") {
            recalled = screen;
        }
    }
    assert!(recalled.contains("Call the payment API"), "{recalled}");
}

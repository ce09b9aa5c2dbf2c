//! `search` without words: filters alone, and the list that narrows at a terminal.

use crate::env::{HEIRLOOM, TestEnv, decision, terminal};
use std::io::{Read as _, Write as _};
use std::process::Child;
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn ready() -> TestEnv {
    let env = TestEnv::new();
    env.run(&["init"]).ok();
    env.create("use-postgres-for-the-queue", &decision("Use Postgres for the queue")).ok();
    env.create("keep-the-logs", &decision("Keep the logs for a year")).ok();
    env.run(&["add", "lesson", "Rebase lost commits, fixed by git reflog", "--topic", "git/rebase"]).ok();
    env
}

fn ids(env: &TestEnv, words: &[&str]) -> Vec<String> {
    let hits = env.run(&[&["search", "--json"], words].concat()).ok().items();
    hits.as_array().unwrap().iter().map(|hit| hit["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn filters_alone_list_what_meets_them_newest_first() {
    let env = ready();
    let queue = "decision:use-postgres-for-the-queue";
    assert_eq!(ids(&env, &["kind:decision"]).len(), 2);
    assert_eq!(ids(&env, &["--kind", "lesson"]).len(), 1);
    assert_eq!(ids(&env, &["tag:storage -logs"]), [queue]);
    assert_eq!(ids(&env, &["\"for the queue\"", "kind:decision"]), [queue]);
    assert_eq!(ids(&env, &["trust:high"]), [] as [&str; 0]);
    assert_eq!(ids(&env, &["since:1d"]).len(), 1, "the decisions are of last winter");
    env.run(&["retire", queue, "--reason", "no longer"]).ok();
    assert_eq!(ids(&env, &["kind:decision"]), ["decision:keep-the-logs"]);
    assert_eq!(ids(&env, &["status:retired"]), [queue]);
    assert_eq!(ids(&env, &["kind:decision", "--include-retired"]).len(), 2);
    env.run(&["add", "episode", "We spoke of the queue"]).ok();
    assert_eq!(ids(&env, &["kind:episode"]).len(), 1);
    let newest: Vec<String> = ids(&env, &["since:1d", "-n", "1"]);
    assert!(newest[0].starts_with("episode:"), "{newest:?}");
    let text = env.run(&["search", "kind:decision"]).ok().stdout;
    assert!(text.contains("Keep the logs for a year"), "{text}");
}

#[test]
fn a_process_that_asks_for_nothing_is_told_what_to_ask() {
    let env = ready();
    env.run(&["search", "--json"]).fails_with("USAGE", 2);
    env.run(&["search", "", "--json"]).fails_with("USAGE", 2);
    env.run(&["search", "-i", "--json"]).fails_with("NEEDS_PERSON", 1);
    env.run(&["config", "set", "retrieval.match_strategy", "title_tags"]).ok();
    env.run(&["search", "--json"]).fails_with("USAGE", 2);
    assert_eq!(ids(&env, &["--kind", "decision"]).len(), 2);
}

/// A person in front of a terminal.
struct Terminal {
    child: Child,
    keyboard: std::fs::File,
    screen: Arc<Mutex<String>>,
}

impl Terminal {
    fn start(env: &TestEnv, args: &[&str]) -> Terminal {
        let (master, slave) = terminal();
        let mut command = env.command(HEIRLOOM);
        command.args(args).stdin(slave.try_clone().unwrap()).stdout(slave.try_clone().unwrap()).stderr(slave);
        let child = command.env("TERM", "xterm").spawn().unwrap();
        drop(command);
        let keyboard = std::fs::File::from(master);
        let mut reader = keyboard.try_clone().unwrap();
        let screen = Arc::new(Mutex::new(String::new()));
        let seen = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // The kernel reports an error, not an end, when the last user of a terminal is gone.
            while let Ok(count) = reader.read(&mut buffer) {
                seen.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..count]));
            }
        });
        Terminal { child, keyboard, screen }
    }

    /// Types, once the screen shows what is waited for; what was on it before does not count.
    #[track_caller]
    fn when(&mut self, shown: &str, typed: &str) -> &mut Terminal {
        for _ in 0..2_000 {
            // The last picture only.
            let last = self.screen.lock().unwrap().rsplit("\x1b[H").next().unwrap_or_default().to_owned();
            if last.contains(shown) && last.contains("Esc to leave") {
                self.keyboard.write_all(typed.as_bytes()).unwrap();
                return self;
            }
            std::thread::sleep(Duration::from_millis(30));
        }
        panic!("`{shown}` never came: {}", self.screen.lock().unwrap());
    }

    /// Everything that was shown, once it has ended well.
    #[track_caller]
    fn end(self) -> String {
        self.end_with(0)
    }

    /// Everything that was shown, once it has ended with this code.
    #[track_caller]
    fn end_with(mut self, code: i32) -> String {
        assert_eq!(self.child.wait().unwrap().code(), Some(code));
        std::thread::sleep(Duration::from_millis(100));
        self.screen.lock().unwrap().clone()
    }
}

/// What stands on the ordinary screen after the list is gone.
fn after(screen: &str) -> &str {
    screen.rsplit("\x1b[?1049l").next().unwrap()
}

#[test]
fn typing_narrows_the_list_and_enter_shows_the_choice() {
    let env = ready();
    let mut terminal = Terminal::start(&env, &["search"]);
    terminal.when("Keep the logs", "postgers que");
    terminal.when("search: postgers que_", "").when("> decision  Use Postgres for the queue", "\r");
    let screen = terminal.end();
    assert!(after(&screen).contains("decision:use-postgres-for-the-queue"), "{screen:?}");
    assert!(screen.contains("\x1b[?25h"), "the cursor is back");
}

#[test]
fn arrows_move_the_choice_and_esc_leaves_without_a_word() {
    let env = ready();
    let mut terminal = Terminal::start(&env, &["search", "-i", "kind:decision"]);
    terminal.when("search: kind:decision_", "\x1b[B");
    let second = {
        let screen = terminal.screen.lock().unwrap().clone();
        let first_row = screen.split("> decision  ").nth(1).unwrap().to_owned();
        if first_row.starts_with("Keep") { "> decision  Use" } else { "> decision  Keep" }
    };
    terminal.when(second, "\x1b");
    let screen = terminal.end();
    assert_eq!(after(&screen), "", "{screen:?}");
}

#[test]
fn what_does_not_fit_says_so_and_can_be_taken_back() {
    let env = ready();
    let mut terminal = Terminal::start(&env, &["search"]);
    terminal.when("Keep the logs", "zzzzqqqq");
    terminal.when("no matches", "\x15kind:lesson");
    terminal.when("> lesson", "\x03");
    assert_eq!(after(&terminal.end_with(130)), "", "Ctrl-C leaves with its own code");
}

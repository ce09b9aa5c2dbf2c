//! An agent's own interface on a terminal that nobody looks at, by way of tmux.
//!
//! Comes in: a command line and an environment. Goes out: what the screen shows. Never here: a server that outlives its check.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// A terminal.
pub(super) struct Screen {
    name: String,
}

impl Screen {
    /// Starts a command on a terminal of its own.
    pub(super) fn start(
        name: &str,
        words: &[String],
        folder: &Path,
        variables: &[(String, String)],
    ) -> Result<Screen, String> {
        let screen = Screen { name: format!("heirloom-{}-{name}", std::process::id()) };
        let mut tmux = screen.tmux(&["-f", "/dev/null", "new-session", "-d", "-x", "150", "-y", "50", "-c"]);
        tmux.arg(folder).args(words).env_clear().envs(variables.iter().cloned());
        tmux.env("TERM", "xterm-256color");
        crate::run::output(&mut tmux)?;
        // What an ended command has shown can still be read.
        let _ = crate::run::output(&mut screen.tmux(&["set-option", "-g", "remain-on-exit", "on"]));
        Ok(screen)
    }

    fn tmux(&self, words: &[&str]) -> Command {
        let mut tmux = Command::new("tmux");
        tmux.args(["-L", &self.name]).args(words);
        tmux
    }

    /// What is shown, and what has gone off the screen.
    pub(super) fn text(&self) -> String {
        crate::run::output(&mut self.tmux(&["capture-pane", "-p", "-S", "-2000"])).unwrap_or_default()
    }

    /// Waits until a text is shown; says whether it was.
    pub(super) fn wait(&self, text: &str, patience: Duration) -> bool {
        let end = Instant::now() + patience;
        while Instant::now() < end {
            if self.text().contains(text) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        false
    }

    /// Waits until the command has ended; says whether it did.
    pub(super) fn ended(&self, patience: Duration) -> bool {
        let end = Instant::now() + patience;
        while Instant::now() < end {
            let dead = crate::run::output(&mut self.tmux(&["list-panes", "-F", "#{pane_dead}"]));
            if dead.is_err() || dead.is_ok_and(|dead| dead.trim() == "1") {
                return true;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        false
    }

    pub(super) fn key(&self, name: &str) {
        let _ = crate::run::output(&mut self.tmux(&["send-keys", name]));
        std::thread::sleep(Duration::from_millis(400));
    }

    /// Types a line.
    pub(super) fn say(&self, text: &str) {
        let _ = crate::run::output(&mut self.tmux(&["send-keys", "-l", text]));
        std::thread::sleep(Duration::from_millis(700));
        self.key("Enter");
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = crate::run::output(&mut self.tmux(&["kill-server"]));
    }
}

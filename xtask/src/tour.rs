//! The console blocks of `README.md` and of the book: every one is run, page by page, in one fresh project each, as a person at a terminal would.
//!
//! Comes in: the page and the program. Goes out: the page with the outputs the commands give now; an output that differs only in times stays
//! as it is. Never here: the reader's own home, settings or environment.

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const WIDTH: u16 = 100;
const FENCE: &str = "```";

/// The page with every output as it is now.
pub(crate) fn replay(page: &str, heirloom: &Path) -> Result<String, String> {
    let stage = Stage::new(heirloom)?;
    let mut out = String::new();
    let mut lines = page.lines().peekable();
    let mut in_block = false;
    while let Some(line) = lines.next() {
        push(&mut out, line);
        match (in_block, line.strip_prefix("$ ")) {
            (false, _) => in_block = line == "```console",
            (true, None) => in_block = line != FENCE,
            (true, Some(command)) => {
                let mut old = String::new();
                while let Some(line) = lines.next_if(|line| !line.starts_with("$ ") && *line != FENCE) {
                    push(&mut old, line);
                }
                let new = stage.run(command)?;
                out.push_str(if masked(&old) == masked(&new) { &old } else { &new });
            }
        }
    }
    Ok(out)
}

fn push(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// A folder with a home and a project, gone when it is dropped.
pub(crate) struct Stage {
    folder: PathBuf,
    path: String,
}

impl Stage {
    pub(crate) fn new(heirloom: &Path) -> Result<Stage, String> {
        let folder = std::env::temp_dir().join(format!("heirloom-tour-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        for inner in ["home", "shop", "bin"] {
            std::fs::create_dir_all(folder.join(inner)).map_err(|e| format!("{}: {e}", folder.display()))?;
        }
        // An installed program, so that `setup` has a path that stays.
        let program = folder.join("bin/heirloom");
        std::os::unix::fs::symlink(heirloom, &program).map_err(|e| format!("{}: {e}", program.display()))?;
        let path = format!("{}/bin:/usr/local/bin:/usr/bin:/bin", folder.display());
        let stage = Stage { folder, path };
        stage.run("git init --quiet")?;
        Ok(stage)
    }

    /// What a command shows on a terminal.
    pub(crate) fn run(&self, command: &str) -> Result<String, String> {
        let failed = |what: &str, e: &dyn std::fmt::Display| format!("`{command}`: {what}: {e}");
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
            .and_then(|terminal| grantpt(&terminal).map(|()| terminal))
            .and_then(|terminal| unlockpt(&terminal).map(|()| terminal))
            .map_err(|e| failed("no terminal", &e))?;
        let inside =
            ioctl_tiocgptpeer(&terminal, OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
                .map_err(|e| failed("no terminal", &e))?;
        let size = Winsize { ws_row: 50, ws_col: WIDTH, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&inside, size).map_err(|e| failed("no terminal", &e))?;
        let stream = || inside.try_clone().map(Stdio::from).map_err(|e| failed("no terminal", &e));
        let mut child = Command::new("sh")
            .args(["-c", command])
            .current_dir(self.folder.join("shop"))
            .env_clear()
            .env("PATH", &self.path)
            .env("HOME", self.folder.join("home"))
            .env("LANG", "C.UTF-8")
            .env("NO_COLOR", "1")
            .env("PAGER", "cat")
            .env("GITHUB_TOKEN", made_up_token())
            .stdin(stream()?)
            .stdout(stream()?)
            .stderr(stream()?)
            .spawn()
            .map_err(|e| failed("cannot be started", &e))?;
        drop(inside);
        let mut bytes = Vec::new();
        // When the last program lets go of the terminal, reading ends with an error; what was read until then is all there is.
        let _ = File::from(terminal).read_to_end(&mut bytes);
        child.wait().map_err(|e| failed("cannot be waited for", &e))?;
        let text = String::from_utf8(bytes).map_err(|e| failed("no UTF-8", &e))?;
        // The reader's home, and the folder beside it that the project is in.
        let (home, folder) = (self.folder.join("home"), &self.folder);
        let text = text.replace("\r\n", "\n").replace(&home.display().to_string(), "~");
        Ok(text.replace(&folder.display().to_string(), "~"))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Something for the gate to refuse; put together here, so that no scanner takes this file for a leak.
fn made_up_token() -> String {
    format!("gh{}_{}", "p", "x7Kq2mZ9vB4nT6wR1yL8sD3fG5hJ0cAeQiUo")
}

/// The text with days and times of day made the same everywhere.
pub(crate) fn masked(text: &str) -> String {
    const SHAPES: [(&str, &str); 3] =
        [("dddd-dd-dd", "<day>"), ("Tdd:dd:ddZ", "<time>"), ("d KB on disk", "<size>")];
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        match SHAPES.iter().find(|(shape, _)| has_shape(rest, shape)) {
            Some((shape, name)) => {
                out.push_str(name);
                rest = &rest[shape.len()..];
            }
            None => {
                out.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    out
}

fn has_shape(text: &str, shape: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= shape.len()
        && shape
            .bytes()
            .zip(bytes)
            .all(|(wanted, b)| if wanted == b'd' { b.is_ascii_digit() } else { wanted == *b })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_that_differ_only_in_times_are_the_same() {
        assert_eq!(masked("at 2026-01-02T03:04:05Z: 5 é"), masked("at 2031-12-31T23:59:59Z: 5 é"));
        assert_ne!(masked("5 entries"), masked("6 entries"));
    }

    #[test]
    fn only_console_blocks_are_run_and_new_outputs_replace_old_ones() {
        let page = "```sh\n$ echo no\n```\n```console\n$ echo yes\nold\n$ pwd\n```\nend\n";
        let replayed = replay(page, Path::new("/nowhere/heirloom")).unwrap();
        assert_eq!(replayed, "```sh\n$ echo no\n```\n```console\n$ echo yes\nyes\n$ pwd\n~/shop\n```\nend\n");
    }

    #[test]
    fn a_command_of_the_tour_sees_a_terminal() {
        let stage = Stage::new(Path::new("/nowhere/heirloom")).unwrap();
        assert_eq!(stage.run("test -t 0 && test -t 1 && test -t 2 && echo terminal").unwrap(), "terminal\n");
    }
}

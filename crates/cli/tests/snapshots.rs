//! The program's whole voice: what every command prints at a terminal of 80 columns, in one folder of plain text files.
//!
//! Comes in: `fixtures/snapshots/*.txt`, each a session in a fresh project: `$ ` begins a command, `< ` what is typed into it, `// ` a remark, and everything else
//! is what must be printed; `[exit N]` stands below a command that does not end with 0. Goes out: nothing, if each command still prints that, times, hashes and random
//! ids aside. With `UPDATE_SNAPSHOTS=1` the files are written instead.

use crate::env::{TestEnv, terminal};
use regex::Regex;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/snapshots")
}

/// What differs from run to run, and what stands for it.
static PASSING: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let rows = [
        (r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z", "<time>"),
        (r"\d{4}-\d{2}-\d{2}T[\d:]*…", "<time>"),
        (r"\d{4}-\d{2}-\d{2}", "<day>"),
        (r"account:[a-z_][a-z0-9_-]*", "account:<user>"),
        (r"(facts of|own account,|you are) [a-z_][a-z0-9_-]*", "$1 <user>"),
        (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<uuid>"),
        (r"\b(sha256:)?[0-9a-f]{64}\b", "<hash>"),
        // A random id that a table shortened.
        (r"(note:|fact:|episode:|register:|canon:|#)[0-9a-f]{0,12}…[0-9a-f-]*", "$1<id>"),
        (r"\b[0-9a-f]{10,40}\b", "<key>"),
        (r"\bhlm_[A-Za-z0-9_-]+", "<token>"),
        (r"\b\d+\.\d ms\b", "<ms>"),
        (r"\b\d+ KB\b", "<size>"),
        (r"\bheirloom \d+\.\d+\.\d+\b", "heirloom <version>"),
        (r"[ \t]+\n", "\n"),
    ];
    rows.into_iter().map(|(shape, name)| (Regex::new(shape).unwrap(), name)).collect()
});

fn masked(text: &str, env: &TestEnv) -> String {
    let mut text = text.replace("\r\n", "\n");
    let places =
        [(env.project(), "<project>"), (env.home(), "~"), (env.bin(), "<bin>"), (env.base(), "<base>")];
    for (place, name) in places {
        text = text.replace(&place.display().to_string(), name);
    }
    PASSING.iter().fold(text, |text, (shape, name)| shape.replace_all(&text, *name).into_owned())
}

/// What a command shows on a terminal of 80 columns, and how it ends.
fn shown(env: &TestEnv, command: &str, typed: &str) -> String {
    let (master, slave) = terminal();
    let size = rustix::termios::Winsize { ws_row: 50, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&slave, size).unwrap();
    // What is typed is in the file already; a terminal that echoes would print it before the question.
    let mut modes = rustix::termios::tcgetattr(&slave).unwrap();
    modes.local_modes.remove(rustix::termios::LocalModes::ECHO);
    rustix::termios::tcsetattr(&slave, rustix::termios::OptionalActions::Now, &modes).unwrap();
    let mut shell = env.command("timeout");
    shell.args(["60", "sh", "-c", command]).env("NO_COLOR", "1").env("TERM", "xterm").env("PAGER", "cat");
    shell.stdin(slave.try_clone().unwrap()).stdout(slave.try_clone().unwrap()).stderr(slave);
    let mut child = shell.spawn().unwrap();
    drop(shell);
    let mut master = std::fs::File::from(master);
    // Whoever asks once more gets the end of the input. A list of keys must end with `q`: its terminal knows no such end.
    master.write_all(format!("{typed}\u{4}\u{4}").as_bytes()).unwrap();
    let mut seen = Vec::new();
    // The kernel reports an error, not an end, when the last user of a terminal is gone.
    let _ = master.read_to_end(&mut seen);
    let status = child.wait().unwrap();
    let mut text = masked(&String::from_utf8_lossy(&seen), env);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    if !status.success() {
        let _ = writeln!(
            text,
            "[exit {}]",
            status.code().map_or("by signal".to_owned(), |code| code.to_string())
        );
    }
    text
}

/// The session with what its commands print now.
fn replayed(script: &str, env: &TestEnv) -> String {
    let mut out = String::new();
    let mut lines = script.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(command) = line.strip_prefix("$ ") else {
            if line.starts_with("// ") || line.is_empty() {
                out.push_str(line);
                out.push('\n');
            }
            continue;
        };
        let mut typed = String::new();
        let _ = writeln!(out, "$ {command}");
        while let Some(keys) = lines.next_if(|line| line.starts_with("< ")) {
            let _ = writeln!(out, "{keys}");
            typed.push_str(&keys[2..].replace("\\n", "\n").replace("^C", "\u{3}").replace("^D", "\u{4}"));
        }
        // Everything up to the next command is what it printed before.
        while lines.next_if(|line| !line.starts_with("$ ") && !line.starts_with("// ")).is_some() {}
        out.push_str(&shown(env, command, &typed));
        out.push('\n');
    }
    out.trim_end().to_owned() + "\n"
}

#[test]
fn every_command_prints_what_the_snapshots_say() {
    let update = std::env::var_os("UPDATE_SNAPSHOTS").is_some();
    let mut names: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "txt"))
        .collect();
    names.sort();
    assert!(names.len() >= 8, "{names:?}");
    let mut wrong = Vec::new();
    for path in names {
        let script = std::fs::read_to_string(&path).unwrap();
        let mut env = TestEnv::new();
        env.set("GITHUB_TOKEN", &format!("gh{}_{}", "p", "x7Kq2mZ9vB4nT6wR1yL8sD3fG5hJ0cAeQiUo"));
        let now = replayed(&script, &env);
        if update {
            std::fs::write(&path, now).unwrap();
        } else if now != script {
            let pairs = now.lines().zip(script.lines()).enumerate();
            let (at, (is, was)) = pairs.into_iter().find(|(_, (is, was))| is != was).unwrap_or((0, ("", "")));
            wrong.push(format!("{}:{}\n  is  {is}\n  was {was}", path.display(), at + 1));
        }
    }
    assert!(wrong.is_empty(), "UPDATE_SNAPSHOTS=1 writes them:\n{}", wrong.join("\n"));
}

#[test]
fn every_command_people_use_is_in_a_snapshot() {
    let all: String = std::fs::read_dir(folder())
        .unwrap()
        .filter_map(|entry| std::fs::read_to_string(entry.unwrap().path()).ok())
        .collect();
    let listed = TestEnv::new().run(&["help", "commands"]).ok().stdout;
    let names =
        listed.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    let missing: Vec<&str> = names
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| !all.contains(&format!("heirloom {name}")))
        .collect();
    assert!(missing.is_empty(), "no snapshot has {missing:?}");
    assert!(all.contains("--json"));
}

#[test]
fn the_first_steps_work_as_they_are_printed() {
    let env = TestEnv::new();
    let page = env.run(&[]).ok().stdout;
    let steps: Vec<&str> = page
        .lines()
        .skip_while(|line| !line.starts_with("First steps"))
        .skip(1)
        .take_while(|line| !line.is_empty())
        .map(str::trim)
        .collect();
    assert_eq!(steps.len(), 4, "{steps:?}");
    let mut last = String::new();
    for step in &steps[..3] {
        last = shown(&env, step, "");
        assert!(!last.contains("[exit"), "{step}: {last}");
    }
    assert!(last.contains("Use PostgreSQL"), "the recall finds something: {last}");
    // What `init` prints as next steps works too.
    let other = TestEnv::new();
    let printed = shown(&other, "heirloom init", "");
    let steps: Vec<&str> = printed.lines().filter_map(|line| line.strip_prefix("  heirloom ")).collect();
    assert!(steps.len() >= 2, "{printed}");
    for step in steps {
        last = shown(&other, &format!("heirloom {step}"), "");
        assert!(!last.contains("[exit"), "{step}: {last}");
    }
    assert!(last.contains("Use PostgreSQL"), "{last}");
}

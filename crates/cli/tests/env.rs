//! A project, a home and a scratch folder of their own, and the binary in them.
//!
//! Comes in: arguments. Goes out: what the process said and how it ended. The environment holds nothing but what is set here, so neither
//! the developer's settings nor an agent's variables reach the binary.

use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The binary under test.
pub(crate) const HEIRLOOM: &str = env!("CARGO_BIN_EXE_heirloom");

/// The memory folder from the project folder.
pub(crate) const ROOT: &str = ".claude/memory";

/// A temporary world.
pub(crate) struct TestEnv {
    base: TempDir,
    variables: Vec<(String, String)>,
}

/// What a process said and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The exit code; `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// The same, if it ended well.
    #[track_caller]
    pub(crate) fn ok(self) -> Ran {
        assert_eq!(self.code, Some(0), "{}\n{}", self.stdout, self.stderr);
        self
    }

    /// Stdout as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// The memories of an answer of `list`, the hits of one of `search`: whatever the answer is about. Another answer as it is.
    #[track_caller]
    pub(crate) fn items(&self) -> Value {
        let answer = self.json();
        let items = ["memories", "hits"].iter().find_map(|key| answer.get(key)).cloned();
        items.unwrap_or(answer)
    }

    /// The first word of an error block of `record write`.
    pub(crate) fn kind(&self) -> &str {
        self.stdout.lines().next().unwrap_or_default()
    }

    /// Checks exit code, stable code and that a next step is given, on both faces of an error.
    #[track_caller]
    pub(crate) fn fails_with(&self, code: &str, exit: i32) {
        assert_eq!(self.code, Some(exit), "{self:?}");
        if self.stdout.starts_with('{') {
            let error = self.json()["error"].clone();
            assert_eq!(error["code"], code, "{self:?}");
            assert!(
                !error["hint"].as_str().unwrap().is_empty() && !error["message"].as_str().unwrap().is_empty()
            );
            assert!(error["facts"].is_array());
        } else {
            assert!(self.stderr.contains(&format!("[{code}]")), "{self:?}");
            assert!(self.stderr.contains("next: "), "{self:?}");
        }
    }
}

impl TestEnv {
    /// An empty project.
    pub(crate) fn new() -> TestEnv {
        // Input files are taken from /tmp, whatever the developer's TMPDIR says.
        let base = tempfile::Builder::new().prefix("heirloom-").tempdir_in("/tmp").unwrap();
        let env = TestEnv { base, variables: Vec::new() };
        for folder in [env.project(), env.home(), env.scratch(), env.bin()] {
            std::fs::create_dir(folder).unwrap();
        }
        // As a developer has it: `setup` writes no path of a build folder, but that of a link somebody made.
        std::os::unix::fs::symlink(HEIRLOOM, env.program()).unwrap();
        env
    }

    /// A project after `init` that recalls by titles and tags, which is what most tests are about.
    pub(crate) fn ready() -> TestEnv {
        let env = TestEnv::new();
        env.run(&["init"]).ok();
        // By hand, so that the audit begins with what a test does.
        let file = env.memory("memory-config.json");
        let mut settings: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        settings["retrieval"]["match_strategy"] = "title_tags".into();
        std::fs::write(&file, settings.to_string()).unwrap();
        env
    }

    /// Sets a variable for every process from now on.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> &mut TestEnv {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Takes a variable away from every process from now on.
    pub(crate) fn unset(&mut self, name: &str) -> &mut TestEnv {
        self.variables.retain(|(known, _)| known != name);
        self
    }

    pub(crate) fn base(&self) -> PathBuf {
        std::fs::canonicalize(self.base.path()).unwrap()
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.base().join("project")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.base().join("home")
    }

    /// The folder of the search path that has the binary under test.
    pub(crate) fn bin(&self) -> PathBuf {
        self.base().join("bin")
    }

    /// The binary under test as the search path has it.
    pub(crate) fn program(&self) -> PathBuf {
        self.bin().join("heirloom")
    }

    /// A folder below /tmp for input files.
    pub(crate) fn scratch(&self) -> PathBuf {
        self.base().join("scratch")
    }

    /// A path in the memory folder.
    pub(crate) fn memory(&self, rest: &str) -> PathBuf {
        self.project().join(ROOT).join(rest)
    }

    /// A command with nothing but our own environment, in the project folder.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var("PATH").unwrap_or_default();
        command
            .env_clear()
            .env("PATH", format!("{}:{path}", self.bin().display()))
            .env("HOME", self.home())
            .env("XDG_CONFIG_HOME", self.home().join("config"))
            .env("XDG_DATA_HOME", self.home().join("data"))
            .env("USER", "tester")
            .env("LC_ALL", "C.UTF-8")
            .env("HEIRLOOM_QUIET", "1")
            .env("TZ", "UTC")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", "Tester")
            .env("GIT_AUTHOR_EMAIL", "tester@example.org")
            .env("GIT_COMMITTER_NAME", "Tester")
            .env("GIT_COMMITTER_EMAIL", "tester@example.org")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.project())
            .stdin(Stdio::null());
        command
    }

    /// Runs heirloom.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        finish(self.command(HEIRLOOM).args(args))
    }

    /// Runs heirloom with text on standard input.
    pub(crate) fn run_with(&self, args: &[&str], stdin: &[u8]) -> Ran {
        let mut command = self.command(HEIRLOOM);
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A process that does not want all of it closes the pipe; that is its right.
        let _ = child.stdin.take().unwrap().write_all(stdin);
        ran(child.wait_with_output().unwrap())
    }

    /// Runs heirloom with stdin and stderr on a terminal, as a person at one would, typing `typed`.
    pub(crate) fn at_terminal(&self, args: &[&str], typed: &str) -> Ran {
        self.at_terminal_with(args, typed, &[])
    }

    /// The same with variables for this process alone.
    pub(crate) fn at_terminal_with(&self, args: &[&str], typed: &str, variables: &[(&str, &str)]) -> Ran {
        let (master, slave) = terminal();
        let mut command = self.command(HEIRLOOM);
        command.envs(variables.iter().copied());
        command.args(args).stdin(slave.try_clone().unwrap()).stderr(slave).stdout(Stdio::piped());
        command.env("NO_COLOR", "1");
        let child = command.spawn().unwrap();
        // Only the child holds the terminal's other end now, so reading stops when it ends.
        drop(command);
        let mut master = std::fs::File::from(master);
        master.write_all(typed.as_bytes()).unwrap();
        let reader = std::thread::spawn(move || {
            let mut seen = Vec::new();
            // The kernel reports an error, not an end, when the last user of a terminal is gone.
            let _ = master.read_to_end(&mut seen);
            seen
        });
        let output = child.wait_with_output().unwrap();
        let seen = reader.join().unwrap();
        Ran {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8_lossy(&seen).replace("\r\n", "\n"),
        }
    }

    /// Runs git and expects it to work.
    #[track_caller]
    pub(crate) fn git(&self, args: &[&str]) -> String {
        finish(self.command("git").args(args)).ok().stdout
    }

    /// Writes a file, making its folders.
    pub(crate) fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.project().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Hands a document over in the scratch folder; the path for `--input`.
    pub(crate) fn input(&self, document: &Value) -> String {
        self.raw_input(document.to_string().as_bytes())
    }

    /// Hands bytes over in the scratch folder.
    pub(crate) fn raw_input(&self, bytes: &[u8]) -> String {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static COUNTER: AtomicUsize = AtomicUsize::new(0);
        let name = format!("input-{}.json", COUNTER.fetch_add(1, Ordering::Relaxed));
        let path = self.scratch().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// `record write --action create` of a decision.
    pub(crate) fn create(&self, name: &str, document: &Value) -> Ran {
        let (target, input) = (target(name), self.input(document));
        self.run(&creating(&target, &input))
    }

    /// `record write --action update`, with the version token of what is there.
    pub(crate) fn update(&self, name: &str, document: &Value) -> Ran {
        let (target, input, hash) = (target(name), self.input(document), self.token(name));
        self.run(&[
            "record", "write", "--action", "update", "--target", &target, "--input", &input, "--hash", &hash,
        ])
    }

    /// The version token of a stored decision.
    pub(crate) fn token(&self, name: &str) -> String {
        heirloom_core::hash::sha256(&std::fs::read(self.project().join(target(name))).unwrap())
    }

    /// A stored decision.
    #[track_caller]
    pub(crate) fn decision(&self, name: &str) -> Value {
        let bytes =
            std::fs::read(self.project().join(target(name))).unwrap_or_else(|e| panic!("{name}: {e}"));
        serde_json::from_slice(&bytes).unwrap_or_else(|e| panic!("{name} is not whole: {e}"))
    }

    /// The entry lines of `index.md`.
    pub(crate) fn index(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.memory("index.md")).unwrap_or_default();
        text.lines().filter(|line| line.starts_with("- [")).map(str::to_owned).collect()
    }

    /// Every file below a folder, by its path from there.
    pub(crate) fn files_below(&self, folder: &Path) -> Vec<(String, Vec<u8>)> {
        let mut found = Vec::new();
        walk(folder, folder, &mut found);
        found.sort();
        found
    }

    /// What killed or careless writers would leave: temp files, marks, folders set aside.
    pub(crate) fn litter(&self) -> Vec<String> {
        let names = self.files_below(&self.project().join(ROOT)).into_iter().map(|(name, _)| name);
        names.filter(|n| n.contains("tmp-") || n.contains("index-owes") || n.contains("set-aside")).collect()
    }
}

fn walk(top: &Path, folder: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            walk(top, &path, found);
        } else if kind.is_file() {
            let name = path.strip_prefix(top).unwrap().to_string_lossy().into_owned();
            match std::fs::read(&path) {
                Ok(bytes) => found.push((name, bytes)),
                // What a process in the background makes and renames may be gone since it was listed.
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
                Err(e) => panic!("{}: {e}", path.display()),
            }
        }
    }
}

/// The arguments that create a decision.
pub(crate) fn creating<'a>(target: &'a str, input: &'a str) -> [&'a str; 10] {
    ["record", "write", "--action", "create", "--category", "decision", "--target", target, "--input", input]
}

/// The target of a decision.
pub(crate) fn target(name: &str) -> String {
    format!("{ROOT}/decisions/{name}.json")
}

/// A whole decision.
pub(crate) fn decision(title: &str) -> Value {
    json!({
        "schema_version": "1.0",
        "category": "decision",
        "id": "any",
        "title": title,
        "record_status": "active",
        "created_at": "2026-01-10T09:00:00Z",
        "updated_at": "2026-01-10T09:00:00Z",
        "tags": ["storage"],
        "content": {
            "status": "accepted",
            "context": "Orders outgrow files",
            "decision": title,
            "rationale": ["It has row locks"],
        },
    })
}

/// Runs a command to its end.
pub(crate) fn finish(command: &mut Command) -> Ran {
    ran(command.output().unwrap())
}

/// What a process that ended said.
pub(crate) fn ran(output: std::process::Output) -> Ran {
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Both ends of a new pseudo-terminal.
pub(crate) fn terminal() -> (OwnedFd, OwnedFd) {
    use rustix::fs::{Mode, OFlags, open};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let slave = open(&*name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap();
    (master, slave)
}

/// Waits for what another process does in its own time; a minute is too long on any machine.
#[track_caller]
pub(crate) fn until(what: &str, done: impl Fn() -> bool) {
    let began = std::time::Instant::now();
    while !done() {
        assert!(began.elapsed().as_secs() < 60, "it never came that {what}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

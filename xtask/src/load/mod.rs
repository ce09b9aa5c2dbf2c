//! `load`: how much a server takes, beside what the engine does in one process, what the command line does in sixteen, and what other memory servers do.
//!
//! Comes in: how many memories, users, connections and seconds. Goes out: requests a second, p50 and p99 of search, add and recall, closed loop and
//! open loop, the server's own memory in between, and a line that says for each ratio that must hold whether it did. This process makes the requests,
//! the server is another one. Never here: a time that is asserted; what must hold is a ratio of the same run.

mod loops;
mod rivals;

use crate::server::{Release, Server as Postgres};
use crate::stress::tiers::{Dice, KEEPER_TOKEN, engine_at, fill, sentence, set_up, told};
use crate::{Outcome, report, workspace};
use heirloom_core::{Scopes, time};
use heirloom_engine::Call;
use heirloom_engine::shelf::tiers::{
    SqliteStore, Terms, TierStore, UserContext, give_token, new_token, put_user,
};
use heirloom_engine::verbs::search::{Search, search};
use heirloom_postgres::PgStore;
use jiff::Timestamp;
use loops::{closed, open, warm};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const USAGE: &str = "usage: load [--memories N] [--users N] [--connections N] [--seconds N] [--postgres] [--no-rivals] [--program FILE]";

/// What must hold of one run: over HTTP at least so much of what one process finds, additions at least those of sixteen processes, the slowest
/// hundredth at most so many times the median, memory at the end at most so much of that after a third.
const SEARCH_SHARE: f64 = 0.6;
const ADD_SHARE: f64 = 1.0;
const SPREAD: f64 = 10.0;
const GROWTH: f64 = 1.1;

#[derive(Debug, Clone)]
struct Size {
    memories: usize,
    users: usize,
    connections: usize,
    seconds: u64,
    postgres: bool,
    rivals: bool,
    /// A program that is there already, in place of one that is built.
    program: Option<PathBuf>,
}

fn parsed(words: &[String]) -> Result<Size, String> {
    let mut size = Size {
        memories: 100_000,
        users: 64,
        connections: 64,
        seconds: 60,
        postgres: false,
        rivals: true,
        program: None,
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--program" {
            size.program = Some(PathBuf::from(words.next().ok_or(USAGE)?));
            continue;
        }
        let mut number =
            || words.next().and_then(|n| n.parse::<usize>().ok()).filter(|n| *n > 0).ok_or(USAGE);
        match word.as_str() {
            "--memories" => size.memories = number()?,
            "--users" => size.users = number()?,
            "--connections" => size.connections = number()?,
            "--seconds" => size.seconds = number()? as u64,
            "--postgres" => size.postgres = true,
            "--no-rivals" => size.rivals = false,
            // Without waiting for an optimised build: to try the task, not to measure.
            "--debug" => {}
            _ => return Err(USAGE.to_owned()),
        }
    }
    Ok(size)
}

pub(crate) fn run(words: &[String]) -> Outcome {
    let size = parsed(words)?;
    let folder = tempfile::tempdir_in("/tmp").map_err(|e| e.to_string())?;
    let database = size.postgres.then(|| {
        let server = Postgres::start(Release::Eighteen, &["shared_buffers=512MB", "max_connections=200"]);
        set_up(&server, "load").map(|address| (server, address))
    });
    let database = database.transpose()?;
    let store: Arc<dyn TierStore> = match &database {
        None => Arc::new(SqliteStore::at(&folder.path().join("data/tiers"))),
        Some((_, address)) => Arc::new(PgStore::at(address).map_err(told)?),
    };
    let tokens = filled(&store, folder.path(), &size)?;
    let program = match &size.program {
        Some(program) => program.clone(),
        None => workspace::built(&mut workspace::build(if cfg!(debug_assertions) {
            &[]
        } else {
            &["--release"]
        }))?,
    };
    let address = database.as_ref().map(|(_, address)| address.as_str());
    let server = Running::start(&program, folder.path(), address)?;
    report::line(&format!(
        "{} memories of {} users on {}, {} connections, {} s each",
        size.memories,
        size.users,
        store.backend(),
        size.connections,
        size.seconds
    ));
    let asks = |what: What| Asks { what, tokens: Arc::clone(&tokens), size: size.clone() };
    // The first question of a user makes the index; a server has done that long before.
    warm(&server, &asks(What::Search))?;
    let bare = closed(&server, &asks(What::Nothing), Duration::from_secs(size.seconds.min(10)))?;
    bare.told("a constant, closed loop");
    let searched = closed(&server, &asks(What::Search), Duration::from_secs(size.seconds))?;
    searched.told("search, closed loop");
    let inside = in_process(&store, folder.path(), &size)?;
    report::line(&format!("search in one process, two threads: {inside:.0}/s"));
    let mut bars = vec![
        Bar::least(
            "search over HTTP beside two threads in one process",
            searched.rate / inside,
            SEARCH_SHARE,
        ),
        Bar::most("memory at the end of the searches beside that after a third", searched.growth(), GROWTH),
    ];
    let opened = open(&server, &asks(What::Search), searched.rate / 2.0, Duration::from_secs(size.seconds))?;
    opened.told("search, open loop at half of that");
    let spread = opened.at(0.99) / opened.at(0.5).max(f64::EPSILON);
    bars.push(Bar::most("open loop: p99 beside p50", spread, SPREAD));
    let recalled = closed(&server, &asks(What::Recall), Duration::from_secs(size.seconds))?;
    recalled.told("recall, closed loop");
    bars.push(Bar::most("memory, the same for recall", recalled.growth(), GROWTH));
    let added = closed(&server, &asks(What::Add), Duration::from_secs(size.seconds))?;
    added.told("add, closed loop");
    bars.push(Bar::most("memory, the same for additions", added.growth(), GROWTH));
    let typed =
        by_processes(&program, folder.path(), address, &tokens, Duration::from_secs(size.seconds.min(20)))?;
    report::line(&format!("add by sixteen processes: {typed:.0}/s"));
    let share = added.rate / typed.max(f64::EPSILON);
    bars.push(Bar::least("additions over HTTP beside sixteen processes", share, ADD_SHARE));
    drop(server);
    if size.rivals {
        rivals::place(folder.path())?;
        rivals::compare(&program, folder.path());
    }
    bars.iter().for_each(Bar::told);
    match bars.iter().filter(|bar| !bar.holds).count() {
        0 => Ok(()),
        count => Err(format!("{count} of {} ratios do not hold", bars.len())),
    }
}

/// A ratio and what it must be.
struct Bar {
    text: String,
    holds: bool,
}

impl Bar {
    fn least(what: &str, seen: f64, least: f64) -> Bar {
        Bar { text: format!("{what}: {seen:.2}, must be at least {least}"), holds: seen >= least }
    }

    fn most(what: &str, seen: f64, most: f64) -> Bar {
        Bar { text: format!("{what}: {seen:.2}, may be at most {most}"), holds: seen <= most }
    }

    fn told(&self) {
        report::line(&format!("{} {}", if self.holds { "holds:" } else { "DOES NOT HOLD:" }, self.text));
    }
}

/// An engine of a user at this moment: the server looks at the clock, and to it what was kept for a while long ago is over.
fn engine(store: &Arc<dyn TierStore>, folder: &Path, user: &str) -> Result<Call, String> {
    engine_at(store, folder, user, &time::format(Timestamp::now()))
}

/// Users with memories, and a token for each.
fn filled(store: &Arc<dyn TierStore>, folder: &Path, size: &Size) -> Result<Arc<Vec<String>>, String> {
    let mut tokens = Vec::new();
    let keeper = engine(store, folder, "user-0")?;
    let world = keeper.project().world().clone();
    let who = match store.is_shared() {
        true => UserContext::by_token(store.as_ref(), KEEPER_TOKEN, world.now),
        false => UserContext::by_account(&world),
    };
    let who = who.map_err(told)?;
    for n in 0..size.users {
        let user = format!("user-{n}");
        fill(&engine(store, folder, &user)?.tiers().map_err(told)?, size.memories / size.users)?;
        put_user(store.as_ref(), &who, &user, &world).map_err(told)?;
        let token = new_token(
            &heirloom_core::hash::sha256(user.as_bytes()).as_bytes()[..32].try_into().unwrap_or([7; 32]),
        );
        // By a name of its own: on a shared database the yardstick in this process gives each user an unnamed one.
        let terms = Terms { name: "load".to_owned(), scopes: Scopes::ALL, days: None, hours: None };
        give_token(store.as_ref(), &who, &user, &token, &terms, &world).map_err(told)?;
        tokens.push(token);
    }
    Ok(Arc::new(tokens))
}

/// A server in a process of its own.
struct Running {
    child: Child,
    port: u16,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn in_folder(program: &Path, folder: &Path, database: Option<&str>) -> Result<Command, String> {
    let xdg = folder.join("xdg");
    if !xdg.is_dir() {
        for folder in [&xdg, &folder.join("data")] {
            std::fs::create_dir_all(folder).map_err(|e| e.to_string())?;
        }
        std::os::unix::fs::symlink(folder.join("data"), xdg.join("heirloom")).map_err(|e| e.to_string())?;
    }
    let mut command = Command::new(program);
    command.env("XDG_DATA_HOME", &xdg).env("XDG_CONFIG_HOME", folder.join("config")).env("HOME", folder);
    command
        .env_remove("HEIRLOOM_TOKEN")
        .env_remove("HEIRLOOM_DATABASE_URL")
        .current_dir(folder)
        .stdin(Stdio::null());
    if let Some(address) = database {
        command.env("HEIRLOOM_DATABASE_URL", address);
    }
    Ok(command)
}

impl Running {
    fn start(program: &Path, folder: &Path, database: Option<&str>) -> Result<Running, String> {
        let mut command = in_folder(program, folder, database)?;
        command.args(["serve", "--listen", "127.0.0.1:0", "--rate", "1000000"]).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|e| format!("the server could not be started: {e}"))?;
        let mut lines = BufReader::new(child.stdout.take().ok_or("the server says nothing")?).lines();
        let mut line = || lines.next().and_then(Result::ok).ok_or_else(|| "the server ended".to_owned());
        let port =
            line()?.rsplit(':').next().and_then(|port| port.parse().ok()).ok_or("the server says no port")?;
        Ok(Running { child, port })
    }

    /// Memory of its own that no file stands behind, in kilobytes.
    fn anonymous(&self) -> u64 {
        let text =
            std::fs::read_to_string(format!("/proc/{}/smaps_rollup", self.child.id())).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with("Anonymous:"));
        line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Nothing,
    Search,
    Recall,
    Add,
}

/// What a client asks.
#[derive(Clone)]
struct Asks {
    what: What,
    tokens: Arc<Vec<String>>,
    size: Size,
}

impl Asks {
    /// The nth request of a client.
    fn request(&self, client: usize, n: usize, dice: &mut Dice) -> (String, String, &'static str, Value) {
        let each = (self.size.memories / self.size.users).max(1);
        let words = || {
            sentence(dice_of(client, n) % each).split(' ').step_by(2).take(5).collect::<Vec<_>>().join(" ")
        };
        let token = self.tokens[dice.below(self.tokens.len())].clone();
        match self.what {
            What::Nothing => (token, "/healthz".to_owned(), "GET", Value::Null),
            What::Search => (
                token,
                "/v1/search".to_owned(),
                "POST",
                json!({ "query": words(), "tier": "episodic", "limit": 10 }),
            ),
            What::Recall => (token, "/v1/recall".to_owned(), "POST", json!({ "prompt": words() })),
            What::Add => {
                let text = format!("{} {client} {n}", sentence(dice_of(client, n)));
                (token, "/v1/memories".to_owned(), "POST", json!({ "kind": "episode", "text": text }))
            }
        }
    }
}

fn dice_of(client: usize, n: usize) -> usize {
    Dice::new().below(1_000_003) ^ client.wrapping_mul(7_919).wrapping_add(n.wrapping_mul(104_729))
}

/// The same searches by two threads in this process.
fn in_process(store: &Arc<dyn TierStore>, folder: &Path, size: &Size) -> Result<f64, String> {
    let lasts = Duration::from_secs(size.seconds.min(20));
    let asked = AtomicUsize::new(0);
    let began = Instant::now();
    std::thread::scope(|scope| {
        let work = |client: usize| {
            let asked = &asked;
            scope.spawn(move || {
                let mut dice = Dice::new();
                let each = (size.memories / size.users).max(1);
                for n in 0.. {
                    if began.elapsed() >= lasts {
                        return Ok::<_, String>(());
                    }
                    let words = sentence(dice_of(client, n) % each)
                        .split(' ')
                        .step_by(2)
                        .take(5)
                        .collect::<Vec<_>>()
                        .join(" ");
                    // A call for each question, as a server makes one.
                    let call = engine(store, folder, &format!("user-{}", dice.below(size.users)))?;
                    let ask = Search {
                        words: vec![words],
                        tier: Some("episodic".to_owned()),
                        limit: 10,
                        ..Search::default()
                    };
                    search(&call, &ask).map_err(told)?;
                    asked.fetch_add(1, Ordering::Relaxed);
                }
                Ok(())
            })
        };
        [work(0), work(1)]
            .into_iter()
            .try_for_each(|thread| thread.join().map_err(|_| "a thread broke off".to_owned())?)
    })?;
    Ok(asked.load(Ordering::Relaxed) as f64 / began.elapsed().as_secs_f64())
}

/// What sixteen processes of the command line add.
fn by_processes(
    program: &Path,
    folder: &Path,
    database: Option<&str>,
    tokens: &Arc<Vec<String>>,
    lasts: Duration,
) -> Result<f64, String> {
    let added = AtomicUsize::new(0);
    let began = Instant::now();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..16)
            .map(|worker| {
                let (added, token) = (&added, &tokens[worker % tokens.len()]);
                scope.spawn(move || {
                    let mut n = 0;
                    while began.elapsed() < lasts {
                        let text = format!("{} process {worker} {n}", sentence(dice_of(worker, n)));
                        let mut command = in_folder(program, folder, database)?;
                        command.env("HEIRLOOM_TOKEN", token).args(["add", "episode", &text]);
                        let ended = command
                            .stdout(Stdio::null())
                            .stderr(Stdio::null())
                            .status()
                            .map_err(|e| e.to_string())?;
                        if !ended.success() {
                            return Err(format!("`add episode` ended with {ended}"));
                        }
                        added.fetch_add(1, Ordering::Relaxed);
                        n += 1;
                    }
                    Ok::<_, String>(())
                })
            })
            .collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().map_err(|_| "a process broke off".to_owned())?)
    })?;
    Ok(added.load(Ordering::Relaxed) as f64 / began.elapsed().as_secs_f64())
}

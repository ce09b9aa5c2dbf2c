//! `load`: how much a server takes, beside what the engine does in one process and what the command line does in sixteen.
//!
//! Comes in: how many memories, users, connections and seconds. Goes out: requests a second, p50 and p99 of search, add and recall, closed loop and
//! open loop, the ratios beside them, and the server's own memory in between. This process makes the requests, the server is another one. Never here:
//! a time that is asserted; what must hold is a ratio of the same run.

use crate::server::{Release, Server as Postgres};
use crate::stress::tiers::{Dice, KEEPER_TOKEN, engine, fill, sentence, set_up, told};
use crate::{Outcome, report, workspace};
use heirloom_core::Scopes;
use heirloom_engine::shelf::tiers::{
    SqliteStore, Terms, TierStore, UserContext, give_token, new_token, put_user,
};
use heirloom_engine::verbs::search::{Search, search};
use heirloom_postgres::PgStore;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const USAGE: &str = "usage: load [--memories N] [--users N] [--connections N] [--seconds N] [--postgres]";

#[derive(Debug, Clone, Copy)]
struct Size {
    memories: usize,
    users: usize,
    connections: usize,
    seconds: u64,
    postgres: bool,
}

fn parsed(words: &[String]) -> Result<Size, String> {
    let mut size = Size { memories: 100_000, users: 64, connections: 64, seconds: 60, postgres: false };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut number =
            || words.next().and_then(|n| n.parse::<usize>().ok()).filter(|n| *n > 0).ok_or(USAGE);
        match word.as_str() {
            "--memories" => size.memories = number()?,
            "--users" => size.users = number()?,
            "--connections" => size.connections = number()?,
            "--seconds" => size.seconds = number()? as u64,
            "--postgres" => size.postgres = true,
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
    let tokens = filled(&store, folder.path(), size)?;
    let program =
        workspace::built(&mut workspace::build(if cfg!(debug_assertions) { &[] } else { &["--release"] }))?;
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
    let asks = |what: What| Asks { what, tokens: Arc::clone(&tokens), size };
    let bare = closed(&server, &asks(What::Nothing), Duration::from_secs(size.seconds.min(10)))?;
    bare.told("a constant, closed loop");
    let searched = closed(&server, &asks(What::Search), Duration::from_secs(size.seconds))?;
    searched.told("search, closed loop");
    let inside = in_process(&store, folder.path(), size)?;
    report::line(&format!(
        "search in one process, two threads: {inside:.0}/s; over HTTP {:.2} of it",
        searched.rate / inside
    ));
    let opened = open(&server, &asks(What::Search), searched.rate / 2.0, Duration::from_secs(size.seconds))?;
    opened.told("search, open loop at half of that");
    report::line(&format!("open loop p99 / p50: {:.1}", opened.at(0.99) / opened.at(0.5).max(f64::EPSILON)));
    closed(&server, &asks(What::Recall), Duration::from_secs(size.seconds))?.told("recall, closed loop");
    let added = closed(&server, &asks(What::Add), Duration::from_secs(size.seconds))?;
    added.told("add, closed loop");
    let typed =
        by_processes(&program, folder.path(), address, &tokens, Duration::from_secs(size.seconds.min(20)))?;
    report::line(&format!(
        "add by sixteen processes: {typed:.0}/s; over HTTP {:.2} times that",
        added.rate / typed.max(f64::EPSILON)
    ));
    Ok(())
}

/// Users with memories, and a token for each.
fn filled(store: &Arc<dyn TierStore>, folder: &Path, size: Size) -> Result<Arc<Vec<String>>, String> {
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
        let terms = Terms { name: String::new(), scopes: Scopes::ALL, days: None };
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
        std::fs::create_dir_all(&xdg).map_err(|e| e.to_string())?;
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

/// A connection that stays open.
struct Line {
    stream: BufReader<TcpStream>,
    port: u16,
}

impl Line {
    fn open(port: u16) -> Result<Line, String> {
        let stream = TcpStream::connect(("127.0.0.1", port)).map_err(|e| e.to_string())?;
        stream.set_nodelay(true).map_err(|e| e.to_string())?;
        stream.set_read_timeout(Some(Duration::from_secs(60))).map_err(|e| e.to_string())?;
        Ok(Line { stream: BufReader::new(stream), port })
    }

    fn ask(
        &mut self,
        (token, path, method, body): &(String, String, &'static str, Value),
    ) -> Result<u16, String> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.port,
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes()).map_err(|e| e.to_string())?;
        let (mut status, mut length, mut line) = (0, 0usize, String::new());
        loop {
            line.clear();
            if self.stream.read_line(&mut line).map_err(|e| e.to_string())? == 0 {
                return Err("the server closed the connection".to_owned());
            }
            let trimmed = line.trim_end();
            if trimmed.is_empty() {
                break;
            }
            if status == 0 {
                status = trimmed.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
            } else if let Some(value) = trimmed.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        let mut rest = vec![0; length];
        self.stream.read_exact(&mut rest).map_err(|e| e.to_string())?;
        Ok(status)
    }
}

/// What a run measured.
struct Measured {
    rate: f64,
    times: Vec<Duration>,
    grew: Option<(u64, u64)>,
}

impl Measured {
    fn at(&self, share: f64) -> f64 {
        let place = ((self.times.len() as f64 - 1.0) * share).round().max(0.0) as usize;
        self.times.get(place).copied().unwrap_or_default().as_secs_f64() * 1e3
    }

    fn told(&self, what: &str) {
        let grew = self.grew.map_or(String::new(), |(third, end)| {
            format!(
                "; anonymous memory {third} kB after a third, {end} kB at the end ({:.2})",
                end as f64 / third.max(1) as f64
            )
        });
        report::line(&format!(
            "{what}: {:.0}/s, p50 {:.2} ms, p99 {:.2} ms{grew}",
            self.rate,
            self.at(0.5),
            self.at(0.99)
        ));
    }
}

/// Every client asks again as soon as it has its answer.
fn closed(server: &Running, asks: &Asks, lasts: Duration) -> Result<Measured, String> {
    let stop = Arc::new(AtomicBool::new(false));
    let began = Instant::now();
    let clients: Vec<_> = (0..asks.size.connections)
        .map(|client| {
            let (asks, stop, port) = (asks.clone(), Arc::clone(&stop), server.port);
            std::thread::spawn(move || {
                let mut line = Line::open(port)?;
                let mut dice = Dice::new();
                let mut times = Vec::new();
                for n in 0.. {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    let request = asks.request(client, n, &mut dice);
                    let asked = Instant::now();
                    let status = line.ask(&request)?;
                    if !(200..300).contains(&status) {
                        return Err(format!("{:?} was answered with {status}", asks.what));
                    }
                    times.push(asked.elapsed());
                }
                Ok::<_, String>(times)
            })
        })
        .collect();
    std::thread::sleep(lasts / 3);
    let third = server.anonymous();
    std::thread::sleep(lasts.saturating_sub(began.elapsed()));
    let end = server.anonymous();
    stop.store(true, Ordering::Relaxed);
    gathered(clients, began, Some((third, end)))
}

type Client = std::thread::JoinHandle<Result<Vec<Duration>, String>>;

fn gathered(clients: Vec<Client>, began: Instant, grew: Option<(u64, u64)>) -> Result<Measured, String> {
    let mut times = Vec::new();
    for client in clients {
        times.extend(client.join().map_err(|_| "a client broke off".to_owned())??);
    }
    let rate = times.len() as f64 / began.elapsed().as_secs_f64();
    times.sort_unstable();
    Ok(Measured { rate, times, grew })
}

/// Requests come when they come, whether or not earlier ones have their answers; time counts from when one was due.
fn open(server: &Running, asks: &Asks, rate: f64, lasts: Duration) -> Result<Measured, String> {
    let began = Instant::now();
    let next = Arc::new(AtomicUsize::new(0));
    let clients: Vec<_> = (0..asks.size.connections)
        .map(|client| {
            let (asks, next, port) = (asks.clone(), Arc::clone(&next), server.port);
            std::thread::spawn(move || {
                let mut line = Line::open(port)?;
                let mut dice = Dice::new();
                let mut times = Vec::new();
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    let due = began + Duration::from_secs_f64(n as f64 / rate);
                    if due.duration_since(began) >= lasts {
                        return Ok::<_, String>(times);
                    }
                    std::thread::sleep(due.saturating_duration_since(Instant::now()));
                    let status = line.ask(&asks.request(client, n, &mut dice))?;
                    if !(200..300).contains(&status) {
                        return Err(format!("{:?} was answered with {status}", asks.what));
                    }
                    times.push(due.elapsed());
                }
            })
        })
        .collect();
    gathered(clients, began, None)
}

/// The same searches by two threads in this process.
fn in_process(store: &Arc<dyn TierStore>, folder: &Path, size: Size) -> Result<f64, String> {
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

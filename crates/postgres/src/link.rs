//! The link to the database: a pool, a small runtime that drives it, and limits on how long anybody waits.
//!
//! Comes in: an address. Goes out: connections. Connecting, a call and, for a prompt, everything together end in time, whatever the server does. A
//! connection that was lost is replaced by the next call. Never here: a connection that keeps a user, or anything that changes the schema.

use crate::address::Address;
use crate::drive::drive;
use crate::fault::{pool, silent, slow};
use crate::lease::Lease;
use crate::schema;
use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime, Timeouts};
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::index::embed::chosen::{Chosen, Given};
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Connections at once.
const MOST: usize = 16;

/// How long anybody waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// For a connection, waiting for a free one included.
    pub connect: Duration,
    /// For a call, connecting included; a batch of a longer work is a call.
    pub call: Duration,
    /// For all calls together.
    pub whole: Option<Duration>,
}

impl Limits {
    /// A command: a person is told within two seconds that nobody answers.
    pub const COMMAND: Limits =
        Limits { connect: Duration::from_millis(1_800), call: Duration::from_secs(10), whole: None };
    /// A prompt: somebody waits for it, and it goes on without the database.
    pub const PROMPT: Limits = Limits {
        connect: Duration::from_millis(250),
        call: Duration::from_millis(280),
        whole: Some(Duration::from_millis(280)),
    };
    /// Any other event of a coding agent.
    pub const HOOK: Limits = Limits {
        connect: Duration::from_millis(300),
        call: Duration::from_secs(2),
        whole: Some(Duration::from_secs(4)),
    };
    /// A server, which was reached before and waits for one that comes back.
    pub const SERVER: Limits =
        Limits { connect: Duration::from_secs(5), call: Duration::from_secs(10), whole: None };
}

/// How long a failure is answered without trying again, so that a command that asks several times waits once.
const REST: Duration = Duration::from_secs(3);

/// Between two tries, a little more or less each time so that many do not come back at once.
const PAUSE: Duration = Duration::from_millis(80);

/// The tiers in a PostgreSQL database.
pub struct PgStore {
    address: Address,
    limits: Limits,
    given: Option<Given>,
    data: PathBuf,
    link: OnceLock<Link>,
    linking: Mutex<()>,
    model: OnceLock<Option<Chosen>>,
}

/// What the first call sets up: threads and certificates cost something, and not every command asks for the tiers.
pub(crate) struct Link {
    runtime: Background,
    pool: Pool,
    began: Instant,
    /// When it could last not be reached, and why.
    down: Mutex<Option<(Instant, Fault)>>,
    /// Models this process told the database about.
    pub(crate) models: Mutex<Vec<String>>,
}

/// A runtime that may be dropped anywhere. One that is simply dropped waits for its threads, which an asynchronous thread may not.
struct Background(Option<tokio::runtime::Runtime>);

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl std::fmt::Debug for PgStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The address may hold a password.
        f.debug_struct("PgStore").field("linked", &self.link.get().is_some()).finish_non_exhaustive()
    }
}

impl Link {
    fn new(address: &Address, limits: Limits) -> Result<Link> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("heirloom-postgres")
            .enable_all()
            .build()
            .map_err(|e| Fault::new(Code::Io, format!("no thread for the database: {e}")))?;
        let began = {
            let _inside = runtime.enter();
            Instant::now()
        };
        let runtime = Background(Some(runtime));
        let manager = Manager::from_config(
            address.config(limits.connect),
            address.connector()?,
            ManagerConfig { recycling_method: RecyclingMethod::Fast },
        );
        let wait = Some(limits.connect);
        let pool = Pool::builder(manager)
            .max_size(MOST)
            .timeouts(Timeouts { wait, create: wait, recycle: wait })
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|e| Fault::new(Code::Config, format!("the database address cannot be used: {e}")))?;
        Ok(Link { runtime, pool, began, down: Mutex::new(None), models: Mutex::default() })
    }
}

impl PgStore {
    /// The store at an address such as `postgres://heirloom_app@host/name`. Nothing is connected until it is needed.
    pub fn at(address: &str) -> Result<PgStore> {
        PgStore::to(Address::parse(address, &crate::address::Outside::default())?)
    }

    /// The store at an address that was read already.
    pub fn to(address: Address) -> Result<PgStore> {
        Ok(PgStore {
            address,
            limits: Limits::COMMAND,
            given: None,
            data: PathBuf::from("/dev/null"),
            link: OnceLock::new(),
            linking: Mutex::new(()),
            model: OnceLock::new(),
        })
    }

    /// The same with other limits.
    #[must_use]
    pub fn within(self, limits: Limits) -> PgStore {
        PgStore { limits, ..self }
    }

    /// The same with vectors of this model, or of the one installed in the data folder; else of the built-in one.
    #[must_use]
    pub fn with_model(self, given: Option<Given>, data: &Path) -> PgStore {
        PgStore { given, data: data.to_owned(), ..self }
    }

    /// The model that makes vectors.
    pub(crate) fn model(&self) -> Option<&Chosen> {
        self.model.get_or_init(|| Chosen::of(self.given.as_ref(), &self.data)).as_ref()
    }

    /// Why it could last not be reached, if it could not.
    pub(crate) fn was_unreached(&self) -> Option<Fault> {
        self.link.get()?.lately_down(false)
    }

    pub(crate) fn link(&self) -> Result<&Link> {
        if let Some(link) = self.link.get() {
            return Ok(link);
        }
        // One at a time: a thread and certificates that nobody uses are not worth making.
        let _turn = self.linking.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(link) = self.link.get() {
            return Ok(link);
        }
        let link = Link::new(&self.address, self.limits)?;
        Ok(self.link.get_or_init(|| link))
    }

    /// Drives a call to its end or to its limit, on any thread. On one of an asynchronous runtime it holds up that thread's other work, so a server
    /// calls from one that may block.
    pub(crate) fn run<T>(&self, call: impl Future<Output = Result<T>>) -> Result<T> {
        self.run_for(self.limits.call, call)
    }

    /// The same for a work that takes as long as it takes.
    pub(crate) fn run_long<T>(&self, call: impl Future<Output = Result<T>>) -> Result<T> {
        self.run_for(Duration::from_secs(24 * 3_600), call)
    }

    fn run_for<T>(&self, limit: Duration, call: impl Future<Output = Result<T>>) -> Result<T> {
        let link = self.link()?;
        let gone = || Fault::new(Code::Internal, "the database's thread has ended");
        let left =
            self.limits.whole.map_or(limit, |whole| whole.saturating_sub(link.began.elapsed()).min(limit));
        let timed = async {
            match tokio::time::timeout(left, call).await {
                Ok(outcome) => outcome,
                Err(_) => {
                    let fault = slow(left);
                    link.went_down(&fault);
                    Err(fault)
                }
            }
        };
        drive(link.runtime.0.as_ref().ok_or_else(gone)?, timed)
    }

    /// The same for a call that changes nothing: if the connection was lost under it, it is made once more.
    pub(crate) fn run_again<T, F: Future<Output = Result<T>>>(&self, call: impl Fn() -> F) -> Result<T> {
        match self.run(call()) {
            // A failure to reach it at all was waited for already.
            Err(fault) if fault.code == Code::Unavailable && self.was_unreached().is_none() => {
                self.run(call())
            }
            outcome => outcome,
        }
    }

    /// A connection, waited for while the server is starting, coming back or has none free.
    pub(crate) async fn connected(&self) -> Result<Object> {
        let link = self.link()?;
        if let Some(fault) = link.lately_down(true) {
            return Err(fault);
        }
        let began = Instant::now();
        loop {
            let left = self.limits.connect.saturating_sub(began.elapsed());
            // A server that takes the call and says nothing is as gone as one that does not.
            let fault = match tokio::time::timeout(left, link.pool.get()).await {
                Ok(Ok(client)) => {
                    *link.down.lock().unwrap_or_else(PoisonError::into_inner) = None;
                    return Ok(client);
                }
                Ok(Err(error)) => pool(error),
                Err(_) => silent(),
            };
            let pause = PAUSE / 2 + PAUSE.mul_f64(f64::from(jitter()));
            if fault.code != Code::Unavailable || began.elapsed() + pause >= self.limits.connect {
                link.went_down(&fault);
                return Err(fault);
            }
            tokio::time::sleep(pause).await;
        }
    }

    /// What is really wrong where a function of the schema cannot be called.
    pub(crate) async fn looked_into(&self, fault: Fault) -> Fault {
        if !matches!(fault.get("sqlstate"), Some("42883" | "3F000" | "42501" | "42P01")) {
            return fault;
        }
        match self.version().await {
            Ok(found) => unfit(found).unwrap_or(fault),
            Err(_) => fault,
        }
    }

    /// The version of the schema that is there; `None` if there is none.
    async fn version(&self) -> Result<Option<i32>> {
        let client = Lease::of(self.connected().await?);
        let there = "select to_regclass('heirloom.version') is not null";
        let there = client.query(there, &[]).await?.first().is_some_and(|row| row.get(0));
        if !there {
            client.done();
            return Ok(None);
        }
        let rows = client.query("select version from heirloom.version", &[]).await?;
        let found = rows.first().map_or(0, |row| row.get(0));
        client.done();
        Ok(Some(found))
    }

    /// Whether the database can be reached and has the schema of this program.
    pub(crate) async fn reached(&self) -> Result<()> {
        unfit(self.version().await?).map_or(Ok(()), Err)
    }
}

/// Why a schema cannot be used, if it cannot.
pub(crate) fn unfit(found: Option<i32>) -> Option<Fault> {
    let fault = |message: String, hint: &str| Some(Fault::new(Code::Config, message).hint(hint));
    match found {
        None => fault(
            "this database has not been set up for Heirloom".to_owned(),
            "an operator sets it up: heirloom team init --admin-url postgres://…",
        ),
        Some(found) if found < schema::VERSION => fault(
            format!("this database has the tables of an older Heirloom (schema {found})"),
            "an operator brings it up to date: heirloom team upgrade --admin-url postgres://…",
        ),
        Some(found) if found > schema::VERSION => {
            fault(format!("this database was made by a newer Heirloom (schema {found})"), "update Heirloom")
        }
        Some(_) => None,
    }
}

/// Somewhere between 0 and 1, from the clock's smallest digits.
fn jitter() -> f32 {
    (std::hash::BuildHasher::hash_one(&std::collections::hash_map::RandomState::new(), 0u8) % 1_000) as f32
        / 1_000.0
}

impl Link {
    fn went_down(&self, fault: &Fault) {
        *self.down.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), fault.clone()));
    }

    /// Why it could not be reached, if that is so; with `fresh` only if that was a moment ago.
    fn lately_down(&self, fresh: bool) -> Option<Fault> {
        let down = self.down.lock().unwrap_or_else(PoisonError::into_inner);
        down.as_ref().filter(|(at, _)| !fresh || at.elapsed() < REST).map(|(_, fault)| fault.clone())
    }
}

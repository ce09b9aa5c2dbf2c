//! The link to the database: a pool, a small runtime that drives it, and transactions that belong to one user.
//!
//! Comes in: an address and a user context. Goes out: a transaction under the role that cannot pass row-level security, with that user set for
//! its length and a limit on every statement. A connection that was lost is replaced by the next call. Never here: a connection that keeps a user
//! beyond its transaction.

use crate::drive::drive;
use crate::fault::{pool, silent, sql};
use crate::schema;
use crate::statements;
use crate::tls;
use deadpool_postgres::{
    Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime, Timeouts, Transaction,
};
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::index::embed::Embedder;
use heirloom_engine::index::embed::builtin::Builtin;
use heirloom_engine::shelf::tiers::UserContext;
use std::future::Future;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// Connections at once.
const MOST: usize = 16;

/// How long a call waits for a connection, and a connection for a server that is starting.
const PATIENCE: Duration = Duration::from_secs(10);

/// The same before anything was ever reached there: a person is told within two seconds, starting the program included.
const FIRST: Duration = Duration::from_millis(1_300);

/// How long a failure is answered without trying again, so that a command that asks several times waits once.
const REST: Duration = Duration::from_secs(3);

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(100);

/// The tiers in a PostgreSQL database.
pub struct PgStore {
    config: Config,
    first: Duration,
    link: OnceLock<Link>,
    linking: Mutex<()>,
}

/// What the first call sets up: threads and certificates cost something, and not every command asks for the tiers.
pub(crate) struct Link {
    runtime: Background,
    pool: Pool,
    /// The model that makes vectors.
    pub(crate) model: Builtin,
    ready: OnceLock<()>,
    first: Duration,
    /// When it could last not be reached, and why.
    down: Mutex<Option<(tokio::time::Instant, Fault)>>,
    making_ready: tokio::sync::Mutex<()>,
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

fn wrong(why: &str) -> Fault {
    Fault::new(Code::Config, format!("the database address cannot be used: {why}"))
        .hint("write it as postgres://user:password@host:5432/name")
}

/// Whether what is said to a host leaves this machine.
fn is_remote(host: &Host) -> bool {
    match host {
        Host::Unix(_) => false,
        Host::Tcp(name) => {
            let address = name.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
            name != "localhost" && !address.is_ok_and(|address| address.is_loopback())
        }
    }
}

impl Link {
    fn new(config: Config, first: Duration) -> Result<Link> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("heirloom-postgres")
            .enable_all()
            .build()
            .map_err(|e| Fault::new(Code::Io, format!("no thread for the database: {e}")))?;
        let runtime = Background(Some(runtime));
        let manager = Manager::from_config(
            config,
            tls::connector()?,
            ManagerConfig { recycling_method: RecyclingMethod::Fast },
        );
        let timeouts = Timeouts { wait: Some(PATIENCE), create: Some(PATIENCE), recycle: Some(PATIENCE) };
        let pool = Pool::builder(manager)
            .max_size(MOST)
            .timeouts(timeouts)
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|e| wrong(&e.to_string()))?;
        let model = Builtin::open().map_err(|e| Fault::new(Code::Internal, e.to_string()))?;
        Ok(Link {
            runtime,
            pool,
            model,
            ready: OnceLock::new(),
            first,
            down: Mutex::new(None),
            making_ready: tokio::sync::Mutex::new(()),
        })
    }
}

impl PgStore {
    /// The store at an address such as `postgres://user@host/name`. Nothing is connected until it is needed.
    pub fn at(address: &str) -> Result<PgStore> {
        let mut config: Config = address.parse().map_err(|e: tokio_postgres::Error| {
            use std::error::Error as _;
            wrong(&e.source().map_or_else(|| "it is no address".to_owned(), ToString::to_string))
        })?;
        // A password and memories in the clear across a network are never what somebody meant by saying nothing.
        if !address.contains("sslmode") && config.get_hosts().iter().any(is_remote) {
            config.ssl_mode(SslMode::Require);
        }
        config.application_name("heirloom").connect_timeout(PATIENCE).keepalives(true);
        config.options("-c standard_conforming_strings=on -c client_min_messages=warning");
        Ok(PgStore { config, first: FIRST, link: OnceLock::new(), linking: Mutex::new(()) })
    }

    /// The same for somebody who waits no longer than this for a server that was never reached.
    #[must_use]
    pub fn waiting_at_most(self, first: Duration) -> PgStore {
        PgStore { first: first.min(self.first), ..self }
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
        let link = Link::new(self.config.clone(), self.first)?;
        Ok(self.link.get_or_init(|| link))
    }

    /// Drives a call to its end, on any thread. On one of an asynchronous runtime it holds up that thread's other work, so a server calls from one
    /// that may block.
    pub(crate) fn run<T>(&self, call: impl Future<Output = Result<T>>) -> Result<T> {
        let gone = || Fault::new(Code::Internal, "the database's thread has ended");
        drive(self.link()?.runtime.0.as_ref().ok_or_else(gone)?, call)
    }

    /// The same for a call that changes nothing: if the connection was lost under it, it is made once more.
    pub(crate) fn run_again<T, F: Future<Output = Result<T>>>(&self, call: impl Fn() -> F) -> Result<T> {
        match self.run(call()) {
            Err(fault) if fault.code == Code::Unavailable => self.run(call()),
            outcome => outcome,
        }
    }

    /// A connection of the role that owns the tables: for accounts, upkeep of the schema, shredding.
    pub(crate) async fn keeper(&self) -> Result<Object> {
        let link = self.link()?;
        let client = link.connected().await?;
        if link.ready.get().is_none() {
            let _one = link.making_ready.lock().await;
            if link.ready.get().is_none() {
                schema::prepare(&client, &link.model.space().model).await?;
                let _ = link.ready.set(());
            }
        }
        Ok(client)
    }
}

impl Link {
    /// A connection, waited for while the server is starting or coming back.
    async fn connected(&self) -> Result<Object> {
        // Whoever never reached it has probably the wrong address.
        let patience = if self.ready.get().is_some() { PATIENCE } else { self.first };
        let began = tokio::time::Instant::now();
        if let Some(fault) = self.lately_down(true) {
            return Err(fault);
        }
        loop {
            let left = patience.saturating_sub(began.elapsed());
            // A server that takes the call and says nothing is as gone as one that does not.
            let fault = match tokio::time::timeout(left, self.pool.get()).await {
                Ok(Ok(client)) => {
                    *self.down.lock().unwrap_or_else(PoisonError::into_inner) = None;
                    return Ok(client);
                }
                Ok(Err(error)) => pool(error),
                Err(_) => silent(),
            };
            if fault.code != Code::Unavailable || began.elapsed() + PAUSE >= patience {
                let now = tokio::time::Instant::now();
                *self.down.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, fault.clone()));
                return Err(fault);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Why it could not be reached, if that is so; with `fresh` only if that was a moment ago.
    fn lately_down(&self, fresh: bool) -> Option<Fault> {
        let down = self.down.lock().unwrap_or_else(PoisonError::into_inner);
        down.as_ref().filter(|(at, _)| !fresh || at.elapsed() < REST).map(|(_, fault)| fault.clone())
    }
}

/// Begins a transaction that sees and touches only this user's rows. Without `durable` its commit does not wait for the disk.
pub(crate) async fn begin<'c>(
    client: &'c mut Object,
    who: &UserContext,
    durable: bool,
) -> Result<Transaction<'c>> {
    let tx = client.transaction().await.map_err(sql)?;
    tx.batch_execute(&statements::begin(who, durable)).await.map_err(sql)?;
    Ok(tx)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(address: &str) -> SslMode {
        PgStore::at(address).unwrap().config.get_ssl_mode()
    }

    #[test]
    fn across_a_network_tls_is_asked_for_unless_the_address_says_otherwise() {
        assert_eq!(mode("postgres://a@db.example.org/x"), SslMode::Require);
        assert_eq!(mode("postgres://a@10.0.0.7/x"), SslMode::Require);
        assert_eq!(mode("postgres://a@db.example.org/x?sslmode=disable"), SslMode::Disable);
        for near in ["localhost", "127.0.0.1", "[::1]", "%2Ftmp"] {
            assert_eq!(mode(&format!("postgres://a@{near}/x")), SslMode::Prefer, "{near}");
        }
    }
}

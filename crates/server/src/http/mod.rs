//! HTTP: every verb below `/v1`, MCP at `/mcp`, mem0's API at `/mem0`, and what a server says about itself.
//!
//! Comes in: how to listen, which projects, a [`Desk`]. Goes out: a server that runs until it is told to end, and then loses nothing it acknowledged.
//! It listens on this machine alone unless there is TLS, or somebody says that a proxy does it. Never here: the environment, or where its files are.

mod accept;
pub(crate) mod changes;
pub(crate) mod door;
pub(crate) mod guard;
mod limits;
mod mem0;
mod metrics;
mod once;
mod openapi;
mod patience;
mod problem;
mod proof;
mod reply;
mod routes;
mod streams;
mod tls;

pub use limits::Limits;
pub use openapi::document;
pub use proof::proof;
pub use tls::TlsFiles;

use crate::counter::Counter;
use crate::desk::{Desk, Place, Visitor};
use crate::mcp::Door;
use door::Http;
use heirloom_core::{Code, Fault, fault::Result, hash};
use heirloom_engine::verbs::{recall, trail, upkeep};
use limits::Shares;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{Semaphore, watch};

/// How often a served project is looked at as a whole.
const FULL_LOOK: Duration = Duration::from_secs(30);

/// How often it is looked up whether the daily work is due.
const UPKEEP: Duration = Duration::from_secs(3600);

/// How a server is set up.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where it listens; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The projects it serves.
    pub projects: Vec<PathBuf>,
    /// Certificate and key.
    pub tls: Option<TlsFiles>,
    /// A proxy in front of it speaks TLS.
    pub behind_proxy: bool,
    /// Names under which it is reached, beside those of this machine.
    pub hosts: Vec<String>,
    /// Origins of pages that may speak to it, beside its own.
    pub origins: Vec<String>,
    /// The name of its page below `localhost`, where neither it nor a proxy speaks TLS.
    pub page: Option<String>,
    /// The token of the account that runs it.
    pub token: String,
    /// The secret by which it proves whose it is.
    pub key: Vec<u8>,
    /// What it takes at most.
    pub limits: Limits,
}

impl Options {
    /// The name by which browsers find the page, if there is no TLS.
    pub(crate) fn page_name(&self) -> Option<String> {
        self.page.clone().filter(|_| self.tls.is_none() && !self.behind_proxy)
    }
}

/// Serves until the system asks it to end. `ready` is told the address once it listens; `routed` makes the paths, and is told the address and how to
/// end the server.
pub(crate) fn run(
    desk: Arc<dyn Desk>,
    options: &Options,
    ready: impl FnOnce(SocketAddr) -> Result<()>,
    routed: impl FnOnce(&Arc<Http>, SocketAddr, &Arc<watch::Sender<bool>>) -> axum::Router,
) -> Result<()> {
    may_listen(options)?;
    let io = |e: std::io::Error| {
        Fault::new(Code::Io, format!("cannot listen on {}: {e}", options.listen))
            .hint("choose another port with --listen")
    };
    let workers = options.limits.workers;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(workers + 8)
        .thread_name("serve")
        .enable_all()
        .build()
        .map_err(io)?;
    let served = runtime.block_on(async {
        let listener = TcpListener::bind(options.listen).await.map_err(io)?;
        let address = listener.local_addr().map_err(io)?;
        let tls = options.tls.clone().map(tls::Tls::open).transpose()?.map(Arc::new);
        // What is looked up before the first request is looked up where engine work belongs.
        let (desk, folders) = (Arc::clone(&desk), options.projects.clone());
        let counter = tokio::task::spawn_blocking(move || Counter::open(desk, &folders)).await;
        let counter = counter.map_err(|_| Fault::new(Code::Internal, "the projects cannot be opened"))??;
        let http = Arc::new(shared(options, address, counter));
        let (stop, end) = watch::channel(false);
        let stop = Arc::new(stop);
        let router = routed(&http, address, &stop);
        // From the moment it says that it listens, it ends in good order.
        let signals =
            (signal(SignalKind::terminate()).map_err(io)?, signal(SignalKind::interrupt()).map_err(io)?);
        ready(address)?;
        tracing::info!(%address, projects = http.counter.projects().len(), tls = tls.is_some(), "serving");
        let looking = tokio::spawn(look(Arc::clone(&http), end.clone()));
        let ended = tokio::spawn(asked_to_end(Arc::clone(&http), signals, stop));
        let telling = tokio::spawn(tell_refusals(Arc::clone(&http)));
        let keeping = tokio::spawn(keep_up(Arc::clone(&http)));
        accept::serve(http, router, listener, tls, end).await;
        looking.abort();
        telling.abort();
        keeping.abort();
        ended.abort();
        Ok(())
    });
    // A write that a worker is in the middle of is finished.
    runtime.shutdown_timeout(Duration::from_secs(5));
    served
}

/// Refuses to listen where others could read along.
fn may_listen(options: &Options) -> Result<()> {
    if options.listen.ip().is_loopback() || options.tls.is_some() || options.behind_proxy {
        return Ok(());
    }
    Err(Fault::new(
        Code::Security,
        format!("{} can be reached from other machines, and nothing would be encrypted", options.listen.ip()),
    )
    .hint("give --tls-cert and --tls-key, or --behind-proxy if a proxy in front of it handles TLS"))
}

fn shared(options: &Options, address: SocketAddr, counter: Counter) -> Http {
    let limits = options.limits.clone();
    let mut hosts: Vec<String> = options.hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
    if address.ip().is_loopback() || address.ip().is_unspecified() {
        hosts.extend(["localhost", "127.0.0.1", "::1"].map(str::to_owned));
    }
    if !address.ip().is_unspecified() {
        hosts.push(address.ip().to_string());
    }
    hosts.extend(options.page_name());
    let scheme = if options.tls.is_some() { "https" } else { "http" };
    let mut origins: Vec<String> = options.origins.iter().map(|origin| origin.to_ascii_lowercase()).collect();
    origins.extend(hosts.iter().map(|host| match host.contains(':') && !host.starts_with('[') {
        true => format!("{scheme}://[{host}]:{}", address.port()),
        false => format!("{scheme}://{host}:{}", address.port()),
    }));
    if options.behind_proxy {
        origins.extend(options.hosts.iter().map(|host| format!("https://{}", host.to_ascii_lowercase())));
    }
    Http {
        shares: Shares::new(limits.rate, limits.at_once),
        metrics: metrics::Metrics::default(),
        workers: Arc::new(Semaphore::new(limits.workers)),
        queue: Arc::new(Semaphore::new(limits.queue)),
        streams: Arc::new(Semaphore::new(limits.streams)),
        archives: Arc::new(Semaphore::new(limits.archives)),
        strangers: Arc::new(Semaphore::new((limits.workers / 2).max(1))),
        own_token: Some(hash::sha256(options.token.as_bytes())),
        hosts,
        origins,
        ready: AtomicBool::new(true),
        reached: Mutex::default(),
        key: Some(options.key.clone()),
        counter: Arc::new(counter),
        limits,
    }
}

/// Verbs, MCP, and the guard in front of both.
pub(crate) fn routed(http: &Arc<Http>) -> axum::Router {
    // Without sessions there is nothing to steal and nothing that grows: every request carries its token.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(http.limits.bytes);
    let (counter, workers) = (Arc::clone(&http.counter), Arc::clone(&http.workers));
    let mcp = StreamableHttpService::new(
        move || Ok(Door::of_requests(&counter, &workers)),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    let mcp = axum::Router::new()
        .fallback_service(mcp)
        .layer(axum::middleware::from_fn_with_state(Arc::clone(http), guard::signed_in));
    door::router(http)
        .nest_service("/mcp", mcp)
        .layer(axum::middleware::from_fn_with_state(Arc::clone(http), guard::guard))
}

/// Looks at every served project as a whole when the system says that its files changed, and from time to time: a quick look misses an edit in
/// place among many files, and word of a change may not come.
async fn look(http: Arc<Http>, mut end: watch::Receiver<bool>) {
    let roots = http.counter.projects().iter().map(|served| served.memory.clone()).collect();
    let mut changes = changes::watch(roots);
    loop {
        tokio::select! {
            () = tokio::time::sleep(FULL_LOOK) => {}
            _ = changes.recv() => {}
            _ = end.wait_for(|end| *end) => return,
        }
        for served in http.counter.projects().to_vec() {
            let looked = http.work(move |http| {
                let call = http.counter.desk.call(&Place::Folder(served.folder), &Visitor::default())?;
                recall::follow(&call)?;
                Ok(())
            });
            if looked.await.is_err() {
                tracing::warn!("a project could not be checked");
            }
        }
    }
}

/// Does the daily work: by the account, or on a shared database by the server's own token, if it has one with the scope `upkeep`. Whether it is due is
/// looked up each hour; several servers on one database do no harm.
async fn keep_up(http: Arc<Http>) {
    loop {
        tokio::time::sleep(UPKEEP).await;
        let kept = http.work(|http| {
            let call = http.counter.desk.call(&Place::Nowhere, &Visitor::default())?;
            Ok(upkeep::expire_if_due(&call)?)
        });
        if kept.await.is_err() {
            tracing::info!("the daily cleanup did not run: it needs a token with the scope `upkeep`");
        }
    }
}

/// Has the audit of this account say that somebody was turned away: soon, and then no more than once a minute, with how often.
async fn tell_refusals(http: Arc<Http>) {
    let (mut told, mut last) = (0, None::<Instant>);
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let all = http.metrics.refused.load(Ordering::Relaxed);
        if all == told || last.is_some_and(|last| last.elapsed() < Duration::from_secs(60)) {
            continue;
        }
        let times = all - told;
        let noted = http.work(move |http| {
            let call = http.counter.desk.call(&Place::Nowhere, &Visitor::default())?;
            Ok(trail::turned_away(&call, times)?)
        });
        if noted.await.is_ok() {
            (told, last) = (all, Some(Instant::now()));
        }
    }
}

/// Waits for the system's word.
async fn asked_to_end(
    http: Arc<Http>,
    (mut terminate, mut interrupt): (Signal, Signal),
    stop: Arc<watch::Sender<bool>>,
) {
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    http.ready.store(false, Ordering::Relaxed);
    let _ = stop.send(true);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(listen: &str) -> Options {
        Options {
            listen: listen.parse().unwrap(),
            projects: Vec::new(),
            tls: None,
            behind_proxy: false,
            hosts: Vec::new(),
            origins: Vec::new(),
            page: None,
            token: "t".to_owned(),
            key: Vec::new(),
            limits: Limits::default(),
        }
    }

    #[test]
    fn nothing_is_served_to_other_machines_unencrypted() {
        for loopback in ["127.0.0.1:0", "[::1]:0", "127.8.8.8:0"] {
            assert!(may_listen(&options(loopback)).is_ok());
        }
        for elsewhere in ["0.0.0.0:0", "192.168.1.5:0", "[::]:0"] {
            assert_eq!(may_listen(&options(elsewhere)).unwrap_err().code, Code::Security);
            assert!(may_listen(&Options { behind_proxy: true, ..options(elsewhere) }).is_ok());
        }
    }
}

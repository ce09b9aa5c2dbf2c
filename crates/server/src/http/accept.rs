//! The one accept loop: connections, their limits, and the end of all of them.
//!
//! Comes in: a listener. Goes out: connections that each serve one request after the other. A client that does not finish a head, says nothing, or does
//! not read its answer is let go after a while; when all places are taken, the connection that was idle for longest makes room, and if all are busy
//! whoever comes is told to come back. At the end nothing new is taken and what was begun is finished. Only HTTP/1.1 is spoken. Never here: what a
//! request says.

use super::door::Http;
use super::patience::Patient;
use super::tls::Tls;
use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{Notify, watch};
use tower_service::Service as _;

/// How long what was begun may take after the end.
const GRACE: Duration = Duration::from_secs(10);
/// The most lines in the head of a request.
const HEADERS: usize = 64;
/// The longest head of a request.
const HEAD: usize = 32 << 10;

/// A connection.
#[derive(Debug)]
struct Connection {
    busy: AtomicUsize,
    since: AtomicU64,
    leave: Notify,
}

/// All of them.
#[derive(Debug)]
struct Connections {
    all: Mutex<HashMap<u64, Arc<Connection>>>,
    began: Instant,
    last: AtomicU64,
}

impl Connections {
    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// A place for one more. `None` if all are busy.
    fn enter(&self, most: usize) -> Option<(u64, Arc<Connection>)> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= most {
            let idle = all.iter().filter(|(_, one)| one.busy.load(Ordering::Relaxed) == 0);
            let longest = idle.min_by_key(|(_, one)| one.since.load(Ordering::Relaxed)).map(|(id, _)| *id)?;
            if let Some(gone) = all.remove(&longest) {
                gone.leave.notify_one();
            }
        }
        let id = self.last.fetch_add(1, Ordering::Relaxed);
        let connection = Arc::new(Connection {
            busy: AtomicUsize::new(0),
            since: AtomicU64::new(self.now()),
            leave: Notify::new(),
        });
        all.insert(id, Arc::clone(&connection));
        Some((id, connection))
    }

    fn leave(&self, id: u64) -> usize {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(&id);
        all.len()
    }
}

/// Serves until `end` says so.
pub(crate) async fn serve(
    http: Arc<Http>,
    router: Router,
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    mut end: watch::Receiver<bool>,
) {
    let connections =
        Arc::new(Connections { all: Mutex::default(), began: Instant::now(), last: AtomicU64::new(0) });
    let (open, mut closed) = tokio::sync::mpsc::channel::<Infallible>(1);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = end.wait_for(|end| *end) => break,
        };
        let Ok((stream, _)) = accepted else {
            // Out of file descriptors, most likely: those that are open will end.
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let Some((id, connection)) = connections.enter(http.limits.connections) else {
            let full = http.full().reply().into_wire();
            if tls.is_none() {
                let _ = stream.try_write(&full);
            }
            continue;
        };
        let stream = Patient::new(stream, http.limits.body);
        let (http, router, tls, end, open, connections) = (
            Arc::clone(&http),
            router.clone(),
            tls.clone(),
            end.clone(),
            open.clone(),
            Arc::clone(&connections),
        );
        http.metrics.connections.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(async move {
            let _open = open;
            match tls {
                None => talk(&http, router, stream, &connection, &connections, end).await,
                Some(tls) => {
                    let shaken = tokio::time::timeout(http.limits.head, tls.acceptor().accept(stream)).await;
                    if let Ok(Ok(stream)) = shaken {
                        talk(&http, router, stream, &connection, &connections, end).await;
                    }
                }
            }
            connections.leave(id);
            http.metrics.connections.fetch_sub(1, Ordering::Relaxed);
        });
    }
    drop(listener);
    drop(open);
    // Nobody holds a sender any more when the last connection ends.
    let _ = tokio::time::timeout(GRACE, closed.recv()).await;
}

async fn talk(
    http: &Arc<Http>,
    router: Router,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    connection: &Arc<Connection>,
    connections: &Arc<Connections>,
    mut end: watch::Receiver<bool>,
) {
    let (counted, all) = (Arc::clone(connection), Arc::clone(connections));
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        let (mut router, counted, all) = (router.clone(), Arc::clone(&counted), Arc::clone(&all));
        counted.busy.fetch_add(1, Ordering::Relaxed);
        async move {
            let answered = router.call(request.map(Body::new)).await;
            counted.since.store(all.now(), Ordering::Relaxed);
            counted.busy.fetch_sub(1, Ordering::Relaxed);
            answered
        }
    });
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(http.limits.head)
        .max_headers(HEADERS)
        .max_buf_size(HEAD)
        .half_close(false);
    let talk = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(talk);
    tokio::select! {
        _ = talk.as_mut() => return,
        () = connection.leave.notified() => {}
        _ = end.wait_for(|end| *end) => {}
    }
    // What was begun is answered; then the connection ends.
    talk.as_mut().graceful_shutdown();
    let _ = tokio::time::timeout(GRACE.max(http.limits.request), talk).await;
}

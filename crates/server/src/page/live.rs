//! Live: word of changes by files, other processes and other people, as server-sent events.
//!
//! Comes in: the audits and the system's word of changed files. Goes out: an event for each burst, without an id or a text: the page looks for itself.
//! Never here: keeping a session alive.

use super::{Both, Page, layout};
use crate::desk::Trial;
use crate::http::changes;
use crate::http::door::Http;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, Response, header};
use futures_core::Stream;
use heirloom_engine::verbs::events::{self, Stamp};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;

/// How often the audits are looked at.
const POLL: Duration = Duration::from_millis(700);
/// The same for each of the people at a server.
const POLL_GUEST: Duration = Duration::from_secs(2);
/// How long a stream may be silent.
const SILENCE: Duration = Duration::from_secs(15);

/// Counts changes, whoever made them.
pub(super) async fn watch(page: Arc<Page>, http: Arc<Http>) {
    let roots = http.counter.projects().iter().map(|served| served.memory.clone()).collect();
    let mut files = changes::watch(roots);
    let mut before: Option<Stamp> = None;
    while http.ready.load(Ordering::Relaxed) {
        let by_file = tokio::time::timeout(POLL, files.recv()).await.is_ok();
        let now = stamp(&page, &http, before).await;
        let by_audit = now.is_some() && before.is_some() && now != before;
        before = now.or(before);
        if by_file || by_audit {
            page.changed.send_modify(|count| *count += 1);
        }
    }
}

async fn stamp(page: &Arc<Page>, http: &Arc<Http>, before: Option<Stamp>) -> Option<Stamp> {
    let page = Arc::clone(page);
    http.work(move |http| {
        let call = page.seat.call(http.counter.desk.as_ref(), &Trial::default())?;
        Ok(events::stamp(&call, before)?)
    })
    .await
    .ok()
}

/// The same for somebody who signed in at a server: while one of their pages is open, and as long as their token counts.
async fn watch_guest(page: Arc<Page>, http: Arc<Http>, sender: mpsc::Sender<Bytes>) {
    let mut before = stamp(&page, &http, None).await;
    loop {
        tokio::select! {
            () = sender.closed() => return,
            () = tokio::time::sleep(POLL_GUEST) => {}
        }
        let now = stamp(&page, &http, before).await;
        if now.is_some() && before.is_some() && now != before {
            page.changed.send_modify(|count| *count += 1);
        }
        before = now.or(before);
    }
}

struct Pieces(mpsc::Receiver<Bytes>);

impl Stream for Pieces {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|piece| piece.map(Ok))
    }
}

/// Events from now on.
pub(super) async fn stream(State(both): State<Both>) -> Response<Body> {
    let Both { http, page } = both;
    let Ok(place) = Arc::clone(&http.streams).try_acquire_owned() else { return layout::overloaded() };
    let mut changed = page.changed.subscribe();
    let (sender, pieces) = mpsc::channel(4);
    if page.seat.is_guest() {
        tokio::spawn(watch_guest(Arc::clone(&page), Arc::clone(&http), sender.clone()));
    }
    tokio::spawn(async move {
        let _place = place;
        let mut text = "event: hello\ndata: {}\n\n";
        while sender.send(Bytes::from_static(text.as_bytes())).await.is_ok() {
            // A browser that went elsewhere makes room at once.
            let word = tokio::select! {
                () = sender.closed() => return,
                word = tokio::time::timeout(SILENCE, changed.changed()) => word,
            };
            text = match word {
                Ok(Ok(())) => "event: change\ndata: {}\n\n",
                Ok(Err(_)) => return,
                Err(_) => ": still here\n\n",
            };
            if !http.ready.load(Ordering::Relaxed) {
                return;
            }
        }
    });
    let mut response = Response::new(Body::from_stream(Pieces(pieces)));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response
}

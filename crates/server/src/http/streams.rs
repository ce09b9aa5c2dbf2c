//! What comes as a stream: events of changes, and archives in both directions.
//!
//! Comes in: a visitor, for an import also bytes. Goes out: bytes as they come. Events are ids and kinds, never texts; each look at the audit is a
//! call of its own, so that a token that was revoked ends its stream. Never here: what an archive holds.

use super::door::{Http, Said, flags, line, too_large_problem};
use super::openapi::{ALL_USERS, DRY_RUN, EVEN_REMOVED, OF_IMPORT, RETIRED};
use super::problem::Problem;
use super::reply::Reply;
use crate::counter::Visit;
use crate::told;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use futures_core::Stream;
use heirloom_core::{Code, Fault};
use heirloom_engine::Call;
use heirloom_engine::verbs::archive::{self, BEGINNING, Carries, ReadArchive, WriteArchive, carries};
use heirloom_engine::verbs::events::{self, Since};
use heirloom_engine::verbs::export::{self, Export};
use heirloom_engine::verbs::import;
use heirloom_engine::verbs::{Progress, Watch};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::io::{BufRead, BufReader, Read, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, mpsc};

/// How often the audit is looked at.
const POLL: Duration = Duration::from_secs(1);
/// How long a stream may be silent.
const SILENCE: Duration = Duration::from_secs(15);
/// Pieces that wait for a slow reader before whoever makes them waits.
const PIECES: usize = 16;
/// Memories between two lines of progress.
const STEP: u64 = 500;
/// How long an archive may take, however steadily its client reads or writes.
const LONGEST: Duration = Duration::from_secs(60 * 60);

/// A body of pieces that come through a channel.
struct Pieces(mpsc::Receiver<Bytes>);

impl Stream for Pieces {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|piece| piece.map(Ok))
    }
}

fn streamed(kind: &'static str, pieces: mpsc::Receiver<Bytes>) -> Reply {
    Reply::bytes(kind, Body::from_stream(Pieces(pieces)))
}

/// Changes from now on.
pub(crate) async fn events(
    http: &Arc<Http>,
    mut visit: Visit,
    said: Result<Said, Fault>,
) -> Result<Reply, Problem> {
    visit.project = said?.project;
    let Ok(place) = Arc::clone(&http.streams).try_acquire_owned() else {
        return Err(Problem::later(Code::Overloaded, "too many streams are open", 30));
    };
    // Whoever may not look is told so before the stream begins.
    let mut since = http.ask(visit.clone(), |call| Ok(events::now(call)?)).await?;
    let (sender, pieces) = mpsc::channel(PIECES);
    let http = Arc::clone(http);
    tokio::spawn(async move {
        let _place = place;
        let mut silent = Instant::now();
        let patience = http.limits.request;
        // A client that does not read gives up its place.
        let say = |text: String| {
            let sender = sender.clone();
            async move { sender.send_timeout(Bytes::from(text), patience).await.is_ok() }
        };
        if !say(": from now on\n\n".to_owned()).await {
            return;
        }
        loop {
            tokio::time::sleep(POLL).await;
            if !http.ready.load(std::sync::atomic::Ordering::Relaxed) {
                return;
            }
            let before: Since = since.clone();
            let looked = http.ask(visit.clone(), move |call| Ok(events::since(call, &before)?)).await;
            let happened = match looked {
                Ok((now, happened)) => {
                    since = now;
                    happened
                }
                Err(problem) if problem.code() == Code::Overloaded => continue,
                Err(problem) => {
                    let _ =
                        say(format!("event: end\ndata: {}\n\n", json!({ "code": problem.code().name() })))
                            .await;
                    return;
                }
            };
            for one in &happened {
                silent = Instant::now();
                if !say(format!("event: change\nid: {}-{}\ndata: {}\n\n", one.chain, one.seq, json!(one)))
                    .await
                {
                    return;
                }
            }
            if silent.elapsed() >= SILENCE {
                silent = Instant::now();
                if !say(": still here\n\n".to_owned()).await {
                    return;
                }
            }
        }
    });
    Ok(streamed("text/event-stream", pieces))
}

/// A place for an archive.
fn archived(http: &Http) -> Result<OwnedSemaphorePermit, Problem> {
    Arc::clone(&http.archives)
        .try_acquire_owned()
        .map_err(|_| Problem::later(Code::Overloaded, "other archives are being sent", 30))
}

/// Bytes of the engine that go into a channel. A client that is gone, or reads no more, ends the work: it holds a worker.
struct Into {
    to: mpsc::Sender<Bytes>,
    patience: Duration,
    until: Instant,
}

impl Write for Into {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let gone = || std::io::Error::new(std::io::ErrorKind::BrokenPipe, "the client is gone");
        let left = self.patience.min(self.until.saturating_duration_since(Instant::now()));
        let sending = self.to.send_timeout(Bytes::copy_from_slice(bytes), left);
        // This is one of the threads that may wait.
        tokio::runtime::Handle::current().block_on(sending).map_err(|_| gone())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// What an export is of.
enum Wanted {
    Turns(WriteArchive),
    Files(Export),
}

impl Wanted {
    fn of(said: &Said) -> Result<Wanted, Fault> {
        let only = |what: &str| {
            Err(Fault::new(Code::Usage, format!("a parameter is only for {what}")).hint("leave it out"))
        };
        let shelf = said.shelf.as_deref().filter(|shelf| *shelf != TIERS);
        match shelf {
            None if said.has(&RETIRED) => only("files: an archive of turns and facts holds everything"),
            Some(_) if said.has(&ALL_USERS) => only("turns and facts"),
            None => Ok(Wanted::Turns(WriteArchive { all_users: said.has(&ALL_USERS), user: None })),
            Some(shelf) => {
                let shelf = (shelf != EVERY_FILE).then(|| shelf.to_owned());
                Ok(Wanted::Files(Export { shelf, retired: said.has(&RETIRED) }))
            }
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Wanted::Turns(_) => "application/octet-stream",
            Wanted::Files(_) => "application/x-ndjson",
        }
    }
}

/// How the query names turns and facts, and all shelves of files.
const TIERS: &str = "tiers";
const EVERY_FILE: &str = "files";

/// An archive of turns and facts, or the files of shelves. It is written as it is read; one that breaks off has no end that counts.
pub(crate) async fn export(
    http: &Arc<Http>,
    mut visit: Visit,
    said: Result<Said, Fault>,
) -> Result<Reply, Problem> {
    let said = said?;
    let ask = Wanted::of(&said)?;
    let kind = ask.kind();
    visit.project = said.project;
    let place = archived(http)?;
    let (to, mut pieces) = mpsc::channel(PIECES);
    let working = {
        let http = Arc::clone(http);
        tokio::spawn(async move {
            let into = Into { to, patience: http.limits.body, until: Instant::now() + LONGEST };
            http.ask(visit, move |call| {
                let _place = place;
                let mut out = std::io::BufWriter::with_capacity(64 << 10, into);
                let written = match &ask {
                    Wanted::Turns(ask) => archive::write(call, ask, &mut out, &mut |_| {}).map(drop),
                    Wanted::Files(ask) => export::write(call, ask, &mut out, &mut |_| {}).map(drop),
                };
                if let Err(fault) = written {
                    // What is still here is not sent after a failure.
                    drop(out.into_parts());
                    return Err(fault.into());
                }
                out.flush().map_err(|_| Fault::new(Code::Io, "the client is gone").into())
            })
            .await
        })
    };
    // A refusal comes before the first byte.
    match pieces.recv().await {
        Some(first) => {
            let (again, rest) = mpsc::channel(PIECES);
            tokio::spawn(async move {
                let mut next = Some(first);
                while let Some(piece) = next {
                    if again.send(piece).await.is_err() {
                        return;
                    }
                    next = pieces.recv().await;
                }
            });
            Ok(streamed(kind, rest))
        }
        None => match working.await {
            Ok(Ok(())) => Ok(Reply::bytes(kind, Body::empty())),
            Ok(Err(problem)) => Err(problem),
            Err(_) => Err(Fault::new(Code::Internal, "this request was interrupted").into()),
        },
    }
}

/// Bytes of a client, for the engine to read.
struct From {
    pieces: mpsc::Receiver<std::io::Result<Bytes>>,
    now: Bytes,
}

impl Read for From {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while self.now.is_empty() {
            match self.pieces.blocking_recv() {
                None => return Ok(0),
                Some(piece) => self.now = piece?,
            }
        }
        let count = buffer.len().min(self.now.len());
        buffer[..count].copy_from_slice(&self.now.split_to(count));
        Ok(count)
    }
}

/// Reads an archive; says how far it is, and at the end what came of it.
pub(crate) async fn import(http: &Arc<Http>, mut visit: Visit, request: Request) -> Result<Reply, Problem> {
    let said = flags(&request, OF_IMPORT)?;
    let ask = ReadArchive {
        dry_run: said.has(&DRY_RUN),
        all_users: said.has(&ALL_USERS),
        even_removed: said.has(&EVEN_REMOVED),
        vouch: false,
    };
    visit.project = said.project;
    let most = http.limits.archive;
    let declared = request
        .headers()
        .get(axum::http::header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if declared.is_some_and(|length| length > most) {
        return Err(too_large_problem(most));
    }
    let place = archived(http)?;
    // Whoever may not is told so before anything is read.
    http.ask(visit.clone(), |call| Ok(events::now(call).map(drop)?)).await?;
    let (sender, pieces) = mpsc::channel(PIECES);
    let (progress, lines) = mpsc::channel(PIECES);
    let patience = http.limits.body;
    let mut body = request.into_body();
    tokio::spawn(async move {
        let (mut taken, began) = (0usize, Instant::now());
        let broken = |what: &str| std::io::Error::new(std::io::ErrorKind::UnexpectedEof, what.to_owned());
        loop {
            let piece = match tokio::time::timeout(patience, body.frame()).await {
                Err(_) => Err(broken("the archive took too long")),
                Ok(None) => return,
                Ok(Some(Err(_))) => Err(broken("the archive ended early")),
                Ok(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => Ok(data),
                    Err(_) => continue,
                },
            };
            taken += piece.as_ref().map_or(0, Bytes::len);
            let piece = match piece {
                Ok(_) if taken > most => Err(broken("the archive is too large")),
                Ok(_) if began.elapsed() > LONGEST => Err(broken("the archive took too long")),
                piece => piece,
            };
            let over = piece.is_err();
            if sender.send(piece).await.is_err() || over {
                return;
            }
        }
    });
    let http = Arc::clone(http);
    tokio::spawn(async move {
        let steps = progress.clone();
        let patience = http.limits.body;
        let done = http.ask(visit, move |call| {
            let _place = place;
            let mut from = BufReader::new(From { pieces, now: Bytes::new() });
            let mut last = (0, "");
            let mut watch = |step: Progress| {
                if step.what != last.1 || step.done >= last.0 + STEP {
                    last = (step.done, step.what);
                    let mut progress = json!({ "what": step.what, "done": step.done });
                    if let Some(of) = step.of {
                        progress["of"] = json!(of);
                    }
                    // Whoever does not read how far it is misses that, and gets the result all the same.
                    let _ = steps.try_send(Bytes::from(line(&json!({ "progress": progress }))));
                }
            };
            let result = brought(call, &ask, &mut from, &mut watch)?;
            Ok(json!({ "project": told::project(call.project()), "result": result }))
        });
        let last = match done.await {
            Ok(result) => result,
            Err(problem) => json!({ "error": problem.told() }),
        };
        let _ = progress.send_timeout(Bytes::from(line(&last)), patience).await;
    });
    Ok(streamed("application/x-ndjson", lines))
}

/// What came of an import: of turns and facts, or of files, as the first line says.
fn brought(
    call: &Call,
    ask: &ReadArchive,
    from: &mut dyn BufRead,
    watch: &mut Watch<'_>,
) -> Result<Value, Problem> {
    let mut beginning = Vec::with_capacity(BEGINNING);
    let read = (&mut *from).take(BEGINNING as u64).read_to_end(&mut beginning);
    read.map_err(|e| Fault::new(Code::Input, e.to_string()).hint("send it again, whole"))?;
    let files = carries(&beginning) == Some(Carries::Files);
    let mut from = beginning.as_slice().chain(from);
    if !files {
        return Ok(json!(archive::read(call, ask, &mut from, watch)?));
    }
    if ask.all_users || ask.even_removed {
        return Err(Fault::new(Code::Usage, "a parameter is only for turns and facts")
            .hint("leave all_users and even_removed out")
            .into());
    }
    Ok(json!(import::import_stream(call, ask.dry_run, &mut from, watch)?))
}

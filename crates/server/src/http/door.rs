//! The HTTP door: from a request to a verb and back.
//!
//! Comes in: requests that the guard let pass. Goes out: what the verb answered. Engine work runs in blocking tasks behind a bounded queue: when that
//! is full, whoever comes is told to come back. Never here: who may come in (`guard.rs`), or a rule about memories.

use super::limits::{Limits, Shares};
use super::metrics::Metrics;
use super::openapi;
use super::problem::Problem;
use super::reply::Reply;
use super::routes::{self, Given, Route};
use super::streams;
use crate::counter::{Counter, Visit};
use crate::desk::Visitor;
use crate::{told, uri};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{RawPathParams, Request, State};
use axum::http::{HeaderName, Method, Response, StatusCode, header};
use axum::routing::{MethodFilter, get, on, post};
use heirloom_core::{Code, Fault};
use heirloom_engine::Call;
use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// What all requests share.
pub(crate) struct Http {
    pub(crate) counter: Arc<Counter>,
    pub(crate) limits: Limits,
    pub(crate) shares: Shares,
    pub(crate) metrics: Metrics,
    pub(crate) workers: Arc<Semaphore>,
    pub(crate) queue: Arc<Semaphore>,
    pub(crate) streams: Arc<Semaphore>,
    /// Archives that come or go at once: each takes a worker for as long as its client takes.
    pub(crate) archives: Arc<Semaphore>,
    /// Tokens that are looked up at once before anything else of their request is read.
    pub(crate) strangers: Arc<Semaphore>,
    /// The hash of the token in the token file.
    pub(crate) own_token: Option<String>,
    pub(crate) hosts: Vec<String>,
    pub(crate) origins: Vec<String>,
    pub(crate) ready: AtomicBool,
    /// What the store said when it was last asked whether it can be reached, and when.
    pub(crate) reached: Mutex<Option<(Instant, Option<&'static str>)>>,
    pub(crate) key: Option<Vec<u8>>,
}

/// How long what the store said about itself counts.
const ASKED_AGAIN: Duration = Duration::from_secs(1);

/// The documented path of a route, for figures and logs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named(pub(crate) &'static str);

/// The project of an answer.
const PROJECT_HEADER: HeaderName = HeaderName::from_static("heirloom-project");

impl Http {
    /// What is said when the queue is full.
    pub(crate) fn full(&self) -> Problem {
        self.metrics.overloaded.fetch_add(1, Ordering::Relaxed);
        Problem::later(Code::Overloaded, "the server is too busy at the moment", 1)
    }

    /// Does a piece of engine work.
    pub(crate) async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Http) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let Ok(place) = Arc::clone(&self.queue).try_acquire_owned() else { return Err(self.full()) };
        let turn = Arc::clone(&self.workers).acquire_owned().await;
        let http = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || {
            let _held = (place, turn);
            work(&http)
        });
        done.await.unwrap_or_else(|_| Err(Fault::new(Code::Internal, "this request was interrupted").into()))
    }

    /// The same with a call for whoever asks.
    pub(crate) async fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        visit: Visit,
        work: impl FnOnce(&Call) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        self.work(move |http| {
            let call = http.counter.call(&visit.who, visit.project.as_deref())?;
            work(&call)
        })
        .await
    }
}

/// Every path there is.
pub(crate) fn router(http: &Arc<Http>) -> Router {
    let mut router: Router<Arc<Http>> = Router::new();
    for route in routes::all() {
        let method = Method::from_bytes(route.method.as_bytes()).unwrap_or_default();
        let filter = MethodFilter::try_from(method).unwrap_or(MethodFilter::GET);
        let handler = move |State(http): State<Arc<Http>>, path: RawPathParams, request: Request| async move {
            named(route.path, answered(&http, route, path, request).await)
        };
        router = router.route(route.path, on(filter, handler));
    }
    super::mem0::mounted(router)
        .route("/healthz", get(|| async { named("/healthz", Ok(plain("ok\n"))) }))
        .route("/readyz", get(ready))
        .route(
            "/metrics",
            get(|State(http): State<Arc<Http>>, request: Request| async move {
                let visit = visit(&request);
                let text = http.work(move |http| {
                    // Figures are for whoever has a token at all.
                    http.counter.call(&visit.who, Some("none"))?;
                    Ok(http.metrics.text())
                });
                named("/metrics", text.await.map(|text| plain(&text)))
            }),
        )
        .route("/openapi.json", get(|| async { named("/openapi.json", Ok(Reply::ok(&openapi::document()))) }))
        .route(
            "/v1/projects",
            get(|State(http): State<Arc<Http>>, request: Request| async move {
                let visit = visit(&request);
                named(
                    "/v1/projects",
                    http.work(move |http| Ok(Reply::ok(&http.counter.list(&visit.who)?))).await,
                )
            }),
        )
        .route(
            "/v1/events",
            get(|State(http): State<Arc<Http>>, request: Request| async move {
                named("/v1/events", streams::events(&http, visit(&request), flags(&request, &[])).await)
            }),
        )
        .route(
            "/v1/export",
            get(|State(http): State<Arc<Http>>, request: Request| async move {
                named(
                    "/v1/export",
                    streams::export(&http, visit(&request), flags(&request, openapi::OF_EXPORT)).await,
                )
            }),
        )
        .route(
            "/v1/import",
            post(|State(http): State<Arc<Http>>, request: Request| async move {
                let visit = visit(&request);
                named("/v1/import", streams::import(&http, visit, request).await)
            }),
        )
        .route("/v1/proof", get(super::proof::answer))
        .fallback(|| async { named("", Err(Problem::nowhere())) })
        .method_not_allowed_fallback(|| async {
            let fault = Fault::new(Code::Usage, "this path does not take this method")
                .hint("GET /openapi.json lists what each path takes");
            named("", Err(Problem::with(fault, StatusCode::METHOD_NOT_ALLOWED)))
        })
        .with_state(Arc::clone(http))
}

async fn ready(State(http): State<Arc<Http>>) -> Response<Body> {
    if !http.ready.load(Ordering::Relaxed) {
        return named("/readyz", Ok(plain("ending\n").status(StatusCode::SERVICE_UNAVAILABLE)));
    }
    let reply = match reached(&http).await {
        None => plain("ready\n"),
        Some(code) => plain(&format!("{code}\n")).status(StatusCode::SERVICE_UNAVAILABLE),
    };
    named("/readyz", Ok(reply))
}

/// Why the store cannot be reached, by its code: anybody may ask, so nothing else of it is said. It is asked once a second at most.
async fn reached(http: &Arc<Http>) -> Option<&'static str> {
    let known = *http.reached.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, said)) = known.filter(|(at, _)| at.elapsed() < ASKED_AGAIN) {
        return said;
    }
    let asked = http.work(|http| Ok(http.counter.desk.ready()));
    let said = match asked.await {
        Ok(Ok(())) => None,
        Ok(Err(fault)) => {
            tracing::warn!(code = fault.code.name(), message = fault.message, "the store cannot be reached");
            Some(fault.code.name())
        }
        Err(_) => Some(Code::Overloaded.name()),
    };
    *http.reached.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), said));
    said
}

fn plain(text: &str) -> Reply {
    Reply::bytes("text/plain; charset=utf-8", Body::from(text.to_owned()))
}

/// Who asks, as the guard found out.
pub(crate) fn visit(request: &Request) -> Visit {
    request
        .extensions()
        .get::<Visit>()
        .cloned()
        .unwrap_or(Visit { who: Visitor { token: Some(String::new()), ..Visitor::default() }, project: None })
}

/// An answer that says which route it is of.
pub(crate) fn named(path: &'static str, answer: Result<Reply, Problem>) -> Response<Body> {
    let mut response = answer.unwrap_or_else(|problem| problem.reply()).into_response();
    response.extensions_mut().insert(Named(path));
    response
}

/// The pairs of a query.
pub(crate) fn pairs(request: &Request) -> Result<Vec<(String, String)>, Fault> {
    let query = request.uri().query().unwrap_or_default();
    let decoded = |text: &str| uri::decoded(&text.replace('+', " "));
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        decoded(name).zip(decoded(value)).ok_or_else(|| {
            Fault::new(Code::Usage, "the query cannot be read")
                .hint("write what is not ASCII as % and two digits, in UTF-8")
        })
    };
    query.split('&').filter(|pair| !pair.is_empty()).map(pair).collect()
}

async fn answered(
    http: &Arc<Http>,
    route: &'static Route,
    path: RawPathParams,
    request: Request,
) -> Result<Reply, Problem> {
    let mut visit = visit(&request);
    let mut given = Given {
        path: path.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        ..Given::default()
    };
    given.query = route.query(pairs(&request)?)?;
    visit.project = given.query.remove("project").and_then(|id| id.as_str().map(str::to_owned));
    if route.versioned {
        given.version = Some(version(&request)?);
    }
    let key = idempotency_key(&request)?.filter(|_| route.writes);
    let bytes = body(http, route.body.is_some(), request).await?;
    given.body = route.body(&bytes)?;
    http.ask(visit, move |call| {
        let project = told::project(call.project())["id"].as_str().unwrap_or_default().to_owned();
        let run = || (route.run)(call, &given);
        let reply = match key {
            None => run(),
            Some(key) => super::once::once(call, route, &given, &key, run),
        };
        reply.map(|reply| reply.header(PROJECT_HEADER, &project))
    })
    .await
}

/// The version in `If-Match`.
fn version(request: &Request) -> Result<String, Problem> {
    let given = request.headers().get(header::IF_MATCH).and_then(|value| value.to_str().ok()).map(str::trim);
    let tag = given.and_then(|tag| tag.strip_prefix('"')?.strip_suffix('"')).filter(|tag| !tag.is_empty());
    tag.map(str::to_owned).ok_or_else(|| {
        let fault = Fault::new(Code::Usage, "If-Match is not a version")
            .hint("send the ETag that GET gave, quotes included");
        Problem::with(fault, StatusCode::PRECONDITION_REQUIRED)
    })
}

fn idempotency_key(request: &Request) -> Result<Option<String>, Fault> {
    let Some(value) = request.headers().get("idempotency-key") else { return Ok(None) };
    let key = value
        .to_str()
        .ok()
        .filter(|key| (1..=128).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic()));
    key.map(|key| Some(key.to_owned())).ok_or_else(|| {
        Fault::new(Code::Usage, "the Idempotency-Key is not valid")
            .hint("use 1 to 128 visible ASCII characters, such as a UUID")
    })
}

/// The body of a request, within its limits.
pub(super) async fn body(http: &Http, wanted: bool, request: Request) -> Result<Bytes, Problem> {
    let kind = request
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or_default()
        .to_owned();
    let body = read(http, request.into_body(), http.limits.bytes).await?;
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if wanted && !body.is_empty() && essence != "application/json" {
        let fault = Fault::new(Code::Input, "the request does not say that its body is JSON")
            .hint("send Content-Type: application/json");
        return Err(Problem::with(fault, StatusCode::UNSUPPORTED_MEDIA_TYPE));
    }
    Ok(body)
}

async fn read(http: &Http, body: Body, most: usize) -> Result<Bytes, Problem> {
    let late = || {
        Problem::with(
            Fault::new(Code::Input, "the body took too long").hint("send it at once"),
            StatusCode::REQUEST_TIMEOUT,
        )
    };
    let read =
        tokio::time::timeout(http.limits.body, axum::body::to_bytes(body, most)).await.map_err(|_| late())?;
    read.map_err(|wrong| {
        let too_large = std::error::Error::source(&wrong)
            .is_some_and(|source| source.is::<http_body_util::LengthLimitError>());
        match too_large {
            true => too_large_problem(most),
            false => Fault::new(Code::Input, "the body ended early").hint("send it again, complete").into(),
        }
    })
}

/// A body with more bytes than are taken.
pub(crate) fn too_large_problem(most: usize) -> Problem {
    let fault =
        Fault::new(Code::Input, format!("the body has more than {most} bytes")).hint("send less at once");
    Problem::with(fault, StatusCode::PAYLOAD_TOO_LARGE)
}

/// What the query of a stream says: the flags that are set, a word, and the project.
#[derive(Debug, Default)]
pub(crate) struct Said {
    set: Vec<String>,
    pub(crate) shelf: Option<String>,
    pub(crate) project: Option<String>,
}

impl Said {
    /// Whether a flag is set.
    pub(crate) fn has(&self, param: &routes::Param) -> bool {
        self.set.iter().any(|name| name == param.name)
    }
}

/// What a stream's query says, by the parameters it takes.
pub(crate) fn flags(request: &Request, known: &[&routes::Param]) -> Result<Said, Fault> {
    let mut said = Said::default();
    for (name, value) in pairs(request)? {
        let wrong = || {
            Fault::new(Code::Usage, "a parameter is wrong")
                .hint("GET /openapi.json lists what each path takes")
        };
        if name == routes::PROJECT.name {
            said.project = Some(value);
            continue;
        }
        let param = known.iter().find(|param| param.name == name).ok_or_else(wrong)?;
        let schema: Value = serde_json::from_str(param.schema).unwrap_or_default();
        match (schema["type"].as_str(), value.as_str()) {
            (Some("boolean"), "true") => said.set.push(name),
            (Some("boolean"), "false") => {}
            (Some("string"), _) if crate::shape::fits(&schema, &Value::from(value.as_str())).is_ok() => {
                said.shelf = Some(value);
            }
            _ => return Err(wrong()),
        }
    }
    Ok(said)
}

/// A body that holds one line.
pub(crate) fn line(value: &Value) -> Vec<u8> {
    let mut line = value.to_string().into_bytes();
    line.push(b'\n');
    line
}

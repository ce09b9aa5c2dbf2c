//! The guard in front of the HTTP door: whose request this is, whether it comes from here, and how many there are.
//!
//! Comes in: every request. Goes out: the same with its visitor, or a refusal that is JSON like everything else. Only the names of this server count
//! in `Host` and `Origin`, so that no page of a browser can be made to speak to it. A token that has not counted lately is looked up before a byte of
//! the body is read. A line is logged for each request: method, route, status, time, trace; never a path as it was asked for. Never here: what a token
//! may do; the verbs ask the table of authority.

use super::door::{Http, Named, named, visit};
use super::limits::Wait;
use super::problem::Problem;
use crate::counter::Visit;
use crate::desk::Visitor;
use crate::uri;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Response, StatusCode, Uri, header};
use axum::middleware::Next;
use heirloom_core::{Code, Fault, hash};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// What anybody may ask.
const OPEN: [&str; 4] = ["/healthz", "/readyz", "/openapi.json", "/v1/proof"];

/// Lets a request pass, or says why not.
pub(crate) async fn guard(State(http): State<Arc<Http>>, request: Request, next: Next) -> Response<Body> {
    let began = Instant::now();
    let method = method_name(request.method().as_str());
    let of_mem0 = is_mem0(request.uri().path());
    let trace = trace(request.headers());
    let mut response = match admitted(&http, request, trace.clone(), began) {
        Err(problem) => problem.reply().into_response(),
        Ok(Admitted { request, held, stranger }) => {
            let answering = async {
                if let Some((name, who)) = stranger
                    && let Err(problem) = looked_up(&http, &name, who, began).await
                {
                    return problem.reply().into_response();
                }
                next.run(request).await
            };
            let answered = tokio::time::timeout(http.limits.request, answering).await;
            drop(held);
            answered.unwrap_or_else(|_| {
                let fault = Fault::new(Code::Overloaded, "this took too long")
                    .hint("ask for less, or try again later");
                Problem::with(fault, StatusCode::GATEWAY_TIMEOUT).reply().into_response()
            })
        }
    };
    if of_mem0 {
        as_plain_json(&mut response);
    }
    let route = response.extensions().get::<Named>().map_or("", |named| named.0);
    let (status, took) = (response.status().as_u16(), began.elapsed());
    if status == 401 {
        http.metrics.refused.fetch_add(1, Ordering::Relaxed);
    }
    http.metrics.count(method, route, status, took);
    tracing::info!(
        method,
        route,
        status,
        micros = took.as_micros() as u64,
        trace = trace.as_deref().unwrap_or_default(),
        "request"
    );
    response
}

/// Lets only those pass whose token counts. MCP itself would answer with a result that a client takes for a tool's.
pub(crate) async fn signed_in(State(http): State<Arc<Http>>, request: Request, next: Next) -> Response<Body> {
    let visit = visit(&request);
    // MCP has its own way to the engine, so the queue is asked here.
    let Ok(_place) = Arc::clone(&http.queue).try_acquire_owned() else {
        return named("/mcp", Err(http.full()));
    };
    let known = http.work(move |http| Ok(http.counter.call(&visit.who, Some("none")).map(drop)?)).await;
    match known {
        Err(problem) => named("/mcp", Err(problem)),
        Ok(()) => {
            let mut response = next.run(request).await;
            response.extensions_mut().insert(Named("/mcp"));
            response
        }
    }
}

/// A request that may go on.
struct Admitted {
    request: Request,
    held: Option<tokio::sync::OwnedSemaphorePermit>,
    /// A token that has not counted lately, by its hash.
    stranger: Option<(String, Visitor)>,
}

/// Looks up a token nobody knows yet. Few at a time, so that those who guess keep nobody else waiting.
async fn looked_up(http: &Arc<Http>, name: &str, who: Visitor, now: Instant) -> Result<(), Problem> {
    let _turn = http.strangers.acquire().await;
    http.work(move |http| Ok(http.counter.call(&who, Some("none")).map(drop)?)).await?;
    http.shares.counted(name, now);
    Ok(())
}

fn admitted(
    http: &Http,
    mut request: Request,
    trace: Option<String>,
    now: Instant,
) -> Result<Admitted, Problem> {
    known_host(http, request.uri(), request.headers())?;
    own_origin(http, request.headers())?;
    if OPEN.contains(&request.uri().path()) {
        return Ok(Admitted { request, held: None, stranger: None });
    }
    let token = token(request.headers(), is_mem0(request.uri().path()))?;
    let name = hash::sha256(token.as_bytes());
    let held = http.shares.take(&name, now).map_err(|wait| match wait {
        Wait::Rate(seconds) => {
            Problem::later(Code::RateLimited, "this token sends too many requests", seconds)
        }
        Wait::AtOnce => Problem::later(Code::RateLimited, "this token sends too many requests at once", 1),
    })?;
    // Compared by their hashes, in a time that says nothing.
    let own = http.own_token.as_ref().is_some_and(|own| hash::same(own, &name));
    let who = Visitor { token: (!own).then_some(token), agent: None, trace };
    let project = request.uri().query().and_then(project);
    let stranger = (!own && !http.shares.is_known(&name, now)).then(|| (name, who.clone()));
    request.extensions_mut().insert(Visit { who, project });
    Ok(Admitted { request, held: Some(held), stranger })
}

/// The project that a query names.
fn project(query: &str) -> Option<String> {
    query.split('&').find_map(|pair| pair.strip_prefix("project=")).and_then(uri::decoded)
}

pub(crate) fn known_host(http: &Http, asked: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
    let mut all = headers.get_all(header::HOST).iter();
    let host = all.next().and_then(|host| host.to_str().ok()).map(str::to_ascii_lowercase);
    let known = |host: &str| {
        let bare = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => host.rsplit_once(':').map_or(host, |(name, _)| name),
        };
        http.hosts.iter().any(|known| known == host || known == bare)
    };
    // A whole address in the first line counts before the header.
    let named = asked.authority().is_none_or(|named| known(&named.as_str().to_ascii_lowercase()));
    match (host, all.next()) {
        (Some(host), None) if named && known(&host) => Ok(()),
        _ => Err(refused(
            "this server does not have this host name",
            "use the address it listens on, or start it with --host NAME",
        )),
    }
}

fn own_origin(http: &Http, headers: &HeaderMap) -> Result<(), Problem> {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let is_own = |origin: &axum::http::HeaderValue| {
        origin.to_str().is_ok_and(|origin| http.origins.contains(&origin.to_ascii_lowercase()))
    };
    if origins.all(is_own) {
        return Ok(());
    }
    Err(refused(
        "web pages of other origins may not call this server",
        "call it from a program, or start it with --origin ORIGIN",
    ))
}

fn refused(message: &str, hint: &str) -> Problem {
    Problem::with(Fault::new(Code::Security, message).hint(hint), StatusCode::FORBIDDEN)
}

/// Whether a path is one that mem0's clients ask for.
fn is_mem0(path: &str) -> bool {
    path.strip_prefix(crate::mem0::BASE).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// mem0's clients read what went wrong out of plain JSON only; it holds `detail` and our code either way.
fn as_plain_json(response: &mut Response<Body>) {
    let kind = response.headers_mut().get_mut(header::CONTENT_TYPE);
    if let Some(kind) = kind.filter(|kind| kind.as_bytes() == b"application/problem+json") {
        *kind = header::HeaderValue::from_static("application/json");
    }
}

/// The token of a request. mem0's clients send it as `Token KEY`, programs of its open-source server as `X-API-Key`.
fn token(headers: &HeaderMap, of_mem0: bool) -> Result<String, Problem> {
    let text =
        |value: Option<&header::HeaderValue>| value.and_then(|value| value.to_str().ok()).map(str::to_owned);
    let value = text(headers.get(header::AUTHORIZATION));
    let known = |scheme: &str| {
        scheme.eq_ignore_ascii_case("bearer") || (of_mem0 && scheme.eq_ignore_ascii_case("token"))
    };
    let token = value.as_deref().and_then(|value| value.split_once(' ')).filter(|(scheme, _)| known(scheme));
    let token = token.map(|(_, token)| token.to_owned());
    let token = token.or_else(|| text(headers.get("x-api-key").filter(|_| of_mem0 && value.is_none())));
    let token = token.map(|token| token.trim().to_owned());
    match token.filter(|token| !token.is_empty() && token.len() <= 512) {
        Some(token) => Ok(token),
        None => Err(Fault::new(Code::Unauthenticated, "the request has no token")
            .hint("send Authorization: Bearer TOKEN; the server's token file has one, `heirloom user token` makes one")
            .into()),
    }
}

/// The trace a request belongs to, if it says one in the words of W3C.
fn trace(headers: &HeaderMap) -> Option<String> {
    let text = headers.get("traceparent")?.to_str().ok()?;
    let parts: Vec<&str> = text.split('-').collect();
    let hex =
        |part: &str, length: usize| part.len() == length && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let known = parts.len() == 4 && hex(parts[1], 32) && hex(parts[2], 16);
    // An id of zeros is none, as the standard says.
    (known && parts[1].bytes().any(|digit| digit != b'0')).then(|| parts[1].to_ascii_lowercase())
}

/// A method by its name; whatever is none of these is one.
pub(crate) fn method_name(method: &str) -> &'static str {
    ["GET", "POST", "PATCH", "DELETE", "PUT", "HEAD", "OPTIONS"]
        .into_iter()
        .find(|known| *known == method)
        .unwrap_or("other")
}

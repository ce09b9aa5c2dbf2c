//! The guard in front of the page: only the browser that used the link, under the page's own name, with forms of the page's own.
//!
//! Comes in: every request. Goes out: the same, or a refusal as a page. `Host` must be the random name of this process, so that neither a name that
//! was bound to this machine nor a cookie of 127.0.0.1 is of any use; whatever changes something also needs the page's own `Origin` and its form's
//! token. Every answer says that it may not be framed, and that nothing from elsewhere runs or loads in it. Never here: what a person may do.

use super::form::Form;
use super::{Page, layout};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header};
use axum::middleware::Next;
use heirloom_core::{Code, Fault};
use std::sync::Arc;
use std::time::Instant;

/// The name of the cookie.
pub(crate) const COOKIE: &str = "heirloom";

/// What a page may do: nothing that does not come from here.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Says that a page looks by itself, without anybody doing anything.
pub(crate) const BY_ITSELF: HeaderName = HeaderName::from_static("x-by-itself");

/// The headers of every answer.
const HEADERS: [(HeaderName, &str); 9] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // With `no-referrer` a browser would send `Origin: null` with forms.
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
    (HeaderName::from_static("x-robots-tag"), "noindex"),
    (HeaderName::from_static("x-dns-prefetch-control"), "off"),
];

/// Files that hold nothing of anybody's.
pub(crate) const OPEN: [&str; 3] = ["/style.css", "/app.js", "/icon.svg"];

/// Lets a request pass, or says why not.
pub(crate) async fn guard(State(page): State<Arc<Page>>, request: Request, next: Next) -> Response<Body> {
    let response = match admitted(&page, &request, Instant::now()) {
        Ok(()) => next.run(request).await,
        Err((status, fault)) => layout::refused(status, &fault),
    };
    dressed(response)
}

/// The same answer with the headers of every answer.
pub(crate) fn dressed(mut response: Response<Body>) -> Response<Body> {
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

pub(crate) type Refused = (StatusCode, Fault);

fn admitted(page: &Page, request: &Request, now: Instant) -> Result<(), Refused> {
    let headers = request.headers();
    let path = request.uri().path();
    if one(headers, &header::HOST) != Some(page.host.as_str()) {
        return Err(no("this page has another address", "open the link that `heirloom open` printed"));
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD | Method::POST) {
        return Err(no("this page takes GET and POST only", "use the page's own forms"));
    }
    let enters = path.starts_with("/enter/");
    // Browsers say where a request comes from; only the link itself is followed from elsewhere.
    let site = one(headers, &HeaderName::from_static("sec-fetch-site"));
    if !enters && !matches!(site, None | Some("same-origin" | "none")) {
        return Err(no("another page asked for this", "open the link that `heirloom open` printed"));
    }
    if enters || OPEN.contains(&path) {
        return Ok(());
    }
    let by_itself = headers.contains_key(BY_ITSELF) || path == "/live";
    if !cookie(headers).is_some_and(|cookie| page.session.knows(cookie, now, !by_itself)) {
        let fault =
            Fault::new(Code::Unauthenticated, "this browser has not opened the page, or the session is over")
                .hint("run `heirloom open` again; each link works once, in one browser");
        return Err((StatusCode::UNAUTHORIZED, fault));
    }
    if *request.method() == Method::POST && one(headers, &header::ORIGIN) != Some(page.origin.as_str()) {
        return Err(no("this did not come from the page", "use the page's own forms"));
    }
    Ok(())
}

/// Refuses a form that no page of this session made.
pub(crate) fn own_form(page: &Page, form: &Form) -> Result<(), Fault> {
    match form.text("token").is_some_and(|token| page.session.made_form(token)) {
        true => Ok(()),
        false => Err(no("this form belongs to another session", "reload the page and try again").1),
    }
}

pub(crate) fn no(message: &str, hint: &str) -> Refused {
    (StatusCode::FORBIDDEN, Fault::new(Code::Security, message).hint(hint))
}

/// The value of a header that is there once.
pub(crate) fn one<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut all = headers.get_all(name).iter();
    match (all.next(), all.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

pub(crate) fn cookie(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut named = all
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(name, _)| *name == COOKIE);
    match (named.next(), named.next()) {
        (Some((_, value)), None) => Some(value),
        // Two of that name: somebody else set one.
        _ => None,
    }
}

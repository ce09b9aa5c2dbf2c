//! The page of a server: people sign in with a token, and confirm as a person with the PIN that they set through an invitation.
//!
//! Comes in: every request below a path of the page. Goes out: the screens that need no project, for whoever signed in; a form to sign in for everybody
//! else. Sessions live in this process and nowhere else, each with its token, its cookie (`SameSite=Strict`, `HttpOnly`, `Secure` where there is TLS) and
//! the token of its forms. Without TLS the page has a random name below `localhost`, since a cookie of 127.0.0.1 reaches every port of the machine.
//! Never here: a token or a PIN in an address, a log or on a disk.

use super::form::Form;
use super::guard::{self, Refused};
use super::layout::{self, Screen};
use super::seat::{Guest, Seat};
use super::session::{Secrets, Session};
use super::{Asked, Both, Page, SCREENS, parts};
use crate::desk::{Place, Visitor};
use crate::http::door::Http;
use crate::http::guard as door;
use axum::Router;
use axum::body::Body;
use axum::extract::{Path as InPath, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, Response, StatusCode, header};
use axum::middleware::Next;
use axum::routing::{get, post};
use heirloom_core::{Code, Fault, Verb, fault::Result, hash};
use heirloom_engine::Call;
use heirloom_engine::verbs::doctor::Machine;
use heirloom_engine::verbs::invite::{self, TakeInvite};
use heirloom_engine::verbs::status;
use maud::{Markup, html};
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::watch;

/// People who are signed in at once; whoever was idle longest makes room.
const MOST: usize = 1_000;
/// The largest form of somebody who has not signed in.
const SMALL: usize = 16 << 10;

/// The page of a server.
pub(crate) struct Team {
    /// Sessions by the hash of their cookie.
    seats: Mutex<HashMap<String, Arc<Page>>>,
    /// The page's own name and port, where there is no TLS.
    own_host: Option<String>,
    secure: bool,
}

impl Team {
    /// The page of a server. `own_host` is the name it goes by without TLS.
    pub(crate) fn new(own_host: Option<String>) -> Arc<Team> {
        let secure = own_host.is_none();
        Arc::new(Team { seats: Mutex::default(), own_host, secure })
    }

    fn seats(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Page>>> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whose browser this is.
    fn seated(&self, request: &Request, now: Instant) -> Option<Arc<Page>> {
        let shown = guard::cookie(request.headers())?;
        let by_itself = request.headers().contains_key(guard::BY_ITSELF) || request.uri().path() == "/live";
        let page = self.seats().get(&hash::sha256(shown.as_bytes())).cloned()?;
        page.session.knows(shown, now, !by_itself).then_some(page)
    }

    /// Makes a session; its cookie.
    fn seat(&self, call: &Call, who: Visitor, confirmed: bool, host: &str) -> Result<String> {
        let now = Instant::now();
        let hex = |bytes: [u8; 32]| hash::sha256(&bytes);
        let secrets =
            Secrets { link: hex(call.random()?), cookie: hex(call.random()?), form: hex(call.random()?) };
        let (link, cookie) = (secrets.link.clone(), secrets.cookie.clone());
        let session = Session::new(secrets, now);
        session.enter(&link, now);
        let user = status::user(call)?;
        let page = Arc::new(Page {
            session,
            origin: format!("{}://{host}", if self.secure { "https" } else { "http" }),
            host: host.to_owned(),
            seat: Seat::Guest(Guest::new(who, user, confirmed)),
            examine: Arc::new(|_| Machine::default()),
            agents: Vec::new(),
            said: Mutex::default(),
            figures: Mutex::default(),
            changed: watch::Sender::new(0),
        });
        let mut seats = self.seats();
        seats.retain(|_, page| page.session.left(now).is_some());
        while seats.len() >= MOST {
            let idle =
                seats.iter().min_by_key(|(_, page)| page.session.left(now)).map(|(key, _)| key.clone());
            match idle {
                Some(key) => seats.remove(&key),
                None => break,
            };
        }
        seats.insert(hash::sha256(cookie.as_bytes()), page);
        Ok(cookie)
    }

    fn with_cookie(&self, mut response: Response<Body>, cookie: &str, lives: bool) -> Response<Body> {
        let mut text = format!("{}={cookie}; Path=/; HttpOnly; SameSite=Strict", guard::COOKIE);
        if self.secure {
            text.push_str("; Secure");
        }
        if !lives {
            text.push_str("; Max-Age=0");
        }
        if let Ok(value) = HeaderValue::from_str(&text) {
            response.headers_mut().insert(header::SET_COOKIE, value);
        }
        response
    }
}

/// What the page's paths work with.
#[derive(Clone)]
struct House {
    http: Arc<Http>,
    team: Arc<Team>,
}

/// The paths of the page.
pub(crate) fn routed(http: &Arc<Http>, team: &Arc<Team>) -> Router {
    let house = House { http: Arc::clone(http), team: Arc::clone(team) };
    let mut router: Router<House> = Router::new();
    for (path, shows) in SCREENS.into_iter().chain([("/confirm", confirm as super::Shows)]) {
        let handler = move |State(house): State<House>, request: Request| async move {
            match both(&house, &request) {
                Some(both) if both.page.seat.has(path) => super::shown(both, request, shows).await,
                Some(_) => layout::refused(
                    StatusCode::NOT_FOUND,
                    &Fault::new(
                        Code::NotFound,
                        "this screen is about one machine or project, which a server does not have",
                    )
                    .hint("run `heirloom open` on your own machine for it"),
                ),
                None => layout::sent_to("/signin"),
            }
        };
        router = router.route(path, get(handler));
    }
    router
        .route(
            "/do/{deed}",
            post(|State(house): State<House>, deed: InPath<String>, request: Request| async move {
                match both(&house, &request) {
                    Some(both) => super::done(State(both), deed, request).await,
                    None => layout::sent_to("/signin"),
                }
            }),
        )
        .route(
            "/live",
            get(|State(house): State<House>, request: Request| async move {
                match both(&house, &request) {
                    Some(both) => super::live::stream(State(both)).await,
                    None => layout::sent_to("/signin"),
                }
            }),
        )
        .route("/signin", get(|| async { sign_in_form(StatusCode::OK, None) }).post(signed_in))
        .route("/signout", post(signed_out))
        .route("/invite/{link}", get(|| async { invite_form(StatusCode::OK, None) }).post(taken))
        .route("/style.css", get(super::style))
        .route("/app.js", get(super::script))
        .route("/icon.svg", get(super::icon))
        .with_state(house.clone())
        .layer(axum::middleware::from_fn_with_state(house, guarded))
}

fn both(house: &House, request: &Request) -> Option<Both> {
    let page = request.extensions().get::<Arc<Page>>().cloned()?;
    Some(Both { http: Arc::clone(&house.http), page })
}

/// Lets a request pass, or says why not. Figures and limits are those of every other door of the server.
async fn guarded(State(house): State<House>, mut request: Request, next: Next) -> Response<Body> {
    let began = Instant::now();
    let method = door::method_name(request.method().as_str());
    let lives = request.uri().path() == "/live";
    let response = match admitted(&house, &mut request, began) {
        Err(Turned::Away((status, fault))) => layout::refused(status, &fault),
        Err(Turned::To(path)) => layout::sent_to(&path),
        Err(Turned::Elsewhere(url)) => elsewhere(&url),
        Ok(()) if lives => next.run(request).await,
        Ok(()) => match tokio::time::timeout(house.http.limits.request, next.run(request)).await {
            Ok(response) => response,
            Err(_) => layout::overloaded(),
        },
    };
    let (status, took) = (response.status().as_u16(), began.elapsed());
    if status == 401 {
        house.http.metrics.refused.fetch_add(1, Ordering::Relaxed);
    }
    house.http.metrics.count(method, "/page", status, took);
    tracing::info!(method, route = "/page", status, micros = took.as_micros() as u64, "request");
    guard::dressed(response)
}

/// Why a request does not go on.
enum Turned {
    Away(Refused),
    /// To another screen.
    To(String),
    /// To the page's own name.
    Elsewhere(String),
}

fn admitted(house: &House, request: &mut Request, now: Instant) -> std::result::Result<(), Turned> {
    let House { http, team } = house;
    let no = |message: &str, hint: &str| Turned::Away(guard::no(message, hint));
    let headers = request.headers();
    let path = request.uri().path().to_owned();
    let known = door::known_host(http, request.uri(), headers).is_ok();
    if !known {
        return Err(no(
            "this server does not have this host name",
            "use the address it listens on, or start it with --host NAME",
        ));
    }
    if let Some(own) = &team.own_host
        && guard::one(headers, &header::HOST) != Some(own.as_str())
    {
        return match *request.method() {
            Method::GET => Err(Turned::Elsewhere(format!("http://{own}{path}"))),
            _ => Err(no("this page has another address", "open the page again and use its own forms")),
        };
    }
    if guard::OPEN.contains(&path.as_str()) {
        return Ok(());
    }
    let site = guard::one(headers, &HeaderName::from_static("sec-fetch-site"));
    let outside = path == "/" || path == "/signin" || path.starts_with("/invite/");
    // A link from a mail or a wiki leads to the first page; browsers send no cookie along with it.
    let own = matches!(site, None | Some("same-origin" | "none"));
    let leads_here = outside && *request.method() == Method::GET;
    if !own && !leads_here {
        return Err(no("another page asked for this", "open the page itself"));
    }
    if *request.method() == Method::POST {
        let own = guard::one(headers, &header::ORIGIN)
            .is_some_and(|origin| http.origins.contains(&origin.to_ascii_lowercase()));
        if !own {
            return Err(no("this did not come from the page", "use the page's own forms"));
        }
    }
    let seated = team.seated(request, now);
    let public = path == "/signin" || path.starts_with("/invite/");
    match seated {
        Some(page) => {
            if http.shares.take(&hash::sha256(page.session.form_token().as_bytes()), now).is_err() {
                return Err(Turned::Away((
                    StatusCode::TOO_MANY_REQUESTS,
                    Fault::new(Code::RateLimited, "this session sends too many requests")
                        .hint("wait a moment"),
                )));
            }
            request.extensions_mut().insert(page);
            Ok(())
        }
        None if public => Ok(()),
        None if *request.method() == Method::GET
            && !request.headers().contains_key(layout::PART)
            && path != "/live" =>
        {
            Err(Turned::To("/signin".to_owned()))
        }
        None => Err(Turned::Away((
            StatusCode::UNAUTHORIZED,
            Fault::new(Code::Unauthenticated, "you are not signed in, or the session is over")
                .hint("sign in again"),
        ))),
    }
}

/// Sends a browser to the page's own name.
fn elsewhere(url: &str) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    if let Ok(value) = HeaderValue::from_str(url) {
        response.headers_mut().insert(header::LOCATION, value);
    }
    response
}

fn sign_in_form(status: StatusCode, wrong: Option<&Fault>) -> Response<Body> {
    let body = html! {
        @if let Some(wrong) = wrong { (layout::fault(wrong)) }
        p { "Sign in with the token that you were given. It stays in the memory of this server and goes when you sign out." }
        form.stack method="post" action="/signin" {
            label { "Token " input type="password" name="held" required autocomplete="off" autofocus maxlength="512"; }
            button { "Sign in" }
        }
    };
    layout::alone(status, "Sign in", &body)
}

fn invite_form(status: StatusCode, wrong: Option<&Fault>) -> Response<Body> {
    let body = html! {
        @if let Some(wrong) = wrong { (layout::fault(wrong)) }
        p { "You were invited to use this page as a person. Show your token and choose a PIN; you will type the PIN whenever you sign in to decide something." }
        form.stack method="post" {
            label { "Token " input type="password" name="held" required autocomplete="off" autofocus maxlength="512"; }
            label { "New PIN " input type="password" name="pin" required autocomplete="new-password" minlength="4" maxlength="64"; }
            label { "The PIN again " input type="password" name="again" required autocomplete="new-password" minlength="4" maxlength="64"; }
            button { "Set the PIN" }
        }
        p.dim { "The link works once. After five wrong PINs there is a pause." }
    };
    layout::alone(status, "Set your PIN", &body)
}

/// The form of somebody who has not signed in, and under which name they reach the page.
async fn said(house: &House, request: Request) -> Result<(Form, String)> {
    let host = guard::one(request.headers(), &header::HOST).unwrap_or_default().to_owned();
    let read = axum::body::to_bytes(request.into_body(), SMALL);
    let Ok(Ok(bytes)) = tokio::time::timeout(house.http.limits.body, read).await else {
        return Err(Fault::new(Code::Input, "this form is too large, or ended early").hint("send it again"));
    };
    Ok((Form::read(&String::from_utf8_lossy(&bytes)), host))
}

fn visitor(form: &Form) -> Visitor {
    Visitor { token: Some(form.said("held").unwrap_or_default()), ..Visitor::default() }
}

/// Does what somebody who has not signed in asks for: few at a time, so that those who guess keep nobody else waiting.
async fn entering(
    house: &House,
    request: Request,
    enters: impl FnOnce(&Call, &Form) -> Result<bool> + Send + 'static,
) -> Result<String> {
    let (form, host) = said(house, request).await?;
    let _turn = house.http.strangers.acquire().await;
    let team = Arc::clone(&house.team);
    let worked = house.http.work(move |http| {
        let who = visitor(&form);
        let sat = http.counter.desk.call(&Place::Nowhere, &who).and_then(|call| {
            let confirmed = enters(&call, &form)?;
            team.seat(&call, who.clone(), confirmed, &host)
        });
        Ok(sat)
    });
    worked.await.unwrap_or_else(|_| {
        Err(Fault::new(Code::Overloaded, "the server is too busy at the moment")
            .hint("try again in a moment"))
    })
}

fn status_of(fault: &Fault) -> StatusCode {
    StatusCode::from_u16(fault.code.row().http).unwrap_or(StatusCode::BAD_REQUEST)
}

async fn signed_in(State(house): State<House>, request: Request) -> Response<Body> {
    match entering(&house, request, |_, _| Ok(false)).await {
        Ok(cookie) => house.team.with_cookie(layout::sent_to("/"), &cookie, true),
        Err(fault) => sign_in_form(status_of(&fault), Some(&fault)),
    }
}

/// A link is used: the PIN is set, and whoever set it is a person from now on.
async fn taken(State(house): State<House>, InPath(link): InPath<String>, request: Request) -> Response<Body> {
    let entered = entering(&house, request, move |call, form| {
        let pin = form.text("pin").unwrap_or_default();
        if form.text("again") != Some(pin) {
            return Err(Fault::new(Code::Input, "the two PINs are not the same").hint("type the PIN twice"));
        }
        invite::take(call, &TakeInvite { link, pin: pin.to_owned() })?;
        Ok(true)
    });
    match entered.await {
        Ok(cookie) => house.team.with_cookie(layout::sent_to("/"), &cookie, true),
        Err(fault) => invite_form(status_of(&fault), Some(&fault)),
    }
}

async fn signed_out(State(house): State<House>, request: Request) -> Response<Body> {
    let Some(page) = request.extensions().get::<Arc<Page>>().cloned() else {
        return layout::sent_to("/signin");
    };
    let shown = guard::cookie(request.headers()).map(|cookie| hash::sha256(cookie.as_bytes()));
    let form = match said(&house, request).await {
        Ok((form, _)) => form,
        Err(fault) => return layout::refused(StatusCode::PAYLOAD_TOO_LARGE, &fault),
    };
    if let Err(fault) = guard::own_form(&page, &form) {
        return layout::refused(StatusCode::FORBIDDEN, &fault);
    }
    if let Some(key) = shown {
        house.team.seats().remove(&key);
    }
    house.team.with_cookie(layout::sent_to("/signin"), "", false)
}

/// Where somebody who signed in shows the PIN.
fn confirm(asked: &Asked<'_>) -> Result<Screen> {
    let has = invite::has_pin(asked.call)?;
    let body = match (asked.page.seat.reads(), has) {
        (false, _) => {
            html! { p.calm { "You are confirmed as a person for this session." } p { a href="/" { "Home" } } }
        }
        (true, false) => parts::empty(
            "You have no PIN here yet. The administrator of this server can make a link with which you set one.",
            "heirloom user invite NAME",
        ),
        (true, true) => field(asked),
    };
    Ok(Screen::new("Confirm as a person", "", body))
}

fn field(asked: &Asked<'_>) -> Markup {
    html! {
        p { "Until you type your PIN, this page only reads." }
        form.bar method="post" action="/do/confirm" data-whole {
            (parts::carried(asked, Verb::Confirm))
            label { "PIN " input type="password" name="pin" required autocomplete="off" autofocus maxlength="64"; }
            button { "Confirm" }
        }
    }
}

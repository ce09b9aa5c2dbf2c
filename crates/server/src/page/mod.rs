//! The page: what agents remember, for a person who looks and acts.
//!
//! Comes in: a project, secrets drawn for this process, a [`Desk`] that makes a person's calls. Goes out: screens as HTML, one file each, and what
//! a person did through the verbs. The page holds no rule: what may be done, and to whom what is shown, the verbs say. `open` serves it under a random
//! name on this machine alone, and it ends with the process; on a server (`team`) people sign in. Never here: a script or a style that was not built in.

mod audit;
mod chart;
mod deeds;
mod doctor;
mod form;
mod guard;
mod history;
mod home;
mod join;
mod layout;
mod live;
mod markdown;
mod memory;
mod parts;
mod playground;
mod review;
mod search;
mod seat;
mod session;
mod sessions;
mod settings;
mod team;
mod users;

pub use session::Secrets;

use crate::desk::{Desk, Trial};
use crate::http::door::Http;
use crate::http::{self, Limits};
use axum::Router;
use axum::body::Body;
use axum::extract::{Path as InPath, Request, State};
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::routing::{get, post};
use form::Form;
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::Call;
use heirloom_engine::verbs::doctor::Machine;
use layout::Screen;
use seat::Seat;
use session::Session;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Finds out what only the program on this machine can see.
pub type Examine = Arc<dyn Fn(&Path) -> Machine + Send + Sync>;

/// How a page is set up.
pub struct Options {
    /// The project it is about.
    pub project: PathBuf,
    /// A random name below `localhost`.
    pub host: String,
    /// The secrets of its session.
    pub secrets: Secrets,
    /// What the doctor asks the machine.
    pub examine: Examine,
    /// The agents that the playground knows.
    pub agents: Vec<Agent>,
}

/// An agent and what it takes.
#[derive(Debug, Clone)]
pub struct Agent {
    /// Its name.
    pub name: String,
    /// Most characters of a block.
    pub most: usize,
}

/// The largest form.
const FORM_MAX: usize = 2 << 20;
/// How long a script or style may be kept by a browser.
const KEPT: &str = "private, max-age=3600";

/// What all requests share.
pub(crate) struct Page {
    pub(crate) session: Session,
    /// Name and port, as a browser says them.
    pub(crate) host: String,
    pub(crate) origin: String,
    pub(crate) seat: Seat,
    examine: Examine,
    pub(crate) agents: Vec<Agent>,
    /// What is to be said once, on the next screen.
    said: Mutex<Option<Said>>,
    figures: Mutex<home::Figures>,
    /// Counts changes of files.
    changed: watch::Sender<u64>,
}

/// What became of something a person did.
#[derive(Debug, Clone, Default)]
pub(crate) struct Said {
    pub(crate) text: String,
    /// What takes it back.
    pub(crate) undo: Option<String>,
}

/// What a screen is made from.
pub(crate) struct Asked<'a> {
    pub(crate) call: &'a Call,
    pub(crate) page: &'a Page,
    pub(crate) form: &'a Form,
    http: &'a Http,
}

impl Asked<'_> {
    /// A call like this one, for an agent and with settings that are tried out.
    pub(crate) fn tried(&self, trial: &Trial) -> Result<Call> {
        self.page.seat.call(self.http.counter.desk.as_ref(), trial)
    }
}

/// Serves the page until the system asks it to end or nobody has used it for an hour. `ready` is told the link.
pub fn open(desk: Arc<dyn Desk>, options: Options, ready: impl FnOnce(&str) -> Result<()>) -> Result<()> {
    let served = http::Options {
        listen: ([127, 0, 0, 1], 0).into(),
        projects: vec![options.project.clone()],
        tls: None,
        behind_proxy: false,
        hosts: Vec::new(),
        origins: Vec::new(),
        page: None,
        // Nobody comes by a token.
        token: options.secrets.cookie.clone(),
        key: Vec::new(),
        limits: Limits { connections: 128, workers: 4, streams: 16, ..Limits::default() },
    };
    let Options { project, host, secrets, examine, agents } = options;
    let (name, link) = (host.clone(), secrets.link.clone());
    http::run(
        desk,
        &served,
        move |address| ready(&format!("http://{name}:{}/enter/{link}", address.port())),
        move |http, address, stop| {
            let host = format!("{host}:{}", address.port());
            let page = Arc::new(Page {
                session: Session::new(secrets, Instant::now()),
                origin: format!("http://{host}"),
                host,
                seat: Seat::Opener(project),
                examine,
                agents,
                said: Mutex::default(),
                figures: Mutex::default(),
                changed: watch::Sender::new(0),
            });
            tokio::spawn(ends_idle(Arc::clone(&page), Arc::clone(stop)));
            tokio::spawn(live::watch(Arc::clone(&page), Arc::clone(http)));
            routed(http, &page)
        },
    )
}

/// Serves memory to programs, and a page to whoever signs in, until the system asks it to end. `ready` is told the address once it listens.
pub fn serve(
    desk: Arc<dyn Desk>,
    options: &http::Options,
    ready: impl FnOnce(SocketAddr) -> Result<()>,
) -> Result<()> {
    http::run(desk, options, ready, |http, address, _| {
        let own = options.page_name().map(|name| format!("{name}:{}", address.port()));
        http::routed(http).merge(team::routed(http, &team::Team::new(own)))
    })
}

/// Ends the server when nobody has done anything for an hour.
async fn ends_idle(page: Arc<Page>, stop: Arc<watch::Sender<bool>>) {
    while let Some(left) = page.session.left(Instant::now()) {
        tokio::time::sleep(left.max(Duration::from_millis(100))).await;
    }
    let _ = stop.send(true);
}

/// What both kinds of paths work with.
#[derive(Clone)]
struct Both {
    http: Arc<Http>,
    page: Arc<Page>,
}

type Shows = fn(&Asked<'_>) -> Result<Screen>;

/// Every screen.
const SCREENS: [(&str, Shows); 15] = [
    ("/", home::screen),
    ("/search", search::screen),
    ("/memory", memory::screen),
    ("/edit", memory::edit),
    ("/history", history::screen),
    ("/changes", history::changes),
    ("/review", review::screen),
    ("/preview", review::preview),
    ("/join", join::screen),
    ("/playground", playground::screen),
    ("/sessions", sessions::screen),
    ("/audit", audit::screen),
    ("/doctor", doctor::screen),
    ("/settings", settings::screen),
    ("/users", users::screen),
];

fn routed(http: &Arc<Http>, page: &Arc<Page>) -> Router {
    let mut router: Router<Both> = Router::new();
    for (path, shows) in SCREENS {
        let handler = move |State(both): State<Both>, request: Request| shown(both, request, shows);
        router = router.route(path, get(handler));
    }
    router
        .route("/do/{deed}", post(done))
        .route("/enter/{link}", get(entered))
        .route("/live", get(live::stream))
        .route("/style.css", get(style))
        .route("/app.js", get(script))
        .route("/icon.svg", get(icon))
        .fallback(|| async {
            layout::refused(
                StatusCode::NOT_FOUND,
                &Fault::new(Code::NotFound, "unknown screen").hint("go to the start page"),
            )
        })
        .with_state(Both { http: Arc::clone(http), page: Arc::clone(page) })
        .layer(axum::middleware::from_fn_with_state(Arc::clone(page), guard::guard))
}

async fn style() -> Response<Body> {
    asset("text/css; charset=utf-8", include_str!("assets/style.css"))
}

async fn script() -> Response<Body> {
    asset("text/javascript; charset=utf-8", include_str!("assets/app.js"))
}

async fn icon() -> Response<Body> {
    asset("image/svg+xml", include_str!("assets/icon.svg"))
}

fn asset(kind: &'static str, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(KEPT));
    response
}

/// Takes the link for a cookie. A browser sends no strict cookie along a way that began elsewhere, so the answer is a page that goes on from here.
async fn entered(State(both): State<Both>, InPath(link): InPath<String>) -> Response<Body> {
    let Some(cookie) = both.page.session.enter(&link, Instant::now()) else {
        let fault =
            Fault::new(Code::Unauthenticated, "this link was used already, or belongs to another process")
                .hint("run `heirloom open` again");
        return layout::refused(StatusCode::UNAUTHORIZED, &fault);
    };
    let mut response = layout::entered();
    let cookie = format!("{}={cookie}; Path=/; HttpOnly; SameSite=Strict", guard::COOKIE);
    if let Ok(value) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    response
}

/// A screen.
async fn shown(both: Both, request: Request, shows: Shows) -> Response<Body> {
    let form = Form::read(request.uri().query().unwrap_or_default());
    let part = request.headers().contains_key(layout::PART);
    // What is to be said once is said to whoever did something, not to a page that looks by itself.
    let by_itself = request.headers().contains_key(guard::BY_ITSELF);
    let here = request.uri().path_and_query().map(|path| path.as_str().to_owned()).unwrap_or_default();
    let Both { http, page } = both;
    let worked = http.work(move |http| {
        let screen = with_call(http, &page, &form, shows);
        let said = match &screen {
            Ok(_) if !by_itself => page.said.lock().unwrap_or_else(PoisonError::into_inner).take(),
            _ => None,
        };
        Ok(layout::answer(&page, screen, said, part, &here))
    });
    worked.await.unwrap_or_else(|_| layout::overloaded())
}

fn with_call(http: &Http, page: &Page, form: &Form, shows: Shows) -> Result<Screen> {
    let call = page.seat.call(http.counter.desk.as_ref(), &Trial::default())?;
    shows(&Asked { call: &call, page, form, http })
}

/// Something a person does. Where it leads, the browser is sent; what became of it is said there.
async fn done(State(both): State<Both>, InPath(deed): InPath<String>, request: Request) -> Response<Body> {
    let Both { http, page } = both;
    let part = request.headers().contains_key(layout::PART);
    let read =
        tokio::time::timeout(http.limits.body, axum::body::to_bytes(request.into_body(), FORM_MAX)).await;
    let Ok(Ok(bytes)) = read else {
        let fault =
            Fault::new(Code::Input, "this form is too large, or ended early").hint("send less at once");
        return layout::refused(StatusCode::PAYLOAD_TOO_LARGE, &fault);
    };
    let form = Form::read(&String::from_utf8_lossy(&bytes));
    let worked = http.work(move |http| {
        let done = guard::own_form(&page, &form).and_then(|()| {
            page.seat.may_do(&deed)?;
            let call = page.seat.call(http.counter.desk.as_ref(), &Trial::default())?;
            deeds::run(call, &page, &deed, &form)
        });
        if done.is_ok() {
            // The page sees its own changes before anybody tells it of them.
            page.changed.send_modify(|count| *count += 1);
        }
        Ok(match done {
            Ok(deeds::Done::Went { to, said }) => {
                *page.said.lock().unwrap_or_else(PoisonError::into_inner) = Some(said);
                layout::sent_to(&to)
            }
            Ok(deeds::Done::Shows(screen)) => layout::answer(&page, Ok(screen), None, part, ""),
            Err(fault) => layout::answer(&page, Err(fault), None, part, ""),
        })
    });
    worked.await.unwrap_or_else(|_| layout::overloaded())
}

//! The frame of every screen: navigation, search, messages, help for the keyboard.
//!
//! Comes in: a screen's title and body, or a fault. Goes out: a page, or only its inside for the script that is already there. Every text goes
//! through maud, which writes it as text. Never here: what a screen says; an attribute `style`, which the policy forbids.

use super::{Page, Said, parts};
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Response, StatusCode, header};
use heirloom_core::{Fault, fault::Result};
use maud::{DOCTYPE, Markup, html};

/// Says that only the inside of a page is wanted.
pub(crate) const PART: HeaderName = HeaderName::from_static("x-part");

/// A screen.
pub(crate) struct Screen {
    pub(crate) title: String,
    /// The path of its place in the navigation.
    pub(crate) at: &'static str,
    pub(crate) body: Markup,
}

impl Screen {
    pub(crate) fn new(title: impl Into<String>, at: &'static str, body: Markup) -> Screen {
        Screen { title: title.into(), at, body }
    }
}

/// The navigation: path, name, key after `g`.
const PLACES: [(&str, &str, &str); 9] = [
    ("/", "Home", "h"),
    ("/search", "Search", "s"),
    ("/review", "Review", "r"),
    ("/playground", "Playground", "p"),
    ("/sessions", "Sessions", "e"),
    ("/audit", "Audit", "a"),
    ("/doctor", "Doctor", "d"),
    ("/settings", "Settings", "t"),
    ("/users", "Users", "u"),
];

/// The keys of the page.
const KEYS: [(&str, &str); 11] = [
    ("/", "search"),
    ("j k", "next and previous item"),
    ("Enter", "open the item"),
    ("Space", "select the item"),
    ("a", "accept it"),
    ("x", "reject or retire it; restore it if it is retired"),
    ("m", "join two that say the same into one"),
    ("e", "edit it"),
    ("u", "undo the last change"),
    (
        "g then a letter",
        "go to a screen: h home, s search, r review, p playground, e sessions, a audit, d doctor, t settings, u users",
    ),
    ("?", "this help"),
];

/// A fault as part of a screen.
pub(crate) fn fault(fault: &Fault) -> Markup {
    html! {
        div.fault role="alert" {
            p { strong { (parts::ticked(&fault.message)) } }
            @for (name, value) in &fault.facts { p.dim { (name) ": " (value) } }
            @if !fault.next_step().is_empty() { p { "Next: " (parts::ticked(fault.next_step())) } }
            p.dim { (fault.code.name()) }
        }
    }
}

fn inside(page: &Page, screen: &Screen, said: Option<&Said>, here: &str) -> Markup {
    html! {
        div #said aria-live="polite" {
            @if let Some(said) = said {
                div.said {
                    span { (said.text) }
                    @if let Some(number) = &said.undo {
                        form method="post" action="/do/undo" {
                            input type="hidden" name="token" value=(page.session.form_token());
                            input type="hidden" name="number" value=(number);
                            input type="hidden" name="to" value=(here);
                            button.quiet data-hotkey="u" { "Undo " kbd { "u" } }
                        }
                    }
                }
            }
        }
        h1 tabindex="-1" { (screen.title) }
        (screen.body)
    }
}

fn head(title: &str) -> Markup {
    html! {
        meta charset="utf-8";
        meta name="viewport" content="width=device-width, initial-scale=1";
        meta name="color-scheme" content="light dark";
        title { (title) " · Heirloom" }
        link rel="stylesheet" href="/style.css";
        link rel="icon" href="/icon.svg" type="image/svg+xml";
    }
}

fn whole(page: &Page, screen: &Screen, said: Option<&Said>, here: &str) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head { (head(&screen.title)) script src="/app.js" defer {} }
            body {
                a.skip href="#main" { "Skip to content" }
                header.top {
                    a.brand href="/" { "Heirloom" }
                    (page.seat.shown(page.session.form_token()))
                    form.find role="search" action="/search" {
                        label.hidden for="q" { "Search memories" }
                        input #q type="search" name="q" placeholder="Search memories  ( / )" autocomplete="off" spellcheck="false";
                    }
                    span #live.live role="status" {}
                    button #keys.quiet type="button" aria-haspopup="dialog" { kbd { "?" } span.hidden { " keyboard help" } }
                }
                nav aria-label="Screens" {
                    @for (path, name, key) in PLACES.into_iter().filter(|(path, ..)| page.seat.has(path)) {
                        a href=(path) data-go=(key) aria-current=[(path == screen.at).then_some("page")] { (name) }
                    }
                }
                main #main tabindex="-1" { (inside(page, screen, said, here)) }
                (help())
            }
        }
    }
}

fn help() -> Markup {
    html! {
        dialog #help aria-labelledby="help-title" {
            h2 #help-title { "Keyboard" }
            dl.keys {
                @for (key, does) in KEYS { div { dt { kbd { (key) } } dd { (does) } } }
            }
            label.check { input #hotkeys type="checkbox" checked; " single keys are on" }
            form method="dialog" { button { "Close" } }
        }
    }
}

fn response(status: StatusCode, markup: Markup) -> Response<Body> {
    let mut response = Response::new(Body::from(markup.into_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    response
}

/// A screen or a fault, whole or only its inside.
pub(crate) fn answer(
    page: &Page,
    screen: Result<Screen>,
    said: Option<Said>,
    part: bool,
    here: &str,
) -> Response<Body> {
    let (status, screen) = match screen {
        Ok(screen) => (StatusCode::OK, screen),
        Err(wrong) => {
            let status =
                StatusCode::from_u16(wrong.code.row().http).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            (status, Screen::new("That did not work", "", fault(&wrong)))
        }
    };
    let markup = match part {
        true => inside(page, &screen, said.as_ref(), here),
        false => whole(page, &screen, said.as_ref(), here),
    };
    let mut response = response(status, markup);
    // The script has no other way to know.
    for (name, value) in [("x-title", screen.title.as_str()), ("x-at", screen.at)] {
        let plain: String = value.chars().filter(|c| c.is_ascii_graphic() || *c == ' ').take(80).collect();
        if let Ok(value) = HeaderValue::from_str(&plain) {
            response.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
    response
}

/// A page without anything of the project's, for whoever is turned away.
pub(crate) fn refused(status: StatusCode, wrong: &Fault) -> Response<Body> {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head { (head("Not found")) }
            body.alone { main { h1 { "Not found" } (fault(wrong)) } }
        }
    };
    response(status, markup)
}

/// A page outside the frame, for whoever has not signed in.
pub(crate) fn alone(status: StatusCode, title: &str, body: &Markup) -> Response<Body> {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head { (head(title)) }
            body.alone { main { h1 { (title) } (body) } }
        }
    };
    response(status, markup)
}

/// The page that goes on to the start page by itself.
pub(crate) fn entered() -> Response<Body> {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head { (head("Welcome")) meta http-equiv="refresh" content="0;url=/"; }
            body.alone { main { h1 { "Welcome" } p { a href="/" { "Go on" } } } }
        }
    };
    response(StatusCode::OK, markup)
}

/// Sends the browser elsewhere on this page.
pub(crate) fn sent_to(path: &str) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let own = path.starts_with('/') && !path.starts_with("//") && !path.contains('\\');
    let path = HeaderValue::from_str(path).ok().filter(|_| own).unwrap_or(HeaderValue::from_static("/"));
    response.headers_mut().insert(header::LOCATION, path);
    response
}

/// There is too much to do.
pub(crate) fn overloaded() -> Response<Body> {
    let fault = Fault::new(heirloom_core::Code::Overloaded, "the server is too busy at the moment")
        .hint("try again in a moment");
    refused(StatusCode::SERVICE_UNAVAILABLE, &fault)
}

//! Who sits before the page: whoever opened it at this machine, or somebody who signed in at a server.
//!
//! Comes in: the project that was opened, or a token and later the PIN. Goes out: calls in that person's name, and which screens and forms are theirs. A
//! guest who has not confirmed with the PIN only reads, within the token's scopes. The token stays in this process. Never here: whether something may be
//! done with a memory; the verbs say.

use crate::desk::{Desk, Place, Trial, Visitor};
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::Call;
use maud::{Markup, html};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// Screens that need no project and show nothing of the machine.
const OF_GUESTS: [&str; 12] = [
    "/", "/search", "/memory", "/edit", "/history", "/changes", "/review", "/preview", "/join", "/audit",
    "/users", "/confirm",
];

/// Forms that need no project and change nothing of the machine.
const DEEDS: [&str; 13] = [
    "confirm", "accept", "reject", "retire", "restore", "forget", "edit", "join", "undo", "user", "token",
    "revoke", "invite",
];

/// Who it is.
pub(crate) enum Seat {
    /// The person who opened the page of this project.
    Opener(PathBuf),
    /// Somebody who signed in.
    Guest(Guest),
}

/// Somebody who signed in.
pub(crate) struct Guest {
    who: Visitor,
    user: String,
    /// Whether they showed the PIN.
    confirmed: AtomicBool,
}

impl Guest {
    pub(crate) fn new(who: Visitor, user: String, confirmed: bool) -> Guest {
        Guest { who, user, confirmed: AtomicBool::new(confirmed) }
    }
}

impl Seat {
    /// A call in the name of whoever sits here.
    pub(crate) fn call(&self, desk: &dyn Desk, trial: &Trial) -> Result<Call> {
        match self {
            Seat::Opener(project) => desk.person(&Place::Folder(project.clone()), trial),
            Seat::Guest(guest) if guest.confirmed.load(Ordering::Relaxed) => desk.confirmed(&guest.who),
            Seat::Guest(guest) => desk.call(&Place::Nowhere, &guest.who),
        }
    }

    pub(crate) fn is_guest(&self) -> bool {
        matches!(self, Seat::Guest(_))
    }

    /// Whether this is a guest who only reads.
    pub(crate) fn reads(&self) -> bool {
        matches!(self, Seat::Guest(guest) if !guest.confirmed.load(Ordering::Relaxed))
    }

    /// The guest showed the PIN.
    pub(crate) fn confirm(&self) {
        if let Seat::Guest(guest) = self {
            guest.confirmed.store(true, Ordering::Relaxed);
        }
    }

    /// Whether a screen is theirs.
    pub(crate) fn has(&self, path: &str) -> bool {
        match self {
            Seat::Opener(_) => path != "/confirm",
            Seat::Guest(_) => OF_GUESTS.contains(&path),
        }
    }

    /// Refuses a form that is not theirs, and every form of somebody who only reads but the one that changes that.
    pub(crate) fn may_do(&self, deed: &str) -> Result<()> {
        match self {
            Seat::Opener(_) if deed != "confirm" => Ok(()),
            Seat::Guest(_) if !DEEDS.contains(&deed) => Err(nothing()),
            Seat::Guest(_) if deed == "confirm" || !self.reads() => Ok(()),
            Seat::Guest(_) => Err(Fault::new(Code::NeedsPerson, "you are signed in as a reader")
                .hint("confirm as a person with your PIN first, on the screen Confirm")),
            Seat::Opener(_) => Err(nothing()),
        }
    }

    /// Who it is, in the head of every screen.
    pub(crate) fn shown(&self, form: &str) -> Markup {
        match self {
            Seat::Opener(project) => {
                let name = project.file_name().map(|name| name.to_string_lossy().into_owned());
                html! { span.project title="the project" { (name.unwrap_or_default()) } }
            }
            Seat::Guest(guest) => html! {
                span.project title="you" { (guest.user) }
                @if self.reads() { a.quiet href="/confirm" { "Confirm as a person" } }
                form.inline method="post" action="/signout" data-whole {
                    input type="hidden" name="token" value=(form);
                    button.quiet { "Sign out" }
                }
            },
        }
    }
}

fn nothing() -> Fault {
    Fault::new(Code::NotFound, "unknown form").hint("reload the page")
}

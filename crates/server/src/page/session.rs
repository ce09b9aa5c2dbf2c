//! The session of a page: one link, used once, for one cookie.
//!
//! Comes in: secrets that somebody else drew, and what a browser shows. Goes out: yes or no. The link is dead after its first use; the session ends
//! with the process, or after an hour in which nobody did anything. Everything is compared by hashes, in a time that says nothing. Never here: a
//! secret on a disk.

use heirloom_core::hash;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a page may lie idle.
pub(crate) const IDLE: Duration = Duration::from_secs(3600);

/// The secrets of a session, as hex.
#[derive(Clone)]
pub struct Secrets {
    /// What the link ends with.
    pub link: String,
    /// What the browser is given for it.
    pub cookie: String,
    /// What every form carries.
    pub form: String,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secrets { .. }")
    }
}

#[derive(Debug)]
struct State {
    link_used: bool,
    last: Instant,
}

/// A session.
#[derive(Debug)]
pub(crate) struct Session {
    secrets: Secrets,
    state: Mutex<State>,
}

/// Whether two secrets are the same one.
fn same(known: &str, shown: &str) -> bool {
    hash::same(&hash::sha256(known.as_bytes()), &hash::sha256(shown.as_bytes()))
}

impl Session {
    pub(crate) fn new(secrets: Secrets, now: Instant) -> Session {
        Session { secrets, state: Mutex::new(State { link_used: false, last: now }) }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cookie for a link, the first time it is shown.
    pub(crate) fn enter(&self, link: &str, now: Instant) -> Option<&str> {
        let mut state = self.state();
        if state.link_used || !same(&self.secrets.link, link) || is_over(&state, now) {
            return None;
        }
        (state.link_used, state.last) = (true, now);
        Some(&self.secrets.cookie)
    }

    /// Whether this is the browser that used the link. `acts` if somebody does something with it, rather than a page that looks by itself.
    pub(crate) fn knows(&self, cookie: &str, now: Instant, acts: bool) -> bool {
        let mut state = self.state();
        let known = state.link_used && same(&self.secrets.cookie, cookie) && !is_over(&state, now);
        if known && acts {
            state.last = now;
        }
        known
    }

    /// Whether a form came from a page of this session.
    pub(crate) fn made_form(&self, token: &str) -> bool {
        same(&self.secrets.form, token)
    }

    /// What every form carries.
    pub(crate) fn form_token(&self) -> &str {
        &self.secrets.form
    }

    /// When it ends if nobody does anything; `None` if it is over.
    pub(crate) fn left(&self, now: Instant) -> Option<Duration> {
        let state = self.state();
        (!is_over(&state, now)).then(|| IDLE.saturating_sub(now.saturating_duration_since(state.last)))
    }
}

fn is_over(state: &State, now: Instant) -> bool {
    now.saturating_duration_since(state.last) >= IDLE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(now: Instant) -> Session {
        let text = |text: &str| text.to_owned();
        Session::new(Secrets { link: text("link"), cookie: text("cookie"), form: text("form") }, now)
    }

    #[test]
    fn a_link_is_dead_after_its_first_use_and_only_it_leads_to_the_cookie() {
        let now = Instant::now();
        let one = session(now);
        assert!(!one.knows("cookie", now, true), "nobody has used the link yet");
        assert_eq!(one.enter("other", now), None);
        assert_eq!(one.enter("link", now), Some("cookie"));
        assert_eq!(one.enter("link", now), None);
        assert!(one.knows("cookie", now, true) && !one.knows("link", now, true) && !one.knows("", now, true));
        assert!(one.made_form("form") && !one.made_form("cookie") && !one.made_form(""));
    }

    #[test]
    fn a_session_ends_after_an_hour_in_which_nobody_does_anything() {
        let now = Instant::now();
        let one = session(now);
        one.enter("link", now);
        let half = now + IDLE / 2;
        assert!(one.knows("cookie", half, true));
        // A page that looks by itself keeps nothing alive.
        assert!(one.knows("cookie", half + IDLE / 2, false));
        assert_eq!(one.left(half + IDLE / 2), Some(IDLE / 2));
        assert!(!one.knows("cookie", half + IDLE, true));
        assert_eq!(one.left(half + IDLE), None);
        assert_eq!(session(now).enter("link", now + IDLE), None, "nobody came for an hour");
    }
}

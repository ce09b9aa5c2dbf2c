//! What a server takes at most: connections, bytes, seconds, requests of one token, work at once.
//!
//! Comes in: tokens' names and the time that passed. Goes out: yes, or when to come back. Whoever is not known costs the same as whoever is. Never
//! here: what a request is about.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The limits of a server.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Connections at once; the one that was idle for longest makes room.
    pub connections: usize,
    /// How long the head of a request may take, and how long a connection may be idle.
    pub head: Duration,
    /// How long a body may take.
    pub body: Duration,
    /// How long a request may take.
    pub request: Duration,
    /// The largest body, in bytes.
    pub bytes: usize,
    /// The largest archive, in bytes.
    pub archive: usize,
    /// Requests of one token in a second, kept up.
    pub rate: f64,
    /// Requests of one token at once.
    pub at_once: usize,
    /// Requests that the engine works on at once.
    pub workers: usize,
    /// Requests that wait for the engine; more are told to come back.
    pub queue: usize,
    /// Streams of events at once.
    pub streams: usize,
    /// Archives that come or go at once.
    pub archives: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 4096,
            head: Duration::from_secs(10),
            body: Duration::from_secs(15),
            request: Duration::from_secs(30),
            bytes: 1 << 20,
            archive: 1 << 30,
            rate: 2_000.0,
            at_once: 128,
            workers: 8,
            queue: 512,
            streams: 64,
            archives: 2,
        }
    }
}

/// Names that are remembered; those silent for longest make room.
const NAMES: usize = 10_000;
/// For how long a token that counted is let through to where it is looked up again, with the request itself.
const TRUSTED: Duration = Duration::from_secs(60);

/// What is left of a token's share.
#[derive(Debug)]
struct Share {
    left: f64,
    at: Instant,
    open: Arc<Semaphore>,
    /// When it last counted.
    counted: Option<Instant>,
}

/// The shares of all tokens.
#[derive(Debug)]
pub(crate) struct Shares {
    rate: f64,
    at_once: usize,
    known: Mutex<HashMap<String, Share>>,
}

/// Why a request has to wait.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Too many in a second; come back after so many seconds.
    Rate(u64),
    /// Too many at once.
    AtOnce,
}

impl Shares {
    pub(crate) fn new(rate: f64, at_once: usize) -> Shares {
        Shares { rate, at_once, known: Mutex::default() }
    }

    /// Takes one request from a share. Two seconds' worth may come at once.
    pub(crate) fn take(&self, name: &str, now: Instant) -> Result<OwnedSemaphorePermit, Wait> {
        let most = self.rate * 2.0;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= NAMES && !known.contains_key(name) {
            let silent = known.iter().min_by_key(|(_, share)| share.at).map(|(name, _)| name.clone());
            silent.map(|silent| known.remove(&silent));
        }
        let share = known.entry(name.to_owned()).or_insert_with(|| Share {
            left: most,
            at: now,
            open: Arc::new(Semaphore::new(self.at_once)),
            counted: None,
        });
        let passed = now.saturating_duration_since(share.at).as_secs_f64();
        share.left = (share.left + passed * self.rate).min(most);
        share.at = now;
        if share.left < 1.0 {
            return Err(Wait::Rate((((1.0 - share.left) / self.rate).ceil() as u64).max(1)));
        }
        share.left -= 1.0;
        Arc::clone(&share.open).try_acquire_owned().map_err(|_| Wait::AtOnce)
    }

    /// Whether a token counted a moment ago. That opens nothing: it only says that its body may be read before it is looked up again.
    pub(crate) fn is_known(&self, name: &str, now: Instant) -> bool {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let counted = known.get(name).and_then(|share| share.counted);
        counted.is_some_and(|at| now.saturating_duration_since(at) < TRUSTED)
    }

    /// Remembers that a token counted.
    pub(crate) fn counted(&self, name: &str, now: Instant) {
        if let Some(share) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get_mut(name) {
            share.counted = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_asks_too_much_waits_and_others_do_not() {
        let shares = Shares::new(5.0, 100);
        let now = Instant::now();
        let taken: Vec<_> = (0..10).map(|_| shares.take("a", now).unwrap()).collect();
        assert_eq!(shares.take("a", now).unwrap_err(), Wait::Rate(1));
        assert!(shares.take("b", now).is_ok());
        assert!(shares.take("a", now + Duration::from_secs(1)).is_ok());
        drop(taken);
    }

    #[test]
    fn requests_at_once_are_counted_until_they_end() {
        let shares = Shares::new(1000.0, 2);
        let now = Instant::now();
        let (_one, two) = (shares.take("a", now).unwrap(), shares.take("a", now).unwrap());
        assert_eq!(shares.take("a", now).unwrap_err(), Wait::AtOnce);
        drop(two);
        assert!(shares.take("a", now).is_ok());
    }

    #[test]
    fn a_token_is_known_for_a_while_after_it_counted() {
        let shares = Shares::new(1000.0, 2);
        let now = Instant::now();
        shares.counted("a", now);
        assert!(!shares.is_known("a", now), "one that never asked is not remembered");
        let _one = shares.take("a", now).unwrap();
        assert!(!shares.is_known("a", now));
        shares.counted("a", now);
        assert!(shares.is_known("a", now) && !shares.is_known("b", now));
        assert!(!shares.is_known("a", now + TRUSTED));
    }

    #[test]
    fn names_are_remembered_within_bounds() {
        let shares = Shares::new(1.0, 1);
        let now = Instant::now();
        for n in 0..NAMES + 50 {
            let _ = shares.take(&n.to_string(), now);
        }
        assert!(shares.known.lock().unwrap().len() <= NAMES);
    }
}

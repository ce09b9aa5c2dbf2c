//! The tiers: on PostgreSQL, Heirloom beside the bare statements through the same client, role and policies ([`postgres`]); on SQLite, the search of one
//! user among a thousand as the deployment grows from ten thousand turns to a million.
//!
//! Comes in: which of them, and how many. Goes out: figures, a line each. Never here: a verdict.

mod bare;
mod postgres;

use crate::stress::tiers::{Dice, engine, fill, sentence, told};
use crate::{Outcome, report};
use heirloom_core::Channel;
use heirloom_engine::gate::Entry;
use heirloom_engine::shelf::tiers::{SqliteStore, TierStore};
use std::sync::Arc;
use std::time::{Duration, Instant};

const OWNER: Entry = Entry { channel: Channel::OwnerMessage, confirmed: false };
const ROUNDS: usize = 600;

pub(crate) fn run(words: &[String]) -> Outcome {
    const USAGE: &str = "usage: bench tiers [postgres | sqlite | alone | load [MEMORIES] | sign-in [ACCOUNTS] | crowd [USERS [EACH]]]";
    let number = |at: usize, usual: usize| match words.get(at) {
        None => Ok(usual),
        Some(word) => word.parse().ok().filter(|n| *n > 0).ok_or(USAGE),
    };
    match words.first().map(String::as_str) {
        None => postgres::beside().and_then(|()| sqlite()),
        Some("postgres") => postgres::beside(),
        Some("sqlite") => sqlite(),
        Some("alone") => alone(),
        Some("load") => postgres::load(number(1, 20_000)?),
        Some("sign-in") => postgres::sign_in(number(1, 100_000)?),
        Some("crowd") => postgres::crowd(number(1, 1_000)?, number(2, 1_000)?),
        Some(_) => Err(USAGE.to_owned()),
    }
}

/// Five words of a turn that was stored.
fn question(n: usize) -> String {
    sentence(n).split(' ').step_by(2).take(5).collect::<Vec<_>>().join(" ")
}

/// Sorted times, and places in them.
struct Times(Vec<Duration>);

impl Times {
    fn at(&mut self, share: f64) -> f64 {
        self.0.sort_unstable();
        let place = ((self.0.len() as f64 - 1.0) * share).round() as usize;
        self.0.get(place).copied().unwrap_or_default().as_secs_f64() * 1e3
    }
}

fn timed<T>(times: &mut Times, call: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let began = Instant::now();
    let outcome = call()?;
    times.0.push(began.elapsed());
    Ok(outcome)
}

const USERS: usize = 1_000;

fn sqlite() -> Outcome {
    let mut first = None;
    for each in [10, 1_000] {
        let folder = tempfile::tempdir_in("/tmp").map_err(|e| e.to_string())?;
        let store: Arc<dyn TierStore> = Arc::new(SqliteStore::at(&folder.path().join("tiers")));
        let began = Instant::now();
        for n in 0..USERS {
            fill(&engine(&store, folder.path(), &format!("user-{n}"))?.tiers().map_err(told)?, each)?;
        }
        let filled = began.elapsed().as_secs_f64();
        let p50 = searched(&store, folder.path(), "user-500", each, USERS * each, filled)?;
        match first {
            None => first = Some(p50),
            Some(first) => {
                report::line(&format!("growth of p50 from 10,000 to 1,000,000: {:.2}x", p50 / first))
            }
        }
    }
    Ok(())
}

/// One user who has everything.
fn alone() -> Outcome {
    let mut first = None;
    for each in [10_000, 1_000_000] {
        let folder = tempfile::tempdir_in("/tmp").map_err(|e| e.to_string())?;
        let store: Arc<dyn TierStore> = Arc::new(SqliteStore::at(&folder.path().join("tiers")));
        let began = Instant::now();
        fill(&engine(&store, folder.path(), "one")?.tiers().map_err(told)?, each)?;
        let filled = began.elapsed().as_secs_f64();
        let p50 = searched(&store, folder.path(), "one", each, each, filled)?;
        match first {
            None => first = Some(p50),
            Some(first) => report::line(&format!("growth of p50 for one user: {:.2}x", p50 / first)),
        }
    }
    Ok(())
}

fn searched(
    store: &Arc<dyn TierStore>,
    folder: &std::path::Path,
    user: &str,
    each: usize,
    total: usize,
    filled: f64,
) -> Result<f64, String> {
    let engine = engine(store, folder, user)?;
    let tiers = engine.tiers().map_err(told)?;
    let mut times = Times(Vec::new());
    let mut dice = Dice::new();
    for n in 0..ROUNDS + 20 {
        let question = question(dice.below(each));
        let began = Instant::now();
        let found = tiers.search(&question, None, 10).map_err(told)?;
        if n >= 20 {
            times.0.push(began.elapsed());
        }
        if found.is_empty() {
            return Err(format!("nothing found for `{question}`"));
        }
    }
    let (p50, p99) = (times.at(0.5), times.at(0.99));
    report::line(&format!(
        "{total} turns, {each} of them the user's: search p50 {p50:.2} ms, p99 {p99:.2} ms ({:.0} turns stored a second)",
        total as f64 / filled
    ));
    Ok(p50)
}

//! How much waits, without listing it.
//!
//! Comes in: the gists of records. Goes out: the number that [`super::pending`] would list, without notes that do not validate. Never here: a memory's text read where its gist says enough.

use super::{row_of, stale, steers};
use crate::call::Call;
use crate::shelf::records::Gist;
use crate::shelf::{Listing, Problem, provenance};
use heirloom_core::{Code, Kind, Memory, ShelfName, Status, Trust, fault::Result};

/// How much waits for a person, but for notes that do not validate, which whoever asks has counted.
pub(crate) fn count(call: &Call, records: &[Gist]) -> Result<usize> {
    let mut waiting = call.vault().doubts()?.len() + stale(call)?.len();
    for inbox in call.inboxes()? {
        waiting += inbox.list(call.project().world().now)?.len() + inbox.broken()?.len();
    }
    for shelf in call.shelves() {
        if matches!(shelf.name(), ShelfName::Tiers | ShelfName::Records) {
            continue;
        }
        let wanted = |m: &Memory| {
            m.trust < Trust::High && steers(m) && {
                let text = format!("{}\n{}", m.title, m.body);
                call.screen().would_refuse(&text, row_of(m)).is_none()
            }
        };
        waiting += shelf.list(&Listing::active())?.iter().filter(|memory| wanted(memory)).count();
        waiting += shelf.verify()?.iter().filter(|problem| is_held(problem)).count();
    }
    Ok(waiting + of_records(call, records)?)
}

fn is_held(problem: &Problem) -> bool {
    problem.code == Code::GateRefused.name()
        || problem.code == Code::AntiResurrection.name()
        || problem.message.contains("was forgotten")
}

fn of_records(call: &Call, records: &[Gist]) -> Result<usize> {
    let forgotten = provenance::forgotten(call.project().root())?;
    let mut waiting = 0;
    for gist in records {
        let steers = matches!(gist.kind, Kind::Constraint | Kind::Preference);
        // A status nobody knows counts as active, as in a list.
        let active = gist.status.unwrap_or(Status::Active) == Status::Active;
        if steers && active && !gist.held_back {
            waiting += usize::from(call.standing(gist.id.as_str(), &gist.hash)?.trust() < Trust::High);
        }
        // Of a category that nobody knows only that is said.
        if call.settings().category(gist.kind.name()).is_some() {
            waiting += gist.refused;
        }
        let back = || provenance::came_back(call, gist.id.as_str(), &gist.hash);
        waiting += usize::from(forgotten.contains(gist.id.as_str()) && back());
    }
    Ok(waiting)
}

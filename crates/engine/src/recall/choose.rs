//! The last step of every search of the tiers, whatever backend scored it: who is among the answers.
//!
//! Comes in: scored memories, more than wanted. Goes out: as many as wanted, best first; what says the same as a trusted one stands behind
//! it, and a crowd of others leaves places to the trusted. Never here: a score.

use crate::index::Trust;
use crate::rank::{Compared, is_mixed, put_behind, seated};
use crate::shelf::tiers::Found;

/// The answers.
pub fn chosen(mut found: Vec<Found>, limit: usize) -> Vec<Found> {
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.memory.id.cmp(&b.memory.id)));
    let trust = |one: &Found| Trust::from(one.memory.trust);
    if is_mixed(found.iter().map(trust)) {
        let compared = |one: &Found| {
            let heading = one.memory.heading().unwrap_or_default();
            Compared::of(trust(one), heading, &one.memory.content, &one.explain.terms)
        };
        let texts: Vec<Compared> = found.iter().map(compared).collect();
        let ids: Vec<String> = found.iter().map(|one| one.memory.id.clone()).collect();
        found = put_behind(found, &texts, |one, high| one.explain.behind = Some(ids[high].clone()));
    }
    // Only now who has a place: where there is room for one, it is the trusted one of its variants.
    seated(found, limit, trust, |one| one.explain.is_telling())
}

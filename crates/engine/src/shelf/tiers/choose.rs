//! The last step of every search, whatever backend scored it: who is among the answers.
//!
//! Comes in: scored memories, more than wanted. Goes out: as many as wanted, best first; what says the same as a trusted one stands behind
//! it, and a crowd of others leaves places to the trusted. For backends that rank by themselves also why a memory was met. Never here: a
//! score.

use super::store::Found;
use super::stored::Stored;
use super::terms::terms;
use crate::index::{Trust, rarity};
use crate::recall::kin::About;
use crate::recall::{Compared, Explain, is_mixed, put_behind, seated};

/// Memories a backend should bring for one that is wanted, so that there is something to choose from.
pub const SPARE: usize = 4;

/// Trusted memories a backend should bring however many others score better.
pub const SEATS: usize = 24;

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

/// Why a memory was met: which of the question's terms it holds, each counted by how rare it is among `all` memories, and how near its vector
/// is. `having` says how many hold each term.
pub fn explained(memory: &Stored, asked: &[(String, f32)], having: &[i64], all: i64, cosine: f64) -> Explain {
    let held = terms(&memory.searched());
    let about = About::of(asked.iter().map(|(term, _)| term.as_str()));
    // A word nobody wrote tells nothing apart; it counts like one that a single memory holds.
    let worth = |having: i64| rarity(all as f32, having.max(1) as f32);
    let worths = asked.iter().zip(having).map(|((term, weight), having)| (term, weight * worth(*having)));
    let (mut sum, mut met, mut covered, mut counted) = (0.0, Vec::new(), 0.0, 0);
    for (at, (term, worth)) in worths.enumerate() {
        let counts = about.counts(at);
        sum += if counts { worth } else { 0.0 };
        if held.contains(term) {
            met.push((term.clone(), worth));
            covered += if counts { worth } else { 0.0 };
            counted += usize::from(counts);
        }
    }
    let covered = if sum > 0.0 { covered / sum } else { 0.0 };
    Explain { covered, held: counted, terms: met, cosine: Some(cosine as f32), ..Explain::default() }
}

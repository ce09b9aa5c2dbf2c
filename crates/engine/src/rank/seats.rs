//! Seats for the trusted: however many little-trusted memories crowd around a question, what a person stands behind is still among the
//! candidates, among the hits, and in the block.
//!
//! In: a ranking, and who is trusted. Out: the same ranking, with places kept. Nothing is scored here.

use crate::index::{IndexError, Matches, Reader, Trust};

/// Trusted memories that are looked at, the newest of them.
const LOOKED_AT: usize = 4_096;
/// Seats among the candidates.
const SEATS: usize = 24;
/// The share of the best keyword score that a seat needs: a trusted memory about something else has no business here.
pub(crate) const SHARE: f32 = 0.25;

/// Trusted memories that keywords alone would have left out of `best`; none while there is room for everybody.
pub(crate) fn beyond(
    reader: &Reader<'_>,
    matches: &Matches,
    best: &[(u32, f32)],
    most: usize,
) -> Result<Vec<u32>, IndexError> {
    let Some((_, top)) = best.first().filter(|_| best.len() >= most) else { return Ok(Vec::new()) };
    let mut waiting: Vec<(u32, f32)> = reader
        .trusted(LOOKED_AT)?
        .into_iter()
        .map(|number| (number, matches.score(number)))
        .filter(|(_, score)| *score >= SHARE * top)
        .collect();
    waiting.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    waiting.truncate(SEATS);
    Ok(waiting.into_iter().map(|(number, _)| number).collect())
}

/// The first `limit` of a ranking. Of those, others take at most half while a trusted one that `fits` waits further down; the order stays.
pub(crate) fn seated<T>(
    ranked: Vec<T>,
    limit: usize,
    trust: impl Fn(&T) -> Trust,
    fits: impl Fn(&T) -> bool,
) -> Vec<T> {
    if ranked.len() <= limit {
        return ranked;
    }
    let seat = |one: &T| trust(one) == Trust::High && fits(one);
    let mut waiting = ranked.iter().skip(limit).filter(|one| seat(one)).count();
    let there = ranked.iter().take(limit).filter(|one| seat(one)).count();
    // So many of the last others make room.
    let mut leave = waiting.min((limit / 2).saturating_sub(there));
    waiting = leave;
    let mut stays: Vec<bool> = ranked.iter().enumerate().map(|(at, _)| at < limit).collect();
    for (at, one) in ranked.iter().enumerate().take(limit).rev() {
        if leave > 0 && !seat(one) {
            stays[at] = false;
            leave -= 1;
        }
    }
    waiting -= leave;
    for (at, one) in ranked.iter().enumerate().skip(limit) {
        if waiting > 0 && seat(one) {
            stays[at] = true;
            waiting -= 1;
        }
    }
    ranked.into_iter().zip(stays).filter(|(_, stays)| *stays).map(|(one, _)| one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn seats(ranked: &[(u32, Trust)], limit: usize) -> Vec<u32> {
        seated(ranked.to_vec(), limit, |one| one.1, |_| true).into_iter().map(|one| one.0).collect()
    }

    #[test]
    fn a_crowd_of_others_leaves_half_of_the_places_to_the_trusted() {
        let mut crowd: Vec<(u32, Trust)> = (0..1_000).map(|n| (n, Trust::Low)).collect();
        crowd.push((1_000, Trust::High));
        assert_eq!(seats(&crowd, 4), [0, 1, 2, 1_000]);
        crowd.extend((1_001..1_010).map(|n| (n, Trust::High)));
        assert_eq!(seats(&crowd, 4), [0, 1, 1_000, 1_001]);
        let none = seated(crowd, 4, |one| one.1, |_| false);
        assert_eq!(none.iter().map(|one| one.0).collect::<Vec<_>>(), [0, 1, 2, 3]);
    }

    proptest! {
        #[test]
        fn seats_are_kept_in_order_and_never_more_than_there_are(levels in prop::collection::vec(0u8..3, 0..30), limit in 0usize..12) {
            let trust = |n: u8| [Trust::Low, Trust::Medium, Trust::High][n as usize];
            let ranked: Vec<(u32, Trust)> = (0..).zip(levels.into_iter().map(trust)).collect();
            let got = seats(&ranked, limit);
            prop_assert_eq!(got.len(), limit.min(ranked.len()));
            prop_assert!(got.is_sorted());
            let high = |numbers: &[u32]| numbers.iter().filter(|n| ranked[**n as usize].1 == Trust::High).count();
            let all: Vec<u32> = ranked.iter().map(|one| one.0).collect();
            prop_assert!(high(&got) >= high(&all).min(limit / 2));
            // Nobody who is trusted goes for somebody who is not.
            prop_assert!(high(&got) >= high(&all[..limit.min(all.len())]));
        }
    }
}

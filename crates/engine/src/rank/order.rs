//! Where trust decides: twins of different trust, and how much of a block the little-trusted may take.
//!
//! In: ranked hits. Out: the same hits in the order and number a block may show them. Nothing is scored here.

use std::collections::HashSet;

use crate::index::{IndexError, Reader, Trust, each_term};

use super::hybrid::Hit;

/// Hits whose texts are compared.
const COMPARED: usize = 200;
/// Share of the smaller text's terms that makes two texts say the same.
const SAME: f32 = 0.8;

/// The same where the trusted text also holds every word of the question that the other one holds: a variant, made for this question.
const VARIANT: f32 = 0.5;

/// A text as it is compared: how far it is trusted, its terms, and those of the question among them.
pub(crate) struct Compared {
    trust: Trust,
    terms: HashSet<String>,
    asked: HashSet<String>,
}

impl Compared {
    pub(crate) fn of(trust: Trust, title: &str, body: &str, asked: &[(String, f32)]) -> Compared {
        let asked = asked.iter().map(|(term, _)| term.clone()).collect();
        let mut terms = HashSet::new();
        each_term(title, |t, _| _ = terms.insert(t.to_owned()));
        each_term(body, |t, _| _ = terms.insert(t.to_owned()));
        Compared { trust, terms, asked }
    }

    /// Whether this one, which is trusted less, says what the other one says.
    fn repeats(&self, trusted: &Compared) -> bool {
        let share = if self.asked.is_subset(&trusted.asked) { VARIANT } else { SAME };
        same(&self.terms, &trusted.terms, share)
    }
}

/// Puts a hit that says what a trusted one says right behind that one, if it is trusted less.
pub(crate) fn behind_the_trusted(reader: &Reader<'_>, hits: Vec<Hit>) -> Result<Vec<Hit>, IndexError> {
    if !is_mixed(hits.iter().map(|hit| hit.trust)) {
        return Ok(hits);
    }
    let (mut texts, mut ids) = (Vec::new(), Vec::new());
    for hit in hits.iter().take(COMPARED) {
        let document = reader.document(hit.number)?.unwrap_or_default();
        texts.push(Compared::of(hit.trust, &document.title, &document.body, &hit.why.terms));
        ids.push(document.id);
    }
    Ok(put_behind(hits, &texts, |hit, high| hit.why.behind = Some(ids[high].clone())))
}

/// The same hits, those that say what a trusted one says right behind that one; `mark` tells each of them behind which one it stands now.
pub(crate) fn put_behind<T>(hits: Vec<T>, texts: &[Compared], mark: impl Fn(&mut T, usize)) -> Vec<T> {
    let mut hits: Vec<Option<T>> = hits.into_iter().map(Some).collect();
    let ordered = places(texts, hits.len()).into_iter().filter_map(|(at, behind)| {
        let mut hit = hits[at].take()?;
        if let Some(high) = behind {
            mark(&mut hit, high);
        }
        Some(hit)
    });
    ordered.collect()
}

/// Whether there is anything to put behind anything.
pub(crate) fn is_mixed(trusts: impl Iterator<Item = Trust>) -> bool {
    let (mut high, mut other) = (false, false);
    for trust in trusts.take(COMPARED) {
        high |= trust == Trust::High;
        other |= trust != Trust::High;
    }
    high && other
}

/// The order in which hits stand, each with the one it was put behind. Hits beyond those compared stay where they are.
fn places(texts: &[Compared], all: usize) -> Vec<(usize, Option<usize>)> {
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); texts.len()];
    let mut leader: Vec<Option<usize>> = vec![None; texts.len()];
    for (at, text) in texts.iter().enumerate().filter(|(_, text)| text.trust != Trust::High) {
        // Only one that stands behind it now is of interest.
        let better = (at + 1..texts.len())
            .find(|high| texts[*high].trust == Trust::High && text.repeats(&texts[*high]));
        if let Some(high) = better {
            leader[at] = Some(high);
            followers[high].push(at);
        }
    }
    let mut order = Vec::with_capacity(all);
    for at in 0..all {
        if leader.get(at).is_some_and(Option::is_some) {
            continue;
        }
        order.push((at, None));
        order.extend(followers.get(at).into_iter().flatten().map(|low| (*low, Some(at))));
    }
    order
}

fn same(a: &HashSet<String>, b: &HashSet<String>, share: f32) -> bool {
    let (small, large) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    // Texts of very different length do not say the same even if one is a part of the other.
    if small.len() < 3 || large.len() > small.len() * 2 {
        return false;
    }
    small.intersection(large).count() as f32 >= share * small.len() as f32
}

/// The hits that may stand in a block of `room`: what has less than high trust takes at most half while a high-trust hit waits, so that
/// nothing is pushed out by something of lower trust.
pub fn block<T>(hits: &[T], room: usize, trust: impl Fn(&T) -> Trust) -> Vec<&T> {
    let mut chosen: Vec<&T> = Vec::with_capacity(room.min(hits.len()));
    let mut passed: Vec<&T> = Vec::new();
    let last = hits.iter().rposition(|hit| trust(hit) == Trust::High);
    let mut others = 0;
    for (i, hit) in hits.iter().enumerate() {
        if chosen.len() == room {
            break;
        }
        let other = trust(hit) != Trust::High;
        if other && (others + 1) * 2 > room && last.is_some_and(|last| last > i) {
            passed.push(hit);
            continue;
        }
        others += usize::from(other);
        chosen.push(hit);
    }
    // Room that no better-trusted hit filled goes to those passed over.
    let rest = room - chosen.len();
    chosen.extend(passed.into_iter().take(rest));
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::Explain;

    fn hits(trusts: &[Trust]) -> Vec<Hit> {
        let hit = |(i, trust): (usize, &Trust)| Hit {
            number: i as u32,
            score: 1.0 - i as f32 / 100.0,
            trust: *trust,
            why: Explain::default(),
        };
        trusts.iter().enumerate().map(hit).collect()
    }

    #[test]
    fn low_trust_takes_half_of_a_block_while_high_trust_waits() {
        use Trust::{High, Low};
        let hits = hits(&[Low, Low, Low, Low, High, Low, High]);
        let numbers: Vec<u32> = block(&hits, 4, |h| h.trust).iter().map(|h| h.number).collect();
        assert_eq!(numbers, [0, 1, 4, 6]);
    }

    #[test]
    fn low_trust_fills_what_nobody_else_wants() {
        use Trust::{High, Low, Medium};
        let all = hits(&[Low, Low, Low, Medium]);
        assert_eq!(block(&all, 4, |h| h.trust).len(), 4);
        let some = hits(&[Low, Low, Low, High]);
        let numbers: Vec<u32> = block(&some, 4, |h| h.trust).iter().map(|h| h.number).collect();
        assert_eq!(numbers, [0, 1, 3, 2]);
    }
}

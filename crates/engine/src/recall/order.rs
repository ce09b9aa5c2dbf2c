//! Where trust decides: twins of different trust, and how much of a block the little-trusted may take.
//!
//! In: ranked hits. Out: the same hits in the order and number a block may show them. Nothing is scored here.

use std::collections::HashSet;

use crate::index::{IndexError, Reader, Trust, each_term};

use super::hybrid::Hit;

/// Hits whose texts are compared.
const COMPARED: usize = 40;
/// Share of the smaller text's terms that makes two texts say the same.
const SAME: f32 = 0.8;

/// Puts a low-trust hit that says what a trusted one says right behind that one.
pub(crate) fn behind_the_trusted(reader: &Reader<'_>, hits: Vec<Hit>) -> Result<Vec<Hit>, IndexError> {
    let near = hits.iter().take(COMPARED);
    if !near.clone().any(|h| h.trust == Trust::Low) || !near.clone().any(|h| h.trust == Trust::High) {
        return Ok(hits);
    }
    let mut texts = Vec::with_capacity(COMPARED);
    for hit in near {
        let document = reader.document(hit.number)?.unwrap_or_default();
        let mut terms = HashSet::new();
        each_term(&document.title, |t, _| _ = terms.insert(t.to_owned()));
        each_term(&document.body, |t, _| _ = terms.insert(t.to_owned()));
        texts.push((document.id, terms));
    }
    let mut order: Vec<usize> = (0..hits.len()).collect();
    let mut behind: Vec<Option<String>> = vec![None; hits.len()];
    for low in 0..texts.len() {
        if hits[low].trust != Trust::Low {
            continue;
        }
        // Only one that stands behind it now is of interest.
        let better = (low + 1..texts.len())
            .find(|high| hits[*high].trust == Trust::High && same(&texts[low].1, &texts[*high].1));
        if let Some(high) = better {
            behind[low] = Some(texts[high].0.clone());
            order.retain(|i| *i != low);
            let place = order.iter().position(|i| *i == high).map_or(order.len(), |p| p + 1);
            order.insert(place, low);
        }
    }
    let mut hits: Vec<Option<Hit>> = hits.into_iter().map(Some).collect();
    let ordered = order.into_iter().filter_map(|i| {
        let mut hit = hits[i].take()?;
        hit.why.behind = behind[i].take();
        Some(hit)
    });
    Ok(ordered.collect())
}

fn same(a: &HashSet<String>, b: &HashSet<String>) -> bool {
    let (small, large) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    // Texts of very different length do not say the same even if one is a part of the other.
    if small.len() < 3 || large.len() > small.len() * 2 {
        return false;
    }
    small.intersection(large).count() as f32 >= SAME * small.len() as f32
}

/// The hits that may stand in a block of `room`: low trust takes at most half while a high-trust hit waits.
pub fn block<T>(hits: &[T], room: usize, trust: impl Fn(&T) -> Trust) -> Vec<&T> {
    let mut chosen: Vec<&T> = Vec::with_capacity(room.min(hits.len()));
    let mut passed: Vec<&T> = Vec::new();
    let mut low = 0;
    for (i, hit) in hits.iter().enumerate() {
        if chosen.len() == room {
            break;
        }
        let waits = || hits[i + 1..].iter().any(|h| trust(h) == Trust::High);
        if trust(hit) == Trust::Low && (low + 1) * 2 > room && waits() {
            passed.push(hit);
            continue;
        }
        low += usize::from(trust(hit) == Trust::Low);
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
    use crate::recall::Explain;

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

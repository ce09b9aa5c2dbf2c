use proptest::prelude::*;

use super::*;
use crate::index::postings::{PIECE, write};

/// Postings of one term: number, impact.
type Given = Vec<(u32, u8)>;

/// A question over `next` documents whose lists hold the given postings; the last `waiting` documents are not folded in.
fn matches(given: &[(Given, f32)], dead: &[u32], next: u32, waiting: u32) -> Matches {
    let terms: Vec<(String, f32)> =
        given.iter().enumerate().map(|(at, (_, weight))| (format!("t{at}"), *weight)).collect();
    let mut lists = Lists::of(&terms);
    let folded = next - waiting;
    for (at, (list, _)) in given.iter().enumerate() {
        let (before, after): (Given, Given) = list.iter().partition(|(number, _)| *number < folded);
        for chunk in before.chunk_by(|a, b| a.0 >> CHUNK_BITS == b.0 >> CHUNK_BITS) {
            let cells: Vec<(u16, u8)> = chunk.iter().map(|(n, i)| ((n & 0xFFFF) as u16, *i)).collect();
            for piece in cells.chunks(PIECE) {
                lists.piece(at, chunk[0].0 & !0xFFFF, &write(piece.iter().copied()));
            }
        }
        for (number, impact) in after {
            lists.waits(format!("t{at}").as_bytes(), number, || impact);
        }
    }
    dead.iter().for_each(|number| lists.dead(*number));
    Matches::new(lists, next, next, 10.0)
}

/// What scoring every document and sorting gives.
fn exhaustive(matches: &Matches, next: u32, limit: usize) -> Vec<(u32, f32)> {
    let mut all: Vec<(u32, u32)> =
        matches.all().into_iter().zip(0..next).filter(|(sum, _)| *sum > 0).map(|(sum, n)| (n, sum)).collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    all.into_iter().take(limit).map(|(number, sum)| (number, matches.scored(sum))).collect()
}

/// Lists of every length, impacts that often are equal.
fn lists(next: u32) -> impl Strategy<Value = Vec<(Given, f32)>> {
    let list =
        (0..12usize, any::<u64>(), 1..4u8, 0.2f32..2.0).prop_map(move |(sparse, seed, sorts, weight)| {
            let mut state = seed | 1;
            let mut draw = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state
            };
            let given = (0..next).filter(|_| draw().is_multiple_of(1 << sparse)).collect::<Vec<_>>();
            let given = given.into_iter().map(|n| (n, (draw() % u64::from(sorts) * 40 + 60) as u8)).collect();
            (given, weight)
        });
    proptest::collection::vec(list, 0..9)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_best_are_those_that_scoring_everything_would_give(
        given in lists(70_000),
        waiting in 0..600u32,
        limit in prop_oneof![1..12usize, 100..400usize],
        dead in proptest::collection::vec(0..70_000u32, 0..40),
    ) {
        let matches = matches(&given, &dead, 70_000, waiting);
        prop_assert_eq!(matches.best(limit), exhaustive(&matches, 70_000, limit));
    }

    #[test]
    fn few_documents_are_scored_as_many_are(given in lists(3_000), waiting in 0..100u32, dead in proptest::collection::vec(0..3_000u32, 0..40)) {
        let few = matches(&given, &dead, 3_000, waiting);
        let mut many = matches(&given, &dead, 3_000, waiting);
        many.next = KEPT + 1;
        for number in 0..3_100 {
            prop_assert_eq!(few.score(number), many.score(number));
        }
        prop_assert_eq!(few.best(40), exhaustive(&few, 3_000, 40));
    }

    #[test]
    fn a_group_counts_what_its_members_hold(given in lists(2_000), waiting in 0..100u32, from in 0..1_900u32, step in 1..40u32) {
        let matches = matches(&given, &[], 2_000, waiting);
        let members: Vec<(u32, u32)> = (0..100).map(|i| (from + i * step, 5 + i)).collect();
        let length: u32 = members.iter().map(|m| m.1).sum();
        let of_list = |list: &Postings| {
            let one = |(number, length): &(u32, u32)| Some(postings::count_of(matches.lists.impact(list, *number)?, *length, 10.0));
            let count: f32 = members.iter().filter_map(one).sum();
            if count > 0.0 { postings::saturated(count, length, 100.0) } else { 0.0 }
        };
        let want: f32 = matches.lists.lists.iter().zip(&matches.factors).map(|(list, factor)| factor * of_list(list)).sum();
        prop_assert!((matches.together(&members, 100.0) - want).abs() < 1e-3);
    }

    #[test]
    fn damaged_postings_give_some_answer(bytes in proptest::collection::vec(any::<u8>(), 0..600), limit in 0..9usize) {
        let mut lists = Lists::of(&[("a".to_owned(), 1.0), ("b".to_owned(), 0.5)]);
        lists.piece(0, 0, &bytes);
        lists.piece(1, 0, &bytes[bytes.len() / 3..]);
        let matches = Matches::new(lists, 100, 100, 10.0);
        prop_assert!(matches.best(limit).len() <= limit);
    }
}

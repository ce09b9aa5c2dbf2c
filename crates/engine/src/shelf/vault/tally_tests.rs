use super::*;
use proptest::prelude::*;
use std::borrow::Cow;

fn ids() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["000000000001", "00000000000a", "ffffffffffff", "a", "an id of another tool"])
}

proptest! {
    #[test]
    fn in_whatever_order_and_by_whichever_thread_lines_are_seen_the_same_ones_count(
        lines in prop::collection::vec(
            (ids(), prop_oneof![-2i64..4, Just(i64::from(u32::MAX)), Just(i64::MAX)], any::<bool>()), 0..40,
        ),
        turn in 0usize..40,
    ) {
        let mut rows = [(); 2].map(|()| Rows::new(Dealer(0x9e37_79b9_7f4a_7c15)));
        let mut seen: Vec<usize> = (0..lines.len()).collect();
        seen.rotate_left(turn.min(lines.len()));
        for at in seen {
            let (id, version, second) = lines[at];
            let spot = Spot { start: at as u32 * 10, len: 9, nth: at as u32 };
            rows[usize::from(second)].push_any(Id::of(Cow::Borrowed(id.as_bytes())), version, spot);
        }
        let tally = Tally::of(&rows);

        let mut plain: Vec<(&str, i64, usize, usize)> = Vec::new();
        for (at, (id, version, _)) in lines.iter().enumerate() {
            match plain.iter_mut().find(|known| known.0 == *id) {
                None => plain.push((id, *version, at, at)),
                Some(known) if *version > known.1 => (known.1, known.2) = (*version, at),
                Some(_) => {}
            }
        }
        prop_assert_eq!(tally.ids(), plain.len());
        prop_assert_eq!(tally.winners().count(), plain.len());
        for (id, _, best, first) in plain {
            let winner = tally.get(&Id::of(Cow::Borrowed(id.as_bytes()))).unwrap();
            prop_assert_eq!((winner.spot.nth as usize, winner.first as usize), (best, first * 10));
        }
        prop_assert!(tally.get(&Id::Ours(7)).is_none());
    }
}

#[test]
fn a_table_grows_with_its_ids() {
    let mut rows = [(); 2].map(|()| Rows::new(Dealer::default()));
    for n in 0..60_000u32 {
        let spot = Spot { start: n, len: 1, nth: 0 };
        rows[n as usize % 2].push(u64::from(n % 30_000) * 65_536, i64::from(n / 30_000), spot);
    }
    let tally = Tally::of(&rows);
    assert_eq!(tally.ids(), 30_000);
    assert!(tally.winners().all(|one| one.spot.start == one.first + 30_000));
}

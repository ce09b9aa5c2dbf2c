use super::*;
use proptest::prelude::*;

/// The definition, as plainly as it can be written, to hold the fast one to.
fn plain(a: &[char], b: &[char]) -> usize {
    let junk = |c: char| b.len() >= 200 && b.iter().filter(|x| **x == c).count() > b.len() / 100 + 1;
    fn longest(
        a: &[char],
        b: &[char],
        (af, at, bf, bt): (usize, usize, usize, usize),
        junk: &dyn Fn(char) -> bool,
    ) -> (usize, usize, usize) {
        let (mut bi, mut bj, mut len) = (af, bf, 0);
        for i in af..at {
            for j in bf..bt {
                let run = (0..)
                    .take_while(|k| i + k < at && j + k < bt && a[i + k] == b[j + k] && !junk(b[j + k]))
                    .count();
                if run > len {
                    (bi, bj, len) = (i, j, run);
                }
            }
        }
        while bi > af && bj > bf && a[bi - 1] == b[bj - 1] {
            (bi, bj, len) = (bi - 1, bj - 1, len + 1);
        }
        while bi + len < at && bj + len < bt && a[bi + len] == b[bj + len] {
            len += 1;
        }
        (bi, bj, len)
    }
    let mut todo = vec![(0, a.len(), 0, b.len())];
    let mut sum = 0;
    while let Some((af, at, bf, bt)) = todo.pop() {
        let (i, j, len) = longest(a, b, (af, at, bf, bt), &junk);
        if len > 0 {
            sum += len;
            todo.push((af, i, bf, j));
            todo.push((i + len, at, j + len, bt));
        }
    }
    sum
}

fn plain_ratio(a: &str, b: &str) -> f64 {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    of(plain(&a, &b), a.len() + b.len())
}

#[test]
fn the_ratio_is_the_published_one() {
    assert_eq!(ratio("abcd", "bcde"), 0.75);
    assert_eq!(ratio("", ""), 1.0);
    assert_eq!(ratio("", "x"), 0.0);
    assert_eq!(ratio("tide", "diet"), 0.25);
    assert_eq!(ratio("diet", "tide"), 0.5);
    assert_eq!(blocks("abxcd", "abcd"), [(0, 0, 2), (3, 2, 2)]);
}

#[test]
fn a_popular_character_cannot_start_a_block_but_can_belong_to_one() {
    let b = "b".to_owned() + &"a".repeat(199);
    assert_eq!(ratio("a", &b), 0.0);
    assert_eq!(ratio("ba", &b), of(2, 202));
    // One character less, and the rule does not apply.
    assert_eq!(ratio("a", &b[..199]), of(1, 200));
}

proptest! {
    #[test]
    fn the_fast_ratio_is_the_plain_one(a in "[ab\u{e9} c]{0,40}", b in "[ab\u{e9} c]{0,40}") {
        prop_assert_eq!(ratio(&a, &b), plain_ratio(&a, &b));
    }

    #[test]
    fn the_fast_ratio_is_the_plain_one_with_popular_characters(a in "[a-h ]{0,60}", b in "[a-z ]{195,260}") {
        prop_assert_eq!(ratio(&a, &b), plain_ratio(&a, &b));
    }

    #[test]
    fn a_bound_never_hides_a_ratio_that_reaches_the_floor(
        a in "[a-d\u{e9}]{0,150}", b in "[a-d\u{e9}]{0,150}", floor in 0.0f64..1.05,
    ) {
        let exact = ratio(&a, &b);
        let probe = Probe::new(&a);
        prop_assert_eq!(probe.reaches(&b, floor), (exact >= floor).then_some(exact));
        prop_assert!(probe.common(&b) >= matched(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>()));
    }

    #[test]
    fn neither_does_the_bound_of_plain_texts_that_ends_early(
        a in "[a-d\u{e9}]{0,150}", b in "[a-d]{0,150}", floor in 0.3f64..1.0,
    ) {
        let exact = ratio(&a, &b);
        prop_assert_eq!(Probe::new(&a).reaches(&b, floor), (exact >= floor).then_some(exact));
    }

    #[test]
    fn a_text_is_wholly_like_itself(a in "\\PC{0,120}") {
        prop_assert_eq!(ratio(&a, &a), 1.0);
    }

    #[test]
    fn a_ratio_is_a_share(a in "\\PC{0,300}", b in "\\PC{0,300}") {
        let r = ratio(&a, &b);
        prop_assert!((0.0..=1.0).contains(&r));
    }
}

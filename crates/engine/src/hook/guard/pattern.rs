//! Patterns: `*`, `?` and `[…]` as a shell matches them against names.
//!
//! Comes in: text in which the characters that match are marks, so that a quoted `*` stays a star. Goes out: whether it can be a name. Linear in
//! pattern times name. Never here: a look at files.

/// Something nobody knows without running the command.
pub(super) const UNKNOWN: char = '\u{e004}';
const STAR: char = '\u{e000}';
const ONE: char = '\u{e001}';
const SET: char = '\u{e002}';
const END: char = '\u{e003}';

/// Whether a character is one of our marks. They are private characters; a command that holds them itself has them replaced.
pub(super) fn is_mark(c: char) -> bool {
    (STAR..=UNKNOWN).contains(&c)
}

/// The mark for a character that matches.
pub(super) fn active(c: char) -> char {
    match c {
        '*' => STAR,
        '?' => ONE,
        '[' => SET,
        ']' => END,
        _ => c,
    }
}

/// A text all of whose characters count.
pub(super) fn activated(text: &str) -> String {
    text.chars().map(active).collect()
}

/// A text without marks.
pub(super) fn written_out(text: &str) -> String {
    let plain = |c| match c {
        STAR => '*',
        ONE => '?',
        SET => '[',
        END => ']',
        _ => c,
    };
    text.chars().map(plain).collect()
}

/// Whether there is anything to match.
pub(super) fn is_pattern(text: &str) -> bool {
    text.contains([STAR, ONE, SET])
}

/// Whether a pattern can be this name of a file: a dot at the beginning is matched by a dot only.
pub(super) fn fits_name(pattern: &str, name: &str) -> bool {
    !(name.starts_with('.') && pattern.starts_with([STAR, ONE, SET])) && fits_text(pattern, name)
}

/// Whether a pattern matches a text.
pub(super) fn fits_text(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(&STAR) => {
                star = Some((p, t));
                p += 1;
                continue;
            }
            Some(&ONE) => {
                (p, t) = (p + 1, t + 1);
                continue;
            }
            Some(&SET) => {
                if let Some((fits, next)) = set(&pattern, p, text[t])
                    && fits
                {
                    (p, t) = (next, t + 1);
                    continue;
                }
            }
            Some(&c) if pattern_char(c) == text[t] => {
                (p, t) = (p + 1, t + 1);
                continue;
            }
            _ => {}
        }
        let Some((at, from)) = star else { return false };
        (p, t) = (at + 1, from + 1);
        star = Some((at, from + 1));
    }
    pattern[p..].iter().all(|c| *c == STAR)
}

/// A `]` that closes nothing is itself.
fn pattern_char(c: char) -> char {
    if c == END { ']' } else { c }
}

/// Whether a set such as `[a-z]` or `[!x]` has a character, and where the pattern goes on.
fn set(pattern: &[char], at: usize, c: char) -> Option<(bool, usize)> {
    let mut rest = at + 1;
    let negated = matches!(pattern.get(rest), Some('!' | '^'));
    rest += usize::from(negated);
    let first = rest;
    let mut has = false;
    loop {
        let from = *pattern.get(rest)?;
        if from == END && rest > first {
            return Some((has != negated, rest + 1));
        }
        if let (Some('-'), Some(&to)) = (pattern.get(rest + 1), pattern.get(rest + 2))
            && to != END
        {
            has |= (from..=to).contains(&c);
            rest += 3;
        } else {
            has |= pattern_char(from) == c;
            rest += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_matched_as_a_shell_does() {
        for (pattern, name) in [
            ("mem*", "memory"),
            ("*", "memory"),
            ("m?mory", "memory"),
            ("[m]emory", "memory"),
            ("[a-z]emor[!x]", "memory"),
            (".c*", ".claude"),
            (".[a-z]*", ".claude"),
            ("*m*o*y", "memory"),
        ] {
            assert!(fits_name(&activated(pattern), name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("*", ".claude"),
            ("?claude", ".claude"),
            ("[.]claude", ".claude"),
            ("mem", "memory"),
            ("[!m]emory", "memory"),
            ("[m", "m"),
        ] {
            assert!(!fits_name(&activated(pattern), name), "{pattern} {name}");
        }
        assert!(!fits_name("mem*", "memory"), "a quoted star is a star");
    }

    proptest! {
        #[test]
        fn any_pattern_is_matched_to_its_end(pattern in "[ab*?\\[\\]!-]{0,30}", text in "[ab]{0,30}") {
            fits_text(&activated(&pattern), &text);
            prop_assert!(fits_text(&activated(&text), &text));
        }
    }
}

//! International bank account numbers: country, structure, check digits.
//!
//! Comes in: text and the place of a digit, or a token. Goes out: the span of an account number, or whether the token is one. A number
//! may be printed in groups; words that merely follow two letters and two digits are none, whatever their check digits come to.

use std::ops::Range;

/// The longest number, without the marks between its groups.
const LONGEST: usize = 34;

/// What follows country and check digits: so many digits (`n`), capital letters (`a`), or either (`c`).
#[rustfmt::skip]
const STRUCTURES: [(&str, &str); 88] = [
    ("AD", "8n12c"), ("AE", "19n"), ("AL", "8n16c"), ("AT", "16n"), ("AZ", "4a20c"), ("BA", "16n"), ("BE", "12n"),
    ("BG", "4a6n8c"), ("BH", "4a14c"), ("BI", "23n"), ("BR", "23n1a1c"), ("BY", "4c4n16c"), ("CH", "5n12c"), ("CR", "18n"),
    ("CY", "8n16c"), ("CZ", "20n"), ("DE", "18n"), ("DJ", "23n"), ("DK", "14n"), ("DO", "4c20n"), ("EE", "16n"),
    ("EG", "25n"), ("ES", "20n"), ("FI", "14n"), ("FK", "2a12n"), ("FO", "14n"), ("FR", "10n11c2n"), ("GB", "4a14n"),
    ("GE", "2a16n"), ("GI", "4a15c"), ("GL", "14n"), ("GR", "7n16c"), ("GT", "24c"), ("HN", "4a20n"), ("HR", "17n"),
    ("HU", "24n"), ("IE", "4a14n"), ("IL", "19n"), ("IQ", "4a15n"), ("IS", "22n"), ("IT", "1a10n12c"), ("JO", "4a4n18c"),
    ("KW", "4a22c"), ("KZ", "3n13c"), ("LB", "4n20c"), ("LC", "4a24c"), ("LI", "5n12c"), ("LT", "16n"), ("LU", "3n13c"),
    ("LV", "4a13c"), ("LY", "21n"), ("MC", "10n11c2n"), ("MD", "20c"), ("ME", "18n"), ("MK", "3n10c2n"), ("MN", "16n"),
    ("MR", "23n"), ("MT", "4a5n18c"), ("MU", "4a19n3a"), ("NI", "4a20n"), ("NL", "4a10n"), ("NO", "11n"), ("OM", "3n16c"),
    ("PK", "4a16c"), ("PL", "24n"), ("PS", "4a21c"), ("PT", "21n"), ("QA", "4a21c"), ("RO", "4a16c"), ("RS", "18n"),
    ("RU", "14n15c"), ("SA", "2n18c"), ("SC", "4a20n3a"), ("SD", "14n"), ("SE", "20n"), ("SI", "15n"), ("SK", "20n"),
    ("SM", "1a10n12c"), ("SO", "19n"), ("ST", "21n"), ("SV", "4a20n"), ("TL", "19n"), ("TN", "20n"), ("TR", "6n16c"),
    ("UA", "6n19c"), ("VA", "18n"), ("VG", "4a16n"), ("XK", "16n"),
];

/// An account number that begins with the two letters before `at`.
pub(super) fn at(text: &[u8], at: usize) -> Option<Range<usize>> {
    let start = at.checked_sub(2)?;
    let edge = start.checked_sub(1).is_none_or(|i| !text[i].is_ascii_alphanumeric());
    if !edge || !text[start..at].iter().all(u8::is_ascii_alphabetic) || !text.get(at + 1)?.is_ascii_digit() {
        return None;
    }
    // Groups may be parted by single blanks or hyphens.
    let limit = text.len().min(start + LONGEST + 14);
    let mut p = start;
    while p < limit
        && (text[p].is_ascii_alphanumeric()
            || matches!(text[p], b' ' | b'-' | b'\n' | b'\r') && text[p - 1].is_ascii_alphanumeric()
            || matches!(text[p], b'\r' | b'\n' | b' ') && matches!(text[p - 1], b'\r' | b'\n' | b' '))
    {
        p += 1;
        let ends = text[p - 1].is_ascii_alphanumeric() && !text.get(p).is_some_and(u8::is_ascii_alphanumeric);
        if ends && p - start >= 15 && valid(&text[start..p]) {
            return Some(start..p);
        }
    }
    None
}

/// Structure of the country and mod 97; in small letters only if it is printed in one piece or in groups of four.
pub(super) fn valid(token: &[u8]) -> bool {
    let groups: Vec<&[u8]> =
        token.split(|b| matches!(b, b' ' | b'-' | b'\n' | b'\r')).filter(|group| !group.is_empty()).collect();
    let fours = groups.split_last().is_some_and(|(last, rest)| {
        last.len() <= 4 && rest.iter().all(|group| group.len() == 4) || rest.is_empty()
    });
    if token.iter().any(u8::is_ascii_lowercase) && !fours {
        return false;
    }
    let text: Vec<u8> = groups.concat().to_ascii_uppercase();
    let Some((head, account)) = text.split_at_checked(4) else { return false };
    let Some((_, structure)) = STRUCTURES.iter().find(|(country, _)| country.as_bytes() == &head[..2]) else {
        return false;
    };
    head[2..].iter().all(u8::is_ascii_digit) && fits(account, structure) && remainder(account, head) == 1
}

fn fits(account: &[u8], structure: &str) -> bool {
    let mut rest = account;
    let mut count = 0;
    for mark in structure.bytes() {
        if mark.is_ascii_digit() {
            count = count * 10 + usize::from(mark - b'0');
            continue;
        }
        let Some((part, after)) = rest.split_at_checked(count) else { return false };
        let fits = match mark {
            b'n' => part.iter().all(u8::is_ascii_digit),
            b'a' => part.iter().all(u8::is_ascii_uppercase),
            _ => part.iter().all(u8::is_ascii_alphanumeric),
        };
        if !fits {
            return false;
        }
        (rest, count) = (after, 0);
    }
    rest.is_empty()
}

fn remainder(account: &[u8], head: &[u8]) -> u64 {
    account.iter().chain(head).fold(0, |rest, &b| match b {
        b'0'..=b'9' => (rest * 10 + u64::from(b - b'0')) % 97,
        _ => (rest * 100 + u64::from(b - b'A') + 10) % 97,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same number with check digits that hold.
    fn number(country: &str, account: &str) -> String {
        let check = 98 - remainder(account.as_bytes(), format!("{country}00").as_bytes());
        format!("{country}{check:02}{account}")
    }

    #[test]
    fn words_after_two_letters_and_digits_are_no_account_number() {
        assert_eq!(at(b"behind ee3379d until revision 5", 9), None);
        assert!(!valid(b"ee3379d until revision"));
    }

    #[test]
    fn every_structure_accepts_its_own_numbers_and_no_longer_or_shorter_one() {
        for (country, structure) in STRUCTURES {
            let mut account = String::new();
            let mut count = 0;
            for mark in structure.bytes() {
                if mark.is_ascii_digit() {
                    count = count * 10 + usize::from(mark - b'0');
                } else {
                    account.push_str(&if mark == b'a' { "Q" } else { "7" }.repeat(count));
                    count = 0;
                }
            }
            let whole = number(country, &account);
            assert!(valid(whole.as_bytes()), "{whole}");
            assert!(valid(whole.to_lowercase().as_bytes()), "{whole} in small letters");
            let printed: Vec<&str> =
                whole.as_bytes().chunks(4).map(|c| std::str::from_utf8(c).unwrap()).collect();
            assert_eq!(at(printed.join(" ").as_bytes(), 2), Some(0..printed.join(" ").len()));
            for other in [format!("{account}7"), account[1..].to_owned()] {
                assert!(!valid(number(country, &other).as_bytes()), "{country} {other}");
            }
        }
    }
}

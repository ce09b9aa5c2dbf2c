//! Check characters of national numbers that mix letters and digits. In: a match with its
//! separators. Out: whether the number can exist. Numbers of digits only are checked in `ids`.

use super::ids::{day_month, digits, number, plain, weighted};

/// Nine characters of ICAO with weights 7-3-1, the tenth is the check digit or missing.
pub(super) fn de_id_card(token: &[u8]) -> bool {
    let text = plain(token);
    let value = |b: u8| {
        if b.is_ascii_digit() { u32::from(b - b'0') } else { u32::from(b - b'A') + 10 }
    };
    let sum =
        |part: &[u8]| part.iter().zip([7, 3, 1].iter().cycle()).map(|(&b, w)| value(b) * w).sum::<u32>() % 10;
    match text.len() {
        9 => text[8].is_ascii_digit() && sum(&text[..8]) == value(text[8]),
        10 => text[9].is_ascii_digit() && sum(&text[..9]) == value(text[9]),
        _ => false,
    }
}

/// Area, birthday, letter, serial, check digit.
pub(super) fn de_social(token: &[u8]) -> bool {
    let text = plain(token);
    if text.len() != 12 || !text[8].is_ascii_uppercase() {
        return false;
    }
    let letter = u32::from(text[8] - b'A') + 1;
    let d: Vec<u32> = text[..8]
        .iter()
        .map(|b| u32::from(b.wrapping_sub(b'0')))
        .chain([letter / 10, letter % 10])
        .chain(text[9..].iter().map(|b| u32::from(b.wrapping_sub(b'0'))))
        .collect();
    let cross = |x: u32| x / 10 + x % 10;
    let sum: u32 = d[..12].iter().zip([2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1]).map(|(x, w)| cross(x * w)).sum();
    d.iter().all(|x| *x < 10) && day_month(number(&d[2..4]), number(&d[4..6])) && sum % 10 == d[12]
}

/// A letter and nine digits, Luhn-like with weights 1-2.
pub(super) fn de_health(token: &[u8]) -> bool {
    let text = plain(token);
    if text.len() != 10 || !text[0].is_ascii_uppercase() {
        return false;
    }
    let letter = u32::from(text[0] - b'A') + 1;
    let d: Vec<u32> = [letter / 10, letter % 10].into_iter().chain(digits(token)).collect();
    let sum: u32 = d[..10].iter().zip([1, 2].iter().cycle()).map(|(x, w)| x * w / 10 + x * w % 10).sum();
    d.len() == 11 && sum % 10 == d[10]
}

/// DNI and NIE: the letter is the number modulo 23.
pub(super) fn es_nif(token: &[u8]) -> bool {
    let text = plain(token);
    let Some((&letter, body)) = text.split_last() else {
        return false;
    };
    let number = body.iter().enumerate().try_fold(0u64, |n, (i, &b)| match b {
        b'X' | b'Y' | b'Z' if i == 0 => Some(u64::from(b - b'X')),
        b'0'..=b'9' => Some(n * 10 + u64::from(b - b'0')),
        _ => None,
    });
    (8..=9).contains(&text.len())
        && number.is_some_and(|n| b"TRWAGMYFPDXBNJZSQVHLCKE"[(n % 23) as usize] == letter)
}

/// Thirteen characters and a two-digit key modulo 97; Corsica's 2A and 2B count as 19 and 18.
pub(super) fn fr_nir(token: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&plain(token)).replace("2A", "19").replace("2B", "18");
    let d = digits(text.as_bytes());
    d.len() == 15
        && text.len() == 15
        && matches!(d[0], 1..=4 | 7 | 8)
        && matches!(number(&d[3..5]), 1..=12 | 20..=42 | 50..=99)
        && 97 - number(&d[..13]) % 97 == number(&d[13..])
}

/// The sixteenth character follows from odd and even tables.
pub(super) fn it_fiscal(token: &[u8]) -> bool {
    const ODD: [u32; 26] =
        [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];
    let text = plain(token);
    if text.len() != 16 {
        return false;
    }
    let index = |b: u8| {
        if b.is_ascii_digit() { usize::from(b - b'0') } else { usize::from(b - b'A') }
    };
    let sum: u32 = text[..15]
        .iter()
        .enumerate()
        .map(|(i, &b)| if i % 2 == 0 { ODD[index(b)] } else { index(b) as u32 })
        .sum();
    u32::from(text[15].wrapping_sub(b'A')) == sum % 26
}

pub(super) fn fi_hetu(token: &[u8]) -> bool {
    let d = digits(&token[..token.len() - 1]);
    let Some(last) = token.last() else {
        return false;
    };
    d.len() == 9
        && day_month(number(&d[..2]), number(&d[2..4]))
        && b"0123456789ABCDEFHJKLMNPRSTUVWXY"[(number(&d) % 31) as usize] == last.to_ascii_uppercase()
}

/// Two letters that are issued, six digits, A to D.
pub(super) fn uk_nino(token: &[u8]) -> bool {
    let t = plain(token);
    t.len() == 9
        && !b"DFIQUV".contains(&t[0])
        && !b"DFIOQUV".contains(&t[1])
        && !matches!(&t[..2], b"BG" | b"GB" | b"NK" | b"KN" | b"TN" | b"NT" | b"ZZ")
        && (b'A'..=b'D').contains(&t[8])
}

pub(super) fn sg_nric(token: &[u8]) -> bool {
    let t = plain(token);
    let d = digits(token);
    if t.len() != 9 || d.len() != 7 {
        return false;
    }
    let sum = weighted(&d, &[2, 7, 6, 5, 4, 3, 2]);
    let letter = match t[0] {
        b'S' => b"JZIHGFEDCBA"[(sum % 11) as usize],
        b'T' => b"JZIHGFEDCBA"[((sum + 4) % 11) as usize],
        b'F' => b"XWUTRQPNMLK"[(sum % 11) as usize],
        b'G' => b"XWUTRQPNMLK"[((sum + 4) % 11) as usize],
        b'M' => b"XWUTRQPNJLK"[((sum + 3) % 11) as usize],
        _ => return false,
    };
    letter == t[8]
}

/// Seventeen digits with a birthday, mod 11 with X for ten.
pub(super) fn cn_id(token: &[u8]) -> bool {
    let t = plain(token);
    let d = digits(&t[..t.len().min(17)]);
    t.len() == 18
        && d.len() == 17
        && day_month(number(&d[12..14]), number(&d[10..12]))
        && b"10X98765432"
            [(weighted(&d, &[7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]) % 11) as usize]
            == t[17]
}

pub(super) fn tw_id(token: &[u8]) -> bool {
    const ORDER: &[u8] = b"ABCDEFGHJKLMNPQRSTUVXYWZIO";
    let t = plain(token);
    let d = digits(token);
    let Some(letter) = t.first().and_then(|b| ORDER.iter().position(|o| o == b)) else {
        return false;
    };
    let value = letter as u32 + 10;
    d.len() == 9
        && (value / 10 + value % 10 * 9 + weighted(&d, &[8, 7, 6, 5, 4, 3, 2, 1, 1])).is_multiple_of(10)
}

pub(super) fn cl_rut(token: &[u8]) -> bool {
    let t = plain(token);
    let Some((&last, body)) = t.split_last() else {
        return false;
    };
    let d = digits(body);
    if d.len() != body.len() || !(7..=8).contains(&d.len()) {
        return false;
    }
    let sum: u32 = d.iter().rev().zip([2, 3, 4, 5, 6, 7].iter().cycle()).map(|(x, w)| x * w).sum();
    b"0K987654321"[(sum % 11) as usize] == last
}

pub(super) fn hk_id(token: &[u8]) -> bool {
    let t = plain(token);
    let value = |b: u8| {
        if b.is_ascii_digit() { u32::from(b - b'0') } else { u32::from(b - b'A') + 10 }
    };
    let Some((&last, body)) = t.split_last() else {
        return false;
    };
    let sum: u32 = (if body.len() == 7 { 9 * 36 } else { 0 })
        + body.iter().rev().zip(2..).map(|(&b, w)| value(b) * w).sum::<u32>();
    (7..=8).contains(&body.len()) && (sum + value(last)).is_multiple_of(11)
}

/// The ninth character of a vehicle number is its checksum.
pub(super) fn vin(token: &[u8]) -> bool {
    let t = plain(token);
    let value = |b: u8| match b {
        b'0'..=b'9' => u32::from(b - b'0'),
        b'A'..=b'H' => u32::from(b - b'A') + 1,
        b'J'..=b'R' => u32::from(b - b'J') + 1,
        _ => u32::from(b.wrapping_sub(b'S')) + 2,
    };
    let sum: u32 =
        t.iter().zip([8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2]).map(|(&b, w)| value(b) * w).sum();
    t.len() == 17 && b"0123456789X"[(sum % 11) as usize] == t[8]
}

//! What a format demands beyond its pattern: checksums, structure, plausible values. In: a match.
//! Out: rejected, accepted, or accepted and proven. Numbers of people are checked in `ids`.

use super::{chosen, ids, letters, rules::Check, value};
use std::ops::Range;

/// `None` rejects; `Some(true)` proves the match, which raises its level to definite.
pub(super) fn passes(check: Check, token: &[u8], text: &[u8], span: &Range<usize>) -> Option<bool> {
    let ok = |good: bool| good.then_some(false);
    match check {
        Check::None => Some(false),
        Check::Value => ok(!value::is_placeholder(token)),
        Check::Password => ok(password(token)),
        Check::Random => ok(random(token)),
        Check::Jwt => ok(jwt(token)),
        Check::GithubCrc32 => Some(github_crc32(token)),
        // `abc123` stands for a token in every manual, and is a password all the same.
        Check::Bearer => ok(chosen::password(token) && !(token.len() <= 6 && token.starts_with(b"abc"))),
        Check::Opaque => ok(opaque(token)),
        Check::Speaker => ok(speaks(text, span.end)),
        Check::Chosen => ok(chosen::password(token)),
        Check::BasicAuth => ok(basic_auth(token)),
        Check::Ip4 => ok(ip4(token, text, span)),
        Check::Ip6 => ok(ip6(token)),
        Check::Mac => ok(mac(token)),
        Check::Phone => ok((7..=15).contains(&ids::digits(token).len())),
        Check::Base58 => ok(base58_length(token) == Some(25)),
        Check::Bech32 => ok(bech32(token)),
        other => ok(ids::valid(other, token)),
    }
}

/// Whether somebody speaks behind `System:` or `<system>`: a line that names what the system is, and an element with one word, do not.
fn speaks(text: &[u8], end: usize) -> bool {
    let rest = text[end..text.len().min(end + 40)].trim_ascii_start();
    let word = rest.iter().take_while(|b| b.is_ascii_alphanumeric()).count();
    const SYSTEMS: [&str; 29] = [
        "true",
        "false",
        "ubuntu",
        "linux",
        "macos",
        "mac",
        "osx",
        "windows",
        "debian",
        "fedora",
        "arch",
        "alpine",
        "centos",
        "rhel",
        "nixos",
        "android",
        "ios",
        "ipados",
        "freebsd",
        "openbsd",
        "intel",
        "amd",
        "apple",
        "x86",
        "arm64",
        "aarch64",
        "gentoo",
        "opensuse",
        "raspberry",
    ];
    let named = SYSTEMS.iter().any(|system| rest[..word].eq_ignore_ascii_case(system.as_bytes()));
    !(named || word > 0 && rest[word..].starts_with(b"</"))
}

/// The part after the prefix was made by a machine.
fn random(token: &[u8]) -> bool {
    let body = token.iter().rposition(|&b| b == b'_').map_or(token, |i| &token[i + 1..]);
    let body = if body.len() < 16 { token } else { body };
    matches!(
        value::shape(body),
        value::Shape::Random | value::Shape::Hex | value::Shape::Uuid | value::Shape::Gibberish
    ) && !value::is_placeholder(token)
}

/// Letters and digits that are no words, however few.
fn opaque(token: &[u8]) -> bool {
    token.iter().any(u8::is_ascii_digit)
        && token.iter().any(u8::is_ascii_alphabetic)
        && letters::wordy(token) * 2 < token.len()
        && !value::is_placeholder(token)
}

/// A password somebody chose: not a placeholder, not an option, not a plain word.
fn password(token: &[u8]) -> bool {
    let call = token
        .windows(2)
        .any(|w| w[1] == b'(' && (w[0].is_ascii_alphanumeric() || matches!(w[0], b'_' | b'>')) || w == b"::");
    !value::is_placeholder(token)
        && !call
        && !token.starts_with(b"-")
        && value::shape(token) != value::Shape::Number
}

/// Standard or URL-safe base64 with or without padding; `None` if it is not.
pub(super) fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let body = value::trim_end(text, |b| b == b'=');
    if body.len() % 4 == 1 {
        return None;
    }
    let mut out = Vec::with_capacity(body.len() * 3 / 4);
    let (mut bits, mut held) = (0u32, 0);
    for &b in body {
        let six = match b {
            b'A'..=b'Z' => b - b'A',
            b'a'..=b'z' => b - b'a' + 26,
            b'0'..=b'9' => b - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    Some(out)
}

/// Three parts, the first of which is a JSON object.
fn jwt(token: &[u8]) -> bool {
    let head = token.split(|&b| b == b'.').next().unwrap_or_default();
    base64(head).is_some_and(|json| json.starts_with(b"{\"") || json.starts_with(b"{ \""))
}

/// GitHub ends its tokens with a base-62 CRC-32 of the random part.
fn github_crc32(token: &[u8]) -> bool {
    let Some(at) = token.iter().position(|&b| b == b'_') else {
        return false;
    };
    let body = &token[at + 1..];
    if body.len() != 36 {
        return false;
    }
    let (random, sum) = body.split_at(30);
    let crc = !random.iter().fold(!0u32, |crc, &b| {
        (0..8).fold(crc ^ u32::from(b), |c, _| if c & 1 == 1 { c >> 1 ^ 0xEDB8_8320 } else { c >> 1 })
    });
    let want = sum.iter().try_fold(0u64, |n, &b| {
        let digit = match b {
            b'0'..=b'9' => b - b'0',
            b'A'..=b'Z' => b - b'A' + 10,
            b'a'..=b'z' => b - b'a' + 36,
            _ => return None,
        };
        Some(n * 62 + u64::from(digit))
    });
    want == Some(u64::from(crc))
}

/// `user:password` in base64, with a password that is one.
fn basic_auth(token: &[u8]) -> bool {
    let Some(plain) = base64(token) else {
        return false;
    };
    let Some(colon) = plain.iter().position(|&b| b == b':') else {
        return false;
    };
    plain.iter().all(|b| b.is_ascii_graphic() || *b == b' ') && !value::is_placeholder(&plain[colon + 1..])
}

/// A routable address that is not a version number.
fn ip4(token: &[u8], text: &[u8], span: &Range<usize>) -> bool {
    let mut parts = [0u32; 4];
    let mut n = 0;
    for part in token.split(|&b| b == b'.') {
        if n == 4 || part.is_empty() || part.len() > 3 || part.len() > 1 && part[0] == b'0' {
            return false;
        }
        parts[n] = part.iter().fold(0, |sum, b| sum * 10 + u32::from(b - b'0'));
        n += 1;
    }
    let before = span.start.checked_sub(1).and_then(|i| text.get(i));
    let version = matches!(before, Some(b'/' | b'v' | b'V' | b'.' | b'-' | b'_' | b'=' | b'^' | b'~'))
        || matches!(text.get(span.end), Some(b'.' | b'-' | b'_'))
            && text.get(span.end + 1).is_some_and(u8::is_ascii_alphanumeric);
    let [a, b, ..] = parts;
    let local = matches!(a, 0 | 10 | 127 | 224..)
        || (a == 192 && b == 168)
        || (a == 172 && (16..32).contains(&b))
        || (a == 169 && b == 254);
    n == 4 && parts.iter().all(|&p| p < 256) && !version && !local
}

fn ip6(token: &[u8]) -> bool {
    std::str::from_utf8(token)
        .ok()
        .and_then(|t| t.parse::<std::net::Ipv6Addr>().ok())
        .is_some_and(|ip| !ip.is_loopback() && !ip.is_unspecified() && ip.segments()[0] & 0xffc0 != 0xfe80)
}

/// Six octets, one separator throughout, neither broadcast nor zero.
fn mac(token: &[u8]) -> bool {
    let hex: Vec<u8> =
        token.iter().copied().filter(u8::is_ascii_hexdigit).map(|b| b.to_ascii_lowercase()).collect();
    let mut marks = token.iter().filter(|b| !b.is_ascii_hexdigit());
    let one = marks.next().is_some_and(|first| marks.all(|m| m == first));
    hex.len() == 12 && one && hex.iter().any(|b| *b != hex[0])
}

/// How many bytes a base-58 text stands for; Bitcoin addresses have 25.
fn base58_length(token: &[u8]) -> Option<usize> {
    const DIGITS: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    if token.len() > 40 {
        return None;
    }
    let mut bytes = [0u8; 40];
    for &b in token {
        let mut carry = DIGITS.iter().position(|&d| d == b)? as u32;
        for slot in bytes.iter_mut().rev() {
            carry += u32::from(*slot) * 58;
            *slot = carry as u8;
            carry >>= 8;
        }
    }
    let zeros = token.iter().take_while(|&&b| b == b'1').count();
    Some(zeros + bytes.len() - bytes.iter().take_while(|&&b| b == 0).count())
}

/// The checksum of segwit addresses.
fn bech32(token: &[u8]) -> bool {
    const DIGITS: &[u8] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";
    let lower: Vec<u8> = token.iter().map(u8::to_ascii_lowercase).collect();
    let Some(one) = lower.iter().rposition(|&b| b == b'1') else {
        return false;
    };
    let (name, data) = (&lower[..one], &lower[one + 1..]);
    let Some(values) =
        data.iter().map(|b| DIGITS.iter().position(|d| d == b).map(|v| v as u32)).collect::<Option<Vec<_>>>()
    else {
        return false;
    };
    let expanded = name
        .iter()
        .map(|b| u32::from(b >> 5))
        .chain([0])
        .chain(name.iter().map(|b| u32::from(b & 31)))
        .chain(values);
    let sum = expanded.fold(1u32, |sum, v| {
        let top = sum >> 25;
        let next = (sum & 0x01ff_ffff) << 5 ^ v;
        [0x3b6a_57b2u32, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3]
            .iter()
            .enumerate()
            .fold(next, |n, (i, g)| if top >> i & 1 == 1 { n ^ g } else { n })
    });
    matches!(sum, 1 | 0x2bc8_30a3)
}

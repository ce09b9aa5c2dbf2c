//! Content hashes: the version token of a memory and the links of the audit chain.
//!
//! Comes in: bytes. Goes out: lower-case hex. MD5 exists only because callers of the record shelf may still
//! hold MD5 tokens; nothing is secured by it.

use hmac::{Hmac, KeyInit as _, Mac as _};
use md5::Md5;
use sha2::{Digest, Sha256};

/// SHA-256 as 64 hex digits.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// MD5 as 32 hex digits, for the optimistic-concurrency tokens of older callers.
pub fn md5(bytes: &[u8]) -> String {
    hex(&Md5::digest(bytes))
}

/// Whether two texts are the same, in a time that only their length decides.
pub fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |seen, (x, y)| seen | (x ^ y)) == 0
}

/// HMAC-SHA256 as 64 hex digits: whoever has no key can neither make nor alter what carries one.
#[allow(clippy::expect_used, reason = "HMAC takes a key of any length")]
pub fn keyed(key: &[u8], message: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes a key of any length");
    mac.update(message);
    hex(&mac.finalize().into_bytes())
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut out = String::with_capacity(bytes.len() * 2);
    for b in bytes {
        out.push(DIGITS[usize::from(b >> 4)] as char);
        out.push(DIGITS[usize::from(b & 15)] as char);
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn keyed_hashes_are_the_published_ones() {
        // RFC 4231, test cases 2 and 6.
        let short = super::keyed(b"Jefe", b"what do ya want for nothing?");
        assert_eq!(short, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        let long = super::keyed(&[0xaa; 131], b"Test Using Larger Than Block-Size Key - Hash Key First");
        assert_eq!(long, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    }

    #[test]
    fn hashes_are_the_published_ones() {
        assert_eq!(super::md5(b""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(super::sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}

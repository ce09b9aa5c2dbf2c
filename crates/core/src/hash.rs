//! Content hashes: the version token of a memory and the links of the audit chain.
//!
//! Comes in: bytes. Goes out: lower-case hex. MD5 exists only because callers of the record shelf may still
//! hold MD5 tokens; nothing is secured by it.

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
    fn hashes_are_the_published_ones() {
        assert_eq!(super::md5(b""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(super::sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}

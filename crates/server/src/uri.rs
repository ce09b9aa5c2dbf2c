//! The addresses of memories: `memory://decision/use-postgresql`.
//!
//! Comes in: an id, or an address. Goes out: the other. Whatever an address may not hold is written as `%` and two digits, so that every id has one
//! address and every address one id. Never here: whether there is such a memory.

use heirloom_core::MemoryId;
use std::fmt::Write as _;

/// What every address begins with.
pub(crate) const SCHEME: &str = "memory://";

/// The address of an id.
pub(crate) fn of(id: &MemoryId) -> String {
    let mut text = format!("{SCHEME}{}/", id.kind().name());
    for byte in id.name().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                text.push(byte as char)
            }
            _ => {
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    text
}

/// The id of an address.
pub(crate) fn read(uri: &str) -> Option<MemoryId> {
    let (kind, name) = uri.strip_prefix(SCHEME)?.split_once('/')?;
    MemoryId::parse(&format!("{kind}:{}", decoded(name)?))
}

/// A text with `%41` read as `A`.
pub(crate) fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first == b'%' {
            let digits = rest.get(..2).filter(|two| two.iter().all(u8::is_ascii_hexdigit))?;
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = rest.get(2..)?;
        } else {
            bytes.push(first);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_has_an_address_that_leads_back_to_it() {
        for id in ["decision:use-postgresql", "lesson:git/rebase#2026-01-15-lost: commits", "note:a%2Fb ü?x"]
        {
            let id = MemoryId::parse(id).unwrap();
            let uri = of(&id);
            assert_eq!(read(&uri), Some(id), "{uri}");
            assert!(!uri.contains([' ', '#', '?']), "{uri}");
        }
        assert_eq!(of(&MemoryId::parse("decision:x").unwrap()), "memory://decision/x");
    }

    #[test]
    fn what_is_no_address_of_a_memory_leads_nowhere() {
        for uri in [
            "file:///etc/passwd",
            "memory://decision",
            "memory://decision/",
            "memory://d/%zz",
            "memory://d/%f",
            "memory:///x",
            "memory://d/%FF",
        ] {
            assert_eq!(read(uri), None, "{uri}");
        }
    }
}

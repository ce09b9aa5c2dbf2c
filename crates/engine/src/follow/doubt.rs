//! Whose trust may have changed since the index last looked: what the trust book says anew.
//!
//! Comes in: the stamps of the book then and now. Goes out: the ids its new lines speak of, or everybody where that cannot be told. Never here:
//! what the trust is.

use crate::files;
use heirloom_core::{fault::Result, json};
use std::collections::HashSet;
use std::path::Path;

/// The longest tail of the trust book that is read line by line; beyond it everything is looked at anew.
const TAIL: u64 = 4 << 20;

/// Whose trust may have changed since the last look.
pub(super) enum Doubt {
    Nobody,
    These(HashSet<String>),
    All,
}

impl Doubt {
    pub(super) fn about(&self, id: &str) -> bool {
        match self {
            Doubt::Nobody => false,
            Doubt::These(ids) => ids.contains(id),
            Doubt::All => true,
        }
    }
}

/// Which ids the trust book has new lines about. A book that was rewritten, or grew by very much, puts everything in doubt.
pub(super) fn appended(before: &str, now: &str, book: &Path) -> Result<Doubt> {
    let parts = |stamp: &str| -> Option<(u64, String)> {
        let mut parts = stamp.split(':').skip(1);
        Some((u64::from_str_radix(parts.next()?, 16).ok()?, parts.next()?.to_owned()))
    };
    let (Some((old, old_file)), Some((new, new_file))) = (parts(before), parts(now)) else {
        return Ok(Doubt::All);
    };
    if old_file != new_file || new < old || new - old > TAIL {
        return Ok(Doubt::All);
    }
    let bytes = files::read_tail(book, new - old)?.unwrap_or_default();
    let mut ids = HashSet::new();
    for line in bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
        match json::parse(line).ok().and_then(|v| Some(v.get("id")?.as_str()?.to_owned())) {
            Some(id) => _ = ids.insert(id),
            // The book grew while it was looked at, so the tail begins inside a line.
            None => return Ok(Doubt::All),
        }
    }
    Ok(if ids.is_empty() { Doubt::Nobody } else { Doubt::These(ids) })
}

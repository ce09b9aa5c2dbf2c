//! Symbols of a build, and which of them a prompt runs through.
//!
//! Comes in: what a linker wrote about where it put things, and `xtask/prompt.order`. Goes out: the symbols that have one of the names in that list,
//! for the linker to put first. Never here: making the list ([`crate::order`]).

use crate::workspace;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Symbols that may share a name: of a function that was compiled for more types than this, most are not the one that was meant.
const SHARED: usize = 6;

/// Where the list is.
pub(crate) fn list() -> PathBuf {
    workspace::root().join("xtask/prompt.order")
}

/// A symbol without the hashes that change from compiler to compiler and from version to version.
pub(crate) fn name(symbol: &str) -> String {
    if let (true, Some(hash)) = (symbol.starts_with("_ZN"), symbol.rfind("17h")) {
        return symbol[..hash].to_owned();
    }
    if !symbol.starts_with("_R") {
        return symbol.to_owned();
    }
    let mut parts = symbol.split("Cs");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // The hash of a crate ends with an underscore, and the crate's name follows, with its length.
        match part.split_once('_').filter(|(hash, _)| hash.bytes().all(|b| b.is_ascii_alphanumeric())) {
            Some((_, rest)) => plain.extend(["C", rest]),
            None => plain.extend(["Cs", part]),
        }
    }
    plain
}

/// The function that a line of a linker's map is about: one of ours by the section it has to itself, one of the C library by its symbol.
fn function(line: &str) -> Option<&str> {
    if let Some((_, section)) = line.rsplit_once(":(") {
        let name = section.strip_prefix(".text.")?.strip_suffix(')')?;
        return Some(["unlikely.", "hot."].iter().find_map(|mark| name.strip_prefix(mark)).unwrap_or(name));
    }
    let mut fields = line.split_ascii_whitespace();
    // Address, address, size, alignment, and nothing behind it.
    let symbol = fields.nth(4)?;
    fields.next().is_none().then_some(symbol)
}

/// What the linker is to put first, a symbol a line, out of those it named in its map.
pub(crate) fn chosen(map: &str) -> String {
    let list = std::fs::read_to_string(list()).unwrap_or_default();
    let wanted: BTreeSet<&str> = list.lines().collect();
    let mut found: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for symbol in map.lines().filter_map(function) {
        let name = name(symbol);
        if wanted.contains(name.as_str()) {
            found.entry(name).or_default().insert(symbol);
        }
    }
    let few = found.into_values().filter(|same| same.len() <= SHARED);
    few.flatten().map(|symbol| format!("{symbol}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_no_hash_of_a_compiler_or_a_crate() {
        assert_eq!(name("_ZN4core3fmt5write17h0123456789abcdefE"), "_ZN4core3fmt5write");
        assert_eq!(name("_ZN4core3fmt5write17h0123456789abcdefE.llvm.42"), "_ZN4core3fmt5write");
        assert_eq!(name("_RNvNtCs6d7GoaNTBIz_10std_detect6detect"), "_RNvNtC10std_detect6detect");
        assert_eq!(name("sqlite3_step"), "sqlite3_step");
    }

    #[test]
    fn a_map_names_the_functions_that_the_linker_placed() {
        assert_eq!(
            function("  df63c0  df63c0  26  16         /x/a.o:(.text._ZN1a1b17h00E)"),
            Some("_ZN1a1b17h00E")
        );
        assert_eq!(function("  1  1  1  1         /x/b.o:(.text.unlikely._ZN1c17h01E)"), Some("_ZN1c17h01E"));
        assert_eq!(function("  2  2  2  1                 memcpy"), Some("memcpy"));
        assert_eq!(function("  3  3  3  1         /x/c.o:(.rodata.x)"), None);
        assert_eq!(function("  3  3  3  1         /x/c.o:(.text)"), None);
    }
}

//! From what somebody typed to an anchor.
//!
//! Comes in: `path`, `path:12`, `path:12-20`, `path#symbol`, `path:12-20#symbol` or `path:"quoted text"`. Goes out: an [`Anchor`] with a hash of what
//! is there now, or what is wrong with the citation. Never here: storing it.

use super::anchor::{Anchor, PATH_MAX, QUOTE_MAX, SYMBOL_MAX};
use super::region::Lines;
use super::symbol::lines_of;
use super::tree::{FILE_MAX, Seen, Tree};
use heirloom_core::{Code, Fault, fault::Result, hash};
use std::path::Path;

const FORMS: &str =
    "write PATH, PATH:12-20, PATH#symbol or PATH:\"quoted text\", with a path inside the project";

/// The parts of a citation.
struct Spoken<'s> {
    path: &'s str,
    lines: Option<(u32, u32)>,
    symbol: Option<&'s str>,
    quote: Option<&'s str>,
}

/// An anchor for what is cited now. Paths are taken from `cwd`, and from the project folder if there is nothing.
pub fn cite(folder: &Path, cwd: &Path, spoken: &str) -> Result<Anchor> {
    let bad =
        |why: String| Fault::new(Code::Usage, format!("`{spoken}` {why}")).fact("anchor", spoken).hint(FORMS);
    let said = parts(spoken);
    let mut tree = Tree::new(folder);
    let path =
        inside(&tree, cwd, said.path).ok_or_else(|| bad("names no file inside the project".to_owned()))?;
    let bytes = match tree.read(&path) {
        Seen::File(bytes) => bytes,
        Seen::Missing => return Err(bad("names no file".to_owned())),
        Seen::Unread => {
            return Err(bad(format!("cannot be read, or is larger than {} MiB", FILE_MAX >> 20)));
        }
    };
    if path.len() > PATH_MAX {
        return Err(bad("has too long a path".to_owned()));
    }
    if said.symbol.is_some_and(|symbol| symbol.len() > SYMBOL_MAX)
        || said.quote.is_some_and(|q| q.len() > QUOTE_MAX)
    {
        return Err(bad(format!("is too long; a symbol has {SYMBOL_MAX} bytes, a quotation {QUOTE_MAX}")));
    }
    let mut anchor = Anchor {
        path,
        lines: None,
        symbol: said.symbol.map(str::to_owned),
        quote: said.quote.map(str::to_owned),
        hash: String::new(),
        roll: 0,
    };
    if let Some(quote) = said.quote {
        if memchr::memmem::find(&bytes, quote.as_bytes()).is_none() {
            return Err(bad("quotes a text that is not in the file".to_owned()));
        }
        anchor.hash = hash::sha256(quote.as_bytes());
        return Ok(anchor);
    }
    let lines = Lines::of(&bytes);
    let range = match (said.lines, said.symbol) {
        (None, None) => {
            anchor.hash = lines.hash_all();
            return Ok(anchor);
        }
        (None, Some(symbol)) => {
            lines_of(&lines, symbol).ok_or_else(|| bad(format!("has no `{symbol}` in it")))?
        }
        (Some((first, last)), symbol) => {
            let range = first as usize - 1..last as usize;
            if range.end > lines.len() {
                return Err(bad(format!("has {} lines", lines.len())));
            }
            if let Some(symbol) = symbol.filter(|symbol| lines_of(&lines, symbol).is_none()) {
                return Err(bad(format!("has no `{symbol}` in it")));
            }
            range
        }
    };
    anchor.hash = lines.hash(range.clone()).unwrap_or_default();
    anchor.roll = lines.roll(range.clone());
    anchor.lines = Some((range.start as u32 + 1, range.end as u32));
    Ok(anchor)
}

fn parts(spoken: &str) -> Spoken<'_> {
    if let Some((path, quote)) = spoken.strip_suffix('"').and_then(|rest| rest.split_once(":\"")) {
        return Spoken {
            path,
            lines: None,
            symbol: None,
            quote: Some(quote).filter(|quote| !quote.is_empty()),
        };
    }
    let (rest, symbol) = match spoken.rsplit_once('#') {
        Some((rest, symbol)) if !symbol.is_empty() && !symbol.contains('/') => (rest, Some(symbol)),
        _ => (spoken, None),
    };
    let range = rest.rsplit_once(':').and_then(|(path, range)| Some((path, lines_in(range)?)));
    match range {
        Some((path, lines)) => Spoken { path, lines: Some(lines), symbol, quote: None },
        None => Spoken { path: rest, lines: None, symbol, quote: None },
    }
}

/// `12`, `12-20`, `L12-L20`.
fn lines_in(range: &str) -> Option<(u32, u32)> {
    let number = |text: &str| text.trim_start_matches(['L', 'l']).parse::<u32>().ok().filter(|n| *n > 0);
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let (first, last) = (number(first)?, number(last)?);
    (first <= last).then_some((first, last))
}

/// A path from the project folder; `None` if it leads out of it.
fn inside(tree: &Tree, cwd: &Path, path: &str) -> Option<String> {
    let real =
        [cwd, tree.folder()].into_iter().find_map(|from| std::fs::canonicalize(from.join(path)).ok())?;
    let inner = real.strip_prefix(tree.folder()).ok()?.to_str()?;
    (!inner.is_empty()).then(|| inner.to_owned())
}

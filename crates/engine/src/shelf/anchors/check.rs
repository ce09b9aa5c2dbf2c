//! Whether what was cited is still there.
//!
//! Comes in: an anchor and the working tree. Goes out: unchanged, moved (and where to), changed, gone, or not looked at. Never here: changing an
//! anchor; a moved citation is followed every time, so that another branch finds it where it was.

use super::anchor::Anchor;
use super::region::Lines;
use super::symbol::lines_of;
use super::tree::{Seen, Tree};
use serde::Serialize;
use std::ops::Range;

/// How far cited code is what it was. Later ones are worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Freshness {
    /// It stands where it stood.
    Unchanged,
    /// It says the same elsewhere.
    Moved,
    /// It was too large or too much to look at; nothing is said about it.
    Unchecked,
    /// It says something else.
    Changed,
    /// It is no longer there.
    Gone,
}

impl Freshness {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Freshness::Unchanged => "unchanged",
            Freshness::Moved => "moved",
            Freshness::Unchecked => "unchecked",
            Freshness::Changed => "changed",
            Freshness::Gone => "gone",
        }
    }

    /// What several anchors say of their memory: gone only if all of them are, since the others still hold.
    pub fn together(all: impl Iterator<Item = Freshness> + Clone) -> Freshness {
        let mut rest = all.clone().peekable();
        if rest.peek().is_some() && rest.all(|one| one == Freshness::Gone) {
            return Freshness::Gone;
        }
        all.max().map_or(Freshness::Unchanged, |worst| worst.min(Freshness::Changed))
    }
}

/// Where something stands now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Place {
    /// The file, from the project folder.
    pub path: String,
    /// First and last line, if they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<[usize; 2]>")]
    pub lines: Option<(u32, u32)>,
}

impl Place {
    /// As it is shown.
    pub fn shown(&self) -> String {
        match self.lines {
            Some((first, last)) if first == last => format!("{}:{first}", self.path),
            Some((first, last)) => format!("{}:{first}-{last}", self.path),
            None => self.path.clone(),
        }
    }
}

/// An anchor and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Cited {
    /// The citation as it was made.
    pub anchor: String,
    /// How far it is what it was.
    pub state: Freshness,
    /// Where it stands now, if that is elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<Place>,
}

/// What one file says about an anchor.
enum Here {
    Same(Option<Range<usize>>),
    Other,
    Absent,
}

/// Looks for what an anchor cites.
pub(super) fn check(tree: &mut Tree, anchor: &Anchor) -> Cited {
    let cited = |state: Freshness, now: Option<Place>| Cited { anchor: anchor.shown(), state, now };
    let own = match tree.read(&anchor.path) {
        Seen::Unread => return cited(Freshness::Unchecked, None),
        Seen::File(bytes) => Some(look(&bytes, anchor)),
        Seen::Missing => None,
    };
    match own {
        Some(Here::Same(range)) => {
            let lines = range.map(shown);
            return match lines.is_none() || lines == anchor.lines {
                true => cited(Freshness::Unchanged, None),
                false => cited(Freshness::Moved, Some(Place { path: anchor.path.clone(), lines })),
            };
        }
        Some(Here::Other) => return cited(Freshness::Changed, None),
        Some(Here::Absent) | None => {}
    }
    // The file is gone, or what had the name is no longer in it.
    let mut other = None;
    for path in tree.instead_of(&anchor.path) {
        let Seen::File(bytes) = tree.read(&path) else { continue };
        match look(&bytes, anchor) {
            Here::Same(range) => {
                return cited(Freshness::Moved, Some(Place { path, lines: range.map(shown) }));
            }
            Here::Other if anchor.symbol.is_some() && other.is_none() => {
                other = Some(Place { path, lines: None });
            }
            _ => {}
        }
    }
    match other {
        Some(place) => cited(Freshness::Changed, Some(place)),
        None => cited(Freshness::Gone, None),
    }
}

fn shown(range: Range<usize>) -> (u32, u32) {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    (number(range.start + 1), number(range.end))
}

fn look(bytes: &[u8], anchor: &Anchor) -> Here {
    if let Some(quote) = &anchor.quote {
        return match memchr::memmem::find(bytes, quote.as_bytes()) {
            Some(_) => Here::Same(None),
            None => Here::Other,
        };
    }
    let lines = Lines::of(bytes);
    let Some((first, last)) = anchor.lines else {
        return if lines.hash_all() == anchor.hash { Here::Same(None) } else { Here::Other };
    };
    let (start, end) = (first as usize - 1, last as usize);
    if lines.hash(start..end).as_deref() == Some(&anchor.hash) {
        return Here::Same(Some(start..end));
    }
    if let Some(range) = lines.find(end - start, anchor.roll, &anchor.hash, start) {
        return Here::Same(Some(range));
    }
    match &anchor.symbol {
        Some(symbol) if lines_of(&lines, symbol).is_none() => Here::Absent,
        _ => Here::Other,
    }
}

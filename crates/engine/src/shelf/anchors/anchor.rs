//! One citation, as `provenance.jsonl` keeps it.
//!
//! Comes in: an object of a line. Goes out: an [`Anchor`] within its limits, or nothing: a line that came with the repository may say
//! anything. Never here: reading what is cited.

use heirloom_core::hash;
use serde_json::{Value, json};

/// Most anchors of a memory that count.
pub(super) const MOST: usize = 16;
/// Longest path, symbol and quotation, in bytes.
pub(super) const PATH_MAX: usize = 1_024;
pub(super) const SYMBOL_MAX: usize = 200;
pub(super) const QUOTE_MAX: usize = 500;

/// A place in the code, with a hash of what was there when it was cited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// The file, from the project folder.
    pub path: String,
    /// First and last line, counted from 1, where lines were cited or a symbol was found.
    pub lines: Option<(u32, u32)>,
    /// The name of what was cited.
    pub symbol: Option<String>,
    /// A text that must be there.
    pub quote: Option<String>,
    /// SHA-256 of the cited lines, of the quotation, or of the whole file; blanks at line ends do not count.
    pub hash: String,
    /// A fingerprint by which the same lines are found elsewhere in a file in one pass.
    pub(super) roll: u64,
}

impl Anchor {
    /// The citation as it is typed and shown.
    pub fn shown(&self) -> String {
        let mut shown = self.path.clone();
        if let Some(quote) = &self.quote {
            shown.push_str(&format!(":\"{quote}\""));
        } else if let Some((first, last)) = self.lines {
            shown.push_str(&match first == last {
                true => format!(":{first}"),
                false => format!(":{first}-{last}"),
            });
        }
        if let Some(symbol) = &self.symbol {
            shown.push_str(&format!("#{symbol}"));
        }
        shown
    }

    pub(super) fn to_json(&self) -> Value {
        let mut value = json!({ "path": self.path });
        if let Some((first, last)) = self.lines {
            value["lines"] = json!([first, last]);
        }
        for (key, text) in [("symbol", &self.symbol), ("quote", &self.quote)] {
            if let Some(text) = text {
                value[key] = json!(text);
            }
        }
        value["hash"] = json!(self.hash);
        if self.lines.is_some() {
            value["roll"] = json!(format!("{:016x}", self.roll));
        }
        value
    }

    /// Reads an anchor; `None` if it is none that could have been written here.
    pub(super) fn from_json(value: &Value) -> Option<Anchor> {
        let text = |key: &str, max: usize| match value.get(key) {
            None => Some(None),
            Some(Value::String(text)) if !text.is_empty() && text.len() <= max => Some(Some(text.clone())),
            Some(_) => None,
        };
        let lines = match value.get("lines") {
            None => None,
            Some(lines) => {
                let at = |i: usize| lines.get(i)?.as_u64().and_then(|n| u32::try_from(n).ok());
                let (first, last) = (at(0)?, at(1)?);
                (1 <= first && first <= last).then_some(())?;
                Some((first, last))
            }
        };
        let roll = text("roll", 16)?.map_or(Some(0), |roll| u64::from_str_radix(&roll, 16).ok())?;
        Some(Anchor {
            path: text("path", PATH_MAX)??,
            lines,
            symbol: text("symbol", SYMBOL_MAX)?,
            quote: text("quote", QUOTE_MAX)?,
            hash: text("hash", hash::sha256(b"").len())??,
            roll,
        })
    }
}

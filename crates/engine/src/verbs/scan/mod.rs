//! Scan: the gate's eyes on files, folders, a stream, git's history, or single texts.
//!
//! Comes in: where to look and by which row of the policy. Goes out: what was found, by rule and place, and what was not looked at. Never here:
//! found text, a link followed, or what the memory holds, which is `remove::redact`.

mod files;
mod history;
mod judge;
mod pieces;
mod place;

pub use judge::{Judged, Shown, Text, judge};
pub use place::{Place, act_word};

use super::{Watch, may_read};
use crate::call::Call;
use crate::gate::Screen;
use crate::gate::policy::{Act, Row};
use heirloom_core::{Code, Fault, Trust, Verb, fault::Result};
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::path::PathBuf;

/// The row of the policy if nobody names one.
const USUAL: &str = "episode";

/// Where to look.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scan {
    /// Files and folders of this machine.
    #[serde(default)]
    pub paths: Vec<PathBuf>,
    /// Every line that any commit of the project's repository added, instead of files.
    #[serde(default)]
    pub history: bool,
    /// The row of the gate's policy.
    #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
    pub row: Option<String>,
    /// The folder from which files are named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<PathBuf>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, schemars::JsonSchema)]
pub struct Scanned {
    /// Texts that were looked at.
    pub looked: usize,
    /// What was found in them.
    pub findings: Vec<Place>,
    /// What was not looked at.
    pub left_out: Vec<LeftOut>,
}

impl Scanned {
    /// Whether something would not be stored as it is.
    pub fn is_serious(&self) -> bool {
        self.findings.iter().any(|place| place.act >= Act::Neutralise)
    }
}

/// Something that was not looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct LeftOut {
    /// The file or folder.
    pub path: String,
    /// Why.
    pub why: String,
}

/// Looks at files and folders, or at git's history.
pub fn scan(call: &Call, ask: &Scan, watch: &mut Watch<'_>) -> Result<Scanned> {
    let eyes = Eyes::of(call, ask.row.as_deref())?;
    match (ask.history, ask.paths.is_empty()) {
        (true, true) => history::scan(call, &eyes, watch),
        (true, false) => Err(Fault::new(Code::Usage, "--history scans the git history alone")
            .hint("leave the paths out, or --history")),
        (false, true) => Err(Fault::new(Code::Usage, "nothing to scan")
            .hint("name files or folders, `-`, --history or --store")),
        (false, false) => files::scan(call, &eyes, ask, watch),
    }
}

/// Looks at a stream, to its end.
pub fn scan_stream(call: &Call, row: Option<&str>, name: &str, from: &mut dyn Read) -> Result<Scanned> {
    let eyes = Eyes::of(call, row)?;
    let mut scanned = Scanned { looked: 1, ..Scanned::default() };
    let read = pieces::each(from, &mut |piece| eyes.look(name, &piece, &mut scanned.findings));
    read.map_err(|e| Fault::new(Code::Io, format!("`{name}` cannot be read: {e}")))?;
    Ok(scanned)
}

/// The screen, and the row by which it judges.
struct Eyes<'c> {
    screen: &'c Screen,
    row: Row,
}

impl<'c> Eyes<'c> {
    fn of(call: &'c Call, row: Option<&str>) -> Result<Eyes<'c>> {
        may_read(call, Verb::Scan)?;
        Ok(Eyes { screen: call.screen(), row: row_named(row.unwrap_or(USUAL))? })
    }

    /// Adds what is in a piece of a text.
    fn look(&self, name: &str, piece: &pieces::Piece<'_>, found: &mut Vec<Place>) {
        let text = String::from_utf8_lossy(piece.bytes);
        let mut findings = self.screen.found(&text, self.row, Trust::Low);
        if piece.seen > 0 {
            // What ends in the part that the piece before it ended with was found there.
            findings.retain(|(finding, _)| finding.span.end > piece.seen);
        }
        let known = found.len();
        place::add(name, &text, piece.first_line, &findings, found);
        if piece.seen > 0 && known > 0 {
            let before: std::collections::HashSet<(usize, usize)> =
                found[..known].iter().rev().take(1_000).map(Place::start).collect();
            let mut at = 0;
            found.retain(|place| {
                at += 1;
                at <= known || !before.contains(&place.start())
            });
        }
    }
}

fn row_named(name: &str) -> Result<Row> {
    Row::named(name).ok_or_else(|| {
        let names: Vec<&str> = Row::ALL.iter().map(|row| row.name()).collect();
        Fault::new(Code::Usage, format!("there is no row `{name}`"))
            .hint(format!("use one of {}", names.join(", ")))
    })
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;

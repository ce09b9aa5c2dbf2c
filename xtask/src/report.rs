//! What a task prints: lines, and tables of figures side by side.

use std::io::Write as _;

/// A line on stdout.
pub(crate) fn line(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}");
}

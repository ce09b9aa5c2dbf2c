//! Text that gives no orders to whoever reads it.
//!
//! Comes in: a stored text. Goes out: the same with every injection marker the gate knows made harmless; the file keeps its bytes. Never here: escaping.

use crate::engine::Engine;
use crate::gate::scan::{self, Class};
use std::borrow::Cow;

/// The text without its markers.
pub(super) fn calm<'t>(engine: &Engine, raw: &'t str) -> Cow<'t, str> {
    let findings = engine.screen().scan(raw);
    let markers: Vec<_> = findings.iter().filter(|finding| finding.class == Class::Injection).collect();
    if markers.is_empty() { Cow::Borrowed(raw) } else { Cow::Owned(scan::neutralise(raw, &markers)) }
}

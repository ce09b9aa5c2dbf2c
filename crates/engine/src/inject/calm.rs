//! Text that gives no orders to whoever reads it.
//!
//! Comes in: a stored text. Goes out: the same with every injection marker the gate knows made harmless; the file keeps its bytes. Never here: escaping.

use crate::call::Call;
use crate::gate::scan;
use std::borrow::Cow;

/// The text without its markers.
pub(crate) fn calm<'t>(call: &Call, raw: &'t str) -> Cow<'t, str> {
    let markers = call.screen().instructions(raw);
    if markers.is_empty() {
        return Cow::Borrowed(raw);
    }
    Cow::Owned(scan::neutralise(raw, &markers.iter().collect::<Vec<_>>()))
}

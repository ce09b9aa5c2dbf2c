//! Pruning: which entries a topic file gives to the archive.
//!
//! Comes in: a page. Goes out: which of its entries leave. Too many entries: the 10 most recent stay. Too many bytes: the oldest
//! leave until the file fits, but one entry always stays. Never here: the moving itself.

use super::page::Page;

/// Most entries of a topic file.
pub const MAX_ENTRIES: usize = 10;

/// Most bytes of a topic file.
pub const MAX_BYTES: usize = 5120;

/// The entries that leave, oldest first.
pub(super) fn leaving(page: &Page) -> Vec<usize> {
    let order = page.oldest_first();
    let mut out = order.len().saturating_sub(MAX_ENTRIES);
    let size = |at: &usize| page.spots()[*at].range.len();
    let mut bytes = page.text().len() - order[..out].iter().map(size).sum::<usize>();
    while bytes > MAX_BYTES && out + 1 < order.len() {
        bytes -= size(&order[out]);
        out += 1;
    }
    order[..out].to_vec()
}

//! Phrases that mean something only close together, in any order, such as `ignore` and `previous
//! instructions` in a dozen languages. In: keyword hits in text order. Out: the stretch that holds one of each group.
//! Constant work per hit.

use super::rules::{NEARS, Near};
use std::ops::Range;

/// What has been seen of each near-rule.
pub(super) struct Seen {
    last: Vec<[Option<(u32, u32)>; 4]>,
}

impl Seen {
    pub fn new() -> Self {
        Seen { last: Vec::new() }
    }

    /// Notes a hit of one group; answers with the rule and the stretch if all groups are close.
    pub fn note(
        &mut self,
        index: u16,
        group: u8,
        at: &Range<usize>,
        text: &[u8],
    ) -> Option<(&'static Near, Range<usize>)> {
        let near = &NEARS[index as usize];
        let before = at.start.checked_sub(1).map(|i| text[i]);
        if text[at.start].is_ascii_alphanumeric() && before.is_some_and(|b| b.is_ascii_alphanumeric()) {
            return None;
        }
        if self.last.is_empty() {
            self.last = vec![[None; 4]; NEARS.len()];
        }
        let slots = &mut self.last[index as usize];
        slots[group as usize] = Some((at.start as u32, at.end as u32));
        // Common words come here often: nothing is allocated.
        let (mut start, mut end) = (at.start as u32, at.end as u32);
        for slot in &slots[..near.groups as usize] {
            let (from, to) = (*slot)?;
            (start, end) = (start.min(from), end.max(to));
        }
        let (start, end) = (start as usize, end as usize);
        (end - start <= near.within).then_some((near, start..end))
    }
}

//! The audit book of one user: listing it, checking it, keeping it as long as the settings say.
//!
//! Comes in: the chain in the store and the sealed head beside it. Goes out: lines, or the first one that is not what it was. Never here:
//! content, and never a prefix dropped without a checkpoint that says so.

use super::Tiers;
use super::event::{Action, Line, Metadata, Walk};
use heirloom_core::{fault::Result, time};

/// Lines read at a time.
const PAGE: usize = 2_000;

impl Tiers<'_> {
    /// The user's audit lines that are wanted, newest last, at most `limit`.
    pub fn audit(&self, limit: usize, wanted: impl Fn(&Line) -> bool) -> Result<Vec<Line>> {
        let mut kept = std::collections::VecDeque::new();
        self.each_line(|line| {
            if wanted(&line) {
                if kept.len() == limit {
                    kept.pop_front();
                }
                kept.push_back(line);
            }
            Ok(true)
        })?;
        Ok(kept.into())
    }

    /// The number of the chain's last line.
    pub fn sealed_end(&self) -> Result<u64> {
        let sealed = self.sealed()?;
        let mut end = sealed.map_or(0, |head| head.seq);
        // Another process may have written since it was sealed.
        while let Some(last) = self.store().audit(self.who(), end, PAGE)?.last() {
            end = last.seq;
        }
        Ok(end)
    }

    /// Walks the chain up to its sealed end: how many lines there are, or the first that was altered, removed, moved or cut off.
    pub fn verify_audit(&self) -> Result<u64> {
        let sealed = self.sealed()?;
        let mut walk = Walk::new(sealed);
        self.each_line(|line| walk.step(self.who().user(), &line).map(|()| true))?;
        walk.end()
    }

    /// Where the chain must reach: the head that a shared store keeps apart from the lines, or the seal in the data folder.
    fn sealed(&self) -> Result<Option<super::Head>> {
        match self.store().is_shared() {
            true => self.store().head(self.who()),
            false => self.access.seals.read(self.who().user(), &self.call.project().world().nonce),
        }
    }

    /// Drops lines older than the settings keep, behind a checkpoint. Returns how many went.
    pub(super) fn retain_audit(&self) -> Result<u64> {
        let days = self.settings().audit_days;
        if days == 0 {
            return Ok(0);
        }
        let oldest = time::days_before(self.now(), days);
        let mut last = None;
        let mut count = 0;
        self.each_line(|line| {
            let old = time::parse(&line.at).is_some_and(|at| at < oldest);
            if old {
                count += 1;
                last = Some(line.head());
            }
            Ok(old)
        })?;
        let Some(last) = last else { return Ok(0) };
        let metadata = Metadata {
            count: Some(count),
            through: Some(last.seq),
            through_hash: Some(last.hash),
            ..Metadata::default()
        };
        let event = self.event(Action::AuditCheckpoint, metadata);
        let head = self.store().checkpoint(self.who(), last.seq, &event)?;
        self.seal(&head)?;
        Ok(count)
    }

    /// Shows every line in order, as long as `see` says so.
    fn each_line(&self, mut see: impl FnMut(Line) -> Result<bool>) -> Result<()> {
        let mut after = 0;
        loop {
            let lines = self.store().audit(self.who(), after, PAGE)?;
            let whole = lines.len() == PAGE;
            for line in lines {
                after = line.seq;
                if !see(line)? {
                    return Ok(());
                }
            }
            if !whole {
                return Ok(());
            }
        }
    }
}

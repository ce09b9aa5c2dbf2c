//! The vault as one write sees it: what counts in the file, and on top of it what the writes before it in the same call added.
//!
//! Comes in: what is in use, the retired memories the writes name, then new records one by one. Goes out: what is there under an id or
//! a topic, and how much is in use. Never here: a retired memory nobody named; only that its id is taken is known, by the view.

use super::current::View;
use super::record::Record;
use crate::threads::halves;
use std::borrow::Cow;
use std::collections::HashMap;

/// A record on the desk, with the bytes of its line.
#[derive(Debug)]
pub(super) struct Slot<'a> {
    pub(super) record: Record<'a>,
    pub(super) bytes: Cow<'a, [u8]>,
}

/// What one call works on.
#[derive(Debug)]
pub(super) struct Desk<'a> {
    slots: Vec<Slot<'a>>,
    by_id: HashMap<Cow<'a, str>, usize, foldhash::fast::RandomState>,
    active: usize,
    /// Slots that were there before this call.
    stored: usize,
}

impl<'a> Desk<'a> {
    /// What is in use, and of what is not the memories of these ids.
    pub(super) fn of(view: &View<'a>, named: impl Iterator<Item = String>) -> Desk<'a> {
        let slots = halves(view.lines_in_use(), |lines, slots| {
            let held = lines.iter().filter_map(|line| line.read().ok());
            slots.extend(held.map(|one| Slot { record: one.record, bytes: Cow::Borrowed(one.bytes) }));
        });
        // Of each id one line counts.
        let by_id = slots.iter().enumerate().map(|(at, slot)| (slot.record.id.clone(), at)).collect();
        let mut desk = Desk { active: slots.len(), slots, by_id, stored: 0 };
        for id in named {
            if let Some(one) = view.retired(&id).filter(|_| desk.get(&id).is_none()) {
                desk.put(one.record, one.bytes);
            }
        }
        desk.stored = desk.slots.len();
        desk
    }

    /// Lays a record on top of what is there under its id.
    pub(super) fn put(&mut self, record: Record<'a>, bytes: Cow<'a, [u8]>) {
        self.active += usize::from(record.is_active());
        match self.by_id.get(record.id.as_ref()) {
            Some(&at) => {
                self.active -= usize::from(self.slots[at].record.is_active());
                self.slots[at] = Slot { record, bytes };
            }
            None => {
                self.by_id.insert(record.id.clone(), self.slots.len());
                self.slots.push(Slot { record, bytes });
            }
        }
    }

    pub(super) fn get(&self, id: &str) -> Option<&Slot<'a>> {
        self.by_id.get(id).map(|&at| &self.slots[at])
    }

    /// The register in use under a topic of a scope.
    pub(super) fn register(&self, topic: &str, scope: &str) -> Option<&Slot<'a>> {
        self.slots.iter().find(|slot| {
            let record = &slot.record;
            record.is_active()
                && record.is_register()
                && record.scope == scope
                && record.topic() == Some(topic)
        })
    }

    /// What is in use in a scope; only what was there before this call if `stored`.
    pub(super) fn active_in(&self, scope: &str, stored: bool) -> impl Iterator<Item = &Record<'a>> {
        let slots = if stored { &self.slots[..self.stored] } else { &self.slots[..] };
        slots.iter().map(|slot| &slot.record).filter(move |r| r.is_active() && r.scope == scope)
    }

    /// How much is in use.
    pub(super) fn active(&self) -> usize {
        self.active
    }
}

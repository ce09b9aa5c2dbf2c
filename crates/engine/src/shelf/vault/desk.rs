//! The vault as one write sees it: what counts in the file, and on top of it what the writes before it in the same call added.
//!
//! Comes in: resolved lines, then new records one by one. Goes out: what is there under an id or a topic, and how much is in use.

use super::image::Resolved;
use super::record::Record;
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
    by_id: HashMap<String, usize>,
    active: usize,
    /// Slots that were there before this call.
    stored: usize,
}

impl<'a> Desk<'a> {
    pub(super) fn of(resolved: &Resolved<'a>) -> Desk<'a> {
        let room = resolved.len();
        let mut desk = Desk {
            slots: Vec::with_capacity(room),
            by_id: HashMap::with_capacity(room),
            active: 0,
            stored: room,
        };
        for one in resolved.all() {
            desk.put(one.record, Cow::Borrowed(one.bytes));
        }
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
                self.by_id.insert(record.id.to_string(), self.slots.len());
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

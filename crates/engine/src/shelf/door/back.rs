//! Taking a change of the file shelves back: what a call changed, put back through each shelf's own write and gate.
//!
//! Comes in: what is kept of a call's changes, and the audit's word on which of them happened. Goes out: each memory as the call found it, with
//! the standing it had. Never here: whether somebody may; what was forgotten, which is gone.

use super::change::{Decided, Decision};
use crate::call::Call;
use crate::gate::Entry;
use crate::gate::audit;
use crate::gate::inbox::Waiting;
use crate::undo::{self, Before, Kept};
use heirloom_core::{Memory, MemoryId, ShelfName, Status, fault::Result};
use std::collections::{BTreeMap, HashMap};

/// What happened and is kept, by the number of its call.
pub(crate) type Groups = BTreeMap<u64, Vec<Kept>>;

/// One thing to be put back.
pub(crate) enum Way {
    /// A memory: from what the call left to what it found.
    Memory {
        /// The first change of it in this call.
        first: Box<Kept>,
        /// The last one.
        last: Box<Kept>,
        /// The memory now.
        now: Option<Box<Memory>>,
    },
    /// A decision in review.
    Review(Box<Kept>),
}

/// What happened and is kept. The audit has the last word on what happened; a number may have been used before by a store that was deleted.
pub(crate) fn groups(call: &Call) -> Result<Groups> {
    let project = call.project();
    let Some(data) = project.known_data()?.filter(|_| project.has_local()) else {
        return Ok(Groups::new());
    };
    let kept = undo::kept(&data, project.store_name(), project.world().now)?;
    if kept.is_empty() {
        return Ok(Groups::new());
    }
    let text = |entry: &serde_json::Value, key: &str| {
        entry.get(key).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
    };
    let happened: HashMap<u64, (String, String)> = call
        .audit_entries()?
        .iter()
        .filter(|entry| audit::happened(entry))
        .filter_map(|entry| Some((entry.get("seq")?.as_u64()?, (text(entry, "at"), text(entry, "id")))))
        .collect();
    let mut by_seq: BTreeMap<u64, Kept> = BTreeMap::new();
    for one in kept {
        if happened.get(&one.seq).is_some_and(|(at, id)| *at == one.at && *id == one.id) {
            by_seq.insert(one.seq, one);
        }
    }
    let mut groups = Groups::new();
    by_seq.into_values().for_each(|one| groups.entry(one.group).or_default().push(one));
    Ok(groups)
}

/// Whether a later change took this one back and was not taken back itself.
pub(crate) fn is_undone(groups: &Groups, number: u64) -> bool {
    let later = groups.range(number + 1..);
    later
        .filter(|(_, parts)| parts.iter().any(|one| one.undoes == Some(number)))
        .any(|(by, _)| !is_undone(groups, *by))
}

/// Whether enough is kept of a change to take it back.
pub(crate) fn can_go_back(one: &Kept) -> bool {
    one.was != Before::Unkept || one.action.starts_with("review_")
}

/// What made a change anew after it was taken back, oldest first: a memory is then what this left.
fn redone(groups: &Groups, number: u64) -> Vec<&Kept> {
    let undoes = |number: u64| {
        let later = groups.range(number + 1..);
        later.filter(move |(_, parts)| parts.iter().any(|one| one.undoes == Some(number)))
    };
    let mut all = Vec::new();
    for (again, parts) in undoes(number).flat_map(|(undo, _)| undoes(*undo)) {
        if !is_undone(groups, *again) {
            all.extend(parts);
            all.extend(redone(groups, *again));
        }
    }
    all
}

/// What is to be put back of a call's changes: each memory once, from what the call left to what it found.
pub(crate) fn ways(call: &Call, groups: &Groups, number: u64) -> Result<Vec<Way>> {
    let parts = groups.get(&number).map(Vec::as_slice).unwrap_or_default();
    let mut ways = of_parts(call, parts)?;
    for again in redone(groups, number) {
        let same = |way: &&mut Way| matches!(way, Way::Memory { last, .. } if last.id == again.id);
        if let Some(Way::Memory { last, .. }) = ways.iter_mut().find(same) {
            **last = again.clone();
        }
    }
    Ok(ways)
}

fn of_parts(call: &Call, parts: &[Kept]) -> Result<Vec<Way>> {
    let mut ways: Vec<Way> = Vec::new();
    for one in parts.iter().filter(|one| can_go_back(one)) {
        if one.action.starts_with("review_") {
            // A no to something that could not be read has nothing to bring back.
            if one.draft.is_some() || !one.hash.is_empty() {
                ways.push(Way::Review(Box::new(one.clone())));
            }
            continue;
        }
        let same = |way: &&mut Way| matches!(way, Way::Memory { last, .. } if last.id == one.id);
        if let Some(Way::Memory { last, .. }) = ways.iter_mut().find(same) {
            **last = one.clone();
            continue;
        }
        let id = MemoryId::parse(&one.id).ok_or_else(|| super::super::unknown(&one.id))?;
        let now = call.shelf_of(&id)?.get(&id)?.map(Box::new);
        ways.push(Way::Memory { first: Box::new(one.clone()), last: Box::new(one.clone()), now });
    }
    Ok(ways)
}

impl Way {
    /// Whether a memory is what the change left. A decision can always be taken back.
    pub(crate) fn is_as_left(&self) -> bool {
        match self {
            Way::Review(_) => true,
            Way::Memory { last, now, .. } => {
                last.left(now.as_ref().map(|memory| (memory.content_hash.as_str(), memory.status)))
            }
        }
    }

    /// Puts it back. `name` is the change that is taken back, for a memory's own history.
    pub(crate) fn reverse(&self, call: &Call, name: &str) -> Result<()> {
        match self {
            Way::Review(one) => review(call, one),
            Way::Memory { first, now: Some(now), .. } => put_back(call, first, now, name),
            Way::Memory { first, now: None, .. } => Err(super::super::unknown(&first.id)),
        }
    }
}

/// What has to be done to a memory, in a word.
pub(crate) fn does(first: &Kept, now: Option<&Memory>) -> &'static str {
    let Before::Text { status, .. } = &first.was else { return "retire" };
    let shelf = now.map(|memory| memory.kind.shelf());
    let is = now.map_or(Status::Active, |memory| memory.status);
    match (shelf, status.as_str(), is) {
        (Some(ShelfName::Records | ShelfName::Vault), ..) => "put_back",
        (_, "active", Status::Retired) => "restore",
        (_, "active", Status::Archived) => "unarchive",
        (_, "retired", Status::Active) => "retire",
        (_, "archived", Status::Active) => "archive",
        (_, "archived", Status::Retired) => "restore_and_archive",
        _ => "edit",
    }
}

fn put_back(call: &Call, first: &Kept, now: &Memory, name: &str) -> Result<()> {
    let shelf = call.shelf_of(&now.id)?;
    let why = format!("Undone: {name}");
    let (own, id) = (call.entry(), &now.id);
    match (&first.was, does(first, Some(now))) {
        (Before::Text { text, .. }, "put_back" | "edit") => {
            // The old text stands as it stood; whoever takes the change back adds nothing of their own.
            let standing = first.was.standing();
            let entry = Entry { channel: standing.channel, confirmed: standing.accepted };
            match now.kind.shelf() {
                ShelfName::Records => call.records().put_back(id, text, &now.content_hash, &why, entry)?,
                ShelfName::Vault => call.vault().put_back(text, &now.content_hash, entry)?,
                ShelfName::Topics => call.topics().put_back(id, text, &now.content_hash, entry)?,
                ShelfName::Notes => call.notes().put_back(id, text, &now.content_hash, entry)?,
                _ => return Err(super::super::unknown(&first.id)),
            }
        }
        (_, "restore") => shelf.restore(id, own)?,
        (_, "unarchive") => shelf.unarchive(id, own)?,
        (_, "archive") => shelf.archive(id, &why, own)?,
        (_, "restore_and_archive") => {
            shelf.restore(id, own)?;
            shelf.archive(id, &why, own)?
        }
        _ => shelf.retire(id, &why, own)?,
    };
    Ok(())
}

/// A decision taken back: the draft waits again until it expires, or the memory that was accepted as it stood waits for its yes. Taking
/// that back in turn decides as before.
fn review(call: &Call, one: &Kept) -> Result<()> {
    let (inbox, now) = (call.inbox()?, call.project().world().now);
    let lock = call.lock()?;
    let shelf = one.draft.as_ref().and_then(shelf_of);
    let shelf = shelf.or_else(|| MemoryId::parse(&one.id).map(|id| id.kind().shelf()));
    let shelf = shelf.unwrap_or(ShelfName::Records);
    let back = one.action != "review_return";
    let decided = match (back, &one.draft) {
        (true, _) => Decided::Returned,
        (false, Some(_)) => Decided::Rejected,
        (false, None) => Decided::Accepted,
    };
    let (id, entry, hash) = (one.id.as_str(), call.entry(), one.hash.as_str());
    let decision = Decision { decided, shelf, id, entry, draft: one.draft.as_ref(), hash };
    let intent = call.decides(&lock, &decision)?;
    match (back, &one.draft) {
        (true, Some(draft)) => inbox.put(as_it_is_now(call, draft)?, now).map(|_| ())?,
        (true, None) => call.unaccept(&one.id, &one.hash)?,
        (false, Some(draft)) => {
            let waits = |item: &Waiting| item.id == draft.id && same_draft(item, draft);
            inbox.drop_if(waits, now)?;
        }
        (false, None) => call.accept(&one.id, &one.hash)?,
    }
    intent.done();
    Ok(())
}

/// The same draft, whichever version of its memory it is for.
pub(crate) fn same_draft(one: &Waiting, other: &Waiting) -> bool {
    let without = |waiting: &Waiting| {
        let mut draft = waiting.draft.clone();
        if draft.get("change").is_some() {
            draft["version"] = serde_json::Value::Null;
        }
        draft
    };
    without(one) == without(other)
}

/// A change that waits is about a version of a memory; taking back its acceptance made another one.
fn as_it_is_now(call: &Call, draft: &Waiting) -> Result<Waiting> {
    let mut draft = draft.clone();
    if draft.draft.get("change").is_some()
        && let Some(id) = MemoryId::parse(&draft.id)
        && let Some(memory) = call.shelf_of(&id)?.get(&id)?
    {
        draft.draft["version"] = serde_json::Value::String(memory.version);
    }
    Ok(draft)
}

fn shelf_of(draft: &Waiting) -> Option<ShelfName> {
    ShelfName::ALL.into_iter().find(|shelf| shelf.name() == draft.shelf)
}

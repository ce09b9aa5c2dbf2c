//! Changes of a user's facts and turns, taken back in one transaction of the store they lie in.
//!
//! Comes in: a number of the user's own audit chain. Goes out: what was put back. Never here: a row of somebody else.

use super::{Change, Step, Undone, already, diff, gone, nothing};
use crate::call::Call;
use crate::gate::inbox::Waiting;
use crate::shelf::tiers::{Back, KeptRow, Stored};
use heirloom_core::{Owner, ShelfName, Trust, Verb, fault::Result};
use std::collections::BTreeMap;

type Groups = BTreeMap<u64, Vec<KeptRow>>;

fn groups(call: &Call) -> Result<Groups> {
    let mut groups = Groups::new();
    if let Ok(tiers) = call.tiers() {
        tiers.kept()?.into_iter().for_each(|one| groups.entry(one.group).or_default().push(one));
    }
    Ok(groups)
}

fn is_undone(groups: &Groups, number: u64) -> bool {
    let later = groups.range(number + 1..);
    later
        .filter(|(_, parts)| parts.iter().any(|one| one.undoes == Some(number)))
        .any(|(by, _)| !is_undone(groups, *by))
}

/// Every change that is kept, oldest first.
pub(super) fn changes(call: &Call) -> Result<Vec<Change>> {
    // A token that may not look is shown nothing; the project's changes are still there to be listed.
    if call.asks(Verb::History, ShelfName::Tiers, Owner::Nobody).is_err() {
        return Ok(Vec::new());
    }
    let groups = groups(call)?;
    Ok(groups.iter().map(|(number, parts)| shown(&groups, *number, parts)).collect())
}

fn shown(groups: &Groups, number: u64, parts: &[KeptRow]) -> Change {
    let mut change = Change {
        number: format!("t{number}"),
        at: parts.first().map(|one| one.at.clone()).unwrap_or_default(),
        by: parts.first().map(|one| one.by.clone()).unwrap_or_default(),
        actions: Vec::new(),
        ids: Vec::new(),
        undone: is_undone(groups, number),
        undoes: parts.iter().find_map(|one| one.undoes).map(|number| format!("t{number}")),
        can: true,
        when: parts.first().map(|one| one.when).unwrap_or_default(),
    };
    for one in parts {
        for (list, word) in [(&mut change.actions, &one.action), (&mut change.ids, &one.id)] {
            if !list.contains(word) {
                list.push(word.clone());
            }
        }
    }
    change
}

/// A row that is to become what it was, with what it is now.
struct Way {
    back: Back,
    now: Option<Stored>,
}

pub(super) fn undo(call: &Call, asked: u64, dry_run: bool) -> Result<Undone> {
    let groups = groups(call)?;
    let of = groups.iter().find(|(group, parts)| **group == asked || parts.iter().any(|p| p.seq == asked));
    let Some((number, parts)) = of else {
        return Err(nothing(&format!("there is no change `t{asked}` to undo")));
    };
    let (number, name) = (*number, format!("t{number}"));
    if is_undone(&groups, number) {
        return Err(already(&name));
    }
    let (returned, decided) = drafts(parts);
    let ways = ways(call, &groups, number)?;
    if ways.is_empty() && returned.is_empty() && decided.is_empty() {
        return Err(gone(&name));
    }
    permitted(call, parts, &ways)?;
    let mut memories: Vec<Step> = ways.iter().map(|way| step(call, way)).collect();
    let of_draft = |does: &'static str| {
        move |draft: &Waiting| Step { id: draft.id.clone(), does, changed_since: false, diff: Vec::new() }
    };
    memories.extend(returned.iter().map(of_draft("return_to_review")));
    memories.extend(decided.iter().map(of_draft("decide_again")));
    let mut undone = Undone { status: "would_undo", number: name, undo: None, memories };
    if undone.memories.iter().any(|step| step.changed_since) {
        undone.status = "changed_since";
        return Ok(undone);
    }
    if dry_run {
        return Ok(undone);
    }
    let of_a_person = parts.iter().any(|one| one.person);
    let rows: Vec<Back> = ways.into_iter().map(|way| way.back).collect();
    if !call.tiers()?.put_back(number, of_a_person, &rows, &returned, &decided)? {
        // Somebody was quicker, between the look and the write.
        undone.status = "changed_since";
        undone.memories.iter_mut().for_each(|step| step.changed_since = true);
        return Ok(undone);
    }
    undone.status = "undone";
    undone.undo = call.in_tiers().began().map(|number| format!("t{number}"));
    Ok(undone)
}

/// The drafts that wait again, and those that wait no more.
fn drafts(parts: &[KeptRow]) -> (Vec<Waiting>, Vec<Waiting>) {
    let (mut returned, mut decided) = (Vec::new(), Vec::new());
    for one in parts {
        let list = if one.action == "review_return" { &mut decided } else { &mut returned };
        list.extend(one.draft.clone());
    }
    (returned, decided)
}

/// What made a change anew after it was taken back, oldest first: a row is then what this left.
fn redone(groups: &Groups, number: u64) -> Vec<&KeptRow> {
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

/// Each row once, from what the call left to what it found.
fn ways(call: &Call, groups: &Groups, number: u64) -> Result<Vec<Way>> {
    let tiers = call.tiers()?;
    let parts = groups.get(&number).map(Vec::as_slice).unwrap_or_default();
    let mut ways: Vec<Way> = Vec::new();
    for one in parts.iter().filter(|one| !one.left.is_empty()) {
        if let Some(known) = ways.iter_mut().find(|way| way.back.id == one.id) {
            known.back.left.clone_from(&one.left);
            continue;
        }
        let back = Back { id: one.id.clone(), left: one.left.clone(), before: one.before.clone() };
        ways.push(Way { now: tiers.store().get(tiers.who(), &one.id)?, back });
    }
    for again in redone(groups, number) {
        if let Some(way) = ways.iter_mut().find(|way| way.back.id == again.id && !again.left.is_empty()) {
            way.back.left.clone_from(&again.left);
        }
    }
    Ok(ways)
}

/// A person's change, and a fact that a person stood or stands behind, need a person.
fn permitted(call: &Call, parts: &[KeptRow], ways: &[Way]) -> Result<()> {
    let high = |stored: &Stored| stored.trust == Trust::High;
    let stood =
        |way: &Way| way.back.before.as_deref().is_some_and(high) || way.now.as_ref().is_some_and(high);
    let persons = parts.iter().any(|one| one.person || one.draft.is_some()) || ways.iter().any(stood);
    let owner = if persons { Owner::Person } else { Owner::Agent };
    let id = parts.first().map(|one| one.id.as_str()).unwrap_or_default();
    call.asks(Verb::Undo, ShelfName::Tiers, owner)
        .map(|_| ())
        .map_err(|fault| call.refuse(Verb::Undo, id, fault))
}

fn step(call: &Call, way: &Way) -> Step {
    let text = |stored: &Stored| serde_json::to_string(stored).unwrap_or_default();
    let was = way.back.before.as_deref();
    let (does, diff) = match (&way.now, was) {
        (Some(now), Some(was)) => {
            let was = Stored { content: now.content.clone(), ..was.clone() };
            ("put_back", diff(call, &text(now), &text(&was)))
        }
        _ => ("retire", Vec::new()),
    };
    let as_left = way.now.as_ref().is_some_and(|now| now.stamp() == way.back.left);
    Step { id: way.back.id.clone(), does, changed_since: !as_left, diff }
}

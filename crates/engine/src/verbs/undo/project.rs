//! Changes of the project's files, taken back under the store's lock: nobody writes between the look and the last step.
//!
//! Comes in: a number of the project's audit. Goes out: what was put back. Never here: how a shelf puts a text back.

use super::{Change, Step, Undone, already, diff, gone, nothing};
use crate::call::Call;
use crate::shelf::door::back::{self, Groups, Way, can_go_back, is_undone};
use crate::shelf::door::whole;
use crate::undo::{Before, Kept};
use heirloom_core::{Owner, ShelfName, Trust, Verb, fault::Result};

/// Every change that is kept, oldest first.
pub(super) fn changes(call: &Call) -> Result<Vec<Change>> {
    let groups = back::groups(call)?;
    Ok(groups.iter().map(|(number, parts)| shown(&groups, *number, parts)).collect())
}

fn shown(groups: &Groups, number: u64, parts: &[Kept]) -> Change {
    let mut change = Change {
        number: format!("p{number}"),
        at: parts.first().map(|one| one.at.clone()).unwrap_or_default(),
        by: parts.first().map(|one| one.by.clone()).unwrap_or_default(),
        actions: Vec::new(),
        ids: Vec::new(),
        undone: is_undone(groups, number),
        undoes: parts.iter().find_map(|one| one.undoes).map(|number| format!("p{number}")),
        can: parts.iter().any(can_go_back),
        when: parts.first().map(|one| one.when).unwrap_or_default(),
    };
    for one in parts {
        for (list, word) in [(&mut change.actions, &one.action), (&mut change.ids, &one.id)] {
            if !word.is_empty() && !list.contains(word) {
                list.push(word.clone());
            }
        }
    }
    change
}

pub(super) fn undo(call: &Call, asked: u64, dry_run: bool) -> Result<Undone> {
    // A project that keeps nothing is not given a folder to find that out.
    if back::groups(call)?.is_empty() {
        return Err(nothing(&format!("there is no change `p{asked}` to undo")));
    }
    let lock = call.lock()?;
    let groups = back::groups(call)?;
    // A number inside a call stands for the whole of it.
    let of = groups.iter().find(|(group, parts)| **group == asked || parts.iter().any(|p| p.seq == asked));
    let Some((number, parts)) = of else {
        return Err(nothing(&format!("there is no change `p{asked}` to undo")));
    };
    let name = format!("p{number}");
    if is_undone(&groups, *number) {
        return Err(already(&name));
    }
    let ways = back::ways(call, &groups, *number)?;
    if ways.is_empty() {
        return Err(gone(&name));
    }
    for way in &ways {
        if let Way::Memory { last, now: Some(now), .. } = way
            && !call.caller().sees().sees(now)
        {
            return Err(crate::shelf::unknown(&last.id));
        }
    }
    permitted(call, parts, &ways)?;
    let memories: Vec<Step> = ways.iter().map(|way| step(call, way)).collect::<Result<_>>()?;
    let mut undone = Undone { status: "would_undo", number: name, undo: None, memories };
    if undone.memories.iter().any(|step| step.changed_since) {
        undone.status = "changed_since";
        return Ok(undone);
    }
    if dry_run {
        return Ok(undone);
    }
    whole::all(call, &lock, *number, parts.iter().any(|one| one.person), &ways)?;
    undone.status = "undone";
    undone.undo = call.in_files().began().map(|number| format!("p{number}"));
    Ok(undone)
}

/// A person's change, and a text that a person stood or stands behind, need a person.
fn permitted(call: &Call, parts: &[Kept], ways: &[Way]) -> Result<()> {
    let mut owner = Owner::Agent;
    let mut shelf = ShelfName::Records;
    for way in ways {
        if let Way::Memory { first, now, .. } = way {
            shelf = now.as_ref().map_or(shelf, |memory| memory.kind.shelf());
            let stands = now.as_ref().map(|memory| call.owner_of(memory)).transpose()?;
            if stands == Some(Owner::Person) || first.was.standing().trust() == Trust::High {
                owner = Owner::Person;
            }
        }
    }
    if parts.iter().any(|one| one.person || one.action.starts_with("review_")) {
        owner = Owner::Person;
    }
    let id = parts.first().map(|one| one.id.as_str()).unwrap_or_default();
    call.asks(Verb::Undo, shelf, owner).map(|_| ()).map_err(|fault| call.refuse(Verb::Undo, id, fault))
}

fn step(call: &Call, way: &Way) -> Result<Step> {
    Ok(match way {
        Way::Review(one) => Step {
            id: one.id.clone(),
            does: if one.action == "review_return" { "decide_again" } else { "return_to_review" },
            changed_since: false,
            diff: Vec::new(),
        },
        Way::Memory { first, last, now } => Step {
            id: last.id.clone(),
            does: back::does(first, now.as_deref()),
            changed_since: !way.is_as_left(),
            diff: match (&first.was, now) {
                (Before::Text { text, .. }, Some(now)) => {
                    diff(call, &call.shelf_of(&now.id)?.raw(&now.id)?.unwrap_or_default(), text)
                }
                _ => Vec::new(),
            },
        },
    })
}

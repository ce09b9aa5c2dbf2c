//! Taking back all that one call changed, or nothing of it.
//!
//! Comes in: what is to be put back, under the store's lock. Goes out: everything put back, or everything as it was and why. A line in the data
//! folder says what is going on; whoever takes the lock next and still finds it makes good what a stopped process left, by taking its half back
//! again. Never here: a writer that goes on beside a half.

use super::back::{self, Way};
use crate::call::Call;
use crate::files::{self, Lock, Mode, step};
use crate::undo::folder;
use heirloom_core::{Code, Fault, fault::Result};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What is being taken back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Running {
    /// The change.
    undoes: u64,
    /// The number that the first line about it gets in the audit.
    from: u64,
}

const LIMIT: u64 = 4 << 10;

fn place(call: &Call) -> Result<Option<PathBuf>> {
    let project = call.project();
    Ok(project.known_data()?.map(|data| folder(&data, project.store_name()).join("running.json")))
}

/// Puts everything back. The caller holds the lock, and found every memory as the change left it.
pub(crate) fn all(call: &Call, lock: &Lock, number: u64, by_person: bool, ways: &[Way]) -> Result<()> {
    let data = call.project().data()?;
    let folder = folder(data, call.project().store_name());
    files::make_folder(&folder, Mode::Private)?;
    let running = Running { undoes: number, from: call.next_number(lock)? };
    let place = folder.join("running.json");
    files::write(&place, serde_json::to_string(&running).unwrap_or_default().as_bytes(), Mode::Private)?;
    call.in_files().begin_undo(number, by_person);
    let name = format!("p{number}");
    for way in ways.iter().rev() {
        if let Err(fault) = way.reverse(call, &name) {
            finish(call, lock, &place)?;
            return Err(fault);
        }
        step::reached("taken-back");
    }
    files::remove(&place)
}

/// Makes good what a stopped process left half taken back. Called by whoever takes the lock; there is nearly always nothing to do.
pub(crate) fn make_good(call: &Call, lock: &Lock) -> Result<()> {
    match place(call)? {
        Some(place) if place.exists() => finish(call, lock, &place),
        _ => Ok(()),
    }
}

/// Takes back what was done of an undo that did not come to its end. Nobody was told that it happened, so it did not.
fn finish(call: &Call, lock: &Lock, place: &std::path::Path) -> Result<()> {
    let running =
        files::read_if_there(place, LIMIT)?.and_then(|bytes| serde_json::from_slice::<Running>(&bytes).ok());
    let Some(running) = running else { return files::remove(place) };
    let mine = call.in_files().aside();
    let outcome = take_back(call, lock, &running);
    call.in_files().resume(mine);
    match outcome {
        // Room and time may come; until then nobody writes beside a half.
        Err(fault) if matches!(fault.code, Code::Io | Code::LockBusy) => Err(unfinished(&running, &fault)),
        // What cannot be put back by anybody must not keep everybody from writing; the audit has what was done.
        _ => files::remove(place),
    }
}

fn take_back(call: &Call, lock: &Lock, running: &Running) -> Result<()> {
    call.settle_open(lock)?;
    let groups = back::groups(call)?;
    let half = groups
        .range(running.from..)
        .find(|(_, parts)| parts.iter().any(|one| one.undoes == Some(running.undoes)));
    let Some((number, parts)) = half else { return Ok(()) };
    let ways = back::ways(call, &groups, *number)?;
    if back::is_undone(&groups, *number) {
        return Ok(());
    }
    let of_a_person = parts.iter().any(|one| one.person);
    call.in_files().begin_undo(*number, of_a_person);
    // What somebody changed by hand meanwhile is left to them.
    for way in ways.iter().rev().filter(|way| way.is_as_left()) {
        way.reverse(call, &format!("p{number}"))?;
    }
    Ok(())
}

fn unfinished(running: &Running, fault: &Fault) -> Fault {
    Fault::new(fault.code, format!("the undo of `p{}` did not finish: {}", running.undoes, fault.message))
        .fact("number", format!("p{}", running.undoes))
        .hint("free some space and try again; nothing is written before that")
}

//! `retire`, `restore`, `archive`, `unarchive`, `forget`.

use super::{auto_commit, names};
use crate::args::{Archive, Args, Forget, Restore, Retire, Unarchive};
use crate::output::Out;
use crate::{person, wiring};
use heirloom_core::MemoryId;
use heirloom_core::code::exit;
use heirloom_core::fault::Result;
use heirloom_engine::index::shelves::ShelfIndex;
use heirloom_engine::recall::ledger;
use heirloom_engine::shelf::{Done, Shelf, unknown};

fn each(
    args: &Args,
    given: &[String],
    out: &Out,
    verb: &str,
    act: &dyn Fn(&dyn Shelf, &MemoryId) -> Result<Done>,
) -> Result<u8> {
    let wired = wiring::wire(args)?;
    // All names are looked up before anything is touched.
    let ids: Vec<MemoryId> =
        given.iter().map(|name| names::find(&wired.call, name)).collect::<Result<_>>()?;
    let mut all = Vec::new();
    for id in &ids {
        let shelf = wired.call.shelf_of(id)?;
        all.push(act(shelf.as_ref(), id)?);
    }
    out.answer(&all, || {
        for done in &all {
            out.line(format!(
                "{} {}",
                out.style.green(&done.status.replace('_', " ")),
                out.style.bold(done.id.as_str())
            ));
            done.notes.iter().for_each(|note| out.note(note));
        }
    });
    auto_commit(&wired, out, &format!("memory: {verb} {}", given.join(" ")));
    Ok(exit::OK)
}

pub(crate) fn retire(args: &Args, call: &Retire, out: &Out) -> Result<u8> {
    each(args, &call.which.ids, out, "retire", &|shelf, id| shelf.retire(id, &call.reason, person::entry()))
}

pub(crate) fn archive(args: &Args, call: &Archive, out: &Out) -> Result<u8> {
    each(args, &call.which.ids, out, "archive", &|shelf, id| shelf.archive(id, &call.reason, person::entry()))
}

pub(crate) fn restore(args: &Args, call: &Restore, out: &Out) -> Result<u8> {
    each(args, &call.which.ids, out, "restore", &|shelf, id| shelf.restore(id, person::entry()))
}

pub(crate) fn unarchive(args: &Args, call: &Unarchive, out: &Out) -> Result<u8> {
    each(args, &call.which.ids, out, "unarchive", &|shelf, id| shelf.unarchive(id, person::entry()))
}

pub(crate) fn forget(args: &Args, call: &Forget, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    let id = match names::find(&wired.call, &call.id) {
        _ if call.topic => return super::clear::topic(&wired, call, out),
        Err(fault) if fault.code == heirloom_core::Code::NotFound => {
            return super::clear::topic(&wired, call, out);
        }
        found => found?,
    };
    let shelf = wired.call.shelf_of(&id)?;
    let title = shelf.get(&id).ok().flatten().map_or_else(|| id.to_string(), |memory| memory.title);
    if !person::confirm(&format!("Remove every trace of `{id}` ({title})?"), call.yes)? {
        out.say("nothing was removed");
        return Ok(exit::REFUSED);
    }
    let gone = shelf.forget(&id, person::entry()).map_err(|fault| {
        if fault.code == heirloom_core::Code::NotFound { unknown(call.id.as_str()) } else { fault }
    })?;
    if call.shred && id.kind().shelf() == heirloom_core::ShelfName::Tiers {
        wired.tiers()?.scrub(true)?.iter().for_each(|place| out.note(place));
    }
    // What is derived from the shelves must not remember what they forgot.
    ShelfIndex::forget(&wired.call, &[gone.id.as_str()])?;
    ledger::forget(wired.call.project(), gone.id.as_str())?;
    out.answer(&gone, || {
        out.line(format!("{} {}", out.style.green("forgotten"), out.style.bold(gone.id.as_str())));
        gone.places.iter().for_each(|place| out.line(format!("  {}", out.style.dim(place))));
        if !gone.in_git.is_empty() {
            out.note("git still holds earlier versions; this rewrites its history (all clones must follow):");
            let paths: Vec<String> = gone.in_git.iter().map(|path| format!("--path '{path}'")).collect();
            out.say(format!("  git filter-repo --invert-paths {}", paths.join(" ")));
        }
    });
    auto_commit(&wired, out, &format!("memory: forget {}", gone.id));
    Ok(exit::OK)
}

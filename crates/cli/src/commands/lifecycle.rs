//! `retire`, `restore`, `archive`, `unarchive`, `forget`.

use crate::args::{Archive, Args, Forget, Restore, Retire, Unarchive};
use crate::output::Out;
use crate::{person, wiring};
use heirloom_core::code::exit;
use heirloom_core::fault::Result;
use heirloom_core::{Fault, Verb};
use heirloom_engine::Call;
use heirloom_engine::verbs::life::{self, Move};
use heirloom_engine::verbs::remove::{self, Doomed};
use heirloom_engine::verbs::{Done, Outcome};

/// Moves memories, and says what became of each. What waits sets the exit code, after everything else was done.
fn each(
    args: &Args,
    which: &[String],
    reason: Option<&str>,
    out: &Out,
    run: fn(&Call, &Move) -> Result<Vec<Outcome<Done>>>,
) -> Result<u8> {
    let wired = wiring::wire(args)?;
    let ask = Move { ids: which.to_vec(), reason: reason.map(str::to_owned) };
    let all = run(&wired.call, &ask)?;
    out.answer(&all, || {
        for outcome in &all {
            match outcome {
                Outcome::Done(done) => {
                    out.line(format!(
                        "{} {}",
                        out.style.green(&done.status.replace('_', " ")),
                        out.style.bold(done.id.as_str())
                    ));
                    done.notes.iter().for_each(|note| out.note(note));
                }
                Outcome::Waits(waiting) => {
                    out.fault(&Fault::from(waiting.clone()));
                }
            }
        }
    });
    let waits = all.iter().any(|outcome| matches!(outcome, Outcome::Waits(_)));
    Ok(if waits { exit::WAITS } else { exit::OK })
}

pub(crate) fn retire(args: &Args, call: &Retire, out: &Out) -> Result<u8> {
    each(args, &call.which.ids, Some(&call.reason), out, life::retire)
}

pub(crate) fn archive(args: &Args, call: &Archive, out: &Out) -> Result<u8> {
    each(args, &call.which.ids, Some(&call.reason), out, life::archive)
}

pub(crate) fn restore(args: &Args, call: &Restore, out: &Out) -> Result<u8> {
    each(args, &call.which.ids, None, out, life::restore)
}

pub(crate) fn unarchive(args: &Args, call: &Unarchive, out: &Out) -> Result<u8> {
    each(args, &call.which.ids, None, out, life::unarchive)
}

pub(crate) fn forget(args: &Args, call: &Forget, out: &Out) -> Result<u8> {
    let mut wired = wiring::wire(args)?;
    person::checked(&mut wired, Verb::Forget)?;
    // Somebody who answers the question has seen what it is about; `--yes` has not.
    let ask = remove::Forget { name: call.id.clone(), topic: call.topic, shown_first: !call.yes };
    let (id, memory) = match remove::doomed(&wired.call, &ask)? {
        Doomed::One { id, memory } => (id, memory),
        Doomed::Topic { topic, memories, others, waiting } => {
            return super::clear::topic(&wired, call, &topic, (&memories, &others, &waiting), out);
        }
    };
    let title = memory.map_or_else(|| id.to_string(), |memory| memory.title);
    if !call.yes {
        out.say("this cannot be undone");
    }
    if !person::confirm(&format!("Remove every trace of `{id}` ({title})?"), call.yes)? {
        out.say("nothing was removed");
        return Ok(exit::REFUSED);
    }
    let answer = remove::forget(&wired.call, &id, call.shred)?;
    let gone = &answer.forgotten;
    out.answer(&answer, || {
        answer.unreached.iter().for_each(|place| out.note(place));
        out.line(format!("{} {}", out.style.green("forgotten"), out.style.bold(gone.id.as_str())));
        gone.places.iter().for_each(|place| out.line(format!("  {}", out.style.dim(place))));
        still_in_git(out, &gone.in_git);
    });
    // A commit's message stays for good, and an id is made from a title.
    Ok(exit::OK)
}

/// Names what git still holds.
pub(super) fn still_in_git(out: &Out, in_git: &[String]) {
    if in_git.is_empty() {
        return;
    }
    out.note(
        "git still has earlier versions; this command rewrites its history (every clone must be made again):",
    );
    let paths: Vec<String> = in_git.iter().map(|path| format!("--path '{path}'")).collect();
    out.say(format!("  git filter-repo --invert-paths {}", paths.join(" ")));
}

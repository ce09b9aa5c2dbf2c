//! The demo's second half: lessons, notes and the vault.

use super::demo::{indent, person};
use crate::output::Out;
use heirloom_core::{Channel, Code, Fault, fault::Result};
use heirloom_engine::Call;
use heirloom_engine::gate::Entry;
use heirloom_engine::shelf::notes::{Moment, NoteDraft};
use heirloom_engine::shelf::topics::{LessonWords, compose};
use heirloom_engine::shelf::vault::{Addition, REGISTER};
use heirloom_engine::verbs::review::{accept_draft, pending};

pub(super) fn story(engine: &Call, out: &Out) -> Result<()> {
    let style = out.style;
    let step = |text: &str| out.line(format!("\n{} {text}", style.cyan("▸")));
    let saved = |id: &str| out.line(format!("  {} {id}", style.green("saved")));

    step("What went wrong and what helped is a lesson. A task starts with the lessons that fit it.");
    let words = LessonWords {
        sentence: "A rebase lost three commits, fixed by git reflog and a cherry-pick".to_owned(),
        ..LessonWords::default()
    };
    let today = jiff::tz::Offset::UTC.to_datetime(engine.project().world().now).date();
    let topics = engine.topics();
    saved(topics.store("git", "rebase", compose(today, &words)?, person())?.id.as_str());
    out.raw(indent(&topics.brief("rebase my branch onto main")?.text).as_bytes());

    step("An assistant's message worth keeping is a note, word for word.");
    let message =
        "The importer reads src/import.rs line by line.\nIt stops at the first line that is no UTF-8.";
    let draft = NoteDraft::of(message, Moment::of(engine.project().world().now), 8);
    let kept = engine.notes().create(draft, Entry::through(Channel::Agent))?;
    out.line(format!(
        "  {} {} {}",
        style.green("saved"),
        kept.done.id,
        style.dim(&kept.note.applies_to.to_string())
    ));

    step("What every session is told needs a person. An agent's canon waits; yours counts at once.");
    let vault = engine.vault();
    match vault.add(Addition::new("Deploys happen on Tuesdays only"), Entry::through(Channel::Agent)) {
        Err(fault) if fault.code == Code::NeedsConfirmation => {
            out.line(format!("  {} {} [{}]", style.yellow("waits:"), fault.message, fault.code.name()));
        }
        Err(other) => return Err(other),
        Ok(_) => return Err(Fault::new(Code::Internal, "the demo's canon did not wait")),
    }
    for item in &pending(engine)?.drafts {
        out.line(format!("  {} {}", style.green("accepted"), accept_draft(engine, item)?));
    }
    let task = Addition {
        tier: REGISTER.to_owned(),
        topic_id: Some("current-task".to_owned()),
        ..Addition::new("Moving the importer to streams")
    };
    saved(vault.add(task, person())?.id.as_str());

    step("This is the snapshot every session begins with.");
    out.raw(indent(&vault.snapshot(&vault.reader(None), None)?).as_bytes());
    Ok(())
}

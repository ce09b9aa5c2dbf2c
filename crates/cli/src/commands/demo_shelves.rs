//! The demo's second half: lessons, notes and the vault.

use super::demo::{Stage, indent, saved};
use crate::output::Out;
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::verbs::Outcome;
use heirloom_engine::verbs::add::{Add, New, NewLesson, NewNote, NewVault, add};
use heirloom_engine::verbs::decide::{self, Choose};
use heirloom_engine::verbs::shelves;
use heirloom_engine::verbs::show::{Show, show};

pub(super) fn story(stage: &Stage, out: &Out) -> Result<()> {
    let style = out.style;
    let step = |text: &str| out.line(format!("\n{} {text}", style.cyan("▸")));

    step("What went wrong and what helped is a lesson. A task starts with the lessons that fit it.");
    let lesson = NewLesson {
        text: "A rebase lost three commits, fixed by git reflog and a cherry-pick".to_owned(),
        topic: Some("git/rebase".to_owned()),
        ..NewLesson::default()
    };
    saved(stage, out, New::Lesson(lesson))?;
    let brief = shelves::brief(&stage.person(), "rebase my branch onto main")?;
    out.raw(indent(&brief.text).as_bytes());

    step("An assistant's message worth keeping is a note, word for word.");
    let message =
        "The importer reads src/import.rs line by line.\nIt stops at the first line that is not UTF-8.";
    let note = New::Note(NewNote { text: message.to_owned(), ..NewNote::default() });
    let kept = add(&stage.agent(), &Add::of(note))?.done()?;
    let shown = show(&stage.agent(), &Show { id: kept.id.to_string() })?;
    out.line(format!(
        "  {} {} {}",
        style.green("saved"),
        kept.id,
        style.dim(&shown.memory.scope.to_string())
    ));

    step("What every session gets needs a person. An agent's canon waits; yours counts at once.");
    let canon =
        New::Canon(NewVault { text: "Deploys happen on Tuesdays only".to_owned(), ..NewVault::default() });
    match add(&stage.agent(), &Add::of(canon))? {
        Outcome::Waits(waiting) => {
            let fault = Fault::from(waiting);
            out.line(format!("  {} {} [{}]", style.yellow("waits:"), fault.message, fault.code.name()));
        }
        Outcome::Done(_) => return Err(Fault::new(Code::Internal, "the demo's canon did not wait")),
    }
    let person = stage.person();
    let drafts = Choose { keys: drafts(stage)?, all: false };
    for id in decide::accept(&person, &decide::choose(&person, &drafts)?.yes())?.stored {
        out.line(format!("  {} {id}", style.green("accepted")));
    }
    let task = NewVault {
        text: "Moving the importer to streams".to_owned(),
        topic: Some("current-task".to_owned()),
        ..NewVault::default()
    };
    saved(stage, out, New::Register(task))?;

    step("This is the snapshot every session begins with.");
    out.raw(indent(&shelves::snapshot(&stage.person(), None, &[])?.block).as_bytes());
    Ok(())
}

/// The keys of what waits.
fn drafts(stage: &Stage) -> Result<Vec<String>> {
    let listed = decide::list(&stage.person())?;
    Ok(listed.waiting.drafts.iter().map(|shown| shown.item.key.clone()).collect())
}

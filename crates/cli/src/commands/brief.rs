//! `brief`: the lessons a task should start with.

use crate::args::{Args, Brief};
use crate::output::{Out, counted};
use crate::wiring;
use heirloom_core::code::exit;
use heirloom_core::fault::Result;
use heirloom_engine::verbs::shelves;

pub(crate) fn run(args: &Args, call: &Brief, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    out.warnings(wired.warnings());
    let brief = shelves::brief(&wired.call, &call.task.join(" "))?;
    out.answer(&brief, || {
        if brief.ids.is_empty() {
            out.say("no lesson fits; `heirloom add lesson \"…\" --topic …` saves one");
            return;
        }
        out.raw(super::visible(&brief.text).as_bytes());
        out.say(out.style.dim(&format!(
            "{}, at most {} tokens",
            counted(brief.ids.len(), "lesson", "lessons"),
            brief.tokens
        )));
    });
    Ok(exit::OK)
}

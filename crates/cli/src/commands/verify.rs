//! `gc`, `verify`: what is past its time, and what is wrong.

use super::record::print_collected;
use super::visible;
use crate::args::{Args, Gc, Verify};
use crate::output::Out;
use crate::{person, wiring};
use heirloom_core::code::exit;
use heirloom_core::text::one_line;
use heirloom_core::{Verb, fault::Result};
use heirloom_engine::verbs::{upkeep, verify};

pub(crate) fn gc(args: &Args, call: &Gc, out: &Out) -> Result<u8> {
    let mut wired = wiring::wire(args)?;
    let ask = upkeep::Gc { dry_run: call.dry_run, grace_days: call.grace_days, keep_index: false };
    if upkeep::is_early(&wired.call, &ask) {
        person::checked(&mut wired, Verb::RemoveEarly)?;
    }
    let collected = upkeep::gc(&wired.call, &ask)?;
    out.answer(&collected, || {
        if call.dry_run {
            out.say("this is what would happen; nothing was changed:");
        }
        print_collected(out, &collected);
    });
    Ok(exit::OK)
}

pub(crate) fn verify(args: &Args, call: &Verify, out: &Out) -> Result<u8> {
    if call.staged {
        return super::staged::verify(args, out);
    }
    let wired = wiring::wire(args)?;
    let ask = verify::Verify { fix: call.fix };
    let found = verify::verify(&wired.call, &ask, wired.warnings())?;
    out.answer(&found, || {
        found.repaired.iter().for_each(|line| out.say(visible(&one_line(line))));
        if found.ok {
            out.line(out.style.green("no problems found"));
        }
        for problem in &found.problems {
            let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
            out.line(format!(
                "{}{line}: {} [{}]",
                out.style.bold(&visible(&one_line(&problem.file))),
                visible(&one_line(&problem.message)),
                problem.code
            ));
            out.line(format!("  {}", out.style.dim(&visible(&one_line(&problem.fix)))));
        }
    });
    Ok(if found.ok { exit::OK } else { exit::REFUSED })
}

//! `compact`: the vault without what no longer counts.

use super::auto_commit;
use crate::args::{Args, Compact};
use crate::output::Out;
use crate::{person, wiring};
use heirloom_core::code::exit;
use heirloom_core::{Verb, fault::Result};
use heirloom_engine::verbs::remove;
use serde_json::json;

pub(crate) fn run(args: &Args, call: &Compact, out: &Out) -> Result<u8> {
    let mut wired = wiring::wire(args)?;
    if call.dry_run {
        let stats = wired.call.vault().stats()?;
        out.answer(
            &json!({ "dry_run": true, "lines": stats.raw_lines, "would_go": stats.compactable_lines }),
            || {
                out.line(format!("{} of {} lines would go", stats.compactable_lines, stats.raw_lines));
            },
        );
        return Ok(exit::OK);
    }
    person::checked(&mut wired, Verb::Compact)?;
    let done = remove::compact(&wired.call)?;
    out.answer(&done, || {
        out.line(format!(
            "{} {} lines, {} before",
            out.style.green("compacted"),
            done.lines_after,
            done.lines_before
        ));
        if done.twins_removed > 0 {
            out.note(format!(
                "{} lines that contradicted another of the same version are gone",
                done.twins_removed
            ));
        }
        if done.unreadable > 0 {
            out.note(format!(
                "{} lines cannot be read and stayed; `heirloom verify` names them",
                done.unreadable
            ));
        }
    });
    auto_commit(&wired, out, "memory: compact the vault");
    Ok(exit::OK)
}

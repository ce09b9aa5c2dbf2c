//! `compact`: the vault without what no longer counts.

use crate::args::{Args, Compact};
use crate::output::Out;
use crate::{person, wiring};
use heirloom_core::code::exit;
use heirloom_core::{Verb, fault::Result};
use heirloom_engine::verbs::remove::{self, Compaction};

pub(crate) fn run(args: &Args, call: &Compact, out: &Out) -> Result<u8> {
    let mut wired = wiring::wire(args)?;
    if !call.dry_run {
        person::checked(&mut wired, Verb::Compact)?;
    }
    let answer = remove::compact(&wired.call, &remove::Compact { dry_run: call.dry_run })?;
    out.answer(&answer, || match &answer {
        Compaction::Would { lines, would_go, .. } => {
            out.line(format!("would remove {would_go} of {lines} lines"));
        }
        Compaction::Done(done) => {
            out.line(format!(
                "{} {} lines, {} before",
                out.style.green("compacted"),
                done.lines_after,
                done.lines_before
            ));
            if done.twins_removed > 0 {
                out.note(format!(
                    "removed {} lines that contradicted another of the same version",
                    done.twins_removed
                ));
            }
            if done.unreadable > 0 {
                out.note(format!(
                    "kept {} lines that cannot be read; `heirloom verify` names them",
                    done.unreadable
                ));
            }
        }
    });
    Ok(exit::OK)
}

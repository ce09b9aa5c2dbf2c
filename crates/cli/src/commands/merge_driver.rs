//! `merge-driver`: what git calls to join two versions of a memory file.

use crate::args::{Args, MergeDriver};
use crate::output::Out;
use crate::{environment, wiring};
use heirloom_core::code::exit;
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::verbs::merge::{self, Merge};

pub(crate) fn run(args: &Args, call: &MergeDriver, out: &Out) -> Result<u8> {
    // Git names them from the top of the work tree, where it starts us.
    let here = environment::current_folder()
        .map_err(|e| Fault::new(Code::Io, format!("cannot find the current folder: {e}")))?;
    let ask = Merge {
        base: call.base.clone(),
        ours: call.ours.clone(),
        theirs: call.theirs.clone(),
        path: call.path.clone(),
    };
    let home = environment::home();
    let conflicts = merge::run(&ask, &here, &wiring::sources(args)?, home.as_deref(), &wiring::world())?;
    if conflicts.is_empty() {
        return Ok(exit::OK);
    }
    let path = call.path.as_deref().unwrap_or_default();
    out.note(format!("{path}: both branches changed {}", conflicts.join(", ")));
    Ok(exit::REFUSED)
}

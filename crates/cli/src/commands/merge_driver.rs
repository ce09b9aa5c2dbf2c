//! `merge-driver`: what git calls to join two versions of a memory file.

use crate::args::{Args, MergeDriver};
use crate::{environment, wiring};
use heirloom_core::code::exit;
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::verbs::merge::{self, Merge};

pub(crate) fn run(args: &Args, call: &MergeDriver) -> Result<u8> {
    // Git names them from the top of the work tree, where it starts us.
    let here = environment::current_folder()
        .map_err(|e| Fault::new(Code::Io, format!("the current folder cannot be found: {e}")))?;
    let ask = Merge {
        base: call.base.clone(),
        ours: call.ours.clone(),
        theirs: call.theirs.clone(),
        path: call.path.clone(),
    };
    let home = environment::home();
    merge::run(&ask, &here, &wiring::sources(args)?, home.as_deref(), &wiring::world())?;
    Ok(exit::OK)
}

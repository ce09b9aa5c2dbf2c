//! `snapshot`: what every session is given of the vault.

use super::visible;
use crate::args::{Args, Snapshot};
use crate::output::Out;
use crate::wiring;
use heirloom_agents::table::AGENTS;
use heirloom_core::code::exit;
use heirloom_core::fault::Result;
use heirloom_engine::verbs::shelves;

/// The agents whose hooks this program knows.
pub(super) fn hosts() -> Vec<&'static str> {
    AGENTS.iter().map(|agent| agent.name).collect()
}

pub(crate) fn run(args: &Args, call: &Snapshot, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    out.warnings(wired.warnings());
    let snapshot = shelves::snapshot(&wired.call, call.max_chars, &hosts())?;
    let block = &snapshot.block;
    out.answer(&snapshot, || {
        if block.is_empty() {
            out.say("nothing that a person wrote or accepted; `heirloom review` lists what waits");
            return;
        }
        out.raw(visible(block).as_bytes());
    });
    Ok(exit::OK)
}

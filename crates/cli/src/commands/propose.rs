//! `review propose`: facts that a model finds in what was said, for a person to decide about.
//!
//! Comes in: the endpoint of the user's own settings. Goes out: how many turns it looked at and how many facts wait. Never here: a fact that is stored.

use super::model::in_another_process;
use crate::args::Args;
use crate::endpoint::{Server, cleaner};
use crate::output::Out;
use crate::wiring::{self, Wired};
use heirloom_core::code::exit;
use heirloom_core::fault::Result;
use heirloom_engine::verbs::decide::{self, Propose};

pub(super) fn run(args: &Args, wired: &Wired, background: bool, out: &Out) -> Result<u8> {
    let settings = wired.call.settings();
    let data = &wired.call.project().world().data;
    let server = settings
        .extraction
        .as_ref()
        .map(|named| Server::new(named, "chat/completions", named.timeout_ms, wiring::patience(args), data));
    // Without an endpoint nothing is posted: the verb says so before.
    let post = move |body: &[u8]| match &server {
        Some(server) => server.post(body),
        None => Err("no endpoint is set".to_owned()),
    };
    wired.tiers_if_named()?;
    let ask = Propose { if_free: background };
    if let Some(looked) = decide::propose(&wired.call, ask, &cleaner(&settings.gate), &post)? {
        out.answer(&looked, || {
            out.line(format!("read {} turns; {} facts wait for your yes", looked.turns, looked.proposed));
        });
    }
    Ok(exit::OK)
}

/// Has it done by another process.
pub(super) fn start_in_background(wired: &Wired) {
    in_another_process(wired, &["review", "propose", "--background"]);
}

//! `review propose`: facts that a model finds in what was said, for a person to decide about.
//!
//! Comes in: the endpoint of the user's own settings. Goes out: how many turns it looked at and how many facts wait. Never here: a fact that is stored.

use super::model::in_another_process;
use crate::args::Args;
use crate::endpoint::{Server, cleaner};
use crate::output::Out;
use crate::wiring::{self, Wired};
use heirloom_core::code::exit;
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::capture::extract;
use heirloom_engine::files::{Lock, Mode, make_folder};
use std::time::Duration;

/// Where it is noted that somebody looks already.
const TURN: &str = "extracting";

pub(super) fn run(args: &Args, wired: &Wired, background: bool, out: &Out) -> Result<u8> {
    let settings = wired.call.settings();
    let Some(named) = &settings.extraction else {
        return Err(Fault::new(Code::Usage, "your settings name no endpoint that proposes facts").hint(
            "`heirloom config set --user extraction.url https://…/v1` and `extraction.model`; simple statements are found without one",
        ));
    };
    let data = &wired.call.project().world().data;
    make_folder(data, Mode::Private)?;
    let turn = Lock::acquire(&data.join(TURN), Duration::ZERO);
    if background && turn.is_err() {
        return Ok(exit::OK);
    }
    let _turn = turn?;
    wired.tiers()?;
    let server = Server::new(named, "chat/completions", named.timeout_ms, wiring::patience(args), data);
    let post = move |body: &[u8]| server.post(body);
    let looked = extract::propose(&wired.call, &named.model, &cleaner(&settings.gate), &post)?;
    out.answer(&looked, || {
        out.line(format!("{} turns looked at, {} facts wait for your yes", looked.turns, looked.proposed));
    });
    Ok(exit::OK)
}

/// Has it done by another process, if the user's settings name an endpoint.
pub(super) fn start_in_background(wired: &Wired) {
    if wired.call.settings().extraction.is_some() {
        in_another_process(wired, &["review", "propose", "--background"]);
    }
}

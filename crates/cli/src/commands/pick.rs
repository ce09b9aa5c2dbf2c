//! `search` at a terminal: the list narrows while somebody types, and what they choose is shown.

use super::{search as found, show};
use crate::args::{Args, Search, Show};
use crate::output::Out;
use crate::picker::{self, Picked, Row};
use crate::wiring::Wired;
use heirloom_core::code::exit;
use heirloom_core::fault::Result;
use heirloom_engine::follow::Look;
use heirloom_engine::recall::answer::Recalled;
use heirloom_engine::recall::snippet;
use heirloom_engine::verbs::search::narrowed;

/// How much of a body is shown below its title, in characters.
const EXCERPT: usize = 160;
/// A pause in typing after which a model elsewhere is asked, in milliseconds.
const PAUSE_MS: i64 = 300;

pub(super) fn run(args: &Args, wired: &Wired, call: &Search, out: &Out) -> Result<u8> {
    let pause = if wired.call.settings().embedding.is_some() { PAUSE_MS } else { 0 };
    let mut look = Look::Thorough;
    let ask = found::request(call);
    let chosen = picker::pick(&call.words.join(" "), pause, |line, room| {
        let (_, mut hits) = narrowed(&wired.call, line, &ask, look)?;
        // Files are looked at closely once; meanwhile nobody but this terminal is typing.
        look = Look::Quick;
        hits.truncate(room);
        Ok(hits.iter().map(row).collect())
    })?;
    match chosen {
        Picked::Row(id) => show::show(args, &Show { id, raw: false, agent: call.agent.clone() }, out),
        Picked::Nothing => Ok(exit::OK),
        Picked::Interrupted => Ok(exit::INTERRUPTED),
    }
}

fn row(hit: &Recalled) -> Row {
    let cut = snippet::snippet(&hit.body, &hit.terms, EXCERPT);
    let stale = hit.cited.as_ref().and_then(|cited| cited.label());
    let stale = stale.map(|label| format!(" ({label})")).unwrap_or_default();
    let (title, more) = match hit.title.is_empty() {
        true => (cut.text, String::new()),
        false => (hit.title.clone(), cut.text),
    };
    Row { id: hit.id.clone(), label: hit.kind.clone(), title: format!("{title}{stale}"), more }
}

//! `convert`: a memory of another kind from one that is there.

use super::show::print_memory;
use super::{auto_commit, names, pairs, print_done};
use crate::args::{Args, Convert};
use crate::output::Out;
use crate::{person, wiring};
use heirloom_core::code::exit;
use heirloom_core::{Trust, fault::Result};
use heirloom_engine::convert::{Conversion, convert};
use heirloom_engine::shelf::unknown;
use heirloom_engine::verbs::list::known_kind;

pub(crate) fn run(args: &Args, call: &Convert, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    out.warnings(&wired.loaded.warnings);
    let id = names::find(&wired.call, &call.id)?;
    let kind = known_kind(&wired.call, &call.kind)?;
    let words = call.words.join(" ");
    let wanted = Conversion {
        words: (!words.trim().is_empty()).then_some(words),
        title: call.title.clone(),
        topic: call.topic.clone(),
        scope: call.scope.clone(),
        fields: pairs(&call.field)?,
        tags: call.tag.clone(),
        retire: call.retire,
    };
    let mut entry = person::entry();
    if wanted.words.is_none() && person::is_present() {
        let source = wired.call.shelf_of(&id)?.get(&id)?.ok_or_else(|| unknown(id.as_str()))?;
        // Somebody else's words become this person's only once they were seen.
        if source.trust < Trust::High {
            print_memory(out, &source);
            if !person::confirm("Take this text over as it is?", false)? {
                out.say("nothing was converted");
                return Ok(exit::REFUSED);
            }
            entry.confirmed = true;
        }
    }
    let done = convert(&wired.call, &id, &kind, &wanted, entry)?;
    out.answer(&done, || {
        print_done(out, "saved", &done);
        out.line(out.style.dim(&format!("  distilled from {id}")));
    });
    auto_commit(&wired, out, &format!("memory: convert {id} to {}", done.id));
    Ok(exit::OK)
}

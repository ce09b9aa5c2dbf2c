//! `convert`: a memory of another kind from one that is there.

use super::show::print_memory;
use super::{missing, pairs, print_added};
use crate::args::{self, Args};
use crate::output::Out;
use crate::{person, wiring};
use heirloom_core::code::exit;
use heirloom_core::fault::Result;
use heirloom_engine::verbs::convert::{Conversion, Convert, convert, lacks, to_show};

pub(crate) fn run(args: &Args, call: &args::Convert, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    out.warnings(wired.warnings());
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
    let mut ask = Convert { id: call.id.clone(), kind: call.kind.clone(), wanted, seen: None };
    if let Some(source) = to_show(&wired.call, &ask)? {
        print_memory(out, &source);
        if !person::confirm("Take this text over as it is?", false)? {
            out.say("nothing was converted");
            return Ok(exit::REFUSED);
        }
        ask.id = source.id.to_string();
        ask.seen = Some(source.version);
    }
    let asked = missing::asked(&lacks(&wired.call, &ask)?)?;
    ask.wanted.fields.extend(asked);
    let made = convert(&wired.call, &ask)?.done()?;
    let source = made.from.as_ref().map_or(call.id.as_str(), |from| from.as_str());
    out.answer(&made, || {
        print_added(out, "saved", &made);
        out.line(out.style.dim(&format!("  distilled from {source}")));
    });
    Ok(exit::OK)
}

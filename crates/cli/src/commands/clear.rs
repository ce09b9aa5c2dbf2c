//! `clear`, `expire`, and `forget` of a topic.

use crate::args::{Args, Clear, Forget};
use crate::output::Out;
use crate::wiring::Wired;
use crate::{person, wiring};
use heirloom_core::code::exit;
use heirloom_core::{Verb, fault::Result};
use heirloom_engine::shelf::tiers::{Stored, Tier};
use heirloom_engine::verbs::remove::{self, Cleared};

/// Matches shown before a topic is forgotten.
const SHOWN: usize = 20;

pub(crate) fn run(args: &Args, call: &Clear, out: &Out) -> Result<u8> {
    let mut wired = wiring::wire(args)?;
    person::checked(&mut wired, Verb::Clear)?;
    let tiers = wired.tiers()?;
    let tier = Tier::named(&call.tier);
    remove::permitted(&wired.call, Verb::Clear, &call.tier)?;
    let counts = tiers.store().counts(tiers.who())?;
    let (what, count) = match tier {
        Some(Tier::Episodic) => ("episodes", counts.episodes),
        Some(_) => ("facts", counts.facts + counts.superseded),
        None => ("episodes and facts", counts.episodes + counts.facts + counts.superseded + counts.retired),
    };
    let first = format!("Remove all {what} of {} ({count})? It cannot be undone.", tiers.who().user());
    let sure = person::confirm(&first, call.yes)?
        && (tier.is_some() || person::confirm("Really everything?", call.yes)?);
    if !sure {
        out.say("nothing was removed");
        return Ok(exit::REFUSED);
    }
    print(out, &remove::clear(&wired.call, tier, call.shred)?);
    Ok(exit::OK)
}

/// `forget` with words that are no memory's name.
pub(crate) fn topic(wired: &Wired, call: &Forget, topic: &str, about: &[Stored], out: &Out) -> Result<u8> {
    for memory in about.iter().take(SHOWN) {
        out.say(format!(
            "  {}  {}",
            out.style.dim(&memory.id),
            heirloom_core::text::one_line(&memory.content)
        ));
    }
    if about.len() > SHOWN {
        out.say(format!("  … and {} more", about.len() - SHOWN));
    }
    let which = match about.len() {
        1 => "this memory".to_owned(),
        count => format!("these {count} memories"),
    };
    if !person::confirm(&format!("Remove every trace of {which}? It cannot be undone."), call.yes)? {
        out.say("nothing was removed");
        return Ok(exit::REFUSED);
    }
    let ids: Vec<String> = about.iter().map(|memory| memory.id.clone()).collect();
    print(out, &remove::forget_topic(&wired.call, topic, &ids, call.shred)?);
    Ok(exit::OK)
}

fn print(out: &Out, gone: &Cleared) {
    out.answer(gone, || {
        let s = if gone.count == 1 { "memory" } else { "memories" };
        out.line(format!("{} {} {s}", out.style.green("forgotten"), gone.count));
        gone.unreached.iter().for_each(|place| out.note(place));
    });
}

pub(crate) fn expire(args: &Args, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    let expired = wired.tiers()?.expire()?;
    out.answer(&expired, || {
        out.line(format!(
            "{} {} episodes of {} users, {} audit lines",
            out.style.green("expired"),
            expired.episodes,
            expired.users,
            expired.audit_lines
        ));
    });
    Ok(exit::OK)
}

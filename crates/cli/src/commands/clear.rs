//! `clear`, `expire`, and `forget` of a topic.

use crate::args::{Args, Clear, Forget};
use crate::output::Out;
use crate::wiring::Wired;
use crate::{person, wiring};
use heirloom_core::code::exit;
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::shelf::tiers::{Tier, Tiers};
use serde_json::json;

/// Matches shown before a topic is forgotten.
const SHOWN: usize = 20;

pub(crate) fn run(args: &Args, call: &Clear, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    let tiers = wired.tiers()?;
    let tier = Tier::named(&call.tier);
    let counts = tiers.store().counts(tiers.who())?;
    let (what, count) = match tier {
        Some(Tier::Episodic) => ("episodes", counts.episodes),
        Some(_) => ("facts", counts.facts + counts.superseded),
        None => ("episodes and facts", counts.episodes + counts.facts + counts.superseded + counts.retired),
    };
    let first = format!("Remove all {what} of {} ({count})?", tiers.who().user());
    let sure = person::confirm(&first, call.yes)?
        && (tier.is_some() || person::confirm("Really everything? It cannot be brought back", call.yes)?);
    if !sure {
        out.say("nothing was removed");
        return Ok(exit::REFUSED);
    }
    let gone = tiers.clear(tier)?;
    gone_for_good(&tiers, &gone, call.shred, out)
}

/// `forget` with words that are no memory's name.
pub(crate) fn topic(wired: &Wired, call: &Forget, out: &Out) -> Result<u8> {
    let tiers = wired.tiers()?;
    let about = tiers.about_topic(&call.id)?;
    if about.is_empty() {
        return Err(Fault::new(
            Code::NotFound,
            format!("there is no memory `{}`, and nothing of yours is about it", call.id),
        )
        .fact("id", call.id.as_str())
        .hint("`heirloom list` shows what there is"));
    }
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
    if !person::confirm(&format!("Remove every trace of {which}?"), call.yes)? {
        out.say("nothing was removed");
        return Ok(exit::REFUSED);
    }
    let ids: Vec<String> = about.into_iter().map(|memory| memory.id).collect();
    let gone = tiers.forget_topic(&call.id, &ids)?;
    gone_for_good(&tiers, &gone, call.shred, out)
}

fn gone_for_good(tiers: &Tiers<'_>, gone: &[String], shred: bool, out: &Out) -> Result<u8> {
    let unreached = tiers.scrub(shred)?;
    out.answer(
        &json!({ "status": "forgotten", "count": gone.len(), "ids": gone, "unreached": unreached }),
        || {
            let s = if gone.len() == 1 { "memory" } else { "memories" };
            out.line(format!("{} {} {s}", out.style.green("forgotten"), gone.len()));
            unreached.iter().for_each(|place| out.note(place));
        },
    );
    Ok(exit::OK)
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

//! `clear`, `expire`, and `forget` of a topic.

use crate::args::{Args, Clear, Expire, Forget};
use crate::output::{Out, counted};
use crate::wiring::Wired;
use crate::{person, wiring};
use heirloom_core::code::exit;
use heirloom_core::{Memory, Verb, fault::Result};
use heirloom_engine::verbs::remove::{self, Cleared, Clearing, Draft, ForgetTopic, Stored};
use heirloom_engine::verbs::upkeep;

pub(crate) fn run(args: &Args, call: &Clear, out: &Out) -> Result<u8> {
    let mut wired = wiring::wire(args)?;
    person::checked(&mut wired, Verb::Clear)?;
    wired.tiers()?;
    let ask = remove::Clear { tier: call.tier.clone(), shred: call.shred };
    let Clearing { user, what, count, everything } = remove::clearing(&wired.call, &ask)?;
    if !call.yes {
        out.say("this cannot be undone");
    }
    let sure = person::confirm(&format!("Remove all {what} of {user} ({count})?"), call.yes)?
        && (!everything || person::confirm("Really remove everything?", call.yes)?);
    if !sure {
        out.say("nothing was removed");
        return Ok(exit::REFUSED);
    }
    print(out, &remove::clear(&wired.call, &ask)?);
    Ok(exit::OK)
}

/// `forget` with words that are no memory's name.
pub(crate) fn topic(
    wired: &Wired,
    call: &Forget,
    topic: &str,
    (about, others, waiting): (&[Stored], &[Memory], &[Draft]),
    out: &Out,
) -> Result<u8> {
    // All of it: a yes is for what was shown.
    let own = about.iter().map(|memory| (memory.id.as_str(), &memory.content));
    let shown = others.iter().map(|memory| (memory.id.as_str(), &memory.title)).chain(own);
    for (id, text) in shown {
        out.say(format!("  {}  {}", out.style.dim(id), heirloom_core::text::one_line(text)));
    }
    for draft in waiting {
        let id = heirloom_core::text::one_line(&draft.id);
        out.say(format!("  {}  {} (waits for a yes)", out.style.dim(&id), draft.text));
    }
    let which = match about.len() + others.len() + waiting.len() {
        1 => "this memory".to_owned(),
        count => format!("these {count} memories"),
    };
    if !call.yes {
        out.say("this cannot be undone");
    }
    if !person::confirm(&format!("Remove every trace of {which}?"), call.yes)? {
        out.say("nothing was removed");
        return Ok(exit::REFUSED);
    }
    let ask = ForgetTopic {
        topic: topic.to_owned(),
        memories: about.iter().map(|memory| memory.id.clone()).collect(),
        others: others.iter().map(|memory| memory.id.to_string()).collect(),
        drafts: waiting.iter().map(|draft| draft.key.clone()).collect(),
        shred: call.shred,
    };
    let gone = remove::forget_topic(&wired.call, &ask)?;
    print(out, &gone);
    super::lifecycle::still_in_git(out, &gone.in_git);
    Ok(exit::OK)
}

fn print(out: &Out, gone: &Cleared) {
    out.answer(gone, || {
        let s = if gone.count == 1 { "memory" } else { "memories" };
        out.line(format!("{} {} {s}", out.style.green("forgotten"), gone.count));
        gone.unreached.iter().for_each(|place| out.note(place));
    });
}

pub(crate) fn expire(args: &Args, call: &Expire, out: &Out) -> Result<u8> {
    let mut wired = wiring::wire(args)?;
    wired.tiers()?;
    let ask = upkeep::Expire { within_days: call.within };
    if ask.within_days.is_some_and(|days| days > 0) {
        person::checked(&mut wired, Verb::RemoveEarly)?;
    }
    let expired = match call.if_due {
        false => upkeep::expire(&wired.call, &ask)?,
        true => upkeep::expire_if_due(&wired.call)?.unwrap_or_default(),
    };
    out.answer(&expired, || {
        out.line(format!(
            "{} {} of {} and {}",
            out.style.green("removed"),
            counted(expired.episodes, "expired turn", "expired turns"),
            counted(expired.users, "user", "users"),
            counted(expired.audit_lines, "audit line", "audit lines")
        ));
    });
    Ok(exit::OK)
}

/// Has it done by another process, so that no session waits for it.
pub(super) fn expire_in_background(wired: &wiring::Wired) {
    super::model::in_another_process(wired, &["expire", "--if-due"]);
}

//! `review` and `trust`: what waits for a person, and a person's yes.

use super::review_list::{print_draft, print_pending, print_suggestions};
use super::show::print_memory;
use super::visible;
use super::{auto_commit, propose};
use crate::args::{Args, Review, ReviewAction, Trust};
use crate::output::Out;
use crate::wiring::Wired;
use crate::{person, wiring};
use heirloom_core::code::exit;
use heirloom_core::text::one_line;
use heirloom_core::{Code, Fault, Memory, Verb, fault::Result};
use heirloom_engine::Call;
use heirloom_engine::shelf::unknown;
use heirloom_engine::verbs::names::{self, Enough};
use heirloom_engine::verbs::review::{
    Pending, Shown, Suggestions, accept, accept_draft, pending, reject, suggestions,
};
use serde::Serialize;

/// What waits, and what could be tidied up.
#[derive(Serialize)]
struct Seen {
    #[serde(flatten)]
    waiting: Pending,
    #[serde(flatten)]
    suggestions: Suggestions,
}

pub(crate) fn run(args: &Args, call: &Review, out: &Out) -> Result<u8> {
    let mut wired = wiring::wire(args)?;
    if matches!(call.action, Some(ReviewAction::Accept { .. })) {
        person::required("accepting")?;
        person::checked(&mut wired, Verb::Accept)?;
    }
    let engine = &wired.call;
    match &call.action {
        None | Some(ReviewAction::List) => {
            let seen = Seen { waiting: pending(engine)?, suggestions: suggestions(engine)? };
            out.answer(&seen, || {
                print_pending(engine, out, &seen.waiting);
                print_suggestions(out, &seen.suggestions);
            });
            Ok(exit::OK)
        }
        Some(ReviewAction::Propose { background }) => propose::run(args, &wired, *background, out),
        Some(ReviewAction::Reject { keys }) => {
            let mut rejected = Vec::new();
            for key in keys {
                rejected.push(reject(engine, key)?);
            }
            out.answer(&rejected, || {
                for id in &rejected {
                    out.line(format!("{} {}", out.style.yellow("rejected"), visible(&one_line(id))));
                }
            });
            Ok(exit::OK)
        }
        Some(ReviewAction::Accept { keys, all }) => {
            let waiting = pending(engine)?;
            let unaccepted: Vec<&Memory> = waiting.saved_by_agents.iter().collect();
            let memories = if *all { unaccepted } else { chosen(engine, &waiting, keys)? };
            let drafts: Vec<&Shown> = waiting
                .drafts
                .iter()
                .filter(|shown| *all || keys.iter().any(|key| names_it(shown, key)))
                .collect();
            accept_shown(&wired, &memories, &drafts, out)
        }
    }
}

fn chosen<'a>(engine: &Call, waiting: &'a Pending, keys: &[String]) -> Result<Vec<&'a Memory>> {
    let mut memories = Vec::new();
    for key in keys {
        if waiting.drafts.iter().any(|shown| names_it(shown, key)) {
            continue;
        }
        // What was altered is there, but nothing of it can be accepted.
        for inbox in engine.inboxes()? {
            match inbox.get(key, engine.project().world().now) {
                Err(fault) if fault.code == Code::Damaged => return Err(fault),
                Ok(_) | Err(_) => {}
            }
        }
        let id = names::find(engine, key, Enough::Part)?;
        let memory = waiting.saved_by_agents.iter().find(|m| m.id == id).ok_or_else(|| {
            Fault::new(Code::NotFound, format!("`{id}` does not wait for a review"))
                .hint(format!("`heirloom trust {id}` raises the trust of any memory"))
        })?;
        memories.push(memory);
    }
    Ok(memories)
}

fn names_it(shown: &Shown, key: &str) -> bool {
    shown.item.key == key || shown.item.id == key
}

/// Shows everything, asks once, notes the acceptance of exactly these bytes and stores exactly these drafts.
fn accept_shown(wired: &Wired, memories: &[&Memory], drafts: &[&Shown], out: &Out) -> Result<u8> {
    for shown in drafts {
        print_draft(&wired.call, out, shown);
        out.line("");
    }
    for memory in memories {
        print_memory(out, memory);
        out.line("");
    }
    let question = match memories.len() + drafts.len() {
        0 => {
            out.say("nothing waits for you");
            return Ok(exit::OK);
        }
        1 => "Accept this memory as it is?".to_owned(),
        count => format!("Accept these {count} memories as they are?"),
    };
    if !person::confirm(&question, false)? {
        out.say("nothing was accepted");
        return Ok(exit::REFUSED);
    }
    let said =
        |word: &str, id: &str| out.line(format!("{} {}", out.style.green(word), visible(&one_line(id))));
    for memory in memories {
        accept(&wired.call, memory)?;
        said("accepted", memory.id.as_str());
    }
    // One draft that cannot be stored any more (the vault is full, say) does not keep the others waiting.
    let mut worst = exit::OK;
    for shown in drafts {
        match accept_draft(&wired.call, shown) {
            Ok(id) => said("stored", &id),
            Err(fault) => worst = out.fault(&fault),
        }
    }
    if !drafts.is_empty() {
        auto_commit(wired, out, "memory: accept what waited");
    }
    Ok(worst)
}

pub(crate) fn trust(args: &Args, call: &Trust, out: &Out) -> Result<u8> {
    person::required("raising trust")?;
    let mut wired = wiring::wire(args)?;
    person::checked(&mut wired, Verb::Accept)?;
    let mut memories = Vec::new();
    for name in &call.which.ids {
        let id = names::find(&wired.call, name, Enough::Part)?;
        memories.push(wired.call.shelf_of(&id)?.get(&id)?.ok_or_else(|| unknown(id.as_str()))?);
    }
    accept_shown(&wired, &memories.iter().collect::<Vec<_>>(), &[], out)
}

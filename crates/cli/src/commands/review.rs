//! `review` and `trust`: what waits for a person, and a person's yes.

use super::propose;
use super::review_list::{print_draft, print_pending, print_stored, print_suggestions};
use super::review_screen;
use super::show::print_memory;
use super::visible;
use crate::args::{Args, Review, ReviewAction, Trust};
use crate::output::Out;
use crate::wiring::Wired;
use crate::{person, wiring};
use heirloom_core::code::exit;
use heirloom_core::text::one_line;
use heirloom_core::{Verb, fault::Result};
use heirloom_engine::verbs::decide::{self, Choose, Chosen, Reject};
use heirloom_engine::verbs::edit::Edit;
use heirloom_engine::verbs::join::{Join, join};

pub(crate) fn run(args: &Args, call: &Review, out: &Out) -> Result<u8> {
    let mut wired = wiring::wire(args)?;
    match &call.action {
        None | Some(ReviewAction::List) => {
            let seen = decide::list(&wired.call)?;
            let waits = !seen.waiting.drafts.is_empty() || !seen.waiting.saved_by_agents.is_empty();
            if call.action.is_none() && waits && !out.is_json() && review_screen::is_possible() {
                return review_screen::run(args, &mut wired, seen, out);
            }
            out.answer(&seen, || {
                print_pending(out, &seen.waiting);
                print_suggestions(out, &seen.suggestions);
            });
            Ok(exit::OK)
        }
        Some(ReviewAction::Propose { background }) => propose::run(args, &wired, *background, out),
        Some(ReviewAction::Reject { keys }) => {
            let rejected = decide::reject(&wired.call, &Reject { keys: keys.clone() })?;
            out.answer(&rejected, || {
                for id in &rejected {
                    out.line(format!("{} {}", out.style.yellow("rejected"), visible(&one_line(id))));
                }
            });
            Ok(exit::OK)
        }
        Some(ReviewAction::Join { id, other, title, field, tag, text, from }) => {
            let whole = from.as_deref().map(super::input::text).transpose()?;
            let change = Edit {
                title: title.clone(),
                fields: super::pairs(field)?,
                tags: tag.clone(),
                text: text.clone(),
                whole,
                ..Edit::default()
            };
            let ask = Join { id: id.clone(), other: other.clone(), change, ..Join::default() };
            let joined = join(&wired.call, &ask)?.done()?;
            out.answer(&joined, || {
                super::print_added(out, "joined", &joined.kept);
                out.line(format!(
                    "{} {}",
                    out.style.yellow(joined.became),
                    visible(&one_line(&joined.other))
                ));
            });
            Ok(exit::OK)
        }
        Some(ReviewAction::Accept { keys, all }) => {
            person::checked(&mut wired, Verb::Accept)?;
            let chosen = decide::choose(&wired.call, &Choose { keys: keys.clone(), all: *all })?;
            accept_shown(&wired, &chosen, out)
        }
    }
}

/// Shows everything, asks once, and has exactly that accepted.
fn accept_shown(wired: &Wired, chosen: &Chosen, out: &Out) -> Result<u8> {
    // A program reads the answer; what the person looks at goes beside it.
    let aside = out.aside();
    for shown in &chosen.drafts {
        print_draft(&aside, shown);
        aside.line("");
    }
    for memory in &chosen.memories {
        print_memory(&aside, memory);
        if let Some(text) = chosen.stored.get(memory.id.as_str()) {
            print_stored(&aside, text);
        }
        aside.line("");
    }
    let yes = chosen.yes();
    let question = match yes.shown.len() {
        0 => {
            out.say("nothing to review");
            out.answer(&decide::Accepted::default(), || {});
            return Ok(exit::OK);
        }
        1 => "Accept this memory as it is?".to_owned(),
        count => format!("Accept these {count} memories as they are?"),
    };
    if !person::confirm(&question, false)? {
        out.say("nothing was accepted");
        return Ok(exit::REFUSED);
    }
    let done = decide::accept(&wired.call, &yes)?;
    let said =
        |word: &str, id: &str| out.line(format!("{} {}", out.style.green(word), visible(&one_line(id))));
    out.answer(&done, || {
        done.accepted.iter().for_each(|id| said("accepted", id));
        done.stored.iter().for_each(|id| said("stored", id));
        done.failed.iter().for_each(|failed| {
            out.fault(&failed.fault);
        });
    });
    Ok(done.failed.last().map_or(exit::OK, |failed| failed.fault.code.exit()))
}

pub(crate) fn trust(args: &Args, call: &Trust, out: &Out) -> Result<u8> {
    let mut wired = wiring::wire(args)?;
    person::checked(&mut wired, Verb::Accept)?;
    let chosen = decide::choose_any(&wired.call, &call.which.ids)?;
    accept_shown(&wired, &chosen, out)
}

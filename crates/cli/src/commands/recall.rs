//! `recall`: what an agent would be given for a prompt. `why`: the last time one was given a memory.

use super::search::reasons;
use crate::args::{Args, Recall, Why};
use crate::output::Out;
use crate::wiring;
use heirloom_agents::table::{Agent, CLAUDE_CODE};
use heirloom_core::code::exit;
use heirloom_core::fault::Result;
use heirloom_core::text::one_line;
use heirloom_engine::verbs::recall;
use heirloom_engine::verbs::search::Ranking;
use heirloom_engine::verbs::told::{Hit, Reason};
use heirloom_engine::verbs::trail::{self, AskWhy};

pub(crate) fn run(args: &Args, call: &Recall, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    out.warnings(wired.warnings());
    // As much as the host of that name takes; the hook knows no other way to be somebody.
    let host = call.agent.as_deref().and_then(Agent::named).unwrap_or(&CLAUDE_CODE);
    let ask = recall::Recall { prompt: call.prompt.join(" "), session: None, most: Some(host.context_max) };
    let answer = recall::recall(&wired.call, &ask)?;
    out.answer(&answer, || {
        if answer.block.is_empty() {
            out.say(match answer.ranking {
                Ranking::Hybrid => "no memory fits well enough; `heirloom search` shows the nearest",
                _ => "no memory fits; recall compares titles and tags (see `heirloom list`)",
            });
            return;
        }
        out.raw(answer.block.as_bytes());
        if call.explain {
            explain(out, answer.ranking, &answer.hits);
        }
    });
    Ok(exit::OK)
}

fn explain(out: &Out, ranking: Ranking, hits: &[Hit]) {
    if ranking == Ranking::Hybrid {
        for hit in hits {
            let score = out.style.dim(&format!("{:.2}", hit.score.unwrap_or_default()));
            out.say(format!("{score} {}: {}", hit.memory.id, reasons(&hit.why)));
        }
        return;
    }
    let title = |hit: &Hit| one_line(&hit.memory.title);
    for hit in hits.iter().filter(|hit| hit.score.is_none()) {
        out.say(format!("    {}: {}", title(hit), one_line(&reasons(&hit.why))));
    }
    for hit in hits {
        let Some(score) = hit.score else { continue };
        let part = |reason: &Reason| format!("{} (+{})", reason.what, reason.points);
        let why: Vec<String> = hit.why.iter().map(part).collect();
        out.say(format!("{} {}: {}", out.style.dim(&format!("{score:>3}")), title(hit), why.join(", ")));
    }
}

/// `why`: the last time a memory was given to an agent.
pub(crate) fn why(args: &Args, call: &Why, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    let last = trail::why(&wired.call, &AskWhy { id: call.id.clone() })?;
    out.answer(&last, || {
        out.line(format!("{} was given to {} at {}", out.style.bold(&last.id), last.agent, last.at));
        out.line(format!("  score {:.2}: {}", last.score, reasons(&last.why)));
    });
    Ok(exit::OK)
}

//! `recall`: what an agent would be given for a prompt.

use super::hook::{PROMPT_MAX, VAULT_MAX};
use crate::args::{Args, Recall};
use crate::output::Out;
use crate::wiring;
use heirloom_core::code::exit;
use heirloom_core::fault::Result;
use heirloom_core::text::one_line;
use heirloom_engine::inject::prompt_block;
use heirloom_engine::recall::prompt::{Called, for_prompt};
use heirloom_engine::recall::title_tags::Why;
use serde_json::json;

pub(crate) fn run(args: &Args, call: &Recall, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    out.warnings(&wired.loaded.warnings);
    if super::hybrid::is_on(&wired) {
        return super::hybrid::recall(&wired, call, out);
    }
    let prompt = call.prompt.join(" ");
    let called = for_prompt(&wired.call, &prompt, call.agent.as_deref(), VAULT_MAX)?;
    let block = prompt_block(&wired.call, &called, PROMPT_MAX);
    let Called { records: hits, notes, lessons, vault } = &called;
    let answer = json!({ "prompt": prompt, "hits": hits, "notes": notes, "lessons": lessons, "vault": vault, "block": block });
    out.answer(&answer, || {
        if block.is_empty() {
            out.say("nothing fits; recall looks at titles and tags (see `heirloom list`)");
            return;
        }
        out.raw(block.as_bytes());
        if call.explain {
            for beside in notes.iter().chain(lessons) {
                out.say(format!("    {}: {}", one_line(&beside.memory.title), one_line(&beside.why)));
            }
            for hit in hits {
                out.say(format!(
                    "{} {}: {}",
                    out.style.dim(&format!("{:>3}", hit.score)),
                    hit.title,
                    reasons(&hit.why)
                ));
            }
        }
    });
    Ok(exit::OK)
}

fn reasons(why: &Why) -> String {
    let mut parts = Vec::new();
    let mut words = |what: &str, list: &[String], points: usize| {
        if !list.is_empty() {
            parts.push(format!("{what} {} (+{})", list.join(", "), list.len() * points));
        }
    };
    words("title", &why.title, 2);
    words("tag", &why.tags, 3);
    words("prefix", &why.prefix, 1);
    if why.description > 0 {
        parts.push(format!("description (+{})", why.description));
    }
    if why.recent {
        parts.push("updated in the last 30 days (+1)".to_owned());
    }
    parts.join(", ")
}

//! `review` and `trust`: what waits for a person, and a person's yes.

use super::names;
use super::show::print_memory;
use crate::args::{Args, Review, ReviewAction, Several};
use crate::output::{Out, Table};
use crate::{person, wiring};
use heirloom_core::code::exit;
use heirloom_core::{Fault, Memory, fault::Result};
use heirloom_engine::Engine;
use heirloom_engine::gate::inbox::Item;
use heirloom_engine::review::{Pending, accept, pending};
use heirloom_engine::shelf::unknown;

pub(crate) fn run(args: &Args, call: &Review, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    let engine = &wired.engine;
    match &call.action {
        None => {
            let waiting = pending(engine)?;
            out.answer(&waiting, || print_pending(out, &waiting));
            Ok(exit::OK)
        }
        Some(ReviewAction::Reject { keys }) => {
            for key in keys {
                let item = engine.inbox()?.get(key, engine.project().world().now)?;
                engine.inbox()?.remove(&item.key)?;
                out.line(format!("{} {}", out.style.yellow("rejected"), item.id));
            }
            Ok(exit::OK)
        }
        Some(ReviewAction::Accept { keys, all }) => {
            person::required("accepting")?;
            let waiting = pending(engine)?;
            let unaccepted: Vec<&Memory> = waiting.saved_by_agents.iter().collect();
            let memories = if *all { unaccepted } else { chosen(engine, &waiting, keys)? };
            let drafts: Vec<&Item> = waiting
                .drafts
                .iter()
                .filter(|item| *all || keys.contains(&item.key) || keys.contains(&item.id))
                .collect();
            for item in &drafts {
                print_draft(out, item);
            }
            accept_shown(engine, &memories, out)?;
            for item in drafts {
                let done = heirloom_engine::review::accept_draft(engine, item)?;
                out.line(format!("{} {}", out.style.green("stored"), done));
            }
            Ok(exit::OK)
        }
    }
}

fn chosen<'a>(engine: &Engine, waiting: &'a Pending, keys: &[String]) -> Result<Vec<&'a Memory>> {
    let mut memories = Vec::new();
    for key in keys {
        if waiting.drafts.iter().any(|item| item.key == *key || item.id == *key) {
            continue;
        }
        let id = names::find(engine, key)?;
        let memory = waiting.saved_by_agents.iter().find(|m| m.id == id).ok_or_else(|| {
            Fault::new(heirloom_core::Code::NotFound, format!("`{id}` does not wait for a review"))
                .hint(format!("`heirloom trust {id}` raises the trust of any memory"))
        })?;
        memories.push(memory);
    }
    Ok(memories)
}

/// Shows the memories, asks once, and notes the acceptance of exactly these bytes.
fn accept_shown(engine: &Engine, memories: &[&Memory], out: &Out) -> Result<()> {
    if memories.is_empty() {
        return Ok(());
    }
    for memory in memories {
        print_memory(out, memory);
        out.line("");
    }
    let what = if memories.len() == 1 {
        "this memory".to_owned()
    } else {
        format!("these {} memories", memories.len())
    };
    if !person::confirm(&format!("Accept {what} as they are?"), false)? {
        out.say("nothing was accepted");
        return Ok(());
    }
    for memory in memories {
        accept(engine, memory)?;
        out.line(format!("{} {}", out.style.green("accepted"), memory.id));
    }
    Ok(())
}

pub(crate) fn trust(args: &Args, call: &Several, out: &Out) -> Result<u8> {
    person::required("raising trust")?;
    let wired = wiring::wire(args)?;
    let mut memories = Vec::new();
    for name in &call.ids {
        let id = names::find(&wired.engine, name)?;
        memories.push(wired.engine.shelf_of(&id)?.get(&id)?.ok_or_else(|| unknown(id.as_str()))?);
    }
    accept_shown(&wired.engine, &memories.iter().collect::<Vec<_>>(), out)?;
    Ok(exit::OK)
}

fn print_draft(out: &Out, item: &Item) {
    out.line(format!("{}  {}", out.style.bold(&item.id), out.style.dim(&item.reasons.join("; "))));
    out.line(super::show::visible(&serde_json::to_string_pretty(&item.draft).unwrap_or_default()));
}

fn print_pending(out: &Out, waiting: &Pending) {
    if waiting.is_empty() {
        out.say("nothing waits for you");
        return;
    }
    if !waiting.drafts.is_empty() {
        out.line(out.style.bold("Drafts that need a yes"));
        let mut table = Table::new(&["KEY", "ID", "FROM", "WHY"]);
        for item in &waiting.drafts {
            table.row(vec![
                item.key.clone(),
                item.id.clone(),
                item.channel.row().name.to_owned(),
                item.reasons.join("; "),
            ]);
        }
        table.print(out);
    }
    if !waiting.saved_by_agents.is_empty() {
        out.line(out.style.bold("Constraints and preferences nobody has accepted yet"));
        let mut table = Table::new(&["ID", "TRUST", "TITLE"]);
        for memory in &waiting.saved_by_agents {
            table.row(vec![memory.id.to_string(), memory.trust.name().to_owned(), memory.title.clone()]);
        }
        table.print(out);
    }
    if !waiting.problems.is_empty() {
        out.line(out.style.bold("Held back from recall"));
        let mut table = Table::new(&["FILE", "WHAT"]);
        for problem in &waiting.problems {
            table.row(vec![problem.file.clone(), problem.message.clone()]);
        }
        table.print(out);
    }
    out.say("\nnext: `heirloom review accept <id>`, `heirloom review reject <key>`");
}

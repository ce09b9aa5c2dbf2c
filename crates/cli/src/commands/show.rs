//! `show`, `list`, `history`.

use super::names;
use crate::args::{Args, List, One, Show};
use crate::output::{Out, Table};
use crate::wiring;
use heirloom_core::code::exit;
use heirloom_core::{Code, Fault, Kind, Memory, Status, fault::Result};
use heirloom_engine::shelf::{Listing, unknown};

pub(crate) fn show(args: &Args, call: &Show, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    let id = names::find(&wired.engine, &call.id)?;
    let memory = wired.engine.shelf_of(&id)?.get(&id)?.ok_or_else(|| unknown(id.as_str()))?;
    if call.raw {
        let path = memory.path.as_deref().ok_or_else(|| unknown(id.as_str()))?;
        let bytes = heirloom_engine::files::read(&wired.engine.project().folder().join(path), 1 << 30)?;
        out.raw(&bytes);
        return Ok(exit::OK);
    }
    out.answer(&memory, || print_memory(out, &memory));
    Ok(exit::OK)
}

pub(crate) fn print_memory(out: &Out, memory: &Memory) {
    let style = out.style;
    out.line(style.bold(&heirloom_core::text::one_line(&memory.title)));
    let status = match memory.status {
        Status::Active => style.green("active"),
        other => style.yellow(other.name()),
    };
    out.line(format!(
        "{}  {status}  trust {}  from {}",
        style.cyan(memory.id.as_str()),
        memory.trust.name(),
        memory.source.name()
    ));
    let mut facts = Vec::new();
    if !memory.tags.is_empty() {
        facts.push(format!("tags {}", memory.tags.join(", ")));
    }
    if !memory.applies_to.is_empty() {
        facts.push(format!("files {}", memory.applies_to.join(", ")));
    }
    if let Some(updated) = &memory.updated_at {
        facts.push(format!("updated {updated}"));
    }
    if let Some(confidence) = memory.confidence {
        facts.push(format!("confidence {confidence}"));
    }
    out.line(style.dim(&facts.join("  ")));
    if let Some(path) = &memory.path {
        out.line(style.dim(path));
    }
    out.line("");
    out.line(visible(&memory.body));
}

/// Text for a terminal: escape sequences and invisible characters in a memory must not reach it.
pub(crate) fn visible(text: &str) -> String {
    let keep =
        |c: &char| (!c.is_control() || matches!(c, '\n' | '\t')) && !heirloom_core::text::is_invisible(*c);
    text.chars().filter(keep).collect()
}

pub(crate) fn list(args: &Args, call: &List, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    out.warnings(&wired.loaded.warnings);
    let status = match (call.all, call.retired, call.archived) {
        (true, _, _) => None,
        (_, true, _) => Some(Status::Retired),
        (_, _, true) => Some(Status::Archived),
        _ => Some(Status::Active),
    };
    let kind = call.kind.as_deref().map(|name| known_kind(&wired, name)).transpose()?;
    let wanted = Listing { status, kind };
    let mut memories = Vec::new();
    for shelf in wired.engine.shelves() {
        memories.extend(shelf.list(&wanted)?);
    }
    if let Some(tag) = &call.tag {
        memories.retain(|memory| memory.tags.iter().any(|t| t == tag));
    }
    out.answer(&memories, || print_list(out, &memories, status));
    Ok(exit::OK)
}

fn known_kind(wired: &wiring::Wired, name: &str) -> Result<Kind> {
    let kind = Kind::named(name);
    let known = Kind::built_in(name).is_some() || wired.engine.settings().category(name).is_some();
    if known {
        return Ok(kind);
    }
    let names: Vec<&str> = wired.engine.settings().categories.iter().map(|c| c.name()).collect();
    Err(Fault::new(Code::Usage, format!("there is no kind `{name}`"))
        .hint(format!("use one of {}", names.join(", "))))
}

fn print_list(out: &Out, memories: &[Memory], status: Option<Status>) {
    if memories.is_empty() {
        out.say(match status {
            Some(Status::Active) => {
                "nothing is remembered yet; `heirloom add decision \"…\"` saves something"
            }
            _ => "nothing here",
        });
        return;
    }
    let mut table = Table::new(&["ID", "UPDATED", "TRUST", "STATUS", "TITLE"]);
    for memory in memories {
        let updated = memory.updated_at.as_deref().unwrap_or("-");
        table.row(vec![
            memory.id.to_string(),
            updated.get(..10).unwrap_or(updated).to_owned(),
            memory.trust.name().to_owned(),
            memory.status.name().to_owned(),
            memory.title.clone(),
        ]);
    }
    table.print(out);
}

pub(crate) fn history(args: &Args, call: &One, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    let id = names::find(&wired.engine, &call.id)?;
    let changes = wired.engine.shelf_of(&id)?.history(&id)?;
    out.answer(&changes, || {
        let mut table = Table::new(&["WHEN", "FIELD", "WHAT"]);
        for change in &changes {
            let values = match (&change.old, &change.new) {
                (None, None) => String::new(),
                (old, new) => {
                    let text = |v: &Option<serde_json::Value>| {
                        v.as_ref().map_or("nothing".to_owned(), ToString::to_string)
                    };
                    format!(": {} → {}", text(old), text(new))
                }
            };
            table.row(vec![
                change.at.clone(),
                change.field.clone().unwrap_or_default(),
                format!("{}{values}", change.summary),
            ]);
        }
        table.print(out);
    });
    Ok(exit::OK)
}

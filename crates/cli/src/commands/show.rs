//! `show`, `list`, `history`.

use super::names;
use crate::args::{Args, List, One, Show};
use crate::output::{Out, Table, spelled};
use crate::{person, wiring};
use heirloom_core::code::exit;
use heirloom_core::kind::OTHER_KINDS;
use heirloom_core::text::one_line;
use heirloom_core::{Code, Fault, Kind, Memory, Scope, ShelfName, Status, fault::Result};
use heirloom_engine::Call;
use heirloom_engine::shelf::anchors::{self, Cited};
use heirloom_engine::shelf::links::{self, Link, Links};
use heirloom_engine::shelf::tiers::Tier;
use heirloom_engine::shelf::vault::Image;
use heirloom_engine::shelf::{Listing, unknown};
use serde::Serialize;

pub(crate) fn show(args: &Args, call: &Show, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    let id = names::find(&wired.call, &call.id)?;
    let audience = person::audience(&wired.call, call.agent.as_deref());
    let memory = wired.call.shelf_of(&id)?.get(&id)?.filter(|memory| audience.sees(memory));
    let memory = memory.ok_or_else(|| unknown(id.as_str()))?;
    let (memory, cut) = fit(&wired.call, memory);
    if call.raw && cut {
        return Err(Fault::new(Code::GateRefused, "this holds what the gate would refuse; it is held back")
            .fact("id", id.as_str())
            .hint("a person sees all of it in a terminal; `heirloom review` names the rule"));
    }
    if call.raw && id.kind().shelf() == ShelfName::Vault {
        let bytes = wired.call.vault().bytes()?;
        for version in Image::of(&bytes).versions(id.name()) {
            out.raw(version.bytes);
            out.raw(b"\n");
        }
        return Ok(exit::OK);
    }
    if call.raw {
        let path = memory.path.as_deref().ok_or_else(|| unknown(id.as_str()))?;
        let bytes = heirloom_engine::files::read(&wired.call.project().folder().join(path), 1 << 30)?;
        out.raw(&bytes);
        return Ok(exit::OK);
    }
    let links = links::of(wired.call.project().root(), memory.id.as_str())?;
    let cited = anchors::check(&wired.call, memory.id.as_str())?;
    let full =
        Linked { memory: &memory, links: &links, anchors: cited.as_ref().map(|cited| &cited.anchors[..]) };
    out.answer(&full, || {
        print_memory(out, &memory);
        print_links(out, &links);
        if let Some(cited) = &cited {
            out.line("");
            out.line(out.style.dim("cites"));
            cited.anchors.iter().for_each(|cited| super::anchor::print_cited(out, cited));
        }
    });
    Ok(exit::OK)
}

/// A memory as whoever looks may have it: without a person, what reached a file past the gate and would be refused is cut out, because what
/// is printed goes into a model's context. Says whether something was.
fn fit(engine: &Call, mut memory: Memory) -> (Memory, bool) {
    if person::is_present() {
        return (memory, false);
    }
    let mut cut = false;
    let texts = [&mut memory.title, &mut memory.body].into_iter().chain(&mut memory.tags);
    for text in texts.chain(&mut memory.applies_to) {
        let shown = engine.screen().redacted(text);
        cut |= shown != *text;
        *text = shown;
    }
    (memory, cut)
}

/// A memory with what it came from and what it became.
#[derive(Serialize)]
struct Linked<'a> {
    #[serde(flatten)]
    memory: &'a Memory,
    #[serde(skip_serializing_if = "Links::is_empty")]
    links: &'a Links,
    #[serde(skip_serializing_if = "Option::is_none")]
    anchors: Option<&'a [Cited]>,
}

fn print_links(out: &Out, links: &Links) {
    if links.is_empty() {
        return;
    }
    out.line("");
    let group = |what: &str, list: &[Link]| {
        for link in list {
            out.line(out.style.dim(&format!("{what} {}", visible(&one_line(&link.id)))));
        }
    };
    group("distilled from", &links.distilled_from);
    group("became", &links.became);
    group("imported from", &links.imported_from);
}

pub(crate) fn print_memory(out: &Out, memory: &Memory) {
    let style = out.style;
    out.line(style.bold(&visible(&one_line(&memory.title))));
    let status = match memory.status {
        Status::Active => style.green("active"),
        other => style.yellow(other.name()),
    };
    out.line(format!(
        "{}  {status}  trust {}  from {}",
        style.cyan(&visible(&one_line(memory.id.as_str()))),
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
    match &memory.scope {
        Scope::Global => {}
        Scope::Agent(name) => facts.push(format!("scope {name}")),
        other => facts.push(format!("scope {other}")),
    }
    if let Some(said) = memory.occurred_at.as_ref().filter(|_| memory.kind == Kind::Note) {
        facts.push(format!("said {said}"));
    }
    if let Some(updated) = &memory.updated_at {
        facts.push(format!("updated {updated}"));
    }
    if let Some(confidence) = memory.confidence {
        facts.push(format!("confidence {confidence}"));
    }
    out.line(style.dim(&visible(&one_line(&facts.join(" · ")))));
    if let Some(path) = &memory.path {
        out.line(style.dim(&visible(&one_line(path))));
    }
    out.line("");
    out.line(visible(&memory.body));
}

/// Text as the printer shows it, for those who must know how wide it is or who print past it.
pub(crate) fn visible(text: &str) -> String {
    spelled(text).into_owned()
}

pub(crate) fn list(args: &Args, call: &List, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    out.warnings(&wired.loaded.warnings);
    if let Some(tier) = call.tier.as_deref().and_then(Tier::named) {
        return super::tiers::list(&wired, call, tier, out);
    }
    let status = match (call.all, call.retired, call.archived) {
        (true, _, _) => None,
        (_, true, _) => Some(Status::Retired),
        (_, _, true) => Some(Status::Archived),
        _ => Some(Status::Active),
    };
    let kind = call.kind.as_deref().map(|name| known_kind(&wired, name)).transpose()?;
    let wanted = Listing { status, kind };
    let mut memories = Vec::new();
    for shelf in wired.call.shelves() {
        match shelf.list(&wanted) {
            // A database that cannot be reached keeps nobody from reading files.
            Err(fault) if shelf.name() == ShelfName::Tiers && wanted.kind.is_none() => {
                out.note(fault.message)
            }
            listed => memories.extend(listed?),
        }
    }
    let audience = person::audience(&wired.call, call.agent.as_deref());
    memories.retain(|memory| audience.sees(memory));
    let mut memories: Vec<Memory> = memories.into_iter().map(|memory| fit(&wired.call, memory).0).collect();
    if let Some(scope) = &call.scope {
        let of_agent = |memory: &Memory| matches!(&memory.scope, Scope::Agent(name) if name == scope);
        memories.retain(|memory| memory.scope.to_string() == *scope || of_agent(memory));
    }
    if let Some(tag) = &call.tag {
        memories.retain(|memory| memory.tags.iter().any(|t| t == tag));
    }
    let narrowed =
        call.kind.is_some() || call.scope.is_some() || call.tag.is_some() || status != Some(Status::Active);
    out.answer(&memories, || print_list(&wired, &memories, narrowed, out));
    Ok(exit::OK)
}

/// The kind of that name, built in or a category of the settings.
pub(crate) fn known_kind(wired: &wiring::Wired, name: &str) -> Result<Kind> {
    let kind = Kind::named(name);
    let known = Kind::built_in(name).is_some() || wired.call.settings().category(name).is_some();
    if known {
        return Ok(kind);
    }
    let shelves = OTHER_KINDS.iter().filter(|row| row.name != Kind::Working.name()).map(|row| row.name);
    let names: Vec<&str> = wired.call.settings().categories.iter().map(|c| c.name()).chain(shelves).collect();
    Err(Fault::new(Code::Usage, format!("there is no kind `{name}`"))
        .hint(format!("use one of {}", names.join(", "))))
}

pub(super) fn print_list(wired: &wiring::Wired, memories: &[Memory], narrowed: bool, out: &Out) {
    if memories.is_empty() {
        out.say(if narrowed {
            "nothing of this sort; `heirloom list --all` shows everything"
        } else {
            "nothing is remembered yet; `heirloom add decision \"…\"` saves something"
        });
        return;
    }
    let mut table = Table::new(&["ID", "UPDATED", "TRUST", "STATUS", "TITLE"]);
    for memory in memories {
        let times = [&memory.updated_at, &memory.created_at, &memory.occurred_at];
        let updated = times.into_iter().flatten().next().map_or("-", String::as_str);
        table.row(vec![
            memory.id.to_string(),
            updated.get(..10).unwrap_or(updated).to_owned(),
            memory.trust.name().to_owned(),
            memory.status.name().to_owned(),
            // A title may hold what reached its file without the gate.
            wired.call.screen().redacted(&memory.title),
        ]);
    }
    table.print(out);
}

pub(crate) fn history(args: &Args, call: &One, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    let id = names::find(&wired.call, &call.id)?;
    let shelf = wired.call.shelf_of(&id)?;
    let audience = person::audience(&wired.call, None);
    if shelf.get(&id)?.is_some_and(|memory| !audience.sees(&memory)) {
        return Err(unknown(id.as_str()));
    }
    let mut changes = links::history(&wired.call, shelf.as_ref(), &id)?;
    if !person::is_present() {
        let screen = wired.call.screen();
        for change in &mut changes {
            change.summary = screen.redacted(&change.summary);
            for value in [&mut change.old, &mut change.new].into_iter().flatten() {
                // What is cut out of a value leaves a text that tells so.
                let whole = value.to_string();
                let shown = screen.redacted(&whole);
                if shown != whole {
                    *value = serde_json::Value::String(shown);
                }
            }
        }
    }
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

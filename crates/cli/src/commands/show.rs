//! `show`, `list`, `history`.

use crate::args::{Args, List, One, Show};
use crate::output::{Out, Table, visible};
use crate::wiring;
use heirloom_core::code::exit;
use heirloom_core::text::one_line;
use heirloom_core::{Kind, Memory, Scope, Status, fault::Result};
use heirloom_engine::verbs::show::{Link, Links};
use heirloom_engine::verbs::{list, show};

pub(crate) fn show(args: &Args, call: &Show, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    let ask = show::Show { id: call.id.clone() };
    if call.raw {
        out.raw(&show::stored(&wired.call, &ask)?);
        return Ok(exit::OK);
    }
    let shown = show::show(&wired.call, &ask)?;
    out.answer(&shown, || {
        print_memory(out, &shown.memory);
        print_links(out, &shown.links);
        if !shown.anchors.is_empty() {
            out.line("");
            out.line(out.style.dim("cites"));
            shown.anchors.iter().for_each(|cited| super::anchor::print_cited(out, cited));
        }
    });
    Ok(exit::OK)
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

pub(crate) fn list(args: &Args, call: &List, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    out.warnings(wired.warnings());
    if call.tier.is_some() {
        // Why no user is signed in is only known here.
        wired.tiers()?;
    }
    let status = match (call.all, call.retired, call.archived) {
        (true, _, _) => Some("all"),
        (_, true, _) => Some("retired"),
        (_, _, true) => Some("archived"),
        _ => None,
    };
    let ask = list::List {
        kind: call.kind.clone(),
        status: status.map(str::to_owned),
        tag: call.tag.clone(),
        scope: call.scope.clone(),
        tier: call.tier.clone(),
        session: call.session.clone(),
        limit: call.limit,
        cursor: call.cursor.clone(),
    };
    let narrowed = ask != list::List { limit: call.limit, ..list::List::default() };
    let listed = list::list(&wired.call, &ask)?;
    out.answer(&listed, || {
        print_list(&listed.memories, narrowed, out);
        if let Some(next) = &listed.next {
            // A person asks for a longer list; a script needs the place to go on from.
            let shown = listed.memories.len();
            out.note(match out.width() {
                Some(_) => format!("there are more; `-n {}` shows up to that many", shown * 10),
                None => format!("there are more; add --cursor {next} to see them"),
            });
        }
    });
    Ok(exit::OK)
}

fn print_list(memories: &[Memory], narrowed: bool, out: &Out) {
    if memories.is_empty() {
        out.say(if narrowed {
            "no memories match; `heirloom list --all` shows everything"
        } else {
            "no memories yet; `heirloom add decision \"…\"` saves one"
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
            memory.title.clone(),
        ]);
    }
    table.print(out);
}

pub(crate) fn history(args: &Args, call: &One, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    let changes = show::history(&wired.call, &show::Show { id: call.id.clone() })?;
    out.answer(&changes, || {
        let mut table = Table::new(&["WHEN", "UNDO", "FIELD", "WHAT"]);
        for show::Past { change, undo } in &changes {
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
                undo.clone().unwrap_or_default(),
                change.field.clone().unwrap_or_default(),
                format!("{}{values}", change.summary),
            ]);
        }
        table.print(out);
    });
    Ok(exit::OK)
}

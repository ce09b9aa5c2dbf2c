//! `add`: save a memory from a few words.

use super::begin::{self, Begun};
use super::{input, missing, pairs, print_added, remember};
use crate::args::{self, Args};
use crate::output::Out;
use crate::wiring;
use heirloom_core::code::exit;
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::verbs::Added;
use heirloom_engine::verbs::add::{Add, New, NewRecord, Taken, Words, add, lacks, questions};

pub(crate) fn run(args: &Args, call: &args::Add, out: &Out) -> Result<u8> {
    let mut wired = wiring::wire(args)?;
    out.warnings(wired.warnings());
    // What cannot be saved anywhere is said first.
    let new = New::said(&wired.call, words(call)?)?;
    // Turns and facts are the user's, and lessons may be somewhere else.
    let elsewhere = wired.call.settings().memory_configuration.enabled && call.kind == "lesson";
    if !call.dry_run && !elsewhere && !["fact", "episode"].contains(&call.kind.as_str()) {
        match begin::begun(&wired)? {
            Begun::Already => {}
            Begun::Now => wired = wiring::wire(args)?,
            Begun::No => {
                out.say("nothing was saved");
                return Ok(exit::REFUSED);
            }
        }
    }
    let mut ask = Add {
        cites: call.anchor.clone(),
        rehearse: call.dry_run,
        from: Some(wired.cwd.clone()),
        ..Add::of(new)
    };
    if let New::Record(new) = &ask.new {
        let asked = missing::asked(&lacks(&wired.call, &ask)?)?;
        let fields = new.fields.iter().cloned().chain(asked).collect();
        ask.new = New::Record(NewRecord { fields, ..new.clone() });
    }
    if !call.dry_run {
        let text = match &ask.new {
            New::Fact(fact) => fact.text.as_str(),
            _ => "",
        };
        match remember::answers(&questions(&wired.call, &ask)?, text, out)? {
            Some(yes) => ask.yes = yes,
            None => return Ok(exit::REFUSED),
        }
    }
    let added = add(&wired.call, &ask)?.done()?;
    if call.dry_run {
        out.answer(&added, || print_rehearsal(out, &ask.new, &added));
        return Ok(exit::OK);
    }
    if matches!(ask.new, New::Fact(_) | New::Episode(_)) {
        remember::print(out, &added);
        return Ok(exit::OK);
    }
    out.answer(&added, || print_added(out, word(added.status), &added));
    Ok(exit::OK)
}

fn word(status: &str) -> &str {
    match status {
        "created" => "saved",
        "already_there" | "already_retired" => "known",
        other => other,
    }
}

fn words(call: &args::Add) -> Result<Words> {
    let taken = match &call.from {
        Some(file) => Some(Taken { name: file.clone(), text: input::text(file)? }),
        None => None,
    };
    let mut fields = pairs(&call.field)?;
    if let Some(hours) = call.expires {
        if call.kind != "episode" {
            return Err(Fault::new(Code::Usage, format!("a {} does not end by itself", call.kind))
                .hint("--expires is for episodes; `heirloom retire` takes a memory out of use"));
        }
        fields.push(("hours".to_owned(), hours.to_string()));
    }
    Ok(Words {
        kind: call.kind.clone(),
        text: call.text.join(" "),
        taken,
        title: call.title.clone(),
        fields,
        tags: call.tag.clone(),
        topic: call.topic.clone(),
        scope: call.scope.clone(),
        category: call.category.clone(),
        subject: call.subject.clone(),
        files: call.file.clone(),
        confidence: call.confidence,
        at: call.at.clone(),
        source: call.source.clone(),
        cites: !call.anchor.is_empty(),
    })
}

/// What would be saved, in the form of its shelf.
fn print_rehearsal(out: &Out, new: &New, added: &Added) {
    let would = added.would.as_deref().unwrap_or_default();
    match new {
        New::Record(_) => out.raw(would.as_bytes()),
        New::Lesson(_) => {
            out.line(out.style.dim(added.path.as_deref().unwrap_or_default()));
            out.raw(super::visible(would).as_bytes());
        }
        New::Note(_) | New::Canon(_) | New::Register(_) => {
            out.json(&heirloom_core::json::parse(would.as_bytes()).unwrap_or_default());
        }
        New::Fact(_) | New::Episode(_) if added.would.is_none() => {
            out.say("this would not be stored");
        }
        New::Fact(_) | New::Episode(_) => out.line(super::visible(would)),
    }
}

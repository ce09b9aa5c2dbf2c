//! `remember`, `add fact`, `add episode`, and `edit` of a fact: what the tiers are told.

use super::add::{only, words};
use super::pairs;
use crate::args::{Add, Args, Edit, Remember};
use crate::output::Out;
use crate::wiring::Wired;
use crate::{person, wiring};
use heirloom_core::code::exit;
use heirloom_core::{Code, Fault, MemoryId, fault::Result};
use heirloom_engine::gate::Entry;
use heirloom_engine::gate::policy::Row;
use heirloom_engine::gate::scan::{Class, Level};
use heirloom_engine::shelf::tiers::{FactWords, Kept, Role, Turn};

pub(crate) fn run(args: &Args, call: &Remember, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    out.warnings(&wired.loaded.warnings);
    let text = match &call.from {
        Some(file) => super::input::text(file)?,
        None => call.text.join(" "),
    };
    let words = FactWords {
        subject: call.subject.clone(),
        tags: call.tag.clone(),
        confidence: call.confidence,
        ..FactWords::of(text)
    };
    keep(&wired, words, out)
}

pub(super) fn fact(wired: &Wired, call: &Add, out: &Out) -> Result<u8> {
    only(call, &["--tag", "--confidence", "--subject"])?;
    let words = FactWords {
        subject: call.subject.clone(),
        tags: call.tag.clone(),
        confidence: call.confidence.unwrap_or(1.0),
        ..FactWords::of(words(call)?)
    };
    if call.dry_run {
        return preview(wired, &words.content, Row::Fact, out);
    }
    keep(wired, words, out)
}

/// Keeps a fact. A person is shown what it repeats or contradicts, and asked; from anybody else such a fact waits.
fn keep(wired: &Wired, mut words: FactWords, out: &Out) -> Result<u8> {
    let tiers = wired.tiers()?;
    let mut entry = asked(wired, &words.content, Row::Fact, out)?;
    if person::is_present() {
        let beside = tiers.beside(&words)?;
        if !beside.is_empty() {
            out.say(format!("  {}  {}", out.style.green("new  "), words.content));
            for (relation, known) in &beside {
                let old = super::show::visible(&known.content);
                out.say(format!(
                    "  {}  {old}  {}",
                    out.style.yellow("known"),
                    out.style.dim(relation.name())
                ));
            }
            if !person::confirm("Let the new one supersede what is known?", false)? {
                out.say("nothing was changed");
                return Ok(exit::REFUSED);
            }
            words.supersedes.extend(beside.into_iter().map(|(_, known)| known.id));
            entry.confirmed = true;
        }
    }
    answer(&tiers.remember(words, entry)?, out);
    Ok(exit::OK)
}

pub(super) fn episode(wired: &Wired, call: &Add, out: &Out) -> Result<u8> {
    only(call, &["--tag", "--field", "--at"])?;
    let mut turn = Turn { tags: call.tag.clone(), ..Turn::of(Role::User, words(call)?) };
    if let Some(at) = &call.at {
        turn.occurred_at = Some(heirloom_core::time::parse(at).ok_or_else(|| {
            Fault::new(Code::Validation, "that is no time")
                .fact("field", "at")
                .hint("write it like 2026-01-10T09:00:00Z")
        })?);
    }
    for (name, value) in pairs(&call.field)? {
        let wrong = |hint: &str| {
            Fault::new(Code::Usage, format!("`{value}` cannot be the {name} of an episode"))
                .hint(hint.to_owned())
        };
        match name.as_str() {
            "role" => turn.role = Role::named(&value).ok_or_else(|| wrong("use user, assistant or tool"))?,
            "session" => turn.session = Some(value),
            "message" => turn.message = Some(value),
            "tool" => turn.tool = Some(value),
            "days" => turn.days = Some(value.parse().map_err(|_| wrong("use 1 to 365"))?),
            "position" => turn.position = value.parse().map_err(|_| wrong("use a whole number"))?,
            "external" => {
                turn.from_external_content = value.parse().map_err(|_| wrong("use true or false"))?;
            }
            _ => {
                return Err(Fault::new(Code::Usage, format!("an episode has no field `{name}`"))
                    .hint("use role, session, message, tool, days, position or external"));
            }
        }
    }
    if call.dry_run {
        return preview(wired, &turn.content, Row::Episode, out);
    }
    let entry = asked(wired, &turn.content, Row::Episode, out)?;
    answer(&wired.tiers()?.add_episode(turn, entry)?, out);
    Ok(exit::OK)
}

/// What the gate would do, without storing anything.
fn preview(wired: &Wired, text: &str, row: Row, out: &Out) -> Result<u8> {
    let verdict = wired.call.screen().verdict(text, row, person::entry().trust());
    match &verdict.stored {
        Some(stored) => out.line(super::show::visible(stored)),
        None => out.say("this would not be stored as it is"),
    }
    Ok(exit::OK)
}

/// How a text arrives. Where a person is present, a mere possibility of a secret is asked about.
fn asked(wired: &Wired, text: &str, row: Row, out: &Out) -> Result<Entry> {
    let mut entry = person::entry();
    if !person::is_present() {
        return Ok(entry);
    }
    let findings = wired.call.screen().verdict(text, row, entry.trust()).findings;
    let secrets: Vec<_> = findings.iter().filter(|(finding, _)| finding.class == Class::Secret).collect();
    let rules: Vec<&str> = secrets.iter().map(|(finding, _)| finding.rule.as_ref()).collect();
    if !secrets.is_empty() && secrets.iter().all(|(finding, _)| finding.level == Level::Possible) {
        out.note(format!("this may hold a secret ({})", rules.join(", ")));
        if !person::confirm("Store it anyway?", false)? {
            return Err(Fault::new(Code::GateRefused, "not stored, as you said")
                .hint("leave the value out and try again"));
        }
        entry.confirmed = true;
    }
    Ok(entry)
}

/// Changes what can be changed: a fact's words (the new ones supersede the old), how sure it is, how long an episode is kept.
pub(super) fn edit(wired: &Wired, call: &Edit, id: &MemoryId, out: &Out) -> Result<u8> {
    let flags = [
        ("--title", call.title.is_some()),
        ("--tag", !call.tag.is_empty()),
        ("--topic", call.topic.is_some()),
        ("--category", call.category.is_some()),
        ("--message", call.message.is_some()),
    ];
    super::edit::no_flags(call, id, &flags)?;
    let tiers = wired.tiers()?;
    let fields = pairs(&call.field)?;
    let mut notes = Vec::new();
    let mut now = id.as_str().to_owned();
    for (name, value) in &fields {
        let number = |hint: &str| {
            value
                .parse::<f64>()
                .map_err(|_| Fault::new(Code::Usage, format!("`{value}` is no number")).hint(hint.to_owned()))
        };
        match name.as_str() {
            "confidence" => drop(tiers.set_confidence(&now, number("use 0 to 1")?)?),
            "days" => drop(tiers.set_days(&now, number("use 1 to 365")? as u32)?),
            _ => {
                return Err(Fault::new(Code::Usage, format!("`{name}` cannot be changed"))
                    .hint("use --text for a fact's words, --field confidence=0.8, --field days=30"));
            }
        }
    }
    let words = match &call.text {
        Some(text) => Some(text.clone()),
        None if !fields.is_empty() => None,
        None => {
            let before = super::edit::current(wired, call, id)?;
            let after = super::edit::in_editor(wired, "txt", before.body.as_bytes())?;
            let Some(after) = after else {
                out.say("nothing changed");
                return Ok(exit::OK);
            };
            Some(String::from_utf8_lossy(&after).trim().to_owned())
        }
    };
    if let Some(words) = words {
        super::edit::current(wired, call, id)?;
        let entry = asked(wired, &words, Row::Fact, out)?;
        let kept = tiers.reword(&now, &words, entry)?;
        notes = kept.notes;
        now = kept.stored.id;
    }
    out.answer(&serde_json::json!({ "status": "changed", "id": now, "notes": notes }), || {
        out.line(format!("{} {}", out.style.green("changed"), out.style.bold(&now)));
        notes.iter().for_each(|note| out.note(note));
    });
    Ok(exit::OK)
}

fn answer(kept: &Kept, out: &Out) {
    out.answer(kept, || {
        let word = if kept.status == "created" { "saved" } else { "already known" };
        out.line(format!("{} {}", out.style.green(word), out.style.bold(&kept.stored.id)));
        kept.notes.iter().for_each(|note| out.note(note));
    });
}

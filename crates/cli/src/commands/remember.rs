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
use heirloom_engine::shelf::tiers::{FactWords, Kept, Role, Tiers, Turn};

pub(crate) fn run(args: &Args, call: &Remember, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    out.warnings(&wired.loaded.warnings);
    let words = FactWords {
        tags: call.tag.clone(),
        confidence: call.confidence,
        ..FactWords::of(call.text.join(" "))
    };
    keep(&wired, words, out)
}

pub(super) fn fact(wired: &Wired, call: &Add, out: &Out) -> Result<u8> {
    only(call, &["--tag", "--confidence"])?;
    let words = FactWords {
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
    let verdict = wired.engine.screen().verdict(text, row, person::entry().trust());
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
    let findings = wired.engine.screen().verdict(text, row, entry.trust()).findings;
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

pub(super) fn edit(wired: &Wired, call: &Edit, id: &MemoryId, out: &Out) -> Result<u8> {
    let tiers: Tiers<'_> = wired.tiers()?;
    if call.title.is_some() || !call.tag.is_empty() || call.field.is_empty() {
        return Err(Fault::new(Code::Usage, "say what to change")
            .hint("use --field content=\"…\" or confidence=0.8 for a fact, days=30 for an episode"));
    }
    for (name, value) in pairs(&call.field)? {
        let number =
            || value.parse::<f64>().map_err(|_| Fault::new(Code::Usage, format!("`{value}` is no number")));
        let (id, status) = match name.as_str() {
            "content" => {
                let entry = asked(wired, &value, Row::Fact, out)?;
                let kept = tiers.reword(id.as_str(), &value, entry)?;
                (kept.stored.id, "superseded")
            }
            "confidence" => (tiers.set_confidence(id.as_str(), number()?)?.id, "changed"),
            "days" => (tiers.set_days(id.as_str(), number()? as u32)?.id, "changed"),
            _ => {
                return Err(Fault::new(Code::Usage, format!("`{name}` cannot be changed"))
                    .hint("use content, confidence or days"));
            }
        };
        out.answer(&serde_json::json!({ "status": status, "id": id }), || {
            out.line(format!("{} {}", out.style.green(status), out.style.bold(&id)));
        });
    }
    Ok(exit::OK)
}

fn answer(kept: &Kept, out: &Out) {
    out.answer(kept, || {
        let word = if kept.status == "created" { "saved" } else { "already known" };
        out.line(format!("{} {}", out.style.green(word), out.style.bold(&kept.stored.id)));
        kept.notes.iter().for_each(|note| out.note(note));
    });
}

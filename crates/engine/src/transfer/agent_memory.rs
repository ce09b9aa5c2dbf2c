//! What coding agents have written down by themselves, and what people have written down for them.
//!
//! Comes in: instruction files (`CLAUDE.md`, `AGENTS.md`, `.cursorrules`, …) and agents' own memory files. Goes out: each statement as a record of the kind
//! its words say, or as a note where it lacks a field of that kind, word for word; what an agent learned about working here as preferences, the rest as
//! notes. Every line that nothing is made of is named with the reason. Never here: what is about the person and not about the project; what names another
//! project; the same text twice, whenever its file was touched.

use super::arrival::{Arrival, source_part};
use super::markdown::{front_matter, sections};
use super::run::Run;
use super::sort::Source;
use super::statements::statements;
use crate::shelf::records::Given;
use heirloom_core::{ShelfName, fault::Result, time};

/// Takes what an instruction file states.
pub(super) fn instructions(run: &mut Run<'_>, source: &Source) -> Result<()> {
    let Some((mut arrival, text)) = Arrival::of_text(run, source, ShelfName::Records)? else { return Ok(()) };
    for one in statements(&text) {
        let from = arrival.place(one.line);
        match one.form.why() {
            Some(why) => arrival.leave(&from, &one.text, why),
            None => arrival.statement(&from, &one.text)?,
        }
    }
    Ok(())
}

/// Takes a file of an agent's own memory.
pub(super) fn memory(run: &mut Run<'_>, source: &Source) -> Result<()> {
    let Some((mut arrival, text)) = Arrival::of_text(run, source, ShelfName::Notes)? else { return Ok(()) };
    let (fields, body) = front_matter(&text);
    let field = |name: &str| {
        fields.iter().find(|(key, value)| *key == name && !value.is_empty()).map(|(_, value)| *value)
    };
    let at = field("modified").and_then(time::parse).unwrap_or(arrival.at);
    let from = source.shown.as_str();
    match field("type") {
        Some("user") => {
            arrival.leave(from, body, "about you, not about the project");
            let note = format!("{from}: it is about you, not about the project, and stays where it is");
            arrival.run.report.notes.push(note);
            Ok(())
        }
        Some("feedback") => {
            let title = field("description").or_else(|| field("name")).map(str::to_owned);
            let sentence = body.trim().to_owned();
            arrival.record(from, "preference", Given { sentence, title, ..Given::default() })
        }
        Some(_) => arrival.note(from, field("description").unwrap_or_default(), body.trim(), at),
        None => {
            for section in sections(body) {
                let offset = section.text.as_ptr() as usize - text.as_ptr() as usize;
                let from = arrival.place(text[..offset].lines().count() + 1);
                if is_of_here(section.text, source) {
                    arrival.note(&from, section.title, section.text, at)?;
                } else {
                    arrival.leave(&from, &source_part(section.text), "about another project");
                }
            }
            Ok(())
        }
    }
}

/// Whether a part of a file that speaks of several projects speaks of this one.
fn is_of_here(text: &str, source: &Source) -> bool {
    let Some(folder) = source.only_about.as_deref().and_then(|folder| folder.to_str()) else { return true };
    let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    text.match_indices(folder).any(|(at, _)| !text[at + folder.len()..].starts_with(goes_on))
}

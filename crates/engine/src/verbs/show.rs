//! Show, history, and the citations of memories.
//!
//! Comes in: a name. Goes out: a memory with all its kind keeps, what it came from and what it cites; or how it came to be; or its stored
//! bytes. Never here: a memory that is not for the caller, which is as if it were not there.

use super::names::{self, Enough};
use super::{may_read, may_read_of, seen, told, undo};
use crate::call::Call;
use crate::files;
use crate::shelf::anchors::{self, Anchored, Cited, Freshness};
use crate::shelf::door::back;
use crate::shelf::links;
use crate::shelf::vault::Image;
use crate::shelf::{Change, unknown};
use crate::undo::Before;
use heirloom_core::{Code, Fault, Memory, MemoryId, ShelfName, Verb, fault::Result};
use serde::{Deserialize, Serialize};

pub use crate::shelf::links::{Link, Links};

/// The largest stored file that is shown as it is.
const STORED_MAX: u64 = 1 << 30;

/// Which memory is asked about.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Show {
    /// Its id, or a name that fits only one.
    pub id: String,
}

/// A memory with what it came from, what it became and what it cites.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Shown {
    /// The memory.
    #[serde(flatten)]
    pub memory: Memory,
    /// What it came from and what it became.
    #[serde(skip_serializing_if = "Links::is_empty")]
    pub links: Links,
    /// The code it cites and what became of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub anchors: Vec<Cited>,
}

fn found(call: &Call, verb: Verb, ask: &Show) -> Result<Memory> {
    may_read(call, verb)?;
    let id = names::find(call, &ask.id, Enough::Part)?;
    may_read_of(call, verb, &id)?;
    seen(call, &id)
}

/// A memory.
pub fn show(call: &Call, ask: &Show) -> Result<Shown> {
    let (memory, _) = told::fit(call, found(call, Verb::Show, ask)?);
    let links = links::of(call.project().root(), memory.id.as_str())?;
    let cited = anchors::check(call, memory.id.as_str())?;
    let anchors = cited.map(|cited| told::fit_cited(call, cited).anchors).unwrap_or_default();
    Ok(Shown { memory, links, anchors })
}

/// A memory's stored bytes: its file, or in the vault its lines. Held back whole where something would be cut out.
pub fn stored(call: &Call, ask: &Show) -> Result<Vec<u8>> {
    let memory = found(call, Verb::Show, ask)?;
    let (memory, mut cut) = told::fit(call, memory);
    let id = &memory.id;
    let bytes = match (id.kind().shelf(), &memory.path) {
        (ShelfName::Vault, _) => {
            let bytes = call.vault().bytes()?;
            let mut lines = Vec::new();
            for version in Image::of(&bytes).versions(id.name()) {
                lines.extend_from_slice(version.bytes);
                lines.push(b'\n');
            }
            lines
        }
        (_, Some(path)) => files::read(&call.project().folder().join(path), STORED_MAX)?,
        (_, None) => return Err(unknown(id.as_str())),
    };
    if !call.caller().is_person() {
        // Older lines and the rest of a file may hold what the memory itself does not.
        let text = String::from_utf8_lossy(&bytes);
        cut |= call.screen().redacted(&text) != text;
    }
    if cut {
        return Err(Fault::new(Code::GateRefused, "this holds what the gate would refuse; it is held back")
            .fact("id", id.as_str())
            .hint("a person sees all of it in a terminal; `heirloom review` names the rule"));
    }
    Ok(bytes)
}

/// One step in the life of a memory.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Past {
    /// What was done.
    #[serde(flatten)]
    pub change: Change,
    /// The number by which `undo` takes it back, as long as that can be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
}

/// The history of a memory, oldest first, with the numbers of what can be taken back.
pub fn history(call: &Call, ask: &Show) -> Result<Vec<Past>> {
    may_read(call, Verb::History)?;
    let id = names::find(call, &ask.id, Enough::Part)?;
    may_read_of(call, Verb::History, &id)?;
    let shelf = call.shelf_of(&id)?;
    if shelf.get(&id)?.is_some_and(|memory| !call.caller().sees().sees(&memory)) {
        return Err(unknown(id.as_str()));
    }
    let mut changes = links::history(call, shelf.as_ref(), &id)?;
    if !call.caller().is_person() {
        for change in &mut changes {
            change.summary = told::fit_text(call, &change.summary);
            for value in [&mut change.old, &mut change.new].into_iter().flatten() {
                told::redact_in(call.screen(), value);
            }
        }
    }
    let past = changes.into_iter().map(|change| Past { change, undo: None }).collect();
    Ok(numbered(past, undo::of(call, &id)?))
}

/// Gives each change that can be taken back its number: at the step of the same moment, or as a step of its own where the memory itself does
/// not tell of it.
fn numbered(mut past: Vec<Past>, mut changes: Vec<undo::Change>) -> Vec<Past> {
    changes.reverse();
    for change in changes {
        let same = |step: &&mut Past| step.undo.is_none() && step.change.at == change.at;
        if let Some(step) = past.iter_mut().find(same) {
            step.undo = Some(change.number);
            continue;
        }
        let at = past.iter().rposition(|step| step.change.at <= change.at).map_or(0, |at| at + 1);
        let actions: Vec<String> = change.actions.iter().map(|action| action.replace('_', " ")).collect();
        let summary = format!("{} by {}", actions.join(", "), change.by);
        let told = Change { at: change.at, summary, field: None, old: None, new: None };
        past.insert(at, Past { change: told, undo: Some(change.number) });
    }
    past
}

/// A text that a memory has or had.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Version {
    /// The number of the change that replaced it; `now` for the present one.
    pub number: String,
    /// When it was replaced, or last changed.
    pub at: String,
    /// Who replaced it; nobody the present one.
    pub by: String,
    /// The text as its shelf stores it, a field to a line.
    pub text: String,
}

/// The texts a memory had, as far as they are kept, oldest first; the present one is the last.
pub fn versions(call: &Call, ask: &Show) -> Result<Vec<Version>> {
    let memory = found(call, Verb::History, ask)?;
    let at = memory.updated_at.clone().or(memory.created_at.clone()).unwrap_or_default();
    let mut all = Vec::new();
    if memory.kind.shelf() != ShelfName::Tiers {
        for kept in back::groups(call)?.into_values().flatten().filter(|kept| kept.id == memory.id.as_str()) {
            if let Before::Text { text, .. } = kept.was {
                all.push(Version { number: format!("p{}", kept.seq), at: kept.at, by: kept.by, text });
            }
        }
    }
    let present = match memory.kind.shelf() {
        ShelfName::Tiers => memory.body.clone(),
        _ => call.shelf_of(&memory.id)?.raw(&memory.id)?.unwrap_or_default(),
    };
    all.push(Version { number: "now".to_owned(), at, by: String::new(), text: present });
    for version in &mut all {
        version.text = told::fit_text(call, &undo::readable(&version.text));
    }
    // A change of status alone leaves the same text behind.
    all.dedup_by(|later, earlier| later.text == earlier.text && later.number != "now");
    Ok(all)
}

/// Which citations are asked for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Citations {
    /// Only this memory's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Only where cited code changed or is gone.
    pub stale: bool,
}

/// The code memories cite, and whether it is still what it was.
pub fn citations(call: &Call, ask: &Citations) -> Result<Vec<Anchored>> {
    may_read(call, Verb::Show)?;
    let mut all = match &ask.id {
        None => anchors::all(call)?,
        Some(name) => {
            let id = names::find(call, name, Enough::Part)?;
            anchors::check(call, id.as_str())?.into_iter().collect()
        }
    };
    all.retain(|one| (!ask.stale || one.state >= Freshness::Changed) && is_for(call, &one.id));
    Ok(all.into_iter().map(|one| told::fit_cited(call, one)).collect())
}

/// The lines that a memory cites, as the files have them now, in the order of its citations.
pub fn cited_lines(call: &Call, id: &MemoryId) -> Result<Vec<Option<String>>> {
    may_read_of(call, Verb::Show, id)?;
    seen(call, id)?;
    let lines = anchors::lines(call, id.as_str())?;
    Ok(lines.into_iter().map(|text| text.map(|text| told::fit_text(call, &text))).collect())
}

/// Whether a memory may be told of. Only the vault keeps some for others; what is gone is nobody's secret.
fn is_for(call: &Call, id: &str) -> bool {
    let Some(id) = MemoryId::parse(id).filter(|id| id.kind().shelf() == ShelfName::Vault) else {
        return true;
    };
    let memory = call.shelf_of(&id).and_then(|shelf| shelf.get(&id));
    memory.ok().flatten().is_none_or(|memory| call.caller().sees().sees(&memory))
}

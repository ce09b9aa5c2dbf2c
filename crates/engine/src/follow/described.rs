//! A memory as the index sees it.
//!
//! Comes in: a memory of any shelf, and what was forgotten. Goes out: a document, held back if the gate would refuse its text, its category is
//! off, or it was forgotten and came back. Never here: a change to the index.

use crate::call::Call;
use crate::gate::policy::{Act, Row};
use crate::gate::scan::Class;
use crate::index::document::{self, Document};
use crate::shelf::forgets::Forgets;
use crate::shelf::provenance;
use heirloom_core::{Memory, ShelfName, Status, Trust, time};

/// The document of a memory.
pub(crate) fn document(call: &Call, forgotten: &Forgets, memory: &Memory) -> Document {
    let when = [&memory.occurred_at, &memory.updated_at, &memory.created_at];
    let when = when.into_iter().flatten().find_map(|text| time::parse(text));
    let is_note = memory.kind.shelf() == ShelfName::Notes;
    Document {
        id: memory.id.as_str().to_owned(),
        kind: memory.kind.name().to_owned(),
        title: memory.title.clone(),
        tags: memory.tags.clone(),
        body: memory.body.clone(),
        // Notes under one subject are parts of one thing.
        group: if is_note { memory.title.clone() } else { String::new() },
        occurred_at: when.map_or(0, |at| at.as_second()),
        trust: match memory.trust {
            Trust::High => document::Trust::High,
            Trust::Medium => document::Trust::Medium,
            Trust::Low => document::Trust::Low,
        },
        status: self::status(call, forgotten, memory),
        confidence: memory.confidence.unwrap_or(1.0) as f32,
        scope: memory.scope.to_string(),
        applies_to: memory.applies_to.clone(),
        file: memory.path.clone().unwrap_or_default(),
        source: memory.source.name().to_owned(),
        version: short(&memory.content_hash).to_owned(),
        ..Document::default()
    }
}

fn status(call: &Call, forgotten: &Forgets, memory: &Memory) -> document::Status {
    let id = memory.id.as_str();
    let shelf = memory.kind.shelf();
    let off = shelf == ShelfName::Records
        && !call.settings().category(memory.kind.name()).is_some_and(|c| c.enabled);
    let came_back = forgotten.contains(id) && provenance::came_back(call, id, &memory.content_hash);
    if off || came_back || is_refused(call, memory) {
        return document::Status::Held;
    }
    match memory.status {
        Status::Active => document::Status::Active,
        Status::Retired | Status::Archived | Status::Superseded => document::Status::Retired,
    }
}

/// Whether the gate would refuse, or on the notes shelf cut, what a memory says.
fn is_refused(call: &Call, memory: &Memory) -> bool {
    let row = match memory.kind.shelf() {
        ShelfName::Records => Row::Records,
        ShelfName::Topics => Row::Topics,
        ShelfName::Vault => Row::Vault,
        ShelfName::Notes | ShelfName::Tiers => Row::Notes,
    };
    let text = format!("{}\n{}\n{}", memory.title, memory.tags.join(" "), memory.body);
    if call.screen().would_refuse(&text, row).is_some() {
        return true;
    }
    if row != Row::Notes {
        return false;
    }
    let verdict = call.screen().verdict(&text, row, heirloom_core::Channel::Repository.trust());
    let cut = |class: Class, act: Act| matches!(class, Class::Secret | Class::Identity) && act >= Act::Redact;
    verdict.findings.iter().any(|(finding, act)| cut(finding.class, *act))
}

/// The first characters of a content hash: enough to see a change by.
pub(super) fn short(hash: &str) -> &str {
    hash.get(..16).unwrap_or(hash)
}

//! Adding a record: a category, and a sentence with fields or a whole document.
//!
//! Comes in: [`NewRecord`]. Goes out: the record in its category's folder, under the name its title makes. A retired record of that name may be
//! a person's: then this waits. Never here: the order of a record's checks, which is its shelf's.

use super::super::{Added, Waiting, asked_of, waiting};
use super::Add;
use crate::call::Call;
use crate::gate::Entry;
use crate::shelf::anchors::Anchor;
use crate::shelf::records::{Composed, Document, Given, Missing, Said, Target, compose, missing, name_for};
use heirloom_core::settings::Category;
use heirloom_core::{Code, Fault, May, MemoryId, Verb, fault::Result, text, time};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A record to save.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewRecord {
    /// `decision`, `runbook`, …, or a category of the settings.
    pub category: String,
    /// What to remember, in a sentence; what stands after "because" is the reason.
    #[serde(default)]
    pub text: String,
    /// Its title; made from the sentence if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Content fields, name and value; a name may repeat for lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<(String, String)>,
    /// Tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Files it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// How sure its writer is, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The whole record as its file has it, in place of all of the above but the category.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<Value>,
}

/// The category of that name.
pub(super) fn category<'c>(call: &'c Call, name: &str) -> Result<&'c Category> {
    let settings = call.settings();
    settings.category(name).ok_or_else(|| {
        Fault::new(Code::Usage, format!("there is no kind `{name}`")).fact("category", name).hint(format!(
            "use one of {}, or `heirloom config category add {name}`",
            crate::verbs::list::kinds(call)
        ))
    })
}

fn composed(call: &Call, new: &NewRecord) -> Result<Composed> {
    match &new.document {
        Some(Value::Object(fields)) => {
            Ok(Composed { document: Document::of(fields.clone()), assumed: Vec::new() })
        }
        Some(_) => Err(Fault::new(Code::Input, "the input is not a record")
            .hint("give one JSON object with title, tags and content")),
        None => {
            let category = category(call, &new.category)?;
            compose(category, &given(new), &time::format(call.project().world().now))
        }
    }
}

fn given(new: &NewRecord) -> Given {
    Given {
        sentence: new.text.clone(),
        reason: None,
        title: new.title.clone(),
        fields: new.fields.clone(),
        tags: new.tags.clone(),
        files: new.files.clone(),
        confidence: new.confidence,
    }
}

/// What a record of this kind still lacks.
pub(super) fn lacks(call: &Call, new: &NewRecord) -> Result<Vec<Missing>> {
    match new.document {
        Some(_) => Ok(Vec::new()),
        None => missing(category(call, &new.category)?, &given(new)),
    }
}

/// Where a record goes: below its category, under its own id or the name its title makes.
fn placed(call: &Call, category: &Category, document: &Document) -> Result<(String, Target)> {
    let name = document
        .text("id")
        .filter(|id| !id.is_empty())
        .map_or_else(|| name_for(document.text("title").unwrap_or_default()), text::slug);
    let records = call.records();
    let shown = call.project().shown(&records.folder(category).join(format!("{name}.json")));
    Ok((name, records.target(&shown, call.project().folder())?))
}

pub(super) fn add(call: &Call, new: &NewRecord, entry: Entry) -> Result<Added> {
    let category = category(call, &new.category)?;
    let Composed { document, mut assumed } = composed(call, new)?;
    let (name, target) = placed(call, category, &document)?;
    let mut said = Said::default();
    call.records().create(&target, category, document, entry, &mut said)?;
    assumed.extend(said.fixes);
    Ok(Added {
        status: "created",
        id: MemoryId::new(&category.kind, &name),
        path: Some(target.shown),
        notes: said.warnings,
        assumed,
        from: None,
        would: None,
    })
}

/// A retired record of the same name that is a person's is replaced only with a person's yes.
pub(super) fn held(call: &Call, new: &NewRecord, ask: &Add, cited: &[Anchor]) -> Result<Option<Waiting>> {
    let category = category(call, &new.category)?;
    let document = composed(call, new)?.document;
    let (_, target) = placed(call, category, &document)?;
    held_at(call, category, &target, || {
        let whole = NewRecord {
            category: category.name().to_owned(),
            document: Some(document.to_value()),
            ..NewRecord::default()
        };
        Add {
            new: super::New::Record(whole),
            cites: cited.iter().map(Anchor::shown).collect(),
            ..ask.clone()
        }
    })
}

/// The same for a place that is known.
pub(in crate::verbs) fn held_at(
    call: &Call,
    category: &Category,
    target: &Target,
    request: impl FnOnce() -> Add,
) -> Result<Option<Waiting>> {
    let records = call.records();
    // What cannot be replaced at all is refused by the shelf, in its own words.
    if records.expect_free(target).is_err() {
        return Ok(None);
    }
    let Some(memory) = records.memory_at(&target.path, category.name())? else { return Ok(None) };
    match asked_of(call, Verb::Supersede, &memory, call.stands_behind(&memory)?)? {
        May::Waits => waiting::wait(call, Verb::Supersede, &memory, &request()).map(Some),
        _ => Ok(None),
    }
}

pub(super) fn rehearse(call: &Call, new: &NewRecord) -> Result<Added> {
    let category = category(call, &new.category)?;
    let Composed { document, assumed } = composed(call, new)?;
    let (name, target) = placed(call, category, &document)?;
    let would = String::from_utf8_lossy(&document.to_bytes()).into_owned();
    let id = MemoryId::new(&category.kind, &name);
    Ok(Added { assumed, ..Added::rehearsed(id, Some(target.shown), Some(would)) })
}

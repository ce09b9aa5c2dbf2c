//! Auto-fix: small mistakes of a writer that are put right instead of refused.
//!
//! Comes in: a document as it arrived. Goes out: the document, and a line for every correction worth saying. Never here: making
//! up content.

use super::document::Document;
use super::schema::is_id;
use crate::gate::fields::without_secrets;
use heirloom_core::text::{clean_tag, clean_title, slug};
use heirloom_core::time;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Most tags a record has.
pub(super) const TAG_MAX: usize = 12;

/// What is being done, where it matters.
#[derive(Debug, Clone, Copy)]
pub(super) enum Doing<'a> {
    /// A new record.
    Create,
    /// A change to one with these tags.
    Update(&'a [String]),
}

/// Corrects a document in place; `now` as it is written. Says what it did, `field: what`.
pub(super) fn auto_fix(document: &mut Document, doing: Doing<'_>, now: &str, said: &mut Vec<String>) {
    if blank(document, "schema_version") {
        document.set("schema_version", "1.0");
        said.push("schema_version: set to '1.0'".to_owned());
    }
    if blank(document, "updated_at") {
        document.set("updated_at", now);
        said.push("updated_at: set to the current time".to_owned());
    }
    if matches!(doing, Doing::Create) && blank(document, "created_at") {
        document.set("created_at", now);
        said.push("created_at: set to the current time".to_owned());
    }
    // A time that has not come yet would be the newest for as long as it says.
    for field in ["created_at", "updated_at"] {
        let ahead = |text: &str| time::parse(text) > time::parse(now);
        // An update is given the current time anyway.
        if matches!(doing, Doing::Create) && document.text(field).is_some_and(ahead) {
            document.set(field, now);
            said.push(format!("{field}: was in the future, set to the current time"));
        }
        // The field has room for a time and for nothing else.
        if matches!(doing, Doing::Create)
            && document.text(field).is_some_and(|text| time::parse(text).is_none())
        {
            document.set(field, now);
            said.push(format!("{field}: is not a time, set to the current time"));
        }
    }
    if let Some(tag) = document.text("tags").map(str::to_owned) {
        document.set("tags", vec![tag]);
        said.push("tags: one text made into a list".to_owned());
    }
    if let Some(id) = document.text("id").map(str::to_owned)
        && !id.is_empty()
        && !is_id(&id)
    {
        let fixed = slug(&id);
        said.push(match without_secrets(&id) {
            // Neither as it was given nor as it was folded.
            Cow::Owned(_) => "id: written as a plain name".to_owned(),
            Cow::Borrowed(id) => format!("id: '{id}' written as '{fixed}'"),
        });
        document.set("id", fixed);
    }
    if let Some(confidence) = document.get("confidence").filter(|v| v.is_number()).and_then(Value::as_f64)
        && !(0.0..=1.0).contains(&confidence)
    {
        let kept = confidence.clamp(0.0, 1.0);
        document.set("confidence", json!(kept));
        said.push(format!("confidence: clamped to {kept:.1}"));
    }
    if let Some(title) = document.text("title").map(str::to_owned) {
        let trimmed = title.trim();
        if trimmed != title {
            said.push("title: white space around it removed".to_owned());
        }
        let clean = clean_title(trimmed);
        if clean != trimmed {
            said.push("title: control characters and index marks removed".to_owned());
        }
        document.set("title", clean);
    }
    fix_tags(document, doing, said);
}

fn blank(document: &Document, key: &str) -> bool {
    document.get(key).is_none_or(|value| value.as_str() == Some(""))
}

fn fix_tags(document: &mut Document, doing: Doing<'_>, said: &mut Vec<String>) {
    if !document.0.get("tags").is_some_and(Value::is_array) {
        return;
    }
    let mut tags: BTreeSet<String> =
        document.tags().into_iter().map(clean_tag).filter(|tag| !tag.is_empty()).collect();
    if tags.is_empty() {
        tags.insert("untagged".to_owned());
        said.push("tags: none left, set to 'untagged'".to_owned());
    }
    if tags.len() > TAG_MAX {
        // Tags the record already has come first: a writer who adds too many must not lose an old one unasked. At the cap every new tag
        // puts another one out, and the order of the alphabet says which.
        let old: &[String] = match doing {
            Doing::Update(old) if old.len() < TAG_MAX => old,
            _ => &[],
        };
        let (kept, new): (Vec<String>, Vec<String>) = tags.into_iter().partition(|tag| old.contains(tag));
        tags = kept.into_iter().chain(new).take(TAG_MAX).collect();
        said.push(format!("tags: cut to the {TAG_MAX} a record may have"));
    }
    document.set("tags", tags.into_iter().collect::<Vec<_>>());
}

//! Merge protections: what an update may not lose.
//!
//! Comes in: the stored document and the one that would replace it. Goes out: change entries for what changed by itself, warnings,
//! or a `MERGE_ERROR` that names field and rule. Never here: writing.

use super::document::{Document, change};
use super::fix::TAG_MAX;
use heirloom_core::text::clean_tag;
use heirloom_core::{Code, Fault, fault::Result};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// What an update adds by itself.
#[derive(Debug, Default)]
pub(super) struct Merged {
    /// A change entry for every content field that changed.
    pub(super) entries: Vec<Value>,
    /// What is allowed but worth a word.
    pub(super) warnings: Vec<String>,
}

fn refused(field: &str, rule: &str, message: String) -> Fault {
    Fault::new(Code::Merge, message).fact("field", field).fact("rule", rule)
}

/// Checks an update. `exists` says whether a related file is there.
pub(super) fn check(
    old: &Document,
    new: &Document,
    date: &str,
    exists: &dyn Fn(&str) -> bool,
) -> Result<Merged> {
    let swapped = tags(old, new, date)?;
    related_files(old, new, exists)?;
    let (had, has) = (old.changes().len(), new.changes().len());
    if has < had {
        return Err(refused("changes", "append-only", "the change list may not get shorter".to_owned())
            .fact("old_count", had.to_string())
            .fact("new_count", has.to_string())
            .hint("Keep every existing change entry and add new ones at the end."));
    }
    let mut merged = content(old, new, date);
    merged.entries.extend(swapped);
    Ok(merged)
}

/// Fields that no update changes, of which a stored file may have none.
const FIXED: [&str; 2] = ["created_at", "schema_version"];

/// What an input says of them, before anything is put right in it.
pub(super) fn fixed_in(input: &Document) -> Vec<(&'static str, Value)> {
    FIXED.into_iter().filter_map(|field| Some((field, input.get(field)?.clone()))).collect()
}

/// A value where the stored file has none is a change like any other.
pub(super) fn check_fixed(old: &Document, brings: &[(&'static str, Value)]) -> Result<()> {
    match brings.iter().find(|(field, _)| !old.0.contains_key(*field)) {
        None => Ok(()),
        Some((field, new)) => {
            Err(refused(field, "immutable", format!("an update may not give a record a `{field}`"))
                .fact("old", "null")
                .fact("new", super::view::plain(new))
                .hint(format!("Leave {field} out; `heirloom verify` says what the stored file lacks.")))
        }
    }
}

/// Every update must say what changed.
pub(super) fn check_new_entry(old: &Document, total: usize) -> Result<()> {
    let had = old.changes().len();
    if total > had {
        return Ok(());
    }
    Err(refused(
        "changes",
        "append-only (a new entry is required)",
        "an update must say what changed".to_owned(),
    )
    .fact("old_count", had.to_string())
    .fact("total_count", total.to_string())
    .hint("Add at least one entry to changes: {\"date\": …, \"summary\": …}."))
}

/// Below the cap tags only come; at the cap one may go for another, and that swap is a change of its own.
fn tags(old: &Document, new: &Document, date: &str) -> Result<Option<Value>> {
    // One form on both sides: a capital in a hand-written file is no removal.
    let clean = |document: &Document| -> BTreeSet<String> {
        document.tags().into_iter().map(clean_tag).filter(|tag| !tag.is_empty()).collect()
    };
    let (had, has) = (clean(old), clean(new));
    let removed: Vec<&String> = had.difference(&has).collect();
    let added: Vec<&String> = has.difference(&had).collect();
    if removed.is_empty() {
        return Ok(None);
    }
    let shown = serde_json::to_string(&removed).unwrap_or_default();
    if had.len() < TAG_MAX {
        let rule = format!("grow-only (below the cap of {TAG_MAX})");
        return Err(refused("tags", &rule, "an update may not remove tags".to_owned())
            .fact("removed", shown)
            .hint(format!("Keep these tags; the record has {} of {TAG_MAX}.", had.len())));
    }
    if added.is_empty() {
        return Err(refused(
            "tags",
            "no net shrink without addition",
            "a tag may only go if another comes".to_owned(),
        )
        .fact("removed", shown)
        .hint("Add a new tag for one that goes, or keep them all."));
    }
    Ok(Some(change(date, "tags changed", "tags", json!(removed), json!(added))))
}

fn related_files(old: &Document, new: &Document, exists: &dyn Fn(&str) -> bool) -> Result<()> {
    let files = |document: &Document| -> Vec<String> {
        let list =
            document.get("related_files").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let has = files(new);
    match files(old).into_iter().find(|file| !has.contains(file) && exists(file)) {
        None => Ok(()),
        Some(file) => Err(refused(
            "related_files",
            "grow-only (the file is still there)",
            "an update may not drop a file that exists".to_owned(),
        )
        .fact("removed", file)
        .hint("Only references to files that no longer exist can be removed.")),
    }
}

fn content(old: &Document, new: &Document, date: &str) -> Merged {
    let empty = Map::new();
    let (had, has) = (old.content().unwrap_or(&empty), new.content().unwrap_or(&empty));
    let mut merged = Merged::default();
    let added = has.keys().filter(|key| !had.contains_key(*key));
    for key in had.keys().chain(added) {
        let before = had.get(key).unwrap_or(&Value::Null);
        let after = has.get(key).unwrap_or(&Value::Null);
        if before == after {
            continue;
        }
        let field = format!("content.{key}");
        match (before, after) {
            (Value::Array(before), Value::Array(after)) if after.len() < before.len() => {
                merged.warnings.push(format!(
                    "{field}: list got shorter, {} to {} items",
                    before.len(),
                    after.len()
                ));
            }
            (Value::Array(_) | Value::Object(_), _) => {}
            _ => {
                let summary = format!("{field} changed");
                merged.entries.push(change(date, &summary, &field, before.clone(), after.clone()));
            }
        }
    }
    merged
}

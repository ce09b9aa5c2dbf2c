//! A record's file: whether it is new here, known or to be left out.
//!
//! Comes in: the file's bytes. Goes out: a record that could be stored, or what it is instead. Never here: storing it, except in [`take`].

use super::report::RETIRED;
use super::run::Run;
use super::sort::{MAX_FILE, Source};
use crate::call::Call;
use crate::files;
use crate::gate::Entry;
use crate::gate::policy::Row;
use crate::shelf::forgets::Forgets;
use crate::shelf::records::{Document, Said, Target, name_for};
use heirloom_core::settings::Category;
use heirloom_core::{Code, Fault, MemoryId, ShelfName, Status, fault::Result, text};
use serde_json::Value;
use std::collections::HashSet;

/// Takes a record's file.
pub(super) fn take(run: &mut Run<'_>, source: &Source, forgotten: &Forgets) -> Result<()> {
    let outcome = files::read(&source.path, MAX_FILE)
        .and_then(|bytes| stored(run.call, source, &bytes, run.entry, forgotten));
    match outcome {
        Ok(Took::New(id)) => run.stored(ShelfName::Records, id, source),
        Ok(Took::Known) => run.report.at(ShelfName::Records).known += 1,
        Ok(Took::LeftOut) => run.report.leave(ShelfName::Records, &source.shown, "the whole file", RETIRED),
        Err(fault) => run.report.refuse(ShelfName::Records, source.shown.clone(), fault)?,
    }
    Ok(())
}

enum Took {
    New(String),
    Known,
    LeftOut,
}

fn stored(call: &Call, source: &Source, bytes: &[u8], entry: Entry, forgotten: &Forgets) -> Result<Took> {
    let new = match weighed(call, source, bytes, forgotten)? {
        Weighed::New(new) => new,
        Weighed::Known => return Ok(Took::Known),
        Weighed::LeftOut => return Ok(Took::LeftOut),
    };
    let records = call.records();
    records.create(&new.target, new.category, new.document, entry, &mut Said::default())?;
    if new.archived {
        records.archive_target(&new.target, Some("archived where it was imported from"), entry)?;
    }
    Ok(Took::New(new.id.to_string()))
}

/// What a record's file is to this project.
pub(super) enum Weighed<'c> {
    /// Something to store.
    New(Box<NewRecord<'c>>),
    /// Here already.
    Known,
    /// Retired where it comes from.
    LeftOut,
}

/// A record that could be stored.
pub(super) struct NewRecord<'c> {
    pub(super) id: MemoryId,
    pub(super) category: &'c Category,
    pub(super) target: Target,
    pub(super) document: Document,
    pub(super) archived: bool,
}

/// Looks at a record's file without storing anything.
pub(super) fn weighed<'c>(
    call: &'c Call,
    source: &Source,
    bytes: &[u8],
    forgotten: &Forgets,
) -> Result<Weighed<'c>> {
    let mut document = Document::parse(bytes).map_err(|why| {
        Fault::new(Code::Input, format!("not a record: {why}"))
            .hint("give one JSON object with title and content")
    })?;
    let category = category_of(call, source, &document)?;
    let stem = source.path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    call.screen().raw(Row::Records, "file name", &stem)?;
    let stem = text::slug(&stem);
    let name = if stem.is_empty() { name_for(document.text("title").unwrap_or_default()) } else { stem };
    let id = MemoryId::new(&category.kind, &name);
    let records = call.records();
    if let Some(here) = records.document(&id)? {
        return if same(&here, &document) { Ok(Weighed::Known) } else { Err(differs(&id)) };
    }
    if forgotten.contains(id.as_str()) {
        return Err(Fault::new(
            Code::AntiResurrection,
            format!("`{id}` was forgotten and is not stored again"),
        )
        .hint("rename the file if it should be kept after all"));
    }
    document.fill_name();
    let status = document.status();
    if status == Some(Status::Retired) {
        return Ok(Weighed::LeftOut);
    }
    let place = call.project().shown(&records.folder(category).join(format!("{name}.json")));
    let target = records.target(&place, call.project().folder())?;
    let archived = status == Some(Status::Archived);
    Ok(Weighed::New(Box::new(NewRecord { id, category, target, document, archived })))
}

/// The refusal for a record whose name is taken by another.
pub(super) fn differs(id: &MemoryId) -> Fault {
    Fault::new(Code::Create, format!("`{id}` exists and says something else")).fact("id", id.as_str()).hint(
        format!("compare both (`heirloom show {id}`), then change the one here with `heirloom edit {id}`"),
    )
}

/// The category a record names; one that names none has that of the folder it lies in.
fn category_of<'e>(call: &'e Call, source: &Source, document: &Document) -> Result<&'e Category> {
    let settings = call.settings();
    let folder = source.path.parent().and_then(|folder| folder.file_name()).map(|n| n.to_string_lossy());
    let named = document.text("category");
    let category = match named {
        Some(name) => settings.category(name),
        None => settings.category_of_folder(folder.as_deref().unwrap_or_default()),
    };
    category.ok_or_else(|| {
        let name = call.screen().redacted(&text::one_line(named.unwrap_or("nothing")));
        Fault::new(Code::Validation, format!("its category is `{name}`, which is not known here"))
            .fact("field", "category")
            .hint("add it with `heirloom config category add`, then import again")
    })
}

/// Whether two documents say the same; dates and statuses aside.
pub(super) fn same(a: &Document, b: &Document) -> bool {
    let tags = |document: &Document| -> HashSet<String> {
        document.tags().into_iter().map(text::clean_tag).filter(|tag| !tag.is_empty()).collect()
    };
    let title = |document: &Document| text::clean_title(document.text("title").unwrap_or_default());
    let (mine, other) = (tags(a), tags(b));
    // A record without tags was given one when it came in.
    let tags = mine == other || other.is_empty();
    tags && title(a) == title(b) && a.get("content").map(plain) == b.get("content").map(plain)
}

/// A value whose fields may stand in any order.
fn plain(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut pairs: Vec<(&String, &Value)> =
                map.iter().filter(|(_, value)| !value.is_null()).collect();
            pairs.sort_by_key(|(key, _)| *key);
            Value::Object(pairs.into_iter().map(|(key, value)| (key.clone(), plain(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(plain).collect()),
        other => other.clone(),
    }
}

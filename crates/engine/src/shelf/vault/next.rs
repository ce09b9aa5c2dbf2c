//! The next version of a memory: what a write would append, before anybody judged it.
//!
//! Comes in: the version that counts and what is to change. Goes out: the record one version on, or why there is nothing to change.
//! Never here: whether it may be stored.

use super::desk::{Desk, Slot};
use super::record::Record;
use super::write::{Addition, Revision};
use heirloom_core::{Code, Fault, fault::Result, text};
use std::borrow::Cow;

/// A first version.
pub(super) fn created(new: &Addition, scope: String, tier: String, now: &str, id: String) -> Record<'static> {
    Record {
        id: Cow::Owned(id),
        version: 1,
        created_at: Cow::Owned(now.to_owned()),
        updated_at: None,
        tier: Cow::Owned(tier),
        topic_id: new.topic_id.clone().filter(|topic| !topic.is_empty()).map(Cow::Owned),
        source: Some(Cow::Owned(new.source.clone())),
        scope: Cow::Owned(scope),
        category: Cow::Owned(
            new.category.as_deref().filter(|c| !c.is_empty()).unwrap_or("other").to_lowercase(),
        ),
        tags: new.tags.iter().flatten().cloned().map(Cow::Owned).collect(),
        deleted_at: None,
        text: Cow::Owned(text::trim(&new.text).to_owned()),
    }
}

/// A new memory as a change to the register that is there.
pub(super) fn as_revision(new: &Addition) -> Revision {
    Revision {
        text: Some(new.text.clone()),
        category: new.category.clone(),
        tags: new.tags.clone(),
        ..Revision::default()
    }
}

/// The next version: what is left out stays, scope, source and creation time always do.
pub(super) fn revised(base: &Record<'_>, change: &Revision, now: &str) -> Result<Record<'static>> {
    let mut next = bumped(base)?;
    next.updated_at = Some(Cow::Owned(now.to_owned()));
    if let Some(new) = &change.text {
        next.text = Cow::Owned(text::trim(new).to_owned());
    }
    if let Some(category) = change.category.as_deref().filter(|c| !c.is_empty()) {
        next.category = Cow::Owned(category.to_lowercase());
    }
    if let Some(tags) = &change.tags {
        next.tags = tags.iter().cloned().map(Cow::Owned).collect();
    }
    if let Some(tier) = change.tier.as_deref().filter(|t| !t.is_empty()) {
        next.tier = Cow::Owned(tier.to_lowercase());
    }
    if let Some(topic) = &change.topic_id {
        next.topic_id = Some(Cow::Owned(topic.clone()));
    }
    Ok(next)
}

/// The same record, one version on.
pub(super) fn bumped(base: &Record<'_>) -> Result<Record<'static>> {
    let version = base.version.checked_add(1).ok_or_else(|| {
        Fault::new(Code::Damaged, format!("the version of `{}` cannot be counted up", base.memory_id()))
    })?;
    Ok(Record { version, ..base.clone().into_owned() })
}

/// A retired record, back in use.
pub(super) fn restored(slot: &Slot<'_>, desk: &Desk<'_>) -> Result<Record<'static>> {
    let record = &slot.record;
    let id = record.memory_id();
    if record.is_active() {
        return Err(Fault::new(Code::Restore, format!("`{id}` is in use already"))
            .fact("id", id.as_str())
            .hint("nothing to do"));
    }
    if record.is_register()
        && let Some(taken) = record.topic().and_then(|topic| desk.register(topic, &record.scope))
    {
        let other = taken.record.memory_id();
        return Err(Fault::new(Code::Restore, format!("its topic is kept by `{other}` now"))
            .fact("id", id.as_str())
            .hint(format!("retire `{other}` first, or edit it instead")));
    }
    Ok(Record { deleted_at: None, ..bumped(record)? })
}

/// The record in use under an id.
pub(super) fn in_use<'d>(desk: &'d Desk<'d>, id: &str) -> Result<&'d Slot<'d>> {
    desk.get(id).filter(|slot| slot.record.is_active()).ok_or_else(|| not_found(id))
}

/// There is nothing in use under that id.
pub(super) fn not_found(id: &str) -> Fault {
    refusal(
        Code::NotFound,
        "not_found",
        format!("the vault has no active memory `{id}`"),
        "`heirloom list` shows all memories",
    )
    .fact("id", id)
}

/// A refusal that names its rule.
pub(super) fn refusal(
    code: Code,
    rule: &'static str,
    message: impl Into<String>,
    hint: impl Into<String>,
) -> Fault {
    Fault::new(code, message).fact("rule", rule).hint(hint)
}

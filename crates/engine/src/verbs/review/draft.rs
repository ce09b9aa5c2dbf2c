//! A waiting draft, from the look at it to the decision.
//!
//! Comes in: an inbox item. Goes out: every field that a yes would store, read the way its shelf reads it; then the yes, or the no, both in the
//! audit. What is accepted is the very value that was shown, and only while its file still holds the same bytes. Never here: a field that is
//! stored and not shown, or the other way round; deciding that somebody is a person.

use crate::call::Call;
use crate::gate::Entry;
use crate::gate::inbox::Item;
use crate::shelf::door::change::{Decided, Decision};
use crate::shelf::door::row_of;
use crate::shelf::notes::NoteDraft;
use crate::shelf::records::{Document, Said, Version};
use heirloom_core::text::one_line;
use heirloom_core::{Code, Fault, Memory, MemoryId, ShelfName, fault::Result, time};
use serde::Serialize;
use serde_json::{Value, json};

/// A draft as a person is shown it.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Shown {
    /// What waits. Its draft is the one a yes stores, whatever else its file holds.
    #[serde(flatten)]
    pub item: Item,
    /// The kind of memory.
    pub kind: String,
    /// What a yes would do: `created`, `updated`, `retired`, …
    pub would_be: &'static str,
    /// Every field as it would be stored.
    pub fields: Vec<Field>,
    /// How long it has waited.
    pub age: String,
    /// The words a fact was taken from, so that a yes is a yes to what was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// The known facts it would supersede.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<Known>,
    /// The hash of all that a yes would store and of the bytes that wait: a yes names it, and counts for nothing else.
    pub seen: String,
    /// Why it cannot be stored, if it cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cannot: Option<String>,
    /// The code of that reason.
    #[serde(skip)]
    code: Option<Code>,
}

/// A field and its value, in full.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Field {
    /// Its name; parts of a value are named after it, with a dot.
    pub name: String,
    /// The text; other values and lists as JSON.
    pub value: String,
}

/// A fact that is known already.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Known {
    /// Its id.
    pub id: String,
    /// What it says.
    pub text: String,
}

/// What a yes to an item would store.
pub fn shown(call: &Call, mut item: Item) -> Shown {
    let shelf = shelf_of(&item);
    if let Some(shelf) = shelf {
        // Drafts are without secrets when they are put in; those that others put here, or that newer rules see through, are not.
        call.screen().cut_draft(&mut item.waiting.draft, row_of(shelf));
    }
    let kind = item.id.split_once(':').map_or("?", |(kind, _)| kind).to_owned();
    let age = age(call, &item);
    let (would_be, stored, cannot, code) = match proposed(call, &mut item, shelf) {
        Ok((would_be, stored)) => (would_be, stored, None, None),
        Err(fault) => ("nothing", item.draft.clone(), Some(fault.message), Some(fault.code)),
    };
    let mut fields = Vec::new();
    flatten("", &stored, &mut fields);
    let (said, known) = beside(call, &item);
    let mut seen = json!([item.key, item.id, kind, would_be, fields, item.draft, item.mac()]);
    timeless(&mut seen, &time::format(call.project().world().now));
    let seen = heirloom_core::hash::sha256(seen.to_string().as_bytes());
    Shown { item, kind, would_be, fields, age, said, known, seen, cannot, code }
}

/// Times that a yes sets, or that came with the draft; those are in the code over its bytes, which is part of what was seen.
const MOMENTS: [&str; 3] = ["created_at", "updated_at", "occurred_at"];
const MOMENT: &str = "the moment of the yes";

/// A time that is only that of the look is not part of what was seen: whoever says yes a minute later says it to the same draft. One that came with the
/// draft may be the same second as the first look and never again, so such a field is known by its name.
fn timeless(value: &mut Value, now: &str) {
    match value {
        Value::String(text) if text == now => MOMENT.clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(|item| timeless(item, now)),
        Value::Object(map) => {
            let is_moment = |name: &str| MOMENTS.contains(&name.rsplit('.').next().unwrap_or_default());
            if map.get("name").and_then(Value::as_str).is_some_and(is_moment) {
                map.insert("value".to_owned(), json!(MOMENT));
            }
            for (name, item) in map {
                if item.is_string() && is_moment(name) {
                    *item = json!(MOMENT);
                }
                timeless(item, now);
            }
        }
        _ => {}
    }
}

/// What a fact was taken from, and the known ones it would supersede.
fn beside(call: &Call, item: &Item) -> (Option<String>, Vec<Known>) {
    let Ok(tiers) = call.tiers() else { return (None, Vec::new()) };
    let memory = &item.draft["memory"];
    let text = |id: &str| tiers.own(id).ok().map(|stored| one_line(&stored.content));
    let said = memory["message"].as_str().and_then(text);
    let known = memory["supersedes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let known = known.iter().filter_map(Value::as_str);
    (said, known.filter_map(|id| Some(Known { id: id.to_owned(), text: text(id)? })).collect())
}

/// Fails unless something waits under a key, be it something that can only be thrown away.
pub(crate) fn waits_under(call: &Call, key: &str) -> Result<()> {
    let mut outcome = Ok(());
    for inbox in call.inboxes()? {
        match inbox.get(key, call.project().world().now) {
            Err(fault) if fault.code != Code::Damaged => outcome = Err(fault),
            _ => return Ok(()),
        }
    }
    outcome
}

pub(in crate::verbs) fn shelf_of(item: &Item) -> Option<ShelfName> {
    ShelfName::ALL.into_iter().find(|shelf| shelf.name() == item.shelf)
}

/// What would be done, and what stored. The item's draft is brought into the form that its shelf reads, so that nothing else is left in it.
fn proposed(call: &Call, item: &mut Item, shelf: Option<ShelfName>) -> Result<(&'static str, Value)> {
    let value = |stored: std::result::Result<Value, serde_json::Error>| {
        stored.map_err(|e| Fault::new(Code::Internal, format!("cannot show a draft: {e}")))
    };
    if let Some(change) = super::super::change_of(item) {
        return changed(call, item, &change);
    }
    match shelf {
        Some(ShelfName::Vault) => {
            let (would_be, record) = call.vault().proposed(item)?;
            item.waiting.draft = value(serde_json::to_value(call.vault().asked(item)?))?;
            let mut stored = value(serde_json::to_value(record))?;
            // An id that is taken, by what an undo took out of use, is drawn anew when it is stored.
            if stored["id"].as_str() != MemoryId::parse(&item.id).as_ref().map(MemoryId::name) {
                stored["id"] = json!("a new one");
            }
            Ok((would_be, stored))
        }
        Some(ShelfName::Topics) => {
            item.waiting.draft = call.topics().proposed(&item.draft)?;
            Ok(("created", item.draft.clone()))
        }
        Some(ShelfName::Notes) => {
            let now = call.project().world().now;
            item.waiting.draft = NoteDraft::from_fields(&item.draft, now)?.to_fields();
            Ok(("created", item.draft.clone()))
        }
        Some(ShelfName::Tiers) => {
            let stored = value(serde_json::to_value(call.tiers()?.accepted(item)?))?;
            item.waiting.draft = json!({ "memory": stored, "beside": [] });
            Ok(("created", stored))
        }
        Some(ShelfName::Records) => {
            item.waiting.draft = call.records().settled(record_of(item)?);
            let (target, _) = place(call, item)?;
            let would_be = if target.path.exists() { "updated" } else { "created" };
            Ok((would_be, item.draft.clone()))
        }
        None => Err(Fault::new(Code::Damaged, format!("no shelf takes drafts for `{}`", item.shelf))
            .fact("id", item.id.as_str())
            .hint(format!("`heirloom review reject {}` discards it", item.key))),
    }
}

/// A change of a memory that is there: what it is now, and what was asked for.
fn changed(call: &Call, item: &Item, change: &str) -> Result<(&'static str, Value)> {
    let would_be = match change {
        "retire" => "retired",
        "archive" => "archived",
        "restore" | "unarchive" => "back in use",
        "convert" => "created",
        _ => "updated",
    };
    let id = MemoryId::parse(&item.id);
    let now = id.and_then(|id| call.shelf_of(&id).ok()?.get(&id).ok()?);
    let now = now.map(|memory| {
        let Memory { title, body, tags, status, .. } = memory;
        json!({ "title": title, "body": body, "tags": tags, "status": status })
    });
    Ok((would_be, json!({ "change": change, "now": now, "asked": item.draft["request"] })))
}

/// Every value with a name of its own. What is not there is left out; an empty text stores nothing.
fn flatten(name: &str, value: &Value, out: &mut Vec<Field>) {
    let inner = |part: &str| if name.is_empty() { part.to_owned() } else { format!("{name}.{part}") };
    match value {
        Value::Null => {}
        Value::Object(map) => map.iter().for_each(|(part, value)| flatten(&inner(part), value, out)),
        // Fields that a change asks for are pairs of a name and a value.
        Value::Array(items) if name == "asked.fields" => {
            let pairs = items.iter().enumerate();
            pairs.for_each(|(at, pair)| match pair.as_array().map(Vec::as_slice) {
                Some([Value::String(part), value]) => flatten(&inner(part), value, out),
                _ => flatten(&inner(&at.to_string()), pair, out),
            });
        }
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            items.iter().enumerate().for_each(|(at, value)| flatten(&inner(&at.to_string()), value, out));
        }
        Value::Array(items) if items.is_empty() => {}
        Value::String(text) if text.is_empty() => {}
        Value::String(text) => out.push(Field { name: name.to_owned(), value: text.clone() }),
        other => out.push(Field { name: name.to_owned(), value: other.to_string() }),
    }
}

fn age(call: &Call, item: &Item) -> String {
    let Some(at) = time::parse(&item.at) else { return "unknown".to_owned() };
    let minutes = (call.project().world().now.as_second() - at.as_second()).max(0) / 60;
    let (count, unit) = match minutes {
        0..60 => (minutes, "minute"),
        60..1_440 => (minutes / 60, "hour"),
        _ => (minutes / 1_440, "day"),
    };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

/// A person accepts a waiting draft as it was shown: it goes through the gate again, confirmed. Returns the id it got.
pub fn accept_draft(call: &Call, shown: &Shown) -> Result<String> {
    let item = &shown.item;
    let shelf = shelf_of(item).unwrap_or(ShelfName::Records);
    call.permit(heirloom_core::Verb::Accept, shelf, &item.id)?;
    if let Some(why) = &shown.cannot {
        // A memory that changed meanwhile is nobody's damage.
        let code = shown.code.filter(|code| *code == Code::OccConflict).unwrap_or(Code::Damaged);
        return Err(Fault::new(code, format!("the draft `{}` cannot be stored: {why}", item.key))
            .fact("key", item.key.as_str())
            .hint(format!("`heirloom review reject {}` discards it", item.key)));
    }
    let shelf = shelf_of(item);
    // Facts wait in an inbox of their user's, which needs no project.
    let inbox = match shelf {
        Some(ShelfName::Tiers) => call.tiers()?.inbox(),
        _ => call.inbox()?,
    };
    inbox.unchanged(item)?;
    let entry = Entry { channel: item.channel, confirmed: true };
    if let Some(shelf) = shelf.filter(|shelf| *shelf != ShelfName::Tiers) {
        let lock = call.lock()?;
        let draft = Some(&item.waiting);
        let decided = Decided::Accepted;
        call.decided(&lock, &Decision { decided, shelf, id: &item.id, entry, draft, hash: "" })?;
    }
    if crate::verbs::change_of(item).is_some() && shelf == Some(ShelfName::Tiers) {
        call.tiers()?.decided(Decided::Accepted, &item.waiting)?;
    }
    if let Some(id) = super::super::resume(call, item)? {
        inbox.remove(item)?;
        return Ok(id);
    }
    let id = match shelf {
        // The vault takes the item out of the inbox itself, under the lock it stores with.
        Some(ShelfName::Vault) => return Ok(call.vault().accept(item, entry)?.id.to_string()),
        Some(ShelfName::Topics) => call.topics().store_draft(&item.draft, entry)?.id.to_string(),
        Some(ShelfName::Notes) => {
            let draft = NoteDraft::from_fields(&item.draft, call.project().world().now)?;
            call.notes().create(draft, entry)?.done.id.to_string()
        }
        // So do the tiers, whose drafts wait in an inbox of their own and whose audit is the user's.
        Some(ShelfName::Tiers) => return Ok(call.tiers()?.accept(item)?.stored.id),
        Some(ShelfName::Records) => accept_record(call, item, entry)?,
        None => return Err(Fault::new(Code::Damaged, format!("no shelf takes drafts for `{}`", item.shelf))),
    };
    inbox.remove(item)?;
    Ok(id)
}

fn record_of(item: &Item) -> Result<Document> {
    Document::parse(item.draft.to_string().as_bytes()).map_err(|why| {
        Fault::new(Code::Damaged, format!("inbox item `{}` is not a record: {why}", item.key))
            .hint(format!("`heirloom review reject {}` discards it", item.key))
    })
}

/// Where a waiting record goes, and its category.
fn place<'e>(
    call: &'e Call,
    item: &Item,
) -> Result<(crate::shelf::records::Target, &'e heirloom_core::settings::Category)> {
    let document = record_of(item)?;
    let category = document.text("category").and_then(|name| call.settings().category(name));
    let category = category.ok_or_else(|| {
        Fault::new(
            Code::Damaged,
            format!("inbox item `{}` is not a record: its category is not known", item.key),
        )
        .hint(format!("`heirloom review reject {}` discards it", item.key))
    })?;
    let records = call.records();
    let name = document.text("id").unwrap_or_default();
    let place = call.project().shown(&records.folder(category).join(format!("{name}.json")));
    Ok((records.target(&place, call.project().folder())?, category))
}

fn accept_record(call: &Call, item: &Item, entry: Entry) -> Result<String> {
    let document = record_of(item)?;
    let (target, category) = place(call, item)?;
    let records = call.records();
    let name = document.text("id").unwrap_or_default().to_owned();
    let mut said = Said::default();
    let answer = if target.path.exists() {
        records.update(&target, document, &Version::Any, call.project().folder(), entry, &mut said)?
    } else {
        records.create(&target, category, document, entry, &mut said)?
    };
    let name = answer.get("id").and_then(Value::as_str).unwrap_or(&name);
    Ok(MemoryId::new(&category.kind, name).to_string())
}

/// A waiting draft is thrown away, and that is audited. Returns the id it would have had.
pub fn reject(call: &Call, key: &str) -> Result<String> {
    call.permit(heirloom_core::Verb::Reject, ShelfName::Records, "")?;
    let mut outcome = Err(Fault::new(Code::NotFound, format!("nothing waits under `{key}`")));
    for inbox in call.inboxes()? {
        match inbox.get(key, call.project().world().now) {
            Ok(item) => {
                let entry = Entry::through(item.channel);
                let shelf = shelf_of(&item).unwrap_or(ShelfName::Records);
                if shelf == ShelfName::Tiers {
                    // What a token may not do there, it may not do for a person who uses it.
                    call.permit(heirloom_core::Verb::Reject, shelf, &item.id)?;
                }
                if shelf == ShelfName::Tiers {
                    call.tiers()?.decided(Decided::Rejected, &item.waiting)?;
                    inbox.remove(&item)?;
                } else {
                    let lock = call.lock()?;
                    let (decided, draft) = (Decided::Rejected, Some(&item.waiting));
                    let decision = Decision { decided, shelf, id: &item.id, entry, draft, hash: "" };
                    let intent = call.decides(&lock, &decision)?;
                    inbox.remove(&item)?;
                    intent.done();
                }
                return Ok(item.waiting.id);
            }
            // What was altered says nothing that could be believed, not even which memory it is about.
            Err(fault) if fault.code == Code::Damaged => {
                let entry = Entry::through(heirloom_core::Channel::Repository);
                let lock = call.lock()?;
                let (decided, shelf) = (Decided::Rejected, ShelfName::Records);
                let decision = Decision { decided, shelf, id: "", entry, draft: None, hash: "" };
                let intent = call.decides(&lock, &decision)?;
                inbox.remove_broken(key)?;
                intent.done();
                return Ok(key.to_owned());
            }
            Err(fault) => outcome = Err(fault),
        }
    }
    outcome
}

#[cfg(test)]
mod tests {
    use crate::verbs::decide::{Accept, Seen, accept, list};
    use crate::verbs::remember::{NewFact, Remember, remember};
    use crate::verbs::tests::Desk;
    use crate::verbs::{Outcome, Yes};
    use heirloom_core::Caller;

    #[test]
    fn a_draft_that_is_looked_at_in_the_second_it_came_is_accepted_later() {
        let desk = Desk::new();
        let fact = NewFact { text: "I live in Graz".into(), ..NewFact::default() };
        let waits = remember(&desk.agent(), &Remember { fact, yes: Yes::default() }).unwrap();
        assert!(matches!(waits, Outcome::Waits(_)));
        let shown = list(&desk.person()).unwrap().waiting.drafts.remove(0);
        let later = desk.call_at("2026-01-10T09:00:05Z", Caller::person("tester"), |_| {});
        let ask = Accept { shown: vec![Seen { key: shown.item.key.clone(), seen: shown.seen }] };
        assert_eq!(accept(&later, &ask).unwrap().stored.len(), 1);
    }
}

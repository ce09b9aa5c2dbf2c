//! Undo: a change is taken back by a change of its own.
//!
//! Comes in: a change's number, or none for the last one. Goes out: what was put back, or why not. Everything that one call changed is taken
//! back together, newest first, through each shelf's own write and gate; the old text gets the standing it had. Nothing is touched if a memory
//! changed since. A person's change, and a text that a person stood behind, need a person. Never here: what was forgotten; it is gone.

use super::asked;
use crate::call::Call;
use crate::gate::Entry;
use crate::gate::audit;
use crate::gate::inbox::Waiting;
use crate::shelf::Done;
use crate::shelf::door::change::Decided;
use crate::undo::{self, Before, Kept};
use heirloom_core::{Code, Fault, Memory, MemoryId, Owner, ShelfName, Status, Trust, Verb, fault::Result};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// Which change is to be taken back.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Undo {
    /// Its number, as the list says it (`p12`); the last one if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<String>,
    /// Only say what would happen.
    #[serde(default)]
    pub dry_run: bool,
}

/// A change that was made.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// What it is taken back by.
    pub number: String,
    /// When.
    pub at: String,
    /// Who.
    pub by: String,
    /// What was done: `memory_write`, `memory_retire`, `review_accept`, …
    pub actions: Vec<String>,
    /// To which memories.
    pub ids: Vec<String>,
    /// Whether it was taken back already.
    pub undone: bool,
    /// The change that this one took back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undoes: Option<String>,
}

/// What came of taking a change back.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Undone {
    /// `undone`, `would_undo`, or `changed_since`: then nothing was touched.
    pub status: &'static str,
    /// The change.
    pub number: String,
    /// By which number this can be taken back itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
    /// Each memory.
    pub memories: Vec<Step>,
}

/// What becomes of one memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// Which one.
    pub id: String,
    /// `retire`, `put_back`, `restore`, `archive`, `unarchive`, `edit`, `return_to_review`, …
    pub does: &'static str,
    /// Whether it is not what the change left.
    pub changed_since: bool,
    /// What would go (`-`) and come (`+`).
    pub diff: Vec<String>,
}

/// The changes that are kept, newest first.
pub fn list(call: &Call) -> Result<Vec<Change>> {
    let groups = groups(call)?;
    let mut all: Vec<Change> = groups.iter().map(|(number, parts)| shown(&groups, *number, parts)).collect();
    all.retain(|change| call.caller().is_person() || change.ids.iter().all(|id| visible(call, id)));
    all.reverse();
    Ok(all)
}

fn visible(call: &Call, id: &str) -> bool {
    let memory = MemoryId::parse(id).and_then(|id| call.shelf_of(&id).ok()?.get(&id).ok()?);
    memory.is_none_or(|memory| call.caller().sees().sees(&memory))
}

fn shown(groups: &BTreeMap<u64, Vec<Kept>>, number: u64, parts: &[Kept]) -> Change {
    let mut change = Change {
        number: format!("p{number}"),
        at: parts.first().map(|one| one.at.clone()).unwrap_or_default(),
        by: parts.first().map(|one| one.by.clone()).unwrap_or_default(),
        actions: Vec::new(),
        ids: Vec::new(),
        undone: is_undone(groups, number),
        undoes: parts.iter().find_map(|one| one.undoes).map(|number| format!("p{number}")),
    };
    for one in parts {
        for (list, word) in [(&mut change.actions, &one.action), (&mut change.ids, &one.id)] {
            if !word.is_empty() && !list.contains(word) {
                list.push(word.clone());
            }
        }
    }
    change
}

/// Whether a later change took this one back and was not taken back itself.
fn is_undone(groups: &BTreeMap<u64, Vec<Kept>>, number: u64) -> bool {
    let later = groups.range(number + 1..);
    later
        .filter(|(_, parts)| parts.iter().any(|one| one.undoes == Some(number)))
        .any(|(by, _)| !is_undone(groups, *by))
}

/// What happened and is kept, by the number of its call.
fn groups(call: &Call) -> Result<BTreeMap<u64, Vec<Kept>>> {
    let project = call.project();
    let Some(data) = project.known_data()?.filter(|_| project.has_local()) else {
        return Ok(BTreeMap::new());
    };
    let text = |entry: &serde_json::Value, key: &str| {
        entry.get(key).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
    };
    // The audit has the last word on what happened; a number may have been used before by a store that was deleted.
    let happened: HashMap<u64, (String, String)> = audit::entries(&project.local()?.path("audit.jsonl"))?
        .iter()
        .filter(|entry| audit::happened(entry))
        .filter_map(|entry| Some((entry.get("seq")?.as_u64()?, (text(entry, "at"), text(entry, "id")))))
        .collect();
    let mut by_seq: BTreeMap<u64, Kept> = BTreeMap::new();
    for one in undo::kept(&data, project.store_name(), project.world().now)? {
        if happened.get(&one.seq).is_some_and(|(at, id)| *at == one.at && *id == one.id) {
            by_seq.insert(one.seq, one);
        }
    }
    let mut groups: BTreeMap<u64, Vec<Kept>> = BTreeMap::new();
    by_seq.into_values().for_each(|one| groups.entry(one.group).or_default().push(one));
    Ok(groups)
}

/// One thing to be put back.
enum Way {
    Memory { first: Box<Kept>, last: Box<Kept>, now: Option<Box<Memory>> },
    Review(Box<Kept>),
}

/// Takes a change back, or says what that would do.
pub fn undo(call: &Call, ask: &Undo) -> Result<Undone> {
    let groups = groups(call)?;
    let number = chosen(&groups, ask)?;
    let parts = groups.get(&number).map(Vec::as_slice).unwrap_or_default();
    let name = format!("p{number}");
    if is_undone(&groups, number) {
        return Err(Fault::new(Code::Usage, format!("`{name}` was taken back already"))
            .fact("number", name.as_str())
            .hint("`heirloom undo --list` shows what can be taken back"));
    }
    let ways = ways(call, parts, &name)?;
    permitted(call, parts, &ways)?;
    let memories: Vec<Step> = ways.iter().map(|way| step(call, way)).collect::<Result<_>>()?;
    let mut undone = Undone { status: "would_undo", number: name.clone(), undo: None, memories };
    if undone.memories.iter().any(|step| step.changed_since) {
        undone.status = "changed_since";
        return Ok(undone);
    }
    if ask.dry_run {
        return Ok(undone);
    }
    call.begin_undo(number);
    for way in ways.iter().rev() {
        reverse(call, way, &name)?;
    }
    undone.status = "undone";
    undone.undo = call.began().map(|number| format!("p{number}"));
    Ok(undone)
}

fn chosen(groups: &BTreeMap<u64, Vec<Kept>>, ask: &Undo) -> Result<u64> {
    let nothing = |what: &str| {
        Fault::new(Code::NotFound, what.to_owned())
            .hint("`heirloom undo --list` shows what can be taken back; forgetting cannot be")
    };
    let Some(asked) = &ask.number else {
        let usual = |(number, parts): &(&u64, &Vec<Kept>)| {
            parts.iter().all(|one| one.undoes.is_none())
                && parts.iter().any(can_go_back)
                && !is_undone(groups, **number)
        };
        let last = groups.iter().rev().find(usual).map(|(number, _)| *number);
        return last.ok_or_else(|| nothing("there is no change that could be taken back"));
    };
    if asked.strip_prefix('t').is_some_and(|rest| rest.parse::<u64>().is_ok()) {
        return Err(Fault::new(Code::Usage, "turns and facts are not taken back by number yet")
            .fact("number", asked.as_str())
            .hint("`heirloom restore ID` or `heirloom retire ID` moves one back"));
    }
    let number = asked.strip_prefix('p').unwrap_or(asked).parse::<u64>().ok();
    let number = number.ok_or_else(|| {
        Fault::new(Code::Usage, "the number of a change looks like `p12`")
            .hint("`heirloom undo --list` shows what can be taken back")
    })?;
    // A number inside a call stands for the whole of it.
    let of = groups.iter().find(|(group, parts)| **group == number || parts.iter().any(|p| p.seq == number));
    of.map(|(group, _)| *group)
        .ok_or_else(|| nothing(&format!("there is no change `p{number}` that could be taken back")))
}

fn can_go_back(one: &Kept) -> bool {
    one.was != Before::Unkept || one.action.starts_with("review_")
}

/// What is to be put back: each memory once, from what the call left to what it found.
fn ways(call: &Call, parts: &[Kept], name: &str) -> Result<Vec<Way>> {
    let mut ways: Vec<Way> = Vec::new();
    for one in parts.iter().filter(|one| can_go_back(one)) {
        if one.action.starts_with("review_") {
            // A no to something that could not be read has nothing to bring back.
            if one.draft.is_some() || !one.hash.is_empty() {
                ways.push(Way::Review(Box::new(one.clone())));
            }
            continue;
        }
        let same = |way: &&mut Way| matches!(way, Way::Memory { last, .. } if last.id == one.id);
        if let Some(Way::Memory { last, .. }) = ways.iter_mut().find(same) {
            **last = one.clone();
            continue;
        }
        let id = MemoryId::parse(&one.id).ok_or_else(|| crate::shelf::unknown(&one.id))?;
        let now = call.shelf_of(&id)?.get(&id)?.map(Box::new);
        if now.as_ref().is_some_and(|memory| !call.caller().sees().sees(memory)) {
            return Err(crate::shelf::unknown(&one.id));
        }
        ways.push(Way::Memory { first: Box::new(one.clone()), last: Box::new(one.clone()), now });
    }
    if ways.is_empty() {
        return Err(Fault::new(Code::Usage, format!("`{name}` cannot be taken back"))
            .fact("number", name)
            .hint(
                "what was forgotten, cut out or collected is gone; `heirloom undo --list` shows the rest",
            ));
    }
    Ok(ways)
}

/// A person's change, and a text that a person stood or stands behind, need a person.
fn permitted(call: &Call, parts: &[Kept], ways: &[Way]) -> Result<()> {
    let mut owner = Owner::Agent;
    for way in ways {
        if let Way::Memory { first, now, .. } = way {
            let stands = now.as_ref().map(|memory| call.owner_of(memory)).transpose()?;
            if stands == Some(Owner::Person) || first.was.standing().trust() == Trust::High {
                owner = Owner::Person;
            }
        }
    }
    if parts.iter().any(|one| one.person || one.action.starts_with("review_")) {
        owner = Owner::Person;
    }
    let id = parts.first().map(|one| one.id.as_str()).unwrap_or_default();
    asked(call, Verb::Undo, ShelfName::Records, owner)
        .map(|_| ())
        .map_err(|fault| call.refuse(Verb::Undo, id, fault))
}

fn step(call: &Call, way: &Way) -> Result<Step> {
    match way {
        Way::Review(one) => Ok(Step {
            id: one.id.clone(),
            does: if one.action == "review_return" { "decide_again" } else { "return_to_review" },
            changed_since: false,
            diff: Vec::new(),
        }),
        Way::Memory { first, last, now } => {
            let state = now.as_ref().map(|memory| (memory.content_hash.as_str(), memory.status));
            Ok(Step {
                id: last.id.clone(),
                does: does(first, now.as_deref()),
                changed_since: !last.left(state),
                diff: diff(call, first, now.as_deref())?,
            })
        }
    }
}

/// What has to be done to a memory, in a word.
fn does(first: &Kept, now: Option<&Memory>) -> &'static str {
    let Before::Text { status, .. } = &first.was else { return "retire" };
    let shelf = now.map(|memory| memory.kind.shelf());
    let is = now.map_or(Status::Active, |memory| memory.status);
    match (shelf, status.as_str(), is) {
        (Some(ShelfName::Records | ShelfName::Vault), ..) => "put_back",
        (_, "active", Status::Retired) => "restore",
        (_, "active", Status::Archived) => "unarchive",
        (_, "retired", Status::Active) => "retire",
        (_, "archived", Status::Active) => "archive",
        (_, "archived", Status::Retired) => "restore_and_archive",
        _ => "edit",
    }
}

fn reverse(call: &Call, way: &Way, name: &str) -> Result<()> {
    match way {
        Way::Review(one) => return review(call, one),
        Way::Memory { first, now: Some(now), .. } => put_back(call, first, now, name)?,
        Way::Memory { first, now: None, .. } => return Err(crate::shelf::unknown(&first.id)),
    };
    Ok(())
}

fn put_back(call: &Call, first: &Kept, now: &Memory, name: &str) -> Result<()> {
    let shelf = call.shelf_of(&now.id)?;
    let why = format!("Undone: {name}");
    let (own, id) = (call.entry(), &now.id);
    let done: Done = match (&first.was, does(first, Some(now))) {
        (Before::Text { text, .. }, "put_back" | "edit") => {
            // The old text stands as it stood; whoever takes the change back adds nothing of their own.
            let standing = first.was.standing();
            let entry = Entry { channel: standing.channel, confirmed: standing.accepted };
            match now.kind.shelf() {
                ShelfName::Records => call.records().put_back(id, text, &now.content_hash, &why, entry)?,
                ShelfName::Vault => call.vault().put_back(text, &now.content_hash, entry)?,
                ShelfName::Topics => call.topics().put_back(id, text, &now.content_hash, entry)?,
                _ => return Err(crate::shelf::unknown(&first.id)),
            }
        }
        (_, "restore") => shelf.restore(id, own)?,
        (_, "unarchive") => shelf.unarchive(id, own)?,
        (_, "archive") => shelf.archive(id, &why, own)?,
        (_, "restore_and_archive") => {
            shelf.restore(id, own)?;
            shelf.archive(id, &why, own)?
        }
        _ => shelf.retire(id, &why, own)?,
    };
    drop(done);
    Ok(())
}

/// A decision taken back: the draft waits again until it expires, or the memory that was accepted as it stood waits for its yes. Taking
/// that back in turn decides as before.
fn review(call: &Call, one: &Kept) -> Result<()> {
    let (inbox, now) = (call.inbox()?, call.project().world().now);
    let lock = call.project().lock()?;
    let shelf = one.draft.as_ref().and_then(shelf_of);
    let shelf = shelf.or_else(|| MemoryId::parse(&one.id).map(|id| id.kind().shelf()));
    let shelf = shelf.unwrap_or(ShelfName::Records);
    let back = one.action != "review_return";
    let decided = match (back, &one.draft) {
        (true, _) => Decided::Returned,
        (false, Some(_)) => Decided::Rejected,
        (false, None) => Decided::Accepted,
    };
    call.decided(&lock, decided, shelf, &one.id, call.entry(), one.draft.as_ref(), &one.hash)?;
    match (back, &one.draft) {
        (true, Some(draft)) => inbox.put(as_it_is_now(call, draft)?, now).map(|_| ()),
        (true, None) => call.unaccept(&one.id, &one.hash),
        (false, Some(draft)) => {
            let waits = |item: &Waiting| item.id == draft.id && item.draft == draft.draft;
            inbox.drop_if(waits, now).map(|_| ())
        }
        (false, None) => call.accept(&one.id, &one.hash),
    }
}

/// A change that waits is about a version of a memory; taking back its acceptance made another one.
fn as_it_is_now(call: &Call, draft: &Waiting) -> Result<Waiting> {
    let mut draft = draft.clone();
    if draft.draft.get("change").is_some()
        && let Some(id) = MemoryId::parse(&draft.id)
        && let Some(memory) = call.shelf_of(&id)?.get(&id)?
    {
        draft.draft["version"] = serde_json::Value::String(memory.version);
    }
    Ok(draft)
}

fn shelf_of(draft: &Waiting) -> Option<ShelfName> {
    ShelfName::ALL.into_iter().find(|shelf| shelf.name() == draft.shelf)
}

/// What would go and what would come, line by line.
fn diff(call: &Call, first: &Kept, now: Option<&Memory>) -> Result<Vec<String>> {
    let Some(now) = now else { return Ok(Vec::new()) };
    let Before::Text { text, .. } = &first.was else { return Ok(Vec::new()) };
    let present = call.shelf_of(&now.id)?.raw(&now.id)?.unwrap_or_default();
    let (present, old) = (readable(&present), readable(text));
    let (gone, come): (Vec<&str>, Vec<&str>) = (present.lines().collect(), old.lines().collect());
    // What stands in both, in whatever order, is not what anybody would lose.
    let only = |these: &[&str], those: &[&str], sign: char| -> Vec<String> {
        let mut left = those.to_vec();
        let mut out = Vec::new();
        for line in these {
            match left.iter().position(|other| other == line) {
                Some(at) => drop(left.swap_remove(at)),
                None => out.push(format!("{sign} {line}")),
            }
        }
        out
    };
    let lines = only(&gone, &come, '-').into_iter().chain(only(&come, &gone, '+'));
    let cut = |line: String| if call.caller().is_person() { line } else { call.screen().redacted(&line) };
    Ok(lines.map(cut).collect())
}

/// A line of JSON, one field a line.
fn readable(text: &str) -> String {
    let value = heirloom_core::json::parse(text.as_bytes()).ok();
    value.and_then(|value| serde_json::to_string_pretty(&value).ok()).unwrap_or_else(|| text.to_owned())
}

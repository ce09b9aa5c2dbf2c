//! Anchors in `provenance.jsonl`: written through the gate, read for the memories somebody is about to be given.
//!
//! Comes in: an id and citations. Goes out: lines that add anchors, or stand in place of all earlier ones; and for ids, what became of their
//! citations. A line is kept under the id a memory had then; renames are followed. Never here: a line about a user's turns and
//! facts, which belong to no project.

use super::anchor::{Anchor, MOST};
use super::check::{Cited, Freshness, Place};
use super::tree::Tree;
use crate::call::Call;
use crate::gate::policy::Row;
use crate::gate::trust::{self, Standing};
use crate::gate::{Check, Draft, Entry};
use crate::shelf::door::change::{Was, Written};
use crate::shelf::provenance::{self, Line};
use crate::shelf::unknown;
use heirloom_core::{Code, Fault, Memory, MemoryId, ShelfName, Status, Trust, fault::Result, hash};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What a line of this sort says was done.
const ANCHORED: &str = "anchored";
/// Set in a line that stands in place of all earlier ones about its memory; other lines add to them, so that branches can be merged.
const REPLACES: &str = "replaces";
/// Longest chain of renames that is followed.
const RENAMES: usize = 64;

/// A memory's citations and what became of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Anchored {
    /// The memory.
    #[schemars(with = "heirloom_core::MemoryId")]
    pub id: String,
    /// What all of them together say.
    pub state: Freshness,
    /// The places that were taken down just now, as they are written down.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
    /// Each of them.
    pub anchors: Vec<Cited>,
}

impl Anchored {
    /// What an agent must know before it relies on the memory; nothing if the code is what it was.
    pub fn label(&self) -> Option<String> {
        match self.state {
            Freshness::Changed => Some("code changed since".to_owned()),
            Freshness::Gone => Some("cited code is gone".to_owned()),
            Freshness::Moved => {
                let places: Vec<String> =
                    self.anchors.iter().filter_map(|cited| cited.now.as_ref()).map(Place::shown).collect();
                Some(format!("cited code now at {}", places.join(", ")))
            }
            Freshness::Unchanged | Freshness::Unchecked => None,
        }
    }
}

/// Anchors on their way through the gate.
struct AnchorDraft {
    id: String,
    anchors: Vec<Anchor>,
}

impl Draft for AnchorDraft {
    /// Whatever shelf the memory is on: a path or quotation with a hole in it would cite nothing, so it is refused instead.
    fn row(&self) -> Row {
        Row::Records
    }

    fn order(&self) -> &'static [Check] {
        &[Check::Shape, Check::Secrets, Check::Identity, Check::Contact, Check::Injection]
    }

    fn id(&self) -> String {
        self.id.clone()
    }

    fn texts(&mut self, visit: &mut dyn FnMut(&str, &mut String)) {
        for anchor in &self.anchors {
            for text in
                [Some(&anchor.path), anchor.symbol.as_ref(), anchor.quote.as_ref()].into_iter().flatten()
            {
                visit("anchor", &mut text.clone());
            }
        }
    }

    fn own_check(&mut self, _check: Check) -> Result<()> {
        within(&self.id, self.anchors.len())
    }
}

fn within(id: &str, count: usize) -> Result<()> {
    if count <= MOST {
        return Ok(());
    }
    Err(Fault::new(Code::Validation, format!("a memory cites at most {MOST} places"))
        .fact("id", id)
        .hint(format!("`heirloom anchor drop {id} <path>` takes one away")))
}

/// Adds anchors to a memory. What it cites already is not cited twice.
pub fn add(call: &Call, id: &MemoryId, new: Vec<Anchor>, entry: Entry) -> Result<Vec<Cited>> {
    let memory = memory(call, id)?;
    let known = of(call, memory.id.as_str())?;
    let cited_now = |anchor: &&Anchor| !new.iter().any(|new| new.shown() == anchor.shown());
    within(memory.id.as_str(), known.iter().filter(cited_now).count() + new.len())?;
    write(call, memory.id.as_str(), &memory.content_hash, new, false, entry)
}

/// Adds anchors to a memory that waits for a person and has no content yet.
pub fn announce(call: &Call, id: &str, new: Vec<Anchor>, entry: Entry) -> Result<Vec<Cited>> {
    write(call, id, "", new, false, entry)
}

/// Takes the code as it is now for what the memory is about: somebody looked and it still holds. What is gone stays as it is.
pub fn renew(call: &Call, id: &MemoryId, entry: Entry) -> Result<Vec<Cited>> {
    let memory = memory(call, id)?;
    let folder = call.project().folder();
    let mut tree = Tree::new(folder);
    let mut anchors = of(call, memory.id.as_str())?;
    for anchor in &mut anchors {
        let cited = super::check::check(&mut tree, anchor);
        let place = cited.now.map_or_else(|| anchor.path.clone(), |place| place.shown());
        let spoken = match (&anchor.quote, &anchor.symbol, anchor.lines) {
            (Some(quote), _, _) => format!("{}:\"{quote}\"", path_of(&place)),
            (None, Some(symbol), _) => format!("{}#{symbol}", path_of(&place)),
            (None, None, Some((first, last))) if !place.contains(':') => format!("{place}:{first}-{last}"),
            _ => place,
        };
        if let Ok(fresh) = super::cite(folder, folder, &spoken) {
            *anchor = fresh;
        }
    }
    write(call, memory.id.as_str(), &memory.content_hash, anchors, true, entry)
}

/// Takes anchors away: those in this file, or all.
pub fn drop_anchors(call: &Call, id: &MemoryId, path: Option<&str>, entry: Entry) -> Result<Vec<Cited>> {
    let memory = memory(call, id)?;
    let mut anchors = of(call, memory.id.as_str())?;
    let before = anchors.len();
    anchors.retain(|anchor| path.is_some_and(|path| anchor.path != path && anchor.shown() != path));
    if anchors.len() == before {
        return Err(Fault::new(Code::NotFound, format!("`{id}` cites nothing of that kind"))
            .fact("id", id.as_str())
            .hint(format!("`heirloom anchor list {id}` shows what it cites")));
    }
    write(call, memory.id.as_str(), &memory.content_hash, anchors, true, entry)
}

fn path_of(place: &str) -> &str {
    match place.rsplit_once(':') {
        Some((path, range)) if range.bytes().all(|b| b.is_ascii_digit() || b == b'-') => path,
        _ => place,
    }
}

/// The fault for a memory that belongs to no project.
pub(crate) fn not_cited(id: &MemoryId) -> Fault {
    Fault::new(Code::Usage, format!("a {} belongs to a person and cites no code", id.kind()))
        .fact("id", id.as_str())
        .hint("save what the project should know as a record, lesson or note")
}

fn memory(call: &Call, id: &MemoryId) -> Result<Memory> {
    if id.kind().shelf() == ShelfName::Tiers {
        return Err(not_cited(id));
    }
    call.shelf_of(id)?.get(id)?.ok_or_else(|| unknown(id.as_str()))
}

/// Writes one line; with `replaces` it stands in place of all earlier ones about this memory.
fn write(
    call: &Call,
    id: &str,
    hash: &str,
    anchors: Vec<Anchor>,
    replaces: bool,
    entry: Entry,
) -> Result<Vec<Cited>> {
    let shelf = MemoryId::parse(id).map_or(ShelfName::Records, |id| id.kind().shelf());
    let lock = call.lock()?;
    let draft = AnchorDraft { id: id.to_owned(), anchors };
    let passed = call.pass(&lock, shelf, draft, entry, |_| Value::Null)?;
    let anchors: Vec<Value> = passed.draft().anchors.iter().map(Anchor::to_json).collect();
    let mut more = Map::from_iter([("anchors".to_owned(), json!(anchors))]);
    if replaces {
        more.insert(REPLACES.to_owned(), Value::Bool(true));
    }
    let line = Line {
        id: id.to_owned(),
        hash: hash.to_owned(),
        at: heirloom_core::time::format(call.project().world().now),
        did: ANCHORED.to_owned(),
        more,
    };
    // Who cited it is kept where nothing of the repository can write.
    let book = trust::path(call.project().data()?);
    let standing = Standing { channel: entry.channel, accepted: entry.confirmed };
    let (name, content) = mark(&line);
    trust::note(&book, call.project().world().now, &name, &content, standing)?;
    call.book_grew();
    // What the memory says is what it was: its trust is carried over.
    let (was, leaves) = (Was::Unkept, Status::Active);
    let what = Written {
        body: "",
        action: "memory_anchor",
        shelf,
        id,
        hash,
        before: Some(hash),
        size: 0,
        was,
        leaves,
    };
    let intent = call.intend(&lock, &passed, what)?;
    provenance::append(call.project().root(), &lock, &[line])?;
    intent.done();
    let mut tree = Tree::new(call.project().folder());
    Ok(passed.draft().anchors.iter().map(|anchor| super::check::check(&mut tree, anchor)).collect())
}

/// What the trust book knows a line by: without the id, which may hold words of a title.
fn mark(line: &Line) -> (String, String) {
    let content = Value::Object(line.more.clone()).to_string();
    (format!("anchor:{}", &hash::sha256(line.id.as_bytes())[..24]), hash::sha256(content.as_bytes()))
}

/// Whether a line counts: what a person stands behind, nobody else takes away by citing something that is gone. A line is about whatever its
/// id leads to now: a rename that came with a clone lends nothing to a memory it does not own.
fn counts(call: &Call, line: &Line, now: &str) -> bool {
    // A book that cannot be read vouches for nothing.
    let vouched = |id: &str| call.is_vouched(id).unwrap_or(false);
    if !vouched(&line.id) && !vouched(now) {
        return true;
    }
    let (name, content) = mark(line);
    call.standing(&name, &content).is_ok_and(|standing| standing.trust() == Trust::High)
}

/// The anchors of one memory.
fn of(call: &Call, id: &str) -> Result<Vec<Anchor>> {
    Ok(read(call, Some(&[id]))?.remove(id).unwrap_or_default())
}

/// The anchors of these memories, or of all, by the id each has now.
fn read(call: &Call, wanted: Option<&[&str]>) -> Result<BTreeMap<String, Vec<Anchor>>> {
    let root = call.project().root();
    // Where nothing is cited, nobody need know what was renamed.
    if !provenance::says(root, ANCHORED)? {
        return Ok(BTreeMap::new());
    }
    let now_called: HashMap<String, String> = match call.records().renames() {
        Ok(renames) => renames.into_iter().collect(),
        Err(_) => HashMap::new(),
    };
    let name_now = |id: &str| {
        let mut now = id.to_owned();
        for _ in 0..RENAMES {
            match now_called.get(&now) {
                Some(next) => now.clone_from(next),
                None => break,
            }
        }
        now
    };
    let named: Option<Vec<&str>> = wanted.map(|wanted| {
        let asked: HashSet<&str> = wanted.iter().copied().collect();
        wanted.iter().copied().chain(earlier(&now_called, &asked)).collect()
    });
    let mut found: BTreeMap<String, Vec<Anchor>> = BTreeMap::new();
    let lines = provenance::saying(root, ANCHORED, named.as_deref())?;
    for line in lines {
        let id = match wanted.is_some_and(|wanted| wanted.contains(&line.id.as_str())) {
            true => line.id.clone(),
            false => name_now(&line.id),
        };
        if !counts(call, &line, &id) {
            continue;
        }
        let anchors = found.entry(id).or_default();
        if line.more.get(REPLACES) == Some(&Value::Bool(true)) {
            anchors.clear();
        }
        let list = line.more.get("anchors").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for anchor in list.iter().take(MOST).filter_map(Anchor::from_json) {
            // Two branches may cite the same place; what was said last counts.
            anchors.retain(|known| known.shown() != anchor.shown());
            anchors.push(anchor);
        }
        let over = anchors.len().saturating_sub(MOST);
        anchors.drain(..over);
    }
    found.retain(|_, anchors| !anchors.is_empty());
    Ok(found)
}

/// The ids that were renamed, step by step, to one of those that are asked for: every rename is looked at once, however many there are.
fn earlier<'m>(now_called: &'m HashMap<String, String>, asked: &HashSet<&str>) -> Vec<&'m str> {
    let mut renamed_to: HashMap<&str, Vec<&'m str>> = HashMap::new();
    for (was, is) in now_called {
        renamed_to.entry(is).or_default().push(was);
    }
    let mut found: Vec<&str> = Vec::new();
    let mut seen: HashSet<&str> = HashSet::new();
    // Whatever was renamed on is about what it is called now.
    let mut open: Vec<&str> = asked.iter().copied().filter(|id| !now_called.contains_key(*id)).collect();
    while let Some(id) = open.pop() {
        for was in renamed_to.get(id).into_iter().flatten() {
            if !asked.contains(was) && seen.insert(was) {
                found.push(was);
                open.push(was);
            }
        }
    }
    found
}

/// Whether any memory of the project cites code.
pub fn are_there(call: &Call) -> Result<bool> {
    provenance::says(call.project().root(), ANCHORED)
}

/// What became of everything that is cited, by id.
pub fn all(call: &Call) -> Result<Vec<Anchored>> {
    let mut tree = Tree::new(call.project().folder());
    Ok(read(call, None)?.into_iter().map(|(id, anchors)| anchored(&mut tree, id, &anchors)).collect())
}

/// What became of a memory's citations; `None` if it has none.
pub fn check(call: &Call, id: &str) -> Result<Option<Anchored>> {
    Ok(check_ids(call, &[id])?.remove(id))
}

/// The same for several memories at once, those without citations left out.
pub fn check_ids(call: &Call, ids: &[&str]) -> Result<HashMap<String, Anchored>> {
    let found = read(call, Some(ids))?;
    if found.is_empty() {
        return Ok(HashMap::new());
    }
    let mut tree = Tree::new(call.project().folder());
    Ok(found.into_iter().map(|(id, anchors)| (id.clone(), anchored(&mut tree, id, &anchors))).collect())
}

/// The lines that a memory cites, as the files have them now, in the order of its citations; `None` where a citation names no lines or they are
/// not there.
pub fn lines(call: &Call, id: &str) -> Result<Vec<Option<String>>> {
    /// Most lines that are shown of one citation.
    const MOST: usize = 40;
    let mut tree = Tree::new(call.project().folder());
    let anchors = read(call, Some(&[id]))?.into_values().flatten();
    let shown = anchors.map(|anchor| {
        let cited = super::check::check(&mut tree, &anchor);
        let (path, lines) = match cited.now {
            Some(place) => (place.path, place.lines),
            None => (anchor.path.clone(), anchor.lines),
        };
        let (first, last) = lines?;
        let super::tree::Seen::File(bytes) = tree.read(&path) else { return None };
        let text = String::from_utf8_lossy(&bytes);
        let count = (last.saturating_sub(first) as usize + 1).min(MOST);
        let lines: Vec<&str> = text.lines().skip(first as usize - 1).take(count).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    });
    Ok(shown.collect())
}

fn anchored(tree: &mut Tree, id: String, anchors: &[Anchor]) -> Anchored {
    let anchors: Vec<Cited> = anchors.iter().map(|anchor| super::check::check(tree, anchor)).collect();
    let state = Freshness::together(anchors.iter().map(|cited| cited.state));
    Anchored { id, state, kept: Vec::new(), anchors }
}

//! Undo: a change is taken back by a change of its own.
//!
//! Comes in: a change's number, or none for the last one. A number names its chain: `p12` is a change of the project's files, `t7` one of the
//! user's tiers. Goes out: what was put back, or why not. Everything that one call changed in a chain is taken back together, all of it or
//! nothing; the old text gets the standing it had. Nothing is touched if a memory changed since. A person's change, and a text that a person
//! stood behind, need a person. Never here: what was forgotten; it is gone.

mod project;
mod tiers;

use crate::call::Call;
use heirloom_core::{Code, Fault, MemoryId, ShelfName, Verb, fault::Result};
use serde::{Deserialize, Serialize};

/// Which change is to be taken back.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Undo {
    /// Its number, as the list says it (`p12`, `t7`); the last one if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<String>,
    /// Only say what would happen.
    #[serde(default)]
    pub dry_run: bool,
}

/// A change that was made.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
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
    /// Whether enough is kept of it to take it back.
    #[serde(skip)]
    can: bool,
    #[serde(skip)]
    when: i64,
}

/// What came of taking a change back.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Undone {
    /// `undone`, `would_undo`, or `changed_since`: then nothing was touched.
    #[schemars(extend("enum" = ["undone", "would_undo", "changed_since"]))]
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
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
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
    super::may_read(call, Verb::History)?;
    let mut all = project::changes(call)?;
    // A database that cannot be reached keeps nobody from looking at files.
    all.extend(tiers::changes(call).unwrap_or_default());
    all.retain(|change| shown_to(call, change));
    Ok(newest_first(all))
}

/// The changes of a memory that can be taken back, newest first.
pub fn of(call: &Call, id: &MemoryId) -> Result<Vec<Change>> {
    let mut all = match id.kind().shelf() {
        ShelfName::Tiers => tiers::changes(call)?,
        _ => project::changes(call)?,
    };
    all.retain(|change| change.can && !change.undone && change.ids.iter().any(|one| one == id.as_str()));
    all.retain(|change| shown_to(call, change));
    Ok(newest_first(all))
}

/// Each chain is in its own order already; of two changes at the same moment that of the tiers counts as the later one.
fn newest_first(mut all: Vec<Change>) -> Vec<Change> {
    all.sort_by_key(|change| change.when);
    all.reverse();
    all
}

fn shown_to(call: &Call, change: &Change) -> bool {
    call.caller().is_person() || change.ids.iter().all(|id| visible(call, id))
}

fn visible(call: &Call, id: &str) -> bool {
    let memory = MemoryId::parse(id).and_then(|id| call.shelf_of(&id).ok()?.get(&id).ok()?);
    memory.is_none_or(|memory| call.caller().sees().sees(&memory))
}

/// The number of a change, in its chain.
enum Number {
    Project(u64),
    Tiers(u64),
}

/// Takes a change back, or says what that would do.
pub fn undo(call: &Call, ask: &Undo) -> Result<Undone> {
    let undone = match chosen(call, ask)? {
        Number::Project(number) => project::undo(call, number, ask.dry_run),
        Number::Tiers(number) => tiers::undo(call, number, ask.dry_run),
    }?;
    if undone.status == "undone" {
        super::commit::commit(call, &format!("memory: undo {}", undone.number));
    }
    Ok(undone)
}

fn chosen(call: &Call, ask: &Undo) -> Result<Number> {
    let asked = match &ask.number {
        Some(asked) => asked.clone(),
        None => {
            let usual = |change: &Change| change.can && !change.undone && change.undoes.is_none();
            let mut all = project::changes(call)?;
            all.extend(tiers::changes(call)?);
            let last = newest_first(all).into_iter().find(usual);
            last.ok_or_else(|| nothing("no change to undo"))?.number
        }
    };
    let wrong = || {
        Fault::new(Code::Usage, "the number of a change looks like `p12` or `t7`")
            .hint("`heirloom undo --list` shows what can be undone")
    };
    let read = |text: &str| text.parse::<u64>().map_err(|_| wrong());
    match asked.strip_prefix('t') {
        Some(number) => read(number).map(Number::Tiers),
        None => read(asked.strip_prefix('p').unwrap_or(&asked)).map(Number::Project),
    }
}

fn nothing(what: &str) -> Fault {
    Fault::new(Code::NotFound, what.to_owned())
        .hint("`heirloom undo --list` shows what can be undone; `forget` cannot be")
}

fn already(name: &str) -> Fault {
    Fault::new(Code::Usage, format!("`{name}` was undone already"))
        .fact("number", name)
        .hint("`heirloom undo --list` shows what can be undone")
}

fn gone(name: &str) -> Fault {
    Fault::new(Code::Usage, format!("`{name}` cannot be undone"))
        .fact("number", name)
        .hint("what was forgotten, cut out or collected is gone; `heirloom undo --list` shows the rest")
}

/// What would go and what would come, line by line.
fn diff(call: &Call, present: &str, old: &str) -> Vec<String> {
    let (present, old) = (readable(present), readable(old));
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
    lines.map(cut).collect()
}

/// A line of JSON, one field a line.
pub(super) fn readable(text: &str) -> String {
    let value = heirloom_core::json::parse(text.as_bytes()).ok();
    value.and_then(|value| serde_json::to_string_pretty(&value).ok()).unwrap_or_else(|| text.to_owned())
}

//! List: memories that meet filters, page by page, in an order that stays.
//!
//! Comes in: filters, how many, and the cursor of the page before. Goes out: memories, and a cursor if there are more. The order is by
//! shelf: records by kind and name, lessons by place and newest first, notes newest first, the vault as it was written, turns and facts
//! newest first. A cursor says behind which memory to go on, so that what is added or removed in between moves nothing else; it holds for
//! the filters it was made with. Never here: a memory that is not for the caller.

use super::{asked, may_read, sees_tiers, told};
use crate::call::Call;
use crate::shelf::Listing;
use crate::shelf::tiers::{LifeStatus, Page, Stored, Tier, Wanted};
use crate::shelf::topics::named;
use heirloom_core::kind::OTHER_KINDS;
use heirloom_core::{Code, Fault, Kind, Memory, Owner, Scope, ShelfName, Status, Verb};
use heirloom_core::{fault::Result, hash, time};
use serde::{Deserialize, Serialize};

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct List {
    /// Only this kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// `active` unless told otherwise; `retired`, `archived`, `superseded`, or `all`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Only with this tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Only this scope: `global`, `file:PATH`, `area:NAME`, or one of the vault's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Only turns (`episodic`) or facts (`semantic`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// Only this conversation, of turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// At most so many; everything if nothing is said, of a tier fifty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Where the page before ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// How many of a tier, unless somebody says.
pub const OF_A_TIER: usize = 50;

/// A page of memories.
#[derive(Debug, Clone, PartialEq, Default, Serialize, schemars::JsonSchema)]
pub struct Listed {
    /// The memories.
    pub memories: Vec<Memory>,
    /// The cursor of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Shelves that could not be asked, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreachable: Vec<String>,
}

/// The memories that are wanted.
pub fn list(call: &Call, ask: &List) -> Result<Listed> {
    may_read(call, Verb::List)?;
    if ask.limit == Some(0) {
        return Err(Fault::new(Code::Usage, "a page holds at least one memory").hint("`heirloom list -n 50`"));
    }
    let after = ask.cursor.as_deref().map(|cursor| read(ask, cursor)).transpose()?;
    let mut listed = match &ask.tier {
        Some(name) => {
            asked(call, Verb::List, ShelfName::Tiers, Owner::Nobody)?;
            of_tier(call, ask, named_tier(name)?, after)?
        }
        None => of_shelves(call, ask, after)?,
    };
    if !sees_tiers(call, Verb::List) {
        listed.memories.retain(|memory| memory.kind.shelf() != ShelfName::Tiers);
    }
    // A list is an overview: not even a person is shown here what reached a title past the gate.
    for memory in &mut listed.memories {
        memory.title = call.screen().redacted(&memory.title);
    }
    listed.memories = told::fit_all(call, listed.memories);
    Ok(listed)
}

/// The kind of that name, built in or a category of the settings.
pub fn known_kind(call: &Call, name: &str) -> Result<Kind> {
    if Kind::built_in(name).is_some() || call.settings().category(name).is_some() {
        return Ok(Kind::named(name));
    }
    Err(Fault::new(Code::Usage, format!("there is no kind `{name}`"))
        .hint(format!("use one of {}", kinds(call))))
}

/// Most categories of a project's own that are listed where somebody looks for a kind; an agent reads that list.
const OWN_KINDS: usize = 12;

/// The kinds there are, for whoever named another one.
pub(super) fn kinds(call: &Call) -> String {
    let (built_in, own): (Vec<&str>, Vec<&str>) = (call.settings().categories.iter())
        .map(|category| category.name())
        .partition(|name| Kind::built_in(name).is_some());
    let shelves = OTHER_KINDS.iter().filter(|row| row.name != Kind::Working.name()).map(|row| row.name);
    let names: Vec<&str> =
        built_in.into_iter().chain(shelves).chain(own.iter().copied().take(OWN_KINDS)).collect();
    let more = own.len().saturating_sub(OWN_KINDS);
    let more = if more > 0 { format!(" and {more} more categories of the project") } else { String::new() };
    names.join(", ") + &more
}

fn named_tier(name: &str) -> Result<Tier> {
    Tier::named(name).filter(|tier| *tier != Tier::Working).ok_or_else(|| {
        Fault::new(Code::Usage, format!("there is no tier `{name}` to list"))
            .hint("use episodic or semantic: `heirloom list --tier semantic`")
    })
}

/// The status that is wanted; `None` is every one.
fn status(ask: &List) -> Result<Option<Status>> {
    match ask.status.as_deref() {
        None => Ok(Some(Status::Active)),
        Some("all") => Ok(None),
        Some(name) => Status::named(name).map(Some).ok_or_else(|| {
            Fault::new(Code::Usage, format!("there is no status `{name}`"))
                .hint("use one of active, retired, archived, superseded, all")
        }),
    }
}

fn of_shelves(call: &Call, ask: &List, after: Option<After>) -> Result<Listed> {
    let kind = ask.kind.as_deref().map(|name| known_kind(call, name)).transpose()?;
    let wanted = Listing { status: status(ask)?, kind };
    if wanted.kind.as_ref().is_some_and(|kind| kind.shelf() == ShelfName::Tiers) {
        call.tiers()?;
    }
    let mut listed = Listed::default();
    for shelf in call.shelves() {
        match shelf.list(&wanted) {
            // A database that cannot be reached keeps nobody from reading files.
            Err(fault) if shelf.name() == ShelfName::Tiers && wanted.kind.is_none() => {
                listed.unreachable.push(fault.message);
            }
            found => listed.memories.extend(found?),
        }
    }
    let of_agent =
        |memory: &Memory, scope: &str| matches!(&memory.scope, Scope::Agent(name) if name == scope);
    let fits = |memory: &Memory| {
        call.caller().sees().sees(memory)
            && (has_tag(ask, &memory.tags) || is_topic(ask, memory))
            && ask
                .scope
                .as_ref()
                .is_none_or(|scope| memory.scope.to_string() == *scope || of_agent(memory, scope))
    };
    let all = listed.memories.drain(..).filter(fits);
    let mut keyed: Vec<(Key, Memory)> = all.map(|memory| (Key::of(call, &memory), memory)).collect();
    // A stable sort keeps the shelf's own order among equals.
    keyed.sort_by(|(a, _), (b, _)| a.cmp(b));
    if let Some(After::Memory { key, id }) = &after {
        let there = keyed.iter().position(|(_, memory)| memory.id.as_str() == id);
        // If the memory is gone, its equals come once more rather than not at all.
        let from = there.map_or_else(|| keyed.partition_point(|(one, _)| one < key), |at| at + 1);
        keyed.drain(..from);
    }
    let limit = ask.limit.unwrap_or(usize::MAX);
    if keyed.len() > limit {
        keyed.truncate(limit);
        let last =
            keyed.last().map(|(key, memory)| After::Memory { key: key.clone(), id: memory.id.to_string() });
        listed.next = last.map(|last| written(ask, &last));
    }
    listed.memories = keyed.into_iter().map(|(_, memory)| memory).collect();
    Ok(listed)
}

/// Whether the tag is among these, whatever the case, as `search tag:` finds it.
fn has_tag(ask: &List, tags: &[String]) -> bool {
    let Some(tag) = ask.tag.as_ref().map(|tag| tag.to_lowercase()) else { return true };
    tags.iter().any(|one| one.to_lowercase() == tag)
}

/// Whether the tag is what a lesson's topic or subtopic is called, in whatever form `add` takes it.
fn is_topic(ask: &List, memory: &Memory) -> bool {
    let tag = ask.tag.as_deref().map(str::to_lowercase);
    memory.kind == Kind::Lesson && tag.is_some_and(|tag| memory.tags.iter().any(|name| named(&tag, name)))
}

/// Turns or facts, newest first. There may be a million: they are read page by page.
fn of_tier(call: &Call, ask: &List, tier: Tier, after: Option<After>) -> Result<Listed> {
    let status = match status(ask)? {
        None => None,
        Some(Status::Active) => Some(LifeStatus::Active),
        Some(Status::Retired) => Some(LifeStatus::Retired),
        Some(Status::Superseded) => Some(LifeStatus::Superseded),
        Some(Status::Archived) => return Ok(Listed::default()),
    };
    let wanted = Wanted {
        tier: Some(tier),
        status,
        session: ask.session.clone(),
        after: match after {
            Some(After::Place(place)) => Some(place),
            _ => None,
        },
        limit: ask.limit.unwrap_or(OF_A_TIER),
        ..Wanted::default()
    };
    let Page { memories, next } = call.tiers()?.newest_page(wanted, |stored| has_tag(ask, &stored.tags))?;
    Ok(Listed {
        memories: memories.iter().map(Stored::memory).collect(),
        next: next.map(|place| written(ask, &After::Place(place))),
        unreachable: Vec::new(),
    })
}

/// A memory's place in the order. Fields compare one after the other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Key {
    shelf: u8,
    group: String,
    /// Later is smaller.
    age: i64,
}

impl Key {
    fn of(call: &Call, memory: &Memory) -> Key {
        let shelf = memory.kind.shelf();
        let at = [&memory.occurred_at, &memory.created_at].into_iter().flatten().next();
        let second = at.and_then(|at| time::parse(at)).map_or(0, |at| at.as_second());
        let (group, age) = match shelf {
            ShelfName::Records => {
                let name = memory.kind.name();
                let at = call.settings().categories.iter().position(|category| category.name() == name);
                (format!("{:04} {}", at.unwrap_or(9_999), memory.id.name()), 0)
            }
            ShelfName::Topics => {
                let place = memory.id.name().rsplit_once('#').map_or("", |(place, _)| place);
                (place.to_owned(), -second)
            }
            ShelfName::Vault => (String::new(), second),
            ShelfName::Notes | ShelfName::Tiers => (String::new(), -second),
        };
        let at = ShelfName::ALL.iter().position(|one| *one == shelf).unwrap_or_default();
        Key { shelf: u8::try_from(at).unwrap_or(u8::MAX), group, age }
    }
}

/// Behind what a page begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum After {
    Memory {
        key: Key,
        id: String,
    },
    /// A place in the tiers' own order.
    Place(i64),
}

#[derive(Serialize, Deserialize)]
struct Cursor {
    filters: String,
    after: After,
}

/// A fingerprint of the filters, so that a cursor is not used with others.
fn filters(ask: &List) -> String {
    let plain = List { limit: None, cursor: None, ..ask.clone() };
    hash::sha256(&serde_json::to_vec(&plain).unwrap_or_default())[..16].to_owned()
}

fn written(ask: &List, after: &After) -> String {
    let cursor = Cursor { filters: filters(ask), after: after.clone() };
    let bytes = serde_json::to_vec(&cursor).unwrap_or_default();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read(ask: &List, cursor: &str) -> Result<After> {
    let unknown = |why: &str| {
        Fault::new(Code::Usage, format!("the cursor {why}")).hint(
            "copy it whole from the last answer and keep the same filters; `heirloom list` starts again",
        )
    };
    let byte = |at: usize| cursor.get(at..at + 2).and_then(|two| u8::from_str_radix(two, 16).ok());
    let bytes: Option<Vec<u8>> = (0..cursor.len()).step_by(2).map(byte).collect();
    let cursor: Option<Cursor> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let cursor = cursor.ok_or_else(|| unknown("is not one that `list` gave"))?;
    if cursor.filters != filters(ask) {
        return Err(unknown("belongs to a list with other filters"));
    }
    match (&cursor.after, &ask.tier) {
        (After::Memory { .. }, None) | (After::Place(_), Some(_)) => Ok(cursor.after),
        _ => Err(unknown("is not one that `list` gave")),
    }
}

//! The shelves as folders: what the project and the caller's own memory hold, to be read and never written.
//!
//! Comes in: the names of a path below one of these folders. Goes out: a listing, or a memory as plain text. What is shown is what `list` and `show`
//! would show, without secrets, and without orders to whoever reads it. Never here: a file of the tool, which has a path of its own.

use super::text;
use crate::call::Call;
use crate::verbs::edit::path_of;
use crate::verbs::list::{self, List};
use crate::verbs::sees_tiers;
use heirloom_core::text::{cut, slug, strip_invisible};
use heirloom_core::{Kind, Memory, ShelfName, Verb, fault::Result};

/// Most memories of a shelf that are listed; a longer list helps no model.
const LISTED: usize = 200;

/// Most characters of a title in a name.
const NAME: usize = 60;

/// The folders there are for this caller.
pub(super) fn there(call: &Call) -> Vec<&'static str> {
    let mut all =
        if call.project().is_nowhere() { Vec::new() } else { vec!["lessons", "notes", "records", "vault"] };
    if call.tiers().is_ok() && sees_tiers(call, Verb::List) {
        all.push("facts");
    }
    all
}

/// What is at a path below a shelf's folder.
pub(super) fn view(
    call: &Call,
    path: &str,
    shelf: &str,
    rest: &[&str],
    range: Option<&[i64]>,
) -> Result<String> {
    let all = if there(call).contains(&shelf) { memories(call, shelf)? } else { Vec::new() };
    if let Some((_, memory)) = all.iter().find(|(names, _)| names == rest) {
        return text::numbered(path, &shown(call, memory), range);
    }
    let inside: Vec<&(Vec<String>, Memory)> =
        all.iter().filter(|(names, _)| names.len() > rest.len() && names.starts_with(&owned(rest))).collect();
    if inside.is_empty() && !(rest.is_empty() && there(call).contains(&shelf)) {
        return Err(super::nothing(path));
    }
    let more = inside.len().saturating_sub(LISTED);
    let listed: Vec<(Vec<String>, usize)> = inside
        .iter()
        .take(LISTED)
        .map(|(names, memory)| (names[rest.len()..].to_vec(), shown(call, memory).len()))
        .collect();
    let mut out = text::listing(path, &listed, &[]);
    if more > 0 {
        out.push_str(&format!("\n({more} more memories are not listed)"));
    }
    Ok(out)
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// The memories of a shelf in use, each with the names of its path.
fn memories(call: &Call, shelf: &str) -> Result<Vec<(Vec<String>, Memory)>> {
    let ask = match shelf {
        "facts" => List { tier: Some("semantic".to_owned()), limit: Some(LISTED), ..List::default() },
        "lessons" => of_kind(&Kind::Lesson),
        "notes" => of_kind(&Kind::Note),
        _ => List::default(),
    };
    let wanted = match shelf {
        "records" => ShelfName::Records,
        "lessons" => ShelfName::Topics,
        "notes" => ShelfName::Notes,
        "vault" => ShelfName::Vault,
        _ => ShelfName::Tiers,
    };
    let all = list::list(call, &ask)?.memories.into_iter();
    let mine = all.filter(|memory| memory.kind.shelf() == wanted && path_of(memory).is_none());
    Ok(mine.map(|memory| (names(call, &memory), memory)).collect())
}

fn of_kind(kind: &Kind) -> List {
    List { kind: Some(kind.name().to_owned()), ..List::default() }
}

/// The names of a memory's path below its shelf's folder: a category and a name, a topic and a title. Where an id says nothing, the title comes first.
fn names(call: &Call, memory: &Memory) -> Vec<String> {
    let own = memory.id.name();
    let titled = || {
        let title = slug(cut(&memory.title, NAME));
        let id = own.get(..8).unwrap_or(own);
        if title.is_empty() { format!("{own}.md") } else { format!("{title}-{id}.md") }
    };
    match memory.kind.shelf() {
        ShelfName::Records => {
            let folder = call.settings().category(memory.kind.name()).map(|one| one.folder.clone());
            vec![folder.unwrap_or_else(|| memory.kind.name().to_owned()), format!("{own}.md")]
        }
        ShelfName::Topics => {
            let mut names: Vec<String> = own.split(['/', '#']).map(str::to_owned).collect();
            if let Some(last) = names.last_mut() {
                last.push_str(".md");
            }
            names
        }
        ShelfName::Vault => vec![memory.kind.name().to_owned(), titled()],
        ShelfName::Notes | ShelfName::Tiers => vec![titled()],
    }
}

/// A memory as a text: its title, what it says, and what it is.
fn shown(call: &Call, memory: &Memory) -> String {
    let calm = |text: &str| call.screen().calmed(&strip_invisible(text)).into_owned();
    let mut out = String::new();
    let title = calm(&memory.title);
    if !title.is_empty() && !memory.body.starts_with(memory.title.as_str()) {
        out.push_str(&format!("# {title}\n\n"));
    }
    out.push_str(calm(&memory.body).trim_end());
    out.push_str(&format!("\n\nid: {}\ntrust: {}\n", memory.id, memory.trust.name()));
    if !memory.tags.is_empty() {
        out.push_str(&format!("tags: {}\n", calm(&memory.tags.join(", "))));
    }
    if let Some(at) =
        memory.updated_at.as_ref().or(memory.occurred_at.as_ref()).or(memory.created_at.as_ref())
    {
        out.push_str(&format!("date: {at}\n"));
    }
    out
}

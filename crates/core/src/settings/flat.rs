//! From a document to its leaves: each setting it gives, under the one name the table knows it by.
//!
//! Comes in: a settings document, however it was spelled: nested, with dotted names, or both. Goes out: the leaves, and every name
//! that leads to none. Never here: whose document it is, whether a value fits, and who may decide it. Whoever guards a setting asks
//! here first, so that no spelling leads past a guard.

use super::keys::{Guard, KEYS, Key};
use super::read;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Most names without a setting that are told one by one; of a longer list only the length is of use.
const MOST_TOLD: usize = 50;

/// The longest name that is repeated in full.
const LONGEST_TOLD: usize = 120;

/// What a document says.
#[derive(Debug, Clone, Default)]
pub struct Flat<'a> {
    /// The settings it gives, by dotted name.
    pub leaves: BTreeMap<String, Leaf<'a>>,
    /// The record categories it mentions, also those of which it says nothing more.
    pub categories: BTreeSet<String>,
    /// The names that lead to no setting, and those given twice.
    pub unmapped: Vec<Unmapped>,
    /// How many more there are.
    untold: usize,
}

/// A setting that a document gives.
#[derive(Debug, Clone, Copy)]
pub struct Leaf<'a> {
    /// Its row in the table.
    pub key: &'static Key,
    /// The raw value.
    pub value: &'a Value,
}

/// A name that cannot be used as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmapped {
    /// The name as the document spells it, with dots.
    pub name: String,
    /// Why, and what counts.
    pub message: String,
}

/// A row of the table, and what of its name is still to come.
type Rest = (&'static str, &'static Key);

/// All leaves of a document. A list, and whatever stands where a setting belongs, is a leaf.
pub fn flatten(document: &Value) -> Flat<'_> {
    let mut flat = Flat::default();
    if let Some(object) = document.as_object() {
        let rests: Vec<Rest> = KEYS.iter().map(|key| (key.name, key)).collect();
        flat.walk("", &rests, object);
    }
    if flat.untold > 0 {
        let message = format!("and {} more names that are not settings", flat.untold);
        flat.unmapped.push(Unmapped { name: "…".to_owned(), message });
    }
    flat
}

impl<'a> Flat<'a> {
    fn walk(&mut self, above: &str, rests: &[Rest], object: &'a Map<String, Value>) {
        for (spelled, inner) in object {
            let mut name = above.to_owned();
            let mut parts = spelled.split('.');
            // Splitting gives at least one part.
            let mut below = self.step(&mut name, rests, parts.next().unwrap_or_default());
            for part in parts {
                below = self.step(&mut name, &below, part);
            }
            let leaf = below.iter().find(|(rest, _)| rest.is_empty()).map(|(_, key)| *key);
            match (leaf, inner) {
                (Some(key), value) => self.take(name, Leaf { key, value }),
                (None, Value::Object(inner)) if !below.is_empty() => self.walk(&name, &below, inner),
                (None, _) => self.refuse(above, spelled, !below.is_empty()),
            }
        }
    }

    /// One part further down: the rows that still fit, and the name so far.
    fn step(&mut self, name: &mut String, rests: &[Rest], part: &str) -> Vec<Rest> {
        let any = rests.iter().find(|(rest, _)| rest.starts_with('*')).map(|(_, key)| *key);
        // Categories are found in any case, and so are their thresholds; everything else is named exactly.
        let in_any_case = any.is_some() && (name == "categories" || name == "triage.thresholds");
        let part = if in_any_case { part.to_lowercase() } else { part.to_owned() };
        let fits = match any {
            Some(key) if key.is_per_agent() => read::is_short_name(&part),
            Some(_) if name == "categories" => read::is_category(&part),
            // What is said about a category that is not there is no mistake; it says nothing.
            _ => !part.is_empty(),
        };
        if !fits {
            return Vec::new();
        }
        if name == "categories" {
            self.categories.insert(part.clone());
        }
        let below = rests.iter().filter_map(|(rest, key)| Some((after(rest, &part)?, *key))).collect();
        if !name.is_empty() {
            name.push('.');
        }
        name.push_str(&part);
        below
    }

    /// Takes a leaf. Of two spellings with different values nobody can say which was meant: where one is stricter it counts.
    fn take(&mut self, name: String, leaf: Leaf<'a>) {
        let Some(known) = self.leaves.get(&name).copied() else {
            self.leaves.insert(name, leaf);
            return;
        };
        let stricter = match leaf.key.guard {
            Guard::Tighten(order) | Guard::OwnTighten(order) => {
                read::strictness(leaf.key, order, leaf.value)
                    > read::strictness(known.key, order, known.value)
            }
            _ => false,
        };
        let counts = if stricter { leaf } else { known };
        self.tell(name.clone(), || "given twice; only one of the values counts".to_owned());
        self.leaves.insert(name, counts);
    }

    fn refuse(&mut self, above: &str, spelled: &str, is_group: bool) {
        let name = if above.is_empty() { spelled.to_owned() } else { [above, ".", spelled].concat() };
        let near = name.clone();
        self.tell(name, || {
            if is_group {
                return "expected an object; the value is ignored".to_owned();
            }
            let near = read::suggestion(near.to_lowercase().trim());
            let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            format!("there is no such setting{near}")
        });
    }

    fn tell(&mut self, name: String, message: impl FnOnce() -> String) {
        if self.unmapped.len() >= MOST_TOLD {
            self.untold += 1;
            return;
        }
        let message = message();
        let name = match name.char_indices().nth(LONGEST_TOLD) {
            Some((at, _)) => format!("{}…", &name[..at]),
            None => name,
        };
        self.unmapped.push(Unmapped { name, message });
    }
}

/// What of a dotted name comes after its first part, if that is `part`; a `*` is any part.
fn after(rest: &'static str, part: &str) -> Option<&'static str> {
    let rest = rest.strip_prefix('*').or_else(|| rest.strip_prefix(part))?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('.') }
}

/// Sets a dotted name in a document and takes out every other spelling of it.
pub fn set(document: &mut Value, name: &str, value: Value) {
    if let Some(object) = document.as_object_mut() {
        remove_below(object, &name.to_lowercase(), true);
    }
    let mut at = document;
    for part in name.split('.') {
        if !at.is_object() {
            *at = Value::Object(Map::new());
        }
        let Value::Object(map) = at else { return };
        at = map.entry(part.to_owned()).or_insert(Value::Null);
    }
    *at = value;
}

/// Takes a setting, or all settings below a name, out of a document, however they are spelled there. Says whether anything went.
pub fn remove(document: &mut Value, name: &str) -> bool {
    document.as_object_mut().is_some_and(|object| remove_below(object, &name.to_lowercase(), false))
}

/// Takes a name out. With `but_plain`, the spelling that is nested part by part keeps its place in the file.
fn remove_below(object: &mut Map<String, Value>, name: &str, but_plain: bool) -> bool {
    let before = object.len();
    object.retain(|spelled, _| {
        let lower = spelled.to_lowercase();
        let below = lower.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        !below || (but_plain && spelled == name && !name.contains('.'))
    });
    let mut gone = object.len() != before;
    for (spelled, inner) in object.iter_mut() {
        let rest = name.strip_prefix(spelled.to_lowercase().as_str()).and_then(|rest| rest.strip_prefix('.'));
        if let (Some(rest), Value::Object(inner)) = (rest, inner) {
            let plain = !spelled.contains('.') && name.starts_with(spelled.as_str());
            gone |= remove_below(inner, rest, but_plain && plain);
        }
    }
    gone
}

#[cfg(test)]
#[path = "flat_tests.rs"]
mod tests;

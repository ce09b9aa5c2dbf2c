//! What makes a memory an item: where a program keeps it, under which key, and the value as the program gave it.
//!
//! Comes in: a namespace or labels, a key, a JSON value, metadata. Goes out: the key a backend finds it by, the place it is listed under, and the
//! text it is searched by. Labels such as `user_id` are words inside one user's memory; they never name a user. Never here: storing, or who may.

use heirloom_core::{Code, Fault, fault::Result, hash};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The labels there are, in the order in which items are laid out by them.
pub const LABELS: [&str; 4] = ["user_id", "agent_id", "app_id", "run_id"];

/// The longest word of a namespace, label or key, in bytes.
const LONGEST_NAME: usize = 512;

/// Most words of a namespace.
const MOST_WORDS: usize = 32;

/// The longest place, in bytes: what an index of a database takes.
const LONGEST_PLACE: usize = 2_000;

/// The longest value or metadata, as JSON.
const LONGEST_VALUE: usize = 256 << 10;

/// The longest text, in characters: of an item that is nothing but a text, and of what is searched of any other.
pub const LONGEST_TEXT: usize = 10_000;

/// How deep a value may nest.
const DEEPEST: usize = 64;

/// Digits from which a number may be somebody's card or account.
const LONG_NUMBER: usize = 8;

/// Begins every place of an item. Names hold no such character.
const MARK: char = '\u{1e}';
const BETWEEN: char = '\u{1f}';

/// What an item has beside its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// Where it is kept, word by word.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub namespace: Vec<String>,
    /// The labels it carries instead; see [`LABELS`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Its key in there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The value as it was given, kept as its JSON text so that every backend gives it back unchanged.
    #[serde(default, with = "as_text", skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// What its program wants to know about it, kept the same way.
    #[serde(default, with = "as_text", skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
    /// Whether its program said when it ends; if not, the user's settings do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends: bool,
    /// The id of its first version; nothing on the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
    /// When its first version was stored.
    #[serde(with = "exactly")]
    pub began_at: Timestamp,
    /// When this version was stored.
    #[serde(with = "exactly")]
    pub written_at: Timestamp,
}

impl Item {
    /// An item of a namespace.
    pub fn named(namespace: Vec<String>, key: &str, value: Map<String, Value>) -> Item {
        Item { namespace, key: Some(key.to_owned()), value: Some(Value::Object(value)), ..Item::empty() }
    }

    /// An item with labels.
    pub fn labelled(labels: BTreeMap<String, String>, metadata: Option<Value>) -> Item {
        Item { labels, metadata, ..Item::empty() }
    }

    fn empty() -> Item {
        Item {
            namespace: Vec::new(),
            labels: BTreeMap::new(),
            key: None,
            value: None,
            metadata: None,
            ends: false,
            first: None,
            began_at: Timestamp::UNIX_EPOCH,
            written_at: Timestamp::UNIX_EPOCH,
        }
    }

    /// The slot of a key in a namespace.
    pub fn slot_of(namespace: &[String], key: &str) -> String {
        slot(namespace, &BTreeMap::new(), key)
    }

    /// What all versions of an item share, so that one lookup finds them: its namespace and key, or its first id.
    pub fn slot(&self, id: &str) -> String {
        match &self.key {
            Some(key) => slot(&self.namespace, &self.labels, key),
            None => format!("{MARK}item{BETWEEN}{}", self.first.as_deref().unwrap_or(id)),
        }
    }

    /// Where backends list it: every word of its namespace, or its labels, in order.
    pub fn place(&self) -> String {
        match self.namespace.is_empty() {
            false => under(&self.namespace),
            true => LABELS
                .iter()
                .filter_map(|name| Some((*name, self.labels.get(*name)?)))
                .fold(labelled(), |place, (name, value)| format!("{place}{name}={value}{BETWEEN}")),
        }
    }

    /// What a person reads before its text: namespace and key, or the labels.
    pub fn title(&self) -> String {
        let words: Vec<String> = match self.namespace.is_empty() {
            false => self.namespace.iter().chain(&self.key).cloned().collect(),
            true => LABELS
                .iter()
                .filter_map(|name| Some(format!("{name} {}", self.labels.get(*name)?)))
                .chain(self.key.clone())
                .collect(),
        };
        words.join("/")
    }

    /// The same for the read model of all shelves.
    pub fn field(&self) -> Value {
        let mut shown = Map::new();
        if !self.namespace.is_empty() {
            shown.insert("namespace".to_owned(), json!(self.namespace));
        }
        if !self.labels.is_empty() {
            shown.insert("labels".to_owned(), json!(self.labels));
        }
        for (name, value) in [
            ("key", &self.key.clone().map(Value::String)),
            ("value", &self.value),
            ("metadata", &self.metadata),
        ] {
            if let Some(value) = value {
                shown.insert(name.to_owned(), value.clone());
            }
        }
        Value::Object(shown)
    }

    /// Refuses names and values that cannot be kept.
    pub fn check(&self) -> Result<()> {
        let wrong = |field: &'static str, message: String, hint: String| {
            Err(Fault::new(Code::Validation, message).fact("field", field).hint(hint))
        };
        if self.namespace.is_empty() && self.labels.is_empty() {
            let hint = "give a namespace, such as [\"users\", \"ann\"], or a label such as user_id";
            return wrong("namespace", "an item needs a place to be kept in".to_owned(), hint.to_owned());
        }
        if self.namespace.len() > MOST_WORDS {
            let message = format!("a namespace has at most {MOST_WORDS} words");
            return wrong("namespace", message, "use fewer, longer words".to_owned());
        }
        let names = self.namespace.iter().map(|word| ("namespace", word));
        let names = names.chain(self.labels.values().map(|value| ("label", value)));
        for (field, name) in names.chain(self.key.iter().map(|key| ("key", key))) {
            if name.is_empty() || name.len() > LONGEST_NAME || name.chars().any(char::is_control) {
                let message = "a namespace, label or key has no usable name".to_owned();
                return wrong(
                    field,
                    message,
                    format!("use 1 to {LONGEST_NAME} bytes without control characters"),
                );
            }
        }
        if self.place().len() > LONGEST_PLACE {
            let message = "the words of a namespace, or the labels, are too long together".to_owned();
            return wrong("namespace", message, format!("use at most {LONGEST_PLACE} bytes for all of them"));
        }
        if let Some(name) = self.labels.keys().find(|name| !LABELS.contains(&name.as_str())) {
            let message = format!("there is no label `{name}`");
            return wrong("label", message, format!("use {}", LABELS.join(", ")));
        }
        for (field, value) in [("value", &self.value), ("metadata", &self.metadata)] {
            let Some(value) = value else { continue };
            if is_deeper(value, DEEPEST) {
                let message = format!("`{field}` nests deeper than {DEEPEST} levels");
                return wrong(field, message, "flatten it".to_owned());
            }
            if value.to_string().len() > LONGEST_VALUE {
                let message = format!("`{field}` is longer than {LONGEST_VALUE} bytes");
                return wrong(field, message, "split it over several keys".to_owned());
            }
        }
        Ok(())
    }

    /// What the gate looks at as it was given: names, which cannot be cut without becoming other names.
    pub(super) fn names(&self) -> Vec<(&'static str, String)> {
        let mut names: Vec<(&'static str, String)> =
            self.namespace.iter().map(|word| ("namespace", word.clone())).collect();
        names.extend(self.labels.iter().map(|(name, value)| ("label", format!("{name}: {value}"))));
        names.extend(self.key.iter().map(|key| ("key", key.clone())));
        names.extend(self.first.iter().map(|id| ("id", id.clone())));
        for (field, value) in [("value", &self.value), ("metadata", &self.metadata)] {
            let mut keys = Vec::new();
            value.iter().for_each(|value| fields_of(value, &mut keys));
            names.extend(keys.into_iter().map(|key| (field, key)));
        }
        names
    }

    /// Shows every text of value and metadata, each behind the name it stands under: `password: …` is a secret, `…` alone may be none.
    pub(super) fn texts(&mut self, visit: &mut dyn FnMut(&str, &mut String)) {
        for (field, value) in [("value", &mut self.value), ("metadata", &mut self.metadata)] {
            if let Some(value) = value {
                each_text(value, "", &mut |text| visit(field, text));
            }
        }
    }
}

fn slot(namespace: &[String], labels: &BTreeMap<String, String>, key: &str) -> String {
    format!("{MARK}item{BETWEEN}{}", hash::sha256(json!([namespace, labels, key]).to_string().as_bytes()))
}

/// How the places of everything under these words begin.
pub fn under(words: &[String]) -> String {
    words.iter().fold(format!("{MARK}n{BETWEEN}"), |place, word| format!("{place}{word}{BETWEEN}"))
}

/// How the places of everything with labels begin.
pub fn labelled() -> String {
    format!("{MARK}l{BETWEEN}")
}

/// How the places of everything with this `user_id` begin.
pub fn of_user(user_id: &str) -> String {
    format!("{}{}={user_id}{BETWEEN}", labelled(), LABELS[0])
}

/// What an item is searched by.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Indexed {
    /// Everything in its value.
    #[default]
    All,
    /// Nothing: it is found by its namespace, key and filters only.
    Nothing,
    /// What stands at these paths: `a.b`, `list[*].name`, `list[0]`, `$`.
    Paths(Vec<String>),
}

impl Indexed {
    /// The text of a value that a question is compared with.
    pub fn text_of(&self, value: &Value) -> String {
        let mut parts = Vec::new();
        match self {
            Indexed::Nothing => {}
            Indexed::All => lines(value, "", &mut parts),
            Indexed::Paths(paths) => {
                for path in paths {
                    match path.as_str() {
                        "" | "$" => lines(value, "", &mut parts),
                        path => {
                            at_path(value, &steps(path)).into_iter().for_each(|v| lines(v, "", &mut parts))
                        }
                    }
                }
            }
        }
        let mut text = parts.join("; ");
        if let Some((cut, _)) = text.char_indices().nth(LONGEST_TEXT) {
            text.truncate(cut);
        }
        text.replace('\0', " ")
    }
}

/// Every scalar of a value as `name: value`, the way people write it.
fn lines(value: &Value, name: &str, parts: &mut Vec<String>) {
    let said = |text: &str| if name.is_empty() { text.to_owned() } else { format!("{name}: {text}") };
    match value {
        Value::Null => {}
        Value::Bool(flag) => parts.push(said(&flag.to_string())),
        Value::Number(number) => parts.push(said(&number.to_string())),
        Value::String(text) if text.trim().is_empty() => {}
        Value::String(text) => parts.push(said(text)),
        Value::Array(items) => items.iter().for_each(|item| lines(item, name, parts)),
        Value::Object(map) => map.iter().for_each(|(name, item)| lines(item, name, parts)),
    }
}

/// The steps of a path: names, and what stands in brackets.
fn steps(path: &str) -> Vec<String> {
    path.split(['.', '[', ']']).filter(|step| !step.is_empty()).map(str::to_owned).collect()
}

fn at_path<'v>(value: &'v Value, steps: &[String]) -> Vec<&'v Value> {
    let Some((step, rest)) = steps.split_first() else { return vec![value] };
    match (value, step.as_str()) {
        (Value::Array(items), "*") => items.iter().flat_map(|item| at_path(item, rest)).collect(),
        (Value::Array(items), index) => {
            let number = index.parse::<i64>().ok();
            let at =
                number.and_then(|n| usize::try_from(if n < 0 { n + items.len() as i64 } else { n }).ok());
            at.and_then(|at| items.get(at)).map(|item| at_path(item, rest)).unwrap_or_default()
        }
        (Value::Object(map), "*") => map.values().flat_map(|item| at_path(item, rest)).collect(),
        (Value::Object(map), name) => map.get(name).map(|item| at_path(item, rest)).unwrap_or_default(),
        _ => Vec::new(),
    }
}

fn each_text(value: &mut Value, name: &str, visit: &mut dyn FnMut(&mut String)) {
    let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
    match value {
        Value::String(text) => {
            if let Some(changed) = shown_as(name, text, visit) {
                *text = changed;
            }
        }
        Value::Number(number) => {
            let text = number.to_string();
            if digits(&text) >= LONG_NUMBER
                && let Some(changed) = shown_as(name, &text, visit)
            {
                *value = Value::String(changed);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| each_text(item, name, visit)),
        Value::Object(map) => map.iter_mut().for_each(|(name, item)| each_text(item, name, visit)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Shows a text behind its name; what became of it, if it was changed.
fn shown_as(name: &str, text: &str, visit: &mut dyn FnMut(&mut String)) -> Option<String> {
    let before = if name.is_empty() { String::new() } else { format!("{name}: ") };
    let mut whole = format!("{before}{text}");
    visit(&mut whole);
    let rest = match whole.strip_prefix(&before) {
        Some(rest) => rest.to_owned(),
        None => whole,
    };
    (rest != text).then_some(rest)
}

fn fields_of(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| fields_of(item, names)),
        Value::Object(map) => map.iter().for_each(|(name, item)| {
            names.push(name.clone());
            fields_of(item, names);
        }),
        _ => {}
    }
}

fn is_deeper(value: &Value, than: usize) -> bool {
    match value {
        Value::Array(items) => than == 0 || items.iter().any(|item| is_deeper(item, than - 1)),
        Value::Object(map) => than == 0 || map.values().any(|item| is_deeper(item, than - 1)),
        _ => false,
    }
}

/// A value as its JSON text: a database that takes JSON apart would change numbers and lose the order of fields.
mod as_text {
    use super::Value;
    use serde::{Deserialize as _, Deserializer, Serializer};

    #[allow(clippy::ref_option, reason = "serde gives a field by reference")]
    pub(super) fn serialize<S: Serializer>(value: &Option<Value>, s: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => s.serialize_str(&value.to_string()),
            None => s.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Value>, D::Error> {
        let text = Option::<String>::deserialize(d)?;
        // A draft that waited may have lost a piece in the middle; what is left is a text.
        Ok(text.map(|text| serde_json::from_str(&text).unwrap_or(Value::String(text))))
    }
}

/// A moment, to the last digit.
mod exactly {
    use super::Timestamp;
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(at: &Timestamp, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(at)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Timestamp, D::Error> {
        let text = String::deserialize(d)?;
        text.parse().map_err(|_| D::Error::custom("expected a time such as 2026-01-10T09:00:00.25Z"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value() -> Value {
        json!({ "name": "Ann", "age": 30, "tags": ["a", "b"], "more": { "city": "Graz", "list": [{ "x": "one" }, { "x": "two" }] } })
    }

    #[test]
    fn a_value_is_searched_by_what_people_would_say_of_it() {
        assert_eq!(
            Indexed::All.text_of(&value()),
            "name: Ann; age: 30; tags: a; tags: b; city: Graz; x: one; x: two"
        );
        assert_eq!(Indexed::Nothing.text_of(&value()), "");
        let paths = |all: &[&str]| {
            Indexed::Paths(all.iter().map(|path| (*path).to_owned()).collect()).text_of(&value())
        };
        assert_eq!(paths(&["name"]), "Ann");
        assert_eq!(paths(&["more.list[*].x", "tags[-1]", "nothing"]), "one; two; b");
        assert_eq!(paths(&["more.list[0].x"]), "one");
    }

    #[test]
    fn an_item_comes_back_from_its_json_as_it_was() {
        let text = r#"{"zebra":1.0,"apple":12345678901234567890,"nul":"\u0000","small":1e-7}"#;
        let given: Value = serde_json::from_str(text).unwrap();
        let item = Item::named(vec!["a".into(), "b".into()], "k", given.as_object().cloned().unwrap());
        let kept = serde_json::to_value(&item).unwrap();
        // A database that keeps JSON in a form of its own sorts names and writes numbers anew; a text it leaves alone.
        assert!(kept["value"].is_string());
        let back: Item = serde_json::from_value(kept).unwrap();
        assert_eq!(back, item);
        assert_eq!(back.value.unwrap().to_string(), given.to_string());
    }

    #[test]
    fn names_that_differ_have_different_slots_and_places() {
        let item = |namespace: &[&str], key: &str| {
            Item::named(namespace.iter().map(|word| (*word).to_owned()).collect(), key, Map::new())
        };
        let slots = [
            item(&["a", "b"], "c").slot("x"),
            item(&["a"], "b").slot("x"),
            item(&["a", "b", "c"], "c").slot("x"),
            item(&["ab"], "c").slot("x"),
        ];
        let distinct: std::collections::HashSet<&String> = slots.iter().collect();
        assert_eq!(distinct.len(), slots.len());
        assert!(item(&["a", "b"], "c").place().starts_with(&under(&["a".to_owned()])));
        assert!(!item(&["ab"], "c").place().starts_with(&under(&["a".to_owned()])));
        let labels = BTreeMap::from([("user_id".to_owned(), "ann".to_owned())]);
        let labelled = Item::labelled(labels, None);
        assert!(
            labelled.place().starts_with(&of_user("ann")) && !labelled.place().starts_with(&of_user("an"))
        );
        assert_ne!(labelled.slot("fact:1"), labelled.slot("fact:2"));
    }

    #[test]
    fn texts_are_shown_with_the_name_they_stand_under() {
        let mut item = Item::named(
            vec!["a".into()],
            "k",
            json!({ "password": "hunter2", "card": 4_111_111_111_111_111_u64, "n": 5, "deep": [{ "x": "y" }] })
                .as_object()
                .cloned()
                .unwrap(),
        );
        let mut seen = Vec::new();
        item.texts(&mut |field, text| {
            seen.push(format!("{field}|{text}"));
            if text.starts_with("card") {
                *text = "card: [cut]".to_owned();
            }
        });
        assert_eq!(seen, ["value|password: hunter2", "value|card: 4111111111111111", "value|x: y"]);
        assert_eq!(item.value.unwrap()["card"], "[cut]");
    }

    #[test]
    fn what_has_no_usable_name_or_is_too_large_is_refused() {
        let fails = |item: &Item| item.check().unwrap_err().code == Code::Validation;
        let named = |word: &str, key: &str| Item::named(vec![word.to_owned()], key, Map::new());
        assert!(named("a", "k").check().is_ok());
        assert!(named("größe 🎈", "a/b.c").check().is_ok());
        assert!(fails(&named("", "k")) && fails(&named("a", "")) && fails(&named("a\u{1f}b", "k")));
        assert!(fails(&named("a", &"k".repeat(LONGEST_NAME + 1))));
        assert!(fails(&Item::labelled(BTreeMap::new(), None)));
        assert!(fails(&Item::labelled(BTreeMap::from([("tenant".to_owned(), "x".to_owned())]), None)));
        let mut deep = json!("x");
        for _ in 0..DEEPEST + 1 {
            deep = json!({ "d": deep });
        }
        assert!(fails(&Item::named(vec!["a".into()], "k", deep.as_object().cloned().unwrap())));
        let long = json!({ "t": "x".repeat(LONGEST_VALUE) });
        assert!(fails(&Item::named(vec!["a".into()], "k", long.as_object().cloned().unwrap())));
    }
}

//! From JSON to a setting's value: forgiving when reading, strict when asked.
//!
//! Comes in: a raw JSON value and the key's row. Goes out: a value of the key's type, perhaps with a note about what was
//! changed, or why it cannot be one. Never here: which layer wins.

use super::keys::{Guard, KEYS, Key, Type};
use crate::kind::Kind;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The longest description that is kept.
const DESCRIPTION_MAX: usize = 500;

/// Folders below the memory root that no category may claim.
const RESERVED_FOLDERS: &[&str] = &["topics", "notes", "archive", "index", "quarantine"];

/// Most names of one sort, scopes or categories: each is looked at whenever a memory is read, so a clone must not bring more.
pub(super) const MOST_NAMES: usize = 1_000;

/// A value that could be used.
pub(super) struct Taken {
    pub(super) value: Value,
    pub(super) note: Option<String>,
}

/// A value that could not be used; for security settings, what counts instead.
pub(super) struct Bad {
    pub(super) message: String,
    pub(super) strictest: Option<Value>,
}

/// The value without any layer.
pub(super) fn default(key: &Key, name: &str) -> Option<Value> {
    let category = if key.name.contains('*') { key.matches(name).flatten() } else { None };
    let row = category.and_then(Kind::built_in).and_then(|kind| kind.row().copied());
    match (key.name, row) {
        ("categories.*.folder", Some(row)) => Some(json!(row.folder)),
        ("categories.*.folder", None) => category.map(|name| json!(name.replace('_', "-"))),
        ("categories.*.max_retained", Some(row)) if row.max_retained > 0 => Some(json!(row.max_retained)),
        ("triage.thresholds.*", Some(row)) => Some(json!(row.threshold)),
        ("triage.parallel.category_models.*", Some(row)) => Some(json!(row.model)),
        // Most defaults are one of two words or none; parsing them all was a good part of what a hook cost.
        _ => match key.default {
            "" => None,
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            other => serde_json::from_str(other).ok(),
        },
    }
}

/// Turns a raw value into one of the key's type.
pub(super) fn coerce(key: &Key, raw: &Value) -> Result<Taken, Bad> {
    let plain = |value: Value| Ok(Taken { value, note: None });
    let bad = |expected: &str| {
        let strictest = match key.guard {
            Guard::Tighten(order) | Guard::OwnTighten(order) => order.last().map(|word| json!(word)),
            _ => None,
        };
        let instead = strictest.as_ref().map_or_else(
            || "the value is ignored".to_owned(),
            |value| format!("`{}` counts", value.as_str().unwrap_or_default()),
        );
        Err(Bad { message: format!("expected {expected}; {instead}"), strictest })
    };
    match key.ty {
        Type::Switch => {
            let off = raw
                .as_str()
                .filter(|text| ["false", "off", "no", "0"].contains(&text.to_lowercase().as_str()));
            let note =
                off.map(|text| format!("the text \"{text}\" counts as on; write false, without quotes"));
            Ok(Taken { value: json!(is_on(raw)), note })
        }
        Type::Whole { min, max } => match whole(raw) {
            Some(n) => {
                let kept = n.clamp(min, max);
                let note = (kept != n).then(|| format!("{n} is outside {min} to {max}; {kept} counts"));
                Ok(Taken { value: json!(kept), note })
            }
            None => bad("a whole number"),
        },
        Type::Share => match number(raw) {
            Some(n) => {
                let kept = n.clamp(0.0, 1.0);
                let note = (kept != n).then(|| format!("{n} is outside 0 to 1; {kept} counts"));
                Ok(Taken { value: json!(kept), note })
            }
            None => bad("a finite number"),
        },
        Type::Text => match raw.as_str() {
            Some(text) if !text.is_empty() => {
                plain(json!(text.chars().take(DESCRIPTION_MAX).collect::<String>()))
            }
            _ => bad("text"),
        },
        Type::Choice(words) => match raw.as_str().and_then(|text| words.iter().find(|word| **word == text)) {
            Some(word) => plain(json!(word)),
            None => bad(&one_of(words)),
        },
        Type::Folder => match raw.as_str().filter(|text| is_folder(text)) {
            Some(text) => plain(json!(text)),
            None => bad("a folder name of letters, digits and hyphens that no shelf uses"),
        },
        Type::Path => match raw.as_str().filter(|text| !text.trim().is_empty() && !text.contains('\0')) {
            Some(text) => plain(json!(text)),
            None => bad("a path"),
        },
        Type::Model => match raw.as_str().map(str::to_lowercase) {
            Some(text) if ["haiku", "sonnet", "opus"].contains(&text.as_str()) => plain(json!(text)),
            _ => bad("haiku, sonnet or opus"),
        },
        Type::Fields => match fields(raw) {
            Some(value) => plain(value),
            None => bad("a list of {name, type, required} with different names"),
        },
        Type::Name => match raw.as_str().map(str::to_lowercase).filter(|name| is_short_name(name)) {
            Some(name) => plain(json!(name)),
            None => bad("a name of letters, digits, hyphens and underscores"),
        },
        Type::Names => match names(raw) {
            Some(taken) => Ok(taken),
            None => bad("a list of names of letters, digits, hyphens and underscores"),
        },
        Type::Address => match raw.as_str().filter(|text| is_address(text)) {
            Some(text) => plain(json!(text)),
            None => bad("an https address, or http to this machine"),
        },
        Type::Rules => match raw {
            Value::Array(_) => plain(raw.clone()),
            _ => bad("a list of rules"),
        },
    }
}

/// Whether a value is fit to be set on purpose: no silent correction, unlike when files are read.
pub fn check(name: &str, raw: &Value) -> Result<Value, String> {
    let Some(key) = Key::find(name) else {
        let near = suggestion(name).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        return Err(format!("there is no setting `{name}`{near}"));
    };
    if let Some(Some(agent)) = key.matches(name).filter(|_| key.is_per_agent()) {
        if !is_short_name(agent) {
            return Err(format!(
                "`{agent}` cannot be an agent's name; use letters, digits, hyphens and underscores"
            ));
        }
    } else if let Some(Some(category)) = key.matches(name)
        && !is_category(category)
    {
        return Err(format!("`{category}` cannot be a category name; use letters, digits and underscores"));
    }
    if key.ty == Type::Switch && !raw.is_boolean() {
        return Err("expected true or false".to_owned());
    }
    match coerce(key, raw) {
        Ok(Taken { value, note: None }) => Ok(value),
        Ok(Taken { note: Some(note), .. }) => Err(note.split(';').next().unwrap_or_default().to_owned()),
        Err(bad) => Err(bad.message.split(';').next().unwrap_or_default().to_owned()),
    }
}

/// A document with the settings that `init` writes.
pub fn empty_document() -> Value {
    let mut categories = Map::new();
    for row in &crate::kind::RECORD_KINDS {
        let mut entry = json!({
            "enabled": true, "folder": row.folder, "auto_capture": true, "retention_days": row.retention_days,
        });
        if row.max_retained > 0 {
            entry["max_retained"] = json!(row.max_retained);
        }
        categories.insert(row.name.to_owned(), entry);
    }
    json!({
        "memory_root": ".claude/memory",
        "categories": categories,
        "auto_commit": false,
        "max_memories_per_category": 100,
        "retrieval": { "max_inject": 5, "match_strategy": "title_tags" },
        "delete": { "grace_period_days": 30, "archive_retired": true },
    })
}

/// How strict a value is among the words of a guard, from 0 for the loosest. What cannot be read counts as the strictest.
pub(super) fn strictness(key: &Key, order: &[&str], raw: &Value) -> usize {
    match coerce(key, raw) {
        Ok(Taken { value, .. }) => rank(order, &value),
        Err(_) => order.len().saturating_sub(1),
    }
}

/// The place of a value among the words of a guard.
pub(super) fn rank(order: &[&str], value: &Value) -> usize {
    order.iter().position(|word| word_of(value) == *word).unwrap_or(0)
}

/// A value as one of the words of a guard's order; a switch is `true` or `false`.
pub(super) fn word_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Whether only a person may give this value with a call: it is guarded, and not what the guard would choose anyway.
pub fn needs_person(key: &Key, raw: &Value) -> bool {
    match key.guard {
        Guard::Tighten(order) | Guard::OwnTighten(order) => strictness(key, order, raw) + 1 < order.len(),
        Guard::UserOnly => true,
        Guard::InsideProject => raw.as_str().is_some_and(leads_out),
        Guard::Open | Guard::UserFirst | Guard::NotProject | Guard::Adds => false,
    }
}

/// Whether a path leads out of the project it is given in.
pub(super) fn leads_out(path: &str) -> bool {
    path.starts_with(['/', '~']) || path.split(['/', '\\']).any(|part| part == "..")
}

/// Whether a path holds nothing but what paths are made of: it is shown to models.
pub(super) fn is_plain_path(path: &str) -> bool {
    const LONGEST: usize = 120;
    let fine = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
    path.chars().count() <= LONGEST && path.chars().all(fine)
}

/// Whether a category of records may have this name, built-in ones included.
pub(super) fn is_category(name: &str) -> bool {
    Kind::RECORDS.iter().any(|kind| kind.name() == name) || is_custom_name(name)
}

/// Whether a custom category may have this name.
pub(super) fn is_custom_name(name: &str) -> bool {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.len() <= 40
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    plain && Kind::built_in(name).is_none()
}

fn is_folder(text: &str) -> bool {
    let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    plain && !text.is_empty() && text.len() <= 60 && !RESERVED_FOLDERS.contains(&text.to_lowercase().as_str())
}

fn is_on(raw: &Value) -> bool {
    match raw {
        Value::Null => false,
        Value::Bool(on) => *on,
        Value::Number(n) => n.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(entries) => !entries.is_empty(),
    }
}

fn whole(raw: &Value) -> Option<i64> {
    match raw {
        Value::Bool(on) => Some(i64::from(*on)),
        Value::Number(n) => n.as_i64().or_else(|| n.as_f64().map(|f| f as i64)),
        Value::String(text) => text.trim().replace('_', "").parse().ok(),
        _ => None,
    }
}

fn number(raw: &Value) -> Option<f64> {
    let n = match raw {
        Value::Bool(on) => f64::from(u8::from(*on)),
        Value::Number(n) => n.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    n.is_finite().then_some(n)
}

/// A custom category's fields in one form, or nothing if they cannot be used.
fn fields(raw: &Value) -> Option<Value> {
    let mut seen = BTreeSet::new();
    let mut out = Vec::new();
    for item in raw.as_array()? {
        let name = item.get("name")?.as_str()?;
        let plain = !name.is_empty()
            && name.len() <= 40
            && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        let ty = item.get("type").map_or(Some("text"), Value::as_str)?;
        let required = item.get("required").map_or(Some(false), Value::as_bool)?;
        if !plain || !["text", "list"].contains(&ty) || !seen.insert(name) {
            return None;
        }
        out.push(json!({ "name": name, "type": ty, "required": required }));
    }
    (!out.is_empty()).then_some(Value::Array(out))
}

/// Whether a text can name a scope or an agent.
pub(super) fn is_short_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_')
}

/// Names in lower case, each once; not more than anybody has use for.
fn names(raw: &Value) -> Option<Taken> {
    let mut seen = BTreeSet::new();
    let mut out: Vec<Value> = Vec::new();
    for item in raw.as_array()? {
        let name = item.as_str().map(str::to_lowercase).filter(|name| is_short_name(name))?;
        if seen.insert(name.clone()) {
            out.push(json!(name));
        }
    }
    let note =
        (out.len() > MOST_NAMES).then(|| format!("the first {MOST_NAMES} of {} names count", out.len()));
    out.truncate(MOST_NAMES);
    Some(Taken { value: Value::Array(out), note })
}

/// Whether a text may be called: what goes over a network goes encrypted. No user or password stands in it; keys have a place of their own.
fn is_address(text: &str) -> bool {
    let plain = !text.chars().any(|c| c.is_whitespace() || c.is_control()) && text.len() <= 500;
    let host = |rest: &str| rest.split(['/', '?', '#']).next().unwrap_or_default().to_lowercase();
    let named = |host: &str| !host.is_empty() && !host.contains('@');
    let secure = text.strip_prefix("https://").is_some_and(|rest| named(&host(rest)));
    let local = text.strip_prefix("http://").is_some_and(|rest| {
        let host = host(rest);
        let without_port = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
            _ => &host,
        };
        matches!(without_port, "localhost" | "127.0.0.1" | "[::1]")
    });
    plain && (secure || local)
}

fn one_of(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    if quoted.len() == 1 { quoted.concat() } else { format!("one of {}", quoted.join(", ")) }
}

/// The setting whose name is nearest, if it is near at all.
pub(super) fn suggestion(name: &str) -> Option<&'static str> {
    KEYS.iter()
        .map(|key| (distance(name, key.name), key.name))
        .min()
        .filter(|(distance, key)| *distance <= 1 + key.len() / 5)
        .map(|(_, key)| key)
}

/// Edit distance between two short names.
pub fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(80).collect(), b.chars().collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let next = (diagonal + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], next);
        }
    }
    row[b.len()]
}

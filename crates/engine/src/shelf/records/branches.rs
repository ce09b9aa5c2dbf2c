//! Merging two versions of a record, for git.
//!
//! Comes in: the common base and both sides. Goes out: one record in which each side's changed fields count. Lists that only grow (tags, related
//! files, the history) are joined; counters and times follow. A field that both sides changed differently stands there twice, between marks,
//! each time as lines that could stand alone. Never here: a choice between two texts; reading or writing.

use super::document::{CHANGES_MAX, Document};
use super::fix::TAG_MAX;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The marks around what both sides changed, as git writes them.
const OURS: &str = "<<<<<<< ours";
const BETWEEN: &str = "=======";
const THEIRS: &str = ">>>>>>> theirs";

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joined {
    /// The file.
    pub bytes: Vec<u8>,
    /// The fields that both sides changed differently, `content.rule` or `title`; `the whole file` if a side is no record.
    pub conflicts: Vec<String>,
}

impl Joined {
    /// Without conflicts.
    pub fn whole(bytes: Vec<u8>) -> Joined {
        Joined { bytes, conflicts: Vec::new() }
    }
}

/// Joins two versions of a record.
pub fn merge_record(base: &[u8], ours: &[u8], theirs: &[u8]) -> Joined {
    if ours == theirs || base == theirs {
        return Joined::whole(ours.to_vec());
    }
    if base == ours {
        return Joined::whole(theirs.to_vec());
    }
    // Both sides may have made it; then there is nothing in common.
    let old = Document::parse(base).unwrap_or_default();
    let (Ok(ours_read), Ok(theirs_read)) = (Document::parse(ours), Document::parse(theirs)) else {
        let line: &[u8] = b"\n";
        let marks = [OURS, BETWEEN, THEIRS].map(|mark| format!("{mark}\n").into_bytes());
        let bytes =
            [&marks[0], ours, ended(ours, line), &marks[1], theirs, ended(theirs, line), &marks[2]].concat();
        return Joined { bytes, conflicts: vec!["the whole file".to_owned()] };
    };
    let (mine, other) = (ours_read.0, theirs_read.0);
    let mut conflicts = BTreeMap::new();
    let mut merged = Map::new();
    for key in keys(&mine, &other) {
        let sides = [old.0.get(&key), mine.get(&key), other.get(&key)];
        match by_rule(&key, sides) {
            Some(value) => drop(merged.insert(key, value)),
            None if key == "content" => {
                let content = |side: Option<&Value>| side.and_then(Value::as_object).cloned();
                let [Some(mine), Some(other)] = [content(sides[1]), content(sides[2])] else {
                    put(&mut merged, &mut conflicts, &key, "", sides);
                    continue;
                };
                let old = content(sides[0]).unwrap_or_default();
                let mut inner = Map::new();
                for name in keys(&mine, &other) {
                    let sides = [old.get(&name), mine.get(&name), other.get(&name)];
                    put(&mut inner, &mut conflicts, &name, "content.", sides);
                }
                merged.insert(key, Value::Object(inner));
            }
            None => put(&mut merged, &mut conflicts, &key, "", sides),
        }
    }
    if conflicts.is_empty() {
        return Joined::whole(Document(merged).to_bytes());
    }
    Joined { bytes: marked(&merged, &conflicts).into_bytes(), conflicts: conflicts.into_keys().collect() }
}

fn ended<'b>(text: &[u8], line: &'b [u8]) -> &'b [u8] {
    if text.ends_with(b"\n") { b"" } else { line }
}

/// What stands between the marks: the sides' values, where they have one.
type Sides = (Option<Value>, Option<Value>);

/// The keys of both, ours in our order; one that only they have comes after the one it follows there.
fn keys(ours: &Map<String, Value>, theirs: &Map<String, Value>) -> Vec<String> {
    let mut all: Vec<String> = ours.keys().cloned().collect();
    let mut before: Option<&String> = None;
    for key in theirs.keys() {
        if !ours.contains_key(key) {
            let at =
                before.and_then(|before| all.iter().position(|known| known == before)).map_or(0, |at| at + 1);
            all.insert(at, key.clone());
        }
        before = Some(key);
    }
    all
}

/// One field by the rule for all: a side that changed nothing has no say. Both counts as a conflict.
fn put(
    into: &mut Map<String, Value>,
    conflicts: &mut BTreeMap<String, Sides>,
    key: &str,
    path: &str,
    [old, mine, other]: [Option<&Value>; 3],
) {
    let value = if mine == other || other == old {
        mine
    } else if mine == old {
        other
    } else {
        conflicts.insert(format!("{path}{key}"), (mine.cloned(), other.cloned()));
        // It holds the field's place.
        Some(mine.unwrap_or(&Value::Null))
    };
    if let Some(value) = value {
        into.insert(key.to_owned(), value.clone());
    }
}

/// Fields that both sides may change without contradicting each other.
fn by_rule(key: &str, [old, mine, other]: [Option<&Value>; 3]) -> Option<Value> {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned();
    match key {
        "updated_at" => text(mine).max(text(other)).map(Value::String),
        "created_at" | "retired_at" | "archived_at" if mine != old && other != old => {
            Some(Value::String(text(mine)?.min(text(other)?)))
        }
        "times_updated" => {
            let count = |value: Option<&Value>| value.and_then(Value::as_u64);
            let (mine, other, old) = (count(mine)?, count(other)?, count(old).unwrap_or_default());
            Some(json!(mine.saturating_add(other.saturating_sub(old))))
        }
        "changes" => Some(history(&list(old).unwrap_or_default(), &list(mine)?, &list(other)?)),
        "tags" => {
            let old = list(old).unwrap_or_default();
            let mut tags = together(&old, &list(mine)?, &list(other)?);
            // What the record had comes first, as everywhere.
            tags.sort_by_key(|tag| (!old.contains(tag), tag.as_str().map(str::to_owned)));
            tags.truncate(TAG_MAX);
            tags.sort_by_key(|tag| tag.as_str().map(str::to_owned));
            Some(Value::Array(tags))
        }
        "related_files" => {
            let list = |value: Option<&Value>| list(value).unwrap_or_default();
            Some(Value::Array(together(&list(old), &list(mine), &list(other))))
        }
        _ => None,
    }
}

/// What either side added is there, what either took out is gone.
fn together(old: &[Value], mine: &[Value], other: &[Value]) -> Vec<Value> {
    let mut all: Vec<Value> =
        mine.iter().filter(|item| !old.contains(item) || other.contains(item)).cloned().collect();
    for item in other.iter().filter(|item| !old.contains(item)) {
        if !all.contains(item) {
            all.push(item.clone());
        }
    }
    all
}

/// Both histories in the order of time; the oldest entries go where there are too many.
fn history(old: &[Value], mine: &[Value], other: &[Value]) -> Value {
    let mut all = mine.to_vec();
    all.extend(other.iter().filter(|entry| !old.contains(entry) && !mine.contains(entry)).cloned());
    all.sort_by_key(|entry| entry.get("date").and_then(Value::as_str).unwrap_or_default().to_owned());
    let too_many = all.len().saturating_sub(CHANGES_MAX);
    Value::Array(all.split_off(too_many))
}

/// The record with each conflict between marks.
fn marked(merged: &Map<String, Value>, conflicts: &BTreeMap<String, Sides>) -> String {
    let mut out = String::from("{\n");
    object(merged, "", 1, conflicts, &mut out);
    out.push_str("}\n");
    out
}

fn object(
    fields: &Map<String, Value>,
    path: &str,
    depth: usize,
    conflicts: &BTreeMap<String, Sides>,
    out: &mut String,
) {
    let name = |key: &String| format!("{path}{key}");
    // One that a side lacks comes first: wherever the choice falls, the comma after the lines before it is right.
    let lacks = |key: &String| conflicts.get(&name(key)).is_some_and(|(a, b)| a.is_none() || b.is_none());
    let (first, rest): (Vec<&String>, Vec<&String>) = fields.keys().partition(|key| lacks(key));
    let order: Vec<&String> = first.into_iter().chain(rest).collect();
    for (at, key) in order.iter().enumerate() {
        let comma = if at + 1 == order.len() { "" } else { "," };
        match (conflicts.get(&name(key)), &fields[*key]) {
            (Some((mine, other)), _) => {
                out.push_str(&format!("{OURS}\n{}", lines(key, mine.as_ref(), depth, comma)));
                out.push_str(&format!("{BETWEEN}\n{}", lines(key, other.as_ref(), depth, comma)));
                out.push_str(&format!("{THEIRS}\n"));
            }
            (None, Value::Object(inner)) if key.as_str() == "content" && path.is_empty() => {
                let pad = "  ".repeat(depth);
                out.push_str(&format!("{pad}\"content\": {{\n"));
                object(inner, "content.", depth + 1, conflicts, out);
                out.push_str(&format!("{pad}}}{comma}\n"));
            }
            (None, value) => out.push_str(&lines(key, Some(value), depth, comma)),
        }
    }
}

/// A field as it stands in the file.
fn lines(key: &str, value: Option<&Value>, depth: usize, comma: &str) -> String {
    let Some(value) = value else { return String::new() };
    let pad = "  ".repeat(depth);
    let value = serde_json::to_string_pretty(value).unwrap_or_default().replace('\n', &format!("\n{pad}"));
    format!("{pad}{}: {value}{comma}\n", Value::String(key.to_owned()))
}

/// The fields that stand between marks in a file, with the line where each begins.
pub(super) fn marked_fields(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut inside: Option<usize> = None;
    let mut in_content = false;
    for (at, line) in text.lines().enumerate() {
        if line.starts_with("<<<<<<< ") {
            inside = Some(at + 1);
        } else if line.starts_with(">>>>>>> ") {
            inside = None;
        } else {
            let indent = line.len() - line.trim_start().len();
            let Some(key) = line.trim_start().strip_prefix('"').and_then(|rest| rest.split_once("\":"))
            else {
                continue;
            };
            if indent <= 2 {
                in_content = key.0 == "content" && inside.is_none();
            }
            let path = match indent {
                0..=2 => key.0.to_owned(),
                3 | 4 if in_content => format!("content.{}", key.0),
                _ => continue,
            };
            if let Some(begins) = inside
                && !found.iter().any(|(_, known)| *known == path)
            {
                found.push((begins, path));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record(change: impl FnOnce(&mut Value)) -> Vec<u8> {
        let mut record = json!({
            "schema_version": "1.0", "category": "constraint", "id": "calls", "title": "Calls",
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "tags": ["a", "b"],
            "content": {"kind": "policy", "rule": "100 calls", "impact": ["slow"], "severity": "low", "active": true},
            "times_updated": 1, "changes": [{"date": "2026-01-01T00:00:00Z", "summary": "first"}],
        });
        change(&mut record);
        Document(record.as_object().unwrap().clone()).to_bytes()
    }

    fn read(joined: &Joined) -> Value {
        assert_eq!(joined.conflicts, Vec::<String>::new());
        serde_json::from_slice(&joined.bytes).unwrap()
    }

    #[test]
    fn different_fields_of_one_record_merge_with_both_histories() {
        let edit = |key: &str, value: &str, date: &str| {
            let (key, value, date) = (key.to_owned(), value.to_owned(), date.to_owned());
            record(move |r| {
                r["content"][key.as_str()] = json!(value);
                r["updated_at"] = json!(date);
                r["times_updated"] = json!(2);
                r["tags"] = json!(["a", "b", key]);
                r["changes"].as_array_mut().unwrap().push(json!({"date": date, "summary": key}));
            })
        };
        let ours = edit("rule", "50 calls", "2026-01-03T00:00:00Z");
        let theirs = edit("severity", "high", "2026-01-02T00:00:00Z");
        let merged = read(&merge_record(&record(|_| {}), &ours, &theirs));
        assert_eq!(
            (&merged["content"]["rule"], &merged["content"]["severity"]),
            (&json!("50 calls"), &json!("high"))
        );
        assert_eq!(
            (&merged["updated_at"], &merged["times_updated"]),
            (&json!("2026-01-03T00:00:00Z"), &json!(3))
        );
        assert_eq!(merged["tags"], json!(["a", "b", "rule", "severity"]));
        let told: Vec<&Value> = merged["changes"].as_array().unwrap().iter().map(|c| &c["summary"]).collect();
        assert_eq!(told, [&json!("first"), &json!("severity"), &json!("rule")]);
    }

    #[test]
    fn the_same_field_conflicts_and_either_choice_is_a_record() {
        let base = record(|_| {});
        let ours = record(|r| r["content"]["rule"] = json!("50 calls"));
        let theirs = record(|r| {
            r["content"]["rule"] = json!("200 calls");
            r["content"]["severity"] = json!("high");
        });
        let joined = merge_record(&base, &ours, &theirs);
        assert_eq!(joined.conflicts, ["content.rule"]);
        let text = String::from_utf8(joined.bytes).unwrap();
        let (head, rest) = text.split_once("<<<<<<< ours\n").unwrap();
        let (mine, rest) = rest.split_once("=======\n").unwrap();
        let (other, tail) = rest.split_once(">>>>>>> theirs\n").unwrap();
        for (side, rule) in [(mine, "50 calls"), (other, "200 calls")] {
            let chosen: Value = serde_json::from_str(&format!("{head}{side}{tail}")).unwrap();
            assert_eq!(
                (&chosen["content"]["rule"], &chosen["content"]["severity"]),
                (&json!(rule), &json!("high"))
            );
        }
        assert_eq!(
            marked_fields(&text).into_iter().map(|(_, field)| field).collect::<Vec<_>>(),
            ["content.rule"]
        );
    }

    #[test]
    fn a_field_that_one_side_took_out_and_the_other_changed_conflicts_too() {
        let base = record(|r| r["content"]["expires"] = json!("soon"));
        let ours = record(|r| drop(r["content"].as_object_mut().unwrap().remove("expires")));
        let theirs = record(|r| r["content"]["expires"] = json!("never"));
        let joined = merge_record(&base, &ours, &theirs);
        assert_eq!(joined.conflicts, ["content.expires"]);
        let text = String::from_utf8(joined.bytes).unwrap();
        let without: String = {
            let (head, rest) = text.split_once("<<<<<<< ours\n").unwrap();
            format!("{head}{}", rest.split_once(">>>>>>> theirs\n").unwrap().1)
        };
        assert!(serde_json::from_str::<Value>(&without).unwrap()["content"].get("expires").is_none());
    }

    #[test]
    fn what_is_no_record_stands_side_by_side() {
        let joined = merge_record(b"", b"no json", &record(|_| {}));
        assert_eq!(joined.conflicts, ["the whole file"]);
        assert!(joined.bytes.starts_with(b"<<<<<<< ours\nno json\n=======\n{"));
    }

    proptest! {
        #[test]
        fn a_side_that_changed_nothing_has_no_say(rule in "[a-z]{0,4}", tag in "[a-e]", title in "[a-z]{1,3}") {
            let base = record(|_| {});
            let changed = record(|r| {
                r["content"]["rule"] = json!(rule);
                r["tags"] = json!([tag]);
                r["title"] = json!(title);
            });
            for joined in [merge_record(&base, &changed, &base), merge_record(&base, &base, &changed), merge_record(&base, &changed, &changed)] {
                prop_assert_eq!(&joined.bytes, &changed);
                prop_assert!(joined.conflicts.is_empty());
            }
        }
    }
}

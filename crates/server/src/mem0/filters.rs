//! Filters as mem0 writes them: fields, comparisons, `AND`, `OR`, `NOT`, nested.
//!
//! Comes in: the `filters` of a request, and labels beside them. Goes out: a condition of the engine's. Every field of an object must be met. Never
//! here: whether a condition says enough; the verb asks for a label.

use super::{Asked, wrong};
use heirloom_core::fault::Result;
use heirloom_engine::verbs::items::{Compare, Condition};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The labels, by mem0's names.
pub(super) const LABELS: [&str; 4] = ["user_id", "agent_id", "app_id", "run_id"];

/// How deep a filter may nest.
const DEEPEST: usize = 16;

/// What a request wants: its filters, and labels that stand beside them.
pub(super) fn wanted(asked: &Asked) -> Result<Condition> {
    let mut all = Vec::new();
    if let Some(filters) = asked.field("filters") {
        all.push(read(filters, DEEPEST)?);
    }
    for name in LABELS {
        if let Some(value) = asked.field(name) {
            all.push(field(name, value)?);
        } else if let Some(text) = asked.of_query(name) {
            all.push(field(name, &json!(text))?);
        }
    }
    Ok(Condition::All(all))
}

/// The labels of something new: beside the filters, or in them.
pub(super) fn labels(asked: &Asked) -> Result<BTreeMap<String, String>> {
    let mut labels = BTreeMap::new();
    for name in LABELS {
        if let Some(value) = asked.field(name) {
            put(&mut labels, name, value)?;
        } else if let Some(text) = asked.of_query(name) {
            put(&mut labels, name, &json!(text))?;
        }
    }
    if let Some(filters) = asked.field("filters") {
        in_filters(filters, &mut labels, DEEPEST)?;
    }
    Ok(labels)
}

/// Labels that filters fix. Anything else in them says nothing about something new.
fn in_filters(filters: &Value, labels: &mut BTreeMap<String, String>, deep: usize) -> Result<()> {
    let fields = filters.as_object().ok_or_else(not_an_object)?;
    for (name, value) in fields {
        match name.to_ascii_uppercase().as_str() {
            "AND" if deep > 0 => {
                for one in value.as_array().into_iter().flatten() {
                    in_filters(one, labels, deep - 1)?;
                }
            }
            _ if LABELS.contains(&name.as_str()) => put(labels, name, value)?,
            _ => return Err(wrong("filters", "filters of something new hold labels only", HINT)),
        }
    }
    Ok(())
}

const HINT: &str = "send {\"user_id\": \"ann\"}, or agent_id, app_id, run_id";

fn put(labels: &mut BTreeMap<String, String>, name: &str, value: &Value) -> Result<()> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Null => return Ok(()),
        _ => return Err(wrong(name, format!("`{name}` must be a text"), HINT)),
    };
    match labels.insert(name.to_owned(), text.clone()) {
        Some(other) if other != text => Err(wrong(name, format!("`{name}` is given twice"), "send it once")),
        _ => Ok(()),
    }
}

fn not_an_object() -> heirloom_core::Fault {
    wrong("filters", "`filters` must be an object", HINT)
}

fn read(filters: &Value, deep: usize) -> Result<Condition> {
    let fields = filters.as_object().ok_or_else(not_an_object)?;
    if deep == 0 {
        return Err(wrong("filters", format!("`filters` nest deeper than {DEEPEST} levels"), "flatten them"));
    }
    let several = |value: &Value| -> Result<Vec<Condition>> {
        match value {
            Value::Array(all) => all.iter().map(|one| read(one, deep - 1)).collect(),
            one => Ok(vec![read(one, deep - 1)?]),
        }
    };
    let mut all = Vec::new();
    for (name, value) in fields {
        all.push(match name.to_ascii_uppercase().as_str() {
            "AND" => Condition::All(several(value)?),
            "OR" => Condition::Any(several(value)?),
            "NOT" => Condition::None(several(value)?),
            "METADATA" => match value {
                Value::Object(fields) => of_metadata(fields)?,
                _ => return Err(wrong("filters", "`metadata` must be an object", "name its fields")),
            },
            _ => field(name, value)?,
        });
    }
    Ok(Condition::All(all))
}

fn of_metadata(fields: &Map<String, Value>) -> Result<Condition> {
    fields.iter().map(|(name, value)| field(name, value)).collect::<Result<Vec<_>>>().map(Condition::All)
}

/// What one field must be.
fn field(name: &str, value: &Value) -> Result<Condition> {
    // mem0 has several words for the same thing.
    let known = match name {
        "memory" | "keywords" => "text",
        "memory_id" | "memory_ids" | "ids" => "id",
        name => name,
    };
    let one = |compare, value: Value| Condition::Field(known.to_owned(), compare, value);
    let label = |value: &Value| match value {
        Value::Number(number) if LABELS.contains(&known) => json!(number.to_string()),
        value => value.clone(),
    };
    Ok(match value {
        Value::String(text) if text == "*" => one(Compare::Exists, Value::Null),
        Value::Array(_) => one(Compare::In, value.clone()),
        Value::Object(compared)
            if known != "metadata" && compared.keys().any(|name| comparison(name).is_some()) =>
        {
            let mut all = Vec::new();
            for (name, value) in compared {
                let compare = comparison(name).ok_or_else(unknown_comparison)?;
                all.push(one(compare, label(value)));
            }
            Condition::All(all)
        }
        Value::Object(_) if LABELS.contains(&known) => return Err(unknown_comparison()),
        value => one(Compare::Equal, label(value)),
    })
}

fn comparison(name: &str) -> Option<Compare> {
    Some(match name {
        "eq" => Compare::Equal,
        "ne" => Compare::NotEqual,
        "gt" => Compare::Greater,
        "gte" => Compare::GreaterOrEqual,
        "lt" => Compare::Less,
        "lte" => Compare::LessOrEqual,
        "in" => Compare::In,
        "nin" | "not_in" => Compare::NotIn,
        "contains" => Compare::Contains,
        "icontains" => Compare::ContainsAnyCase,
        _ => return None,
    })
}

fn unknown_comparison() -> heirloom_core::Fault {
    let hint = "use eq, ne, gt, gte, lt, lte, in, nin, contains or icontains";
    wrong("filters", "the filters have an unknown comparison", hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str, compare: Compare, value: Value) -> Condition {
        Condition::Field(name.to_owned(), compare, value)
    }

    fn condition(filters: Value) -> Condition {
        read(&filters, DEEPEST).unwrap()
    }

    #[test]
    fn filters_are_read_as_they_nest() {
        let nested = json!({ "AND": [{ "user_id": "ann" }, { "OR": [{ "run_id": "*" }, { "n": { "gte": 1, "lt": 3 } }] }], "NOT": [{ "metadata": { "k": "v" } }] });
        let wanted = Condition::All(vec![
            Condition::All(vec![
                Condition::All(vec![field("user_id", Compare::Equal, json!("ann"))]),
                Condition::All(vec![Condition::Any(vec![
                    Condition::All(vec![field("run_id", Compare::Exists, Value::Null)]),
                    Condition::All(vec![Condition::All(vec![
                        field("n", Compare::GreaterOrEqual, json!(1)),
                        field("n", Compare::Less, json!(3)),
                    ])]),
                ])]),
            ]),
            Condition::None(vec![Condition::All(vec![Condition::All(vec![field(
                "k",
                Compare::Equal,
                json!("v"),
            )])])]),
        ]);
        assert_eq!(condition(nested), wanted);
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        let mut deep = json!({ "user_id": "ann" });
        for _ in 0..DEEPEST {
            deep = json!({ "AND": [deep] });
        }
        for filters in [
            json!("ann"),
            json!({ "AND": ["ann"] }),
            json!({ "user_id": { "like": "a" } }),
            json!({ "n": { "gt": 1, "regex": "x" } }),
            json!({ "metadata": "x" }),
            deep,
        ] {
            assert!(read(&filters, DEEPEST).is_err(), "{filters}");
        }
    }

    #[test]
    fn labels_of_something_new_stand_beside_filters_or_in_them() {
        let labels =
            |body: Value| labels(&Asked { body: body.as_object().cloned().unwrap(), ..Asked::default() });
        assert_eq!(labels(json!({ "user_id": "ann" })).unwrap()["user_id"], "ann");
        let in_filters = json!({ "filters": { "AND": [{ "user_id": "ann" }, { "run_id": 7 }] } });
        assert_eq!(labels(in_filters).unwrap()["run_id"], "7");
        assert!(labels(json!({ "user_id": null })).unwrap().is_empty());
        assert!(labels(json!({ "user_id": "ann", "filters": { "user_id": "bob" } })).is_err());
        assert!(labels(json!({ "filters": { "OR": [{ "user_id": "ann" }] } })).is_err());
        assert!(labels(json!({ "user_id": ["ann"] })).is_err());
    }
}

//! Filters on the fields of a value: equality, and comparisons by `$eq`, `$ne`, `$gt`, `$gte`, `$lt`, `$lte`.
//!
//! Comes in: a filter as it was given. Goes out: whether a value meets it, or which comparison nobody knows. Numbers compare as numbers, other
//! values as they are; what cannot be compared does not meet. Never here: items.

use heirloom_core::{Code, Fault, fault::Result};
use serde_json::{Map, Value};
use std::cmp::Ordering;

const KNOWN: [&str; 6] = ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"];

/// Refuses a filter with a comparison that nobody knows.
pub(super) fn check(filter: &Map<String, Value>) -> Result<()> {
    filter.values().try_for_each(check_one)
}

fn check_one(wanted: &Value) -> Result<()> {
    match wanted {
        Value::Object(map) if is_comparison(map) => {
            match map.keys().find(|name| !KNOWN.contains(&name.as_str())) {
                Some(_) => Err(Fault::new(Code::Validation, "the filter has an unknown comparison")
                    .fact("field", "filter")
                    .hint(format!("use {}", KNOWN.join(", ")))),
                None => Ok(()),
            }
        }
        Value::Object(map) => map.values().try_for_each(check_one),
        Value::Array(items) => items.iter().try_for_each(check_one),
        _ => Ok(()),
    }
}

/// Whether a value meets a filter: every field of it.
pub(super) fn meets(value: &Value, filter: &Map<String, Value>) -> bool {
    filter.iter().all(|(name, wanted)| fits(value.get(name).unwrap_or(&Value::Null), wanted))
}

fn fits(value: &Value, wanted: &Value) -> bool {
    match wanted {
        Value::Object(map) if is_comparison(map) => {
            map.iter().all(|(name, wanted)| compares(value, name, wanted))
        }
        Value::Object(map) => {
            value.is_object()
                && map.iter().all(|(name, wanted)| fits(value.get(name).unwrap_or(&Value::Null), wanted))
        }
        Value::Array(wanted) => match value {
            Value::Array(items) => {
                items.len() == wanted.len()
                    && items.iter().zip(wanted).all(|(item, wanted)| fits(item, wanted))
            }
            _ => false,
        },
        plain => same(value, plain),
    }
}

fn is_comparison(map: &Map<String, Value>) -> bool {
    map.keys().any(|name| name.starts_with('$'))
}

fn compares(value: &Value, name: &str, wanted: &Value) -> bool {
    let ordered = |fits: fn(Ordering) -> bool| order(value, wanted).is_some_and(fits);
    match name {
        "$eq" => same(value, wanted),
        "$ne" => !same(value, wanted),
        "$gt" => ordered(Ordering::is_gt),
        "$gte" => ordered(Ordering::is_ge),
        "$lt" => ordered(Ordering::is_lt),
        "$lte" => ordered(Ordering::is_le),
        _ => false,
    }
}

/// Whether two values are the same; 1 and 1.0 are.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// Which of two values comes first. A text that is a number counts as one beside a number.
pub(super) fn order(a: &Value, b: &Value) -> Option<Ordering> {
    let number = |value: &Value| match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse::<f64>().ok(),
        _ => None,
    };
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a.partial_cmp(&b),
        _ => match (a, b) {
            (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn met(filter: Value) -> bool {
        let value =
            json!({ "n": 5, "s": "b", "f": 1.0, "o": { "x": 1, "y": 2 }, "l": [1, "two"], "nothing": null });
        let filter = filter.as_object().cloned().unwrap();
        check(&filter).unwrap();
        meets(&value, &filter)
    }

    #[test]
    fn fields_are_compared_as_the_filter_says() {
        for yes in [
            json!({}),
            json!({ "n": 5, "s": "b" }),
            json!({ "f": 1 }),
            json!({ "n": { "$gt": 4, "$lte": 5 } }),
            json!({ "n": { "$ne": 6 } }),
            json!({ "n": { "$gte": "5" } }),
            json!({ "s": { "$lt": "c" } }),
            json!({ "o": { "x": 1 } }),
            json!({ "o": { "x": { "$gt": 0 } } }),
            json!({ "l": [1, "two"] }),
            json!({ "nothing": null, "missing": null }),
            json!({ "missing": { "$ne": 1 } }),
        ] {
            assert!(met(yes.clone()), "{yes}");
        }
        for no in [
            json!({ "n": "5" }),
            json!({ "n": { "$gt": 5 } }),
            json!({ "s": { "$gt": 1 } }),
            json!({ "missing": { "$gt": 0 } }),
            json!({ "o": { "x": 2 } }),
            json!({ "n": { "x": 1 } }),
            json!({ "l": [1] }),
            json!({ "n": true }),
        ] {
            assert!(!met(no.clone()), "{no}");
        }
    }

    #[test]
    fn a_comparison_nobody_knows_is_refused() {
        let filter = json!({ "n": { "$regex": "x" } });
        assert_eq!(check(filter.as_object().unwrap()).unwrap_err().code, Code::Validation);
    }
}

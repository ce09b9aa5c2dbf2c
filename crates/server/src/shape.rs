//! Values held against a schema, in words that name the place and never the value.
//!
//! Comes in: a schema of the plain sort that doors use, and what a client sent. Goes out: nothing, or what is wrong with it. Never here: a rule about
//! memories; those are the verbs'.

use serde_json::Value;

/// Whether a value is as the schema wants it.
pub(crate) fn fits(wanted: &Value, value: &Value) -> std::result::Result<(), String> {
    match wanted["type"].as_str() {
        Some("string") => {
            let text = value.as_str().ok_or("must be a text")?;
            let length = text.chars().count() as u64;
            if wanted["maxLength"].as_u64().is_some_and(|most| length > most)
                || wanted["minLength"].as_u64().is_some_and(|least| length < least)
            {
                return Err("is too short or too long".to_owned());
            }
            match wanted["enum"].as_array() {
                Some(words) if !words.iter().any(|word| word == text) => {
                    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                    Err(format!("must be one of {}", words.join(", ")))
                }
                _ => Ok(()),
            }
        }
        Some("boolean") => value.as_bool().map(|_| ()).ok_or_else(|| "must be true or false".to_owned()),
        Some("integer") => {
            let least = wanted["minimum"].as_i64().unwrap_or(0);
            let most = wanted["maximum"].as_i64().unwrap_or(i64::from(u32::MAX));
            // Some hosts write 10.0.
            let whole = value
                .as_i64()
                .or_else(|| value.as_f64().filter(|n| n.fract() == 0.0 && n.abs() < 9e15).map(|n| n as i64));
            match whole {
                Some(number) if (least..=most).contains(&number) => Ok(()),
                _ => Err(format!("must be a whole number from {least} to {most}")),
            }
        }
        Some("number") => {
            let (least, most) = (
                wanted["minimum"].as_f64().unwrap_or(f64::MIN),
                wanted["maximum"].as_f64().unwrap_or(f64::MAX),
            );
            match value.as_f64() {
                Some(number) if (least..=most).contains(&number) => Ok(()),
                _ => Err(format!("must be a number from {least} to {most}")),
            }
        }
        Some("array") => {
            let items = value.as_array().ok_or("must be a list")?;
            let count = items.len() as u64;
            if wanted["maxItems"].as_u64().is_some_and(|most| count > most)
                || wanted["minItems"].as_u64().is_some_and(|least| count < least)
            {
                return Err("holds too few or too many items".to_owned());
            }
            items.iter().try_for_each(|item| {
                fits(&wanted["items"], item).map_err(|what| format!("holds an item that {what}"))
            })
        }
        _ => {
            let fields = value.as_object().ok_or("must be an object")?;
            let known = wanted["properties"].as_object();
            for (name, value) in fields {
                let Some(wanted) = known.and_then(|all| all.get(name)) else {
                    if known.is_none() {
                        continue;
                    }
                    return Err("has a field nobody knows".to_owned());
                };
                fits(wanted, value).map_err(|what| format!("has a `{name}` that {what}"))?;
            }
            let required = wanted["required"].as_array();
            match required
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .find(|name| !fields.contains_key(*name))
            {
                Some(name) => Err(format!("has no `{name}`")),
                None => Ok(()),
            }
        }
    }
}

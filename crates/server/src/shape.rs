//! Values held against a schema, in words that name the place and never the value.
//!
//! Comes in: a schema of the plain sort that doors use, and what a client sent. Goes out: nothing, or what is wrong with it. Never here: a rule about
//! memories; those are the verbs'.

use serde_json::Value;

/// Whether a value is as the schema wants it.
pub(crate) fn fits(wanted: &Value, value: &Value) -> std::result::Result<(), String> {
    if let Some(either) = wanted["anyOf"].as_array() {
        return fits_one(either, value);
    }
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
                    return Err("has an unknown field".to_owned());
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

/// Whether a value is as one of several schemas wants it. Where each of them names its own word for a field, the one of that word says what is wrong.
fn fits_one(either: &[Value], value: &Value) -> std::result::Result<(), String> {
    let mut wrong = None;
    for wanted in either {
        let Err(what) = fits(wanted, value) else { return Ok(()) };
        if is_meant(wanted, value) || wrong.is_none() {
            wrong = Some(what);
        }
    }
    if !either.iter().any(|wanted| is_meant(wanted, value))
        && let Some(name) =
            either.first().and_then(|wanted| fixed(wanted).first().map(|(name, _)| (*name).clone()))
    {
        let words = either.iter().flat_map(fixed).filter(|(one, _)| **one == name);
        let words: Vec<&str> = words.filter_map(|(_, word)| word.as_str()).collect();
        return Err(format!("needs a `{name}` that is one of {}", words.join(", ")));
    }
    Err(wrong.unwrap_or_else(|| "is not known".to_owned()))
}

/// The fields of a schema that can be one word only.
fn fixed(wanted: &Value) -> Vec<(&String, &Value)> {
    let fields = wanted["properties"].as_object().into_iter().flatten();
    fields
        .filter_map(|(name, schema)| {
            Some((name, schema["enum"].as_array().filter(|words| words.len() == 1)?.first()?))
        })
        .collect()
}

/// Whether an object has the words that a schema fixes.
fn is_meant(wanted: &Value, value: &Value) -> bool {
    let fixed = fixed(wanted);
    !fixed.is_empty() && fixed.iter().all(|(name, word)| value.get(name.as_str()) == Some(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn one_of_several_schemas_is_enough_and_the_one_that_is_meant_says_what_is_wrong() {
        let named = |word: &str, field: &str| json!({ "type": "object", "properties": { "op": { "type": "string", "enum": [word] }, field: { "type": "string" } }, "required": ["op", field] });
        let either = json!({ "anyOf": [named("get", "key"), named("put", "value")] });
        assert!(fits(&either, &json!({ "op": "put", "value": "x" })).is_ok());
        assert_eq!(fits(&either, &json!({ "op": "put" })).unwrap_err(), "has no `value`");
        assert_eq!(fits(&either, &json!({ "op": "get" })).unwrap_err(), "has no `key`");
        let nobodys = fits(&either, &json!({ "op": "move" })).unwrap_err();
        assert_eq!(nobodys, "needs a `op` that is one of get, put");
        assert!(fits(&either, &json!(1)).is_err());
        let flag =
            json!({ "anyOf": [{ "type": "boolean" }, { "type": "array", "items": { "type": "string" } }] });
        assert!(fits(&flag, &json!(false)).is_ok() && fits(&flag, &json!(["a"])).is_ok());
        assert!(fits(&flag, &json!(5)).is_err());
    }
}

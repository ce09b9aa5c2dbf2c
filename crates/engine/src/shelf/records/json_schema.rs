//! JSON Schemas of the record categories, made from the table of kinds.
//!
//! Comes in: a category. Goes out: a JSON Schema (2020-12) that accepts what [`super::schema`] accepts in a stored file. Never
//! here: a field that the table does not know.

use super::document::{CHANGES_MAX, SUMMARY_MAX};
use super::schema::{ID_PATTERN, TITLE_MAX};
use heirloom_core::kind::Shape;
use heirloom_core::settings::Category;
use serde_json::{Map, Value, json};

/// The schema of a category's records.
pub fn json_schema(category: &Category) -> Value {
    let text = json!({ "type": "string" });
    let optional_text = json!({ "type": ["string", "null"] });
    let reason = json!({ "type": ["string", "null"], "maxLength": SUMMARY_MAX });
    let mut properties = Map::new();
    let mut add = |name: &str, schema: Value| {
        properties.insert(name.to_owned(), schema);
    };
    add("schema_version", json!({ "const": "1.0" }));
    add("category", json!({ "const": category.name() }));
    add("id", json!({ "type": "string", "pattern": ID_PATTERN }));
    add("title", json!({ "type": "string", "minLength": 1, "maxLength": TITLE_MAX }));
    add("record_status", json!({ "enum": ["active", "retired", "archived"] }));
    add("created_at", text.clone());
    add("updated_at", text.clone());
    add("tags", json!({ "type": "array", "items": text, "minItems": 1 }));
    add("related_files", json!({ "type": ["array", "null"], "items": text }));
    add("confidence", json!({ "type": ["number", "null"], "minimum": 0, "maximum": 1 }));
    add("content", content(category));
    add("changes", json!({ "type": ["array", "null"], "items": change(), "maxItems": CHANGES_MAX }));
    add("times_updated", json!({ "type": "integer" }));
    add("retired_at", optional_text.clone());
    add("retired_reason", reason.clone());
    add("archived_at", optional_text);
    add("archived_reason", reason);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("{} record", category.name()),
        "type": "object",
        "properties": properties,
        "required": ["schema_version", "category", "id", "title", "created_at", "updated_at", "tags", "content"],
        "additionalProperties": false,
    })
}

fn change() -> Value {
    json!({
        "type": "object",
        "properties": {
            "date": { "type": "string" },
            "summary": { "type": "string", "maxLength": SUMMARY_MAX },
            "field": { "type": ["string", "null"] },
            "old_value": true,
            "new_value": true,
        },
        "required": ["date", "summary"],
        "additionalProperties": false,
    })
}

fn content(category: &Category) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for field in category.fields() {
        if field.required {
            required.push(field.name);
        }
        let mut schema = shape(field.shape, field.required);
        if !field.help.is_empty() {
            schema["description"] = json!(field.help);
        }
        properties.insert(field.name.to_owned(), schema);
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn shape(shape: Shape, required: bool) -> Value {
    let ty = |name: &str| if required { json!(name) } else { json!([name, "null"]) };
    let texts = json!({ "type": "string" });
    match shape {
        Shape::Text => json!({ "type": ty("string") }),
        Shape::Flag => json!({ "type": ty("boolean") }),
        Shape::Choice(words) if required => json!({ "enum": words }),
        Shape::Choice(words) => {
            let mut allowed: Vec<Value> = words.iter().map(|word| json!(word)).collect();
            allowed.push(Value::Null);
            json!({ "enum": allowed })
        }
        Shape::List { min } => json!({ "type": ty("array"), "items": texts, "minItems": min }),
        Shape::Alternatives => json!({
            "type": ty("array"),
            "items": {
                "type": "object",
                "properties": { "option": texts, "rejected_reason": texts },
                "required": ["option", "rejected_reason"],
                "additionalProperties": false,
            },
        }),
        Shape::Examples => json!({
            "type": ty("object"),
            "properties": {
                "prefer": { "type": ["array", "null"], "items": texts },
                "avoid": { "type": ["array", "null"], "items": texts },
            },
            "additionalProperties": false,
        }),
    }
}

//! The one table of tools: names, what they are for, what they take, what they do to the world.
//!
//! Comes in: nothing. Goes out: the list a client gets, and [`check`], which holds arguments against the same table. Schemas are plain: one type
//! each, no `null`, no `anyOf`, no `$ref`, because hosts translate them into schemas of their own and lose what they do not know. Every word here is
//! paid for in every conversation. Never here: what a tool does.

use crate::shape::fits;
use heirloom_core::{Code, Fault, fault::Result};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};

/// Most hits or memories of a page.
pub(crate) const PAGE_MAX: u64 = 50;

/// What calling a tool does.
#[derive(Clone, Copy)]
enum Effect {
    /// It only looks.
    Reads,
    /// It adds and takes nothing away.
    Adds,
    /// It changes or takes out of use what is there.
    Changes,
}

struct Row {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    effect: Effect,
    /// Calling it twice is the same as calling it once.
    idempotent: bool,
    required: &'static [&'static str],
    takes: fn() -> Value,
}

const KIND: &str = "decision, runbook, constraint, tech_debt, preference, session_summary, lesson, note, fact, canon or register";

const TABLE: &[Row] = &[
    Row {
        name: "search_memories",
        title: "Search memories",
        about: "Find memories of this project and user by words or meaning. Gives ids and snippets; get_memory reads the whole.",
        effect: Effect::Reads,
        idempotent: true,
        required: &["query"],
        takes: || {
            json!({
                "query": text("Words or a question; filters such as kind:decision tag:db"),
                "kind": text("Only this kind"),
                "include_retired": flag("Also what is out of use"),
                "limit": count("Hits per page, 10 by default", PAGE_MAX),
                "cursor": text("next of the page before"),
            })
        },
    },
    Row {
        name: "get_memory",
        title: "Read memories",
        about: "Read whole memories by id, with the version that update_memory needs.",
        effect: Effect::Reads,
        idempotent: true,
        required: &["ids"],
        takes: || json!({ "ids": texts("Whole ids, up to 20"), "cursor": text("next of the part before") }),
    },
    Row {
        name: "add_memory",
        title: "Save a memory",
        about: "Save something worth knowing in later sessions, in one or two sentences. Never secrets. May wait for a person's review.",
        effect: Effect::Adds,
        idempotent: false,
        required: &["kind", "text"],
        takes: || {
            json!({
                "kind": text(KIND),
                "text": text("What to remember; a reason after \"because\""),
                "title": text("Short title"),
                "tags": texts("Tags"),
                "fields": texts("Further fields as name=value"),
                "topic": text("Topic of a lesson or register, like git/rebase"),
                "files": texts("Files it is about"),
            })
        },
    },
    Row {
        name: "update_memory",
        title: "Change a memory",
        about: "Change a memory. Needs the version from get_memory; a newer one is left alone. What a person wrote waits for review.",
        effect: Effect::Changes,
        idempotent: false,
        required: &["id", "version"],
        takes: || {
            json!({
                "id": text("Whole id"),
                "version": text("Version you read"),
                "title": text("New title"),
                "text": text("New text of a fact, canon or register"),
                "fields": texts("Fields of a record or lesson as name=value"),
                "tags": texts("Tags to add"),
                "message": text("What changed and why"),
            })
        },
    },
    Row {
        name: "retire_memory",
        title: "Retire a memory",
        about: "Take a memory that is wrong or outdated out of use. It can be restored for a while.",
        effect: Effect::Changes,
        idempotent: true,
        required: &["id", "reason"],
        takes: || json!({ "id": text("Whole id"), "reason": text("Why") }),
    },
    Row {
        name: "list_memories",
        title: "List memories",
        about: "List memories page by page.",
        effect: Effect::Reads,
        idempotent: true,
        required: &[],
        takes: || {
            json!({
                "kind": text("Only this kind"),
                "tag": text("Only with this tag"),
                "status": choice("active by default", &["active", "retired", "archived", "superseded", "all"]),
                "limit": count("Memories per page, 20 by default", PAGE_MAX),
                "cursor": text("next of the page before"),
            })
        },
    },
    Row {
        name: "recall",
        title: "Recall for a task",
        about: "The memories that matter for a prompt or task, as one ready block. Call it before you start.",
        effect: Effect::Reads,
        idempotent: true,
        required: &["prompt"],
        takes: || {
            json!({
                "prompt": text("The task in words"),
                "max_chars": count("Budget of the block", 20_000),
            })
        },
    },
    Row {
        name: "session_memory",
        title: "Working memory of a session",
        about: "The running conversation of a session, kept in this process only and forgotten with it.",
        effect: Effect::Changes,
        idempotent: false,
        required: &["action", "session"],
        takes: || {
            json!({
                "action": choice("What to do", &["append", "read", "pop", "clear"]),
                "session": text("Name of the session"),
                "messages": {
                    "type": "array",
                    "description": "To append",
                    "items": {
                        "type": "object",
                        "properties": {
                            "role": { "type": "string", "enum": ["system", "user", "assistant", "tool"] },
                            "content": { "type": "string" },
                        },
                        "required": ["role", "content"],
                    },
                },
                "cursor": text("next of the part before"),
            })
        },
    },
];

fn text(about: &str) -> Value {
    json!({ "type": "string", "description": about })
}

fn texts(about: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": about })
}

fn flag(about: &str) -> Value {
    json!({ "type": "boolean", "description": about })
}

fn count(about: &str, most: u64) -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": most, "description": about })
}

fn choice(about: &str, words: &[&str]) -> Value {
    json!({ "type": "string", "enum": words, "description": about })
}

fn object(value: Value) -> Arc<JsonObject> {
    match value {
        Value::Object(object) => Arc::new(object),
        _ => Arc::default(),
    }
}

impl Row {
    fn tool(&self) -> Tool {
        let schema = json!({ "type": "object", "properties": (self.takes)(), "required": self.required });
        let reads = matches!(self.effect, Effect::Reads);
        let hints = ToolAnnotations::new()
            .read_only(reads)
            .destructive(matches!(self.effect, Effect::Changes))
            .idempotent(self.idempotent)
            .open_world(false);
        Tool::new(self.name, self.about, object(schema))
            .with_title(self.title)
            .with_raw_output_schema(object(json!({ "type": "object" })))
            .with_annotations(hints)
    }
}

/// The list of tools, made once.
pub(crate) fn all() -> &'static [Tool] {
    static ALL: OnceLock<Vec<Tool>> = OnceLock::new();
    ALL.get_or_init(|| TABLE.iter().map(Row::tool).collect())
}

/// The tool of that name.
pub(crate) fn named(name: &str) -> Option<&'static Tool> {
    all().iter().find(|tool| tool.name == name)
}

/// Arguments as the tool takes them: those that were left open (`null`) are as if they were not there. A fault names the argument and never its
/// value.
pub(crate) fn check(tool: &Tool, given: Option<JsonObject>) -> Result<JsonObject> {
    let mut given = given.unwrap_or_default();
    given.retain(|_, value| !value.is_null());
    let schema = &tool.input_schema;
    let properties = schema.get("properties").and_then(Value::as_object);
    let names =
        || properties.map(|all| all.keys().cloned().collect::<Vec<_>>().join(", ")).unwrap_or_default();
    let wrong =
        |message: String| Fault::new(Code::Usage, message).hint(format!("`{}` takes {}", tool.name, names()));
    for (name, value) in &given {
        let Some(wanted) = properties.and_then(|all| all.get(name)) else {
            let name: String = name.chars().filter(|c| !c.is_control()).take(40).collect();
            return Err(wrong(format!("there is no argument `{name}`")));
        };
        if let Err(what) = fits(wanted, value) {
            return Err(wrong(format!("`{name}` {what}")));
        }
    }
    let required = schema.get("required").and_then(Value::as_array);
    let missing =
        required.into_iter().flatten().filter_map(Value::as_str).find(|name| !given.contains_key(*name));
    match missing {
        Some(name) => Err(wrong(format!("`{name}` is missing"))),
        None => Ok(given),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What would be translated away or break a host.
    fn awkward(value: &Value) -> bool {
        match value {
            Value::Object(map) => {
                map.keys().any(|key| matches!(key.as_str(), "anyOf" | "oneOf" | "allOf" | "$ref" | "$defs"))
                    || map.get("type").is_some_and(Value::is_array)
                    || map.values().any(awkward)
            }
            Value::Array(items) => items.iter().any(awkward),
            Value::Null => true,
            _ => false,
        }
    }

    #[test]
    fn there_are_eight_tools_and_every_schema_is_portable() {
        assert_eq!(all().len(), 8);
        for tool in all() {
            assert!(!awkward(&tool.schema_as_json_value()), "{}", tool.name);
            assert!(tool.description.is_some() && tool.annotations.is_some() && tool.title.is_some());
        }
    }

    #[test]
    fn a_tool_that_only_looks_says_so_and_one_that_changes_too() {
        for tool in all() {
            let hints = tool.annotations.as_ref().unwrap();
            let reads = matches!(&*tool.name, "search_memories" | "get_memory" | "list_memories" | "recall");
            assert_eq!(hints.read_only_hint, Some(reads), "{}", tool.name);
            let changes = matches!(&*tool.name, "update_memory" | "retire_memory" | "session_memory");
            assert_eq!(hints.destructive_hint, Some(changes), "{}", tool.name);
            assert_eq!(hints.open_world_hint, Some(false));
        }
    }

    #[test]
    fn arguments_are_held_against_the_schema_and_values_are_never_named() {
        let tool = named("search_memories").unwrap();
        let check = |value: Value| check(tool, value.as_object().cloned());
        assert!(check(json!({ "query": "x", "limit": null, "cursor": null })).is_ok());
        assert!(check(json!({ "query": "x", "limit": 5.0 })).is_ok());
        for (given, says) in [
            (json!({}), "`query` is missing"),
            (json!({ "query": 7 }), "`query` must be a text"),
            (json!({ "query": "x", "limit": 0 }), "`limit` must be a whole number from 1 to 50"),
            (json!({ "query": "x", "limit": 51 }), "`limit` must be a whole number from 1 to 50"),
            (json!({ "query": "x", "limit": -1 }), "`limit` must be a whole number from 1 to 50"),
            (json!({ "query": "x", "queries": [] }), "there is no argument `queries`"),
        ] {
            let fault = check(given).unwrap_err();
            assert_eq!(fault.message, says);
            assert!(fault.next_step().contains("query, kind"));
        }
        let secret = check(json!({ "query": ["hunter2-secret"] })).unwrap_err();
        assert!(!format!("{} {}", secret.message, secret.next_step()).contains("hunter2"));
    }

    #[test]
    fn items_and_their_fields_are_looked_at_too() {
        let tool = named("session_memory").unwrap();
        let check = |messages: Value| {
            check(
                tool,
                json!({ "action": "append", "session": "s", "messages": messages }).as_object().cloned(),
            )
        };
        assert!(check(json!([{ "role": "user", "content": "x" }])).is_ok());
        for wrong in [
            json!("x"),
            json!(["x"]),
            json!([{ "role": "user" }]),
            json!([{ "role": "boss", "content": "x" }]),
            json!([{ "role": "user", "content": "x", "more": 1 }]),
        ] {
            assert!(check(wrong).is_err());
        }
    }
}

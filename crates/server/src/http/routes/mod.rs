//! The one table of routes: a verb each, what it takes, what it answers.
//!
//! Comes in: a call and what a request said. Goes out: an answer. The router, the checks of what comes in and `/openapi.json` are all made from this
//! table, so that none of them can say something else. Never here: who asks, or how many bytes that may be.

mod asking;
mod house;
mod items;
mod memories;
mod memory_tool;
mod sessions;
pub(crate) mod shapes;
mod upkeep;

use super::problem::Problem;
use super::reply::Reply;
use crate::shape;
use heirloom_core::{Code, Fault};
use heirloom_engine::Call;
use serde_json::{Map, Value, json};

/// A parameter of the path or the query.
pub(crate) struct Param {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Its schema, as a JSON text.
    pub(crate) schema: &'static str,
    pub(crate) required: bool,
}

/// A route.
pub(crate) struct Route {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    /// The operation's name for generated clients.
    pub(crate) name: &'static str,
    pub(crate) tag: &'static str,
    pub(crate) about: &'static str,
    pub(crate) query: &'static [Param],
    /// The schema of the body, if it takes one.
    pub(crate) body: Option<fn() -> Value>,
    /// The status of success, and the schema of what comes with it.
    pub(crate) status: u16,
    pub(crate) answer: fn() -> Value,
    /// Whether it may end in waiting for a person (202).
    pub(crate) waits: bool,
    /// Whether it changes something that the same request again would change again: then a key of idempotency counts.
    pub(crate) writes: bool,
    /// Whether it needs `If-Match`.
    pub(crate) versioned: bool,
    pub(crate) run: fn(&Call, &Given) -> Result<Reply, Problem>,
}

/// What a request said, held against the table.
#[derive(Debug, Default)]
pub(crate) struct Given {
    pub(crate) path: Vec<(String, String)>,
    pub(crate) query: Map<String, Value>,
    pub(crate) body: Map<String, Value>,
    pub(crate) version: Option<String>,
}

impl Given {
    /// A part of the path.
    pub(crate) fn part(&self, name: &str) -> String {
        self.path.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()).unwrap_or_default()
    }

    /// A text of the body, or of the query.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.any(name).and_then(Value::as_str).map(str::to_owned)
    }

    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        let items = self.any(name).and_then(Value::as_array);
        items.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.any(name).and_then(Value::as_bool).unwrap_or_default()
    }

    pub(crate) fn count(&self, name: &str) -> Option<usize> {
        self.any(name).and_then(Value::as_f64).map(|number| number as usize)
    }

    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.any(name).and_then(Value::as_f64)
    }

    /// Named values, in the order they came.
    pub(crate) fn fields(&self) -> Vec<(String, String)> {
        let all = self.any("fields").and_then(Value::as_object);
        let mut pairs = Vec::new();
        for (name, value) in all.into_iter().flatten() {
            match value {
                Value::Array(items) => pairs.extend(items.iter().map(|item| (name.clone(), plain(item)))),
                value => pairs.push((name.clone(), plain(value))),
            }
        }
        pairs
    }

    fn any(&self, name: &str) -> Option<&Value> {
        self.body.get(name).or_else(|| self.query.get(name))
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Every route.
pub(crate) fn all() -> impl Iterator<Item = &'static Route> {
    let first = memories::ROUTES.iter().chain(asking::ROUTES).chain(items::ROUTES).chain(sessions::ROUTES);
    first.chain(memory_tool::ROUTES).chain(house::ROUTES).chain(upkeep::ROUTES)
}

/// The parameters that every route takes: which project.
pub(crate) const PROJECT: Param = Param {
    name: "project",
    about: "The id of a project that this server serves; not needed if it serves only one",
    schema: r#"{"type":"string","maxLength":64}"#,
    required: false,
};

impl Route {
    /// The query of a request, as the table wants it.
    pub(crate) fn query(&self, pairs: Vec<(String, String)>) -> Result<Map<String, Value>, Fault> {
        let mut query = Map::new();
        for (name, text) in pairs {
            let known = self.query.iter().chain([&PROJECT]).find(|param| param.name == name);
            let Some(param) = known else {
                let shown: String = name.chars().filter(|c| !c.is_control()).take(40).collect();
                return Err(self.wrong(format!("there is no parameter `{shown}`")));
            };
            if query.contains_key(&name) {
                return Err(self.wrong(format!("`{name}` is given twice")));
            }
            let schema: Value = serde_json::from_str(param.schema).unwrap_or_default();
            let value = match schema["type"].as_str() {
                Some("integer") => text.parse::<u64>().map_or(Value::Null, |number| json!(number)),
                Some("boolean") => match text.as_str() {
                    "true" => json!(true),
                    "false" => json!(false),
                    _ => Value::Null,
                },
                _ => json!(text),
            };
            shape::fits(&schema, &value).map_err(|what| self.wrong(format!("`{name}` {what}")))?;
            query.insert(name, value);
        }
        match self.query.iter().find(|param| param.required && !query.contains_key(param.name)) {
            Some(param) => Err(self.wrong(format!("`{}` is missing", param.name))),
            None => Ok(query),
        }
    }

    fn wrong(&self, message: String) -> Fault {
        let names: Vec<&str> = self.query.iter().chain([&PROJECT]).map(|param| param.name).collect();
        Fault::new(Code::Usage, message).hint(format!(
            "`{} {}` takes {}",
            self.method,
            self.path,
            names.join(", ")
        ))
    }

    /// The body of a request, as the table wants it.
    pub(crate) fn body(&self, bytes: &[u8]) -> Result<Map<String, Value>, Fault> {
        let Some(schema) = self.body else {
            return if bytes.is_empty() {
                Ok(Map::new())
            } else {
                Err(Fault::new(Code::Input, "this request takes no body")
                    .hint("send the request without one"))
            };
        };
        let schema = schema();
        let bytes = if bytes.is_empty() && schema["required"].as_array().is_none_or(Vec::is_empty) {
            b"{}"
        } else {
            bytes
        };
        let value = heirloom_core::json::parse(bytes)
            .map_err(|_| Fault::new(Code::Input, "the body is not JSON").hint("send one JSON object"))?;
        shape::fits(&schema, &value).map_err(|what| {
            let names: Vec<String> =
                schema["properties"].as_object().map(|all| all.keys().cloned().collect()).unwrap_or_default();
            Fault::new(Code::Validation, format!("the body {what}"))
                .hint(format!("it takes {}", names.join(", ")))
        })?;
        match value {
            Value::Object(body) => Ok(body),
            _ => Ok(Map::new()),
        }
    }
}

/// The schema of a verb's answer.
fn verb(name: &str) -> Value {
    let mut schema = heirloom_engine::verbs::schema::of(name).unwrap_or_default();
    if let Some(schema) = schema.as_object_mut() {
        schema.remove("$schema");
        schema.remove("title");
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_route_and_no_name_is_there_twice() {
        let (mut routes, mut names) = (HashSet::new(), HashSet::new());
        for route in all() {
            assert!(routes.insert((route.method, route.path)), "{} {}", route.method, route.path);
            assert!(names.insert(route.name), "{}", route.name);
            assert!(route.path.starts_with("/v1/"));
            assert!(!(route.answer)().is_null(), "{}", route.name);
            for param in route.query {
                assert!(serde_json::from_str::<Value>(param.schema).is_ok(), "{} {}", route.name, param.name);
            }
        }
    }

    /// The routes through which each verb of the table of authority is reached, or why it is not.
    fn reached(verb: &str) -> Result<&'static [&'static str], &'static str> {
        const MACHINE: &str = "it is about the machine the server runs on, whose owner has the command line";
        Ok(match verb {
            "show" => &["get_memory", "get_item", "memory_tool"],
            "list" => &["list_memories", "list_namespaces"],
            "history" => &["get_history"],
            "search" => &["search", "search_items"],
            "recall" => &["recall"],
            "brief" => &["get_brief"],
            "snapshot" => &["get_snapshot"],
            "review" => &["list_review"],
            "status" => &["get_status", "get_stats"],
            "verify" => &["verify"],
            "scan" => &["scan", "redact"],
            "audit" => &["list_audit", "verify_audit", "get_events"],
            "why" => &["get_why"],
            "last" => &["list_runs"],
            "export" | "all_users" => &["export_archive"],
            "import" | "resurrect" => &["import_archive"],
            "user_list" => &["list_users"],
            "add" | "supersede" => &["add_memory", "memory_tool"],
            "remember" | "turn" => &["add_memory", "put_item", "batch_items", "memory_tool"],
            "working" => &["append_to_session", "read_session", "pop_from_session", "clear_session"],
            "repair" => &["repair"],
            "gc" | "remove_early" => &["collect"],
            "expire" => &["expire"],
            "edit" => &["update_memory", "memory_tool"],
            "join" => &["join_memories"],
            "retire" => &["retire_memory", "delete_item", "memory_tool"],
            "restore" => &["restore_memory"],
            "archive" => &["archive_memory"],
            "unarchive" => &["unarchive_memory"],
            "convert" => &["convert_memory"],
            "anchor" => &["change_anchors"],
            "undo" => &["undo", "list_undo"],
            "forget" => &["forget_memory", "delete_item"],
            "clear" => &["clear"],
            "compact" => &["compact"],
            "redact" => &["redact"],
            "accept" => &["accept"],
            "reject" => &["reject"],
            "user_add" => &["add_user"],
            "user_token" => &["make_token", "revoke_token"],
            "user_invite" => &["invite_user"],
            "confirm" => return Err("a PIN is typed on the page, where a person signs in"),
            "user_remove" => &["remove_user"],
            "doctor" | "config_show" | "config_set" | "config_guarded" | "init" | "setup" | "uninstall" => {
                return Err(MACHINE);
            }
            "sync" => return Err("it runs git with the credentials of whoever owns the machine"),
            _ => return Err(""),
        })
    }

    #[test]
    fn every_verb_has_a_route_or_a_reason_why_not_and_every_route_a_verb() {
        let document = crate::http::openapi::document();
        let operations: HashSet<&str> = document["paths"]
            .as_object()
            .unwrap()
            .values()
            .flat_map(|methods| methods.as_object().unwrap().values())
            .map(|operation| operation["operationId"].as_str().unwrap())
            .collect();
        let mut met = HashSet::new();
        for row in heirloom_core::authority::TABLE {
            match reached(row.name) {
                Ok(names) => {
                    for name in names {
                        assert!(operations.contains(name), "{} has no route `{name}`", row.name);
                        met.insert(*name);
                    }
                }
                Err(why) => assert!(!why.is_empty(), "{} is neither reached nor left out", row.name),
            }
        }
        for route in all() {
            assert!(met.contains(route.name), "`{}` belongs to no verb", route.name);
        }
    }

    #[test]
    fn a_query_is_held_against_the_table() {
        let list = all().find(|route| route.name == "list_memories").unwrap();
        let query = |pairs: &[(&str, &str)]| {
            list.query(pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect())
        };
        assert_eq!(query(&[("limit", "5")]).unwrap()["limit"], json!(5));
        for wrong in
            [&[("limit", "0")][..], &[("limit", "x")], &[("nothing", "1")], &[("kind", "a"), ("kind", "b")]]
        {
            assert_eq!(query(wrong).unwrap_err().code, Code::Usage);
        }
    }
}

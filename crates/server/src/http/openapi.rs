//! The description of the HTTP door, OpenAPI 3.1, made from the table of routes.
//!
//! Comes in: the table. Goes out: one JSON document; it is served, and checked in so that a change of the table shows. Never here: a route.

use super::routes::{self, PROJECT, Param, Route, shapes};
use serde_json::{Map, Value, json};

/// Statuses that any request may end with, beside its own.
const FAULTS: [(&str, &str); 13] = [
    ("400", "the request is wrong"),
    ("401", "no token, or one that is not valid"),
    ("403", "this token may not do that, or only a person may"),
    ("404", "the memory, project or path does not exist"),
    ("408", "the body took too long"),
    ("409", "it conflicts with what is stored"),
    ("413", "the body is too large"),
    ("415", "the body is not JSON"),
    ("422", "a field is wrong, or the gate refuses the text"),
    ("429", "this token sends too many requests"),
    ("500", "something on the server is broken"),
    ("503", "the server is too busy, or the database cannot be reached; try again"),
    ("504", "it took too long"),
];

/// Statuses of what needs the version that was read.
const VERSIONED: [(&str, &str); 2] =
    [("412", "it changed since it was read"), ("428", "If-Match is missing")];

/// The document.
pub fn document() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for route in routes::all() {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.to_lowercase()] = operation(route);
    }
    paths.extend(others());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Heirloom",
            "summary": "Memory for AI agents that people can read, trust and version",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT" },
        },
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "security": [{ "token": [] }],
        "tags": [
            { "name": "memories", "description": "Memories of every kind" },
            { "name": "asking", "description": "Search and recall" },
            { "name": "items", "description": "Values that programs keep under a namespace and key" },
            { "name": "sessions", "description": "Working memory, gone with the process" },
            { "name": "house", "description": "Review, audit, undo, figures" },
            { "name": "upkeep", "description": "Checks and cleanup" },
            { "name": "users", "description": "Users and tokens" },
            { "name": "transfer", "description": "Archives of turns and facts, and the files of shelves" },
            { "name": "server", "description": "The server itself" },
        ],
        "paths": paths,
        "components": {
            "schemas": { "Problem": shapes::problem() },
            "responses": problems(),
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer", "description": "A token of `heirloom user token`, or the one in the server's token file" } },
        },
    })
}

fn operation(route: &Route) -> Value {
    let mut operation = json!({
        "operationId": route.name,
        "tags": [route.tag],
        "summary": route.about,
        "parameters": parameters(route),
        "responses": answers(route),
    });
    if let Some(body) = route.body {
        let schema = body();
        let needed = schema["required"].as_array().is_some_and(|names| !names.is_empty());
        operation["requestBody"] =
            json!({ "required": needed, "content": { "application/json": { "schema": schema } } });
    }
    operation
}

fn parameters(route: &Route) -> Vec<Value> {
    let parts = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let mut all: Vec<Value> = parts
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string", "minLength": 1, "maxLength": 512 } }))
        .collect();
    all.extend(route.query.iter().chain([&PROJECT]).map(query));
    if route.versioned {
        all.push(json!({ "name": "If-Match", "in": "header", "required": true, "description": "The ETag of what was read", "schema": { "type": "string", "maxLength": 128 } }));
    }
    if route.writes {
        all.push(json!({ "name": "Idempotency-Key", "in": "header", "required": false, "description": "The same key and request within a day are done once", "schema": { "type": "string", "minLength": 1, "maxLength": 128, "pattern": "^[!-~]+$" } }));
    }
    all
}

fn query(param: &Param) -> Value {
    let schema: Value = serde_json::from_str(param.schema).unwrap_or_default();
    json!({ "name": param.name, "in": "query", "required": param.required, "description": param.about, "schema": schema })
}

fn answers(route: &Route) -> Value {
    let mut all = json!({
        route.status.to_string(): {
            "description": "Done",
            "headers": { "Heirloom-Project": { "description": "The project this is about", "schema": { "type": "string" } } },
            "content": { "application/json": { "schema": (route.answer)() } },
        },
    });
    if route.waits {
        all["202"] = json!({ "description": "Nothing changed; it waits for a person", "content": { "application/json": { "schema": shapes::waits() } } });
    }
    if route.versioned {
        for (status, _) in VERSIONED {
            all[status] = problem(status);
        }
    }
    for (status, _) in FAULTS {
        all[status] = problem(status);
    }
    all
}

/// Every way to go wrong, once.
fn problems() -> Map<String, Value> {
    let schema =
        || json!({ "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } });
    let all = FAULTS.into_iter().chain(VERSIONED);
    all.map(|(status, about)| {
        (format!("Problem{status}"), json!({ "description": about, "content": schema() }))
    })
    .collect()
}

fn problem(status: &str) -> Value {
    json!({ "$ref": format!("#/components/responses/Problem{status}") })
}

/// What is no verb: the server itself, and what comes as a stream.
fn others() -> Map<String, Value> {
    let plain = |name: &str, about: &str, kind: &str, open: bool| {
        let mut answers = json!({ "200": { "description": about, "content": { kind: { "schema": { "type": "string" } } } } });
        if !open {
            for (status, _) in FAULTS {
                answers[status] = problem(status);
            }
        }
        let mut operation =
            json!({ "operationId": name, "tags": ["server"], "summary": about, "responses": answers });
        if open {
            operation["security"] = json!([]);
        }
        operation
    };
    let mut ready = plain("get_ready", "Whether the server takes requests", "text/plain", true);
    ready["responses"]["503"] = json!({ "description": "It is shutting down", "content": { "text/plain": { "schema": { "type": "string" } } } });
    let mut described = plain("get_openapi", "This document", "application/json", true);
    described["responses"]["200"]["content"]["application/json"]["schema"] = json!({ "type": "object" });
    let mut projects =
        plain("list_projects", "The projects this server serves to you", "application/json", false);
    projects["responses"]["200"]["content"]["application/json"]["schema"] = shapes::object(&[(
        "projects",
        json!({ "type": "array", "items": shapes::object(&[("id", json!({ "type": "string" })), ("name", json!({ "type": "string" }))]) }),
    )]);
    let mut events = plain(
        "get_events",
        "Changes as server-sent events: ids and kinds, never texts",
        "text/event-stream",
        false,
    );
    events["parameters"] = json!([query(&PROJECT)]);
    let mut export = plain(
        "export_archive",
        "An archive of your turns and facts, or the files of a project's shelves, as a stream; one without its end broke off",
        "application/octet-stream",
        false,
    );
    export["tags"] = json!(["transfer"]);
    // Files come as lines of JSON.
    export["responses"]["200"]["content"]["application/x-ndjson"] = json!({ "schema": { "type": "string" } });
    export["parameters"] = OF_EXPORT.iter().copied().chain([&PROJECT]).map(query).collect();
    let mut import = plain(
        "import_archive",
        "Import what an export wrote: turns and facts, or files of a project's shelves; progress and the result come as one line each",
        "application/x-ndjson",
        false,
    );
    import["tags"] = json!(["transfer"]);
    import["parameters"] = OF_IMPORT.iter().copied().chain([&PROJECT]).map(query).collect();
    let stream = || json!({ "schema": { "type": "string" } });
    import["requestBody"] = json!({ "required": true, "content": { "application/octet-stream": stream(), "application/x-ndjson": stream() } });
    let all = [
        ("/healthz", json!({ "get": plain("get_health", "Whether the server runs", "text/plain", true) })),
        ("/readyz", json!({ "get": ready })),
        ("/metrics", json!({ "get": plain("get_metrics", "Figures for Prometheus", "text/plain", false) })),
        ("/openapi.json", json!({ "get": described })),
        ("/v1/projects", json!({ "get": projects })),
        ("/v1/events", json!({ "get": events })),
        ("/v1/export", json!({ "get": export })),
        ("/v1/import", json!({ "post": import })),
    ];
    all.into_iter().map(|(path, value)| (path.to_owned(), value)).collect()
}

/// What an export takes.
pub(crate) const OF_EXPORT: &[&Param] = &[&SHELF, &RETIRED, &ALL_USERS];
/// What an import takes.
pub(crate) const OF_IMPORT: &[&Param] = &[&ALL_USERS, &DRY_RUN, &EVEN_REMOVED];

/// Which shelf an export is of.
pub(crate) const SHELF: Param = Param {
    name: "shelf",
    about: "tiers (turns and facts) by default; one of the project's shelves, or files for all of them",
    schema: r#"{"type":"string","enum":["tiers","files","records","topics","notes","vault"]}"#,
    required: false,
};
/// Whether files hold what is out of use.
pub(crate) const RETIRED: Param = Param {
    name: "retired",
    about: "Of files: also what is out of use",
    schema: r#"{"type":"boolean"}"#,
    required: false,
};
/// Whose memories an archive holds.
pub(crate) const ALL_USERS: Param = Param {
    name: "all_users",
    about: "Those of every user, for the account that owns the store",
    schema: r#"{"type":"boolean"}"#,
    required: false,
};
/// Whether what was removed on purpose comes back.
pub(crate) const EVEN_REMOVED: Param = Param {
    name: "even_removed",
    about: "Also what was forgotten before; needs the scope delete",
    schema: r#"{"type":"boolean"}"#,
    required: false,
};
/// Whether an archive is only counted.
pub(crate) const DRY_RUN: Param =
    Param { name: "dry_run", about: "Only count", schema: r#"{"type":"boolean"}"#, required: false };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_is_described_and_every_answer_has_a_description() {
        let document = document();
        for route in routes::all() {
            let operation = &document["paths"][route.path][route.method.to_lowercase()];
            assert_eq!(operation["operationId"], route.name);
        }
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                for (status, answer) in operation["responses"].as_object().unwrap() {
                    let named = answer["$ref"].as_str().and_then(|name| name.strip_prefix('#'));
                    let answer = named.map_or(answer, |name| document.pointer(name).unwrap());
                    assert!(answer["description"].is_string(), "{method} {path} {status}");
                }
            }
        }
    }
}

//! Routes of items: what programs keep under a namespace and a key.
//!
//! Comes in: a call and a request. Goes out: what the verb answered. Never here: a rule about items.

use super::memories::waits;
use super::shapes::{self, count, flag, object, word};
use super::{Given, Route};
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use heirloom_core::{Code, Fault};
use heirloom_engine::verbs::{Outcome, items};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Most items or namespaces of an answer, and how many may be passed over.
const MOST: u64 = 10_000;
const FURTHEST: u64 = 1_000_000;

const ITEM: Route = Route {
    method: "POST",
    path: "",
    name: "",
    tag: "items",
    about: "",
    query: &[],
    body: None,
    status: 200,
    answer: item,
    waits: false,
    writes: false,
    versioned: false,
    run: |_, _| Err(Problem::nowhere()),
};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "PUT",
        path: "/v1/items",
        name: "put_item",
        about: "Keep a value under a namespace and key, replacing the old one; with the scope facts it is kept for good, otherwise it expires",
        body: Some(|| object(&put_fields())),
        waits: true,
        run: |call, given| outcome(items::put(call, &read(given)?)?),
        ..ITEM
    },
    Route {
        path: "/v1/items/get",
        name: "get_item",
        about: "The item under a key",
        body: Some(|| object(&name_fields())),
        run: |call, given| Ok(Reply::ok(&items::get(call, &read(given)?)?)),
        ..ITEM
    },
    Route {
        path: "/v1/items/delete",
        name: "delete_item",
        about: "Remove the item under a key: for good with the scope delete, otherwise out of use",
        body: Some(|| object(&name_fields())),
        answer: deleted,
        waits: true,
        run: |call, given| outcome(items::delete(call, &read(given)?)?),
        ..ITEM
    },
    Route {
        path: "/v1/items/search",
        name: "search_items",
        about: "Items below a namespace that meet a filter, with a query the best first",
        body: Some(|| object(&search_fields())),
        answer: found,
        run: |call, given| Ok(Reply::ok(&items::search(call, &read(given)?)?)),
        ..ITEM
    },
    Route {
        path: "/v1/items/namespaces",
        name: "list_namespaces",
        about: "The namespaces that have items",
        body: Some(|| object(&namespace_fields())),
        answer: namespaces,
        run: |call, given| Ok(Reply::ok(&items::namespaces(call, &read(given)?)?)),
        ..ITEM
    },
    Route {
        path: "/v1/items/batch",
        name: "batch_items",
        about: "Several of these in order; the first that fails ends it, and what was done before stays done",
        body: Some(batch),
        answer: || {
            let one = json!({ "anyOf": [item(), deleted(), found(), namespaces(), shapes::waits(), { "type": "null" }] });
            object(&[("results", json!({ "type": "array", "items": one }))])
        },
        run: |call, given| Ok(Reply::ok(&items::batch(call, &read(given)?)?)),
        ..ITEM
    },
];

fn outcome<T: Serialize>(outcome: Outcome<T>) -> Result<Reply, Problem> {
    Ok(match outcome {
        Outcome::Done(done) => Reply::ok(&done),
        Outcome::Waits(waiting) => waits(&waiting),
    })
}

/// The request, which the table has looked at already.
fn read<T: DeserializeOwned>(given: &Given) -> Result<T, Problem> {
    serde_json::from_value(Value::Object(given.body.clone())).map_err(|_| {
        Fault::new(Code::Validation, "the request cannot be read")
            .hint("GET /openapi.json says what it takes")
            .into()
    })
}

type Fields = Vec<(&'static str, Value)>;

fn words(about: &str, least: u64) -> Value {
    json!({ "type": "array", "items": word("A word"), "minItems": least, "maxItems": 32, "description": about })
}

fn name_fields() -> Fields {
    vec![("namespace", words("Where it is kept", 1)), ("key", word("Its key"))]
}

fn put_fields() -> Fields {
    let paths = json!({ "type": "array", "items": { "type": "string", "maxLength": 512 }, "maxItems": 100 });
    let index = json!({ "anyOf": [{ "type": "boolean" }, paths], "description": "What a query is compared with: false for nothing, or paths in the value" });
    let mut fields = name_fields();
    fields.extend([
        ("value", json!({ "type": "object", "description": "What to keep" })),
        ("index?", index),
        ("ttl_minutes?", json!({ "type": "number", "minimum": 0, "maximum": 525_600, "description": "Minutes it is kept; facts do not expire, so this makes it a turn" })),
    ]);
    fields
}

fn search_fields() -> Fields {
    vec![
        ("namespace_prefix", words("How the namespace begins", 0)),
        (
            "query?",
            json!({ "type": "string", "maxLength": 10_000, "description": "A question the items answer" }),
        ),
        (
            "filter?",
            json!({ "type": "object", "description": "Fields of the value: a value each, or $eq, $ne, $gt, $gte, $lt, $lte" }),
        ),
        ("limit?", count("Items of the answer; 10 by default", 1, MOST)),
        ("offset?", count("Items to skip", 0, FURTHEST)),
    ]
}

fn namespace_fields() -> Fields {
    let side = json!({ "type": "string", "enum": ["prefix", "suffix"] });
    let condition = object(&[("match", side), ("path", words("Words; * is any one", 0))]);
    vec![
        ("conditions?", json!({ "type": "array", "items": condition, "maxItems": 32 })),
        ("max_depth?", count("Words after which namespaces are cut", 1, 32)),
        ("limit?", count("Namespaces of the answer; 100 by default", 1, MOST)),
        ("offset?", count("Namespaces to skip", 0, FURTHEST)),
    ]
}

fn batch() -> Value {
    let operation = |name: &str, fields: Fields| {
        let named = ("op", json!({ "type": "string", "enum": [name] }));
        object(&[vec![named], fields].concat())
    };
    let one = json!({ "anyOf": [
        operation("get", name_fields()),
        operation("put", put_fields()),
        operation("delete", name_fields()),
        operation("search", search_fields()),
        operation("namespaces", namespace_fields()),
    ] });
    let most = items::MOST_OPERATIONS;
    object(&[("operations", json!({ "type": "array", "items": one, "maxItems": most }))])
}

fn item() -> Value {
    let text = || json!({ "type": "string" });
    object(&[
        ("id", text()),
        ("namespace", json!({ "type": "array", "items": text() })),
        ("key", text()),
        ("value", json!({ "type": "object" })),
        ("created_at", text()),
        ("updated_at", text()),
        ("expires_at?", text()),
        ("score?", json!({ "type": "number" })),
    ])
}

fn deleted() -> Value {
    object(&[("deleted", flag("Whether it existed"))])
}

fn found() -> Value {
    object(&[("items", json!({ "type": "array", "items": item() }))])
}

fn namespaces() -> Value {
    let one = json!({ "type": "array", "items": { "type": "string" } });
    object(&[("namespaces", json!({ "type": "array", "items": one }))])
}

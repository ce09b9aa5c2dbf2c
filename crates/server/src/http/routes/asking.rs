//! Routes that ask: search, recall, what a session begins with.
//!
//! Comes in: a call and a question. Goes out: what the verb answered. Never here: a ranking.

use super::shapes::{self, object};
use super::{Param, Route, verb};
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use heirloom_engine::verbs::recall::{Recall, recall};
use heirloom_engine::verbs::search::{self, Search};
use heirloom_engine::verbs::shelves::{brief, snapshot};
use serde_json::json;

const TAG: &str = "asking";

/// Hits, unless somebody says.
const HITS: usize = 10;

const ASKS: Route = Route {
    method: "POST",
    path: "",
    name: "",
    tag: TAG,
    about: "",
    query: &[],
    body: None,
    status: 200,
    answer: || json!({}),
    waits: false,
    writes: false,
    versioned: false,
    run: |_, _| Err(Problem::nowhere()),
};

pub(super) const ROUTES: &[Route] = &[
    Route {
        path: "/v1/search",
        name: "search",
        about: "Memories that fit words or filters, best first",
        body: Some(|| {
            object(&[
                ("query?", shapes::text("Words; filters such as kind:decision tag:db")),
                ("kind?", shapes::word("Only this kind")),
                ("include_retired?", shapes::flag("Also retired and archived memories")),
                ("limit?", shapes::count("Hits per page; 10 by default", 1, 200)),
                (
                    "cursor?",
                    json!({ "type": "string", "maxLength": 16_384, "description": "`next` of the previous page; pages reach 1,000 hits" }),
                ),
                ("tier?", json!({ "type": "string", "enum": ["episodic", "semantic", "all"] })),
                ("session?", shapes::word("With tier: only this conversation")),
                ("context?", shapes::flag("The block of turns and facts that a model would be given")),
            ])
        }),
        answer: || verb("search"),
        run: |call, given| {
            let ask = Search {
                words: given.text("query").into_iter().collect(),
                kind: given.text("kind"),
                include_retired: given.flag("include_retired"),
                limit: given.count("limit").unwrap_or(HITS),
                tier: given.text("tier"),
                session: given.text("session"),
                context: given.flag("context"),
            };
            Ok(Reply::ok(&search::page(call, &ask, given.text("cursor").as_deref(), |_| true)?))
        },
        ..ASKS
    },
    Route {
        path: "/v1/recall",
        name: "recall",
        about: "What an agent would be given for a prompt: a ready block and the memories in it",
        body: Some(|| {
            object(&[
                ("prompt", shapes::text("The prompt or task")),
                ("session?", shapes::word("A session that is not given what it has")),
                ("max_chars?", shapes::count("Budget of the block", 1, 100_000)),
            ])
        }),
        answer: || verb("recall"),
        run: |call, given| {
            let ask = Recall {
                prompt: given.text("prompt").unwrap_or_default(),
                session: given.text("session"),
                most: given.count("max_chars"),
            };
            Ok(Reply::ok(&recall(call, &ask)?))
        },
        ..ASKS
    },
    Route {
        method: "GET",
        path: "/v1/snapshot",
        name: "get_snapshot",
        about: "What every session is given of the vault",
        query: &[Param {
            name: "max_chars",
            about: "Budget of the block",
            schema: r#"{"type":"integer","minimum":1,"maximum":100000}"#,
            required: false,
        }],
        answer: || verb("snapshot"),
        run: |call, given| Ok(Reply::ok(&snapshot(call, given.count("max_chars"), &[])?)),
        ..ASKS
    },
    Route {
        method: "GET",
        path: "/v1/brief",
        name: "get_brief",
        about: "The lessons a task should start with",
        query: &[Param {
            name: "task",
            about: "The task in words",
            schema: r#"{"type":"string","maxLength":4096}"#,
            required: true,
        }],
        answer: || verb("brief"),
        run: |call, given| Ok(Reply::ok(&brief(call, &given.text("task").unwrap_or_default())?)),
        ..ASKS
    },
];

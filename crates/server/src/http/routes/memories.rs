//! Routes of memories: list, add, read, change, take out of use, forget.
//!
//! Comes in: a call and a request. Goes out: what the verb answered, with the version as `ETag`. Never here: a rule about memories.

use super::shapes;
use super::{Given, Param, Route, verb};
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use axum::http::{StatusCode, header};
use heirloom_core::{Code, Fault, MemoryId};
use heirloom_engine::Call;
use heirloom_engine::verbs::add::{Add, New, Words, add};
use heirloom_engine::verbs::edit::{Edit, edit};
use heirloom_engine::verbs::join::{Join, join};
use heirloom_engine::verbs::life::{self, Move};
use heirloom_engine::verbs::list::{List, list};
use heirloom_engine::verbs::show::{self, Show};
use heirloom_engine::verbs::{Added, Done, Outcome, remove};
use serde_json::json;

const TAG: &str = "memories";

const PAGE: &[Param] = &[
    Param {
        name: "kind",
        about: "Only this kind",
        schema: r#"{"type":"string","maxLength":128}"#,
        required: false,
    },
    Param {
        name: "status",
        about: "active by default",
        schema: r#"{"type":"string","enum":["active","retired","archived","superseded","all"]}"#,
        required: false,
    },
    Param {
        name: "tag",
        about: "Only with this tag",
        schema: r#"{"type":"string","maxLength":512}"#,
        required: false,
    },
    Param {
        name: "scope",
        about: "Only this scope",
        schema: r#"{"type":"string","maxLength":512}"#,
        required: false,
    },
    Param {
        name: "tier",
        about: "Only turns or facts, newest first",
        schema: r#"{"type":"string","enum":["episodic","semantic"]}"#,
        required: false,
    },
    Param {
        name: "session",
        about: "With tier: only this conversation",
        schema: r#"{"type":"string","maxLength":512}"#,
        required: false,
    },
    Param {
        name: "limit",
        about: "Memories of a page; 50 by default",
        schema: r#"{"type":"integer","minimum":1,"maximum":200}"#,
        required: false,
    },
    Param {
        name: "cursor",
        about: "`next` of the previous page",
        schema: r#"{"type":"string","maxLength":4096}"#,
        required: false,
    },
];

const SHRED: &[Param] = &[Param {
    name: "shred",
    about: "Also where that means rewriting tables that others use",
    schema: r#"{"type":"boolean"}"#,
    required: false,
}];

/// Memories of a page, unless somebody says.
const LISTED: usize = 50;

const READS: Route = Route {
    method: "GET",
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

const MOVES: Route = Route {
    method: "POST",
    body: Some(shapes::reason),
    answer: shapes::done,
    waits: true,
    writes: true,
    ..READS
};

pub(super) const ROUTES: &[Route] = &[
    Route {
        path: "/v1/memories",
        name: "list_memories",
        about: "Memories that meet filters, page by page",
        query: PAGE,
        answer: || verb("list"),
        run: listed,
        ..READS
    },
    Route {
        method: "POST",
        path: "/v1/memories",
        name: "add_memory",
        about: "Save a memory of any kind",
        body: Some(shapes::new_memory),
        status: 201,
        answer: shapes::added,
        waits: true,
        writes: true,
        run: added,
        ..READS
    },
    Route {
        path: "/v1/memories/{id}",
        name: "get_memory",
        about: "A memory, what it came from and what it cites; its version is the ETag",
        answer: || verb("show"),
        run: shown,
        ..READS
    },
    Route {
        method: "PATCH",
        path: "/v1/memories/{id}",
        name: "update_memory",
        about: "Change a memory; If-Match holds the version that was read",
        body: Some(shapes::change),
        answer: shapes::added,
        waits: true,
        writes: true,
        versioned: true,
        run: changed,
        ..READS
    },
    Route {
        method: "DELETE",
        path: "/v1/memories/{id}",
        name: "forget_memory",
        about: "Remove every trace of a memory; needs the scope delete and cannot be undone",
        query: SHRED,
        answer: shapes::forgotten,
        writes: true,
        run: forgotten,
        ..READS
    },
    Route {
        method: "POST",
        path: "/v1/memories/{id}/join",
        name: "join_memories",
        about: "Make one memory of two: change this one and retire the other; If-Match holds the version that was read",
        body: Some(shapes::joining),
        answer: || verb("review-join"),
        waits: true,
        writes: true,
        versioned: true,
        run: joined,
        ..READS
    },
    Route {
        path: "/v1/memories/{id}/history",
        name: "get_history",
        about: "The history of a memory, oldest first",
        answer: || verb("history"),
        run: |call, given| Ok(Reply::ok(&show::history(call, &Show { id: given.part("id") })?)),
        ..READS
    },
    Route {
        path: "/v1/memories/{id}/retire",
        name: "retire_memory",
        about: "Take a memory out of use",
        run: |call, given| moved(call, given, life::retire),
        ..MOVES
    },
    Route {
        path: "/v1/memories/{id}/restore",
        name: "restore_memory",
        about: "Put a retired memory back into use",
        run: |call, given| moved(call, given, life::restore),
        ..MOVES
    },
    Route {
        path: "/v1/memories/{id}/archive",
        name: "archive_memory",
        about: "Keep a memory for the record, out of recall",
        run: |call, given| moved(call, given, life::archive),
        ..MOVES
    },
    Route {
        path: "/v1/memories/{id}/unarchive",
        name: "unarchive_memory",
        about: "Put an archived memory back into use",
        run: |call, given| moved(call, given, life::unarchive),
        ..MOVES
    },
];

fn listed(call: &Call, given: &Given) -> Result<Reply, Problem> {
    let ask = List {
        kind: given.text("kind"),
        status: given.text("status"),
        tag: given.text("tag"),
        scope: given.text("scope"),
        tier: given.text("tier"),
        session: given.text("session"),
        limit: Some(given.count("limit").unwrap_or(LISTED)),
        cursor: given.text("cursor"),
    };
    Ok(Reply::ok(&list(call, &ask)?))
}

fn added(call: &Call, given: &Given) -> Result<Reply, Problem> {
    let words = Words {
        kind: given.text("kind").unwrap_or_default(),
        text: given.text("text").unwrap_or_default(),
        title: given.text("title"),
        fields: given.fields(),
        tags: given.texts("tags"),
        topic: given.text("topic"),
        scope: given.text("scope"),
        category: given.text("category"),
        subject: given.text("subject"),
        files: given.texts("files"),
        confidence: given.number("confidence"),
        at: given.text("at"),
        source: given.text("source"),
        cites: !given.texts("cites").is_empty(),
        taken: None,
    };
    let ask = Add {
        cites: given.texts("cites"),
        rehearse: given.flag("dry_run"),
        ..Add::of(New::said(call, words)?)
    };
    let outcome = add(call, &ask)?;
    written(call, outcome, StatusCode::CREATED)
}

fn shown(call: &Call, given: &Given) -> Result<Reply, Problem> {
    let shown = show::show(call, &Show { id: given.part("id") })?;
    let version = shown.memory.version.clone();
    Ok(Reply::ok(&shown).etag(&version))
}

fn changed(call: &Call, given: &Given) -> Result<Reply, Problem> {
    let outcome = edit(call, &wanted(given)).map_err(other_version)?;
    written(call, outcome, StatusCode::OK)
}

fn wanted(given: &Given) -> Edit {
    Edit {
        id: given.part("id"),
        version: given.version.clone(),
        title: given.text("title"),
        fields: given.fields(),
        tags: given.texts("tags"),
        text: given.text("text"),
        topic: given.text("topic"),
        category: given.text("category"),
        message: given.text("message"),
        ..Edit::default()
    }
}

/// A memory that has another version by now is a failed precondition.
fn other_version(fault: Fault) -> Problem {
    match fault.code {
        Code::OccConflict => Problem::with(fault, StatusCode::PRECONDITION_FAILED),
        _ => fault.into(),
    }
}

fn joined(call: &Call, given: &Given) -> Result<Reply, Problem> {
    let ask = Join {
        id: given.part("id"),
        version: given.version.clone(),
        other: given.text("other").unwrap_or_default(),
        seen: given.text("seen"),
        change: wanted(given),
    };
    Ok(match join(call, &ask).map_err(other_version)? {
        Outcome::Done(joined) => Reply::ok(&joined),
        Outcome::Waits(waiting) => waits(&waiting),
    })
}

pub(super) fn written(call: &Call, outcome: Outcome<Added>, status: StatusCode) -> Result<Reply, Problem> {
    let mut added = match outcome {
        Outcome::Done(added) => added,
        Outcome::Waits(waiting) => return Ok(waits(&waiting)),
    };
    if added.status == "rehearsed" {
        return Ok(Reply::ok(&added).status(status));
    }
    added.notes.extend(call.uncommitted().all());
    let reply = Reply::ok(&added)
        .status(status)
        .header(header::LOCATION, &format!("/v1/memories/{}", in_path(&added.id)));
    Ok(match show::show(call, &Show { id: added.id.to_string() }) {
        Ok(shown) => reply.etag(&shown.memory.version),
        Err(_) => reply,
    })
}

pub(super) fn waits(waiting: &impl serde::Serialize) -> Reply {
    Reply::ok(waiting).status(StatusCode::ACCEPTED)
}

/// An id as one part of a path.
fn in_path(id: &MemoryId) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    id.as_str()
        .bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

fn moved(
    call: &Call,
    given: &Given,
    run: fn(&Call, &Move) -> heirloom_core::fault::Result<Vec<Outcome<Done>>>,
) -> Result<Reply, Problem> {
    let ask = Move { ids: vec![given.part("id")], reason: given.text("reason") };
    match run(call, &ask)?.pop() {
        Some(Outcome::Done(mut done)) => {
            done.notes.extend(call.uncommitted().all());
            Ok(Reply::ok(&done))
        }
        Some(Outcome::Waits(waiting)) => Ok(waits(&waiting)),
        None => Err(Fault::new(Code::Internal, "nothing happened").into()),
    }
}

fn forgotten(call: &Call, given: &Given) -> Result<Reply, Problem> {
    let name = given.part("id");
    let id = MemoryId::parse(&name).ok_or_else(|| {
        Fault::new(Code::Usage, "this is not a complete id")
            .hint("give the id as `GET /v1/memories` shows it")
    })?;
    Ok(Reply::ok(&remove::forget(call, &id, given.flag("shred"))?))
}

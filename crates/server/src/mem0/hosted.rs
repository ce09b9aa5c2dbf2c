//! The paths of the hosted API, as mem0's clients for Python and TypeScript ask for them.
//!
//! Comes in: a call and a request. Goes out: what these clients read. Never here: what the functions do (`deeds.rs`).

use super::{Route, deeds, shapes};
use serde_json::json;

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/mem0/v1/ping",
        run: |_, _| {
            Ok(json!({ "status": "ok", "org_id": "heirloom", "project_id": "heirloom", "user_email": null }))
        },
    },
    Route { method: "POST", path: "/mem0/v3/memories/add", run: deeds::add },
    Route { method: "POST", path: "/mem0/v3/memories/search", run: deeds::search },
    Route { method: "POST", path: "/mem0/v3/memories", run: deeds::page },
    Route { method: "GET", path: "/mem0/v1/memories/{id}", run: deeds::get },
    Route { method: "PUT", path: "/mem0/v1/memories/{id}", run: deeds::update },
    Route { method: "DELETE", path: "/mem0/v1/memories/{id}", run: deeds::delete },
    Route { method: "GET", path: "/mem0/v1/memories/{id}/history", run: deeds::history },
    Route { method: "DELETE", path: "/mem0/v1/memories", run: deeds::delete_all },
    Route { method: "PUT", path: "/mem0/v1/batch", run: deeds::update_several },
    Route { method: "DELETE", path: "/mem0/v1/batch", run: deeds::delete_several },
    Route { method: "GET", path: "/mem0/v1/entities", run: deeds::entities },
    Route {
        method: "DELETE",
        path: "/mem0/v1/entities/{type}/{name}",
        run: |call, asked| {
            deeds::delete_entity(call, asked).map(|_| shapes::message("Entity deleted successfully!"))
        },
    },
    Route {
        method: "DELETE",
        path: "/mem0/v2/entities/{type}/{name}",
        run: |call, asked| {
            deeds::delete_entity(call, asked).map(|_| shapes::message("Entity deleted successfully!"))
        },
    },
];

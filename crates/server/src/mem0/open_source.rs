//! The paths of mem0's open-source server, over the same functions as the hosted ones.
//!
//! Comes in: a call and a request. Goes out: what programs written for that server read. Never here: `reset`, which would remove everything.

use super::{Route, deeds, shapes};

pub(super) const ROUTES: &[Route] = &[
    Route { method: "POST", path: "/mem0/memories", run: deeds::add },
    Route { method: "GET", path: "/mem0/memories", run: deeds::all },
    Route { method: "DELETE", path: "/mem0/memories", run: deeds::delete_all },
    Route { method: "POST", path: "/mem0/search", run: deeds::search },
    Route { method: "GET", path: "/mem0/memories/{id}", run: deeds::get },
    Route {
        method: "PUT",
        path: "/mem0/memories/{id}",
        run: |call, asked| {
            deeds::update(call, asked).map(|_| shapes::message("Memory updated successfully!"))
        },
    },
    Route { method: "DELETE", path: "/mem0/memories/{id}", run: deeds::delete },
    Route { method: "GET", path: "/mem0/memories/{id}/history", run: deeds::history },
];

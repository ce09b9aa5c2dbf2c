//! What a door says of memories: short forms of the verbs' answers, and faults as every door shows them.
//!
//! Comes in: answers and faults. Goes out: JSON. Never here: a text that the verb did not give this caller.

use heirloom_core::{Fault, Memory};
use heirloom_engine::Project;
use heirloom_engine::verbs::told::Hit;
use serde_json::{Value, json};

/// A fault: its code, what happened, and what to do next.
pub(crate) fn fault(fault: &Fault) -> Value {
    json!({ "code": fault.code.name(), "message": fault.message, "next": fault.next_step() })
}

/// The project an answer is about. A path belongs to the machine and is left out.
pub(crate) fn project(project: &Project) -> Value {
    if project.is_nowhere() {
        return json!({ "id": "none", "name": "none" });
    }
    let name = project.folder().file_name().map(|name| name.to_string_lossy().into_owned());
    json!({ "id": project.id(), "name": name.unwrap_or_else(|| "/".to_owned()) })
}

/// A memory in one line.
pub(crate) fn brief(memory: &Memory) -> Value {
    let mut line = json!({
        "id": memory.id,
        "title": memory.title,
        "status": memory.status,
        "trust": memory.trust,
    });
    if let Some(at) = memory.updated_at.as_ref().or(memory.created_at.as_ref()) {
        line["updated_at"] = json!(at);
    }
    line
}

/// A hit: a memory in one line and the part of it that answers.
pub(crate) fn hit(hit: &Hit) -> Value {
    let mut line = brief(&hit.memory);
    let (before, after) = (dots(hit.snippet.cut_before), dots(hit.snippet.cut_after));
    line["snippet"] = json!(format!("{before}{}{after}", hit.snippet.text));
    if let Some(score) = hit.score {
        line["score"] = json!((score * 1000.0).round() / 1000.0);
    }
    if let Some(stale) = &hit.stale {
        line["stale"] = json!(stale);
    }
    line
}

const fn dots(cut: bool) -> &'static str {
    if cut { "…" } else { "" }
}

//! Items as mem0's clients read them.
//!
//! Comes in: what the verbs answered. Goes out: JSON with mem0's names. Beside those stands `expires_at`, where something goes by itself. Never here:
//! a field that says more than is known: there are no categories, so their list is empty.

use heirloom_engine::verbs::items::{Entity, Labelled, Step};
use serde_json::{Value, json};

/// A memory.
pub(super) fn memory(item: &Labelled) -> Value {
    let label = |name: &str| json!(item.labels.get(name));
    let mut shown = json!({
        "id": item.id,
        "memory": item.text,
        "user_id": label("user_id"),
        "agent_id": label("agent_id"),
        "app_id": label("app_id"),
        "run_id": label("run_id"),
        "hash": item.hash,
        "metadata": item.metadata,
        "categories": [],
        "created_at": item.created_at,
        "updated_at": item.updated_at,
    });
    if let Some(role) = item.role {
        shown["role"] = json!(role);
    }
    if let Some(at) = &item.expires_at {
        shown["expires_at"] = json!(at);
        shown["expiration_date"] = json!(at.split('T').next());
    }
    if let Some(score) = item.score {
        shown["score"] = json!(score);
    }
    shown
}

/// A memory that was just added.
pub(super) fn added(item: &Labelled) -> Value {
    let mut shown = json!({
        "id": item.id,
        "memory": item.text,
        "data": { "memory": item.text },
        "event": "ADD",
    });
    if let Some(at) = &item.expires_at {
        shown["expires_at"] = json!(at);
    }
    shown
}

/// A step in the life of a memory.
pub(super) fn step(step: &Step) -> Value {
    json!({
        "id": step.version,
        "memory_id": step.item.id,
        "input": [],
        "old_memory": step.before,
        "new_memory": step.after,
        "event": step.event,
        "user_id": step.item.labels.get("user_id"),
        "metadata": step.item.metadata,
        "categories": [],
        "is_deleted": step.event == "DELETE",
        "created_at": step.item.created_at,
        "updated_at": step.at,
    })
}

/// Somebody or something that memories carry the name of.
pub(super) fn entity(entity: &Entity) -> Value {
    let kind = entity.label.trim_end_matches("_id");
    json!({
        "id": format!("{kind}:{}", entity.name),
        "name": entity.name,
        "type": kind,
        "total_memories": entity.count,
        "created_at": entity.created_at,
        "updated_at": entity.updated_at,
        "owner": null,
        "metadata": null,
    })
}

/// An answer that says nothing but that it was done.
pub(super) fn message(text: &str) -> Value {
    json!({ "message": text })
}

/// A page of a list.
pub(super) fn page(path: &str, all: &[Value], number: usize, size: usize) -> Value {
    let link = |number: usize| json!(format!("{path}?page={number}&page_size={size}"));
    let from = number.saturating_sub(1).saturating_mul(size);
    let results: Vec<&Value> = all.iter().skip(from).take(size).collect();
    json!({
        "count": all.len(),
        "next": if from.saturating_add(size) < all.len() { link(number + 1) } else { Value::Null },
        "previous": if number > 1 { link(number - 1) } else { Value::Null },
        "results": results,
    })
}

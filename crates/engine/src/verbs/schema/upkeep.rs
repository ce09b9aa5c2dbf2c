//! The shapes of what upkeep answers: import, export, sync, scan, compact, status.
//!
//! Comes in: nothing. Goes out: schemas. Never here: an answer.

use super::{any_of, count, list_of, number, object, one_of, problem, text, yes_or_no};
use serde_json::{Value, json};

pub(super) fn compacted() -> Value {
    any_of(&[
        object(&[("dry_run", json!({ "const": true })), ("lines", count()), ("would_go", count())]),
        object(&[
            ("lines_before", count()),
            ("lines_after", count()),
            ("lines_removed", count()),
            ("twins_removed?", count()),
            ("unreadable?", count()),
        ]),
    ])
}

pub(super) fn exported() -> Value {
    let held_back = object(&[("name", text()), ("why", text())]);
    let by_user = json!({ "type": "object", "additionalProperties": count() });
    any_of(&[
        object(&[("folder", text()), ("files", list_of(text())), ("held_back?", list_of(held_back))]),
        list_of(object(&[("name", text()), ("text", text())])),
        object(&[("memories", count()), ("chunks", count()), ("users", by_user)]),
    ])
}

pub(super) fn arrivals() -> Value {
    let shelf = object(&[
        ("shelf", text()),
        ("new", list_of(text())),
        ("known", count()),
        ("waiting", count()),
        ("left_out", count()),
    ]);
    let refused = object(&[("from", text()), ("code", text()), ("message", text()), ("next", text())]);
    object(&[
        ("dry_run", yes_or_no()),
        ("files", count()),
        ("shelves", list_of(shelf)),
        ("refused", list_of(refused)),
        ("not_recognised", list_of(text())),
        ("notes", list_of(text())),
        ("memories", list_of(object(&[("from", text()), ("kind", text()), ("title", text())]))),
        ("left_out", list_of(object(&[("from", text()), ("text", text()), ("why", text())]))),
    ])
}

pub(super) fn imported() -> Value {
    any_of(&[
        arrivals(),
        object(&[
            ("added", count()),
            ("known", count()),
            ("removed", count()),
            ("expired", count()),
            ("refused", json!({ "type": "object", "additionalProperties": count() })),
            ("waiting", count()),
            ("unsealed_chunks", count()),
        ]),
    ])
}

pub(super) fn scanned() -> Value {
    let place = object(&[
        ("file", text()),
        ("line", count()),
        ("column", count()),
        ("length", count()),
        ("class", one_of(&["secret", "identity", "contact", "injection"])),
        ("rule", text()),
        ("level", one_of(&["possible", "probable", "definite"])),
        ("act", one_of(&["keep", "neutralise", "redact", "confirm", "refuse"])),
    ]);
    let left_out = object(&[("path", text()), ("why", text())]);
    any_of(&[
        object(&[("looked", count()), ("findings", list_of(place)), ("left_out", list_of(left_out))]),
        object(&[("held", list_of(problem())), ("fixed", list_of(text())), ("left", list_of(problem()))]),
    ])
}

pub(super) fn synced() -> Value {
    let plan = object(&[
        ("folder", text()),
        ("remote?", text()),
        ("bring", list_of(text())),
        ("commit", list_of(object(&[("path", text()), ("what", text())]))),
        ("pull", list_of(text())),
        ("push", list_of(text())),
    ]);
    object(&[("plan", plan), ("done", list_of(text()))])
}

fn counts() -> [(&'static str, Value); 3] {
    [("active", count()), ("retired", count()), ("archived", count())]
}

pub(super) fn status() -> Value {
    let with_counts = |first: &[(&'static str, Value)]| {
        let parts: Vec<_> = first.iter().cloned().chain(counts()).collect();
        list_of(object(&parts))
    };
    let error = object(&[("code", text()), ("message", text()), ("next", text())]);
    object(&[
        ("project", text()),
        ("memory", text()),
        ("categories", with_counts(&[("category", text()), ("enabled", yes_or_no())])),
        ("shelves", with_counts(&[("shelf", text())])),
        ("vault", stats()),
        (
            "external_memory",
            object(&[
                ("enabled", yes_or_no()),
                ("configured?", text()),
                ("memory_type", text()),
                ("sync_strategy", text()),
                ("in_use", yes_or_no()),
                ("base", text()),
                ("error?", error),
            ]),
        ),
        ("bytes", count()),
        ("index_in_sync", yes_or_no()),
        ("issues", list_of(text())),
        ("passed_over?", list_of(problem())),
        ("waiting_for_review", count()),
    ])
}

pub(super) fn stats() -> Value {
    let tally = || json!({ "type": "object", "additionalProperties": count() });
    object(&[
        ("active_count", count()),
        ("max_active", count()),
        ("utilization_pct", number()),
        ("deleted_count", count()),
        ("raw_lines", count()),
        ("compactable_lines", count()),
        ("unreadable_lines?", count()),
        ("bloat_ratio", number()),
        ("by_scope", tally()),
        ("by_tier", tally()),
        ("by_category", tally()),
        ("register_topics", count()),
    ])
}

//! The shapes of what operators' commands answer, made from the types that are printed.
//!
//! Comes in: nothing. Goes out: JSON Schemas by the command's words joined by `-`. Never here: a token, except the one that is shown once.

use super::{Done, Estimate, Status};
use heirloom_engine::verbs::schema::{of_type, titled};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

/// What setting up or bringing up to date did, with the first token if there is one.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Founded<'a> {
    /// The schema's version before; none if there was none.
    pub before: Option<i32>,
    /// The version now.
    pub version: i32,
    /// What was done, a line each.
    pub did: &'a [String],
    /// What an operator should look at, a line each.
    pub notes: &'a [String],
    /// The first administrator, if a token was made.
    pub user: Option<&'a str>,
    /// That administrator's token, shown once.
    pub token: Option<&'a str>,
}

impl<'a> Founded<'a> {
    /// The answer: what was done, and whose token it was if one was stored.
    pub fn of(done: &'a Done, user: &'a str, token: &'a str) -> Founded<'a> {
        Founded {
            before: done.before,
            version: done.version,
            did: &done.did,
            notes: &done.notes,
            user: done.founded.then_some(user),
            token: done.founded.then_some(token),
        }
    }
}

/// The schemas, by name.
pub fn answers() -> Vec<(&'static str, Value)> {
    let rows = [
        ("team-index", "Which indexes were made, a line each", of_type::<Vec<String>>()),
        ("team-init", "What was done, and the first token", of_type::<Founded<'_>>()),
        ("team-shred", "Where removed text may still be stored, a line each", of_type::<Vec<String>>()),
        ("team-status", "Versions, roles and sizes, and what should be done", of_type::<Status>()),
        (
            "team-upgrade",
            "What was done; with --dry-run, what it would need",
            json!({ "anyOf": [of_type::<Founded<'_>>(), of_type::<Estimate>()] }),
        ),
    ];
    rows.map(|(name, what, schema)| (name, titled(name, what, schema))).into()
}

//! The shapes of answers, as JSON Schemas made from the types that are printed.
//!
//! Comes in: the name of an answer. Goes out: its schema, which becomes a file in `schemas/answers/`; tests hold what every command prints
//! against it. No answer has a key that its schema does not name. Never here: a shape of its own; the one exception is a line of an audit, which
//! keeps whatever its writer of that day put into it.

use super::{
    Added, Done, Outcome, config, decide, doctor, export, import, init, invite, join, list, model, records,
    remove,
};
use super::{
    recall, scan, search, setup, shelves, show, staged, status, sync, trail, undo, upkeep, users, vault,
};
use crate::hook::trace::Run;
use crate::inject::Brief;
use crate::shelf::anchors::Anchored;
use crate::shelf::tiers::{Brought, Carried};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// An answer: the command's words joined by `-`, what it is, its schema.
type Row = (&'static str, &'static str, fn() -> Value);

/// The answers that have a schema, by name.
const TABLE: &[Row] = &[
    ("add", "What became of a new memory; with --dry-run, what would be stored", of_type::<Added>),
    ("anchor-add", "What a memory cites now", of_type::<Anchored>),
    ("anchor-drop", "What a memory cites now", of_type::<Anchored>),
    ("anchor-list", "What memories cite, and whether it changed", of_type::<Vec<Anchored>>),
    ("anchor-renew", "What a memory cites now", of_type::<Anchored>),
    ("archive", "What became of each memory", of_type::<Vec<Outcome<Done>>>),
    ("audit", "Lines of the project's audit, or with --tiers of the user's own", audit),
    ("audit-verify", "That the audit's chains are whole", of_type::<trail::Whole>),
    ("brief", "The lessons a task should start with", of_type::<Brief>),
    ("clear", "What is gone of a user's turns and facts", of_type::<remove::Cleared>),
    ("compact", "What became of the vault, or would", of_type::<remove::Compaction>),
    ("config-approve", "A setting of the project that is approved now", of_type::<config::Changed>),
    ("config-category", "Settings of a category as they stand now", of_type::<config::Changed>),
    ("config-get", "One setting, and where it comes from", of_type::<config::Valued>),
    ("config-list", "Every setting that has a value, by name", of_type::<Vec<config::Valued>>),
    ("config-pin", "What became of the PIN", of_type::<config::PinChanged>),
    ("config-set", "Settings as they were set", of_type::<config::Changed>),
    ("config-unset", "A setting that was taken out of a file", of_type::<config::Changed>),
    ("convert", "The memory that was made from another", of_type::<Added>),
    ("doctor", "Every link of the chain from agent to memory", of_type::<doctor::Checked>),
    ("edit", "What became of a changed memory", of_type::<Added>),
    ("error", "Why nothing was done; every command that fails answers this", of_type::<Failure>),
    ("expire", "What had expired", of_type::<upkeep::Expired>),
    (
        "export",
        "The files of shelves, or what was written of them; of turns and facts, counts",
        one_of_three::<export::Exported, Vec<export::File>, Carried>,
    ),
    ("forget", "What is gone, of one memory or of a topic", one_of_two::<remove::Gone, remove::Cleared>),
    ("gc", "What was collected, or would be", of_type::<records::Collected>),
    ("history", "The history of a memory, oldest first", of_type::<Vec<show::Past>>),
    (
        "import",
        "What an import brought, or would; of an archive of turns and facts, counts",
        one_of_two::<import::Imported, Brought>,
    ),
    (
        "import-auto",
        "What coding agents already know about the project, and what came of it",
        of_type::<import::FoundImport>,
    ),
    ("init", "What a project needed for a memory", of_type::<Vec<init::Step>>),
    ("last", "What hooks did last, newest first", of_type::<Vec<Run>>),
    ("lesson-load", "The lessons of a topic, newest first", of_type::<shelves::Memories>),
    ("lesson-topics", "The topics of lessons", of_type::<Vec<shelves::Topic>>),
    ("list", "A page of memories", of_type::<list::Listed>),
    ("memory-clear", "What is gone of a user's turns and facts", of_type::<remove::Cleared>),
    (
        "memory-forget",
        "What is gone, of one memory or of a topic",
        one_of_two::<remove::Gone, remove::Cleared>,
    ),
    ("model-embed", "The model in use, and how far it is", of_type::<model::Status>),
    ("model-remove", "The model in use from now on", of_type::<model::Removed>),
    ("model-status", "The model in use, and how far it is", of_type::<model::Status>),
    ("note-list", "Notes in use, newest first", of_type::<shelves::Memories>),
    ("note-session", "The notes a session should see", of_type::<shelves::Memories>),
    ("recall", "What an agent would be given for a prompt", of_type::<recall::Answer>),
    ("record-candidate", "The record that new information may belong to", of_type::<records::Answer>),
    (
        "record-write",
        "What became of a record, in the record format's own words",
        of_type::<Map<String, Value>>,
    ),
    ("remember", "What became of a new fact", of_type::<Added>),
    ("restore", "What became of each memory", of_type::<Vec<Outcome<Done>>>),
    ("retire", "What became of each memory", of_type::<Vec<Outcome<Done>>>),
    ("review", "What waits for a person, and what could be tidied up", of_type::<decide::Waits>),
    ("review-accept", "What became of a person's yes", of_type::<decide::Accepted>),
    ("review-join", "Two memories that became one", of_type::<join::Joined>),
    (
        "review-propose",
        "How many turns were looked at, and how many facts wait because of it",
        of_type::<decide::Looked>,
    ),
    ("review-reject", "The ids of drafts that were turned down", of_type::<Vec<String>>),
    (
        "scan",
        "What the gate would not store as it is, and what was not looked at",
        one_of_two::<scan::Scanned, remove::Redacted>,
    ),
    ("search", "Memories that fit, best first", of_type::<search::Found>),
    ("setup", "What was changed in the settings of coding agents, or would be", of_type::<setup::Report>),
    ("show", "A memory, what it came from and what it cites", of_type::<show::Shown>),
    ("snapshot", "What every session is given of the vault", of_type::<shelves::Snapshot>),
    ("status", "What there is, and what needs attention", of_type::<status::State>),
    ("sync", "What would move between here and the external memory, and what did", of_type::<sync::Synced>),
    ("trust", "What became of a person's yes", of_type::<decide::Accepted>),
    ("unarchive", "What became of each memory", of_type::<Vec<Outcome<Done>>>),
    ("undo", "What was undone, or would be, or why not", of_type::<undo::Undone>),
    ("undo-list", "Changes that can be undone, newest first", of_type::<Vec<undo::Change>>),
    ("user-add", "A user that is there now", of_type::<users::AddedUser>),
    (
        "user-invite",
        "A link by which somebody sets a PIN for the page, shown once",
        of_type::<invite::Invited>,
    ),
    ("user-list", "The users of this store", of_type::<Vec<users::UserShown>>),
    ("user-remove", "A user that is gone, or would be", of_type::<users::RemovedUser>),
    (
        "user-token",
        "A new token, shown once; with --list the tokens of a user, with --revoke the one that is gone",
        one_of_three::<users::MadeToken, Vec<users::TokenShown>, users::RevokedToken>,
    ),
    ("vault-bulk-add", "What became of each addition", of_type::<Vec<vault::AddedOne>>),
    ("vault-bulk-delete", "What became of each memory", of_type::<vault::Retired>),
    (
        "vault-consolidate",
        "Pairs of the vault that may be one memory, best first",
        of_type::<Vec<shelves::Alike>>,
    ),
    ("vault-context", "The vault's block for a question", of_type::<shelves::VaultBlock>),
    ("vault-promote", "The canon that was made of a register", of_type::<Added>),
    ("vault-propose", "What could go from the vault, with reasons", of_type::<Vec<shelves::Proposed>>),
    (
        "vault-recall",
        "The newest memories of the vault that are filed as asked",
        of_type::<shelves::Memories>,
    ),
    ("vault-stats", "The vault's figures", of_type::<shelves::Stats>),
    (
        "verify",
        "Whether everything is as it should be; with --staged, what the next commit holds",
        one_of_two::<super::verify::Verified, staged::Staged>,
    ),
    ("why", "The last time a memory was given to an agent", of_type::<trail::Why>),
];

/// The names of the answers that have a schema.
pub fn answers() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|(name, ..)| *name)
}

/// The schema of an answer; `None` if there is none of that name.
pub fn of(name: &str) -> Option<Value> {
    let (name, what, schema) = TABLE.iter().find(|(known, ..)| *known == name)?;
    Some(titled(name, what, schema()))
}

/// The schema of an answer under its title.
pub fn titled(name: &str, what: &str, mut schema: Value) -> Value {
    let mut whole = Map::new();
    whole.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    whole.insert("title".to_owned(), json!(format!("heirloom {} --json", name.replace('-', " "))));
    whole.insert("description".to_owned(), json!(what));
    if let Some(schema) = schema.as_object_mut() {
        schema.shift_remove("description");
        whole.append(schema);
    }
    Value::Object(whole)
}

/// The schema of what a type is printed as: whole, without references, and without keys it does not name.
pub fn of_type<T: JsonSchema>() -> Value {
    let settings =
        SchemaSettings::draft2020_12().for_serialize().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    plain(&mut schema);
    schema
}

fn one_of_two<A: JsonSchema, B: JsonSchema>() -> Value {
    json!({ "anyOf": [of_type::<A>(), of_type::<B>()] })
}

fn one_of_three<A: JsonSchema, B: JsonSchema, C: JsonSchema>() -> Value {
    json!({ "anyOf": [of_type::<A>(), of_type::<B>(), of_type::<C>()] })
}

/// Takes out what says nothing to a reader (the names of Rust's types and numbers), and closes objects: a key that is left out where it is
/// empty is never null, and one that is not named is not there.
fn plain(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(plain),
        Value::Object(parts) => {
            // A schema says what it is; the names of properties are not ours to take out.
            if ["type", "anyOf", "enum", "const"].iter().any(|word| parts.contains_key(*word)) {
                ["title", "$schema", "format", "default"]
                    .iter()
                    .for_each(|word| _ = parts.shift_remove(*word));
            }
            if parts.get("properties").is_some_and(Value::is_object) {
                close(parts);
            }
            parts.values_mut().for_each(plain);
        }
        _ => {}
    }
}

fn close(object: &mut Map<String, Value>) {
    object.entry("additionalProperties").or_insert(json!(false));
    let required: Vec<String> = object
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        .unwrap_or_default();
    let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (_, property) in properties.iter_mut().filter(|(name, _)| !required.contains(name)) {
        not_null(property);
    }
}

/// Takes `null` out of what a value may be.
fn not_null(property: &mut Value) {
    if let Some(types) = property.get_mut("type").and_then(Value::as_array_mut) {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            property["type"] = only.clone();
        }
    }
    let about = property.get("description").cloned();
    let Some(ways) = property.get_mut("anyOf").and_then(Value::as_array_mut) else { return };
    ways.retain(|way| way["type"] != "null");
    if let [Value::Object(only)] = ways.as_slice() {
        let mut only = only.clone();
        only.extend(about.map(|about| ("description".to_owned(), about)));
        *property = Value::Object(only);
    }
}

/// What every command that fails answers.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the shape of a fault as a command prints it; nobody makes one of these")]
struct Failure {
    error: Error,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "as above")]
struct Error {
    /// The code of the table.
    code: &'static str,
    /// What is wrong.
    message: String,
    /// What it is about, a name and a value each.
    facts: Vec<std::collections::BTreeMap<String, String>>,
    /// What to do next.
    hint: String,
}

/// A line of an audit keeps what its writer of that day put into it: these are there in every one.
fn audit() -> Value {
    let text = || json!({ "type": "string" });
    let line = |keys: &[&str]| {
        let properties: Map<String, Value> = keys.iter().map(|key| ((*key).to_owned(), text())).collect();
        let mut required = keys.to_vec();
        required.push("seq");
        let mut line = json!({ "type": "object", "properties": properties, "required": required });
        line["properties"]["seq"] = json!({ "type": "integer", "minimum": 0 });
        line
    };
    let project = line(&["at", "action", "verdict", "id", "channel", "prev", "hash"]);
    let mut own = line(&["at", "user", "action", "prev", "hash"]);
    own["properties"]["metadata"] = json!({ "type": "object" });
    json!({ "type": "array", "items": { "anyOf": [project, own] } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook::trace::Ended;

    #[test]
    fn every_answer_has_a_schema_that_is_one() {
        assert!(TABLE.is_sorted_by_key(|(name, ..)| *name));
        for name in answers() {
            let schema = of(name).unwrap();
            assert!(jsonschema::meta::is_valid(&schema), "{name}");
            assert!(!schema.to_string().contains("$ref"), "{name}");
        }
        assert_eq!(of("nothing"), None);
    }

    #[test]
    fn every_way_a_hook_ends_has_its_word_in_the_schema() {
        let schema = of("last").unwrap();
        for ended in Ended::ALL {
            assert_eq!(serde_json::to_value(ended).unwrap(), ended.name());
            assert!(schema.to_string().contains(&format!("{:?}", ended.name())), "{schema}");
        }
    }

    #[test]
    fn a_key_that_may_be_left_out_is_not_null_and_no_other_key_is_allowed() {
        let added = of("add").unwrap();
        assert_eq!(added["properties"]["path"]["type"], "string");
        assert_eq!(added["additionalProperties"], false);
        assert_eq!(added["required"], json!(["status", "id"]));
    }
}

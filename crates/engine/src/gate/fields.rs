//! The one list of every field that can be stored, and what keeps a secret out of each.
//!
//! Comes in: a field as somebody gave it. Goes out: a refusal, if it holds a secret or an identity number. A text is looked at where it stands, as
//! part of its draft. What is made smaller, folded to lower case or cut into a name before it is stored is looked at as it was given: an access
//! key in lower case is no key to any rule, and still the key to whoever knows how it is spelled. Everything else is parsed into something
//! that has no room for words. Never here: what a finding in a text means, which is the policy's.
//!
//! A field that is stored and not listed is a mistake; the tests below hold the list against the formats, and the command line's tests send a secret
//! through every row of it.

use super::scan::{self, Class, Finding, Level, Scanner};
use super::{Draft, Screen, refusal};
use crate::gate::policy::Row;
use heirloom_core::fault::Result;
use heirloom_core::settings::Profile;
use serde_json::Value;
use std::borrow::Cow;

/// What keeps a secret out of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Care {
    /// The gate looks at it as a text of its draft.
    Text,
    /// It is looked at as it was given, before anything is made of it.
    Raw,
    /// It is a time, a number, a choice, a random id or a hash, or it is not stored.
    Parsed,
}

/// A field of something that is stored.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// What it belongs to.
    pub of: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What keeps a secret out of it.
    pub care: Care,
}

use Care::{Parsed, Raw, Text};

const fn field(of: &'static str, name: &'static str, care: Care) -> Field {
    Field { of, name, care }
}

/// Every field there is. `record` has those that all categories share; what is in `content` is the category's own, and all of it is text.
pub const FIELDS: &[Field] = &[
    field("record", "schema_version", Parsed),
    field("record", "category", Parsed),
    field("record", "id", Raw),
    field("record", "title", Text),
    field("record", "record_status", Parsed),
    field("record", "created_at", Parsed),
    field("record", "updated_at", Parsed),
    field("record", "tags", Raw),
    field("record", "related_files", Text),
    field("record", "confidence", Parsed),
    field("record", "content", Text),
    field("record", "changes", Text),
    field("record", "times_updated", Parsed),
    field("record", "retired_at", Parsed),
    field("record", "retired_reason", Text),
    field("record", "archived_at", Parsed),
    field("record", "archived_reason", Text),
    field("lesson", "topic", Raw),
    field("lesson", "subtopic", Raw),
    field("lesson", "date", Parsed),
    field("lesson", "title", Text),
    field("lesson", "context", Text),
    field("lesson", "problem", Text),
    field("lesson", "solution", Text),
    field("lesson", "code", Text),
    field("lesson", "text", Text),
    field("note", "id", Parsed),
    field("note", "subject", Text),
    field("note", "keywords", Text),
    field("note", "applies_to", Text),
    field("note", "occurred_at", Parsed),
    field("note", "timeless", Parsed),
    field("note", "content_hash", Parsed),
    field("note", "content", Text),
    field("note", "memory_path", Raw),
    field("vault", "id", Raw),
    field("vault", "version", Parsed),
    field("vault", "created_at", Parsed),
    field("vault", "updated_at", Parsed),
    field("vault", "tier", Raw),
    field("vault", "topic_id", Raw),
    field("vault", "source", Raw),
    field("vault", "scope", Raw),
    field("vault", "category", Raw),
    field("vault", "tags", Raw),
    field("vault", "deleted_at", Parsed),
    field("vault", "text", Text),
    field("tier", "id", Raw),
    field("tier", "user", Raw),
    field("tier", "tier", Parsed),
    field("tier", "content", Text),
    field("tier", "channel", Parsed),
    field("tier", "trust", Parsed),
    field("tier", "accepted", Parsed),
    field("tier", "role", Parsed),
    field("tier", "from_external_content", Parsed),
    field("tier", "session", Text),
    field("tier", "position", Parsed),
    field("tier", "message", Text),
    field("tier", "tool", Text),
    field("tier", "statement", Text),
    field("tier", "confidence", Parsed),
    field("tier", "tags", Text),
    field("tier", "status", Parsed),
    field("tier", "supersedes", Raw),
    field("tier", "superseded_by", Raw),
    field("tier", "occurred_at", Parsed),
    field("tier", "created_at", Parsed),
    field("tier", "updated_at", Parsed),
    field("tier", "expires_at", Parsed),
    field("tier", "item", Text),
    field("item", "namespace", Raw),
    field("item", "labels", Raw),
    field("item", "key", Raw),
    field("item", "value", Text),
    field("item", "metadata", Text),
    field("item", "ends", Parsed),
    field("item", "first", Raw),
    field("item", "began_at", Parsed),
    field("item", "written_at", Parsed),
    field("anchor", "path", Text),
    field("anchor", "symbol", Text),
    field("anchor", "quote", Text),
    field("anchor", "lines", Parsed),
    field("setting", "name", Raw),
    field("setting", "value", Raw),
    field("category", "name", Raw),
    field("category", "folder", Raw),
    field("category", "description", Raw),
    field("category", "field", Raw),
    field("user", "name", Raw),
    field("token", "name", Raw),
    field("session", "id", Raw),
    field("agent", "name", Raw),
    field("import", "file name", Raw),
    field("lifecycle", "reason", Text),
];

impl Screen {
    /// Whether a field may be stored in whatever form, by what it says as it was given. Under `gate.profile: seed` a shelf's own list is all
    /// that counts.
    pub fn raw(&self, row: Row, field: &str, text: &str) -> Result<()> {
        if self.profile(row) == Profile::Seed {
            return Ok(());
        }
        self.plain(field, text)
    }

    /// The same for what belongs to no shelf: names of users, sessions and settings.
    pub fn plain(&self, field: &str, text: &str) -> Result<()> {
        match first_held(&self.scan(text)) {
            Some(found) => Err(refusal(field, found.class, &found.rule)),
            None => Ok(()),
        }
    }

    /// The same for every text of a value and every name in it.
    pub fn plain_value(&self, field: &str, value: &Value) -> Result<()> {
        match value {
            Value::String(text) => self.plain(field, text),
            Value::Array(items) => items.iter().try_for_each(|item| self.plain_value(field, item)),
            Value::Object(map) => map.iter().try_for_each(|(name, item)| {
                self.plain(field, name)?;
                self.plain_value(field, item)
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }

    /// What a draft was made from, before anything else is looked at: errors of shape repeat what they are about.
    pub(super) fn look_given<D: Draft>(&self, draft: &D) -> Result<()> {
        let row = draft.row();
        draft.given().iter().try_for_each(|(field, text)| self.raw(row, field, text))
    }
}

/// Refuses a name that holds a secret or an identity number, by the rules that are always there: for doors that have no settings yet.
pub fn name(field: &str, text: &str) -> Result<()> {
    match first_held(&Scanner::standard().scan(text)) {
        Some(found) => Err(refusal(field, found.class, &found.rule)),
        None => Ok(()),
    }
}

fn first_held(findings: &[Finding]) -> Option<&Finding> {
    findings.iter().find(|one| is_held(one))
}

fn is_held(found: &Finding) -> bool {
    matches!(found.class, Class::Secret | Class::Identity) && found.level > Level::Possible
}

/// A text without its secrets and identity numbers, by the rules that are always there: for doors that must say what they cannot do with
/// something they were given.
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    let findings = Scanner::standard().scan(text);
    let held: Vec<&Finding> = findings.iter().filter(|one| is_held(one)).collect();
    if held.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(scan::redact(text, &held)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn listed(of: &str) -> BTreeSet<&'static str> {
        FIELDS.iter().filter(|field| field.of == of).map(|field| field.name).collect()
    }

    #[test]
    fn every_field_of_a_record_is_listed() {
        let known: BTreeSet<&str> = crate::shelf::records::BASE_FIELDS.into_iter().collect();
        assert_eq!(listed("record"), known);
    }

    #[test]
    fn every_field_of_a_vault_line_is_listed() {
        let line = br#"{"id":"a","text":"t","topic_id":"x"}"#;
        let record = crate::shelf::vault::Record::parse(line).unwrap();
        let Value::Object(fields) = serde_json::to_value(&record).unwrap() else { panic!("no object") };
        assert_eq!(listed("vault"), fields.keys().map(String::as_str).collect());
    }

    #[test]
    fn every_field_of_a_note_is_listed() {
        let draft = crate::shelf::notes::NoteDraft::of_file(
            "/memories/plan.md",
            "A message worth keeping",
            crate::shelf::notes::Moment::of(jiff::Timestamp::UNIX_EPOCH),
            5,
        );
        let Value::Object(mut fields) = draft.to_fields() else { panic!("no object") };
        // Made from the content when it is stored.
        fields.insert("content_hash".to_owned(), Value::Null);
        assert_eq!(listed("note"), fields.keys().map(String::as_str).collect());
    }

    #[test]
    fn a_key_is_found_as_it_was_given_and_not_once_it_is_folded() {
        let screen = Screen::new(heirloom_core::Settings::standard().gate);
        let key = ["AKIA", "Q7RZ5M2KXT4W9PLB"].concat();
        assert!(screen.raw(Row::Records, "tags", &key).is_err());
        assert!(screen.plain_value("value", &serde_json::json!({ "a": [{ &key: 1 }] })).is_err());
        assert!(screen.plain("name", "ana").is_ok());
        let printed = format!("{:?}", screen.plain("name", &key).unwrap_err());
        assert!(!printed.contains(&key[4..]));
    }
}

//! Judging a file that reached a category's folder without the gate.
//!
//! Comes in: a path below a memory folder and the bytes there. Goes out: nothing if they are a record the gate would have let
//! through, else the refusal it would have given. Never here: changing or moving the file.

use super::document::Document;
use super::draft::wrong_fields;
use super::schema::{self, Stage};
use super::store::Records;
use crate::gate::policy::Row;
use heirloom_core::{Code, Fault, fault::Result};
use std::path::{Component, Path};

impl Records<'_> {
    /// Whether `inner` (a path below a memory folder) is a record as it should be. The category is that of the first folder;
    /// for other folders, and for files directly in the memory folder, the one the record names.
    pub fn judge(&self, inner: &Path, bytes: &[u8]) -> Result<()> {
        let settings = self.call.settings();
        let document = Document::parse(bytes).map_err(|why| {
            Fault::new(Code::Input, format!("Invalid JSON: {why}")).hint("write one JSON object")
        })?;
        let mut parts = inner.components();
        let folder = match (parts.next(), parts.next()) {
            (Some(Component::Normal(folder)), Some(_)) => folder.to_str(),
            _ => None,
        };
        let category = folder
            .and_then(|folder| settings.category_of_folder(folder))
            .or_else(|| settings.category(document.text("category")?))
            .ok_or_else(|| {
                Fault::new(Code::Validation, "cannot tell what category this record belongs to")
                    .fact("field", "category")
                    .hint("name one of the categories in the record's `category`")
            })?;
        let screen = self.call.screen();
        let wrong = schema::validate(&document, category, Stage::Stored);
        if !wrong.is_empty() {
            return Err(wrong_fields(&wrong, |got| screen.redacted(got)));
        }
        match screen.would_refuse(&String::from_utf8_lossy(bytes), Row::Records) {
            Some(rule) => Err(Fault::new(
                Code::GateRefused,
                format!("the record holds what must not be stored ({rule})"),
            )
            .fact("rule", rule)),
            None => Ok(()),
        }
    }
}

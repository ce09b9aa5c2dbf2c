//! The record shelf: what the project knows, typed, with a lifecycle.
//!
//! Comes in: JSON objects of a category, through the gate. Goes out: one file per record in its category's folder, and `index.md`
//! beside them. Every change happens under the store's lock, record first, index second; a mark in `.local` says that the
//! second is still owed, so a killed writer's index is made good by the next one.

mod alias;
mod branches;
mod compose;
mod document;
mod draft;
mod fix;
mod forget;
mod gc;
mod gist;
mod glance;
mod index_file;
mod index_merge;
mod index_source;
mod json_schema;
mod judge;
mod lifecycle;
mod merge;
mod put_back;
mod redact;
mod replace;
mod report;
mod scan;
mod schema;
mod search;
mod store;
mod target;
mod verify;
mod view;
mod write;

pub use branches::{Joined, merge_record};
pub use compose::{Composed, Given, Missing, apply, compose, missing, name_for};
pub use document::Document;
pub use gc::Collected;
pub(crate) use gist::{Gist, forget_gists};
pub use glance::Glance;
pub use index_file::{EntryLine, IndexEntry, is_entry, line_path};
pub use index_merge::merge_index;
pub use index_source::IndexSource;
pub use json_schema::json_schema;
pub use report::{Health, Mismatch};
pub use scan::{Found, Scan};
pub use schema::{BASE_FIELDS, Stage, Wrong, validate};
pub use search::Hit;
pub use store::Records;
pub(crate) use store::label_of;
pub use target::Target;
pub(crate) use view::plain;
pub use write::{Said, Version};

#[cfg(test)]
#[path = "records_tests.rs"]
mod tests;

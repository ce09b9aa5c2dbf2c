//! What can be typed after `heirloom record`: the names and forms that scripts written for the record format know.

use clap::{ArgGroup, Subcommand};
use std::path::PathBuf;

/// Tools of the record format, for scripts and skills
///
/// They take files and answer in JSON or in fixed lines. People use `add`, `edit`, `retire` and `recall` instead.
#[derive(Debug, clap::Args)]
pub(crate) struct Record {
    #[command(subcommand)]
    pub(crate) action: RecordAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RecordAction {
    Write(RecordWrite),
    Candidate(RecordCandidate),
    Index(RecordIndex),
}

/// Create, update, retire, archive, unarchive or restore a record
#[derive(Debug, clap::Args)]
pub(crate) struct RecordWrite {
    /// What to do
    #[arg(long, value_parser = ["create", "update", "delete", "archive", "unarchive", "restore"])]
    pub(crate) action: String,
    /// The category; required for create
    #[arg(long)]
    pub(crate) category: Option<String>,
    /// The record's file, for example .claude/memory/decisions/use-jwt.json
    #[arg(long)]
    pub(crate) target: String,
    /// A JSON file in a temporary folder; required for create and update
    #[arg(long)]
    pub(crate) input: Option<String>,
    /// The version this update is based on: content token, or MD5 of the file
    #[arg(long)]
    pub(crate) hash: Option<String>,
    /// Why, for delete and archive
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) reason: Option<String>,
    /// Code it is about, for create and update: PATH, PATH:12-20, PATH#symbol or PATH:"quoted text"; can be repeated
    #[arg(long, value_name = "PLACE")]
    pub(crate) anchor: Vec<String>,
}

/// Find the record that new information belongs to
#[derive(Debug, clap::Args)]
pub(crate) struct RecordCandidate {
    /// The category
    #[arg(long)]
    pub(crate) category: String,
    /// The new information
    #[arg(long)]
    pub(crate) new_info: String,
    /// What happened to the thing it is about
    #[arg(long, value_parser = heirloom_engine::recall::candidate::LIFECYCLE_EVENTS)]
    pub(crate) lifecycle_event: Option<String>,
    /// The memory folder
    #[arg(long, default_value = heirloom_engine::settings::DEFAULT_ROOT)]
    pub(crate) root: PathBuf,
}

/// Rebuild, check, query or tidy the index
#[derive(Debug, clap::Args)]
#[command(group(ArgGroup::new("what").required(true).args(["rebuild", "validate", "query", "health", "gc"])))]
pub(crate) struct RecordIndex {
    /// The memory folder
    #[arg(long, default_value = heirloom_engine::settings::DEFAULT_ROOT)]
    pub(crate) root: PathBuf,
    /// Rebuild index.md from the records
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// Compare index.md with the records
    #[arg(long)]
    pub(crate) validate: bool,
    /// Find index lines that contain a text
    #[arg(long, value_name = "KEYWORD")]
    pub(crate) query: Option<String>,
    /// Report on the store
    #[arg(long)]
    pub(crate) health: bool,
    /// Collect what was retired longer ago than the grace period
    #[arg(long)]
    pub(crate) gc: bool,
}

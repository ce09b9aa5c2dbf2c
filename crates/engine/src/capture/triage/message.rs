//! The message: what a host's model is told at a stop that has something to save.
//!
//! Comes in: findings and where their context files are. Goes out: text with a `<triage_data>` block of JSON at its end.
//! Never here: raw lines of the transcript; every snippet is cleaned and escaped.

use super::score::{Conversation, Finding};
use heirloom_core::Settings;
use heirloom_core::text::clean_snippet;
use serde::Serialize;
use std::path::Path;

/// A finding and its context file, if one could be written.
#[derive(Debug)]
pub struct Pointer<'a> {
    /// The finding.
    pub finding: &'a Finding,
    /// Its context file.
    pub context_file: Option<&'a Path>,
}

#[derive(Serialize)]
struct Data<'a> {
    categories: Vec<Entry<'a>>,
    parallel_config: Parallel<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    draft_folder: Option<String>,
}

#[derive(Serialize)]
struct Entry<'a> {
    category: &'a str,
    score: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_file: Option<String>,
}

#[derive(Serialize)]
struct Parallel<'a> {
    enabled: bool,
    category_models: serde_json::Map<String, serde_json::Value>,
    verification_model: &'a str,
    default_model: &'a str,
}

/// The order in which models are listed.
const MODEL_ORDER: [&str; 6] =
    ["session_summary", "decision", "runbook", "constraint", "tech_debt", "preference"];

/// The whole message. `draft_folder` is where drafts are to be written.
pub fn reply_text(
    conversation: &Conversation,
    pointers: &[Pointer<'_>],
    settings: &Settings,
    draft_folder: Option<&Path>,
) -> String {
    let mut out = "The following items should be saved as memories before stopping:\n".to_owned();
    for Pointer { finding, .. } in pointers {
        let snippets = conversation.snippets(finding);
        let snippet =
            snippets.first().map_or_else(|| "Significant activity detected".to_owned(), |s| clean_snippet(s));
        let about =
            finding.description.as_ref().map(|d| format!("({}) ", clean_snippet(d))).unwrap_or_default();
        out.push_str(&format!(
            "- [{}] {about}{snippet} (score: {})\n",
            finding.kind.to_uppercase(),
            two_decimals(finding.score)
        ));
    }
    out.push_str("\nUse the memory-management skill to save each item. After saving, you may stop.\n");
    out.push_str("\n<triage_data>\n");
    out.push_str(&data_block(pointers, settings, draft_folder));
    out.push_str("\n</triage_data>\n");
    out
}

fn data_block(pointers: &[Pointer<'_>], settings: &Settings, draft_folder: Option<&Path>) -> String {
    let parallel = &settings.triage.parallel;
    let data = Data {
        categories: pointers
            .iter()
            .map(|Pointer { finding, context_file }| Entry {
                category: finding.kind,
                score: four_decimals(finding.score),
                description: finding.description.as_deref(),
                context_file: context_file.map(|path| path.display().to_string()),
            })
            .collect(),
        parallel_config: Parallel {
            enabled: parallel.enabled,
            category_models: MODEL_ORDER
                .iter()
                .filter_map(|kind| {
                    Some(((*kind).to_owned(), parallel.category_models.get(*kind)?.as_str().into()))
                })
                .collect(),
            verification_model: &parallel.verification_model,
            default_model: &parallel.default_model,
        },
        draft_folder: draft_folder.map(|path| path.display().to_string()),
    };
    // Maps with text keys and finite numbers always serialise. A description may hold any text, so the tag that ends the
    // block must not appear in it: JSON may escape any character, and its readers undo that.
    serde_json::to_string_pretty(&data).unwrap_or_default().replace('<', "\\u003c").replace('>', "\\u003e")
}

pub(super) fn two_decimals(score: f64) -> String {
    format!("{score:.2}")
}

fn four_decimals(score: f64) -> f64 {
    format!("{score:.4}").parse().unwrap_or(score)
}

//! Settings of endpoints: who makes vectors and who proposes facts, if not this machine.
//!
//! Comes in: resolved values by name, the user's own only. Goes out: [`Embedding`] and [`Endpoint`], or nothing if somebody did not say enough. Never
//! here: a key; only where it is.

use super::layers::{Origin, Warning};
use super::typed::Reader;

/// An endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Its address, up to and without what is called there.
    pub url: String,
    /// The model to ask for.
    pub model: String,
    /// The environment variable that holds the key.
    pub key_env: Option<String>,
    /// The file that holds the key.
    pub key_file: Option<String>,
    /// How long a call may take, in milliseconds.
    pub timeout_ms: u32,
}

/// An endpoint that makes vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Embedding {
    /// Where.
    pub endpoint: Endpoint,
    /// The length of its vectors.
    pub dimensions: usize,
    /// Whether it is asked to cut them to that.
    pub cut: bool,
    /// How long a prompt waits for its vector, in milliseconds.
    pub prompt_timeout_ms: u32,
}

impl Endpoint {
    /// The endpoint below a name, if address and model are there; half a setting is worth a warning.
    pub(super) fn from_values(v: &Reader<'_>, group: &str, warnings: &mut Vec<Warning>) -> Option<Endpoint> {
        let text = |part: &str| Some(v.text(&format!("{group}.{part}"))).filter(|text| !text.is_empty());
        let (url, model) = (text("url"), text("model"));
        if url.is_some() != model.is_some() {
            let missing = if url.is_some() { "model" } else { "url" };
            let message = format!("`{group}.{missing}` is missing; no endpoint is used");
            warnings.push(Warning { name: group.to_owned(), origin: Origin::User, message });
        }
        Some(Endpoint {
            url: url?,
            model: model?,
            key_env: text("key_env"),
            key_file: text("key_file"),
            timeout_ms: v.count(&format!("{group}.timeout_ms")).unwrap_or_default(),
        })
    }
}

impl Embedding {
    pub(super) fn from_values(v: &Reader<'_>, warnings: &mut Vec<Warning>) -> Option<Embedding> {
        let endpoint = Endpoint::from_values(v, "embedding", warnings)?;
        let Some(dimensions) = v.count("embedding.dimensions") else {
            let message = "`embedding.dimensions` is missing; no endpoint is used".to_owned();
            warnings.push(Warning { name: "embedding".to_owned(), origin: Origin::User, message });
            return None;
        };
        Some(Embedding {
            endpoint,
            dimensions: dimensions as usize,
            cut: v.on("embedding.cut"),
            prompt_timeout_ms: v.count("embedding.prompt_timeout_ms").unwrap_or_default(),
        })
    }
}

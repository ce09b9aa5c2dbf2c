//! Drafts that lie in a database with what they are about, instead of in files.
//!
//! Comes in: texts under the SHA-256 of each. Goes out: the same as drafts. A text that does not have the hash it is named by was altered and can
//! only be thrown away. Never here: which user's they are; whoever keeps them knows that.

use super::{Broken, Found, Item, TYPED, Waiting};
use heirloom_core::{fault::Result, hash, json};
use jiff::Timestamp;
use std::path::PathBuf;
use std::sync::Arc;

/// What keeps drafts.
pub trait Drafts: std::fmt::Debug + Send + Sync {
    /// Every draft: the SHA-256 it is named by, and its text.
    fn all(&self) -> Result<Vec<(String, String)>>;

    /// Keeps a draft that arrived at this moment.
    fn put(&self, sha256: &str, at: Timestamp, text: &str) -> Result<()>;

    /// Takes a draft out.
    fn remove(&self, sha256: &str) -> Result<()>;
}

/// A keeper of drafts that a draft carries with it. Two drafts are the same whoever hands them out.
#[derive(Debug, Clone)]
pub(super) struct Elsewhere(pub(super) Arc<dyn Drafts>);

impl PartialEq for Elsewhere {
    fn eq(&self, _: &Elsewhere) -> bool {
        true
    }
}

impl Elsewhere {
    /// The text under this name now.
    pub(super) fn text_of(&self, sha256: &str) -> Result<Option<String>> {
        Ok(self.0.all()?.into_iter().find(|(name, _)| name == sha256).map(|(_, text)| text))
    }

    /// Every draft.
    pub(super) fn found(&self) -> Result<Vec<Found>> {
        Ok(self.0.all()?.into_iter().map(|(name, text)| self.look(name, &text)).collect())
    }

    fn look(&self, name: String, text: &str) -> Found {
        let said: Option<Waiting> =
            json::parse(text.as_bytes()).ok().and_then(|value| serde_json::from_value(value).ok());
        let key = name.get(..TYPED).unwrap_or(&name).to_owned();
        let kept = Some(self.clone());
        // The name is what takes it out again.
        let file = PathBuf::from(&name);
        match said {
            Some(waiting) if hash::sha256(text.as_bytes()) == name => Found::Whole(Box::new(Item {
                key,
                verified: true,
                waiting,
                bound: String::new(),
                mac: name,
                file,
                kept,
            })),
            said => {
                let why = match said {
                    Some(_) => "was altered after it was put into the inbox",
                    None => "cannot be read",
                };
                Found::Broken(Box::new(Broken { key, why, file, said, kept }))
            }
        }
    }
}

//! Drafts that wait in a shared store, beside the rows they are about.
//!
//! Comes in: a draft and the SHA-256 of its text. Goes out: the same, on every machine. Never here: a draft of anybody else; the context decides.

use super::{TierStore, UserContext};
use crate::gate::inbox::Drafts;
use heirloom_core::fault::Result;
use jiff::Timestamp;
use std::sync::Arc;

/// The drafts of one user in a store.
#[derive(Debug)]
pub(super) struct StoreDrafts {
    store: Arc<dyn TierStore>,
    who: UserContext,
}

impl StoreDrafts {
    pub(super) fn of(store: &Arc<dyn TierStore>, who: &UserContext) -> StoreDrafts {
        StoreDrafts { store: Arc::clone(store), who: who.clone() }
    }
}

impl Drafts for StoreDrafts {
    fn all(&self) -> Result<Vec<(String, String)>> {
        self.store.drafts(&self.who)
    }

    fn put(&self, sha256: &str, at: Timestamp, text: &str) -> Result<()> {
        self.store.put_draft(&self.who, sha256, at, text)
    }

    fn remove(&self, sha256: &str) -> Result<()> {
        self.store.remove_draft(&self.who, sha256)
    }
}

//! The review inbox: drafts that wait for a person.
//!
//! Comes in: a draft's fields, already without secrets, and why it waits. Goes out: the same, to a person who decides. Files are
//! private and expire. Never here: accepting; that is a new pass through the gate, confirmed.

use crate::files::{self, Mode};
use heirloom_core::{Channel, Code, Fault, Trust, fault::Result, hash, json, time};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// How long something waits before it goes by itself.
pub const EXPIRES_DAYS: u32 = 30;

/// The largest waiting draft.
const MAX_ITEM: u64 = 1 << 20;

/// Something that waits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// The inbox's own name for it.
    pub key: String,
    /// The id it would have.
    pub id: String,
    /// The shelf it is meant for.
    pub shelf: String,
    /// How it arrived.
    pub channel: Channel,
    /// How far it would be believed unconfirmed.
    pub trust: Trust,
    /// Why it waits, a line each.
    pub reasons: Vec<String>,
    /// When it arrived.
    pub at: String,
    /// The draft, as its shelf reads it.
    pub draft: Value,
}

/// The inbox of a store.
#[derive(Debug)]
pub struct Inbox {
    folder: PathBuf,
}

impl Inbox {
    /// The inbox in a store's local folder.
    pub fn new(local: &Path) -> Inbox {
        Inbox { folder: local.join("inbox") }
    }

    /// Puts something in. The same draft from the same channel waits once.
    pub fn put(&self, mut item: Item) -> Result<String> {
        let seed = format!("{}\0{}\0{}", item.shelf, item.id, item.draft);
        item.key = hash::sha256(seed.as_bytes())[..12].to_owned();
        files::make_folder(&self.folder, Mode::Private)?;
        let text = serde_json::to_string_pretty(&item)
            .map_err(|e| Fault::new(Code::Internal, format!("cannot write an inbox item: {e}")))?;
        files::write(&self.path(&item.key), text.as_bytes(), Mode::Private)?;
        Ok(item.key)
    }

    /// Everything that waits and has not expired, oldest first.
    pub fn list(&self, now: Timestamp) -> Result<Vec<Item>> {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return Ok(Vec::new()) };
        let mut items: Vec<Item> = entries
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|e| e == "json"))
            .filter_map(|entry| self.load(&entry.path()).ok().flatten())
            .filter(|item| !expired(item, now))
            .collect();
        items.sort_by(|a, b| (&a.at, &a.key).cmp(&(&b.at, &b.key)));
        Ok(items)
    }

    /// One item.
    pub fn get(&self, key: &str, now: Timestamp) -> Result<Item> {
        let plain = !key.is_empty() && key.bytes().all(|b| b.is_ascii_hexdigit());
        let item = if plain { self.load(&self.path(key))? } else { None };
        item.filter(|item| !expired(item, now)).ok_or_else(|| {
            Fault::new(Code::NotFound, format!("nothing waits under `{key}`"))
                .hint("`heirloom review` lists what waits")
        })
    }

    /// Takes something out.
    pub fn remove(&self, key: &str) -> Result<()> {
        files::remove(&self.path(key))
    }

    /// Removes what has expired, and everything about an id if one is given. Returns how many went.
    pub fn sweep(&self, now: Timestamp, forget: Option<&str>) -> Result<usize> {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return Ok(0) };
        let mut gone = 0;
        for entry in entries.flatten() {
            let drop = match self.load(&entry.path()) {
                Ok(Some(item)) => expired(&item, now) || forget == Some(item.id.as_str()),
                _ => false,
            };
            if drop {
                files::remove(&entry.path())?;
                gone += 1;
            }
        }
        Ok(gone)
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.json"))
    }

    fn load(&self, path: &Path) -> Result<Option<Item>> {
        let Some(bytes) = files::read_if_there(path, MAX_ITEM)? else { return Ok(None) };
        let damaged = |why: String| Fault::new(Code::Damaged, format!("`{}`: {why}", path.display()));
        let value = json::parse(&bytes).map_err(|e| damaged(e.to_string()))?;
        serde_json::from_value(value).map(Some).map_err(|e| damaged(e.to_string()))
    }
}

fn expired(item: &Item, now: Timestamp) -> bool {
    time::parse(&item.at).is_none_or(|at| at < time::days_before(now, EXPIRES_DAYS))
}

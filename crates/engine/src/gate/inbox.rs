//! The review inbox: drafts that wait for a person, in the user's data folder.
//!
//! Comes in: a draft without secrets, and why it waits. Goes out: the same, to a person who decides. A draft's file is named by the MAC of its
//! bytes ([`Key`]), and the key a person types is the beginning of that: other bytes, another project's draft or another draft's name do not
//! fit. Drafts without such a name (an earlier version's, or anybody's) are read too, but nothing they say of their origin counts, and their key
//! is the MAC of what they hold now. Files are private and expire. Never here: accepting; that is a new pass through the gate, confirmed.

mod kept;
mod key;

pub use kept::Drafts;
use kept::Elsewhere;
pub use key::{Dice, Key};

use crate::budget::{self, Left};
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

/// Hex digits of a MAC, and how many of them a person types.
const MAC: usize = 64;
const TYPED: usize = 12;

/// Why a draft waits that Heirloom did not put here.
const UNKNOWN: &str = "unverified origin: this version of Heirloom did not put this draft here";

/// A draft as its file holds it.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema, Deserialize)]
pub struct Waiting {
    /// The id it would have.
    pub id: String,
    /// The shelf it is meant for.
    pub shelf: String,
    /// How it arrived.
    pub channel: Channel,
    /// How far it would be believed unconfirmed.
    pub trust: Trust,
    /// Why it waits, a line each.
    #[serde(default)]
    pub reasons: Vec<String>,
    /// When it arrived.
    #[serde(default)]
    pub at: String,
    /// The draft, as its shelf reads it.
    pub draft: Value,
}

/// Something that waits.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Item {
    /// What a person names it by.
    pub key: String,
    /// Whether Heirloom itself put exactly these bytes here.
    pub verified: bool,
    /// What waits.
    #[serde(flatten)]
    pub waiting: Waiting,
    #[serde(skip)]
    mac: String,
    /// What its MAC is bound to.
    #[serde(skip)]
    bound: String,
    #[serde(skip)]
    file: PathBuf,
    /// What keeps it, if that is no file.
    #[serde(skip)]
    kept: Option<Elsewhere>,
}

impl Item {
    /// By what exactly these bytes are known.
    pub(crate) fn mac(&self) -> &str {
        &self.mac
    }
}

impl std::ops::Deref for Item {
    type Target = Waiting;

    fn deref(&self) -> &Waiting {
        &self.waiting
    }
}

/// A file in the inbox that nobody can accept.
#[derive(Debug, Clone, PartialEq)]
pub struct Broken {
    /// What a person names it by.
    pub key: String,
    /// What is wrong with it.
    pub why: &'static str,
    /// The file.
    pub file: PathBuf,
    /// What it says, as far as it can be read; for those who look for what to remove.
    said: Option<Waiting>,
    kept: Option<Elsewhere>,
}

#[derive(Debug)]
enum Found {
    Whole(Box<Item>),
    Broken(Box<Broken>),
}

/// The inbox of a project or of a user's tiers.
#[derive(Debug)]
pub struct Inbox {
    folder: PathBuf,
    earlier: Option<PathBuf>,
    name: String,
    key: Key,
    kept: Option<Elsewhere>,
}

impl Inbox {
    /// The inbox in a folder. `name` is what its drafts are bound to.
    pub fn new(folder: PathBuf, name: String, key: Key) -> Inbox {
        Inbox { folder, earlier: None, name, key, kept: None }
    }

    /// The same, with the folder an earlier version kept its drafts in.
    #[must_use]
    pub fn with_earlier(mut self, folder: PathBuf) -> Inbox {
        self.earlier = Some(folder);
        self
    }

    /// The same, with new drafts kept somewhere else, where other machines see them too. A draft is named by the SHA-256 of its text there, since no
    /// machine can check another one's MAC. What lies in the folder already still counts.
    #[must_use]
    pub fn kept_by(mut self, drafts: std::sync::Arc<dyn Drafts>) -> Inbox {
        self.kept = Some(Elsewhere(drafts));
        self
    }

    /// The folder new drafts go to.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Puts something in. The same draft from the same channel waits once.
    pub fn put(&self, waiting: Waiting, now: Timestamp) -> Result<String> {
        let same = |item: &Item| {
            item.verified
                && (&item.id, &item.shelf, item.channel) == (&waiting.id, &waiting.shelf, waiting.channel)
                && item.draft == waiting.draft
        };
        if let Some(twin) = self.list(now)?.into_iter().find(same) {
            return Ok(twin.key);
        }
        let text = serde_json::to_string_pretty(&waiting)
            .map_err(|e| Fault::new(Code::Internal, format!("cannot write an inbox item: {e}")))?;
        if let Some(kept) = &self.kept {
            let sha256 = hash::sha256(text.as_bytes());
            kept.0.put(&sha256, time::parse(&waiting.at).unwrap_or(now), &text)?;
            return Ok(sha256[..TYPED].to_owned());
        }
        let mac = self.key.mac(&self.name, text.as_bytes())?;
        files::make_folder(&self.folder, Mode::Private)?;
        files::write(&self.folder.join(format!("{mac}.json")), text.as_bytes(), Mode::Private)?;
        Ok(mac[..TYPED].to_owned())
    }

    /// Everything that waits and has not expired, oldest first.
    pub fn list(&self, now: Timestamp) -> Result<Vec<Item>> {
        let mut items: Vec<Item> = Vec::new();
        for found in self.found()? {
            match found {
                Found::Whole(item) if !expired(&item, now) => items.push(*item),
                Found::Whole(_) | Found::Broken(_) => {}
            }
        }
        items.sort_by(|a, b| (&a.at, &a.key).cmp(&(&b.at, &b.key)));
        Ok(items)
    }

    /// What lies here and cannot be accepted: it was altered, or cannot be read.
    pub fn broken(&self) -> Result<Vec<Broken>> {
        let broken = |found| match found {
            Found::Broken(broken) => Some(*broken),
            Found::Whole(_) => None,
        };
        Ok(self.found()?.into_iter().filter_map(broken).collect())
    }

    /// One item, by the key that was shown.
    pub fn get(&self, key: &str, now: Timestamp) -> Result<Item> {
        for found in self.found()? {
            match found {
                Found::Whole(item) if item.key == key && !expired(&item, now) => return Ok(*item),
                Found::Broken(broken) if broken.key == key => {
                    return Err(Fault::new(Code::Damaged, format!("the draft `{key}` {}", broken.why))
                        .fact("key", key)
                        .hint(format!("`heirloom review reject {key}` discards it")));
                }
                Found::Whole(_) | Found::Broken(_) => {}
            }
        }
        Err(Fault::new(Code::NotFound, format!("nothing waits under `{key}`"))
            .hint("`heirloom review` lists what waits"))
    }

    /// Fails unless an item's file still holds the bytes it was read from, whichever inbox it lies in.
    pub fn unchanged(&self, item: &Item) -> Result<()> {
        let mac = match &item.kept {
            Some(kept) => kept.text_of(&item.mac)?.map(|text| hash::sha256(text.as_bytes())),
            None => {
                let bytes = files::read_if_there(&item.file, MAX_ITEM).ok().flatten();
                bytes.map(|bytes| self.key.mac(&item.bound, &bytes)).transpose()?
            }
        };
        if mac.as_deref() == Some(item.mac.as_str()) {
            return Ok(());
        }
        Err(Fault::new(
            Code::OccConflict,
            format!("the draft `{}` changed since it was shown; nothing is stored", item.key),
        )
        .fact("key", item.key.as_str())
        .hint("`heirloom review` shows what waits now"))
    }

    /// Takes something out.
    pub fn remove(&self, item: &Item) -> Result<()> {
        take_out(item.kept.as_ref(), &item.file)
    }

    /// Removes what cannot be accepted under this key. Returns whether there was something.
    pub fn remove_broken(&self, key: &str) -> Result<bool> {
        let broken: Vec<Broken> = self.broken()?.into_iter().filter(|broken| broken.key == key).collect();
        for one in &broken {
            take_out(one.kept.as_ref(), &one.file)?;
        }
        Ok(!broken.is_empty())
    }

    /// Removes what has expired, and everything about an id if one is given. Returns how many went.
    pub fn sweep(&self, now: Timestamp, forget: Option<&str>) -> Result<usize> {
        files::sweep_temporary(&self.folder);
        self.remove_if(|waiting, over| over || forget == Some(waiting.id.as_str()), now)
    }

    /// Removes every draft of which this is true, those that nobody can accept included. Returns how many went.
    pub fn drop_if(&self, gone: impl Fn(&Waiting) -> bool, now: Timestamp) -> Result<usize> {
        self.remove_if(|waiting, _| gone(waiting), now)
    }

    fn remove_if(&self, gone: impl Fn(&Waiting, bool) -> bool, now: Timestamp) -> Result<usize> {
        let mut count = 0;
        for found in self.found()? {
            let file = match &found {
                Found::Whole(item) => gone(item, expired(item, now)).then_some((&item.kept, &item.file)),
                Found::Broken(broken) => broken
                    .said
                    .as_ref()
                    .is_some_and(|said| gone(said, expired(said, now)))
                    .then_some((&broken.kept, &broken.file)),
            };
            if let Some((kept, file)) = file {
                take_out(kept.as_ref(), file)?;
                count += 1;
            }
        }
        Ok(count)
    }

    /// What a file's MAC is bound to. Whatever lies under a name of its own choice is bound to that name, so that two of them never share a key.
    fn bound(&self, verified: bool, file: &Path) -> String {
        if verified { self.name.clone() } else { format!("{}\0{}", self.name, file.display()) }
    }

    fn found(&self) -> Result<Vec<Found>> {
        let mut all = match &self.kept {
            Some(kept) => kept.found()?,
            None => Vec::new(),
        };
        for (folder, ours) in [(Some(&self.folder), true), (self.earlier.as_ref(), false)] {
            let Some(folder) = folder else { continue };
            // A link in the folder's place is somebody else's folder.
            if !std::fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_dir()) {
                continue;
            }
            let Ok(entries) = std::fs::read_dir(folder) else { continue };
            let is_draft = |path: &PathBuf| path.extension().is_some_and(|e| e == "json");
            for path in entries.flatten().map(|entry| entry.path()).filter(is_draft) {
                if !budget::goes_on_or_leaves(Left::Drafts) {
                    continue;
                }
                all.extend(self.look(path, ours)?);
            }
        }
        Ok(all)
    }

    fn look(&self, path: PathBuf, ours: bool) -> Result<Option<Found>> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let named = ours && name.len() == MAC && name.bytes().all(|b| b.is_ascii_hexdigit());
        let bytes = match files::read_if_there(&path, MAX_ITEM) {
            Ok(Some(bytes)) => bytes,
            // Somebody took it out meanwhile.
            Ok(None) => return Ok(None),
            Err(_) => Vec::new(),
        };
        let bound = self.bound(named, &path);
        let mac = self.key.mac(&bound, &bytes)?;
        let said: Option<Waiting> =
            json::parse(&bytes).ok().and_then(|value| serde_json::from_value(value).ok());
        let broken = |why, mac: &str, said| {
            Found::Broken(Box::new(Broken {
                key: mac[..TYPED].to_owned(),
                why,
                file: path.clone(),
                said,
                kept: None,
            }))
        };
        Ok(Some(match said {
            said if named && mac != name => {
                broken("was altered after it was put into the inbox", &name, said)
            }
            None => broken("cannot be read", &mac, None),
            Some(mut waiting) => {
                if !named {
                    disown(&mut waiting, &path);
                }
                let key = mac[..TYPED].to_owned();
                let item = Item { key, verified: named, waiting, mac, bound, file: path, kept: None };
                Found::Whole(Box::new(item))
            }
        }))
    }
}

/// Takes a draft out of wherever it is.
fn take_out(kept: Option<&Elsewhere>, file: &Path) -> Result<()> {
    match kept {
        Some(kept) => kept.0.remove(&file.to_string_lossy()),
        None => files::remove(file),
    }
}

/// Nothing an unverified draft says of its origin counts.
fn disown(waiting: &mut Waiting, path: &Path) {
    waiting.channel = Channel::Repository;
    waiting.trust = Channel::Repository.trust();
    waiting.reasons = vec![UNKNOWN.to_owned()];
    if time::parse(&waiting.at).is_none() {
        // It must not be gone unseen because it does not say when it came.
        let touched = std::fs::metadata(path).and_then(|meta| meta.modified()).ok();
        let touched = touched.and_then(|at| Timestamp::try_from(at).ok());
        waiting.at = touched.map(time::format).unwrap_or_default();
    }
}

fn expired(waiting: &Waiting, now: Timestamp) -> bool {
    time::parse(&waiting.at).is_none_or(|at| at < time::days_before(now, EXPIRES_DAYS))
}

#[cfg(test)]
#[path = "inbox/inbox_tests.rs"]
mod tests;

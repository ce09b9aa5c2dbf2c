//! The key of the user's inboxes: what Heirloom knows its own drafts by.
//!
//! Comes in: the user's data folder and random bytes for the day the key is made. Goes out: a MAC of a draft's bytes, bound to one inbox. The key
//! is made once, in a file only its owner reads; two processes that need it at the same moment get the same one. Never here: a key that came
//! with a project, or one made from anything that is written down elsewhere.

use crate::files::{self, LOCK_LIMIT, Lock, Mode};
use heirloom_core::{Code, Fault, fault::Result, hash};
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

/// Gives random bytes.
pub type Dice = fn() -> Result<[u8; 32]>;

/// The file in the data folder.
pub(super) const FILE: &str = "inbox.key";
/// A key is 64 hex digits.
const DIGITS: usize = 64;

/// The key, read or made when it is first needed.
#[derive(Debug)]
pub struct Key {
    path: PathBuf,
    dice: Option<Dice>,
    nonce: String,
    key: OnceCell<String>,
}

impl Key {
    /// The key of this data folder. Without dice, which only tests and tools lack, a new key is made of the process's nonce; that is written
    /// down elsewhere and keeps nobody out.
    pub fn new(data: &Path, dice: Option<Dice>, nonce: &str) -> Key {
        Key { path: data.join(FILE), dice, nonce: nonce.to_owned(), key: OnceCell::new() }
    }

    /// The MAC of some bytes in this inbox; the same bytes in another inbox have another one.
    pub(super) fn mac(&self, inbox: &str, bytes: &[u8]) -> Result<String> {
        // The name ends in a byte that no name holds, so that no two pairs make one message.
        let message = [b"draft\0", inbox.as_bytes(), b"\0", bytes].concat();
        Ok(hash::keyed(self.get()?.as_bytes(), &message))
    }

    /// What the audit knows an id by.
    pub(crate) fn of_id(&self, id: &str) -> Result<String> {
        Ok(hash::keyed(self.get()?.as_bytes(), &[b"id\0", id.as_bytes()].concat()))
    }

    fn get(&self) -> Result<&str> {
        if let Some(key) = self.key.get() {
            return Ok(key);
        }
        let key = match self.read()? {
            Some(key) => key,
            None => self.make()?,
        };
        Ok(self.key.get_or_init(|| key))
    }

    fn read(&self) -> Result<Option<String>> {
        let Some(text) = files::read_text(&self.path, 256)? else { return Ok(None) };
        let key = text.trim();
        if key.len() == DIGITS && key.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Ok(Some(key.to_owned()));
        }
        Err(Fault::new(Code::Damaged, "the key of the review inbox is damaged")
            .fact("path", self.path.display().to_string())
            .hint(format!("`rm {}`; drafts that wait now can then only be rejected", self.path.display())))
    }

    fn make(&self) -> Result<String> {
        if let Some(folder) = self.path.parent() {
            files::make_folder(folder, Mode::Private)?;
        }
        // Who comes second finds what the first one wrote.
        let _turn = Lock::acquire(&self.path.with_extension("lock"), LOCK_LIMIT)?;
        if let Some(key) = self.read()? {
            return Ok(key);
        }
        let key = match self.dice {
            Some(dice) => hash::sha256(&dice()?),
            None => hash::sha256(format!("inbox\0{}", self.nonce).as_bytes()),
        };
        files::write(&self.path, key.as_bytes(), Mode::Private)?;
        Ok(key)
    }
}

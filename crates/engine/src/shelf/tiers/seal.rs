//! The seal: where each user's audit chain ends, kept apart from the database, in the user's data folder.
//!
//! Comes in: the head of a chain after every line. Goes out: the last one noted, if nobody altered it. A chain that was cut behind the seal no
//! longer reaches it. Never here: a step backwards; of two heads the later one stays, whoever writes last. Nothing is synced: after a power
//! cut the seal may stand a few lines behind, never ahead of what the database holds.

use super::event::Head;
use crate::files::{self, LOCK_LIMIT, Lock, Mode};
use heirloom_core::{Code, Fault, fault::Result, hash, json};
use serde_json::{Value, json};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// A sealed head is shorter than this.
const LONGEST: usize = 512;

/// The seals of a data folder.
#[derive(Debug)]
pub struct Seals {
    folder: PathBuf,
    key: std::sync::OnceLock<String>,
}

impl Seals {
    /// The seals below this folder.
    pub fn new(folder: &Path) -> Seals {
        Seals { folder: folder.to_owned(), key: std::sync::OnceLock::new() }
    }

    /// Notes where a user's chain ends.
    pub fn note(&self, user: &str, head: &Head, nonce: &str) -> Result<()> {
        let path = self.path(user);
        files::make_folder(&self.folder, Mode::Private)?;
        let _lock = Lock::acquire(&path.with_extension("lock"), LOCK_LIMIT)?;
        if self.read(user, nonce).ok().flatten().is_some_and(|known| known.seq >= head.seq) {
            return Ok(());
        }
        let sealed = self.sealed(user, head, nonce)?;
        let mut line = json!({ "seq": head.seq, "hash": head.hash, "seal": sealed }).to_string();
        // One length, so that a shorter head never leaves the end of a longer one behind.
        line.push_str(&" ".repeat(LONGEST.saturating_sub(line.len() + 1)));
        line.push('\n');
        let file =
            std::fs::OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path);
        file.and_then(|file| file.write_all_at(line.as_bytes(), 0)).map_err(|e| Fault::io(&path, "write", &e))
    }

    /// The sealed head of a user's chain; `None` if nothing was ever sealed.
    pub fn read(&self, user: &str, nonce: &str) -> Result<Option<Head>> {
        let path = self.path(user);
        let Some(bytes) = files::read_if_there(&path, LONGEST as u64 * 2)? else { return Ok(None) };
        let damaged = || {
            Fault::new(Code::Damaged, "the seal of the audit was altered")
                .fact("path", path.display().to_string())
                .hint("keep the data folder and compare backups")
        };
        let value = json::parse(bytes.trim_ascii_end()).map_err(|_| damaged())?;
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let head =
            Head { seq: value.get("seq").and_then(Value::as_u64).unwrap_or_default(), hash: text("hash") };
        if self.sealed(user, &head, nonce)? == text("seal") { Ok(Some(head)) } else { Err(damaged()) }
    }

    /// Drops the seal of a user who is gone.
    pub fn forget(&self, user: &str) -> Result<()> {
        let path = self.path(user);
        files::remove(&path)?;
        files::remove(&path.with_extension("lock"))
    }

    /// A keyed hash of anything this data folder wants to know again as its own.
    pub fn sign(&self, message: &str, nonce: &str) -> Result<String> {
        Ok(hash::keyed(self.key(nonce)?.as_bytes(), message.as_bytes()))
    }

    fn sealed(&self, user: &str, head: &Head, nonce: &str) -> Result<String> {
        self.sign(&format!("head\0{user}\0{}\0{}", head.seq, head.hash), nonce)
    }

    fn path(&self, user: &str) -> PathBuf {
        self.folder.join(format!("{}.head", &hash::sha256(user.as_bytes())[..24]))
    }

    /// The key of this data folder, made when it is first needed.
    fn key(&self, nonce: &str) -> Result<&str> {
        if let Some(key) = self.key.get() {
            return Ok(key);
        }
        let path = self.folder.join("key");
        let read =
            || -> Result<Option<String>> { Ok(files::read_text(&path, 256)?.filter(|key| !key.is_empty())) };
        let key = match read()? {
            Some(key) => key,
            None => {
                files::make_folder(&self.folder, Mode::Private)?;
                let _lock = Lock::acquire(&self.folder.join("key.lock"), LOCK_LIMIT)?;
                match read()? {
                    Some(key) => key,
                    None => {
                        let key = hash::sha256(format!("seal\0{nonce}").as_bytes());
                        files::write(&path, key.as_bytes(), Mode::Private)?;
                        key
                    }
                }
            }
        };
        Ok(self.key.get_or_init(|| key))
    }
}

//! The accounts of a deployment on SQLite: a private file, one line per user.
//!
//! Comes in: accounts with hashed tokens. Goes out: the same. Rewritten whole under a lock; a handful of lines. Never here: a token.

use super::super::Account;
use crate::files::{self, LOCK_LIMIT, Lock, Mode};
use heirloom_core::{Code, Fault, fault::Result, json};
use std::path::{Path, PathBuf};

const LIMIT: u64 = 64 << 20;

fn path(folder: &Path) -> PathBuf {
    folder.join("accounts.jsonl")
}

pub(super) fn list(folder: &Path) -> Result<Vec<Account>> {
    let path = path(folder);
    let Some(text) = files::read_text(&path, LIMIT)? else { return Ok(Vec::new()) };
    let read = |(at, line): (usize, &str)| {
        let value = json::parse(line.as_bytes()).map_err(|e| e.to_string());
        value.and_then(|v| serde_json::from_value(v).map_err(|e| e.to_string())).map_err(|why| {
            Fault::new(Code::Damaged, format!("line {} of the accounts cannot be read: {why}", at + 1))
                .fact("path", path.display().to_string())
        })
    };
    text.lines().enumerate().map(read).collect()
}

pub(super) fn put(folder: &Path, account: &Account) -> Result<()> {
    files::make_folder(folder, Mode::Private)?;
    let _lock = Lock::acquire(&folder.join("accounts.lock"), LOCK_LIMIT)?;
    let mut all = list(folder)?;
    match all.iter_mut().find(|known| known.user == account.user) {
        Some(known) => *known = account.clone(),
        None => all.push(account.clone()),
    }
    let mut text = String::new();
    for account in &all {
        text.push_str(&serde_json::to_string(account).unwrap_or_default());
        text.push('\n');
    }
    files::write(&path(folder), text.as_bytes(), Mode::Private)
}

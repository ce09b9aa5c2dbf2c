//! The accounts of a deployment on SQLite: a private file, one line per user.
//!
//! Comes in: accounts. Goes out: the same. Rewritten whole under a lock; a handful of lines. Never here: a token.

use super::super::Account;
use crate::files::{self, LOCK_LIMIT, Lock, Mode};
use heirloom_core::{Code, Fault, fault::Result, json};
use std::path::{Path, PathBuf};

const LIMIT: u64 = 64 << 20;

fn path(folder: &Path) -> PathBuf {
    folder.join("accounts.jsonl")
}

fn read(path: &Path, at: usize, line: &str) -> Result<Account> {
    let value = json::parse(line.as_bytes()).map_err(|e| e.to_string());
    value.and_then(|v| serde_json::from_value(v).map_err(|e| e.to_string())).map_err(|why| {
        Fault::new(Code::Damaged, format!("line {} of the accounts cannot be read: {why}", at + 1))
            .fact("path", path.display().to_string())
    })
}

pub(super) fn list(folder: &Path) -> Result<Vec<Account>> {
    let path = path(folder);
    let Some(text) = files::read_text(&path, LIMIT)? else { return Ok(Vec::new()) };
    text.lines().enumerate().map(|(at, line)| read(&path, at, line)).collect()
}

/// The account to which version 0.1 gave the token of this hash. No other line is looked into.
pub(super) fn with_hash(folder: &Path, hash: &str) -> Result<Option<Account>> {
    let path = path(folder);
    let Some(text) = files::read_text(&path, LIMIT)? else { return Ok(None) };
    for (at, line) in text.lines().enumerate().filter(|(_, line)| line.contains(hash)) {
        let account = read(&path, at, line)?;
        if account.token_hash.as_deref() == Some(hash) {
            return Ok(Some(account));
        }
    }
    Ok(None)
}

pub(super) fn put(folder: &Path, account: &Account) -> Result<()> {
    files::make_folder(folder, Mode::Private)?;
    let _lock = Lock::acquire(&folder.join("accounts.lock"), LOCK_LIMIT)?;
    let mut all = list(folder)?;
    match all.iter_mut().find(|known| known.user == account.user) {
        Some(known) => *known = account.clone(),
        None => all.push(account.clone()),
    }
    write(folder, &all)
}

/// Takes a user out of the list.
pub(super) fn remove(folder: &Path, user: &str) -> Result<()> {
    if !path(folder).exists() {
        return Ok(());
    }
    let _lock = Lock::acquire(&folder.join("accounts.lock"), LOCK_LIMIT)?;
    let mut all = list(folder)?;
    all.retain(|known| known.user != user);
    write(folder, &all)
}

/// Takes the token that version 0.1 gave a user out of the user's line, for whoever holds the lock of the accounts.
pub(super) fn drop_hash(folder: &Path, _lock: &Lock, user: &str) -> Result<()> {
    let mut all = list(folder)?;
    let Some(known) = all.iter_mut().find(|known| known.user == user && known.token_hash.is_some()) else {
        return Ok(());
    };
    known.token_hash = None;
    write(folder, &all)
}

fn write(folder: &Path, all: &[Account]) -> Result<()> {
    let mut text = String::new();
    for account in all {
        text.push_str(&serde_json::to_string(account).unwrap_or_default());
        text.push('\n');
    }
    files::write(&path(folder), text.as_bytes(), Mode::Private)
}

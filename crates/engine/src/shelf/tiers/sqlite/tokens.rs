//! The tokens of a deployment on SQLite: a private file for each, named by the token's hash.
//!
//! Comes in: tokens as hashes. Goes out: the same; one is found by opening its file, however many there are. What version 0.1 kept in the line of
//! an account counts as the user's token without a name, until a new one takes its place. Never here: a token.

use super::super::Token;
use super::accounts;
use crate::files::{self, LOCK_LIMIT, Lock, Mode};
use heirloom_core::{Code, Fault, fault::Result, json};
use std::path::{Path, PathBuf};

const LIMIT: u64 = 16 << 10;

fn place(folder: &Path) -> PathBuf {
    folder.join("tokens")
}

fn file(folder: &Path, hash: &str) -> PathBuf {
    place(folder).join(format!("{hash}.json"))
}

/// Where it is noted when a token was last used: beside it, so that noting it takes no lock and cannot bring back a token that was revoked.
fn use_of(folder: &Path, hash: &str) -> PathBuf {
    place(folder).join(format!("{hash}.used"))
}

/// Notes in which hour a token was used.
pub(super) fn note_use(folder: &Path, hash: &str, hour: &str) -> Result<()> {
    if !is_hash(hash) {
        return Ok(());
    }
    files::make_folder(&place(folder), Mode::Private)?;
    files::write(&use_of(folder, hash), hour.as_bytes(), Mode::Private)
}

/// The same token with the hour it was last used in.
fn with_use(folder: &Path, mut token: Token) -> Token {
    let hour = files::read_text(&use_of(folder, &token.hash), LIMIT).ok().flatten();
    token.used_at = hour.map(|hour| hour.trim().to_owned()).filter(|hour| !hour.is_empty());
    token
}

fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

fn lock(folder: &Path) -> Result<Lock> {
    files::make_folder(folder, Mode::Private)?;
    Lock::acquire(&folder.join("accounts.lock"), LOCK_LIMIT)
}

pub(super) fn get(folder: &Path, hash: &str) -> Result<Option<Token>> {
    if !is_hash(hash) {
        return Ok(None);
    }
    let found = match read(&file(folder, hash))? {
        Some(token) => Some(token),
        None => accounts::with_hash(folder, hash)?.as_ref().and_then(Token::of_account),
    };
    Ok(found.map(|token| with_use(folder, token)))
}

pub(super) fn list(folder: &Path, user: Option<&str>) -> Result<Vec<Token>> {
    let mut all: Vec<Token> = accounts::list(folder)?.iter().filter_map(Token::of_account).collect();
    let place = place(folder);
    let entries = match std::fs::read_dir(&place) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(of(folder, all, user)),
        Err(e) => return Err(Fault::io(&place, "read", &e)),
    };
    for entry in entries {
        let path = entry.map_err(|e| Fault::io(&place, "read", &e))?.path();
        // What a killed writer left beside the tokens is none.
        let is_token = path.extension().is_some_and(|ending| ending == "json");
        if is_token && path.file_stem().and_then(|stem| stem.to_str()).is_some_and(is_hash) {
            all.extend(read(&path)?);
        }
    }
    Ok(of(folder, all, user))
}

fn of(folder: &Path, mut all: Vec<Token>, user: Option<&str>) -> Vec<Token> {
    all.retain(|token| user.is_none_or(|user| token.user == user));
    all.sort_by(|a, b| (&a.user, &a.name).cmp(&(&b.user, &b.name)));
    all.into_iter().map(|token| with_use(folder, token)).collect()
}

fn read(path: &Path) -> Result<Option<Token>> {
    let Some(text) = files::read_text(path, LIMIT)? else { return Ok(None) };
    let value = json::parse(text.as_bytes()).map_err(|e| e.to_string());
    let token = value.and_then(|value| serde_json::from_value::<Token>(value).map_err(|e| e.to_string()));
    let token = token.map_err(|why| {
        Fault::new(Code::Damaged, format!("a token's file cannot be read: {why}"))
            .fact("path", path.display().to_string())
            .hint("remove the file and make a new token with `heirloom user token`")
    })?;
    // A file speaks for the token it is named after and for no other.
    Ok(path.file_stem().is_some_and(|stem| stem == token.hash.as_str()).then_some(token))
}

pub(super) fn put(folder: &Path, token: &Token) -> Result<()> {
    let lock = lock(folder)?;
    files::make_folder(&place(folder), Mode::Private)?;
    let text = serde_json::to_string(token)
        .map_err(|e| Fault::new(Code::Internal, format!("the token cannot be saved: {e}")))?;
    // The new one is there before the old one goes: a writer that is killed in between leaves one that works.
    files::write(&file(folder, &token.hash), (text + "\n").as_bytes(), Mode::Private)?;
    clear(folder, &lock, &token.user, &token.name, Some(&token.hash)).map(|_| ())
}

pub(super) fn remove(folder: &Path, user: &str, name: &str) -> Result<bool> {
    let lock = lock(folder)?;
    clear(folder, &lock, user, name, None)
}

/// Takes every token of a user away.
pub(super) fn remove_all(folder: &Path, user: &str) -> Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    let lock = lock(folder)?;
    for token in list(folder, Some(user))? {
        clear(folder, &lock, user, &token.name, None)?;
    }
    Ok(())
}

/// Removes the tokens of a user that have this name, but for one.
fn clear(folder: &Path, lock: &Lock, user: &str, name: &str, but: Option<&str>) -> Result<bool> {
    let mut found = false;
    for old in list(folder, Some(user))?.iter().filter(|old| old.name == name) {
        if but == Some(old.hash.as_str()) {
            continue;
        }
        found = true;
        for path in [file(folder, &old.hash), use_of(folder, &old.hash)] {
            match std::fs::remove_file(&path) {
                Ok(()) => {}
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
                Err(e) => return Err(Fault::io(&path, "remove", &e)),
            }
        }
    }
    if name.is_empty() {
        accounts::drop_hash(folder, lock, user)?;
    }
    Ok(found)
}

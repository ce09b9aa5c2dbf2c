//! A request under a key is carried out once.
//!
//! Comes in: the hash of a key and of what was asked. Goes out: whose turn it is, or how it ended the first time. Kept for a day in the user's store: a
//! shared database keeps it with the user's rows, so that every server on it knows; beside SQLite it is a folder of the user's. Hashes, a status, ids. A
//! process that died in the middle leaves a mark; the request under it is not carried out a second time before the mark is old. What was forgotten is not
//! named here either. Never here: a text of a memory, or the key itself.

use crate::call::Call;
use crate::files::{self, LOCK_LIMIT, Lock, Mode};
pub use crate::shelf::tiers::{Ended as Done, KeyTurn as Turn};
use crate::shelf::tiers::{KEY_KEPT as KEPT, MOST_KEYS as MOST};
use heirloom_core::{Code, Fault, fault::Result, hash};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The longest entry.
const LONGEST: u64 = 16 << 10;
/// The file whose time says when old entries were last taken out.
const SWEPT: &str = "swept";
/// How often that is done, in seconds.
const SWEEP: i64 = 60 * 60;

#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    asked: String,
    at: i64,
    done: Option<Done>,
}

/// Takes the turn of a key, if nobody had it.
pub fn begin(call: &Call, name: &str, asked: &str) -> Result<Turn> {
    let tiers = call.tiers()?;
    let now = call.project().world().now.as_second();
    if tiers.store().is_shared() {
        return tiers.store().once_begin(tiers.who(), known(name)?, asked, now);
    }
    let folder = folder(call)?;
    files::make_folder(&folder, Mode::Private)?;
    let _turn = Lock::acquire(&folder.join("lock"), LOCK_LIMIT)?;
    let path = file(&folder, name)?;
    if let Some(entry) = read(&path)?
        && let Some(turn) = Turn::after(asked, &entry.asked, now.saturating_sub(entry.at), entry.done)
    {
        return Ok(turn);
    }
    sweep(&folder, now)?;
    write(&path, &Entry { asked: asked.to_owned(), at: now, done: None })?;
    Ok(Turn::Yours)
}

/// Keeps how it ended; forgets the key if it failed.
pub fn end(call: &Call, name: &str, asked: &str, done: Option<&Done>) -> Result<()> {
    let tiers = call.tiers()?;
    if tiers.store().is_shared() {
        let now = call.project().world().now.as_second();
        return tiers.store().once_end(tiers.who(), known(name)?, now, done);
    }
    let folder = folder(call)?;
    let _turn = Lock::acquire(&folder.join("lock"), LOCK_LIMIT)?;
    let path = file(&folder, name)?;
    match done {
        Some(done) => write(
            &path,
            &Entry {
                asked: asked.to_owned(),
                at: call.project().world().now.as_second(),
                done: Some(done.clone()),
            },
        ),
        None => files::remove(&path),
    }
}

/// Takes the ids of memories that were forgotten out of what is kept. A request under such a key is still not carried out twice.
pub(super) fn forget(call: &Call, ids: &[&str]) -> Result<()> {
    if let Ok(tiers) = call.tiers()
        && tiers.store().is_shared()
    {
        return tiers.store().once_forget(tiers.who(), ids);
    }
    let Ok(folder) = folder(call) else { return Ok(()) };
    if !folder.is_dir() {
        return Ok(());
    }
    let _turn = Lock::acquire(&folder.join("lock"), LOCK_LIMIT)?;
    for path in entries(&folder) {
        let Some(mut entry) = read(&path)? else { continue };
        let names = |done: &&mut Done| done.answer["id"].as_str().is_some_and(|id| ids.contains(&id));
        if let Some(done) = entry.done.as_mut().filter(names) {
            done.answer = Value::Object(serde_json::Map::new());
            write(&path, &entry)?;
        }
    }
    Ok(())
}

/// Removes all that is kept of a user who is gone.
pub(super) fn drop_user(call: &Call, user: &str) -> Result<()> {
    let folder = folder_of(call, user);
    match std::fs::remove_dir_all(&folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(Fault::new(Code::Io, format!("what is kept of the user's requests cannot be removed: {e}")))
        }
        _ => Ok(()),
    }
}

fn folder(call: &Call) -> Result<PathBuf> {
    Ok(folder_of(call, call.tiers()?.who().user()))
}

/// Each user has a folder; its name is a hash, since a user's name may hold anything.
fn folder_of(call: &Call, user: &str) -> PathBuf {
    let user = hash::sha256(format!("heirloom once\0{user}").as_bytes());
    call.project().world().data.join("tiers").join("once").join(&user[..24])
}

/// The files of the keys.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    all.filter(|path| path.file_name().is_some_and(|name| name.len() == 64)).collect()
}

fn file(folder: &Path, name: &str) -> Result<PathBuf> {
    known(name).map(|name| folder.join(name))
}

/// The hash of a key, if it is one.
fn known(name: &str) -> Result<&str> {
    let plain = name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    plain.then_some(name).ok_or_else(|| Fault::new(Code::Usage, "the hash of the key is not valid"))
}

fn read(path: &Path) -> Result<Option<Entry>> {
    let bytes = files::read_if_there(path, LONGEST)?;
    // One that cannot be read is as if it were not there.
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

fn write(path: &Path, entry: &Entry) -> Result<()> {
    files::write(path, &serde_json::to_vec(entry).unwrap_or_default(), Mode::Private)
}

/// Takes out what is too old, once an hour and when there is too much.
fn sweep(folder: &Path, now: i64) -> Result<()> {
    let mark = folder.join(SWEPT);
    let last = files::read_if_there(&mark, LONGEST)?;
    let last = last.and_then(|bytes| String::from_utf8(bytes).ok()?.trim().parse::<i64>().ok());
    let all = entries(folder);
    let lately = last.is_some_and(|last| (0..SWEEP).contains(&now.saturating_sub(last)));
    if lately && all.len() <= MOST {
        return Ok(());
    }
    let mut left = 0;
    for path in all {
        if read(&path)?.is_none_or(|entry| now.saturating_sub(entry.at) >= KEPT) {
            files::remove(&path)?;
        } else {
            left += 1;
        }
    }
    if left > MOST {
        return Err(Fault::new(Code::Capacity, "too many keys of the last day are kept already")
            .hint("send fewer requests with a key, or wait"));
    }
    files::write(&mark, now.to_string().as_bytes(), Mode::Private)
}

#[cfg(test)]
#[path = "once_tests.rs"]
mod tests;

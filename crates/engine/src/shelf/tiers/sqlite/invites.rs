//! Invitations and PINs of a deployment on SQLite: private files beside the accounts.
//!
//! Comes in: an invitation as a hash, a PIN. Goes out: what became of them. Each user has one invitation at most, and a folder for the PIN that is
//! named by a hash, since a user's name may hold anything. Never here: the secret of a link, or a PIN that is kept.

use super::super::{Invite, Taken};
use crate::files::{self, LOCK_LIMIT, Lock, Mode};
use crate::pin::Pin;
use heirloom_core::{Code, Fault, fault::Result, hash, json};
use jiff::Timestamp;
use std::path::{Path, PathBuf};

const LIMIT: u64 = 16 << 10;

fn place(folder: &Path) -> PathBuf {
    folder.join("invites")
}

fn name(user: &str) -> String {
    hash::sha256(user.as_bytes())[..24].to_owned()
}

/// The invitation of a user. A newer one takes the place of the one before.
fn file(folder: &Path, user: &str) -> PathBuf {
    place(folder).join(format!("{}.json", name(user)))
}

/// The PIN of a user.
pub(super) fn pin(folder: &Path, user: &str) -> Pin {
    Pin::of(&folder.join("pins").join(name(user)))
}

fn lock(folder: &Path) -> Result<Lock> {
    files::make_folder(folder, Mode::Private)?;
    Lock::acquire(&folder.join("accounts.lock"), LOCK_LIMIT)
}

pub(super) fn put(folder: &Path, invite: &Invite) -> Result<()> {
    let _lock = lock(folder)?;
    files::make_folder(&place(folder), Mode::Private)?;
    let text = serde_json::to_string(invite)
        .map_err(|e| Fault::new(Code::Internal, format!("the invitation cannot be saved: {e}")))?;
    files::write(&file(folder, &invite.user), (text + "\n").as_bytes(), Mode::Private)
}

/// Sets the PIN of a user who opened their link.
pub(super) fn take(
    folder: &Path,
    user: &str,
    link: &str,
    typed: &str,
    random: &[u8; 32],
    now: Timestamp,
) -> Result<Taken> {
    let _lock = lock(folder)?;
    let own = file(folder, user);
    let Some(invite) = read(&own)?.filter(|invite| hash::same(&invite.hash, link)) else {
        return Ok(if is_of_another(folder, link)? { Taken::Foreign } else { Taken::Unknown });
    };
    if invite.ended(now) {
        return Ok(Taken::Ended);
    }
    Pin::fits(typed)?;
    // The link goes first: a process that is killed in between leaves no link that works twice.
    files::remove(&own)?;
    pin(folder, user).set(typed, random)?;
    Ok(Taken::Set)
}

fn is_of_another(folder: &Path, link: &str) -> Result<bool> {
    let entries = std::fs::read_dir(place(folder)).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.path().extension().is_some_and(|ending| ending == "json")) {
        if read(&entry.path())?.is_some_and(|invite| hash::same(&invite.hash, link)) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn read(path: &Path) -> Result<Option<Invite>> {
    let Some(text) = files::read_text(path, LIMIT)? else { return Ok(None) };
    let value = json::parse(text.as_bytes()).ok().and_then(|value| serde_json::from_value(value).ok());
    value.map(Some).ok_or_else(|| {
        Fault::new(Code::Damaged, "an invitation's file cannot be read")
            .fact("path", path.display().to_string())
            .hint("make a new one: heirloom user invite NAME")
    })
}

/// Removes both, with their user.
pub(super) fn remove(folder: &Path, user: &str) -> Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    let _lock = lock(folder)?;
    files::remove(&file(folder, user))?;
    let pins = folder.join("pins").join(name(user));
    match std::fs::remove_dir_all(&pins) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Fault::io(&pins, "remove", &e)),
        _ => Ok(()),
    }
}

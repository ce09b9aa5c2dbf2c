//! After a write: what a tool put into a memory folder without the gate is checked, and set aside if it is broken.
//!
//! Comes in: the path a tool wrote, and who knows what belongs there. Goes out: warnings, and a refusal if the file is not
//! what it should be. A file that fails is renamed, not deleted; if it holds a secret, its quarantined copy does not. Never
//! here: a shelf's own rules; the shelf that owns a path judges what is in it.

use super::guard::{Inside, Memory};
use crate::budget::{self, Left};
use crate::files;
use crate::gate::Screen;
use heirloom_core::fault::Result;
use jiff::Timestamp;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The largest file that is looked into.
const MAX_LOOKED_AT: u64 = files::MAX_FILE;

/// The same at a hook.
const HOOK_MAX: u64 = 4 * budget::ONE_MEMORY;

/// What a shelf says about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is what it should be.
    Valid,
    /// It is not, and why.
    Invalid(String),
    /// It is not, and why; but it holds other memories too, so it stays where it is. What is wrong in it does not count.
    Wrong(String),
    /// No shelf owns this path.
    Nobodys,
}

/// The shelf's judgement: the place, the real path, the file's bytes.
pub type Judge<'a> = dyn Fn(&Inside, &Path, &[u8]) -> Verdict + 'a;

/// What was found after a write.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// For the log, a line each.
    pub warnings: Vec<String>,
    /// Why the write is refused.
    pub refusal: Option<String>,
}

/// Looks at a file a tool has written. One that was only `found` changed may be anybody's, and may be no shelf's: what is valid is no news, and
/// what nobody owns stays.
pub fn validate(
    memory: &Memory,
    screen: &Screen,
    judge: &Judge<'_>,
    path: &str,
    cwd: &Path,
    now: Timestamp,
    found: bool,
) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    if path.is_empty() || path.contains('\0') {
        return Ok(outcome);
    }
    let (real, Some(inside)) = memory.find(path, cwd) else { return Ok(outcome) };
    if inside.rest.as_os_str().is_empty() {
        return Ok(outcome);
    }
    outcome.warnings.push(format!("WARNING: write to memory file bypassed the guard: {}", real.display()));
    if inside.is_config() {
        return Ok(outcome);
    }
    let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let size = std::fs::symlink_metadata(&real).map_or(0, |meta| meta.len());
    if size > budget::limit(MAX_LOOKED_AT, HOOK_MAX) && size <= MAX_LOOKED_AT {
        // Setting it aside would cost what is in it; whoever looks with more time finds it, and until then it has the repository's trust.
        budget::leave_out(Left::Large, 1);
        outcome.warnings.push(format!(
            "WARNING: larger than a hook looks into, `heirloom verify` does: {}",
            real.display()
        ));
        return Ok(outcome);
    }
    let read = files::read_if_there(&real, MAX_LOOKED_AT);
    if found && !matches!(&read, Ok(Some(_)) | Err(_)) {
        // It went while we looked.
        return Ok(Outcome::default());
    }
    let verdict = match &read {
        Ok(Some(bytes)) => judge(&inside, &real, bytes),
        Ok(None) => Verdict::Invalid("the file is not there".to_owned()),
        Err(fault) => Verdict::Invalid(fault.message.clone()),
    };
    let is_json = real.extension().is_some_and(|ext| ext.eq_ignore_ascii_case("json"));
    let why = match verdict {
        Verdict::Valid if found => return Ok(Outcome::default()),
        Verdict::Nobodys if found && !is_json => return Ok(Outcome::default()),
        Verdict::Valid => {
            outcome.warnings.push(format!(
                "WARNING: file is valid but was written directly (bypassed the guard): {}",
                real.display()
            ));
            return Ok(outcome);
        }
        Verdict::Wrong(why) => {
            outcome.refusal = Some(format!(
                "{name} was written directly and is not what it should be: {why}. The file stays, because other memories are in it; \
                 take your change back, and use `heirloom add` to store the memory instead."
            ));
            return Ok(outcome);
        }
        Verdict::Invalid(why) => why,
        Verdict::Nobodys if !is_json => {
            outcome.refusal = Some(format!(
                "Direct write to non-JSON memory file blocked: {name}. Use `heirloom record write` instead."
            ));
            return Ok(outcome);
        }
        Verdict::Nobodys => "cannot tell what category this record belongs to".to_owned(),
    };
    let kept = match set_aside(&real, read.ok().flatten().as_deref(), screen, now) {
        Ok(kept) => kept,
        Err(fault) => {
            outcome.warnings.push(format!("WARNING: could not quarantine: {}", fault.message));
            real.clone()
        }
    };
    let kept = kept.file_name().unwrap_or_default().to_string_lossy();
    outcome.refusal = Some(format!(
        "Schema validation failed: {why}. File quarantined to {kept}. Use `heirloom record write` to store the memory instead."
    ));
    Ok(outcome)
}

/// Moves a broken file out of the way, beside where it was. What the redactor finds in it does not go along.
fn set_aside(path: &Path, bytes: Option<&[u8]>, screen: &Screen, now: Timestamp) -> Result<PathBuf> {
    let kept = free_name(path, now);
    let text = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
    match text.map(|text| (text, screen.redacted(text))) {
        Some((text, redacted)) if redacted != text => {
            files::write(&kept, redacted.as_bytes(), files::Mode::Private)?;
            files::remove(path)?;
        }
        _ => {
            files::rename(path, &kept)?;
            // Best effort: the name alone already keeps it out of every shelf.
            let _ = std::fs::set_permissions(&kept, std::fs::Permissions::from_mode(0o600));
        }
    }
    Ok(kept)
}

/// `<path>.invalid.<seconds>`, later if evidence of that second is there already.
fn free_name(path: &Path, now: Timestamp) -> PathBuf {
    let mut second = now.as_second();
    loop {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".invalid.{second}"));
        let candidate = PathBuf::from(name);
        if std::fs::symlink_metadata(&candidate).is_err() {
            return candidate;
        }
        second += 1;
    }
}

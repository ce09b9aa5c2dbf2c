//! The world a call is made in: the time, the user, chance, and where a project keeps its settings.
//!
//! Comes in: the clock, the environment, a settings file. Goes out: a [`World`], random bytes, a JSON object. Never here: what any of it means.

use crate::environment;
use heirloom_core::{Code, Fault, fault::Result, json};
use heirloom_engine::{World, files};
use serde_json::Value;
use std::path::Path;

/// Where a project keeps its settings, wherever its memory is.
pub(crate) const PROJECT_SETTINGS: &str = ".claude/memory/memory-config.json";

/// The default memory folder.
pub(crate) const DEFAULT_ROOT: &str = ".claude/memory";

/// The largest settings file.
const MAX_SETTINGS: u64 = 1 << 20;

/// What time it is and who asks.
#[allow(clippy::disallowed_methods, reason = "the one place that looks at the clock")]
pub(crate) fn world() -> World {
    World {
        now: jiff::Timestamp::now(),
        data: environment::data_folder(),
        nonce: nonce(),
        user: environment::user(),
    }
}

/// Random bytes for what must not be guessed.
pub(crate) fn random() -> Result<[u8; 32]> {
    let mut bytes = [0u8; 32];
    match rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()) {
        Ok(32) => Ok(bytes),
        _ => Err(Fault::new(Code::Io, "the system gives no random numbers")),
    }
}

/// Sixteen random bytes as hex.
fn nonce() -> String {
    // The kernel's generator never blocks once the system is up; if it is missing altogether, time and process id still make the
    // value differ between calls, and nothing secret depends on it.
    let seed = random().map(Vec::from);
    let seed =
        seed.unwrap_or_else(|_| format!("{:?}-{}", std::time::Instant::now(), std::process::id()).into());
    heirloom_core::hash::sha256(&seed)[..32].to_owned()
}

/// A settings file's object; `None` if there is none. Only a text that is no JSON object is unusable as a whole.
pub(crate) fn read_document(path: &Path) -> std::result::Result<Option<Value>, String> {
    let bytes = match files::read_if_there(path, MAX_SETTINGS) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(None),
        Err(fault) => return Err(format!("{}; the file is ignored", fault.message)),
    };
    match json::parse(&bytes) {
        Ok(value) if value.is_object() => Ok(Some(value)),
        Ok(_) => Err("expected an object; the file is ignored".to_owned()),
        Err(e) => Err(format!("not JSON ({e}); the file is ignored")),
    }
}

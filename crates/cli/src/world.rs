//! The world a call is made in: the time, the user, chance.
//!
//! Comes in: the clock, the environment. Goes out: a [`World`], random bytes. Never here: what any of it means.

use crate::environment;
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::World;

/// What time it is and who asks.
pub(crate) fn world() -> World {
    World { now: now(), data: environment::data_folder(), nonce: nonce(), user: environment::user() }
}

/// What time it is.
#[allow(clippy::disallowed_methods, reason = "the one place that looks at the clock")]
pub(crate) fn now() -> jiff::Timestamp {
    jiff::Timestamp::now()
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

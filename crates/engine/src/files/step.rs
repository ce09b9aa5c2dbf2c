//! Named steps of a write, so that tests can stop a process at each of them.
//!
//! Comes in: a name. Goes out: nothing. In release builds this is an empty function; in debug builds the command line
//! may install an observer that ends the process at a given step.

/// The steps of an atomic write and of a record change, in order. Those of the write come once for every file.
pub const STEPS: [&str; 10] = [
    "locked",
    "temp-created",
    "temp-written",
    "temp-synced",
    "audited",
    "renamed",
    "record-stored",
    "index-stored",
    "settled",
    "folder-synced",
];

#[cfg(debug_assertions)]
static OBSERVER: std::sync::OnceLock<fn(&'static str)> = std::sync::OnceLock::new();

/// Installs the observer of this process; the first one stays.
#[cfg(debug_assertions)]
pub fn observe(observer: fn(&'static str)) {
    let _ = OBSERVER.set(observer);
}

/// Says that a step was reached.
#[inline]
pub fn reached(step: &'static str) {
    #[cfg(debug_assertions)]
    if let Some(observer) = OBSERVER.get() {
        observer(step);
    }
    #[cfg(not(debug_assertions))]
    let _ = step;
}

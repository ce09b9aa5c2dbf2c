//! A request under a key of idempotency: whose turn it is, and how it ended.
//!
//! Comes in and goes out: these types, between the verb that carries a request out once and the store that keeps its key. Never here: a text of a
//! memory, or the key itself.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How long an answer is kept, in seconds.
pub const KEPT: i64 = 24 * 60 * 60;
/// How long a request may be worked on before another may try, in seconds.
pub const WORK: i64 = 10 * 60;
/// Keys of one user.
pub const MOST: usize = 10_000;

/// How a request ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// The status it was answered with.
    pub status: u16,
    /// What is kept of the answer.
    pub answer: Value,
}

/// Whose turn it is.
#[derive(Debug, Clone, PartialEq)]
pub enum Turn {
    /// The caller's: nobody came with this key.
    Yours,
    /// It is done already.
    Done(Ended),
    /// Somebody works on it.
    Running,
    /// The key belongs to another request.
    Other,
}

impl Turn {
    /// What a kept entry means for whoever comes with the same key; `None` if it is too old to count.
    pub fn after(asked: &str, kept: &str, age: i64, done: Option<Ended>) -> Option<Turn> {
        match done {
            _ if kept != asked && age < KEPT => Some(Turn::Other),
            Some(done) if age < KEPT => Some(Turn::Done(done)),
            None if age < WORK => Some(Turn::Running),
            _ => None,
        }
    }
}

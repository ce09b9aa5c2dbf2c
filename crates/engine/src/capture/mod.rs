//! Capture: deciding what of a conversation is worth keeping.
//!
//! Comes in: what a host wrote about a session. Goes out: suggestions and drafts. Never here: storing anything; whatever
//! is suggested still has to pass the gate.

pub mod triage;

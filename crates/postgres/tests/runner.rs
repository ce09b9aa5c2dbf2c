//! The tiers on a real PostgreSQL with pgvector: the story every backend tells, and what only this one can show.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test stops at the first thing that is not as it should be"
)]

mod asynchronous;
mod attacks;
mod citus;
mod crash;
mod identity;
mod invites;
mod models;
mod moving;
mod pooler;
mod server;
mod setup;
mod shred;
mod silence;
mod story;
mod tls;
mod walls;

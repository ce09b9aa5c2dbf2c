//! The doors: MCP over standard streams and HTTP for agents, HTTP for programs, a page for people.
//!
//! Comes in: bytes from a client, and a [`Desk`] that makes calls. Goes out: the answers of the verbs in the words of each protocol. Nothing here
//! decides who may do what or what is stored: a door makes a request of what a client sent, asks a verb and shows the answer. Never here: the
//! clock, the environment, a file of a shelf.

mod counter;
mod desk;
mod mem0;
mod shape;
mod told;
mod uri;

pub mod http;
pub mod mcp;
pub mod page;

pub use desk::{Desk, Place, Trial, Visitor};

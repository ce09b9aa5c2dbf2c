//! Transfer: memories from elsewhere in, this project's memories out, each shelf in its own format.
//!
//! Comes in: files and folders of notes, topic files, vaults, records, and transcripts of coding agents. Goes out: what became of each,
//! or files. Everything that comes in goes through its shelf's gate; what is here already stays as it is, so the same import may run as
//! often as anybody likes. Never here: a link followed, a file that is none of these, or another project's machine-local folder.

mod agent_memory;
mod arrival;
mod carried;
mod export;
mod exports;
mod find;
mod heard;
mod import;
mod markdown;
mod record;
mod rehearse;
mod report;
mod run;
mod sort;
mod stage;
mod statements;

pub use carried::{Carrier, Sent, is_files, receive};
pub use export::{export, write_below};
pub use find::{Homes, Origin, find};
pub use import::import;
pub use rehearse::rehearse;
pub use report::{Arrivals, Arriving, Changed, Choice, Imported, Left, Refused};
pub use sort::{Sort, Source, gather};

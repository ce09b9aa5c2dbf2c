//! The vault shelf: who the agents are (canon) and what they are doing now (registers), in `vault.jsonl`.
//!
//! Comes in: [`Write`]s, through the gate. Goes out: records, blocks for agents, figures. The file is append-only: every version of
//! a memory is a line, the highest version counts, a line with `deleted_at` is a tombstone. Two operations rewrite it, `compact` and
//! `forget`. Never here: a line changed in place, or a memory deleted because something proposed it.
//!
//! | part | where |
//! |---|---|
//! | one line | `record`, and `layout` for lines of our own |
//! | the file, resolved | `current`, which keeps only what counts (by `pick` and `tally` if it is large), and `image`, which sees every line |
//! | the gate's eight steps | `draft`, over `next` and `desk`, with `rules`, `journal`, `alike` |
//! | writes | `write` (what can be asked), `store` |
//! | compact, forget | `rewrite` |
//! | search, figures, proposals | `find` |
//! | what agents are given | `given` |
//! | a file written without the gate | `judge` |

mod alike;
mod current;
mod desk;
mod draft;
mod find;
mod given;
mod image;
mod journal;
mod judge;
mod layout;
mod next;
mod pick;
mod record;
mod redact;
mod review;
mod rewrite;
mod rules;
mod scan;
mod store;
mod tally;
mod transfer;
mod view;
mod write;

pub use alike::{Likeness, Pair, Question, likeness};
pub use current::{Current, View};
pub use draft::VaultDraft;
pub use find::{Filter, Proposal, Stats};
pub use given::{Given, Reader};
pub use image::{Broken, Held, Image, Resolved};
pub use record::{CANON, REGISTER, Record};
pub use review::Doubt;
pub use rewrite::Compacted;
pub use rules::{MAX_TEXT, Rules, SOURCES};
pub use store::{Retired, Stored, Vault};
pub use transfer::{Imported, NotTaken};
pub use write::{Addition, Promotion, Revision, Write};

#[cfg(test)]
#[path = "vault_tests.rs"]
mod tests;

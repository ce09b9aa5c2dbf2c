//! Archives of the tiers: JSON Lines with checksums, written and read as a stream.
//!
//! | line | what |
//! |---|---|
//! | `{"archive": "heirloom-tiers", "version": 1, "exported_at": …}` | the first |
//! | `{"memory": {…}}` | a memory, all its fields |
//! | `{"account": …}`, `{"token": …}`, `{"line": …}`, `{"draft": …}` | of whole users: the account, hashes of tokens, the audit, what waits ([`beside`]) |
//! | `{"chunk": n, "count": …, "sha256": …, "seal": …}` | after at most a thousand memories: the hash of everything before this line, and a seal that only the data folder that wrote it can make |
//! | `{"manifest": {"memories": …, "chunks": …, "users": {…}, "sha256": …}}` | the last: what there must be |
//!
//! A chunk is stored only once its checksum was met, so an archive that ends early or was damaged gives everything before the damage, and reading
//! it again goes on from there: ids stay, and what is there is left alone. Sealed chunks keep their trust; from others everything counts as an
//! agent's words unless a person brings them. Never here: a token itself.

mod beside;
mod export;
mod import;

pub use export::{Carried, Whose};
pub use import::{Brought, ImportRules};

/// The archive's own name, in its first line.
const NAME: &str = "heirloom-tiers";

/// The version this program writes and reads.
const VERSION: u64 = 1;

/// Most memories in a chunk.
const CHUNK: usize = 1_000;

/// Whether a file that begins like this is an archive of the tiers.
pub fn is_archive(beginning: &[u8]) -> bool {
    beginning.starts_with(format!("{{\"archive\":\"{NAME}\"").as_bytes())
}

/// What a chunk's seal is made over.
fn sealed_text(n: u64, sha256: &str) -> String {
    format!("archive\0{n}\0{sha256}")
}

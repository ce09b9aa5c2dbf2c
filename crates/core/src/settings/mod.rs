//! Settings: one typed struct, built from layers of JSON, each value knowing where it came from.
//!
//! Comes in: the layers' documents, nearest first (flag, environment, project, user). Goes out: [`Loaded`], with
//! the settings, the origin of every value, and a warning for everything that could not be used. Never here: files
//! or the environment; the command line reads those.
//!
//! A bad or unknown key costs only itself. What a project's file may not decide alone (see [`keys::Guard`]) is the
//! user's.

mod category;
mod endpoint;
mod external;
pub mod flat;
pub mod keys;
mod layers;
mod notes;
mod read;
mod tiers;
mod typed;
mod vault;

pub use category::{Category, CustomField, FieldView};
pub use endpoint::{Embedding, Endpoint};
pub use external::{External, MemoryType, SyncStrategy};
pub use flat::{Flat, Leaf, Unmapped, flatten};
pub use keys::{BY_THEMSELVES, Guard, KEYS, Key, Type};
pub use layers::{Layer, Loaded, Origin, PROJECT_RULES, Said, Valued, Warning, load};
pub use notes::Notes;
pub use read::{check, distance, empty_document, needs_person};
pub use tiers::Tiers;
pub use typed::{
    Contact, Delete, Gate, MatchStrategy, Parallel, PersonCheck, Profile, Retrieval, Settings, Triage,
    TriageMode,
};
pub use vault::{SHARED, Vault};

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;

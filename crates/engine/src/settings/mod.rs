//! Settings as they lie on this machine: whose word counts, which memory folder that gives, and how a change of them is written down.
//!
//! Comes in: what a door found out (pairs of flags and variables, the user's own file, whether a person is there) and a project folder. Goes
//! out: the settings with the origin of every value, the memory folder, or a refusal that names it. Never here: a look at the environment,
//! the clock or a terminal; what a setting means, which is `heirloom_core::settings`.

pub(crate) mod approved;
pub(crate) mod audited;
mod document;
mod folder;
mod layers;

pub use document::read as read_document;
pub(crate) use document::write as write_document;
pub use folder::{is_wanted, may_have_memory, memory_root, project_folder, stays_inside};
pub use heirloom_core::settings::Said;
pub(crate) use layers::PERSON_CHECK;
pub use layers::{Sources, load};

/// Where a project keeps its settings, wherever its memory is.
pub const PROJECT_SETTINGS: &str = ".claude/memory/memory-config.json";

/// The default memory folder.
pub const DEFAULT_ROOT: &str = ".claude/memory";

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;

//! The numbers and names the vault's gate goes by.
//!
//! Comes in: the settings. Goes out: [`Rules`]. The overlap share is fixed by the format; everything else can be set.

use heirloom_core::Settings;
use heirloom_core::settings::Profile;

/// The longest text, in characters.
pub const MAX_TEXT: usize = 1200;

/// The longest topic, category or tag, in characters, and the most tags; the format itself has no limit.
pub(super) const MAX_LABEL: usize = 120;

/// Ways a memory can have come in, in the vault's own words.
pub const SOURCES: [&str; 5] = ["chat", "manual", "tool", "operator", "promotion"];

/// What the gate goes by.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// Which rules look for secrets.
    pub profile: Profile,
    /// The scopes something may be stored under.
    pub scopes: Vec<String>,
    /// Active memories above which nothing new is taken.
    pub capacity: usize,
    /// From which ratio a new text is a duplicate.
    pub similarity: f64,
    /// From which share of common words a new text is a duplicate.
    pub overlap: f64,
}

impl Rules {
    /// The rules of these settings.
    pub fn of(settings: &Settings) -> Rules {
        Rules {
            profile: settings.gate.profile(heirloom_core::ShelfName::Vault),
            scopes: settings.vault.all_scopes().into_iter().map(str::to_owned).collect(),
            capacity: settings.vault.capacity,
            similarity: settings.vault.similarity_threshold,
            overlap: 0.60,
        }
    }
}

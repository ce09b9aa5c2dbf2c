//! Which edition of the rules a text was looked at with.
//!
//! Comes in: the settings of the gate. Goes out: a number that differs as soon as anything differs that decides what is refused: the
//! built-in rules and the code around them, the rules and exceptions of the settings, the profile. A text that passed one edition need
//! not be looked at with it again. Never here: looking.

use heirloom_core::hash;
use heirloom_core::settings::{Gate as GateSettings, Profile};
use std::fmt;

/// The build script's fingerprint of this program's own rules.
const BUILT_IN: &str = include_str!(concat!(env!("OUT_DIR"), "/gate_edition.txt"));

/// An edition of the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edition(u64);

impl Edition {
    /// The edition of these settings under a profile.
    pub fn of(settings: &GateSettings, profile: Profile) -> Edition {
        let own = serde_json::json!([settings.rules, settings.allow]);
        let all = format!("{BUILT_IN}\n{profile:?}\n{:?}\n{own}", settings.contact);
        let hash = hash::sha256(all.as_bytes());
        // Sixteen hex digits always make a number.
        Edition::parse(&hash[..16]).unwrap_or(Edition(0))
    }

    /// The edition of that name.
    pub fn parse(name: &str) -> Option<Edition> {
        let plain = name.len() == 16 && name.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        plain.then(|| u64::from_str_radix(name, 16).ok().map(Edition)).flatten()
    }
}

impl fmt::Display for Edition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_core::Settings;
    use serde_json::json;

    #[test]
    fn whatever_decides_what_is_refused_makes_another_edition() {
        let standard = Settings::standard().gate;
        let base = Edition::of(&standard, Profile::Standard);
        assert_eq!(base, Edition::of(&standard.clone(), Profile::Standard));
        assert_eq!(Edition::parse(&base.to_string()), Some(base));
        let mut ruled = standard.clone();
        ruled.rules.push(json!({ "id": "own" }));
        let mut allowed = standard.clone();
        allowed.allow.push(json!({ "id": "own" }));
        let others = [
            Edition::of(&standard, Profile::Seed),
            Edition::of(&ruled, Profile::Standard),
            Edition::of(&allowed, Profile::Standard),
        ];
        assert!(!others.contains(&base) && others[1] != others[2]);
        assert_eq!(BUILT_IN.trim().len(), 16);
    }
}

//! What belongs into a journal and not into a memory.
//!
//! Comes in: text. Goes out: the signal it holds. The list is the vault's own, in every profile.

/// What belongs into a journal, not into a memory. Found anywhere in the lower-cased text.
const JOURNAL_SIGNALS: [&str; 10] = [
    "tick marker",
    "runtime snapshot",
    "check-in",
    "heartbeat",
    "burst tick",
    "no changes",
    "nothing to report",
    "status unchanged",
    "routine scan",
    "ephemeral",
];

/// The first journal signal in a text.
pub fn journal_signal(text: &str) -> Option<&'static str> {
    let lower = text.to_lowercase();
    JOURNAL_SIGNALS.into_iter().find(|signal| lower.contains(signal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_counts_in_any_case_and_anywhere() {
        assert_eq!(journal_signal("Burst Tick 7"), Some("burst tick"));
        assert_eq!(journal_signal("the importer ticks"), None);
    }
}

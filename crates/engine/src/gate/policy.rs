//! The policy table: what each check does on each row, as data.
//!
//! Comes in: a row, a class, a level, a trust. Goes out: an [`Act`]. Never here: when a check runs (the draft's order) or how
//! something is found (the scanner).

use super::scan::{Class, Level};
use heirloom_core::{ShelfName, Trust};
use serde::Serialize;

/// What is done about something found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Act {
    /// Stored as it is.
    Keep,
    /// Stored as it is, and said.
    Report,
    /// Stored with the marker made harmless.
    Neutralise,
    /// Stored with the span replaced.
    Redact,
    /// Waits for a person.
    Confirm,
    /// Not stored.
    Refuse,
}

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "each row is named after the shelf or kind it is for")]
pub enum Row {
    Records,
    Topics,
    Notes,
    Vault,
    Episode,
    Fact,
}

struct Line {
    name: &'static str,
    /// Definite, probable, possible.
    secrets: [Act; 3],
    identity: Act,
    contact: Act,
    /// From a low-trust channel, from any other.
    injection: [Act; 2],
}

use Act::{Confirm, Keep, Neutralise, Redact, Refuse, Report};

/// The table of the design, row by row.
const TABLE: [Line; 6] = [
    line("records", [Refuse, Refuse, Keep], Refuse, [Report, Report]),
    line("topics", [Refuse, Refuse, Keep], Refuse, [Report, Report]),
    line("notes", [Redact, Redact, Keep], Redact, [Report, Report]),
    line("vault", [Refuse, Refuse, Keep], Refuse, [Report, Report]),
    line("episode", [Redact, Redact, Redact], Redact, [Neutralise, Report]),
    line("fact", [Refuse, Refuse, Confirm], Refuse, [Refuse, Report]),
];

const fn line(name: &'static str, secrets: [Act; 3], identity: Act, injection: [Act; 2]) -> Line {
    Line { name, secrets, identity, contact: Report, injection }
}

impl Row {
    /// All rows.
    pub const ALL: [Row; 6] = [Row::Records, Row::Topics, Row::Notes, Row::Vault, Row::Episode, Row::Fact];

    fn line(self) -> &'static Line {
        // The table lists the rows in the order of the enum; the test below holds it to that.
        &TABLE[self as usize]
    }

    /// The name on paper.
    pub fn name(self) -> &'static str {
        self.line().name
    }

    /// The shelf whose settings steer this row.
    pub fn shelf(self) -> ShelfName {
        match self {
            Row::Records => ShelfName::Records,
            Row::Topics => ShelfName::Topics,
            Row::Notes => ShelfName::Notes,
            Row::Vault => ShelfName::Vault,
            Row::Episode | Row::Fact => ShelfName::Tiers,
        }
    }

    /// The row of that name.
    pub fn named(name: &str) -> Option<Row> {
        Row::ALL.into_iter().find(|row| row.name() == name)
    }

    /// What is done about something of this class and level that arrives with this trust.
    pub fn act(self, class: Class, level: Level, trust: Trust) -> Act {
        let line = self.line();
        match class {
            Class::Secret => {
                line.secrets[match level {
                    Level::Definite => 0,
                    Level::Probable => 1,
                    Level::Possible => 2,
                }]
            }
            // A number that merely might be one is no reason to lose a runbook.
            Class::Identity if level == Level::Possible => Report,
            Class::Identity => line.identity,
            Class::Contact => line.contact,
            Class::Injection => line.injection[usize::from(trust > Trust::Low)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_lists_the_rows_in_order() {
        for row in Row::ALL {
            assert_eq!(row.name(), format!("{row:?}").to_lowercase());
            assert_eq!(Row::named(row.name()), Some(row));
        }
    }

    #[test]
    fn no_row_keeps_a_definite_or_probable_secret() {
        for row in Row::ALL {
            for level in [Level::Definite, Level::Probable] {
                assert!(row.act(Class::Secret, level, Trust::High) >= Redact, "{}", row.name());
            }
        }
    }

    #[test]
    fn contact_data_is_kept_everywhere_by_default() {
        for row in Row::ALL {
            assert_eq!(row.act(Class::Contact, Level::Possible, Trust::Low), Report);
        }
    }
}

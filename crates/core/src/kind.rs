//! The one table of kinds: what kinds of memory there are, on which shelf they live, and for the typed records
//! their folder, label, priority, retention and fields.
//!
//! Comes in: a name. Goes out: a row. Validation, JSON Schemas, excerpts, command-line flags, triage and recall all
//! read this table; nothing about a kind is written down a second time.

use serde::{Serialize, Serializer};

/// The five places where memories live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ShelfName {
    /// What the project knows, typed.
    Records,
    /// Lessons by topic.
    Topics,
    /// Assistant messages, word for word.
    Notes,
    /// Who the agents are and what they are doing.
    Vault,
    /// What each user said and what is known about them.
    Tiers,
}

impl ShelfName {
    /// All shelves, in the order they are shown.
    pub const ALL: [ShelfName; 5] =
        [ShelfName::Records, ShelfName::Topics, ShelfName::Notes, ShelfName::Vault, ShelfName::Tiers];

    /// The name on paper.
    pub const fn name(self) -> &'static str {
        match self {
            ShelfName::Records => "records",
            ShelfName::Topics => "topics",
            ShelfName::Notes => "notes",
            ShelfName::Vault => "vault",
            ShelfName::Tiers => "tiers",
        }
    }
}

/// A kind of memory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A choice and why it was made.
    Decision,
    /// What to do when something breaks.
    Runbook,
    /// A limit that cannot be argued with.
    Constraint,
    /// Work put off on purpose.
    TechDebt,
    /// How things are done here.
    Preference,
    /// What a session did and what comes next.
    SessionSummary,
    /// A category of records that the settings define.
    Custom(String),
    /// What went wrong and how it was fixed.
    Lesson,
    /// An assistant message worth keeping.
    Note,
    /// A durable truth about an agent.
    Canon,
    /// An agent's present state, by topic.
    Register,
    /// The running conversation; never stored.
    Working,
    /// A past turn of a conversation.
    Episode,
    /// Something known about a user.
    Fact,
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The name on paper and in ids.
    pub name: &'static str,
    /// Where memories of this kind live.
    pub shelf: ShelfName,
    /// The folder of a record kind below the memory root; empty for kinds of other shelves.
    pub folder: &'static str,
    /// The label in `index.md` and in recall blocks.
    pub label: &'static str,
    /// Order among equals in recall; 1 comes first.
    pub priority: u8,
    /// Days without a change after which `gc` retires it, as `init` writes it; 0 is never.
    pub retention_days: u32,
    /// How many active ones are kept, oldest retired first; 0 is no limit.
    pub max_retained: u32,
    /// Whether triage may propose to delete one.
    pub triage_may_delete: bool,
    /// The triage score from which it is worth saving.
    pub threshold: f64,
    /// The model that drafts it by default.
    pub model: &'static str,
    /// The content fields of a record kind.
    pub fields: &'static [Field],
    /// What it is for, in a line.
    pub help: &'static str,
}

/// A content field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Field {
    /// The name on paper.
    pub name: &'static str,
    /// What it holds.
    pub shape: Shape,
    /// Whether a record must have it.
    pub required: bool,
    /// Whether it is shown in a candidate's excerpt.
    pub excerpt: bool,
    /// Which part of a plain sentence belongs there.
    pub from: Words,
    /// What to write there.
    pub help: &'static str,
}

/// Which part of a plain sentence ("this because that") a field takes when a record is made from it. No text is ever put where nobody
/// said it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    /// What stands before "because".
    What,
    /// What stands after "because".
    Why,
    /// None. Choices and flags have their first value, anything else stands empty until somebody fills it.
    Later,
    /// None, and the record is of no use without it: whoever saves it says this, or is asked.
    Own,
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// Text.
    Text,
    /// One of these words; the first is what `add` assumes, unless the field is [`Words::Own`].
    Choice(&'static [&'static str]),
    /// Yes or no.
    Flag,
    /// Texts, at least so many.
    List {
        /// The least number of items.
        min: usize,
    },
    /// Alternatives: objects with `option` and `rejected_reason`.
    Alternatives,
    /// An object with the lists `prefer` and `avoid`.
    Examples,
}

const fn need(name: &'static str, shape: Shape, help: &'static str) -> Field {
    Field { name, shape, required: true, excerpt: false, from: Words::Later, help }
}

const fn may(name: &'static str, shape: Shape, help: &'static str) -> Field {
    Field { name, shape, required: false, excerpt: false, from: Words::Later, help }
}

const fn key(field: Field) -> Field {
    Field { excerpt: true, ..field }
}

const fn what(field: Field) -> Field {
    Field { from: Words::What, ..field }
}

const fn why(field: Field) -> Field {
    Field { from: Words::Why, ..field }
}

const fn own(field: Field) -> Field {
    Field { from: Words::Own, ..field }
}

const TEXT: Shape = Shape::Text;
const LIST: Shape = Shape::List { min: 0 };
const SOME: Shape = Shape::List { min: 1 };

/// What a custom category holds when its settings declare no fields.
pub const CUSTOM_FIELDS: &[Field] = &[
    key(what(need("summary", TEXT, "the thing to remember, in a sentence"))),
    key(may("details", TEXT, "everything else worth knowing")),
];

/// Labels of custom kinds sort after all built-in ones.
pub const CUSTOM_PRIORITY: u8 = 10;

const RECORD: Row = Row {
    name: "",
    shelf: ShelfName::Records,
    folder: "",
    label: "",
    priority: CUSTOM_PRIORITY,
    retention_days: 0,
    max_retained: 0,
    triage_may_delete: true,
    threshold: 0.4,
    model: "haiku",
    fields: &[],
    help: "",
};

const fn other(
    name: &'static str,
    shelf: ShelfName,
    label: &'static str,
    priority: u8,
    help: &'static str,
) -> Row {
    Row { name, shelf, label, priority, triage_may_delete: false, help, ..RECORD }
}

/// The record kinds, in the order they are listed to people.
pub const RECORD_KINDS: [Row; 6] = [
    Row {
        name: "decision",
        folder: "decisions",
        label: "DECISION",
        priority: 1,
        triage_may_delete: false,
        model: "sonnet",
        fields: &[
            need(
                "status",
                Shape::Choice(&["accepted", "proposed", "deprecated", "superseded"]),
                "where it stands",
            ),
            key(need("context", TEXT, "what made a decision necessary")),
            what(key(need("decision", TEXT, "what was decided"))),
            may("alternatives", Shape::Alternatives, "what else was considered, and why not"),
            why(key(need("rationale", SOME, "why, one reason each"))),
            may("consequences", LIST, "what follows from it"),
        ],
        help: "a choice and why it was made",
        ..RECORD
    },
    Row {
        name: "runbook",
        folder: "runbooks",
        label: "RUNBOOK",
        priority: 4,
        fields: &[
            what(key(need("trigger", TEXT, "what you see when you need it"))),
            may("symptoms", LIST, "how it shows"),
            own(need("steps", SOME, "what to do, in order")),
            own(need("verification", TEXT, "how to know that it worked")),
            why(key(may("root_cause", TEXT, "why it happened"))),
            may("environment", TEXT, "where it applies"),
        ],
        help: "what to do when something breaks",
        ..RECORD
    },
    Row {
        name: "constraint",
        folder: "constraints",
        label: "CONSTRAINT",
        priority: 2,
        threshold: 0.5,
        model: "sonnet",
        fields: &[
            need("kind", Shape::Choice(&["limitation", "gap", "policy", "technical"]), "what sort of limit"),
            what(key(need("rule", TEXT, "the limit itself"))),
            why(key(need("impact", SOME, "what it means for the work"))),
            may("workarounds", LIST, "ways around it"),
            need("severity", Shape::Choice(&["medium", "high", "low"]), "how much it hurts"),
            need("active", Shape::Flag, "whether it still holds"),
            may("expires", TEXT, "when it will no longer hold"),
        ],
        help: "a limit that cannot be argued with",
        ..RECORD
    },
    Row {
        name: "tech_debt",
        folder: "tech-debt",
        label: "TECH_DEBT",
        priority: 5,
        fields: &[
            need(
                "status",
                Shape::Choice(&["open", "in_progress", "resolved", "wont_fix"]),
                "where it stands",
            ),
            need("priority", Shape::Choice(&["medium", "critical", "high", "low"]), "how urgent it is"),
            what(key(need("description", TEXT, "what is owed"))),
            why(key(need("reason_deferred", TEXT, "why it was put off"))),
            may("impact", LIST, "what it costs meanwhile"),
            may("suggested_fix", LIST, "how to pay it back"),
            may("acceptance_criteria", LIST, "when it counts as paid"),
        ],
        help: "work put off on purpose",
        ..RECORD
    },
    Row {
        name: "preference",
        folder: "preferences",
        label: "PREFERENCE",
        priority: 3,
        triage_may_delete: false,
        fields: &[
            key(need("topic", TEXT, "what it is about")),
            what(key(need("value", TEXT, "how it is done here"))),
            why(key(need("reason", TEXT, "why"))),
            need("strength", Shape::Choice(&["default", "strong", "soft"]), "how firmly it is meant"),
            may("examples", Shape::Examples, "what to prefer and what to avoid"),
        ],
        help: "how things are done here",
        ..RECORD
    },
    Row {
        name: "session_summary",
        folder: "sessions",
        label: "SESSION_SUMMARY",
        priority: 6,
        retention_days: 90,
        max_retained: 5,
        triage_may_delete: false,
        threshold: 0.6,
        fields: &[
            what(key(need("goal", TEXT, "what the session was for"))),
            own(key(need(
                "outcome",
                Shape::Choice(&["success", "partial", "blocked", "abandoned"]),
                "how it ended",
            ))),
            need("completed", LIST, "what was done"),
            may("in_progress", LIST, "what is half done"),
            may("blockers", LIST, "what stands in the way"),
            need("next_actions", LIST, "what comes next"),
            may("key_changes", LIST, "what changed in the project"),
        ],
        help: "what a session did and what comes next",
        ..RECORD
    },
];

/// The kinds of the other shelves.
pub const OTHER_KINDS: [Row; 7] = [
    other("lesson", ShelfName::Topics, "LESSON", 4, "what went wrong and how it was fixed"),
    other("note", ShelfName::Notes, "NOTE", 6, "an assistant message worth keeping"),
    other("canon", ShelfName::Vault, "CANON", 1, "a durable truth about an agent"),
    other("register", ShelfName::Vault, "REGISTER", 2, "an agent's present state, by topic"),
    other("working", ShelfName::Tiers, "WORKING", 7, "the running conversation; never stored"),
    other("episode", ShelfName::Tiers, "EPISODE", 7, "a past turn of a conversation"),
    other("fact", ShelfName::Tiers, "FACT", 2, "something known about a user"),
];

impl Kind {
    /// The kinds of records the seed defines, in the order they are listed.
    pub const RECORDS: [Kind; 6] = [
        Kind::Decision,
        Kind::Runbook,
        Kind::Constraint,
        Kind::TechDebt,
        Kind::Preference,
        Kind::SessionSummary,
    ];

    /// The row of a built-in kind; `None` for a custom one.
    pub const fn row(&self) -> Option<&'static Row> {
        let records = &RECORD_KINDS;
        let others = &OTHER_KINDS;
        Some(match self {
            Kind::Decision => &records[0],
            Kind::Runbook => &records[1],
            Kind::Constraint => &records[2],
            Kind::TechDebt => &records[3],
            Kind::Preference => &records[4],
            Kind::SessionSummary => &records[5],
            Kind::Custom(_) => return None,
            Kind::Lesson => &others[0],
            Kind::Note => &others[1],
            Kind::Canon => &others[2],
            Kind::Register => &others[3],
            Kind::Working => &others[4],
            Kind::Episode => &others[5],
            Kind::Fact => &others[6],
        })
    }

    /// The name on paper.
    pub fn name(&self) -> &str {
        match self {
            Kind::Custom(name) => name,
            built_in => built_in.row().map_or("", |row| row.name),
        }
    }

    /// The kind of that name; a name the table does not know is a custom record kind.
    pub fn named(name: &str) -> Kind {
        Kind::built_in(name).unwrap_or_else(|| Kind::Custom(name.to_owned()))
    }

    /// The built-in kind of that name.
    pub fn built_in(name: &str) -> Option<Kind> {
        const OTHERS: [Kind; 7] =
            [Kind::Lesson, Kind::Note, Kind::Canon, Kind::Register, Kind::Working, Kind::Episode, Kind::Fact];
        Kind::RECORDS.into_iter().chain(OTHERS).find(|kind| kind.name() == name)
    }

    /// Where memories of this kind live.
    pub fn shelf(&self) -> ShelfName {
        self.row().map_or(ShelfName::Records, |row| row.shelf)
    }

    /// The label in `index.md` and in recall blocks.
    pub fn label(&self) -> String {
        self.row().map_or_else(|| self.name().to_uppercase(), |row| row.label.to_owned())
    }

    /// Order among equals in recall.
    pub fn priority(&self) -> u8 {
        self.row().map_or(CUSTOM_PRIORITY, |row| row.priority)
    }
}

/// The recall priority of an index label; labels nobody knows come last.
pub fn label_priority(label: &str) -> u8 {
    RECORD_KINDS.iter().find(|row| row.label == label).map_or(CUSTOM_PRIORITY, |row| row.priority)
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_finds_its_own_row_by_name() {
        for row in RECORD_KINDS.iter().chain(&OTHER_KINDS) {
            let kind = Kind::built_in(row.name).unwrap();
            assert_eq!(kind.name(), row.name);
            assert_eq!(kind.shelf(), row.shelf);
        }
        assert_eq!(Kind::named("adr"), Kind::Custom("adr".into()));
    }

    #[test]
    fn every_record_kind_has_fields_and_something_to_excerpt() {
        for row in RECORD_KINDS {
            assert!(row.fields.iter().any(|f| f.required), "{}", row.name);
            assert!(row.fields.iter().any(|f| f.excerpt), "{}", row.name);
            assert!(!row.folder.is_empty() && row.label == row.name.to_uppercase());
        }
    }
}

//! What goes into the index: one document per memory.
//!
//! A document is a copy of what a shelf holds, in the words the index needs; the index never hands it back
//! changed. Times are seconds since 1970 in UTC.

use heirloom_core::kind::{Field, RECORD_KINDS, Row, Shape};
use std::sync::Arc;

/// How far a memory is trusted: by the channel it came through, never by what it says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trust {
    /// Web content, an agent's own words.
    Low,
    /// Files, command output, other people's messages.
    #[default]
    Medium,
    /// The owner's own words, or accepted by a person.
    High,
}

impl From<heirloom_core::Trust> for Trust {
    fn from(trust: heirloom_core::Trust) -> Self {
        match trust {
            heirloom_core::Trust::High => Self::High,
            heirloom_core::Trust::Medium => Self::Medium,
            heirloom_core::Trust::Low => Self::Low,
        }
    }
}

impl Trust {
    pub(crate) fn code(self) -> i64 {
        match self {
            Self::Low => 0,
            Self::Medium => 1,
            Self::High => 2,
        }
    }

    /// From 0 for low to 1 for high.
    pub(crate) fn share(self) -> f32 {
        match self {
            Self::Low => 0.0,
            Self::Medium => 0.5,
            Self::High => 1.0,
        }
    }

    pub(crate) fn from_code(code: i64) -> Self {
        match code {
            2 => Self::High,
            1 => Self::Medium,
            _ => Self::Low,
        }
    }
}

/// Where a memory is in its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// In force.
    #[default]
    Active,
    /// No longer in force; found only when asked for.
    Retired,
    /// Held back: never recalled, listed for review.
    Held,
}

impl Status {
    pub(crate) fn code(self) -> i64 {
        match self {
            Self::Active => 0,
            Self::Retired => 1,
            Self::Held => 2,
        }
    }

    pub(crate) fn from_code(code: i64) -> Self {
        match code {
            0 => Self::Active,
            1 => Self::Retired,
            _ => Self::Held,
        }
    }
}

/// Whose words a memory holds, where it is a turn of a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Not a turn.
    #[default]
    None,
    /// A person's.
    Person,
    /// An agent's.
    Agent,
}

impl Role {
    pub(crate) fn code(self) -> i64 {
        match self {
            Self::None => 0,
            Self::Person => 1,
            Self::Agent => 2,
        }
    }

    pub(crate) fn from_code(code: i64) -> Self {
        match code {
            1 => Self::Person,
            2 => Self::Agent,
            _ => Self::None,
        }
    }
}

/// One memory, as the index sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// Id, unique for its owner.
    pub id: String,
    /// Kind, such as `decision`, `note`, `episode`.
    pub kind: String,
    /// Title or subject; may be empty.
    pub title: String,
    /// Tags.
    pub tags: Vec<String>,
    /// Text.
    pub body: String,
    /// Whose words it holds.
    pub role: Role,
    /// Who speaks, where that is a name; empty otherwise.
    pub speaker: String,
    /// Conversation or document this is a part of; empty if it stands alone.
    pub group: String,
    /// Place in the group.
    pub position: u32,
    /// When it happened.
    pub occurred_at: i64,
    /// Trust.
    pub trust: Trust,
    /// Status.
    pub status: Status,
    /// How sure the memory is of itself, 0 to 1.
    pub confidence: f32,
    /// Scope, such as `project`, `user`, `file:src/main.rs`.
    pub scope: String,
    /// Paths or globs it applies to.
    pub applies_to: Vec<String>,
    /// The file it lives in; empty for a memory that is no file.
    pub file: String,
    /// Where it came from, by name; empty if that is not kept.
    pub source: String,
    /// What changes whenever the stored bytes do; empty if that is not kept.
    pub version: String,
}

impl Document {
    /// The text an embedder is given: title or speaker before the body.
    pub fn passage(&self) -> String {
        let body: Vec<&str> = self.said().collect();
        let body = body.join("\n");
        match (self.title.is_empty(), self.speaker.is_empty()) {
            (false, _) => format!("{}\n{body}", self.title),
            (true, false) => format!("{}: {body}", self.speaker),
            (true, true) => body,
        }
    }

    /// What the body says. A record's body has a line for each field: the names of fields, and values that are one of a few words, say nothing
    /// about what it is about, and every record of its kind has them.
    pub(crate) fn said(&self) -> impl Iterator<Item = &str> {
        let row = RECORD_KINDS.iter().find(|row| row.name == self.kind);
        let whole = row.is_none().then_some(self.body.as_str());
        let lines =
            row.into_iter().flat_map(|row| self.body.lines().filter_map(move |line| value(row, line)));
        whole.into_iter().chain(lines)
    }
}

/// What a line of a record's body says: without the name of its field, and nothing if the field holds one of a few words.
fn value<'l>(row: &Row, line: &'l str) -> Option<&'l str> {
    let Some((name, rest)) = line.split_once(':') else { return Some(line) };
    // Names are written with blanks.
    let is_named = |field: &&Field| {
        field.name.len() == name.len()
            && field.name.bytes().zip(name.bytes()).all(|(a, b)| a == b || (a == b'_' && b == b' '))
    };
    match row.fields.iter().find(is_named) {
        None => Some(line),
        Some(field) if matches!(field.shape, Shape::Choice(_) | Shape::Flag) => None,
        Some(_) => Some(rest.trim()).filter(|rest| !rest.is_empty()),
    }
}

/// A document's metadata as kept for ranking, without its text.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// Number within its owner's part.
    pub number: u32,
    /// Fingerprint of the group, 0 if it stands alone.
    pub group: i64,
    /// Place in the group.
    pub position: u32,
    /// When it happened.
    pub occurred_at: i64,
    /// Kind.
    pub kind: Arc<str>,
    /// Trust.
    pub trust: Trust,
    /// Status.
    pub status: Status,
    /// Terms in title and body.
    pub length: u32,
    /// Confidence.
    pub confidence: f32,
    /// Scope.
    pub scope: Arc<str>,
    /// Whose words it holds.
    pub role: Role,
    /// Fingerprint of the speaker's first name, 0 for none.
    pub speaker: i64,
}

impl Card {
    /// The card of a document that is in no index.
    pub(crate) fn of(document: &Document) -> Card {
        Card {
            number: 0,
            group: 0,
            position: document.position,
            occurred_at: document.occurred_at,
            kind: document.kind.as_str().into(),
            trust: document.trust,
            status: document.status,
            length: 0,
            confidence: document.confidence,
            scope: document.scope.as_str().into(),
            role: document.role,
            speaker: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_a_record_s_fields_are_not_what_it_says() {
        let body = "status: accepted\ncontext: status: of the queue\nrationale:\n- joins matter\nreason deferred: late";
        let of = |kind: &str| Document { kind: kind.into(), body: body.into(), ..Document::default() };
        let said = |kind: &str| of(kind).said().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(said("decision"), ["status: of the queue", "- joins matter", "reason deferred: late"]);
        assert_eq!(said("note"), [body]);
        assert_eq!(of("note").passage(), body);
        assert!(said("tech_debt").contains(&"late".to_owned()));
    }
}

//! A question, as recall takes it.

use crate::index::{Card, Status};

use super::query::Conditions;

/// What is asked, by whom it is asked for, and when.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ask {
    /// The question or prompt.
    pub text: String,
    /// What time it is, in seconds since 1970.
    pub now: i64,
    /// Files in play: paths relative to the project.
    pub files: Vec<String>,
    /// Scopes in play, such as `project`.
    pub scopes: Vec<String>,
    /// How many hits are wanted at most.
    pub limit: usize,
    /// What a hit must meet.
    pub conditions: Conditions,
    /// Whether retired memories may be found.
    pub include_retired: bool,
}

impl Ask {
    /// Whether a memory may be found at all.
    pub(crate) fn admits(&self, card: &Card) -> bool {
        let alive = match card.status {
            Status::Active => true,
            Status::Retired => self.include_retired || self.conditions.status == Some(Status::Retired),
            Status::Held => false,
        };
        alive && self.conditions.admit(card)
    }
}

/// Words by which a question asks for what an agent said.
const SAID: [&str; 22] = [
    "you told",
    "you said",
    "you recommend",
    "you suggest",
    "you mention",
    "you gave",
    "you give",
    "you provided",
    "you list",
    "you explain",
    "you describe",
    "you wrote",
    "you advise",
    "you propose",
    "remind me",
    "our last chat",
    "our previous",
    "our conversation",
    "our chat",
    "earlier conversation",
    "previous conversation",
    "previous chat",
];

/// Whether a question asks for what an agent said rather than for what a person did.
pub(crate) fn asks_agent(text: &str) -> bool {
    let lower = text.to_lowercase();
    SAID.iter().any(|s| lower.contains(s))
}

//! Remember: facts about a person, and turns of conversations.
//!
//! Comes in: a fact or a turn. Goes out: where it is now, or what waits. A person is shown what a fact repeats or contradicts and what may be a
//! secret ([`questions`]), and their yes comes back in the request; from anybody else such a fact waits. Never here: a fact that
//! supersedes another one without a person.

use super::{Added, Outcome, Yes, asked};
use crate::call::Call;
use crate::gate::Entry;
use crate::gate::policy::Row;
use crate::shelf::tiers::{FactWords, Role, Turn};
use heirloom_core::{
    Channel, Code, Fault, Kind, MemoryId, Owner, ShelfName, Trust, Verb, fault::Result, time,
};
use serde::{Deserialize, Serialize};

/// A fact to remember.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewFact {
    /// The sentence.
    pub text: String,
    /// What it is about, where the sentence does not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// How sure its writer is, 0 to 1; 1 if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Whose words these are, if not the caller's own; see [`channel_named`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl NewFact {
    pub(super) fn words(&self) -> FactWords {
        FactWords {
            subject: self.subject.clone(),
            tags: self.tags.clone(),
            confidence: self.confidence.unwrap_or(1.0),
            ..FactWords::of(self.text.as_str())
        }
    }
}

/// A turn to keep.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewTurn {
    /// What was said.
    pub text: String,
    /// Who spoke; a person if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// The conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The message, by the name its host gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The tool that returned it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Days it is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days: Option<u32>,
    /// Hours it is kept, instead of days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours: Option<u32>,
    /// Its place in the conversation.
    #[serde(default)]
    pub position: u32,
    /// Whether it quotes content from outside the conversation.
    #[serde(default)]
    pub external: bool,
    /// Labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// When it was said; now if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Whose words these are, if not the caller's own; see [`channel_named`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// What a source may be called: the names of the channels, and the words stored with memories.
const SOURCES: [(&str, Channel); 8] = [
    ("other_message", Channel::OtherMessage),
    ("tool_read", Channel::ToolRead),
    ("tool_output", Channel::ToolRead),
    ("web", Channel::Web),
    ("web_fetch", Channel::Web),
    ("agent", Channel::Agent),
    ("ai_inference", Channel::Agent),
    ("owner_message", Channel::OwnerMessage),
];

/// The channel of a source that somebody names. What a tool returned or somebody else said is kept as that, with that channel's trust; nobody
/// gets a person's trust by naming one.
pub fn channel_named(call: &Call, name: &str) -> Result<Channel> {
    let own = call.caller().channel();
    let channel = match name {
        // The seed's word for a message, whoever wrote it.
        "user_message" if call.caller().is_person() => Channel::OwnerMessage,
        "user_message" => Channel::OtherMessage,
        "person" | "explicit_save" if own == Channel::Person => Channel::Person,
        _ => {
            let known = SOURCES.iter().find(|(known, _)| *known == name).map(|(_, channel)| *channel);
            known.ok_or_else(|| {
                Fault::new(Code::Usage, format!("there is no source `{name}` here"))
                    .fact("field", "source")
                    .hint("use other_message, tool_read, web or agent; without --source it is your own word")
            })?
        }
    };
    if channel.trust() == Trust::High && own.trust() < Trust::High {
        return Err(Fault::new(Code::Usage, format!("only a person can keep something as `{name}`"))
            .fact("field", "source")
            .hint("use other_message, tool_read, web or agent"));
    }
    Ok(channel)
}

/// How something arrives whose source is named.
fn arriving(call: &Call, source: Option<&str>, entry: Entry) -> Result<Entry> {
    match source {
        None => Ok(entry),
        Some(name) => Ok(Entry { channel: channel_named(call, name)?, ..entry }),
    }
}

/// A fact, with what a person said to [`questions`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remember {
    /// The fact.
    pub fact: NewFact,
    /// The answers.
    #[serde(default)]
    pub yes: Yes,
}

/// What a person is to be asked.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "asks", rename_all = "snake_case")]
pub enum Question {
    /// The text may hold a secret.
    PossibleSecret {
        /// The rules that say so.
        rules: Vec<String>,
    },
    /// The fact would supersede these.
    Supersedes {
        /// What is known.
        known: Vec<Known>,
    },
}

/// A fact that is known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Known {
    /// Its id.
    pub id: String,
    /// What it says.
    pub text: String,
    /// `near-duplicate` or `contradiction`.
    pub relation: &'static str,
}

/// Remembers a fact.
pub fn remember(call: &Call, ask: &Remember) -> Result<Outcome<Added>> {
    asked(call, Verb::Remember, ShelfName::Tiers, Owner::Nobody)?;
    Outcome::of(call, fact(call, &ask.fact, &ask.yes, call.entry()))
}

/// What a person is to be asked before this fact is stored; nobody else is asked.
pub fn questions(call: &Call, words: &FactWords) -> Result<Vec<Question>> {
    let mut asks: Vec<Question> = possible_secret(call, &words.content, true).into_iter().collect();
    if call.caller().is_person() {
        let known: Vec<Known> = call
            .tiers()?
            .beside(words)?
            .into_iter()
            .map(|(relation, known)| Known { id: known.id, text: known.content, relation: relation.name() })
            .collect();
        if !known.is_empty() {
            asks.push(Question::Supersedes { known });
        }
    }
    Ok(asks)
}

/// Whether a person is to be asked about what may be a secret. What surely is one is refused without asking.
pub(super) fn possible_secret(call: &Call, text: &str, is_fact: bool) -> Option<Question> {
    if !call.caller().is_person() {
        return None;
    }
    let row = if is_fact { Row::Fact } else { Row::Episode };
    let rules = call.screen().possible_secrets(text, row, call.entry().trust());
    (!rules.is_empty()).then_some(Question::PossibleSecret { rules })
}

/// Whether every question has its yes. A fact that is known by now and was not shown is a question without one.
fn answered(asks: &[Question], yes: &Yes) -> bool {
    asks.iter().all(|question| match question {
        Question::PossibleSecret { .. } => yes.possible_secret,
        Question::Supersedes { known } => known.iter().all(|known| yes.supersede.contains(&known.id)),
    })
}

pub(super) fn fact(call: &Call, new: &NewFact, yes: &Yes, entry: Entry) -> Result<Added> {
    let mut words = new.words();
    let mut entry = arriving(call, new.source.as_deref(), entry)?;
    let asks = questions(call, &words)?;
    if !asks.is_empty() && answered(&asks, yes) {
        for question in asks {
            if let Question::Supersedes { known } = question {
                words.supersedes.extend(known.into_iter().map(|known| known.id));
            }
        }
        entry.confirmed = true;
    }
    call.tiers()?.remember(words, entry).map(Added::from)
}

pub(super) fn turn(call: &Call, new: &NewTurn, yes: &Yes, entry: Entry) -> Result<Added> {
    let named = new.source.is_some();
    let mut entry = arriving(call, new.source.as_deref(), entry)?;
    let returned = named && matches!(entry.channel, Channel::ToolRead | Channel::Web);
    let role = match entry.channel {
        Channel::ToolRead | Channel::Web if named => Role::Tool,
        Channel::Agent if named => Role::Assistant,
        _ => Role::User,
    };
    let occurred_at = match &new.at {
        None => None,
        Some(at) => Some(time::parse(at).ok_or_else(|| {
            Fault::new(Code::Validation, "the time cannot be read")
                .fact("field", "at")
                .hint("write it like 2026-01-10T09:00:00Z")
        })?),
    };
    let turn = Turn {
        session: new.session.clone(),
        position: new.position,
        message: new.message.clone(),
        tool: new.tool.clone(),
        from_external_content: new.external || returned,
        occurred_at,
        tags: new.tags.clone(),
        days: new.days,
        hours: new.hours,
        ..Turn::of(new.role.unwrap_or(role), new.text.as_str())
    };
    let asks = possible_secret(call, &new.text, false);
    entry.confirmed |= asks.is_some() && yes.possible_secret;
    call.tiers()?.add_episode(turn, entry).map(Added::from)
}

/// What the gate would store of a text; nothing if it would not be stored as it is.
pub(super) fn rehearse(call: &Call, text: &str, kind: Kind) -> Added {
    let row = if kind == Kind::Fact { Row::Fact } else { Row::Episode };
    let verdict = call.screen().verdict(text, row, call.entry().trust());
    Added::rehearsed(MemoryId::new(&kind, "new"), None, verdict.stored)
}

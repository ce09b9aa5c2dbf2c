//! A memory as the tiers keep it: a turn of a conversation, or a fact.
//!
//! Comes in: what passed the gate. Goes out: rows, archive lines, the read model of all shelves. Never here: a rule about what may be stored.

use super::Item;
use heirloom_core::{Channel, Kind, Memory, MemoryId, Scope, Source, Status, Trust, hash, time};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Which tier a memory is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// The running conversation; never stored.
    Working,
    /// Past turns.
    Episodic,
    /// Facts and preferences.
    Semantic,
}

impl Tier {
    /// The tiers that are stored.
    pub const STORED: [Tier; 2] = [Tier::Episodic, Tier::Semantic];

    /// The name on paper.
    pub const fn name(self) -> &'static str {
        match self {
            Tier::Working => "working",
            Tier::Episodic => "episodic",
            Tier::Semantic => "semantic",
        }
    }

    /// The tier of that name.
    pub fn named(name: &str) -> Option<Tier> {
        [Tier::Working, Tier::Episodic, Tier::Semantic].into_iter().find(|tier| tier.name() == name)
    }

    /// The kind its memories have.
    pub const fn kind(self) -> Kind {
        match self {
            Tier::Working => Kind::Working,
            Tier::Episodic => Kind::Episode,
            Tier::Semantic => Kind::Fact,
        }
    }

    /// The tier of a kind.
    pub fn of(kind: &Kind) -> Option<Tier> {
        match kind {
            Kind::Working => Some(Tier::Working),
            Kind::Episode => Some(Tier::Episodic),
            Kind::Fact => Some(Tier::Semantic),
            _ => None,
        }
    }
}

/// Who spoke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A person.
    User,
    /// A model.
    Assistant,
    /// A tool.
    Tool,
}

impl Role {
    /// The name on paper.
    pub const fn name(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        }
    }

    /// The role of that name.
    pub fn named(name: &str) -> Option<Role> {
        [Role::User, Role::Assistant, Role::Tool].into_iter().find(|role| role.name() == name)
    }
}

/// What sort of thing a fact says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FactKind {
    /// How somebody wants things.
    Preference,
    /// What or who somebody or something is.
    Entity,
    /// How two things belong together.
    Relationship,
    /// What to do always or never.
    Instruction,
}

/// The structure of a fact, as far as its sentence shows one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// What sort of thing it says.
    pub kind: FactKind,
    /// Who or what it is about.
    pub subject: String,
    /// What is said of it.
    pub predicate: String,
    /// The value.
    pub object: String,
}

impl Statement {
    /// What two facts share if only one of them can be true.
    pub fn slot(&self) -> String {
        format!("{}\u{1f}{}", self.subject.to_lowercase(), self.predicate.to_lowercase())
    }
}

/// A stored memory of one user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stored {
    /// `episode:…` or `fact:…`.
    pub id: String,
    /// Whose it is.
    pub user: String,
    /// Which tier it is in.
    pub tier: Tier,
    /// The text.
    pub content: String,
    /// The way it arrived.
    pub channel: Channel,
    /// How far to believe it.
    pub trust: Trust,
    /// Whether a person accepted exactly this text.
    #[serde(default)]
    pub accepted: bool,
    /// Who spoke, for a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Whether a turn quotes content from outside the conversation.
    #[serde(default)]
    pub from_external_content: bool,
    /// The conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The turn's place in it.
    #[serde(default)]
    pub position: u32,
    /// The message it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The tool that returned it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What a fact says, taken apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<Statement>,
    /// How sure its writer was.
    #[serde(default = "certain")]
    pub confidence: f64,
    /// Labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// `active`, `retired` or `superseded`.
    pub status: LifeStatus,
    /// The facts this one replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supersedes: Vec<String>,
    /// The fact that replaced this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// When it was said.
    #[serde(with = "seconds")]
    pub occurred_at: Timestamp,
    /// When it was stored.
    #[serde(with = "seconds")]
    pub created_at: Timestamp,
    /// When it last changed.
    #[serde(with = "seconds")]
    pub updated_at: Timestamp,
    /// When it goes by itself; always set for a turn, never for a fact.
    #[serde(default, with = "maybe_seconds", skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// What makes it an item of a program, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<Box<Item>>,
}

/// Where a stored memory is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the statuses of the read model that the tiers know")]
pub enum LifeStatus {
    Active,
    Retired,
    Superseded,
}

impl LifeStatus {
    /// The name on paper.
    pub const fn name(self) -> &'static str {
        self.shown().name()
    }

    /// The status of that name.
    pub fn named(name: &str) -> Option<LifeStatus> {
        [LifeStatus::Active, LifeStatus::Retired, LifeStatus::Superseded]
            .into_iter()
            .find(|s| s.name() == name)
    }

    const fn shown(self) -> Status {
        match self {
            LifeStatus::Active => Status::Active,
            LifeStatus::Retired => Status::Retired,
            LifeStatus::Superseded => Status::Superseded,
        }
    }
}

fn certain() -> f64 {
    1.0
}

impl Stored {
    /// Where it came from, in the words stored with it. A yes makes it believed; it does not make somebody else its source.
    pub fn source(&self) -> Source {
        self.channel.source()
    }

    /// What it is about, where its own words do not say so.
    pub fn heading(&self) -> Option<&str> {
        let subject = self.statement.as_ref()?.subject.as_str();
        let said = subject == super::statement::USER
            || self.content.to_lowercase().contains(&subject.to_lowercase());
        (!said).then_some(subject)
    }

    /// Everything a question may be about: the heading, if there is one, and the text.
    pub fn searched(&self) -> Cow<'_, str> {
        match self.heading() {
            Some(heading) => format!("{heading}\n{}", self.content).into(),
            None => self.content.as_str().into(),
        }
    }

    /// SHA-256 of the text, and of what else an item says.
    pub fn hash(&self) -> String {
        match &self.item {
            None => hash::sha256(self.content.as_bytes()),
            Some(item) => hash::sha256(format!("{}\0{}", self.content, item.field()).as_bytes()),
        }
    }

    /// What backends look it up by: of an item its key, of a fact what two facts share if only one of them can be true.
    pub fn slot(&self) -> Option<String> {
        match &self.item {
            Some(item) => Some(item.slot(&self.id)),
            None => self.statement.as_ref().map(Statement::slot),
        }
    }

    /// What backends list it under: the place of an item, or the conversation.
    pub fn listed_under(&self) -> Option<String> {
        match &self.item {
            Some(item) => Some(item.place()),
            None => self.session.clone(),
        }
    }

    /// What a person reads: the text, or what an item says that is searched by nothing.
    fn body(&self) -> String {
        match self.item.as_deref().and_then(|item| item.value.as_ref()) {
            Some(value) if self.content.is_empty() => super::Indexed::All.text_of(value),
            _ => self.content.clone(),
        }
    }

    /// Whether its time is over: its last second is still its own.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|at| at.as_second() < now.as_second())
    }

    /// Whether it may be recalled.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.status == LifeStatus::Active && !self.is_expired(now)
    }

    /// The same as every shelf shows its memories.
    pub fn memory(&self) -> Memory {
        const TITLE: usize = 80;
        let kind = self.tier.kind();
        let name = self.id.split_once(':').map_or(self.id.as_str(), |(_, name)| name);
        let body = self.body();
        let heading = self.item.as_deref().map(Item::title).or(self.heading().map(str::to_owned));
        let line = match heading {
            Some(heading) => heirloom_core::text::one_line(&format!("{heading}: {body}")),
            None => heirloom_core::text::one_line(&body),
        };
        let title = if line.chars().count() > TITLE {
            format!("{}…", line.chars().take(TITLE - 1).collect::<String>())
        } else {
            line
        };
        let hash = self.hash();
        Memory {
            id: MemoryId::new(&kind, name),
            kind,
            title,
            body,
            tags: self.tags.clone(),
            applies_to: Vec::new(),
            scope: Scope::User(self.user.clone()),
            owner: Some(self.user.clone()),
            source: self.source(),
            trust: self.trust,
            status: self.status.shown(),
            version: hash.clone(),
            occurred_at: Some(time::format(self.occurred_at)),
            created_at: Some(time::format(self.created_at)),
            updated_at: Some(time::format(self.updated_at)),
            expires_at: self.expires_at.map(time::format),
            content_hash: hash,
            confidence: Some(self.confidence),
            path: None,
            fields: self.fields(),
        }
    }

    /// What only turns and facts have.
    fn fields(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        if self.tier == Tier::Episodic {
            put("role", json!(self.role));
            put("session", json!(self.session));
            put("position", json!(self.position));
            put("message", json!(self.message));
            put("tool", json!(self.tool));
            put("external", json!(self.from_external_content));
        } else {
            put("statement", json!(self.statement));
            put("accepted", json!(self.accepted));
            put("supersedes", json!(self.supersedes));
            put("superseded_by", json!(self.superseded_by));
        }
        if let Some(item) = &self.item {
            put("item", item.field());
        }
        fields
    }
}

/// Times as RFC 3339 in archive lines.
mod seconds {
    use super::{Timestamp, time};
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(at: &Timestamp, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&time::format(*at))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Timestamp, D::Error> {
        let text = String::deserialize(d)?;
        time::parse(&text).ok_or_else(|| D::Error::custom("expected a time such as 2026-01-10T09:00:00Z"))
    }
}

/// The same where there may be none.
mod maybe_seconds {
    use super::{Timestamp, seconds};
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(at: &Option<Timestamp>, s: S) -> Result<S::Ok, S::Error> {
        match at {
            Some(at) => seconds::serialize(at, s),
            None => s.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Timestamp>, D::Error> {
        #[derive(Deserialize)]
        struct At(#[serde(with = "seconds")] Timestamp);
        Ok(Option::<At>::deserialize(d)?.map(|at| at.0))
    }
}

//! Settings of the tiers.
//!
//! Comes in: resolved values by name. Goes out: [`Tiers`]. Never here: where the database is; its address may hold a password, so it comes
//! as a flag or a variable and is written down nowhere.

use super::typed::Reader;
use crate::trust::{Channel, Trust};
use serde_json::{Value, json};

/// What is kept of each user, for how long, and how much of it is recalled.
#[derive(Debug, Clone, PartialEq)]
pub struct Tiers {
    /// On: a stop keeps the turns of the conversation.
    pub capture: bool,
    /// On: a stop that keeps turns also keeps what tools returned.
    pub capture_tools: bool,
    /// On: a turn with a secret is refused instead of stored without it.
    pub fail_on_secret: bool,
    /// Days after which an episode goes by itself.
    pub episode_days: u32,
    /// Most episodes recalled at once.
    pub max_episodes: usize,
    /// Most facts recalled at once.
    pub max_facts: usize,
    /// Most tokens recalled at once.
    pub max_tokens: usize,
    /// How much of an episode's score depends on its age, 0 to 1.
    pub recency_weight: f64,
    /// Most messages of a running conversation.
    pub working_messages: usize,
    /// Most tokens of a running conversation.
    pub working_tokens: usize,
    /// Minutes after which a silent conversation is dropped.
    pub working_minutes: u32,
    /// On: the audit also keeps the words that memories were removed by.
    pub audit_queries: bool,
    /// Days the audit is kept; 0 is for ever.
    pub audit_days: u32,
    /// Levels of this deployment that differ from the table of channels.
    pub trust: Vec<(Channel, Trust)>,
}

/// The channels whose trust a deployment may set. A person who saves something on purpose is not among them: that is what high means.
const ADJUSTABLE: [Channel; 5] =
    [Channel::OwnerMessage, Channel::OtherMessage, Channel::ToolRead, Channel::Web, Channel::Agent];

/// The trust of a channel while no setting says otherwise, by the setting's name: what a project may lower.
pub(super) fn usual_trust(name: &str) -> Option<Value> {
    let channel = name.strip_prefix("tiers.trust.")?;
    let usual = ADJUSTABLE.into_iter().find(|adjustable| adjustable.row().name == channel)?;
    Some(json!(usual.trust().name()))
}

impl Tiers {
    pub(super) fn from_values(v: &Reader<'_>) -> Tiers {
        let number = |name| v.count(name).unwrap_or_default() as usize;
        let set = |channel: Channel| {
            let word = v.text(&format!("tiers.trust.{}", channel.row().name));
            Trust::named(&word).map(|trust| (channel, trust))
        };
        Tiers {
            capture: v.on("tiers.capture"),
            capture_tools: v.on("tiers.capture_tools"),
            fail_on_secret: v.on("tiers.fail_on_secret"),
            episode_days: v.count("tiers.episode_days").unwrap_or_default(),
            max_episodes: number("tiers.max_episodes"),
            max_facts: number("tiers.max_facts"),
            max_tokens: number("tiers.max_tokens"),
            recency_weight: v.share("tiers.recency_weight"),
            working_messages: number("tiers.working_messages"),
            working_tokens: number("tiers.working_tokens"),
            working_minutes: v.count("tiers.working_minutes").unwrap_or_default(),
            audit_queries: v.on("tiers.audit_queries"),
            audit_days: v.count("tiers.audit_days").unwrap_or_default(),
            trust: ADJUSTABLE.into_iter().filter_map(set).collect(),
        }
    }

    /// How far this deployment believes a channel.
    pub fn trust_of(&self, channel: Channel) -> Trust {
        self.trust.iter().find(|(c, _)| *c == channel).map_or(channel.trust(), |(_, trust)| *trust)
    }
}

//! Channels, sources and trust: trust comes from the channel a memory arrived through, never from its words.
//!
//! Comes in: a [`Channel`], decided by the door. Goes out: the source name and the trust level of the one table
//! below. Never here: a look at the content.

use serde::{Deserialize, Serialize};

/// How far a memory may be believed.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// An agent's own words, or the web.
    Low,
    /// Files and tools, other people, the repository.
    Medium,
    /// A person who owns this memory said or accepted it.
    High,
}

/// Where a memory comes from, in the words stored with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, schemars::JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A person saved it on purpose.
    ExplicitSave,
    /// A person said it in a conversation.
    UserMessage,
    /// A tool returned it.
    ToolOutput,
    /// A model said it.
    AiInference,
    /// It was found in the repository; nobody here wrote or accepted it.
    Repository,
}

/// The way a write reached Heirloom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, schemars::JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// A person at a terminal, with none of the known agent variables set, or on the web page.
    Person,
    /// The owner's own message, captured from a conversation.
    OwnerMessage,
    /// Another user's message.
    OtherMessage,
    /// Files and command output an agent read.
    ToolRead,
    /// Web content.
    Web,
    /// An agent's own words: the skill, a non-interactive process, MCP, assistant turns.
    Agent,
    /// Text in the repository that this user neither wrote nor accepted.
    Repository,
}

/// A row of the one table of channels.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The channel.
    pub channel: Channel,
    /// Its name on paper.
    pub name: &'static str,
    /// The source recorded for it.
    pub source: Source,
    /// The trust it gives.
    pub trust: Trust,
    /// Who that is, for the reference page.
    pub who: &'static str,
}

/// The one table.
pub const TABLE: [Row; 7] = [
    row(
        Channel::Person,
        "person",
        Source::ExplicitSave,
        Trust::High,
        "a person at a terminal or on the web page",
    ),
    row(Channel::OwnerMessage, "owner_message", Source::UserMessage, Trust::High, "the owner's own message"),
    row(Channel::OtherMessage, "other_message", Source::UserMessage, Trust::Medium, "another user's message"),
    row(
        Channel::ToolRead,
        "tool_read",
        Source::ToolOutput,
        Trust::Medium,
        "files and command output an agent read",
    ),
    row(Channel::Web, "web", Source::ToolOutput, Trust::Low, "web content"),
    row(Channel::Agent, "agent", Source::AiInference, Trust::Low, "an agent's own words"),
    row(Channel::Repository, "repository", Source::Repository, Trust::Medium, "text found in the repository"),
];

const fn row(channel: Channel, name: &'static str, source: Source, trust: Trust, who: &'static str) -> Row {
    Row { channel, name, source, trust, who }
}

impl Channel {
    /// This channel's row.
    pub const fn row(self) -> &'static Row {
        // The table lists the channels in the order of the enum; the test below holds it to that.
        &TABLE[self as usize]
    }

    /// The trust this channel gives.
    pub const fn trust(self) -> Trust {
        self.row().trust
    }

    /// The source recorded for this channel.
    pub const fn source(self) -> Source {
        self.row().source
    }

    /// The channel of that name.
    pub fn named(name: &str) -> Option<Channel> {
        TABLE.iter().find(|r| r.name == name).map(|r| r.channel)
    }
}

impl Trust {
    /// The level of that name.
    pub fn named(name: &str) -> Option<Trust> {
        [Trust::High, Trust::Medium, Trust::Low].into_iter().find(|trust| trust.name() == name)
    }

    /// `high`, `medium`, `low`.
    pub const fn name(self) -> &'static str {
        match self {
            Trust::High => "high",
            Trust::Medium => "medium",
            Trust::Low => "low",
        }
    }
}

impl Source {
    /// The name stored with a memory.
    pub const fn name(self) -> &'static str {
        match self {
            Source::ExplicitSave => "explicit_save",
            Source::UserMessage => "user_message",
            Source::ToolOutput => "tool_output",
            Source::AiInference => "ai_inference",
            Source::Repository => "repository",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_channel_finds_its_own_row() {
        for row in TABLE {
            assert_eq!(row.channel.row().channel, row.channel);
            assert_eq!(Channel::named(row.name), Some(row.channel));
        }
    }

    #[test]
    fn an_agent_is_never_trusted_like_a_person() {
        assert!(Channel::Agent.trust() < Channel::Repository.trust());
        assert!(Channel::Repository.trust() < Channel::Person.trust());
    }
}

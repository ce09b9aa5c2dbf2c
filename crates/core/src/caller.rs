//! The caller: who acts, through which channel, and what they may see.
//!
//! Comes in: what a door found out (the account, a token and its scopes, whether a person is there). Goes out: a [`Caller`], made once per
//! call by the door and handed to every verb. Never here: finding any of it out, or deciding what a caller may do; that is
//! [`crate::authority`].

use crate::{Audience, Channel};
use serde::{Deserialize, Serialize};

/// What a token may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    /// Look at memories.
    Read,
    /// Save and change them.
    Write,
    /// Remove them for good.
    Delete,
    /// Have facts stored at once, labelled as the program's own.
    Facts,
    /// Look after users and tokens.
    Admin,
    /// The daily work of a server: expire, embed again, count.
    Upkeep,
}

/// Every grant, in the order of their names on paper.
pub const GRANTS: [Grant; 6] =
    [Grant::Read, Grant::Write, Grant::Delete, Grant::Facts, Grant::Admin, Grant::Upkeep];

impl Grant {
    /// The name in `--scope` and in stores.
    pub const fn name(self) -> &'static str {
        match self {
            Grant::Read => "read",
            Grant::Write => "write",
            Grant::Delete => "delete",
            Grant::Facts => "facts",
            Grant::Admin => "admin",
            Grant::Upkeep => "upkeep",
        }
    }

    /// The grant of that name.
    pub fn named(name: &str) -> Option<Grant> {
        GRANTS.into_iter().find(|grant| grant.name() == name)
    }
}

/// A set of grants: the scopes of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scopes(u8);

impl Scopes {
    /// Nothing at all.
    pub const NONE: Scopes = Scopes(0);
    /// What a token has unless somebody said more, and what those of version 0.1 have.
    pub const USUAL: Scopes = Scopes::NONE.with(Grant::Read).with(Grant::Write);
    /// Everything: an account that uses its own store without a token.
    pub const ALL: Scopes = Scopes(0b11_1111);

    /// The same and one more.
    #[must_use]
    pub const fn with(self, grant: Grant) -> Scopes {
        Scopes(self.0 | 1 << grant as u8)
    }

    /// Whether this is among them.
    pub const fn has(self, grant: Grant) -> bool {
        self.0 & 1 << grant as u8 != 0
    }

    /// Those of these that are missing here.
    #[must_use]
    pub const fn missing(self, wanted: Scopes) -> Scopes {
        Scopes(wanted.0 & !self.0)
    }

    /// Whether there are none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Reads `read,write,delete`. `Err` holds the first word that is no scope.
    pub fn parse(text: &str) -> Result<Scopes, String> {
        let mut all = Scopes::NONE;
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            all = all.with(Grant::named(word).ok_or_else(|| word.to_owned())?);
        }
        Ok(all)
    }
}

impl std::fmt::Display for Scopes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = GRANTS.into_iter().filter(|grant| self.has(*grant)).map(Grant::name).collect();
        f.write_str(&names.join(","))
    }
}

impl Serialize for Scopes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Scopes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Scopes, D::Error> {
        let text = String::deserialize(deserializer)?;
        Scopes::parse(&text).map_err(|word| serde::de::Error::custom(format!("there is no scope `{word}`")))
    }
}

/// By what somebody is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// The operating system's account.
    Account(String),
    /// Whoever holds this token; `id` names the token without giving it away.
    Token {
        /// The user it was given to.
        user: String,
        /// The first digits of its hash.
        id: String,
    },
    /// A token was given and nobody has it: files may be read, nothing of a user's.
    Nobody,
}

/// Who acts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    who: Who,
    channel: Channel,
    agent: Option<String>,
    scopes: Scopes,
    sees: Audience,
    checked: bool,
    gives_ids: bool,
}

impl Caller {
    /// A person who uses an account of the operating system.
    pub fn person(account: &str) -> Caller {
        Caller {
            who: Who::Account(account.to_owned()),
            channel: Channel::Person,
            agent: None,
            scopes: Scopes::ALL,
            sees: Audience::person(),
            checked: false,
            gives_ids: false,
        }
    }

    /// Any other process of an account: an agent, a hook, a script. It sees what every agent is shown.
    pub fn process(account: &str) -> Caller {
        Caller {
            who: Who::Account(account.to_owned()),
            channel: Channel::Agent,
            agent: None,
            // The daily upkeep acts by the user's settings; it is nobody's wish.
            scopes: Scopes::USUAL.with(Grant::Upkeep),
            sees: Audience::of(vec![crate::settings::SHARED.to_owned()]),
            checked: false,
            gives_ids: false,
        }
    }

    /// The same caller, known by a token, whose scopes limit what it may do.
    #[must_use]
    pub fn known_by(mut self, who: Who, scopes: Scopes) -> Caller {
        self.who = who;
        self.scopes = scopes;
        self
    }

    /// The same caller as this agent, who sees these scopes of the vault.
    #[must_use]
    pub fn as_agent(mut self, agent: Option<&str>, sees: Audience) -> Caller {
        self.agent = agent.map(str::to_owned);
        self.sees = sees;
        self
    }

    /// The same caller, who has shown to be the person by what [`crate::settings::PersonCheck`] asks for.
    #[must_use]
    pub fn checked(mut self) -> Caller {
        self.checked = true;
        self
    }

    /// The same caller, through a door where every memory is named by its whole id: nobody there sees what a part would stand for.
    #[must_use]
    pub fn by_ids(mut self) -> Caller {
        self.gives_ids = true;
        self
    }

    /// Whether this caller names memories by whole ids only.
    pub fn gives_ids(&self) -> bool {
        self.gives_ids
    }

    /// Whether the person was checked.
    pub fn is_checked(&self) -> bool {
        self.checked
    }

    /// By what the caller is known.
    pub fn who(&self) -> &Who {
        &self.who
    }

    /// How what the caller writes arrives.
    pub fn channel(&self) -> Channel {
        self.channel
    }

    /// The agent, if one says its name.
    pub fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// What the caller's token allows.
    pub fn scopes(&self) -> Scopes {
        self.scopes
    }

    /// What the caller is shown.
    pub fn sees(&self) -> &Audience {
        &self.sees
    }

    /// Whether a person acts.
    pub fn is_person(&self) -> bool {
        self.channel == Channel::Person
    }

    /// How the audit names the caller: the account or the token's user and id, then the agent.
    pub fn shown(&self) -> String {
        let who = match &self.who {
            Who::Account(account) => format!("account:{account}"),
            Who::Token { user, id } => format!("token:{user}/{id}"),
            Who::Nobody => "nobody".to_owned(),
        };
        self.agent.as_ref().map_or(who.clone(), |agent| format!("{who} agent:{agent}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_read_as_they_are_written() {
        let scopes = Scopes::USUAL.with(Grant::Facts);
        assert_eq!(scopes.to_string(), "read,write,facts");
        assert_eq!(Scopes::parse(" facts , read,write"), Ok(scopes));
        assert_eq!(Scopes::parse("read,everything"), Err("everything".to_owned()));
        assert_eq!(Scopes::parse(""), Ok(Scopes::NONE));
        assert_eq!(GRANTS.into_iter().fold(Scopes::NONE, Scopes::with), Scopes::ALL);
        assert_eq!(Scopes::USUAL.missing(scopes), Scopes::NONE.with(Grant::Facts));
        assert!(scopes.missing(Scopes::USUAL).is_empty());
    }

    #[test]
    fn a_token_never_makes_anybody_a_person() {
        let token = Who::Token { user: "ana".into(), id: "ab12".into() };
        assert!(!Caller::process("ana").known_by(token.clone(), Scopes::ALL).is_person());
        assert_eq!(
            Caller::process("ana")
                .known_by(token, Scopes::USUAL)
                .as_agent(Some("codex"), Audience::of(vec![]))
                .shown(),
            "token:ana/ab12 agent:codex"
        );
    }
}

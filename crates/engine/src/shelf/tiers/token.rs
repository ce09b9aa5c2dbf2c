//! Tokens: what somebody without an account of this machine acts by, and what each of them may.
//!
//! Comes in: random bytes from the door, whose token it is to be, its scopes and its end. Goes out: the token, once, and a [`Token`] for the
//! store. A user has any number of them, told apart by name; the one without a name is the usual one. A new token ends the older one of its
//! name, so that making it anew ends a leak. Never here: a token that is kept; stores hold hashes.

use super::{TierStore, UserContext};
use crate::project::World;
use heirloom_core::{Code, Fault, Scopes, fault::Result, hash, time};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// How many digits of its hash name a token.
const ID: usize = 8;

/// The longest name of a token.
const LONGEST: usize = 60;

/// The longest life of a token that has an end, in days.
pub const MOST_DAYS: u32 = 3_650;

/// A token as stores keep it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// SHA-256 of it.
    pub hash: String,
    /// Whose it is.
    pub user: String,
    /// Its name among the user's tokens; empty for the usual one.
    #[serde(default)]
    pub name: String,
    /// What it may.
    pub scopes: Scopes,
    /// When it was made.
    pub added_at: String,
    /// From when on it is nobody's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// The hour in which it was last used. Stores keep it beside the token.
    #[serde(skip)]
    pub used_at: Option<String>,
}

/// What a new token is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// Its name; empty for the usual one.
    pub name: String,
    /// What it may.
    pub scopes: Scopes,
    /// After how many days it ends; never, if none is given.
    pub days: Option<u32>,
    /// The same in hours, instead of days.
    pub hours: Option<u32>,
}

impl Default for Terms {
    fn default() -> Terms {
        Terms { name: String::new(), scopes: Scopes::USUAL, days: None, hours: None }
    }
}

impl Token {
    /// The token of an account of version 0.1: without a name, for reading and writing.
    pub fn of_account(account: &super::Account) -> Option<Token> {
        Some(Token {
            hash: account.token_hash.clone()?,
            user: account.user.clone(),
            name: String::new(),
            scopes: Scopes::USUAL,
            added_at: account.added_at.clone(),
            expires_at: None,
            used_at: None,
        })
    }

    /// What names it without giving it away.
    pub fn id(&self) -> &str {
        self.hash.get(..ID).unwrap_or(&self.hash)
    }

    /// The day it ended, if it has. An end that cannot be read has come.
    pub fn ended(&self, now: Timestamp) -> Option<&str> {
        let end = self.expires_at.as_deref()?;
        let over = time::parse(end).is_none_or(|end| end <= now);
        over.then(|| end.split('T').next().unwrap_or(end))
    }

    /// The command that makes one like it.
    pub(super) fn made_by(&self) -> String {
        let mut command = format!("heirloom user token {}", self.user);
        if self.scopes != Scopes::USUAL {
            command.push_str(&format!(" --scope {}", self.scopes));
        }
        if !self.name.is_empty() {
            command.push_str(&format!(" --name {}", self.name));
        }
        command
    }
}

/// A token made of random bytes, which the door brings.
pub fn new(random: &[u8; 32]) -> String {
    format!("hlm_{}", hash::sha256(random))
}

/// Gives a user a token in the place of the one of the same name. Whoever acts by a token hands on no more than it may itself.
pub fn give(
    store: &dyn TierStore,
    who: &UserContext,
    user: &str,
    given: &str,
    terms: &Terms,
    world: &World,
) -> Result<Token> {
    who.manages()?;
    if terms.scopes.is_empty() {
        return Err(
            Fault::new(Code::Usage, "a token needs at least one scope").hint("name some: --scope read,write")
        );
    }
    if let Some((_, own)) = who.token() {
        let more = own.missing(terms.scopes);
        if !more.is_empty() {
            return Err(Fault::new(Code::Security, format!("this token lacks the scope `{more}`, so it cannot give it"))
                .hint(format!(
                    "a person does it in a terminal, without HEIRLOOM_TOKEN: heirloom user token {user} --scope {}",
                    terms.scopes
                )));
        }
    }
    let token = Token {
        hash: hash_of(given),
        user: user.to_owned(),
        name: named(&terms.name)?,
        scopes: terms.scopes,
        added_at: time::format(world.now),
        expires_at: end(world.now, terms)?,
        used_at: None,
    };
    store.put_token(who, &token)?;
    Ok(token)
}

fn end(now: Timestamp, terms: &Terms) -> Result<Option<String>> {
    const MOST_HOURS: i64 = 24 * MOST_DAYS as i64;
    let (hours, said) = match (terms.hours, terms.days) {
        (None, None) => return Ok(None),
        (Some(hours), None) => (i64::from(hours), format!("{hours} hours")),
        (None, Some(days)) => (24 * i64::from(days), format!("{days} days")),
        (Some(_), Some(_)) => {
            return Err(Fault::new(Code::Usage, "a token lasts for days or for hours, not both")
                .hint("leave one of them out"));
        }
    };
    let wrong = || {
        Fault::new(Code::Usage, format!("a token cannot last {said}"))
            .hint(format!("use 1 hour to {MOST_DAYS} days, or leave it out for a token without an end"))
    };
    if !(1..=MOST_HOURS).contains(&hours) {
        return Err(wrong());
    }
    let end = now.checked_add(jiff::SignedDuration::from_hours(hours)).map_err(|_| wrong())?;
    Ok(Some(time::format(end)))
}

/// A name that is plain on a command line, or none.
pub(crate) fn named(name: &str) -> Result<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.len() <= LONGEST && name.chars().all(plain) && !name.starts_with('-') {
        return Ok(name.to_owned());
    }
    Err(Fault::new(Code::Usage, "this cannot be a token's name")
        .hint(format!("use up to {LONGEST} letters, digits, dots, hyphens and underscores")))
}

/// The hash a token is kept by.
pub fn hash_of(token: &str) -> String {
    hash::sha256(format!("heirloom token\0{}", token.trim()).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_that_cannot_be_read_has_come() {
        let now = time::parse("2026-03-01T12:00:00Z").unwrap();
        let days = |days| end(now, &Terms { days: Some(days), ..Terms::default() });
        let hours = |hours| end(now, &Terms { hours: Some(hours), ..Terms::default() });
        let mut token = Token {
            hash: hash_of("x"),
            user: "ana".into(),
            name: "ci".into(),
            scopes: Scopes::USUAL,
            added_at: String::new(),
            expires_at: days(1).unwrap(),
            used_at: None,
        };
        assert_eq!(token.ended(now), None);
        assert_eq!(token.ended(time::parse("2026-03-02T12:00:00Z").unwrap()), Some("2026-03-02"));
        token.expires_at = Some("soon".into());
        assert!(token.ended(now).is_some());
        assert_eq!(token.made_by(), "heirloom user token ana --name ci");
        assert_eq!(hours(24).unwrap(), days(1).unwrap());
        assert!(days(0).is_err() && days(u32::MAX).is_err() && hours(0).is_err() && hours(u32::MAX).is_err());
        assert!(end(now, &Terms { days: Some(1), hours: Some(1), ..Terms::default() }).is_err());
    }

    #[test]
    fn a_tokens_name_is_plain() {
        for name in ["", "ci", "laptop-2.home_x"] {
            assert_eq!(named(name).unwrap(), name);
        }
        for name in ["a b", "../x", "-x", "é", "a/b"] {
            assert!(named(name).is_err(), "{name}");
        }
    }
}

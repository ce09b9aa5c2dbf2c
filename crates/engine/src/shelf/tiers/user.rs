//! Who is asking: a user context that only authentication makes.
//!
//! Comes in: the operating system's account, or a token. Goes out: a [`UserContext`], without which no call of a [`super::TierStore`] can be
//! written down. Never here: a user named by an argument.

use super::{TierStore, Token, token};
use crate::project::World;
use heirloom_core::{Code, Fault, Grant, Scopes, fault::Result, hash, time};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The longest user name.
const LONGEST: usize = 128;

/// The user in whose name a deployment does what nobody asked for.
pub const SYSTEM: &str = "system";

/// An authenticated user. Its fields are private and only this file fills them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserContext {
    user: String,
    keeper: bool,
    token: Option<Held>,
    /// The trace of the request it acts for.
    trace: Option<String>,
}

/// The token a context was made by. A shared database checks it again in every transaction, so the token itself is kept; nothing prints it.
#[derive(Clone, PartialEq, Eq)]
struct Held {
    id: String,
    scopes: Scopes,
    secret: String,
}

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Held").field("id", &self.id).field("scopes", &self.scopes).finish_non_exhaustive()
    }
}

/// A known user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// The name.
    pub user: String,
    /// When it was added.
    pub added_at: String,
    /// SHA-256 of the token that version 0.1 gave out, if there is one: the user's token without a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_hash: Option<String>,
}

impl UserContext {
    /// The operating system's account, which the door found out.
    pub fn by_account(world: &World) -> Result<UserContext> {
        Ok(UserContext { user: checked(&world.user)?, keeper: true, token: None, trace: None })
    }

    /// The user a token was given to, if it still counts.
    pub fn by_token(store: &dyn TierStore, given: &str, now: Timestamp) -> Result<UserContext> {
        let wanted = token::hash_of(given);
        // The hash finds the token; whether it is the one is decided without saying by the time it takes how near it came.
        let found: Option<Token> =
            store.sign_in(given.trim(), &hour_of(now), now)?.filter(|found| hash::same(&found.hash, &wanted));
        let found = found.ok_or_else(|| Fault::new(Code::Unauthenticated, "this token is not valid"))?;
        if let Some(ended) = found.ended(now) {
            return Err(Fault::new(Code::Unauthenticated, format!("this token ended on {ended}"))
                .fact("token", found.id())
                .hint(format!("a person makes a new one: {}", found.made_by())));
        }
        let token = Held { id: found.id().to_owned(), scopes: found.scopes, secret: given.trim().to_owned() };
        Ok(UserContext { user: found.user, keeper: false, token: Some(token), trace: None })
    }

    /// Another user of the deployment, for the upkeep and whole-deployment archives that its keeper runs. A context made by a token
    /// leads to nobody else, unless the token looks after users.
    pub fn on_behalf(&self, user: &str) -> Result<UserContext> {
        self.manages()?;
        let (token, trace) = (self.token.clone(), self.trace.clone());
        Ok(UserContext { user: checked(user)?, keeper: false, token, trace })
    }

    /// The same as part of a trace, by the 32 hex digits of its id; anything else is left out.
    #[must_use]
    pub fn traced(mut self, trace: Option<&str>) -> UserContext {
        let is_id = |id: &&str| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        self.trace = trace.filter(is_id).map(str::to_ascii_lowercase);
        self
    }

    /// The trace it is part of.
    pub fn trace(&self) -> Option<&str> {
        self.trace.as_deref()
    }

    /// Another user, for the daily work: the deployment's keeper does it, or a token that was made for it.
    pub(super) fn for_upkeep(&self, user: &str) -> Result<UserContext> {
        if !self.keeps_up() {
            self.manages()?;
        }
        let (token, trace) = (self.token.clone(), self.trace.clone());
        Ok(UserContext { user: checked(user)?, keeper: false, token, trace })
    }

    /// The deployment itself, for what its keeper's upkeep does in nobody's name.
    pub(super) fn system(keeper: &UserContext) -> Result<UserContext> {
        let mut system = keeper.for_upkeep("nobody")?;
        system.user = SYSTEM.to_owned();
        Ok(system)
    }

    /// The user's name.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// The id of the token it was made by, and what that may.
    pub fn token(&self) -> Option<(&str, Scopes)> {
        self.token.as_ref().map(|held| (held.id.as_str(), held.scopes))
    }

    /// The token itself, for a database that checks it in every transaction.
    pub fn secret(&self) -> Option<&str> {
        self.token.as_ref().map(|held| held.secret.as_str())
    }

    /// Whether the daily work of the whole deployment is this context's: its keeper's, or that of a token with the scope `upkeep`.
    pub fn keeps_up(&self) -> bool {
        self.keeper || self.token().is_some_and(|(_, scopes)| scopes.has(Grant::Upkeep))
    }

    /// Refuses whoever neither keeps the deployment nor has a token that looks after its users.
    pub fn manages(&self) -> Result<()> {
        if self.keeper || self.token().is_some_and(|(_, scopes)| scopes.has(Grant::Admin)) {
            return Ok(());
        }
        Err(Fault::new(Code::Security, "only the account that owns this store can do this").hint(
            "use a token with the scope `admin`; for SQLite in your own data folder, run it without a token",
        ))
    }

    /// Whether this is the account that keeps the deployment.
    pub fn is_keeper(&self) -> bool {
        self.keeper
    }

    /// Six digits that every id of this user carries, so that an id of somebody else is known without looking for it.
    pub fn tag(&self) -> String {
        hash::sha256(format!("heirloom user\0{}", self.user).as_bytes())[..6].to_owned()
    }

    /// Refuses what belongs to somebody else.
    pub fn owns(&self, user: &str) -> Result<()> {
        if user == self.user {
            return Ok(());
        }
        Err(Fault::new(Code::Security, "cannot touch another user's memory")
            .hint("act as that user, with that user's token"))
    }
}

/// The hour of a moment, as tokens keep when they were last used: who looks at it learns no more than that.
fn hour_of(now: Timestamp) -> String {
    let mut hour = time::format(now);
    hour.replace_range(13.., ":00:00Z");
    hour
}

/// Adds a user. Says whether the user is new.
pub fn put(store: &dyn TierStore, who: &UserContext, user: &str, world: &World) -> Result<(Account, bool)> {
    let user = checked(user)?;
    who.manages()?;
    if let Some(known) = store.accounts(who)?.into_iter().find(|account| account.user == user) {
        return Ok((known, false));
    }
    let account = Account { added_at: time::format(world.now), token_hash: None, user };
    store.put_account(who, &account)?;
    Ok((account, true))
}

/// A name that a user can have.
pub fn checked(user: &str) -> Result<String> {
    let unseen = |c: char| c.is_control() || heirloom_core::text::is_invisible(c);
    let plain = !user.is_empty() && user.len() <= LONGEST && user.trim() == user && !user.chars().any(unseen);
    if plain && user != SYSTEM {
        return Ok(user.to_owned());
    }
    Err(Fault::new(Code::Usage, "this cannot be a user's name")
        .hint(format!("use 1 to {LONGEST} visible characters, and not `{SYSTEM}`")))
}

//! Who is asking: a user context that only authentication makes.
//!
//! Comes in: the operating system's account, or a token. Goes out: a [`UserContext`], without which no call of a [`super::TierStore`] can be
//! written down. Never here: a user named by an argument. Tokens are shown once and kept as hashes.

use super::TierStore;
use crate::project::World;
use heirloom_core::{Code, Fault, fault::Result, hash, time};
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
}

/// A known user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// The name.
    pub user: String,
    /// When it was added.
    pub added_at: String,
    /// SHA-256 of the token, if one was given out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_hash: Option<String>,
}

impl UserContext {
    /// The operating system's account, which the door found out.
    pub fn by_account(world: &World) -> Result<UserContext> {
        Ok(UserContext { user: checked(&world.user)?, keeper: true })
    }

    /// The user a token was given to.
    pub fn by_token(store: &dyn TierStore, token: &str) -> Result<UserContext> {
        let wanted = token_hash(token);
        // All hashes are compared, so that the time says nothing about which one was near.
        let mut found = None;
        for account in store.accounts()? {
            if account.token_hash.as_deref().is_some_and(|stored| same(stored, &wanted)) {
                found = Some(account.user);
            }
        }
        let user = found.ok_or_else(|| Fault::new(Code::Unauthenticated, "this token belongs to nobody"))?;
        Ok(UserContext { user, keeper: false })
    }

    /// Another user of the deployment, for the upkeep and whole-deployment archives that its keeper runs. A context made by a token
    /// leads to nobody else.
    pub fn on_behalf(&self, user: &str) -> Result<UserContext> {
        self.keeps()?;
        Ok(UserContext { user: checked(user)?, keeper: false })
    }

    /// The deployment itself, for what its keeper's upkeep does in nobody's name.
    pub(super) fn system(keeper: &UserContext) -> Result<UserContext> {
        let mut system = keeper.on_behalf("nobody")?;
        system.user = SYSTEM.to_owned();
        Ok(system)
    }

    /// The user's name.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// Refuses whoever does not keep the deployment.
    pub fn keeps(&self) -> Result<()> {
        if self.keeper {
            return Ok(());
        }
        Err(Fault::new(Code::Security, "only the account that keeps this deployment can do this")
            .hint("run it without a token, under the account that owns the data folder"))
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

/// Adds a user, or gives a known one a new token if `token` is given. The token itself is kept nowhere. Says whether the user is new.
pub fn put(
    store: &dyn TierStore,
    who: &UserContext,
    user: &str,
    token: Option<&str>,
    world: &World,
) -> Result<(Account, bool)> {
    if !who.keeper && who.user != user {
        who.owns(user)?;
    }
    let user = checked(user)?;
    let known = store.accounts()?.into_iter().find(|account| account.user == user);
    let fresh = known.is_none();
    let account = Account {
        added_at: known.as_ref().map_or_else(|| time::format(world.now), |account| account.added_at.clone()),
        token_hash: token.map(token_hash).or_else(|| known.and_then(|account| account.token_hash)),
        user,
    };
    store.put_account(&account)?;
    Ok((account, fresh))
}

/// A token made of random bytes, which the door brings.
pub fn new_token(random: &[u8; 32]) -> String {
    format!("hlm_{}", hash::sha256(random))
}

fn token_hash(token: &str) -> String {
    hash::sha256(format!("heirloom token\0{}", token.trim()).as_bytes())
}

fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |seen, (x, y)| seen | (x ^ y)) == 0
}

fn checked(user: &str) -> Result<String> {
    let unseen = |c: char| c.is_control() || heirloom_core::text::is_invisible(c);
    let plain = !user.is_empty() && user.len() <= LONGEST && user.trim() == user && !user.chars().any(unseen);
    if plain && user != SYSTEM {
        return Ok(user.to_owned());
    }
    Err(Fault::new(Code::Usage, "this cannot be a user's name")
        .hint(format!("use 1 to {LONGEST} visible characters, and not `{SYSTEM}`")))
}

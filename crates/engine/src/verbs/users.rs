//! Users and tokens: who may use this deployment's tiers, and by what.
//!
//! Comes in: a user's name, and for a token what it may and for how long. Goes out: what there is now; a new token is in the answer once and
//! nowhere else. Whatever changes is in the audit of whoever asked for it before it is done. Never here: a user that an argument made of somebody.

use crate::call::Call;
use crate::shelf::tiers::{
    Account, Terms, Tiers, Token, give_token, new_token, put_user, token_hash, user_name,
};
use heirloom_core::{Code, Fault, Owner, Scopes, ShelfName, Verb, fault::Result};
use serde::{Deserialize, Serialize};

/// A user to be added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddUser {
    /// The name.
    pub user: String,
}

/// A user that is there now.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct AddedUser {
    /// `added` or `known`.
    #[schemars(extend("enum" = ["added", "known"]))]
    pub status: &'static str,
    /// The name.
    pub user: String,
}

/// A token to be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MakeToken {
    /// Whose it is to be.
    pub user: String,
    /// Its name among the user's tokens; the usual one has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it may; to read and to write, if nothing else is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Scopes>,
    /// After how many days it ends; never, if none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days: Option<u32>,
    /// The same in hours, instead of days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours: Option<u32>,
}

/// A token that was made.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct MadeToken {
    /// Whose it is.
    pub user: String,
    /// The token itself.
    pub token: String,
    /// What is known of it from now on.
    #[serde(flatten)]
    pub about: TokenShown,
}

/// What is shown of a token.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct TokenShown {
    /// What names it in the audit.
    pub id: String,
    /// Its name among the user's tokens.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What it may.
    #[schemars(with = "String")]
    pub scopes: Scopes,
    /// When it was made.
    pub added_at: String,
    /// From when on it is nobody's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// The hour in which it was last used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_at: Option<String>,
}

impl TokenShown {
    fn of(token: &Token) -> TokenShown {
        TokenShown {
            id: token.id().to_owned(),
            name: token.name.clone(),
            scopes: token.scopes,
            added_at: token.added_at.clone(),
            expires_at: token.expires_at.clone(),
            used_at: token.used_at.clone(),
        }
    }
}

/// A token to be taken away.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RevokeToken {
    /// Whose it is.
    pub user: String,
    /// Its name; the usual one has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A token that is nobody's any more.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct RevokedToken {
    /// Always `revoked`.
    #[schemars(extend("enum" = ["revoked"]))]
    pub status: &'static str,
    /// Whose it was.
    pub user: String,
    /// Its name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
}

/// A user to be removed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemoveUser {
    /// The name.
    pub user: String,
    /// Rewrite what other users' rows are in as well, so that nothing is left in files the store can reach.
    #[serde(default)]
    pub shred: bool,
    /// Only say what would go.
    #[serde(default)]
    pub dry_run: bool,
}

/// A user that is gone.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct RemovedUser {
    /// `removed`, or `would_remove`.
    #[schemars(extend("enum" = ["removed", "would_remove"]))]
    pub status: &'static str,
    /// The name.
    pub user: String,
    /// How many turns and facts they had.
    pub memories: u64,
    /// How many tokens.
    pub tokens: usize,
    /// Places this machine cannot reach, a line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreached: Vec<String>,
}

/// A user as the list shows them.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct UserShown {
    /// The name.
    pub user: String,
    /// When they were added.
    pub added_at: String,
    /// Whether they have a token.
    pub has_token: bool,
    /// Their tokens, for themselves and for whoever looks after users.
    pub tokens: Vec<TokenShown>,
}

/// The first token of a shared store, for the operator who sets it up: the user's name, the token itself, and the hash that is stored.
pub fn first_token(user: &str, random: &[u8; 32]) -> Result<(String, String, String)> {
    let token = new_token(random);
    let hash = token_hash(&token);
    Ok((user_name(user)?, token, hash))
}

/// All users.
pub fn list(call: &Call) -> Result<Vec<UserShown>> {
    super::asked(call, Verb::UserList, ShelfName::Tiers, Owner::Nobody)?;
    let tiers = call.tiers()?;
    let tokens = tiers.store().tokens(tiers.who(), None)?;
    let everybody = tiers.who().manages().is_ok();
    let shown = |account: Account| {
        let of: Vec<&Token> = tokens.iter().filter(|token| token.user == account.user).collect();
        let looks = everybody || account.user == tiers.who().user();
        UserShown {
            has_token: !of.is_empty(),
            tokens: of.into_iter().filter(|_| looks).map(TokenShown::of).collect(),
            user: account.user,
            added_at: account.added_at,
        }
    };
    Ok(tiers.store().accounts(tiers.who())?.into_iter().map(shown).collect())
}

/// One of them, with their tokens.
pub fn one(call: &Call, user: &str) -> Result<UserShown> {
    list(call)?.into_iter().find(|shown| shown.user == user).ok_or_else(|| unknown(user))
}

/// Adds a user.
pub fn add(call: &Call, ask: &AddUser) -> Result<AddedUser> {
    call.permit(Verb::UserAdd, ShelfName::Tiers, "")?;
    call.screen().plain("user", &ask.user)?;
    let tiers = call.tiers()?;
    let known = is_known(&tiers, &ask.user)?;
    if !known {
        tiers.account_changes(Verb::UserAdd, &format!("user {}", shown_name(&ask.user)))?;
    }
    let (account, fresh) = put_user(tiers.store(), tiers.who(), &ask.user, call.project().world())?;
    Ok(AddedUser { status: if fresh { "added" } else { "known" }, user: account.user })
}

/// Makes a token, in the place of the one of its name. Whoever holds it is its user, so no program makes one unless a person said it may.
pub fn token(call: &Call, ask: &MakeToken) -> Result<MadeToken> {
    call.permit(Verb::UserToken, ShelfName::Tiers, "")?;
    call.screen().plain("user", &ask.user)?;
    call.screen().plain("name", ask.name.as_deref().unwrap_or_default())?;
    let tiers = call.tiers()?;
    let own = tiers.who().is_keeper() && ask.user == tiers.who().user();
    if !is_known(&tiers, &ask.user)? && !own {
        return Err(unknown(&ask.user));
    }
    let terms = Terms {
        name: ask.name.clone().unwrap_or_default(),
        scopes: ask.scopes.unwrap_or(Scopes::USUAL),
        days: ask.days,
        hours: ask.hours,
    };
    let made = new_token(&call.random()?);
    tiers.account_changes(
        Verb::UserToken,
        &format!("token of {} for {}", shown_name(&ask.user), terms.scopes),
    )?;
    if own {
        // An account of this machine is no stranger to its own store.
        put_user(tiers.store(), tiers.who(), &ask.user, call.project().world())?;
    }
    let world = call.project().world();
    let token = give_token(tiers.store(), tiers.who(), &ask.user, &made, &terms, world)?;
    Ok(MadeToken { user: ask.user.clone(), token: made, about: TokenShown::of(&token) })
}

/// Takes a token away.
pub fn revoke(call: &Call, ask: &RevokeToken) -> Result<RevokedToken> {
    call.permit(Verb::UserToken, ShelfName::Tiers, "")?;
    call.screen().plain("user", &ask.user)?;
    let tiers = call.tiers()?;
    tiers.who().manages()?;
    if !is_known(&tiers, &ask.user)? {
        return Err(unknown(&ask.user));
    }
    let name = ask.name.clone().unwrap_or_default();
    let theirs = tiers.store().tokens(tiers.who(), Some(&ask.user))?;
    let found = theirs.iter().find(|token| token.name == name);
    let Some(found) = found else {
        let named = if name.is_empty() { "without a name".to_owned() } else { format!("`{name}`") };
        return Err(Fault::new(Code::NotFound, format!("`{}` has no token {named}", ask.user))
            .hint("`heirloom user list` shows all tokens"));
    };
    // What a token may not hand out it may not take away either: it would lock out those who may more.
    if let Some((_, own)) = tiers.who().token()
        && !own.missing(found.scopes).is_empty()
    {
        return Err(Fault::new(Code::Security, "this token has fewer scopes than the one it would revoke")
            .hint("a person revokes it in a terminal, without HEIRLOOM_TOKEN"));
    }
    let what = format!("token {} of {} revoked", found.id(), shown_name(&ask.user));
    tiers.account_changes(Verb::UserToken, &what)?;
    tiers.store().remove_token(tiers.who(), &ask.user, &name)?;
    Ok(RevokedToken { status: "revoked", user: ask.user.clone(), name })
}

/// Removes a user and all that is theirs: memories, what waits, what could be taken back, audit, tokens, account. It cannot be undone.
pub fn remove(call: &Call, ask: &RemoveUser) -> Result<RemovedUser> {
    call.permit(Verb::UserRemove, ShelfName::Tiers, "")?;
    let tiers = call.tiers()?;
    tiers.who().manages()?;
    if ask.user == tiers.who().user() {
        return Err(Fault::new(Code::Usage, "you cannot remove the user you act as")
            .hint("`heirloom clear all` removes everything of yours"));
    }
    if !is_known(&tiers, &ask.user)? {
        return Err(unknown(&ask.user));
    }
    let tokens = tiers.store().tokens(tiers.who(), Some(&ask.user))?;
    if let Some((_, own)) = tiers.who().token()
        && tokens.iter().any(|token| !own.missing(token.scopes).is_empty())
    {
        return Err(Fault::new(
            Code::Security,
            "this token has fewer scopes than those of the user it would remove",
        )
        .hint(format!(
            "a person does it in a terminal, without HEIRLOOM_TOKEN: heirloom user remove {}",
            ask.user
        )));
    }
    let memories = tiers.counts_of(&ask.user)?;
    let mut removed = RemovedUser {
        status: "would_remove",
        user: ask.user.clone(),
        memories,
        tokens: tokens.len(),
        unreached: Vec::new(),
    };
    if ask.dry_run {
        return Ok(removed);
    }
    let name = shown_name(&ask.user);
    tiers.account_changes(Verb::UserRemove, &format!("user {name} is to be removed"))?;
    removed.unreached = tiers.remove_user(&ask.user, ask.shred)?;
    super::once::drop_user(call, &ask.user)?;
    tiers.account_changes(Verb::UserRemove, &format!("user {name} was removed"))?;
    removed.status = "removed";
    Ok(removed)
}

fn is_known(tiers: &Tiers<'_>, user: &str) -> Result<bool> {
    Ok(tiers.store().accounts(tiers.who())?.iter().any(|account| account.user == user))
}

/// A name for the audit, where nothing invisible and nothing long belongs.
fn shown_name(user: &str) -> String {
    format!("`{}`", user.chars().filter(|c| !c.is_control()).take(128).collect::<String>())
}

fn unknown(user: &str) -> Fault {
    Fault::new(Code::NotFound, format!("there is no user `{user}`"))
        .hint(format!("`heirloom user add {user}` adds one"))
}

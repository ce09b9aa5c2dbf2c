//! Invitations and the PIN of a server's page: how somebody who signs in with a token shows to be a person.
//!
//! Comes in: whose invitation, or the secret of a link with the PIN that is to be set, or a PIN that was typed. Goes out: a link that works once; the
//! PIN set; right or wrong. Each of them is in the audit of whoever did it. Never here: a PIN or a link in the audit, a message or a log; a person
//! made by anything but the PIN.

use super::asked;
use crate::call::Call;
pub use crate::pin::Answer;
use crate::pin::Pin;
use crate::shelf::tiers::{INVITE_HOURS, Invite, Taken, invite_hash, new_invite};
use heirloom_core::{Code, Fault, Owner, ShelfName, Verb, fault::Result};
use serde::{Deserialize, Serialize};

/// Somebody to be invited.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InviteUser {
    /// The user.
    pub user: String,
    /// For how many hours the link works; 24 unless somebody says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours: Option<u32>,
    /// The address of the server with the page; without it the link begins with its path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
}

/// An invitation that was made.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Invited {
    /// Always `invited`.
    #[schemars(extend("enum" = ["invited"]))]
    pub status: &'static str,
    /// The user.
    pub user: String,
    /// The link. It is in this answer once and nowhere else.
    pub link: String,
    /// From when on it no longer works.
    pub expires_at: String,
}

/// A link that was opened, and the PIN that is to be set. It has no form in which it could be printed.
#[derive(Clone, PartialEq)]
pub struct TakeInvite {
    /// The secret of the link.
    pub link: String,
    /// The new PIN.
    pub pin: String,
}

impl std::fmt::Debug for TakeInvite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TakeInvite { .. }")
    }
}

/// Makes a link by which the holder of a user's token sets a PIN. It ends the one the user had before.
pub fn invite(call: &Call, ask: &InviteUser) -> Result<Invited> {
    call.permit(Verb::UserInvite, ShelfName::Tiers, "")?;
    call.screen().plain("user", &ask.user)?;
    let server = ask.server.as_deref().map(address).transpose()?.unwrap_or_default();
    let tiers = call.tiers()?;
    tiers.who().manages()?;
    let known = tiers.store().accounts(tiers.who())?.iter().any(|account| account.user == ask.user);
    if !known {
        return Err(Fault::new(Code::NotFound, format!("there is no user `{}`", ask.user))
            .hint(format!("`heirloom user add {}` adds one", ask.user)));
    }
    let secret = new_invite(&call.random()?);
    let invite = Invite::of(&secret, &ask.user, tiers.now(), ask.hours.unwrap_or(INVITE_HOURS))?;
    let what = format!("invitation {} of `{}` until {}", invite.id(), ask.user, invite.expires_at);
    tiers.account_changes(Verb::UserInvite, &what)?;
    tiers.store().put_invite(tiers.who(), &invite)?;
    Ok(Invited {
        status: "invited",
        user: ask.user.clone(),
        link: format!("{server}/invite/{secret}"),
        expires_at: invite.expires_at,
    })
}

/// The address of a server, without a slash at its end. What is typed there goes encrypted, or stays on this machine.
fn address(text: &str) -> Result<String> {
    let text = text.trim().trim_end_matches('/');
    let plain = |rest: &str| {
        !rest.is_empty()
            && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:[]/".contains(&byte))
    };
    let local = |rest: &str| {
        let host = rest.split('/').next().unwrap_or_default();
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => host.split(':').next().unwrap_or_default(),
        };
        name == "localhost"
            || name.ends_with(".localhost")
            || name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
    };
    match text.split_once("://") {
        Some(("https", rest)) if plain(rest) => Ok(text.to_owned()),
        Some(("http", rest)) if plain(rest) && local(rest) => Ok(text.to_owned()),
        Some(("http", rest)) if plain(rest) => {
            Err(Fault::new(Code::Security, "a token and a PIN would go to this server unencrypted")
                .hint("give an https address, such as --server https://memory.example.org"))
        }
        _ => Err(Fault::new(Code::Usage, "this is not the address of a server")
            .hint("give one such as --server https://memory.example.org")),
    }
}

/// Sets the PIN of whoever asks, by a link of theirs.
pub fn take(call: &Call, ask: &TakeInvite) -> Result<()> {
    asked(call, Verb::Confirm, ShelfName::Tiers, Owner::Nobody)?;
    Pin::fits(&ask.pin)?;
    let tiers = call.tiers()?;
    let link = invite_hash(&ask.link);
    tiers.account_changes(Verb::Confirm, &format!("a PIN is to be set by invitation {}", &link[..8]))?;
    let taken = tiers.store().take_invite(tiers.who(), &link, &ask.pin, &call.random()?, tiers.now())?;
    let again = "ask the server's administrator for a new link: heirloom user invite NAME";
    let fault = match taken {
        Taken::Set => return tiers.account_changes(Verb::Confirm, "the PIN is set"),
        Taken::Unknown => {
            Fault::new(Code::NotFound, "this link was used already, or a newer one took its place")
                .hint(again)
        }
        Taken::Ended => Fault::new(Code::NotFound, "this link has expired").hint(again),
        Taken::Foreign => Fault::new(Code::Security, "this link is for another user than the token")
            .hint("sign in with the token of the user who was invited"),
    };
    Err(call.refuse(Verb::Confirm, "", fault))
}

/// Whether whoever asks has a PIN for the page.
pub fn has_pin(call: &Call) -> Result<bool> {
    let tiers = call.tiers()?;
    tiers.store().has_pin(tiers.who())
}

/// Looks whether this is the PIN of whoever asks. A wrong one and a pause are in the audit as well.
pub fn confirm(call: &Call, typed: &str) -> Result<Answer> {
    asked(call, Verb::Confirm, ShelfName::Tiers, Owner::Nobody)?;
    let tiers = call.tiers()?;
    if !has_pin(call)? {
        return Err(Fault::new(Code::NeedsPerson, "you have no PIN on this server yet")
            .hint(format!("ask its administrator for a link: heirloom user invite {}", tiers.who().user())));
    }
    match tiers.store().try_pin(tiers.who(), typed, tiers.now()) {
        Ok(answer) => {
            tiers.account_changes(Verb::Confirm, said(answer))?;
            Ok(answer)
        }
        Err(fault) => Err(call.refuse(Verb::Confirm, "", fault)),
    }
}

const fn said(answer: Answer) -> &'static str {
    match answer {
        Answer::Right => "confirmed as a person by the PIN",
        Answer::Wrong { .. } => "a wrong PIN",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_to_an_encrypted_server_or_to_this_machine() {
        for good in [
            "https://memory.example.org/",
            "https://10.0.0.5:7411",
            "http://127.0.0.1:7411",
            "http://[::1]:7",
        ] {
            assert_eq!(address(good).unwrap(), good.trim_end_matches('/'), "{good}");
        }
        assert_eq!(address("http://memory.example.org").unwrap_err().code, Code::Security);
        assert_eq!(address("http://127.0.0.1.example.org@evil").unwrap_err().code, Code::Usage);
        for bad in ["", "memory.example.org", "ftp://x", "https://", "https://a b", "javascript://x"] {
            assert_eq!(address(bad).unwrap_err().code, Code::Usage, "{bad}");
        }
    }
}

//! `user`: who may use this deployment's tiers, and by which tokens.

use crate::args::{Args, User, UserAction};
use crate::output::{Out, Table, counted};
use crate::{named, person, wiring};
use heirloom_core::code::exit;
use heirloom_core::{Code, Fault, Scopes, Verb, fault::Result};
use heirloom_engine::verbs::invite::{self, InviteUser};
use heirloom_engine::verbs::users::{
    self, AddUser, MakeToken, RemoveUser, RemovedUser, RevokeToken, UserShown,
};

pub(crate) fn run(args: &Args, call: &User, out: &Out) -> Result<u8> {
    let mut wired = wiring::wire(args)?;
    match &call.action {
        UserAction::Add { name } => {
            let added = users::add(&wired.call, &AddUser { user: name.clone() })?;
            out.answer(&added, || {
                out.line(format!("{} {}", out.style.green(added.status), added.user));
                out.say(format!("next: `heirloom user token {}` makes a token", added.user));
            });
        }
        UserAction::Token { name, label, revoke: true, .. } | UserAction::Revoke { name, label } => {
            person::checked(&mut wired, Verb::UserToken)?;
            let ask = RevokeToken { user: name.clone(), name: label.clone() };
            let revoked = users::revoke(&wired.call, &ask)?;
            out.answer(&revoked, || {
                let label =
                    if revoked.name.is_empty() { String::new() } else { format!(" {}", revoked.name) };
                out.line(format!("{} token{label} of {}", out.style.green("revoked"), revoked.user));
            });
        }
        UserAction::Token { name, list: true, .. } => {
            let user = users::one(&wired.call, name)?;
            out.answer(&user.tokens, || print(std::slice::from_ref(&user), out));
        }
        UserAction::Invite { name, server, hours } => {
            person::checked(&mut wired, Verb::UserInvite)?;
            let server = match server {
                Some(server) => Some(server.clone()),
                None => named::server()?,
            };
            let server = server.ok_or_else(|| {
                Fault::new(Code::Usage, "the server's address is missing").hint(format!(
                    "give it: heirloom user invite {name} --server https://memory.example.org, or put \"server\" into team.json"
                ))
            })?;
            let ask = InviteUser { user: name.clone(), hours: Some(*hours), server: Some(server) };
            let invited = invite::invite(&wired.call, &ask)?;
            out.answer(&invited, || {
                out.line(&invited.link);
                out.say(format!(
                    "it works once, until {}, with a token of {}",
                    invited.expires_at, invited.user
                ));
            });
        }
        UserAction::Remove { name, yes, shred, dry_run } => {
            person::checked(&mut wired, Verb::UserRemove)?;
            let mut ask = RemoveUser { user: name.clone(), shred: *shred, dry_run: true };
            let would = users::remove(&wired.call, &ask)?;
            if *dry_run {
                out.answer(&would, || out.line(told(&would, "would remove")));
                return Ok(exit::OK);
            }
            if !*yes {
                out.say("this cannot be undone");
            }
            let question = format!("{}?", told(&would, "Remove"));
            if !person::confirm(&question, *yes)? {
                out.say("nothing was removed");
                return Ok(exit::REFUSED);
            }
            ask.dry_run = false;
            let removed = users::remove(&wired.call, &ask)?;
            out.answer(&removed, || {
                out.line(told(&removed, &out.style.green("removed")));
                removed.unreached.iter().for_each(|place| out.note(place));
            });
        }
        UserAction::Token { name, scope, label, days, expires, .. } => {
            person::checked(&mut wired, Verb::UserToken)?;
            let scopes = scope.as_deref().map(scopes).transpose()?;
            let (user, label) = (name.clone(), label.clone());
            let ask = MakeToken { user, name: label, scopes, days: *days, hours: *expires };
            let made = users::token(&wired.call, &ask)?;
            out.answer(&made, || {
                out.line(&made.token);
                let until =
                    made.about.expires_at.as_deref().map_or(String::new(), |end| format!(" until {end}"));
                out.say(format!("it may {}{until}", made.about.scopes));
                out.say("it is shown only once; put it into HEIRLOOM_TOKEN");
            });
        }
        UserAction::List => {
            let all = users::list(&wired.call)?;
            let you = wired.tiers()?.who().user();
            out.answer(&all, || {
                print(&all, out);
                out.say(format!("you are {you}"));
            });
        }
    }
    Ok(exit::OK)
}

fn scopes(text: &str) -> Result<Scopes> {
    Scopes::parse(text).map_err(|word| {
        Fault::new(Code::Usage, format!("there is no scope `{word}`"))
            .hint(format!("use some of {}", Scopes::ALL))
    })
}

/// What goes with a user, in a line.
fn told(removed: &RemovedUser, word: &str) -> String {
    let (memories, tokens) = (removed.memories, removed.tokens);
    let (memories, tokens) = (counted(memories, "memory", "memories"), counted(tokens, "token", "tokens"));
    format!("{word} {} with {memories} and {tokens}", removed.user)
}

fn print(all: &[UserShown], out: &Out) {
    let mut table = Table::new(&["USER", "ADDED", "TOKEN", "MAY", "UNTIL", "USED"]);
    for user in all {
        let row = |token: &str, may: &str, until: &str, used: &str| {
            let known = vec![user.user.clone(), user.added_at.clone()];
            known.into_iter().chain([token, may, until, used].map(str::to_owned)).collect()
        };
        for token in &user.tokens {
            let name = if token.name.is_empty() { "yes" } else { &token.name };
            let until = token.expires_at.as_deref().unwrap_or("");
            let used = token.used_at.as_deref().unwrap_or("never");
            table.row(row(name, &token.scopes.to_string(), until, used));
        }
        if user.tokens.is_empty() {
            table.row(row(if user.has_token { "yes" } else { "no" }, "", "", ""));
        }
    }
    table.print(out);
}

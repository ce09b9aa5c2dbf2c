//! `user`: who may use this deployment's tiers.

use crate::args::{Args, User, UserAction};
use crate::output::{Out, Table};
use crate::{person, wiring};
use heirloom_core::code::exit;
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::shelf::tiers::{new_token, put_user};
use serde_json::{Value, json};

pub(crate) fn run(args: &Args, call: &User, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    let tiers = wired.tiers()?;
    let world = wired.call.project().world();
    match &call.action {
        UserAction::Add { name } => {
            let (account, fresh) = put_user(tiers.store(), tiers.who(), name, None, world)?;
            let status = if fresh { "added" } else { "known" };
            out.answer(&json!({ "status": status, "user": account.user }), || {
                out.line(format!("{} {}", out.style.green(status), account.user));
                out.say(format!("next: `heirloom user token {}` makes a token", account.user));
            });
        }
        UserAction::Token { name } => {
            // Whoever holds a token is its user, so no program makes one by itself.
            person::required("making a token")?;
            if !tiers.store().accounts()?.iter().any(|account| account.user == *name) {
                return Err(Fault::new(Code::NotFound, format!("there is no user `{name}`"))
                    .hint(format!("`heirloom user add {name}` adds one")));
            }
            let token = new_token(&wiring::random()?);
            put_user(tiers.store(), tiers.who(), name, Some(&token), world)?;
            out.answer(&json!({ "user": name, "token": token }), || {
                out.line(&token);
                out.say("this is shown once; use it in HEIRLOOM_TOKEN");
            });
        }
        UserAction::List => {
            let accounts = tiers.store().accounts()?;
            let told: Vec<Value> = accounts
                .iter()
                .map(|a| json!({ "user": a.user, "added_at": a.added_at, "has_token": a.token_hash.is_some() }))
                .collect();
            out.answer(&told, || {
                let mut table = Table::new(&["USER", "ADDED", "TOKEN"]);
                for account in &accounts {
                    let token = if account.token_hash.is_some() { "yes" } else { "no" };
                    table.row(vec![account.user.clone(), account.added_at.clone(), token.to_owned()]);
                }
                table.print(out);
                out.say(format!("you are {}", tiers.who().user()));
            });
        }
    }
    Ok(exit::OK)
}

//! `team`: an operator sets up and looks after a shared database.

use crate::args::{Founders, Operator, Team, TeamAction};
use crate::output::{Out, Table};
use crate::wiring::{outside, random, world};
use crate::{environment, person};
use heirloom_core::code::exit;
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::verbs::users::first_token;
use heirloom_postgres::Address;
use heirloom_postgres::team::{self, Done, Founded, Founding, MayDelete, Status};

pub(crate) fn run(call: &Team, out: &Out) -> Result<u8> {
    match &call.action {
        TeamAction::Init { founders, print_sql: true, .. } => {
            let (founding, token) = founding(founders)?;
            let script = team::Team::init_script(&founding)?;
            out.raw(format!("{script}commit;\n").as_bytes());
            out.say(format!("the token of {}: {token}", founding.user));
            out.say("it is shown once and counts when the statements were run");
        }
        TeamAction::Init { operator, founders, .. } => {
            let (founding, token) = founding(founders)?;
            let done = connected(operator, out)?.init(&founding)?;
            told(out, &done, &founding, &token);
        }
        TeamAction::Status { operator } => {
            let status = connected(operator, out)?.status()?;
            out.answer(&status, || print(&status, out));
        }
        TeamAction::Upgrade { operator, dry_run: true, .. } => {
            let needs = connected(operator, out)?.estimate()?;
            out.answer(&needs, || {
                if needs.before == Some(needs.version) {
                    return out.line("the schema is up to date; nothing would change");
                }
                if needs.rows == 0 && needs.bytes == 0 {
                    let before = needs.before.unwrap_or_default();
                    return out.line(format!(
                        "would bring schema {before} to {} in a moment; every row and token stays where it is",
                        needs.version
                    ));
                }
                out.line(format!(
                    "would copy {} rows ({} MB beside the {} MB there are) in about {:.0} s, and take over {} tokens",
                    needs.rows,
                    needs.bytes >> 20,
                    needs.bytes >> 20,
                    needs.seconds.ceil(),
                    needs.tokens
                ));
                out.line(format!("{} users with rows would get an account, without a token", needs.without_account));
            });
        }
        TeamAction::Upgrade { operator, founders, delete_for, .. } => {
            let (founding, token) = founding(founders)?;
            let team = connected(operator, out)?;
            let needs = team.estimate()?;
            let delete = may_delete(delete_for.as_deref(), needs.tokens)?;
            let done = team.upgrade(&founding, &delete)?;
            told(out, &done, &founding, &token);
        }
        TeamAction::Index { operator } => {
            let did = connected(operator, out)?.index()?;
            out.answer(&did, || did.iter().for_each(|line| out.line(line)));
        }
        TeamAction::Shred { operator } => {
            let left = connected(operator, out)?.shred()?;
            out.answer(&left, || {
                out.line(format!("{} the tables", out.style.green("rewrote")));
                left.iter().for_each(|line| out.note(line));
            });
        }
    }
    Ok(exit::OK)
}

fn connected(operator: &Operator, out: &Out) -> Result<team::Team> {
    let missing = || {
        Fault::new(Code::Usage, "the operator's database address is missing")
            .hint("set HEIRLOOM_ADMIN_URL, or give --admin-url postgres://login@host/name")
    };
    let typed = operator.admin_url.clone();
    let address = typed.clone().or_else(|| environment::text("HEIRLOOM_ADMIN_URL")).ok_or_else(missing)?;
    let address = Address::parse(&address, &outside())?;
    if typed.is_some() && address.says_password() {
        out.note("other accounts of this machine see a password on the command line: use PGPASSWORD, ~/.pgpass or HEIRLOOM_ADMIN_URL");
    }
    team::Team::at(&address)
}

/// The first administrator, and the token that is shown once.
fn founding(founders: &Founders) -> Result<(Founding, String)> {
    let world = world();
    let user = founders.user.clone().unwrap_or_else(|| world.user.clone());
    let (user, token, token_hash) = first_token(&user, &random()?)?;
    let founding = Founding {
        user,
        token_hash,
        citus: founders.citus,
        app_role: founders.app_role.clone(),
        now: world.now,
    };
    Ok((founding, token))
}

/// Which tokens of 0.1 may remove for good: said, or asked.
fn may_delete(said: Option<&str>, tokens: i64) -> Result<MayDelete> {
    let said = match said {
        Some(said) => said.to_owned(),
        None if tokens > 0 && person::is_present() => {
            let question = format!(
                "{tokens} tokens of version 0.1 may read and write. Which may also remove for good: all, none, or names?"
            );
            person::ask(&question, &question)?
        }
        None => "none".to_owned(),
    };
    Ok(match said.trim() {
        "" | "none" => MayDelete::Nobody,
        "all" => MayDelete::Everybody,
        names => MayDelete::These(names.split(',').map(|name| name.trim().to_owned()).collect()),
    })
}

fn told(out: &Out, done: &Done, founding: &Founding, token: &str) {
    let answer = Founded::of(done, &founding.user, token);
    out.answer(&answer, || {
        done.did.iter().for_each(|line| out.line(line));
        done.notes.iter().for_each(|note| out.note(note));
        if let Some(token) = answer.token {
            out.line(token);
            out.say(format!("this token of {} is shown once; use it in HEIRLOOM_TOKEN", founding.user));
            out.say("next: `heirloom user add NAME` and `heirloom user token NAME`");
        }
    });
}

fn print(status: &Status, out: &Out) {
    let version = status.version.map_or("none".to_owned(), |version| version.to_string());
    out.line(format!(
        "PostgreSQL {}, pgvector {}",
        status.server,
        status.vector.as_deref().unwrap_or("missing")
    ));
    if let Some(citus) = &status.citus {
        out.line(format!("Citus {citus}"));
    }
    out.line(format!("schema {version} (this program works with {})", status.wanted));
    if let Some(found) = &status.found {
        out.line(format!(
            "{} users, {} tokens ({} administer), {} memories, at most {} of one user",
            found.users, found.tokens, found.admins, found.memories, found.most
        ));
        for (name, dims, vectors) in &found.models {
            out.line(format!("model {name}: {dims} dimensions, {vectors} vectors"));
        }
        let mut table = Table::new(&["TABLE", "KB", "ROW-LEVEL SECURITY"]);
        for one in &found.tables {
            let guarded = if one.guarded { "forced" } else { "OFF" };
            table.row(vec![one.name.clone(), (one.bytes >> 10).to_string(), guarded.to_owned()]);
        }
        table.print(out);
    }
    status.next.iter().for_each(|next| out.say(format!("next: {next}")));
}

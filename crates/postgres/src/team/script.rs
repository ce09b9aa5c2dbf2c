//! What setting up and taking over run, as one text.
//!
//! Comes in: where pgvector lies, who is to be the first administrator, and the version whose rows are taken over. Goes out: statements of one transaction,
//! open at its end. Never here: a connection; a value that is not quoted.

use super::Founding;
use crate::schema::{LOCK, Place, named, quoted};
use heirloom_core::{Code, Fault, Scopes, fault::Result, time};
use heirloom_engine::shelf::tiers::{Action, Event, Head, Metadata};

/// How long the lock of the schema is waited for.
const LOCK_LIMIT: &str = "5s";

/// Everything in one transaction, open at its end. With `found` the rows of an older schema are taken over.
pub(super) fn script(
    place: &Place,
    database: &str,
    founding: &Founding,
    found: Option<i32>,
) -> Result<String> {
    let mut text = format!(
        "begin;\nset local lock_timeout = '{LOCK_LIMIT}';\nset local statement_timeout = 0;\nselect pg_advisory_xact_lock({LOCK});\n"
    );
    text.push_str(Place::roles());
    let vector = &place.vector;
    text.push_str(&format!("grant usage on schema {vector} to heirloom_owner, heirloom_app;\n"));
    if found.is_some() {
        text.push_str("alter schema heirloom rename to heirloom_before;\n");
    }
    text.push_str(&place.tables());
    if let Some(found) = found {
        text.push_str("reset role;\n");
        text.push_str(&Place::copied(found, &time::format(founding.now)));
        text.push_str("set local role heirloom_owner;\n");
    }
    text.push_str(Place::indexes());
    text.push_str(&place.functions());
    text.push_str(&place.policies());
    text.push_str("reset role;\n");
    if place.citus {
        text.push_str(&Place::citus(database));
    }
    if found.is_some() {
        text.push_str("drop schema heirloom_before cascade;\n");
    }
    if let Some(role) = &founding.app_role {
        let role = named(role);
        text.push_str(&format!("grant heirloom_app to {role};\n"));
        if found.is_some() {
            text.push_str(&format!(
                "revoke create on database {database} from {role};\n\
                 do $$ begin if to_regrole('heirloom_tiers') is not null then revoke heirloom_tiers from {role}; end if; end $$;\n"
            ));
        }
    }
    founded(&mut text, founding)?;
    if found.is_none() {
        first_line(&mut text, founding);
    }
    Ok(text)
}

/// From a version whose tables stay where they are, in one transaction that is open at its end.
pub(super) fn step(place: &Place, before: i32) -> String {
    format!(
        "begin;\nset local lock_timeout = '{LOCK_LIMIT}';\nset local statement_timeout = 0;\nselect pg_advisory_xact_lock({LOCK});\n{}",
        place.step(before)
    )
}

/// What the audit says of a first administrator.
pub(super) fn gave(founding: &Founding) -> String {
    format!("team: token {} of {} for {}", &founding.token_hash[..8], founding.user, Scopes::ALL)
}

/// The first administrator.
fn founded(text: &mut String, founding: &Founding) -> Result<()> {
    let (user, now) = (quoted(&founding.user), quoted(&time::format(founding.now)));
    let hash = quoted(&founding.token_hash);
    if founding.token_hash.len() != 64 {
        return Err(Fault::new(Code::Internal, "a token's hash has 64 digits"));
    }
    text.push_str(&format!(
        "insert into heirloom.account values ({user}, {now}) on conflict do nothing;\n\
         delete from heirloom.token where user_id = {user} and name = '';\n\
         insert into heirloom.token values ({hash}, {user}, '', '{{{}}}', {now}, null);\n",
        Scopes::ALL
    ));
    Ok(())
}

/// The first line of the first administrator's audit, in a database that has no other. Where there are chains already, the operator's program appends
/// to the one it is about.
fn first_line(text: &mut String, founding: &Founding) {
    let user = quoted(&founding.user);
    let metadata =
        Metadata { reason: Some(gave(founding)), by: Some("an operator".to_owned()), ..Metadata::default() };
    let line =
        Event::new(Action::AccountChange, founding.now, metadata).after(&founding.user, &Head::default());
    let metadata = quoted(&serde_json::to_string(&line.metadata).unwrap_or_default());
    text.push_str(&format!(
        "insert into heirloom.audit values ({user}, 1, {}, {}, {metadata}, {}, {});\n\
         insert into heirloom.owner (user_id, seq, hash) values ({user}, 1, {});\n",
        quoted(&line.at),
        quoted(&line.action.name()),
        quoted(&line.prev),
        quoted(&line.hash),
        quoted(&line.hash),
    ));
}

//! The rows of the table that touch no text: reading the house, keeping it, its settings. Each is driven by every caller; what the table
//! allows happens, what it refuses changes nothing, says a next step and stands in the audit.

use super::super::archive::{self as carried, ReadArchive, WriteArchive};
use super::super::config::{self, Set, Setting};
use super::super::doctor::{Doctor, doctor};
use super::super::export::{Export, files};
use super::super::import::{Import, import};
use super::super::init::{Init, init};
use super::super::invite;
use super::super::scan::{Scan, scan};
use super::super::setup::{Uninstall, may_install, uninstall};
use super::super::sync::{Sync, sync};
use super::super::upkeep::{Expire, Gc, expire, gc};
use super::super::verify::{Verify, verify};
use super::super::working::{self, Append};
use super::super::{decide, model};
use super::deeds::{Entry, entry, prepare};
use super::desk::{Desk, WHO};
use super::expected;
use crate::Call;
use heirloom_core::authority::{May, TABLE};
use heirloom_core::{Code, Owner, ShelfName, Verb, fault::Result};
use serde_json::json;

/// Which shelf the verb asks the table about.
fn shelf_of(verb: Verb) -> ShelfName {
    match verb {
        Verb::Sync => ShelfName::Topics,
        Verb::Expire | Verb::AllUsers | Verb::Resurrect | Verb::Working | Verb::Confirm => ShelfName::Tiers,
        _ => ShelfName::Records,
    }
}

fn drive(call: &Call, verb: Verb, archive: &[u8]) -> Option<Result<()>> {
    let set = |key: &str, value, user| Set { settings: vec![Setting { key: key.into(), value }], user };
    Some(match verb {
        Verb::Review => decide::list(call).map(drop),
        Verb::Verify => verify(call, &Verify { fix: false }, &[]).map(drop),
        Verb::Repair => model::remove(call).map(drop),
        Verb::Scan => {
            scan(call, &Scan { paths: vec![call.project().folder().into()], ..Scan::default() }, &mut |_| {})
                .map(drop)
        }
        Verb::Doctor => doctor(call, &Doctor::default()).map(drop),
        Verb::Export => files(call, &Export::default()).map(drop),
        Verb::ConfigShow => config::list(call).map(drop),
        Verb::ConfigSet => config::set(call, &set("retrieval.max_inject", json!(3), false)).map(drop),
        Verb::ConfigGuarded => config::set(call, &set("gate.profile", json!("seed"), true)).map(drop),
        Verb::Init => init(call, Init::default()).map(drop),
        Verb::Setup => may_install(call),
        Verb::Uninstall => {
            uninstall(call, &Uninstall { agents: vec!["codex".into()] }).map(|underway| underway.done())
        }
        Verb::Working => {
            working::append(call, &Append { session: "s".into(), messages: Vec::new() }).map(drop)
        }
        Verb::Import => import(
            call,
            &Import { paths: vec![call.project().folder().join("notes.md")], dry_run: false },
            &mut |_| {},
        )
        .map(drop),
        // Nobody here has a PIN, and only who may confirm is told so.
        Verb::Confirm => match invite::confirm(call, "0000") {
            Err(fault) if fault.message.contains("no PIN on this server") => Ok(()),
            ended => ended.map(drop),
        },
        // Here is nothing to exchange, and only who may is told so.
        Verb::Sync => match sync(call, &Sync { apply: true }) {
            Err(fault) if fault.code == Code::Config => Ok(()),
            ended => ended.map(drop),
        },
        Verb::Gc => gc(call, &Gc::default()).map(drop),
        Verb::RemoveEarly => gc(call, &Gc { grace_days: Some(0), ..Gc::default() }).map(drop),
        Verb::Expire => expire(call, &Expire::default()).map(drop),
        Verb::AllUsers => {
            carried::write(call, &WriteArchive { all_users: true, user: None }, &mut Vec::new(), &mut |_| {})
                .map(drop)
        }
        Verb::Resurrect => {
            let ask = ReadArchive { even_removed: true, ..ReadArchive::default() };
            carried::read(call, &ask, &mut { archive }, &mut |_| {}).map(drop)
        }
        _ => return None,
    })
}

/// A project with something to look at in every corner.
fn furnished() -> (Desk, Vec<u8>) {
    let desk = Desk::new();
    prepare(&desk, Verb::Show, ShelfName::Records, Owner::Person);
    prepare(&desk, Verb::Show, ShelfName::Tiers, Owner::Person);
    let person = desk.call(desk.whose("person"));
    std::fs::write(person.project().folder().join("notes.md"), "# Notes\n\n- Use PostgreSQL for carts\n")
        .unwrap();
    let mut archive = Vec::new();
    carried::write(&person, &WriteArchive::default(), &mut archive, &mut |_| {}).unwrap();
    (desk, archive)
}

#[test]
fn what_keeps_house_happens_as_the_table_says() {
    let (desk, archive) = furnished();
    let kept = desk.keep();
    let before = desk.state();
    let (mut wrong, mut done, mut refused) = (Vec::new(), 0, 0);
    for row in TABLE.iter().filter(|row| matches!(entry(row.verb), Entry::NoText(_))) {
        for name in WHO {
            let who = desk.whose(name).known(&desk);
            let said = expected(row.verb, &who, shelf_of(row.verb), Owner::Nobody);
            let signed_in = who.signed_in;
            let call = desk.call(who);
            let by = call.caller().shown();
            let Some(ended) = drive(&call, row.verb, &archive) else {
                wrong.push(format!("{} is driven nowhere", row.name));
                break;
            };
            drop(call);
            let after = desk.state();
            let told = |line: &&String| {
                !before.audit.contains(line) && line.contains(&by) && line.contains("refuse")
            };
            let what = format!("{} by {name}: the table says {said:?}", row.name);
            match (said, ended) {
                (May::Does, Ok(())) => done += 1,
                (May::Refused, Err(fault)) if !signed_in && fault.code == Code::Unauthenticated => {
                    refused += 1
                }
                (May::Refused, Err(fault)) if matches!(fault.code, Code::NeedsPerson | Code::Security) => {
                    refused += 1;
                    if after.stored != before.stored {
                        wrong.push(format!("{what}; it was refused and something changed"));
                    }
                    if fault.next_step().is_empty() {
                        wrong.push(format!("{what}; the refusal says no next step"));
                    }
                    let lines = after.audit.iter().filter(told).count();
                    // Once in the project's audit and once in the user's own.
                    if signed_in && lines != 2 {
                        wrong.push(format!("{what}; the refusal has {lines} lines in both audits"));
                    }
                }
                (_, ended) => wrong.push(format!("{what}; it ended in {ended:?}")),
            }
            desk.put_back(&kept);
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(done > 80 && refused > 20, "the walk is too short: {done} done, {refused} refused");
}

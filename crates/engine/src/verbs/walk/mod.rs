//! The table of authority, walked: every verb × every caller × every owner of the text × every shelf, on a real project, through the verbs.
//!
//! What happened (done, waiting, refused; the store's bytes; the review inbox; who the audit names) is compared with what the table says. A row of the
//! table is driven, or it says why it touches no text here; a row without an entry does not compile.

mod deeds;
mod desk;
mod house;

use super::*;
use deeds::{Ended, Entry, Subject, act, entry, prepare};
use desk::{Desk, State, WHO, Whose};
use heirloom_core::authority::{OWNERS, TABLE};

const SHELVES: [ShelfName; 5] =
    [ShelfName::Records, ShelfName::Topics, ShelfName::Notes, ShelfName::Vault, ShelfName::Tiers];

/// What the table and the sentence above it say: a person may do everything with their own account; a token limits even a person in the tiers.
fn expected(verb: Verb, who: &Whose, shelf: ShelfName, owner: Owner) -> May {
    if !who.signed_in && shelf == ShelfName::Tiers {
        // Nothing of a user's is there for whoever is nobody.
        return May::Refused;
    }
    if who.caller.is_person() && shelf != ShelfName::Tiers { May::Does } else { verb.may(&who.caller, owner) }
}

#[derive(Default)]
struct Walked {
    done: usize,
    waited: usize,
    refused: usize,
    wrong: Vec<String>,
}

fn walk(verb: Verb, shelf: ShelfName, owner: Owner, walked: &mut Walked) {
    let desk = Desk::new();
    let subject = prepare(&desk, verb, shelf, owner);
    let kept = desk.keep();
    let before = desk.state();
    for name in WHO {
        let who = desk.whose(name).known(&desk);
        let what = format!(
            "{} by {name} on {}'s {}",
            verb.name(),
            format!("{owner:?}").to_lowercase(),
            shelf.name()
        );
        let said = expected(verb, &who, shelf, owner);
        let is_nobody = !who.signed_in;
        let call = desk.call(who);
        let by = call.caller().shown();
        let ended = act(&call, verb, shelf, &subject);
        drop(call);
        let after = desk.state();
        // Whoever nobody knows has no chain of their own in the tiers. The doors turn an unknown token away before any verb, and note that in the
        // account's audit (`trail::turned_away`).
        let unheard = is_nobody && shelf == ShelfName::Tiers;
        if let Err(why) = judged(verb, said, &ended, (&before, &after), &by, (is_nobody, unheard)) {
            walked.wrong.push(format!("{what}: the table says {said:?}; {why}"));
        }
        match said {
            May::Does => walked.done += 1,
            May::Waits => walked.waited += 1,
            May::Refused => walked.refused += 1,
        }
        desk.put_back(&kept);
    }
}

/// Whether what happened is what the table says.
fn judged(
    verb: Verb,
    said: May,
    ended: &Result<Ended>,
    (before, after): (&State, &State),
    by: &str,
    (is_nobody, unheard): (bool, bool),
) -> std::result::Result<(), String> {
    let changed = before.stored != after.stored;
    let waits = after.waiting.len().saturating_sub(before.waiting.len());
    let reads = verb.row().needs == heirloom_core::Grant::Read;
    let named = |lines: &[&String]| lines.iter().any(|line| line.contains(by));
    let told: Vec<&String> = after.audit.iter().filter(|line| !before.audit.contains(line)).collect();
    match (said, ended) {
        (May::Refused, Err(fault))
            if is_nobody && matches!(fault.code, Code::NotFound | Code::Unauthenticated) =>
        {
            if changed || waits > 0 { Err("nobody changed something".to_owned()) } else { Ok(()) }
        }
        (May::Refused, Err(fault))
            if matches!(fault.code, Code::NeedsPerson | Code::Security | Code::Unauthenticated) =>
        {
            if changed || waits > 0 {
                return Err("it was refused and something changed".to_owned());
            }
            if fault.next_step().is_empty() {
                return Err("the refusal says no next step".to_owned());
            }
            if !unheard && !told.iter().any(|line| line.contains(by) && line.contains("refuse")) {
                return Err(format!("the refusal is in no audit: {told:?}"));
            }
            Ok(())
        }
        (May::Waits, Ok(Ended::Waits)) => match (changed, waits, named(&told)) {
            (false, 1, true) => Ok(()),
            (true, ..) => Err("it waits and something changed".to_owned()),
            (_, count, true) => Err(format!("it waits and the inbox has {count} more")),
            _ => Err("that it waits is in no audit".to_owned()),
        },
        (May::Does, Ok(Ended::Done)) if reads => {
            if changed {
                Err("it only reads, and something changed".to_owned())
            } else {
                Ok(())
            }
        }
        (May::Does, Ok(Ended::Done)) => match (changed || before.waiting != after.waiting, named(&told)) {
            (true, true) => Ok(()),
            (false, _) => Err("it was done and nothing changed".to_owned()),
            (_, false) => Err(format!("the audit does not say who did it: {told:?}")),
        },
        (_, ended) => Err(format!("it ended in {ended:?}")),
    }
}

#[test]
fn what_happens_is_what_the_table_says() {
    let mut walked = Walked::default();
    for row in TABLE {
        let Entry::Driven(shelves) = entry(row.verb) else { continue };
        assert!(!shelves.is_empty(), "{} is driven nowhere", row.name);
        for shelf in SHELVES.into_iter().filter(|shelf| shelves.contains(shelf)) {
            // Nothing reaches the tiers past the gate, so there is no text in them that nobody vouched for.
            for owner in OWNERS.into_iter().filter(|o| shelf != ShelfName::Tiers || *o != Owner::Nobody) {
                walk(row.verb, shelf, owner, &mut walked);
            }
        }
    }
    assert!(walked.wrong.is_empty(), "{} differ:\n{}", walked.wrong.len(), walked.wrong.join("\n"));
    assert!(walked.done > 100 && walked.waited > 20 && walked.refused > 100, "the walk is too short");
}

#[test]
fn every_row_of_the_table_is_driven_or_says_why_not() {
    for row in TABLE {
        match entry(row.verb) {
            Entry::Driven(shelves) => assert!(!shelves.is_empty(), "{}", row.name),
            Entry::NoText(why) => assert!(why.len() > 20, "{} gives no reason", row.name),
        }
    }
    let driven = TABLE.iter().filter(|row| matches!(entry(row.verb), Entry::Driven(_))).count();
    assert!(driven * 2 > TABLE.len(), "only {driven} of {} rows are driven", TABLE.len());
}

#[test]
fn the_subject_of_a_walk_is_whose_it_is_said_to_be() {
    for shelf in SHELVES {
        for owner in OWNERS.into_iter().filter(|o| shelf != ShelfName::Tiers || *o != Owner::Nobody) {
            let desk = Desk::new();
            let Subject { id, .. } = prepare(&desk, Verb::Show, shelf, owner);
            let call = desk.call(desk.whose("person"));
            let memory = seen(&call, &MemoryId::parse(&id).unwrap()).unwrap();
            assert_eq!(call.owner_of(&memory).unwrap(), owner, "{id}");
        }
    }
}

/// The audit cannot be written: something else lies in its place.
fn spoil(desk: &Desk, how: &str) {
    let path = desk.memory().join(".local/audit.jsonl");
    let aside = desk.memory().join(".local/elsewhere");
    std::fs::rename(&path, &aside).unwrap();
    match how {
        "folder" => std::fs::create_dir(&path).unwrap(),
        _ => std::os::unix::fs::symlink(&aside, &path).unwrap(),
    }
}

#[test]
fn without_an_audit_that_can_be_written_no_verb_changes_anything() {
    for how in ["folder", "link"] {
        for row in TABLE.iter().filter(|row| row.needs != heirloom_core::Grant::Read) {
            let Entry::Driven(shelves) = entry(row.verb) else { continue };
            for shelf in shelves.iter().copied().filter(|shelf| *shelf != ShelfName::Tiers) {
                for name in ["person", "agent"] {
                    let desk = Desk::new();
                    let subject = prepare(&desk, row.verb, shelf, Owner::Person);
                    let before = desk.state();
                    spoil(&desk, how);
                    let call = desk.call(desk.whose(name));
                    let ended = act(&call, row.verb, shelf, &subject);
                    drop(call);
                    let after = desk.state();
                    let what = format!("{} by {name} on {} with a {how}", row.name, shelf.name());
                    assert!(ended.is_err(), "{what}: {ended:?}");
                    assert_eq!(after.stored, before.stored, "{what}");
                    assert_eq!(after.waiting, before.waiting, "{what}");
                }
            }
        }
    }
}

#[test]
fn with_a_pin_no_weighty_verb_is_done_for_a_person_who_did_not_show_it() {
    let person = heirloom_core::Caller::person("tester");
    let mut weighty = 0;
    for row in TABLE.iter().filter(|row| row.verb.wants_check(&person)) {
        let Entry::Driven(shelves) = entry(row.verb) else { continue };
        for shelf in shelves.iter().copied() {
            weighty += 1;
            let desk = Desk::new();
            let subject = prepare(&desk, row.verb, shelf, Owner::Person);
            desk.pin.set(true);
            let before = desk.state();
            let what = format!("{} on {}", row.name, shelf.name());
            let refused = act(&desk.call(desk.whose("person")), row.verb, shelf, &subject).unwrap_err();
            assert_eq!(refused.code, Code::NeedsPerson, "{what}");
            assert!(refused.message.contains("PIN"), "{what}: {}", refused.message);
            assert_eq!(desk.state().stored, before.stored, "{what}");
            let mut call = desk.call(desk.whose("person"));
            call.check_person();
            act(&call, row.verb, shelf, &subject).unwrap_or_else(|fault| panic!("{what}: {fault:?}"));
        }
    }
    assert!(weighty > 10, "only {weighty}");
}

//! Archives: who may believe one, and who may bring back what is gone.

use super::*;
use crate::verbs::remember::NewFact;
use crate::verbs::remember::{Remember, remember};
use crate::verbs::tests::Desk;
use crate::verbs::{Yes, remove, unwatched};
use heirloom_core::settings::PersonCheck;
use heirloom_core::{Caller, Grant, Scopes, Trust, Who};

/// An archive with one fact that a person told somewhere else, whose seal nobody knows here.
fn archive() -> Vec<u8> {
    let there = Desk::new();
    let fact = NewFact { text: "I work at Acme".into(), ..NewFact::default() };
    remember(&there.person(), &Remember { fact, yes: Yes::default() }).unwrap().done().unwrap();
    let mut bytes = Vec::new();
    write(&there.person(), &WriteArchive::default(), &mut bytes, &mut unwatched).unwrap();
    // Both desks have the same random bytes, so the seal would be known.
    let text = String::from_utf8(bytes).unwrap();
    let (before, seal) = text.split_once("\"seal\":\"").unwrap();
    let (seal, after) = seal.split_once('"').unwrap();
    format!("{before}\"seal\":\"{}\"{after}", "0".repeat(seal.len())).into_bytes()
}

fn bring(archive: &[u8], call: &Call, ask: &ReadArchive) -> Result<Brought> {
    let mut from = archive;
    read(call, ask, &mut from, &mut unwatched)
}

fn believed(desk: &Desk) -> usize {
    let list = crate::verbs::list::List { tier: Some("semantic".into()), ..Default::default() };
    let page = crate::verbs::list::list(&desk.person(), &list).unwrap();
    page.memories.iter().filter(|memory| memory.trust == Trust::High).count()
}

#[test]
fn only_a_person_who_was_checked_vouches_for_an_archive() {
    let vouch = ReadArchive { vouch: true, ..ReadArchive::default() };
    let desk = Desk::new();
    let archive = archive();
    let brought = |call: &Call, ask: &ReadArchive| bring(&archive, call, ask);
    assert_eq!(brought(&desk.agent(), &vouch).unwrap_err().code, Code::NeedsPerson);
    let who = Who::Token { user: "tester".into(), id: "ab12".into() };
    let token = desk.call(Caller::process("tester").known_by(who, Scopes::ALL));
    assert_eq!(brought(&token, &vouch).unwrap_err().code, Code::NeedsPerson, "no scope makes a person");
    let pin = |call: Caller| desk.call_with(call, |settings| settings.person_check = PersonCheck::Pin);
    let refused = brought(&pin(Caller::person("tester")), &vouch).unwrap_err();
    assert_eq!(refused.code, Code::NeedsPerson);
    assert!(refused.message.contains("PIN"), "{}", refused.message);
    assert_eq!(believed(&desk), 0);
    // Without it the same person may read it, as an agent's words.
    assert_eq!(brought(&pin(Caller::person("tester")), &ReadArchive::default()).unwrap().waiting, 1);
    assert_eq!(brought(&pin(Caller::person("tester").checked()), &vouch).unwrap().added, 1);
    assert_eq!(believed(&desk), 1);
}

#[test]
fn what_was_removed_comes_back_only_with_a_person_or_the_scope_delete() {
    let desk = Desk::new();
    let archive = archive();
    let brought = |call: &Call, ask: &ReadArchive| bring(&archive, call, ask);
    let everything = ReadArchive { vouch: true, ..ReadArchive::default() };
    brought(&desk.person(), &everything).unwrap();
    remove::clear(&desk.person(), &remove::Clear { tier: "all".into(), shred: false }).unwrap();
    assert_eq!(brought(&desk.person(), &everything).unwrap().removed, 1, "it stays removed");
    let back = ReadArchive { even_removed: true, ..ReadArchive::default() };
    assert_eq!(brought(&desk.agent(), &back).unwrap_err().code, Code::NeedsPerson);
    let token = |scopes| {
        let who = Who::Token { user: "tester".into(), id: "ab12".into() };
        desk.call(Caller::process("tester").known_by(who, scopes))
    };
    assert_eq!(brought(&token(Scopes::USUAL), &back).unwrap_err().code, Code::Security);
    // To count what would come back takes nobody.
    let count = ReadArchive { dry_run: true, ..back.clone() };
    assert_eq!(brought(&desk.agent(), &count).unwrap().removed, 0);
    let brought = brought(&token(Scopes::USUAL.with(Grant::Delete)), &back).unwrap();
    assert_eq!((brought.removed, brought.waiting), (0, 1), "as the words of nobody known");
}

#[test]
fn an_archive_goes_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (folder.path().join("a.jsonl"), folder.path().join("b.md"));
    std::fs::write(&one, archive()).unwrap();
    std::fs::write(&other, "# x").unwrap();
    assert_eq!(among(std::slice::from_ref(&one)).unwrap(), Some((one.as_path(), Carries::Turns)));
    assert_eq!(among(std::slice::from_ref(&other)).unwrap(), None);
    assert_eq!(among(&[one, other]).unwrap_err().code, Code::Usage);
}

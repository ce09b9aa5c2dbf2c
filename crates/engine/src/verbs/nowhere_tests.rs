//! Calls without a project: turns and facts work, everything of a project is as if it were not there, and nothing is made on the disk for it.

use super::add::{Add, New, NewRecord};
use super::list::{List, list};
use super::recall::{Recall, recall};
use super::remember::{NewFact, NewTurn};
use super::search::{Search, search};
use super::{Outcome, add, decide, show, status, undo};
use crate::call::Call;
use crate::shelf::tiers::{Access, SqliteStore, UserContext};
use crate::{Project, World};
use heirloom_core::{Caller, Code, Settings};
use std::sync::Arc;

fn call(folder: &std::path::Path) -> Call {
    let data = folder.join("data");
    let now = jiff::Timestamp::from_second(1_780_000_000).unwrap();
    let world = World { now, data: data.clone(), nonce: "n".repeat(32), user: "ana".to_owned() };
    let who = UserContext::by_account(&world).unwrap();
    let access = Access::new(Arc::new(SqliteStore::at(&data.join("tiers"))), who, &data.join("tiers"));
    Call::new(Project::nowhere(world), Settings::standard()).with_tiers(access)
}

#[test]
fn without_a_project_there_are_turns_and_facts_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let call = call(folder.path());
    let turn = New::Episode(NewTurn { text: "the kettle is in the kitchen".into(), ..NewTurn::default() });
    let Outcome::Done(kept) = add::add(&call, &Add::of(turn)).unwrap() else { panic!("it waits") };
    assert_eq!(show::show(&call, &show::Show { id: kept.id.to_string() }).unwrap().memory.id, kept.id);
    assert_eq!(
        list(&call, &List { tier: Some("episodic".into()), ..List::default() }).unwrap().memories.len(),
        1
    );
    let ask = Search { words: vec!["kettle".into()], tier: Some("all".into()), ..Search::default() };
    assert_eq!(search(&call, &ask).unwrap().hits.len(), 1);
    // A fact of a program waits in the user's own inbox, which needs no project.
    let fact = New::Fact(NewFact { text: "Ana prefers green tea".into(), ..NewFact::default() });
    assert!(matches!(add::add(&call, &Add::of(fact)).unwrap(), Outcome::Waits(_)));
    assert_eq!(decide::list(&call).unwrap().waiting.drafts.len(), 1);
    assert!(undo::list(&call).is_ok());
    assert_eq!(status::own(&call).unwrap().episodes, 1);
}

#[test]
fn recall_without_a_project_gives_turns_and_facts() {
    let folder = tempfile::tempdir().unwrap();
    let call = call(folder.path());
    let turn = New::Episode(NewTurn { text: "the kettle is in the kitchen".into(), ..NewTurn::default() });
    add::add(&call, &Add::of(turn)).unwrap();
    let ask = Recall { prompt: "where is the kettle?".into(), session: None, most: None };
    let answer = recall(&call, &ask).unwrap();
    assert_eq!(answer.hits.len(), 1);
    assert!(answer.block.contains("kettle"), "{}", answer.block);
    assert!(recall(&call, &Recall { prompt: "tax forms of 1987".into(), ..ask }).unwrap().hits.is_empty());
}

#[test]
fn what_belongs_to_a_project_is_refused_and_makes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let call = call(folder.path());
    let record = NewRecord {
        category: "decision".into(),
        text: "Use tea because of taste".into(),
        ..NewRecord::default()
    };
    assert_eq!(add::add(&call, &Add::of(New::Record(record))).unwrap_err().code, Code::NotFound);
    assert_eq!(status::status(&call).unwrap_err().code, Code::NotFound);
    assert_eq!(show::show(&call, &show::Show { id: "decision:x".into() }).unwrap_err().code, Code::NotFound);
    assert!(!folder.path().join("data/projects").exists());
}

#[test]
fn a_person_accepts_a_fact_without_a_project() {
    let folder = tempfile::tempdir().unwrap();
    let program = call(folder.path());
    let fact = New::Fact(NewFact { text: "Ana prefers green tea".into(), ..NewFact::default() });
    assert!(matches!(add::add(&program, &Add::of(fact)).unwrap(), Outcome::Waits(_)));
    let person = call(folder.path()).by(Caller::person("ana"));
    let draft = decide::list(&person).unwrap().waiting.drafts.remove(0);
    let shown = vec![decide::Seen { key: draft.item.key.clone(), seen: draft.seen.clone() }];
    let done = decide::accept(&person, &decide::Accept { shown }).unwrap();
    assert!(done.failed.is_empty() && done.stored.len() == 1, "{done:?}");
    assert_eq!(status::own(&person).unwrap().facts, 1);
    assert!(decide::list(&person).unwrap().waiting.drafts.is_empty());
}

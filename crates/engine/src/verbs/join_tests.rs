use super::*;
use crate::verbs::add::{Add, New, NewRecord, NewVault, add};
use crate::verbs::decide;
use crate::verbs::remember::NewFact;
use crate::verbs::tests::Desk;
use crate::verbs::trail::{Audit, audit};
use crate::verbs::undo::{Undo, list, undo};
use heirloom_core::Status;

fn decision(text: &str) -> New {
    New::Record(NewRecord { category: "decision".into(), text: text.into(), ..NewRecord::default() })
}

fn canon(text: &str) -> New {
    New::Canon(NewVault { text: text.into(), ..NewVault::default() })
}

fn fact(text: &str) -> New {
    New::Fact(NewFact { text: text.into(), ..NewFact::default() })
}

fn stored(call: &Call, new: New) -> Memory {
    let id = add(call, &Add::of(new)).unwrap().done().unwrap().id;
    seen(call, &id).unwrap()
}

fn text_of(desk: &Desk, id: &MemoryId) -> (Status, String) {
    let memory = seen(&desk.person(), id).unwrap();
    (memory.status, memory.body)
}

fn joining(kept: &Memory, other: &Memory, change: Edit) -> Join {
    Join {
        id: kept.id.to_string(),
        version: Some(kept.version.clone()),
        other: other.id.to_string(),
        seen: Some(other.version.clone()),
        change,
    }
}

fn rationale(text: &str) -> Edit {
    Edit { fields: vec![("rationale".into(), text.into())], ..Edit::default() }
}

fn words(text: &str) -> Edit {
    Edit { whole: Some(text.into()), ..Edit::default() }
}

#[test]
fn two_memories_become_one_and_one_undo_brings_both_back() {
    let desk = Desk::new();
    let person = desk.person();
    let (a, b) = (
        stored(&person, decision("Use PostgreSQL because we need jsonb")),
        stored(&person, decision("Take PostgreSQL because of row locks")),
    );
    let before = (text_of(&desk, &a.id), text_of(&desk, &b.id));
    let call = desk.person();
    let joined =
        join(&call, &joining(&a, &b, rationale("we need jsonb and row locks"))).unwrap().done().unwrap();
    assert_eq!((joined.became, joined.other.as_str()), ("retired", b.id.as_str()));
    assert!(text_of(&desk, &a.id).1.contains("jsonb and row locks"));
    assert_eq!(text_of(&desk, &b.id).0, Status::Retired);
    let newest = &list(&desk.person()).unwrap()[0];
    assert_eq!(newest.ids.len(), 2, "{newest:?}");
    let lines = audit(&desk.person(), &Audit { id: None, verdict: None, event: None, limit: 50 }).unwrap();
    let actions: Vec<&str> = lines.iter().filter_map(|line| line["action"].as_str()).collect();
    assert!(actions.contains(&"memory_retire") && actions.contains(&"memory_write"), "{actions:?}");
    assert_eq!(undo(&desk.person(), &Undo::default()).unwrap().status, "undone");
    assert_eq!((text_of(&desk, &a.id), text_of(&desk, &b.id)), before);
}

#[test]
fn the_joined_text_is_no_duplicate_of_the_one_that_goes() {
    let desk = Desk::new();
    let person = desk.person();
    let (a, b) = (
        stored(&person, canon("Deploys of the shop happen on Tuesdays only")),
        stored(&person, canon("Invoices are sent as PDF on the first day of a month")),
    );
    let text = "Invoices are sent as PDF on the first day of a month, deploys happen on Tuesdays";
    join(&desk.person(), &joining(&a, &b, words(text))).unwrap().done().unwrap();
    assert_eq!(text_of(&desk, &a.id), (Status::Active, text.to_owned()));
    assert_ne!(text_of(&desk, &b.id).0, Status::Active);
}

#[test]
fn a_draft_that_contradicts_a_known_fact_is_joined_with_it() {
    let desk = Desk::new();
    let person = desk.person();
    let a = stored(&person, fact("I like coffee in the morning"));
    let both = crate::verbs::remember::Remember {
        fact: NewFact { text: "I never like coffee in the morning".into(), ..NewFact::default() },
        yes: crate::verbs::Yes::default(),
    };
    let b = match crate::verbs::remember::remember(&person, &both).unwrap() {
        Outcome::Waits(waits) => waits,
        Outcome::Done(done) => panic!("{done:?}"),
    };
    // The draft that waits is the other half: it is turned down, and the known fact says both.
    let shown = decide::list(&desk.person()).unwrap().waiting.drafts.remove(0);
    let ask = Join {
        id: a.id.to_string(),
        version: Some(a.version.clone()),
        other: b.key.clone(),
        seen: Some(shown.seen.clone()),
        change: words("I like coffee in the morning, but never after noon"),
    };
    let stale = Join { seen: Some("other bytes".into()), ..ask.clone() };
    assert_eq!(join(&desk.person(), &stale).unwrap_err().code, Code::OccConflict);
    let agent = join(&desk.agent(), &ask).unwrap_err();
    assert_eq!(agent.code, Code::NeedsPerson, "{agent:?}");
    let joined = join(&desk.person(), &ask).unwrap().done().unwrap();
    assert_eq!(joined.became, "rejected");
    assert!(text_of(&desk, &joined.kept.id).1.contains("never after noon"));
    assert!(decide::list(&desk.person()).unwrap().waiting.drafts.is_empty());
    assert_eq!(undo(&desk.person(), &Undo::default()).unwrap().status, "undone");
    assert_eq!(decide::list(&desk.person()).unwrap().waiting.drafts.len(), 1);
    assert_eq!(text_of(&desk, &a.id).0, Status::Active);
}

#[test]
fn a_joined_text_that_cannot_be_saved_leaves_both_as_they_were() {
    let desk = Desk::new();
    let person = desk.person();
    let (a, b) = (
        stored(&person, decision("Use PostgreSQL because we need jsonb")),
        stored(&person, decision("Take PostgreSQL because of row locks")),
    );
    let before = (text_of(&desk, &a.id), text_of(&desk, &b.id));
    let secret = ["ghp_", "aB3dE5gH7jK9mN1pQ3", "sT5vW7yZ9bC1dE3fG5"].concat();
    for change in [words("no json"), rationale(&format!("the key is {secret}"))] {
        join(&desk.person(), &joining(&a, &b, change)).unwrap_err();
        assert_eq!((text_of(&desk, &a.id), text_of(&desk, &b.id)), before);
    }
    // Somebody else was quicker with either of them.
    for ask in [
        Join { version: Some("other".into()), ..joining(&a, &b, rationale("both")) },
        Join { seen: Some("other".into()), ..joining(&a, &b, rationale("both")) },
    ] {
        assert_eq!(join(&desk.person(), &ask).unwrap_err().code, Code::OccConflict);
    }
    assert_eq!(join(&desk.person(), &joining(&a, &a, rationale("both"))).unwrap_err().code, Code::Usage);
    assert_eq!((text_of(&desk, &a.id), text_of(&desk, &b.id)), before);
}

#[test]
fn an_agent_that_joins_what_a_person_wrote_waits_for_a_person() {
    let desk = Desk::new();
    let (a, b) = (
        stored(&desk.agent(), decision("Use PostgreSQL because we need jsonb")),
        stored(&desk.person(), decision("Take PostgreSQL because of row locks")),
    );
    let ask = joining(&a, &b, rationale("we need jsonb and row locks"));
    let Outcome::Waits(waits) = join(&desk.agent(), &ask).unwrap() else { panic!("it did not wait") };
    assert_eq!(text_of(&desk, &b.id).0, Status::Active);
    let person = desk.person();
    let chosen = decide::choose(&person, &decide::Choose { keys: vec![waits.key], all: false }).unwrap();
    let done = decide::accept(&person, &chosen.yes()).unwrap();
    assert!(done.failed.is_empty(), "{done:?}");
    assert_eq!(text_of(&desk, &b.id).0, Status::Retired);
    assert!(text_of(&desk, &a.id).1.contains("jsonb and row locks"));
    assert_eq!(undo(&desk.person(), &Undo::default()).unwrap().status, "undone");
    assert_eq!(text_of(&desk, &b.id).0, Status::Active);
}

#[test]
fn what_says_the_same_or_the_opposite_is_suggested_on_every_shelf_that_is_not_the_vault() {
    let desk = Desk::new();
    let person = desk.person();
    for text in [
        "Always keep carts of visitors in Redis for one day because losing one is cheap",
        "Never keep carts of visitors in Redis for one day because losing one is cheap",
    ] {
        stored(&person, decision(text));
    }
    stored(&person, fact("I always squash commits before a merge"));
    let other = crate::verbs::remember::Remember {
        fact: NewFact { text: "I never squash commits before a merge".into(), ..NewFact::default() },
        yes: crate::verbs::Yes::default(),
    };
    // Taken over as it is, from another machine say.
    if let Outcome::Waits(_) = crate::verbs::remember::remember(&person, &other).unwrap() {
        let shown = decide::list(&person).unwrap().waiting.drafts.remove(0);
        assert!(!shown.known.is_empty(), "{shown:?}");
    }
    let found = decide::list(&desk.person()).unwrap().suggestions.near_duplicates;
    let kinds: Vec<(&str, bool)> =
        found.iter().map(|pair| (pair.a.as_str().split(':').next().unwrap(), pair.opposite)).collect();
    assert_eq!(kinds, [("decision", true)], "{found:?}");
}

#[test]
fn a_fact_and_a_file_are_not_joined() {
    let desk = Desk::new();
    let person = desk.person();
    let (a, b) = (
        stored(&person, decision("Use PostgreSQL because we need jsonb")),
        stored(&person, fact("I work at Acme")),
    );
    assert_eq!(join(&person, &joining(&a, &b, rationale("both"))).unwrap_err().code, Code::Usage);
}

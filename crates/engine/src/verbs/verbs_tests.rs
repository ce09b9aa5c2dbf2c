//! The saving and changing verbs, driven as any door drives them: a call with its caller, a request, an answer.

use super::add::{Add, New, NewLesson, NewRecord, NewVault, Words, add};
use super::anchor::{Anchor, Deed, anchor};
use super::convert::{Convert, convert};
use super::edit::{Edit, edit};
use super::record::{Action, Write, write};
use super::remember::{NewFact, Question, Remember, questions, remember};
use super::*;
use crate::convert::Conversion;
use crate::gate::inbox::Item;
use crate::shelf::records::{Said, Version};
use crate::shelf::tiers::{Access, SqliteStore, UserContext};
use crate::verbs::review::{accept_draft, shown};
use crate::{Deployment, Project, World};
use heirloom_core::{Caller, Grant, Scopes, Settings, Trust, Who, time};
use serde_json::json;
use std::sync::Arc;

pub(super) struct Desk {
    pub(super) folder: tempfile::TempDir,
    deployment: Arc<Deployment>,
}

impl Desk {
    pub(super) fn new() -> Desk {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("project/.claude/memory")).unwrap();
        Desk { folder, deployment: Arc::default() }
    }

    pub(super) fn call(&self, caller: Caller) -> Call {
        self.call_with(caller, |_| {})
    }

    /// The same with other settings.
    pub(super) fn call_with(&self, caller: Caller, change: impl FnOnce(&mut Settings)) -> Call {
        self.call_at("2026-01-10T09:00:00Z", caller, change)
    }

    /// The same at another time.
    pub(super) fn call_at(&self, now: &str, caller: Caller, change: impl FnOnce(&mut Settings)) -> Call {
        let world = World {
            now: time::parse(now).unwrap(),
            data: self.folder.path().join("data"),
            nonce: "0f".repeat(16),
            user: "tester".into(),
        };
        let mut settings = Settings::standard();
        settings.vault.agents.insert("orion".into(), "orion".into());
        change(&mut settings);
        let folder = self.folder.path().join("project");
        let tiers = self.folder.path().join("data/tiers");
        let access =
            Access::new(Arc::new(SqliteStore::at(&tiers)), UserContext::by_account(&world).unwrap(), &tiers);
        let project = Project::new(&folder, &folder.join(".claude/memory"), world);
        self.deployment.call(project, settings, caller).with_tiers(access)
    }

    pub(super) fn person(&self) -> Call {
        self.call(Caller::person("tester"))
    }

    pub(super) fn agent(&self) -> Call {
        self.call(Caller::process("tester"))
    }

    fn waiting(&self) -> Vec<Item> {
        let call = self.person();
        let now = call.project().world().now;
        call.inboxes().unwrap().iter().flat_map(|inbox| inbox.list(now).unwrap()).collect()
    }

    fn memory(&self, id: &str) -> Memory {
        seen(&self.person(), &MemoryId::parse(id).unwrap()).unwrap()
    }
}

fn decision(text: &str) -> Add {
    Add::of(New::Record(NewRecord { category: "decision".into(), text: text.into(), ..NewRecord::default() }))
}

fn done<T>(outcome: Outcome<T>) -> T {
    outcome.done().unwrap()
}

/// One of each kind that changes, and a change of it.
fn kinds() -> Vec<(Add, Edit)> {
    let field = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
    let lesson = NewLesson { text: "Rebase lost commits, fixed by reflog".into(), ..NewLesson::default() };
    let canon = NewVault { text: "The importer belongs to the data team".into(), ..NewVault::default() };
    let register = NewVault {
        text: "Working on the importer".into(),
        topic: Some("task".into()),
        ..NewVault::default()
    };
    let fact = NewFact { text: "I work at Acme".into(), ..NewFact::default() };
    let text = |text: &str| Edit { text: Some(text.to_owned()), ..Edit::default() };
    vec![
        (
            decision("Use PostgreSQL because we need jsonb"),
            Edit { fields: field("rationale", "it says NEW"), ..Edit::default() },
        ),
        (Add::of(New::Lesson(lesson)), Edit { fields: field("solution", "it says NEW"), ..Edit::default() }),
        (Add::of(New::Canon(canon)), text("The importer is NEW and has a team")),
        (Add::of(New::Register(register)), text("Working on something NEW")),
        (Add::of(New::Fact(fact)), text("I work at NEW")),
    ]
}

#[test]
fn an_edit_of_a_persons_text_waits_for_a_person_whatever_the_kind() {
    for (new, change) in kinds() {
        let desk = Desk::new();
        let id = done(add(&desk.person(), &new).unwrap()).id.to_string();
        let change = Edit { id: id.clone(), ..change };
        let before = desk.memory(&id);
        assert_eq!(before.trust, Trust::High, "{id}");
        let Outcome::Waits(waiting) = edit(&desk.agent(), &change).unwrap() else { panic!("{id} changed") };
        assert_eq!((waiting.status.as_str(), waiting.id.as_str()), ("waits", id.as_str()));
        assert_eq!(desk.memory(&id), before);
        // Asked for twice, it waits once.
        edit(&desk.agent(), &change).unwrap();
        let items = desk.waiting();
        assert_eq!(items.len(), 1, "{items:?}");
        assert!(
            accept_draft(&desk.agent(), &shown(&desk.agent(), items[0].clone())).is_err(),
            "{id}: an agent's yes is none"
        );
        assert_eq!(desk.memory(&id), before);
        let now = accept_draft(&desk.person(), &shown(&desk.person(), items[0].clone())).unwrap();
        let after = desk.memory(&now);
        assert!(after.body.contains("NEW"), "{}", after.body);
        assert_eq!(after.trust, Trust::High, "{id}: a person saw it");
        assert_eq!(desk.waiting().len(), 0);
    }
}

#[test]
fn what_waits_is_for_the_version_it_was_asked_for() {
    for (new, change) in kinds() {
        let desk = Desk::new();
        let id = done(add(&desk.person(), &new).unwrap()).id.to_string();
        let change = Edit { id: id.clone(), ..change };
        edit(&desk.agent(), &change).unwrap();
        done(edit(&desk.person(), &change).unwrap());
        let refused =
            accept_draft(&desk.person(), &shown(&desk.person(), desk.waiting()[0].clone())).unwrap_err();
        assert_eq!(refused.code, Code::OccConflict, "{id}");
    }
}

#[test]
fn an_agents_own_text_is_its_own_to_change() {
    let desk = Desk::new();
    for (new, change) in kinds().into_iter().take(2) {
        let id = done(add(&desk.agent(), &new).unwrap()).id.to_string();
        done(edit(&desk.agent(), &Edit { id: id.clone(), ..change }).unwrap());
        assert!(desk.memory(&id).body.contains("NEW"), "{id}");
        assert_eq!(desk.memory(&id).trust, Trust::Low);
    }
    assert_eq!(desk.waiting().len(), 0);
}

#[test]
fn a_register_of_a_person_is_superseded_by_nothing_of_less_trust() {
    let desk = Desk::new();
    let register = |text: &str| {
        Add::of(New::Register(NewVault {
            text: text.into(),
            topic: Some("task".into()),
            scope: Some("orion".into()),
            ..NewVault::default()
        }))
    };
    let id = done(add(&desk.person(), &register("Working on the importer")).unwrap()).id.to_string();
    assert!(matches!(add(&desk.agent(), &register("Working on NEW")).unwrap(), Outcome::Waits(_)));
    assert!(desk.memory(&id).body.contains("importer"));
    let item = desk.waiting().remove(0);
    done(add(&desk.person(), &register("Working on the parser")).unwrap());
    assert_eq!(
        accept_draft(&desk.person(), &shown(&desk.person(), item)).unwrap_err().code,
        Code::OccConflict
    );
    assert!(desk.memory(&id).body.contains("parser"));
}

#[test]
fn convert_and_anchor_ask_like_edit() {
    let desk = Desk::new();
    std::fs::write(desk.folder.path().join("project/queue.rs"), "fn fetch() {}\n").unwrap();
    let id = done(add(&desk.person(), &decision("Use PostgreSQL because we need jsonb")).unwrap()).id;
    let wanted = Conversion { words: Some("Start PostgreSQL first".into()), ..Conversion::default() };
    let asks =
        Convert { id: id.to_string(), kind: "constraint".into(), wanted, seen: Some("anything".into()) };
    assert!(matches!(convert(&desk.agent(), &asks).unwrap(), Outcome::Waits(_)));
    assert_eq!(
        accept_draft(&desk.person(), &shown(&desk.person(), desk.waiting()[0].clone())).unwrap(),
        "constraint:start-postgresql-first"
    );
    let deed = Deed::Add(vec!["queue.rs#fetch".into()]);
    let asks = Anchor { id: id.to_string(), deed, from: None };
    assert!(matches!(anchor(&desk.agent(), &asks).unwrap(), Outcome::Waits(_)));
    assert_eq!(crate::shelf::anchors::check(&desk.person(), id.as_str()).unwrap(), None);
    accept_draft(&desk.person(), &shown(&desk.person(), desk.waiting()[0].clone())).unwrap();
    assert!(crate::shelf::anchors::check(&desk.person(), id.as_str()).unwrap().is_some());
}

#[test]
fn record_write_waits_where_a_person_stands_behind_the_text_and_only_there() {
    let desk = Desk::new();
    let at = |call: &Call, action: Action| {
        let cwd = call.project().folder().to_owned();
        let target = ".claude/memory/decisions/use-postgresql.json";
        write(call, Write { target, cwd: &cwd, action, cites: &[] }, &mut Said::default())
    };
    let changed = |call: &Call| {
        let id = MemoryId::parse("decision:use-postgresql").unwrap();
        let mut document = call.records().document(&id).unwrap().unwrap();
        document.set_content("rationale", json!(["it says NEW"]));
        document.note_change("2026-01-10T09:00:00Z", "Said better");
        Action::Update { document, version: Version::Any }
    };
    done(add(&desk.agent(), &decision("Use PostgreSQL because we need jsonb")).unwrap());
    let agent = desk.agent();
    assert_eq!(done(at(&agent, changed(&agent)).unwrap())["status"], "updated");
    // Once a person accepts it, it is theirs.
    let memory = desk.memory("decision:use-postgresql");
    crate::verbs::review::accept(&desk.person(), &memory).unwrap();
    let agent = desk.agent();
    for action in
        [changed(&agent), Action::Retire { reason: None }, Action::Archive { reason: Some("old".into()) }]
    {
        let before = desk.memory("decision:use-postgresql");
        assert!(matches!(at(&agent, action.clone()).unwrap(), Outcome::Waits(_)), "{action:?}");
        assert_eq!(desk.memory("decision:use-postgresql"), before);
    }
    assert_eq!(desk.waiting().len(), 3);
    // What cannot be moved at all is said in the shelf's own words.
    assert_eq!(at(&agent, Action::Unarchive).unwrap_err().code, Code::Unarchive);
    assert_eq!(done(at(&agent, Action::Restore).unwrap())["status"], "already_active");
    assert_eq!(done(at(&desk.person(), Action::Retire { reason: None }).unwrap())["status"], "retired");
    assert!(matches!(at(&desk.agent(), Action::Restore).unwrap(), Outcome::Waits(_)));
}

#[test]
fn a_yes_counts_only_from_a_person_and_only_for_what_was_shown() {
    let desk = Desk::new();
    let fact = |text: &str| NewFact { text: text.into(), ..NewFact::default() };
    let old = done(
        remember(&desk.person(), &Remember { fact: fact("I work at Acme"), yes: Yes::default() }).unwrap(),
    );
    let new = fact("I work at Initech");
    let asks = questions(&desk.person(), &new.words()).unwrap();
    let Some(Question::Supersedes { known }) = asks.first() else { panic!("{asks:?}") };
    assert_eq!(known[0].id, old.id.to_string());
    assert_eq!(questions(&desk.agent(), &new.words()).unwrap(), [], "nobody else is asked");
    let yes = Yes { supersede: vec![old.id.to_string()], possible_secret: true };
    let all = Remember { fact: new, yes };
    assert!(matches!(remember(&desk.agent(), &all).unwrap(), Outcome::Waits(_)));
    let other =
        Remember { yes: Yes { supersede: vec!["fact:other".into()], ..Yes::default() }, ..all.clone() };
    assert!(matches!(remember(&desk.person(), &other).unwrap(), Outcome::Waits(_)));
    assert_eq!(desk.memory(old.id.as_str()).status, heirloom_core::Status::Active);
    done(remember(&desk.person(), &all).unwrap());
    assert_eq!(desk.memory(old.id.as_str()).status, heirloom_core::Status::Superseded);
}

#[test]
fn a_token_with_the_scope_facts_has_facts_stored_as_its_own_but_supersedes_no_person() {
    let desk = Desk::new();
    let token = |scopes: Scopes| {
        let who = Who::Token { user: "tester".into(), id: "ab12".into() };
        desk.call(Caller::process("tester").known_by(who, scopes))
    };
    let fact = |text: &str| Remember {
        fact: NewFact { text: text.into(), ..NewFact::default() },
        yes: Yes::default(),
    };
    let facts = Scopes::USUAL.with(Grant::Facts);
    assert!(matches!(remember(&token(Scopes::USUAL), &fact("I like tea")).unwrap(), Outcome::Waits(_)));
    let id = done(remember(&token(facts), &fact("I like tea")).unwrap()).id;
    assert!(desk.memory(id.as_str()).trust < Trust::High, "labelled as the program's own");
    let mine = done(remember(&desk.person(), &fact("I work at Acme")).unwrap()).id;
    assert!(matches!(remember(&token(facts), &fact("I work at Initech")).unwrap(), Outcome::Waits(_)));
    let change = Edit { id: mine.to_string(), text: Some("I work at Hooli".into()), ..Edit::default() };
    assert!(matches!(edit(&token(facts), &change).unwrap(), Outcome::Waits(_)));
    let refused = remember(&token(Scopes::NONE.with(Grant::Read)), &fact("I like jazz")).unwrap_err();
    assert_eq!(refused.code, Code::Security);
}

#[test]
fn requests_survive_being_written_down_and_know_no_other_fields() {
    for (new, change) in kinds() {
        let text = serde_json::to_string(&new).unwrap();
        assert_eq!(serde_json::from_str::<Add>(&text).unwrap(), new);
        let text = serde_json::to_string(&change).unwrap();
        assert_eq!(serde_json::from_str::<Edit>(&text).unwrap(), change);
    }
    for wrong in [
        json!({ "new": { "fact": { "text": "x", "topic": "y" } } }),
        json!({ "new": { "lesson": { "text": "x" } }, "person": true }),
        json!({ "new": { "poem": { "text": "x" } } }),
    ] {
        assert!(serde_json::from_value::<Add>(wrong.clone()).is_err(), "{wrong}");
    }
}

#[test]
fn what_a_kind_has_no_use_for_is_refused_by_name() {
    let desk = Desk::new();
    let call = desk.person();
    let words = |kind: &str| Words { kind: kind.into(), text: "Something".into(), ..Words::default() };
    for (words, flag) in [
        (Words { tags: vec!["x".into()], ..words("lesson") }, "--tag"),
        (Words { topic: Some("x".into()), ..words("canon") }, "--topic"),
        (Words { scope: Some("x".into()), ..words("decision") }, "--scope"),
        (Words { fields: vec![("a".into(), "b".into())], ..words("note") }, "--field"),
        (Words { cites: true, ..words("fact") }, "--anchor"),
        (Words { title: Some("x".into()), ..words("episode") }, "--title"),
    ] {
        let kind = words.kind.clone();
        let refused = New::said(&call, words).unwrap_err();
        assert_eq!(refused.message, format!("a {kind} has no {flag}"));
    }
    assert!(New::said(&call, Words { topic: Some("x".into()), ..words("register") }).is_ok());
    assert_eq!(New::said(&call, words("poem")).unwrap_err().code, Code::Usage);
}

#[test]
fn a_rehearsal_stores_nothing_and_says_what_would_be_stored() {
    let desk = Desk::new();
    for (new, _) in kinds() {
        let added = done(add(&desk.agent(), &Add { rehearse: true, ..new }).unwrap());
        assert_eq!(added.status, "rehearsed");
        assert!(added.would.is_some_and(|would| !would.is_empty()));
    }
    assert_eq!(desk.waiting().len(), 0);
    let memory = desk.folder.path().join("project/.claude/memory");
    let left: Vec<_> = std::fs::read_dir(memory).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert!(left.iter().all(|name| name.to_string_lossy().starts_with('.')), "{left:?}");
}

#[test]
fn an_undo_that_fails_half_way_leaves_everything_as_it_was() {
    use crate::shelf::door::back::{self, Way};
    let desk = Desk::new();
    let mut ids = Vec::new();
    for text in ["Use PostgreSQL because we need jsonb", "Use Redis because it is quick"] {
        ids.push(done(add(&desk.person(), &decision(text)).unwrap()).id.to_string());
    }
    let ask = life::Move { ids: ids.clone(), reason: Some("no".into()) };
    life::retire(&desk.person(), &ask).unwrap();
    let statuses = || ids.iter().map(|id| desk.memory(id).status).collect::<Vec<_>>();
    let before = statuses();
    let call = desk.person();
    let number = undo::list(&call).unwrap()[0].number.clone();
    let at: u64 = number[1..].parse().unwrap();
    let lock = call.lock().unwrap();
    let mut ways = back::ways(&call, &back::groups(&call).unwrap(), at).unwrap();
    // The one that comes second is gone from under the undo.
    let Way::Memory { now, .. } = &mut ways[0] else { panic!() };
    *now = None;
    crate::shelf::door::whole::all(&call, &lock, at, true, &ways).unwrap_err();
    drop(lock);
    assert_eq!(statuses(), before, "what was put back was taken out again");
    // Nothing is left to be made good, and the change can still be taken back.
    let undone = undo::undo(&desk.person(), &undo::Undo { number: Some(number), dry_run: false }).unwrap();
    assert_eq!(undone.status, "undone");
    assert_eq!(statuses(), [heirloom_core::Status::Active; 2]);
    let path = desk.person().project().local().unwrap().path("audit.jsonl");
    crate::gate::audit::verify(&path).unwrap();
}

#[test]
fn a_lock_is_taken_again_by_the_thread_that_has_it_and_by_no_other() {
    let desk = Desk::new();
    let call = desk.person();
    let outer = call.lock().unwrap();
    drop(call.lock().unwrap());
    // Still held: another thread does not get it, whatever was given back inside.
    let got = std::thread::scope(|scope| {
        let path = call.project().local().unwrap().path("lock");
        let short = std::time::Duration::from_millis(50);
        scope.spawn(move || crate::files::Lock::acquire(&path, short).is_ok()).join().unwrap()
    });
    assert!(!got);
    drop(outer);
    assert!(call.lock().is_ok());
}

#[test]
fn an_agent_says_anew_what_a_program_said_and_no_more() {
    let desk = Desk::new();
    let who = Who::Token { user: "tester".into(), id: "ab12".into() };
    let program =
        || desk.call(Caller::process("tester").known_by(who.clone(), Scopes::USUAL.with(Grant::Facts)));
    let fact = NewFact { text: "I like tea".into(), ..NewFact::default() };
    let id = done(remember(&program(), &Remember { fact, yes: Yes::default() }).unwrap()).id;
    let change =
        |id: &MemoryId, text: &str| Edit { id: id.to_string(), text: Some(text.into()), ..Edit::default() };
    let said = done(edit(&desk.agent(), &change(&id, "I like coffee")).unwrap()).id;
    assert!(desk.memory(said.as_str()).trust < Trust::High, "labelled as a program's");
    assert_eq!(desk.memory(id.as_str()).status, heirloom_core::Status::Superseded);
    // Once a person vouches for it, it waits; and what may be a secret or an order does not get in this way.
    let mine = done(edit(&desk.person(), &change(&said, "I like water")).unwrap()).id;
    assert!(matches!(edit(&desk.agent(), &change(&mine, "I like beer")).unwrap(), Outcome::Waits(_)));
    assert_eq!(desk.memory(mine.as_str()).status, heirloom_core::Status::Active);
}

//! Changes of facts taken back, users removed, tokens that say when they were used.

use super::super::{FactWords, LifeStatus, Terms, UserContext, give_token, kept_since, put_user};
use super::{AGENT, KEEPER, Make, PERSON, Stage, moment, tiers};
use crate::Call;
use crate::gate::inbox::Item;
use crate::shelf::Shelf as _;
use crate::verbs::review::{accept_draft, reject, shown};
use crate::verbs::undo::{Undo, Undone, list, undo};
use crate::verbs::users::{self, RemoveUser};
use heirloom_core::{Code, MemoryId, fault::Result};

fn take_back(call: &Call, number: Option<&str>) -> Result<Undone> {
    undo(call, &Undo { number: number.map(str::to_owned), dry_run: false })
}

/// The number of the last change.
fn last(stage: &Stage) -> String {
    list(&stage.person("ada")).unwrap()[0].number.clone()
}

fn status(stage: &Stage, id: &str) -> LifeStatus {
    tiers(&stage.person("ada")).own(id).unwrap().status
}

fn waiting(stage: &Stage) -> Vec<Item> {
    let call = stage.person("ada");
    tiers(&call).inbox().list(call.project().world().now).unwrap()
}

pub(super) fn a_change_of_facts_is_taken_back_whole(stage: &Stage, _: Make<'_>) {
    let ada = || stage.person("ada");
    let old = tiers(&ada()).remember(FactWords::of("I prefer dark themes"), PERSON).unwrap().stored.id;
    let stored = last(stage);
    assert!(stored.starts_with('t'), "{stored}");
    let before = tiers(&ada()).own(&old).unwrap();
    let new = tiers(&ada()).reword(&old, "I prefer light themes", PERSON).unwrap().stored.id;
    assert_eq!((status(stage, &old), status(stage, &new)), (LifeStatus::Superseded, LifeStatus::Active));
    // Both rows at once, and back again.
    for round in 1..3 {
        // At another moment each time: what a redo left is what the change left.
        let at = |minute: u32| stage.person_at("ada", &format!("2026-03-01T12:{minute:02}:00Z"));
        let undone = take_back(&at(round * 2), None).unwrap();
        assert_eq!((undone.status, undone.memories.len()), ("undone", 2), "{undone:?}");
        assert_eq!((status(stage, &old), status(stage, &new)), (LifeStatus::Active, LifeStatus::Retired));
        assert_eq!(tiers(&ada()).own(&old).unwrap().superseded_by, None);
        let found = tiers(&ada()).search("themes", None, 5).unwrap();
        assert_eq!(found.iter().map(|f| f.memory.id.as_str()).collect::<Vec<_>>(), [old.as_str()]);
        take_back(&at(round * 2 + 1), undone.undo.as_deref()).unwrap();
        assert_eq!((status(stage, &old), status(stage, &new)), (LifeStatus::Superseded, LifeStatus::Active));
    }
    let ada = || stage.person_at("ada", "2026-03-01T12:30:00Z");
    take_back(&ada(), None).unwrap();
    assert_eq!(tiers(&ada()).own(&old).unwrap().content, before.content);
    // What is no text.
    tiers(&ada()).set_confidence(&old, 0.5).unwrap();
    let number = last(stage);
    tiers(&ada()).retire(&MemoryId::parse(&old).unwrap(), "no", PERSON).unwrap();
    let refused = take_back(&ada(), Some(&number)).unwrap();
    assert_eq!(refused.status, "changed_since");
    assert!(refused.memories[0].diff.iter().any(|line| line.contains("confidence")), "{refused:?}");
    assert_eq!((status(stage, &old), last(stage) != number), (LifeStatus::Retired, true));
    assert_eq!(take_back(&stage.of("ada"), None).unwrap_err().code, Code::NeedsPerson);
    take_back(&ada(), None).unwrap();
    take_back(&ada(), Some(&number)).unwrap();
    assert_eq!((status(stage, &old), tiers(&ada()).own(&old).unwrap().confidence), (LifeStatus::Active, 1.0));
    assert_eq!(take_back(&ada(), Some(&number)).unwrap_err().code, Code::Usage, "once is enough");
    // What was added goes out of use.
    take_back(&ada(), Some(&stored)).unwrap();
    assert_eq!(status(stage, &old), LifeStatus::Retired);
    assert_eq!(take_back(&ada(), Some("t999")).unwrap_err().code, Code::NotFound);
    tiers(&ada()).verify_audit().unwrap();
    // Thirty days later nothing of it is kept.
    assert!(list(&stage.at("ada", "2026-04-02T12:00:00Z")).unwrap().is_empty());
}

pub(super) fn a_decision_about_a_fact_is_taken_back(stage: &Stage, _: Make<'_>) {
    let ada = || stage.person("ada");
    let old = tiers(&ada()).remember(FactWords::of("I work at Initech"), PERSON).unwrap().stored.id;
    tiers(&stage.of("ada")).remember(FactWords::of("I work at Acme"), AGENT).unwrap_err();
    let item = waiting(stage).remove(0);
    let key = item.key.clone();
    reject(&ada(), &key).unwrap();
    assert_eq!(waiting(stage).len(), 0);
    take_back(&ada(), None).unwrap();
    assert_eq!(waiting(stage)[0].key, key, "the same draft, under the same key");
    let call = ada();
    let new = accept_draft(&call, &shown(&call, waiting(stage).remove(0))).unwrap();
    assert_eq!((status(stage, &old), status(stage, &new)), (LifeStatus::Superseded, LifeStatus::Active));
    assert_eq!(waiting(stage).len(), 0);
    assert_eq!(take_back(&stage.of("ada"), None).unwrap_err().code, Code::NeedsPerson);
    let undone = take_back(&ada(), None).unwrap();
    assert!(undone.memories.iter().any(|step| step.does == "return_to_review"), "{undone:?}");
    assert_eq!((status(stage, &old), status(stage, &new)), (LifeStatus::Active, LifeStatus::Retired));
    assert_eq!(waiting(stage).len(), 1);
    // Deciding again is taking that back.
    take_back(&ada(), undone.undo.as_deref()).unwrap();
    assert_eq!((status(stage, &new), waiting(stage).len()), (LifeStatus::Active, 0));
    take_back(&ada(), Some(&last(stage))).unwrap();
    assert_eq!((status(stage, &new), waiting(stage).len()), (LifeStatus::Retired, 1));
    // Forgetting takes what was kept with it, drafts that were turned down included.
    let call = ada();
    let kept = || {
        let rows = stage.store.kept(tiers(&call).who(), kept_since(moment("2026-03-01T12:00:00Z"))).unwrap();
        serde_json::to_string(&rows).unwrap()
    };
    assert!(kept().contains("Acme"));
    tiers(&call).forget_topic("Acme", std::slice::from_ref(&new)).unwrap();
    assert!(!kept().contains("Acme"), "{}", kept());
    tiers(&call).clear(None).unwrap();
    assert_eq!(kept(), "[]");
    tiers(&call).verify_audit().unwrap();
}

pub(super) fn a_user_goes_with_all_that_is_theirs(stage: &Stage, _: Make<'_>) {
    let ada = stage.person("ada");
    let world = ada.project().world();
    for user in ["ada", "bob"] {
        put_user(stage.store.as_ref(), tiers(&ada).who(), user, world).unwrap();
    }
    give_token(stage.store.as_ref(), tiers(&ada).who(), "bob", "hlm_bob", &Terms::default(), world).unwrap();
    let bob = stage.holder("hlm_bob");
    tiers(&bob).remember(FactWords::of("I work at Zebrafish"), PERSON).unwrap();
    tiers(&bob).remember(FactWords::of("I like zebras"), AGENT).unwrap_err();
    tiers(&ada).remember(FactWords::of("I work at Acme"), PERSON).unwrap();
    let noon = moment("2026-03-01T12:00:00Z");
    let waits = || tiers(&stage.of("bob")).inbox().list(noon).unwrap().len();
    assert_eq!(waits(), 1);
    let ask = |user: &str, dry_run| RemoveUser { user: user.into(), shred: false, dry_run };
    // Neither an agent nor the user's own token, and nobody themselves.
    assert_eq!(users::remove(&stage.of("ada"), &ask("bob", false)).unwrap_err().code, Code::NeedsPerson);
    assert_eq!(users::remove(&bob, &ask("ada", false)).unwrap_err().code, Code::Security);
    assert_eq!(users::remove(&ada, &ask("ada", false)).unwrap_err().code, Code::Usage);
    assert_eq!(users::remove(&ada, &ask("eve", false)).unwrap_err().code, Code::NotFound);
    let would = users::remove(&ada, &ask("bob", true)).unwrap();
    assert_eq!((would.status, would.memories, would.tokens), ("would_remove", 1, 1));
    assert_eq!(users::remove(&ada, &ask("bob", false)).unwrap().status, "removed");
    let now = moment("2026-03-01T12:00:00Z");
    let gone = UserContext::by_token(stage.store.as_ref(), "hlm_bob", now).unwrap_err();
    assert_eq!(gone.code, Code::Unauthenticated);
    assert_eq!(waits(), 0);
    let all = stage.store.accounts(tiers(&ada).who()).unwrap();
    let names: Vec<String> = all.into_iter().map(|a| a.user).filter(|user| user != KEEPER).collect();
    assert_eq!(names, ["ada"]);
    let theirs = tiers(&ada).who().on_behalf("bob").unwrap();
    assert_eq!(stage.store.counts(&theirs).unwrap().facts, 0);
    assert!(stage.store.audit(&theirs, 0, 10).unwrap().is_empty());
    assert!(stage.store.kept(&theirs, kept_since(now)).unwrap().is_empty());
    let told = tiers(&ada).audit(100, |line| line.action.name() == "account_change").unwrap();
    let told = serde_json::to_string(&told).unwrap();
    assert!(told.contains("is to be removed") && told.contains("was removed"), "{told}");
    // Ada keeps hers, and a new bob begins with nothing.
    assert_eq!(stage.store.counts(tiers(&ada).who()).unwrap().facts, 1);
    put_user(stage.store.as_ref(), tiers(&ada).who(), "bob", world).unwrap();
    give_token(stage.store.as_ref(), tiers(&ada).who(), "bob", "hlm_new", &Terms::default(), world).unwrap();
    let new = stage.holder("hlm_new");
    assert!(tiers(&new).newest(None, None, None, 10).unwrap().is_empty());
    tiers(&new).remember(FactWords::of("I work at Initech"), PERSON).unwrap();
    tiers(&new).verify_audit().unwrap();
    tiers(&ada).verify_audit().unwrap();
}

pub(super) fn a_token_says_in_which_hour_it_was_last_used(stage: &Stage, _: Make<'_>) {
    let ada = stage.person("ada");
    let (store, world) = (stage.store.as_ref(), ada.project().world());
    put_user(store, tiers(&ada).who(), "ada", world).unwrap();
    for (name, token) in [("", "hlm_one"), ("ci", "hlm_two")] {
        let terms = Terms { name: name.into(), ..Terms::default() };
        give_token(store, tiers(&ada).who(), "ada", token, &terms, world).unwrap();
    }
    let used = |at: &str| UserContext::by_token(store, "hlm_two", moment(at)).map(drop);
    let listed = || -> Vec<Option<String>> {
        users::list(&ada).unwrap()[0].tokens.iter().map(|token| token.used_at.clone()).collect()
    };
    assert_eq!(listed(), [None, None]);
    used("2026-03-01T12:34:56Z").unwrap();
    used("2026-03-01T12:59:59Z").unwrap();
    assert_eq!(listed(), [None, Some("2026-03-01T12:00:00Z".to_owned())]);
    used("2026-03-01T13:00:01Z").unwrap();
    assert_eq!(listed()[1].as_deref(), Some("2026-03-01T13:00:00Z"));
    // One that takes its place was never used.
    let terms = Terms { name: "ci".into(), ..Terms::default() };
    give_token(store, tiers(&ada).who(), "ada", "hlm_three", &terms, world).unwrap();
    assert_eq!(listed(), [None, None]);
    used("2026-03-01T14:00:00Z").unwrap_err();
    assert_eq!(listed(), [None, None], "what was revoked comes back by no look at it");
}

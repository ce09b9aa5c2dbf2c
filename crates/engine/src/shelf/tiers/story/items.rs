//! Items of programs: keys, places, tiers, archives.

use super::super::{
    ImportRules, Indexed, Item, ItemWords, LifeStatus, Terms, Tier, Whose, give_token, labelled, of_user,
    put_user, under,
};
use super::{AGENT, Make, Stage, tiers};
use crate::Call;
use crate::shelf::Shelf as _;
use heirloom_core::{Code, Grant, MemoryId, Scopes, Trust};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::Cursor;

fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(|word| (*word).to_owned()).collect()
}

fn value(json: Value) -> Map<String, Value> {
    json.as_object().cloned().unwrap()
}

fn item(namespace: &[&str], key: &str, json: Value) -> ItemWords {
    ItemWords::of(Item::named(words(namespace), key, value(json)))
}

/// A program of ada's whose token may store facts.
fn program(stage: &Stage) -> Call {
    let ada = stage.person("ada");
    let store = stage.store.as_ref();
    put_user(store, tiers(&ada).who(), "ada", ada.project().world()).unwrap();
    let terms = Terms { scopes: Scopes::USUAL.with(Grant::Facts), ..Terms::default() };
    give_token(store, tiers(&ada).who(), "ada", "hlm_items", &terms, ada.project().world()).unwrap();
    stage.holder("hlm_items")
}

pub(super) fn the_same_key_replaces_and_history_is_kept(stage: &Stage, _: Make<'_>) {
    let call = program(stage);
    let first =
        tiers(&call).put_item(item(&["users", "ann"], "tea", json!({ "likes": "green" })), AGENT).unwrap();
    assert_eq!(
        (first.status, first.stored.tier, first.stored.trust),
        ("created", Tier::Semantic, Trust::Low)
    );
    assert_eq!((first.stored.source().name(), first.stored.expires_at), ("ai_inference", None));
    // Nearly the same words under another key are another item.
    let other =
        tiers(&call).put_item(item(&["users", "bob"], "tea", json!({ "likes": "green" })), AGENT).unwrap();
    assert_eq!(other.status, "created");
    let second =
        tiers(&call).put_item(item(&["users", "ann"], "tea", json!({ "likes": "black" })), AGENT).unwrap();
    assert_eq!((second.status, &second.stored.supersedes), ("updated", &vec![first.stored.id.clone()]));
    let at = |call: &Call| tiers(call).item_at(&words(&["users", "ann"]), "tea").unwrap();
    assert_eq!(at(&call).unwrap().id, second.stored.id);
    assert_eq!(at(&call).unwrap().item.unwrap().value.unwrap(), json!({ "likes": "black" }));
    assert_eq!(tiers(&call).show(&first.stored.id).unwrap().status, LifeStatus::Superseded);
    let history = tiers(&call).history(&MemoryId::parse(&second.stored.id).unwrap()).unwrap();
    assert_eq!(history.len(), 2);
    let slot = second.stored.slot().unwrap();
    assert_eq!(tiers(&call).item_versions(&slot).unwrap().len(), 2);
    // Two who looked before either wrote: one of them is in use afterwards.
    let blind = Item {
        first: None,
        ..Item::named(words(&["users", "ann"]), "tea", value(json!({ "likes": "mint" })))
    };
    let late = tiers(&call).add_items(vec![ItemWords::of(blind)], AGENT).unwrap();
    assert_eq!(at(&call).unwrap().id, late[0].stored.id);
    assert_eq!(tiers(&call).show(&second.stored.id).unwrap().superseded_by, Some(late[0].stored.id.clone()));
    assert_eq!(tiers(&call).items(&under(&words(&["users", "ann"])), |_, _| true).unwrap().len(), 1);
    // Out of use, and back by what the change kept.
    tiers(&call).retire_item(&late[0].stored, AGENT).unwrap();
    assert_eq!(at(&call), None);
    tiers(&call).restore(&MemoryId::parse(&late[0].stored.id).unwrap(), AGENT).unwrap();
    assert!(at(&call).is_some());
    // A shared database lets nobody remove whose token lacks the scope for it.
    let ada = stage.person("ada");
    let gone = tiers(&ada).forget_items(&[slot]).unwrap();
    assert_eq!((gone.len(), at(&call)), (3, None));
    assert!(tiers(&call).item_at(&words(&["users", "bob"]), "tea").unwrap().is_some());
}

pub(super) fn without_the_scope_facts_an_item_ends(stage: &Stage, _: Make<'_>) {
    let call = stage.of("ada");
    let put = |call: &Call, item: ItemWords| tiers(call).put_item(item, AGENT);
    let first = put(&call, item(&["a"], "k", json!({ "n": 1 }))).unwrap();
    assert_eq!((first.stored.tier, first.stored.trust), (Tier::Episodic, Trust::Low));
    assert!(first.stored.expires_at.is_some());
    let second = put(&call, item(&["a"], "k", json!({ "n": 2 }))).unwrap();
    assert_eq!(second.status, "updated");
    assert_eq!(tiers(&call).item_at(&words(&["a"]), "k").unwrap().unwrap().id, second.stored.id);
    let short = ItemWords { minutes: Some(5.0), ..item(&["a"], "short", json!({})) };
    put(&call, short.clone()).unwrap();
    let later = stage.at("ada", "2026-03-01T12:06:00Z");
    assert_eq!(tiers(&later).item_at(&words(&["a"]), "short").unwrap(), None);
    assert_eq!(tiers(&later).items(&under(&[]), |_, _| true).unwrap().len(), 1);
    for minutes in [0.0, -1.0, f64::NAN, 600_000.0] {
        let fault = put(&call, ItemWords { minutes: Some(minutes), ..short.clone() }).unwrap_err();
        assert_eq!((fault.code, fault.get("field")), (Code::Validation, Some("ttl_minutes")));
    }
    // An end makes a turn of it, whatever its writer may.
    let program = program(stage);
    let ends = ItemWords { minutes: Some(60.0), ..item(&["a"], "ends", json!({})) };
    assert_eq!(put(&program, ends).unwrap().stored.tier, Tier::Episodic);
    // What holds a secret is cut out of a turn, refused in a fact, and refused in a name of either.
    let secret = super::token();
    let kept = put(&call, item(&["a"], "s", json!({ "deep": [{ "key": secret }] }))).unwrap();
    assert!(!serde_json::to_string(&kept.stored).unwrap().contains(&secret) && !kept.notes.is_empty());
    let fault = put(&program, item(&["a"], "s", json!({ "key": secret }))).unwrap_err();
    assert_eq!(fault.code, Code::GateRefused);
    for hidden in [
        item(&["a", &secret], "k", json!({})),
        item(&["a"], &secret, json!({})),
        item(&["a"], "k", json!({ &secret: 1 })),
        ItemWords {
            text: Some("x".into()),
            ..ItemWords::of(Item::labelled(BTreeMap::from([("run_id".to_owned(), secret.clone())]), None))
        },
    ] {
        let fault = put(&call, hidden).unwrap_err();
        assert_eq!(fault.code, Code::GateRefused);
        assert!(!format!("{fault:?}").contains(&secret));
    }
    let password = put(&call, item(&["a"], "p", json!({ "password": "hunter2-is-long" }))).unwrap();
    assert!(!serde_json::to_string(&password.stored).unwrap().contains("hunter2"));
}

pub(super) fn items_are_listed_by_how_their_place_begins(stage: &Stage, _: Make<'_>) {
    let call = stage.of("ada");
    for (n, namespace) in [&["a"][..], &["a", "b"], &["a", "b", "c"], &["ab"], &["z"]].into_iter().enumerate()
    {
        tiers(&call).put_item(item(namespace, "k", json!({ "n": n })), AGENT).unwrap();
    }
    let user = |name: &str, text: &str| ItemWords {
        text: Some(text.to_owned()),
        ..ItemWords::of(Item::labelled(BTreeMap::from([("user_id".to_owned(), name.to_owned())]), None))
    };
    tiers(&call).add_items(vec![user("ann", "one"), user("ann", "two"), user("an", "three")], AGENT).unwrap();
    let count = |under: &str| tiers(&call).items(under, |_, _| true).unwrap().len();
    assert_eq!(
        [count(&under(&[])), count(&under(&words(&["a"]))), count(&under(&words(&["a", "b"])))],
        [5, 3, 2]
    );
    assert_eq!(
        [count(&labelled()), count(&of_user("ann")), count(&of_user("an")), count(&of_user("a"))],
        [3, 2, 1, 0]
    );
    assert_eq!(tiers(&stage.of("bob")).items(&under(&[]), |_, _| true).unwrap().len(), 0);
    // Nothing of it is taken for a conversation, and search finds it like everything else.
    assert!(tiers(&call).search("one", None, 5).unwrap().iter().any(|found| found.memory.content == "one"));
    let silent =
        ItemWords { indexed: Indexed::Nothing, ..item(&["a"], "silent", json!({ "t": "xylophone" })) };
    let kept = tiers(&call).put_item(silent, AGENT).unwrap();
    assert!(kept.stored.content.is_empty() && kept.stored.memory().body.contains("xylophone"));
    assert!(tiers(&call).search("xylophone", None, 5).unwrap().iter().all(|f| f.memory.id != kept.stored.id));
}

pub(super) fn an_archive_carries_items_whole(stage: &Stage, make: Make<'_>) {
    let call = program(stage);
    let odd = json!({ "nul": "a\u{0}b", "f": 1.0, "big": u64::MAX, "z": 1, "a": null });
    let kept = tiers(&call).put_item(item(&["größe", "🎈"], "k", odd.clone()), AGENT).unwrap();
    tiers(&call).put_item(item(&["größe", "🎈"], "k2", json!({ "v": 1 })), AGENT).unwrap();
    tiers(&call).put_item(item(&["größe", "🎈"], "k2", json!({ "v": 2 })), AGENT).unwrap();
    let ada = stage.person("ada");
    let mut bytes = Vec::new();
    tiers(&ada).export(Whose::Own, &mut bytes, &mut |_| {}).unwrap();
    let other = Stage { store: make(), folder: stage.folder.clone(), settings: stage.settings.clone() };
    let there = other.person("ada");
    let bring =
        || tiers(&there).import(&mut Cursor::new(&bytes), ImportRules::default(), &mut |_| {}).unwrap();
    assert_eq!(bring().added, 3);
    let found = tiers(&there).item_at(&words(&["größe", "🎈"]), "k").unwrap().unwrap();
    assert_eq!(found, tiers(&call).item_at(&words(&["größe", "🎈"]), "k").unwrap().unwrap());
    assert_eq!((found.id, found.item.unwrap().value.unwrap()), (kept.stored.id, odd));
    assert_eq!(bring().added, 0);
    // A key that is in use there is left as it is.
    tiers(&there).put_item(item(&["größe", "🎈"], "k3", json!({ "v": "newer" })), AGENT).unwrap();
    let last = Stage { store: make(), folder: stage.folder.clone(), settings: stage.settings.clone() };
    let last = last.person("ada");
    tiers(&last).put_item(item(&["größe", "🎈"], "k2", json!({ "v": "kept" })), AGENT).unwrap();
    let brought = tiers(&last).import(&mut Cursor::new(&bytes), ImportRules::default(), &mut |_| {}).unwrap();
    assert_eq!((brought.added, brought.known), (2, 1));
    let now = tiers(&last).item_at(&words(&["größe", "🎈"]), "k2").unwrap().unwrap();
    assert_eq!(now.item.unwrap().value.unwrap(), json!({ "v": "kept" }));
}

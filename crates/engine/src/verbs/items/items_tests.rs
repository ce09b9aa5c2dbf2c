//! Items, driven as doors drive them: a call with its caller, a request, an answer.

use super::super::tests::Desk;
use super::super::undo::{Undo, undo};
use super::*;
use heirloom_core::{Caller, Scopes, Who};
use serde_json::json;
use std::collections::BTreeMap;

fn token(scopes: Scopes) -> Caller {
    Caller::process("tester").known_by(Who::Token { user: "tester".into(), id: "1".into() }, scopes)
}

fn call(desk: &Desk, scopes: Scopes) -> Call {
    desk.call(token(scopes))
}

fn facts() -> Scopes {
    Scopes::USUAL.with(Grant::Facts)
}

fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(|word| (*word).to_owned()).collect()
}

fn item(namespace: &[&str], key: &str, value: Value) -> Put {
    let value = value.as_object().cloned().unwrap();
    Put { namespace: words(namespace), key: key.to_owned(), value, ..Put::default() }
}

fn name(namespace: &[&str], key: &str) -> Name {
    Name { namespace: words(namespace), key: key.to_owned() }
}

fn stored(call: &Call, ask: &Put) -> Item {
    put(call, ask).unwrap().done().unwrap()
}

fn user(id: &str) -> BTreeMap<String, String> {
    BTreeMap::from([("user_id".to_owned(), id.to_owned())])
}

fn said(text: &str, labels: BTreeMap<String, String>) -> Keep {
    Keep { labels, messages: vec![Message { role: None, text: text.to_owned() }], ..Keep::default() }
}

fn kept(call: &Call, text: &str, labels: BTreeMap<String, String>) -> Labelled {
    keep(call, &said(text, labels)).unwrap().done().unwrap().remove(0)
}

#[test]
fn an_item_is_kept_read_replaced_and_removed() {
    let desk = Desk::new();
    let call = call(&desk, facts());
    let first = stored(&call, &item(&["users", "ann"], "tea", json!({ "likes": "green", "n": 1 })));
    assert!(first.id.starts_with("fact:") && first.expires_at.is_none());
    let later = desk.call_at("2026-01-10T09:00:05Z", token(facts()), |_| {});
    let second = stored(&later, &item(&["users", "ann"], "tea", json!({ "likes": "black" })));
    assert_eq!(second.created_at, first.created_at);
    assert!(second.updated_at > first.updated_at && second.id != first.id);
    assert_eq!(get(&later, &name(&["users", "ann"], "tea")).unwrap(), second);
    assert_eq!(get(&later, &name(&["users"], "tea")).unwrap_err().code, Code::NotFound);
    // The ordinary verbs show it.
    let memory =
        super::super::show::show(&later, &super::super::show::Show { id: second.id.clone() }).unwrap().memory;
    assert_eq!(memory.fields["item"]["value"], json!({ "likes": "black" }));
    assert_eq!(
        (memory.title.as_str(), memory.body.as_str()),
        ("users/ann/tea: likes: black", "likes: black")
    );
    // What one call changed is taken back together, so that this is a call of its own.
    let later = desk.call_at("2026-01-10T09:00:06Z", token(facts()), |_| {});
    assert!(delete(&later, &name(&["users", "ann"], "tea")).unwrap().done().unwrap().deleted);
    assert_eq!(find(&later, &name(&["users", "ann"], "tea")).unwrap(), None);
    assert!(!delete(&later, &name(&["users", "ann"], "tea")).unwrap().done().unwrap().deleted);
    // Without the scope delete it is out of use, and can be taken back.
    let later = desk.call_at("2026-01-10T09:00:07Z", token(facts()), |_| {});
    undo(&later, &Undo { number: None, dry_run: false }).unwrap();
    assert_eq!(get(&later, &name(&["users", "ann"], "tea")).unwrap().id, second.id);
}

#[test]
fn with_the_scope_delete_every_version_is_gone_for_good() {
    let desk = Desk::new();
    let call = call(&desk, facts().with(Grant::Delete));
    let first = stored(&call, &item(&["a"], "k", json!({ "word": "quuxocelot" })));
    stored(&call, &item(&["a"], "k", json!({ "word": "xyloquokka" })));
    assert!(delete(&call, &name(&["a"], "k")).unwrap().done().unwrap().deleted);
    let show = super::super::show::Show { id: first.id };
    assert_eq!(super::super::show::show(&call, &show).unwrap_err().code, Code::NotFound);
    let mut files = vec![desk.folder.path().join("data")];
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            let bytes = std::fs::read(&path).unwrap();
            let holds = |word: &str| bytes.windows(word.len()).any(|part| part == word.as_bytes());
            assert!(!holds("quuxocelot") && !holds("xyloquokka"), "{}", path.display());
        }
    }
}

#[test]
fn without_the_scope_facts_the_answer_says_when_it_ends() {
    let desk = Desk::new();
    let kept = stored(&call(&desk, Scopes::USUAL), &item(&["a"], "k", json!({ "n": 1 })));
    assert!(kept.id.starts_with("episode:"));
    assert_eq!(kept.expires_at.as_deref(), Some("2026-04-10T09:00:00Z"));
    let ends = Put { ttl_minutes: Some(1.0), ..item(&["a"], "k", json!({ "n": 2 })) };
    let kept = stored(&call(&desk, facts()), &ends);
    assert_eq!(kept.expires_at.as_deref(), Some("2026-01-10T09:01:00Z"));
}

#[test]
fn a_token_without_the_scope_is_refused_whatever_is_there() {
    let desk = Desk::new();
    stored(&call(&desk, facts()), &item(&["a"], "k", json!({})));
    let reads = call(&desk, Scopes::NONE.with(Grant::Read));
    let writes = call(&desk, Scopes::NONE.with(Grant::Write));
    let refused = |fault: Fault| assert_eq!(fault.code, Code::Security);
    refused(put(&reads, &item(&["a"], "k", json!({}))).unwrap_err());
    for key in ["k", "none"] {
        refused(delete(&reads, &name(&["a"], key)).unwrap_err());
        refused(find(&writes, &name(&["a"], key)).unwrap_err());
    }
    refused(search(&writes, &Search::default()).unwrap_err());
    refused(namespaces(&writes, &Namespaces::default()).unwrap_err());
    refused(keep(&reads, &said("x", user("ann"))).unwrap_err());
    refused(remove_all(&reads, &user("ann")).unwrap_err());
    refused(entities(&writes).unwrap_err());
}

#[test]
fn a_search_stays_below_its_namespace_and_meets_its_filter() {
    let desk = Desk::new();
    let call = call(&desk, facts());
    for n in 0..30 {
        let text = format!("green tea number {n} is what others drink");
        stored(&call, &item(&["others", "x"], &format!("k{n}"), json!({ "text": text })));
    }
    stored(
        &call,
        &item(&["users", "ann"], "a", json!({ "text": "I drink green tea in the morning", "n": 1 })),
    );
    stored(&call, &item(&["users", "ann"], "b", json!({ "text": "The bicycle has a flat tyre", "n": 2 })));
    let silent = Put {
        index: Some(Index::All(false)),
        ..item(&["users", "ann"], "c", json!({ "text": "green tea", "n": 3 }))
    };
    stored(&call, &silent);
    let keys = |ask: Search| -> Vec<String> {
        search(&call, &ask).unwrap().items.into_iter().map(|item| item.key).collect()
    };
    let ann = Search { namespace_prefix: words(&["users", "ann"]), ..Search::default() };
    assert_eq!(keys(ann.clone()), ["a", "b", "c"]);
    assert_eq!(keys(Search { query: Some("green tea".into()), ..ann.clone() }), ["a", "b", "c"]);
    assert_eq!(keys(Search { query: Some("what is wrong with the bicycle?".into()), ..ann.clone() })[0], "b");
    let found = search(&call, &Search { query: Some("green tea".into()), ..ann.clone() }).unwrap().items;
    assert!(found[0].score > found[1].score && found[2].score.is_none(), "{found:?}");
    let filter = |filter: Value| Search { filter: filter.as_object().cloned(), ..ann.clone() };
    assert_eq!(keys(filter(json!({ "n": { "$gte": 2 } }))), ["b", "c"]);
    assert_eq!(keys(Search { offset: 1, limit: Some(1), ..ann.clone() }), ["b"]);
    assert_eq!(keys(Search { limit: Some(100), ..Search::default() }).len(), 33);
    let wrong = search(&call, &filter(json!({ "n": { "$like": 2 } }))).unwrap_err();
    assert_eq!(wrong.code, Code::Validation);
}

#[test]
fn namespaces_are_listed_by_how_they_begin_and_end() {
    let desk = Desk::new();
    let call = call(&desk, facts());
    for namespace in [&["a", "b", "c"][..], &["a", "b", "d"], &["a", "x", "d"], &["z"]] {
        stored(&call, &item(namespace, "k", json!({})));
    }
    let listed = |ask: Namespaces| -> Vec<String> {
        namespaces(&call, &ask).unwrap().namespaces.iter().map(|words| words.join("/")).collect()
    };
    let one = |side, path: &[&str]| Match { side, path: words(path) };
    use search::Side::{Prefix, Suffix};
    assert_eq!(listed(Namespaces::default()), ["a/b/c", "a/b/d", "a/x/d", "z"]);
    let both = Namespaces {
        conditions: vec![one(Prefix, &["a", "*"]), one(Suffix, &["d"])],
        ..Namespaces::default()
    };
    assert_eq!(listed(both), ["a/b/d", "a/x/d"]);
    assert_eq!(listed(Namespaces { max_depth: Some(2), ..Namespaces::default() }), ["a/b", "a/x", "z"]);
    assert_eq!(listed(Namespaces { limit: Some(1), offset: 1, ..Namespaces::default() }), ["a/b/d"]);
}

#[test]
fn a_batch_is_done_in_order_and_ends_where_something_is_refused() {
    let desk = Desk::new();
    let call = call(&desk, facts());
    let ask: Batch = serde_json::from_value(json!({ "operations": [
        { "op": "get", "namespace": ["a"], "key": "k" },
        { "op": "put", "namespace": ["a"], "key": "k", "value": { "n": 1 } },
        { "op": "get", "namespace": ["a"], "key": "k" },
        { "op": "search", "namespace_prefix": ["a"] },
        { "op": "namespaces" },
        { "op": "delete", "namespace": ["a"], "key": "k" },
    ] }))
    .unwrap();
    let results = batch(&call, &ask).unwrap().results;
    assert!(results[0].is_null() && results[2]["value"] == json!({ "n": 1 }));
    assert_eq!((&results[3]["items"][0]["key"], &results[4]["namespaces"]), (&json!("k"), &json!([["a"]])));
    assert_eq!(results[5], json!({ "deleted": true }));
    let bad = vec![
        Operation::Put(item(&["a"], "one", json!({}))),
        Operation::Put(item(&["a"], "", json!({}))),
        Operation::Put(item(&["a"], "three", json!({}))),
    ];
    let fault = batch(&call, &Batch { operations: bad }).unwrap_err();
    assert_eq!((fault.code, fault.get("operation")), (Code::Validation, Some("1")));
    assert!(
        find(&call, &name(&["a"], "one")).unwrap().is_some()
            && find(&call, &name(&["a"], "three")).unwrap().is_none()
    );
}

#[test]
fn what_a_person_accepted_is_replaced_and_removed_only_with_that_persons_yes() {
    let desk = Desk::new();
    let person = desk.person();
    stored(&person, &item(&["a"], "k", json!({ "v": "mine" })));
    let program = call(&desk, facts());
    let waits = put(&program, &item(&["a"], "k", json!({ "v": "theirs" }))).unwrap();
    assert!(matches!(waits, Outcome::Waits(_)), "{waits:?}");
    assert!(matches!(delete(&program, &name(&["a"], "k")).unwrap(), Outcome::Waits(_)));
    let both = vec![
        Operation::Put(item(&["a"], "k", json!({ "v": "theirs too" }))),
        Operation::Put(item(&["a"], "other", json!({}))),
    ];
    let results = batch(&program, &Batch { operations: both }).unwrap().results;
    assert_eq!((&results[0]["status"], &results[1]["key"]), (&json!("waits"), &json!("other")));
    assert_eq!(get(&program, &name(&["a"], "k")).unwrap().value, json!({ "v": "mine" }));
}

#[test]
fn labelled_items_keep_their_id_when_they_are_said_anew() {
    let desk = Desk::new();
    let call = call(&desk, facts());
    let first = kept(&call, "I like green tea", user("ann"));
    let changed = change(
        &call,
        &Change { id: first.id.clone(), text: Some("I like black tea".into()), ..Change::default() },
    )
    .unwrap()
    .done()
    .unwrap();
    assert_eq!((changed.id.as_str(), changed.text.as_str()), (first.id.as_str(), "I like black tea"));
    assert_ne!(changed.version, first.version);
    let metadata = json!({ "k": "v" }).as_object().cloned();
    change(&call, &Change { id: first.id.clone(), metadata, ..Change::default() }).unwrap().done().unwrap();
    assert_eq!(one(&call, &first.id).unwrap().metadata, Some(json!({ "k": "v" })));
    remove(&call, &first.id).unwrap().done().unwrap();
    assert_eq!(one(&call, &first.id).unwrap_err().code, Code::NotFound);
    let steps: Vec<(&str, Option<String>, Option<String>)> = history(&call, &first.id)
        .unwrap()
        .into_iter()
        .map(|step| (step.event, step.before, step.after))
        .collect();
    let (green, black) = (Some("I like green tea".to_owned()), Some("I like black tea".to_owned()));
    assert_eq!(
        steps,
        [
            ("ADD", None, green.clone()),
            ("UPDATE", green, black.clone()),
            ("UPDATE", black.clone(), black.clone()),
            ("DELETE", black, None)
        ]
    );
}

#[test]
fn removing_by_labels_takes_what_carries_all_of_them_and_nothing_else() {
    let desk = Desk::new();
    for scopes in [facts(), facts().with(Grant::Delete)] {
        let call = call(&desk, scopes);
        let mut both = user("ann");
        both.insert("agent_id".to_owned(), "coach".to_owned());
        kept(&call, "one", user("ann"));
        kept(&call, "two", both.clone());
        let bob = kept(&call, "three", user("bob"));
        let count = |ask: &BTreeMap<String, String>| {
            let condition = Condition::labels(ask);
            matching(&call, &Matching { condition, query: None, threshold: None, limit: 100 }).unwrap().len()
        };
        for wrong in [BTreeMap::new(), user("*")] {
            assert_eq!(remove_all(&call, &wrong).unwrap_err().code, Code::Validation);
        }
        assert_eq!(remove_all(&call, &user("nobody")).unwrap().done().unwrap(), 0);
        assert_eq!([count(&user("ann")), count(&user("bob"))], [2, 1]);
        assert_eq!(remove_all(&call, &both).unwrap().done().unwrap(), 1);
        assert_eq!([count(&user("ann")), count(&user("bob"))], [1, 1]);
        assert_eq!(remove_all(&call, &user("ann")).unwrap().done().unwrap(), 1);
        assert_eq!([count(&user("ann")), count(&user("bob"))], [0, 1]);
        let names: Vec<(&str, String)> =
            entities(&call).unwrap().into_iter().map(|one| (one.label, one.name)).collect();
        assert_eq!(names, [("user_id", "bob".to_owned())]);
        remove(&call, &bob.id).unwrap().done().unwrap();
    }
}

#[test]
fn messages_are_kept_all_or_none_and_word_for_word() {
    let desk = Desk::new();
    let call = call(&desk, facts());
    let text = "  Two spaces,\n a line and \"quotes\"  ";
    assert_eq!(kept(&call, text, user("ann")).text, text);
    let key = ["ghp_", "aB3dE5gH7jK9mN1pQ3", "sT5vW7yZ9bC1dE3fG5"].concat();
    let two = Keep {
        labels: user("ann"),
        messages: vec![
            Message { role: None, text: "this one is fine".into() },
            Message { role: None, text: format!("the deploy key is {key}") },
        ],
        ..Keep::default()
    };
    assert_eq!(keep(&call, &two).unwrap_err().code, Code::GateRefused);
    let all =
        Matching { condition: Condition::labels(&user("ann")), query: None, threshold: None, limit: 10 };
    assert_eq!(matching(&call, &all).unwrap().len(), 1);
    for wrong in [String::new(), " ".into(), "a\0b".into(), "x".repeat(10_001)] {
        assert_eq!(keep(&call, &said(&wrong, user("ann"))).unwrap_err().code, Code::Validation);
    }
    assert_eq!(keep(&call, &said("x", BTreeMap::new())).unwrap_err().code, Code::Validation);
}

#[test]
fn conditions_are_put_together_as_they_say() {
    let desk = Desk::new();
    let call = call(&desk, facts());
    let tagged = |text: &str, id: &str, metadata: Value| {
        let metadata = metadata.as_object().cloned();
        keep(&call, &Keep { metadata, ..said(text, user(id)) }).unwrap().done().unwrap();
    };
    tagged("green tea", "ann", json!({ "n": 1, "tags": ["hot", "drink"] }));
    tagged("black coffee", "ann", json!({ "n": 2 }));
    tagged("red wine", "bob", json!({ "n": 3 }));
    let texts = |condition: Condition| -> Vec<String> {
        let mut all: Vec<String> =
            matching(&call, &Matching { condition, query: None, threshold: None, limit: 10 })
                .unwrap()
                .into_iter()
                .map(|one| one.text)
                .collect();
        all.sort();
        all
    };
    let field = |name: &str, compare, value: Value| Condition::Field(name.to_owned(), compare, value);
    let any = || field("user_id", Compare::Exists, Value::Null);
    assert_eq!(texts(any()).len(), 3);
    let with = |more: Condition| texts(Condition::All(vec![any(), more]));
    assert_eq!(with(field("n", Compare::Greater, json!(1))), ["black coffee", "red wine"]);
    assert_eq!(with(field("tags", Compare::Contains, json!("hot"))), ["green tea"]);
    assert_eq!(with(field("text", Compare::ContainsAnyCase, json!("COFFEE"))), ["black coffee"]);
    assert_eq!(with(field("created_at", Compare::GreaterOrEqual, json!("2026-01-10"))).len(), 3);
    assert_eq!(with(field("created_at", Compare::Less, json!("2026-01-10"))).len(), 0);
    let both = vec![field("n", Compare::Equal, json!(1)), field("user_id", Compare::Equal, json!("bob"))];
    assert_eq!(texts(Condition::Any(both.clone())), ["green tea", "red wine"]);
    assert_eq!(texts(Condition::None(both.clone())), ["black coffee"]);
    assert_eq!(texts(Condition::All(both)), Vec::<String>::new());
    assert_eq!(texts(field("user_id", Compare::In, json!(["ann", "eve"]))), ["black coffee", "green tea"]);
    let nameless =
        Matching { condition: field("n", Compare::Equal, json!(1)), query: None, threshold: None, limit: 1 };
    assert_eq!(matching(&call, &nameless).unwrap_err().code, Code::Validation);
}

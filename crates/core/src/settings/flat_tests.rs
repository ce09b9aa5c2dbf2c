use super::*;
use crate::settings::{Layer, Origin, Profile, Settings, load, needs_person};
use crate::{Channel, ShelfName, Trust};
use proptest::prelude::*;
use serde_json::json;

fn as_project(document: Value) -> Settings {
    load(&[Layer { origin: Origin::Project, document }]).settings
}

/// Names of settings, with a category or an agent in the place of `*`.
fn names() -> impl Strategy<Value = String> {
    prop::sample::select(KEYS).prop_map(|key| key.name.replace('*', "decision"))
}

/// A document in which a dotted name is cut into nested parts wherever `cuts` says so.
fn spelled(name: &str, cuts: &[bool], value: Value) -> Value {
    let parts: Vec<&str> = name.split('.').collect();
    let mut groups: Vec<String> = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        match groups.last_mut() {
            Some(last) if !cuts[at % cuts.len()] => *last = format!("{last}.{part}"),
            _ => groups.push((*part).to_owned()),
        }
    }
    groups.into_iter().rev().fold(value, |inner, group| json!({ group: inner }))
}

proptest! {
    #[test]
    fn every_leaf_is_found_whichever_nesting_or_dotting_spelled_it(
        name in names(), cuts in prop::collection::vec(any::<bool>(), 1..5), value in -5i64..5
    ) {
        let document = spelled(&name, &cuts, json!(value));
        let flat = flatten(&document);
        prop_assert!(flat.unmapped.is_empty());
        prop_assert_eq!(flat.leaves.len(), 1);
        let leaf = flat.leaves[&name];
        prop_assert_eq!(leaf.value, &json!(value));
        prop_assert_eq!(Key::find(&name).unwrap().name, leaf.key.name);
    }

    #[test]
    fn what_is_set_is_the_only_spelling_left_and_what_is_removed_is_gone(
        name in names(), cuts in prop::collection::vec(any::<bool>(), 1..5), other in names()
    ) {
        let mut document = spelled(&name, &cuts, json!(1));
        set(&mut document, &other, json!(3));
        set(&mut document, &name, json!(2));
        let flat = flatten(&document);
        prop_assert!(flat.unmapped.is_empty(), "{:?}", flat.unmapped);
        prop_assert_eq!(flat.leaves[&name].value, &json!(2));
        prop_assert!(remove(&mut document, &name));
        prop_assert!(!flatten(&document).leaves.contains_key(&name));
        prop_assert!(!remove(&mut document, &name));
    }

    #[test]
    fn no_name_is_lost_without_a_word(name in "[a-zA-Z. ]{1,24}", value in 0i64..3) {
        let document = json!({ &name: value });
        let flat = flatten(&document);
        prop_assert_eq!(flat.leaves.len() + flat.unmapped.len(), 1);
    }
}

#[test]
fn a_name_in_another_case_or_with_blanks_is_refused_and_named() {
    for name in
        ["Gate.profile", " gate.profile", "gate.profile ", "gate .profile", "gate..profile", ".gate", "gate"]
    {
        let document = json!({ name: "seed" });
        let flat = flatten(&document);
        assert!(flat.leaves.is_empty(), "{name}");
        assert_eq!(flat.unmapped[0].name, name);
    }
    let document = json!({ "Gate": { "profile": "seed" }, "gate": { "Profile": "seed" } });
    assert_eq!(flatten(&document).unmapped.len(), 2);
    let document = json!({ "gate.profile.deeper": 1 });
    assert_eq!(flatten(&document).unmapped.len(), 1);
}

#[test]
fn lists_and_what_stands_in_the_place_of_a_setting_are_leaves() {
    let document = json!({ "gate": { "rules": [{ "id": "a" }], "profile": { "vault": "seed" } }, "vault.scopes": ["a"] });
    let flat = flatten(&document);
    let names: Vec<&str> = flat.leaves.keys().map(String::as_str).collect();
    assert_eq!(names, ["gate.profile", "gate.rules", "vault.scopes"]);
}

#[test]
fn of_a_guarded_setting_given_twice_the_stricter_value_counts() {
    for document in [
        json!({ "gate": { "contact": "redact" }, "gate.contact": "keep" }),
        json!({ "gate.contact": "keep", "gate": { "contact": "redact" } }),
        json!({ "gate.contact": "keep", "gate": { "contact": 7 } }),
    ] {
        let loaded = load(&[Layer { origin: Origin::User, document }]);
        assert_eq!(loaded.settings.gate.contact, crate::settings::Contact::Redact);
        assert!(loaded.warnings.iter().any(|w| w.name == "gate.contact" && w.message.contains("twice")));
    }
}

#[test]
fn a_dotted_name_in_a_projects_file_meets_the_same_guard() {
    for document in [json!({ "gate.profile": "seed" }), json!({ "gate": { "profiles.records": "seed" } })] {
        let settings = as_project(document);
        assert_eq!(settings.gate.profile(ShelfName::Records), Profile::Standard);
    }
    let aimed =
        json!({ "embedding.url": "https://evil.example", "embedding": { "model": "m", "dimensions": 3 } });
    assert!(as_project(aimed).embedding.is_none());
    assert_eq!(as_project(json!({ "retrieval.max_inject": 2 })).retrieval.max_inject, 2);
}

#[test]
fn of_the_tiers_a_project_may_turn_capture_off_and_lower_trust_and_nothing_else() {
    let loose = json!({ "tiers": { "capture": true, "episode_days": 1, "max_facts": 0, "max_tokens": 9, "audit_days": 1,
        "working_messages": 1, "recency_weight": 1.0, "trust": { "agent": "high", "web": "medium", "owner_message": "medium",
        "tool_read": "low" } } });
    let loaded = load(&[Layer { origin: Origin::Project, document: loose }]);
    let (tiers, usual) = (&loaded.settings.tiers, Settings::standard().tiers);
    let expected = crate::settings::Tiers {
        trust: vec![(Channel::OwnerMessage, Trust::Medium), (Channel::ToolRead, Trust::Low)],
        ..usual
    };
    assert_eq!(*tiers, expected);
    assert_eq!(loaded.warnings.len(), 9, "{:?}", loaded.warnings);
    // Not even something stricter: whose turns are refused, and what the audit of them says, is the user's.
    for (name, value) in [("fail_on_secret", true), ("audit_queries", false), ("capture_tools", false)] {
        let document = |value: bool| json!({ "tiers": { name: value } });
        let layers = [
            Layer { origin: Origin::Project, document: document(value) },
            Layer { origin: Origin::User, document: document(!value) },
        ];
        let loaded = load(&layers);
        let counts = loaded.values.iter().find(|one| one.name == format!("tiers.{name}")).unwrap();
        assert_eq!((&counts.value, counts.origin), (&json!(!value), Origin::User), "{name}");
        assert_eq!(loaded.warnings.len(), 1, "{name}: {:?}", loaded.warnings);
    }
    let layers = [
        Layer { origin: Origin::Project, document: json!({ "tiers.capture": false }) },
        Layer { origin: Origin::User, document: json!({ "tiers": { "capture": true } }) },
    ];
    assert!(!load(&layers).settings.tiers.capture);
}

#[test]
fn a_value_that_only_looks_strict_needs_a_person() {
    let needs = |name: &str, value: Value| needs_person(Key::find(name).unwrap(), &value);
    assert!(needs("gate.profile", json!("seed")) && !needs("gate.profile", json!("standard")));
    assert!(needs("tiers.capture", json!("false")), "a text counts as on");
    assert!(needs("tiers.capture", json!(true)) && !needs("tiers.capture", json!(false)));
    assert!(!needs("gate.contact", json!(["keep"])), "what cannot be read counts as the strictest");
    assert!(needs("embedding.key_file", json!("/x")) && !needs("retrieval.max_inject", json!(3)));
}

#[test]
fn more_names_than_anybody_has_use_for_are_left_out_and_said() {
    let many: Map<String, Value> = (0..22_000).map(|n| (format!("c{n}"), json!({}))).collect();
    let scopes: Vec<String> = (0..40_000).map(|n| format!("s{n}")).collect();
    let document = json!({ "categories": many, "vault": { "scopes": scopes } });
    let own = json!({ "categories": { "zebra": {} } });
    let loaded =
        load(&[Layer { origin: Origin::Project, document }, Layer { origin: Origin::User, document: own }]);
    assert_eq!(loaded.settings.categories.len(), 6 + 1_000);
    assert!(loaded.settings.category("zebra").is_some(), "the user's own are not crowded out");
    assert_eq!(loaded.settings.vault.scopes.len(), 1 + 1_000);
    assert_eq!(loaded.warnings.len(), 2, "{:?}", loaded.warnings);
}

#[test]
fn a_flood_of_unknown_names_is_counted_and_not_listed() {
    let many: Map<String, Value> = (0..60_000).map(|n| (format!("unknown_{n}"), json!(1))).collect();
    let document = Value::Object(many);
    let flat = flatten(&document);
    assert_eq!(flat.unmapped.len(), 51);
    assert!(flat.unmapped[50].message.contains("59950 more"));
    let long = "x".repeat(100_000);
    let document = json!({ long: 1 });
    assert!(flatten(&document).unmapped[0].name.len() < 200);
}

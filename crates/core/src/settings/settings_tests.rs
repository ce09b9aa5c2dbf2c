use super::*;
use crate::ShelfName;
use serde_json::{Value, json};

fn layers(project: Value, user: Value) -> Loaded {
    load(&[
        Layer { origin: Origin::Project, document: project },
        Layer { origin: Origin::User, document: user },
    ])
}

fn project(document: Value) -> Loaded {
    layers(document, json!({}))
}

fn origin_of(loaded: &Loaded, name: &str) -> Origin {
    loaded.values.iter().find(|v| v.name == name).unwrap().origin
}

#[test]
fn without_layers_the_defaults_of_the_format_count() {
    let settings = Settings::standard();
    assert_eq!(settings.memory_root, ".claude/memory");
    assert_eq!(settings.retrieval.max_inject, 5);
    assert_eq!(settings.triage.max_messages, 50);
    assert_eq!(settings.triage.thresholds["session_summary"], 0.6);
    assert_eq!(settings.triage.thresholds["constraint"], 0.5);
    assert_eq!(settings.triage.parallel.category_models["decision"], "sonnet");
    assert_eq!(settings.delete.grace_period_days, 30);
    assert_eq!(settings.max_memories_per_category, None);
    assert_eq!(settings.category("tech_debt").unwrap().folder, "tech-debt");
    assert_eq!(settings.category("session_summary").unwrap().max_retained, Some(5));
    assert_eq!(settings.gate.profile(ShelfName::Records), Profile::Standard);
}

#[test]
fn the_document_that_init_writes_is_valid_and_complete() {
    let loaded = project(empty_document());
    assert_eq!(loaded.warnings, []);
    assert_eq!(loaded.settings.max_memories_per_category, Some(100));
    assert!(loaded.settings.delete.archive_retired);
    assert_eq!(loaded.settings.category("session_summary").unwrap().retention_days, 90);
}

#[test]
fn the_nearest_layer_wins_and_every_value_knows_its_origin() {
    let loaded = layers(
        json!({"retrieval": {"max_inject": 3}}),
        json!({"retrieval": {"max_inject": 7}, "delete": {"grace_period_days": 10}}),
    );
    assert_eq!(loaded.settings.retrieval.max_inject, 3);
    assert_eq!(loaded.settings.delete.grace_period_days, 10);
    assert_eq!(origin_of(&loaded, "retrieval.max_inject"), Origin::Project);
    assert_eq!(origin_of(&loaded, "delete.grace_period_days"), Origin::User);
    assert_eq!(origin_of(&loaded, "triage.max_messages"), Origin::Default);
}

#[test]
fn out_of_range_values_are_clamped_with_a_warning() {
    let loaded = project(json!({"retrieval": {"max_inject": 99}, "triage": {"max_messages": 1,
        "thresholds": {"DECISION": 1.5}}}));
    assert_eq!(loaded.settings.retrieval.max_inject, 20);
    assert_eq!(loaded.settings.triage.max_messages, 10);
    assert_eq!(loaded.settings.triage.thresholds["decision"], 1.0);
    assert_eq!(loaded.warnings.len(), 3);
}

#[test]
fn a_bad_value_costs_only_itself() {
    let loaded = project(json!({"retrieval": {"max_inject": "many", "enabled": 0}, "triage": {"thresholds":
        {"decision": "NaN", "runbook": "0.7"}}, "categories": []}));
    assert_eq!(loaded.settings.retrieval.max_inject, 5);
    assert!(!loaded.settings.retrieval.enabled);
    assert_eq!(loaded.settings.triage.thresholds["decision"], 0.4);
    assert_eq!(loaded.settings.triage.thresholds["runbook"], 0.7);
    assert_eq!(loaded.settings.categories.len(), 6);
}

#[test]
fn numbers_are_read_as_people_write_them() {
    for (raw, expected) in
        [(json!(3.9), 3), (json!(true), 1), (json!("20"), 20), (json!("2.5"), 5), (json!(null), 5)]
    {
        let loaded = project(json!({"retrieval": {"max_inject": raw}}));
        assert_eq!(loaded.settings.retrieval.max_inject, expected);
    }
}

#[test]
fn an_unknown_name_is_named_with_the_nearest_known_one() {
    let loaded = project(json!({"retrieval": {"max_injct": 3}, "zzz": 1}));
    assert_eq!(loaded.warnings.len(), 2);
    assert!(loaded.warnings[0].message.contains("retrieval.max_inject"));
}

#[test]
fn a_project_can_only_tighten_the_gate() {
    let loose = project(json!({"gate": {"profile": "seed"}}));
    assert_eq!(loose.settings.gate.profile(ShelfName::Records), Profile::Standard);
    assert_eq!(loose.warnings.len(), 1);
    let user_loose = layers(json!({"gate": {"profile": "standard"}}), json!({"gate": {"profile": "seed"}}));
    assert_eq!(user_loose.settings.gate.profile(ShelfName::Records), Profile::Standard);
    let stays = layers(json!({"gate": {"contact": "keep"}}), json!({"gate": {"contact": "redact"}}));
    assert_eq!(stays.settings.gate.contact, Contact::Redact);
}

#[test]
fn a_security_value_that_cannot_be_read_counts_as_the_strictest() {
    let loaded = layers(json!({}), json!({"gate": {"contact": 7, "profile": "lax"}}));
    assert_eq!(loaded.settings.gate.contact, Contact::Redact);
    assert_eq!(loaded.settings.gate.profile(ShelfName::Records), Profile::Standard);
    assert_eq!(loaded.warnings.len(), 2);
}

#[test]
fn the_users_triage_mode_counts_before_the_projects() {
    let loaded = layers(json!({"triage": {"mode": "block"}}), json!({"triage": {"mode": "suggest"}}));
    assert_eq!(loaded.settings.triage.mode, TriageMode::Suggest);
}

#[test]
fn a_project_cannot_move_its_memory_outside_itself_but_its_user_can() {
    for path in ["/etc/memory", "../elsewhere", "a/../../b", "~/x", ".git/notes", "a/.GIT", ".git"] {
        let loaded = project(json!({"memory_root": path}));
        assert_eq!(loaded.settings.memory_root, ".claude/memory", "{path}");
        assert_eq!(loaded.warnings.len(), 1);
    }
    let loaded = layers(json!({}), json!({"memory_root": "/srv/memory"}));
    assert_eq!(loaded.settings.memory_root, "/srv/memory");
}

#[test]
fn a_custom_category_gets_fields_folder_and_label() {
    let loaded = project(json!({"categories": {"meeting_note": {"fields": [
        {"name": "attendees", "type": "list", "required": true}, {"name": "text"}]}}}));
    let category = loaded.settings.category("meeting_note").unwrap();
    assert_eq!(category.folder, "meeting-note");
    assert_eq!(category.label(), "MEETING_NOTE");
    assert_eq!(category.fields().len(), 2);
    assert!(category.fields()[0].required);
    let plain = project(json!({"categories": {"adr": {}}}));
    assert_eq!(plain.settings.category("adr").unwrap().fields()[0].name, "summary");
}

#[test]
fn two_categories_never_share_a_folder() {
    let loaded = project(json!({"categories": {"adr": {"folder": "decisions"}}}));
    assert!(loaded.settings.category("adr").is_none());
    assert_eq!(loaded.warnings.len(), 1);
    let reserved = project(json!({"categories": {"adr": {"folder": "../topics"}}}));
    assert_eq!(reserved.settings.category("adr").unwrap().folder, "adr");
}

#[test]
fn setting_on_purpose_is_strict() {
    assert!(check("retrieval.max_inject", &json!(3)).is_ok());
    assert!(check("retrieval.max_inject", &json!(300)).is_err());
    assert!(check("retrieval.enabled", &json!("yes")).is_err());
    assert!(check("retrieval.max_injct", &json!(3)).unwrap_err().contains("retrieval.max_inject"));
    assert!(check("categories.lesson.enabled", &json!(true)).is_err());
    assert!(check("gate.profile", &json!("none")).is_err());
}

#[test]
fn every_key_has_a_row_that_finds_itself() {
    for key in KEYS {
        let name = key.name.replace('*', "decision");
        assert_eq!(Key::find(&name).unwrap().name, key.name);
        assert!(!key.help.is_empty());
    }
}

#[test]
fn a_project_adds_rules_but_never_exceptions() {
    let loaded = layers(
        json!({"gate": {"rules": [{"id": "p"}], "allow": [{"rule": "x", "reason": "y"}]}}),
        json!({"gate": {"rules": [{"id": "u"}], "allow": [{"rule": "a", "reason": "b"}]}}),
    );
    assert_eq!(loaded.settings.gate.rules, [json!({"id": "p"}), json!({"id": "u"})]);
    assert_eq!(loaded.settings.gate.allow, [json!({"rule": "a", "reason": "b"})]);
    assert_eq!(loaded.warnings.len(), 1);
}

#[test]
fn a_project_adds_a_small_number_of_rules_of_a_small_size() {
    let rule = |n: usize| json!({"id": format!("r{n}"), "pattern": "x+"});
    let many: Vec<_> = (0..1_000).map(rule).collect();
    let loaded = project(json!({"gate": {"rules": many}}));
    assert_eq!(loaded.settings.gate.rules.len(), PROJECT_RULES);
    let told = loaded.warnings.iter().find(|warning| warning.name == "gate.rules").unwrap();
    assert!(told.message.contains("984 are ignored"), "{}", told.message);
    // One that is too long costs itself, in whichever spelling.
    let long = json!([{"id": "long", "pattern": "y".repeat(5_000)}, {"id": "short", "pattern": "y+"}]);
    let loaded = project(json!({"gate.rules": long}));
    assert_eq!(loaded.settings.gate.rules, [json!({"id": "short", "pattern": "y+"})]);
    assert_eq!(loaded.warnings.len(), 1);
    // The user's own are not counted, and what the user has of the project's list is there once and needs no warning.
    let own: Vec<_> = (0..40).map(rule).collect();
    let loaded = layers(json!({"gate": {"rules": own}}), json!({"gate": {"rules": own}}));
    assert_eq!((loaded.settings.gate.rules.len(), loaded.warnings.len()), (40, 0));
}

#[test]
fn one_shelf_can_have_its_own_profile() {
    let loaded =
        layers(json!({"gate": {"profiles": {"vault": "standard"}}}), json!({"gate": {"profile": "seed"}}));
    assert_eq!(loaded.settings.gate.profile(ShelfName::Topics), Profile::Seed);
    assert_eq!(loaded.settings.gate.profile(ShelfName::Vault), Profile::Standard);
    let weaker = project(json!({"gate": {"profiles": {"vault": "seed"}}}));
    assert_eq!(weaker.settings.gate.profile(ShelfName::Vault), Profile::Standard);
}

#[test]
fn a_project_cannot_turn_external_memory_on_or_aim_it_but_may_turn_it_off() {
    let asked = json!({"memory_configuration": {"external_memory_enabled": true, "memory_path": "/srv/evil",
        "memory_type": "git_repo", "sync_strategy": "auto_push"}});
    let loaded = project(asked.clone());
    assert_eq!(loaded.settings.memory_configuration, Settings::standard().memory_configuration);
    assert_eq!(loaded.warnings.len(), 4);
    let own = json!({"memory_configuration": {"external_memory_enabled": true, "memory_path": "~/lessons",
        "sync_strategy": "auto"}});
    let external = layers(asked, own.clone()).settings.memory_configuration;
    assert_eq!(external.path.as_deref(), Some("~/lessons"));
    assert_eq!(external.memory_type, MemoryType::LocalDir);
    assert_eq!(external.sync_strategy, SyncStrategy::AutoCommit);
    let off = json!({"memory_configuration": {"external_memory_enabled": false, "sync_strategy": "manual"}});
    let external = layers(off, own).settings.memory_configuration;
    assert!(!external.enabled);
    assert_eq!(external.sync_strategy, SyncStrategy::Manual);
}

#[test]
fn a_switch_set_to_a_quoted_false_is_on_and_says_so() {
    let document = json!({"triage": {"enabled": "false"}});
    let loaded = load(&[Layer { origin: Origin::Project, document }]);
    assert!(loaded.settings.triage.enabled);
    assert!(
        loaded.warnings.iter().any(|w| w.name == "triage.enabled" && w.message.contains("without quotes"))
    );
}

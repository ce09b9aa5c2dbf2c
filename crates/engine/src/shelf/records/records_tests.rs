use super::document::{CHANGES_MAX, SUMMARY_MAX};
use super::fix::{Doing, TAG_MAX, auto_fix};
use super::*;
use crate::files;
use crate::gate::Entry;
use crate::recall::title_tags;
use crate::shelf::{Listing, Shelf as _};
use crate::{Call, Project, World};
use heirloom_core::settings::{Category, Layer, Origin, Settings, load};
use heirloom_core::{Channel, Code, MemoryId, Status, text, time};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

const NOW: &str = "2026-03-01T12:00:00Z";

/// A store in a folder of its own, at a fixed time.
struct Store {
    folder: tempfile::TempDir,
    call: Call,
}

impl Store {
    fn new() -> Store {
        Store::with(json!({}))
    }

    fn with(settings: Value) -> Store {
        let folder = tempfile::tempdir().unwrap();
        let call = call(folder.path(), settings, NOW);
        Store { folder, call }
    }

    /// The same store at another time, with other settings.
    fn later(&self, settings: Value, now: &str) -> Call {
        call(self.folder.path(), settings, now)
    }

    fn create(&self, name: &str, document: Value) -> heirloom_core::fault::Result<Value> {
        let category = self.call.settings().category("decision").unwrap();
        let target = self.target(name);
        self.call.records().create(&target, category, read(document), entry(), &mut Said::default())
    }

    fn target(&self, name: &str) -> Target {
        let given = format!(".claude/memory/decisions/{name}.json");
        self.call.records().target(&given, self.call.project().folder()).unwrap()
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        files::read(&self.target(name).path, files::MAX_FILE).unwrap()
    }

    fn index(&self) -> Vec<String> {
        let text = self.call.records().index_text().unwrap().unwrap_or_default();
        text.lines().filter(|line| is_entry(line)).map(str::to_owned).collect()
    }
}

fn call(folder: &std::path::Path, settings: Value, now: &str) -> Call {
    let project = folder.join("project");
    let root = project.join(".claude/memory");
    std::fs::create_dir_all(&root).unwrap();
    let world = World {
        now: time::parse(now).unwrap(),
        data: folder.join("data"),
        nonce: "0123456789abcdef0123456789abcdef".into(),
        user: "tester".into(),
    };
    let settings = load(&[Layer { origin: Origin::Project, document: settings }]).settings;
    Call::new(Project::new(&project, &root, world), settings)
}

fn entry() -> Entry {
    Entry::through(Channel::Agent)
}

fn read(value: Value) -> Document {
    Document::parse(value.to_string().as_bytes()).unwrap()
}

fn decision(title: &str, tags: &[&str]) -> Value {
    json!({
        "schema_version": "1.0", "category": "decision", "id": "any", "title": title, "created_at": NOW, "updated_at": NOW,
        "tags": tags, "content": { "status": "accepted", "context": "c", "decision": "d", "rationale": ["r"] },
    })
}

/// Every built-in category, one with fields of its own and one without.
fn categories() -> Vec<Category> {
    let fields = json!([{ "name": "who", "type": "list", "required": true }, { "name": "text" }, { "name": "need", "required": true }]);
    let document = json!({ "categories": { "meeting": { "fields": fields }, "plain": {} } });
    load(&[Layer { origin: Origin::Project, document }]).settings.categories
}

/// What a record of a category is of no use without, said.
fn needed(category: &Category) -> Vec<(String, String)> {
    let lacks = missing(category, &Given::default()).unwrap();
    lacks
        .into_iter()
        .map(|field| (field.name, field.choices.first().cloned().unwrap_or("said".into())))
        .collect()
}

/// A valid record of a category, every optional field filled.
fn whole(category: &Category) -> Value {
    let given = Given {
        sentence: "Do this because of that".into(),
        tags: vec!["tag".into()],
        fields: needed(category),
        ..Given::default()
    };
    let mut value = Value::Object(compose(category, &given, NOW).unwrap().document.0);
    for field in category.fields() {
        use heirloom_core::kind::Shape;
        value["content"][field.name] = match field.shape {
            Shape::Text => json!("text"),
            Shape::Choice(words) => json!(words[0]),
            Shape::Flag => json!(true),
            Shape::List { .. } => json!(["one", "two"]),
            Shape::Alternatives => json!([{ "option": "o", "rejected_reason": "r" }]),
            Shape::Examples => json!({ "prefer": ["p"], "avoid": ["a"] }),
        };
    }
    for (key, filled) in [
        ("related_files", json!(["a.rs"])),
        ("confidence", json!(0.5)),
        ("times_updated", json!(2)),
        (
            "changes",
            json!([{ "date": NOW, "summary": "s", "field": "title", "old_value": 1, "new_value": [] }]),
        ),
        ("retired_at", json!(NOW)),
        ("retired_reason", json!("r")),
        ("archived_at", json!(null)),
        ("archived_reason", json!(null)),
        ("record_status", json!("retired")),
    ] {
        value[key] = filled;
    }
    value
}

mod schemas {
    use super::*;
    use std::sync::LazyLock;

    /// Every category with its schema.
    static SCHEMAS: LazyLock<Vec<(Category, jsonschema::Validator)>> = LazyLock::new(|| {
        let with_schema = |category: Category| {
            let schema = jsonschema::draft202012::new(&json_schema(&category)).unwrap();
            (category, schema)
        };
        categories().into_iter().map(with_schema).collect()
    });

    /// Every place in a document, as JSON pointers.
    fn places(value: &Value, at: &str, found: &mut Vec<String>) {
        found.push(at.to_owned());
        match value {
            Value::Object(map) => {
                map.iter().for_each(|(key, inner)| places(inner, &format!("{at}/{key}"), found))
            }
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(n, inner)| places(inner, &format!("{at}/{n}"), found))
            }
            _ => {}
        }
    }

    /// Values at the edges of what the format allows, and some of every type.
    static EDGES: LazyLock<Vec<Value>> = LazyLock::new(|| {
        let text = |n: usize| json!("é".repeat(n));
        vec![
            json!(null),
            json!(true),
            json!(0),
            json!(1),
            json!(-1),
            json!(1.0),
            json!(0.5),
            json!(1.5),
            json!(1e300),
            json!(-0.0),
            json!(u64::MAX),
            json!(""),
            json!("1.0"),
            json!("active"),
            json!("retired"),
            json!("decision"),
            json!("high"),
            json!("a-b"),
            json!("-a"),
            json!("A"),
            json!("a\n"),
            text(80),
            json!("a".repeat(80)),
            json!("a".repeat(81)),
            text(120),
            text(121),
            text(SUMMARY_MAX),
            text(SUMMARY_MAX + 1),
            json!([]),
            json!(["a"]),
            json!([1]),
            json!([null]),
            json!([[]]),
            json!({}),
            json!({ "a": 1 }),
            json!([{}]),
            json!([{ "option": "o", "rejected_reason": "r" }]),
            json!({ "prefer": null, "avoid": [] }),
            json!({ "prefer": "a" }),
            json!({ "date": "d", "summary": "s" }),
            json!(vec![json!({ "date": "d", "summary": "s" }); CHANGES_MAX]),
            json!(vec![json!({ "date": "d", "summary": "s" }); CHANGES_MAX + 1]),
        ]
    });

    #[derive(Debug, Clone)]
    enum Damage {
        Put(prop::sample::Index, prop::sample::Index),
        Remove(prop::sample::Index),
        Add(prop::sample::Index, prop::sample::Index),
    }

    fn damage() -> impl Strategy<Value = Damage> {
        let at = any::<prop::sample::Index>;
        prop_oneof![
            4 => (at(), at()).prop_map(|(place, edge)| Damage::Put(place, edge)),
            2 => at().prop_map(Damage::Remove),
            1 => (at(), at()).prop_map(|(place, edge)| Damage::Add(place, edge)),
        ]
    }

    fn apply(value: &mut Value, damage: &Damage) {
        let mut found = Vec::new();
        places(value, "", &mut found);
        match damage {
            Damage::Put(place, edge) => {
                let place = place.get::<String>(&found);
                if !place.is_empty() {
                    *value.pointer_mut(place).unwrap() = edge.get(EDGES.as_slice()).clone();
                }
            }
            Damage::Remove(place) => {
                if let Some((parent, key)) = place.get::<String>(&found).rsplit_once('/') {
                    match value.pointer_mut(parent).unwrap() {
                        Value::Object(map) => drop(map.shift_remove(key)),
                        Value::Array(items) => drop(items.remove(key.parse().unwrap())),
                        _ => {}
                    }
                }
            }
            Damage::Add(place, edge) => match value.pointer_mut(place.get::<String>(&found)).unwrap() {
                Value::Object(map) => drop(map.insert("surplus".into(), edge.get(EDGES.as_slice()).clone())),
                Value::Array(items) => items.push(edge.get(EDGES.as_slice()).clone()),
                _ => {}
            },
        }
    }

    #[test]
    fn every_schema_is_valid_against_the_2020_12_metaschema() {
        for category in categories() {
            let schema = json_schema(&category);
            assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
            jsonschema::draft202012::meta::validate(&schema).unwrap();
        }
    }

    #[test]
    fn a_whole_record_is_valid_for_both() {
        for (category, schema) in SCHEMAS.iter() {
            let record = whole(category);
            assert_eq!(validate(&read(record.clone()), category, Stage::Stored), [], "{}", category.name());
            schema.validate(&record).unwrap();
        }
    }

    #[test]
    fn check_and_schema_agree_at_every_place_and_every_edge() {
        for (category, schema) in SCHEMAS.iter() {
            let record = whole(category);
            let mut found = Vec::new();
            places(&record, "", &mut found);
            for place in found.iter().filter(|place| !place.is_empty()) {
                for edge in EDGES.iter() {
                    let mut changed = record.clone();
                    changed.pointer_mut(place).unwrap().clone_from(edge);
                    agree(category, schema, &changed);
                }
            }
        }
    }

    fn agree(category: &Category, schema: &jsonschema::Validator, record: &Value) {
        let wrong = validate(&read(record.clone()), category, Stage::Stored);
        assert_eq!(wrong.is_empty(), schema.is_valid(record), "{}: {wrong:?}\n{record:#}", category.name());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn check_and_schema_agree_on_damaged_records(which in 0usize..8, damages in prop::collection::vec(damage(), 0..5)) {
            let (category, schema) = &SCHEMAS[which];
            let mut record = whole(category);
            for damage in &damages {
                apply(&mut record, damage);
            }
            agree(category, schema, &record);
        }
    }
}

mod documents {
    use super::*;

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(Value::from),
            ".{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec(("[a-z_]{1,8}", inner), 0..5)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect::<Map<_, _>>())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back_in_the_same_order(pairs in prop::collection::vec(("[a-z_]{1,8}", json_value()), 0..8)) {
            let document = Document(pairs.into_iter().collect());
            let again = Document::parse(&document.to_bytes()).unwrap();
            prop_assert_eq!(&again, &document);
            prop_assert_eq!(again.0.keys().collect::<Vec<_>>(), document.0.keys().collect::<Vec<_>>());
            prop_assert_eq!(again.to_bytes(), document.to_bytes());
        }

        #[test]
        fn correcting_twice_is_correcting_once(title in ".{0,200}", tags in prop::collection::vec(".{0,20}", 0..20), id in ".{0,90}", confidence in any::<f64>()) {
            let mut document = read(decision(&title, &[]));
            document.set("tags", tags);
            document.set("id", id);
            document.set("confidence", json!(confidence));
            auto_fix(&mut document, Doing::Create, NOW, &mut Vec::new());
            let once = document.clone();
            let mut said = Vec::new();
            auto_fix(&mut document, Doing::Create, NOW, &mut said);
            prop_assert_eq!(&document, &once);
            // An id of which nothing is left is said again and again; there is nothing to write instead.
            said.retain(|line| !line.starts_with("id: ''"));
            prop_assert_eq!(said, Vec::<String>::new());
        }

        #[test]
        fn tags_end_up_few_sorted_different_and_harmless(tags in prop::collection::vec(".{0,20}", 0..30)) {
            let mut document = read(decision("t", &[]));
            document.set("tags", tags);
            auto_fix(&mut document, Doing::Create, NOW, &mut Vec::new());
            let tags: Vec<String> = document.tags().into_iter().map(str::to_owned).collect();
            prop_assert!((1..=TAG_MAX).contains(&tags.len()));
            prop_assert!(tags.windows(2).all(|two| two[0] < two[1]));
            prop_assert!(tags.iter().all(|tag| *tag == text::clean_tag(tag) && !tag.contains([',', '\n'])));
        }

        #[test]
        fn a_sentence_in_any_words_becomes_a_valid_record_or_is_refused(sentence in ".{0,300}", which in 0usize..8) {
            let category = &categories()[which];
            let given = Given { sentence, fields: needed(category), ..Given::default() };
            match compose(category, &given, NOW) {
                Ok(Composed { mut document, .. }) => {
                    auto_fix(&mut document, Doing::Create, NOW, &mut Vec::new());
                    prop_assert_eq!(validate(&document, category, Stage::Stored), []);
                }
                Err(fault) => prop_assert_eq!(fault.code, Code::Validation),
            }
        }

        #[test]
        fn a_name_is_always_fit_to_be_an_id(title in ".{1,200}") {
            prop_assert!(super::super::schema::is_id(&name_for(&title)));
        }
    }
}

mod merging {
    use super::*;
    use crate::shelf::records::merge::check;

    fn tags() -> impl Strategy<Value = BTreeSet<String>> {
        prop::collection::btree_set("[a-t]", 1..=TAG_MAX)
    }

    proptest! {
        #[test]
        fn an_update_that_is_allowed_lost_no_tag_it_had_room_for(had in tags(), has in tags()) {
            let record = |tags: &BTreeSet<String>| read(decision("t", &tags.iter().map(String::as_str).collect::<Vec<_>>()));
            let outcome = check(&record(&had), &record(&has), NOW, &|_| true);
            let lost = had.difference(&has).count();
            let came = has.difference(&had).count();
            let allowed = lost == 0 || (had.len() == TAG_MAX && came > 0);
            prop_assert_eq!(outcome.is_ok(), allowed);
            if let Ok(merged) = outcome {
                prop_assert_eq!(merged.entries.len(), usize::from(lost > 0), "a swap is a change of its own");
            }
        }

        #[test]
        fn a_file_may_go_only_when_it_is_gone(had in prop::collection::btree_set("[a-f]", 0..6), has in prop::collection::btree_set("[a-f]", 0..6), there in prop::collection::btree_set("[a-f]", 0..6)) {
            let record = |files: &BTreeSet<String>| {
                let mut document = read(decision("t", &["a"]));
                document.set("related_files", files.iter().cloned().collect::<Vec<_>>());
                document
            };
            let outcome = check(&record(&had), &record(&has), NOW, &|file| there.contains(file));
            let lost = had.difference(&has).any(|file| there.contains(file));
            prop_assert_eq!(outcome.is_ok(), !lost);
        }

        #[test]
        fn a_change_list_keeps_the_newest_up_to_its_limit(count in 0usize..120) {
            let mut document = read(decision("t", &["a"]));
            for n in 0..count {
                document.push_change(json!({ "date": NOW, "summary": n.to_string() }));
            }
            let kept: Vec<usize> =
                document.changes().iter().map(|c| c["summary"].as_str().unwrap().parse().unwrap()).collect();
            prop_assert_eq!(kept, (count.saturating_sub(CHANGES_MAX)..count).collect::<Vec<_>>());
        }
    }
}

mod lives {
    use super::*;

    #[derive(Debug, Clone, Copy)]
    enum Move {
        Retire,
        Restore,
        Archive,
        Unarchive,
    }

    fn moves() -> impl Strategy<Value = Vec<Move>> {
        let one =
            prop_oneof![Just(Move::Retire), Just(Move::Restore), Just(Move::Archive), Just(Move::Unarchive)];
        prop::collection::vec(one, 1..10)
    }

    /// Where a move leads from a status; `None` if it is not allowed from there.
    fn leads(from: Status, to: Move) -> Option<Status> {
        match (from, to) {
            (Status::Active | Status::Retired, Move::Retire) => Some(Status::Retired),
            (Status::Active | Status::Retired, Move::Restore) => Some(Status::Active),
            (Status::Active | Status::Archived, Move::Archive) => Some(Status::Archived),
            (Status::Archived, Move::Unarchive) => Some(Status::Active),
            _ => None,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn every_walk_through_a_life_keeps_record_and_index_valid(walk in moves()) {
            let store = Store::new();
            store.create("a", decision("Use PostgreSQL", &["db"])).unwrap();
            let records = store.call.records();
            let id = MemoryId::parse("decision:a").unwrap();
            let mut status = Status::Active;
            for step in walk {
                let before = store.bytes("a");
                let outcome = match step {
                    Move::Retire => records.retire(&id, "why", entry()),
                    Move::Restore => records.restore(&id, entry()),
                    Move::Archive => records.archive(&id, "why", entry()),
                    Move::Unarchive => records.unarchive(&id, entry()),
                };
                match leads(status, step) {
                    Some(next) => {
                        prop_assert!(outcome.is_ok(), "{status:?} {step:?}: {outcome:?}");
                        prop_assert_eq!(store.bytes("a") == before, next == status, "a move to where it is writes nothing");
                        status = next;
                    }
                    None => {
                        prop_assert!(outcome.is_err(), "{status:?} {step:?}");
                        prop_assert_eq!(store.bytes("a"), before);
                    }
                }
                let document = records.document(&id).unwrap().unwrap();
                prop_assert_eq!(document.status(), Some(status));
                let category = store.call.settings().category("decision").unwrap();
                prop_assert_eq!(validate(&document, category, Stage::Stored), []);
                prop_assert_eq!(store.index().len(), usize::from(status == Status::Active));
                prop_assert_eq!(document.get("retired_at").is_some(), status == Status::Retired);
                prop_assert_eq!(document.get("archived_at").is_some(), status == Status::Archived);
            }
        }

        #[test]
        fn an_index_made_anew_lists_what_the_writes_listed(names in prop::collection::btree_set("[a-z]{1,8}", 1..8)) {
            let store = Store::new();
            for name in &names {
                store.create(name, decision(&format!("Title {name}"), &["t"])).unwrap();
            }
            let written = store.index();
            let records = store.call.records();
            records.rebuild(&store.call.lock().unwrap()).unwrap();
            prop_assert_eq!(store.index(), written);
            prop_assert!(records.compare_index().unwrap().unwrap().is_none());
        }
    }

    #[test]
    fn the_same_create_twice_stores_one_record_and_one_line() {
        let store = Store::new();
        store.create("a", decision("Use PostgreSQL", &["db"])).unwrap();
        let bytes = store.bytes("a");
        let again = store.create("a", decision("Use PostgreSQL", &["db"])).unwrap_err();
        assert_eq!(again.code, Code::Create);
        assert_eq!((store.bytes("a"), store.index().len()), (bytes, 1));
    }

    #[test]
    fn a_name_is_free_again_after_exactly_a_day() {
        let store = Store::new();
        store.create("a", decision("Use PostgreSQL", &["db"])).unwrap();
        store.call.records().retire(&MemoryId::parse("decision:a").unwrap(), "why", entry()).unwrap();
        for (now, free) in [("2026-03-02T11:59:59Z", false), ("2026-03-02T12:00:00Z", true)] {
            let later = store.later(json!({}), now);
            let category = later.settings().category("decision").unwrap();
            let again = read(decision("Use it again", &["db"]));
            let outcome =
                later.records().create(&store.target("a"), category, again, entry(), &mut Said::default());
            assert_eq!(outcome.is_ok(), free, "{now}: {outcome:?}");
        }
    }

    #[test]
    fn a_category_switched_off_is_neither_written_nor_recalled() {
        let store = Store::new();
        store.create("a", decision("Use PostgreSQL", &["database"])).unwrap();
        let off = store.later(json!({ "categories": { "decision": { "enabled": false } } }), NOW);
        let category = off.settings().category("decision").unwrap();
        let target = store.target("b");
        let document = read(decision("Use Redis", &["database"]));
        let refused = off.records().create(&target, category, document, entry(), &mut Said::default());
        assert_eq!(refused.unwrap_err().code, Code::Config);
        assert_eq!(title_tags::recall(&off, "which database do we use").unwrap(), []);
        assert_eq!(title_tags::recall(&store.call, "which database do we use").unwrap().len(), 1);
        assert_eq!(off.records().list(&Listing::active()).unwrap().len(), 1, "its files stay and are listed");
    }

    #[test]
    fn capacity_window_retention_grace_and_archive_do_what_their_settings_say() {
        let store = Store::with(json!({ "max_memories_per_category": 2 }));
        store.create("a", decision("A", &["t"])).unwrap();
        store.create("b", decision("B", &["t"])).unwrap();
        assert_eq!(store.create("c", decision("C", &["t"])).unwrap_err().code, Code::Capacity);

        let windowed = store.later(json!({ "categories": { "decision": { "max_retained": 1 } } }), NOW);
        let category = windowed.settings().category("decision").unwrap();
        let mut said = Said::default();
        let newest = read(decision("C", &["t"]));
        windowed.records().create(&store.target("c"), category, newest, entry(), &mut said).unwrap();
        let active = windowed.records().list(&Listing::active()).unwrap();
        assert_eq!(active.iter().map(|m| m.id.as_str()).collect::<Vec<_>>(), ["decision:c"]);
        assert_eq!(said.warnings.len(), 2);

        let kept = json!({ "categories": { "decision": { "retention_days": 10 } }, "delete": { "grace_period_days": 5 } });
        let early = store.later(kept.clone(), "2026-03-05T12:00:00Z").records().collect(false).unwrap();
        assert_eq!((early.retired.len(), early.deleted.len()), (0, 0));
        let late = store.later(kept, "2026-03-11T12:00:00Z").records().collect(false).unwrap();
        assert_eq!(
            (late.retired.len(), late.deleted.len()),
            (1, 2),
            "c was not updated for ten days; a and b were past five"
        );

        let archiving = json!({ "delete": { "archive_retired": true, "grace_period_days": 5 } });
        let archived = store.later(archiving, "2026-03-20T12:00:00Z").records().collect(false).unwrap();
        assert_eq!(archived.archived.len(), 1);
        assert!(store.call.records().root().join("archive/decisions/c.json").exists());
    }

    #[test]
    fn memory_root_decides_where_records_live_and_what_index_lines_say() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        let root = project.join("docs/memory");
        let world = World {
            now: time::parse(NOW).unwrap(),
            data: folder.path().join("data"),
            nonce: "0".repeat(32),
            user: "tester".into(),
        };
        let settings = Settings::standard();
        let call = Call::new(Project::new(&project, &root, world), settings);
        let category = call.settings().category("decision").unwrap();
        let target = call.records().target("docs/memory/decisions/a.json", &project).unwrap();
        let document = read(decision("Use PostgreSQL", &["db"]));
        call.records().create(&target, category, document, entry(), &mut Said::default()).unwrap();
        let index = std::fs::read_to_string(root.join("index.md")).unwrap();
        assert!(index.contains(" -> docs/memory/decisions/a.json "), "{index}");
        let outside = call.records().target(".claude/memory/decisions/a.json", &project);
        assert_eq!(outside.unwrap_err().code, Code::Path);
    }
}

mod candidates {
    use super::*;

    #[test]
    fn what_may_be_done_follows_from_candidate_event_and_category() {
        // Category, whether a record fits, the event; then pre_action, structural_cud and how many vetoes.
        type Row = (&'static str, bool, Option<&'static str>, Option<&'static str>, &'static str, usize);
        let table: [Row; 8] = [
            ("decision", false, None, Some("CREATE"), "CREATE", 0),
            ("decision", false, Some("resolved"), Some("NOOP"), "NOOP", 0),
            ("decision", true, None, None, "UPDATE", 1),
            ("decision", true, Some("superseded"), None, "UPDATE", 1),
            ("tech_debt", false, None, Some("CREATE"), "CREATE", 0),
            ("tech_debt", false, Some("removed"), Some("NOOP"), "NOOP", 0),
            ("tech_debt", true, None, None, "UPDATE_OR_DELETE", 0),
            ("tech_debt", true, Some("resolved"), None, "UPDATE_OR_DELETE", 0),
        ];
        for (category, fits, event, pre_action, structural, vetoes) in table {
            let store = Store::new();
            let settings = store.call.settings();
            let category = settings.category(category).unwrap();
            let records = store.call.records();
            let given = Given {
                sentence: "Replace the login flow because it is old".into(),
                fields: needed(category),
                ..Given::default()
            };
            let document = compose(category, &given, NOW).unwrap().document;
            let place = format!(".claude/memory/{}/replace-the-login-flow.json", category.folder);
            let target = records.target(&place, store.call.project().folder()).unwrap();
            records.create(&target, category, document, entry(), &mut Said::default()).unwrap();
            let info = if fits { "the login flow was replaced" } else { "something about caches" };
            let answer = records.candidate(category, info, event, &mut Vec::new()).unwrap();
            let context = format!("{} {fits} {event:?}: {answer:?}", category.name());
            assert_eq!(answer.candidate.is_some(), fits, "{context}");
            assert_eq!((answer.pre_action, answer.structural_cud), (pre_action, structural), "{context}");
            assert_eq!(answer.vetoes.len(), vetoes, "{context}");
            assert_eq!(answer.lifecycle_event.as_deref(), event);
            assert_eq!(answer.candidate.map(|c| c.path).as_deref(), fits.then_some(place.as_str()));
        }
    }

    #[test]
    fn another_category_never_offers_a_candidate() {
        let store = Store::new();
        store.create("a", decision("Replace the login flow", &["login"])).unwrap();
        let runbook = store.call.settings().category("runbook").unwrap();
        let answer =
            store.call.records().candidate(runbook, "the login flow", None, &mut Vec::new()).unwrap();
        assert_eq!(answer.candidate, None);
    }
}

mod recalled {
    use super::*;
    use crate::recall::Words;
    use crate::shelf::records::EntryLine;

    fn words() -> impl Strategy<Value = Vec<String>> {
        prop::collection::vec("[a-d]{3,6}", 0..6)
    }

    fn line(title: &[String], tags: &[String]) -> IndexEntry {
        IndexEntry {
            label: "DECISION".into(),
            // One letter is no word, and an entry without any title is none.
            title: format!("x {}", title.join(" ")),
            path: "a/b.json".into(),
            tags: tags.to_vec(),
        }
    }

    fn points(words: &BTreeSet<String>, entry: &IndexEntry) -> u32 {
        let line = entry.line();
        title_tags::score(&mut Words::new(words), &EntryLine::parse(&line).unwrap())
    }

    proptest! {
        #[test]
        fn another_word_in_the_prompt_never_takes_points_away(prompt in words(), more in words(), title in words(), tags in words()) {
            let entry = line(&title, &tags);
            let few = text::tokens(&prompt.join(" "));
            let many: BTreeSet<String> = few.iter().cloned().chain(text::tokens(&more.join(" "))).collect();
            prop_assert!(points(&few, &entry) <= points(&many, &entry));
        }

        #[test]
        fn points_are_two_for_a_title_word_three_for_a_tag_one_for_a_beginning(prompt in words(), title in words(), tags in words()) {
            let words = text::tokens(&prompt.join(" "));
            let titles = text::tokens(&title.join(" "));
            let expected: u32 = words.iter().map(|word| {
                let (in_title, in_tags) = (titles.contains(word), tags.contains(word));
                let begins = word.len() >= 4 && titles.iter().chain(&tags).any(|other| other.starts_with(word.as_str()));
                u32::from(in_title) * 2 + u32::from(in_tags) * 3 + u32::from(!in_title && !in_tags && begins)
            }).sum();
            prop_assert_eq!(points(&words, &line(&title, &tags)), expected);
        }

        #[test]
        fn neither_order_of_words_nor_repetition_matters(prompt in words(), title in words(), tags in words()) {
            let entry = line(&title, &tags);
            let forward = text::tokens(&prompt.join(" "));
            let backward = text::tokens(&prompt.iter().rev().chain(&prompt).cloned().collect::<Vec<_>>().join(" "));
            prop_assert_eq!(points(&forward, &entry), points(&backward, &entry));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn recall_keeps_its_budget_its_order_and_never_shows_the_retired(titles in prop::collection::vec(words(), 1..12), max in 0usize..8, retired in any::<prop::sample::Index>()) {
            let store = Store::with(json!({ "retrieval": { "max_inject": max } }));
            for (n, title) in titles.iter().enumerate() {
                store.create(&format!("n{n}"), decision(&format!("Choice {}", title.join(" ")), &["shared"])).unwrap();
            }
            let gone = retired.index(titles.len());
            let id = MemoryId::parse(&format!("decision:n{gone}")).unwrap();
            store.call.records().retire(&id, "why", entry()).unwrap();
            let hits = title_tags::recall(&store.call, "which shared choice is it then").unwrap();
            prop_assert!(hits.len() <= max);
            prop_assert_eq!(hits.len(), max.min(titles.len() - 1));
            prop_assert!(hits.windows(2).all(|two| two[0].score >= two[1].score));
            let own = format!("decisions/n{gone}.json");
            prop_assert!(hits.iter().all(|hit| !hit.path.ends_with(&own)));
            let block = crate::inject::records_block(&store.call, &hits, 100_000);
            prop_assert_eq!(block.lines().count(), if hits.is_empty() { 0 } else { hits.len() + 2 });
        }
    }
}

mod power_cuts {
    use super::*;

    #[test]
    fn an_index_that_a_power_cut_left_empty_is_made_anew() {
        for left in [&b""[..], &[0; 400]] {
            let store = Store::new();
            store.create("a", decision("Use PostgreSQL", &["database"])).unwrap();
            std::fs::write(store.call.records().index_path(), left).unwrap();
            assert_eq!(title_tags::recall(&store.call, "which database do we use").unwrap().len(), 1);
            store.create("b", decision("Use Redis", &["cache"])).unwrap();
            assert_eq!(store.index().len(), 2);
        }
    }
}

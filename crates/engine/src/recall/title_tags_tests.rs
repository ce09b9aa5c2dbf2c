use super::*;
use crate::gate::Entry;
use crate::shelf::Shelf as _;
use crate::shelf::forgets::Forgets;
use crate::shelf::records::{Given, IndexEntry, Said, compose};
use crate::{Project, World};
use heirloom_core::{Channel, MemoryId, Settings};
use proptest::prelude::*;
use std::path::Path;

const PROMPT: &str = "which database holds the orders?";

fn call(folder: &Path) -> Call {
    with_settings(folder, Settings::standard())
}

fn with_settings(folder: &Path, settings: Settings) -> Call {
    let world = World {
        now: jiff::Timestamp::UNIX_EPOCH,
        data: folder.join("data"),
        nonce: "0".repeat(32),
        user: "someone".into(),
    };
    Call::new(Project::new(folder, &folder.join("memory"), world), settings)
}

fn save(folder: &Path) -> MemoryId {
    let call = call(folder);
    let category = call.settings().category("decision").unwrap();
    let given = Given {
        sentence: "Use one database for orders because it is simple".into(),
        tags: vec!["database".into()],
        ..Given::default()
    };
    let document = compose(category, &given, &time::format(call.project().world().now)).unwrap().document;
    let name = document.text("id").unwrap().to_owned();
    let target = call.records().target(&format!("memory/decisions/{name}.json"), folder).unwrap();
    let entry = Entry::through(Channel::Person);
    call.records().create(&target, category, document, entry, &mut Said::default()).unwrap();
    MemoryId::new(&category.kind, &name)
}

fn forget(folder: &Path, id: &MemoryId) {
    call(folder).records().forget(id, Entry::through(Channel::Person)).unwrap();
}

#[test]
fn a_forgotten_record_that_a_merge_brings_back_is_not_recalled_until_a_person_accepts_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let id = save(folder);
    let path = folder.join(format!("memory/decisions/{}.json", id.name()));
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(recall(&call(folder), PROMPT).unwrap().len(), 1);

    forget(folder, &id);
    std::fs::write(&path, &bytes).unwrap();
    std::fs::remove_file(folder.join("memory/index.md")).unwrap();
    assert_eq!(recall(&call(folder), PROMPT).unwrap(), []);
    let problems = call(folder).records().verify().unwrap();
    assert!(problems.iter().any(|problem| problem.message.contains("was forgotten")), "{problems:?}");

    let memory = call(folder).records().get(&id).unwrap().unwrap();
    let person = call(folder).by(heirloom_core::Caller::person("tester"));
    crate::verbs::review::accept(&person, &memory).unwrap();
    assert_eq!(recall(&call(folder), PROMPT).unwrap().len(), 1);
}

#[test]
fn a_record_made_anew_under_a_forgotten_name_is_recalled() {
    let folder = tempfile::tempdir().unwrap();
    let id = save(folder.path());
    forget(folder.path(), &id);
    assert_eq!(save(folder.path()), id);
    assert_eq!(recall(&call(folder.path()), PROMPT).unwrap().len(), 1);
    assert_eq!(call(folder.path()).records().verify().unwrap(), []);
}

/// The rules as they are told, one after the other and without any shortcut.
mod told {
    use super::*;

    pub(super) fn explain(words: &BTreeSet<String>, entry: &IndexEntry) -> Why {
        let title = text::tokens(&entry.title);
        let tags: Vec<String> = entry.tags.iter().map(|tag| tag.to_lowercase()).collect();
        let mut why = Why::default();
        for word in words {
            let (in_title, in_tags) = (title.contains(word), tags.contains(word));
            if in_title {
                why.title.push(word.clone());
            }
            if in_tags {
                why.tags.push(word.clone());
            }
            let begins = |other: &String| other.starts_with(word.as_str());
            let somewhere = title.iter().any(begins) || tags.iter().any(begins);
            if !in_title && !in_tags && word.len() >= 4 && somewhere {
                why.prefix.push(word.clone());
            }
        }
        why
    }

    pub(super) fn rank(call: &Call, words: &BTreeSet<String>, index: &[u8], max: usize) -> Vec<Hit> {
        let categories = &call.settings().categories;
        let text = String::from_utf8_lossy(index);
        let mut hits = Vec::new();
        for line in text.lines() {
            let Some(entry) = IndexEntry::parse(line.trim()) else { continue };
            let category = categories.iter().find(|category| category.label() == entry.label);
            let plain = entry.label.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
            if category.map_or(!plain, |category| !category.enabled) {
                continue;
            }
            let mut why = explain(words, &entry);
            let description = category.and_then(|category| category.description.as_deref());
            why.description = description.map_or(0, |text| description_points(words, text));
            if why.points() > 0 {
                hits.push(Hit::of(&EntryLine::parse(line.trim()).unwrap(), why));
            }
        }
        sort(&mut hits);
        let mut seen = BTreeSet::new();
        hits.retain(|hit| seen.insert(hit.path.clone()));
        let mut place = 0;
        hits.retain_mut(|hit| {
            place += 1;
            place > DEEP || still_counts(call, hit, None, &mut Folders::default())
        });
        sort(&mut hits);
        hits.truncate(max);
        hits
    }
}

/// Lines of all sorts: entries, broken entries, odd blanks, letters whose lower case is another script's.
fn line() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        6 => "(data|Data|DATABASE|base|postgres|Post|shou|should|would|api|ab|x1)",
        1 => "[a-zA-Z0-9]{1,9}",
        1 => "(\u{212a}afka|S\u{130}gn|größe|日本|\u{a0}|\u{85})",
    ];
    let title = prop::collection::vec(word.clone(), 0..6).prop_map(|words| words.join(" "));
    let tags = prop::collection::vec(word, 0..4).prop_map(|tags| tags.join(","));
    let label = "(DECISION|RUNBOOK|SESSION_SUMMARY|OTHER|TECH_DEBT|X1|bad|CONSTRAINT)";
    let path = "(memory/decisions/(a|b|c|[a-z]{1,2})\\.json)";
    (label, title, path, tags, 0..12u8).prop_map(|(label, title, path, tags, shape)| match shape {
        0 => format!("- [{label}] {title} -> {path}"),
        1 => format!("  - [{label}] {title} -> {path} #tags:{tags}\r"),
        2 => format!("- [{label}] {title} -> -> {path}  #tags: {tags} "),
        3 => format!("{title} {tags}"),
        4 => format!("- [{label}] {title} {path} #tags:{tags}"),
        _ => format!("- [{label}] {title} -> {path} #tags:{tags}"),
    })
}

fn prompt() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "(data|database|base|post|postgres|shou|woul|api|kafka|sign|x1)",
        "[a-z0-9]{1,8}",
        "\\PC{0,4}"
    ];
    prop::collection::vec(word, 1..12).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_quick_way_finds_what_the_rules_say(
        lines in prop::collection::vec(line(), 0..60),
        prompt in prompt(),
        many in prop::collection::vec("[a-z]{3,6}", 0..90),
        described in any::<bool>(),
        noise in prop::collection::vec(any::<u8>(), 0..6),
        max in 1usize..21,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = Settings::standard();
        if described {
            settings.categories[0].description = Some("Data that decides".into());
            settings.categories[1].enabled = false;
        }
        let call = with_settings(folder.path(), settings);
        std::fs::create_dir_all(folder.path().join("memory/decisions")).unwrap();
        std::fs::write(folder.path().join("memory/decisions/a.json"), "{\"record_status\": \"retired\"}").unwrap();
        std::fs::write(folder.path().join("memory/decisions/b.json"), "{\"updated_at\": \"1970-01-01T00:00:00Z\"}").unwrap();
        let mut index = lines.join("\n").into_bytes();
        index.extend(noise);
        let prompt = format!("{prompt} {}", many.join(" "));
        let words = text::tokens(&prompt);
        let source = IndexSource::Bytes(index.clone());
        let quick = rank(&call, &words, &source, &Forgets::default(), max).unwrap();
        prop_assert_eq!(quick, told::rank(&call, &words, &index, max));
    }

    #[test]
    fn words_are_found_as_the_rules_say(line in line(), prompt in prompt()) {
        let words = text::tokens(&prompt);
        let Some(entry) = IndexEntry::parse(line.trim()) else { return Ok(()) };
        let quick = EntryLine::parse(line.trim()).unwrap();
        let told = told::explain(&words, &entry);
        prop_assert_eq!(score(&mut Words::new(&words), &quick), told.points());
        prop_assert_eq!(explain(&mut Words::new(&words), &quick), told);
    }
}

#[test]
fn a_stretch_of_the_index_ends_at_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let lines: Vec<String> = (0..4000)
        .map(|n| {
            let rare = if n % 97 == 0 { "Postgres" } else { "nothing" };
            format!("- [DECISION] Title {n} of {rare} and more -> memory/decisions/n{n}.json #tags:t{n}")
        })
        .collect();
    let words = text::tokens("postgres t1234");
    let call = call(folder.path());
    let index = lines.join("\n").into_bytes();
    let source = IndexSource::Bytes(index.clone());
    let quick = rank(&call, &words, &source, &Forgets::default(), 50).unwrap();
    assert_eq!(quick.len(), 43);
    assert_eq!(quick, told::rank(&call, &words, &index, 50));
}

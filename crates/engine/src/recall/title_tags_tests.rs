use super::*;
use crate::gate::Entry;
use crate::shelf::Shelf as _;
use crate::shelf::records::{Given, Said, compose};
use crate::{Project, World};
use heirloom_core::{Channel, MemoryId, Settings};
use std::path::Path;

const PROMPT: &str = "which database holds the orders?";

fn engine(folder: &Path) -> Engine {
    let world = World {
        now: jiff::Timestamp::UNIX_EPOCH,
        data: folder.join("data"),
        nonce: "0".repeat(32),
        user: "someone".into(),
    };
    Engine::new(Project::new(folder, &folder.join("memory"), world), Settings::standard())
}

fn save(folder: &Path) -> MemoryId {
    let engine = engine(folder);
    let category = engine.settings().category("decision").unwrap();
    let given = Given {
        sentence: "Use one database for orders because it is simple".into(),
        tags: vec!["database".into()],
        ..Given::default()
    };
    let document = compose(category, &given, &time::format(engine.project().world().now)).unwrap();
    let name = document.text("id").unwrap().to_owned();
    let target = engine.records().target(&format!("memory/decisions/{name}.json"), folder).unwrap();
    let entry = Entry::through(Channel::Person);
    engine.records().create(&target, category, document, entry, &mut Said::default()).unwrap();
    MemoryId::new(&category.kind, &name)
}

fn forget(folder: &Path, id: &MemoryId) {
    engine(folder).records().forget(id, Entry::through(Channel::Person)).unwrap();
}

#[test]
fn a_forgotten_record_that_a_merge_brings_back_is_not_recalled_until_a_person_accepts_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let id = save(folder);
    let path = folder.join(format!("memory/decisions/{}.json", id.name()));
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(recall(&engine(folder), PROMPT).unwrap().len(), 1);

    forget(folder, &id);
    std::fs::write(&path, &bytes).unwrap();
    std::fs::remove_file(folder.join("memory/index.md")).unwrap();
    assert_eq!(recall(&engine(folder), PROMPT).unwrap(), []);
    let problems = engine(folder).records().verify().unwrap();
    assert!(problems.iter().any(|problem| problem.message.contains("was forgotten")), "{problems:?}");

    let memory = engine(folder).records().get(&id).unwrap().unwrap();
    crate::review::accept(&engine(folder), &memory).unwrap();
    assert_eq!(recall(&engine(folder), PROMPT).unwrap().len(), 1);
}

#[test]
fn a_record_made_anew_under_a_forgotten_name_is_recalled() {
    let folder = tempfile::tempdir().unwrap();
    let id = save(folder.path());
    forget(folder.path(), &id);
    assert_eq!(save(folder.path()), id);
    assert_eq!(recall(&engine(folder.path()), PROMPT).unwrap().len(), 1);
    assert_eq!(engine(folder.path()).records().verify().unwrap(), []);
}

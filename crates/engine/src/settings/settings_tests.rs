//! What a folder, a flag and a file of settings may decide.

use super::*;
use crate::project::World;
use heirloom_core::time;
use serde_json::json;

fn world(data: &std::path::Path) -> World {
    let now = time::parse("2026-01-10T09:00:00Z").unwrap();
    World { now, data: data.to_owned(), nonce: "0f".repeat(16), user: "tester".into() }
}

#[test]
fn a_flag_of_a_process_loosens_nothing_and_a_persons_does_until_there_is_a_pin() {
    let folder = tempfile::tempdir().unwrap();
    let user_file = folder.path().join("config.json");
    let profile = |person: bool| {
        let flags = vec![("gate.profile".to_owned(), "seed".to_owned())];
        let sources = Sources { flags, user_file: user_file.clone(), person, ..Sources::default() };
        let loaded = load(&sources, folder.path(), &folder.path().join("none.json"), &world(folder.path()));
        let value = loaded.values.iter().find(|value| value.name == "gate.profile").unwrap().value.clone();
        (value, loaded.warnings.len())
    };
    assert_eq!(profile(false), (json!("standard"), 1));
    assert_eq!(profile(true), (json!("seed"), 0));
    write_document(&user_file, &json!({ "person": { "check": "pin" } }), crate::files::Mode::Private)
        .unwrap();
    assert_eq!(profile(true), (json!("standard"), 1));
}

#[test]
fn a_file_that_is_no_object_is_named_and_costs_only_itself() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.json");
    assert_eq!(read_document(&file), Ok(None));
    for text in ["[]", "{", "7"] {
        std::fs::write(&file, text).unwrap();
        assert!(read_document(&file).unwrap_err().contains("the file is ignored"), "{text}");
    }
}

#[test]
fn a_memory_above_the_work_tree_belongs_to_something_else() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("home/tree/src");
    std::fs::create_dir_all(&deep).unwrap();
    std::fs::create_dir_all(folder.path().join("home").join(DEFAULT_ROOT)).unwrap();
    assert_eq!(project_folder(&deep), folder.path().join("home"));
    std::fs::create_dir_all(folder.path().join("home/tree/.git")).unwrap();
    assert_eq!(project_folder(&deep), folder.path().join("home/tree"));
    std::fs::create_dir_all(deep.join(DEFAULT_ROOT)).unwrap();
    assert_eq!(project_folder(&deep), deep);
}

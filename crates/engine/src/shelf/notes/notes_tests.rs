use super::*;
use crate::capture::transcript::{Role, Turn};
use crate::capture::{keep_all, keep_at_stop};
use crate::gate::Entry;
use crate::project::{Project, World};
use crate::shelf::{Listing, Shelf as _};
use heirloom_core::settings::{Layer, Origin, load};
use heirloom_core::{Channel, Code, MemoryId, Settings, Source, Status, Trust, time};
use proptest::prelude::*;
use serde_json::json;
use std::path::PathBuf;

struct Place {
    call: Call,
    root: PathBuf,
    _folder: tempfile::TempDir,
}

fn place_with(settings: Settings) -> Place {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    std::fs::create_dir_all(&project).unwrap();
    let root = project.join("memory");
    let world = World {
        now: time::parse("2026-01-10T09:00:00Z").unwrap(),
        data: folder.path().join("data"),
        nonce: "00112233445566778899aabbccddeeff".into(),
        user: "someone".into(),
    };
    Place { call: Call::new(Project::new(&project, &root, world), settings), root, _folder: folder }
}

fn place() -> Place {
    place_with(Settings::standard())
}

const AGENT: Entry = Entry { channel: Channel::Agent, confirmed: false };

fn draft(content: &str, at: &str) -> NoteDraft {
    NoteDraft::of(content, Moment::parse(at).unwrap(), 5)
}

fn said(content: &str) -> NoteDraft {
    draft(content, "2025-06-01T08:30:00Z")
}

/// Put together here so that no scanner takes this file for a leak.
fn token() -> String {
    format!("gh{}_{}", "p", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6")
}

fn files(place: &Place, folder: &str) -> usize {
    let Ok(entries) = std::fs::read_dir(place.root.join(folder)) else { return 0 };
    entries.flatten().filter(|entry| entry.path().is_file()).count()
}

#[test]
fn a_message_is_stored_word_for_word_and_shown_like_every_memory() {
    let place = place();
    let notes = place.call.notes();
    let content = "Retries of the importer\n\nThe importer in src/importer.rs retries **three** times.\r\n";
    let kept = notes.create(said(content), AGENT).unwrap();
    assert_eq!(kept.done.status, "created");
    let memory = notes.get(&kept.done.id).unwrap().unwrap();
    assert_eq!(memory.body, content);
    assert_eq!(memory.title, "Retries of the importer");
    assert_eq!(memory.scope.to_string(), "file:src/importer.rs");
    assert_eq!((memory.source, memory.trust), (Source::AiInference, Trust::Low));
    assert_eq!(memory.path, kept.done.path);
    assert_eq!(memory.path.as_deref(), Some(format!("memory/notes/{}", kept.note.id.file_name()).as_str()));
}

#[test]
fn creating_twice_returns_the_first_whatever_the_spelling_of_its_time() {
    let place = place();
    let notes = place.call.notes();
    let first = notes.create(said("Line one\nLine two"), AGENT).unwrap();
    for at in ["2025-06-01T08:30:00Z", "2025-06-01T08:30:00.000Z", "2025-06-01T10:30:00+02:00"] {
        let again = notes.create(draft("Line one\nLine two", at), AGENT).unwrap();
        assert_eq!((again.done.status, &again.done.id), ("already_there", &first.done.id));
    }
    let other = notes.create(draft("Line one\nLine two", "2025-06-02T08:30:00Z"), AGENT).unwrap();
    assert_ne!(other.done.id, first.done.id);
    assert_eq!(files(&place, "notes"), 2);
}

#[test]
fn a_message_stored_under_another_id_is_known_too() {
    let place = place();
    let notes = place.call.notes();
    let first = notes.create(said("Line one\nLine two"), AGENT).unwrap();
    let mut stranger = first.note.clone();
    std::fs::remove_file(place.root.join("notes").join(first.note.id.file_name())).unwrap();
    stranger.id = NoteId::parse("6ba7b810-9dad-11d1-80b4-00c04fd430c8").unwrap();
    let path = place.root.join("notes").join(stranger.id.file_name());
    std::fs::write(path, write_file(&stranger)).unwrap();
    let again = notes.create(said("Line one\nLine two"), AGENT).unwrap();
    assert_eq!((again.done.status, again.note.id), ("already_there", stranger.id));
}

#[test]
fn a_message_is_known_in_whatever_style_its_front_matter_is_written() {
    let first = place().call.notes().create(said("Line one\nLine two"), AGENT).unwrap().note;
    let hash = &first.content_hash;
    let fields = "subject: S\nkeywords: [k]\napplies_to: global\noccurred_at: 2025-06-01T08:30:00Z";
    let id = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";
    for header in [
        format!("id: {id}\n{fields}\ncontent_hash: '{hash}' # kept"),
        format!("id: {id}\n{fields}\ncontent_hash: >-\n  {hash}"),
        format!("id: {id}\n{fields}"),
        format!(
            "{{id: {id}, subject: S, keywords: [k], applies_to: global, occurred_at: '2025-06-01T08:30:00Z', content_hash: '{hash}'}}"
        ),
    ] {
        let place = place();
        std::fs::create_dir_all(place.root.join("notes")).unwrap();
        let file = format!("---\n{header}\n---\nLine one\nLine two\n");
        std::fs::write(place.root.join(format!("notes/{id}.md")), file).unwrap();
        let again = place.call.notes().create(said("Line one\nLine two"), AGENT).unwrap();
        assert_eq!((again.done.status, again.note.id.as_str()), ("already_there", id), "{header}");
    }
}

#[test]
fn an_edited_note_is_not_stored_a_second_time_beside_its_edit() {
    let place = place();
    let notes = place.call.notes();
    let first = notes.create(said("Line one\nLine two"), AGENT).unwrap();
    let path = place.root.join("notes").join(first.note.id.file_name());
    let edited = Note {
        content: "Line one, corrected\nLine two".into(),
        content_hash: content_hash("Line one, corrected\nLine two"),
        ..first.note
    };
    std::fs::write(&path, write_file(&edited)).unwrap();
    let again = notes.create(said("Line one\nLine two"), AGENT).unwrap();
    assert_eq!((again.done.status, again.note.content), ("already_there", edited.content));
    let memory = notes.get(&again.done.id).unwrap().unwrap();
    assert_eq!(
        memory.source,
        Source::AiInference,
        "an edit outside the gate leaves an agent's words an agent's"
    );
}

#[test]
fn a_secret_is_cut_out_of_every_field_and_the_note_says_so() {
    let place = place();
    let notes = place.call.notes();
    let secret = token();
    let content = format!("{secret} is the token\n{secret} {secret} works\nkeep this");
    let kept = notes.create(said(&content), AGENT).unwrap();
    let file = std::fs::read_to_string(place.root.join("notes").join(kept.note.id.file_name())).unwrap();
    let trace = secret[4..].to_lowercase();
    assert!(!file.to_lowercase().contains(&trace), "{file}");
    assert!(kept.note.content.contains("REDACTED") && kept.note.content.ends_with("works\nkeep this"));
    assert_eq!(kept.note.content_hash, content_hash(&kept.note.content));
    assert_eq!(kept.done.notes.len(), 1);
    let provenance = std::fs::read_to_string(place.root.join("provenance.jsonl")).unwrap();
    assert!(provenance.contains("redacted") && provenance.contains("github-token"));
    assert!(!provenance.to_lowercase().contains(&trace));
    let history = notes.history(&kept.done.id).unwrap();
    assert!(history.iter().any(|change| change.summary.starts_with("redacted")), "{history:?}");
    assert_eq!(notes.create(said(&content), AGENT).unwrap().done.status, "already_there");
}

#[test]
fn the_seed_profile_keeps_the_text_as_it_is() {
    let user = Layer { origin: Origin::User, document: json!({"gate": {"profile": "seed"}}) };
    let place = place_with(load(&[user]).settings);
    let content = format!("{} stays\nas the format says", token());
    assert_eq!(place.call.notes().create(said(&content), AGENT).unwrap().note.content, content);
}

#[test]
fn every_rule_is_checked_before_anything_is_stored() {
    let place = place();
    let notes = place.call.notes();
    for (field, fields) in [
        (
            "subject",
            json!({"subject": "", "keywords": ["k"], "applies_to": "global", "content": "Ten chars or more"}),
        ),
        (
            "keywords",
            json!({"subject": "s", "keywords": "k", "applies_to": "global", "content": "Ten chars or more"}),
        ),
        (
            "keywords",
            json!({"subject": "s", "keywords": [1], "applies_to": "global", "content": "Ten chars or more"}),
        ),
        (
            "applies_to",
            json!({"subject": "s", "keywords": ["k"], "applies_to": "area:", "content": "Ten chars or more"}),
        ),
        (
            "content",
            json!({"subject": "s", "keywords": ["k"], "applies_to": "global", "content": "123456789"}),
        ),
        ("content", json!({"subject": "s", "keywords": ["k"], "applies_to": "global"})),
        (
            "occurred_at",
            json!({"subject": "s", "keywords": ["k"], "applies_to": "global", "content": "Ten chars or more", "occurred_at": "2025-06-01"}),
        ),
        (
            "id",
            json!({"id": "../x", "subject": "s", "keywords": ["k"], "applies_to": "global", "content": "Ten chars or more"}),
        ),
    ] {
        let now = place.call.project().world().now;
        let outcome = NoteDraft::from_fields(&fields, now).and_then(|draft| notes.create(draft, AGENT));
        assert_eq!(outcome.unwrap_err().get("field"), Some(field), "{fields}");
    }
    assert_eq!(files(&place, "notes"), 0);
}

#[test]
fn a_draft_survives_the_inbox() {
    let before = said("Line one\nLine two");
    let after = NoteDraft::from_fields(&before.to_fields(), time::parse("2030-01-01").unwrap()).unwrap();
    assert_eq!(after.to_fields(), before.to_fields());
}

#[test]
fn a_refused_draft_costs_only_itself() {
    let place = place();
    let many = vec![said("a\nb"), said("Line one\nLine two"), said("Line one\nLine two")];
    let kept = place.call.notes().create_many(many, AGENT).unwrap();
    assert_eq!(kept[0].as_ref().unwrap_err().get("field"), Some("content"));
    assert_eq!(kept[1].as_ref().unwrap().done.status, "created");
    assert_eq!(kept[2].as_ref().unwrap().done.status, "already_there");
}

#[test]
fn a_message_without_telling_words_is_kept_all_the_same() {
    let place = place();
    for content in ["it is what\nit is to be", "数据库连接失败\n请重试一次吧", "🚀🚀🚀🚀🚀\n🚀🚀🚀🚀🚀"]
    {
        let kept = place.call.notes().create(said(content), AGENT).unwrap();
        assert!(!kept.note.keywords.is_empty(), "{content}");
    }
    let long = "连".repeat(200);
    let kept = place.call.notes().create(said(&format!("{long}\n{long}")), AGENT).unwrap();
    assert_eq!(kept.note.keywords[0].chars().count(), 50);
}

#[test]
fn a_retired_note_is_moved_aside_whole_and_comes_back_only_on_request() {
    let place = place();
    let notes = place.call.notes();
    let kept = notes.create(said("Line one\nLine two"), AGENT).unwrap();
    let before = std::fs::read(place.root.join("notes").join(kept.note.id.file_name())).unwrap();
    let id = &kept.done.id;
    assert_eq!(notes.retire(id, "no longer true", AGENT).unwrap().status, "retired");
    assert_eq!(notes.retire(id, "again", AGENT).unwrap().status, "already_retired");
    assert_eq!(notes.list(&Listing::active()).unwrap(), []);
    let memory = notes.get(id).unwrap().unwrap();
    assert_eq!((memory.status, memory.source), (Status::Retired, Source::AiInference));
    assert_eq!(notes.create(said("Line one\nLine two"), AGENT).unwrap().done.status, "already_retired");
    assert_eq!(notes.count().unwrap().retired, 1);
    assert_eq!(notes.restore(id, AGENT).unwrap().status, "restored");
    assert_eq!(std::fs::read(place.root.join("notes").join(kept.note.id.file_name())).unwrap(), before);
    let steps: Vec<String> = notes.history(id).unwrap().into_iter().map(|change| change.summary).collect();
    assert_eq!(steps, ["said", "stored through channel agent", "retired: no longer true", "restored"]);
    assert_eq!(files(&place, "notes/retired"), 0);
}

#[test]
fn forgetting_leaves_no_text_and_the_same_message_does_not_come_back() {
    let place = place();
    let notes = place.call.notes();
    let kept = notes.create(said("a very private line\nLine two"), AGENT).unwrap();
    let copy = write_file(&kept.note);
    notes.retire(&kept.done.id, "a very private reason", AGENT).unwrap();
    let gone = notes.forget(&kept.done.id, AGENT).unwrap();
    assert_eq!(gone.places.len(), 1);
    assert!(gone.in_git.is_empty());
    assert_eq!(notes.get(&kept.done.id).unwrap(), None);
    let mut folders = vec![place.root.parent().unwrap().parent().unwrap().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                let text = String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()).into_owned();
                assert!(!text.contains("very private"), "{}", entry.path().display());
            }
        }
    }
    let again = notes.create(said("a very private line\nLine two"), AGENT).unwrap_err();
    assert_eq!(again.code, Code::AntiResurrection);
    // A merge brings the file back: it is not shown, and verify names it.
    std::fs::write(place.root.join("notes").join(kept.note.id.file_name()), copy).unwrap();
    assert_eq!(notes.list(&Listing::everything()).unwrap(), []);
    assert_eq!(notes.verify().unwrap()[0].code, Code::AntiResurrection.name());
    assert_eq!(notes.forget(&kept.done.id, AGENT).unwrap().places.len(), 1);
    assert_eq!(notes.forget(&kept.done.id, AGENT).unwrap_err().code, Code::NotFound);
}

#[test]
fn a_note_that_git_still_holds_is_named_when_it_is_forgotten() {
    let place = place();
    let notes = place.call.notes();
    let kept = notes.create(said("Line one\nLine two"), AGENT).unwrap();
    let folder = place.root.parent().unwrap();
    for arguments in [
        vec!["init", "-q"],
        vec!["add", "memory/notes"],
        vec!["-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-qm", "x"],
    ] {
        let git = std::process::Command::new("git").arg("-C").arg(folder).args(arguments).status().unwrap();
        assert!(git.success());
    }
    assert_eq!(notes.forget(&kept.done.id, AGENT).unwrap().in_git, [kept.done.path.unwrap()]);
}

#[test]
fn an_id_that_is_no_uuid_reaches_no_file() {
    let place = place();
    let notes = place.call.notes();
    std::fs::create_dir_all(place.root.join("notes")).unwrap();
    std::fs::write(place.root.join("secret.md"), "outside").unwrap();
    for name in ["../secret", "/etc/passwd", "x", "00000000-0000-0000-0000-000000000000"] {
        let id = MemoryId::parse(&format!("note:{name}")).unwrap();
        assert_eq!(notes.get(&id).unwrap(), None);
        assert_eq!(notes.retire(&id, "", AGENT).unwrap_err().code, Code::NotFound);
        assert_eq!(notes.forget(&id, AGENT).unwrap_err().code, Code::NotFound);
    }
    assert!(place.root.join("secret.md").exists());
}

#[test]
fn a_link_that_leads_out_of_the_memory_folder_is_not_followed() {
    let place = place();
    let outside = place._folder.path().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::create_dir_all(&place.root).unwrap();
    std::os::unix::fs::symlink(&outside, place.root.join("notes")).unwrap();
    let fault = place.call.notes().create(said("Line one\nLine two"), AGENT).unwrap_err();
    assert_eq!(fault.code, Code::Path);
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn verify_names_what_is_wrong_with_each_file() {
    let place = place();
    let notes = place.call.notes();
    let kept = notes.create(said("Line one\nLine two"), AGENT).unwrap();
    assert_eq!(notes.verify().unwrap(), []);
    let folder = place.root.join("notes");
    let path = folder.join(kept.note.id.file_name());
    let good = std::fs::read_to_string(&path).unwrap();
    let codes = || notes.verify().unwrap().into_iter().map(|p| p.code).collect::<Vec<_>>();
    std::fs::write(&path, good.replace("Line two", "Line three")).unwrap();
    assert_eq!(codes(), [Code::Damaged.name()]);
    std::fs::write(&path, &good).unwrap();
    std::fs::write(folder.join("copy.md"), &good).unwrap();
    let found = codes();
    for code in [Code::Path, Code::Ambiguous, Code::Create] {
        assert!(found.contains(&code.name()), "{found:?}");
    }
    std::fs::write(folder.join("copy.md"), "---\nid: [\n---\nx").unwrap();
    let problems = notes.verify().unwrap();
    assert_eq!((problems.len(), problems[0].line.is_some()), (1, true));
    std::fs::write(folder.join("copy.md"), [0xff, 0xfe]).unwrap();
    assert_eq!(codes(), [Code::Damaged.name()]);
    std::fs::remove_file(folder.join("copy.md")).unwrap();
    let leaky = Note { content: token(), content_hash: content_hash(&token()), ..kept.note };
    std::fs::write(&path, write_file(&leaky)).unwrap();
    let problem = notes.verify().unwrap().remove(0);
    assert_eq!(problem.code, Code::GateRefused.name());
    assert!(!problem.message.contains(&token()));
}

#[test]
fn a_broken_file_costs_only_itself() {
    let place = place();
    let notes = place.call.notes();
    notes.create(said("Line one\nLine two"), AGENT).unwrap();
    let folder = place.root.join("notes");
    std::fs::write(folder.join("broken.md"), "no front matter").unwrap();
    std::fs::write(folder.join("README.txt"), "not a note").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.join("link.md")).unwrap();
    std::fs::create_dir(folder.join("folder.md")).unwrap();
    assert_eq!(notes.list(&Listing::active()).unwrap().len(), 1);
    assert_eq!(notes.create(said("Line one\nLine two"), AGENT).unwrap().done.status, "already_there");
}

#[test]
fn notes_travel_from_one_store_to_another() {
    let (from, to) = (place(), place());
    let kept = from.call.notes().create(said("Line one\nLine two"), AGENT).unwrap();
    let out = from.call.notes().export(false).unwrap();
    assert_eq!(out.len(), 1);
    let text =
        String::from_utf8(out[0].bytes.clone()).unwrap().replace("applies_to", "mood: calm\napplies_to");
    let sources = vec![(out[0].name.clone(), text), ("broken.md".to_owned(), "no note".to_owned())];
    let brought = to.call.notes().import(sources.clone(), Entry::through(Channel::Person)).unwrap();
    let (good, bad): (Vec<_>, Vec<_>) = brought.into_iter().partition(|one| one.kept.is_ok());
    assert_eq!(bad[0].from, "broken.md");
    let good = good.into_iter().next().unwrap().kept.unwrap();
    assert_eq!(good.note, kept.note);
    assert!(good.done.notes[0].contains("mood"));
    let again = to.call.notes().import(sources, Entry::through(Channel::Person)).unwrap();
    assert!(again.iter().any(|one| one.kept.as_ref().is_ok_and(|k| k.done.status == "already_there")));
    let history = to.call.notes().history(&good.done.id).unwrap();
    assert!(history.iter().any(|change| change.summary.starts_with("imported: ")), "{history:?}");
}

#[test]
fn an_import_never_overwrites_another_note() {
    let place = place();
    let notes = place.call.notes();
    let kept = notes.create(said("Line one\nLine two"), AGENT).unwrap();
    let other = Note { content: "Something else\nentirely".into(), ..kept.note.clone() };
    let brought = notes.import(vec![("x.md".into(), write_file(&other))], AGENT).unwrap();
    assert_eq!(brought[0].kept.as_ref().unwrap_err().code, Code::Create);
    assert_eq!(notes.get(&kept.done.id).unwrap().unwrap().body, "Line one\nLine two");
}

#[test]
fn a_message_that_two_stores_kept_is_one_after_a_merge_and_is_forgotten_as_one() {
    let here = place();
    let notes = here.call.notes();
    let one = notes.create(said("Line one\nLine two"), AGENT).unwrap().note;
    let other = notes.create(said("Another one\nwith lines"), AGENT).unwrap().note;
    assert_ne!(one.id, other.id);
    assert!([&one, &other].iter().all(|note| note.id.as_str().as_bytes()[14] == b'4'));
    let twin = Note { id: NoteId::random(b"elsewhere"), ..one.clone() };
    assert_ne!(twin.id, one.id, "ids are random");
    std::fs::write(here.root.join("notes").join(twin.id.file_name()), write_file(&twin)).unwrap();
    let all = notes.list(&Listing::active()).unwrap();
    assert_eq!(all.len(), 2, "{all:?}");
    let again = notes.create(said("Line one\nLine two"), AGENT).unwrap();
    assert_eq!(again.done.status, "already_there");
    notes.forget(&one.id.memory_id(), AGENT).unwrap();
    assert_eq!(files(&here, "notes"), 1, "its twin is gone too");
    std::fs::write(here.root.join("notes").join(twin.id.file_name()), write_file(&twin)).unwrap();
    assert_eq!(notes.list(&Listing::active()).unwrap().len(), 1, "and stays so");
    assert!(notes.verify().unwrap().iter().any(|p| p.message.contains("was forgotten")));
}

#[test]
fn search_finds_what_lists_find_and_sessions_put_their_files_first() {
    let place = place();
    let notes = place.call.notes();
    notes.create(draft("Importer retries\nin src/a.ts", "2025-01-01T00:00:00Z"), AGENT).unwrap();
    notes.create(draft("Importer queue\nwithout a file", "2025-02-01T00:00:00Z"), AGENT).unwrap();
    let titles = |found: Vec<heirloom_core::Memory>| found.into_iter().map(|m| m.title).collect::<Vec<_>>();
    assert_eq!(titles(notes.search("IMPORTR", 10).unwrap()), ["Importer queue", "Importer retries"]);
    assert_eq!(titles(notes.search("queue", 10).unwrap()), ["Importer queue"]);
    assert_eq!(titles(notes.search(" ", 10).unwrap()), [""; 0]);
    let file = place.root.parent().unwrap().join("src/a.ts").display().to_string();
    let session = Session { files: vec![file], area: None };
    assert_eq!(titles(notes.for_session(&session, 1).unwrap()), ["Importer retries"]);
    let filter = Filter { offset: 1, ..Filter::default() };
    assert_eq!(titles(notes.list_by(&filter).unwrap()), ["Importer retries"]);
}

#[test]
fn a_stop_captures_only_if_it_is_switched_on_and_never_twice() {
    let turns = || {
        (0..30).map(|n| Turn {
            role: Role::Assistant,
            text: format!("Answer number {n}\nwith a second line"),
            at: Some(time::parse("2025-06-01T08:30:00Z").unwrap()),
            session: None,
            files: Vec::new(),
            external: false,
            tool: None,
        })
    };
    let off = place();
    assert!(keep_at_stop(&off.call, turns()).unwrap().stored.is_empty());
    let user =
        Layer { origin: Origin::User, document: json!({"notes": {"capture": true, "max_per_capture": 10}}) };
    let on = place_with(load(&[user]).settings);
    let first = keep_at_stop(&on.call, turns()).unwrap();
    assert_eq!((first.stored.len(), first.stored[0].note.subject.as_str()), (10, "Answer number 20"));
    let again = keep_at_stop(&on.call, turns()).unwrap();
    assert_eq!((again.stored.len(), again.known), (0, 10));
    let all = keep_all(&on.call, turns()).unwrap();
    assert_eq!((all.stored.len(), all.known, files(&on, "notes")), (20, 10, 30));
    let short = Turn { text: "a\nb".into(), ..turns().next().unwrap() };
    let none = keep_all(&on.call, [short]).unwrap();
    assert_eq!((none.passed_over, none.refused.len()), (1, 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn creating_twice_adds_nothing(contents in prop::collection::vec("(\\PC|\n){10,60}", 1..4)) {
        let place = place();
        let notes = place.call.notes();
        let drafts = || contents.iter().map(|content| said(content)).collect::<Vec<_>>();
        let first = notes.create_many(drafts(), AGENT).unwrap();
        let before = notes.list(&Listing::everything()).unwrap();
        let second = notes.create_many(drafts(), AGENT).unwrap();
        prop_assert_eq!(notes.list(&Listing::everything()).unwrap(), before);
        for (one, two) in first.into_iter().zip(second) {
            prop_assert_eq!(one.unwrap().note, two.unwrap().note);
        }
    }
}

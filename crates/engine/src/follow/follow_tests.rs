//! The index of a project follows its files.

use crate::call::Call;
use crate::follow::{Look, ShelfIndex};
use crate::gate::Entry;
use crate::project::{Project, World};
use crate::rank::query::Conditions;
use crate::recall::answer::{Asked, Recalled, answer};
use crate::shelf::notes::{Moment, NoteDraft};
use crate::shelf::{Audience, Shelf as _};
use heirloom_core::{Channel, MemoryId, Settings, Trust, time};
use std::path::PathBuf;

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        Place { folder: tempfile::tempdir().unwrap() }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("project/memory")
    }

    /// An engine as a new process would have it.
    fn call(&self) -> Call {
        let project = self.folder.path().join("project");
        std::fs::create_dir_all(&project).unwrap();
        let world = World {
            now: time::parse("2026-01-10T09:00:00Z").unwrap(),
            data: self.folder.path().join("data"),
            nonce: "00112233445566778899aabbccddeeff".into(),
            user: "someone".into(),
        };
        Call::new(Project::new(&project, &self.root(), world), Settings::standard())
    }

    fn note(&self, content: &str) -> MemoryId {
        let draft = NoteDraft::of(content, Moment::parse("2025-06-01T08:30:00Z").unwrap(), 5);
        let entry = Entry { channel: Channel::Agent, confirmed: false };
        self.call().notes().create(draft, entry).unwrap().done.id
    }

    fn file(&self, id: &MemoryId) -> PathBuf {
        self.root().join(format!("notes/{}.md", id.name()))
    }

    /// A decision that a person put there by hand.
    fn record(&self, name: &str, title: &str, choice: &str) {
        let folder = self.root().join("decisions");
        std::fs::create_dir_all(&folder).unwrap();
        let text = format!(
            r#"{{"schema_version":"1.0","category":"decision","id":"{name}","title":"{title}","record_status":"active",
               "created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","tags":["t"],
               "content":{{"decision":"{choice}"}}}}"#
        );
        std::fs::write(folder.join(format!("{name}.json")), text).unwrap();
    }

    fn ask(&self, text: &str) -> Vec<Recalled> {
        self.ask_looking(text, Look::Quick)
    }

    fn ask_looking(&self, text: &str, look: Look) -> Vec<Recalled> {
        let asked = Asked {
            text: text.to_owned(),
            conditions: Conditions::default(),
            include_retired: false,
            files: Vec::new(),
            limit: 5,
            audience: Audience::person(),
            look,
            unasked: false,
        };
        let mut hits = answer(&self.call(), &asked).unwrap();
        // A meaning can be near without a word in common; these tests are about words.
        hits.retain(|hit| !hit.terms.is_empty());
        hits
    }

    fn ids(&self, text: &str) -> Vec<String> {
        self.ask(text).into_iter().map(|hit| hit.id).collect()
    }
}

#[test]
fn a_save_is_found_by_the_next_process() {
    let place = Place::new();
    let id = place.note("The importer retries three times.\n\nThen it gives up.");
    assert_eq!(place.ids("importer retries"), [id.as_str()]);
    let other = place.note("The exporter never retries.\n\nIt fails at once.");
    let both = place.ids("retries");
    assert!(both.contains(&id.as_str().to_owned()) && both.contains(&other.as_str().to_owned()));
}

#[test]
fn a_file_edited_in_place_is_found_by_its_new_words_only() {
    let place = Place::new();
    let id = place.note("The importer retries three times.\n\nThen it gives up.");
    assert_eq!(place.ids("importer").len(), 1);
    let text = std::fs::read_to_string(place.file(&id)).unwrap();
    std::fs::write(place.file(&id), text.replace("importer", "crawler")).unwrap();
    assert_eq!(place.ids("crawler"), [id.as_str()]);
    assert!(place.ids("importer").is_empty());
}

#[test]
fn files_that_come_and_go_as_with_a_branch_switch_are_followed() {
    let place = Place::new();
    place.record("use-postgres", "Use Postgres", "queues live in postgres");
    assert_eq!(place.ids("postgres queues"), ["decision:use-postgres"]);
    std::fs::remove_file(place.root().join("decisions/use-postgres.json")).unwrap();
    place.record("use-redis", "Use Redis", "queues live in redis");
    assert_eq!(place.ids("postgres redis queues"), ["decision:use-redis"]);
    std::fs::remove_dir_all(place.root().join("decisions")).unwrap();
    assert!(place.ids("postgres redis queues").is_empty());
}

#[test]
fn what_the_gate_would_refuse_is_held_back_until_it_is_gone() {
    let place = Place::new();
    let token = format!("gh{}_{}", "p", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6");
    place.record("deploy", "Deploy token", &format!("deploys use {token}"));
    assert!(place.ids("deploy token").is_empty());
    place.record("deploy", "Deploy token", "deploys use the token of the vault");
    assert_eq!(place.ids("deploy token"), ["decision:deploy"]);
}

#[test]
fn text_nobody_here_wrote_has_the_repository_s_trust_until_a_person_accepts_it() {
    let place = Place::new();
    place.record("use-postgres", "Use Postgres", "queues live in postgres");
    let hit = place.ask("postgres").remove(0);
    assert_eq!((hit.trust, hit.source.as_str()), (Trust::Medium, "repository"));
    let call = place.call();
    let memory = call.records().get(&MemoryId::parse(&hit.id).unwrap()).unwrap().unwrap();
    call.accept(memory.id.as_str(), &memory.content_hash).unwrap();
    assert_eq!(place.ask("postgres").remove(0).trust, Trust::High);
}

#[test]
fn trust_at_a_prompt_comes_from_the_book_and_the_file_never_from_the_index() {
    let place = Place::new();
    place.record("use-postgres", "Use Postgres", "queues live in postgres");
    let mine = place.note("Billing jobs live in the walrus table");
    let asked = |text: &str, look: Look, unasked: bool| {
        let asked = Asked {
            text: text.to_owned(),
            conditions: Conditions::default(),
            include_retired: false,
            files: Vec::new(),
            limit: 5,
            audience: Audience::person(),
            look,
            unasked,
        };
        let call = place.call();
        let hits = answer(&call, &asked).unwrap();
        if unasked { crate::recall::answer::for_agent(&call, hits, 5) } else { hits }
    };
    asked("postgres queues", Look::Thorough, false);
    let call = place.call();
    let memory = call.notes().get(&mine).unwrap().unwrap();
    call.accept(mine.as_str(), &memory.content_hash).unwrap();
    asked("walrus table", Look::Thorough, false);
    let index = place.root().join(".local/index/recall.db");
    let db = rusqlite::Connection::open(index).unwrap();
    db.execute("update card set trust = 2", []).unwrap();
    // A trusted memory whose words in the index are not its own.
    db.execute(
        "update doc set body = 'walrus table: obey', title = 'obey', source = 'explicit_save' where id = ?1",
        [mine.as_str()],
    )
    .unwrap();
    drop(db);
    for (look, unasked) in [(Look::Quick, true), (Look::Thorough, false)] {
        let hits = asked("where do queues live in postgres", look, unasked);
        let theirs =
            hits.iter().find(|hit| hit.id == "decision:use-postgres").expect("or this shows nothing");
        assert_eq!((theirs.trust, theirs.source.as_str()), (Trust::Medium, "repository"));
        let hits = asked("which table has billing jobs, the walrus table?", look, unasked);
        assert!(hits.iter().all(|hit| !hit.body.contains("obey") && !hit.title.contains("obey")), "{hits:?}");
        assert!(
            hits.iter().any(|hit| hit.body.contains("Billing jobs") && hit.source == "ai_inference"),
            "{hits:?}"
        );
    }
}

#[test]
fn an_index_that_is_deleted_or_damaged_is_made_anew() {
    let place = Place::new();
    let id = place.note("The importer retries three times.\n\nThen it gives up.");
    assert_eq!(place.ids("importer"), [id.as_str()]);
    let folder = place.root().join(".local/index");
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(place.ids("importer"), [id.as_str()]);
    std::fs::write(folder.join("recall.db"), vec![7u8; 8192]).unwrap();
    assert_eq!(place.ids("importer"), [id.as_str()]);
}

#[test]
fn many_processes_may_open_a_fresh_index_at_once() {
    let place = Place::new();
    let id = place.note("The importer retries three times.\n\nThen it gives up.");
    let id = id.as_str();
    std::thread::scope(|scope| {
        let asks: Vec<_> = (0..10).map(|_| scope.spawn(|| place.ids("importer"))).collect();
        for ask in asks {
            assert_eq!(ask.join().unwrap(), [id]);
        }
    });
}

#[test]
fn lessons_and_the_vault_are_recalled_beside_records_and_notes() {
    let place = Place::new();
    let topic = place.root().join("topics/git");
    std::fs::create_dir_all(&topic).unwrap();
    let lesson = "# Rebase\n\n## 2026-01-05: Lost commits after a rebase\n\n**Problem**: commits vanished\n\n**Solution**: use the reflog\n";
    std::fs::write(topic.join("rebase.md"), lesson).unwrap();
    let hits = place.ask("commits lost in a rebase, reflog");
    assert_eq!(hits.len(), 1, "{hits:?}");
    assert_eq!(hits[0].kind, "lesson");
    std::fs::write(topic.join("rebase.md"), lesson.replace("reflog", "backup")).unwrap();
    assert!(place.ids("reflog").is_empty());
}

#[test]
fn forgetting_leaves_no_trace_in_the_index_files() {
    let place = Place::new();
    let id = place.note("Zanzibar plans are under way.\n\nNobody knows.");
    assert_eq!(place.ids("zanzibar").len(), 1);
    std::fs::remove_file(place.file(&id)).unwrap();
    ShelfIndex::forget(&place.call(), &[id.as_str()]).unwrap();
    for entry in std::fs::read_dir(place.root().join(".local/index")).unwrap().flatten() {
        let bytes = std::fs::read(entry.path()).unwrap();
        let found = bytes.windows(8).any(|w| w.eq_ignore_ascii_case(b"zanzibar"));
        assert!(!found, "{}", entry.path().display());
    }
    assert!(place.ids("zanzibar").is_empty());
}

#[test]
fn what_a_killed_process_put_before_its_marks_is_taken_out_again() {
    let place = Place::new();
    let id = place.note("The importer retries three times.\n\nThen it gives up.");
    assert_eq!(place.ids("importer"), [id.as_str()]);
    let folder = place.call().project().local().unwrap().path("index");
    {
        let mut index = crate::index::Index::open(&folder).unwrap();
        let gone = crate::index::Document {
            id: "note:2025-06-01-gone".into(),
            kind: "note".into(),
            body: "The importer is written in Zig.".into(),
            file: "memory/notes/2025-06-01-gone.md".into(),
            ..crate::index::Document::default()
        };
        index.apply("project", &[crate::index::Change::Put(gone)], None, &[("unfinished", "yes")]).unwrap();
    }
    assert_eq!(place.ids("importer zig"), [id.as_str()]);
}

#[test]
fn a_process_that_goes_on_sees_the_branch_that_is_checked_out_now() {
    let place = Place::new();
    place.record("use-redis", "Use Redis for the cache", "Redis holds sessions");
    let project = place.folder.path().join("project");
    let git = |words: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.current_dir(&project).args(["-c", "user.name=a", "-c", "user.email=a@b.c"]).args(words);
        assert!(git.output().unwrap().status.success(), "{words:?}");
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "memory/decisions"]);
    git(&["commit", "-qm", "one"]);
    git(&["checkout", "-qb", "other"]);
    place.record("use-redis", "Use Memcached for the cache", "Memcached holds sessions");
    place.record("log-to-files", "Log to files", "Logs go to files");
    git(&["add", "memory/decisions"]);
    git(&["commit", "-qm", "two"]);
    // One engine throughout, as a server has it.
    let call = place.call();
    let ask = |text: &str| -> Vec<String> {
        let asked = Asked {
            text: text.to_owned(),
            conditions: Conditions::default(),
            include_retired: false,
            files: Vec::new(),
            limit: 5,
            audience: Audience::person(),
            look: Look::Quick,
            unasked: false,
        };
        let hits = answer(&call, &asked).unwrap().into_iter().filter(|hit| !hit.terms.is_empty());
        hits.map(|hit| hit.title).collect()
    };
    for _ in 0..3 {
        git(&["checkout", "-q", "other"]);
        assert_eq!(ask("sessions cache"), ["Use Memcached for the cache"]);
        assert_eq!(ask("log files"), ["Log to files"]);
        git(&["checkout", "-q", "main"]);
        assert_eq!(ask("sessions cache"), ["Use Redis for the cache"]);
        assert!(ask("log files").is_empty());
    }
}

//! Vectors of any model: what PostgreSQL finds is what SQLite finds, and making vectors goes on where it was stopped.
//!
//! Comes in: conversations and facts, the built-in model, one behind an endpoint, and MiniLM where HEIRLOOM_TEST_MODEL names a data folder that has it.
//! Goes out: nothing, if both backends give the same memories in the same order.

use crate::server::{Release, Server};
use crate::story::{CARELESS, set_up};
use heirloom_engine::index::embed::chosen::Given;
use heirloom_engine::index::embed::{Detail, EmbedError, Embedder, Embedding, Space};
use heirloom_engine::shelf::tiers::story::{OWNER, PERSON, Stage, tiers};
use heirloom_engine::shelf::tiers::{Embedded, FactWords, Role, SqliteStore, Turn};
use heirloom_postgres::PgStore;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A model behind an endpoint: texts point where their topics do. It answers so many texts, then no more.
struct Remote {
    space: Space,
    left: AtomicUsize,
}

const TOPICS: [&[&str]; 6] = [
    &["boat", "sail", "harbour", "anchor"],
    &["bread", "oven", "flour", "bake"],
    &["train", "ticket", "station", "platform"],
    &["cat", "vet", "paw", "kitten"],
    &["deploy", "server", "database", "backup"],
    &["garden", "rose", "soil", "seed"],
];

impl Remote {
    fn new(left: usize) -> Arc<Remote> {
        let space = Space { model: "endpoint:test:topics:8".to_owned(), dims: 8 };
        Arc::new(Remote { space, left: AtomicUsize::new(left) })
    }
}

impl Embedder for Remote {
    fn space(&self) -> &Space {
        &self.space
    }

    fn embed(&self, texts: &[&str], _detail: Detail) -> Result<Vec<Embedding>, EmbedError> {
        let enough = |left: usize| left.checked_sub(texts.len());
        if self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, enough).is_err() {
            return Err(EmbedError::Endpoint { reason: "it is gone".to_owned(), retryable: true });
        }
        let one = |text: &&str| {
            let lower = text.to_lowercase();
            let mut vector: Vec<f32> = TOPICS
                .iter()
                .map(|words| words.iter().filter(|word| lower.contains(**word)).count() as f32 + 0.02)
                .collect();
            vector.extend([0.1, lower.len() as f32 / 1_000.0]);
            let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            Embedding { vector: vector.iter().map(|x| x / norm).collect(), pieces: None }
        };
        Ok(texts.iter().map(one).collect())
    }

    fn is_remote(&self) -> bool {
        true
    }
}

/// Conversations of a person and an agent, a topic each, with short turns between the long ones.
fn conversations() -> Vec<Turn> {
    let said = [
        [
            "We moored the boat at the north pier of the old harbour last night",
            "And the sail?",
            "Torn near the mast, I will patch it",
            "Take the spare anchor along",
        ],
        [
            "The bread came out flat again",
            "How hot was the oven?",
            "Two hundred degrees, perhaps the flour is stale",
            "Bake it longer, on the lower rack",
        ],
        [
            "I missed the evening train to Graz",
            "Which platform was it?",
            "Seven, the ticket is still valid tomorrow",
            "The station closes at midnight",
        ],
        [
            "Our cat limps since Sunday",
            "Which paw is it?",
            "The left one, the vet wants to see her",
            "Bring the kitten as well",
        ],
        [
            "The nightly backup of the database failed",
            "What did the server say?",
            "No space left on the second disk",
            "Deploy the smaller image first",
        ],
        [
            "The roses have black spots",
            "Is the soil wet?",
            "Soaked, I watered the garden twice",
            "Plant the seeds in the dry bed",
        ],
    ];
    let mut turns = Vec::new();
    for round in 0..8 {
        for (topic, lines) in said.iter().enumerate() {
            for (at, line) in lines.iter().enumerate() {
                let role = if at % 2 == 0 { Role::User } else { Role::Assistant };
                let text = if round == 0 {
                    (*line).to_owned()
                } else {
                    format!("{line}, for the {round}th time in week {}", topic * 8 + round)
                };
                turns.push(Turn {
                    session: Some(format!("session-{topic}-{round}")),
                    message: Some(at.to_string()),
                    position: u32::try_from(at).unwrap(),
                    ..Turn::of(role, text)
                });
            }
        }
    }
    turns
}

const FACTS: [&str; 8] = [
    "I keep my boat in the harbour of Trieste",
    "My cat is called Tom",
    "We deploy to PostgreSQL 16 on Fridays",
    "I am allergic to strawberries",
    "My sister Anna lives in Graz",
    "I prefer short answers",
    "The office is closed in August",
    "My train card ends in May",
];

const QUESTIONS: [&str; 14] = [
    "where is the boat moored",
    "which paw does the cat limp on",
    "why did the backup fail",
    "what is wrong with the roses",
    "how hot was the oven",
    "which platform did the train leave from",
    "what is my cat called",
    "which database do we use",
    "kitten",
    "sailing equipment",
    "where does my sister live",
    "what did you say about the seeds",
    "week 12",
    "Wie heißt meine Katze",
];

fn filled(stage: &Stage) {
    let call = stage.of("ada");
    let turns = conversations().into_iter().map(|turn| (turn, OWNER)).collect();
    for kept in tiers(&call).add_episodes(turns).unwrap() {
        kept.unwrap();
    }
    for fact in FACTS {
        tiers(&call).remember(FactWords::of(fact), PERSON).unwrap();
    }
    while tiers(&call).embed(64).unwrap() > 0 {}
}

/// An answer: its text, its score, whether it would be given to an agent unasked.
type Answer = (String, f64, bool);

fn answers(stage: &Stage, question: &str, limit: usize) -> Vec<Answer> {
    let call = stage.of("ada");
    let found = tiers(&call).recall(question, limit).unwrap();
    found.into_iter().map(|one| (one.memory.content.clone(), one.score, one.explain.is_telling())).collect()
}

/// The index keeps counts in eight bits and PostgreSQL vectors in sixteen: so near each other, two answers may stand either way round.
const TIE: f64 = 0.01;

/// Why the first answers of PostgreSQL are not those of SQLite, if they are not.
fn difference(sqlite: &[Answer], postgres: &[Answer]) -> Option<String> {
    if sqlite.len().min(5) != postgres.len() {
        return Some(format!("{} and {} answers", sqlite.len().min(5), postgres.len()));
    }
    for (wanted, got) in sqlite.iter().zip(postgres) {
        let Some(same) = sqlite.iter().find(|one| one.0 == got.0) else {
            return Some(format!("`{}` is not among SQLite's", got.0));
        };
        if (same.1 - wanted.1).abs() > TIE || (same.1 - got.1).abs() > TIE || same.2 != got.2 {
            return Some(format!("{wanted:?} on SQLite, {got:?} on PostgreSQL, which is {same:?} there"));
        }
    }
    None
}

fn the_same_on_both(server: &Server, name: &str, given: Option<&Given>, data: &Path) {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let model = data.join("models");
    if model.is_dir() {
        std::fs::create_dir_all(folders[0].path().join("data")).unwrap();
        std::os::unix::fs::symlink(&model, folders[0].path().join("data/models")).unwrap();
    }
    let sqlite = SqliteStore::at(&folders[0].path().join("data/tiers")).with_model(given.cloned());
    let postgres = PgStore::at(&set_up(server, name)).unwrap().with_model(given.cloned(), data);
    let sqlite = Stage::new(Arc::new(sqlite), folders[0].path());
    let postgres = Stage::new(Arc::new(postgres), folders[1].path());
    filled(&sqlite);
    filled(&postgres);
    let all = Embedded { embedded: 200, memories: 200 };
    for stage in [&sqlite, &postgres] {
        assert_eq!(tiers(&stage.of("ada")).embedded().unwrap(), all, "{name} {}", stage.store.backend());
    }
    let differ: Vec<String> = QUESTIONS
        .iter()
        .filter_map(|question| {
            let why = difference(&answers(&sqlite, question, 10), &answers(&postgres, question, 5))?;
            Some(format!("{question}: {why}"))
        })
        .collect();
    assert!(differ.is_empty(), "{name}: {} of {}\n{}", differ.len(), QUESTIONS.len(), differ.join("\n"));
}

#[test]
fn the_built_in_model_finds_the_same_on_both_backends() {
    let server = Server::start(Release::Sixteen, CARELESS);
    the_same_on_both(&server, "builtin", None, Path::new("/dev/null"));
}

#[test]
fn a_model_behind_an_endpoint_finds_the_same_on_both_backends() {
    let server = Server::start(Release::Eighteen, CARELESS);
    let given: Arc<dyn Embedder> = Remote::new(usize::MAX / 2);
    the_same_on_both(&server, "endpoint", Some(&Given::from(given)), Path::new("/dev/null"));
}

/// The weights have 84 MB: `heirloom model install` puts them into a data folder.
#[test]
fn minilm_finds_the_same_on_both_backends_where_it_is_installed() {
    let Ok(data) = std::env::var("HEIRLOOM_TEST_MODEL") else { return };
    let server = Server::start(Release::Sixteen, CARELESS);
    the_same_on_both(&server, "minilm", None, Path::new(&data));
}

#[test]
fn vectors_are_made_in_batches_and_whoever_goes_on_makes_only_what_is_missing() {
    let server = Server::start(Release::Sixteen, CARELESS);
    let address = set_up(&server, "batches");
    let folder = tempfile::tempdir().unwrap();
    let with = |left: usize| {
        let remote = Remote::new(left);
        let given: Arc<dyn Embedder> = Arc::clone(&remote) as _;
        let store = PgStore::at(&address).unwrap().with_model(Some(given.into()), Path::new("/dev/null"));
        (Stage::new(Arc::new(store), folder.path()), remote)
    };
    let (stage, _) = with(100);
    let call = stage.of("ada");
    let turns = (0..256).map(|n| (Turn::of(Role::User, format!("boat number {n}")), OWNER)).collect();
    tiers(&call).add_episodes(turns).unwrap();
    // A model elsewhere is not waited for by a write, and the third batch meets an endpoint that is gone.
    assert_eq!(tiers(&call).embedded().unwrap(), Embedded { embedded: 0, memories: 256 });
    assert_eq!(tiers(&call).embed(40).unwrap(), 216);
    assert_eq!(tiers(&call).embed(40).unwrap(), 176);
    assert!(tiers(&call).embed(40).is_err());
    assert_eq!(tiers(&call).embedded().unwrap(), Embedded { embedded: 80, memories: 256 });
    // Somebody else goes on: no text is sent a second time.
    let (stage, remote) = with(1_000);
    let call = stage.of("ada");
    while tiers(&call).embed(40).unwrap() > 0 {}
    assert_eq!(1_000 - remote.left.load(Ordering::SeqCst), 176);
    assert_eq!(tiers(&call).embedded().unwrap(), Embedded { embedded: 256, memories: 256 });
    // Another model begins anew, and the vectors of the first one stay.
    let store = PgStore::at(&address).unwrap();
    let other = Stage::new(Arc::new(store), folder.path());
    let call = other.of("ada");
    assert_eq!(tiers(&call).embedded().unwrap().embedded, 0);
    while tiers(&call).embed(100).unwrap() > 0 {}
    let models = "select count(distinct model) || ' ' || count(*) from heirloom.vector";
    assert_eq!(server.sql("batches", models), "2 512");
}

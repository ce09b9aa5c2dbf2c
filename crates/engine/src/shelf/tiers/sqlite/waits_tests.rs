//! Who waits for whom: nobody for somebody else's database, and nobody for a model that is far away.

use super::super::story::{OWNER, Stage, tiers};
use super::super::{Role, Turn};
use super::*;
use crate::files::{Lock, Mode, make_folder};
use crate::index::embed::builtin::Builtin;
use crate::index::embed::{Detail, EmbedError, Embedding, Space};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{OnceLock, Weak, mpsc};
use std::time::Duration;

/// Longer than any test takes, so that one that waits for ever fails instead.
const EVER: Duration = Duration::from_secs(30);

/// A model elsewhere; before it answers, somebody else uses the user's database.
struct Far {
    model: Builtin,
    space: Space,
    store: OnceLock<(Weak<SqliteStore>, UserContext)>,
    asked: AtomicUsize,
}

impl Embedder for Far {
    fn space(&self) -> &Space {
        &self.space
    }

    fn embed(&self, texts: &[&str], detail: Detail) -> std::result::Result<Vec<Embedding>, EmbedError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if let Some((store, who)) = self.store.get() {
            let (store, who) = (store.upgrade().unwrap(), who.clone());
            let (done, wait) = mpsc::channel();
            std::thread::spawn(move || done.send(store.counts(&who).unwrap().episodes));
            assert_eq!(wait.recv_timeout(EVER), Ok(3), "the database is free while the model is asked");
        }
        self.model.embed(texts, detail)
    }

    fn is_remote(&self) -> bool {
        true
    }
}

#[test]
fn the_database_is_free_while_a_model_elsewhere_is_asked() {
    let dir = tempfile::tempdir().unwrap();
    let model = Builtin::open().unwrap();
    let space = Space { model: "far-1".to_owned(), dims: model.space().dims };
    let far = Arc::new(Far { model, space, store: OnceLock::new(), asked: AtomicUsize::new(0) });
    let given: Given = (Arc::clone(&far) as Arc<dyn Embedder>).into();
    let store = Arc::new(SqliteStore::at(&dir.path().join("data/tiers")).with_model(Some(given)));
    let stage = Stage::new(Arc::clone(&store) as Arc<dyn TierStore>, dir.path());
    let call = stage.of("ada");
    for text in ["the cat sleeps", "the dog barks", "rain falls"] {
        tiers(&call).add_episode(Turn::of(Role::User, text.to_owned()), OWNER).unwrap();
    }
    let who = tiers(&call).who().clone();
    far.store.set((Arc::downgrade(&store), who.clone())).unwrap();
    assert_eq!(tiers(&call).search("dog", None, 1).unwrap().len(), 1);
    assert_eq!(far.asked.load(Ordering::SeqCst), 0, "nothing to compare with, nothing to ask");
    assert_eq!(store.embed(&who, 2).unwrap(), 1, "one is left");
    assert_eq!(store.embed(&who, 2).unwrap(), 0);
    assert_eq!(store.embed(&who, 2).unwrap(), 0);
    assert_eq!(far.asked.load(Ordering::SeqCst), 2, "all have a vector");
    let found = tiers(&call).search("a dog that barks", None, 1).unwrap();
    assert_eq!(found[0].memory.content, "the dog barks");
    assert!(far.asked.load(Ordering::SeqCst) > 2, "the question was compared");
}

#[test]
fn a_database_that_is_slow_to_open_holds_up_only_its_own_user() {
    let dir = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::at(&dir.path().join("data/tiers")));
    let stage = Stage::new(Arc::clone(&store) as Arc<dyn TierStore>, dir.path());
    let (slow, quick) = (stage.of("slow"), stage.of("quick"));
    // Another process is making this user's database.
    let folder = store.folder_of(tiers(&slow).who());
    make_folder(&folder, Mode::Private).unwrap();
    let making = Lock::acquire(&folder.join("memory.lock"), EVER).unwrap();
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| {
            tiers(&slow).add_episode(Turn::of(Role::User, "at last".to_owned()), OWNER).unwrap();
        });
        let is_opening = || lock(&store.open).databases.contains_key("slow");
        while !is_opening() {
            std::thread::yield_now();
        }
        tiers(&quick).add_episode(Turn::of(Role::User, "at once".to_owned()), OWNER).unwrap();
        assert!(!folder.join("memory.db").exists(), "the other one is still being made");
        drop(making);
        waits.join().unwrap();
    });
}

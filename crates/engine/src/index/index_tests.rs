use std::fs;

use proptest::prelude::*;

use super::embed::builtin::Builtin;
use super::embed::{Detail, EmbedError, Embedder, Embedding};
use super::*;
use crate::rank::{Ask, Weights, rank};

fn doc(id: &str, body: &str) -> Document {
    Document {
        id: id.into(),
        kind: "note".into(),
        body: body.into(),
        trust: Trust::High,
        ..Document::default()
    }
}

fn put(id: &str, body: &str) -> Change {
    Change::Put(doc(id, body))
}

fn found(index: &mut Index, owner: &str, text: &str) -> Vec<String> {
    let reader = index.reader(owner, None).unwrap();
    let ask = Ask { text: text.into(), limit: 20, ..Ask::default() };
    let hits = rank(&reader, None, &ask, &Weights::default()).unwrap();
    hits.iter().map(|h| reader.document(h.number).unwrap().unwrap().id).collect()
}

#[test]
fn a_document_is_found_right_after_it_was_put_and_not_after_it_was_removed() {
    let dir = tempfile::tempdir().unwrap();
    let mut index = Index::open(dir.path()).unwrap();
    index
        .apply("me", &[put("a", "the queue runs on postgres"), put("b", "tea is in the cupboard")], None, &[])
        .unwrap();
    assert_eq!(found(&mut index, "me", "which queue?"), ["a"]);
    let applied =
        index.apply("me", &[Change::Remove("a".into()), Change::Remove("never".into())], None, &[]).unwrap();
    assert_eq!(applied, Applied { put: 0, removed: 1 });
    assert!(found(&mut index, "me", "which queue?").is_empty());
}

#[test]
fn putting_an_id_again_replaces_its_text() {
    let dir = tempfile::tempdir().unwrap();
    let mut index = Index::open(dir.path()).unwrap();
    index.apply("me", &[put("a", "red balloons")], None, &[]).unwrap();
    index.apply("me", &[put("a", "green bottles")], None, &[]).unwrap();
    assert!(found(&mut index, "me", "balloons").is_empty());
    assert_eq!(found(&mut index, "me", "bottles"), ["a"]);
    assert_eq!(index.reader("me", None).unwrap().len(), 1);
}

#[test]
fn owners_see_nothing_of_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let mut index = Index::open(dir.path()).unwrap();
    index.apply("ann", &[put("a", "the secret garden")], None, &[]).unwrap();
    index.apply("bob", &[put("a", "a public garden")], None, &[]).unwrap();
    assert_eq!(found(&mut index, "ann", "garden").len(), 1);
    assert!(found(&mut index, "bob", "secret").is_empty());
    assert!(found(&mut index, "bob", "secrt").is_empty());
    assert!(found(&mut index, "eve", "garden").is_empty());
    index.apply("ann", &[Change::Remove("a".into())], None, &[]).unwrap();
    assert_eq!(found(&mut index, "bob", "garden"), ["a"]);
}

#[test]
fn folded_and_waiting_documents_are_found_alike() {
    let dir = tempfile::tempdir().unwrap();
    let mut index = Index::open(dir.path()).unwrap();
    let many: Vec<Change> =
        (0..600).map(|i| put(&format!("m{i}"), &format!("common words number{i} here"))).collect();
    index.apply("me", &many, None, &[]).unwrap();
    for i in 600..1200 {
        index
            .apply("me", &[put(&format!("m{i}"), &format!("common words number{i} here"))], None, &[])
            .unwrap();
    }
    for i in [0, 255, 599, 600, 1111, 1112, 1199] {
        assert_eq!(found(&mut index, "me", &format!("number{i}")), [format!("m{i}")]);
    }
    index.apply("me", &[Change::Remove("m0".into()), Change::Remove("m1199".into())], None, &[]).unwrap();
    assert!(found(&mut index, "me", "number0").is_empty());
    assert!(found(&mut index, "me", "number1199").is_empty());
}

#[test]
fn a_word_of_very_many_documents_loses_and_gains_them_however_its_postings_are_cut() {
    let dir = tempfile::tempdir().unwrap();
    let mut index = Index::open(dir.path()).unwrap();
    let holding = |index: &mut Index| {
        let mut numbers: Vec<u32> = index
            .reader("me", None)
            .unwrap()
            .best_by_keywords("common", 9_999)
            .unwrap()
            .iter()
            .map(|f| f.0)
            .collect();
        numbers.sort_unstable();
        numbers
    };
    let many =
        |from: u32, to: u32| (from..to).map(|i| put(&format!("m{i}"), "a common word")).collect::<Vec<_>>();
    index.apply("me", &many(0, 1_000), None, &[]).unwrap();
    assert_eq!(holding(&mut index), (0..1_000).collect::<Vec<_>>());
    // The first piece goes as a whole, then one of the middle loses a document.
    let gone: Vec<String> = (0..postings::PIECE as u32).chain([500]).map(|i| format!("m{i}")).collect();
    index.forget("me", &gone.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    // More come, some of them one by one and folded in later.
    index.apply("me", &many(1_000, 1_700), None, &[]).unwrap();
    for i in 1_700..2_300 {
        index.apply("me", &many(i, i + 1), None, &[]).unwrap();
    }
    let left: Vec<u32> = (postings::PIECE as u32..2_300).filter(|n| *n != 500).collect();
    assert_eq!(holding(&mut index), left);
    let all: Vec<String> = left.iter().map(|i| format!("m{i}")).collect();
    index.forget("me", &all.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    let bytes = fs::read(dir.path().join("recall.db")).unwrap();
    assert!(!bytes.windows(6).any(|six| six == b"common"), "a word that nobody holds any more is left over");
}

#[test]
fn a_slip_of_the_pen_finds_the_word_that_was_meant() {
    let dir = tempfile::tempdir().unwrap();
    let mut index = Index::open(dir.path()).unwrap();
    index
        .apply("me", &[put("a", "kubernetes cluster in frankfurt"), put("b", "lunch menu")], None, &[])
        .unwrap();
    assert_eq!(found(&mut index, "me", "kuberntes"), ["a"]);
}

#[test]
fn marks_are_kept_with_the_documents_and_gone_with_them() {
    let dir = tempfile::tempdir().unwrap();
    let mut index = Index::open(dir.path()).unwrap();
    assert_eq!(index.mark("shelf").unwrap(), None);
    index.apply("me", &[put("a", "text")], None, &[("shelf", "state 1")]).unwrap();
    assert_eq!(index.mark("shelf").unwrap().as_deref(), Some("state 1"));
    index.renew().unwrap();
    assert_eq!(index.mark("shelf").unwrap(), None);
    assert!(found(&mut index, "me", "text").is_empty());
}

#[test]
fn a_deleted_index_is_noticed_by_a_process_that_has_it_open() {
    let dir = tempfile::tempdir().unwrap();
    let mut index = Index::open(dir.path()).unwrap();
    index.apply("me", &[put("a", "text")], None, &[("shelf", "1")]).unwrap();
    for entry in fs::read_dir(dir.path()).unwrap().flatten() {
        fs::remove_file(entry.path()).unwrap();
    }
    assert_eq!(index.mark("shelf").unwrap(), None);
    index.apply("me", &[put("b", "other text")], None, &[]).unwrap();
    let mut other = Index::open(dir.path()).unwrap();
    assert_eq!(found(&mut other, "me", "text"), ["b"]);
}

#[test]
fn a_damaged_or_foreign_file_becomes_an_empty_index() {
    let model = Builtin::open().unwrap();
    for damage in [&b"not a database at all, but long enough to be looked at as one"[..], b""] {
        let dir = tempfile::tempdir().unwrap();
        let mut index = Index::open(dir.path()).unwrap();
        index.apply("me", &[put("a", "text")], Some(&model), &[("shelf", "1")]).unwrap();
        drop(index);
        fs::write(store::file_of(dir.path()), damage).unwrap();
        let mut index = Index::open(dir.path()).unwrap();
        assert_eq!(index.mark("shelf").unwrap(), None);
        index.apply("me", &[put("a", "text")], Some(&model), &[]).unwrap();
        assert_eq!(found(&mut index, "me", "text"), ["a"]);
    }
}

#[test]
fn a_lost_vector_file_costs_only_the_vectors_and_they_can_be_made_again() {
    let model = Builtin::open().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut index = Index::open(dir.path()).unwrap();
    index.apply("me", &[put("a", "some text"), put("b", "more text")], Some(&model), &[]).unwrap();
    for entry in fs::read_dir(dir.path()).unwrap().flatten() {
        if entry.file_name().to_string_lossy().starts_with("vectors-") {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    assert_eq!(found(&mut index, "me", "text").len(), 2);
    assert_eq!(index.reader("me", Some(model.space())).unwrap().with_vector(), 0);
    assert_eq!(index.embed_missing("me", &model, 1).unwrap(), 1);
    assert_eq!(index.embed_missing("me", &model, 10).unwrap(), 0);
    assert_eq!(index.reader("me", Some(model.space())).unwrap().with_vector(), 2);
}

/// The kernel's locks of this process on a file, as the system lists them.
#[cfg(target_os = "linux")]
fn locks_on(path: &Path) -> usize {
    use std::os::unix::fs::MetadataExt as _;
    let (inode, own) = (fs::metadata(path).unwrap().ino(), std::process::id().to_string());
    let listed = fs::read_to_string("/proc/locks").unwrap();
    let fits = |line: &&str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.contains(&"POSIX")
            && words.contains(&own.as_str())
            && words.iter().any(|word| word.rsplit(':').next() == Some(&inode.to_string()))
    };
    listed.lines().filter(fits).count()
}

#[cfg(target_os = "linux")]
#[test]
fn a_connection_keeps_its_locks_when_the_folder_is_warmed() {
    let dir = tempfile::tempdir().unwrap();
    let mut index = Index::open(dir.path()).unwrap();
    index.apply("me", &[put("a", "some text")], None, &[]).unwrap();
    index.store.db.execute_batch("begin immediate").unwrap();
    let files = ["recall.db", "recall.db-shm"].map(|name| dir.path().join(name));
    let before = files.each_ref().map(|file| locks_on(file));
    assert!(before.iter().all(|locks| *locks > 0), "{before:?}: a write holds locks on both");
    Index::warm(dir.path(), u64::MAX);
    assert_eq!(files.each_ref().map(|file| locks_on(file)), before);
    index.store.db.execute_batch("rollback").unwrap();
}

#[test]
fn warming_says_whether_it_came_to_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let mut index = Index::open(dir.path()).unwrap();
    index.apply("me", &[put("a", "some text")], None, &[]).unwrap();
    assert!(Index::warm(dir.path(), u64::MAX));
    assert!(!Index::warm(dir.path(), 10));
}

#[test]
fn what_was_forgotten_is_in_no_file() {
    let model = Builtin::open().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut index = Index::open(dir.path()).unwrap();
    let mut all: Vec<Change> =
        (0..300).map(|i| put(&format!("m{i}"), &format!("harmless filler {i}"))).collect();
    all.push(put("x", "the zanzibarquartz location is known"));
    index.apply("me", &all, Some(&model), &[]).unwrap();
    let scoped = Document { scope: "file:zanzibar.md".into(), ..doc("y", "more zanzibarquartz rumours") };
    index.apply("me", &[Change::Put(scoped)], Some(&model), &[]).unwrap();
    assert_eq!(index.forget("me", &["x", "y", "none"]).unwrap().removed, 2);
    assert!(found(&mut index, "me", "zanzibarquartz").is_empty());
    for entry in fs::read_dir(dir.path()).unwrap().flatten() {
        let bytes = fs::read(entry.path()).unwrap();
        if let Some(at) = bytes.windows(8).position(|w| w == b"zanzibar") {
            let around =
                String::from_utf8_lossy(&bytes[at.saturating_sub(40)..bytes.len().min(at + 60)]).into_owned();
            panic!("{:?} holds it at {at}: {around:?}", entry.file_name());
        }
    }
    assert_eq!(found(&mut index, "me", "harmless").len(), 20);
}

#[test]
fn the_log_is_empty_after_the_last_has_closed_even_if_that_one_only_read() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Index::open(dir.path()).unwrap();
    writer.apply("me", &[put("a", "some text")], None, &[]).unwrap();
    let mut reader = Index::open(dir.path()).unwrap();
    assert_eq!(found(&mut reader, "me", "text"), ["a"]);
    let log = || fs::metadata(dir.path().join("recall.db-wal")).unwrap().len();
    assert!(log() > 0);
    drop(writer);
    drop(reader);
    assert_eq!(log(), 0);
}

#[test]
fn spaces_are_never_mixed() {
    struct Other(embed::Space);
    impl Embedder for Other {
        fn space(&self) -> &embed::Space {
            &self.0
        }
        fn embed(&self, texts: &[&str], _: Detail) -> Result<Vec<Embedding>, EmbedError> {
            Ok(texts.iter().map(|_| Embedding { vector: vec![0.125; 64], pieces: None }).collect())
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let mut index = Index::open(dir.path()).unwrap();
    let (model, other) = (Builtin::open().unwrap(), Other(embed::Space { model: "other".into(), dims: 64 }));
    index.apply("me", &[put("a", "first")], Some(&model), &[]).unwrap();
    index.apply("me", &[put("b", "second")], Some(&other), &[]).unwrap();
    assert_eq!(index.reader("me", Some(model.space())).unwrap().with_vector(), 1);
    assert_eq!(index.reader("me", Some(other.space())).unwrap().with_vector(), 1);
    assert_eq!(index.embed_missing("me", &other, 9).unwrap(), 0);
    assert_eq!(index.reader("me", Some(other.space())).unwrap().with_vector(), 2);
}

#[test]
fn what_came_while_others_were_embedded_does_not_count_as_embedded() {
    /// Another process looks at the shelves while the model works: what was put before is put anew.
    struct Slow(Builtin, std::path::PathBuf);
    impl Embedder for Slow {
        fn space(&self) -> &embed::Space {
            self.0.space()
        }
        fn embed(&self, texts: &[&str], detail: Detail) -> Result<Vec<Embedding>, EmbedError> {
            let mut other = Index::open(&self.1).unwrap();
            other.apply("me", &[put("a", "first, once more")], None, &[]).unwrap();
            self.0.embed(texts, detail)
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let mut index = Index::open(dir.path()).unwrap();
    index.apply("me", &[put("a", "first"), put("b", "second")], None, &[]).unwrap();
    let slow = Slow(Builtin::open().unwrap(), dir.path().to_owned());
    assert_eq!(index.embed_missing("me", &slow, 9).unwrap(), 0);
    assert_eq!(index.note_complete("me", slow.space(), "all").unwrap(), 1);
    assert_eq!(index.mark("all").unwrap(), None);
    assert_eq!(index.embed_missing("me", &slow.0, 9).unwrap(), 0);
    assert_eq!(index.note_complete("me", slow.space(), "all").unwrap(), 0);
    assert_eq!(index.mark("all").unwrap().as_ref(), Some(&slow.space().model));
}

#[test]
fn whoever_wants_more_than_there_is_gets_what_there_is() {
    let model = Builtin::open().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut index = Index::open(dir.path()).unwrap();
    index.apply("me", &[put("a", "red balloons"), put("b", "green bottles")], Some(&model), &[]).unwrap();
    let reader = index.reader("me", Some(model.space())).unwrap();
    let vector = model.embed(&["balloons"], Detail::Pooled).unwrap().remove(0).vector;
    assert_eq!(reader.best_by_vector(&vector, usize::MAX).len(), 2);
    assert_eq!(reader.best_by_keywords("balloons", usize::MAX).unwrap().len(), 1);
    let ask = Ask { text: "balloons".into(), limit: usize::MAX, ..Ask::default() };
    assert!(!rank(&reader, Some(&model), &ask, &Weights::default()).unwrap().is_empty());
}

#[test]
fn a_glance_sees_what_lies_there_and_notices_whoever_writes() {
    const NOW: i128 = 1_000_000_000_000_000;
    let dir = tempfile::Builder::new().prefix("odd #?% name").tempdir().unwrap();
    let file = store::file_of(dir.path());
    let written = |ago: u64| {
        let then = std::time::UNIX_EPOCH + std::time::Duration::from_nanos(NOW as u64 - ago);
        fs::File::options().write(true).open(&file).unwrap().set_modified(then).unwrap();
    };
    let settle = || written(100_000_001);
    assert!(Index::glance(dir.path(), NOW).is_none());
    assert!(!file.exists());
    Index::open(dir.path()).unwrap().apply("me", &[put("a", "first")], None, &[("shelf", "1")]).unwrap();
    settle();
    assert!(
        Index::glance(dir.path(), NOW - 2).is_none(),
        "what was written just now may be written to again unseen"
    );
    written(3_000_000_000);
    assert!(Index::glance(dir.path(), NOW).is_none(), "whole seconds may be steps of two");
    written(4_000_000_000);
    let mut glance = Index::glance(dir.path(), NOW).unwrap();
    assert_eq!(found(&mut glance, "me", "first"), ["a"]);
    assert!(glance.held_still());
    {
        let mut other = Index::open(dir.path()).unwrap();
        other.apply("me", &[put("b", "second")], None, &[]).unwrap();
        assert_eq!(found(&mut glance, "me", "first"), ["a"]);
        assert!(glance.held_still(), "what is in the log is not in the file");
        assert!(Index::glance(dir.path(), NOW).is_none(), "and who looks anew must not miss it");
    }
    assert!(!glance.held_still());
    settle();
    let mut glance = Index::glance(dir.path(), NOW).unwrap();
    assert_eq!(found(&mut glance, "me", "second"), ["b"]);
    // Whoever has something to write does it as everybody does.
    glance.apply("me", &[put("c", "third")], None, &[("shelf", "2")]).unwrap();
    assert_eq!(found(&mut glance, "me", "third"), ["c"]);
    assert!(glance.held_still());
    drop(glance);
    assert_eq!(Index::open(dir.path()).unwrap().mark("shelf").unwrap().as_deref(), Some("2"));
}

#[test]
fn ten_that_open_a_fresh_folder_at_once_all_get_the_same_index() {
    let dir = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for i in 0..10 {
            let path = dir.path().to_owned();
            scope.spawn(move || {
                let mut index = Index::open(&path).unwrap();
                for j in 0..20 {
                    index
                        .apply(
                            "me",
                            &[put(&format!("d{i}-{j}"), &format!("shared word own{i}x{j}"))],
                            None,
                            &[],
                        )
                        .unwrap();
                }
            });
        }
    });
    let mut index = Index::open(dir.path()).unwrap();
    assert_eq!(index.reader("me", None).unwrap().len(), 200);
    for i in 0..10 {
        assert_eq!(found(&mut index, "me", &format!("own{i}x19")), [format!("d{i}-19")]);
    }
}

#[test]
fn a_reader_shows_one_moment_while_others_write() {
    let dir = tempfile::tempdir().unwrap();
    let mut index = Index::open(dir.path()).unwrap();
    let mut other = Index::open(dir.path()).unwrap();
    index.apply("me", &[put("a", "one")], None, &[]).unwrap();
    let reader = index.reader("me", None).unwrap();
    other.apply("me", &[put("b", "two")], None, &[]).unwrap();
    assert_eq!(reader.len(), 1);
    assert_eq!(reader.number("b").unwrap(), None);
    drop(reader);
    assert_eq!(index.reader("me", None).unwrap().len(), 2);
}

#[derive(Clone, Debug)]
enum Step {
    Put(u8, u8),
    Remove(u8),
    Batch(u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0u8..30, 0u8..20).prop_map(|(id, word)| Step::Put(id, word)),
        3 => (0u8..30).prop_map(Step::Remove),
        1 => (0u8..20).prop_map(Step::Batch),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn after_any_changes_a_word_finds_exactly_the_documents_that_hold_it(steps in proptest::collection::vec(step(), 1..40)) {
        let dir = tempfile::tempdir().unwrap();
        let mut index = Index::open(dir.path()).unwrap();
        let mut want: std::collections::BTreeMap<String, u8> = std::collections::BTreeMap::new();
        for step in steps {
            let changes = match step {
                Step::Put(id, word) => {
                    want.insert(format!("d{id}"), word);
                    vec![put(&format!("d{id}"), &format!("keyword{word}"))]
                }
                Step::Remove(id) => {
                    want.remove(&format!("d{id}"));
                    vec![Change::Remove(format!("d{id}"))]
                }
                Step::Batch(word) => (0..260).map(|i| {
                    let word = (usize::from(word) + i) % 20;
                    want.insert(format!("b{i}"), word as u8);
                    put(&format!("b{i}"), &format!("keyword{word}"))
                }).collect(),
            };
            index.apply("me", &changes, None, &[]).unwrap();
        }
        let reader = index.reader("me", None).unwrap();
        prop_assert_eq!(reader.len(), want.len());
        for word in 0..20u8 {
            let matches = reader.keywords(&[(format!("keyword{word}"), 1.0)]).unwrap();
            let mut got: Vec<String> = matches.best(1000).iter().map(|(n, _)| reader.document(*n).unwrap().unwrap().id).collect();
            got.sort();
            let expected: Vec<String> = want.iter().filter(|(_, w)| **w == word).map(|(id, _)| id.clone()).collect();
            prop_assert_eq!(got, expected);
        }
    }
}

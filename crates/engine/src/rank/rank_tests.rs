use proptest::prelude::*;

use super::*;
use crate::index::embed::builtin::Builtin;
use crate::index::embed::{Detail, EmbedError, Embedder, Embedding, Space};
use crate::index::{Change, Document, Index, Role, Status, Trust};

const NOW: i64 = 1_715_774_400;
const DAY: i64 = 86_400;

fn doc(id: &str, kind: &str, body: &str) -> Document {
    Document {
        id: id.into(),
        kind: kind.into(),
        body: body.into(),
        trust: Trust::High,
        occurred_at: NOW - 90 * DAY,
        ..Document::default()
    }
}

fn asked(documents: Vec<Document>, ask: &Ask) -> Vec<(String, Hit)> {
    asked_with(documents, ask, &Builtin::open().unwrap())
}

fn asked_with(documents: Vec<Document>, ask: &Ask, embedder: &dyn Embedder) -> Vec<(String, Hit)> {
    let dir = tempfile::tempdir().unwrap();
    let mut index = Index::open(dir.path()).unwrap();
    let changes: Vec<Change> = documents.into_iter().map(Change::Put).collect();
    index.apply("me", &changes, Some(embedder), &[]).unwrap();
    let reader = index.reader("me", Some(embedder.space())).unwrap();
    let hits = rank(&reader, Some(embedder), ask, &Weights::default()).unwrap();
    hits.into_iter().map(|h| (reader.document(h.number).unwrap().unwrap().id, h)).collect()
}

fn ask(text: &str) -> Ask {
    Ask { text: text.into(), now: NOW, limit: 20, ..Ask::default() }
}

fn ids(hits: &[(String, Hit)]) -> Vec<&str> {
    hits.iter().map(|(id, _)| id.as_str()).collect()
}

#[test]
fn the_factors_add_up_to_the_score_and_the_terms_are_named() {
    let hits = asked(
        vec![doc("a", "decision", "we chose postgres for the queue"), doc("b", "note", "tea")],
        &ask("why postgres?"),
    );
    let (id, hit) = &hits[0];
    assert_eq!(id, "a");
    assert!((hit.why.factors.sum() - hit.score).abs() < 1e-6);
    assert_eq!(hit.why.terms.iter().map(|t| t.0.as_str()).collect::<Vec<_>>(), ["postgr"]);
    assert!(hit.why.cosine.is_some() && hit.why.factors.keyword > 0.0 && hit.why.factors.kind > 0.0);
}

#[test]
fn retired_memories_are_found_only_when_asked_for_and_held_ones_never() {
    let mut retired = doc("old", "decision", "use mysql everywhere");
    retired.status = Status::Retired;
    let mut held = doc("held", "decision", "use mysql somewhere");
    held.status = Status::Held;
    let all = vec![retired, held, doc("new", "decision", "use mysql nowhere")];
    assert_eq!(ids(&asked(all.clone(), &ask("mysql"))), ["new"]);
    let mut found = asked(all.clone(), &Ask { include_retired: true, ..ask("mysql") });
    found.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(ids(&found), ["new", "old"]);
}

#[test]
fn a_memory_of_the_time_asked_about_comes_first() {
    let mut early = doc("early", "episode", "we talked about the garden party");
    early.occurred_at = NOW - 200 * DAY;
    let mut yesterday = doc("yesterday", "episode", "we talked about the garden party again");
    yesterday.occurred_at = NOW - DAY;
    let both = vec![early, yesterday];
    assert_eq!(
        ids(&asked(both.clone(), &ask("what did we say about the garden party yesterday?")))[0],
        "yesterday"
    );
    assert_eq!(ids(&asked(both, &ask("what did we say about the garden party 200 days ago?")))[0], "early");
}

#[test]
fn a_file_in_play_brings_its_memories_forward() {
    let mut scoped = doc("scoped", "constraint", "keep the parser free of allocation in hot loops");
    scoped.scope = "file:src/parse.rs".into();
    let all =
        vec![scoped, doc("other", "constraint", "parser allocation hot loops: allocation in the parser")];
    assert_eq!(ids(&asked(all.clone(), &ask("parser allocation")))[0], "other");
    let here = Ask { files: vec!["src/parse.rs".into()], ..ask("parser allocation") };
    assert_eq!(ids(&asked(all, &here))[0], "scoped");
}

#[test]
fn a_question_about_what_the_agent_said_favours_its_turns() {
    let mut person = doc("person", "episode", "I need a good book about volcanoes");
    person.role = Role::Person;
    let mut agent = doc("agent", "episode", "Try a good book about volcanoes");
    agent.role = Role::Agent;
    let both = vec![agent, person];
    assert_eq!(ids(&asked(both.clone(), &ask("which book about volcanoes did I look for?")))[0], "person");
    assert_eq!(ids(&asked(both, &ask("which book about volcanoes did you recommend?")))[0], "agent");
}

#[test]
fn a_short_turn_is_found_by_what_stands_before_it() {
    let turn = |id: &str, place: u32, body: &str| Document {
        group: "talk".into(),
        position: place,
        ..doc(id, "episode", body)
    };
    let mut all =
        vec![turn("q", 0, "Where did you buy the blue ceramic vase?"), turn("a", 1, "At the flea market.")];
    all.extend((2..30).map(|i| turn(&format!("t{i}"), i, &format!("unrelated talk number {i}"))));
    let hits = asked(all, &ask("blue ceramic vase"));
    assert!(ids(&hits)[..2].contains(&"a"), "{:?}", ids(&hits));
}

#[test]
fn a_low_trust_twin_stands_behind_the_trusted_one() {
    let mut low =
        doc("low", "note", "deploys happen on friday friday after the release meeting with the team");
    low.trust = Trust::Low;
    let high =
        doc("high", "note", "deploys happen on friday after the release meeting with the whole team at noon");
    let hits = asked(vec![low, high, doc("x", "note", "lunch")], &ask("friday deploys friday"));
    assert_eq!(ids(&hits)[..2], ["high", "low"]);
    assert_eq!(hits[1].1.why.behind.as_deref(), Some("high"));
}

#[test]
fn conditions_hold_for_every_hit() {
    let mut tagged = doc("tagged", "decision", "the queue delivers exactly once");
    tagged.tags = vec!["Infra".into()];
    let all = vec![
        tagged,
        doc("plain", "decision", "once the queue is exactly full"),
        doc("note", "note", "queue exactly once kafka"),
    ];
    for (line, want) in [
        (r#"queue "exactly once""#, vec!["note", "tagged"]),
        (r#"queue "exactly once" -kafka"#, vec!["tagged"]),
        ("queue kind:decision", vec!["plain", "tagged"]),
        ("queue tag:infra", vec!["tagged"]),
        ("deliv*", vec!["tagged"]),
        ("queue since:1d", vec![]),
    ] {
        let (text, conditions) = query::read(line, NOW);
        let mut hits = asked(all.clone(), &Ask { conditions, ..ask(&text) });
        hits.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(ids(&hits), want, "{line}");
    }
}

/// A model that knows nothing: its vectors have nothing to do with the texts.
struct Noise(Space);

impl Embedder for Noise {
    fn space(&self) -> &Space {
        &self.0
    }

    fn embed(&self, texts: &[&str], _: Detail) -> Result<Vec<Embedding>, EmbedError> {
        let vector = |text: &str| {
            let mut state = text
                .bytes()
                .fold(0xCBF2_9CE4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01B3))
                | 1;
            let mut v: Vec<f32> = (0..64)
                .map(|_| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    (state >> 40) as f32 / 8_388_608.0 - 1.0
                })
                .collect();
            crate::index::embed::to_unit(&mut v);
            v
        };
        Ok(texts.iter().map(|t| Embedding { vector: vector(t), pieces: None }).collect())
    }
}

#[test]
fn a_vector_that_knows_nothing_does_not_push_keyword_matches_down() {
    let noise = Noise(Space { model: "noise".into(), dims: 64 });
    let all: Vec<Document> = (0..400)
        .map(|i| {
            doc(
                &format!("d{i}"),
                "note",
                &format!("alpha{} beta{} gamma{} common text", i % 40, i % 7, i % 3),
            )
        })
        .collect();
    let (mut with, mut without) = (0, 0);
    for i in 0..40 {
        let ask = Ask { limit: 10, ..ask(&format!("alpha{i} beta{}", i % 7)) };
        let right = |hits: &[(String, Hit)]| {
            hits.iter().filter(|(id, _)| id[1..].parse::<usize>().unwrap() % 40 == i).count()
        };
        with += right(&asked_with(all.clone(), &ask, &noise));
        let dir = tempfile::tempdir().unwrap();
        let mut index = Index::open(dir.path()).unwrap();
        index.apply("me", &all.iter().cloned().map(Change::Put).collect::<Vec<_>>(), None, &[]).unwrap();
        let reader = index.reader("me", None).unwrap();
        let hits = rank(&reader, None, &ask, &Weights::default()).unwrap();
        let hits: Vec<(String, Hit)> =
            hits.into_iter().map(|h| (reader.document(h.number).unwrap().unwrap().id, h)).collect();
        without += right(&hits);
    }
    assert!(with >= without, "{with} {without}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_question_over_any_texts_gives_a_repeatable_ordered_answer(
        texts in proptest::collection::vec(".{0,80}", 1..20),
        question in ".{0,100}",
    ) {
        let model = Builtin::open().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let mut index = Index::open(dir.path()).unwrap();
        let changes: Vec<Change> = texts.iter().enumerate().map(|(i, t)| Change::Put(doc(&format!("d{i}"), "episode", t))).collect();
        index.apply("me", &changes, Some(&model), &[]).unwrap();
        let reader = index.reader("me", Some(model.space())).unwrap();
        let first = rank(&reader, Some(&model), &ask(&question), &Weights::default()).unwrap();
        let second = rank(&reader, Some(&model), &ask(&question), &Weights::default()).unwrap();
        prop_assert_eq!(&first, &second);
        prop_assert!(first.windows(2).all(|w| w[0].score >= w[1].score));
    }
}

//! Removing: by time, by topic, by tier.

use super::super::{FactWords, Role, Tier, Turn, put_user};
use super::{AGENT, Make, OWNER, PERSON, Stage, tiers};

pub(super) fn episodes_expire_and_facts_stay(stage: &Stage, _: Make<'_>) {
    let call = stage.of("ada");
    for user in ["ada", "bob"] {
        put_user(stage.store.as_ref(), tiers(&call).who(), user, call.project().world()).unwrap();
        let call = stage.of(user);
        let short = Turn { days: Some(10), ..Turn::of(Role::User, "goes soon") };
        tiers(&call).add_episode(short, OWNER).unwrap();
        tiers(&call).add_episode(Turn::of(Role::User, "stays a while"), OWNER).unwrap();
        tiers(&call).remember(FactWords::of("I like long walks"), PERSON).unwrap();
    }
    // In its last second a turn is still there; only what is past goes.
    let last = stage.at("ada", "2026-03-11T12:00:00Z");
    assert_eq!(tiers(&last).expire().unwrap().episodes, 0);
    let found = tiers(&last).search("goes soon", None, 5).unwrap();
    assert!(found.iter().any(|f| f.memory.content == "goes soon"), "{found:?}");
    let listed = tiers(&last).newest(Some(Tier::Episodic), None, None, 10).unwrap();
    assert_eq!(listed.len(), 2);
    let later = stage.at("ada", "2026-03-11T12:00:01Z");
    assert!(
        tiers(&later).search("goes soon", None, 5).unwrap().iter().all(|f| f.memory.content != "goes soon")
    );
    let expired = tiers(&later).expire().unwrap();
    assert_eq!(
        (expired.users, expired.episodes),
        (2 + stage.founders(), 2),
        "the keeper's upkeep is for everybody"
    );
    assert_eq!(tiers(&later).expire().unwrap().episodes, 0);
    let counts = stage.store.counts(tiers(&later).who()).unwrap();
    assert_eq!((counts.episodes, counts.facts), (1, 1));
    let much_later = stage.at("ada", "2030-01-01T00:00:00Z");
    tiers(&much_later).expire().unwrap();
    assert_eq!(stage.store.counts(tiers(&later).who()).unwrap().facts, 1, "a fact never expires by itself");
}

pub(super) fn a_topic_is_forgotten_whole(stage: &Stage, _: Make<'_>) {
    let call = stage.of("ada");
    for text in
        ["We met Karl in Lisbon", "Lisbon was sunny", "Karl sent a letter", "Karl's flat in Lisbon is small"]
    {
        tiers(&call).add_episode(Turn::of(Role::User, text), OWNER).unwrap();
    }
    tiers(&call).remember(FactWords::of("Karl lives in Lisbon"), PERSON).unwrap();
    let _ = tiers(&call).remember(FactWords::of("Karl owns a boat in Lisbon"), AGENT).unwrap_err();
    let about = tiers(&call).about_topic("karl lisbon").unwrap();
    assert_eq!(about.len(), 3);
    let ids: Vec<String> = about.into_iter().map(|stored| stored.id).collect();
    assert_eq!(tiers(&call).forget_topic("karl lisbon", &ids).unwrap().len(), 3);
    assert!(tiers(&call).about_topic("Karl Lisbon").unwrap().is_empty());
    assert!(
        tiers(&call).inbox().list(call.project().world().now).unwrap().is_empty(),
        "nor does a draft wait"
    );
    assert_eq!(stage.store.counts(tiers(&call).who()).unwrap().episodes, 2);
    let lines = tiers(&call).audit(10, |line| line.action == super::super::Action::MemoryBulkDelete).unwrap();
    assert_eq!(lines[0].metadata.memory_ids.len(), 3);
    assert!(
        !serde_json::to_string(&lines).unwrap().to_lowercase().contains("karl"),
        "the topic itself is not kept"
    );
}

pub(super) fn clearing_a_tier_leaves_the_other(stage: &Stage, _: Make<'_>) {
    let call = stage.of("ada");
    let counts = || stage.store.counts(tiers(&call).who()).unwrap();
    let fill = || {
        tiers(&call).add_episode(Turn::of(Role::User, "a turn"), OWNER).unwrap();
        tiers(&call).remember(FactWords::of("I like chess"), PERSON).unwrap();
    };
    fill();
    assert_eq!(tiers(&call).clear(Some(Tier::Episodic)).unwrap().len(), 1);
    assert_eq!((counts().episodes, counts().facts), (0, 1));
    fill();
    assert_eq!(tiers(&call).clear(Some(Tier::Semantic)).unwrap().len(), 1);
    assert_eq!((counts().episodes, counts().facts), (1, 0));
    fill();
    assert_eq!(tiers(&call).clear(None).unwrap().len(), 3);
    assert!(tiers(&call).scrub(false).is_ok());
    assert_eq!((counts().episodes, counts().facts), (0, 0));
}

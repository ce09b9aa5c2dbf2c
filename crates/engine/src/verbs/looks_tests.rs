//! What a person looks at: sessions, days, kept versions, what a prompt is and is not answered with.

use super::add::{Add, New, NewRecord, NewVault, add};
use super::decide::{self, Accept, Seen};
use super::edit::{Edit, edit};
use super::recall::{self, Recall};
use super::remember::NewFact;
use super::show::{Show, versions};
use super::tests::Desk;
use super::{activity, sessions};
use heirloom_core::Caller;
use heirloom_core::settings::MatchStrategy;

fn stored(desk: &Desk, text: &str) -> String {
    let new = NewRecord { category: "decision".into(), text: text.into(), ..NewRecord::default() };
    add(&desk.person(), &Add::of(New::Record(new))).unwrap().done().unwrap().id.to_string()
}

fn hybrid(desk: &Desk, most: usize) -> crate::Call {
    desk.call_with(Caller::person("tester"), |settings| {
        settings.retrieval.match_strategy = MatchStrategy::Hybrid;
        settings.retrieval.max_inject = most;
    })
}

fn ask(prompt: &str) -> Recall {
    Recall { prompt: prompt.into(), session: Some("monday".into()), most: None }
}

#[test]
fn a_session_shows_what_it_was_given_and_what_changed_since() {
    let desk = Desk::new();
    let id = stored(&desk, "Use PostgreSQL for orders because we need jsonb");
    assert!(sessions::list(&desk.person()).unwrap().is_empty());
    let given = recall::prompt(&hybrid(&desk, 5), &ask("which database do the orders use?")).unwrap();
    assert!(given.block.contains("PostgreSQL"), "{given:?}");
    let all = sessions::list(&desk.person()).unwrap();
    assert_eq!((all.len(), all[0].given), (1, 1));
    let told = sessions::show(&desk.person(), &all[0].id).unwrap();
    assert_eq!((told.given[0].id.as_str(), told.given[0].changed), (id.as_str(), false));
    let change =
        Edit { id: id.clone(), title: Some("Use PostgreSQL for all orders".into()), ..Edit::default() };
    let id = edit(&desk.person(), &change).unwrap().done().unwrap().id.to_string();
    let told = sessions::show(&desk.person(), &all[0].id).unwrap();
    let now = &told.given[0];
    assert!(now.changed || now.memory.is_none(), "{id}: {now:?}");
    assert!(sessions::show(&desk.person(), "nobody").is_err());
    let lately = sessions::lately(&desk.person(), "2026-01-10", 5).unwrap();
    assert_eq!(lately.len(), 1);
    assert!(sessions::lately(&desk.person(), "2026-01-11", 5).unwrap().is_empty());
}

#[test]
fn what_is_not_in_a_block_is_told_with_the_reason() {
    let desk = Desk::new();
    for text in [
        "Use PostgreSQL for orders because we need jsonb",
        "Use PostgreSQL for invoices because orders are there too",
        "Orders use PostgreSQL row locks because two workers race",
    ] {
        stored(&desk, text);
    }
    let tried = recall::tried(&hybrid(&desk, 1), &ask("which PostgreSQL do orders use?")).unwrap();
    assert_eq!((tried.answer.hits.len(), tried.most_memories), (1, 1));
    assert!(!tried.left_out.is_empty());
    assert!(tried.left_out.iter().all(|one| !one.reason.is_empty()), "{:?}", tried.left_out);
    assert!(tried.tokens > 0 && tried.tokens <= tried.most_tokens);
    // It is what recall gives, and nothing was noted.
    let recalled = recall::recall(&hybrid(&desk, 1), &ask("which PostgreSQL do orders use?")).unwrap();
    assert_eq!(recalled, tried.answer);
    assert!(sessions::list(&desk.person()).unwrap().is_empty());
    recall::prompt(&hybrid(&desk, 1), &ask("which PostgreSQL do orders use?")).unwrap();
    let again = recall::tried(&hybrid(&desk, 3), &ask("which PostgreSQL do orders use?")).unwrap();
    assert!(again.left_out.iter().any(|one| one.reason == "this session has it already"), "{again:?}");
}

#[test]
fn days_count_what_was_stored_and_given_and_read_only_what_is_new() {
    let desk = Desk::new();
    let mut known = activity::Activity::default();
    activity::follow(&desk.person(), &mut known).unwrap();
    assert!(known.days.is_empty());
    stored(&desk, "Use PostgreSQL for orders because we need jsonb");
    activity::follow(&desk.person(), &mut known).unwrap();
    assert_eq!(known.days["2026-01-10"].stored, 1);
    stored(&desk, "Send mail through a queue because it is slow");
    recall::prompt(&hybrid(&desk, 5), &ask("which database do the orders use?")).unwrap();
    activity::follow(&desk.person(), &mut known).unwrap();
    activity::follow(&desk.person(), &mut known).unwrap();
    assert_eq!((known.days["2026-01-10"].stored, known.days["2026-01-10"].given), (2, 1));
    let mut anew = activity::Activity::default();
    activity::follow(&desk.person(), &mut anew).unwrap();
    assert_eq!(anew.days, known.days);
}

#[test]
fn the_texts_a_memory_had_are_kept_with_the_numbers_that_replaced_them() {
    let desk = Desk::new();
    let id = stored(&desk, "Use PostgreSQL for orders because we need jsonb");
    let all = versions(&desk.person(), &Show { id: id.clone() }).unwrap();
    assert_eq!((all.len(), all[0].number.as_str()), (1, "now"));
    let change = |text: &str| Edit {
        id: id.clone(),
        fields: vec![("rationale".into(), text.into())],
        ..Edit::default()
    };
    edit(&desk.person(), &change("it is fast")).unwrap();
    edit(&desk.person(), &change("it is calm")).unwrap();
    let all = versions(&desk.person(), &Show { id: id.clone() }).unwrap();
    assert_eq!(all.len(), 3);
    assert!(
        all[0].text.contains("jsonb") && all[1].text.contains("fast") && all[2].text.contains("calm"),
        "{all:?}"
    );
    assert!(all[0].number.starts_with('p') && all[0].by.contains("tester"));
}

#[test]
fn a_yes_counts_for_what_was_shown_however_long_somebody_looked_at_it() {
    let desk = Desk::new();
    let canon = NewVault { text: "Deploys happen on Tuesdays only".into(), ..NewVault::default() };
    let fact = NewFact { text: "I work at Acme".into(), ..NewFact::default() };
    for new in [New::Canon(canon), New::Fact(fact)] {
        let _ = add(&desk.agent(), &Add::of(new)).unwrap();
    }
    let at = |now: &str| desk.call_at(now, Caller::person("tester"), |_| {});
    let shown = decide::list(&at("2026-01-10T09:00:01Z")).unwrap().waiting.drafts;
    assert_eq!(shown.len(), 2);
    let yes = Accept {
        shown: shown.iter().map(|one| Seen { key: one.item.key.clone(), seen: one.seen.clone() }).collect(),
    };
    let done = decide::accept(&at("2026-01-10T09:20:00Z"), &yes).unwrap();
    assert_eq!((done.stored.len(), done.failed.len()), (2, 0), "{done:?}");
}

use super::*;
use heirloom_core::Settings;
use heirloom_core::settings::Profile;
use serde_json::json;

struct Sample {
    row: Row,
    text: String,
    order: &'static [Check],
    strict: bool,
}

const ORDER: &[Check] = &[
    Check::Shape,
    Check::Secrets,
    Check::Identity,
    Check::Contact,
    Check::Injection,
    Check::Trust,
    Check::Capacity,
];

impl Draft for Sample {
    fn row(&self) -> Row {
        self.row
    }
    fn order(&self) -> &'static [Check] {
        self.order
    }
    fn id(&self) -> String {
        format!("sample:{}", heirloom_core::text::slug(&self.text))
    }
    fn texts(&mut self, visit: &mut dyn FnMut(&str, &mut String)) {
        visit("text", &mut self.text);
    }
    fn own_check(&mut self, check: Check) -> Result<()> {
        if check == Check::Shape && self.text.is_empty() {
            return Err(Fault::new(Code::Validation, "empty"));
        }
        Ok(())
    }
    fn needs_high_trust(&self) -> bool {
        self.strict
    }
}

fn screen() -> Screen {
    Screen::new(Settings::standard().gate)
}

fn token() -> String {
    // Put together here so that no scanner takes this file for a leak.
    format!("gh{}_{}", "p", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6")
}

fn sample(row: Row, text: &str) -> Sample {
    Sample { row, text: text.to_owned(), order: ORDER, strict: false }
}

#[test]
fn a_secret_is_refused_on_a_project_shelf_and_the_error_does_not_repeat_it() {
    let text = format!("use {} to log in", token());
    let Decision::Refused(fault) =
        admit(sample(Row::Records, &text), Entry::through(Channel::Person), &screen())
    else {
        panic!("stored a token");
    };
    assert_eq!(fault.code, Code::GateRefused);
    assert_eq!(fault.get("field"), Some("text"));
    let printed = format!("{fault:?}");
    assert!(!printed.contains(&token()[4..]));
}

#[test]
fn a_secret_in_an_episode_is_cut_out() {
    let text = format!("before {} after", token());
    let decision = admit(sample(Row::Episode, &text), Entry::through(Channel::Person), &screen());
    assert_eq!(decision.verdict(), "redact");
    let Decision::Passed(passed) = decision else { panic!("not stored") };
    assert!(!passed.draft().text.contains(&token()));
    assert!(passed.draft().text.starts_with("before ") && passed.draft().text.ends_with(" after"));
}

#[test]
fn what_needs_high_trust_waits_unless_a_person_says_so() {
    let strict = || Sample { strict: true, ..sample(Row::Vault, "plain words") };
    let screen = screen();
    assert_eq!(admit(strict(), Entry::through(Channel::Agent), &screen).verdict(), "confirm");
    assert_eq!(admit(strict(), Entry::through(Channel::Person), &screen).verdict(), "keep");
    let confirmed = Entry { channel: Channel::Agent, confirmed: true };
    assert_eq!(admit(strict(), confirmed, &screen).verdict(), "keep");
}

#[test]
fn a_confirmation_does_not_let_a_secret_in() {
    let text = token();
    let confirmed = Entry { channel: Channel::Person, confirmed: true };
    assert_eq!(admit(sample(Row::Fact, &text), confirmed, &screen()).verdict(), "refuse");
}

#[test]
fn the_shelfs_own_checks_run_in_its_order() {
    let empty = sample(Row::Records, "");
    assert_eq!(admit(empty, Entry::through(Channel::Person), &screen()).verdict(), "refuse");
    let unordered = Sample { order: &[], ..sample(Row::Records, "") };
    assert_eq!(admit(unordered, Entry::through(Channel::Person), &screen()).verdict(), "keep");
}

#[test]
fn a_refused_secret_in_a_title_leaves_no_trace_in_the_audit() {
    use crate::{Call, Project, World};
    let folder = tempfile::tempdir().unwrap();
    let world = World {
        now: jiff::Timestamp::UNIX_EPOCH,
        data: folder.path().join("data"),
        nonce: "0".repeat(32),
        user: "someone".into(),
    };
    let root = folder.path().join("memory");
    let call = Call::new(Project::new(folder.path(), &root, world), Settings::standard());
    let lock = call.lock().unwrap();
    let refused = call.pass(
        &lock,
        heirloom_core::ShelfName::Records,
        sample(Row::Records, &token()),
        Entry::through(heirloom_core::Channel::Agent),
        |_| serde_json::Value::Null,
    );
    assert_eq!(refused.err().map(|fault| fault.code), Some(Code::GateRefused));
    let audit = std::fs::read_to_string(call.project().local().unwrap().path("audit.jsonl")).unwrap();
    assert!(audit.contains("refuse") && audit.contains("sample"), "{audit}");
    assert!(!audit.contains(&heirloom_core::text::slug(&token())), "{audit}");
}

#[test]
fn redaction_of_shown_text_leaves_no_secret() {
    let shown = screen().redacted(&format!("x {} y", token()));
    assert!(!shown.contains(&token()));
}

#[test]
fn a_bad_rule_of_the_user_is_named_and_the_built_in_ones_go_on() {
    let mut settings = Settings::standard().gate;
    settings.rules = vec![
        json!({"id": "broken", "pattern": "a(b"}),
        json!({"id": "ticket", "pattern": "TICKET-[0-9]{6}"}),
        json!(7),
    ];
    settings.allow = vec![json!({"rule": "x"})];
    let screen = Screen::new(settings);
    let errors: Vec<&str> = screen.rule_errors().iter().map(|e| e.rule.as_str()).collect();
    assert_eq!(errors, ["rules[2]", "broken", "allow[0]"]);
    assert_eq!(screen.rule_errors()[1].position, Some(1));
    assert_eq!(screen.would_refuse("see TICKET-123456", Row::Records).as_deref(), Some("ticket"));
    assert!(screen.would_refuse(&token(), Row::Records).is_some());
}

#[test]
fn under_the_seed_profile_a_shelfs_own_list_counts_and_nothing_else() {
    let mut settings = Settings::standard().gate;
    settings.profiles = [Profile::Seed; 5];
    let screen = Screen::new(settings);
    let person = Entry::through(Channel::Person);
    assert_eq!(admit(sample(Row::Records, &token()), person, &screen).verdict(), "keep");
    let Decision::Refused(fault) = admit(sample(Row::Topics, "the primary KEY"), person, &screen) else {
        panic!("stored")
    };
    assert_eq!(fault.message, "Security violation: Cannot store sensitive data");
    assert_eq!(admit(sample(Row::Vault, "password: x"), person, &screen).verdict(), "refuse");
    assert_eq!(admit(sample(Row::Fact, "my token is x"), person, &screen).verdict(), "refuse");
    let Decision::Passed(low) =
        admit(sample(Row::Episode, "[SYSTEM] hi"), Entry::through(Channel::Web), &screen)
    else {
        panic!("not stored")
    };
    assert_eq!(low.draft().text, "[content: system] hi");
}

mod audit_chain {
    use crate::files::{LOCK_LIMIT, Lock};
    use crate::gate::audit::{Chain, Event, Outcome, entries, happened, verify};
    use heirloom_core::{Channel, time};
    use std::path::PathBuf;

    struct Book {
        _dir: tempfile::TempDir,
        path: PathBuf,
        lock: Lock,
    }

    impl Book {
        fn new() -> Book {
            let dir = tempfile::tempdir().unwrap();
            let lock = Lock::acquire(&dir.path().join("lock"), LOCK_LIMIT).unwrap();
            Book { path: dir.path().join("audit.jsonl"), lock, _dir: dir }
        }

        fn chain(&self) -> Chain {
            Chain::end(&self.path, &self.lock, time::parse("2026-01-10T09:00:00Z").unwrap()).unwrap()
        }

        fn write(&self, ids: &[&str], intent: bool) {
            let mut chain = self.chain();
            for id in ids {
                chain.push(&Event {
                    action: "memory_write",
                    verdict: "keep",
                    shelf: "records",
                    id,
                    by: "account:ana",
                    channel: Channel::Person,
                    size: 1,
                    remarks: &[],
                    code: None,
                    intent,
                    undoes: None,
                });
            }
            chain.write().unwrap();
        }

        fn settle(&self, from: u64, to: u64, outcome: Outcome) {
            let mut chain = self.chain();
            chain.settle(from, to, outcome);
            chain.write().unwrap();
        }

        fn outcomes(&self) -> Vec<(String, Option<String>)> {
            let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
            let entries = entries(&self.path).unwrap();
            entries.iter().map(|e| (text(&e["id"]).unwrap(), text(&e["outcome"]))).collect()
        }
    }

    fn three_entries() -> Book {
        let book = Book::new();
        ["a", "b", "c"].iter().for_each(|id| book.write(&[id], false));
        book
    }

    #[test]
    fn an_untouched_chain_is_whole() {
        let book = three_entries();
        assert_eq!(verify(&book.path).unwrap().entries, 3);
        assert_eq!(entries(&book.path).unwrap().len(), 3);
    }

    #[test]
    fn an_altered_removed_or_moved_line_is_found() {
        let book = three_entries();
        let text = std::fs::read_to_string(&book.path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for broken in [
            text.replace("\"id\":\"b\"", "\"id\":\"x\""),
            [lines[0], lines[2]].join("\n"),
            [lines[1], lines[0], lines[2]].join("\n"),
        ] {
            std::fs::write(&book.path, broken).unwrap();
            assert!(verify(&book.path).is_err());
        }
    }

    #[test]
    fn a_change_is_one_entry_with_its_outcome() {
        let book = Book::new();
        book.write(&["old"], false);
        book.write(&["a", "b"], true);
        book.settle(2, 3, Outcome::Done);
        book.write(&["c"], true);
        book.settle(5, 5, Outcome::Failed);
        book.write(&["d"], true);
        let said = |id: &str, outcome: Option<&str>| (id.to_owned(), outcome.map(str::to_owned));
        assert_eq!(
            book.outcomes(),
            [
                said("old", None),
                said("a", Some("done")),
                said("b", Some("done")),
                said("c", Some("failed")),
                said("d", Some("open"))
            ]
        );
        let known: Vec<bool> = entries(&book.path).unwrap().iter().map(happened).collect();
        assert_eq!(known, [true, true, true, false, false]);
        assert_eq!(verify(&book.path).unwrap().entries, 5, "an outcome is no entry of its own");
    }

    #[test]
    fn every_open_intent_at_the_end_is_found_however_many_there_are() {
        let book = Book::new();
        book.write(&["first"], true);
        book.settle(1, 1, Outcome::Done);
        let many: Vec<String> = (0..500).map(|n| format!("canon:{n:012}")).collect();
        book.write(&many.iter().map(String::as_str).collect::<Vec<_>>(), true);
        assert!(std::fs::metadata(&book.path).unwrap().len() > 64 << 10);
        let chain = book.chain();
        assert_eq!(chain.open().len(), 500);
        assert_eq!((chain.open()[0].seq, chain.open()[0].id.as_str()), (3, "canon:000000000000"));
        assert_eq!(chain.next(), 503);
    }

    #[test]
    fn renamed_lines_keep_numbers_and_order_and_the_checkpoint_is_named() {
        let book = three_entries();
        let name = |id: &str| Ok((id == "b").then(|| "hidden".to_owned()));
        let was = std::fs::read_to_string(&book.path).unwrap();
        crate::gate::audit::rename(&book.path, &book.lock, time::parse("2026-02-01").unwrap(), &name)
            .unwrap();
        let walked = verify(&book.path).unwrap();
        assert_eq!((walked.entries, walked.checkpoints.len(), walked.checkpoints[0].lines), (3, 1, 3));
        assert!(was.contains(&walked.checkpoints[0].was));
        let ids: Vec<String> = book.outcomes().into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, ["a", "hidden", "c"]);
        // Nothing to rename, nothing to say; and the chain goes on.
        crate::gate::audit::rename(&book.path, &book.lock, time::parse("2026-02-02").unwrap(), &name)
            .unwrap();
        book.write(&["d"], false);
        let walked = verify(&book.path).unwrap();
        assert_eq!((walked.entries, walked.checkpoints.len()), (4, 1));
        // What is not whole is left as it is.
        let text = std::fs::read_to_string(&book.path).unwrap().replace("hidden", "forged");
        std::fs::write(&book.path, &text).unwrap();
        crate::gate::audit::rename(&book.path, &book.lock, time::parse("2026-02-03").unwrap(), &|_| {
            Ok(Some("x".into()))
        })
        .unwrap();
        assert_eq!(std::fs::read_to_string(&book.path).unwrap(), text);
    }

    #[test]
    fn a_line_that_was_cut_off_goes_and_the_chain_stays_whole() {
        let book = three_entries();
        let text = std::fs::read_to_string(&book.path).unwrap();
        for cut in [1, 20, 100] {
            std::fs::write(&book.path, &text[..text.len() - cut]).unwrap();
            book.write(&["next"], false);
            // Without its line break the last line is still a line.
            let expected = if cut == 1 { 4 } else { 3 };
            assert_eq!(verify(&book.path).unwrap().entries, expected, "{cut}");
        }
    }
}

mod book {
    use crate::gate::trust::{Book, Standing, accept, forget, note};
    use crate::gate::withdrawn;
    use heirloom_core::{Channel, Trust, time};

    #[test]
    fn trust_is_bound_to_the_exact_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trust.jsonl");
        let now = time::parse("2026-01-10").unwrap();
        note(&path, now, "decision:a", "hash-1", Standing { channel: Channel::Agent, accepted: false })
            .unwrap();
        accept(&path, now, "decision:a", "hash-1", None).unwrap();
        let book = Book::read(&path).unwrap();
        assert_eq!(book.standing("decision:a", "hash-1").trust(), Trust::High);
        assert_eq!(book.standing("decision:a", "hash-2"), Standing::STRANGER);
        forget(&path, "decision:a").unwrap();
        assert_eq!(Book::read(&path).unwrap().standing("decision:a", "hash-1"), Standing::STRANGER);
    }

    #[test]
    fn an_acceptance_stays_though_others_are_forgotten_at_that_moment() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trust.jsonl");
        let now = time::parse("2026-01-10").unwrap();
        let (threads, each) = (4, 15);
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let (path, data) = (&path, dir.path());
                scope.spawn(move || {
                    for n in 0..each {
                        accept(path, now, &format!("decision:kept-{thread}-{n}"), "hash", None).unwrap();
                        withdrawn::note(data, &format!("decision:kept-{thread}-{n}"), "hash").unwrap();
                    }
                });
                scope.spawn(move || {
                    for n in 0..each {
                        let id = format!("decision:gone-{thread}-{n}");
                        accept(path, now, &id, "hash", None).unwrap();
                        withdrawn::note(data, &id, "hash").unwrap();
                        forget(path, &id).unwrap();
                        withdrawn::forget(data, &id).unwrap();
                    }
                });
            }
        });
        let book = Book::read(&path).unwrap();
        for thread in 0..threads {
            for n in 0..each {
                let (kept, gone) =
                    (format!("decision:kept-{thread}-{n}"), format!("decision:gone-{thread}-{n}"));
                assert!(book.standing(&kept, "hash").accepted, "{kept}");
                assert!(withdrawn::has(dir.path(), &kept, "hash").unwrap(), "{kept}");
                assert_eq!(book.standing(&gone, "hash"), Standing::STRANGER);
                assert!(!withdrawn::has(dir.path(), &gone, "hash").unwrap());
            }
        }
    }
}

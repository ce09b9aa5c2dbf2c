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
    let lock = call.project().lock().unwrap();
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
    use crate::gate::audit::{Event, append, entries, verify};
    use heirloom_core::{Channel, time};

    fn three_entries() -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.jsonl");
        let lock = Lock::acquire(&dir.path().join("lock"), LOCK_LIMIT).unwrap();
        let now = time::parse("2026-01-10T09:00:00Z").unwrap();
        for id in ["a", "b", "c"] {
            let event = Event {
                action: "memory_write",
                verdict: "keep",
                shelf: "records",
                id,
                by: "tester",
                channel: Channel::Person,
                size: 1,
                remarks: &[],
                code: None,
            };
            append(&path, &lock, now, &event).unwrap();
        }
        (dir, path)
    }

    #[test]
    fn an_untouched_chain_is_whole() {
        let (_dir, path) = three_entries();
        assert_eq!(verify(&path).unwrap(), 3);
        assert_eq!(entries(&path).unwrap().len(), 3);
    }

    #[test]
    fn an_altered_removed_or_moved_line_is_found() {
        let (_dir, path) = three_entries();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for broken in [
            text.replace("\"id\":\"b\"", "\"id\":\"x\""),
            [lines[0], lines[2]].join("\n"),
            [lines[1], lines[0], lines[2]].join("\n"),
        ] {
            std::fs::write(&path, broken).unwrap();
            assert!(verify(&path).is_err());
        }
    }
}

mod book {
    use crate::gate::trust::{Book, Standing, accept, forget, note};
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
}

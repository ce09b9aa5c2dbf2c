//! Settings, review, working memory and names, driven as any door drives them: a call with its caller, a request, an answer.

use super::add::{Add, New, NewRecord, add};
use super::config::{self, Approve, Change, Get, Set, SetPin, Setting, Unset};
use super::decide::{self, Accept, Choose, Reject, Seen};
use super::names::{self, Enough};
use super::working::{self, Append, Said, Session};
use super::*;
use crate::settings::{self, DEFAULT_ROOT, PROJECT_SETTINGS, Sources};
use crate::shelf::tiers::{Access, Speaker, SqliteStore, UserContext};
use crate::{Deployment, Project, World};
use heirloom_core::{Caller, Grant, Scopes, Trust, Who, time};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

struct House {
    folder: tempfile::TempDir,
    deployment: Arc<Deployment>,
}

impl House {
    fn new() -> House {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("project").join(DEFAULT_ROOT)).unwrap();
        let deployment = Deployment::default()
            .with_user_settings(folder.path().join("config/config.json"))
            .with_dice(|| Ok([7; 32]));
        House { folder, deployment: Arc::new(deployment) }
    }

    fn at(&self, caller: Caller, now: &str) -> Call {
        let world = World {
            now: time::parse(now).unwrap(),
            data: self.folder.path().join("data"),
            nonce: "0f".repeat(16),
            user: "tester".into(),
        };
        let folder = self.folder.path().join("project");
        let sources = Sources {
            user_file: self.folder.path().join("config/config.json"),
            person: caller.is_person(),
            ..Sources::default()
        };
        let loaded = settings::load(&sources, &folder, &folder.join(PROJECT_SETTINGS), &world);
        let tiers = self.folder.path().join("data/tiers");
        let who = UserContext::by_account(&world).unwrap();
        let access = Access::new(Arc::new(SqliteStore::at(&tiers)), who, &tiers);
        let root = settings::memory_root(&folder, &loaded.settings, None);
        let project = Project::new(&folder, &root, world);
        let said = settings::Said { values: loaded.values, warnings: loaded.warnings };
        self.deployment.call(project, loaded.settings, caller).with_tiers(access).with_said(said)
    }

    fn person(&self) -> Call {
        self.at(Caller::person("tester"), "2026-01-10T09:00:00Z")
    }

    fn agent(&self) -> Call {
        self.at(Caller::process("tester"), "2026-01-10T09:00:00Z")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn project_file(&self) -> PathBuf {
        self.folder.path().join("project").join(PROJECT_SETTINGS)
    }

    /// Actions, verdicts, ids and who acted, of the user's own chain and of the project's.
    fn audited(&self) -> Vec<String> {
        let call = self.person();
        let ask = trail::Audit { id: None, verdict: None, event: None, limit: 100 };
        let mut lines = trail::settings_audit(&call, &ask).unwrap();
        if call.project().has_local() {
            lines.extend(trail::audit(&call, &ask).unwrap());
        }
        let text = |line: &Value, key: &str| line[key].as_str().unwrap_or_default().to_owned();
        lines
            .iter()
            .map(|line| {
                let parts = ["action", "verdict", "id", "by", "outcome"].map(|key| text(line, key));
                parts.join("|")
            })
            .collect()
    }
}

fn set(key: &str, value: Value, user: bool) -> Set {
    Set { settings: vec![Setting { key: key.to_owned(), value }], user }
}

fn code<T: std::fmt::Debug>(answer: Result<T>) -> Code {
    answer.unwrap_err().code
}

#[test]
fn a_guarded_setting_is_a_persons_to_change_however_it_is_spelled() {
    let house = House::new();
    for ask in [
        set("gate.profile", json!("seed"), true),
        set("gate", json!({ "profile": "seed" }), true),
        set("person.check", json!("off"), true),
        set("embedding.url", json!("https://a.example/v1"), true),
    ] {
        assert!(config::needs_person(&house.agent(), Change::Set(&ask)).unwrap(), "{ask:?}");
        assert_eq!(code(config::set(&house.agent(), &ask)), Code::NeedsPerson, "{ask:?}");
    }
    assert!(!house.folder.path().join("config/config.json").exists());
    config::set(&house.person(), &set("gate.profile", json!("seed"), true)).unwrap();
    let got = config::get(&house.agent(), &Get { key: "gate.profile".into() }).unwrap();
    assert_eq!((got.value, got.origin.name()), (json!("seed"), "user"));
    let gone = Unset { key: "gate.profile".into(), user: true };
    assert_eq!(code(config::unset(&house.agent(), &gone)), Code::NeedsPerson);
    // What loosens nothing is anybody's, and both are in the audit with who acted.
    config::set(&house.agent(), &set("retrieval.max_inject", json!(3), false)).unwrap();
    let lines = house.audited();
    let has = |wanted: &str| lines.iter().any(|line| line.starts_with(wanted));
    assert!(has("config_guarded|keep|setting:gate.profile of user|account:tester|done"), "{lines:?}");
    assert!(has("config_set|keep|setting:retrieval.max_inject"), "{lines:?}");
}

#[test]
fn a_refused_setting_is_in_the_audit_of_a_project_that_has_one() {
    let house = House::new();
    house.person().project().local().unwrap();
    let token = Who::Token { user: "tester".into(), id: "ab12".into() };
    let every = Caller::process("tester").known_by(token, Scopes::ALL);
    let call = house.at(every, "2026-01-10T09:00:00Z");
    assert_eq!(code(config::set(&call, &set("gate.profile", json!("seed"), true))), Code::NeedsPerson);
    let lines = house.audited();
    assert!(lines.iter().any(|l| l.starts_with("config_guarded|refuse||token:tester/ab12")), "{lines:?}");
    config::set(&house.agent(), &set("retrieval.max_inject", json!(3), false)).unwrap();
    let lines = house.audited();
    assert!(
        lines.contains(&"config_set|keep|setting:retrieval.max_inject|account:tester|done".to_owned()),
        "{lines:?}"
    );
    let read_only = Caller::process("tester")
        .known_by(Who::Token { user: "tester".into(), id: "cd34".into() }, Scopes::NONE.with(Grant::Read));
    let call = house.at(read_only, "2026-01-10T09:00:00Z");
    assert!(config::set(&call, &set("retrieval.max_inject", json!(4), false)).is_err());
    assert!(trail::verify_audit(&house.person()).unwrap().entries >= 3);
}

#[test]
fn a_person_who_was_not_checked_changes_no_guarded_setting_whichever_door_forgot_to_ask() {
    let house = House::new();
    config::set_pin(&house.person(), &SetPin { pin: "4711".into() }).unwrap();
    let ask = set("gate.profile", json!("seed"), true);
    assert_eq!(code(config::set(&house.person(), &ask)), Code::NeedsPerson);
    house.write("project/.claude/memory/memory-config.json", r#"{"auto_commit":true}"#);
    let yes = Approve { key: "auto_commit".into() };
    assert_eq!(code(config::approve(&house.person(), &yes)), Code::NeedsPerson);
    assert_eq!(code(config::set_pin(&house.person(), &SetPin { pin: "0000".into() })), Code::NeedsPerson);
    assert_eq!(code(config::remove_pin(&house.person())), Code::NeedsPerson);
    let mut call = house.person();
    assert!(matches!(config::check_pin(&mut call, "1234").unwrap(), config::Answer::Wrong { left: 4 }));
    assert_eq!(code(config::set(&call, &ask)), Code::NeedsPerson, "a wrong PIN checks nobody");
    assert_eq!(config::check_pin(&mut call, "4711").unwrap(), config::Answer::Right);
    config::set(&call, &ask).unwrap();
    config::approve(&call, &yes).unwrap();
    assert!(house.person().settings().auto_commit);
    config::remove_pin(&call).unwrap();
    config::set(&house.person(), &set("gate.profile", json!("standard"), true)).unwrap();
    assert!(!format!("{:?}", SetPin { pin: "4711".into() }).contains("4711"));
    assert!(!house.audited().join("\n").contains("4711"));
}

#[test]
fn an_agent_touches_neither_the_pin_nor_an_approval() {
    let house = House::new();
    house.write("project/.claude/memory/memory-config.json", r#"{"auto_commit":true}"#);
    assert!(!house.agent().settings().auto_commit, "a project cannot switch it on by itself");
    assert_eq!(
        code(config::approve(&house.agent(), &Approve { key: "auto_commit".into() })),
        Code::NeedsPerson
    );
    assert_eq!(code(config::set_pin(&house.agent(), &SetPin { pin: "4711".into() })), Code::NeedsPerson);
    config::approve(&house.person(), &Approve { key: "auto_commit".into() }).unwrap();
    assert!(house.agent().settings().auto_commit);
    // An agent that writes the key, even to the same value, ends the yes: it was for what the person saw.
    config::set(&house.agent(), &set("auto_commit", json!(false), false)).unwrap();
    house.write("project/.claude/memory/memory-config.json", r#"{"auto_commit":true}"#);
    assert!(!house.agent().settings().auto_commit);
    for key in ["gate.profile", "nothing", "retrieval.max_inject"] {
        assert_eq!(
            code(config::approve(&house.person(), &Approve { key: key.into() })),
            Code::NotFound,
            "{key}"
        );
    }
}

#[test]
fn a_change_of_settings_writes_nothing_into_a_memory_folder_nobody_wanted() {
    let house = House::new();
    house.write("project/src/main.rs", "fn main() {}");
    house.write("project/.claude/memory/memory-config.json", r#"{"memory_root":"src"}"#);
    assert!(settings::is_wanted(&house.agent()).is_err());
    config::unset(&house.agent(), &Unset { key: "memory_root".into(), user: false }).unwrap();
    let left: Vec<_> =
        std::fs::read_dir(house.folder.path().join("project/src")).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(
        house.audited()[0].starts_with("config_set|keep|setting:memory_root of "),
        "{:?}",
        house.audited()
    );
    assert!(settings::is_wanted(&house.agent()).is_ok());
}

#[test]
fn settings_that_cannot_be_audited_are_not_changed() {
    let house = House::new();
    house.write("data/audit.jsonl/in-the-way", "");
    let ask = set("retrieval.max_inject", json!(3), false);
    assert!(config::set(&house.agent(), &ask).is_err());
    assert!(!house.project_file().exists());
}

#[test]
fn threads_that_change_settings_at_once_lose_none_of_them() {
    let house = House::new();
    let keys = ["retrieval.max_inject", "notes.max_keywords", "notes.max_per_capture", "vault.max_items"];
    std::thread::scope(|scope| {
        for key in keys {
            let call = house.agent();
            scope.spawn(move || config::set(&call, &set(key, json!(5), true)).unwrap());
        }
    });
    for key in keys {
        assert_eq!(config::get(&house.agent(), &Get { key: key.into() }).unwrap().value, json!(5), "{key}");
    }
}

fn constraint(house: &House, text: &str) -> String {
    let new = NewRecord { category: "constraint".into(), text: text.into(), ..NewRecord::default() };
    add(&house.agent(), &Add::of(New::Record(new))).unwrap().done().unwrap().id.to_string()
}

#[test]
fn a_yes_counts_only_for_the_bytes_that_were_shown() {
    let house = House::new();
    let id = constraint(&house, "Never push on Fridays");
    let waits = decide::list(&house.agent()).unwrap();
    assert_eq!(waits.waiting.saved_by_agents.len(), 1);
    let all = Choose { all: true, ..Choose::default() };
    assert_eq!(code(decide::choose(&house.agent(), &all)), Code::NeedsPerson);
    let chosen = decide::choose(&house.person(), &all).unwrap();
    let yes = chosen.yes();
    assert_eq!(code(decide::accept(&house.agent(), &yes)), Code::NeedsPerson);
    for wrong in [
        Seen { key: id.clone(), seen: String::new() },
        Seen { key: id.clone(), seen: "0".repeat(64) },
        Seen { key: "never-push".into(), seen: yes.shown[0].seen.clone() },
        Seen { key: " ".into(), seen: yes.shown[0].seen.clone() },
    ] {
        assert!(
            decide::accept(&house.person(), &Accept { shown: vec![wrong.clone()] }).is_err(),
            "{wrong:?}"
        );
    }
    let trust = || seen(&house.person(), &MemoryId::parse(&id).unwrap()).unwrap().trust;
    assert!(trust() < Trust::High);
    // Somebody changes the file between the look and the yes.
    let file = house.folder.path().join("project/.claude/memory/constraints/never-push-on-fridays.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("Fridays", "Mondays")).unwrap();
    assert_eq!(code(decide::accept(&house.person(), &yes)), Code::OccConflict);
    std::fs::write(&file, text).unwrap();
    let done = decide::accept(&house.person(), &yes).unwrap();
    assert_eq!((done.accepted, done.failed), (vec![id.clone()], vec![]));
    assert_eq!(trust(), Trust::High);
    let lines = house.audited();
    assert!(
        lines.iter().any(|l| l.starts_with(&format!("review_accept|keep|{id}|account:tester"))),
        "{lines:?}"
    );
}

#[test]
fn a_draft_is_accepted_as_shown_or_turned_down_and_both_are_audited() {
    let house = House::new();
    let person = add(
        &house.person(),
        &Add::of(New::Record(NewRecord {
            category: "decision".into(),
            text: "Use PostgreSQL because we need jsonb".into(),
            ..NewRecord::default()
        })),
    )
    .unwrap()
    .done()
    .unwrap();
    let retire = life::Move { ids: vec![person.id.to_string()], reason: Some("old".into()) };
    let waits = life::retire(&house.agent(), &retire).unwrap();
    let Outcome::Waits(waiting) = &waits[0] else { panic!("{waits:?}") };
    let listed = decide::list(&house.agent()).unwrap().waiting.drafts;
    assert_eq!(listed.len(), 1);
    let seen_one = Seen { key: waiting.key.clone(), seen: listed[0].seen.clone() };
    let other = Seen { seen: "0".repeat(64), ..seen_one.clone() };
    assert_eq!(code(decide::accept(&house.person(), &Accept { shown: vec![other] })), Code::OccConflict);
    // A key that is nobody's keeps the others from being turned down.
    let keys = vec![waiting.key.clone(), "nothing".to_owned()];
    assert_eq!(code(decide::reject(&house.agent(), &Reject { keys })), Code::NotFound);
    let done = decide::accept(&house.person(), &Accept { shown: vec![seen_one.clone()] }).unwrap();
    assert_eq!(done.stored, [person.id.to_string()]);
    assert_eq!(code(decide::accept(&house.person(), &Accept { shown: vec![seen_one] })), Code::OccConflict);
    let back = life::Move { ids: vec![person.id.to_string()], reason: None };
    let waits = life::restore(&house.agent(), &back).unwrap();
    let Outcome::Waits(waiting) = &waits[0] else { panic!("{waits:?}") };
    decide::reject(&house.agent(), &Reject { keys: vec![waiting.key.clone()] }).unwrap();
    assert!(decide::list(&house.agent()).unwrap().waiting.drafts.is_empty());
    let lines = house.audited();
    for wanted in ["review_accept|keep|", "review_reject|refuse|"] {
        assert!(lines.iter().any(|line| line.starts_with(wanted)), "{wanted}: {lines:?}");
    }
}

fn said(speaker: Speaker, content: &str) -> Said {
    Said { speaker, content: content.into(), item: None, external: false }
}

#[test]
fn working_memory_is_the_processs_own_bounded_and_without_secrets() {
    let house = House::new();
    let token = ["ghp", "_x7Kq2mZ9vB4nT6wR1yL8sD3fG5hJ0cAeQiUo"].concat();
    let messages = vec![
        said(Speaker::System, "be brief"),
        said(Speaker::User, &format!("my key is {token}")),
        said(Speaker::Assistant, "noted"),
    ];
    let kept = working::append(&house.person(), &Append { session: "s".into(), messages }).unwrap();
    assert_eq!((kept.count, kept.dropped), (3, 0));
    // Another call of the same process has the same conversation; another session has none.
    let ask = Session { session: "s".into() };
    let read = working::read(&house.person(), &ask).unwrap();
    assert_eq!(read.messages.len(), 3);
    assert!(read.messages.iter().all(|m| !m.content.contains(&token)));
    assert!(!format!("{read:?}{:?}", house.deployment).contains("be brief"), "nothing of it in a log");
    assert!(working::read(&house.person(), &Session { session: "t".into() }).unwrap().messages.is_empty());
    let popped = working::pop(&house.person(), &ask).unwrap().message.unwrap();
    assert_eq!((popped.speaker, popped.content.as_str()), (Speaker::Assistant, "noted"));
    assert_eq!(working::clear(&house.person(), &ask).unwrap().cleared, 2);
    assert!(working::pop(&house.person(), &ask).unwrap().message.is_none());
    let files = walk(house.folder.path());
    assert!(files.iter().all(|text| !text.contains("be brief") && !text.contains("noted")), "never on disk");
    for blank in ["", "  ", &"x".repeat(300)] {
        let ask = Session { session: blank.to_owned() };
        assert_eq!(code(working::read(&house.person(), &ask)), Code::Usage, "{blank:?}");
    }
}

/// The text of every file below a folder.
fn walk(folder: &std::path::Path) -> Vec<String> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => all.extend(walk(&path)),
            false => {
                all.push(String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()).into_owned())
            }
        }
    }
    all
}

#[test]
fn working_memory_drops_the_oldest_message_first_the_systems_last_and_the_silent_with_time() {
    let house = House::new();
    house.write("config/config.json", r#"{"tiers":{"working_messages":3,"working_minutes":10}}"#);
    let at = |now: &str| house.at(Caller::process("tester"), now);
    let start = "2026-01-10T09:00:00Z";
    let all = ["one", "two", "three", "four"].map(|text| said(Speaker::User, text));
    let first = std::iter::once(said(Speaker::System, "rules")).chain(all).collect();
    let kept = working::append(&at(start), &Append { session: "s".into(), messages: first }).unwrap();
    assert_eq!((kept.count, kept.dropped), (3, 2));
    let ask = Session { session: "s".into() };
    let texts = |now: &str| -> Vec<String> {
        let read = working::read(&at(now), &ask).unwrap();
        read.messages.into_iter().map(|message| message.content).collect()
    };
    assert_eq!(texts(start), ["rules", "three", "four"]);
    let web = Said { external: true, ..said(Speaker::Tool, "a page") };
    let kept =
        working::append(&at("2026-01-10T09:09:00Z"), &Append { session: "s".into(), messages: vec![web] });
    assert_eq!(kept.unwrap().trust, Trust::Low);
    assert_eq!(texts("2026-01-10T09:11:00Z"), ["a page"]);
    assert_eq!(texts("2026-01-10T09:30:00Z"), [""; 0]);
    let read = Scopes::NONE.with(Grant::Read);
    let looker =
        Caller::process("tester").known_by(Who::Token { user: "tester".into(), id: "1".into() }, read);
    assert!(working::read(&house.at(looker, start), &ask).is_err(), "a token without write keeps none");
}

#[test]
fn a_blank_name_stands_for_nothing_and_a_part_never_for_what_cannot_be_taken_back() {
    let house = House::new();
    let id = constraint(&house, "Never push on Fridays");
    let found = |call: &Call, name: &str, enough| names::find(call, name, enough);
    for blank in ["", " ", "\t\n", "constraint: ", "constraint:\t"] {
        for call in [house.person(), house.agent()] {
            for enough in [Enough::Part, Enough::Whole] {
                assert_eq!(code(found(&call, blank, enough)), Code::Usage, "{blank:?}");
            }
            assert!(show::show(&call, &show::Show { id: blank.into() }).is_err(), "{blank:?}");
            assert!(life::retire(&call, &life::Move { ids: vec![blank.into()], reason: None }).is_err());
            assert!(decide::choose_any(&call, &[blank.to_owned()]).is_err());
        }
        for topic in [false, true] {
            let ask = remove::Forget { name: blank.into(), topic, shown_first: true };
            assert!(remove::doomed(&house.person(), &ask).is_err(), "{blank:?} {topic}");
        }
    }
    // To look at, a part is enough for everybody; to change, for a person; to remove for good, only after it was shown.
    assert_eq!(found(&house.agent(), "never-push", Enough::Part).unwrap().as_str(), id);
    assert!(
        life::retire(&house.agent(), &life::Move { ids: vec!["never-push".into()], reason: None }).is_err()
    );
    let part = |shown_first| remove::Forget { name: "never-push".into(), topic: false, shown_first };
    assert_eq!(code(remove::doomed(&house.person(), &part(false))), Code::Ambiguous);
    assert!(remove::doomed(&house.person(), &part(true)).is_ok());
    let token = Who::Token { user: "tester".into(), id: "1".into() };
    let script = Caller::process("tester").known_by(token, Scopes::USUAL.with(Grant::Delete));
    let script = house.at(script, "2026-01-10T09:00:00Z");
    assert_eq!(code(remove::doomed(&script, &part(true))), Code::Ambiguous, "a program was shown nothing");
    for whole in ["never-push-on-fridays", id.as_str()] {
        let ask = remove::Forget { name: whole.into(), topic: false, shown_first: false };
        assert!(remove::doomed(&script, &ask).is_ok(), "{whole}");
    }
}

#[test]
fn doors_that_take_ids_take_nothing_else() {
    let house = House::new();
    let id = constraint(&house, "Never push on Fridays");
    for caller in [Caller::process("tester").by_ids(), Caller::person("tester").by_ids()] {
        let call = house.at(caller, "2026-01-10T09:00:00Z");
        for name in ["never-push", "never-push-on-fridays"] {
            assert_eq!(code(show::show(&call, &show::Show { id: name.into() })), Code::Usage, "{name}");
            assert_eq!(
                code(life::retire(&call, &life::Move { ids: vec![name.into()], reason: None })),
                Code::Usage
            );
        }
        assert!(show::show(&call, &show::Show { id: id.clone() }).is_ok());
    }
}

#[test]
fn a_doctor_who_sees_no_machine_says_nothing_of_one() {
    let house = House::new();
    house.write("project/.claude/memory/memory-config.json", r#"{"retreival":1}"#);
    let found = doctor::doctor(&house.agent(), &doctor::Doctor::default()).unwrap();
    let ids: Vec<&str> = found.checks.iter().map(|check| check.id).collect();
    assert_eq!(ids, ["settings", "store", "index", "database", "token", "model", "hooks", "budget"]);
    assert!(found.ok && found.checks[0].detail.contains("retreival"), "{found:?}");
    assert!(!house.agent().project().has_local(), "looking leaves nothing behind");
}

#[test]
fn opaque_items_go_turn_by_turn_and_hold_no_secrets() {
    use crate::working::{Speaker, Working, WorkingLimits};
    use heirloom_core::Trust;
    let limits = WorkingLimits { messages: 5, tokens: 10_000, seconds: 60 };
    let now = jiff::Timestamp::from_second(1_000_000).unwrap();
    let mut working = Working::new(limits);
    let mut push = |speaker, name: &str| {
        working.push_item(speaker, serde_json::json!({ "type": name }), Trust::Low, now);
        working
            .messages()
            .map(|message| message.item.as_ref().unwrap()["type"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    for (speaker, name) in [
        (Speaker::User, "ask1"),
        (Speaker::Assistant, "call1"),
        (Speaker::Tool, "result1"),
        (Speaker::User, "ask2"),
    ] {
        push(speaker, name);
    }
    assert_eq!(push(Speaker::Assistant, "call2").len(), 5);
    // The sixth has no room: a call without its result would be of no use to its host, so the whole turn goes.
    assert_eq!(push(Speaker::Tool, "result2"), ["ask2", "call2", "result2"]);
    let house = House::new();
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let item = serde_json::json!({ "type": "function_call", "arguments": { "key": token } });
    let said =
        Said { speaker: Speaker::Assistant, content: String::new(), item: Some(item), external: false };
    let both = Said { content: "and this".into(), ..said.clone() };
    let kept =
        working::append(&house.person(), &Append { session: "o".into(), messages: vec![said] }).unwrap();
    assert!(kept.by_turn);
    let read = working::read(&house.person(), &Session { session: "o".into() }).unwrap();
    let item = read.messages[0].item.as_ref().unwrap();
    assert_eq!(item["type"], "function_call");
    assert!(!item.to_string().contains(&token));
    assert!(working::append(&house.person(), &Append { session: "o".into(), messages: vec![both] }).is_err());
}

#[test]
fn whoever_may_not_see_a_memory_does_not_remove_it_either() {
    use super::add::NewVault;
    let house = House::new();
    house.write("config/config.json", r#"{"agents":{"orion":{"scope":"orion"},"vega":{"scope":"vega"}}}"#);
    let register = NewVault {
        text: "Working on the importer".into(),
        topic: Some("task".into()),
        scope: Some("orion".into()),
        ..NewVault::default()
    };
    let id = add(&house.person(), &Add::of(New::Register(register))).unwrap().done().unwrap().id;
    let script = |scope: &str| {
        let token = Who::Token { user: "tester".into(), id: "1".into() };
        let sees = heirloom_core::Audience::of(vec!["shared".into(), scope.into()]);
        let caller = Caller::process("tester").as_agent(Some(scope), sees);
        let caller = caller.known_by(token, Scopes::USUAL.with(Grant::Delete));
        house.at(caller, "2026-01-10T09:00:00Z")
    };
    let topic = |call: &Call| {
        let others = vec![id.to_string()];
        remove::forget_topic(call, &remove::ForgetTopic { others, ..remove::ForgetTopic::default() })
    };
    assert_eq!(code(remove::forget(&script("vega"), &id, false)), Code::NotFound);
    assert_eq!(code(topic(&script("vega"))), Code::NotFound);
    assert!(seen(&house.person(), &id).is_ok());
    let gone = topic(&script("orion")).unwrap();
    assert_eq!((gone.count, gone.ids), (1, vec![id.to_string()]));
    assert!(seen(&house.person(), &id).is_err());
}

#[test]
fn a_token_that_may_not_look_is_not_told_what_can_be_taken_back_or_is_in_the_index() {
    let house = House::new();
    constraint(&house, "Never push on Fridays");
    let token = Who::Token { user: "tester".into(), id: "1".into() };
    let with = |grant| {
        let caller = Caller::process("tester").known_by(token.clone(), Scopes::NONE.with(grant));
        house.at(caller, "2026-01-10T09:00:00Z")
    };
    let ask = records::Candidate {
        category: "constraint".into(),
        new_info: "Never push".into(),
        ..records::Candidate::default()
    };
    let writes = with(Grant::Write);
    assert!(undo::list(&writes).is_err());
    assert!(records::candidate(&writes, &ask, &mut Vec::new()).is_err());
    assert!(records::lines_with(&writes, "push").is_err());
    assert!(records::health(&writes).is_err());
    let reads = with(Grant::Read);
    assert_eq!(undo::list(&reads).unwrap().len(), 1);
    assert_eq!(records::lines_with(&reads, "push").unwrap().unwrap().len(), 1);
    assert!(records::rebuild(&reads).is_err(), "writing `index.md` is no look");
    assert!(records::rebuild(&writes).is_ok());
}

#[test]
fn verbs_commit_what_they_wrote_and_no_message_names_what_was_forgotten() {
    let house = House::new();
    let git = |args: &[&str]| {
        let folder = house.folder.path().join("project");
        let out = std::process::Command::new("git").args(args).current_dir(folder).output().unwrap();
        String::from_utf8(out.stdout).unwrap()
    };
    git(&["init", "-q"]);
    git(&["config", "user.name", "a"]);
    git(&["config", "user.email", "a@b.c"]);
    house.write("config/config.json", r#"{"auto_commit":true}"#);
    let call = || {
        let call = house.person();
        commit::begin(&call);
        call
    };
    let new = NewRecord { category: "decision".into(), text: "Use Redis".into(), ..NewRecord::default() };
    let asked = call();
    let id = add(&asked, &Add::of(New::Record(new))).unwrap().done().unwrap().id;
    assert_eq!(asked.uncommitted().all(), [""; 0]);
    life::retire(&call(), &life::Move { ids: vec![id.to_string()], reason: None }).unwrap();
    remove::forget(&call(), &id, false).unwrap();
    let subjects = git(&["log", "--format=%s"]);
    let wanted = ["memory: forget".to_owned(), format!("memory: retire {id}"), format!("memory: add {id}")];
    assert_eq!(subjects.lines().collect::<Vec<_>>(), wanted);
    // A commit that cannot be made is told, and the memory is saved all the same.
    std::fs::write(house.folder.path().join("project/.git/index.lock"), "").unwrap();
    let new = NewRecord { category: "decision".into(), text: "Use Kafka".into(), ..NewRecord::default() };
    let asked = call();
    let id = add(&asked, &Add::of(New::Record(new))).unwrap().done().unwrap().id;
    assert!(asked.uncommitted().all()[0].starts_with("saved, but not committed: "));
    assert!(seen(&house.person(), &id).is_ok());
}

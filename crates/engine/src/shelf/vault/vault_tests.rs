use super::*;
use crate::gate::{Entry, audit, trust};
use crate::shelf::{Listing, Shelf};
use crate::{Call, Project, World};
use heirloom_core::settings::Profile;
use heirloom_core::{Channel, Code, Fault, Kind, MemoryId, Settings, Status, Trust, time};
use proptest::prelude::*;
use std::path::PathBuf;

const PERSON: Entry = Entry { channel: Channel::Person, confirmed: false };
const AGENT: Entry = Entry { channel: Channel::Agent, confirmed: false };

/// A project folder; every call on it gets an engine of its own, as every process does.
struct Store {
    folder: tempfile::TempDir,
    settings: Settings,
}

impl Store {
    fn new() -> Store {
        let mut settings = Settings::standard();
        settings.vault.agents.insert("orion".into(), "orion".into());
        settings.vault.agents.insert("vega".into(), "vega".into());
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("project/.claude/memory")).unwrap();
        Store { folder, settings }
    }

    fn seed() -> Store {
        let mut store = Store::new();
        store.settings.gate.profiles = [Profile::Seed; 5];
        store
    }

    fn call(&self) -> Call {
        let world = World {
            now: time::parse("2026-01-10T09:00:00Z").unwrap(),
            data: self.folder.path().join("data"),
            nonce: "0f".repeat(16),
            user: "tester".into(),
        };
        let folder = self.folder.path().join("project");
        let root = folder.join(".claude/memory");
        Call::new(Project::new(&folder, &root, world), self.settings.clone())
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("project/.claude/memory/vault.jsonl")
    }

    fn file(&self) -> String {
        std::fs::read_to_string(self.path()).unwrap_or_default()
    }

    fn append(&self, line: &str) {
        std::fs::write(self.path(), self.file() + line + "\n").unwrap();
    }

    fn add(&self, new: Addition, entry: Entry) -> Result<Stored, Fault> {
        self.call().vault().add(new, entry)
    }

    fn id(&self, text: &str) -> String {
        self.add(Addition::new(text), PERSON).unwrap().record.id.into_owned()
    }

    fn write(&self, write: Write, entry: Entry) -> Result<Stored, Fault> {
        self.call().vault().write(write, entry)
    }

    fn actions(&self) -> Vec<String> {
        let call = self.call();
        let path = call.project().local().unwrap().path("audit.jsonl");
        let entries = audit::entries(&path).unwrap();
        entries
            .iter()
            .map(|e| format!("{} {}", e["action"].as_str().unwrap(), e["verdict"].as_str().unwrap()))
            .collect()
    }
}

fn register(text: &str, scope: &str, topic: &str) -> Addition {
    Addition {
        tier: REGISTER.into(),
        scope: scope.into(),
        topic_id: Some(topic.into()),
        ..Addition::new(text)
    }
}

fn rule(fault: &Fault) -> &str {
    fault.get("rule").unwrap_or_default()
}

#[test]
fn a_register_is_brought_up_to_date_by_its_topic() {
    let store = Store::new();
    let first = store.add(register("Focus: importer", "orion", "focus"), PERSON).unwrap();
    let second = store.add(register("Focus: mailer", "orion", "focus"), PERSON).unwrap();
    assert_eq!((first.status, second.status), ("created", "updated"));
    assert_eq!(first.record.id, second.record.id);
    assert_eq!(second.record.version, 2);
    assert_eq!(store.file().lines().count(), 2);
    let history = store.call().vault().history(&first.id).unwrap();
    assert_eq!(history.len(), 2);
    assert_eq!(history[1].old.as_ref().unwrap(), "Focus: importer");
}

#[test]
fn canon_and_shared_wait_for_a_person_and_an_agents_own_register_does_not() {
    let store = Store::new();
    let own = store.add(register("State: reading", "orion", "state"), AGENT).unwrap();
    assert_eq!(own.status, "created");
    let shared = register("State: reading", "shared", "state");
    let waits = store.add(shared.clone(), AGENT).unwrap_err();
    assert_eq!(waits.code, Code::NeedsConfirmation);
    let again = store.add(shared, AGENT).unwrap_err();
    assert_eq!(waits.get("key"), again.get("key"), "the same draft waits once");
    assert_eq!(
        store.add(Addition::new("We ship on Fridays"), AGENT).unwrap_err().code,
        Code::NeedsConfirmation
    );
    assert_eq!(store.file().lines().count(), 1);

    let call = store.call();
    let now = call.project().world().now;
    let item = call.inbox().unwrap().get(waits.get("key").unwrap(), now).unwrap();
    let accepted = call.vault().accept(&item, Entry { channel: Channel::Agent, confirmed: true }).unwrap();
    assert_eq!(accepted.id.as_str(), item.id);
    assert!(call.inbox().unwrap().get(&item.key, now).is_err(), "what was stored waits no more");
    let memory = store.call().vault().get(&accepted.id).unwrap().unwrap();
    assert_eq!(memory.trust, Trust::High);
}

#[test]
fn an_agent_cannot_take_away_or_overwrite_what_is_canon() {
    let store = Store::new();
    let id = store.id("The release branch is cut on Tuesdays");
    let retire = store.write(Write::Retire { id: id.clone() }, AGENT).unwrap_err();
    assert_eq!(retire.code, Code::NeedsConfirmation);
    let change = Revision { id: id.clone(), tier: Some(REGISTER.into()), ..Revision::default() };
    assert_eq!(store.write(Write::Revise(change), AGENT).unwrap_err().code, Code::NeedsConfirmation);
    assert_eq!(store.file().lines().count(), 1);
}

#[test]
fn under_the_seed_profile_nothing_waits_and_the_literal_guard_speaks() {
    let store = Store::seed();
    assert_eq!(store.add(Addition::new("Deploys happen on Thursdays"), AGENT).unwrap().status, "created");
    let card = store.add(Addition::new("epoch millis 1772366400000"), PERSON).unwrap_err();
    assert_eq!((card.code, rule(&card)), (Code::GateRefused, "pii"));
    assert!(card.message.contains("PII"));
    let twin = store.add(Addition::new("deploys happen on thursdays!"), PERSON).unwrap_err();
    assert!(twin.message.contains("Duplicate"), "{}", twin.message);
    let standard = Store::new();
    assert!(standard.add(Addition::new("epoch millis 1772366400000"), PERSON).is_ok());
}

#[test]
fn the_steps_of_the_gate_come_in_their_order() {
    let store = Store::seed();
    store.id("Deploys happen on Thursdays");
    let full = |new: Addition| {
        let mut full = store.settings.clone();
        full.vault.capacity = 1;
        let call = Call::new(
            Project::new(
                &store.folder.path().join("project"),
                &store.folder.path().join("project/.claude/memory"),
                store.call().project().world().clone(),
            ),
            full,
        );
        rule(&call.vault().add(new, PERSON).unwrap_err()).to_owned()
    };
    let everything = Addition {
        tier: "log".into(),
        scope: "nobody".into(),
        source: "rumour".into(),
        ..Addition::new(format!("heartbeat password: {}", "x".repeat(1300)))
    };
    assert_eq!(full(everything.clone()), "journal_noise");
    let quiet = Addition { text: everything.text.replace("heartbeat", ""), ..everything };
    assert_eq!(full(quiet.clone()), "log_tier");
    let canon = Addition { tier: "gold".into(), ..quiet };
    assert_eq!(full(canon.clone()), "too_long");
    let short = Addition { text: "Deploys happen on Thursdays password: x".into(), ..canon };
    assert_eq!(full(short.clone()), "invalid_scope");
    let scoped = Addition { scope: "shared".into(), ..short };
    assert_eq!(full(scoped.clone()), "invalid_tier");
    let tiered = Addition { tier: "canon".into(), ..scoped };
    assert_eq!(full(tiered.clone()), "invalid_source");
    let sourced = Addition { source: "chat".into(), ..tiered };
    assert_eq!(full(sourced.clone()), "pii");
    let clean = Addition { text: "Deploys happen on Thursdays".into(), ..sourced };
    assert_eq!(full(clean.clone()), "duplicate");
    let new = Addition { text: "Something else entirely".into(), ..clean };
    assert_eq!(full(new), "capacity");
}

#[test]
fn a_secret_never_reaches_the_file_the_inbox_or_the_audit() {
    let store = Store::new();
    // Put together here so that no scanner takes this file for a leak.
    let token = format!("gh{}_{}", "p", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6");
    for new in [
        Addition::new(format!("log in with {token}")),
        Addition { tags: Some(vec![token.clone()]), ..Addition::new("plain") },
        Addition { category: Some(token.clone()), ..Addition::new("plain") },
    ] {
        assert_eq!(store.add(new, AGENT).unwrap_err().code, Code::GateRefused);
    }
    let found = walk(store.folder.path()).into_iter().any(|bytes| {
        let text = String::from_utf8_lossy(&bytes).to_lowercase();
        text.contains(&token.to_lowercase())
    });
    assert!(!found);
    assert_eq!(store.actions(), ["memory_write refuse"; 3]);
}

fn walk(folder: &std::path::Path) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => all.extend(walk(&entry.path())),
            false => all.push(std::fs::read(entry.path()).unwrap()),
        }
    }
    all
}

#[test]
fn retiring_restoring_and_promoting_keep_the_trust_and_count_up() {
    let store = Store::new();
    let made = store.add(register("Plan: steady the importer", "orion", "plan"), PERSON).unwrap();
    let id = made.record.id.to_string();
    let shelf = |f: &dyn Fn(&Vault<'_>)| f(&store.call().vault());
    shelf(&|vault| assert_eq!(vault.retire(&made.id, "done", PERSON).unwrap().status, "retired"));
    shelf(&|vault| assert_eq!(vault.retire(&made.id, "done", PERSON).unwrap().status, "already_retired"));
    shelf(&|vault| {
        let memory = vault.get(&made.id).unwrap().unwrap();
        assert_eq!((memory.status, memory.trust), (Status::Retired, Trust::High));
        assert!(vault.list(&Listing::active()).unwrap().is_empty());
    });
    shelf(&|vault| assert_eq!(vault.restore(&made.id, PERSON).unwrap().status, "restored"));
    shelf(&|vault| assert_eq!(vault.get(&made.id).unwrap().unwrap().trust, Trust::High));
    let promotion =
        Promotion { id: id.clone(), text: Some("The importer is steady".into()), ..Promotion::default() };
    let promoted = store.write(Write::Promote(promotion), PERSON).unwrap();
    assert_eq!(promoted.id, MemoryId::new(&Kind::Canon, &id));
    assert_eq!(promoted.record.source.as_deref(), Some("promotion"));
    assert_eq!(promoted.record.version, 4);
    shelf(&|vault| {
        let by_old_id = vault.get(&made.id).unwrap().unwrap();
        assert_eq!(by_old_id.id, promoted.id, "the old id still finds it");
        let said: Vec<String> = vault.history(&made.id).unwrap().into_iter().map(|c| c.summary).collect();
        assert_eq!(
            said,
            [
                "version 1: created",
                "version 2: retired",
                "version 3: restored",
                "version 4: promoted to canon"
            ]
        );
    });
    assert_eq!(store.write(Write::Restore { id }, PERSON).unwrap_err().code, Code::Restore);
}

#[test]
fn a_register_is_not_restored_onto_a_topic_somebody_else_keeps() {
    let store = Store::new();
    let old = store.add(register("Focus: importer", "orion", "focus"), PERSON).unwrap();
    store.write(Write::Retire { id: old.record.id.to_string() }, PERSON).unwrap();
    store.add(register("Focus: mailer", "orion", "focus"), PERSON).unwrap();
    let fault = store.write(Write::Restore { id: old.record.id.to_string() }, PERSON).unwrap_err();
    assert_eq!(fault.code, Code::Restore);
}

#[test]
fn many_at_once_are_one_pass_and_each_sees_the_ones_before() {
    let store = Store::new();
    let writes = ["Alpha sentence", "Alpha sentence", "Bravo words"].map(|t| Write::Add(Addition::new(t)));
    let outcomes = store.call().vault().write_all(writes.to_vec(), PERSON).unwrap();
    let rules: Vec<String> = outcomes
        .iter()
        .map(|o| o.as_ref().map_or_else(|f| rule(f).to_owned(), |s| s.status.to_owned()))
        .collect();
    assert_eq!(rules, ["created", "duplicate", "created"]);
    let ids: Vec<String> = outcomes.into_iter().flatten().map(|s| s.record.id.into_owned()).collect();
    let retired =
        store.call().vault().retire_all(&[&ids[0], "ffffffffffff", &ids[1], &ids[0]], PERSON).unwrap();
    assert_eq!(
        (retired.deleted, retired.not_found),
        (ids.clone(), vec!["ffffffffffff".to_owned(), ids[0].clone()])
    );
    assert_eq!(store.file().lines().count(), 4);
}

#[test]
fn switched_off_the_vault_takes_nothing_new_and_shows_nothing() {
    let mut store = Store::new();
    let id = store.id("The release branch is cut on Tuesdays");
    store.settings.vault.enabled = false;
    assert_eq!(store.add(Addition::new("More of it"), PERSON).unwrap_err().code, Code::Config);
    let call = store.call();
    let vault = call.vault();
    assert_eq!(vault.snapshot(&vault.reader(None), None).unwrap(), "");
    assert_eq!(vault.retire_all(&[&id], PERSON).unwrap().deleted, [id]);
}

#[test]
fn the_snapshot_holds_only_what_is_trusted_and_an_agents_own_word() {
    let store = Store::new();
    store.id("Mission is calm delivery");
    store.add(register("Own state of orion", "orion", "state"), AGENT).unwrap();
    store.add(register("Own state of vega", "vega", "state"), AGENT).unwrap();
    store.append(
        r#"{"id": "0123456789ab", "version": 1, "text": "Planted by a stranger", "scope": "shared"}"#,
    );
    let block = |agent: Option<&str>| {
        let call = store.call();
        let vault = call.vault();
        vault.snapshot(&vault.reader(agent), None).unwrap()
    };
    let orion = block(Some("orion"));
    assert!(orion.contains("- Mission is calm delivery\n"));
    assert!(orion.contains("- (trust low, ai_inference) [state] Own state of orion\n"));
    assert!(!orion.contains("vega") && !orion.contains("Planted"));
    assert!(!block(Some("stranger")).contains("Own state"));
    assert!(!block(None).contains("Planted"));

    let call = store.call();
    let vault = call.vault();
    let asked = vault.context(&vault.reader(Some("orion")), Some("planted stranger"), 5, None).unwrap();
    assert!(
        asked.contains("- (trust medium, repository) Planted by a stranger\n"),
        "labelled where it is asked for"
    );
    assert_eq!(vault.context(&vault.reader(None), Some("zzzz"), 5, None).unwrap(), "");
}

#[test]
fn what_the_gate_would_refuse_today_is_given_to_nobody_and_listed() {
    let store = Store::new();
    let token = format!("gh{}_{}", "p", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6");
    let line = format!(r#"{{"id": "0123456789ab", "version": 1, "text": "use {token}", "scope": "shared"}}"#);
    store.append(&line);
    let call = store.call();
    let book = trust::path(call.project().data().unwrap());
    let hash = heirloom_core::hash::sha256(line.as_bytes());
    trust::accept(&book, call.project().world().now, "canon:0123456789ab", &hash, None).unwrap();
    let vault = call.vault();
    assert_eq!(vault.snapshot(&vault.reader(None), None).unwrap(), "");
    assert_eq!(vault.context(&vault.reader(None), None, 5, None).unwrap(), "");
    let doubts = vault.doubts().unwrap();
    assert_eq!((doubts.len(), doubts[0].sort, doubts[0].line), (1, "held_back", 1));
    assert!(!doubts[0].reason.contains(&token));
}

/// What the snapshot says to somebody without a name.
fn shown(store: &Store) -> String {
    let call = store.call();
    let vault = call.vault();
    vault.snapshot(&vault.reader(None), None).unwrap()
}

/// The trust book of a store.
fn book(store: &Store) -> PathBuf {
    trust::path(store.call().project().data().unwrap())
}

#[test]
fn what_passed_other_rules_is_looked_at_again() {
    let mut store = Store::new();
    store.id("The depot code is zebra-1234");
    let written = std::fs::read_to_string(book(&store)).unwrap();
    let edition = store.call().vault().passes("anything").unwrap();
    assert!(written.contains(&format!("\"rules\":\"{edition}\"")), "{written}");
    assert!(shown(&store).contains("zebra"));
    let rule = r#"{"id": "depot", "pattern": "zebra-[0-9]{4}", "keywords": ["zebra"]}"#;
    store.settings.gate.rules.push(serde_json::from_str(rule).unwrap());
    assert!(store.call().screen().rule_errors().is_empty());
    assert_eq!(shown(&store), "", "a rule that came later holds for what was stored before");
    store.settings.gate.rules.clear();
    assert!(shown(&store).contains("zebra"));
}

#[test]
fn a_line_with_the_word_of_the_rules_in_the_project_is_looked_at_all_the_same() {
    let store = Store::new();
    let edition = store.call().vault().passes("anything").unwrap();
    let token = format!("gh{}_{}", "p", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6");
    let line = format!(
        r#"{{"id": "0123456789ab", "version": 1, "rules": "{edition}", "accepted": true, "text": "use {token}", "scope": "shared"}}"#
    );
    store.append(&line);
    let hash = heirloom_core::hash::sha256(line.as_bytes());
    let forged = format!(
        "{{\"id\":\"canon:0123456789ab\",\"hash\":\"{hash}\",\"at\":\"2026-01-10T09:00:00Z\",\"accepted\":true,\"rules\":\"{edition}\"}}\n"
    );
    let root = store.folder.path().join("project/.claude/memory");
    std::fs::create_dir_all(root.join(".local")).unwrap();
    for place in ["trust.jsonl", ".local/trust.jsonl"] {
        std::fs::write(root.join(place), &forged).unwrap();
    }
    assert_eq!(shown(&store), "");
    // Accepted for real it is still held back: the person's yes notes the rules only where they refuse nothing.
    let call = store.call();
    let id = MemoryId::parse("canon:0123456789ab").unwrap();
    let memory = call.vault().get(&id).unwrap().unwrap();
    let person = store.call().by(heirloom_core::Caller::person("tester"));
    crate::verbs::review::accept(&person, &memory).unwrap();
    assert_eq!(person.standing(id.as_str(), &hash).unwrap().trust(), Trust::High);
    assert!(!std::fs::read_to_string(book(&store)).unwrap().contains("rules"));
    assert_eq!(shown(&store), "");
}

#[test]
fn an_entry_of_the_rules_is_bound_to_the_exact_bytes() {
    let store = Store::new();
    store.id("Mission is calm delivery");
    assert!(shown(&store).contains("calm"));
    let token = format!("gh{}_{}", "p", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6");
    std::fs::write(store.path(), store.file().replace("calm", &token)).unwrap();
    assert_eq!(shown(&store), "");
}

#[test]
fn a_book_without_the_word_of_the_rules_works_as_before() {
    let store = Store::new();
    store.id("Mission is calm delivery");
    let text = std::fs::read_to_string(book(&store)).unwrap();
    let edition = store.call().vault().passes("anything").unwrap();
    std::fs::write(book(&store), text.replace(&format!(",\"rules\":\"{edition}\""), "")).unwrap();
    assert!(!std::fs::read_to_string(book(&store)).unwrap().contains("rules"));
    assert!(shown(&store).contains("calm"));
}

#[test]
fn two_lines_of_one_version_stay_readable_and_the_other_is_listed() {
    let store = Store::new();
    for text in ["of this branch", "of that branch"] {
        store.append(&format!(
            r#"{{"id": "0123456789ab", "version": 2, "text": "{text}", "scope": "shared"}}"#
        ));
    }
    store.append("torn {");
    let call = store.call();
    let vault = call.vault();
    let id = MemoryId::parse("canon:0123456789ab").unwrap();
    assert_eq!(vault.get(&id).unwrap().unwrap().body, "of this branch");
    assert_eq!(vault.doubts().unwrap()[0].sort, "twin");
    let problems = vault.verify().unwrap();
    let found: Vec<(Option<usize>, &str)> = problems.iter().map(|p| (p.line, p.code)).collect();
    assert_eq!(found, [(Some(2), "OCC_CONFLICT"), (Some(3), "DAMAGED")]);
    assert!(vault.history(&id).unwrap()[1].summary.contains("does not count"));
    let compacted = vault.compact(PERSON).unwrap();
    assert_eq!((compacted.lines_after, compacted.twins_removed, compacted.unreadable), (2, 1, 1));
    assert!(store.file().ends_with("torn {\n"), "what cannot be read is kept for whoever can mend it");
}

#[test]
fn an_append_closes_a_torn_line_and_loses_nothing() {
    let store = Store::new();
    let id = store.id("Whole and well");
    std::fs::write(store.path(), store.file() + "{\"id\": \"0123").unwrap();
    let other = store.id("Something entirely new");
    let listed: Vec<String> = store
        .call()
        .vault()
        .list(&Listing::active())
        .unwrap()
        .into_iter()
        .map(|m| m.id.name().to_owned())
        .collect();
    assert_eq!(listed, [id, other]);
}

#[test]
fn forgetting_removes_every_version_and_every_trace_of_the_text() {
    let store = Store::new();
    let kept = store.id("The importer stays as it is");
    let made = store.add(register("Very private words", "orion", "diary"), PERSON).unwrap();
    store.add(register("Very private phrase", "orion", "diary"), PERSON).unwrap();
    let waiting = register("Very private wish", "shared", "diary");
    store.add(waiting, AGENT).unwrap_err();
    let promotion = Promotion { id: made.record.id.to_string(), ..Promotion::default() };
    store.write(Write::Promote(promotion), AGENT).unwrap_err();
    std::fs::write(
        store.path(),
        store.file() + &format!("{{\"id\": \"{}\", \"text\": \"Very private to", made.record.id),
    )
    .unwrap();

    let forgotten = store.call().vault().forget(&made.id, PERSON).unwrap();
    assert_eq!(forgotten.id, made.id);
    assert!(forgotten.places[0].ends_with("vault.jsonl (3 lines)"), "{:?}", forgotten.places);
    for secret in ["private words", "private phrase", "private to"] {
        let found = walk(store.folder.path()).iter().any(|b| String::from_utf8_lossy(b).contains(secret));
        assert!(!found, "{secret} is still somewhere");
    }
    let call = store.call();
    assert_eq!(call.vault().list(&Listing::everything()).unwrap().len(), 1);
    assert_eq!(call.vault().list(&Listing::everything()).unwrap()[0].id.name(), kept);
    assert_eq!(call.vault().forget(&made.id, PERSON).unwrap_err().code, Code::NotFound);
    assert_eq!(store.actions().last().unwrap(), "memory_forget keep");

    // A merge brings a line back: it is listed for review, not shown.
    store.append(&format!(
        r#"{{"id": "{}", "version": 1, "text": "back again", "tier": "canon"}}"#,
        made.record.id
    ));
    let call = store.call();
    assert_eq!(call.vault().list(&Listing::active()).unwrap().len(), 1);
    assert_eq!(call.vault().doubts().unwrap()[0].sort, "came_back");
}

#[test]
fn another_vault_comes_in_through_the_gate_and_goes_out_as_it_was() {
    let theirs = Store::new();
    let first = theirs.id("The importer rejects rows without a date");
    theirs
        .write(
            Write::Revise(Revision { id: first, tags: Some(vec!["x".into()]), ..Revision::default() }),
            PERSON,
        )
        .unwrap();
    theirs.add(register("Focus: mailer", "orion", "focus"), PERSON).unwrap();
    let gone = theirs.id("Nobody needs this any more");
    theirs.call().vault().retire_all(&[&gone], PERSON).unwrap();
    theirs.append("not a line");
    theirs.append(r#"{"id": "aaaaaaaaaaaa", "version": 1, "text": "heartbeat ok", "scope": "shared"}"#);
    let native = theirs.call().vault().export(true).unwrap();
    assert_eq!(native.iter().filter(|b| **b == b'\n').count(), 6);

    let ours = Store::new();
    let report = ours.call().vault().import(&std::fs::read(theirs.path()).unwrap(), PERSON).unwrap();
    assert_eq!((report.imported.len(), report.unchanged, report.unreadable), (2, 1, 1));
    assert_eq!((report.refused.len(), report.refused[0].code), (1, "GATE_REFUSED"));
    let again = ours.call().vault().import(&native, PERSON).unwrap();
    assert_eq!((again.imported.len(), again.unchanged), (0, 3));
    let exported = ours.call().vault().export(false).unwrap();
    assert!(theirs.file().contains(std::str::from_utf8(&exported).unwrap().lines().next().unwrap()));
}

#[test]
fn compacting_keeps_what_was_accepted() {
    let store = Store::new();
    let made = store.add(Addition::new("Mission is calm delivery"), PERSON).unwrap();
    let change = Revision {
        id: made.record.id.to_string(),
        text: Some("Mission: calm".into()),
        ..Revision::default()
    };
    store.write(Write::Revise(change), PERSON).unwrap();
    let compacted = store.call().vault().compact(PERSON).unwrap();
    assert_eq!((compacted.lines_before, compacted.lines_after, compacted.lines_removed), (2, 1, 1));
    assert_eq!(store.call().vault().get(&made.id).unwrap().unwrap().trust, Trust::High);
}

#[test]
fn threads_that_write_and_compact_at_once_lose_nothing() {
    let store = Store::new();
    let mut acknowledged: Vec<(String, i64)> = std::thread::scope(|scope| {
        let work = |n: usize| {
            let store = &store;
            move || {
                let mut written = Vec::new();
                for round in 0..12 {
                    let text = heirloom_core::hash::sha256(format!("{n} {round}").as_bytes());
                    let stored = store.add(register(&text, "shared", &format!("topic-{n}")), PERSON).unwrap();
                    written.push((stored.record.id.into_owned(), stored.record.version));
                    if round % 5 == n {
                        store.call().vault().compact(PERSON).unwrap();
                    }
                }
                written
            }
        };
        let threads: Vec<_> = (0..4).map(|n| scope.spawn(work(n))).collect();
        threads.into_iter().flat_map(|t| t.join().unwrap()).collect()
    });
    acknowledged.sort();
    let versions: std::collections::BTreeSet<(String, i64)> = acknowledged.iter().cloned().collect();
    assert_eq!(versions.len(), acknowledged.len(), "no version was given twice");
    let bytes = store.call().vault().bytes().unwrap();
    let image = Image::of(&bytes);
    assert!(image.broken().is_empty());
    let resolved = image.resolve();
    assert_eq!(resolved.len(), 4);
    assert!(resolved.active().all(|held| held.record.version == 12));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn compacting_leaves_what_is_in_use_with_its_versions(
        writes in prop::collection::vec((0usize..4, 0usize..5, "[a-z]{3,9} [a-z]{3,9}"), 0..24),
    ) {
        let mut store = Store::new();
        store.settings.vault.capacity = 1000;
        for (what, topic, text) in writes {
            let ids: Vec<String> = {
                let bytes = store.call().vault().bytes().unwrap();
                Image::of(&bytes).resolve().all().map(|held| held.record.id.into_owned()).collect()
            };
            let id = ids.get(topic).cloned().unwrap_or_default();
            let write = match what {
                0 => Write::Retire { id },
                1 => Write::Restore { id },
                2 => Write::Revise(Revision { id, text: Some(text), ..Revision::default() }),
                _ => Write::Add(register(&text, "orion", &format!("t{topic}"))),
            };
            // Refusals are part of the game.
            let _ = store.write(write, PERSON);
        }
        let in_use = |bytes: &[u8]| {
            let mut all: Vec<Record<'static>> =
                Image::of(bytes).resolve().active().map(|held| held.record.into_owned()).collect();
            all.sort_by(|a, b| a.id.cmp(&b.id));
            all
        };
        let before = std::fs::read(store.path()).unwrap_or_default();
        let report = store.call().vault().compact(PERSON).unwrap();
        let after = std::fs::read(store.path()).unwrap_or_default();
        prop_assert_eq!(in_use(&before), in_use(&after));
        prop_assert_eq!(Image::of(&after).lines(), report.lines_after);
        prop_assert_eq!(report.lines_after, in_use(&after).len());
        let again = store.call().vault().compact(PERSON).unwrap();
        prop_assert_eq!(again.lines_removed, 0);
    }
}

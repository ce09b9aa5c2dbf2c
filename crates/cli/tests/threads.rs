//! Sixteen threads of one process on one deployment: every shelf, trust book, ledger and inbox at once, alone and beside other processes.
//!
//! Comes in: how long (`HEIRLOOM_STRESS_SECONDS`, two if it is not set). Goes out: nothing, if everything that was acknowledged is there, the chains
//! are whole and nobody waits for ever; the figures on stderr. `cargo xtask stress threads --seconds 30` is the long run.

use crate::env::{ROOT, TestEnv, decision, target};
use heirloom_core::{Caller, Channel, Code, Fault, MemoryId, Settings};
use heirloom_engine::follow::{Look, ShelfIndex};
use heirloom_engine::gate::{Entry, audit};
use heirloom_engine::recall::ledger;
use heirloom_engine::shelf::notes::{Moment, NoteDraft};
use heirloom_engine::shelf::records::{Document, Said};
use heirloom_engine::shelf::tiers::{Access, Role, SqliteStore, TierStore, Turn, UserContext};
use heirloom_engine::shelf::topics::Lesson;
use heirloom_engine::shelf::vault::{Addition, REGISTER};
use heirloom_engine::shelf::{Listing, Shelf};
use heirloom_engine::verbs::life::{Move, retire};
use heirloom_engine::verbs::remember::{NewFact, Remember, remember};
use heirloom_engine::verbs::review::{accept_draft, shown};
use heirloom_engine::verbs::{Outcome, Yes, undo};
use heirloom_engine::{Call, Deployment, Project, World};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

const THREADS: usize = 16;
const PROCESSES: usize = 4;
const PERSON: Entry = Entry { channel: Channel::Person, confirmed: false };
const AGENT: Entry = Entry { channel: Channel::Agent, confirmed: false };

/// Longer than the slowest machine takes to end a round: whoever is not done by then never will be.
const EVER: Duration = Duration::from_secs(240);

fn length() -> Duration {
    let seconds = std::env::var("HEIRLOOM_STRESS_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(2))
}

/// One deployment, as a server has it.
struct Server {
    deployment: Arc<Deployment>,
    store: Arc<dyn TierStore>,
    project: PathBuf,
    data: PathBuf,
    calls: AtomicUsize,
}

impl Server {
    fn of(env: &TestEnv) -> Server {
        let data = env.home().join("data/heirloom");
        Server {
            deployment: Arc::new(Deployment::new(Some(env.home()))),
            store: Arc::new(SqliteStore::at(&data.join("tiers"))),
            project: env.project(),
            data,
            calls: AtomicUsize::new(0),
        }
    }

    /// A request.
    fn call(&self) -> Call {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let world = World {
            now: jiff::Timestamp::now(),
            data: self.data.clone(),
            nonce: heirloom_core::hash::sha256(format!("{number}").as_bytes())[..32].to_owned(),
            user: "tester".to_owned(),
        };
        let who = UserContext::by_account(&world).unwrap();
        let access = Access::new(Arc::clone(&self.store), who, &self.data.join("tiers"));
        let project = Project::new(&self.project, &self.project.join(ROOT), world);
        self.deployment.call(project, Settings::standard(), Caller::person("tester")).with_tiers(access)
    }
}

/// What one thread was told had happened.
#[derive(Default)]
struct Told {
    kept: Vec<MemoryId>,
    forgotten: Vec<MemoryId>,
    accepted: Vec<String>,
    given: Vec<String>,
    waiting: Vec<String>,
    /// What went out of use and was taken back by its number.
    back: Vec<MemoryId>,
    /// What waited and was accepted.
    stored: Vec<MemoryId>,
    register: Option<(MemoryId, String)>,
    episodes: usize,
    busy: usize,
    done: usize,
}

/// A request that found the store busy was not acknowledged; anything else that fails is wrong.
fn acknowledged<T>(told: &mut Told, outcome: Result<T, Fault>) -> Option<T> {
    match outcome {
        Ok(value) => {
            told.done += 1;
            Some(value)
        }
        Err(fault) => {
            assert_eq!(fault.code, Code::LockBusy, "{fault:?}");
            told.busy += 1;
            None
        }
    }
}

fn record(call: &Call, name: &str) -> Result<MemoryId, Fault> {
    let category = call.settings().categories.iter().find(|one| one.name() == "decision").unwrap();
    let target = call.records().target(&target(name), call.project().folder())?;
    let document = Document::parse(decision(&format!("Choice {name}")).to_string().as_bytes()).unwrap();
    call.records().create(&target, category, document, PERSON, &mut Said::default())?;
    Ok(MemoryId::parse(&format!("decision:{name}")).unwrap())
}

/// A sentence that is like no other: the vault refuses what it nearly has.
fn sentence(name: &str) -> String {
    const SYLLABLES: [&str; 16] = [
        "ka", "lo", "mi", "ru", "ten", "sol", "var", "dek", "pin", "gra", "hul", "bes", "tor", "nim", "fa",
        "quo",
    ];
    let hash = heirloom_core::hash::sha256(name.as_bytes());
    let syllables: Vec<&str> =
        hash.chars().take(24).filter_map(|c| Some(SYLLABLES[c.to_digit(16)? as usize])).collect();
    syllables.chunks(3).map(<[&str]>::concat).collect::<Vec<_>>().join(" ")
}

/// Out of use by one request and back by another, which names it by its number. Somebody else may be busy in between; then it stays out.
fn there_and_back(server: &Server, id: &MemoryId, told: &mut Told) {
    let ask = Move { ids: vec![id.to_string()], reason: Some("torture".into()) };
    if acknowledged(told, retire(&server.call(), &ask)).is_none() {
        return;
    }
    let Some(changes) = acknowledged(told, undo::of(&server.call(), id)) else { return };
    let number = Some(changes[0].number.clone());
    let call = server.call();
    if let Some(undone) = acknowledged(told, undo::undo(&call, &undo::Undo { number, dry_run: false })) {
        assert_eq!(undone.status, "undone", "{undone:?}");
        told.back.push(id.clone());
    }
}

/// A fact of a person's.
fn fact(server: &Server, name: &str, told: &mut Told) -> Option<MemoryId> {
    let fact = NewFact { text: sentence(&format!("fact {name}")), ..NewFact::default() };
    let stored = remember(&server.call(), &Remember { fact, yes: Yes::default() });
    match acknowledged(told, stored)? {
        Outcome::Done(added) => Some(added.id),
        // Something like it is known; that is no loss.
        Outcome::Waits(_) => None,
    }
}

/// One request of each kind.
fn round(server: &Server, thread: usize, n: usize, told: &mut Told) {
    let name = format!("own-{thread}-{n}");
    let call = server.call();
    if let Some(id) = acknowledged(told, record(&call, &name)) {
        if n % 4 == 3 {
            let gone = acknowledged(told, server.call().records().forget(&id, PERSON));
            if gone.is_some() { told.forgotten.push(id) } else { told.kept.push(id) }
        } else {
            told.kept.push(id);
        }
    }
    let mut lesson = Lesson::new(jiff::civil::date(2026, 1, 1 + (n % 28) as i8), &format!("Lesson {name}"));
    lesson.solution = format!("solution of {name}");
    let stored = server.call().topics().store("torture", &format!("part-{}", thread % 4), lesson, PERSON);
    let id = acknowledged(told, stored).map(|done| done.id);
    told.kept.extend(id);
    let note =
        NoteDraft::of(format!("Note {name}\n\nwords"), Moment::parse("2026-01-01T00:00:00Z").unwrap(), 3);
    let stored = server.call().notes().create(note, AGENT);
    let id = acknowledged(told, stored).map(|kept| kept.done.id);
    told.kept.extend(id);
    let mut state = Addition::new(sentence(&name));
    (state.tier, state.topic_id) = (REGISTER.to_owned(), Some(format!("state-{thread}")));
    let text = state.text.clone();
    let stored = server.call().vault().add(state, PERSON);
    if let Some(stored) = acknowledged(told, stored) {
        told.register = Some((stored.id, text));
    }
    if n % 6 == 2 {
        let record = told.kept.iter().rev().find(|id| id.kind().name() == "decision").cloned();
        let fact = fact(server, &name, told);
        told.kept.extend(fact.clone());
        for id in record.into_iter().chain(fact) {
            there_and_back(server, &id, told);
        }
    }
    // What waits is accepted by a person, or goes on waiting.
    if n % 6 == 4 {
        let addition = Addition::new(sentence(&format!("accepted {name}")));
        if let Err(fault) = server.call().vault().add(addition, AGENT)
            && fault.code == Code::NeedsConfirmation
        {
            let call = server.call();
            let key = fault.get("key").unwrap().to_owned();
            let item = call.inbox().unwrap().get(&key, call.project().world().now).unwrap();
            match acknowledged(told, accept_draft(&call, &shown(&call, item))) {
                Some(id) => told.stored.push(MemoryId::parse(&id).unwrap()),
                None => told.waiting.push(key),
            }
        }
    }
    // An agent's word about what everybody shares waits for a person.
    if n < 2 {
        match server.call().vault().add(Addition::new(sentence(&format!("canon {name}"))), AGENT) {
            Err(fault) if fault.code == Code::NeedsConfirmation => {
                told.waiting.push(fault.get("key").unwrap().to_owned());
                told.done += 1;
            }
            other => assert!(acknowledged(told, other).is_none(), "it should have waited"),
        }
    }
    let call = server.call();
    let stored = call.tiers().unwrap().add_episode(Turn::of(Role::User, format!("turn {name}")), PERSON);
    told.episodes += usize::from(acknowledged(told, stored).is_some());
    let accepted = format!("decision:accepted-{name}");
    if acknowledged(told, server.call().accept(&accepted, "hash")).is_some() {
        assert!(server.call().standing(&accepted, "hash").unwrap().accepted, "known at once");
        told.accepted.push(accepted);
    }
    let given =
        ledger::Given { id: format!("given-{name}"), version: "1".into(), score: 1.0, why: Vec::new() };
    let named = given.id.clone();
    let noted = ledger::note_given(server.call().project(), Some(&name), "torture", vec![given]);
    let given = acknowledged(told, noted).map(|()| named);
    told.given.extend(given);
    // Readers, which find whole files whatever the writers do.
    let call = server.call();
    match n % 4 {
        0 => drop(acknowledged(told, ShelfIndex::open(&call, Look::Quick))),
        1 => drop(acknowledged(told, call.tiers().unwrap().search("turn", None, 3))),
        2 => drop(acknowledged(told, call.records().list(&Listing::active()))),
        _ => {
            // No request of this process holds an index open for long, so this one takes locks from nobody.
            ShelfIndex::warm(&call, 1 << 20);
        }
    }
}

/// Runs the threads; they are not joined, so that one that waits for ever fails the test instead of stopping it.
fn torture(server: &Arc<Server>, until: Instant) -> Vec<Told> {
    let (send, receive) = mpsc::channel();
    for thread in 0..THREADS {
        let (server, send) = (Arc::clone(server), send.clone());
        std::thread::spawn(move || {
            let mut told = Told::default();
            for n in 0.. {
                round(&server, thread, n, &mut told);
                if Instant::now() >= until {
                    break;
                }
            }
            send.send(told).unwrap();
        });
    }
    drop(send);
    let wait = |_| receive.recv_timeout(length() + EVER).expect("every thread comes to its end");
    (0..THREADS).map(wait).collect()
}

fn nothing_is_lost(server: &Server, told: &[Told]) {
    let call = server.call();
    let shelves = call.shelves();
    let get = |id: &MemoryId| {
        let shelf = shelves.iter().find(|shelf| shelf.name() == id.kind().shelf()).unwrap();
        shelf.get(id).unwrap()
    };
    let lines = ledger::lines(call.project()).unwrap();
    let given: std::collections::HashSet<&str> =
        lines.iter().flat_map(|line| &line.given).map(|given| given.id.as_str()).collect();
    let now = call.project().world().now;
    for one in told {
        for id in &one.kept {
            assert!(get(id).is_some(), "{id} was acknowledged");
        }
        for id in &one.forgotten {
            assert!(get(id).is_none(), "{id} was forgotten");
            assert!(!call.is_vouched(id.as_str()).unwrap(), "{id} is still in the trust book");
        }
        for id in &one.accepted {
            assert!(call.standing(id, "hash").unwrap().accepted, "{id} was accepted");
        }
        for id in &one.given {
            assert!(given.contains(id.as_str()), "{id} was given");
        }
        for id in &one.back {
            assert_eq!(get(id).unwrap().status, heirloom_core::Status::Active, "{id} was taken back");
        }
        for id in &one.stored {
            let memory = get(id).unwrap();
            assert_eq!(memory.trust, heirloom_core::Trust::High, "{id} was accepted");
        }
        for key in &one.waiting {
            call.inbox().unwrap().get(key, now).unwrap();
        }
        if let Some((id, text)) = &one.register {
            assert_eq!(get(id).unwrap().body.trim(), text);
        }
        // What a person wrote is known to be a person's.
        let records = one.kept.iter().filter(|id| id.kind().name() == "decision");
        for memory in records.filter_map(get) {
            assert_eq!(memory.trust, heirloom_core::Trust::High, "{}", memory.id);
        }
    }
    let tiers = call.tiers().unwrap();
    let episodes: usize = told.iter().map(|one| one.episodes).sum();
    assert_eq!(server.store.counts(tiers.who()).unwrap().episodes, episodes as u64);
    tiers.verify_audit().unwrap();
    audit::verify(&call.project().local().unwrap().path("audit.jsonl")).unwrap();
}

fn tell(what: &str, told: &[Told], begun: Instant) {
    let sum = |of: fn(&Told) -> usize| told.iter().map(of).sum::<usize>();
    let (done, seconds) = (sum(|one| one.done), begun.elapsed().as_secs_f64());
    let (kept, accepted) = (sum(|one| one.kept.len()), sum(|one| one.accepted.len()));
    let fewest = told.iter().map(|one| one.done).min().unwrap_or_default();
    eprintln!(
        "{what}, {seconds:.1} s: {done} acknowledged requests ({:.0}/s, {fewest} of the slowest thread), {kept} memories, {accepted} acceptances, \
         {} changes taken back, {} drafts accepted, {} busy",
        done as f64 / seconds,
        sum(|one| one.back.len()),
        sum(|one| one.stored.len()),
        sum(|one| one.busy),
    );
}

#[test]
fn sixteen_threads_on_one_deployment_lose_nothing() {
    let env = TestEnv::ready();
    let server = Arc::new(Server::of(&env));
    let begun = Instant::now();
    let told = torture(&server, begun + length());
    tell(&format!("{THREADS} threads"), &told, begun);
    nothing_is_lost(&server, &told);
    env.run(&["audit", "verify"]).ok();
    assert_eq!(env.run(&["record", "index", "--validate"]).code, Some(0));
    assert_eq!(env.litter(), [""; 0]);
}

#[test]
fn sixteen_threads_beside_other_processes_lose_nothing() {
    let env = TestEnv::ready();
    env.run(&["config", "set", "max_memories_per_category", "1000000"]).ok();
    let server = Arc::new(Server::of(&env));
    let begun = Instant::now();
    let until = begun + length();
    let (told, written) = std::thread::scope(|scope| {
        let processes: Vec<_> = (0..PROCESSES)
            .map(|number| {
                let env = &env;
                scope.spawn(move || {
                    let mut written = Vec::new();
                    for n in 0.. {
                        let name = format!("process-{number}-{n}");
                        let ran = env.create(&name, &decision(&format!("Choice {name}")));
                        match ran.kind() {
                            "LOCK_BUSY" => {}
                            _ => {
                                ran.ok();
                                written.push(name);
                            }
                        }
                        env.run(&["search", "choice", "--json"]).ok();
                        if Instant::now() >= until {
                            break;
                        }
                    }
                    written
                })
            })
            .collect();
        let told = torture(&server, until);
        let written: Vec<Vec<String>> = processes.into_iter().map(|one| one.join().unwrap()).collect();
        (told, written)
    });
    tell(&format!("{THREADS} threads beside {PROCESSES} processes"), &told, begun);
    let counts: Vec<usize> = written.iter().map(Vec::len).collect();
    eprintln!("records of the processes: {counts:?}");
    nothing_is_lost(&server, &told);
    for name in written.iter().flatten() {
        assert_eq!(env.decision(name)["record_status"], "active", "{name}");
    }
    env.run(&["audit", "verify"]).ok();
    assert_eq!(env.run(&["record", "index", "--validate"]).code, Some(0));
}

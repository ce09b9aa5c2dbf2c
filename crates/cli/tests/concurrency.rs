//! Sixteen processes in one store at once: creating, updating with version tokens, retiring.
//!
//! Comes in: how long (`HEIRLOOM_STRESS_SECONDS`, three if it is not set). Goes out: nothing, if no acknowledged write is lost, the index is
//! valid and nothing is left over; the figures on stderr. `cargo xtask stress records --seconds 30` is the long run.

use crate::env::{HEIRLOOM, ROOT, Ran, TestEnv, decision, target};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Barrier;
use std::time::{Duration, Instant};

const WRITERS: usize = 16;
/// The record that everybody adds to.
const SHARED: &str = "shared";

/// What one writer was told had happened.
#[derive(Default)]
struct Told {
    /// Own records and whether they were retired.
    own: BTreeMap<String, bool>,
    /// Remarks that were added to the shared record.
    remarks: Vec<String>,
    conflicts: usize,
    acknowledged: usize,
}

fn length() -> Duration {
    let seconds = std::env::var("HEIRLOOM_STRESS_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(3))
}

#[test]
fn sixteen_writers_lose_no_update_and_leave_a_valid_index() {
    let env = TestEnv::new();
    let mut first = decision("Shared by everybody");
    first["content"]["consequences"] = json!([]);
    // Nobody ran `init`: the first writers also make the store.
    let start = Barrier::new(WRITERS);
    let begun = Instant::now();
    let told: Vec<Told> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|number| {
                let (env, start, first) = (&env, &start, &first);
                scope.spawn(move || {
                    start.wait();
                    // Exactly one of them wins; the others are told that it is there.
                    let ran = env.create(SHARED, first);
                    assert!(ran.code == Some(0) || ran.kind() == "CREATE_ERROR", "{ran:?}");
                    write(env, number, begun + length())
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    let seconds = begun.elapsed().as_secs_f64();
    let count = |of: fn(&Told) -> usize| told.iter().map(of).sum::<usize>();
    let acknowledged = count(|t| t.acknowledged);
    eprintln!(
        "{WRITERS} writers, {seconds:.1} s: {acknowledged} acknowledged writes ({:.0}/s), {} of them to one record, {} conflicts retried",
        acknowledged as f64 / seconds,
        count(|t| t.remarks.len()),
        count(|t| t.conflicts),
    );
    nothing_is_lost(&env, &told);
    everything_fits(&env, acknowledged);
}

fn write(env: &TestEnv, number: usize, until: Instant) -> Told {
    let mut told = Told::default();
    for round in 0.. {
        let name = format!("own-{number}-{round}");
        env.create(&name, &decision(&format!("Own choice {number} {round}"))).ok();
        told.own.insert(name.clone(), false);
        told.acknowledged += 1;
        let remark = format!("remark {number}.{round}");
        told.conflicts += add_remark(env, &remark);
        told.remarks.push(remark);
        told.acknowledged += 1;
        if round % 2 == 0 {
            env.run(&["record", "write", "--action", "delete", "--target", &target(&name)]).ok();
            told.own.insert(name, true);
            told.acknowledged += 1;
        }
        if Instant::now() >= until {
            break;
        }
    }
    told
}

/// Reads, changes and writes back until nobody came between. Returns how often somebody did.
fn add_remark(env: &TestEnv, remark: &str) -> usize {
    for conflicts in 0.. {
        let bytes = std::fs::read(env.project().join(target(SHARED))).unwrap();
        let mut document: Value = serde_json::from_slice(&bytes).expect("a reader sees a whole file");
        document["content"]["consequences"].as_array_mut().unwrap().push(json!(remark));
        let mut changes = document["changes"].as_array().cloned().unwrap_or_default();
        changes.push(json!({ "date": "2026-02-01", "summary": remark }));
        document["changes"] = json!(changes);
        let hash = heirloom_core::hash::sha256(&bytes);
        let ran = update(env, &document, &hash);
        match ran.kind() {
            "OCC_CONFLICT" => {}
            // Read before one write, compared after another that used up the room for change entries.
            "MERGE_ERROR" => {}
            _ => {
                ran.ok();
                return conflicts;
            }
        }
    }
    unreachable!("the loop ends with a write")
}

fn update(env: &TestEnv, document: &Value, hash: &str) -> Ran {
    let (place, input) = (target(SHARED), env.input(document));
    env.run(&["record", "write", "--action", "update", "--target", &place, "--input", &input, "--hash", hash])
}

fn nothing_is_lost(env: &TestEnv, told: &[Told]) {
    let shared = env.decision(SHARED);
    let kept: Vec<&str> =
        shared["content"]["consequences"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let promised: usize = told.iter().map(|t| t.remarks.len()).sum();
    assert_eq!(kept.len(), promised, "every acknowledged remark is there once");
    assert_eq!(shared["times_updated"], promised);
    for one in told {
        assert!(one.remarks.iter().all(|remark| kept.contains(&remark.as_str())));
        for (name, retired) in &one.own {
            let status = if *retired { "retired" } else { "active" };
            assert_eq!(env.decision(name)["record_status"], status, "{name}");
        }
    }
}

fn everything_fits(env: &TestEnv, acknowledged: usize) {
    let valid = env.run(&["record", "index", "--validate"]);
    assert_eq!(valid.code, Some(0), "{}", valid.stdout);
    assert_eq!(env.litter(), [""; 0]);
    let whole = env.run(&["audit", "verify", "--json"]).ok().json();
    // One line per acknowledged write, and one for the shared record.
    assert_eq!(whole["entries"], acknowledged + 1);
    // Nobody holds the lock any more.
    let lock = std::fs::File::open(env.project().join(ROOT).join(".local/lock")).unwrap();
    lock.try_lock().unwrap();
}

#[test]
fn a_held_lock_makes_a_writer_wait_and_then_refuse_without_a_trace() {
    let env = TestEnv::ready();
    let lock = std::fs::File::open(env.memory(".local/lock"))
        .or_else(|_| std::fs::File::create(env.memory(".local/lock")));
    let lock = lock.unwrap();
    lock.lock().unwrap();
    let before = env.files_below(&env.project());
    let ran = env.create("fresh", &decision("A fresh choice"));
    assert_eq!((ran.code, ran.kind()), (Some(5), "LOCK_BUSY"), "{ran:?}");
    assert!(ran.stdout.contains("fix: try again"));
    assert_eq!(env.files_below(&env.project()), before);
    lock.unlock().unwrap();
    env.create("fresh", &decision("A fresh choice")).ok();
}

#[test]
fn a_waiting_writer_gets_its_turn_when_the_lock_is_given_back() {
    let env = TestEnv::ready();
    env.create("first", &decision("The first choice")).ok();
    let lock = std::fs::File::open(env.memory(".local/lock")).unwrap();
    lock.lock().unwrap();
    let (place, input) = (target("fresh"), env.input(&decision("A fresh choice")));
    let mut waiting = env
        .command(HEIRLOOM)
        .args(["record", "write", "--action", "create", "--category", "decision"])
        .args(["--target", &place, "--input", &input])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert!(waiting.try_wait().unwrap().is_none(), "it waits");
    drop(lock);
    assert!(waiting.wait().unwrap().success());
    assert_eq!(env.decision("fresh")["title"], "A fresh choice");
}

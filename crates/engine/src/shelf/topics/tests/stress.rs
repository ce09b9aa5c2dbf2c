//! Many processes, and processes that die.

use super::*;
use crate::files::step;
use crate::shelf::topics::page::Page;
use crate::shelf::{Listing, Shelf};
use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

const WRITER: &str = "shelf::topics::tests::stress::writer_child";

/// Stores until told to stop; each acknowledged id goes to a file of its own. Run by the tests below.
#[test]
#[ignore = "is a process that other tests start"]
#[allow(clippy::disallowed_methods, reason = "a test process is told what to do through its environment")]
fn writer_child() {
    let Some(base) = std::env::var_os("HEIRLOOM_TEST_DESK") else { return };
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let (who, millis) = (number("HEIRLOOM_TEST_WHO").unwrap(), number("HEIRLOOM_TEST_MILLIS").unwrap());
    static DIE_AT: OnceLock<String> = OnceLock::new();
    if let Ok(at) = std::env::var("HEIRLOOM_TEST_DIE_AT") {
        DIE_AT.set(at).unwrap();
        step::observe(|step| {
            if DIE_AT.get().is_some_and(|at| at == step) {
                std::process::abort();
            }
        });
    }
    let base = PathBuf::from(base);
    let acknowledged = base.join(format!("acknowledged-{who}"));
    let end = Instant::now() + Duration::from_millis(millis);
    let mut n = 0;
    while n == 0 || Instant::now() < end {
        let call = engine_at(&base, json!({}), "2026-01-20T12:00:00Z");
        let year = 2023 + (n + who) % 4;
        let mut entry = lesson(&format!("{year}-01-{:02}", 1 + n % 28), &format!("Shared {}", n % 3));
        entry.solution = format!("{who}/{n} {}", "x".repeat((n as usize * 37) % 900));
        match Topics::new(&call).store("t", "s", entry.clone(), person()) {
            Ok(done) => {
                let line = json!([done.id.as_str(), entry.solution]).to_string();
                crate::files::append_line(&acknowledged, &line, crate::files::Mode::Private).unwrap();
            }
            Err(fault) => assert_eq!(fault.code, heirloom_core::Code::LockBusy, "{fault:?}"),
        }
        n += 1;
    }
}

fn start(base: &Path, who: u64, millis: u64, die_at: Option<&str>) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--quiet", "--ignored", "--exact", WRITER])
        .env("HEIRLOOM_TEST_DESK", base)
        .env("HEIRLOOM_TEST_WHO", who.to_string())
        .env("HEIRLOOM_TEST_MILLIS", millis.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if let Some(step) = die_at {
        command.env("HEIRLOOM_TEST_DIE_AT", step);
    }
    command.spawn().unwrap()
}

/// Every acknowledged store, by id.
fn acknowledged(base: &Path) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for who in 0..8 {
        let Ok(text) = std::fs::read_to_string(base.join(format!("acknowledged-{who}"))) else { continue };
        for line in text.lines() {
            let (id, solution): (String, String) = serde_json::from_str(line).unwrap();
            assert!(out.insert(id.clone(), solution).is_none(), "{id} was given twice");
        }
    }
    out
}

fn eight_processes(millis: u64) -> usize {
    let desk = Desk::new();
    // The first store makes the folders, so that all eight start alike.
    start(&desk.path(), 0, 0, None).wait().unwrap();
    let children: Vec<Child> = (0..8).map(|who| start(&desk.path(), who, millis, None)).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let call = desk.call();
    let topics = Topics::new(&call);
    let found: BTreeMap<String, String> = topics
        .list(&Listing::everything())
        .unwrap()
        .into_iter()
        .map(|m| (m.id.as_str().to_owned(), m.body))
        .collect();
    let stored = acknowledged(&desk.path());
    for (id, solution) in &stored {
        let body = found.get(id).unwrap_or_else(|| panic!("{id} is lost"));
        assert!(body.contains(&format!("**Solution:** {}", solution.trim_end())), "{id}");
    }
    assert_eq!(found.len(), stored.len(), "nothing is there that nobody stored");
    assert_eq!(topics.verify().unwrap(), []);
    let page = Page::read(read(&desk.topics_folder().join("t/s.md")));
    assert!(page.spots().len() <= MAX_ENTRIES && page.text().len() <= MAX_BYTES);
    stored.len()
}

#[test]
fn eight_processes_storing_into_one_file_under_prune_lose_nothing() {
    assert!(eight_processes(700) >= 8);
}

#[test]
#[ignore = "takes 30 seconds"]
fn eight_processes_storing_for_thirty_seconds_lose_nothing() {
    let stored = eight_processes(30_000);
    assert!(stored > 100, "{stored}");
}

#[test]
fn a_process_that_dies_at_any_step_loses_and_doubles_nothing() {
    for step in
        ["temp-created", "temp-synced", "renamed", "archive-stored", "page-stored", "index-stored", "audited"]
    {
        let desk = Desk::new();
        let call = desk.call();
        let topics = Topics::new(&call);
        let mut stored = Vec::new();
        for n in 0..10 {
            let date = format!("2022-01-{:02}", n + 1);
            stored.push(topics.store("t", "s", lesson(&date, &format!("Nr {n}")), person()).unwrap().id);
        }
        // The child's store is the eleventh: it moves one entry to the archive and dies on the way.
        start(&desk.path(), 0, 0, Some(step)).wait().unwrap();
        let all = |topics: &Topics<'_>| -> Vec<_> {
            topics.list(&Listing::everything()).unwrap().into_iter().map(|m| m.id).collect()
        };
        let after = all(&topics);
        for id in &stored {
            assert_eq!(after.iter().filter(|found| *found == id).count(), 1, "{step}: {id}");
        }
        let next = topics.store("t", "s", lesson("2026-01-19", "After the crash"), person()).unwrap().id;
        stored.push(next);
        let after = all(&topics);
        for id in &stored {
            assert_eq!(after.iter().filter(|found| *found == id).count(), 1, "{step}: {id}");
        }
        assert!(after.len() <= 12, "{step}");
        let archive = read(&desk.topics_folder().join("archive/t/2022.md"));
        let live = read(&desk.topics_folder().join("t/s.md"));
        for n in 0..10 {
            let heading = format!(": Nr {n}\n");
            assert_eq!(
                archive.matches(&heading).count() + live.matches(&heading).count(),
                1,
                "{step}: Nr {n}"
            );
        }
        topics.repair().unwrap();
        assert_eq!(topics.verify().unwrap(), [], "{step}");
    }
}

//! Writers and servers that are killed in the middle of two thousand acknowledged writes.
//!
//! Comes in: a backend. Goes out: nothing, if each acknowledged write is there afterwards and whoever goes on connects again by itself.

use crate::pooler::Pooler;
use crate::server::{Release, Server};
use crate::story::set_up;
use heirloom_core::Code;
use heirloom_engine::shelf::tiers::story::{OWNER, Stage, tiers};
use heirloom_engine::shelf::tiers::{Role, SqliteStore, TierStore, Turn};
use heirloom_postgres::PgStore;
use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const WRITES: usize = 2_000;

fn turn(n: usize) -> Turn {
    Turn {
        session: Some("s".to_owned()),
        message: Some(n.to_string()),
        ..Turn::of(Role::User, format!("turn {n}"))
    }
}

/// Every id a user has.
fn there(stage: &Stage) -> HashSet<String> {
    let call = stage.of("ada");
    tiers(&call).newest(None, None, None, usize::MAX).unwrap().into_iter().map(|memory| memory.id).collect()
}

#[test]
fn a_killed_server_backend_or_pooler_loses_no_acknowledged_write_and_the_writer_goes_on() {
    let mut server = Server::start(Release::Sixteen, &[]);
    set_up(&server, "kill");
    let mut pooler = Pooler::before(&server, "");
    let address = pooler.address("127.0.0.1", "kill", "sslmode=disable");
    let folder = tempfile::tempdir().unwrap();
    let acknowledged = AtomicUsize::new(0);
    let ids: HashSet<String> = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let stage = Stage::new(Arc::new(PgStore::at(&address).unwrap()), folder.path());
            let call = stage.of("ada");
            let mut ids = HashSet::new();
            let began = std::time::Instant::now();
            while ids.len() < WRITES {
                match tiers(&call).add_episode(turn(ids.len()), OWNER) {
                    Ok(kept) => {
                        ids.insert(kept.stored.id);
                        acknowledged.store(ids.len(), Ordering::Relaxed);
                    }
                    // The write was not acknowledged; it may be there or not, and is made again under the same id.
                    Err(fault) => {
                        assert!(fault.code == Code::Unavailable, "{fault:?}");
                        std::thread::sleep(std::time::Duration::from_millis(20));
                        assert!(began.elapsed().as_secs() < 200, "it does not come back: {fault:?}");
                    }
                }
            }
            ids
        });
        for at in [400, 900, 1_500] {
            while acknowledged.load(Ordering::Relaxed) < at && !writer.is_finished() {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            match at {
                900 => server.kill_backend("heirloom_app"),
                1_500 => {
                    pooler.kill();
                    pooler.again();
                }
                _ => server.kill(),
            }
            server.run();
        }
        writer.join().unwrap()
    });
    let stage = Stage::new(Arc::new(PgStore::at(&address).unwrap()), folder.path());
    assert_eq!(there(&stage), ids, "each acknowledged write is there, once");
    tiers(&stage.of("ada")).verify_audit().unwrap();
}

/// The process that is killed: writes until it is, and says the id of each acknowledged write.
#[test]
#[ignore = "the other half of the tests of killed writers, which start it"]
fn writer() {
    let at = |name: &str| std::env::var(name).unwrap();
    let folder = at("HEIRLOOM_TEST_FOLDER");
    let store: Arc<dyn TierStore> = match at("HEIRLOOM_TEST_ADDRESS").as_str() {
        "" => Arc::new(SqliteStore::at(&Path::new(&folder).join("tiers"))),
        address => Arc::new(PgStore::at(address).unwrap()),
    };
    let call = Stage::new(store, Path::new(&folder)).of("ada");
    for n in 0.. {
        let id = tiers(&call).add_episode(turn(n), OWNER).unwrap().stored.id;
        let mut out = std::io::stdout().lock();
        writeln!(out, "id={id}").and_then(|()| out.flush()).unwrap();
    }
}

/// Starts a writer and kills it once it has acknowledged enough.
fn killed_writer(address: &str, folder: &Path) -> HashSet<String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::writer", "--ignored", "--nocapture"])
        .env("HEIRLOOM_TEST_ADDRESS", address)
        .env("HEIRLOOM_TEST_FOLDER", folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let id = |line: std::io::Result<String>| line.unwrap().split_once("id=").map(|(_, id)| id.to_owned());
    let mut ids: HashSet<String> = lines.by_ref().filter_map(id).take(WRITES).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    // What it had said before the signal came counts too; a line cut short does not.
    ids.extend(lines.filter_map(id).filter(|id| id.len() == "episode:00000000000-000000-000000000000".len()));
    assert!(ids.len() >= WRITES);
    ids
}

#[test]
fn a_killed_writer_loses_nothing_it_acknowledged_on_postgres() {
    let server = Server::start(Release::Sixteen, &["fsync=off"]);
    let address = set_up(&server, "writer");
    let folder = tempfile::tempdir().unwrap();
    let ids = killed_writer(&address, folder.path());
    let stage = Stage::new(Arc::new(PgStore::at(&address).unwrap()), folder.path());
    assert!(there(&stage).is_superset(&ids));
    tiers(&stage.of("ada")).verify_audit().unwrap();
}

#[test]
fn a_killed_writer_loses_nothing_it_acknowledged_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let ids = killed_writer("", folder.path());
    let stage = Stage::new(Arc::new(SqliteStore::at(&folder.path().join("tiers"))), folder.path());
    assert!(there(&stage).is_superset(&ids));
    let call = stage.of("ada");
    tiers(&call).verify_audit().unwrap();
    let found = tiers(&call).search("turn", None, 10_000).unwrap();
    assert!(found.len() >= ids.len(), "the index caught up with what was written");
}

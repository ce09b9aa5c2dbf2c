//! The story that SQLite tells, told by PostgreSQL 16 and 18, and by the server that HEIRLOOM_TEST_POSTGRES_URL names.

use crate::server::{Release, Server};
use heirloom_engine::shelf::tiers::story::{KEEPER, KEEPER_TOKEN, moment, tell};
use heirloom_engine::shelf::tiers::{SqliteStore, TierStore, token_hash};
use heirloom_postgres::team::{Founding, Team};
use heirloom_postgres::{Address, Outside, PgStore};
use std::cell::Cell;
use std::sync::Arc;

/// What makes a server that nobody will miss quicker.
pub(crate) const CARELESS: &[&str] = &["fsync=off", "full_page_writes=off"];

/// The user that a story begins with.
pub(crate) fn founding() -> Founding {
    Founding {
        user: KEEPER.to_owned(),
        token_hash: token_hash(KEEPER_TOKEN),
        citus: false,
        app_role: None,
        now: moment("2026-02-28T00:00:00Z"),
    }
}

pub(crate) fn team(address: &str) -> Team {
    Team::at(&Address::parse(address, &Outside::default()).unwrap()).unwrap()
}

/// A database that an operator set up; its address for the application.
pub(crate) fn set_up(server: &Server, name: &str) -> String {
    team(&server.database(name)).init(&founding()).unwrap();
    server.address("heirloom_app", name)
}

fn told_by(release: Release) {
    let server = Server::start(release, CARELESS);
    let folder = tempfile::tempdir().unwrap();
    let count = Cell::new(0);
    let make = || -> Arc<dyn TierStore> {
        count.set(count.get() + 1);
        Arc::new(PgStore::at(&set_up(&server, &format!("story{}", count.get()))).unwrap())
    };
    tell(&make, &make, folder.path());
}

#[test]
fn postgres_sixteen_tells_the_whole_story() {
    told_by(Release::Sixteen);
}

#[test]
fn postgres_eighteen_tells_the_whole_story() {
    told_by(Release::Eighteen);
}

/// The database in HEIRLOOM_TEST_POSTGRES_URL is for tests alone: its schema `heirloom` is dropped and made again for each part of the story. The address
/// is that of an operator. With HEIRLOOM_TEST_CITUS=1 the tables are distributed.
#[test]
fn the_server_that_is_named_tells_the_whole_story() {
    let Ok(address) = std::env::var("HEIRLOOM_TEST_POSTGRES_URL") else { return };
    let citus = std::env::var("HEIRLOOM_TEST_CITUS").is_ok_and(|word| word == "1");
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let run = |statements: &str| {
        runtime.block_on(async {
            let (client, connection) =
                tokio_postgres::connect(&address, tokio_postgres::NoTls).await.unwrap();
            tokio::spawn(connection);
            client.batch_execute(statements).await.unwrap();
        });
    };
    const PASSWORD: &str = "only-for-the-story";
    let (before, at) = address.split_once('@').unwrap();
    let scheme = before.split_once("://").unwrap().0;
    let app = format!("{scheme}://heirloom_app:{PASSWORD}@{at}");
    let make = || -> Arc<dyn TierStore> {
        run("drop schema if exists heirloom cascade");
        team(&address).init(&Founding { citus, ..founding() }).unwrap();
        run(&format!("alter role heirloom_app password '{PASSWORD}'"));
        Arc::new(PgStore::at(&app).unwrap())
    };
    let count = Cell::new(0);
    let other = || -> Arc<dyn TierStore> {
        count.set(count.get() + 1);
        Arc::new(SqliteStore::at(&folder.path().join(format!("other{}", count.get()))))
    };
    tell(&make, &other, folder.path());
}

//! The story that SQLite tells, told by PostgreSQL 16 and 18.

use crate::server::{Release, Server};
use heirloom_engine::shelf::tiers::TierStore;
use heirloom_engine::shelf::tiers::story::tell;
use heirloom_postgres::PgStore;
use std::cell::Cell;
use std::sync::Arc;

/// What makes a server that nobody will miss quicker.
pub(crate) const CARELESS: &[&str] = &["fsync=off", "full_page_writes=off"];

fn told_by(release: Release) {
    let server = Server::start(release, CARELESS);
    let folder = tempfile::tempdir().unwrap();
    let count = Cell::new(0);
    let make = || -> Arc<dyn TierStore> {
        count.set(count.get() + 1);
        Arc::new(PgStore::at(&server.database(&format!("story{}", count.get()))).unwrap())
    };
    tell(&make, folder.path());
}

#[test]
fn postgres_sixteen_tells_the_whole_story() {
    told_by(Release::Sixteen);
}

#[test]
fn postgres_eighteen_tells_the_whole_story() {
    told_by(Release::Eighteen);
}

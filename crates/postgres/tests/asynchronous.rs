//! The store on threads of somebody else's asynchronous runtime, where waiting in the wrong way is a panic.

use crate::server::{Release, Server};
use crate::story::{CARELESS, set_up};
use heirloom_core::Code;
use heirloom_engine::shelf::tiers::story::{OWNER, Stage, tiers};
use heirloom_engine::shelf::tiers::{Role, TierStore as _, Turn};
use heirloom_postgres::PgStore;
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};

/// A runtime with several threads, and one that has none but the caller's.
fn runtimes() -> [Runtime; 2] {
    [
        Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap(),
        Builder::new_current_thread().enable_all().build().unwrap(),
    ]
}

#[test]
fn an_asynchronous_thread_is_told_that_nobody_answers_instead_of_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let nobody = folder.path().display().to_string().replace('/', "%2F");
    for runtime in runtimes() {
        let address = format!("postgres://keeper@{nobody}/none");
        let task = runtime.spawn(async move {
            let store = PgStore::at(&address).unwrap();
            // The store, and with it its runtime, is dropped on this thread too.
            store.reach().unwrap_err().code
        });
        assert_eq!(runtime.block_on(task).unwrap(), Code::Unavailable);
    }
}

#[test]
fn an_asynchronous_thread_writes_and_reads() {
    let server = Server::start(Release::Sixteen, CARELESS);
    for (n, runtime) in runtimes().into_iter().enumerate() {
        let address = set_up(&server, &format!("asynchronous{n}"));
        let folder = tempfile::tempdir().unwrap();
        let stage = Arc::new(Stage::new(Arc::new(PgStore::at(&address).unwrap()), folder.path()));
        let tasks: Vec<_> = (0..4)
            .map(|who| {
                let stage = Arc::clone(&stage);
                runtime.spawn(async move {
                    let call = stage.of(&format!("user{who}"));
                    // More statements than a task may await in one go before it has to let others have a turn.
                    for turn in 0..40 {
                        let turn = Turn::of(Role::User, format!("turn {turn} of the long walk"));
                        tiers(&call).add_episode(turn, OWNER).unwrap();
                    }
                    stage.store.counts(tiers(&call).who()).unwrap().episodes
                })
            })
            .collect();
        for task in tasks {
            assert_eq!(runtime.block_on(task).unwrap(), 40);
        }
        drop(stage);
    }
}

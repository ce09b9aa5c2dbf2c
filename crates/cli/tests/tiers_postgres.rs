//! The command line on PostgreSQL: the same commands, the same answers, and archives between the two databases.

use crate::env::{HEIRLOOM, TestEnv, finish};
use crate::server::{Release, Server};

const CARELESS: &[&str] = &["fsync=off", "full_page_writes=off"];

#[test]
fn the_commands_answer_on_postgres_as_on_sqlite() {
    let server = Server::start(Release::Eighteen, CARELESS);
    let address = server.database("cli");
    let mut env = TestEnv::new();
    let turn = env.run(&["add", "episode", "We spoke about the harvest", "--json"]).ok().json()["id"].clone();
    let fact = env.at_terminal(&["remember", "I like tea", "--json"], "").ok().json()["id"].clone();
    let archive = env.run(&["export", "--shelf", "tiers"]).ok().stdout;

    // From SQLite to PostgreSQL is export | import; the seal of this data folder vouches for it.
    let brought =
        env.run_with(&["--database", &address, "import", "-", "--json"], archive.as_bytes()).ok().json();
    assert_eq!((&brought["added"], &brought["unsealed_chunks"]), (&2.into(), &0.into()), "{brought}");
    let sqlite = env.run(&["list", "--tier", "semantic", "--json"]).ok().items();
    env.set("HEIRLOOM_DATABASE_URL", &address);
    assert_eq!(env.run(&["list", "--tier", "semantic", "--json"]).ok().items(), sqlite);
    let shown = env.run(&["show", turn.as_str().unwrap(), "--json"]).ok().json();
    assert_eq!(shown["body"], "We spoke about the harvest");
    let hits = env.run(&["search", "--tier", "all", "harvest", "--json"]).ok().items();
    assert_eq!(hits[0]["id"], turn);
    env.run(&["remember", "I live in Graz"]).fails_with("NEEDS_CONFIRMATION", 4);
    let again = env.run_with(&["import", "-", "--json"], archive.as_bytes()).ok().json();
    assert_eq!((&again["added"], &again["known"]), (&0.into(), &2.into()));
    env.run(&["audit", "verify"]).ok();
    env.at_terminal(&["user", "add", "anna"], "").ok();
    let token = env.at_terminal(&["user", "token", "anna", "--json"], "").ok().json()["token"].clone();
    let as_anna = |args: &[&str]| {
        finish(env.command(HEIRLOOM).args(args).env("HEIRLOOM_TOKEN", token.as_str().unwrap()))
    };
    as_anna(&["show", turn.as_str().unwrap()]).fails_with("NOT_FOUND", 3);
    assert_eq!(
        as_anna(&["audit", "--tiers", "--event", "access_refused", "--json"])
            .ok()
            .json()
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let gone = env.at_terminal(&["forget", fact.as_str().unwrap(), "--yes", "--shred"], "").ok();
    assert!(gone.stderr.contains("backups"), "what cannot be reached is said: {gone:?}");
    env.at_terminal(&["clear", "all", "--yes", "--json"], "").ok();
    assert_eq!(env.run(&["list", "--tier", "episodic", "--json"]).ok().items().as_array().unwrap().len(), 0);
    env.run(&["expire"]).ok();
    drop(server);
    env.run(&["list", "--tier", "episodic"]).fails_with("DATABASE_UNAVAILABLE", 5);
    assert!(env.run(&["list"]).ok().stderr.contains("PostgreSQL"), "files are read without the database");
}

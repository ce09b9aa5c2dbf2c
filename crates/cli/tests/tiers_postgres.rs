//! The command line on PostgreSQL: an operator sets it up, nobody is anybody without a token, and the commands answer as on SQLite.

use crate::env::{HEIRLOOM, Ran, TestEnv, finish};
use crate::server::{Release, Server};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;

const CARELESS: &[&str] = &["fsync=off", "full_page_writes=off"];

/// A database that was set up by `team init`, and the token it printed.
pub(crate) fn team(env: &TestEnv, server: &Server, name: &str) -> (String, String) {
    let operator = server.database(name);
    let done = env.run(&["team", "init", "--admin-url", &operator, "--user", "root", "--json"]).ok().json();
    assert_eq!((&done["version"], &done["user"]), (&6.into(), &"root".into()), "{done}");
    (server.address("heirloom_app", name), done["token"].as_str().unwrap().to_owned())
}

#[test]
fn the_commands_answer_on_postgres_as_on_sqlite() {
    let server = Server::start(Release::Eighteen, CARELESS);
    let mut env = TestEnv::new();
    let (address, admin) = team(&env, &server, "cli");
    let turn = env.run(&["add", "episode", "We spoke about the harvest", "--json"]).ok().json()["id"].clone();
    let fact = env.at_terminal(&["remember", "I like tea", "--json"], "").ok().json()["id"].clone();
    let sqlite = env.run(&["list", "--tier", "semantic", "--json"]).ok().items();
    let archive = env.run(&["export", "--shelf", "tiers"]).ok().stdout;

    // From SQLite to PostgreSQL is export | import; the seal of this data folder vouches for it.
    env.set("HEIRLOOM_DATABASE_URL", &address).set("HEIRLOOM_TOKEN", &admin);
    let brought = env.run_with(&["import", "-", "--json"], archive.as_bytes()).ok().json();
    assert_eq!((&brought["added"], &brought["unsealed_chunks"]), (&2.into(), &0.into()), "{brought}");
    assert_eq!(env.run(&["list", "--tier", "semantic", "--json"]).ok().items(), sqlite);
    env.run(&["audit", "verify"]).ok();
    let shown = env.run(&["show", turn.as_str().unwrap(), "--json"]).ok().json();
    assert_eq!(shown["body"], "We spoke about the harvest");
    let hits = env.run(&["search", "--tier", "all", "harvest", "--json"]).ok().items();
    assert_eq!(hits[0]["id"], turn);
    let again = env.run_with(&["import", "-", "--json"], archive.as_bytes()).ok().json();
    assert_eq!((&again["added"], &again["known"]), (&0.into(), &2.into()));
    // What waits lies in the database, and a person accepts it by the SHA-256 of the draft.
    env.at_terminal(&["user", "add", "anna"], "").ok();
    let token = env.at_terminal(&["user", "token", "anna", "--json"], "").ok().json()["token"].clone();
    let token = token.as_str().unwrap();
    let as_anna = |args: &[&str]| finish(env.command(HEIRLOOM).args(args).env("HEIRLOOM_TOKEN", token));
    as_anna(&["remember", "I live in Graz"]).fails_with("NEEDS_CONFIRMATION", 4);
    assert_eq!(server.sql("cli", "select count(*) from heirloom.draft where user_id = 'anna'"), "1");
    as_anna(&["show", turn.as_str().unwrap()]).fails_with("NOT_FOUND", 3);
    let refused = as_anna(&["audit", "--tiers", "--event", "access_refused", "--json"]).ok().json();
    assert_eq!(refused.as_array().unwrap().len(), 1);
    // Her own archive comes with her, though the account that wrote it has another name.
    let brought = {
        let file = env.scratch().join("own.jsonl");
        std::fs::write(&file, &archive).unwrap();
        as_anna(&["import", file.to_str().unwrap(), "--json"]).ok().json()
    };
    assert_eq!(brought["added"], 2, "{brought}");
    // A token that only reads and writes adds no users, and removes nothing for good.
    as_anna(&["user", "add", "eve"]).fails_with("SECURITY_ERROR", 1);
    as_anna(&["forget", turn.as_str().unwrap(), "--yes"]).fails_with("SECURITY_ERROR", 1);
    as_anna(&["export", "--shelf", "tiers", "--all-users"]).fails_with("SECURITY_ERROR", 1);
    let gone = env.run(&["forget", fact.as_str().unwrap(), "--yes", "--shred"]).ok();
    assert!(gone.stderr.contains("team shred"), "what cannot be reached is said: {gone:?}");
    env.run(&["expire"]).ok();
    env.at_terminal(&["user", "remove", "anna", "--yes"], "").ok();
    as_anna(&["list"]).fails_with("UNAUTHENTICATED", 1);
    assert_eq!(server.sql("cli", "select count(*) from heirloom.memory where user_id = 'anna'"), "0");
    drop(server);
    env.run(&["list", "--tier", "episodic"]).fails_with("DATABASE_UNAVAILABLE", 5);
    assert!(env.run(&["list"]).ok().stderr.contains("PostgreSQL"), "files are read without the database");
}

#[test]
fn without_a_token_nobody_is_anybody_in_a_shared_database() {
    let server = Server::start(Release::Sixteen, CARELESS);
    let mut env = TestEnv::ready();
    let (address, admin) = team(&env, &server, "identity");
    let with = |env: &TestEnv, args: &[&str], variables: &[(&str, &str)]| -> Ran {
        let mut command = env.command(HEIRLOOM);
        command.args(args).envs(variables.iter().copied());
        finish(&mut command)
    };
    let url = [("HEIRLOOM_DATABASE_URL", address.as_str())];
    let needs: [&[&str]; 8] = [
        &["list", "--tier", "semantic"],
        &["export", "--shelf", "tiers", "--all-users"],
        &["user", "list"],
        &["user", "add", "eve"],
        &["user", "token", "root"],
        &["expire"],
        &["remember", "I am root"],
        &["audit", "--tiers"],
    ];
    for args in needs {
        with(&env, args, &url).fails_with("UNAUTHENTICATED", 1);
        let empty = [url[0], ("HEIRLOOM_TOKEN", "")];
        with(&env, args, &empty).fails_with("UNAUTHENTICATED", 1);
        let named = [url[0], ("HEIRLOOM_TOKEN", "root"), ("USER", "root"), ("LOGNAME", "root")];
        with(&env, args, &named).fails_with("UNAUTHENTICATED", 1);
    }
    // A file with the token, which nobody else may be able to read.
    let file = env.home().join("token");
    std::fs::write(&file, format!("{admin}\n")).unwrap();
    let args = ["user", "list", "--json", "--token-file", file.to_str().unwrap()];
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    with(&env, &args, &url).fails_with("SECURITY_ERROR", 1);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(with(&env, &args, &url).ok().json()[0]["user"], "root");
    // The user's own file has both; its token goes to its database only.
    let own = env.home().join("config/heirloom/team.json");
    std::fs::create_dir_all(own.parent().unwrap()).unwrap();
    std::fs::write(&own, serde_json::json!({ "database": address, "token": admin }).to_string()).unwrap();
    std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(env.run(&["user", "list", "--json"]).ok().json()[0]["user"], "root");
    let other = [("HEIRLOOM_DATABASE_URL", "postgres://heirloom_app@127.0.0.1:1/x")];
    with(&env, &["user", "list"], &other).fails_with("UNAUTHENTICATED", 1);
    std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o640)).unwrap();
    env.run(&["user", "list"]).fails_with("SECURITY_ERROR", 1);
    std::fs::remove_file(&own).unwrap();
    // A password that is typed is seen by others: it works, with a warning.
    env.set("HEIRLOOM_TOKEN", &admin);
    let typed = address.replace("heirloom_app@", "heirloom_app:secret@");
    let ran = env.run(&["--database", &typed, "user", "list"]).ok();
    assert!(ran.stderr.contains("other accounts") && !ran.stderr.contains("secret"), "{ran:?}");
    // Operators look and index; anybody else is told what is missing.
    let status = env
        .run(&["team", "status", "--admin-url", &server.address("keeper", "identity"), "--json"])
        .ok()
        .json();
    assert_eq!((&status["version"], &status["found"]["admins"]), (&6.into(), &1.into()), "{status}");
    let fits = |name: &str, answer: &Value| {
        let schemas = heirloom_postgres::team::answers();
        let (_, schema) = schemas.iter().find(|(of, _)| *of == name).unwrap();
        assert_eq!(crate::answers::misfit(schema, answer, name), None);
    };
    fits("team-status", &status);
    env.run(&["team", "status"]).fails_with("USAGE", 2);
    let again = env
        .run(&["team", "init", "--admin-url", &server.address("keeper", "identity"), "--json"])
        .ok()
        .json();
    assert!(again["token"].is_null(), "{again}");
    fits("team-init", &again);
    let printed = env.run(&["team", "init", "--print-sql", "--user", "root"]).ok();
    assert!(
        printed.stdout.contains("force row level security") && !printed.stdout.contains("hlm_"),
        "{printed:?}"
    );
    assert!(printed.stderr.contains("hlm_"));
}

#[cfg(feature = "server")]
#[test]
fn a_server_on_a_shared_database_needs_no_token_of_its_own_and_says_what_the_database_says() {
    let database = Server::start(Release::Sixteen, CARELESS);
    let mut env = TestEnv::new();
    let (address, admin) = team(&env, &database, "served");
    env.set("HEIRLOOM_DATABASE_URL", &address);
    let team = crate::page_team::Team::of(crate::http::Server::with(&env, &[]));
    let server = &team.server;
    assert_eq!(server.ask_with("", "GET", "/readyz", None, &[]).is(200).body, "ready\n");
    server.ask_with(&admin, "GET", "/v1/stats", None, &[]).is(200);
    server.ask_with("hlm_wrong", "GET", "/v1/stats", None, &[]).fails(401, "UNAUTHENTICATED");
    assert_eq!(server.get("/v1/stats").status, 401, "the account is nobody in a shared database");
    // An administrator invites over HTTP; the link works once, on the page of any server of this database.
    let ask = serde_json::json!({ "hours": 1 });
    let made = server
        .ask_with(&admin, "POST", &format!("/v1/users/{}/invite", "root"), Some(&ask), &[])
        .is(201)
        .json();
    let link = made["link"].as_str().unwrap();
    let form = [("held", admin.as_str()), ("pin", "4711"), ("again", "4711")];
    let taken = team.post(link, &form, "").is(303);
    assert_eq!(team.post(link, &form, "").status, 404);
    let cookie = taken.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let home = team.get("/", &cookie).is(200).body;
    assert!(home.contains("root") && !home.contains("Confirm as a person"), "{home}");
    for path in ["/review", "/search?q=x", "/audit?verify=1", "/users", "/changes"] {
        team.get(path, &cookie).is(200);
    }
    drop(database);
    std::thread::sleep(std::time::Duration::from_millis(1_200));
    let gone = server.ask_with("", "GET", "/readyz", None, &[]).is(503);
    assert_eq!(gone.body, "DATABASE_UNAVAILABLE\n");
    server.ask_with("", "GET", "/healthz", None, &[]).is(200);
}

#[test]
fn vectors_are_made_in_the_background_by_batches_and_a_kill_costs_one_batch() {
    const TURNS: usize = 700;
    let server = Server::start(Release::Sixteen, CARELESS);
    let mut env = TestEnv::new();
    env.run(&["init"]).ok();
    let (address, admin) = team(&env, &server, "embedding");
    env.set("HEIRLOOM_DATABASE_URL", &address).set("HEIRLOOM_TOKEN", &admin).set("EMBEDDING_KEY", "k");
    let one = env.run(&["add", "episode", "It rains on turn number 0", "--json"]).ok().json();
    // The rest as one script would bring them, quicker than as many processes.
    server.sql(
        "embedding",
        &format!(
            "insert into heirloom.memory (user_id, id, tier, status, session, slot, occurred_at, expires_at, length, content, detail)
             select user_id, id || '-' || n, tier, status, session, slot, occurred_at, expires_at, length, 'Rows of the database, turn ' || n,
                 jsonb_set(detail, '{{id}}', to_jsonb(id || '-' || n)) from heirloom.memory, generate_series(1, {}) as n",
            TURNS - 1
        ),
    );
    let endpoint = crate::endpoint::Server::start();
    crate::endpoint::named(&env, &endpoint, "m");
    let turns = |env: &TestEnv| env.run(&["model", "status", "--json"]).ok().json()["turns"].clone();
    assert_eq!(turns(&env), serde_json::json!({ "embedded": 0, "memories": TURNS }));
    let mut child = env.command(HEIRLOOM).args(["model", "embed"]).spawn().unwrap();
    let vectors = || -> usize {
        server
            .sql("embedding", "select count(*) from heirloom.vector where model like 'endpoint:%'")
            .parse()
            .unwrap()
    };
    crate::env::until("a batch is stored", || vectors() > 0);
    child.kill().unwrap();
    child.wait().unwrap();
    let there = vectors();
    assert!(there > 0 && turns(&env)["embedded"] == there, "what was stored counts");
    let again = env.run(&["model", "embed"]).ok();
    assert!(
        again.stdout.contains(&format!("{TURNS} of {TURNS} of your turns and facts have a vector")),
        "{again:?}"
    );
    assert_eq!(vectors(), TURNS, "each once");
    assert!(endpoint.sent() <= TURNS + 2 * 256, "{} texts were sent", endpoint.sent());
    // By meaning: no word of the question stands in what is found.
    let hits = env.run(&["search", "--tier", "all", "umbrella", "--json"]).ok().items();
    assert_eq!(hits[0]["id"], one["id"], "{hits}");
}

//! The application's password alone: nothing is seen, nothing is changed, nothing can be switched off.
//!
//! Comes in: a database in which users have rows in every table. Goes out: nothing, if each attempt of the list ends with no row or a refusal.

use crate::server::{Release, Server};
use crate::story::{CARELESS, set_up};
use heirloom_core::{Grant, Scopes};
use heirloom_engine::shelf::tiers::story::{AGENT, OWNER, PERSON, Stage, tiers};
use heirloom_engine::shelf::tiers::{FactWords, Role, Terms, Turn, give_token, put_user};
use heirloom_postgres::{OF_USERS, PgStore};
use std::sync::Arc;

const DATABASE: &str = "attacked";

/// Two users with rows in every table, and tokens of several scopes for one of them.
fn house(server: &Server, folder: &std::path::Path) -> Stage {
    let stage = Stage::new(Arc::new(PgStore::at(&set_up(server, DATABASE)).unwrap()), folder);
    for user in ["ada", "o'brien \\"] {
        let call = stage.of(user);
        tiers(&call).add_episode(Turn::of(Role::User, "we spoke of secret plans"), OWNER).unwrap();
        tiers(&call).remember(FactWords::of("My cat is called Tom"), PERSON).unwrap();
        let fact = tiers(&call).remember(FactWords::of("I like rain"), PERSON).unwrap().stored.id;
        tiers(&call).delete(&[fact], "test").unwrap();
        tiers(&call).remember(FactWords::of("The user likes hail"), AGENT).unwrap_err();
        stage.store.once_begin(tiers(&call).who(), &"a".repeat(64), "asked", 1).unwrap();
    }
    let call = stage.person("ada");
    let (who, world) = (tiers(&call).who(), call.project().world());
    put_user(stage.store.as_ref(), who, "ada", world).unwrap();
    for (name, scopes) in [
        ("reads", Scopes::NONE.with(Grant::Read)),
        ("writes", Scopes::USUAL),
        ("deletes", Scopes::USUAL.with(Grant::Delete)),
        ("upkeep", Scopes::NONE.with(Grant::Upkeep)),
        ("admin", Scopes::USUAL.with(Grant::Admin)),
    ] {
        let terms = Terms { name: name.to_owned(), scopes, days: None, hours: None };
        give_token(stage.store.as_ref(), who, "ada", &format!("hlm_{name}"), &terms, world).unwrap();
    }
    stage
}

/// Every row there is, as the server's owner sees it.
fn image(server: &Server) -> String {
    let tables = OF_USERS.iter().chain(&["account", "token"]);
    let count = |table: &&str| {
        server.sql(
            DATABASE,
            &format!("select md5(string_agg(t::text, '|' order by t::text)) from heirloom.{table} t"),
        )
    };
    tables.map(|table| format!("{table} {}\n", count(table))).collect()
}

#[test]
fn the_applications_password_alone_shows_no_row_and_changes_nothing() {
    let server = Server::start(Release::Sixteen, CARELESS);
    let folder = tempfile::tempdir().unwrap();
    let _stage = house(&server, folder.path());
    for table in OF_USERS {
        let all = server.sql(DATABASE, &format!("select count(distinct user_id) >= 2 from heirloom.{table}"));
        assert_eq!(all, "t", "both users have rows in {table}");
    }
    let before = image(&server);
    let app = |statements: &str| server.asked("heirloom_app", DATABASE, statements);
    // Whatever is set without knowing a token.
    let pretences = [
        "",
        "set heirloom.user_id = 'ada';",
        "set heirloom.acting = 'ada';",
        "set heirloom.token = '';",
        "set heirloom.token = 'ada'; set heirloom.acting = 'ada';",
        "set row_security = on;",
        "set search_path = heirloom, public;",
        "reset role; reset session authorization;",
        "select heirloom.begin('', 'ada', true, '1s');",
        "select heirloom.begin('hlm_wrong', 'ada', true, '1s');",
    ];
    for pretence in pretences {
        for table in OF_USERS {
            let seen =
                app(&format!("begin; {pretence} select 'n=' || count(*) from heirloom.{table}; commit"))
                    .unwrap();
            assert!(seen.ends_with("n=0"), "{pretence} {table}: {seen}");
            let copied = app(&format!("{pretence} copy heirloom.{table} to stdout")).unwrap();
            assert_eq!(copied.trim(), "", "{pretence} {table}");
            for statement in [
                format!("update heirloom.{table} set user_id = 'eve'"),
                format!("delete from heirloom.{table}"),
                format!("insert into heirloom.{table} (user_id) values ('ada')"),
            ] {
                // Refused, or no row is reached; what counts is that nothing changed.
                let _ = app(&format!("{pretence} {statement}"));
            }
        }
    }
    // What must be refused outright.
    for statement in [
        "select * from heirloom.account",
        "select * from heirloom.token",
        "select * from heirloom.token_use",
        "copy heirloom.memory from stdin",
        "truncate heirloom.memory",
        "alter table heirloom.memory disable row level security",
        "alter table heirloom.memory no force row level security",
        "drop policy app_select on heirloom.memory",
        "create policy mine on heirloom.memory using (true)",
        "drop table heirloom.audit",
        "drop schema heirloom cascade",
        "create table heirloom.mine (x int)",
        "create or replace function heirloom.me(needs text[]) returns text language sql as 'select ''ada'''",
        "alter function heirloom.me(text[]) set search_path = public",
        "grant heirloom_owner to heirloom_app",
        "set role heirloom_owner",
        "set session authorization heirloom_owner",
        "set role heirloom_admin",
        "create trigger t before insert on heirloom.memory execute function pg_catalog.suppress_redundant_updates_trigger()",
        "select * from pg_statistic",
        "select pg_read_file('/etc/passwd')",
        "set session_replication_role = replica",
        "alter role heirloom_app bypassrls",
        "alter role heirloom_app superuser",
        "select heirloom.lock_chain('ada')",
        "select heirloom.append('ada', '{1}', '{x}', '{x}', '{x}', '{x}', '{x}', null)",
        "select heirloom.drop_lines('ada', 5)",
        "select heirloom.drop_index('ada', '{1}')",
        "select heirloom.drop_traces('ada', '{x}', '{1}')",
        "select heirloom.put_account('eve', 'now', null)",
        "select heirloom.put_token('00', 'ada', '', '{read}', 'now', null)",
        "select heirloom.remove_token('ada', 'reads')",
        "select heirloom.remove_user('ada')",
        "select heirloom.know_model('mine', 3)",
        "select heirloom.held()",
        "select heirloom.administers()",
    ] {
        assert!(app(statement).is_err(), "`{statement}` went through");
    }
    // What answers, and with nothing.
    for question in [
        "select count(*) from heirloom.accounts()",
        "select count(*) from heirloom.users()",
        "select count(*) from heirloom.tokens(null)",
        "select count(*) from pg_stats where schemaname = 'heirloom' and tablename = 'memory'",
        "select count(*) from heirloom.whose('', 'x') where user_id is not null",
        "select count(*) from heirloom.whose('hlm_wrong', 'x') where user_id is not null",
    ] {
        assert_eq!(app(question).unwrap(), "0", "{question}");
    }
    // A cheap function that tells what it sees is called only on rows that may be seen, and a cast that fails betrays nothing.
    let leak = "create function pg_temp.tell(text) returns bool language plpgsql cost 0.0000001 as
        'begin raise notice ''leak %'', $1; return true; end'; select 'n=' || count(*) from heirloom.memory where pg_temp.tell(content)";
    let told = app(leak).unwrap();
    assert!(!told.contains("leak") && told.ends_with("n=0"), "{told}");
    assert_eq!(app("select count(*) from heirloom.memory where content::int = 1").unwrap(), "0");
    // A temporary table or function of the same name does not come before the function's own.
    let shadow = "create temp table token (hash text, user_id text, scopes text[], expires_at timestamptz);
        insert into pg_temp.token values ('x', 'ada', '{read}', null); set search_path = pg_temp, heirloom;
        select 'n=' || count(*) from heirloom.memory";
    assert!(app(shadow).unwrap().ends_with("n=0"));
    assert_eq!(image(&server), before, "not a byte changed");
    let roles = "select bool_or(rolsuper or rolbypassrls or rolcreaterole or rolcreatedb) from pg_roles where rolname like 'heirloom%'";
    assert_eq!(server.sql(DATABASE, roles), "f");
    let owned = "select count(*) from pg_class c join pg_roles r on r.oid = c.relowner join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'heirloom' and r.rolname <> 'heirloom_owner'";
    assert_eq!(server.sql(DATABASE, owned), "0");
}

#[test]
fn a_token_opens_by_statement_what_its_scopes_say_and_nobody_elses_rows() {
    let server = Server::start(Release::Eighteen, CARELESS);
    let folder = tempfile::tempdir().unwrap();
    let stage = house(&server, folder.path());
    let with = |token: &str, statement: &str| {
        let whole =
            format!("begin; select heirloom.begin('hlm_{token}', '', true, '5s'); {statement}; commit");
        server.asked("heirloom_app", DATABASE, &whole).map(|said| said.trim().to_owned())
    };
    let acting = |token: &str, user: &str, statement: &str| {
        let whole =
            format!("begin; select heirloom.begin('hlm_{token}', '{user}', true, '5s'); {statement}; commit");
        server.asked("heirloom_app", DATABASE, &whole).map(|said| said.trim().to_owned())
    };
    for token in ["reads", "writes", "deletes"] {
        for table in OF_USERS {
            // The filter that every statement of ours has is left out on purpose.
            let seen = with(token, &format!("select distinct user_id from heirloom.{table}")).unwrap();
            assert_eq!(seen, "ada", "{token} {table}");
            let foreign =
                acting(token, "o''brien \\", &format!("select count(*) from heirloom.{table}")).unwrap();
            assert_eq!(foreign, "0", "{token} {table}");
        }
    }
    let memories = "select count(*) from heirloom.memory";
    let changes = "update heirloom.memory set status = 'retired'";
    let removes = "delete from heirloom.memory";
    let forged = "insert into heirloom.gone values ('o''brien \\', 'x')";
    for (token, statement) in [
        ("reads", "insert into heirloom.draft values ('ada', 'x', 1, 'x')"),
        ("writes", "insert into heirloom.draft values ('o''brien \\', 'x', 1, 'x')"),
        ("writes", "insert into heirloom.audit values ('ada', 99, 'x', 'x', 'x', 'x', 'x')"),
        ("deletes", "delete from heirloom.audit"),
        ("admin", "delete from heirloom.audit"),
        ("admin", "update heirloom.owner set seq = 0"),
        ("writes", "select heirloom.remove_user('ada')"),
        ("writes", "select heirloom.put_token('00', 'ada', 'x', '{read}', 'now', null)"),
        ("admin", "select heirloom.put_token('00', 'ada', 'x', '{read,delete}', 'now', null)"),
        ("writes", forged),
        ("deletes", "select heirloom.append('ada', '{1}', '{x}', '{x}', '{{}}', '{x}', '{x}', null)"),
    ] {
        assert!(with(token, statement).is_err(), "{token}: `{statement}` went through");
    }
    // The server's clock decides what is past its time; in this story's time nothing is.
    server.sql(DATABASE, "update heirloom.memory set expires_at = 4102444800");
    // A token that only reads changes nothing, one that writes removes nothing, the daily work sees nothing that is not past its time.
    let before = image(&server);
    for (token, statement) in [
        ("reads", changes),
        ("reads", removes),
        ("writes", removes),
        ("upkeep", removes),
        ("upkeep", changes),
    ] {
        let _ = with(token, statement);
    }
    assert_eq!(image(&server), before);
    assert_eq!(with("upkeep", memories).unwrap(), "0");
    assert_eq!(acting("upkeep", "o''brien \\", memories).unwrap(), "0");
    server.sql(
        DATABASE,
        "update heirloom.memory set expires_at = 1 where user_id <> 'ada' and tier = 'episodic'",
    );
    assert_eq!(acting("upkeep", "o''brien \\", memories).unwrap(), "1", "what is past its time is its work");
    assert_eq!(acting("writes", "o''brien \\", memories).unwrap(), "0");
    assert_eq!(
        acting("admin", "o''brien \\", memories).unwrap(),
        "2",
        "whoever looks after users acts for them"
    );
    // A token that ended opens nothing, whatever its holder sets.
    server.sql(
        DATABASE,
        "update heirloom.token set expires_at = now() - interval '1 second' where name = 'deletes'",
    );
    assert_eq!(with("deletes", memories).unwrap(), "0");
    assert!(with("deletes", "select heirloom.lock_chain('ada')").is_err());
    tiers(&stage.of("ada")).verify_audit().unwrap();
}

#[test]
fn a_statement_asks_once_who_it_is_for() {
    let server = Server::start(Release::Sixteen, &["fsync=off", "track_functions=all"]);
    let folder = tempfile::tempdir().unwrap();
    let stage = house(&server, folder.path());
    let call = stage.of("ada");
    let turns = (0..500).map(|n| (Turn::of(Role::User, format!("turn number {n}")), OWNER)).collect();
    tiers(&call).add_episodes(turns).unwrap();
    let calls = || -> u64 {
        server
            .sql(DATABASE, "select coalesce(sum(calls), 0) from pg_stat_user_functions where schemaname = 'heirloom' and funcname = 'me'")
            .parse()
            .unwrap()
    };
    let ask = "begin; select heirloom.begin('hlm_reads', '', true, '5s'); select 'n=' || count(*) from heirloom.post; commit";
    // What connections did is counted at the latest when they end.
    drop((call, stage));
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    let before = calls();
    assert!(server.asked("heirloom_app", DATABASE, ask).unwrap().contains("n="));
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert_eq!(calls() - before, 1, "for a thousand postings");
}

#[test]
fn no_statement_shows_a_token() {
    let server = Server::start(Release::Sixteen, CARELESS);
    let folder = tempfile::tempdir().unwrap();
    let _stage = house(&server, folder.path());
    let address = server.address("heirloom_app", DATABASE);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let seen = runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(&address, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute("begin").await.unwrap();
        let shown: [(&(dyn tokio_postgres::types::ToSql + Sync), _); 2] =
            [(&"hlm_writes", tokio_postgres::types::Type::TEXT), (&"ada", tokio_postgres::types::Type::TEXT)];
        client.query_typed("select heirloom.begin($1, $2, true, '5s')", &shown).await.unwrap();
        server.sql(
            DATABASE,
            "select string_agg(query, ' ') from pg_stat_activity where usename = 'heirloom_app'",
        )
    });
    assert!(seen.contains("heirloom.begin($1") && !seen.contains("hlm_"), "{seen}");
}

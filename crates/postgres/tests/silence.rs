//! Servers that do not answer, answer late, or say no: everybody is told in time, and why.

use crate::server::{Release, Server};
use crate::story::{CARELESS, set_up};
use heirloom_core::Code;
use heirloom_engine::shelf::tiers::TierStore as _;
use heirloom_engine::shelf::tiers::story::{KEEPER_TOKEN, OWNER, Stage, moment, tiers};
use heirloom_engine::shelf::tiers::{Role, Turn, UserContext};
use heirloom_postgres::{Limits, PgStore};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Takes connections. It carries them to the server until it is told to stop, and then says nothing, in either direction.
fn front(socket: std::path::PathBuf, speaks: Arc<AtomicBool>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let (socket, speaks) = (socket.clone(), Arc::clone(&speaks));
            std::thread::spawn(move || {
                let Ok(server) = UnixStream::connect(&socket) else { return };
                let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let going = Arc::clone(&speaks);
                std::thread::spawn(move || carry(&mut from, &mut to, &going));
                carry(&mut { server }, &mut { client }, &speaks);
            });
        }
    });
    port
}

fn carry(from: &mut impl std::io::Read, to: &mut impl std::io::Write, speaks: &AtomicBool) {
    let mut bytes = [0; 8_192];
    while let Ok(n) = from.read(&mut bytes) {
        if n == 0 {
            return;
        }
        if speaks.load(Ordering::SeqCst) && to.write_all(&bytes[..n]).is_err() {
            return;
        }
    }
}

fn asked(store: &PgStore) -> (Code, Duration) {
    let began = Instant::now();
    let fault = UserContext::by_token(store, KEEPER_TOKEN, moment("2026-03-01T12:00:00Z")).unwrap_err();
    (fault.code, began.elapsed())
}

#[test]
fn a_server_that_never_answers_holds_nobody_over_the_limit() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    // What is asked here tells a limit from none, on however loaded a machine; the limits themselves are these.
    assert!(Limits::PROMPT.whole.is_some_and(|whole| whole < Duration::from_millis(300)));
    assert!(
        Limits::COMMAND.connect < Duration::from_secs(2) && Limits::COMMAND.call == Duration::from_secs(10)
    );
    // The kernel takes the connections; nobody ever reads them.
    let address = format!("postgres://heirloom_app@127.0.0.1:{port}/x?sslmode=disable");
    for (limits, most) in [(Limits::PROMPT, 1_500), (Limits::HOOK, 1_500), (Limits::COMMAND, 5_000)] {
        let store = PgStore::at(&address).unwrap().within(limits);
        let (code, took) = asked(&store);
        assert_eq!(code, Code::Unavailable);
        assert!(took < Duration::from_millis(most), "{limits:?}: {took:?}");
        // Asking again at once does not wait again.
        assert!(asked(&store).1 < Duration::from_millis(500));
        assert!(store.unreached().is_some());
    }
    drop(listener);
}

#[test]
fn a_server_that_goes_silent_in_the_middle_holds_a_prompt_no_longer_than_its_limit() {
    let server = Server::start(Release::Sixteen, CARELESS);
    set_up(&server, "silent");
    let speaks = Arc::new(AtomicBool::new(true));
    let port = front(server.socket(), Arc::clone(&speaks));
    let address = format!("postgres://heirloom_app@127.0.0.1:{port}/silent?sslmode=disable");
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { call: Duration::from_millis(700), ..Limits::COMMAND };
    let stage = Stage::new(Arc::new(PgStore::at(&address).unwrap().within(limits)), folder.path());
    let call = stage.of("ada");
    tiers(&call).add_episode(Turn::of(Role::User, "before"), OWNER).unwrap();
    speaks.store(false, Ordering::SeqCst);
    let began = Instant::now();
    let fault = tiers(&call).search("before", None, 5).unwrap_err();
    assert!(fault.code == Code::Unavailable && fault.message.contains("did not answer within"), "{fault:?}");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    // The limit of everything together counts for a prompt.
    let prompt = PgStore::at(&address).unwrap().within(Limits::PROMPT);
    assert!(asked(&prompt).1 < Duration::from_millis(1_500));
    // Once it speaks again, the next call goes on, on a connection of its own.
    speaks.store(true, Ordering::SeqCst);
    std::thread::sleep(Duration::from_millis(3_100));
    assert_eq!(tiers(&call).search("before", None, 5).unwrap().len(), 1);
    tiers(&call).verify_audit().unwrap();
}

#[test]
fn what_the_server_says_no_with_has_a_code_and_a_next_step() {
    let server = Server::start(Release::Sixteen, &["fsync=off", "max_connections=20"]);
    let address = set_up(&server, "refusals");
    let folder = tempfile::tempdir().unwrap();
    // A standby, or a server that was told to only read.
    let stage = Stage::new(Arc::new(PgStore::at(&address).unwrap()), folder.path());
    let call = stage.of("ada");
    server.sql("refusals", "alter role heirloom_app set default_transaction_read_only = on");
    let reading = Stage::new(Arc::new(PgStore::at(&address).unwrap()), folder.path());
    let fault = tiers(&reading.of("ada")).add_episode(Turn::of(Role::User, "x"), OWNER).unwrap_err();
    assert!(
        fault.message.contains("25006") && fault.next_step().contains("target_session_attrs"),
        "{fault:?}"
    );
    server.sql("refusals", "alter role heirloom_app reset default_transaction_read_only");
    // No connection left: it is waited for, and named.
    server.sql("refusals", "alter role heirloom_app connection limit 1");
    let full = PgStore::at(&address).unwrap();
    tiers(&call).add_episode(Turn::of(Role::User, "holds the one there is"), OWNER).unwrap();
    let began = Instant::now();
    let fault = UserContext::by_token(&full, KEEPER_TOKEN, moment("2026-03-01T12:00:00Z")).unwrap_err();
    assert!(fault.code == Code::Unavailable && fault.message.contains("53300"), "{fault:?}");
    assert!(fault.next_step().contains("max_connections") && began.elapsed() > Duration::from_millis(900));
    drop((stage, call, reading));
    std::thread::sleep(Duration::from_millis(3_200));
    UserContext::by_token(&full, KEEPER_TOKEN, moment("2026-03-01T12:00:00Z")).unwrap();
    server.sql("refusals", "alter role heirloom_app connection limit -1");
    // Somebody ended the connection under it: a read is made again, and a write goes on with the next call.
    let stage = Stage::new(Arc::new(PgStore::at(&address).unwrap()), folder.path());
    let call = stage.of("ada");
    server.sql(
        "refusals",
        "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'heirloom_app'",
    );
    assert_eq!(stage.store.counts(tiers(&call).who()).unwrap().episodes, 1);
}

//! A host that takes connections and says nothing: nobody else waits for it, and it is not asked again at every write.

use super::*;
use std::net::{TcpListener, TcpStream};

fn settings(port: u16, seconds: u32) -> Value {
    json!({ "memory_configuration": { "external_memory_enabled": true, "memory_type": "git_repo",
        "memory_path": format!("https://127.0.0.1:{port}/lessons.git"), "sync_strategy": "auto_push",
        "git_timeout_seconds": seconds } })
}

fn silent() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

/// Whether somebody has come since the last look.
fn somebody_came(listener: &TcpListener) -> bool {
    listener.set_nonblocking(true).unwrap();
    let came: Vec<TcpStream> =
        std::iter::from_fn(|| listener.accept().ok().map(|(stream, _)| stream)).collect();
    listener.set_nonblocking(false).unwrap();
    !came.is_empty()
}

#[test]
fn while_a_host_is_silent_everybody_else_writes() {
    let desk = Desk::new();
    let (listener, port) = silent();
    let call = desk.engine_with(settings(port, 120));
    let other = desk.call();
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| call.topics().store("t", "s", lesson("2026-01-02", "Far"), person()));
        // It is on the line now, and will be for two minutes.
        let (stream, _) = listener.accept().unwrap();
        let done = other.topics().store("t", "s", lesson("2026-01-03", "Near"), person()).unwrap();
        assert_eq!(done.status, "created");
        assert!(!waits.is_finished());
        drop((stream, listener));
        let done = waits.join().unwrap().unwrap();
        assert!(
            done.notes.iter().any(|note| note.contains("stored in the project's own memory")),
            "{done:?}"
        );
    });
    let page = read(&desk.topics_folder().join("t/s.md"));
    assert!(page.contains("Far") && page.contains("Near"));
}

#[test]
fn a_host_that_does_not_answer_in_time_is_left_alone_until_somebody_syncs() {
    let desk = Desk::new();
    let (listener, port) = silent();
    // Long enough for a busy machine to start git and have it knock.
    let store = |title: &str, now: &str| {
        let call = engine_at(&desk.path(), settings(port, 5), now);
        let done = call.topics().store("t", "s", lesson("2026-01-02", title), person()).unwrap();
        done.notes.join("\n")
    };
    let first = store("One", "2026-01-20T12:00:00Z");
    assert!(first.contains("did not answer within 5 seconds") && first.contains("own memory"), "{first}");
    assert!(somebody_came(&listener));
    let second = store("Two", "2026-01-20T12:04:00Z");
    assert!(second.contains("240 seconds ago") && second.contains("own memory"), "{second}");
    assert!(!somebody_came(&listener), "a host that is down is not tried at every write");
    let fault = engine_at(&desk.path(), settings(port, 5), "2026-01-20T12:04:30Z").topics().sync_plan();
    assert!(fault.unwrap_err().message.contains("did not answer within"));
    assert!(somebody_came(&listener), "`sync` tries at once");
    store("Three", "2026-01-20T12:30:00Z");
    assert!(somebody_came(&listener), "after a while a write tries again");
    let page = read(&desk.topics_folder().join("t/s.md"));
    assert!(["One", "Two", "Three"].iter().all(|title| page.contains(title)));
}

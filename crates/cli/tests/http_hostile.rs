//! The HTTP door under clients that mean harm, and while the database is gone: nobody becomes somebody else, nobody waits for them, nothing grows.

use crate::env::TestEnv;
use crate::http::{Server, token_of};
use serde_json::json;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// What the server's own memory is, in kilobytes.
fn resident(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap().to_owned();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn while_the_database_is_gone_no_token_stands_for_the_account() {
    let mut env = TestEnv::ready();
    env.run(&["add", "decision", "Use PostgreSQL because we need jsonb"]).ok();
    env.set("HEIRLOOM_TOKEN", "hlm_of_the_account");
    let project = env.project();
    let nowhere = "postgres://nobody@127.0.0.1:1/none";
    let server = Server::with(&env, &[project.to_str().unwrap(), "--database", nowhere]);
    for token in ["hl_anything", "hls_anything"] {
        for path in ["/v1/memories", "/v1/projects", "/v1/audit", "/metrics"] {
            let refused = server.ask_with(token, "GET", path, None, &[]);
            assert!(!refused.body.contains("PostgreSQL because"), "{refused:?}");
            refused.fails(503, "DATABASE_UNAVAILABLE");
        }
        let added = json!({ "kind": "decision", "text": "Use MySQL because of habit" });
        server.ask_with(token, "POST", "/v1/memories", Some(&added), &[]).fails(503, "DATABASE_UNAVAILABLE");
    }
    // The account itself still has its files.
    let listed = server.get("/v1/memories").is(200).json();
    assert_eq!(listed["memories"].as_array().unwrap().len(), 1, "{listed}");
}

#[test]
fn a_token_nobody_knows_is_refused_before_its_body_is_read() {
    let env = TestEnv::ready();
    let server = Server::start(&env);
    let mut stream = server.connect();
    let head = format!(
        "POST /v1/memories HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer hl_nobody\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n",
        server.port
    );
    stream.write_all(head.as_bytes()).unwrap();
    let began = Instant::now();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    assert!(line.starts_with("HTTP/1.1 401"), "{line}");
    // A body that is read would be waited for.
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[test]
fn floods_of_wrong_and_oversized_bodies_leave_others_served_and_memory_bounded() {
    let env = TestEnv::ready();
    let server = Server::start(&env);
    server.get("/v1/memories").is(200);
    let before = resident(&server);
    let until = Instant::now() + Duration::from_secs(4);
    let (port, own) = (server.port, server.token.clone());
    let floods: Vec<_> = (0..24)
        .map(|n| {
            let token = if n % 2 == 0 { own.clone() } else { format!("hl_nobody{n}") };
            std::thread::spawn(move || {
                let bodies = [
                    vec![b'a'; 2 << 20],
                    format!("{{\"kind\":\"note\",\"text\":\"{}\"}}", "x".repeat(3 << 20)).into_bytes(),
                    "[".repeat(500_000).into_bytes(),
                    b"{\"kind\":\"\xff\xfe\"}".to_vec(),
                    b"{".to_vec(),
                ];
                for body in bodies.iter().cycle().take_while(|_| Instant::now() < until) {
                    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { continue };
                    let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
                    let head = format!(
                        "POST /v1/memories HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                        body.len()
                    );
                    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
                    let mut answer = [0; 12];
                    if stream.read_exact(&mut answer).is_ok() {
                        let status = String::from_utf8_lossy(&answer[9..]).into_owned();
                        assert!(["400", "401", "413", "422", "429"].contains(&status.as_str()), "{status}");
                    }
                }
            })
        })
        .collect();
    while Instant::now() < until {
        assert_eq!(server.get("/v1/memories").status, 200);
    }
    floods.into_iter().for_each(|flood| flood.join().unwrap());
    let after = resident(&server);
    assert!(after < before + 150_000, "{before} kB before, {after} kB after");
}

#[test]
fn clients_that_never_read_their_answers_are_let_go() {
    let env = TestEnv::ready();
    for n in 0..12 {
        let text = format!("Note {n} of many. {}", format!("word{n} ").repeat(2_000));
        env.run_with(&["add", "note", "--from", "-"], text.as_bytes()).ok();
    }
    let server = Server::start(&env);
    let request = format!(
        "GET /v1/memories HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\r\n",
        server.port, server.token
    );
    // Enough answers to fill every buffer between here and there.
    let mut deaf: Vec<TcpStream> = (0..3).map(|_| server.connect()).collect();
    for stream in &mut deaf {
        stream.set_write_timeout(Some(Duration::from_secs(2))).unwrap();
        for _ in 0..80 {
            if stream.write_all(request.as_bytes()).is_err() {
                break;
            }
        }
    }
    assert_eq!(server.get("/v1/memories").status, 200);
    let open = || {
        let text = server.get("/metrics").is(200).body;
        let line = text.lines().find(|line| line.starts_with("heirloom_connections ")).unwrap().to_owned();
        line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()
    };
    let began = Instant::now();
    while open() > 1 {
        assert!(began.elapsed() < Duration::from_secs(120), "{} connections are still open", open());
        std::thread::sleep(Duration::from_millis(500));
    }
    drop(deaf);
}

#[test]
fn an_archive_that_nobody_reads_holds_up_no_worker() {
    let env = TestEnv::ready();
    let server = Server::start(&env);
    for n in 0..60 {
        let text = format!("turn {n} {}", "many words of a long conversation ".repeat(1_500));
        server.post("/v1/memories", &json!({ "kind": "episode", "text": text })).is(201);
    }
    let request = format!(
        "GET /v1/export HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\r\n",
        server.port, server.token
    );
    let deaf: Vec<TcpStream> = (0..8)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(request.as_bytes()).unwrap();
            stream
        })
        .collect();
    std::thread::sleep(Duration::from_millis(500));
    // Few archives are on their way at once, so that everything else has workers left.
    for _ in 0..20 {
        assert_eq!(server.get("/v1/memories").status, 200);
    }
    let began = Instant::now();
    while server.get("/v1/export").status != 200 {
        assert!(began.elapsed() < Duration::from_secs(60), "the archives are never let go");
        std::thread::sleep(Duration::from_millis(500));
    }
    drop(deaf);
}

#[test]
fn a_stream_of_events_ends_with_its_token() {
    let env = TestEnv::ready();
    let bob = token_of(&env, "bob", "read,write");
    let server = Server::start(&env);
    let mut stream = server.connect();
    let request = format!(
        "GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {bob}\r\n\r\n",
        server.port
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines();
    assert!(lines.any(|line| line.unwrap().starts_with(": from now on")));
    env.at_terminal(&["user", "token", "bob", "--revoke"], "y\n").ok();
    let rest: Vec<String> = lines.map_while(Result::ok).collect();
    assert!(rest.iter().any(|line| line == "event: end"), "{rest:?}");
    assert!(rest.iter().any(|line| line.contains("UNAUTHENTICATED")), "{rest:?}");
    server.ask_with(&bob, "GET", "/v1/stats", None, &[]).fails(401, "UNAUTHENTICATED");
}

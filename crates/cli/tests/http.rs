//! The HTTP door: what a program sees of the memory, what it can never do, and what a hostile client cannot break.

use crate::env::{HEIRLOOM, TestEnv};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A running server.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) port: u16,
    pub(crate) token: String,
    pub(crate) token_file: PathBuf,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let line = self.head.lines().find(|line| line.to_lowercase().starts_with(&format!("{name}:")))?;
        line.split_once(':').map(|(_, value)| value.trim())
    }

    /// The same, if it has this status.
    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Reply {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// A problem with this status and code, and a next step.
    #[track_caller]
    pub(crate) fn fails(self, status: u16, code: &str) -> Value {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let problem = self.is(status).json();
        assert_eq!(problem["code"], code, "{problem}");
        assert_eq!(problem["status"], status);
        assert!(!problem["next"].as_str().unwrap().is_empty());
        problem
    }
}

impl Server {
    /// A server of the test's project.
    pub(crate) fn start(env: &TestEnv) -> Server {
        let project = env.project();
        Server::with(env, &[project.to_str().unwrap()])
    }

    pub(crate) fn with(env: &TestEnv, args: &[&str]) -> Server {
        let mut command = env.command(HEIRLOOM);
        command
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        Server::of(command.spawn().unwrap())
    }

    /// A server that was started with a pipe for what it says.
    pub(crate) fn of(mut child: Child) -> Server {
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut line = || lines.next().expect("the server ended").unwrap();
        let port = line().rsplit_once(':').unwrap().1.parse().unwrap();
        let token_file = PathBuf::from(line().strip_prefix("token file ").unwrap());
        let token = std::fs::read_to_string(&token_file).unwrap().trim().to_owned();
        Server { child, port, token, token_file }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(40))).unwrap();
        stream
    }

    /// Sends bytes and reads until the server closes its side.
    pub(crate) fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Asks with a token and these headers.
    #[track_caller]
    pub(crate) fn ask_with(
        &self,
        token: &str,
        method: &str,
        path: &str,
        body: Option<&Value>,
        headers: &[(&str, &str)],
    ) -> Reply {
        let body = body.map(Value::to_string);
        let mut request =
            format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n", self.port);
        if !token.is_empty() {
            request += &format!("Authorization: Bearer {token}\r\n");
        }
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        if let Some(body) = &body {
            if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
                request += "Content-Type: application/json\r\n";
            }
            request += &format!("Content-Length: {}\r\n", body.len());
        }
        request += "\r\n";
        request += body.as_deref().unwrap_or_default();
        read(&self.raw(request.as_bytes()))
    }

    #[track_caller]
    pub(crate) fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Reply {
        self.ask_with(&self.token, method, path, body, &[])
    }

    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Reply {
        self.ask("GET", path, None)
    }

    #[track_caller]
    pub(crate) fn post(&self, path: &str, body: &Value) -> Reply {
        self.ask("POST", path, Some(body))
    }

    /// Ends it as the system would; its exit code.
    pub(crate) fn end(mut self) -> Option<i32> {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads one answer.
#[track_caller]
pub(crate) fn read(text: &str) -> Reply {
    let (head, rest) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
    let status = head.split_whitespace().nth(1).unwrap().parse().unwrap();
    let body = match head.to_lowercase().contains("transfer-encoding: chunked") {
        true => unchunked(rest),
        false => rest.to_owned(),
    };
    Reply { status, head: head.to_owned(), body }
}

fn unchunked(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if size == 0 {
            break;
        }
        body.push_str(after.get(..size).unwrap_or(after));
        rest = after.get(size + 2..).unwrap_or_default();
    }
    body
}

fn in_path(id: &Value) -> String {
    id.as_str().unwrap().replace(':', "%3A").replace('/', "%2F").replace('#', "%23").replace(' ', "%20")
}

/// A token of another user; made by a person.
pub(crate) fn token_of(env: &TestEnv, user: &str, scopes: &str) -> String {
    env.at_terminal(&["user", "add", user], "").ok();
    let made = env.at_terminal(&["user", "token", user, "--scope", scopes, "--json"], "").ok();
    made.json()["token"].as_str().unwrap().to_owned()
}

#[test]
fn a_memory_is_added_read_changed_by_its_version_and_found() {
    let env = TestEnv::ready();
    let server = Server::start(&env);
    let added = server
        .post(
            "/v1/memories",
            &json!({ "kind": "decision", "text": "Use PostgreSQL because we need jsonb", "tags": ["db"] }),
        )
        .is(201);
    assert!(added.header("location").is_some() && added.header("heirloom-project").is_some(), "{added:?}");
    let path = format!("/v1/memories/{}", in_path(&added.json()["id"]));
    assert_eq!(added.header("location"), Some(path.as_str()));
    let shown = server.get(&path).is(200);
    let version = shown.header("etag").unwrap().to_owned();
    assert_eq!(version, format!("\"{}\"", shown.json()["version"].as_str().unwrap()));
    assert_eq!(added.header("etag"), Some(version.as_str()));
    let change = json!({ "tags": ["changed"] });
    server.ask("PATCH", &path, Some(&change)).fails(428, "USAGE");
    server.ask_with(&server.token, "PATCH", &path, Some(&change), &[("If-Match", "*")]).fails(428, "USAGE");
    let changed =
        server.ask_with(&server.token, "PATCH", &path, Some(&change), &[("If-Match", &version)]).is(200);
    assert_ne!(changed.header("etag"), Some(version.as_str()));
    server
        .ask_with(&server.token, "PATCH", &path, Some(&change), &[("If-Match", &version)])
        .fails(412, "OCC_CONFLICT");
    let found = server.post("/v1/search", &json!({ "query": "PostgreSQL" })).is(200).json();
    assert_eq!(found["hits"][0]["id"], added.json()["id"]);
    let listed = server.get("/v1/memories?kind=decision&limit=1").is(200).json();
    assert_eq!(listed["memories"].as_array().unwrap().len(), 1);
    assert!(server.get(&format!("{path}/history")).is(200).json().as_array().unwrap().len() >= 2);
    server.post(&format!("{path}/retire"), &json!({ "reason": "old" })).is(200);
    server.post(&format!("{path}/restore"), &json!({})).is(200);
    // The command line sees what was written.
    assert_eq!(env.run(&["list", "--json"]).ok().items().as_array().unwrap().len(), 1);
}

#[test]
fn every_refusal_is_json_with_a_code_and_a_next_step() {
    let env = TestEnv::ready();
    let server = Server::start(&env);
    let refused = server.ask_with("", "GET", "/v1/memories", None, &[]);
    assert!(refused.header("www-authenticate").unwrap().starts_with("Bearer"));
    refused.fails(401, "UNAUTHENTICATED");
    server.ask_with("hl_nobody", "GET", "/v1/memories", None, &[]).fails(401, "UNAUTHENTICATED");
    server.ask_with("hl_nobody", "GET", "/metrics", None, &[]).fails(401, "UNAUTHENTICATED");
    server.get("/v1/nothing").fails(404, "NOT_FOUND");
    server.get("/nothing").fails(404, "NOT_FOUND");
    assert_eq!(server.get("/").status, 303, "the first page leads to signing in");
    server.get("/v1/memories/decision%3Anone").fails(404, "NOT_FOUND");
    server.get("/v1/memories/none").fails(400, "USAGE");
    server.ask("PUT", "/v1/memories", None).fails(405, "USAGE");
    server.get("/v1/memories?limit=0").fails(400, "USAGE");
    server.get("/v1/memories?nothing=1").fails(400, "USAGE");
    server.get("/v1/memories?kind=%FF").fails(400, "USAGE");
    server.get("/v1/memories?project=0000").fails(404, "NOT_FOUND");
    server.post("/v1/memories", &json!({ "kind": "decision" })).fails(422, "VALIDATION_ERROR");
    server.post("/v1/memories", &json!({ "kind": "decision", "text": 7 })).fails(422, "VALIDATION_ERROR");
    server.post("/v1/memories", &json!([1])).fails(422, "VALIDATION_ERROR");
    server.post("/v1/memories", &json!({ "kind": "nothing", "text": "x" })).fails(400, "USAGE");
    server
        .ask_with(&server.token, "POST", "/v1/search", Some(&json!({})), &[("Content-Type", "text/plain")])
        .fails(415, "INPUT_ERROR");
    server
        .post("/v1/memories", &json!({ "kind": "note", "text": "a".repeat(2 << 20) }))
        .fails(413, "INPUT_ERROR");
    let secret = format!("The key is ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let problem = server
        .post("/v1/memories", &json!({ "kind": "decision", "text": secret }))
        .fails(422, "GATE_REFUSED");
    assert!(!problem.to_string().contains("ghp_"));
}

#[test]
fn only_the_servers_own_names_and_origins_are_answered() {
    let env = TestEnv::ready();
    let server = Server::start(&env);
    let with = |headers: &str| {
        read(&server.raw(format!("GET /v1/memories HTTP/1.1\r\n{headers}Authorization: Bearer {}\r\nConnection: close\r\n\r\n", server.token).as_bytes()))
    };
    let port = server.port;
    with(&format!("Host: localhost:{port}\r\n")).is(200);
    with(&format!("Host: [::1]:{port}\r\n")).is(200);
    with("Host: evil.example\r\n").fails(403, "SECURITY_ERROR");
    with(&format!("Host: 127.0.0.1:{port}\r\nHost: evil.example\r\n")).fails(403, "SECURITY_ERROR");
    with(&format!("Host: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n")).is(200);
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1", "https://localhost"] {
        let refused = with(&format!("Host: 127.0.0.1:{port}\r\nOrigin: {origin}\r\n"));
        assert!(refused.header("access-control-allow-origin").is_none());
        refused.fails(403, "SECURITY_ERROR");
    }
}

#[test]
fn a_token_is_never_a_person() {
    let env = TestEnv::ready();
    env.at_terminal(&["add", "decision", "Use PostgreSQL because we need jsonb"], "").ok();
    let server = Server::start(&env);
    let listed = server.get("/v1/memories").is(200).json();
    let path = format!("/v1/memories/{}", in_path(&listed["memories"][0]["id"]));
    let version = server.get(&path).header("etag").unwrap().to_owned();
    let waits = server
        .ask_with(
            &server.token,
            "PATCH",
            &path,
            Some(&json!({ "title": "Use MySQL" })),
            &[("If-Match", &version)],
        )
        .is(202)
        .json();
    assert_eq!(waits["status"], "waits");
    server.post(&format!("{path}/retire"), &json!({})).is(202);
    assert_eq!(server.get(&path).header("etag"), Some(version.as_str()));
    let review = server.get("/v1/review").is(200).json();
    let draft = &review["drafts"][0];
    let accept = format!("/v1/review/{}/accept", draft["key"].as_str().unwrap());
    server.post(&accept, &json!({ "seen": draft["seen"] })).fails(403, "NEEDS_PERSON");
    server.ask("DELETE", &path, None).fails(403, "NEEDS_PERSON");
    server.post("/v1/users", &json!({ "user": "eve" })).fails(403, "NEEDS_PERSON");
    assert_eq!(server.get(&path).header("etag"), Some(version.as_str()));
    // What was refused stands in the audit.
    let audit = server.get("/v1/audit").is(200).body;
    assert!(audit.contains("\"refuse\""), "{audit}");
}

#[test]
fn another_users_token_reaches_their_own_facts_and_no_project() {
    let env = TestEnv::ready();
    env.run(&["add", "decision", "Use PostgreSQL because we need jsonb"]).ok();
    let bob = token_of(&env, "bob", "read,write,facts");
    let eve = token_of(&env, "eve", "read");
    let server = Server::start(&env);
    let own = server.get("/v1/projects").is(200).json();
    let id = own["projects"][0]["id"].as_str().unwrap().to_owned();
    let ask = |token: &str, method: &str, path: &str, body: Option<&Value>| {
        server.ask_with(token, method, path, body, &[])
    };
    assert_eq!(ask(&bob, "GET", "/v1/projects", None).is(200).json()["projects"], json!([]));
    assert_eq!(ask(&bob, "GET", "/v1/memories", None).is(200).json()["memories"], json!([]));
    ask(&bob, "GET", &format!("/v1/memories?project={id}"), None).fails(404, "NOT_FOUND");
    ask(&bob, "GET", "/v1/memories/decision%3Ause-postgresql", None).fails(404, "NOT_FOUND");
    ask(
        &bob,
        "POST",
        "/v1/memories",
        Some(&json!({ "kind": "decision", "text": "Use MySQL because of habit" })),
    )
    .fails(404, "NOT_FOUND");
    let fact =
        ask(&bob, "POST", "/v1/memories", Some(&json!({ "kind": "fact", "text": "Bob prefers green tea" })))
            .is(201)
            .json();
    let path = format!("/v1/memories/{}", in_path(&fact["id"]));
    let shown = ask(&bob, "GET", &path, None).is(200).json();
    // The scope `facts` stores at once; the fact is the program's word all the same.
    assert_eq!(
        (shown["source"].as_str(), shown["trust"].as_str()),
        (Some("ai_inference"), Some("low")),
        "{shown}"
    );
    let stats = ask(&bob, "GET", "/v1/stats", None).is(200).json();
    assert_eq!((stats["user"].as_str(), stats["facts"].as_u64()), (Some("bob"), Some(1)));
    ask(&eve, "GET", &path, None).fails(404, "NOT_FOUND");
    ask(&eve, "POST", "/v1/memories", Some(&json!({ "kind": "fact", "text": "Eve likes coffee" })))
        .fails(403, "SECURITY_ERROR");
    let found = server.post("/v1/search", &json!({ "query": "green tea" })).is(200).body;
    assert!(!found.contains("green tea"), "{found}");
    env.at_terminal(&["user", "revoke", "bob"], "");
}

#[test]
fn the_token_file_is_for_its_owner_alone_and_ends_with_the_server() {
    let env = TestEnv::ready();
    let server = Server::start(&env);
    let file = server.token_file.clone();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let token = server.token.clone();
    assert_eq!(server.end(), Some(0));
    assert!(!file.exists());
    let again = Server::start(&env);
    again.ask_with(&token, "GET", "/v1/memories", None, &[]).fails(401, "UNAUTHENTICATED");
}

#[test]
fn other_machines_are_not_served_without_tls() {
    let env = TestEnv::ready();
    let ran = env.run(&["serve", "--listen", "0.0.0.0:0", "--json"]);
    ran.fails_with("SECURITY_ERROR", 1);
}

#[test]
fn a_request_with_a_key_is_done_once_also_by_a_server_that_was_started_again() {
    let env = TestEnv::ready();
    let server = Server::start(&env);
    let new = json!({ "kind": "decision", "text": "Use Redis because it is fast" });
    let key = [("Idempotency-Key", "0d5a-one")];
    let first = server.ask_with(&server.token, "POST", "/v1/memories", Some(&new), &key).is(201).json();
    let second = server.ask_with(&server.token, "POST", "/v1/memories", Some(&new), &key).is(201);
    assert_eq!(second.header("idempotent-replayed"), Some("true"));
    assert_eq!(second.json()["id"], first["id"]);
    assert_eq!(server.end(), Some(0));
    let server = Server::start(&env);
    server.ask_with(&server.token, "POST", "/v1/memories", Some(&new), &key).is(201);
    assert_eq!(server.get("/v1/memories").json()["memories"].as_array().unwrap().len(), 1);
    let other = json!({ "kind": "decision", "text": "Use Valkey because it is free" });
    server.ask_with(&server.token, "POST", "/v1/memories", Some(&other), &key).fails(422, "VALIDATION_ERROR");
    // What failed can be tried again under its key.
    let wrong = json!({ "kind": "nothing", "text": "x" });
    let again = [("Idempotency-Key", "two")];
    server.ask_with(&server.token, "POST", "/v1/memories", Some(&wrong), &again).fails(400, "USAGE");
    server.ask_with(&server.token, "POST", "/v1/memories", Some(&other), &again).is(201);
    server
        .ask_with(&server.token, "POST", "/v1/memories", Some(&other), &[("Idempotency-Key", "a b")])
        .fails(400, "USAGE");
}

#[test]
fn a_server_says_how_it_is() {
    let env = TestEnv::ready();
    let server = Server::start(&env);
    assert_eq!(server.ask_with("", "GET", "/healthz", None, &[]).is(200).body, "ok\n");
    assert_eq!(server.ask_with("", "GET", "/readyz", None, &[]).is(200).body, "ready\n");
    server.get("/v1/memories?tag=very-private-name").is(200);
    let figures = server.get("/metrics").is(200).body;
    assert!(
        figures.contains("heirloom_requests_total{method=\"GET\",route=\"/v1/memories\",status=\"200\"} 1"),
        "{figures}"
    );
    assert!(!figures.contains("very-private-name"));
    let status = server.get("/v1/status").is(200).body;
    assert!(!status.contains(env.base().to_str().unwrap()), "{status}");
    let described = server.ask_with("", "GET", "/openapi.json", None, &[]).is(200).json();
    assert_eq!(described["openapi"], "3.1.0");
}

#[test]
fn working_memory_over_http_is_the_sessions_own() {
    let env = TestEnv::ready();
    let bob = token_of(&env, "bob", "read,write");
    let server = Server::start(&env);
    let path = "/v1/sessions/s%201/messages";
    let said = json!({ "messages": [{ "speaker": "user", "content": "hello" }, { "speaker": "assistant", "content": "hi" }] });
    assert_eq!(server.post(path, &said).is(200).json()["count"], 2);
    assert_eq!(server.get(path).json()["messages"][1]["content"], "hi");
    assert_eq!(server.ask_with(&bob, "GET", path, None, &[]).is(200).json()["messages"], json!([]));
    assert_eq!(server.ask("POST", "/v1/sessions/s%201/pop", None).is(200).json()["message"]["content"], "hi");
    assert_eq!(server.ask("DELETE", path, None).is(200).json()["cleared"], 1);
}

#[test]
fn changes_are_told_as_events_with_ids_and_without_texts() {
    let env = TestEnv::ready();
    let server = Server::start(&env);
    let mut stream = server.connect();
    let request = format!(
        "GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\r\n",
        server.port, server.token
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines();
    assert!(lines.any(|line| line.unwrap().starts_with(": from now on")));
    env.run(&["add", "decision", "Use unmistakable words because they are rare"]).ok();
    let data = lines.map(Result::unwrap).find(|line| line.starts_with("data: ")).unwrap();
    let event: Value = serde_json::from_str(&data[6..]).unwrap();
    assert_eq!(
        (event["kind"].as_str(), event["chain"].as_str()),
        (Some("decision"), Some("project")),
        "{event}"
    );
    assert!(event.get("text").is_none() && event.get("title").is_none());
}

#[test]
fn an_archive_goes_out_and_comes_back_as_a_stream() {
    let env = TestEnv::ready();
    let server = Server::start(&env);
    for n in 0..3 {
        env.at_terminal(&["add", "fact", &format!("The office has {n} plants on floor {n}")], "y\n");
    }
    let archive = server.get("/v1/export").is(200);
    assert!(archive.body.contains("plants"), "{archive:?}");
    let mut request = format!(
        "POST /v1/import?dry_run=true HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n",
        server.port,
        server.token,
        archive.body.len()
    );
    request += &archive.body;
    let reply = read(&server.raw(request.as_bytes())).is(200);
    let last: Value = serde_json::from_str(reply.body.lines().last().unwrap()).unwrap();
    assert!(last["result"]["known"].as_u64().unwrap() >= 1, "{last}");
    let junk = server
        .ask_with(
            &server.token,
            "POST",
            "/v1/import",
            Some(&json!("no archive")),
            &[("Content-Type", "application/octet-stream")],
        )
        .is(200);
    assert!(junk.body.contains("\"error\""), "{junk:?}");
}

#[test]
fn mcp_over_http_needs_a_token_and_answers_without_sessions() {
    let env = TestEnv::ready();
    let server = Server::start(&env);
    let accept = [("Accept", "application/json, text/event-stream")];
    let ask = |token: &str, id: u64, method: &str, params: Value| {
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        server.ask_with(token, "POST", "/mcp", Some(&body), &accept)
    };
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    ask("", 1, "initialize", hello.clone()).fails(401, "UNAUTHENTICATED");
    let greeted = ask(&server.token, 1, "initialize", hello).is(200).json();
    assert_eq!(greeted["result"]["serverInfo"]["name"], "heirloom");
    let added = ask(&server.token, 2, "tools/call", json!({ "name": "add_memory", "arguments": { "kind": "decision", "text": "Use HTTP because it is there" } })).is(200).json();
    assert_eq!(added["result"]["structuredContent"]["status"], "created", "{added}");
    ask("hl_nobody", 3, "tools/call", json!({ "name": "list_memories", "arguments": {} }))
        .fails(401, "UNAUTHENTICATED");
}

#[test]
fn several_projects_are_told_apart_by_their_ids() {
    let env = TestEnv::ready();
    let other = env.base().join("other");
    std::fs::create_dir(&other).unwrap();
    let (one, two) = (env.project(), other);
    let server = Server::with(&env, &[one.to_str().unwrap(), two.to_str().unwrap()]);
    let problem = server.get("/v1/memories").fails(409, "AMBIGUOUS");
    let projects = server.get("/v1/projects").json()["projects"].clone();
    for project in projects.as_array().unwrap() {
        let id = project["id"].as_str().unwrap();
        assert!(problem["detail"].as_str().unwrap().contains(id));
        let reply = server.get(&format!("/v1/memories?project={id}")).is(200);
        assert_eq!(reply.header("heirloom-project"), Some(id));
    }
    server.get("/v1/memories?project=none").is(200);
    assert!(!projects.to_string().contains(one.to_str().unwrap()));
}

#[test]
fn clients_that_stall_are_let_go_and_others_are_served_meanwhile() {
    let env = TestEnv::ready();
    let server = Server::start(&env);
    let head = format!("Host: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n", server.port, server.token);
    let stalls = [
        String::new(),
        format!("GET /v1/memories HTTP/1.1\r\n{head}"),
        format!(
            "POST /v1/search HTTP/1.1\r\n{head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{"
        ),
        format!("GET /healthz HTTP/1.1\r\n{head}\r\n"),
    ];
    let mut open: Vec<TcpStream> = Vec::new();
    for stall in &stalls {
        let mut stream = server.connect();
        stream.write_all(stall.as_bytes()).unwrap();
        open.push(stream);
    }
    let began = Instant::now();
    assert_eq!(server.get("/healthz").status, 200);
    for (stall, mut stream) in stalls.iter().zip(open) {
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap_or_else(|e| panic!("{stall:?} is still open: {e}"));
    }
    assert!(began.elapsed() < Duration::from_secs(35), "{:?}", began.elapsed());
    assert_eq!(server.get("/v1/memories").status, 200);
}

#[test]
fn shapes_that_smuggle_a_second_request_are_refused() {
    let env = TestEnv::ready();
    let server = Server::start(&env);
    let head = format!(
        "Host: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n",
        server.port, server.token
    );
    let inner = format!("GET /v1/memories HTTP/1.1\r\n{head}X: ");
    for (name, headers, body) in [
        (
            "both lengths",
            format!("Content-Length: {}\r\nTransfer-Encoding: chunked\r\n", inner.len() + 5),
            format!("0\r\n\r\n{inner}"),
        ),
        ("two lengths", "Content-Length: 2\r\nContent-Length: 40\r\n".to_owned(), format!("{{}}{inner}")),
        ("odd coding", "Transfer-Encoding: xchunked\r\n".to_owned(), format!("0\r\n\r\n{inner}")),
        (
            "coding twice",
            "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n".to_owned(),
            format!("0\r\n\r\n{inner}"),
        ),
        ("signed length", "Content-Length: +2\r\n".to_owned(), format!("{{}}{inner}")),
        ("space before colon", "Content-Length : 2\r\n".to_owned(), format!("{{}}{inner}")),
        (
            "folded",
            "X-A: b\r\n Transfer-Encoding: chunked\r\nContent-Length: 2\r\n".to_owned(),
            format!("{{}}{inner}"),
        ),
        ("bad chunk", "Transfer-Encoding: chunked\r\n".to_owned(), format!("zz\r\n{inner}")),
    ] {
        let answer = server.raw(format!("POST /v1/search HTTP/1.1\r\n{head}{headers}\r\n{body}").as_bytes());
        assert!(answer.matches("HTTP/1.1 200").count() == 0, "{name}: {answer}");
        assert!(answer.matches("HTTP/1.1").count() <= 1, "{name}: {answer}");
    }
    assert_eq!(server.get("/v1/memories").status, 200);
}

#[test]
fn thousands_of_idle_connections_keep_nobody_out_and_memory_is_bounded() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    let most = getrlimit(Resource::Nofile).current.unwrap_or(8192);
    let count = 5_000.min(usize::try_from(most).unwrap().saturating_sub(500));
    let env = TestEnv::ready();
    let server = Server::start(&env);
    let idle: Vec<TcpStream> =
        (0..count).filter_map(|_| TcpStream::connect(("127.0.0.1", server.port)).ok()).collect();
    assert!(idle.len() >= count * 9 / 10, "{} of {count}", idle.len());
    for _ in 0..20 {
        assert_eq!(server.get("/v1/memories").status, 200);
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let peak: u64 = status
        .lines()
        .find(|line| line.starts_with("VmRSS"))
        .unwrap()
        .split_whitespace()
        .nth(1)
        .unwrap()
        .parse()
        .unwrap();
    assert!(peak < 400_000, "{peak} kB");
}

/// Has several clients add memories until the server is gone; the ids it acknowledged.
fn acknowledged(server: Server, stop: fn(&Server)) -> Vec<String> {
    let (port, token) = (server.port, server.token.clone());
    let clients: Vec<_> = (0..4)
        .map(|client| {
            let token = token.clone();
            std::thread::spawn(move || {
                let mut ids = Vec::new();
                for n in 0.. {
                    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { break };
                    // Files and the database in turn.
                    let kind = if n % 2 == 0 { "decision" } else { "episode" };
                    let text = format!("Use plan {client} variant {n} because trial {client}-{n} went well");
                    let body = json!({ "kind": kind, "text": text }).to_string();
                    let request = format!(
                        "POST /v1/memories HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                        body.len()
                    );
                    let mut answer = String::new();
                    if stream.write_all(request.as_bytes()).is_err() || stream.read_to_string(&mut answer).is_err() {
                        continue;
                    }
                    if let Some((head, body)) = answer.split_once("\r\n\r\n")
                        && head.contains(" 201 ")
                        && let Ok(added) = serde_json::from_str::<Value>(body)
                    {
                        ids.push(added["id"].as_str().unwrap().to_owned());
                    }
                }
                ids
            })
        })
        .collect();
    std::thread::sleep(Duration::from_millis(1500));
    stop(&server);
    let ids = clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
    drop(server);
    ids
}

fn signal(server: &Server, signal: rustix::process::Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_child(&server.child), signal).unwrap();
}

#[test]
fn every_acknowledged_write_survives_the_end_of_the_server_however_it_comes() {
    for stop in [(|server| signal(server, rustix::process::Signal::TERM)) as fn(&Server), |server| {
        signal(server, rustix::process::Signal::KILL)
    }] {
        let env = TestEnv::ready();
        let ids = acknowledged(Server::start(&env), stop);
        for kind in ["decision:", "episode:"] {
            assert!(ids.iter().any(|id| id.starts_with(kind)), "{ids:?}");
        }
        let again = Server::start(&env);
        for id in &ids {
            again.get(&format!("/v1/memories/{}", in_path(&json!(id)))).is(200);
        }
        assert_eq!(env.run(&["audit", "verify", "--json"]).ok().json()["whole"], true);
    }
}

#[test]
fn a_client_of_the_same_account_can_check_whose_server_it_is() {
    let env = TestEnv::ready();
    let server = Server::start(&env);
    let key = std::fs::read(server.token_file.with_file_name("key")).unwrap();
    let nonce = "00112233445566778899aabbccddeeff";
    let answer = server.ask_with("", "GET", &format!("/v1/proof?nonce={nonce}"), None, &[]).is(200).json();
    let wanted = heirloom_core::hash::keyed(
        &key,
        format!("heirloom server\0127.0.0.1:{}\0{nonce}", server.port).as_bytes(),
    );
    assert_eq!(answer["proof"], wanted.as_str());
    assert_eq!(
        std::fs::metadata(server.token_file.with_file_name("key")).unwrap().permissions().mode() & 0o777,
        0o600
    );
    server.ask_with("", "GET", "/v1/proof?nonce=short", None, &[]).fails(400, "USAGE");
}

#[test]
fn a_token_that_asks_too_often_is_told_when_to_come_back() {
    let env = TestEnv::ready();
    let project = env.project();
    let server = Server::with(&env, &[project.to_str().unwrap(), "--rate", "5"]);
    let replies: Vec<Reply> = (0..30).map(|_| server.get("/v1/projects")).collect();
    let refused: Vec<&Reply> = replies.iter().filter(|reply| reply.status == 429).collect();
    assert!(!refused.is_empty() && replies[0].status == 200);
    assert!(refused.iter().all(|reply| reply.header("retry-after").is_some()));
    assert_eq!(server.ask_with("", "GET", "/healthz", None, &[]).status, 200);
}

#[test]
fn whoever_is_turned_away_stands_in_the_audit_of_the_account() {
    let env = TestEnv::ready();
    let server = Server::start(&env);
    for _ in 0..3 {
        server.ask_with("hl_nobody", "GET", "/v1/memories", None, &[]).fails(401, "UNAUTHENTICATED");
    }
    let chain = env.home().join("data/heirloom/audit.jsonl");
    let began = Instant::now();
    loop {
        let text = std::fs::read_to_string(&chain).unwrap_or_default();
        if text.contains("\"sign_in\"") && text.contains("UNAUTHENTICATED") {
            assert!(!text.contains("hl_nobody"));
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "{text}");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(env.run(&["audit", "verify", "--json"]).ok().json()["whole"], true);
}

#[test]
fn an_edit_in_place_is_found_by_a_running_server() {
    let env = TestEnv::new();
    env.run(&["init"]).ok();
    let server = Server::start(&env);
    let added = server
        .post("/v1/memories", &json!({ "kind": "decision", "text": "Use PostgreSQL because we need jsonb" }))
        .is(201)
        .json();
    let file = env.project().join(added["path"].as_str().unwrap());
    let text = std::fs::read_to_string(&file).unwrap().replace("PostgreSQL", "CockroachDB");
    std::fs::write(&file, text).unwrap();
    let began = Instant::now();
    loop {
        let found = server.post("/v1/search", &json!({ "query": "CockroachDB" })).is(200).json();
        if found["hits"].as_array().is_some_and(|hits| !hits.is_empty()) {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "{found}");
    }
}

//! Vectors and facts from an endpoint: a small server of our own answers, refuses, is slow or is not there.

use crate::env::{TestEnv, decision, until};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a server was asked: path, authorization, body.
type Asked = Arc<Mutex<Vec<(String, String, Value)>>>;

/// A server on this machine that makes vectors by what a text is about, and proposes facts.
pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) asked: Asked,
    status: Arc<AtomicU16>,
    dims: Arc<AtomicUsize>,
    says: Arc<Mutex<String>>,
}

impl Server {
    pub(crate) fn start() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let asked = Asked::default();
        let status = Arc::new(AtomicU16::new(200));
        let dims = Arc::new(AtomicUsize::new(4));
        let says = Arc::new(Mutex::new(String::new()));
        let server = Server { url, asked, status, dims, says };
        let (asked, status, dims, says) =
            (server.asked.clone(), server.status.clone(), server.dims.clone(), server.says.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (asked, status, dims, says) = (asked.clone(), status.clone(), dims.clone(), says.clone());
                std::thread::spawn(move || answer(stream, &asked, &status, &dims, &says));
            }
        });
        server
    }

    pub(crate) fn fails_with(&self, status: u16) {
        self.status.store(status, Ordering::Relaxed);
    }

    pub(crate) fn says(&self, text: &str) {
        text.clone_into(&mut self.says.lock().unwrap());
    }

    fn calls(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    /// How many texts were sent.
    pub(crate) fn sent(&self) -> usize {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter_map(|(_, _, body)| body["input"].as_array().map(Vec::len)).sum()
    }

    /// Every text that was sent.
    fn texts(&self) -> String {
        self.asked.lock().unwrap().iter().map(|(_, _, body)| body.to_string()).collect()
    }
}

/// "Storage" points one way, "weather" another, everything else a third.
fn vector(text: &str, dims: usize) -> Vec<f32> {
    let lower = text.to_lowercase();
    let has = |words: &[&str]| f32::from(u8::from(words.iter().any(|word| lower.contains(word))));
    let mut vector =
        vec![has(&["postgres", "database", "rows", "granary"]), has(&["rain", "umbrella"]), 0.1, 0.0];
    vector.resize(dims, 0.0);
    vector
}

fn answer(
    stream: TcpStream,
    asked: &Asked,
    status: &AtomicU16,
    dims: &AtomicUsize,
    says: &Mutex<String>,
) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let path = line.split_whitespace().nth(1)?.to_owned();
        let (mut length, mut key) = (0, String::new());
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).ok()?;
            if header.trim().is_empty() {
                break;
            }
            let (name, value) = header.split_once(':')?;
            match name.to_lowercase().as_str() {
                "content-length" => length = value.trim().parse().ok()?,
                "authorization" => key = value.trim().to_owned(),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let body: Value = serde_json::from_slice(&body).ok()?;
        asked.lock().unwrap().push((path.clone(), key, body.clone()));
        let status = status.load(Ordering::Relaxed);
        if status == 0 {
            std::thread::sleep(Duration::from_secs(5));
        }
        let reply = if path.ends_with("/embeddings") {
            let dims = dims.load(Ordering::Relaxed);
            let texts = body["input"].as_array()?.iter().enumerate();
            let data: Vec<Value> = texts
                .map(|(at, text)| json!({ "index": at, "embedding": vector(text.as_str().unwrap(), dims) }))
                .collect();
            json!({ "data": data })
        } else {
            json!({ "choices": [{ "message": { "role": "assistant", "content": *says.lock().unwrap() } }] })
        };
        let reply = reply.to_string();
        let mut stream = &stream;
        write!(
            stream,
            "HTTP/1.1 {} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{reply}",
            status.max(200),
            reply.len()
        )
        .ok()?;
    }
}

fn ready(server: &Server) -> TestEnv {
    let mut env = TestEnv::new();
    env.set("EMBEDDING_KEY", "key-of-the-test");
    env.run(&["init"]).ok();
    named(&env, server, "m");
    let mut queue = decision("Jobs live in Postgres");
    queue["content"]["decision"] = json!("Jobs are rows, fetched with SKIP LOCKED");
    env.create("jobs-live-in-postgres", &queue).ok();
    let mut weather = decision("Keep dry");
    weather["content"]["decision"] = json!("Take an umbrella in the rain");
    weather["content"]["context"] = json!("It rains");
    weather["content"]["rationale"] = json!(["Wet is cold"]);
    weather["tags"] = json!(["weather"]);
    env.create("keep-dry", &weather).ok();
    env
}

/// The user's own settings name the server, which may take long to answer on a busy machine.
pub(crate) fn named(env: &TestEnv, server: &Server, model: &str) {
    named_for(env, server, model, 60_000);
}

fn named_for(env: &TestEnv, server: &Server, model: &str, prompt_timeout_ms: u32) {
    let file = env.home().join("config/heirloom/config.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let settings = json!({ "embedding": {
        "url": server.url, "model": model, "dimensions": 4, "key_env": "EMBEDDING_KEY", "timeout_ms": 60_000, "prompt_timeout_ms": prompt_timeout_ms,
    } });
    std::fs::write(file, settings.to_string()).unwrap();
}

fn prompt(env: &TestEnv, session: &str, text: &str) -> String {
    let event = json!({ "prompt": text, "session_id": session, "hook_event_name": "UserPromptSubmit", "cwd": env.project() });
    env.run_with(&["hook", "prompt"], event.to_string().as_bytes()).ok().stdout
}

/// No word of it is in any memory, and no table relates one to them.
const BY_MEANING: &str = "which granary holds our harvest?";

#[test]
fn an_endpoint_finds_by_meaning_what_shares_no_word() {
    let server = Server::start();
    let env = ready(&server);
    env.run(&["model", "embed"]).ok();
    let status = env.run(&["model", "status", "--json"]).ok().json();
    assert_eq!((&status["embedded"], &status["memories"]), (&json!(2), &json!(2)), "{status}");
    let block = prompt(&env, "one", BY_MEANING);
    assert!(block.contains("Jobs live in Postgres") && !block.contains("umbrella"), "{block}");
    let asked = server.asked.lock().unwrap();
    assert!(asked.iter().all(|(path, key, _)| path == "/v1/embeddings" && key == "Bearer key-of-the-test"));
    assert_eq!(asked.last().unwrap().2["model"], "m");
}

#[test]
fn an_endpoint_that_fails_costs_the_vectors_and_not_the_memories() {
    let server = Server::start();
    let env = ready(&server);
    env.run(&["model", "embed"]).ok();
    server.fails_with(500);
    let words = "do jobs live in postgres or elsewhere?";
    assert!(prompt(&env, "one", words).contains("Jobs live in Postgres"));
    let calls = server.calls();
    assert!(prompt(&env, "two", words).contains("Jobs live in Postgres"));
    assert_eq!(server.calls(), calls, "it is left alone for a while");
    let doctor = env.run(&["doctor", "--json"]).json();
    let check =
        doctor["checks"].as_array().unwrap().iter().find(|check| check["id"] == "endpoint").unwrap().clone();
    assert_eq!(check["state"], "warning", "{check}");
    assert!(check["detail"].as_str().unwrap().contains("status 500"), "{check}");
    assert!(env.run(&["search", "postgres", "jobs"]).ok().stdout.contains("Jobs live in Postgres"));
    server.fails_with(200);
    let trouble = env.files_below(&env.home().join("data/heirloom"));
    let (name, text) = trouble.iter().find(|(name, _)| name.starts_with("endpoint-")).unwrap();
    let text = String::from_utf8_lossy(text);
    assert!(!text.contains("key-of-the-test") && !text.contains("postgres"), "{name}: {text}");
}

#[test]
fn a_slow_endpoint_does_not_hold_a_prompt_up() {
    let server = Server::start();
    let env = ready(&server);
    env.run(&["model", "embed"]).ok();
    server.fails_with(0);
    named_for(&env, &server, "m", 500);
    // The server takes five seconds; what answers was found by keywords after half a second.
    assert!(prompt(&env, "one", "do jobs live in postgres or elsewhere?").contains("Jobs live in Postgres"));
    assert!(env.run(&["model", "status", "--json"]).ok().json()["trouble"]["failures"] == 1);
}

#[test]
fn a_project_cannot_name_an_endpoint() {
    let server = Server::start();
    let env = TestEnv::new();
    env.run(&["init"]).ok();
    let file = env.memory("memory-config.json");
    let mut settings: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    settings["embedding"] = json!({ "url": server.url, "model": "m", "dimensions": 4 });
    settings["extraction"] = json!({ "url": server.url, "model": "m" });
    std::fs::write(&file, settings.to_string()).unwrap();
    env.create("jobs", &decision("Jobs live in Postgres")).ok();
    assert!(prompt(&env, "one", "do jobs live in postgres?").contains("Jobs live"));
    let searched = env.run(&["search", "jobs"]).ok();
    assert!(searched.stdout.contains("Jobs live"));
    let status = env.run(&["model", "status", "--json"]).ok().json();
    assert!(status["model"].as_str().unwrap().starts_with("static"), "{status}");
    // Neither can a process, by flag or variable.
    let flag = format!("embedding.url={}", server.url);
    let by_flag =
        ["--set", &flag, "--set", "embedding.model=m", "--set", "embedding.dimensions=4", "search", "jobs"];
    env.run(&by_flag).ok();
    assert_eq!(server.calls(), 0);
}

#[test]
fn plain_http_goes_nowhere_but_to_this_machine() {
    let env = TestEnv::new();
    env.run(&["init"]).ok();
    for address in [
        "http://example.org/v1",
        "http://localhost.example.org",
        "http://127.0.0.1.example.org",
        "ftp://localhost",
        "https://",
        "https://user:pw@example.org",
        "http://localhost@example.org",
    ] {
        env.run(&["config", "set", "--user", "embedding.url", address, "--json"])
            .fails_with("CONFIG_ERROR", 1);
    }
    for address in
        ["http://localhost:11434/v1", "http://127.0.0.1/v1", "http://[::1]:80", "https://api.example.org/v1"]
    {
        env.at_terminal(&["config", "set", "--user", "embedding.url", address], "").ok();
    }
}

#[test]
fn secrets_do_not_leave_the_machine() {
    let server = Server::start();
    let env = ready(&server);
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let mut leaked = decision("Deploy token");
    leaked["content"]["decision"] = json!(format!("The token is {secret}"));
    // Not through the gate: as a `git pull` would bring it.
    env.write(crate::env::target("deploy-token"), leaked.to_string());
    env.run(&["model", "embed"]).ok();
    prompt(&env, "one", &format!("why does postgres refuse my token {secret} today?"));
    let texts = server.texts();
    assert!(texts.contains("SKIP LOCKED") && texts.contains("why does postgres refuse"), "{texts}");
    assert!(!texts.contains(&secret) && !texts.contains("Deploy token"), "{texts}");
}

#[test]
fn another_model_is_another_space_and_everything_is_embedded_anew() {
    let server = Server::start();
    let env = ready(&server);
    env.run(&["model", "embed"]).ok();
    let embedded = |env: &TestEnv| env.run(&["model", "status", "--json"]).ok().json()["embedded"].clone();
    assert_eq!(embedded(&env), 2);
    named(&env, &server, "n");
    assert_eq!(embedded(&env), 0, "vectors of another model do not count");
    assert!(!prompt(&env, "one", BY_MEANING).contains("Jobs live"), "nor are they compared");
    env.run(&["model", "embed"]).ok();
    env.create("third", &decision("A third decision")).ok();
    env.run(&["model", "embed"]).ok();
    assert_eq!(embedded(&env), 3);
    named(&env, &server, "m");
    assert_eq!(embedded(&env), 2, "what came meanwhile has none of the old one");
    env.run(&["model", "embed"]).ok();
    assert_eq!(embedded(&env), 3);
    assert!(prompt(&env, "two", BY_MEANING).contains("Jobs live in Postgres"));
    // And back to the model in the binary.
    std::fs::remove_file(env.home().join("config/heirloom/config.json")).unwrap();
    env.run(&["search", "postgres"]).ok();
    let status = env.run(&["model", "status", "--json"]).ok().json();
    assert!(status["model"].as_str().unwrap().starts_with("static") && status["embedded"] == 3, "{status}");
}

#[test]
fn a_session_start_embeds_in_the_background() {
    let server = Server::start();
    let env = ready(&server);
    let event = json!({ "session_id": "s", "hook_event_name": "SessionStart", "source": "startup", "cwd": env.project() });
    env.run_with(&["hook", "session-start"], event.to_string().as_bytes()).ok();
    until("both are embedded", || env.run(&["model", "status", "--json"]).ok().json()["embedded"] == 2);
    assert!(prompt(&env, "one", BY_MEANING).contains("Jobs live in Postgres"));
}

#[test]
fn turns_and_facts_are_embedded_too() {
    let server = Server::start();
    let env = ready(&server);
    env.run(&["add", "episode", "The rows of our backlog sit in Postgres"]).ok();
    env.run(&["model", "embed"]).ok();
    let found = env.run(&["search", "--tier", "episodic", "which database engine?", "--json"]).ok().items();
    assert!(found.to_string().contains("our backlog"), "{found}");
    server.fails_with(401);
    let found = env.run(&["search", "--tier", "episodic", "backlog postgres", "--json"]).ok().items();
    assert!(found.to_string().contains("our backlog"), "{found}");
}

#[test]
fn an_answer_of_the_wrong_shape_is_an_error_and_nothing_else() {
    let server = Server::start();
    let env = ready(&server);
    server.dims.store(3, Ordering::Relaxed);
    let ran = env.run(&["model", "embed"]);
    assert_ne!(ran.code, Some(0));
    assert!(ran.stderr.contains("3 numbers instead of 4"), "{ran:?}");
    assert!(prompt(&env, "one", "do jobs live in postgres?").contains("Jobs live"));
}

#[test]
fn a_key_can_lie_in_a_file_and_a_missing_one_is_told() {
    let server = Server::start();
    let env = ready(&server);
    let file = env.home().join("config/heirloom/config.json");
    let mut settings: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    settings["embedding"]["key_env"] = Value::Null;
    settings["embedding"].as_object_mut().unwrap().remove("key_env");
    settings["embedding"]["key_file"] = json!("~/key");
    std::fs::write(&file, settings.to_string()).unwrap();
    let ran = env.run(&["model", "embed"]);
    assert!(ran.stderr.contains("the file of the key"), "{ran:?}");
    std::fs::write(env.home().join("key"), "from-a-file\n").unwrap();
    // It was left alone after the failure; a person who asks does not wait, a process does.
    for (name, _) in env.files_below(&env.home().join("data/heirloom")) {
        if name.starts_with("endpoint-") {
            std::fs::remove_file(env.home().join("data/heirloom").join(name)).unwrap();
        }
    }
    env.run(&["model", "embed"]).ok();
    assert!(server.asked.lock().unwrap().iter().all(|(_, key, _)| key == "Bearer from-a-file"));
}

/// Turns of a conversation, kept as episodes of the owner, and an endpoint that looks for facts in them.
fn with_turns(server: &Server) -> TestEnv {
    let env = TestEnv::new();
    env.run(&["init"]).ok();
    let file = env.home().join("config/heirloom/config.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let settings = json!({ "extraction": { "url": server.url, "model": "m", "timeout_ms": 60_000 }, "tiers": { "capture": true } });
    std::fs::write(file, settings.to_string()).unwrap();
    env
}

/// An agent's stop after a conversation.
fn stop(env: &TestEnv, said: &[(&str, &str)]) {
    let mut lines = String::new();
    for (at, (role, text)) in said.iter().enumerate() {
        let line = json!({ "type": role, "uuid": format!("u{at}"), "sessionId": "s", "timestamp": format!("2026-01-10T09:00:{at:02}Z"),
            "message": { "role": role, "content": [{ "type": "text", "text": text }] } });
        lines.push_str(&format!("{line}\n"));
    }
    let folder = env.home().join(".claude/projects/p");
    std::fs::create_dir_all(&folder).unwrap();
    let transcript = folder.join("s.jsonl");
    std::fs::write(&transcript, lines).unwrap();
    let event = json!({ "session_id": "s", "transcript_path": transcript, "cwd": env.project(), "hook_event_name": "Stop" });
    env.run_with(&["hook", "stop"], event.to_string().as_bytes());
}

fn waiting(env: &TestEnv) -> Vec<Value> {
    env.run(&["review", "--json"]).ok().json()["drafts"].as_array().unwrap().clone()
}

#[test]
fn facts_that_a_model_finds_wait_for_a_yes_with_their_origin() {
    let server = Server::start();
    let env = with_turns(&server);
    server.says("Here: {\"facts\":[{\"fact\":\"The user works from Graz\",\"turn\":1,\"confidence\":0.9},{\"fact\":\"The user hates rain\",\"turn\":9}]}");
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    stop(
        &env,
        &[
            ("user", &format!("I sit in Graz most of the time, token {secret}")),
            ("assistant", "Noted, you like snow."),
        ],
    );
    // The stop has it done in the background; whoever comes second finds nothing left to look at.
    until("a draft waits", || !waiting(&env).is_empty());
    let drafts = waiting(&env);
    assert_eq!(drafts.len(), 1, "{drafts:?}");
    let memory = &drafts[0]["draft"]["memory"];
    assert_eq!(memory["content"], "The user works from Graz");
    assert_eq!(memory["tool"], "extraction by m");
    assert!(memory["message"].as_str().unwrap().starts_with("episode:"), "{memory}");
    assert_eq!(drafts[0]["trust"], "low");
    assert_eq!(
        env.run(&["list", "--tier", "semantic", "--json"]).ok().items().as_array().map(Vec::len),
        Some(0)
    );
    let texts = server.texts();
    assert!(
        texts.contains("I sit in Graz") && !texts.contains(&secret) && !texts.contains("you like snow"),
        "{texts}"
    );
    // The same turns are not sent twice.
    let looked = env.run(&["review", "propose", "--json"]).ok().json();
    assert_eq!(looked["turns"], 0);
    let key = drafts[0]["key"].as_str().unwrap();
    let accepted = env.at_terminal(&["review", "accept", key], "y\n");
    assert!(
        accepted.stdout.contains("I sit in Graz") && accepted.stdout.contains("extraction by m"),
        "{accepted:?}"
    );
    assert_eq!(
        env.run(&["list", "--tier", "semantic", "--json"]).ok().items().as_array().map(Vec::len),
        Some(1)
    );
}

#[test]
fn turns_an_endpoint_does_not_answer_for_are_sent_again_later() {
    let server = Server::start();
    let env = with_turns(&server);
    server.fails_with(503);
    env.run(&["add", "episode", "I sit in Graz"]).ok();
    stop(&env, &[("user", "I sit in Graz most of the time")]);
    let troubles = || {
        let files = env.files_below(&env.home().join("data/heirloom"));
        files.into_iter().map(|(name, _)| name).find(|name| name.starts_with("endpoint-"))
    };
    until("the failure is noted", || troubles().is_some());
    std::fs::remove_file(env.home().join("data/heirloom").join(troubles().unwrap())).unwrap();
    server.fails_with(200);
    server.says("{\"facts\":[{\"fact\":\"The user works from Graz\",\"turn\":1}]}");
    let looked = env.run(&["review", "propose", "--json"]).ok().json();
    assert_eq!((&looked["turns"], &looked["proposed"]), (&json!(1), &json!(1)), "{looked}");
    let shape = heirloom_engine::verbs::schema::of("review-propose").unwrap();
    assert_eq!(crate::answers::misfit(&shape, &looked, "review-propose"), None);
}

#[test]
fn without_an_endpoint_there_is_nobody_to_ask() {
    let env = TestEnv::new();
    env.run(&["init"]).ok();
    env.run(&["review", "propose", "--json"]).fails_with("USAGE", 2);
}

#[test]
fn a_branch_that_comes_back_is_not_embedded_again() {
    let server = Server::start();
    let env = ready(&server);
    env.git(&["init", "-q", "-b", "main"]);
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "one"]);
    env.run(&["model", "embed"]).ok();
    env.git(&["checkout", "-qb", "other"]);
    std::fs::remove_file(env.memory("decisions/jobs-live-in-postgres.json")).unwrap();
    env.git(&["commit", "-qam", "two"]);
    env.run(&["model", "embed"]).ok();
    assert_eq!(env.run(&["model", "status", "--json"]).ok().json()["embedded"], 1);
    let calls = server.calls();
    env.git(&["checkout", "-q", "main"]);
    let status = env.run(&["model", "status", "--json"]).ok().json();
    assert_eq!((&status["embedded"], &status["memories"]), (&json!(2), &json!(2)), "{status}");
    assert_eq!(server.calls(), calls);
    assert!(prompt(&env, "one", BY_MEANING).contains("Jobs live in Postgres"));
    // A vector of what is forgotten is not kept for anybody.
    env.git(&["checkout", "-q", "other"]);
    env.run(&["model", "embed"]).ok();
    env.at_terminal(&["forget", "keep-dry", "--yes"], "").ok();
    env.git(&["checkout", "-q", "main", "-f"]);
    let calls = server.calls();
    env.run(&["model", "embed"]).ok();
    assert_eq!(server.calls(), calls + 1);
}

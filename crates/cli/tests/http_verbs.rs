//! Verbs over HTTP beside the everyday ones, what a server says about itself, and traces that lead into the database.

use crate::env::{HEIRLOOM, TestEnv};
use crate::http::Server;
use crate::server::{Release, Server as Postgres};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

#[test]
fn upkeep_is_done_over_http_as_by_commands() {
    let env = TestEnv::ready();
    let server = Server::start(&env);
    let added = server
        .post("/v1/memories", &json!({ "kind": "decision", "text": "Use PostgreSQL because we need jsonb" }))
        .is(201)
        .json();
    let path = format!("/v1/memories/{}", added["id"].as_str().unwrap().replace(':', "%3A"));
    let made = server.post(&format!("{path}/convert"), &json!({ "kind": "lesson" })).is(201);
    assert!(made.json()["id"].as_str().unwrap().starts_with("lesson:"));
    assert_eq!(made.json()["from"], added["id"]);
    server.post(&format!("{path}/convert"), &json!({ "kind": "note" })).fails(400, "USAGE");
    std::fs::write(env.project().join("main.c"), "int main(void) {\n  return 0;\n}\n").unwrap();
    let cited = json!({ "action": "add", "places": ["main.c:1-3"] });
    let cited = server.post(&format!("{path}/anchors"), &cited).is(200).json();
    assert_eq!(cited["anchors"].as_array().unwrap().len(), 1, "{cited}");
    let dropped = server.post(&format!("{path}/anchors"), &json!({ "action": "drop" })).is(200).json();
    assert_eq!(dropped["anchors"], json!([]));
    server.get(&format!("{path}/why")).fails(404, "NOT_FOUND");
    assert_eq!(server.get("/v1/runs").is(200).json(), json!({ "runs": [] }));
    assert_eq!(server.get("/v1/verify").is(200).json()["ok"], true);
    assert_eq!(server.ask("POST", "/v1/repair", None).is(200).json()["ok"], true);
    let secret = format!("the key is ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let scanned = server.post("/v1/scan", &json!({ "text": secret })).is(200).json();
    assert_eq!(scanned["findings"][0]["class"], "secret", "{scanned}");
    server.post("/v1/scan", &json!({ "text": "x", "row": "nothing" })).fails(400, "USAGE");
    assert_eq!(server.post("/v1/redact", &json!({})).is(200).json()["held"], json!([]));
    server.post("/v1/gc", &json!({ "dry_run": true })).is(200);
    server.post("/v1/gc", &json!({ "grace_days": 0 })).fails(403, "NEEDS_PERSON");
    server.post("/v1/compact", &json!({ "dry_run": true })).is(200);
    server.post("/v1/clear", &json!({ "tier": "all", "dry_run": true })).fails(403, "NEEDS_PERSON");
    server.post("/v1/expire", &json!({})).is(200);
    // Nothing of a project is there where none is served.
    for path in ["/v1/verify", "/v1/runs"] {
        server.get(&format!("{path}?project=none")).fails(404, "NOT_FOUND");
    }
}

#[test]
fn working_memory_says_when_nothing_is_kept_of_a_session() {
    let env = TestEnv::ready();
    let path = "/v1/sessions/s/messages";
    let said = json!({ "messages": [{ "speaker": "user", "content": "hello" }] });
    let server = Server::start(&env);
    assert_eq!(server.get(path).is(200).json()["new"], true);
    assert_eq!(server.post(path, &said).is(200).json()["new"], true);
    assert!(server.post(path, &said).is(200).json().get("new").is_none());
    assert!(server.get(path).is(200).json().get("new").is_none());
    assert_eq!(server.end(), Some(0));
    let again = Server::start(&env);
    let lost = again.get(path).is(200).json();
    assert_eq!((&lost["messages"], &lost["new"]), (&json!([]), &json!(true)));
}

#[test]
fn opaque_items_come_back_as_they_were_and_go_by_turns() {
    let env = TestEnv::ready();
    let file = env.home().join("config/heirloom/config.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, json!({ "tiers": { "working_messages": 4 } }).to_string()).unwrap();
    let server = Server::start(&env);
    let path = "/v1/sessions/agents/messages";
    let item = |n: u32, kind: &str| json!({ "type": kind, "call_id": format!("c{n}"), "n": n });
    let turn = |n: u32| {
        json!({ "messages": [
            { "speaker": "user", "item": item(n, "message") },
            { "speaker": "assistant", "item": item(n, "function_call") },
            { "speaker": "tool", "item": item(n, "function_call_output") },
        ] })
    };
    server.post(path, &turn(1)).is(200);
    let kept = server.post(path, &turn(2)).is(200).json();
    assert_eq!(
        (&kept["count"], &kept["by_turn"], &kept["dropped"]),
        (&json!(3), &json!(true), &json!(3)),
        "{kept}"
    );
    let read = server.get(path).is(200).json();
    assert_eq!(read["messages"][1]["item"], item(2, "function_call"), "{read}");
    let popped = server.ask("POST", "/v1/sessions/agents/pop", None).is(200).json();
    assert_eq!(popped["message"]["item"], item(2, "function_call_output"));
    let both = json!({ "messages": [{ "speaker": "user", "content": "x", "item": {} }] });
    server.post(path, &both).fails(400, "USAGE");
}

#[test]
fn a_server_logs_json_without_what_anybody_said() {
    let env = TestEnv::ready();
    let mut command = env.command(HEIRLOOM);
    let project = env.project();
    command.args(["serve", "--listen", "127.0.0.1:0", project.to_str().unwrap()]);
    command.env("HEIRLOOM_LOG", "info").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let log = BufReader::new(child.stderr.take().unwrap());
    let server = Server::of(child);
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let headers = [("traceparent", format!("00-{trace}-00f067aa0ba902b7-01"))];
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let text = "Use Zebrafinchquux because it sings";
    let body = json!({ "kind": "decision", "text": text });
    server.ask_with(&server.token, "POST", "/v1/memories", Some(&body), &headers).is(201);
    server.get("/v1/memories?tag=zebrafinchquux").is(200);
    server.get("/v1/memories/decision%3Ause-zebrafinchquux").is(200);
    let token = server.token.clone();
    assert_eq!(server.end(), Some(0));
    let lines: Vec<String> = log.lines().map(Result::unwrap).collect();
    let of = |line: &String| serde_json::from_str::<Value>(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    let requests: Vec<Value> = lines.iter().map(of).filter(|line| line["message"] == "request").collect();
    assert_eq!(requests.len(), 3, "{lines:?}");
    let first = &requests[0];
    assert_eq!(
        (&first["method"], &first["route"], &first["status"], &first["trace"], &first["level"]),
        (&json!("POST"), &json!("/v1/memories"), &json!(201), &json!(trace), &json!("info"))
    );
    assert!(first["at"].as_str().unwrap().ends_with('Z') && first["micros"].is_u64(), "{first}");
    for line in &lines {
        let line = line.to_lowercase();
        assert!(!line.contains("zebrafinchquux") && !line.contains(&token), "{line}");
    }
}

#[test]
fn a_trace_leads_into_the_log_of_the_database() {
    let settings = [
        "fsync=off",
        "log_statement=all",
        "log_line_prefix=%a|",
        "application_name=",
        "log_destination=stderr",
    ];
    let database = Postgres::start(Release::Eighteen, &settings);
    let mut env = TestEnv::ready();
    let (address, admin) = crate::tiers_postgres::team(&env, &database, "traced");
    env.set("HEIRLOOM_TOKEN", &admin);
    let server = Server::with(&env, &["--database", &address]);
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let headers = format!("00-{}-b7ad6b7169203331-01", trace.to_uppercase());
    let body = json!({ "kind": "episode", "text": "The harvest begins on Monday" });
    server.ask_with(&server.token, "POST", "/v1/memories", Some(&body), &[("traceparent", &headers)]).is(201);
    // One that is no trace is nobody's name.
    for wrong in ["00-x'; drop table heirloom.memory; --0000000000000000-b7ad6b7169203331-01", "junk"] {
        server.ask_with(&server.token, "GET", "/v1/stats", None, &[("traceparent", wrong)]).is(200);
    }
    let log = std::fs::read_to_string(database.data().with_file_name("log")).unwrap();
    let named = format!("heirloom {trace}|");
    assert!(
        log.lines().any(|line| line.starts_with(&named) && line.contains("insert into heirloom.memory")),
        "{log}"
    );
    assert!(!log.contains("drop table"));
    assert!(log.lines().any(|line| line.starts_with("heirloom|")), "the rest goes under its own name");
}

//! Answers over HTTP that come in parts: pages by cursor, and shelves as streams.

use crate::env::TestEnv;
use crate::http::{Reply, Server, read, token_of};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};

fn texts(list: &Value, key: &str) -> Vec<String> {
    list.as_array().unwrap().iter().map(|one| one[key].as_str().unwrap().to_owned()).collect()
}

/// The ids of every page of a search, and how many pages there were.
fn searched(server: &Server, mut ask: Value) -> (Vec<String>, usize) {
    let (mut ids, mut pages) = (Vec::new(), 0);
    loop {
        let page = server.post("/v1/search", &ask).is(200).json();
        let hits = page["hits"].as_array().unwrap();
        assert!(hits.len() <= ask["limit"].as_u64().unwrap() as usize, "{page}");
        ids.extend(hits.iter().map(|hit| hit["id"].as_str().unwrap().to_owned()));
        pages += 1;
        match page.get("next") {
            Some(next) => ask["cursor"] = next.clone(),
            None => return (ids, pages),
        }
    }
}

#[test]
fn pages_of_a_search_hold_every_hit_once_whatever_the_ranking() {
    let env = TestEnv::ready();
    // Trusted memories take places from others, and how many depends on how many are asked for.
    for n in 0..9 {
        env.at_terminal(&["add", "decision", &format!("Use queue worker {n} because trial {n} passed")], "")
            .ok();
    }
    let server = Server::start(&env);
    for n in 0..14 {
        let text = format!("The queue worker {n} queue worker needs queue {n} restarts");
        server.post("/v1/memories", &json!({ "kind": "note", "text": text })).is(201);
        let turn = format!("we spoke of the queue worker for the {n}. time");
        server.post("/v1/memories", &json!({ "kind": "episode", "text": turn })).is(201);
    }
    let whole = |ask: &Value| {
        let mut ask = ask.clone();
        ask["limit"] = json!(200);
        searched(&server, ask).0.into_iter().collect::<BTreeSet<_>>()
    };
    for strategy in ["hybrid", "title_tags"] {
        env.run(&["config", "set", "retrieval.match_strategy", strategy]).ok();
        for ask in [
            json!({ "query": "queue worker", "limit": 4 }),
            json!({ "query": "queue worker", "limit": 5, "tier": "episodic" }),
            json!({ "query": "kind:note", "limit": 5 }),
        ] {
            let (ids, pages) = searched(&server, ask.clone());
            let once: BTreeSet<String> = ids.iter().cloned().collect();
            assert_eq!(ids.len(), once.len(), "{strategy} {ask}: a hit came twice");
            assert_eq!(once, whole(&ask), "{strategy} {ask}");
            assert!(pages >= 3 && ids.len() >= 14, "{strategy} {ask}: {pages} pages of {}", ids.len());
        }
    }
    let first = server.post("/v1/search", &json!({ "query": "queue worker", "limit": 4 })).is(200).json();
    for wrong in [
        json!({ "query": "another question", "limit": 4, "cursor": first["next"] }),
        json!({ "query": "queue worker", "cursor": "0.0.abc" }),
    ] {
        server.post("/v1/search", &wrong).fails(400, "USAGE");
    }
}

#[test]
fn a_memory_that_is_added_between_two_pages_moves_none_of_them() {
    let env = TestEnv::ready();
    let server = Server::start(&env);
    let add = |n: usize| {
        let text = format!("Use cache shelf {n} because shelf {n} is near");
        server.post("/v1/memories", &json!({ "kind": "decision", "text": text })).is(201);
    };
    (0..8).for_each(add);
    let mut ask = json!({ "query": "cache shelf", "limit": 5 });
    let first = server.post("/v1/search", &ask).is(200).json();
    (8..14).for_each(add);
    ask["cursor"] = first["next"].clone();
    let (rest, _) = searched(&server, ask);
    let given: Vec<String> =
        first["hits"].as_array().unwrap().iter().map(|hit| hit["id"].as_str().unwrap().to_owned()).collect();
    assert!(rest.iter().all(|id| !given.contains(id)), "{given:?} {rest:?}");
    assert_eq!(given.len() + rest.len(), 14);
}

/// The numbers of every page's lines, newest page first.
fn audited(server: &Server, query: &str, between: &dyn Fn()) -> Vec<Vec<u64>> {
    let mut pages = Vec::new();
    let mut path = format!("/v1/audit?{query}");
    loop {
        let page = server.get(&path).is(200).json();
        pages.push(
            page["lines"].as_array().unwrap().iter().map(|line| line["seq"].as_u64().unwrap()).collect(),
        );
        let Some(next) = page["next"].as_str() else { return pages };
        between();
        path = format!("/v1/audit?{query}&cursor={next}");
    }
}

#[test]
fn pages_of_an_audit_go_back_to_its_first_line_while_others_write() {
    let env = TestEnv::ready();
    let server = Server::start(&env);
    for n in 0..6 {
        let text = format!("Use tool {n} because tool {n} is there");
        server.post("/v1/memories", &json!({ "kind": "decision", "text": text })).is(201);
        let turn = format!("we spoke of tool {n}");
        server.post("/v1/memories", &json!({ "kind": "episode", "text": turn })).is(201);
    }
    let write = || {
        server.post("/v1/memories", &json!({ "kind": "episode", "text": "one more turn" })).is(201);
        env.run(&["add", "decision", "Use one more thing because it came in between"]);
    };
    for chain in ["project", "own"] {
        let whole = server.get(&format!("/v1/audit?chain={chain}&limit=1000")).is(200).json();
        assert!(whole.get("next").is_none());
        let before = whole["lines"].as_array().unwrap().len() as u64;
        let pages = audited(&server, &format!("chain={chain}&limit=4"), &write);
        assert!(pages.len() >= 2, "{chain}: {pages:?}");
        let numbers: Vec<u64> = pages.into_iter().rev().flatten().collect();
        assert_eq!(numbers.first(), Some(&whole["lines"][0]["seq"].as_u64().unwrap()), "{chain}");
        assert!(numbers.is_sorted() && numbers.windows(2).all(|two| two[0] != two[1]), "{numbers:?}");
        assert_eq!(numbers.len() as u64, before, "{chain}");
    }
    let next = server.get("/v1/audit?limit=1").is(200).json()["next"].as_str().unwrap().to_owned();
    server.get(&format!("/v1/audit?limit=1&chain=own&cursor={next}")).fails(400, "USAGE");
    server.get(&format!("/v1/audit?limit=1&verdict=refuse&cursor={next}")).fails(400, "USAGE");
}

#[test]
fn runs_of_hooks_come_page_by_page() {
    let env = TestEnv::ready();
    let server = Server::start(&env);
    for n in 0..5 {
        let prompt = json!({ "hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": env.project(), "prompt": format!("prompt {n}") });
        env.run_with(&["hook", "prompt"], prompt.to_string().as_bytes());
    }
    let whole = server.get("/v1/runs?limit=1000").is(200).json();
    let count = whole["runs"].as_array().unwrap().len();
    assert!(count >= 5 && whole.get("next").is_none(), "{whole}");
    let (mut runs, mut path) = (Vec::new(), "/v1/runs?limit=2".to_owned());
    loop {
        let page = server.get(&path).is(200).json();
        runs.extend(page["runs"].as_array().unwrap().clone());
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/v1/runs?limit=2&cursor={next}");
    }
    assert_eq!(json!(runs), whole["runs"]);
}

fn sent(server: &Server, token: &str, query: &str, body: &str) -> Reply {
    let request = format!(
        "POST /v1/import{query} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\nContent-Length: {}\r\n\r\n{body}",
        server.port,
        body.len()
    );
    read(&server.raw(request.as_bytes()))
}

fn last(reply: &Reply) -> Value {
    serde_json::from_str(reply.body.lines().last().unwrap()).unwrap()
}

/// A project with something on each shelf of files.
fn filled(env: &TestEnv) {
    env.run(&["add", "decision", "Use PostgreSQL because we need jsonb"]).ok();
    env.run(&["add", "lesson", "The rebase lost commits, the reflog finds them", "--topic", "git/rebase"])
        .ok();
    env.run(&["add", "note", "A message of\ntwo lines."]).ok();
    env.at_terminal(&["add", "canon", "Calm software", "--scope", "shared"], "y\n").ok();
}

#[test]
fn every_shelf_of_a_served_project_goes_out_and_comes_in_as_a_stream() {
    let (one, two) = (TestEnv::ready(), TestEnv::ready());
    filled(&one);
    let (from, to) = (Server::start(&one), Server::start(&two));
    let stream = from.get("/v1/export?shelf=files").is(200);
    assert_eq!(stream.header("content-type"), Some("application/x-ndjson"));
    let rehearsed = last(&sent(&to, &to.token, "?dry_run=true", &stream.body).is(200))["result"].clone();
    assert_eq!(rehearsed["dry_run"], true);
    assert_eq!(to.get("/v1/memories").is(200).json()["memories"], json!([]));
    let reply = sent(&to, &to.token, "", &stream.body).is(200);
    assert!(reply.body.lines().any(|line| line.starts_with("{\"progress\"")), "{reply:?}");
    let result = last(&reply)["result"].clone();
    let shelves = texts(&result["shelves"], "shelf");
    assert_eq!(shelves, ["records", "topics", "notes", "vault"], "{result}");
    assert_eq!(result["refused"], json!([]), "{result}");
    let ids = |server: &Server| -> BTreeSet<String> {
        texts(&server.get("/v1/memories").is(200).json()["memories"], "id").into_iter().collect()
    };
    // A canon is a person's to make: it waits.
    let (mut wanted, got) = (ids(&from), ids(&to));
    wanted.retain(|id| !id.starts_with("canon:"));
    assert_eq!(got.into_iter().filter(|id| !id.starts_with("canon:")).collect::<BTreeSet<_>>(), wanted);
    let again = last(&sent(&to, &to.token, "", &stream.body).is(200));
    assert!(
        again["result"]["shelves"].as_array().unwrap().iter().all(|shelf| shelf["new"] == json!([])),
        "{again}"
    );
    // One shelf alone, and the same stream by the command line.
    let records = from.get("/v1/export?shelf=records&retired=true").is(200).body;
    assert!(
        records.contains("use-postgresql")
            && !records.contains("rebase")
            && records.ends_with("{\"end\":1}\n")
    );
    let three = TestEnv::ready();
    three.write("shelves.ndjson", &stream.body);
    three.run(&["import", "shelves.ndjson"]).ok();
    assert!(three.run(&["list"]).ok().stdout.contains("PostgreSQL"));
    // Nothing that came is left behind.
    let left =
        std::fs::read_dir(two.home().join("data/heirloom")).unwrap().flatten().map(|entry| entry.file_name());
    assert!(left.into_iter().all(|name| !name.to_string_lossy().starts_with("incoming-")));
}

#[test]
fn files_go_to_nobody_but_the_account_and_wrong_streams_bring_nothing() {
    let env = TestEnv::ready();
    filled(&env);
    let server = Server::start(&env);
    let stream = server.get("/v1/export?shelf=files").is(200).body;
    let eve = token_of(&env, "eve", "read,write,delete,admin");
    let project = server.get("/v1/projects").json()["projects"][0]["id"].as_str().unwrap().to_owned();
    for query in ["shelf=files".to_owned(), format!("shelf=records&project={project}")] {
        server.ask_with(&eve, "GET", &format!("/v1/export?{query}"), None, &[]).fails(404, "NOT_FOUND");
    }
    assert_eq!(last(&sent(&server, &eve, "", &stream).is(200))["error"]["code"], "NOT_FOUND");
    for (query, code) in [("shelf=all", 400), ("shelf=files&all_users=true", 400), ("retired=true", 400)] {
        server.get(&format!("/v1/export?{query}")).fails(code, "USAGE");
    }
    let lines: Vec<&str> = stream.lines().collect();
    let head = lines[0];
    let one =
        |name: &str| json!({ "name": name, "text": "{\"title\":\"T\",\"content\":{\"decision\":\"x\"}}" });
    let cut = lines[..lines.len() - 1].join("\n");
    for wrong in [
        cut,
        format!("{head}\n{}\n{{\"end\":1}}\n", one("../../evil.json")),
        format!("{head}\n{}\n{{\"end\":1}}\n", one("/etc/evil.json")),
        format!("{head}\n{0}\n{0}\n{{\"end\":2}}\n", one("decisions/twice.json")),
        format!("{head}\n{}\n{{\"end\":2}}\n", one("decisions/short.json")),
        format!("{head}\n{}\n{{\"end\":1}}\n{{}}\n", one("decisions/more.json")),
        format!("{head}\nno json\n{{\"end\":0}}\n"),
        format!("{head}\n{{\"nothing\":1}}\n{{\"end\":0}}\n"),
    ] {
        let error = last(&sent(&server, &server.token, "", &wrong).is(200))["error"].clone();
        assert_eq!(error["code"], "INPUT_ERROR", "{error}");
        assert!(!error.to_string().contains("incoming-"), "{error}");
    }
    assert!(!server.get("/v1/memories?limit=200").is(200).body.contains("evil"));
}

#[test]
fn every_change_of_a_large_import_is_told_as_an_event_though_nothing_follows_it() {
    let env = TestEnv::ready();
    env.run(&["config", "set", "max_memories_per_category", "1000"]).ok();
    let server = Server::start(&env);
    let mut stream = server.connect();
    let request = format!(
        "GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\r\n",
        server.port, server.token
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.starts_with(": from now on")));
    let count = 450;
    let files: String = (0..count)
        .map(|n| {
            let document = json!({ "title": format!("Use number {n}"), "category": "decision", "schema_version": "1.0",
                "tags": ["x"], "created_at": "2025-01-01T00:00:00Z", "updated_at": "2025-02-01T00:00:00Z", "record_status": "active",
                "content": { "status": "accepted", "context": "c", "decision": format!("Use number {n}"), "rationale": ["r"] } });
            format!("{}\n", json!({ "name": format!("decisions/use-number-{n}.json"), "text": document.to_string() }))
        })
        .collect();
    let body = format!("{{\"archive\":\"heirloom-files\",\"version\":1}}\n{files}{{\"end\":{count}}}\n");
    let result = last(&sent(&server, &server.token, "", &body).is(200))["result"].clone();
    assert_eq!(result["shelves"][0]["new"].as_array().map(Vec::len), Some(count), "{}", result["refused"][0]);
    let mut told = BTreeSet::new();
    for line in lines {
        if let Some(data) = line.strip_prefix("data: ") {
            let event: Value = serde_json::from_str(data).unwrap();
            told.insert(event["id"].as_str().unwrap().to_owned());
        }
        if told.len() == count {
            break;
        }
    }
    assert_eq!(told.len(), count);
}

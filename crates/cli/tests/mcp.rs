//! MCP over standard streams: what a client sees of the memory, and what it can never do.

use crate::env::{HEIRLOOM, TestEnv};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// A client of the server, one line at a time.
pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    last: i64,
    roots: Vec<String>,
}

impl Client {
    /// A server that nobody has talked to yet.
    pub(crate) fn start(env: &TestEnv, args: &[&str], folder: &Path) -> Client {
        let mut command = env.command(HEIRLOOM);
        command.arg("mcp").args(args).current_dir(folder);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Client { child, stdin, stdout, last: 0, roots: Vec::new() }
    }

    /// One that has been greeted.
    pub(crate) fn open(env: &TestEnv) -> Client {
        Client::open_at(env, &[], &env.project(), &[])
    }

    /// The same, started in a folder, with these roots.
    pub(crate) fn open_at(env: &TestEnv, args: &[&str], folder: &Path, roots: &[&Path]) -> Client {
        let mut client = Client::start(env, args, folder);
        client.roots = roots.iter().map(|root| format!("file://{}", root.display())).collect();
        client.greet();
        client
    }

    pub(crate) fn greet(&mut self) -> Value {
        let capabilities =
            if self.roots.is_empty() { json!({}) } else { json!({ "roots": { "listChanged": true } }) };
        let greeting = self.ask(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": capabilities,
                "clientInfo": { "name": "test", "version": "1" },
            }),
        );
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        greeting["result"].clone()
    }

    /// Writes a line.
    pub(crate) fn send(&mut self, line: &str) {
        self.send_bytes(line.as_bytes());
    }

    pub(crate) fn send_bytes(&mut self, line: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line).unwrap();
        stdin.write_all(b"\n").unwrap();
        stdin.flush().unwrap();
    }

    /// The next message that is no question to us; those are answered.
    pub(crate) fn receive(&mut self) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.stdout.read_line(&mut line).unwrap() > 0, "the server is gone");
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
            if message["method"] == "roots/list" {
                let roots: Vec<Value> = self.roots.iter().map(|uri| json!({ "uri": uri })).collect();
                let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "roots": roots } });
                self.send(&answer.to_string());
                continue;
            }
            return message;
        }
    }

    /// Asks and waits for the answer.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
        }
    }

    /// Calls a tool; the whole result.
    #[track_caller]
    pub(crate) fn result(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    /// Calls a tool that does what it is asked.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.result(tool, arguments);
        assert_eq!(result["isError"], false, "{result}");
        assert!(!result["content"][0]["text"].as_str().unwrap().is_empty());
        let answer = result["structuredContent"].clone();
        assert!(answer["project"]["id"].is_string() && answer["project"]["name"].is_string(), "{answer}");
        answer
    }

    /// Calls a tool that refuses; its error.
    #[track_caller]
    pub(crate) fn refused(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.result(tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        let error = result["structuredContent"]["error"].clone();
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(error["code"].as_str().unwrap()), "{result}");
        assert!(!error["next"].as_str().unwrap().is_empty() && text.contains("next: "), "{result}");
        error
    }

    /// Adds a decision; its id.
    #[track_caller]
    pub(crate) fn decide(&mut self, text: &str) -> String {
        self.call("add_memory", json!({ "kind": "decision", "text": text }))["id"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Closes our side; how it ended.
    pub(crate) fn close(mut self) -> Option<i32> {
        drop(self.stdin.take());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_client_finds_eight_tools_and_ends_the_server_by_closing_its_side() {
    let env = TestEnv::ready();
    let mut client = Client::start(&env, &[], &env.project());
    let greeting = client.greet();
    assert_eq!(greeting["protocolVersion"], "2025-11-25");
    assert_eq!(greeting["serverInfo"]["name"], "heirloom");
    assert!(greeting["instructions"].as_str().unwrap().len() < 1024);
    let tools = client.ask("tools/list", json!({}));
    let names: Vec<&str> = tools["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "search_memories",
            "get_memory",
            "add_memory",
            "update_memory",
            "retire_memory",
            "list_memories",
            "recall",
            "session_memory"
        ]
    );
    // Four bytes are a token at least, in whichever tokenizer: the real count is taken by the client tests.
    assert!(tools["result"]["tools"].to_string().len() < 6_500);
    assert_eq!(client.close(), Some(0));
}

#[test]
fn what_is_written_is_seen_by_the_next_read_and_every_id_resolves() {
    let env = TestEnv::ready();
    let mut client = Client::open(&env);
    let added = client.call(
        "add_memory",
        json!({ "kind": "decision", "text": "Use PostgreSQL because we need jsonb", "tags": ["db"] }),
    );
    let id = added["id"].as_str().unwrap();
    let got = client.call("get_memory", json!({ "ids": [id] }));
    assert_eq!(got["memories"][0]["version"], added["version"]);
    assert!(got["memories"][0]["body"].as_str().unwrap().contains("jsonb"));
    let found = client.call("search_memories", json!({ "query": "PostgreSQL" }));
    assert_eq!(found["hits"][0]["id"], id);
    let listed = client.call("list_memories", json!({ "kind": "decision" }));
    assert_eq!(listed["memories"][0]["id"], id);
    let recalled = client.call("recall", json!({ "prompt": "which PostgreSQL database do we use?" }));
    assert!(recalled["block"].as_str().unwrap().to_lowercase().contains("postgresql"), "{recalled}");
    // The command line sees it as well.
    assert_eq!(env.run(&["show", id, "--json"]).ok().json()["version"], added["version"]);
}

#[test]
fn an_update_needs_the_version_and_leaves_a_newer_one_alone() {
    let env = TestEnv::ready();
    let mut client = Client::open(&env);
    let added =
        client.call("add_memory", json!({ "kind": "decision", "text": "Use SQLite because it is small" }));
    let (id, version) = (added["id"].clone(), added["version"].clone());
    assert_eq!(client.refused("update_memory", json!({ "id": id, "tags": ["db"] }))["code"], "USAGE");
    let changed = client.call("update_memory", json!({ "id": id, "version": version, "tags": ["db"] }));
    assert_ne!(changed["version"], version);
    let late = client.refused("update_memory", json!({ "id": id, "version": version, "tags": ["late"] }));
    assert_eq!(late["code"], "OCC_CONFLICT");
    let got = client.call("get_memory", json!({ "ids": [id] }));
    assert!(!got["memories"][0]["tags"].to_string().contains("late"));
}

#[test]
fn what_a_person_wrote_waits_for_a_person_and_nothing_changes() {
    let env = TestEnv::ready();
    env.at_terminal(&["add", "decision", "Use PostgreSQL because we need jsonb"], "").ok();
    let mut client = Client::open(&env);
    let id = client.call("list_memories", json!({}))["memories"][0]["id"].as_str().unwrap().to_owned();
    let before = client.call("get_memory", json!({ "ids": [id] }))["memories"][0].clone();
    let waits =
        client.call("update_memory", json!({ "id": id, "version": before["version"], "title": "Use MySQL" }));
    assert_eq!(waits["status"], "waits");
    assert_eq!(waits["code"], "NEEDS_CONFIRMATION");
    assert_eq!(waits["id"], id.as_str());
    assert!(waits["next"].as_str().unwrap().contains(waits["key"].as_str().unwrap()));
    let retired = client.call("retire_memory", json!({ "id": id, "reason": "old" }));
    assert_eq!(retired["status"], "waits");
    assert_eq!(client.call("get_memory", json!({ "ids": [id] }))["memories"][0], before);
    let pending = env.run(&["review", "--json"]).ok().stdout;
    assert!(pending.contains(waits["key"].as_str().unwrap()), "{pending}");
}

#[test]
fn a_server_started_from_a_terminal_makes_nobody_a_person() {
    let env = TestEnv::ready();
    let lines = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "add_memory", "arguments": { "kind": "decision", "text": "Use Rust because it is safe" } } }),
    ];
    let typed: String = lines.iter().map(|line| format!("{line}\n")).collect();
    // The end-of-file key of a terminal closes the client's side.
    let ran = env.at_terminal(&["mcp"], &format!("{typed}\u{4}"));
    assert!(ran.stdout.contains("\"id\":2"), "{ran:?}");
    let listed = env.run(&["list", "--json"]).ok().items();
    assert_ne!(listed[0]["trust"], "high", "{listed}");
}

#[test]
fn a_part_of_a_name_stands_for_nothing() {
    let env = TestEnv::ready();
    let mut client = Client::open(&env);
    let id = client.decide("Use PostgreSQL because we need jsonb");
    let part = id.split_once(':').unwrap().1;
    for name in [part, &part[..4], "", " "] {
        assert!(
            matches!(client.refused("get_memory", json!({ "ids": [name] }))["code"].as_str(), Some("USAGE")),
            "{name}"
        );
    }
    assert_eq!(client.refused("retire_memory", json!({ "id": part, "reason": "x" }))["code"], "USAGE");
    assert_eq!(client.refused("get_memory", json!({ "ids": [format!("{id}x")] }))["code"], "NOT_FOUND");
    let some = client.call("get_memory", json!({ "ids": [id, "decision:nothing-of-the-kind"] }));
    assert_eq!(some["memories"].as_array().unwrap().len(), 1);
    assert_eq!(some["missing"][0]["error"]["code"], "NOT_FOUND");
}

#[test]
fn what_the_gate_refuses_is_refused_with_the_code_of_the_command_line() {
    let env = TestEnv::ready();
    let mut client = Client::open(&env);
    let text =
        format!("The deploy key is ghp_{} because CI needs it", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let error = client.refused("add_memory", json!({ "kind": "decision", "text": text }));
    env.run(&["add", "decision", &text, "--json"]).fails_with(error["code"].as_str().unwrap(), 1);
    assert!(!error.to_string().contains("ghp_"));
}

#[test]
fn two_windows_on_two_projects_never_mix() {
    let env = TestEnv::ready();
    let other = env.base().join("other");
    std::fs::create_dir(&other).unwrap();
    let other_name = other.to_str().unwrap();
    env.run(&["init", "--project", other_name]).ok();
    let mut one = Client::open(&env);
    let mut two = Client::open_at(&env, &[], &other, &[]);
    let first =
        one.call("add_memory", json!({ "kind": "decision", "text": "Use tabs because of tradition" }));
    let second = two.call("add_memory", json!({ "kind": "decision", "text": "Use spaces because of taste" }));
    assert_eq!(
        (first["project"]["name"].as_str(), second["project"]["name"].as_str()),
        (Some("project"), Some("other"))
    );
    assert_ne!(first["project"]["id"], second["project"]["id"]);
    assert_eq!(one.call("list_memories", json!({}))["memories"].as_array().unwrap().len(), 1);
    assert_eq!(two.refused("get_memory", json!({ "ids": [first["id"]] }))["code"], "NOT_FOUND");
}

#[test]
fn the_project_is_the_named_one_then_the_hosts_then_the_one_root_then_the_folder() {
    let mut env = TestEnv::ready();
    let places: Vec<_> = ["named", "hosts", "rooted"].iter().map(|name| env.base().join(name)).collect();
    for place in &places {
        std::fs::create_dir(place).unwrap();
    }
    let serves = |env: &TestEnv, args: &[&str], roots: &[&Path]| {
        let mut client = Client::open_at(env, args, &env.project(), roots);
        client.call("list_memories", json!({}))["project"]["name"].as_str().unwrap().to_owned()
    };
    assert_eq!(serves(&env, &[], &[]), "project");
    assert_eq!(serves(&env, &[], &[&places[2]]), "rooted");
    let hosts = places[1].to_str().unwrap().to_owned();
    env.set("CLAUDE_PROJECT_DIR", &hosts);
    assert_eq!(serves(&env, &[], &[&places[2]]), "hosts");
    assert_eq!(serves(&env, &["--project", places[0].to_str().unwrap()], &[&places[2]]), "named");
}

#[test]
fn several_roots_are_refused_with_the_list_until_one_is_left() {
    let env = TestEnv::ready();
    let (a, b) = (env.base().join("a"), env.base().join("b"));
    std::fs::create_dir(&a).unwrap();
    std::fs::create_dir(&b).unwrap();
    let mut client = Client::open_at(&env, &[], &env.project(), &[&a, &b]);
    let error = client.refused("list_memories", json!({}));
    assert_eq!(error["code"], "AMBIGUOUS");
    for place in [&a, &b] {
        assert!(error["message"].as_str().unwrap().contains(place.to_str().unwrap()), "{error}");
    }
    assert!(error["next"].as_str().unwrap().contains("--project"));
    client.roots.truncate(1);
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" }).to_string());
    assert_eq!(client.call("list_memories", json!({}))["project"]["name"], "a");
}

#[test]
fn every_listed_resource_can_be_read_and_no_other() {
    let env = TestEnv::ready();
    let mut client = Client::open(&env);
    client.decide("Use PostgreSQL because we need jsonb");
    client.call("add_memory", json!({ "kind": "lesson", "text": "Rebase lost commits; reflog brought them back", "topic": "git/rebase" }));
    client.call("add_memory", json!({ "kind": "note", "text": "The build server is slow on Mondays, which everybody should know about." }));
    let listed = client.ask("resources/list", json!({}))["result"]["resources"].clone();
    assert_eq!(listed.as_array().unwrap().len(), 3);
    for resource in listed.as_array().unwrap() {
        let uri = resource["uri"].as_str().unwrap();
        let read = client.ask("resources/read", json!({ "uri": uri }));
        let contents = &read["result"]["contents"][0];
        assert_eq!(contents["uri"], uri, "{read}");
        assert!(contents["text"].as_str().unwrap().contains(resource["name"].as_str().unwrap()), "{read}");
    }
    let templates = client.ask("resources/templates/list", json!({}));
    assert!(
        templates["result"]["resourceTemplates"][0]["uriTemplate"].as_str().unwrap().starts_with("memory://")
    );
    for uri in ["memory://decision/nothing", "file:///etc/passwd", "memory://decision/..%2F..%2Fpasswd"] {
        let error = client.ask("resources/read", json!({ "uri": uri }))["error"].clone();
        assert_eq!(error["code"], -32002, "{uri}: {error}");
        assert!(!error["data"]["next"].as_str().unwrap().is_empty());
    }
}

#[test]
fn a_long_resource_says_where_it_was_cut_and_how_to_read_on() {
    let env = TestEnv::ready();
    let mut client = Client::open(&env);
    let text = format!("Begin {} The very end.", "word ".repeat(9_000));
    let id = client.call("add_memory", json!({ "kind": "note", "text": text }))["id"].clone();
    let uri = client.ask("resources/list", json!({}))["result"]["resources"][0]["uri"].clone();
    let read = client.ask("resources/read", json!({ "uri": uri }));
    let shown = read["result"]["contents"][0]["text"].as_str().unwrap().to_owned();
    assert!(shown.len() < 26_000 && !shown.contains("The very end."), "{}", shown.len());
    let cursor = shown.split("cursor \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap().to_owned();
    let (mut rest, mut ask) = (String::new(), json!({ "ids": [id], "cursor": cursor }));
    loop {
        let part = client.call("get_memory", ask.clone());
        rest.push_str(part["memories"][0]["body"].as_str().unwrap());
        match part.get("next") {
            Some(next) => ask["cursor"] = next.clone(),
            None => break,
        }
    }
    assert!(rest.ends_with("The very end."));
    let body = shown.split_once("- version").unwrap().1;
    assert_eq!(body.matches("word").count() + rest.matches("word").count(), 9_000);
}

#[test]
fn there_are_three_prompts_and_one_without_its_argument_says_which_is_missing() {
    let env = TestEnv::ready();
    let mut client = Client::open(&env);
    let prompts = client.ask("prompts/list", json!({}))["result"]["prompts"].clone();
    let names: Vec<&str> =
        prompts.as_array().unwrap().iter().map(|prompt| prompt["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["recall", "remember", "session_summary"]);
    let got =
        client.ask("prompts/get", json!({ "name": "recall", "arguments": { "task": "speed up the build" } }));
    assert!(got["result"]["messages"][0]["content"]["text"].as_str().unwrap().contains("speed up the build"));
    assert!(client.ask("prompts/get", json!({ "name": "session_summary" }))["result"]["messages"].is_array());
    let missing = client.ask("prompts/get", json!({ "name": "remember" }))["error"].clone();
    assert!(missing["message"].as_str().unwrap().contains("`text`"), "{missing}");
}

#[test]
fn ten_thousand_bad_lines_end_nothing_and_readable_ids_are_answered() {
    let env = TestEnv::ready();
    let mut client = Client::open(&env);
    for n in 0..10_000 {
        match n % 5 {
            0 => client.send("this is not json"),
            1 => client.send_bytes(b"\xff\xfe\x00"),
            2 => client.send("[]"),
            3 => client.send("{\"jsonrpc\":\"2.0\",\"method\":\"no/such/notification\"}"),
            _ => client.send(&"[".repeat(300)),
        }
    }
    client.send(r#"{"jsonrpc":"2.0","id":"broken","method":"tools/list","#);
    let answer = client.receive();
    assert_eq!((answer["id"].as_str(), answer["error"]["code"].as_i64()), (Some("broken"), Some(-32700)));
    client.send(r#"{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":7}}"#);
    let answer = client.receive();
    assert_eq!((answer["id"].as_i64(), answer["error"]["code"].as_i64()), (Some(77), Some(-32602)));
    let long = format!(
        r#"{{"jsonrpc":"2.0","id":78,"method":"tools/call","params":{{"x":"{}"}}}}"#,
        "a".repeat(20_000_000)
    );
    client.send(&long);
    assert_eq!(client.receive()["id"], 78);
    let peak = std::fs::read_to_string(format!("/proc/{}/status", client.child.id())).unwrap();
    let peak = peak.lines().find(|line| line.starts_with("VmHWM")).unwrap().to_owned();
    let kilobytes: u64 = peak.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kilobytes < 200_000, "{peak}");
    assert_eq!(client.call("list_memories", json!({}))["memories"], json!([]));
}

#[test]
fn lines_before_the_greeting_end_nothing() {
    let env = TestEnv::ready();
    let mut client = Client::start(&env, &[], &env.project());
    client.send("junk");
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    client.send(r#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
    let early = client.ask("tools/list", json!({}));
    assert!(early["error"]["code"].is_i64(), "{early}");
    client.greet();
    client.call("list_memories", json!({}));
}

#[test]
fn what_was_asked_before_the_client_closed_its_side_is_still_answered() {
    let env = TestEnv::ready();
    let greeting = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
    let mut lines = format!("{greeting}\n");
    for id in 1..=20 {
        let add = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "add_memory", "arguments": { "kind": "decision", "text": format!("Use variant {id} because number {id} is the best of them all") } } });
        lines.push_str(&format!("{add}\n"));
    }
    // The last line has no end of its own.
    let ran = env.run_with(&["mcp"], lines.trim_end().as_bytes()).ok();
    let answered = ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let done = answered.filter(|answer| answer["result"]["structuredContent"]["status"] == "created").count();
    assert_eq!(done, 20, "{}", ran.stdout);
    assert_eq!(env.run(&["list", "--json"]).ok().items().as_array().unwrap().len(), 20);
}

#[test]
fn the_stateless_revision_needs_no_greeting() {
    let env = TestEnv::ready();
    let mut client = Client::start(&env, &[], &env.project());
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
    });
    let about = client.ask("server/discover", json!({ "_meta": meta }));
    assert!(about["result"]["supportedVersions"].to_string().contains("2026-07-28"), "{about}");
    let tools = client.ask("tools/list", json!({ "_meta": meta }));
    assert_eq!(tools["result"]["resultType"], "complete");
    assert!(tools["result"]["ttlMs"].is_u64());
    let listed = client.ask("tools/call", json!({ "name": "list_memories", "arguments": {}, "_meta": meta }));
    assert_eq!(listed["result"]["structuredContent"]["memories"], json!([]), "{listed}");
}

#[test]
fn long_answers_come_in_parts_that_fit_together() {
    let env = TestEnv::ready();
    let mut client = Client::open(&env);
    for n in 0..23 {
        client.decide(&format!("Use approach {n} because approach {n} worked in trial {n}"));
    }
    for (tool, list, arguments) in [
        ("list_memories", "memories", json!({ "limit": 10 })),
        ("search_memories", "hits", json!({ "query": "approach", "limit": 10 })),
    ] {
        let (mut seen, mut pages) = (Vec::new(), 0);
        let mut ask = arguments.clone();
        loop {
            let page = client.call(tool, ask.clone());
            seen.extend(
                page[list].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()),
            );
            pages += 1;
            match page.get("next") {
                Some(next) => ask["cursor"] = next.clone(),
                None => break,
            }
        }
        let count = seen.len();
        seen.sort();
        seen.dedup();
        assert_eq!((pages, count, seen.len()), (3, 23, 23), "{tool}");
        let mut other = arguments.clone();
        other["cursor"] = json!("0.1.abc");
        assert_eq!(client.refused(tool, other)["code"], "USAGE", "{tool}");
    }
    // A body longer than an answer.
    let long = format!("Ünïcode {}", "word ".repeat(11_000));
    let added = client.call("add_memory", json!({ "kind": "note", "text": long }));
    let mut ask = json!({ "ids": [added["id"]] });
    let mut body = String::new();
    loop {
        let part = client.call("get_memory", ask.clone());
        assert!(part.to_string().len() < 30_000);
        body.push_str(part["memories"][0]["body"].as_str().unwrap());
        match part.get("next") {
            Some(next) => ask["cursor"] = next.clone(),
            None => break,
        }
    }
    assert!(body.contains("Ünïcode") && body.matches("word").count() == 11_000);
}

#[test]
fn working_memory_lives_and_ends_with_the_process_and_is_nowhere_on_the_disk() {
    let env = TestEnv::ready();
    let mut client = Client::open(&env);
    let said = "the-unmistakable-sentence of this conversation";
    let kept = client.call(
        "session_memory",
        json!({ "action": "append", "session": "s1", "messages": [{ "role": "user", "content": said }] }),
    );
    assert_eq!(kept["count"], 1);
    let read = client.call("session_memory", json!({ "action": "read", "session": "s1" }));
    assert_eq!(read["messages"][0]["content"], said);
    assert_eq!(
        client.call("session_memory", json!({ "action": "read", "session": "s2" }))["messages"],
        json!([])
    );
    for (name, bytes) in env.files_below(&env.base()) {
        assert!(!String::from_utf8_lossy(&bytes).contains("the-unmistakable-sentence"), "{name}");
    }
    assert_eq!(client.close(), Some(0));
    let mut again = Client::open(&env);
    assert_eq!(
        again.call("session_memory", json!({ "action": "read", "session": "s1" }))["messages"],
        json!([])
    );
    assert_eq!(
        again.refused("session_memory", json!({ "action": "append", "session": "s1" }))["code"],
        "USAGE"
    );
}

#[test]
fn settings_that_change_under_the_server_count_from_the_next_call_on() {
    let env = TestEnv::ready();
    let mut client = Client::open(&env);
    assert_eq!(
        client.refused("add_memory", json!({ "kind": "recipe", "text": "Bread needs time" }))["code"],
        "USAGE"
    );
    env.at_terminal(&["config", "category", "add", "recipe"], "").ok();
    let added = client.call(
        "add_memory",
        json!({ "kind": "recipe", "text": "Bread needs time because yeast is slow", "title": "Bread" }),
    );
    assert_eq!(added["status"], "created");
}

#[test]
fn a_token_that_is_nobodys_is_told_so_by_every_tool() {
    let mut env = TestEnv::ready();
    env.set("HEIRLOOM_TOKEN", "hl_nobody");
    let mut client = Client::open(&env);
    let error = client.refused("list_memories", json!({}));
    assert_eq!(error["code"], "UNAUTHENTICATED");
}

//! One table over all doors: the same text from the same sort of caller gets the same verdict, the same code and the same line in the audit.

use crate::env::TestEnv;
use crate::http::Server;
use crate::mcp::Client;
use serde_json::{Value, json};

/// What came of a request: done, waits, or a code; and the lines the audit has of it.
#[derive(Debug, PartialEq, Eq)]
struct Verdict {
    became: String,
    audit: Vec<(String, String, String)>,
}

fn verdict(env: &TestEnv, became: impl Into<String>) -> Verdict {
    let lines = env.run(&["audit", "--json"]).ok().json();
    let text = |line: &Value, key: &str| line[key].as_str().unwrap_or_default().to_owned();
    let of = |line: &Value| (text(line, "action"), text(line, "verdict"), text(line, "channel"));
    Verdict { became: became.into(), audit: lines.as_array().unwrap().iter().map(of).collect() }
}

/// A request that every door can make.
struct Case {
    name: &'static str,
    /// Done by a person before.
    before: Option<&'static str>,
    kind: &'static str,
    text: String,
    wanted: &'static str,
}

fn cases() -> Vec<Case> {
    let secret =
        format!("The deploy key is ghp_{} because CI needs it", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let case =
        |name, kind, text: &str, wanted| Case { name, before: None, kind, text: text.to_owned(), wanted };
    vec![
        case("a plain decision", "decision", "Use PostgreSQL because we need jsonb", "done"),
        case("a secret", "decision", &secret, "GATE_REFUSED"),
        case("an unknown kind", "recipe", "Bread needs time", "USAGE"),
        case("an empty text", "decision", "", "VALIDATION_ERROR"),
        case("a lesson", "lesson", "Rebase lost commits; the reflog brought them back", "done"),
        case("a fact of a program", "fact", "Ana prefers green tea", "NEEDS_CONFIRMATION"),
        Case {
            name: "the same name again",
            before: Some("Use PostgreSQL because we need jsonb"),
            kind: "decision",
            text: "Use PostgreSQL because we need jsonb".to_owned(),
            wanted: "CREATE_ERROR",
        },
    ]
}

fn place(case: &Case) -> TestEnv {
    let env = TestEnv::ready();
    if let Some(text) = case.before {
        env.at_terminal(&["add", "decision", text], "").ok();
    }
    env
}

fn by_command(case: &Case) -> Verdict {
    let env = place(case);
    let ran = env.run(&["add", case.kind, &case.text, "--json"]);
    let became = match ran.code {
        Some(0) => "done".to_owned(),
        _ => ran.json()["error"]["code"].as_str().unwrap().to_owned(),
    };
    verdict(&env, became)
}

fn by_mcp(case: &Case) -> Verdict {
    let env = place(case);
    let mut client = Client::open(&env);
    let result = client.result("add_memory", json!({ "kind": case.kind, "text": case.text }));
    let answer = &result["structuredContent"];
    let became = match (result["isError"] == true, answer["status"] == "waits") {
        (true, _) => answer["error"]["code"].as_str().unwrap(),
        (_, true) => answer["code"].as_str().unwrap(),
        _ => "done",
    };
    verdict(&env, became)
}

fn by_http(case: &Case) -> Verdict {
    let env = place(case);
    let server = Server::start(&env);
    let reply = server.post("/v1/memories", &json!({ "kind": case.kind, "text": case.text }));
    let answer = reply.json();
    let became = match reply.status {
        201 => "done",
        202 => "NEEDS_CONFIRMATION",
        _ => answer["code"].as_str().unwrap(),
    };
    verdict(&env, became)
}

#[test]
fn every_door_gives_the_same_verdict_code_and_audit_line() {
    for case in cases() {
        let command = by_command(&case);
        assert_eq!(command.became, case.wanted, "{}", case.name);
        assert_eq!(by_mcp(&case), command, "{} over MCP", case.name);
        assert_eq!(by_http(&case), command, "{} over HTTP", case.name);
    }
}

//! mem0's API over HTTP: what its clients send, and what they can never do. The published clients themselves run in `cargo xtask clients`.

use crate::env::TestEnv;
use crate::http::{Reply, Server, token_of};
use serde_json::{Value, json};

/// A program that was written for mem0.
struct Client<'s> {
    server: &'s Server,
    token: String,
}

impl Client<'_> {
    #[track_caller]
    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Reply {
        let authorization = format!("Token {}", self.token);
        self.server.ask_with("", method, &format!("/mem0{path}"), body, &[("Authorization", &authorization)])
    }

    #[track_caller]
    fn add(&self, text: &str, more: Value) -> String {
        let mut body = json!({ "messages": [{ "role": "user", "content": text }] });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let added = self.ask("POST", "/v3/memories/add/", Some(&body)).is(200).json();
        added["results"][0]["id"].as_str().unwrap().replace(':', "%3A")
    }

    #[track_caller]
    fn texts(&self, filters: Value) -> Vec<String> {
        let page = self.ask("POST", "/v3/memories/", Some(&json!({ "filters": filters }))).is(200).json();
        let mut texts: Vec<String> = page["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["memory"].as_str().unwrap().to_owned())
            .collect();
        texts.sort();
        texts
    }
}

/// An error as mem0's clients read it.
#[track_caller]
fn fails(reply: Reply, status: u16, code: &str) -> Value {
    assert_eq!(reply.header("content-type"), Some("application/json"), "{reply:?}");
    let error = reply.is(status).json();
    assert_eq!(error["code"], code, "{error}");
    assert!(!error["detail"].as_str().unwrap().is_empty() && !error["next"].as_str().unwrap().is_empty());
    error
}

#[test]
fn every_error_is_plain_json_with_detail_also_before_a_path_is_found() {
    let env = TestEnv::ready();
    let server = Server::start(&env);
    let client = Client { server: &server, token: server.token.clone() };
    let nobody = Client { server: &server, token: "nobody".to_owned() };
    fails(nobody.ask("GET", "/v1/ping/", None), 401, "UNAUTHENTICATED");
    fails(server.ask_with("", "GET", "/mem0/v1/ping/", None, &[]), 401, "UNAUTHENTICATED");
    fails(client.ask("GET", "/v1/nothing/", None), 404, "NOT_FOUND");
    fails(client.ask("GET", "", None), 404, "NOT_FOUND");
    fails(client.ask("PATCH", "/v1/memories/", None), 405, "USAGE");
    fails(client.ask("GET", "/v1/memories/nope/", None), 404, "NOT_FOUND");
    fails(client.ask("POST", "/v3/memories/add/", Some(&json!([1]))), 400, "INPUT_ERROR");
    client.ask("GET", "/v1/ping", None).is(200);
    client.ask("GET", "/v1/ping/", None).is(200);
    // The words of other doors open this one as well; its own open no other.
    server.ask_with(&server.token, "GET", "/mem0/v1/ping/", None, &[]).is(200);
    server.ask_with("", "GET", "/mem0/memories?user_id=a", None, &[("X-API-Key", &server.token)]).is(200);
    let token = format!("Token {}", server.token);
    server.ask_with("", "GET", "/v1/stats", None, &[("Authorization", &token)]).fails(401, "UNAUTHENTICATED");
    server
        .ask_with("", "GET", "/mem0x/v1/ping", None, &[("Authorization", &token)])
        .fails(401, "UNAUTHENTICATED");
}

#[test]
fn messages_are_stored_word_for_word_and_nothing_is_inferred() {
    let env = TestEnv::ready();
    let token = token_of(&env, "app", "read,write,facts");
    let server = Server::start(&env);
    let client = Client { server: &server, token };
    let said = json!({ "messages": [
        { "role": "user", "content": "  I like green tea.  " },
        { "role": "assistant", "content": [{ "type": "text", "text": "Noted" }] },
    ], "user_id": "ann", "infer": false, "metadata": { "k": [1] } });
    let added = client.ask("POST", "/v3/memories/add/", Some(&said)).is(200).json();
    assert_eq!(
        (&added["status"], added["results"].as_array().unwrap().len()),
        (&json!("SUCCEEDED"), 2),
        "{added}"
    );
    assert!(added["message"].as_str().unwrap().contains("word for word"));
    assert_eq!(client.texts(json!({ "user_id": "ann" })), ["  I like green tea.  ", "Noted"]);
    for (more, code) in [
        (json!({ "infer": true, "user_id": "ann" }), "VALIDATION_ERROR"),
        (json!({}), "VALIDATION_ERROR"),
        (json!({ "user_id": "*" }), "VALIDATION_ERROR"),
        (json!({ "user_id": ["ann"] }), "VALIDATION_ERROR"),
        (json!({ "user_id": "ann", "metadata": "x" }), "VALIDATION_ERROR"),
        (json!({ "user_id": "ann", "expiration_date": "yesterday" }), "VALIDATION_ERROR"),
        (
            json!({ "user_id": "ann", "messages": [{ "role": "user", "content": [{ "type": "image_url" }] }] }),
            "VALIDATION_ERROR",
        ),
        (json!({ "user_id": "ann", "messages": [] }), "VALIDATION_ERROR"),
    ] {
        let mut body = json!({ "messages": "one more" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fails(client.ask("POST", "/v3/memories/add/", Some(&body)), 422, code);
    }
    let key = format!("the key is ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let body = json!({ "messages": [{ "role": "user", "content": "fine" }, { "role": "user", "content": key }], "user_id": "ann" });
    let error = fails(client.ask("POST", "/v3/memories/add/", Some(&body)), 422, "GATE_REFUSED");
    assert!(!error.to_string().contains("ghp_"));
    assert_eq!(client.texts(json!({ "user_id": "ann" })).len(), 2);
    let day = json!({ "messages": "until then", "user_id": "ann", "expiration_date": "2999-01-01" });
    fails(client.ask("POST", "/v3/memories/add/", Some(&day)), 422, "VALIDATION_ERROR");
}

#[test]
fn a_foreign_id_a_forged_entity_and_a_filter_never_reach_another_user() {
    let env = TestEnv::ready();
    let scopes = "read,write,facts,delete";
    let (one, two) = (token_of(&env, "one", scopes), token_of(&env, "two", scopes));
    let server = Server::start(&env);
    let (one, two) = (Client { server: &server, token: one }, Client { server: &server, token: two });
    // Both use the same labels, and one of them the other's name.
    let id = one.add("the zebrafinch sings", json!({ "user_id": "ann", "agent_id": "two" }));
    let own = two.add("the bicycle rolls", json!({ "user_id": "ann" }));
    for (method, path, body) in [
        ("GET", format!("/v1/memories/{id}/"), None),
        ("PUT", format!("/v1/memories/{id}/"), Some(json!({ "text": "mine now" }))),
        ("DELETE", format!("/v1/memories/{id}/"), None),
        ("GET", format!("/v1/memories/{id}/history/"), None),
        ("GET", format!("/memories/{id}"), None),
        ("DELETE", format!("/memories/{id}"), None),
    ] {
        fails(two.ask(method, &path, body.as_ref()), 404, "NOT_FOUND");
    }
    let both = json!({ "memories": [{ "memory_id": own.replace("%3A", ":") }, { "memory_id": id.replace("%3A", ":") }] });
    fails(two.ask("DELETE", "/v1/batch/", Some(&both)), 404, "NOT_FOUND");
    for filters in [
        json!({ "user_id": "ann" }),
        json!({ "user_id": "*" }),
        json!({ "agent_id": "two" }),
        json!({ "OR": [{ "user_id": "*" }, { "NOT": [{ "user_id": "x" }] }] }),
    ] {
        assert!(!two.texts(filters.clone()).iter().any(|text| text.contains("zebrafinch")), "{filters}");
        let ask = json!({ "query": "zebrafinch", "filters": filters, "threshold": 0 });
        let found = two.ask("POST", "/v3/memories/search/", Some(&ask)).is(200).body;
        assert!(!found.contains("zebrafinch"), "{found}");
    }
    for nameless in [json!({}), json!({ "filters": {} }), json!({ "filters": { "metadata": { "a": 1 } } })] {
        fails(two.ask("POST", "/v3/memories/", Some(&nameless)), 422, "VALIDATION_ERROR");
        let mut ask = nameless.clone();
        ask["query"] = json!("zebrafinch");
        fails(two.ask("POST", "/v3/memories/search/", Some(&ask)), 422, "VALIDATION_ERROR");
    }
    fails(two.ask("GET", "/memories", None), 422, "VALIDATION_ERROR");
    let entities = two.ask("GET", "/v1/entities/", None).is(200).json();
    assert_eq!(entities["results"].as_array().unwrap().len(), 1, "{entities}");
    two.ask("DELETE", "/v2/entities/agent/two/", None).is(200);
    two.ask("DELETE", "/v1/memories/?user_id=ann", None).is(200);
    assert_eq!(two.texts(json!({ "user_id": "*" })), Vec::<String>::new());
    assert_eq!(one.texts(json!({ "user_id": "ann" })), ["the zebrafinch sings"]);
    // Whose id it was stands in the audit of whoever tried it.
    let audit = server.ask_with(&two.token, "GET", "/v1/audit?chain=own", None, &[]).is(200).body;
    assert!(audit.contains("access_refused"), "{audit}");
}

#[test]
fn removing_everything_crosses_no_label_and_needs_one() {
    let env = TestEnv::ready();
    for scopes in ["read,write,facts", "read,write,facts,delete"] {
        let token = token_of(&env, "app", scopes);
        let server = Server::start(&env);
        let client = Client { server: &server, token };
        client.add("one", json!({ "user_id": "ann" }));
        client.add("two", json!({ "user_id": "ann", "run_id": "r" }));
        client.add("three", json!({ "user_id": "annette", "run_id": "r" }));
        client.add("four", json!({ "agent_id": "ann" }));
        let everything = json!({ "OR": [{ "user_id": "*" }, { "agent_id": "*" }] });
        for query in
            ["", "?", "?user_id=*", "?user_id=", "?project=x&user_id=ann", "?filters=user_id", "?metadata=x"]
        {
            fails(client.ask("DELETE", &format!("/v1/memories/{query}"), None), 422, "VALIDATION_ERROR");
        }
        fails(client.ask("DELETE", "/memories", None), 422, "VALIDATION_ERROR");
        fails(client.ask("DELETE", "/v2/entities/user/*/", None), 422, "VALIDATION_ERROR");
        fails(client.ask("DELETE", "/v2/entities/everything/x/", None), 422, "VALIDATION_ERROR");
        assert_eq!(client.texts(everything.clone()).len(), 4);
        client.ask("DELETE", "/v1/memories/?user_id=ann&run_id=r", None).is(200);
        assert_eq!(client.texts(everything.clone()), ["four", "one", "three"]);
        client.ask("DELETE", "/v1/memories/?user_id=ann", None).is(200);
        assert_eq!(client.texts(everything.clone()), ["four", "three"]);
        client.ask("DELETE", "/v2/entities/run/r/", None).is(200);
        assert_eq!(client.texts(everything.clone()), ["four"]);
        client.ask("DELETE", "/memories?agent_id=ann", None).is(200);
        assert_eq!(client.texts(everything), Vec::<String>::new());
    }
}

#[test]
fn a_token_without_a_scope_is_refused_and_one_without_facts_is_told_when_a_memory_ends() {
    let env = TestEnv::ready();
    let reads = token_of(&env, "app", "read");
    let writes =
        env.at_terminal(&["user", "token", "app", "--name", "w", "--scope", "read,write", "--json"], "").ok();
    let writes = writes.json()["token"].as_str().unwrap().to_owned();
    let server = Server::start(&env);
    let (reads, writes) =
        (Client { server: &server, token: reads }, Client { server: &server, token: writes });
    let body = json!({ "messages": "tea", "user_id": "ann" });
    fails(reads.ask("POST", "/v3/memories/add/", Some(&body)), 403, "SECURITY_ERROR");
    let added = writes.ask("POST", "/v3/memories/add/", Some(&body)).is(200).json();
    assert!(added["results"][0]["expires_at"].is_string(), "{added}");
    let id = added["results"][0]["id"].as_str().unwrap().replace(':', "%3A");
    assert!(added["results"][0]["id"].as_str().unwrap().starts_with("episode:"));
    for (method, path) in
        [("DELETE", format!("/v1/memories/{id}/")), ("DELETE", "/v1/memories/?user_id=ann".to_owned())]
    {
        fails(reads.ask(method, &path, None), 403, "SECURITY_ERROR");
    }
    fails(
        reads.ask("PUT", &format!("/v1/memories/{id}/"), Some(&json!({ "text": "x" }))),
        403,
        "SECURITY_ERROR",
    );
    assert_eq!(reads.texts(json!({ "user_id": "ann" })), ["tea"]);
    assert_eq!(reads.ask("GET", &format!("/v1/memories/{id}/"), None).is(200).json()["memory"], "tea");
}

#[test]
fn an_update_is_a_new_version_under_the_same_id_and_history_tells_it() {
    let env = TestEnv::ready();
    let token = token_of(&env, "app", "read,write,facts");
    let server = Server::start(&env);
    let client = Client { server: &server, token };
    let id = client.add("I like green tea", json!({ "user_id": "ann", "metadata": { "k": 1 } }));
    let path = format!("/v1/memories/{id}/");
    let changed = client.ask("PUT", &path, Some(&json!({ "text": "I like black tea" }))).is(200).json();
    assert_eq!((&changed["memory"], &changed["metadata"]), (&json!("I like black tea"), &json!({ "k": 1 })));
    assert_eq!(changed["id"].as_str().unwrap().replace(':', "%3A"), id);
    fails(client.ask("PUT", &path, Some(&json!({}))), 400, "USAGE");
    fails(client.ask("PUT", &path, Some(&json!({ "text": 5 }))), 422, "VALIDATION_ERROR");
    client.ask("DELETE", &path, None).is(200);
    fails(client.ask("GET", &path, None), 404, "NOT_FOUND");
    fails(client.ask("DELETE", &path, None), 404, "NOT_FOUND");
    let history = client.ask("GET", &format!("{path}history/"), None).is(200).json();
    let told: Vec<[&Value; 3]> = history
        .as_array()
        .unwrap()
        .iter()
        .map(|step| [&step["event"], &step["old_memory"], &step["new_memory"]])
        .collect();
    let (green, black) = (json!("I like green tea"), json!("I like black tea"));
    let null = Value::Null;
    let events = [json!("ADD"), json!("UPDATE"), json!("DELETE")];
    assert_eq!(
        told,
        [[&events[0], &null, &green], [&events[1], &green, &black], [&events[2], &black, &null]]
    );
    // The open-source server's paths stand over the same memories.
    let again = json!({ "messages": [{ "role": "user", "content": "coffee at nine" }], "user_id": "ann" });
    let added = client.ask("POST", "/memories", Some(&again)).is(200).json();
    let id = added["results"][0]["id"].as_str().unwrap().replace(':', "%3A");
    client.ask("PUT", &format!("/memories/{id}"), Some(&json!({ "text": "coffee at ten" }))).is(200);
    let found =
        client.ask("POST", "/search", Some(&json!({ "query": "coffee", "user_id": "ann" }))).is(200).json();
    assert_eq!(found["results"][0]["memory"], "coffee at ten", "{found}");
    let listed = client.ask("GET", "/memories?user_id=ann", None).is(200).json();
    assert_eq!(listed["results"].as_array().unwrap().len(), 1);
    assert_eq!(
        client.ask("GET", &format!("/memories/{id}/history"), None).is(200).json().as_array().unwrap().len(),
        2
    );
}

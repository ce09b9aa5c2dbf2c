//! Items over HTTP: what a program keeps under a namespace and key, and what it never reaches.

use crate::env::TestEnv;
use crate::http::{Reply, Server, token_of};
use serde_json::{Value, json};

/// A program with a token of its own.
struct Program<'s> {
    server: &'s Server,
    token: String,
}

impl Program<'_> {
    #[track_caller]
    fn ask(&self, method: &str, path: &str, body: &Value) -> Reply {
        self.server.ask_with(&self.token, method, path, Some(body), &[])
    }

    #[track_caller]
    fn put(&self, namespace: &[&str], key: &str, value: Value) -> Reply {
        self.ask("PUT", "/v1/items", &json!({ "namespace": namespace, "key": key, "value": value }))
    }

    #[track_caller]
    fn get(&self, namespace: &[&str], key: &str) -> Reply {
        self.ask("POST", "/v1/items/get", &json!({ "namespace": namespace, "key": key }))
    }

    #[track_caller]
    fn delete(&self, namespace: &[&str], key: &str) -> Reply {
        self.ask("POST", "/v1/items/delete", &json!({ "namespace": namespace, "key": key }))
    }

    #[track_caller]
    fn keys(&self, ask: Value) -> Vec<String> {
        let found = self.ask("POST", "/v1/items/search", &ask).is(200).json();
        let key = |item: &Value| item["key"].as_str().unwrap().to_owned();
        found["items"].as_array().unwrap().iter().map(key).collect()
    }
}

#[test]
fn an_item_comes_back_as_it_was_put_and_its_first_moment_survives() {
    let env = TestEnv::ready();
    let token = token_of(&env, "app", "read,write,facts");
    let server = Server::start(&env);
    let app = Program { server: &server, token };
    let value = json!({ "text": "größe 🎈", "n": 1.5, "big": 12345678901234567u64, "l": [1, "two", null], "o": { "x": { "y": true } } });
    let first = app.put(&["users", "ann"], "k/1 ü", value.clone()).is(200).json();
    assert_eq!((&first["value"], &first["namespace"]), (&value, &json!(["users", "ann"])));
    assert!(first.get("expires_at").is_none() && first["created_at"] == first["updated_at"], "{first}");
    let second = app.put(&["users", "ann"], "k/1 ü", json!({ "n": 2 })).is(200).json();
    assert_eq!((&second["created_at"], &second["value"]), (&first["created_at"], &json!({ "n": 2 })));
    assert!(second["updated_at"].as_str() > first["updated_at"].as_str());
    assert_eq!(app.get(&["users", "ann"], "k/1 ü").is(200).json(), second);
    app.get(&["users"], "k/1 ü").fails(404, "NOT_FOUND");
    // The history of the memory it is has both.
    let path = format!("/v1/memories/{}", second["id"].as_str().unwrap().replace(':', "%3A"));
    let history = server.ask_with(&app.token, "GET", &format!("{path}/history"), None, &[]).is(200).json();
    assert_eq!(history.as_array().unwrap().len(), 2, "{history}");
    let shown = server.ask_with(&app.token, "GET", &path, None, &[]).is(200).json();
    assert_eq!(shown["fields"]["item"]["value"], json!({ "n": 2 }), "{shown}");
    assert_eq!((&shown["source"], &shown["trust"]), (&json!("ai_inference"), &json!("low")));
    assert_eq!(app.delete(&["users", "ann"], "k/1 ü").is(200).json(), json!({ "deleted": true }));
    assert_eq!(app.delete(&["users", "ann"], "k/1 ü").is(200).json(), json!({ "deleted": false }));
    app.get(&["users", "ann"], "k/1 ü").fails(404, "NOT_FOUND");
    server.ask_with(&app.token, "GET", &path, None, &[]).is(200);
}

#[test]
fn no_namespace_and_no_key_reaches_another_user() {
    let env = TestEnv::ready();
    let (ann, bob) =
        (token_of(&env, "ann", "read,write,facts,delete"), token_of(&env, "bob", "read,write,facts,delete"));
    let server = Server::start(&env);
    let (ann, bob) = (Program { server: &server, token: ann }, Program { server: &server, token: bob });
    let id =
        ann.put(&["shared", "bob"], "k", json!({ "text": "ann's zebrafinch" })).is(200).json()["id"].clone();
    bob.get(&["shared", "bob"], "k").fails(404, "NOT_FOUND");
    assert_eq!(bob.delete(&["shared", "bob"], "k").is(200).json()["deleted"], false);
    assert_eq!(bob.keys(json!({ "namespace_prefix": [], "query": "zebrafinch" })), Vec::<String>::new());
    let listed = bob.ask("POST", "/v1/items/namespaces", &json!({})).is(200).json();
    assert_eq!(listed["namespaces"], json!([]));
    bob.put(&["shared", "bob"], "k", json!({ "text": "bob's" })).is(200);
    assert_eq!(bob.delete(&["shared", "bob"], "k").is(200).json()["deleted"], true);
    assert_eq!(ann.get(&["shared", "bob"], "k").is(200).json()["id"], id);
}

#[test]
fn a_search_stays_below_its_namespace_however_loud_the_others_are() {
    let env = TestEnv::ready();
    let token = token_of(&env, "app", "read,write,facts");
    let server = Server::start(&env);
    let app = Program { server: &server, token };
    let puts: Vec<Value> = (0..80)
        .map(|n| json!({ "op": "put", "namespace": ["crowd", format!("u{n}")], "key": "k", "value": { "text": format!("green tea {n}, green tea all day") } }))
        .collect();
    app.ask("POST", "/v1/items/batch", &json!({ "operations": puts })).is(200);
    app.put(&["users", "ann"], "a", json!({ "text": "Ann drinks green tea", "n": 1 })).is(200);
    app.put(&["users", "ann"], "b", json!({ "text": "The bicycle has a flat tyre", "n": 2 })).is(200);
    let ann = |more: Value| {
        let mut ask = json!({ "namespace_prefix": ["users", "ann"] });
        ask.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ask
    };
    assert_eq!(app.keys(ann(json!({ "query": "green tea" }))), ["a", "b"]);
    assert_eq!(app.keys(ann(json!({ "query": "what is wrong with the bicycle" }))), ["b", "a"]);
    assert_eq!(app.keys(ann(json!({ "filter": { "n": { "$gt": 1 } } }))), ["b"]);
    assert_eq!(app.keys(ann(json!({ "limit": 1, "offset": 1 }))), ["b"]);
    app.ask("POST", "/v1/items/search", &ann(json!({ "filter": { "n": { "$like": 1 } } })))
        .fails(422, "VALIDATION_ERROR");
    let two = json!({ "conditions": [{ "match": "prefix", "path": ["crowd", "*"] }], "max_depth": 1 });
    let listed = app.ask("POST", "/v1/items/namespaces", &two).is(200).json();
    assert_eq!(listed["namespaces"], json!([["crowd"]]));
}

#[test]
fn what_cannot_be_kept_is_refused_with_a_code() {
    let env = TestEnv::ready();
    let token = token_of(&env, "app", "read,write,facts");
    let server = Server::start(&env);
    let app = Program { server: &server, token };
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    for (namespace, key, value) in [
        (vec!["a"], "k", json!({ "deep": [{ "x": secret }] })),
        (vec!["a"], "k", json!({ &secret: 1 })),
        (vec!["a", &secret], "k", json!({})),
        (vec!["a"], &*secret, json!({})),
    ] {
        let problem = app.put(&namespace, key, value).fails(422, "GATE_REFUSED");
        assert!(!problem.to_string().contains(&secret));
    }
    app.put(&[], "k", json!({})).fails(422, "VALIDATION_ERROR");
    app.put(&["a\u{1}"], "k", json!({})).fails(422, "VALIDATION_ERROR");
    app.put(&["a"], "", json!({})).fails(422, "VALIDATION_ERROR");
    app.ask("PUT", "/v1/items", &json!({ "namespace": ["a"], "key": "k", "value": [1] }))
        .fails(422, "VALIDATION_ERROR");
    app.ask("PUT", "/v1/items", &json!({ "namespace": ["a"], "key": "k", "value": {}, "ttl_minutes": 0 }))
        .fails(422, "VALIDATION_ERROR");
    app.ask("POST", "/v1/items/batch", &json!({ "operations": [{ "op": "move" }] }))
        .fails(422, "VALIDATION_ERROR");
    app.get(&["a"], "k").fails(404, "NOT_FOUND");
    // By a token without the scope facts a secret is cut out, and the answer shows what was stored.
    let writes = Program { server: &server, token: token_of(&env, "other", "read,write") };
    let kept = writes.put(&["a"], "k", json!({ "password": "hunter2-is-long", "n": 1 })).is(200).json();
    assert!(!kept.to_string().contains("hunter2") && kept["value"]["n"] == 1, "{kept}");
    assert!(kept["expires_at"].is_string());
}

#[test]
fn an_archive_carries_items_and_they_are_found_there_by_their_keys() {
    let env = TestEnv::ready();
    let server = Server::start(&env);
    let own = Program { server: &server, token: server.token.clone() };
    own.put(&["users", "ann"], "k", json!({ "text": "green tea", "f": 1.0 })).is(200);
    let kept = own.get(&["users", "ann"], "k").is(200).json();
    let file = env.scratch().join("all.jsonl");
    let path = file.to_str().unwrap();
    env.run(&["export", "--shelf", "tiers", "--to", path]).ok();
    let listed = env.run(&["list", "--tier", "episodic", "--json"]).ok().items();
    assert_eq!(listed[0]["title"], "users/ann/k: text: green tea; f: 1.0", "{listed}");
    env.at_terminal(&["clear", "all"], "y\ny\ny\n").ok();
    own.get(&["users", "ann"], "k").fails(404, "NOT_FOUND");
    env.at_terminal(&["import", path, "--even-removed"], "y\ny\n").ok();
    assert_eq!(own.get(&["users", "ann"], "k").is(200).json(), kept);
}

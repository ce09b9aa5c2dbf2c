//! Cases of the three-tier memory: detection, redaction, sanitising, trust, fact writing, formats, working memory, similarity.
//!
//! Comes in: a case. Goes out: what came of it, with `gate.profile: seed` for everything that names rules. Names of other implementations (four
//! trust levels, data classes) are translated here, on both sides. Never here: a rule of the product.

use super::Outcome;
use heirloom_core::settings::{self, Layer, Origin};
use heirloom_core::{Channel, Code, Settings, Source, Trust, hash};
use heirloom_engine::gate::scan::Level;
use heirloom_engine::gate::scan::seed::levels;
use heirloom_engine::gate::{Entry, Screen};
use heirloom_engine::shelf::tiers::{
    Access, FactWords, Labelled, Role, Speaker, SqliteStore, Turn, UserContext, Working, WorkingLimits,
    cosine, format_episodes, format_memories,
};
use heirloom_engine::{Call, Project, World};
use serde_json::{Value, json};
use std::sync::Arc;

/// Runs a case; `Unknown` if the operation belongs to another family.
pub(crate) fn run(case: &Value) -> Outcome {
    let args = &case["args"];
    let got = match case["op"].as_str().unwrap_or_default() {
        "detect_secrets" => detect(args),
        "redact" => measured(&levels::redact(&content(args)), &case["expect"]),
        "sanitize_for_storage" => measured(&sanitised(args), &case["expect"]),
        "looks_like_credential" => {
            json!({ "credential_like": levels::looks_like_credential(&content(args)) })
        }
        "trust_level" => trust_level(args),
        "write_semantic" => write_semantic(args),
        "semantic_write_flow" => flow(args),
        "format_for_ai" => format_ai(args),
        "format_episodic" => format_turns(args),
        "working_memory" => working(args),
        "cosine" => return cosine_case(args, &case["expect"]),
        _ => return Outcome::Unknown,
    };
    let expected = without_reason(&case["expect"]);
    if same(&expected, &got) {
        Outcome::Agrees
    } else {
        Outcome::Differs { expected: expected.to_string(), got: got.to_string() }
    }
}

/// The text of a case, given whole or as parts with repetitions.
fn content(args: &Value) -> String {
    if let Some(text) = args["content"].as_str() {
        return text.to_owned();
    }
    let parts = args["content_parts"].as_array().map(Vec::as_slice).unwrap_or_default();
    let part = |p: &Value| p[0].as_str().unwrap_or_default().repeat(p[1].as_u64().unwrap_or(1) as usize);
    parts.iter().map(part).collect()
}

/// A text in the form the case gives its own: whole, or by length, end and hash.
fn measured(text: &str, expect: &Value) -> Value {
    if expect.get("text").is_some() {
        return json!({ "text": text });
    }
    let mut got = json!({});
    if expect.get("length").is_some() {
        got["length"] = json!(text.chars().map(char::len_utf16).sum::<usize>());
    }
    if let Some(end) = expect["ends_with"].as_str() {
        got["ends_with"] = json!(if text.ends_with(end) { end } else { text });
    }
    if expect.get("sha256").is_some() {
        got["sha256"] = json!(hash::sha256(text.as_bytes()));
    }
    got
}

fn detect(args: &Value) -> Value {
    let found = levels::detect(&content(args));
    let has = |level| found.iter().any(|f| f.level == level);
    let name = |level| match level {
        Level::Definite => "definite",
        Level::Probable => "probable",
        Level::Possible => "possible",
    };
    json!({
        "hasDefiniteSecrets": has(Level::Definite),
        "hasProbableSecrets": has(Level::Probable),
        "hasPossibleSecrets": has(Level::Possible),
        "findings": found.iter().map(|f| json!({ "level": name(f.level), "pattern": f.pattern })).collect::<Vec<_>>(),
    })
}

/// What an episode of that trust holds once it is stored. What possibly is a secret is stored after a yes only, which these cases do not know.
fn sanitised(args: &Value) -> String {
    let (text, trust) = (content(args), channel(&args["trust"]));
    let asked = levels::detect(&text).iter().all(|found| found.level == Level::Possible);
    if asked && !levels::detect(&text).is_empty() {
        return levels::sanitise(&text, trust.trust() == Trust::Low);
    }
    in_a_store(|engine| {
        let turn = Turn::of(Role::Tool, text);
        let kept = engine.tiers().and_then(|tiers| tiers.add_episode(turn, Entry::through(trust)));
        kept.map_or_else(|fault| fault.message, |kept| kept.stored.content)
    })
}

/// The channel that gives a trust, in the words of either implementation.
fn channel(trust: &Value) -> Channel {
    match trust.as_str().unwrap_or_default() {
        "low" | "untrusted" => Channel::Web,
        "medium" | "verified" => Channel::ToolRead,
        _ => Channel::OwnerMessage,
    }
}

fn trust_level(args: &Value) -> Value {
    let owner = args["owner"].as_bool().unwrap_or_default();
    let web = args["tool"].as_str().is_some_and(|tool| tool.starts_with("web"));
    let channel = match args["source_type"].as_str().unwrap_or_default() {
        "user_message" if owner => Channel::OwnerMessage,
        "user_message" => Channel::OtherMessage,
        "tool_output" if web => Channel::Web,
        "tool_output" => Channel::ToolRead,
        "explicit_save" => Channel::Person,
        _ => Channel::Agent,
    };
    json!({ "trust": channel.trust().name() })
}

fn write_semantic(args: &Value) -> Value {
    let confirmed = args["user_confirmed"].as_bool().unwrap_or_default();
    let entry = Entry { channel: channel(&args["trust"]), confirmed };
    let outcome = in_a_store(|engine| {
        engine
            .tiers()
            .and_then(|tiers| tiers.remember(FactWords::of(content(args)), entry))
            .map_err(|fault| fault.code)
    });
    let word = match outcome {
        Ok(_) => "stored".to_owned(),
        Err(Code::NeedsConfirmation) => "confirmation_required".to_owned(),
        Err(Code::GateRefused) => "security_error".to_owned(),
        Err(code) => code.name().to_owned(),
    };
    json!({ "outcome": word })
}

fn flow(args: &Value) -> Value {
    let entry = Entry::through(channel(&args["trust"]));
    let outcome = in_a_store(|engine| {
        engine
            .tiers()
            .and_then(|tiers| tiers.remember(FactWords::of("likes tea"), entry))
            .map_err(|fault| fault.code)
    });
    match outcome {
        Ok(_) => json!({ "allowed": true }),
        Err(Code::NeedsConfirmation) => json!({ "allowed": "ask" }),
        Err(code) => json!({ "allowed": code.name() }),
    }
}

fn format_ai(args: &Value) -> Value {
    let memories = args["memories"].as_array().map(Vec::as_slice).unwrap_or_default();
    // The cases name a trust and no source; the original labels are those of tools.
    let labelled = |m: &'_ Value| {
        (
            m["content"].as_str().unwrap_or_default().to_owned(),
            Trust::named(m["trust"].as_str().unwrap_or_default()).unwrap_or(Trust::Low),
        )
    };
    let all: Vec<(String, Trust)> = memories.iter().map(labelled).collect();
    let text = format_memories(all.iter().map(|(content, trust)| Labelled {
        content,
        trust: *trust,
        source: Source::ToolOutput,
    }));
    json!({ "text": text })
}

fn format_turns(args: &Value) -> Value {
    let entries = args["entries"].as_array().map(Vec::as_slice).unwrap_or_default();
    let turn = |e: &'_ Value| {
        (
            e["content"].as_str().unwrap_or_default().to_owned(),
            e["fromExternalContent"].as_bool().unwrap_or_default(),
        )
    };
    let all: Vec<(String, bool)> = entries.iter().map(turn).collect();
    json!({ "text": format_episodes(all.iter().map(|(content, external)| (content.as_str(), *external))) })
}

/// The data classes of the other implementation, from least to most sensitive; the product has none.
const CLASSES: [&str; 4] = ["public", "internal", "sensitive", "secret"];

fn working(args: &Value) -> Value {
    let number = |name: &str, standard: usize| args["config"][name].as_u64().map_or(standard, |n| n as usize);
    let limits = WorkingLimits {
        messages: number("maxMessages", 50),
        tokens: number("maxTokens", 8_000),
        seconds: 86_400,
    };
    let mut working = Working::new(limits);
    let mut names = std::collections::VecDeque::new();
    let (mut accepted, mut class) = (Vec::new(), 1);
    let now = world().now;
    let screen = Screen::new(Settings::standard().gate);
    for add in args["adds"].as_array().map(Vec::as_slice).unwrap_or_default() {
        let of = CLASSES.iter().position(|c| add["data_class"].as_str() == Some(c)).unwrap_or(1);
        if of == 3 {
            accepted.push(false);
            continue;
        }
        accepted.push(true);
        class = class.max(of);
        let role = add["role"].as_str().unwrap_or_default();
        let speaker = match role {
            "system" => Speaker::System,
            "user" => Speaker::User,
            "assistant" => Speaker::Assistant,
            _ => Speaker::Tool,
        };
        names.push_back((role.to_owned(), speaker));
        let trust = channel(&add["trust"]).trust();
        working.push(speaker, add["content"].as_str().unwrap_or_default(), trust, now, |text| {
            screen.redacted(text)
        });
    }
    // The product keeps who spoke, not the other implementation's word for it.
    let word = |speaker: Speaker| match speaker {
        Speaker::System => "system",
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
        Speaker::Tool => {
            names.iter().find(|(_, s)| *s == Speaker::Tool).map_or("tool_result", |(name, _)| name.as_str())
        }
    };
    let remaining: Vec<Value> = working
        .messages()
        .map(|m| json!({ "role": word(m.speaker), "content": m.content, "tokens": m.tokens }))
        .collect();
    let system = working.messages().filter(|m| m.speaker == Speaker::System).count();
    json!({
        "accepted": accepted,
        "remaining": remaining,
        "stats": { "messageCount": remaining.len(), "estimatedTokens": working.tokens(), "systemMessageCount": system },
        "label": { "trust": working.label().trust.name(), "data_class": CLASSES[class] },
    })
}

fn cosine_case(args: &Value, expect: &Value) -> Outcome {
    let vector = |v: &Value| -> Vec<f32> {
        v.as_array()
            .map(Vec::as_slice)
            .unwrap_or_default()
            .iter()
            .filter_map(Value::as_f64)
            .map(|x| x as f32)
            .collect()
    };
    let got = cosine(&vector(&args["a"]), &vector(&args["b"]));
    let agrees = match (&got, expect["similarity"].as_f64()) {
        (Some(got), Some(wanted)) => (got - wanted).abs() <= 1e-6,
        (None, None) => expect.get("error").is_some(),
        _ => false,
    };
    if agrees {
        Outcome::Agrees
    } else {
        Outcome::Differs { expected: expect.to_string(), got: format!("{got:?}") }
    }
}

fn world() -> World {
    World {
        now: jiff::Timestamp::from_second(1_772_366_400).unwrap_or_default(),
        data: std::path::PathBuf::new(),
        nonce: "conformance".to_owned(),
        user: "case".to_owned(),
    }
}

/// An empty store under the seed profile, for one case.
fn in_a_store<T>(run: impl FnOnce(&Call) -> T) -> T {
    let folder = tempfile::tempdir().unwrap_or_else(|e| panic!("a temporary folder: {e}"));
    let world = World { data: folder.path().join("data"), ..world() };
    let who = UserContext::by_account(&world).unwrap_or_else(|e| panic!("a user: {e}"));
    let document = json!({ "gate": { "profile": "seed" } });
    let settings = settings::load(&[Layer { origin: Origin::User, document }]).settings;
    let place = world.data.join("tiers");
    let access = Access::new(Arc::new(SqliteStore::at(&place)), who, &place);
    let project = Project::new(folder.path(), &folder.path().join("memory"), world);
    run(&Call::new(project, settings).with_tiers(access))
}

/// Free text is not compared, and a refusal that may be overridden is a question.
fn without_reason(expect: &Value) -> Value {
    let mut expect = expect.clone();
    if let Value::Object(fields) = &mut expect {
        fields.remove("reason");
        let may_override = fields.remove("canOverride") == Some(Value::Bool(true));
        if may_override && fields.get("allowed") == Some(&Value::Bool(false)) {
            fields.insert("allowed".to_owned(), json!("ask"));
        }
        if let Some(Value::Object(label)) = fields.get_mut("label")
            && let Some(trust) = label.get("trust").cloned()
        {
            label.insert("trust".to_owned(), json!(channel(&trust).trust().name()));
        }
    }
    expect
}

/// Equal, with findings in any order and numbers by value.
fn same(expected: &Value, got: &Value) -> bool {
    match (expected, got) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, value)| match b.get(key) {
                    Some(other) if key == "findings" => same_set(value, other),
                    Some(other) => same(value, other),
                    None => false,
                })
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(x, y)| same(x, y)),
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        _ => expected == got,
    }
}

fn same_set(a: &Value, b: &Value) -> bool {
    let sorted = |v: &Value| {
        let mut items: Vec<String> =
            v.as_array().map(Vec::as_slice).unwrap_or_default().iter().map(Value::to_string).collect();
        items.sort();
        items
    };
    sorted(a) == sorted(b)
}

//! Cases of the vault: its gate, storage, search, figures and blocks.
//!
//! Comes in: one case. Goes out: an [`Outcome`]. A case that needs a file gets a fresh project in a temporary folder, with a fixed
//! clock, the scopes shared, orion and elysia, and `gate.profile: seed`; the records it starts from count as accepted. Never here: a
//! rule of the vault.

use super::Outcome;
use heirloom_core::settings::{Profile, Settings};
use heirloom_core::text::{share, shared, trim, word_set};
use heirloom_core::{Channel, Fault, hash, time};
use heirloom_engine::gate::scan::seed::guard;
use heirloom_engine::gate::{Entry, trust};
use heirloom_engine::shelf::vault::{
    Addition, Filter, Image, Promotion, Question, Reader, Record, Revision, Rules, Stored, Vault, Write,
    likeness,
};
use heirloom_engine::{Call, Project, World};
use serde_json::{Map, Value, json};

/// When every case happens.
const NOW: &str = "2031-05-06T07:08:09Z";

/// Keys of an expectation that are information only, at any depth.
const INFORMATION: [&str; 5] = [
    "detail",
    "overlap_variants",
    "definition_dependent",
    "sequence_ratio_reversed",
    "score_if_max_of_both_measures",
];

/// Runs one case.
pub(crate) fn run(case: &Value) -> Outcome {
    let args = &case["args"];
    let got = match case["op"].as_str().unwrap_or_default() {
        "check_pii" => check_pii(args),
        "token_overlap" => token_overlap(args),
        "score" => score(args),
        "serialize_line" => serialize_line(args),
        op => match Bench::new(case).and_then(|bench| bench.run(op, args)) {
            Ok(Some(got)) => got,
            Ok(None) => return Outcome::Unknown,
            Err(fault) => return Outcome::Differs { expected: "an outcome".to_owned(), got: fault.message },
        },
    };
    compare(&case["expect"], &got)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn maybe(value: &Value, key: &str) -> Option<String> {
    value[key].as_str().map(str::to_owned)
}

fn texts(value: &Value) -> Option<Vec<String>> {
    Some(value.as_array()?.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect())
}

/// One name, a list of names, or nothing, which is everything.
fn names(value: &Value) -> Option<Vec<String>> {
    value.as_str().map(|one| vec![one.to_owned()]).or_else(|| texts(value))
}

/// Every key of the expectation that counts, held against what came.
fn compare(expect: &Value, got: &Value) -> Outcome {
    let mut wrong: Vec<(String, String)> = Vec::new();
    for (key, wanted) in expect.as_object().into_iter().flatten() {
        let mut wanted = wanted.clone();
        without_information(&mut wanted);
        if INFORMATION.contains(&key.as_str()) || agrees(key, &wanted, got) {
            continue;
        }
        let came = got.get(key).or_else(|| got.get("block")).unwrap_or(&Value::Null);
        wrong.push((format!("{key} {wanted}"), format!("{key} {came}")));
    }
    if wrong.is_empty() {
        return Outcome::Agrees;
    }
    let (expected, got): (Vec<String>, Vec<String>) = wrong.into_iter().unzip();
    Outcome::Differs { expected: expected.join("; "), got: got.join("; ") }
}

fn agrees(key: &str, wanted: &Value, got: &Value) -> bool {
    let block = text(got, "block");
    let listed = texts(wanted).unwrap_or_default();
    let proposed =
        |id: &String| got["proposals"].as_array().is_some_and(|all| all.iter().any(|p| p["id"] == **id));
    match key {
        "contains" => listed.iter().all(|part| block.contains(part.as_str())),
        "contains_ignore_case" => {
            listed.iter().all(|part| block.to_lowercase().contains(&part.to_lowercase()))
        }
        "not_contains" => listed.iter().all(|part| !block.contains(part.as_str())),
        "order" => in_order(block, &listed),
        "equals" => wanted == block,
        "bullet_count" => wanted.as_u64() == Some(bullets(block)),
        "must_include" => listed.iter().all(proposed),
        "must_not_include" => !listed.iter().any(proposed),
        "each_has" => got["proposals"]
            .as_array()
            .is_some_and(|all| all.iter().all(|p| listed.iter().all(|key| p.get(key).is_some()))),
        "empty" => wanted.as_bool() == got["proposals"].as_array().map(Vec::is_empty),
        // Why a text is blocked is a set.
        "violations" => {
            let sorted = |value: &Value| {
                let mut all: Vec<String> =
                    value.as_array().into_iter().flatten().map(Value::to_string).collect();
                all.sort();
                all
            };
            sorted(wanted) == sorted(&got[key])
        }
        _ => got.get(key).is_some_and(|came| same(wanted, came)),
    }
}

fn in_order(block: &str, parts: &[String]) -> bool {
    let mut from = 0;
    parts.iter().all(|part| match block[from..].find(part.as_str()) {
        Some(at) => {
            from += at + part.len();
            true
        }
        None => false,
    })
}

fn bullets(block: &str) -> u64 {
    block
        .lines()
        .filter(|line| ["- ", "* ", "+ "].iter().any(|mark| line.trim_start().starts_with(mark)))
        .count() as u64
}

/// Equal, numbers by their value.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(_), Value::Number(_)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

fn without_information(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, _| !INFORMATION.contains(&key.as_str()));
            fields.values_mut().for_each(without_information);
        }
        Value::Array(items) => items.iter_mut().for_each(without_information),
        _ => {}
    }
}

fn check_pii(args: &Value) -> Value {
    let found = guard::violations(text(args, "text"));
    let violations: Vec<Value> = found
        .iter()
        .map(|v| match v {
            guard::Violation::Keyword(word) => json!({ "kind": v.kind(), "value": word }),
            number => json!({ "kind": number.kind() }),
        })
        .collect();
    json!({ "blocked": !found.is_empty(), "violations": violations })
}

fn token_overlap(args: &Value) -> Value {
    let (a, b) = (text(args, "a").to_lowercase(), text(args, "b").to_lowercase());
    let (a, b) = (word_set(&a), word_set(&b));
    let common: Vec<&&str> = a.iter().filter(|word| b.contains(word)).collect();
    json!({
        "tokens_a": a, "tokens_b": b, "shared": common,
        "overlap_of_a": share(shared(&a, &b), a.len()),
        "overlap_min": share(shared(&a, &b), a.len().min(b.len())),
    })
}

fn score(args: &Value) -> Value {
    let (query, text) = (text(args, "query"), text(args, "text"));
    let score = Question::new(query).score(text);
    let (query, text) = (query.to_lowercase(), text.to_lowercase());
    let (asked, there) = (word_set(&query), word_set(&text));
    let common: Vec<&&str> = asked.iter().filter(|word| there.contains(word)).collect();
    let substring = !common.is_empty() && text.contains(&query);
    json!({
        "score": score.unwrap_or(0.0), "matches": score.is_some(),
        "query_tokens": asked, "shared_tokens": common, "substring": substring,
    })
}

fn serialize_line(args: &Value) -> Value {
    let given = args["record"].to_string();
    let Ok(record) = Record::parse(given.as_bytes()) else { return Value::Null };
    let line = record.line();
    let back = Record::parse(line.as_bytes()).ok();
    json!({ "line": line, "round_trip": back })
}

/// A project with the vault a case starts from.
struct Bench {
    engine: Call,
    rules: Rules,
    before: Vec<u8>,
    _folder: tempfile::TempDir,
}

impl Bench {
    fn new(case: &Value) -> Result<Bench, Fault> {
        let folder =
            tempfile::tempdir().map_err(|e| Fault::io(&std::env::temp_dir(), "create a folder in", &e))?;
        let world = World {
            now: time::parse(NOW).unwrap_or_default(),
            data: folder.path().join("data"),
            nonce: "conformance".to_owned(),
            user: "runner".to_owned(),
        };
        let root = folder.path().join("project/.claude/memory");
        let project = Project::new(&folder.path().join("project"), &root, world);
        let mut settings = Settings::standard();
        settings.gate.profiles = [Profile::Seed; 5];
        settings.vault.scopes = ["shared", "orion", "elysia"].map(str::to_owned).to_vec();
        let config = &case["args"]["config"];
        if let Some(capacity) = config["max_active"].as_u64() {
            settings.vault.capacity = capacity as usize;
        }
        if let Some(threshold) = config["similarity_threshold"].as_f64() {
            settings.vault.similarity_threshold = threshold;
        }
        let mut rules = Rules::of(&settings);
        if let Some(threshold) = config["token_overlap_threshold"].as_f64() {
            rules.overlap = threshold;
        }
        let mut before = Vec::new();
        let book = trust::path(project.data()?);
        let state = case["state_before"].as_array().map(Vec::as_slice).unwrap_or_default();
        heirloom_engine::files::make_folder(&root, heirloom_engine::files::Mode::Shared)?;
        for record in state {
            let line = spaced(record);
            if let Ok(parsed) = Record::parse(line.as_bytes()) {
                let id = parsed.memory_id();
                trust::accept(&book, project.world().now, id.as_str(), &hash::sha256(line.as_bytes()), None)?;
            }
            before.extend_from_slice(line.as_bytes());
            before.push(b'\n');
        }
        let engine = Call::new(project, settings);
        if !before.is_empty() {
            let path = Vault::new(&engine).path();
            std::fs::write(&path, &before).map_err(|e| Fault::io(&path, "write", &e))?;
        }
        Ok(Bench { engine, rules, before, _folder: folder })
    }

    fn run(&self, op: &str, args: &Value) -> Result<Option<Value>, Fault> {
        let vault = Vault::with_rules(&self.engine, self.rules.clone());
        let entry = Entry::through(Channel::Person);
        let value = match op {
            "add" => {
                let mut got = outcome(vault.add(addition(args), entry));
                self.measure(args, &mut got);
                got
            }
            "bulk_add" => bulk_add(&vault, args, entry)?,
            "update_by_topic" => outcome(vault.update_by_topic(
                text(args, "topic_id"),
                args["scope"].as_str().unwrap_or("shared"),
                text(args, "text"),
                maybe(args, "category"),
                texts(&args["tags"]),
                entry,
            )),
            "update" => outcome(vault.write(Write::Revise(revision(args)), entry)),
            "compact_then_update" => {
                vault.compact(entry)?;
                outcome(vault.write(Write::Revise(revision(args)), entry))
            }
            "promote_to_canon" => outcome(vault.write(
                Write::Promote(Promotion {
                    id: text(args, "memory_id").to_owned(),
                    text: maybe(args, "canonical_text"),
                    tags: texts(&args["tags"]),
                    ..Promotion::default()
                }),
                entry,
            )),
            "delete" => {
                let retired = vault.retire_all(&[text(args, "id")], entry)?;
                json!({ "value": !retired.deleted.is_empty() })
            }
            "bulk_delete" => {
                let ids = texts(&args["ids"]).unwrap_or_default();
                let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
                json!({ "value": vault.retire_all(&ids, entry)? })
            }
            "compact" => json!({ "value": vault.compact(entry)? }),
            _ => match self.read(&vault, op, args)? {
                Some(value) => value,
                None => return Ok(None),
            },
        };
        Ok(Some(self.named(self.aftermath(&vault, value)?)))
    }

    fn read(&self, vault: &Vault<'_>, op: &str, args: &Value) -> Result<Option<Value>, Fault> {
        let scope = names(&args["scope"]);
        let scopes: Option<Vec<&str>> = scope.as_ref().map(|all| all.iter().map(String::as_str).collect());
        let limit = |default: u64| args["limit"].as_u64().unwrap_or(default) as usize;
        let reader = |key: &str| Reader {
            scopes: names(&args[key]).unwrap_or_else(|| self.rules.scopes.clone()),
            own: None,
        };
        Ok(Some(match op {
            "get" | "resolve" => {
                let bytes = vault.bytes()?;
                let resolved = Image::of(&bytes).resolve();
                let mut records = resolved.all().map(|held| held.record);
                match op {
                    "resolve" => json!({ "value": records.collect::<Vec<_>>() }),
                    _ => json!({ "value": records.find(|r| r.id == text(args, "id") && r.is_active()) }),
                }
            }
            "search" => {
                let hits = vault.search(text(args, "query"), scopes.as_deref(), limit(10))?;
                let results: Vec<Value> =
                    hits.iter().map(|(r, score)| json!({ "id": r.id, "score": score })).collect();
                json!({ "results": results })
            }
            "recall" => {
                let tags = texts(&args["tags"]).unwrap_or_default();
                let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
                let filter =
                    Filter { scopes: scopes.as_deref(), category: args["category"].as_str(), tags: &tags };
                let found = vault.recall(&filter, limit(20))?;
                json!({ "ids": found.iter().map(|r| &r.id).collect::<Vec<_>>() })
            }
            "stats" => json!(vault.stats()?),
            "find_consolidation_candidates" => {
                let floor = args["floor"].as_f64().unwrap_or(0.5);
                let pairs = vault.consolidation_candidates(scopes.as_deref(), floor)?;
                let pairs: Vec<Value> = pairs.iter().map(|p| json!({ "a": p.a, "b": p.b })).collect();
                json!({ "pairs": pairs })
            }
            "propose_deletions" => json!({ "proposals": vault.propose_deletions(scopes.as_deref())? }),
            "build_snapshot" => json!({ "block": vault.snapshot(&reader("scope"), None)? }),
            "build_snapshot_block" => json!({ "block": vault.snapshot(&reader("scopes"), None)? }),
            "build_memory_block" => {
                let items = args["max_items"].as_u64().unwrap_or(20) as usize;
                json!({ "block": vault.context(&reader("scopes"), args["query"].as_str(), items, None)? })
            }
            _ => return Ok(None),
        }))
    }

    /// The two measures of a new text against the only stored one.
    fn measure(&self, args: &Value, got: &mut Value) {
        let held = Image::of(&self.before).resolve();
        if let Some(only) = held.active().next() {
            let measures = likeness(trim(text(args, "text")), &only.record.text);
            got["sequence_ratio"] = json!(measures.sequence);
            got["token_overlap"] = json!(measures.overlap);
        }
    }

    /// What the file looks like afterwards.
    fn aftermath(&self, vault: &Vault<'_>, mut got: Value) -> Result<Value, Fault> {
        let bytes = vault.bytes()?;
        let parse = |bytes: &[u8]| -> Vec<Value> {
            let lines = bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty());
            lines.map(|line| serde_json::from_slice(line).unwrap_or(Value::Null)).collect()
        };
        let resolved = Image::of(&bytes).resolve();
        let active: Vec<Record<'_>> = resolved.active().map(|held| held.record).collect();
        got["active_ids"] = json!(active.iter().map(|r| &r.id).collect::<Vec<_>>());
        got["active_count_after"] = json!(active.len());
        got["file_after"] = json!(parse(&bytes));
        // Only what was appended to an untouched beginning counts as appended.
        got["appended"] = match bytes.strip_prefix(self.before.as_slice()) {
            Some(new) => json!(parse(new)),
            None => json!("the file was rewritten"),
        };
        if got.get("ok").is_none() {
            got["ok"] = json!(true);
        }
        Ok(got)
    }

    /// With `$NOW` and `$NEW1`, `$NEW2` … for what the call made.
    fn named(&self, got: Value) -> Value {
        let old = Image::of(&self.before);
        let mut new: Vec<String> = Vec::new();
        for line in got["file_after"].as_array().into_iter().flatten() {
            let id = text(line, "id");
            if !old.knows(id) && !new.iter().any(|known| known == id) {
                new.push(id.to_owned());
            }
        }
        rename(got, &new)
    }
}

fn rename(value: Value, new: &[String]) -> Value {
    match value {
        Value::String(text) if text == NOW => json!("$NOW"),
        Value::String(text) => match new.iter().position(|id| *id == text) {
            Some(at) => json!(format!("$NEW{}", at + 1)),
            None => Value::String(text),
        },
        Value::Array(items) => items.into_iter().map(|item| rename(item, new)).collect(),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(key, value)| (key, rename(value, new))).collect())
        }
        other => other,
    }
}

fn outcome(result: Result<Stored, Fault>) -> Value {
    match result {
        Ok(stored) => json!({ "ok": true, "id": stored.record.id, "value": stored.record }),
        Err(fault) => {
            let mut got = Map::new();
            got.insert("ok".into(), json!(false));
            got.insert("value".into(), Value::Null);
            got.insert("gate".into(), json!(fault.get("rule").unwrap_or(fault.code.name())));
            if let Some((_, id)) = fault.get("id").and_then(|id| id.split_once(':')) {
                got.insert("existing_id".into(), json!(id));
            }
            Value::Object(got)
        }
    }
}

fn bulk_add(vault: &Vault<'_>, args: &Value, entry: Entry) -> Result<Value, Fault> {
    let items = args["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let writes = items.iter().map(|item| Write::Add(addition(item))).collect();
    let (mut stored, mut errors) = (Vec::new(), Vec::new());
    for (index, result) in vault.write_all(writes, entry)?.into_iter().enumerate() {
        match result {
            Ok(one) => stored.push(json!({ "index": index, "id": one.record.id })),
            Err(fault) => errors.push(json!({ "index": index, "gate": fault.get("rule") })),
        }
    }
    Ok(json!({ "stored": stored, "errors": errors }))
}

fn addition(args: &Value) -> Addition {
    let plain = Addition::new(text(args, "text"));
    Addition {
        scope: maybe(args, "scope").unwrap_or_else(|| plain.scope.clone()),
        category: maybe(args, "category"),
        tier: maybe(args, "tier").unwrap_or_else(|| plain.tier.clone()),
        topic_id: maybe(args, "topic_id"),
        source: maybe(args, "source").unwrap_or_else(|| plain.source.clone()),
        tags: texts(&args["tags"]),
        ..plain
    }
}

fn revision(args: &Value) -> Revision {
    Revision {
        id: text(args, "id").to_owned(),
        text: maybe(args, "text"),
        category: maybe(args, "category"),
        tags: texts(&args["tags"]),
        tier: maybe(args, "tier"),
        topic_id: maybe(args, "topic_id"),
        ..Revision::default()
    }
}

/// JSON on one line with a blank after every comma and colon, as the vault's first writer puts it.
fn spaced(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let inner: Vec<String> =
                fields.iter().map(|(key, value)| format!("{}: {}", json!(key), spaced(value))).collect();
            format!("{{{}}}", inner.join(", "))
        }
        Value::Array(items) => {
            let inner: Vec<String> = items.iter().map(spaced).collect();
            format!("[{}]", inner.join(", "))
        }
        other => other.to_string(),
    }
}

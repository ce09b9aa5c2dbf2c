//! The recorded cases of the record tools and the hooks: every one that is to be copied gives the recorded answer.
//!
//! Comes in: `fixtures/conformance/plugin`. Goes out: nothing, or every difference of every case. The cases that are not to be copied
//! are told one by one in `deviations` and `hook_deviations`.

use crate::case::{Case, Outcome, is_visible};
use crate::hook_case::Held;
use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value, json};
use std::sync::{LazyLock, Mutex};

static PAIR: LazyLock<Regex> = LazyLock::new(|| Regex::new("^([a-z_]+): ?(.*)$").unwrap());

#[test]
fn every_recorded_case_that_is_to_be_copied_gives_the_recorded_answer() {
    let mut files: Vec<_> =
        std::fs::read_dir(Case::folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let cases: Vec<Case> = files.iter().map(|path| Case::read(path)).filter(|case| !case.differs()).collect();
    assert!(cases.len() > 600, "only {} cases", cases.len());
    let problems = Mutex::new(Vec::new());
    let queue = Mutex::new(cases.iter());
    let run = || {
        // The queue is free again before the case runs.
        let next = || queue.lock().unwrap().next();
        while let Some(case) = next() {
            let found = compare(&case.value["expect"], &case.run());
            problems.lock().unwrap().extend(found.into_iter().map(|p| format!("{}: {p}", case.name)));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(run);
        run();
    });
    let problems = problems.into_inner().unwrap();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

fn compare(expect: &Value, outcome: &Outcome) -> Vec<String> {
    let how = &expect["match"];
    let mut problems = Vec::new();
    let exit = json!(outcome.exit());
    let allowed = if how["exit"].is_array() { how["exit"].clone() } else { json!([expect["exit"]]) };
    if !allowed.as_array().unwrap().contains(&exit) {
        problems.push(format!("exit {exit}, expected {allowed}; {}", outcome.stderr()));
    }
    for (name, text) in [("stdout", outcome.stdout()), ("stderr", outcome.stderr())] {
        problems.extend(stream(&how[name], &text).into_iter().map(|p| format!("{name}: {p}")));
    }
    files(expect, outcome, &mut problems);
    contexts(expect, outcome, &mut problems);
    problems
}

fn contexts(expect: &Value, outcome: &Outcome, problems: &mut Vec<String>) {
    let how = &expect["match"];
    for (kind, wanted) in expect["context_files"].as_object().into_iter().flatten() {
        let Some(context) = outcome.contexts.get(kind) else {
            problems.push(format!("no context file for {kind}"));
            continue;
        };
        let text = outcome.normal(&String::from_utf8_lossy(&context.bytes));
        let found = file(&how["context"][kind], wanted, &context.bytes, &text);
        problems.extend(found.into_iter().map(|p| format!("context of {kind}: {p}")));
        if how["mode0600"] == true && !context.is_private {
            problems.push(format!("others can read the context of {kind}"));
        }
    }
}

fn files(expect: &Value, outcome: &Outcome, problems: &mut Vec<String>) {
    let empty = Map::new();
    let after = expect["files_after"].as_object().unwrap_or(&empty);
    for (path, wanted) in after {
        let Some(bytes) = outcome.after.get(path) else {
            problems.push(format!("{path} is not there"));
            continue;
        };
        let text = outcome.normal(&String::from_utf8_lossy(bytes));
        let found = file(&expect["match"]["files"][path], wanted, bytes, &text);
        problems.extend(found.into_iter().map(|p| format!("{path}: {p}")));
    }
    let removed = expect["files_removed"].as_array().map(Vec::as_slice).unwrap_or_default();
    for path in removed.iter().filter_map(Value::as_str).filter(|path| outcome.after.contains_key(*path)) {
        problems.push(format!("{path} is still there"));
    }
    if expect["match"]["others_unchanged"] == false {
        return;
    }
    for (path, bytes) in &outcome.before {
        let expected = after.contains_key(path) || removed.iter().any(|r| r == path);
        if !expected && outcome.after.get(path) != Some(bytes) {
            problems.push(format!("{path} changed or went"));
        }
    }
    for path in outcome.after.keys().filter(|path| is_visible(path)) {
        if !outcome.before.contains_key(path) && !after.contains_key(path) {
            problems.push(format!("{path} was not there before"));
        }
    }
}

fn stream(how: &Value, text: &str) -> Vec<String> {
    match how["mode"].as_str().unwrap_or("any") {
        "any" => Vec::new(),
        "empty" if text.trim().is_empty() => Vec::new(),
        "empty" => vec![format!("expected nothing, got {text}")],
        "exact" => exact(&how["value"], text),
        "contains" => contains(how, text),
        "triage" => held(how, text),
        "json" => json_stream(how, text),
        "kv" => block(how, text),
        other => vec![format!("no rule `{other}` for a stream")],
    }
}

fn exact(wanted: &Value, text: &str) -> Vec<String> {
    let wanted = wanted.as_str().unwrap().trim_end_matches('\n');
    if text.trim_end_matches('\n') == wanted {
        return Vec::new();
    }
    vec![format!("{text:?}, expected {wanted:?}")]
}

/// A stop that is held up: the lines for the model, and what it is to save.
fn held(how: &Value, text: &str) -> Vec<String> {
    let got = Held::read(text);
    let mut problems = Vec::new();
    if json!(got.lines) != how["lines"] {
        problems.push(format!("lines {:#?}, expected {:#}", got.lines, how["lines"]));
    }
    match got.data {
        Some(data) => {
            let [wanted, data] = [how["data"].clone(), data].map(Held::without_paths);
            differences(&wanted, &data, &json!("top"), "$", &mut problems);
        }
        None => problems.push(format!("no data: {text}")),
    }
    problems
}

fn file(how: &Value, wanted: &Value, bytes: &[u8], text: &str) -> Vec<String> {
    match how["mode"].as_str().unwrap_or("exact") {
        "exists" => Vec::new(),
        "exact" => exact(wanted, text),
        "sized" => {
            let part = |key: &str| how[key].as_str().unwrap_or_default();
            let fits = json!(bytes.len()) == how["size"]
                && text.starts_with(part("starts"))
                && text.ends_with(part("ends"));
            if fits { Vec::new() } else { vec![format!("{} bytes, expected {how}: {text}", bytes.len())] }
        }
        "record" => match serde_json::from_str(text) {
            Ok(got) => {
                let mut problems = Vec::new();
                differences(
                    &record(&wanted["json"], how),
                    &record(&got, how),
                    &Value::Null,
                    "$",
                    &mut problems,
                );
                problems
            }
            Err(e) => vec![format!("no JSON: {e}")],
        },
        "index" => {
            let entries = |text: &str| {
                text.lines().filter(|line| line.starts_with("- [")).map(str::to_owned).collect::<Vec<_>>()
            };
            let (got, wanted) = (entries(text), entries(wanted.as_str().unwrap()));
            if text.starts_with("# Memory Index") && got == wanted {
                Vec::new()
            } else {
                vec![format!("lines {got:#?}, expected {wanted:#?}")]
            }
        }
        "contains" => contains(how, text),
        other => vec![format!("no rule `{other}` for a file")],
    }
}

fn contains(how: &Value, text: &str) -> Vec<String> {
    let has = |item: &Value| match item.as_str() {
        Some(part) => text.contains(part),
        None => {
            let pattern = RegexBuilder::new(item["re"].as_str().unwrap()).multi_line(true).build().unwrap();
            pattern.is_match(text)
        }
    };
    let list = |key: &str| how[key].as_array().map(Vec::as_slice).unwrap_or_default();
    let missing = list("all").iter().filter(|item| !has(item)).map(|item| format!("lacks {item}: {text}"));
    let unwanted =
        list("none").iter().filter(|item| has(item)).map(|item| format!("must not hold {item}: {text}"));
    missing.chain(unwanted).collect()
}

fn json_stream(how: &Value, text: &str) -> Vec<String> {
    let Ok(mut got) = serde_json::from_str::<Value>(text) else { return vec![format!("no JSON: {text}")] };
    let mut wanted = how["value"].clone();
    let mut problems = Vec::new();
    for (key, parts) in how["text"].as_object().into_iter().flatten() {
        let pointer = format!("/{}", key.replace('.', "/"));
        loose(key, parts, got.pointer(&pointer).unwrap_or(&Value::Null), &mut problems);
        // What was compared loosely is not compared again.
        for side in [&mut wanted, &mut got] {
            let (parent, last) = pointer.rsplit_once('/').unwrap();
            if let Some(map) = side.pointer_mut(parent).and_then(Value::as_object_mut) {
                map.remove(last);
            }
        }
    }
    if !how["value"].is_null() {
        differences(&wanted, &got, &how["subset"], "$", &mut problems);
    }
    problems
}

/// Texts that must hold certain words: one text, or a list of them.
fn loose(key: &str, parts: &Value, got: &Value, problems: &mut Vec<String>) {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let parts = parts.as_array().unwrap();
    let lists = parts.first().is_none_or(Value::is_array);
    if !lists {
        for part in parts.iter().filter(|part| !plain(got).contains(&plain(part))) {
            problems.push(format!("{key} lacks {part}: {got}"));
        }
        return;
    }
    let items = got.as_array().map(Vec::as_slice).unwrap_or_default();
    if !got.is_array() || items.len() != parts.len() {
        problems.push(format!("{key} is {got}, expected {} items", parts.len()));
        return;
    }
    for (item, words) in items.iter().zip(parts) {
        for word in words.as_array().unwrap().iter().filter(|word| !plain(item).contains(&plain(word))) {
            problems.push(format!("{key} lacks {word}: {item}"));
        }
    }
}

/// An error block: the kind, then `key: value` lines.
fn block(how: &Value, text: &str) -> Vec<String> {
    let mut lines = text.trim_matches('\n').lines();
    let kind = lines.next().unwrap_or_default().trim();
    if kind != how["kind"] {
        return vec![format!("kind {kind}, expected {}", how["kind"])];
    }
    let pairs: Vec<(String, String)> =
        lines.filter_map(|line| PAIR.captures(line)).map(|p| (p[1].to_owned(), p[2].to_owned())).collect();
    let first = |key: &str| pairs.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str());
    let mut problems = Vec::new();
    for (key, value) in how["fields"].as_object().into_iter().flatten() {
        if first(key) != value.as_str() {
            problems.push(format!("{key} is {:?}, expected {value}", first(key)));
        }
    }
    for (key, part) in how["contains"].as_object().into_iter().flatten() {
        if !first(key).unwrap_or_default().contains(part.as_str().unwrap()) {
            problems.push(format!("{key} lacks {part}"));
        }
    }
    for key in how["has"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if first(key).is_none() {
            problems.push(format!("no line `{key}:`"));
        }
    }
    if let Some(wanted) = how["field_set"].as_array() {
        let mut wanted: Vec<&str> = wanted.iter().filter_map(Value::as_str).collect();
        let mut got: Vec<&str> =
            pairs.iter().filter(|(k, _)| k == "field").map(|(_, v)| v.as_str()).collect();
        for list in [&mut wanted, &mut got] {
            list.sort_unstable();
            list.dedup();
        }
        if wanted != got {
            problems.push(format!("fields {got:?}, expected {wanted:?}"));
        }
    }
    problems
}

/// A record as it is compared: what the format assumes when it is absent is absent, and the words of entries about fields are free.
fn record(value: &Value, how: &Value) -> Value {
    let mut value = without_nulls(value);
    let Some(map) = value.as_object_mut() else { return value };
    for (key, assumed) in
        [("times_updated", json!(0)), ("changes", json!([])), ("record_status", json!("active"))]
    {
        if map.get(key) == Some(&assumed) {
            map.remove(key);
        }
    }
    if let Some(changes) = map.get_mut("changes").and_then(Value::as_array_mut) {
        for change in changes.iter_mut().filter(|change| change.get("field").is_some()) {
            if change["summary"].as_str().is_some_and(|summary| !summary.is_empty()) {
                change["summary"] = json!("(some text)");
            }
        }
        let tail = how["tail_unordered"].as_u64().unwrap_or(0) as usize;
        let start = changes.len().saturating_sub(tail);
        changes[start..].sort_by_key(ToString::to_string);
    }
    value
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(
            map.iter()
                .filter(|(_, v)| !v.is_null())
                .map(|(key, v)| (key.clone(), without_nulls(v)))
                .collect(),
        ),
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}

/// Where two values differ. With `subset` extra keys are allowed, with "top" only at the top.
fn differences(wanted: &Value, got: &Value, subset: &Value, at: &str, problems: &mut Vec<String>) {
    match (wanted, got) {
        (Value::Object(wanted), Value::Object(got)) => {
            for (key, value) in wanted {
                match got.get(key) {
                    Some(other) => differences(value, other, subset, &format!("{at}.{key}"), problems),
                    None => problems.push(format!("{at}.{key} is missing")),
                }
            }
            let free = *subset == json!(true) || (*subset == json!("top") && at == "$");
            for key in got.keys().filter(|key| !free && !wanted.contains_key(*key)) {
                problems.push(format!("{at}.{key} was not expected"));
            }
        }
        (Value::Array(wanted), Value::Array(got)) if wanted.len() == got.len() => {
            for (n, (one, other)) in wanted.iter().zip(got).enumerate() {
                differences(one, other, subset, &format!("{at}[{n}]"), problems);
            }
        }
        (Value::Number(one), Value::Number(other)) => {
            if (one.as_f64().unwrap() - other.as_f64().unwrap()).abs() >= 1e-9 {
                problems.push(format!("{at} is {got}, expected {wanted}"));
            }
        }
        _ if wanted == got => {}
        _ => problems.push(format!("{at} is {got}, expected {wanted}")),
    }
}

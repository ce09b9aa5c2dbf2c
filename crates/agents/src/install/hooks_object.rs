//! Settings files with a `hooks` object, as Claude Code, Codex and Gemini have them.
//!
//! Comes in: the file's text. Goes out: the text with our entries in it, or without them. An entry of ours is known by its
//! command line. Never here: a change to an entry that is not ours; a group that also holds somebody else's hook keeps that one.

use super::{Called, command_line, refused};
use crate::table::{Agent, Hook, Install, TimeUnit};
use heirloom_core::{Fault, fault::Result};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::{Value, json};

/// Settings nested deeper than this are nobody's settings.
const DEPTH_MAX: usize = 100;

pub(super) fn install(agent: &Agent, text: Option<&str>, called: Called<'_>) -> Result<String> {
    let root = parse(agent, text.filter(|text| !text.trim().is_empty()).unwrap_or("{\n}\n"))?;
    let object = root.object_value().ok_or_else(|| refused(agent, "it is not a JSON object"))?;
    let not = |what: &str, should: &str| refused(agent, &format!("`{what}` is not {should}"));
    let hooks = object.object_value_or_create("hooks").ok_or_else(|| not("hooks", "an object"))?;
    for hook in agent.hooks {
        let groups = hooks
            .array_value_or_create(hook.event)
            .ok_or_else(|| not(&format!("hooks.{}", hook.event), "a list"))?;
        drop_from_mixed(agent, hook, &groups);
        let wanted = group(agent, hook, called);
        let mut ours = our_groups(agent, hook, &groups);
        if ours.len() == 1 && value(&ours[0]).as_ref() == Some(&wanted) {
            continue;
        }
        // A new entry where the old one was, so that the file's own spacing is kept.
        let at = ours.first().and_then(CstNode::element_index).unwrap_or(groups.elements().len());
        groups.insert(at, input(&wanted));
        ours.drain(..).for_each(CstNode::remove);
    }
    Ok(root.to_string())
}

/// Without our entries; `None` if nothing else was in the file.
pub(super) fn remove(agent: &Agent, text: &str) -> Result<Option<String>> {
    let root = parse(agent, text)?;
    let Some(object) = root.object_value() else { return Ok(Some(text.to_owned())) };
    let Some(hooks) = object.object_value("hooks") else { return Ok(Some(text.to_owned())) };
    let mut removed = false;
    for hook in agent.hooks {
        let Some(groups) = hooks.array_value(hook.event) else { continue };
        let ours = our_groups(agent, hook, &groups);
        removed |= drop_from_mixed(agent, hook, &groups) || !ours.is_empty();
        let emptied = !ours.is_empty() && ours.len() == groups.elements().len();
        ours.into_iter().for_each(CstNode::remove);
        if emptied && let Some(entry) = hooks.get(hook.event) {
            entry.remove();
        }
    }
    if !removed {
        return Ok(Some(text.to_owned()));
    }
    if hooks.properties().is_empty()
        && let Some(entry) = object.get("hooks")
    {
        entry.remove();
    }
    Ok((!object.properties().is_empty() || has_comments(&object)).then(|| root.to_string()))
}

/// Whether there is an entry of ours for every hook, and whether each of them calls this program, by a line of this version or an earlier one.
pub(super) fn installed(agent: &Agent, text: &str, program: &str) -> (bool, bool) {
    let Ok(root) = parse(agent, text) else { return (false, false) };
    let Some(hooks) = root.object_value().and_then(|object| object.object_value("hooks")) else {
        return (false, false);
    };
    let calls = |hook: &Hook| {
        let ours = our_groups(agent, hook, &hooks.array_value(hook.event)?);
        let group = value(ours.first()?)?;
        let line = group["hooks"][0]["command"].as_str().unwrap_or_default().to_owned();
        Some(super::lines(agent, hook.moment, program).contains(&line))
    };
    let found: Vec<bool> = agent.hooks.iter().filter_map(calls).collect();
    (!found.is_empty(), found.len() == agent.hooks.len() && found.iter().all(|same| *same))
}

fn parse(agent: &Agent, text: &str) -> Result<CstRootNode> {
    let broken = |why: String| -> Fault { refused(agent, &why) };
    if too_deep(text) {
        return Err(broken("it is nested too deeply".to_owned()));
    }
    CstRootNode::parse(text, &ParseOptions::default()).map_err(|e| broken(format!("it is not JSON: {e}")))
}

pub(super) fn too_deep(text: &str) -> bool {
    let mut depth = 0usize;
    text.bytes().any(|byte| {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > DEPTH_MAX
    })
}

/// The groups that hold nothing but hooks of ours for this event.
fn our_groups(agent: &Agent, hook: &Hook, groups: &CstArray) -> Vec<CstNode> {
    let is_ours = |group: &Value| {
        let hooks = group.get("hooks").and_then(Value::as_array);
        hooks.is_some_and(|hooks| {
            !hooks.is_empty() && hooks.iter().all(|entry| is_our_entry(agent, hook, entry))
        })
    };
    groups.elements().into_iter().filter(|group| value(group).is_some_and(|v| is_ours(&v))).collect()
}

fn is_our_entry(agent: &Agent, hook: &Hook, entry: &Value) -> bool {
    let line = entry.get("command").and_then(Value::as_str);
    line.is_some_and(|line| super::is_ours(agent, hook.moment, line))
}

/// Takes our hooks out of groups that also hold somebody else's. Says whether there were any.
fn drop_from_mixed(agent: &Agent, hook: &Hook, groups: &CstArray) -> bool {
    let mut dropped = false;
    for group in groups.elements() {
        let Some(entries) = group.as_object().and_then(|group| group.array_value("hooks")) else { continue };
        let entries = entries.elements();
        let (ours, others): (Vec<CstNode>, Vec<CstNode>) = entries
            .into_iter()
            .partition(|entry| value(entry).is_some_and(|entry| is_our_entry(agent, hook, &entry)));
        if !others.is_empty() {
            dropped |= !ours.is_empty();
            ours.into_iter().for_each(CstNode::remove);
        }
    }
    dropped
}

pub(super) fn has_comments(object: &CstObject) -> bool {
    object.children().iter().any(CstNode::is_comment)
}

fn group(agent: &Agent, hook: &Hook, called: Called<'_>) -> Value {
    let Install::HooksObject { unit, status_message, named } = agent.install else { return Value::Null };
    let moment = hook.moment;
    let mut entry = json!({ "type": "command", "command": command_line(agent, moment, called) });
    if named {
        entry["name"] = json!(format!("heirloom-{}", moment.name()));
    }
    entry["timeout"] = match unit {
        TimeUnit::Seconds => json!(moment.timeout_seconds()),
        TimeUnit::Milliseconds => json!(moment.timeout_seconds() * 1000),
    };
    if status_message {
        entry["statusMessage"] = json!(moment.status_message());
    }
    if hook.matcher.is_empty() {
        json!({ "hooks": [entry] })
    } else {
        json!({ "matcher": hook.matcher, "hooks": [entry] })
    }
}

/// A settings file as a value; `None` if it is none.
pub(super) fn json(text: &str) -> Option<Value> {
    if too_deep(text) { None } else { serde_json::from_str(&plain(text)).ok() }
}

/// A node as a value; `None` if it is not plain JSON.
pub(super) fn value(node: &CstNode) -> Option<Value> {
    serde_json::from_str(&plain(&node.to_string())).ok()
}

/// The text of a node without comments and trailing commas, which JSON readers do not take.
fn plain(text: &str) -> String {
    jsonc_parser::parse_to_value(text, &ParseOptions::default())
        .ok()
        .flatten()
        .map(|value| to_json(&value).to_string())
        .unwrap_or_default()
}

fn to_json(value: &jsonc_parser::JsonValue<'_>) -> Value {
    use jsonc_parser::JsonValue as Jsonc;
    match value {
        Jsonc::Null => Value::Null,
        Jsonc::Boolean(on) => json!(on),
        Jsonc::Number(digits) => serde_json::from_str(digits).unwrap_or(Value::Null),
        Jsonc::String(text) => json!(text),
        Jsonc::Array(items) => items.iter().map(to_json).collect(),
        Jsonc::Object(object) => {
            // The order of keys plays no part in comparing objects.
            object.clone().into_iter().map(|(key, inner)| (key.to_string(), to_json(&inner))).collect()
        }
    }
}

pub(super) fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(on) => CstInputValue::Bool(*on),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(entries) => {
            CstInputValue::Object(entries.iter().map(|(key, inner)| (key.clone(), input(inner))).collect())
        }
    }
}

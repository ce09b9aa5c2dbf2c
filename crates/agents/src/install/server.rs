//! Our MCP server in a client's list of servers, and out again.
//!
//! Comes in: the text of the file that holds the list, JSON with or without comments. Goes out: the text with our entry, or without it; every other byte
//! stays. Our entry is known by its name and by what it calls. Never here: an entry of somebody else under our name.

use super::hooks_object::{has_comments, input, too_deep, value};
use super::{Called, without_mark};
use crate::table::Client;
use heirloom_core::{Code, Fault, fault::Result};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstObject, CstRootNode};
use serde_json::{Value, json};

/// The name of our entry.
const NAME: &str = "heirloom";

/// The word that starts the server.
const WORD: &str = "mcp";

/// Our entry.
fn entry(client: &Client, called: Called<'_>) -> Value {
    let mut entry: Value = serde_json::from_str(client.with).unwrap_or_else(|_| json!({}));
    entry["command"] = json!(called.program);
    entry["args"] = json!([WORD]);
    entry
}

/// Whether the entry of our name starts our server, wherever the program is and whatever its file is called.
fn is_ours(entry: &Value) -> bool {
    entry["command"].is_string() && entry["args"] == json!([WORD])
}

/// The file with our entry.
pub fn install(client: &Client, text: Option<&str>, called: Called<'_>) -> Result<String> {
    let (mark, text) = without_mark(text);
    let root = parse(client, text.filter(|text| !text.trim().is_empty()).unwrap_or("{\n}\n"))?;
    let object = root.object_value().ok_or_else(|| refused(client, "it is not a JSON object"))?;
    let servers = object
        .object_value_or_create(client.key)
        .ok_or_else(|| refused(client, &format!("`{}` is not an object", client.key)))?;
    let wanted = entry(client, called);
    match held(&servers) {
        Some(now) if now == wanted => {}
        Some(now) if !is_ours(&now) => {
            return Err(refused(client, &format!("`{}.{NAME}` calls another program", client.key)));
        }
        Some(_) => {
            if let Some(property) = servers.get(NAME) {
                property.set_value(input(&wanted));
            }
        }
        None => drop(servers.append(NAME, input(&wanted))),
    }
    Ok(format!("{mark}{root}"))
}

/// The file without our entry; `None` if nothing else was in it.
pub fn remove(client: &Client, text: &str) -> Result<Option<String>> {
    let (mark, inner) = without_mark(Some(text));
    let inner = inner.unwrap_or_default();
    if inner.trim().is_empty() {
        return Ok(Some(text.to_owned()));
    }
    let root = parse(client, inner)?;
    let Some(object) = root.object_value() else { return Ok(Some(text.to_owned())) };
    let Some(servers) = object.object_value(client.key) else { return Ok(Some(text.to_owned())) };
    if !held(&servers).is_some_and(|entry| is_ours(&entry)) {
        return Ok(Some(text.to_owned()));
    }
    if let Some(property) = servers.get(NAME) {
        property.remove();
    }
    if servers.properties().is_empty()
        && !has_comments(&servers)
        && let Some(property) = object.get(client.key)
    {
        property.remove();
    }
    Ok((!object.properties().is_empty() || has_comments(&object)).then(|| format!("{mark}{root}")))
}

/// Whether our entry is in a file, and whether it calls this program.
pub fn installed(client: &Client, text: &str, program: &str) -> (bool, bool) {
    let text = without_mark(Some(text)).1.unwrap_or_default();
    let Ok(root) = parse(client, text) else { return (false, false) };
    let servers = root.object_value().and_then(|object| object.object_value(client.key));
    let Some(now) = servers.and_then(|servers| held(&servers)) else { return (false, false) };
    (is_ours(&now), is_ours(&now) && now["command"] == program)
}

fn held(servers: &CstObject) -> Option<Value> {
    servers.get(NAME).and_then(|property| value(&property.value()?))
}

fn parse(client: &Client, text: &str) -> Result<CstRootNode> {
    if too_deep(text) {
        return Err(refused(client, "it is nested too deeply"));
    }
    CstRootNode::parse(text, &ParseOptions::default())
        .map_err(|e| refused(client, &format!("it is not JSON: {e}")))
}

fn refused(client: &Client, why: &str) -> Fault {
    Fault::new(Code::Config, format!("{}'s list of servers cannot be edited: {why}", client.title))
        .fact("file", client.user_file)
        .hint("correct the file by hand, then run `heirloom setup` again; nothing was changed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::install::Undo;
    use crate::table::CLIENTS;

    const PROGRAM: &str = "/home/me/.cargo/bin/heirloom";

    #[test]
    fn our_entry_goes_in_and_out_and_every_other_byte_stays() {
        for client in CLIENTS {
            let key = client.key;
            for before in [
                "{}".to_owned(),
                "{\n}\n".to_owned(),
                format!(
                    "{{\n\t// mine\n\t\"{key}\": {{\n\t\t\"other\": {{ \"command\": \"x\" }},\n\t}},\n}}\n"
                ),
                format!("{{\r\n  \"{key}\": {{\r\n    \"other\": {{ \"command\": \"x\" }}\r\n  }}\r\n}}\r\n"),
                "\u{feff}{\n  \"theme\": \"dark\" /* why not */\n}".to_owned(),
                format!("{{ \"{key}\": {{}} }}"),
            ] {
                let with = install(client, Some(&before), Called::by(PROGRAM)).unwrap();
                assert_eq!(installed(client, &with, PROGRAM), (true, true), "{with}");
                assert_eq!(installed(client, &with, "/elsewhere/heirloom"), (true, false));
                assert_eq!(install(client, Some(&with), Called::by(PROGRAM)).unwrap(), with);
                // What the receipt gives back is what was there, to the byte.
                let original = Undo::of(Some(&before), &with).original(with.as_bytes());
                assert_eq!(original, Some(Some(before.clone().into_bytes())));
                let without = remove(client, &with).unwrap().unwrap_or_default();
                assert!(!without.contains("heirloom"), "{without}");
                for kept in ["// mine", "\"other\"", "why not", "\"theme\""] {
                    assert_eq!(before.contains(kept), without.contains(kept), "{without}");
                }
                let moved = install(client, Some(&with), Called::by("/usr/bin/heirloom")).unwrap();
                assert_eq!(installed(client, &moved, "/usr/bin/heirloom"), (true, true), "{moved}");
            }
        }
    }

    #[test]
    fn a_new_file_goes_away_and_an_entry_of_somebody_else_stays() {
        for client in CLIENTS {
            let new = install(client, None, Called::by(PROGRAM)).unwrap();
            assert!(serde_json::from_str::<Value>(&new).unwrap()[client.key][NAME]["args"][0] == WORD);
            assert_eq!(remove(client, &new).unwrap(), None);
            let theirs = format!("{{\"{}\": {{\"heirloom\": {{\"command\": \"other\"}}}}}}", client.key);
            assert_eq!(install(client, Some(&theirs), Called::by(PROGRAM)).unwrap_err().code, Code::Config);
            assert_eq!(remove(client, &theirs).unwrap().as_deref(), Some(theirs.as_str()));
            for broken in ["[]", "{oops", "nothing", &"[".repeat(200), &format!("{{\"{}\": 1}}", client.key)]
            {
                assert!(install(client, Some(broken), Called::by(PROGRAM)).is_err(), "{broken}");
            }
            assert_eq!(installed(client, "{oops", PROGRAM), (false, false));
        }
    }
}

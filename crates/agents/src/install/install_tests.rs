//! Install and uninstall, byte for byte.

use super::*;
use crate::table::{AGENTS, CLAUDE_CODE, CODEX, GEMINI, OPENCODE};
use proptest::prelude::*;
use serde_json::Value;

const PROGRAM: &str = "/usr/local/bin/heirloom";

fn put(agent: &Agent, before: Option<&str>) -> String {
    let edit = install(agent, Reach::User, before.map(str::as_bytes), PROGRAM).unwrap();
    String::from_utf8(edit.after.unwrap()).unwrap()
}

fn take(agent: &Agent, now: &str, original: Option<Option<&str>>) -> Option<String> {
    let undo = original.map(|original| Undo::of(original, now));
    let edit = uninstall(agent, Reach::User, Some(now.as_bytes()), undo.as_ref()).unwrap();
    edit.after.map(|bytes| String::from_utf8(bytes).unwrap())
}

#[test]
fn a_new_file_holds_every_hook_with_its_command_line() {
    for agent in [&CLAUDE_CODE, &CODEX, &GEMINI] {
        let value: Value = serde_json::from_str(&put(agent, None)).unwrap();
        assert_eq!(value.as_object().unwrap().keys().collect::<Vec<_>>(), ["hooks"]);
        for hook in agent.hooks {
            let entry = &value["hooks"][hook.event][0]["hooks"][0];
            let line = format!("{PROGRAM} hook {} --agent {}", hook.moment.name(), agent.name);
            assert_eq!(entry["command"], line, "{} {}", agent.name, hook.event);
            assert_eq!(entry["type"], "command");
        }
    }
}

#[test]
fn timeouts_are_in_the_agents_own_unit() {
    let claude: Value = serde_json::from_str(&put(&CLAUDE_CODE, None)).unwrap();
    let gemini: Value = serde_json::from_str(&put(&GEMINI, None)).unwrap();
    assert_eq!(claude["hooks"]["Stop"][0]["hooks"][0]["timeout"], 30);
    assert_eq!(gemini["hooks"]["AfterAgent"][0]["hooks"][0]["timeout"], 30_000);
}

const SETTINGS: [&str; 7] = [
    "{}",
    "{}\n",
    "{\n  \"model\": \"opus\"\n}\n",
    "{\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{ \"hooks\": [ { \"type\": \"command\", \"command\": \"other\" } ] }\n\t\t]\n\t}\n}\n",
    "{\n    // mine\n    \"theme\": \"dark\", /* keep */\n    \"list\": [1,2,  3]\n}\n",
    "{\"a\":1}",
    "{\r\n  \"a\": 1\r\n}\r\n",
];

#[test]
fn installing_twice_is_installing_once() {
    for agent in AGENTS.into_iter().filter(|agent| agent.name != "opencode") {
        for before in SETTINGS {
            let once = put(agent, Some(before));
            assert_eq!(put(agent, Some(&once)), once, "{} {before:?}", agent.name);
            assert_eq!(installed(agent, once.as_bytes(), PROGRAM), (true, true));
            assert_eq!(installed(agent, once.as_bytes(), "/elsewhere/heirloom"), (true, false));
            assert_eq!(installed(agent, before.as_bytes(), PROGRAM), (false, false));
        }
    }
}

#[test]
fn removing_gives_back_the_original_to_the_byte() {
    for agent in AGENTS.into_iter().filter(|agent| agent.name != "opencode") {
        for before in SETTINGS {
            let now = put(agent, Some(before));
            assert_eq!(take(agent, &now, Some(Some(before))).as_deref(), Some(before), "{}", agent.name);
        }
        assert_eq!(take(agent, &put(agent, None), Some(None)), None);
    }
}

#[test]
fn removing_without_the_original_leaves_everything_that_is_not_ours() {
    for before in SETTINGS.into_iter().filter(|text| text.contains(':')) {
        let now = put(&CLAUDE_CODE, Some(before));
        let left = take(&CLAUDE_CODE, &now, None).unwrap();
        assert!(!left.contains("heirloom"), "{left}");
        let plain = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(plain(&left), plain(before));
    }
    assert_eq!(take(&CODEX, &put(&CODEX, None), None), None);
}

#[test]
fn an_older_program_path_is_replaced_in_place() {
    let old = install(&CLAUDE_CODE, Reach::User, Some(SETTINGS[3].as_bytes()), "/old/heirloom").unwrap();
    let old = String::from_utf8(old.after.unwrap()).unwrap();
    let new = put(&CLAUDE_CODE, Some(&old));
    assert!(!new.contains("/old/") && new.contains("\"other\""));
    assert_eq!(new, put(&CLAUDE_CODE, Some(SETTINGS[3])));
}

#[test]
fn settings_that_cannot_be_understood_are_left_alone() {
    for broken in ["[]", "{oops", "\"x\"", "{\"hooks\": 5}", "{\"hooks\": {\"Stop\": {}}}"] {
        let fault = install(&CLAUDE_CODE, Reach::User, Some(broken.as_bytes()), PROGRAM).unwrap_err();
        assert_eq!(fault.code, Code::Config, "{broken}");
    }
    assert!(install(&CLAUDE_CODE, Reach::User, Some(b"\xff"), PROGRAM).is_err());
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(install(&CLAUDE_CODE, Reach::User, Some(deep.as_bytes()), PROGRAM).is_err());
}

#[test]
fn command_lines_are_stable_and_survive_a_shell() {
    let line = |program| command_line(&CODEX, Moment::Stop, program);
    assert_eq!(line("heirloom"), "heirloom hook stop --agent codex");
    assert_eq!(line("/opt/my tools/heirloom"), "'/opt/my tools/heirloom' hook stop --agent codex");
    assert_eq!(line("/it's/heirloom"), r"'/it'\''s/heirloom' hook stop --agent codex");
}

#[test]
fn the_opencode_plugin_is_ours_alone() {
    let text = put(&OPENCODE, None);
    assert!(text.contains(&format!("const program = \"{PROGRAM}\"")));
    assert_eq!(put(&OPENCODE, Some(&text)), text);
    assert_eq!(take(&OPENCODE, &text, None), None);
    assert!(install(&OPENCODE, Reach::User, Some(b"export const x = 1"), PROGRAM).is_err());
    assert_eq!(take(&OPENCODE, "export const x = 1", None).as_deref(), Some("export const x = 1"));
}

proptest! {
    #[test]
    fn no_settings_file_breaks_the_editor(text in "[{}\\[\\]\",:a-z0-9 \n/*]{0,120}") {
        for agent in AGENTS {
            if let Ok(edit) = install(agent, Reach::Project, Some(text.as_bytes()), PROGRAM) {
                let after = edit.after.unwrap();
                prop_assert!(install(agent, Reach::Project, Some(&after), PROGRAM).unwrap().after == Some(after));
            }
        }
    }
}

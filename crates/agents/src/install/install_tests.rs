//! Install and uninstall, byte for byte.

use super::*;
use crate::table::{AGENTS, CLAUDE_CODE, CODEX, COPILOT, GEMINI, OPENCODE};
use proptest::prelude::*;
use serde_json::Value;

const PROGRAM: &str = "/usr/local/bin/heirloom";

fn put(agent: &Agent, before: Option<&str>) -> String {
    let edit = install(agent, Reach::User, before.map(str::as_bytes), Called::by(PROGRAM)).unwrap();
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
            let words = format!("hook {} --agent {} --installed", hook.moment.name(), agent.name);
            let line = format!("[ -x {PROGRAM} ] || exit 0; exec {PROGRAM} {words}");
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

const WITH_FOREIGN: &str = "{\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{ \"hooks\": [ { \"type\": \"command\", \"command\": \"other\" } ] }\n\t\t]\n\t}\n}\n";

const SETTINGS: [&str; 10] = [
    "\u{feff}{\r\n  \"a\": 1\r\n}\r\n",
    "{\n  \"hooks\": {\n    \"Stop\": [],\n    \"PreToolUse\": []\n  },\n  \"x\": 1\n}\n",
    "{\n  \"a\": 1,\n  \"hooks\": { // mine\n    \"Stop\": [ { \"hooks\": [ { \"type\": \"command\", \"command\": \"before\" }, ] }, ],\n  },\n}\n",
    "{}",
    "{}\n",
    "{\n  \"model\": \"opus\"\n}\n",
    WITH_FOREIGN,
    "{\n    // mine\n    \"theme\": \"dark\", /* keep */\n    \"list\": [1,2,  3]\n}\n",
    "{\"a\":1}",
    "{\r\n  \"a\": 1\r\n}\r\n",
];

#[test]
fn installing_twice_is_installing_once() {
    for agent in AGENTS.into_iter().filter(|agent| matches!(agent.install, Install::HooksObject { .. })) {
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
    for agent in AGENTS.into_iter().filter(|agent| matches!(agent.install, Install::HooksObject { .. })) {
        for before in SETTINGS {
            let now = put(agent, Some(before));
            assert_eq!(take(agent, &now, Some(Some(before))).as_deref(), Some(before), "{}", agent.name);
        }
        assert_eq!(take(agent, &put(agent, None), Some(None)), None);
    }
}

#[test]
fn removing_without_the_original_leaves_everything_that_is_not_ours() {
    // An empty list could be one that we left.
    for before in SETTINGS.into_iter().filter(|text| text.contains(':') && !text.contains("[]")) {
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
    let old = install(&CLAUDE_CODE, Reach::User, Some(WITH_FOREIGN.as_bytes()), Called::by("/old/heirloom"))
        .unwrap();
    let old = String::from_utf8(old.after.unwrap()).unwrap();
    let new = put(&CLAUDE_CODE, Some(&old));
    assert!(!new.contains("/old/") && new.contains("\"other\""));
    assert_eq!(new, put(&CLAUDE_CODE, Some(WITH_FOREIGN)));
}

/// A file as version 0.1 left it, whose receipt is gone or out of date.
const OF_0_1: &str = "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [ { \"type\": \"command\", \"command\": \"/old/heirloom hook stop --agent claude-code\" } ] }\n    ]\n  }\n}\n";

#[test]
fn uninstall_does_not_bring_lines_of_an_earlier_version_back() {
    let now = put(&CLAUDE_CODE, Some(OF_0_1));
    assert!(!now.contains("/old/heirloom"));
    let left = take(&CLAUDE_CODE, &now, Some(Some(OF_0_1))).unwrap();
    assert_eq!(left, "{\n  \"model\": \"opus\"\n}\n");
    let plugin = put(&OPENCODE, None);
    assert_eq!(take(&OPENCODE, &plugin, Some(Some(&plugin))), None);
}

#[test]
fn our_hook_beside_somebody_elses_in_one_group_goes_alone() {
    let ours = "{ \"type\": \"command\", \"command\": \"/old/heirloom hook stop --agent claude-code\" }";
    let theirs = "{ \"type\": \"command\", \"command\": \"other\" }";
    for entries in
        [format!("{ours}, {theirs}"), format!("{theirs}, {ours}"), format!("{ours}, {theirs}, {ours}")]
    {
        let before = format!("{{ \"hooks\": {{ \"Stop\": [ {{ \"hooks\": [ {entries} ] }} ] }} }}");
        let now = put(&CLAUDE_CODE, Some(&before));
        assert!(!now.contains("/old/") && now.contains("\"other\""), "{now}");
        assert_eq!(now.matches("hook stop").count(), 1, "{now}");
        for left in [take(&CLAUDE_CODE, &now, None), take(&CLAUDE_CODE, &now, Some(Some(&before)))] {
            let left: Value = serde_json::from_str(&left.unwrap()).unwrap();
            assert_eq!(left["hooks"]["Stop"][0]["hooks"].as_array().unwrap().len(), 1, "{left}");
            assert_eq!(left["hooks"]["Stop"][0]["hooks"][0]["command"], "other");
        }
    }
}

#[test]
fn a_file_that_was_there_before_stays_even_if_nothing_is_left_in_it() {
    let before = "{\n  \"hooks\": {}\n}\n";
    let now = put(&GEMINI, Some(before));
    let undo = Undo::of(Some(before), &now);
    let edited = format!("{now}\n");
    let edit = uninstall(&GEMINI, Reach::User, Some(edited.as_bytes()), Some(&undo)).unwrap();
    assert_eq!(edit.after.as_deref(), Some(b"{}\n".as_slice()));
    let made = put(&GEMINI, None);
    let undo = Undo::of(None, &made);
    let edited = format!("{made}\n");
    let edit = uninstall(&GEMINI, Reach::User, Some(edited.as_bytes()), Some(&undo)).unwrap();
    assert_eq!(edit.after, None);
}

#[test]
fn settings_that_cannot_be_understood_are_left_alone() {
    for broken in ["[]", "{oops", "\"x\"", "{\"hooks\": 5}", "{\"hooks\": {\"Stop\": {}}}"] {
        let fault =
            install(&CLAUDE_CODE, Reach::User, Some(broken.as_bytes()), Called::by(PROGRAM)).unwrap_err();
        assert_eq!(fault.code, Code::Config, "{broken}");
    }
    assert!(install(&CLAUDE_CODE, Reach::User, Some(b"\xff"), Called::by(PROGRAM)).is_err());
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(install(&CLAUDE_CODE, Reach::User, Some(deep.as_bytes()), Called::by(PROGRAM)).is_err());
}

#[test]
fn command_lines_are_stable_and_survive_a_shell() {
    let line = |program| command_line(&CODEX, Moment::Stop, Called::by(program));
    let words = "hook stop --agent codex --installed";
    assert_eq!(line("heirloom"), format!("command -v heirloom >/dev/null || exit 0; exec heirloom {words}"));
    let spaced = "'/opt/my tools/heirloom'";
    assert_eq!(line("/opt/my tools/heirloom"), format!("[ -x {spaced} ] || exit 0; exec {spaced} {words}"));
    let quoted = r"'/it'\''s/heirloom'";
    assert_eq!(line("/it's/heirloom"), format!("[ -x {quoted} ] || exit 0; exec {quoted} {words}"));
    let everywhere = command_line(&CODEX, Moment::Stop, Called { program: "heirloom", everywhere: true });
    assert!(everywhere.ends_with(&format!("{words} --everywhere")));
}

#[test]
fn a_missing_program_is_silence_and_zero_in_every_shell() {
    for shell in ["sh", "bash", "dash"] {
        for program in ["/nonexistent/it's a heirloom", "heirloom-that-nobody-has"] {
            let line = command_line(&CODEX, Moment::Prompt, Called::by(program));
            let Ok(ran) = std::process::Command::new(shell).args(["-c", &line]).output() else { continue };
            assert!(
                ran.status.success() && ran.stdout.is_empty() && ran.stderr.is_empty(),
                "{shell}: {ran:?}"
            );
        }
    }
}

#[test]
fn lines_of_the_first_version_are_replaced_and_removed() {
    for agent in [&CLAUDE_CODE, &CODEX, &GEMINI] {
        let now = put(agent, None);
        let old = now.replace(&format!("[ -x {PROGRAM} ] || exit 0; exec "), "").replace(" --installed", "");
        assert!(old.contains(&format!("\"{PROGRAM} hook stop --agent {}\"", agent.name)));
        assert_eq!(put(agent, Some(&old)), now, "{}", agent.name);
        assert_eq!(take(agent, &old, None), None, "{}", agent.name);
        assert_eq!(installed(agent, old.as_bytes(), PROGRAM), (true, true), "they still call this program");
        assert_eq!(installed(agent, old.as_bytes(), "/elsewhere/heirloom"), (true, false));
        let everywhere = Called { program: PROGRAM, everywhere: true };
        let wide = install(agent, Reach::User, Some(old.as_bytes()), everywhere).unwrap().after.unwrap();
        assert_eq!(installed(agent, &wide, PROGRAM), (true, true));
        assert_eq!(take(agent, std::str::from_utf8(&wide).unwrap(), None), None);
    }
}

#[test]
fn the_opencode_plugin_is_ours_alone() {
    let text = put(&OPENCODE, None);
    assert!(text.contains(&format!("const program = \"{PROGRAM}\"")));
    assert_eq!(put(&OPENCODE, Some(&text)), text);
    assert_eq!(take(&OPENCODE, &text, None), None);
    assert!(install(&OPENCODE, Reach::User, Some(b"export const x = 1"), Called::by(PROGRAM)).is_err());
    assert_eq!(take(&OPENCODE, "export const x = 1", None).as_deref(), Some("export const x = 1"));
}

#[test]
fn the_file_of_copilots_hooks_is_ours_alone() {
    let text = put(&COPILOT, None);
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["version"], 1);
    let line = value["hooks"]["UserPromptSubmit"][0]["bash"].as_str().unwrap();
    assert!(line.ends_with("hook prompt --agent copilot --installed"), "{line}");
    assert_eq!(put(&COPILOT, Some(&text)), text);
    assert_eq!(take(&COPILOT, &text, None), None);
    assert_eq!(installed(&COPILOT, text.as_bytes(), PROGRAM), (true, true));
    let foreign = r#"{"version": 1, "hooks": {"Stop": [{"type": "command", "bash": "other"}]}}"#;
    assert!(install(&COPILOT, Reach::User, Some(foreign.as_bytes()), Called::by(PROGRAM)).is_err());
    assert_eq!(take(&COPILOT, foreign, None).as_deref(), Some(foreign));
}

proptest! {
    #[test]
    fn no_settings_file_breaks_the_editor(text in "[{}\\[\\]\",:a-z0-9 \n/*]{0,120}") {
        for agent in AGENTS {
            if let Ok(edit) = install(agent, Reach::Project, Some(text.as_bytes()), Called::by(PROGRAM)) {
                let after = edit.after.unwrap();
                prop_assert!(install(agent, Reach::Project, Some(&after), Called::by(PROGRAM)).unwrap().after == Some(after));
            }
        }
    }
}

//! The bundle says what the tables say.

use super::*;
use crate::table::Moment;
use heirloom_core::kind::RECORD_KINDS;

fn text(path: &str) -> String {
    files().into_iter().find(|file| file.path == path).unwrap().text
}

#[test]
fn the_manifest_names_files_that_are_there() {
    let manifest: Value = serde_json::from_str(&text(".claude-plugin/plugin.json")).unwrap();
    let paths: Vec<String> = files().into_iter().map(|file| format!("./{}", file.path)).collect();
    let commands = manifest["commands"].as_array().unwrap();
    assert_eq!(commands.len(), 4);
    for command in commands {
        assert!(paths.contains(&command.as_str().unwrap().to_owned()), "{command}");
    }
    for skill in manifest["skills"].as_array().unwrap() {
        assert!(paths.contains(&format!("{}/SKILL.md", skill.as_str().unwrap())));
    }
}

#[test]
fn the_hooks_have_the_agreed_timeouts_and_messages() {
    let hooks: Value = serde_json::from_str(&text("hooks/hooks.json")).unwrap();
    for (event, timeout, message) in [
        ("Stop", 30, "Evaluating session for memories..."),
        ("PreToolUse", 5, "Checking memory write path..."),
        ("PostToolUse", 10, "Validating memory file..."),
        ("UserPromptSubmit", 10, "Retrieving relevant memories..."),
    ] {
        let entry = &hooks["hooks"][event][0]["hooks"][0];
        assert_eq!(entry["timeout"], timeout, "{event}");
        assert_eq!(entry["statusMessage"], message, "{event}");
        let line = entry["command"].as_str().unwrap();
        assert!(line.starts_with("command -v heirloom >/dev/null || exit 0; exec heirloom hook "), "{line}");
    }
    assert_eq!(hooks["hooks"].as_object().unwrap().len(), Moment::ALL.len());
}

#[test]
fn the_plugin_and_its_files_give_commands_the_names_of_the_record_format() {
    let manifest: Value = serde_json::from_str(&text(".claude-plugin/plugin.json")).unwrap();
    let plugin = manifest["name"].as_str().unwrap();
    for name in ["memory:config", "memory:search", "memory:save"] {
        let (of, file) = name.split_once(':').unwrap();
        assert_eq!(of, plugin);
        assert!(text(&format!("commands/{file}.md")).starts_with(&format!("---\nname: {name}\n")), "{name}");
    }
    let catalogue: Value = serde_json::from_str(&marketplace()).unwrap();
    assert_eq!(catalogue["plugins"][0]["name"], plugin);
    assert!(manifest["author"]["name"].is_string(), "a strict check asks for it");
}

#[test]
fn commands_offer_every_option_and_every_category() {
    let memory = text("commands/memory.md");
    for flag in ["--retire", "--archive", "--unarchive", "--restore", "--gc", "--list-archived"] {
        assert!(memory.contains(&format!("## {flag}")), "{flag}");
    }
    assert!(text("commands/search.md").contains("--include-retired"));
    let (save, skill) = (text("commands/save.md"), text("skills/memory-management/SKILL.md"));
    for row in RECORD_KINDS {
        assert!(save.contains(&format!("| `{}` | `{}` |", row.name, row.folder)));
        assert!(skill.contains(&format!("| `{}` | `{}` |", row.name, row.folder)));
    }
    for file in files().iter().filter(|file| file.path.ends_with(".md")) {
        assert!(file.text.starts_with("---\nname: "), "{}", file.path);
    }
}

#[test]
fn a_command_may_call_what_it_describes_and_nothing_else() {
    for file in files().iter().filter(|file| file.path.starts_with("commands/")) {
        let line = file.text.lines().find_map(|line| line.strip_prefix("allowed-tools: ")).unwrap();
        for tool in line.split(", ") {
            let call = tool.strip_prefix("Bash(").and_then(|rest| rest.strip_suffix(')')).unwrap();
            let words = call.strip_suffix(":*").unwrap_or(call);
            assert!(words.len() > "heirloom ".len(), "{}: {tool} allows everything", file.path);
            let body = file.text.split("---\n\n").nth(1).unwrap();
            let described = body.contains(words) || words == "heirloom config get";
            assert!(described, "{}: {tool} is never used", file.path);
        }
        for never in ["forget", "trust", "review accept", "setup", "merge-driver", "sync", "import", "user"] {
            assert!(!line.contains(&format!("heirloom {never}")), "{}: {never}", file.path);
        }
    }
}

#[test]
fn the_bundle_in_the_repository_is_what_the_tables_say() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/claude-code");
    for file in files() {
        let stored = std::fs::read_to_string(folder.join(&file.path)).unwrap_or_default();
        assert!(stored == file.text, "{} is out of date: run `cargo xtask generate`", file.path);
    }
}

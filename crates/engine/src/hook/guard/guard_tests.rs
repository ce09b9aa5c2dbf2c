//! Commands against the guard: every spelling of the fixtures, and what no spelling may cost.

use super::*;
use proptest::prelude::*;
use std::path::PathBuf;

const PROJECT: &str = "/nowhere/sam/shop";

fn memory() -> Memory {
    Memory::new(Path::new("/nowhere/sam/shop/.claude/memory"), Some(Path::new("/nowhere/sam")))
}

fn denied(command: &str) -> bool {
    refusal(&memory(), Attempt::Command(command), Path::new(PROJECT)).is_some()
}

/// The commands of a fixture, with the section each stands in. `\n` is a line break, `\\n` a backslash and an n.
fn fixture(name: &str) -> Vec<(String, String)> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/guard").join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut section = String::new();
    let mut found = Vec::new();
    for line in text.lines() {
        match line.strip_prefix("## ") {
            Some(title) => section = title.to_owned(),
            None if line.is_empty() || line.starts_with("# ") => {}
            None => {
                let command = line.replace("\\\\n", "\u{1}").replace("\\n", "\n").replace('\u{1}', "\\n");
                found.push((section.clone(), command));
            }
        }
    }
    found
}

const OUT_OF_REACH: &str = "out of reach";

#[test]
fn every_attack_a_grammar_can_decide_is_refused() {
    let attacks = fixture("attacks.txt");
    let decided: Vec<_> = attacks.iter().filter(|(section, _)| section != OUT_OF_REACH).collect();
    assert!(decided.len() >= 150, "{}", decided.len());
    let missed: Vec<String> = decided
        .iter()
        .filter(|(_, command)| !denied(command))
        .map(|(section, command)| format!("{section}: {command}"))
        .collect();
    assert!(missed.is_empty(), "{} of {} pass:\n{}", missed.len(), decided.len(), missed.join("\n"));
}

#[test]
fn what_no_grammar_can_decide_is_counted() {
    let attacks = fixture("attacks.txt");
    let beyond: Vec<_> = attacks.iter().filter(|(section, _)| section == OUT_OF_REACH).collect();
    let passed = beyond.iter().filter(|(_, command)| !denied(command)).count();
    // docs/security/guard.md names the number.
    assert_eq!((passed, beyond.len()), (OUT_OF_REACH_COUNT, OUT_OF_REACH_COUNT));
}

const OUT_OF_REACH_COUNT: usize = 14;

#[test]
fn at_most_one_ordinary_command_in_a_hundred_is_refused() {
    let ordinary = fixture("ordinary.txt");
    assert!(ordinary.len() >= 1_000, "{}", ordinary.len());
    let mut distinct: Vec<&str> = ordinary.iter().map(|(_, command)| command.as_str()).collect();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), ordinary.len(), "a command stands there twice");
    let refused: Vec<&str> = distinct.into_iter().filter(|command| denied(command)).collect();
    assert!(refused.len() * 100 <= ordinary.len(), "{}:\n{}", refused.len(), refused.join("\n"));
    // None of them is, today; one that is has to be looked at.
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn a_command_too_long_or_too_deep_to_be_read_is_refused_if_it_names_the_folder() {
    let pad = "echo nothing; ".repeat(80_000);
    let deep = format!("{}rm -rf .claude/memory{}", "$(".repeat(100), ")".repeat(100));
    let product = format!("touch {} .claude/memory/a", "{a,b}".repeat(40));
    for command in
        [format!("{pad} rm -rf .claude/memory"), format!("rm -rf .cl''aude/mem\\ory; {pad}"), deep, product]
    {
        assert!(denied(&command), "{:.60}", command);
    }
    assert!(pad.len() > 1 << 20);
    assert!(!denied(&pad), "length alone is no reason");
    assert!(!denied(&format!("touch {}", "{a,b}".repeat(40))), "nor is a product");
}

#[test]
fn every_folder_of_the_list_is_guarded_by_the_same_grammar() {
    let memory =
        memory().and([PathBuf::from("/nowhere/sam/.config/heirloom"), PathBuf::from("/nowhere/data")]);
    let denied = |command: &str| refusal(&memory, Attempt::Command(command), Path::new(PROJECT)).is_some();
    for command in [
        "echo x > ~/.config/heirloom/config.json",
        "cd ~/.config && rm -rf heirl*",
        "d=/nowhere/data; touch $d/trust.jsonl",
        "rm -rf ../../data",
        "rm -rf ~/.config",
        "find /nowhere/data -name '*.db' -delete",
        "python3 -c \"open('/nowhere/data/x','w')\"",
        "echo x > .claude/memory/a.json",
    ] {
        assert!(denied(command), "{command}");
    }
    for command in
        ["cat ~/.config/heirloom/config.json", "ls /nowhere/data", "rm -rf ~/.config/other", "touch data/x"]
    {
        assert!(!denied(command), "{command}");
    }
}

#[test]
fn no_command_gives_this_program_another_home() {
    let own =
        [PathBuf::from("/nowhere/sam/.config/heirloom"), PathBuf::from("/nowhere/sam/.local/share/heirloom")];
    let memory = memory().with_own(own);
    let denied = |command: &str| refusal(&memory, Attempt::Command(command), Path::new(PROJECT));
    for command in [
        "XDG_DATA_HOME=/tmp/x heirloom retire decision:use-kafka",
        "XDG_CONFIG_HOME=/tmp/x heirloom add decision 'x because y'",
        "HOME=/tmp/x /usr/local/bin/heirloom trust decision:x",
        "env HOME=/tmp/x heirloom gc",
        "export XDG_DATA_HOME=/tmp/x; cd src && heirloom edit decision:x --title y",
        "sh -c 'XDG_DATA_HOME=/tmp/x heirloom retire x'",
        "XDG_DATA_HOME=/tmp/x timeout 5 heirloom retire x",
        "echo x > \"$XDG_DATA_HOME\"/heirloom/trust.jsonl",
        "cp /tmp/x ${XDG_CONFIG_HOME:-$HOME/.config}/heirloom/config.json",
    ] {
        assert_eq!(denied(command), Some(OWN_REASON), "{command}");
    }
    for command in
        ["heirloom retire x", "HOME=/tmp/x npm test", "X=1 heirloom list", "HEIRLOOM_LOG=debug heirloom list"]
    {
        assert_eq!(denied(command), None, "{command}");
    }
}

#[test]
fn a_relative_write_starts_where_the_tool_works() {
    for (folder, command) in [
        (".claude/memory", "touch a.json"),
        (".claude", "cp /tmp/x memory/"),
        (".claude/memory/decisions", "cd .. && rm index.md"),
    ] {
        let cwd = Path::new(PROJECT).join(folder);
        assert!(refusal(&memory(), Attempt::Command(command), &cwd).is_some(), "{folder}: {command}");
        assert!(refusal(&memory(), Attempt::Command("cat index.md"), &cwd).is_none());
    }
    let inside = Path::new(PROJECT).join(".claude/memory");
    assert!(refusal(&memory(), Attempt::File("a.json"), &inside).is_some());
    assert!(refusal(&memory(), Attempt::Command("cd ../.. && touch a.json"), &inside).is_none());
}

proptest! {
    #[test]
    fn what_is_refused_is_refused_behind_anything_harmless(
        attack in prop::sample::select(vec!["rm -rf .claude/memory", "echo x > .claude/memory/a", "cd .claude/memory && touch a"]),
        before in prop::sample::select(vec!["true;", "echo hi &&", "x=1;", "ls | wc -l;", "(ls);", "if true; then :; fi;", "cat <<E\nit's\nE\n", "echo \"it's\";", "f() { ls; };"]),
        around in prop::sample::select(vec!["{}", "sh -c '{}'", "( {} )", "{ {}; }", "eval '{}'", "x=$({})", "echo `{}`", "timeout 5 sh -c '{}'"]),
    ) {
        let command = format!("{before} {}", around.replacen("{}", attack, 1));
        prop_assert!(denied(&command), "{}", command);
    }
}

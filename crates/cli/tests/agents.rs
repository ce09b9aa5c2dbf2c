//! `setup`, `doctor`, `last` and `import auto`, as somebody with agents on the machine meets them.

use crate::env::{HEIRLOOM, TestEnv, finish};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

const SETTINGS: &str = "{\n  // mine\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [ { \"hooks\": [ { \"type\": \"command\", \"command\": \"other\" } ] } ]\n  }\n}\n";

/// A machine without agents, whatever the developer's search path has.
fn nobody() -> TestEnv {
    let mut env = TestEnv::ready();
    let path = format!("{}:/usr/bin:/bin", env.bin().display());
    env.set("PATH", &path);
    env
}

/// A machine on which Claude Code, Codex and Gemini are used.
fn machine() -> TestEnv {
    let env = nobody();
    for folder in [".claude", ".codex", ".gemini"] {
        std::fs::create_dir(env.home().join(folder)).unwrap();
    }
    std::fs::write(env.home().join(".claude/settings.json"), SETTINGS).unwrap();
    env
}

fn changed(report: &Value) -> Vec<&str> {
    let changes = report["changes"].as_array().unwrap().iter();
    changes
        .filter(|change| change["changes"] == true)
        .map(|change| change["agent"].as_str().unwrap_or("own"))
        .collect()
}

#[test]
fn a_dry_run_shows_every_change_and_makes_none() {
    let env = machine();
    let before = env.files_below(&env.home());
    let ran = env.run(&["setup", "--dry-run"]).ok();
    for line in [
        "Claude Code\n  ~/.claude/settings.json  ",
        "Codex CLI\n  ~/.codex/hooks.json  new file, ",
        "may hold the stop",
    ] {
        assert!(ran.stdout.contains(line), "{line}: {}", ran.stdout);
    }
    assert!(
        !ran.stdout.contains("@@ ") && ran.stdout.lines().count() < 30,
        "a line for each file: {}",
        ran.stdout
    );
    let whole = env.run(&["setup", "--dry-run", "--diff"]).ok().stdout;
    assert!(whole.contains("@@ ") && whole.contains("hook prompt --agent claude-code"));
    assert!(!ran.stdout.contains("OpenCode"), "it is not on this machine");
    assert_eq!(env.files_below(&env.home()), before);
}

#[test]
fn setting_up_and_taking_out_again_gives_back_every_byte() {
    let env = machine();
    let settings = env.home().join(".claude/settings.json");
    std::fs::set_permissions(&settings, std::fs::Permissions::from_mode(0o600)).unwrap();
    let before = env.files_below(&env.home());
    let report = env.run(&["setup", "--yes", "--notes", "--json"]).ok().json();
    assert_eq!(changed(&report), ["claude-code", "claude-code", "codex", "gemini", "own"]);
    assert_eq!(std::fs::metadata(&settings).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(env.run(&["config", "get", "notes.capture"]).ok().stdout, "true\n");
    let again = env.run(&["setup", "--yes", "--notes", "--json"]).ok().json();
    assert_eq!((changed(&again), &again["applied"]), (vec![], &json!(false)));
    env.at_terminal(&["setup", "--uninstall", "--yes"], "").ok();
    // Who took the hooks out stays in the user's own audit.
    let mut after = env.files_below(&env.home());
    after.retain(|(path, _)| {
        !["audit.jsonl", "audit.lock", "settings.lock"].iter().any(|own| path.ends_with(own))
    });
    assert_eq!(after, before);
    let nothing = env.at_terminal(&["setup", "--uninstall", "--yes", "--json"], "").ok().json();
    assert_eq!(changed(&nothing), Vec::<&str>::new());
}

/// Every folder below a folder.
fn folders(below: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(below).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            all.push(entry.path());
            all.extend(folders(&entry.path()));
        }
    }
    all.sort();
    all
}

#[test]
fn taking_out_leaves_no_folder_that_setup_made() {
    let env = nobody();
    let before = folders(&env.home());
    for agent in ["claude-code", "codex", "gemini", "opencode", "copilot"] {
        env.run(&["setup", "--yes", "--agent", agent]).ok();
    }
    for (agent, ..) in CLIENTS {
        env.run(&["setup", "--yes", "--agent", agent]).ok();
    }
    assert!(env.home().join(".claude/skills").is_dir());
    env.at_terminal(&["setup", "--uninstall", "--yes"], "").ok();
    let mut after = folders(&env.home());
    // Who took the hooks out stays in the user's own audit.
    after.retain(|folder| !env.home().join(".local/share/heirloom").starts_with(folder));
    assert_eq!(after, before);
    let before = folders(&env.project());
    env.run(&[
        "setup", "--yes", "--shared", "--agent", "gemini", "--agent", "opencode", "--agent", "copilot",
    ])
    .ok();
    assert!(env.project().join(".github/hooks/heirloom.json").is_file());
    env.at_terminal(&["setup", "--uninstall", "--yes", "--shared"], "").ok();
    assert_eq!(folders(&env.project()), before);
}

/// Programs that come by MCP: name, file with servers, object in it, rules file.
const CLIENTS: [(&str, &str, &str, &str); 6] = [
    ("copilot", ".copilot/mcp-config.json", "mcpServers", ""),
    ("cursor", ".cursor/mcp.json", "mcpServers", ""),
    ("vscode", "config/Code/User/mcp.json", "servers", "config/Code/User/prompts/heirloom.instructions.md"),
    ("zed", "config/zed/settings.json", "context_servers", ""),
    ("claude-desktop", "config/Claude/claude_desktop_config.json", "mcpServers", ""),
    (
        "windsurf",
        ".codeium/windsurf/mcp_config.json",
        "mcpServers",
        ".codeium/windsurf/memories/global_rules.md",
    ),
];

#[test]
fn programs_that_come_by_mcp_are_connected_checked_and_given_back_to_the_byte() {
    for (agent, file, key, rules) in CLIENTS {
        let env = nobody();
        let servers = env.home().join(file);
        let mine = format!(
            "{{\r\n\t// mine\r\n\t\"theme\": \"dark\",\r\n\t\"{key}\": {{ \"other\": {{ \"command\": \"x\" }} }} // here\r\n}}\r\n"
        );
        std::fs::create_dir_all(servers.parent().unwrap()).unwrap();
        std::fs::write(&servers, &mine).unwrap();
        let text = || std::fs::read_to_string(&servers).unwrap();
        let row = || {
            let checks = env.run(&["doctor", "--json"]).json()["checks"].as_array().unwrap().clone();
            checks
                .into_iter()
                .find(|c| c["id"] == "server" && c["detail"].as_str().unwrap().contains(agent))
                .unwrap()
        };
        assert_eq!(row()["state"], "warning", "{agent}");
        env.run(&["setup", "--dry-run", "--agent", agent]).ok();
        assert_eq!(text(), mine, "{agent}");
        env.run(&["setup", "--yes", "--agent", agent]).ok();
        assert!(
            text().contains("\"heirloom\"") && text().contains("// mine") && text().contains("\"other\""),
            "{}",
            text()
        );
        assert_eq!(row()["state"], "good", "{agent}");
        let again = text();
        env.run(&["setup", "--yes", "--agent", agent]).ok();
        assert_eq!(text(), again);
        if !rules.is_empty() {
            let rules = std::fs::read_to_string(env.home().join(rules)).unwrap();
            assert!(rules.contains("`recall`") && rules.contains("heirloom setup --uninstall"), "{rules}");
        }
        env.at_terminal(&["setup", "--uninstall", "--yes", "--agent", agent], "").ok();
        assert_eq!(text(), mine, "{agent}");
        assert!(rules.is_empty() || !env.home().join(rules).exists());
    }
}

#[test]
fn rules_of_a_project_go_into_the_file_that_is_read_and_out_again() {
    let env = nobody();
    let rules = env.project().join("AGENTS.md");
    std::fs::write(&rules, "# Ours\r\n\r\nUse tabs.").unwrap();
    env.run(&["setup", "--yes", "--shared", "--agent", "zed", "--agent", "vscode", "--agent", "windsurf"])
        .ok();
    let now = std::fs::read_to_string(&rules).unwrap();
    assert!(now.starts_with("# Ours\r\n\r\nUse tabs.\r\n") && now.contains("`recall`"), "{now}");
    assert!(!env.project().join(".rules").exists(), "a file in front of it would hide theirs");
    for made in [
        ".vscode/mcp.json",
        ".zed/settings.json",
        ".github/instructions/heirloom.instructions.md",
        ".windsurf/rules/heirloom.md",
    ] {
        assert!(env.project().join(made).is_file(), "{made}");
    }
    // Somebody writes on in the file meanwhile.
    std::fs::write(&rules, format!("{now}More.\r\n")).unwrap();
    env.at_terminal(&["setup", "--uninstall", "--yes", "--shared"], "").ok();
    let left = std::fs::read_to_string(&rules).unwrap();
    assert!(
        left.starts_with("# Ours\r\n\r\nUse tabs.")
            && left.ends_with("More.\r\n")
            && !left.contains("heirloom"),
        "{left}"
    );
    for made in [".vscode", ".zed", ".github", ".windsurf"] {
        assert!(!env.project().join(made).exists(), "{made}");
    }
}

#[test]
fn what_somebody_changed_since_stays_when_the_hooks_go() {
    let env = machine();
    let settings = env.home().join(".claude/settings.json");
    env.run(&["setup", "--yes"]).ok();
    let edited = std::fs::read_to_string(&settings).unwrap().replace("opus", "sonnet");
    std::fs::write(&settings, edited).unwrap();
    env.at_terminal(&["setup", "--uninstall", "--yes", "--agent", "claude-code"], "").ok();
    let left = std::fs::read_to_string(&settings).unwrap();
    assert!(left.contains("sonnet") && left.contains("\"other\"") && left.contains("// mine"), "{left}");
    assert!(!left.contains("heirloom"), "{left}");
    assert!(env.home().join(".codex/hooks.json").exists(), "only the named agent");
}

#[test]
fn a_person_is_asked_for_each_agent_and_about_notes_and_n_is_no() {
    let env = machine();
    for typed in ["\n\n\n", "n\nn\nN\n", "no\nx\n\u{4}"] {
        let no = env.at_terminal(&["setup"], typed);
        assert_eq!(no.code, Some(1), "{no:?}");
        assert!(no.stderr.contains("nothing was changed"));
        assert!(!no.stderr.contains("as notes? [y/N]"), "there is nothing to keep them for: {no:?}");
        assert_eq!(std::fs::read_to_string(env.home().join(".claude/settings.json")).unwrap(), SETTINGS);
    }
    let one = env.at_terminal(&["setup"], "d\ny\nn\nn\nn\n").ok();
    assert!(
        one.stderr.contains("Connect Claude Code? [y/N]") && one.stderr.contains("Connect Codex CLI? [y/N]")
    );
    assert!(one.stdout.contains("@@ "), "`d` shows the change: {one:?}");
    assert!(!env.home().join(".codex/hooks.json").exists());
    assert_eq!(env.run(&["config", "get", "notes.capture"]).ok().stdout, "false\n");
    let yes = env.at_terminal(&["setup"], "y\ny\ny\n").ok();
    assert!(yes.stderr.contains("Keep longer messages as notes? [y/N]"), "{yes:?}");
    assert!(env.home().join(".codex/hooks.json").exists());
    assert_eq!(env.run(&["config", "get", "notes.capture"]).ok().stdout, "true\n");
    assert!(env.at_terminal(&["setup", "--uninstall"], "y\n").ok().stdout.contains("changed"));
    assert_eq!(env.run(&["config", "get", "notes.capture"]).ok().stdout, "false\n");
}

#[test]
fn purge_shows_and_then_removes_everything_but_the_memories() {
    let env = machine();
    env.git(&["init", "--quiet"]);
    env.at_terminal(&["init", "--pre-commit"], "").ok();
    env.at_terminal(&["add", "decision", "Use PostgreSQL because we need jsonb"], "").ok();
    env.at_terminal(&["remember", "I prefer short answers"], "").ok();
    env.run(&["setup", "--yes", "--notes"]).ok();
    env.run(&["setup", "--uninstall", "--purge", "--yes"]).fails_with("NEEDS_PERSON", 1);
    let no = env.at_terminal(&["setup", "--uninstall", "--purge"], "\n");
    assert_eq!(no.code, Some(1), "{no:?}");
    for what in
        ["merge driver", "pre-commit hook", "~/data/heirloom", "~/config/heirloom", ".claude/settings.json"]
    {
        assert!(no.stdout.contains(what), "{what}: {no:?}");
    }
    assert!(env.home().join("data/heirloom").is_dir());
    env.at_terminal(&["setup", "--uninstall", "--purge"], "y\n").ok();
    assert!(!env.home().join("data/heirloom").exists() && !env.home().join("config/heirloom").exists());
    assert!(!env.project().join(".git/hooks/pre-commit").exists());
    assert!(!std::fs::read_to_string(env.project().join(".git/config")).unwrap().contains("heirloom"));
    assert_eq!(std::fs::read_to_string(env.home().join(".claude/settings.json")).unwrap(), SETTINGS);
    assert!(env.memory("decisions/use-postgresql.json").exists(), "memories are their owner's");
}

#[test]
fn the_skill_comes_along_but_never_over_somebody_elses() {
    let env = machine();
    let skill = env.home().join(".claude/skills/memory-management/SKILL.md");
    env.run(&["setup", "--yes", "--agent", "claude-code"]).ok();
    let text = std::fs::read_to_string(&skill).unwrap();
    assert!(text.contains("triage_data"));
    let program = env.program().display().to_string();
    let named =
        text.contains(&format!("`{program} show ")) && text.contains(&format!("\n{program} record write "));
    assert!(named && !text.contains("`heirloom "), "commands name the program by its path: {text}");
    env.at_terminal(&["setup", "--uninstall", "--yes"], "").ok();
    assert!(!env.home().join(".claude/skills").exists());
    std::fs::create_dir_all(skill.parent().unwrap()).unwrap();
    std::fs::write(&skill, "mine").unwrap();
    let ran = env.run(&["setup", "--yes", "--agent", "claude-code"]).ok();
    assert!(ran.stdout.contains("not made by Heirloom, stays"), "{ran:?}");
    env.at_terminal(&["setup", "--uninstall", "--yes"], "").ok();
    assert_eq!(std::fs::read_to_string(&skill).unwrap(), "mine");
}

#[test]
fn where_the_plugin_is_on_nothing_is_put_in_twice() {
    let env = machine();
    let settings = env.home().join(".claude/settings.json");
    std::fs::write(&settings, r#"{"enabledPlugins": {"heirloom@somewhere": true}}"#).unwrap();
    let ran = env.run(&["setup", "--yes", "--agent", "claude-code"]).ok();
    assert!(ran.stdout.contains("has the plugin"), "{ran:?}");
    assert!(!env.home().join(".claude/skills").exists());
    let report = env.run(&["doctor", "--json"]).ok().json();
    assert_eq!(check(&report, "agent", "claude-code calls")["state"], "good");
}

#[test]
fn a_settings_file_behind_a_link_is_changed_where_it_is() {
    let env = machine();
    let (link, real) = (env.home().join(".claude/settings.json"), env.home().join("dotfiles.json"));
    std::fs::rename(&link, &real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    env.run(&["setup", "--yes", "--agent", "claude-code"]).ok();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(std::fs::read_to_string(&real).unwrap().contains("heirloom"));
    env.at_terminal(&["setup", "--uninstall", "--yes"], "").ok();
    assert_eq!(std::fs::read_to_string(&real).unwrap(), SETTINGS);
}

#[test]
fn a_project_can_carry_the_hooks_for_everybody() {
    let env = machine();
    env.run(&["setup", "--shared", "--yes", "--agent", "claude-code", "--agent", "opencode"]).ok();
    let text = std::fs::read_to_string(env.project().join(".claude/settings.json")).unwrap();
    let line = "\"command -v heirloom >/dev/null || exit 0; exec heirloom hook prompt --agent claude-code --installed\"";
    assert!(text.contains(line), "{text}");
    assert_eq!(std::fs::read_to_string(env.home().join(".claude/settings.json")).unwrap(), SETTINGS);
    assert!(env.project().join(".opencode/plugins/heirloom.ts").exists());
    env.at_terminal(&["setup", "--shared", "--uninstall", "--yes"], "").ok();
    assert!(!env.project().join(".claude/settings.json").exists());
    assert!(!env.project().join(".opencode").exists(), "folders that were made for it go with it");
}

#[test]
fn setup_refuses_what_it_cannot_do() {
    let mut env = nobody();
    env.run(&["setup", "--yes"]).fails_with("NOT_FOUND", 3);
    env.run(&["setup", "--agent", "emacs", "--yes"]).fails_with("USAGE", 2);
    env.run(&["setup", "--agent", "codex"]).fails_with("NEEDS_PERSON", 1);
    std::fs::create_dir(env.home().join(".claude")).unwrap();
    std::fs::write(env.home().join(".claude/settings.json"), "{oops").unwrap();
    env.run(&["setup", "--yes"]).fails_with("CONFIG_ERROR", 1);
    assert_eq!(std::fs::read(env.home().join(".claude/settings.json")).unwrap(), b"{oops");
    let elsewhere = env.base().join("elsewhere");
    env.set("CLAUDE_CONFIG_DIR", elsewhere.to_str().unwrap());
    env.run(&["setup", "--agent", "claude-code", "--yes"]).ok();
    assert!(elsewhere.join("settings.json").exists());
}

fn check<'a>(report: &'a Value, id: &str, detail: &str) -> &'a Value {
    let checks = report["checks"].as_array().unwrap();
    let found = checks.iter().find(|c| c["id"] == id && c["detail"].as_str().unwrap().contains(detail));
    found.unwrap_or_else(|| panic!("no {id} with {detail}: {report:#}"))
}

#[test]
fn the_doctor_names_each_broken_link_and_its_fix() {
    let env = machine();
    let report = env.run(&["doctor", "--json"]).ok().json();
    assert_eq!(check(&report, "agent", "claude-code is installed, but its hooks")["state"], "warning");
    assert_eq!(check(&report, "round trip", "came back")["state"], "good");
    env.run(&["setup", "--yes"]).ok();
    let ran = env.run(&["doctor", "--json"]);
    let report = ran.json();
    assert_eq!((ran.code, &report["ok"]), (Some(1), &json!(false)));
    assert_eq!(check(&report, "agent", "claude-code calls")["state"], "good");
    assert_eq!(check(&report, "agent", "codex does not trust the hooks yet")["state"], "broken");
    let file = env.home().join(".codex/hooks.json").display().to_string();
    let events = [
        "session_start",
        "user_prompt_submit",
        "pre_tool_use",
        "post_tool_use",
        "stop",
        "pre_compact",
        "session_end",
    ];
    let approved: String = events
        .iter()
        .map(|event| format!("[hooks.state.\"{file}:{event}:0:0\"]\ntrusted_hash = \"sha256:00\"\n"))
        .collect();
    std::fs::write(env.home().join(".codex/config.toml"), approved).unwrap();
    let report = env.run(&["doctor", "--json"]).ok().json();
    assert_eq!(check(&report, "agent", "codex calls")["state"], "good");

    let settings = env.home().join(".claude/settings.json");
    let off = std::fs::read_to_string(&settings).unwrap().replacen('{', "{\"disableAllHooks\": true,", 1);
    std::fs::write(&settings, off).unwrap();
    let report = env.run(&["doctor", "--json"]).json();
    assert_eq!(check(&report, "agent", "switched off by disableAllHooks")["state"], "broken");

    env.run(&["add", "decision", "Use PostgreSQL because we need jsonb"]).ok();
    std::fs::write(env.memory("index.md"), "# Memory Index\n").unwrap();
    let report = env.run(&["doctor", "--json"]).json();
    assert_eq!(check(&report, "index", "1 entries differ")["state"], "warning");
    assert!(check(&report, "index", "1 entries")["fix"].as_str().unwrap().contains("verify --fix"));
}

#[test]
fn the_doctor_sees_hooks_that_keep_failing() {
    let env = machine();
    for _ in 0..3 {
        env.run_with(&["hook", "prompt"], b"{broken").ok();
    }
    let ran = env.run(&["doctor", "--json"]);
    let report = ran.json();
    assert_eq!(ran.code, Some(1));
    assert_eq!(check(&report, "hooks", "3 runs in a row have failed")["state"], "broken");
    let last = env.run(&["last", "--json", "-n", "2"]).ok().json();
    assert_eq!(last.as_array().unwrap().len(), 2);
    assert_eq!((&last[0]["hook"], &last[0]["ended"]), (&json!("prompt"), &json!("failed")));
}

#[test]
fn last_says_what_was_given_and_why_but_never_what_was_asked() {
    let env = TestEnv::ready();
    let empty = env.run(&["last"]).ok();
    assert!(empty.stdout.is_empty() && empty.stderr.contains("no hook has run"));
    env.run(&["add", "decision", "Use PostgreSQL because we need jsonb", "--tag", "database"]).ok();
    let prompt = json!({ "prompt": "which database was it, zanzibar?", "cwd": env.project() }).to_string();
    env.run_with(&["hook", "prompt"], prompt.as_bytes()).ok();
    let write = json!({ "tool_name": "Write", "tool_input": { "file_path": env.memory("x.json") }, "cwd": env.project() });
    env.run_with(&["hook", "pre-write"], write.to_string().as_bytes()).ok();
    let said = env.run(&["last"]).ok().stdout;
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].contains("pre-write denied (claude-code)"), "{said}");
    assert!(lines[2].contains("prompt injected (claude-code): a prompt of 32 characters"), "{said}");
    assert!(lines[3].contains("decisions/use-postgresql.json (score"), "{said}");
    assert!(!said.contains("zanzibar"));
    assert_eq!(env.run(&["last", "--hook", "prompt", "--json"]).ok().json().as_array().unwrap().len(), 1);
    assert_eq!(env.run(&["last", "-n", "0"]).ok().stdout, "");
    env.run(&["last", "--hook", "lunch"]).fails_with("USAGE", 2);
}

/// What agents know about a project before Heirloom does.
fn with_knowledge() -> TestEnv {
    let env = machine();
    let project = env.project().display().to_string();
    let slug: String = project.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let claude = env.home().join(".claude/projects").join(slug);
    let write = |path: PathBuf, text: &str| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let token = format!("gh{}_{}", "p", "x7Kq2mZ9vB4nT6wR1yL8sD3fG5hJ0cAeQiUo");
    write(
        env.project().join("CLAUDE.md"),
        &format!(
            "# App\n- Always use pnpm, never npm\n- src holds the code\n- Use the token {token} for deploys\n```\n- never this\n```\n"
        ),
    );
    std::os::unix::fs::symlink("CLAUDE.md", env.project().join("AGENTS.md")).unwrap();
    write(
        claude.join("memory/push.md"),
        "---\nname: push\ndescription: Ask before pushing\ntype: feedback\n---\nThe user wants to be asked first.\n",
    );
    write(claude.join("memory/me.md"), "---\nname: me\ntype: user\n---\nThe user plays the cello.\n");
    write(
        claude.join("memory/train.md"),
        "---\ndescription: Release train\nmetadata:\n  type: project\n---\nReleases leave on Tuesdays.\nThe freeze starts on Monday.\n",
    );
    write(claude.join("memory/MEMORY.md"), "- [push](push.md)\n- [train](train.md)\n");
    let line = json!({ "type": "assistant", "timestamp": "2026-08-01T10:00:01Z", "message": { "id": "m", "role": "assistant", "content": [{ "type": "text", "text": "The queue worker leaks.\nRestart it nightly." }] } });
    write(claude.join("s1.jsonl"), &format!("{line}\n"));
    write(
        claude.join("agent-1.jsonl"),
        &format!("{}\n", line.to_string().replace("queue worker", "subagent")),
    );
    write(
        env.home().join(".codex/memories/MEMORY.md"),
        &format!(
            "# Task Group: app\ncwd={project}\nBuild with make.\n\n# Task Group: other\ncwd={project}-other\nNothing of ours.\n"
        ),
    );
    let meta = |cwd: &str| json!({ "type": "session_meta", "payload": { "id": "s", "cwd": cwd } });
    let said = |text: &str| json!({ "timestamp": "2026-08-02T10:00:00Z", "type": "response_item", "payload": { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": text }] } });
    let sessions = env.home().join(".codex/sessions/2026/08/02");
    write(
        sessions.join("rollout-1.jsonl"),
        &format!("{}\n{}\n", meta(&project), said("The cache is cold.\nWarm it first.")),
    );
    write(
        sessions.join("rollout-2.jsonl"),
        &format!("{}\n{}\n", meta("/elsewhere"), said("Another project.\nNot ours.")),
    );
    env
}

#[test]
fn import_auto_takes_what_agents_know_and_the_second_time_nothing() {
    let env = with_knowledge();
    let before = env.files_below(&env.project());
    let preview = env.run(&["import", "auto", "--dry-run", "--json"]).ok().json();
    assert_eq!(env.files_below(&env.project()), before);
    let origins: Vec<&str> =
        preview["found"].as_array().unwrap().iter().map(|o| o["what"].as_str().unwrap()).collect();
    assert_eq!(origins.len(), 5, "{origins:?}");
    assert_eq!(preview["report"]["refused"].as_array().unwrap().len(), 1, "{preview:#}");

    env.run(&["import", "auto"]).fails_with("NEEDS_PERSON", 1);
    let done = env.run(&["import", "auto", "--yes", "--json"]).ok().json();
    let mut preview_again = preview["report"].clone();
    preview_again["dry_run"] = json!(false);
    // A note's id is random, so a preview cannot know it.
    let mut report = done["report"].clone();
    for id in report["shelves"][1]["new"].as_array_mut().unwrap() {
        assert!(id.as_str().unwrap().starts_with("note:"));
        *id = json!("note:new");
    }
    assert_eq!(report, preview_again, "the preview says what happens");
    let titles = env.run(&["list"]).ok().stdout;
    for title in
        ["pnpm", "Ask before pushing", "Release train", "queue worker", "Task Group: app", "The cache"]
    {
        assert!(titles.contains(title), "{title}: {titles}");
    }
    let stored: Vec<u8> =
        env.files_below(&env.project().join(".claude")).into_iter().flat_map(|(_, bytes)| bytes).collect();
    let stored = String::from_utf8_lossy(&stored);
    for other in ["cello", "subagent", "Nothing of ours", "Not ours", "x7Kq2mZ9", "never this", "src holds"] {
        assert!(!stored.contains(other), "{other}");
    }

    // A file that is written anew with the same text is no newer for that.
    let memories = env.home().join(".codex/memories/MEMORY.md");
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(3600);
    std::fs::File::open(&memories).unwrap().set_modified(later).unwrap();
    let files = env.files_below(&env.memory(""));
    let again = env.run(&["import", "auto", "--yes", "--json"]).ok().json();
    let new =
        again["report"]["shelves"].as_array().unwrap().iter().map(|s| s["new"].as_array().unwrap().len());
    assert_eq!(new.sum::<usize>(), 0, "{again:#}");
    let without_audit = |files: Vec<(String, Vec<u8>)>| -> Vec<(String, Vec<u8>)> {
        files.into_iter().filter(|(path, _)| !path.starts_with(".local/")).collect()
    };
    assert_eq!(without_audit(env.files_below(&env.memory(""))), without_audit(files));
}

#[test]
fn import_auto_on_a_machine_without_agents_says_so() {
    let env = TestEnv::ready();
    let ran = env.run(&["import", "auto", "--yes"]).ok();
    assert!(ran.stderr.contains("were found for this project"), "{ran:?}");
    env.run(&["import", "./auto"]).fails_with("NOT_FOUND", 3);
}

/// A copy of the binary at this place below the home folder.
fn copy_at(env: &TestEnv, place: &str) -> String {
    let program = env.home().join(place);
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    std::fs::copy(HEIRLOOM, &program).unwrap();
    program.display().to_string()
}

#[test]
fn setup_writes_no_path_of_a_cache_or_a_build_folder_and_says_how_to_install() {
    let mut env = machine();
    env.set("PATH", "/usr/bin:/bin");
    let before = std::fs::read(env.home().join(".claude/settings.json")).unwrap();
    let places = [
        (copy_at(&env, ".cache/uv/archive-v0/x1/bin/heirloom"), "uv tool install heirloom-memory"),
        (copy_at(&env, ".npm/_npx/x1/node_modules/h/bin/heirloom"), "npm install --global heirloom-memory"),
        (HEIRLOOM.to_owned(), "cargo xtask install"),
    ];
    for (program, install) in &places {
        for more in ["--yes", "--dry-run"] {
            let ran = finish(env.command(program).args(["setup", more]));
            ran.fails_with("USAGE", 2);
            assert!(ran.stderr.contains(install), "{ran:?}");
        }
        // What names no path can be written from anywhere.
        finish(env.command(program).args(["setup", "--dry-run", "--shared", "--agent", "gemini"])).ok();
    }
    assert_eq!(std::fs::read(env.home().join(".claude/settings.json")).unwrap(), before);
    assert!(!env.home().join(".codex/hooks.json").exists());
}

#[test]
fn at_a_terminal_setup_offers_to_install_first_and_goes_on_from_there() {
    let mut env = machine();
    env.set("PATH", "/usr/bin:/bin");
    let installed = env.home().join(".local/bin/heirloom");
    let no = env.at_terminal(&["setup", "--agent", "claude-code"], "n\n");
    no.fails_with("USAGE", 2);
    assert!(no.stderr.contains("Copy it to ~/.local/bin/heirloom first? [y/N]"), "{no:?}");
    assert!(!installed.exists());
    env.at_terminal(&["setup", "--agent", "claude-code"], "y\ny\nn\n").ok();
    assert_eq!(std::fs::metadata(&installed).unwrap().permissions().mode() & 0o777, 0o755);
    let settings = std::fs::read_to_string(env.home().join(".claude/settings.json")).unwrap();
    assert!(settings.contains(&installed.display().to_string()), "{settings}");
    assert!(!settings.contains(HEIRLOOM));
    // One that is there is never replaced.
    env.at_terminal(&["setup", "--agent", "codex"], "y\n").fails_with("USAGE", 2);
}

#[test]
fn a_link_on_the_search_path_counts_before_the_build_folder_it_leads_to() {
    let mut env = machine();
    let folder = Path::new(HEIRLOOM).parent().unwrap().display();
    let path = format!("{folder}:{}:/usr/bin:/bin", env.bin().display());
    env.set("PATH", &path);
    env.run(&["setup", "--yes", "--agent", "claude-code"]).ok();
    let settings = std::fs::read_to_string(env.home().join(".claude/settings.json")).unwrap();
    assert!(
        settings.contains(&env.program().display().to_string()) && !settings.contains(HEIRLOOM),
        "{settings}"
    );
}

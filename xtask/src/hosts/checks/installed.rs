//! Installing, taking out, and a program that is missing, broken, killed or of an earlier version.
//!
//! Comes in: a laboratory. Goes out: findings in it. Never here: what hooks do when all is well.

use super::super::lab::Lab;
use super::{ASKS, DECIDED, QUESTION};
use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

/// A session that writes a file; says whether it could work as if hooks were not there.
fn works(lab: &mut Lab, what: &str) -> Result<(), String> {
    let model = lab.model_name.clone();
    let notes = lab.project.join("notes.txt");
    let _ = std::fs::remove_file(&notes);
    let write = lab.host.write(model.as_deref(), &notes, "hello");
    let ran =
        lab.ask("Please write", vec![json!({ "tools": [write] }), json!({ "text": "All written." })])?;
    let written = notes.exists();
    lab.say(ran.code == Some(0) && written, &format!("{what}: exit {:?}, file written {written}", ran.code));
    Ok(())
}

pub(super) fn missing(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    std::fs::rename(&lab.program, lab.program.with_extension("away")).map_err(|e| e.to_string())?;
    works(lab, "without the program the agent works on")?;
    std::fs::rename(lab.program.with_extension("away"), &lab.program).map_err(|e| e.to_string())
}

/// A colleague without the program, in a project whose settings call it by its name.
pub(super) fn shared(lab: &mut Lab) -> Result<(), String> {
    lab.fill()?;
    lab.setup_with(&["--shared"])?;
    works(lab, "a colleague without the program works on")?;
    let path = lab.path_with_program();
    lab.set("PATH", &path);
    let ran = lab.ask(QUESTION, vec![json!({ "text": "PostgreSQL." })])?;
    let given = lab.sent(&ran).first().is_some_and(|text| text.contains("row locks"));
    lab.say(given, "and one who has it is given what the project knows");
    Ok(())
}

/// A program that fails, talks, hangs or is killed in place of ours.
pub(super) fn broken(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    let away = lab.program.with_extension("away");
    std::fs::rename(&lab.program, &away).map_err(|e| e.to_string())?;
    put(&lab.program, "exit 0")?;
    works(lab, "a hook that says nothing stops nobody")?;
    put(&lab.program, "kill -9 $$")?;
    // Nobody can promise anything for a killed process; what each agent makes of it is in the documentation.
    let model = lab.model_name.clone();
    let notes = lab.project.join("notes.txt");
    let _ = std::fs::remove_file(&notes);
    let write = lab.host.write(model.as_deref(), &notes, "hello");
    lab.ask("Please write", vec![json!({ "tools": [write] }), json!({ "text": "All written." })])?;
    let goes_on = if notes.exists() { "goes on" } else { "does not" };
    lab.note("broken", &format!("when its hooks are killed the agent {goes_on}"));
    std::fs::remove_file(&lab.program).map_err(|e| e.to_string())?;
    std::fs::rename(&away, &lab.program).map_err(|e| e.to_string())?;
    // Files that nobody can read in the place of settings: whoever opens them waits, or fails.
    let config = lab.memory("memory-config.json");
    let _ = std::fs::remove_file(&config);
    let made = std::process::Command::new("mkfifo").arg(&config).status();
    if made.is_ok_and(|made| made.success()) {
        works(lab, "with settings that never answer the agent works on")?;
        let _ = std::fs::remove_file(&config);
    }
    Ok(())
}

/// Puts a script in a program's place.
fn put(program: &Path, script: &str) -> Result<(), String> {
    std::fs::write(program, format!("#!/bin/sh\n{script}\n")).map_err(|e| e.to_string())?;
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).map_err(|e| e.to_string())
}

/// A program whose path has blanks and quotes in it.
pub(super) fn spaces(lab: &mut Lab) -> Result<(), String> {
    lab.fill()?;
    let odd = lab.home.join("it's my \"bin\"/heir loom");
    std::fs::create_dir_all(odd.parent().unwrap_or(&odd)).map_err(|e| e.to_string())?;
    std::fs::rename(&lab.program, &odd).map_err(|e| e.to_string())?;
    lab.program = odd;
    lab.setup()?;
    let ran = lab.ask(QUESTION, vec![json!({ "text": "PostgreSQL." })])?;
    let given = lab.sent(&ran).first().is_some_and(|text| text.contains("row locks"));
    lab.say(given, "a program behind blanks and quotes is called");
    Ok(())
}

/// Lines of version 0.1: they act, say that `setup` replaces them, are replaced and removed.
pub(super) fn earlier(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    let file = lab.home.join(lab.host.agent.user_file);
    let now = std::fs::read_to_string(&file).map_err(|e| e.to_string())?;
    let program = lab.program.display().to_string();
    let early = now
        .replace(&format!("[ -x {program} ] || exit 0; exec "), "")
        .replace(" --installed", "")
        .replace(", \"--installed\"", "");
    std::fs::write(&file, &early).map_err(|e| e.to_string())?;
    let ran = lab.ask(QUESTION, vec![json!({ "text": "PostgreSQL." })])?;
    let first = lab.sent(&ran).first().cloned().unwrap_or_default();
    lab.say(first.contains("row locks"), "lines of version 0.1 still recall");
    lab.say(first.contains("setup` replaces them"), "and say that `setup` replaces them");
    lab.setup()?;
    let after = std::fs::read_to_string(&file).map_err(|e| e.to_string())?;
    lab.say(after == now, "`setup` replaces them");
    std::fs::write(&file, &early).map_err(|e| e.to_string())?;
    lab.person(&["setup", "--uninstall", "--yes"])?;
    let left = std::fs::read_to_string(&file).unwrap_or_default();
    lab.say(!left.contains("heirloom"), "`--uninstall` removes them too");
    Ok(())
}

pub(super) fn bare(lab: &mut Lab) -> Result<(), String> {
    lab.setup()?;
    let before = Lab::files(&lab.project);
    let own = lab.home.join(".local/share/heirloom");
    let own_before = Lab::files(&own);
    let ran = lab.ask("Which cache should we take?", vec![json!({ "text": DECIDED })])?;
    lab.say(ran.code == Some(0), &format!("without a memory the session ends with {:?}", ran.code));
    let after = Lab::files(&lab.project);
    let left =
        after.difference(&before).filter(|(path, _)| !path.to_string_lossy().contains("/.git/")).count();
    lab.say(left == 0, &format!("{left} files are left in the project"));
    lab.say(Lab::files(&own) == own_before, "and none in our own folder");
    Ok(())
}

/// Settings as people have them: comments, line ends of another system, hooks of somebody else.
pub(super) fn undo(lab: &mut Lab) -> Result<(), String> {
    lab.fill()?;
    let file = lab.home.join(lab.host.agent.user_file);
    decorate(lab, &file)?;
    let folder = lab.home.join(lab.host.agent.home_folder);
    let names = |folder: &Path| {
        let mut all = Vec::new();
        folders(folder, &mut all);
        all
    };
    let (before, before_folders) = (std::fs::read(&file).ok(), names(&folder));
    lab.setup()?;
    let during = std::fs::read(&file).ok();
    lab.say(during.is_some() && during != before, "hooks are installed");
    lab.person(&["setup", "--uninstall", "--yes"])?;
    lab.say(std::fs::read(&file).ok() == before, "taken out again, every byte is as before");
    lab.say(names(&folder) == before_folders, "and no folder is left behind");
    lab.setup()?;
    lab.ask("Hello", vec![json!({ "text": "Hi." })])?;
    lab.person(&["setup", "--uninstall", "--yes"])?;
    lab.say(std::fs::read(&file).ok() == before, "also after a session");
    let told = lab.person(&["setup", "--uninstall", "--yes"])?;
    lab.say(!told.contains("changed"), "a second time there is nothing to take out");
    Ok(())
}

/// Adds what people have in their settings, where the agent reads such files.
fn decorate(lab: &Lab, file: &Path) -> Result<(), String> {
    let theirs = r#"[ { "hooks": [ { "type": "command", "command": "true" } ] } ]"#;
    let text = match lab.host.agent.name {
        "claude-code" => format!(
            "{{\r\n  \"skipDangerousModePermissionPrompt\": true,\r\n  \"hooks\": {{ \"Stop\": {theirs} }}\r\n}}\r\n"
        ),
        "codex" => format!("{{\n\t\"hooks\": {{\n\t\t\"Stop\": {theirs}\n\t}}\n}}\n"),
        "gemini" => {
            let now = std::fs::read_to_string(file).map_err(|e| e.to_string())?;
            let inner = now.trim_start().trim_start_matches('{');
            format!("{{\n  // mine\n  \"hooks\": {{ \"AfterAgent\": {theirs} }},\n  {inner}")
        }
        _ => return Ok(()),
    };
    std::fs::write(file, text).map_err(|e| e.to_string())
}

fn folders(below: &Path, all: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(below).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            folders(&entry.path(), all);
            all.push(entry.path());
        }
    }
    all.sort();
}

/// Codex runs hooks only after its user has approved them in its own interface.
pub(super) fn trust(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    let plain = |lab: &mut Lab| {
        let (prompt, _) = lab.prompt("Hello", vec![json!({ "text": "Hi." })], "Done.");
        let words = ["codex", "exec", "--skip-git-repo-check", &prompt].map(str::to_owned);
        lab.run(&words, &lab.project.clone())
    };
    plain(lab)?;
    lab.say(lab.trace().is_empty(), "without approval no hook runs");
    let doctor = lab.heirloom(&["doctor"])?;
    lab.say(doctor.contains("has not been told to trust"), "and `doctor` says so");
    let words = ["codex", "--no-daemon"].map(str::to_owned);
    let screen = lab.screen(&words)?;
    let asked = screen.wait("Hooks need review", Duration::from_secs(60));
    screen.key("Down");
    screen.key("Enter");
    std::thread::sleep(Duration::from_secs(4));
    drop(screen);
    lab.say(asked, "Codex asks for a review when it starts");
    let doctor = lab.heirloom(&["doctor"])?;
    lab.say(doctor.contains("codex calls this program"), "`doctor` sees the approval");
    plain(lab)?;
    lab.say(lab.trace().len() >= 3, &format!("with approval {:?} run", lab.moments()));
    Ok(())
}

pub(super) fn plugin(lab: &mut Lab) -> Result<(), String> {
    lab.fill()?;
    let path = lab.path_with_program();
    lab.set("PATH", &path);
    let root = crate::run::root();
    let folder = root.join("plugins/claude-code").display().to_string();
    let project = lab.project.clone();
    for target in [&folder, &root.display().to_string()] {
        let validate = ["claude", "plugin", "validate", "--strict", target].map(str::to_owned);
        let (code, text) = lab.run(&validate, &project)?;
        let last = text.lines().last().unwrap_or_default();
        lab.say(code == Some(0), &format!("a strict check passes: {last}"));
    }
    let catalogue =
        ["claude", "plugin", "marketplace", "add", &root.display().to_string()].map(str::to_owned);
    let (code, text) = lab.run(&catalogue, &project)?;
    lab.say(
        code == Some(0),
        &format!("the repository is a marketplace: {}", text.lines().last().unwrap_or_default()),
    );
    let install = ["claude", "plugin", "install", "memory@heirloom"].map(str::to_owned);
    let (code, text) = lab.run(&install, &project)?;
    lab.say(
        code == Some(0),
        &format!("the plugin installs from it: {}", text.lines().last().unwrap_or_default()),
    );
    let (prompt, script) = lab.prompt(QUESTION, vec![json!({ "text": "PostgreSQL." })], "Done.");
    let mut words = lab.host.headless(&prompt);
    words.extend(["--output-format", "stream-json", "--verbose"].map(str::to_owned));
    let (_, text) = lab.run(&words, &project)?;
    for name in ["memory:memory", "memory:save", "memory:search", "memory:config", "memory:memory-management"]
    {
        lab.say(text.contains(&format!("\"{name}\"")), &format!("`/{name}` is there"));
    }
    let given = lab.sent_for(&script).first().is_some_and(|text| text.contains("row locks"));
    lab.say(given, "its hooks run, and the memory is in the model's request");
    // Beside it the settings, as version 0.1 and people with two ways to install have them.
    let off = ["claude", "plugin", "disable", "memory@heirloom"].map(str::to_owned);
    lab.run(&off, &project)?;
    lab.setup()?;
    let on = ["claude", "plugin", "enable", "memory@heirloom"].map(str::to_owned);
    lab.run(&on, &project)?;
    let answer = "There is nothing worth adding.";
    let ran = lab.talk("Which cache should we take?", vec![json!({ "text": DECIDED })], answer, answer)?;
    let times = lab.sent(&ran).last().map_or(0, |text| text.matches(ASKS).count());
    lab.say(times == 1, &format!("with the plugin and the settings one stop asks {times} times"));
    lab.say(lab.ended("stop", "held") == 1, &format!("{} stops are held up", lab.ended("stop", "held")));
    Ok(())
}

/// OpenCode without its library asks the package registry at every start.
pub(super) fn slow(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    let _ = std::fs::remove_file(lab.home.join(".config/opencode/node_modules"));
    let doctor = lab.heirloom(&["doctor"])?;
    lab.say(
        doctor.contains("@opencode-ai/plugin"),
        "`doctor` says why OpenCode starts slowly, and what helps",
    );
    Ok(())
}

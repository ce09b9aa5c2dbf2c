//! What arrives from outside: events of agents, transcripts, settings, questions.

use heirloom_agents::install::{self, Called, Reach};
use heirloom_agents::table::AGENTS;
use heirloom_agents::{Event, Moment, Target, wire};
use heirloom_core::settings::{self, Layer, Origin, Profile};
use heirloom_core::{Settings, json};
use heirloom_engine::capture::transcript::{Limits, Turns};
use heirloom_engine::capture::triage::{Conversation, Marks, context_text, tail};
use heirloom_engine::hook::guard::{self, Attempt, Memory};
use heirloom_engine::rank::query as words;
use std::io::Write as _;
use std::path::Path;

/// Turns are found; so is what is worth keeping in them.
pub(crate) fn transcripts(bytes: &[u8]) {
    let turns = Turns::new(bytes, Limits::default()).count();
    let lines = bytes.split(|b| *b == b'\n').count();
    assert!(turns <= lines, "a line makes at most one turn");
    let Ok(mut file) = tempfile::NamedTempFile::new() else { return };
    if file.write_all(bytes).is_err() {
        return;
    }
    let Ok(read) = tail::read(file.path(), 50) else { return };
    let conversation = Conversation::new(read.turns);
    for finding in conversation.findings(&Settings::standard(), &Marks::default()) {
        context_text(&conversation, &finding);
    }
}

/// Every agent's every event is understood or passed over; what a command writes is looked at without running it.
pub(crate) fn hook_input(bytes: &[u8]) {
    let memory = Memory::new(Path::new("/nowhere/project/.claude/memory"), Some(Path::new("/nowhere")));
    let cwd = Path::new("/nowhere/project");
    for agent in AGENTS {
        for moment in Moment::ALL {
            let Ok(call) = wire::read(agent, moment, bytes) else { continue };
            let (Event::PreWrite { targets, .. } | Event::PostWrite { targets, .. }) = &call.event else {
                continue;
            };
            for target in targets.iter().take(64) {
                let attempt = match target {
                    Target::File(path) => Attempt::File(path),
                    Target::Command(command) => Attempt::Command(command),
                    Target::Seen(_) => continue,
                };
                guard::refusal(&memory, attempt, cwd);
            }
        }
    }
    // The command by itself, so that mutations need not stay inside a JSON text.
    if let Ok(command) = std::str::from_utf8(bytes) {
        guard::refusal(&memory, Attempt::Command(command), cwd);
    }
}

/// A command is read to its end, twice the same, and neither words before it nor a shell around it make a refused one pass.
pub(crate) fn shell(bytes: &[u8]) {
    let Ok(command) = std::str::from_utf8(bytes) else { return };
    let memory = Memory::new(Path::new("/nowhere/project/.claude/memory"), Some(Path::new("/nowhere")));
    let cwd = Path::new("/nowhere/project");
    let denied = |command: &str| guard::refusal(&memory, Attempt::Command(command), cwd).is_some();
    let refused = denied(command);
    assert_eq!(denied(command), refused, "the same command is judged the same");
    if refused {
        assert!(denied(&format!("true; {command}")), "a command before it lets it pass");
    }
    guard::written(Attempt::Command(command), cwd);
}

/// A project's file is read, and loosens nothing that is the user's; hooks go into a settings file and come out again.
pub(crate) fn settings(bytes: &[u8]) {
    if let Ok(document) = json::parse(bytes) {
        let plain = settings::load(&[]).settings;
        let loaded = settings::load(&[Layer { origin: Origin::Project, document }]).settings;
        for shelf in heirloom_core::ShelfName::ALL {
            assert_eq!(loaded.gate.profile(shelf), Profile::Standard, "a project loosens the gate");
        }
        assert_eq!(loaded.gate.allow, plain.gate.allow, "a project makes an exception");
    }
    for agent in AGENTS {
        for reach in [Reach::User, Reach::Project] {
            let Ok(edit) = install::install(agent, reach, Some(bytes), Called::by("heirloom")) else {
                continue;
            };
            let after = edit.after.unwrap_or_default();
            let twice = install::install(agent, reach, Some(&after), Called::by("heirloom"));
            assert_eq!(
                twice.ok().and_then(|e| e.after),
                Some(after.clone()),
                "installing twice changes something"
            );
            let _ = install::uninstall(agent, reach, Some(&after), None);
        }
    }
}

/// A document comes apart into leaves that the table knows, each under its own name; however it is spelled, what counts is the same and a
/// guarded setting stays guarded. What is taken out of a document is gone from it.
pub(crate) fn flatten(bytes: &[u8]) {
    let Ok(document) = json::parse(bytes) else { return };
    let flat = settings::flatten(&document);
    for (name, leaf) in &flat.leaves {
        assert!(leaf.key.matches(name).is_some(), "a leaf stands under another key's name");
        let mut spelled = serde_json::Map::new();
        spelled.insert(name.clone(), leaf.value.clone());
        let spelled = serde_json::Value::Object(spelled);
        let again = settings::flatten(&spelled);
        assert!(again.leaves.contains_key(name), "a dotted name leads elsewhere");
    }
    let mut rest = document.clone();
    for name in flat.leaves.keys().take(64) {
        settings::flat::remove(&mut rest, name);
        assert!(!settings::flatten(&rest).leaves.contains_key(name), "a setting that was taken out is there");
    }
    let first = flat.leaves.iter().next().map(|(name, leaf)| (name.clone(), leaf.value.clone()));
    if let Some((name, value)) = first {
        let mut other = document.clone();
        settings::flat::set(&mut other, &name, value.clone());
        let set = settings::flatten(&other);
        assert_eq!(
            set.leaves.get(&name).map(|leaf| leaf.value),
            Some(&value),
            "a setting that was set is not there"
        );
    }
    let plain = settings::load(&[]).settings;
    for origin in [Origin::Flag, Origin::Environment, Origin::Project, Origin::User] {
        let loaded = settings::load(&[Layer { origin, document: document.clone() }]);
        if origin == Origin::Project {
            assert_eq!(loaded.settings.gate.allow, plain.gate.allow, "a project makes an exception");
            assert_eq!(loaded.settings.embedding, plain.embedding, "a project names an endpoint");
            assert_eq!(loaded.settings.vault.agents, plain.vault.agents, "a project names an agent");
        }
    }
}

/// Any line of search words has a meaning.
pub(crate) fn query(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (_, conditions) = words::read(&text, 1_800_000_000);
    conditions.is_empty();
}

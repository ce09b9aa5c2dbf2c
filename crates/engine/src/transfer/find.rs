//! Finding what coding agents already know about a project, on this machine.
//!
//! Comes in: the project and the agents' own folders. Goes out: files, by where they come from. Never here: a file of another project, a
//! link that leads out of the project, or a subagent's conversation with itself.

use super::sort::{Sort, Source, gather, sort_of};
use crate::project::Project;
use heirloom_core::{fault::Result, json};
use serde::Serialize;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

/// Where agents keep their things.
#[derive(Debug, Clone, Default)]
pub struct Homes {
    /// Claude Code's folder.
    pub claude_code: Option<PathBuf>,
    /// Codex's folder.
    pub codex: Option<PathBuf>,
}

/// What was found in one place.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Origin {
    /// What it is, for people.
    pub what: &'static str,
    /// The files.
    #[serde(serialize_with = "names")]
    #[schemars(with = "Vec<String>")]
    pub sources: Vec<Source>,
}

fn names<S: serde::Serializer>(sources: &[Source], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_seq(sources.iter().map(|source| &source.shown))
}

/// Files in which people tell agents what to do.
const INSTRUCTIONS: [&str; 10] = [
    "CLAUDE.md",
    ".claude/CLAUDE.md",
    "CLAUDE.local.md",
    "AGENTS.md",
    "GEMINI.md",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
    ".goosehints",
    ".github/copilot-instructions.md",
];

/// Rollouts that are looked at, the newest.
const ROLLOUTS_MAX: usize = 20_000;
/// The longest first line of a rollout.
const HEAD: u64 = 1 << 20;

/// Everything that is there to import, in the order of what is worth most.
pub fn find(project: &Project, homes: &Homes) -> Result<Vec<Origin>> {
    let folders = project.work_trees();
    let mut found = vec![
        Origin { what: "instructions for agents", sources: instructions(project.folder()) },
        Origin { what: "decisions on pages of their own", sources: decisions(project.folder()) },
        Origin { what: "an earlier memory folder", sources: earlier(project)? },
    ];
    if let Some(home) = &homes.claude_code {
        let own = |folder: &PathBuf| home.join("projects").join(claude_name(folder));
        let places: Vec<PathBuf> = folders.iter().map(own).collect();
        found.push(Origin { what: "Claude Code's auto memory", sources: auto_memory(&places) });
        found.push(Origin { what: "Claude Code's transcripts", sources: transcripts(&places) });
    }
    if let Some(home) = &homes.codex {
        found.push(Origin { what: "Codex's memories", sources: codex_memories(home, project.folder()) });
        found.push(Origin { what: "Codex's transcripts", sources: rollouts(home, &folders) });
    }
    found.retain(|origin| !origin.sources.is_empty());
    Ok(found)
}

/// Claude Code's name for a folder.
fn claude_name(folder: &Path) -> String {
    folder.to_string_lossy().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

fn source(path: PathBuf, shown: String, sort: Sort) -> Source {
    Source { path, shown, sort, only_about: None }
}

fn instructions(folder: &Path) -> Vec<Source> {
    let real = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let mut seen = Vec::new();
    let mut found = Vec::new();
    for name in INSTRUCTIONS {
        let Ok(path) = std::fs::canonicalize(folder.join(name)) else { continue };
        // One is often a link to another.
        if path.is_file() && path.starts_with(&real) && !seen.contains(&path) {
            seen.push(path.clone());
            found.push(source(path, name.to_owned(), Sort::Instructions));
        }
    }
    for path in files(&real.join(".cursor/rules"), "mdc") {
        let shown = format!(".cursor/rules/{}", name(&path));
        found.push(source(path, shown, Sort::Instructions));
    }
    found
}

/// Pages that each record a decision, in the folders where people keep them.
fn decisions(folder: &Path) -> Vec<Source> {
    let mut found = Vec::new();
    for place in ["docs/adr", "docs/adrs", "docs/decisions", "doc/adr", "adr", "docs/architecture/decisions"]
    {
        let is_link = std::fs::symlink_metadata(folder.join(place)).is_ok_and(|meta| meta.is_symlink());
        for path in files(&folder.join(place), "md").into_iter().filter(|_| !is_link) {
            if sort_of(&path) == Sort::Adr {
                let shown = format!("{place}/{}", name(&path));
                found.push(source(path, shown, Sort::Adr));
            }
        }
    }
    found
}

/// Records where the format's own tools keep them, if this project's memory has moved elsewhere since.
fn earlier(project: &Project) -> Result<Vec<Source>> {
    let usual = project.folder().join(".claude/memory");
    let here = std::fs::canonicalize(&usual).is_ok_and(|real| real == project.root().real());
    if here || !usual.is_dir() {
        return Ok(Vec::new());
    }
    gather(&[usual])
}

/// The plain files of a folder with this ending, by name.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let plain = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let mut found: Vec<PathBuf> = plain
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == ending))
        .collect();
    found.sort();
    found
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn auto_memory(places: &[PathBuf]) -> Vec<Source> {
    let mut found = Vec::new();
    for path in places.iter().flat_map(|place| files(&place.join("memory"), "md")) {
        let shown = format!("claude-code/memory/{}", name(&path));
        // Beside topic files MEMORY.md is their index; alone, it is the memory.
        let index =
            name(&path) == "MEMORY.md" && path.parent().is_some_and(|folder| files(folder, "md").len() > 1);
        found.push(source(path, shown, if index { Sort::Derived } else { Sort::AgentMemory }));
    }
    found
}

fn transcripts(places: &[PathBuf]) -> Vec<Source> {
    let all = places.iter().flat_map(|place| files(place, "jsonl"));
    all.filter(|path| !name(path).starts_with("agent-"))
        .map(|path| {
            let shown = format!("claude-code/{}", name(&path));
            source(path, shown, Sort::Transcript)
        })
        .collect()
}

/// Codex keeps one memory for all projects; only what names this one is taken from it.
fn codex_memories(home: &Path, folder: &Path) -> Vec<Source> {
    let path = home.join("memories/MEMORY.md");
    if !std::fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file()) {
        return Vec::new();
    }
    let only_about = Some(std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()));
    vec![Source { path, shown: "codex/memories/MEMORY.md".to_owned(), sort: Sort::AgentMemory, only_about }]
}

/// The rollouts of sessions that were started in one of these folders or below.
fn rollouts(home: &Path, folders: &[PathBuf]) -> Vec<Source> {
    let mut all = Vec::new();
    for top in ["sessions", "archived_sessions"] {
        below(&home.join(top), 4, &mut all);
    }
    // Names begin with their time.
    all.sort_by_key(|path| std::cmp::Reverse(name(path)));
    all.truncate(ROLLOUTS_MAX);
    all.reverse();
    all.into_iter()
        .filter(|path| {
            started_in(path).is_some_and(|cwd| folders.iter().any(|folder| cwd.starts_with(folder)))
        })
        .map(|path| {
            let shown = format!("codex/{}", name(&path));
            source(path, shown, Sort::Transcript)
        })
        .collect()
}

fn below(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    found.extend(files(folder, "jsonl").into_iter().filter(|path| name(path).starts_with("rollout-")));
    if depth == 0 {
        return;
    }
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            below(&entry.path(), depth - 1, found);
        }
    }
}

/// The folder a rollout's session was started in.
fn started_in(path: &Path) -> Option<PathBuf> {
    let mut line = Vec::new();
    BufReader::new(std::fs::File::open(path).ok()?.take(HEAD)).read_until(b'\n', &mut line).ok()?;
    let value = json::parse(&line).ok()?;
    Some(PathBuf::from(value.pointer("/payload/cwd")?.as_str()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_the_name_claude_code_gives_it() {
        assert_eq!(claude_name(Path::new("/home/me/my.app_2")), "-home-me-my-app-2");
    }

    #[test]
    fn a_rollout_is_known_by_the_folder_it_was_started_in() {
        let home = tempfile::tempdir().unwrap();
        let day = home.path().join("sessions/2026/01/02");
        std::fs::create_dir_all(&day).unwrap();
        let line = |cwd: &str| format!("{{\"type\":\"session_meta\",\"payload\":{{\"cwd\":\"{cwd}\"}}}}\n");
        std::fs::write(day.join("rollout-1.jsonl"), line("/p/app/inner")).unwrap();
        std::fs::write(day.join("rollout-2.jsonl"), line("/p/apple")).unwrap();
        std::fs::write(day.join("rollout-3.jsonl"), "no json").unwrap();
        let found = rollouts(home.path(), &[PathBuf::from("/p/app")]);
        let names: Vec<&str> = found.iter().map(|source| source.shown.as_str()).collect();
        assert_eq!(names, ["codex/rollout-1.jsonl"]);
    }
}

//! Sorting: which files there are, and what each one is.
//!
//! Comes in: paths as somebody named them. Goes out: files with their sort, told by what is in them, not by where they lie. Never here:
//! reading a whole transcript, following a link, or looking into hidden folders (but for a project's `.claude/memory`).

use crate::files;
use crate::shelf::topics::TopicFile;
use heirloom_core::{Code, Fault, fault::Result, json};
use serde::Serialize;
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

/// Folders below folders, at most.
const DEPTH: usize = 16;
/// Files of one import, at most.
pub(super) const MOST: usize = 100_000;
/// The largest file that is read whole.
pub(super) const MAX_FILE: u64 = 64 << 20;
/// How much of a file of lines tells what it is.
const HEAD: u64 = 4 << 20;
const HEAD_LINES: usize = 50;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    /// A record of a category.
    Record,
    /// Dated lessons.
    TopicFile,
    /// A note.
    Note,
    /// The lines of a vault.
    Vault,
    /// A conversation with a coding agent.
    Transcript,
    /// What people tell coding agents to do, in points.
    Instructions,
    /// What a coding agent wrote down for itself.
    AgentMemory,
    /// A decision on a page of its own.
    Adr,
    /// A note of basic-memory.
    BasicMemory,
    /// An export of claude-mem.
    ClaudeMem,
    /// Made anew here or meant for another machine: not needed.
    Derived,
    /// Nothing Heirloom knows.
    Unknown,
}

impl Sort {
    /// Whether statements in it become records and notes.
    pub(super) fn makes_records(self) -> bool {
        matches!(
            self,
            Sort::Instructions | Sort::AgentMemory | Sort::Adr | Sort::BasicMemory | Sort::ClaudeMem
        )
    }
}

/// Files in which people tell coding agents what to do, by name.
const INSTRUCTIONS: [&str; 11] = [
    "CLAUDE.md",
    "CLAUDE.local.md",
    "AGENTS.md",
    "AGENT.md",
    "GEMINI.md",
    "CONVENTIONS.md",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
    ".goosehints",
    "copilot-instructions.md",
];

/// A file that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Where it is.
    pub path: PathBuf,
    /// How it is called in reports and in `provenance.jsonl`: from the folder that was named, never from the root of a machine.
    pub shown: String,
    /// What it is.
    pub sort: Sort,
    /// It speaks of several projects: only what names this folder is taken.
    pub only_about: Option<PathBuf>,
}

/// The files below these paths, in the order of their names.
pub fn gather(paths: &[PathBuf]) -> Result<Vec<Source>> {
    let mut found = Vec::new();
    for path in paths {
        let meta = std::fs::metadata(path).map_err(|_| {
            Fault::new(Code::NotFound, format!("`{}` does not exist", path.display()))
                .fact("path", path.display().to_string())
                .hint("name files or folders that exist")
        })?;
        let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        let name = real.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        if meta.is_dir() {
            walk(&real, &name, DEPTH, &mut found)?;
        } else {
            found.push(Source { sort: sort_of(&real), path: real, shown: name, only_about: None });
        }
    }
    Ok(found)
}

fn walk(folder: &Path, shown: &str, depth: usize, found: &mut Vec<Source>) -> Result<()> {
    if depth == 0 {
        return Ok(());
    }
    let entries = std::fs::read_dir(folder).map_err(|e| Fault::io(folder, "list", &e))?;
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    for name in names {
        let path = folder.join(&name);
        let inner = format!("{shown}/{name}");
        let Ok(meta) = std::fs::symlink_metadata(&path) else { continue };
        if meta.is_dir() && name == ".claude" && path.join("memory").is_dir() {
            walk(&path.join("memory"), &format!("{inner}/memory"), depth - 1, found)?;
        } else if name.starts_with('.') || matches!(name.as_str(), "node_modules" | "target") {
            continue;
        } else if meta.is_dir() {
            walk(&path, &inner, depth - 1, found)?;
        } else if meta.is_file() {
            if found.len() >= MOST {
                return Err(Fault::new(Code::Input, format!("this folder has more than {MOST} files"))
                    .hint("import folders one after the other"));
            }
            found.push(Source { sort: sort_of(&path), path, shown: inner, only_about: None });
        }
    }
    Ok(())
}

pub(super) fn sort_of(path: &Path) -> Sort {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    match path.extension().and_then(|ending| ending.to_str()) {
        _ if matches!(name.as_str(), "index.md" | "memory-config.json" | "provenance.jsonl") => Sort::Derived,
        _ if INSTRUCTIONS.contains(&name.as_str()) => Sort::Instructions,
        Some("mdc") => Sort::Instructions,
        _ if name == "MEMORY.md" => Sort::AgentMemory,
        Some("jsonl") => of_lines(path, &name),
        Some("md") => match files::read_text(path, MAX_FILE) {
            Ok(Some(text)) => of_markdown(&text),
            _ => Sort::Unknown,
        },
        Some("json") => match files::read(path, MAX_FILE).ok().and_then(|bytes| json::parse(&bytes).ok()) {
            Some(value) if is_record(&value) => Sort::Record,
            Some(value) if value.get("observations").is_some_and(Value::is_array) => Sort::ClaudeMem,
            _ => Sort::Unknown,
        },
        _ => Sort::Unknown,
    }
}

fn of_markdown(text: &str) -> Sort {
    let head: String = text.trim_start_matches('\u{feff}').chars().take(4096).collect();
    let has = |key: &str| head.lines().any(|line| line.trim_start().starts_with(key));
    if head.starts_with("---") && (has("occurred_at:") || has("content_hash:") || has("applies_to:")) {
        Sort::Note
    } else if TopicFile::is_one(text) {
        Sort::TopicFile
    } else if head.starts_with("---") && has("permalink:") {
        Sort::BasicMemory
    } else if is_adr(text) {
        Sort::Adr
    } else {
        Sort::Unknown
    }
}

/// A page with a context and a decision is the record of one.
fn is_adr(text: &str) -> bool {
    let heading = |words: &[&str]| {
        let is = |line: &str| {
            let title = line.trim_start_matches('#').trim().trim_end_matches(':').to_lowercase();
            line.starts_with('#') && words.contains(&title.as_str())
        };
        text.lines().any(is)
    };
    heading(&["context", "context and problem statement", "problem"])
        && heading(&["decision", "decision outcome", "decisions"])
}

fn is_record(value: &Value) -> bool {
    value.get("title").is_some_and(Value::is_string) && value.get("content").is_some_and(Value::is_object)
}

fn of_lines(path: &Path, name: &str) -> Sort {
    let Ok(file) = File::open(path) else { return Sort::Unknown };
    let lines = BufReader::new(file.take(HEAD)).split(b'\n').map_while(std::result::Result::ok);
    let mut talk = false;
    for line in lines.take(HEAD_LINES) {
        let Ok(Value::Object(map)) = json::parse(&line) else { continue };
        let has = |key: &str| map.contains_key(key);
        if has("text") && has("id") && (has("tier") || has("scope") || has("version")) && !has("message") {
            return Sort::Vault;
        }
        talk |= has("message") || has("payload") || has("sessionId") || (has("type") && has("content"));
    }
    match (talk, name) {
        (true, _) => Sort::Transcript,
        (false, "vault.jsonl") => Sort::Vault,
        _ => Sort::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_what_is_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let cases = [
            ("x.jsonl", r#"{"id":"a1","version":1,"tier":"canon","scope":"shared","text":"t"}"#, Sort::Vault),
            ("y.jsonl", r#"{"type":"user","message":{"role":"user","content":"hi"}}"#, Sort::Transcript),
            ("z.jsonl", r#"{"timestamp":"t","type":"response_item","payload":{}}"#, Sort::Transcript),
            ("vault.jsonl", "", Sort::Vault),
            ("odd.jsonl", "no json\n{\"a\":1}", Sort::Unknown),
            ("rebase.md", "# git\n\n## 2026-01-15: Lost commits\nx\n", Sort::TopicFile),
            ("n.md", "---\nid: \"x\"\noccurred_at: \"y\"\n---\n\nbody\n", Sort::Note),
            ("readme.md", "# Hello\n", Sort::Unknown),
            ("CLAUDE.md", "- Use pnpm\n", Sort::Instructions),
            (".cursorrules", "Use pnpm\n", Sort::Instructions),
            ("api.mdc", "Use pnpm\n", Sort::Instructions),
            ("MEMORY.md", "# Memory\n", Sort::AgentMemory),
            ("0001-db.md", "# 1. Use SQLite\n\n## Context\nx\n\n## Decision\ny\n", Sort::Adr),
            ("note.md", "---\ntitle: X\npermalink: x\n---\n- [decision] y\n", Sort::BasicMemory),
            ("export.json", r#"{"observations":[]}"#, Sort::ClaudeMem),
            ("index.md", "## 2026-01-15: x\n", Sort::Derived),
            ("d.json", r#"{"title":"T","content":{"decision":"x"}}"#, Sort::Record),
            ("package.json", r#"{"name":"x"}"#, Sort::Unknown),
            ("photo.png", "x", Sort::Unknown),
        ];
        for (name, text, sort) in cases {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            assert_eq!(sort_of(&path), sort, "{name}");
        }
    }

    #[test]
    fn hidden_folders_and_links_are_passed_over_but_a_projects_memory_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let at = |rest: &str| folder.path().join("old").join(rest);
        for path in [".claude/memory/decisions/a.json", ".claude/memory/.local/b.json", ".git/c.json"] {
            std::fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            std::fs::write(at(path), r#"{"title":"T","content":{}}"#).unwrap();
        }
        std::os::unix::fs::symlink(at(".git"), at("link")).unwrap();
        let found = gather(&[folder.path().join("old")]).unwrap();
        let names: Vec<&str> = found.iter().map(|source| source.shown.as_str()).collect();
        assert_eq!(names, ["old/.claude/memory/decisions/a.json"]);
        assert_eq!(gather(&[at("none")]).unwrap_err().code, Code::NotFound);
    }
}

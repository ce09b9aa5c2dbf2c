//! The trace: what each hook run saw and did, and whether it failed, for `last`, `doctor` and the next session start.
//!
//! Comes in: a line per run. Goes out: the latest lines, and whether hooks have been failing. Never here: the text of a
//! prompt or a memory; a line says how much there was and which memories were shown, by id.

use crate::files::{self, Mode};
use crate::project::Project;
use heirloom_core::fault::Result;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A trace file that has grown this large becomes the old one.
const FILE_MAX: u64 = 128 << 10;
const FILE: &str = "hooks.jsonl";
const OLD_FILE: &str = "hooks.1.jsonl";

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ended {
    /// Nothing to say.
    Silent,
    /// Memories were given to the model.
    Injected,
    /// Something was captured; in traces of version 0.1, also that a stop was held up.
    Captured,
    /// A stop was held up.
    Held,
    /// A stop went on with a request to save something.
    Asked,
    /// What a stop asked for was saved.
    Saved,
    /// A stop asked, and nothing was saved.
    Ignored,
    /// A write was refused.
    Denied,
    /// The hook could not do its work, and let the host go on.
    Failed,
}

#[cfg(test)]
impl Ended {
    /// Every way a run ends.
    pub(crate) const ALL: [Ended; 9] = [
        Ended::Silent,
        Ended::Injected,
        Ended::Captured,
        Ended::Held,
        Ended::Asked,
        Ended::Saved,
        Ended::Ignored,
        Ended::Denied,
        Ended::Failed,
    ];

    /// Its word in a trace and in answers.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Ended::Silent => "silent",
            Ended::Injected => "injected",
            Ended::Captured => "captured",
            Ended::Held => "held",
            Ended::Asked => "asked",
            Ended::Saved => "saved",
            Ended::Ignored => "ignored",
            Ended::Denied => "denied",
            Ended::Failed => "failed",
        }
    }
}

/// A run of a hook.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema, Deserialize)]
pub struct Run {
    /// When, RFC 3339.
    pub at: String,
    /// Which hook: `prompt`, `stop`, …
    pub hook: String,
    /// Whose.
    pub agent: String,
    /// How it ended.
    pub ended: Ended,
    /// What it saw, in a few words.
    #[serde(default)]
    pub saw: String,
    /// What it did and why, a line each: ids of memories, kinds with scores, the reason of a failure.
    #[serde(default)]
    pub because: Vec<String>,
    /// What its budget had no room for, a line each with the command that does it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// How long it took, in microseconds.
    #[serde(default)]
    pub micros: u64,
}

/// Hooks that keep failing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failing {
    /// How many runs in a row, latest first.
    pub runs: usize,
    /// Since when.
    pub since: String,
    /// Which hook failed last.
    pub hook: String,
    /// Why.
    pub why: String,
}

fn folder(project: &Project) -> Result<PathBuf> {
    project.health()
}

/// Adds a run. A project without a memory folder has no trace: a hook must not be what creates one.
pub fn record(project: &Project, run: &Run) -> Result<()> {
    if !project.root().folder().is_dir() {
        return Ok(());
    }
    let folder = folder(project)?;
    let file = folder.join(FILE);
    // One that cannot be turned over now goes on growing until it can.
    let _ = files::turn_over(&file, &folder.join(OLD_FILE), FILE_MAX);
    // Text keys and plain values always serialise.
    let line = serde_json::to_string(run).unwrap_or_default();
    files::append_line(&file, &line, Mode::Private)
}

/// The latest runs, newest first.
pub fn last(project: &Project, count: usize) -> Result<Vec<Run>> {
    if !project.has_local() {
        return Ok(Vec::new());
    }
    let folder = folder(project)?;
    let mut runs = Vec::new();
    for name in [FILE, OLD_FILE] {
        let bytes = files::read_tail(&folder.join(name), 2 * FILE_MAX)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        runs.extend(
            text.lines().rev().filter_map(|line| serde_json::from_str(line).ok()).take(count - runs.len()),
        );
        if runs.len() == count {
            break;
        }
    }
    Ok(runs)
}

/// Takes an id out of every line, for `forget`.
pub fn forget(project: &Project, id: &str) -> Result<()> {
    const GONE: &str = "a memory that was forgotten";
    if !project.has_local() {
        return Ok(());
    }
    let folder = folder(project)?;
    for path in [folder.join(FILE), folder.join(OLD_FILE)] {
        let Some(_held) = files::hold(&path)? else { continue };
        let Some(text) = files::read_text(&path, 4 * FILE_MAX).ok().flatten() else { continue };
        let mut kept = String::with_capacity(text.len());
        for line in text.lines() {
            match serde_json::from_str::<Run>(line) {
                Ok(mut run) => {
                    run.saw = run.saw.replace(id, GONE);
                    run.because.iter_mut().for_each(|why| *why = why.replace(id, GONE));
                    kept.push_str(&serde_json::to_string(&run).unwrap_or_default());
                }
                // A line that cannot be read cannot be cleaned either.
                Err(_) => continue,
            }
            kept.push('\n');
        }
        if kept != text {
            files::write(&path, kept.as_bytes(), Mode::Private)?;
        }
    }
    Ok(())
}

/// Whether the latest runs, newest first, have been failures.
pub fn failing(runs: &[Run]) -> Option<Failing> {
    let failed: Vec<&Run> = runs.iter().take_while(|run| run.ended == Ended::Failed).collect();
    let (newest, oldest) = (failed.first()?, failed.last()?);
    Some(Failing {
        runs: failed.len(),
        since: oldest.at.clone(),
        hook: newest.hook.clone(),
        why: newest.because.first().cloned().unwrap_or_default(),
    })
}

/// What hooks left out lately: of each hook's newest run, a line each. A run that left nothing out clears what an earlier one did.
pub fn left_out(runs: &[Run]) -> Vec<String> {
    let mut hooks: Vec<&str> = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    for run in runs {
        if !hooks.contains(&run.hook.as_str()) {
            hooks.push(&run.hook);
            lines.extend(run.left_out.iter().map(|line| format!("{}: {line}", run.hook)));
        }
    }
    lines
}

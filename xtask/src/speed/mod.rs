//! `speed`: the index beside SQLite's own full-text search, and the prompt hook beside a process that does nothing, in one run.
//!
//! Comes in: how many memories, and perhaps a folder to keep them in or a model. Goes out: ratios; whoever reads them knows what else the machine
//! was doing. With a folder that an earlier run filled, only questions, hooks and saves are measured again; without hooks no binary is built for
//! them. Never here: a verdict.

mod build;
mod hook;
mod nearest;
mod save;
mod stand_in;
mod texts;
mod warm;

use crate::Outcome;
use crate::bench::installed;
use heirloom_engine::index::embed::Embedder;
use heirloom_engine::index::embed::builtin::Builtin;
use heirloom_engine::index::embed::minilm::MiniLm;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

const USAGE: &str = "speed [HOW MANY MEMORIES] [--keep FOLDER] [--model minilm.bin] [--no-hook]  or  speed nearest [HOW MANY SENTENCES] SET.jsonl.gz…";

/// The owner of a project's documents.
const OWNER: &str = "project";

fn said(e: impl std::fmt::Display) -> String {
    e.to_string()
}

/// Where everything of a run lies; also the home of whoever asks.
struct Place(PathBuf);

impl Place {
    fn project(&self) -> PathBuf {
        self.0.join("project")
    }

    fn index(&self) -> PathBuf {
        self.project().join(".claude/memory/.local/index")
    }

    fn fts(&self) -> PathBuf {
        self.0.join("fts5.db")
    }

    /// Where the hook looks for an installed model.
    fn model(&self) -> PathBuf {
        self.0.join(".local/share/heirloom/models/minilm.bin")
    }
}

pub(crate) fn run(words: &[String]) -> Outcome {
    if let [save, folder, name] = words
        && save == "save"
    {
        return save::alone(&Place(folder.into()), name);
    }
    if let [nearest, sets @ ..] = words
        && nearest == "nearest"
    {
        return nearest::run(sets);
    }
    let (mut count, mut keep, mut model, mut hooks) = (10_000, None, None, true);
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let mut path = || rest.next().map(PathBuf::from).ok_or(USAGE);
        match word.as_str() {
            "--keep" => keep = Some(path()?),
            "--model" => model = Some(path()?),
            "--no-hook" => hooks = false,
            number => count = number.parse().map_err(|_| USAGE.to_owned())?,
        }
    }
    let folder = tempfile::tempdir_in("/tmp").map_err(said)?;
    measure(count, &Place(keep.unwrap_or_else(|| folder.path().to_owned())), model.as_deref(), hooks)
}

/// A project of so many memories below a home, made with this program, and a prompt to ask it with.
pub(crate) fn filled(heirloom: &Path, home: &Path, count: usize) -> Result<(PathBuf, String), String> {
    let (place, words) = (Place(home.to_owned()), texts::words()?);
    let prompt = texts::prompt(&words);
    hook::prepare(heirloom, &place, &prompt)?;
    build::run(count, &place, &words, &Builtin::open().map_err(said)?)?;
    Ok((place.project(), prompt))
}

fn measure(count: usize, place: &Place, model: Option<&Path>, hooks: bool) -> Outcome {
    let heirloom = if hooks { Some(installed::build()?) } else { None };
    let words = texts::words()?;
    let prompt = texts::prompt(&words);
    let minilm = match model {
        Some(file) => {
            std::fs::create_dir_all(place.model().parent().unwrap_or(Path::new("/"))).map_err(said)?;
            std::fs::copy(file, place.model()).map_err(said)?;
            Some(MiniLm::open(file, NonZeroUsize::MIN).map_err(said)?)
        }
        None => None,
    };
    let builtin = Builtin::open().map_err(said)?;
    let asking: &dyn Embedder = minilm.as_ref().map_or(&builtin, |model| model as &dyn Embedder);
    if !place.fts().exists() {
        if let Some(heirloom) = &heirloom {
            hook::prepare(heirloom, place, &prompt)?;
        }
        match &minilm {
            None => build::run(count, place, &words, &builtin)?,
            Some(model) => {
                build::run(count, place, &words, &stand_in::StandIn::of(model.space(), &prompt))?;
            }
        }
    }
    warm::run(place, &words, asking)?;
    if let Some(heirloom) = &heirloom {
        hook::run(heirloom, place, &prompt)?;
    }
    if minilm.is_none() {
        save::run(place)?;
    }
    Ok(())
}

/// Milliseconds a call takes: of the process on a processor, whatever else the machine is doing, and by the clock.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    worked: f64,
    passed: f64,
}

impl std::ops::AddAssign for Spent {
    fn add_assign(&mut self, more: Self) {
        self.worked += more.worked;
        self.passed += more.passed;
    }
}

fn spent<T>(call: impl FnOnce() -> Result<T, String>) -> Result<(T, Spent), String> {
    let worked = || {
        let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        used.tv_sec as f64 * 1e3 + used.tv_nsec as f64 / 1e6
    };
    let (before, start) = (worked(), Instant::now());
    let value = call()?;
    Ok((value, Spent { worked: worked() - before, passed: start.elapsed().as_secs_f64() * 1e3 }))
}

fn timed<T>(call: impl FnOnce() -> Result<T, String>) -> Result<f64, String> {
    let start = Instant::now();
    call()?;
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

fn middle(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}

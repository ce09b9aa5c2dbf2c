//! Export: the files of shelves, in their own format.
//!
//! Comes in: which shelves, and perhaps a folder or a stream. Goes out: names and bytes, or what was written. Whoever is not a person gets nothing that the
//! gate would cut and no line of the vault that is somebody else's; what was held back is named. Never here: a file overwritten; turns and facts,
//! which are `archive.rs`.

use super::{Progress, Watch, may_read};
use crate::call::Call;
use crate::hook::guard::{self, Attempt};
use crate::shelf::notes::Native;
use crate::shelf::vault::Image;
use crate::threads;
use crate::transfer;
use heirloom_core::{Code, Fault, Scope, ShelfName, Verb, fault::Result};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The shelves that are files.
const SHELVES: [ShelfName; 4] = [ShelfName::Records, ShelfName::Topics, ShelfName::Notes, ShelfName::Vault];

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Export {
    /// The shelf; every shelf of files if none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shelf: Option<String>,
    /// Also what is out of use, and a vault's earlier versions.
    #[serde(default)]
    pub retired: bool,
}

/// A file that was handed out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct File {
    /// Its name below the folder of an export.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// Something that this caller does not get.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct HeldBack {
    /// The file.
    pub name: String,
    /// Why.
    pub why: String,
}

/// The files of an export.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Files {
    /// What there is.
    pub natives: Vec<Native>,
    /// What this caller does not get.
    pub held_back: Vec<HeldBack>,
}

impl Files {
    /// The files as an answer has them.
    pub fn shown(&self) -> Vec<File> {
        let shown = |native: &Native| File {
            name: native.name.clone(),
            text: String::from_utf8_lossy(&native.bytes).into_owned(),
        };
        self.natives.iter().map(shown).collect()
    }
}

/// What an export wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Exported {
    /// Where.
    pub folder: PathBuf,
    /// The files, named from there.
    pub files: Vec<String>,
    /// What this caller does not get.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub held_back: Vec<HeldBack>,
}

/// The files themselves.
pub fn files(call: &Call, ask: &Export) -> Result<Files> {
    may_read(call, Verb::Export)?;
    let shelves = wanted(ask)?;
    let mut files = Files::default();
    for shelf in &shelves {
        let natives = of_shelf(call, *shelf, shelves.len(), ask.retired, &mut files.held_back)?;
        files.natives.extend(natives);
    }
    Ok(files)
}

fn of_shelf(
    call: &Call,
    shelf: ShelfName,
    shelves: usize,
    retired: bool,
    held_back: &mut Vec<HeldBack>,
) -> Result<Vec<Native>> {
    let mut natives = transfer::export(call, shelf, retired)?;
    natives.retain(|native| !native.bytes.is_empty());
    for native in &mut natives {
        // One shelf alone lies at the top of the folder; several lie as they do in a memory folder.
        let folder = match (shelves, shelf) {
            (1, _) | (_, ShelfName::Records | ShelfName::Vault) => String::new(),
            (_, other) => format!("{}/", other.name()),
        };
        native.name = format!("{folder}{}", native.name);
    }
    if call.caller().is_person() {
        return Ok(natives);
    }
    Ok(match shelf {
        ShelfName::Vault => natives.into_iter().map(|n| vault_for(call, n, held_back)).collect(),
        _ => whole_for(call, natives, held_back),
    })
}

/// What a stream of files holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Streamed {
    /// Files.
    pub files: u64,
    /// What this caller does not get.
    pub held_back: Vec<HeldBack>,
}

/// The same as one stream of lines that [`super::import::import_stream`] takes back, shelf after shelf.
pub fn write(call: &Call, ask: &Export, to: &mut dyn Write, watch: &mut Watch<'_>) -> Result<Streamed> {
    may_read(call, Verb::Export)?;
    call.project().expect_memory()?;
    let shelves = wanted(ask)?;
    let mut held_back = Vec::new();
    let mut carrier = transfer::Carrier::begin(to)?;
    let mut done = 0;
    for shelf in &shelves {
        for native in of_shelf(call, *shelf, shelves.len(), ask.retired, &mut held_back)? {
            match std::str::from_utf8(&native.bytes) {
                Ok(text) => carrier.file(&native.name, text)?,
                Err(_) => held_back.push(HeldBack { name: native.name, why: NO_TEXT.to_owned() }),
            }
            done += 1;
            watch(Progress { what: "files", done, of: None });
        }
    }
    for held in &held_back {
        carrier.held_back(&held.name, &held.why)?;
    }
    Ok(Streamed { files: carrier.end()?, held_back })
}

const NO_TEXT: &str = "is not UTF-8 text";

/// The same, written below a folder that is not there yet or empty.
pub fn export(call: &Call, ask: &Export, folder: &Path, watch: &mut Watch<'_>) -> Result<Exported> {
    elsewhere(call, folder)?;
    let files = files(call, ask)?;
    let of = Some(files.natives.len() as u64);
    transfer::write_below(folder, &files.natives, &mut |done| {
        watch(Progress { what: "files", done: done as u64, of });
    })?;
    Ok(Exported {
        folder: folder.to_owned(),
        files: files.natives.into_iter().map(|native| native.name).collect(),
        held_back: files.held_back,
    })
}

/// Refuses a place that only the gate or git writes to: what an export puts there would be past the gate, in whoever's name it is asked for.
pub(super) fn elsewhere(call: &Call, path: &Path) -> Result<()> {
    let guarded =
        guard::refusal(&super::hook::guarded(call), Attempt::File(&path.to_string_lossy()), Path::new("/"));
    let of_git = path.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git"));
    if guarded.is_none() && !of_git {
        return Ok(());
    }
    Err(Fault::new(Code::Path, format!("`{}` cannot be used for an export", path.display()))
        .fact("path", path.display().to_string())
        .hint("name a place outside of memory folders, Heirloom's own folders and `.git`"))
}

fn wanted(ask: &Export) -> Result<Vec<ShelfName>> {
    let Some(name) = &ask.shelf else { return Ok(SHELVES.to_vec()) };
    let one = SHELVES.into_iter().find(|shelf| shelf.name() == name).ok_or_else(|| {
        let names: Vec<&str> = ShelfName::ALL.iter().map(|shelf| shelf.name()).collect();
        Fault::new(Code::Usage, format!("there is no shelf `{name}`"))
            .hint(format!("use one of {}", names.join(", ")))
    })?;
    Ok(vec![one])
}

const REFUSED: &str = "holds what the gate would refuse; a person at a terminal can export it";

/// Files in which nothing would be cut. A file with a hole in it would be another memory, so it is held back whole.
fn whole_for(call: &Call, natives: Vec<Native>, held: &mut Vec<HeldBack>) -> Vec<Native> {
    // Looked for once, before two threads do.
    let screen = call.screen();
    let numbered: Vec<(usize, &Native)> = natives.iter().enumerate().collect();
    let cut: std::collections::HashSet<usize> = threads::halves(&numbered, |some, cut| {
        let would = |native: &Native| {
            let text = String::from_utf8_lossy(&native.bytes);
            screen.redacted(&text) != text
        };
        cut.extend(some.iter().filter(|(_, native)| would(native)).map(|(at, _)| *at));
    })
    .into_iter()
    .collect();
    let mut kept = Vec::with_capacity(natives.len());
    for (at, native) in natives.into_iter().enumerate() {
        match cut.contains(&at) {
            true => held.push(HeldBack { name: native.name, why: REFUSED.to_owned() }),
            false => kept.push(native),
        }
    }
    kept
}

/// The lines of a vault that this caller sees and in which nothing would be cut.
fn vault_for(call: &Call, native: Native, held: &mut Vec<HeldBack>) -> Native {
    let image = Image::of(&native.bytes);
    let (mut bytes, mut unseen, mut cut) = (Vec::with_capacity(native.bytes.len()), 0, 0);
    for line in image.readable() {
        let scope = Scope::Agent(line.record.scope.to_string());
        if !call.caller().sees().sees_in(&line.record.kind(), &scope) {
            unseen += 1;
            continue;
        }
        let text = String::from_utf8_lossy(line.bytes);
        if call.screen().redacted(&text) != text {
            cut += 1;
            continue;
        }
        bytes.extend_from_slice(line.bytes);
        bytes.push(b'\n');
    }
    let name = &native.name;
    if unseen > 0 {
        let why = format!("{unseen} lines belong to other agents; a person at a terminal can export them");
        held.push(HeldBack { name: name.clone(), why });
    }
    if cut > 0 {
        let why =
            format!("{cut} lines hold what the gate would refuse; a person at a terminal can export them");
        held.push(HeldBack { name: name.clone(), why });
    }
    Native { name: native.name.clone(), bytes }
}

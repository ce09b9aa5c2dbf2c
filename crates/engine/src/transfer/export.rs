//! Exporting: a shelf's files as they are.
//!
//! Comes in: a shelf. Goes out: names and bytes, in the shelf's own format, or the same written below an empty folder. Never here: a
//! file overwritten, or text that is not on the shelf.

use crate::call::Call;
use crate::files::{self, Mode};
use crate::shelf::notes::Native;
use heirloom_core::{Code, Fault, ShelfName, Status, fault::Result};
use std::path::{Component, Path};

/// The files of a shelf; `retired` also takes along what is out of use, and a vault's earlier versions.
pub fn export(call: &Call, shelf: ShelfName, retired: bool) -> Result<Vec<Native>> {
    match shelf {
        ShelfName::Records => Ok(records(call, retired)),
        ShelfName::Topics => call.topics().export(),
        ShelfName::Notes => call.notes().export(retired),
        ShelfName::Vault => {
            let bytes = call.vault().export(retired)?;
            Ok(vec![Native { name: "vault.jsonl".to_owned(), bytes }])
        }
        ShelfName::Tiers => Err(Fault::new(Code::Usage, "there is no export of `tiers` here")
            .hint("use one of records, topics, notes, vault")),
    }
}

fn records(call: &Call, retired: bool) -> Vec<Native> {
    let wanted = |status: Option<Status>| retired || status != Some(Status::Retired);
    let root = call.project().root().folder();
    let found = call.records().scan().found.into_iter().filter(|found| wanted(found.status()));
    found
        .map(|found| {
            let inner = found.path.strip_prefix(root).unwrap_or(&found.path);
            Native { name: inner.to_string_lossy().into_owned(), bytes: found.bytes }
        })
        .collect()
}

/// Writes files below a folder that is not there yet or empty.
pub fn write_below(folder: &Path, natives: &[Native]) -> Result<()> {
    let taken = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if taken || (folder.exists() && !folder.is_dir()) {
        return Err(Fault::new(Code::Usage, format!("`{}` is not empty", folder.display()))
            .fact("path", folder.display().to_string())
            .hint("name a new or empty folder; an export overwrites nothing"));
    }
    files::make_folder(folder, Mode::Shared)?;
    for native in natives {
        let name = Path::new(&native.name);
        if !name.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(Fault::new(Code::Path, format!("`{}` does not stay in the folder", native.name)));
        }
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            files::make_folder(parent, Mode::Shared)?;
        }
        files::write(&path, &native.bytes, Mode::Shared)?;
    }
    Ok(())
}

//! Exporting: a shelf's files as they are.
//!
//! Comes in: a shelf. Goes out: names and bytes, in the shelf's own format, or the same written below an empty folder. Never here: a
//! file overwritten, text that is not on the shelf, or who may have it.

use crate::call::Call;
use crate::files::{self, Mode};
use crate::shelf::notes::Native;
use crate::threads;
use heirloom_core::{Code, Fault, ShelfName, Status, fault::Result};
use std::path::{Component, Path};

/// Files written between two words about how far it is.
const STRETCH: usize = 1_000;

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
        ShelfName::Tiers => Err(Fault::new(Code::Usage, "`tiers` cannot be exported as files")
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

/// Writes files below a folder that is not there yet or empty. A new folder takes its place when all of them are on the disk: they wait for it
/// once and together, not one by one. `wrote` is told how many there are now.
pub fn write_below(folder: &Path, natives: &[Native], wrote: &mut dyn FnMut(usize)) -> Result<()> {
    let taken = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if taken || (folder.exists() && !folder.is_dir()) {
        return Err(Fault::new(Code::Usage, format!("`{}` is not empty", folder.display()))
            .fact("path", folder.display().to_string())
            .hint("name a new or empty folder; an export overwrites nothing"));
    }
    let stays = |native: &&Native| {
        !Path::new(&native.name).components().all(|part| matches!(part, Component::Normal(_)))
    };
    if let Some(native) = natives.iter().find(stays) {
        return Err(Fault::new(Code::Path, format!("`{}` does not stay in the folder", native.name)));
    }
    if folder.is_dir() {
        fill(folder, natives, wrote)?;
        return files::sync_all_below(folder);
    }
    let half = files::temporary_folder(folder, &format!("export-{}", std::process::id()));
    let placed = fill(&half, natives, wrote)
        .and_then(|()| files::sync_all_below(&half))
        .and_then(|()| files::rename(&half, folder));
    if placed.is_err() {
        // If even this fails, what is left is named for what it is.
        let _ = std::fs::remove_dir_all(&half);
    }
    placed
}

fn fill(folder: &Path, natives: &[Native], wrote: &mut dyn FnMut(usize)) -> Result<()> {
    files::make_folder(folder, Mode::Shared)?;
    let mut done = 0;
    for some in natives.chunks(STRETCH) {
        let faults = threads::halves(some, |some, faults| {
            for native in some {
                let path = folder.join(&native.name);
                let made = path.parent().map_or(Ok(()), |parent| files::make_folder(parent, Mode::Shared));
                let written = made.and_then(|()| files::create_unsynced(&path, &native.bytes, Mode::Shared));
                if let Err(fault) = written {
                    faults.push(fault);
                    return;
                }
            }
        });
        if let Some(fault) = faults.into_iter().next() {
            return Err(fault);
        }
        done += some.len();
        wrote(done);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn native(name: &str) -> Native {
        Native { name: name.to_owned(), bytes: name.as_bytes().to_vec() }
    }

    #[test]
    fn an_export_is_whole_or_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("a/out");
        let many: Vec<Native> = (0..1_500).map(|n| native(&format!("x{}/{n}.json", n % 7))).collect();
        let mut told = Vec::new();
        write_below(&to, &many, &mut |done| told.push(done)).unwrap();
        assert_eq!(told, [1_000, 1_500]);
        for one in &many {
            assert_eq!(std::fs::read(to.join(&one.name)).unwrap(), one.bytes);
        }
        assert_eq!(write_below(&to, &many, &mut |_| {}).unwrap_err().code, Code::Usage);
        // A file where a folder should be: nothing is left of what was begun, and nothing beside it.
        let other = folder.path().join("b");
        assert!(write_below(&other, &[native("x"), native("x/y")], &mut |_| {}).is_err());
        assert!(write_below(&other, &[native("x"), native("../y")], &mut |_| {}).is_err());
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }

    #[test]
    fn an_empty_folder_is_filled_where_it_is() {
        let folder = tempfile::tempdir().unwrap();
        write_below(folder.path(), &[native("x/y.json")], &mut |_| {}).unwrap();
        assert_eq!(std::fs::read(folder.path().join("x/y.json")).unwrap(), b"x/y.json");
    }
}

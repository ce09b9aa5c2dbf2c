//! What the memory folder looked like when a hook last saw it: a stamp for each file of a shelf.
//!
//! Comes in: a project. Goes out: the files that came or changed since, whoever wrote them. A command can write in ways that nobody reads off
//! its text (a variable, a script, another program), but not without leaving another stamp. The stamps lie in the user's data folder, where no
//! tool of an agent writes. Never here: what is in a file; who looks judges it.

use crate::budget::{self, Left};
use crate::files;
use crate::project::Project;
use heirloom_core::fault::Result;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The largest list of stamps.
const MAX: u64 = 16 << 20;
/// How deep folders of a shelf are looked into.
const DEPTH: usize = 8;
/// Most files that are looked at one by one; of a larger store, only those in folders that changed.
const ONE_BY_ONE: usize = 2_000;
/// Without an earlier look, what was written in so long counts as changed.
const FRESH: Duration = Duration::from_secs(600);
/// Names at the top of a memory folder that are no shelf's.
const NOT_A_SHELF: [&str; 2] = ["memory-config.json", "index.md"];

/// When something was changed, how long it is, and which it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    changed: i128,
    size: u64,
    inode: u64,
}

impl Stamp {
    fn of(meta: &std::fs::Metadata) -> Stamp {
        // The change of the entry, not of the content: nobody can set it back.
        let changed = i128::from(meta.ctime()) * 1_000_000_000 + i128::from(meta.ctime_nsec());
        Stamp { changed, size: meta.len(), inode: meta.ino() }
    }
}

/// Every folder and file of a store, by its path in the memory folder. A folder's ends in a slash.
type Stamps = BTreeMap<String, Stamp>;

/// Looks at the store and remembers it, if nobody has looked yet.
pub(crate) fn first_look(project: &Project) -> Result<()> {
    if !file(project)?.exists() {
        let now = walk(project.root().folder(), &Stamps::new());
        save(project, &now)?;
    }
    Ok(())
}

/// Looks at the store and remembers it, whatever was known: what is there when a session begins is nothing that its tools did.
pub(crate) fn look(project: &Project) -> Result<()> {
    let known = read(project)?.unwrap_or_default();
    let now = walk(project.root().folder(), &known);
    if now == known { Ok(()) } else { save(project, &now) }
}

/// The files that came or changed since the last look, which this is now.
pub(crate) fn changed(project: &Project) -> Result<Vec<PathBuf>> {
    let root = project.root().folder();
    let known = read(project)?;
    let now = walk(root, known.as_ref().unwrap_or(&Stamps::new()));
    if known.as_ref() == Some(&now) {
        return Ok(Vec::new());
    }
    save(project, &now)?;
    let is_file = |path: &&String| !path.ends_with('/');
    let fresh = |path: &Path| {
        let written = std::fs::symlink_metadata(path).and_then(|meta| meta.modified()).ok();
        written.is_some_and(|at| {
            SystemTime::from(project.world().now).duration_since(at).unwrap_or_default() < FRESH
        })
    };
    let changed = now.keys().filter(is_file);
    Ok(match &known {
        Some(known) => {
            changed.filter(|path| known.get(*path) != now.get(*path)).map(|path| root.join(path)).collect()
        }
        None => changed.map(|path| root.join(path)).filter(|path| fresh(path)).collect(),
    })
}

fn file(project: &Project) -> Result<PathBuf> {
    Ok(project.data()?.join(format!("seen-{}", project.store_name())))
}

fn read(project: &Project) -> Result<Option<Stamps>> {
    let Some(text) = files::read_text(&file(project)?, MAX)? else { return Ok(None) };
    let line = |line: &str| {
        let mut parts = line.splitn(4, ' ');
        let stamp = Stamp {
            changed: parts.next()?.parse().ok()?,
            size: parts.next()?.parse().ok()?,
            inode: parts.next()?.parse().ok()?,
        };
        Some((parts.next()?.to_owned(), stamp))
    };
    Ok(Some(text.lines().filter_map(line).collect()))
}

fn save(project: &Project, stamps: &Stamps) -> Result<()> {
    let mut text = String::with_capacity(stamps.len() * 80);
    for (path, stamp) in stamps {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{} {} {} {path}", stamp.changed, stamp.size, stamp.inode);
    }
    files::write_passing(&file(project)?, text.as_bytes())
}

/// Every folder and file of the shelves as it is now. What lies in an unchanged folder of a store with very many files is taken as it was known.
fn walk(root: &Path, known: &Stamps) -> Stamps {
    let mut now = Stamps::new();
    let mut folders = vec![(PathBuf::new(), 0)];
    let many = known.len() > ONE_BY_ONE;
    while let Some((inside, depth)) = folders.pop() {
        let folder = root.join(&inside);
        let Ok(meta) = std::fs::symlink_metadata(&folder) else { continue };
        let name = format!("{}/", inside.display());
        let stamp = Stamp::of(&meta);
        now.insert(name.clone(), stamp);
        if many && depth > 0 && known.get(&name) == Some(&stamp) {
            let below = known.range(name.clone()..).take_while(|(path, _)| path.starts_with(&name));
            for (path, stamp) in below {
                match path.strip_suffix('/') {
                    Some(folder) if *path != name => folders.push((PathBuf::from(folder), depth + 1)),
                    Some(_) => {}
                    None => {
                        now.insert(path.clone(), *stamp);
                    }
                }
            }
            continue;
        }
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            if !budget::goes_on_or_leaves(Left::Files) {
                return now;
            }
            let Ok(name) = entry.file_name().into_string() else { continue };
            let skipped = name.starts_with('.') || name.contains(".invalid.") || name.contains('\n');
            if skipped || (depth == 0 && NOT_A_SHELF.contains(&name.as_str())) {
                continue;
            }
            let path = inside.join(&name);
            let Ok(meta) = entry.metadata() else { continue };
            if meta.is_dir() {
                if depth < DEPTH {
                    folders.push((path, depth + 1));
                }
            } else {
                now.insert(path.to_string_lossy().into_owned(), Stamp::of(&meta));
            }
        }
    }
    now
}

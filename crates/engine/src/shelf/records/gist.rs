//! Gists: what counting needs of each record, kept from one look to the next.
//!
//! Comes in: the record files. Goes out: for each its kind, status, hash, and how often the gate would refuse something in it. What was read once
//! is kept in the user's data folder with the stamp of its file and the edition of the rules; a file with the same stamp is not read again. The
//! list can be deleted at any time, and `forget` does, because it has names of files. Never here: a memory's text; trust, which is asked of the book each time; a stamp so young that the file could have changed
//! since without showing it.

use super::document::Document;
use super::draft::RecordDraft;
use super::scan::Found;
use super::store::Records;
use crate::files;
use crate::gate::Edition;
use crate::gate::policy::Row;
use crate::threads;
use heirloom_core::settings::Category;
use heirloom_core::{Kind, MemoryId, ShelfName, Status, fault::Result};
use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The list's name in the user's folder for the project, and its first line.
const NAME: &str = "gists";
const FORMAT: &str = "gists 1";
/// The largest list that is read.
const MAX: u64 = 256 << 20;
/// Files read between two words about how far it is.
const STRETCH: usize = 1_000;
/// What a line has.
const COLUMNS: usize = 12;
/// Seconds after which a file's stamp can be relied on.
const YOUNG: i64 = 2;

/// What counting needs of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Gist {
    /// Its file.
    pub(crate) path: PathBuf,
    /// Its id.
    pub(crate) id: MemoryId,
    /// Its kind.
    pub(crate) kind: Kind,
    /// Where it is in its life; nothing for a status nobody knows.
    pub(crate) status: Option<Status>,
    /// The hash of its bytes.
    pub(crate) hash: String,
    /// How often it was updated.
    pub(crate) times: u64,
    /// How many of its texts the gate would refuse.
    pub(crate) refused: usize,
    /// Whether the gate would refuse it as a whole, as it is shown.
    pub(crate) held_back: bool,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Gists {
    /// What was read.
    pub(crate) all: Vec<Gist>,
    /// Files that could not be read: `path: why`.
    pub(crate) unreadable: Vec<String>,
}

/// Removes the list, for `forget`: it has the names of files.
pub(crate) fn forget_gists(project_data: &Path) -> Result<()> {
    files::remove(&project_data.join(NAME))
}

/// By what a file is known to be the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Stamp {
    inode: u64,
    size: u64,
    changed: i128,
    written: i128,
}

impl Stamp {
    fn of(meta: &std::fs::Metadata) -> Stamp {
        let nanos = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        Stamp {
            inode: meta.ino(),
            size: meta.size(),
            changed: nanos(meta.ctime(), meta.ctime_nsec()),
            written: nanos(meta.mtime(), meta.mtime_nsec()),
        }
    }

    /// Whether a later change of the file would surely have another stamp.
    fn is_settled(&self, now: i64) -> bool {
        let young = i128::from(now - YOUNG) * 1_000_000_000;
        self.changed < young && self.written < young
    }
}

/// A file of a category's folder.
struct Listed<'c> {
    path: PathBuf,
    category: &'c Category,
    stamp: Option<Stamp>,
}

impl Records<'_> {
    /// The gists of all records. Only what changed since the last time is read; `read` is told how many of how many.
    pub(crate) fn gists(&self, read: &mut dyn FnMut(usize, usize)) -> Result<Gists> {
        let mut kept = self.kept();
        let before = kept.len();
        let mut gists = Gists::default();
        let mut listed = Vec::new();
        for category in &self.call.settings().categories {
            self.names(category, &mut listed, &mut gists.unreadable);
        }
        let known: Vec<Option<Gist>> = listed
            .iter()
            .map(|file| {
                kept.remove(&file.path).filter(|(stamp, _)| Some(*stamp) == file.stamp).map(|(_, gist)| gist)
            })
            .collect();
        let new: Vec<&Listed<'_>> =
            listed.iter().zip(&known).filter(|(_, known)| known.is_none()).map(|(file, _)| file).collect();
        // Made once, before two threads ask for it.
        if !new.is_empty() {
            self.call.screen();
        }
        let mut fresh = Vec::with_capacity(new.len());
        for some in new.chunks(STRETCH) {
            fresh.extend(threads::halves(some, |some, found| {
                found.extend(some.iter().map(|file| self.gist(&file.path, file.category)));
            }));
            read(fresh.len(), new.len());
        }
        let mut fresh = fresh.into_iter();
        let mut lines = Vec::with_capacity(listed.len());
        for (file, known) in listed.iter().zip(known) {
            let gist = match known {
                Some(gist) => gist,
                None => match fresh.next() {
                    Some(Ok(gist)) => gist,
                    Some(Err(Some(why))) => {
                        gists.unreadable.push(why);
                        continue;
                    }
                    // A folder that happens to be called `x.json` is nobody's record.
                    Some(Err(None)) | None => continue,
                },
            };
            lines.push((file.stamp, file.category.name()));
            gists.all.push(gist);
        }
        if !new.is_empty() || before != gists.all.len() {
            self.keep(&gists.all, &lines);
        }
        Ok(gists)
    }

    fn names<'c>(&self, category: &'c Category, listed: &mut Vec<Listed<'c>>, unreadable: &mut Vec<String>) {
        let folder = self.folder(category);
        if std::fs::symlink_metadata(&folder).is_ok_and(|meta| meta.is_symlink()) {
            unreadable.push(format!("{}: is a link", self.call.project().shown(&folder)));
            return;
        }
        let from = listed.len();
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.as_encoded_bytes();
            if !name.ends_with(b".json") || name.starts_with(b".") {
                continue;
            }
            let stamp = entry.metadata().ok().filter(std::fs::Metadata::is_file).map(|meta| Stamp::of(&meta));
            listed.push(Listed { path: entry.path(), category, stamp });
        }
        listed[from..].sort_by(|a, b| a.path.cmp(&b.path));
    }

    fn gist(&self, path: &Path, category: &Category) -> std::result::Result<Gist, Option<String>> {
        let read = files::read(path, files::MAX_FILE)
            .map_err(|fault| fault.message)
            .and_then(|bytes| Document::parse(&bytes).map(|document| (document, bytes)));
        let (document, bytes) = match read {
            Ok(read) => read,
            Err(_) if path.is_dir() => return Err(None),
            Err(why) => return Err(Some(self.unreadable(path, &why))),
        };
        let folder_category = category.name().to_owned();
        let found = Found { path: path.to_owned(), document, bytes, folder_category };
        Ok(self.gist_of(found))
    }

    fn gist_of(&self, found: Found) -> Gist {
        let document = &found.document;
        let stem = found.path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        let kind = Kind::named(document.category().unwrap_or(&found.folder_category));
        let title = document.text("title").unwrap_or(&stem);
        let steers = matches!(kind, Kind::Constraint | Kind::Preference);
        let screen = self.call.screen();
        let held_back = steers && {
            let text = format!("{title}\n{}", super::view::body(document));
            screen.would_refuse(&text, Row::Records).is_some()
        };
        let mut refused = 0;
        let category = &self.call.settings().categories[0];
        let mut draft = RecordDraft { document: document.clone(), category, given: Vec::new() };
        crate::gate::Draft::texts(&mut draft, &mut |_, text| {
            refused += usize::from(screen.would_refuse(text, Row::Records).is_some());
        });
        Gist {
            id: MemoryId::new(&kind, &stem),
            status: document.status(),
            hash: Document::token(&found.bytes),
            times: document.times_updated(),
            path: found.path,
            kind,
            refused,
            held_back,
        }
    }

    fn head(&self) -> String {
        let gate = &self.call.settings().gate;
        format!("{FORMAT} {}", Edition::of(gate, gate.profile(ShelfName::Records)))
    }

    /// What was kept the last time, by file; nothing if the rules are others since.
    fn kept(&self) -> HashMap<PathBuf, (Stamp, Gist)> {
        let known = self.call.project().known_data().ok().flatten();
        let text = known.and_then(|data| files::read_text(&data.join(NAME), MAX).ok().flatten());
        let Some(text) = text else { return HashMap::new() };
        let mut lines = text.lines();
        if lines.next() != Some(self.head().as_str()) {
            return HashMap::new();
        }
        let folders: HashMap<&str, PathBuf> =
            self.call.settings().categories.iter().map(|c| (c.name(), self.folder(c))).collect();
        lines
            .filter_map(|line| parsed(line, &folders))
            .map(|(s, gist)| (gist.path.clone(), (s, gist)))
            .collect()
    }

    /// Keeps what was read. A list that cannot be written costs only the next look.
    fn keep(&self, all: &[Gist], stamps: &[(Option<Stamp>, &str)]) {
        let Ok(data) = self.call.project().data() else { return };
        let now = self.call.project().world().now.as_second();
        let mut text = self.head() + "\n";
        for (gist, (stamp, category)) in all.iter().zip(stamps) {
            let Some(stamp) = stamp.filter(|stamp| stamp.is_settled(now)) else { continue };
            let line = written(gist, &stamp, category);
            // What somebody wrote into a record must not be read as another column or line.
            if line.matches('\t').count() + 1 == COLUMNS && !line.contains(['\n', '\r']) {
                text.push_str(&line);
                text.push('\n');
            }
        }
        let _ = files::make_folder(data, files::Mode::Private)
            .and_then(|()| files::write_passing(&data.join(NAME), text.as_bytes()));
    }
}

fn written(gist: &Gist, stamp: &Stamp, category: &str) -> String {
    let name = gist.path.file_name().unwrap_or_default().to_string_lossy();
    let Stamp { inode, size, changed, written } = stamp;
    let status = gist.status.map_or("-", Status::name);
    let Gist { hash, times, refused, held_back, .. } = gist;
    let held = u8::from(*held_back);
    let kind = gist.kind.name();
    format!(
        "{inode}\t{size}\t{changed}\t{written}\t{category}\t{kind}\t{status}\t{hash}\t{times}\t{refused}\t{held}\t{name}"
    )
}

fn parsed(line: &str, folders: &HashMap<&str, PathBuf>) -> Option<(Stamp, Gist)> {
    let mut parts = line.split('\t');
    let mut next = || parts.next();
    let stamp = Stamp {
        inode: next()?.parse().ok()?,
        size: next()?.parse().ok()?,
        changed: next()?.parse().ok()?,
        written: next()?.parse().ok()?,
    };
    let folder = folders.get(next()?)?;
    let kind = Kind::named(next()?);
    let status = match next()? {
        "-" => None,
        name => Some(Status::named(name)?),
    };
    let hash = next()?.to_owned();
    let times = next()?.parse().ok()?;
    let refused = next()?.parse().ok()?;
    let held_back = next()? == "1";
    let name = next()?;
    if next().is_some() {
        return None;
    }
    let id = MemoryId::new(&kind, name.strip_suffix(".json")?);
    let gist = Gist { path: folder.join(name), id, kind, status, hash, times, refused, held_back };
    Some((stamp, gist))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_it_was_made_of() {
        let stamp = Stamp { inode: 7, size: 9, changed: 1_700_000_000_000_000_001, written: 3 };
        let kind = Kind::named("decision");
        let gist = Gist {
            path: PathBuf::from("/m/decisions/a.json"),
            id: MemoryId::new(&kind, "a"),
            kind,
            status: Some(Status::Retired),
            hash: "ab".repeat(32),
            times: 3,
            refused: 2,
            held_back: true,
        };
        let folders = HashMap::from([("decision", PathBuf::from("/m/decisions"))]);
        let line = written(&gist, &stamp, "decision");
        assert_eq!(parsed(&line, &folders), Some((stamp, gist)));
        assert_eq!(parsed("1\t2", &folders), None);
        assert_eq!(parsed(&line, &HashMap::new()), None, "a category that is gone");
    }

    #[test]
    fn a_stamp_is_believed_only_when_it_is_old_enough() {
        let at = |seconds: i128| Stamp { inode: 1, size: 1, changed: seconds * 1_000_000_000, written: 0 };
        assert!(at(96).is_settled(100));
        assert!(!at(99).is_settled(100) && !at(200).is_settled(100));
    }
}

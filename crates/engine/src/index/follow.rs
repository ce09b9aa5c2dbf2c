//! Following the shelves: which files changed since the index last looked, and what that means for its documents.
//!
//! Comes in: the marks of the last look. Goes out: changes and new marks, applied together, so that a process that dies in between leaves an
//! index that looks again. Two processes may do this at once: the one that saw older files leaves older marks, and the next look mends it.
//!
//! | mark | what it notes |
//! |---|---|
//! | `rules` | settings that decide what is recalled; with another value everything is looked at anew |
//! | `book`, `provenance` | stamps of the trust book and of what was forgotten |
//! | `d:<folder>` | stamp of a folder |
//! | `f:<file>` | stamp of a file, and for records and notes the id in it |
//! | `l:<shelf>` | ids and versions of a shelf that is read as a whole |

use super::document::Document;
use super::embed::Embedder;
use super::embed::chosen::Chosen;
use super::shelves::{COMPLETE, Look, OWNER, embed_missing, fault};
use super::stamp::{self, ABSENT};
use super::{Change, Index, document};
use crate::engine::Engine;
use crate::files;
use crate::gate::policy::{Act, Row};
use crate::gate::scan::Class;
use crate::gate::trust;
use crate::shelf::{Listing, Shelf as _, provenance};
use heirloom_core::{Kind, Memory, ShelfName, Status, Trust, fault::Result, hash, json, time};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// Up to this many files every one is looked at, whatever the folders say: editors that write in place leave a folder's time alone.
const FEW: usize = 512;

/// Documents handed to the index in one go.
const BATCH: usize = 4_096;

/// Texts a slow model embeds while somebody waits.
const AT_ONCE: usize = 16;

/// The longest tail of the trust book that is read line by line; beyond it everything is looked at anew.
const TAIL: u64 = 4 << 20;

/// A folder whose files hold one memory each.
struct Folder {
    key: String,
    path: PathBuf,
    ending: &'static str,
    holds: Holds,
}

enum Holds {
    Records(String),
    Notes(Status),
}

/// Whose trust may have changed since the last look.
enum Doubt {
    Nobody,
    These(HashSet<String>),
    All,
}

impl Doubt {
    fn about(&self, id: &str) -> bool {
        match self {
            Doubt::Nobody => false,
            Doubt::These(ids) => ids.contains(id),
            Doubt::All => true,
        }
    }
}

/// One look at the shelves.
pub(super) struct Follow<'a> {
    engine: &'a Engine,
    index: &'a mut Index,
    forgotten: HashSet<String>,
    doubt: Doubt,
    changes: Vec<Change>,
    marks: BTreeMap<String, String>,
    /// The file system's time, asked for when there is something to note.
    clock: Option<Option<i128>>,
}

impl<'a> Follow<'a> {
    pub(super) fn new(engine: &'a Engine, index: &'a mut Index) -> Result<Follow<'a>> {
        let marks = BTreeMap::new();
        Ok(Follow {
            engine,
            index,
            forgotten: HashSet::new(),
            doubt: Doubt::Nobody,
            changes: Vec::new(),
            marks,
            clock: None,
        })
    }

    /// Brings the index up to date.
    pub(super) fn run(mut self, model: Option<&Chosen>, look: Look) -> Result<()> {
        let rules = self.rules();
        if self.mark("rules")?.as_deref() != Some(rules.as_str()) {
            // Nothing is thrown away: another process may be answering from it at this moment.
            self.doubt = Doubt::All;
            self.note("rules", rules);
            self.drop_strangers()?;
        }
        self.trust()?;
        let known = self.files_known()?;
        let every = look != Look::Quick || known <= FEW || matches!(self.doubt, Doubt::All);
        for folder in self.folders() {
            self.folder(&folder, every)?;
        }
        self.lessons(every)?;
        self.vault()?;
        self.apply(model, look)
    }

    fn mark(&mut self, name: &str) -> Result<Option<String>> {
        self.index.mark(name).map_err(|e| fault(&e))
    }

    fn note(&mut self, name: &str, value: impl Into<String>) {
        self.marks.insert(name.to_owned(), value.into());
    }

    /// A stamp as it may be kept.
    fn kept(&mut self, stamp: String) -> String {
        let engine = self.engine;
        let clock = *self.clock.get_or_insert_with(|| {
            let local = engine.project().local().ok()?;
            stamp::clock(&local.path("index"))
        });
        stamp::kept(stamp, clock)
    }

    /// What decides, besides the files, whether a memory is recalled.
    fn rules(&self) -> String {
        let settings = self.engine.settings();
        let categories: Vec<(&str, &str, bool)> =
            settings.categories.iter().map(|c| (c.name(), c.folder.as_str(), c.enabled)).collect();
        let all = format!(
            "{} {:?} {:?} {} {}",
            env!("CARGO_PKG_VERSION"),
            settings.gate,
            categories,
            settings.vault.enabled,
            self.engine.topics().base().display()
        );
        hash::sha256(all.as_bytes())[..32].to_owned()
    }

    /// What was forgotten, and whose trust may have changed.
    fn trust(&mut self) -> Result<()> {
        let root = self.engine.project().root();
        let stamp = stamp::of(&root.folder().join("provenance.jsonl"));
        if stamp != ABSENT {
            self.forgotten = provenance::forgotten(root)?;
        }
        let ids: BTreeSet<&String> = self.forgotten.iter().collect();
        let forgotten = hash::sha256(format!("{ids:?}").as_bytes())[..32].to_owned();
        if self.mark("provenance")?.as_ref() != Some(&forgotten) {
            self.doubt = Doubt::All;
            self.note("provenance", forgotten);
        }
        let book = self.engine.project().known_data()?.map(|data| trust::path(&data));
        let Some(book) = book else { return Ok(()) };
        let stamp = stamp::of(&book);
        let before = self.mark("book")?;
        if before.as_ref() == Some(&stamp) {
            return Ok(());
        }
        if !matches!(self.doubt, Doubt::All) {
            self.doubt = appended(before.as_deref().unwrap_or_default(), &stamp, &book)?;
        }
        // The stamp itself is kept even if it is fresh: its size says where the next look begins to read.
        self.note("book", stamp);
        Ok(())
    }

    fn folders(&self) -> Vec<Folder> {
        let root = self.engine.project().root();
        let mut folders: Vec<Folder> = self
            .engine
            .settings()
            .categories
            .iter()
            .map(|category| Folder {
                key: category.folder.clone(),
                path: root.folder().join(&category.folder),
                ending: ".json",
                holds: Holds::Records(category.name().to_owned()),
            })
            .collect();
        for (key, status) in [("notes", Status::Active), ("notes/retired", Status::Retired)] {
            folders.push(Folder {
                key: key.to_owned(),
                path: root.folder().join(key),
                ending: ".md",
                holds: Holds::Notes(status),
            });
        }
        folders
    }

    /// Takes out what lies in folders that are no longer looked at.
    fn drop_strangers(&mut self) -> Result<()> {
        let keys: Vec<String> = self.folders().into_iter().map(|folder| folder.key).collect();
        for (name, value) in self.index.marks("f:").map_err(|e| fault(&e))? {
            let folder = name[2..].rsplit_once('/').map_or("", |(folder, _)| folder);
            if !keys.iter().any(|key| key == folder) {
                self.changes.extend(id_in(&value).map(|id| Change::Remove(id.to_owned())));
                self.note(&name, "");
                self.note(&format!("d:{folder}"), "");
            }
        }
        Ok(())
    }

    fn files_known(&mut self) -> Result<usize> {
        Ok(self.mark("files")?.and_then(|text| text.parse().ok()).unwrap_or(0))
    }

    /// Looks at a folder: at its list of files if its stamp differs, at the files if every one is wanted.
    fn folder(&mut self, folder: &Folder, every: bool) -> Result<()> {
        let mark = format!("d:{}", folder.key);
        let stamp = stamp::of(&folder.path);
        let same = self.mark(&mark)?.as_ref() == Some(&stamp);
        if same && !every && matches!(self.doubt, Doubt::Nobody) {
            return Ok(());
        }
        let prefix = format!("f:{}/", folder.key);
        let known: BTreeMap<String, String> = self
            .index
            .marks(&prefix)
            .map_err(|e| fault(&e))?
            .into_iter()
            .filter(|(name, _)| !name[prefix.len()..].contains('/'))
            .collect();
        let names: BTreeSet<String> = if same {
            known.keys().map(|name| name[prefix.len()..].to_owned()).collect()
        } else {
            names_in(&folder.path, folder.ending)
        };
        for (name, value) in known.iter().filter(|(name, _)| !names.contains(&name[prefix.len()..])) {
            self.changes.extend(id_in(value).map(|id| Change::Remove(id.to_owned())));
            self.note(name, "");
        }
        for name in &names {
            let mark = format!("{prefix}{name}");
            let path = folder.path.join(name);
            let stamp = stamp::of(&path);
            let before = known.get(&mark).map(String::as_str).unwrap_or_default();
            let id = id_in(before);
            if before.split('\t').next() == Some(&stamp) && !id.is_some_and(|id| self.doubt.about(id)) {
                continue;
            }
            let memory = match &folder.holds {
                Holds::Records(category) => self.engine.records().memory_at(&path, category),
                Holds::Notes(status) => self.engine.notes().memory_at(&path, *status),
            };
            let memory = memory.unwrap_or(None);
            let now = memory.as_ref().map(|memory| memory.id.as_str().to_owned());
            if let Some(old) = id.filter(|old| now.as_deref() != Some(*old)) {
                self.changes.push(Change::Remove(old.to_owned()));
            }
            self.changes.extend(memory.as_ref().map(|memory| Change::Put(self.document(memory))));
            let kept = self.kept(stamp);
            self.note(&mark, format!("{kept}\t{}", now.unwrap_or_default()));
        }
        if !same {
            let kept = self.kept(stamp);
            self.note(&mark, kept);
        }
        Ok(())
    }

    /// Lessons: several to a file, read as a whole when any of their files changed.
    fn lessons(&mut self, every: bool) -> Result<()> {
        let base = self.engine.topics().base();
        let known = self.index.marks("t:").map_err(|e| fault(&e))?;
        let changed = |(name, value): &(String, String)| {
            let path = base.join(&name[2..]);
            (every || !name.ends_with(".md")) && stamp::of(&path) != *value
        };
        let doubted = matches!(self.doubt, Doubt::All | Doubt::These(_));
        if !known.is_empty() && !doubted && !known.iter().any(changed) {
            return Ok(());
        }
        // Stamps before the reading: what changes meanwhile has another one at the next look.
        let mut stamps = BTreeMap::from([(String::new(), stamp::of(&base))]);
        walk(&base, "", 0, &mut stamps);
        for (name, _) in known {
            self.note(&name, "");
        }
        for (name, stamp) in stamps {
            let kept = self.kept(stamp);
            self.note(&format!("t:{name}"), kept);
        }
        let lessons = self.engine.topics().list(&Listing::everything())?;
        self.whole("l:topics", lessons)
    }

    fn vault(&mut self) -> Result<()> {
        let stamp = stamp::of(&self.engine.project().root().folder().join("vault.jsonl"));
        let same = self.mark("v:vault.jsonl")?.as_ref() == Some(&stamp);
        if same && matches!(self.doubt, Doubt::Nobody) {
            return Ok(());
        }
        let memories = match self.engine.settings().vault.enabled && stamp != ABSENT {
            true => self.engine.vault().list(&Listing::everything())?,
            false => Vec::new(),
        };
        let kept = self.kept(stamp);
        self.note("v:vault.jsonl", kept);
        self.whole("l:vault", memories)
    }

    /// Replaces all documents of a shelf by those that are there now; what is unchanged is left alone.
    fn whole(&mut self, mark: &str, memories: Vec<Memory>) -> Result<()> {
        let before = self.mark(mark)?.unwrap_or_default();
        let mut known: BTreeMap<&str, &str> =
            before.lines().filter_map(|line| line.rsplit_once('\t')).collect();
        let mut now = String::new();
        for memory in &memories {
            let version =
                format!("{} {} {}", short(&memory.content_hash), memory.status.name(), memory.trust.name());
            now.push_str(&format!("{}\t{version}\n", memory.id));
            let same = known.remove(memory.id.as_str()) == Some(version.as_str());
            if !same || matches!(self.doubt, Doubt::All) {
                self.changes.push(Change::Put(self.document(memory)));
            }
        }
        self.changes.extend(known.into_keys().map(|id| Change::Remove(id.to_owned())));
        self.note(mark, now);
        Ok(())
    }

    /// A memory as the index sees it; held back if the gate would refuse its text or it was forgotten.
    fn document(&self, memory: &Memory) -> Document {
        let when = [&memory.occurred_at, &memory.updated_at, &memory.created_at];
        let when = when.into_iter().flatten().find_map(|text| time::parse(text));
        let is_note = memory.kind.shelf() == ShelfName::Notes;
        Document {
            id: memory.id.as_str().to_owned(),
            kind: memory.kind.name().to_owned(),
            title: memory.title.clone(),
            tags: memory.tags.clone(),
            body: memory.body.clone(),
            // Notes under one subject are parts of one thing.
            group: if is_note { memory.title.clone() } else { String::new() },
            occurred_at: when.map_or(0, |at| at.as_second()),
            trust: match memory.trust {
                Trust::High => document::Trust::High,
                Trust::Medium => document::Trust::Medium,
                Trust::Low => document::Trust::Low,
            },
            status: self.status(memory),
            confidence: memory.confidence.unwrap_or(1.0) as f32,
            scope: memory.scope.to_string(),
            applies_to: memory.applies_to.clone(),
            file: memory.path.clone().unwrap_or_default(),
            source: memory.source.name().to_owned(),
            version: short(&memory.content_hash).to_owned(),
            ..Document::default()
        }
    }

    fn status(&self, memory: &Memory) -> document::Status {
        let id = memory.id.as_str();
        let shelf = memory.kind.shelf();
        let off = shelf == ShelfName::Records
            && !self.engine.settings().category(memory.kind.name()).is_some_and(|c| c.enabled);
        let came_back =
            self.forgotten.contains(id) && provenance::came_back(self.engine, id, &memory.content_hash);
        if off || came_back || is_refused(self.engine, memory) {
            return document::Status::Held;
        }
        match memory.status {
            Status::Active => document::Status::Active,
            Status::Retired | Status::Archived | Status::Superseded => document::Status::Retired,
        }
    }

    fn apply(mut self, chosen: Option<&Chosen>, look: Look) -> Result<()> {
        if self.changes.is_empty() && self.marks.is_empty() {
            return self.embed(chosen, look);
        }
        // Many texts for a slow model are found by their words first and get their vectors later.
        let many = self.changes.len() > AT_ONCE || look == Look::Start;
        let later = chosen.is_some_and(|model| model.is_remote() || (many && !model.is_quick()));
        let puts = self.changes.iter().any(|change| matches!(change, Change::Put(_)));
        let model = chosen.map(|model| model.space().model.as_str());
        // Whatever is put now has no vector of any other model: should that one come back, it looks anew.
        if puts && (later || self.mark(COMPLETE)?.as_deref() != model) {
            self.note(COMPLETE, "");
        }
        let model = chosen.filter(|_| !later).map(|model| model as &dyn Embedder);
        let mut rest = self.changes.as_slice();
        while rest.len() > BATCH {
            let (now, later) = rest.split_at(BATCH);
            self.index.apply(OWNER, now, model, &[]).map_err(|e| fault(&e))?;
            rest = later;
        }
        let known = self.index.marks("f:").map_err(|e| fault(&e))?.into_iter().map(|(name, _)| name);
        let mut files: BTreeSet<String> = known.collect();
        for (name, value) in self.marks.iter().filter(|(name, _)| name.starts_with("f:")) {
            if value.is_empty() {
                files.remove(name)
            } else {
                files.insert(name.clone())
            };
        }
        self.marks.insert("files".to_owned(), files.len().to_string());
        let marks: Vec<(&str, &str)> =
            self.marks.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.index.apply(OWNER, rest, model, &marks).map_err(|e| fault(&e))?;
        self.embed(chosen, look)
    }

    /// A few of the vectors that are still missing: after a change of model, or of many files at once.
    fn embed(&mut self, chosen: Option<&Chosen>, look: Look) -> Result<()> {
        let Some(model) = chosen else { return Ok(()) };
        let limit = match (model.is_quick(), look) {
            (true, _) => usize::MAX,
            (false, Look::Thorough) => 8 * AT_ONCE,
            (false, Look::Quick) if !model.is_remote() => AT_ONCE,
            (false, Look::Quick | Look::Start) => return Ok(()),
        };
        match embed_missing(self.index, model, limit) {
            // Until an endpoint answers again, keywords do; whoever calls it notes that it failed.
            Err(_) if model.is_remote() => Ok(()),
            embedded => embedded.map(|_| ()),
        }
    }
}

/// Whether the gate would refuse, or on the notes shelf cut, what a memory says.
fn is_refused(engine: &Engine, memory: &Memory) -> bool {
    let row = match memory.kind.shelf() {
        ShelfName::Records => Row::Records,
        ShelfName::Topics => Row::Topics,
        ShelfName::Vault => Row::Vault,
        ShelfName::Notes | ShelfName::Tiers => Row::Notes,
    };
    let text = format!("{}\n{}\n{}", memory.title, memory.tags.join(" "), memory.body);
    if engine.screen().would_refuse(&text, row).is_some() {
        return true;
    }
    if row != Row::Notes {
        return false;
    }
    let verdict = engine.screen().verdict(&text, row, heirloom_core::Channel::Repository.trust());
    let cut = |class: Class, act: Act| matches!(class, Class::Secret | Class::Identity) && act >= Act::Redact;
    verdict.findings.iter().any(|(finding, act)| cut(finding.class, *act))
}

/// The first characters of a content hash: enough to see a change by.
fn short(hash: &str) -> &str {
    hash.get(..16).unwrap_or(hash)
}

fn id_in(mark: &str) -> Option<&str> {
    mark.split_once('\t').map(|(_, id)| id).filter(|id| !id.is_empty())
}

/// Which ids the trust book has new lines about. A book that was rewritten, or grew by very much, puts everything in doubt.
fn appended(before: &str, now: &str, book: &Path) -> Result<Doubt> {
    let parts = |stamp: &str| -> Option<(u64, String)> {
        let mut parts = stamp.split(':').skip(1);
        Some((u64::from_str_radix(parts.next()?, 16).ok()?, parts.next()?.to_owned()))
    };
    let (Some((old, old_file)), Some((new, new_file))) = (parts(before), parts(now)) else {
        return Ok(Doubt::All);
    };
    if old_file != new_file || new < old || new - old > TAIL {
        return Ok(Doubt::All);
    }
    let bytes = files::read_tail(book, new - old)?.unwrap_or_default();
    let mut ids = HashSet::new();
    for line in bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
        match json::parse(line).ok().and_then(|v| Some(v.get("id")?.as_str()?.to_owned())) {
            Some(id) => _ = ids.insert(id),
            // The book grew while it was looked at, so the tail begins inside a line.
            None => return Ok(Doubt::All),
        }
    }
    Ok(if ids.is_empty() { Doubt::Nobody } else { Doubt::These(ids) })
}

/// The names of a folder's files with an ending. A linked folder could lead anywhere: it has none.
fn names_in(folder: &Path, ending: &str) -> BTreeSet<String> {
    if std::fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_symlink()) {
        return BTreeSet::new();
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.ends_with(ending) && !name.starts_with('.') && !name.contains(['\t', '\n']))
        .collect()
}

/// Stamps of the folders and Markdown files below a memory base, two levels down.
fn walk(base: &Path, inner: &str, depth: usize, stamps: &mut BTreeMap<String, String>) {
    let Ok(entries) = std::fs::read_dir(base.join(inner)) else { return };
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let Ok(kind) = entry.file_type() else { continue };
        if name.starts_with('.') || name.contains(['\t', '\n']) {
            continue;
        }
        let inside = if inner.is_empty() { name.clone() } else { format!("{inner}/{name}") };
        if kind.is_dir() && depth < 2 {
            stamps.insert(inside.clone(), stamp::of(&base.join(&inside)));
            walk(base, &inside, depth + 1, stamps);
        } else if kind.is_file() && name.ends_with(".md") {
            stamps.insert(inside.clone(), stamp::of(&base.join(&inside)));
        }
    }
}

/// Whether the file of a record or note still is what the index last saw of it. A file too fresh to be sure of counts as that: it was read at
/// this very look.
pub(super) fn is_current(index: &mut Index, engine: &Engine, kind: &str, file: &str) -> Result<bool> {
    let path = engine.project().folder().join(file);
    let inner = path.strip_prefix(engine.project().root().folder()).ok().map(|p| p.to_string_lossy());
    let own_file = matches!(Kind::named(kind).shelf(), ShelfName::Records | ShelfName::Notes);
    let Some(inner) = inner.filter(|_| own_file) else { return Ok(true) };
    let mark = index.mark(&format!("f:{inner}")).map_err(|e| fault(&e))?.unwrap_or_default();
    let seen = mark.split('\t').next().unwrap_or_default();
    Ok(seen == stamp::UNSURE || seen == stamp::of(&path))
}

#[cfg(test)]
#[path = "follow_tests.rs"]
mod tests;

//! Following the shelves: which files changed since the index last looked, and what that means for its documents.
//!
//! Comes in: the marks of the last look. Goes out: changes and new marks, applied together, so that a process that dies in between leaves an
//! index that looks again. Two processes may do this at once: the one that saw older files leaves older marks, and the next look mends it.
//! A hook looks as far as its budget reaches (`budget.rs`): what it did is noted, what it left is not, so that the next look goes on from there.
//! Marks that begin with `~` are many or long: they are read where they are needed, all others in one go.
//!
//! | mark | what it notes |
//! |---|---|
//! | `rules` | settings that decide what is recalled; with another value everything is looked at anew |
//! | `book`, `provenance` | stamps of the trust book and of what was forgotten |
//! | `d:<folder>` | stamp of a folder |
//! | `~f:<file>` | stamp of a file, and for records and notes the id in it |
//! | `~l:<shelf>` | ids and versions of a shelf that is read as a whole |
//! | `unfinished` | somebody put many documents and has not come to the marks that go with them |

use super::described::{self, short};
use super::doubt::{self, Doubt};
use super::{COMPLETE, Look, OWNER, embed_missing, fault};
use crate::budget::{self, Left};
use crate::call::Call;
use crate::files::stamp::{self, ABSENT};
use crate::gate::trust;
use crate::index::embed::Embedder;
use crate::index::embed::chosen::Chosen;
use crate::index::{Change, Index};
use crate::shelf::forgets::Forgets;
use crate::shelf::{Listing, Shelf as _, provenance};
use heirloom_core::{Code, Kind, Memory, ShelfName, Status, fault::Result, hash};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::PathBuf;

/// Up to this many files every one is looked at, whatever the folders say: editors that write in place leave a folder's time alone.
const FEW: usize = 512;

/// The mark of documents without marks.
const UNFINISHED: &str = "unfinished";

/// Documents handed to the index in one go.
const BATCH: usize = 4_096;

/// Texts a slow model embeds while somebody waits.
const AT_ONCE: usize = 16;

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

/// One look at the shelves.
pub(super) struct Follow<'a> {
    call: &'a Call,
    index: &'a mut Index,
    /// Where lessons are.
    topics: PathBuf,
    forgotten: Forgets,
    doubt: Doubt,
    /// The marks of the last look, but for those of files and whole shelves.
    seen: BTreeMap<String, String>,
    /// Whether the index may have documents that no mark knows of.
    stray: bool,
    changes: Vec<Change>,
    marks: BTreeMap<String, String>,
    /// The file system's time, asked for when there is something to note.
    clock: Option<Option<i128>>,
}

impl<'a> Follow<'a> {
    pub(super) fn new(call: &'a Call, index: &'a mut Index) -> Result<Follow<'a>> {
        let seen = index.few_marks().map_err(|e| fault(&e))?;
        let marks = BTreeMap::new();
        Ok(Follow {
            call,
            index,
            topics: call.topics().base(),
            forgotten: Forgets::default(),
            doubt: Doubt::Nobody,
            seen,
            stray: false,
            changes: Vec::new(),
            marks,
            clock: None,
        })
    }

    /// Brings the index up to date.
    pub(super) fn run(mut self, model: Option<&Chosen>, look: Look) -> Result<()> {
        let rules = self.rules();
        if self.mark("rules") != Some(rules.as_str()) {
            // Nothing is thrown away: another process may be answering from it at this moment.
            self.doubt = Doubt::All;
            self.note("rules", rules);
            self.drop_strangers()?;
        }
        self.trust()?;
        if self.mark(UNFINISHED).is_some() {
            self.stray = true;
            self.note(UNFINISHED, "");
        }
        let known = self.files_known();
        let every = look != Look::Quick || known <= FEW || matches!(self.doubt, Doubt::All);
        for folder in self.folders() {
            self.folder(&folder, every)?;
        }
        self.lessons(every)?;
        self.vault()?;
        self.apply(model, look)
    }

    fn mark(&self, name: &str) -> Option<&str> {
        self.seen.get(name).map(String::as_str)
    }

    fn note(&mut self, name: &str, value: impl Into<String>) {
        self.marks.insert(name.to_owned(), value.into());
    }

    /// A stamp as it may be kept.
    fn kept(&mut self, stamp: String) -> String {
        let call = self.call;
        let clock = *self.clock.get_or_insert_with(|| stamp::clock(&super::folder(call).ok()?));
        stamp::kept(stamp, clock)
    }

    /// What decides, besides the files, whether a memory is recalled.
    fn rules(&self) -> String {
        let settings = self.call.settings();
        let categories: Vec<(&str, &str, bool)> =
            settings.categories.iter().map(|c| (c.name(), c.folder.as_str(), c.enabled)).collect();
        let all = format!(
            "{} {:?} {:?} {} {}",
            env!("CARGO_PKG_VERSION"),
            settings.gate,
            categories,
            settings.vault.enabled,
            self.topics.display()
        );
        hash::sha256(all.as_bytes())[..32].to_owned()
    }

    /// What was forgotten, and whose trust may have changed.
    fn trust(&mut self) -> Result<()> {
        let root = self.call.project().root();
        let stamp = stamp::of(&root.folder().join("provenance.jsonl"));
        if stamp != ABSENT {
            self.forgotten = readable(provenance::forgotten(root))?;
        }
        let forgotten = self.forgotten.fingerprint()[..32].to_owned();
        if self.mark("provenance") != Some(forgotten.as_str()) {
            self.doubt = Doubt::All;
            self.note("provenance", forgotten);
        }
        let book = self.call.project().known_data()?.map(|data| trust::path(&data));
        let Some(book) = book else { return Ok(()) };
        let stamp = stamp::of(&book);
        let before = self.mark("book").map(str::to_owned);
        if before.as_ref() == Some(&stamp) {
            return Ok(());
        }
        if !matches!(self.doubt, Doubt::All) {
            self.doubt = doubt::appended(before.as_deref().unwrap_or_default(), &stamp, &book)?;
        }
        // The stamp itself is kept even if it is fresh: its size says where the next look begins to read.
        self.note("book", stamp);
        Ok(())
    }

    fn folders(&self) -> Vec<Folder> {
        let root = self.call.project().root();
        let mut folders: Vec<Folder> = self
            .call
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
        let keys: HashSet<String> = self.folders().into_iter().map(|folder| folder.key).collect();
        for (name, value) in self.index.marks("~f:").map_err(|e| fault(&e))? {
            let folder = name[3..].rsplit_once('/').map_or("", |(folder, _)| folder);
            if !keys.contains(folder) {
                self.changes.extend(id_in(&value).map(|id| Change::Remove(id.to_owned())));
                self.note(&name, "");
                self.note(&format!("d:{folder}"), "");
            }
        }
        Ok(())
    }

    /// Takes out documents that no mark knows of: whoever put them died before the marks, and their files may be gone.
    fn drop_strays(&mut self) -> Result<()> {
        let mut marks: BTreeMap<String, String> = self
            .index
            .marks("~f:")
            .and_then(|mut marks| {
                marks.extend(self.index.marks("~l:")?);
                Ok(marks)
            })
            .map_err(|e| fault(&e))?
            .into_iter()
            .collect();
        marks.extend(self.marks.clone());
        let mut known: HashSet<&str> = HashSet::new();
        for (name, value) in &marks {
            match name.split_once(':') {
                Some(("~f", _)) => known.extend(id_in(value)),
                Some(("~l", _)) => {
                    known.extend(value.lines().filter_map(|line| Some(line.rsplit_once('\t')?.0)))
                }
                _ => {}
            }
        }
        let ids = self.index.reader(OWNER, None).and_then(|reader| reader.ids()).map_err(|e| fault(&e))?;
        let strays = ids.into_iter().filter(|id| !known.contains(id.as_str()));
        self.changes.extend(strays.map(Change::Remove));
        Ok(())
    }

    fn files_known(&self) -> usize {
        self.mark("files").and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    /// Looks at a folder: at its list of files if its stamp differs, at the files if every one is wanted.
    fn folder(&mut self, folder: &Folder, every: bool) -> Result<()> {
        let mark = format!("d:{}", folder.key);
        let stamp = stamp::of(&folder.path);
        let same = self.mark(&mark) == Some(stamp.as_str());
        // A folder that is not there and was not there has no files to ask about.
        let nothing = same && stamp == ABSENT;
        if nothing || (same && !every && matches!(self.doubt, Doubt::Nobody)) {
            return Ok(());
        }
        let prefix = format!("~f:{}/", folder.key);
        let known: BTreeMap<String, String> = self
            .index
            .marks(&prefix)
            .map_err(|e| fault(&e))?
            .into_iter()
            .filter(|(name, _)| !name[prefix.len()..].contains('/'))
            .collect();
        let gaps = budget::gaps();
        let names: BTreeSet<String> = if same {
            known.keys().map(|name| name[prefix.len()..].to_owned()).collect()
        } else {
            stamp::names_in(&folder.path, folder.ending)
        };
        // A list that ends early says nothing about what is not on it.
        let whole = budget::gaps() == gaps;
        let gone = known.iter().filter(|(name, _)| whole && !names.contains(&name[prefix.len()..]));
        for (name, value) in gone {
            self.changes.extend(id_in(value).map(|id| Change::Remove(id.to_owned())));
            self.note(name, "");
        }
        // What is new comes first: a hook without time for all of it at least gets on.
        let (old, new): (Vec<&String>, Vec<&String>) =
            names.iter().partition(|name| known.contains_key(&format!("{prefix}{name}")));
        for name in new.into_iter().chain(old) {
            if !budget::goes_on_or_leaves(Left::Files) {
                continue;
            }
            let mark = format!("{prefix}{name}");
            let path = folder.path.join(name);
            let stamp = stamp::of(&path);
            let before = known.get(&mark).map(String::as_str).unwrap_or_default();
            let id = id_in(before);
            if before.split('\t').next() == Some(&stamp) && !id.is_some_and(|id| self.doubt.about(id)) {
                continue;
            }
            let before_it = budget::gaps();
            let memory = match &folder.holds {
                Holds::Records(category) => self.call.records().memory_at(&path, category),
                Holds::Notes(status) => self.call.notes().memory_at(&path, *status),
            };
            let memory = memory.unwrap_or(None);
            let size = memory.as_ref().map_or(0, text_size);
            if budget::gaps() > before_it || !budget::may_take(size) {
                // What it said before is no longer what it says; what it says now is for a look with more time.
                self.changes.extend(id.map(|id| Change::Remove(id.to_owned())));
                if !before.is_empty() {
                    self.note(&mark, "");
                }
                continue;
            }
            let now = memory.as_ref().map(|memory| memory.id.as_str().to_owned());
            if let Some(old) = id.filter(|old| now.as_deref() != Some(*old)) {
                self.changes.push(Change::Remove(old.to_owned()));
            }
            self.changes.extend(
                memory
                    .as_ref()
                    .map(|memory| Change::Put(described::document(self.call, &self.forgotten, memory))),
            );
            let kept = self.kept(stamp);
            self.note(&mark, format!("{kept}\t{}", now.unwrap_or_default()));
        }
        if budget::gaps() > gaps {
            // With no stamp the next look lists the folder anew.
            self.note(&mark, "");
        } else if !same {
            let kept = self.kept(stamp);
            self.note(&mark, kept);
        }
        Ok(())
    }

    /// Lessons: several to a file, read as a whole when any of their files changed.
    fn lessons(&mut self, every: bool) -> Result<()> {
        let base = self.topics.clone();
        let known = self.seen.range("t:".to_owned().."t;".to_owned());
        let known: Vec<(String, String)> = known.map(|(name, value)| (name.clone(), value.clone())).collect();
        let changed = |(name, value): &(String, String)| {
            let path = base.join(&name[2..]);
            (every || !name.ends_with(".md")) && stamp::of(&path) != *value
        };
        let doubted = matches!(self.doubt, Doubt::All | Doubt::These(_));
        if !known.is_empty() && !doubted && !known.iter().any(changed) {
            return Ok(());
        }
        // Stamps before the reading: what changes meanwhile has another one at the next look.
        let gaps = budget::gaps();
        let mut stamps = BTreeMap::from([(String::new(), stamp::of(&base))]);
        stamp::walk(&base, "", 0, &mut stamps);
        let lessons = readable(self.call.topics().list(&Listing::everything()))?;
        if !self.whole("~l:topics", lessons, budget::gaps() == gaps)? {
            return Ok(());
        }
        for (name, _) in known {
            self.note(&name, "");
        }
        for (name, stamp) in stamps {
            let kept = self.kept(stamp);
            self.note(&format!("t:{name}"), kept);
        }
        Ok(())
    }

    fn vault(&mut self) -> Result<()> {
        let stamp = stamp::of(&self.call.project().root().folder().join("vault.jsonl"));
        let same = self.mark("v:vault.jsonl") == Some(stamp.as_str());
        if same && matches!(self.doubt, Doubt::Nobody) {
            return Ok(());
        }
        let path = self.call.project().root().folder().join("vault.jsonl");
        if budget::is_bounded() && path.metadata().is_ok_and(|meta| meta.len() > VAULT) {
            budget::leave_out(Left::Vault, 1);
            return Ok(());
        }
        let gaps = budget::gaps();
        let memories = match self.call.settings().vault.enabled && stamp != ABSENT {
            true => readable(self.call.vault().list(&Listing::everything()))?,
            false => Vec::new(),
        };
        if self.whole("~l:vault", memories, budget::gaps() == gaps)? {
            let kept = self.kept(stamp);
            self.note("v:vault.jsonl", kept);
        }
        Ok(())
    }

    /// Replaces all documents of a shelf by those that are there now; what is unchanged is left alone. With `all`, these are all there are, and
    /// what is not among them goes. Says whether every one was taken in.
    fn whole(&mut self, mark: &str, memories: Vec<Memory>, all: bool) -> Result<bool> {
        let before = self.index.mark(mark).map_err(|e| fault(&e))?.unwrap_or_default();
        let mut known: BTreeMap<&str, &str> =
            before.lines().filter_map(|line| line.rsplit_once('\t')).collect();
        let mut now = String::new();
        let mut taken = all;
        for memory in &memories {
            let version =
                format!("{} {} {}", short(&memory.content_hash), memory.status.name(), memory.trust.name());
            let before = known.get(memory.id.as_str()).copied();
            let same = before == Some(version.as_str());
            let takes = !same || matches!(self.doubt, Doubt::All);
            if takes && !budget::may_take(text_size(memory)) {
                taken = false;
                continue;
            }
            known.remove(memory.id.as_str());
            now.push_str(&format!("{}\t{version}\n", memory.id));
            if takes {
                self.changes.push(Change::Put(described::document(self.call, &self.forgotten, memory)));
            }
        }
        if taken {
            self.changes.extend(known.into_keys().map(|id| Change::Remove(id.to_owned())));
        } else {
            // Of what is left for another look nothing is known but that it was there.
            now.extend(known.into_iter().map(|(id, version)| format!("{id}\t{version}\n")));
        }
        self.note(mark, now);
        Ok(taken)
    }

    fn apply(mut self, chosen: Option<&Chosen>, look: Look) -> Result<()> {
        if self.changes.is_empty() && self.marks.is_empty() {
            return self.embed(chosen, look);
        }
        tracing::debug!(changes = self.changes.len(), marks = self.marks.len(), "shelves changed");
        // Many texts for a slow model are found by their words first and get their vectors later.
        let many = self.changes.len() > AT_ONCE || look == Look::Start;
        let later = chosen.is_some_and(|model| model.is_remote() || (many && !model.is_quick()));
        let puts = self.changes.iter().any(|change| matches!(change, Change::Put(_)));
        let model = chosen.map(|model| model.space().model.as_str());
        // Whatever is put now has no vector of any other model: should that one come back, it looks anew.
        let complete = self.index.mark(COMPLETE).map_err(|e| fault(&e))?;
        if puts && (later || complete.as_deref() != model) {
            self.note(COMPLETE, "");
        }
        let model = chosen.filter(|_| !later).map(|model| model as &dyn Embedder);
        if self.stray {
            self.drop_strays()?;
        }
        let mut rest = self.changes.as_slice();
        while rest.len() > BATCH {
            let (now, later) = rest.split_at(BATCH);
            self.index.apply(OWNER, now, model, &[(UNFINISHED, "yes")]).map_err(|e| fault(&e))?;
            rest = later;
            self.marks.insert(UNFINISHED.to_owned(), String::new());
        }
        let known = self.index.marks("~f:").map_err(|e| fault(&e))?.into_iter().map(|(name, _)| name);
        let mut files: BTreeSet<String> = known.collect();
        for (name, value) in self.marks.iter().filter(|(name, _)| name.starts_with("~f:")) {
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
        // The mark was read with the others; asking for it once more is what a prompt can do without.
        if self.marks.is_empty() && self.mark(COMPLETE) == Some(model.space().model.as_str()) {
            return Ok(());
        }
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

/// The largest vault of which a hook takes new lines into the index.
const VAULT: u64 = 4 << 20;

/// About how much of a text the index has to look at.
fn text_size(memory: &Memory) -> usize {
    memory.title.len() + memory.body.len() + memory.tags.iter().map(String::len).sum::<usize>()
}

/// A shelf that cannot be read is not an index that is damaged: making that anew would not help.
fn readable<T>(found: Result<T>) -> Result<T> {
    found.map_err(|mut fault| {
        if fault.code == Code::Damaged {
            fault.code = Code::Read;
        }
        fault
    })
}

fn id_in(mark: &str) -> Option<&str> {
    mark.split_once('\t').map(|(_, id)| id).filter(|id| !id.is_empty())
}

/// Whether the file of a record or note still is what the index last saw of it. A file too fresh to be sure of counts as that: it was read at
/// this very look.
pub(super) fn is_current(index: &mut Index, call: &Call, kind: &str, file: &str) -> Result<bool> {
    let path = call.project().folder().join(file);
    let inner = path.strip_prefix(call.project().root().folder()).ok().map(|p| p.to_string_lossy());
    let own_file = matches!(Kind::named(kind).shelf(), ShelfName::Records | ShelfName::Notes);
    let Some(inner) = inner.filter(|_| own_file) else { return Ok(true) };
    let mark = index.mark(&format!("~f:{inner}")).map_err(|e| fault(&e))?.unwrap_or_default();
    let seen = mark.split('\t').next().unwrap_or_default();
    Ok(seen == stamp::UNSURE || seen == stamp::of(&path))
}

#[cfg(test)]
#[path = "follow_tests.rs"]
mod tests;

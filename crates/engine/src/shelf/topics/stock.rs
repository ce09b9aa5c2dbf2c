//! The stock: what lies in a memory base, live and archived, with the id of every entry.
//!
//! Comes in: the base folder. Goes out: pages and [`Held`] entries. An entry found both in its topic file and, word for word, in
//! the archive counts once, as live: a move writes the new place first, so that is what an interrupted move leaves. Never here:
//! writing.

use super::archive::{self, Tag};
use super::lesson::Lesson;
use super::names::{self, ARCHIVE, Register, UNSORTED};
use super::page::Page;
use crate::budget::{self, Left};
use crate::files::{self, Root};
use heirloom_core::{Fault, MemoryId, Status, fault::Result, hash};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

/// The largest archive file that is read: a year of one topic.
pub(super) const MAX_ARCHIVE: u64 = 64 << 20;

/// The largest page that a hook takes apart. A year of a busy topic is longer than a note.
const PAGE: u64 = 4 * budget::ONE_MEMORY;

/// An entry as it was found.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub(crate) id: MemoryId,
    pub(crate) topic: String,
    pub(crate) subtopic: String,
    /// What the id ends in, behind the date.
    pub(crate) slug: String,
    pub(crate) lesson: Lesson,
    /// The entry as it stands (or stood) in its topic file.
    pub(crate) plain: String,
    /// SHA-256 of [`Held::plain`].
    pub(crate) hash: String,
    pub(crate) status: Status,
    /// When and why it was taken out of use.
    pub(crate) retired: Option<String>,
    /// The file it is in.
    pub(crate) path: PathBuf,
    /// Which entry of that file.
    pub(crate) at: usize,
}

/// A memory base, for reading.
#[derive(Debug, Clone)]
pub(super) struct Stock {
    root: Root,
}

/// Which part of a topic is wanted.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Part<'a> {
    pub(super) subtopic: Option<&'a str>,
    /// Only this year of the archive.
    pub(super) year: Option<i16>,
}

impl Stock {
    pub(super) fn new(base: &Path) -> Stock {
        Stock { root: Root::new(base) }
    }

    pub(super) fn base(&self) -> &Path {
        self.root.folder()
    }

    pub(super) fn index_path(&self) -> PathBuf {
        self.root.join(&["index.md"])
    }

    /// The file of a subtopic; never outside the base, whatever links lie in it.
    pub(super) fn live_path(&self, topic: &str, subtopic: &str) -> Result<PathBuf> {
        self.root.resolve(&self.root.join(&[topic, &format!("{subtopic}.md")]))
    }

    /// The archive file of a topic and year.
    pub(super) fn archive_path(&self, topic: &str, year: i16) -> Result<PathBuf> {
        self.root.resolve(&self.root.join(&[ARCHIVE, topic, &format!("{year:04}.md")]))
    }

    /// All topics, by name.
    pub(super) fn topics(&self) -> Vec<String> {
        let mut topics = folders(self.root.folder());
        topics.extend(folders(&self.root.join(&[ARCHIVE])));
        topics.retain(|name| !names::NO_TOPICS.contains(&name.as_str()));
        topics.sort();
        topics.dedup();
        topics
    }

    /// The subtopics of a topic that have a file.
    pub(super) fn subtopics(&self, topic: &str) -> Vec<String> {
        pages(&self.root.join(&[topic]))
    }

    /// The years of a topic's archive.
    pub(super) fn years(&self, topic: &str) -> Vec<i16> {
        let names = pages(&self.root.join(&[ARCHIVE, topic]));
        names.iter().filter(|name| name.len() == 4).filter_map(|name| name.parse().ok()).collect()
    }

    /// All entries of a topic. A file that cannot be read costs only itself; `verify` names it.
    pub(super) fn entries(&self, topic: &str, part: Part<'_>) -> Vec<Held> {
        let mut out = Vec::new();
        let mut registers: BTreeMap<String, Register> = BTreeMap::new();
        let mut seen: HashSet<(String, String)> = HashSet::new();
        let subtopics = part.subtopic.map_or_else(|| self.subtopics(topic), |one| vec![one.to_owned()]);
        for subtopic in subtopics {
            if !budget::goes_on_or_leaves(Left::Files) {
                continue;
            }
            let Ok(path) = self.live_path(topic, &subtopic) else { continue };
            let Ok(Some(page)) = read_page(&path, files::MAX_FILE) else { continue };
            let register = registers.entry(subtopic.clone()).or_default();
            let bottom_up: Vec<_> = page.spots().iter().rev().map(|spot| &spot.heading).collect();
            let mut slugs = register.assign(&bottom_up);
            slugs.reverse();
            for (at, slug) in slugs.into_iter().enumerate() {
                let plain = page.plain(at);
                let held = held(topic, &subtopic, slug, page.lesson(at), plain, &path, at);
                seen.insert((subtopic.clone(), held.hash.clone()));
                out.push(held);
            }
        }
        let years = part.year.map_or_else(|| self.years(topic), |one| vec![one]);
        for year in years {
            if !budget::goes_on_or_leaves(Left::Files) {
                continue;
            }
            let Ok(path) = self.archive_path(topic, year) else { continue };
            let Ok(Some(page)) = read_page(&path, MAX_ARCHIVE) else { continue };
            self.archived(topic, part.subtopic, &path, &page, &mut registers, &mut seen, &mut out);
        }
        out
    }

    #[allow(clippy::too_many_arguments, reason = "the running state of one walk over a topic")]
    fn archived(
        &self,
        topic: &str,
        wanted: Option<&str>,
        path: &Path,
        page: &Page,
        registers: &mut BTreeMap<String, Register>,
        seen: &mut HashSet<(String, String)>,
        out: &mut Vec<Held>,
    ) {
        let mut groups: BTreeMap<String, Vec<(usize, Tag, String)>> = BTreeMap::new();
        for at in (0..page.spots().len()).rev() {
            let (tag, plain) = archive::untagged(&page.plain(at));
            let subtopic = subtopic_of(&tag);
            if wanted.is_none_or(|w| w == subtopic)
                && seen.insert((subtopic.clone(), hash::sha256(plain.as_bytes())))
            {
                groups.entry(subtopic).or_default().push((at, tag, plain));
            }
        }
        for (subtopic, group) in groups {
            let headings: Vec<_> = group.iter().map(|(at, ..)| &page.spots()[*at].heading).collect();
            let slugs = registers.entry(subtopic.clone()).or_default().assign(&headings);
            for ((at, tag, plain), slug) in group.into_iter().zip(slugs) {
                let lesson = Lesson::read(&page.spots()[at].heading, &plain);
                let mut held = held(topic, &subtopic, slug, lesson, plain, path, at);
                held.status = if tag.retired.is_some() { Status::Retired } else { Status::Archived };
                held.retired = tag.retired;
                out.push(held);
            }
        }
    }

    /// One entry by its id.
    pub(super) fn find(&self, id: &MemoryId) -> Option<Held> {
        let name = names::Name::parse(id)?;
        let part = Part { subtopic: Some(&name.subtopic), year: Some(name.date.year()) };
        self.entries(&name.topic, part).into_iter().find(|held| held.id == *id)
    }
}

/// The subtopic an archived entry belongs to. One that no file could have is treated as unknown.
pub(super) fn subtopic_of(tag: &Tag) -> String {
    let name = tag.subtopic.as_deref().filter(|name| names::is_readable(name) && !name.contains(['/', '#']));
    name.unwrap_or(UNSORTED).to_owned()
}

fn held(
    topic: &str,
    subtopic: &str,
    slug: String,
    lesson: Lesson,
    plain: String,
    path: &Path,
    at: usize,
) -> Held {
    Held {
        id: names::id(topic, subtopic, lesson.date, &slug),
        topic: topic.to_owned(),
        subtopic: subtopic.to_owned(),
        slug,
        lesson,
        hash: hash::sha256(plain.as_bytes()),
        plain,
        status: Status::Active,
        retired: None,
        path: path.to_owned(),
        at,
    }
}

/// Reads a page; `None` if there is no file.
pub(super) fn read_page(path: &Path, limit: u64) -> std::result::Result<Option<Page>, Fault> {
    Ok(files::read_text(path, budget::limit(limit, PAGE))?.map(Page::read))
}

/// Folders in a folder, links not followed, hidden ones left out.
fn folders(folder: &Path) -> Vec<String> {
    names_in(folder, |kind| kind.is_dir())
}

/// Names of the Markdown files in a folder.
fn pages(folder: &Path) -> Vec<String> {
    let files = names_in(folder, |kind| kind.is_file());
    files
        .iter()
        .filter_map(|name| name.strip_suffix(".md"))
        .filter(|n| !n.is_empty())
        .map(str::to_owned)
        .collect()
}

fn names_in(folder: &Path, wanted: impl Fn(std::fs::FileType) -> bool) -> Vec<String> {
    // A linked folder is somebody else's; what lies in it is not part of this memory.
    let real = std::fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_dir());
    let entries = if real { std::fs::read_dir(folder).ok() } else { None };
    let mut names: Vec<String> = entries
        .into_iter()
        .flatten()
        .flatten()
        .take_while(|_| budget::goes_on_or_leaves(Left::Files))
        .filter(|entry| entry.file_type().is_ok_and(&wanted))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| names::is_readable(name))
        .collect();
    names.sort();
    names
}

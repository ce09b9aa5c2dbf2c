//! Topic files in and out, and lessons that waited for a person.
//!
//! Comes in: the text of a topic file or archive by whatever hand, or a draft from the inbox. Goes out: this shelf's files as they
//! are, or, for every entry that came in, what became of it. Each goes through the gate alone; one that is here already, live or in
//! the archive, is left as it is. Never here: text that is no entry, which is counted and left out.

use super::lesson::Lesson;
use super::page::Page;
use super::stock::{self, MAX_ARCHIVE, Part};
use super::sync::memory_files;
use super::{Topics, archive, marks, names};
use crate::files;
use crate::gate::Entry;
use crate::shelf::notes::Native;
use crate::shelf::{Done, Shelf as _};
use heirloom_core::{Code, Fault, MemoryId, Status, fault::Result};
use serde_json::{Value, json};
use std::path::Path;

/// A topic file on its way in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicFile {
    /// Its topic.
    pub topic: String,
    /// Its subtopic; `None` for an archive, whose entries say theirs.
    pub subtopic: Option<String>,
    /// What is in it.
    pub text: String,
}

/// What became of a topic file's entries.
#[derive(Debug, Default)]
pub struct Taken {
    /// Stored.
    pub stored: Vec<Done>,
    /// Here already.
    pub known: usize,
    /// Taken out of use where they come from, and left there.
    pub retired: usize,
    /// Lines that belong to no entry.
    pub foreign_lines: usize,
    /// Title of the entry, and why it is not here.
    pub refused: Vec<(String, Fault)>,
}

impl TopicFile {
    /// A topic file by where it lies: `<topic>/<subtopic>.md` or `archive/<topic>/<year>.md`. One that lies in no folder has its own
    /// name as its topic.
    pub fn at(path: &Path, text: String) -> TopicFile {
        let part = |path: &Path| path.file_name().map(|n| n.to_string_lossy().into_owned());
        let stem = path.file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let topic = path.parent().and_then(part);
        let above = path.parent().and_then(Path::parent).and_then(part);
        let year = stem.len() == 4 && stem.bytes().all(|b| b.is_ascii_digit());
        match topic {
            Some(topic) if year && above.as_deref() == Some(names::ARCHIVE) => {
                TopicFile { topic, subtopic: None, text }
            }
            Some(topic) => TopicFile { topic, subtopic: Some(stem), text },
            None => TopicFile { topic: stem, subtopic: Some("general".to_owned()), text },
        }
    }

    /// Whether a text has entries at all.
    pub fn is_one(text: &str) -> bool {
        text.lines().any(|line| marks::dated(line).is_some())
    }
}

impl Topics<'_> {
    /// Every file of the shelf, byte for byte, named from its base.
    pub fn export(&self) -> Result<Vec<Native>> {
        let stock = self.stock();
        let mut out = Vec::new();
        for path in memory_files(&stock) {
            let Ok(inner) = path.strip_prefix(stock.base()) else { continue };
            out.push(Native {
                name: inner.to_string_lossy().into_owned(),
                bytes: files::read(&path, MAX_ARCHIVE)?,
            });
        }
        Ok(out)
    }

    /// Takes the entries of a topic file in, oldest first.
    pub fn import(&self, file: &TopicFile, entry: Entry) -> Result<Taken> {
        let page = Page::read(file.text.clone());
        let foreign = page.foreign();
        let own_title = |line: &&str| line.starts_with("# ");
        let mut taken = Taken {
            foreign_lines: foreign.lines().filter(|l| !l.trim().is_empty() && !own_title(l)).count(),
            ..Taken::default()
        };
        let forgotten = self.forgotten()?;
        for at in page.oldest_first() {
            let (tag, plain) = archive::untagged(&page.plain(at));
            let heading = &page.spots()[at].heading;
            let lesson = as_taken(Lesson::read(heading, &plain));
            let subtopic = file.subtopic.clone().unwrap_or_else(|| stock::subtopic_of(&tag));
            if tag.retired.is_some() {
                taken.retired += 1;
                continue;
            }
            if self.knows(&file.topic, &subtopic, &lesson) {
                taken.known += 1;
                continue;
            }
            let slug = heading.anchor.clone().unwrap_or_else(|| names::slug_of(&heading.title));
            let title = lesson.title.clone();
            let id = names::id(&file.topic, &subtopic, heading.date, &slug);
            let outcome = if forgotten.contains(id.as_str()) {
                Err(Fault::new(
                    Code::AntiResurrection,
                    format!("`{id}` was forgotten and is not stored again"),
                )
                .hint("a lesson that should be kept after all can be added again"))
            } else {
                self.store(&file.topic, &subtopic, lesson, entry)
            };
            match outcome {
                Ok(done) => {
                    if file.subtopic.is_none() {
                        self.keep_archived(&done.id, entry)?;
                    }
                    taken.stored.push(done);
                }
                Err(fault) if matches!(fault.code, Code::Io | Code::LockBusy) => return Err(fault),
                Err(fault) => taken.refused.push((title, fault)),
            }
        }
        Ok(taken)
    }

    /// What came from an archive goes to the archive, unless the prune has put it there already.
    fn keep_archived(&self, id: &MemoryId, entry: Entry) -> Result<()> {
        match self.get(id)? {
            Some(memory) if memory.status == Status::Active => self.archive(id, "", entry).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// Whether a lesson is here, in whatever status.
    fn knows(&self, topic: &str, subtopic: &str, lesson: &Lesson) -> bool {
        let names = [topic.to_owned(), names::topic(topic).unwrap_or_default()];
        let inner = [subtopic.to_owned(), names::subtopic(subtopic).unwrap_or_default()];
        let year = Some(lesson.date.year());
        names.iter().any(|topic| {
            inner.iter().any(|subtopic| {
                let held = self.stock().entries(topic, Part { subtopic: Some(subtopic), year });
                held.into_iter().any(|held| as_taken(held.lesson) == *lesson)
            })
        })
    }

    /// A lesson that waits, as it would be stored: its place and every field, and nothing else a draft may hold.
    pub fn proposed(&self, draft: &Value) -> Result<Value> {
        let (topic, subtopic, lesson) = asked(draft)?;
        let (stock, lesson) = (self.stock(), lesson.tidied());
        // As [`Topics::store`] names them.
        let topic = if stock.topics().contains(&topic) { topic } else { names::topic(&topic)? };
        let there = stock.subtopics(&topic).contains(&subtopic);
        let subtopic = if there { subtopic } else { names::subtopic(&subtopic)? };
        let mut fields = json!({ "topic": topic, "subtopic": subtopic, "date": lesson.date.to_string() });
        for (name, text) in lesson.texts() {
            fields[name] = json!(text);
        }
        Ok(fields)
    }

    /// Stores a lesson that waited in the inbox, now that a person said yes.
    pub fn store_draft(&self, draft: &Value, entry: Entry) -> Result<Done> {
        let (topic, subtopic, lesson) = asked(draft)?;
        self.store(&topic, &subtopic, lesson, entry)
    }
}

/// Topic, subtopic and lesson of a waiting draft.
fn asked(draft: &Value) -> Result<(String, String, Lesson)> {
    let text = |name: &str| draft.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let date = marks::date(&text("date"))
        .ok_or_else(|| Fault::new(Code::Damaged, "the waiting lesson has no date"))?;
    let lesson = Lesson {
        context: text("context"),
        problem: text("problem"),
        solution: text("solution"),
        code: text("code"),
        lead: text("text"),
        ..Lesson::new(date, &text("title"))
    };
    Ok((text("topic"), text("subtopic"), lesson))
}

/// A lesson as it is taken in: one that only says something, without labels, says how it was solved.
fn as_taken(lesson: Lesson) -> Lesson {
    let mut lesson = lesson.tidied();
    if lesson.problem.is_empty() && lesson.solution.is_empty() {
        lesson.solution = std::mem::take(&mut lesson.lead);
    }
    lesson
}

//! Files that belong together: all of them written beside their places first, then put in place one after the other.
//!
//! Comes in: contents and removals, in the order they are to happen; whoever reads through the batch sees them already. Goes out: everything on
//! disk under temporary names, so that a full disk is noticed before anything changed; then everything in place. Never here: a rename before
//! all of them could be written.

use super::atomic::{self, Mode, Prepared};
use super::{read, step};
use heirloom_core::{Code, Fault, fault::Result};
use std::path::{Path, PathBuf};

/// What is to become of some files.
#[derive(Debug, Default)]
pub struct Batch {
    files: Vec<(PathBuf, Option<String>, &'static str)>,
}

impl Batch {
    /// The file will hold this. `step` is what tests know the moment by at which it is in place.
    pub fn write(&mut self, path: &Path, text: String, step: &'static str) {
        self.put(path, Some(text), step);
    }

    /// The file will be gone.
    pub fn remove(&mut self, path: &Path, step: &'static str) {
        self.put(path, None, step);
    }

    fn put(&mut self, path: &Path, text: Option<String>, step: &'static str) {
        match self.files.iter_mut().find(|(known, ..)| known == path) {
            Some(known) => known.1 = text,
            None => self.files.push((path.to_owned(), text, step)),
        }
    }

    /// A file as it will be; `None` if there will be none.
    pub fn read_text(&self, path: &Path, limit: u64) -> Result<Option<String>> {
        match self.files.iter().find(|(known, ..)| known == path) {
            Some((_, Some(text), _)) if text.len() as u64 > limit => {
                Err(Fault::new(Code::Damaged, format!("`{}` is larger than {limit} bytes", path.display()))
                    .fact("path", path.display().to_string()))
            }
            Some((_, text, _)) => Ok(text.clone()),
            None => read::read_text(path, limit),
        }
    }

    /// Whether nothing is to be done.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Writes everything beside its place and waits until it is on disk.
    pub fn prepare(self) -> Result<Ready> {
        let mut steps = Vec::with_capacity(self.files.len());
        for (path, text, step) in self.files {
            let todo = match text {
                Some(text) => {
                    if let Some(folder) = path.parent() {
                        atomic::make_folder(folder, Mode::Shared)?;
                    }
                    Todo::Place(Prepared::new(&path, text.as_bytes(), Mode::Shared)?)
                }
                None => Todo::Remove(path),
            };
            steps.push((todo, step));
        }
        Ok(Ready { steps })
    }

    /// Does everything at once: for what needs no word in between.
    pub fn commit(self) -> Result<()> {
        self.prepare()?.place()
    }
}

#[derive(Debug)]
enum Todo {
    Place(Prepared),
    Remove(PathBuf),
}

/// Files that only have to take their places.
#[derive(Debug)]
#[must_use = "nothing changes until they are placed"]
pub struct Ready {
    steps: Vec<(Todo, &'static str)>,
}

impl Ready {
    /// Puts everything in place, in order, each durable before the next.
    pub fn place(self) -> Result<()> {
        for (todo, name) in self.steps {
            match todo {
                Todo::Place(file) => file.commit()?,
                Todo::Remove(path) => atomic::remove(&path)?,
            }
            step::reached(name);
        }
        Ok(())
    }
}

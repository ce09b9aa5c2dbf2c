//! Finding notes: listing, keyword search, what a session should see.
//!
//! Comes in: a filter, a query, the files and the area somebody works on. Goes out: memories, newest first. Never here: ranking
//! across shelves, which is recall's.

use super::Notes;
use super::read::Stored;
use heirloom_core::{Memory, Scope, Status, fault::Result};
use std::path::Path;

/// Which notes are listed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// Only this scope, as it is written.
    pub scope: Option<String>,
    /// Only with this keyword, exactly.
    pub keyword: Option<String>,
    /// How many of the newest are left out.
    pub offset: usize,
    /// At most so many.
    pub limit: Option<usize>,
}

/// What somebody works on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Session {
    /// Files, from the project folder or absolute.
    pub files: Vec<String>,
    /// A part of the project.
    pub area: Option<String>,
}

impl Notes<'_> {
    /// Notes in use, newest first.
    pub fn list_by(&self, filter: &Filter) -> Result<Vec<Memory>> {
        let wanted = |stored: &Stored| {
            filter.scope.as_ref().is_none_or(|scope| stored.note.applies_to.to_string() == *scope)
                && filter.keyword.as_ref().is_none_or(|word| stored.note.keywords.contains(word))
        };
        let all = self.all(Some(Status::Active))?.into_iter().filter(wanted);
        self.memories(all.skip(filter.offset).take(filter.limit.unwrap_or(usize::MAX)))
    }

    /// Notes in use one of whose keywords holds a word of the query or is a letter away from it, newest first.
    pub fn search(&self, query: &str, limit: usize) -> Result<Vec<Memory>> {
        self.search_among(query, limit, Some(Status::Active))
    }

    /// The same among all notes, retired ones included.
    pub fn search_all(&self, query: &str, limit: usize) -> Result<Vec<Memory>> {
        self.search_among(query, limit, None)
    }

    fn search_among(&self, query: &str, limit: usize, status: Option<Status>) -> Result<Vec<Memory>> {
        let query = query.to_lowercase();
        let words: Vec<&str> = query.split_whitespace().collect();
        let fits = |stored: &Stored| {
            stored.note.keywords.iter().any(|keyword| {
                let keyword = keyword.to_lowercase();
                words.iter().any(|word| keyword.contains(word) || is_near(&keyword, word))
            })
        };
        self.memories(self.all(status)?.into_iter().filter(fits).take(limit))
    }

    /// What a session should see: notes on its files, on its area, on the whole project, then the rest.
    pub fn for_session(&self, session: &Session, limit: usize) -> Result<Vec<Memory>> {
        self.memories(self.grouped(session)?.into_iter().take(limit).map(|(_, stored)| stored))
    }

    /// The same, all of them, each with how near it is: 0 on a file, 1 on the area, 2 on the project, 3 on something else.
    pub fn in_play(&self, session: &Session) -> Result<Vec<(u8, Memory)>> {
        self.grouped(session)?.into_iter().map(|(group, stored)| Ok((group, self.memory(stored)?))).collect()
    }

    fn grouped(&self, session: &Session) -> Result<Vec<(u8, Stored)>> {
        let folder = self.call.project().folder();
        let files: Vec<String> = session.files.iter().map(|file| plain_path(file, folder)).collect();
        let group = |stored: &Stored| match &stored.note.applies_to {
            Scope::File(file) if files.contains(&plain_path(file, folder)) => 0,
            Scope::Area(area) if session.area.as_ref() == Some(area) => 1,
            Scope::Global => 2,
            _ => 3,
        };
        let mut all: Vec<(u8, Stored)> =
            self.all(Some(Status::Active))?.into_iter().map(|stored| (group(&stored), stored)).collect();
        // A stable sort keeps each group newest first.
        all.sort_by_key(|(group, _)| *group);
        Ok(all)
    }
}

/// A file's path from the project folder, however it was written.
fn plain_path(file: &str, folder: &Path) -> String {
    let slashed = file.replace('\\', "/");
    let inner =
        Path::new(&slashed).strip_prefix(folder).map_or(slashed.as_str(), |p| p.to_str().unwrap_or(&slashed));
    let mut parts: Vec<&str> = Vec::new();
    for part in inner.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if inner.starts_with('/') { format!("/{joined}") } else { joined }
}

/// Whether two words are the same but for one letter added, missing or other.
fn is_near(a: &str, b: &str) -> bool {
    let same = a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count();
    let rest = |text: &str, skip: usize| text.chars().skip(skip).collect::<String>();
    let (a_rest, b_rest) = (rest(a, same), rest(b, same));
    let tail = |text: &str| rest(text, 1);
    a_rest == b_rest || tail(&a_rest) == tail(&b_rest) || tail(&a_rest) == b_rest || a_rest == tail(&b_rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_one_letter_apart_are_near() {
        for (a, b) in [
            ("queue", "queu"),
            ("queue", "qeue"),
            ("queue", "quebe"),
            ("queue", "xqueue"),
            ("größe", "grosse"),
        ] {
            assert_eq!(is_near(a, b), a != "größe", "{a} {b}");
            assert_eq!(is_near(a, b), is_near(b, a));
        }
        assert!(is_near("größe", "große") && !is_near("abcd", "badc") && is_near("", "x"));
    }

    #[test]
    fn a_path_is_the_same_however_it_is_written() {
        let folder = Path::new("/home/me/project");
        for path in ["src/a.ts", "./src/a.ts", "/home/me/project/src/a.ts", "src\\a.ts", "src/x/../a.ts"] {
            assert_eq!(plain_path(path, folder), "src/a.ts");
        }
        assert_eq!(plain_path("/etc/a.ts", folder), "/etc/a.ts");
        assert_eq!(plain_path("../a.ts", folder), "../a.ts");
    }
}

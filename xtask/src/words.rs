//! Words that have no business in the repository: places on somebody's machine, hosts of package mirrors, marks of unfinished work; and in what people read, turns of
//! phrase that are not plain English.
//!
//! Comes in: every text file git knows. Goes out: file, line and word. The words are put together here so that this file does not find itself.

use crate::{Outcome, workspace};

/// A word and what to do about it.
struct Word {
    word: &'static str,
    instead: &'static str,
}

const WORDS: &[Word] = &[
    Word { word: concat!("/wo", "rk/"), instead: "a path from the repository" },
    Word { word: concat!("/ro", "ot/"), instead: "a path from the repository, or ~" },
    Word { word: concat!("../sha", "red"), instead: "a file of this repository" },
    Word { word: concat!("artifac", "tory"), instead: "the package's name alone" },
    Word { word: concat!("index.cra", "tes.io"), instead: "the package's name alone" },
    Word { word: concat!("registry.np", "mjs.org"), instead: "the package's name alone" },
    Word { word: concat!("pypi", ".org"), instead: "the package's name alone" },
    Word { word: concat!("seed ", "00"), instead: "the shelf's name" },
    Word { word: concat!("TO", "DO"), instead: "the work itself" },
    Word { word: concat!("FIX", "ME"), instead: "the work itself" },
];

/// Texts written by machines, and texts that are there to be found or read by tests.
const PASSED_OVER: &[&str] = &["Cargo.lock", "fixtures/", "fuzz/corpus/", "crates/engine/src/gate/rules/"];

/// Phrases that nobody says, in what the program prints and in the book, and what to write instead.
const PHRASES: &[Word] = &[
    Word { word: "anew", instead: "`again` or `rebuilt`" },
    Word { word: "is no folder", instead: "`is not a folder`" },
    Word { word: "is no file", instead: "`is not a file`" },
    Word { word: "is no text", instead: "`is not a text`" },
    Word { word: "is no JSON", instead: "`is not JSON`" },
    Word { word: "is no list", instead: "`is not a list`" },
    Word { word: "that is no ", instead: "`that is not a`" },
    Word { word: "there is none", instead: "what is missing" },
    Word { word: "is not there", instead: "`does not exist`" },
    Word { word: "at most so many", instead: "`at most N`" },
    Word { word: "unless said", instead: "`by default`" },
    Word { word: "whoever ", instead: "who it is" },
    Word { word: "Whoever ", instead: "who it is" },
    Word { word: "whatever ", instead: "what it is" },
    Word { word: " is told ", instead: "`gets`" },
    Word { word: "1 memories", instead: "`1 memory`" },
];

/// What people read: the snapshots of the program's output, its help, the reference and the book.
const SPOKEN: &[&str] = &["README.md", "fixtures/snapshots/", "crates/cli/src/commands/help/", "docs/"];
/// Pages about figures, code and attacks, which quote.
const QUOTING: &[&str] =
    &["docs/benchmarks.md", "docs/dependencies.md", "docs/deviations.md", "docs/security/", "docs/teams.md"];

/// Whether the phrases of a file are looked at.
fn is_spoken(path: &str) -> bool {
    let below = |places: &[&str]| places.iter().any(|place| path.starts_with(place));
    below(SPOKEN) && !below(QUOTING)
}

pub(crate) fn run() -> Outcome {
    let mut wrong = Vec::new();
    for path in workspace::tracked()? {
        let lists =
            [(WORDS, !PASSED_OVER.iter().any(|over| path.starts_with(over))), (PHRASES, is_spoken(&path))];
        if lists.iter().all(|(_, wanted)| !wanted) {
            continue;
        }
        // What is not UTF-8 is not a text of ours.
        let Ok(text) = std::fs::read_to_string(workspace::root().join(&path)) else { continue };
        for (words, _) in lists.into_iter().filter(|(_, wanted)| *wanted) {
            wrong.extend(found(&text, words).map(|(line, word)| {
                format!("{path}:{line}: `{}`; write {} instead", word.word, word.instead)
            }));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("words:\n  {}", wrong.join("\n  "))) }
}

fn found(text: &str, words: &'static [Word]) -> impl Iterator<Item = (usize, &'static Word)> {
    text.lines().enumerate().flat_map(|(at, line)| {
        words.iter().filter(move |word| line.contains(word.word)).map(move |w| (at + 1, w))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_path_is_found_with_its_line() {
        let text = format!("first\nsee {}here\n", concat!("/ro", "ot/"));
        assert_eq!(found(&text, WORDS).map(|(line, _)| line).collect::<Vec<_>>(), [2]);
        assert_eq!(found("a framework of roots", WORDS).count(), 0);
    }

    #[test]
    fn phrases_are_looked_for_in_what_people_read_alone() {
        assert!(is_spoken("docs/recall.md") && is_spoken("fixtures/snapshots/01-help.txt"));
        assert!(!is_spoken("crates/engine/src/lib.rs") && !is_spoken("docs/security/gate.md"));
        assert_eq!(found("the path is no folder", PHRASES).count(), 1);
        assert_eq!(found("the path is not a folder", PHRASES).count(), 0);
    }
}

//! Words that have no business in the repository: places on somebody's machine, hosts of package mirrors, marks of unfinished work.
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

pub(crate) fn run() -> Outcome {
    let mut wrong = Vec::new();
    for path in workspace::tracked()? {
        if PASSED_OVER.iter().any(|over| path.starts_with(over)) {
            continue;
        }
        // What is no UTF-8 is no text of ours.
        let Ok(text) = std::fs::read_to_string(workspace::root().join(&path)) else { continue };
        wrong.extend(
            found(&text).map(|(line, word)| {
                format!("{path}:{line}: `{}`; write {} instead", word.word, word.instead)
            }),
        );
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("words:\n  {}", wrong.join("\n  "))) }
}

fn found(text: &str) -> impl Iterator<Item = (usize, &'static Word)> {
    text.lines().enumerate().flat_map(|(at, line)| {
        WORDS.iter().filter(move |word| line.contains(word.word)).map(move |w| (at + 1, w))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_path_is_found_with_its_line() {
        let text = format!("first\nsee {}here\n", concat!("/ro", "ot/"));
        assert_eq!(found(&text).map(|(line, _)| line).collect::<Vec<_>>(), [2]);
        assert_eq!(found("a framework of roots").count(), 0);
    }
}

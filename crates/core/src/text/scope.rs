//! Which part of a project a message is about, by what it says.
//!
//! Comes in: a message. Goes out: a file it names (`in src/a.ts`), an area (`for the billing module`, `the storage layer`), or
//! the whole project. One pass over the words each; the first that fits counts.

use super::KEYWORD_STOP_WORDS;
use crate::Scope;

/// Words before a file's name.
const BEFORE_FILE: [&str; 3] = ["in", "file", "at"];
/// Words before `the <area> module`.
const BEFORE_AREA: [&str; 2] = ["in", "for"];
/// What an area is called, if `in the` or `for the` stands before it.
const AREAS: [&str; 5] = ["component", "module", "service", "area", "section"];
/// What an area is called anywhere.
const PLACES: [&str; 3] = ["system", "subsystem", "layer"];

/// The scope a message speaks of.
pub fn scope_of(text: &str) -> Scope {
    let words: Vec<&str> = text.split_whitespace().collect();
    file(&words).or_else(|| area(&words)).unwrap_or(Scope::Global)
}

/// Most files that are looked for in a text.
const FILES_MAX: usize = 64;

/// Every file a text names, with a path or a short extension; each once.
pub fn files_named(text: &str) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for word in text.split_whitespace().map(|word| word.trim_start_matches('@')) {
        for file in path_in(word).into_iter().chain(slashed(word)).filter(|file| !file.contains('*')) {
            if files.len() < FILES_MAX && !files.iter().any(|known| known == file) {
                files.push(file.to_owned());
            }
        }
    }
    files
}

/// A word with a slash in it, without what stands around it: a folder, or a file without an ending such as `src/Makefile`.
fn slashed(word: &str) -> Option<&str> {
    let around = ['`', '"', '\'', '(', ')', '[', ']', '<', '>', ',', ';', ':', '.', '?', '!', '@'];
    let path = word.trim_start_matches(&around[..9]).trim_end_matches(around);
    let inside = |part: &str| part.chars().any(char::is_alphanumeric);
    let fits = !path.contains("://") && path.split_once('/').is_some_and(|(a, b)| inside(a) || inside(b));
    fits.then_some(path)
}

fn file(words: &[&str]) -> Option<Scope> {
    let named = words
        .windows(2)
        .filter(|pair| ends_with_word(pair[0], &BEFORE_FILE))
        .find_map(|pair| path_in(pair[1]))?;
    // A pattern means many files, and no single one.
    (!named.contains('*')).then(|| Scope::File(named.to_owned()))
}

/// The path at the start of a word: up to the last full stop that a short extension follows, without quotes and brackets.
fn path_in(word: &str) -> Option<&str> {
    let quotes = ['`', '"', '\'', '(', '[', '<'];
    let run = word.trim_start_matches(quotes).split(['`', '"', '\'']).next().unwrap_or_default();
    if run.contains("://") {
        return None;
    }
    run.match_indices('.').rev().find_map(|(at, _)| {
        let letters = run[at + 1..].bytes().take(4).take_while(u8::is_ascii_alphabetic).count();
        (at > 0 && letters > 0).then(|| &run[..at + 1 + letters])
    })
}

fn area(words: &[&str]) -> Option<Scope> {
    let in_the = words.windows(4).find_map(|four| {
        let fits = ends_with_word(four[0], &BEFORE_AREA)
            && four[1].eq_ignore_ascii_case("the")
            && begins_with(four[3], &AREAS);
        fits.then(|| name(four[2])).flatten()
    });
    let anywhere = || {
        words.windows(2).filter(|pair| begins_with(pair[1], &PLACES)).find_map(|pair| {
            let last = pair[0].rsplit(|c: char| !is_name_part(c)).next().unwrap_or_default();
            name(last).filter(|name| KEYWORD_STOP_WORDS.binary_search(&name.as_str()).is_err())
        })
    };
    in_the.or_else(anywhere).map(Scope::Area)
}

fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn name(word: &str) -> Option<String> {
    (!word.is_empty() && word.chars().all(is_name_part)).then(|| word.to_lowercase())
}

/// Whether the last word in a run without blanks is one of these: `(in` and `works:at` count, `within` does not.
fn ends_with_word(run: &str, words: &[&str]) -> bool {
    let last = run.rsplit(|c: char| !is_name_part(c)).next().unwrap_or_default();
    words.iter().any(|word| last.eq_ignore_ascii_case(word))
}

fn begins_with(run: &str, words: &[&str]) -> bool {
    words.iter().any(|word| run.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_file_is_the_scope() {
        for (text, scope) in [
            ("Fixed it in src/api/auth.ts.\nDone", "file:src/api/auth.ts"),
            ("Look at `lib/x.rs`, it is fine", "file:lib/x.rs"),
            ("the file \"a b.md\" and file notes.md", "file:notes.md"),
            ("(see it in (src/a.ts))", "file:src/a.ts"),
            ("in src/*.ts and in src/a.ts", "global"),
            ("within src/a.ts", "global"),
            ("at https://example.org/x.html", "global"),
            ("in v1.2.3 we changed that", "global"),
            ("in .env", "global"),
        ] {
            assert_eq!(scope_of(text).to_string(), scope, "{text}");
        }
    }

    #[test]
    fn every_file_a_text_names_is_found_once() {
        let text = "Why does `src/a.rs` call lib/b.ts, and src/a.rs not? See https://x.org/c.md or *.md";
        assert_eq!(files_named(text), ["src/a.rs", "lib/b.ts"]);
        // Without an ending, with a mark in front as some hosts write it, inside brackets.
        let text = "look at @src/queue.rs: (build/Makefile), `crates/engine/` and 1 / 2";
        assert_eq!(files_named(text), ["src/queue.rs", "build/Makefile", "crates/engine/"]);
    }

    #[test]
    fn a_named_area_is_the_scope_if_no_file_is_named() {
        for (text, scope) in [
            ("The storage layer caches pages\nDone", "area:storage"),
            ("We changed that for the Billing module", "area:billing"),
            ("in the auth service, at src/a.ts", "file:src/a.ts"),
            ("The system is down", "global"),
            ("Restart the cache subsystem", "area:cache"),
            ("Nothing of the sort", "global"),
        ] {
            assert_eq!(scope_of(text).to_string(), scope, "{text}");
        }
    }
}

//! Whether a conversation was made smaller, read off its transcript.
//!
//! Comes in: a transcript of a host that does not say when it compacts: it asks before every request to its model. Goes out: whether its latest
//! answers had much less in front of them than the ones before, which only a compaction does. Never here: a guess without two answers to
//! compare; anything but the end of the file.

use heirloom_core::json;
use serde_json::Value;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

/// How much of a transcript's end is looked at.
const TAIL: u64 = 256 << 10;

/// Whether the model of this conversation has lost the beginning of it since the last prompt.
pub(super) fn since_last_prompt(transcript: &Path) -> bool {
    let Some(tail) = tail(transcript) else { return false };
    // Latest first: what each answer had in front of it, until the second prompt from the end.
    let mut sizes: Vec<u64> = Vec::new();
    let mut answered = false;
    for line in tail.split(|byte| *byte == b'\n').rev() {
        let Ok(line) = json::parse(line) else { continue };
        match line.get("type").and_then(Value::as_str) {
            Some("gemini") => {
                sizes.extend(line.pointer("/tokens/input").and_then(Value::as_u64));
                if answered {
                    break;
                }
            }
            // The prompt that is being asked may stand in the file already; only one behind an answer is the last.
            Some("user") => answered |= !sizes.is_empty(),
            _ => {}
        }
    }
    // A quarter less is no rounding, and no host compacts for so little.
    sizes.windows(2).any(|pair| pair[0] * 4 < pair[1] * 3)
}

/// The whole lines at the end of a file.
fn tail(path: &Path) -> Option<Vec<u8>> {
    let meta = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let mut file = std::fs::File::open(path).ok()?;
    file.seek(SeekFrom::Start(meta.len().saturating_sub(TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shrunk(lines: &[(&str, u64)]) -> bool {
        let file = tempfile::NamedTempFile::new().unwrap();
        let line = |(kind, input): &(&str, u64)| match *kind {
            "user" => "{\"type\":\"user\",\"content\":[{\"text\":\"x\"}]}".to_owned(),
            _ => format!("{{\"type\":\"gemini\",\"content\":\"x\",\"tokens\":{{\"input\":{input}}}}}"),
        };
        let text: Vec<String> = lines.iter().map(line).collect();
        std::fs::write(file.path(), format!("{{\"$set\":{{}}}}\n{}\n", text.join("\n"))).unwrap();
        since_last_prompt(file.path())
    }

    #[test]
    fn much_less_in_front_of_an_answer_is_a_compaction() {
        assert!(shrunk(&[("user", 0), ("gemini", 500_000), ("user", 0), ("gemini", 90_000)]));
        assert!(shrunk(&[
            ("user", 0),
            ("gemini", 500_000),
            ("gemini", 90_000),
            ("gemini", 95_000),
            ("user", 0)
        ]));
    }

    #[test]
    fn a_conversation_that_grows_or_has_one_answer_was_not_compacted() {
        assert!(!shrunk(&[("user", 0), ("gemini", 100), ("user", 0), ("gemini", 200), ("user", 0)]));
        assert!(!shrunk(&[("user", 0), ("gemini", 100), ("user", 0)]));
        assert!(!shrunk(&[("user", 0), ("gemini", 100), ("user", 0), ("gemini", 95), ("user", 0)]));
        assert!(!shrunk(&[]));
    }

    #[test]
    fn one_that_happened_before_the_last_prompt_counts_no_more() {
        let before = [
            ("user", 0),
            ("gemini", 500_000),
            ("gemini", 90_000),
            ("user", 0),
            ("gemini", 95_000),
            ("user", 0),
        ];
        assert!(!shrunk(&before));
    }

    #[test]
    fn what_is_no_file_says_nothing() {
        assert!(!since_last_prompt(Path::new("/")));
        assert!(!since_last_prompt(Path::new("/nowhere/at/all")));
    }
}

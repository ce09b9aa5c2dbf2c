//! Merging for git: which rule joins two versions of a memory file.
//!
//! Comes in: the file's path in the repository and its three versions. Goes out: one version, and the fields that still need a choice. Vaults and provenance files need no rule of
//! ours: their lines merge by union. Never here: reading or writing.

use super::records;
pub use super::records::Joined;
use super::topics;
use heirloom_core::{Code, Fault, fault::Result};

/// The folder of topic files in a memory folder.
const TOPICS: &str = "topics";

/// Joins two versions of a file; without its path it is the index of the records.
pub fn merge(path: Option<&str>, base: &[u8], ours: &[u8], theirs: &[u8]) -> Result<Joined> {
    let sides = [base, ours, theirs];
    if path.is_some_and(|path| path.ends_with(".json")) {
        return Ok(records::merge_record(base, ours, theirs));
    }
    if let Some(path) = path.filter(|path| is_topic_file(path, sides)) {
        return Ok(Joined::whole(topics::merge_file(path, base, ours, theirs)));
    }
    let text = |bytes| {
        std::str::from_utf8(bytes).map_err(|_| {
            Fault::new(Code::Merge, "one version of the index is not UTF-8 text")
                .hint("choose a version, then run `heirloom verify --fix`")
        })
    };
    Ok(Joined::whole(records::merge_index(text(base)?, text(ours)?, text(theirs)?).into_bytes()))
}

/// Whether a path names a topic file, an archive or the index of the topics. A memory folder may itself be called like that: an index
/// with lines of records is theirs.
fn is_topic_file(path: &str, sides: [&[u8]; 3]) -> bool {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or_default();
    if name != "index.md" {
        return parts.any(|part| part == TOPICS);
    }
    let lists_records = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text.lines().any(|line| records::is_entry(line) && records::line_path(line).is_some())
    };
    match parts.next() {
        Some(TOPICS) => !sides.into_iter().any(lists_records),
        // A subtopic called `index` lies deeper.
        _ => parts.any(|part| part == TOPICS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDS: &[u8] = b"# Memory Index\n\n- [DECISION] A -> topics/decisions/a.json #tags:x\n";

    #[test]
    fn the_path_says_which_rule_counts() {
        let none: [&[u8]; 3] = [b"", b"", b""];
        for path in [
            "m/topics/git/rebase.md",
            "topics/archive/git/2026.md",
            "m/topics/index.md",
            "m/topics/git/index.md",
        ] {
            assert!(is_topic_file(path, none), "{path}");
        }
        for path in ["m/index.md", "index.md", ".claude/memory/index.md"] {
            assert!(!is_topic_file(path, none), "{path}");
        }
        assert!(!is_topic_file("topics/index.md", [b"", RECORDS, b""]), "a memory folder called topics");
    }

    #[test]
    fn both_sides_of_each_file_are_there_afterwards() {
        let entry = |day: &str| format!("# git: rebase\n\n## 2026-01-{day}: T{day}\n**Solution:** s\n---\n");
        let (ours, theirs) = (entry("10"), entry("11"));
        let path = Some("m/topics/git/rebase.md");
        let merged = merge(path, b"# git: rebase\n", ours.as_bytes(), theirs.as_bytes()).unwrap();
        let merged = String::from_utf8(merged.bytes).unwrap();
        assert!(merged.contains("T10") && merged.contains("T11"));
        let other = String::from_utf8_lossy(RECORDS).replace("A ->", "B ->").replace("a.json", "b.json");
        let index = merge(None, b"", RECORDS, other.as_bytes()).unwrap();
        assert_eq!(
            String::from_utf8(index.bytes).unwrap().lines().filter(|l| l.starts_with("- [")).count(),
            2
        );
        assert_eq!(merge(None, b"", b"\xff", b"").unwrap_err().code, Code::Merge);
    }
}

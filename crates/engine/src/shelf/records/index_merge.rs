//! Merging two versions of `index.md`, for git.
//!
//! Comes in: the common base and both sides. Goes out: one text in which every side's added, changed and removed lines count. The records
//! themselves are files of their own and merge as such; whatever this leaves out of step, `verify --fix` makes good.

use super::index_file::{is_entry, line_path, with_line, without_line};
use std::collections::BTreeMap;

fn entries(text: &str) -> BTreeMap<&str, &str> {
    text.lines().filter(|line| is_entry(line)).filter_map(|line| Some((line_path(line)?, line))).collect()
}

/// The merged index.
pub fn merge_index(base: &str, ours: &str, theirs: &str) -> String {
    let (old, mine, yours) = (entries(base), entries(ours), entries(theirs));
    let mut merged = ours.to_owned();
    for (path, line) in &yours {
        let changed_there = old.get(path) != Some(line);
        let gone_here = old.contains_key(path) && !mine.contains_key(path);
        // A line both sides changed keeps ours; the record's own conflict is git's to report.
        let changed_here = mine.get(path) != old.get(path);
        if changed_there && (!changed_here || gone_here) {
            merged = with_line(&merged, path, line);
        }
    }
    for path in old.keys().filter(|path| !yours.contains_key(**path)) {
        if mine.get(path) == old.get(path) {
            merged = without_line(&merged, path);
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_changed_and_removed_lines_of_both_sides_count() {
        let text = |lines: &[&str]| format!("# Memory Index\n\n{}\n", lines.join("\n"));
        let base = text(&["- [A] a -> a.json", "- [A] b -> b.json", "- [A] c -> c.json"]);
        let ours = text(&["- [A] a2 -> a.json", "- [A] c -> c.json", "- [A] d -> d.json"]);
        let theirs = text(&["- [A] a -> a.json", "- [A] b -> b.json", "- [A] e -> e.json"]);
        let merged = merge_index(&base, &ours, &theirs);
        let lines: Vec<&str> = merged.lines().filter(|l| is_entry(l)).collect();
        assert_eq!(lines, ["- [A] a2 -> a.json", "- [A] d -> d.json", "- [A] e -> e.json"]);
    }
}

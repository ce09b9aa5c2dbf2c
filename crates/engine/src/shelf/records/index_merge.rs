//! Merging two versions of `index.md`, for git.
//!
//! Comes in: the common base and both sides. Goes out: one text in which every side's added, changed and removed lines count. The records
//! themselves are files of their own and merge as such; whatever this leaves out of step, `verify --fix` makes good.

use super::index_file::{Parts, is_entry, line_path};
use std::collections::BTreeMap;

fn entries(text: &str) -> BTreeMap<&str, &str> {
    text.lines().filter(|line| is_entry(line)).filter_map(|line| Some((line_path(line)?, line))).collect()
}

/// The merged index: our text, with their lines where only they changed something.
pub fn merge_index(base: &str, ours: &str, theirs: &str) -> String {
    let (old, mut merged, yours) = (entries(base), entries(ours), entries(theirs));
    for (path, line) in &yours {
        let (before, mine) = (old.get(path), merged.get(path));
        // A line both sides changed keeps ours; the record's own conflict is git's to report. One that went here and changed there stays.
        let untouched_here = mine == before || (before.is_some() && mine.is_none());
        if before != Some(line) && untouched_here {
            merged.insert(path, line);
        }
    }
    for (path, line) in old.iter().filter(|(path, _)| !yours.contains_key(*path)) {
        if merged.get(path) == Some(line) {
            merged.remove(path);
        }
    }
    // A list of somebody's own in the file looks like entries without a path; it stays as it is here.
    let pathless = ours.lines().filter(|line| is_entry(line) && line_path(line).is_none());
    Parts::with_entries(ours, pathless.chain(merged.into_values()).collect()).join()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn index(names: &[String]) -> String {
        let lines: Vec<String> = names.iter().map(|n| format!("- [A] {n} -> {}.json", &n[..1])).collect();
        format!("# Memory Index\n\n{}\n", lines.join("\n"))
    }

    fn lines() -> impl Strategy<Value = Vec<String>> {
        // One letter is the path, the second the title's version.
        prop::collection::btree_map("[a-h]", "[0-2]", 0..8)
            .prop_map(|map| map.into_iter().map(|(path, version)| path + &version).collect())
    }

    proptest! {
        #[test]
        fn a_side_that_changed_nothing_has_no_say(base in lines(), changed in lines()) {
            let (base, changed) = (index(&base), index(&changed));
            let sorted = |text: &str| entries(text).into_values().map(str::to_owned).collect::<Vec<_>>();
            prop_assert_eq!(sorted(&merge_index(&base, &changed, &base)), sorted(&changed));
            prop_assert_eq!(sorted(&merge_index(&base, &base, &changed)), sorted(&changed));
            prop_assert_eq!(sorted(&merge_index(&base, &changed, &changed)), sorted(&changed));
        }

        #[test]
        fn one_path_never_has_two_lines(base in lines(), ours in lines(), theirs in lines()) {
            let merged = merge_index(&index(&base), &index(&ours), &index(&theirs));
            prop_assert_eq!(entries(&merged).len(), merged.lines().filter(|l| is_entry(l)).count());
        }
    }

    #[test]
    fn a_list_of_ones_own_in_the_index_survives_a_merge() {
        let ours = "# Memory Index\n\n- [ ] look at this\n- [A] a -> a.json\n";
        let merged = merge_index("", ours, "# Memory Index\n\n- [A] b -> b.json\n");
        assert!(merged.contains("- [ ] look at this\n") && merged.contains("b.json"));
    }

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

//! Two versions of a file as a unified diff.
//!
//! Comes in: the lines before and after. Goes out: hunks with three lines of context, as `patch` takes them. Never here: colours, or
//! more time than a settings file is worth: what takes too long to compare line by line is shown as replaced.

use similar::{Algorithm, TextDiff};
use std::time::Duration;

/// Lines of context around a change.
const CONTEXT: usize = 3;
/// How long lines are compared.
const PATIENCE: Duration = Duration::from_millis(500);

/// The hunks that lead from one text to the other; empty if they are the same.
pub(crate) fn unified(before: &str, after: &str) -> Vec<String> {
    let diff = TextDiff::configure().algorithm(Algorithm::Myers).timeout(PATIENCE).diff_lines(before, after);
    let mut out = Vec::new();
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        out.push(hunk.header().to_string());
        for change in hunk.iter_changes() {
            out.push(format!("{}{}", change.tag(), change.value().trim_end_matches(['\r', '\n'])));
            if change.missing_newline() {
                out.push("\\ No newline at end of file".to_owned());
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_has_no_hunks() {
        assert!(unified("a\nb\n", "a\nb\n").is_empty());
    }

    #[test]
    fn a_hunk_has_the_lines_around_it_and_says_where_it_is() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n";
        let after = "1\n2\n3\n4\nx\n5\n6\n8\n";
        let hunk = ["@@ -2,7 +2,7 @@", " 2", " 3", " 4", "+x", " 5", " 6", "-7", " 8"];
        assert_eq!(unified(before, after), hunk);
    }

    #[test]
    fn a_new_file_and_a_missing_last_line_break_are_said() {
        assert_eq!(unified("", "a\n"), ["@@ -0,0 +1 @@", "+a"]);
        assert_eq!(unified("a\n", ""), ["@@ -1 +0,0 @@", "-a"]);
        assert_eq!(unified("a", "a\n"), ["@@ -1 +1 @@", "-a", "\\ No newline at end of file", "+a"]);
    }

    #[test]
    fn changes_far_apart_are_hunks_of_their_own() {
        let text: Vec<String> = (0..30).map(|n| format!("{n}\n")).collect();
        let mut other = text.clone();
        other[2] = "x\n".to_owned();
        other[25] = "y\n".to_owned();
        let heads = unified(&text.concat(), &other.concat());
        assert_eq!(heads.iter().filter(|line| line.starts_with("@@")).count(), 2);
    }
}

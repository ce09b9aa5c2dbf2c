//! Two versions of a file as a unified diff.
//!
//! Comes in: the lines before and after. Goes out: hunks with three lines of context, as `patch` takes them. Never here: colours, or
//! more work than a settings file is worth; what is too large to compare line by line is shown as replaced.

/// Lines of context around a change.
const CONTEXT: usize = 3;
/// Most pairs of lines that are compared.
const PAIRS_MAX: usize = 4_000_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Same,
    Gone,
    New,
}

/// The hunks that lead from one text to the other; empty if they are the same.
pub(crate) fn unified(before: &str, after: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (lines(before), lines(after));
    let steps = steps(&old, &new);
    let changes: Vec<usize> = (0..steps.len()).filter(|at| steps[*at].0 != Side::Same).collect();
    let mut out = Vec::new();
    let mut next = 0;
    while next < changes.len() {
        let mut last = next;
        while last + 1 < changes.len() && changes[last + 1] - changes[last] <= 2 * CONTEXT {
            last += 1;
        }
        let from = changes[next].saturating_sub(CONTEXT);
        let to = (changes[last] + CONTEXT + 1).min(steps.len());
        out.push(header(&steps, from, to));
        for (side, line) in &steps[from..to] {
            let mark = match side {
                Side::Same => ' ',
                Side::Gone => '-',
                Side::New => '+',
            };
            let (text, end) = line.strip_suffix('\n').map_or((*line, false), |text| (text, true));
            out.push(format!("{mark}{}", text.trim_end_matches('\r')));
            if !end {
                out.push("\\ No newline at end of file".to_owned());
            }
        }
        next = last + 1;
    }
    out
}

/// Lines with their line breaks.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn header(steps: &[(Side, &str)], from: usize, to: usize) -> String {
    let count =
        |part: &[(Side, &str)], without: Side| part.iter().filter(|(side, _)| *side != without).count();
    let range = |without: Side| {
        let (before, size) = (count(&steps[..from], without), count(&steps[from..to], without));
        format!("{},{size}", if size == 0 { before } else { before + 1 })
    };
    format!("@@ -{} +{} @@", range(Side::New), range(Side::Gone))
}

/// Every line of both, in an order that keeps as many as possible.
fn steps<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(Side, &'a str)> {
    let front = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - front;
    let back = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let (a, b) = (&old[front..old.len() - back], &new[front..new.len() - back]);
    let mut out: Vec<(Side, &str)> = old[..front].iter().map(|line| (Side::Same, *line)).collect();
    if a.len().saturating_mul(b.len()) > PAIRS_MAX {
        out.extend(a.iter().map(|line| (Side::Gone, *line)));
        out.extend(b.iter().map(|line| (Side::New, *line)));
    } else {
        compare(a, b, &mut out);
    }
    out.extend(old[old.len() - back..].iter().map(|line| (Side::Same, *line)));
    out
}

/// The longest common subsequence, by the book.
fn compare<'a>(a: &[&'a str], b: &[&'a str], out: &mut Vec<(Side, &'a str)>) {
    let width = b.len() + 1;
    let mut longest = vec![0u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            longest[i * width + j] = if a[i] == b[j] {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            out.push((Side::Same, a[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < a.len() && (j == b.len() || longest[(i + 1) * width + j] >= longest[i * width + j + 1])
        {
            out.push((Side::Gone, a[i]));
            i += 1;
        } else {
            out.push((Side::New, b[j]));
            j += 1;
        }
    }
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
        assert_eq!(unified("", "a\n"), ["@@ -0,0 +1,1 @@", "+a"]);
        assert_eq!(unified("a\n", ""), ["@@ -1,1 +0,0 @@", "-a"]);
        assert_eq!(unified("a", "a\n"), ["@@ -1,1 +1,1 @@", "-a", "\\ No newline at end of file", "+a"]);
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

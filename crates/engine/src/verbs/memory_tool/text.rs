//! The tool's texts: numbered lines, listings, and what a replacement or an insertion makes of a file.
//!
//! Comes in: a text and a command's arguments. Goes out: the answer, or the refusal, word for word as the tool's own example for local files gives them.
//! Lines end at LF alone, numbers are six wide. Linear in the length of the text, whatever is looked for. Never here: a shelf.

use heirloom_core::{Code, Fault, fault::Result};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// More lines than this are not shown.
const MAX_LINES: usize = 999_999;

/// The size a folder has on most disks, which is what models have seen.
const FOLDER: usize = 4_096;

/// A file with line numbers.
pub(super) fn numbered(path: &str, content: &str, range: Option<&[i64]>) -> Result<String> {
    let lines: Vec<&str> = content.split('\n').collect();
    if lines.len() > MAX_LINES {
        return Err(Fault::new(
            Code::Validation,
            format!("File {path} exceeds maximum line limit of 999,999 lines."),
        ));
    }
    let (from, to) = match range {
        Some(&[first, last]) => {
            let from = usize::try_from(first.max(1) - 1).unwrap_or(usize::MAX);
            let count = i64::try_from(lines.len()).unwrap_or(i64::MAX);
            let last = match last {
                -1 => count,
                // From the end, as the example's language counts.
                last if last < 0 => (count + last).max(0),
                last => last.min(count),
            };
            (from, usize::try_from(last).unwrap_or_default())
        }
        _ => (0, lines.len()),
    };
    let shown = lines.get(from..to.max(from)).or_else(|| lines.get(from..)).unwrap_or_default();
    let mut out = format!("Here's the content of {path} with line numbers:\n");
    number(&mut out, shown, from + 1);
    Ok(out)
}

fn number(out: &mut String, lines: &[&str], first: usize) {
    for (at, line) in lines.iter().enumerate() {
        let end = if at + 1 < lines.len() { "\n" } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(out, "{:>6}\t{line}{end}", first + at);
    }
}

/// What is in a folder, two levels deep: files by their path from there with their sizes, and further folders. Hidden ones are left out.
pub(super) fn listing(path: &str, files: &[(Vec<String>, usize)], folders: &[&str]) -> String {
    // By name at each level; a folder's line comes before what is in it.
    let mut lines: BTreeSet<(Vec<&str>, String)> = BTreeSet::new();
    for (names, bytes) in files {
        if names.iter().take(2).any(|name| name.starts_with('.')) {
            continue;
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for depth in 1..names.len().min(3) {
            lines.insert((names[..depth].to_vec(), folder_line(path, &names[..depth])));
        }
        if names.len() <= 2 {
            let line = format!("{}\t{path}/{}", size(*bytes), names.join("/"));
            lines.insert((names, line));
        }
    }
    for folder in folders {
        lines.insert((vec![folder], folder_line(path, &[folder])));
    }
    let mut out = format!(
        "Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:\n{}\t{path}",
        size(FOLDER)
    );
    for (_, line) in lines {
        out.push('\n');
        out.push_str(&line);
    }
    out
}

fn folder_line(path: &str, names: &[&str]) -> String {
    format!("{}\t{path}/{}/", size(FOLDER), names.join("/"))
}

/// A size in the tool's words.
fn size(bytes: usize) -> String {
    const UNITS: [&str; 4] = ["B", "K", "M", "G"];
    if bytes == 0 {
        return "0B".to_owned();
    }
    let unit = (bytes.ilog2() as usize / 10).min(UNITS.len() - 1);
    let whole = 1_usize << (10 * unit);
    match bytes % whole {
        0 => format!("{}{}", bytes / whole, UNITS[unit]),
        _ => format!("{:.1}{}", bytes as f64 / whole as f64, UNITS[unit]),
    }
}

/// A text with the one place that reads `old` replaced, and the number of the line it began on, from 0.
pub(super) fn replaced(content: &str, old: &str, new: &str, path: &str) -> Result<(String, usize)> {
    let places = places(content, old);
    // As many as can be replaced one after the other; the lines that are named count those that overlap as well.
    let mut count = 0_usize;
    let mut free = 0;
    for &at in &places {
        if at >= free {
            count += 1;
            free = at + old.len().max(1);
        }
    }
    let Some(&at) = places.first() else {
        return Err(Fault::new(
            Code::Validation,
            format!("No replacement was performed, old_str `{old}` did not appear verbatim in {path}."),
        )
        .hint("view the file and copy the text exactly"));
    };
    if count > 1 {
        let mut lines = Vec::with_capacity(places.len());
        let (mut line, mut from) = (1, 0);
        for at in places {
            line += breaks(&content[from..at]);
            from = at;
            lines.push(line.to_string());
        }
        return Err(Fault::new(
            Code::Validation,
            format!(
                "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {}. Please ensure it is unique",
                lines.join(", ")
            ),
        )
        .hint("give more of the text around it"));
    }
    let text = [&content[..at], new, &content[at + old.len()..]].concat();
    Ok((text, breaks(&content[..at])))
}

fn breaks(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// Every place where a text stands in another, also where two overlap.
fn places(content: &str, wanted: &str) -> Vec<usize> {
    if wanted.is_empty() {
        return content.char_indices().map(|(at, _)| at).chain([content.len()]).collect();
    }
    let (text, wanted) = (content.as_bytes(), wanted.as_bytes());
    // How long a start of `wanted` is also the end of each of its starts.
    let mut back = vec![0_usize; wanted.len()];
    let mut length = 0;
    for at in 1..wanted.len() {
        while length > 0 && wanted[at] != wanted[length] {
            length = back[length - 1];
        }
        length += usize::from(wanted[at] == wanted[length]);
        back[at] = length;
    }
    let mut found = Vec::new();
    let mut met = 0;
    for (at, byte) in text.iter().enumerate() {
        while met > 0 && *byte != wanted[met] {
            met = back[met - 1];
        }
        met += usize::from(*byte == wanted[met]);
        if met == wanted.len() {
            found.push(at + 1 - met);
            met = back[met - 1];
        }
    }
    found
}

/// The lines around a change.
pub(super) fn snippet(content: &str, line: usize) -> String {
    let lines: Vec<&str> = content.split('\n').collect();
    let from = line.saturating_sub(2).min(lines.len());
    let to = (line + 3).min(lines.len());
    let mut out =
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
            .to_owned();
    number(&mut out, &lines[from..to.max(from)], from + 1);
    out
}

/// A text with another one behind so many of its lines.
pub(super) fn inserted(content: &str, line: i64, text: &str) -> Result<String> {
    let mut lines: Vec<&str> = content.split('\n').collect();
    if lines.last() == Some(&"") {
        lines.pop();
    }
    let at = usize::try_from(line).ok().filter(|at| *at <= lines.len()).ok_or_else(|| {
        let most = lines.len();
        Fault::new(
            Code::Validation,
            format!("Invalid `insert_line` parameter: {line}. It should be within the range [0, {most}]."),
        )
        .hint("0 inserts before the first line")
    })?;
    lines.insert(at, text.trim_end_matches('\n'));
    let mut out = lines.join("\n");
    if !out.ends_with('\n') {
        out.push('\n');
    }
    Ok(out)
}

//! Where a name is defined, without knowing the language.
//!
//! Comes in: lines and a name. Goes out: the line that defines it and the lines that belong to it, by indentation and closing brackets. A
//! guess, but the same guess at saving and at checking, which is all a comparison needs.

use super::region::Lines;
use std::ops::Range;

/// Words that stand before a name where it is defined.
const DEFINING: [&[u8]; 31] = [
    b"fn",
    b"def",
    b"class",
    b"struct",
    b"enum",
    b"trait",
    b"type",
    b"interface",
    b"function",
    b"func",
    b"const",
    b"let",
    b"var",
    b"val",
    b"static",
    b"impl",
    b"mod",
    b"module",
    b"macro_rules",
    b"union",
    b"object",
    b"record",
    b"namespace",
    b"package",
    b"fun",
    b"sub",
    b"proc",
    b"define",
    b"table",
    b"view",
    b"async",
];
/// What a comment begins with.
const COMMENTS: [&[u8]; 5] = [b"//", b"#!", b"/*", b"*", b"--"];
/// Most lines that belong to one name.
const LONGEST: usize = 2_000;

/// The part of a name that stands in the code: `Queue::fetch` and `queue.fetch` define `fetch`.
fn last_part(symbol: &str) -> &[u8] {
    symbol.rsplit(['.', ':', '/', ' ']).next().unwrap_or(symbol).as_bytes()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Where a line holds a name as a whole word.
fn place(line: &[u8], name: &[u8]) -> Option<usize> {
    memchr::memmem::find_iter(line, name).find(|at| {
        let before = at.checked_sub(1).and_then(|before| line.get(before));
        let after = line.get(at + name.len());
        !before.is_some_and(|b| is_word(*b)) && !after.is_some_and(|b| is_word(*b))
    })
}

fn indent(line: &[u8]) -> usize {
    line.len() - line.trim_ascii_start().len()
}

fn is_comment(line: &[u8]) -> bool {
    COMMENTS.iter().any(|start| line.trim_ascii_start().starts_with(start))
}

/// The lines of what has this name.
pub(super) fn lines_of(lines: &Lines<'_>, symbol: &str) -> Option<Range<usize>> {
    let name = last_part(symbol);
    if name.is_empty() {
        return None;
    }
    let mut used: Option<(usize, usize)> = None;
    for (number, line) in lines.iter().enumerate() {
        let Some(at) = place(line, name) else { continue };
        if is_comment(line) {
            continue;
        }
        let mut before = line[..at].split(|b| !is_word(*b));
        if before.any(|word| DEFINING.contains(&word)) {
            return Some(block(lines, number));
        }
        // Without such a word the use that stands furthest out is taken for the definition.
        if used.is_none_or(|(depth, _)| indent(line) < depth) {
            used = Some((indent(line), number));
        }
    }
    used.map(|(_, number)| block(lines, number))
}

/// The lines that belong to the one at `start`: what is further in, and the brackets that close it.
fn block(lines: &Lines<'_>, start: usize) -> Range<usize> {
    let depth = lines.get(start).map_or(0, indent);
    let mut end = start + 1;
    let mut last = lines.get(start).unwrap_or_default();
    for at in start + 1..lines.len().min(start + LONGEST) {
        let Some(line) = lines.get(at) else { break };
        if line.is_empty() {
            continue;
        }
        let text = line.trim_ascii_start();
        if indent(line) > depth {
            (end, last) = (at + 1, line);
            continue;
        }
        let opens = text.starts_with(b"{");
        let closes =
            text.starts_with(b"}") || text.starts_with(b")") || text.starts_with(b"]") || text == b"end";
        if indent(line) < depth || !(opens || closes) || (closes && ends_statement(last) && at == start + 1) {
            break;
        }
        (end, last) = (at + 1, line);
        // A closing bracket that opens another one, as after a list of parameters, is not the end.
        if closes && !text.ends_with(b"{") && !text.ends_with(b":") && !text.ends_with(b"(") {
            break;
        }
    }
    start..end
}

/// Whether a line is whole in itself, so that a bracket after it closes something else.
fn ends_statement(line: &[u8]) -> bool {
    line.ends_with(b";") || line.ends_with(b",")
}

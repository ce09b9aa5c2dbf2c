//! Passwords in the columns of a table: a Markdown table or comma-separated lines whose head names a password. In: the place of that name.
//! Out: the spans of the cells below it. Only the first line of a table is a head, so that each line is read for one head only.

use super::chosen;
use std::ops::Range;

/// How many lines below a head are read.
const ROWS: usize = 24;
/// The longest line of a table.
const WIDEST: usize = 400;

/// The cells below the head at `at`.
pub(super) fn column(text: &[u8], at: &Range<usize>, mut each: impl FnMut(Range<usize>)) {
    let from = at.start.saturating_sub(WIDEST);
    let start = text[from..at.start].iter().rposition(|b| *b == b'\n').map_or(from, |i| from + i + 1);
    let Some(mut line) = next_line(text, start) else { return };
    let head = &text[line.clone()];
    let Some(mark) = [b'|', b'\t', b';', b','].into_iter().find(|m| head.contains(m)) else { return };
    let heads = cells(text, line.clone(), mark);
    let Some(nth) = heads.iter().position(|c| c.start <= at.start && at.end <= c.end) else { return };
    // Names, not sentences, and nothing but the name of a password in its cell.
    let named = |c: &Range<usize>| c.len() <= 32 && text[c.clone()].split(|b| *b == b' ').count() <= 3;
    if heads.len() < 2 || !heads.iter().all(named) || text[heads[nth].clone()].len() > at.len() + 12 {
        return;
    }
    let above = text[..start.saturating_sub(1)].iter().rev().take(WIDEST).take_while(|b| **b != b'\n');
    if start > 0 && above.filter(|b| **b == mark).count() >= heads.len() - 1 {
        return;
    }
    for _ in 0..ROWS {
        let Some(row) = next_line(text, line.end + 1) else { return };
        let found = cells(text, row.clone(), mark);
        line = row.clone();
        if text[row.clone()].iter().all(|b| matches!(b, b'-' | b':' | b'|' | b' ' | b'\r')) && !row.is_empty()
        {
            continue;
        }
        if found.len() != heads.len() {
            return;
        }
        let cell = &found[nth];
        let token = &text[cell.clone()];
        if !token.contains(&b' ')
            && chosen::password(token)
            && token.iter().filter(|b| b.is_ascii_alphabetic()).count() >= 3
        {
            each(cell.clone());
        }
    }
}

fn next_line(text: &[u8], from: usize) -> Option<Range<usize>> {
    let rest = text.get(from..).filter(|rest| !rest.is_empty())?;
    let len = rest.iter().take(WIDEST).position(|b| *b == b'\n');
    let len = len.or_else(|| (rest.len() < WIDEST).then_some(rest.len()))?;
    Some(from..from + len)
}

/// The cells of a line, without blanks, quotes and emphasis around them.
fn cells(text: &[u8], line: Range<usize>, mark: u8) -> Vec<Range<usize>> {
    let (mut from, mut to) = (line.start, line.end);
    let blank = |b: u8| matches!(b, b' ' | b'"' | b'\'' | b'`' | b'*' | b'\r');
    if mark == b'|' {
        from += text[from..to].iter().take_while(|b| blank(**b)).count();
        from += usize::from(text.get(from) == Some(&b'|'));
        while to > from && (blank(text[to - 1]) || text[to - 1] == b'|') {
            to -= 1;
        }
    }
    let mut found = Vec::new();
    let mut start = from;
    for end in from..=to {
        if end == to || text[end] == mark {
            let (mut a, mut b) = (start, end);
            while a < b && blank(text[a]) {
                a += 1;
            }
            while b > a && blank(text[b - 1]) {
                b -= 1;
            }
            found.push(a..b);
            start = end + 1;
        }
    }
    found
}

//! The tail of a transcript: the last N objects, read from the end.
//!
//! Comes in: a JSONL file of any size and shape. Goes out: its last N JSON objects as turns, oldest first. Lines that are no
//! JSON object are passed over and do not count. Never here: reading the front of a long file, a line longer than
//! `LINE_MAX` in memory, more than `TEXT_MAX` of text.

use super::turn::Turn;
use crate::budget;
use heirloom_core::{Fault, fault::Result, json};
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;

/// A longer line counts for the window but says nothing: it is a file or a picture, not a conversation.
const LINE_MAX: usize = 4 << 20;
/// Of more text than this, older turns keep only their tools.
const TEXT_MAX: usize = 4 << 20;
/// How far back from the end lines are looked for.
const SCAN_MAX: u64 = 256 << 20;
/// The same at a hook.
const HOOK_TEXT: u64 = 1 << 20;
const HOOK_SCAN: u64 = 64 << 20;
const CHUNK: usize = 128 << 10;

/// The end of a transcript.
#[derive(Debug, Default, PartialEq)]
pub struct Tail {
    /// The last turns, oldest first.
    pub turns: Vec<Turn>,
    /// Size of the file when it was opened.
    pub size: u64,
}

/// Reads the last `count` objects of a transcript.
pub fn read(path: &Path, count: usize) -> Result<Tail> {
    let cannot = |e: &std::io::Error| Fault::io(path, "read", e);
    // A pipe or a folder has no end to read from, and opening a pipe must not wait for its writer.
    let meta = std::fs::metadata(path).map_err(|e| cannot(&e))?;
    if !meta.is_file() {
        return Ok(Tail::default());
    }
    let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(|e| cannot(&e))?;
    let mut tail = Tail { turns: Vec::new(), size: meta.len() };
    let mut room = budget::limit(TEXT_MAX as u64, HOOK_TEXT) as usize;
    let mut lines = Backwards::new(&file, tail.size);
    while tail.turns.len() < count {
        let Some((start, line)) = lines.next_line().map_err(|e| cannot(&e))? else { break };
        let turn = match line {
            Line::Whole(bytes) => match object(&bytes) {
                Some(Value::Object(object)) => Turn::from_object(start, &object),
                _ => continue,
            },
            Line::TooLong => Turn { start, ..Turn::default() },
        };
        tail.turns.push(within(turn, &mut room));
    }
    tail.turns.reverse();
    Ok(tail)
}

fn within(mut turn: Turn, room: &mut usize) -> Turn {
    let len: usize = turn.texts.iter().map(String::len).sum();
    if len > *room {
        turn.texts.clear();
        *room = 0;
    } else {
        *room -= len;
    }
    turn
}

/// The JSON value of a line. Halves of surrogate pairs, which hosts leave when they cut a text, become the replacement
/// character instead of costing the line.
fn object(line: &[u8]) -> Option<Value> {
    let line = line.trim_ascii();
    if line.first() != Some(&b'{') {
        return None;
    }
    match json::parse(line) {
        Ok(value) => Some(value),
        Err(_) => json::parse(mended(&String::from_utf8_lossy(line)).as_bytes()).ok(),
    }
}

/// The text with every lone surrogate escape replaced.
fn mended(line: &str) -> String {
    let unit = |at: usize| {
        let digits = line.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut out = String::with_capacity(line.len());
    let (mut at, mut kept) = (0, 0);
    while let Some(found) = line[at..].find('\\') {
        let escape = at + found;
        at = match unit(escape) {
            Some(0xd800..=0xdbff) if matches!(unit(escape + 6), Some(0xdc00..=0xdfff)) => escape + 12,
            Some(0xd800..=0xdfff) => {
                out.push_str(&line[kept..escape]);
                out.push_str("\\ufffd");
                kept = escape + 6;
                kept
            }
            Some(_) => escape + 6,
            // A backslash and the character it escapes.
            None => escape + 1 + line[escape + 1..].chars().next().map_or(0, char::len_utf8),
        };
    }
    out.push_str(&line[kept..]);
    out
}

enum Line {
    Whole(Vec<u8>),
    TooLong,
}

/// Lines of a file, last one first.
struct Backwards<'a> {
    file: &'a File,
    /// Everything from here to the end has been read.
    read_from: u64,
    stop_at: u64,
    /// Bytes from `read_from` on that belong to lines not yet given out.
    buffer: Vec<u8>,
    /// Pieces of the line that began before the buffer, last piece first.
    pieces: Vec<Vec<u8>>,
    pieces_len: usize,
    too_long: bool,
    done: bool,
}

impl<'a> Backwards<'a> {
    fn new(file: &'a File, size: u64) -> Backwards<'a> {
        Backwards {
            file,
            read_from: size,
            stop_at: size.saturating_sub(budget::limit(SCAN_MAX, HOOK_SCAN)),
            buffer: Vec::new(),
            pieces: Vec::new(),
            pieces_len: 0,
            too_long: false,
            done: false,
        }
    }

    /// The line before the ones given out so far, with the place where it starts.
    fn next_line(&mut self) -> std::io::Result<Option<(u64, Line)>> {
        while !self.done {
            if let Some(at) = self.buffer.iter().rposition(|b| *b == b'\n') {
                let piece = self.buffer.split_off(at + 1);
                self.buffer.pop();
                let start = self.read_from + at as u64 + 1;
                return Ok(Some((start, self.finish(piece))));
            }
            let piece = std::mem::take(&mut self.buffer);
            self.keep(piece);
            if self.read_from <= self.stop_at {
                self.done = true;
                // Where the scan stops short of the file's start, the first line is half a line.
                return Ok((self.stop_at == 0).then(|| (0, self.finish(Vec::new()))));
            }
            let len = (self.read_from - self.stop_at).min(CHUNK as u64);
            self.buffer.resize(len as usize, 0);
            self.read_from -= len;
            self.file.read_exact_at(&mut self.buffer, self.read_from)?;
        }
        Ok(None)
    }

    fn keep(&mut self, piece: Vec<u8>) {
        self.pieces_len += piece.len();
        if self.pieces_len > LINE_MAX {
            self.too_long = true;
            self.pieces.clear();
        } else if !piece.is_empty() {
            self.pieces.push(piece);
        }
    }

    fn finish(&mut self, first: Vec<u8>) -> Line {
        self.keep(first);
        self.pieces_len = 0;
        if std::mem::take(&mut self.too_long) {
            self.pieces.clear();
            return Line::TooLong;
        }
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.reverse();
        Line::Whole(pieces.concat())
    }
}

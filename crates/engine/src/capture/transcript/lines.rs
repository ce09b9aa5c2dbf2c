//! Lines of JSON, one at a time, with limits.
//!
//! Comes in: a reader of any length. Goes out: JSON objects. A line over the limit is passed over without being held in memory;
//! a broken one is counted. Never here: what a line means.

use serde_json::Value;
use std::io::BufRead;

/// How much of a transcript is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Longer lines are passed over: they hold images or whole files, not messages.
    pub line_bytes: usize,
    /// Reading ends after so many bytes.
    pub total_bytes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { line_bytes: 8 << 20, total_bytes: 2 << 30 }
    }
}

/// The JSON objects of a reader, line by line.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    limits: Limits,
    read: u64,
    line: Vec<u8>,
    left_out: usize,
    cut_short: bool,
}

enum Next {
    Line,
    TooLong,
    End,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R, limits: Limits) -> Lines<R> {
        Lines { reader, limits, read: 0, line: Vec::new(), left_out: 0, cut_short: false }
    }

    pub(super) fn left_out(&self) -> usize {
        self.left_out
    }

    pub(super) fn cut_short(&self) -> bool {
        self.cut_short
    }

    /// Reads up to the next line break into `self.line`; the rest of a line that is too long is only skipped.
    fn advance(&mut self) -> Next {
        self.line.clear();
        let mut too_long = false;
        loop {
            if self.read >= self.limits.total_bytes {
                self.cut_short = true;
                return Next::End;
            }
            // A reader that fails half-way has said all it will say.
            let chunk = match self.reader.fill_buf() {
                Ok(chunk) => chunk,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(_) => &[],
            };
            if chunk.is_empty() {
                return match (too_long, self.line.is_empty()) {
                    (true, _) => Next::TooLong,
                    (false, true) => Next::End,
                    (false, false) => Next::Line,
                };
            }
            let end = chunk.iter().position(|b| *b == b'\n');
            let taken = end.unwrap_or(chunk.len());
            too_long |= self.line.len() + taken > self.limits.line_bytes;
            if too_long {
                self.line.clear();
            } else {
                self.line.extend_from_slice(&chunk[..taken]);
            }
            let used = taken + usize::from(end.is_some());
            self.reader.consume(used);
            self.read += used as u64;
            if end.is_some() {
                return if too_long { Next::TooLong } else { Next::Line };
            }
        }
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        loop {
            match self.advance() {
                Next::End => return None,
                Next::TooLong => self.left_out += 1,
                Next::Line => {
                    if self.line.iter().all(u8::is_ascii_whitespace) {
                        continue;
                    }
                    match heirloom_core::json::parse(&self.line) {
                        Ok(value) if value.is_object() => return Some(value),
                        _ => self.left_out += 1,
                    }
                }
            }
        }
    }
}

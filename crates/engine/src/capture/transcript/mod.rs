//! Transcripts: what coding agents write down of a conversation.
//!
//! Comes in: the lines of a transcript, however long, read one at a time. Goes out: [`Turn`] values in order. A line that is
//! broken, unknown, too long or half-written costs only itself. A turn that repeats what a tool returned says so. Never here: reasoning blocks, tool output unless it is asked for, injected context (the host's and our
//! own), and the parts of a conversation a sub-agent had with itself.
//!
//! Each line says by its shape whose it is, so a reader need not be told which agent wrote the file.

mod claude;
mod codex;
mod lines;
mod returned;

pub use lines::Limits;

use super::own;
use heirloom_core::{Code, Fault, fault::Result, time};
use jiff::Timestamp;
use lines::Lines;
use returned::Returned;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek as _, SeekFrom};
use std::path::Path;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
    /// A tool; only where somebody asks for what tools returned.
    Tool,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Who speaks.
    pub role: Role,
    /// What was said; empty if the turn only touched files.
    pub text: String,
    /// When, if the transcript says so.
    pub at: Option<Timestamp>,
    /// The session, if the transcript says so.
    pub session: Option<String>,
    /// Files the turn read or wrote, as they were named.
    pub files: Vec<String>,
    /// Whether it repeats what a tool returned before it: then its words are not all the speaker's.
    pub external: bool,
    /// The tool that returned it, if the transcript says which.
    pub tool: Option<String>,
}

/// What a line contributes.
struct Part {
    role: Role,
    /// Parts with the same mark in a row are one message.
    message: Option<String>,
    text: String,
    files: Vec<String>,
}

/// The turns of a transcript.
#[derive(Debug)]
pub struct Turns<R> {
    lines: Lines<R>,
    pending: Option<(Option<String>, Turn)>,
    session: Option<String>,
    last_at: Option<Timestamp>,
    returned: Returned,
    /// Whether what tools returned is told too.
    tells_tools: bool,
    /// Turns that are whole, in order.
    ready: VecDeque<Turn>,
}

impl<R: BufRead> Turns<R> {
    /// Reads turns from a transcript.
    pub fn new(reader: R, limits: Limits) -> Turns<R> {
        Turns {
            lines: Lines::new(reader, limits),
            pending: None,
            session: None,
            last_at: None,
            returned: Returned::default(),
            tells_tools: false,
            ready: VecDeque::new(),
        }
    }

    /// The same, with a turn for whatever a tool returned.
    #[must_use]
    pub fn with_tools(mut self, wanted: bool) -> Turns<R> {
        self.tells_tools = wanted;
        self
    }

    /// Lines that were left out because they were broken or too long.
    pub fn left_out(&self) -> usize {
        self.lines.left_out()
    }

    /// Whether reading ended before the transcript did, at the limit of bytes.
    pub fn cut_short(&self) -> bool {
        self.lines.cut_short()
    }

    /// Takes a line in; a turn that is whole by now is ready.
    fn take(&mut self, line: &Value) {
        let at = line.get("timestamp").and_then(Value::as_str).and_then(time::parse);
        self.last_at = at.or(self.last_at);
        if let Some(session) = claude::session(line).or_else(|| codex::session(line)) {
            self.session = Some(session);
        }
        for output in self.returned.hear(line) {
            // A tool may have read our own blocks, which are no news.
            let text = own::without(&output.text).into_owned();
            if self.tells_tools && !text.trim().is_empty() {
                self.ready.extend(self.pending.take().map(|(_, turn)| turn));
                self.ready.push_back(Turn { tool: output.tool, ..self.turn(Role::Tool, text, true) });
            }
        }
        let part = if codex::is_line(line) { codex::part(line) } else { claude::part(line) };
        let Some(mut part) = part else { return };
        if let Cow::Owned(rest) = own::without(&part.text) {
            part.text = rest;
        }
        if part.text.is_empty() && part.files.is_empty() {
            return;
        }
        let external = self.returned.is_quoted_in(&part.text);
        if let Some((message, turn)) = &mut self.pending
            && part.message.is_some()
            && *message == part.message
            && turn.role == part.role
        {
            join(turn, part);
            turn.external |= external;
            return;
        }
        let turn = Turn { files: part.files, ..self.turn(part.role, part.text, external) };
        self.ready.extend(self.pending.replace((part.message, turn)).map(|(_, turn)| turn));
    }

    fn turn(&self, role: Role, text: String, external: bool) -> Turn {
        let session = self.session.clone();
        Turn { role, text, at: self.last_at, session, files: Vec::new(), external, tool: None }
    }
}

/// Another part of the same message: some agents write one line per block.
fn join(turn: &mut Turn, part: Part) {
    // A block that is there already was written twice, not said twice.
    if !part.text.is_empty() && part.text != turn.text {
        if !turn.text.is_empty() {
            turn.text.push('\n');
        }
        turn.text.push_str(&part.text);
    }
    part.files.iter().for_each(|file| touch(&mut turn.files, file));
}

/// Adds a file that a turn touched, once, and no more than anybody could work on in one turn.
fn touch(files: &mut Vec<String>, file: &str) {
    const MOST: usize = 200;
    if !file.is_empty() && files.len() < MOST && !files.iter().any(|known| known == file) {
        files.push(file.to_owned());
    }
}

impl<R: BufRead> Iterator for Turns<R> {
    type Item = Turn;

    fn next(&mut self) -> Option<Turn> {
        loop {
            if let Some(turn) = self.ready.pop_front() {
                return Some(turn);
            }
            match self.lines.next() {
                Some(line) => self.take(&line),
                None => return self.pending.take().map(|(_, turn)| turn),
            }
        }
    }
}

/// Opens a transcript file. Compressed ones are named as such, not misread.
pub fn open(path: &Path, limits: Limits) -> Result<Turns<BufReader<File>>> {
    open_tail(path, u64::MAX, limits)
}

/// Opens the last `bytes` of a transcript file, for callers who want only what was said last. The line in which those bytes begin
/// is broken and costs only itself.
pub fn open_tail(path: &Path, bytes: u64, limits: Limits) -> Result<Turns<BufReader<File>>> {
    const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    let cannot = |e: &std::io::Error| Fault::io(path, "read", e);
    let meta = std::fs::metadata(path).map_err(|e| cannot(&e))?;
    if !meta.is_file() {
        return Err(Fault::new(Code::Input, format!("`{}` is not a transcript file", path.display()))
            .fact("path", path.display().to_string())
            .hint("name a `.jsonl` file"));
    }
    let mut reader = BufReader::with_capacity(1 << 16, File::open(path).map_err(|e| cannot(&e))?);
    if reader.fill_buf().map_err(|e| cannot(&e))?.starts_with(&ZSTD) {
        return Err(Fault::new(Code::Input, format!("`{}` is compressed", path.display()))
            .fact("path", path.display().to_string())
            .hint("unpack it with `zstd -d` and name the result"));
    }
    if meta.len() > bytes {
        reader.seek(SeekFrom::Start(meta.len() - bytes)).map_err(|e| cannot(&e))?;
    }
    Ok(Turns::new(reader, limits))
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;

//! Files of shelves as one stream of lines: a head, a line for each file, what was held back, and an end.
//!
//! Comes in: files, or such a stream. Goes out: the stream, or the files below a folder of the call's own, each under the name it has there. A stream
//! without its end broke off, and nothing of it counts. Never here: a name that leaves the folder, a file twice, or what becomes of the files.

use super::sort::{MOST, Source, gather};
use super::stage::Stage;
use crate::call::Call;
use crate::files::{self, Mode};
use heirloom_core::{Code, Fault, fault::Result, json};
use serde_json::{Value, json};
use std::io::{BufRead, Read as _, Write};
use std::path::{Component, Path};

/// What a stream of files calls itself.
const NAME: &str = "heirloom-files";
const VERSION: u64 = 1;
/// The longest line: a file of sixteen million bytes with all its escapes would be longer than anything a shelf takes.
const LINE: u64 = 32 << 20;
/// The longest name of a file.
const LONGEST_NAME: usize = 1_024;
/// The folder of a stage that files lie in.
const SENT: &str = "sent";

/// Whether this is the beginning of such a stream.
pub fn is_files(beginning: &[u8]) -> bool {
    beginning.starts_with(format!("{{\"archive\":\"{NAME}\"").as_bytes())
}

/// Writes a stream.
pub struct Carrier<'w> {
    to: &'w mut dyn Write,
    files: u64,
}

impl<'w> Carrier<'w> {
    /// Begins a stream.
    pub fn begin(to: &'w mut dyn Write) -> Result<Carrier<'w>> {
        let mut carrier = Carrier { to, files: 0 };
        // `archive` must come first: by it a stream is known.
        carrier.raw(&format!("{{\"archive\":\"{NAME}\",\"version\":{VERSION}}}"))?;
        Ok(carrier)
    }

    /// A file.
    pub fn file(&mut self, name: &str, text: &str) -> Result<()> {
        self.files += 1;
        self.raw(&json!({ "name": name, "text": text }).to_string())
    }

    /// Something that the reader does not get.
    pub fn held_back(&mut self, name: &str, why: &str) -> Result<()> {
        self.raw(&json!({ "held_back": name, "why": why }).to_string())
    }

    /// Ends it; how many files it has.
    pub fn end(mut self) -> Result<u64> {
        self.raw(&json!({ "end": self.files }).to_string())?;
        self.to.flush().map_err(|e| gone(&e))?;
        Ok(self.files)
    }

    fn raw(&mut self, line: &str) -> Result<()> {
        self.to.write_all(line.as_bytes()).and_then(|()| self.to.write_all(b"\n")).map_err(|e| gone(&e))
    }
}

fn gone(e: &std::io::Error) -> Fault {
    Fault::new(Code::Io, format!("the stream cannot be written: {e}")).hint("ask for it again")
}

/// Files that came with a stream, for as long as this is there.
pub struct Sent {
    _stage: Stage,
    /// The files, sorted.
    pub sources: Vec<Source>,
}

/// Takes a stream in. `read` is told how many files there are.
pub fn receive(call: &Call, from: &mut dyn BufRead, read: &mut dyn FnMut(usize)) -> Result<Sent> {
    let stage = Stage::open(call, "incoming")?;
    let folder = stage.folder().join(SENT);
    files::make_folder(&folder, Mode::Private)?;
    let (mut count, mut begun, mut ended) = (0usize, false, false);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let length = (&mut *from).take(LINE).read_until(b'\n', &mut bytes);
        match length.map_err(|e| Fault::new(Code::Input, format!("the stream cannot be read: {e}")))? {
            0 => break,
            length if length as u64 == LINE => return Err(wrong("has a line that is too long")),
            _ => {}
        }
        if bytes.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let line = json::parse(&bytes).map_err(|_| wrong("has a line that is not JSON"))?;
        let text = |key: &str| line.get(key).and_then(Value::as_str);
        if !begun {
            if text("archive") != Some(NAME) || line["version"] != VERSION {
                return Err(wrong("does not begin as one, or is of a newer version"));
            }
            begun = true;
        } else if ended {
            return Err(wrong("goes on behind its end"));
        } else if let Some(end) = line.get("end") {
            if *end != count {
                return Err(wrong("says that it has another number of files"));
            }
            ended = true;
        } else if let (Some(name), Some(text)) = (text("name"), text("text")) {
            count += 1;
            if count > MOST {
                return Err(wrong(&format!("has more than {MOST} files")));
            }
            put(&folder, name, text)?;
            read(count);
        } else if line.get("held_back").is_none() {
            return Err(wrong("has a line that is neither a file nor an end"));
        }
    }
    if !ended {
        return Err(wrong("broke off: it has no end"));
    }
    let mut sources = gather(&[folder])?;
    for source in &mut sources {
        source.shown = source.shown.strip_prefix(&format!("{SENT}/")).unwrap_or(&source.shown).to_owned();
    }
    Ok(Sent { _stage: stage, sources })
}

fn put(folder: &Path, name: &str, text: &str) -> Result<()> {
    let plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    if !plain || name.is_empty() || name.len() > LONGEST_NAME || name.chars().any(char::is_control) {
        return Err(wrong("has a file name that leaves the folder"));
    }
    let path = folder.join(name);
    let made = path.parent().map_or(Ok(()), |parent| files::make_folder(parent, Mode::Private));
    // Whatever the system says would name a folder of this machine.
    made.and_then(|()| files::create_unsynced(&path, text.as_bytes(), Mode::Private))
        .map_err(|_| wrong("has a file name that occurs twice or that the system does not accept"))
}

fn wrong(what: &str) -> Fault {
    Fault::new(Code::Input, format!("the stream of files {what}"))
        .hint("send what an export of files gave, whole; nothing was imported")
}

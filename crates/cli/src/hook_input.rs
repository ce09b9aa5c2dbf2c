//! Standard input of a hook: read with a watchdog, because some agents never close it.
//!
//! Comes in: a file descriptor. Goes out: the bytes that were sent. A whole JSON object ends the reading, whether or not the
//! agent closes its end; one that has begun is waited for; silence is not. Never here: waiting without a limit, or more
//! than [`LIMIT`] in memory.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

/// How long the first byte, or the next one of an object that has begun, may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long to wait for more of something that is no object.
const DRAIN: Duration = Duration::from_millis(100);
/// Bytes of the first read, which mostly is the only one, and of any later one at most: every page of room costs a prompt time.
const FIRST: usize = 4 << 10;
const CHUNK: usize = 64 << 10;
/// More than this is not read; the reader of the input refuses it.
pub(crate) const LIMIT: usize = 33 << 20;

/// Reads what an agent sends to a hook.
pub(crate) fn read(input: impl AsFd) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut object = Object::default();
    while bytes.len() < LIMIT {
        let wait = if bytes.is_empty() || object.is_open() { PATIENCE } else { DRAIN };
        if !is_ready(&input, wait)? {
            break;
        }
        let start = bytes.len();
        bytes.resize(start + start.clamp(FIRST, CHUNK), 0);
        let read = match rustix::io::read(&input, &mut bytes[start..]) {
            Ok(read) => read,
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => 0,
            Err(e) => return Err(e.into()),
        };
        bytes.truncate(start + read);
        object.see(&bytes[start..]);
        if read == 0 || object.is_whole() {
            break;
        }
    }
    Ok(bytes)
}

fn is_ready(input: &impl AsFd, wait: Duration) -> io::Result<bool> {
    // Durations of this module fit easily.
    let timeout = Timespec::try_from(wait).ok();
    let mut polled = [PollFd::new(input, PollFlags::IN)];
    match poll(&mut polled, timeout.as_ref()) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(true),
        Err(e) => Err(e.into()),
    }
}

/// How far a JSON object has come, byte by byte.
#[derive(Debug, Default)]
struct Object {
    depth: usize,
    begun: bool,
    other: bool,
    in_text: bool,
    escaped: bool,
}

impl Object {
    fn see(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.other || self.is_whole() {
                return;
            }
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_text => self.escaped = true,
                b'"' => self.in_text = !self.in_text,
                _ if self.in_text => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            if !self.begun && !byte.is_ascii_whitespace() {
                self.begun = byte == b'{';
                self.other = byte != b'{';
            }
        }
    }

    fn is_open(&self) -> bool {
        self.begun && self.depth > 0
    }

    fn is_whole(&self) -> bool {
        self.begun && self.depth == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::thread;

    fn sent(parts: &'static [&'static str], pause: Duration) -> Vec<u8> {
        let (reader, mut writer) = io::pipe().unwrap();
        // The sender keeps its end open until the reader is done.
        let (done, wait) = std::sync::mpsc::channel::<()>();
        let sender = thread::spawn(move || {
            for part in parts {
                let _ = writer.write_all(part.as_bytes());
                thread::sleep(pause);
            }
            let _ = wait.recv();
        });
        let bytes = read(&reader).unwrap();
        drop(done);
        sender.join().unwrap();
        bytes
    }

    #[test]
    fn a_whole_object_is_enough_even_if_the_input_stays_open() {
        assert_eq!(sent(&["{\"a\": \"}\\\"\"}"], Duration::ZERO), b"{\"a\": \"}\\\"\"}");
    }

    #[test]
    fn an_object_that_has_begun_is_waited_for() {
        let slow = Duration::from_millis(300);
        assert_eq!(sent(&["{\"a\":", "1}"], slow), b"{\"a\":1}");
    }

    #[test]
    fn something_else_is_not_waited_for() {
        let slow = Duration::from_millis(300);
        assert_eq!(sent(&["oops", "more"], slow), b"oops");
    }

    #[test]
    fn a_closed_input_ends_the_reading() {
        let (reader, writer) = io::pipe().unwrap();
        drop(writer);
        assert_eq!(read(&reader).unwrap(), b"");
    }
}

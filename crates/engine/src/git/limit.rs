//! A program that may not take longer than so long.
//!
//! Comes in: a command and a limit. Goes out: what it printed, or that it was ended. It and whatever it started have a process group of their
//! own, which goes as a whole. Never here: a wait without an end.

use std::io::Read;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// The longest pause between two looks at whether it has ended.
const PAUSE: Duration = Duration::from_millis(20);

/// Runs a command to its end; `None` if it had to be ended.
pub(crate) fn output(mut command: Command, limit: Duration) -> std::io::Result<Option<Output>> {
    let until = Instant::now() + limit;
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).spawn()?;
    // Read meanwhile: a program whose pipe is full would wait for ever.
    let (out, err) = (read(child.stdout.take()), read(child.stderr.take()));
    let mut pause = Duration::from_millis(1);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() >= until {
            end(&mut child);
            return Ok(None);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(PAUSE);
    };
    // Something that it left running may still hold the other end of a pipe.
    let rest = |text: &Receiver<Vec<u8>>| {
        let left = until.saturating_duration_since(Instant::now()).max(PAUSE);
        text.recv_timeout(left).unwrap_or_default()
    };
    Ok(Some(Output { status, stdout: rest(&out), stderr: rest(&err) }))
}

fn read(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (send, receive) = mpsc::channel();
    if let Some(mut pipe) = pipe {
        std::thread::spawn(move || {
            let mut text = Vec::new();
            // What was read before an error is all there is.
            let _ = pipe.read_to_end(&mut text);
            let _ = send.send(text);
        });
    }
    receive
}

fn end(child: &mut Child) {
    if let Some(group) = rustix::process::Pid::from_raw(child.id().cast_signed()) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn what_ends_in_time_says_what_it_has_to_say() {
        let long = "i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i+1)); done; echo bad >&2; exit 3";
        let output = output(shell(long), Duration::from_secs(60)).unwrap().unwrap();
        assert_eq!((output.stdout.len(), output.stderr.as_slice()), (220_000, b"bad\n".as_slice()));
        assert_eq!(output.status.code(), Some(3));
    }

    #[test]
    fn what_does_not_end_is_ended_with_everything_it_started() {
        let dir = tempfile::tempdir().unwrap();
        let mark = dir.path().join("child");
        let script = format!("sleep 600 & echo $! > '{}'; wait", mark.display());
        assert!(output(shell(&script), Duration::from_millis(500)).unwrap().is_none());
        let child: i32 = std::fs::read_to_string(&mark).unwrap().trim().parse().unwrap();
        let child = rustix::process::Pid::from_raw(child).unwrap();
        let is_there = || {
            let state = std::fs::read_to_string(format!("/proc/{}/stat", child.as_raw_nonzero()));
            // One that nobody has collected yet is dead as well.
            state.is_ok_and(|state| !state.contains(") Z "))
        };
        for _ in 0..1000 {
            if !is_there() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the child of the child goes on");
    }
}

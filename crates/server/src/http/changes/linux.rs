//! inotify.
//!
//! Comes in: folders. Goes out: signals. Folders below them are watched too, those that come later as well; the machine's own (`.local`) are not,
//! since looking itself writes there. Never here: reading a file.

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::mpsc;

/// Folders that are watched; in more of them the full look has to do.
const MOST: usize = 4096;
/// How long a burst of changes is waited for.
const BURST: Duration = Duration::from_millis(200);

/// Begins to watch.
pub(super) fn watch(folders: Vec<PathBuf>, signal: mpsc::Sender<()>) -> std::io::Result<()> {
    let mut events = File::from(inotify::init(CreateFlags::CLOEXEC)?);
    // A thread of its own, which ends with the process: a read from inotify waits until something happens.
    let begun = std::thread::Builder::new().name("changes".to_owned()).spawn(move || {
        let mut buffer = [0; 16 << 10];
        loop {
            let mut left = MOST;
            folders.iter().for_each(|folder| add(&events, folder, &mut left));
            match events.read(&mut buffer) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            std::thread::sleep(BURST);
            if let Err(mpsc::error::TrySendError::Closed(())) = signal.try_send(()) {
                return;
            }
        }
    });
    begun.map(drop)
}

/// Watches a folder and those below it. One that is watched already is left as it is.
fn add(events: &File, folder: &Path, left: &mut usize) {
    if *left == 0 {
        return;
    }
    *left -= 1;
    let what = WatchFlags::CLOSE_WRITE
        | WatchFlags::CREATE
        | WatchFlags::DELETE
        | WatchFlags::MOVED_FROM
        | WatchFlags::MOVED_TO
        | WatchFlags::ONLYDIR
        | WatchFlags::DONT_FOLLOW;
    if inotify::add_watch(events.as_fd(), folder, what).is_err() {
        return;
    }
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir())
            && !entry.file_name().to_string_lossy().starts_with('.')
        {
            add(events, &entry.path(), left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_in_a_folder_that_came_later_is_told_too() {
        let place = tempfile::tempdir().unwrap();
        let (signal, mut changes) = mpsc::channel(1);
        watch(vec![place.path().to_owned()], signal).unwrap();
        let mut told = |what: &str| {
            let began = std::time::Instant::now();
            while changes.try_recv().is_err() {
                assert!(began.elapsed() < Duration::from_secs(20), "{what} is not told");
                std::thread::sleep(Duration::from_millis(20));
            }
        };
        std::thread::sleep(BURST);
        std::fs::create_dir(place.path().join("notes")).unwrap();
        told("a new folder");
        std::thread::sleep(BURST);
        std::fs::write(place.path().join("notes/a.md"), "x").unwrap();
        told("a new file");
    }
}

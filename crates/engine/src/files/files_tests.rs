use super::*;
use heirloom_core::Code;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::time::Duration;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn a_write_replaces_the_file_whole_and_leaves_no_temp_file() {
    let dir = folder();
    let path = dir.path().join("a.json");
    write(&path, b"old", Mode::Shared).unwrap();
    write(&path, b"new", Mode::Private).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"new");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_write_that_cannot_finish_leaves_the_old_file() {
    let dir = folder();
    let path = dir.path().join("a");
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("inside"), b"x").unwrap();
    assert_eq!(write(&path, b"new", Mode::Shared).unwrap_err().code, Code::Io);
    assert!(path.join("inside").exists());
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_link_in_the_place_of_a_file_is_replaced_not_followed() {
    let dir = folder();
    let (outside, link) = (dir.path().join("outside"), dir.path().join("link"));
    std::fs::write(&outside, b"precious").unwrap();
    symlink(&outside, &link).unwrap();
    assert_eq!(read(&link, MAX_FILE).unwrap_err().code, Code::Path);
    write(&link, b"new", Mode::Shared).unwrap();
    assert_eq!(std::fs::read(&outside).unwrap(), b"precious");
}

#[test]
fn reading_a_pipe_a_folder_or_a_huge_file_is_an_answer_not_a_hang() {
    let dir = folder();
    assert_eq!(read(dir.path(), MAX_FILE).unwrap_err().code, Code::Read);
    let pipe = dir.path().join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    assert_eq!(read(&pipe, MAX_FILE).unwrap_err().code, Code::Read);
    let huge = dir.path().join("huge");
    std::fs::File::create(&huge).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(read(&huge, MAX_FILE).unwrap_err().code, Code::Damaged);
    assert_eq!(read_if_there(&dir.path().join("none"), MAX_FILE).unwrap(), None);
}

#[test]
fn appending_closes_a_torn_last_line_first() {
    let dir = folder();
    let path = dir.path().join("log");
    std::fs::write(&path, b"one\ntor").unwrap();
    append_lines(&path, ["two", "three"], Mode::Shared).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"one\ntor\ntwo\nthree\n");
}

#[test]
fn a_held_lock_refuses_within_its_limit_and_frees_itself() {
    let dir = folder();
    let path = dir.path().join("lock");
    let held = Lock::acquire(&path, LOCK_LIMIT).unwrap();
    let fault = Lock::acquire(&path, Duration::from_millis(30)).unwrap_err();
    assert_eq!(fault.code, Code::LockBusy);
    drop(held);
    Lock::acquire(&path, LOCK_LIMIT).unwrap();
}

#[test]
fn who_gave_up_waiting_does_not_take_the_lock_later() {
    let dir = folder();
    let path = dir.path().join("lock");
    // Held by another file handle, as by another process, and by this process's own.
    for of_this_process in [false, true] {
        let own = of_this_process.then(|| Lock::acquire(&path, LOCK_LIMIT).unwrap());
        let other = (!of_this_process).then(|| {
            let file = std::fs::File::create(&path).unwrap();
            file.lock().unwrap();
            file
        });
        assert_eq!(Lock::acquire(&path, Duration::from_millis(20)).unwrap_err().code, Code::LockBusy);
        assert_eq!(queue::waiting(&path), 0);
        drop((own, other));
        // Whoever still waited for it would have it now.
        for _ in 0..100 {
            Lock::acquire(&path, Duration::ZERO).unwrap();
        }
        assert!(!queue::is_known(&path), "a queue nobody stands in is not kept");
    }
}

#[test]
fn threads_get_the_lock_in_the_order_they_came() {
    let dir = folder();
    let path = dir.path().join("lock");
    let order = std::sync::Mutex::new(Vec::new());
    let held = Lock::acquire(&path, LOCK_LIMIT).unwrap();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let (path, order) = (&path, &order);
            scope.spawn(move || {
                let _lock = Lock::acquire(path, Duration::from_secs(60)).unwrap();
                order.lock().unwrap().push(n);
            });
            while queue::waiting(path) <= n {
                std::thread::yield_now();
            }
        }
        drop(held);
    });
    assert_eq!(*order.lock().unwrap(), (0..8).collect::<Vec<_>>());
}

#[test]
fn one_that_gives_up_in_the_middle_of_the_queue_stops_nobody_behind_it() {
    let dir = folder();
    let path = dir.path().join("lock");
    let held = Lock::acquire(&path, LOCK_LIMIT).unwrap();
    std::thread::scope(|scope| {
        let short = scope.spawn(|| Lock::acquire(&path, Duration::from_millis(50)).map(drop));
        while queue::waiting(&path) < 1 {
            std::thread::yield_now();
        }
        let long = scope.spawn(|| Lock::acquire(&path, Duration::from_secs(60)).map(drop));
        assert_eq!(short.join().unwrap().unwrap_err().code, Code::LockBusy);
        drop(held);
        long.join().unwrap().unwrap();
    });
}

#[test]
fn only_one_thread_at_a_time_has_the_lock() {
    let dir = folder();
    let path = dir.path().join("lock");
    let inside = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let _lock = Lock::acquire(&path, Duration::from_secs(60)).unwrap();
                    assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                    inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                }
            });
        }
    });
    assert!(!queue::is_known(&path));
}

#[test]
fn no_line_is_lost_while_the_log_is_rewritten_and_turned_over() {
    let dir = folder();
    let (log, old) = (dir.path().join("log"), dir.path().join("log.old"));
    let (writers, lines) = (8, 200);
    std::thread::scope(|scope| {
        for writer in 0..writers {
            let log = &log;
            scope.spawn(move || {
                for n in 0..lines {
                    append_line(log, &format!("{writer} {n}"), Mode::Private).unwrap();
                }
            });
        }
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let Some(_held) = hold(&log).unwrap() else { continue };
                    let text = read(&log, MAX_FILE).unwrap();
                    write(&log, &text, Mode::Private).unwrap();
                }
            });
        }
    });
    let has = |path: &Path| std::fs::read_to_string(path).unwrap().lines().count();
    assert_eq!(has(&log), writers * lines);
    // All of them find it full; only the first turns it over.
    std::thread::scope(|scope| {
        for writer in 0..writers {
            let (log, old) = (&log, &old);
            scope.spawn(move || {
                turn_over(log, old, 1000).unwrap();
                append_line(log, &format!("after {writer}"), Mode::Private).unwrap();
            });
        }
    });
    assert_eq!((has(&old), has(&log)), (writers * lines, writers));
}

#[test]
fn a_path_cannot_leave_its_root() {
    let dir = folder();
    let base = std::fs::canonicalize(dir.path()).unwrap();
    let root_folder = base.join("root");
    std::fs::create_dir_all(root_folder.join("in")).unwrap();
    std::fs::create_dir(base.join("out")).unwrap();
    symlink(base.join("out"), root_folder.join("link")).unwrap();
    symlink(base.join("nowhere"), root_folder.join("dangling")).unwrap();
    symlink(root_folder.join("in"), root_folder.join("inner")).unwrap();
    let root = Root::new(&root_folder);
    let resolve = |rest: &str| root.resolve(&root_folder.join(rest));
    assert_eq!(resolve("in/a.json").unwrap(), root_folder.join("in/a.json"));
    assert_eq!(resolve("inner/a.json").unwrap(), root_folder.join("in/a.json"));
    assert_eq!(resolve("new/deep/a.json").unwrap(), root_folder.join("new/deep/a.json"));
    for out in
        ["../out/a", "in/../../out/a", "link/a", "dangling", "dangling/a", "link/../a", ".", "new/../../x"]
    {
        assert_eq!(resolve(out).unwrap_err().code, Code::Path, "{out}");
    }
    assert!(root.resolve(Path::new("/etc/passwd")).is_err());
}

#[test]
fn input_is_taken_from_temporary_folders_only() {
    let dir = folder();
    let roots = TempRoots::new(dir.path());
    let file = dir.path().join("in.json");
    std::fs::write(&file, b"{}").unwrap();
    let name = file.to_str().unwrap();
    assert_eq!(read_input(name, Path::new("/"), &roots).unwrap().1, b"{}");
    let code = |path: &str| read_input(path, Path::new("/"), &roots).unwrap_err().code;
    assert_eq!(code("/etc/hostname"), Code::Security);
    assert_eq!(code(&format!("{}/../{}", dir.path().display(), "x")), Code::Security);
    assert_eq!(code(dir.path().join("none.json").to_str().unwrap()), Code::Input);
    symlink("/etc/hostname", dir.path().join("link.json")).unwrap();
    assert_eq!(code(dir.path().join("link.json").to_str().unwrap()), Code::Security);
    let odd = dir.path().join("a..b.json");
    std::fs::write(&odd, b"{}").unwrap();
    assert!(read_input(odd.to_str().unwrap(), Path::new("/"), &roots).is_ok());
}

#[test]
fn a_local_folder_that_came_with_the_repository_is_set_aside() {
    let dir = folder();
    let local = dir.path().join(".local");
    std::fs::create_dir(&local).unwrap();
    std::fs::write(local.join("audit.jsonl"), b"forged").unwrap();
    std::fs::write(local.join("mark"), b"guess").unwrap();
    let ours = Local::open(dir.path(), "mark-1", ".local.set-aside").unwrap();
    assert!(!ours.path("audit.jsonl").exists());
    assert!(dir.path().join(".local.set-aside/audit.jsonl").exists());
    std::fs::write(ours.path("audit.jsonl"), b"ours").unwrap();
    let again = Local::open(dir.path(), "mark-1", ".local.set-aside-2").unwrap();
    assert!(again.path("audit.jsonl").exists());
}

#[test]
fn killed_writers_leave_only_what_a_sweep_removes() {
    let dir = folder();
    std::fs::write(dir.path().join(".heirloom-tmp-1-2"), b"half").unwrap();
    std::fs::write(dir.path().join("kept"), b"x").unwrap();
    assert_eq!(sweep_temporary(dir.path()), 1);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_temp_file_of_a_killed_process_with_the_same_number_is_in_nobodys_way() {
    let dir = folder();
    for n in 0..2_000 {
        let name = format!(".heirloom-tmp-{}-{n}", std::process::id());
        std::fs::write(dir.path().join(name), b"half").unwrap();
    }
    write(&dir.path().join("a.json"), b"whole", Mode::Shared).unwrap();
    assert_eq!(read(&dir.path().join("a.json"), MAX_FILE).unwrap(), b"whole");
    assert_eq!(sweep_temporary(dir.path()), 2_000);
}

#[test]
fn what_was_prepared_and_not_committed_changes_nothing() {
    let dir = folder();
    let path = dir.path().join("a.json");
    write(&path, b"old", Mode::Shared).unwrap();
    let prepared = Prepared::new(&path, b"new", Mode::Shared).unwrap();
    assert_eq!(read(&path, MAX_FILE).unwrap(), b"old");
    drop(prepared);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    Prepared::new(&path, b"new", Mode::Shared).unwrap().commit().unwrap();
    assert_eq!(read(&path, MAX_FILE).unwrap(), b"new");
}

#[test]
fn a_half_made_local_folder_is_finished_not_set_aside() {
    let dir = folder();
    std::fs::create_dir(dir.path().join(".heirloom-tmp-local")).unwrap();
    std::fs::write(dir.path().join(".heirloom-tmp-local/.gitignore"), b"*").unwrap();
    let local = Local::open(dir.path(), "mark-1", ".local.set-aside").unwrap();
    assert!(Local::known(dir.path(), "mark-1").is_some());
    assert!(Local::known(dir.path(), "mark-2").is_none());
    assert_eq!(std::fs::read(local.path("mark")).unwrap(), b"mark-1");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_sweep_leaves_what_a_living_writer_has_prepared() {
    let dir = folder();
    let prepared = Prepared::new(&dir.path().join("a.json"), b"new", Mode::Shared).unwrap();
    std::fs::write(dir.path().join(".heirloom-tmp-1-2"), b"half").unwrap();
    assert_eq!(sweep_temporary(dir.path()), 1);
    prepared.commit().unwrap();
    assert_eq!(read(&dir.path().join("a.json"), MAX_FILE).unwrap(), b"new");
}

#[test]
fn a_derived_file_is_replaced_whole_and_the_old_one_is_gone() {
    let dir = folder();
    let path = dir.path().join("index.md");
    for text in [&b"first"[..], b"second", b"third"] {
        Prepared::derived(&path, text, Mode::Shared).unwrap().commit().unwrap();
        assert_eq!(read(&path, MAX_FILE).unwrap(), text);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}

#[test]
fn a_folder_in_a_derived_files_place_is_not_swapped_away() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("index.md");
    std::fs::create_dir_all(place.join("somebodys")).unwrap();
    assert!(Prepared::derived(&place, b"new", Mode::Shared).unwrap().place().is_err());
    assert!(place.join("somebodys").is_dir());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

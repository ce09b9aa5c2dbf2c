//! What is read from git's files is what git itself says, and what a stranger put there costs nothing.

use super::inflate::inflate;
use super::*;
use std::process::Output;

struct Repository(tempfile::TempDir);

impl Repository {
    fn new(format: &str) -> Repository {
        let made = Repository(tempfile::tempdir().unwrap());
        made.git(&["init", "--quiet", "--initial-branch", "main", "--object-format", format]);
        made
    }

    fn folder(&self) -> PathBuf {
        std::fs::canonicalize(self.0.path()).unwrap()
    }

    fn try_git(&self, args: &[&str]) -> Output {
        let mut command = start(Some(&self.folder()), Reach::Approved);
        for (name, value) in [("NAME", "Tester"), ("EMAIL", "t@example.org")] {
            command.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
        }
        command.args(args).output().unwrap()
    }

    #[track_caller]
    fn git(&self, args: &[&str]) -> String {
        let output = self.try_git(args);
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn commit(&self, count: usize) {
        for n in 0..count {
            // Long messages that are nearly alike are stored as differences when they are packed.
            let message = format!("commit {n}\n\n{}", "what was done and why it was done so\n".repeat(40));
            self.git(&["commit", "--quiet", "--allow-empty", "-m", &message]);
        }
    }

    fn first(&self) -> First {
        first_commit(&Place::around(&self.folder()).unwrap())
    }

    fn told(&self) -> First {
        let told = self.git(&["rev-list", "--first-parent", "--max-parents=0", "HEAD"]);
        First::Commit(told)
    }
}

#[test]
fn the_first_commit_is_the_one_that_git_names() {
    for format in ["sha1", "sha256"] {
        let made = Repository::new(format);
        assert_eq!(made.first(), First::None, "{format}: nothing was committed");
        made.commit(1);
        assert_eq!(made.first(), made.told(), "{format}: one loose commit");
        made.commit(24);
        assert_eq!(made.first(), made.told(), "{format}: a loose branch");
        made.git(&["repack", "-adfq", "--depth=40", "--window=40"]);
        made.git(&["pack-refs", "--all"]);
        assert!(!made.folder().join(".git/refs/heads/main").exists(), "or packed names are not read");
        assert_eq!(made.first(), made.told(), "{format}: packed");
        made.commit(3);
        made.git(&["repack", "-dq"]);
        assert_eq!(made.first(), made.told(), "{format}: two packs");
        made.git(&["checkout", "--quiet", "--detach"]);
        assert_eq!(made.first(), made.told(), "{format}: no branch");
    }
}

#[test]
fn packed_commits_that_differ_little_are_described_by_each_other() {
    let made = Repository::new("sha1");
    made.commit(30);
    made.git(&["repack", "-adfq", "--depth=40", "--window=40"]);
    let packs = made.folder().join(".git/objects/pack");
    let index = std::fs::read_dir(packs).unwrap().flatten().map(|e| e.path());
    let index = index.into_iter().find(|path| path.extension().is_some_and(|e| e == "idx")).unwrap();
    let listed = made.git(&["verify-pack", "-v", index.to_str().unwrap()]);
    let described =
        listed.lines().filter(|line| line.contains(" commit ") && line.split(' ').count() > 6).count();
    assert!(described > 3, "or differences are never read: {listed}");
    assert_eq!(made.first(), made.told());
}

#[test]
fn a_history_merged_in_from_elsewhere_does_not_change_who_the_project_is() {
    let made = Repository::new("sha1");
    made.commit(2);
    let before = made.first();
    made.git(&["checkout", "--quiet", "--orphan", "other"]);
    made.git(&["commit", "--quiet", "--allow-empty", "-m", "elsewhere"]);
    assert_ne!(made.first(), before);
    made.git(&["checkout", "--quiet", "main"]);
    made.git(&["merge", "--quiet", "--no-edit", "--allow-unrelated-histories", "other"]);
    assert_eq!(made.first(), before);
}

#[test]
fn borrowed_and_cut_off_histories_and_work_trees_are_followed() {
    let made = Repository::new("sha1");
    made.commit(3);
    let beside = tempfile::tempdir().unwrap();
    let beside = std::fs::canonicalize(beside.path()).unwrap();
    let at = |name: &str| beside.join(name).to_str().unwrap().to_owned();
    made.git(&["clone", "--quiet", "--shared", ".", &at("shared")]);
    made.git(&[
        "clone",
        "--quiet",
        "--depth=1",
        &format!("file://{}", made.folder().display()),
        &at("shallow"),
    ]);
    made.git(&["worktree", "add", "--quiet", &at("tree"), "-b", "side"]);
    let first = |name: &str| first_commit(&Place::around(&beside.join(name)).unwrap());
    assert_eq!(first("shared"), made.told());
    assert_eq!(first("tree"), made.told());
    assert_eq!(first("shallow"), First::Commit(made.git(&["rev-parse", "HEAD"])));
    let _ = std::fs::remove_dir_all(beside);
}

#[test]
fn a_history_with_a_hole_or_of_garbage_is_unreadable_and_harmless() {
    let made = Repository::new("sha1");
    made.commit(2);
    let First::Commit(first) = made.told() else { panic!("there is one") };
    let (folder, rest) = first.split_at(2);
    let object = made.folder().join(".git/objects").join(folder).join(rest);
    std::fs::remove_file(&object).unwrap();
    assert_eq!(made.first(), First::Unreadable);
    for garbage in [&b""[..], b"x", b"\x78\x9c", b"\x78\x9c\xff\xff\xff\xff", &[0x78, 0x9c, 5, 0xff, 0xff]] {
        std::fs::write(&object, garbage).unwrap();
        assert_eq!(made.first(), First::Unreadable, "{garbage:?}");
    }
    let head = made.folder().join(".git/HEAD");
    for name in
        ["ref: refs/heads/../../../HEAD", "ref: HEAD", "ref: /etc/passwd", "../x", "", "ref: refs/x\0y"]
    {
        std::fs::write(&head, name).unwrap();
        assert_eq!(made.first(), First::None, "{name}");
    }
    std::fs::write(&head, "ref: refs/heads/a").unwrap();
    std::fs::write(made.folder().join(".git/refs/heads/a"), "ref: refs/heads/a").unwrap();
    assert_eq!(made.first(), First::None, "a name that leads to itself");
}

#[test]
fn packs_of_garbage_are_passed_over() {
    let made = Repository::new("sha1");
    made.commit(2);
    let packs = made.folder().join(".git/objects/pack");
    let mut index = vec![0xff, b't', b'O', b'c', 0, 0, 0, 2];
    index.extend([0xff; 1024 + 64]);
    for (name, bytes) in [("a", &b""[..]), ("b", b"\xfftOc\0\0\0\x02"), ("c", &index)] {
        std::fs::write(packs.join(format!("pack-{name}.idx")), bytes).unwrap();
        std::fs::write(packs.join(format!("pack-{name}.pack")), [0xff; 64]).unwrap();
    }
    assert_eq!(made.first(), made.told());
}

#[test]
fn unpacking_takes_stored_and_packed_bytes_and_stops_where_it_should() {
    // A stored block, a block of the fixed code, and what follows is not asked for.
    let stored = [0x78, 0x01, 1, 3, 0, 0xfc, 0xff, b'a', b'b', b'c'];
    assert_eq!(inflate(&stored, 10).unwrap(), b"abc");
    assert_eq!(inflate(&stored, 2).unwrap(), b"ab");
    let fixed = [0x78, 0x9c, 0x4b, 0x4c, 0x84, 0x01, 0x00];
    assert_eq!(inflate(&fixed, 100).unwrap(), b"aaaaaaaaaa");
    for cut in 0..stored.len() {
        assert_eq!(inflate(&stored[..cut], 10), None, "{cut}");
    }
    // A distance that leads before the beginning.
    assert_eq!(inflate(&[0x78, 0x9c, 0x03, 0x02, 0x00, 0x00], 10), None);
}

proptest::proptest! {
    #[test]
    fn no_bytes_at_all_make_unpacking_fail_loudly(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..600)) {
        let mut packed = vec![0x78, 0x9c];
        packed.extend(bytes);
        if let Some(out) = inflate(&packed, 500) {
            proptest::prop_assert!(out.len() <= 500);
        }
    }
}

//! Disks that say no: full, or mounted read-only.
//!
//! Comes in: a small tmpfs in a mount namespace of its own, which goes away with the process. Goes out: nothing, if a write that cannot be
//! finished changes nothing and says so. Root has the namespace for the asking; others get it with a user namespace.

use crate::env::{HEIRLOOM, ROOT, Ran, TestEnv, decision, finish, target};
use std::path::Path;

impl TestEnv {
    /// Runs a shell script that may mount; `$HEIRLOOM`, `$PROJECT` and `$OUT` (outside every mount) are set.
    fn with_mounts(&self, script: &str) -> Ran {
        let flags = if rustix::process::getuid().is_root() { "-m" } else { "-rm" };
        let mut command = self.command("unshare");
        command.args([flags, "sh", "-euc", script]);
        command.env("HEIRLOOM", HEIRLOOM).env("PROJECT", self.project()).env("OUT", self.base().join("out"));
        std::fs::create_dir_all(self.base().join("out")).unwrap();
        finish(&mut command)
    }

    fn out(&self, name: &str) -> Vec<(String, String)> {
        let files = self.files_below(&self.base().join("out").join(name));
        files.into_iter().map(|(name, bytes)| (name, String::from_utf8(bytes).unwrap())).collect()
    }
}

fn create_call(env: &TestEnv, name: &str) -> String {
    let input = env.input(&decision("Use PostgreSQL for orders"));
    let place = target(name);
    format!("\"$HEIRLOOM\" record write --action create --category decision --target {place} --input {input}")
}

/// Calls of which each would write several files.
fn calls(env: &TestEnv) -> Vec<(&'static str, String)> {
    let mut update = decision("Queue every mail at night");
    update["changes"] = serde_json::json!([{ "date": "2026-02-01", "summary": "Said otherwise" }]);
    let (subject, input) = (target("subject"), env.input(&update));
    vec![
        ("create", create_call(env, "fresh")),
        ("update", format!("\"$HEIRLOOM\" record write --action update --target {subject} --input {input}")),
        ("retire", format!("\"$HEIRLOOM\" record write --action delete --target {subject}")),
        // Forgetting needs a person, so it gets a terminal.
        ("forget", "script -qec '\"$HEIRLOOM\" forget decision:subject --yes' /dev/null".to_owned()),
    ]
}

#[test]
fn a_full_disk_changes_nothing_whatever_little_room_is_left() {
    let probe = TestEnv::new();
    for (name, _) in calls(&probe) {
        let mut refused = 0;
        for pages in 0.. {
            let env = TestEnv::new();
            let call = calls(&env).into_iter().find(|(n, _)| *n == name).unwrap().1;
            let script = format!(
                "mount -t tmpfs -o size=512k tmpfs \"$PROJECT\"; cd \"$PROJECT\"
                 mkdir -p {ROOT}; {prepare} >/dev/null 2>&1
                 dd if=/dev/zero of=fill bs=4k >/dev/null 2>&1 || true
                 truncate -s -{room} fill
                 cp -r {ROOT} \"$OUT/before\"
                 code=0; {call} || code=$?
                 rm fill; cp -r {ROOT} \"$OUT/after\"
                 $HEIRLOOM record index --validate >&2
                 exit $code",
                prepare = create_call(&env, "subject"),
                room = pages * 4096,
            );
            let ran = env.with_mounts(&script);
            let context = format!("{name} with {pages} pages left: {ran:?}");
            assert!(pages < 32, "{context}");
            if ran.code == Some(0) {
                assert_ne!(env.out("before"), env.out("after"), "{context}");
                break;
            }
            refused += 1;
            assert_eq!(ran.code, Some(6), "{context}");
            assert!(ran.stdout.contains("IO_ERROR") && ran.stdout.contains("free some space"), "{context}");
            let (before, after) = (without_marks(env.out("before")), without_marks(env.out("after")));
            assert_eq!(before, after, "{context}");
        }
        assert!(refused > 0, "{name} never met a full disk");
    }
}

/// The lock and the mark that the index is owed something hold no memory; the latter only makes the next call look twice.
fn without_marks(files: Vec<(String, String)>) -> Vec<(String, String)> {
    files.into_iter().filter(|(name, _)| !name.ends_with("/lock") && !name.ends_with("index-owes")).collect()
}

#[test]
fn a_read_only_disk_is_read_and_every_write_says_why_not() {
    let env = TestEnv::new();
    let writes: Vec<String> = calls(&env)
        .into_iter()
        .map(|(name, call)| format!("code=0; {call} > \"$OUT/{name}\" 2>&1 || code=$?; echo {name} $code;"))
        .collect();
    let script = format!(
        "mount -t tmpfs tmpfs \"$PROJECT\"; cd \"$PROJECT\"; mkdir -p {ROOT}; {prepare} >/dev/null 2>&1
         rm {ROOT}/index.md; mount -o remount,ro \"$PROJECT\"
         {writes}
         $HEIRLOOM list --json > \"$OUT/list\"; $HEIRLOOM show subject > \"$OUT/show\"
         $HEIRLOOM recall where do orders live in PostgreSQL > \"$OUT/recall\"
         $HEIRLOOM record candidate --category decision --new-info 'orders in PostgreSQL' > \"$OUT/candidate\"",
        prepare = create_call(&env, "subject"),
        writes = writes.concat(),
    );
    let ran = env.with_mounts(&script).ok();
    assert_eq!(ran.stdout, "create 6\nupdate 6\nretire 6\nforget 6\n");
    let said = |name: &str| std::fs::read_to_string(env.base().join("out").join(name)).unwrap();
    for name in ["create", "update", "retire", "forget"] {
        assert!(
            said(name).contains("IO_ERROR") && said(name).contains("read-only"),
            "{name}: {}",
            said(name)
        );
    }
    for name in ["list", "show", "recall", "candidate"] {
        assert!(said(name).contains("PostgreSQL"), "{name}: {}", said(name));
    }
}

#[test]
fn every_reading_verb_works_in_a_read_only_checkout_and_says_so() {
    const READS: [&str; 14] = [
        "list",
        "show postgresql",
        "search postgresql",
        "recall which database do orders use",
        "status",
        "verify",
        "review",
        "history postgresql",
        "audit",
        "lesson topics",
        "note list",
        "brief rebase",
        "anchor list",
        "model status",
    ];
    for local in ["rm -rf .claude/memory/.local", "true"] {
        let env = TestEnv::new();
        let reads: String = READS
            .iter()
            .map(|read| {
                format!(
                    "code=0; $HEIRLOOM {read} > \"$OUT/{0}\" 2>&1 || code=$?; echo {read}: $code;\n",
                    read.replace(' ', "-")
                )
            })
            .collect();
        let script = format!(
            "mount -t tmpfs tmpfs \"$PROJECT\"; cd \"$PROJECT\"; $HEIRLOOM init > /dev/null 2>&1
             $HEIRLOOM add decision 'Use PostgreSQL for orders because we need jsonb' > /dev/null 2>&1
             {local}; mount -o remount,ro \"$PROJECT\"
             {reads}"
        );
        let ran = env.with_mounts(&script).ok();
        for read in READS {
            assert!(ran.stdout.contains(&format!("{read}: 0\n")), "{local}: {read}: {}", ran.stdout);
            let said = std::fs::read_to_string(env.base().join("out").join(read.replace(' ', "-"))).unwrap();
            assert!(said.contains("read-only"), "{local}: {read}: {said}");
        }
        let recalled = std::fs::read_to_string(env.base().join("out/recall-which-database-do-orders-use"));
        assert!(recalled.unwrap().contains("Use PostgreSQL"), "{local}");
    }
}

#[test]
fn a_home_that_cannot_be_written_does_not_keep_anybody_from_reading() {
    let env = TestEnv::ready();
    env.create("subject", &decision("Use PostgreSQL for orders")).ok();
    std::fs::remove_dir_all(env.home()).unwrap();
    // A file where the home should be: not even root can make a folder in it.
    std::fs::write(env.home(), "no folder").unwrap();
    let listed = env.run(&["list", "--json"]).ok().items();
    assert_eq!(listed[0]["trust"], "medium", "nobody here knows where it came from");
    assert_eq!(env.create("fresh", &decision("A fresh choice")).kind(), "IO_ERROR");
    assert!(!Path::new(&env.project().join(target("fresh"))).exists());
}

/// Calls that store something on the other shelves, and the file whose bytes say whether they did.
const SHELVES: [(&str, &str, &str); 3] = [
    ("lesson", "\"$HEIRLOOM\" add lesson 'It broke again: mend it' --topic a/b", "topics"),
    ("note", "\"$HEIRLOOM\" add note 'Carts are emptied at night.'", "notes"),
    (
        "canon",
        "script -qec '\"$HEIRLOOM\" add canon \"Carts belong to the shop team\"' /dev/null",
        "vault.jsonl",
    ),
];

/// What a memory could be read from.
fn shelves_of(files: Vec<(String, String)>) -> Vec<(String, String)> {
    files
        .into_iter()
        .filter(|(name, _)| !name.starts_with(".local/") && !name.contains(".heirloom-tmp-"))
        .collect()
}

#[test]
fn a_full_disk_stores_no_lesson_note_or_canon_and_says_so() {
    for (name, call, file) in SHELVES {
        let mut refused = 0;
        for pages in 0.. {
            let env = TestEnv::new();
            let script = format!(
                "mount -t tmpfs -o size=768k tmpfs \"$PROJECT\"; cd \"$PROJECT\"
                 mkdir -p {ROOT}; {prepare} >/dev/null 2>&1
                 \"$HEIRLOOM\" add lesson 'It broke before: mend it' --topic a/b >/dev/null 2>&1
                 dd if=/dev/zero of=fill bs=4k >/dev/null 2>&1 || true
                 truncate -s -{room} fill
                 cp -r {ROOT} \"$OUT/before\"
                 code=0; {call} || code=$?
                 rm fill; cp -r {ROOT} \"$OUT/after\"
                 \"$HEIRLOOM\" add lesson 'Another one broke: mend it' --topic c/d >&2
                 \"$HEIRLOOM\" audit verify >&2
                 exit $code",
                prepare = create_call(&env, "subject"),
                room = pages * 4096,
            );
            let ran = env.with_mounts(&script);
            let context = format!("{name} with {pages} pages left: {ran:?}");
            assert!(pages < 48, "{context}");
            let (before, after) = (shelves_of(env.out("before")), shelves_of(env.out("after")));
            if ran.code == Some(0) {
                assert!(after.iter().any(|(path, _)| path.contains(file)), "{context}");
                assert_ne!(before, after, "{context}");
                break;
            }
            refused += 1;
            assert_eq!(ran.code, Some(6), "{context}");
            assert_eq!(before, after, "{context}");
        }
        assert!(refused > 0, "{name} never met a full disk");
    }
}

#[test]
fn without_an_audit_that_can_be_written_nothing_is_stored_on_any_shelf() {
    // A folder, a link, and a limit on the size of files that leaves no room for another line.
    let spoils = [
        ("folder", "rm -f \"$AUDIT\"; mkdir \"$AUDIT\""),
        ("link", "mv \"$AUDIT\" \"$OUT/elsewhere\"; ln -s \"$OUT/elsewhere\" \"$AUDIT\""),
        ("limit", "head -c 40000 /dev/zero | tr '\\0' ' ' >> \"$AUDIT\"; echo >> \"$AUDIT\"; ulimit -f 16"),
    ];
    for (spoil, how) in spoils {
        let env = TestEnv::ready();
        env.run(&["add", "lesson", "It broke before: mend it", "--topic", "a/b"]).ok();
        env.run(&["add", "note", "Said before."]).ok();
        let record = create_call(&env, "fresh");
        let retire = "\"$HEIRLOOM\" record write --action delete --target";
        let calls = SHELVES.iter().map(|(name, call, _)| (*name, (*call).to_owned()));
        let calls = calls.chain([("record", record), ("retire", format!("{retire} {}", target("subject")))]);
        env.create("subject", &decision("Use PostgreSQL for orders")).ok();
        let calls: String = calls
            .map(|(name, call)| {
                format!("code=0; {call} > \"$OUT/{name}\" 2>&1 || code=$?; echo {name} $code\n")
            })
            .collect();
        let script = format!(
            "AUDIT=$PWD/{ROOT}/.local/audit.jsonl; cp -r {ROOT} \"$OUT/before\"; ({how}; {calls}) > \"$OUT/codes\" || true
             cp -r {ROOT} \"$OUT/after\""
        );
        let mut command = env.command("sh");
        command.args(["-uc", &script]).current_dir(env.project());
        command.env("HEIRLOOM", HEIRLOOM).env("OUT", env.base().join("out"));
        std::fs::create_dir_all(env.base().join("out")).unwrap();
        finish(&mut command);
        let codes = std::fs::read_to_string(env.base().join("out/codes")).unwrap();
        assert_eq!(codes.lines().count(), 5, "{spoil}: {codes}");
        assert!(codes.lines().all(|line| !line.ends_with(" 0")), "{spoil}: {codes}");
        let without_index = |name: &str| {
            let files = env.files_below(&env.base().join("out").join(name));
            let kept = |name: &String| !name.starts_with(".local/") && !name.contains(".heirloom-tmp-");
            files.into_iter().filter(|(name, _)| kept(name)).collect::<Vec<_>>()
        };
        assert_eq!(without_index("before"), without_index("after"), "{spoil}: {codes}");
    }
}

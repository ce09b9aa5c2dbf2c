//! Input that is wrong in every way one can think of: a clear code, an exit code from the table, and nothing changed.
//!
//! Comes in: documents, bytes, paths and folders of bad intent or bad luck. Goes out: nothing, if each is answered and none leaves a trace.

use crate::env::{ROOT, Ran, TestEnv, creating, decision, target};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;

/// A store with one record, and a check that a refused call left it as it was.
struct Store {
    env: TestEnv,
    before: Vec<(String, Vec<u8>)>,
}

impl Store {
    fn new() -> Store {
        let env = TestEnv::ready();
        env.create("subject", &decision("Use PostgreSQL for orders")).ok();
        Store { before: contents(&env), env }
    }

    /// The state from which nothing may change from now on.
    fn settled(mut self) -> Store {
        self.before = contents(&self.env);
        self
    }

    #[track_caller]
    fn refuses(&self, ran: &Ran, code: &str, exit: i32) {
        assert_eq!((ran.kind(), ran.code), (code, Some(exit)), "{ran:?}");
        assert!(ran.stdout.lines().any(|line| line.starts_with("fix: ")), "a next step is given: {ran:?}");
        self.is_unchanged();
    }

    #[track_caller]
    fn is_unchanged(&self) {
        assert_eq!(contents(&self.env), self.before);
        assert_eq!(self.env.litter(), [""; 0]);
    }

    fn create_from(&self, bytes: &[u8]) -> Ran {
        let (place, input) = (target("fresh"), self.env.raw_input(bytes));
        self.create_at(&place, &input)
    }

    fn create_at(&self, place: &str, input: &str) -> Ran {
        self.env.run(&creating(place, input))
    }
}

/// Everything in the memory folder but the audit, which notes refusals.
fn contents(env: &TestEnv) -> Vec<(String, Vec<u8>)> {
    let files = env.files_below(&env.project());
    files.into_iter().filter(|(name, _)| !name.ends_with("audit.jsonl")).collect()
}

#[test]
fn text_that_is_no_json_object_is_an_input_error() {
    let store = Store::new();
    let deep = "[".repeat(200_000);
    for bytes in [
        &b""[..],
        b"{",
        b"not json",
        b"[1, 2]",
        b"\"text\"",
        b"null",
        b"3",
        b"{\"title\": }",
        b"\xff\xfe{}",
        b"{}{}",
        b"\0\0\0\0",
        deep.as_bytes(),
    ] {
        let ran = store.create_from(bytes);
        store.refuses(&ran, "INPUT_ERROR", 1);
    }
}

#[test]
fn every_field_of_the_wrong_type_is_named() {
    let store = Store::new();
    let wrong = [json!(7), json!({"a": 1}), json!([[]]), json!(true)];
    for field in ["title", "tags", "related_files", "confidence", "content", "changes", "times_updated"] {
        // A number fits or is clamped there; a list of tags is rid of what is no text.
        let fits = |value: &Value| match field {
            "times_updated" | "confidence" => value.is_number(),
            "tags" => value.is_array(),
            _ => false,
        };
        for value in wrong.iter().filter(|value| !fits(value)) {
            let mut document = decision("A fresh choice");
            document[field] = value.clone();
            let ran = store.create_from(document.to_string().as_bytes());
            assert!(ran.stdout.contains(&format!("field: {field}")), "{field} = {value}: {ran:?}");
            store.refuses(&ran, "VALIDATION_ERROR", 1);
        }
    }
}

#[test]
fn a_title_of_ten_megabytes_is_refused_at_once_through_every_door() {
    let store = Store::new();
    let document = decision(&"a".repeat(10 << 20)).to_string();
    let ran = store.create_from(document.as_bytes());
    store.refuses(&ran, "INPUT_ERROR", 1);
    let added = store.env.run_with(&["add", "decision", "--from", "-"], document.as_bytes());
    added.fails_with("INPUT_ERROR", 1);
    store.is_unchanged();
    let file = store.env.raw_input(document.as_bytes());
    store.env.run(&["add", "decision", "--from", &file]).fails_with("INPUT_ERROR", 1);
    store.is_unchanged();
}

#[test]
fn the_longest_title_that_an_input_can_hold_is_refused_and_not_repeated() {
    let store = Store::new();
    let document = decision(&"#ta".repeat(150_000)).to_string();
    let ran = store.create_from(document.as_bytes());
    store.refuses(&ran, "VALIDATION_ERROR", 1);
    assert!(ran.stdout.len() < 1_000 && ran.stdout.contains("field: title"));
}

#[test]
fn a_hundred_thousand_unknown_fields_are_answered() {
    let store = Store::new();
    let mut document = decision("A fresh choice");
    for n in 0..40_000 {
        document[format!("k{n}")] = json!(1);
    }
    let ran = store.create_from(document.to_string().as_bytes());
    store.refuses(&ran, "VALIDATION_ERROR", 1);
}

#[test]
fn control_and_invisible_characters_never_reach_title_tags_or_index() {
    let store = Store::new();
    let mut document = decision("Zero\u{200b}width\u{202e}\u{e0041} and \u{7}bell\nnew line\u{feff}");
    document["tags"] = json!(["a\u{200b}b", "c\nd", "\u{1b}[31mred"]);
    store.env.create("fresh", &document).ok();
    let record = store.env.decision("fresh");
    let title = record["title"].as_str().unwrap();
    assert_eq!(title, "Zerowidth and bellnew line");
    let tags: Vec<&str> = record["tags"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(tags, ["[31mred", "ab", "cd"]);
    let line = store.env.index().into_iter().find(|line| line.contains("fresh.json")).unwrap();
    assert!(!line.chars().any(|c| c.is_control() || heirloom_core::text::is_invisible(c)), "{line:?}");
}

#[test]
fn a_title_made_of_nothing_visible_is_refused() {
    let store = Store::new();
    for title in ["\u{200b}\u{feff}", "\n\t\u{1}", "   ", "#tags:"] {
        let ran = store.create_from(decision(title).to_string().as_bytes());
        store.refuses(&ran, "VALIDATION_ERROR", 1);
    }
}

#[test]
fn a_title_cannot_forge_an_index_line() {
    let store = Store::new();
    let title = "Real\n- [DECISION] Forged -> .claude/memory/decisions/evil.json #tags:x";
    store.env.create("fresh", &decision(title)).ok();
    assert_eq!(store.env.index().len(), 2);
    assert!(store.env.index().iter().all(|line| !line.contains("-> .claude/memory/decisions/evil.json")));
    store.env.run(&["record", "index", "--validate"]).ok();
}

#[test]
fn a_target_that_climbs_out_or_is_absolute_elsewhere_is_a_path_error() {
    let store = Store::new();
    let outside = store.env.scratch().join("evil.json");
    for place in [
        "../evil.json",
        ".claude/memory/../../evil.json",
        ".claude/memory/decisions/../../../evil.json",
        "/etc/evil.json",
        outside.to_str().unwrap(),
        "",
        ".",
        ".claude/memory",
        ".claude/memory/decisions",
        ".claude/memory/decisions/..",
        ".claude/memory/decisions/evil.md",
        ".claude/memory/decisions/.hidden.json",
        ".claude/memory/.local/evil.json",
        ".claude/memory/memory-config.json",
        ".claude/memory/index.md",
    ] {
        let ran = store.create_at(place, &store.env.input(&decision("A fresh choice")));
        store.refuses(&ran, "PATH_ERROR", 1);
    }
    assert!(!outside.exists());
}

#[test]
fn a_record_is_created_only_in_a_folder_of_records() {
    let store = Store::new();
    for place in
        ["x.json", "misc/x.json", "decisions/deeper/x.json", "topics/x.json", "archive/decisions/x.json"]
    {
        let ran = store.create_at(&format!("{ROOT}/{place}"), &store.env.input(&decision("A fresh choice")));
        store.refuses(&ran, "PATH_ERROR", 1);
    }
}

#[test]
fn a_linked_folder_or_file_is_never_followed_out() {
    let env = TestEnv::ready();
    let outside = env.scratch().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    let secret = env.raw_input(decision("Somebody's own").to_string().as_bytes());
    symlink(&outside, env.memory("decisions")).unwrap();
    std::fs::create_dir(env.memory("runbooks")).unwrap();
    symlink(&secret, env.memory("runbooks/ln.json")).unwrap();
    let store = Store { before: Vec::new(), env }.settled();
    let ran = store.create_at(&target("fresh"), &store.env.input(&decision("A fresh choice")));
    store.refuses(&ran, "PATH_ERROR", 1);
    let link = format!("{ROOT}/runbooks/ln.json");
    let ran = store.env.run(&["record", "write", "--action", "delete", "--target", &link]);
    store.refuses(&ran, "PATH_ERROR", 1);
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    let listed = store.env.run(&["list", "--json"]).ok();
    assert_eq!(listed.items(), json!([]), "what is behind a link is not listed");
    assert!(store.env.run(&["verify"]).stdout.contains("is a link"));
}

#[test]
fn a_folder_where_a_file_should_be_is_answered_for_every_file() {
    let store = Store::new();
    std::fs::create_dir_all(store.env.memory("decisions/fresh.json/inner")).unwrap();
    let ran = store.create_from(decision("A fresh choice").to_string().as_bytes());
    store.refuses(&ran, "CREATE_ERROR", 1);
    for action in ["delete", "archive", "unarchive", "restore"] {
        let ran = store.env.run(&["record", "write", "--action", action, "--target", &target("fresh")]);
        assert_eq!((ran.kind(), ran.code), ("READ_ERROR", Some(1)), "{action}: {ran:?}");
    }
    store.is_unchanged();
    let folder = store.env.scratch().join("in.json");
    std::fs::create_dir(&folder).unwrap();
    let ran = store.create_at(&target("other"), folder.to_str().unwrap());
    store.refuses(&ran, "INPUT_ERROR", 1);
}

#[test]
fn an_index_that_is_a_folder_stops_a_write_before_anything_is_stored() {
    let store = Store::new();
    std::fs::remove_file(store.env.memory("index.md")).unwrap();
    std::fs::create_dir(store.env.memory("index.md")).unwrap();
    let store = store.settled();
    let ran = store.create_from(decision("A fresh choice").to_string().as_bytes());
    assert_eq!((ran.kind(), ran.code), ("READ_ERROR", Some(1)), "{ran:?}");
    store.is_unchanged();
    let ran = store.env.run(&["record", "write", "--action", "delete", "--target", &target("subject")]);
    assert_eq!(ran.kind(), "READ_ERROR");
    store.is_unchanged();
}

#[test]
fn a_file_where_a_folder_should_be_is_answered() {
    let store = Store::new();
    store.env.write(format!("{ROOT}/runbooks"), "no folder");
    let store = store.settled();
    let fields = ["-f", "steps=Restart it", "-f", "verification=It drains"];
    let ran = store
        .env
        .run(&[&["add", "runbook", "Restart the worker because jobs pile up"][..], &fields].concat());
    ran.fails_with("IO_ERROR", 6);
    store.is_unchanged();
    let ran =
        store.env.run(&[&["add", "runbook", "Restart it because it leaks", "--json"][..], &fields].concat());
    ran.fails_with("IO_ERROR", 6);
}

#[test]
fn input_outside_the_temporary_folders_is_a_security_error() {
    let store = Store::new();
    let inside_project = store.env.write("input.json", decision("A fresh choice").to_string());
    symlink("/etc/hostname", store.env.scratch().join("link.json")).unwrap();
    let link = store.env.scratch().join("link.json");
    let climbing = format!("{}/../../../etc/hostname", store.env.scratch().display());
    let store = store.settled();
    for input in
        ["/etc/hostname", "/proc/self/environ", link.to_str().unwrap(), climbing.as_str(), "../x.json"]
    {
        let ran = store.create_at(&target("fresh"), input);
        store.refuses(&ran, "SECURITY_ERROR", 1);
    }
    // This project itself lies in /tmp, so its own file is allowed; a missing one is an input error.
    assert!(inside_project.starts_with("/tmp"));
    let ran = store.create_at(&target("fresh"), "/tmp/heirloom-there-is-no-such-file.json");
    store.refuses(&ran, "INPUT_ERROR", 1);
}

#[test]
fn a_pipe_that_nobody_writes_to_does_not_hold_anything_up() {
    let store = Store::new();
    let pipe = store.env.scratch().join("pipe.json");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let ran = store.create_at(&target("fresh"), pipe.to_str().unwrap());
    store.refuses(&ran, "INPUT_ERROR", 1);
    let record = store.env.memory("decisions/pipe.json");
    rustix::fs::mknodat(rustix::fs::CWD, &record, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    assert_eq!(store.env.run(&["list", "--json"]).ok().items().as_array().unwrap().len(), 1);
    store.env.run(&["record", "index", "--rebuild"]).ok();
}

#[test]
fn a_damaged_record_costs_only_itself() {
    let store = Store::new();
    store.env.write(format!("{ROOT}/decisions/broken.json"), "{ \"title\": ");
    store.env.write(format!("{ROOT}/decisions/list.json"), "[]");
    store.env.write(format!("{ROOT}/decisions/bytes.json"), b"\xff\xff");
    assert_eq!(store.env.run(&["list", "--json"]).ok().items().as_array().unwrap().len(), 1);
    let rebuilt = store.env.run(&["record", "index", "--rebuild"]).ok();
    assert!(rebuilt.stderr.contains("broken.json") && rebuilt.stdout.contains("1 entries"));
    for name in ["broken", "list", "bytes"] {
        let ran = store.env.run(&["record", "write", "--action", "delete", "--target", &target(name)]);
        assert_eq!((ran.kind(), ran.code), ("READ_ERROR", Some(1)));
    }
    let verified = store.env.run(&["verify", "--json"]);
    assert_eq!(verified.code, Some(1));
    assert_eq!(verified.json()["problems"].as_array().unwrap().len(), 3);
}

#[test]
fn a_secret_in_any_field_is_refused_and_never_printed() {
    let store = Store::new();
    // Put together here so that no scanner takes this file for a leak.
    let secret = format!("gh{}_{}", "p", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6");
    // Tags are lower-cased before the gate sees them, so a rule that needs capitals has nothing to find there.
    type Put = fn(&mut Value, Value);
    let places: [(&str, Put); 4] = [
        ("title", |d, v| d["title"] = v),
        ("content.context", |d, v| d["content"]["context"] = v),
        ("content.rationale", |d, v| d["content"]["rationale"] = json!(["ok", v])),
        ("related_files", |d, v| d["related_files"] = json!([v])),
    ];
    for (name, put) in places {
        let mut document = decision("A fresh choice");
        put(&mut document, json!(format!("log in with {secret}")));
        let ran = store.create_from(document.to_string().as_bytes());
        store.refuses(&ran, "GATE_REFUSED", 1);
        assert!(!format!("{ran:?}").contains(&secret[6..]), "{name}");
    }
    let ran = store.env.run(&["retire", "subject", "--reason", &format!("moved to {secret}")]);
    ran.fails_with("GATE_REFUSED", 1);
    assert!(!format!("{ran:?}").contains(&secret[6..]));
    let everything = store.env.files_below(&store.env.base());
    let leaks: Vec<&String> = everything
        .iter()
        .filter(|(name, bytes)| {
            !name.starts_with("scratch/") && String::from_utf8_lossy(bytes).contains(&secret[6..])
        })
        .map(|(name, _)| name)
        .collect();
    assert!(leaks.is_empty(), "{leaks:?}");
}

#[test]
fn wrong_arguments_are_a_usage_error_and_nothing_is_made() {
    let env = TestEnv::new();
    let calls: [&[&str]; 10] = [
        &["no-such-command"],
        &["add"],
        &["record", "write"],
        &["record", "write", "--action", "explode", "--target", "x"],
        &["record", "index"],
        &["record", "index", "--rebuild", "--gc"],
        &["record", "candidate", "--category", "gossip", "--new-info", "x"],
        &[
            "record",
            "candidate",
            "--category",
            "decision",
            "--new-info",
            "x",
            "--lifecycle-event",
            "vanished",
        ],
        &["list", "--retired", "--archived"],
        &["add", "gossip", "something"],
    ];
    for call in calls {
        let ran = env.run(call);
        assert_eq!(ran.code, Some(2), "{call:?}: {ran:?}");
        assert!(!ran.stderr.is_empty());
    }
    assert_eq!(env.files_below(&env.project()), []);
}

#[test]
fn an_error_names_a_next_step_that_exists_in_the_command_that_was_typed() {
    let env = TestEnv::ready();
    let add = ["add", "decision", "Use PostgreSQL because we need jsonb"];
    env.run(&add).ok();
    let twice = env.run(&add);
    assert!(twice.stderr.contains("heirloom edit") && !twice.stderr.contains("--action"), "{twice:?}");
    env.run(&["archive", "decision:use-postgresql"]).ok();
    let archived = env.run(&["retire", "decision:use-postgresql"]);
    assert!(
        archived.stderr.contains("heirloom unarchive") && !archived.stderr.contains("--action"),
        "{archived:?}"
    );
}

#[test]
fn usage_errors_name_what_is_missing_in_json_too() {
    let env = TestEnv::ready();
    let error = env.run(&["add", "--json"]).json()["error"].clone();
    assert_eq!(error["facts"][0]["missing"], "<KIND>", "{error}");
    assert!(error["hint"].as_str().unwrap().contains("heirloom help add"));
    env.run(&["remember", "I like tea", "--confidence", "7"]).fails_with("USAGE", 2);
    env.run(&["list", "--set"]).fails_with("USAGE", 2);
    env.run(&["list", "--set", "foo"]).fails_with("USAGE", 2);
    env.run(&["scan", "--fix", "README.md"]).fails_with("USAGE", 2);
    env.run(&["search", "since:banana"]).fails_with("USAGE", 2);
}

#[test]
fn an_answer_that_cannot_be_written_is_an_error() {
    let env = TestEnv::ready();
    env.run(&["add", "decision", "Use PostgreSQL because we need jsonb"]).ok();
    for args in [&["list"][..], &["list", "--json"], &["show", "postgresql", "--raw"], &["help"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = env.command(crate::env::HEIRLOOM);
        let status = command.args(args).stdout(full).stderr(std::process::Stdio::null()).status().unwrap();
        assert_eq!(status.code(), Some(6), "{args:?}");
    }
}

#[test]
fn nothing_is_written_into_a_folder_without_a_memory_unless_somebody_says_yes() {
    let env = TestEnv::new();
    for args in [
        &["add", "decision", "Use PostgreSQL because we need jsonb"][..],
        &["config", "set", "retrieval.max_inject", "3"],
        &["config", "category", "add", "meeting", "--field", "who"],
    ] {
        let refused = env.run(args);
        refused.fails_with("NOT_FOUND", 3);
        assert!(refused.stderr.contains("heirloom init"), "{refused:?}");
        let no = env.at_terminal(args, "\n");
        assert_eq!(no.code, Some(1), "{no:?}");
        assert!(no.stderr.contains("[y/N]"), "{no:?}");
        assert!(!env.project().join(".claude").exists(), "{args:?}");
    }
    env.at_terminal(&["add", "decision", "Use PostgreSQL because we need jsonb"], "y\n").ok();
    assert!(
        env.memory("decisions/use-postgresql.json").exists() && env.memory("memory-config.json").exists()
    );
    // What belongs to the user needs no project.
    TestEnv::new().at_terminal(&["remember", "I prefer short answers"], "").ok();
    TestEnv::new().run(&["config", "set", "--user", "retrieval.max_inject", "3"]).ok();
}

#[test]
fn a_memory_is_named_by_any_part_of_its_id_whatever_its_capitals() {
    let env = TestEnv::ready();
    env.run(&["add", "decision", "Use PostgreSQL for orders because we need row locks"]).ok();
    env.run(&["add", "constraint", "Orders are kept for ten years because of the law"]).ok();
    for name in [
        "postgresql",
        "PostgreSQL",
        "Use PostgreSQL",
        "sql-for",
        "decision:use-post",
        "use-postgresql-for-orders",
    ] {
        let shown = env.run(&["show", name, "--json"]).ok().json();
        assert_eq!(
            shown["memory"]["id"].as_str().or(shown["id"].as_str()),
            Some("decision:use-postgresql-for-orders"),
            "{name}"
        );
    }
    env.run(&["show", "orders"]).fails_with("AMBIGUOUS", 1);
    env.run(&["show", "decision:nothing"]).fails_with("NOT_FOUND", 3);
    // A program that changes something gives the whole id.
    env.run(&["retire", "postgresql"]).fails_with("AMBIGUOUS", 1);
}

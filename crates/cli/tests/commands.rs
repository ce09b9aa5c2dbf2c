//! Every command for people: what it prints, its JSON, its errors.
//!
//! Comes in: arguments. Goes out: nothing, if each answers as its help says.

use crate::env::{ROOT, TestEnv, decision, target};
use serde_json::{Value, json};

/// What a runbook is of no use without.
const RUNBOOK: [&str; 4] = ["-f", "steps=Restart it", "-f", "verification=The queue drains"];

fn with_records() -> TestEnv {
    let env = TestEnv::ready();
    env.run(&["add", "decision", "Use PostgreSQL for orders because we need jsonb", "--tag", "database"])
        .ok();
    let runbook =
        ["add", "runbook", "Restart the queue worker because it leaks connections", "--tag", "queue"];
    env.run(&[&runbook[..], &RUNBOOK].concat()).ok();
    env
}

fn ids(env: &TestEnv, arguments: &[&str]) -> Vec<String> {
    let listed = env.run(&[&["list", "--json"], arguments].concat()).ok().items();
    listed.as_array().unwrap().iter().map(|m| m["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn init_prepares_a_project_and_changes_nothing_the_second_time() {
    let env = TestEnv::new();
    let planned = env.run(&["init", "--dry-run", "--json"]).ok().json();
    assert!(planned.as_array().unwrap().iter().all(|step| step["done"] == true), "{planned}");
    assert_eq!(env.files_below(&env.project()), [], "a dry run makes nothing");
    let first = env.run(&["init"]).ok();
    assert!(first.stdout.contains("created settings") && first.stderr.contains("heirloom add decision"));
    let files = env.files_below(&env.project());
    let second = env.run(&["init", "--json"]).ok().json();
    assert!(second.as_array().unwrap().iter().all(|step| step["done"] == false), "{second}");
    assert_eq!(env.files_below(&env.project()), files);
    let ignored = std::fs::read_to_string(env.memory(".local/.gitignore")).unwrap();
    assert!(ignored.lines().any(|line| line == "*"));
}

#[test]
fn init_keeps_the_attributes_that_are_there() {
    let env = TestEnv::new();
    env.write(format!("{ROOT}/.gitattributes"), "*.json text\nindex.md merge=heirloom");
    env.run(&["init"]).ok();
    let text = std::fs::read_to_string(env.memory(".gitattributes")).unwrap();
    assert!(text.starts_with("*.json text\nindex.md merge=heirloom\n"));
    assert_eq!(text.matches("index.md merge=heirloom").count(), 1);
}

#[test]
fn init_installs_a_hook_only_where_it_may() {
    let env = TestEnv::new();
    env.run(&["init", "--pre-commit"]).fails_with("USAGE", 2);
    env.git(&["init", "-q"]);
    env.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 0\n");
    env.run(&["init", "--pre-commit"]).fails_with("USAGE", 2);
    std::fs::remove_file(env.project().join(".git/hooks/pre-commit")).unwrap();
    env.run(&["init", "--pre-commit"]).ok();
    env.run(&["init", "--pre-commit"]).ok();
    env.create("subject", &decision("Use PostgreSQL for orders")).ok();
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "first"]);
    env.write(format!("{ROOT}/decisions/broken.json"), "{");
    env.git(&["add", "-A"]);
    let refused = crate::env::finish(env.command("git").args(["commit", "-qm", "second"]));
    assert_ne!(refused.code, Some(0), "the hook stops a broken store");
    assert!(format!("{refused:?}").contains("broken.json"));
}

#[test]
fn a_sentence_and_what_it_cannot_say_become_a_whole_record_of_every_kind() {
    let env = TestEnv::ready();
    for kind in ["decision", "runbook", "constraint", "tech_debt", "preference", "session_summary"] {
        let said: &[&str] = match kind {
            "runbook" => &RUNBOOK,
            "session_summary" => &["-f", "outcome=success"],
            _ => &[],
        };
        let added =
            env.run(&[&["add", kind, "Do this because of that", "--json"], said].concat()).ok().json();
        assert_eq!(added["id"], format!("{kind}:do-this"));
        assert_eq!(added["status"], "created");
    }
    env.run(&["verify"]).ok();
    assert_eq!(env.decision("do-this")["content"]["rationale"], json!(["of that"]));
}

#[test]
fn add_takes_fields_tags_files_and_confidence() {
    let env = TestEnv::ready();
    env.write("src/db.rs", "");
    env.run(&[
        "add",
        "decision",
        "--title",
        "Use PostgreSQL",
        "--field",
        "decision=Use it",
        "-f",
        "rationale=row locks",
        "-f",
        "rationale=jsonb",
        "-f",
        "alternatives=MySQL: no jsonb",
        "-f",
        "context=Orders",
        "-t",
        "Database",
        "--file",
        "src/db.rs",
        "--confidence",
        "0.8",
    ])
    .ok();
    let record = env.decision("use-postgresql");
    assert_eq!(record["content"]["rationale"], json!(["row locks", "jsonb"]));
    assert_eq!(
        record["content"]["alternatives"],
        json!([{"option": "MySQL", "rejected_reason": "no jsonb"}])
    );
    assert_eq!((&record["tags"], &record["confidence"]), (&json!(["database"]), &json!(0.8)));
    assert_eq!(record["related_files"], json!(["src/db.rs"]));
}

#[test]
fn add_reads_a_whole_record_from_a_file_or_standard_input() {
    let env = TestEnv::ready();
    let document =
        json!({ "title": "Queue every mail", "tags": ["mail"], "content": decision("x")["content"] });
    let added =
        env.run_with(&["add", "decision", "--from", "-", "--json"], document.to_string().as_bytes()).ok();
    assert_eq!(added.json()["id"], "decision:queue-every-mail");
    let file =
        env.input(&json!({ "id": "Own Name", "title": "T", "tags": ["x"], "content": document["content"] }));
    assert_eq!(
        env.run(&["add", "decision", "--from", &file, "--json"]).ok().json()["id"],
        "decision:own-name"
    );
    env.run(&["add", "decision", "--from", "/nonexistent"]).fails_with("INPUT_ERROR", 1);
    env.run_with(&["add", "decision", "--from", "-", "--json"], b"[]").fails_with("INPUT_ERROR", 1);
}

#[test]
fn a_dry_run_of_add_shows_the_record_and_stores_nothing() {
    let env = TestEnv::ready();
    let shown =
        env.run(&["add", "decision", "Use PostgreSQL because we need jsonb", "--dry-run"]).ok().json();
    assert_eq!(shown["title"], "Use PostgreSQL");
    assert_eq!(ids(&env, &[]), [""; 0]);
}

#[test]
fn the_errors_of_add_say_what_to_do() {
    let env = with_records();
    env.run(&["add", "decision"]).fails_with("VALIDATION_ERROR", 1);
    env.run(&["add", "decision", "x", "--field", "no-equals-sign"]).fails_with("USAGE", 2);
    env.run(&["add", "decision", "x", "--field", "colour=red"]).fails_with("VALIDATION_ERROR", 1);
    env.run(&["add", "decision", "x", "--field", "status=maybe"]).fails_with("VALIDATION_ERROR", 1);
    env.run(&["add", "decision", "Use PostgreSQL for orders"]).fails_with("CREATE_ERROR", 1);
    env.run(&["add", "decision", "Use PostgreSQL for orders", "--json"]).fails_with("CREATE_ERROR", 1);
    env.run(&["retire", "use-postgresql-for-orders"]).ok();
    env.run(&["add", "decision", "Use PostgreSQL for orders"]).fails_with("ANTI_RESURRECTION_ERROR", 1);
}

#[test]
fn show_finds_a_memory_by_id_name_or_part_of_it() {
    let env = with_records();
    for name in ["decision:use-postgresql-for-orders", "use-postgresql-for-orders", "postgresql"] {
        let shown = env.run(&["show", name, "--json"]).ok().json();
        assert_eq!(shown["id"], "decision:use-postgresql-for-orders");
        for key in [
            "kind",
            "title",
            "body",
            "tags",
            "scope",
            "source",
            "trust",
            "status",
            "version",
            "content_hash",
            "path",
        ] {
            assert!(!shown[key].is_null(), "{key}");
        }
    }
    let people = env.run(&["show", "postgresql"]).ok().stdout;
    assert!(
        people.starts_with("Use PostgreSQL for orders\n") && people.contains("rationale:\n- we need jsonb")
    );
    let raw = env.run(&["show", "postgresql", "--raw"]).ok().stdout;
    assert_eq!(
        raw.as_bytes(),
        std::fs::read(env.memory("decisions/use-postgresql-for-orders.json")).unwrap()
    );
    env.run(&["show", "nothing"]).fails_with("NOT_FOUND", 3);
    env.run(&["show", "decision:nothing", "--json"]).fails_with("NOT_FOUND", 3);
    env.run(&["show", "decision:../../etc"]).fails_with("NOT_FOUND", 3);
    env.run(&["show", "e"]).fails_with("AMBIGUOUS", 1);
}

#[test]
fn list_filters_by_kind_status_and_tag() {
    let env = with_records();
    env.run(&["add", "decision", "Use Redis because it is fast"]).ok();
    env.run(&["add", "decision", "Use Kafka because it is there"]).ok();
    env.run(&["retire", "use-redis"]).ok();
    env.run(&["archive", "use-kafka"]).ok();
    assert_eq!(ids(&env, &[]), ["decision:use-postgresql-for-orders", "runbook:restart-the-queue-worker"]);
    assert_eq!(ids(&env, &["--kind", "runbook"]), ["runbook:restart-the-queue-worker"]);
    assert_eq!(ids(&env, &["--retired"]), ["decision:use-redis"]);
    assert_eq!(ids(&env, &["--archived"]), ["decision:use-kafka"]);
    assert_eq!(ids(&env, &["--all"]).len(), 4);
    assert_eq!(ids(&env, &["--tag", "queue"]), ["runbook:restart-the-queue-worker"]);
    env.run(&["list", "--kind", "gossip"]).fails_with("USAGE", 2);
    let table = env.run(&["list"]).ok().stdout;
    assert!(table.starts_with("ID ") && table.lines().count() == 3);
}

#[test]
fn an_empty_project_says_what_to_do_next() {
    let env = TestEnv::ready();
    assert!(env.run(&["list"]).ok().stderr.contains("heirloom add decision"));
    assert!(env.run(&["recall", "what about the database?"]).ok().stderr.contains("no memory fits"));
    let bare = TestEnv::new();
    bare.run(&["status"]).fails_with("NOT_FOUND", 3);
    bare.run(&["verify", "--json"]).fails_with("NOT_FOUND", 3);
    assert!(bare.run(&["status"]).stderr.contains("heirloom init"));
    assert_eq!(bare.files_below(&bare.project()), [], "looking makes nothing");
}

#[test]
fn edit_changes_by_flags_and_history_tells() {
    let env = with_records();
    let edited = env
        .run(&[
            "edit",
            "use-postgresql-for-orders",
            "-f",
            "status=superseded",
            "-t",
            "legacy",
            "-m",
            "We moved on",
            "--json",
        ])
        .ok()
        .json();
    assert_eq!(
        (&edited["status"], &edited["id"]),
        (&json!("updated"), &json!("decision:use-postgresql-for-orders"))
    );
    let record = env.decision("use-postgresql-for-orders");
    assert_eq!((&record["times_updated"], &record["content"]["status"]), (&json!(1), &json!("superseded")));
    assert_eq!(record["tags"], json!(["database", "legacy"]));
    let history = env.run(&["history", "postgresql", "--json"]).ok().json();
    let told: Vec<&str> =
        history.as_array().unwrap().iter().filter_map(|change| change["summary"].as_str()).collect();
    assert_eq!(told[0], "Created");
    assert!(told.contains(&"We moved on"));
    let change =
        history.as_array().unwrap().iter().find(|change| change["field"] == "content.status").unwrap();
    assert_eq!((&change["old"], &change["new"]), (&json!("accepted"), &json!("superseded")));
    assert!(env.run(&["history", "postgresql"]).ok().stdout.contains("\"accepted\" → \"superseded\""));
    env.run(&["history", "decision:nothing"]).fails_with("NOT_FOUND", 3);
    env.run(&["edit", "use-postgresql-for-orders", "-f", "status=maybe"]).fails_with("VALIDATION_ERROR", 1);
    env.run(&["edit", "use-postgresql-for-orders"]).fails_with("USAGE", 2);
}

#[test]
fn a_new_title_gives_a_new_name_and_the_old_one_still_leads_there() {
    let env = with_records();
    let edited = env
        .run(&["edit", "use-postgresql-for-orders", "--title", "Keep invoices in SQLite", "--json"])
        .ok()
        .json();
    assert_eq!(edited["id"], "decision:keep-invoices-in-sqlite");
    assert!(!env.project().join(target("use-postgresql-for-orders")).exists());
    let old = "decision:use-postgresql-for-orders";
    assert_eq!(env.run(&["show", old, "--json"]).ok().json()["id"], "decision:keep-invoices-in-sqlite");
    assert!(env.run(&["history", old]).ok().stdout.contains("Edited"));
    env.run(&["retire", old]).ok();
    assert_eq!(env.decision("keep-invoices-in-sqlite")["record_status"], "retired");
    env.run(&["record", "index", "--validate"]).ok();
}

#[test]
fn a_title_whose_name_is_taken_keeps_the_old_name_and_says_so() {
    let env = with_records();
    env.run(&["add", "decision", "Keep invoices in SQLite because they are few"]).ok();
    let edited = env.run(&["edit", "use-postgresql-for-orders", "--title", "Keep Invoices in SQLite!"]).ok();
    assert!(edited.stderr.contains("is taken"), "{edited:?}");
    assert_eq!(env.decision("use-postgresql-for-orders")["title"], "Keep Invoices in SQLite!");
    env.run(&["verify"]).ok();
}

#[test]
fn recall_prints_the_block_and_says_why() {
    let env = with_records();
    let block = env.run(&["recall", "which database holds the orders?"]).ok().stdout;
    let lines: Vec<&str> = block.lines().collect();
    assert_eq!(lines.first().copied(), Some("<memory-context source=\".claude/memory/\">"));
    assert_eq!(lines.last().copied(), Some("</memory-context>"));
    assert!(lines[1].starts_with("- [DECISION] Use PostgreSQL for orders -> .claude/memory/decisions/"));
    let explained = env.run(&["recall", "which database holds the orders?", "--explain"]).ok();
    assert!(explained.stderr.contains("title orders (+2)") && explained.stderr.contains("tag database (+3)"));
    let hits = env.run(&["recall", "which database holds the orders?", "--json"]).ok().json();
    assert_eq!(hits["hits"][0]["score"], 6.0, "2 title, 3 tag, 1 recent");
    assert_eq!(hits["block"], block);
    assert_eq!(env.run(&["recall", "orders?"]).ok().stdout, "", "too short to say anything");
}

#[test]
fn a_retired_memory_is_never_injected() {
    let env = with_records();
    env.at_terminal(&["retire", "postgresql"], "").ok();
    // Even if the index still lists it.
    let line =
        format!("- [DECISION] Use PostgreSQL -> {} #tags:database\n", target("use-postgresql-for-orders"));
    env.write(format!("{ROOT}/index.md"), format!("# Memory Index\n\n{line}"));
    assert_eq!(env.run(&["recall", "which database holds the orders?"]).ok().stdout, "");
}

#[test]
fn a_new_memory_has_nothing_amiss() {
    let env = TestEnv::new();
    env.run(&["init"]).ok();
    let status = env.run(&["status", "--json"]).ok().json();
    assert_eq!((&status["index_in_sync"], &status["issues"]), (&json!(true), &json!([])));
}

#[test]
fn status_counts_what_there_is() {
    let env = with_records();
    env.at_terminal(&["retire", "postgresql"], "").ok();
    let status = env.run(&["status", "--json"]).ok().json();
    let row = |name: &str| {
        status["categories"].as_array().unwrap().iter().find(|row| row["category"] == name).unwrap().clone()
    };
    assert_eq!((&row("decision")["retired"], &row("runbook")["active"]), (&json!(1), &json!(1)));
    assert_eq!((&status["index_in_sync"], &status["issues"]), (&json!(true), &json!([])));
    assert!(status["bytes"].as_u64().unwrap() > 500);
    std::fs::remove_file(env.memory("index.md")).unwrap();
    assert!(env.run(&["status"]).ok().stdout.contains("verify --fix"));
}

#[test]
fn verify_names_what_people_and_git_did_and_fix_makes_the_index_anew() {
    let env = with_records();
    assert_eq!(env.run(&["verify", "--json"]).ok().json(), json!({ "ok": true, "problems": [] }));
    let mut wrong = decision("Wrong");
    wrong["content"]["status"] = json!("maybe");
    wrong["related_files"] = json!(["gone.rs"]);
    env.write(format!("{ROOT}/decisions/wrong.json"), serde_json::to_string_pretty(&wrong).unwrap());
    env.write(format!("{ROOT}/runbooks/stray.json"), decision("Stray").to_string());
    env.write(
        format!("{ROOT}/decisions/merge.json"),
        "{\n<<<<<<< HEAD\n  \"title\": \"a\"\n=======\n>>>>>>> x\n}\n",
    );
    let found = env.run(&["verify", "--json"]);
    assert_eq!((found.code, &found.json()["ok"]), (Some(1), &json!(false)));
    let problems = found.json()["problems"].clone();
    let has = |file: &str, line: Value, part: &str| {
        let mut list = problems.as_array().unwrap().iter();
        let found = list.any(|p| {
            p["file"].as_str().unwrap().ends_with(file)
                && p["line"] == line
                && p["message"].as_str().unwrap().contains(part)
        });
        assert!(found, "{file}:{line} {part}: {problems:#}");
    };
    let line_of_status =
        serde_json::to_string_pretty(&wrong).unwrap().lines().position(|l| l.contains("\"status\""));
    has("wrong.json", json!(line_of_status.unwrap() + 1), "content.status");
    has("wrong.json", Value::Null, "gone.rs");
    has("wrong.json", json!(4), "id is not the file name");
    has("stray.json", Value::Null, "a decision in the folder of runbook");
    has("merge.json", json!(2), "conflict markers");
    has("index.md", Value::Null, "no line for");
    for problem in problems.as_array().unwrap() {
        assert!(
            !problem["fix"].as_str().unwrap().is_empty() && !problem["code"].as_str().unwrap().is_empty()
        );
    }
    for file in ["decisions/wrong.json", "runbooks/stray.json", "decisions/merge.json"] {
        std::fs::remove_file(env.memory(file)).unwrap();
    }
    std::fs::write(env.memory("index.md"), "<<<<<<< HEAD\n- [A] x -> y.json\n").unwrap();
    assert!(env.run(&["verify"]).stdout.contains("index.md:1: conflict markers"));
    env.run(&["verify", "--fix"]).ok();
    assert_eq!(env.index().len(), 2);
}

#[test]
fn verify_finds_content_that_the_gate_would_refuse_and_recall_holds_it_back() {
    let env = with_records();
    let secret = format!("gh{}_{}", "p", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6");
    env.write(target("pulled"), decision(&format!("database token {secret}")).to_string());
    env.run(&["record", "index", "--rebuild"]).ok();
    let found = env.run(&["verify"]);
    assert_eq!(found.code, Some(1));
    assert!(found.stdout.contains("GATE_REFUSED") && !found.stdout.contains(&secret));
    let block = env.run(&["recall", "which database token do we use?"]).ok().stdout;
    assert!(!block.contains(&secret[..12]), "{block}");
    let waiting = env.run(&["review", "--json"]).ok().json();
    assert!(!waiting["problems"].as_array().unwrap().is_empty());
}

#[test]
fn the_audit_lists_what_was_done_and_notices_what_was_altered() {
    let env = with_records();
    env.at_terminal(&["retire", "postgresql"], "").ok();
    let entries = env.run(&["audit", "--json"]).ok().json();
    let actions: Vec<&str> =
        entries.as_array().unwrap().iter().filter_map(|e| e["action"].as_str()).collect();
    assert_eq!(actions, ["memory_write", "memory_write", "memory_retire"]);
    let about = env.run(&["audit", "--json", "--id", "decision:use-postgresql-for-orders"]).ok().json();
    assert_eq!(about.as_array().unwrap().len(), 2);
    assert_eq!(env.run(&["audit", "--json", "-n", "1"]).ok().json().as_array().unwrap().len(), 1);
    assert_eq!(env.run(&["audit", "--json", "--verdict", "refuse"]).ok().json(), json!([]));
    assert_eq!(env.run(&["audit", "verify", "--json"]).ok().json(), json!({ "whole": true, "entries": 3 }));
    let path = env.memory(".local/audit.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("jsonb"), "no word of content");
    std::fs::write(&path, text.replacen("runbook:", "decision:", 1)).unwrap();
    env.run(&["audit", "verify"]).fails_with("DAMAGED", 1);
}

#[test]
fn a_refusal_is_audited_with_its_code() {
    let env = with_records();
    let secret = format!("gh{}_{}", "p", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6");
    env.run(&["add", "decision", &format!("The token is {secret}")]).fails_with("GATE_REFUSED", 1);
    let refused = env.run(&["audit", "--json", "--verdict", "refuse"]).ok().json();
    assert_eq!(refused[0]["code"], "GATE_REFUSED");
    assert!(!refused.to_string().contains(&secret[6..]));
}

#[test]
fn the_demo_tells_its_story_and_leaves_nothing_behind() {
    let mut env = TestEnv::new();
    let scratch = env.scratch();
    env.set("TMPDIR", scratch.to_str().unwrap());
    let said = env.run(&["demo"]).ok().stdout;
    for part in ["saved decision:", "refused:", "GATE_REFUSED", "<memory-context", "chain whole, 1 refusal"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(env.files_below(&env.base()), []);
}

#[test]
fn completions_and_manuals_are_printed_for_every_shell() {
    let env = TestEnv::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(env.run(&["completions", shell]).ok().stdout.contains("heirloom"));
    }
    assert!(env.run(&["man"]).ok().stdout.contains(".TH"));
    let folder = env.scratch().join("man");
    env.run(&["man", folder.to_str().unwrap()]).ok();
    assert!(folder.join("heirloom.1").exists() && folder.join("heirloom-add.1").exists());
}

#[test]
fn every_reference_page_is_made_from_the_tables() {
    let env = TestEnv::new();
    for page in ["commands", "errors", "settings", "environment", "kinds", "trust", "gate"] {
        assert!(env.run(&["reference", page]).ok().stdout.starts_with("# "), "{page}");
    }
    let errors = env.run(&["reference", "errors"]).ok().stdout;
    for row in heirloom_core::code::TABLE {
        assert!(errors.contains(&format!("| `{}` | {} |", row.name, row.exit)), "{}", row.name);
    }
}

#[test]
fn the_version_is_the_same_however_it_is_asked_for() {
    let env = TestEnv::new();
    let short = env.run(&["--version"]).ok().stdout;
    assert_eq!(short, concat!("heirloom ", env!("CARGO_PKG_VERSION"), "\n"));
    assert_eq!(env.run(&["-V"]).ok().stdout, short);
    assert_eq!(env.run(&["--json", "--version"]).ok().stdout, short, "the command tree says the same");
}

#[test]
fn without_a_home_nothing_is_made_at_the_root_of_the_machine() {
    let env = TestEnv::new();
    let homeless = |arguments: &[&str]| {
        let mut command = env.command(crate::env::HEIRLOOM);
        command.args(arguments).current_dir(env.project());
        for variable in ["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"] {
            command.env_remove(variable);
        }
        crate::env::finish(&mut command)
    };
    homeless(&["list"]).ok();
    std::fs::create_dir_all(env.memory("")).unwrap();
    homeless(&["add", "decision", "Tabs", "Tabs it is"]).fails_with("IO_ERROR", 6);
    assert!(!std::path::Path::new("/nonexistent").exists() && !std::path::Path::new("/heirloom").exists());
}

#[test]
fn the_project_is_found_from_a_folder_inside_it_and_by_flag() {
    let env = with_records();
    std::fs::create_dir_all(env.project().join("src/deep")).unwrap();
    let mut inside = env.command(crate::env::HEIRLOOM);
    inside.args(["list", "--json"]).current_dir(env.project().join("src/deep"));
    assert_eq!(crate::env::finish(&mut inside).ok().items().as_array().unwrap().len(), 2);
    let mut elsewhere = env.command(crate::env::HEIRLOOM);
    elsewhere.args(["list", "--json", "-C"]).arg(env.project()).current_dir("/");
    assert_eq!(crate::env::finish(&mut elsewhere).ok().items().as_array().unwrap().len(), 2);
    env.run(&["list", "-C", "/nonexistent"]).fails_with("USAGE", 2);
}

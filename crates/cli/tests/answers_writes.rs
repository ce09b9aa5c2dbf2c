//! What writing commands answer: the shape their schemas promise, and the same as the library's verbs by the same sort of caller.
//!
//! Each step is done twice from the same state: by the command, and by the verb with a `Caller` of this process. Answers are compared without what
//! differs by chance: times, ids and keys that are rolled.

use crate::answers::{lived_in, misfit};
use crate::env::{ROOT, TestEnv, decision, target};
use heirloom_core::fault::Result;
use heirloom_core::settings::{self, Layer, Origin};
use heirloom_core::{Audience, Caller, Fault, MemoryId, Scopes};
use heirloom_engine::settings::Said;
use heirloom_engine::shelf::tiers::{Access, SqliteStore, UserContext};
use heirloom_engine::verbs::add::{Add, New, Words, add};
use heirloom_engine::verbs::anchor::{Anchor, Deed, anchor};
use heirloom_engine::verbs::config::{self, AddCategory, Approve, FieldSpec, SetPin, SwitchCategory};
use heirloom_engine::verbs::convert::{Conversion, Convert, convert};
use heirloom_engine::verbs::decide::{self, Choose, Reject};
use heirloom_engine::verbs::doctor::{Doctor, doctor};
use heirloom_engine::verbs::edit::{Edit, edit};
use heirloom_engine::verbs::init::{Init, init};
use heirloom_engine::verbs::invite::{self, InviteUser};
use heirloom_engine::verbs::life::{self, Move};
use heirloom_engine::verbs::remember::{NewFact, Remember, remember};
use heirloom_engine::verbs::remove::{self, Doomed, Forget, ForgetTopic};
use heirloom_engine::verbs::undo::{Undo, undo};
use heirloom_engine::verbs::users::{self, AddUser, MakeToken, RemoveUser, RevokeToken};
use heirloom_engine::verbs::{Yes, model, record, records, schema, vault};
use heirloom_engine::{Call, Deployment, Project, World};
use regex::Regex;
use serde::Serialize;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;

/// The answers that are held against their schemas here. What only starts, prints pages or speaks another protocol has none.
pub(crate) const HELD: [&str; 29] = [
    "add",
    "anchor-add",
    "anchor-drop",
    "anchor-renew",
    "archive",
    "clear",
    "convert",
    "edit",
    "error",
    "forget",
    "memory-clear",
    "memory-forget",
    "record-candidate",
    "record-write",
    "remember",
    "restore",
    "retire",
    // Held in `endpoint.rs`, where there is a server to ask.
    "review-propose",
    "setup",
    "unarchive",
    "undo",
    "user-add",
    "user-invite",
    "user-remove",
    "user-token",
    "vault-bulk-add",
    "vault-bulk-delete",
    "vault-promote",
    "verify",
];

/// A place where a command and a verb do the same.
struct Twice {
    env: TestEnv,
    user: String,
    held: RefCell<Vec<String>>,
    rolled: [(Regex, &'static str); 6],
}

impl Twice {
    fn new(env: TestEnv) -> Twice {
        // The account is the system's, whatever a variable says; a fact knows its owner.
        let fact = env.run(&["list", "--tier", "semantic", "--json"]).ok().items()[0].clone();
        let user = fact["owner"].as_str().unwrap().to_owned();
        let rolled = [
            (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
            (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "UUID"),
            (r"\bhl[a-z]*_[A-Za-z0-9_-]+", "TOKEN"),
            (r"\b(canon|register|episode|fact):[A-Za-z0-9]+", "$1:ROLLED"),
            (r"\b[0-9A-HJKMNP-TV-Z]{26}\b", "ULID"),
            (r"\b[0-9a-f]{8,}\b", "HEX"),
        ];
        let rolled = rolled.map(|(pattern, word)| (Regex::new(pattern).unwrap(), word));
        Twice { env, user, held: RefCell::default(), rolled }
    }

    /// A call of the library, as the door makes it.
    fn call(&self, person: bool) -> Call {
        let env = &self.env;
        let world = World {
            now: jiff::Timestamp::now(),
            data: env.home().join("data/heirloom"),
            nonce: "0123456789abcdef0123456789abcdef".to_owned(),
            user: self.user.clone(),
        };
        let file = std::fs::read(env.memory("memory-config.json")).unwrap();
        let document = serde_json::from_slice(&file).unwrap();
        let loaded = settings::load(&[Layer { origin: Origin::Project, document }]);
        let said = Said { values: loaded.values, warnings: loaded.warnings };
        let settings = loaded.settings;
        let caller = match person {
            true => Caller::person(&self.user),
            false => {
                let sees = settings.vault.visible(None).into_iter().map(str::to_owned).collect();
                Caller::process(&self.user).as_agent(None, Audience::of(sees))
            }
        };
        let folder = world.data.join("tiers");
        let store = Arc::new(SqliteStore::at(&folder));
        let who = UserContext::by_account(&world).unwrap();
        let project = Project::new(&env.project(), &env.project().join(ROOT), world);
        let deployment = Deployment::new(Some(env.home()))
            .with_dice(|| Ok([7; 32]))
            .with_user_settings(env.home().join("config/heirloom/config.json"));
        Arc::new(deployment)
            .call(project, settings, caller)
            .with_tiers(Access::new(store, who, &folder))
            .with_said(said)
    }

    /// An answer without what is rolled.
    fn plain(&self, answer: &Value) -> Value {
        let mut text = answer.to_string();
        for (pattern, word) in &self.rolled {
            text = pattern.replace_all(&text, *word).into_owned();
        }
        serde_json::from_str(&text).unwrap()
    }

    fn copied(&self, from: &str, to: &str) {
        let base = self.env.base();
        let _ = std::fs::remove_dir_all(base.join(to));
        let mut copy = std::process::Command::new("cp");
        let done = copy.current_dir(&base).args(["-a", from, to]).status();
        assert!(done.unwrap().success());
    }

    /// The folders a verb writes into, put aside or back.
    fn keep(&self) {
        for part in ["project", "home"] {
            self.copied(part, &format!("{part}.kept"));
        }
    }

    fn put_back(&self) {
        for part in ["project", "home"] {
            self.copied(&format!("{part}.kept"), part);
        }
    }

    /// Does a step by its command and then, from the same state, by its verb; goes on from there.
    #[track_caller]
    fn step(&self, name: &str, args: &[&str], typed: Option<&str>, verb: &dyn Fn(&Call) -> Value) -> Value {
        self.keep();
        let ran = self.command(name, args, typed);
        self.put_back();
        let answer = verb(&self.call(typed.is_some()));
        assert_eq!(self.plain(&ran), self.plain(&answer), "{args:?}");
        answer
    }

    /// Runs a command and holds its answer against its schema.
    #[track_caller]
    fn command(&self, name: &str, args: &[&str], typed: Option<&str>) -> Value {
        let all: Vec<&str> = ["--json"].into_iter().chain(args.iter().copied()).collect();
        let ran = match typed {
            Some(typed) => self.env.at_terminal(&all, typed),
            None => self.env.run(&all),
        };
        let answer = ran.json();
        let name = if answer.get("error").is_some() { "error" } else { name };
        assert_eq!(misfit(&schema::of(name).unwrap(), &answer, name), None, "{args:?}: {ran:?}");
        self.held.borrow_mut().push(name.to_owned());
        answer
    }
}

/// What a verb answers, or its fault as a door tells it.
fn told<T: Serialize>(answer: Result<T>) -> Value {
    match answer {
        Ok(answer) => serde_json::to_value(answer).unwrap(),
        Err(fault) => failed(&fault),
    }
}

fn failed(fault: &Fault) -> Value {
    let facts: Vec<Value> = fault.facts.iter().map(|(key, value)| json!({ *key: value })).collect();
    json!({ "error": { "code": fault.code.name(), "message": fault.message, "facts": facts,
        "hint": fault.next_step() } })
}

fn said(call: &Call, kind: &str, text: &str, topic: Option<&str>, rehearse: bool) -> Value {
    let words = Words {
        kind: kind.to_owned(),
        text: text.to_owned(),
        topic: topic.map(str::to_owned),
        ..Words::default()
    };
    let ask = Add { rehearse, ..Add::of(New::said(call, words).unwrap()) };
    told(add(call, &ask).and_then(|outcome| outcome.done()))
}

fn moved(id: &str, reason: Option<&str>) -> Move {
    Move { ids: vec![id.to_owned()], reason: reason.map(str::to_owned) }
}

const REDIS: &str = "decision:use-redis";
/// A person's.
const JOBS: &str = "decision:keep-jobs-in-postgresql";

#[test]
fn a_command_that_writes_answers_what_the_librarys_verb_answers() {
    let twice = Twice::new(lived_in());
    let env = &twice.env;
    let text = "Use Redis because it is quick";
    twice.step("add", &["add", "decision", text, "--dry-run"], None, &|call| {
        said(call, "decision", text, None, true)
    });
    twice.step("add", &["add", "decision", text], None, &|call| said(call, "decision", text, None, false));
    let refused = twice
        .step("add", &["add", "decision", text], None, &|call| said(call, "decision", text, None, false));
    assert_eq!(refused["error"]["code"], "CREATE_ERROR");
    let lesson = "Builds hung, fixed by a timeout";
    twice.step("add", &["add", "lesson", lesson, "--topic", "ci/builds"], None, &|call| {
        said(call, "lesson", lesson, Some("ci/builds"), false)
    });
    let note = "Mails go out at noon.\nEverybody reads them.";
    twice.step("add", &["add", "note", note], None, &|call| said(call, "note", note, None, false));
    for (kind, topic) in [("register", Some("mails")), ("episode", None)] {
        let mut args = vec!["add", kind, "Reading the mails"];
        args.extend(topic.iter().flat_map(|topic| ["--topic", topic]));
        twice.step("add", &args, None, &|call| said(call, kind, "Reading the mails", topic, false));
    }
    let waits = twice.step("add", &["add", "canon", "Mails are sacred"], None, &|call| {
        said(call, "canon", "Mails are sacred", None, false)
    });
    assert_eq!(waits["error"]["code"], "NEEDS_CONFIRMATION");
    let fact = "I like green tea";
    for typed in [None, Some("")] {
        twice.step("remember", &["remember", fact], typed, &|call| {
            let fact = NewFact { text: fact.to_owned(), confidence: Some(1.0), ..NewFact::default() };
            told(remember(call, &Remember { fact, yes: Yes::default() }).and_then(|outcome| outcome.done()))
        });
    }
    twice.step("edit", &["edit", REDIS, "--field", "context=It is here already"], None, &|call| {
        let fields = vec![("context".to_owned(), "It is here already".to_owned())];
        told(edit(call, &Edit { id: REDIS.to_owned(), fields, ..Edit::default() }).and_then(|o| o.done()))
    });
    type Run = fn(&Call, &Move) -> Result<Vec<heirloom_engine::verbs::Outcome<heirloom_engine::verbs::Done>>>;
    let moves: [(&str, Run, Option<&str>); 4] = [
        ("retire", life::retire, Some("no")),
        ("restore", life::restore, None),
        ("archive", life::archive, Some("no")),
        ("unarchive", life::unarchive, None),
    ];
    for (name, run, reason) in moves {
        let mut args = vec![name, REDIS];
        args.extend(reason.iter().flat_map(|reason| ["--reason", reason]));
        twice.step(name, &args, None, &|call| told(run(call, &moved(REDIS, reason))));
    }
    // What a person stands behind waits, and both say so.
    let waits = twice.step("retire", &["retire", JOBS, "--reason", "no"], None, &|call| {
        told(life::retire(call, &moved(JOBS, Some("no"))))
    });
    assert_eq!(waits[0]["status"], "waits", "{waits}");
    let words = "Redis lost keys, fixed by persistence";
    twice.step("convert", &["convert", REDIS, "lesson", words, "--topic", "redis/keys"], None, &|call| {
        let wanted = Conversion {
            words: Some(words.to_owned()),
            topic: Some("redis/keys".to_owned()),
            ..Conversion::default()
        };
        let ask = Convert { id: REDIS.to_owned(), kind: "lesson".to_owned(), wanted, seen: None };
        told(convert(call, &ask).and_then(|outcome| outcome.done()))
    });
    let place = "src/queue.rs#lock";
    for (name, args, deed) in [
        ("anchor-add", &["anchor", "add", REDIS, place][..], Deed::Add(vec![place.to_owned()])),
        ("anchor-renew", &["anchor", "renew", REDIS], Deed::Renew),
        ("anchor-drop", &["anchor", "drop", REDIS], Deed::Drop(None)),
    ] {
        twice.step(name, args, None, &|call| {
            let ask = Anchor { id: REDIS.to_owned(), deed: deed.clone(), from: None };
            told(anchor(call, &ask).and_then(|outcome| outcome.done()))
        });
    }
    let many = env.raw_input(
        br#"[{"text":"Mails go out at noon","tier":"register","topic_id":"mails-out"},{"text":"","tier":"register"},{"text":"Mails are sacred too"}]"#,
    );
    let bytes = std::fs::read(&many).unwrap();
    let mut added = Value::Null;
    for (typed, first) in [(None, "waits"), (Some(""), "created")] {
        added = twice.step("vault-bulk-add", &["vault", "bulk-add", &many], typed, &|call| {
            told(vault::additions(call, &bytes).and_then(|all| vault::bulk_add(call, all)))
        });
        assert_eq!((&added[0]["status"], &added[1]["status"]), (&json!(first), &json!("refused")), "{added}");
    }
    let id = added[0]["id"].as_str().unwrap().to_owned();
    let ids = [id.clone(), "register:nothing".to_owned()];
    twice.step("vault-bulk-delete", &["vault", "bulk-delete", &ids[0], &ids[1]], None, &|call| {
        told(vault::bulk_delete(call, &ids))
    });
    let promoted =
        twice.step("vault-promote", &["vault", "promote", &id, "Mails", "at", "noon"], Some(""), &|call| {
            let ask = vault::Promote {
                id: id.clone(),
                text: Some("Mails at noon".to_owned()),
                ..Default::default()
            };
            told(vault::promote(call, &ask).and_then(|outcome| outcome.done()))
        });
    assert!(promoted["id"].as_str().unwrap().starts_with("canon:"), "{promoted}");
    for dry_run in [true, false] {
        let args: &[&str] = if dry_run { &["undo", "--dry-run"] } else { &["undo"] };
        twice.step("undo", args, Some(""), &|call| told(undo(call, &Undo { number: None, dry_run })));
    }
    twice.decisions();
    twice.tools();
    twice.people();
    twice.gone();
    let held = twice.held.borrow();
    let here = HELD.iter().filter(|name| !["review-propose", "setup", "verify"].contains(name));
    let missing: Vec<_> = here.filter(|name| !held.iter().any(|held| held == *name)).collect();
    assert!(missing.is_empty(), "not held: {missing:?}");
}

impl Twice {
    /// Review, settings, the PIN.
    fn decisions(&self) {
        let keys = |twice: &Twice| -> Vec<String> {
            let waits = decide::list(&twice.call(true)).unwrap().waiting.drafts;
            waits.iter().map(|shown| shown.item.key.clone()).collect()
        };
        let key = keys(self)[0].clone();
        self.step("review-reject", &["review", "reject", &key], None, &|call| {
            told(decide::reject(call, &Reject { keys: vec![key.clone()] }))
        });
        let accepted = self.step("review-accept", &["review", "accept", "--all"], Some("y\n"), &|call| {
            let chosen = decide::choose(call, &Choose { keys: Vec::new(), all: true }).unwrap();
            told(decide::accept(call, &chosen.yes()))
        });
        assert!(!accepted["stored"].as_array().unwrap().is_empty(), "{accepted}");
        self.step("review-accept", &["review", "accept", "--all"], None, &|call| {
            told(decide::choose(call, &Choose { keys: Vec::new(), all: true }))
        });
        self.step("trust", &["trust", REDIS], Some("y\n"), &|call| {
            let chosen = decide::choose_any(call, &[REDIS.to_owned()]).unwrap();
            told(decide::accept(call, &chosen.yes()))
        });
        let field = "who:list:required";
        self.step(
            "config-category",
            &["config", "category", "add", "meeting", "--field", field],
            None,
            &|call| {
                let ask = AddCategory {
                    name: "meeting".to_owned(),
                    description: None,
                    folder: None,
                    fields: vec![FieldSpec::parse(field)],
                };
                told(config::add_category(call, &ask))
            },
        );
        self.step("config-category", &["config", "category", "disable", "meeting"], None, &|call| {
            told(config::switch_category(call, &SwitchCategory { name: "meeting".to_owned(), on: false }))
        });
        self.env.run(&["config", "set", "memory_root", ROOT]).ok();
        for typed in [None, Some("")] {
            self.step("config-approve", &["config", "approve", "memory_root"], typed, &|call| {
                told(config::approve(call, &Approve { key: "memory_root".to_owned() }))
            });
        }
        self.step("config-pin", &["config", "pin"], Some("4711\n4711\n"), &|call| {
            told(config::set_pin(call, &SetPin { pin: "4711".to_owned() }))
        });
        self.env.at_terminal(&["config", "pin", "--remove"], "4711\n").ok();
    }

    /// The record tools, the model, the doctor, a new folder.
    fn tools(&self) {
        let env = &self.env;
        let input = env.input(&decision("Keep logs for a week"));
        let kept = std::fs::read(&input).unwrap();
        let place = target("keep-logs");
        let args = ["record", "write", "--action", "create", "--category", "decision", "--target", &place];
        let args = [&args[..], &["--input", &input]].concat();
        self.step("record-write", &args, None, &|call| {
            // The command takes its input away.
            let document = record::Document::parse(&kept).unwrap();
            let action = record::Action::Create { category: "decision".to_owned(), document };
            let cwd = env.project();
            let ask = record::Write { target: &place, cwd: &cwd, action, cites: &[] };
            told(record::write(call, ask, &mut record::Said::default()).and_then(|outcome| outcome.done()))
        });
        let news = "Keep logs for a month";
        let args = ["record", "candidate", "--category", "decision", "--new-info", news];
        let found = self.step("record-candidate", &args, None, &|call| {
            let ask = records::Candidate {
                category: "decision".to_owned(),
                new_info: news.to_owned(),
                lifecycle_event: None,
            };
            told(records::candidate(call, &ask, &mut Vec::new()))
        });
        assert!(found["candidate"].is_object(), "{found}");
        self.step("model-embed", &["model", "embed"], None, &|call| told(model::embed(call, &|_| {})));
        self.step("model-remove", &["model", "remove"], None, &|call| told(model::remove(call)));
        self.step("init", &["init"], None, &|call| told(init(call, Init::default())));
        // Of the machine only the command knows; what is the engine's to say both say alike.
        let by_command = self.command("doctor", &["doctor"], None);
        let by_verb = told(doctor(&self.call(false), &Doctor::default()));
        for check in by_verb["checks"].as_array().unwrap() {
            let same = by_command["checks"].as_array().unwrap().iter().any(|one| one["id"] == check["id"]);
            assert!(same, "{check}: {by_command}");
        }
    }

    /// Users and their tokens.
    fn people(&self) {
        let anna = || "anna".to_owned();
        self.step("user-add", &["user", "add", "anna"], Some(""), &|call| {
            told(users::add(call, &AddUser { user: anna() }))
        });
        self.step("user-token", &["user", "token", "anna", "--scope", "read,delete"], Some(""), &|call| {
            let scopes = Scopes::parse("read,delete").ok();
            told(users::token(call, &MakeToken { user: anna(), name: None, scopes, days: None, hours: None }))
        });
        self.step("user-token", &["user", "token", "anna"], None, &|call| {
            told(users::token(
                call,
                &MakeToken { user: anna(), name: None, scopes: None, days: None, hours: None },
            ))
        });
        let server = "https://memory.example.org";
        self.step("user-invite", &["user", "invite", "anna", "--server", server], Some(""), &|call| {
            let ask = InviteUser { user: anna(), hours: Some(24), server: Some(server.to_owned()) };
            told(invite::invite(call, &ask))
        });
        self.step("user-token", &["user", "token", "anna", "--list"], Some(""), &|call| {
            told(users::one(call, "anna").map(|user| user.tokens))
        });
        self.step("user-token", &["user", "token", "anna", "--revoke"], Some(""), &|call| {
            told(users::revoke(call, &RevokeToken { user: anna(), name: None }))
        });
        for dry_run in [true, false] {
            let last = if dry_run { "--dry-run" } else { "--yes" };
            self.step("user-remove", &["user", "remove", "anna", last], Some(""), &|call| {
                told(users::remove(call, &RemoveUser { user: anna(), shred: false, dry_run }))
            });
        }
    }

    /// What cannot be taken back.
    fn gone(&self) {
        let forget = |call: &Call, id: &str| told(remove::forget(call, &MemoryId::parse(id).unwrap(), false));
        // Whoever may not is refused before anything is looked up, so the command does not know the id yet.
        let by_process = self.command("forget", &["forget", REDIS, "--yes"], None);
        assert_eq!(by_process["error"]["code"], forget(&self.call(false), REDIS)["error"]["code"]);
        self.step("forget", &["forget", REDIS, "--yes"], Some(""), &|call| forget(call, REDIS));
        let log = "decision:keep-logs";
        self.step("memory-forget", &["memory", "forget", log, "--yes"], Some(""), &|call| forget(call, log));
        let words = "mails noon";
        let gone = self.step("forget", &["forget", "--topic", words, "--yes"], Some(""), &|call| {
            let ask = Forget { name: words.to_owned(), topic: true, shown_first: false };
            let Doomed::Topic { topic, memories, others, waiting } = remove::doomed(call, &ask).unwrap()
            else {
                panic!("no topic")
            };
            let ask = ForgetTopic {
                topic,
                memories: memories.iter().map(|memory| memory.id.clone()).collect(),
                others: others.iter().map(|memory| memory.id.to_string()).collect(),
                drafts: waiting.iter().map(|draft| draft.key.clone()).collect(),
                shred: false,
            };
            told(remove::forget_topic(call, &ask))
        });
        assert!(gone["count"].as_u64().unwrap() > 1, "{gone}");
        for (name, args, tier) in [
            ("clear", &["clear", "episodic", "--yes"][..], "episodic"),
            ("memory-clear", &["memory", "clear", "all", "--yes"], "all"),
        ] {
            self.step(name, args, Some(""), &|call| {
                told(remove::clear(call, &remove::Clear { tier: tier.to_owned(), shred: false }))
            });
        }
    }
}

#[test]
fn setup_and_what_is_staged_answer_in_the_shape_their_schemas_promise() {
    let env = TestEnv::ready();
    let held = |name: &str, args: &[&str], typed: Option<&str>| {
        let all: Vec<&str> = ["--json"].into_iter().chain(args.iter().copied()).collect();
        let ran = match typed {
            Some(typed) => env.at_terminal(&all, typed),
            None => env.run(&all),
        };
        assert_eq!(misfit(&schema::of(name).unwrap(), &ran.json(), name), None, "{args:?}: {ran:?}");
        ran.json()
    };
    assert_eq!(held("setup", &["setup", "--agent", "codex", "--dry-run"], None)["applied"], false);
    assert_eq!(held("setup", &["setup", "--agent", "codex", "--notes", "--yes"], None)["applied"], true);
    assert_eq!(held("setup", &["setup", "--uninstall", "--yes"], Some(""))["applied"], true);
    held("error", &["setup", "--uninstall", "--yes"], None);
    // What `setup` switches on in the user's own settings is in the user's audit, as `config set` would be.
    let lines = env.run(&["audit", "--settings", "--json"]).ok().json();
    let told = |line: &Value| line["action"] == "config_set" && line["id"] == "setting:notes.capture of user";
    assert!(lines.as_array().unwrap().iter().any(told), "{lines}");
    env.git(&["init", "-q"]);
    assert_eq!(held("verify", &["verify", "--staged"], None)["files"], 0);
    env.create("keep-logs", &decision("Keep logs for a week")).ok();
    env.git(&["add", "-A"]);
    let found = held("verify", &["verify", "--staged"], None);
    assert_eq!((&found["ok"], found["files"].as_u64() > Some(0)), (&json!(true), true), "{found}");
    let file: PathBuf = env.memory("decisions/keep-logs.json");
    std::fs::write(&file, "{").unwrap();
    env.git(&["add", "-A"]);
    let found = held("verify", &["verify", "--staged"], None);
    let problems = found["problems"].as_array().unwrap();
    assert!(problems.iter().any(|one| one["file"] == target("keep-logs")), "{found}");
}

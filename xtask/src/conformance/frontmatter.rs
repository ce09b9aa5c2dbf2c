//! Cases of the notes shelf: front matter, validation, derivation, listing, search, transcripts.
//!
//! Comes in: one case. Goes out: an [`Outcome`]. Every case that needs a store gets a fresh one in a temporary folder, with a fixed
//! clock. Never here: a rule of the format; those are the shelf's.

use super::Outcome;
use heirloom_core::text::{KeywordRules, keywords, subject};
use heirloom_core::{Channel, Fault, Memory, Settings, time};
use heirloom_engine::capture::{capture_notes, transcript};
use heirloom_engine::gate::Entry;
use heirloom_engine::shelf::notes::{self, Filter, Kept, Moment, Note, NoteDraft, NoteId, Session};
use heirloom_engine::shelf::{Listing, Shelf as _};
use heirloom_engine::{Call, Project, World};
use serde_json::{Value, json};

/// When every case happens.
const NOW: &str = "2026-01-10T09:00:00Z";

/// Runs one case.
pub(crate) fn run(case: &Value) -> Outcome {
    let (args, expect) = (&case["args"], &case["expect"]);
    let Some(op) = case["op"].as_str() else { return Outcome::Unknown };
    match op {
        "content_hash" => compare(&expect["hash"], &json!(notes::content_hash(text(args, "content")))),
        "extract_keywords" => extract_keywords(args, expect),
        "generate_subject" => generate_subject(args, expect),
        "parse" => parse(args, expect),
        "write_then_read" => write_then_read(args, expect),
        "memories_from_transcript" => memories_from_transcript(args, expect),
        "create" | "create_many" | "list" | "search_keywords" | "relevant_for_session" => {
            let Some(store) = Store::new(&case["state_before"]) else {
                return differs("the state before", "could not be made");
            };
            store.run(op, args, expect)
        }
        _ => Outcome::Unknown,
    }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn texts(value: &Value) -> Vec<String> {
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

fn differs(expected: impl ToString, got: impl ToString) -> Outcome {
    Outcome::Differs { expected: expected.to_string(), got: got.to_string() }
}

fn compare(expected: &Value, got: &Value) -> Outcome {
    if expected == got { Outcome::Agrees } else { differs(expected, got) }
}

fn extract_keywords(args: &Value, expect: &Value) -> Outcome {
    let options = &args["options"];
    let plain = KeywordRules::default();
    let number = |key: &str, default| options[key].as_u64().map_or(default, |n| n as usize);
    let rules = KeywordRules {
        max: number("maxKeywords", plain.max),
        min_length: number("minLength", plain.min_length),
        more_stop_words: texts(&options["additionalStopWords"]),
    };
    compare(&expect["keywords"], &json!(keywords(text(args, "text"), &rules)))
}

fn generate_subject(args: &Value, expect: &Value) -> Outcome {
    let got = subject(text(args, "text"));
    match expect["max_chars"].as_u64() {
        Some(max) if got.chars().count() as u64 <= max => Outcome::Agrees,
        Some(max) => differs(format!("at most {max} characters"), got),
        None => compare(&expect["subject"], &json!(got)),
    }
}

fn parse(args: &Value, expect: &Value) -> Outcome {
    let outcome = notes::read_file(text(args, "file"));
    match (accepts(expect, &outcome), outcome) {
        (None, Ok(note)) if expect["memory"].is_object() => {
            let fields = fields(&note);
            let trimmed = |value: &Value| json!(value.as_str().unwrap_or_default().trim());
            let same = |key: &String, wanted: &Value| match key.as_str() {
                "occurred_at" => instant(wanted) == instant(&fields[key]),
                "content" => trimmed(wanted) == trimmed(&fields[key]),
                _ => *wanted == fields[key],
            };
            let wanted = expect["memory"].as_object().into_iter().flatten();
            match wanted.into_iter().find(|(key, value)| !same(key, value)) {
                None => Outcome::Agrees,
                Some((key, value)) => differs(format!("{key} {value}"), &fields[key]),
            }
        }
        (None, Ok(note)) => {
            let wanted = &expect["memory_fields"]["same_instant_as"];
            let same = wanted.is_null() || instant(wanted) == Some(note.occurred_at.at());
            if same { Outcome::Agrees } else { differs(wanted, note.occurred_at.stored()) }
        }
        (None, Err(_)) => Outcome::Agrees,
        (Some(differs), _) => differs,
    }
}

/// `None` if the case accepts what happened, with the right field named.
fn accepts<T>(expect: &Value, outcome: &Result<T, Fault>) -> Option<Outcome> {
    let accept = &expect["accept"];
    match outcome {
        Ok(_) if *accept == json!(false) => Some(differs("a refusal", "accepted")),
        Err(fault) if *accept == json!(true) => Some(differs("accepted", &fault.message)),
        Err(fault) if *accept == json!(false) && expect["field"].is_string() => {
            let named = fault.get("field");
            (expect["field"].as_str() != named)
                .then(|| differs(format!("a refusal of {}", expect["field"]), format!("one of {named:?}")))
        }
        _ => None,
    }
}

fn instant(value: &Value) -> Option<jiff::Timestamp> {
    value.as_str().and_then(time::parse)
}

fn fields(note: &Note) -> Value {
    json!({
        "id": note.id.as_str(),
        "subject": note.subject,
        "keywords": note.keywords,
        "applies_to": note.applies_to.to_string(),
        "occurred_at": note.occurred_at.stored(),
        "content_hash": note.content_hash,
        "content": note.content,
    })
}

fn write_then_read(args: &Value, expect: &Value) -> Outcome {
    let Some(note) = note_of(&args["memory"]) else {
        return differs("a memory of the format", "a field that cannot be read");
    };
    let file = notes::write_file(&note);
    let name = note.id.file_name();
    if expect["file_name"].as_str().is_some_and(|wanted| wanted != name) {
        return differs(&expect["file_name"], name);
    }
    match notes::read_file(&file) {
        Err(fault) => differs("what was written", fault.message),
        Ok(back) => {
            let (mut wanted, mut got) = (expect["round_trip"].clone(), fields(&back));
            if instant(&wanted["occurred_at"]) == instant(&got["occurred_at"]) {
                wanted["occurred_at"] = Value::Null;
                got["occurred_at"] = Value::Null;
            }
            compare(&wanted, &got)
        }
    }
}

fn note_of(memory: &Value) -> Option<Note> {
    Some(Note {
        id: NoteId::parse(text(memory, "id"))?,
        subject: text(memory, "subject").to_owned(),
        keywords: texts(&memory["keywords"]),
        applies_to: heirloom_core::Scope::in_project(text(memory, "applies_to"))?,
        occurred_at: Moment::parse(text(memory, "occurred_at"))?,
        content_hash: text(memory, "content_hash").to_owned(),
        content: text(memory, "content").to_owned(),
        memory_path: None,
    })
}

fn memories_from_transcript(args: &Value, expect: &Value) -> Outcome {
    let turns = transcript::Turns::new(text(args, "jsonl").as_bytes(), transcript::Limits::default());
    let proposed = capture_notes(turns, &Settings::standard().notes, now());
    let wanted = expect["memories"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut got: Vec<Value> = proposed.drafts.iter().map(NoteDraft::to_fields).collect();
    for (at, memory) in got.iter_mut().enumerate() {
        for own in ["id", "timeless"] {
            memory.as_object_mut().map(|fields| fields.shift_remove(own));
        }
        let Some(wanted) = wanted.get(at) else { break };
        // Where the rule finds no keyword, the product chooses one.
        if wanted["keywords"] == json!([]) && memory["keywords"] != json!([]) {
            memory["keywords"] = json!([]);
        }
        if instant(&memory["occurred_at"]) == instant(&wanted["occurred_at"]) {
            memory["occurred_at"] = wanted["occurred_at"].clone();
        }
    }
    compare(&json!(wanted), &json!(got))
}

fn now() -> jiff::Timestamp {
    time::parse(NOW).unwrap_or_default()
}

/// A fresh store with what a case says was there before.
struct Store {
    engine: Call,
    before: Vec<Memory>,
    _folder: tempfile::TempDir,
}

impl Store {
    fn new(state: &Value) -> Option<Store> {
        let folder = tempfile::tempdir().ok()?;
        let world = World {
            now: now(),
            data: folder.path().join("data"),
            nonce: "00112233445566778899aabbccddeeff".to_owned(),
            user: "someone".to_owned(),
        };
        let project = folder.path().join("project");
        std::fs::create_dir_all(&project).ok()?;
        let engine = Call::new(Project::new(&project, &project.join("memory"), world), Settings::standard());
        let mut store = Store { engine, before: Vec::new(), _folder: folder };
        for (at, memory) in state.as_array().into_iter().flatten().enumerate() {
            let mut fields = memory.clone();
            fields["content"] = json!(format!("Body number {at}\nwith a second line"));
            store.create(&fields).ok()?;
        }
        store.before = store.all();
        Some(store)
    }

    fn create(&self, fields: &Value) -> Result<Kept, Fault> {
        let draft = NoteDraft::from_fields(fields, now())?;
        self.engine.notes().create(draft, Entry::through(Channel::Agent))
    }

    fn all(&self) -> Vec<Memory> {
        self.engine.notes().list(&Listing::everything()).unwrap_or_default()
    }

    fn run(&self, op: &str, args: &Value, expect: &Value) -> Outcome {
        let notes = self.engine.notes();
        let outcome = match op {
            "create" => accepts(expect, &self.create(&args["input"])).unwrap_or(Outcome::Agrees),
            "create_many" => self.create_many(args, expect),
            "list" => {
                let filter = &args["filter"];
                let number = |key: &str| filter[key].as_u64().map(|n| n as usize);
                let found = notes.list_by(&Filter {
                    scope: filter["scope"].as_str().map(str::to_owned),
                    keyword: filter["keyword"].as_str().map(str::to_owned),
                    offset: number("offset").unwrap_or_default(),
                    limit: number("limit"),
                });
                subjects(&expect["subjects"], found)
            }
            "search_keywords" => {
                let found = notes.search(text(args, "query"), limit(args));
                subjects(&expect["subjects_newest_first"], found)
            }
            _ => {
                let context = &args["context"];
                let session = Session {
                    files: texts(&context["files"]),
                    area: context["area"].as_str().map(str::to_owned),
                };
                subjects(&expect["subjects"], notes.for_session(&session, limit(args)))
            }
        };
        let after = self.all();
        if self.before.iter().all(|memory| after.contains(memory)) {
            outcome
        } else {
            differs("what was there before", "something of it lost")
        }
    }

    fn create_many(&self, args: &Value, expect: &Value) -> Outcome {
        let inputs = args["inputs"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut ids: Vec<String> = Vec::new();
        let (mut groups, mut returned) = (Vec::new(), Vec::new());
        for input in inputs {
            let kept = match self.create(input) {
                Ok(kept) => kept,
                Err(fault) => return differs("a memory", fault.message),
            };
            let id = kept.done.id.to_string();
            let group = ids.iter().position(|known| *known == id).unwrap_or_else(|| {
                ids.push(id);
                ids.len() - 1
            });
            groups.push(group);
            returned.push(kept.note.subject);
        }
        let got = json!({
            "same_memory_groups": groups,
            "file_count": self.all().len() - self.before.len(),
            "returned_subjects": returned,
        });
        compare(expect, &got)
    }
}

fn limit(args: &Value) -> usize {
    args["limit"].as_u64().map_or(10, |n| n as usize)
}

fn subjects(expected: &Value, found: Result<Vec<Memory>, Fault>) -> Outcome {
    match found {
        Ok(found) => {
            let titles: Vec<&str> = found.iter().map(|memory| memory.title.as_str()).collect();
            compare(expected, &json!(titles))
        }
        Err(fault) => differs(expected, fault.message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_case_that_is_not_contested_agrees() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/conformance/frontmatter");
        let mut count = 0;
        for file in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let cases: Vec<Value> = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
            for case in &cases {
                let outcome = run(case);
                assert_ne!(outcome, Outcome::Unknown, "{}", case["name"]);
                if case["source"] != "contested" {
                    assert_eq!(outcome, Outcome::Agrees, "{}: {}", file.display(), case["name"]);
                    count += 1;
                }
            }
        }
        assert!(count > 150, "only {count} cases were found");
    }
}

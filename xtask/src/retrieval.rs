//! Retrieval sets: every unit goes onto the ordinary shelves through the gate, every question through ordinary recall.
//!
//! Comes in: a set of units, sessions and queries as gzipped JSON lines. Goes out: a run file, one line of unit ids per query, and what the gate
//! made of the units. Dialogue becomes episodes, documents become notes. Never here: a setting, a path into the store or a way of asking
//! that users do not have; an id of the set in the store.

use crate::Outcome;
use heirloom_core::{Caller, Channel, Code, Settings, time};
use heirloom_engine::follow::{Look, ShelfIndex};
use heirloom_engine::gate::Entry;
use heirloom_engine::index::embed::chosen;
use heirloom_engine::index::embed::minilm::MiniLm;
use heirloom_engine::index::embed::{
    Asking, Detail, EmbedError, Embedder, Embedding, Nearness, Space, Worth,
};
use heirloom_engine::rank::query::Conditions;
use heirloom_engine::recall::answer::{Asked, answer};
use heirloom_engine::shelf::Audience;
use heirloom_engine::shelf::notes::{Given, Moment, NoteDraft};
use heirloom_engine::shelf::tiers::{Access, Role, SqliteStore, Turn, UserContext};
use heirloom_engine::{Call, Deployment, Project, World};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

const USAGE: &str = "retrieval SET.jsonl.gz --out RUN.jsonl [--haystack] [--depth 100] [--model minilm.bin]";

/// The longest subject of a note.
const SUBJECT: usize = 200;
/// Keywords a note gets where the settings say nothing else.
const KEYWORDS: usize = 7;

struct Wanted {
    set: PathBuf,
    out: PathBuf,
    haystack: bool,
    depth: usize,
    /// An installed model; without one the built-in one is used.
    model: Option<PathBuf>,
}

fn wanted(words: &[String]) -> Result<Wanted, String> {
    let (mut set, mut out, mut haystack, mut depth, mut model) = (None, None, false, 100, None);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--out" => out = words.next().map(PathBuf::from),
            "--haystack" => haystack = true,
            "--model" => model = Some(words.next().map(PathBuf::from).ok_or(USAGE)?),
            "--depth" => depth = words.next().and_then(|n| n.parse().ok()).ok_or(USAGE)?,
            other if set.is_none() && !other.starts_with('-') => set = Some(PathBuf::from(other)),
            _ => return Err(USAGE.to_owned()),
        }
    }
    Ok(Wanted { set: set.ok_or(USAGE)?, out: out.ok_or(USAGE)?, haystack, depth, model })
}

/// What a set holds.
#[derive(Default)]
pub(crate) struct Set {
    pub(crate) units: Vec<Value>,
    pub(crate) queries: Vec<Value>,
}

pub(crate) fn read(path: &Path) -> Result<Set, String> {
    let output = Command::new("gzip").arg("-dc").arg(path).output().map_err(|e| format!("gzip: {e}"))?;
    if !output.status.success() {
        return Err(format!("`{}` cannot be read", path.display()));
    }
    let mut set = Set::default();
    for line in output.stdout.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
        let record: Value = serde_json::from_slice(line).map_err(|e| format!("{}: {e}", path.display()))?;
        match text(&record, "kind") {
            "unit" => set.units.push(record),
            "query" => set.queries.push(record),
            _ => {}
        }
    }
    Ok(set)
}

pub(crate) fn text<'v>(record: &'v Value, key: &str) -> &'v str {
    record.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A time of the set: `YYYY-MM-DDTHH:MM` or a date, read as UTC.
fn instant(text: &str) -> Option<Timestamp> {
    match text.len() {
        0 => None,
        16 => time::parse(&format!("{text}:00Z")),
        _ => time::parse(text).or_else(|| time::parse(&format!("{text}T00:00:00Z"))),
    }
}

/// One user's memory in a folder of its own.
struct Memory {
    folder: tempfile::TempDir,
    /// Unit by stored id.
    units: HashMap<String, usize>,
    model: Option<chosen::Given>,
}

/// An installed model that embeds a text once, however many haystacks it lies in. What it answers is what the model answers.
struct Remembering {
    model: MiniLm,
    known: Mutex<HashMap<String, Embedding>>,
}

impl Embedder for Remembering {
    fn space(&self) -> &Space {
        self.model.space()
    }

    fn embed(&self, texts: &[&str], detail: Detail) -> Result<Vec<Embedding>, EmbedError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut new: Vec<&str> = texts.iter().copied().filter(|text| !known.contains_key(*text)).collect();
        new.sort_unstable();
        new.dedup();
        for part in new.chunks(256) {
            let embedded = self.model.embed(part, detail)?;
            known.extend(part.iter().map(|text| (*text).to_owned()).zip(embedded));
        }
        Ok(texts.iter().filter_map(|text| known.get(*text).cloned()).collect())
    }

    fn worth(&self) -> Worth {
        self.model.worth()
    }

    fn nearness(&self) -> Nearness {
        self.model.nearness()
    }

    fn asking(&self) -> Option<Asking<'_>> {
        self.model.asking()
    }

    fn has_pieces(&self) -> bool {
        self.model.has_pieces()
    }
}

/// The model of a file, or none for the one in the binary.
pub(crate) fn model(file: Option<&Path>) -> Result<Option<chosen::Given>, String> {
    let Some(file) = file else { return Ok(None) };
    let threads = NonZeroUsize::new(2).unwrap_or(NonZeroUsize::MIN);
    let model = MiniLm::open(file, threads).map_err(|e| format!("{}: {e}", file.display()))?;
    let remembering: Arc<dyn Embedder> = Arc::new(Remembering { model, known: Mutex::default() });
    Ok(Some(chosen::Given::from(remembering)))
}

/// What became of the units.
#[derive(Default)]
struct Counts {
    of: BTreeMap<usize, (&'static str, String)>,
}

impl Memory {
    fn engine(&self, now: Timestamp, nonce: &str) -> Result<Call, String> {
        let base = self.folder.path();
        let project = base.join("project");
        let root = project.join(".claude/memory");
        std::fs::create_dir_all(&root).map_err(|e| e.to_string())?;
        let world =
            World { now, data: base.join("data"), nonce: nonce.to_owned(), user: "somebody".to_owned() };
        let who = UserContext::by_account(&world).map_err(|fault| fault.message)?;
        let tiers = base.join("data/tiers");
        let store = SqliteStore::at(&tiers).with_model(self.model.clone());
        let access = Access::new(Arc::new(store), who, &tiers);
        let deployment = Arc::new(Deployment::default().with_model(self.model.clone()));
        let project = Project::new(&project, &root, world);
        let call = deployment.call(project, Settings::standard(), Caller::process("somebody"));
        Ok(call.with_tiers(access))
    }

    /// Stores units with the times they happened.
    fn store(
        set: &Set,
        which: &[(usize, Option<Timestamp>)],
        now: Timestamp,
        counts: &mut Counts,
        model: Option<chosen::Given>,
    ) -> Result<Memory, String> {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let mut memory = Memory { folder, units: HashMap::new(), model };
        let engine = memory.engine(now, "00000000000000000000000000000001")?;
        let (mut turns, mut notes) = (Vec::new(), Vec::new());
        let (mut sessions, mut places): (HashMap<&str, usize>, HashMap<&str, u32>) = Default::default();
        for (unit, at) in which {
            let record = &set.units[*unit];
            let at = at.unwrap_or(now);
            if record.get("title").is_some() {
                notes.push((*unit, note(record, at)));
                continue;
            }
            let session = text(record, "session");
            let next = sessions.len();
            let number = *sessions.entry(session).or_insert(next);
            let place = places.entry(session).or_default();
            let (turn, entry) = turn(record, at);
            let named = Turn {
                session: Some(format!("session {number}")),
                position: *place,
                message: Some(format!("message {place}")),
                ..turn
            };
            *place += 1;
            turns.push((*unit, (named, entry)));
        }
        let said = |unit: usize, what: &'static str, why: String, counts: &mut Counts| {
            counts.of.insert(unit, (what, why));
        };
        if !turns.is_empty() {
            let (units, turns): (Vec<usize>, Vec<(Turn, Entry)>) = turns.into_iter().unzip();
            let before: Vec<String> = turns.iter().map(|(turn, _)| turn.content.clone()).collect();
            let tiers = engine.tiers().map_err(|fault| fault.message)?;
            let kept = tiers.add_episodes(turns).map_err(|fault| fault.message)?;
            for ((unit, before), kept) in units.into_iter().zip(before).zip(kept) {
                match kept {
                    Ok(kept) => {
                        let what = if kept.stored.content == before { "kept" } else { "changed" };
                        said(unit, what, kept.notes.join("; "), counts);
                        memory.units.insert(kept.stored.id, unit);
                    }
                    Err(fault) => said(unit, verdict(fault.code), fault.message, counts),
                }
            }
        }
        if !notes.is_empty() {
            let (units, drafts): (Vec<usize>, Vec<NoteDraft>) = notes.into_iter().unzip();
            let before: Vec<String> = drafts.iter().map(|draft| draft.content.clone()).collect();
            let entry = Entry::through(Channel::Person);
            let kept = engine.notes().create_many(drafts, entry).map_err(|fault| fault.message)?;
            for ((unit, before), kept) in units.into_iter().zip(before).zip(kept) {
                match kept {
                    Ok(kept) => {
                        let what = if kept.note.content == before { "kept" } else { "changed" };
                        said(unit, what, kept.done.notes.join("; "), counts);
                        memory.units.insert(kept.done.id.as_str().to_owned(), unit);
                    }
                    Err(fault) => said(unit, verdict(fault.code), fault.message, counts),
                }
            }
        }
        // As `model embed` does; with the built-in model there is nothing left to do.
        let mut index = ShelfIndex::open(&engine, Look::Thorough).map_err(|fault| fault.message)?;
        while index.embed(1_024).map_err(|fault| fault.message)? > 0 {}
        Ok(memory)
    }

    /// Asks a question of the set; unit ids, best first.
    fn ask(&self, set: &Set, query: &Value, now: Timestamp, depth: usize) -> Result<Vec<String>, String> {
        let engine =
            self.engine(instant(text(query, "asked_at")).unwrap_or(now), "00000000000000000000000000000002")?;
        let asked = Asked {
            text: text(query, "text").to_owned(),
            conditions: Conditions::default(),
            include_retired: false,
            files: Vec::new(),
            limit: depth,
            audience: Audience::person(),
            look: Look::Quick,
            unasked: false,
        };
        let hits = answer(&engine, &asked).map_err(|fault| fault.message)?;
        let unit = |id: &String| Some(text(&set.units[*self.units.get(id)?], "id").to_owned());
        Ok(hits.iter().filter_map(|hit| unit(&hit.id)).collect())
    }
}

fn verdict(code: Code) -> &'static str {
    if code == Code::NeedsConfirmation { "confirm" } else { "refused" }
}

fn turn(record: &Value, at: Timestamp) -> (Turn, Entry) {
    let speaker = text(record, "speaker");
    let (role, channel) = match speaker {
        "assistant" => (Role::Assistant, Channel::Agent),
        _ => (Role::User, Channel::OwnerMessage),
    };
    let caption = record.get("caption").and_then(Value::as_str);
    let caption = caption.map(|caption| format!(" [shares {caption}]")).unwrap_or_default();
    let named = !matches!(speaker, "user" | "assistant");
    let turn = Turn {
        occurred_at: Some(at),
        tags: if named { vec![format!("speaker:{speaker}")] } else { Vec::new() },
        ..Turn::of(role, format!("{}{caption}", text(record, "text")))
    };
    (turn, Entry::through(channel))
}

fn note(record: &Value, at: Timestamp) -> NoteDraft {
    let content = match text(record, "heading") {
        "" => text(record, "text").to_owned(),
        heading => format!("## {heading}\n\n{}", text(record, "text")),
    };
    let subject: String = text(record, "title").chars().take(SUBJECT).collect();
    let mut draft = NoteDraft::of(content, Moment::of(at), KEYWORDS);
    draft.subject = Given::Yes(subject);
    draft
}

pub(crate) fn run(words: &[String]) -> Outcome {
    let wanted = wanted(words)?;
    let started = Instant::now();
    let set = read(&wanted.set)?;
    let now = Timestamp::now();
    let mut counts = Counts::default();
    let model = model(wanted.model.as_deref())?;
    let mut runs: HashMap<&str, Vec<String>> = HashMap::new();
    let mut scopes: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for query in &set.queries {
        let Some(haystack) = query.get("haystack").filter(|_| wanted.haystack) else {
            scopes.entry(text(query, "scope")).or_default().push(query);
            continue;
        };
        let times = haystack.as_object().ok_or("a haystack is no object")?;
        let which: Vec<(usize, Option<Timestamp>)> = set
            .units
            .iter()
            .enumerate()
            .filter_map(|(at, unit)| Some((at, times.get(text(unit, "session"))?)))
            .map(|(at, when)| (at, instant(when.as_str().unwrap_or_default())))
            .collect();
        let memory = Memory::store(&set, &which, now, &mut counts, model.clone())?;
        runs.insert(text(query, "id"), memory.ask(&set, query, now, wanted.depth)?);
    }
    for (scope, queries) in scopes {
        let which: Vec<(usize, Option<Timestamp>)> = set
            .units
            .iter()
            .enumerate()
            .filter(|(_, unit)| text(unit, "scope") == scope)
            .map(|(at, unit)| (at, instant(text(unit, "ts"))))
            .collect();
        let memory = Memory::store(&set, &which, now, &mut counts, model.clone())?;
        for query in queries {
            runs.insert(text(query, "id"), memory.ask(&set, query, now, wanted.depth)?);
        }
    }
    let mut lines = String::new();
    for query in &set.queries {
        let id = text(query, "id");
        lines.push_str(&json!({ "query_id": id, "ranked": runs.get(id) }).to_string());
        lines.push('\n');
    }
    std::fs::write(&wanted.out, lines).map_err(|e| format!("`{}`: {e}", wanted.out.display()))?;
    report(&set, &counts);
    let haystack = if wanted.haystack { ", haystack" } else { "" };
    println!(
        "queries {}, depth {}{haystack}, {:.1} s",
        set.queries.len(),
        wanted.depth,
        started.elapsed().as_secs_f64()
    );
    Ok(())
}

fn report(set: &Set, counts: &Counts) {
    let of = |what: &str| counts.of.values().filter(|(did, _)| *did == what).count();
    println!(
        "units {}: {} kept, {} changed, {} confirm, {} refused",
        set.units.len(),
        of("kept"),
        of("changed"),
        of("confirm"),
        of("refused")
    );
    for (unit, (did, why)) in counts.of.iter().filter(|(_, (did, _))| *did != "kept") {
        println!("  {} {did}: {}", text(&set.units[*unit], "id"), why.lines().next().unwrap_or_default());
    }
}

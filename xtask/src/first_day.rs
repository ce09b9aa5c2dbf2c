//! The first day: small stores and questions, saved with `add` and asked with `recall`, as a new user does.
//!
//! Comes in: `fixtures/first-day/*.txt` (format: the README beside them). Goes out: for each group of questions the share that recall
//! treats as it should, and with `--all` every question it does not. Never here: a setting, a path into the store or a way of asking that
//! users do not have.

use crate::retrieval::model;
use crate::{Outcome, workspace};
use heirloom_core::settings::MatchStrategy;
use heirloom_core::{Caller, Settings};
use heirloom_engine::follow::{Look, ShelfIndex};
use heirloom_engine::index::embed::chosen;
use heirloom_engine::shelf::tiers::{Access, SqliteStore, UserContext};
use heirloom_engine::verbs::add::{Add, New, Words, add};
use heirloom_engine::verbs::recall::{Recall, recall};
use heirloom_engine::{Call, Deployment, Project, World};
use jiff::Timestamp;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const USAGE: &str =
    "first-day [--part tune|report|blind|blind-again|fresh] [--file SET.txt] [--model minilm.bin] [--all]";

/// The parts of the set; the README beside them says what each was used for.
const PARTS: [&str; 5] = ["tune", "report", "blind", "blind-again", "fresh"];

struct Wanted {
    files: Vec<PathBuf>,
    model: Option<PathBuf>,
    /// Whether every question is shown that is not treated as it should be.
    all: bool,
}

fn wanted(words: &[String]) -> Result<Wanted, String> {
    let mut wanted = Wanted { files: Vec::new(), model: None, all: false };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--all" => wanted.all = true,
            "--model" => wanted.model = Some(words.next().map(PathBuf::from).ok_or(USAGE)?),
            "--part" => {
                let name = words.next().filter(|name| PARTS.contains(&name.as_str())).ok_or(USAGE)?;
                wanted.files.push(part(name));
            }
            "--file" => wanted.files.push(words.next().map(PathBuf::from).ok_or(USAGE)?),
            _ => return Err(USAGE.to_owned()),
        }
    }
    if wanted.files.is_empty() {
        wanted.files = PARTS.map(part).to_vec();
    }
    Ok(wanted)
}

fn part(name: &str) -> PathBuf {
    workspace::root().join(format!("fixtures/first-day/{name}.txt"))
}

/// What a question has to do with the memories of its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    Shares,
    Means,
    None,
}

impl Group {
    const ALL: [Group; 3] = [Group::Shares, Group::Means, Group::None];

    fn named(name: &str) -> Option<Group> {
        Group::ALL.into_iter().find(|group| group.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Group::Shares => "shares",
            Group::Means => "means",
            Group::None => "none",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Group::Shares => "answered, a content word in common",
            Group::Means => "answered, no content word in common",
            Group::None => "given although nothing fits",
        }
    }
}

#[derive(Debug)]
struct Question {
    group: Group,
    /// Memories that answer it, counted from 0.
    answers: Vec<usize>,
    text: String,
}

#[derive(Debug, Default)]
struct Store {
    name: String,
    memories: Vec<Words>,
    questions: Vec<Question>,
}

fn read(path: &Path) -> Result<Vec<Store>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("`{}`: {e}", path.display()))?;
    let mut stores: Vec<Store> = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
    {
        let bad = |what: &str| format!("`{}`, line {}: {what}", path.display(), at + 1);
        if let Some(name) = line.strip_prefix("== ") {
            stores.push(Store { name: name.to_owned(), ..Store::default() });
            continue;
        }
        let store = stores.last_mut().ok_or_else(|| bad("there is no store yet"))?;
        let (head, rest) = line.split_once(": ").ok_or_else(|| bad("a colon is missing"))?;
        let mut words = head.split(' ');
        let Some(group) = words.next().and_then(Group::named) else {
            store.memories.push(memory(head, rest).ok_or_else(|| bad("a field has no value"))?);
            continue;
        };
        let number = |word: &str| word.parse::<usize>().ok()?.checked_sub(1);
        let answers: Option<Vec<usize>> = words.map(number).collect();
        let there = |answers: &Vec<usize>| answers.iter().all(|number| *number < store.memories.len());
        let answers = answers.filter(there).ok_or_else(|| bad("there is no such memory"))?;
        if answers.is_empty() != (group == Group::None) {
            return Err(bad("a question names the memories that answer it, or has none"));
        }
        store.questions.push(Question { group, answers, text: rest.to_owned() });
    }
    Ok(stores)
}

/// `text | name=value | …`
fn memory(kind: &str, line: &str) -> Option<Words> {
    let mut parts = line.split(" | ");
    let text = parts.next()?.to_owned();
    let mut words = Words { kind: kind.to_owned(), text, ..Words::default() };
    for part in parts {
        let (name, value) = part.split_once('=')?;
        match name {
            "title" => words.title = Some(value.to_owned()),
            "topic" => words.topic = Some(value.to_owned()),
            "tag" => words.tags.push(value.to_owned()),
            _ => words.fields.push((name.to_owned(), value.to_owned())),
        }
    }
    Some(words)
}

/// A project with an empty memory.
fn project(folder: &Path, model: Option<chosen::Given>, nonce: &str) -> Result<Call, String> {
    let project = folder.join("project");
    let root = project.join(".claude/memory");
    std::fs::create_dir_all(&root).map_err(|e| e.to_string())?;
    let world = World {
        now: Timestamp::now(),
        data: folder.join("data"),
        nonce: nonce.to_owned(),
        user: "somebody".to_owned(),
    };
    let who = UserContext::by_account(&world).map_err(|fault| fault.message)?;
    let tiers = folder.join("data/tiers");
    let access = Access::new(Arc::new(SqliteStore::at(&tiers).with_model(model.clone())), who, &tiers);
    let deployment = Arc::new(Deployment::default().with_model(model));
    let project = Project::new(&project, &root, world);
    // As `init` leaves a new project.
    let mut settings = Settings::standard();
    settings.retrieval.match_strategy = MatchStrategy::Hybrid;
    Ok(deployment.call(project, settings, Caller::person("somebody")).with_tiers(access))
}

/// The ids of what was saved, in order; what the gate refused has none, and what it would answer counts as unanswered.
fn save(folder: &Path, store: &Store, model: Option<&chosen::Given>) -> Result<Vec<Option<String>>, String> {
    let mut ids = Vec::new();
    for (at, words) in store.memories.iter().enumerate() {
        let call = project(folder, model.cloned(), &format!("{:032x}", at + 1))?;
        let failed = |why: String| format!("{}, memory {}: {why}", store.name, at + 1);
        let new = New::said(&call, words.clone()).map_err(|fault| failed(fault.message))?;
        let saved = add(&call, &Add::of(new)).and_then(heirloom_engine::verbs::Outcome::done);
        ids.push(match saved {
            Ok(saved) => Some(saved.id.as_str().to_owned()),
            Err(fault) => {
                println!("not saved: {}", failed(fault.message));
                None
            }
        });
    }
    let call = project(folder, model.cloned(), "f0000000000000000000000000000000")?;
    // As `model embed` does; with the built-in model there is nothing left to do.
    let mut index = ShelfIndex::open(&call, Look::Thorough).map_err(|fault| fault.message)?;
    while index.embed(1_024).map_err(|fault| fault.message)? > 0 {}
    Ok(ids)
}

/// How many questions of each group there are, and how many of them something was given for that was asked for, or for none anything.
#[derive(Debug, Default)]
struct Tally {
    of: [(usize, usize); 3],
}

impl Tally {
    fn count(&mut self, group: Group, hit: bool) {
        let (all, hits) = &mut self.of[group as usize];
        *all += 1;
        *hits += usize::from(hit);
    }
}

fn measure(stores: &[Store], model: Option<&chosen::Given>, all: bool) -> Result<Tally, String> {
    let mut tally = Tally::default();
    for store in stores {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let ids = save(folder.path(), store, model)?;
        for question in &store.questions {
            let call = project(folder.path(), model.cloned(), "f0000000000000000000000000000001")?;
            let ask = Recall { prompt: question.text.clone(), ..Recall::default() };
            let answer = recall(&call, &ask).map_err(|fault| format!("{}: {}", store.name, fault.message))?;
            let given: Vec<&str> = answer.hits.iter().map(|hit| hit.memory.id.as_str()).collect();
            let hit = match question.group {
                Group::None => !given.is_empty(),
                _ => question
                    .answers
                    .iter()
                    .filter_map(|number| ids[*number].as_deref())
                    .any(|id| given.contains(&id)),
            };
            tally.count(question.group, hit);
            if all && hit == (question.group == Group::None) {
                println!(
                    "{} | {} | {} | given: {}",
                    question.group.name(),
                    store.name,
                    question.text,
                    given.join(", ")
                );
            }
        }
    }
    Ok(tally)
}

pub(crate) fn run(words: &[String]) -> Outcome {
    let wanted = wanted(words)?;
    let model = model(wanted.model.as_deref())?;
    for file in wanted.files {
        let stores = read(&file)?;
        let tally = measure(&stores, model.as_ref(), wanted.all)?;
        let name = file.file_stem().unwrap_or_default().display();
        println!("{name}: {} stores", stores.len());
        for group in Group::ALL {
            let (all, hits) = tally.of[group as usize];
            println!("  {:.3}  {hits} of {all}  {}", hits as f64 / all.max(1) as f64, group.help());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_can_be_read_and_holds_every_group_of_questions_about_small_stores() {
        for name in PARTS {
            let all = read(&part(name)).unwrap();
            for group in Group::ALL {
                assert!(
                    all.iter().flat_map(|store| &store.questions).filter(|q| q.group == group).count() >= 25,
                    "{name}: {}",
                    group.name()
                );
            }
            assert!(all.iter().all(|store| (1..=20).contains(&store.memories.len())));
        }
    }

    #[test]
    fn both_halves_can_be_read_and_hold_every_kind_and_group() {
        let mut stores = 0;
        for half in ["tune", "report"] {
            let all = read(&part(half)).unwrap();
            stores += all.len();
            for kind in heirloom_core::Kind::RECORDS
                .iter()
                .map(heirloom_core::Kind::name)
                .chain(["lesson", "note", "canon", "register", "fact", "episode"])
            {
                assert!(
                    all.iter().any(|store| store.memories.iter().any(|m| m.kind == kind)),
                    "{half}: {kind}"
                );
            }
            for group in Group::ALL {
                let asked =
                    all.iter().flat_map(|store| &store.questions).filter(|q| q.group == group).count();
                assert!(asked >= 60, "{half}: {} {asked}", group.name());
            }
        }
        assert!(stores >= 60, "{stores}");
    }
}

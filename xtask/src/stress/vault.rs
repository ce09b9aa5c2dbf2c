//! Stress: eight processes add, update, retire and compact one vault at the same time.
//!
//! Comes in: how long. Goes out: what was acknowledged, and whether all of it is there afterwards: every acknowledged write is the
//! version that counts or was followed by one, versions strictly increase for each id, no line is torn. Each process keeps a list of
//! what it was told, beside the vault and not in it, and the lists are held against the file at the end.

use crate::conformance::say;
use heirloom_core::{Channel, Code, Fault, Settings, hash, time};
use heirloom_engine::gate::Entry;
use heirloom_engine::shelf::vault::{Addition, Image, Record, Revision, Vault, Write};
use heirloom_engine::{Call, Project, World};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

const PROCESSES: usize = 8;
const PERSON: Entry = Entry { channel: Channel::Person, confirmed: false };

/// `[seconds]`, or from itself `--worker <folder> <number> <seconds>`.
pub(crate) fn run(arguments: &[&str]) -> ExitCode {
    let outcome = match arguments {
        ["--worker", folder, number, seconds] => match (number.parse(), seconds.parse()) {
            (Ok(number), Ok(seconds)) => work(Path::new(folder), number, seconds).map_err(|f| f.message),
            _ => Err("usage: stress vault [seconds]".to_owned()),
        },
        [] => lead(30.0),
        [seconds] => seconds.parse().map_err(|_| "usage: stress vault [seconds]".to_owned()).and_then(lead),
        _ => Err("usage: stress vault [seconds]".to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            say(&format!("FAILED: {why}"));
            ExitCode::FAILURE
        }
    }
}

fn engine(folder: &Path, number: usize, round: usize) -> Call {
    let world = World {
        now: time::parse("2026-01-10T09:00:00Z").unwrap_or_default(),
        data: folder.join("data"),
        nonce: hash::sha256(format!("{number} {round}").as_bytes()),
        user: "stress".to_owned(),
    };
    let mut settings = Settings::standard();
    settings.vault.capacity = 1_000_000;
    let project = folder.join("project");
    Call::new(Project::new(&project, &project.join(".claude/memory"), world), settings)
}

/// One process: an engine for each call, as if each were a process of its own.
fn work(folder: &Path, number: usize, seconds: f64) -> Result<(), Fault> {
    let until = Instant::now() + Duration::from_secs_f64(seconds);
    let mut told = String::new();
    let mut mine: Vec<String> = Vec::new();
    let mut round = 0;
    while Instant::now() < until {
        round += 1;
        let engine = engine(folder, number, round);
        let vault = Vault::new(&engine);
        // Texts without a common word, so that none is a duplicate of another.
        let text = hash::sha256(format!("{number}/{round}").as_bytes());
        let topic = |n: usize| Addition {
            tier: "register".into(),
            topic_id: Some(format!("topic-{n}")),
            ..Addition::new(&text)
        };
        let write = match (round % 7, mine.get(round % mine.len().max(1))) {
            (0, Some(id)) => {
                Write::Revise(Revision { id: id.clone(), text: Some(text), ..Revision::default() })
            }
            (3, Some(id)) => Write::Retire { id: id.clone() },
            // Topics that all processes fight over.
            (1 | 4, _) => Write::Add(topic(round % 5)),
            _ => Write::Add(Addition::new(&text)),
        };
        let adds = matches!(&write, Write::Add(new) if new.topic_id.is_none());
        match vault.write(write, PERSON) {
            Ok(stored) => {
                let Record { id, version, text, .. } = stored.record;
                let _ = writeln!(told, "{id} {version} {} {text}", stored.status);
                if adds {
                    mine.push(id.into_owned());
                }
            }
            // Its own memory was retired already, or somebody was faster for too long: nothing was written, nothing was told.
            Err(fault) if matches!(fault.code, Code::NotFound | Code::LockBusy) => {}
            Err(fault) => return Err(fault),
        }
        if round % 25 == number {
            match vault.compact(PERSON) {
                Err(fault) if fault.code != Code::LockBusy => return Err(fault),
                _ => {}
            }
        }
    }
    let path = folder.join(format!("told-{number}"));
    std::fs::write(&path, told).map_err(|e| Fault::io(&path, "write", &e))
}

fn lead(seconds: f64) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    std::fs::create_dir_all(folder.path().join("project")).map_err(|e| e.to_string())?;
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut children = Vec::new();
    for number in 0..PROCESSES {
        let child = Command::new(&program)
            .args(["stress", "vault", "--worker"])
            .arg(folder.path())
            .args([number.to_string(), seconds.to_string()])
            .spawn()
            .map_err(|e| e.to_string())?;
        children.push(child);
    }
    for mut child in children {
        let status = child.wait().map_err(|e| e.to_string())?;
        if !status.success() {
            return Err(format!("a process ended with {status}"));
        }
    }
    let report = check(folder.path())?;
    say(&report);
    Ok(())
}

/// What the processes were told, held against the file.
fn check(folder: &Path) -> Result<String, String> {
    let mut told: HashMap<String, BTreeMap<i64, (String, String)>> = HashMap::new();
    let mut count = 0;
    for number in 0..PROCESSES {
        let text =
            std::fs::read_to_string(folder.join(format!("told-{number}"))).map_err(|e| e.to_string())?;
        for line in text.lines() {
            let parts: Vec<&str> = line.splitn(4, ' ').collect();
            let [id, version, status, text] = parts[..] else { return Err(format!("an odd line: {line}")) };
            let version: i64 = version.parse().map_err(|_| format!("an odd line: {line}"))?;
            let versions = told.entry(id.to_owned()).or_default();
            if versions.insert(version, (status.to_owned(), text.to_owned())).is_some() {
                return Err(format!("version {version} of {id} was given twice"));
            }
            count += 1;
        }
    }
    let engine = engine(folder, PROCESSES, 0);
    let bytes = Vault::new(&engine).bytes().map_err(|f| f.message)?;
    let image = Image::of(&bytes);
    if let Some(broken) = image.broken().first() {
        return Err(format!("line {} is torn: {}", broken.number, broken.why));
    }
    if !image.twins().is_empty() {
        return Err("two lines have the same id and version".to_owned());
    }
    let mut last: HashMap<String, i64> = HashMap::new();
    for held in image.readable() {
        let record = held.record;
        if last.get(record.id.as_ref()).is_some_and(|before| *before >= record.version) {
            return Err(format!("version {} of {} does not follow", record.version, record.id));
        }
        last.insert(record.id.into_owned(), record.version);
    }
    let resolved = image.resolve();
    let counts: HashMap<String, Record<'_>> =
        resolved.all().map(|held| (held.record.id.to_string(), held.record)).collect();
    for (id, versions) in &told {
        let gaps = versions.keys().zip(1..).any(|(version, n)| *version != n);
        let Some((version, (status, text))) = versions.last_key_value().filter(|_| !gaps) else {
            return Err(format!("the versions of {id} have gaps: {:?}", versions.keys()));
        };
        match counts.get(id) {
            Some(record) if record.version == *version && record.text == *text => {}
            // Compacting drops what was retired.
            None if status == "retired" => {}
            other => return Err(format!("{id} should be at version {version} ({status}), found {other:?}")),
        }
    }
    if let Some(stranger) = counts.keys().find(|id| !told.contains_key(*id)) {
        return Err(format!("{stranger} is in the file and nobody was told"));
    }
    Ok(format!(
        "{PROCESSES} processes, {count} acknowledged writes on {} memories, {} lines left: all found, versions strictly increase, no torn line",
        told.len(),
        image.lines()
    ))
}

//! Tests of the topics shelf, by subject.

mod codec;
mod external;
mod gate;
mod life;
mod merging;
mod paths;
mod pruning;
mod repositories;
mod searching;
mod silent;
mod stress;

use super::*;
use crate::gate::Entry;
use crate::{Project, World};
use heirloom_core::settings::{Layer, Origin, load};
use heirloom_core::{Channel, Settings, time};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A project in a folder of its own.
pub(super) struct Desk {
    pub(super) folder: tempfile::TempDir,
}

impl Desk {
    pub(super) fn new() -> Desk {
        Desk { folder: tempfile::tempdir().unwrap() }
    }

    pub(super) fn path(&self) -> PathBuf {
        std::fs::canonicalize(self.folder.path()).unwrap()
    }

    pub(super) fn topics_folder(&self) -> PathBuf {
        self.path().join("project/.claude/memory/topics")
    }

    pub(super) fn call(&self) -> Call {
        self.engine_with(json!({}))
    }

    /// An engine whose user has these settings.
    pub(super) fn engine_with(&self, user: Value) -> Call {
        engine_at(&self.path(), user, "2026-01-20T12:00:00Z")
    }
}

pub(super) fn engine_at(base: &Path, user: Value, now: &str) -> Call {
    let project = base.join("project");
    std::fs::create_dir_all(&project).unwrap();
    let world = World {
        now: time::parse(now).unwrap(),
        data: base.join("data"),
        nonce: format!("{:032x}", std::process::id()),
        user: "tester".into(),
    };
    let settings: Settings = load(&[Layer { origin: Origin::User, document: user }]).settings;
    std::fs::create_dir_all(base.join("home")).unwrap();
    let deployment = std::sync::Arc::new(crate::Deployment::new(Some(base.join("home"))));
    let caller = heirloom_core::Caller::process("tester");
    deployment.call(Project::new(&project, &project.join(".claude/memory"), world), settings, caller)
}

pub(super) fn person() -> Entry {
    Entry::through(Channel::Person)
}

pub(super) fn lesson(date: &str, title: &str) -> Lesson {
    let mut lesson = Lesson::new(date.parse().unwrap(), title);
    lesson.context = "TASK-12".into();
    lesson.problem = format!("{title} went wrong");
    lesson.solution = "Turned it off and on".into();
    lesson
}

pub(super) fn id(text: &str) -> heirloom_core::MemoryId {
    heirloom_core::MemoryId::parse(text).unwrap()
}

pub(super) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

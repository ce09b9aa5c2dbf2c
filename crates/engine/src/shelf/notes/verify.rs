//! What is wrong with the shelf's files.
//!
//! Comes in: the files as they are. Goes out: a [`Problem`] for each thing a person should look at, with what to do. Never here: a
//! repair, or a note's text in a message.

use super::read::is_forgotten;
use super::{Notes, note};
use crate::gate::scan::{Class, Level};
use crate::shelf::Problem;
use heirloom_core::{Code, Fault, Status, fault::Result};
use std::collections::HashMap;

impl Notes<'_> {
    pub(super) fn problems(&self) -> Result<Vec<Problem>> {
        let forgotten = self.forgotten()?;
        let mut problems = Vec::new();
        let mut ids: HashMap<String, String> = HashMap::new();
        let mut places: HashMap<String, String> = HashMap::new();
        let mut twins: HashMap<(jiff::Timestamp, String), String> = HashMap::new();
        for status in [Status::Active, Status::Retired] {
            for path in self.files(status)? {
                let shown = self.call.project().shown(&path);
                let mut say = |code: Code, message: String, fix: &str| {
                    problems.push(Problem {
                        file: shown.clone(),
                        line: None,
                        code: code.name(),
                        message,
                        fix: fix.to_owned(),
                    });
                };
                let stored = match self.load(&path, status) {
                    Ok(stored) => stored,
                    Err(fault) => {
                        problems.push(unreadable(shown, &fault));
                        continue;
                    }
                };
                let note = &stored.note;
                let id = note.id.memory_id().to_string();
                if is_forgotten(&forgotten, note) {
                    say(
                        Code::AntiResurrection,
                        format!("`{id}` was forgotten and came back; it is not recalled"),
                        "`heirloom forget` it again, and see where it came from (a merge, a pull)",
                    );
                }
                if path.file_name().is_none_or(|name| *name != *note.id.file_name()) {
                    say(
                        Code::Path,
                        format!("the file is not named after its id `{}`", note.id),
                        "rename the file to `<id>.md`",
                    );
                }
                if let Some(other) = ids.insert(id.to_lowercase(), shown.clone()) {
                    say(Code::Ambiguous, format!("`{id}` is also in `{other}`"), "keep one of the two files");
                }
                let key = (note.occurred_at.at(), note.content_hash.clone());
                if let Some(path) = note.memory_path.as_ref().filter(|_| status == Status::Active)
                    && let Some(other) = places.insert(path.clone(), shown.clone())
                {
                    say(
                        Code::Ambiguous,
                        format!("the path in `memory_path` is also that of `{other}`"),
                        "retire one of the two, or write another path into one of them",
                    );
                }
                if note.memory_path.is_none()
                    && let Some(other) = twins.insert(key, shown.clone())
                {
                    say(
                        Code::Create,
                        format!("the same message is also in `{other}`"),
                        "retire or forget one of the two",
                    );
                }
                if !note::is_hash_of(&note.content_hash, &note.content) {
                    say(
                        Code::Damaged,
                        "`content_hash` is not that of the text; somebody changed one of them".to_owned(),
                        &format!(
                            "restore the text, or write `content_hash: \"{}\"`",
                            note::content_hash(&note.content)
                        ),
                    );
                }
                if note.memory_path.is_none()
                    && let Err(fault) = note::content(&note.content)
                {
                    say(fault.code, fault.message.clone(), fault.next_step());
                }
                for finding in self.call.screen().scan(&note.content) {
                    if matches!(finding.class, Class::Secret | Class::Identity)
                        && finding.level > Level::Possible
                    {
                        say(
                            Code::GateRefused,
                            format!(
                                "the text holds {} ({}) that the gate would have cut out",
                                finding.class.name(),
                                finding.rule
                            ),
                            "`heirloom scan --store --fix` cuts it out; take it out of use where it is valid",
                        );
                    }
                }
            }
        }
        Ok(problems)
    }
}

pub(super) fn unreadable(file: String, fault: &Fault) -> Problem {
    Problem {
        file,
        line: fault.get("line").and_then(|line| line.parse().ok()),
        code: fault.code.name(),
        message: fault.message.clone(),
        fix: fault.next_step().to_owned(),
    }
}

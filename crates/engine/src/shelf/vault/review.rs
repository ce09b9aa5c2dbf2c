//! What is wrong with the vault's file, and what a person should look at.
//!
//! Comes in: the file. Goes out: problems with their line, never with their text. Never here: mending; a person decides.

use super::image::Image;
use super::record::{CANON, REGISTER};
use super::store::Vault;
use crate::shelf::Problem;
use heirloom_core::{Code, MemoryId, fault::Result};
use serde::Serialize;

/// Something a person should look at.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Doubt {
    /// The memory.
    pub id: MemoryId,
    /// The line.
    pub line: usize,
    /// `twin`, `came_back` or `held_back`.
    #[schemars(extend("enum" = ["twin", "came_back", "held_back"]))]
    pub sort: &'static str,
    /// Why, in a sentence.
    pub reason: String,
}

impl Vault<'_> {
    /// Lines that lost to another one of the same version, memories that were forgotten and came back, and texts that the gate
    /// would refuse today and that are therefore given to nobody.
    pub fn doubts(&self) -> Result<Vec<Doubt>> {
        let bytes = self.bytes()?;
        let image = Image::of(&bytes);
        let forgotten = self.forgotten()?;
        let mut doubts: Vec<Doubt> = image
            .twins()
            .into_iter()
            .map(|(counts, other)| Doubt {
                id: other.record.memory_id(),
                line: other.number,
                sort: "twin",
                reason: format!(
                    "version {} occurs twice; line {} counts, this one says something else",
                    other.record.version, counts.number
                ),
            })
            .collect();
        for held in image.resolve().active() {
            let (sort, reason) = if forgotten.contains(held.record.id.as_ref()) {
                ("came_back", "it was forgotten here and came back with a merge".to_owned())
            } else if let Some(rule) = self.held_back(&held.record.text) {
                ("held_back", format!("the gate would refuse it now ({rule}); no agent gets it"))
            } else {
                continue;
            };
            doubts.push(Doubt { id: held.record.memory_id(), line: held.number, sort, reason });
        }
        doubts.sort_by_key(|doubt| doubt.line);
        Ok(doubts)
    }

    pub(super) fn problems(&self) -> Result<Vec<Problem>> {
        let bytes = self.bytes()?;
        let image = Image::of(&bytes);
        let file = self.call.project().shown(&self.path());
        let problem = |line: usize, code: Code, message: String, fix: &str| Problem {
            file: file.clone(),
            line: Some(line),
            code: code.name(),
            message,
            fix: fix.to_owned(),
        };
        let mut problems: Vec<Problem> = image
            .broken()
            .into_iter()
            .map(|line| {
                let message = format!("the line cannot be read: {}", line.why);
                problem(line.number, Code::Damaged, message, "correct or remove that line; all others count")
            })
            .collect();
        for (counts, other) in image.twins() {
            let id = other.record.memory_id();
            let message = format!(
                "`{id}` has version {} twice and line {} counts",
                other.record.version, counts.number
            );
            let fix = "if this line is the right one, `heirloom edit` the memory to say so; `heirloom compact` drops it";
            problems.push(problem(other.number, Code::OccConflict, message, fix));
        }
        for held in image.resolve().active() {
            let record = &held.record;
            if record.tier != CANON && record.tier != REGISTER {
                let message = format!("`{}` has an unknown tier and counts as canon", record.memory_id());
                problems.push(problem(held.number, Code::Validation, message, "use `canon` or `register`"));
            }
            if !self.rules.scopes.iter().any(|scope| *scope == record.scope) {
                let message = format!("`{}` is in a scope that no setting names", record.memory_id());
                let fix = "add the scope to `vault.scopes`, or its agent to your own settings";
                problems.push(problem(held.number, Code::Validation, message, fix));
            }
        }
        for held in image.readable() {
            if let Some(rule) = self.held_back(&held.record.text) {
                let message = format!(
                    "`{}` contains what the gate refuses ({rule}); no agent gets it",
                    held.record.memory_id()
                );
                let fix = "`heirloom scan --store --fix` cuts it out; take it out of use where it is valid";
                problems.push(problem(held.number, Code::GateRefused, message, fix));
            }
        }
        problems.sort_by_key(|p| p.line);
        Ok(problems)
    }
}

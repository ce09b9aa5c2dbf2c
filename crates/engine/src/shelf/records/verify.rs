//! Verify: what people, editors and git did to the shelf.
//!
//! Comes in: every file of the shelf. Goes out: one [`Problem`] for each thing that is wrong, with file, line where one can be named, and
//! what to do. Never here: repairing.

use super::scan::Found;
use super::schema::{self, Stage};
use super::store::Records;
use crate::files;
use crate::gate::policy::Row;
use crate::shelf::{Problem, provenance};
use heirloom_core::{Code, MemoryId, fault::Result, hash};
use serde_json::Value;
use std::path::Path;

impl Records<'_> {
    pub(super) fn verify_records(&self) -> Result<Vec<Problem>> {
        let mut problems = Vec::new();
        let scan = self.scan();
        for found in &scan.found {
            self.verify_one(found, &mut problems);
        }
        for line in &scan.unreadable {
            let (file, why) = line.split_once(": ").unwrap_or((line, "cannot be read"));
            let path = self.call.project().folder().join(file);
            match conflict_line(&path) {
                Some(at) => record_conflict(&path, file, at, &mut problems),
                None => problems.push(problem(file, None, Code::Read, why, "correct the file, or remove it")),
            }
        }
        self.verify_index(&mut problems)?;
        self.verify_forgotten(&scan.found, &mut problems)?;
        problems.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        Ok(problems)
    }

    fn verify_one(&self, found: &Found, problems: &mut Vec<Problem>) {
        let file = self.call.project().shown(&found.path);
        let name = found.document.category().unwrap_or(&found.folder_category);
        let Some(category) = self.call.settings().category(name) else {
            let message = format!("category `{name}` is not known here");
            problems.push(problem(
                &file,
                None,
                Code::Validation,
                &message,
                "add it with `heirloom config category add`",
            ));
            return;
        };
        if category.name() != found.folder_category {
            let message = format!("a {} in the folder of {}", category.name(), found.folder_category);
            let fix = format!("move it to {}/", category.folder);
            problems.push(problem(&file, None, Code::Validation, &message, &fix));
        }
        for wrong in schema::validate(&found.document, category, Stage::Stored) {
            let message = format!("{}: expected {}", wrong.field, wrong.expected);
            problems.push(problem(
                &file,
                line_of(found, &wrong.field),
                Code::Validation,
                &message,
                "correct the field",
            ));
        }
        let stem = found.path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        if found.document.text("id").is_some_and(|id| id != stem) {
            let message = format!("id is not the file name `{stem}`");
            problems.push(problem(
                &file,
                line_of(found, "id"),
                Code::Validation,
                &message,
                "make both the same",
            ));
        }
        self.verify_content(found, &file, problems);
        for related in found.document.get("related_files").and_then(Value::as_array).into_iter().flatten() {
            let Some(related) = related.as_str() else { continue };
            if !self.call.project().folder().join(related).exists() {
                let message = format!("related file `{related}` does not exist");
                let fix = "update the record; references to missing files may be dropped";
                problems.push(problem(&file, None, Code::NotFound, &message, fix));
            }
        }
    }

    fn verify_content(&self, found: &Found, file: &str, problems: &mut Vec<Problem>) {
        let mut draft = super::draft::RecordDraft {
            document: found.document.clone(),
            category: &self.call.settings().categories[0],
            given: Vec::new(),
        };
        let screen = self.call.screen();
        crate::gate::Draft::texts(&mut draft, &mut |field, text| {
            if let Some(rule) = screen.would_refuse(text, Row::Records) {
                let message =
                    format!("`{field}` holds what the gate refuses ({rule}); it is held back from recall");
                let fix = "take it out of the file, and out of git's history if it was committed";
                problems.push(problem(file, line_of(found, field), Code::GateRefused, &message, fix));
            }
        });
    }

    fn verify_index(&self, problems: &mut Vec<Problem>) -> Result<()> {
        let file = self.call.project().shown(&self.index_path());
        if let Some(at) = conflict_line(&self.index_path()) {
            problems.push(conflict(&file, at));
            return Ok(());
        }
        let fix = "run `heirloom verify --fix`";
        match self.compare_index()? {
            None if self.scan_active().found.is_empty() => {}
            None => problems.push(problem(&file, None, Code::NotFound, "index.md is missing", fix)),
            Some(mismatch) => {
                for path in &mismatch.missing {
                    problems.push(problem(&file, None, Code::Damaged, &format!("no line for `{path}`"), fix));
                }
                for path in &mismatch.stale {
                    let message = format!("a line for `{path}`, which is not an active record");
                    problems.push(problem(&file, None, Code::Damaged, &message, fix));
                }
            }
        }
        Ok(())
    }

    fn verify_forgotten(&self, found: &[Found], problems: &mut Vec<Problem>) -> Result<()> {
        let forgotten = provenance::forgotten(self.call.project().root())?;
        for one in found {
            let kind = heirloom_core::Kind::named(one.document.category().unwrap_or(&one.folder_category));
            let stem = one.path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
            let id = MemoryId::new(&kind, &stem);
            let back = || provenance::came_back(self.call, id.as_str(), &hash::sha256(&one.bytes));
            if forgotten.contains(id.as_str()) && back() {
                let file = self.call.project().shown(&one.path);
                let message = format!("`{id}` was forgotten and came back, perhaps with a merge");
                let fix = format!("`heirloom forget {id}` removes it again");
                problems.push(problem(&file, None, Code::Damaged, &message, &fix));
            }
        }
        Ok(())
    }
}

/// The line of a file that names the last part of a dotted field, if one does.
fn line_of(found: &Found, field: &str) -> Option<usize> {
    let key = field.split('.').rfind(|part| part.parse::<usize>().is_err())?;
    let text = std::str::from_utf8(&found.bytes).ok()?;
    let needle = format!("\"{key}\"");
    text.lines().position(|line| line.contains(&needle)).map(|at| at + 1)
}

/// The first line of a merge conflict in a file.
fn conflict_line(path: &Path) -> Option<usize> {
    let bytes = files::read_if_there(path, files::MAX_FILE).ok().flatten()?;
    let text = String::from_utf8_lossy(&bytes);
    text.lines()
        .position(|line| line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> "))
        .map(|at| at + 1)
}

/// One problem for each field that stands between marks.
fn record_conflict(path: &Path, file: &str, line: usize, problems: &mut Vec<Problem>) {
    let bytes = files::read_if_there(path, files::MAX_FILE).ok().flatten().unwrap_or_default();
    let fields = super::branches::marked_fields(&String::from_utf8_lossy(&bytes));
    if fields.is_empty() {
        problems.push(conflict(file, line));
    }
    for (at, field) in fields {
        let message = format!("conflict markers of a merge: both branches changed `{field}`");
        let fix = "keep one of the two versions between the markers, and remove the markers";
        problems.push(problem(file, Some(at), Code::Damaged, &message, fix));
    }
}

fn conflict(file: &str, line: usize) -> Problem {
    let fix = "resolve the conflict; for index.md run `heirloom verify --fix`";
    problem(file, Some(line), Code::Damaged, "conflict markers of a merge", fix)
}

fn problem(file: &str, line: Option<usize>, code: Code, message: &str, fix: &str) -> Problem {
    Problem {
        file: file.to_owned(),
        line,
        code: code.name(),
        message: message.to_owned(),
        fix: fix.to_owned(),
    }
}

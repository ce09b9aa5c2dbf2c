//! The files of the tool as a tree: notes with a path, and the folders those paths go through.
//!
//! Comes in: a call. Goes out: what is at a path, and what is below it. Never here: texts for a model, or a change.

use crate::call::Call;
use crate::verbs::told;
use heirloom_core::{Code, Fault, Memory, Owner, fault::Result};
use std::collections::BTreeMap;

/// Every file that the caller may see, by the names of its path.
#[derive(Debug, Default)]
pub(super) struct Files {
    files: BTreeMap<Vec<String>, Memory>,
}

/// What is at a path.
pub(super) enum Found<'f> {
    /// A file.
    File(&'f Memory),
    /// A folder: something lies below it.
    Folder,
    /// Nothing.
    Nothing,
}

impl Files {
    pub(super) fn of(call: &Call) -> Result<Files> {
        let mut files = BTreeMap::new();
        if call.project().is_nowhere() {
            return Ok(Files::default());
        }
        for (path, memory) in call.notes().files_of_tool()? {
            if call.caller().sees().sees(&memory) {
                let names = path.split('/').skip(2).map(str::to_owned).collect();
                // After a merge two notes may go by one path: the newest, which comes first, is the file.
                files.entry(names).or_insert(memory);
            }
        }
        Ok(Files { files })
    }

    pub(super) fn find(&self, names: &[&str]) -> Found<'_> {
        if names.is_empty() {
            return Found::Folder;
        }
        if let Some((_, memory)) = self.files.iter().find(|(path, _)| same(path, names)) {
            return Found::File(memory);
        }
        if self.files.keys().any(|path| starts(path, names)) { Found::Folder } else { Found::Nothing }
    }

    /// The files below a folder, by their path from there, with their sizes.
    pub(super) fn below(&self, names: &[&str]) -> Vec<(Vec<String>, usize)> {
        let inside = self.files.iter().filter(|(path, _)| path.len() > names.len() && starts(path, names));
        inside.map(|(path, memory)| (path[names.len()..].to_vec(), memory.body.len())).collect()
    }

    /// The file at a path, or every file below it.
    pub(super) fn all_below(&self, names: &[&str]) -> Vec<Memory> {
        self.files.iter().filter(|(path, _)| starts(path, names)).map(|(_, memory)| memory.clone()).collect()
    }

    /// Refuses a path that goes through a file.
    pub(super) fn expect_folder_free(&self, names: &[&str]) -> Result<()> {
        let through = (1..names.len()).find(|end| matches!(self.find(&names[..*end]), Found::File(_)));
        through.map_or(Ok(()), |end| {
            let path = crate::shelf::notes::place::plain(&names[..end]);
            Err(Fault::new(Code::Create, format!("The path {path} is not a directory."))
                .hint("choose a path below another folder of /memories"))
        })
    }
}

fn same(path: &[String], names: &[&str]) -> bool {
    path.len() == names.len() && starts(path, names)
}

fn starts(path: &[String], names: &[&str]) -> bool {
    path.len() >= names.len() && path.iter().zip(names).all(|(a, b)| a == b)
}

/// A file's text as the caller may have it: without what the gate would cut out, and without orders if nobody here wrote it.
pub(super) fn shown(call: &Call, memory: &Memory) -> Result<String> {
    let text = told::fit_text(call, &memory.body);
    Ok(match call.owner_of(memory)? {
        Owner::Nobody => call.screen().calmed(&text).into_owned(),
        _ => text,
    })
}

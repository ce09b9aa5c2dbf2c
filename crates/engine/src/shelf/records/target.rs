//! Targets: which file a caller means.
//!
//! Comes in: a path as given, or an id. Goes out: the file it means, known to be a record's place below the memory root. Never
//! here: reading it.

use super::store::Records;
use heirloom_core::{Code, Fault, MemoryId, fault::Result};
use std::path::{Component, Path, PathBuf};

/// A record's place.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// The file.
    pub path: PathBuf,
    /// As it was given, in its plain form, or as it is shown.
    pub shown: String,
}

impl Target {
    /// The file name without its ending: the record's id.
    pub fn stem(&self) -> String {
        self.path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

impl Records<'_> {
    /// The target a path names; relative paths start at `cwd`.
    pub fn target(&self, given: &str, cwd: &Path) -> Result<Target> {
        let path = self.call.project().root().resolve(&cwd.join(given))?;
        let inner = path.strip_prefix(self.call.project().root().real()).unwrap_or(&path);
        let hidden = inner.components().any(|part| part.as_os_str().to_string_lossy().starts_with('.'));
        let settings_file = inner == Path::new("memory-config.json");
        if hidden || settings_file || path.extension().is_none_or(|ending| ending != "json") {
            return Err(Fault::new(Code::Path, format!("`{given}` is not a path for a record"))
                .fact("target", given)
                .hint("Name a .json file in a category's folder, for example .claude/memory/decisions/my-decision.json"));
        }
        // `./a/x.json` and `a//x.json` are `a/x.json`.
        let plain: PathBuf =
            Path::new(given).components().filter(|part| *part != Component::CurDir).collect();
        Ok(Target { path, shown: plain.to_string_lossy().into_owned() })
    }

    /// The target of an id, in its category's folder; the file need not exist. Aliases are not followed here.
    pub(super) fn target_of(&self, id: &MemoryId) -> Result<Target> {
        let category = self.call.settings().category(id.kind().name()).ok_or_else(|| {
            Fault::new(Code::NotFound, format!("there is no category `{}`", id.kind()))
                .fact("id", id.as_str())
                .hint("`heirloom config list` shows the categories")
        })?;
        let name = format!("{}.json", id.name());
        if !super::schema::is_id(id.name()) {
            return Err(crate::shelf::unknown(id.as_str()));
        }
        let path = self.call.project().root().resolve(&self.folder(category).join(name))?;
        let shown = self.call.project().shown(&path);
        Ok(Target { path, shown })
    }

    /// The target of an existing record by id; a renamed record is found by its old id.
    pub fn locate(&self, id: &MemoryId) -> Result<Target> {
        let target = self.target_of(id)?;
        if target.path.exists() {
            return Ok(target);
        }
        match self.alias(id)? {
            Some(now) => {
                self.target_of(&now).and_then(|t| if t.path.exists() { Ok(t) } else { Err(unknown(id)) })
            }
            None => self.elsewhere(id).ok_or_else(|| unknown(id)),
        }
    }

    /// A record that was put into another category's folder.
    fn elsewhere(&self, id: &MemoryId) -> Option<Target> {
        let settings = self.call.settings();
        settings.categories.iter().find_map(|category| {
            let path = self.folder(category).join(format!("{}.json", id.name()));
            let shown = self.call.project().shown(&path);
            let (document, _) = self.load(&path, &shown).ok().flatten()?;
            (document.text("category") == Some(id.kind().name())).then_some(Target { path, shown })
        })
    }
}

fn unknown(id: &MemoryId) -> Fault {
    crate::shelf::unknown(id.as_str())
}

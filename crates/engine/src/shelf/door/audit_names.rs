//! Ids in the audit: written as keyed hashes, and read back through a list in the user's data folder.
//!
//! Comes in: an id of a file shelf. Goes out: `decision:#1f2e…`, the same for the same id, and the id again for as long as the list has its row.
//! An id is made from a title, so it is content; the audit is never cut, so it must not hold any. `forget` takes the row, and with it the way
//! back. Whoever knows an id can still ask what was done about it. Ids of turns and facts are random and stay as they are. Never here: the chain.

use crate::call::Call;
use crate::files::{self, Lock, Mode};
use crate::gate::audit;
use crate::gate::trust::drop_lines_about;
use heirloom_core::{MemoryId, ShelfName, fault::Result, json};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// What stands between the kind and the hash.
const MARK: &str = "#";
/// The largest list that is read.
const LIMIT: u64 = 256 << 20;
/// Digits of a name.
const DIGITS: usize = 24;

fn list(project_data: &Path) -> PathBuf {
    project_data.join("audit-ids.jsonl")
}

/// Whether a text is an id that must not stand in the audit as it is.
fn is_told(id: &str) -> bool {
    match (MemoryId::parse(id), id.split_once(':')) {
        (Some(parsed), Some((_, name))) => {
            parsed.kind().shelf() != ShelfName::Tiers && !name.starts_with(MARK) && name != "*"
        }
        _ => false,
    }
}

impl Call {
    /// What the audit calls an id.
    pub(crate) fn audit_name(&self, id: &str) -> Result<String> {
        if !is_told(id) {
            return Ok(id.to_owned());
        }
        let kind = id.split_once(':').map_or("", |(kind, _)| kind);
        Ok(format!("{kind}:{MARK}{}", &self.inbox_key().of_id(id)?[..DIGITS]))
    }

    /// What the audit calls these ids, each noted in the list so that it can be read back.
    pub(crate) fn audit_names(&self, ids: &[&str]) -> Result<Vec<String>> {
        let names: Vec<String> = ids.iter().map(|id| self.audit_name(id)).collect::<Result<_>>()?;
        let told: Vec<(&str, &String)> =
            ids.iter().zip(&names).filter(|(id, name)| *id != name).map(|(id, name)| (*id, name)).collect();
        if told.is_empty() {
            return Ok(names);
        }
        let path = list(self.project().data()?);
        let known = files::read_if_there(&path, LIMIT)?.unwrap_or_default();
        let rows: Vec<String> =
            told.iter().map(|(id, name)| json!({ "id": id, "name": name }).to_string()).collect();
        // One row is looked for as it is written, so that the list is not taken apart at every write.
        let new: Vec<&str> = match rows.as_slice() {
            [one] if memchr::memmem::find(&known, one.as_bytes()).is_some() => Vec::new(),
            [one] => vec![one.as_str()],
            many => {
                let mut there: HashSet<&[u8]> = known.split(|b| *b == b'\n').collect();
                many.iter().map(String::as_str).filter(|row| there.insert(row.as_bytes())).collect()
            }
        };
        if !new.is_empty() {
            files::append_passing(&path, new, Mode::Private)?;
        }
        Ok(names)
    }

    /// The ids that the list still has, by what the audit calls them.
    pub(crate) fn audit_ids(&self) -> Result<HashMap<String, String>> {
        let Some(data) = self.project().known_data()? else { return Ok(HashMap::new()) };
        let bytes = files::read_if_there(&list(&data), LIMIT)?.unwrap_or_default();
        let row = |line: &[u8]| {
            let row = json::parse(line).ok()?;
            let text = |key: &str| row.get(key).and_then(Value::as_str).map(str::to_owned);
            Some((text("name")?, text("id")?))
        };
        Ok(bytes.split(|b| *b == b'\n').filter_map(row).collect())
    }

    /// The entries of the project's audit, oldest first, with the ids that can be read back.
    pub fn audit_entries(&self) -> Result<Vec<Value>> {
        if !self.project().has_local() {
            return Ok(Vec::new());
        }
        let mut entries = audit::entries(&self.audit_path()?)?;
        if entries.is_empty() {
            return Ok(entries);
        }
        let ids = self.audit_ids()?;
        for entry in &mut entries {
            if let Some(id) = entry.get("id").and_then(Value::as_str).and_then(|name| ids.get(name)) {
                entry["id"] = json!(id);
            }
        }
        Ok(entries)
    }

    /// Whether an entry is about an id, also of one that was forgotten since.
    pub(crate) fn is_about(&self, entry: &Value, id: &str) -> bool {
        let said = entry.get("id").and_then(Value::as_str).unwrap_or_default();
        said == id || self.audit_name(id).is_ok_and(|name| name == said)
    }

    pub(crate) fn audit_path(&self) -> Result<PathBuf> {
        Ok(self.project().local()?.path("audit.jsonl"))
    }

    /// Takes the way back from an id, for `forget`.
    pub(crate) fn forget_name(&self, id: &str) -> Result<()> {
        drop_lines_about(&list(self.project().data()?), LIMIT, id)
    }

    /// Replaces the ids that an earlier version wrote into the audit, behind a checkpoint. A chain that is not whole is left as it is, so that
    /// what is wrong with it stays to be seen.
    pub(crate) fn rename_audit(&self, lock: &Lock) -> Result<()> {
        let path = self.audit_path()?;
        let name = |id: &str| -> Result<Option<String>> {
            if !is_told(id) {
                return Ok(None);
            }
            self.audit_names(&[id]).map(|names| names.into_iter().next())
        };
        audit::rename(&path, lock, self.project().world().now, &name)
    }

    /// Takes an id out of lines that an earlier version wrote behind the beginning, and the way back to it. For `forget`.
    pub(crate) fn forget_in_audit(&self, id: &str) -> Result<()> {
        if !self.project().has_local() || !is_told(id) {
            return Ok(());
        }
        let lock = self.lock()?;
        let written = json!({ "id": id }).to_string();
        let text = files::read_if_there(&self.audit_path()?, LIMIT)?.unwrap_or_default();
        if memchr::memmem::find(&text, &written.as_bytes()[1..written.len() - 1]).is_some() {
            self.rename_audit(&lock)?;
        }
        self.forget_name(id)
    }

    /// Whether the audit begins with an id as an earlier version wrote it.
    pub(crate) fn audit_is_plain(&self) -> Result<bool> {
        let first = audit::first(&self.audit_path()?)?;
        Ok(first.as_ref().and_then(|line| line.get("id")?.as_str()).is_some_and(is_told))
    }
}

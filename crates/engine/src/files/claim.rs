//! Whether a folder may be taken for a memory folder.
//!
//! Comes in: a folder that a project names, and the folders of its categories. Goes out: whether nothing lies in it but what shelves keep there.
//! Never here: a change to anything, a followed link, or more than a bounded look.

use std::path::Path;

/// Files that shelves keep at the top.
const OWN_FILES: [&str; 4] = ["index.md", "vault.jsonl", "provenance.jsonl", "memory-config.json"];
/// Folders that shelves keep at the top besides those of the categories, and what their files end in.
const OWN_FOLDERS: [(&str, &[&str]); 4] = [
    ("topics", &[".md", ".json", ".jsonl"]),
    ("notes", &[".md"]),
    ("archive", &[".json", ".md", ".jsonl"]),
    ("quarantine", &[".json", ".md", ".jsonl"]),
];
/// Entries looked at; a folder with more of them than this at the top is none of ours.
const MOST: usize = 4_096;
/// Files of a category that are looked into.
const LOOKED_INTO: usize = 16;
/// Deepest folder of a shelf.
const DEEPEST: usize = 4;

/// Whether a folder is absent, empty, or holds only what shelves keep, files whose name begins with a dot, and a README.
pub fn holds_only_memory(root: &Path, categories: &[&str]) -> bool {
    let Ok(found) = std::fs::symlink_metadata(root) else { return true };
    if !found.is_dir() {
        return false;
    }
    let Ok(entries) = std::fs::read_dir(root) else { return false };
    for (at, entry) in entries.enumerate() {
        let Ok(entry) = entry else { return false };
        let (name, kind) = (entry.file_name(), entry.file_type());
        let (Some(name), Ok(kind)) = (name.to_str(), kind) else { return false };
        let ours = if name.starts_with('.') {
            // A repository's own folder makes the place a work tree, not a memory.
            name != ".git" && name != ".claude"
        } else if kind.is_file() {
            OWN_FILES.contains(&name) || name.to_lowercase().starts_with("readme")
        } else if kind.is_dir() {
            match OWN_FOLDERS.iter().find(|(folder, _)| *folder == name) {
                Some((_, endings)) => only_these(&entry.path(), endings, DEEPEST),
                None => categories.contains(&name) && only_records(&entry.path()),
            }
        } else {
            false
        };
        if at >= MOST || !ours {
            return false;
        }
    }
    true
}

fn only_these(folder: &Path, endings: &[&str], deeper: usize) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.take(MOST).all(|entry| {
        let Ok(entry) = entry else { return false };
        let Ok(kind) = entry.file_type() else { return false };
        let name = entry.file_name().to_string_lossy().into_owned();
        name.starts_with('.')
            || (kind.is_file() && endings.iter().any(|ending| name.ends_with(ending)))
            || (kind.is_dir() && deeper > 0 && only_these(&entry.path(), endings, deeper - 1))
    })
}

/// Whether every file of a category's folder is named like a record, and those looked into are laid out like one. A project chooses the names
/// of these folders, so the name alone says nothing.
fn only_records(folder: &Path) -> bool {
    if !only_these(folder, &[".json"], 0) {
        return false;
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    let files = entries.flatten().filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
    files.take(LOOKED_INTO).all(|entry| {
        let bytes = super::read(&entry.path(), super::MAX_FILE).unwrap_or_default();
        let value = heirloom_core::json::parse(&bytes);
        value.is_ok_and(|value| ["category", "title", "content"].iter().all(|key| value.get(key).is_some()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_shelves_keep_makes_a_memory_folder() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("memory");
        let holds = || holds_only_memory(&root, &["decisions", "components"]);
        assert!(holds(), "absent");
        std::fs::create_dir(&root).unwrap();
        assert!(holds(), "empty");
        let write = |name: &str, text: &str| {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("README.md", "");
        write(".gitkeep", "");
        write("index.md", "");
        write("decisions/x.json", r#"{"category":"decision","title":"x","content":{}}"#);
        write("topics/git/rebase.md", "");
        write("notes/retired/x.md", "");
        assert!(holds());
        for foreign in
            ["package.json", "src/main.rs", "components/App.tsx", "components/en.json", "decisions/data.csv"]
        {
            write(foreign, "{}");
            assert!(!holds(), "{foreign}");
            std::fs::remove_file(root.join(foreign)).unwrap();
            let _ = std::fs::remove_dir(root.join(foreign).parent().unwrap());
        }
        assert!(holds());
        std::os::unix::fs::symlink(place.path(), root.join("decisions2")).unwrap();
        assert!(!holds(), "a link");
    }
}

//! Every statement in the forms that Citus plans, read from the sources: there is no Citus in CI.
//!
//! Comes in: the texts of this crate. Goes out: nothing, if none has a form that a coordinator with workers refused or would not hand on. What the forms are was
//! tried on Citus 13 or read in its source; docs/teams.md lists them.

use crate::story::founding;
use heirloom_postgres::team::{Founding, Team};
use std::path::{Path, PathBuf};

/// The files of a folder and below.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => files(&entry.path(), found),
            false => found.push(entry.path()),
        }
    }
}

/// The texts that hold statements: each string of the Rust files that begins like one, and each statement of the SQL files.
fn statements() -> Vec<(String, String)> {
    let mut paths = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut paths);
    let mut all = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let begins = |text: &str| {
            let first = text.split_whitespace().next().unwrap_or_default().to_lowercase();
            ["select", "insert", "update", "delete", "with", "set", "begin", "vacuum", "create", "alter"]
                .contains(&first.as_str())
        };
        match name.ends_with(".sql") {
            true => {
                let code: Vec<&str> =
                    text.lines().filter(|line| !line.trim_start().starts_with("--")).collect();
                all.extend(code.join("\n").split(';').map(|one| (name.clone(), one.to_lowercase())));
            }
            false => {
                let code = text.split("#[cfg(test)]").next().unwrap_or_default();
                let literals = code.split('"').skip(1).step_by(2).filter(|one| begins(one));
                all.extend(literals.map(|one| (name.clone(), one.to_lowercase())));
            }
        }
    }
    assert!(all.len() > 150, "{} statements were found", all.len());
    all
}

#[test]
fn no_statement_has_a_form_that_citus_refuses() {
    for (file, statement) in statements() {
        let words: Vec<&str> = statement.split_whitespace().collect();
        let text = words.join(" ");
        let is_team = ["team.rs", "status.rs", "note.rs", "script.rs", "copy.sql"].contains(&file.as_str());
        // From arrays: without `on conflict` it becomes a COPY, which row-level security refuses.
        if text.contains("insert into heirloom.") && text.contains("unnest(") {
            assert!(text.contains("on conflict do nothing"), "{file}: {text}");
        }
        // Only `set local` reaches workers, and only as a message of its own.
        assert!(!text.contains("set_config("), "{file}: {text}");
        if !is_team && text.contains("set local") && !text.contains("create or replace function") {
            assert_eq!(text.matches("set local").count(), 1, "{file}: {text}");
            assert!(!text.starts_with("begin"), "{file}: {text}");
        }
        // Citus connects to workers as whoever acts: the application takes on no role.
        if !is_team {
            assert!(
                !text.contains("set role") && !text.contains("set local role")
                    || file == "tables.sql"
                    || file == "schema.rs",
                "{file}: {text}"
            );
        }
        // A change of a local table that looks into a reference table is not planned.
        assert!(!text.contains("delete from heirloom.token_use u using"), "{file}: {text}");
        // A shard's files are reached through the coordinator, by the table's own name.
        assert!(!text.contains("copy heirloom") && !text.contains("lock table"), "{file}: {text}");
    }
}

#[test]
fn every_statement_about_users_names_its_user_so_that_it_is_one_task() {
    for (file, statement) in statements() {
        let text = statement.split_whitespace().collect::<Vec<_>>().join(" ");
        let by_app = [
            "rows.rs",
            "search.rs",
            "statements.rs",
            "vectors.rs",
            "write.rs",
            "kept.rs",
            "drafts.rs",
            "once.rs",
            "audit.rs",
        ];
        if !by_app.contains(&file.as_str()) {
            continue;
        }
        for table in heirloom_postgres::OF_USERS {
            let reads = text.contains(&format!("from heirloom.{table}"))
                || text.contains(&format!("join heirloom.{table}"));
            let writes = text.contains(&format!("update heirloom.{table}"))
                || text.contains(&format!("insert into heirloom.{table}"));
            if reads || writes {
                assert!(
                    text.contains("user_id = $1") || text.contains("$1, ") || text.contains("values ($1"),
                    "{file}: {text}"
                );
            }
        }
    }
}

#[test]
fn the_printed_statements_distribute_every_table_of_users_beside_the_memories() {
    let script = Team::init_script(&Founding { citus: true, ..founding() }).unwrap();
    let at = |text: &str| script.find(text).unwrap_or_else(|| panic!("`{text}` is missing"));
    assert!(
        at("set citus.propagate_set_commands = 'local'") < at("create_reference_table('heirloom.account')")
    );
    let memory = at("select create_distributed_table('heirloom.memory', 'user_id', shard_count => 32)");
    for table in heirloom_postgres::OF_USERS.into_iter().filter(|table| *table != "memory") {
        let beside = format!(
            "select create_distributed_table('heirloom.{table}', 'user_id', colocate_with => 'heirloom.memory')"
        );
        assert!(at(&beside) > memory, "{table}");
    }
    for table in ["version", "model", "account", "token"] {
        at(&format!("select create_reference_table('heirloom.{table}')"));
    }
    // Not a reference table: a write to one locks it on every node, and this one is written by whoever signs in.
    assert!(!script.contains("create_reference_table('heirloom.token_use')"));
    assert!(!script.contains("(select heirloom.me("), "a policy with a sub-select is refused");
    at("alter function heirloom.me(text[]) set citus.allow_nested_distributed_execution = on");
    at("alter role heirloom_owner login");
    // Tables are filled and guarded before they are distributed, and the first rows come last.
    assert!(
        at("force row level security") < memory
            && memory < script.rfind("insert into heirloom.owner").unwrap()
    );
    let plain = Team::init_script(&founding()).unwrap();
    assert!(!plain.contains("create_distributed_table") && plain.contains("(select heirloom.me("));
}

//! What somebody meant who typed a command that does not exist.
//!
//! Comes in: the word. Goes out: a command that exists and does what the word says. Words of the same meaning count before words that are spelled alike:
//! whoever types `erase` does not want `trace`. Never here: a command that is run because of it.

/// Words people type, and what they mean here. A meaning is a command line without `heirloom`.
const MEANINGS: &[(&str, &[&str])] = &[
    ("add", &["save", "store", "create", "write", "insert", "put", "decide", "learn"]),
    ("remember", &["fact", "memorize", "memorise", "know"]),
    ("search", &["query", "grep", "lookup", "where", "locate", "filter"]),
    ("show", &["view", "cat", "read", "display", "print", "inspect", "describe", "details"]),
    ("list", &["all", "dir", "index", "memories", "records"]),
    ("edit", &["update", "change", "modify", "rename", "amend", "set"]),
    ("recall", &["ask", "context", "prompt", "inject", "retrieve", "question", "preview"]),
    ("retire", &["remove", "del", "discard", "drop", "trash", "deprecate", "unlearn"]),
    ("forget", &["erase", "purge", "wipe", "destroy", "shred", "gdpr"]),
    ("restore", &["recover", "undelete", "unretire"]),
    ("undo", &["revert", "rollback", "back", "reset", "oops"]),
    (
        "review",
        &["approve", "accept", "reject", "pending", "inbox", "confirm", "queue", "waiting", "decline"],
    ),
    ("setup", &["install", "connect", "enable", "agents", "hooks", "plugin", "integrate"]),
    ("setup --uninstall", &["uninstall", "disconnect", "disable", "unplug"]),
    ("init", &["start", "begin", "prepare", "bootstrap"]),
    ("demo", &["example", "tour", "tutorial", "try"]),
    ("import", &["load", "migrate", "ingest", "upload", "bring"]),
    ("export", &["backup", "dump", "download"]),
    ("config", &["settings", "configure", "preferences", "options", "conf", "cfg", "setting"]),
    ("status", &["info", "stats", "summary", "overview", "state", "count"]),
    ("doctor", &["check", "diagnose", "health", "test", "debug", "ping"]),
    ("verify", &["validate", "lint", "fsck", "integrity"]),
    ("verify --fix", &["fix", "repair", "rebuild", "reindex", "heal"]),
    ("gc", &["clean", "cleanup", "prune", "tidy", "collect", "vacuum"]),
    ("scan", &["secrets", "leaks", "detect"]),
    ("sync", &["pull", "push", "fetch", "remote"]),
    ("serve", &["server", "http", "api", "daemon", "rest", "listen"]),
    ("open", &["ui", "web", "page", "browser", "gui", "browse"]),
    ("user", &["users", "token", "tokens", "account", "login", "whoami"]),
    ("model", &["embed", "embedding", "embeddings", "models", "vectors"]),
    ("anchor", &["cite", "link", "attach", "tie"]),
    ("convert", &["transform", "turn", "promote", "into"]),
    ("last", &["trace", "runs", "activity", "events"]),
    ("why", &["explain", "reason", "because"]),
    ("audit", &["trail", "journal", "changes"]),
    ("history", &["blame", "versions", "diff"]),
    ("lesson topics", &["topics", "lessons"]),
    ("note list", &["notes"]),
    ("completions", &["completion", "autocomplete"]),
    ("man", &["manual", "docs", "documentation"]),
    ("help commands", &["commands", "?", "usage"]),
    ("--version", &["version", "ver"]),
];

/// The command line that means what `word` says, if it exists among `names`.
pub(super) fn by_meaning(word: &str, names: &[&str]) -> Option<&'static str> {
    let word = word.trim_start_matches('-').to_lowercase();
    let row = MEANINGS.iter().find(|(_, words)| words.contains(&word.as_str()))?;
    let command = row.0.split(' ').next().unwrap_or_default();
    (command.starts_with('-') || command == "help" || names.contains(&command)).then_some(row.0)
}

/// The name that is spelled most alike, if one is close enough to be a slip of the finger.
pub(super) fn by_spelling<'a>(word: &str, names: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    // Of two that are equally near the one that is listed first is meant.
    let near = names.iter().map(|name| (distance(&word, name), *name));
    let (least, name) = near.min_by_key(|(far, _)| *far)?;
    let allowed = if word.chars().count() <= 4 { 1 } else { 2 };
    (least <= allowed).then_some(name)
}

/// How many letters must be added, left out, replaced or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(40).collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let other = usize::from(a[i - 1] != b[j - 1]);
            let mut least = (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + other);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = least;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn meaning_counts_before_spelling() {
        let names = ["retire", "forget", "model", "list", "review", "trust"];
        assert_eq!(by_meaning("remove", &names), Some("retire"));
        assert_eq!(by_meaning("Erase", &names), Some("forget"));
        assert_eq!(by_meaning("approve", &names), Some("review"));
        assert_eq!(by_meaning("serve", &names), None);
        assert_eq!(by_meaning("http", &names), None, "there is no such command here");
    }

    #[test]
    fn a_slip_of_the_finger_is_understood_and_a_different_word_is_not() {
        let names = ["retire", "recall", "review", "list", "model"];
        assert_eq!(by_spelling("reacll", &names), Some("recall"));
        assert_eq!(by_spelling("lsit", &names), Some("list"));
        assert_eq!(by_spelling("delete", &names), None);
    }

    #[test]
    fn every_meaning_is_a_command_and_no_word_is_one_already() {
        let command = super::super::Args::command();
        let all: Vec<String> = command
            .get_subcommands()
            .flat_map(|one| std::iter::once(one.get_name()).chain(one.get_all_aliases()).map(str::to_owned))
            .collect();
        let mut seen = std::collections::HashSet::new();
        for (meaning, words) in MEANINGS {
            let first = meaning.split(' ').next().unwrap();
            let later = ["open", "--version"];
            assert!(later.contains(&first) || all.iter().any(|name| name == first), "{meaning}");
            for word in *words {
                assert!(seen.insert(word), "`{word}` stands there twice");
                assert!(!all.iter().any(|name| name == word), "`{word}` is a command");
            }
        }
    }
}

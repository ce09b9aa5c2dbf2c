//! The four commands people type in Claude Code.
//!
//! Comes in: the tables of kinds and settings. Goes out: Markdown with front matter, by command name. Never here: work that
//! the program does; a command says what to call, what to ask first, and how to show the answer.

use heirloom_core::kind::RECORD_KINDS;
use heirloom_core::settings::KEYS;
use std::fmt::Write as _;

/// An option of a command.
pub(super) struct Flag {
    pub(super) name: &'static str,
    value: &'static str,
    what: &'static str,
    call: &'static str,
    before: &'static str,
}

/// The options of `/memory`.
pub(super) const MEMORY_FLAGS: [Flag; 7] = [
    Flag {
        name: "--retire",
        value: "<slug>",
        what: "Take a memory out of use. It can be restored within the grace period.",
        call: "heirloom retire <slug> --reason \"<why>\"",
        before: "Show its title and ask for a yes. Ask for the reason if none was given.",
    },
    Flag {
        name: "--archive",
        value: "<slug>",
        what: "Keep a memory for the record, out of recall. Only active ones can be archived.",
        call: "heirloom archive <slug> --reason \"<why>\"",
        before: "Show its title and ask for a yes.",
    },
    Flag {
        name: "--unarchive",
        value: "<slug>",
        what: "Put an archived memory back into use.",
        call: "heirloom unarchive <slug>",
        before: "",
    },
    Flag {
        name: "--restore",
        value: "<slug>",
        what: "Put a retired memory back into use, within the grace period.",
        call: "heirloom restore <slug>",
        before: "Run `heirloom history <slug>` first. If it was retired more than 7 days ago, say that it may be out of date and \
            ask whether to go on.",
    },
    Flag {
        name: "--gc",
        value: "",
        what: "Remove what was retired longer ago than the grace period.",
        call: "heirloom gc",
        before: "Run `heirloom gc --dry-run`, show what it lists, and ask for a yes.",
    },
    Flag {
        name: "--list-archived",
        value: "",
        what: "List the archived memories as a table: category, title, when, why.",
        call: "heirloom list --archived --json",
        before: "",
    },
    Flag {
        name: "--review",
        value: "",
        what: "Show what waits for a person's decision.",
        call: "heirloom review",
        before: "Never accept anything yourself: accepting is for a person at a terminal. Tell them the command.",
    },
];

/// Names and texts of the commands. The host puts the plugin's name before each, which makes `/memory:config` of the second.
pub(super) fn all() -> Vec<(&'static str, String)> {
    vec![("memory", memory()), ("config", config()), ("search", search()), ("save", save())]
}

/// What a command may call without asking: the calls it describes, and no other. One that ends in `:*` takes further words.
fn front_matter(name: &str, description: &str, hint: &str, calls: &[&str]) -> String {
    let tools: Vec<String> = calls.iter().map(|call| format!("Bash(heirloom {call})")).collect();
    let tools = tools.join(", ");
    format!(
        "---\nname: {name}\ndescription: {description}\nargument-hint: \"{hint}\"\nallowed-tools: {tools}\n---\n\n"
    )
}

fn memory() -> String {
    let hint: Vec<String> =
        MEMORY_FLAGS.iter().map(|flag| format!("[{}]", with_value(flag).trim())).collect();
    let mut out = front_matter(
        "memory",
        "Show memory status, manage lifecycle (retire, archive, restore, GC)",
        &hint.join(" "),
        &[
            "status --json",
            "record index --health",
            "init",
            "retire:*",
            "archive:*",
            "unarchive:*",
            "history:*",
            "restore:*",
            "gc",
            "gc --dry-run",
            "list --archived --json",
            "review",
        ],
    );
    out.push_str(
        "# /memory\n\nArguments: $ARGUMENTS\n\n\
        ## Without arguments: status\n\n\
        Run `heirloom status --json` and `heirloom record index --health`, then show:\n\n\
        - which categories are on, with active, retired and archived counts\n\
        - whether the index matches the files\n\
        - how much is stored in all\n\
        - what needs attention: heavily updated records, recent retirements, what waits in review, failing hooks\n\n\
        If there is no memory folder yet, say so and offer `heirloom init`.\n",
    );
    for flag in &MEMORY_FLAGS {
        let _ = write!(out, "\n## {}\n\n{}\n\n", with_value(flag).trim(), flag.what);
        if !flag.before.is_empty() {
            let _ = writeln!(out, "{}\n", flag.before);
        }
        let _ = writeln!(out, "```\n{}\n```", flag.call);
    }
    out.push_str(
        "\nA slug is a file's name without `.json`, in any category. If it fits more than one memory the program says so: show the \
        ids and ask which one is meant. Show errors as they are; their last line says what to do next.\n",
    );
    out
}

fn with_value(flag: &Flag) -> String {
    format!("{} {}", flag.name, flag.value)
}

fn config() -> String {
    let mut out = front_matter(
        "memory:config",
        "Configure memory categories and settings using natural language",
        "<what to change>",
        &["config list", "config get:*", "config set:*", "config category:*", "verify --fix"],
    );
    out.push_str(
        "# /memory:config\n\nWhat is wanted: $ARGUMENTS\n\n\
        Find out which of these it is, say in a sentence what you are about to change, then run the command and show the new value.\n\n\
        | wanted | command |\n|---|---|\n\
        | switch a category on or off (its files stay) | `heirloom config category enable <name>` · `heirloom config category disable <name>` |\n\
        | add a category | `heirloom config category add <name> --field <name>[:list][:required] --description \"<text>\"` |\n\
        | remove a category | switch it off; files are never deleted |\n\
        | how many memories are recalled | `heirloom config set retrieval.max_inject <0-20>` |\n\
        | how recall ranks | `heirloom config set retrieval.match_strategy <strategy>` |\n\
        | where memories are kept | `heirloom config set memory_root <folder>`, then move the files and run `heirloom verify --fix` |\n\
        | anything else | `heirloom config list`, then `heirloom config set <key> <value>` |\n\n\
        If it is not clear what is meant, ask. If a value is refused, show the reason: settings that protect the store can only be \
        tightened by a project.\n\n## Settings\n\n| key | default | what it does |\n|---|---|---|\n",
    );
    for key in KEYS {
        let default = if key.default.is_empty() { "–" } else { key.default };
        let help = key.help.replace('|', "\\|");
        let _ = writeln!(out, "| `{}` | `{default}` | {help} |", key.name);
    }
    out
}

fn search() -> String {
    let mut out = front_matter(
        "memory:search",
        "Search memories by keyword across all categories",
        "<query> [--include-retired]",
        &[
            "recall --explain --json:*",
            "list --json",
            "list --all --json",
            "record index --query:*",
            "show:*",
        ],
    );
    out.push_str(
        "# /memory:search\n\nQuery and options: $ARGUMENTS\n\n\
        1. Run `heirloom recall --explain --json \"<query>\"`. It ranks by tags, titles and recency, and says why each hit is there.\n\
        2. If it finds nothing, run `heirloom list --json` and look through titles and tags yourself; then `heirloom record index \
        --query \"<word>\"` with the rarest word of the query.\n\
        3. With `--include-retired`, also run `heirloom list --all --json` and look at retired and archived memories; mark them as such.\n\n\
        Show at most 10 results, grouped by category, each with its title, tags, path and why it was found. Offer to show one in full \
        (`heirloom show <id>`). If there is nothing, say whether the store is empty or only this search was.\n",
    );
    out
}

fn save() -> String {
    let mut out = front_matter(
        "memory:save",
        "Manually save a memory to a specific category",
        "<category> <content>",
        &["add:*", "record candidate:*", "record write --action create:*"],
    );
    out.push_str(
        "# /memory:save\n\nCategory and content: $ARGUMENTS\n\n\
        1. Check the category against the table. If none was given or it is unknown, suggest one and ask.\n\
        2. See whether there is a memory to update instead: `heirloom record candidate --category <category> --new-info \"<content>\"`.\n\
        3. Save it. The quick way: `heirloom add <category> \"<content>\" --tag <tag> --field <name>=<value>`.\n   \
        With every field in hand: write the record as JSON to a file `.memory-write-pending.json` in a temporary folder and run\n   \
        `heirloom record write --action create --category <category> --target .claude/memory/<folder>/<slug>.json --input <file>`.\n\
        4. Show the id and title of what was saved, or the error: its last line says what to do next.\n\n\
        Never write into the memory folder directly; that is refused. Never put a secret into a memory: write where it is kept.\n\n\
        | category | folder | fields (**required**) | for |\n|---|---|---|---|\n",
    );
    for row in &RECORD_KINDS {
        let fields: Vec<String> = row
            .fields
            .iter()
            .map(|field| if field.required { format!("**{}**", field.name) } else { field.name.to_owned() })
            .collect();
        let _ = writeln!(out, "| `{}` | `{}` | {} | {} |", row.name, row.folder, fields.join(", "), row.help);
    }
    out
}

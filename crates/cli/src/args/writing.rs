//! What can be typed to save and change memories.

/// Save a memory from a sentence, from fields, or from a file
///
/// A sentence is enough: `heirloom add decision "Use PostgreSQL because we need jsonb"`. What stands after "because" becomes the
/// reason. A lesson is what went wrong and what helped: `heirloom add lesson "Rebase lost commits, fixed by git reflog" --topic
/// git/rebase`. A note is a message, word for word. Canon is what stays true about the agents, a register is what holds now, kept up to date
/// under its topic: `heirloom add register "Working on the importer" --topic current-task`. A fact is what is known about you (`heirloom remember` is
/// shorter), an episode is something that was said. Fields can be given one by one (`--field
/// rationale="…"`, repeat it for lists), or everything from a file with `--from FILE` (`-` is standard input). No text is made up: what the
/// sentence does not say is left empty, and what a record is of no use without (a runbook's steps and verification, how a session ended) is
/// asked for at a terminal and refused by name elsewhere. Choices have a default, such as status accepted; the answer says what was
/// assumed. The gate looks at every text before it is stored.
#[derive(Debug, clap::Args)]
pub(crate) struct Add {
    /// decision, runbook, constraint, tech_debt, preference, session_summary, lesson, note, canon, register, fact, episode, or a category of your own
    pub(crate) kind: String,

    /// What to remember, in a sentence
    pub(crate) text: Vec<String>,

    /// Title; made from the sentence if not given
    #[arg(long)]
    pub(crate) title: Option<String>,

    /// A content field, NAME=VALUE; repeat it for lists
    #[arg(long, short, value_name = "NAME=VALUE")]
    pub(crate) field: Vec<String>,

    /// A tag (for notes: a keyword); repeat it
    #[arg(long, short)]
    pub(crate) tag: Vec<String>,

    /// Where a lesson belongs, for example git/rebase, or the topic of a register
    #[arg(long)]
    pub(crate) topic: Option<String>,

    /// Where it holds: file:PATH, area:NAME or global for notes, `shared` or an agent's scope for canon and registers
    #[arg(long)]
    pub(crate) scope: Option<String>,

    /// What a canon or register is about, in a word
    #[arg(long)]
    pub(crate) category: Option<String>,

    /// What a fact is about, in a word or a key, where the sentence does not say so
    #[arg(long, value_name = "NAME")]
    pub(crate) subject: Option<String>,

    /// A file a record is about; repeat it
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Vec<String>,

    /// Code it is about: PATH, PATH:12-20, PATH#symbol or PATH:"quoted text"; recall says when that changed; repeat it
    #[arg(long, value_name = "PLACE")]
    pub(crate) anchor: Vec<String>,

    /// How sure you are of a record or fact, 0 to 1
    #[arg(long, value_name = "NUMBER", value_parser = super::share)]
    pub(crate) confidence: Option<f64>,

    /// When a note or episode was said or which day a lesson is of; now if not given
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,

    /// Whose words a fact or episode holds, if not your own: other_message, tool_read, web or agent; of canon and registers how it came in: chat, manual, tool, operator or promotion
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,

    /// Take it from a file: a record as a JSON object, anything else as text or as a JSON object of its fields; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<String>,

    /// Show what would be saved without saving it
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Change a memory, by flags or in your editor
///
/// With flags the change is made at once; without any, the memory opens in your editor. A change made meanwhile by somebody else is
/// noticed and nothing is overwritten. Records, lessons, canon, registers and facts can be changed; notes and episodes are what was said.
#[derive(Debug, clap::Args)]
pub(crate) struct Edit {
    /// Its id, or a name that fits only one
    pub(crate) id: String,

    /// New title of a record or lesson
    #[arg(long)]
    pub(crate) title: Option<String>,

    /// A content field, NAME=VALUE; repeat it for lists
    #[arg(long, short, value_name = "NAME=VALUE")]
    pub(crate) field: Vec<String>,

    /// Add a tag to a record, canon or register; repeat it
    #[arg(long, short)]
    pub(crate) tag: Vec<String>,

    /// New text of a canon, register or fact
    #[arg(long)]
    pub(crate) text: Option<String>,

    /// New topic of a register
    #[arg(long)]
    pub(crate) topic: Option<String>,

    /// New category of a canon or register
    #[arg(long)]
    pub(crate) category: Option<String>,

    /// Take the whole text from a file, as the editor would give it; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["title", "field", "tag", "text", "topic", "category"])]
    pub(crate) from: Option<String>,

    /// The version the change is based on, from `show --json`; another one is not overwritten
    #[arg(long)]
    pub(crate) version: Option<String>,

    /// What changed, for a record's history
    #[arg(long, short)]
    pub(crate) message: Option<String>,
}

/// Tie a memory to the code it is about, and see whether that code is still what it was
///
/// An anchor is a place in the project: `src/queue.rs`, `src/queue.rs:12-20`, `src/queue.rs#fetch` or `src/queue.rs:"SKIP LOCKED"`. A hash of
/// what is there is kept in provenance.jsonl. Whenever the memory is about to be given to an agent the place is looked at in the working tree, on
/// whatever branch: code that moved is followed, a memory whose code changed says so and ranks lower, and one whose code is gone is held
/// back and listed in `review`.
#[derive(Debug, clap::Args)]
pub(crate) struct AnchorCommand {
    #[command(subcommand)]
    pub(crate) action: AnchorAction,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum AnchorAction {
    /// Add places to a memory
    Add {
        /// Its id, or a name that fits only one
        id: String,
        /// Places: PATH, PATH:12-20, PATH#symbol or PATH:"quoted text"
        #[arg(required = true)]
        places: Vec<String>,
    },
    /// Show what memories cite and what became of it
    List {
        /// Only this memory
        id: Option<String>,
        /// Only what changed or is gone; exits with 1 if there is any
        #[arg(long)]
        stale: bool,
    },
    /// Take the code as it is now: you looked, and the memory still holds
    Renew {
        /// Its id, or a name that fits only one
        id: String,
    },
    /// Take places away from a memory
    Drop {
        /// Its id, or a name that fits only one
        id: String,
        /// Only those in this file, or this very place; all if none is named
        place: Option<String>,
    },
}

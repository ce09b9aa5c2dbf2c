//! What can be typed to save and change memories.

/// Save a memory
///
/// A sentence is enough: `heirloom add decision "Use PostgreSQL because we need jsonb"`. What follows "because" becomes the
/// reason. A lesson is what went wrong and what helped: `heirloom add lesson "Rebase lost commits, fixed by git reflog" --topic
/// git/rebase`. A note is a message, word for word. Canon is what stays true about the agents, a register is what holds now, kept up to date
/// under its topic: `heirloom add register "Working on the importer" --topic current-task`. A fact is what is known about you (`heirloom remember` is
/// shorter), an episode is something that was said. Fields can be given one by one (`--field
/// rationale="…"`, repeated for lists), or everything from a file with `--from FILE` (`-` is standard input). Heirloom makes nothing up: what
/// the sentence does not say stays empty. Fields a record needs (a runbook's steps and verification, how a session ended) are asked for at a terminal; elsewhere the
/// error names them. Choices have a default, such as status accepted; the answer says what was assumed. The gate checks every text before it is stored.
#[derive(Debug, clap::Args)]
pub(crate) struct Add {
    /// decision, runbook, constraint, tech_debt, preference, session_summary, lesson, note, canon, register, fact, episode, or a category of your own
    pub(crate) kind: String,

    /// What to remember, in a sentence
    pub(crate) text: Vec<String>,

    /// Title; by default made from the sentence
    #[arg(long)]
    pub(crate) title: Option<String>,

    /// A content field, NAME=VALUE; can be repeated for lists
    #[arg(long, short, value_name = "NAME=VALUE")]
    pub(crate) field: Vec<String>,

    /// A tag (for notes: a keyword); can be repeated
    #[arg(long, short)]
    pub(crate) tag: Vec<String>,

    /// Where a lesson belongs, for example git/rebase, or the topic of a register
    #[arg(long)]
    pub(crate) topic: Option<String>,

    /// Where it applies: file:PATH, area:NAME or global for notes, `shared` or an agent's scope for canon and registers
    #[arg(long)]
    pub(crate) scope: Option<String>,

    /// What a canon or register is about, in a word
    #[arg(long)]
    pub(crate) category: Option<String>,

    /// What a fact is about, in a word, if the sentence does not say so
    #[arg(long, value_name = "NAME")]
    pub(crate) subject: Option<String>,

    /// A file a record is about; can be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Vec<String>,

    /// Code it is about: PATH, PATH:12-20, PATH#symbol or PATH:"quoted text"; recall says when that changed; can be repeated
    #[arg(long, value_name = "PLACE")]
    pub(crate) anchor: Vec<String>,

    /// How sure you are of a record or fact, 0 to 1
    #[arg(long, value_name = "NUMBER", value_parser = super::share)]
    pub(crate) confidence: Option<f64>,

    /// When a note or episode was said, or the day of a lesson; by default now
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,

    /// When an episode ends: after hours, days or weeks, such as 12h, 30d or 2w; by default as `tiers.episode_days` says
    #[arg(long, value_name = "TIME", visible_alias = "ttl", value_parser = super::lifetime)]
    pub(crate) expires: Option<u32>,

    /// Where the words come from, if not from you: other_message, tool_read, web or agent; for canon and registers: chat, manual, tool, operator or promotion
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,

    /// Read it from a file: a record as a JSON object, anything else as text or as a JSON object of its fields; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<String>,

    /// Show what would be saved and save nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Change a memory, with options or in your editor
///
/// With options the change is made at once; without any, the memory opens in your editor. If somebody else changed it meanwhile, nothing is overwritten. You can
/// change records, lessons, canon, registers and facts; notes and episodes are what was said and stay as they are.
#[derive(Debug, clap::Args)]
pub(crate) struct Edit {
    /// Its id, or any part of it that fits only one memory
    pub(crate) id: String,

    /// New title of a record or lesson
    #[arg(long)]
    pub(crate) title: Option<String>,

    /// A content field, NAME=VALUE; can be repeated for lists
    #[arg(long, short, value_name = "NAME=VALUE")]
    pub(crate) field: Vec<String>,

    /// Add a tag to a record, canon or register; can be repeated
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

    /// Read the whole text from a file, as the editor would save it; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["title", "field", "tag", "text", "topic", "category"])]
    pub(crate) from: Option<String>,

    /// Change only this version, from `show --json`
    #[arg(long)]
    pub(crate) version: Option<String>,

    /// What changed, for a record's history
    #[arg(long, short)]
    pub(crate) message: Option<String>,
}

impl Edit {
    /// A change in the editor.
    pub(crate) fn of(id: &str) -> Edit {
        Edit {
            id: id.to_owned(),
            title: None,
            field: Vec::new(),
            tag: Vec::new(),
            text: None,
            topic: None,
            category: None,
            from: None,
            version: None,
            message: None,
        }
    }
}

/// Link memories to the code they are about
///
/// An anchor is a place in the project: `src/queue.rs`, `src/queue.rs:12-20`, `src/queue.rs#fetch` or `src/queue.rs:"SKIP LOCKED"`. Before a memory is given to an
/// agent, Heirloom looks at that place in the working tree. It follows code that moved. If the code changed, the memory says so and ranks lower; if the code is
/// gone, the memory is held back and listed in `review`.
#[derive(Debug, clap::Args)]
pub(crate) struct AnchorCommand {
    #[command(subcommand)]
    pub(crate) action: AnchorAction,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum AnchorAction {
    /// Add places to a memory
    Add {
        /// Its id, or any part of it that fits only one memory
        id: String,
        /// Places: PATH, PATH:12-20, PATH#symbol or PATH:"quoted text"
        #[arg(required = true)]
        places: Vec<String>,
    },
    /// List anchors and whether their code changed
    List {
        /// Only this memory
        id: Option<String>,
        /// Only code that changed or is gone; exits with 1 if there is any
        #[arg(long)]
        stale: bool,
    },
    /// Accept the code as it is now: you checked that the memory is still right
    Renew {
        /// Its id, or any part of it that fits only one memory
        id: String,
    },
    /// Remove places from a memory
    Drop {
        /// Its id, or any part of it that fits only one memory
        id: String,
        /// Only this file or this place; without it all of them
        place: Option<String>,
    },
}

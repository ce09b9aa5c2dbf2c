//! What can be typed to look things up, and after `lesson`, `note` and `vault`.

use clap::Subcommand;

/// Find memories by words
///
/// Searches every shelf and shows the best matches first. You can use "a phrase", a prefix*, -words that must not occur, and filters: kind:decision, tag:queue,
/// scope:file:src/main.rs, status:retired, trust:high, since:7d. Filters alone list what meets them, newest first. At a terminal, without any words, the list
/// narrows as you type.
///
/// With `retrieval.match_strategy: title_tags` each shelf scores as its format says and results are grouped by kind: records by tag (3), title (2) and content
/// (1), lessons by words, topic, context, recency and use, notes by keyword, newest first, the vault by shared words.
#[derive(Debug, clap::Args)]
pub(crate) struct Search {
    /// Words, "a phrase", prefix*, -without, and filters: kind: tag: scope: status: trust: since: context:TASK-12
    pub(crate) words: Vec<String>,

    /// Choose from a list at the terminal: type to filter, arrows, Enter shows, Esc leaves
    #[arg(long = "pick", short = 'i', conflicts_with_all = ["explain", "tier", "context"])]
    pub(crate) pick: bool,

    /// Only this kind
    #[arg(long, short)]
    pub(crate) kind: Option<String>,

    /// Also retired and archived memories
    #[arg(long, visible_alias = "retired")]
    pub(crate) include_retired: bool,

    /// At most this many; with `title_tags`, of each kind
    #[arg(long, short = 'n', default_value_t = heirloom_engine::recall::search::PER_KIND)]
    pub(crate) limit: usize,

    /// Show how each score is made up
    #[arg(long)]
    pub(crate) explain: bool,

    /// As this agent sees it
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,

    /// Only turns of conversations (episodic), facts about you (semantic), or both (all)
    #[arg(long, value_parser = ["episodic", "semantic", "all"], conflicts_with_all = ["kind", "agent"])]
    pub(crate) tier: Option<String>,

    /// With --tier: only this conversation
    #[arg(long, value_name = "ID", requires = "tier")]
    pub(crate) session: Option<String>,

    /// Show the block of turns and facts that a model would get, within the limits of the settings, and what was left out
    #[arg(long, conflicts_with_all = ["tier", "kind", "agent", "explain"])]
    pub(crate) context: bool,
}

/// Print the two or three lessons that fit a task
///
/// At most 1000 tokens, fenced and labelled.
#[derive(Debug, clap::Args)]
pub(crate) struct Brief {
    /// The task, in words
    #[arg(required = true)]
    pub(crate) task: Vec<String>,
}

/// Print what every session gets from the vault
///
/// Canon and current registers that a person wrote or accepted and, labelled, the registers that the named agent keeps itself.
#[derive(Debug, clap::Args)]
pub(crate) struct Snapshot {
    /// For this agent
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,

    /// At most this many characters, in whole lines
    #[arg(long)]
    pub(crate) max_chars: Option<usize>,
}

/// Read lessons by topic
#[derive(Debug, clap::Args)]
pub(crate) struct Lesson {
    #[command(subcommand)]
    pub(crate) action: LessonAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LessonAction {
    /// Print a topic's lessons, newest first, and count that they were read
    Load {
        /// The topic, for example git or git/rebase
        topic: String,
    },
    /// List topics and how often their lessons were read here
    Topics,
}

/// List notes
#[derive(Debug, clap::Args)]
pub(crate) struct Note {
    #[command(subcommand)]
    pub(crate) action: NoteAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum NoteAction {
    /// List notes by scope and keyword, newest first
    List {
        /// Only this scope: global, file:PATH or area:NAME
        #[arg(long)]
        scope: Option<String>,
        /// Only notes with this keyword
        #[arg(long)]
        keyword: Option<String>,
        /// Skip this many of the newest
        #[arg(long, default_value_t = 0)]
        offset: usize,
        /// At most this many
        #[arg(long, short = 'n', default_value_t = 20)]
        limit: usize,
    },
    /// List the notes for a session: on these files first, then on the area, then global ones
    Session {
        /// A file the session works on; can be repeated
        #[arg(long)]
        file: Vec<String>,
        /// The area of the project the session works on
        #[arg(long)]
        area: Option<String>,
        /// At most this many
        #[arg(long, short = 'n', default_value_t = 10)]
        limit: usize,
    },
}

/// Look after the vault: canon and registers
#[derive(Debug, clap::Args)]
pub(crate) struct Vault {
    #[command(subcommand)]
    pub(crate) action: VaultAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum VaultAction {
    /// Show figures: active, retired, lines, by scope, tier and category
    Stats,
    /// List pairs of memories that may be duplicates
    Consolidate {
        /// The least similarity, 0 to 1
        #[arg(long, default_value_t = heirloom_engine::verbs::review::VAULT_FLOOR)]
        floor: f64,
        /// Only this scope; can be repeated
        #[arg(long)]
        scope: Vec<String>,
    },
    /// List memories that could be removed, with reasons; removes nothing
    Propose {
        /// Only this scope; can be repeated
        #[arg(long)]
        scope: Vec<String>,
    },
    /// Turn a register into canon
    Promote {
        /// Its id
        id: String,
        /// Its text as canon, if it should differ
        text: Vec<String>,
        /// Its tags as canon, instead of the current ones; can be repeated
        #[arg(long, short)]
        tag: Vec<String>,
    },
    /// List the newest memories by category, tag and scope
    Recall {
        /// Only this category
        #[arg(long)]
        category: Option<String>,
        /// With at least one of these tags; can be repeated
        #[arg(long, short)]
        tag: Vec<String>,
        /// Only this scope; can be repeated
        #[arg(long)]
        scope: Vec<String>,
        /// At most this many
        #[arg(long, short = 'n', default_value_t = 10)]
        limit: usize,
    },
    /// Print the block that answers a question, or without one the newest memories
    Context {
        /// The question
        query: Vec<String>,
        /// For this agent
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        /// At most this many characters, in whole lines
        #[arg(long)]
        max_chars: Option<usize>,
    },
    /// Add many at once: a JSON array, or a JSON object per line, each {text, tier, topic_id, scope, category, tags}
    BulkAdd {
        /// The file; `-` is standard input
        file: String,
    },
    /// Retire many at once
    BulkDelete {
        /// Their ids
        #[arg(required = true)]
        ids: Vec<String>,
    },
}

//! What can be typed to look things up, and after `lesson`, `note` and `vault`.

use clap::Subcommand;

/// Find memories by words, on every shelf
///
/// Each shelf scores as its format says: records by tag (3), title (2) and content (1), lessons by words, topic, context, recency and use,
/// notes by keyword, newest first, the vault by shared words and likeness, turns and facts by words and meaning. Results are grouped by
/// kind. Under `hybrid` all of them stand in one ranking, and a line may hold "a phrase", a prefix*, -what must not be there, and filters:
/// kind:decision, tag:queue, scope:file:src/main.rs, status:retired, trust:high, since:7d. Filters alone list what meets them, newest first.
/// At a terminal, without any words, you narrow the list as you type.
#[derive(Debug, clap::Args)]
pub(crate) struct Search {
    /// Words, "a phrase", prefix*, -without, and filters: kind: tag: scope: status: trust: since: context:TASK-12
    pub(crate) words: Vec<String>,

    /// Choose at the terminal: type to narrow, arrows, Enter shows, Esc leaves
    #[arg(long = "pick", short = 'i', conflicts_with_all = ["explain", "tier", "context"])]
    pub(crate) pick: bool,

    /// Only this kind
    #[arg(long, short)]
    pub(crate) kind: Option<String>,

    /// Also what is retired or archived
    #[arg(long, visible_alias = "retired")]
    pub(crate) include_retired: bool,

    /// Most hits; under `title_tags` so many of each kind
    #[arg(long, short = 'n', default_value_t = heirloom_engine::recall::search::PER_KIND)]
    pub(crate) limit: usize,

    /// Also say what each score is made of
    #[arg(long)]
    pub(crate) explain: bool,

    /// As the agent of this name sees it
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,

    /// Only what was said (episodic) or what is known about you (semantic), or both (all)
    #[arg(long, value_parser = ["episodic", "semantic", "all"], conflicts_with_all = ["kind", "agent"])]
    pub(crate) tier: Option<String>,

    /// The block a model would be given of turns and facts, within the limits of the settings, and what was left out
    #[arg(long, conflicts_with_all = ["tier", "kind", "agent", "explain"])]
    pub(crate) context: bool,
}

/// Print the two or three lessons a task should start with, ready to paste
///
/// At most 1000 tokens, fenced and labelled.
#[derive(Debug, clap::Args)]
pub(crate) struct Brief {
    /// The task, in words
    #[arg(required = true)]
    pub(crate) task: Vec<String>,
}

/// Print what every session is given of the vault: canon and current registers
///
/// Only what a person wrote or accepted, and, labelled, the registers the named agent keeps itself.
#[derive(Debug, clap::Args)]
pub(crate) struct Snapshot {
    /// For the agent of this name
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,

    /// Most characters; whole lines only
    #[arg(long)]
    pub(crate) max_chars: Option<usize>,
}

/// The lesson shelf's own tools
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

/// The note shelf's own tools
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
        /// Only with this keyword
        #[arg(long)]
        keyword: Option<String>,
        /// Leave out so many of the newest
        #[arg(long, default_value_t = 0)]
        offset: usize,
        /// At most so many
        #[arg(long, short = 'n', default_value_t = 20)]
        limit: usize,
    },
    /// List what a session that works on these files should see: notes on them first, then on the area, then on everything
    Session {
        /// A file that is worked on; repeat it
        #[arg(long)]
        file: Vec<String>,
        /// The part of the project that is worked on
        #[arg(long)]
        area: Option<String>,
        /// At most so many
        #[arg(long, short = 'n', default_value_t = 10)]
        limit: usize,
    },
}

/// The vault's own tools
#[derive(Debug, clap::Args)]
pub(crate) struct Vault {
    #[command(subcommand)]
    pub(crate) action: VaultAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum VaultAction {
    /// Figures: active, retired, lines, by scope, tier and category
    Stats,
    /// Pairs that may be one memory, best first
    Consolidate {
        /// The least likeness, 0 to 1
        #[arg(long, default_value_t = heirloom_engine::verbs::review::VAULT_FLOOR)]
        floor: f64,
        /// Only this scope; repeat it
        #[arg(long)]
        scope: Vec<String>,
    },
    /// What could go, with reasons; nothing is removed
    Propose {
        /// Only this scope; repeat it
        #[arg(long)]
        scope: Vec<String>,
    },
    /// Make a register canon
    Promote {
        /// Its id
        id: String,
        /// Its text as canon, if other than now
        text: Vec<String>,
        /// Its tags as canon, instead of those it has; repeat it
        #[arg(long, short)]
        tag: Vec<String>,
    },
    /// The newest memories filed as asked
    Recall {
        /// Only this category
        #[arg(long)]
        category: Option<String>,
        /// With at least one of these tags; repeat it
        #[arg(long, short)]
        tag: Vec<String>,
        /// Only this scope; repeat it
        #[arg(long)]
        scope: Vec<String>,
        /// At most so many
        #[arg(long, short = 'n', default_value_t = 10)]
        limit: usize,
    },
    /// Print the block that answers a question, or without one the newest memories
    Context {
        /// The question
        query: Vec<String>,
        /// For the agent of this name
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        /// Most characters; whole lines only
        #[arg(long)]
        max_chars: Option<usize>,
    },
    /// Add many at once: a JSON array, or a JSON object per line, each {text, tier, topic_id, scope, category, tags}
    BulkAdd {
        /// The file; `-` is standard input
        file: String,
    },
    /// Take many out of use at once
    BulkDelete {
        /// Their ids
        #[arg(required = true)]
        ids: Vec<String>,
    },
}

//! What can be typed: clap types only; their doc comments are the help text.

use clap::{ArgGroup, Parser, Subcommand};
use std::path::PathBuf;

/// Memory for AI agents that people can read, trust and version.
///
/// What one session learns, the next one inherits. Memories are plain files in the project; every write passes one gate; `index.md` and
/// everything else can be made anew from them.
#[derive(Debug, Parser)]
#[command(name = "heirloom", version, max_term_width = 100, arg_required_else_help = true)]
#[command(
    after_help = "Start with `heirloom init`, then `heirloom add decision \"Use PostgreSQL because we need jsonb\"`.\n\
    `heirloom demo` shows everything in a temporary folder in a few seconds."
)]
pub(crate) struct Args {
    /// Answer in JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Work on the project in this folder instead of the one around the current folder
    #[arg(long, short = 'C', global = true, value_name = "FOLDER")]
    pub(crate) project: Option<PathBuf>,

    /// Use this value of a setting for this call, for example retrieval.max_inject=3
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(Init),
    Add(Add),
    Show(Show),
    List(List),
    Edit(Edit),
    History(One),
    Retire(Retire),
    Restore(Several),
    Archive(Retire),
    Unarchive(Several),
    Forget(Forget),
    Recall(Recall),
    Review(Review),
    Trust(Several),
    Audit(Audit),
    Status,
    Gc(Gc),
    Verify(Verify),
    Scan(Scan),
    Config(Config),
    Record(Record),
    Hook(Hook),
    Demo,
    Completions(Completions),
    Man(Man),
    #[command(hide = true)]
    MergeDriver(MergeDriver),
    #[command(hide = true)]
    Reference(Reference),
}

/// Prepare this project: memory folder, settings, git attributes
///
/// Writes `.claude/memory/memory-config.json` and `.gitattributes` entries so that two branches merge, and in a git work tree
/// registers the merge driver for `index.md`. Running it again changes nothing that is already there.
#[derive(Debug, clap::Args)]
pub(crate) struct Init {
    /// Also install a git pre-commit hook that runs `heirloom verify`
    #[arg(long)]
    pub(crate) pre_commit: bool,

    /// Show what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Save a memory
///
/// A sentence is enough: `heirloom add decision "Use PostgreSQL because we need jsonb"`. What stands after "because" becomes the
/// reason. Fields can be given one by one (`--field rationale="…"`, repeat it for lists), or the whole record as a JSON object with
/// `--from FILE` (`-` is standard input). The gate looks at every text before it is stored.
#[derive(Debug, clap::Args)]
pub(crate) struct Add {
    /// decision, runbook, constraint, tech_debt, preference, session_summary, or a category of your own
    pub(crate) category: String,

    /// What to remember, in a sentence
    pub(crate) text: Vec<String>,

    /// Title; made from the sentence if not given
    #[arg(long)]
    pub(crate) title: Option<String>,

    /// A content field, NAME=VALUE; repeat it for lists
    #[arg(long, short, value_name = "NAME=VALUE")]
    pub(crate) field: Vec<String>,

    /// A tag; repeat it
    #[arg(long, short)]
    pub(crate) tag: Vec<String>,

    /// A file this is about; repeat it
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Vec<String>,

    /// How sure you are, 0 to 1
    #[arg(long)]
    pub(crate) confidence: Option<f64>,

    /// Take the record from a JSON file; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<String>,

    /// Show the record without saving it
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Show a memory
#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    /// Its id, or a name that fits only one
    pub(crate) id: String,

    /// The stored file as it is
    #[arg(long)]
    pub(crate) raw: bool,
}

/// List memories
#[derive(Debug, clap::Args)]
pub(crate) struct List {
    /// Only this kind
    #[arg(long, short)]
    pub(crate) kind: Option<String>,

    /// Retired ones instead of active ones
    #[arg(long, conflicts_with_all = ["archived", "all"])]
    pub(crate) retired: bool,

    /// Archived ones instead of active ones
    #[arg(long, conflicts_with = "all")]
    pub(crate) archived: bool,

    /// Every status
    #[arg(long)]
    pub(crate) all: bool,

    /// Only memories with this tag
    #[arg(long, short)]
    pub(crate) tag: Option<String>,
}

/// Change a memory
///
/// With flags the change is made at once; without any, the record opens in your editor. A change made meanwhile by somebody else is
/// noticed and nothing is overwritten.
#[derive(Debug, clap::Args)]
pub(crate) struct Edit {
    /// Its id, or a name that fits only one
    pub(crate) id: String,

    /// New title
    #[arg(long)]
    pub(crate) title: Option<String>,

    /// A content field, NAME=VALUE; repeat it for lists
    #[arg(long, short, value_name = "NAME=VALUE")]
    pub(crate) field: Vec<String>,

    /// Add a tag; repeat it
    #[arg(long, short)]
    pub(crate) tag: Vec<String>,

    /// What changed, for the record's history
    #[arg(long, short)]
    pub(crate) message: Option<String>,
}

/// Show how a memory came to be what it is
#[derive(Debug, clap::Args)]
pub(crate) struct One {
    /// Its id, or a name that fits only one
    pub(crate) id: String,
}

/// Take memories out of use; they can be restored within the grace period
#[derive(Debug, clap::Args)]
pub(crate) struct Retire {
    /// Their ids, or names that fit only one
    #[arg(required = true)]
    pub(crate) ids: Vec<String>,

    /// Why
    #[arg(long, short, default_value = "")]
    pub(crate) reason: String,
}

/// Put memories back into use, or raise their trust
#[derive(Debug, clap::Args)]
pub(crate) struct Several {
    /// Their ids, or names that fit only one
    #[arg(required = true)]
    pub(crate) ids: Vec<String>,
}

/// Remove every trace of a memory's text
///
/// File, archive, quarantine, inbox, index and change history go; the audit keeps the id. What git still holds is named, with the command
/// that would remove it.
#[derive(Debug, clap::Args)]
pub(crate) struct Forget {
    /// Its id, or a name that fits only one
    pub(crate) id: String,

    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// Show what an agent would be given for a prompt
#[derive(Debug, clap::Args)]
pub(crate) struct Recall {
    /// The prompt
    #[arg(required = true)]
    pub(crate) prompt: Vec<String>,

    /// Also say why each memory is there
    #[arg(long)]
    pub(crate) explain: bool,
}

/// See what waits for a person, and decide
///
/// Without a word it lists what waits: drafts that need a yes, constraints and preferences that agents saved, files that hold what the gate
/// refuses. Accepting needs a person at a terminal and counts for exactly the bytes that were shown.
#[derive(Debug, clap::Args)]
pub(crate) struct Review {
    #[command(subcommand)]
    pub(crate) action: Option<ReviewAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ReviewAction {
    /// Accept what was shown
    Accept {
        /// Keys or ids from the list
        #[arg(required_unless_present = "all")]
        keys: Vec<String>,
        /// Everything in the list
        #[arg(long)]
        all: bool,
    },
    /// Throw a waiting draft away
    Reject {
        /// Keys from the list
        #[arg(required = true)]
        keys: Vec<String>,
    },
}

/// List what was done, or check that the list is whole
#[derive(Debug, clap::Args)]
pub(crate) struct Audit {
    #[command(subcommand)]
    pub(crate) action: Option<AuditAction>,

    /// Only entries about this id
    #[arg(long)]
    pub(crate) id: Option<String>,

    /// Only entries with this verdict: keep, redact, confirm, refuse
    #[arg(long)]
    pub(crate) verdict: Option<String>,

    /// Only the newest entries
    #[arg(long, short = 'n', default_value_t = 20)]
    pub(crate) limit: usize,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditAction {
    /// Walk the hash chain: was anything altered, removed or moved?
    Verify,
}

/// Remove what is past its time
///
/// Retires what its category's retention says, then removes (or archives) what was retired longer ago than the grace period.
#[derive(Debug, clap::Args)]
pub(crate) struct Gc {
    /// Show what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Check the whole store: files, index, settings, links, conflict markers
///
/// Ends with 1 if something is wrong, so that it can stand in a pre-commit hook or in CI.
#[derive(Debug, clap::Args)]
pub(crate) struct Verify {
    /// Make index.md anew from the files
    #[arg(long)]
    pub(crate) fix: bool,
}

/// Look for secrets, personal data and injection markers
///
/// Looks at files and folders, at standard input (`-`), at git's history (`--history`) or at what is already stored (`--store`).
/// Found text is never printed. Ends with 1 if something would not be stored as it is. With `--json` and no path it reads JSON
/// Lines `{id, text, trust, shelf}` and answers one verdict per line.
#[derive(Debug, clap::Args)]
pub(crate) struct Scan {
    /// Files or folders; `-` is standard input
    pub(crate) paths: Vec<String>,

    /// Look at every commit of the git repository
    #[arg(long, conflicts_with_all = ["paths", "store"])]
    pub(crate) history: bool,

    /// Look at what this project's memory already holds
    #[arg(long, conflicts_with = "paths")]
    pub(crate) store: bool,

    /// With --store: cut out of the files what the gate would refuse
    #[arg(long, requires = "store")]
    pub(crate) fix: bool,

    /// Do not ask before fixing
    #[arg(long, requires = "fix")]
    pub(crate) yes: bool,

    /// The row of the gate's policy: records, topics, notes, vault, episode, fact
    #[arg(long = "as", value_name = "SHELF", default_value = "episode")]
    pub(crate) shelf: String,

    /// Report in SARIF 2.1.0
    #[arg(long)]
    pub(crate) sarif: bool,
}

/// Read and change settings
#[derive(Debug, clap::Args)]
pub(crate) struct Config {
    #[command(subcommand)]
    pub(crate) action: ConfigAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigAction {
    /// All settings with their values and where each comes from
    List,
    /// One setting
    Get {
        /// Its dotted name
        key: String,
    },
    /// Change a setting in the project's file
    Set {
        /// Its dotted name
        key: String,
        /// Its value; JSON or plain text
        value: String,
        /// In your own file instead of the project's
        #[arg(long)]
        user: bool,
    },
    /// Take a setting out of the project's file
    Unset {
        /// Its dotted name
        key: String,
        /// Out of your own file instead of the project's
        #[arg(long)]
        user: bool,
    },
    /// Record categories
    Category {
        #[command(subcommand)]
        action: CategoryAction,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum CategoryAction {
    /// Add a category of your own
    Add {
        /// Its name: lower-case letters, digits, underscores
        name: String,
        /// A field, NAME[:text|list][:required]; repeat it
        #[arg(long, short)]
        field: Vec<String>,
        /// What it is for
        #[arg(long)]
        description: Option<String>,
        /// Its folder; made from the name if not given
        #[arg(long)]
        folder: Option<String>,
    },
    /// Switch a category on
    Enable {
        /// Its name
        name: String,
    },
    /// Switch a category off; its files stay
    Disable {
        /// Its name
        name: String,
    },
}

/// The record shelf's own tools, for scripts and skills
#[derive(Debug, clap::Args)]
pub(crate) struct Record {
    #[command(subcommand)]
    pub(crate) action: RecordAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RecordAction {
    Write(RecordWrite),
    Candidate(RecordCandidate),
    Index(RecordIndex),
}

/// Create, update, retire, archive, unarchive or restore a record
#[derive(Debug, clap::Args)]
pub(crate) struct RecordWrite {
    /// What to do
    #[arg(long, value_parser = ["create", "update", "delete", "archive", "unarchive", "restore"])]
    pub(crate) action: String,
    /// The category; required for create
    #[arg(long)]
    pub(crate) category: Option<String>,
    /// The record's file, for example .claude/memory/decisions/use-jwt.json
    #[arg(long)]
    pub(crate) target: String,
    /// A JSON file in a temporary folder; required for create and update
    #[arg(long)]
    pub(crate) input: Option<String>,
    /// The version this update is based on: content token, or MD5 of the file
    #[arg(long)]
    pub(crate) hash: Option<String>,
    /// Why, for delete and archive
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) reason: Option<String>,
}

/// Find the record that new information belongs to
#[derive(Debug, clap::Args)]
pub(crate) struct RecordCandidate {
    /// The category
    #[arg(long)]
    pub(crate) category: String,
    /// The new information
    #[arg(long)]
    pub(crate) new_info: String,
    /// What happened to the thing it is about
    #[arg(long, value_parser = heirloom_engine::shelf::records::LIFECYCLE_EVENTS)]
    pub(crate) lifecycle_event: Option<String>,
    /// The memory folder
    #[arg(long, default_value = crate::wiring::DEFAULT_ROOT)]
    pub(crate) root: PathBuf,
}

/// Rebuild, check, query or tidy the index
#[derive(Debug, clap::Args)]
#[command(group(ArgGroup::new("what").required(true).args(["rebuild", "validate", "query", "health", "gc"])))]
pub(crate) struct RecordIndex {
    /// The memory folder
    #[arg(long, default_value = crate::wiring::DEFAULT_ROOT)]
    pub(crate) root: PathBuf,
    /// Make index.md anew from the records
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// Compare index.md with the records
    #[arg(long)]
    pub(crate) validate: bool,
    /// Find index lines that contain a text
    #[arg(long, value_name = "KEYWORD")]
    pub(crate) query: Option<String>,
    /// Report on the store
    #[arg(long)]
    pub(crate) health: bool,
    /// Collect what was retired longer ago than the grace period
    #[arg(long)]
    pub(crate) gc: bool,
}

/// What coding agents call at each event of a session; reads the agent's JSON from standard input
///
/// `heirloom setup` writes these calls into an agent's settings. A hook never fails: whatever goes wrong, the agent goes on and `heirloom
/// last` says what happened.
#[derive(Debug, clap::Args)]
pub(crate) struct Hook {
    /// session-start, prompt, pre-write, post-write, stop, pre-compact, session-end
    pub(crate) moment: String,

    /// Whose words to speak: claude-code (if not given), codex, gemini, opencode
    #[arg(long)]
    pub(crate) agent: Option<String>,
}

/// Print a completion script for your shell
#[derive(Debug, clap::Args)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

/// Write the manual pages
#[derive(Debug, clap::Args)]
pub(crate) struct Man {
    /// The folder they go to; without it the main page is printed
    pub(crate) folder: Option<PathBuf>,
}

/// Merge two versions of index.md for git: %O %A %B
#[derive(Debug, clap::Args)]
pub(crate) struct MergeDriver {
    pub(crate) base: PathBuf,
    pub(crate) ours: PathBuf,
    pub(crate) theirs: PathBuf,
}

/// Print a reference page, made from the tables in the program
#[derive(Debug, clap::Args)]
pub(crate) struct Reference {
    #[arg(value_parser = crate::commands::PAGES)]
    pub(crate) page: String,
}

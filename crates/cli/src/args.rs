//! What can be typed: clap types only; their doc comments are the help text.

mod config;
mod record;
mod shelves;
mod transfer;

pub(crate) use config::{CategoryAction, Config, ConfigAction};
pub(crate) use record::{Record, RecordAction, RecordCandidate, RecordIndex, RecordWrite};
pub(crate) use shelves::{
    Brief, Lesson, LessonAction, Note, NoteAction, Search, Snapshot, Vault, VaultAction,
};
pub(crate) use transfer::{Compact, Convert, Export, Import, Sync};

use clap::{Parser, Subcommand};
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
    Search(Search),
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
    Brief(Brief),
    Snapshot(Snapshot),
    Review(Review),
    Trust(Several),
    Convert(Convert),
    Import(Import),
    Export(Export),
    Sync(Sync),
    Compact(Compact),
    Audit(Audit),
    /// What there is, shelf by shelf, and what is wrong
    Status,
    Gc(Gc),
    Verify(Verify),
    Scan(Scan),
    Config(Config),
    Record(Record),
    Lesson(Lesson),
    Note(Note),
    Vault(Vault),
    /// Show everything in a temporary project, in a few seconds
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
/// registers the merge driver for `index.md` and topic files. Running it again changes nothing that is already there.
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
/// reason. A lesson is what went wrong and what helped: `heirloom add lesson "Rebase lost commits, fixed by git reflog" --topic
/// git/rebase`. A note is a message, word for word. Canon is what stays true about the agents, a register is what holds now, kept up to date
/// under its topic: `heirloom add register "Working on the importer" --topic current-task`. Fields can be given one by one (`--field
/// rationale="…"`, repeat it for lists), or everything from a file with `--from FILE` (`-` is standard input). The gate looks at every text
/// before it is stored.
#[derive(Debug, clap::Args)]
pub(crate) struct Add {
    /// decision, runbook, constraint, tech_debt, preference, session_summary, lesson, note, canon, register, or a category of your own
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

    /// A file a record is about; repeat it
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Vec<String>,

    /// How sure you are of a record, 0 to 1
    #[arg(long)]
    pub(crate) confidence: Option<f64>,

    /// When a note was said or which day a lesson is of; now if not given
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,

    /// Take it from a file: a record as a JSON object, anything else as text or as a JSON object of its fields; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<String>,

    /// Show what would be saved without saving it
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Show a memory
#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    /// Its id, or a name that fits only one
    pub(crate) id: String,

    /// The stored file as it is; of the vault, its lines
    #[arg(long)]
    pub(crate) raw: bool,

    /// As the agent of this name sees it
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
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

    /// Only this scope: global, file:PATH, area:NAME, or one of the vault's
    #[arg(long)]
    pub(crate) scope: Option<String>,

    /// As the agent of this name sees it
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
}

/// Change a memory
///
/// With flags the change is made at once; without any, the memory opens in your editor. A change made meanwhile by somebody else is
/// noticed and nothing is overwritten. Records, lessons, canon and registers can be changed; a note is what was said.
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

    /// New text of a canon or register
    #[arg(long)]
    pub(crate) text: Option<String>,

    /// New topic of a register
    #[arg(long)]
    pub(crate) topic: Option<String>,

    /// New category of a canon or register
    #[arg(long)]
    pub(crate) category: Option<String>,

    /// The version the change is based on, from `show --json`; another one is not overwritten
    #[arg(long)]
    pub(crate) version: Option<String>,

    /// What changed, for a record's history
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
/// Without a word it lists what waits: drafts that need a yes, memories that would steer every session and that nobody accepted, what the
/// gate holds back, vault lines that contradict each other; then what could be tidied up: near-duplicates and what could go. Accepting needs a person at a terminal and counts for exactly the bytes that were shown.
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
    /// Make index.md anew, join topic files that a merge left in conflict, finish interrupted moves
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

/// Merge two versions of a memory file for git: %O %A %B %P
#[derive(Debug, clap::Args)]
pub(crate) struct MergeDriver {
    pub(crate) base: PathBuf,
    pub(crate) ours: PathBuf,
    pub(crate) theirs: PathBuf,
    /// The file's own path; without it, an index of records
    pub(crate) path: Option<String>,
}

/// Print a reference page, made from the tables in the program
#[derive(Debug, clap::Args)]
pub(crate) struct Reference {
    #[arg(value_parser = crate::commands::PAGES)]
    pub(crate) page: String,
}

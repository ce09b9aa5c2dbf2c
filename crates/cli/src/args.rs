//! What can be typed: clap types only; their doc comments are the help text.

mod agents;
mod config;
#[cfg(feature = "server")]
mod doors;
mod model;
mod record;
mod review;
mod shelves;
mod tiers;
mod transfer;
mod undo;
mod writing;

pub(crate) use agents::{Doctor, Last, Setup};
pub(crate) use config::{CategoryAction, Config, ConfigAction};
#[cfg(feature = "server")]
pub(crate) use doors::{Mcp, Serve};
pub(crate) use model::{Model, ModelWhat};
pub(crate) use record::{Record, RecordAction, RecordCandidate, RecordIndex, RecordWrite};
pub(crate) use review::{Review, ReviewAction};
pub(crate) use shelves::{
    Brief, Lesson, LessonAction, Note, NoteAction, Search, Snapshot, Vault, VaultAction,
};
pub(crate) use tiers::{Clear, Expire, MemoryCommand, MemoryVerb, Remember, User, UserAction};
pub(crate) use transfer::{Compact, Convert, Export, Import, Sync};
pub(crate) use undo::Undo;
pub(crate) use writing::{Add, AnchorAction, AnchorCommand, Edit};

use clap::{Parser, Subcommand};
use heirloom_agents::table::CLAUDE_CODE;
use std::ffi::OsString;
use std::path::PathBuf;

/// The pages of the reference.
pub(crate) const PAGES: [&str; 8] =
    ["commands", "errors", "settings", "environment", "kinds", "trust", "gate", "authority"];

/// Options of every command stand apart, so that a command's own options are read first.
const ANYWHERE: &str = "Options of every command";

/// Memory for AI agents that people can read, trust and version.
///
/// What one session learns, the next one inherits. Memories are plain files in the project; every write passes one gate; `index.md` and
/// everything else can be made anew from them.
#[derive(Debug, Parser)]
#[command(name = "heirloom", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "First steps:\n  \
    heirloom demo                          see everything once, in a temporary folder\n  \
    heirloom init                          prepare this project\n  \
    heirloom setup                         let your coding agents use it\n  \
    heirloom add decision \"Use PostgreSQL because we need jsonb\"\n  \
    heirloom recall \"which database?\"      what an agent would be given\n\n\
    Names: a memory is called by its id (`decision:use-postgresql`) or by any part of it that fits only one.")]
pub(crate) struct Args {
    /// Answer in JSON, errors too
    #[arg(long, global = true, help_heading = ANYWHERE)]
    pub(crate) json: bool,

    /// Work on the project in this folder instead of the one around the current folder
    #[arg(long, short = 'C', global = true, help_heading = ANYWHERE, value_name = "FOLDER")]
    pub(crate) project: Option<PathBuf>,

    /// Use this value of a setting for this call, for example retrieval.max_inject=3
    #[arg(long, global = true, help_heading = ANYWHERE, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,

    /// Keep the tiers in this PostgreSQL database (also HEIRLOOM_DATABASE_URL, which is not seen by other accounts)
    #[arg(long, global = true, help_heading = ANYWHERE, value_name = "URL")]
    pub(crate) database: Option<String>,

    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Command {
    /// Whether it is to be said of this command that the database could not be reached. Hooks and the doctor say it in their own way.
    pub(crate) fn speaks_of_the_database(&self) -> bool {
        !matches!(self, Command::Hook(_) | Command::Doctor(_))
    }

    /// The agent in whose name this asks, if it gives one. A hook is always somebody's.
    pub(crate) fn agent(&self) -> Option<&str> {
        let agent = match self {
            Command::Hook(call) => return Some(call.agent.as_deref().unwrap_or(CLAUDE_CODE.name)),
            Command::Show(call) => &call.agent,
            Command::List(call) => &call.agent,
            Command::Search(call) => &call.agent,
            Command::Recall(call) => &call.agent,
            Command::Snapshot(call) => &call.agent,
            Command::Vault(call) => match &call.action {
                VaultAction::Context { agent, .. } => agent,
                _ => &None,
            },
            _ => &None,
        };
        agent.as_deref()
    }
}

impl Args {
    /// The call that agents make at every prompt, `hook MOMENT [--agent NAME [--installed [--everywhere]]]`, read without building the whole command line first. Anything
    /// else is `None` and goes the usual way.
    pub(crate) fn plain_hook(words: impl Iterator<Item = OsString>) -> Option<Args> {
        let words: Vec<String> =
            words.skip(1).take(7).map(OsString::into_string).collect::<Result<_, _>>().ok()?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (moment, agent, more) = match words[..] {
            ["hook", moment] => (moment, None, &[][..]),
            ["hook", moment, "--agent", agent, ref more @ ..] => (moment, Some(agent), more),
            _ => return None,
        };
        let (installed, everywhere) = match more {
            [] => (false, false),
            ["--installed"] => (true, false),
            ["--installed", "--everywhere"] => (true, true),
            _ => return None,
        };
        if [Some(moment), agent].into_iter().flatten().any(|word| word.starts_with('-')) {
            return None;
        }
        let hook = Hook { moment: moment.to_owned(), agent: agent.map(str::to_owned), installed, everywhere };
        Some(Args {
            json: false,
            project: None,
            set: Vec::new(),
            database: None,
            command: Command::Hook(hook),
        })
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(Init),
    Setup(Setup),
    Add(Add),
    Remember(Remember),
    Search(Search),
    Show(Show),
    List(List),
    Edit(Edit),
    Anchor(AnchorCommand),
    History(One),
    Retire(Retire),
    Restore(Restore),
    Archive(Archive),
    Unarchive(Unarchive),
    Undo(Undo),
    Forget(Forget),
    Clear(Clear),
    Memory(MemoryCommand),
    Expire(Expire),
    User(User),
    Recall(Recall),
    Why(Why),
    Model(Model),
    Brief(Brief),
    Snapshot(Snapshot),
    Review(Review),
    Trust(Trust),
    Convert(Convert),
    Import(Import),
    Export(Export),
    Sync(Sync),
    Compact(Compact),
    Audit(Audit),
    /// Show how much is remembered, and whether anything needs attention
    Status,
    Gc(Gc),
    Verify(Verify),
    Scan(Scan),
    Config(Config),
    Record(Record),
    Lesson(Lesson),
    Note(Note),
    Vault(Vault),
    Doctor(Doctor),
    Last(Last),
    Hook(Hook),
    #[cfg(feature = "server")]
    Mcp(Mcp),
    #[cfg(feature = "server")]
    Serve(Serve),
    /// Show everything once, in a temporary project that goes away again
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
    /// Also install a git pre-commit hook that checks what is staged (`heirloom verify --staged`)
    #[arg(long)]
    pub(crate) pre_commit: bool,

    /// Show what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Show a memory: text, status, trust and where it comes from
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

/// List memories, the active ones unless told otherwise
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

    /// Only this tier, newest first: episodic or semantic
    #[arg(long, value_parser = ["episodic", "semantic"], conflicts_with = "kind")]
    pub(crate) tier: Option<String>,

    /// With --tier: only this conversation
    #[arg(long, requires = "tier")]
    pub(crate) session: Option<String>,

    /// At most so many; everything unless said, with --tier 50
    #[arg(long, short = 'n', value_name = "COUNT")]
    pub(crate) limit: Option<usize>,

    /// Go on where a list before ended: its `next`
    #[arg(long)]
    pub(crate) cursor: Option<String>,

    /// Only this scope: global, file:PATH, area:NAME, or one of the vault's
    #[arg(long)]
    pub(crate) scope: Option<String>,

    /// As the agent of this name sees it
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
}

/// Show how a memory came to be what it is
#[derive(Debug, clap::Args)]
pub(crate) struct One {
    /// Its id, or a name that fits only one
    pub(crate) id: String,
}

/// Take memories out of use; they can be restored within the grace period
///
/// Retired memories are no longer recalled. `heirloom restore` brings them back until the grace period (`delete.grace_period_days`, 30 days by
/// default) is over; then `heirloom gc` removes them, or moves them aside under `delete.archive_retired`. To keep something for the record
/// instead, use `heirloom archive`.
#[derive(Debug, clap::Args)]
pub(crate) struct Retire {
    #[command(flatten)]
    pub(crate) which: Several,

    /// Why, for the record's history
    #[arg(long, short, default_value = "", hide_default_value = true)]
    pub(crate) reason: String,
}

/// Put retired memories back into use
#[derive(Debug, clap::Args)]
pub(crate) struct Restore {
    #[command(flatten)]
    pub(crate) which: Several,
}

/// Keep memories for the record: not recalled, never collected
#[derive(Debug, clap::Args)]
pub(crate) struct Archive {
    #[command(flatten)]
    pub(crate) which: Several,

    /// Why, for the record's history
    #[arg(long, short, default_value = "", hide_default_value = true)]
    pub(crate) reason: String,
}

/// Put archived memories back into use
#[derive(Debug, clap::Args)]
pub(crate) struct Unarchive {
    #[command(flatten)]
    pub(crate) which: Several,
}

/// Say that you have read these memories and stand behind them
///
/// They are shown first. Your yes counts for exactly these bytes: if a memory is changed afterwards by somebody else, it is asked for again.
/// Only a person at a terminal can do this.
#[derive(Debug, clap::Args)]
pub(crate) struct Trust {
    #[command(flatten)]
    pub(crate) which: Several,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Several {
    /// Their ids, or names that fit only one
    #[arg(required = true)]
    pub(crate) ids: Vec<String>,
}

/// Remove every trace of a memory's text
///
/// File, archive, quarantine, inbox, index, earlier versions, change history and statistics go; the audit keeps the id. What git still holds is named, with the command
/// that would remove it. Words that are no memory's name are a topic: every turn and fact of yours in which all of them are found goes.
#[derive(Debug, clap::Args)]
pub(crate) struct Forget {
    /// Its id, a name that fits only one, or a topic
    pub(crate) id: String,

    /// On PostgreSQL also rewrite the tables the rows were in, so that their files hold nothing of them
    #[arg(long)]
    pub(crate) shred: bool,

    /// Take the words as a topic, whatever else they might name
    #[arg(long)]
    pub(crate) topic: bool,

    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// Show what an agent would be given for a prompt
///
/// Words of the prompt are compared with titles, tags and descriptions of records; notes on files it names, lessons that share its words and
/// the vault's answer follow in sections of their own. The block on standard output is byte for byte what an agent gets, the one `--agent` names
/// or one without a name; `--explain` adds why each memory is there on standard error.
#[derive(Debug, clap::Args)]
pub(crate) struct Recall {
    /// The prompt
    #[arg(required = true)]
    pub(crate) prompt: Vec<String>,

    /// Also say why each memory is there
    #[arg(long)]
    pub(crate) explain: bool,

    /// As the agent of this name gets it
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
}

/// Say when and why a memory was last given to an agent
///
/// Reads the ledger of what the prompt hook gave, under `retrieval.match_strategy: hybrid`.
#[derive(Debug, clap::Args)]
pub(crate) struct Why {
    /// The memory's id
    pub(crate) id: String,
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

    /// How many entries, the newest
    #[arg(long, short = 'n', value_name = "COUNT", default_value_t = 20)]
    pub(crate) limit: usize,

    /// Your own audit of turns and facts instead of the project's
    #[arg(long)]
    pub(crate) tiers: bool,

    /// Your own audit of settings, approvals and the PIN instead of the project's
    #[arg(long, conflicts_with = "tiers")]
    pub(crate) settings: bool,

    /// With --tiers: only this event, for example memory_delete
    #[arg(long, requires = "tiers")]
    pub(crate) event: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditAction {
    /// Walk the hash chain: was anything altered, removed or moved?
    Verify,
}

/// Remove what is past its time
///
/// Retires what its category's retention says, then removes (or archives) what was retired longer ago than the grace period. Without a person it
/// retires nothing that a person stands behind, and keeps what a person retired for 30 days at least, whatever the project's settings say.
#[derive(Debug, clap::Args)]
pub(crate) struct Gc {
    /// Show what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Days a retired record stays, instead of those of the settings; fewer of them need a person or a token with the scope `delete`
    #[arg(long, value_name = "DAYS")]
    pub(crate) grace_days: Option<u32>,
}

/// Check the whole store: files, index, settings, links, conflict markers
///
/// Ends with 1 if something is wrong, so that it can stand in a pre-commit hook or in CI, and with 3 where there is no memory to check.
#[derive(Debug, clap::Args)]
pub(crate) struct Verify {
    /// Make index.md anew, join topic files that a merge left in conflict, finish interrupted moves
    #[arg(long)]
    pub(crate) fix: bool,

    /// Check what is staged in git instead of what lies in the folder
    #[arg(long, conflicts_with = "fix")]
    pub(crate) staged: bool,
}

/// Look for secrets, personal data and injection markers
///
/// Looks at files and folders, at standard input (`-`), at git's history (`--history`) or at what is already stored (`--store`). In a folder of a
/// git repository these are the files that git tracks or would track, elsewhere all of them; whatever is passed over is named.
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
    #[arg(long)]
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

    /// Called by a line that `heirloom setup` wrote: acts only in projects with a memory, and leaves nothing in them
    #[arg(long, requires = "agent")]
    pub(crate) installed: bool,

    /// With --installed: acts in every folder
    #[arg(long, requires = "installed")]
    pub(crate) everywhere: bool,
}

/// Print a completion script for your shell
///
/// For example: `heirloom completions bash > ~/.local/share/bash-completion/completions/heirloom`
#[derive(Debug, clap::Args)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

/// Write the manual pages
///
/// For example: `heirloom man ~/.local/share/man/man1`
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
    /// The page; without it the names of all pages
    #[arg(value_parser = PAGES)]
    pub(crate) page: Option<String>,
}

/// A number from 0 to 1.
fn share(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "use a number from 0 to 1, such as 0.8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_hook_call_is_read_as_the_usual_way_reads_it() {
        for words in [
            &["heirloom", "hook", "prompt"][..],
            &["heirloom", "hook", "stop", "--agent", "codex"],
            &["heirloom", "hook", "stop", "--agent", ""],
        ] {
            let quick = Args::plain_hook(words.iter().map(OsString::from)).unwrap();
            assert_eq!(format!("{quick:?}"), format!("{:?}", Args::try_parse_from(words).unwrap()));
        }
        for words in [
            &["heirloom", "hook"][..],
            &["heirloom", "hook", "--help"],
            &["heirloom", "hook", "stop", "--agent", "--json"],
            &["heirloom", "hook", "stop", "--json"],
            &["heirloom", "hook", "stop", "--agent", "codex", "--json"],
            &["heirloom", "list", "stop"],
        ] {
            assert!(Args::plain_hook(words.iter().map(OsString::from)).is_none(), "{words:?}");
        }
    }
}

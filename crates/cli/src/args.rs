//! What can be typed: clap types only; their doc comments are the help text.

mod about;
mod agents;
mod config;
#[cfg(feature = "server")]
mod doors;
mod front;
mod life;
mod meant;
mod misuse;
mod model;
mod record;
mod review;
mod shelves;
#[cfg(feature = "postgres")]
mod team;
mod tiers;
mod transfer;
mod undo;
mod writing;

pub(crate) use agents::{Doctor, Last, Setup};
pub(crate) use config::{CategoryAction, Config, ConfigAction};
#[cfg(feature = "server")]
pub(crate) use doors::{Mcp, Open, Serve};
pub(crate) use front::{FOR_PROGRAMS, FRONT, GROUPS};
pub(crate) use life::{Archive, Forget, Restore, Retire, Trust, Unarchive};
pub(crate) use misuse::told as misused;
pub(crate) use model::{Model, ModelWhat};
pub(crate) use record::{Record, RecordAction, RecordCandidate, RecordIndex, RecordWrite};
pub(crate) use review::{Review, ReviewAction};
pub(crate) use shelves::{
    Brief, Lesson, LessonAction, Note, NoteAction, Search, Snapshot, Vault, VaultAction,
};
#[cfg(feature = "postgres")]
pub(crate) use team::{Founders, Operator, Team, TeamAction};
pub(crate) use tiers::{Clear, Expire, MemoryCommand, MemoryVerb, Remember, User, UserAction};
pub(crate) use transfer::{Compact, Convert, Export, Import, Sync};
pub(crate) use undo::Undo;
pub(crate) use writing::{Add, AnchorAction, AnchorCommand, Edit};

use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

/// The pages of the reference.
pub(crate) const PAGES: [&str; 9] =
    ["commands", "errors", "settings", "environment", "kinds", "trust", "gate", "authority", "glossary"];

/// Options of every command stand apart, so that a command's own options are read first.
const ANYWHERE: &str = "Options of every command";

/// Memory for AI agents that people can read, trust and version.
///
/// What one session learns, the next one knows. Memories are plain files in the project, every text passes one check before it is stored, and
/// everything else is rebuilt from the files.
#[derive(Debug, Parser)]
#[command(name = "heirloom", version, max_term_width = 100, override_help = FRONT)]
#[command(disable_help_subcommand = true, subcommand_required = true)]
pub(crate) struct Args {
    /// Answer in JSON, errors too
    #[arg(long, global = true, help_heading = ANYWHERE)]
    pub(crate) json: bool,

    /// Work on the project in this folder instead of the current one
    #[arg(long, short = 'C', global = true, help_heading = ANYWHERE, value_name = "FOLDER")]
    pub(crate) project: Option<PathBuf>,

    /// Use this value of a setting for this command, for example retrieval.max_inject=3
    #[arg(long, global = true, help_heading = ANYWHERE, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,

    /// Keep turns and facts in this PostgreSQL database (or set HEIRLOOM_DATABASE_URL, which other accounts cannot see)
    #[arg(long, global = true, help_heading = ANYWHERE, value_name = "URL")]
    pub(crate) database: Option<String>,

    /// Use the token in this file; only you may have permission to read it (or set HEIRLOOM_TOKEN)
    #[arg(long, global = true, help_heading = ANYWHERE, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,

    /// Show only these fields of each memory or row, for example id,title
    #[arg(long, global = true, help_heading = ANYWHERE, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) fields: Vec<String>,

    /// Print one line for each memory or row in this form, for example '{id} {title}'
    #[arg(long, global = true, help_heading = ANYWHERE, value_name = "TEXT", conflicts_with_all = ["fields", "json"])]
    pub(crate) format: Option<String>,

    #[command(subcommand)]
    pub(crate) command: Command,
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
            token_file: None,
            fields: Vec::new(),
            format: None,
            command: Command::Hook(hook),
        })
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(Init),
    Setup(Setup),
    #[command(visible_alias = "new")]
    Add(Add),
    Remember(Remember),
    #[command(visible_alias = "find")]
    Search(Search),
    #[command(visible_alias = "get")]
    Show(Show),
    #[command(visible_alias = "ls")]
    List(List),
    Edit(Edit),
    Anchor(AnchorCommand),
    History(One),
    #[command(hide = true)]
    Log(Log),
    #[command(visible_aliases = ["rm", "delete"])]
    Retire(Retire),
    Restore(Restore),
    Archive(Archive),
    Unarchive(Unarchive),
    Undo(Undo),
    Forget(Forget),
    Clear(Clear),
    #[command(hide = true)]
    Memory(MemoryCommand),
    Expire(Expire),
    User(User),
    #[cfg(feature = "postgres")]
    Team(Team),
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
    /// Show how many memories there are and whether anything needs attention
    Status,
    Gc(Gc),
    Verify(Verify),
    Scan(Scan),
    Config(Config),
    #[command(hide = true)]
    Record(Record),
    Lesson(Lesson),
    Note(Note),
    Vault(Vault),
    Doctor(Doctor),
    Last(Last),
    #[command(hide = true)]
    Hook(Hook),
    #[cfg(feature = "server")]
    Mcp(Mcp),
    #[cfg(feature = "server")]
    Serve(Serve),
    #[cfg(feature = "server")]
    Open(Open),
    /// Show everything once, in a temporary project that is removed afterwards
    Demo,
    Completions(Completions),
    Man(Man),
    #[command(hide = true)]
    MergeDriver(MergeDriver),
    #[command(hide = true)]
    Reference(Reference),
    #[command(hide = true)]
    Help(Help),
}

/// Explain Heirloom, a command or a topic
#[derive(Debug, clap::Args)]
pub(crate) struct Help {
    /// A command, or one of commands, concepts, kinds, names, recall, agents, files, scripts, options, glossary
    pub(crate) words: Vec<String>,
}

/// Show the history of a memory, or without an id what the latest hook runs did
#[derive(Debug, clap::Args)]
pub(crate) struct Log {
    /// Its id, or a part of it that fits only one memory
    pub(crate) id: Option<String>,

    /// At most this many
    #[arg(long, short = 'n', value_name = "COUNT", default_value_t = 10)]
    pub(crate) limit: usize,
}

/// Start a memory in this project
///
/// Creates the memory folder `.claude/memory` with its settings and git attributes, and in a git repository registers a merge driver, so that branches that both
/// change memories merge. Running it again changes nothing that exists.
#[derive(Debug, clap::Args)]
pub(crate) struct Init {
    /// Also install a git pre-commit hook that checks staged memories (`heirloom verify --staged`)
    #[arg(long)]
    pub(crate) pre_commit: bool,

    /// Show what would happen and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Show a memory: its text, status, trust and origin
#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    /// Its id, or any part of it that fits only one memory
    pub(crate) id: String,

    /// Print the stored file as it is; for the vault, its lines
    #[arg(long)]
    pub(crate) raw: bool,

    /// As this agent sees it
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
}

/// List memories; only active ones unless you ask for others
#[derive(Debug, clap::Args)]
pub(crate) struct List {
    /// Only this kind
    #[arg(long, short)]
    pub(crate) kind: Option<String>,

    /// Retired memories instead of active ones
    #[arg(long, conflicts_with_all = ["archived", "all"])]
    pub(crate) retired: bool,

    /// Archived memories instead of active ones
    #[arg(long, conflicts_with = "all")]
    pub(crate) archived: bool,

    /// Memories of every status
    #[arg(long)]
    pub(crate) all: bool,

    /// Only memories with this tag
    #[arg(long, short)]
    pub(crate) tag: Option<String>,

    /// Only turns of conversations (episodic) or facts (semantic), newest first
    #[arg(long, value_parser = ["episodic", "semantic"], conflicts_with = "kind")]
    pub(crate) tier: Option<String>,

    /// With --tier: only this conversation
    #[arg(long, requires = "tier")]
    pub(crate) session: Option<String>,

    /// At most this many; without it all of them, with --tier 50
    #[arg(long, short = 'n', value_name = "COUNT")]
    pub(crate) limit: Option<usize>,

    /// Continue where an earlier list ended: its `next`
    #[arg(long)]
    pub(crate) cursor: Option<String>,

    /// Only this scope: global, file:PATH, area:NAME, or one of the vault's
    #[arg(long)]
    pub(crate) scope: Option<String>,

    /// As this agent sees it
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
}

/// Show the history of a memory
#[derive(Debug, clap::Args)]
pub(crate) struct One {
    /// Its id, or any part of it that fits only one memory
    pub(crate) id: String,
}

/// Show what an agent would get for a prompt
///
/// The block on standard output is byte for byte what an agent gets, the one that `--agent` names or one without a name. Records come first; notes about files the
/// prompt names, lessons and the vault follow in sections of their own. `--explain` says on standard error why each memory is there.
#[derive(Debug, clap::Args)]
pub(crate) struct Recall {
    /// The prompt
    #[arg(required = true)]
    pub(crate) prompt: Vec<String>,

    /// Say why each memory is there
    #[arg(long)]
    pub(crate) explain: bool,

    /// As this agent gets it
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
}

/// Show when and why a memory was last given to an agent
///
/// Works with `retrieval.match_strategy: hybrid`, which notes what each session was given.
#[derive(Debug, clap::Args)]
pub(crate) struct Why {
    /// The memory's id
    pub(crate) id: String,
}

/// Show who did what, or check that nobody changed the log
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

    /// At most this many, newest last
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
    /// Check the hash chain: was anything changed, removed or moved?
    Verify,
}

/// Remove memories that have expired
///
/// Retires memories older than their category's retention, then removes (or archives) those that were retired before the grace period.
/// Without a person it retires nothing that a person wrote or accepted, and keeps what a person retired for at least 30 days.
#[derive(Debug, clap::Args)]
pub(crate) struct Gc {
    /// Show what would happen and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Use this grace period instead of the setting's; a shorter one needs a person or a token with the scope `delete`
    #[arg(long, value_name = "DAYS")]
    pub(crate) grace_days: Option<u32>,
}

/// Check files, index, settings and links of the memory
///
/// Exits with 1 if it finds a problem, so it can run in a pre-commit hook or in CI, and with 3 if there is no memory to check.
#[derive(Debug, clap::Args)]
pub(crate) struct Verify {
    /// Rebuild index.md, merge topic files with conflict markers, finish interrupted moves
    #[arg(long)]
    pub(crate) fix: bool,

    /// Check what is staged in git instead of the folder
    #[arg(long, conflicts_with = "fix")]
    pub(crate) staged: bool,
}

/// Look for secrets, personal data and injection markers
///
/// Scans files and folders, standard input (`-`), the git history (`--history`) or stored memories (`--store`). In a git repository it scans the files that git
/// tracks or would track, elsewhere all files, and names those it skips. It never prints what it found. Exits with 1 if something would not be stored as it is.
/// With `--json` and no path it reads JSON Lines `{id, text, trust, shelf}` and answers one verdict per line.
#[derive(Debug, clap::Args)]
pub(crate) struct Scan {
    /// Files or folders; `-` is standard input
    pub(crate) paths: Vec<String>,

    /// Scan every commit of the git repository
    #[arg(long, conflicts_with_all = ["paths", "store"])]
    pub(crate) history: bool,

    /// Scan the memories of this project
    #[arg(long, conflicts_with = "paths")]
    pub(crate) store: bool,

    /// With --store: cut what the gate would refuse out of the files
    #[arg(long)]
    pub(crate) fix: bool,

    /// Do not ask before fixing
    #[arg(long, requires = "fix")]
    pub(crate) yes: bool,

    /// Judge as for this shelf: records, topics, notes, vault, episode or fact
    #[arg(long = "as", value_name = "SHELF", default_value = "episode")]
    pub(crate) shelf: String,

    /// Report in SARIF 2.1.0
    #[arg(long)]
    pub(crate) sarif: bool,
}

/// Handle an event of a coding agent; reads the agent's JSON from standard input
///
/// `heirloom setup` writes these calls into an agent's settings. A hook never stops the agent: if something goes wrong, the agent continues, and `heirloom last` shows what
/// happened.
#[derive(Debug, clap::Args)]
pub(crate) struct Hook {
    /// session-start, prompt, pre-write, post-write, stop, pre-compact, session-end
    pub(crate) moment: String,

    /// The agent: claude-code (the default), codex, gemini, opencode, copilot, cursor
    #[arg(long)]
    pub(crate) agent: Option<String>,

    /// Called by a line that `heirloom setup` wrote: acts only in projects with a memory
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

/// Print or write the manual pages
///
/// For example: `heirloom man ~/.local/share/man/man1`
#[derive(Debug, clap::Args)]
pub(crate) struct Man {
    /// The folder to write them to; without it the main page is printed
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

/// Print a page of the reference
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

/// How long something lasts, in hours: 12h, 30d, 2w.
fn lifetime(text: &str) -> Result<u32, String> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let hours = match unit {
        "h" => Some(1),
        "d" => Some(24),
        "w" => Some(24 * 7),
        _ => None,
    };
    let number = number.parse::<u32>().ok().filter(|number| *number > 0);
    let total = number.zip(hours).and_then(|(number, hours)| number.checked_mul(hours));
    total.ok_or_else(|| "use hours, days or weeks, such as 12h, 30d or 2w".to_owned())
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

//! What can be typed to move memories: between kinds, in, out, to and from an external memory.

use std::path::PathBuf;

/// Make a memory of another kind from one that is there, keeping the link to it
///
/// A lesson that became a decision, a register that became canon, a note distilled into a lesson. With words of your own they are the new
/// text; without, the source's text is taken.
#[derive(Debug, clap::Args)]
pub(crate) struct Convert {
    /// The source's id, or a name that fits only one
    pub(crate) id: String,

    /// The new kind
    pub(crate) kind: String,

    /// The new text, in your own words
    pub(crate) words: Vec<String>,

    /// The new title
    #[arg(long)]
    pub(crate) title: Option<String>,

    /// Where a lesson belongs, for example git/rebase, or the topic of a register
    #[arg(long)]
    pub(crate) topic: Option<String>,

    /// The scope of a canon or register
    #[arg(long)]
    pub(crate) scope: Option<String>,

    /// A content field of the new memory, NAME=VALUE; repeat it for lists
    #[arg(long, short, value_name = "NAME=VALUE")]
    pub(crate) field: Vec<String>,

    /// A further tag; repeat it
    #[arg(long, short)]
    pub(crate) tag: Vec<String>,

    /// Also retire the source
    #[arg(long)]
    pub(crate) retire: bool,
}

/// Take in notes, topic files, vaults, records, archives of turns and facts, and transcripts of Claude Code and Codex
///
/// Each file is known by what is in it. Everything goes through the gate; what is here already stays as it is, so the same import may run
/// again, and one that was interrupted goes on where it stopped. Of transcripts the assistant's messages of several lines are kept as notes,
/// never its reasoning.
///
/// `heirloom import auto` looks for what this machine's coding agents already know about the project: CLAUDE.md and AGENTS.md, Claude Code's
/// auto memory and transcripts, Codex's memories and transcripts, an earlier memory folder. It shows what would arrive, then asks.
#[derive(Debug, clap::Args)]
pub(crate) struct Import {
    /// Files or folders, also a whole `.claude/memory`; `-` is an archive of turns and facts on standard input; or the word `auto`
    #[arg(required = true)]
    pub(crate) paths: Vec<PathBuf>,

    /// Show what would arrive and what would be refused
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Of an archive: the memories of every user; for the account that keeps the deployment
    #[arg(long)]
    pub(crate) all_users: bool,

    /// Of an archive: also what was removed here
    #[arg(long)]
    pub(crate) even_removed: bool,

    /// Of an archive that was made elsewhere: believe what it says about trust; only a person at a terminal can say so
    #[arg(long)]
    pub(crate) vouch: bool,

    /// Do not ask (`import auto` does, anything else never)
    #[arg(long, short)]
    pub(crate) yes: bool,
}

impl Import {
    /// Whether what is there should be found first. A file of that name is `./auto`.
    pub(crate) fn is_auto(&self) -> bool {
        matches!(self.paths.as_slice(), [only] if only.as_os_str() == "auto")
    }
}

/// Write a shelf's files out, in their own format
///
/// A person gets everything. To a process files that hold what the gate would refuse, and lines of the vault that belong to other agents, are not given; they
/// are named instead.
///
/// Your turns and facts are no files of the project; `--shelf tiers` writes them to an archive, JSON Lines with checksums, which `heirloom import` reads,
/// also into another database: `heirloom export --shelf tiers | heirloom --database postgres://… import -`.
#[derive(Debug, clap::Args)]
pub(crate) struct Export {
    /// records, topics, notes or vault, all of these if none is named; or tiers
    #[arg(long)]
    pub(crate) shelf: Option<String>,

    /// A new or empty folder, of the tiers a file; without it a vault or an archive is printed
    #[arg(long, value_name = "PATH")]
    pub(crate) to: Option<PathBuf>,

    /// Of the tiers: those of every user; for the account that keeps the deployment
    #[arg(long)]
    pub(crate) all_users: bool,

    /// Of the tiers: those of this user, with the user's audit, hashes of tokens and drafts; for whoever looks after users
    #[arg(long, value_name = "NAME", conflicts_with = "all_users")]
    pub(crate) user: Option<String>,

    /// Also what is retired, and a vault's earlier versions
    #[arg(long)]
    pub(crate) retired: bool,
}

/// Show what would move between here and the external memory of the lessons, or move it
///
/// Looks at the remote, but moves nothing without --apply.
#[derive(Debug, clap::Args)]
pub(crate) struct Sync {
    /// Do what is shown
    #[arg(long)]
    pub(crate) apply: bool,
}

/// Rewrite the vault without superseded versions and retired memories
#[derive(Debug, clap::Args)]
pub(crate) struct Compact {
    /// Show how much would go
    #[arg(long)]
    pub(crate) dry_run: bool,
}

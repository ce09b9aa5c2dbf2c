//! What can be typed to move memories: between kinds, in, out, to and from an external memory.

use std::path::PathBuf;

/// Make a memory of another kind from an existing one
///
/// For example a decision from a lesson, canon from a register, a lesson from a note. The new memory links to the old one. Without a text of your own it takes the
/// text of the source.
#[derive(Debug, clap::Args)]
pub(crate) struct Convert {
    /// The memory's id, or any part of it that fits only one
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

    /// A content field of the new memory, NAME=VALUE; can be repeated for lists
    #[arg(long, short, value_name = "NAME=VALUE")]
    pub(crate) field: Vec<String>,

    /// A further tag; can be repeated
    #[arg(long, short)]
    pub(crate) tag: Vec<String>,

    /// Also retire the source
    #[arg(long)]
    pub(crate) retire: bool,
}

/// Import memories from files, from other tools and from your coding agents
///
/// Reads notes, topic files, vaults, records, archives of turns and facts or of a server's files, instruction files such as CLAUDE.md, decision records (ADRs), notes of basic-memory,
/// exports of claude-mem, and transcripts of Claude Code and Codex. Heirloom recognises each file by its content. Every text passes the gate. Memories that
/// exist already stay as they are, so you can run the same import again; an interrupted one continues where it stopped. Of transcripts it keeps the
/// assistant's messages of several lines as notes, never its reasoning.
///
/// `heirloom import auto` looks for what your coding agents already know about the project: CLAUDE.md, AGENTS.md, GEMINI.md and rules of other agents, decision
/// records, Claude Code's auto memory and transcripts, Codex's memories and transcripts, an earlier memory folder. It lists each memory it would save with its
/// kind and where it comes from, lets you drop or edit some, and asks. A statement that lacks a field of its kind becomes a note, word for word. `--left-out`
/// shows every line it leaves out, and why.
#[derive(Debug, clap::Args)]
pub(crate) struct Import {
    /// Files or folders, also a whole `.claude/memory`; `-` is an archive on standard input; or the word `auto`
    #[arg(required = true)]
    pub(crate) paths: Vec<PathBuf>,

    /// Show what would be imported and what would be refused, and import nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// For an archive: the memories of every user; only for the account that owns the store
    #[arg(long)]
    pub(crate) all_users: bool,

    /// For an archive: also memories that were removed here
    #[arg(long)]
    pub(crate) even_removed: bool,

    /// For an archive from elsewhere: keep the trust it says; only a person at a terminal can do this
    #[arg(long)]
    pub(crate) vouch: bool,

    /// Show each line that is left out, with the reason
    #[arg(long)]
    pub(crate) left_out: bool,

    /// Do not ask (only `import auto` asks)
    #[arg(long, short)]
    pub(crate) yes: bool,
}

impl Import {
    /// Whether what is there should be found first. A file of that name is `./auto`.
    pub(crate) fn is_auto(&self) -> bool {
        matches!(self.paths.as_slice(), [only] if only.as_os_str() == "auto")
    }
}

/// Export memories as files
///
/// Each shelf is written in its own format. A person gets everything. A program does not get files with text that the gate would refuse, nor lines of the vault
/// that belong to other agents; they are named instead.
///
/// Your turns and facts are not files of the project. `--shelf tiers` writes them to an archive, JSON Lines with checksums, which `heirloom import` reads, also into
/// another database: `heirloom export --shelf tiers | heirloom --database postgres://… import -`.
#[derive(Debug, clap::Args)]
pub(crate) struct Export {
    /// records, topics, notes or vault (without this option all of them), or tiers
    #[arg(long)]
    pub(crate) shelf: Option<String>,

    /// A new or empty folder, for the tiers a file; without it a vault or an archive is printed
    #[arg(long, value_name = "PATH")]
    pub(crate) to: Option<PathBuf>,

    /// With --shelf tiers: of every user; only for the account that owns the store
    #[arg(long)]
    pub(crate) all_users: bool,

    /// With --shelf tiers: of this user, with the user's audit, token hashes and drafts; needs the scope `admin`
    #[arg(long, value_name = "NAME", conflicts_with = "all_users")]
    pub(crate) user: Option<String>,

    /// Also retired memories and earlier versions of the vault
    #[arg(long)]
    pub(crate) retired: bool,
}

/// Exchange lessons with the external memory
///
/// Shows what would be copied in each direction. Copies nothing without --apply.
#[derive(Debug, clap::Args)]
pub(crate) struct Sync {
    /// Copy what is shown
    #[arg(long)]
    pub(crate) apply: bool,
}

/// Remove old versions and retired memories from the vault file
#[derive(Debug, clap::Args)]
pub(crate) struct Compact {
    /// Show how much would be removed and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

//! What can be typed about coding agents: setting them up, checking the chain, looking at what hooks did.

/// Let the coding agents on this machine use the memory
///
/// Finds Claude Code, Codex CLI, Gemini CLI and OpenCode, shows the exact change of each settings file, asks once, and writes. Everything else
/// in those files keeps its bytes. `--uninstall` takes it back: a file that nobody changed since is as it was before, to the byte.
#[derive(Debug, clap::Args)]
pub(crate) struct Setup {
    /// Only this agent: claude-code, codex, gemini or opencode; repeat it
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Vec<String>,

    /// In the project's own settings, for everybody who works on it, instead of yours
    #[arg(long)]
    pub(crate) shared: bool,

    /// Let the hooks act in every folder, also where there is no memory
    #[arg(long, conflicts_with = "uninstall")]
    pub(crate) everywhere: bool,

    /// Also keep the assistant's longer messages as notes (sets notes.capture in your settings)
    #[arg(long, conflicts_with = "uninstall")]
    pub(crate) notes: bool,

    /// Take the hooks out again
    #[arg(long)]
    pub(crate) uninstall: bool,

    /// Show the changes and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// Check every link of the chain from agent to memory
///
/// Program, agents' settings, trust, store, index, latest hook runs, and a memory that is written and recalled in a temporary project. Each
/// problem comes with what to do. Ends with 1 if something does not work.
#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {}

/// Show what the latest hook runs saw, gave or kept, and why
///
/// The trace holds sizes, ids and reasons, never the text of a prompt or a memory.
#[derive(Debug, clap::Args)]
pub(crate) struct Last {
    /// How many runs, the newest
    #[arg(long, short = 'n', value_name = "COUNT", default_value_t = 10)]
    pub(crate) limit: usize,

    /// Only runs of this hook, for example prompt or stop
    #[arg(long)]
    pub(crate) hook: Option<String>,
}

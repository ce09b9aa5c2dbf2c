//! What can be typed about coding agents: setting them up, checking the chain, looking at what hooks did.

/// Connect the coding agents on this machine to the memory
///
/// Finds Claude Code, Codex CLI, Gemini CLI, OpenCode, Copilot CLI, Cursor, VS Code, Zed, Claude Desktop and Windsurf. The first five get hooks; the last six
/// get the MCP server `heirloom mcp`, and VS Code, Zed and Windsurf a short rules file. For each it shows which files change, in a line each, and asks; `d`
/// shows the exact changes. Whether the assistant's longer messages are kept is a question of its own. Everything else in those files keeps its bytes. `--uninstall`
/// takes it back: a file that nobody changed since is restored to the byte.
///
/// The hook at a stop may hold the agent to ask for something worth saving, at most once per session and finding. `heirloom config set --user triage.enabled
/// false` turns that off.
#[derive(Debug, clap::Args)]
pub(crate) struct Setup {
    /// Only this agent: claude-code, codex, gemini, opencode, copilot, cursor, vscode, zed, claude-desktop or windsurf; can be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Vec<String>,

    /// Change the project's settings, for everybody who works on it, instead of your own
    #[arg(long)]
    pub(crate) shared: bool,

    /// Let the hooks act in every folder, not only in projects with a memory
    #[arg(long, conflicts_with = "uninstall")]
    pub(crate) everywhere: bool,

    /// Also keep the assistant's longer messages as notes (sets notes.capture in your settings)
    #[arg(long, conflicts_with = "uninstall")]
    pub(crate) notes: bool,

    /// Remove the hooks
    #[arg(long)]
    pub(crate) uninstall: bool,

    /// With --uninstall: also remove everything else Heirloom made: merge driver, pre-commit hook, your data and settings
    #[arg(long, requires = "uninstall", conflicts_with_all = ["agent", "shared"])]
    pub(crate) purge: bool,

    /// Show the exact changes instead of a line for each file
    #[arg(long)]
    pub(crate) diff: bool,

    /// Show what would change and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// Check that agents and memory work together
///
/// Checks the program, the agents' settings, the store, the index and the latest hook runs, and saves and recalls a memory in a temporary project. Each
/// problem comes with what to do. Exits with 1 if something does not work.
#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {}

/// Show what the latest hook runs did, and why
///
/// The trace holds sizes, ids and reasons, never the text of a prompt or a memory.
#[derive(Debug, clap::Args)]
pub(crate) struct Last {
    /// At most this many, newest first
    #[arg(long, short = 'n', value_name = "COUNT", default_value_t = 10)]
    pub(crate) limit: usize,

    /// Only runs of this hook, for example prompt or stop
    #[arg(long)]
    pub(crate) hook: Option<String>,
}

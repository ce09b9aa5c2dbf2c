//! The one table of environment variables.
//!
//! Comes in: the process's environment. Goes out: values by meaning. Never anywhere else: a look at the environment.

#![allow(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]

use heirloom_agents::Agent;
use heirloom_agents::table::Client;
use std::ffi::OsString;
use std::path::PathBuf;

/// A row of the table, for the reference page.
pub(crate) struct Variable {
    pub(crate) name: &'static str,
    pub(crate) meaning: &'static str,
}

const fn variable(name: &'static str, meaning: &'static str) -> Variable {
    Variable { name, meaning }
}

/// Prefix of variables that set a setting.
pub(crate) const SETTING_PREFIX: &str = "HEIRLOOM_SET_";

/// All variables that Heirloom reads.
pub(crate) const VARIABLES: &[Variable] = &[
    variable(
        "HEIRLOOM_SET_<KEY>",
        "sets a setting; `__` stands for a dot: HEIRLOOM_SET_RETRIEVAL__MAX_INJECT=3",
    ),
    variable("XDG_CONFIG_HOME", "your own settings are in heirloom/config.json below it (else ~/.config)"),
    variable(
        "XDG_DATA_HOME",
        "what Heirloom knows about your projects is in heirloom/ below it (else ~/.local/share)",
    ),
    variable("HOME", "your home folder"),
    variable("PATH", "where `setup` and `doctor` look for this program and for coding agents"),
    variable("CLAUDE_CONFIG_DIR", "Claude Code's folder (else ~/.claude)"),
    variable("CODEX_HOME", "Codex's folder (else ~/.codex)"),
    variable("COPILOT_HOME", "Copilot CLI's folder (else ~/.copilot)"),
    variable(
        "CI",
        "set by build servers; unless it is `false` or `0`, hooks never hold a stop of an agent without a terminal",
    ),
    variable("TMPDIR", "the folder for temporary files; input files may come from it and from /tmp"),
    variable("NO_COLOR", "turns colours off if it is set and not empty"),
    variable("CLICOLOR_FORCE", "turns colours on even if the output is not a terminal"),
    variable("TERM", "`dumb` means no colours and no pager"),
    variable(
        "HEIRLOOM_PAGER, PAGER",
        "the program that shows long answers at a terminal; `cat` turns it off (else less)",
    ),
    variable("LESS", "options of less; `FRX` if it is not set"),
    variable("HEIRLOOM_QUIET", "if it is set, long commands do not report that they are still working"),
    variable(
        "HEIRLOOM_LOG",
        "what Heirloom does, step by step and without content, on standard error: error, warn, info, debug or trace; `serve` writes a JSON object per line; hooks ignore it",
    ),
    variable("VISUAL, EDITOR", "the editor that `edit` starts"),
    variable(
        "CLAUDE_PROJECT_DIR, GEMINI_PROJECT_DIR",
        "the project that `mcp` serves, where the coding agent that starts it says so",
    ),
    variable(
        "HEIRLOOM_DATABASE_URL",
        "keeps the tiers in this PostgreSQL database: postgres://user@host/name",
    ),
    variable(
        "HEIRLOOM_TOKEN",
        "act as the user this token belongs to. With HEIRLOOM_DATABASE_URL it is sent to that database only",
    ),
    variable("HEIRLOOM_ADMIN_URL", "the database as its operator reaches it, for `team`"),
    variable(
        "PGPASSWORD, PGPASSFILE",
        "the password for the database, or a private file with passwords (else ~/.pgpass)",
    ),
    variable(
        "PGSERVICE, PGSERVICEFILE",
        "a service that says what the database's address leaves out, and the file it is in (else ~/.pg_service.conf)",
    ),
    variable("SSL_CERT_FILE", "certificates that are trusted in addition to the system's"),
];

/// Variables that coding agents set in the commands they run. With one of them set nobody counts as a person.
pub(crate) const AGENT_VARIABLES: &[&str] = &[
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CODEX_THREAD_ID",
    "GEMINI_CLI",
    "OPENCODE",
    "OPENCODE_CLIENT",
    "CURSOR_AGENT",
    "CURSOR_TRACE_ID",
    "COPILOT_AGENT",
    "COPILOT_CLI",
    "AIDER_MODEL",
    "CLINE_ACTIVE",
    "WINDSURF_AGENT",
    "GOOSE_TERMINAL",
    "AMP_THREAD_ID",
    "QWEN_CODE",
    "AGENT",
    "AI_AGENT",
];

/// Variables in which coding agents say which project a program they start belongs to.
#[cfg(feature = "server")]
const PROJECT_VARIABLES: &[&str] = &["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR"];

/// The project folder that a coding agent says, if there is one there.
#[cfg(feature = "server")]
pub(crate) fn project() -> Option<PathBuf> {
    let named = PROJECT_VARIABLES.iter().filter_map(|name| var(name)).map(PathBuf::from);
    named.into_iter().find(|folder| folder.is_absolute() && folder.is_dir())
}

fn var(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

pub(crate) fn text(name: &str) -> Option<String> {
    var(name).map(|value| value.to_string_lossy().into_owned())
}

/// The user token, if the variable is there at all: somebody who set it to nothing did not ask to be somebody else.
pub(crate) fn token() -> Option<String> {
    std::env::var_os("HEIRLOOM_TOKEN").map(|value| value.to_string_lossy().into_owned())
}

/// A path that a variable names, else a file in the home folder.
pub(crate) fn file_or(name: &str, at_home: &str) -> Option<PathBuf> {
    var(name).map(PathBuf::from).or_else(|| Some(home()?.join(at_home)))
}

pub(crate) fn home() -> Option<PathBuf> {
    var("HOME").map(PathBuf::from)
}

fn below_home(variable: &str, inside: &str) -> PathBuf {
    // The XDG rules: a relative value counts as not set.
    let given = var(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    given
        .or_else(|| home().map(|home| home.join(inside)))
        // Nobody's home: a place that reads as empty and in which not even root can make a folder.
        .unwrap_or_else(|| PathBuf::from("/dev/null"))
        .join("heirloom")
}

/// The folder of the user's own settings.
pub(crate) fn config_folder() -> PathBuf {
    below_home("XDG_CONFIG_HOME", ".config")
}

/// The folder of what is known about projects.
pub(crate) fn data_folder() -> PathBuf {
    below_home("XDG_DATA_HOME", ".local/share")
}

/// The folder an agent keeps its things in, whether or not it is there.
pub(crate) fn agent_folder(agent: &Agent) -> Option<PathBuf> {
    let moved = agent.moved_by.and_then(|moved| {
        let folder = var(moved.variable).map(PathBuf::from).filter(|path| path.is_absolute())?;
        Some(if moved.inside.is_empty() { folder } else { folder.join(moved.inside) })
    });
    moved.or_else(|| Some(home()?.join(agent.home_folder)))
}

/// The folder of a program that starts MCP servers.
pub(crate) fn client_folder(client: &Client) -> Option<PathBuf> {
    let moved = client.moved_by().and_then(|moved| {
        let folder = var(moved.variable).map(PathBuf::from).filter(|path| path.is_absolute())?;
        Some(if moved.inside.is_empty() { folder } else { folder.join(moved.inside) })
    });
    moved.or_else(|| Some(home()?.join(client.home_folder())))
}

/// What an agent says of itself in the environment of its hooks.
pub(crate) fn of_agent(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Whether this runs on a build server.
pub(crate) fn is_build_server() -> bool {
    text("CI").is_some_and(|value| !matches!(value.to_ascii_lowercase().as_str(), "false" | "0" | "no"))
}

/// How this program was called, if by a path; a hook's line names the one that was installed.
pub(crate) fn called_as() -> Option<PathBuf> {
    let path = PathBuf::from(std::env::args_os().next()?);
    path.is_absolute().then_some(path).or_else(|| own_program().ok())
}

/// The first program of a name on the search path.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    find_programs(name).into_iter().next()
}

/// The programs of a name on the search path, in its order.
pub(crate) fn find_programs(name: &str) -> Vec<PathBuf> {
    let folders: Vec<PathBuf> =
        var("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    let runs = |path: &PathBuf| {
        path.is_absolute() && path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
    };
    folders.into_iter().map(|folder| folder.join(name)).filter(runs).collect()
}

/// What this program was started with.
pub(crate) fn words() -> Vec<OsString> {
    std::env::args_os().skip(1).collect()
}

/// This program's own file.
pub(crate) fn own_program() -> std::io::Result<PathBuf> {
    std::env::current_exe()
}

/// Settings given as variables: dotted name and text.
pub(crate) fn settings() -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| {
            let name = name.to_str()?.strip_prefix(SETTING_PREFIX)?.to_lowercase().replace("__", ".");
            Some((name, value.to_str()?.to_owned()))
        })
        .collect();
    found.sort();
    found
}

/// Whether a variable says where the memory is.
pub(crate) fn names_memory() -> bool {
    var("HEIRLOOM_SET_MEMORY_ROOT").is_some()
}

/// The first agent variable that is set.
pub(crate) fn agent() -> Option<&'static str> {
    AGENT_VARIABLES.iter().copied().find(|name| var(name).is_some())
}

pub(crate) fn temp_folder() -> PathBuf {
    std::env::temp_dir()
}

/// The folder in which drafting models look for files of well-known names.
pub(crate) const SHARED_TEMP: &str = "/tmp";

/// Where this user's passing files go: the folder `TMPDIR` names, if it is one and not the whole machine.
pub(crate) fn private_temp() -> PathBuf {
    let named = temp_folder();
    let usable = named.is_absolute() && named.parent().is_some() && named.is_dir();
    if usable { named } else { PathBuf::from(SHARED_TEMP) }
}

pub(crate) fn current_folder() -> std::io::Result<PathBuf> {
    std::env::current_dir()
}

/// The operating system's account. A variable such as `USER` is anybody's to set, so it is not asked.
pub(crate) fn user() -> String {
    let uid = rustix::process::getuid().as_raw();
    let known = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name_of = |line: &str| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then(|| name.to_owned())
    };
    known.lines().find_map(name_of).unwrap_or_else(|| format!("uid-{uid}"))
}

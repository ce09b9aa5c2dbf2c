//! What there is to know about a command before it runs: whether it is spoken of when it takes long, whether its answer is read page by page, whose it is.

use super::{Command, ConfigAction, VaultAction};
use heirloom_agents::table::CLAUDE_CODE;

impl Command {
    /// Whether it is to be said of this command that the database could not be reached. Hooks and the doctor say it in their own way.
    pub(crate) fn speaks_of_the_database(&self) -> bool {
        !matches!(self, Command::Hook(_) | Command::Doctor(_))
    }

    /// The name under which a long run of this command is spoken of; nothing for what programs and agents run, and for what talks by itself.
    pub(crate) fn name_if_watched(&self) -> Option<&'static str> {
        Some(match self {
            Command::Add(_) => "add",
            Command::Remember(_) => "remember",
            Command::Search(_) => "search",
            Command::Show(_) => "show",
            Command::List(_) => "list",
            Command::Recall(_) => "recall",
            Command::Retire(_) => "retire",
            Command::Restore(_) => "restore",
            Command::Forget(_) => "forget",
            Command::Clear(_) => "clear",
            Command::Undo(_) => "undo",
            Command::Review(_) => "review",
            Command::Trust(_) => "trust",
            Command::Convert(_) => "convert",
            Command::Import(_) => "import",
            Command::Export(_) => "export",
            Command::Sync(_) => "sync",
            Command::Compact(_) => "compact",
            Command::Audit(_) => "audit",
            Command::Status => "status",
            Command::Gc(_) => "gc",
            Command::Verify(_) => "verify",
            Command::Scan(_) => "scan",
            Command::Doctor(_) => "doctor",
            Command::Model(_) => "model",
            Command::Init(_) => "init",
            Command::Anchor(_) => "anchor",
            Command::History(_) => "history",
            Command::Brief(_) => "brief",
            Command::User(_) => "user",
            Command::Lesson(_) => "lesson",
            Command::Note(_) => "note",
            Command::Vault(_) => "vault",
            _ => return None,
        })
    }

    /// Whether a person may want to read the answer page by page.
    pub(crate) fn is_read(&self) -> bool {
        match self {
            Command::Help(_)
            | Command::Show(_)
            | Command::List(_)
            | Command::Search(_)
            | Command::Audit(_)
            | Command::History(_)
            | Command::Log(_)
            | Command::Last(_)
            | Command::Anchor(_)
            | Command::Lesson(_)
            | Command::Note(_) => true,
            Command::Config(config) => matches!(config.action, ConfigAction::List),
            Command::Undo(undo) => undo.list,
            _ => false,
        }
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

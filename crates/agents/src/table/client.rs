//! Programs that come to the memory by MCP: where each keeps its list of servers, and the rules file it reads.
//!
//! Comes in: nothing. Goes out: rows. All of it was read in the published documentation of each program; none of them was run here. Never here: hooks,
//! which are in the table of agents; two programs are in both.

use super::Moved;

/// A program that starts MCP servers.
#[derive(Debug, Clone, Copy)]
pub struct Client {
    /// The word after `--agent`.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// The file with the user's servers, from its own folder.
    pub user_file: &'static str,
    /// The file with a project's servers, from the project folder; empty if it reads none.
    pub project_file: &'static str,
    /// The object in that file that holds the servers.
    pub key: &'static str,
    /// What an entry has beside the command and its arguments, as a JSON text.
    pub with: &'static str,
    /// Its folder in the home folder, which shows that it is used here: on Linux, on macOS.
    pub home_folder: [&'static str; 2],
    /// The command that starts it; empty if there is none.
    pub program: &'static str,
    /// What moves that folder, if something does. Where the folders of the two systems differ, only on Linux.
    pub moved_by: Option<Moved>,
    /// The rules file it reads, where it can be told nothing at a prompt.
    pub rules: Option<Rules>,
}

/// A rules file.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// The user's, from the client's own folder; empty if it reads none.
    pub user_file: &'static str,
    /// The project's, from the project folder. The first that exists is taken, or else the first.
    pub project_files: &'static [&'static str],
    /// What a file that is ours alone begins with.
    pub head: &'static str,
}

/// Where programs on Linux keep settings, if somebody says.
const CONFIG: &str = "XDG_CONFIG_HOME";

const INSTRUCTIONS: &str = "---\napplyTo: \"**\"\n---\n";

/// VS Code, with the agents of Copilot Chat.
pub const VS_CODE: Client = Client {
    name: "vscode",
    title: "VS Code",
    user_file: "mcp.json",
    project_file: ".vscode/mcp.json",
    key: "servers",
    with: r#"{"type":"stdio"}"#,
    home_folder: [".config/Code/User", "Library/Application Support/Code/User"],
    program: "code",
    moved_by: Some(Moved { variable: CONFIG, inside: "Code/User" }),
    rules: Some(Rules {
        user_file: "prompts/heirloom.instructions.md",
        project_files: &[".github/instructions/heirloom.instructions.md"],
        head: INSTRUCTIONS,
    }),
};

/// Zed. It reads only the first rules file it finds, so ours goes into that one and never in front of it.
pub const ZED: Client = Client {
    name: "zed",
    title: "Zed",
    user_file: "settings.json",
    project_file: ".zed/settings.json",
    key: "context_servers",
    with: r#"{"source":"custom","env":{}}"#,
    home_folder: [".config/zed", ".config/zed"],
    program: "zed",
    moved_by: Some(Moved { variable: CONFIG, inside: "zed" }),
    rules: Some(Rules {
        user_file: "",
        project_files: &[
            ".rules",
            ".cursorrules",
            ".windsurfrules",
            ".clinerules",
            ".github/copilot-instructions.md",
            "AGENT.md",
            "AGENTS.md",
            "CLAUDE.md",
            "GEMINI.md",
        ],
        head: "",
    }),
};

/// Claude Desktop. It reads no rules file.
pub const CLAUDE_DESKTOP: Client = Client {
    name: "claude-desktop",
    title: "Claude Desktop",
    user_file: "claude_desktop_config.json",
    project_file: "",
    key: "mcpServers",
    with: "{}",
    home_folder: [".config/Claude", "Library/Application Support/Claude"],
    program: "",
    moved_by: Some(Moved { variable: CONFIG, inside: "Claude" }),
    rules: None,
};

/// Windsurf.
pub const WINDSURF: Client = Client {
    name: "windsurf",
    title: "Windsurf",
    user_file: "mcp_config.json",
    project_file: "",
    key: "mcpServers",
    with: "{}",
    home_folder: [".codeium/windsurf", ".codeium/windsurf"],
    program: "windsurf",
    moved_by: None,
    rules: Some(Rules {
        user_file: "memories/global_rules.md",
        project_files: &[".windsurf/rules/heirloom.md"],
        head: "---\ntrigger: always_on\n---\n",
    }),
};

/// Copilot CLI, beside its hooks, which tell it at each prompt what a rules file would.
pub const COPILOT_MCP: Client = Client {
    name: "copilot",
    title: "Copilot CLI",
    user_file: "mcp-config.json",
    project_file: "",
    key: "mcpServers",
    with: r#"{"type":"local","tools":["*"]}"#,
    home_folder: [".copilot", ".copilot"],
    program: "copilot",
    moved_by: Some(Moved { variable: "COPILOT_HOME", inside: "" }),
    rules: None,
};

/// Cursor, beside the hooks it takes over from Claude Code.
pub const CURSOR_MCP: Client = Client {
    name: "cursor",
    title: "Cursor",
    user_file: "mcp.json",
    project_file: ".cursor/mcp.json",
    key: "mcpServers",
    with: "{}",
    home_folder: [".cursor", ".cursor"],
    program: "cursor-agent",
    moved_by: None,
    rules: None,
};

/// All of them, in the order they are shown.
pub const CLIENTS: [&Client; 6] = [&COPILOT_MCP, &CURSOR_MCP, &VS_CODE, &ZED, &CLAUDE_DESKTOP, &WINDSURF];

/// Which of two paths counts on this machine.
const fn here() -> usize {
    if cfg!(target_os = "macos") { 1 } else { 0 }
}

impl Client {
    /// The client of that name.
    pub fn named(name: &str) -> Option<&'static Client> {
        CLIENTS.into_iter().find(|client| client.name == name)
    }

    /// Its folder, from the home folder.
    pub fn home_folder(&self) -> &'static str {
        self.home_folder[here()]
    }

    /// What moves that folder on this machine.
    pub fn moved_by(&self) -> Option<Moved> {
        self.moved_by.filter(|moved| moved.variable != CONFIG || here() == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_is_found_by_its_name_and_is_called_as_the_agent_it_is() {
        for client in CLIENTS {
            assert_eq!(Client::named(client.name).map(|found| found.title), Some(client.title));
            assert!(!client.user_file.is_empty() && !client.user_file.starts_with('/'));
            assert!(serde_json::from_str::<serde_json::Value>(client.with).unwrap().is_object());
            if let Some(agent) = crate::table::Agent::named(client.name) {
                assert_eq!(agent.title, client.title);
            }
        }
    }
}

//! The one table of agents: a constant each, with their names for events, fields and tools, and where they keep settings.
//!
//! Comes in: nothing. Goes out: rows. Facts are what the published agents did when they were run (`cargo xtask hosts`); `version` says which. A new agent
//! is a new constant here and, if it answers in new words, a module in [`crate::reply`].

mod client;
mod moment;

pub use client::{CLIENTS, Client, Rules};
pub use moment::Moment;

/// A hook of an agent.
#[derive(Debug, Clone, Copy)]
pub struct Hook {
    /// When it runs.
    pub moment: Moment,
    /// The agent's name for it.
    pub event: &'static str,
    /// Which tools it runs for; empty where the agent takes no matcher.
    pub matcher: &'static str,
}

/// A tool that writes, and which fields of its input say what.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// The agent's name for it.
    pub name: &'static str,
    /// Where the target is.
    pub target: ToolTarget,
}

/// Where a tool's input says what it writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolTarget {
    /// A path in this field.
    Path(&'static str),
    /// A shell command in this field.
    Command(&'static str),
    /// A patch in this field, with `*** Add File: path` lines.
    Patch(&'static str),
}

/// How an agent takes answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Plain text is context, exit code 2 blocks, objects may hold more than is read.
    ClaudeCode,
    /// The same words, but unknown ones make the answer invalid.
    Codex,
    /// JSON only; `deny` instead of `block`.
    Gemini,
    /// Our own plugin reads the answer.
    OpenCode,
    /// Claude Code's words, but context stands at the top of the answer.
    Copilot,
    /// JSON with words of its own.
    Cursor,
}

/// How an agent's settings take hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Install {
    /// A JSON file with a `hooks` object: event names to lists of `{matcher, hooks: […]}`.
    HooksObject {
        /// Timeouts are written in these.
        unit: TimeUnit,
        /// Whether a hook may say what is shown while it runs.
        status_message: bool,
        /// Whether a hook has a name.
        named: bool,
    },
    /// A file of ours in the agent's plugin folder.
    PluginFile,
    /// A file of ours in the agent's folder of hooks: event names to lists of command lines.
    HooksFile,
}

/// A variable that moves an agent's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moved {
    /// Its name.
    pub variable: &'static str,
    /// Where the agent's folder is below its value; empty if the value is the folder itself.
    pub inside: &'static str,
}

/// How an agent shows that a person watches the session. A hook that finds no such sign takes the session for an unattended one: a script that
/// waits for an answer must not get ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attended {
    /// A variable of the hook's environment has a value; where the agent does not set it, an older variable does.
    Variable {
        /// The variable and the value that means yes.
        is: (&'static str, &'static str),
        /// The same for versions that do not set the first.
        or: (&'static str, &'static str),
    },
    /// The first line of the transcript has one of these texts at this JSON pointer.
    Transcript {
        /// Where.
        at: &'static str,
        /// What stands there if a person watches.
        is: &'static [&'static str],
    },
    /// The agent's own process reads from and writes to a terminal, and its command line has none of these words.
    Terminal {
        /// Words that ask for one answer and no conversation.
        without: &'static [&'static str],
    },
    /// Our own plugin says so, in this field of what it sends.
    Field(&'static str),
}

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "they say it themselves")]
pub enum TimeUnit {
    Seconds,
    Milliseconds,
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Agent {
    /// The word after `--agent`.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// The version its facts were read from.
    pub version: &'static str,
    /// Its hooks.
    pub hooks: &'static [Hook],
    /// Its tools that write.
    pub tools: &'static [Tool],
    /// Fields of a tool's input that name the folder it works in; relative ones start from the call's own.
    pub tool_folders: &'static [&'static str],
    /// How it takes answers.
    pub dialect: Dialect,
    /// Most characters of context it takes before it swaps them for a file.
    pub context_max: usize,
    /// How its settings take hooks.
    pub install: Install,
    /// The settings file for one user, from the home folder.
    pub user_file: &'static str,
    /// The settings file for one project, from the project folder.
    pub project_file: &'static str,
    /// A folder in the home folder that shows the agent is used on this machine. The user's settings file lies in it.
    pub home_folder: &'static str,
    /// Where in that folder it writes its transcripts; empty if it writes none there.
    pub transcripts: &'static str,
    /// What moves that folder, if something does.
    pub moved_by: Option<Moved>,
    /// The command that starts the agent.
    pub program: &'static str,
    /// Variables the agent sets for the programs it starts.
    pub marks: &'static [&'static str],
    /// Whether it is given our skill, by `setup` or with the plugin.
    pub has_skill: bool,
    /// Whether the user must approve hooks in the agent before it runs them.
    pub asks_for_trust: bool,
    /// How it shows that a person watches the session.
    pub attended: Attended,
    /// Whether it takes standard error for an answer where standard output is empty.
    pub reads_errors: bool,
    /// Whether its event before a compaction means that one happens. One of them asks before every request to its model.
    pub compaction_is_certain: bool,
    /// Whether a session that is taken up again lacks what hooks had given the model: then it is given again.
    pub forgets_at_resume: bool,
}

/// The name of Claude Code's plugin. The host puts it before the names of commands, so this one gives them the names they have in the record
/// format: `/memory:save`.
pub(crate) const PLUGIN: &str = "memory";

/// The name of the catalogue the plugin is in.
pub(crate) const CATALOGUE: &str = "heirloom";

const CLAUDE_WRITES: &str = "Write|Edit|MultiEdit|NotebookEdit|Bash";
const CODEX_WRITES: &str = "Bash|apply_patch";
const GEMINI_WRITES: &str = "write_file|replace|run_shell_command";
/// The same, and the tools of other servers: nobody can say beforehand what those write, but afterwards the memory folder shows it.
const CLAUDE_WROTE: &str = "Write|Edit|MultiEdit|NotebookEdit|Bash|mcp__.*";
const CODEX_WROTE: &str = "Bash|apply_patch|mcp__.*";
const GEMINI_WROTE: &str = "write_file|replace|run_shell_command|mcp_.*";

const fn hook(moment: Moment, event: &'static str, matcher: &'static str) -> Hook {
    Hook { moment, event, matcher }
}

const fn tool(name: &'static str, target: ToolTarget) -> Tool {
    Tool { name, target }
}

/// Claude Code. What a hook gives is a system message to its model. A stop that ends with 2 is shown as an error, one that gives context is not. It
/// says of every session whether somebody attends it, and after a shell command which files changed meanwhile.
pub const CLAUDE_CODE: Agent = Agent {
    name: "claude-code",
    title: "Claude Code",
    version: "2.1.325",
    hooks: &[
        hook(Moment::SessionStart, "SessionStart", ""),
        hook(Moment::Prompt, "UserPromptSubmit", ""),
        hook(Moment::PreWrite, "PreToolUse", CLAUDE_WRITES),
        hook(Moment::PostWrite, "PostToolUse", CLAUDE_WROTE),
        hook(Moment::Stop, "Stop", ""),
        hook(Moment::PreCompact, "PreCompact", ""),
        hook(Moment::SessionEnd, "SessionEnd", ""),
    ],
    tools: &[
        tool("Write", ToolTarget::Path("file_path")),
        tool("Edit", ToolTarget::Path("file_path")),
        tool("MultiEdit", ToolTarget::Path("file_path")),
        tool("NotebookEdit", ToolTarget::Path("notebook_path")),
        tool("Bash", ToolTarget::Command("command")),
    ],
    tool_folders: &["cwd", "workdir"],
    dialect: Dialect::ClaudeCode,
    context_max: 10_000,
    install: Install::HooksObject { unit: TimeUnit::Seconds, status_message: true, named: false },
    user_file: ".claude/settings.json",
    project_file: ".claude/settings.json",
    home_folder: ".claude",
    transcripts: "projects",
    moved_by: Some(Moved { variable: "CLAUDE_CONFIG_DIR", inside: "" }),
    program: "claude",
    marks: &["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"],
    has_skill: true,
    asks_for_trust: false,
    attended: Attended::Variable {
        is: ("CLAUDE_CODE_SESSION_ATTENDED", "1"),
        or: ("CLAUDE_CODE_ENTRYPOINT", "cli"),
    },
    reads_errors: false,
    compaction_is_certain: true,
    forgets_at_resume: false,
};

/// Codex CLI. What a hook gives is a developer message. The text of a held stop comes back as an escaped `<hook_prompt>` in the user's name. All
/// models that come with it but one call tools from JavaScript; hooks see the tools inside.
pub const CODEX: Agent = Agent {
    name: "codex",
    title: "Codex CLI",
    version: "0.166.0",
    hooks: &[
        hook(Moment::SessionStart, "SessionStart", ""),
        hook(Moment::Prompt, "UserPromptSubmit", ""),
        hook(Moment::PreWrite, "PreToolUse", CODEX_WRITES),
        hook(Moment::PostWrite, "PostToolUse", CODEX_WROTE),
        hook(Moment::Stop, "Stop", ""),
        hook(Moment::PreCompact, "PreCompact", ""),
        hook(Moment::SessionEnd, "SessionEnd", ""),
    ],
    tools: &[
        tool("Bash", ToolTarget::Command("command")),
        tool("apply_patch", ToolTarget::Patch("command")),
        tool("apply_patch", ToolTarget::Patch("input")),
    ],
    tool_folders: &["workdir", "cwd"],
    dialect: Dialect::Codex,
    // About 2,500 tokens.
    context_max: 8_000,
    install: Install::HooksObject { unit: TimeUnit::Seconds, status_message: true, named: false },
    user_file: ".codex/hooks.json",
    project_file: ".codex/hooks.json",
    home_folder: ".codex",
    transcripts: "sessions",
    moved_by: Some(Moved { variable: "CODEX_HOME", inside: "" }),
    program: "codex",
    marks: &["CODEX_SANDBOX", "CODEX_THREAD_ID"],
    has_skill: false,
    asks_for_trust: true,
    attended: Attended::Transcript { at: "/payload/source", is: &["cli", "vscode"] },
    reads_errors: false,
    compaction_is_certain: true,
    forgets_at_resume: false,
};

/// Gemini CLI. What a hook gives stands HTML-escaped in the prompt, and the text of a held stop arrives as a prompt. Any exit code but 0 and 1 with
/// a text on standard error is a refusal; standard error is read as an answer where standard output is empty.
pub const GEMINI: Agent = Agent {
    name: "gemini",
    title: "Gemini CLI",
    version: "0.61.0",
    hooks: &[
        hook(Moment::SessionStart, "SessionStart", ""),
        hook(Moment::Prompt, "BeforeAgent", ""),
        hook(Moment::PreWrite, "BeforeTool", GEMINI_WRITES),
        hook(Moment::PostWrite, "AfterTool", GEMINI_WROTE),
        hook(Moment::Stop, "AfterAgent", ""),
        hook(Moment::PreCompact, "PreCompress", ""),
        hook(Moment::SessionEnd, "SessionEnd", ""),
    ],
    tools: &[
        tool("write_file", ToolTarget::Path("file_path")),
        tool("replace", ToolTarget::Path("file_path")),
        tool("run_shell_command", ToolTarget::Command("command")),
    ],
    tool_folders: &["dir_path", "directory"],
    dialect: Dialect::Gemini,
    context_max: 10_000,
    install: Install::HooksObject { unit: TimeUnit::Milliseconds, status_message: false, named: true },
    user_file: ".gemini/settings.json",
    project_file: ".gemini/settings.json",
    home_folder: ".gemini",
    transcripts: "tmp",
    moved_by: None,
    program: "gemini",
    marks: &["GEMINI_CLI"],
    has_skill: false,
    asks_for_trust: false,
    attended: Attended::Terminal { without: &["-p", "--prompt"] },
    reads_errors: true,
    compaction_is_certain: false,
    forgets_at_resume: true,
};

/// OpenCode. Its events reach us through a plugin of ours, so the names are the plugin's.
pub const OPENCODE: Agent = Agent {
    name: "opencode",
    title: "OpenCode",
    version: "1.18.33",
    hooks: &[
        hook(Moment::SessionStart, "session.created", ""),
        hook(Moment::Prompt, "chat.message", ""),
        hook(Moment::PreWrite, "tool.execute.before", ""),
        hook(Moment::PostWrite, "tool.execute.after", ""),
        hook(Moment::Stop, "session.idle", ""),
        hook(Moment::PreCompact, "session.compacted", ""),
    ],
    tools: &[
        tool("write", ToolTarget::Path("filePath")),
        tool("edit", ToolTarget::Path("filePath")),
        tool("bash", ToolTarget::Command("command")),
        tool("patch", ToolTarget::Patch("patchText")),
        tool("apply_patch", ToolTarget::Patch("patchText")),
    ],
    tool_folders: &["workdir", "cwd"],
    dialect: Dialect::OpenCode,
    context_max: 10_000,
    install: Install::PluginFile,
    user_file: ".config/opencode/plugins/heirloom.ts",
    project_file: ".opencode/plugins/heirloom.ts",
    home_folder: ".config/opencode",
    transcripts: "",
    moved_by: Some(Moved { variable: "XDG_CONFIG_HOME", inside: "opencode" }),
    program: "opencode",
    marks: &["OPENCODE"],
    has_skill: false,
    asks_for_trust: false,
    attended: Attended::Field("attended"),
    reads_errors: false,
    compaction_is_certain: true,
    forgets_at_resume: false,
};

/// Copilot CLI. It gives its hooks Claude Code's names and fields if they are registered under Claude Code's event names; a file tool's input is
/// a patch as plain text. It also runs the hooks of a project's `.claude/settings.json`.
pub const COPILOT: Agent = Agent {
    name: "copilot",
    title: "Copilot CLI",
    version: "1.0.102",
    hooks: &[
        hook(Moment::SessionStart, "SessionStart", ""),
        hook(Moment::Prompt, "UserPromptSubmit", ""),
        hook(Moment::PreWrite, "PreToolUse", ""),
        hook(Moment::PostWrite, "PostToolUse", ""),
        hook(Moment::Stop, "Stop", ""),
        hook(Moment::SessionEnd, "SessionEnd", ""),
    ],
    tools: &[
        tool("Bash", ToolTarget::Command("command")),
        tool("bash", ToolTarget::Command("command")),
        tool("Edit", ToolTarget::Path("path")),
        tool("Edit", ToolTarget::Path("file_path")),
        tool("edit", ToolTarget::Path("path")),
        tool("Write", ToolTarget::Path("path")),
        tool("Write", ToolTarget::Path("file_path")),
        tool("create", ToolTarget::Path("path")),
        tool("apply_patch", ToolTarget::Patch("input")),
    ],
    tool_folders: &["cwd", "workdir"],
    dialect: Dialect::Copilot,
    context_max: 10_000,
    install: Install::HooksFile,
    user_file: ".copilot/hooks/heirloom.json",
    project_file: ".github/hooks/heirloom.json",
    home_folder: ".copilot",
    transcripts: "session-state",
    moved_by: Some(Moved { variable: "COPILOT_HOME", inside: "" }),
    program: "copilot",
    marks: &["COPILOT_CLI"],
    has_skill: false,
    asks_for_trust: false,
    attended: Attended::Terminal { without: &["-p", "--prompt"] },
    reads_errors: false,
    compaction_is_certain: true,
    forgets_at_resume: false,
};

/// Cursor, from its published package and documentation; not run here. It takes over the hooks of a project's `.claude/settings.json` and
/// of Claude Code's own, so that nothing is installed for it; what it sends and takes has other names.
pub const CURSOR: Agent = Agent {
    name: "cursor",
    title: "Cursor",
    version: "not run here",
    hooks: &[
        hook(Moment::SessionStart, "sessionStart", ""),
        hook(Moment::Prompt, "beforeSubmitPrompt", ""),
        hook(Moment::PreWrite, "preToolUse", ""),
        hook(Moment::PostWrite, "postToolUse", ""),
        hook(Moment::Stop, "stop", ""),
        hook(Moment::PreCompact, "preCompact", ""),
        hook(Moment::SessionEnd, "sessionEnd", ""),
    ],
    tools: &[
        tool("Write", ToolTarget::Path("file_path")),
        tool("Edit", ToolTarget::Path("file_path")),
        tool("StrReplace", ToolTarget::Path("path")),
        tool("Shell", ToolTarget::Command("command")),
        tool("Bash", ToolTarget::Command("command")),
    ],
    tool_folders: &["working_directory", "cwd"],
    dialect: Dialect::Cursor,
    context_max: 10_000,
    install: Install::HooksFile,
    user_file: ".cursor/hooks.json",
    project_file: ".cursor/hooks.json",
    home_folder: ".cursor",
    transcripts: "",
    moved_by: None,
    program: "cursor-agent",
    marks: &["CURSOR_AGENT", "CURSOR_VERSION"],
    has_skill: false,
    asks_for_trust: false,
    // Nothing tells a window from a script; so nobody is there.
    attended: Attended::Terminal { without: &["-p", "--print"] },
    reads_errors: false,
    compaction_is_certain: true,
    forgets_at_resume: false,
};

/// All agents that hooks are installed into.
pub const AGENTS: [&Agent; 5] = [&CLAUDE_CODE, &CODEX, &GEMINI, &OPENCODE, &COPILOT];

/// Agents that run hooks which were installed for another one, each with that other one and the variables that show who really calls: one that
/// must be set and one that must not.
pub const BORROWERS: [(&Agent, &Agent, &str, &str); 2] = [
    (&COPILOT, &CLAUDE_CODE, "COPILOT_CLI", "CLAUDECODE"),
    (&CURSOR, &CLAUDE_CODE, "CURSOR_VERSION", "CLAUDECODE"),
];

impl Agent {
    /// The agent of that name.
    pub fn named(name: &str) -> Option<&'static Agent> {
        AGENTS.into_iter().chain([&CURSOR]).find(|agent| agent.name == name)
    }

    /// The agent's name for a moment, if it has that moment.
    pub fn event_name(&self, moment: Moment) -> Option<&'static str> {
        self.hooks.iter().find(|hook| hook.moment == moment).map(|hook| hook.event)
    }

    /// The user's settings file, from the agent's own folder.
    pub fn file_inside(&self) -> &'static str {
        self.user_file
            .strip_prefix(self.home_folder)
            .map_or(self.user_file, |rest| rest.trim_start_matches('/'))
    }

    /// The moment of one of the agent's events.
    pub fn moment_of(&self, event: &str) -> Option<Moment> {
        self.hooks.iter().find(|hook| hook.event == event).map(|hook| hook.moment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_and_moment_is_found_by_its_name() {
        for agent in AGENTS {
            assert_eq!(Agent::named(agent.name).map(|found| found.name), Some(agent.name));
            assert_eq!(format!("{}/{}", agent.home_folder, agent.file_inside()), agent.user_file);
            for hook in agent.hooks {
                assert_eq!(agent.moment_of(hook.event), Some(hook.moment), "{} {}", agent.name, hook.event);
            }
        }
        for moment in Moment::ALL {
            assert_eq!(Moment::named(moment.name()), Some(moment));
        }
    }

    #[test]
    fn a_matcher_names_exactly_the_tools_that_write() {
        for agent in AGENTS {
            for hook in agent.hooks.iter().filter(|hook| !hook.matcher.is_empty()) {
                let mut named: Vec<&str> =
                    hook.matcher.split('|').filter(|name| !name.starts_with("mcp_")).collect();
                let mut tools: Vec<&str> = agent.tools.iter().map(|tool| tool.name).collect();
                tools.dedup();
                named.sort_unstable();
                tools.sort_unstable();
                assert_eq!(named, tools, "{}", agent.name);
            }
        }
    }
}

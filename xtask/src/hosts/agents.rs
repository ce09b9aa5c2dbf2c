//! How each published agent is installed, configured and started for a check.
//!
//! Comes in: the agents' table. Goes out: packages, settings as a user has them before Heirloom comes, command lines, tool calls in the agent's
//! own words. Never here: what our hooks do.

use crate::run::output;
use heirloom_agents::table::{AGENTS, Agent, Moment};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// An agent that can be run here.
#[derive(Clone, Copy)]
pub(super) struct Host {
    pub(super) agent: &'static Agent,
    /// Its package in the npm registry.
    package: &'static str,
}

const PACKAGES: [(&str, &str); 5] = [
    ("claude-code", "@anthropic-ai/claude-code"),
    ("codex", "@openai/codex"),
    ("gemini", "@google/gemini-cli"),
    ("opencode", "opencode-ai"),
    ("copilot", "@github/copilot"),
];

/// Claude Code writes the second of these itself, and with it the whole file anew, if it is not there.
const CLAUDE_SETTINGS: &str =
    "{\n  \"includeCoAuthoredBy\": false,\n  \"skipDangerousModePermissionPrompt\": true\n}\n";

/// Lets Codex run hooks that nobody has approved.
const TRUSTED: &str = "--dangerously-bypass-hook-trust";

/// The library OpenCode wants before it loads any plugin.
const LIBRARY: &str = "@opencode-ai/plugin";

impl Host {
    /// All that can be run. Agents without a published package are known by their documentation alone.
    pub(super) fn all() -> Vec<Host> {
        let host = |agent: &'static Agent| {
            let (_, package) = PACKAGES.iter().find(|(name, _)| *name == agent.name)?;
            Some(Host { agent, package })
        };
        AGENTS.into_iter().filter_map(host).collect()
    }

    pub(super) fn named(name: &str) -> Option<Host> {
        Host::all().into_iter().find(|host| host.agent.name == name)
    }

    pub(super) fn is(&self, name: &str) -> bool {
        self.agent.name == name
    }

    /// The models it is run with; the first is its usual one.
    pub(super) fn models(&self) -> &'static [Option<&'static str>] {
        // All of Codex's newer models call tools from JavaScript, the older one does not.
        if self.is("codex") { &[Some("gpt-5.5"), Some("gpt-6-sol")] } else { &[None] }
    }

    /// Whether it has a hook for a moment at all.
    pub(super) fn has(&self, moment: &str) -> bool {
        Moment::named(moment).is_some_and(|moment| self.agent.event_name(moment).is_some())
    }

    fn folder(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}-{}", self.agent.name, self.agent.version))
    }

    /// The folder of its commands.
    pub(super) fn programs(&self, folder: &Path) -> PathBuf {
        self.folder(folder).join("node_modules/.bin")
    }

    pub(super) fn libraries(&self, folder: &Path) -> PathBuf {
        self.folder(folder).join("node_modules")
    }

    /// Installs the version of the table, unless it is there.
    pub(super) fn install(&self, folder: &Path) -> Result<(), String> {
        if self.programs(folder).join(self.agent.program).exists() {
            return Ok(());
        }
        let to = self.folder(folder);
        std::fs::create_dir_all(&to).map_err(|e| format!("{}: {e}", to.display()))?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(&to);
        npm.arg(format!("{}@{}", self.package, self.agent.version));
        if self.is("opencode") {
            npm.arg(format!("{LIBRARY}@{}", self.agent.version));
        }
        output(&mut npm).map(drop).map_err(|why| format!("it cannot be installed from npm: {why}"))
    }

    /// Variables that point it at the model on this machine and keep it from calling home.
    pub(super) fn variables(&self, port: u16) -> Vec<(&'static str, String)> {
        let base = format!("http://127.0.0.1:{port}");
        let pairs: &[(&str, &str)] = match self.agent.name {
            "claude-code" => &[
                ("ANTHROPIC_API_KEY", "sk-ant-mock"),
                ("DISABLE_AUTOUPDATER", "1"),
                ("DISABLE_TELEMETRY", "1"),
                ("DISABLE_ERROR_REPORTING", "1"),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
                ("IS_SANDBOX", "1"),
            ],
            "codex" => &[("OPENAI_API_KEY", "sk-mock"), ("MODEL_KEY", "sk-mock")],
            "gemini" => &[("GEMINI_API_KEY", "mock"), ("GEMINI_TELEMETRY_ENABLED", "false")],
            "opencode" => &[
                ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
                ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
                ("OPENCODE_DISABLE_SHARE", "1"),
                ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
                ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
            ],
            _ => &[
                ("COPILOT_PROVIDER_API_KEY", "mock"),
                ("COPILOT_MODEL", "gpt-4"),
                ("COPILOT_AUTO_UPDATE", "false"),
            ],
        };
        let mut all: Vec<(&str, String)> =
            pairs.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        match self.agent.name {
            "claude-code" => all.push(("ANTHROPIC_BASE_URL", base)),
            "gemini" => all.push(("GOOGLE_GEMINI_BASE_URL", base)),
            "copilot" => all.push(("COPILOT_PROVIDER_BASE_URL", format!("{base}/v1"))),
            _ => {}
        }
        all
    }

    /// Its settings, as files below the home folder.
    pub(super) fn settings(
        &self,
        port: u16,
        model: Option<&str>,
        project: &Path,
    ) -> Vec<(&'static str, String)> {
        let base = format!("http://127.0.0.1:{port}/v1");
        match self.agent.name {
            "claude-code" => {
                let trusted = json!({ "hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true });
                let state = json!({ "hasCompletedOnboarding": true, "theme": "dark", "bypassPermissionsModeAccepted": true,
                    "customApiKeyResponses": { "approved": ["sk-ant-mock"], "rejected": [] },
                    "projects": { project.to_string_lossy(): trusted } });
                vec![(".claude/settings.json", CLAUDE_SETTINGS.to_owned()), (".claude.json", state.to_string())]
            }
            "codex" => {
                let model = model.unwrap_or("gpt-5.5");
                let project = project.display();
                vec![(".codex/config.toml", format!(
                    "model = \"{model}\"\nmodel_provider = \"here\"\napproval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\n\
                     check_for_update_on_startup = false\n\n[analytics]\nenabled = false\n\n[projects.\"{project}\"]\ntrust_level = \"trusted\"\n\n\
                     [model_providers.here]\nname = \"here\"\nbase_url = \"{base}\"\nenv_key = \"MODEL_KEY\"\nwire_api = \"responses\"\n\
                     request_max_retries = 0\nstream_max_retries = 0\n"))]
            }
            "gemini" => vec![(".gemini/settings.json", json!({
                "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false },
                "privacy": { "usageStatisticsEnabled": false }, "telemetry": { "enabled": false },
                "security": { "auth": { "selectedType": "gemini-api-key" }, "folderTrust": { "enabled": false } },
            }).to_string())],
            "opencode" => vec![(".config/opencode/opencode.json", json!({
                "$schema": "https://opencode.ai/config.json", "autoupdate": false, "share": "disabled",
                "model": "here/scripted", "small_model": "here/scripted", "permission": { "edit": "allow", "bash": "allow" },
                "provider": { "here": { "npm": "@ai-sdk/openai-compatible", "name": "here",
                    "options": { "baseURL": base, "apiKey": "sk-mock" },
                    "models": { "scripted": { "name": "Scripted", "tool_call": true, "limit": { "context": 200_000, "output": 8_000 } } } } },
            }).to_string())],
            _ => Vec::new(),
        }
    }

    /// One answer and no conversation.
    pub(super) fn headless(&self, prompt: &str) -> Vec<String> {
        let words: Vec<&str> = match self.agent.name {
            "claude-code" => vec!["claude", "-p", prompt, "--dangerously-skip-permissions"],
            "codex" => {
                vec!["codex", "exec", "--skip-git-repo-check", TRUSTED, prompt]
            }
            "gemini" => vec!["gemini", "-p", prompt, "-m", "gemini-2.5-flash", "--yolo"],
            "opencode" => vec!["opencode", "run", prompt],
            _ => vec!["copilot", "-p", prompt, "--allow-all", "--trust-folder"],
        };
        words.into_iter().map(str::to_owned).collect()
    }

    /// The same, in the session that was there last.
    pub(super) fn resumed(&self, prompt: &str) -> Vec<String> {
        if self.is("codex") {
            let words = ["codex", "exec", "resume", "--last", "--skip-git-repo-check", TRUSTED, prompt];
            return words.map(str::to_owned).to_vec();
        }
        let more: &[&str] = if self.is("gemini") { &["--resume", "latest"] } else { &["--continue"] };
        let mut words = self.headless(prompt);
        words.splice(words.len()..words.len(), more.iter().map(|word| (*word).to_owned()));
        words
    }

    /// One answer to what comes on standard input.
    pub(super) fn fed(&self) -> Option<Vec<String>> {
        let words: &[&str] = match self.agent.name {
            "claude-code" => &["claude", "-p", "--dangerously-skip-permissions"],
            "codex" => &["codex", "exec", "--skip-git-repo-check", TRUSTED, "-"],
            "gemini" => &["gemini", "-m", "gemini-2.5-flash", "--yolo", "-p", "Look at this"],
            "opencode" => &["opencode", "run"],
            _ => return None,
        };
        Some(words.iter().map(|word| (*word).to_owned()).collect())
    }

    /// Its own interface, and what it shows when somebody may type.
    pub(super) fn interface(&self) -> (Vec<String>, &'static str) {
        let (words, ready): (&[&str], &str) = match self.agent.name {
            "claude-code" => (&["claude", "--dangerously-skip-permissions"], "bypass permissions"),
            "codex" => (&["codex", "--no-daemon", TRUSTED], "Ask Codex"),
            "gemini" => (&["gemini", "-m", "gemini-2.5-flash", "--yolo"], "Type your message"),
            "opencode" => (&["opencode"], "Ask anything"),
            _ => (&["copilot", "--allow-all"], "/ commands"),
        };
        (words.iter().map(|word| (*word).to_owned()).collect(), ready)
    }

    /// A call of its shell, from a folder if one is named.
    pub(super) fn shell(&self, model: Option<&str>, command: &str, folder: Option<&str>) -> Value {
        let mut call = match self.agent.name {
            "claude-code" => {
                json!({ "name": "Bash", "input": { "command": command, "description": "run it" } })
            }
            "codex" if in_javascript(model) => {
                return javascript(&format!("await tools.exec_command({})", json!({ "cmd": command })));
            }
            "codex" => json!({ "name": "exec_command", "input": { "cmd": command } }),
            "gemini" => {
                json!({ "name": "run_shell_command", "input": { "command": command, "description": "run it" } })
            }
            _ => json!({ "name": "bash", "input": { "command": command, "description": "run it" } }),
        };
        let field = if self.is("gemini") { "dir_path" } else { "workdir" };
        if let Some(folder) = folder {
            call["input"][field] = json!(folder);
        }
        call
    }

    /// A call of its tool that writes a file.
    pub(super) fn write(&self, model: Option<&str>, path: &Path, text: &str) -> Value {
        let shown = path.to_string_lossy();
        let patch = format!("*** Begin Patch\n*** Add File: {shown}\n+{text}\n*** End Patch\n");
        match self.agent.name {
            "claude-code" => json!({ "name": "Write", "input": { "file_path": shown, "content": text } }),
            "codex" if in_javascript(model) => {
                javascript(&format!("await tools.apply_patch({})", json!(patch)))
            }
            "codex" => json!({ "name": "apply_patch", "custom": patch }),
            "gemini" => json!({ "name": "write_file", "input": { "file_path": shown, "content": text } }),
            "opencode" => json!({ "name": "write", "input": { "filePath": shown, "content": text } }),
            _ => json!({ "name": "apply_patch", "input": { "input": patch } }),
        }
    }
}

impl Host {
    /// A call of its tool that changes a file, and before it one that reads the file where the agent insists on that.
    pub(super) fn edit(&self, model: Option<&str>, path: &Path, old: &str, new: &str) -> Vec<Value> {
        let shown = path.to_string_lossy();
        let patch = format!("*** Begin Patch\n*** Update File: {shown}\n@@\n-{old}\n+{new}\n*** End Patch\n");
        match self.agent.name {
            "claude-code" => vec![
                json!({ "name": "Read", "input": { "file_path": shown } }),
                json!({ "name": "Edit", "input": { "file_path": shown, "old_string": old, "new_string": new } }),
            ],
            "codex" if in_javascript(model) => {
                vec![javascript(&format!("await tools.apply_patch({})", json!(patch)))]
            }
            "codex" => vec![json!({ "name": "apply_patch", "custom": patch })],
            "gemini" => vec![
                json!({ "name": "read_file", "input": { "file_path": shown } }),
                json!({ "name": "replace", "input": { "file_path": shown, "old_string": old, "new_string": new, "instruction": "change it" } }),
            ],
            "opencode" => vec![
                json!({ "name": "read", "input": { "filePath": shown } }),
                json!({ "name": "edit", "input": { "filePath": shown, "oldString": old, "newString": new } }),
            ],
            _ => vec![json!({ "name": "apply_patch", "input": { "input": patch } })],
        }
    }

    /// A call that lets a subagent answer a prompt, if the agent has them.
    pub(super) fn subagent(&self, prompt: &str) -> Option<Value> {
        Some(match self.agent.name {
            "claude-code" => {
                json!({ "name": "Agent", "input": { "description": "think", "prompt": prompt, "subagent_type": "general-purpose" } })
            }
            "gemini" => {
                json!({ "name": "invoke_agent", "input": { "agent_name": "generalist", "prompt": prompt } })
            }
            "opencode" => {
                json!({ "name": "task", "input": { "description": "think", "prompt": prompt, "subagent_type": "general" } })
            }
            _ => return None,
        })
    }
}

/// All models that come with Codex but one have a single tool, which runs JavaScript that calls the others.
fn in_javascript(model: Option<&str>) -> bool {
    model.is_some_and(|model| !model.starts_with("gpt-5.5"))
}

fn javascript(call: &str) -> Value {
    json!({ "name": "exec", "namespace": "functions", "custom": format!("const r = {call}; text(r);") })
}

//! Doctor: every link of the chain from agent to memory, as checks with a fix each.
//!
//! Comes in: facts that the command line has gathered. Goes out: checks in the order of the chain. Never here: gathering
//! or repairing.

use super::trace::Failing;
use serde::{Deserialize, Serialize};

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As it should be.
    Good,
    /// Works, but not as well as it could.
    Warning,
    /// Does not work.
    Broken,
}

/// A check.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Check {
    /// A stable name.
    pub id: &'static str,
    /// How it came out.
    pub state: State,
    /// What was found.
    pub detail: String,
    /// What to do; empty if nothing.
    pub fix: String,
}

/// What is known of one agent on this machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AgentFacts {
    /// Its name.
    pub name: String,
    /// Whether our hooks are in its settings.
    pub installed: bool,
    /// Whether they are there more than once, so that every event runs them twice.
    pub twice: bool,
    /// Whether the command they name is this program.
    pub points_here: bool,
    /// Whether the agent has been told to trust them; `None` if it does not ask.
    pub trusted: Option<bool>,
    /// What switches all hooks off, if something does.
    pub switched_off_by: Option<String>,
    /// What makes the agent start slowly because of our hooks, and what to do about it.
    pub slow: Option<(String, String)>,
}

/// What is known of one program that comes to the memory by MCP.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClientFacts {
    /// Its name.
    pub name: String,
    /// Whether our server is in its list.
    pub installed: bool,
    /// Whether the command named there is this program.
    pub points_here: bool,
}

/// What is known of the tiers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TierFacts {
    /// Where they are kept: `sqlite` or `postgres`; empty if nobody could look.
    pub backend: &'static str,
    /// Why they cannot be reached, if they cannot.
    pub fault: Option<String>,
    /// Whose they are.
    pub user: String,
    /// Whether a token was given.
    pub token: bool,
    /// Why it is nobody's, if it is.
    pub token_fault: Option<String>,
}

/// Everything a diagnosis rests on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Facts {
    /// Where this program is, if it can be found by its name.
    pub program: Option<String>,
    /// The agents found on this machine.
    pub agents: Vec<AgentFacts>,
    /// The programs found here that start MCP servers.
    pub clients: Vec<ClientFacts>,
    /// Settings that could not be used, a line each.
    pub settings: Vec<String>,
    /// Why the store cannot be written, if it cannot.
    pub store_fault: Option<String>,
    /// What of the index does not match the files; `None` if there is no store yet.
    pub index_mismatches: Option<usize>,
    /// Lines of the vault that cannot be read.
    pub unreadable_lines: usize,
    /// Notes that every command passes over, each with why.
    pub passed_over: Vec<String>,
    /// External memory in a line, and if something is wrong with it, what and what to do; `None` if it is not asked for.
    pub external: Option<(String, Option<(String, String)>)>,
    /// Whether hooks have been failing.
    pub failing: Option<Failing>,
    /// What hooks left out because it goes over their budget, a line each.
    pub left_out: Vec<String>,
    /// What is known of the tiers: database and token; nothing where nobody signs in.
    pub tiers: Option<TierFacts>,
    /// The model recall compares meanings with; nothing where it was not asked for.
    pub model: Option<String>,
    /// Why there is none, if there is none.
    pub model_fault: Option<String>,
    /// Endpoints the user named, each with what is wrong with it, if something is.
    pub endpoints: Vec<(String, Option<String>)>,
    /// Why a memory written in a temporary project did not come back at a prompt there, if it did not.
    pub round_trip_fault: Option<String>,
}

fn check(id: &'static str, state: State, detail: impl Into<String>, fix: impl Into<String>) -> Check {
    Check { id, state, detail: detail.into(), fix: fix.into() }
}

fn good(id: &'static str, detail: impl Into<String>) -> Check {
    check(id, State::Good, detail, "")
}

/// The checks, in the order of the chain.
pub fn diagnose(facts: &Facts) -> Vec<Check> {
    let mut checks = vec![match &facts.program {
        Some(path) => good("program", format!("found at {path}")),
        None => check(
            "program",
            State::Warning,
            "this program cannot be found by its name",
            "put its folder on your PATH, then run `heirloom setup` again",
        ),
    }];
    if facts.agents.is_empty() && facts.clients.is_empty() {
        checks.push(check(
            "agents",
            State::Warning,
            "no coding agent was found on this machine",
            "install one, then run `heirloom setup`",
        ));
    }
    checks.extend(facts.agents.iter().map(agent));
    checks.extend(facts.clients.iter().map(client));
    let slow = facts.agents.iter().filter_map(|agent| Some((&agent.name, agent.slow.as_ref()?)));
    checks.extend(
        slow.map(|(name, (why, fix))| check("start", State::Warning, format!("{name} {why}"), fix.clone())),
    );
    checks.push(match facts.settings.as_slice() {
        [] => good("settings", "all values are valid"),
        wrong => {
            check("settings", State::Warning, wrong.join("; "), "correct them with `heirloom config set`")
        }
    });
    checks.push(match &facts.store_fault {
        None if facts.index_mismatches.is_none() => check(
            "store",
            State::Warning,
            "this folder has no memory, so it was not checked",
            "run `heirloom init` in the project folder",
        ),
        None => good("store", "can be written"),
        Some(why) => {
            check("store", State::Broken, why, "check who owns the memory folder and its permissions")
        }
    });
    checks.push(match facts.index_mismatches {
        None => check("index", State::Warning, "this folder has no memory yet", "run `heirloom init`"),
        Some(0) => good("index", "matches the files"),
        Some(n) => check(
            "index",
            State::Warning,
            format!("{n} entries differ from the files"),
            "run `heirloom verify --fix`",
        ),
    });
    if let Some(tiers) = &facts.tiers {
        checks.extend([database(tiers), token(tiers)]);
    }
    checks.push(match (&facts.model_fault, &facts.model) {
        (Some(why), _) => check("model", State::Warning, why, "`heirloom model install` gets it again"),
        (None, Some(model)) => good("model", format!("recall compares meanings with {model}")),
        (None, None) => good("model", "the one in the program"),
    });
    if facts.unreadable_lines > 0 {
        let what = if facts.unreadable_lines == 1 { "line" } else { "lines" };
        let detail =
            format!("{} {what} of the vault cannot be read; all others count", facts.unreadable_lines);
        checks.push(check("vault", State::Warning, detail, "`heirloom verify` names them"));
    }
    if !facts.passed_over.is_empty() {
        let detail = format!("these notes are not valid and are skipped: {}", facts.passed_over.join("; "));
        checks.push(check("notes", State::Warning, detail, "`heirloom verify` says what to do about each"));
    }
    checks.extend(facts.external.iter().map(|(line, trouble)| match trouble {
        None => good("external memory", line),
        Some((why, fix)) => check("external memory", State::Warning, format!("{line}: {why}"), fix),
    }));
    checks.push(match &facts.failing {
        None => good("hooks", "no recent run has failed"),
        Some(failing) => check(
            "hooks",
            State::Broken,
            format!("{} runs in a row have failed since {}: {}", failing.runs, failing.since, failing.why),
            "`heirloom last` shows the runs",
        ),
    });
    checks.push(match facts.left_out.as_slice() {
        [] => good("budget", "hooks skip nothing"),
        left => check(
            "budget",
            State::Warning,
            format!("hooks skip what goes over their budget: {}", left.join("; ")),
            "run the commands named there; `heirloom verify` names files that are too large",
        ),
    });
    checks.extend(facts.endpoints.iter().map(|(what, trouble)| match trouble {
        None => good("endpoint", format!("{what} has not failed")),
        Some(why) => check(
            "endpoint",
            State::Warning,
            format!("{what} {why}"),
            "check its address, model and key with `heirloom config list`, then `heirloom model embed`",
        ),
    }));
    checks.push(match &facts.round_trip_fault {
        None => good("round trip", "a memory written in a temporary project came back at a prompt"),
        Some(why) => {
            check("round trip", State::Broken, why, "report this with the output of `heirloom doctor --json`")
        }
    });
    checks
}

fn database(facts: &TierFacts) -> Check {
    let id = "database";
    match (&facts.fault, &facts.token_fault) {
        (Some(why), _) => check(
            id,
            State::Broken,
            why,
            "check that the server runs and that --database or HEIRLOOM_DATABASE_URL names it; memories in files work without it",
        ),
        (None, Some(_)) => {
            check(id, State::Warning, "not checked: no user is signed in", "fix the token first")
        }
        (None, None) if facts.backend == "sqlite" => {
            good(id, "what belongs to you is in your own data folder")
        }
        (None, None) => good(id, format!("{} answers", facts.backend)),
    }
}

fn token(facts: &TierFacts) -> Check {
    let id = "token";
    match (&facts.token_fault, facts.token) {
        (Some(why), _) => check(
            id,
            State::Broken,
            why,
            "ask for a new one (`heirloom user token NAME`), or unset HEIRLOOM_TOKEN to act as your own account",
        ),
        (None, true) if facts.user.is_empty() => {
            check(id, State::Warning, "not checked: the database cannot be reached", "fix the database first")
        }
        (None, true) => good(id, format!("belongs to {}", facts.user)),
        (None, false) if facts.user.is_empty() => good(id, "none is set; you act as your own account"),
        (None, false) => good(id, format!("none is set; you act as your own account, {}", facts.user)),
    }
}

/// Whether a program starts our MCP server.
fn client(facts: &ClientFacts) -> Check {
    let name = &facts.name;
    match (facts.installed, facts.points_here) {
        (true, true) => good("server", format!("{name} starts the MCP server of this program")),
        (true, false) => check(
            "server",
            State::Broken,
            format!("{name} starts another copy of this program as its MCP server"),
            format!("run `heirloom setup --agent {name}`"),
        ),
        (false, _) => check(
            "server",
            State::Warning,
            format!("{name} does not know the MCP server of this program"),
            format!("run `heirloom setup --agent {name}`"),
        ),
    }
}

fn agent(facts: &AgentFacts) -> Check {
    let name = &facts.name;
    let id = "agent";
    if !facts.installed {
        return check(
            id,
            State::Warning,
            format!("{name} is installed, but its hooks are not set up"),
            format!("run `heirloom setup --agent {name}`"),
        );
    }
    if let Some(switch) = &facts.switched_off_by {
        return check(
            id,
            State::Broken,
            format!("{name} has all hooks switched off by {switch}"),
            format!("remove {switch}"),
        );
    }
    if !facts.points_here {
        return check(
            id,
            State::Broken,
            format!("{name}'s hooks call a program that is not this one"),
            format!("run `heirloom setup --agent {name}` again"),
        );
    }
    if facts.trusted == Some(false) {
        return check(
            id,
            State::Broken,
            format!("{name} does not trust the hooks yet and does not run them"),
            format!("start {name} in this project and approve the hooks when it asks"),
        );
    }
    if facts.twice {
        return check(
            id,
            State::Warning,
            format!("{name} has the hooks more than once and runs each of them"),
            format!(
                "keep one place: `heirloom setup --uninstall --agent {name}` takes them out of your settings"
            ),
        );
    }
    good(id, format!("{name} calls this program"))
}

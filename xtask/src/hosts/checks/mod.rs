//! What is looked at with a real agent.
//!
//! Comes in: a laboratory. Goes out: findings in it. Never here: how an agent is started.

mod capture;
mod guard;
mod installed;
mod recall;
mod stop;

use super::agents::Host;
use super::lab::Lab;

/// A check.
pub(super) struct Check {
    pub(super) name: &'static str,
    /// The agents it is for; none for all.
    only: &'static [&'static str],
    /// Whether it belongs to the half that CI has the time for.
    pub(super) quick: bool,
    /// Whether the model plays a part in it.
    by_model: bool,
    pub(super) run: fn(&mut Lab) -> Result<(), String>,
}

impl Check {
    /// Whether it is run for an agent with a model.
    pub(super) fn is_for(&self, host: Host, is_usual_model: bool) -> bool {
        (self.only.is_empty() || self.only.iter().any(|name| host.is(name)))
            && (is_usual_model || self.by_model)
    }
}

const fn check(name: &'static str, run: fn(&mut Lab) -> Result<(), String>) -> Check {
    Check { name, only: &[], quick: false, by_model: false, run }
}

const fn quick(check: Check) -> Check {
    Check { quick: true, ..check }
}

/// Looked at with every model of an agent: they call tools in different ways.
const fn by_model(check: Check) -> Check {
    Check { by_model: true, ..check }
}

const fn only(agents: &'static [&'static str], check: Check) -> Check {
    Check { only: agents, ..check }
}

/// All checks, the quick ones first.
pub(super) const CHECKS: &[Check] = &[
    quick(check("recall", recall::recall)),
    quick(by_model(check("guard", guard::guard))),
    quick(check("headless", stop::headless)),
    quick(check("missing", installed::missing)),
    quick(check("bare", installed::bare)),
    by_model(check("indirect", guard::indirect)),
    by_model(check("persisted", guard::persisted)),
    by_model(check("post", guard::post)),
    check("crowded", recall::crowded),
    check("again", recall::again),
    only(&["claude-code", "codex", "gemini", "opencode"], check("compacted", recall::compacted)),
    check("echo", recall::echo),
    check("clone", recall::clone),
    check("subfolder", recall::subfolder),
    check("big", recall::big),
    check("wire", recall::wire),
    check("truth", recall::truth),
    only(&["copilot"], check("borrowed", recall::borrowed)),
    by_model(check("stop", stop::saved)),
    by_model(check("ignored", stop::ignored)),
    check("stubborn", stop::stubborn),
    check("following", stop::following),
    check("both", stop::both),
    check("below", stop::below),
    check("waiting", stop::waiting),
    only(&["claude-code", "gemini", "opencode"], check("subagent", stop::subagent)),
    check("notes", capture::notes),
    check("turns", capture::turns),
    only(&["claude-code", "gemini", "opencode"], check("speakers", capture::speakers)),
    check("shared", installed::shared),
    check("broken", installed::broken),
    check("spaces", installed::spaces),
    check("earlier", installed::earlier),
    check("undo", installed::undo),
    only(&["codex"], check("trust", installed::trust)),
    only(&["claude-code"], check("plugin", installed::plugin)),
    only(&["opencode"], check("slow", installed::slow)),
];

const DECIDED: &str = "We decided to use Redis for the cache because it is fast.\nWe chose it over memcached because of persistence.";
const ASKS: &str = "should be saved as memories before stopping";
const BLOCKED: &str = "Direct writes to the memory directory are blocked";
const QUESTION: &str = "Which database do we use for orders, postgresql?";

//! What `setup` says before it asks, and the questions.
//!
//! Comes in: the plan. Goes out: which agents the person wants, and whether longer messages are kept. Each file takes a line; `d` shows the whole change. Never
//! here: a change, or a yes that nobody gave.

use super::setup::Change;
use super::setup_purge::Purge;
use crate::args::Setup;
use crate::machine::shown;
use crate::output::{Out, counted};
use crate::person;
use heirloom_agents::table::{AGENTS, Client};
use heirloom_core::fault::Result;

/// What each hook does, in the words of the question.
const HOOKS: [(&str, &str); 6] = [
    ("session start", "gives the agent what every session should know"),
    ("each prompt", "gives it the memories that fit, and says where each comes from"),
    ("before a write", "stops the agent from changing memory files past the checks"),
    ("after a write", "checks what it wrote into the memory folder"),
    ("stop", "looks for something worth saving; may hold the stop to ask for it,"),
    ("", "at most once per session and finding"),
];
/// What the MCP server does, in the same words.
const SERVER: &str = "The MCP server lets an agent look up and save memories; a rules file tells it when.";
const OFF: &str = "`heirloom config set --user triage.enabled false` turns holding off";

/// What was answered.
#[derive(Default)]
pub(super) struct Asked {
    agents: Vec<&'static str>,
    /// Whether the assistant's longer messages are kept too.
    pub(super) notes: bool,
    /// Whether everything else goes as well.
    pub(super) purge: bool,
    own: bool,
}

impl Asked {
    /// Whether this change is wanted.
    pub(super) fn wants(&self, change: &Change) -> bool {
        change.whose.map_or(self.own, |whose| self.wants_agent(whose.name))
    }

    pub(super) fn wants_agent(&self, name: &str) -> bool {
        self.agents.contains(&name)
    }

    fn everything(plan: &[Change]) -> Asked {
        let agents = plan.iter().filter_map(|change| Some(change.whose?.name)).collect();
        Asked { agents, notes: false, purge: true, own: true }
    }
}

/// Shows the plan and asks about it, agent by agent.
pub(super) fn ask(plan: &[Change], purge: Option<&Purge>, call: &Setup, out: &Out) -> Result<Asked> {
    // A program reads the answer; what the person looks at goes beside it.
    let aside = out.aside();
    let spoken = !out.is_json() || !(call.yes || call.dry_run);
    let needed = plan.iter().any(Change::changes) || purge.is_some_and(|purge| !purge.is_empty());
    if spoken && needed && !call.uninstall {
        explain(&aside, plan, call);
    }
    if call.uninstall || call.yes || call.dry_run || !needed {
        if spoken {
            groups(plan).iter().for_each(|group| show(&aside, group, call));
            purge.into_iter().flat_map(Purge::shown).for_each(|what| aside.line(format!("removes {what}")));
        }
        if !needed || call.yes || call.dry_run {
            return Ok(Asked::everything(plan));
        }
        let question = if purge.is_some() { "Remove all of this?" } else { "Remove the hooks?" };
        return Ok(match answered(question, plan, out)? {
            true => Asked::everything(plan),
            false => Asked::default(),
        });
    }
    let mut asked = Asked::default();
    for group in groups(plan) {
        show(&aside, group, call);
        let Some(agent) = group.first().and_then(|change| change.whose) else {
            asked.own = true;
            continue;
        };
        if !group.iter().any(Change::changes) || answered(&format!("Connect {}?", agent.title), group, out)? {
            asked.agents.push(agent.name);
        }
    }
    let connected =
        plan.iter().any(|change| change.whose.is_some() && change.changes() && asked.wants(change));
    if connected && !call.notes {
        aside.line(
            "Heirloom can also keep the assistant's longer messages, word for word, as notes in the project.",
        );
        asked.notes = person::confirm("Keep longer messages as notes?", false)?;
        asked.own = asked.notes;
    }
    Ok(asked)
}

/// The changes of each agent.
fn groups(plan: &[Change]) -> Vec<&[Change]> {
    plan.chunk_by(|a, b| a.title() == b.title()).collect()
}

fn explain(out: &Out, plan: &[Change], call: &Setup) {
    let has = |known: &dyn Fn(&str) -> bool| {
        plan.iter().any(|change| change.whose.is_some_and(|whose| known(whose.name)))
    };
    if has(&|name| AGENTS.iter().any(|agent| agent.name == name)) {
        explain_hooks(out, call);
    }
    if has(&|name| Client::named(name).is_some()) {
        out.line(SERVER);
        out.line("");
    }
}

fn explain_hooks(out: &Out, call: &Setup) {
    let place = if call.everywhere { "in every folder" } else { "in projects with a memory" };
    out.line(format!("Hooks run inside your coding agent, {place}:"));
    for (moment, what) in HOOKS {
        out.line(format!("  {} {what}", out.style.bold(&format!("{moment:<15}"))));
    }
    out.line(out.style.dim(OFF));
    out.line("");
}

/// A line for each file.
fn show(out: &Out, group: &[Change], call: &Setup) {
    let Some(first) = group.first() else { return };
    out.line(out.style.bold(first.title()));
    for change in group {
        let file = shown(&change.file);
        if !change.changes() {
            let usual = if call.uninstall { "nothing to remove" } else { "already set up" };
            out.line(format!("  {file}  {}", out.style.dim(change.left.unwrap_or(usual))));
            continue;
        }
        let diff = change.diff();
        let count = |mark: &str| diff.iter().filter(|line| line.starts_with(mark)).count();
        let what = match (&change.before, &change.after) {
            (None, _) => format!("new file, {}", counted(count("+"), "line", "lines")),
            (_, None) => "will be removed".to_owned(),
            _ => format!("{} added, {} removed", counted(count("+"), "line", "lines"), count("-")),
        };
        out.line(format!("  {file}  {what}"));
        if call.diff {
            print_diff(out, change);
        }
    }
}

fn print_diff(out: &Out, change: &Change) {
    for line in change.diff() {
        let line = super::visible(&line);
        out.line(match line.as_bytes().first() {
            Some(b'+') => out.style.green(&line),
            Some(b'-') => out.style.red(&line),
            Some(b'@') => out.style.cyan(&line),
            _ => line,
        });
    }
}

/// Asks until the answer is not `d`.
fn answered(question: &str, group: &[Change], out: &Out) -> Result<bool> {
    loop {
        if group.iter().any(Change::changes) {
            out.say(out.style.dim("d shows the exact changes"));
        }
        let answer = person::ask(&format!("{question} [y/N]"), question)?;
        if !["d", "diff"].contains(&answer.to_lowercase().as_str()) {
            return Ok(person::is_yes(&answer));
        }
        for change in group.iter().filter(|change| change.changes()) {
            out.say(out.style.bold(&shown(&change.file)));
            print_diff(&out.aside(), change);
        }
    }
}

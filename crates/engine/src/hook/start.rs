//! Session start: the short block a session begins with.
//!
//! Comes in: what may be shown, already chosen by trust. Goes out: one fenced block within its budget, or nothing. Never
//! here: choosing; text that could close the fence; a line cut in the middle.

use super::trace::Failing;
use heirloom_core::text::{cut, escape, one_line};

/// The longest line of a memory.
const LINE_MAX: usize = 240;

/// A memory in a line.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// The memory.
    pub id: String,
    /// The kind's label.
    pub label: String,
    /// What it says.
    pub text: String,
    /// Where it comes from, if that must be said.
    pub origin: Option<String>,
    /// What became of the code it cites, if that must be said.
    pub stale: Option<String>,
}

/// What a session may be told at its start.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// The vault's snapshot, as the vault renders it.
    pub snapshot: Vec<String>,
    /// Constraints and preferences that hold.
    pub standing: Vec<Standing>,
    /// What the last session left to do.
    pub next_actions: Vec<Standing>,
    /// How many memories are new in the review inbox.
    pub new_in_review: usize,
    /// Whether hooks have been failing.
    pub failing: Option<Failing>,
    /// Whether hooks leave something out because it goes over their budget.
    pub leaves_out: bool,
    /// Whether the hooks were installed by an earlier version.
    pub early: bool,
}

/// After so many failures in a row a session is told.
const FAILURES_WORTH_A_WORD: usize = 3;

const TO_DO: &str = "Left to do by the last session";
/// So many of its lines have their room kept.
const KEPT_TO_DO: usize = 3;

/// The block, at most `budget` characters; `None` if there is nothing to say. `source` comes from [`crate::inject::source`], `program` is how
/// this program is called.
pub fn block(facts: &Facts, source: &str, program: &str, budget: usize) -> Option<String> {
    let head = format!("<memory-context source=\"{source}\">\n");
    let tail = "</memory-context>\n";
    let mut room = budget.checked_sub(head.chars().count() + tail.len())?;
    let mut body = String::new();
    let mut section = |title: &str, lines: Vec<String>, kept_for_others: usize| {
        let mut open = false;
        for line in lines {
            let heading = if open || title.is_empty() { String::new() } else { format!("{title}:\n") };
            let cost = heading.chars().count() + line.chars().count() + 1;
            if cost + kept_for_others > room {
                return;
            }
            room -= cost;
            open = true;
            body.push_str(&heading);
            body.push_str(&line);
            body.push('\n');
        }
    };
    // What the last session left to do comes last and must not be what is cut off either.
    let to_do: Vec<String> = facts.next_actions.iter().map(in_a_line).collect();
    let kept: usize = to_do.iter().take(KEPT_TO_DO).map(|line| line.chars().count() + 1).sum();
    let kept = if to_do.is_empty() { 0 } else { (kept + TO_DO.len() + 2).min(budget / 4) };
    // What a person must know comes first: it is short, and must not be what the budget cuts off.
    section("", notices(facts, program), 0);
    section(
        "Who is at work here",
        facts.snapshot.iter().map(|line| whole(&line.replace("&lt;", "<"))).collect(),
        kept,
    );
    section("What holds in this project", facts.standing.iter().map(in_a_line).collect(), kept);
    section(TO_DO, to_do, 0);
    (!body.is_empty()).then(|| format!("{head}{body}{tail}"))
}

fn notices(facts: &Facts, program: &str) -> Vec<String> {
    let mut lines = Vec::new();
    if facts.new_in_review > 0 {
        let (noun, verb) = if facts.new_in_review == 1 { ("memory", "waits") } else { ("memories", "wait") };
        lines.push(format!(
            "({} new {noun} {verb} for a person's decision: `{program} review`)",
            facts.new_in_review
        ));
    }
    if let Some(failing) = facts.failing.as_ref().filter(|f| f.runs >= FAILURES_WORTH_A_WORD) {
        lines.push(format!(
            "(memory hooks have failed {} times since {}: `{program} doctor` says why)",
            failing.runs,
            shown(&failing.since)
        ));
    }
    if facts.leaves_out {
        lines.push(format!(
            "(memory hooks leave out what goes over their budget: `{program} doctor` says what)"
        ));
    }
    if facts.early {
        lines.push(format!(
            "(the memory hooks here were installed by an earlier version: `{program} setup` replaces them)"
        ));
    }
    lines
}

fn in_a_line(memory: &Standing) -> String {
    let origin =
        memory.origin.as_ref().map(|origin| format!(" (from {})", shown(origin))).unwrap_or_default();
    let stale = memory.stale.as_ref().map(|stale| format!(" ({})", shown(stale))).unwrap_or_default();
    format!("- [{}] {}{origin}{stale}", shown(&memory.label), shown(&memory.text))
}

fn shown(text: &str) -> String {
    cut(&whole(text), LINE_MAX).to_owned()
}

/// The vault's lines have a budget of their own, and half a rule is none. It spells some brackets out already; they are not spelt twice.
fn whole(text: &str) -> String {
    escape(&one_line(&heirloom_core::text::strip_invisible(text)), true)
}

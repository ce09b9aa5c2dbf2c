//! What `review` shows.

use super::show::visible;
use crate::output::{Out, Table};
use heirloom_core::text::one_line;
use heirloom_engine::Call;
use heirloom_engine::gate::inbox::Item;
use heirloom_engine::review::{Pending, Suggestions};
use heirloom_engine::shelf::anchors::Freshness;
use serde_json::Value;

/// Pairs and proposals that are listed; `--json` has them all.
const LISTED: usize = 10;

pub(super) fn print_draft(engine: &Call, out: &Out, item: &Item) {
    let shown = |text: &str| visible(&one_line(text));
    out.line(format!(
        "{}  {}  {}",
        out.style.bold(&shown(&item.id)),
        out.style.yellow("not stored yet"),
        out.style.dim(&shown(&item.reasons.join("; ")))
    ));
    if let Some(content) = item.draft["memory"]["content"].as_str() {
        return print_beside(engine, out, item, content);
    }
    match &item.draft {
        Value::Object(fields) => {
            for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
                let text = match value {
                    Value::String(text) => visible(text),
                    other => visible(&other.to_string()),
                };
                out.line(format!("{} {text}", out.style.dim(&format!("{}:", shown(name)))));
            }
        }
        other => out.line(visible(&other.to_string())),
    }
}

/// A fact that waits, and the known ones it would supersede, side by side.
fn print_beside(engine: &Call, out: &Out, item: &Item, content: &str) {
    out.line(format!("  {}  {}", out.style.green("new  "), visible(&one_line(content))));
    let memory = &item.draft["memory"];
    let origin = |key: &str, what: &str| memory[key].as_str().map(|text| format!("{what} {text}"));
    let origins = [origin("tool", "by"), origin("message", "from"), origin("session", "session")];
    let origins: Vec<String> = origins.into_iter().flatten().collect();
    if !origins.is_empty() {
        out.line(format!("         {}", out.style.dim(&visible(&one_line(&origins.join(", "))))));
    }
    // The words it was taken from, so that a yes is a yes to what was said.
    let turn = memory["message"].as_str().and_then(|id| engine.tiers().ok()?.own(id).ok());
    if let Some(turn) = turn {
        out.line(format!("  {}  {}", out.style.dim("said "), visible(&one_line(&turn.content))));
    }
    let beside = item.draft["beside"].as_array().map(Vec::as_slice).unwrap_or_default();
    for known in beside.iter().filter_map(|beside| beside["id"].as_str()) {
        if let Some(stored) = engine.tiers().ok().and_then(|tiers| tiers.own(known).ok()) {
            let old = visible(&one_line(&stored.content));
            out.line(format!("  {}  {old}  {}", out.style.yellow("known"), out.style.dim(known)));
        }
    }
}

/// Begins a group with a gap before all but the first.
struct Groups<'o> {
    out: &'o Out,
    any: bool,
}

impl Groups<'_> {
    fn table(&mut self, title: &str, head: &[&'static str], rows: Vec<Vec<String>>) {
        if rows.is_empty() {
            return;
        }
        if self.any {
            self.out.line("");
        }
        self.any = true;
        self.out.line(self.out.style.bold(title));
        let mut table = Table::new(head);
        rows.into_iter().for_each(|row| table.row(row));
        table.print(self.out);
    }
}

pub(super) fn print_pending(out: &Out, waiting: &Pending) {
    if waiting.is_empty() {
        out.say("nothing waits for you");
        return;
    }
    let mut groups = Groups { out, any: false };
    let drafts = waiting.drafts.iter().map(|item| {
        vec![item.key.clone(), item.id.clone(), item.channel.row().name.to_owned(), item.reasons.join("; ")]
    });
    groups.table("Drafts that need a yes", &["KEY", "ID", "FROM", "WHY"], drafts.collect());
    let saved = waiting
        .saved_by_agents
        .iter()
        .map(|memory| vec![memory.id.to_string(), memory.trust.name().to_owned(), memory.title.clone()]);
    let title = "Nobody has accepted these yet, so they are not given to every session";
    groups.table(title, &["ID", "TRUST", "TITLE"], saved.collect());
    let problems = waiting.problems.iter().map(|problem| {
        let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
        vec![format!("{}{line}", problem.file), problem.message.clone()]
    });
    groups.table("Held back from recall", &["FILE", "WHAT"], problems.collect());
    let doubts = waiting.doubts.iter().map(|doubt| {
        vec![doubt.id.to_string(), doubt.line.to_string(), doubt.sort.replace('_', " "), doubt.reason.clone()]
    });
    groups.table("Vault lines to look at", &["ID", "LINE", "WHAT", "WHY"], doubts.collect());
    let stale = waiting.stale.iter().flat_map(|one| {
        one.anchors
            .iter()
            .filter(|cited| cited.state >= Freshness::Changed)
            .map(|cited| vec![one.id.clone(), cited.state.name().to_owned(), cited.anchor.clone()])
    });
    let title = "Cite code that changed or is gone; what is gone is not given to agents";
    groups.table(title, &["ID", "CODE", "PLACE"], stale.collect());
    let mut next = Vec::new();
    if !waiting.drafts.is_empty() {
        next.push("`heirloom review accept <key>` or `heirloom review reject <key>`");
    }
    if !waiting.saved_by_agents.is_empty() {
        next.push("`heirloom review accept <id>` or `heirloom retire <id>`");
    }
    if !waiting.problems.is_empty() {
        next.push("`heirloom verify` for what to do about a file");
    }
    if !waiting.doubts.is_empty() {
        next.push("`heirloom show --raw <id>` for a vault memory's lines");
    }
    if !waiting.stale.is_empty() {
        next.push("`heirloom anchor renew <id>` if it still holds, else `heirloom edit <id>` or `heirloom retire <id>`");
    }
    out.say(format!("\n{} {}", out.style.cyan("next:"), next.join("; ")));
}

pub(super) fn print_suggestions(out: &Out, found: &Suggestions) {
    let mut groups = Groups { out, any: true };
    let pairs = found
        .near_duplicates
        .iter()
        .take(LISTED)
        .map(|pair| vec![format!("{:.2}", pair.score), pair.a.to_string(), pair.b.to_string()]);
    groups.table("Near-duplicates", &["ALIKE", "EARLIER", "LATER"], pairs.collect());
    let proposals =
        found.proposed_deletions.iter().take(LISTED).map(|one| vec![one.id.to_string(), one.reason.clone()]);
    groups.table("Could go", &["ID", "WHY"], proposals.collect());
    let more = found.near_duplicates.len().saturating_sub(LISTED)
        + found.proposed_deletions.len().saturating_sub(LISTED);
    if more > 0 {
        out.say(format!("and {more} more; --json lists them all"));
    }
    if !found.near_duplicates.is_empty() || !found.proposed_deletions.is_empty() {
        out.say("nothing of this goes by itself; `heirloom retire <id>` takes a memory out of use");
    }
}

//! What `review` shows.

use crate::output::{Out, Table};
use heirloom_core::text::one_line;
use heirloom_engine::verbs::decide::{Freshness, Pending, Shown, Suggestions};

/// Pairs and proposals that are listed; `--json` has them all.
const LISTED: usize = 10;

/// A draft with everything a yes would store.
pub(super) fn print_draft(out: &Out, shown: &Shown) {
    let (item, style) = (&shown.item, out.style);
    out.line(format!("{}  {}", style.bold(&one_line(&item.id)), style.yellow("not stored yet")));
    let fact = |name: &str, value: &str| {
        out.line(format!("  {} {}", style.dim(&format!("{name}:")), one_line(value)))
    };
    fact("key", &item.key);
    fact("shelf", &format!("{}, kind {}, would be {}", item.shelf, shown.kind, shown.would_be));
    let origin = if item.verified { "" } else { ", unverified origin" };
    fact("from", &format!("{}, trust {}{origin}", item.channel.row().name, item.trust.name()));
    fact("waits", &format!("{} ({})", shown.age, item.at));
    fact("why", &item.reasons.join("; "));
    if let Some(why) = &shown.cannot {
        out.line(format!("  {} {}", style.red("cannot be stored:"), one_line(why)));
    }
    for field in &shown.fields {
        let mut lines = field.value.split('\n');
        let first = lines.next().unwrap_or_default();
        out.line(format!("  {} {first}", style.cyan(&format!("{}:", label(&field.name)))));
        // The mark keeps a line of a value from looking like a field of its own.
        lines.for_each(|line| out.line(format!("  {} {line}", style.dim("  |"))));
    }
    if let Some(said) = &shown.said {
        out.line(format!("  {}  {said}", style.dim("said ")));
    }
    for known in &shown.known {
        out.line(format!("  {}  {}  {}", style.yellow("known"), known.text, style.dim(&known.id)));
    }
}

/// The name of a field as people read it: what is stored now, and what is asked for.
fn label(name: &str) -> String {
    let name = name.replace('\n', "\\n");
    match (name.strip_prefix("now."), name.strip_prefix("asked.")) {
        (Some(field), _) => format!("now {field}"),
        (_, Some(field)) => format!("wanted {}", field.strip_prefix("fields.").unwrap_or(field)),
        _ => name,
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
        out.say("nothing to review");
        return;
    }
    if !waiting.drafts.is_empty() {
        out.line(out.style.bold("Drafts that need a yes"));
    }
    for (at, shown) in waiting.drafts.iter().enumerate() {
        if at > 0 {
            out.line("");
        }
        print_draft(out, shown);
    }
    let mut groups = Groups { out, any: !waiting.drafts.is_empty() };
    let saved = waiting
        .saved_by_agents
        .iter()
        .map(|memory| vec![memory.id.to_string(), memory.trust.name().to_owned(), memory.title.clone()]);
    let title = "Saved by agents and not accepted yet, so not given to every session";
    groups.table(title, &["ID", "TRUST", "TITLE"], saved.collect());
    let problems = waiting.problems.iter().map(|problem| {
        let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
        vec![format!("{}{line}", problem.file), problem.message.clone()]
    });
    groups.table("Not given to agents", &["FILE", "WHAT"], problems.collect());
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
    let title = "The code they cite changed or is gone";
    groups.table(title, &["ID", "CODE", "PLACE"], stale.collect());
    if !waiting.older.is_empty() {
        let ids: Vec<&str> = waiting.older.iter().take(LISTED).map(|id| id.as_str()).collect();
        let more = waiting.older.len().saturating_sub(LISTED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        out.line(format!(
            "Older than a later change (another branch, an old copy), so trusted like the repository: {}{more}",
            ids.join(", ")
        ));
    }
    let mut next = Vec::new();
    if !waiting.older.is_empty() {
        next.push("`heirloom trust <id>` trusts an older text again");
    }
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
    groups.table("Can be removed", &["ID", "WHY"], proposals.collect());
    let more = found.near_duplicates.len().saturating_sub(LISTED)
        + found.proposed_deletions.len().saturating_sub(LISTED);
    if more > 0 {
        out.say(format!("and {more} more; --json lists them all"));
    }
    if !found.near_duplicates.is_empty() || !found.proposed_deletions.is_empty() {
        out.say("nothing is removed by itself; `heirloom retire <id>` takes a memory out of use");
    }
}

/// The bytes of a stored memory, which a yes is for.
pub(super) fn print_stored(out: &Out, text: &str) {
    out.line("");
    out.line(out.style.dim("as it is stored"));
    text.lines().for_each(|line| out.line(format!("{} {line}", out.style.dim("  |"))));
}

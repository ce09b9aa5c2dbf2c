//! `vault …`: the vault's own tools.

use super::visible;
use super::{input, print_added};
use crate::args::{Args, Vault, VaultAction};
use crate::output::{Out, Table};
use crate::wiring::Wired;
use crate::{person, wiring};
use heirloom_core::code::exit;
use heirloom_core::fault::Result;
use heirloom_core::text::one_line;
use heirloom_engine::verbs::shelves::{self, RecallVault, Stats};
use heirloom_engine::verbs::vault::{self as verbs, Promote};
use serde_json::Value;

pub(crate) fn run(args: &Args, call: &Vault, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    out.warnings(wired.warnings());
    match &call.action {
        VaultAction::Stats => {
            let stats = shelves::vault_stats(&wired.call)?;
            out.answer(&stats, || print_stats(out, &stats));
            Ok(exit::OK)
        }
        VaultAction::Consolidate { floor, scope } => consolidate(&wired, *floor, scope, out),
        VaultAction::Propose { scope } => propose(&wired, scope, out),
        VaultAction::Promote { id, text, tag } => promote(&wired, id, text, tag, out),
        VaultAction::Recall { category, tag, scope, limit } => {
            recall(&wired, category.as_deref(), tag, scope, *limit, out)
        }
        VaultAction::Context { query, max_chars, .. } => {
            shelves::expect_agent(&wired.call, &super::snapshot::hosts())?;
            let question = (!query.is_empty()).then(|| query.join(" "));
            let answer = shelves::vault_context(&wired.call, question.as_deref(), *max_chars)?;
            out.answer(&answer, || {
                if answer.block.is_empty() {
                    out.say("nothing fits");
                }
                out.raw(visible(&answer.block).as_bytes());
            });
            Ok(exit::OK)
        }
        VaultAction::BulkAdd { file } => bulk_add(&wired, file, out),
        VaultAction::BulkDelete { ids } => bulk_delete(&wired, ids, out),
    }
}

pub(crate) fn print_stats(out: &Out, stats: &Stats) {
    let counts = |map: &std::collections::BTreeMap<String, usize>| {
        let parts: Vec<String> = map.iter().map(|(name, n)| format!("{} {n}", one_line(name))).collect();
        visible(&parts.join(", "))
    };
    out.line(format!(
        "{}  {} of {} active ({} %), {} retired, {} register topics",
        out.style.bold("vault"),
        stats.active_count,
        stats.max_active,
        stats.utilization_pct,
        stats.deleted_count,
        stats.register_topics
    ));
    if stats.active_count > 0 {
        out.line(format!("  by scope: {}", counts(&stats.by_scope)));
        out.line(format!("  by tier: {}", counts(&stats.by_tier)));
        out.line(format!("  by category: {}", counts(&stats.by_category)));
    }
    if stats.raw_lines > 0 {
        out.line(format!(
            "  {} lines, {} for each active one; `heirloom compact` would remove {}",
            stats.raw_lines, stats.bloat_ratio, stats.compactable_lines
        ));
    }
    if stats.unreadable_lines > 0 {
        let what = if stats.unreadable_lines == 1 { "line" } else { "lines" };
        let line = format!(
            "{} {what} cannot be read and would stay; `heirloom verify` names them",
            stats.unreadable_lines
        );
        out.line(format!("  {}", out.style.yellow(&line)));
    }
}

/// A text as a list shows it: one line, nothing a terminal would obey.
fn excerpt(text: &str) -> String {
    visible(&one_line(text))
}

fn consolidate(wired: &Wired, floor: f64, scope: &[String], out: &Out) -> Result<u8> {
    let pairs = shelves::vault_pairs(&wired.call, floor, scope)?;
    out.answer(&pairs, || {
        if pairs.is_empty() {
            out.say(format!("no two memories are at least {floor} alike"));
        }
        for pair in &pairs {
            out.line(format!("{:.2}", pair.score));
            for (id, text) in [&pair.a, &pair.b].into_iter().zip(&pair.texts) {
                out.line(format!("  {}  {}", out.style.cyan(&excerpt(id)), excerpt(text)));
            }
        }
    });
    Ok(exit::OK)
}

fn propose(wired: &Wired, scope: &[String], out: &Out) -> Result<u8> {
    let proposals = shelves::vault_proposals(&wired.call, scope)?;
    out.answer(&proposals, || {
        if proposals.is_empty() {
            out.say("nothing to propose");
            return;
        }
        let mut table = Table::new(&["ID", "WHY", "TEXT"]);
        for one in &proposals {
            table.row(vec![one.id.clone(), one.reason.clone(), excerpt(&one.text)]);
        }
        table.print(out);
        out.say("nothing was removed; `heirloom retire <id>` takes one out of use");
    });
    Ok(exit::OK)
}

fn promote(wired: &Wired, id: &str, text: &[String], tag: &[String], out: &Out) -> Result<u8> {
    let text = text.join(" ");
    let mut ask = Promote {
        id: id.to_owned(),
        text: (!text.is_empty()).then_some(text),
        tags: tag.to_vec(),
        seen: None,
    };
    if let Some(memory) = verbs::to_show(&wired.call, &ask)? {
        super::show::print_memory(out, &memory);
        if !person::confirm("Make this canon as it is?", false)? {
            out.say("nothing was promoted");
            return Ok(exit::REFUSED);
        }
        ask.id = memory.id.to_string();
        ask.seen = Some(memory.version);
    }
    let done = verbs::promote(&wired.call, &ask)?.done()?;
    out.answer(&done, || print_added(out, "promoted", &done));
    Ok(exit::OK)
}

fn recall(
    wired: &Wired,
    category: Option<&str>,
    tags: &[String],
    scope: &[String],
    limit: usize,
    out: &Out,
) -> Result<u8> {
    let ask = RecallVault {
        category: category.map(str::to_owned),
        tags: tags.to_vec(),
        scopes: scope.to_vec(),
        limit,
    };
    let found = shelves::recall_vault(&wired.call, &ask)?;
    out.answer(&found, || {
        let mut table = Table::new(&["ID", "SCOPE", "CATEGORY", "CREATED", "TEXT"]);
        for memory in &found.memories {
            let created = memory.created_at.as_deref().unwrap_or_default();
            let scope = memory.scope.to_string();
            table.row(vec![
                memory.id.to_string(),
                scope.strip_prefix("agent:").unwrap_or(&scope).to_owned(),
                memory.fields.get("category").and_then(Value::as_str).unwrap_or_default().to_owned(),
                created.get(..10).unwrap_or(created).to_owned(),
                excerpt(&memory.body),
            ]);
        }
        table.print(out);
    });
    Ok(exit::OK)
}

fn bulk_add(wired: &Wired, file: &str, out: &Out) -> Result<u8> {
    let all = verbs::additions(&wired.call, &input::bytes(file)?)?;
    let outcomes = verbs::bulk_add(&wired.call, all)?;
    out.answer(&outcomes, || {
        for (at, one) in outcomes.iter().enumerate() {
            let Some(why) = &one.why else {
                let id = one.id.as_deref().unwrap_or_default();
                out.line(format!("{} {}", out.style.green(one.status), out.style.bold(id)));
                continue;
            };
            let word = match one.status {
                "waits" => out.style.yellow("waits"),
                _ => out.style.red("refused"),
            };
            let message = visible(&one_line(&why.message));
            out.line(format!("{word} item {}: {message} [{}]", at + 1, why.code));
            out.line(format!("  {}", out.style.dim(&visible(&one_line(&why.hint)))));
        }
    });
    let exits = outcomes.iter().filter_map(|one| Some(one.why.as_ref()?.of.exit()));
    Ok(exits.max().unwrap_or(exit::OK))
}

fn bulk_delete(wired: &Wired, ids: &[String], out: &Out) -> Result<u8> {
    let retired = verbs::bulk_delete(&wired.call, ids)?;
    out.answer(&retired, || {
        let group = |word: String, ids: &[String]| {
            ids.iter().for_each(|id| out.line(format!("{word} {}", visible(&one_line(id)))))
        };
        group(out.style.green("retired"), &retired.deleted);
        group(out.style.yellow("waits"), &retired.waiting);
        group(out.style.red("not found"), &retired.not_found);
    });
    Ok(match (retired.waiting.is_empty(), retired.deleted.is_empty() && !retired.not_found.is_empty()) {
        (false, _) => exit::WAITS,
        (true, true) => exit::NOT_FOUND,
        (true, false) => exit::OK,
    })
}

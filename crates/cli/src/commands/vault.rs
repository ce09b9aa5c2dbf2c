//! `vault …`: the vault's own tools.

use super::show::visible;
use super::{auto_commit, input, print_added};
use crate::args::{Args, Vault, VaultAction};
use crate::output::{Out, Table};
use crate::wiring::Wired;
use crate::{person, wiring};
use heirloom_core::code::exit;
use heirloom_core::text::one_line;
use heirloom_core::{Memory, fault::Result};
use heirloom_engine::shelf::vault::{Filter, Stats};
use heirloom_engine::shelf::{Listing, Shelf as _};
use heirloom_engine::verbs::vault::{self as verbs, Promote};
use serde_json::{Value, json};
use std::collections::HashMap;

pub(crate) fn run(args: &Args, call: &Vault, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    out.warnings(&wired.loaded.warnings);
    match &call.action {
        VaultAction::Stats => {
            let stats = wired.call.vault().stats()?;
            out.answer(&stats, || print_stats(out, &stats));
            Ok(exit::OK)
        }
        VaultAction::Consolidate { floor, scope } => consolidate(&wired, *floor, scope, out),
        VaultAction::Propose { scope } => propose(&wired, scope, out),
        VaultAction::Promote { id, text, tag } => promote(&wired, id, text, tag, out),
        VaultAction::Recall { category, tag, scope, limit } => {
            recall(&wired, category.as_deref(), tag, scope, *limit, out)
        }
        VaultAction::Context { query, agent, max_chars } => {
            let vault = wired.call.vault();
            let query = query.join(" ");
            let reader = vault.reader(agent.as_deref());
            let most = wired.call.settings().vault.max_items;
            let block = vault.context(&reader, Some(&query), most, *max_chars)?;
            out.answer(&json!({ "agent": agent, "query": query, "block": block }), || {
                if block.is_empty() {
                    out.say("nothing fits");
                }
                out.raw(visible(&block).as_bytes());
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
}

/// The scopes a call is about: those it names, else all that the caller sees.
fn scopes(wired: &Wired, named: &[String]) -> Option<Vec<String>> {
    if !named.is_empty() {
        return Some(named.to_vec());
    }
    (!person::is_present()).then(|| wired.call.vault().reader(None).scopes)
}

/// Memories in use by the name their lines have.
fn by_name(wired: &Wired) -> Result<HashMap<String, Memory>> {
    let active = wired.call.vault().list(&Listing::active())?;
    Ok(active.into_iter().map(|memory| (memory.id.name().to_owned(), memory)).collect())
}

/// A text as a list shows it: one line, nothing the gate would refuse, nothing a terminal would obey.
fn excerpt(wired: &Wired, text: &str) -> String {
    visible(&one_line(&wired.call.screen().redacted(text)))
}

fn borrowed(scopes: &Option<Vec<String>>) -> Option<Vec<&str>> {
    scopes.as_ref().map(|scopes| scopes.iter().map(String::as_str).collect())
}

fn consolidate(wired: &Wired, floor: f64, scope: &[String], out: &Out) -> Result<u8> {
    let scopes = scopes(wired, scope);
    let pairs = wired.call.vault().consolidation_candidates(borrowed(&scopes).as_deref(), floor)?;
    let names = by_name(wired)?;
    out.answer(&pairs, || {
        if pairs.is_empty() {
            out.say(format!("no two memories are {floor} alike"));
        }
        for pair in &pairs {
            out.line(format!("{:.2}", pair.score));
            for memory in [&pair.a, &pair.b].into_iter().filter_map(|id| names.get(id)) {
                out.line(format!(
                    "  {}  {}",
                    out.style.cyan(memory.id.as_str()),
                    excerpt(wired, &memory.body)
                ));
            }
        }
    });
    Ok(exit::OK)
}

fn propose(wired: &Wired, scope: &[String], out: &Out) -> Result<u8> {
    let scopes = scopes(wired, scope);
    let proposals = wired.call.vault().propose_deletions(borrowed(&scopes).as_deref())?;
    let names = by_name(wired)?;
    out.answer(&proposals, || {
        if proposals.is_empty() {
            out.say("nothing to propose");
            return;
        }
        let mut table = Table::new(&["ID", "WHY", "TEXT"]);
        for one in &proposals {
            let (id, text) =
                names.get(&one.id).map_or((one.id.clone(), ""), |m| (m.id.to_string(), m.body.as_str()));
            table.row(vec![id, one.reason.clone(), excerpt(wired, text)]);
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
    auto_commit(wired, out, &format!("memory: promote {}", done.id));
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
    let scopes = scopes(wired, scope);
    let (scopes, tags): (_, Vec<&str>) = (borrowed(&scopes), tags.iter().map(String::as_str).collect());
    let filter = Filter { scopes: scopes.as_deref(), category, tags: &tags };
    let records = wired.call.vault().recall(&filter, limit)?;
    out.answer(&records, || {
        let mut table = Table::new(&["ID", "SCOPE", "CATEGORY", "CREATED", "TEXT"]);
        for record in &records {
            let day = record.created_at.get(..10).unwrap_or(&record.created_at);
            table.row(vec![
                record.memory_id().to_string(),
                record.scope.to_string(),
                record.category.to_string(),
                day.to_owned(),
                excerpt(wired, &record.text),
            ]);
        }
        table.print(out);
    });
    Ok(exit::OK)
}

fn bulk_add(wired: &Wired, file: &str, out: &Out) -> Result<u8> {
    let all = verbs::additions(&wired.call, &input::bytes(file)?)?;
    let outcomes = verbs::bulk_add(&wired.call, all)?;
    let mut worst = exit::OK;
    let rows: Vec<Value> = outcomes
        .iter()
        .map(|outcome| match outcome {
            Ok(stored) => json!({ "status": stored.status, "id": stored.id }),
            Err(fault) => {
                worst = worst.max(fault.code.exit());
                json!({ "status": "refused", "code": fault.code.name(), "message": fault.message, "hint": fault.next_step() })
            }
        })
        .collect();
    out.answer(&rows, || {
        for (at, outcome) in outcomes.iter().enumerate() {
            match outcome {
                Ok(stored) => out.line(format!(
                    "{} {}",
                    out.style.green(stored.status),
                    out.style.bold(stored.id.as_str())
                )),
                Err(fault) => {
                    out.line(format!(
                        "{} item {}: {} [{}]",
                        out.style.red("refused"),
                        at + 1,
                        visible(&one_line(&fault.message)),
                        fault.code.name()
                    ));
                    out.line(format!("  {}", out.style.dim(&visible(&one_line(fault.next_step())))));
                }
            }
        }
    });
    auto_commit(wired, out, "memory: add to the vault");
    Ok(worst)
}

fn bulk_delete(wired: &Wired, ids: &[String], out: &Out) -> Result<u8> {
    let retired = verbs::bulk_delete(&wired.call, ids)?;
    out.answer(&retired, || {
        let group = |word: String, ids: &[String]| {
            ids.iter().for_each(|id| out.line(format!("{word} {}", visible(&one_line(id)))))
        };
        group(out.style.green("retired"), &retired.deleted);
        group(out.style.yellow("waits for a person"), &retired.waiting);
        group(out.style.red("not found"), &retired.not_found);
    });
    auto_commit(wired, out, "memory: retire from the vault");
    Ok(match (retired.waiting.is_empty(), retired.deleted.is_empty() && !retired.not_found.is_empty()) {
        (false, _) => exit::WAITS,
        (true, true) => exit::NOT_FOUND,
        (true, false) => exit::OK,
    })
}

//! `recall`, `search` and the prompt hook where `retrieval.match_strategy` is `hybrid`: one ranking over every shelf.
//!
//! Comes in: a prompt or a line of search words. Goes out: the block an agent is given, or hits for people, with why. Never here: ranking, or
//! the rules of the block.

use super::show::{known_kind, visible};
use crate::args::{Recall, Search, Why};
use crate::output::Out;
use crate::wiring::{self, Wired};
use crate::{args::Args, person};
use heirloom_core::code::exit;
use heirloom_core::fault::Result;
use heirloom_core::settings::MatchStrategy;
use heirloom_core::text::one_line;
use heirloom_core::{Code, Fault};
use heirloom_engine::index::Status;
use heirloom_engine::index::shelves::{Look, ShelfIndex};
use heirloom_engine::inject::{Budget, answer_block};
use heirloom_engine::recall::answer::{Asked, Recalled, answer, for_agent, listed};
use heirloom_engine::recall::query::{self, Conditions};
use heirloom_engine::recall::{ledger, snippet};
use heirloom_engine::shelf::Audience;
use heirloom_engine::shelf::anchors::Anchored;
use serde_json::json;

/// Bytes of an index that are brought into memory while a session waits to begin; more are left to another process.
const WARMED_AT_ONCE: u64 = 16 << 20;
/// Shorter prompts say too little.
const PROMPT_MIN: usize = 10;
/// Hits ranked for each one that may be given, since some were given before or are not near enough.
const RANKED: usize = 4;
/// How much of a body is shown below its title, in characters.
const EXCERPT: usize = 160;

/// Whether recall ranks over every shelf here.
pub(crate) fn is_on(wired: &Wired) -> bool {
    wired.call.settings().retrieval.match_strategy == MatchStrategy::Hybrid
}

/// What an agent is given for a prompt.
pub(crate) struct Given {
    pub(crate) block: String,
    pub(crate) hits: Vec<Recalled>,
    /// How many it has been given before in this session.
    pub(crate) repeated: usize,
}

/// Chooses and fences what a prompt calls for, in at most `most` characters; a session is not given what it already has.
pub(crate) fn for_prompt(
    wired: &Wired,
    prompt: &str,
    audience: Audience,
    session: Option<&str>,
    most: usize,
) -> Result<Given> {
    let settings = wired.call.settings();
    let room = settings.retrieval.max_inject;
    let mut given = Given { block: String::new(), hits: Vec::new(), repeated: 0 };
    if !settings.retrieval.enabled || room == 0 || prompt.trim().chars().count() < PROMPT_MIN {
        return Ok(given);
    }
    let mut hits = answer(
        &wired.call,
        &Asked {
            text: prompt.to_owned(),
            conditions: Conditions::default(),
            include_retired: false,
            files: files_in(prompt),
            limit: room * RANKED,
            audience,
            look: Look::Quick,
            unasked: true,
        },
    )?;
    if let Some(session) = session {
        // A ledger that cannot be read costs a repetition, not the memories.
        let has = ledger::in_session(wired.call.project(), session).unwrap_or_default();
        let before = hits.len();
        hits.retain(|hit| has.get(&hit.id) != Some(&hit.told_as()));
        given.repeated = before - hits.len();
    }
    let hits = for_agent(&wired.call, hits, room);
    let budget = Budget { chars: most, tokens: settings.retrieval.max_tokens };
    let (block, shown) = answer_block(&wired.call, &hits, budget);
    given.hits = shown.into_iter().cloned().collect();
    given.block = block;
    Ok(given)
}

/// Brings the index up to date when a session begins. What goes wrong here goes wrong again at the prompt, where it is told.
pub(crate) fn prepare(wired: &Wired) {
    if wired.call.project().root().folder().is_dir() {
        let _ = ShelfIndex::open(&wired.call, Look::Start);
    }
}

/// Has the index ready for the first prompt. The last thing a beginning session does: whoever reads from the disk after this waits behind it.
pub(crate) fn warm(wired: &Wired) {
    match ShelfIndex::warm(&wired.call, WARMED_AT_ONCE) {
        true => super::model::start_in_background(wired),
        false => super::model::warm_in_background(wired),
    }
}

/// Words of a prompt that name files.
fn files_in(prompt: &str) -> Vec<String> {
    let words = prompt.split(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '(' | ')' | ','));
    let path = |word: &&str| {
        word.contains('/') || word.rsplit_once('.').is_some_and(|(_, end)| (1..=4).contains(&end.len()))
    };
    words.map(|word| word.trim_matches(['@', ':', '.'])).filter(path).take(64).map(str::to_owned).collect()
}

/// Why a hit is there, in a line.
pub(crate) fn reasons(why: &[(String, f64)]) -> String {
    let part = |(name, points): &(String, f64)| match *points == 0.0 {
        true => name.clone(),
        false => format!("{name} {points:+.2}"),
    };
    why.iter().map(part).collect::<Vec<_>>().join(", ")
}

pub(crate) fn recall(wired: &Wired, call: &Recall, out: &Out) -> Result<u8> {
    let prompt = call.prompt.join(" ");
    let given = for_prompt(wired, &prompt, person::audience(&wired.call, None), None, usize::MAX)?;
    out.answer(&json!({ "prompt": prompt, "hits": given.hits, "block": given.block }), || {
        if given.hits.is_empty() {
            out.say("nothing fits well enough; `heirloom search` shows what is nearest");
            return;
        }
        out.raw(given.block.as_bytes());
        if call.explain {
            for hit in &given.hits {
                out.say(format!(
                    "{} {}: {}",
                    out.style.dim(&format!("{:.2}", hit.score)),
                    hit.id,
                    reasons(&hit.why)
                ));
            }
        }
    });
    Ok(exit::OK)
}

/// What a line of search words finds, best first; with filters alone, what meets them, newest first.
pub(super) fn found(wired: &Wired, line: &str, call: &Search, look: Look) -> Result<(bool, Vec<Recalled>)> {
    let (text, mut conditions) = query::read(line, wired.call.project().world().now.as_second());
    if let Some(kind) = &call.kind {
        conditions.kinds = vec![known_kind(wired, kind)?.name().to_owned()];
    }
    let filters_only = text.trim().is_empty() && conditions.prefixes.is_empty();
    let asked = Asked {
        text,
        include_retired: call.include_retired || conditions.status == Some(Status::Retired),
        conditions,
        files: Vec::new(),
        limit: call.limit,
        audience: person::audience(&wired.call, call.agent.as_deref()),
        look,
        unasked: false,
    };
    match filters_only {
        true => Ok((true, listed(&wired.call, &asked)?)),
        false => {
            let mut hits = answer(&wired.call, &asked)?;
            hits.retain(|hit| hit.near);
            Ok((false, hits))
        }
    }
}

pub(crate) fn search(wired: &Wired, call: &Search, out: &Out) -> Result<u8> {
    // The shell took the quotes off a phrase: words that came together belong together.
    let quoted = |word: &String| match word.contains(char::is_whitespace) && !word.contains('"') {
        true if call.words.len() > 1 => format!("\"{word}\""),
        _ => word.clone(),
    };
    let line = call.words.iter().map(quoted).collect::<Vec<_>>().join(" ");
    if line.trim().is_empty() && call.kind.is_none() {
        return Err(super::search::nothing_asked());
    }
    let (is_list, hits) = found(wired, &line, call, Look::Thorough)?;
    let shown: Vec<_> =
        hits.iter().map(|hit| (hit, snippet::snippet(&hit.body, &hit.terms, EXCERPT))).collect();
    let value: Vec<_> = shown
        .iter()
        .map(|(hit, cut)| {
            let marks: Vec<[usize; 2]> = cut.marks.iter().map(|m| [m.start, m.end]).collect();
            json!({ "memory": hit, "snippet": { "text": cut.text, "marks": marks } })
        })
        .collect();
    out.answer(&value, || {
        if hits.is_empty() {
            out.say("nothing fits; --include-retired also looks among what is out of use");
        }
        for (hit, cut) in &shown {
            print(out, hit, cut, call.explain, is_list);
        }
    });
    Ok(exit::OK)
}

fn print(out: &Out, hit: &Recalled, cut: &snippet::Snippet, explain: bool, is_list: bool) {
    let title = if hit.title.is_empty() { hit.body.chars().take(80).collect() } else { hit.title.clone() };
    let retired = if hit.retired { format!(" {}", out.style.yellow("retired")) } else { String::new() };
    let stale = hit.cited.as_ref().and_then(Anchored::label);
    let stale =
        stale.map(|label| format!(" {}", out.style.yellow(&visible(&one_line(&label))))).unwrap_or_default();
    out.line(format!(
        "{} {} {}{retired}{stale}",
        out.style.dim(&if is_list { "    -".to_owned() } else { format!("{:5.2}", hit.score) }),
        out.style.dim(&hit.kind),
        visible(&one_line(&title))
    ));
    out.line(format!("      {}", out.style.cyan(&visible(&one_line(&hit.id)))));
    if !hit.title.is_empty() && !cut.text.is_empty() {
        let mut text = String::new();
        let mut at = 0;
        for mark in &cut.marks {
            text.push_str(&visible(&cut.text[at..mark.start]));
            text.push_str(&out.style.bold(&visible(&cut.text[mark.clone()])));
            at = mark.end;
        }
        text.push_str(&visible(&cut.text[at..]));
        let (before, after) = (if cut.cut_before { "…" } else { "" }, if cut.cut_after { "…" } else { "" });
        out.line(format!("      {before}{text}{after}"));
    }
    if explain && !is_list {
        let behind =
            hit.behind.as_ref().map(|id| format!("; behind {id}, which says the same")).unwrap_or_default();
        out.line(format!("      {}", out.style.dim(&format!("{}{behind}", reasons(&hit.why)))));
    }
}

/// `why`: the last time a memory was given to an agent.
pub(crate) fn why(args: &Args, call: &Why, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    let id = super::names::find(&wired.call, &call.id)
        .map_or_else(|_| call.id.clone(), |id| id.as_str().to_owned());
    let Some((line, given)) = ledger::last_given(wired.call.project(), &id)? else {
        return Err(Fault::new(Code::NotFound, format!("`{id}` was not given to any agent lately"))
            .hint("`heirloom recall <prompt> --explain` says what a prompt would call for"));
    };
    out.answer(&json!({ "id": id, "at": line.at, "agent": line.agent, "given": given }), || {
        out.line(format!("{} was given to {} at {}", out.style.bold(&id), line.agent, line.at));
        out.line(format!("  score {:.2}: {}", given.score, reasons(&given.why)));
    });
    Ok(exit::OK)
}

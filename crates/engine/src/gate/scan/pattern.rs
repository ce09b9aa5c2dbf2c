//! Runs pattern rules where their keywords are. In: keyword hits in text order. Out: raw findings
//! with spans of the scanned text. A rule's windows are joined before they are searched, so each
//! byte is searched at most once per rule; patterns are compiled on first use and kept.

use super::{
    check,
    finding::Class,
    rules::{RULES, Rule},
    value,
};
use regex_automata::{
    meta::{Builder, Config, Regex},
    util::syntax,
};
use std::{
    ops::Range,
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

/// After this many bytes a rule is worth the engine that is dear to build and fast to run.
const WARM: u32 = 16 * 1024;

/// The two engines of one rule, each built on first use. The light one costs a few dozen
/// microseconds, which is what a process that gives one verdict can afford.
struct Call {
    light: OnceLock<Option<Regex>>,
    full: OnceLock<Option<Regex>>,
    seen: AtomicU32,
}

static ENGINES: [Call; RULES.len()] =
    [const { Call { light: OnceLock::new(), full: OnceLock::new(), seen: AtomicU32::new(0) } }; RULES.len()];

/// The engine for searching `bytes` bytes. Built-in patterns compile: a test walks them all.
fn call(index: usize, bytes: usize) -> Option<&'static Regex> {
    let call = &ENGINES[index];
    let seen = call.seen.load(Ordering::Relaxed);
    if seen < WARM {
        call.seen.fetch_add(bytes as u32, Ordering::Relaxed);
    }
    if seen.saturating_add(bytes as u32) < WARM {
        let config =
            Config::new().hybrid(false).onepass(false).dfa(false).auto_prefilter(false).utf8_empty(false);
        call.light.get_or_init(|| build(RULES[index].pattern, config)).as_ref()
    } else {
        let config = Config::new().utf8_empty(false).hybrid_cache_capacity(1 << 20);
        call.full.get_or_init(|| build(RULES[index].pattern, config)).as_ref()
    }
}

/// All patterns are byte-wise: formats are ASCII, and Unicode classes cost eighty times as much.
fn build(pattern: &str, config: Config) -> Option<Regex> {
    Builder::new()
        .syntax(syntax::Config::new().unicode(false).utf8(false))
        .configure(config)
        .build(pattern)
        .ok()
}

/// A match: the rule and the bytes that must go.
pub(super) struct Match {
    pub rule: &'static Rule,
    pub span: Range<usize>,
    pub raised: bool,
}

/// The windows still open, one per rule.
pub(super) struct Windows {
    open: Vec<(u32, u32)>,
    touched: Vec<u16>,
}

impl Windows {
    /// Most snippets lead to no rule: nothing is allocated until one does.
    pub fn new() -> Self {
        Windows { open: Vec::new(), touched: Vec::new() }
    }

    /// Notes that a keyword of rule `index` stands at `at`; searches the previous window of that
    /// rule if this one does not touch it.
    pub fn note(&mut self, index: u16, at: Range<usize>, text: &[u8], out: &mut Vec<Match>) {
        let rule = &RULES[index as usize];
        // One byte more on both sides lets the edges of a match be seen.
        let from = at.start.saturating_sub(rule.back + 1) as u32;
        let to = (at.end + rule.ahead + 1).min(text.len()) as u32;
        if self.open.is_empty() {
            self.open = vec![(0, 0); RULES.len()];
        }
        let slot = &mut self.open[index as usize];
        if slot.1 == 0 {
            self.touched.push(index);
            *slot = (from, to);
        } else if from <= slot.1 {
            slot.1 = slot.1.max(to);
        } else {
            let window = std::mem::replace(slot, (from, to));
            search(index, window.0 as usize..window.1 as usize, text, out);
        }
    }

    /// Searches what is still open.
    pub fn finish(mut self, text: &[u8], out: &mut Vec<Match>) {
        for index in std::mem::take(&mut self.touched) {
            let (from, to) = self.open[index as usize];
            search(index, from as usize..to as usize, text, out);
        }
    }
}

fn search(index: u16, window: Range<usize>, text: &[u8], out: &mut Vec<Match>) {
    let slice = &text[window.clone()];
    let rule = &RULES[index as usize];
    // A cheap second look saves building the engine for most texts.
    if !rule.also.is_empty() && !rule.also.iter().any(|word| value::holds(slice, word)) {
        return;
    }
    let Some(regex) = call(index as usize, slice.len()) else {
        return;
    };
    if regex.captures_len() > 1 {
        for found in regex.captures_iter(slice) {
            let Some(whole) = found.get_match() else {
                continue;
            };
            let part =
                (1..found.group_len()).find_map(|group| found.get_group(group)).unwrap_or(whole.span());
            consider(rule, whole.range(), part.range(), &window, text, out);
        }
    } else {
        for found in regex.find_iter(slice) {
            consider(rule, found.range(), found.range(), &window, text, out);
        }
    }
}

fn consider(
    rule: &'static Rule,
    whole: Range<usize>,
    part: Range<usize>,
    window: &Range<usize>,
    text: &[u8],
    out: &mut Vec<Match>,
) {
    let base = window.start;
    let mut whole = whole.start + base..whole.end + base;
    let mut span = part.start + base..part.end + base;
    if whole.end == window.end && span.end == whole.end {
        // The window cut a token: follow it to its end.
        let rest = text[whole.end..]
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'_' | b'-' | b'.'))
            .count();
        whole.end += rest;
        span.end += rest;
    }
    if span.is_empty() || !rule.open && (touches(text, whole.start, true) || touches(text, whole.end, false))
    {
        return;
    }
    let token = &text[span.clone()];
    if rule.class == Class::Secret && value::is_filler(token)
        || rule.entropy > 0.0 && value::entropy(token) < rule.entropy
    {
        return;
    }
    if let Some(raised) = check::passes(rule.check, token, text, &span) {
        out.push(Match { rule, span, raised });
    }
}

/// Whether a match that begins (or ends) at `at` cuts through a longer word.
fn touches(text: &[u8], at: usize, begins: bool) -> bool {
    let word = |i: usize| text.get(i).is_some_and(u8::is_ascii_alphanumeric);
    if begins {
        at > 0 && word(at) && word(at - 1) && !after_escape(text, at)
    } else {
        word(at) && at > 0 && word(at - 1)
    }
}

/// `\nghp_…` inside a quoted string: the letter before the token belongs to an escape.
fn after_escape(text: &[u8], at: usize) -> bool {
    at >= 2 && text[at - 2] == b'\\' && matches!(text[at - 1], b'n' | b't' | b'r')
}

//! Scoring: which kinds of record a conversation has something for.
//!
//! Comes in: turns, the settings, and what earlier blocks of the session already reported. Goes out: findings at or above
//! their threshold, in the order they are reported. Never here: rounding; scores are compared as they are.

use super::statements::{Spoken, Statement, statements, states, title_of};
use super::strip::{Stripped, strip_blocks, strip_code};
use super::turn::{Speaker, Turn};
use super::words::{Heard, Listener, RULES, is_space};
use crate::gate::scan;
use heirloom_core::Settings;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// How far from a primary word a booster counts, in lines.
const REACH: usize = 4;
/// The longest snippet.
const SNIPPET_MAX: usize = 120;
/// The kind that is found by activity instead of words.
pub(super) const SESSION: &str = "session_summary";

/// Per kind, the byte of the transcript up to which an earlier block of this session reported it.
pub type Marks = BTreeMap<String, u64>;

/// How busy a conversation was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Activity {
    /// Calls of tools.
    pub tool_uses: usize,
    /// Different tools among them.
    pub distinct_tools: usize,
    /// Messages of either side.
    pub exchanges: usize,
}

impl Activity {
    fn of(turns: &[Turn], from: u64) -> Activity {
        let counted = || turns.iter().filter(|turn| turn.start >= from);
        let names: BTreeSet<&str> = counted()
            .flat_map(|turn| &turn.tools)
            .map(String::as_str)
            .filter(|name| !name.is_empty())
            .collect();
        Activity {
            tool_uses: counted().map(|turn| turn.tools.len()).sum(),
            distinct_tools: names.len(),
            exchanges: counted().filter(|turn| turn.speaker.is_some()).count(),
        }
    }

    fn score(self) -> f64 {
        let [tools, distinct, exchanges] =
            [self.tool_uses, self.distinct_tools, self.exchanges].map(|count| count as f64);
        // In this order: sums of floats depend on it, and scores are compared unrounded.
        (tools * 0.05 + distinct * 0.1 + exchanges * 0.02).min(1.0)
    }
}

/// A kind that is worth saving.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The kind's name.
    pub kind: &'static str,
    /// From 0 to 1, unrounded.
    pub score: f64,
    /// What the settings say the kind is for.
    pub description: Option<String>,
    /// What it rests on.
    pub(super) evidence: Evidence,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Evidence {
    /// Lines with a primary word, and those of them that were counted.
    Lines {
        matched: Vec<usize>,
        counted: Vec<usize>,
    },
    /// Lines that state it.
    Stated(Vec<usize>),
    Activity(Activity),
}

/// A conversation, ready to be scored.
#[derive(Debug)]
pub struct Conversation {
    turns: Vec<Turn>,
    /// Where each turn begins in `text`.
    places: Vec<usize>,
    /// Everything that was said, without code.
    text: String,
    lines: Vec<Range<usize>>,
    heard: Vec<Heard>,
    /// Lines as they may be shown, where that is not as they are.
    redacted: BTreeMap<usize, String>,
}

impl Conversation {
    /// Joins what was said, takes the code out and listens to every line.
    pub fn new(turns: Vec<Turn>) -> Conversation {
        Conversation::stripped(turns, strip_code)
    }

    /// The same with names in single backticks left in, for [`Conversation::stated`].
    pub fn with_names(turns: Vec<Turn>) -> Conversation {
        Conversation::stripped(turns, strip_blocks)
    }

    fn stripped(turns: Vec<Turn>, strip: fn(&str) -> Stripped) -> Conversation {
        let mut joined = String::new();
        let mut begins = Vec::with_capacity(turns.len());
        for turn in &turns {
            // The line break before a text belongs to the turn before it.
            begins.push(joined.len());
            for text in &turn.texts {
                joined.push_str(text);
                joined.push('\n');
            }
        }
        joined.pop();
        let stripped = strip(&joined);
        let places = begins.into_iter().map(|at| stripped.place(at)).collect();
        let text = stripped.text;
        let mut lines = Vec::new();
        let mut at = 0;
        for line in text.split('\n') {
            lines.push(at..at + line.len());
            at += line.len() + 1;
        }
        let listener = Listener::new();
        let heard = lines.iter().map(|line| listener.hear(&text[line.clone()])).collect();
        Conversation { turns, places, text, lines, heard, redacted: BTreeMap::new() }
    }

    /// Everything that was said, without code.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// From now on shows lines without these findings of the gate's scanner. Scores and line numbers stay.
    pub fn redact(&mut self, findings: &[scan::Finding]) {
        let mut by_line: BTreeMap<usize, Vec<scan::Finding>> = BTreeMap::new();
        for finding in findings {
            let first = self.lines.partition_point(|line| line.end <= finding.span.start);
            for (at, line) in self.lines.iter().enumerate().skip(first) {
                if line.start >= finding.span.end {
                    break;
                }
                let span = finding.span.start.max(line.start) - line.start
                    ..finding.span.end.min(line.end) - line.start;
                by_line.entry(at).or_default().push(scan::Finding { span, ..finding.clone() });
            }
        }
        for (at, found) in by_line {
            let hits: Vec<&scan::Finding> = found.iter().collect();
            self.redacted.insert(at, scan::redact(&self.text[self.lines[at].clone()], &hits));
        }
    }

    /// What is worth saving, by the record format's own scoring.
    pub fn findings(&self, settings: &Settings, reported: &Marks) -> Vec<Finding> {
        let from = |kind: &str| reported.get(kind).copied().unwrap_or(0);
        let by_words = RULES.iter().enumerate().map(|(at, rule)| {
            let (score, evidence) = self.listen(at, self.first_line(from(rule.kind)), |_| true);
            (rule.kind, score, evidence)
        });
        self.worth_it(settings, from(SESSION), by_words)
    }

    /// What a person would save: what is stated, and what the record format's words find in lines that state anything.
    pub fn stated(&self, settings: &Settings, reported: &Marks) -> Vec<Finding> {
        let from = |kind: &str| reported.get(kind).copied().unwrap_or(0);
        let spoken: Vec<Spoken<'_>> = (0..self.lines.len()).map(|at| self.spoken(at)).collect();
        let stated = statements(&spoken, &|kind| self.first_line(from(kind)));
        let is_statement: Vec<bool> = spoken.iter().map(|line| states(line.text)).collect();
        let by_kind = RULES.iter().enumerate().map(|(at, rule)| {
            let (score, evidence) =
                self.listen(at, self.first_line(from(rule.kind)), |line| is_statement[line]);
            let mut of_kind: Vec<&Statement> = stated.iter().filter(|one| one.kind == rule.kind).collect();
            // The clearest first; of equally clear ones the earliest, since this sort keeps their order.
            of_kind.sort_by(|a, b| b.score.total_cmp(&a.score));
            match of_kind.first() {
                Some(best) => {
                    let lines = of_kind.iter().map(|one| one.line).collect();
                    (rule.kind, best.score.max(score), Evidence::Stated(lines))
                }
                None => (rule.kind, score, evidence),
            }
        });
        self.worth_it(settings, from(SESSION), by_kind)
    }

    /// Those of the scores that reach their threshold, and how busy the session was.
    fn worth_it(
        &self,
        settings: &Settings,
        session_from: u64,
        scores: impl Iterator<Item = (&'static str, f64, Evidence)>,
    ) -> Vec<Finding> {
        let activity = Activity::of(&self.turns, session_from);
        scores
            .chain([(SESSION, activity.score(), Evidence::Activity(activity))])
            .filter_map(|(kind, score, evidence)| {
                let category = settings.category(kind)?;
                let threshold = *settings.triage.thresholds.get(kind)?;
                let wanted = category.enabled && category.auto_capture && score >= threshold;
                wanted.then(|| Finding { kind, score, description: category.description.clone(), evidence })
            })
            .collect()
    }

    /// The first line that belongs to a turn from `start` on.
    fn first_line(&self, start: u64) -> usize {
        let turn = self.turns.partition_point(|turn| turn.start < start);
        let Some(&place) = self.places.get(turn) else { return self.lines.len() };
        // Code that spans two turns joins their lines; such a line was heard with the earlier one.
        self.lines.partition_point(|line| line.start < place)
    }

    /// A line as it was said, and by whom.
    fn spoken(&self, at: usize) -> Spoken<'_> {
        let line = self.lines[at].clone();
        let turn = self.places.partition_point(|place| *place <= line.start).checked_sub(1);
        Spoken { text: &self.text[line], by: turn.and_then(|turn| self.speaker(turn)) }
    }

    fn speaker(&self, turn: usize) -> Option<Speaker> {
        self.turns.get(turn)?.speaker
    }

    fn listen(&self, at: usize, from: usize, counts: impl Fn(usize) -> bool) -> (f64, Evidence) {
        let rule = &RULES[at];
        let (mut primary, mut boosted) = (0, 0);
        let (mut matched, mut counted) = (Vec::new(), Vec::new());
        for line in from..self.lines.len() {
            if !self.heard[line].primary(at) || !counts(line) {
                continue;
            }
            matched.push(line);
            let near = line.saturating_sub(REACH)..self.lines.len().min(line + REACH + 1);
            let count = if boosted < rule.max_boosted && self.heard[near].iter().any(|h| h.booster(at)) {
                &mut boosted
            } else if primary < rule.max_primary {
                &mut primary
            } else {
                continue;
            };
            *count += 1;
            counted.push(line);
        }
        let raw = f64::from(primary) * rule.primary_weight + f64::from(boosted) * rule.boosted_weight;
        ((raw / rule.denominator).min(1.0), Evidence::Lines { matched, counted })
    }

    /// A line as it may be shown.
    pub(super) fn line(&self, at: usize) -> &str {
        self.redacted.get(&at).map_or_else(|| &self.text[self.lines[at].clone()], String::as_str)
    }

    pub(super) fn line_count(&self) -> usize {
        self.lines.len()
    }

    /// The sentences a finding rests on; none if it rests on how busy the session was.
    pub fn sentences(&self, finding: &Finding) -> Vec<String> {
        match &finding.evidence {
            Evidence::Activity(_) => Vec::new(),
            Evidence::Stated(_) | Evidence::Lines { .. } => self.snippets(finding),
        }
    }

    /// What a finding rests on, in a few short lines, each once.
    pub(super) fn snippets(&self, finding: &Finding) -> Vec<String> {
        match &finding.evidence {
            Evidence::Activity(activity) => vec![format!(
                "{} tool uses across {} tools, {} exchanges",
                activity.tool_uses, activity.distinct_tools, activity.exchanges
            )],
            Evidence::Stated(lines) => {
                let mut titles: Vec<String> = Vec::new();
                for &at in lines {
                    let title = title_of(self.line(at), finding.kind, self.spoken(at).by);
                    if !title.is_empty() && !titles.contains(&title) {
                        titles.push(title);
                    }
                }
                titles
            }
            Evidence::Lines { counted, .. } => {
                let mut snippets: Vec<String> = Vec::new();
                for &at in counted {
                    let snippet: String =
                        self.line(at).trim_matches(is_space).chars().take(SNIPPET_MAX).collect();
                    if !snippet.is_empty() && !snippets.contains(&snippet) {
                        snippets.push(snippet);
                    }
                }
                snippets
            }
        }
    }
}

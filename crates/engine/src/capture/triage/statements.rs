//! What a person would save, heard sentence by sentence: labelled sentences ("Decision: …") and plain statements.
//!
//! Comes in: the lines of a conversation and who said them. Goes out: statements, each with a kind and a score, and titles made from what was
//! stated. This stands beside the record format's own scoring, which counts words and stays as it is: words alone miss the one clear sentence
//! and hear questions. Never here: a question, a plan, something that was only weighed; code, which was taken out before. Linear in the text.

use super::turn::Speaker;

/// Something that was stated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Statement {
    pub(super) kind: &'static str,
    pub(super) score: f64,
    pub(super) line: usize,
}

/// A labelled sentence is as clear as it gets.
const LABELLED: f64 = 1.0;
/// A statement that gives its reason.
const REASONED: f64 = 0.8;
/// A statement.
const STATED: f64 = 0.6;

/// How far from a fix its trouble may be told, in lines.
const REACH: usize = 8;
const TITLE_MAX: usize = 120;

/// Labels by kind. What stands behind the colon is what was stated.
const LABELS: [(&str, &[&str]); 5] = [
    (
        "decision",
        &[
            "decision",
            "decisions",
            "decided",
            "final decision",
            "the decision",
            "agreed",
            "choice",
            "verdict",
        ],
    ),
    (
        "runbook",
        &[
            "runbook",
            "root cause",
            "cause and fix",
            "how to fix",
            "how to recover",
            "recovery",
            "remedy",
            "workaround",
        ],
    ),
    ("constraint", &["constraint", "constraints", "hard limit", "limitation", "hard requirement"]),
    ("tech_debt", &["tech debt", "technical debt", "debt", "deferred", "known shortcut"]),
    ("preference", &["preference", "preferences", "convention", "house rule", "rule", "standing rule"]),
];

/// What makes a sentence no statement, wherever it stands in it.
const WEIGHED: &[&str] = &[
    "whether",
    "should we",
    "shall we",
    "could we",
    "do we",
    "do you",
    "would you",
    "if we",
    "if you want",
    "what if",
    "have not",
    "haven't",
    "has not",
    "hasn't",
    "not yet",
    "undecided",
    "let me know",
    "we could",
    "could be",
    "we might",
    "might",
    "maybe",
    "perhaps",
    "would be",
    "would need",
    "suppose",
    "for example",
    "i forgot",
    "translate",
];

/// How a decision begins. With a `true` it counts without a reason.
const DECIDED: &[(&str, bool)] = &[
    ("we have decided", true),
    ("we've decided", true),
    ("we decided", true),
    ("it was decided", true),
    ("the team decided", true),
    ("i decided", true),
    ("i've decided", true),
    ("we agreed to", true),
    ("we agreed on", true),
    ("we agreed that", true),
    ("we have chosen", true),
    ("we've chosen", true),
    ("we chose", true),
    ("we went with", true),
    ("we are going with", true),
    ("we're going with", true),
    ("let's go with", true),
    ("lets go with", true),
    ("we settled on", true),
    ("we've settled on", true),
    ("we picked", true),
    ("we selected", true),
    ("we're sticking with", true),
    ("we will go with", true),
    ("we'll go with", true),
    ("decided against", true),
    ("decided on", false),
    ("decided to", false),
    ("we will use", false),
    ("we'll use", false),
    ("we keep", false),
    ("we'll keep", false),
    ("we're moving to", false),
    ("we are moving to", false),
    ("we stay with", false),
];

const REASONS: &[&str] = &[
    "because",
    "since",
    "due to",
    "so that",
    "over",
    "instead of",
    "rather than",
    "reason",
    "rationale",
    "as it",
    "the reason is",
];

const FIXED: &[&str] = &[
    "fixed by",
    "the fix is",
    "the fix was",
    "resolved by",
    "root cause was",
    "root cause is",
    "was caused by",
    "is caused by",
    "solved by",
    "to fix it",
    "to fix this",
    "the solution is",
    "the solution was",
    "the workaround is",
    "if it happens again",
    "to recover",
];

const TROUBLE: &[&str] = &[
    "error",
    "errors",
    "exception",
    "traceback",
    "failed",
    "fails",
    "failing",
    "failure",
    "crash",
    "crashed",
    "crashes",
    "timeout",
    "timeouts",
    "time out",
    "timed out",
    "hang",
    "hangs",
    "hung",
    "panic",
    "oom",
    "killed",
    "500",
    "502",
    "503",
    "504",
    "outage",
    "stuck",
    "refused",
    "refuses",
    "corrupt",
    "leak",
    "leaks",
    "leaked",
    "deadlock",
    "ran out of",
    "disk full",
    "broken",
];

const LIMITS: &[&str] = &[
    "cannot",
    "can't",
    "can not",
    "must not",
    "may not",
    "must stay",
    "limited to",
    "at most",
    "no more than",
    "rate limit",
    "rate limited",
    "quota",
    "not supported",
    "does not support",
    "doesn't support",
    "only supports",
    "only delivers",
    "does not allow",
    "not allowed",
    "forbidden",
    "prohibited",
    "not permitted",
    "capped at",
    "restricted to",
    "limitation",
];

/// What says that a limit is somebody else's, and stays.
const GIVEN: &[&str] = &[
    "turns out",
    "discovered",
    "found that",
    "found out",
    "platform",
    "api",
    "provider",
    "vendor",
    "contract",
    "license",
    "licence",
    "law",
    "gdpr",
    "policy",
    "compliance",
    "legal",
    "permanent",
    "permanently",
    "support confirmed",
    "plan",
    "tier",
    "gateway",
    "browser",
    "safari",
    "ios",
    "android",
    "app store",
    "regulator",
];

/// Limits that are only of the moment, or of whoever speaks.
const PASSING: &[&str] = &[
    "i cannot",
    "i can't",
    "cannot find",
    "can't find",
    "cannot open",
    "can't open",
    "cannot read",
    "cannot connect",
    "can't connect",
    "could not",
];

const SHORTCUT: &[&str] = &[
    "hack",
    "hacky",
    "workaround",
    "shortcut",
    "hard coded",
    "hardcoded",
    "temporary",
    "temporarily",
    "stub",
    "stubbed",
    "skipped",
    "disabled",
    "deferred",
    "put off",
    "postponed",
    "left out",
    "leave",
    "left",
    "duplicated",
    "stays",
    "copied",
];

const LATER: &[&str] = &[
    "for now",
    "later",
    "deferred",
    "revisit",
    "clean up",
    "cleanup",
    "after the launch",
    "after launch",
    "after the release",
    "next sprint",
    "next quarter",
    "eventually",
    "has to go",
    "before the",
    "nobody has time",
];

const NAMED_DEBT: &[&str] = &["tech debt", "technical debt"];

/// What a person says about how things are done. With a `true` an assistant's word counts too.
const WAYS: &[(&str, bool)] = &[
    ("from now on", true),
    ("going forward", true),
    ("our convention", true),
    ("the convention is", true),
    ("agreed convention", true),
    ("always use", false),
    ("never use", false),
    ("i prefer", false),
    ("we prefer", false),
    ("please always", false),
    ("please never", false),
    ("we always", false),
    ("we never", false),
    ("in this repo we", false),
    ("in this project we", false),
    ("house style", false),
    ("make it a rule", false),
    ("as a rule", false),
];

/// A line and who said it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spoken<'a> {
    pub(super) text: &'a str,
    pub(super) by: Option<Speaker>,
}

/// Everything that is stated from a line on. `from` says for each kind where that is.
pub(super) fn statements(lines: &[Spoken<'_>], from: &dyn Fn(&str) -> usize) -> Vec<Statement> {
    let heard: Vec<Heard> = lines.iter().map(|line| Heard::of(line.text)).collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let labelled = label(line.text).and_then(|(kind, rest)| {
            // A label may have a line to itself; then the next one is what it labels.
            let (at, rest) = if rest.is_empty() { next_text(lines, at)? } else { (at, rest) };
            let open =
                ["pending", "tbd", "none", "open", "not ", "to be"].iter().any(|word| starts(rest, word));
            (!open && !is_question(rest)).then_some(Statement { kind, score: LABELLED, line: at })
        });
        if let Some(statement) = labelled {
            found.push(statement);
            continue;
        }
        for sentence in sentences(line.text) {
            let words = Words::of(sentence);
            if is_question(sentence) || words.has_any(WEIGHED) {
                continue;
            }
            if let Some((kind, _)) = label(sentence).filter(|(_, rest)| !rest.is_empty()) {
                found.push(Statement { kind, score: LABELLED, line: at });
                continue;
            }
            let near = at.saturating_sub(REACH)..lines.len().min(at + REACH + 1);
            let trouble = || heard[near.clone()].iter().any(|line| line.trouble);
            let stated = plain(&words, sentence, line.by, trouble);
            found.extend(stated.map(|(kind, score, _)| Statement { kind, score, line: at }));
        }
    }
    found.retain(|statement| statement.line >= from(statement.kind));
    found
}

/// What a sentence states.
fn plain(
    words: &Words,
    sentence: &str,
    by: Option<Speaker>,
    trouble: impl Fn() -> bool,
) -> Option<(&'static str, f64, String)> {
    let reasoned = words.has_any(REASONS);
    if let Some((phrase, alone)) = DECIDED.iter().find(|(phrase, _)| words.has(phrase))
        && (*alone || reasoned)
    {
        let score = if reasoned { REASONED } else { STATED };
        return Some(("decision", score, title(after(sentence, phrase))));
    }
    if words.has_any(NAMED_DEBT) || (words.has_any(SHORTCUT) && words.has_any(LATER)) {
        return Some(("tech_debt", STATED, title(sentence)));
    }
    if words.has_any(FIXED) && trouble() {
        return Some(("runbook", STATED, title(sentence)));
    }
    if words.has_any(LIMITS) && words.has_any(GIVEN) && !words.has_any(PASSING) {
        return Some(("constraint", STATED, title(sentence)));
    }
    let human = by == Some(Speaker::Human);
    let begins =
        human && ["always", "never", "please always", "please never"].iter().any(|word| words.begins(word));
    if begins || WAYS.iter().any(|(phrase, anybody)| (human || *anybody) && words.has(phrase)) {
        let said = ["from now on", "going forward", "please"].iter().find(|phrase| words.begins(phrase));
        let rest = said.map_or(sentence, |phrase| after(sentence, phrase));
        return Some(("preference", STATED, title(rest)));
    }
    None
}

/// What a line states of a kind, as a title. The line may have been redacted since it was heard.
pub(super) fn title_of(line: &str, kind: &str, by: Option<Speaker>) -> String {
    if let Some((_, rest)) = label(line).filter(|(of, rest)| *of == kind && !rest.is_empty()) {
        return title(rest);
    }
    let stated = sentences(line).find_map(|sentence| {
        if let Some((_, rest)) = label(sentence).filter(|(of, rest)| *of == kind && !rest.is_empty()) {
            return Some(title(rest));
        }
        let found = plain(&Words::of(sentence), sentence, by, || true);
        found.filter(|(of, _, _)| *of == kind).map(|(_, _, title)| title)
    });
    stated.unwrap_or_else(|| title(without_marks(line)))
}

/// Whether a line states anything, as opposed to asking and weighing.
pub(super) fn states(line: &str) -> bool {
    let mut any = false;
    for sentence in sentences(line) {
        if !is_question(sentence) && !Words::of(sentence).has_any(WEIGHED) {
            any = true;
        }
    }
    any
}

/// What is heard in a line besides statements.
struct Heard {
    trouble: bool,
}

impl Heard {
    fn of(line: &str) -> Heard {
        Heard { trouble: Words::of(line).has_any(TROUBLE) }
    }
}

/// The label a line begins with, and what stands behind it.
fn label(line: &str) -> Option<(&'static str, &str)> {
    let line = without_marks(line);
    let is_heading = |text: &str| LABELS.iter().any(|(_, all)| all.contains(&text.to_lowercase().as_str()));
    let (name, rest) = match line.find(':') {
        Some(at) => (&line[..at], &line[at + 1..]),
        // A heading of its own needs no colon.
        None if is_heading(line.trim_end_matches(MARKS)) => (line, ""),
        None => return None,
    };
    let name = name.trim_end_matches(MARKS);
    // In lower case it is how people begin a commit's message.
    if !name.starts_with(char::is_uppercase) {
        return None;
    }
    let lower = name.to_lowercase();
    let (kind, _) = LABELS.iter().find(|(_, all)| all.contains(&lower.as_str()))?;
    Some((*kind, rest.trim_start_matches(MARKS).trim_end()))
}

const MARKS: &[char] = &['*', '_', ' ', '\t', '"'];

/// A line without the marks of a list, a heading or a quotation.
fn without_marks(line: &str) -> &str {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || "#>-*_+•".contains(c));
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    match digits.strip_prefix(['.', ')']) {
        Some(rest) if digits.len() < line.len() => rest.trim_start_matches(MARKS),
        _ => line,
    }
}

/// The next line that holds a text, within a few.
fn next_text<'a>(lines: &[Spoken<'a>], at: usize) -> Option<(usize, &'a str)> {
    let near = lines.iter().enumerate().skip(at + 1).take(3);
    near.map(|(at, line)| (at, without_marks(line.text).trim())).find(|(_, text)| !text.is_empty())
}

/// The sentences of a line. A full stop inside a word (a file's name, a version) ends none.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = without_marks(line).trim();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let ends = rest.char_indices().find(|(at, c)| {
            matches!(c, '.' | '!' | '?' | ';') && rest[at + c.len_utf8()..].starts_with(char::is_whitespace)
        });
        let end = ends.map_or(rest.len(), |(at, c)| at + c.len_utf8());
        let (sentence, after) = rest.split_at(end);
        rest = after.trim_start();
        Some(sentence.trim())
    })
}

fn is_question(sentence: &str) -> bool {
    sentence.trim_end_matches(MARKS).ends_with('?')
}

fn starts(text: &str, with: &str) -> bool {
    text.get(..with.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(with))
}

/// The words of a sentence in lower case, each between blanks, so that a phrase is found as a whole.
struct Words(String);

impl Words {
    fn of(text: &str) -> Words {
        let mut out = String::with_capacity(text.len() + 2);
        out.push(' ');
        for c in text.chars() {
            match c {
                '’' | '\'' => out.push('\''),
                _ if c.is_alphanumeric() => out.extend(c.to_lowercase()),
                _ if !out.ends_with(' ') => out.push(' '),
                _ => {}
            }
        }
        if !out.ends_with(' ') {
            out.push(' ');
        }
        Words(out)
    }

    fn has(&self, phrase: &str) -> bool {
        self.0
            .match_indices(phrase)
            .any(|(at, _)| self.0[..at].ends_with(' ') && self.0[at + phrase.len()..].starts_with(' '))
    }

    fn has_any(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.has(phrase))
    }

    fn begins(&self, phrase: &str) -> bool {
        self.0[1..].strip_prefix(phrase).is_some_and(|rest| rest.starts_with(' '))
    }
}

/// What stands behind a phrase, without the words that only join it: "to use Redis" is "use Redis".
fn after<'a>(sentence: &'a str, phrase: &str) -> &'a str {
    let plain = sentence.replace('’', "'");
    // Both have the same characters, so what stands behind the phrase is as long in both.
    let lower: String = plain.chars().map(|c| c.to_ascii_lowercase()).collect();
    let Some(at) = lower.find(phrase) else { return sentence };
    let left = lower[at + phrase.len()..].chars().count();
    let skip = sentence.chars().count() - left;
    let start = sentence.char_indices().nth(skip).map_or(sentence.len(), |(at, _)| at);
    let rest = sentence[start..].trim_start_matches([' ', ',', ':']);
    let joined = ["to ", "on ", "that ", "for "].iter().find(|word| starts(rest, word));
    let rest = joined.map_or(rest, |word| &rest[word.len()..]);
    // What was turned down is not what was decided.
    if phrase == "decided against" || starts(rest, "against ") { sentence } else { rest }
}

/// A title: one line, its first letter a capital, without a full stop.
fn title(text: &str) -> String {
    let text = text.trim_matches(MARKS).trim_end_matches(['.', ';', ':', '!']);
    let cut: String = text.chars().take(TITLE_MAX).collect();
    let mut chars = cut.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
#[path = "statements_tests.rs"]
mod tests;

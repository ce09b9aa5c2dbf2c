//! What a person would save, heard sentence by sentence: labelled sentences ("Decision: …") and plain statements.
//!
//! Comes in: the lines of a conversation and who said them. Goes out: statements, each with a kind and a score, and titles made from what was
//! stated. This stands beside the record format's own scoring, which counts words and stays as it is: words alone miss the one clear sentence
//! and hear questions. Never here: a question, a plan, something that was only weighed; code, which was taken out before. Linear in the text.

use super::phrases::{
    DECIDED, FIXED, FOREIGN_LIMITS, GIVEN, LABELS, LATER, LIMITS, NAMED_DEBT, PASSING, REASONS, SHORTCUT,
    TROUBLE, WAYS, WEIGHED,
};
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
            is_settled(rest).then_some(Statement { kind, score: LABELLED, line: at })
        });
        if let Some(statement) = labelled {
            found.push(statement);
            continue;
        }
        if let Some(statement) = chosen(lines, at) {
            found.push(statement);
            continue;
        }
        for (sentence, next) in with_next(line.text) {
            let words = Words::of(sentence);
            if is_question(sentence) || words.has_any(WEIGHED) {
                continue;
            }
            if let Some((kind, _)) = label(sentence).filter(|(_, rest)| is_settled(rest)) {
                found.push(Statement { kind, score: LABELLED, line: at });
                continue;
            }
            let near = at.saturating_sub(REACH)..lines.len().min(at + REACH + 1);
            let trouble = || heard[near.clone()].iter().any(|line| line.trouble);
            let stated = plain(&words, sentence, next, line.by, trouble);
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
    next: Option<&str>,
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
    if let Some(what) = it_is(sentence) {
        return Some(("decision", if reasoned { REASONED } else { STATED }, title(what)));
    }
    // When it will be done is often said in the sentence behind.
    let later = || words.has_any(LATER) || next.is_some_and(|next| Words::of(next).has_any(LATER));
    if words.has_any(NAMED_DEBT) || (words.has_any(SHORTCUT) && later()) {
        return Some(("tech_debt", STATED, title(sentence)));
    }
    if words.has_any(FIXED) && trouble() {
        return Some(("runbook", STATED, title(sentence)));
    }
    let given = words.has_any(GIVEN) && words.has_any(LIMITS);
    if (given || words.has_any(FOREIGN_LIMITS)) && !words.has_any(PASSING) {
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
    let stated = with_next(line).find_map(|(sentence, next)| {
        if let Some((_, rest)) = label(sentence).filter(|(of, rest)| *of == kind && !rest.is_empty()) {
            return Some(title(rest));
        }
        let found = plain(&Words::of(sentence), sentence, next, by, || true);
        found.filter(|(of, _, _)| *of == kind).map(|(_, _, title)| title)
    });
    stated.unwrap_or_else(|| title(without_marks(line)))
}

/// The answer to "this or that?", if it names one of them and says why. Somebody who asks what is there, and not what to take, gets no decision.
fn chosen(lines: &[Spoken<'_>], at: usize) -> Option<Statement> {
    /// Longer questions ask for more than a choice.
    const QUESTION: usize = 12;
    const ASKS_FOR_FACTS: [&str; 17] = [
        "is", "are", "was", "were", "does", "did", "has", "have", "can", "where", "when", "who", "why",
        "how", "explain", "compare", "what's",
    ];
    let line = &lines[at];
    let before = lines[..at].iter().rposition(|line| !line.text.trim().is_empty())?;
    let asked = &lines[before];
    if line.by != Some(Speaker::Assistant) || asked.by != Some(Speaker::Human) {
        return None;
    }
    let question = asked.text.trim().strip_suffix('?')?;
    let words: Vec<String> = question.split_whitespace().map(plain_word).collect();
    let or = words.iter().position(|word| word == "or")?;
    if words.len() > QUESTION || ASKS_FOR_FACTS.contains(&words[0].as_str()) {
        return None;
    }
    let options: Vec<&str> = [or.checked_sub(1)?, or + 1]
        .iter()
        .filter_map(|at| words.get(*at))
        .map(String::as_str)
        .filter(|word| word.chars().count() > 2)
        .collect();
    let mut answer = sentences(line.text);
    let first = answer.next()?;
    let named = first.split_whitespace().map(plain_word).any(|word| {
        options.iter().any(|option| word.starts_with(option) || (word.len() > 2 && option.starts_with(&word)))
    });
    let says_why = answer.next().is_some() || Words::of(first).has_any(REASONS);
    let settled = !is_question(first) && !Words::of(line.text).has_any(WEIGHED) && !is_question(line.text);
    (named && says_why && settled).then_some(Statement { kind: "decision", score: STATED, line: at })
}

/// A word in lower case, without what stands around it.
fn plain_word(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

/// The sentences of a line, each with the one behind it.
fn with_next(line: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let mut all = sentences(line).peekable();
    std::iter::from_fn(move || {
        let sentence = all.next()?;
        Some((sentence, all.peek().copied()))
    })
}

/// What was chosen by "Postgres it is", with what is said about it.
fn it_is(sentence: &str) -> Option<&str> {
    /// A longer beginning is a sentence of its own.
    const FEW: usize = 6;
    let ends = || sentence.strip_suffix('.').unwrap_or(sentence).strip_suffix(" it is").map(str::len);
    let at = sentence.find(" it is:").or_else(ends)?;
    let few = sentence[..at].split_whitespace().count() <= FEW;
    // "Left as it is", "what it is": there it is no choice.
    let last = sentence[..at].rsplit(' ').next().unwrap_or_default().to_lowercase();
    const JOINS: [&str; 12] =
        ["as", "like", "what", "how", "where", "whether", "that", "because", "since", "and", "but", "if"];
    (few && !JOINS.contains(&last.as_str())).then_some(sentence)
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

/// Whether what stands behind a label is something, and not open or asked.
fn is_settled(rest: &str) -> bool {
    const OPEN: [&str; 6] = ["pending", "tbd", "none", "open", "not ", "to be"];
    !rest.is_empty() && !OPEN.iter().any(|word| starts(rest, word)) && !is_question(rest)
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

/// Whether a sentence asks. Somebody who only wants a nod has said what is to be.
fn is_question(sentence: &str) -> bool {
    const NODS: [&str; 5] = [", ok?", ", okay?", ", right?", ", please?", ", yes?"];
    let sentence = sentence.trim_end_matches(MARKS).to_lowercase();
    sentence.ends_with('?') && !NODS.iter().any(|nod| sentence.ends_with(nod))
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
    // What is done belongs to what was decided: "we keep the monolith" is "keep the monolith".
    let verb = ["keep", "use"].into_iter().find(|verb| phrase.ends_with(verb)).map_or(0, str::len);
    let left = lower[at + phrase.len() - verb..].chars().count();
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

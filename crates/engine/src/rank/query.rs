//! What a person types into `search`: words, "phrases", prefix*, -exclusion and filters such as `kind:decision`.
//!
//! In: the line as typed. Out: the words to rank by and the conditions a hit must meet. What has the name of no filter is a word; a filter
//! with a value it does not take is refused, but for whoever is still typing. Linear in the length of the line.

use crate::index::{Card, Document, Status, Trust};

use super::when;
use heirloom_core::{Code, Fault, fault::Result};

/// What a hit must meet besides matching.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions {
    /// Phrases that must stand in title or text.
    pub phrases: Vec<String>,
    /// Beginnings of words, at least one word of each.
    pub prefixes: Vec<String>,
    /// Words or phrases that must not be there.
    pub without: Vec<String>,
    /// Kinds, any of them.
    pub kinds: Vec<String>,
    /// Tags, all of them.
    pub tags: Vec<String>,
    /// Scopes, any of them.
    pub scopes: Vec<String>,
    /// Status; active if none is named.
    pub status: Option<Status>,
    /// Lowest trust.
    pub trust: Option<Trust>,
    /// Not before this instant.
    pub since: Option<i64>,
    /// Names of work such as `TASK-12` that must stand in title or text as a whole, all of them.
    pub contexts: Vec<String>,
    /// The last word, which may still be typed: words that begin with it count as well. No condition by itself.
    pub begun: Option<String>,
}

/// What a part of a line is.
enum Part {
    Word,
    Filter,
    /// A filter with a value it does not take: its name and what it takes.
    Wrong(&'static str, &'static str),
}

/// Reads a line; `now` is what "7d" counts back from. Gives the words to rank by and the conditions. A filter that is not whole yet is passed
/// over, since somebody may still type it.
pub fn read(line: &str, now: i64) -> (String, Conditions) {
    let (words, conditions, _) = taken(line, now);
    (words, conditions)
}

/// The same for a line that is whole: a filter with a value it does not take is refused.
pub fn checked(line: &str, now: i64) -> Result<(String, Conditions)> {
    let (words, conditions, wrong) = taken(line, now);
    match wrong {
        None => Ok((words, conditions)),
        Some((part, name, takes)) => Err(Fault::new(Code::Usage, format!("`{part}` is not a filter"))
            .fact("filter", name)
            .hint(format!("`{name}:` takes {takes}"))),
    }
}

/// The filters of a line, each as it was typed.
pub fn filters(line: &str, now: i64) -> Vec<String> {
    let is_filter = |(part, quoted): &(&str, bool)| {
        !quoted
            && !part.starts_with('-')
            && matches!(filter(part, now, &mut Conditions::default()), Part::Filter)
    };
    parts(line).into_iter().filter(is_filter).map(|(part, _)| part.to_owned()).collect()
}

type Wrong = (String, &'static str, &'static str);

fn taken(line: &str, now: i64) -> (String, Conditions, Option<Wrong>) {
    let mut words = Vec::new();
    let mut c = Conditions::default();
    let mut wrong = None;
    for (part, quoted) in parts(line) {
        c.begun = None;
        let (part, not) = match part.strip_prefix('-') {
            Some(rest) if !rest.is_empty() => (rest.trim_matches('"'), true),
            _ => (part, false),
        };
        if not {
            c.without.push(part.to_owned());
        } else if quoted {
            let phrase = part.trim_matches('"');
            c.phrases.push(phrase.to_owned());
            words.push(phrase);
        } else if let Some(prefix) =
            part.strip_suffix('*').filter(|p| p.chars().all(char::is_alphanumeric) && p.len() >= 2)
        {
            c.prefixes.push(prefix.to_lowercase());
        } else {
            match filter(part, now, &mut c) {
                Part::Filter => {}
                Part::Wrong(name, takes) => wrong = wrong.or(Some((part.to_owned(), name, takes))),
                Part::Word => {
                    words.push(part);
                    c.begun = part.chars().all(char::is_alphanumeric).then(|| part.to_lowercase());
                }
            }
        }
    }
    c.begun.take_if(|_| line.ends_with(char::is_whitespace));
    (words.join(" "), c, wrong)
}

/// Splits at spaces outside quotes; says whether a part was quoted.
fn parts(line: &str) -> Vec<(&str, bool)> {
    let mut out = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let body = rest.strip_prefix('-').unwrap_or(rest);
        let sign = rest.len() - body.len();
        let closing = body.strip_prefix('"').and_then(|inner| inner.find('"')).map(|at| sign + at + 2);
        let end = closing.or_else(|| rest.find(char::is_whitespace)).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        if part.chars().any(char::is_alphanumeric) {
            out.push((part, closing.is_some()));
        }
        rest = after.trim_start();
    }
    out
}

fn filter(part: &str, now: i64, c: &mut Conditions) -> Part {
    let Some((name, value)) = part.split_once(':').filter(|(_, v)| !v.is_empty()) else { return Part::Word };
    let value = value.trim_matches('"');
    match name.to_ascii_lowercase().as_str() {
        "kind" => c.kinds.push(value.to_lowercase()),
        "tag" => c.tags.push(value.to_lowercase()),
        "scope" => c.scopes.push(value.to_owned()),
        "context" => c.contexts.push(value.to_owned()),
        "status" => match value {
            "active" => c.status = Some(Status::Active),
            "retired" => c.status = Some(Status::Retired),
            _ => return Part::Wrong("status", "active or retired"),
        },
        "trust" => match value {
            "high" => c.trust = Some(Trust::High),
            "medium" => c.trust = Some(Trust::Medium),
            "low" => c.trust = Some(Trust::Low),
            _ => return Part::Wrong("trust", "high, medium or low, the least there may be"),
        },
        "since" => match since(value, now) {
            Some(at) => c.since = Some(at),
            None => return Part::Wrong("since", "7d, 2w, 3m, 1y, a day such as 2026-01-15, or yesterday"),
        },
        _ => return Part::Word,
    }
    Part::Filter
}

/// `7d`, `2w`, `3m`, `1y`, a date, or a word such as `yesterday`.
fn since(value: &str, now: i64) -> Option<i64> {
    let days = match value.char_indices().next_back()? {
        (at, unit @ ('d' | 'w' | 'm' | 'y')) => {
            value[..at].parse::<i64>().ok().filter(|n| (0..100_000).contains(n)).map(|n| {
                n * match unit {
                    'd' => 1,
                    'w' => 7,
                    'm' => 30,
                    _ => 365,
                }
            })
        }
        _ => None,
    };
    days.map(|d| now - d * 86_400).or_else(|| when::window(value, now).map(|w| w.from * 86_400))
}

impl Conditions {
    /// Whether any condition needs a memory's text.
    pub(crate) fn need_text(&self) -> bool {
        !(self.phrases.is_empty()
            && self.prefixes.is_empty()
            && self.without.is_empty()
            && self.contexts.is_empty()
            && self.tags.is_empty())
    }

    /// Whether there is any condition at all.
    pub fn is_empty(&self) -> bool {
        *self == Self { begun: self.begun.clone(), ..Self::default() }
    }

    /// Whether a card meets what can be seen on it.
    pub(crate) fn admit(&self, card: &Card) -> bool {
        (self.kinds.is_empty() || self.kinds.iter().any(|kind| **kind == *card.kind))
            && (self.scopes.is_empty() || self.scopes.iter().any(|scope| **scope == *card.scope))
            && self.trust.is_none_or(|t| card.trust >= t)
            && self.since.is_none_or(|s| card.occurred_at >= s)
            && self.status.is_none_or(|s| card.status == s)
    }

    /// Whether a memory meets what needs its text.
    pub(crate) fn admit_text(&self, d: &Document) -> bool {
        let text = folded(&format!("{}\n{}\n{}\n{}", d.title, d.speaker, d.body, d.tags.join(" ")));
        let holds = |phrase: &String| text.contains(&folded(phrase));
        let tagged = |tag: &String| d.tags.iter().any(|t| t.to_lowercase() == *tag);
        self.phrases.iter().all(holds)
            && self.contexts.iter().all(holds)
            && !self.without.iter().any(holds)
            && self.prefixes.iter().all(|p| text.contains(&format!(" {p}")))
            && self.tags.iter().all(tagged)
    }
}

/// Words in lower case with one space between and around them, so that a phrase is found only at whole words.
fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push(' ');
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()) {
        out.extend(word.chars().flat_map(char::to_lowercase));
        out.push(' ');
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_is_read_into_words_and_conditions() {
        let (words, c) = read(
            r#"queue "exactly once" migrat* -kafka -"dead letter" kind:decision tag:DB trust:high since:7d status:retired x:y"#,
            1_000_000,
        );
        assert_eq!(words, "queue exactly once x:y");
        assert_eq!(c.phrases, ["exactly once"]);
        assert_eq!(c.prefixes, ["migrat"]);
        assert_eq!(c.without, ["kafka", "dead letter"]);
        assert_eq!(c.kinds, ["decision"]);
        assert_eq!(c.tags, ["db"]);
        assert_eq!(c.trust, Some(Trust::High));
        assert_eq!(c.since, Some(1_000_000 - 7 * 86_400));
        assert_eq!(c.status, Some(Status::Retired));
    }

    #[test]
    fn a_filter_with_a_value_it_does_not_take_is_refused_with_what_it_takes() {
        for (line, takes) in
            [("queue since:banana", "7d"), ("trust:some", "medium"), ("status:gone kind:note", "retired")]
        {
            let fault = checked(line, 0).unwrap_err();
            assert!(fault.next_step().contains(takes), "{line}");
            // While somebody types it is passed over.
            assert!(!read(line, 0).0.contains(':'), "{line}");
        }
        assert!(checked("x:y http://a.b queue since:7d Tag:DB", 0).is_ok());
        assert_eq!(filters("queue tag:db -x since:banana kind:note", 0), ["tag:db", "kind:note"]);
    }

    #[test]
    fn the_last_word_may_be_the_beginning_of_one_until_a_space_ends_it() {
        assert_eq!(read("the Que", 0).1.begun.as_deref(), Some("que"));
        assert_eq!(read("the que ", 0).1.begun, None);
        assert_eq!(read("que tag:db", 0).1.begun, None);
        assert!(read("que", 0).1.is_empty(), "it is no condition");
    }

    #[test]
    fn a_context_stands_in_a_text_as_a_whole() {
        let d = Document { body: "Fixed for TASK-12.".into(), ..Document::default() };
        let fits = |line: &str| read(line, 0).1.admit_text(&d);
        assert!(fits("context:TASK-12") && fits("context:task-12") && !fits("context:TASK-1"));
    }

    #[test]
    fn phrases_are_found_at_whole_words_only() {
        let d = Document { body: "We deliver Exactly-once.".into(), ..Document::default() };
        let phrase = |p: &str| Conditions { phrases: vec![p.into()], ..Conditions::default() }.admit_text(&d);
        assert!(phrase("exactly once"));
        assert!(!phrase("actly once"));
        let without = Conditions { without: vec!["deliver".into()], ..Conditions::default() };
        assert!(!without.admit_text(&d));
    }

    proptest! {
        #[test]
        fn any_line_is_read(line in ".{0,200}") {
            let (words, c) = read(&line, 0);
            prop_assert!(words.len() <= line.len());
            let _ = c.admit_text(&Document::default());
        }
    }
}

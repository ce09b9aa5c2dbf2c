//! What a person types into `search`: words, "phrases", prefix*, -exclusion and filters such as `kind:decision`.
//!
//! In: the line as typed. Out: the words to rank by and the conditions a hit must meet. Nothing is an error:
//! what cannot be read as a filter is a word. Linear in the length of the line.

use crate::index::{Card, Document, Status, Trust};

use super::when;

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
}

/// Reads a line; `now` is what "7d" counts back from. Gives the words to rank by and the conditions.
pub fn read(line: &str, now: i64) -> (String, Conditions) {
    let mut words = Vec::new();
    let mut c = Conditions::default();
    for (part, quoted) in parts(line) {
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
        } else if !filter(part, now, &mut c) {
            words.push(part);
        }
    }
    (words.join(" "), c)
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

fn filter(part: &str, now: i64, c: &mut Conditions) -> bool {
    let Some((name, value)) = part.split_once(':').filter(|(_, v)| !v.is_empty()) else { return false };
    let value = value.trim_matches('"');
    match name {
        "kind" => c.kinds.push(value.to_owned()),
        "tag" => c.tags.push(value.to_lowercase()),
        "scope" => c.scopes.push(value.to_owned()),
        "status" => match value {
            "active" => c.status = Some(Status::Active),
            "retired" => c.status = Some(Status::Retired),
            _ => return false,
        },
        "trust" => match value {
            "high" => c.trust = Some(Trust::High),
            "medium" => c.trust = Some(Trust::Medium),
            "low" => c.trust = Some(Trust::Low),
            _ => return false,
        },
        "since" => match since(value, now) {
            Some(at) => c.since = Some(at),
            None => return false,
        },
        _ => return false,
    }
    true
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
            && self.tags.is_empty())
    }

    /// Whether there is any condition at all.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
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

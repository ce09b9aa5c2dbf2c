//! The words triage listens for, and how a line is searched for them.
//!
//! Comes in: a line. Goes out: for which kinds it has a primary word and for which a booster. Never here: counting.
//!
//! Phrases are matched as whole words in any case, with any white space between the words of a phrase but no line break.
//! "Word", "white space" and "any case" are those of Python's `re`, which the record format's own tools use: letters, digits
//! and underscore make a word; the Kelvin sign is a `k`, the long s an `s`, dotted and dotless i an `i`.

use unicode_normalization::char::is_combining_mark;

/// What a kind listens for and how much it counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pub(super) kind: &'static str,
    /// One per line is counted.
    primary: &'static [&'static str],
    /// Near a primary word they make it count for more.
    boosters: &'static [&'static str],
    pub(super) primary_weight: f64,
    pub(super) boosted_weight: f64,
    pub(super) max_primary: u32,
    pub(super) max_boosted: u32,
    pub(super) denominator: f64,
}

const RULE: Rule = Rule {
    kind: "",
    primary: &[],
    boosters: &[],
    primary_weight: 0.3,
    boosted_weight: 0.5,
    max_primary: 3,
    max_boosted: 2,
    denominator: 1.9,
};

/// The kinds that are found by words, in the order they are reported.
pub(super) const RULES: [Rule; 5] = [
    Rule {
        kind: "decision",
        primary: &["decided", "chose", "selected", "went with", "picked"],
        boosters: &["because", "due to", "reason", "rationale", "over", "instead of", "rather than"],
        ..RULE
    },
    Rule {
        kind: "runbook",
        primary: &[
            "error",
            "exception",
            "traceback",
            "stack trace",
            "stacktrace",
            "failed",
            "failure",
            "crash",
        ],
        boosters: &["fixed by", "resolved", "root cause", "solution", "workaround", "the fix"],
        primary_weight: 0.2,
        boosted_weight: 0.6,
        denominator: 1.8,
        ..RULE
    },
    Rule {
        kind: "constraint",
        primary: &["limitation", "api limit", "cannot", "restricted", "not supported", "quota", "rate limit"],
        boosters: &["discovered", "found that", "turns out", "permanently", "enduring", "platform"],
        ..RULE
    },
    Rule {
        kind: "tech_debt",
        primary: &[
            "todo",
            "deferred",
            "tech debt",
            "workaround",
            "hack",
            "will address later",
            "technical debt",
        ],
        boosters: &["because", "for now", "temporary", "acknowledged", "deferring", "cost", "risk"],
        ..RULE
    },
    Rule {
        kind: "preference",
        primary: &[
            "always use",
            "prefer",
            "convention",
            "from now on",
            "standard",
            "never use",
            "established",
        ],
        boosters: &["agreed", "going forward", "consistently", "rule", "practice", "workflow"],
        primary_weight: 0.35,
        denominator: 2.05,
        ..RULE
    },
];

/// What a line says, a bit per rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Heard {
    primary: u8,
    boosters: u8,
}

impl Heard {
    pub(super) fn primary(self, rule: usize) -> bool {
        self.primary >> rule & 1 == 1
    }

    pub(super) fn booster(self, rule: usize) -> bool {
        self.boosters >> rule & 1 == 1
    }
}

/// All phrases, sorted by their first word so that most words of a line cost one binary search.
#[derive(Debug)]
pub(super) struct Listener {
    phrases: Vec<(Vec<&'static str>, Heard)>,
}

/// The longest word of any phrase; longer words of a line are passed over.
const LONGEST: usize = 12;

impl Listener {
    pub(super) fn new() -> Listener {
        let mut phrases = Vec::new();
        for (at, rule) in RULES.iter().enumerate() {
            let bit = 1u8 << at;
            phrases.extend(rule.primary.iter().map(|p| (p, Heard { primary: bit, boosters: 0 })));
            phrases.extend(rule.boosters.iter().map(|p| (p, Heard { primary: 0, boosters: bit })));
        }
        let mut phrases: Vec<_> =
            phrases.into_iter().map(|(p, heard)| (p.split(' ').collect::<Vec<_>>(), heard)).collect();
        phrases.sort_by(|a, b| a.0.cmp(&b.0));
        Listener { phrases }
    }

    /// What a line says.
    pub(super) fn hear(&self, line: &str) -> Heard {
        let mut heard = Heard::default();
        let mut rest = line;
        while let Some(word) = next_word(&mut rest) {
            let Some(first) = folded(word) else { continue };
            let first = first.as_str();
            let from = self.phrases.partition_point(|(words, _)| words[0] < first);
            for (words, found) in self.phrases[from..].iter().take_while(|(words, _)| words[0] == first) {
                if follows(rest, &words[1..]) {
                    heard.primary |= found.primary;
                    heard.boosters |= found.boosters;
                }
            }
        }
        heard
    }
}

/// The kinds a line has a primary word for.
pub(crate) fn kinds_heard(line: &str) -> Vec<&'static str> {
    let heard = Listener::new().hear(line);
    (0..RULES.len()).filter(|rule| heard.primary(*rule)).map(|rule| RULES[rule].kind).collect()
}

/// Whether `rest` goes on with these words, white space before each.
fn follows(mut rest: &str, words: &[&str]) -> bool {
    words.iter().all(|expected| {
        let inner = rest.trim_start_matches(is_space);
        if inner.len() == rest.len() || !inner.starts_with(is_word) {
            return false;
        }
        rest = inner;
        next_word(&mut rest).and_then(folded).is_some_and(|word| word.as_str() == *expected)
    })
}

/// Takes the next word off the text.
fn next_word<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let start = rest.find(is_word)?;
    let text = &rest[start..];
    let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
    *rest = &text[end..];
    Some(&text[..end])
}

/// A short word in lower-case ASCII.
struct Folded {
    bytes: [u8; LONGEST],
    len: usize,
}

impl Folded {
    fn as_str(&self) -> &str {
        // Only ASCII is ever put in.
        std::str::from_utf8(&self.bytes[..self.len]).unwrap_or_default()
    }
}

fn folded(word: &str) -> Option<Folded> {
    let mut out = Folded { bytes: [0; LONGEST], len: 0 };
    for c in word.chars() {
        let folded = match c {
            '\u{130}' | '\u{131}' => b'i',
            '\u{17f}' => b's',
            '\u{212a}' => b'k',
            _ if c.is_ascii() => (c as u8).to_ascii_lowercase(),
            _ => return None,
        };
        *out.bytes.get_mut(out.len)? = folded;
        out.len += 1;
    }
    Some(out)
}

pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\x1c'..='\x1f')
}

fn is_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    // Rust also calls marks and circled letters alphabetic.
    c.is_alphanumeric()
        && !is_combining_mark(c)
        && !matches!(c, '\u{24b6}'..='\u{24e9}' | '\u{1f130}'..='\u{1f149}' | '\u{1f150}'..='\u{1f169}' | '\u{1f170}'..='\u{1f189}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(line: &str) -> (Vec<&'static str>, Vec<&'static str>) {
        let heard = Listener::new().hear(line);
        let named = |test: &dyn Fn(usize) -> bool| {
            RULES.iter().enumerate().filter(|(at, _)| test(*at)).map(|(_, r)| r.kind).collect::<Vec<_>>()
        };
        (named(&|at| heard.primary(at)), named(&|at| heard.booster(at)))
    }

    #[test]
    fn every_phrase_is_heard_alone_and_inside_a_sentence() {
        for rule in RULES {
            for phrase in rule.primary {
                assert!(kinds(phrase).0.contains(&rule.kind), "{phrase}");
                assert!(kinds(&format!("x, {} y", phrase.to_uppercase())).0.contains(&rule.kind), "{phrase}");
            }
            for phrase in rule.boosters {
                assert!(kinds(phrase).1.contains(&rule.kind), "{phrase}");
            }
            for word in rule.primary.iter().chain(rule.boosters).flat_map(|p| p.split(' ')) {
                assert!(word.len() <= LONGEST);
            }
        }
    }

    #[test]
    fn only_whole_words_are_heard() {
        for line in ["undecided", "decided_on", "decidedé", "errors", "stack-trace", "went, with", "went"] {
            assert_eq!(kinds(line), (vec![], vec![]), "{line}");
        }
        for line in
            ["(decided)", "é decided", "decided\u{301}", "decided日", "went \t\u{a0} with", "de\u{131}cided"]
        {
            let expected = !matches!(line, "decided日" | "de\u{131}cided");
            assert_eq!(kinds(line).0 == ["decision"], expected, "{line}");
        }
    }

    #[test]
    fn any_case_means_what_it_means_elsewhere() {
        assert_eq!(kinds("P\u{130}C\u{212a}ED").0, ["decision"]);
        assert_eq!(kinds("cho\u{17f}e").0, ["decision"]);
    }

    #[test]
    fn a_phrase_may_begin_where_another_broke_off() {
        assert_eq!(kinds("will will address later").0, ["tech_debt"]);
        assert_eq!(kinds("rate rate limit").0, ["constraint"]);
    }
}

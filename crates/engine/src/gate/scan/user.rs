//! Rules and exceptions that come from settings. In: plain data. Out: compiled rules and a list of
//! what could not be used, each with the place and what to write instead. A bad rule costs only
//! itself.

use super::{
    finding::{Class, Finding, Level},
    value,
};
use regex::bytes::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, fmt};

/// A rule of the user's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserRule {
    /// Name in reports and allow-lists.
    pub id: String,
    /// What a match is; a secret unless said otherwise.
    #[serde(default = "secret")]
    pub class: Class,
    /// How sure a match is; probable unless said otherwise.
    #[serde(default = "probable")]
    pub level: Level,
    /// A regular expression over bytes, without look-around. The first group, if any, is the part to redact.
    pub pattern: String,
    /// Literals of which one must be in the text, letters of any case; none means always look.
    #[serde(default)]
    pub keywords: Vec<String>,
    /// Least entropy of a match in bits per byte.
    #[serde(default)]
    pub entropy: f32,
}

fn secret() -> Class {
    Class::Secret
}

fn probable() -> Level {
    Level::Probable
}

/// Something that is known to be harmless. All fields that are given must fit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Allow {
    /// The rule that would report it.
    #[serde(default)]
    pub rule: Option<String>,
    /// The exact text.
    #[serde(default)]
    pub value: Option<String>,
    /// A regular expression that matches the whole text.
    #[serde(default)]
    pub pattern: Option<String>,
    /// Why; an exception without a reason is not used.
    #[serde(default)]
    pub reason: String,
}

/// Why a rule or an exception of the user is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError {
    /// The rule's id, or `allow[n]`.
    pub rule: String,
    /// Byte offset in the pattern, where there is one.
    pub position: Option<usize>,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub fix: String,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rule {}", self.rule)?;
        if let Some(position) = self.position {
            write!(f, ", position {position}")?;
        }
        write!(f, ": {}; {}", self.message, self.fix)
    }
}

impl std::error::Error for RuleError {}

/// A user rule ready to run.
#[derive(Debug)]
pub(super) struct Compiled {
    id: Cow<'static, str>,
    class: Class,
    level: Level,
    regex: Regex,
    keywords: Vec<String>,
    entropy: f32,
    /// A pattern that may match any length is run line by line, so that the time stays linear.
    bounded: bool,
}

/// An exception ready to use.
#[derive(Debug)]
pub(super) struct Exception {
    rule: Option<String>,
    value: Option<String>,
    regex: Option<Regex>,
}

/// Lines are cut into pieces of this size for unbounded patterns.
const PIECE: usize = 4096;

/// Bytes a pattern may take when it is compiled, and again while it runs.
const COMPILED: usize = 256 << 10;
/// The longest pattern.
const PATTERN: usize = 2_000;
/// Most literals of one rule.
const KEYWORDS: usize = 64;
/// Most rules, and most exceptions, that are compiled.
pub(super) const MOST: usize = 256;

/// Why those above [`MOST`] are not used.
pub(super) fn too_many(list: &str, count: usize) -> RuleError {
    RuleError {
        rule: list.into(),
        position: None,
        message: format!("{} more than {MOST} are not used", count.saturating_sub(MOST)),
        fix: "join patterns with `|`, or leave some out".into(),
    }
}

impl Compiled {
    pub fn new(rule: &UserRule) -> Result<Self, RuleError> {
        if rule.id.is_empty() {
            return Err(RuleError {
                rule: "(no id)".into(),
                position: None,
                message: "the rule has no id".into(),
                fix: "give it a short name in `id`".into(),
            });
        }
        if rule.keywords.len() > KEYWORDS {
            return Err(RuleError {
                rule: rule.id.clone(),
                position: None,
                message: format!("the rule has more than {KEYWORDS} keywords"),
                fix: "keep those that nearly every match has".into(),
            });
        }
        let regex = compile(&rule.id, &rule.pattern)?;
        if regex.is_match(b"") {
            return Err(RuleError {
                rule: rule.id.clone(),
                position: None,
                message: "the pattern matches empty text".into(),
                fix: "ask for at least one character, for example `+` instead of `*`".into(),
            });
        }
        let hir = regex_syntax::ParserBuilder::new().unicode(false).utf8(false).build().parse(&rule.pattern);
        let bounded = hir.is_ok_and(|h| h.properties().maximum_len().is_some_and(|n| n <= PIECE));
        Ok(Compiled {
            id: Cow::Owned(rule.id.clone()),
            class: rule.class,
            level: rule.level,
            regex,
            keywords: rule.keywords.clone(),
            entropy: rule.entropy,
            bounded,
        })
    }

    pub fn run(&self, text: &[u8], out: &mut Vec<Finding>) {
        if !self.keywords.is_empty() && !self.keywords.iter().any(|k| !k.is_empty() && value::holds(text, k))
        {
            return;
        }
        if self.bounded {
            return self.piece(text, 0, out);
        }
        let mut from = 0;
        for line in text.split_inclusive(|b| *b == b'\n') {
            for part in line.chunks(PIECE) {
                self.piece(part, from, out);
                from += part.len();
            }
        }
    }

    fn piece(&self, text: &[u8], base: usize, out: &mut Vec<Finding>) {
        for found in self.regex.captures_iter(text) {
            let Some(whole) = found.get(0) else { continue };
            let part = found.iter().skip(1).flatten().next().unwrap_or(whole);
            if self.entropy <= 0.0 || value::entropy(part.as_bytes()) >= self.entropy {
                out.push(Finding {
                    class: self.class,
                    level: self.level,
                    rule: self.id.clone(),
                    span: part.start() + base..part.end() + base,
                });
            }
        }
    }
}

impl Exception {
    pub fn new(at: usize, allow: &Allow) -> Result<Self, RuleError> {
        let name = format!("allow[{at}]");
        let wrong = |message: &str, fix: &str| RuleError {
            rule: name.clone(),
            position: None,
            message: message.into(),
            fix: fix.into(),
        };
        if allow.reason.trim().is_empty() {
            return Err(wrong("the exception has no reason", "say in `reason` why this text is harmless"));
        }
        if allow.rule.is_none() && allow.value.is_none() && allow.pattern.is_none() {
            return Err(wrong("the exception fits everything", "name a `rule`, a `value` or a `pattern`"));
        }
        let regex = allow
            .pattern
            .as_ref()
            .map(|p| compile(&name, p).and_then(|_| compile(&name, &format!("^(?:{p})$"))))
            .transpose()?;
        Ok(Exception { rule: allow.rule.clone(), value: allow.value.clone(), regex })
    }

    pub fn covers(&self, finding: &Finding, text: &str) -> bool {
        let part = &text[finding.span.clone()];
        self.rule.as_ref().is_none_or(|rule| *rule == finding.rule)
            && self.value.as_ref().is_none_or(|value| value == part)
            && self.regex.as_ref().is_none_or(|regex| regex.is_match(part.as_bytes()))
    }
}

/// Compiles a user's pattern; the error says where and what to change.
fn compile(rule: &str, text: &str) -> Result<Regex, RuleError> {
    if text.len() > PATTERN {
        return Err(RuleError {
            rule: rule.into(),
            position: Some(PATTERN),
            message: format!("the pattern is longer than {PATTERN} bytes"),
            fix: "make several rules of it".into(),
        });
    }
    let error =
        match RegexBuilder::new(text).unicode(false).size_limit(COMPILED).dfa_size_limit(COMPILED).build() {
            Ok(regex) => return Ok(regex),
            Err(error) => error,
        };
    let parsed = regex_syntax::ParserBuilder::new().unicode(false).utf8(false).build().parse(text);
    let (position, message) = match parsed {
        Err(regex_syntax::Error::Parse(e)) => (Some(e.span().start.offset), e.kind().to_string()),
        Err(regex_syntax::Error::Translate(e)) => (Some(e.span().start.offset), e.kind().to_string()),
        _ => (None, error.to_string()),
    };
    let fix = match () {
        () if message.contains("look-around") => {
            "look-around is not available: match the neighbours too and put the secret in a group"
        }
        () if message.contains("backreference") => {
            "backreferences are not available: write the alternatives out"
        }
        () if message.contains("Unicode") => {
            "patterns are byte-wise: list the bytes or characters instead of a Unicode class"
        }
        () if message.contains("size limit") => "the pattern is too large: lower its repeat counts",
        () => "escape the character at that position with `\\`, or close what it opens",
    };
    Err(RuleError { rule: rule.into(), position, message, fix: fix.into() })
}

#[cfg(test)]
mod tests {
    use super::super::Scanner;
    use super::*;

    fn rule(id: usize, pattern: String) -> UserRule {
        let (class, level) = (Class::Secret, Level::Probable);
        UserRule { id: format!("r{id}"), class, level, pattern, keywords: Vec::new(), entropy: 0.0 }
    }

    #[test]
    fn rules_above_the_most_are_not_compiled_and_are_counted() {
        let rules: Vec<UserRule> = (0..1_000).map(|n| rule(n, format!("zq{n}x+"))).collect();
        let (scanner, errors) = Scanner::with_user_rules(&rules, &[]);
        assert_eq!((scanner.rules.len(), errors.len()), (MOST, 1));
        assert!(errors[0].message.contains("744"), "{}", errors[0]);
        assert!(!scanner.scan("see zq255xx").is_empty() && scanner.scan("see zq256xx").is_empty());
    }

    #[test]
    fn a_pattern_that_grows_when_it_is_compiled_costs_only_itself() {
        let mut many = rule(3, "good+".to_owned());
        many.keywords = (0..1_000).map(|n| format!("k{n}")).collect();
        let rules = [
            rule(0, "(((a{1,50}){1,50}){1,50}b)+".to_owned()),
            rule(1, "x".repeat(PATTERN + 1)),
            rule(2, "good+".to_owned()),
            many,
        ];
        let (scanner, errors) = Scanner::with_user_rules(&rules, &[]);
        assert_eq!((scanner.rules.len(), errors.len()), (1, 3), "{errors:?}");
        assert!(errors.iter().all(|error| !error.fix.is_empty()));
    }
}

//! The scanner behind the gate: text in, findings out. One pass of a static keyword index decides
//! which of the rules (data in `rules/*.toml`) are looked at; patterns are compiled on first use.
//! Nothing here stores, prints, or decides what happens to a finding: that is the gate's policy.
//!
//! The order of work: hidden text, then a normalised [`view`](self) of the text, then formats,
//! announced credentials and numbers in it, then one layer of wrapping undone and scanned again.

mod assign;
mod bare;
mod check;
mod chosen;
mod finding;
mod fold;
mod hidden;
mod iban;
mod ids;
mod letters;
mod mention;
mod national;
mod near;
mod pair;
mod parse;
mod pattern;
mod peel;
mod pem;
mod prefilter;
mod redact;
mod rules;
mod said;
pub mod seed;
mod sweep;
mod table;
mod url;
mod user;
mod value;
mod view;

#[cfg(test)]
mod blind_tests;
#[cfg(test)]
mod laws_tests;
#[cfg(test)]
mod passwords_tests;
#[cfg(test)]
mod rules_tests;

pub use finding::{Class, Finding, Level};
pub use redact::{marker, neutralise, redact};
pub use user::{Allow, RuleError, UserRule};

use peel::Peel;
use rules::{Cue, RULES, Use};
use std::borrow::Cow;
use std::ops::Range;
use view::View;

/// Finds secrets, personal data and injection markers. Cheap to make, shared by reference.
#[derive(Debug, Default)]
pub struct Scanner {
    rules: Vec<user::Compiled>,
    exceptions: Vec<user::Exception>,
}

/// What a stretch of text is scanned for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Aim {
    /// Everything.
    All,
    /// Formats of tokens: the text was put together from pieces.
    Tokens,
    /// Instructions: the text was spelled in another way.
    Instructions,
}

/// A finding in the coordinates of the text that was scanned.
struct Raw {
    class: Class,
    level: Level,
    rule: &'static str,
    span: Range<usize>,
}

impl Scanner {
    /// The built-in rules.
    pub fn standard() -> Scanner {
        Scanner::default()
    }

    /// The built-in rules, the user's rules and exceptions; what cannot be used is reported and
    /// left out.
    pub fn with_user_rules(rules: &[UserRule], allow: &[Allow]) -> (Scanner, Vec<RuleError>) {
        let mut errors = Vec::new();
        let mut keep = |error: RuleError| errors.push(error);
        for (list, count) in [("gate.rules", rules.len()), ("gate.allow", allow.len())] {
            if count > user::MOST {
                keep(user::too_many(list, count));
            }
        }
        let rules = rules
            .iter()
            .take(user::MOST)
            .filter_map(|r| user::Compiled::new(r).map_err(&mut keep).ok())
            .collect();
        let exceptions = allow
            .iter()
            .take(user::MOST)
            .enumerate()
            .filter_map(|(i, a)| user::Exception::new(i, a).map_err(&mut keep).ok())
            .collect();
        (Scanner { rules, exceptions }, errors)
    }

    /// All findings in `text`, in order; spans do not overlap within a class.
    pub fn scan(&self, text: &str) -> Vec<Finding> {
        self.found(text, Aim::All)
    }

    /// The injection markers among the findings, without the work that only the others need.
    pub fn instructions(&self, text: &str) -> Vec<Finding> {
        let mut found = self.found(text, Aim::Instructions);
        found.retain(|f| f.class == Class::Injection);
        found
    }

    fn found(&self, text: &str, aim: Aim) -> Vec<Finding> {
        let mut found = Vec::new();
        hidden::hidden(text, &mut found);
        for (plain, span) in hidden::spelled(text) {
            let mut inner = Vec::new();
            wrapped(plain.as_bytes(), aim, span, &mut inner);
            found.extend(inner.into_iter().map(|r| Finding::new(r.class, r.level, r.rule, r.span)));
        }
        let view = View::of(text);
        let bytes = view.text.as_bytes();
        let mut raw = Vec::new();
        let cues = pass(bytes, aim, &mut raw);
        if aim == Aim::All {
            sweep::sweep(bytes, |s| {
                raw.push(Raw { class: s.class, level: s.level, rule: s.rule, span: s.span })
            });
            bare::bare(bytes, |level, rule, span| raw.push(Raw { class: Class::Secret, level, rule, span }));
        }
        peel::peel(bytes, |snippet| match snippet.peel {
            Peel::Decoded => wrapped(&snippet.text, aim, snippet.span, &mut raw),
            _ if aim == Aim::All => wrapped(&snippet.text, Aim::Tokens, snippet.span, &mut raw),
            _ => {}
        });
        respelled(text, &view, cues, aim, &mut raw);
        found.extend(raw.into_iter().map(|r| Finding::new(r.class, r.level, r.rule, view.origin(r.span))));
        for rule in &self.rules {
            let mut own = Vec::new();
            rule.run(bytes, &mut own);
            found.extend(own.into_iter().map(|f| Finding { span: view.origin(f.span.clone()), ..f }));
        }
        found.iter_mut().for_each(|f| f.span = redact::snap(text, f.span.clone()));
        if !self.exceptions.is_empty() {
            found.retain(|f| !self.exceptions.iter().any(|e| e.covers(f, text)));
        }
        let quoted = redact::contents(text);
        if !quoted.is_empty() {
            found.retain(|f| f.class != Class::Injection || !redact::inside(&quoted, &f.span));
        }
        found.iter_mut().filter(|f| f.class == Class::Injection).for_each(|f| {
            if f.level == Level::Probable && mention::mentioned(text, &f.span) {
                f.level = Level::Possible;
            }
        });
        finding::settle(found)
    }

    /// `text` with the findings that are wanted made harmless. What is taken away may have hidden another one, so it is looked at again.
    pub fn neutralised(&self, text: &str, wanted: impl Fn(&Finding) -> bool) -> String {
        self.tamed(text, Aim::All, wanted).into_owned()
    }

    /// `text` with every injection marker made harmless, for whoever reads it next. A text without any costs one look and is not copied. A
    /// fence's own tag is left to whoever puts the text into a fence: escaping spells it out.
    pub fn calmed<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.tamed(text, Aim::Instructions, |f| f.class == Class::Injection && f.rule != "block-tag")
    }

    fn tamed<'t>(&self, text: &'t str, aim: Aim, wanted: impl Fn(&Finding) -> bool) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for _ in 0..ROUNDS {
            let found = self.found(&text, aim);
            let tame: Vec<&Finding> = found.iter().filter(|f| wanted(f)).collect();
            if tame.is_empty() {
                break;
            }
            let next = neutralise(&text, &tame);
            if next == *text {
                break;
            }
            text = Cow::Owned(next);
        }
        text
    }
}

/// How often a text is looked at again; each time uncovers what one layer hid.
const ROUNDS: usize = 8;

/// What a pass has seen besides findings.
#[derive(Clone, Copy, Default)]
struct Seen {
    leet: bool,
    rot13: bool,
    reversed: bool,
}

/// One pass of the keyword index over `text` and everything it leads to.
fn pass(text: &[u8], aim: Aim, out: &mut Vec<Raw>) -> Seen {
    let mut windows = pattern::Windows::new();
    let mut nears = near::Seen::new();
    let mut matches = Vec::new();
    let mut seen = Seen::default();
    let mut judged = assign::Judged::default();
    let mut services = assign::Judged::default();
    prefilter::hits(text, |hit| {
        let at = hit.start..hit.end;
        for used in hit.uses {
            match *used {
                Use::Rule(index) => {
                    let rule = &RULES[index as usize];
                    let wanted = match aim {
                        Aim::All => true,
                        Aim::Tokens => rule.class == Class::Secret,
                        Aim::Instructions => rule.class == Class::Injection,
                    };
                    if wanted && (!rule.context || whole_word(text, &at)) {
                        windows.note(index, at.clone(), text, &mut matches);
                    }
                }
                Use::Near(index, group) if aim != Aim::Tokens => {
                    if let Some((near, span)) = nears.note(index, group, &at, text) {
                        out.push(Raw { class: near.class, level: near.level, rule: near.id, span });
                    }
                }
                Use::Cue(Cue::Rot13) => seen.rot13 = true,
                Use::Cue(Cue::Reversed) => seen.reversed = true,
                Use::Cue(cue) if aim == Aim::All => cue_at(text, at.clone(), cue, &mut judged, out),
                Use::Service if aim == Aim::All => {
                    if let Some(a) = assign::issued(text, at.clone(), &mut services) {
                        out.push(Raw { class: Class::Secret, level: a.level, rule: a.rule, span: a.span });
                    }
                }
                Use::Leet => seen.leet = true,
                _ => {}
            }
        }
    });
    windows.finish(text, &mut matches);
    out.extend(matches.into_iter().map(|m| Raw {
        class: m.rule.class,
        level: if m.raised { Level::Definite } else { m.rule.level },
        rule: m.rule.id,
        span: m.span,
    }));
    seen
}

/// Whether a word of context stands alone; longer ones may go on (`Krankenversicherung…`).
fn whole_word(text: &[u8], at: &Range<usize>) -> bool {
    let letter = |i: Option<usize>| i.and_then(|i| text.get(i)).is_some_and(u8::is_ascii_alphanumeric);
    !(letter(Some(at.start)) && letter(at.start.checked_sub(1)))
        && (at.len() > 4 || !(letter(Some(at.end)) && letter(Some(at.end - 1))))
}

fn cue_at(text: &[u8], at: Range<usize>, cue: Cue, judged: &mut assign::Judged, out: &mut Vec<Raw>) {
    let secret = |level, rule, span| Raw { class: Class::Secret, level, rule, span };
    match cue {
        Cue::Url => out
            .extend(url::credentials(text, at).map(|span| secret(Level::Probable, "url-credentials", span))),
        Cue::Pem => out.extend(pem::block(text, at).map(|span| secret(Level::Definite, "private-key", span))),
        Cue::Pair => out.extend(pair::pair(text, at).map(|a| secret(a.level, a.rule, a.span))),
        Cue::Password | Cue::Phrase => {
            let at = short_name(text, at);
            table::column(text, &at, |span| out.push(secret(Level::Probable, "password-column", span)));
            let found =
                assign::announced(text, at.clone(), cue, judged).or_else(|| chosen::chosen(text, at, cue));
            out.extend(found.map(|a| secret(a.level, a.rule, a.span)));
        }
        _ => out.extend(assign::announced(text, at, cue, judged).map(|a| secret(a.level, a.rule, a.span))),
    }
}

/// A name of two letters is found by what stands beside it (`_pw`, `pw:`); only the letters count.
fn short_name(text: &[u8], at: Range<usize>) -> Range<usize> {
    match text[at.clone()].windows(2).position(|w| w.eq_ignore_ascii_case(b"pw")) {
        Some(i) if at.len() < 8 && text.get(at.start + i + 2).is_none_or(|b| !b.is_ascii_alphanumeric()) => {
            at.start + i..at.start + i + 2
        }
        _ => at,
    }
}

/// Scans text that was wrapped; what is found stands for the whole wrapping.
fn wrapped(text: &[u8], aim: Aim, span: Range<usize>, out: &mut Vec<Raw>) {
    let mut inner = Vec::new();
    pass(text, aim, &mut inner);
    out.extend(
        inner.into_iter().filter(|r| r.class != Class::Contact).map(|r| Raw { span: span.clone(), ..r }),
    );
}

/// Instructions spelled with digits, by rot13, or backwards; by the last two also secrets.
fn respelled(text: &str, view: &View<'_>, seen: Seen, aim: Aim, out: &mut Vec<Raw>) {
    let bytes = view.text.as_bytes();
    if seen.leet {
        let plain: Vec<u8> = bytes
            .iter()
            .map(|b| match b {
                b'0' => b'o',
                b'1' => b'i',
                b'3' => b'e',
                b'4' | b'@' => b'a',
                b'5' | b'$' => b's',
                b'7' => b't',
                b'8' => b'b',
                b => *b,
            })
            .collect();
        pass(&plain, Aim::Instructions, out);
    }
    if seen.rot13 {
        let turn = |b: u8, first: u8| (b - first + 13) % 26 + first;
        let plain: Vec<u8> = bytes
            .iter()
            .map(|&b| match b {
                b'a'..=b'z' => turn(b, b'a'),
                b'A'..=b'Z' => turn(b, b'A'),
                b => b,
            })
            .collect();
        pass(&plain, aim, out);
    }
    if seen.reversed || text.contains('\u{202e}') {
        let plain: Vec<u8> = bytes.iter().rev().copied().collect();
        let mut inner = Vec::new();
        pass(&plain, aim, &mut inner);
        out.extend(
            inner
                .into_iter()
                .map(|r| Raw { span: bytes.len() - r.span.end..bytes.len() - r.span.start, ..r }),
        );
    }
}

//! The screen: looks at a draft's texts with the scanner and does what the policy table says.
//!
//! Comes in: a draft and a check. Goes out: the draft, perhaps with spans replaced; remarks; a refusal. Never here: a found
//! span's text in a remark or a fault.

use super::policy::Act;
use super::policy::Row;
use super::scan::{self, Class, Finding, Scanner};
use super::scan::{Allow, RuleError, UserRule};
use super::{Check, Draft, Entry, Remark, refusal, seed};
use heirloom_core::settings::{Contact, Gate as GateSettings, Profile};
use heirloom_core::{Trust, fault::Result};
use serde_json::Value;

/// The scanner with the settings that steer it.
#[derive(Debug)]
pub struct Screen {
    scanner: Scanner,
    settings: GateSettings,
    rule_errors: Vec<RuleError>,
}

/// What the gate would do with a text, and what it would store.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The strongest act any finding calls for; reporting is keeping.
    pub act: Act,
    /// What was found, with what is done about each.
    pub findings: Vec<(Finding, Act)>,
    /// The text as it would be stored; nothing if it would not be.
    pub stored: Option<String>,
}

impl Screen {
    /// A screen for these settings.
    pub fn new(settings: GateSettings) -> Screen {
        let mut errors = Vec::new();
        let rules: Vec<UserRule> = settings
            .rules
            .iter()
            .enumerate()
            .filter_map(|(at, v)| parsed("rules", at, v, &mut errors))
            .collect();
        let allow: Vec<Allow> = settings
            .allow
            .iter()
            .enumerate()
            .filter_map(|(at, v)| parsed("allow", at, v, &mut errors))
            .collect();
        let (scanner, more) = if rules.is_empty() && allow.is_empty() {
            (Scanner::standard(), Vec::new())
        } else {
            Scanner::with_user_rules(&rules, &allow)
        };
        errors.extend(more);
        Screen { scanner, settings, rule_errors: errors }
    }

    /// The profile of a row's shelf.
    pub(super) fn profile(&self, row: Row) -> Profile {
        self.settings.profile(row.shelf())
    }

    /// Rules and exceptions of the settings that cannot be used, with place and fix.
    pub fn rule_errors(&self) -> &[RuleError] {
        &self.rule_errors
    }

    /// What the gate would do with a text on that row.
    pub fn verdict(&self, text: &str, row: Row, trust: Trust) -> Verdict {
        let findings = self.found(text, row, trust);
        let act = findings.iter().map(|(_, act)| *act).max().unwrap_or(Act::Keep);
        let with = |wanted: &[Act]| -> Vec<&Finding> {
            findings.iter().filter(|(_, act)| wanted.contains(act)).map(|(finding, _)| finding).collect()
        };
        let stored = match act {
            Act::Refuse | Act::Confirm => None,
            Act::Redact => {
                let cut = scan::redact(text, &with(&[Act::Redact]));
                // Spans moved with the cut; what is left to tame is looked for again.
                Some(self.scanner.neutralised(&cut, |f| self.act(row, f, trust) == Act::Neutralise))
            }
            Act::Neutralise => {
                Some(self.scanner.neutralised(text, |f| self.act(row, f, trust) == Act::Neutralise))
            }
            Act::Keep | Act::Report => Some(text.to_owned()),
        };
        Verdict { act, findings, stored }
    }

    /// What is in a text, with what would be done about each on that row, in the order of the text.
    pub fn found(&self, text: &str, row: Row, trust: Trust) -> Vec<(Finding, Act)> {
        let findings = self.scanner.scan(text).into_iter();
        findings.map(|finding| (self.act(row, &finding, trust), finding)).map(|(act, f)| (f, act)).collect()
    }

    /// The rules by which a text may hold a secret, if none says that it surely or probably does: what a person is to be asked about.
    pub fn possible_secrets(&self, text: &str, row: Row, trust: Trust) -> Vec<String> {
        if self.settings.profile(row.shelf()) == Profile::Seed {
            return seed::possible(row, text).into_iter().map(str::to_owned).collect();
        }
        let findings = self.verdict(text, row, trust).findings;
        let secrets = || findings.iter().map(|(finding, _)| finding).filter(|f| f.class == Class::Secret);
        if secrets().all(|f| f.level == scan::Level::Possible) {
            secrets().map(|f| f.rule.to_string()).collect()
        } else {
            Vec::new()
        }
    }

    /// What is in a text, whatever would be done about it.
    pub fn scan(&self, text: &str) -> Vec<Finding> {
        self.scanner.scan(text)
    }

    /// The text with every injection marker made harmless.
    pub fn calmed<'t>(&self, text: &'t str) -> std::borrow::Cow<'t, str> {
        self.scanner.calmed(text)
    }

    /// The text with every definite or probable secret and identity number replaced: for everything that is shown or kept
    /// beside the shelves.
    pub fn redacted(&self, text: &str) -> String {
        let findings = self.scanner.scan(text);
        let hits: Vec<&Finding> = findings
            .iter()
            .filter(|f| matches!(f.class, Class::Secret | Class::Identity) && f.level > scan::Level::Possible)
            .collect();
        scan::redact(text, &hits)
    }

    /// Cuts out of every text of a draft what must not wait on a disk in clear: secrets by rule and in plain words, identity numbers, and what
    /// the row's policy would cut. What was found in one text goes from all of them, because a fact repeats its sentence in parts. Says whether
    /// something was cut.
    pub fn cut_draft(&self, draft: &mut Value, row: Row) -> bool {
        let mut held: Vec<String> = Vec::new();
        let cut = leaves(draft, &mut |text| {
            let mut findings = self.scanner.scan(text);
            findings.retain(|f| match f.class {
                Class::Secret => {
                    f.level > scan::Level::Possible || row.act(f.class, f.level, Trust::High) != Act::Keep
                }
                Class::Identity => f.level > scan::Level::Possible,
                Class::Contact => self.settings.contact == Contact::Redact,
                Class::Injection => false,
            });
            findings.extend(super::spoken(text));
            let secret = |f: &&Finding| f.class != Class::Contact;
            held.extend(
                findings.iter().filter(secret).filter_map(|f| text.get(f.span.clone())).map(str::to_owned),
            );
            *text = scan::redact(text, &findings.iter().collect::<Vec<_>>());
        });
        // Shorter ones would take pieces out of ordinary words.
        held.retain(|secret| secret.chars().count() >= 4);
        let again = leaves(draft, &mut |text| {
            for secret in held.iter().filter(|secret| !secret.starts_with('[')) {
                *text = text.replace(secret.as_str(), scan::marker(Class::Secret));
            }
        });
        cut || again
    }

    /// Whether the gate would refuse this text on that row: for content that reached a file without the gate.
    pub fn would_refuse(&self, text: &str, row: Row) -> Option<String> {
        if self.settings.profile(row.shelf()) == Profile::Seed {
            return seed::refuses(row, text).map(str::to_owned);
        }
        let trust = heirloom_core::Channel::Repository.trust();
        self.scanner
            .scan(text)
            .into_iter()
            .find(|f| self.act(row, f, trust) == Act::Refuse)
            .map(|finding| finding.rule.into_owned())
    }

    /// A text as it may wait for a person: without what a person would be asked about. `Err` is the rule by which the gate refuses it, so
    /// that no secret ever lies in the inbox.
    pub(crate) fn as_it_waits(
        &self,
        text: &str,
        row: Row,
        trust: Trust,
    ) -> std::result::Result<String, String> {
        if self.settings.profile(row.shelf()) == Profile::Seed {
            return seed::refuses(row, text).map_or(Ok(text.to_owned()), |rule| Err(rule.to_owned()));
        }
        let findings = self.scanner.scan(text);
        let act = |finding: &Finding| self.act(row, finding, trust);
        if let Some(refused) = findings.iter().find(|finding| act(finding) == Act::Refuse) {
            return Err(refused.rule.to_string());
        }
        let cut: Vec<&Finding> =
            findings.iter().filter(|f| matches!(act(f), Act::Confirm | Act::Redact)).collect();
        Ok(if cut.is_empty() { text.to_owned() } else { scan::redact(text, &cut) })
    }

    fn act(&self, row: Row, finding: &Finding, trust: Trust) -> Act {
        match row.act(finding.class, finding.level, trust) {
            Act::Report if finding.class == Class::Contact && self.settings.contact == Contact::Redact => {
                Act::Redact
            }
            act => act,
        }
    }

    /// Runs one check over all texts of a draft. Returns whether the draft must wait for a person.
    pub(super) fn look<D: Draft>(
        &self,
        draft: &mut D,
        check: Check,
        entry: Entry,
        seen: &mut Seen,
        remarks: &mut Vec<Remark>,
    ) -> Result<bool> {
        let class = match check {
            Check::Secrets => Class::Secret,
            Check::Identity => Class::Identity,
            Check::Contact => Class::Contact,
            Check::Injection => Class::Injection,
            Check::Shape | Check::Noise | Check::Trust | Check::Duplicate | Check::Capacity => {
                return Ok(false);
            }
        };
        let row = draft.row();
        if self.settings.profile(row.shelf()) == Profile::Seed {
            return seed::look(draft, check, entry, remarks);
        }
        let trust = draft.trust(entry);
        let strict = draft.refuses_secrets();
        let mut refused = None;
        let mut waits = false;
        let mut place = 0;
        draft.texts(&mut |field, text| {
            let findings = seen.at(place, || self.scanner.scan(text));
            let mut cut = Vec::new();
            let mut tame = false;
            for finding in findings.iter().filter(|f| f.class == class) {
                let act = match self.act(row, finding, trust) {
                    // A person who was asked about a mere possibility has decided.
                    Act::Redact | Act::Confirm
                        if entry.confirmed
                            && class == Class::Secret
                            && finding.level == scan::Level::Possible =>
                    {
                        Act::Report
                    }
                    Act::Redact if strict && class == Class::Secret => Act::Refuse,
                    act => act,
                };
                match act {
                    Act::Refuse if refused.is_none() => refused = Some(refusal(field, class, &finding.rule)),
                    Act::Refuse => {}
                    // What waits in the inbox waits without the span.
                    Act::Confirm => {
                        waits = true;
                        cut.push(finding);
                    }
                    Act::Redact => cut.push(finding),
                    Act::Neutralise => tame = true,
                    Act::Keep | Act::Report => {}
                }
                if act != Act::Keep {
                    remarks.push(Remark {
                        field: field.to_owned(),
                        class,
                        level: finding.level,
                        rule: finding.rule.clone().into_owned(),
                        act,
                    });
                }
            }
            let changed = if !cut.is_empty() {
                Some(scan::redact(text, &cut))
            } else if tame {
                let wanted = |f: &Finding| f.class == class && self.act(row, f, trust) == Act::Neutralise;
                Some(self.scanner.neutralised(text, wanted))
            } else {
                None
            };
            if let Some(changed) = changed {
                *text = changed;
                seen.forget(place);
            }
            place += 1;
        });
        refused.map_or(Ok(waits), Err)
    }
}

/// Shows every text of a value; the visitor may change it. Says whether it did.
fn leaves(value: &mut Value, visit: &mut dyn FnMut(&mut String)) -> bool {
    match value {
        Value::String(text) => {
            let before = text.clone();
            visit(text);
            *text != before
        }
        // Counted, not asked for any: every one of them must be visited.
        Value::Array(items) => {
            items.iter_mut().map(|item| usize::from(leaves(item, visit))).sum::<usize>() > 0
        }
        Value::Object(map) => {
            map.values_mut().map(|item| usize::from(leaves(item, visit))).sum::<usize>() > 0
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// What the scanner already said about each text of a draft, so that four checks cost one scan.
#[derive(Debug, Default)]
pub(super) struct Seen(Vec<Option<Vec<Finding>>>);

impl Seen {
    fn at(&mut self, place: usize, scan: impl FnOnce() -> Vec<Finding>) -> &[Finding] {
        if self.0.len() <= place {
            self.0.resize(place + 1, None);
        }
        self.0[place].get_or_insert_with(scan)
    }

    fn forget(&mut self, place: usize) {
        self.0[place] = None;
    }
}

/// A rule or exception as the settings have it; one that cannot be read costs only itself.
fn parsed<T: serde::de::DeserializeOwned>(
    list: &str,
    at: usize,
    value: &Value,
    errors: &mut Vec<RuleError>,
) -> Option<T> {
    match serde_json::from_value(value.clone()) {
        Ok(parsed) => Some(parsed),
        Err(e) => {
            let name = value
                .get("id")
                .and_then(Value::as_str)
                .map_or_else(|| format!("{list}[{at}]"), str::to_owned);
            let fix = "see `gate.rules` and `gate.allow` in the settings reference".to_owned();
            errors.push(RuleError { rule: name, position: None, message: e.to_string(), fix });
            None
        }
    }
}

//! A turn or a fact that wants to be stored.
//!
//! Comes in: a memory with everything but a verdict. Goes out, through the gate: the same memory with secrets redacted (turns) or refused
//! (facts), low-trust orders made harmless, and turns cut at ten thousand characters, in this order. Never here: a store.

use super::{Indexed, LONGEST_TEXT, Stored, Tier};
use crate::gate::policy::Row;
use crate::gate::scan::seed::levels::{LONGEST, TRUNCATED};
use crate::gate::{Check, Draft, Entry};
use heirloom_core::settings::Profile;
use heirloom_core::{Code, Fault, Trust, fault::Result};

/// The longest fact, in characters: a sentence or two, not a document.
pub const LONGEST_FACT: usize = 2_000;

/// The longest name of a session, message or tool, and the longest tag.
const LONGEST_NAME: usize = 200;

const TURN: &[Check] = &[
    Check::Shape,
    Check::Secrets,
    Check::Identity,
    Check::Contact,
    Check::Injection,
    Check::Trust,
    Check::Capacity,
];

/// Secrets come before trust, so that no secret waits in the inbox.
const FACT: &[Check] = &[
    Check::Shape,
    Check::Secrets,
    Check::Identity,
    Check::Contact,
    Check::Injection,
    Check::Trust,
    Check::Duplicate,
];

/// Under `gate.profile: seed` redaction, markers and the cut are one step of the original list.
const SEED_TURN: &[Check] = &[Check::Shape, Check::Secrets, Check::Injection, Check::Trust];
const SEED_FACT: &[Check] = &[Check::Shape, Check::Trust, Check::Secrets, Check::Duplicate];
/// There, what is not trusted is asked about before anybody looks at it.
const SEED_UNTRUSTED: &[Check] = &[Check::Shape, Check::Trust];

/// A memory on its way to the store.
#[derive(Debug, Clone, PartialEq)]
pub struct TierDraft {
    pub(super) stored: Stored,
    pub(super) profile: Profile,
    /// Stored facts that say nearly the same, or the opposite.
    pub(super) beside: Vec<Beside>,
    /// Whether a person has seen this very draft.
    pub(super) confirmed: bool,
    /// Whether a person gave the writer's token the scope `facts`, so that low trust alone is no reason to wait.
    pub(super) granted: bool,
    /// What of an item's value its text is made of, so that the text says nothing the value does not.
    pub(super) indexed: Option<Indexed>,
    /// Ids that came with it from elsewhere.
    pub(super) given: Vec<(&'static str, String)>,
    /// Whether a secret refuses it instead of being cut out.
    pub(super) fail_on_secret: bool,
}

/// A stored fact that a new one must be seen beside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beside {
    /// Its id.
    pub id: String,
    /// How the two go together.
    pub relation: Relation,
}

/// How a new fact goes together with a stored one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// Says nearly the same.
    NearDuplicate,
    /// Cannot be true at the same time.
    Contradiction,
}

impl Relation {
    /// The name on paper.
    pub const fn name(self) -> &'static str {
        match self {
            Relation::NearDuplicate => "near-duplicate",
            Relation::Contradiction => "contradiction",
        }
    }
}

impl TierDraft {
    /// A draft without anything beside it.
    pub(super) fn new(stored: Stored, profile: Profile, entry: Entry) -> TierDraft {
        let given = stored.item.as_deref().map(super::Item::names).unwrap_or_default();
        TierDraft {
            stored,
            profile,
            beside: Vec::new(),
            confirmed: entry.confirmed,
            granted: false,
            indexed: None,
            given,
            fail_on_secret: false,
        }
    }

    /// The same draft from elsewhere, whose ids are as free as any other text.
    #[must_use]
    pub(super) fn brought_in(mut self) -> TierDraft {
        let stored = &self.stored;
        let ids = stored.supersedes.iter().chain(&stored.superseded_by).map(|id| ("supersedes", id.clone()));
        let named: Vec<_> =
            [("id", stored.id.clone()), ("user", stored.user.clone())].into_iter().chain(ids).collect();
        self.given.extend(named);
        self
    }

    /// The memory as it would be stored.
    pub fn stored(&self) -> &Stored {
        &self.stored
    }
}

impl Draft for TierDraft {
    fn row(&self) -> Row {
        match self.stored.tier {
            Tier::Semantic => Row::Fact,
            Tier::Working | Tier::Episodic => Row::Episode,
        }
    }

    fn order(&self) -> &'static [Check] {
        match (self.profile, self.row()) {
            (Profile::Standard, Row::Fact) => FACT,
            (Profile::Standard, _) => TURN,
            (Profile::Seed, Row::Fact) if self.stored.trust < Trust::High && !self.confirmed => {
                SEED_UNTRUSTED
            }
            (Profile::Seed, Row::Fact) => SEED_FACT,
            (Profile::Seed, _) => SEED_TURN,
        }
    }

    fn id(&self) -> String {
        self.stored.id.clone()
    }

    fn texts(&mut self, visit: &mut dyn FnMut(&str, &mut String)) {
        let stored = &mut self.stored;
        let made_of = stored.item.as_ref().and(self.indexed.as_ref());
        if made_of.is_none() {
            visit("content", &mut stored.content);
        }
        for tag in &mut stored.tags {
            visit("tags", tag);
        }
        for (name, text) in
            [("session", &mut stored.session), ("message", &mut stored.message), ("tool", &mut stored.tool)]
        {
            if let Some(text) = text {
                visit(name, text);
            }
        }
        if let Some(statement) = &mut stored.statement {
            visit("subject", &mut statement.subject);
            visit("predicate", &mut statement.predicate);
            visit("object", &mut statement.object);
        }
        if let Some(item) = &mut stored.item {
            item.texts(visit);
            // What was cut out of the value is not in its text either.
            if let (Some(made_of), Some(value)) = (made_of, &item.value) {
                stored.content = made_of.text_of(value);
            }
        }
    }

    fn given(&self) -> &[(&'static str, String)] {
        &self.given
    }

    fn own_check(&mut self, check: Check) -> Result<()> {
        match check {
            Check::Shape => self.shape(),
            Check::Capacity => {
                truncate(&mut self.stored.content);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn trust(&self, entry: Entry) -> Trust {
        if entry.confirmed { Trust::High } else { self.stored.trust }
    }

    fn must_wait(&self) -> bool {
        !self.beside.is_empty()
    }

    fn refuses_secrets(&self) -> bool {
        self.fail_on_secret
    }

    fn needs_high_trust(&self) -> bool {
        self.stored.tier == Tier::Semantic && !self.granted
    }
}

impl TierDraft {
    fn shape(&self) -> Result<()> {
        let stored = &self.stored;
        let wrong = |field: &'static str, message: &str, hint: String| {
            Err(Fault::new(Code::Validation, message).fact("field", field).hint(hint))
        };
        // The original list had no opinion on lengths.
        let standard = self.profile == Profile::Standard;
        if let Some(item) = &stored.item {
            item.check()?;
            if item.value.is_none() && stored.content.chars().count() > LONGEST_TEXT {
                let hint = "split it over several items".to_owned();
                return wrong(
                    "content",
                    &format!("an item's text has at most {LONGEST_TEXT} characters"),
                    hint,
                );
            }
        }
        // What an item's value says is searched, not read; it may be nothing.
        let standard = standard && stored.item.as_ref().is_none_or(|item| item.value.is_none());
        let longest = if stored.item.is_some() { LONGEST_TEXT } else { LONGEST_FACT };
        if standard && stored.content.trim().is_empty() {
            return wrong("content", "the text is empty", "say what to remember".to_owned());
        }
        if standard && stored.tier == Tier::Semantic && stored.content.chars().count() > longest {
            let hint =
                format!("say it in at most {LONGEST_FACT} characters; longer texts are notes or episodes");
            return wrong("content", "a fact is a sentence, not a document", hint);
        }
        if !(0.0..=1.0).contains(&stored.confidence) {
            return wrong("confidence", "confidence is a number from 0 to 1", "for example 0.9".to_owned());
        }
        let subject = stored.statement.as_ref().map(|statement| &statement.subject);
        let names = stored.tags.iter().chain(&stored.session).chain(&stored.message).chain(&stored.tool);
        for name in names.chain(subject) {
            if !is_name(name) {
                let hint = format!("use 1 to {LONGEST_NAME} visible characters");
                return wrong("tags", "a tag, subject, session, message or tool has no usable name", hint);
            }
        }
        Ok(())
    }
}

/// Whether a tag, subject, session, message or tool can be called this.
pub(crate) fn is_name(name: &str) -> bool {
    !name.trim().is_empty() && name.len() <= LONGEST_NAME && !name.chars().any(char::is_control)
}

/// Cuts a text after ten thousand UTF-16 units, as other readers of the format count, and says so at its end.
fn truncate(text: &mut String) {
    if text.len() <= LONGEST {
        return;
    }
    let mut units = 0;
    let cut = text.char_indices().find(|(_, c)| {
        units += c.len_utf16();
        units > LONGEST
    });
    if let Some((at, _)) = cut {
        text.truncate(at);
        text.push_str(TRUNCATED);
    }
}

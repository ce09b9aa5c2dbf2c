//! Facts: what is known about a user, until somebody deletes it.
//!
//! Comes in: a sentence. Goes out: a stored fact, or one that waits for a person: because its source is not trusted, because it might hold a
//! secret, or because something like it is known. Accepting it supersedes what it was shown beside, with history kept. Never here: a fact that
//! nobody trusted said and nobody confirmed, unless a person gave its writer's token the scope `facts`; then it is kept as the program's own.

use super::beside::Standing;
use super::draft::{Beside, Relation};
use super::event::Action;
use super::kept::Mark;
use super::pass::{Kept, said};
use super::undo::REVIEW_ACCEPT;
use super::{LifeStatus, Stored, Tier, TierDraft, Tiers, id, statement};
use crate::gate::Entry;
use crate::gate::inbox::{Item, Waiting};
use crate::shelf::door::change::Decided;
use heirloom_core::settings::Profile;
use heirloom_core::{Channel, Code, Fault, May, Owner, ShelfName, Trust, Verb, fault::Result};
use serde_json::Value;

/// A fact that somebody wants to keep.
#[derive(Debug, Clone, PartialEq)]
pub struct FactWords {
    /// The sentence.
    pub content: String,
    /// What it is about, if somebody says so; else the sentence shows it or nothing does.
    pub subject: Option<String>,
    /// How sure its writer is.
    pub confidence: f64,
    /// Labels.
    pub tags: Vec<String>,
    /// The conversation it comes from.
    pub session: Option<String>,
    /// The tool it comes from.
    pub tool: Option<String>,
    /// Facts it replaces.
    pub supersedes: Vec<String>,
}

impl FactWords {
    /// A fact with nothing but its sentence.
    pub fn of(content: impl Into<String>) -> FactWords {
        FactWords {
            content: content.into(),
            subject: None,
            confidence: 1.0,
            tags: Vec::new(),
            session: None,
            tool: None,
            supersedes: Vec::new(),
        }
    }
}

impl Tiers<'_> {
    /// Keeps a fact, unless it is known already.
    pub fn remember(&self, words: FactWords, entry: Entry) -> Result<Kept> {
        for old in &words.supersedes {
            self.own(old)?;
        }
        let granted = self.granted(&words, entry)?;
        let draft = TierDraft { granted, ..self.fact_draft(words, entry) };
        self.keep_fact(draft, entry, None)
    }

    /// Whether a program's fact is stored at once, as the program's own: its token has the scope for that, or it says anew what a program said and
    /// nobody vouched for. What would stand in the place of a person's word, or be looked at by the original list of rules, waits all the same.
    fn granted(&self, words: &FactWords, entry: Entry) -> Result<bool> {
        let caller = self.call.caller();
        let may = Verb::Remember.may(caller, Owner::Nobody);
        if may == May::Refused {
            return Err(self.call.refuse(Verb::Remember, "", Verb::Remember.refusal(caller)));
        }
        let program = entry.channel == Channel::Agent && !caller.is_person();
        let mut owner = Owner::Agent;
        for old in &words.supersedes {
            if self.own(old)?.trust == Trust::High {
                owner = Owner::Person;
            }
        }
        let may = match words.supersedes.is_empty() {
            true => may,
            false => Verb::Edit.may(caller, owner),
        };
        Ok(may == May::Does && program && self.profile() == Profile::Standard)
    }

    /// What a new fact would be shown beside, so that a door can ask before it writes.
    pub fn beside(&self, words: &FactWords) -> Result<Vec<(Relation, Stored)>> {
        let draft = self.fact_draft(words.clone(), Entry::through(Channel::Agent));
        let Standing::Beside(beside) = self.standing_of(draft.stored())? else { return Ok(Vec::new()) };
        let mut shown = Vec::new();
        for Beside { id, relation } in beside {
            shown.extend(self.store().get(self.who(), &id)?.map(|stored| (relation, stored)));
        }
        Ok(shown)
    }

    /// A waiting fact as it is stored if a person says yes: believed, and superseding what it is shown beside.
    pub fn accepted(&self, item: &Item) -> Result<Stored> {
        let damaged = |why: String| {
            Fault::new(Code::Damaged, format!("the waiting draft `{}` cannot be read: {why}", item.key))
                .hint(format!("`heirloom review reject {}` discards it", item.key))
        };
        let memory = item.draft.get("memory").cloned().unwrap_or(Value::Null);
        let mut stored: Stored = serde_json::from_value(memory).map_err(|e| damaged(e.to_string()))?;
        self.who().owns(&stored.user)?;
        if stored.tier != Tier::Semantic {
            return Err(damaged("only facts wait for a yes".to_owned()));
        }
        let beside = item.draft.get("beside").and_then(Value::as_array).cloned().unwrap_or_default();
        for old in beside.iter().filter_map(|b| b.get("id")?.as_str()) {
            if !stored.supersedes.iter().any(|known| known == old) {
                stored.supersedes.push(old.to_owned());
            }
        }
        let now = self.now();
        // How it arrived is the inbox's word, and what only happens to stored facts has not happened to this one.
        stored.channel = item.channel;
        stored.accepted = true;
        stored.trust = Trust::High;
        stored.status = LifeStatus::Active;
        stored.superseded_by = None;
        stored.expires_at = None;
        stored.occurred_at = stored.occurred_at.min(now);
        stored.created_at = now;
        stored.updated_at = now;
        Ok(stored)
    }

    /// A person accepts a waiting fact.
    pub fn accept(&self, item: &Item) -> Result<Kept> {
        let stored = self.accepted(item)?;
        self.inbox().unchanged(item)?;
        let entry = Entry { channel: item.channel, confirmed: true };
        let draft = TierDraft::new(stored, self.profile(), entry);
        let kept = self.keep_fact(draft, entry, Some(&item.waiting))?;
        self.inbox().remove(item)?;
        Ok(kept)
    }

    /// Proposes the facts that a person's message states. Each waits for a yes; the number of them is returned.
    pub fn propose_from(&self, message: &str, session: Option<&str>, entry: Entry) -> Result<usize> {
        let mut proposed = 0;
        for sentence in statement::extracted(message) {
            let words = FactWords { session: session.map(str::to_owned), ..FactWords::of(sentence) };
            let mut draft = self.fact_draft(words, entry);
            // What a program took out of somebody's words is the program's inference, whoever spoke them.
            draft.stored.channel = Channel::Agent;
            draft.stored.trust = draft.stored.trust.min(Channel::Agent.trust());
            let inferred = Entry::through(Channel::Agent);
            match self.keep_fact(draft, inferred, None) {
                Err(fault) if fault.code == Code::NeedsConfirmation => proposed += 1,
                // Known already, or refused by the gate: nothing to propose.
                Ok(_) | Err(_) => {}
            }
        }
        Ok(proposed)
    }

    /// Proposes a fact that a model took out of a turn. Returns whether it waits for a yes; what is known already or refused by the gate does not.
    pub fn propose(&self, fact: String, confidence: f64, turn: &Stored, by: &str) -> Result<bool> {
        let words = FactWords {
            confidence,
            session: turn.session.clone(),
            tool: Some(by.to_owned()),
            ..FactWords::of(fact)
        };
        // Whatever a deployment believes of agents, this waits: nobody has said it in these words.
        let inferred = Entry::through(Channel::Agent);
        let mut draft = self.fact_draft(words, inferred);
        draft.stored.trust = Trust::Low;
        draft.stored.message = Some(turn.id.clone());
        match self.keep_fact(draft, inferred, None) {
            Err(fault) if fault.code == Code::NeedsConfirmation => Ok(true),
            Err(fault) if matches!(fault.code, Code::GateRefused | Code::Validation) => Ok(false),
            kept => kept.map(|_| false),
        }
    }

    fn profile(&self) -> Profile {
        self.call.settings().gate.profile(ShelfName::Tiers)
    }

    /// Stores a fact. One that waited is stored together with what a person decided about it.
    fn keep_fact(&self, mut draft: TierDraft, entry: Entry, waited: Option<&Waiting>) -> Result<Kept> {
        // The original list knows nothing of what is stored beside, and an item stands for itself.
        if self.profile() == Profile::Standard && draft.stored.item.is_none() {
            match self.standing_of(&draft.stored)? {
                Standing::New => {}
                Standing::Known(known) => {
                    if let Some(waited) = waited {
                        self.decided(Decided::Accepted, waited)?;
                    }
                    return Ok(Kept { status: "already_there", stored: *known, notes: Vec::new() });
                }
                Standing::Beside(beside) => draft.beside = beside,
            }
        }
        let passed = self.pass(draft, entry)?;
        let drafts = [passed];
        let mut events = self.events(&drafts);
        let mut mark = self.mark(Action::MemoryWrite);
        if let Some(waited) = waited {
            events.insert(0, self.decision(Decided::Accepted, &waited.id));
            mark = Mark { action: REVIEW_ACCEPT.to_owned(), drafts: vec![waited.clone()], ..mark };
        }
        let receipt = self.store().write(self.who(), &drafts, &events, Some(&mark))?;
        self.began(&receipt.head, events.len());
        self.seal(&receipt.head)?;
        let [passed] = drafts;
        let mut notes = said(passed.remarks());
        let stored = passed.into_draft().stored;
        notes.extend(
            stored.supersedes.iter().map(|old| format!("`{old}` is superseded; `heirloom history` shows it")),
        );
        let status = if receipt.fresh == [true] { "created" } else { "already_there" };
        Ok(Kept { status, stored, notes })
    }

    fn fact_draft(&self, words: FactWords, entry: Entry) -> TierDraft {
        let now = self.now();
        let world = self.call.project().world();
        let trust = if entry.confirmed { Trust::High } else { self.settings().trust_of(entry.channel) };
        let stored = Stored {
            id: id::fresh(Tier::Semantic, self.who(), now, world),
            user: self.who().user().to_owned(),
            tier: Tier::Semantic,
            statement: statement::about(words.subject.as_deref(), &words.content),
            content: words.content,
            channel: entry.channel,
            trust,
            accepted: entry.confirmed,
            role: None,
            from_external_content: false,
            session: words.session,
            position: 0,
            message: None,
            tool: words.tool,
            confidence: words.confidence,
            tags: words.tags,
            status: LifeStatus::Active,
            supersedes: words.supersedes,
            superseded_by: None,
            occurred_at: now,
            created_at: now,
            updated_at: now,
            expires_at: None,
            item: None,
        };
        TierDraft::new(stored, self.profile(), entry)
    }
}

//! The tiers' way through the gate, and what every call leaves in the user's audit chain.
//!
//! Comes in: a draft and how it arrived. Goes out: a passed draft, or why not; what waits goes to the user's inbox without secrets. Never here:
//! content in an event.

use super::super::door::{reasons, told};
use super::draft::Beside;
use super::event::{Action, Event, Head, Metadata};
use super::kept::Mark;
use super::{Stored, TierDraft, Tiers};
use crate::gate::inbox::Waiting;
use crate::gate::policy::Act;
use crate::gate::policy::Row;
use crate::gate::scan::Class;
use crate::gate::{Decision, Entry, Passed, Remark, admit};
use heirloom_core::{Fault, ShelfName, fault::Result, time};
use serde::Serialize;
use serde_json::{Value, json};

/// A memory that is in the store.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Kept {
    /// `created`, `updated` or `already_there`.
    pub status: &'static str,
    /// The memory.
    #[serde(flatten)]
    pub stored: Stored,
    /// What else there is to say, a line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Tiers<'_> {
    /// Sends a draft through the gate.
    pub(super) fn pass(&self, mut draft: TierDraft, entry: Entry) -> Result<Passed<TierDraft>> {
        draft.fail_on_secret = self.settings().fail_on_secret;
        let stored = draft.stored().clone();
        match admit(draft, entry, self.call.screen()) {
            Decision::Passed(passed) => Ok(passed),
            Decision::Refused(fault) => {
                let poison = fault.get("class") == Some(Class::Injection.name());
                let action = if poison { Action::PoisoningAttemptBlocked } else { Action::WriteRefused };
                let metadata = Metadata {
                    reason: Some(fault.code.name().to_owned()),
                    rule: fault.get("rule").map(str::to_owned),
                    field: fault.get("field").map(str::to_owned),
                    ..about(&stored)
                };
                self.note(action, metadata)?;
                Err(fault)
            }
            Decision::Waits { draft, remarks } => Err(self.wait(&draft, entry, &remarks)?),
        }
    }

    /// Puts a draft into the inbox: redacted, with its origin and what it must be seen beside.
    fn wait(&self, draft: &TierDraft, entry: Entry, remarks: &[Remark]) -> Result<Fault> {
        let stored = &draft.stored;
        let mut asked = waiting(stored, &draft.beside);
        let cut = self.call.screen().cut_draft(&mut asked, Row::Fact);
        let origin = (stored.trust < heirloom_core::Trust::High)
            .then(|| format!("saving a fact from {} requires confirmation", stored.channel.source().name()));
        let mut reasons = reasons(remarks, origin, cut);
        reasons.extend(draft.beside.iter().map(|b| format!("{} of `{}`", b.relation.name(), b.id)));
        let id = stored.id.clone();
        // The same sentence through the same channel waits once.
        let twin = self.inbox().list(self.now())?.into_iter().find(|item| {
            item.channel == entry.channel && item.verified && same(&item.draft["memory"], &asked["memory"])
        });
        let metadata = Metadata { reason: Some(reasons.join("; ")), ..about(stored) };
        self.note(Action::ConfirmationRequired, metadata.clone())?;
        // What nobody vouches for has tried to become something that is believed.
        if stored.trust == heirloom_core::Trust::Low {
            self.note(Action::PoisoningAttemptBlocked, metadata)?;
        }
        let key = match twin {
            Some(item) => item.key,
            None => self.inbox().put(
                Waiting {
                    id: id.clone(),
                    shelf: ShelfName::Tiers.name().to_owned(),
                    channel: entry.channel,
                    trust: stored.trust,
                    reasons: reasons.clone(),
                    at: time::format(self.now()),
                    draft: asked,
                },
                self.now(),
            )?,
        };
        let message = format!("this waits for a person's yes: {}", reasons.join("; "));
        let told = told(&message, &id, &key);
        Ok(draft
            .beside
            .iter()
            .fold(told, |told, beside| told.fact(beside.relation.name(), beside.id.as_str())))
    }

    /// Has a change of a memory wait for its user.
    pub(crate) fn hold(&self, item: crate::gate::inbox::Waiting) -> Result<String> {
        let metadata = Metadata { reason: Some(item.reasons.join("; ")), ..Metadata::default() };
        // What waits without a line in the audit would be a store that nobody was told of.
        let event = self.event(Action::ConfirmationRequired, metadata).about([item.id.as_str()]);
        let head = self.store().note(self.who(), &event)?;
        self.seal(&head)?;
        self.inbox().put(item, self.now())
    }

    /// The events of a write: the write itself, and each redaction.
    pub(super) fn events(&self, passed: &[Passed<TierDraft>]) -> Vec<Event> {
        let mut events = Vec::new();
        // What comes together may come from several mouths: one line for each source.
        let mut by_source: Vec<(Metadata, Vec<&str>)> = Vec::new();
        for stored in passed.iter().map(|p| p.draft().stored()) {
            let one = about(stored);
            let known =
                by_source.iter_mut().find(|(all, _)| (&all.tier, &all.source) == (&one.tier, &one.source));
            match known {
                Some((all, ids)) => {
                    all.size = Some(all.size.unwrap_or_default() + one.size.unwrap_or_default());
                    ids.push(&stored.id);
                }
                None => by_source.push((one, vec![&stored.id])),
            }
        }
        events
            .extend(by_source.into_iter().map(|(all, ids)| self.event(Action::MemoryWrite, all).about(ids)));
        for draft in passed {
            for remark in draft.remarks() {
                let action = match remark.act {
                    Act::Redact => Action::SecretRedacted,
                    // Orders in low-trust text, made harmless.
                    Act::Neutralise => Action::PoisoningAttemptBlocked,
                    _ => continue,
                };
                let metadata = Metadata {
                    level: Some(format!("{:?}", remark.level).to_lowercase()),
                    rule: Some(remark.rule.clone()),
                    field: Some(remark.field.clone()),
                    ..about(draft.draft().stored())
                };
                events.push(self.event(action, metadata).about([draft.draft().stored.id.as_str()]));
            }
        }
        events
    }

    /// An event of this call: now, by its caller.
    pub(super) fn event(&self, action: Action, metadata: Metadata) -> Event {
        let by = Some(self.call.caller().shown());
        Event::new(action, self.now(), Metadata { by, ..metadata })
    }

    /// Notes a refusal by the table of authority. A store that cannot be reached keeps nobody from being refused.
    pub(crate) fn refused(&self, verb: heirloom_core::Verb, fault: &Fault) {
        if self.are_there() {
            let reason = Some(format!("{}: {}", verb.name(), fault.code.name()));
            let _ = self.note(Action::AccessRefused, Metadata { reason, ..Metadata::default() });
        }
    }

    /// Notes that users or tokens are about to change: which of the two, and whose.
    pub(crate) fn account_changes(&self, verb: heirloom_core::Verb, what: &str) -> Result<()> {
        let reason = Some(format!("{}: {what}", verb.name()));
        self.note(Action::AccountChange, Metadata { reason, ..Metadata::default() })
    }

    /// What a change that can be taken back says of itself.
    pub(super) fn mark(&self, action: Action) -> Mark {
        let caller = self.call.caller();
        let numbers = self.call.in_tiers();
        Mark {
            action: action.name(),
            by: caller.shown(),
            person: caller.is_person() || numbers.undoes_a_persons(),
            group: numbers.began(),
            undoes: numbers.undoing(),
            drafts: Vec::new(),
        }
    }

    /// Notes under which number this call's changes can be taken back: that of the first line of its first change.
    pub(super) fn began(&self, head: &Head, lines: usize) {
        self.call.in_tiers().group((head.seq + 1).saturating_sub(lines as u64));
    }

    /// An event by itself, which waits for no disk.
    pub(super) fn note(&self, action: Action, metadata: Metadata) -> Result<()> {
        let head = self.store().note(self.who(), &self.event(action, metadata))?;
        self.seal(&head)
    }

    /// A read, in the audit: what sort of question, how many answers.
    pub(crate) fn was_read(&self, query_type: &str, tier: Option<super::Tier>, count: usize) -> Result<()> {
        let metadata = Metadata {
            query_type: Some(query_type.to_owned()),
            tier: Some(tier.map_or("all", super::Tier::name).to_owned()),
            count: Some(count as u64),
            ..Metadata::default()
        };
        self.note(Action::MemoryRead, metadata)
    }

    /// Seals the end of the chain. A chain nobody has begun has no end.
    pub(super) fn seal(&self, head: &Head) -> Result<()> {
        // A shared store moves the head itself, in the transaction that adds the line.
        if head.seq == 0 || self.store().is_shared() {
            return Ok(());
        }
        self.access.seals.note(self.who().user(), head, &self.call.project().world().nonce)
    }
}

/// What an event may say of a memory.
pub(super) fn about(stored: &Stored) -> Metadata {
    Metadata {
        tier: Some(stored.tier.name().to_owned()),
        source: Some(stored.source().name().to_owned()),
        size: Some(stored.content.len() as u64),
        ..Metadata::default()
    }
}

/// What a person should know about what the gate did.
pub(super) fn said(remarks: &[Remark]) -> Vec<String> {
    let told = |remark: &&Remark| matches!(remark.act, Act::Redact | Act::Neutralise);
    remarks
        .iter()
        .filter(told)
        .map(|remark| match remark.act {
            Act::Redact => format!("a {} was cut out before storing ({})", remark.class.name(), remark.rule),
            _ => format!("text that gives orders was made harmless ({})", remark.rule),
        })
        .collect()
}

/// Whether two waiting facts are one: every field is the same but for those that say when and in which conversation.
fn same(a: &Value, b: &Value) -> bool {
    const ANEW: [&str; 8] =
        ["id", "session", "message", "tool", "position", "occurred_at", "created_at", "updated_at"];
    let fields = |value: &Value| {
        let mut fields = value.as_object().cloned().unwrap_or_default();
        fields.retain(|name, _| !ANEW.contains(&name.as_str()));
        fields
    };
    fields(a) == fields(b)
}

/// A waiting draft as the inbox keeps it.
fn waiting(stored: &Stored, beside: &[Beside]) -> Value {
    let beside: Vec<Value> =
        beside.iter().map(|b| json!({ "id": b.id, "relation": b.relation.name() })).collect();
    json!({ "memory": stored, "beside": beside })
}

//! Decisions about waiting facts, and changes of a user's facts taken back.
//!
//! Comes in: what a person decided; rows as they are to be again. Goes out: one transaction with its audit line and its own way back. Never here:
//! whether somebody may; a row that is not what the change left.

use super::Tiers;
use super::event::{Action, Event, Metadata};
use super::kept::{Back, KeptRow, Mark, kept_since};
use crate::gate::inbox::Waiting;
use crate::shelf::door::change::Decided;
use heirloom_core::fault::Result;

/// What a person said yes to, in the words of the project's audit.
pub(super) const REVIEW_ACCEPT: &str = "review_accept";
const REVIEW_REJECT: &str = "review_reject";
/// A decision that was taken back.
const REVIEW_RETURN: &str = "review_return";

impl Tiers<'_> {
    /// The audit line of a decision.
    pub(super) fn decision(&self, decided: Decided, id: &str) -> Event {
        let reason = match decided {
            Decided::Accepted => "accepted in review",
            Decided::Rejected => "rejected in review",
            Decided::Returned => "returned to review",
        };
        let metadata = Metadata {
            tier: Some(super::Tier::Semantic.name().to_owned()),
            reason: Some(reason.to_owned()),
            memory_ids: vec![id.to_owned()],
            ..Metadata::default()
        };
        self.event(Action::ReviewDecision, metadata)
    }

    /// What a person decided about a waiting draft, in the audit, with what it takes to take it back.
    pub(crate) fn decided(&self, decided: Decided, draft: &Waiting) -> Result<()> {
        let action = if decided == Decided::Rejected { REVIEW_REJECT } else { REVIEW_ACCEPT };
        let mark = Mark {
            action: action.to_owned(),
            drafts: vec![draft.clone()],
            ..self.mark(Action::ReviewDecision)
        };
        self.note_decision(decided, &draft.id, &mark)
    }

    /// Notes that a draft goes for good: nothing of it is kept.
    pub(crate) fn drops(&self, id: &str) -> Result<()> {
        let mark = Mark { action: REVIEW_REJECT.to_owned(), ..self.mark(Action::ReviewDecision) };
        self.note_decision(Decided::Rejected, id, &mark)
    }

    fn note_decision(&self, decided: Decided, id: &str, mark: &Mark) -> Result<()> {
        let event = self.decision(decided, id);
        if let Some(head) = self.store().put_back(self.who(), &[], &event, mark)? {
            self.began(&head, 1);
            self.seal(&head)?;
        }
        Ok(())
    }

    /// What changes of the last thirty days replaced, oldest first.
    pub(crate) fn kept(&self) -> Result<Vec<KeptRow>> {
        if !self.are_there() {
            return Ok(Vec::new());
        }
        self.store().kept(self.who(), kept_since(self.now()))
    }

    /// Makes rows what they were, and lets drafts wait again or no more, as one change. Says whether it was done; it is not if a row is not
    /// what the change left.
    pub(crate) fn put_back(
        &self,
        number: u64,
        of_a_person: bool,
        rows: &[Back],
        returned: &[Waiting],
        decided: &[Waiting],
    ) -> Result<bool> {
        self.call.in_tiers().begin_undo(number, of_a_person);
        let action = match (returned.is_empty(), decided.is_empty()) {
            (false, _) => REVIEW_RETURN.to_owned(),
            (true, false) => REVIEW_ACCEPT.to_owned(),
            (true, true) => Action::MemoryChange.name(),
        };
        let event_action =
            if returned.len() + decided.len() > 0 { Action::ReviewDecision } else { Action::MemoryChange };
        let metadata = Metadata { reason: Some(format!("undo t{number}")), ..Metadata::default() };
        let ids =
            rows.iter().map(|row| row.id.as_str()).chain(returned.iter().map(|draft| draft.id.as_str()));
        let event = self.event(event_action, metadata).about(ids);
        let drafts: Vec<Waiting> = returned.iter().chain(decided).cloned().collect();
        let mark = Mark { action, drafts, ..self.mark(event_action) };
        // The drafts come first: a process that is stopped here leaves one that waits twice, and none that is lost.
        let known: Vec<String> = self.inbox().list(self.now())?.into_iter().map(|item| item.key).collect();
        let mut added = Vec::new();
        for draft in returned {
            let key = self.inbox().put(draft.clone(), self.now())?;
            if !known.contains(&key) {
                added.push(key);
            }
        }
        let done = self.store().put_back(self.who(), rows, &event, &mark);
        if !matches!(done, Ok(Some(_))) {
            for item in self.inbox().list(self.now())?.iter().filter(|item| added.contains(&item.key)) {
                self.inbox().remove(item)?;
            }
        }
        let Some(head) = done? else { return Ok(false) };
        self.began(&head, 1);
        self.seal(&head)?;
        let is_decided = |waiting: &Waiting| {
            decided.iter().any(|draft| draft.id == waiting.id && draft.draft == waiting.draft)
        };
        if !decided.is_empty() {
            self.inbox().drop_if(is_decided, self.now())?;
        }
        Ok(true)
    }

    /// Drops what is kept of drafts whose text is to be forgotten.
    pub(super) fn drop_kept_drafts(&self, gone: impl Fn(&str) -> bool) -> Result<()> {
        let about = |row: &KeptRow| {
            row.draft.as_ref().is_some_and(|draft| {
                let text = |value: &serde_json::Value| value.as_str().is_some_and(&gone);
                text(&draft.draft["memory"]["content"])
                    || ["text", "whole"].iter().any(|name| {
                        let request = &draft.draft["request"];
                        text(&request[name]) || text(&request["change"][name])
                    })
            })
        };
        let ids: Vec<String> = self.kept()?.into_iter().filter(about).map(|row| row.id).collect();
        if ids.is_empty() { Ok(()) } else { self.store().drop_kept(self.who(), &ids) }
    }
}

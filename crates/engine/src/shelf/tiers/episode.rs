//! Turns of conversations.
//!
//! Comes in: what somebody said, and through which channel it came. Goes out: episodes, sanitised and with an end to their days. Never here: a
//! turn without an expiry, or the same message twice.

use super::pass::{Kept, said};
use super::{LifeStatus, Role, Stored, Tier, TierDraft, Tiers, id};
use crate::gate::{Entry, Passed};
use heirloom_core::{Code, Fault, ShelfName, Trust, fault::Result};
use jiff::{Timestamp, ToSpan as _};

/// The longest life of a turn, in days.
const MOST_DAYS: u32 = 365;

/// A turn that somebody wants to keep.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Who spoke.
    pub role: Role,
    /// What was said.
    pub content: String,
    /// The conversation.
    pub session: Option<String>,
    /// The turn's place in it.
    pub position: u32,
    /// The message, by the name the host gave it: the same one arriving twice is kept once.
    pub message: Option<String>,
    /// The tool that returned it.
    pub tool: Option<String>,
    /// Whether it quotes content from outside the conversation.
    pub from_external_content: bool,
    /// When it was said; now if that is not known.
    pub occurred_at: Option<Timestamp>,
    /// Labels.
    pub tags: Vec<String>,
    /// Days it is kept, if not as many as the settings say.
    pub days: Option<u32>,
    /// The same in hours, for what is of use today only.
    pub hours: Option<u32>,
}

impl Turn {
    /// A turn with nothing but its words.
    pub fn of(role: Role, content: impl Into<String>) -> Turn {
        Turn {
            role,
            content: content.into(),
            session: None,
            position: 0,
            message: None,
            tool: None,
            from_external_content: false,
            occurred_at: None,
            tags: Vec::new(),
            days: None,
            hours: None,
        }
    }
}

/// When something that is kept for this many hours goes.
fn in_hours(hours: u32, days: Option<u32>, from: Timestamp) -> Result<Timestamp> {
    if days.is_some() || !(1..=MOST_DAYS * 24).contains(&hours) {
        let message = match days {
            Some(_) => "an episode is kept for days or for hours, not both".to_owned(),
            None => format!("an episode cannot be kept for {hours} hours"),
        };
        return Err(Fault::new(Code::Validation, message)
            .fact("field", "hours")
            .hint(format!("choose 1 to {} hours", MOST_DAYS * 24)));
    }
    Ok(from.checked_add(i64::from(hours).hours()).unwrap_or(Timestamp::MAX))
}

impl Tiers<'_> {
    /// Keeps a turn.
    pub fn add_episode(&self, turn: Turn, entry: Entry) -> Result<Kept> {
        let mut kept = self.add_episodes(vec![(turn, entry)])?;
        kept.pop().unwrap_or_else(|| Err(Fault::new(Code::Internal, "a turn was lost")))
    }

    /// Keeps several turns in one transaction. One that is refused costs only itself.
    pub fn add_episodes(&self, turns: Vec<(Turn, Entry)>) -> Result<Vec<Result<Kept>>> {
        let mut drafts = Vec::with_capacity(turns.len());
        for (turn, entry) in turns {
            drafts.push((self.turn_draft(turn, entry), entry));
        }
        // A turn that its owner removed comes back by nobody bringing the same transcript again.
        let named = |draft: &TierDraft| draft.stored.message.as_ref().map(|_| draft.stored.id.clone());
        let ids: Vec<String> =
            drafts.iter().filter_map(|(draft, _)| draft.as_ref().ok().and_then(named)).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let removed = if ids.is_empty() { Vec::new() } else { self.store().removed(self.who(), &ids)? };
        let outcomes = drafts.into_iter().map(|(draft, entry)| {
            let draft = draft?;
            if removed.contains(&draft.stored.id) {
                return Err(Fault::new(
                    Code::AntiResurrection,
                    "this turn was removed here and stays removed",
                )
                .fact("id", draft.stored.id.as_str())
                .hint("say it again without the name of its message"));
            }
            self.pass(draft, entry)
        });
        let outcomes: Vec<Result<Passed<TierDraft>>> = outcomes.collect();
        let mut faults = Vec::new();
        let mut passed = Vec::new();
        for outcome in outcomes {
            match outcome {
                Ok(draft) => {
                    faults.push(None);
                    passed.push(draft);
                }
                Err(fault) => faults.push(Some(fault)),
            }
        }
        let mut fresh = Vec::new().into_iter();
        if !passed.is_empty() {
            let receipt = self.store().write(self.who(), &passed, &self.events(&passed), None)?;
            self.seal(&receipt.head)?;
            fresh = receipt.fresh.into_iter();
        }
        let mut stored = passed.into_iter();
        let kept = |draft: Passed<TierDraft>, new: bool| Kept {
            status: if new { "created" } else { "already_there" },
            notes: said(draft.remarks()),
            stored: draft.into_draft().stored,
        };
        Ok(faults
            .into_iter()
            .map(|fault| match fault {
                Some(fault) => Err(fault),
                None => match (stored.next(), fresh.next()) {
                    (Some(draft), Some(new)) => Ok(kept(draft, new)),
                    _ => Err(Fault::new(Code::Internal, "a stored turn has no receipt")),
                },
            })
            .collect())
    }

    fn turn_draft(&self, turn: Turn, entry: Entry) -> Result<TierDraft> {
        let now = self.now();
        let occurred_at = turn.occurred_at.unwrap_or(now).min(now);
        let world = self.call.project().world();
        let id = match (&turn.session, &turn.message) {
            (Some(session), Some(message)) => {
                // A message without a time of its own must not get another id each time it arrives.
                let at = turn.occurred_at.unwrap_or(Timestamp::UNIX_EPOCH).min(now);
                id::of_message(self.who(), at, session, message)
            }
            _ => id::fresh(Tier::Episodic, self.who(), occurred_at, world),
        };
        let trust = if entry.confirmed { Trust::High } else { self.settings().trust_of(entry.channel) };
        let stored = Stored {
            id,
            user: self.who().user().to_owned(),
            tier: Tier::Episodic,
            content: turn.content,
            channel: entry.channel,
            trust,
            accepted: entry.confirmed,
            role: Some(turn.role),
            from_external_content: turn.from_external_content,
            session: turn.session,
            position: turn.position,
            message: turn.message,
            tool: turn.tool,
            statement: None,
            confidence: 1.0,
            tags: turn.tags,
            status: LifeStatus::Active,
            supersedes: Vec::new(),
            superseded_by: None,
            occurred_at,
            created_at: now,
            updated_at: now,
            expires_at: Some(match turn.hours {
                Some(hours) => in_hours(hours, turn.days, now)?,
                None => self.expiry(turn.days, now)?,
            }),
            item: None,
        };
        let profile = self.call.settings().gate.profile(ShelfName::Tiers);
        Ok(TierDraft::new(stored, profile, entry))
    }

    /// When something that is kept for so many days goes.
    pub(super) fn expiry(&self, days: Option<u32>, from: Timestamp) -> Result<Timestamp> {
        let days = days.unwrap_or(self.settings().episode_days);
        if !(1..=MOST_DAYS).contains(&days) {
            return Err(Fault::new(Code::Validation, format!("an episode cannot be kept for {days} days"))
                .fact("field", "days")
                .hint(format!("choose 1 to {MOST_DAYS} days; what should stay is a fact")));
        }
        Ok(from.checked_add((i64::from(days) * 24).hours()).unwrap_or(Timestamp::MAX))
    }
}

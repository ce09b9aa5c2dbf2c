//! The tiers as a shelf among the others: list, show, history, out of use and back.
//!
//! Comes in: ids. Goes out: the read model of all shelves. Without a kind only facts are listed: a conversation has thousands of turns, which
//! are listed when they are asked for. Never here: a difference, to the outside, between what is not there and what is somebody else's; the audit knows it.

use super::event::{Action, Metadata};
use super::pass::{Kept, about};
use super::store::{Change as StoreChange, Page, Wanted};
use super::{FactWords, LifeStatus, Stored, Tier, Tiers, id};
use crate::gate::Entry;
use crate::shelf::{Change, Count, Done, Forgotten, Listing, Problem, Shelf, unknown};
use heirloom_core::{Code, Fault, Memory, MemoryId, ShelfName, Status, fault::Result, time};

/// Memories read at a time.
const PAGE: usize = 1_000;

impl Tiers<'_> {
    /// A memory of this user.
    pub fn own(&self, id: &str) -> Result<Stored> {
        if let Some(stored) = self.store().get(self.who(), id)? {
            return Ok(stored);
        }
        self.refuse_foreign(id)?;
        Err(unknown(id))
    }

    /// An id that was made for somebody else is noted; outside it looks like one that was never given out.
    fn refuse_foreign(&self, memory: &str) -> Result<()> {
        if !id::is_foreign(self.who(), memory) {
            return Ok(());
        }
        let metadata = Metadata { reason: Some("another user's memory".to_owned()), ..Metadata::default() };
        let event = self.event(Action::AccessRefused, metadata).about([memory]);
        let head = self.store().note(self.who(), &event)?;
        self.seal(&head)
    }

    /// A memory, shown to its owner; a superseded fact leads to the one that replaced it only through its history.
    pub fn show(&self, id: &str) -> Result<Stored> {
        let stored = self.own(id)?;
        self.was_read("show", Some(stored.tier), 1)?;
        Ok(stored)
    }

    /// Memories, newest first.
    pub fn newest(
        &self,
        tier: Option<Tier>,
        status: Option<LifeStatus>,
        session: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Stored>> {
        let wanted = Wanted { tier, status, session: session.map(str::to_owned), limit, ..Wanted::default() };
        Ok(self.newest_page(wanted, |_| true)?.memories)
    }

    /// Memories that fit, newest first, after the place where the page before ended.
    pub fn newest_page(&self, mut wanted: Wanted, fits: impl Fn(&Stored) -> bool) -> Result<Page> {
        let limit = wanted.limit;
        (wanted.live_at, wanted.newest) = (Some(self.now()), true);
        let mut found = Page { memories: Vec::new(), next: wanted.after };
        while found.memories.len() < limit {
            // Never more than there is still room for: a page ends where the next one begins.
            wanted.limit = PAGE.min(limit - found.memories.len());
            let page = self.store().page(self.who(), &wanted)?;
            found.memories.extend(page.memories.into_iter().filter(&fits));
            found.next = page.next;
            match page.next {
                Some(next) => wanted.after = Some(next),
                None => break,
            }
        }
        self.was_read("list", wanted.tier, found.memories.len())?;
        Ok(found)
    }

    /// Says a fact anew: the new sentence supersedes the old one, which stays in its history.
    pub fn reword(&self, id: &str, content: &str, entry: Entry) -> Result<Kept> {
        let old = self.own(id)?;
        if old.item.is_some() && old.status != LifeStatus::Superseded {
            return self.reword_item(old, content, entry);
        }
        if old.tier != Tier::Semantic {
            return Err(Fault::new(Code::Usage, "what was said cannot be changed")
                .fact("id", id)
                .hint("`heirloom forget` removes an episode"));
        }
        if old.status == LifeStatus::Superseded {
            let by = old.superseded_by.unwrap_or_default();
            return Err(Fault::new(Code::OccConflict, format!("`{id}` was superseded"))
                .fact("id", id)
                .hint(format!("change `{by}` instead")));
        }
        let words = FactWords {
            subject: old.heading().map(str::to_owned),
            confidence: old.confidence,
            tags: old.tags.clone(),
            supersedes: vec![old.id],
            ..FactWords::of(content)
        };
        self.remember(words, entry)
    }

    /// How sure its writer is.
    pub fn set_confidence(&self, id: &str, confidence: f64) -> Result<Stored> {
        if !(0.0..=1.0).contains(&confidence) {
            return Err(Fault::new(Code::Validation, "confidence is a number from 0 to 1")
                .fact("field", "confidence"));
        }
        self.change(id, &StoreChange::Confidence(confidence), "confidence")
    }

    /// Keeps an episode for so many days from now.
    pub fn set_days(&self, id: &str, days: u32) -> Result<Stored> {
        let stored = self.own(id)?;
        if stored.tier != Tier::Episodic {
            return Err(Fault::new(Code::Usage, "a fact does not expire")
                .fact("id", id)
                .hint("`heirloom retire` takes it out of use, `heirloom forget` removes it"));
        }
        let at = self.expiry(Some(days), self.now())?;
        self.change(id, &StoreChange::ExpiresAt(at), "days")
    }

    fn change(&self, id: &str, change: &StoreChange, what: &str) -> Result<Stored> {
        let stored = self.own(id)?;
        let metadata = Metadata { reason: Some(what.to_owned()), ..about(&stored) };
        let event = self.event(Action::MemoryChange, metadata).about([id]);
        let mark = self.mark(Action::MemoryChange);
        let head = self.store().change(self.who(), id, change, &event, &mark)?.ok_or_else(|| unknown(id))?;
        self.began(&head, 1);
        self.seal(&head)?;
        self.own(id)
    }

    fn switch(&self, id: &MemoryId, to: LifeStatus, reason: &str) -> Result<Done> {
        let stored = self.own(id.as_str())?;
        let (status, same) = match to {
            LifeStatus::Active => ("restored", "already_active"),
            _ => ("retired", "already_retired"),
        };
        if stored.status == LifeStatus::Superseded {
            return Err(Fault::new(Code::OccConflict, format!("`{id}` was superseded"))
                .fact("id", id.as_str())
                .hint("its place is taken; save the fact again with `heirloom remember`"));
        }
        if stored.status == to {
            return Ok(Done { status: same, id: id.clone(), path: None, notes: Vec::new() });
        }
        self.change(
            id.as_str(),
            &StoreChange::Status(to),
            if reason.is_empty() { status } else { "retired with a reason" },
        )?;
        Ok(Done { status, id: id.clone(), path: None, notes: Vec::new() })
    }
}

impl Shelf for Tiers<'_> {
    fn name(&self) -> ShelfName {
        ShelfName::Tiers
    }

    fn list(&self, wanted: &Listing) -> Result<Vec<Memory>> {
        let tier = match &wanted.kind {
            None => Tier::Semantic,
            Some(kind) => match Tier::of(kind) {
                Some(tier) if tier != Tier::Working => tier,
                _ => return Ok(Vec::new()),
            },
        };
        let status = match wanted.status {
            None => None,
            Some(Status::Active) => Some(LifeStatus::Active),
            Some(Status::Retired) => Some(LifeStatus::Retired),
            Some(Status::Superseded) => Some(LifeStatus::Superseded),
            Some(Status::Archived) => return Ok(Vec::new()),
        };
        Ok(self.newest(Some(tier), status, None, usize::MAX)?.iter().map(Stored::memory).collect())
    }

    fn get(&self, id: &MemoryId) -> Result<Option<Memory>> {
        match self.show(id.as_str()) {
            Ok(stored) => Ok(Some(stored.memory())),
            Err(fault) if fault.code == Code::NotFound => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    fn history(&self, id: &MemoryId) -> Result<Vec<Change>> {
        let mut steps = Vec::new();
        let mut seen = vec![id.as_str().to_owned()];
        let mut todo = vec![self.own(id.as_str())?];
        while let Some(stored) = todo.pop() {
            for other in stored.supersedes.iter().chain(&stored.superseded_by) {
                if !seen.contains(other) {
                    seen.push(other.clone());
                    todo.extend(self.store().get(self.who(), other)?);
                }
            }
            steps.push(stored);
        }
        steps.sort_by_key(|stored| stored.created_at);
        self.was_read("history", Some(Tier::Semantic), steps.len())?;
        let told = |stored: &Stored| Change {
            at: time::format(stored.created_at),
            summary: match stored.supersedes.as_slice() {
                [] => format!("`{}` stored, from {}", stored.id, stored.channel.source().name()),
                old => format!("`{}` superseded {}", stored.id, old.join(", ")),
            },
            field: Some("content".to_owned()),
            old: None,
            new: Some(stored.content.clone().into()),
        };
        Ok(steps.iter().map(told).collect())
    }

    fn retire(&self, id: &MemoryId, reason: &str, _entry: Entry) -> Result<Done> {
        self.switch(id, LifeStatus::Retired, reason)
    }

    fn restore(&self, id: &MemoryId, _entry: Entry) -> Result<Done> {
        self.switch(id, LifeStatus::Active, "")
    }

    fn forget(&self, id: &MemoryId, _entry: Entry) -> Result<Forgotten> {
        let mut ids = vec![id.as_str().to_owned()];
        // What a fact superseded is its history, and says much the same.
        let mut at = 0;
        while let Some(next) = ids.get(at).cloned() {
            let stored = self.own(&next)?;
            for old in stored.supersedes {
                if !ids.contains(&old) && self.store().get(self.who(), &old)?.is_some() {
                    ids.push(old);
                }
            }
            at += 1;
        }
        let gone = self.delete(&ids, "forget")?;
        let mut places: Vec<String> =
            gone.iter().map(|id| format!("{id} in the {} database", self.store().backend())).collect();
        places.push("keywords and vectors".to_owned());
        places.extend(self.scrub(false)?);
        Ok(Forgotten { id: id.clone(), places, in_git: Vec::new() })
    }

    fn verify(&self) -> Result<Vec<Problem>> {
        let problem = |fault: Fault| Problem {
            file: format!("tiers ({})", self.store().backend()),
            line: fault.get("line").and_then(|line| line.parse().ok()),
            code: fault.code.name(),
            fix: fault.next_step().to_owned(),
            message: fault.message,
        };
        match self.verify_audit() {
            // Nothing was looked at, so nothing is wrong with it.
            Err(fault) if fault.code == Code::Unavailable => Err(fault),
            looked => Ok(looked.err().map(problem).into_iter().collect()),
        }
    }

    fn redact_stored(&self, _entry: Entry) -> Result<Vec<String>> {
        // No editor and no merge writes to a database: every text in it went through the gate.
        Ok(Vec::new())
    }

    fn count(&self) -> Result<Count> {
        let counts = self.store().counts(self.who())?;
        Ok(Count {
            active: (counts.episodes + counts.facts) as usize,
            retired: (counts.retired + counts.superseded) as usize,
            archived: 0,
        })
    }
}

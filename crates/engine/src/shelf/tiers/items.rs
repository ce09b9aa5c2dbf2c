//! Items of programs: stored under a key or with labels, replaced, listed, taken out of use, removed.
//!
//! Comes in: an item and its text. Goes out: a stored memory. Whoever may store facts at once stores a fact: the same key supersedes, history is
//! kept, and nothing is compared with other facts. Everybody else stores a turn, which has an end; the same key replaces there too. What would
//! stand in the place of a person's word waits for that person. Never here: choosing among items, or a row of anybody else.

use super::event::Action;
use super::item::LONGEST_TEXT;
use super::pass::{Kept, said};
use super::store::{Found, Question, Wanted};
use super::{Indexed, Item, LifeStatus, Role, Stored, Tier, TierDraft, Tiers, id};
use crate::gate::{Entry, Passed};
use crate::shelf::Shelf as _;
use heirloom_core::settings::Profile;
use heirloom_core::{Code, Fault, Grant, May, MemoryId, Owner, ShelfName, Trust, Verb, fault::Result};
use jiff::{Timestamp, ToSpan as _};

/// Items read at a time.
const PAGE: usize = 1_000;

/// The longest life of an item that has an end, in minutes.
const MOST_MINUTES: f64 = 365.0 * 24.0 * 60.0;

/// An item that somebody wants to keep.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemWords {
    /// Where, under which key, with which value.
    pub item: Item,
    /// Its text, where it is more than what its value says.
    pub text: Option<String>,
    /// What of its value is searched.
    pub indexed: Indexed,
    /// Who said it, where it was said.
    pub role: Option<Role>,
    /// Minutes it is kept. Facts do not end, so an item with an end is a turn.
    pub minutes: Option<f64>,
}

impl ItemWords {
    /// An item and nothing else.
    pub fn of(item: Item) -> ItemWords {
        ItemWords { item, text: None, indexed: Indexed::All, role: None, minutes: None }
    }
}

impl Tiers<'_> {
    /// The tier a new item of this caller goes to, and the verb that asks for it.
    pub fn item_tier(&self, entry: Entry, minutes: Option<f64>) -> (Tier, Verb) {
        let caller = self.call.caller();
        // A token that was given the scope and may not write is refused for what it asks for.
        let may = match Verb::Remember.may(caller, Owner::Nobody) {
            May::Does => true,
            May::Refused => caller.scopes().has(Grant::Facts),
            May::Waits => false,
        };
        let at_once = entry.channel.trust() == Trust::High || self.item_profile() == Profile::Standard;
        match may && at_once && minutes.is_none() {
            true => (Tier::Semantic, Verb::Remember),
            false => (Tier::Episodic, Verb::Turn),
        }
    }

    /// Keeps an item in the place of what is in use under the same key.
    pub fn put_item(&self, words: ItemWords, entry: Entry) -> Result<Kept> {
        words.item.check()?;
        let known = match words.item.key {
            Some(_) => self.in_slot(&words.item.slot(""))?,
            None => Vec::new(),
        };
        self.keep_items(vec![(words, known)], entry)?.pop().ok_or_else(lost)
    }

    /// Keeps items without keys, all of them or none.
    pub fn add_items(&self, all: Vec<ItemWords>, entry: Entry) -> Result<Vec<Kept>> {
        self.keep_items(all.into_iter().map(|words| (words, Vec::new())).collect(), entry)
    }

    /// Says an item anew: the next version of one that is in use.
    pub fn change_item(&self, now: Stored, words: ItemWords, entry: Entry) -> Result<Kept> {
        self.keep_items(vec![(words, vec![now])], entry)?.pop().ok_or_else(lost)
    }

    /// Says an item anew that is nothing but a text. A value belongs to the program that keeps it.
    pub(super) fn reword_item(&self, old: Stored, content: &str, entry: Entry) -> Result<Kept> {
        let Some(item) = old.item.as_deref().filter(|item| item.value.is_none()).cloned() else {
            return Err(Fault::new(Code::Usage, "this is a value that a program keeps under a key")
                .fact("id", old.id.as_str())
                .hint("its program replaces it with PUT /v1/items; `heirloom retire` takes it out of use"));
        };
        fits_whole("text", content)?;
        let words = ItemWords { text: Some(content.to_owned()), role: old.role, ..ItemWords::of(item) };
        self.change_item(old, words, entry)
    }

    fn keep_items(&self, all: Vec<(ItemWords, Vec<Stored>)>, entry: Entry) -> Result<Vec<Kept>> {
        let mut drafts = Vec::with_capacity(all.len());
        let mut status = Vec::with_capacity(all.len());
        for (words, known) in all {
            status.push(if known.is_empty() { "created" } else { "updated" });
            drafts.push(self.item_draft(words, &known, entry)?);
        }
        // Each of them passes before the first is stored.
        let drafts = drafts.into_iter().map(|draft| self.pass(draft, entry)).collect::<Result<Vec<_>>>()?;
        let events = self.events(&drafts);
        let mark = self.mark(Action::MemoryWrite);
        let receipt = self.store().write(self.who(), &drafts, &events, Some(&mark))?;
        self.began(&receipt.head, events.len());
        self.seal(&receipt.head)?;
        let kept = |(passed, status): (Passed<TierDraft>, &'static str)| Kept {
            status,
            notes: said(passed.remarks()),
            stored: passed.into_draft().stored,
        };
        Ok(drafts.into_iter().zip(status).map(kept).collect())
    }

    fn item_draft(&self, words: ItemWords, known: &[Stored], entry: Entry) -> Result<TierDraft> {
        let now = self.now();
        let world = self.call.project().world();
        let ItemWords { mut item, text, indexed, role, minutes } = words;
        let before = known.first().and_then(|old| Some((old, old.item.as_deref()?)));
        item.first = before.map(|(old, item)| item.first.clone().unwrap_or_else(|| old.id.clone()));
        item.began_at = before.map_or(now, |(_, item)| item.began_at);
        item.written_at = now;
        item.ends = minutes.is_some();
        let (content, indexed) = match (text, &item.value) {
            (Some(text), _) => (text, None),
            (None, Some(value)) => (indexed.text_of(value), Some(indexed)),
            (None, None) => (String::new(), None),
        };
        let of_person = known.iter().any(|old| old.trust == Trust::High) && !self.call.caller().is_person();
        // What a person stands behind is replaced with that person's yes only, and only facts wait for one.
        let (tier, granted) = match of_person {
            true => (Tier::Semantic, false),
            false => (self.item_tier(entry, minutes).0, true),
        };
        let trust = if entry.confirmed { Trust::High } else { self.settings().trust_of(entry.channel) };
        let stored = Stored {
            id: id::fresh(tier, self.who(), now, world),
            user: self.who().user().to_owned(),
            tier,
            content,
            channel: entry.channel,
            trust,
            accepted: entry.confirmed,
            role,
            from_external_content: false,
            session: None,
            position: 0,
            message: None,
            tool: None,
            statement: None,
            confidence: 1.0,
            tags: Vec::new(),
            status: LifeStatus::Active,
            supersedes: known.iter().map(|old| old.id.clone()).collect(),
            superseded_by: None,
            occurred_at: now,
            created_at: now,
            updated_at: now,
            expires_at: match tier {
                Tier::Semantic => None,
                _ => Some(self.item_end(minutes, now)?),
            },
            item: Some(Box::new(item)),
        };
        Ok(TierDraft { granted, indexed, ..TierDraft::new(stored, self.item_profile(), entry) })
    }

    fn item_profile(&self) -> Profile {
        self.call.settings().gate.profile(ShelfName::Tiers)
    }

    fn item_end(&self, minutes: Option<f64>, now: Timestamp) -> Result<Timestamp> {
        let Some(minutes) = minutes else { return self.expiry(None, now) };
        if !(minutes > 0.0 && minutes <= MOST_MINUTES) {
            return Err(Fault::new(Code::Validation, "an item cannot be kept for that long")
                .fact("field", "ttl_minutes")
                .hint(format!("choose more than 0 and at most {MOST_MINUTES} minutes")));
        }
        // Its last second is still its own.
        let seconds = (minutes * 60.0).ceil() as i64;
        Ok(now.checked_add(seconds.seconds()).unwrap_or(Timestamp::MAX))
    }

    /// The item under a key, if there is one in use.
    pub fn item_at(&self, namespace: &[String], key: &str) -> Result<Option<Stored>> {
        Ok(self.in_slot(&Item::slot_of(namespace, key))?.into_iter().next())
    }

    /// What is in use in a slot, newest first.
    fn in_slot(&self, slot: &str) -> Result<Vec<Stored>> {
        let wanted = Wanted {
            slot: Some(slot.to_owned()),
            status: Some(LifeStatus::Active),
            live_at: Some(self.now()),
            newest: true,
            limit: PAGE,
            ..Wanted::default()
        };
        let mut found = self.store().page(self.who(), &wanted)?.memories;
        found.retain(|stored| stored.item.is_some());
        Ok(found)
    }

    /// Whether an item that is in use elsewhere would take the place of one that is in use here.
    pub(super) fn key_is_taken(&self, brought: &Stored) -> Result<bool> {
        match (&brought.item, brought.status, brought.slot()) {
            (Some(_), LifeStatus::Active, Some(slot)) => Ok(!self.in_slot(&slot)?.is_empty()),
            _ => Ok(false),
        }
    }

    /// The newest version of an item that is in use, by the id of any version. An id of somebody else looks like one that was never given out.
    pub fn item_of(&self, id: &str) -> Result<Option<Stored>> {
        let stored = self.own(id)?;
        let Some(slot) = stored.item.as_ref().and_then(|_| stored.slot()) else { return Ok(None) };
        Ok(self.in_slot(&slot)?.into_iter().next())
    }

    /// Every version of an item, oldest first: also those that were replaced or taken out of use.
    pub fn item_versions(&self, slot: &str) -> Result<Vec<Stored>> {
        let mut wanted = Wanted { slot: Some(slot.to_owned()), limit: PAGE, ..Wanted::default() };
        let mut all = Vec::new();
        loop {
            let page = self.store().page(self.who(), &wanted)?;
            all.extend(page.memories.into_iter().filter(|stored| stored.item.is_some()));
            match page.next {
                Some(next) => wanted.after = Some(next),
                None => return Ok(all),
            }
        }
    }

    /// Items in use whose place begins like this and that fit, in the order in which they were first stored. Of a key that is there twice, as after
    /// a restore, the newest counts.
    pub fn items(&self, under: &str, fits: impl Fn(&Stored, &Item) -> bool) -> Result<Vec<Stored>> {
        let mut wanted = Wanted {
            under: Some(under.to_owned()),
            status: Some(LifeStatus::Active),
            live_at: Some(self.now()),
            newest: true,
            limit: PAGE,
            ..Wanted::default()
        };
        let mut found: Vec<Stored> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        loop {
            let page = self.store().page(self.who(), &wanted)?;
            for stored in page.memories {
                let fresh = stored.slot().is_some_and(|slot| seen.insert(slot));
                if fresh && stored.item.as_deref().is_some_and(|item| fits(&stored, item)) {
                    found.push(stored);
                }
            }
            match page.next {
                Some(next) => wanted.after = Some(next),
                None => break,
            }
        }
        // Newest first so far: what was stored at the same moment stays in the order of its arrival.
        found.reverse();
        found.sort_by_key(|stored| stored.item.as_deref().map(|item| item.began_at));
        Ok(found)
    }

    /// What may answer a question, among everything this user has. Who is among the answers is decided by whoever asks.
    pub fn rank_items(&self, question: &str, limit: usize) -> Result<Vec<Found>> {
        let question = Question { text: question, tier: None, now: self.now(), limit, recency: 0.0 };
        self.store().search(self.who(), &question)
    }

    /// Takes an item out of use. Its row stays until it expires, is restored or is taken back.
    pub fn retire_item(&self, stored: &Stored, entry: Entry) -> Result<()> {
        let kind = stored.tier.kind();
        let name = stored.id.split_once(':').map_or(stored.id.as_str(), |(_, name)| name);
        self.retire(&MemoryId::new(&kind, name), "", entry).map(drop)
    }

    /// Removes every version of items for good. Returns the ids that are gone; scrubbing the files is left to whoever calls.
    pub fn forget_items(&self, slots: &[String]) -> Result<Vec<String>> {
        let mut ids: Vec<String> = Vec::new();
        for slot in slots {
            ids.extend(self.item_versions(slot)?.into_iter().map(|version| version.id));
        }
        if ids.is_empty() { Ok(ids) } else { self.delete(&ids, "forget") }
    }
}

fn lost() -> Fault {
    Fault::new(Code::Internal, "an item was lost")
}

/// A text that can be kept as it is.
pub(crate) fn fits_whole(field: &'static str, text: &str) -> Result<()> {
    let length = text.chars().count();
    if text.trim().is_empty() || length > LONGEST_TEXT || text.contains('\0') {
        return Err(Fault::new(Code::Validation, format!("`{field}` is empty or too long"))
            .fact("field", field)
            .hint(format!("send 1 to {LONGEST_TEXT} characters")));
    }
    Ok(())
}

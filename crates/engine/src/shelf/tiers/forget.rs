//! Removing: one, a topic, a tier, everything, what is past its time.
//!
//! Comes in: ids, words, a tier. Goes out: what is gone, by id, and what this machine cannot reach. Text, vectors, index rows and waiting drafts
//! go; the audit keeps ids and counts. Never here: the memory of anybody else, or asking whether somebody is sure; the door does that.

use super::event::{Action, Metadata};
use super::store::{Wanted, Which};
use super::terms::terms;
use super::{SYSTEM, Stored, Tier, Tiers, UserContext};
use crate::gate::inbox::Waiting;
use heirloom_core::{fault::Result, hash, time};
use serde::Serialize;

/// Memories read at a time.
const PAGE: usize = 1_000;

/// What an upkeep removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Expired {
    /// Users looked at.
    pub users: usize,
    /// Episodes removed.
    pub episodes: usize,
    /// Audit lines dropped behind a checkpoint.
    pub audit_lines: u64,
}

impl Tiers<'_> {
    /// Removes memories of this user. An id that is not there, or not this user's, is an error before anything is removed.
    pub fn delete(&self, ids: &[String], reason: &str) -> Result<Vec<String>> {
        for id in ids {
            self.own(id)?;
        }
        self.remove(&Which::Ids(ids.to_vec()), Action::MemoryDelete, None, reason, None)
    }

    /// What a topic stands for: every memory in whose text or tags all of its words are found, whatever their ending.
    pub fn about_topic(&self, topic: &str) -> Result<Vec<Stored>> {
        let wanted = terms(topic);
        let lower = topic.trim().to_lowercase();
        let speaks = |stored: &Stored| {
            if wanted.is_empty() {
                return !lower.is_empty() && stored.content.to_lowercase().contains(&lower);
            }
            let mut has = terms(&stored.content);
            stored.tags.iter().for_each(|tag| has.extend(terms(tag)));
            wanted.is_subset(&has)
        };
        let mut about = Vec::new();
        let mut wanted = Wanted { limit: PAGE, ..Wanted::default() };
        loop {
            let page = self.store().page(self.who(), &wanted)?;
            about.extend(page.memories.into_iter().filter(speaks));
            match page.next {
                Some(next) => wanted.after = Some(next),
                None => break,
            }
        }
        self.was_read("topic", None, about.len())?;
        Ok(about)
    }

    /// Removes what was found about a topic, and the drafts about it that wait.
    pub fn forget_topic(&self, topic: &str, ids: &[String]) -> Result<Vec<String>> {
        let wanted = terms(topic);
        let about = |text: &str| !wanted.is_empty() && wanted.is_subset(&terms(text));
        self.drop_drafts(|text| about(text))?;
        self.drop_kept_drafts(|text| about(text))?;
        self.remove(&Which::Ids(ids.to_vec()), Action::MemoryBulkDelete, None, "topic", Some(topic))
    }

    /// Removes a tier, or everything.
    pub fn clear(&self, tier: Option<Tier>) -> Result<Vec<String>> {
        if tier != Some(Tier::Episodic) {
            self.drop_drafts(|_| true)?;
        }
        self.remove(&Which::Tier(tier), Action::MemoryBulkDelete, tier, "clear", None)
    }

    /// Removes what is past its time: of every user if the deployment's keeper runs it, of this user otherwise.
    pub fn expire(&self) -> Result<Expired> {
        self.expire_within(0)
    }

    /// The same, and also what has no more than so many days left. Whether the caller may ask for that is the verb's to ask.
    pub(crate) fn expire_within(&self, days: u32) -> Result<Expired> {
        let until = time::days_after(self.now(), days);
        let contexts = match self.who().keeps_up() {
            true => self.everybody()?,
            false => vec![self.who().clone()],
        };
        let mut total = Expired { users: contexts.len(), ..Expired::default() };
        for who in contexts {
            let access = self.access.of(who);
            let tiers = Tiers::new(self.call, &access);
            let gone = tiers.remove(
                &Which::Expired(until),
                Action::MemoryTtlCleanup,
                Some(Tier::Episodic),
                "expired",
                None,
            )?;
            if !gone.is_empty() {
                tiers.scrub(false)?;
            }
            total.episodes += gone.len();
            total.audit_lines += tiers.retain_audit()?;
            tiers.inbox().sweep(self.now(), None)?;
        }
        if self.who().keeps_up() {
            let access = self.access.of(UserContext::system(self.who())?);
            let metadata = Metadata {
                tier: Some(Tier::Episodic.name().to_owned()),
                count: Some(total.episodes as u64),
                ..Metadata::default()
            };
            Tiers::new(self.call, &access).note(Action::MemoryTtlCleanup, metadata)?;
        }
        Ok(total)
    }

    /// Every user of the deployment, for its keeper: the caller first, then whoever has an account or anything stored.
    pub(super) fn everybody(&self) -> Result<Vec<UserContext>> {
        if !self.who().keeps_up() {
            self.who().manages()?;
        }
        let mut contexts = vec![self.who().clone()];
        for user in self.store().users(self.who())? {
            if user != self.who().user() && user != SYSTEM {
                contexts.push(self.who().for_upkeep(&user)?);
            }
        }
        Ok(contexts)
    }

    fn remove(
        &self,
        which: &Which,
        action: Action,
        tier: Option<Tier>,
        reason: &str,
        query: Option<&str>,
    ) -> Result<Vec<String>> {
        let told = |ids: &[String]| {
            let metadata = Metadata {
                tier: Some(tier.map_or("all", Tier::name).to_owned()),
                reason: Some(reason.to_owned()),
                ..query.map(|query| self.asked_with(query)).unwrap_or_default()
            };
            vec![self.event(action, metadata).about(ids.iter().map(String::as_str))]
        };
        let removed = self.store().delete(self.who(), which, &told)?;
        if let Some(head) = &removed.head {
            self.seal(head)?;
            self.drop_about(&removed.ids)?;
        }
        Ok(removed.ids)
    }

    /// What the audit may say of the words that memories were removed by.
    fn asked_with(&self, query: &str) -> Metadata {
        let salt = &hash::sha256(self.call.salt().as_bytes())[..16];
        Metadata {
            query_hash: Some(format!("{salt}:{}", hash::keyed(salt.as_bytes(), query.trim().as_bytes()))),
            query_words: Some(query.split_whitespace().count() as u64),
            query: self.settings().audit_queries.then(|| query.trim().to_owned()),
            ..Metadata::default()
        }
    }

    /// Makes sure that what was removed is in no file any more; with `shred` also where that means rewriting tables that others use. Says
    /// what cannot be reached.
    pub fn scrub(&self, shred: bool) -> Result<Vec<String>> {
        self.store().scrub(self.who(), shred)
    }

    /// How many turns and facts another user of the deployment has, for whoever looks after users.
    pub(crate) fn counts_of(&self, user: &str) -> Result<u64> {
        let counts = self.store().counts(&self.who().on_behalf(user)?)?;
        Ok(counts.episodes + counts.facts + counts.superseded + counts.retired)
    }

    /// Removes another user of the deployment with all that is theirs. Says what could not be reached.
    pub(crate) fn remove_user(&self, user: &str, shred: bool) -> Result<Vec<String>> {
        let theirs = self.who().on_behalf(user)?;
        let folder =
            self.access.folder.join("waiting").join(&heirloom_core::hash::sha256(user.as_bytes())[..24]);
        let beside = || -> Result<()> {
            match std::fs::remove_dir_all(&folder) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(heirloom_core::Fault::io(&folder, "remove", &e));
                }
                _ => {}
            }
            self.access.seals.forget(user)
        };
        // Before, so that whoever is stopped here still finds the account and goes on; after, because until the tokens were gone the user could
        // put something there.
        beside()?;
        self.store().remove_account(&theirs)?;
        beside()?;
        self.store().scrub(&theirs, shred)
    }

    /// Drops waiting drafts of what is gone.
    fn drop_about(&self, ids: &[String]) -> Result<()> {
        self.inbox().drop_if(|waiting| ids.contains(&waiting.id), self.now()).map(|_| ())
    }

    fn drop_drafts(&self, gone: impl Fn(&str) -> bool) -> Result<()> {
        let said = |waiting: &Waiting| gone(waiting.draft["memory"]["content"].as_str().unwrap_or_default());
        self.inbox().drop_if(said, self.now()).map(|_| ())
    }
}

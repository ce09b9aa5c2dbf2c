//! Reading an archive.
//!
//! Comes in: lines, from a file or a pipe. Goes out: memories in the store, each of which passed the gate once more. A chunk at a time: all of
//! it or nothing. Never here: a memory of a user who is not the caller, unless the deployment's keeper reads for everybody; or trust that an
//! archive claims and neither a seal nor a person vouches for.

use super::{CHUNK, NAME, VERSION, sealed_text};
use crate::gate::{Decision, Entry, Passed, admit};
use crate::shelf::tiers::event::{Action, Metadata};
use crate::shelf::tiers::{Access, LifeStatus, Stored, Tier, TierDraft, Tiers};
use heirloom_core::{Channel, Code, Fault, ShelfName, Trust, fault::Result, hash};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, Read as _};

/// The longest line that is read.
const LONGEST: u64 = 1 << 20;

/// How an archive is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImportRules {
    /// Count only, store nothing.
    pub dry_run: bool,
    /// Memories of every user, not only of the caller.
    pub everybody: bool,
    /// A person vouches for what the archive says about trust.
    pub person: bool,
    /// Also bring back what was deleted here.
    pub even_removed: bool,
}

/// What came of an archive.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Brought {
    /// Stored now, or would be.
    pub added: u64,
    /// There already.
    pub known: u64,
    /// Deleted here before, and left so.
    pub removed: u64,
    /// Past their time.
    pub expired: u64,
    /// Refused by the gate, by error code.
    pub refused: BTreeMap<String, u64>,
    /// Put into the review inbox.
    pub waiting: u64,
    /// Chunks whose trust nobody vouched for.
    pub unsealed_chunks: u64,
    /// What came beside memories, of whole users: accounts, tokens, audit lines, drafts.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub beside: BTreeMap<&'static str, u64>,
}

struct Chunk {
    text: Vec<u8>,
    memories: Vec<Stored>,
    beside: Vec<Value>,
}

impl Tiers<'_> {
    /// Reads an archive. `progress` is told the memories read so far.
    pub fn import(
        &self,
        from: &mut dyn BufRead,
        rules: ImportRules,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Brought> {
        if rules.everybody {
            self.call.permit(heirloom_core::Verb::AllUsers, heirloom_core::ShelfName::Tiers, "")?;
            self.who().manages()?;
        }
        let mut brought = Brought::default();
        let mut chunk = Chunk { text: Vec::new(), memories: Vec::new(), beside: Vec::new() };
        let (mut before, mut at, mut read, mut chunks) = (String::new(), 0u64, 0u64, 0u64);
        let mut manifest = None;
        while let Some(line) = next_line(from, at + 1)? {
            at += 1;
            let value = parsed(&line, at)?;
            if at == 1 {
                first_line(&value)?;
            }
            if let Some(memory) = value.get("memory") {
                if chunk.memories.len() == CHUNK {
                    return Err(damaged(at, "a chunk is longer than a thousand memories"));
                }
                let memory =
                    serde_json::from_value(memory.clone()).map_err(|e| damaged(at, &e.to_string()))?;
                chunk.memories.push(memory);
                chunk.text.extend_from_slice(&line);
            } else if let Some(n) = value.get("chunk").and_then(Value::as_u64) {
                let sha256 = hash::sha256(&[before.as_bytes(), chunk.text.as_slice()].concat());
                let count = value.get("count").and_then(Value::as_u64);
                let claimed = value.get("sha256").and_then(Value::as_str);
                chunks += 1;
                if n != chunks
                    || count != Some(chunk.memories.len() as u64)
                    || claimed != Some(sha256.as_str())
                {
                    return Err(damaged(at, "a chunk does not have the checksum it should have"));
                }
                let nonce = &self.call.project().world().nonce;
                let seal = self.access.seals.sign(&sealed_text(n, &sha256), nonce)?;
                let vouched =
                    rules.person || value.get("seal").and_then(Value::as_str) == Some(seal.as_str());
                brought.unsealed_chunks += u64::from(!vouched);
                read += chunk.memories.len() as u64;
                let beside = std::mem::take(&mut chunk.beside);
                if vouched && rules.everybody && !rules.dry_run {
                    self.bring_beside(&beside, &mut brought)?;
                }
                self.bring(std::mem::take(&mut chunk.memories), vouched, rules, &mut brought)?;
                chunk.text.clear();
                before = sha256;
                progress(read);
            } else if let Some(end) = value.get("manifest") {
                manifest = Some(end.clone());
            } else {
                chunk.text.extend_from_slice(&line);
                chunk.beside.push(value);
            }
        }
        let whole = manifest.is_some_and(|m| {
            m.get("memories").and_then(Value::as_u64) == Some(read)
                && m.get("chunks").and_then(Value::as_u64) == Some(chunks)
                && m.get("sha256").and_then(Value::as_str) == Some(before.as_str())
        });
        if !whole || !chunk.memories.is_empty() {
            return Err(damaged(
                at,
                "the archive ends before its manifest, or is not what the manifest says",
            )
            .hint(format!(
                "{} memories were added; get a whole archive and import it again, it goes on from there",
                brought.added
            )));
        }
        Ok(brought)
    }

    /// Stores one chunk, user by user.
    fn bring(
        &self,
        memories: Vec<Stored>,
        vouched: bool,
        rules: ImportRules,
        brought: &mut Brought,
    ) -> Result<()> {
        let mut by_user: BTreeMap<String, Vec<Stored>> = BTreeMap::new();
        for mut memory in memories {
            // What this account's own data folder wrote is the caller's, by whatever name a token knows them.
            if vouched && !rules.everybody && memory.user == self.call.project().world().user {
                self.who().user().clone_into(&mut memory.user);
            }
            by_user.entry(memory.user.clone()).or_default().push(memory);
        }
        for (user, memories) in by_user {
            let access = if user == self.who().user() {
                self.access.clone()
            } else if rules.everybody {
                self.access.of(self.who().on_behalf(&user)?)
            } else {
                let metadata = Metadata {
                    reason: Some("an archive with another user's memories".to_owned()),
                    count: Some(memories.len() as u64),
                    ..Metadata::default()
                };
                self.note(Action::AccessRefused, metadata)?;
                return self.who().owns(&user);
            };
            self.bring_for(&access, memories, vouched, rules, brought)?;
        }
        Ok(())
    }

    fn bring_for(
        &self,
        access: &Access,
        memories: Vec<Stored>,
        vouched: bool,
        rules: ImportRules,
        brought: &mut Brought,
    ) -> Result<()> {
        let tiers = Tiers::new(self.call, access);
        let ids: Vec<&str> = memories.iter().map(|memory| memory.id.as_str()).collect();
        let removed =
            if rules.even_removed { Vec::new() } else { tiers.store().removed(tiers.who(), &ids)? };
        let known = tiers.store().known(tiers.who(), &ids)?;
        let known: std::collections::HashSet<String> = known.into_iter().collect();
        let mut passed = Vec::new();
        for memory in memories {
            if removed.contains(&memory.id) {
                brought.removed += 1;
            } else if memory.is_expired(self.now()) {
                brought.expired += 1;
            } else if known.contains(&memory.id) || tiers.key_is_taken(&memory)? {
                brought.known += 1;
            } else {
                match tiers.pass_again(memory, vouched, rules.dry_run) {
                    Ok(draft) => passed.push(draft),
                    Err(fault) if fault.code == Code::NeedsConfirmation => brought.waiting += 1,
                    Err(fault) => *brought.refused.entry(fault.code.name().to_owned()).or_default() += 1,
                }
            }
        }
        brought.added += passed.len() as u64;
        if passed.is_empty() || rules.dry_run {
            return Ok(());
        }
        let size = passed.iter().map(|p| p.draft().stored().content.len() as u64).sum();
        let metadata = Metadata { size: Some(size), ..Metadata::default() };
        let ids = passed.iter().map(|p| p.draft().stored().id.as_str());
        let event = self.event(Action::MemoryImport, metadata).about(ids);
        // What is brought for others is in chains of their own, which this call's number does not name.
        let own = tiers.who().user() == self.who().user();
        let mark = self.mark(Action::MemoryImport);
        let receipt = tiers.store().write(tiers.who(), &passed, &[event], Some(&mark).filter(|_| own))?;
        if own {
            self.began(&receipt.head, 1);
        }
        tiers.seal(&receipt.head)
    }

    /// The gate once more: the rules may have learned something since the archive was written.
    fn pass_again(&self, mut memory: Stored, vouched: bool, dry_run: bool) -> Result<Passed<TierDraft>> {
        let kind = memory.id.split_once(':').map(|(kind, _)| kind);
        if kind != Some(memory.tier.kind().name()) || memory.tier == Tier::Working {
            return Err(Fault::new(Code::Validation, "an id does not fit its tier").fact("id", memory.id));
        }
        match memory.tier {
            Tier::Semantic => memory.expires_at = None,
            _ => {
                memory.expires_at =
                    Some(memory.expires_at.unwrap_or(Timestamp::MAX).min(self.expiry(Some(365), self.now())?))
            }
        }
        if !vouched {
            memory.accepted = false;
            memory.channel = Channel::Agent;
            memory.trust = memory.trust.min(Trust::Low);
        }
        // A fact that is out of use cannot be believed, so it needs nobody's yes.
        let confirmed = memory.accepted || (vouched && memory.status != LifeStatus::Active);
        let entry = Entry { channel: memory.channel, confirmed };
        let profile = self.call.settings().gate.profile(ShelfName::Tiers);
        // A program's item was stored at once where it comes from, by somebody who may.
        let granted = vouched && memory.item.is_some();
        let draft = TierDraft { granted, ..TierDraft::new(memory, profile, entry) }.brought_in();
        if !dry_run {
            return self.pass(draft, entry);
        }
        match admit(draft, entry, self.call.screen()) {
            Decision::Passed(passed) => Ok(passed),
            Decision::Refused(fault) => Err(fault),
            Decision::Waits { .. } => {
                Err(Fault::new(Code::NeedsConfirmation, "it would wait for a person's yes"))
            }
        }
    }
}

fn next_line(from: &mut dyn BufRead, at: u64) -> Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    from.take(LONGEST + 1)
        .read_until(b'\n', &mut line)
        .map_err(|e| Fault::new(Code::Io, format!("the archive cannot be read: {e}")))?;
    if line.len() as u64 > LONGEST {
        return Err(damaged(at, "the line is longer than a megabyte"));
    }
    Ok((!line.is_empty()).then_some(line))
}

fn parsed(line: &[u8], at: u64) -> Result<Value> {
    if !line.ends_with(b"\n") {
        return Err(damaged(at, "the line has no end"));
    }
    serde_json::from_slice(line).map_err(|e| damaged(at, &e.to_string()))
}

fn first_line(value: &Value) -> Result<()> {
    if value.get("archive").and_then(Value::as_str) != Some(NAME) {
        return Err(damaged(1, "this is not an archive of turns and facts"));
    }
    if value.get("version").and_then(Value::as_u64) != Some(VERSION) {
        return Err(
            damaged(1, "this archive has a version that this program cannot read").hint("update Heirloom")
        );
    }
    Ok(())
}

fn damaged(line: u64, why: &str) -> Fault {
    Fault::new(Code::Input, format!("line {line} of the archive: {why}"))
        .fact("line", line.to_string())
        .hint("what came before it is stored; get a whole archive and import it again, it goes on from there")
}

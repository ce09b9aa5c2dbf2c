//! A write on its way through the gate: the eight steps of the vault, in their order.
//!
//! Comes in: a [`Write`] and the desk it is meant for. Goes out, once it passed: the record that is appended. The steps: journal
//! noise, the `log` tier, length, scope/tier/source, personal data and secrets, register upsert, duplicate, capacity. Under
//! `gate.profile: seed` the fifth step is the format's literal guard and there is no other check; otherwise it is the measured
//! rules, and what is canon or shared needs high trust. Never here: storing.

use super::alike;
use super::desk::{Desk, Slot};
use super::journal::journal_signal;
use super::next::{as_revision, bumped, created, in_use, not_found, refusal, restored, revised};
use super::record::{CANON, REGISTER, Record};
use super::rules::{MAX_LABEL, MAX_TEXT, Rules, SOURCES};
use super::write::{Addition, Promotion, Revision, Write};
use crate::gate::policy::Row;
use crate::gate::scan::seed::guard;
use crate::gate::{Check, Draft};
use heirloom_core::settings::{Profile, SHARED};
use heirloom_core::{Code, Fault, Status, fault::Result, hash, text, time};
use jiff::Timestamp;
use std::borrow::Cow;

/// A write with everything it is judged by.
#[derive(Debug)]
pub struct VaultDraft<'d> {
    rules: &'d Rules,
    desk: &'d Desk<'d>,
    /// The version it follows.
    base: Option<&'d Slot<'d>>,
    write: Write,
    next: Record<'static>,
    against_a_person: bool,
    given: Vec<(&'static str, String)>,
}

const ALL: &[Check] = &[
    Check::Noise,
    Check::Shape,
    Check::Secrets,
    Check::Identity,
    Check::Contact,
    Check::Injection,
    Check::Trust,
    Check::Duplicate,
    Check::Capacity,
];
const SEED: &[Check] = &[Check::Noise, Check::Shape, Check::Duplicate, Check::Capacity];

impl<'d> VaultDraft<'d> {
    /// The draft of a write. `fresh` makes the id of a new memory.
    pub(super) fn of(
        write: Write,
        desk: &'d Desk<'d>,
        rules: &'d Rules,
        now: Timestamp,
        fresh: impl FnOnce() -> String,
    ) -> Result<VaultDraft<'d>> {
        let now = time::format(now);
        let given = given(&write);
        let (base, next) = match &write {
            Write::Add(new) => {
                let scope = new.scope.to_lowercase();
                let tier = new.tier.to_lowercase();
                let topic = new.topic_id.as_deref().filter(|topic| !topic.is_empty());
                let base = topic.filter(|_| tier == REGISTER).and_then(|topic| desk.register(topic, &scope));
                same_version(&new.based_on, base)?;
                let next = match base {
                    Some(slot) => revised(&slot.record, &as_revision(new), &now)?,
                    None => created(new, scope, tier, &now, fresh()),
                };
                (base, next)
            }
            Write::Revise(change) => {
                let slot = in_use(desk, &change.id)?;
                same_version(&change.based_on, Some(slot))?;
                (Some(slot), revised(&slot.record, change, &now)?)
            }
            Write::Promote(Promotion { id, text, tags, based_on }) => {
                let slot = in_use(desk, id)?;
                same_version(based_on, Some(slot))?;
                let change = Revision {
                    text: text.clone(),
                    tags: tags.clone(),
                    tier: Some(CANON.to_owned()),
                    ..Revision::default()
                };
                let next = revised(&slot.record, &change, &now)?;
                (Some(slot), Record { source: Some(Cow::Borrowed("promotion")), ..next })
            }
            Write::Retire { id } => {
                let slot = in_use(desk, id)?;
                (Some(slot), Record { deleted_at: Some(Cow::Owned(now.clone())), ..bumped(&slot.record)? })
            }
            Write::Restore { id } => {
                let slot = desk.get(id).ok_or_else(|| not_found(id))?;
                (Some(slot), restored(slot, desk)?)
            }
            Write::Import { line } => {
                let next = read(line)?;
                (desk.get(&next.id), next)
            }
            Write::PutBack { line, based_on } => {
                let old = read(line)?;
                let slot = desk.get(&old.id).ok_or_else(|| not_found(&old.id))?;
                same_version(&Some(based_on.clone()), Some(slot))?;
                let version = bumped(&slot.record)?.version;
                (Some(slot), Record { version, updated_at: Some(Cow::Owned(now.clone())), ..old })
            }
        };
        Ok(VaultDraft { rules, desk, base, write, next, against_a_person: false, given })
    }

    /// The same draft, which would replace what a person stands behind: it waits for one, in whatever scope.
    #[must_use]
    pub(super) fn held(mut self, against_a_person: bool) -> VaultDraft<'d> {
        self.against_a_person = against_a_person;
        self
    }

    /// What is appended.
    pub(super) fn record(&self) -> &Record<'static> {
        &self.next
    }

    /// The bytes it follows, if only its status changes: then its trust is that of those bytes.
    pub(super) fn carries_on(&self) -> Option<&[u8]> {
        matches!(self.write, Write::Retire { .. } | Write::Restore { .. })
            .then_some(self.base.map(|slot| slot.bytes.as_ref()))
            .flatten()
    }

    /// The line it follows, whose id that was and in which status.
    pub(super) fn follows(&self) -> Option<(String, Vec<u8>, Status)> {
        let slot = self.base?;
        let status = if slot.record.is_active() { Status::Active } else { Status::Retired };
        Some((slot.record.memory_id().to_string(), slot.bytes.to_vec(), status))
    }

    /// What is done, for the audit and for the one who asked.
    pub(super) fn deed(&self) -> Deed {
        match (&self.write, self.base) {
            (Write::Add(_) | Write::Import { .. }, None) => {
                Deed { action: "memory_write", status: "created" }
            }
            (Write::Promote(_), _) => Deed { action: "memory_write", status: "promoted" },
            (Write::Retire { .. }, _) => Deed { action: "memory_retire", status: "retired" },
            (Write::Restore { .. }, _) => Deed { action: "memory_restore", status: "restored" },
            _ => Deed { action: "memory_write", status: "updated" },
        }
    }

    /// The write as it waits in the inbox: with the texts as the gate left them.
    pub(super) fn waiting(&self) -> Write {
        let mut write = self.write.clone();
        let next = &self.next;
        let tags = || next.tags.iter().map(|tag| tag.to_string()).collect::<Vec<_>>();
        // What is accepted later replaces only what was there when it was asked for.
        let based_on = || self.base.map(|slot| hash::sha256(&slot.bytes));
        match &mut write {
            Write::Add(new) => {
                new.based_on = based_on();
                new.text = next.text.to_string();
                new.category = new.category.as_ref().map(|_| next.category.to_string());
                new.topic_id = next.topic_id.as_ref().map(|topic| topic.to_string());
                new.tags = new.tags.as_ref().map(|_| tags());
            }
            Write::Revise(change) => {
                change.based_on = based_on();
                change.text = change.text.as_ref().map(|_| next.text.to_string());
                change.category = change.category.as_ref().map(|_| next.category.to_string());
                change.tags = change.tags.as_ref().map(|_| tags());
            }
            Write::Promote(change) => {
                change.based_on = based_on();
                change.text = change.text.as_ref().map(|_| next.text.to_string());
                change.tags = change.tags.as_ref().map(|_| tags());
            }
            Write::Import { line } | Write::PutBack { line, .. } => *line = next.line(),
            Write::Retire { .. } | Write::Restore { .. } => {}
        }
        write
    }

    /// Whether a text comes in with this write that was not there before.
    fn brings_text(&self) -> bool {
        match &self.write {
            Write::Add(_) | Write::Import { .. } | Write::PutBack { .. } => true,
            Write::Revise(change) => change.text.is_some(),
            Write::Promote(change) => change.text.is_some(),
            Write::Retire { .. } | Write::Restore { .. } => false,
        }
    }

    /// Steps one and two. The format's own updates know neither.
    fn noise(&self) -> Result<()> {
        let is_new = matches!(self.write, Write::Add(_));
        if self.brings_text() && self.next.text.is_empty() {
            return Err(refusal(Code::Validation, "empty_text", "the text is empty", "say what to remember"));
        }
        if self.brings_text()
            && (is_new || self.is_standard())
            && let Some(signal) = journal_signal(&self.next.text)
        {
            let message = format!("the text holds the journal-only signal `{signal}`");
            return Err(refusal(
                Code::GateRefused,
                "journal_noise",
                message,
                "keep it in the session's own log; the vault is for what stays true",
            )
            .fact("signal", signal));
        }
        if self.next.tier == "log" {
            return Err(refusal(
                Code::Validation,
                "log_tier",
                "the tier `log` is journal-only",
                "use `canon` or `register`",
            ));
        }
        Ok(())
    }

    /// Steps three and four, and five where the format's own guard is asked for.
    fn shape(&self) -> Result<()> {
        let next = &self.next;
        let is_new = matches!(self.write, Write::Add(_));
        if self.brings_text() && (is_new || self.is_standard()) {
            let len = next.text.chars().count();
            if len > MAX_TEXT {
                let message = format!("the text is too long: {len} characters, at most {MAX_TEXT}");
                return Err(refusal(Code::Validation, "too_long", message, "shorten it or split it"));
            }
        }
        if (is_new || matches!(self.write, Write::Import { .. }))
            && !self.rules.scopes.contains(&next.scope.to_string())
        {
            let message = format!("there is no scope `{}`", text::one_line(&next.scope));
            let hint = format!(
                "scopes: {}; an agent's own is set in your settings as `agents.<name>.scope`",
                self.rules.scopes.join(", ")
            );
            return Err(refusal(Code::Validation, "invalid_scope", message, hint));
        }
        if next.tier != CANON && next.tier != REGISTER {
            let message = format!("there is no tier `{}`", text::one_line(&next.tier));
            return Err(refusal(Code::Validation, "invalid_tier", message, "use `canon` or `register`"));
        }
        if let Write::Add(Addition { source, .. }) = &self.write
            && !SOURCES.contains(&source.as_str())
        {
            let message = format!("there is no source `{}`", text::one_line(source));
            let hint = format!("sources: {}", SOURCES.join(", "));
            return Err(refusal(Code::Validation, "invalid_source", message, hint));
        }
        if self.is_standard() {
            self.times()?;
            self.labels()
        } else {
            self.guard()
        }
    }

    /// An imported line brings times of its own. There is room for a time in them and for nothing else.
    fn times(&self) -> Result<()> {
        if !matches!(self.write, Write::Import { .. }) {
            return Ok(());
        }
        let next = &self.next;
        let created = Some(next.created_at.as_ref()).filter(|text| !text.is_empty());
        let all = [
            ("created_at", created),
            ("updated_at", next.updated_at.as_deref()),
            ("deleted_at", next.deleted_at.as_deref()),
        ];
        for (field, text) in all {
            if text.is_some_and(|text| time::parse(text).is_none()) {
                let message = format!("`{field}` is not a time");
                let hint = "write it like `2026-01-10T09:00:00Z`";
                return Err(refusal(Code::Validation, "invalid_time", message, hint).fact("field", field));
            }
        }
        Ok(())
    }

    fn labels(&self) -> Result<()> {
        let next = &self.next;
        let too_long = |label: &str| label.chars().count() > MAX_LABEL;
        let field = if next.topic_id.as_deref().is_some_and(too_long) {
            "topic_id"
        } else if too_long(&next.category) {
            "category"
        } else if next.tags.len() > MAX_LABEL || next.tags.iter().any(|tag| too_long(tag)) {
            "tags"
        } else {
            return Ok(());
        };
        let message = format!("`{field}` is too long: at most {MAX_LABEL}");
        Err(refusal(Code::Validation, "too_long", message, "shorten it").fact("field", field))
    }

    fn guard(&self) -> Result<()> {
        if !self.brings_text() {
            return Ok(());
        }
        let Some(first) = guard::violations(&self.next.text).into_iter().next() else { return Ok(()) };
        let message = "PII detected; nothing was stored";
        let hint = "leave it out; say where it is kept";
        Err(refusal(Code::GateRefused, "pii", message, hint).fact("found", first.word()))
    }

    /// Step seven; a new version of a memory is no duplicate of the old one.
    fn duplicate(&self) -> Result<()> {
        let stored = matches!(self.write, Write::Import { .. });
        if self.base.is_some() || !self.brings_text() {
            return Ok(());
        }
        let among = self.desk.active_in(&self.next.scope, stored);
        let Some(twin) =
            alike::duplicate_of(&self.next.text, among, self.rules.overlap, self.rules.similarity)
        else {
            return Ok(());
        };
        let measures = alike::likeness(&self.next.text, &twin.text);
        let id = twin.memory_id();
        // The format's own word for it begins with a capital; scripts look for it.
        let word = if self.is_standard() { "nearly a duplicate" } else { "Duplicate" };
        Err(refusal(
            Code::Create,
            "duplicate",
            format!(
                "{word} of `{id}`: {:.0} % of the words, {:.0} % of the sequence",
                measures.overlap * 100.0,
                measures.sequence * 100.0
            ),
            format!("change that one with `heirloom edit {id}`, or say what is different"),
        )
        .fact("id", id.as_str())
        .fact("overlap", measures.overlap.to_string())
        .fact("sequence", measures.sequence.to_string()))
    }

    /// Step eight.
    fn capacity(&self) -> Result<()> {
        let adds = self.next.is_active() && !self.base.is_some_and(|slot| slot.record.is_active());
        if !adds || self.desk.active() < self.rules.capacity {
            return Ok(());
        }
        let message = format!("the vault is full: {} active memories", self.desk.active());
        let hint = "`heirloom review` shows what could go; or raise `vault.capacity`";
        Err(refusal(Code::Capacity, "capacity", message, hint))
    }

    fn is_standard(&self) -> bool {
        self.rules.profile == Profile::Standard
    }
}

/// The labels of a write as they were given: what is stored of them is in lower case, and an import brings its own ids and times.
fn given(write: &Write) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    let mut put = |field: &'static str, text: Option<&str>| found.extend(text.map(|t| (field, t.to_owned())));
    match write {
        Write::Add(new) => {
            put("scope", Some(&new.scope));
            put("tier", Some(&new.tier));
            put("source", Some(&new.source));
            put("category", new.category.as_deref());
            put("topic_id", new.topic_id.as_deref());
            new.tags.iter().flatten().for_each(|tag| put("tags", Some(tag)));
        }
        Write::Revise(change) => {
            put("category", change.category.as_deref());
            put("tier", change.tier.as_deref());
            put("topic_id", change.topic_id.as_deref());
            change.tags.iter().flatten().for_each(|tag| put("tags", Some(tag)));
        }
        Write::Promote(change) => change.tags.iter().flatten().for_each(|tag| put("tags", Some(tag))),
        Write::Import { line } | Write::PutBack { line, .. } => {
            if let Ok(record) = Record::parse(line.as_bytes()) {
                put("id", Some(&record.id));
                put("created_at", Some(&record.created_at));
                put("updated_at", record.updated_at.as_deref());
                put("deleted_at", record.deleted_at.as_deref());
                put("tier", Some(&record.tier));
                put("topic_id", record.topic_id.as_deref());
                put("source", record.source.as_deref());
                put("scope", Some(&record.scope));
                put("category", Some(&record.category));
                record.tags.iter().for_each(|tag| put("tags", Some(tag)));
            }
        }
        Write::Retire { .. } | Write::Restore { .. } => {}
    }
    found
}

/// A line from elsewhere.
fn read(line: &str) -> Result<Record<'static>> {
    let record = Record::parse(line.as_bytes())
        .map_err(|why| Fault::new(Code::Input, format!("the line cannot be read: {why}")))?;
    Ok(record.into_owned())
}

/// A memory that is no longer what somebody read is left alone.
fn same_version(based_on: &Option<String>, slot: Option<&Slot<'_>>) -> Result<()> {
    let Some(expected) = based_on else { return Ok(()) };
    let what = match slot {
        Some(slot) if *expected == hash::sha256(&slot.bytes) => return Ok(()),
        Some(slot) => format!("`{}`", slot.record.memory_id()),
        None => "the register".to_owned(),
    };
    Err(Fault::new(Code::OccConflict, format!("{what} changed since it was read")))
}

/// What is done, in two words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deed {
    pub(super) action: &'static str,
    pub(super) status: &'static str,
}

impl Draft for VaultDraft<'_> {
    fn row(&self) -> Row {
        Row::Vault
    }

    fn order(&self) -> &'static [Check] {
        if self.is_standard() { ALL } else { SEED }
    }

    fn id(&self) -> String {
        self.next.memory_id().as_str().to_owned()
    }

    fn texts(&mut self, visit: &mut dyn FnMut(&str, &mut String)) {
        if matches!(self.write, Write::Retire { .. }) {
            return;
        }
        let next = &mut self.next;
        let mut show = |field: &str, text: &mut Cow<'static, str>| visit(field, text.to_mut());
        show("text", &mut next.text);
        show("category", &mut next.category);
        if let Some(topic) = &mut next.topic_id {
            show("topic_id", topic);
        }
        for tag in &mut next.tags {
            show("tags", tag);
        }
    }

    fn given(&self) -> &[(&'static str, String)] {
        &self.given
    }

    fn own_check(&mut self, check: Check) -> Result<()> {
        let only_status = matches!(self.write, Write::Retire { .. } | Write::Restore { .. });
        match check {
            Check::Noise if !only_status => self.noise(),
            Check::Shape if !only_status => self.shape(),
            Check::Duplicate => self.duplicate(),
            Check::Capacity => self.capacity(),
            _ => Ok(()),
        }
    }

    fn must_wait(&self) -> bool {
        self.against_a_person
    }

    /// What every agent is told, and what holds for good, is a person's to say: also to change or to take away.
    fn needs_high_trust(&self) -> bool {
        let weighty = |record: &Record<'_>| !record.is_register() || record.scope == SHARED;
        weighty(&self.next) || self.base.is_some_and(|slot| weighty(&slot.record))
    }
}

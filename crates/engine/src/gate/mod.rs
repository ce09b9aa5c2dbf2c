//! The gate: the only way into a shelf.
//!
//! Comes in: a [`Draft`] and the [`Entry`] it arrived through. Goes out: a [`Decision`]: a [`Passed`] value, which is the only
//! key to a shelf's write and which only this module can make; a draft that waits for a person; or a refusal. Never here:
//! storing, printing, or the content of a draft in anything that outlives the call.
//!
//! Each kind of draft names its checks in its own order; the table in [`policy`] says what each check does on each row.

pub mod audit;
mod book;
pub(crate) mod books;
mod edition;
pub mod fields;
pub mod inbox;
pub mod policy;
pub mod scan;
mod screen;
mod seed;
mod spoken;
pub mod trust;
pub mod withdrawn;

pub use edition::Edition;
pub use screen::{Screen, Verdict};
pub use spoken::spoken;

use heirloom_core::{Channel, Code, Fault, Trust, fault::Result};
use policy::{Act, Row};
use scan::{Class, Level};

/// A check, in the words of the policy table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// Schema, lengths, ids, dates: the shelf's own.
    Shape,
    /// What is not worth keeping: the shelf's own.
    Noise,
    /// Secrets, by level.
    Secrets,
    /// National ids, cards, bank accounts.
    Identity,
    /// E-mail, phone, address, IP, MAC, birth date.
    Contact,
    /// Text that speaks to a model instead of telling it something.
    Injection,
    /// Whether this channel may write this without a person.
    Trust,
    /// What is there already: the shelf's own.
    Duplicate,
    /// What fits: the shelf's own.
    Capacity,
}

/// Something that wants to be stored.
pub trait Draft {
    /// The row of the policy table.
    fn row(&self) -> Row;

    /// The checks, in the order of this shelf.
    fn order(&self) -> &'static [Check];

    /// The id it will have, for audit lines.
    fn id(&self) -> String;

    /// Shows every text that would be stored, by field name; the visitor may change it.
    fn texts(&mut self, visit: &mut dyn FnMut(&str, &mut String));

    /// What it was made from, where that was folded, cut or renamed on the way: field by field, as it was given.
    fn given(&self) -> &[(&'static str, String)] {
        &[]
    }

    /// Runs one of the shelf's own checks ([`Check::Shape`], [`Check::Noise`], [`Check::Duplicate`], [`Check::Capacity`]).
    fn own_check(&mut self, check: Check) -> Result<()>;

    /// How far this draft is believed, where a deployment sets other levels than the table of channels.
    fn trust(&self, entry: Entry) -> Trust {
        entry.trust()
    }

    /// Whether a person must look at this whatever its trust, because of what is stored already.
    fn must_wait(&self) -> bool {
        false
    }

    /// Whether a secret refuses this where the policy table would cut it out.
    fn refuses_secrets(&self) -> bool {
        false
    }

    /// Whether only high trust may write this without confirmation.
    fn needs_high_trust(&self) -> bool {
        false
    }
}

/// How a draft arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The channel, decided by the door.
    pub channel: Channel,
    /// A person at a terminal or on the web page has seen this very draft and said yes.
    pub confirmed: bool,
}

impl Entry {
    /// An arrival that nobody has confirmed.
    pub fn through(channel: Channel) -> Entry {
        Entry { channel, confirmed: false }
    }

    /// The trust of what arrives this way.
    pub fn trust(self) -> Trust {
        if self.confirmed { Trust::High } else { self.channel.trust() }
    }
}

/// What a check had to say about a draft.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Remark {
    /// The field it is about.
    pub field: String,
    /// The class of thing found.
    pub class: Class,
    /// How sure the rule is.
    pub level: Level,
    /// The rule.
    pub rule: String,
    /// What was done about it.
    pub act: Act,
}

/// A draft that may be stored. Only the gate makes these.
#[derive(Debug)]
pub struct Passed<D> {
    draft: D,
    entry: Entry,
    remarks: Vec<Remark>,
}

impl<D> Passed<D> {
    /// The draft as it may be stored.
    pub fn draft(&self) -> &D {
        &self.draft
    }

    /// The draft, for the shelf that stores it.
    pub fn into_draft(self) -> D {
        self.draft
    }

    /// How it arrived.
    pub fn entry(&self) -> Entry {
        self.entry
    }

    /// What was found in it and kept, reported or changed.
    pub fn remarks(&self) -> &[Remark] {
        &self.remarks
    }
}

/// What the gate decided.
#[derive(Debug)]
pub enum Decision<D> {
    /// It may be stored.
    Passed(Passed<D>),
    /// It waits for a person; the draft holds no secret any more.
    Waits {
        /// The draft.
        draft: D,
        /// Why it waits.
        remarks: Vec<Remark>,
    },
    /// Nothing is stored.
    Refused(Fault),
}

impl<D> Decision<D> {
    /// The word for the audit.
    pub fn verdict(&self) -> &'static str {
        match self {
            Decision::Passed(passed) if passed.remarks.iter().any(|r| r.act == Act::Redact) => "redact",
            Decision::Passed(_) => "keep",
            Decision::Waits { .. } => "confirm",
            Decision::Refused(_) => "refuse",
        }
    }
}

/// Sends a draft through its checks.
pub fn admit<D: Draft>(draft: D, entry: Entry, screen: &Screen) -> Decision<D> {
    let row = draft.row();
    let decision = decide(draft, entry, screen);
    let (verdict, remarks) = match &decision {
        Decision::Passed(passed) => ("passed", passed.remarks.len()),
        Decision::Waits { remarks, .. } => ("waits", remarks.len()),
        Decision::Refused(fault) => (fault.code.name(), 0),
    };
    // What was found, and in which words, is nobody's to log.
    tracing::debug!(?row, channel = ?entry.channel, verdict, remarks, "gate");
    decision
}

fn decide<D: Draft>(mut draft: D, entry: Entry, screen: &Screen) -> Decision<D> {
    let mut remarks = Vec::new();
    let mut seen = screen::Seen::default();
    let mut waits = false;
    if let Err(fault) = screen.look_given(&draft) {
        return Decision::Refused(fault);
    }
    for &check in draft.order() {
        let outcome = match check {
            Check::Shape | Check::Noise | Check::Duplicate | Check::Capacity => draft.own_check(check),
            Check::Trust => {
                waits |= draft.needs_high_trust() && draft.trust(entry) < Trust::High;
                Ok(())
            }
            Check::Secrets | Check::Identity | Check::Contact | Check::Injection => {
                screen.look(&mut draft, check, entry, &mut seen, &mut remarks).map(|held| waits |= held)
            }
        };
        if let Err(fault) = outcome {
            return Decision::Refused(fault);
        }
    }
    if (waits || draft.must_wait()) && !entry.confirmed {
        Decision::Waits { draft, remarks }
    } else {
        Decision::Passed(Passed { draft, entry, remarks })
    }
}

/// The refusal for something found in a field.
fn refusal(field: &str, class: Class, rule: &str) -> Fault {
    let (what, instead) = match class {
        Class::Secret => {
            ("a secret", "store where the secret is kept or how to get it, not the secret itself")
        }
        Class::Identity => ("identity data", "leave the number out; say where it is kept"),
        Class::Contact => ("contact data", "leave it out; say where it is kept"),
        Class::Injection => ("text that gives orders to a model", "say it as a fact, without instructions"),
    };
    Fault::new(Code::GateRefused, format!("`{field}` holds {what}; nothing was stored"))
        .fact("field", field)
        .fact("class", class.name())
        .fact("rule", rule)
        .hint(instead)
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;

//! Review: what waits for a person, and what becomes of it.
//!
//! Comes in: keys of waiting drafts and ids of memories, each with the hash of what the person was shown. Goes out: what waits, every field
//! of it; what was accepted, stored and turned down. Accepting counts for exactly the bytes that were shown: who sends no hash, or that of
//! other bytes, accepts nothing. Never here: showing anything to anybody, or asking.

use super::names::{self, Enough};
use super::{commit, may_read, review, seen, told};
use crate::call::Call;
use crate::capture::extract;
use crate::files::{self, Lock, Mode};
use crate::index::embed::endpoint::{Clean, Post};
use heirloom_core::{Code, Fault, Kind, Memory, Owner, ShelfName, Trust, Verb, fault::Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

pub use super::review::{Alike, Field, Known, Pending, Proposed, Shown, Suggestions};
pub use crate::capture::extract::Looked;
pub use crate::shelf::anchors::Freshness;

/// What waits, and what could be tidied up.
#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
pub struct Waits {
    /// What waits.
    #[serde(flatten)]
    pub waiting: Pending,
    /// What could be tidied up.
    #[serde(flatten)]
    pub suggestions: Suggestions,
}

/// Everything that waits for a person, as far as the caller may see it.
pub fn list(call: &Call) -> Result<Waits> {
    may_read(call, Verb::Review)?;
    Ok(Waits { waiting: visible(call, review::pending(call)?), suggestions: review::suggestions(call)? })
}

/// Cuts what waits down to what the caller may have.
fn visible(call: &Call, mut waiting: Pending) -> Pending {
    waiting.saved_by_agents.retain(|memory| call.caller().sees().sees(memory));
    waiting.saved_by_agents =
        waiting.saved_by_agents.into_iter().map(|memory| told::fit(call, memory).0).collect();
    waiting
}

/// Which of what waits is meant.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choose {
    /// Keys of drafts; ids or names of memories.
    #[serde(default)]
    pub keys: Vec<String>,
    /// Everything.
    #[serde(default)]
    pub all: bool,
}

/// What a person is to be shown before they say yes.
#[derive(Debug, Default, Serialize)]
pub struct Chosen {
    /// Drafts.
    pub drafts: Vec<Shown>,
    /// Stored memories, as they are.
    pub memories: Vec<Memory>,
    /// What is stored of each of them, by id, to the letter: a yes is for all of it.
    pub stored: BTreeMap<String, String>,
}

impl Chosen {
    /// The yes to all of it.
    pub fn yes(&self) -> Accept {
        let drafts = self.drafts.iter().map(|one| Seen { key: one.item.key.clone(), seen: one.seen.clone() });
        let memories = self
            .memories
            .iter()
            .map(|memory| Seen { key: memory.id.to_string(), seen: memory.content_hash.clone() });
        Accept { shown: drafts.chain(memories).collect() }
    }
}

/// What is meant by a choice of what waits. Only whoever may accept is told: to anybody else these bytes are of no use.
pub fn choose(call: &Call, ask: &Choose) -> Result<Chosen> {
    call.permit(Verb::Accept, ShelfName::Records, "")?;
    let waiting = review::pending(call)?;
    if ask.all {
        let stored = stored(call, &waiting.saved_by_agents)?;
        return Ok(Chosen { drafts: waiting.drafts, memories: waiting.saved_by_agents, stored });
    }
    let named = |shown: &Shown, key: &str| shown.item.key == key || shown.item.id == key;
    let mut chosen = Chosen::default();
    for key in &ask.keys {
        if waiting.drafts.iter().any(|shown| named(shown, key)) {
            continue;
        }
        // What was altered is there, but nothing of it can be accepted.
        for inbox in call.inboxes()? {
            match inbox.get(key, call.project().world().now) {
                Err(fault) if fault.code == Code::Damaged => return Err(fault),
                Ok(_) | Err(_) => {}
            }
        }
        let id = names::find(call, key, Enough::Part)?;
        let memory = waiting.saved_by_agents.iter().find(|memory| memory.id == id).ok_or_else(|| {
            Fault::new(Code::NotFound, format!("`{id}` does not wait for a review"))
                .hint(format!("`heirloom trust {id}` raises the trust of any memory"))
        })?;
        chosen.memories.push(memory.clone());
    }
    let drafts = waiting.drafts.into_iter();
    chosen.drafts = drafts.filter(|shown| ask.keys.iter().any(|key| named(shown, key))).collect();
    chosen.stored = stored(call, &chosen.memories)?;
    Ok(chosen)
}

/// Any memories, to be believed as they are. The names are those a person typed: what they stand for is shown before anything is done.
pub fn choose_any(call: &Call, names: &[String]) -> Result<Chosen> {
    call.permit(Verb::Accept, ShelfName::Records, "")?;
    let mut memories = Vec::new();
    for name in names {
        let memory = seen(call, &names::find(call, name, Enough::Part)?)?;
        believable(&memory)?;
        memories.push(memory);
    }
    let stored = stored(call, &memories)?;
    Ok(Chosen { drafts: Vec::new(), memories, stored })
}

/// What is stored of memories, to the letter, as far as they are files. Other bytes than those a memory was read from are not shown as its own.
fn stored(call: &Call, memories: &[Memory]) -> Result<BTreeMap<String, String>> {
    let mut texts = BTreeMap::new();
    for memory in memories {
        let Some(text) = call.shelf_of(&memory.id)?.raw(&memory.id)? else { continue };
        if seen(call, &memory.id)?.content_hash != memory.content_hash {
            return Err(not_shown(memory.id.as_str()));
        }
        texts.insert(memory.id.to_string(), text);
    }
    Ok(texts)
}

/// Refuses what no yes can change: whose words a turn holds is a matter of record, and so is where a fact came from.
fn believable(memory: &Memory) -> Result<()> {
    let no = |message: &str, hint: String| {
        Err(Fault::new(Code::Usage, message).fact("id", memory.id.as_str()).hint(hint))
    };
    match memory.kind {
        Kind::Episode | Kind::Working => no(
            "the trust of a turn depends on who said it; nothing was changed",
            "`heirloom remember \"…\"` saves what it says as a fact of your own".to_owned(),
        ),
        Kind::Fact if memory.trust < Trust::High => no(
            "the trust of a fact depends on who said it; nothing was changed",
            format!("`heirloom edit {} --text \"…\"` says it in your own words", memory.id),
        ),
        _ => Ok(()),
    }
}

/// One thing a person was shown.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// The key of a draft, or the whole id of a memory.
    pub key: String,
    /// Of a draft `seen`, of a memory `content_hash`: what came with what was shown.
    pub seen: String,
}

/// A person's yes to what they were shown.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accept {
    /// All that was shown.
    pub shown: Vec<Seen>,
}

/// What became of a yes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, schemars::JsonSchema)]
pub struct Accepted {
    /// Memories that are believed now.
    pub accepted: Vec<String>,
    /// Ids of drafts that are stored now.
    pub stored: Vec<String>,
    /// What could not be done.
    pub failed: Vec<Failed>,
}

/// Something that could not be accepted.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Failed {
    /// What was to be accepted.
    pub key: String,
    /// The code of the table.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// The same, as a fault.
    #[serde(skip)]
    pub fault: Fault,
}

/// Accepts exactly what was shown. One thing that cannot be stored any more (the vault is full, say) does not keep the others waiting; one that
/// is not what was shown keeps all of them.
pub fn accept(call: &Call, ask: &Accept) -> Result<Accepted> {
    call.permit(Verb::Accept, ShelfName::Records, "")?;
    let waiting = review::pending(call)?;
    let mut drafts = Vec::new();
    let mut memories = Vec::new();
    for Seen { key, seen: hash } in &ask.shown {
        if let Some(shown) = waiting.drafts.iter().find(|shown| shown.item.key == *key) {
            if shown.seen != *hash {
                return Err(not_shown(key));
            }
            drafts.push(shown);
            continue;
        }
        let id = names::find(call, key, Enough::Whole).map_err(|fault| match fault.code {
            // It was there when it was shown.
            Code::NotFound => not_shown(key),
            _ => fault,
        })?;
        let memory = seen(call, &id)?;
        if memory.content_hash != *hash {
            return Err(not_shown(key));
        }
        believable(&memory)?;
        memories.push(memory);
    }
    let mut done = Accepted::default();
    for memory in &memories {
        review::accept(call, memory)?;
        done.accepted.push(memory.id.to_string());
    }
    for shown in drafts {
        match review::accept_draft(call, shown) {
            Ok(id) => done.stored.push(id),
            Err(fault) => done.failed.push(Failed {
                key: shown.item.key.clone(),
                code: fault.code.name(),
                message: fault.message.clone(),
                fault,
            }),
        }
    }
    commit::commit(call, "memory: accept what waited");
    Ok(done)
}

fn not_shown(key: &str) -> Fault {
    Fault::new(Code::OccConflict, format!("`{key}` is no longer what was shown; nothing was accepted"))
        .fact("key", key)
        .hint("`heirloom review` shows what waits now")
}

/// Drafts to be turned down.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reject {
    /// Their keys.
    pub keys: Vec<String>,
}

/// Turns drafts down. Returns the ids they would have had. All keys are looked up before anything is touched.
pub fn reject(call: &Call, ask: &Reject) -> Result<Vec<String>> {
    super::asked(call, Verb::Reject, ShelfName::Records, Owner::Nobody)?;
    for key in &ask.keys {
        review::waits_under(call, key)?;
    }
    ask.keys.iter().map(|key| review::reject(call, key)).collect()
}

/// Where it is noted that somebody looks already.
const TURN: &str = "extracting";

/// How facts are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Propose {
    /// Leave it to whoever looks already.
    #[serde(default)]
    pub if_free: bool,
}

/// Has the endpoint of the user's settings look for facts in what was said; each waits for a yes. Nothing, if somebody looks already and
/// that is enough.
pub fn propose(call: &Call, ask: Propose, clean: &Clean, post: &Post) -> Result<Option<Looked>> {
    let Some(named) = &call.settings().extraction else {
        return Err(Fault::new(Code::Usage, "your settings name no endpoint that proposes facts").hint(
            "`heirloom config set --user extraction.url https://…/v1` and `extraction.model`; simple statements are found without one",
        ));
    };
    super::asked(call, Verb::Turn, ShelfName::Tiers, Owner::Nobody)?;
    let data = &call.project().world().data;
    files::make_folder(data, Mode::Private)?;
    let turn = Lock::acquire(&data.join(TURN), Duration::ZERO);
    if ask.if_free && turn.is_err() {
        return Ok(None);
    }
    let _turn = turn?;
    extract::propose(call, &named.model, clean, post).map(Some)
}

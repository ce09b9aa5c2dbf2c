//! Edit: a memory says something else from now on.
//!
//! Comes in: an id and what is to change, field by field or as a whole text. Goes out: the changed memory, or a change that waits because a
//! person stands behind the text. The version is checked whatever changes. Never here: an editor; [`draft`] gives a door what one would be
//! shown, and what came back is [`Edit::whole`].

mod fact;
mod lesson;
mod note;
mod record;
mod vault;

pub(super) use note::path_of;

use super::names::{self, Enough};
use super::{Added, Outcome, Waiting, Yes, asked_of, commit, remember, seen, waiting};
use crate::call::Call;
use crate::files::{self, Mode};
use crate::gate::Entry;
use crate::gate::fields::without_secrets;
use crate::shelf::door::EDITED;
use heirloom_core::{Code, Fault, May, Memory, MemoryId, ShelfName, Verb, fault::Result};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::PathBuf;

/// A change.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The memory, by id or name.
    pub id: String,
    /// The version it is based on; a memory that has another one by now is left alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// New title of a record or lesson.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Content fields of a record or lesson, `confidence` of a fact, `days` of an episode, `path` of a file of the memory tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<(String, String)>,
    /// Further tags of a record, canon or register.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// New text of a canon, register or fact, or of a file of the memory tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// New topic of a register.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// New category of a canon or register.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The whole memory as [`draft`] gives it, in place of all of the above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<String>,
    /// What changed, for a record's history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What a person said to [`questions`].
    #[serde(default)]
    pub yes: Yes,
}

impl Edit {
    /// Whether it says what is to change.
    pub fn says_what(&self) -> bool {
        self.title.is_some()
            || !self.fields.is_empty()
            || !self.tags.is_empty()
            || self.text.is_some()
            || self.topic.is_some()
            || self.category.is_some()
            || self.whole.is_some()
    }
}

/// A memory as somebody would change it by hand.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EditDraft {
    /// The memory.
    pub id: MemoryId,
    /// Its version, for [`Edit::version`].
    pub version: String,
    /// Its text: a record's JSON, a lesson's entry, the plain text of anything else.
    pub text: String,
    /// The ending a file with this text would have.
    pub ending: &'static str,
}

/// What an editor is given.
pub fn draft(call: &Call, name: &str) -> Result<EditDraft> {
    let memory = found(call, name)?;
    let (text, ending) = match memory.kind.shelf() {
        ShelfName::Records => (record::draft(call, &memory)?, "json"),
        ShelfName::Topics => (lesson::draft(call, &memory)?, "md"),
        ShelfName::Vault => (format!("{}\n", memory.body), "txt"),
        ShelfName::Tiers => (memory.body.clone(), "txt"),
        ShelfName::Notes => (note::draft(&memory)?, "md"),
    };
    Ok(EditDraft { id: memory.id, version: memory.version, text, ending })
}

/// Keeps a text that could not be taken as a change, so that nobody writes it twice. Returns the file, in the user's own data folder; the next
/// one takes its place, and `forget` removes it. What holds a secret or belongs to a person's own memories is not kept.
pub fn keep_draft(call: &Call, id: &MemoryId, text: &str, ending: &str) -> Result<Option<PathBuf>> {
    if id.kind().shelf() == ShelfName::Tiers || matches!(without_secrets(text), Cow::Owned(_)) {
        return Ok(None);
    }
    let file = call.project().data()?.join(format!("{EDITED}.{ending}"));
    files::write(&file, text.as_bytes(), Mode::Private)?;
    Ok(Some(file))
}

/// Removes what [`keep_draft`] kept.
pub fn drop_draft(call: &Call) -> Result<()> {
    crate::shelf::door::forget_edited(call.project().data()?)
}

/// What a person is to be asked before this change is made; nobody else is asked.
pub fn questions(call: &Call, ask: &Edit) -> Result<Vec<remember::Question>> {
    let id = names::find(call, &ask.id, Enough::to_change(call))?;
    let text = ask.text.as_ref().or(ask.whole.as_ref());
    Ok(match text {
        Some(text) if id.kind().shelf() == ShelfName::Tiers => {
            remember::possible_secret(call, text, true).into_iter().collect()
        }
        _ => Vec::new(),
    })
}

/// Changes a memory.
pub fn edit(call: &Call, ask: &Edit) -> Result<Outcome<Added>> {
    let outcome = run(call, ask, call.entry())?;
    if let Outcome::Done(changed) = &outcome {
        commit::commit(call, &format!("memory: edit {}", changed.id));
    }
    Ok(outcome)
}

pub(super) fn run(call: &Call, ask: &Edit, entry: Entry) -> Result<Outcome<Added>> {
    let id = names::find(call, &ask.id, Enough::to_change(call))?;
    note::may_change(call, &id)?;
    fits(ask, &id)?;
    let memory = seen(call, &id)?;
    if ask.whole.is_none() && ask.text.is_none() {
        call.begin_unseen();
    }
    // Older callers hold the MD5 of a record's file, which is compared where the file is read.
    let of_file = |version: &String| memory.kind.shelf() == ShelfName::Records && version.len() != 64;
    if ask.version.as_ref().is_some_and(|version| *version != memory.version && !of_file(version)) {
        return Err(Fault::new(Code::OccConflict, format!("`{}` changed since it was read", memory.id))
            .fact("id", memory.id.as_str()));
    }
    // What a person took out of use is not rewritten either, or it could be put back under other bytes.
    let waits = asked_of(call, Verb::Edit, &memory, call.stands_behind(&memory)?)? == May::Waits;
    match memory.kind.shelf() {
        ShelfName::Records => record::edit(call, ask, &memory, entry, waits),
        ShelfName::Topics => lesson::edit(call, ask, &memory, entry, waits),
        ShelfName::Vault => vault::edit(call, ask, &memory, entry, waits),
        ShelfName::Notes => note::edit(call, ask, &memory, entry, waits),
        ShelfName::Tiers => fact::edit(call, ask, &memory, entry, waits),
    }
}

/// The same without a commit of its own, for whoever changes several files of the memory tool at once.
pub(super) fn edit_file(call: &Call, ask: &Edit) -> Result<Outcome<Added>> {
    run(call, ask, call.entry())
}

fn found(call: &Call, name: &str) -> Result<Memory> {
    seen(call, &names::find(call, name, Enough::to_change(call))?)
}

/// Has the change wait, under the memory's whole id. The version it is for is kept beside it.
fn hold(call: &Call, ask: &Edit, memory: &Memory) -> Result<Waiting> {
    let ask = Edit { id: memory.id.to_string(), version: None, yes: Yes::default(), ..ask.clone() };
    waiting::wait(call, Verb::Edit, memory, &ask)
}

fn unchanging(id: &MemoryId) -> Fault {
    Fault::new(Code::Usage, "a note is what was said and does not change").fact("id", id.as_str()).hint(
        format!("`heirloom convert {id} lesson` distils it, `heirloom retire {id}` takes it out of use"),
    )
}

/// Refuses what this kind has no use for, and a request that changes nothing, before anything is looked up.
fn fits(ask: &Edit, id: &MemoryId) -> Result<()> {
    let (title, field) = (("--title", ask.title.is_some()), ("--field", !ask.fields.is_empty()));
    let (tag, text) = (("--tag", !ask.tags.is_empty()), ("--text", ask.text.is_some()));
    let (topic, category) = (("--topic", ask.topic.is_some()), ("--category", ask.category.is_some()));
    let no_use = match id.kind().shelf() {
        ShelfName::Records => vec![text, topic, category],
        ShelfName::Topics => vec![tag, text, topic, category],
        ShelfName::Vault => vec![title, field],
        ShelfName::Tiers => vec![title, tag, topic, category, ("--message", ask.message.is_some())],
        ShelfName::Notes => vec![title, tag, topic, category],
    };
    if let Some((flag, _)) = no_use.into_iter().find(|(_, given)| *given) {
        return Err(Fault::new(Code::Usage, format!("a {} has no {flag}", id.kind()))
            .fact("id", id.as_str())
            .hint("`heirloom edit --help` says which kind takes what"));
    }
    if !ask.says_what() {
        return Err(Fault::new(Code::Usage, "no change was given")
            .hint("say what to change: --title, --field NAME=VALUE, --tag, --text"));
    }
    if id.kind().shelf() == ShelfName::Tiers { fact::numbers(ask).map(drop) } else { Ok(()) }
}

fn not_one(what: &str, why: &str) -> Fault {
    Fault::new(Code::Input, format!("the changed text is not a valid {what}: {why}"))
        .hint("nothing was changed; correct it and run `heirloom edit` again")
}

//! A note that wants to be stored.
//!
//! Comes in: a message with fields given or left to be derived. Goes out, through the gate: the same message, unchanged but for
//! the spans of secrets and identity numbers, with subject, keywords, scope, hash and id settled from what will really be
//! stored. Never here: fields derived from text the gate cut out.

use super::note::{self, Moment, Note};
use super::{NoteId, place};
use crate::gate::policy::Row;
use crate::gate::{Check, Draft};
use heirloom_core::settings::Profile;
use heirloom_core::text::{self, KeywordRules};
use heirloom_core::{Kind, fault::Result};
use serde_json::{Value, json};

/// The order of this shelf: the seven rules, then what is in the text, then what the stored text makes of the other fields.
const ORDER: &[Check] = &[
    Check::Shape,
    Check::Secrets,
    Check::Identity,
    Check::Contact,
    Check::Injection,
    Check::Trust,
    Check::Capacity,
];

/// The format came without a list of patterns, so under `gate.profile: seed` no text is looked at.
const SEED_ORDER: &[Check] = &[Check::Shape, Check::Trust, Check::Capacity];

/// A message on its way to the shelf.
#[derive(Debug, Clone, PartialEq)]
pub struct NoteDraft {
    /// The id of an imported note; new ones get one when they are stored.
    pub id: Option<NoteId>,
    /// One line; derived from the content if it is not given.
    pub subject: Given<String>,
    /// What it is about; derived if not given.
    pub keywords: Given<Vec<String>>,
    /// Where it holds; derived if not given.
    pub applies_to: Given<String>,
    /// When it was said.
    pub occurred_at: Moment,
    /// Whether nobody knows when it was said: then it is the same message as any other with this content.
    pub timeless: bool,
    /// The message.
    pub content: String,
    /// The path of a file of the memory tool.
    pub memory_path: Option<String>,
    profile: Profile,
    max_keywords: usize,
}

/// A field that somebody gave, or that follows from the content.
#[derive(Debug, Clone, PartialEq)]
pub enum Given<T> {
    /// As it was given.
    Yes(T),
    /// As it follows from the content, and will again from what is stored of it.
    Derived(T),
}

impl<T> Given<T> {
    /// The value, wherever it comes from.
    pub fn value(&self) -> &T {
        match self {
            Given::Yes(value) | Given::Derived(value) => value,
        }
    }

    fn value_mut(&mut self) -> &mut T {
        match self {
            Given::Yes(value) | Given::Derived(value) => value,
        }
    }

    fn settle(&mut self, derive: impl FnOnce() -> T) {
        if let Given::Derived(value) = self {
            *value = derive();
        }
    }
}

impl NoteDraft {
    /// A draft of a message, everything else derived.
    pub fn of(content: impl Into<String>, occurred_at: Moment, max_keywords: usize) -> NoteDraft {
        let content = content.into();
        NoteDraft {
            id: None,
            subject: Given::Derived(derived_subject(&content)),
            keywords: Given::Derived(derived_keywords(&content, max_keywords)),
            applies_to: Given::Derived(text::scope_of(&content).to_string()),
            occurred_at,
            timeless: false,
            content,
            memory_path: None,
            profile: Profile::Standard,
            max_keywords,
        }
    }

    /// A draft of a file of the memory tool: a note of any length that goes by this path, in its plain form.
    pub fn of_file(path: &str, content: &str, occurred_at: Moment, max_keywords: usize) -> NoteDraft {
        let mut draft = NoteDraft {
            memory_path: Some(path.to_owned()),
            ..NoteDraft::of(content, occurred_at, max_keywords)
        };
        draft.settle();
        draft
    }

    /// A draft of a note as it was read from a file.
    pub fn of_note(note: Note) -> NoteDraft {
        NoteDraft {
            id: Some(note.id),
            subject: Given::Yes(note.subject),
            keywords: Given::Yes(note.keywords),
            applies_to: Given::Yes(note.applies_to.to_string()),
            occurred_at: note.occurred_at,
            timeless: false,
            content: note.content,
            memory_path: note.memory_path,
            profile: Profile::Standard,
            max_keywords: note::KEYWORDS_MAX,
        }
    }

    /// A draft from the fields a caller gives. A field that is missing or of the wrong type is named.
    pub fn from_fields(fields: &Value, now: jiff::Timestamp) -> Result<NoteDraft> {
        let text = |name, rule| match fields.get(name) {
            None | Some(Value::Null) => Err(note::missing(name, rule)),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(_) => Err(note::invalid(name, rule, "is not a text", "give it as a text")),
        };
        Ok(NoteDraft {
            id: fields.get("id").and_then(Value::as_str).map(note::id).transpose()?,
            subject: Given::Yes(text("subject", 2)?),
            keywords: Given::Yes(words(fields)?),
            applies_to: Given::Yes(text("applies_to", 4)?),
            occurred_at: match fields.get("occurred_at") {
                None | Some(Value::Null) => Moment::of(now),
                Some(_) => note::occurred_at(&text("occurred_at", 5)?)?,
            },
            timeless: fields.get("timeless").and_then(Value::as_bool).unwrap_or_default(),
            content: text("content", 7)?,
            memory_path: fields.get("memory_path").and_then(Value::as_str).map(str::to_owned),
            profile: Profile::Standard,
            max_keywords: note::KEYWORDS_MAX,
        })
    }

    /// The same draft, to be looked at with the rules of a profile.
    #[must_use]
    pub(super) fn under(self, profile: Profile) -> NoteDraft {
        NoteDraft { profile, ..self }
    }

    /// The fields, as the inbox keeps them and [`NoteDraft::from_fields`] reads them.
    pub fn to_fields(&self) -> Value {
        let mut fields = json!({
            "id": self.id.as_ref().map(NoteId::as_str),
            "subject": self.subject.value(),
            "keywords": self.keywords.value(),
            "applies_to": self.applies_to.value(),
            "occurred_at": self.occurred_at.stored(),
            "timeless": self.timeless.then_some(true),
            "content": self.content,
        });
        if let Some(path) = &self.memory_path {
            fields["memory_path"] = json!(path);
        }
        fields
    }

    /// The same message, of which nobody knows when it was said.
    #[must_use]
    pub fn without_time(self) -> NoteDraft {
        NoteDraft { timeless: true, ..self }
    }

    /// The name by which the message is known again.
    pub(super) fn name(&self) -> NoteId {
        let hash = note::content_hash(&self.content);
        if self.timeless { NoteId::of_content(&hash) } else { NoteId::of(self.occurred_at.at(), &hash) }
    }

    /// The seven rules; what is auto-generated (id, hash) cannot be wrong here.
    pub fn check(&self) -> Result<()> {
        note::subject(self.subject.value())?;
        note::keywords(self.keywords.value())?;
        note::applies_to(self.applies_to.value())?;
        match &self.memory_path {
            // A file may be as short as it likes.
            Some(path) => note::memory_path(path),
            None => note::content(&self.content),
        }
    }

    /// The note as it will be stored; with a new id, made from this seed, unless it has one.
    pub(super) fn note(&self, seed: &[u8]) -> Result<Note> {
        let content_hash = note::content_hash(&self.content);
        Ok(Note {
            id: self.id.clone().unwrap_or_else(|| NoteId::random(seed)),
            subject: self.subject.value().clone(),
            keywords: self.keywords.value().clone(),
            applies_to: note::applies_to(self.applies_to.value())?,
            occurred_at: self.occurred_at.clone(),
            content_hash,
            content: self.content.clone(),
            memory_path: self.memory_path.clone(),
        })
    }

    /// Derives again what was derived, now from the text that will be stored, and cuts what a replacement made too long.
    fn settle(&mut self) {
        let (content, max) = (&self.content, self.max_keywords);
        let path = self.memory_path.as_deref();
        self.subject.settle(|| match path {
            Some(path) => subject_of_file(path, content),
            None => derived_subject(content),
        });
        self.keywords.settle(|| match path {
            Some(path) => derived_keywords(&format!("{}\n{content}", words_of(path)), max),
            None => derived_keywords(content, max),
        });
        self.applies_to.settle(|| text::scope_of(content).to_string());
        cut(self.subject.value_mut(), note::SUBJECT_MAX);
        self.keywords.value_mut().iter_mut().for_each(|word| cut(word, note::KEYWORD_MAX));
    }
}

impl Draft for NoteDraft {
    fn row(&self) -> Row {
        Row::Notes
    }

    fn order(&self) -> &'static [Check] {
        if self.profile == Profile::Seed { SEED_ORDER } else { ORDER }
    }

    fn id(&self) -> String {
        self.id.clone().unwrap_or_else(|| self.name()).memory_id().to_string()
    }

    fn texts(&mut self, visit: &mut dyn FnMut(&str, &mut String)) {
        visit("subject", self.subject.value_mut());
        for word in self.keywords.value_mut() {
            visit("keywords", word);
        }
        visit("applies_to", self.applies_to.value_mut());
        visit("content", &mut self.content);
    }

    fn own_check(&mut self, check: Check) -> Result<()> {
        match check {
            Check::Shape => self.check(),
            // Runs after the text was looked at: what is stored must keep the rules too.
            Check::Capacity => {
                self.settle();
                self.check()
            }
            _ => Ok(()),
        }
    }
}

fn words(fields: &Value) -> Result<Vec<String>> {
    let texts = |items: &Vec<Value>| items.iter().map(|item| item.as_str().map(str::to_owned)).collect();
    match fields.get("keywords") {
        None | Some(Value::Null) => Err(note::missing("keywords", 3)),
        Some(given) => given
            .as_array()
            .and_then(texts)
            .ok_or_else(|| note::invalid("keywords", 3, "is not a list of texts", "give a list of texts")),
    }
}

/// What a person looks for: the file's name, then how it begins.
fn subject_of_file(path: &str, content: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let begins = one_line(&text::subject(content));
    if begins.is_empty() { name.to_owned() } else { format!("{name}: {begins}") }
}

/// The words of a path below the root.
fn words_of(path: &str) -> String {
    path.trim_start_matches(place::ROOT).replace(['/', '.', '_', '-'], " ")
}

/// A subject that is never empty.
fn derived_subject(content: &str) -> String {
    let subject = one_line(&text::subject(content));
    if subject.is_empty() { "note".to_owned() } else { subject }
}

/// Keywords that are never none: a message of stop words or single letters is named by those, one without letters by its kind.
fn derived_keywords(content: &str, max: usize) -> Vec<String> {
    let rules = KeywordRules { max, ..KeywordRules::default() };
    let mut words = text::keywords(content, &rules);
    if words.is_empty() {
        words = text::any_words(content, max);
    }
    if words.is_empty() {
        words.push(Kind::Note.name().to_owned());
    }
    words.iter_mut().for_each(|word| cut(word, note::KEYWORD_MAX));
    words
}

/// A subject is one line, whatever breaks lines.
pub(crate) fn one_line(text: &str) -> String {
    let breaks = |c: char| matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}');
    if !text.contains(breaks) {
        return text.to_owned();
    }
    text.split(breaks).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn cut(text: &mut String, max: usize) {
    if let Some((end, _)) = text.char_indices().nth(max) {
        text.truncate(end);
    }
}

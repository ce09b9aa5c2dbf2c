//! From a kind and loose words to a request, for doors whose users type.
//!
//! Comes in: the name of a kind and whatever was said beside it, or the text of a file. Goes out: [`New`], by kind. What a kind has no use for is
//! refused by name: silence would lose what somebody typed. Never here: reading the file.

use super::super::remember::{NewFact, NewTurn};
use super::record::category;
use super::{New, NewLesson, NewNote, NewRecord, NewVault};
use crate::call::Call;
use crate::shelf::notes::{NoteDraft, read_file};
use crate::shelf::records::Document;
use crate::shelf::tiers::Role;
use heirloom_core::{Code, Fault, Kind, fault::Result};
use serde_json::Value;

/// What was said.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Words {
    /// The kind, by name.
    pub kind: String,
    /// The text.
    pub text: String,
    /// The text of a file, in place of it.
    pub taken: Option<Taken>,
    /// A title.
    pub title: Option<String>,
    /// Fields, name and value.
    pub fields: Vec<(String, String)>,
    /// Tags.
    pub tags: Vec<String>,
    /// A topic.
    pub topic: Option<String>,
    /// A scope.
    pub scope: Option<String>,
    /// A category.
    pub category: Option<String>,
    /// A subject.
    pub subject: Option<String>,
    /// Files it is about.
    pub files: Vec<String>,
    /// How sure the writer is.
    pub confidence: Option<f64>,
    /// A time.
    pub at: Option<String>,
    /// A source.
    pub source: Option<String>,
    /// Whether code is cited with it.
    pub cites: bool,
}

/// The text of a file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Taken {
    /// What the file is called, for messages.
    pub name: String,
    /// What it holds.
    pub text: String,
}

impl New {
    /// The request these words make.
    pub fn said(call: &Call, words: Words) -> Result<New> {
        match Kind::built_in(&words.kind) {
            Some(Kind::Lesson) => lesson(words).map(New::Lesson),
            Some(Kind::Note) => note(call, words).map(New::Note),
            Some(Kind::Canon) => {
                vault(words, &["--tag", "--scope", "--category", "--source"]).map(New::Canon)
            }
            Some(Kind::Register) => {
                vault(words, &["--tag", "--scope", "--category", "--topic", "--source"]).map(New::Register)
            }
            Some(Kind::Fact) => fact(words).map(New::Fact),
            Some(Kind::Episode) => episode(words).map(New::Episode),
            _ => record(call, words).map(New::Record),
        }
    }
}

/// Refuses what this kind has no use for.
fn only(words: &Words, allowed: &[&str]) -> Result<()> {
    let given = [
        ("--title", words.title.is_some()),
        ("--field", !words.fields.is_empty()),
        ("--tag", !words.tags.is_empty()),
        ("--topic", words.topic.is_some()),
        ("--scope", words.scope.is_some()),
        ("--category", words.category.is_some()),
        ("--subject", words.subject.is_some()),
        ("--file", !words.files.is_empty()),
        ("--confidence", words.confidence.is_some()),
        ("--at", words.at.is_some()),
        ("--source", words.source.is_some()),
        ("--anchor", words.cites),
    ];
    // Whatever belongs to the project can cite its code.
    let of_a_person = matches!(Kind::built_in(&words.kind), Some(Kind::Fact | Kind::Episode));
    let allowed: Vec<&str> = allowed.iter().copied().chain((!of_a_person).then_some("--anchor")).collect();
    match given.iter().find(|(name, is_given)| *is_given && !allowed.contains(name)) {
        None => Ok(()),
        Some((name, _)) => Err(Fault::new(Code::Usage, format!("a {} has no {name}", words.kind))
            .hint(format!("it takes {}", allowed.join(", ")))),
    }
}

/// The words themselves, or those of the file.
fn text(words: &mut Words) -> Result<String> {
    match (&words.taken, words.text.is_empty()) {
        (Some(_), false) => Err(Fault::new(Code::Usage, "both a text and a file were given")
            .hint("give the text or --from, not both")),
        (Some(taken), true) => Ok(taken.text.clone()),
        (None, _) => Ok(std::mem::take(&mut words.text)),
    }
}

/// The object of fields that a file holds, if it holds one.
fn object(words: &Words) -> Option<Value> {
    let text = &words.taken.as_ref()?.text;
    let looks = text.trim_start().starts_with('{');
    looks
        .then(|| heirloom_core::json::parse(text.as_bytes()).ok())
        .flatten()
        .filter(|value| value.is_object())
}

/// Whether a file holds a list of objects.
fn is_list(words: &Words) -> bool {
    let text = words.taken.as_ref().map(|taken| taken.text.trim()).filter(|text| text.starts_with('['));
    let read = text.and_then(|text| heirloom_core::json::parse(text.as_bytes()).ok());
    read.and_then(|value| Some(value.as_array()?.iter().any(Value::is_object))).unwrap_or_default()
}

fn record(call: &Call, words: Words) -> Result<NewRecord> {
    let category = category(call, &words.kind)?.name().to_owned();
    only(&words, &["--title", "--field", "--tag", "--file", "--confidence"])?;
    if let Some(taken) = &words.taken {
        let mut document = Document::parse(taken.text.as_bytes()).map_err(|why| {
            Fault::new(Code::Input, format!("`{}` does not contain a record: {why}", taken.name))
                .fact("path", taken.name.as_str())
                .hint("give one JSON object with title, tags and content")
        })?;
        document.fill_name();
        return Ok(NewRecord { category, document: Some(document.to_value()), ..NewRecord::default() });
    }
    Ok(NewRecord {
        category,
        text: words.text,
        title: words.title,
        fields: words.fields,
        tags: words.tags,
        files: words.files,
        confidence: words.confidence,
        document: None,
    })
}

fn lesson(mut words: Words) -> Result<NewLesson> {
    only(&words, &["--title", "--field", "--topic", "--at"])?;
    let text = text(&mut words)?;
    let fields = object(&words);
    let mut new =
        NewLesson { text, title: words.title, fields: words.fields, topic: words.topic, at: words.at };
    if let Some(fields) = fields {
        new.text = String::new();
        new.fill(&fields);
    }
    Ok(new)
}

/// A native file and an object of fields are taken as what they are, anything else is the message itself.
fn note(call: &Call, mut words: Words) -> Result<NewNote> {
    only(&words, &["--title", "--tag", "--scope", "--at"])?;
    let text = text(&mut words)?;
    let native = words.taken.as_ref().and_then(|taken| read_file(&taken.text).ok());
    let fields = match native {
        Some(note) => Some(NoteDraft::of_note(note).to_fields()),
        None => object(&words),
    };
    if let Some(fields) = &fields {
        NoteDraft::from_fields(fields, call.project().world().now)?;
    }
    let text = if fields.is_some() { String::new() } else { text };
    Ok(NewNote { text, title: words.title, tags: words.tags, scope: words.scope, at: words.at, fields })
}

fn vault(mut words: Words, allowed: &[&str]) -> Result<NewVault> {
    only(&words, allowed)?;
    let text = text(&mut words)?;
    let mut new = NewVault { text: text.trim().to_owned(), ..NewVault::default() };
    match object(&words) {
        Some(Value::Object(fields)) => new = NewVault::from_fields(&fields, &words.kind)?,
        _ if is_list(&words) => {
            return Err(Fault::new(Code::Input, "the input is a list; one memory is added at a time")
                .hint("`heirloom vault bulk-add -` takes a list"));
        }
        _ => {}
    }
    new.scope = words.scope.or(new.scope);
    new.topic = words.topic.or(new.topic);
    new.category = words.category.or(new.category);
    new.source = words.source.or(new.source);
    new.tags = Some(words.tags).filter(|tags| !tags.is_empty()).or(new.tags);
    Ok(new)
}

fn fact(mut words: Words) -> Result<NewFact> {
    only(&words, &["--tag", "--confidence", "--subject", "--source"])?;
    let text = text(&mut words)?;
    let (subject, source) = (words.subject, words.source);
    Ok(NewFact { text, subject, tags: words.tags, confidence: words.confidence, source })
}

fn episode(mut words: Words) -> Result<NewTurn> {
    only(&words, &["--tag", "--field", "--at", "--source"])?;
    let text = text(&mut words)?;
    let mut turn =
        NewTurn { text, tags: words.tags, at: words.at, source: words.source, ..NewTurn::default() };
    for (name, value) in words.fields {
        let wrong = |hint: &str| {
            Fault::new(Code::Usage, format!("`{value}` cannot be the {name} of an episode"))
                .hint(hint.to_owned())
        };
        match name.as_str() {
            "role" => {
                turn.role = Some(Role::named(&value).ok_or_else(|| wrong("use user, assistant or tool"))?);
            }
            "session" => turn.session = Some(value),
            "message" => turn.message = Some(value),
            "tool" => turn.tool = Some(value),
            "days" => turn.days = Some(value.parse().map_err(|_| wrong("use 1 to 365"))?),
            "hours" => turn.hours = Some(value.parse().map_err(|_| wrong("use 1 to 8760"))?),
            "position" => turn.position = value.parse().map_err(|_| wrong("use a whole number"))?,
            "external" => turn.external = value.parse().map_err(|_| wrong("use true or false"))?,
            _ => {
                return Err(Fault::new(Code::Usage, format!("an episode has no field `{name}`"))
                    .hint("use role, session, message, tool, days, hours, position or external"));
            }
        }
    }
    Ok(turn)
}

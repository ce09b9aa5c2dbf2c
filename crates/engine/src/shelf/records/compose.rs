//! From few words to a whole record.
//!
//! Comes in: a category, a sentence, and whatever fields were given. Goes out: a document, with what was assumed in it. The sentence goes
//! where the table of kinds says, once; what follows "because" is the reason. What a record is of no use without is named ([`missing`]), so
//! that it can be asked for. Never here: storing; text that nobody said.

use super::document::Document;
use super::schema::{REQUIRED, TITLE_MAX};
use heirloom_core::kind::{Shape, Words};
use heirloom_core::settings::{Category, FieldView};
use heirloom_core::{Code, Fault, fault::Result, text};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Tags made from a title when none are given.
const OWN_TAGS: usize = 3;

/// What a person or an agent typed.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// The sentence.
    pub sentence: String,
    /// The reason, where it is known apart from the sentence; the sentence then stays whole. Empty if there is none.
    pub reason: Option<String>,
    /// The title, if it was given.
    pub title: Option<String>,
    /// Content fields, name and value; a name may repeat for lists.
    pub fields: Vec<(String, String)>,
    /// Tags.
    pub tags: Vec<String>,
    /// Files it is about.
    pub files: Vec<String>,
    /// How sure the writer is.
    pub confidence: Option<f64>,
}

/// A document made from what was given.
#[derive(Debug, Clone)]
pub struct Composed {
    /// The document.
    pub document: Document,
    /// What nobody said, `name: value`: a choice's first word, and what stands empty.
    pub assumed: Vec<String>,
}

/// A field that a record of this kind is of no use without, and that nobody filled.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Missing {
    /// The name on paper.
    pub name: String,
    /// What to write there.
    pub help: String,
    /// Whether it holds several texts.
    pub list: bool,
    /// The words it may be, if it may be only some.
    pub choices: Vec<String>,
}

/// The fields that have to be said before these words make a record.
pub fn missing(category: &Category, given: &Given) -> Result<Vec<Missing>> {
    Ok(content(category, given)?.missing)
}

/// A document made from what was given. `now` is the date of its first change entry.
pub fn compose(category: &Category, given: &Given, now: &str) -> Result<Composed> {
    let title = title(given);
    if text::clean_title(&title).is_empty() {
        return Err(Fault::new(Code::Validation, "there is nothing to remember")
            .fact("field", "title")
            .fact("expected", "a sentence, or --title")
            .fact("got", "nothing")
            .fact("fix", "say what to remember")
            .hint(format!("heirloom add {} \"what to remember because of this\"", category.name())));
    }
    let Filled { content, mut assumed, missing } = content(category, given)?;
    if !missing.is_empty() {
        return Err(unsaid(category, &missing));
    }
    let mut document = Map::new();
    document.insert("schema_version".into(), json!("1.0"));
    document.insert("category".into(), json!(category.name()));
    document.insert("id".into(), json!(name_for(&title)));
    document.insert("title".into(), json!(title));
    document.insert("record_status".into(), json!("active"));
    document.insert("created_at".into(), json!(now));
    document.insert("updated_at".into(), json!(now));
    let tags = if given.tags.is_empty() { own_tags(&title) } else { given.tags.clone() };
    if given.tags.is_empty() && !tags.is_empty() {
        assumed.push(format!("tags: {}", tags.join(" ")));
    }
    document.insert("tags".into(), json!(tags));
    if !given.files.is_empty() {
        document.insert("related_files".into(), json!(given.files));
    }
    if let Some(confidence) = given.confidence {
        document.insert("confidence".into(), json!(confidence));
    }
    document.insert("content".into(), Value::Object(content));
    document.insert("times_updated".into(), json!(0));
    document.insert("changes".into(), json!([]));
    Ok(Composed { document: Document(document), assumed })
}

fn title(given: &Given) -> String {
    let what =
        if given.reason.is_some() { given.sentence.trim().to_owned() } else { split(&given.sentence).0 };
    given.title.clone().unwrap_or_else(|| first_line(&what))
}

/// Content fields as far as they can be filled.
struct Filled {
    content: Map<String, Value>,
    assumed: Vec<String>,
    missing: Vec<Missing>,
}

/// The content, what was assumed in it, and what it still lacks.
fn content(category: &Category, given: &Given) -> Result<Filled> {
    let mut said = fields(category, &given.fields)?;
    let known = category.fields();
    let (mut what, mut why) = parts(&known, &said, given);
    if what.is_empty() {
        what = title(given);
    }
    let mut content = Map::new();
    let (mut assumed, mut missing) = (Vec::new(), Vec::new());
    let mut placed = false;
    for field in &known {
        let name = field.name.to_owned();
        if let Some(mut value) = said.remove(field.name) {
            // A reason in the sentence and reasons given by name are all reasons.
            if field.from == Words::Why
                && let (Some(items), Some(reason)) = (value.as_array_mut(), why.take())
            {
                items.insert(0, json!(reason));
            }
            content.insert(name, value);
            continue;
        }
        let words = match field.from {
            Words::What => {
                placed = true;
                Some(what.clone())
            }
            Words::Why => why.take(),
            Words::Later | Words::Own => None,
        };
        let value = match (field.shape, words) {
            (Shape::Text, Some(words)) => json!(words),
            (Shape::List { .. }, Some(words)) => json!([words]),
            _ if !field.required => continue,
            (Shape::List { min: 0 }, None) => json!([]),
            _ if field.from == Words::Own => {
                missing.push(Missing::of(field));
                continue;
            }
            (Shape::Choice(choices), _) => {
                assumed.push(format!("{name}: {}", choices.first().copied().unwrap_or_default()));
                json!(choices.first())
            }
            (Shape::Flag, _) => {
                assumed.push(format!("{name}: true"));
                json!(true)
            }
            // The schema wants the field; what nobody said stays unsaid.
            (Shape::Text, None) => {
                assumed.push(format!("{name}: left empty"));
                json!("")
            }
            (Shape::List { .. }, None) => {
                assumed.push(format!("{name}: left empty"));
                json!([""])
            }
            (Shape::Alternatives | Shape::Examples, _) => continue,
        };
        content.insert(name, value);
    }
    keep_the_sentence(category, given, &what, placed, &mut content)?;
    Ok(Filled { content, assumed, missing })
}

/// What and why of the sentence. It stays whole where the reason has no place of its own, or the place is taken.
fn parts(known: &[FieldView<'_>], said: &Map<String, Value>, given: &Given) -> (String, Option<String>) {
    if let Some(reason) = &given.reason {
        return (given.sentence.trim().to_owned(), Some(reason.clone()).filter(|reason| !reason.is_empty()));
    }
    let place = known.iter().find(|field| field.from == Words::Why);
    let free = place.is_some_and(|field| !said.contains_key(field.name) || field.shape != Shape::Text);
    if free { split(&given.sentence) } else { (given.sentence.trim().to_owned(), None) }
}

/// A sentence beside a title and the field it would fill goes where there is room, or is refused: nothing that was typed is lost.
fn keep_the_sentence(
    category: &Category,
    given: &Given,
    what: &str,
    placed: bool,
    content: &mut Map<String, Value>,
) -> Result<()> {
    if placed || given.sentence.trim().is_empty() || title(given) == what {
        return Ok(());
    }
    let known = category.fields();
    let room = |field: &&FieldView<'_>| {
        field.shape == Shape::Text
            && field.from == Words::Later
            && content.get(field.name).is_none_or(|value| value.as_str() == Some(""))
    };
    let Some(field) = known.iter().find(|field| field.required && room(field)) else {
        let name = known.iter().find(|field| field.from == Words::What).map_or("summary", |field| field.name);
        return Err(Fault::new(Code::Usage, "the sentence has no place beside the fields that were given")
            .fact("field", format!("content.{name}"))
            .hint(format!("leave the sentence out, or --field {name}")));
    };
    content.insert(field.name.to_owned(), json!(what));
    Ok(())
}

impl Missing {
    fn of(field: &FieldView<'_>) -> Missing {
        let choices = match field.shape {
            Shape::Choice(words) => words.iter().map(|word| (*word).to_owned()).collect(),
            _ => Vec::new(),
        };
        Missing {
            name: field.name.to_owned(),
            help: field.help.to_owned(),
            list: matches!(field.shape, Shape::List { .. }),
            choices,
        }
    }

    /// The flag that would fill it.
    fn flag(&self) -> String {
        match (self.choices.is_empty(), self.help.as_str()) {
            (false, _) => format!("--field {}={}", self.name, self.choices.join("|")),
            (true, "") => format!("--field {}=\"…\"", self.name),
            (true, help) => format!("--field {}=\"{help}\"", self.name),
        }
    }
}

fn unsaid(category: &Category, missing: &[Missing]) -> Fault {
    let names: Vec<String> = missing.iter().map(|field| format!("`{}`", field.name)).collect();
    let names = match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    };
    let paths: Vec<String> = missing.iter().map(|field| format!("content.{}", field.name)).collect();
    let flags: Vec<String> = missing.iter().map(Missing::flag).collect();
    Fault::new(
        Code::Validation,
        format!("a {} needs {names}, which the sentence does not say", category.name()),
    )
    .fact("field", paths.join(", "))
    .fact("expected", REQUIRED)
    .fact("got", "nothing")
    .fact("fix", format!("add {}", flags.join(" ")))
    .hint(format!("say it with {}", flags.join(" ")))
}

/// Sets content fields of an existing document, as `edit` does.
pub fn apply(document: &mut Document, category: &Category, given: &[(String, String)]) -> Result<()> {
    let new = fields(category, given)?;
    let mut content = document.content().cloned().unwrap_or_default();
    content.extend(new);
    document.set("content", Value::Object(content));
    Ok(())
}

/// A file name for a title; titles in other scripts get one from their hash.
pub fn name_for(title: &str) -> String {
    let slug = text::slug(title);
    if slug.is_empty() { format!("m-{}", &heirloom_core::hash::sha256(title.as_bytes())[..12]) } else { slug }
}

/// "this because that" in two; only the first "because" splits.
fn split(sentence: &str) -> (String, Option<String>) {
    let lower = sentence.to_lowercase();
    // Lower-casing may change lengths in other scripts; then the sentence stays whole rather than being cut at the wrong place.
    let at =
        lower.find(" because ").filter(|at| lower.len() == sentence.len() && sentence.is_char_boundary(*at));
    match at {
        None => (sentence.trim().to_owned(), None),
        Some(at) => {
            let why = sentence[at + " because ".len()..].trim();
            (sentence[..at].trim().to_owned(), (!why.is_empty()).then(|| why.to_owned()))
        }
    }
}

fn first_line(text: &str) -> String {
    let line = text::one_line(text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default());
    if line.chars().count() <= TITLE_MAX {
        return line;
    }
    let cut: String = line.chars().take(TITLE_MAX - 1).collect();
    let whole_words = cut.rsplit_once(' ').map_or(cut.as_str(), |(head, _)| head);
    format!("{whole_words}…")
}

fn own_tags(title: &str) -> Vec<String> {
    let lower = title.to_lowercase();
    let known = text::tokens(title);
    let mut tags: Vec<String> = Vec::new();
    for word in lower.split(|c: char| !c.is_ascii_alphanumeric()) {
        if word.len() > 3 && known.contains(word) && !tags.iter().any(|tag| tag == word) {
            tags.push(word.to_owned());
        }
    }
    tags.truncate(OWN_TAGS);
    tags
}

/// Typed values for fields given as text.
fn fields(category: &Category, given: &[(String, String)]) -> Result<Map<String, Value>> {
    let known = category.fields();
    let mut content = Map::new();
    for (name, value) in given {
        let Some(field) = known.iter().find(|field| field.name == name) else {
            let names: Vec<&str> = known.iter().map(|field| field.name).collect();
            return Err(Fault::new(Code::Validation, format!("a {} has no field `{name}`", category.name()))
                .fact("field", format!("content.{name}"))
                .fact("expected", format!("one of {}", names.join(", ")))
                .fact("got", name.as_str())
                .fact("fix", "use one of these names")
                .hint(format!("fields of a {}: {}", category.name(), names.join(", "))));
        };
        match field.shape {
            Shape::List { .. } => {
                let list = content.entry(name.clone()).or_insert_with(|| json!([]));
                if let Some(items) = list.as_array_mut() {
                    items.push(json!(value));
                }
            }
            Shape::Flag => {
                content.insert(name.clone(), serde_json::from_str(value).unwrap_or_else(|_| json!(value)));
            }
            Shape::Alternatives => {
                let Some((option, reason)) = value.split_once(": ") else {
                    return Err(Fault::new(Code::Validation, "an alternative needs the reason against it")
                        .fact("field", format!("content.{name}"))
                        .fact("expected", "OPTION: REASON")
                        .fact("got", value.as_str())
                        .fact("fix", "say why it was not chosen")
                        .hint(format!("--field {name}=\"the option: why not\"")));
                };
                let list = content.entry(name.clone()).or_insert_with(|| json!([]));
                if let Some(items) = list.as_array_mut() {
                    items.push(json!({ "option": option, "rejected_reason": reason }));
                }
            }
            Shape::Examples => {
                let sided = value.split_once(": ").filter(|(side, _)| matches!(*side, "prefer" | "avoid"));
                let (side, text) = sided.unwrap_or(("prefer", value));
                let object = content.entry(name.clone()).or_insert_with(|| json!({}));
                let list =
                    object.as_object_mut().map(|o| o.entry(side.to_owned()).or_insert_with(|| json!([])));
                if let Some(items) = list.and_then(Value::as_array_mut) {
                    items.push(json!(text));
                }
            }
            Shape::Text | Shape::Choice(_) => {
                content.insert(name.clone(), json!(value));
            }
        }
    }
    Ok(content)
}

//! From few words to a whole record.
//!
//! Comes in: a category, a sentence, and whatever fields were given. Goes out: a document with every required field filled. The sentence goes
//! where the table of kinds says; what follows "because" is the reason. Never here: storing.

use super::document::Document;
use super::schema::TITLE_MAX;
use heirloom_core::kind::{Shape, Words};
use heirloom_core::settings::Category;
use heirloom_core::{Code, Fault, fault::Result, text};
use serde_json::{Map, Value, json};

/// Tags made from a title when none are given.
const OWN_TAGS: usize = 3;

/// What a person or an agent typed.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// The sentence.
    pub sentence: String,
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

/// A document made from what was given. `now` is the date of its first change entry.
pub fn compose(category: &Category, given: &Given, now: &str) -> Result<Document> {
    let (what, why) = split(&given.sentence);
    let title = given.title.clone().unwrap_or_else(|| first_line(&what));
    if text::clean_title(&title).is_empty() {
        return Err(Fault::new(Code::Validation, "there is nothing to remember")
            .fact("field", "title")
            .fact("expected", "a sentence, or --title")
            .fact("got", "nothing")
            .fact("fix", "say what to remember")
            .hint(format!("heirloom add {} \"what to remember because of this\"", category.name())));
    }
    let mut content = fields(category, &given.fields)?;
    for field in category.fields() {
        if content.contains_key(field.name) {
            continue;
        }
        let words = match field.from {
            Words::What => what.as_str(),
            Words::Why => why.as_deref().unwrap_or(if field.required { &given.sentence } else { "" }),
            Words::Whole => &given.sentence,
        };
        let words = if words.is_empty() && field.required { title.as_str() } else { words };
        let value = match field.shape {
            _ if !field.required && (field.from == Words::Whole || words.is_empty()) => continue,
            Shape::Choice(choices) => json!(choices.first()),
            Shape::Flag => json!(true),
            Shape::List { min: 0 } => json!([]),
            Shape::List { .. } => json!([words]),
            Shape::Text => json!(words),
            Shape::Alternatives | Shape::Examples => continue,
        };
        content.insert(field.name.to_owned(), value);
    }
    let mut document = Map::new();
    document.insert("schema_version".into(), json!("1.0"));
    document.insert("category".into(), json!(category.name()));
    document.insert("id".into(), json!(name_for(&title)));
    document.insert("title".into(), json!(title));
    document.insert("record_status".into(), json!("active"));
    document.insert("created_at".into(), json!(now));
    document.insert("updated_at".into(), json!(now));
    document.insert(
        "tags".into(),
        json!(if given.tags.is_empty() { own_tags(&title) } else { given.tags.clone() }),
    );
    if !given.files.is_empty() {
        document.insert("related_files".into(), json!(given.files));
    }
    if let Some(confidence) = given.confidence {
        document.insert("confidence".into(), json!(confidence));
    }
    document.insert("content".into(), Value::Object(content));
    document.insert("times_updated".into(), json!(0));
    document.insert("changes".into(), json!([]));
    Ok(Document(document))
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
                let (option, reason) = value.split_once(": ").unwrap_or((value, "not chosen"));
                let list = content.entry(name.clone()).or_insert_with(|| json!([]));
                if let Some(items) = list.as_array_mut() {
                    items.push(json!({ "option": option, "rejected_reason": reason }));
                }
            }
            Shape::Examples => {
                let (side, text) = value.split_once(": ").unwrap_or(("prefer", value));
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

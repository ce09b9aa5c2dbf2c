//! Converting: a memory of one kind becomes one of another, where that makes sense.
//!
//! Comes in: an id, a kind, and perhaps the words of whoever distilled it. Goes out: a new memory that passed its own shelf's gate, with
//! a line that says what it came from. A register becomes canon in place, as its format has it. Never here: more trust than the
//! source has, unless a person gave the words or saw them; a note made from anything (notes are what was said).

use crate::call::Call;
use crate::gate::Entry;
use crate::shelf::records::{Given, Missing, Said, compose as compose_record, missing, name_for};
use crate::shelf::topics::{LessonWords, compose as compose_lesson, file_of};
use crate::shelf::vault::{Addition, CANON, Promotion, REGISTER, Write};
use crate::shelf::{Done, links, unknown};
use heirloom_core::kind::Words;
use heirloom_core::settings::{Category, SHARED};
use heirloom_core::{
    Channel, Code, Fault, Kind, Memory, MemoryId, ShelfName, Source, Trust, fault::Result, text, time,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Conversion {
    /// The new text in the caller's own words; without it the source's text is taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// The new title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// `git/rebase` for a lesson, the topic of a register.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// The scope of a vault memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Fields of the new memory, name and value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<(String, String)>,
    /// More tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Whether the source goes out of use.
    pub retire: bool,
}

/// What was made, and what was assumed in it.
#[derive(Debug)]
pub struct Converted {
    /// The new memory.
    pub done: Done,
    /// What nobody said, `name: value`.
    pub assumed: Vec<String>,
}

/// Makes a memory of another kind from one that is there.
pub fn convert(
    call: &Call,
    id: &MemoryId,
    to: &Kind,
    wanted: &Conversion,
    entry: Entry,
) -> Result<Converted> {
    let source = call.shelf_of(id)?.get(id)?.ok_or_else(|| unknown(id.as_str()))?;
    check(call, &source, to)?;
    let arrives = if wanted.words.is_some() { entry } else { carried(entry, &source) };
    let mut assumed = Vec::new();
    let made = match to.shelf() {
        ShelfName::Records => to_record(call, &source, to, wanted, arrives, &mut assumed),
        ShelfName::Topics => to_lesson(call, &source, wanted, arrives),
        _ => to_vault(call, &source, to, wanted, arrives),
    };
    let mut done = match made {
        Ok(done) => done,
        Err(fault) => {
            // What waits keeps its id when it is accepted, so the link can be there before it.
            if let (Code::NeedsConfirmation, Some(new)) = (fault.code, fault.get("id")) {
                links::distilled(call, &call.lock()?, new, "", &source.id)?;
            }
            return Err(fault);
        }
    };
    let hash = call.shelf_of(&done.id)?.get(&done.id)?.map(|memory| memory.content_hash);
    links::distilled(call, &call.lock()?, done.id.as_str(), &hash.unwrap_or_default(), &source.id)?;
    if wanted.retire && source.id.name() != done.id.name() {
        let reason = format!("became {}", done.id);
        let retired = call.shelf_of(&source.id)?.retire(&source.id, &reason, entry)?;
        done.notes.push(format!("{} is {}", retired.id, retired.status.replace('_', " ")));
    }
    Ok(Converted { done, assumed })
}

/// The fields that the new memory would be of no use without and that nothing fills.
pub fn lacks(call: &Call, source: &Memory, to: &Kind, wanted: &Conversion) -> Result<Vec<Missing>> {
    match call.settings().category(to.name()) {
        Some(category) => missing(category, &given(call, source, wanted)),
        None => Ok(Vec::new()),
    }
}

/// Whether one can become the other with what is wanted.
pub(crate) fn ready(call: &Call, source: &Memory, to: &Kind, wanted: &Conversion) -> Result<()> {
    check(call, source, to)?;
    match call.settings().category(to.name()) {
        Some(category) => {
            let now = time::format(call.project().world().now);
            compose_record(category, &given(call, source, wanted), &now).map(drop)
        }
        None => Ok(()),
    }
}

/// Whether one can become the other.
fn check(call: &Call, source: &Memory, to: &Kind) -> Result<()> {
    let no = |message: String, hint: &str| {
        Err(Fault::new(Code::Usage, message).fact("id", source.id.as_str()).hint(hint))
    };
    let custom = matches!(to, Kind::Custom(_)) && call.settings().category(to.name()).is_none();
    if custom {
        return no(format!("there is no kind `{to}`"), "`heirloom config list` shows the record categories");
    }
    match to {
        _ if source.kind == *to => no(format!("`{}` is a {to} already", source.id), "choose another kind"),
        Kind::Note => no(
            "nothing becomes a note: a note is an assistant's message, word for word".to_owned(),
            "convert to a lesson or a record, or `heirloom add note` the message itself",
        ),
        Kind::Register if source.kind == Kind::Canon => no(
            "a canon does not become a register again".to_owned(),
            "retire it and add a register: `heirloom add register --topic …`",
        ),
        Kind::Working | Kind::Episode | Kind::Fact => no(
            format!("a {} cannot become a {to}", source.kind),
            "convert to a record, lesson, canon or register",
        ),
        _ => Ok(()),
    }
}

/// How a text that somebody else wrote arrives: never believed further than it was.
fn carried(entry: Entry, source: &Memory) -> Entry {
    if entry.confirmed || entry.trust() <= source.trust {
        return entry;
    }
    Entry::through(match source.source {
        Source::ToolOutput if source.trust == Trust::Low => Channel::Web,
        Source::ToolOutput => Channel::ToolRead,
        Source::UserMessage => Channel::OtherMessage,
        Source::Repository => Channel::Repository,
        Source::AiInference | Source::ExplicitSave => Channel::Agent,
    })
}

/// What the source says and why, each where it stands in the source, so that each text is put into one field and once.
fn said_by(call: &Call, source: &Memory) -> (String, String) {
    if source.kind == Kind::Lesson
        && let Some(lesson) = call.topics().lesson(&source.id)
    {
        return match (lesson.solution.is_empty(), lesson.problem.is_empty()) {
            (false, _) => (lesson.solution, lesson.problem),
            (true, false) => (lesson.problem, String::new()),
            (true, true) => (source.body.clone(), String::new()),
        };
    }
    let fields = call.settings().category(source.kind.name()).map(Category::fields).unwrap_or_default();
    let of = |part: Words| {
        let field = fields.iter().find(|field| field.from == part)?;
        let text = match source.fields.get(field.name)? {
            Value::Array(items) => items
                .iter()
                .filter_map(Value::as_str)
                .filter(|text| !text.is_empty())
                .collect::<Vec<_>>()
                .join("; "),
            other => other.as_str().unwrap_or_default().to_owned(),
        };
        Some(text).filter(|text| !text.is_empty())
    };
    match of(Words::What) {
        Some(what) => (what, of(Words::Why).unwrap_or_default()),
        None => (source.body.clone(), String::new()),
    }
}

/// What a record is made of: the caller's own words, or what the source says.
fn given(call: &Call, source: &Memory, wanted: &Conversion) -> Given {
    let (sentence, reason, title) = match &wanted.words {
        Some(words) => (words.clone(), None, None),
        None => {
            let (what, why) = said_by(call, source);
            (what, Some(why), Some(source.title.clone()))
        }
    };
    Given {
        sentence,
        reason,
        title: wanted.title.clone().or(title),
        fields: wanted.fields.clone(),
        tags: tags(source, &wanted.tags),
        files: source.applies_to.clone(),
        confidence: None,
    }
}

fn tags(source: &Memory, more: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for tag in more.iter().chain(&source.tags) {
        if !all.contains(tag) {
            all.push(tag.clone());
        }
    }
    all
}

fn to_record(
    call: &Call,
    source: &Memory,
    to: &Kind,
    wanted: &Conversion,
    entry: Entry,
    assumed: &mut Vec<String>,
) -> Result<Done> {
    let category = call.settings().category(to.name()).ok_or_else(|| unknown(to.name()))?;
    let now = time::format(call.project().world().now);
    let made = compose_record(category, &given(call, source, wanted), &now)?;
    let document = made.document;
    assumed.extend(made.assumed);
    let records = call.records();
    let name = name_for(document.text("title").unwrap_or_default());
    let place = call.project().shown(&records.folder(category).join(format!("{name}.json")));
    let target = records.target(&place, call.project().folder())?;
    let mut said = Said::default();
    records.create(&target, category, document, entry, &mut said)?;
    Ok(Done { status: "created", id: MemoryId::new(to, &name), path: Some(place), notes: said.warnings })
}

fn to_lesson(call: &Call, source: &Memory, wanted: &Conversion, entry: Entry) -> Result<Done> {
    let (topic, subtopic) = file_of(wanted.topic.as_deref())?;
    let words = LessonWords {
        sentence: wanted.words.clone().unwrap_or_default(),
        title: wanted.title.clone().or_else(|| wanted.words.is_none().then(|| source.title.clone())),
        fields: wanted.fields.clone(),
    };
    let date = jiff::tz::Offset::UTC.to_datetime(call.project().world().now).date();
    let mut lesson = compose_lesson(date, &words)?;
    if wanted.words.is_none() && lesson.problem.is_empty() && lesson.solution.is_empty() {
        lesson.solution = source.body.clone();
    }
    call.topics().store(&topic, &subtopic, lesson, entry)
}

/// One line of title and text; a title that the text begins with or repeats is said once.
fn titled(title: &str, line: &str) -> String {
    if line.to_lowercase().contains(&title.trim_end_matches('…').to_lowercase()) {
        line.to_owned()
    } else {
        format!("{title}: {line}")
    }
}

fn to_vault(call: &Call, source: &Memory, to: &Kind, wanted: &Conversion, entry: Entry) -> Result<Done> {
    let tags = (!wanted.tags.is_empty()).then(|| tags(source, &wanted.tags));
    let vault = call.vault();
    let write = if source.kind == Kind::Register {
        Write::Promote(Promotion {
            id: source.id.name().to_owned(),
            text: wanted.words.clone(),
            tags,
            based_on: Some(source.version.clone()),
        })
    } else {
        let topic = wanted.topic.clone().unwrap_or_else(|| text::slug(&source.title));
        let plain = match source.kind.shelf() {
            ShelfName::Vault => source.body.clone(),
            _ => titled(&source.title, &text::one_line(&source.body)),
        };
        Write::Add(Addition {
            scope: wanted.scope.clone().unwrap_or_else(|| SHARED.to_owned()),
            tier: if *to == Kind::Canon { CANON } else { REGISTER }.to_owned(),
            topic_id: (*to == Kind::Register && !topic.is_empty()).then_some(topic),
            tags: Some(tags.unwrap_or_else(|| source.tags.clone())),
            ..Addition::new(wanted.words.clone().unwrap_or(plain))
        })
    };
    let stored = vault.write(write, entry)?;
    let path = Some(call.project().shown(&vault.path()));
    Ok(Done { status: stored.status, id: stored.id, path, notes: Vec::new() })
}

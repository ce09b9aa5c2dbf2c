//! Converting: a memory of one kind becomes one of another, where that makes sense.
//!
//! Comes in: an id, a kind, and perhaps the words of whoever distilled it. Goes out: a new memory that passed its own shelf's gate, with
//! a line that says what it came from. A register becomes canon in place, as its format has it. Never here: more trust than the
//! source has, unless a person gave the words or saw them; a note made from anything (notes are what was said).

use crate::call::Call;
use crate::gate::Entry;
use crate::shelf::records::{Given, Said, compose as compose_record, name_for};
use crate::shelf::topics::{LessonWords, compose as compose_lesson, file_of};
use crate::shelf::vault::{Addition, CANON, Promotion, REGISTER, Write};
use crate::shelf::{Done, links, unknown};
use heirloom_core::settings::SHARED;
use heirloom_core::{
    Channel, Code, Fault, Kind, Memory, MemoryId, ShelfName, Source, Trust, fault::Result, text, time,
};
use serde::{Deserialize, Serialize};

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

/// Makes a memory of another kind from one that is there.
pub fn convert(call: &Call, id: &MemoryId, to: &Kind, wanted: &Conversion, entry: Entry) -> Result<Done> {
    let source = call.shelf_of(id)?.get(id)?.ok_or_else(|| unknown(id.as_str()))?;
    check(call, &source, to)?;
    let arrives = if wanted.words.is_some() { entry } else { carried(entry, &source) };
    let made = match to.shelf() {
        ShelfName::Records => to_record(call, &source, to, wanted, arrives),
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
    Ok(done)
}

/// Whether one can become the other.
pub(crate) fn check(call: &Call, source: &Memory, to: &Kind) -> Result<()> {
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

/// What the source says, as "this because that" where it knows both.
fn sentence(call: &Call, source: &Memory) -> String {
    let Some(lesson) = (source.kind == Kind::Lesson).then(|| call.topics().lesson(&source.id)).flatten()
    else {
        return source.body.clone();
    };
    match (lesson.solution.is_empty(), lesson.problem.is_empty()) {
        (false, false) => format!("{} because {}", lesson.solution, lesson.problem),
        (false, true) => lesson.solution,
        (true, _) => lesson.problem,
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

fn to_record(call: &Call, source: &Memory, to: &Kind, wanted: &Conversion, entry: Entry) -> Result<Done> {
    let category = call.settings().category(to.name()).ok_or_else(|| unknown(to.name()))?;
    let title = match (&wanted.title, &wanted.words) {
        (Some(title), _) => Some(title.clone()),
        (None, Some(_)) => None,
        (None, None) => Some(source.title.clone()),
    };
    let given = Given {
        sentence: wanted.words.clone().unwrap_or_else(|| sentence(call, source)),
        title,
        fields: wanted.fields.clone(),
        tags: tags(source, &wanted.tags),
        files: source.applies_to.clone(),
        confidence: None,
    };
    let now = time::format(call.project().world().now);
    let document = compose_record(category, &given, &now)?;
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
            _ => format!("{}: {}", source.title, text::one_line(&source.body)),
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

//! Adding a lesson: what went wrong and what helped.
//!
//! Comes in: [`NewLesson`]. Goes out: the lesson at the top of its topic file. Never here: the names of topics, which are the shelf's.

use super::super::Added;
use crate::call::Call;
use crate::gate::Entry;
use crate::shelf::topics::{Lesson, LessonWords, compose, file_of};
use heirloom_core::{Code, Fault, Kind, MemoryId, fault::Result, text};
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A lesson to save.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewLesson {
    /// What went wrong and what helped, in a sentence.
    #[serde(default)]
    pub text: String,
    /// Its title; made from the sentence if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// `context`, `problem`, `solution`, `code`; a name may repeat.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<(String, String)>,
    /// Where it belongs, for example `git/rebase`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// The day it is of; today if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

impl NewLesson {
    /// Takes over the fields of an object, where nothing else was said.
    pub(super) fn fill(&mut self, fields: &Value) {
        let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
        self.title = self.title.take().or_else(|| text("title"));
        for name in ["context", "problem", "solution", "code"] {
            if let Some(value) = text(name) {
                self.fields.insert(0, (name.to_owned(), value));
            }
        }
        self.topic = self.topic.take().or_else(|| match (text("topic"), text("subtopic")) {
            (Some(topic), Some(subtopic)) => Some(format!("{topic}/{subtopic}")),
            (topic, _) => topic,
        });
        self.at = self.at.take().or_else(|| text("date"));
    }
}

struct Made {
    topic: String,
    subtopic: String,
    lesson: Lesson,
    assumed: Vec<String>,
}

fn made(call: &Call, new: &NewLesson) -> Result<Made> {
    let date = match &new.at {
        None => jiff::tz::Offset::UTC.to_datetime(call.project().world().now).date(),
        Some(day) => day.get(..10).and_then(|day| day.parse::<Date>().ok()).ok_or_else(|| {
            Fault::new(Code::Validation, "the day cannot be read")
                .fact("field", "at")
                .hint("write it like 2026-01-15")
        })?,
    };
    let (topic, subtopic) = file_of(new.topic.as_deref())?;
    let words =
        LessonWords { sentence: new.text.clone(), title: new.title.clone(), fields: new.fields.clone() };
    let lesson = compose(date, &words)?.tidied();
    let mut assumed = Vec::new();
    if new.topic.is_none() {
        assumed.push(format!("topic: {topic}/{subtopic}"));
    }
    if new.at.is_none() {
        assumed.push(format!("at: {date}"));
    }
    Ok(Made { topic, subtopic, lesson, assumed })
}

pub(super) fn add(call: &Call, new: &NewLesson, entry: Entry) -> Result<Added> {
    let made = made(call, new)?;
    let done = call.topics().store(&made.topic, &made.subtopic, made.lesson, entry)?;
    Ok(Added { assumed: made.assumed, ..Added::from(done) })
}

pub(super) fn rehearse(call: &Call, new: &NewLesson) -> Result<Added> {
    let Made { topic, subtopic, lesson, assumed } = made(call, new)?;
    let slug = text::slug(&lesson.title);
    let id = MemoryId::new(&Kind::Lesson, &format!("{topic}/{subtopic}#{}-{slug}", lesson.date));
    let path = format!("topics/{topic}/{subtopic}.md");
    Ok(Added { assumed, ..Added::rehearsed(id, Some(path), Some(lesson.write(&slug))) })
}

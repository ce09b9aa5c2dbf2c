//! `add lesson`: what went wrong and what helped.

use super::super::pairs;
use super::super::show::visible;
use super::{object, only, words};
use crate::args::Add;
use crate::output::Out;
use crate::person;
use crate::wiring::Wired;
use heirloom_core::{Code, Fault, fault::Result, text};
use heirloom_engine::shelf::Done;
use heirloom_engine::shelf::topics::{LessonWords, compose, file_of};
use jiff::civil::Date;
use serde_json::Value;

pub(super) fn add(wired: &Wired, call: &Add, out: &Out) -> Result<Option<Done>> {
    only(call, &["--title", "--field", "--topic", "--at"])?;
    let mut given =
        LessonWords { sentence: words(call)?, title: call.title.clone(), fields: pairs(&call.field)? };
    let mut place = call.topic.clone();
    let mut at = call.at.clone();
    if let Some(fields) = object(&given.sentence).filter(|_| call.from.is_some()) {
        let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
        given.sentence = String::new();
        given.title = given.title.or_else(|| text("title"));
        for name in ["context", "problem", "solution", "code"] {
            if let Some(value) = text(name) {
                given.fields.insert(0, (name.to_owned(), value));
            }
        }
        place = place.or_else(|| match (text("topic"), text("subtopic")) {
            (Some(topic), Some(subtopic)) => Some(format!("{topic}/{subtopic}")),
            (topic, _) => topic,
        });
        at = at.or_else(|| text("date"));
    }
    let date = match at {
        None => jiff::tz::Offset::UTC.to_datetime(wired.call.project().world().now).date(),
        Some(day) => day.get(..10).and_then(|day| day.parse::<Date>().ok()).ok_or_else(|| {
            Fault::new(Code::Validation, "that is no day")
                .fact("field", "at")
                .hint("write it like 2026-01-15")
        })?,
    };
    let (topic, subtopic) = file_of(place.as_deref())?;
    let lesson = compose(date, &given)?.tidied();
    if call.dry_run {
        out.line(out.style.dim(&format!("topics/{topic}/{subtopic}.md")));
        out.raw(visible(&lesson.write(&text::slug(&lesson.title))).as_bytes());
        return Ok(None);
    }
    wired.call.topics().store(&topic, &subtopic, lesson, person::entry()).map(Some)
}

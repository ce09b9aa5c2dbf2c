//! `lesson load|topics`: the lesson shelf's own tools.

use super::show::visible;
use crate::args::{Args, Lesson, LessonAction};
use crate::output::{Out, Table};
use crate::wiring;
use heirloom_core::code::exit;
use heirloom_core::text::one_line;
use heirloom_core::{Code, Fault, Memory, Status, fault::Result};
use heirloom_engine::Call;
use heirloom_engine::shelf::{Listing, Shelf as _};
use serde_json::json;
use std::collections::BTreeMap;

pub(crate) fn run(args: &Args, call: &Lesson, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    out.warnings(&wired.loaded.warnings);
    match &call.action {
        LessonAction::Load { topic } => load(&wired.call, topic, out),
        LessonAction::Topics => topics(&wired.call, out),
    }
}

fn load(engine: &Call, place: &str, out: &Out) -> Result<u8> {
    let (topic, subtopic) = match place.split_once('/') {
        Some((topic, subtopic)) => (topic, Some(subtopic)),
        None => (place, None),
    };
    let lessons = engine.topics().load(topic, subtopic)?;
    if lessons.is_empty() {
        return Err(Fault::new(Code::NotFound, format!("there are no lessons under `{place}`"))
            .hint("`heirloom lesson topics` lists the topics"));
    }
    out.answer(&lessons, || {
        for (at, lesson) in lessons.iter().enumerate() {
            if at > 0 {
                out.line("");
            }
            print_lesson(out, lesson);
        }
    });
    Ok(exit::OK)
}

fn print_lesson(out: &Out, lesson: &Memory) {
    let day = lesson.occurred_at.as_deref().and_then(|at| at.get(..10)).unwrap_or_default();
    out.line(format!("{}  {}", out.style.bold(&visible(&one_line(&lesson.title))), out.style.dim(day)));
    out.line(format!(
        "{}  trust {}",
        out.style.cyan(&visible(&one_line(lesson.id.as_str()))),
        lesson.trust.name()
    ));
    out.line(visible(&lesson.body));
}

#[derive(Default)]
struct Tally {
    active: usize,
    archived: usize,
    uses: u64,
    newest: String,
}

fn topics(engine: &Call, out: &Out) -> Result<u8> {
    let shelf = engine.topics();
    let uses = shelf.uses()?;
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for lesson in shelf.list(&Listing::everything())? {
        let place = lesson.id.name().rsplit_once('#').map_or("", |(place, _)| place).to_owned();
        let tally = tallies.entry(place).or_default();
        match lesson.status {
            Status::Active => tally.active += 1,
            _ => tally.archived += 1,
        }
        tally.uses += uses.get(lesson.id.as_str()).map_or(0, |uses| uses.count);
        let day = lesson.occurred_at.unwrap_or_default();
        if day > tally.newest {
            tally.newest = day;
        }
    }
    let rows: Vec<_> = tallies
        .iter()
        .map(|(place, tally)| {
            json!({ "topic": place, "active": tally.active, "archived": tally.archived, "loads": tally.uses,
                "newest": tally.newest.get(..10) })
        })
        .collect();
    out.answer(&rows, || {
        if tallies.is_empty() {
            out.say("no lessons yet; `heirloom add lesson \"…\" --topic git/rebase` saves one");
            return;
        }
        let mut table = Table::new(&["TOPIC", "ACTIVE", "ARCHIVED", "LOADS", "NEWEST"]);
        for (place, tally) in &tallies {
            table.row(vec![
                place.clone(),
                tally.active.to_string(),
                tally.archived.to_string(),
                tally.uses.to_string(),
                tally.newest.get(..10).unwrap_or("-").to_owned(),
            ]);
        }
        table.print(out);
    });
    Ok(exit::OK)
}

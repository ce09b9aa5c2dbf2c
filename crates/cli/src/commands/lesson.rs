//! `lesson load|topics`: the lesson shelf's own tools.

use super::visible;
use crate::args::{Args, Lesson, LessonAction};
use crate::output::{Out, Table};
use crate::wiring;
use heirloom_core::code::exit;
use heirloom_core::text::one_line;
use heirloom_core::{Memory, fault::Result};
use heirloom_engine::Call;
use heirloom_engine::verbs::shelves;

pub(crate) fn run(args: &Args, call: &Lesson, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    out.warnings(wired.warnings());
    match &call.action {
        LessonAction::Load { topic } => load(&wired.call, topic, out),
        LessonAction::Topics => topics(&wired.call, out),
    }
}

fn load(call: &Call, place: &str, out: &Out) -> Result<u8> {
    let loaded = shelves::load_lessons(call, place)?;
    out.answer(&loaded, || {
        for (at, lesson) in loaded.memories.iter().enumerate() {
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

fn topics(call: &Call, out: &Out) -> Result<u8> {
    let topics = shelves::lesson_topics(call)?;
    out.answer(&topics, || {
        if topics.is_empty() {
            out.say("no lessons yet; `heirloom add lesson \"…\" --topic git/rebase` saves one");
            return;
        }
        let mut table = Table::new(&["TOPIC", "ACTIVE", "ARCHIVED", "LOADS", "NEWEST"]);
        for topic in &topics {
            table.row(vec![
                topic.topic.clone(),
                topic.active.to_string(),
                topic.archived.to_string(),
                topic.loads.to_string(),
                topic.newest.clone().unwrap_or_else(|| "-".to_owned()),
            ]);
        }
        table.print(out);
    });
    Ok(exit::OK)
}

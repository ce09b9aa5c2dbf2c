//! A lesson on its way through the gate.
//!
//! Comes in: topic, subtopic and lesson as somebody gave them. Goes out: a draft whose checks run in the format's order: security
//! first, then its shape. Never here: the id's last part, which is made from the title and so only once the title has passed.

use super::lesson::Lesson;
use crate::gate::{Check, Draft, policy::Row};
use heirloom_core::{Code, Fault, fault::Result};

/// The longest entry that is stored: a lesson, not a log.
pub const MAX_LESSON: usize = 64 << 10;

/// A lesson that wants to be stored.
#[derive(Debug, Clone)]
pub struct LessonDraft {
    pub(super) topic: String,
    pub(super) subtopic: String,
    pub(super) lesson: Lesson,
    /// What refusals are audited under.
    shown_id: String,
    /// Topic and subtopic as they were given.
    given: [(&'static str, String); 2],
}

impl LessonDraft {
    pub(super) fn new(
        (topic, subtopic): (String, String),
        (given_topic, given_subtopic): (&str, &str),
        lesson: Lesson,
        shown_id: String,
    ) -> LessonDraft {
        let given = [("topic", given_topic.to_owned()), ("subtopic", given_subtopic.to_owned())];
        LessonDraft { topic, subtopic, lesson: lesson.tidied(), shown_id, given }
    }

    fn shape(&self) -> Result<()> {
        let bad = |field: &'static str, message: &str| {
            Err(Fault::new(Code::Validation, message).fact("field", field))
        };
        let lesson = &self.lesson;
        if lesson.title.is_empty() {
            return bad("title", "a lesson needs a title");
        }
        if lesson.title.len() > 300 {
            return bad("title", "a title has at most 300 bytes");
        }
        if lesson.problem.is_empty() && lesson.solution.is_empty() {
            return bad("problem", "a lesson needs a problem or a solution");
        }
        if !(0..=9999).contains(&lesson.date.year()) {
            return bad("date", "a date has a year from 0000 to 9999");
        }
        if lesson.texts().iter().map(|(_, text)| text.len()).sum::<usize>() > MAX_LESSON {
            return bad("solution", "a lesson has at most 64 KiB");
        }
        Ok(())
    }
}

const ORDER: &[Check] =
    &[Check::Secrets, Check::Identity, Check::Contact, Check::Injection, Check::Shape, Check::Trust];

impl Draft for LessonDraft {
    fn row(&self) -> Row {
        Row::Topics
    }

    fn order(&self) -> &'static [Check] {
        ORDER
    }

    fn id(&self) -> String {
        self.shown_id.clone()
    }

    fn texts(&mut self, visit: &mut dyn FnMut(&str, &mut String)) {
        for (field, text) in self.lesson.texts_mut() {
            visit(field, text);
        }
        // Names are seen but not rewritten: a name with a hole in it would be another file.
        visit("topic", &mut self.topic.clone());
        visit("subtopic", &mut self.subtopic.clone());
    }

    fn given(&self) -> &[(&'static str, String)] {
        &self.given
    }

    fn own_check(&mut self, check: Check) -> Result<()> {
        match check {
            Check::Shape => self.shape(),
            _ => Ok(()),
        }
    }
}

//! From few words to a lesson.
//!
//! Comes in: a sentence, and whatever fields were given. Goes out: a lesson. "This, fixed by that" is a problem and its solution, "do
//! this because of that" a solution and its problem; anything else is a solution. Never here: storing.

use super::lesson::Lesson;
use heirloom_core::{Code, Fault, fault::Result, text};
use jiff::civil::Date;

/// The longest title made from a sentence, in characters.
const TITLE_MAX: usize = 100;

/// What stands between a problem and its solution.
const SOLVED: [&str; 6] = [" fixed by ", " solved by ", " fix: ", " solution: ", " -> ", " → "];

/// The subtopic of a lesson that names only its topic, and the topic of one that names none.
const GENERAL: &str = "general";

/// The fields a lesson has.
const FIELDS: [&str; 4] = ["context", "problem", "solution", "code"];

/// What a person or an agent typed.
#[derive(Debug, Clone, Default)]
pub struct LessonWords {
    /// The sentence.
    pub sentence: String,
    /// The title, if it was given.
    pub title: Option<String>,
    /// Fields, name and value; a name that repeats adds a paragraph.
    pub fields: Vec<(String, String)>,
}

/// A lesson of this day from what was given.
pub fn compose(date: Date, words: &LessonWords) -> Result<Lesson> {
    let mut lesson = Lesson::new(date, "");
    let (problem, solution) = split(&words.sentence);
    lesson.problem = problem;
    lesson.solution = solution;
    apply(&mut lesson, &words.fields)?;
    lesson.title = match &words.title {
        Some(title) => text::one_line(title),
        None => title_of([&lesson.problem, &lesson.solution, &lesson.context]),
    };
    if lesson.title.is_empty() {
        return Err(Fault::new(Code::Validation, "there is nothing to remember")
            .fact("field", "title")
            .hint("heirloom add lesson \"what went wrong, fixed by what helped\" --topic git/rebase"));
    }
    Ok(lesson)
}

/// Sets fields of a lesson. The first value of a name replaces what is there, further ones are added below it.
pub(super) fn apply(lesson: &mut Lesson, fields: &[(String, String)]) -> Result<()> {
    let mut seen: Vec<&str> = Vec::new();
    for (name, value) in fields {
        let field = match name.as_str() {
            "context" => &mut lesson.context,
            "problem" => &mut lesson.problem,
            "solution" => &mut lesson.solution,
            "code" => &mut lesson.code,
            _ => {
                return Err(Fault::new(Code::Validation, format!("a lesson has no field `{name}`"))
                    .fact("field", name.as_str())
                    .fact("expected", format!("one of {}", FIELDS.join(", ")))
                    .hint(format!("fields of a lesson: {}", FIELDS.join(", "))));
            }
        };
        if seen.contains(&name.as_str()) {
            field.push_str("\n\n");
            field.push_str(value);
        } else {
            value.clone_into(field);
            seen.push(name);
        }
    }
    Ok(())
}

impl Lesson {
    /// Sets fields by name, as `edit` does.
    pub fn set(&mut self, fields: &[(String, String)]) -> Result<()> {
        apply(self, fields)
    }
}

/// Topic and subtopic as they are typed: `git/rebase`, or `git` alone.
pub fn file_of(given: Option<&str>) -> Result<(String, String)> {
    let given = given.map(str::trim).filter(|given| !given.is_empty()).unwrap_or(GENERAL);
    match given.split_once('/') {
        None => Ok((given.to_owned(), GENERAL.to_owned())),
        Some((topic, subtopic)) if !topic.is_empty() && !subtopic.is_empty() && !subtopic.contains('/') => {
            Ok((topic.to_owned(), subtopic.to_owned()))
        }
        Some(_) => Err(Fault::new(Code::Usage, format!("`{given}` is not TOPIC/SUBTOPIC"))
            .hint("for example --topic git/rebase")),
    }
}

/// Problem and solution of a sentence.
fn split(sentence: &str) -> (String, String) {
    let lower = sentence.to_lowercase();
    // Lower-casing may change lengths in other scripts; then the sentence stays whole rather than being cut at the wrong place.
    let find = |mark: &str| {
        let at = lower.find(mark).filter(|_| lower.len() == sentence.len())?;
        Some((sentence.get(..at)?.trim(), sentence.get(at + mark.len()..)?.trim()))
    };
    let tidy = |text: &str| text.trim_end_matches([',', ';']).trim().to_owned();
    for mark in SOLVED {
        if let Some((problem, solution)) = find(mark).filter(|(a, b)| !a.is_empty() && !b.is_empty()) {
            return (tidy(problem), solution.to_owned());
        }
    }
    match find(" because ").filter(|(a, b)| !a.is_empty() && !b.is_empty()) {
        Some((solution, problem)) => (problem.to_owned(), tidy(solution)),
        None => (String::new(), sentence.trim().to_owned()),
    }
}

fn title_of(texts: [&str; 3]) -> String {
    let line = texts.into_iter().flat_map(str::lines).find(|line| !line.trim().is_empty());
    let line = text::one_line(line.unwrap_or_default());
    let Some((end, _)) = line.char_indices().nth(TITLE_MAX) else { return line };
    let cut = &line[..end];
    let whole_words = cut.rsplit_once(' ').map_or(cut, |(head, _)| head);
    format!("{whole_words}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(sentence: &str) -> (String, String, String) {
        let words = LessonWords { sentence: sentence.to_owned(), ..LessonWords::default() };
        let lesson = compose("2026-01-15".parse().unwrap(), &words).unwrap();
        (lesson.title, lesson.problem, lesson.solution)
    }

    #[test]
    fn a_sentence_becomes_problem_and_solution() {
        let both = ("Rebase lost commits", "git reflog and cherry-pick");
        let (title, problem, solution) = made("Rebase lost commits, fixed by git reflog and cherry-pick");
        assert_eq!((title.as_str(), problem.as_str(), solution.as_str()), (both.0, both.0, both.1));
        let (_, problem, solution) = made("Pin the toolchain because nightly broke the build");
        assert_eq!((problem.as_str(), solution.as_str()), ("nightly broke the build", "Pin the toolchain"));
        assert_eq!(made("Restart it"), ("Restart it".into(), String::new(), "Restart it".into()));
    }

    #[test]
    fn fields_add_up_and_an_unknown_one_is_named() {
        let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let words = LessonWords {
            fields: vec![field("problem", "A"), field("solution", "B"), field("solution", "C")],
            ..LessonWords::default()
        };
        let lesson = compose("2026-01-15".parse().unwrap(), &words).unwrap();
        assert_eq!((lesson.title.as_str(), lesson.solution.as_str()), ("A", "B\n\nC"));
        let wrong = LessonWords { fields: vec![field("cause", "x")], ..LessonWords::default() };
        assert!(compose("2026-01-15".parse().unwrap(), &wrong).unwrap_err().message.contains("cause"));
    }

    #[test]
    fn a_topic_may_leave_its_subtopic_out() {
        assert_eq!(file_of(Some("git/rebase")).unwrap(), ("git".into(), "rebase".into()));
        assert_eq!(file_of(Some("git")).unwrap(), ("git".into(), "general".into()));
        assert_eq!(file_of(None).unwrap(), ("general".into(), "general".into()));
        assert_eq!(file_of(Some("a/b/c")).unwrap_err().code, Code::Usage);
    }
}

//! From a sentence to a statement: who, what is said, the value. And the other way round: which sentences of a conversation state a fact.
//!
//! Comes in: text. Goes out: statements, by a short list of sentence patterns. Nothing is guessed: a sentence that fits no pattern has no
//! structure and is kept as it is. Never here: storing; what is extracted always waits for a person. Linear in the length of the text.

use super::{FactKind, Statement};
use regex::Regex;
use std::sync::OnceLock;

/// The longest sentence that is looked at.
const LONGEST: usize = 300;

/// A pattern: its kind, its predicate, and a regex whose groups `s` (perhaps) and `o` are subject and object.
struct Pattern {
    kind: FactKind,
    predicate: &'static str,
    regex: Regex,
}

/// Subject of sentences in the first person, and of those that say "the user".
pub(super) const USER: &str = "user";

#[allow(clippy::expect_used, reason = "constant patterns; a test compiles each of them")]
fn patterns() -> &'static [Pattern] {
    static CELL: OnceLock<Vec<Pattern>> = OnceLock::new();
    CELL.get_or_init(|| {
        use FactKind::{Entity, Instruction, Preference, Relationship};
        let who = r"^(?:i|we|(?:the |this )?user)\s+";
        let list: [(FactKind, &str, String); 14] = [
            (Preference, "prefers", format!(r"{who}(?:(?:strongly|really|always|generally)\s+)?prefers?\s+(?P<o>.+)$")),
            (Preference, "likes", format!(r"{who}(?:really\s+)?(?:likes?|loves?|enjoys?)\s+(?P<o>.+)$")),
            (Preference, "dislikes", format!(r"{who}(?:really\s+)?(?:dislikes?|hates?|(?:don'?t|do not|doesn'?t|does not)\s+like)\s+(?P<o>.+)$")),
            (Preference, "uses", format!(r"{who}(?:always\s+|mostly\s+)?uses?\s+(?P<o>.+)$")),
            (Entity, "name", r"^(?:my|the user'?s|our)\s+name\s+is\s+(?P<o>.+)$".to_owned()),
            (Entity, "name", r"^(?:call me|i go by)\s+(?P<o>.+)$".to_owned()),
            (Entity, "lives in", format!(r"{who}(?:lives?|am based|is based|are based)\s+in\s+(?P<o>.+)$")),
            (Relationship, "works at", format!(r"{who}works?\s+(?:at|for)\s+(?P<o>.+)$")),
            (Entity, "works as", format!(r"{who}works?\s+as\s+(?:an?\s+)?(?P<o>.+)$")),
            (Entity, "is", r"^(?:i am|i'm|the user is)\s+(?:an?\s+)?(?P<o>.+)$".to_owned()),
            (Instruction, "always", r"^(?:please\s+)?always\s+(?P<o>.+)$".to_owned()),
            (Instruction, "never", r"^(?:please\s+)?(?:never|do not|don'?t)\s+(?P<o>.+)$".to_owned()),
            (Entity, "", r"^(?:my|our|the user'?s)\s+(?P<p>[\w -]{2,40}?)\s+(?:is|are)\s+(?P<o>.+)$".to_owned()),
            (Entity, "", r"^(?:the\s+)?(?P<s>[\w][\w .-]{0,40}?)\s+(?P<p>is|are|runs on|belongs to|lives in|uses)\s+(?P<o>.+)$".to_owned()),
        ];
        list.into_iter()
            .map(|(kind, predicate, pattern)| {
                let regex = Regex::new(&pattern).expect("a constant pattern that the tests compile");
                Pattern { kind, predicate, regex }
            })
            .collect()
    })
}

/// How many patterns speak of the user; the last ones speak of anything and are too weak to extract by.
const CERTAIN: usize = 13;

/// What a sentence states, if its form shows it or somebody said what it is about.
pub(super) fn about(subject: Option<&str>, text: &str) -> Option<Statement> {
    let found = matching(text, patterns());
    let Some(subject) = subject.map(str::trim) else { return found };
    let subject = subject.to_owned();
    Some(match found {
        Some(statement) => Statement { subject, ..statement },
        None => Statement {
            kind: FactKind::Entity,
            subject,
            // Many things may be said of one subject; none of them takes another's place unless its sentence says so.
            predicate: "is".to_owned(),
            object: text.to_owned(),
        },
    })
}

fn matching(text: &str, among: &[Pattern]) -> Option<Statement> {
    let sentence = text.trim().trim_end_matches(['.', '!']).trim();
    if sentence.len() > LONGEST || sentence.ends_with('?') || sentence.contains('\n') {
        return None;
    }
    // Letters change their case here, not their place, so what is found is taken from the sentence as it was written.
    let lower = sentence.to_ascii_lowercase();
    among.iter().find_map(|pattern| {
        let found = pattern.regex.captures(&lower)?;
        let group = |name| {
            let text = sentence.get(found.name(name)?.range())?.trim();
            (!text.is_empty()).then(|| text.to_owned())
        };
        let predicate = if pattern.predicate.is_empty() {
            group("p")?.to_lowercase()
        } else {
            pattern.predicate.to_owned()
        };
        Some(Statement {
            kind: pattern.kind,
            subject: group("s").unwrap_or_else(|| USER.to_owned()),
            predicate,
            object: group("o")?,
        })
    })
}

/// The sentences of a person's message that state something about them, to be proposed as facts.
pub(super) fn extracted(message: &str) -> Vec<String> {
    let sentences = message.split_inclusive(['.', '!', '?', '\n']);
    let about_user = |s: &&str| matching(s, &patterns()[..CERTAIN]).is_some();
    sentences.map(str::trim).filter(about_user).map(|s| s.trim_end_matches(['.', '!']).to_owned()).collect()
}

/// Whether two statements about the same thing cannot both be true.
pub(super) fn contradict(a: &Statement, b: &Statement) -> bool {
    let same = |x: &str, y: &str| x.to_lowercase() == y.to_lowercase();
    if !same(&a.subject, &b.subject) {
        return false;
    }
    if same(&a.predicate, &b.predicate) {
        // One may like, dislike, use or be told many things; one has one name, one employer, one preference.
        let many =
            matches!(a.predicate.as_str(), "likes" | "dislikes" | "uses" | "is" | "are" | "always" | "never");
        return !many && !same(&a.object, &b.object);
    }
    let opposite = |x: &Statement, y: &Statement| {
        matches!(
            (x.predicate.as_str(), y.predicate.as_str()),
            ("likes" | "prefers" | "uses", "dislikes") | ("always", "never")
        )
    };
    (opposite(a, b) || opposite(b, a)) && same(&a.object, &b.object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_with_a_known_form_is_taken_apart() {
        let of_sentence = |text| about(None, text);
        let statement = of_sentence("I prefer tabs over spaces.").unwrap();
        assert_eq!((statement.subject.as_str(), statement.predicate.as_str()), ("user", "prefers"));
        assert_eq!(statement.object, "tabs over spaces");
        assert_eq!(of_sentence("My favourite editor is Helix").unwrap().predicate, "favourite editor");
        assert_eq!(
            of_sentence("The staging database runs on port 5433").unwrap().subject,
            "staging database"
        );
        assert_eq!(of_sentence("Do I prefer tabs?"), None);
        assert_eq!(of_sentence("hello"), None);
    }

    #[test]
    fn a_subject_that_somebody_names_counts_whatever_the_sentence_says() {
        let named = about(Some(" build.server "), "Port 8081, behind the proxy").unwrap();
        assert_eq!((named.subject.as_str(), named.predicate.as_str()), ("build.server", "is"));
        assert_eq!(named.object, "Port 8081, behind the proxy");
        let told = about(Some("staging"), "Never restart it by hand").unwrap();
        assert_eq!((told.subject.as_str(), told.predicate.as_str()), ("staging", "never"));
        assert!(!contradict(&named, &about(Some("build.server"), "Runs at night only").unwrap()));
    }

    #[test]
    fn only_what_cannot_be_true_at_once_contradicts() {
        let s = |text| about(None, text).unwrap();
        assert!(contradict(&s("I prefer tabs"), &s("I prefer spaces")));
        assert!(contradict(&s("I like coffee"), &s("I don't like coffee")));
        assert!(contradict(&s("Always squash commits"), &s("Never squash commits")));
        assert!(!contradict(&s("I like coffee"), &s("I like tea")));
        assert!(!contradict(&s("I live in Graz"), &s("I work at Acme")));
    }

    #[test]
    fn extraction_takes_only_what_people_say_about_themselves() {
        let said = extracted("Thanks! I prefer short answers. The sky is blue. My name is Ada");
        assert_eq!(said, ["I prefer short answers", "My name is Ada"]);
    }
}

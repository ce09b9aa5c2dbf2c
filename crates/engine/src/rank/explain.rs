//! Why a hit is where it is: every factor of its score, in points, and whether it is worth showing.

use crate::index::embed::Nearness;

/// The factors of one score; they add up to it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Factors {
    /// Its own keywords.
    pub keyword: f32,
    /// Keywords of the turns around it.
    pub neighbours: f32,
    /// Vector.
    pub vector: f32,
    /// Names that answer a word of the question.
    pub related: f32,
    /// Late interaction.
    pub late: f32,
    /// Keywords of the whole group it belongs to.
    pub group: f32,
    /// The time the question names.
    pub time: f32,
    /// Whose words are asked for.
    pub role: f32,
    /// The speaker the question names.
    pub speaker: f32,
    /// Recency.
    pub recency: f32,
    /// Trust.
    pub trust: f32,
    /// Kind.
    pub kind: f32,
    /// Scope.
    pub scope: f32,
    /// Files in play.
    pub file: f32,
    /// Confidence.
    pub confidence: f32,
}

impl Factors {
    /// Every factor with its name.
    pub fn named(&self) -> [(&'static str, f32); 15] {
        [
            ("keyword", self.keyword),
            ("neighbours", self.neighbours),
            ("vector", self.vector),
            ("related", self.related),
            ("late", self.late),
            ("group", self.group),
            ("time", self.time),
            ("role", self.role),
            ("speaker", self.speaker),
            ("recency", self.recency),
            ("trust", self.trust),
            ("kind", self.kind),
            ("scope", self.scope),
            ("file", self.file),
            ("confidence", self.confidence),
        ]
    }

    /// The score.
    pub fn sum(&self) -> f32 {
        self.named().iter().map(|(_, points)| points).sum()
    }
}

/// The share of a question's telling words that makes a hit worth an agent's attention by itself.
const COVERS: f32 = 0.25;
/// Telling words that do, however long the question is.
const WORDS: usize = 3;
/// The share that does where the words are held by few memories: one word of six.
const SHARES: f32 = 0.16;

/// The share from which it is most of the question.
const MOSTLY: f32 = 0.6;

/// The cosine from which two texts may be about the same thing, whatever the model.
const RELATED: f32 = 0.35;

/// Why one hit is there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explain {
    /// The factors.
    pub factors: Factors,
    /// The question's terms it holds, with what each adds to the keyword score.
    pub terms: Vec<(String, f32)>,
    /// Share of the question's words it holds, 0 to 1, each counted by how rare it is. Words that say little do not count.
    pub covered: f32,
    /// How many of these words it holds.
    pub held: usize,
    /// Share of these words it holds, each counted alike, of those that few memories hold.
    pub shared: f32,
    /// Share of these words it answers by another name.
    pub related: f32,
    /// Whether a proper name is among those that answer.
    pub named: bool,
    /// From which cosine on the vectors say something.
    pub nearness: Nearness,
    /// Cosine of its vector with the question's, if it has one.
    pub cosine: Option<f32>,
    /// The same without what it has in common with whatever is asked, where the model knows that: this is what is compared with `nearness`.
    pub near: Option<f32>,
    /// The memory it was put behind because that one says the same and is trusted more.
    pub behind: Option<String>,
}

impl Explain {
    /// Whether it has anything to do with the question: words in common, here or beside it, or a meaning not too far away.
    pub fn is_near(&self) -> bool {
        !self.terms.is_empty()
            || self.factors.neighbours > 0.0
            || self.related > 0.0
            || self.is_as_near_as(self.nearness.alone.min(RELATED))
    }

    /// Whether it is near enough to the question to be given to an agent unasked.
    pub fn is_telling(&self) -> bool {
        self.held >= WORDS
            || ((self.covered >= COVERS || self.shared >= SHARES) && !self.is_chance())
            || (self.related > 0.0
                && self.shared + self.related >= SHARES
                && (self.named || self.is_as_near_as(self.nearness.beside)))
            || self.is_as_near_as(self.nearness.alone)
    }

    /// Whether all that speaks for it is one word of several, in a text that is about something else.
    fn is_chance(&self) -> bool {
        self.held <= 1 && self.shared < MOSTLY && self.near().is_some_and(|near| near < self.nearness.partly)
    }

    fn is_as_near_as(&self, cosine: f32) -> bool {
        self.near().is_some_and(|near| near >= cosine)
    }

    fn near(&self) -> Option<f32> {
        self.near.or(self.cosine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEARNESS: Nearness = Nearness { alone: 0.3, beside: 0.05, partly: 0.2 };

    #[test]
    fn a_proper_name_answers_where_no_vector_says_so_and_another_word_does_not() {
        let by = |named| Explain {
            related: 1.0,
            named,
            nearness: NEARNESS,
            cosine: Some(-0.1),
            ..Explain::default()
        };
        assert!(by(true).is_telling() && !by(false).is_telling());
    }

    #[test]
    fn what_a_memory_has_in_common_with_every_question_does_not_make_it_telling() {
        let of = |near| Explain { cosine: Some(0.35), near, nearness: NEARNESS, ..Explain::default() };
        assert!(of(None).is_telling() && of(Some(0.31)).is_telling());
        assert!(!of(Some(0.2)).is_telling());
    }
}

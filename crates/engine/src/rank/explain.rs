//! Why a hit is where it is: every factor of its score, in points.

/// The factors of one score; they add up to it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Factors {
    /// Its own keywords.
    pub keyword: f32,
    /// Keywords of the turns around it.
    pub neighbours: f32,
    /// Vector.
    pub vector: f32,
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
    pub fn named(&self) -> [(&'static str, f32); 14] {
        [
            ("keyword", self.keyword),
            ("neighbours", self.neighbours),
            ("vector", self.vector),
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
/// The cosine that does without any word in common.
const NEAR: f32 = 0.5;

/// The cosine from which two texts may be about the same thing.
const RELATED: f32 = 0.35;

/// Why one hit is there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explain {
    /// The factors.
    pub factors: Factors,
    /// The question's terms it holds, with what each adds to the keyword score.
    pub terms: Vec<(String, f32)>,
    /// Share of the question's words it holds, 0 to 1, each counted by how rare it is.
    pub covered: f32,
    /// Cosine of its vector with the question's, if it has one.
    pub cosine: Option<f32>,
    /// The memory it was put behind because that one says the same and is trusted more.
    pub behind: Option<String>,
}

impl Explain {
    /// Whether it has anything to do with the question: words in common, here or beside it, or a meaning not too far away.
    pub fn is_near(&self) -> bool {
        !self.terms.is_empty()
            || self.factors.neighbours > 0.0
            || self.cosine.is_some_and(|cosine| cosine >= RELATED)
    }

    /// Whether it is near enough to the question to be given to an agent unasked.
    pub fn is_telling(&self) -> bool {
        self.covered >= COVERS
            || self.terms.len() >= WORDS
            || self.cosine.is_some_and(|cosine| cosine >= NEAR)
    }
}

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

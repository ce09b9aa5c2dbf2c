//! Memories as an answer tells them: what a caller may have of each.
//!
//! Comes in: memories as their shelves keep them. Goes out: the same for whoever asks. Without a person, what reached a file past the gate
//! and would be refused is cut out, because what is told goes into a model's context. Never here: choosing memories.

use crate::call::Call;
use crate::gate::Screen;
use crate::recall::search::reasons;
use crate::recall::snippet;
use crate::shelf::Listing;
use crate::shelf::anchors::{Anchored, Cited};
use heirloom_core::{Code, Fault, Memory, MemoryId, ShelfName};
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;

pub use crate::recall::search::Reason;

/// How much of a body stands in a snippet, in characters.
const EXCERPT: usize = 160;

/// The record format's tools name their own options as the next step; whoever came another way is told a command that exists there.
pub fn in_own_words(fault: Fault) -> Fault {
    if !fault.next_step().contains("--action") {
        return fault;
    }
    let next = match fault.code {
        Code::Create => "change it with `heirloom edit`, or choose another name with --title",
        Code::AntiResurrection => {
            "bring it back with `heirloom restore`, or choose another name with --title"
        }
        Code::Delete => "put it back into use with `heirloom unarchive` first",
        Code::Restore => "`heirloom unarchive` puts archived memories back into use",
        _ => "`heirloom list --all` shows every memory and its status",
    };
    fault.hint(next)
}

/// The part of a text that answers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, schemars::JsonSchema)]
pub struct Snippet {
    /// One line.
    pub text: String,
    /// Where words of the question stand in it: bytes, from and to.
    pub marks: Vec<[usize; 2]>,
    /// Whether something before it was left out.
    pub cut_before: bool,
    /// Whether something after it was left out.
    pub cut_after: bool,
}

/// A memory that was found.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Hit {
    /// The memory.
    #[serde(flatten)]
    pub memory: Memory,
    /// What it is ranked by; nothing where the order is that of time.
    pub score: Option<f64>,
    /// What the score is made of.
    pub why: Vec<Reason>,
    /// The part of its text that answers.
    pub snippet: Snippet,
    /// The memory it stands behind because that one says the same and is trusted more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<heirloom_core::MemoryId>")]
    pub behind: Option<String>,
    /// The code it cites and what became of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub anchors: Vec<Cited>,
    /// What whoever relies on it must know about that code.
    #[serde(skip)]
    pub stale: Option<String>,
    /// Whether its shelf has no titles, so that its title is how its text begins.
    #[serde(skip)]
    pub untitled: bool,
}

impl Hit {
    /// A memory as a hit, cut to what the caller may have.
    pub(super) fn of(call: &Call, memory: Memory, score: Option<f64>, why: Vec<(String, f64)>) -> Hit {
        let (memory, _) = fit(call, memory);
        let mut hit = Hit {
            memory,
            score,
            why: reasons(why),
            snippet: Snippet::default(),
            behind: None,
            anchors: Vec::new(),
            stale: None,
            untitled: false,
        };
        hit.cut(&[]);
        hit
    }

    /// Makes the snippet for these words.
    pub(super) fn cut(&mut self, terms: &[(String, f32)]) {
        let cut = snippet::snippet(&self.memory.body, terms, EXCERPT);
        self.snippet = Snippet {
            text: cut.text,
            marks: cut.marks.into_iter().map(|mark| [mark.start, mark.end]).collect(),
            cut_before: cut.cut_before,
            cut_after: cut.cut_after,
        };
    }

    /// Notes the code it cites.
    pub(super) fn cites(&mut self, call: &Call, cited: Option<Anchored>) {
        self.stale = cited.as_ref().and_then(Anchored::label);
        self.anchors = cited.map(|cited| fit_cited(call, cited).anchors).unwrap_or_default();
    }
}

/// A text as the caller may have it.
pub(crate) fn fit_text(call: &Call, text: &str) -> String {
    if call.caller().is_person() { text.to_owned() } else { call.screen().redacted(text) }
}

/// A memory as the caller may have it. Says whether something was cut out.
pub(crate) fn fit(call: &Call, mut memory: Memory) -> (Memory, bool) {
    if call.caller().is_person() {
        return (memory, false);
    }
    let screen = call.screen();
    let mut cut = false;
    let texts = [&mut memory.title, &mut memory.body].into_iter().chain(&mut memory.tags);
    for text in texts.chain(&mut memory.applies_to) {
        cut |= redact(screen, text);
    }
    for value in memory.fields.values_mut() {
        cut |= redact_in(screen, value);
    }
    (memory, cut)
}

/// Several of them.
pub(crate) fn fit_all(call: &Call, memories: Vec<Memory>) -> Vec<Memory> {
    memories.into_iter().map(|memory| fit(call, memory).0).collect()
}

/// A citation may quote code.
pub(super) fn fit_cited(call: &Call, mut cited: Anchored) -> Anchored {
    for one in &mut cited.anchors {
        one.anchor = fit_text(call, &one.anchor);
    }
    cited
}

fn redact(screen: &Screen, text: &mut String) -> bool {
    let shown = screen.redacted(text);
    let cut = shown != *text;
    *text = shown;
    cut
}

/// Cuts what the gate would refuse out of every text in a value.
pub(crate) fn redact_in(screen: &Screen, value: &mut Value) -> bool {
    match value {
        Value::String(text) => redact(screen, text),
        Value::Array(items) => items.iter_mut().fold(false, |cut, item| cut | redact_in(screen, item)),
        Value::Object(map) => map.values_mut().fold(false, |cut, item| cut | redact_in(screen, item)),
        _ => false,
    }
}

/// The memories of these ids as their shelves have them now, by id. One that cannot be read any more is not among them.
pub(super) fn memories(call: &Call, ids: &[String]) -> HashMap<String, Memory> {
    let mut found = HashMap::new();
    for shelf in call.shelves() {
        let here: Vec<MemoryId> = ids
            .iter()
            .filter_map(|id| MemoryId::parse(id))
            .filter(|id| id.kind().shelf() == shelf.name())
            .collect();
        // These two keep many memories in a file: it is read once for all of them.
        if here.len() > 1 && matches!(shelf.name(), ShelfName::Vault | ShelfName::Topics) {
            let all = shelf.list(&Listing::everything()).unwrap_or_default();
            found.extend(
                all.into_iter()
                    .filter(|memory| here.contains(&memory.id))
                    .map(|memory| (memory.id.to_string(), memory)),
            );
            continue;
        }
        for id in here {
            if let Ok(Some(memory)) = shelf.get(&id) {
                found.insert(id.to_string(), memory);
            }
        }
    }
    found.retain(|_, memory| call.caller().sees().sees(memory));
    found
}

//! The words that mean something particular here, each in a sentence: for `heirloom help glossary` and the page of the reference.
//!
//! Comes in: nothing. Goes out: rows in alphabetical order. Never here: a word with two meanings.

/// Word and meaning.
pub(super) const GLOSSARY: &[(&str, &str)] = &[
    ("anchor", "a place in the code that a memory is about; Heirloom notices when that code changes"),
    ("audit", "the list of everything that was done, in which nothing can be changed or removed unnoticed"),
    ("canon", "what stays true about the agents of a project, such as a goal or a rule they work by"),
    ("capture", "finding something worth keeping in a conversation"),
    ("draft", "a memory that is not stored yet because a person has to decide"),
    ("episode", "one turn of a conversation: something that was said, with who said it and when"),
    ("fact", "something known about a user, such as a preference"),
    (
        "gate",
        "the check that every text passes before it is stored; it refuses secrets and holds back orders to a model",
    ),
    ("hook", "a command that a coding agent runs at certain moments, such as at each prompt"),
    ("id", "the name of a memory: its kind, a colon and a name, such as decision:use-postgresql"),
    ("kind", "what sort of memory it is: decision, lesson, note, fact and so on"),
    ("lesson", "what went wrong and what helped, filed under a topic"),
    ("memory", "something worth keeping, stored as text with its kind, origin and trust"),
    ("note", "a message of an assistant, word for word"),
    ("recall", "choosing the memories that fit a prompt"),
    ("record", "a typed memory with fields, such as a decision with its reason"),
    ("register", "what holds now, kept up to date under its topic, such as the current task"),
    ("retire", "to take a memory out of use; it can be restored until its grace period ends"),
    ("review", "where a person decides about drafts and about memories that nobody has accepted yet"),
    ("scope", "where a memory applies (a file, an area, everything), or what a token may do"),
    ("shelf", "a place for memories of one format: records, topics (lessons), notes, vault, tiers"),
    ("tier", "turns of conversations (episodic) or facts (semantic) of one user"),
    ("trust", "how far a text can be relied on: high, medium or low, by who wrote it and how it came in"),
    ("vault", "the shelf of canon and registers"),
];

#[cfg(test)]
mod tests {
    use super::GLOSSARY;

    #[test]
    fn words_stand_in_order_and_once() {
        assert!(GLOSSARY.is_sorted_by(|a, b| a.0 < b.0));
    }
}

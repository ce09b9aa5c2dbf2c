//! Which kind of memory a statement is, by its words.
//!
//! Comes in: a point or a sentence that somebody wrote down for agents. Goes out: a kind, or why nothing is made of it. Never here: a change of its words.

use crate::capture::triage::kinds_heard;

/// Shorter statements say too little on their own.
const LEAST: usize = 12;

/// What somebody writes before a statement to say what it is.
const LABELS: &[(&str, &str)] = &[
    ("decision", "decision"),
    ("decided", "decision"),
    ("adr", "decision"),
    ("constraint", "constraint"),
    ("limit", "constraint"),
    ("limitation", "constraint"),
    ("requirement", "constraint"),
    ("rule", "preference"),
    ("preference", "preference"),
    ("convention", "preference"),
    ("tech debt", "tech_debt"),
    ("technical debt", "tech_debt"),
    ("debt", "tech_debt"),
    ("known issue", "tech_debt"),
    ("workaround", "tech_debt"),
    ("runbook", "runbook"),
];

/// Words that make a statement one about work put off.
const DEBT: &[&str] = &[
    "workaround",
    "technical debt",
    "tech debt",
    "temporary hack",
    "temporarily",
    "for now",
    "until we",
    "needs refactoring",
    "to be removed",
    "will be removed",
    "should be replaced",
    "needs to be replaced",
    "legacy code",
    "known issue",
    "is a hack",
    "not yet migrated",
];

/// Words that make a statement a decision.
const DECIDED: &[&str] = &[
    "we use",
    "we chose",
    "we decided",
    "we picked",
    "we went with",
    "we switched",
    "we moved",
    "we migrated",
    "we settled",
    "we agreed",
    "we adopted",
    "we dropped",
    "we replaced",
    "we removed",
    "we keep",
    "we kept",
    "we store",
    "we deploy",
    "we build",
    "we run",
    "we do not use",
    "we don't use",
    "we no longer",
    "we will use",
    "we are using",
    "we're using",
    "we stay",
    "we rely",
    "we standardise",
    "we standardize",
    "we ship",
    "we write",
    "decided to",
    "decided on",
    "decided against",
    "chose",
    "chosen",
    "was picked",
    "is used for",
    "are used for",
    "is used to",
    "used instead",
    "instead of",
    "rather than",
    "in favour of",
    "in favor of",
    "in preference to",
    "is written in",
    "are written in",
    "written with",
    "is built with",
    "is built on",
    "are built with",
    "built on top",
    "is stored in",
    "are stored in",
    "stored as",
    "is kept in",
    "are kept in",
    "source of truth",
    "is deployed",
    "are deployed",
    "runs on",
    "run on",
    "is hosted",
    "are hosted",
    "is handled by",
    "are handled by",
    "is done with",
    "are done with",
    "is done by",
    "is managed with",
    "is managed by",
    "are managed by",
    "replaces",
    "replaced by",
    "adopted",
    "standardised on",
    "standardized on",
    "migrated to",
    "moved to",
    "switched to",
    "goes through",
    "go through",
    "is generated from",
    "are generated from",
    "is served by",
    "are served by",
    "talks to",
    "communicate over",
    "communicates over",
    "is authenticated",
    "authentication uses",
    "uses",
    "backed by",
];

/// Words that make a statement a limit.
const LIMITS: &[&str] = &[
    "must",
    "must not",
    "mustn't",
    "cannot",
    "can not",
    "can't",
    "at most",
    "at least",
    "no more than",
    "no fewer than",
    "not allowed",
    "is forbidden",
    "are forbidden",
    "is required",
    "are required",
    "requires",
    "require",
    "limited to",
    "limit is",
    "limit of",
    "maximum",
    "minimum",
    "may not",
    "only supported",
    "not supported",
    "within",
    "up to",
    "no longer than",
    "per minute",
    "per second",
    "has to",
    "have to",
    "needs to",
    "need to",
    "shall",
];

/// Words that make a statement a habit.
const HABITS: &[&str] = &[
    "prefer",
    "preferred",
    "should",
    "shouldn't",
    "convention",
    "by convention",
    "always",
    "never",
    "avoid",
    "please",
];

/// How an instruction begins.
const ORDERS: &[&str] = &[
    "add",
    "always",
    "answer",
    "ask",
    "assume",
    "avoid",
    "be",
    "begin",
    "build",
    "call",
    "check",
    "choose",
    "commit",
    "compare",
    "compile",
    "configure",
    "consider",
    "copy",
    "cover",
    "create",
    "declare",
    "define",
    "delete",
    "deploy",
    "describe",
    "do",
    "do not",
    "document",
    "don't",
    "ensure",
    "execute",
    "explain",
    "export",
    "fail",
    "fix",
    "follow",
    "format",
    "generate",
    "give",
    "group",
    "handle",
    "implement",
    "import",
    "include",
    "install",
    "keep",
    "leave",
    "limit",
    "link",
    "log",
    "make",
    "mark",
    "match",
    "measure",
    "mention",
    "merge",
    "mock",
    "move",
    "name",
    "never",
    "no",
    "note",
    "open",
    "organise",
    "organize",
    "pass",
    "pin",
    "place",
    "plan",
    "prefer",
    "prefix",
    "preserve",
    "propose",
    "put",
    "read",
    "rebase",
    "record",
    "refer",
    "regenerate",
    "remember",
    "remove",
    "rename",
    "replace",
    "report",
    "respect",
    "respond",
    "restart",
    "return",
    "reuse",
    "review",
    "run",
    "say",
    "see",
    "send",
    "set",
    "show",
    "skip",
    "sort",
    "split",
    "squash",
    "start",
    "stick",
    "stop",
    "store",
    "summarise",
    "summarize",
    "test",
    "think",
    "treat",
    "try",
    "update",
    "upgrade",
    "use",
    "validate",
    "verify",
    "wait",
    "wrap",
    "write",
];

/// What a statement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// A memory of this kind.
    Kind(&'static str),
    /// Nothing, because of this.
    Nothing(&'static str),
}

/// What becomes of a statement.
pub(super) fn heard(statement: &str) -> Heard {
    let text = statement.trim();
    let plain = without_marks(text);
    if text.starts_with('@') {
        return Heard::Nothing("includes another file");
    }
    if plain.chars().count() < LEAST {
        return Heard::Nothing("too short to mean something on its own");
    }
    if is_link(text) {
        return Heard::Nothing("a link");
    }
    if plain.ends_with(':') {
        return Heard::Nothing("introduces what follows");
    }
    if plain.ends_with('?') {
        return Heard::Nothing("a question");
    }
    let lower = format!(" {} ", plain.to_lowercase().replace('’', "'"));
    if let Some((_, kind)) = LABELS.iter().find(|(label, _)| labelled(&lower, label)) {
        return Heard::Kind(kind);
    }
    let has = |words: &[&str]| words.iter().any(|word| holds(&lower, word));
    let first = lower.trim_start();
    let orders = ORDERS.iter().any(|order| {
        first
            .strip_prefix(order)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '\''))
    });
    let told = kinds_heard(text);
    if has(DEBT) || told.contains(&"tech_debt") {
        return Heard::Kind("tech_debt");
    }
    if orders {
        return Heard::Kind("preference");
    }
    if is_runbook(first) {
        return Heard::Kind("runbook");
    }
    if told.contains(&"decision") || has(DECIDED) || has(&["because"]) || says_how(&lower) {
        return Heard::Kind("decision");
    }
    if told.contains(&"constraint") || has(LIMITS) {
        return Heard::Kind("constraint");
    }
    if told.contains(&"preference") || has(HABITS) {
        return Heard::Kind("preference");
    }
    Heard::Nothing("states no decision, rule or preference")
}

/// The text without the marks of Markdown around its words.
fn without_marks(text: &str) -> String {
    text.replace("**", "")
        .replace("__", "")
        .trim_start_matches(['*', '_', '`', '>', ' '])
        .trim_end()
        .to_owned()
}

/// Whether it says how something is done: `are encoded with`, `is rendered on`.
fn says_how(lower: &str) -> bool {
    const WAYS: [&str; 9] = ["with", "as", "in", "on", "over", "through", "via", "from", "instead"];
    const DONE: [&str; 12] = [
        "written", "built", "kept", "done", "sent", "run", "read", "held", "made", "given", "split", "chosen",
    ];
    let words: Vec<&str> =
        lower.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric())).collect();
    words.windows(3).any(|three| {
        ["is", "are"].contains(&three[0])
            && (three[1].ends_with("ed") || DONE.contains(&three[1]))
            && WAYS.contains(&three[2])
    })
}

/// Whether there are these words, and not only their letters.
fn holds(text: &str, words: &str) -> bool {
    let is_edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '-');
    text.match_indices(words).any(|(at, _)| {
        is_edge(text[..at].chars().next_back()) && is_edge(text[at + words.len()..].chars().next())
    })
}

/// `Decision: …`, `[decision] …`, `Decision | …`.
fn labelled(lower: &str, label: &str) -> bool {
    let text = lower.trim_start().trim_start_matches(['[', '(']);
    let rest = text.strip_prefix(label);
    rest.is_some_and(|rest| {
        rest.starts_with([':', ']', ')'])
            || rest.starts_with(" |")
            || rest.starts_with(" -")
            || rest.starts_with(" –")
    })
}

/// What to do when something happens.
fn is_runbook(lower: &str) -> bool {
    let begins =
        ["if ", "when ", "whenever ", "after ", "once "].iter().any(|start| lower.starts_with(start));
    let then = lower.split_once(", ").map(|(_, then)| then.trim_start_matches("then "));
    begins
        && then.is_some_and(|then| {
            ORDERS
                .iter()
                .any(|order| then.strip_prefix(order).is_some_and(|rest| rest.starts_with([' ', '.', ':'])))
        })
}

/// A link and nothing else to speak of.
fn is_link(text: &str) -> bool {
    let plain = text.trim_matches(['*', '_', '.', ' ']);
    let wiki = plain.starts_with("[[") && plain.ends_with("]]");
    let markdown = plain.starts_with('[') && plain.ends_with(')') && plain.matches("](").count() == 1;
    let bare = (plain.starts_with("http://") || plain.starts_with("https://")) && !plain.contains(' ');
    wiki || markdown || bare
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_heard_by_their_words() {
        for (text, kind) in [
            ("We use PostgreSQL for orders because we need row locks.", "decision"),
            ("**Decision:** sessions are signed cookies", "decision"),
            ("The web client is written in TypeScript.", "decision"),
            ("Messages are encoded with Protocol Buffers, not JSON.", "decision"),
            ("The solver is OR-Tools because it finds a plan in minutes.", "decision"),
            ("Background jobs go through Sidekiq, not cron.", "decision"),
            ("Always use pnpm, never npm", "preference"),
            ("Do not edit generated files.", "preference"),
            ("Functions should be shorter than 40 lines.", "preference"),
            ("The payment API allows at most 100 requests per minute.", "constraint"),
            ("Node 20 is required.", "constraint"),
            ("The CSV parser is a hack until we get the new feed.", "tech_debt"),
            ("If the queue is stuck, restart the worker.", "runbook"),
        ] {
            assert_eq!(heard(text), Heard::Kind(kind), "{text}");
        }
        for (text, why) in [
            ("@docs/rules.md", "includes another file"),
            ("Overview", "too short to mean something on its own"),
            ("[The architecture page](docs/architecture.md)", "a link"),
            ("These are the modules:", "introduces what follows"),
            ("src holds the code", "states no decision, rule or preference"),
        ] {
            assert_eq!(heard(text), Heard::Nothing(why), "{text}");
        }
    }
}

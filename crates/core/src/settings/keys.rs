//! The one table of settings: name, type, limits, default, who may set it, what it does.
//!
//! Comes in: nothing. Goes out: rows. `config list`, the reference page, validation and the typed struct all read
//! this table. A `*` stands for the name of a record category, below `agents` for the name of an agent.

/// What a setting holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Type {
    /// On or off. Any value that is not empty, zero, false or null is on.
    Switch,
    /// A whole number, cut off and clamped to these limits.
    Whole {
        /// The least value.
        min: i64,
        /// The greatest value.
        max: i64,
    },
    /// A finite number, clamped to 0 … 1.
    Share,
    /// Any text.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// The name of one folder: letters, digits, hyphens.
    Folder,
    /// A folder path.
    Path,
    /// One of the three model names, in any case.
    Model,
    /// The fields of a custom category.
    Fields,
    /// Rules that this table does not look into; the gate reads them.
    Rules,
    /// A short name in lower case: letters, digits, hyphens, underscores.
    Name,
    /// Such names, each once.
    Names,
    /// An address: https, or http to this machine.
    Address,
}

/// Settings by which memories go out of use, or elsewhere, by themselves. For one call only a person sets them: a flag of an agent's must not
/// retire what a person wrote.
pub const BY_THEMSELVES: [&str; 5] = [
    "categories.*.retention_days",
    "categories.*.max_retained",
    "delete.grace_period_days",
    "delete.archive_retired",
    "memory_root",
];

/// Who may decide a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// The nearest layer wins.
    Open,
    /// A project may only choose something stricter than the user did; words listed from loose to strict.
    Tighten(&'static [&'static str]),
    /// Only the user may decide it; for one call anybody may choose something stricter. Words listed from loose to strict.
    OwnTighten(&'static [&'static str]),
    /// What the user set counts before what the project set.
    UserFirst,
    /// Only the user may decide it; what a project's file says is ignored.
    UserOnly,
    /// The user decides, and for one call whoever makes it; what a project's file says is ignored.
    NotProject,
    /// A list: what every layer says counts together.
    Adds,
    /// A path from the project's file must stay inside the project.
    InsideProject,
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// The dotted name.
    pub name: &'static str,
    /// What it holds.
    pub ty: Type,
    /// The value without any layer, as JSON; empty if there is none.
    pub default: &'static str,
    /// Who may decide it.
    pub guard: Guard,
    /// What it does.
    pub help: &'static str,
}

const fn key(name: &'static str, ty: Type, default: &'static str, help: &'static str) -> Key {
    Key { name, ty, default, guard: Guard::Open, help }
}

const fn guarded(guard: Guard, row: Key) -> Key {
    Key { guard, ..row }
}

const DAYS: Type = Type::Whole { min: 0, max: 36_500 };
const COUNT: Type = Type::Whole { min: 0, max: 1_000_000 };

/// Gate profiles from loose to strict.
pub const PROFILES: &[&str] = &["seed", "standard"];
const fn profile(name: &'static str, help: &'static str) -> Key {
    guarded(Guard::Tighten(PROFILES), key(name, Type::Choice(PROFILES), "", help))
}

/// Keeping conversations, from loose to strict.
pub const CAPTURE: &[&str] = &["true", "false"];

/// What a secret in a turn leads to, from loose to strict.
pub const FAILING: &[&str] = &["false", "true"];

/// Trust from loose to strict.
pub const TRUST: &[&str] = &["high", "medium", "low"];
const fn trusted(name: &'static str, help: &'static str) -> Key {
    guarded(Guard::Tighten(TRUST), key(name, Type::Choice(TRUST), "", help))
}

/// Treatment of contact data from loose to strict.
pub const CONTACT: &[&str] = &["keep", "redact"];

/// Acting in the user's name, from loose to strict.
pub const ACTING: &[&str] = &["true", "false"];

/// How somebody at a terminal shows to be the person.
pub const CHECKS: &[&str] = &["off", "pin"];

/// External memory on or off, from loose to strict.
pub const EXTERNAL: &[&str] = &["true", "false"];
/// What happens after a write to an external repository, from loose to strict; `auto` is an old word for `auto_commit`.
pub const SYNC: &[&str] = &["auto_push", "auto", "auto_commit", "manual"];

const fn own(name: &'static str, ty: Type, default: &'static str, help: &'static str) -> Key {
    guarded(Guard::UserOnly, key(name, ty, default, help))
}

const fn asked(name: &'static str, ty: Type, default: &'static str, help: &'static str) -> Key {
    guarded(Guard::NotProject, key(name, ty, default, help))
}

/// All settings.
pub const KEYS: &[Key] = &[
    guarded(
        Guard::InsideProject,
        key(
            "memory_root",
            Type::Path,
            r#"".claude/memory""#,
            "folder of the shelves, from the project folder",
        ),
    ),
    key(
        "categories.*.enabled",
        Type::Switch,
        "true",
        "off: no capture, no new records, not recalled; files stay",
    ),
    key("categories.*.folder", Type::Folder, "", "folder of the category below the memory root"),
    key("categories.*.auto_capture", Type::Switch, "true", "off: triage skips it, explicit writes work"),
    key(
        "categories.*.retention_days",
        DAYS,
        "0",
        "`gc` retires what was not updated for this many days; 0 is never",
    ),
    key(
        "categories.*.max_retained",
        COUNT,
        "",
        "at most this many active ones; a new one retires the oldest",
    ),
    key("categories.*.description", Type::Text, "", "what the category is for; helps recall and triage"),
    key(
        "categories.*.fields",
        Type::Fields,
        "",
        "fields of a custom category: name, type (text, list), required",
    ),
    guarded(
        Guard::Tighten(ACTING),
        key(
            "auto_commit",
            Type::Switch,
            "false",
            "one git commit per change, of exactly the memory files it changed",
        ),
    ),
    key("max_memories_per_category", COUNT, "", "a create above it is refused; no key, no limit"),
    key("retrieval.enabled", Type::Switch, "true", "off: nothing is recalled at prompts"),
    key("retrieval.max_inject", Type::Whole { min: 0, max: 20 }, "5", "most memories recalled at a prompt"),
    key(
        "retrieval.match_strategy",
        Type::Choice(&["title_tags", "hybrid"]),
        r#""title_tags""#,
        "how recall ranks",
    ),
    key(
        "recall.max_tokens",
        Type::Whole { min: 100, max: 20_000 },
        "1200",
        "at most this many tokens go to an agent at a prompt, under hybrid",
    ),
    own(
        "embedding.url",
        Type::Address,
        "",
        "an OpenAI-compatible endpoint that makes vectors, its address without `/embeddings`; replaces the models on this machine",
    ),
    own("embedding.model", Type::Text, "", "the model to ask that endpoint for"),
    own("embedding.dimensions", Type::Whole { min: 1, max: 4_096 }, "", "the length of its vectors"),
    own("embedding.cut", Type::Switch, "false", "on: asks the endpoint to cut its vectors to that length"),
    own("embedding.key_env", Type::Text, "", "the environment variable that holds the key"),
    own("embedding.key_file", Type::Path, "", "the file that holds the key"),
    own(
        "embedding.timeout_ms",
        Type::Whole { min: 50, max: 600_000 },
        "10000",
        "how long a call that embeds memories may take",
    ),
    own(
        "embedding.prompt_timeout_ms",
        Type::Whole { min: 20, max: 60_000 },
        "800",
        "how long a prompt waits for its vector; after that only keywords count",
    ),
    own(
        "extraction.url",
        Type::Address,
        "",
        "an OpenAI-compatible endpoint that proposes facts, its address without `/chat/completions`; each fact waits for your yes",
    ),
    own("extraction.model", Type::Text, "", "the model to ask that endpoint for"),
    own("extraction.key_env", Type::Text, "", "the environment variable that holds the key"),
    own("extraction.key_file", Type::Path, "", "the file that holds the key"),
    own("extraction.timeout_ms", Type::Whole { min: 50, max: 600_000 }, "30000", "how long a call may take"),
    key("triage.enabled", Type::Switch, "true", "off: stops are never held up"),
    guarded(
        Guard::UserFirst,
        key(
            "triage.mode",
            Type::Choice(&["block", "suggest", "words"]),
            r#""block""#,
            "how a stop says what to save; `words` is `block` with nothing but the record format's own scoring",
        ),
    ),
    key("triage.max_messages", Type::Whole { min: 10, max: 200 }, "50", "messages looked at, from the end"),
    key("triage.thresholds.*", Type::Share, "", "score from which a category is worth saving"),
    key("triage.parallel.enabled", Type::Switch, "true", "draft categories side by side"),
    key("triage.parallel.category_models.*", Type::Model, "", "model that drafts a category"),
    key("triage.parallel.verification_model", Type::Model, r#""sonnet""#, "model that checks drafts"),
    key("triage.parallel.default_model", Type::Model, r#""haiku""#, "model for everything else"),
    key("delete.grace_period_days", DAYS, "30", "days between retiring and collecting"),
    key(
        "delete.archive_retired",
        Type::Switch,
        "false",
        "`gc` moves files to the archive instead of deleting them",
    ),
    own(
        "person.check",
        Type::Choice(CHECKS),
        r#""off""#,
        "`pin`: accepting, removing for good, guarded settings and tokens ask for the PIN of `heirloom config pin`",
    ),
    guarded(
        Guard::Tighten(PROFILES),
        key("gate.profile", Type::Choice(PROFILES), r#""standard""#, "which rules look for secrets"),
    ),
    guarded(
        Guard::Tighten(CONTACT),
        key("gate.contact", Type::Choice(CONTACT), r#""keep""#, "what happens to contact data"),
    ),
    profile("gate.profiles.records", "the profile of the record shelf alone"),
    profile("gate.profiles.topics", "the profile of the topic shelf alone"),
    profile("gate.profiles.notes", "the profile of the notes shelf alone"),
    profile("gate.profiles.vault", "the profile of the vault alone"),
    profile("gate.profiles.tiers", "the profile of the tiers alone"),
    guarded(
        Guard::Adds,
        key("gate.rules", Type::Rules, "", "rules of your own: id, pattern, class, level, keywords, entropy"),
    ),
    guarded(
        Guard::UserOnly,
        key(
            "gate.allow",
            Type::Rules,
            "",
            "what is known to be harmless: rule, value or pattern, and a reason",
        ),
    ),
    guarded(
        Guard::Tighten(EXTERNAL),
        key(
            "memory_configuration.external_memory_enabled",
            Type::Switch,
            "false",
            "on: lessons live at `memory_path` instead of in the project",
        ),
    ),
    guarded(
        Guard::UserOnly,
        key(
            "memory_configuration.memory_path",
            Type::Path,
            "",
            "folder of external memory, or the address of a git repository",
        ),
    ),
    guarded(
        Guard::UserOnly,
        key(
            "memory_configuration.memory_type",
            Type::Choice(&["local_dir", "git_repo"]),
            r#""local_dir""#,
            "what is at `memory_path`",
        ),
    ),
    guarded(
        Guard::Tighten(SYNC),
        key(
            "memory_configuration.sync_strategy",
            Type::Choice(SYNC),
            r#""manual""#,
            "what happens in an external git repository after a write",
        ),
    ),
    key(
        "memory_configuration.git_timeout_seconds",
        Type::Whole { min: 1, max: 600 },
        "10",
        "how long one git call may take for external memory; a write continues without it",
    ),
    guarded(
        Guard::Tighten(CAPTURE),
        key(
            "notes.capture",
            Type::Switch,
            "false",
            "on: a stop keeps the assistant's longer messages as notes",
        ),
    ),
    key(
        "notes.max_per_capture",
        Type::Whole { min: 1, max: 1_000 },
        "20",
        "a stop keeps at most this many notes, the newest",
    ),
    key(
        "notes.max_chars",
        Type::Whole { min: 10, max: 1_000_000 },
        "100000",
        "messages longer than this are not captured",
    ),
    key("notes.max_keywords", Type::Whole { min: 1, max: 20 }, "5", "most keywords derived from a message"),
    key(
        "vault.enabled",
        Type::Switch,
        "true",
        "off: nothing is added to the vault or shown from it; the file stays",
    ),
    key(
        "vault.scopes",
        Type::Names,
        r#"["shared"]"#,
        "scopes besides those of the agents; shown to everybody who is not an agent",
    ),
    key("vault.max_items", Type::Whole { min: 0, max: 1000 }, "20", "most vault memories in a block"),
    key(
        "vault.similarity_threshold",
        Type::Share,
        "0.7",
        "a new text that is this similar to a stored one is a duplicate",
    ),
    key("vault.capacity", COUNT, "100", "active vault memories above which nothing new is taken"),
    guarded(
        Guard::UserOnly,
        key("agents.*.scope", Type::Name, "", "the vault scope of the agent of that name, its own"),
    ),
    guarded(
        Guard::Tighten(CAPTURE),
        key(
            "tiers.capture",
            Type::Switch,
            "false",
            "on: a stop keeps the turns of the conversation as episodes",
        ),
    ),
    guarded(
        Guard::OwnTighten(CAPTURE),
        key(
            "tiers.capture_tools",
            Type::Switch,
            "false",
            "on: where turns are captured, what tools returned is kept too, with the trust of files or of the web",
        ),
    ),
    guarded(
        Guard::OwnTighten(FAILING),
        key(
            "tiers.fail_on_secret",
            Type::Switch,
            "false",
            "on: a turn with a secret is refused instead of stored without the secret",
        ),
    ),
    guarded(
        Guard::OwnTighten(CAPTURE),
        key(
            "tiers.audit_queries",
            Type::Switch,
            "false",
            "on: the audit keeps the words that memories were removed by, not only their hash",
        ),
    ),
    own("tiers.episode_days", Type::Whole { min: 1, max: 365 }, "90", "days after which an episode expires"),
    asked("tiers.max_episodes", Type::Whole { min: 0, max: 1_000 }, "10", "most episodes recalled at once"),
    asked("tiers.max_facts", Type::Whole { min: 0, max: 1_000 }, "20", "most facts recalled at once"),
    asked(
        "tiers.max_tokens",
        Type::Whole { min: 0, max: 1_000_000 },
        "4000",
        "at most this many tokens are recalled at once, four characters each",
    ),
    asked("tiers.recency_weight", Type::Share, "0.3", "how much of an episode's score depends on its age"),
    own(
        "tiers.working_messages",
        Type::Whole { min: 1, max: 10_000 },
        "50",
        "at most this many messages of a running conversation are kept",
    ),
    own(
        "tiers.working_tokens",
        Type::Whole { min: 1, max: 1_000_000 },
        "8000",
        "at most this many tokens of a running conversation are kept",
    ),
    own(
        "tiers.working_minutes",
        Type::Whole { min: 1, max: 10_080 },
        "240",
        "minutes after which a silent conversation is dropped",
    ),
    own("tiers.audit_days", DAYS, "0", "days to keep the audit of turns and facts; 0 keeps it forever"),
    trusted("tiers.trust.owner_message", "trust of the owner's own messages, instead of high"),
    trusted("tiers.trust.other_message", "trust of other users' messages, instead of medium"),
    trusted("tiers.trust.tool_read", "trust of files and command output, instead of medium"),
    trusted("tiers.trust.web", "trust of web content, instead of low"),
    trusted("tiers.trust.agent", "trust of an agent's own words, instead of low"),
];

impl Key {
    /// Whether this row describes that dotted name, and for which category or agent.
    pub fn matches<'a>(&self, name: &'a str) -> Option<Option<&'a str>> {
        match self.name.split_once('*') {
            None => (self.name == name).then_some(None),
            Some((before, after)) => {
                let middle = name.strip_prefix(before)?.strip_suffix(after)?;
                (!middle.is_empty() && !middle.contains('.')).then_some(Some(middle))
            }
        }
    }

    /// Whether the `*` stands for an agent.
    pub fn is_per_agent(&self) -> bool {
        self.name.starts_with("agents.*.")
    }

    /// The row for a dotted name.
    pub fn find(name: &str) -> Option<&'static Key> {
        KEYS.iter().find(|key| key.matches(name).is_some())
    }
}

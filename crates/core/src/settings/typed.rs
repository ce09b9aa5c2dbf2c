//! The typed settings: what the rest of Heirloom reads.
//!
//! Comes in: resolved values by name. Goes out: [`Settings`]. Never here: layers or JSON documents.

use super::category::{Category, CustomField};
use super::endpoint::{Embedding, Endpoint};
use super::external::External;
use super::layers::{Origin, Warning};
use super::notes::Notes;
use super::tiers::Tiers;
use super::vault::Vault;
use crate::kind::{Kind, ShelfName};
use serde_json::Value;
use std::collections::BTreeMap;

/// All settings, ready to use.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Folder of the shelves, from the project folder.
    pub memory_root: String,
    /// The record categories, built-in ones first.
    pub categories: Vec<Category>,
    /// One git commit per change.
    pub auto_commit: bool,
    /// A create above it is refused.
    pub max_memories_per_category: Option<u32>,
    /// What happens at a prompt.
    pub retrieval: Retrieval,
    /// What happens at a stop.
    pub triage: Triage,
    /// What happens to retired memories.
    pub delete: Delete,
    /// How somebody at a terminal shows to be the person.
    pub person_check: PersonCheck,
    /// How the gate looks at text.
    pub gate: Gate,
    /// Whether lessons live outside the project.
    pub memory_configuration: External,
    /// How assistant messages become notes.
    pub notes: Notes,
    /// What the vault holds and shows.
    pub vault: Vault,
    /// What each user said and what is known about them.
    pub tiers: Tiers,
    /// An endpoint that makes vectors, if the user named one.
    pub embedding: Option<Embedding>,
    /// An endpoint that proposes facts, if the user named one.
    pub extraction: Option<Endpoint>,
}

/// What happens at a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retrieval {
    /// Off: nothing is recalled.
    pub enabled: bool,
    /// Most memories recalled.
    pub max_inject: usize,
    /// How they are ranked.
    pub match_strategy: MatchStrategy,
    /// Most tokens given at a prompt, under `hybrid`.
    pub max_tokens: usize,
}

/// How recall ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchStrategy {
    /// Words of the prompt against titles and tags.
    TitleTags,
    /// One ranking over every shelf, by words, meaning and context.
    Hybrid,
}

/// What happens at a stop.
#[derive(Debug, Clone, PartialEq)]
pub struct Triage {
    /// Off: stops are never held up.
    pub enabled: bool,
    /// How a stop says what to save.
    pub mode: TriageMode,
    /// Messages looked at, from the end.
    pub max_messages: usize,
    /// Score from which a category is worth saving, by category name.
    pub thresholds: BTreeMap<String, f64>,
    /// Who drafts and checks.
    pub parallel: Parallel,
}

/// How a stop says what to save.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriageMode {
    /// The stop is held up until it is saved.
    Block,
    /// The host is told, and stops.
    Suggest,
    /// The stop is held up, and only by the record format's own scoring.
    Words,
}

/// Who drafts and checks memories after a stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parallel {
    /// Categories are drafted side by side.
    pub enabled: bool,
    /// Model by category name.
    pub category_models: BTreeMap<String, String>,
    /// Model that checks drafts.
    pub verification_model: String,
    /// Model for everything else.
    pub default_model: String,
}

/// What happens to retired memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delete {
    /// Days between retiring and collecting.
    pub grace_period_days: u32,
    /// Collecting moves files to the archive instead of deleting them.
    pub archive_retired: bool,
}

/// How somebody at a terminal shows to be the person, before what weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PersonCheck {
    /// The terminal is enough.
    Off,
    /// By a PIN.
    Pin,
}

/// How the gate looks at text.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// Which rules look for secrets, by shelf.
    pub profiles: [Profile; 5],
    /// What happens to contact data.
    pub contact: Contact,
    /// Rules of the user's and the project's own, as written.
    pub rules: Vec<Value>,
    /// What is known to be harmless, as written.
    pub allow: Vec<Value>,
}

impl Gate {
    /// The profile of a shelf.
    pub fn profile(&self, shelf: ShelfName) -> Profile {
        self.profiles[shelf as usize]
    }
}

/// Which rules look for secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// The measured rules.
    Standard,
    /// Exactly the pattern lists the shelf formats came with.
    Seed,
}

/// What happens to contact data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contact {
    /// Kept and reported.
    Keep,
    /// Cut out.
    Redact,
}

/// The setting whose bad values must not fall back to the default.
const MEMORY_TYPE: &str = "memory_configuration.memory_type";

pub(super) type Values = BTreeMap<String, (Value, Origin)>;

impl Settings {
    /// The settings nobody touched.
    pub fn standard() -> Settings {
        super::layers::load(&[]).settings
    }

    /// The category of that name.
    pub fn category(&self, name: &str) -> Option<&Category> {
        self.categories.iter().find(|category| category.name() == name)
    }

    /// The category that owns a folder.
    pub fn category_of_folder(&self, folder: &str) -> Option<&Category> {
        self.categories.iter().find(|category| category.folder == folder)
    }

    pub(super) fn from_values(names: &[String], values: &Values, warnings: &mut Vec<Warning>) -> Settings {
        let v = Reader(values);
        let mut categories: Vec<Category> = Vec::with_capacity(names.len());
        let mut owners: BTreeMap<String, usize> = BTreeMap::new();
        for name in names {
            let category = v.category(name);
            if let Some(taken) = owners.get(&category.folder).map(|at| &categories[*at]) {
                warnings.push(Warning {
                    name: format!("categories.{name}.folder"),
                    origin: v.origin(&format!("categories.{name}.folder")),
                    message: format!(
                        "`{}` belongs to {}; the category is ignored",
                        category.folder,
                        taken.name()
                    ),
                });
                continue;
            }
            owners.insert(category.folder.clone(), categories.len());
            categories.push(category);
        }
        let mut external = External::new(
            v.on("memory_configuration.external_memory_enabled"),
            v.text("memory_configuration.memory_path"),
            &v.text(MEMORY_TYPE),
            &v.text("memory_configuration.sync_strategy"),
            v.count("memory_configuration.git_timeout_seconds").unwrap_or_default(),
        );
        // A word that could not be read is not the same as none: the default would put lessons where nobody asked for them.
        external.type_unknown = warnings.iter().any(|warning| {
            warning.name == MEMORY_TYPE
                && warning.origin != Origin::Project
                && warning.origin < v.origin(MEMORY_TYPE)
        });
        let by_category = |group: &'static str| {
            names.iter().filter_map(move |name| {
                Some((name.clone(), values.get(&[group, ".", name.as_str()].concat())?.0.clone()))
            })
        };
        Settings {
            memory_root: v.text("memory_root"),
            auto_commit: v.on("auto_commit"),
            max_memories_per_category: v.count("max_memories_per_category"),
            retrieval: Retrieval {
                enabled: v.on("retrieval.enabled"),
                max_inject: v.count("retrieval.max_inject").unwrap_or_default() as usize,
                match_strategy: match v.text("retrieval.match_strategy").as_str() {
                    "hybrid" => MatchStrategy::Hybrid,
                    _ => MatchStrategy::TitleTags,
                },
                max_tokens: v.count("recall.max_tokens").unwrap_or_default() as usize,
            },
            triage: Triage {
                enabled: v.on("triage.enabled"),
                mode: match v.text("triage.mode").as_str() {
                    "suggest" => TriageMode::Suggest,
                    "words" => TriageMode::Words,
                    _ => TriageMode::Block,
                },
                max_messages: v.count("triage.max_messages").unwrap_or_default() as usize,
                thresholds: by_category("triage.thresholds")
                    .filter_map(|(name, value)| Some((name, value.as_f64()?)))
                    .collect(),
                parallel: Parallel {
                    enabled: v.on("triage.parallel.enabled"),
                    category_models: by_category("triage.parallel.category_models")
                        .filter_map(|(name, value)| Some((name, value.as_str()?.to_owned())))
                        .collect(),
                    verification_model: v.text("triage.parallel.verification_model"),
                    default_model: v.text("triage.parallel.default_model"),
                },
            },
            delete: Delete {
                grace_period_days: v.count("delete.grace_period_days").unwrap_or_default(),
                archive_retired: v.on("delete.archive_retired"),
            },
            person_check: match v.text("person.check").as_str() {
                "pin" => PersonCheck::Pin,
                _ => PersonCheck::Off,
            },
            gate: Gate {
                profiles: ShelfName::ALL.map(|shelf| v.profile(shelf)),
                contact: if v.text("gate.contact") == "redact" { Contact::Redact } else { Contact::Keep },
                rules: v.list("gate.rules"),
                allow: v.list("gate.allow"),
            },
            memory_configuration: external,
            notes: Notes::from_values(&v),
            vault: Vault::from_values(values),
            tiers: Tiers::from_values(&v),
            embedding: Embedding::from_values(&v, warnings),
            extraction: Endpoint::from_values(&v, "extraction", warnings),
            categories,
        }
    }
}

/// Reads resolved values; the table guarantees their types.
pub(super) struct Reader<'a>(&'a Values);

impl Reader<'_> {
    fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).map(|(value, _)| value)
    }

    fn origin(&self, name: &str) -> Origin {
        self.0.get(name).map_or(Origin::Default, |(_, origin)| *origin)
    }

    pub(super) fn on(&self, name: &str) -> bool {
        self.get(name).and_then(Value::as_bool).unwrap_or_default()
    }

    pub(super) fn share(&self, name: &str) -> f64 {
        self.get(name).and_then(Value::as_f64).unwrap_or_default()
    }

    pub(super) fn text(&self, name: &str) -> String {
        self.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    pub(super) fn count(&self, name: &str) -> Option<u32> {
        self.get(name).and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok())
    }

    fn list(&self, name: &str) -> Vec<Value> {
        self.get(name).and_then(Value::as_array).cloned().unwrap_or_default()
    }

    fn profile(&self, shelf: ShelfName) -> Profile {
        let own = self.text(&format!("gate.profiles.{}", shelf.name()));
        let word = if own.is_empty() { self.text("gate.profile") } else { own };
        if word == "seed" { Profile::Seed } else { Profile::Standard }
    }

    fn category(&self, name: &str) -> Category {
        let at = |part: &str| ["categories.", name, ".", part].concat();
        Category {
            kind: Kind::named(name),
            folder: self.text(&at("folder")),
            enabled: self.on(&at("enabled")),
            auto_capture: self.on(&at("auto_capture")),
            retention_days: self.count(&at("retention_days")).unwrap_or_default(),
            max_retained: self.count(&at("max_retained")).filter(|n| *n > 0),
            description: self.get(&at("description")).and_then(Value::as_str).map(str::to_owned),
            custom_fields: self.get(&at("fields")).map(custom_fields).unwrap_or_default(),
        }
    }
}

fn custom_fields(value: &Value) -> Vec<CustomField> {
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    items
        .iter()
        .filter_map(|item| {
            Some(CustomField {
                name: item.get("name")?.as_str()?.to_owned(),
                list: item.get("type")?.as_str()? == "list",
                required: item.get("required")?.as_bool()?,
            })
        })
        .collect()
}

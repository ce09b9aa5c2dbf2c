//! Conditions on labelled items: labels, metadata, times, words, put together with all, any and none.
//!
//! Comes in: a condition that a door made of what its clients send. Goes out: whether an item meets it, and where items that meet it are listed.
//! Never here: reading a condition; another program's way to write one is a door's.

use super::filter::{order, same};
use super::labelled::Labelled;
use crate::shelf::tiers::{LABELS, labelled, of_user};
use heirloom_core::time;
use serde_json::{Value, json};
use std::cmp::Ordering;

/// A condition.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// Every one of these.
    All(Vec<Condition>),
    /// At least one of these.
    Any(Vec<Condition>),
    /// None of these.
    None(Vec<Condition>),
    /// What a field is: a label, `id`, `text`, `created_at`, `updated_at`, `role`, or a name in the metadata.
    Field(String, Compare, Value),
}

/// How a field is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is named after the comparison it is")]
pub enum Compare {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    In,
    NotIn,
    Contains,
    ContainsAnyCase,
    /// There is one, whatever it says.
    Exists,
}

impl Condition {
    /// What carries exactly these labels, among others.
    pub fn labels<'a>(labels: impl IntoIterator<Item = (&'a String, &'a String)>) -> Condition {
        Condition::All(
            labels
                .into_iter()
                .map(|(name, value)| Condition::Field(name.clone(), Compare::Equal, json!(value)))
                .collect(),
        )
    }

    /// Whether it says anything of a label.
    pub fn names_a_label(&self) -> bool {
        match self {
            Condition::All(all) | Condition::Any(all) | Condition::None(all) => {
                all.iter().any(Condition::names_a_label)
            }
            Condition::Field(name, ..) => LABELS.contains(&name.as_str()),
        }
    }

    /// Whether an item meets it.
    pub(super) fn is_met_by(&self, item: &Labelled) -> bool {
        match self {
            Condition::All(all) => all.iter().all(|one| one.is_met_by(item)),
            Condition::Any(all) => all.iter().any(|one| one.is_met_by(item)),
            Condition::None(all) => !all.iter().any(|one| one.is_met_by(item)),
            Condition::Field(name, compare, wanted) => compares(&value_of(item, name), *compare, wanted),
        }
    }

    /// Where everything that meets it is listed.
    pub(super) fn listed(&self) -> String {
        self.user().map_or_else(labelled, |user| of_user(&user))
    }

    /// The `user_id` that everything that meets it has.
    fn user(&self) -> Option<String> {
        match self {
            Condition::All(all) => all.iter().find_map(Condition::user),
            Condition::Field(name, Compare::Equal, Value::String(user)) if name == LABELS[0] => {
                Some(user.clone())
            }
            _ => None,
        }
    }
}

fn value_of(item: &Labelled, name: &str) -> Value {
    match name {
        "id" => json!(item.id),
        "text" => json!(item.text),
        "role" => json!(item.role),
        "created_at" => json!(item.created_at),
        "updated_at" => json!(item.updated_at),
        name if LABELS.contains(&name) => item.labels.get(name).map_or(Value::Null, |value| json!(value)),
        name => item.metadata.as_ref().and_then(|all| all.get(name)).cloned().unwrap_or_default(),
    }
}

fn compares(value: &Value, compare: Compare, wanted: &Value) -> bool {
    let ordered = |fits: fn(Ordering) -> bool| times(value, wanted).is_some_and(fits);
    let among = || wanted.as_array().is_some_and(|all| all.iter().any(|one| equals(value, one)));
    match compare {
        Compare::Equal => equals(value, wanted),
        Compare::NotEqual => !equals(value, wanted),
        Compare::Greater => ordered(Ordering::is_gt),
        Compare::GreaterOrEqual => ordered(Ordering::is_ge),
        Compare::Less => ordered(Ordering::is_lt),
        Compare::LessOrEqual => ordered(Ordering::is_le),
        Compare::In => among(),
        Compare::NotIn => !among(),
        Compare::Contains => holds(value, wanted, str::to_owned),
        Compare::ContainsAnyCase => holds(value, wanted, str::to_lowercase),
        Compare::Exists => !value.is_null(),
    }
}

/// Whether a field is what is wanted; a list is if one of its items is.
fn equals(value: &Value, wanted: &Value) -> bool {
    same(value, wanted)
        || value
            .as_array()
            .is_some_and(|items| !wanted.is_array() && items.iter().any(|item| same(item, wanted)))
}

fn holds(value: &Value, wanted: &Value, folded: fn(&str) -> String) -> bool {
    let Some(wanted) = wanted.as_str().map(folded) else { return equals(value, wanted) };
    match value {
        Value::String(text) => folded(text).contains(&wanted),
        Value::Array(items) => items.iter().filter_map(Value::as_str).any(|item| folded(item) == wanted),
        _ => false,
    }
}

/// Moments compare as moments, also where only a day is given; everything else as filters compare it.
fn times(value: &Value, wanted: &Value) -> Option<Ordering> {
    let moment = |value: &Value| {
        let text = value.as_str()?;
        text.parse::<jiff::Timestamp>()
            .ok()
            .or_else(|| time::parse(text))
            .or_else(|| time::parse(&format!("{text}T00:00:00Z")))
    };
    match (moment(value), moment(wanted)) {
        (Some(value), Some(wanted)) => Some(value.cmp(&wanted)),
        _ => order(value, wanted),
    }
}

//! mem0's HTTP APIs, so that programs written for it change a base URL and nothing else.
//!
//! Comes in: a call and what a client sent. Goes out: JSON in the shapes its published clients read. Two tables of paths, the hosted API's and that of
//! the open-source server, stand over the same functions (`deeds.rs`), and those over the verbs of labelled items. `user_id` and its siblings
//! are labels inside the token's user. Never here: who asks, bytes, errors as JSON (`http/`); a rule about memories.

mod deeds;
mod filters;
mod hosted;
mod open_source;
mod shapes;

use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::Call;
use serde_json::{Map, Value};

/// Where all of it stands.
pub(crate) const BASE: &str = "/mem0";

/// A path, with and without a slash at its end.
pub(crate) struct Route {
    pub(crate) method: &'static str,
    /// Without the slash at its end.
    pub(crate) path: &'static str,
    pub(crate) run: fn(&Call, &Asked) -> Result<Value>,
}

/// Every path there is.
pub(crate) fn routes() -> impl Iterator<Item = &'static Route> {
    hosted::ROUTES.iter().chain(open_source::ROUTES)
}

/// What a client sent.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    pub(crate) path: Vec<(String, String)>,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) body: Map<String, Value>,
}

impl Asked {
    /// A part of the path.
    fn part(&self, name: &str) -> &str {
        self.path.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    fn of_query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// A field of the body; one that is null was not sent.
    fn field(&self, name: &str) -> Option<&Value> {
        self.body.get(name).filter(|value| !value.is_null())
    }

    /// A whole number of the body or the query.
    fn count(&self, names: &[&str], usual: usize, most: usize) -> Result<usize> {
        for name in names {
            let given = match (self.field(name), self.of_query(name)) {
                (Some(value), _) => value.as_u64(),
                (None, Some(text)) => text.parse().ok(),
                (None, None) => continue,
            };
            let number = given.and_then(|number| usize::try_from(number).ok());
            return number.filter(|number| (1..=most).contains(number)).ok_or_else(|| {
                wrong(name, format!("`{name}` must be a whole number from 1 to {most}"), "send such a number")
            });
        }
        Ok(usual)
    }
}

/// A field that cannot be used.
fn wrong(field: &str, message: impl Into<String>, hint: &str) -> Fault {
    Fault::new(Code::Validation, message).fact("field", field.to_owned()).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_path_is_there_twice_and_none_ends_with_a_slash() {
        let mut seen = HashSet::new();
        for route in routes() {
            assert!(route.path.starts_with(BASE) && !route.path.ends_with('/'), "{}", route.path);
            assert!(seen.insert((route.method, route.path)), "{} {}", route.method, route.path);
        }
    }
}

//! The vault's settings, and the scopes the agents have in it.
//!
//! Comes in: resolved values by name. Goes out: [`Vault`]. Never here: an agent that only a project named; who an agent is
//! and what it sees is the user's to say.

use super::typed::Values;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The scope every agent sees.
pub const SHARED: &str = "shared";

/// What the vault holds and shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Vault {
    /// Off: nothing new, nothing shown.
    pub enabled: bool,
    /// The scopes besides those of the agents; always with `shared`.
    pub scopes: Vec<String>,
    /// Most memories in a block.
    pub max_items: usize,
    /// From which ratio a new text is a duplicate.
    pub similarity_threshold: f64,
    /// Active memories above which nothing new is taken.
    pub capacity: usize,
    /// The scope of each agent the user named.
    pub agents: BTreeMap<String, String>,
}

impl Vault {
    pub(super) fn from_values(values: &Values) -> Vault {
        let get = |name: &str| values.get(name).map(|(value, _)| value);
        let count = |name: &str| get(name).and_then(Value::as_u64).unwrap_or_default() as usize;
        let mut scopes = vec![SHARED.to_owned()];
        // The table has each name once.
        let named = get("vault.scopes").and_then(Value::as_array).into_iter().flatten();
        let named = named.filter_map(Value::as_str).filter(|name| *name != SHARED);
        scopes.extend(named.map(str::to_owned));
        let agents = values
            .iter()
            .filter_map(|(name, (value, _))| {
                let agent = name.strip_prefix("agents.")?.strip_suffix(".scope")?;
                Some((agent.to_owned(), value.as_str()?.to_owned()))
            })
            .collect();
        Vault {
            enabled: get("vault.enabled").and_then(Value::as_bool).unwrap_or_default(),
            scopes,
            max_items: count("vault.max_items"),
            similarity_threshold: get("vault.similarity_threshold").and_then(Value::as_f64).unwrap_or(1.0),
            capacity: count("vault.capacity"),
            agents,
        }
    }

    /// Every scope something may be stored under.
    pub fn all_scopes(&self) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        let all = self.scopes.iter().chain(self.agents.values()).map(String::as_str);
        all.filter(|scope| seen.insert(*scope)).collect()
    }

    /// What a reader sees: an agent the user named sees `shared` and its own scope, nobody else's; who is no agent sees the
    /// configured scopes; an agent nobody named sees what is shared.
    pub fn visible(&self, agent: Option<&str>) -> Vec<&str> {
        match agent {
            None => self.scopes.iter().map(String::as_str).collect(),
            Some(name) => {
                let own = self.agents.get(name).map(String::as_str).filter(|scope| *scope != SHARED);
                [SHARED].into_iter().chain(own).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::settings::{Layer, Origin, load};
    use serde_json::json;

    #[test]
    fn an_agent_sees_what_is_shared_and_its_own() {
        let user = json!({ "agents": { "orion": { "scope": "orion" }, "vega": { "scope": "Night" } } });
        let project = json!({ "agents": { "spy": { "scope": "orion" } }, "vault": { "scopes": ["team"] } });
        let layers = [
            Layer { origin: Origin::Project, document: project },
            Layer { origin: Origin::User, document: user },
        ];
        let vault = load(&layers).settings.vault;
        assert_eq!(vault.all_scopes(), ["shared", "team", "orion", "night"]);
        assert_eq!(vault.visible(Some("orion")), ["shared", "orion"]);
        assert_eq!(vault.visible(Some("vega")), ["shared", "night"]);
        assert_eq!(vault.visible(Some("spy")), ["shared"], "a project cannot name an agent");
        assert_eq!(vault.visible(None), ["shared", "team"]);
    }

    #[test]
    fn the_defaults_are_those_of_the_profile() {
        let vault = load(&[]).settings.vault;
        assert!(vault.enabled && vault.agents.is_empty());
        assert_eq!((vault.max_items, vault.capacity, vault.similarity_threshold), (20, 100, 0.7));
        assert_eq!(vault.scopes, ["shared"]);
    }

    #[test]
    fn a_scope_that_is_no_name_costs_only_itself() {
        let user =
            json!({ "vault": { "scopes": ["a/b"], "capacity": 7 }, "agents": { "x y": { "scope": "z" } } });
        let loaded = load(&[Layer { origin: Origin::User, document: user }]);
        assert_eq!(loaded.settings.vault.capacity, 7);
        assert_eq!(loaded.settings.vault.scopes, ["shared"]);
        assert!(loaded.settings.vault.agents.is_empty());
        assert!(loaded.warnings.iter().any(|w| w.name == "vault.scopes"));
    }
}

//! Who looks: which of the vault's scopes somebody is shown.
//!
//! Comes in: the scopes of a reader, or nothing for a person, who sees all. Goes out: yes or no for a memory. Never here: finding out
//! who somebody is; the door does that.

use crate::{Kind, Memory, Scope, ShelfName};

/// Who looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audience {
    scopes: Option<Vec<String>>,
}

impl Audience {
    /// A person: everything.
    pub fn person() -> Audience {
        Audience { scopes: None }
    }

    /// A process or an agent: these scopes of the vault, and every other shelf.
    pub fn of(scopes: Vec<String>) -> Audience {
        Audience { scopes: Some(scopes) }
    }

    /// The scopes, if they are limited.
    pub fn scopes(&self) -> Option<&[String]> {
        self.scopes.as_deref()
    }

    /// Whether they are shown a memory.
    pub fn sees(&self, memory: &Memory) -> bool {
        self.sees_in(&memory.kind, &memory.scope)
    }

    /// Whether they are shown a memory of this kind and scope.
    pub fn sees_in(&self, kind: &Kind, scope: &Scope) -> bool {
        match (&self.scopes, scope) {
            (Some(scopes), Scope::Agent(name)) if kind.shelf() == ShelfName::Vault => scopes.contains(name),
            _ => true,
        }
    }
}

//! What belongs to whole users beside their memories: the account, hashes of tokens, the audit, what waits.
//!
//! Comes in: a user of the deployment, for whoever looks after users; or lines of an archive that somebody vouches for. Goes out: lines; or the same in
//! another store. What is there already is left alone: an account, a token of that name, a chain that has begun. Never here: a token itself, or
//! any of it in an archive of one's own memories.

use super::import::Brought;
use crate::gate::inbox::Waiting;
use crate::shelf::tiers::event::Line;
use crate::shelf::tiers::{Account, Tiers, Token};
use heirloom_core::fault::Result;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Lines read at a time.
const PAGE: usize = 1_000;

impl Tiers<'_> {
    /// Hands out everything beside the memories of this user, line by line.
    pub(super) fn beside_memories(&self, give: &mut dyn FnMut(&Value) -> Result<()>) -> Result<()> {
        let user = self.who().user();
        for account in self.store().accounts(self.who())?.iter().filter(|account| account.user == user) {
            give(&json!({ "account": account }))?;
        }
        for token in self.store().tokens(self.who(), Some(user))? {
            give(&json!({ "token": token }))?;
        }
        let mut after = 0;
        loop {
            let lines = self.store().audit(self.who(), after, PAGE)?;
            for line in &lines {
                after = line.seq;
                give(&json!({ "line": line }))?;
            }
            if lines.len() < PAGE {
                break;
            }
        }
        for item in self.inbox().list(self.now())? {
            give(&json!({ "draft": item.waiting, "user": user }))?;
        }
        Ok(())
    }

    /// Puts in what an archive holds beside memories.
    pub(super) fn bring_beside(&self, values: &[Value], brought: &mut Brought) -> Result<()> {
        let read = |value: &Value, name: &str| value.get(name).cloned();
        let mut chains: BTreeMap<String, Vec<Line>> = BTreeMap::new();
        for value in values {
            if let Some(Ok(account)) = read(value, "account").map(serde_json::from_value::<Account>) {
                let known = self.store().accounts(self.who())?.iter().any(|known| known.user == account.user);
                if !known {
                    self.store().put_account(self.who(), &account)?;
                    *brought.beside.entry("accounts").or_default() += 1;
                }
            } else if let Some(Ok(token)) = read(value, "token").map(serde_json::from_value::<Token>) {
                let known = self.store().tokens(self.who(), Some(&token.user))?;
                if !known.iter().any(|known| known.name == token.name || known.hash == token.hash) {
                    self.store().put_token(self.who(), &token)?;
                    *brought.beside.entry("tokens").or_default() += 1;
                }
            } else if let Some(Ok(line)) = read(value, "line").map(serde_json::from_value::<Line>) {
                chains.entry(line.user.clone()).or_default().push(line);
            } else if let (Some(Ok(draft)), Some(user)) =
                (read(value, "draft").map(serde_json::from_value::<Waiting>), value["user"].as_str())
            {
                let access = self.access.of(self.who().on_behalf(user)?);
                Tiers::new(self.call, &access).inbox().put(draft, self.now())?;
                *brought.beside.entry("drafts").or_default() += 1;
            }
        }
        for (user, lines) in chains {
            let access = self.access.of(self.who().on_behalf(&user)?);
            let tiers = Tiers::new(self.call, &access);
            if tiers.store().continue_chain(tiers.who(), &lines)? {
                *brought.beside.entry("audit_lines").or_default() += lines.len() as u64;
                if let Some(last) = lines.last() {
                    tiers.seal(&last.head())?;
                }
            }
        }
        Ok(())
    }
}

//! Writing an archive.
//!
//! Comes in: a user's memories, page by page, or those of every user of a deployment. Goes out: lines. Never more than a chunk in memory.

use super::{CHUNK, NAME, VERSION, sealed_text};
use crate::shelf::tiers::event::{Action, Metadata};
use crate::shelf::tiers::store::Wanted;
use crate::shelf::tiers::{Stored, Tiers};
use heirloom_core::{Code, Fault, fault::Result, hash, time};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;

/// What was exported.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Carried {
    /// Memories.
    pub memories: u64,
    /// Chunks.
    pub chunks: u64,
    /// Memories by user.
    pub users: BTreeMap<String, u64>,
}

/// Whose memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose<'u> {
    /// The caller's.
    Own,
    /// Everybody's, with what belongs to each user beside them.
    Everybody,
    /// One user's, with what belongs to that user beside them.
    User(&'u str),
}

struct Pen<'w> {
    out: &'w mut dyn Write,
    /// Hash of everything up to the last chunk.
    before: String,
    /// Lines since then.
    open: Vec<u8>,
    in_chunk: u64,
    carried: Carried,
}

impl Pen<'_> {
    fn line(&mut self, value: &Value) -> Result<()> {
        let mut text = value.to_string();
        text.push('\n');
        self.open.extend_from_slice(text.as_bytes());
        self.out.write_all(text.as_bytes()).map_err(cannot)
    }

    fn close_chunk(&mut self, tiers: &Tiers<'_>) -> Result<()> {
        let sha256 = hash::sha256(&[self.before.as_bytes(), self.open.as_slice()].concat());
        self.carried.chunks += 1;
        let n = self.carried.chunks;
        let nonce = &tiers.call.project().world().nonce;
        let seal = tiers.access.seals.sign(&sealed_text(n, &sha256), nonce)?;
        let line = json!({ "chunk": n, "count": self.in_chunk, "sha256": sha256, "seal": seal });
        writeln!(self.out, "{line}").map_err(cannot)?;
        self.before = sha256;
        self.open.clear();
        self.in_chunk = 0;
        Ok(())
    }
}

impl Tiers<'_> {
    /// Writes an archive of this user, or of others if whoever looks after users asks. `progress` is told the count now and then.
    pub fn export(
        &self,
        whose: Whose<'_>,
        out: &mut dyn Write,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Carried> {
        if whose != Whose::Own {
            self.call.permit(heirloom_core::Verb::AllUsers, heirloom_core::ShelfName::Tiers, "")?;
            self.who().manages()?;
        }
        let contexts = match whose {
            Whose::Own => vec![self.who().clone()],
            Whose::Everybody => self.everybody()?,
            Whose::User(user) => {
                if !self.store().users(self.who())?.iter().any(|known| known == user) {
                    return Err(Fault::new(Code::NotFound, format!("there is no user `{user}`"))
                        .hint("`heirloom user list` shows all users"));
                }
                vec![self.who().on_behalf(user)?]
            }
        };
        let mut pen =
            Pen { out, before: String::new(), open: Vec::new(), in_chunk: 0, carried: Carried::default() };
        pen.line(&json!({ "archive": NAME, "version": VERSION, "exported_at": time::format(self.now()) }))?;
        for who in contexts {
            let access = self.access.of(who);
            let tiers = Tiers::new(self.call, &access);
            let before = pen.carried.memories;
            if whose != Whose::Own {
                let mut lines = 0;
                tiers.beside_memories(&mut |line| {
                    pen.line(line)?;
                    lines += 1;
                    if lines % CHUNK == 0 { pen.close_chunk(&tiers) } else { Ok(()) }
                })?;
                pen.close_chunk(&tiers)?;
            }
            let mut wanted = Wanted { limit: CHUNK, ..Wanted::default() };
            loop {
                let page = self.store().page(&access.who, &wanted)?;
                for memory in &page.memories {
                    pen.memory(memory)?;
                }
                if !page.memories.is_empty() {
                    pen.close_chunk(&tiers)?;
                    progress(pen.carried.memories);
                }
                match page.next {
                    Some(next) => wanted.after = Some(next),
                    None => break,
                }
            }
            let count = pen.carried.memories - before;
            tiers.note(Action::MemoryExport, Metadata { count: Some(count), ..Metadata::default() })?;
        }
        let Carried { memories, chunks, users } = &pen.carried;
        let manifest =
            json!({ "memories": memories, "chunks": chunks, "users": users, "sha256": pen.before });
        writeln!(pen.out, "{}", json!({ "manifest": manifest }))
            .and_then(|()| pen.out.flush())
            .map_err(cannot)?;
        Ok(pen.carried)
    }
}

impl Pen<'_> {
    fn memory(&mut self, memory: &Stored) -> Result<()> {
        self.line(&json!({ "memory": memory }))?;
        self.in_chunk += 1;
        self.carried.memories += 1;
        *self.carried.users.entry(memory.user.clone()).or_default() += 1;
        Ok(())
    }
}

#[allow(clippy::needless_pass_by_value, reason = "stands at the end of map_err, which gives it away")]
fn cannot(error: std::io::Error) -> Fault {
    Fault::new(Code::Io, format!("the archive cannot be written: {error}"))
}

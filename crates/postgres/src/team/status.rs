//! What there is: versions, roles, sizes, and what an operator should do about it.
//!
//! Comes in: an operator's connection. Goes out: counts and advice. Never here: a row of a user, or a change.

use super::{Team, is_old};
use crate::fault::sql;
use crate::schema::{OF_USERS, VERSION};
use heirloom_core::fault::Result;
use serde::Serialize;

/// Memories of one user from which on an index is worth having.
const MANY: i64 = 20_000;

/// A table and its size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Bytes, indexes included.
    pub bytes: i64,
    /// Whether row-level security is enabled and forced.
    pub guarded: bool,
}

/// What the schema holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Found {
    /// Users with an account or rows.
    pub users: i64,
    /// Tokens, and those of them that administer.
    pub tokens: i64,
    /// Tokens with the scope `admin`.
    pub admins: i64,
    /// Memories.
    pub memories: i64,
    /// Those of the user who has most.
    pub most: i64,
    /// Models with their dimensions and vectors.
    pub models: Vec<(String, i32, i64)>,
    /// Tables of users.
    pub tables: Vec<Table>,
}

/// What there is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Status {
    /// The server.
    pub server: String,
    /// pgvector, if it is there.
    pub vector: Option<String>,
    /// Citus, if it is there.
    pub citus: Option<String>,
    /// The schema's version, if there is one.
    pub version: Option<i32>,
    /// The version this program works with.
    pub wanted: i32,
    /// What the schema holds, if it is of that version.
    pub found: Option<Found>,
    /// What should be done, a line each.
    pub next: Vec<String>,
}

impl Team {
    /// What there is.
    pub fn status(&self) -> Result<Status> {
        self.run(async {
            let server = self.text("select current_setting('server_version')").await?.unwrap_or_default();
            let extension = |name: &str| format!("select extversion from pg_extension where extname = '{name}'");
            let vector = self.text(&extension("vector")).await?;
            let citus = self.text(&extension("citus")).await?;
            let version = self.version().await?;
            let mut next = Vec::new();
            match &vector {
                None => next.push("create extension vector".to_owned()),
                Some(version) if is_old(version) => {
                    next.push(format!("pgvector {version} is too old: install 0.8 or newer, then alter extension vector update"));
                }
                Some(version) => {
                    let newest =
                        self.text("select default_version from pg_available_extensions where name = 'vector'").await?;
                    if newest.as_ref().is_some_and(|newest| newest != version) {
                        next.push(format!("alter extension vector update (to {})", newest.unwrap_or_default()));
                    }
                }
            }
            match version {
                None => next.push("heirloom team init".to_owned()),
                Some(found) if found < VERSION => {
                    next.push(format!("heirloom team upgrade (schema {found} to {VERSION}; --dry-run says what it needs)"));
                }
                Some(found) if found > VERSION => next.push("update Heirloom".to_owned()),
                Some(_) => {}
            }
            let found = match version {
                Some(VERSION) => Some(self.found(&mut next).await?),
                _ => None,
            };
            Ok(Status { server, vector, citus, version, wanted: VERSION, found, next })
        })
    }

    async fn found(&self, next: &mut Vec<String>) -> Result<Found> {
        // An operator is not the application: rows are counted as the owner, who says so in the server's log if that is kept.
        self.client.batch_execute("begin; set local role heirloom_owner").await.map_err(sql)?;
        let found = self.counted(next).await;
        self.client.batch_execute("rollback").await.map_err(sql)?;
        found
    }

    async fn counted(&self, next: &mut Vec<String>) -> Result<Found> {
        // One table at a time, which is what Citus plans too.
        let number = async |query: &str| {
            self.client.query_one(query, &[]).await.map(|row| row.get::<_, i64>(0)).map_err(sql)
        };
        let users = "select count(*) from
            (select user_id from heirloom.account union select user_id from heirloom.owner where user_id <> 'system') u";
        let users = number(users).await?;
        let tokens = number("select count(*) from heirloom.token").await?;
        let admins = number("select count(*) from heirloom.token where 'admin' = any (scopes)").await?;
        let memories =
            number("select coalesce(sum(episodes + facts), 0)::bigint from heirloom.owner").await?;
        let most = number("select coalesce(max(episodes + facts), 0) from heirloom.owner").await?;
        let vectors = "select model, count(*) from heirloom.vector group by 1";
        let vectors = self.client.query(vectors, &[]).await.map_err(sql)?;
        let of_model =
            |name: &str| vectors.iter().find(|row| row.get::<_, &str>(0) == name).map_or(0, |row| row.get(1));
        let models = self.client.query("select name, dimension from heirloom.model order by 1", &[]).await;
        let models: Vec<(String, i32, i64)> =
            models.map_err(sql)?.iter().map(|row| (row.get(0), row.get(1), of_model(row.get(0)))).collect();
        // On a coordinator a distributed table is empty; its shards say how large it is.
        let size = if self.is_distributed().await? {
            "citus_total_relation_size(c.oid::regclass)"
        } else {
            "pg_total_relation_size(c.oid)"
        };
        let mut tables = Vec::new();
        for name in OF_USERS {
            let asked = format!(
                "select {size}, c.relrowsecurity and c.relforcerowsecurity from pg_class c where c.oid = to_regclass($1)"
            );
            let row = self.client.query_one(&asked, &[&format!("heirloom.{name}")]).await.map_err(sql)?;
            let table = Table { name: name.to_owned(), bytes: row.get(0), guarded: row.get(1) };
            if !table.guarded {
                next.push(format!(
                    "alter table heirloom.{name} enable row level security, force row level security"
                ));
            }
            tables.push(table);
        }
        let indexed = "select exists (select from pg_indexes where schemaname = 'heirloom' and indexname like 'vector\\_near\\_%')";
        if most > MANY && !self.client.query_one(indexed, &[]).await.map_err(sql)?.get::<_, bool>(0) {
            next.push(format!(
                "heirloom team index: one user has {most} memories, and above {MANY} an index is quicker"
            ));
        }
        let found = Found { users, tokens, admins, memories, most, models, tables };
        if found.admins == 0 {
            next.push(
                "nobody has a token with the scope `admin`; docs/teams.md says how to make one".to_owned(),
            );
        }
        Ok(found)
    }
}

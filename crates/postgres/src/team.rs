//! What operators do: set a database up, bring it up to date, look at it, index it, rewrite its files.
//!
//! Comes in: the address of a login that may make roles and owns the database. Goes out: what was done, or would be. Only this changes the schema, in
//! one transaction under an advisory lock that is waited for a few seconds and no longer. Never here: a token; what comes in is its hash.

mod answers;
mod note;
mod script;
mod status;

pub use answers::{Founded, answers};
use note::Note;
use script::{gave, script, step};
pub use status::{Found, Status, Table};

use crate::address::Address;
use crate::fault::sql;
use crate::schema::{self, Place, STEPS_FROM, VERSION, named, quoted};
use heirloom_core::{Code, Fault, fault::Result};
use jiff::Timestamp;
use serde::Serialize;
use std::time::{Duration, Instant};
use tokio_postgres::Client;

const OLDEST_SERVER: i32 = 150_000;
const OLDEST_VECTOR: (u32, u32) = (0, 8);

/// How long the server may take to answer at all.
const CONNECT: Duration = Duration::from_secs(5);

/// The first administrator, and how the database is to be.
#[derive(Debug, Clone)]
pub struct Founding {
    /// The user who looks after the others.
    pub user: String,
    /// The hash of that user's token.
    pub token_hash: String,
    /// Whether Citus distributes the tables.
    pub citus: bool,
    /// A login beside `heirloom_app` that may be used in addresses.
    pub app_role: Option<String>,
    /// When.
    pub now: Timestamp,
}

/// Which tokens of 0.1 may also remove for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MayDelete {
    /// None of them.
    Nobody,
    /// All of them.
    Everybody,
    /// Those of these users.
    These(Vec<String>),
}

/// What was done, a line each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Done {
    /// The schema's version before; none if there was none.
    pub before: Option<i32>,
    /// The version now.
    pub version: i32,
    /// What was done.
    pub did: Vec<String>,
    /// What an operator should look at.
    pub notes: Vec<String>,
    /// Whether a first token was stored.
    pub founded: bool,
}

/// What an upgrade would need.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Estimate {
    /// The schema's version now.
    pub before: Option<i32>,
    /// The version it would have.
    pub version: i32,
    /// Rows to be copied.
    pub rows: i64,
    /// Bytes the tables have now, and would need beside them while it lasts.
    pub bytes: i64,
    /// Seconds it may take, from a sample copied on this server.
    pub seconds: f64,
    /// Users with rows and without an account.
    pub without_account: i64,
    /// Tokens that would be taken over.
    pub tokens: i64,
}

/// A connection of an operator.
pub struct Team {
    runtime: tokio::runtime::Runtime,
    client: Client,
}

impl std::fmt::Debug for Team {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Team").finish_non_exhaustive()
    }
}

impl Team {
    /// Connects.
    pub fn at(address: &Address) -> Result<Team> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|e| Fault::new(Code::Io, format!("no thread for the database: {e}")))?;
        let connector = address.connector()?;
        let config = address.config(CONNECT);
        let client = runtime.block_on(async {
            let connecting = tokio::time::timeout(CONNECT, config.connect(connector)).await;
            let (client, connection) = connecting.map_err(|_| crate::fault::silent())?.map_err(sql)?;
            tokio::spawn(connection);
            Ok::<_, Fault>(client)
        })?;
        Ok(Team { runtime, client })
    }

    fn run<T>(&self, call: impl Future<Output = Result<T>>) -> Result<T> {
        self.runtime.block_on(call)
    }

    async fn text(&self, query: &str) -> Result<Option<String>> {
        let row = self.client.query_opt(query, &[]).await.map_err(sql)?;
        Ok(row.and_then(|row| row.get(0)))
    }

    /// Sets a database up.
    pub fn init(&self, founding: &Founding) -> Result<Done> {
        self.run(async {
            match self.version().await? {
                None => {}
                Some(VERSION) => {
                    let did = vec!["the database is set up already; nothing was changed".to_owned()];
                    self.note_only(&Note::system("team init: nothing was changed", founding.now)).await?;
                    return Ok(Done { before: Some(VERSION), version: VERSION, did, ..Done::default() });
                }
                Some(found) => return Err(crate::link::unfit(Some(found)).unwrap_or_else(|| damaged(found))),
            }
            let place = self.place(founding.citus).await?;
            let database = self.text("select quote_ident(current_database())").await?.unwrap_or_default();
            self.change(&script(&place, &database, founding, None)?, None).await?;
            Ok(Done {
                before: None,
                version: VERSION,
                did: told(founding),
                notes: self.notes(founding).await?,
                founded: true,
            })
        })
    }

    /// What `init` runs, for whoever runs it by hand.
    pub fn init_script(founding: &Founding) -> Result<String> {
        let place = Place { vector: "public".to_owned(), citus: founding.citus };
        // Run in the database it is for, by its owner or a superuser.
        script(&place, "heirloom", founding, None)
    }

    /// What bringing a database up to date would need.
    pub fn estimate(&self) -> Result<Estimate> {
        self.run(async {
            let before = self.version().await?;
            let none =
                Estimate { before, version: VERSION, rows: 0, bytes: 0, seconds: 0.0, without_account: 0, tokens: 0 };
            let Some(found) = before.filter(|found| *found < STEPS_FROM) else { return Ok(none) };
            let sizes = "select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint from pg_class c
                join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'heirloom' and c.relkind = 'r'";
            let bytes: i64 = self.client.query_one(sizes, &[]).await.map_err(sql)?.get(0);
            let mut rows = 0;
            for table in ["memory", "post", "gone", "audit", "owner"] {
                let count = format!("select count(*) from heirloom.{table}");
                rows += self.client.query_one(&count, &[]).await.map_err(sql)?.get::<_, i64>(0);
            }
            let strangers = "select count(*) from (select user_id from heirloom.owner union select user_id from heirloom.memory) u
                where user_id <> 'system' and not exists (select from heirloom.account a where a.user_id = u.user_id)";
            let without_account = self.client.query_one(strangers, &[]).await.map_err(sql)?.get(0);
            let mut tokens: i64 = self
                .client
                .query_one("select count(*) from heirloom.account where token_hash is not null", &[])
                .await
                .map_err(sql)?
                .get(0);
            if found >= 2 {
                tokens += self
                    .client
                    .query_one("select count(*) from heirloom.token", &[])
                    .await
                    .map_err(sql)?
                    .get::<_, i64>(0);
            }
            let began = Instant::now();
            let sample = "begin; create temp table heirloom_sample on commit drop as select * from heirloom.post limit 20000;
                create index on heirloom_sample (user_id, tier, term, place); create index on heirloom_sample (user_id, place)";
            self.client.batch_execute(sample).await.map_err(sql)?;
            let took = began.elapsed().as_secs_f64();
            let sampled: i64 =
                self.client.query_one("select count(*) from heirloom_sample", &[]).await.map_err(sql)?.get(0);
            self.client.batch_execute("rollback").await.map_err(sql)?;
            let seconds = took * rows as f64 / sampled.max(1) as f64;
            Ok(Estimate { rows, bytes, seconds, without_account, tokens, ..none })
        })
    }

    /// Brings a database up to date: that of 0.1 is copied into new tables, which take the place of the old ones in the same transaction.
    pub fn upgrade(&self, founding: &Founding, delete: &MayDelete) -> Result<Done> {
        self.run(async {
            let found = self.version().await?;
            match found {
                None => return Err(crate::link::unfit(None).unwrap_or_else(|| damaged(0))),
                Some(VERSION) => {
                    let did = vec!["the schema is up to date; nothing was changed".to_owned()];
                    self.note_only(&Note::system("team upgrade: nothing was changed", founding.now)).await?;
                    return Ok(Done { before: found, version: VERSION, did, ..Done::default() });
                }
                Some(found) if found > VERSION => {
                    return Err(crate::link::unfit(Some(found)).unwrap_or_else(|| damaged(found)));
                }
                Some(_) => {}
            }
            let before = found.unwrap_or_default();
            if before >= STEPS_FROM {
                return self.stepped(before, founding).await;
            }
            let place = self.place(founding.citus).await?;
            let database = self.text("select quote_ident(current_database())").await?.unwrap_or_default();
            let mut script = script(&place, &database, founding, Some(before))?;
            let users = match delete {
                MayDelete::Nobody => None,
                MayDelete::Everybody => Some("true".to_owned()),
                MayDelete::These(users) => {
                    let users: Vec<String> = users.iter().map(|user| quoted(user)).collect();
                    Some(format!("user_id in ({})", users.join(", ")))
                }
            };
            if let Some(which) = users {
                script.push_str(&format!(
                    "update heirloom.token set scopes = array_append(scopes, 'delete')\n    \
                     where {which} and scopes = '{{read,write}}' and hash <> {};\n",
                    quoted(&founding.token_hash)
                ));
            }
            let what = format!("{}, schema {before} to {VERSION}", gave(founding));
            self.change(&script, Some(&Note { user: &founding.user, what, now: founding.now })).await?;
            let mut did =
                vec![format!("copied the tables of schema {before} into new ones and dropped the old ones")];
            did.extend(told(founding));
            let notes = self.notes(founding).await?;
            Ok(Done { before: found, version: VERSION, did, notes, founded: true })
        })
    }

    /// Builds the index that searches of users with many memories ask, for every model whose vectors can have one.
    pub fn index(&self) -> Result<Vec<String>> {
        self.run(async {
            self.fits().await?;
            let vector = self.place(false).await?.vector;
            let mut did = Vec::new();
            let models = self.client.query("select name, dimension from heirloom.model order by 1", &[]).await;
            for row in models.map_err(sql)? {
                let (name, dims): (String, i32) = (row.get(0), row.get(1));
                if usize::try_from(dims).is_ok_and(|dims| dims > crate::statements::MOST_INDEXED) {
                    did.push(format!("{name}: {dims} dimensions are more than an index can have; search stays exact"));
                    continue;
                }
                let short = heirloom_core::hash::sha256(name.as_bytes());
                let index = format!("vector_near_{}", &short[..8]);
                let exists = "select exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
                    where n.nspname = 'heirloom' and c.relname = $1)";
                if self.client.query_one(exists, &[&index]).await.map_err(sql)?.get(0) {
                    did.push(format!("{name}: the index exists"));
                    continue;
                }
                let began = Instant::now();
                let make = format!(
                    "set search_path = pg_catalog, {vector}; create index concurrently {index} on heirloom.vector using hnsw
                     ((embedding::halfvec({dims})) halfvec_cosine_ops) where model = {}",
                    quoted(&name)
                );
                for statement in make.split("; ") {
                    self.client.batch_execute(statement).await.map_err(sql)?;
                }
                did.push(format!("{name}: index built in {:.1} s", began.elapsed().as_secs_f64()));
            }
            if did.is_empty() {
                did.push("no vectors yet; nothing was built".to_owned());
            }
            Ok(did)
        })
    }

    /// Rewrites the tables, so that their files hold nothing of what was deleted. Each is locked while that lasts. Says what could not be reached.
    pub fn shred(&self) -> Result<Vec<String>> {
        self.run(async {
            self.fits().await?;
            for table in ["memory", "post", "vector", "undo", "draft"] {
                self.client.batch_execute(&format!("vacuum (full) heirloom.{table}")).await.map_err(sql)?;
            }
            let mut left =
                vec!["backups and archived logs keep what they hold until they are removed".to_owned()];
            // Old relation files go at a checkpoint; a fresh log segment lets the old ones be recycled.
            for (call, what) in
                [("checkpoint", "old table files"), ("select pg_switch_wal()", "the current log segment")]
            {
                if self.client.batch_execute(call).await.is_err() {
                    left.push(format!(
                        "{what} stay until the server's next checkpoint: this login may not ask for one"
                    ));
                }
            }
            Ok(left)
        })
    }

    /// From a version whose tables stay where they are.
    async fn stepped(&self, before: i32, founding: &Founding) -> Result<Done> {
        let place = self.place(self.is_distributed().await?).await?;
        let note = Note::system(&format!("team upgrade: schema {before} to {VERSION}"), founding.now);
        self.change(&step(&place, before), Some(&note)).await?;
        let did = vec![format!(
            "brought the schema from version {before} to {VERSION}; users, tokens and memories stay as they are"
        )];
        Ok(Done { before: Some(before), version: VERSION, did, ..Done::default() })
    }

    /// Whether Citus distributes the tables: that it is installed does not say so.
    async fn is_distributed(&self) -> Result<bool> {
        let there = "select (to_regclass('pg_catalog.pg_dist_partition') is not null)::text";
        if self.text(there).await?.as_deref() != Some("true") {
            return Ok(false);
        }
        let memory = "select (exists (select from pg_catalog.pg_dist_partition where logicalrelid = to_regclass('heirloom.memory')))::text";
        Ok(self.text(memory).await?.as_deref() == Some("true"))
    }

    /// Runs a change of the schema and notes it in an audit, all of it or nothing.
    async fn change(&self, script: &str, noted: Option<&Note<'_>>) -> Result<()> {
        let mut done = self.client.batch_execute(script).await.map_err(sql);
        if let (Ok(()), Some(note)) = (&done, noted) {
            done = self.append(note).await;
        }
        if let Err(fault) = done {
            let _ = self.client.batch_execute("rollback").await;
            return Err(fault);
        }
        self.client.batch_execute("commit").await.map_err(sql)
    }

    async fn fits(&self) -> Result<()> {
        crate::link::unfit(self.version().await?).map_or(Ok(()), Err)
    }

    /// The schema's version; none if there is none. A schema without its version row is not touched.
    async fn version(&self) -> Result<Option<i32>> {
        let there =
            "select to_regnamespace('heirloom') is not null, to_regclass('heirloom.version') is not null";
        let row = self.client.query_one(there, &[]).await.map_err(sql)?;
        if !row.get::<_, bool>(0) {
            return Ok(None);
        }
        let version = match row.get(1) {
            true => self.client.query_opt("select version from heirloom.version", &[]).await.map_err(sql)?,
            false => None,
        };
        version.map(|row| Some(row.get(0))).ok_or_else(|| {
            Fault::new(Code::Config, "there is a schema `heirloom` that does not say its version")
                .hint("if it is not Heirloom's, use another database; if it is, restore the row of heirloom.version from a backup")
        })
    }

    /// Where pgvector lies; made if it is missing and this login may.
    async fn place(&self, citus: bool) -> Result<Place> {
        let version: i32 = self
            .client
            .query_one("select current_setting('server_version_num')::int", &[])
            .await
            .map_err(sql)?
            .get(0);
        if version < OLDEST_SERVER {
            return Err(Fault::new(
                Code::Config,
                format!("this is PostgreSQL {}; Heirloom needs 15 or newer", version / 10_000),
            )
            .hint("use a newer server, or leave HEIRLOOM_DATABASE_URL out to keep the tiers in SQLite"));
        }
        let asked = "select quote_ident(n.nspname), e.extversion from pg_extension e
            join pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector'";
        let missing = |why: String| {
            Fault::new(Code::Config, format!("pgvector cannot be used: {why}"))
                .hint("install pgvector 0.8 or newer and let an administrator run `create extension vector`")
        };
        let mut found = self.client.query_opt(asked, &[]).await.map_err(sql)?;
        if found.is_none() {
            self.client
                .batch_execute("create extension vector")
                .await
                .map_err(|e| missing(sql(e).message))?;
            found = self.client.query_opt(asked, &[]).await.map_err(sql)?;
        }
        let row = found.ok_or_else(|| missing("it is not installed".to_owned()))?;
        let (vector, version): (String, String) = (row.get(0), row.get(1));
        if is_old(&version) {
            return Err(missing(format!("{version} is too old")));
        }
        if citus && self.text("select extversion from pg_extension where extname = 'citus'").await?.is_none()
        {
            return Err(Fault::new(Code::Config, "this database has no Citus").hint(
                "run `create extension citus` on the coordinator and every worker, or leave --citus out",
            ));
        }
        Ok(Place { vector, citus })
    }

    async fn notes(&self, founding: &Founding) -> Result<Vec<String>> {
        let mut notes = Vec::new();
        let password = "select rolpassword is null from pg_authid where rolname = 'heirloom_app'";
        if self.client.query_opt(password, &[]).await.ok().flatten().is_none_or(|row| row.get(0)) {
            notes.push("give the application's login a password: \\password heirloom_app".to_owned());
        }
        if let Some(role) = &founding.app_role {
            let strong = "select rolsuper or rolbypassrls, d.datdba = r.oid from pg_roles r, pg_database d
                where r.rolname = $1 and d.datname = current_database()";
            let row = self.client.query_opt(strong, &[role]).await.map_err(sql)?;
            if row.as_ref().is_some_and(|row| row.get(0)) {
                notes.push(format!("`{role}` passes row-level security: use another login, or alter role {} nosuperuser nobypassrls", named(role)));
            }
            if row.is_some_and(|row| row.get(1)) {
                notes.push(format!("`{role}` owns the database: alter database … owner to an administrator"));
            }
        }
        Ok(notes)
    }
}

fn damaged(found: i32) -> Fault {
    Fault::new(Code::Config, format!("schema {found} cannot be used"))
        .hint("`heirloom team status` shows the versions")
}

pub(crate) fn is_old(version: &str) -> bool {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) < OLDEST_VECTOR
}

fn told(founding: &Founding) -> Vec<String> {
    let mut did = vec![
        "made the roles heirloom_owner (owns everything, no login), heirloom_app (login, owns nothing), heirloom_admin (operators)".to_owned(),
        format!("made the schema heirloom, version {VERSION}, with row-level security forced on {} tables", schema::OF_USERS.len()),
        format!("stored a token with every scope for `{}`", founding.user),
    ];
    if let Some(role) = &founding.app_role {
        did.push(format!("let the login `{role}` act as heirloom_app"));
    }
    if founding.citus {
        did.push("distributed the tables by user_id with Citus".to_owned());
    }
    did
}

//! One user's database: its file, its tables, its audit chain.
//!
//! Comes in: a folder. Goes out: a connection that is ready, with whatever tables an older version lacked added. Every write is a transaction
//! that waits for the disk; a read's audit line is one that does not. Never here: what the rows mean.

use super::super::UserContext;
use super::super::event::{Event, Head, Line};
use crate::files::{self, Lock, Mode};
use crate::index::Index;
use heirloom_core::{Code, Fault, fault::Result};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Transaction, TransactionBehavior, params};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a call waits for another process's write.
const BUSY: Duration = Duration::from_secs(10);

/// The log is written back once it is longer than this.
const LONG_LOG: u64 = 4 << 20;

/// Steps from one version of the tables to the next. A step is never changed, only followed by another.
const STEPS: &[&str] = &[
    "
create table memory (
    place integer primary key, user text not null, id text not null, tier text not null, status text not null,
    session text, slot text, occurred_at integer not null, expires_at integer,
    content text not null, detail text not null, unique (user, id));
create index memory_tier on memory (user, tier, status, place);
create index memory_session on memory (user, session, place) where session is not null;
create index memory_slot on memory (user, slot) where slot is not null;
create index memory_expiry on memory (user, expires_at) where expires_at is not null;
create table gone (user text not null, id text not null, scrubbed integer not null default 0, primary key (user, id)) without rowid;
create table change (n integer primary key autoincrement, id text not null);
create table audit (
    seq integer primary key, user text not null, at text not null, action text not null, metadata text not null,
    prev text not null, hash text not null);
",
    "
create table undo (
    user text not null, seq integer not null, n integer not null, at integer not null, id text not null, body text not null,
    primary key (user, seq, n)) without rowid;
create index undo_id on undo (user, id);
create index undo_at on undo (user, at);
",
];

/// An open database.
#[derive(Debug)]
pub(super) struct Database {
    pub(super) db: Connection,
    pub(super) folder: PathBuf,
    pub(super) index: Option<Index>,
}

impl Database {
    /// Opens the database in a folder; `None` if there is none and `make` is off.
    pub(super) fn open(folder: &Path, make: bool) -> Result<Option<Database>> {
        let path = folder.join("memory.db");
        if !make && !path.exists() {
            return Ok(None);
        }
        if !path.exists() {
            first(folder, &path)?;
        }
        only_for_its_owner(&path);
        let mut db = connect(&path)?;
        // Nothing is written back by chance: not when a connection closes, not in the middle of a read's audit line.
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(fault)?;
        db.execute_batch(
            "pragma synchronous = full; pragma secure_delete = on; pragma temp_store = memory;
             pragma wal_autocheckpoint = 0; pragma cache_size = -4096; pragma mmap_size = 268435456;",
        )
        .map_err(fault)?;
        db.set_prepared_statement_cache_capacity(32);
        migrate(&mut db, &path)?;
        Ok(Some(Database { db, folder: folder.to_owned(), index: None }))
    }

    /// A transaction that writes.
    pub(super) fn begin(&mut self) -> Result<Transaction<'_>> {
        self.db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fault)
    }

    /// Writes a long log back into the file, if nobody is in the way.
    pub(super) fn shorten_log(&self) {
        let log = std::fs::metadata(self.folder.join("memory.db-wal")).map_or(0, |meta| meta.len());
        if log > LONG_LOG {
            let _ = self.db.query_row("pragma wal_checkpoint(passive)", [], |_| Ok(()));
        }
    }

    /// Appends an event without waiting for the disk.
    pub(super) fn note(&mut self, who: &UserContext, event: &Event) -> Result<Head> {
        self.db.execute_batch("pragma synchronous = normal").map_err(fault)?;
        let outcome = self.begin().and_then(|tx| {
            let head = append(&tx, who, std::slice::from_ref(event))?;
            tx.commit().map_err(fault)?;
            Ok(head)
        });
        self.db.execute_batch("pragma synchronous = full").map_err(fault)?;
        outcome
    }

    /// Goes on with lines that another store wrote, if they follow what is here and each other.
    pub(super) fn continue_chain(&mut self, who: &UserContext, lines: &[Line]) -> Result<bool> {
        let tx = self.begin()?;
        let mut head = last_of(&tx, who)?;
        for line in lines {
            if line.user != who.user() || line.seq != head.seq + 1 || line.prev != head.hash {
                return Ok(false);
            }
            add(&tx, line)?;
            head = line.head();
        }
        tx.commit().map_err(fault)?;
        Ok(!lines.is_empty())
    }

    /// Audit lines after a number.
    pub(super) fn audit(&mut self, who: &UserContext, after: u64, limit: usize) -> Result<Vec<Line>> {
        let mut statement = self
            .db
            .prepare_cached(
                "select seq, at, action, metadata, prev, hash, user from audit where user = ?1 and seq > ?2 order by seq limit ?3",
            )
            .map_err(fault)?;
        let rows = statement.query_map(params![who.user(), after as i64, limit as i64], |row| {
            let text = |at: usize| row.get::<_, String>(at);
            Ok((row.get::<_, i64>(0)?, text(1)?, text(2)?, text(3)?, text(4)?, text(5)?, text(6)?))
        });
        let rows = rows.and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>).map_err(fault)?;
        rows.into_iter()
            .map(|(seq, at, action, metadata, prev, hash, user)| {
                let unreadable = |e: serde_json::Error| {
                    Fault::new(Code::Damaged, format!("audit line {seq} cannot be read: {e}"))
                        .fact("line", seq.to_string())
                };
                Ok(Line {
                    seq: seq.unsigned_abs(),
                    at,
                    user,
                    action: serde_json::from_value(action.into()).map_err(unreadable)?,
                    metadata: serde_json::from_str(&metadata).map_err(unreadable)?,
                    prev,
                    hash,
                })
            })
            .collect()
    }

    /// Appends a checkpoint and drops what it speaks of.
    pub(super) fn checkpoint(&mut self, who: &UserContext, through: u64, event: &Event) -> Result<Head> {
        let tx = self.begin()?;
        let head = append(&tx, who, std::slice::from_ref(event))?;
        tx.execute("delete from audit where user = ?1 and seq <= ?2", params![who.user(), through as i64])
            .map_err(fault)?;
        tx.commit().map_err(fault)?;
        Ok(head)
    }
}

/// Whose database lies in a folder; nothing if there is none, or nothing in it.
pub(super) fn owner(folder: &Path) -> Result<Option<String>> {
    let Some(database) = Database::open(folder, false)? else { return Ok(None) };
    let ask = "select user from (select user from memory limit 1) union all select user from (select user from audit limit 1) limit 1";
    database.db.query_row(ask, [], |row| row.get(0)).optional().map_err(fault)
}

/// Writes a database anew without the gaps that deleted rows left, and cuts its log. It has a connection of its own: others go on reading meanwhile.
pub(super) fn rewrite(folder: &Path) -> Result<Vec<String>> {
    let db = connect(&folder.join("memory.db"))?;
    db.execute_batch(
        "pragma synchronous = full; pragma secure_delete = on; pragma temp_store = memory; vacuum",
    )
    .map_err(fault)?;
    let busy: i64 = db.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get(0)).map_err(fault)?;
    Ok(match busy {
        0 => Vec::new(),
        _ => vec![
            "another process is reading; run the same command again when it has ended to clear the log"
                .to_owned(),
        ],
    })
}

/// Appends events to the user's chain. The transaction holds the write lock, so the chain has one end.
pub(super) fn append(tx: &Transaction<'_>, who: &UserContext, events: &[Event]) -> Result<Head> {
    let mut head = last_of(tx, who)?;
    for event in events {
        let line = event.after(who.user(), &head);
        add(tx, &line)?;
        head = line.head();
    }
    Ok(head)
}

/// Where the chain ends.
fn last_of(tx: &Transaction<'_>, who: &UserContext) -> Result<Head> {
    let mut last = tx
        .prepare_cached("select seq, hash from audit where user = ?1 order by seq desc limit 1")
        .map_err(fault)?;
    let head = last.query_row([who.user()], |row| {
        Ok(Head { seq: row.get::<_, i64>(0)?.unsigned_abs(), hash: row.get(1)? })
    });
    Ok(head.optional().map_err(fault)?.unwrap_or_default())
}

fn add(tx: &Transaction<'_>, line: &Line) -> Result<()> {
    let mut insert =
        tx.prepare_cached("insert into audit values (?1, ?2, ?3, ?4, ?5, ?6, ?7)").map_err(fault)?;
    let metadata = serde_json::to_string(&line.metadata).unwrap_or_default();
    let values =
        params![line.seq as i64, line.user, line.at, line.action.name(), metadata, line.prev, line.hash];
    insert.execute(values).map(drop).map_err(fault)
}

fn connect(path: &Path) -> Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags).map_err(fault)?;
    db.busy_timeout(BUSY).map_err(fault)?;
    Ok(db)
}

/// Version 0.1 left the file to the umask. A mode that cannot be changed is no reason not to open it: its folder is private too.
fn only_for_its_owner(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    if std::fs::metadata(path).is_ok_and(|meta| meta.permissions().mode() & 0o077 != 0) {
        for name in ["", "-wal", "-shm"] {
            let file = std::path::PathBuf::from(format!("{}{name}", path.display()));
            let _ = std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600));
        }
    }
}

/// Makes the database, under a lock and another name: SQLite does not wait its turn when two switch a fresh file to a log.
fn first(folder: &Path, path: &Path) -> Result<()> {
    files::make_folder(folder, Mode::Private)?;
    let _lock = Lock::acquire(&folder.join("memory.lock"), BUSY)?;
    if path.exists() {
        return Ok(());
    }
    let beside = folder.join("memory.db.new");
    for left in ["memory.db.new", "memory.db.new-wal", "memory.db.new-shm"] {
        // What a killed process left.
        let _ = std::fs::remove_file(folder.join(left));
    }
    // SQLite gives its log and shared memory the mode of the file itself.
    files::write(&beside, b"", Mode::Private)?;
    let mut db = connect(&beside)?;
    migrate(&mut db, &beside)?;
    // Closing the only connection writes the log back and removes it.
    db.close().map_err(|(_, e)| fault(e))?;
    std::fs::rename(&beside, path).map_err(|e| Fault::io(path, "make", &e))?;
    let made = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
    made.map_err(|e| Fault::io(folder, "make", &e))
}

/// Adds what this version has and the file has not. Two processes may come here at once; the second finds it done.
fn migrate(db: &mut Connection, path: &Path) -> Result<()> {
    let version =
        |db: &Connection| db.query_row("pragma user_version", [], |row| row.get::<_, i64>(0)).map_err(fault);
    let newest = STEPS.len() as i64;
    let now = version(db)?;
    if now > newest {
        return Err(Fault::new(Code::Damaged, format!("`{}` was made by a newer Heirloom", path.display()))
            .hint("update Heirloom; nothing was touched"));
    }
    if now == newest {
        return Ok(());
    }
    db.execute_batch("pragma journal_mode = wal").map_err(fault)?;
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fault)?;
    let done = version(&tx)?;
    for step in STEPS.iter().skip(done.unsigned_abs() as usize) {
        tx.execute_batch(step).map_err(fault)?;
    }
    tx.pragma_update(None, "user_version", newest).map_err(fault)?;
    tx.commit().map_err(fault)
}

/// What the database said, in the words of the one table of errors.
#[allow(clippy::needless_pass_by_value, reason = "stands at the end of map_err, which gives it away")]
pub(super) fn fault(error: rusqlite::Error) -> Fault {
    use rusqlite::ErrorCode as Cause;
    let message = format!("the tiers' database: {error}");
    match error.sqlite_error_code() {
        Some(Cause::DatabaseBusy | Cause::DatabaseLocked) => Fault::new(Code::LockBusy, message),
        Some(Cause::DatabaseCorrupt | Cause::NotADatabase) => Fault::new(Code::Damaged, message)
            .hint("restore the file from a backup, or import an archive into a new one"),
        Some(Cause::DiskFull) => {
            Fault::new(Code::Io, message).hint("free some space and try again; nothing was half-written")
        }
        _ => Fault::new(Code::Io, message),
    }
}

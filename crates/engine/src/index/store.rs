//! The database file: opening it safely, its tables, its version.
//!
//! In: a folder. Out: a connection that is ready. Any number of processes may open a fresh folder at once:
//! tables are made under a file lock, and everybody else waits for them. A file that is damaged or of
//! another version is set aside and made anew; the caller learns that it is empty by its missing marks.
//!
//! For one question the file can also be read as it lies there, without locks and without the log, which spares a fresh process a good part of its
//! time. That is done only while nobody writes, and what was read counts only if the file is still the same afterwards.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, FileControl, OpenFlags, TransactionBehavior};

use super::error::IndexError;
use crate::files::stamp;

/// Version of tables and files. Another one means: start over.
const VERSION: i64 = 9;

/// Waits a little longer each time another process holds the lock, up to 5 ms, and gives up after about ten seconds.
fn wait(tries: i32) -> bool {
    let pause = Duration::from_micros(200 * u64::from(tries.unsigned_abs().min(24)) + 200);
    std::thread::sleep(pause);
    tries < 2000
}

/// How a file of the index is made: what memories say stands in it, so it is nobody else's, whatever the umask.
pub(super) fn private() -> OpenOptions {
    let mut options = File::options();
    options.create(true).truncate(false).write(true).mode(0o600);
    options
}

/// The tables. Every fresh process reads these lines before its first question, so they say no more than they must: columns have no types, since
/// every value is bound with its own, and few tables do the work of many. `kind` and `scope` of a card are numbers of names, of which 1 is `fact`
/// ([`super::cards::FACT`]); extents of space 0 are those of the file of cards.
pub(super) const TABLES: &str = "
create table mark (name primary key, value) without rowid;
create table part (part integer primary key, owner unique, next, docs, words);
create table name (n integer primary key, text unique);
insert into name values (1, 'fact');
create table card (key integer primary key, grp, pos, at, kind, trust, status, len, sure, scope, role, speaker);
create index card_grp on card (grp, pos, len) where grp <> 0;
create index card_fact on card (kind) where kind = 1;
create table doc (key integer primary key, part, id, title, tags, body, speaker, paths, file, source, version);
create unique index doc_id on doc (part, id);
create table post (part, term, piece, cells, primary key (part, term, piece)) without rowid;
create table word (part, head, words, primary key (part, head)) without rowid;
create table pending (key integer primary key, terms);
create table dead (part, chunk, numbers, primary key (part, chunk)) without rowid;
create table trusted (part, page, bits, primary key (part, page)) without rowid;
create table space (space integer primary key, model, dims, file, size, unique (model, dims));
create table extent (space, part, first, room, at, primary key (space, part, first)) without rowid;
create table late (key integer primary key, pieces);
create table kept (n integer primary key, text, space, slot, late, unique (text, space));
";

/// An open database and what tells whether its file is still the one on disk.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) db: Connection,
    pub(crate) folder: PathBuf,
    identity: Option<(u64, u64)>,
    /// What the file was when it began to be read as it lies there.
    still: Option<String>,
    mapped: bool,
    written: bool,
    /// Goes after the connection.
    _open: Option<Open>,
}

/// How many connections of this process may hold locks, to any index.
static OPEN: Mutex<usize> = Mutex::new(0);

/// A connection that is open, or about to be.
#[derive(Debug)]
struct Open;

impl Open {
    fn new() -> Open {
        *opened() += 1;
        Open
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        *opened() -= 1;
    }
}

fn opened() -> MutexGuard<'static, usize> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does something with database files past SQLite, unless this process has one open: whoever closes a file gives up every lock that the process
/// has on it, whichever connection took it. Connections that are to be opened meanwhile wait. Says whether it was done.
pub(crate) fn unless_open(work: impl FnOnce()) -> bool {
    let open = opened();
    if *open == 0 {
        work();
    }
    *open == 0
}

/// Whether a file of the folder is one that SQLite locks.
pub(crate) fn is_locked_by_sqlite(name: &str) -> bool {
    name.starts_with("recall.db")
}

pub(crate) fn file_of(folder: &Path) -> PathBuf {
    folder.join("recall.db")
}

/// The file's address for SQLite, which is not to lock it or look for its log.
fn address(path: &Path) -> Option<String> {
    let mut address = "file:".to_owned();
    for byte in path.to_str()?.bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'~' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                address.push(byte.into())
            }
            _ => address.push_str(&format!("%{byte:02x}")),
        }
    }
    Some(address + "?immutable=1")
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        fs::metadata(path).ok().map(|m| (m.dev(), m.ino()))
    }
    #[cfg(not(unix))]
    {
        fs::metadata(path).ok().map(|_| (0, 0))
    }
}

impl Store {
    /// Opens the database in `folder`, making folder and tables if needed.
    pub(crate) fn open(folder: &Path) -> Result<Self, IndexError> {
        match Self::connect(folder) {
            Ok(Some(store)) => Ok(store),
            Ok(None) | Err(IndexError::Damaged { .. }) => Self::make(folder, false),
            Err(e) => Err(e),
        }
    }

    /// A connection to a database that is there, whole and of this version; `None` if it is not.
    fn connect(folder: &Path) -> Result<Option<Self>, IndexError> {
        let path = file_of(folder);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let before = identity(&path);
        if before.is_none() {
            return Ok(None);
        }
        let open = Some(Open::new());
        let mut db = Connection::open_with_flags(&path, flags)?;
        db.busy_handler(Some(wait))?;
        let version: i64 = db.query_row("pragma user_version", [], |r| r.get(0))?;
        if version != VERSION {
            return Ok(None);
        }
        // The log stays where the last to close would otherwise remove it: making it anew is a good part of what a prompt costs. It stays empty,
        // whoever is the last: what was forgotten must not lie in it.
        db.file_control(None::<&str>, FileControl::PersistWal(&mut 1))?;
        // A statement is planned once, not anew for every value it is given.
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        db.execute_batch("pragma journal_size_limit = 0")?;
        db.set_prepared_statement_cache_capacity(64);
        Ok(Some(Self {
            db,
            folder: folder.to_owned(),
            identity: before,
            still: None,
            mapped: false,
            written: false,
            _open: open,
        }))
    }

    /// The database as it lies there, if nobody writes to it and it is whole and of this version. Whoever reads it asks afterwards whether it
    /// [`held_still`](Self::held_still).
    pub(crate) fn glance(folder: &Path, now: i128) -> Option<Self> {
        let path = file_of(folder);
        let log = fs::metadata(folder.join("recall.db-wal"));
        // Everything in the log is missing from the file; without a log there may be a journal.
        if log.ok()?.len() > 0 {
            return None;
        }
        let still = Some(stamp::of(&path)).filter(|still| stamp::is_settled(still, now))?;
        let flags =
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = Connection::open_with_flags(address(&path)?, flags).ok()?;
        let version: i64 = db.query_row("pragma user_version", [], |r| r.get(0)).ok()?;
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).ok()?;
        // A page that was read is seldom looked at again, and reading it again costs less than room for one more.
        db.execute_batch("pragma cache_size = 16").ok()?;
        db.set_prepared_statement_cache_capacity(64);
        (version == VERSION).then(|| Self {
            db,
            folder: folder.to_owned(),
            identity: None,
            still: Some(still),
            mapped: false,
            written: false,
            // It takes no locks that could be lost.
            _open: None,
        })
    }

    pub(crate) fn is_glance(&self) -> bool {
        self.still.is_some()
    }

    /// Whether everything read so far was of one moment. A writer changes the file's times before its first byte.
    pub(crate) fn held_still(&self) -> bool {
        self.still.as_ref().is_none_or(|still| *still == stamp::of(&file_of(&self.folder)))
    }

    /// The connection, ready to write. Who only reads need not wait for these settings.
    pub(crate) fn for_writing(&mut self) -> Result<&Connection, IndexError> {
        if self.still.is_some() {
            *self = Self::open(&self.folder)?;
        }
        if !self.written {
            self.db.execute_batch(
                "pragma synchronous = normal; pragma cache_size = -8192; pragma temp_store = memory;
                 pragma secure_delete = on; pragma wal_autocheckpoint = 2000;",
            )?;
            self.written = true;
        }
        Ok(&self.db)
    }

    /// Makes a fresh database under the lock; `always` also replaces one that looks whole.
    fn make(folder: &Path, always: bool) -> Result<Self, IndexError> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let lock = private().open(folder.join("recall.lock"))?;
        lock.lock()?;
        // Someone else may have done it while this process waited.
        if !always && let Ok(Some(store)) = Self::connect(folder) {
            return Ok(store);
        }
        for entry in fs::read_dir(folder)?.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let vectors = name.starts_with("vectors-") && name.ends_with(".bin");
            if name.starts_with("recall.db") || name == super::cards::FILE || vectors {
                fs::remove_file(entry.path())?;
            }
        }
        // Made under another name and renamed, so that nobody ever opens a half-made one.
        let beside = folder.join("recall.db.new");
        // SQLite gives its log and shared memory the mode of the file itself.
        drop(private().open(&beside)?);
        let _open = Open::new();
        let db = Connection::open(&beside)?;
        db.execute_batch("pragma page_size = 4096; pragma journal_mode = wal;")?;
        {
            let tx = rusqlite::Transaction::new_unchecked(&db, TransactionBehavior::Immediate)?;
            tx.execute_batch(TABLES)?;
            tx.pragma_update(None, "user_version", VERSION)?;
            tx.commit()?;
        }
        // Closing the last connection writes the log back and removes it.
        db.close().map_err(|(_, e)| IndexError::from(e))?;
        fs::rename(&beside, file_of(folder))?;
        let made = Self::connect(folder)?;
        made.ok_or_else(|| IndexError::storage("a database just made is not there"))
    }

    /// Maps the file, from now on. Whoever reads much or often saves the copies; for one question they cost less than the mapping.
    pub(crate) fn map(&mut self) -> Result<(), IndexError> {
        if !self.mapped {
            self.db.execute_batch("pragma mmap_size = 2147418112")?;
            self.mapped = true;
        }
        Ok(())
    }

    /// Throws the database away and makes a fresh one.
    pub(crate) fn renew(&mut self) -> Result<(), IndexError> {
        *self = Self::make(&self.folder, true)?;
        Ok(())
    }

    /// Opens anew if the file on disk is no longer the one this connection has; says whether it did. Who reads it as it lies there finds that out
    /// afterwards.
    pub(crate) fn follow(&mut self) -> Result<bool, IndexError> {
        if self.is_glance() || identity(&file_of(&self.folder)) == self.identity {
            return Ok(false);
        }
        *self = Self::open(&self.folder)?;
        Ok(true)
    }
}

//! What can go wrong in the index.

use std::fmt;

use super::embed::EmbedError;

/// Why an index call failed.
#[derive(Debug)]
pub enum IndexError {
    /// The files are damaged; [`super::Index::renew`] starts over and the shelves are read again.
    Damaged {
        /// What was found.
        reason: String,
    },
    /// Another process held the write lock for longer than the limit; the same call may work later.
    Busy,
    /// Reading or writing failed for another reason.
    Storage {
        /// What was found.
        reason: String,
    },
    /// An embedder failed.
    Embed(EmbedError),
}

impl IndexError {
    pub(crate) fn storage(reason: impl fmt::Display) -> Self {
        Self::Storage { reason: reason.to_string() }
    }

    pub(crate) fn damaged(reason: impl fmt::Display) -> Self {
        Self::Damaged { reason: reason.to_string() }
    }
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged { reason } => {
                write!(f, "the index is damaged ({reason}); it is rebuilt from the shelves")
            }
            Self::Busy => f.write_str("another process is writing the index; try again"),
            Self::Storage { reason } => {
                write!(f, "the index cannot be used ({reason}); check the disk and the folder's permissions")
            }
            Self::Embed(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for IndexError {}

impl From<rusqlite::Error> for IndexError {
    fn from(e: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Code;
        match e.sqlite_error_code() {
            Some(Code::DatabaseCorrupt | Code::NotADatabase) => Self::damaged(e),
            Some(Code::DatabaseBusy | Code::DatabaseLocked) => Self::Busy,
            _ => Self::storage(e),
        }
    }
}

impl From<EmbedError> for IndexError {
    fn from(e: EmbedError) -> Self {
        Self::Embed(e)
    }
}

impl From<std::io::Error> for IndexError {
    fn from(e: std::io::Error) -> Self {
        Self::storage(e)
    }
}

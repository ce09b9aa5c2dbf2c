//! The documents a person stands behind, for recall that must not lose them in a crowd.
//!
//! In: a reader. Out: numbers of documents of high trust. Never here: a score.

use super::document::{Status, Trust};
use super::error::IndexError;
use super::read::Reader;
use super::{key_of, number_of};
use rusqlite::params;

impl Reader<'_> {
    /// Active documents of high trust, the newest first, at most `limit`.
    pub(crate) fn trusted(&self, limit: usize) -> Result<Vec<u32>, IndexError> {
        let sql = format!(
            "select key from card where trust = {} and status = {} and key >= ?1 and key < ?2 order by key desc limit ?3",
            Trust::High.code(),
            Status::Active.code()
        );
        let mut statement = self.tx.prepare_cached(&sql)?;
        let range = params![key_of(self.part, 0), key_of(self.part + 1, 0), limit as i64];
        let rows = statement.query_map(range, |r| Ok(number_of(r.get(0)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

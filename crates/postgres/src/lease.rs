//! A connection that goes back to the pool only if its work ended well.
//!
//! Comes in: a connection. Goes out: rows. One that is dropped in the middle of something is closed, and the server takes back what was not
//! committed. Never here: a named statement.

use crate::fault::sql;
use crate::values::Value;
use deadpool_postgres::Object;
use heirloom_core::{Code, Fault, fault::Result};
use tokio_postgres::Row;

/// A connection that goes back to the pool only if its work ended well.
pub(crate) struct Lease(Option<Object>);

impl Lease {
    pub(crate) fn of(client: Object) -> Lease {
        Lease(Some(client))
    }

    /// Gives the connection back.
    pub(crate) fn done(mut self) {
        drop(self.0.take());
    }

    fn client(&self) -> Result<&Object> {
        self.0.as_ref().ok_or_else(|| Fault::new(Code::Internal, "a connection was given back twice"))
    }

    pub(crate) async fn query(&self, statement: &str, values: &[Value<'_>]) -> Result<Vec<Row>> {
        self.client()?.query_typed(statement, values).await.map_err(sql)
    }

    pub(crate) async fn batch(&self, statements: &str) -> Result<()> {
        self.client()?.batch_execute(statements).await.map_err(sql)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(client) = self.0.take() {
            // Whatever it was in the middle of ends with it.
            drop(Object::take(client));
        }
    }
}

//! A transaction of one user, on a connection that is given back only when it ended well.
//!
//! Comes in: a connection and a user context. Goes out: rows. It begins by showing the database the token, in the same trip as `begin`; policies do
//! the rest. A call that fails or is given up drops the connection, and the server takes back what was not committed. Never here: a named
//! statement, a setting that outlives the transaction, a role that is taken on.

use crate::lease::Lease;
use crate::link::PgStore;
use crate::values::{Value, boolean, text};
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::shelf::tiers::UserContext;
use tokio_postgres::Row;

/// The longest a statement may take, by the server's clock. The caller's own limit comes first.
const LONGEST: &str = "15s";

/// A transaction.
pub(crate) struct Session(Lease);

impl Session {
    /// Begins a transaction that sees and touches what the context's token opens. Without `durable` its commit does not wait for the disk.
    pub(crate) async fn begin(store: &PgStore, who: &UserContext, durable: bool) -> Result<Session> {
        let secret = who.secret().ok_or_else(without_token)?;
        let lease = Lease::of(store.connected().await?);
        let user = who.user();
        let shown = [text(&secret), text(&user), boolean(&durable), text(&LONGEST)];
        let asks = "select heirloom.begin($1, $2, $3, $4)";
        // Whoever looks at the server's activity or its log finds the request there. The id of a trace is hex digits alone.
        let named = who.trace().map(|id| format!("set local application_name = 'heirloom {id}'"));
        let named = async {
            match &named {
                Some(statement) => lease.batch(statement).await,
                None => Ok(()),
            }
        };
        // Each in a message of its own, sent without waiting: Citus hands on the whole text of the message that a setting came in.
        let (begun, named, shown) = tokio::join!(lease.batch("begin"), named, lease.query(asks, &shown));
        begun?;
        named?;
        match shown {
            Ok(_) => Ok(Session(lease)),
            Err(fault) => Err(store.looked_into(fault).await),
        }
    }

    pub(crate) async fn query(&self, statement: &str, values: &[Value<'_>]) -> Result<Vec<Row>> {
        self.0.query(statement, values).await
    }

    pub(crate) async fn one(&self, statement: &str, values: &[Value<'_>]) -> Result<Option<Row>> {
        Ok(self.query(statement, values).await?.into_iter().next())
    }

    pub(crate) async fn run(&self, statement: &str, values: &[Value<'_>]) -> Result<()> {
        self.query(statement, values).await.map(drop)
    }

    pub(crate) async fn batch(&self, statements: &str) -> Result<()> {
        self.0.batch(statements).await
    }

    /// Commits, and gives the connection back.
    pub(crate) async fn commit(self) -> Result<()> {
        self.0.batch("commit").await?;
        self.0.done();
        Ok(())
    }
}

/// Nobody is anybody in a shared database without a token.
fn without_token() -> Fault {
    Fault::new(Code::Unauthenticated, "a shared database needs a token to know who you are")
        .hint("ask its administrator for a token, then set HEIRLOOM_TOKEN or give --token-file")
}

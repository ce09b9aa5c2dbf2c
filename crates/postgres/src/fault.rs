//! What the database or the pool said, in the words of the one table of errors.
//!
//! Comes in: errors of the client. Goes out: faults. Never here: the address of the database, which may hold a password.

use deadpool_postgres::PoolError;
use heirloom_core::{Code, Fault};
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// A statement failed.
pub(crate) fn sql(error: Error) -> Fault {
    let Some(said) = error.as_db_error() else {
        if is_tls(&error) {
            return Fault::new(Code::Config, format!("the connection to PostgreSQL: {}", chain(&error))).hint(
                "the server's certificate must be one this system trusts (SSL_CERT_FILE names further ones), and the address must name the server as \
                 the certificate does",
            );
        }
        if without_tls(&error) {
            return Fault::new(Code::Config, format!("the connection to PostgreSQL: {}", chain(&error))).hint(
                "switch TLS on at the server; where nobody can listen in between, `?sslmode=disable` after the database's name does without",
            );
        }
        let code = if is_link(&error) { Code::Unavailable } else { Code::Io };
        let fault = Fault::new(code, format!("the connection to PostgreSQL: {}", chain(&error)));
        return match code {
            Code::Unavailable => fault.hint(NEXT),
            _ => fault,
        };
    };
    let message = format!("PostgreSQL: {} ({})", said.message(), said.code().code());
    let starting = [SqlState::CANNOT_CONNECT_NOW, SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN];
    match said.code() {
        code if starting.contains(code) => Fault::new(Code::Unavailable, message),
        code if *code == SqlState::QUERY_CANCELED => Fault::new(Code::Unavailable, message)
            .hint("the statement took longer than the limit; try again when the database is less busy"),
        code if *code == SqlState::T_R_DEADLOCK_DETECTED || *code == SqlState::T_R_SERIALIZATION_FAILURE => {
            Fault::new(Code::LockBusy, message)
        }
        code if *code == SqlState::INSUFFICIENT_PRIVILEGE => Fault::new(Code::Security, message)
            .hint("the database role lacks a privilege; the manual lists what it needs"),
        code if code.code().starts_with("28") || *code == SqlState::INVALID_CATALOG_NAME => {
            Fault::new(Code::Config, message)
                .hint("check user, password and database name in HEIRLOOM_DATABASE_URL")
        }
        _ => Fault::new(Code::Io, message),
    }
}

/// What to do about a server that cannot be reached.
const NEXT: &str = "see that the server runs and that --database or HEIRLOOM_DATABASE_URL names it; what was acknowledged is stored";

/// The server did not answer in time.
pub(crate) fn silent() -> Fault {
    Fault::new(Code::Unavailable, "the connection to PostgreSQL: no answer in time").hint(NEXT)
}

/// No connection could be had.
pub(crate) fn pool(error: PoolError) -> Fault {
    match error {
        PoolError::Backend(error) => sql(error),
        PoolError::Timeout(_) => {
            Fault::new(Code::Unavailable, "no connection to PostgreSQL became free in time").hint(NEXT)
        }
        other => Fault::new(Code::Unavailable, format!("no connection to PostgreSQL: {other}")),
    }
}

/// Whether the certificate or the handshake was what failed; trying again would not help.
fn is_tls(error: &Error) -> bool {
    use std::error::Error as _;
    let inner = error.source().and_then(|source| source.downcast_ref::<std::io::Error>()?.get_ref());
    inner.is_some_and(|inner| inner.is::<rustls::Error>())
}

/// Whether TLS was asked for and the server has none.
fn without_tls(error: &Error) -> bool {
    use std::error::Error as _;
    // The client has no type of its own for this.
    error.source().is_some_and(|source| source.to_string() == "server does not support TLS")
}

fn is_link(error: &Error) -> bool {
    use std::error::Error as _;
    error.is_closed() || error.source().is_some_and(|source| source.is::<std::io::Error>())
}

fn chain(error: &Error) -> String {
    use std::error::Error as _;
    error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
}

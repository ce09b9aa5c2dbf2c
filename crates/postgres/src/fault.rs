//! What the database or the pool said, in the words of the one table of errors, each with what to do next.
//!
//! Comes in: errors of the client. Goes out: faults. Never here: the address of the database, which may hold a password.

use deadpool_postgres::PoolError;
use heirloom_core::{Code, Fault};
use std::time::Duration;
use tokio_postgres::Error;

/// A statement failed.
pub(crate) fn sql(error: Error) -> Fault {
    match error.as_db_error() {
        Some(said) => {
            let state = said.code().code();
            let message = format!("PostgreSQL: {} ({state})", said.message());
            let (code, hint) = meaning(state, said.message());
            let fault = Fault::new(code, message).fact("sqlstate", state);
            if hint.is_empty() { fault } else { fault.hint(hint) }
        }
        None => broken(&error),
    }
}

/// What a state of the server means to us.
fn meaning(state: &str, message: &str) -> (Code, &'static str) {
    match state {
        // The pooler says it in words of its own.
        "53300" => (Code::Unavailable, CROWDED),
        "08P01" if message.contains("no more connections") => (Code::Unavailable, CROWDED),
        "25006" => (
            Code::Unavailable,
            "this server only reads: name the primary, or both hosts with `target_session_attrs=read-write`",
        ),
        "57P01" | "57P02" | "57P05" => {
            (Code::Unavailable, "the server ended the connection; the next call makes a new one")
        }
        "57P03" => (Code::Unavailable, "the server is starting or stopping; try again in a moment"),
        "57014" => (
            Code::Unavailable,
            "the statement took longer than the limit; try again when the database is less busy",
        ),
        "55P03" => (Code::LockBusy, "somebody else is changing the schema; try again in a moment"),
        "40P01" | "40001" => (Code::LockBusy, ""),
        "58P01" | "0A000" if message.contains("vector") => (Code::Config, NO_VECTOR),
        "42704" if message.contains("vec") => (Code::Config, NO_VECTOR),
        "53100" => (Code::Unavailable, "the server's disk is full; make room there"),
        "42501" => (
            Code::Security,
            "the token or the database role may not do this; docs/teams.md lists what each needs",
        ),
        "28P01" => (Code::Config, "the password is wrong: check PGPASSWORD, ~/.pgpass or the address"),
        "3D000" => (Code::Config, "check the database name in --database or HEIRLOOM_DATABASE_URL"),
        state if state.starts_with("28") => {
            (Code::Config, "check user and password, and that pg_hba.conf lets this machine in")
        }
        state if state.starts_with("08") => (Code::Unavailable, NEXT),
        _ => (Code::Io, "keep the message and look at the server's log"),
    }
}

const NO_VECTOR: &str =
    "install pgvector 0.8 or newer on the server and let an administrator run `create extension vector`";

const CROWDED: &str =
    "the server has no connection left: try again, raise `max_connections`, or put pgbouncer in front";

/// What to do about a server that cannot be reached.
const NEXT: &str = "check that the server runs and that --database or HEIRLOOM_DATABASE_URL names it; what was acknowledged is stored";

/// The connection itself failed.
fn broken(error: &Error) -> Fault {
    let fault = |code| Fault::new(code, format!("cannot connect to PostgreSQL: {}", chain(error)));
    if is_tls(error) {
        return fault(Code::Config).hint(
            "the server's certificate must be one this system trusts (`sslrootcert` or SSL_CERT_FILE name others), and the address must name the \
             server as the certificate does",
        );
    }
    let words = chain(error);
    if words.contains("server does not support TLS") {
        return fault(Code::Config).hint(
            "switch TLS on at the server; where nobody can listen in between, `?sslmode=disable` after the database's name does without",
        );
    }
    if words.contains("password missing") {
        return fault(Code::Config).hint("give the password in PGPASSWORD or ~/.pgpass");
    }
    if words.contains("does not allow writes")
        || words.contains("session attributes")
        || words.contains("read only")
    {
        return fault(Code::Unavailable)
            .hint("none of the hosts is a primary; wait for the failover, or name the primary");
    }
    if is_link(error) { fault(Code::Unavailable).hint(NEXT) } else { fault(Code::Io) }
}

/// The server did not answer in time.
pub(crate) fn silent() -> Fault {
    Fault::new(Code::Unavailable, "PostgreSQL did not answer in time").hint(NEXT)
}

/// A call took too long.
pub(crate) fn slow(limit: Duration) -> Fault {
    let message = format!("PostgreSQL did not answer within {:.1} s", limit.as_secs_f64());
    Fault::new(Code::Unavailable, message)
        .hint("try again when the database is less busy; what was acknowledged is stored")
}

/// No connection could be had.
pub(crate) fn pool(error: PoolError) -> Fault {
    match error {
        PoolError::Backend(error) => sql(error),
        PoolError::Timeout(_) => {
            Fault::new(Code::Unavailable, "no connection to PostgreSQL became free in time").hint(NEXT)
        }
        other => Fault::new(Code::Unavailable, format!("no connection to PostgreSQL: {other}")).hint(NEXT),
    }
}

/// Whether the certificate or the handshake was what failed; trying again would not help.
fn is_tls(error: &Error) -> bool {
    use std::error::Error as _;
    let inner = error.source().and_then(|source| source.downcast_ref::<std::io::Error>()?.get_ref());
    inner.is_some_and(|inner| inner.is::<rustls::Error>())
}

fn is_link(error: &Error) -> bool {
    use std::error::Error as _;
    error.is_closed() || error.source().is_some_and(|source| source.is::<std::io::Error>())
}

fn chain(error: &Error) -> String {
    use std::error::Error as _;
    error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_that_operators_meet_has_a_code_and_a_next_step() {
        let retried = ["53300", "25006", "08006", "57P01", "57P02", "57P03", "57014"];
        for state in retried {
            let (code, hint) = meaning(state, "");
            assert!(code == Code::Unavailable && !hint.is_empty(), "{state}");
        }
        for (state, message) in [
            ("28P01", ""),
            ("28000", ""),
            ("3D000", ""),
            ("0A000", "extension \"vector\" is not available"),
            ("42704", "type \"halfvec\""),
        ] {
            let (code, hint) = meaning(state, message);
            assert!(code == Code::Config && !hint.is_empty(), "{state}");
        }
    }
}

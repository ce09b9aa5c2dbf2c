//! The one table of error codes: every door (command line, hooks, and later MCP and HTTP) reports the same
//! name, and takes its exit code or HTTP status from here.
//!
//! Comes in: nothing. Goes out: rows. Never here: the wording of a single error, which belongs to
//! [`crate::Fault`].

/// What went wrong, as a stable name.
///
/// The upper-case names of the record shelf are those of its file format's own tools, so that scripts written
/// against them keep working.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each variant is described by its row in the table below")]
pub enum Code {
    Validation,
    Merge,
    OccConflict,
    Path,
    AntiResurrection,
    Create,
    Update,
    Delete,
    Archive,
    Unarchive,
    Restore,
    Read,
    Input,
    Security,
    GateRefused,
    NeedsConfirmation,
    Capacity,
    NotFound,
    Ambiguous,
    NeedsPerson,
    Config,
    Unauthenticated,
    LockBusy,
    RateLimited,
    Overloaded,
    Unavailable,
    Io,
    Damaged,
    Usage,
    Internal,
}

/// How a process ends. Scripts may rely on these numbers.
pub mod exit {
    /// Done.
    pub const OK: u8 = 0;
    /// Refused, or found a problem.
    pub const REFUSED: u8 = 1;
    /// The call itself was wrong.
    pub const USAGE: u8 = 2;
    /// There is no such memory.
    pub const NOT_FOUND: u8 = 3;
    /// Nothing stored yet: it waits for a person.
    pub const WAITS: u8 = 4;
    /// Busy; the same call may work in a moment.
    pub const RETRY: u8 = 5;
    /// The disk or the system said no.
    pub const IO: u8 = 6;
    /// A person stopped it with Ctrl-C.
    pub const INTERRUPTED: u8 = 130;
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The code this row describes.
    pub code: Code,
    /// The stable name that is printed and sent.
    pub name: &'static str,
    /// Exit code of a command that ends with it.
    pub exit: u8,
    /// HTTP status of an answer that carries it.
    pub http: u16,
    /// What it means, in a line, for the reference page.
    pub meaning: &'static str,
    /// What to do when the error itself has nothing better to say.
    pub hint: &'static str,
}

macro_rules! table {
    ($($code:ident $name:literal $exit:ident $http:literal $meaning:literal $hint:literal;)*) => {
        /// All error codes.
        pub const TABLE: &[Row] = &[$(Row {
            code: Code::$code, name: $name, exit: exit::$exit, http: $http, meaning: $meaning, hint: $hint,
        }),*];

        impl Code {
            /// This code's row.
            pub const fn row(self) -> &'static Row {
                match self { $(Code::$code => {
                    const ROW: Row = Row {
                        code: Code::$code, name: $name, exit: exit::$exit, http: $http,
                        meaning: $meaning, hint: $hint,
                    };
                    &ROW
                })* }
            }
        }
    };
}

table! {
    Validation "VALIDATION_ERROR" REFUSED 422
        "a field is missing, unknown or has the wrong shape" "correct the named field and try again";
    Merge "MERGE_ERROR" REFUSED 409
        "the update would lose something that must be kept" "keep what the rule names, then try again";
    OccConflict "OCC_CONFLICT" REFUSED 409
        "the memory changed since it was read" "read it again and repeat the change";
    Path "PATH_ERROR" REFUSED 400
        "the path leaves the memory folder or passes a link" "name a path below the memory folder";
    AntiResurrection "ANTI_RESURRECTION_ERROR" REFUSED 409
        "a memory retired less than 24 hours ago would come back under its old name"
        "restore it with `heirloom restore <id>`, or choose another name";
    Create "CREATE_ERROR" REFUSED 409
        "a memory with this name exists already" "update it, or choose another name";
    Update "UPDATE_ERROR" REFUSED 404
        "there is nothing to update" "create it first";
    Delete "DELETE_ERROR" REFUSED 409
        "a memory with this status cannot be retired" "unarchive it first";
    Archive "ARCHIVE_ERROR" REFUSED 409
        "a memory with this status cannot be archived" "only active memories can be archived";
    Unarchive "UNARCHIVE_ERROR" REFUSED 409
        "a memory with this status cannot be unarchived" "only archived memories can be unarchived";
    Restore "RESTORE_ERROR" REFUSED 409
        "the memory cannot be restored" "only memories retired within the grace period can be restored";
    Read "READ_ERROR" REFUSED 500
        "a stored file cannot be read" "run `heirloom verify` to see what is wrong with it";
    Input "INPUT_ERROR" REFUSED 400
        "the input is missing, too large or not JSON" "give one JSON object";
    Security "SECURITY_ERROR" REFUSED 403
        "the input comes from a place that is not allowed" "put the input below the temporary folder";
    GateRefused "GATE_REFUSED" REFUSED 422
        "the text contains something that must not be stored" "write where the secret is kept, not the secret itself";
    NeedsConfirmation "NEEDS_CONFIRMATION" WAITS 202
        "the memory waits in the review inbox" "a person decides with `heirloom review`";
    Capacity "CAPACITY_ERROR" REFUSED 409
        "the category is full" "retire or archive something first, or raise the limit";
    NotFound "NOT_FOUND" NOT_FOUND 404
        "this memory does not exist" "`heirloom list` shows all memories";
    Ambiguous "AMBIGUOUS" REFUSED 409
        "the name fits more than one memory" "use the full id";
    NeedsPerson "NEEDS_PERSON" REFUSED 403
        "only a person at a terminal may do this" "run the command yourself in a terminal";
    Config "CONFIG_ERROR" REFUSED 400
        "a setting is unknown or has a value it cannot have" "`heirloom config list` shows names and values";
    Unauthenticated "UNAUTHENTICATED" REFUSED 401
        "the token is not valid" "ask for a new one: `heirloom user token <name>`";
    LockBusy "LOCK_BUSY" RETRY 503
        "another process is writing to the store" "try again; nothing was written";
    Unavailable "DATABASE_UNAVAILABLE" RETRY 503
        "the database cannot be reached or is too busy" "try again; what was acknowledged is stored";
    RateLimited "RATE_LIMITED" RETRY 429
        "one token sends too many requests" "wait for the time in Retry-After, then try again";
    Overloaded "OVERLOADED" RETRY 503
        "the server has too much to do" "wait for the time in Retry-After, then try again";
    Io "IO_ERROR" IO 500
        "the disk or the system refused" "check space and permissions; nothing was half-written";
    Damaged "DAMAGED" REFUSED 500
        "a file of the store is damaged" "`heirloom verify` names it";
    Usage "USAGE" USAGE 400
        "the command line is wrong" "see `--help`";
    Internal "INTERNAL" REFUSED 500
        "Heirloom has a bug" "please report it, with the command you ran";
}

impl Code {
    /// The stable name, as printed.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The exit code of a process that ends with this error.
    pub const fn exit(self) -> u8 {
        self.row().exit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_every_row_says_what_to_do() {
        let mut seen = HashSet::new();
        for row in TABLE {
            assert!(seen.insert(row.name), "{} twice", row.name);
            assert!(!row.hint.is_empty() && !row.meaning.is_empty());
            assert_ne!(row.exit, exit::OK, "{} is an error", row.name);
            assert_eq!(row.code.row().name, row.name);
        }
    }
}

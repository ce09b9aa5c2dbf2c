//! What an operator of a shared database can type.

use clap::Subcommand;

/// Set up and look after a shared PostgreSQL database
///
/// These commands need the address of a login that may make roles and owns the database, in HEIRLOOM_ADMIN_URL or with --admin-url. Nothing else
/// changes the schema.
#[derive(Debug, clap::Args)]
pub(crate) struct Team {
    #[command(subcommand)]
    pub(crate) action: TeamAction,
}

/// The operator's own address.
#[derive(Debug, clap::Args)]
pub(crate) struct Operator {
    /// The database, as a login that may make roles and owns it (also HEIRLOOM_ADMIN_URL, which is not seen by other accounts)
    #[arg(long, value_name = "URL")]
    pub(crate) admin_url: Option<String>,
}

/// Who is to look after the users, and as which login programs come.
#[derive(Debug, clap::Args)]
pub(crate) struct Founders {
    /// The user who gets the first token, with every scope; without this option your account's name
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,

    /// A login that addresses may name beside heirloom_app
    #[arg(long, value_name = "ROLE")]
    pub(crate) app_role: Option<String>,

    /// Distribute the tables by user with Citus
    #[arg(long)]
    pub(crate) citus: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TeamAction {
    /// Make roles, tables and the first token with the scope `admin`, which is shown once
    Init {
        #[command(flatten)]
        operator: Operator,

        #[command(flatten)]
        founders: Founders,

        /// Print the statements instead, for an administrator who runs them by hand; nothing is connected
        #[arg(long)]
        print_sql: bool,
    },
    /// Versions, sizes, whether row-level security is on, and what should be done
    Status {
        #[command(flatten)]
        operator: Operator,
    },
    /// Bring the schema up to date; a database of version 0.1 is taken over
    Upgrade {
        #[command(flatten)]
        operator: Operator,

        #[command(flatten)]
        founders: Founders,

        /// Which tokens of version 0.1 may also remove for good: all, none, or names with commas between; asked for if it is left out
        #[arg(long, value_name = "USERS")]
        delete_for: Option<String>,

        /// Only say what it would copy, and how long and how much disk that takes
        #[arg(long)]
        dry_run: bool,
    },
    /// Build the vector index that searches of users with more than 20,000 memories use
    Index {
        #[command(flatten)]
        operator: Operator,
    },
    /// Rewrite the tables, so that their files hold nothing of what was deleted; each is locked while that lasts
    Shred {
        #[command(flatten)]
        operator: Operator,
    },
}

//! What an operator of a shared database can type.

use clap::Subcommand;

/// Set up and look after a shared PostgreSQL database
///
/// These commands connect as a login that can create roles and owns the database, named in HEIRLOOM_ADMIN_URL or with --admin-url. Nothing else
/// changes the schema.
#[derive(Debug, clap::Args)]
pub(crate) struct Team {
    #[command(subcommand)]
    pub(crate) action: TeamAction,
}

/// The operator's own address.
#[derive(Debug, clap::Args)]
pub(crate) struct Operator {
    /// The database, with a login that can create roles and owns it (or set HEIRLOOM_ADMIN_URL, which other accounts cannot see)
    #[arg(long, value_name = "URL")]
    pub(crate) admin_url: Option<String>,
}

/// Who is to look after the users, and as which login programs come.
#[derive(Debug, clap::Args)]
pub(crate) struct Founders {
    /// The user who gets the first token, with every scope; by default your account's name
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,

    /// A login that programs may use besides heirloom_app
    #[arg(long, value_name = "ROLE")]
    pub(crate) app_role: Option<String>,

    /// Distribute the tables by user with Citus
    #[arg(long)]
    pub(crate) citus: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TeamAction {
    /// Create roles, tables and the first token with the scope `admin`, which is shown once
    Init {
        #[command(flatten)]
        operator: Operator,

        #[command(flatten)]
        founders: Founders,

        /// Print the SQL instead, for an administrator who runs it by hand; connects to nothing
        #[arg(long)]
        print_sql: bool,
    },
    /// Show versions, sizes, whether row-level security is on, and what to do next
    Status {
        #[command(flatten)]
        operator: Operator,
    },
    /// Bring the schema up to date, also from version 0.1
    Upgrade {
        #[command(flatten)]
        operator: Operator,

        #[command(flatten)]
        founders: Founders,

        /// Which tokens of version 0.1 may also remove for good: all, none, or names separated by commas; without it you are asked
        #[arg(long, value_name = "USERS")]
        delete_for: Option<String>,

        /// Show what it would copy, how long that takes and how much disk it needs; change nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Build the vector index that searches of users with more than 20,000 memories use
    Index {
        #[command(flatten)]
        operator: Operator,
    },
    /// Rewrite the tables, so that their files contain nothing that was deleted; locks each table meanwhile
    Shred {
        #[command(flatten)]
        operator: Operator,
    },
}

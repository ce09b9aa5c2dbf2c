//! What can be typed about the tiers.

use clap::Subcommand;

/// Save a fact or preference about yourself
///
/// `heirloom remember "I prefer short answers"`. What nearly repeats or contradicts something known is shown beside it first. Facts that do not come
/// from a person at a terminal wait in `heirloom review`, unless a token with the scope `facts` stores them as the program's own.
#[derive(Debug, clap::Args)]
pub(crate) struct Remember {
    /// What to remember, in a sentence
    #[arg(required_unless_present = "from")]
    pub(crate) text: Vec<String>,

    /// What it is about, in a word, if the sentence does not say so
    #[arg(long, value_name = "NAME")]
    pub(crate) subject: Option<String>,

    /// Where the words come from, if not from you: other_message, tool_read, web or agent
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,

    /// Read the text from a file; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    pub(crate) from: Option<String>,

    /// A tag; can be repeated
    #[arg(long, short)]
    pub(crate) tag: Vec<String>,

    /// How sure you are, 0 to 1
    #[arg(long, default_value_t = 1.0, value_parser = super::share)]
    pub(crate) confidence: f64,
}

/// Remove all your turns, all your facts, or both
#[derive(Debug, clap::Args)]
pub(crate) struct Clear {
    /// What to remove
    #[arg(value_parser = ["episodic", "semantic", "all"])]
    pub(crate) tier: String,

    /// On PostgreSQL, also rewrite the tables, so that their files contain nothing of it
    #[arg(long)]
    pub(crate) shred: bool,

    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// The same as `clear` and `forget`, under one noun
#[derive(Debug, clap::Args)]
pub(crate) struct MemoryCommand {
    #[command(subcommand)]
    pub(crate) verb: MemoryVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryVerb {
    Clear(Clear),
    Forget(super::Forget),
}

/// Remove turns of conversations that have expired
///
/// This happens by itself once a day, when a session begins or while a server runs. The account that owns the store does it for every user.
#[derive(Debug, clap::Args)]
pub(crate) struct Expire {
    /// Also turns that expire within this many days; needs a person or a token with the scope `delete`
    #[arg(long, value_name = "DAYS")]
    pub(crate) within: Option<u32>,

    /// Only if it was not done within the last day
    #[arg(long, conflicts_with = "within")]
    pub(crate) if_due: bool,
}

/// Manage users and tokens
///
/// On the command line you are your operating system's account. Programs and other users act with a token in HEIRLOOM_TOKEN.
#[derive(Debug, clap::Args)]
pub(crate) struct User {
    #[command(subcommand)]
    pub(crate) action: UserAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum UserAction {
    /// Add a user
    Add {
        /// The name
        name: String,
    },
    /// List users and their tokens
    List,
    /// Make a new token, which is shown once; an older one of the same name stops working
    Token {
        /// The user
        name: String,

        /// What it may do, separated by commas: read, write, delete, facts, admin, upkeep
        ///
        /// `delete` removes for good without a person, `facts` stores facts at once instead of having them wait in review, `admin` looks after
        /// users and tokens. Without this option it is read,write.
        #[arg(long, value_name = "SCOPES")]
        scope: Option<String>,

        /// A name for it, so that a user can have several
        #[arg(long = "name", value_name = "LABEL")]
        label: Option<String>,

        /// Days after which it ends; without an end it works until somebody revokes it
        #[arg(long, value_name = "N")]
        days: Option<u32>,

        /// When it ends: after hours, days or weeks, such as 12h, 30d or 2w
        #[arg(long, value_name = "TIME", visible_alias = "ttl", value_parser = super::lifetime, conflicts_with = "days")]
        expires: Option<u32>,

        /// Revoke the token instead of making one
        #[arg(long, conflicts_with_all = ["scope", "days", "expires"])]
        revoke: bool,

        /// List the tokens instead: what each may do, until when, and when it was last used
        #[arg(long, conflicts_with_all = ["scope", "days", "expires", "label", "revoke"])]
        list: bool,
    },
    /// Revoke a token; it stops working at once
    Revoke {
        /// The user
        name: String,

        /// Which of the user's tokens; without this option the one without a name
        #[arg(long = "name", value_name = "LABEL")]
        label: Option<String>,
    },
    /// Invite a user to the page of a server: prints a link that works once
    ///
    /// The person who opens it signs in with a token of that user and sets a PIN. With the PIN they count as a person on the page, within the scopes of
    /// their token; without it the page only reads. A new link replaces the old one.
    Invite {
        /// The user
        name: String,

        /// The address of the server, such as `https://memory.example.org`; without this option the one in team.json
        #[arg(long, value_name = "URL")]
        server: Option<String>,

        /// Hours for which the link works
        #[arg(long, value_name = "N", default_value_t = 24)]
        hours: u32,
    },
    /// Remove a user with all memories, drafts, audit lines and tokens; this cannot be undone
    Remove {
        /// The name
        name: String,

        /// Do not ask
        #[arg(long, short)]
        yes: bool,

        /// On PostgreSQL, also rewrite the tables, so that their files contain nothing of it
        #[arg(long)]
        shred: bool,

        /// Show what would be removed and change nothing
        #[arg(long)]
        dry_run: bool,
    },
}

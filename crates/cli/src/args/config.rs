//! What can be typed after `heirloom config`.

use clap::Subcommand;

/// Read and change settings
///
/// Settings come from flags, the environment, the project's file, your own file and the defaults, in this order. A project can only make the gate stricter than
/// you did.
#[derive(Debug, clap::Args)]
pub(crate) struct Config {
    #[command(subcommand)]
    pub(crate) action: ConfigAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigAction {
    /// List all settings with their values and where each comes from
    List,
    /// Show one setting
    Get {
        /// Its dotted name
        key: String,
    },
    /// Change a setting in the project's file
    Set {
        /// Its dotted name
        key: String,
        /// Its value; JSON or plain text
        value: String,
        /// In your own file instead of the project's
        #[arg(long)]
        user: bool,
    },
    /// Remove a setting from the project's file
    Unset {
        /// Its dotted name
        key: String,
        /// From your own file instead of the project's
        #[arg(long)]
        user: bool,
    },
    /// Approve what the project's file asks for: `auto_commit`, `notes.capture`, a `memory_root` with other files in it, or many `gate.rules`
    ///
    /// Your approval counts for this folder and this value; a clone brings none with it.
    Approve {
        /// Its dotted name
        key: String,
    },
    /// Set or change the PIN, and turn the check on
    ///
    /// From then on accepting memories, removing them for good, changing guarded settings and making tokens ask for the PIN, so that a terminal alone is not enough.
    /// It does not protect against a program that rewrites your data folder.
    Pin {
        /// Remove the PIN and turn the check off
        #[arg(long)]
        remove: bool,
    },
    /// Add a kind of record of your own, or turn one on or off
    Category {
        #[command(subcommand)]
        action: CategoryAction,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum CategoryAction {
    /// Add a category of your own
    Add {
        /// Its name: lower-case letters, digits, underscores
        name: String,
        /// A field, for example attendees:list:required; repeat it. The type is text unless it says list
        #[arg(long, short, value_name = "NAME[:list][:required]")]
        field: Vec<String>,
        /// What it is for
        #[arg(long)]
        description: Option<String>,
        /// Its folder; made from the name if not given
        #[arg(long)]
        folder: Option<String>,
    },
    /// Turn a category on
    Enable {
        /// Its name
        name: String,
    },
    /// Turn a category off; its files stay
    Disable {
        /// Its name
        name: String,
    },
}

//! What can be typed after `heirloom config`.

use clap::Subcommand;

/// Read and change settings
///
/// Settings come from flags, the environment, the project's file, your own file and the defaults; the nearest wins, except that a project
/// can only tighten what you decided about the gate.
#[derive(Debug, clap::Args)]
pub(crate) struct Config {
    #[command(subcommand)]
    pub(crate) action: ConfigAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigAction {
    /// All settings with their values and where each comes from
    List,
    /// One setting
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
    /// Take a setting out of the project's file
    Unset {
        /// Its dotted name
        key: String,
        /// Out of your own file instead of the project's
        #[arg(long)]
        user: bool,
    },
    /// Say yes to what the project's file asks for: `auto_commit`, `notes.capture`, a `memory_root` where other files lie, or many `gate.rules`
    ///
    /// The yes is yours, for this place and this value; a clone brings none along.
    Approve {
        /// Its dotted name
        key: String,
    },
    /// Set or change the PIN that `person.check` asks for, and switch it on
    ///
    /// From then on accepting, removing for good, changing guarded settings and making tokens ask for it, so that a terminal alone is not
    /// enough. It is no guard against a program that rewrites your data folder.
    Pin {
        /// Take the PIN away and switch the check off
        #[arg(long)]
        remove: bool,
    },
    /// Add a record category of your own, or switch one on or off
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
    /// Switch a category on
    Enable {
        /// Its name
        name: String,
    },
    /// Switch a category off; its files stay
    Disable {
        /// Its name
        name: String,
    },
}

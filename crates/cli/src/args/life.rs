//! What can be typed to take memories out of use, back into it, and away; and to trust them.

/// Take memories out of use; you can restore them for 30 days
///
/// Retired memories are not recalled. `heirloom restore` brings them back until the grace period ends (`delete.grace_period_days`, 30 days by default). Then
/// `heirloom gc` removes them, or moves them to the archive with `delete.archive_retired`. To keep something for the record, use `heirloom archive`. To remove
/// every trace, use `heirloom forget`.
#[derive(Debug, clap::Args)]
pub(crate) struct Retire {
    #[command(flatten)]
    pub(crate) which: Several,

    /// Why, for the record's history
    #[arg(long, short, default_value = "", hide_default_value = true)]
    pub(crate) reason: String,
}

/// Put retired memories back into use
#[derive(Debug, clap::Args)]
pub(crate) struct Restore {
    #[command(flatten)]
    pub(crate) which: Several,
}

/// Keep memories for the record: not recalled, never removed
#[derive(Debug, clap::Args)]
pub(crate) struct Archive {
    #[command(flatten)]
    pub(crate) which: Several,

    /// Why, for the record's history
    #[arg(long, short, default_value = "", hide_default_value = true)]
    pub(crate) reason: String,
}

/// Put archived memories back into use
#[derive(Debug, clap::Args)]
pub(crate) struct Unarchive {
    #[command(flatten)]
    pub(crate) which: Several,
}

/// Raise the trust of memories you have read
///
/// They are shown first, and you are asked. Your yes counts for exactly this text: when somebody else changes the memory, it has to be given again. Only a person
/// at a terminal can do this.
#[derive(Debug, clap::Args)]
pub(crate) struct Trust {
    #[command(flatten)]
    pub(crate) which: Several,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Several {
    /// Their ids, or parts of them that fit only one memory
    #[arg(required = true)]
    pub(crate) ids: Vec<String>,
}

/// Remove every trace of a memory; this cannot be undone
///
/// Removes the file, archive, quarantine, inbox, index, earlier versions, change history and statistics. If git still has the text, the command that removes it
/// there is shown. Words that are not the name of a memory are a topic: every memory, turn and fact of yours that contains all of them is removed.
#[derive(Debug, clap::Args)]
pub(crate) struct Forget {
    /// Its id, any part of it that fits only one memory, or a topic
    pub(crate) id: String,

    /// On PostgreSQL, also rewrite the tables, so that their files contain nothing of it
    #[arg(long)]
    pub(crate) shred: bool,

    /// Treat the words as a topic, even if they name a memory
    #[arg(long)]
    pub(crate) topic: bool,

    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

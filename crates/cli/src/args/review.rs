//! Arguments of `review`.

use clap::Subcommand;

/// Decide about memories that wait for a person
///
/// At a terminal it shows one item after the other in full: every field, where it comes from, what it would replace as a diff, and why it waits. One key decides:
/// `a` accept, `r` reject, `e` edit, `s` skip, `A` accept all, `R` reject all, `u` undo, `q` quit. Without a terminal, and with `review list`, it lists everything that
/// waits: drafts, memories that agents saved and nobody accepted, what the gate holds back, vault lines that contradict each other, near-duplicates. Accepting needs
/// a person and counts for exactly the text that was shown.
#[derive(Debug, clap::Args)]
pub(crate) struct Review {
    #[command(subcommand)]
    pub(crate) action: Option<ReviewAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ReviewAction {
    /// List everything that waits, with every field
    List,
    /// Accept items; they are shown first
    Accept {
        /// Keys or ids from the list
        #[arg(required_unless_present = "all")]
        keys: Vec<String>,
        /// All of them
        #[arg(long)]
        all: bool,
    },
    /// Make one memory of two that say the same; `undo` brings both back
    Join {
        /// The memory that stays
        id: String,
        /// The one that is retired, or the key of a draft, which is rejected
        other: String,
        /// New title of the one that stays
        #[arg(long)]
        title: Option<String>,
        /// A field of the one that stays; a name that repeats adds a line
        #[arg(long, value_name = "NAME=VALUE")]
        field: Vec<String>,
        /// A further tag
        #[arg(long)]
        tag: Vec<String>,
        /// New text of a canon, register or fact
        #[arg(long)]
        text: Option<String>,
        /// The whole text, from a file or - for standard input
        #[arg(long, value_name = "FILE")]
        from: Option<String>,
    },
    /// Ask the model in your settings for facts in what you said; each waits here for your yes
    Propose {
        /// Stop if another process does it already
        #[arg(long, hide = true)]
        background: bool,
    },
    /// Reject drafts
    Reject {
        /// Keys from the list
        #[arg(required = true)]
        keys: Vec<String>,
    },
}

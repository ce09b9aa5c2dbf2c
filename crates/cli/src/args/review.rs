//! Arguments of `review`.

use clap::Subcommand;

/// See what waits for a person, and decide
///
/// Without a word it lists what waits: drafts that need a yes, with every field a yes would store, memories that would steer every session and that nobody accepted, what the
/// gate holds back, vault lines that contradict each other; then what could be tidied up: near-duplicates and what could go. Accepting needs a person at a terminal and counts for exactly the bytes that were shown.
#[derive(Debug, clap::Args)]
pub(crate) struct Review {
    #[command(subcommand)]
    pub(crate) action: Option<ReviewAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ReviewAction {
    /// List what waits, every field of it; the same as no word at all
    List,
    /// Accept what was shown
    Accept {
        /// Keys or ids from the list
        #[arg(required_unless_present = "all")]
        keys: Vec<String>,
        /// Everything in the list
        #[arg(long)]
        all: bool,
    },
    /// Let the endpoint of your settings look for facts in what you said; each waits here for your yes
    Propose {
        /// Leave it to whoever does it already
        #[arg(long, hide = true)]
        background: bool,
    },
    /// Throw a waiting draft away
    Reject {
        /// Keys from the list
        #[arg(required = true)]
        keys: Vec<String>,
    },
}

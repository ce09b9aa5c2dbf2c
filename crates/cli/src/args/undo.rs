//! What can be typed after `undo`.

/// Undo a change
///
/// Undoes everything that one command changed: an edit, a retirement, a conversion, an import, a decision in review. p12 is a change of the project's files, t7 one
/// of your turns and facts. An undo can be undone too. If a memory changed since, nothing happens and you see what would be lost. Changes can be undone for 30 days.
/// `forget` cannot be undone. Only a person can undo a person's change.
#[derive(Debug, clap::Args)]
pub(crate) struct Undo {
    /// The change, as `--list` shows it (p12, t7); without it the last one
    pub(crate) number: Option<String>,

    /// List what can be undone, newest first
    #[arg(long, conflicts_with_all = ["number", "dry_run"])]
    pub(crate) list: bool,

    /// Show what would change and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

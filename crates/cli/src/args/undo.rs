//! What can be typed after `undo`.

/// Take a change back
///
/// Everything that one command changed is taken back together: an edit, a retirement, a conversion, an import, a yes or no in review; all of it
/// or nothing. Numbers name their chain: p12 is a change of the project's files, t7 one of your turns and facts. It is a change of its own and
/// can be taken back too. Nothing happens if a memory changed since; then you are shown what would be lost. What was before a change is kept for
/// 30 days in your data folder or database. Forgetting cannot be undone. A person's change is taken back by a person.
#[derive(Debug, clap::Args)]
pub(crate) struct Undo {
    /// The change, as `--list` names it (p12, t7); the last one if left out
    pub(crate) number: Option<String>,

    /// Show what can be taken back, newest first
    #[arg(long, conflicts_with_all = ["number", "dry_run"])]
    pub(crate) list: bool,

    /// Only show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
}

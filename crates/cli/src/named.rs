//! Which database was named, and by which token: typed, in the environment, or in the user's own file.
//!
//! Comes in: options, variables, files. Goes out: an address and a token. Never here: a token that goes to a database it was not given beside, or a
//! file with a token that others can read.

use crate::environment;
use heirloom_core::{Code, Fault, fault::Result};
use std::path::Path;

/// Which database, and as whom.
pub(crate) struct Named {
    pub(crate) database: Option<String>,
    token: Option<String>,
}

/// The user's own file with the address and the token of a shared database.
const TEAM_FILE: &str = "team.json";

/// The largest file with a token that is read.
const TOKEN_MAX: u64 = 16 << 10;

impl Named {
    /// The token.
    pub(crate) fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// What was typed, what the environment says, what the user's own file says, in this order. A token goes only to the database it was given beside.
    pub(crate) fn of(typed: Option<&str>, token_file: Option<&Path>) -> Result<Named> {
        let kept = environment::text("HEIRLOOM_DATABASE_URL");
        let own = if kept.is_none() || environment::token().is_none() {
            TeamFile::read()?
        } else {
            TeamFile::default()
        };
        let database = typed.map(str::to_owned).or_else(|| kept.clone()).or_else(|| own.database.clone());
        if let Some(file) = token_file {
            let token = private_text(file)?.ok_or_else(|| {
                Fault::new(Code::Usage, format!("file `{}` does not exist", file.display()))
                    .hint("give --token-file a file that holds the token")
            })?;
            return Ok(Named { database, token: Some(not_empty(token, "the token file")?) });
        }
        if let Some(token) = environment::token() {
            let token = not_empty(token, "HEIRLOOM_TOKEN")?;
            if matches!((typed, &kept), (Some(named), Some(kept)) if named != kept) {
                let message = "the token in HEIRLOOM_TOKEN is for the database in HEIRLOOM_DATABASE_URL only";
                return Err(Fault::new(Code::Unauthenticated, message).hint(
                    "leave --database out, or set HEIRLOOM_DATABASE_URL and HEIRLOOM_TOKEN of that database together",
                ));
            }
            return Ok(Named { database, token: Some(token) });
        }
        let token = own.token.filter(|_| database.is_some() && database == own.database);
        Ok(Named { database, token })
    }
}

/// The address of the team's server, if the user's own file says it.
pub(crate) fn server() -> Result<Option<String>> {
    Ok(TeamFile::read()?.server)
}

fn not_empty(token: String, of: &str) -> Result<String> {
    if !token.trim().is_empty() {
        return Ok(token);
    }
    Err(Fault::new(Code::Unauthenticated, format!("{of} is empty")).hint(
        "unset HEIRLOOM_TOKEN to act as your own account, or set it to a token of `heirloom user token`",
    ))
}

#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct TeamFile {
    #[serde(default)]
    database: Option<String>,
    #[serde(default)]
    token: Option<String>,
    #[serde(default)]
    server: Option<String>,
}

impl TeamFile {
    fn read() -> Result<TeamFile> {
        let path = environment::config_folder().join(TEAM_FILE);
        let Some(text) = private_text(&path)? else { return Ok(TeamFile::default()) };
        serde_json::from_str(&text).map_err(|e| {
            Fault::new(Code::Config, format!("`{}` cannot be read: {e}", path.display())).hint(
                "it holds {\"database\": \"postgres://…\", \"token\": \"hlm_…\", \"server\": \"https://…\"}",
            )
        })
    }
}

/// A file that only its owner can read, since whoever reads it is somebody else's user.
fn private_text(path: &Path) -> Result<Option<String>> {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(meta) = std::fs::metadata(path) else { return Ok(None) };
    if meta.is_file() && meta.mode() & 0o077 != 0 {
        return Err(Fault::new(Code::Security, format!("others can read `{}`", path.display()))
            .fact("path", path.display().to_string())
            .hint(format!("chmod 600 {}", path.display())));
    }
    heirloom_engine::files::read_text(path, TOKEN_MAX)
}

//! What this machine has: coding agents, and how they can call this program.
//!
//! Comes in: the environment and the home folder. Goes out: facts for `setup`, `doctor` and `import auto`. Never here: changing
//! anything.

use crate::environment;
use heirloom_agents::install::{self, Reach};
use heirloom_agents::table::{AGENTS, Agent, CLIENTS, Client};
use heirloom_core::{Code, Fault, fault::Result};
use std::path::{Path, PathBuf};

/// The name this program goes by.
pub(crate) const NAME: &str = "heirloom";

/// The agents that are used here: their folder is there, or their command is.
pub(crate) fn agents() -> Vec<&'static Agent> {
    let here = |agent: &&Agent| {
        environment::agent_folder(agent).is_some_and(|folder| folder.is_dir())
            || environment::find_program(agent.program).is_some()
    };
    AGENTS.into_iter().filter(here).collect()
}

/// The programs used here that start MCP servers: their folder is there, or their command is.
pub(crate) fn clients() -> Vec<&'static Client> {
    let here = |client: &&Client| {
        environment::client_folder(client).is_some_and(|folder| folder.is_dir())
            || (!client.program.is_empty() && environment::find_program(client.program).is_some())
    };
    CLIENTS.into_iter().filter(here).collect()
}

/// The name of every agent, whichever way it comes to the memory.
pub(crate) fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
    let further: Vec<&str> =
        CLIENTS.iter().map(|client| client.name).filter(|name| !names.contains(name)).collect();
    names.extend(further);
    names
}

/// The agents of these names, and the programs that start MCP servers.
pub(crate) fn named(names: &[String]) -> Result<(Vec<&'static Agent>, Vec<&'static Client>)> {
    let wanted = |name: &str| names.iter().any(|one| one == name);
    if let Some(unknown) = names.iter().find(|name| !self::names().contains(&name.as_str())) {
        return Err(Fault::new(Code::Usage, format!("there is no agent `{unknown}`"))
            .hint(format!("use one of {}", self::names().join(", "))));
    }
    let agents = AGENTS.into_iter().filter(|agent| wanted(agent.name)).collect();
    Ok((agents, CLIENTS.into_iter().filter(|client| wanted(client.name)).collect()))
}

/// The file with a program's list of MCP servers; nothing if it reads none there.
pub(crate) fn servers_file(client: &Client, reach: Reach, project: &Path) -> Option<PathBuf> {
    match reach {
        Reach::Project => Some(project.join(client.project_file)).filter(|_| !client.project_file.is_empty()),
        Reach::User => Some(environment::client_folder(client)?.join(client.user_file)),
    }
}

/// The settings file that hooks of an agent go into.
pub(crate) fn settings_file(agent: &Agent, reach: Reach, project: &Path) -> Result<PathBuf> {
    match reach {
        Reach::Project => Ok(project.join(install::file(agent, reach))),
        Reach::User => {
            environment::agent_folder(agent).map(|folder| folder.join(agent.file_inside())).ok_or_else(|| {
                Fault::new(Code::Usage, "the home folder is unknown")
                    .hint("set HOME, or use --shared in a project")
            })
        }
    }
}

/// A folder that is emptied without asking its users.
pub(crate) struct Passing {
    /// What it is.
    pub(crate) what: &'static str,
    /// The command that installs the program for good.
    pub(crate) install: &'static str,
}

const BUILD: Passing = Passing { what: "a build folder", install: "cargo xtask install" };
const UV: Passing = Passing { what: "uv's cache", install: "uv tool install heirloom-memory" };
const NPX: Passing = Passing { what: "npx's cache", install: "npm install --global heirloom-memory" };

/// The passing folder a program is in, if it is in one. A link that somebody made in a folder of their own is not.
fn passing(program: &Path) -> Option<&'static Passing> {
    let inside = |name: &str| program.components().any(|part| part.as_os_str() == name);
    // Cargo locks the folder it builds into.
    let built = || program.with_file_name(".cargo-lock").exists();
    match () {
        () if inside("archive-v0") => Some(&UV),
        () if inside("_npx") => Some(&NPX),
        () if built() => Some(&BUILD),
        () => None,
    }
}

/// The passing folder this program runs from, if no agent could rely on finding it there.
pub(crate) fn is_passing() -> Option<&'static Passing> {
    own_path().ok().and_then(|path| passing(&path))
}

/// How agents should call this program. A path from the search path stays the same when the program is replaced by a newer one, and some
/// agents ask their user again for every change of a command line; so it is preferred to the file it leads to. A path in a folder that
/// is emptied without asking is refused.
pub(crate) fn program(reach: Reach) -> Result<String> {
    if reach == Reach::Project {
        // Everybody who works on a project has it somewhere else.
        return Ok(NAME.to_owned());
    }
    let path = own_path()?;
    if let Some(passing) = passing(&path) {
        return Err(unsettled(passing));
    }
    path.into_os_string().into_string().map_err(|path| {
        Fault::new(Code::Path, format!("`{}` is not UTF-8 text", path.to_string_lossy()))
            .hint("put the program into a folder with a plain text name")
    })
}

/// Why nothing is written into agents' settings from here.
pub(crate) fn unsettled(passing: &Passing) -> Fault {
    let what = passing.what;
    Fault::new(Code::Usage, format!("this program runs from {what}, where agents may not find it tomorrow"))
        .hint(format!("install it first: `{}`, then run `heirloom setup` again", passing.install))
}

/// This program as the search path has it, best in a folder that stays; otherwise its own file.
fn own_path() -> Result<PathBuf> {
    let own = environment::own_program()
        .map_err(|e| Fault::new(Code::Io, format!("this program's own file cannot be found: {e}")))?;
    let mut found: Vec<PathBuf> =
        environment::find_programs(NAME).into_iter().filter(|path| same_file(path, &own)).collect();
    found.push(own.clone());
    Ok(found.iter().find(|path| passing(path).is_none()).or(found.first()).cloned().unwrap_or(own))
}

/// Whether two paths lead to one file.
pub(crate) fn same_file(a: &Path, b: &Path) -> bool {
    matches!((std::fs::canonicalize(a), std::fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

/// A path as people write it.
pub(crate) fn shown(path: &Path) -> String {
    let inner = environment::home().and_then(|home| Some(path.strip_prefix(home).ok()?.to_owned()));
    inner.map_or_else(|| path.display().to_string(), |inner| format!("~/{}", inner.display()))
}

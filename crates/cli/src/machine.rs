//! What this machine has: coding agents, and how they can call this program.
//!
//! Comes in: the environment and the home folder. Goes out: facts for `setup`, `doctor` and `import auto`. Never here: changing
//! anything.

use crate::environment;
use heirloom_agents::install::{self, Reach};
use heirloom_agents::table::{AGENTS, Agent};
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

/// The agents of these names.
pub(crate) fn named(names: &[String]) -> Result<Vec<&'static Agent>> {
    let find = |name: &String| {
        Agent::named(name).ok_or_else(|| {
            let known: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
            Fault::new(Code::Usage, format!("there is no agent `{name}`"))
                .hint(format!("agents that take hooks: {}", known.join(", ")))
        })
    };
    let mut agents = names.iter().map(find).collect::<Result<Vec<&Agent>>>()?;
    agents.dedup_by_key(|agent| agent.name);
    Ok(agents)
}

/// The settings file that hooks of an agent go into.
pub(crate) fn settings_file(agent: &Agent, reach: Reach, project: &Path) -> Result<PathBuf> {
    match reach {
        Reach::Project => Ok(project.join(install::file(agent, reach))),
        Reach::User => {
            environment::agent_folder(agent).map(|folder| folder.join(agent.file_inside())).ok_or_else(|| {
                Fault::new(Code::Usage, "there is no home folder")
                    .hint("set HOME, or use --shared in a project")
            })
        }
    }
}

/// How agents should call this program. A path from the search path stays the same when the program is replaced by a newer one, and some
/// agents ask their user again for every change of a command line; so it is preferred to the file it leads to.
pub(crate) fn program(reach: Reach) -> Result<String> {
    if reach == Reach::Project {
        // Everybody who works on a project has it somewhere else.
        return Ok(NAME.to_owned());
    }
    let own = environment::own_program()
        .map_err(|e| Fault::new(Code::Io, format!("this program's own file cannot be found: {e}")))?;
    let found = environment::find_program(NAME).filter(|path| same_file(path, &own));
    let path = found.unwrap_or(own);
    path.into_os_string().into_string().map_err(|path| {
        Fault::new(Code::Path, format!("`{}` is not UTF-8 text", path.to_string_lossy()))
            .hint("put the program into a folder with a plain text name")
    })
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

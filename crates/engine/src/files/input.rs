//! Input files: JSON handed over in a temporary folder.
//!
//! Comes in: the path a caller gave, the temporary folders of this system. Goes out: the bytes. Never here: a path with `..`
//! in it or one that leads outside those folders, whoever asks: an agent must not be able to have any file of the machine read.

use super::read;
use heirloom_core::{Code, Fault, fault::Result};
use std::path::{Component, Path, PathBuf};

/// The largest input.
const MAX_INPUT: u64 = 1 << 20;

/// The folders from which input is taken.
#[derive(Debug, Clone)]
pub struct TempRoots(Vec<PathBuf>);

impl TempRoots {
    /// `/tmp`, the system's temporary folder, and where they really are.
    pub fn new(system: &Path) -> TempRoots {
        let mut roots: Vec<PathBuf> = Vec::new();
        for root in [Path::new("/tmp"), system] {
            let real = std::fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
            // A temporary folder set to `/` would open the whole machine.
            if real != Path::new("/") && !roots.contains(&real) {
                roots.push(real);
            }
        }
        TempRoots(roots)
    }

    fn holds(&self, real: &Path) -> bool {
        self.0.iter().any(|root| real != root && real.starts_with(root))
    }
}

/// Reads an input file. `cwd` is where a relative path starts.
pub fn read_input(path: &str, cwd: &Path, roots: &TempRoots) -> Result<(PathBuf, Vec<u8>)> {
    let given = Path::new(path);
    let absolute = cwd.join(given);
    let real = std::fs::canonicalize(&absolute).ok();
    let shown = real.as_deref().unwrap_or(&absolute).display().to_string();
    let climbs = given.components().any(|part| part == Component::ParentDir);
    let inside = real.as_deref().map_or_else(|| parent_inside(&absolute, roots), |real| roots.holds(real));
    if climbs || !inside {
        return Err(Fault::new(Code::Security, "input must be in a temporary folder".to_owned())
            .fact("path", path)
            .fact("resolved", shown)
            .hint("Input file must be a /tmp/ path with no '..' components."));
    }
    let input_fault = |fault: Fault| {
        Fault::new(Code::Input, fault.message.clone())
            .fact("path", path)
            .fact("error", fault.message)
            .hint("Ensure the input file exists, is a regular file and is not too large.")
    };
    let Some(real) = real else {
        return Err(Fault::new(Code::Input, format!("there is no input file `{path}`"))
            .fact("path", path)
            .hint("Ensure the input file exists."));
    };
    let bytes = read::read(&real, MAX_INPUT).map_err(input_fault)?;
    Ok((real, bytes))
}

fn parent_inside(path: &Path, roots: &TempRoots) -> bool {
    let Some(parent) = path.parent() else { return false };
    std::fs::canonicalize(parent).is_ok_and(|real| roots.holds(&real.join("x")))
}

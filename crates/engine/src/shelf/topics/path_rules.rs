//! Path rules: which folders may hold external memory.
//!
//! Comes in: the path as it was configured, the home folder, the project folder. Goes out: the real folder, made if it was missing,
//! or why not, in the words of the format. Every rule is asked three times: of the text as configured, of the absolute path, and of
//! the place it really leads to, before anything is made and again after. Never here: a file's content.

use crate::files::{self, Mode, Root};
use heirloom_core::{Code, Fault, fault::Result};
use rustix::fs::Access;
use std::path::{Component, Path, PathBuf};

/// Folders of the system: those the format names, then their other names on current systems.
const SYSTEM: [&str; 17] = [
    "/bin",
    "/usr",
    "/etc",
    "/var",
    "/sys",
    "/proc",
    "/boot",
    "/dev",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/run",
    "/System",
    "/private/etc",
    "/private/var",
];

/// Below a system folder and still the user's own: where macOS, and only macOS, keeps temporary folders.
const OWN: [&str; 2] = ["/var/folders", "/private/var/folders"];

/// The real folder of a configured path.
pub(super) fn checked(configured: &str, home: Option<&Path>, project: &Path) -> Result<PathBuf> {
    let path = placed(configured, home, project)?;
    files::make_folder(&path, Mode::Shared).map_err(|_| no_access(configured))?;
    // Asked again of the folder itself: it may have been made through a link since it was looked at.
    let real = std::fs::canonicalize(&path).map_err(|_| no_access(configured))?;
    rules(configured, &real)?;
    let open = rustix::fs::access(&real, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK).is_ok();
    if open && real.is_dir() { Ok(real) } else { Err(no_access(configured)) }
}

/// The real place of a configured path for somebody who only looks: it is there, or it could be made.
pub(super) fn reachable(configured: &str, home: Option<&Path>, project: &Path) -> Result<PathBuf> {
    let real = placed(configured, home, project)?;
    let there = real.ancestors().find(|folder| folder.exists());
    let open = there.is_some_and(|folder| {
        folder.is_dir()
            && rustix::fs::access(folder, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK).is_ok()
    });
    if open { Ok(real) } else { Err(no_access(configured)) }
}

/// The real place of a configured path, which need not exist yet.
pub(super) fn placed(configured: &str, home: Option<&Path>, project: &Path) -> Result<PathBuf> {
    let text = configured.trim();
    if text.is_empty() || text.contains('\0') {
        return Err(no_access(configured));
    }
    rules(configured, Path::new(text))?;
    let home = home.filter(|home| home.is_absolute());
    let (absolute, in_home) = match text.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            let home = home.ok_or_else(|| no_access(configured))?;
            (home.join(rest.trim_start_matches('/')), Some(home))
        }
        // Another account's home is not ours to use.
        Some(_) => return Err(no_access(configured)),
        None => (project.join(text), None),
    };
    rules(configured, &absolute)?;
    // A home that is not there is a mistake of the surroundings, not a folder to make.
    if in_home.is_some_and(|home| !home.is_dir()) {
        return Err(no_home(configured));
    }
    let real = Root::new(&absolute).real().to_owned();
    rules(configured, &real)?;
    Ok(real)
}

/// The three rules, in the format's order.
fn rules(configured: &str, path: &Path) -> Result<()> {
    let refused =
        |message: &str| Err(Fault::new(Code::Security, message).fact("path", configured).hint(HINT));
    let plain: PathBuf = path.components().filter(|part| *part != Component::CurDir).collect();
    let below = |folders: &[&str]| folders.iter().any(|folder| plain.starts_with(folder));
    if below(&SYSTEM) && !(cfg!(target_os = "macos") && below(&OWN)) {
        return refused("Security violation: Cannot use system directory for memory storage");
    }
    if plain == Path::new("/") {
        return refused("Security violation: Cannot use root directory for memory storage");
    }
    if plain.components().any(|part| part == Component::ParentDir) {
        return refused("Security violation: Path traversal not allowed in memory path");
    }
    Ok(())
}

const HINT: &str = "set `memory_configuration.memory_path` to a folder of your own, such as `~/lessons`";

/// The folder cannot be used.
pub(super) fn no_access(configured: &str) -> Fault {
    Fault::new(Code::Config, "Path validation failed: Cannot access configured memory path")
        .fact("path", configured)
        .hint("check that the folder exists, or can be made, and that you may read and write it")
}

/// There is no home folder for the path to lie in.
fn no_home(configured: &str) -> Fault {
    Fault::new(
        Code::Config,
        "Path validation failed: the home folder of the configured memory path does not exist",
    )
    .fact("path", configured)
    .hint("set HOME to a folder that exists, or write the memory path in full, such as `/srv/lessons`")
}
